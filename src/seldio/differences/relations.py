"""Causes that explain a whole clip: mirrored, turned, shifted in time, another unit, sources with other numbers.

A cause is a change of the old rows that gives the new ones, of the table in :mod:`seldio.changes`. It is named only if
it holds for nearly all rows of the clip; the old rows are then changed in that way, and what is still different is
reported event by event.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from seldio.changes import BETWEEN_VERSIONS, Change, raised, scaled, turned
from seldio.differences.rows import NO_SOURCE, Floats, Ints, VersionRows, coded
from seldio.schema.spans import rank_in_frame

#: The share of rows that a cause explains, of those that it changes; rows that it has to change; and the share of
#: rows that both versions have.
EXPLAINED, LEAST, SHARED = 0.98, 5, 0.9
#: How far numbers may be apart that are the same: one version rounds to whole numbers, or both write decimals.
WHOLE, DECIMAL = 0.51, 0.0051
#: The same of distances in another unit, as a share.
_ROUNDED = 0.006
#: Onsets of the old version that are compared with all of the new one.
_ONSETS = 200


def causes(old: VersionRows, new: VersionRows, hop: float) -> tuple[list[str], VersionRows]:
    """Return what explains all rows of one clip, and the old rows changed in that way; *hop*: seconds of a tick."""
    named: list[str] = []
    if min(len(old), len(new)) < LEAST:
        return named, old
    a, b = paired(old, new)
    if not len(a) == len(old) == len(new):  # else no time and no source is another one
        if ticks := _shift(old, new):
            named.append(f"everything {abs(ticks) * hop:.6g} s {'later' if ticks > 0 else 'earlier'}")
            old = dataclasses.replace(old, start=old.start + ticks, stop=old.stop + ticks)
        if numbers := _sources(old, new):
            named.append("sources renumbered")
            known, place = np.unique(old.source, return_inverse=True)
            source = np.array([numbers.get(number, number) for number in known.tolist()], np.int64)[place]
            old = dataclasses.replace(old, source=source)
        a, b = paired(old, new)
    if len(a) < SHARED * max(len(old), len(new)):
        return named, old
    before, after = ({field: values[rows] for field, values in side.fields.items()} for side, rows in
                     ((old, a), (new, b)))  # fmt: skip
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
            old = dataclasses.replace(old, fields={**old.fields, **change.redo(old.fields)})
    return named, old


def paired(old: VersionRows, new: VersionRows) -> tuple[Ints, Ints]:
    """Return rows of both versions with one time, class and source; one of several takes the one of the same rank."""
    one, other = coded(*([side.start, side.label, side.source] for side in (old, new)))
    if not (_increasing(one) and _increasing(other)):
        one, other = coded(*([numbers, rank_in_frame([], numbers)] for numbers in (one, other)))
    if np.array_equal(one, other):
        return np.arange(len(one)), np.arange(len(one))
    _, a, b = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return a, b


def ranked(rows: VersionRows) -> Ints:
    """Return 0 for the first row of a class and source at a time, 1 for the second, in the order of the rows."""
    (numbers,) = coded([rows.start, rows.label, rows.source])
    return np.zeros_like(numbers) if _increasing(numbers) else rank_in_frame([], numbers)


def _increasing(numbers: Ints) -> bool:
    """Return whether they are sorted and each is there once, as is the rule."""
    return bool((numbers[1:] > numbers[:-1]).all())


def _shift(old: VersionRows, new: VersionRows) -> int:
    """Return the ticks by which nearly all events begin later in the new version; 0 if there are none."""
    a, b = _starts(old), _starts(new)

    def common(by: int) -> int:
        one, other = coded([a[:, 0], a[:, 1] + by], [b[:, 0], b[:, 1]])
        return int(np.isin(one, other).sum())

    there = common(0)
    onsets = a[np.isin(a[:, 0], b[:, 0])][:_ONSETS]
    if there > len(a) / 2 or not len(onsets):
        return 0
    values, counts = np.unique((b[:, 1] - onsets[:, 1:])[b[:, 0] == onsets[:, :1]], return_counts=True)
    best = int(values[np.lexsort((np.abs(values), -counts))[0]])
    after = common(best)
    return best if after >= SHARED * max(len(a), len(b)) and there <= after / 2 else 0


def _starts(rows: VersionRows) -> Ints:
    """Return class and onset of each event."""
    rows = rows.take(np.lexsort((rows.start, rows.source, rows.label)))
    same = (np.diff(rows.label) == 0) & (np.diff(rows.source) == 0) & (np.diff(rows.start) <= 1)
    first = np.insert(~same, 0, True)
    return np.stack([rows.label[first], rows.start[first]], axis=1)


def _sources(old: VersionRows, new: VersionRows) -> Mapping[int, int]:
    """Return the new number of each source; nothing where numbers are not just others."""
    if (old.source == NO_SOURCE).all() or (new.source == NO_SOURCE).all():
        return {}
    sides = []
    for side, numbers in zip((old, new), coded(*([one.label, one.start] for one in (old, new))), strict=True):
        alone, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        single = counts == 1  # nobody else of the class sounds there
        sides.append((alone[single], side.source[first[single]]))
    (a, olds), (b, news) = sides
    _, i, j = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    pairs, counts = np.unique(np.stack((olds[i], news[j])), axis=1, return_counts=True)
    most = np.argsort(-counts, kind="stable")
    names: dict[int, int] = {}
    for one, other in pairs[:, most].T.tolist():
        names.setdefault(one, other)
    explained = int(counts[[names[one] == other for one, other in pairs.T.tolist()]].sum()) if names else 0
    renumbered = any(one != other for one, other in names.items()) and len(set(names.values())) == len(names)
    return names if renumbered and explained >= max(LEAST, EXPLAINED * counts.sum()) else {}


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
