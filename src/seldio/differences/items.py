"""Two versions of questions, or of predictions: added, dropped, reworded, answered differently; and causes for all.

Rows belong together by their ids; if ids changed, by recording and question.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio.errors import DataError, UsageError
from seldio.formats.items import ItemReading
from seldio.schema.arrays import pc
from seldio.text import printable

Ints = NDArray[np.int64]

#: What may happen to a question or a prediction, by column, with words for many of them.
KINDS = {
    "question": "questions reworded", "answer": "questions with another answer",
    "options": "questions with other options", "order": "questions with options in another order",
    "audio": "questions about another recording", "task": "questions of another task",
    "split": "questions of another split", "id": "rows with another id", "prediction": "predictions changed",
    "added": "rows added", "dropped": "rows dropped",
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedRow:
    """A question or a prediction that is not the same in both versions."""

    id: str
    kind: str  # a name of ``KINDS``, or another column
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class ItemChanges:
    """The changes between two files of questions or predictions."""

    holds: str  # items or predictions
    rows: tuple[int, int]
    common: int
    changed: tuple[ChangedRow, ...]
    causes: tuple[tuple[str, int], ...]  # what was done to all rows, in words, and to how many
    reordered: bool  # whether rows that both have are in another order


def compared_items(holds: str, old: Sequence[ItemReading], new: Sequence[ItemReading]) -> ItemChanges:
    """Compare questions (*holds* ``items``) or predictions of two versions.

    Raises:
        DataError: no row is in both.
        UsageError: several rows have the same id.
    """
    a, b = (pa.concat_tables([reading.table for reading in side]).combine_chunks() for side in (old, new))
    renamed = False
    pairs = _joined(_ids(a), _ids(b))
    if pairs is None or len(pairs[0]) == 0:
        pairs, renamed = _joined(_contents(a), _contents(b)), True
    if pairs is None:
        raise UsageError("several rows have the same id, or no id and the same recording and question")
    rows, others = pairs
    if not len(rows) and len(a) and len(b):
        raise DataError(f"no row is in both: neither an id nor a recording and question of {printable(old[0].path)}")
    changed: list[ChangedRow] = []
    causes: list[tuple[str, int]] = []
    names = _names(a)
    for column in [name for name in a.column_names if name in b.column_names]:
        before, after = a[column].take(pa.array(rows)), b[column].take(pa.array(others))
        differ = np.flatnonzero(~_equal(before, after))
        if not len(differ):
            continue
        if (cause := _cause(column, before, after, differ)) is not None:
            causes.append(cause)
            continue
        changed += _changes(column, before, after, differ, names, rows)
    if renamed and "id" in a.column_names and not any(text.startswith("id") for text, _ in causes):
        ids = [row for row in changed if row.kind == "id"]
        if len(ids) == len(rows):
            changed = [row for row in changed if row.kind != "id"]
            causes.append(("every row has another id", len(rows)))
    gone, come = (np.setdiff1d(np.arange(len(one)), some) for one, some in ((a, rows), (b, others)))
    changed += [ChangedRow(_name(a, row), "dropped", _text(a, row), "") for row in gone.tolist()]
    changed += [ChangedRow(_name(b, row), "added", "", _text(b, row)) for row in come.tolist()]
    return ItemChanges(
        holds, (len(a), len(b)), len(rows), tuple(changed), tuple(causes),
        bool((np.diff(others[np.argsort(rows, kind="stable")]) < 0).any()),
    )  # fmt: skip


def _ids(table: pa.Table) -> pa.Array | None:
    if "id" not in table.column_names or table["id"].null_count:
        return None
    return table["id"].combine_chunks()


def _contents(table: pa.Table) -> pa.Array | None:
    parts = [name for name in ("audio", "question", "prompt", "start") if name in table.column_names]
    columns = [
        pc.binary_join(table[name], "\x1f") if pa.types.is_list(table[name].type) else table[name].cast(pa.string())
        for name in parts
    ]
    columns = [pc.fill_null(column, "") for column in columns]
    return pc.binary_join_element_wise(*columns, "\x1e").combine_chunks() if columns else None


def _joined(one: pa.Array | None, other: pa.Array | None) -> tuple[Ints, Ints] | None:
    """Rows with the same key; None where keys are missing or not unique."""
    if one is None or other is None or any(pc.count_distinct(keys).as_py() != len(keys) for keys in (one, other)):
        return None
    place = pc.index_in(one, value_set=other)
    rows = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    return rows, np.asarray(place.drop_null().to_numpy(zero_copy_only=False), np.int64)


def _equal(one: pa.ChunkedArray, other: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which values of two columns are the same; null is the same as null."""
    if pa.types.is_nested(one.type):
        if one.equals(other):
            return np.ones(len(one), dtype=bool)
        return np.array([a == b for a, b in zip(one.to_pylist(), other.to_pylist(), strict=True)], dtype=bool)
    both = pc.fill_null(pc.equal(one, other.cast(one.type)), False)
    none = pc.and_(one.is_null(), other.is_null())
    return np.asarray(pc.or_(both, none).to_numpy(), dtype=bool)


