"""Two versions of labels: which clips are the same, what was done to whole clips, and what to single events.

Rows are compared a few clips at a time, where :func:`seldio.running` says. Clips whose rows are the same cost no more
than reading them. Two events of a clip are one and the same if they meet in time and at least two of three agree: the
class, the time, and the place. Which is which is chosen so that the agreement of the whole clip is the largest (the
Hungarian method).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import clock, geometry
from seldio.check.labels import Faults
from seldio.conversion.frames import are_events, frames_of, rescaled
from seldio.differences.causes import (
    FIELDS,
    MICRO,
    NO_SOURCE,
    Codes,
    Floats,
    Ints,
    Rows,
    apart,
    causes,
    fields_of,
    in_order,
    paired,
    rank,
    same_by_clip,
    taken,
    tolerance,
    version_rows,
    wrapped,
)
from seldio.errors import DataError
from seldio.files import Source
from seldio.formats import LabelFormat
from seldio.parallel import parallel_map
from seldio.schema.spans import runs
from seldio.scores.seld.join import SharedPart, SideLabels, labels_of, rows_of, settled, shared_parts
from seldio.scores.seld.pairing import solved
from seldio.text import listed, printable

#: Time in common over time in all from which on the times of two events agree.
OVERLAP = 0.5
#: Degrees up to which the places of two events agree.
NEAR = 10.0

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
    """The events of a clip in one version: runs of rows of one class and source, or rows that are whole events."""

    rows: Rows  # one event after another
    starts: Ints  # where each event begins among them, and the end

    @classmethod
    def of(cls, rows: Rows, whole: bool) -> EventTable:
        """Group the rows of one clip into events; *whole*: each row is an event."""
        if whole:
            return cls(rows, np.arange(len(rows["start"]) + 1))
        order, starts = runs([rows["label"], rows["source"], rank(rows)], rows["start"])
        return cls(taken(rows, order), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def times(self) -> tuple[Ints, Ints]:
        """The ticks at which each event begins and ends."""
        return self.rows["start"][self.starts[:-1]], self.rows["stop"][self.starts[1:] - 1]

    @cached_property
    def label(self) -> Ints:
        """The class of each event."""
        return self.rows["label"][self.starts[:-1]]

    @property
    def of_row(self) -> Ints:
        """The number of the event of each row."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def without(self, events: Ints) -> EventTable:
        """Return the table of all other events."""
        others = np.setdiff1d(np.arange(len(self)), events)
        sizes = np.diff(self.starts)[others]
        return EventTable(taken(self.rows, np.isin(self.of_row, others)), np.cumsum([0, *sizes]))


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
    within = {field: tolerance(old.rows[field], new.rows[field]) for field in old.rows if field in FIELDS}
    i, j = _unchanged(old, new, within)
    comparison = _Comparison(old.without(i), new.without(j), names, hop, within)
    changed = sorted(comparison.events(), key=lambda event: (event.start, event.stop, event.label))
    return changed, len(i) + comparison.same


def _unchanged(old: EventTable, new: EventTable, within: Mapping[str, float]) -> tuple[Ints, Ints]:
    """Return the numbers of events in the old and the new version all of whose rows are the same."""
    a, b = paired(old.rows, new.rows)
    equal = np.ones(len(a), bool)
    for field in ("stop", "rest"):
        equal &= old.rows[field][a] == new.rows[field][b]
    for field, limit in within.items():
        equal &= apart(field, old.rows[field][a], new.rows[field][b]) <= limit
    both = old.of_row[a[equal]] * (len(new) + 1) + new.of_row[b[equal]]
    pairs, counts = np.unique(both, return_counts=True)
    i, j = np.divmod(pairs, len(new) + 1)
    whole = (counts == np.diff(old.starts)[i]) & (counts == np.diff(new.starts)[j])
    return i[whole], j[whole]


