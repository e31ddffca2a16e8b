"""Which prediction answers which question.

By default a prediction belongs to the question with its id, and what does not fit stops the scoring: a number
over a wrong join looks like any other. ``official`` joins as the official program does, and tells where that
is not by id.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seldio.errors import DataError
from seldio.formats.base import Ints
from seldio.reports.tables import Notice
from seldio.schema.qa import Item, Prediction, Rows, packed, same_audio, same_task
from seldio.text import clipped, listed, plural

JoinedBy = Literal["strict", "official"]


class JoinedPair(NamedTuple):
    """A question and the prediction that answers it, by their numbers in their sequences."""

    item: int
    prediction: int


@dataclasses.dataclass(frozen=True)
class JoinedAnswers:
    """The outcome of a join."""

    pairs: list[JoinedPair]  # in the order of the questions (strict) or of the predictions (official)
    missing: list[int]  # the questions that no prediction answers
    notices: tuple[Notice, ...] = ()  # what there is to know


def join(items: Sequence[Item], predictions: Sequence[Prediction], how: JoinedBy = "strict") -> JoinedAnswers:
    """Predictions joined to questions.

    Raises:
        DataError: they do not fit. Strict: a prediction without id, with the id of no question or of one that
            is answered already, or with another recording or task than its question; two questions of one id.
            Official: a prediction that the official program would stop at.
    """
    return _official(items, predictions) if how == "official" else _strict(items, predictions)


def _strict(items: Sequence[Item], predictions: Sequence[Prediction]) -> JoinedAnswers:
    missed = "counted as wrong; the official program leaves them out"
    if (answers := _answers(items, predictions)) is not None:
        there = np.flatnonzero(answers >= 0)
        pairs = [JoinedPair(*pair) for pair in zip(there.tolist(), answers[there].tolist(), strict=True)]
        return _joined(items, pairs, (), missed)
    asked, given = values(items, "id"), values(predictions, "id")
    number = {id: index for index, id in enumerate(asked)}
    theirs = [(index, number.get(id)) for index, id in enumerate(given) if id is not None]
    fitting = [(index, item) for index, item in theirs if item is not None]
    faults = (
        ("id of several questions", _repeated(asked)),
        ("prediction without qa_id", [f"number {n}" for n, id in enumerate(given, 1) if id is None]),
        ("prediction with the qa_id of no question", [str(given[n]) for n, item in theirs if item is None]),
        ("question answered more than once", _repeated(id for id in given if id is not None)),
        ("prediction with another recording than its question",
         [asked[item] for item in _unlike(items, predictions, fitting, "audio", same_audio)]),
        ("prediction with another task than its question",
         [asked[item] for item in _unlike(items, predictions, fitting, "task", same_task)]),
    )  # fmt: skip
    wrong = [
        f"{plural(len(names), what.split(' ', 1)[0])} {what.split(' ', 1)[1]}: {listed(names, 3)}"
        for what, names in faults
        if names
    ]
    if wrong:
        raise DataError(
            f"the predictions do not fit the questions: {'; '.join(wrong)}. A score over wrong pairs says nothing: "
            "correct the file (seldio validate shows the lines), or score with the official join, which takes what "
            "it can get and names what it joined otherwise than by id"
        )
    answered = {item: n for n, item in fitting}
    pairs = [JoinedPair(item, answered[item]) for item in range(len(items)) if item in answered]
    return _joined(items, pairs, (), missed)


def _answers(items: Sequence[Item], predictions: Sequence[Prediction]) -> Ints | None:
    """The prediction of each question of a table, -1 for none; None where something does not fit, or for no tables."""
    if not isinstance(items, Rows) or not isinstance(predictions, Rows):
        return None
    asked, given = items.table["id"], predictions.table["id"]
    if given.null_count or any(pc.count_distinct(ids).as_py() != len(ids) for ids in (asked, given)):
        return None
    found = pc.index_in(given, value_set=asked)
    if found.null_count:
        return None
    numbers = found.to_numpy().astype(np.int64)
    for start in range(0, len(numbers), BLOCK):
        theirs = predictions.table.slice(start, BLOCK).select(["audio", "task"])
        own = items.table.select(["audio", "task"]).take(numbers[start : start + BLOCK])
        for field, alike in (("audio", same_audio), ("task", same_task)):
            if not all(map(alike, theirs[field].to_pylist(), own[field].to_pylist())):
                return None
    answers = np.full(len(items), -1, np.int64)
    answers[numbers] = np.arange(len(numbers))
    return answers


#: So many questions are looked at a time.
BLOCK = 4096
#: The columns that joining and counting look at; of further keys of questions, only the class.
_LOOKED_AT = ("id", "audio", "task", "question", "answer", "canonical_answer", "answer_meta", "prediction", "extra")


def slim(table: pa.Table) -> pa.Table:
    """A table of questions or predictions with nothing in the columns that no score depends on."""
    for number, field in enumerate(table.schema):
        if field.name not in _LOOKED_AT:
            table = table.set_column(number, field, pa.nulls(len(table), field.type))
    if "prediction" in table.column_names:
        return table
    extra = (json.loads(text) if text else {} for text in table["extra"].to_pylist())
    kept = [packed({_CLASS: keys[_CLASS]}) if _CLASS in keys else None for keys in extra]
    return table.set_column(table.schema.get_field_index("extra"), "extra", pa.array(kept, pa.string()))


_CLASS = "question_class"


def blocks(rows: Sequence[Item], *fields: str) -> Iterator[tuple[Any, ...]]:
    """Some fields of all rows; of a table a block of its columns after the other."""
    if not isinstance(rows, Rows):
        yield from zip(*(values(rows, field) for field in fields), strict=True)
        return
    table = rows.table.select(fields)
    for start in range(0, len(table), BLOCK):
        yield from zip(*(column.to_pylist() for column in table.slice(start, BLOCK).columns), strict=True)


def values(rows: Sequence[Item] | Sequence[Prediction], field: str) -> list[Any]:
    """A field of all rows; of a table its column, without any row being made."""
    return rows.table[field].to_pylist() if isinstance(rows, Rows) else [getattr(row, field) for row in rows]


def _unlike(
    items: Sequence[Item], predictions: Sequence[Prediction], pairs: Sequence[tuple[int, int]], field: str,
    alike: Callable[[Any, Any], bool],
) -> list[int]:  # fmt: skip
    """The questions whose predictions have another *field*."""
    theirs, own = values(predictions, field), values(items, field)
    return [item for n, item in pairs if not alike(theirs[n], own[item])]


def _repeated(ids: Iterable[str]) -> list[str]:
    return [each for each, count in Counter(ids).items() if count > 1]


def _joined(items: Sequence[Item], pairs: list[JoinedPair], told: Iterable[Notice], missed: str) -> JoinedAnswers:
    """A join with a notice on questions without prediction, which are *missed* somehow."""
    answered = {pair.item for pair in pairs}
    missing = [item for item in range(len(items)) if item not in answered]
    notices = list(told)
    if missing:
        names = listed([items[number].id for number in missing], 5)
        comma = "," if missed.startswith("counted") else ""
        text = f"{plural(len(missing), 'question')} without prediction ({names}){comma} {missed}"
        notices.append(Notice("missing-predictions", text, grave=True))
    return JoinedAnswers(pairs, missing, tuple(notices))


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

    pairs, ways = [], defaultdict(list)
    for line, row in enumerate(predictions):
        found = find(row, line)
        if found is None:
            called = f"prediction {line + 1}" + (f" ({clipped(row.id, 40)})" if row.id else "")
            reason = "its question is answered already" if row.id in by_key else "it belongs to no question"
            raise DataError(f"{called}: {reason}, and the official program stops here with a ValueError: correct it")
        way, number = found
        used.add(number)
        pairs.append(JoinedPair(number, line))
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
    joined = _joined(items, pairs, told, "left out of the mean, as the official program does without a word")
    if repeated := _repeated(item.id for item in items):
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
    "number": "because a number of its own (pair_id, eval_index, line) is the id of a question",
    "content": "by recording, task and copied answer, not by id",
    "audio": "by id although the recordings differ",
    "task": "by id although the tasks differ",
}
