"""Two versions of questions, or of predictions: added, dropped, reworded, answered differently; and causes for all.

Rows belong together by their ids; if ids changed, by recording and question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Any

import pyarrow as pa

from seldio.errors import DataError, UsageError
from seldio.formats.items import ItemReading
from seldio.text import printable

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
    pairs = _joined(_ids(a), _ids(b))
    if renamed := not pairs:
        pairs = _joined(_contents(a), _contents(b))
    if pairs is None:
        raise UsageError("several rows have the same id, or no id and the same recording and question")
    if not pairs and len(a) and len(b):
        raise DataError(f"no row is in both: neither an id nor a recording and question of {printable(old[0].path)}")
    changed: list[ChangedRow] = []
    causes: list[tuple[str, int]] = []
    names = _names(a)
    for column in [name for name in a.column_names if name in b.column_names]:
        before, after = a[column].to_pylist(), b[column].to_pylist()
        differ = [(row, before[row], after[other]) for row, other in pairs if before[row] != after[other]]
        changes = [(was, now) for _, was, now in differ]
        if renamed and column == "id" and len(differ) == len(pairs):
            causes.append(("every row has another id", len(pairs)))
        elif len(differ) >= _MANY and (cause := _cause(column, changes, len(differ) == len(pairs))):
            causes.append((cause, len(differ)))
        else:
            changed += [
                ChangedRow(names[row], _kind(column, was, now), _spelt(was), _spelt(now)) for row, was, now in differ
            ]
    gone, come = {*range(len(a))} - {row for row, _ in pairs}, {*range(len(b))} - {other for _, other in pairs}
    changed += [ChangedRow(names[row], "dropped", _text(a, row), "") for row in sorted(gone)]
    names = _names(b)
    changed += [ChangedRow(names[row], "added", "", _text(b, row)) for row in sorted(come)]
    reordered = any(before > after for (_, before), (_, after) in pairwise(pairs))
    return ItemChanges(holds, len(pairs), tuple(changed), tuple(causes), reordered)


def _ids(table: pa.Table) -> list[str] | None:
    return None if "id" not in table.column_names or table["id"].null_count else table["id"].to_pylist()


def _contents(table: pa.Table) -> list[str] | None:
    parts = [name for name in ("audio", "question", "prompt", "start") if name in table.column_names]
    rows = zip(*(table[name].to_pylist() for name in parts), strict=True)
    return [*map(repr, rows)] if parts else None


def _joined(old: list[str] | None, new: list[str] | None) -> list[tuple[int, int]] | None:
    """Return rows with the same key; None where keys are missing or not unique."""
    if old is None or new is None or any(len({*keys}) != len(keys) for keys in (old, new)):
        return None
    places = {key: row for row, key in enumerate(new)}
    return [(row, places[key]) for row, key in enumerate(old) if key in places]


def _cause(column: str, changes: Sequence[tuple[Any, Any]], every: bool) -> str:
    """Return the one change of a column that explains all rows that differ, *every* row or some; empty if none does."""
    if column == "audio":
        moves = {_moved(was, now) for was, now in changes}
        move = moves.pop()
        if move is not None and not moves:
            was, now = (f"{folder}/" if folder else "no folder" for folder in move)
            return f"recordings moved: {was} is now {now}"
    if every and all(now is None for _, now in changes):
        return f"{column} removed from every row"
    if every and all(was is None for was, _ in changes):
        return f"{column} added to every row"
    return ""


#: From how many rows on one cause is told instead of each of them.
_MANY = 3


def _moved(old: Any, new: Any) -> tuple[str, str] | None:
    """Return the folder that a recording was in and the one that it is in, if the rest of its path is the same."""
    if not old or not new or len(old) != len(new):
        return None
    folders = set()
    for a, b in zip(old, new, strict=True):
        olds, news = a.split("/"), b.split("/")
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(olds[::-1], news[::-1], strict=False)))
        if not same:
            return None
        folders.add(("/".join(olds[: len(olds) - same]), "/".join(news[: len(news) - same])))
    return folders.pop() if len(folders) == 1 else None


def _kind(column: str, was: Any, now: Any) -> str:
    return "order" if column == "options" and was and now and sorted(was) == sorted(now) else column


def _names(table: pa.Table) -> list[str]:
    """Return the name of each row: its id, or its number."""
    ids = table["id"].to_pylist() if "id" in table.column_names else [None] * len(table)
    return [name or f"row {row}" for row, name in enumerate(ids, 1)]


def _text(table: pa.Table, row: int) -> str:
    for column in ("question", "prediction"):
        if column in table.column_names and table[column][row].as_py():
            return _spelt(table[column][row].as_py())
    return ""


def _spelt(value: Any) -> str:
    if value is None:
        return ""
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
