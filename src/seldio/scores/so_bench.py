"""SO-Bench: its answers scored with the numbers of the official program and without its traps.

A profile is a protocol as data. A join tells which prediction answers which question, :func:`count` scores each pair,
and :func:`score` makes the report. What can be read without a judge is read by :mod:`seldio.answers`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from statistics import median
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa

from seldio.answers.extract import extract
from seldio.answers.judgements import (
    LEVELS,
    PREDICTION_FIELDS,
    SEMANTIC_FIELDS,
    WORDS,
    AnsweredQuestion,
    Judge,
    Judgement,
    faults,
    judgement,
)
from seldio.answers.matching import reference_of, transcribed
from seldio.answers.names import Names, names_in
from seldio.answers.reading import read as read_reply
from seldio.benchmarks import prompts
from seldio.errors import DataError, SeldioError, UsageError
from seldio.formats.base import Ints
from seldio.geometry import Floats
from seldio.reports.tables import Column, Notice, ScoreReport, Table, in_order
from seldio.schema.arrays import pc
from seldio.schema.qa import ITEM_SCHEMA, Extra, Item, Prediction, Rows, cause_of_surplus, same_audio, same_task
from seldio.scores import intervals, replies
from seldio.scores.judge import JudgeRequest, ReplySchema, make
from seldio.scores.replies import Server
from seldio.tasks.specs import COUNTS, PUBLISHED, TaskSpec
from seldio.text import clipped, listed, plural, printable

SourceTime = Literal["event_only", "event_times_iou"]
SpanPolicy = Literal["semantic_only", "semantic_times_iou"]
_POLICIES: dict[str, tuple[str, ...]] = {"source_time": get_args(SourceTime), "span_policy": get_args(SpanPolicy)}


#: The limits of a profile that users may change, by name.
THRESHOLDS = ("azimuth", "elevation", "distance", "onset", "wer")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswerProfile:
    """One way of scoring; every threshold is met by an error equal to it."""

    name: str  # what users type
    title: str  # one line for people
    program: str  # what it agrees with
    azimuth: float = 20.0  # greatest angle between two azimuths, degrees, by the shorter way round
    elevation: float = 10.0  # greatest difference of two elevations, degrees
    distance: float = 1.0  # greatest error of a distance, in metres, or in shares of the true one where *relative*
    relative: bool = False  # whether the error of a distance is divided by the true distance
    onset: float = 0.2  # greatest error of an onset, seconds
    wer: float = 0.5  # greatest word error rate of a transcript
    source_time: SourceTime = "event_only"  # whether detect_source also counts the overlap of the intervals
    span_policy: SpanPolicy = "semantic_times_iou"  # whether spatial_temporal does
    broader: bool = False  # whether a broader name of a sound (``vehicle`` for ``bus``) is right
    known_faults: tuple[str, ...] = ()  # what the program does that its users do not expect
    departures: str = ""  # what of the program is not followed

    def changed(self, **values: Any) -> AnswerProfile:
        """The profile with other thresholds or policies; None keeps its own.

        Raises:
            UsageError: a threshold that is not a finite number of at least 0, or a policy that does not exist.
        """
        given = {name: value for name, value in values.items() if value is not None}
        for name, value in given.items():
            if name in THRESHOLDS and not 0 <= value < math.inf:
                raise UsageError(f"the {name} threshold is {value}; it is a number from 0 up")
            if value not in _POLICIES.get(name, (value,)):
                raise UsageError(f"unknown {name} {value!r}; choose from {', '.join(_POLICIES[name])}")
        return dataclasses.replace(self, **given) if given else self

    def settings(self) -> dict[str, Any]:
        """Return what shapes the numbers, by name."""
        shown = (*THRESHOLDS, "relative", "source_time", "span_policy", "broader", "program")
        return {name: getattr(self, name) for name in shown}


_FAULTS = (
    "thresholds are compared without rounding: an onset of 2.2 s for 2.0 s is 0.2000000000000002 s away and wrong",
    "an elevation that the judge did not give is read from its azimuth",
    "the judge sees the right answer while it reads numbers out of the prediction",
    "a count is cut off, so that 2.7 counts as 2",
    "predictions that are missing are left out of the mean",
    "a judgement whose source_match and source_match_level contradict each other counts as right",
)

PROFILES: tuple[AnswerProfile, ...] = (
    AnswerProfile(
        name="so-bench",
        title="SO-Bench as its card and its scorer have it: 20° azimuth, 10° elevation, 1.0 m, 0.2 s",
        program="Spatial-Omni at f57669d and the dataset card, score_sobench.py",
        known_faults=_FAULTS,
    ),
    AnswerProfile(
        name="so-bench-paper",
        title="SO-Bench as Appendix D of its paper has it: 20° azimuth, 10° elevation, 0.5 m, 0.4 s",
        program="arXiv 2606.10738, Appendix D",
        distance=0.5,
        onset=0.4,
        known_faults=_FAULTS,
    ),
    AnswerProfile(
        name="so-bench-legacy",
        title="SO-Bench with the limits of the first scorer: 20° azimuth, 10° elevation, 30 % of the distance, 0.4 s",
        program="Spatial-Omni at f57669d, score_test_predictions.py, its thresholds",
        distance=0.3,
        relative=True,
        onset=0.4,
        known_faults=_FAULTS,
        departures="the first scorer reads answers with patterns of its own, scores detect_source by the F1 of "
        "events at an IoU of 0.5, and gives part of a point in spatial_temporal; here only its thresholds hold",
    ),
)


def get(name: str) -> AnswerProfile:
    """The profile called *name*.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    for profile in PROFILES:
        if profile.name == name:
            return profile
    raise UsageError(f"unknown profile {name!r} for SO-Bench; choose from {', '.join(each.name for each in PROFILES)}")