@dataclasses.dataclass
class _Comparison:
    """The events of both versions of one clip that are not the same row by row."""

    old: EventTable
    new: EventTable
    names: Sequence[str]
    hop: float
    within: Mapping[str, float]  # how far values may be apart that are the same
    same: int = 0  # events that did not change after all

    def events(self) -> Iterator[ChangedEvent]:
        """Yield what happened to each event; ``same`` counts those to which nothing did."""
        if not len(self.old) and not len(self.new):
            return
        (begin, end), (start, stop) = self.old.times, self.new.times
        begin, end = begin[:, np.newaxis], end[:, np.newaxis]
        common = np.clip(np.minimum(end, stop) - np.maximum(begin, start), 0, None)
        overlap = common / np.maximum(np.maximum(end, stop) - np.minimum(begin, start), 1)
        degrees = self._degrees(common > 0)
        alike = self.old.label[:, np.newaxis] == self.new.label
        agreeing = (overlap >= OVERLAP).astype(int) + alike + (degrees <= NEAR)
        likely = (agreeing >= 2) & (common > 0)
        worth = np.where(likely, 1 + overlap + alike + np.clip(1 - degrees / 180, 0, 1), 0)
        (i,), (j,) = solved(-worth[np.newaxis])
        i, j = i[likely[i, j]], j[likely[i, j]]
        for one, other in zip(i.tolist(), j.tolist(), strict=True):
            if happened := self._happened(one, other):
                yield self._report(self.new, other, happened)
            else:
                self.same += 1
        lost, come = (np.setdiff1d(np.arange(len(side)), known) for side, known in ((self.old, i), (self.new, j)))
        near = alike & (degrees <= NEAR)
        joined, split = near & (start <= begin) & (end <= stop), near & (begin <= start) & (stop <= end)
        joined[:, come], split[lost] = False, False
        for one in lost.tolist():
            into = f"now part of {self._span(self.new, int(joined[one].argmax()))}" if joined[one].any() else ""
            yield self._report(self.old, one, {"joined": into} if into else {"dropped": ""})
        for other in come.tolist():
            parts = split[:, other]
            of = f"was part of {self._span(self.old, int(parts.argmax()))}" if parts.any() else ""
            yield self._report(self.new, other, {"split": of} if of else {"added": ""})

    def _degrees(self, meeting: Any) -> Floats:
        """Return the mean of the degrees between events over the time that they share; infinite without such time."""
        starts, others = self.old.rows["start"], self.new.rows["start"]
        if meeting.shape == (len(starts), len(others)):  # a row an event
            a, b = np.nonzero(meeting)
        else:
            by_start = np.argsort(others, kind="stable")
            low, high = (others[by_start].searchsorted(starts, side) for side in ("left", "right"))
            a = np.repeat(np.arange(len(starts)), high - low)
            b = by_start[np.arange(len(a)) + np.repeat(high - np.cumsum(high - low), high - low)]
        angles = np.nan_to_num(self._angles(a, b))
        pair = self.old.of_row[a] * len(self.new) + self.new.of_row[b]
        count, total = (np.bincount(pair, weights, meeting.size) for weights in (None, angles))
        degrees = np.full(meeting.size, np.inf)
        np.divide(total, count, out=degrees, where=count > 0)
        return degrees.reshape(meeting.shape)

    def _angles(self, rows: Any, others: Any) -> Floats:
        """Return the degrees between rows of both versions; NaN where one has no direction."""
        a, b = taken(self.old.rows, rows), taken(self.new.rows, others)
        if "azimuth" not in a:
            return np.zeros(len(a["start"]))
        if "elevation" not in a:
            return np.abs(wrapped(b["azimuth"] - a["azimuth"]))
        angles: Floats = geometry.great_circle(a["azimuth"], a["elevation"], b["azimuth"], b["elevation"])
        return angles

    def _shared(self, i: int, j: int) -> tuple[slice, slice]:
        """Return the rows of two events at the same times; whole events, which may differ in time, are a row each."""
        begins = [int(side.times[0][event]) for side, event in ((self.old, i), (self.new, j))]
        first = max(begins)
        frames = int(min(self.old.times[1][i], self.new.times[1][j])) - first
        rows = []
        for side, event, begin in ((self.old, i, begins[0]), (self.new, j, begins[1])):
            start, stop = side.starts[event : event + 2]
            rows.append(
                slice(start, stop)
                if stop - start == 1
                else slice(start + first - begin, start + first - begin + frames)
            )
        return rows[0], rows[1]

    def _happened(self, i: int, j: int) -> dict[str, str]:
        """Return what happened to an event that both versions have, by kind, in words."""
        rows, others = self._shared(i, j)
        was, now = taken(self.old.rows, rows), taken(self.new.rows, others)
        changed = {
            field for field, limit in self.within.items() if (apart(field, was[field], now[field]) > limit).any()
        }
        happened: dict[str, str] = {}
        if "azimuth" in changed and "elevation" not in changed and (turn := self._turn(was["azimuth"], now["azimuth"])):
            happened["turned"] = turn
        elif changed & {"azimuth", "elevation"}:
            angles = self._angles(rows, others)
            known = angles[~np.isnan(angles)]
            happened["moved"] = f"by {np.median(known) if len(known) else 0:.1f}° (median)"
        if "distance" in changed:
            happened["distance"] = f"{_mean(was['distance'])} to {_mean(now['distance'])}"
        spans = self._span(self.old, i), self._span(self.new, j)
        if spans[0] != spans[1]:
            happened["re-timed"] = " to ".join(spans)
        if was["label"][0] != now["label"][0]:
            happened["renamed"] = f"{self.names[was['label'][0]]} to {self.names[now['label'][0]]}"
        if was["source"][0] != now["source"][0]:
            happened["renumbered"] = f"source {_number(was['source'][0])} to {_number(now['source'][0])}"
        if "onscreen" in changed:
            shown = [int(np.nansum(side["onscreen"])) for side in (was, now)]
            happened["flag"] = f"on screen in {shown[0]} label frames, now in {shown[1]}"
        values = ["length of x, y, z"] * ("norm" in changed) + sorted(changed & {"score", "hemisphere"})
        if (was["rest"] != now["rest"]).any():
            values.append("further values")
        if values:
            happened["value"] = ", ".join(values)
        return happened

    def _turn(self, before: Floats, after: Floats) -> str:
        """Return the one angle by which an event was turned, in words; empty if it moved otherwise."""
        turns = wrapped(after - before)
        by = float(np.median(turns))
        if not (np.abs(turns - by) <= self.within["azimuth"]).all():
            return ""
        if (before == before[0]).all():
            return f"azimuth {before[0]:g}° to {after[0]:g}°"
        return f"azimuth {abs(by):.4g}° {'to the left' if by > 0 else 'to the right'}"

    def _span(self, events: EventTable, event: int) -> str:
        """Return the times of an event in words."""
        return "–".join(f"{side[event] * self.hop:.6g}" for side in events.times) + " s"

    def _report(self, events: EventTable, event: int, happened: Mapping[str, str]) -> ChangedEvent:
        """Return the record of what happened to an event of one version."""
        kinds = tuple(kind for kind in KINDS if kind in happened)
        start, stop = (round(float(side[event] * self.hop), 6) for side in events.times)
        return ChangedEvent(
            kinds, self.names[events.label[event]], start, stop, tuple(happened[kind] for kind in kinds)
        )


