"""Trace each event between two versions of a clip: kept, moved, re-timed, renamed, joined, split, gone.

Two events are one and the same if at least two of three agree: the class, the time, and the place. Which is which is
chosen so that the agreement of the whole clip is the largest (the Hungarian method). Only events that meet in time are
measured against each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from seldio import geometry
from seldio.differences.relations import apart, ranked, tolerance, wrapped
from seldio.differences.rows import NO_SOURCE, Bools, Floats, Ints, VersionRows, coded
from seldio.schema.spans import in_order, runs
from seldio.scores.seld.pairing import solved

#: Time in common over time in all from which on the times of two events agree.
OVERLAP = 0.5
#: Degrees up to which the places of two events agree.
NEAR = 10.0
#: Ticks between two events that may still be one event, re-timed.
GAP = 10

#: What may happen to an event, in the order of the report, with words for many of them.
KINDS: Mapping[str, str] = {
    "turned": "events turned",
    "moved": "events moved",
    "distance": "events whose distance changed",
    "re-timed": "events re-timed",
    "renamed": "events whose class changed",
    "renumbered": "events whose source changed",
    "joined": "events joined",
    "split": "events split",
    "flag": "events with another on-screen flag",
    "value": "events with other values",
    "added": "events added",
    "dropped": "events dropped",
}


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedEvent:
    """One event that is not the same in both versions."""

    kinds: tuple[str, ...]  # names of ``KINDS``
    label: str  # the class, of the new version unless the event is gone
    start: float  # seconds, of the new version unless the event is gone
    stop: float
    details: tuple[str, ...]  # in words, one for each kind


@dataclasses.dataclass(frozen=True)
class EventTable:
    """The events of a clip in one version, ordered by onset."""

    rows: VersionRows
    event: Ints  # of each row, the number of its event
    first: Ints  # of each event, its first row
    size: Ints  # rows of each event
    begin: Ints  # ticks
    end: Ints

    def __len__(self) -> int:
        return len(self.first)

    @property
    def label(self) -> Ints:
        """The class of each event."""
        return self.rows.label[self.first]


def events_of(rows: VersionRows, whole: bool) -> EventTable:
    """Group the rows of one clip into events; *whole*: each row is an event."""
    if whole:
        order, starts = np.lexsort((rows.label, rows.start)), np.arange(len(rows) + 1)
    else:
        (keys,) = coded([rows.label, rows.source, ranked(rows)])
        order, starts = runs([keys], rows.start)
        heads = order[starts[:-1]]
        order, starts = in_order(order, starts, np.lexsort((rows.label[heads], rows.start[heads])))
    size = np.diff(starts)
    event = np.empty(len(rows), np.int64)
    event[order] = np.repeat(np.arange(len(size)), size)
    first = order[starts[:-1]]
    return EventTable(rows, event, first, size, rows.start[first], rows.stop[order[starts[1:] - 1]])


def changed_events(
    old: EventTable, new: EventTable, names: Sequence[str], hop: float
) -> tuple[list[ChangedEvent], int]:
    """Return the events of one clip that changed, by onset, and how many are the same.

    Args:
        old: the events of the old version, after all that was done to the whole clip.
        new: those of the new version.
        names: the names of the classes.
        hop: seconds of a tick of their times.
    """
    comparison = _Comparison(old, new, names, hop)
    changed = list(comparison.changed())
    return sorted(changed, key=lambda event: (event.start, event.stop, event.label)), comparison.same


class _Comparison:
    """The events of both versions of one clip, and their rows at the same times."""

    def __init__(self, old: EventTable, new: EventTable, names: Sequence[str], hop: float) -> None:
        self.old, self.new, self.names, self.hop = old, new, names, hop
        self.same = 0  # events that did not change
        a, b = old.rows, new.rows
        self.within = {field: tolerance(values, b.fields[field]) for field, values in a.fields.items()}
        by_start = np.argsort(b.start, kind="stable")
        low, high = (b.start[by_start].searchsorted(a.start, side) for side in ("left", "right"))
        count = high - low
        rows = np.repeat(np.arange(len(a)), count)
        others = by_start[np.arange(len(rows)) + np.repeat(low - np.cumsum(count) + count, count)]
        pair = old.event[rows] * max(len(new), 1) + new.event[others]
        order = np.lexsort((a.start[rows], pair))
        self.rows, self.others, pair = rows[order], others[order], pair[order]
        self.starts = np.append(np.flatnonzero(np.diff(pair, prepend=-1)), len(pair))
        #: pairs of events that share times, and where their rows begin among ``rows`` and ``others``
        self.meetings = np.stack(np.divmod(pair[self.starts[:-1]], max(len(new), 1)), axis=1)

    @cached_property
    def _place_of_meeting(self) -> dict[tuple[int, int], int]:
        return {(i, j): place for place, (i, j) in enumerate(self.meetings.tolist())}

    def shared(self, i: int, j: int) -> tuple[Ints, Ints]:
        """Return the rows of two events at the same times; their first rows where there are none."""
        place = self._place_of_meeting.get((i, j))
        if place is None:
            return self.old.first[i : i + 1], self.new.first[j : j + 1]
        meeting = slice(self.starts[place], self.starts[place + 1])
        return self.rows[meeting], self.others[meeting]

    def changed(self) -> Iterator[ChangedEvent]:
        """Yield what happened to each event that is not the same; ``same`` counts the others."""
        i, j = self._unchanged()
        self.same = len(i)
        i, j = np.setdiff1d(np.arange(len(self.old)), i), np.setdiff1d(np.arange(len(self.new)), j)
        if not len(i) and not len(j):
            return
        overlap, degrees = self._overlaps(i, j), self._degrees(i, j)
        alike = self.old.label[i][:, None] == self.new.label[j]
        agreeing = (overlap >= OVERLAP).astype(int) + alike + (degrees <= NEAR)
        # events that are far apart in time are others, even of one class and place
        likely = (agreeing >= 2) & np.isfinite(degrees)
        worth = np.where(likely, 1 + overlap + alike + np.clip(1 - degrees / 180, 0, 1), 0)
        (rows,), (columns,) = solved(-worth[None])
        paired = [pair for pair in zip(rows.tolist(), columns.tolist(), strict=True) if likely[pair]]
        for one, other in paired:
            happened = self._happened(int(i[one]), int(j[other]), float(degrees[one, other]))
            if happened:
                yield self._report(self.new, int(j[other]), happened)
            else:
                self.same += 1
        lost, come = np.ones(len(i), bool), np.ones(len(j), bool)
        lost[[one for one, _ in paired]] = come[[other for _, other in paired]] = False
        inside = (self.new.begin[j] <= self.old.begin[i][:, None]) & (self.old.end[i][:, None] <= self.new.end[j])
        around = (self.old.begin[i][:, None] <= self.new.begin[j]) & (self.new.end[j] <= self.old.end[i][:, None])
        near = alike & (degrees <= NEAR)
        joined, split = near & inside & ~come, near & around & ~lost[:, None]
        for one in np.flatnonzero(lost).tolist():
            into = f"now part of {self._span(self.new, int(j[joined[one].argmax()]))}" if joined[one].any() else ""
            yield self._report(self.old, int(i[one]), {"joined": into} if into else {"dropped": ""})
        for other in np.flatnonzero(come).tolist():
            parts = split[:, other]
            of = f"was part of {self._span(self.old, int(i[parts.argmax()]))}" if parts.any() else ""
            yield self._report(self.new, int(j[other]), {"split": of} if of else {"added": ""})

    def _unchanged(self) -> tuple[Ints, Ints]:
        """Return the numbers of events in the old and the new version all of whose rows are the same."""
        a, b = self.old.rows, self.new.rows
        equal = (a.rest[self.rows] == b.rest[self.others]) & (a.stop[self.rows] == b.stop[self.others])
        for field in a.fields:
            equal &= self._equal(field, self.rows, self.others)
        for before, after in ((a.label, b.label), (a.source, b.source)):
            equal &= before[self.rows] == after[self.others]
        i, j = self.meetings.T
        whole = np.diff(self.starts) == self.old.size[i]
        whole &= self.old.size[i] == self.new.size[j]
        if len(equal):
            whole &= np.logical_and.reduceat(equal, self.starts[:-1])
        i, j = i[whole], j[whole]
        _, once = np.unique(i, return_index=True)  # two events may have the same rows
        i, j = i[once], j[once]
        _, once = np.unique(j, return_index=True)
        return i[once], j[once]

    def _equal(self, field: str, rows: Ints, others: Ints) -> Bools:
        """Return which rows have the same value of a field."""
        before, after = self.old.rows.fields[field][rows], self.new.rows.fields[field][others]
        return np.asarray(apart(field, before, after) <= self.within[field])

    def _overlaps(self, i: Ints, j: Ints) -> Floats:
        """Return the time in common over the time in all of some events of both versions."""
        begins, ends = self.old.begin[i][:, None], self.old.end[i][:, None]
        common = np.minimum(ends, self.new.end[j]) - np.maximum(begins, self.new.begin[j])
        union = np.maximum(ends, self.new.end[j]) - np.minimum(begins, self.new.begin[j])
        return np.asarray(np.clip(common, 0, None) / np.maximum(union, 1))

    def _degrees(self, i: Ints, j: Ints) -> Floats:
        """Return the degrees between some events of both versions, infinite where they do not even touch in time.

        They are the median over the time that two events share, and those of the first rows where they share none.
        """
        touching = np.minimum(self.old.end[i][:, None], self.new.end[j]) + GAP >= np.maximum(
            self.old.begin[i][:, None], self.new.begin[j]
        )
        degrees = np.full(touching.shape, np.inf)
        one, other = np.nonzero(touching)
        degrees[one, other] = np.nan_to_num(self._angles(self.old.first[i[one]], self.new.first[j[other]]))
        places = [np.full(len(side), -1) for side in (self.old, self.new)]
        places[0][i], places[1][j] = np.arange(len(i)), np.arange(len(j))
        one, other = places[0][self.meetings[:, 0]], places[1][self.meetings[:, 1]]
        wanted = np.flatnonzero((one >= 0) & (other >= 0))
        angles = self._angles(self.rows, self.others)
        degrees[one[wanted], other[wanted]] = _medians(angles, self.starts)[wanted]
        return degrees

    def _angles(self, rows: Ints, others: Ints) -> Floats:
        """Return the degrees between rows of both versions; NaN where one has no direction."""
        a, b = self.old.rows.fields, self.new.rows.fields
        if "azimuth" not in a:
            return np.zeros(len(rows))
        if "elevation" not in a:
            return np.abs(wrapped(b["azimuth"][others] - a["azimuth"][rows]))
        angles: Floats = geometry.great_circle(
            a["azimuth"][rows], a["elevation"][rows], b["azimuth"][others], b["elevation"][others]
        )
        return angles

    def _happened(self, i: int, j: int, degrees: float) -> dict[str, str]:
        """Return what happened to an event that both versions have, by kind, in words."""
        was, now = self.old.rows, self.new.rows
        rows, others = self.shared(i, j)
        changed = {field for field in was.fields if not self._equal(field, rows, others).all()}
        happened: dict[str, str] = {}
        if "azimuth" in changed and "elevation" not in changed and (turn := self._turn(rows, others)):
            happened["turned"] = turn
        elif changed & {"azimuth", "elevation"}:
            happened["moved"] = f"by {degrees:.1f}° (median)"
        if "distance" in changed:
            before, after = was.fields["distance"][rows], now.fields["distance"][others]
            happened["distance"] = f"{_mean(before)} to {_mean(after)}"
        if (self.old.begin[i], self.old.end[i]) != (self.new.begin[j], self.new.end[j]):
            happened["re-timed"] = f"{self._span(self.old, i)} to {self._span(self.new, j)}"
        row, other = self.old.first[i], self.new.first[j]
        if was.label[row] != now.label[other]:
            happened["renamed"] = f"{self.names[was.label[row]]} to {self.names[now.label[other]]}"
        if was.source[row] != now.source[other]:
            happened["renumbered"] = f"source {_number(was.source[row])} to {_number(now.source[other])}"
        if "onscreen" in changed:
            shown = [int(np.nansum(side.fields["onscreen"][at])) for side, at in ((was, rows), (now, others))]
            happened["flag"] = f"on screen in {shown[0]} label frames, now in {shown[1]}"
        values = sorted(changed & {"norm", "score", "hemisphere"})
        values = ["length of x, y, z" if value == "norm" else value for value in values]
        if (was.rest[rows] != now.rest[others]).any():
            values.append("further values")
        if values:
            happened["value"] = ", ".join(values)
        return happened

    def _turn(self, rows: Ints, others: Ints) -> str:
        """Return the one angle by which an event was turned, in words; empty if it moved otherwise."""
        before, after = self.old.rows.fields["azimuth"][rows], self.new.rows.fields["azimuth"][others]
        turns = wrapped(after - before)
        if np.isnan(turns).any():
            return ""
        by = float(np.median(turns))
        if (np.abs(turns - by) > self.within["azimuth"]).any():
            return ""
        if (before == before[0]).all():
            return f"azimuth {before[0]:g}° to {after[0]:g}°"
        return f"azimuth {abs(by):.4g}° {'to the left' if by > 0 else 'to the right'}"

    def _span(self, events: EventTable, event: int) -> str:
        """Return the times of an event in words."""
        return f"{events.begin[event] * self.hop:.6g}–{events.end[event] * self.hop:.6g} s"

    def _report(self, events: EventTable, event: int, happened: Mapping[str, str]) -> ChangedEvent:
        """Return the record of what happened to an event of one version."""
        kinds = tuple(kind for kind in KINDS if kind in happened)
        start, stop = (round(float(side[event] * self.hop), 6) for side in (events.begin, events.end))
        details = tuple(happened[kind] for kind in kinds)
        return ChangedEvent(kinds, self.names[events.label[event]], start, stop, details)


def _medians(values: Floats, starts: Ints) -> Floats:
    """Return the median of each group of *values*, without NaN; 0 for a group that has nothing else."""
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ordered = values[np.lexsort((values, group))]  # NaN comes last
    known = np.bincount(group[~np.isnan(values)], minlength=len(starts) - 1)
    low, high = starts[:-1] + np.maximum(known - 1, 0) // 2, starts[:-1] + known // 2 * (known > 0)
    return np.where(known > 0, (ordered[low] + ordered[high]) / 2, 0.0)


def _mean(metres: Floats) -> str:
    known = metres[~np.isnan(metres)]
    return f"{known.mean():.2f} m" if len(known) else "unknown"


def _number(source: Any) -> str:
    return "unknown" if source == NO_SOURCE else str(int(source))
