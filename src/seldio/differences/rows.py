"""The rows of one version of some clips as plain arrays that can be compared with those of the other version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio.conversion.frames import class_keys, has
from seldio.schema.arrays import pc, to_numpy
from seldio.schema.events import clip_codes
from seldio.schema.spans import rank_in_frame
from seldio.vocabularies import vocabulary

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
#: Columns of some rows: those of ``KEYS``, values of ``FIELDS`` (NaN for what is not known), and ``rest``, a number
#: that is equal for rows whose polygons and further keys are the same.
Rows = Mapping[str, NDArray[Any]]

#: Index of the clip, label frame (microseconds of a whole event), the next one (the offset), number of the class.
KEYS = ("clip", "start", "stop", "label", "source")
#: Values of a row that are compared as numbers.
FIELDS = ("azimuth", "elevation", "distance", "norm", "onscreen", "hemisphere", "score")
#: Ticks of a second where rows are whole events, whose times are not multiples of a label frame.
MICRO = 1_000_000
NO_SOURCE = -(1 << 31)


class Codes(dict[Any, int]):
    """Numbers for values, in the order in which they are first met."""

    def __missing__(self, value: Any) -> int:
        self[value] = number = len(self)
        return number


def version_rows(
    table: pa.Table | None, clips: Mapping[str, int], classes: str, labels: Codes, rests: Codes, compared: Sequence[str]
) -> Rows:
    """Return the rows of *table* about *clips*, sorted by clip.

    Args:
        table: an event table of frames, or of whole events; None where there is no file.
        clips: the index of each clip.
        classes: the vocabulary.
        labels: numbers of class names, which both versions share.
        rests: numbers of what is compared as a whole, shared as well.
        compared: those of ``FIELDS`` that both versions have, and ``source`` if both have it.
    """
    fields = [name for name in compared if name in FIELDS]
    if table is None or not table.num_rows:
        empty = np.empty(0, np.int64)
        return dict.fromkeys(KEYS, empty) | {name: np.empty(0) for name in fields} | {"rest": empty}
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
    if "source" in compared and has(table, "source"):
        source = to_numpy(pc.fill_null(table["source"], NO_SOURCE)).astype(np.int64)
    whole = [table[name].to_pylist() for name in ("extra", "segmentation") if has(table, name)]
    rest = np.array([rests[repr(row)] for row in zip(*whole, strict=True)] or [0] * table.num_rows, np.int64)
    values = {name: _field(table, name) for name in fields}
    rows = {"clip": clip, "start": start, "stop": stop, "label": label, "source": source, **values, "rest": rest}
    return rows if (np.diff(clip) >= 0).all() else taken(rows, np.argsort(clip, kind="stable"))


def fields_of(columns: set[str]) -> set[str]:
    """Those of ``FIELDS`` that a table with *columns* can give."""
    return {name for name in FIELDS if name in columns} | ({"norm"} if {"x", "y", "z"} <= columns else set())


def _field(table: pa.Table, name: str) -> Floats:
    if name == "norm" and all(has(table, axis) for axis in "xyz"):
        return np.asarray(np.linalg.norm([_field(table, axis) for axis in "xyz"], axis=0))
    if not has(table, name):
        return np.full(table.num_rows, np.nan)
    return to_numpy(table[name]).astype(np.float64)


def taken(rows: Rows, chosen: Any) -> Rows:
    """Return the rows chosen by a mask, a slice or indices."""
    return {name: values[chosen] for name, values in rows.items()}


def in_order(rows: Rows) -> Rows:
    """Return the rows sorted by all columns, the clip first."""
    return taken(rows, np.lexsort([*rows.values()][::-1]))


def same_by_clip(old: Rows, new: Rows, clips: int) -> NDArray[np.bool_]:
    """Return for each clip whether both versions have the same rows in the same order."""
    counts = [np.bincount(side["clip"], minlength=clips) for side in (old, new)]
    same = np.asarray(counts[0] == counts[1])
    if not same.all():
        old, new = (taken(side, same[side["clip"]]) for side in (old, new))
    differ = np.zeros(len(old["clip"]), dtype=bool)
    for name, before in old.items():
        differ |= ~np.isclose(before, new[name], 0, 0, equal_nan=True) if name in FIELDS else before != new[name]
    same[np.unique(old["clip"][differ])] = False
    return same


def coded(*sides: Sequence[Ints]) -> list[Ints]:
    """Return a number for each row of some columns, on every side the same for the same values, and sorted as they are.

    Arrays of numbers are sorted many times as fast as arrays of rows.
    """
    columns = [np.concatenate(parts) for parts in zip(*sides, strict=True)]
    order = np.lexsort(columns[::-1])
    numbers = np.zeros(len(order), np.int64)
    numbers[order[1:]] = np.cumsum(np.logical_or.reduce([np.diff(column[order]) != 0 for column in columns]))
    return np.split(numbers, np.cumsum([len(side[0]) for side in sides])[:-1])


def rank(rows: Rows) -> Ints:
    """Return 0 for the first row of a class and source at a time, 1 for the second, in the order of the rows."""
    return rank_in_frame([rows["label"], rows["source"]], rows["start"])


def paired(old: Rows, new: Rows) -> tuple[Ints, Ints]:
    """Return rows of both versions with one time, class and source; one of several takes the one of the same rank."""
    one, other = coded(*([rows["start"], rows["label"], rows["source"], rank(rows)] for rows in (old, new)))
    _, a, b = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return a, b
