"""Causes that explain a whole clip: mirrored, turned, shifted in time, another unit, sources with other numbers.

The rows of each version are plain arrays that can be compared. A cause is a change of the old rows that gives the new
ones, of the table in :mod:`seldio.changes`. It is named only if it holds for nearly all rows of the clip; the old rows
are then changed in that way, and what is still different is reported event by event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio.changes import BETWEEN_VERSIONS, Change, raised, scaled, turned
from seldio.conversion.frames import class_keys, has
from seldio.schema.arrays import pc, to_numpy
from seldio.schema.events import clip_codes
from seldio.schema.spans import rank_in_frame, runs
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


# --- causes of whole clips --------------------------------------------------------------------------------------------

#: The share of rows that a cause explains, of those that it changes; rows that it has to change; and the share of
#: rows that both versions have.
EXPLAINED, LEAST, SHARED = 0.98, 5, 0.9
#: How far numbers may be apart that are the same: one version rounds to whole numbers, or both write decimals.
WHOLE, DECIMAL = 0.51, 0.0051
#: The same of distances in another unit, as a share.
_ROUNDED = 0.006
#: Onsets of the old version that are compared with all of the new one.
_ONSETS = 200
#: More ticks than a clip has.
_LONGEST = 1 << 45


def causes(old: Rows, new: Rows, hop: float) -> tuple[list[str], Rows]:
    """Return what explains all rows of one clip, and the old rows changed in that way; *hop*: seconds of a tick."""
    named: list[str] = []
    rows = max(len(old["start"]), len(new["start"]))
    if min(len(old["start"]), len(new["start"])) < LEAST:
        return named, old
    a, b = paired(old, new)
    if len(a) < rows:  # else no time and no source is another one
        if ticks := _shift(old, new):
            named.append(f"everything {abs(ticks) * hop:.6g} s {'later' if ticks > 0 else 'earlier'}")
            old = {**old, "start": old["start"] + ticks, "stop": old["stop"] + ticks}
        if numbers := _sources(old, new):
            named.append("sources renumbered")
            known, place = np.unique(old["source"], return_inverse=True)
            source = np.array([numbers.get(number, number) for number in known.tolist()], np.int64)[place]
            old = {**old, "source": source}
        a, b = paired(old, new)
    if len(a) < SHARED * rows:
        return named, old
    before = {field: values[a] for field, values in old.items() if field in FIELDS}
    after = {field: new[field][b] for field in before}
    open_fields = {field for field in before if _differs(field, before[field], after[field])}
    for change in _changes({field: before[field] for field in open_fields}, after) if open_fields else ():
        changed = change.redo(before)
        fields = {field for field in changed if not np.array_equal(changed[field], before[field], equal_nan=True)}
        if not fields or not fields <= open_fields:
            continue
        if all(_holds(field, before[field], after[field], changed[field], change) for field in fields):
            named.append(change.made)
            open_fields -= fields
            before |= changed
            old = {**old, **change.redo(old)}
    return named, old


def _shift(old: Rows, new: Rows) -> int:
    """Return the ticks by which nearly all events begin later in the new version; 0 if there are none."""
    a, b = _starts(old), _starts(new)
    there = int(np.isin(a, b).sum())
    labels, onsets = b // _LONGEST, a[np.isin(a // _LONGEST, b // _LONGEST)][:_ONSETS, np.newaxis]
    if there > len(a) / 2 or not len(onsets):
        return 0
    values, counts = np.unique((b - onsets)[labels == onsets // _LONGEST], return_counts=True)
    best = int(values[np.lexsort((np.abs(values), -counts))[0]])
    after = int(np.isin(a + best, b).sum())
    return best if after >= SHARED * max(len(a), len(b)) and there <= after / 2 else 0


def _starts(rows: Rows) -> Ints:
    """Return class and onset of each event as one number."""
    order, starts = runs([rows["label"], rows["source"]], rows["start"])
    first = order[starts[:-1]]
    return np.asarray(rows["label"][first] * _LONGEST + rows["start"][first])


def _sources(old: Rows, new: Rows) -> Mapping[int, int]:
    """Return the new number of each source; nothing where numbers are not just others."""
    if (old["source"] == NO_SOURCE).all() or (new["source"] == NO_SOURCE).all():
        return {}
    sides = []
    for side, numbers in zip((old, new), coded(*([one["label"], one["start"]] for one in (old, new))), strict=True):
        alone, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        single = counts == 1  # nobody else of the class sounds there
        sides.append(dict(zip(alone[single].tolist(), side["source"][first[single]].tolist(), strict=True)))
    pairs = Counter((source, sides[1][key]) for key, source in sides[0].items() if key in sides[1])
    names: dict[int, int] = {}
    for (one, other), _ in pairs.most_common():
        names.setdefault(one, other)
    explained = sum(count for (one, other), count in pairs.items() if names[one] == other)
    renumbered = any(one != other for one, other in names.items()) and len(set(names.values())) == len(names)
    return names if renumbered and explained >= max(LEAST, EXPLAINED * pairs.total()) else {}


# --- values ---------------------------------------------------------------------------------------------------------


def wrapped(degrees: Any) -> Floats:
    """Return differences of azimuths from -180 to 180, 180 included."""
    return np.asarray(180 - (180 - np.asarray(degrees, np.float64)) % 360)


def tolerance(one: Floats, other: Floats) -> float:
    """Return how far values of a field may be apart that are the same."""
    whole = [bool((values == np.rint(values)).all()) for values in (one, other)]
    return WHOLE if any(whole) and not all(whole) else DECIMAL


def apart(field: str, one: Floats, other: Floats) -> Floats:
    """Return by how much values of a field differ; 0 where neither is known, infinite where one is not."""
    difference = np.abs(wrapped(other - one) if field == "azimuth" else other - one)
    unknown = np.isnan(one) + np.isnan(other).astype(int)
    return np.asarray(np.where(unknown == 2, 0.0, np.where(unknown == 1, np.inf, difference)))


def _differs(field: str, before: Floats, after: Floats) -> bool:
    known = ~(np.isnan(before) | np.isnan(after))
    near = apart(field, before, after) <= tolerance(before, after)
    return bool(known.sum() >= LEAST and near.mean() < EXPLAINED)


def _holds(field: str, before: Floats, after: Floats, changed: Floats, change: Change) -> bool:
    """Return whether a change explains nearly all rows that it changes, and nearly all rows are then the same."""
    within = tolerance(changed if change.unit else before, after)
    if field == "distance":
        within = np.nanmax(np.maximum(within, _ROUNDED * np.abs(changed)))
    near = apart(field, changed, after) <= within
    informative = apart(field, before, changed) > 2 * within
    many = int(informative.sum())
    return bool(many >= LEAST and (near & informative).sum() >= EXPLAINED * many and near.mean() >= EXPLAINED)


def _changes(before: Mapping[str, Floats], after: Mapping[str, Floats]) -> Iterator[Change]:
    """Yield what may have been done to the fields that differ: first the turn that most rows show."""
    if "azimuth" in before:
        yield turned(_mode(wrapped(after["azimuth"] - before["azimuth"])))
    yield from BETWEEN_VERSIONS
    if "elevation" in before:
        yield raised(_mode(after["elevation"] - before["elevation"]))
    for field, noun in (("distance", "distance"), ("norm", "length of x, y, z"), ("score", "score")):
        if field in before:
            yield scaled(field, _factor(before[field], after[field]), noun)


def _mode(values: Floats) -> float:
    """Return the mean around the whole number that is there most often, to one decimal."""
    values = values[~np.isnan(values)]
    places, counts = np.unique(np.rint(values), return_counts=True)
    near = np.abs(values - places[counts.argmax()]) <= 1
    return round(float(values[near].mean()), 1)


def _factor(before: Floats, after: Floats) -> float:
    positive = (before > 0) & (after > 0)
    return float(np.median(after[positive] / before[positive])) if positive.any() else 1.0