JoinedBy = Literal["strict", "official"]


@dataclasses.dataclass(frozen=True, eq=False)
class JoinedAnswers:
    """The outcome of a join; questions and predictions are named by their numbers in their sequences."""

    #: the questions that are answered, in their order (strict) or in that of the predictions (official)
    items: Ints
    predictions: Ints  # the prediction that answers each of them
    missing: Ints  # the questions that no prediction answers
    notices: tuple[Notice, ...] = ()  # what there is to know


def join_answers(items: Sequence[Item], predictions: Sequence[Prediction], how: JoinedBy = "strict") -> JoinedAnswers:
    """Predictions joined to questions.

    Raises:
        DataError: they do not fit. Strict: a prediction without id, with the id of no question or of one that
            is answered already, or with another recording or task than its question; two questions of one id.
            Official: a prediction that the official program would stop at.
    """
    return _official(items, predictions) if how == "official" else _strict(items, predictions)


def _strict(items: Sequence[Item], predictions: Sequence[Prediction]) -> JoinedAnswers:
    theirs, faults = _by_id(items, predictions)
    pa.default_memory_pool().release_unused()  # millions of ids and their indices have taken much
    for called, field, alike in (("recording", "audio", same_audio), ("task", "task", same_task)):
        faults[f"prediction with another {called} than its question"] = _unlike(
            items, predictions, theirs, field, alike
        )
    wrong = [
        f"{plural(len(names), what.split(' ', 1)[0])} {what.split(' ', 1)[1]}: {listed(names, 3)}"
        for what, names in faults.items()
        if names
    ]
    if wrong:
        cause = cause_of_surplus(faults["prediction with the qa_id of no question"], _column(items, "id").to_pylist())
        wrong += [printable(cause)] if cause else []
        raise DataError(
            f"the predictions do not match the questions: {'; '.join(wrong)}. A score over wrong pairs says nothing: "
            "correct the file (seldio validate shows the lines), or score with the official join, which takes what "
            "it can get and names what it joined otherwise than by id"
        )
    pa.default_memory_pool().release_unused()
    order = np.argsort(theirs, kind="stable")
    return _joined(items, theirs[order], order, (), "counted as wrong; the official program leaves them out")


def _by_id(items: Sequence[Item], predictions: Sequence[Prediction]) -> tuple[Ints, dict[str, list[str]]]:
    """The question of each prediction, of several the last and -1 for none, and what is wrong with ids."""
    asked, given = _column(items, "id"), _column(predictions, "id")
    faults = {"id of several questions": _repeated(asked)}
    last = len(asked) - 1
    if faults["id of several questions"]:
        theirs = last - pc.index_in(given, value_set=asked[::-1]).fill_null(last + 1).to_numpy().astype(np.int64)
    else:
        theirs = pc.index_in(given, value_set=asked).fill_null(-1).to_numpy().astype(np.int64)
    faults |= {
        "prediction without qa_id": [f"number {n}" for n in np.flatnonzero(given.is_null()) + 1],
        "prediction with the qa_id of no question": given.filter(pa.array(theirs < 0)).drop_null().to_pylist(),
        "question answered more than once": _repeated(given.drop_null()),
    }
    return theirs, faults


def fields(rows: Sequence[Item], *names: str) -> Iterator[tuple[Any, ...]]:
    """Several fields of all rows; of a table a block of its columns after the other, without any row being made."""
    if not isinstance(rows, Rows):
        yield from map(attrgetter(*names), rows)
        return
    for block in rows.blocks(*names):
        yield from zip(*(column.to_pylist() for column in block.columns), strict=True)


