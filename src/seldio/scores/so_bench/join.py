"""Which prediction answers which question.

By default a prediction belongs to the question with its id, and what does not fit stops the scoring: a number
over a wrong join looks like any other. ``official`` joins as the official program does, and tells where that
is not by id.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from seldio.errors import DataError
from seldio.formats.base import Ints
from seldio.reports.tables import Notice
from seldio.schema.arrays import pc
from seldio.schema.qa import ITEM_SCHEMA, Item, Prediction, Rows, cause_of_surplus, same_audio, same_task
from seldio.text import clipped, listed, plural, printable

JoinedBy = Literal["strict", "official"]


@dataclasses.dataclass(frozen=True, eq=False)
class JoinedAnswers:
    """The outcome of a join; questions and predictions are named by their numbers in their sequences."""

    #: the questions that are answered, in their order (strict) or in that of the predictions (official)
    items: Ints
    predictions: Ints  # the prediction that answers each of them
    missing: Ints  # the questions that no prediction answers
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