def _cause(column: str, before: pa.ChunkedArray, after: pa.ChunkedArray, differ: Ints) -> tuple[str, int] | None:
    """One change of a column that explains all rows that differ, if there are many."""
    if len(differ) < _MANY:
        return None
    places = pa.array(differ)
    pairs = list(zip(before.take(places).to_pylist(), after.take(places).to_pylist(), strict=True))
    if column == "audio":
        moves = Counter(_moved(one, other) for one, other in pairs)
        ((move, count),) = moves.most_common(1)
        if move is not None and count == len(pairs):
            was, now = (f"{folder}/" if folder else "no folder" for folder in move)
            return f"recordings moved: {was} is now {now}", count
    if all(other is None for _, other in pairs) and len(differ) == len(before):
        return f"{column} removed from every row", len(pairs)
    if all(one is None for one, _ in pairs) and len(differ) == len(before):
        return f"{column} added to every row", len(pairs)
    if column in ("answer", "prediction"):
        if all(_letter(one) and not _letter(other) for one, other in pairs):
            return f"{column}s are texts instead of letters", len(pairs)
        if all(_letter(other) and not _letter(one) for one, other in pairs):
            return f"{column}s are letters instead of texts", len(pairs)
    return None


#: From how many rows on one cause is told instead of each of them.
_MANY = 3


def _moved(one: Any, other: Any) -> tuple[str, str] | None:
    """Return the folder that a recording was in and the one that it is in, if the rest of its path is the same."""
    if not one or not other or len(one) != len(other):
        return None
    folders = set()
    for a, b in zip(one, other, strict=True):
        olds, news = a.split("/"), b.split("/")
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(olds[::-1], news[::-1], strict=False)))
        if not same:
            return None
        folders.add(("/".join(olds[: len(olds) - same]), "/".join(news[: len(news) - same])))
    return folders.pop() if len(folders) == 1 else None


def _letter(text: Any) -> bool:
    return isinstance(text, str) and re.fullmatch(r"\(?[A-Z]\)?\.?", text.strip()) is not None


def _changes(
    column: str, before: pa.ChunkedArray, after: pa.ChunkedArray, differ: Ints, names: Sequence[str], rows: Ints
) -> Iterator[ChangedRow]:
    for place in differ.tolist():
        one, other = before[place].as_py(), after[place].as_py()
        kind = column
        if column == "options" and one and other and sorted(one) == sorted(other):
            kind = "order"
        yield ChangedRow(names[rows[place]], kind, _spelt(one), _spelt(other))


def _names(table: pa.Table) -> list[str]:
    """Return the name of each row: its id, or its number."""
    ids = table["id"].to_pylist() if "id" in table.column_names else [None] * len(table)
    return [one or f"row {row + 1}" for row, one in enumerate(ids)]


def _name(table: pa.Table, row: int) -> str:
    found = table["id"][row].as_py() if "id" in table.column_names else None
    return found or f"row {row + 1}"


def _text(table: pa.Table, row: int) -> str:
    for column in ("question", "prediction"):
        if column in table.column_names and table[column][row].as_py():
            return _spelt(table[column][row].as_py())
    return ""


def _spelt(value: Any) -> str:
    if value is None:
        return ""
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
