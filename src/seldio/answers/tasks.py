"""The tasks of SO-Bench, what of them is put to a judge, and what comes back: a judgement.

A judgement is a plain dict, so that those of the official program's caches and outputs can be used as they
are: ``prediction`` holds what the text says (numbers, names, sides), ``semantic`` how that compares to the
right answer, ``notes`` is free text. The scorer takes what it finds; :func:`faults` tells what does not fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task:
    """A task of SO-Bench: all that rules, readers, scores and judges know of it.

    Args:
        name: as ``task_name`` has it.
        count: how many of the 7,877 published questions are of this task.
        question_class: the group that the data set's card puts it into.
        answer: what its answer is.
        ask: what a judge has to read out of an answer, and to decide; empty where none is asked.
        truth: the key of ``answer_meta`` that it is scored by.
        field: where a judgement has the same of a prediction.
        error: the key of an outcome that holds how far off a prediction is.
        threshold: the name of its limit in a profile.
        unit: of error and limit.
        hidden: what of the reference a judge is not shown, since it reads that out of the answer itself.
    """

    name: str
    count: int
    question_class: str
    answer: Literal["number", "interval", "source", "relation", "motion", "source and direction", "speech"]
    ask: str = ""
    truth: str | None = None
    field: str | None = None
    error: str | None = None
    threshold: str | None = None
    unit: str = ""
    hidden: Literal["", "times", "all"] = ""


_NAME = "Read the sound that is given as the answer into primary_source; decide the source fields."
_RELATION = "Read the relation of the two sounds; decide relation_match."
#: The tasks, the most frequent first; the groups of the last few are not published and follow their names.
TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            name="estimate_elevation", count=1153, question_class="elevation", answer="number", hidden="all",
            ask="Read the elevation into elevation_deg. An azimuth goes into angle_deg, never in its place.",
            truth="elevation_deg", field="elevation_deg", error="doaerr_deg", threshold="elevation", unit="°",
        ),
        Task(
            name="estimate_azimuth", count=1152, question_class="azimuth", answer="number", hidden="all",
            ask="Read the azimuth into angle_deg.",
            truth="azimuth_deg", field="angle_deg", error="doaerr_deg", threshold="azimuth", unit="°",
        ),
        Task(
            name="detect_time", count=667, question_class="detect", answer="interval", hidden="all",
            ask="Read the interval in which the asked sound is heard into time_span.",
            truth="time_span", field="time_span", error="interval_iou",
        ),
        Task(
            name="detect_source", count=667, question_class="detect", answer="source", hidden="times",
            ask="List the sounds in sources, and the interval in time_span where there is one sound only; "
            "decide the source fields by the names alone. The reference does not show its times.",
        ),
        Task(name="identify_source_by_doa", count=667, question_class="detect", answer="source", ask=_NAME),
        Task(name="identify_source_by_location", count=666, question_class="detect", answer="source", ask=_NAME),
        Task(
            name="onset_from_location", count=487, question_class="detect", answer="number", hidden="all",
            ask="Read the moment at which the sound begins into onset_time_s.",
            truth="onset_time", field="onset_time_s", error="time_error_s", threshold="onset", unit="s",
        ),
        Task(
            name="estimate_distance", count=486, question_class="distance", answer="number", hidden="all",
            ask="Read the distance into distance_m. Words like near or far are no distance.",
            truth="distance_m", field="distance_m", error="distance_error_m", threshold="distance", unit="m",
        ),
        Task(name="multi_hop", count=333, question_class="reasoning", answer="source", ask=_NAME),
        Task(
            name="spatial_temporal", count=333, question_class="reasoning", answer="source and direction",
            ask="Read the sound, its direction and its interval; decide the source fields and direction_match. "
            "Every part of the reference's direction must be there. The reference does not show its times.",
            truth="time_span", field="time_span", error="interval_iou", hidden="times",
        ),
        Task(name="compare_elevation", count=333, question_class="elevation", answer="relation", ask=_RELATION),
        Task(name="relative_left_right", count=333, question_class="reasoning", answer="relation", ask=_RELATION),
        Task(name="compare_distance", count=333, question_class="distance", answer="relation", ask=_RELATION),
        Task(name="speech_content", count=171, question_class="reasoning", answer="speech"),
        Task(
            name="classify_motion", count=62, question_class="motion", answer="motion",
            ask="Read the motion into motion_label and decide motion_match.",
        ),
        Task(
            name="count_sources", count=34, question_class="detect", answer="number", hidden="all",
            ask="Read the number of sources into count.", truth="active_count", field="count",
        ),
    )
}  # fmt: skip
#: Those whose answer is the name of a sound.
SOURCE_TASKS = tuple(task.name for task in TASKS.values() if task.answer == "source")
#: Those that compare two sounds.
RELATION_TASKS = tuple(task.name for task in TASKS.values() if task.answer == "relation")


# --- judgements --------------------------------------------------------------------------------------

#: ``{"prediction": {…}, "semantic": {…}, "notes": …}``.
Judgement = dict[str, Any]

#: The note on what was read from the text alone.
READ = "read without a judge"
#: How near the name of a sound is to the right one, from the nearest on.
LEVELS = ("exact_or_synonym", "compatible_but_broader", "related_but_wrong", "wrong", "unknown")
#: The values of the fields that are words.
WORDS: dict[str, tuple[str, ...]] = {
    "motion_label": ("stationary", "moving_toward", "moving_away", "moving_left", "moving_right", "moving"),
    "yes_no": ("yes", "no"),
    "left_right": ("left", "right"),
    "height_relation": ("higher", "lower", "same"),
    "distance_relation": ("closer", "farther", "same"),
    "source_match_level": LEVELS,
}
_NUMBERS = ("angle_deg", "elevation_deg", "distance_m", "onset_time_s")
_TEXTS = ("primary_source", "direction_phrase", "transcript")
#: The fields in the order of the official program.
PREDICTION_FIELDS = (
    "sources", "primary_source", "angle_deg", "elevation_deg", "distance_m", "time_span", "onset_time_s", "count",
    "motion_label", "yes_no", "left_right", "height_relation", "distance_relation", "direction_phrase", "transcript",
)  # fmt: skip
SEMANTIC_FIELDS = (
    "source_match_level", "source_match", "relation_match", "direction_match", "motion_match", "transcript_match",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """One prediction beside its question, for a judge.

    Args:
        id: of the question.
        task: as ``task_name`` has it.
        question: as it was asked.
        answer: the right one, in full.
        canonical_answer: its short form, where there is one.
        meta: the right answer as numbers (``answer_meta``).
        prediction: what the model said.
        key: what the official program's cache knows it by.
    """

    id: str
    task: str
    question: str
    answer: str
    canonical_answer: str | None
    meta: Mapping[str, Any]
    prediction: str
    key: str = ""


#: Judges many requests; None where it comes to no judgement.
Judge = Callable[[list[Request]], Sequence[Judgement | None]]


def judgement(
    prediction: Mapping[str, Any] | None = None, semantic: Mapping[str, Any] | None = None, notes: str = ""
) -> Judgement:
    """A judgement with all fields; those not given are None, empty or unknown."""
    said = dict.fromkeys(PREDICTION_FIELDS) | {"sources": []} | dict(prediction or {})
    compared = dict.fromkeys(SEMANTIC_FIELDS) | {"source_match_level": "unknown", "source_match": False}
    return {"prediction": said, "semantic": compared | dict(semantic or {}), "notes": notes}


def faults(value: object) -> list[str]:
    """What of *value* does not fit the schema, one sentence each; the official program never looks."""
    if not isinstance(value, dict):
        return [f"a judgement is an object, not {type(value).__name__}"]
    found = []
    for part, fields in (("prediction", PREDICTION_FIELDS), ("semantic", SEMANTIC_FIELDS)):
        held = value.get(part)
        if not isinstance(held, dict):
            found.append(f"{part} is {'missing' if held is None else 'no object'}")
            continue
        found += [f"{part}.{field} {text}" for field in fields if (text := _fault(field, held.get(field)))]
    return found


def _fault(field: str, value: object) -> str | None:
    if value is None:
        return None
    if field in WORDS:
        return None if value in WORDS[field] else f"is none of {', '.join(WORDS[field])}"
    if field in _NUMBERS:
        return None if _is_number(value) else "is no number"
    if field == "count":
        return None if type(value) is int else "is no whole number"
    if field in _TEXTS:
        return None if isinstance(value, str) else "is no text"
    if field == "time_span":
        right = isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
        return None if right else "is no pair of numbers"
    if field == "sources":
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return None if right else "is no list of texts"
    return None if isinstance(value, bool) else "is neither true nor false"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