def _arrays(rows: Sequence[Item] | Sequence[Prediction], field: str) -> Iterator[pa.Array]:
    """A field of all rows, a block after the other."""
    if not isinstance(rows, Rows):
        yield pa.array([getattr(row, field) for row in rows], ITEM_SCHEMA.field(field).type)
        return
    for block in rows.blocks(field):
        yield from block[field].chunks


def _column(rows: Sequence[Item] | Sequence[Prediction], field: str) -> pa.Array:
    return pa.chunked_array(_arrays(rows, field), ITEM_SCHEMA.field(field).type).combine_chunks()


def _unlike(
    items: Sequence[Item], predictions: Sequence[Prediction], theirs: Ints, field: str,
    alike: Callable[[Any, Any], bool],
) -> list[str]:  # fmt: skip
    """The questions whose predictions have another *field*; *theirs*: the question of each prediction, -1 for none."""
    own, found, start = _column(items, field), list[str](), 0
    for block in _arrays(predictions, field):
        numbers = theirs[start : start + len(block)]
        start, there = start + len(block), numbers >= 0
        numbers, given = numbers[there], block.filter(pa.array(there)).to_pylist()
        right = own.take(numbers).to_pylist()
        found += [items[n].id for n, *texts in zip(numbers.tolist(), given, right, strict=True) if not alike(*texts)]
    return found


def _repeated(ids: pa.Array) -> list[str]:
    if pc.count_distinct(ids).as_py() == len(ids):
        return []
    values, counts = ids.value_counts().flatten()
    repeated: list[str] = values.filter(pc.greater(counts, 1)).to_pylist()
    return repeated


def _joined(items: Sequence[Item], answered: Ints, answers: Ints, told: Iterable[Notice], missed: str) -> JoinedAnswers:
    """A join with a notice on questions without prediction, which are *missed* somehow."""
    missing, notices = np.setdiff1d(np.arange(len(items)), answered, assume_unique=True), list(told)
    if missing.size:
        names = listed([items[number].id for number in missing[:5]], 5, len(missing))
        comma = "," if missed.startswith("counted") else ""
        text = f"{plural(len(missing), 'question')} without prediction ({names}){comma} {missed}"
        notices.append(Notice("missing-predictions", text, grave=True))
    return JoinedAnswers(answered, answers, missing, tuple(notices))


# --- as the official program -----------------------------------------------------------------------


def _official(items: Sequence[Item], predictions: Sequence[Prediction]) -> JoinedAnswers:
    """The official join, step by step; each question is used once."""
    by_key = {item.id: number for number, item in enumerate(items)}  # of several the last
    by_content: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        by_content[_signature(item, item.answer, item.canonical_answer)].append(number)
    used: set[int] = set()

    def find(row: Prediction, line: int) -> tuple[str, int] | None:
        """How the prediction in a line (from 0) finds its question, and which; None where it finds none."""
        extra = row.extra or {}
        names = (row.id, extra.get("pair_id"), extra.get("eval_index"), line)
        found = by_key.get(next(str(name) for name in names if name is not None))
        if found is not None and found not in used:
            return ("id" if row.id is not None else "number"), found
        for candidate in by_content.get(_signature(row, extra.get("answer"), extra.get("canonical_answer")), ()):
            if candidate not in used:
                return "content", candidate
        there = items[line] if line < len(items) and line not in used else None
        if there is not None and (_path(row), row.task or "") == (_path(there), there.task or ""):
            return "line", line
        return None

    answered, ways = list[int](), defaultdict(list)
    for line, row in enumerate(predictions):
        found = find(row, line)
        if found is None:
            called = f"prediction {line + 1}" + (f" ({clipped(row.id, 40)})" if row.id else "")
            reason = "its question is answered already" if row.id in by_key else "it belongs to no question"
            raise DataError(f"{called}: {reason}, and the official program stops here with a ValueError: correct it")
        way, number = found
        used.add(number)
        answered.append(number)
        for kind in _traps(way, row, items[number]):
            ways[kind].append(f"{'line ' + str(line + 1) if row.id is None else row.id} to {items[number].id}")
    told = [
        Notice(
            f"official-join-{kind}",
            f"{plural(len(names), 'prediction')} joined {_TRAPS[kind]}, as the official program does: "
            f"{listed(names, 5)}",
            grave=kind != "line",
        )
        for kind, names in ways.items()
    ]
    missed = "silently left out of the mean by the official program, and here too"
    joined = _joined(items, np.array(answered, np.int64), np.arange(len(answered)), told, missed)
    if repeated := _repeated(_column(items, "id")):
        text = f"several questions share an id ({listed(repeated)}): the first prediction goes to the last of them"
        more = Notice("official-join-repeated", text, grave=True)
        joined = dataclasses.replace(joined, notices=(*joined.notices, more))
    return joined


