"""Two versions of labels: which clips are the same, what was done to whole clips, and what to single events.

Rows are compared a few clips at a time, where :func:`seldio.running` says, as plain arrays. Clips whose rows are the
same cost no more than reading them. A cause that explains a whole clip (mirrored, turned, shifted in time, other units,
sources with other numbers) is a change of the old rows that gives the new ones, of the table in :mod:`seldio.changes`.
It is named only if it holds for nearly all rows of the clip; the old rows are then changed in that way, and what is
still different is reported event by event. Two events of a clip are one and the same if they meet in time and at least
two of three agree: the class, the time, and the place. Which is which is chosen so that the agreement of the whole clip
is the largest (the Hungarian method).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio import clock, geometry
from seldio.changes import BETWEEN_VERSIONS, Change, raised, scaled, turned
from seldio.check.labels import Faults
from seldio.conversion.frames import are_events, class_keys, frames_of, has, rescaled
from seldio.errors import DataError
from seldio.files import Source
from seldio.formats import LabelFormat
from seldio.geometry import Floats, Ints
from seldio.parallel import parallel_map
from seldio.schema.arrays import pc, to_numpy
from seldio.schema.events import clip_codes
from seldio.schema.spans import rank_in_frame, runs
from seldio.scores.seld.counting import solved
from seldio.scores.seld.join import SharedPart, SideLabels, labels_of, rows_of, shared_parts
from seldio.text import listed, printable
from seldio.vocabularies import vocabulary

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


def codes() -> dict[Any, int]:
    """Return numbers for values, in the order in which they are first met."""
    return defaultdict(itertools.count().__next__)


def version_rows(
    table: pa.Table | None,
    clips: Mapping[str, int],
    classes: str,
    labels: dict[Any, int],
    rests: dict[Any, int],
    compared: Sequence[str],
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
    class_list = vocabulary(classes)
    label = np.array([labels[class_list.label(n) if n is not None else name or ""] for n, name in keys], np.int64)[row]
    source = np.full(table.num_rows, NO_SOURCE, np.int64)
    if "source" in compared and has(table, "source"):
        source = to_numpy(pc.fill_null(table["source"], NO_SOURCE)).astype(np.int64)
    whole = [table[name].to_pylist() for name in ("extra", "segmentation") if has(table, name)]
    further = np.array([rests[repr(row)] for row in zip(*whole, strict=True)] or [0] * table.num_rows, np.int64)
    values = {name: _field(table, name) for name in fields}
    rows = {"clip": clip, "start": start, "stop": stop, "label": label, "source": source, **values, "rest": further}
    return rows if (np.diff(clip) >= 0).all() else taken(rows, np.argsort(clip, kind="stable"))


def fields_of(columns: set[str]) -> set[str]:
    """Return those of ``FIELDS`` that a table with *columns* can give."""
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
    before, after = coded(*([rows["start"], rows["label"], rows["source"], rank(rows)] for rows in (old, new)))
    _, a, b = np.intersect1d(before, after, assume_unique=True, return_indices=True)
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
            sources, place = np.unique(old["source"], return_inverse=True)
            source = np.array([numbers.get(number, number) for number in sources.tolist()], np.int64)[place]
            old = {**old, "source": source}
        a, b = paired(old, new)
    if len(a) < SHARED * rows:
        return named, old
    before = {field: values[a] for field, values in old.items() if field in FIELDS}
    after = {field: new[field][b] for field in before}
    open_fields = set()  # which differ in more rows than a slip explains
    for field, values in before.items():
        both = ~(np.isnan(values) | np.isnan(after[field]))
        near = apart(field, values, after[field]) <= tolerance(values, after[field])
        if both.sum() >= LEAST and near.mean() < EXPLAINED:
            open_fields.add(field)
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
    unmoved = int(np.isin(a, b).sum())
    labels, onsets = b // _LONGEST, a[np.isin(a // _LONGEST, b // _LONGEST)][:_ONSETS, np.newaxis]
    if unmoved > len(a) / 2 or not len(onsets):
        return 0
    values, counts = np.unique((b - onsets)[labels == onsets // _LONGEST], return_counts=True)
    best = int(values[np.lexsort((np.abs(values), -counts))[0]])
    after = int(np.isin(a + best, b).sum())
    return best if after >= SHARED * max(len(a), len(b)) and unmoved <= after / 2 else 0


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
    for side, numbers in zip((old, new), coded(*([rows["label"], rows["start"]] for rows in (old, new))), strict=True):
        alone, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        single = counts == 1  # nobody else of the class sounds there
        sides.append(dict(zip(alone[single].tolist(), side["source"][first[single]].tolist(), strict=True)))
    pairs = Counter((source, sides[1][key]) for key, source in sides[0].items() if key in sides[1])
    names: dict[int, int] = {}
    for (before, after), _ in pairs.most_common():
        names.setdefault(before, after)
    explained = sum(count for (before, after), count in pairs.items() if names[before] == after)
    renumbered = any(before != after for before, after in names.items()) and len(set(names.values())) == len(names)
    return names if renumbered and explained >= max(LEAST, EXPLAINED * pairs.total()) else {}


# --- values ---------------------------------------------------------------------------------------------------------


def wrapped(degrees: Any) -> Floats:
    """Return differences of azimuths from -180 to 180, 180 included."""
    return np.asarray(180 - (180 - np.asarray(degrees, np.float64)) % 360)


def tolerance(before: Floats, after: Floats) -> float:
    """Return how far values of a field may be apart that are the same."""
    whole = [bool((values == np.rint(values)).all()) for values in (before, after)]
    return WHOLE if any(whole) and not all(whole) else DECIMAL


def apart(field: str, before: Floats, after: Floats) -> Floats:
    """Return by how much values of a field differ; 0 where neither is known, infinite where one is not."""
    difference = np.abs(wrapped(after - before) if field == "azimuth" else after - before)
    unknown = np.isnan(before) + np.isnan(after).astype(int)
    return np.asarray(np.where(unknown == 2, 0.0, np.where(unknown == 1, np.inf, difference)))


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
            positive = (before[field] > 0) & (after[field] > 0)
            factors = after[field][positive] / before[field][positive]
            yield scaled(field, float(np.median(factors)) if len(factors) else 1.0, noun)


def _mode(values: Floats) -> float:
    """Return the mean around the whole number that is there most often, to one decimal."""
    values = values[~np.isnan(values)]
    places, counts = np.unique(np.rint(values), return_counts=True)
    near = np.abs(values - places[counts.argmax()]) <= 1
    return round(float(values[near].mean()), 1)


# --- single events ----------------------------------------------------------------------------------------------------

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
        """Return the ticks at which each event begins and ends."""
        return self.rows["start"][self.starts[:-1]], self.rows["stop"][self.starts[1:] - 1]

    @cached_property
    def label(self) -> Ints:
        """Return the class of each event."""
        return self.rows["label"][self.starts[:-1]]

    @property
    def of_row(self) -> Ints:
        """Return the number of the event of each row."""
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
    # events are the same if all of their rows are
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
    comparison = _Comparison(old.without(i[whole]), new.without(j[whole]), names, hop, within)
    changed = sorted(comparison.events(), key=lambda event: (event.start, event.stop, event.label))
    return changed, int(whole.sum()) + comparison.same


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
        for before, after in zip(i.tolist(), j.tolist(), strict=True):
            if happened := self._happened(before, after):
                yield self._report(self.new, after, happened)
            else:
                self.same += 1
        lost, come = (np.setdiff1d(np.arange(len(side)), both) for side, both in ((self.old, i), (self.new, j)))
        near = alike & (degrees <= NEAR)
        joined, split = near & (start <= begin) & (end <= stop), near & (begin <= start) & (stop <= end)
        joined[:, come], split[lost] = False, False
        for event in lost.tolist():
            into = f"now part of {self._span(self.new, int(joined[event].argmax()))}" if joined[event].any() else ""
            yield self._report(self.old, event, {"joined": into} if into else {"dropped": ""})
        for event in come.tolist():
            parts = split[:, event]
            of = f"was part of {self._span(self.old, int(parts.argmax()))}" if parts.any() else ""
            yield self._report(self.new, event, {"split": of} if of else {"added": ""})

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

    def _happened(self, i: int, j: int) -> dict[str, str]:
        """Return what happened to an event that both versions have, by kind, in words."""
        # the rows of both at the same times; whole events, which may differ in time, are a row each
        begins = [int(side.times[0][event]) for side, event in ((self.old, i), (self.new, j))]
        frames = int(min(self.old.times[1][i], self.new.times[1][j])) - max(begins)
        shared = []
        for side, event, begin in ((self.old, i, begins[0]), (self.new, j, begins[1])):
            start, stop = side.starts[event : event + 2]
            first = start + max(begins) - begin
            shared.append(slice(start, stop) if stop - start == 1 else slice(first, first + frames))
        rows, others = shared
        was, now = taken(self.old.rows, rows), taken(self.new.rows, others)
        changed = {
            field for field, limit in self.within.items() if (apart(field, was[field], now[field]) > limit).any()
        }
        happened: dict[str, str] = {}
        level = "azimuth" in changed and "elevation" not in changed
        turns = wrapped(now["azimuth"] - was["azimuth"]) if level else np.zeros(1)
        by = float(np.median(turns))
        if level and (np.abs(turns - by) <= self.within["azimuth"]).all():
            happened["turned"] = f"azimuth {abs(by):.4g}° {'to the left' if by > 0 else 'to the right'}"
            if (was["azimuth"] == was["azimuth"][0]).all():
                happened["turned"] = f"azimuth {was['azimuth'][0]:g}° to {now['azimuth'][0]:g}°"
        elif changed & {"azimuth", "elevation"}:
            angles = self._angles(rows, others)
            angles = angles[~np.isnan(angles)]
            happened["moved"] = f"by {np.median(angles) if len(angles) else 0:.1f}° (median)"
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

    def _span(self, events: EventTable, event: int) -> str:
        return "–".join(f"{side[event] * self.hop:.6g}" for side in events.times) + " s"

    def _report(self, events: EventTable, event: int, happened: Mapping[str, str]) -> ChangedEvent:
        kinds = tuple(kind for kind in KINDS if kind in happened)
        start, stop = (round(float(side[event] * self.hop), 6) for side in events.times)
        return ChangedEvent(
            kinds, self.names[events.label[event]], start, stop, tuple(happened[kind] for kind in kinds)
        )


def _mean(metres: Floats) -> str:
    metres = metres[~np.isnan(metres)]
    return f"{metres.mean():.2f} m" if len(metres) else "unknown"


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

    vocabularies: tuple[str, str]  # of the two versions
    hops: tuple[Fraction, Fraction]  # seconds between their frames
    columns: tuple[str, ...]  # values that both have, and ``source`` if both number their sources

    def __call__(self, part: SharedPart) -> tuple[list[ChangedClip], Faults, Faults]:
        """Return the changed clips of *part*, and the errors in both versions.

        Raises:
            InvalidData: something in a file cannot be read.
        """
        (before, amiss), (after, wrong) = rows_of(part.first, as_read=True), rows_of(part.second, as_read=True)
        tables, hop = self._alike(before, after)
        index = {clip: number for number, clip in enumerate(part.clips)}
        labels, rests = codes(), codes()
        old, new = (
            version_rows(table, index, classes, labels, rests, self.columns)
            for table, classes in zip(tables, self.vocabularies, strict=True)
        )
        same, names, whole = same_by_clip(old, new, len(part.clips)), list(labels), hop == Fraction(1, MICRO)
        # the rows of clips that differ, sorted by all columns, the clip first
        old, new = (taken(side, ~same[side["clip"]]) for side in (old, new))
        old, new = (taken(side, np.lexsort([*side.values()][::-1])) for side in (old, new))
        reordered = same_by_clip(old, new, len(part.clips))
        changed = []
        for clip in np.flatnonzero(~same).tolist():
            a, b = (taken(side, slice(*side["clip"].searchsorted([clip, clip + 1]))) for side in (old, new))
            after = EventTable.of(b, whole)
            if reordered[clip]:
                changed.append(ChangedClip(part.clips[clip], same=len(after), reordered=True))
                continue
            explanations, a = causes(a, b, float(hop))
            events, count = changed_events(EventTable.of(a, whole), after, names, float(hop))
            if explanations or events:  # else only the rounding differs
                changed.append(ChangedClip(part.clips[clip], tuple(explanations), tuple(events), count, len(after)))
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
    a, b = old.layout, new.layout
    work = Comparing((a.vocabulary, b.vocabulary), (a.hop, b.hop), columns)
    parts = shared_parts(old, new, sorted(old.clips.keys() & new.clips.keys()))
    changed: list[ChangedClip] = []
    faults = Faults(), Faults()
    for clips, amiss, wrong in parallel_map(work, parts, what="comparing", size=attrgetter("size"), here=True):
        changed += clips
        faults = faults[0] + amiss, faults[1] + wrong
    for side, errors in zip((old, new), faults, strict=True):
        (side.faults + errors).settle(force)
    return changed
