"""Label tables, as the rules see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from seldio.findings import SINGLY, Finding, Rule
from seldio.formats import get
from seldio.formats.base import FirstRow, Ints, LabelReading
from seldio.formats.datasets import DatasetSpec, counted
from seldio.formats.label_csv import Dialect
from seldio.schema.arrays import pc, to_mask, to_numpy
from seldio.text import clipped

Bools = np.ndarray[Any, np.dtype[np.bool_]]

#: Rows of frames with more rows than this are compared by sorting instead of pairwise.
CROWDED = 16
#: Degrees of azimuth between the hands, feet and mouth of one actor at most: 20 in the labels of STARSS22; and the
#: elevation from which on azimuths are not compared.
WIDEST, STEEP = 45, 60
_IDENTITY = ("class_id", "class_name", "source")
POSITION = ("azimuth", "elevation", "distance", "x", "y", "z")


class Labels:
    """A reading with its columns as arrays, and values that many rules need, computed once."""

    def __init__(self, reading: LabelReading) -> None:
        self.reading = reading
        self.format = reading.format
        self.dialect = reading.format if isinstance(reading.format, Dialect) else None
        self._extremes: dict[tuple[str, str], Any] = {}

    def __len__(self) -> int:
        return int(self.reading.table.num_rows)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The columns of the table; empty if it has no rows."""
        return frozenset(self.reading.table.column_names if len(self) else ())

    def has(self, *fields: str) -> bool:
        """Whether the table has all of *fields*, and at least one row."""
        return self.fields.issuperset(fields)

    def column(self, field: str) -> Any:
        """A column as a numpy array; unknown values are NaN (floats), -1 (whole numbers) or empty (text)."""
        if field not in self.__dict__.setdefault("_columns", {}):
            chunk = self.reading.table[field].combine_chunks()
            if chunk.null_count and not str(chunk.type).startswith("double"):
                chunk = pc.fill_null(chunk, "" if str(chunk.type) == "string" else -1)
            self.__dict__["_columns"][field] = to_numpy(chunk)
        return self.__dict__["_columns"][field]

    @property
    def parts(self) -> Sequence[Any]:
        """The files of the reading."""
        return self.reading.parts

    @cached_property
    def filled(self) -> list[int]:
        """The numbers of the parts that have rows."""
        return [number for number, part in enumerate(self.parts) if part.rows]

    @cached_property
    def starts(self) -> Ints:
        """The first row of each part that has rows."""
        return np.array([self.parts[number].first for number in self.filled], dtype=np.int64)

    def low(self, field: str) -> Any:
        """The smallest value of *field* in each part that has rows."""
        return self._extreme(field, np.minimum)

    def _extreme(self, field: str, reduce: np.ufunc) -> Any:
        key = (field, reduce.__name__)
        if key not in self._extremes:
            self._extremes[key] = reduce.reduceat(self.column(field), self.starts)
        return self._extremes[key]

    def high(self, field: str) -> Any:
        """The largest value of *field* in each part that has rows."""
        return self._extreme(field, np.maximum)

    def rows_of(self, index: int) -> slice:
        """The rows of the *index*-th part that has rows."""
        part = self.parts[self.filled[index]]
        return slice(part.first, part.first + part.rows)

    def owners(self, rows: Ints) -> Ints:
        """The files of *rows*, by their numbers among those that have rows."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    # --- rows of one frame -------------------------------------------------------------------------

    @cached_property
    def unsorted(self) -> Ints:
        """Rows whose frame number is smaller than that of the previous row in the same file."""
        falls = np.flatnonzero(np.diff(self.column("frame")) < 0) + 1
        return np.setdiff1d(falls, self.starts, assume_unique=True)

    @cached_property
    def pieces(self) -> Ints:
        """For each row, in which run of rows whose frames do not fall it is; runs count through all files."""
        falls = np.zeros(len(self), np.int64)
        falls[self.unsorted] = 1
        return np.cumsum(falls)

    @cached_property
    def order(self) -> Ints | None:
        """The rows by file and frame, in file order within a frame; None where they are in that order already."""
        if not len(self.unsorted):
            return None
        part = np.repeat(np.arange(len(self.filled)), np.diff(np.append(self.starts, len(self))))
        return np.lexsort((self.column("frame"), part))

    def ordered(self, field: str) -> Any:
        """A column in frame order."""
        return self.column(field) if self.order is None else self.column(field)[self.order]

    def rows(self, positions: Ints) -> Ints:
        """The table rows at positions of the frame order."""
        return positions if self.order is None else self.order[positions]

    @cached_property
    def frame_starts(self) -> Ints:
        """Positions (in frame order) at which a new frame begins, followed by the number of rows."""
        new = np.empty(len(self) + 1, dtype=bool)
        new[0] = new[-1] = True
        frame = self.ordered("frame")
        np.not_equal(frame[1:], frame[:-1], out=new[1:-1])
        new[self.starts] = True
        return np.flatnonzero(new)

    @cached_property
    def twins(self) -> tuple[Ints, Ints]:
        """Pairs of positions (in frame order) with one frame, class and source, the earlier one first.

        In crowded frames only pairs with adjacent values are listed: every row that
        has a twin is still in a pair.
        """
        pairs = [_crowded(self, np.diff(self.frame_starts)), self._pairs(_IDENTITY)]
        return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])

    def _pairs(self, fields: Sequence[str]) -> tuple[Ints, Ints]:
        """Pairs of positions with one frame and the same values of some fields; none of crowded frames."""
        sizes = np.diff(self.frame_starts)
        follows = np.ones(len(self), dtype=bool)  # rows after another one of their frame
        follows[self.frame_starts[:-1]] = False
        for start, size in zip(
            *(part[sizes > CROWDED].tolist() for part in (self.frame_starts[:-1], sizes)), strict=True
        ):
            follows[start : start + size] = False
        keys = [self.ordered(field) for field in fields if field in self.reading.table.column_names]
        pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        second, shift = np.flatnonzero(follows), 1
        while len(second):
            first = second - shift
            same = np.logical_and.reduce([key[first] == key[second] for key in keys])
            pairs.append((first[same], second[same]))
            second, shift = second[follows[first]], shift + 1
        return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])

    @cached_property
    def twins_apart(self) -> tuple[Ints, Ints]:
        """The pairs of :attr:`twins` that are in two places."""
        first, second = self.twins
        values = [self.ordered(field) for field in POSITION if field in self.fields]
        apart = np.logical_or.reduce([np.zeros(len(first), bool), *(one[first] != one[second] for one in values)])
        return first[apart], second[apart]

    @cached_property
    def datasets(self) -> Sequence[DatasetSpec | None]:
        """Of each file that has rows, the dataset with a recording of its name; none where the classes are others."""
        format, clips = self.format, [self.parts[number].origin.clip for number in self.filled]
        found = [counted(format.name, clip) for clip in clips]
        return found if not any(found) or get(format.name).vocabulary == format.vocabulary else [None] * len(found)

    @cached_property
    def wide(self) -> tuple[Ints, Ints]:
        """The pairs of positions with one frame and source that are farther apart than one actor is wide.

        Source 0 is whatever is not an actor. Above and below, azimuths say little.
        """
        first, second = self._pairs(["source"])
        azimuth, level = self.ordered("azimuth"), np.abs(self.ordered("elevation")) < STEEP
        apart = np.abs((azimuth[first] - azimuth[second] + 180) % 360 - 180) > WIDEST
        apart &= level[first] & level[second] & (self.ordered("source")[first] > 0)
        known = np.array([one is not None for one in self.datasets], bool)  # others may number them by class
        apart[apart] = known[self.owners(self.rows(first[apart]))]
        return first[apart], second[apart]

    # --- findings ----------------------------------------------------------------------------------

    def where(self, field: str, wrong: Bools | None) -> Iterator[int]:
        """The rows where *wrong* is true and *field* is known, as :meth:`firsts` returns them."""
        if wrong is None or not wrong.any():
            return iter(())
        if self.reading.table[field].null_count:
            wrong = wrong & to_mask(self.reading.table[field].is_valid())
        return self.firsts(np.flatnonzero(wrong))

    def firsts(self, rows: Ints) -> Iterator[int]:
        """The rows to report among *rows* (ascending), which share a fault: a few per file, or one for all of them.

        One cause is one finding: where a file has more than a few such rows, the first one represents them all.
        """
        for same in np.split(rows, np.searchsorted(rows, self.starts[1:])) if len(rows) else ():
            if len(same) <= SINGLY:
                yield from same.tolist()
            else:
                yield FirstRow.of(same)

    def finding(self, rule: Rule, row: int, field: str | None, message: str, hint: str | None = None) -> Finding:
        """A finding of *rule* at *field* of table row *row*, and of all rows that it represents."""
        return self.reading.finding(rule, row, field, message, hint)

    def cell(self, row: int, name: str) -> Any:
        """The value of a column, or of a value computed from columns, in *row*."""
        value = self.column(name) if name in self.fields else getattr(self, name)
        return value[row] if isinstance(value, np.ndarray) else value

    @property
    def widest(self) -> int:
        """The largest azimuth of the format, in degrees."""
        return 90 if self.dialect is not None and self.dialect.folded else 180

    @cached_property
    def length(self) -> Any:
        """The lengths of the vectors."""
        return np.sqrt(sum(self.column(axis) ** 2 for axis in "xyz"))

    def text(self, row: int, field: str) -> str:
        """The text in the file for *field* of *row*."""
        part = self.reading.part_of(row)
        return clipped(part.place(row - part.first, field).value, 30)


def _crowded(labels: Labels, sizes: Ints) -> tuple[Ints, Ints]:
    """The twins of frames with more than ``CROWDED`` rows."""
    starts = labels.frame_starts[:-1][sizes > CROWDED]
    lengths = sizes[sizes > CROWDED]
    if not len(starts):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows = np.concatenate([np.arange(a, a + n) for a, n in zip(starts.tolist(), lengths.tolist(), strict=True)])
    names = [name for name in (*POSITION, *_IDENTITY) if name in labels.reading.table.column_names]
    keys = [np.unique(labels.ordered(name)[rows], return_inverse=True)[1] for name in names]
    frame = np.repeat(np.arange(len(starts)), lengths)
    order = np.lexsort((*keys, frame))
    same = np.diff(frame[order]) == 0
    for key in keys[-sum(name in _IDENTITY for name in names) :]:
        same &= np.diff(key[order]) == 0
    pairs = np.stack((rows[order[:-1]], rows[order[1:]]))[:, same]
    return pairs.min(axis=0), pairs.max(axis=0)