def _mean(metres: Floats) -> str:
    known = metres[~np.isnan(metres)]
    return f"{known.mean():.2f} m" if len(known) else "unknown"


def _number(source: Any) -> str:
    return "unknown" if source == NO_SOURCE else str(int(source))


# --- clips ------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ChangedClip:
    """A clip that is not the same in both versions."""

    clip: str
    causes: tuple[str, ...] = ()  # what was done to the whole clip
    events: tuple[ChangedEvent, ...] = ()
    same: int = 0  # events that are the same, but for the causes
    count: int = 0  # events of the new version
    reordered: bool = False  # whether rows are in another order, and nothing else differs


@dataclasses.dataclass(frozen=True)
class Comparing:
    """The work on a part."""

    layouts: tuple[str, str]  # vocabularies of the two versions
    hops: tuple[Fraction, Fraction]  # seconds between their frames
    columns: tuple[str, ...]  # values that both have, and ``source`` if both number their sources

    def __call__(self, part: SharedPart) -> tuple[list[ChangedClip], Faults, Faults]:
        """Return the changed clips of *part*, and the errors in both versions.

        Raises:
            InvalidData: something in a file cannot be read.
        """
        (one, amiss), (two, wrong) = rows_of(part.first, as_read=True), rows_of(part.second, as_read=True)
        tables, hop = self._alike(one, two)
        index = {clip: number for number, clip in enumerate(part.clips)}
        labels, rests = Codes(), Codes()
        old, new = (
            version_rows(table, index, classes, labels, rests, self.columns)
            for table, classes in zip(tables, self.layouts, strict=True)
        )
        changed = []
        for clip, a, b, reordered in _differing(old, new, len(part.clips)):
            found = self._changed(part.clips[clip], a, b, list(labels), hop, reordered)
            if found.causes or found.events or found.reordered:  # else only the rounding differs
                changed.append(found)
        return changed, amiss, wrong

    def _alike(self, *tables: pa.Table | None) -> tuple[list[pa.Table | None], Fraction]:
        """Return both tables with rows of one kind, and seconds of a tick of their times."""
        whole = [None if table is None or not table.num_rows else are_events(table) for table in tables]
        if True in whole and False not in whole:
            return list(tables), Fraction(1, MICRO)
        hop = self.hops[0] if self.hops[0] == self.hops[1] and True not in whole else clock.HOP
        framed: list[pa.Table | None] = []
        for table, events, own_hop in zip(tables, whole, self.hops, strict=True):
            if table is None or events is None or (not events and own_hop == hop):
                framed.append(table)
            else:
                framed.append(frames_of(table, hop) if events else rescaled(table, own_hop, hop))
        return framed, hop

    def _changed(
        self, clip: str, old: Rows, new: Rows, labels: Sequence[str], hop: Fraction, reordered: bool
    ) -> ChangedClip:
        whole = hop == Fraction(1, MICRO)
        after = EventTable.of(new, whole)
        if reordered:
            return ChangedClip(clip, same=len(after), reordered=True)
        named, old = causes(old, new, float(hop))
        events, same = changed_events(EventTable.of(old, whole), after, labels, float(hop))
        return ChangedClip(clip, tuple(named), tuple(events), same, len(after))