def _signature(row: Item | Prediction, answer: object, canonical: object) -> tuple[str, ...]:
    texts = (" ".join(str(text or "").lower().split()) for text in (answer, canonical))
    return (_path(row), row.task or "", *texts)


def _path(row: Item | Prediction) -> str:
    return row.audio[0] if row.audio else ""


def _traps(way: str, row: Prediction, item: Item) -> list[str]:
    if way != "id":
        return ["wrong-id" if row.id is not None and way == "line" else way]
    found = [] if same_audio(row.audio, item.audio) else ["audio"]
    return found + ([] if same_task(row.task, item.task) else ["task"])


#: What a prediction was joined by where that was not its id alone; all but a join for want of an id are grave.
_TRAPS = {
    "wrong-id": "to the question in the same line although the id is that of no or an answered one",
    "line": "by line, for want of an id",
    "number": "because a separate number (pair_id, eval_index, line) is the id of a question",
    "content": "by recording, task and copied answer, not by id",
    "audio": "by id although the recordings differ",
    "task": "by id although the tasks differ",
}


_INSTRUCTIONS = prompts("so-bench")["seldio"].rstrip("\n")


def _schema_of(field: str) -> dict[str, Any]:
    if field == "sources":
        return {"type": "array", "items": {"type": "string"}}
    if field == "source_match_level":
        return {"type": "string", "enum": list(LEVELS)}
    if field == "source_match":
        return {"type": "boolean"}
    if field in SEMANTIC_FIELDS:
        return {"type": ["boolean", "null"]}
    if field == "count":
        return {"type": ["integer", "null"]}
    if field == "time_span":
        pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        return {"anyOf": [pair, {"type": "null"}]}
    if field in WORDS:
        return {"enum": [*WORDS[field], None]}
    kind = "string" if field in ("primary_source", "direction_phrase", "transcript") else "number"
    return {"type": [kind, "null"]}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


#: The reply, as JSON Schema: all fields are there, nothing else is.
REPLY_SCHEMA: dict[str, Any] = _object(
    {
        "prediction": _object({field: _schema_of(field) for field in PREDICTION_FIELDS}),
        "semantic": _object({field: _schema_of(field) for field in SEMANTIC_FIELDS}),
        "notes": {"type": "string", "default": ""},
    }
)

#: Any number that is no angle or distance, and no part of a name: of a span only the last may have a unit.
_TIME = re.compile(r"(?<![\w.,:])\d++(?>(?:[.,:]\d++)*)(?!\s*(?:°|deg|m\b|met(?:er|re)))", re.IGNORECASE)
#: What is asked for is the same for all tasks; each reads some of it.
_REPLIES = {task: ReplySchema("so-bench", REPLY_SCHEMA["properties"], partial(faults, task=task)) for task in PUBLISHED}
_OTHER = ReplySchema("so-bench", REPLY_SCHEMA["properties"], lambda _: ())


def to_judge(request: AnsweredQuestion) -> JudgeRequest:
    """The request as it is sent to a judge, without the numbers that it reads out of the answer itself."""
    task = PUBLISHED.get(request.task)
    ask = task.ask if task and task.ask else "Decide in relation_match whether the answer says what the reference says."
    hidden = task.hidden if task else ""
    truth = {key: value for key, value in request.meta.items() if value is not None}
    texts = {
        "question": request.question,
        "reference": request.answer,
        "reference, short": request.canonical_answer or "",
        "reference, numbers": json.dumps(truth, ensure_ascii=False) if truth else "",
        "candidate answer": request.prediction,
    }
    shown = {"question", "candidate answer"} if hidden == "all" else {*texts}
    if hidden == "times":
        shown.discard("reference, numbers")
        texts |= {name: _TIME.sub("…", texts[name]) for name in ("reference", "reference, short")}
    kept = {name: text for name, text in texts.items() if name in shown and (text or name == "candidate answer")}
    schema = _REPLIES.get(request.task, _OTHER)
    return make(request.id, request.task, f"{_INSTRUCTIONS}\n\nThis task: {ask}", kept, schema)


def through(server: Server) -> Judge:
    """A judge for :func:`seldio.scores.so_bench.score` that asks *server*."""
    return lambda asked: [reply.verdict for reply in server.ask([to_judge(request) for request in asked])]


