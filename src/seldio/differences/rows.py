"""The rows of one version of some clips as plain arrays that can be compared with those of the other version."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio.conversion.frames import class_keys, has
from seldio.schema.arrays import pc, to_numpy
from seldio.schema.events import clip_codes
from seldio.vocabularies import vocabulary

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Values of a row that are compared as numbers.
FIELDS = ("azimuth", "elevation", "distance", "norm", "onscreen", "hemisphere", "score")
#: Ticks of a second where rows are whole events, whose times are not multiples of a label frame.
MICRO = 1_000_000
NO_SOURCE = -(1 << 31)


@dataclasses.dataclass(frozen=True, slots=True)
class VersionRows:
    """Rows of one version, one entry for each row of the event table."""

    clip: Ints  # index of the clip, in the order that both versions share
    start: Ints  # label frame; the onset in microseconds of a whole event
    stop: Ints  # the next label frame; the offset of a whole event
    label: Ints  # number of the class, among the classes of both versions
    source: Ints  # number of the source, ``NO_SOURCE`` where there is none
    fields: Mapping[str, Floats]  # NaN for what is not known
    rest: Ints  # equal for rows whose polygons and further keys are the same

    def take(self, rows: Any) -> VersionRows:
        """Return the rows chosen by a mask, a slice or indices."""
        return VersionRows(
            self.clip[rows], self.start[rows], self.stop[rows], self.label[rows], self.source[rows],
            {name: values[rows] for name, values in self.fields.items()}, self.rest[rows],
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.start)

    def keys(self) -> list[Any]:
        """Return all columns but the clip; NaN sorts last and equals NaN."""
        return [self.start, self.stop, self.label, self.source, *self.fields.values(), self.rest]


class Codes(dict[Any, int]):
    """Numbers for values, in the order in which they are first met."""

    def __missing__(self, value: Any) -> int:
        self[value] = number = len(self)
        return number


def version_rows(
    table: pa.Table | None, clips: Mapping[str, int], classes: str, labels: Codes, rests: Codes, fields: Sequence[str]
) -> VersionRows:
    """Return the rows of *table* about *clips*, sorted by clip.

    Args:
        table: an event table of frames, or of whole events; None where there is no file.
        clips: the index of each clip.
        classes: the vocabulary.
        labels: numbers of class names, which both versions share.
        rests: numbers of what is compared as a whole, shared as well.
        fields: those that are compared.
    """
    if table is None or not table.num_rows:
        none = np.empty(0, np.int64)
        return VersionRows(none, none, none, none, none, {name: np.empty(0) for name in fields}, none)
    codes, names = clip_codes(table)
    clip = np.array([clips.get(name, -1) for name in names], dtype=np.int64)[codes]  # a slice names other clips too
    if has(table, "frame"):
        start = to_numpy(table["frame"]).astype(np.int64)
        stop = start + 1
    else:
        start, stop = (np.rint(to_numpy(table[name]) * MICRO).astype(np.int64) for name in ("onset", "offset"))
    keys, row = class_keys(table)
    known = vocabulary(classes)
    label = np.array([labels[known.label(n) if n is not None else name or ""] for n, name in keys], np.int64)[row]
    source = np.full(table.num_rows, NO_SOURCE, np.int64)
    if has(table, "source"):
        source = to_numpy(pc.fill_null(table["source"], NO_SOURCE)).astype(np.int64)
    values = {name: _field(table, name) for name in fields}
    rows = VersionRows(clip, start, stop, label, source, values, _rest(table, rests))
    return rows if (np.diff(clip) >= 0).all() else rows.take(np.argsort(clip, kind="stable"))


def fields_of(columns: set[str]) -> set[str]:
    """Those of ``FIELDS`` that a table with *columns* can give."""
    return {name for name in FIELDS if name in columns} | ({"norm"} if {"x", "y", "z"} <= columns else set())


def _field(table: pa.Table, name: str) -> Floats:
    if name == "norm" and all(has(table, axis) for axis in "xyz"):
        x, y, z = (_field(table, axis) for axis in "xyz")
        return np.asarray(np.sqrt(x * x + y * y + z * z))
    if not has(table, name):
        return np.full(table.num_rows, np.nan)
    return to_numpy(table[name]).astype(np.float64)


def _rest(table: pa.Table, rests: Codes) -> Ints:
    """Return a number for each row, by its polygons and further keys."""
    total = np.zeros(table.num_rows, np.int64)
    columns = [table[name].combine_chunks() for name in ("extra", "segmentation") if has(table, name)]
    if not columns:
        return total
    parts: list[Sequence[Any]] = []
    for column in columns:
        if pa.types.is_string(column.type):
            parts.append(column.to_pylist())
            continue
        parts.append(_polygons(column))
    return np.array([rests[row] for row in zip(*parts, strict=True)], np.int64)


def _polygons(column: pa.Array) -> list[tuple[bytes, ...] | None]:
    """Return a key for the polygons of each row: the number of points of each polygon, and all coordinates."""
    rows, polygons, points = (_ends(level) for level in (column, column.flatten(), column.flatten().flatten()))
    values = np.asarray(column.flatten().flatten().flatten())
    found: list[tuple[bytes, ...] | None] = []
    for first, last in pairwise(rows):
        inner = polygons[first : last + 1]
        outer = points[inner[0] : inner[-1] + 1]
        found.append((np.diff(inner).tobytes(), np.diff(outer).tobytes(), values[outer[0] : outer[-1]].tobytes()))
    return found


def _ends(lists: pa.Array) -> Ints:
    """Return the offset at which each list ends among the values of all, after a 0."""
    lengths = pc.fill_null(lists.value_lengths(), 0).to_numpy(zero_copy_only=False)
    return np.append(0, np.cumsum(lengths, dtype=np.int64))


def same_by_clip(old: VersionRows, new: VersionRows, clips: int) -> NDArray[np.bool_]:
    """Return for each clip whether both versions have the same rows in the same order."""
    counts = [np.bincount(side.clip, minlength=clips) for side in (old, new)]
    same = counts[0] == counts[1]
    if not same.all():
        old, new = (side.take(same[side.clip]) for side in (old, new))
    differ = np.zeros(len(old), dtype=bool)
    for a, b in zip(old.keys(), new.keys(), strict=True):
        differ |= (a != b) & ~((a != a) & (b != b)) if a.dtype.kind == "f" else a != b
    same[np.unique(old.clip[differ])] = False
    return np.asarray(same)


def in_order(rows: VersionRows) -> VersionRows:
    """Return the rows sorted by their clip and all other columns."""
    (numbers,) = coded([rows.clip, rows.start, rows.stop, rows.label, rows.source])
    order = numbers.argsort(kind="stable")
    if not (np.diff(numbers[order]) > 0).all():  # rows that the others do not tell apart are rare
        order = np.lexsort([*reversed(rows.keys()), numbers])
    return rows.take(order)


def coded(*sides: Sequence[Ints]) -> list[Ints]:
    """Return a number for each row of some columns, on every side the same for the same values, and sorted as they are.

    Arrays of numbers are sorted many times as fast as arrays of rows.
    """
    totals, size = [np.zeros(len(side[0]), np.int64) for side in sides], 1
    for values in zip(*sides, strict=True):
        columns, span = _from_zero(values)
        if size * span > _LARGEST:
            totals, size = _renumbered(totals)
            columns, span = _renumbered(columns)
        totals = [total * span + column for total, column in zip(totals, columns, strict=True)]
        size *= span
    return totals


#: What numbers of rows stay below.
_LARGEST = 1 << 62


def _from_zero(columns: Sequence[Ints]) -> tuple[list[Ints], int]:
    """Columns less their lowest value, and how many values fit between that and their highest one."""
    there = [column for column in columns if len(column)]
    low = min((int(column.min()) for column in there), default=0)
    return [column - low for column in columns], max((int(column.max()) for column in there), default=low) - low + 1


def _renumbered(columns: Sequence[Ints]) -> tuple[list[Ints], int]:
    """Columns with the place of each value among all that there are instead of it, and how many there are."""
    known, places = np.unique(np.concatenate(columns), return_inverse=True)
    return np.split(places, np.cumsum([len(column) for column in columns])[:-1]), len(known)
