"""Columns that a layout does not have, or has in another place: a confidence, a copy, a constant, two exchanged.

They are looked for where no layout fits rows as they are, or where the column of distances holds what no distances
are. What is found is named; of these only a confidence can be taken out by a repair, since nobody else can say which
columns were meant.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections.abc import Iterator
from functools import cached_property

from seldio.formats import cells
from seldio.formats.shapes import ENOUGH, Row, Rows, Shape, counts_rows

#: Rows from which on it is no accident that all values of a column lie between 0 and 1, or between 0 and 100.
SOME = 30
#: Metres that the distance of a source changes by within 100 ms, if it walks.
_SMOOTH = 0.03
#: Columns before those that may hold something else: frame and class.
_FIRST = 2


@dataclasses.dataclass(frozen=True)
class _ColumnCells:
    """One column of rows: its cells as text, and as numbers where all of them are."""

    texts: tuple[str, ...]

    @cached_property
    def values(self) -> tuple[float, ...]:
        real = cells.PATTERNS["real"]
        return tuple(map(float, self.texts)) if all(real.fullmatch(text.encode()) for text in self.texts) else ()

    @property
    def confidence(self) -> str:
        """What a confidence is counted in, where the column may be one: decimals from 0 to 1, or to 100."""
        values = self.values
        if not values or min(values) < 0 or max(values) > 100:
            return ""
        whole = sum(value == int(value) for value in values)
        if max(values) <= 1:
            return "0 to 1" if 2 * whole <= len(values) else ""
        return "percent" if 4 * whole <= len(values) else ""

    @property
    def told(self) -> bool:
        """Whether a :attr:`confidence` can be nothing else: many different values, over much of what there is."""
        spread = max(self.values) - min(self.values)
        enough = len(self.values) >= SOME and len(set(self.values)) >= ENOUGH
        return enough and spread >= (0.2 if max(self.values) <= 1 else 20)

    def __str__(self) -> str:
        if len(set(self.texts)) == 1:
            return f"holds only {self.texts[0]}"
        low, high = (min(self.values), max(self.values)) if self.values else (min(self.texts), max(self.texts))
        return f"holds {low:g} to {high:g}" if self.values else f"holds {low} to {high}"


def columns_of(rows: Rows) -> list[_ColumnCells]:
    """The columns of rows, of those that have as many cells as the first."""
    width = len(rows[0]) if rows else 0
    return [_ColumnCells(tuple(cell.strip() for cell in column))
            for column in zip(*(row for row in rows if len(row) == width), strict=True)]  # fmt: skip


def confidences(rows: Rows, certain: bool = True) -> Iterator[Shape]:
    """A column of confidences between the others or behind them; *certain*: one that can be nothing else."""
    columns = columns_of(rows)
    for at, column in reversed(list(enumerate(columns))[_FIRST:]):
        if (unit := column.confidence) and (column.told or not certain):
            span = "from 0 to 1" if unit == "0 to 1" else "in percent"
            low, high = min(column.values), max(column.values)
            yield Shape(
                "SYN145", f"column {at + 1} holds a confidence {span} ({low:g} to {high:g}), which no layout has",
                "write the file without it; --unsafe-fixes removes the confidence column",
                _Without(at), column=at,
            )  # fmt: skip


def jumps(rows: Rows, at: int) -> bool:
    """Whether a column jumps from frame to frame of a class, as a confidence does and a distance does not."""
    last: dict[str, tuple[str, ...]] = {}
    steps = []
    for row in (row for row in rows if len(row) == len(rows[0])):
        before = last.get(row[1])
        if before is not None and row[0] != before[0]:
            steps.append(abs(float(row[at]) - float(before[at])))
        last[row[1]] = tuple(row)
    return not steps or statistics.median(steps) > _SMOOTH


def surplus(rows: Rows) -> Iterator[Shape]:
    """Each column as the one that is too many."""
    columns = columns_of(rows)
    for at, column in reversed(list(enumerate(columns))):
        twin = next((n for n, other in enumerate(columns) if n != at and other.texts == column.texts), None)
        constant = len(set(column.texts)) == 1
        if constant and column.values and abs(column.values[0]) not in (0, 1, 100):
            continue  # a direction that does not change
        says = f"repeats column {twin + 1}" if twin is not None and not constant else str(column)
        counting = counts_rows(rows, at)
        if counting:
            says = "counts the rows"
        yield Shape(
            "SYN146", f"one column too many: without column {at + 1}, which {says}, the rows fit a layout",
            "check what wrote the column, and write the file without it",
            _Without(at), fixable=False, column=at, certain=constant or counting or twin is not None,
        )  # fmt: skip


def exchanged(rows: Rows) -> Iterator[Shape]:
    """Each two columns as in each other's place."""
    for one, other in itertools.combinations(range(len(rows[0]) if rows else 0), 2):
        yield Shape(
            "SYN147", f"columns {one + 1} and {other + 1} seem to be in each other's place",
            f"write column {other + 1} before column {one + 1}; only who wrote them knows what they hold",
            _Exchanged(one, other), fixable=False, column=one,
        )  # fmt: skip


def repeated(rows: Rows) -> bool:
    """Whether a column is the same as another one in all of many rows, with many values."""
    columns = [column.texts for column in columns_of(rows)]
    many = len(rows) >= SOME
    return many and any(one == other and len(set(one)) >= ENOUGH for one, other in itertools.combinations(columns, 2))


@dataclasses.dataclass(frozen=True)
class _Without:
    """A row without one of its cells."""

    at: int

    def __call__(self, row: Row) -> Row:
        return [*row[: self.at], *row[self.at + 1 :]]


@dataclasses.dataclass(frozen=True)
class _Exchanged:
    """A row with two of its cells in each other's place."""

    one: int
    other: int

    def __call__(self, row: Row) -> Row:
        cells = list(row)
        if len(cells) > self.other:
            cells[self.one], cells[self.other] = cells[self.other], cells[self.one]
        return cells
