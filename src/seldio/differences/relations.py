"""Causes that explain a whole clip: mirrored, turned, shifted in time, another unit, sources with other numbers.

A cause is a change of the old rows that gives the new ones. It is named only if it holds for nearly all rows of the
clip; the old rows are then changed in that way, and what is still different is told event by event.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from seldio.differences.rows import NO_SOURCE, Floats, Ints, VersionRows, coded
from seldio.schema.spans import rank_in_frame

#: The share of rows that a cause explains, of those that it changes; rows that it has to change; and the share of
#: rows that both versions have.
EXPLAINED, LEAST, SHARED = 0.98, 5, 0.9
#: How far numbers may be apart that are the same: one version rounds to whole numbers, or both write decimals.
WHOLE, DECIMAL = 0.51, 0.0051


class ClipChange(NamedTuple):
    """What was done to all rows of a clip."""

    field: str
    text: str  # what was done, after "clip:"; the same for the same cause in another clip
    rows: int  # rows of the new version that it explains
    apply: Callable[[VersionRows], VersionRows]  # to the old rows


@dataclasses.dataclass(frozen=True)
class _Change:
    """A row of the table: what may be done to a field."""

    field: str
    text: str
    apply: Callable[[Floats], Floats]


def wrapped(degrees: Any) -> Floats:
    """Differences of azimuths from -180 to 180, 180 included."""
    return np.asarray(180 - (180 - np.asarray(degrees, np.float64)) % 360)


_FIXED = (
    _Change("azimuth", "azimuth mirrored: left and right are swapped", np.negative),
    _Change("azimuth", "azimuth measured from the back, clockwise: front and back are swapped", lambda a: 180 - a),
    _Change("azimuth", "azimuth measured clockwise from the left: x and y are swapped", lambda a: 90 - a),
    _Change("azimuth", "azimuth in radians instead of degrees", np.radians),
    _Change("azimuth", "azimuth in degrees instead of radians", np.degrees),
    _Change("elevation", "elevation negated: up and down are swapped", np.negative),
    _Change("elevation", "elevation measured from the zenith", lambda e: 90 - e),
    _Change("elevation", "elevation in radians instead of degrees", np.radians),
    _Change("elevation", "elevation in degrees instead of radians", np.degrees),
)


def causes(old: VersionRows, new: VersionRows, hop: float) -> tuple[list[ClipChange], VersionRows]:
    """What explains all rows of one clip, and the old rows changed in that way.

    Args:
        old: rows of the clip.
        new: those of the new version.
        hop: seconds of a tick of their times.
    """
    found: list[ClipChange] = []
    if min(len(old), len(new)) < LEAST:
        return found, old
    a, b = paired(old, new)
    if not len(a) == len(old) == len(new):  # else no time and no source is another one
        if (cause := _shift(old, new, hop)) is not None:
            found.append(cause)
            old = cause.apply(old)
        if (cause := _sources(old, new)) is not None:
            found.append(cause)
            old = cause.apply(old)
        a, b = paired(old, new)
    if len(a) < SHARED * max(len(old), len(new)):
        return found, old
    if (cause := _exchanged(old, new, a, b)) is not None:
        found.append(cause)
        old = cause.apply(old)
    for field in old.fields:
        if (cause := _changed(field, old.fields[field][a], new.fields[field][b])) is not None:
            found.append(cause)
            old = cause.apply(old)
    return found, old


def paired(old: VersionRows, new: VersionRows) -> tuple[Ints, Ints]:
    """Rows of both versions with the same time, class and source; one of several takes the one of the same rank."""
    one, other = coded(*([side.start, side.label, side.source] for side in (old, new)))
    if not (_increasing(one) and _increasing(other)):
        one, other = coded(*([numbers, rank_in_frame([], numbers)] for numbers in (one, other)))
    if np.array_equal(one, other):
        return np.arange(len(one)), np.arange(len(one))
    _, a, b = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return a, b


def ranked(rows: VersionRows) -> Ints:
    """0 for the first row of a class and source at a time, 1 for the second, in the order of the rows."""
    (numbers,) = coded([rows.start, rows.label, rows.source])
    return np.zeros_like(numbers) if _increasing(numbers) else rank_in_frame([], numbers)


def _increasing(numbers: Ints) -> bool:
    """Whether they are sorted and each is there once, as is the rule."""
    return bool((numbers[1:] > numbers[:-1]).all())


def _shift(old: VersionRows, new: VersionRows, hop: float) -> ClipChange | None:

    def starts(side: VersionRows) -> Ints:
        order = np.lexsort((side.start, side.source, side.label))
        whole = side.take(order)
        same = (np.diff(whole.label) == 0) & (np.diff(whole.source) == 0) & (np.diff(whole.start) <= 1)
        first = np.insert(~same, 0, True)
        return np.stack([whole.label[first], whole.start[first]], axis=1)

    a, b = starts(old), starts(new)

    def common(by: int) -> int:
        one, other = coded([a[:, 0], a[:, 1] + by], [b[:, 0], b[:, 1]])
        return int(np.isin(one, other).sum())

    there = common(0)
    if there > len(a) / 2:
        return None
    some = a[np.isin(a[:, 0], b[:, 0])][:_ONSETS]
    moves = (b[:, 1] - some[:, 1:])[b[:, 0] == some[:, :1]]
    if not len(moves):
        return None
    values, counts = np.unique(moves, return_counts=True)
    best = int(values[np.lexsort((np.abs(values), -counts))[0]])
    if best == 0:
        return None
    after = common(best)
    if after < SHARED * max(len(a), len(b)) or there > after / 2:
        return None
    seconds = abs(best) * hop
    return ClipChange(
        "time", f"everything {seconds:.6g} s {'later' if best > 0 else 'earlier'}", len(new),
        lambda side: dataclasses.replace(side, start=side.start + best, stop=side.stop + best),
    )  # fmt: skip


#: Onsets of the old version that are compared with all of the new one.
_ONSETS = 200


def _sources(old: VersionRows, new: VersionRows) -> ClipChange | None:
    if (old.source == NO_SOURCE).all() or (new.source == NO_SOURCE).all():
        return None
    sides = []
    for side, numbers in zip((old, new), coded(*([one.label, one.start] for one in (old, new))), strict=True):
        alone, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        some = counts == 1  # nobody else of the class sounds there
        sides.append((alone[some], side.source[first[some]]))
    (a, olds), (b, news) = sides
    _, i, j = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    olds, news = olds[i], news[j]
    if np.array_equal(olds, news):
        return None
    (numbers,) = coded([olds, news])
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    pairs = list(zip(olds[first].tolist(), news[first].tolist(), counts.tolist(), strict=True))
    names: dict[int, int] = {}
    for one, other, _ in sorted(pairs, key=lambda pair: -pair[2]):
        names.setdefault(one, other)
    explained = sum(count for one, other, count in pairs if names[one] == other)
    others = any(one != other for one, other in names.items())
    unique = len(set(names.values())) == len(names)
    if not others or not unique or explained < max(LEAST, EXPLAINED * counts.sum()):
        return None

    def renumbered(side: VersionRows) -> VersionRows:
        known, place = np.unique(side.source, return_inverse=True)
        return dataclasses.replace(
            side, source=np.array([names.get(one, one) for one in known.tolist()], np.int64)[place]
        )

    return ClipChange("source", "sources renumbered", explained, renumbered)


def tolerance(one: Floats, other: Floats) -> float:
    """How far values of a field may be apart that are the same."""
    whole = [bool((values == np.rint(values)).all()) for values in (one, other)]
    return WHOLE if any(whole) and not all(whole) else DECIMAL


def apart(field: str, one: Floats, other: Floats) -> Floats:
    """By how much values of a field differ; 0 where neither is known, infinite where one is not."""
    difference = np.abs(wrapped(other - one) if field == "azimuth" else other - one)
    unknown = np.isnan(one) + np.isnan(other).astype(int)
    return np.asarray(np.where(unknown == 2, 0.0, np.where(unknown == 1, np.inf, difference)))


def _holds(field: str, before: Floats, after: Floats, changed: Floats, within: float) -> int:
    """The rows that a change explains; 0 if it does not explain nearly all rows that it changes."""
    near = apart(field, changed, after) <= within
    informative = apart(field, before, changed) > 2 * within
    many = int(informative.sum())
    good = many >= LEAST and (near & informative).sum() >= EXPLAINED * many and near.mean() >= EXPLAINED
    return int(near.sum()) if good else 0


def _exchanged(old: VersionRows, new: VersionRows, a: Ints, b: Ints) -> ClipChange | None:
    """Azimuth and elevation in the other order."""
    if not {"azimuth", "elevation"} <= set(old.fields):
        return None
    before, after = ((side.fields["azimuth"][rows], side.fields["elevation"][rows]) for side, rows in
                     ((old, a), (new, b)))  # fmt: skip
    within = tolerance(np.concatenate(before), np.concatenate(after))
    rows = [_holds("azimuth", before[one], after[one], before[1 - one], within) for one in (0, 1)]
    if not all(rows):
        return None

    def exchanged(side: VersionRows) -> VersionRows:
        turned = {"azimuth": side.fields["elevation"], "elevation": side.fields["azimuth"]}
        return dataclasses.replace(side, fields={**side.fields, **turned})

    return ClipChange("angles", "azimuth and elevation swapped", min(rows), exchanged)


def _changed(field: str, before: Floats, after: Floats) -> ClipChange | None:
    within = tolerance(before, after)
    known = ~(np.isnan(before) | np.isnan(after))
    if known.sum() < LEAST or (apart(field, before, after) <= within).mean() >= EXPLAINED:
        return None
    options = [change for change in _FIXED if change.field == field]
    if field == "azimuth":
        options.insert(0, _turned(wrapped(after - before)[known]))
    elif field == "elevation":
        options.append(_raised((after - before)[known]))
    elif field in ("distance", "norm", "score"):
        options.append(_scaled(field, before[known], after[known]))
    for change in options:
        changed = change.apply(before)
        loose = np.maximum(within, 0.006 * np.abs(changed[known])).max() if field == "distance" else within
        if rows := _holds(field, before, after, changed, loose):
            return ClipChange(field, change.text, rows, _applied(field, change.apply))
    return None


def _applied(field: str, apply: Callable[[Floats], Floats]) -> Callable[[VersionRows], VersionRows]:
    return lambda side: dataclasses.replace(side, fields={**side.fields, field: apply(side.fields[field])})


def _mode(values: Floats, step: float) -> float:
    """The value that is there most often, and the mean of what is next to it."""
    places, counts = np.unique(np.rint(values / step), return_counts=True)
    near = np.abs(values - places[counts.argmax()] * step) <= step
    return float(values[near].mean())


def _turned(moves: Floats) -> _Change:
    by = round(_mode(moves, 1.0), 1)
    way = "to the left" if by > 0 else "to the right"
    return _Change("azimuth", f"azimuth turned by {abs(by):g}° {way}", lambda a: wrapped(a + by))


def _raised(moves: Floats) -> _Change:
    by = round(_mode(moves, 1.0), 1)
    return _Change("elevation", f"elevation {abs(by):g}° {'higher' if by > 0 else 'lower'}", lambda e: e + by)


#: Factors that are another unit, and which.
_UNITS = {100.0: "in centimetres instead of metres", 0.01: "in metres instead of centimetres",
          1000.0: "in millimetres instead of metres", 0.001: "in metres instead of millimetres"}  # fmt: skip


def _scaled(field: str, before: Floats, after: Floats) -> _Change:
    positive = (before > 0) & (after > 0)
    factor = float(np.median(after[positive] / before[positive])) if positive.any() else 1.0
    unit = next((one for one in _UNITS if abs(factor / one - 1) < 0.01), None)
    by = unit or factor
    noun = {"norm": "length of x, y, z"}.get(field, field)
    text = f"{noun} {_UNITS[unit]}" if unit and field == "distance" else f"{noun} times {by:.4g}"
    return _Change(field, text, lambda values: values * by)
