"""Judgements on answers: the fields that a judge fills in for a question.

A judgement is a plain dict, so that those of the official program's caches and outputs can be used as they
are: ``prediction`` holds what the text says (numbers, names, sides), ``semantic`` how that compares to the
right answer, ``notes`` is free text. A task reads one or two of these fields; :func:`faults` tells which it cannot.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seldio.tasks.specs import PUBLISHED

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
    """Return a judgement with all fields; those not given are None, empty or unknown."""
    said = dict.fromkeys(PREDICTION_FIELDS) | {"sources": []} | dict(prediction or {})
    compared = dict.fromkeys(SEMANTIC_FIELDS) | {"source_match_level": "unknown", "source_match": False}
    return {"prediction": said, "semantic": compared | dict(semantic or {}), "notes": notes}


#: The fields by which an answer is held against the right one, by what it is; a number has its own field.
_COMPARED: dict[str, tuple[str, ...]] = {
    "source": ("source_match",), "source and direction": ("source_match", "direction_match"),
    "relation": ("relation_match",), "motion": ("motion_match",),
}  # fmt: skip


def faults(value: object, task: str) -> list[str]:
    """List the faults of *value* in the fields that a task reads, one sentence each.

    What the official program computes with is no fault: ``2.0`` for a count, ``"+30"`` for an angle, and a level of
    the source without ``source_match`` or the other way round.
    """
    if not isinstance(value, dict):
        return [f"a judgement is an object, not {type(value).__name__}"]
    if (record := PUBLISHED.get(task)) is None:
        return []
    read = {"prediction": (record.field,) if record.field else (), "semantic": _COMPARED.get(record.answer, ())}
    faults_found = []
    for part, fields in read.items():
        fields_of_part = value.get(part)
        if not isinstance(fields_of_part, dict):
            faults_found += [f"{part} is {'missing' if fields_of_part is None else 'no object'}"] if fields else []
            continue
        faults_found += [f"{part}.{field} {text}" for field in fields if (text := _fault(field, fields_of_part))]
    return faults_found


def _fault(field: str, judged: Mapping[str, Any]) -> str | None:
    value = judged.get(field)
    if value is None and field != "source_match":
        return None
    if field == "source_match" and judged.get("source_match_level") in LEVELS:
        return None
    if field == "time_span":
        right = isinstance(value, list) and len(value) == 2 and all(_number(end) is not None for end in value)
        return None if right else "is not a pair of numbers"
    if field in SEMANTIC_FIELDS:
        return None if isinstance(value, bool) else "is neither true nor false"
    number = _number(value)
    if field == "count":
        return None if number is not None and number.is_integer() else "is not a whole number"
    return None if number is not None else "is not a number"


def _number(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
