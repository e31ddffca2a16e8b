"""Columns that no format has, or that are in another place: a confidence, a copy, a constant, two exchanged.

A column is taken out by a repair only where a header says that it is a confidence. What values alone suggest is said
where no format fits the rows as they are, and is left to whoever wrote them.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from seldio.formats import cells
from seldio.formats.shapes import ENOUGH, Row, Rows, Shape, counts_rows
from seldio.text import clipped

#: What headers call the confidence of a row, alone or in a longer name (class_score).
_CONFIDENCE = re.compile(r"(?i)(.*[ _.-])?(conf|confidences?|scores?|probs?|probability|certainty)([ _.-].*)?")
#: Rows from which on it is no accident that all values of a column lie between 0 and 1, or between 0 and 100.
_SOME = 30
#: Columns before those that may be one too many: frame and class.
_FIRST = 2


@dataclasses.dataclass(frozen=True)
class _ColumnCells:
    """One column of rows: its cells as text, and as numbers where all of them are."""

    texts: tuple[str, ...]

    @cached_property
    def values(self) -> tuple[float, ...]:
        real = cells.PATTERNS["real"]
        return tuple(map(float, self.texts)) if all(real.fullmatch(text) for text in self.texts) else ()

    @property
    def confidence(self) -> bool:
        """Whether it may be one: many different decimals, over much of what lies from 0 to 1, or to 100."""
        values = self.values
        if len(values) < _SOME or min(values) < 0 or max(values) > 100 or len(set(values)) < ENOUGH:
            return False
        whole, most = sum(value == int(value) for value in values), 1 if max(values) <= 1 else 100
        return max(values) - min(values) >= most / 5 and (2 if most == 1 else 4) * whole <= len(values)

    def __str__(self) -> str:
        if len(set(self.texts)) == 1:
            return f"holds only {self.texts[0]}"
        low, high = (min(self.values), max(self.values)) if self.values else (min(self.texts), max(self.texts))
        return f"holds {low:g} to {high:g}" if self.values else f"holds {low} to {high}"


def is_confidence(name: str) -> bool:
    """Whether the name of a column says that it holds a confidence."""
    return _CONFIDENCE.fullmatch(name.strip().strip('"')) is not None


def named(header: Row) -> Iterator[Shape]:
    """The column that a header calls a confidence, if it is one."""
    places = [at for at, name in enumerate(header) if is_confidence(name)]
    if len(places) == 1:
        at = places[0]
        yield Shape(
            "SYN145", f"column {at + 1} is headed {clipped(header[at].strip())}: no format has a confidence",
            "write the file without it; --unsafe-fixes removes the column", _Without(at), column=at,
        )  # fmt: skip


def surplus(files: Sequence[Rows]) -> Iterator[Shape]:
    """Each column of rows of several *files* that looks like one too many."""
    columns = [_ColumnCells(tuple(cell.strip() for cell in column))
               for column in zip(*itertools.chain.from_iterable(files), strict=True)]  # fmt: skip
    for at, column in reversed(list(enumerate(columns))[_FIRST:]):
        different = len(set(column.texts))
        twin = next((n for n, other in enumerate(columns[:at]) if other.texts == column.texts), None)
        certain, says = True, str(column)
        if twin is not None and different > 1:
            certain, says = different >= ENOUGH, f"repeats column {twin + 1}"
        elif all(counts_rows(rows[:ENOUGH], at) for rows in files):
            says = "counts the rows"
        elif different == 1 or column.confidence:
            certain = False
        else:
            continue
        code, like = ("SYN145", ", as confidences do") if says == str(column) and different > 1 else ("SYN146", "")
        yield Shape(
            code, f"one column too many: without column {at + 1}, which {says}{like}, the rows fit a format",
            f"check what wrote column {at + 1}, and write the files without it",
            _Without(at), fixable=False, column=at, certain=certain,
        )  # fmt: skip


def exchanged(width: int) -> Iterator[tuple[Shape, set[int]]]:
    """Each two of *width* columns as in each other's place, with these two."""
    for one, other in itertools.combinations(range(width), 2):
        yield Shape(
            "SYN147", f"columns {one + 1} and {other + 1} seem to be in each other's place",
            f"write column {other + 1} before column {one + 1}; only who wrote them knows what they hold",
            _Exchanged(one, other), fixable=False, column=one,
        ), {one, other}  # fmt: skip


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
