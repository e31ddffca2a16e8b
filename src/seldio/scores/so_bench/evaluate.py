"""From a judgement to a score, exactly as the official program does it, its faults included."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from seldio.answers.judgements import AnsweredQuestion, Judgement
from seldio.answers.matching import reference_of, transcribed
from seldio.schema.qa import Item
from seldio.scores.so_bench.profiles import AnswerProfile
from seldio.tasks.english import RELATION_TASKS, SOURCE_TASKS

#: Who decided: the text itself, the judge, the official fallback; nobody; or there is no prediction.
How = Literal["offline", "judge", "fallback", "undecided", "missing"]
#: Beyond this the official program would turn an angle round and round, and never end.
_MOST_TURNS = 3.6e6


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What a prediction scores.

    Args:
        correct: from 0 to 1.
        metric: how it was measured, as the official program calls it.
        parseable: whether the judgement held what the task needs.
        details: errors and the like, by the official program's keys.
    """

    correct: float
    metric: str
    parseable: bool = True
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The outcome as a record of the official program."""
        row = {"correct": self.correct, "metric_type": self.metric, "parseable": int(self.parseable)}
        return row | dict(self.details)


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """One question, scored.

    Args:
        item: the question.
        prediction: the text that was scored; empty where there is none.
        how: who decided.
        judgement: what the score was made of.
        outcome: the score; None where nobody decided.
    """

    item: Item
    prediction: str
    how: How
    judgement: Judgement | None = None
    outcome: Outcome | None = None

    @property
    def task(self) -> str:
        """Of the question."""
        return self.item.task or ""

    @property
    def correct(self) -> float:
        """From 0 to 1; 0 where nobody decided."""
        return self.outcome.correct if self.outcome else 0.0


def evaluate(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    """The score of a prediction; one whose judgement cannot be computed with scores 0, with the reason."""
    try:
        return _METRICS.get(asked.task, _same_text)(asked, judgement, profile)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        return Outcome(0.0, "scoring_error", False, {"scoring_error": f"{type(error).__name__}: {error}"})


# --- numbers ---------------------------------------------------------------------------------------


def _said(judgement: Judgement, key: str) -> Any:
    prediction = judgement.get("prediction")
    return prediction.get(key) if isinstance(prediction, dict) else None


def angle_between(one: float, other: float) -> float:
    """The angle between two azimuths in degrees, 0 to 180, turned as the official program turns it.

    Raises:
        OverflowError: they are so far apart that the official program would never end.
    """
    delta = one - other
    if abs(delta) > _MOST_TURNS:
        raise OverflowError(f"{one:g} degrees: the official program would not end")
    while delta > 180.0:
        delta -= 360.0
    while delta <= -180.0:
        delta += 360.0
    return abs(delta)


def _threshold(metric: str, key: str, said: Any, true: Any, error: Callable[[float, float], float],
               limit: float) -> Outcome:  # fmt: skip
    if true is None or said is None:
        return Outcome(0.0, metric, False)
    off = error(float(said), float(true))
    return Outcome(float(off <= limit), metric, True, {key: off})


def _azimuth(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    said, true = _said(judgement, "angle_deg"), asked.meta.get("azimuth_deg")
    return _threshold("er20_azimuth_llm_extract", "doaerr_deg", said, true, angle_between, profile.azimuth)


def _elevation(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    said, true = _said(judgement, "elevation_deg"), asked.meta.get("elevation_deg")
    if said is None:
        said = _said(judgement, "angle_deg")
    return _threshold("er10_elevation_llm_extract", "doaerr_deg", said, true, _apart, profile.elevation)


def _distance(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    said, true = _said(judgement, "distance_m"), asked.meta.get("distance_m")
    metric, key = "distance_threshold_llm_extract", "distance_error_m"
    if not profile.relative:
        return _threshold(metric, key, said, true, _apart, profile.distance)
    found = _threshold(metric, "relative_distance_error", said, true, _relative, profile.distance)
    if said is not None and true is not None:
        return dataclasses.replace(found, details={key: _apart(float(said), float(true)), **found.details})
    return found


def _onset(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    said, true = _said(judgement, "onset_time_s"), asked.meta.get("onset_time")
    return _threshold("onset_threshold_llm_extract", "time_error_s", said, true, _apart, profile.onset)


def _apart(said: float, true: float) -> float:
    return abs(said - true)


def _relative(said: float, true: float) -> float:
    return abs(said - true) / max(abs(true), 1e-3)


def _count(asked: AnsweredQuestion, judgement: Judgement, _profile: AnswerProfile) -> Outcome:
    said, true = _said(judgement, "count"), asked.meta.get("active_count")
    metric = "integer_exact_llm_extract"
    if true is None or said is None:
        return Outcome(0.0, metric, False)
    return Outcome(float(int(said) == int(true)), metric)


# --- intervals -------------------------------------------------------------------------------------


def interval_iou(one: Any, other: Any) -> float | None:
    """Intersection over union of two intervals, ends in any order; None where one is no pair of finite numbers.

    Raises:
        TypeError: one is a number.
    """
    if one is None or other is None or len(one) != 2 or len(other) != 2:
        return None
    ends = [_finite(one[0]), _finite(one[1]), _finite(other[0]), _finite(other[1])]
    numbers = [end for end in ends if end is not None]
    if len(numbers) < 4:
        return None
    (start, end), (first, last) = sorted(numbers[:2]), sorted(numbers[2:])
    union = max(end, last) - min(start, first)
    return max(0.0, min(end, last) - max(start, first)) / union if union > 0 else 0.0


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _span(asked: AnsweredQuestion, judgement: Judgement) -> float | None:
    return interval_iou(_said(judgement, "time_span"), asked.meta.get("time_span"))


def _interval(asked: AnsweredQuestion, judgement: Judgement, _profile: AnswerProfile) -> Outcome:
    iou = _span(asked, judgement)
    if iou is None:
        return Outcome(0.0, "time_span_iou_llm_extract", False)
    return Outcome(iou, "time_span_iou_llm_extract", True, {"interval_iou": iou})


# --- meanings --------------------------------------------------------------------------------------


def _semantic(judgement: Judgement) -> Any:
    return judgement.get("semantic") or {}


def source_right(judgement: Judgement, broader: bool) -> bool:
    """Whether the named sound counts as the right one."""
    semantic = _semantic(judgement)
    level = semantic.get("source_match_level")
    if level == "compatible_but_broader":
        return broader
    return semantic.get("source_match") is True or level == "exact_or_synonym"


def _source(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    details = {"source_match_level": _semantic(judgement).get("source_match_level")}
    correct = float(source_right(judgement, profile.broader))
    if asked.task == "detect_source" and profile.source_time == "event_times_iou":
        iou = _span(asked, judgement)
        if iou is not None:
            return Outcome(correct * iou, "source_semantic_llm", True, details | {"interval_iou": iou})
    return Outcome(correct, "source_semantic_llm", True, details)


def _relation(_truth: AnsweredQuestion, judgement: Judgement, _profile: AnswerProfile) -> Outcome:
    return Outcome(float(_semantic(judgement).get("relation_match") is True), "relation_semantic_llm")


def _motion(_truth: AnsweredQuestion, judgement: Judgement, _profile: AnswerProfile) -> Outcome:
    return Outcome(float(_semantic(judgement).get("motion_match") is True), "motion_semantic_llm")


def _spatial_temporal(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    metric = "source_direction_time_llm"
    source = source_right(judgement, profile.broader)
    right = float(source and _semantic(judgement).get("direction_match") is True)
    if profile.span_policy == "semantic_only":
        return Outcome(right, metric)
    iou = _span(asked, judgement)
    return Outcome(right * (iou or 0.0), metric, iou is not None, {"interval_iou": iou})


# --- texts -----------------------------------------------------------------------------------------


def _speech(asked: AnsweredQuestion, _judgement: Judgement, profile: AnswerProfile) -> Outcome:
    gold = reference_of(asked.canonical_answer, asked.answer)
    found = transcribed(gold, asked.prediction)
    details = {
        "gold_transcript": gold,
        "best_transcript_candidate": found.text,
        "best_transcript_candidate_index": found.number,
        "wer": found.best.rate,
        "wer_raw": found.raw.rate,
        "wer_errors": found.best.errors,
        "wer_ref_words": found.raw.words,
    }
    return Outcome(float(found.best.rate <= profile.wer), "speech_wer", True, details)


def _same_text(asked: AnsweredQuestion, _judgement: Judgement, _profile: AnswerProfile) -> Outcome:
    same = _plain(asked.prediction) == _plain(asked.answer)
    return Outcome(float(same), "normalized_exact_match")


def _plain(text: str | None) -> str:
    return " ".join((text or "").lower().split())


_METRICS: dict[str, Callable[[AnsweredQuestion, Judgement, AnswerProfile], Outcome]] = {
    "estimate_azimuth": _azimuth,
    "estimate_elevation": _elevation,
    "estimate_distance": _distance,
    "detect_time": _interval,
    "onset_from_location": _onset,
    "count_sources": _count,
    "classify_motion": _motion,
    "spatial_temporal": _spatial_temporal,
    "speech_content": _speech,
    **dict.fromkeys(SOURCE_TASKS, _source),
    **dict.fromkeys(RELATION_TASKS, _relation),
}
