"""SO-Bench: its answers scored with the numbers of the official program and without its traps.

A profile is a protocol as data. A join tells which prediction answers which question, and :func:`count` scores each
pair. What can be read without a judge is read by :mod:`seldio.answers`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from seldio.answers.extract import (
    LEVELS,
    PREDICTION_FIELDS,
    SEMANTIC_FIELDS,
    WORDS,
    AnsweredQuestion,
    Judge,
    Judgement,
    Names,
    extract,
    faults,
    judgement,
    names_in,
)
from seldio.answers.matching import reference_of, transcribed
from seldio.answers.reading import read as read_reply
from seldio.benchmarks import prompts
from seldio.errors import DataError, SeldioError, UsageError
from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, counted, in_order
from seldio.schema.qa import Item, Prediction, cause_of_surplus, same_audio, same_task
from seldio.scores import intervals, replies
from seldio.scores.judge import Ask, JudgeRequest, ReplySchema, make
from seldio.scores.scorers import ANSWERS
from seldio.tasks.specs import COUNTS, PUBLISHED, TaskSpec
from seldio.text import clipped, listed, plural, printable

THRESHOLDS = ("azimuth", "elevation", "distance", "onset", "wer")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswerProfile:
    """One way of scoring; every threshold is met by an error equal to it."""

    name: str  # what users type
    program: str  # what it agrees with
    azimuth: float = 20.0  # greatest angle between two azimuths, degrees, by the shorter way round
    elevation: float = 10.0  # greatest difference of two elevations, degrees
    distance: float = 1.0  # greatest error of a distance, in metres, or in shares of the true one where *relative*
    relative: bool = False  # whether the error of a distance is divided by the true distance
    onset: float = 0.2  # greatest error of an onset, seconds
    wer: float = 0.5  # greatest word error rate of a transcript
    #: whether detect_source also counts the overlap of the intervals
    source_time: Literal["event_only", "event_times_iou"] = "event_only"
    span_policy: Literal["semantic_only", "semantic_times_iou"] = "semantic_times_iou"  # the same of spatial_temporal
    broader: bool = False  # whether a broader name of a sound (``vehicle`` for ``bus``) is right
    departures: str = ""  # what of the program is not followed

    def changed(self, **values: Any) -> AnswerProfile:
        """Return the profile with some fields replaced.

        Raises:
            UsageError: a threshold is not a finite number of at least 0.
        """
        for name in {*THRESHOLDS} & {*values}:
            if not 0 <= values[name] < math.inf:
                raise UsageError(f"the {name} threshold is {values[name]}; it is a number from 0 up")
        return dataclasses.replace(self, **values)


_PROFILES = (
    AnswerProfile(
        name="so-bench",
        program="Spatial-Omni at f57669d and the dataset card, score_sobench.py",
    ),
    AnswerProfile(
        name="so-bench-paper",
        program="arXiv 2606.10738, Appendix D",
        distance=0.5,
        onset=0.4,
    ),
    AnswerProfile(
        name="so-bench-legacy",
        program="Spatial-Omni at f57669d, score_test_predictions.py, its thresholds",
        distance=0.3,
        relative=True,
        onset=0.4,
        departures="the first scorer reads answers with patterns of its own, scores detect_source by the F1 of "
        "events at an IoU of 0.5, and gives part of a point in spatial_temporal; here only its thresholds hold",
    ),
)
PROFILES: Mapping[str, AnswerProfile] = {profile.name: profile for profile in _PROFILES}


# --- the join --------------------------------------------------------------------------------------

JoinedBy = Literal["strict", "official"]


class JoinedAnswers(NamedTuple):
    """The outcome of a join; questions and predictions are named by their numbers in their sequences."""

    pairs: list[tuple[int, int]]  # questions with their predictions, in the order of the questions (official: of these)
    missing: list[int]  # the questions that no prediction answers
    notices: tuple[Notice, ...] = ()  # what there is to know


def join_answers(items: Sequence[Item], predictions: Sequence[Prediction], how: JoinedBy = "strict") -> JoinedAnswers:
    """Join predictions to questions.

    Raises:
        DataError: they do not fit. Strict: a prediction without id, with the id of no question or of one that
            is answered already, or with another recording or task than its question; two questions of one id.
            Official: a prediction that the official program would stop at.
    """
    repeated = [id for id, number in Counter(item.id for item in items).items() if number > 1]
    answers: dict[int, int] = {}
    notices: list[Notice] = []
    if how == "official":
        answers, notices = _official(items, predictions, repeated)
    else:
        places = {item.id: place for place, item in enumerate(items)}
        nameless, strange, elsewhere, otherwise = (list[str]() for _ in range(4))
        again: dict[str, None] = {}
        for number, row in enumerate(predictions):
            if row.id is None:
                nameless.append(f"number {number + 1}")
            elif row.id not in places:
                strange.append(row.id)
            else:
                place = places[row.id]
                if answers.setdefault(place, number) != number:
                    again[row.id] = None
                elsewhere += [] if same_audio(row.audio, items[place].audio) else [row.id]
                otherwise += [] if same_task(row.task, items[place].task) else [row.id]
        faults = (
            ("id", "of several questions", repeated),
            ("prediction", "without qa_id", nameless),
            ("prediction", "with the qa_id of no question", strange),
            ("question", "answered more than once", [*again]),
            ("prediction", "with another recording than its question", elsewhere),
            ("prediction", "with another task than its question", otherwise),
        )
        wrong = [f"{plural(len(names), noun)} {what}: {listed(names, 3)}" for noun, what, names in faults if names]
        if wrong:
            cause = cause_of_surplus(strange, places)
            wrong += [printable(cause)] if cause else []
            raise DataError(
                f"the predictions do not match the questions: {'; '.join(wrong)}. A score over wrong pairs says "
                "nothing: correct the file (seldio validate shows the lines), or score with the official join, which "
                "takes what it can get and names what it joined otherwise than by id"
            )
    missing = [number for number in range(len(items)) if number not in answers]
    names = listed([items[number].id for number in missing[:5]], 5, len(missing))
    missed = ", counted as wrong; the official program leaves them out"
    if how == "official":
        missed = " silently left out of the mean by the official program, and here too"
    else:
        answers = dict(sorted(answers.items()))
    lacking = [*counted("missing-predictions", len(missing), "question", f"without prediction ({names}){missed}", True)]
    return JoinedAnswers([*answers.items()], missing, (*notices, *lacking))


def _official(
    items: Sequence[Item], predictions: Sequence[Prediction], repeated: list[str]
) -> tuple[dict[int, int], list[Notice]]:
    """Join step by step as the official program does; each question is used once."""
    by_key = {item.id: number for number, item in enumerate(items)}  # of several the last
    by_content: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        by_content[_signature(item, item.answer, item.canonical_answer)].append(number)
    answers: dict[int, int] = {}

    def find(row: Prediction, line: int) -> tuple[str, int] | None:
        """Return how the prediction in a line (from 0) finds its question, and which; None where it finds none."""
        extra = row.extra or {}
        names = (row.id, extra.get("pair_id"), extra.get("eval_index"), line)
        place = by_key.get(next(str(name) for name in names if name is not None))
        if place is not None and place not in answers:
            return ("id" if row.id is not None else "number"), place
        for candidate in by_content.get(_signature(row, extra.get("answer"), extra.get("canonical_answer")), ()):
            if candidate not in answers:
                return "content", candidate
        same_line = line < len(items) and _signature(row, "", "") == _signature(items[line], "", "")
        if same_line and line not in answers:
            return ("line" if row.id is None else "wrong-id"), line
        return None

    ways: defaultdict[str, list[str]] = defaultdict(list)
    for line, row in enumerate(predictions):
        question = find(row, line)
        if question is None:
            called = f"prediction {line + 1}" + (f" ({clipped(row.id, 40)})" if row.id else "")
            reason = "its question is answered already" if row.id in by_key else "it belongs to no question"
            raise DataError(f"{called}: {reason}, and the official program stops here with a ValueError: correct it")
        way, number = question
        answers[number], item = line, items[number]
        traps = [way]
        if way == "id":
            alike = {"audio": same_audio(row.audio, item.audio), "task": same_task(row.task, item.task)}
            traps = [trap for trap, same in alike.items() if not same]
        for trap in traps:
            ways[trap].append(f"{'line ' + str(line + 1) if row.id is None else row.id} to {item.id}")
    notices = []
    for way, names in ways.items():
        text = f"joined {_TRAPS[way]}, as the official program does: {listed(names, 5)}"
        notices += counted(f"official-join-{way}", len(names), "prediction", text, way != "line")
    if repeated:
        text = f"several questions share an id ({listed(repeated)}): the first prediction goes to the last of them"
        notices.append(Notice("official-join-repeated", text, grave=True))
    return answers, notices


def _signature(row: Item | Prediction, answer: object, canonical: object) -> tuple[str, ...]:
    """Return what joins a prediction to a question by its content: recording, task, and the texts of the answer."""
    texts = (" ".join(str(text or "").lower().split()) for text in (answer, canonical))
    return (row.audio[0] if row.audio else "", row.task or "", *texts)


#: What a prediction was joined by where that was not its id alone; all but a join for want of an id are grave.
_TRAPS = {
    "wrong-id": "to the question in the same line although the id is that of no or an answered one",
    "line": "by line, for want of an id",
    "number": "because a separate number (pair_id, eval_index, line) is the id of a question",
    "content": "by recording, task and copied answer, not by id",
    "audio": "by id although the recordings differ",
    "task": "by id although the tasks differ",
}


# --- what a judge is asked -------------------------------------------------------------------------

_INSTRUCTIONS = prompts("so-bench")["seldio"].rstrip("\n")


_PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
#: The fields of a reply that are neither numbers nor true or false, as JSON Schema.
_SCHEMAS: dict[str, dict[str, Any]] = {
    "sources": {"type": "array", "items": {"type": "string"}},
    "source_match": {"type": "boolean"},
    "count": {"type": ["integer", "null"]},
    "time_span": {"anyOf": [_PAIR, {"type": "null"}]},
    **{name: {"type": ["string", "null"]} for name in ("primary_source", "direction_phrase", "transcript")},
    **{name: {"enum": [*words, None]} for name, words in WORDS.items()},
    "source_match_level": {"type": "string", "enum": list(LEVELS)},
}
#: The keys of a reply, as JSON Schema: all fields are there, nothing else is.
_PROPERTIES: dict[str, Any] = {
    part: {
        "type": "object",
        "properties": {name: _SCHEMAS.get(name, {"type": [usual, "null"]}) for name in names},
        "required": list(names),
        "additionalProperties": False,
    }
    for part, names, usual in (("prediction", PREDICTION_FIELDS, "number"), ("semantic", SEMANTIC_FIELDS, "boolean"))
}
_PROPERTIES["notes"] = {"type": "string", "default": ""}


#: Any number that is no angle or distance, and no part of a name: of a span only the last may have a unit.
_TIME = re.compile(r"(?<![\w.,:])\d++(?>(?:[.,:]\d++)*)(?!\s*(?:°|deg|m\b|met(?:er|re)))", re.IGNORECASE)
#: What is asked for is the same for all tasks; each reads some of it.
_REPLIES = {task: ReplySchema("so-bench", _PROPERTIES, partial(faults, task=task)) for task in PUBLISHED}
_OTHER = ReplySchema("so-bench", _PROPERTIES)


def to_judge(request: AnsweredQuestion) -> JudgeRequest:
    """Return the request as it is sent to a judge, without the numbers that it reads out of the answer itself."""
    task = PUBLISHED.get(request.task)
    ask = task.ask if task and task.ask else "Decide in relation_match whether the answer says what the reference says."
    hidden = task.hidden if task else ""
    truth = {key: value for key, value in request.meta.items() if value is not None}
    answers = {"reference": request.answer, "reference, short": request.canonical_answer or ""}
    if hidden == "times":
        answers = {name: _TIME.sub("…", text) for name, text in answers.items()}
    elif truth:
        answers["reference, numbers"] = json.dumps(truth, ensure_ascii=False)
    shown = {"question": request.question} | (answers if hidden != "all" else {})
    texts = {name: text for name, text in shown.items() if text} | {"candidate answer": request.prediction}
    schema = _REPLIES.get(request.task, _OTHER)
    return make(request.id, request.task, f"{_INSTRUCTIONS}\n\nThis task: {ask}", texts, schema)


def through(ask: Ask) -> Judge:
    """Return a judge for :func:`count` that asks in seldio's words."""
    return lambda asked: [reply.verdict for reply in ask([to_judge(request) for request in asked])]