def _differing(old: Rows, new: Rows, clips: int) -> Iterator[tuple[int, Rows, Rows, bool]]:
    """The clips whose rows differ, with the sorted rows of both versions, and whether only their order differs."""
    same = same_by_clip(old, new, clips)
    a, b = (in_order(taken(side, ~same[side["clip"]])) for side in (old, new))
    reordered = same_by_clip(a, b, clips)
    for clip in np.flatnonzero(~same).tolist():
        was, now = (slice(*side["clip"].searchsorted([clip, clip + 1])) for side in (a, b))
        yield clip, taken(a, was), taken(b, now), bool(reordered[clip])


def versions(
    old: Source, new: Source, formats: tuple[LabelFormat | None, LabelFormat | None]
) -> tuple[SideLabels, SideLabels]:
    """Return the labels of both sources, which stay open.

    Raises:
        InvalidData, UnknownFormat, UsageError: one holds no labels of one format.
        DataError: no clip is in both.
    """
    a, b = (labels_of(source, format, None, as_read=True) for source, format in zip((old, new), formats, strict=True))
    if a.clips and b.clips and not a.clips.keys() & b.clips.keys():
        raise DataError(
            f"no clip is in both: {printable(old.path)} has {listed(sorted(a.clips), 3)}, "
            f"{printable(new.path)} has {listed(sorted(b.clips), 3)}"
        )
    return a, b


def changed_clips(old: SideLabels, new: SideLabels, force: bool) -> list[ChangedClip]:
    """Return the clips that both versions have and that differ.

    Raises:
        InvalidData: a version has errors, and they are not forced.
    """
    fields = fields_of(old.fields) & fields_of(new.fields) | ({"source"} & old.fields & new.fields)
    columns = tuple(name for name in ("source", *FIELDS) if name in fields)
    layouts = old.layout, new.layout
    work = Comparing((layouts[0].vocabulary, layouts[1].vocabulary), (layouts[0].hop, layouts[1].hop), columns)
    parts = shared_parts(old, new, sorted(old.clips.keys() & new.clips.keys()))
    changed: list[ChangedClip] = []
    faults = Faults(), Faults()
    for clips, amiss, wrong in parallel_map(work, parts, what="comparing", size=attrgetter("size"), here=True):
        changed += clips
        faults = faults[0] + amiss, faults[1] + wrong
    settled(list(zip((old, new), faults, strict=True)), force)
    return changed
