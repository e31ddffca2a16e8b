"""What happened to each event between two versions of a clip: kept, moved, re-timed, renamed, joined, split, gone.

Two events are one and the same if at least two of three agree: the class, the time, and the place. Which is which is
chosen so that the agreement of the whole clip is the largest (the Hungarian method).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from seldio import geometry
from seldio.differences.relations import apart, paired, ranked, tolerance, wrapped
from seldio.differences.rows import NO_SOURCE, Floats, Ints, VersionRows, coded
from seldio.schema.spans import in_order, runs
from seldio.scores.seld.pairing import solved

#: Time in common over time in all, and degrees, from which on the time and the place of two events agree.
OVERLAP, NEAR = 0.5, 10.0
#: What tells how events of other classes or places stand to each other: parts of the agreement of the same.
_CLASS, _PLACE = 1.0, 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedEvent:
    """One event that is not the same in both versions."""

    kinds: tuple[str, ...]  # what happened to it, the names of ``KINDS``
    label: str  # the class, of the new version unless it is gone
    start: float  # seconds, of the new version unless it is gone
    stop: float
    details: tuple[str, ...]  # in words, one for each kind
    rows: int = 0  # event frames that are not the same


#: What may happen to an event, in the order in which it is told, with words for many of them.
KINDS: Mapping[str, str] = {
    "turned": "events turned", "moved": "events moved", "distance": "events whose distance changed",
    "re-timed": "events re-timed", "renamed": "events whose class changed", "renumbered": "events whose source changed",
    "joined": "events joined", "split": "events split",
    "flag": "events with another on-screen flag", "value": "events with other values",
    "added": "events added", "dropped": "events dropped",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Events:
    """The events of a clip, ordered by onset."""

    rows: VersionRows
    order: Ints  # rows, an event after the other
    starts: Ints  # where each event begins in ``order``, and the end of the last one

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, event: int) -> Ints:
        """Its rows, in the order of time."""
        return self.order[self.starts[event] : self.starts[event + 1]]

    @property
    def lengths(self) -> Ints:
        """How many rows each has."""
        return np.diff(self.starts)

    @cached_property
    def numbers(self) -> Ints:
        """Of each row, the event that it is part of."""
        numbers = np.empty(len(self.order), np.int64)
        numbers[self.order] = np.repeat(np.arange(len(self)), self.lengths)
        return numbers

    @property
    def firsts(self) -> Ints:
        """The first row of each event."""
        return self.order[self.starts[:-1]]

    @property
    def begins(self) -> Ints:
        """When each begins."""
        return self.rows.start[self.firsts]

    @property
    def ends(self) -> Ints:
        """When each ends."""
        return self.rows.stop[self.order[self.starts[1:] - 1]]


def events_of(rows: VersionRows, whole: bool) -> _Events:
    """The events of one clip; *whole*: each row is one."""
    if whole:
        order = np.lexsort((rows.label, rows.start))
        return _Events(rows, order, np.arange(len(rows) + 1))
    (numbers,) = coded([rows.label, rows.source, ranked(rows)])
    order, starts = runs([numbers], rows.start)
    heads = order[starts[:-1]]
    return _Events(rows, *in_order(order, starts, np.lexsort((rows.label[heads], rows.start[heads]))))


def changed_events(a: _Events, b: _Events, names: Sequence[str], hop: float) -> tuple[list[ChangedEvent], int]:
    """The events of one clip that changed, by onset, and how many are the same.

    Args:
        a: the events of the old version, after all that was done to the whole clip.
        b: those of the new version.
        names: the names of the classes.
        hop: seconds of a tick of their times.
    """
    pairs = _same(a, b)
    same = len(pairs)
    if same == len(a) == len(b):
        return [], same
    pairs += _equal_times(a, b, {i for i, _ in pairs}, {j for _, j in pairs})
    pairs += _likely(a, b, {i for i, _ in pairs}, {j for _, j in pairs})
    found: list[ChangedEvent] = []
    for i, j in pairs[same:]:
        change = _change(a, b, i, j, names, hop)
        if change is None:
            same += 1
        else:
            found.append(change)
    left = sorted(set(range(len(a))) - {i for i, _ in pairs}), sorted(set(range(len(b))) - {j for _, j in pairs})
    found += [_alone(a, i, b, pairs, names, hop, gone=True) for i in left[0]]
    found += [_alone(b, j, a, [(j, i) for i, j in pairs], names, hop, gone=False) for j in left[1]]
    return sorted(found, key=lambda event: (event.start, event.stop, event.label)), same


def _same(a: _Events, b: _Events) -> list[tuple[int, int]]:
    """Pairs of events all of whose rows are the same."""
    rows, others = paired(a.rows, b.rows)
    equal = (a.rows.rest[rows] == b.rows.rest[others]) & (a.rows.stop[rows] == b.rows.stop[others])
    for field, values in a.rows.fields.items():
        before, after = values[rows], b.rows.fields[field][others]
        equal &= apart(field, before, after) <= tolerance(before, after)
    found, counts = np.unique(a.numbers[rows[equal]] * len(b) + b.numbers[others[equal]], return_counts=True)
    i, j = np.divmod(found, max(len(b), 1))
    whole = (counts == a.lengths[i]) & (counts == b.lengths[j])
    return list(zip(i[whole].tolist(), j[whole].tolist(), strict=True))


def _equal_times(a: _Events, b: _Events, taken: set[int], used: set[int]) -> list[tuple[int, int]]:
    """Pairs of the other events that are the only ones of their class, source and times."""

    def keys(events: _Events, without: set[int]) -> dict[tuple[Any, ...], list[int]]:
        rows, first = events.rows, events.firsts
        found: dict[tuple[Any, ...], list[int]] = {}
        columns = (rows.label[first], rows.source[first], events.begins, events.ends)
        for event, key in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            if event not in without:
                found.setdefault(key, []).append(event)
        return found

    there = keys(b, used)
    return [
        (some[0], there[key][0]) for key, some in keys(a, taken).items()
        if len(some) == 1 and len(there.get(key, ())) == 1
    ]  # fmt: skip


def _likely(a: _Events, b: _Events, taken: set[int], used: set[int]) -> list[tuple[int, int]]:
    """Pairs of the other events that agree in two of class, time and place."""
    i, j = (np.array([n for n in range(len(one)) if n not in some], np.int64) for one, some in ((a, taken), (b, used)))
    if not len(i) or not len(j):
        return []
    common = np.minimum(a.ends[i][:, None], b.ends[j]) - np.maximum(a.begins[i][:, None], b.begins[j])
    union = np.maximum(a.ends[i][:, None], b.ends[j]) - np.minimum(a.begins[i][:, None], b.begins[j])
    time = np.clip(common, 0, None) / np.maximum(union, 1)
    label = a.rows.label[a.firsts[i]][:, None] == b.rows.label[b.firsts[j]]
    place = np.array([[_distance(a, b, one, two) for two in j] for one in i])
    agree = (time >= OVERLAP).astype(int) + label + (place <= NEAR)
    # events that are far apart in time are others, even of one class and place, unless they touch
    likely = (agree >= 2) & ((time > 0) | (np.abs(common) <= _APART))
    worth = np.where(likely, 1 + time + _CLASS * label + _PLACE * np.clip(1 - place / 180, 0, 1), 0)
    (rows,), (columns,) = solved(-worth[None])
    return [
        (int(i[one]), int(j[two])) for one, two in zip(rows.tolist(), columns.tolist(), strict=True)
        if likely[one, two]
    ]  # fmt: skip


#: Ticks between two events that still may be one, re-timed.
_APART = 10


def _common(a: _Events, b: _Events, one: int, two: int) -> tuple[Ints, Ints]:
    """The rows of two events at the same times; the first ones where there are none."""
    rows, others = a.of(one), b.of(two)
    _, i, j = np.intersect1d(a.rows.start[rows], b.rows.start[others], return_indices=True)
    return (rows[i], others[j]) if len(i) else (rows[:1], others[:1])


def _distance(a: _Events, b: _Events, one: int, two: int) -> float:
    """Degrees between two events, the median over the time that they share."""
    rows, others = _common(a, b, one, two)
    if "azimuth" not in a.rows.fields:
        return 0.0
    flat = np.zeros(len(rows))
    height = [side.rows.fields.get("elevation", flat)[some] if "elevation" in side.rows.fields else flat
              for side, some in ((a, rows), (b, others))]  # fmt: skip
    azimuth = a.rows.fields["azimuth"][rows], b.rows.fields["azimuth"][others]
    degrees = geometry.great_circle(azimuth[0], height[0], azimuth[1], height[1])
    return float(np.nanmedian(degrees)) if not np.isnan(degrees).all() else 0.0


def _differences(a: _Events, b: _Events, one: int, two: int) -> dict[str, tuple[Floats, Floats]]:
    """The values of both at the times that they share, by field, where they are not the same."""
    rows, others = _common(a, b, one, two)
    found = {}
    for field in a.rows.fields:
        before, after = a.rows.fields[field][rows], b.rows.fields[field][others]
        if (apart(field, before, after) > tolerance(before, after)).any():
            found[field] = before, after
    if (a.rows.rest[rows] != b.rows.rest[others]).any():
        found["rest"] = np.empty(0), np.empty(0)
    return found


def _change(a: _Events, b: _Events, one: int, two: int, names: Sequence[str], hop: float) -> ChangedEvent | None:
    """What happened to an event that both versions have; None if nothing did."""
    found: dict[str, str] = {}
    was, now = (side.rows for side in (a, b))
    first, other = a.firsts[one], b.firsts[two]
    different = _differences(a, b, one, two)
    if {"azimuth", "elevation"} & different.keys():
        found |= _moved(a, b, one, two, different)
    if "distance" in different:
        before, after = different["distance"]
        found["distance"] = f"{_mean(before)} to {_mean(after)}"
    if a.begins[one] != b.begins[two] or a.ends[one] != b.ends[two]:
        found["re-timed"] = (
            f"{_span(a.begins[one] * hop, a.ends[one] * hop)} to {_span(b.begins[two] * hop, b.ends[two] * hop)}"
        )
    if was.label[first] != now.label[other]:
        found["renamed"] = f"{names[was.label[first]]} to {names[now.label[other]]}"
    if was.source[first] != now.source[other]:
        found["renumbered"] = f"source {_number(was.source[first])} to {_number(now.source[other])}"
    if "onscreen" in different:
        before, after = different["onscreen"]
        found["flag"] = f"on screen in {int(np.nansum(before))} label frames, now in {int(np.nansum(after))}"
    rest = sorted(different.keys() & {"norm", "score", "hemisphere", "rest"})
    if rest:
        words = {"norm": "length of x, y, z", "rest": "further values"}
        found["value"] = ", ".join(words.get(name, name) for name in rest)
    if not found:
        return None
    return _told(b, two, {kind: found[kind] for kind in KINDS if kind in found}, names, hop)


def _moved(
    a: _Events, b: _Events, one: int, two: int, different: Mapping[str, tuple[Floats, Floats]]
) -> dict[str, str]:
    """How an event moved: turned by one angle, or from place to place."""
    if "azimuth" in different and "elevation" not in different:
        before, after = different["azimuth"]
        turns = wrapped(after - before)
        by = float(np.nanmedian(turns)) if not np.isnan(turns).all() else np.nan
        if (np.abs(turns - by) <= tolerance(before, after)).all():
            return {"turned": f"azimuth {before[0]:g}° to {after[0]:g}°" if len(turns) == 1 or _still(before) else
                    f"azimuth {abs(by):.4g}° {'to the left' if by > 0 else 'to the right'}"}  # fmt: skip
    return {"moved": f"by {_distance(a, b, one, two):.1f}° (median)"}


def _still(values: Floats) -> bool:
    return bool((values == values[0]).all())


def _alone(
    own: _Events, event: int, others: _Events, pairs: Sequence[tuple[int, int]], names: Sequence[str], hop: float,
    *, gone: bool,
) -> ChangedEvent:  # fmt: skip
    """An event that only one version has: part of an event of the other one, or gone, or new."""
    kind = "dropped" if gone else "added"
    detail = ""
    first = own.firsts[event]
    for mine, theirs in pairs:
        same = own.rows.label[first] == others.rows.label[others.firsts[theirs]]
        inside = others.begins[theirs] <= own.begins[event] and own.ends[event] <= others.ends[theirs]
        if same and inside and mine != event and _near(own, others, event, theirs):
            kind = "joined" if gone else "split"
            detail = f"now part of {_span(others.begins[theirs] * hop, others.ends[theirs] * hop)}" if gone else (
                f"was part of {_span(others.begins[theirs] * hop, others.ends[theirs] * hop)}"
            )  # fmt: skip
            break
    return _told(own, event, {kind: detail}, names, hop)


def _near(own: _Events, others: _Events, event: int, theirs: int) -> bool:
    return _distance(own, others, event, theirs) <= NEAR


def _told(events: _Events, event: int, found: Mapping[str, str], names: Sequence[str], hop: float) -> ChangedEvent:
    first = events.firsts[event]
    return ChangedEvent(
        tuple(found), names[events.rows.label[first]],
        round(float(events.begins[event] * hop), 6), round(float(events.ends[event] * hop), 6), tuple(found.values()),
        len(events.of(event)),
    )  # fmt: skip


def _mean(metres: Floats) -> str:
    known = metres[~np.isnan(metres)]
    return f"{known.mean():.2f} m" if len(known) else "unknown"


def _span(start: float, stop: float) -> str:
    return f"{start:.6g}–{stop:.6g} s"


def _number(source: Any) -> str:
    return "unknown" if source == NO_SOURCE else str(int(source))