# --- judgements made elsewhere ---------------------------------------------------------------------


def cache_key(
    task: str | None, question: str | None, answer: str | None, prediction: str | None, raw: str | None
) -> str:
    """Return the key under which the official program's cache keeps a judgement.

    It knows neither the judge's model nor ``answer_meta`` nor ``prediction_cleaned``: judgements are used
    again for other truths and other judges.
    """
    fields = {"task_name": task, "question": question, "answer": answer, "prediction": prediction}
    text = json.dumps(fields | {"prediction_raw": raw}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def from_cache(rows: Iterable[Mapping[str, Any]]) -> Judge:
    """Return a judge that answers from rows of the official program: its cache, or its judged records.

    Rows have ``cache_key`` and ``judgement`` or ``llm_judgement``; the last of a key counts. As in the official
    program, rows that were made without an answer of the judge are not used.
    """
    judgements: dict[str, Judgement | None] = {}
    for row in rows:
        judged = row.get("judgement", row.get("llm_judgement"))
        if row.get("cache_key") and isinstance(judged, dict):
            notes = str(judged.get("notes") or "")
            failed = "error" in judged or "api_error=" in notes or notes.startswith("local regex fallback only")
            judgements[str(row["cache_key"])] = None if failed else judged
    return lambda requests: [judgements.get(request.key) for request in requests]


# --- who decides -----------------------------------------------------------------------------------

#: Who decided: the text itself, the judge, the official fallback; nobody; or there is no prediction.
Decider = Literal["offline", "judge", "fallback", "undecided", "missing"]
#: ``extract``: read what can be read, the judge for the rest; ``none``: the judge for all but transcripts, as
#: the official program; ``official-fallback``: the same, with its fallback where the judge says nothing.
Offline = Literal["extract", "none", "official-fallback"]


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """The score of a prediction."""

    correct: float  # from 0 to 1
    metric: str  # how it was measured, as the official program calls it
    parseable: bool = True  # whether the judgement held what the task needs
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # errors by the official program's keys


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
        """Return the task of the question."""
        return self.item.task or ""

    @property
    def correct(self) -> float:
        """Return the score from 0 to 1; 0 if undecided."""
        return self.outcome.correct if self.outcome else 0.0

    @property
    def state(self) -> str:
        """Return what became of the reply."""
        decided = _STATES.get(self.how) if self.how != "offline" or self.prediction.strip() else None
        return decided or replies.state_of(read_reply(self.prediction, ()))

    def part(self, name: str) -> dict[str, object]:
        """Return a part of the judgement, which may be anything: judges are machines."""
        judgement: object = self.judgement
        part = judgement.get(name) if isinstance(judgement, dict) else None
        return part if isinstance(part, dict) else {}


#: What became of a reply, by who decided; of undecided and empty ones their text tells.
_STATES: dict[Decider, str] = {
    "offline": "read",
    "judge": replies.JUDGED,
    "fallback": "by the official fallback",
    "missing": "missing",
}
#: The tasks that the official program asks its judge about.
_ASKED_ABOUT = {name for name, task in PUBLISHED.items() if task.answer != "speech"}


def count(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    profile: AnswerProfile,
    *,
    judge: Judge | None = None,
    join: JoinedBy = "strict",
    offline: Offline = "extract",
) -> SoBenchCase:
    """Return the questions *items*, scored.

    Args:
        items: the questions with their answers.
        predictions: in any order; joined by id.
        profile: thresholds and policies; ``changed`` sets others.
        judge: decides what the texts do not tell; what it leaves open stays without verdict.
        join: ``official`` joins as the official program does, and tells where that is not by id.
        offline: what is decided without a judge.

    Raises:
        DataError: the predictions do not match the questions, or there is nothing to score.
        UsageError: a way of reading that does not exist.
        SeldioError: the judge gave back fewer or more judgements than it was asked for.
    """
    joined = join_answers(items, predictions, join)
    if offline not in get_args(Offline):
        raise UsageError(f"unknown --offline {offline!r}; choose from {', '.join(get_args(Offline))}")
    names = Names(name for item in items for name in names_in(item.task, item.answer, item.canonical_answer))
    requests = []
    for number, place in joined.pairs:
        item, row = items[number], predictions[place]
        extra = row.extra or {}
        raw = extra.get("prediction_raw")
        # what the official program scores
        texts = (extra.get("prediction_cleaned"), row.prediction, raw)
        text = next((text if isinstance(text, str) else str(text) for text in texts if text), "")
        meta = {} if item.answer_meta is None else item.answer_meta.__dict__
        truth = {key: value for key, value in meta.items() if value is not None}
        key = cache_key(item.task, item.question, item.answer, row.prediction, raw if isinstance(raw, str) else None)
        answers = item.answer or "", item.canonical_answer
        requests.append(AnsweredQuestion(item.id, item.task or "", item.question, *answers, truth, text, key))
    verdicts = [
        extract(request, names) if offline == "extract" or request.task not in _ASKED_ABOUT else None
        for request in requests
    ]
    asked = [request for request, verdict in zip(requests, verdicts, strict=True) if verdict is None]
    judged = judge(asked) if judge is not None and asked else [None] * len(asked)
    if len(judged) != len(asked):
        raise SeldioError(f"the judge was asked {len(asked)} times and answered {len(judged)} times")
    judgements, rows = iter(judged), list[Scored]()
    for (number, _), request, verdict in zip(joined.pairs, requests, verdicts, strict=True):
        how: Decider = "offline"
        if verdict is None:
            how, verdict = "judge", next(judgements)
        if verdict is None:
            how = "undecided"
            if offline == "official-fallback":
                how, verdict = "fallback", official_fallback(request.prediction)
        outcome = evaluate(request, verdict, profile) if verdict is not None else None
        rows.append(Scored(items[number], request.prediction, how, verdict, outcome))
    rows += [Scored(items[number], "", "missing") for number in joined.missing]
    if not rows:
        raise DataError("nothing to score: no question has a prediction")
    shown = (*THRESHOLDS, "relative", "source_time", "span_policy", "broader", "program")
    settings = {name: getattr(profile, name) for name in shown}
    settings |= {"join": join, "offline": offline, "judge": judge is not None}
    return SoBenchCase(rows, joined, profile, settings)


_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def official_fallback(text: str) -> Judgement:
    """Return the judgement that the official program makes up from *text* alone, when its judge does not answer.

    Kept to repeat published numbers that were made so, never to read predictions well: the first number counts for
    everything, the hyphen of ``18.4s-20.0s`` is a minus sign, ``1,200`` is 1 and ``.5`` is 5, and no sound has a name.
    """
    numbers = [float(number) for number in _NUMBER.findall(text)]
    first = numbers[0] if numbers else None
    plain = " ".join(text.lower().split())
    said = {
        **dict.fromkeys(("angle_deg", "elevation_deg", "distance_m", "onset_time_s"), first),
        "time_span": sorted(numbers[:2]) if len(numbers) > 1 else None,
        "count": None if first is None else int(first),
        "yes_no": next((word for word in ("no", "yes") if re.search(rf"\b{word}\b", plain)), None),
    }
    words = {
        "left_right": ("left", "right"),
        "height_relation": ("higher", "lower", "same"),
        "distance_relation": ("closer", "farther", "same"),
    }
    said |= {key: next((word for word in each if word in plain), None) for key, each in words.items()}
    return judgement(said, notes="local regex fallback only")


# --- from a judgement to a score -------------------------------------------------------------------

#: A task that SO-Bench does not have.
_UNKNOWN = TaskSpec(name="", question_class="other", weight=0)
#: Beyond this the official program would turn an angle round and round, and never end.
_MOST_TURNS = 3.6e6


def evaluate(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile) -> Outcome:
    """Return the score of a prediction; one whose judgement cannot be computed with scores 0, with the reason."""
    try:
        return _measured(asked, judgement, profile, PUBLISHED.get(asked.task, _UNKNOWN))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        return Outcome(0.0, "scoring_error", False, {"scoring_error": f"{type(error).__name__}: {error}"})


def _measured(asked: AnsweredQuestion, judgement: Judgement, profile: AnswerProfile, task: TaskSpec) -> Outcome:
    said, semantic = judgement.get("prediction"), judgement.get("semantic") or {}
    said = said if isinstance(said, dict) else {}
    if task.answer == "number":
        return _number(asked, said, profile, task)
    if task.answer == "speech":
        gold = reference_of(asked.canonical_answer, asked.answer)
        transcript = transcribed(gold, asked.prediction)
        details = {
            "gold_transcript": gold,
            "best_transcript_candidate": transcript.text,
            "best_transcript_candidate_index": transcript.number,
            "wer": transcript.best.rate,
            "wer_raw": transcript.raw.rate,
            "wer_errors": transcript.best.errors,
            "wer_ref_words": transcript.raw.words,
        }
        return Outcome(float(transcript.best.rate <= profile.wer), task.metric, True, details)
    if task.answer == "interval":
        iou = interval_iou(said.get("time_span"), asked.meta.get("time_span"))
        return Outcome(iou or 0.0, task.metric, iou is not None, {} if iou is None else {"interval_iou": iou})
    if task.answer in ("relation", "motion"):
        return Outcome(float(semantic.get(f"{task.answer}_match") is True), task.metric)
    if task.answer not in ("source", "source and direction"):
        texts = (" ".join((text or "").lower().split()) for text in (asked.prediction, asked.answer))
        return Outcome(float(len({*texts}) == 1), task.metric)
    level = semantic.get("source_match_level")
    right = semantic.get("source_match") is True or level == "exact_or_synonym"
    right = profile.broader if level == "compatible_but_broader" else right
    timed = profile.source_time == "event_times_iou" and task.name == "detect_source"
    if task.answer == "source and direction":
        right = right and semantic.get("direction_match") is True
        timed = profile.span_policy == "semantic_times_iou"
    iou = interval_iou(said.get("time_span"), asked.meta.get("time_span")) if timed else None
    if task.answer == "source":
        details = {"source_match_level": level} | ({} if iou is None else {"interval_iou": iou})
        return Outcome(float(right) * (1.0 if iou is None else iou), task.metric, True, details)
    if not timed:
        return Outcome(float(right), task.metric)
    return Outcome(float(right) * (iou or 0.0), task.metric, iou is not None, {"interval_iou": iou})


def _number(asked: AnsweredQuestion, judged: Mapping[str, Any], profile: AnswerProfile, task: TaskSpec) -> Outcome:
    """Return the score of a number within its limit, or of the same whole number where there is none."""
    said, true = judged.get(task.field or ""), asked.meta.get(task.truth or "")
    if said is None and task.field == "elevation_deg":
        said = judged.get("angle_deg")
    if true is None or said is None:
        return Outcome(0.0, task.metric, False)
    if task.threshold is None:
        return Outcome(float(int(said) == int(true)), task.metric)
    answered, right = float(said), float(true)
    off = abs(answered - right)
    if task.threshold == "azimuth":  # turned as the official program turns it
        off = answered - right
        if abs(off) > _MOST_TURNS:
            raise OverflowError(f"{answered:g} degrees: the official program would not end")
        while off > 180.0:
            off -= 360.0
        while off <= -180.0:
            off += 360.0
        off = abs(off)
    details = {str(task.error): off}
    if task.threshold == "distance" and profile.relative:
        off = details["relative_distance_error"] = abs(answered - right) / max(abs(right), 1e-3)
    return Outcome(float(off <= getattr(profile, task.threshold)), task.metric, True, details)


def interval_iou(said: Any, right: Any) -> float | None:
    """Return intersection over union of two intervals, ends in any order; None where one is no pair of finite numbers.

    Raises:
        TypeError: one is a number.
    """
    if said is None or right is None or len(said) != 2 or len(right) != 2:
        return None
    try:
        numbers = [float(end) for end in (*said, *right)]
    except (TypeError, ValueError):
        return None
    if not all(map(math.isfinite, numbers)):
        return None
    (start, end), (first, last) = sorted(numbers[:2]), sorted(numbers[2:])
    union = max(end, last) - min(start, first)
    return max(0.0, min(end, last) - max(start, first)) / union if union > 0 else 0.0


# --- tables ----------------------------------------------------------------------------------------

ACCURACY = Column("accuracy", "accuracy", "%", 2, "higher", "mean score; undecided questions count as wrong")
_DECIDED = Column("decided_accuracy", "over decided", "%", 2, "higher", "mean score of the questions decided")
_N = Column("n", "n", "", 0, None, "questions")
#: The columns of how often each decides; the first three come to a verdict.
_HOW = (
    Column("offline", "offline", "", 0, None, "read from the text without a judge"),
    Column("judge", "judge", "", 0, None, "decided by the judge"),
    Column("fallback", "fallback", "", 0, None, "decided by the official fallback"),
    Column("undecided", "no verdict", "", 0, None, "without a verdict"),
    Column("missing", "missing", "", 0, None, "without prediction"),
)
_PARSED = Column("parse_rate", "parsed", "%", 1, "higher", "predictions that say what the task asks for")
_ERRORS = (
    Column("task", "task"),
    Column("measure", "measure"),
    _N,
    Column("mean", "mean", "", 3),
    Column("median", "median", "", 3),
)
#: What is measured beside the score: key of the outcome, what it is.
_MEASURES = (
    ("doaerr_deg", "angular error, degrees"),
    ("distance_error_m", "distance error, metres"),
    ("relative_distance_error", "distance error, share of the distance"),
    ("interval_iou", "overlap of intervals, IoU"),
    ("time_error_s", "onset error, seconds"),
)


class SoBenchCase:
    """Scored questions, in the order in which they are counted, and what tables and notices are made of."""

    def __init__(
        self, rows: Sequence[Scored], joined: JoinedAnswers, profile: AnswerProfile, settings: Mapping[str, Any]
    ) -> None:
        self.rows, self.joined, self.profile, self.settings = rows, joined, profile, settings
        self.clip = intervals.numbered(intervals.recording_of(row.item) for row in rows)
        self.correct = np.array([row.correct for row in rows], np.float64)
        self.how = np.array([row.how for row in rows], np.str_)
        self.decided = ~np.isin(self.how, ["undecided", "missing"])
        self.all = np.arange(len(rows))
        classes = []  # the class of each question: its own, else that which its task has in the benchmark
        for row in rows:
            named = (row.item.extra or {}).get("question_class")
            classes.append(named if isinstance(named, str) else PUBLISHED.get(row.task, _UNKNOWN).question_class)
        labels = {"task": [row.task for row in rows], "class": classes}
        groups, order = intervals.groups_of(labels), [*PUBLISHED]
        places = {name: order.index(name) if name in PUBLISHED else len(order) for name in groups.get("task", {})}
        self.tasks = {name: groups["task"][name] for name in sorted(places, key=places.__getitem__)}
        self.classes: Mapping[str, Ints] = groups.get("class", {})

    def marked(self) -> intervals.MarkedAnswers:
        """Return the marks of each question."""
        ids, answered = tuple(row.item.id for row in self.rows), self.all < len(self.joined.pairs)
        marks = self.correct[:, None]
        return intervals.MarkedAnswers(ANSWERS[self.profile.name], ids, self.clip, (ACCURACY,), marks, answered)

    def reply_verdicts(self) -> Iterator[replies.ReplyVerdict]:
        """Yield the verdict on each reply."""
        for row in self.rows:
            said = row.part("prediction") | row.part("semantic")
            read = ", ".join(f"{key}: {value}" for key, value in said.items() if value not in (None, "", [], {}, False))
            reply = None if row.how == "missing" else row.prediction
            yield replies.verdict_of(row.item, reply, read, row.state, row.correct, {"accuracy": row.correct})

    def notices(self) -> tuple[Notice, ...]:
        """Return all that apply, the grave ones first."""
        notices = [*self.joined.notices]
        open_ones = Counter(row.task for row in self.rows if row.how == "undecided")
        every, decided = self.both(self.all)
        over = "and none is decided" if math.isnan(decided) else f"over those decided {decided:.2%}"
        tasks = ", ".join(f"{task} {number:,}" for task, number in open_ones.most_common(4))
        text = (
            f"without verdict ({tasks}): their texts do not tell, and there was no judge or it gave no verdict. "
            f"Counted as wrong the accuracy is {every:.2%}, {over}: give a judge for one number"
        )
        notices += counted("no-verdict", open_ones.total(), "prediction", text, True)
        outcomes = [(row.item.id, row.outcome.details.get("scoring_error")) for row in self.rows if row.outcome]
        failed = [f"{id}, {clipped(str(reason), 80)}" for id, reason in outcomes if reason is not None]
        text = f"that cannot be computed with counted as wrong ({listed(failed[:1], 1, len(failed))})"
        notices += counted("scoring-errors", len(failed), "judgement", text, True)
        truths = [(row.item, PUBLISHED.get(row.task, _UNKNOWN).truth) for row in self.rows]
        bare = [item.id for item, truth in truths if truth and getattr(item.answer_meta, truth, None) is None]
        text = f"without the number in answer_meta that scoring needs ({listed(bare, 3)}): no prediction can be right"
        notices += counted("no-truth", len(bare), "question", text, True)
        if unknown := sorted({*self.tasks} - {*PUBLISHED}):
            text = (
                f"tasks that SO-Bench does not have ({listed(unknown)}): right is what equals the answer but for case"
            )
            notices.append(Notice("unknown-tasks", text, grave=True))
        angles = [(row.item.id, row.part("prediction")) for row in self.rows if row.task == "estimate_elevation"]
        azimuths = [
            id for id, said in angles if said.get("elevation_deg") is None and said.get("angle_deg") is not None
        ]
        text = f"read from angle_deg ({listed(azimuths, 3)}), as in the official program: it may be an azimuth"
        notices += counted("azimuth-as-elevation", len(azimuths), "elevation", text, True)
        if self.profile.departures:
            notices.append(Notice("not-the-whole-program", self.profile.departures, grave=True))
        if {task: len(rows) for task, rows in self.tasks.items()} != COUNTS:
            text = (
                f"these are not the {sum(COUNTS.values()):,} questions of SO-Bench (by the published number of each "
                "task): the accuracy cannot be compared with published ones"
            )
            notices.append(Notice("other-questions", text))
        texts = [row.prediction for row in self.rows if row.how == "offline" and row.task != "speech_content"]
        if from_text := sum(bool(text.strip()) for text in texts):
            share = f"{from_text:,} of {plural(len(self.all), 'question')}"
            text = f"{share} decided from the text alone; the official program asks a judge about all but transcripts"
            notices.append(Notice("read-offline", text))
        return in_order(notices)

    def report(self, system: str) -> ScoreReport:
        """Return the report on what was scored."""
        profile, over = self.profile, f"{plural(len(self.all), 'question')} of {plural(len(self.tasks), 'task')}"
        shown = tables(system, self), self.notices(), self.settings
        return ScoreReport(system, profile.name, ANSWERS[profile.name], over, *shown)

    def both(self, rows: Ints) -> tuple[float, float]:
        """Return the mean score of all questions, undecided ones counting 0, and of those decided."""
        return mean(self.correct[rows]), mean(self.correct[rows[self.decided[rows]]])

    def values(self, task: str, key: str) -> Floats:
        """Return the finite numbers under a key in the outcomes of a task."""
        rows = self.tasks.get(task, self.all[:0])
        outcomes = [self.rows[row].outcome for row in rows.tolist()]
        details = [outcome.details.get(key) if outcome is not None else None for outcome in outcomes]
        numbers = np.array([math.nan if value is None else float(value) for value in details], np.float64)
        return numbers[np.isfinite(numbers)]


def mean(values: Floats) -> float:
    """Return the mean, summed up in order as the official program does; NaN of nothing."""
    return sum(values.tolist()) / len(values) if len(values) else math.nan


def tables(system: str, case: SoBenchCase) -> tuple[Table, ...]:
    """Return all tables of a score, those without rows left out."""
    macro = mean(np.array([mean(case.correct[rows]) for rows in case.tasks.values()]))
    whole = (system, *case.both(case.all), macro, float(case.decided.mean()), len(case.all))
    columns: tuple[Column, ...] = (
        Column("system", "system"),
        ACCURACY,
        _DECIDED,
        Column("macro", "macro", "%", 2, "higher", "mean over tasks: each counts the same"),
        Column("decided", "decided", "%", 1, "higher", "questions that were decided"),
        _N,
    )
    overall = Table("overall", "task-aware accuracy", columns, (whole,))

    # the column of the official fallback stands only where it decided
    shown = [column for column in _HOW if column.name != "fallback" or "fallback" in case.how]
    by_task: list[tuple[Cell, ...]] = []
    for task, rows in case.tasks.items():
        outcomes = [case.rows[row].outcome for row in rows.tolist()]
        share = sum(outcome is not None and outcome.parseable for outcome in outcomes) / len(rows)
        counts = [int((case.how[rows] == column.name).sum()) for column in shown]
        by_task.append((task, len(rows), *case.both(rows), share, *counts))
    columns = (Column("task", "task"), _N, ACCURACY, _DECIDED, _PARSED, *shown)
    tasks = Table("tasks", "by task", columns, tuple(by_task))

    by_measure = [
        (task, title, len(values), mean(values), median(values.tolist()))
        for task in case.tasks
        for key, title in _MEASURES
        if len(values := case.values(task, key))
    ]
    errors = Table("errors", "errors of the predictions that could be read", _ERRORS, tuple(by_measure))

    best, raw = (case.values("speech_content", key) for key in ("wer", "wer_raw"))
    statistics: list[tuple[Cell, ...]] = []
    if len(best):
        for name, values in (("wer", best), ("wer_clipped", np.minimum(best, 1.0)), ("wer_raw", raw)):
            statistics += [(f"{name}_mean", mean(values)), (f"{name}_median", median(values.tolist()))]
        limits = (0.3, 0.5, 1.0)
        statistics += [(f"acc_wer_le_{limit}", mean((best <= limit).astype(float))) for limit in limits]
    columns = (Column("statistic", "statistic"), Column("value", "value", "", 4))
    title = f"transcripts: word error rates of {len(best)} predictions"
    speech = Table("speech", title, columns, tuple(statistics))

    groups = {"task": case.tasks, "class": case.classes}
    sure = intervals.table([ACCURACY], case.correct[:, None], case.clip, groups)
    became = replies.tables([row.state for row in case.rows], case.correct)
    return tuple(table for table in (overall, tasks, sure, *became, errors, speech) if table.rows)
