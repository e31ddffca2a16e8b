"""Each prediction scored: judged offline where its text allows it, else by a judge, and counted as the program does.

From a judgement on, the numbers are those of the official program, its faults included. How a task is counted follows
from its record, a :class:`~seldio.tasks.specs.TaskSpec`: what its answer is, the number it is scored by, and its limit.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from seldio.answers.extract import extract
from seldio.answers.judgements import AnsweredQuestion, Judge, Judgement, judgement
from seldio.answers.matching import reference_of, transcribed
from seldio.answers.names import Names, names_in
from seldio.errors import SeldioError, UsageError
from seldio.formats.base import Ints
from seldio.schema.qa import Extra, Item, Prediction, Rows
from seldio.scores.so_bench.join import JoinedAnswers, fields
from seldio.scores.so_bench.judging import cache_key
from seldio.scores.so_bench.profiles import AnswerProfile
from seldio.tasks.specs import PUBLISHED, TaskSpec

#: Who decided: the text itself, the judge, the official fallback; nobody; or there is no prediction.
Decider = Literal["offline", "judge", "fallback", "undecided", "missing"]
#: ``extract``: read what can be read, the judge for the rest; ``none``: the judge for all but transcripts, as
#: the official program; ``official-fallback``: the same, with its fallback where the judge says nothing.
Offline = Literal["extract", "none", "official-fallback"]


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What a prediction scores."""

    correct: float  # from 0 to 1
    metric: str  # how it was measured, as the official program calls it
    parseable: bool = True  # whether the judgement held what the task needs
    #: errors and the like, by the official program's keys
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The outcome as a record of the official program."""
        row = {"correct": self.correct, "metric_type": self.metric, "parseable": int(self.parseable)}
        return row | dict(self.details)


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """One question, scored."""

    item: Item  # the question
    prediction: str  # the text that was scored; empty where there is none
    how: Decider  # who decided
    judgement: Judgement | None = None  # what the score was made of
    outcome: Outcome | None = None  # the score; None where nobody decided

    @property
    def task(self) -> str:
        """Of the question."""
        return self.item.task or ""

    @property
    def correct(self) -> float:
        """From 0 to 1; 0 if undecided."""
        return self.outcome.correct if self.outcome else 0.0


def count(
    items: Sequence[Item], predictions: Sequence[Prediction], joined: JoinedAnswers, profile: AnswerProfile,
    judge: Judge | None = None, offline: Offline = "extract",
) -> Iterator[Scored]:  # fmt: skip
    """The questions of a join, scored one by one: the answered ones in its order, then the others.

    Raises:
        UsageError: a way of reading offline that does not exist.
        SeldioError: the judge gave back fewer or more judgements than it was asked for.
    """
    if offline not in ("extract", "none", "official-fallback"):
        raise UsageError(f"unknown --offline {offline!r}; choose from extract, none, official-fallback")
    names = Names(name for one in fields(items, "task", "answer", "canonical_answer") for name in names_in(*one))
    size = BLOCK if judge is None else max(1, len(joined.items))  # a judge is asked once
    for start in range(0, len(joined.items), size):
        numbers, theirs = joined.items[start : start + size], joined.predictions[start : start + size]
        asked = [items[number] for number in numbers.tolist()]
        given = _given(predictions, theirs)
        requests = [_request(item, text_of(*said)) for item, said in zip(asked, given, strict=True)]
        found = [
            extract(request, names) if offline == "extract" or request.task not in _ASKED_ABOUT else None
            for request in requests
        ]
        how: list[Decider] = ["undecided" if each is None else "offline" for each in found]
        open_ones = [place for place, each in enumerate(found) if each is None]
        if judge is not None and open_ones:
            sent = [dataclasses.replace(requests[place], key=_key(asked[place], *given[place])) for place in open_ones]
            verdicts = judge(sent)
            if len(verdicts) != len(sent):
                raise SeldioError(f"the judge was asked {len(sent)} times and answered {len(verdicts)} times")
            for place, verdict in zip(open_ones, verdicts, strict=True):
                if verdict is not None:
                    found[place], how[place] = verdict, "judge"
        for item, request, way, verdict in zip(asked, requests, how, found, strict=True):
            if verdict is None and offline == "official-fallback":
                way, verdict = "fallback", official_fallback(request.prediction)
            outcome = None if verdict is None else evaluate(request, verdict, profile)
            yield Scored(item, request.prediction, way, verdict, outcome)
    yield from (Scored(items[number], "", "missing") for number in joined.missing.tolist())


#: So many questions are scored at a time.
BLOCK = 4096
#: The tasks that the official program asks its judge about.
_ASKED_ABOUT = {name for name, task in PUBLISHED.items() if task.answer != "speech"}


def _given(predictions: Sequence[Prediction], numbers: Ints) -> list[tuple[str | None, Extra]]:
    """The text and the further keys of some predictions."""
    if not isinstance(predictions, Rows):
        return [(predictions[number].prediction, predictions[number].extra or {}) for number in numbers.tolist()]
    found = predictions.take(numbers, "prediction", "extra")
    extra = (json.loads(text) if text else {} for text in found["extra"].to_pylist())
    return list(zip(found["prediction"].to_pylist(), extra, strict=True))


def text_of(prediction: str | None, extra: Extra) -> str:
    """The text that the official program scores: prediction_cleaned, else prediction, else prediction_raw."""
    texts = (extra.get("prediction_cleaned"), prediction, extra.get("prediction_raw"))
    return next((text if isinstance(text, str) else str(text) for text in texts if text), "")


def _request(item: Item, text: str) -> AnsweredQuestion:
    meta = {} if item.answer_meta is None else item.answer_meta.__dict__
    truth = {key: value for key, value in meta.items() if value is not None}
    return AnsweredQuestion(
        item.id, item.task or "", item.question, item.answer or "", item.canonical_answer, truth, text
    )


def _key(item: Item, prediction: str | None, extra: Extra) -> str:
    raw = extra.get("prediction_raw")
    return cache_key(item.task, item.question, item.answer, prediction, raw if isinstance(raw, str) else None)


_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def official_fallback(text: str) -> Judgement:
    """The judgement that the official program makes up from *text* alone, when its judge does not answer.

    Kept to repeat published numbers that were made so, never to read predictions well: the first number counts for
    everything, the hyphen of ``18.4s-20.0s`` is a minus sign, ``1,200`` is 1 and ``.5`` is 5, and no sound has a name.
    """
    numbers = [float(found) for found in _NUMBER.findall(text)]
    first = numbers[0] if numbers else None
    plain = " ".join(text.lower().split())
    said = {
        **dict.fromkeys(("angle_deg", "elevation_deg", "distance_m", "onset_time_s"), first),
        "time_span": sorted(numbers[:2]) if len(numbers) > 1 else None,
        "count": None if first is None else int(first),
        "yes_no": next((word for word in ("no", "yes") if re.search(rf"\b{word}\b", plain)), None),
        "left_right": _first_of(plain, "left", "right"),
        "height_relation": _first_of(plain, "higher", "lower", "same"),
        "distance_relation": _first_of(plain, "closer", "farther", "same"),
    }
    return judgement(said, notes="local regex fallback only")


def _first_of(text: str, *choices: str) -> str | None:
    return next((choice for choice in choices if choice in text), None)


# --- from a judgement to a score -------------------------------------------------------------------


class _Case(NamedTuple):
    """What a measure looks at; *task* is None where SO-Bench does not have it."""

    asked: AnsweredQuestion
    judgement: Judgement
    profile: AnswerProfile
    task: TaskSpec | None

    @property
    def metric(self) -> str:
        return self.task.metric if self.task is not None else "normalized_exact_match"

    def said(self, key: str | None) -> Any:
        """What the prediction says."""
        prediction = self.judgement.get("prediction")
        return prediction.get(key) if isinstance(prediction, dict) else None

    @property
    def semantic(self) -> Any:
        """How it compares to the right answer."""
        return self.judgement.get("semantic") or {}

    @property
    def overlap(self) -> float | None:
        """Of the two intervals."""
        return interval_iou(self.said("time_span"), self.asked.meta.get("time_span"))


def evaluate(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    """The score of a prediction; one whose judgement cannot be computed with scores 0, with the reason."""
    task = PUBLISHED.get(asked.task)
    measure = _MEASURES.get(task.answer, _same_text) if task is not None else _same_text
    try:
        return measure(_Case(asked, judgement, profile, task))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        return Outcome(0.0, "scoring_error", False, {"scoring_error": f"{type(error).__name__}: {error}"})


#: Beyond this the official program would turn an angle round and round, and never end.
_MOST_TURNS = 3.6e6


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


def _number(case: _Case) -> Outcome:
    """A number within its limit, or the same whole number where there is none."""
    task = case.task
    assert task is not None
    said, true = case.said(task.field), case.asked.meta.get(task.truth or "")
    if said is None and task.field == "elevation_deg":
        said = case.said("angle_deg")
    if true is None or said is None:
        return Outcome(0.0, case.metric, False)
    if task.threshold is None:
        return Outcome(float(int(said) == int(true)), case.metric)
    one, other = float(said), float(true)
    off = angle_between(one, other) if task.threshold == "azimuth" else abs(one - other)
    details = {str(task.error): off}
    if task.threshold == "distance" and case.profile.relative:
        off = abs(one - other) / max(abs(other), 1e-3)
        details["relative_distance_error"] = off
    return Outcome(float(off <= getattr(case.profile, task.threshold)), case.metric, True, details)


def interval_iou(one: Any, other: Any) -> float | None:
    """Intersection over union of two intervals, ends in any order; None where one is not a pair of finite numbers.

    Raises:
        TypeError: one is a number.
    """
    if one is None or other is None or len(one) != 2 or len(other) != 2:
        return None
    numbers = [end for end in map(_finite, (*one, *other)) if end is not None]
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


def _interval(case: _Case) -> Outcome:
    iou = case.overlap
    if iou is None:
        return Outcome(0.0, case.metric, False)
    return Outcome(iou, case.metric, True, {"interval_iou": iou})


def source_right(judgement: Judgement, broader: bool) -> bool:
    """Whether the named sound counts as the right one."""
    semantic = judgement.get("semantic") or {}
    level = semantic.get("source_match_level")
    if level == "compatible_but_broader":
        return broader
    return semantic.get("source_match") is True or level == "exact_or_synonym"


def _source(case: _Case) -> Outcome:
    details = {"source_match_level": case.semantic.get("source_match_level")}
    correct = float(source_right(case.judgement, case.profile.broader))
    if case.asked.task == "detect_source" and case.profile.source_time == "event_times_iou":
        iou = case.overlap
        if iou is not None:
            return Outcome(correct * iou, case.metric, True, details | {"interval_iou": iou})
    return Outcome(correct, case.metric, True, details)


def _source_and_direction(case: _Case) -> Outcome:
    source = source_right(case.judgement, case.profile.broader)
    right = float(source and case.semantic.get("direction_match") is True)
    if case.profile.span_policy == "semantic_only":
        return Outcome(right, case.metric)
    iou = case.overlap
    return Outcome(right * (iou or 0.0), case.metric, iou is not None, {"interval_iou": iou})


def _speech(case: _Case) -> Outcome:
    gold = reference_of(case.asked.canonical_answer, case.asked.answer)
    found = transcribed(gold, case.asked.prediction)
    details = {
        "gold_transcript": gold,
        "best_transcript_candidate": found.text,
        "best_transcript_candidate_index": found.number,
        "wer": found.best.rate,
        "wer_raw": found.raw.rate,
        "wer_errors": found.best.errors,
        "wer_ref_words": found.raw.words,
    }
    return Outcome(float(found.best.rate <= case.profile.wer), case.metric, True, details)


def _same_text(case: _Case) -> Outcome:
    said, right = (" ".join((text or "").lower().split()) for text in (case.asked.prediction, case.asked.answer))
    return Outcome(float(said == right), case.metric)


#: By what an answer is.
_MEASURES: dict[str, Callable[[_Case], Outcome]] = {
    "number": _number,
    "interval": _interval,
    "source": _source,
    "source and direction": _source_and_direction,
    "relation": lambda case: Outcome(float(case.semantic.get("relation_match") is True), case.metric),
    "motion": lambda case: Outcome(float(case.semantic.get("motion_match") is True), case.metric),
    "speech": _speech,
}