# --- judgements made elsewhere ---------------------------------------------------------------------


def cache_key(task: str | None, question: str | None, answer: str | None, prediction: str | None,
              raw: str | None) -> str:  # fmt: skip
    """The key under which the official program's cache keeps a judgement.

    It knows neither the judge's model nor ``answer_meta`` nor ``prediction_cleaned``: judgements are used
    again for other truths and other judges.
    """
    fields = {"task_name": task, "question": question, "answer": answer, "prediction": prediction}
    text = json.dumps(fields | {"prediction_raw": raw}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def from_cache(rows: Iterable[Mapping[str, Any]]) -> Judge:
    """A judge that answers from rows of the official program: its cache, or its judged records.

    Rows have ``cache_key`` and ``judgement`` or ``llm_judgement``; the last of a key counts. As in the official
    program, rows that were made without an answer of the judge are not used.
    """
    kept: dict[str, Judgement] = {}
    for row in rows:
        found = row.get("judgement", row.get("llm_judgement"))
        if row.get("cache_key") and isinstance(found, dict):
            kept[str(row["cache_key"])] = found
    kept = {key: found for key, found in kept.items() if _judged(found)}
    return lambda requests: [kept.get(request.key) for request in requests]


def _judged(found: Judgement) -> bool:
    notes = str(found.get("notes") or "")
    return "error" not in found and "api_error=" not in notes and not notes.startswith("local regex fallback only")


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
    measure = _METRICS.get(task.answer, _same_text) if task is not None else _same_text
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


def _speech_metric(case: _Case) -> Outcome:
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
_METRICS: dict[str, Callable[[_Case], Outcome]] = {
    "number": _number,
    "interval": _interval,
    "source": _source,
    "source and direction": _source_and_direction,
    "relation": lambda case: Outcome(float(case.semantic.get("relation_match") is True), case.metric),
    "motion": lambda case: Outcome(float(case.semantic.get("motion_match") is True), case.metric),
    "speech": _speech_metric,
}


_ACCURACY = Column("accuracy", "accuracy", "%", 2, "higher", "mean score; undecided questions count as wrong")
_DECIDED = Column("decided_accuracy", "over decided", "%", 2, "higher", "mean score of the questions decided")
_MACRO = Column("macro", "macro", "%", 2, "higher", "mean over tasks: each counts the same")
_N = Column("n", "n", "", 0, None, "questions")
_PARSED = Column("parse_rate", "parsed", "%", 1, "higher", "predictions that say what the task asks for")
_SHARE = Column("decided", "decided", "%", 1, "higher", "questions that were decided")
#: Who decides, with the column of how often; the first three come to a verdict.
_HOW: tuple[tuple[Decider, Column], ...] = (
    ("offline", Column("offline", "offline", "", 0, None, "read from the text without a judge")),
    ("judge", Column("judge", "judge", "", 0, None, "decided by the judge")),
    ("fallback", Column("fallback", "fallback", "", 0, None, "decided by the official fallback")),
    ("undecided", Column("undecided", "no verdict", "", 0, None, "without a verdict")),
    ("missing", Column("missing", "missing", "", 0, None, "without prediction")),
)
#: What is measured beside the score: key of the outcome, what it is.
_MEASURES = (
    ("doaerr_deg", "angular error, degrees"),
    ("distance_error_m", "distance error, metres"),
    ("relative_distance_error", "distance error, share of the distance"),
    ("interval_iou", "overlap of intervals, IoU"),
    ("time_error_s", "onset error, seconds"),
)
#: What became of a reply, by who decided; of undecided ones their text tells.
_STATES: dict[Decider, str] = {
    "offline": "read", "judge": replies.JUDGED, "fallback": "by the official fallback", "missing": "missing",
}  # fmt: skip
_DECIDERS = [how for how, _ in _HOW]
#: What is kept of an outcome.
_KEPT = (*(key for key, _ in _MEASURES), "wer", "wer_raw")


def state_of(row: Scored) -> str:
    """What became of a reply."""
    return _STATES.get(row.how) or replies.state_of(read_reply(row.prediction, ()))


class Marks:
    """Scored questions in columns, in the order in which they are counted; *take* is handed them one by one."""

    def __init__(self, rows: Iterable[Scored], take: Callable[[Scored], object] | None = None) -> None:
        self.names: dict[str, int] = {}  # codes of tasks and of groups
        recordings: list[str] = []  # what each is about
        task, group, decider, odd = array("i"), array("i"), array("b"), array("b")
        correct, parseable, from_text = array("d"), array("b"), array("b")
        numbers = {key: (array("q"), array("d")) for key in _KEPT}
        self.states: list[str] = []  # what became of each reply
        self.reason = ""  # why the first that has no score has none
        for number, row in enumerate(rows):
            task.append(self.names.setdefault(row.task, len(self.names)))
            group.append(self.names.setdefault(question_class(row), len(self.names)))
            decider.append(_DECIDERS.index(row.how))
            recordings.append(intervals.recording_of(row.item))
            correct.append(row.correct)
            parseable.append(row.outcome is not None and row.outcome.parseable)
            from_text.append(row.how == "offline" and row.task != "speech_content" and bool(row.prediction.strip()))
            self.states.append(state_of(row))
            odd.append(sum(1 << bit for bit, (about, *_) in enumerate(_ABOUT_ROWS.values()) if about(row)))
            details = row.outcome.details if row.outcome is not None else {}
            for key, (places, values) in numbers.items() if details else ():
                if details.get(key) is not None:
                    places.append(number)
                    values.append(float(details[key]))
            if not self.reason and _unusable(row):
                self.reason = clipped(str(details["scoring_error"]), 80)
            if take is not None:
                take(row)
        self.task, self.group, self.decider = np.asarray(task), np.asarray(group), np.asarray(decider)
        self.clip = intervals.numbered(recordings)  # the number of the recording
        self.correct, self.parseable = np.asarray(correct), np.asarray(parseable)
        self.from_text = np.asarray(from_text)  # whether a text was read that the official program asks its judge about
        self.odd = np.asarray(odd)  # a bit for each notice that a question is a reason for
        #: the numbers of outcomes by key: the questions that have one, and it
        self.numbers = {key: (np.asarray(places), np.asarray(values)) for key, (places, values) in numbers.items()}
        self.all = np.arange(len(task))
        self.decided = self.decider < _DECIDERS.index("undecided")
        order, self.tasks = {name: place for place, name in enumerate(PUBLISHED)}, dict[str, Ints]()  # the rows of each
        there = [name for name, code in self.names.items() if (self.task == code).any()]
        for name in sorted(there, key=lambda name: (order.get(name, len(order)), name)):
            self.tasks[name] = np.flatnonzero(self.task == self.names[name])

    def accuracy(self, rows: Ints) -> float:
        """The mean score; undecided questions count 0."""
        return mean(self.correct[rows])

    def both(self, rows: Ints) -> tuple[float, float]:
        """The mean score of all questions, and of those decided."""
        return self.accuracy(rows), self.accuracy(rows[self.decided[rows]])

    @property
    def macro(self) -> float:
        """The mean over tasks of their mean scores."""
        return mean(np.array([self.accuracy(rows) for rows in self.tasks.values()]))

    def values(self, task: str, key: str) -> tuple[Ints, Floats]:
        """The finite numbers of a key of a task's outcomes, and their questions."""
        places, values = self.numbers[key]
        kept = (self.task[places] == self.names.get(task, -1)) & np.isfinite(values)
        return places[kept], values[kept]


def question_class(row: Scored) -> str:
    """The group of a question: its own, else that which its task has in the benchmark."""
    named = (row.item.extra or {}).get("question_class")
    usual = PUBLISHED[row.task].question_class if row.task in PUBLISHED else "other"
    return named if isinstance(named, str) else usual


def mean(values: Floats) -> float:
    """The mean, summed up in order as the official program does; NaN of nothing."""
    return sum(values.tolist()) / len(values) if len(values) else math.nan


def tables(system: str, marks: Marks) -> tuple[Table, ...]:
    """All tables of a score, those without rows left out."""
    decided = float(marks.decided.sum()) / len(marks.all)
    whole = (system, *marks.both(marks.all), marks.macro, decided, len(marks.all))
    columns = (Column("system", "system"), _ACCURACY, _DECIDED, _MACRO, _SHARE, _N)
    groups = {name: np.flatnonzero(marks.group == code) for name, code in sorted(marks.names.items())}
    classed = {name: rows for name, rows in groups.items() if len(rows)}
    found = (
        Table("overall", "task-aware accuracy", columns, (whole,)),
        _tasks(marks),
        intervals.table([_ACCURACY], marks.correct[:, None], marks.clip, {"task": marks.tasks, "class": classed}),
        *replies.tables(marks.states, marks.correct),
        _errors(marks),
        _speech(marks),
    )  # fmt: skip
    return tuple(table for table in found if table.rows)


def _tasks(marks: Marks) -> Table:
    totals = np.bincount(marks.decider, minlength=len(_DECIDERS))
    shown = [
        (code, column) for code, (how, column) in enumerate(_HOW) if how != "fallback" or totals[code]
    ]  # that of the official fallback only where it decided
    columns = (Column("task", "task"), _N, _ACCURACY, _DECIDED, _PARSED, *(column for _, column in shown))
    cells = []
    for task, rows in marks.tasks.items():
        counts = np.bincount(marks.decider[rows], minlength=len(_DECIDERS)).tolist()
        parsed = int(marks.parseable[rows].sum()) / len(rows)
        cells.append((task, len(rows), *marks.both(rows), parsed, *(counts[code] for code, _ in shown)))
    return Table("tasks", "by task", columns, tuple(cells))


def _errors(marks: Marks) -> Table:
    columns = (
        Column("task", "task"),
        Column("measure", "measure"),
        _N,
        Column("mean", "mean", "", 3),
        Column("median", "median", "", 3),
    )
    cells = [
        (task, title, len(values), mean(values), median(values.tolist()))
        for task in marks.tasks
        for key, title in _MEASURES
        if len(values := marks.values(task, key)[1])
    ]
    return Table("errors", "errors of the predictions that could be read", columns, tuple(cells))


def _speech(marks: Marks) -> Table:
    best, raw = (marks.values("speech_content", key)[1] for key in ("wer", "wer_raw"))
    capped = np.minimum(best, 1.0)
    cells = []
    for name, values in (("wer", best), ("wer_clipped", capped), ("wer_raw", raw)) if len(best) else ():
        cells += [(f"{name}_mean", mean(values)), (f"{name}_median", median(values.tolist()))]
    for limit in (0.3, 0.5, 1.0) if len(best) else ():
        cells.append((f"acc_wer_le_{limit}", mean((best <= limit).astype(float))))
    columns = (Column("statistic", "statistic"), Column("value", "value", "", 4))
    return Table("speech", f"transcripts: word error rates of {len(best)} predictions", columns, tuple(cells))


# --- what there is to know -------------------------------------------------------------------------


def notices(marks: Marks, items: Sequence[Item], joined: JoinedAnswers, profile: AnswerProfile) -> tuple[Notice, ...]:
    """Return all that apply, the grave ones first."""
    counted = np.concatenate((joined.items, joined.missing))

    def ids(rows: Ints) -> str:
        return listed([items[number].id for number in counted[rows[:3]].tolist()], 3, len(rows))

    about = {}
    for bit, (name, (_, what, grave)) in enumerate(_ABOUT_ROWS.items()):
        if len(rows := np.flatnonzero(marks.odd & (1 << bit))):
            noun, rest = what.format(ids=ids(rows), reason=marks.reason).split(" ", 1)
            about[name] = [Notice(name, f"{plural(len(rows), noun)} {rest}", grave)]
    found = [*joined.notices, *_undecided(marks), *about.get("scoring-errors", ()), *about.get("no-truth", ())]
    if tasks := sorted({*marks.tasks} - {*PUBLISHED}):
        text = f"tasks that SO-Bench does not have ({listed(tasks)}): right is what equals the answer but for case"
        found.append(Notice("unknown-tasks", text, grave=True))
    found += [*about.get("azimuth-as-elevation", ()), *about.get("contradictory-judgements", ())]
    if profile.departures:
        found.append(Notice("not-the-whole-program", profile.departures, grave=True))
    found += _float_trap(marks, profile, ids)
    if {task: len(rows) for task, rows in marks.tasks.items()} != COUNTS:
        text = (
            f"these are not the {sum(COUNTS.values()):,} questions of SO-Bench (by the published number of each "
            "task): the accuracy cannot be compared with published ones"
        )
        found.append(Notice("other-questions", text))
    if read := int(marks.from_text.sum()):
        share = f"{read:,} of {plural(len(marks.all), 'question')}"
        text = f"{share} decided from the text alone; the official program asks a judge about all but transcripts"
        found.append(Notice("read-offline", text))
    return in_order(found)


def _undecided(marks: Marks) -> Iterator[Notice]:
    names = [*marks.names]
    open_ones = Counter(names[code] for code in marks.task[marks.decider == _DECIDERS.index("undecided")])
    if not open_ones:
        return
    tasks = ", ".join(f"{task} {count:,}" for task, count in open_ones.most_common(4))
    every, decided = marks.both(marks.all)
    over = "and none is decided" if math.isnan(decided) else f"over those decided {decided:.2%}"
    text = (
        f"{plural(open_ones.total(), 'prediction')} without verdict ({tasks}): their texts do not tell, and there was "
        f"no judge or it gave no verdict. Counted as wrong the accuracy is {every:.2%}, {over}: "
        "give a judge for one number"
    )
    yield Notice("no-verdict", text, grave=True)


def _float_trap(marks: Marks, profile: AnswerProfile, ids: Callable[[Ints], str]) -> Iterator[Notice]:
    """Errors equal to a threshold on paper and beyond it in binary."""
    limited = (task for task in PUBLISHED.values() if task.threshold)
    for task in sorted(limited, key=lambda task: THRESHOLDS.index(str(task.threshold))):
        limit, key, unit = getattr(profile, str(task.threshold)), str(task.error), task.unit
        if task.threshold == "distance" and profile.relative:
            key, unit = "relative_distance_error", "of the distance"
        rows, values = marks.values(task.name, key)
        at = rows[abs(values - limit) < 1e-9]
        failed = at[marks.correct[at] == 0]
        if len(failed):
            text = (
                f"{plural(len(failed), 'prediction')} of {task.name} wrong by the last bit: {len(at):,} are off by "
                f"exactly {limit:g} {unit}, which is allowed, and in binary {len(failed):,} of these come out greater "
                f"({ids(failed)}). Kept as in the official program"
            )
            yield Notice("float-trap", text)


def _part(row: Scored, name: str) -> dict[str, object]:
    """A part of a judgement, which may be anything: judges are machines."""
    judgement: object = row.judgement
    part = judgement.get(name) if isinstance(judgement, dict) else None
    return part if isinstance(part, dict) else {}


def _unusable(row: Scored) -> bool:
    return row.outcome is not None and row.outcome.metric == "scoring_error"


def _without_truth(row: Scored) -> bool:
    truth = PUBLISHED[row.task].truth if row.task in PUBLISHED else None
    return truth is not None and getattr(row.item.answer_meta, truth, None) is None


def _azimuth_as_elevation(row: Scored) -> bool:
    said = _part(row, "prediction")
    return row.task == "estimate_elevation" and said.get("elevation_deg") is None and said.get("angle_deg") is not None


def _contradicts(row: Scored) -> bool:
    semantic = _part(row, "semantic")
    match, level = semantic.get("source_match"), semantic.get("source_match_level")
    return (match is True and level in ("wrong", "related_but_wrong")) or (
        match is False and level == "exact_or_synonym"
    )


#: Notices on some questions: which, what is to be known of them (behind their number), and whether it is grave.
_ABOUT_ROWS: dict[str, tuple[Callable[[Scored], bool], str, bool]] = {
    "scoring-errors": (
        _unusable, "judgement that cannot be computed with counted as wrong ({ids}: {reason})", True,
    ),
    "no-truth": (
        _without_truth,
        "question without the number in answer_meta that scoring needs ({ids}): no prediction can be right", True,
    ),
    "azimuth-as-elevation": (
        _azimuth_as_elevation,
        (
            "elevation read from angle_deg, because the judgement has no elevation_deg ({ids}): an azimuth may have "
            "been scored as an elevation, as in the official program"
        ), True,
    ),
    "contradictory-judgements": (
        _contradicts,
        (
            "judgement whose source_match and source_match_level contradict each other ({ids}): the one that says "
            "right wins, as in the official program"
        ), False,
    ),
}  # fmt: skip


def score(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    profile: AnswerProfile,
    *,
    judge: Judge | None = None,
    join: JoinedBy = "strict",
    offline: Offline = "extract",
    system: str = "predictions",
    take: Callable[[Scored], object] | None = None,
) -> ScoreReport:
    """The score of *predictions* for the questions *items*.

    Args:
        items: the questions with their answers.
        predictions: in any order; joined by id.
        profile: thresholds and policies, see :mod:`seldio.scores.so_bench`; ``changed`` sets others.
        judge: decides what the texts do not tell; what it leaves open stays without verdict.
        join: ``official`` joins as the official program does, and tells where that is not by id.
        offline: what is decided without a judge.
        system: the name of what is scored.
        take: is handed the questions one by one, scored; none of them is kept.

    Raises:
        DataError: the predictions do not match the questions, or there is nothing to score.
        UsageError: a way of reading that does not exist.
    """
    joined = join_answers(items, predictions, join)
    marks = Marks(count(items, predictions, joined, profile, judge, offline), take)
    if not len(marks.all):
        raise DataError("nothing to score: no question has a prediction")
    over = f"{plural(len(marks.all), 'question')} of {plural(len(marks.tasks), 'task')}"
    settings = profile.settings() | {"join": join, "offline": offline, "judge": judge is not None}
    told = notices(marks, items, joined, profile)
    return ScoreReport(system, profile.name, profile.title, over, tables(system, marks), told, settings)
