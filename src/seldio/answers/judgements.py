"""What of a question is put to a judge, and what comes back: a judgement.

A judgement is a plain dict, so that those of the official program's caches and outputs can be used as they
are: ``prediction`` holds what the text says (numbers, names, sides), ``semantic`` how that compares to the
right answer, ``notes`` is free text. The scorer takes what it finds; :func:`faults` tells what does not fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
class AnsweredQuestion:
    """One prediction with its question and the right answer, for readers, judges and scores."""

    id: str  # of the question
    task: str  # as ``task_name`` has it
    question: str  # as it was asked
    answer: str  # the right one, in full
    canonical_answer: str | None  # its short form, where there is one
    meta: Mapping[str, Any]  # the right answer as numbers (``answer_meta``)
    prediction: str  # what the model said
    key: str = ""  # what the official program's cache knows it by


#: Judges many requests; None where it comes to no judgement.
Judge = Callable[[list[AnsweredQuestion]], Sequence[Judgement | None]]


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
        return None if _is_number(value) else "is not a number"
    if field == "count":
        return None if type(value) is int else "is not a whole number"
    if field in _TEXTS:
        return None if isinstance(value, str) else "is no text"
    if field == "time_span":
        right = isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
        return None if right else "is not a pair of numbers"
    if field == "sources":
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return None if right else "is not a list of texts"
    return None if isinstance(value, bool) else "is neither true nor false"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
