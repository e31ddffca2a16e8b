"""Two versions of labels: which clips are the same, what was done to whole clips, and what to single events.

Rows are compared clip by clip, as plain arrays. A cause that explains a whole clip (mirrored, turned, shifted in time,
other units, sources with other numbers) is a change of the old rows that gives the new ones, of the table in
:mod:`seldio.changes`.
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
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio import clock, geometry
from seldio.changes import BETWEEN_VERSIONS, Change, raised, scaled, turned
from seldio.check.labels import settle
from seldio.conversion.frames import are_events, class_keys, frames_of, has, rescaled
from seldio.errors import DataError
from seldio.files import Source
from seldio.formats import LabelFormat
from seldio.geometry import Floats, Ints
from seldio.progress import tracked
from seldio.schema.arrays import pc, to_numpy
from seldio.schema.events import clip_codes
from seldio.schema.spans import rank_in_frame, runs
from seldio.scores.seld.counting import solved
from seldio.scores.seld.join import SideLabels, labels_of, rows_of, shared_parts
from seldio.text import listed, printable
from seldio.vocabularies import vocabulary

#: Columns of some rows: ``clip``, ``start`` and ``stop`` in ticks, ``label`` and ``source``, those of ``FIELDS`` that
#: are compared (NaN for what is not known), and ``further``, which is equal for rows with the same further keys.
Rows = Mapping[str, NDArray[Any]]
#: Values of a row that are compared as numbers, with words for them; the length of x, y, z is ``norm``.
FIELDS = {
    "azimuth": "azimuth",
    "elevation": "elevation",
    "distance": "distance",
    "norm": "length of x, y, z",
    "onscreen": "on-screen flag",
    "hemisphere": "hemisphere",
    "score": "score",
}
#: Ticks of a second where rows are whole events, whose times are not multiples of a label frame.
MICRO = 1_000_000
NO_SOURCE = -(1 << 31)


def fields_of(columns: set[str]) -> set[str]:
    """Return what of *columns* is compared: the source, and those of ``FIELDS`` that they can give."""
    return (columns & {"source", *FIELDS}) | ({"norm"} if {"x", "y", "z"} <= columns else set())


def version_rows(
    table: pa.Table | None, clips: Mapping[str, int], classes: str, numbers: dict[Any, int], compared: Sequence[str]
) -> Rows:
    """Return the rows of *table* (None: there is no file) about *clips*, of which it has the indices, sorted by clip.

    *classes* is the vocabulary; *numbers* numbers class names and further keys alike in both versions.
    """
    fields = [name for name in compared if name in FIELDS]
    if table is None or not table.num_rows:
        empty = np.empty(0, np.int64)
        keys = dict.fromkeys(("clip", "start", "stop", "label", "source", "further"), empty)
        return keys | {name: np.empty(0) for name in fields}
    codes, names = clip_codes(table)
    clip = np.array([clips.get(name, -1) for name in names], dtype=np.int64)[codes]  # a slice names other clips too
    if has(table, "frame"):
        start = to_numpy(table["frame"]).astype(np.int64)
        stop = start + 1
    else:
        start, stop = (np.rint(to_numpy(table[name]) * MICRO).astype(np.int64) for name in ("onset", "offset"))
    named_classes, row = class_keys(table)
    class_list = vocabulary(classes)
    labels = [numbers[class_list.label(n) if n is not None else name or ""] for n, name in named_classes]
    source = np.full(table.num_rows, NO_SOURCE, np.int64)
    if "source" in compared and has(table, "source"):
        source = to_numpy(pc.fill_null(table["source"], NO_SOURCE)).astype(np.int64)
    whole = [table[name].to_pylist() for name in ("extra", "segmentation") if has(table, name)]
    further = [numbers[repr(row)] for row in zip(*whole, strict=True)] or [0] * table.num_rows
    rows = {"clip": clip, "start": start, "stop": stop, "label": np.array(labels, np.int64)[row], "source": source}
    rows |= {name: _field(table, name) for name in fields} | {"further": np.array(further, np.int64)}
    return rows if (np.diff(clip) >= 0).all() else taken(rows, np.argsort(clip, kind="stable"))


def _field(table: pa.Table, name: str) -> Floats:
    if name == "norm" and all(has(table, axis) for axis in "xyz"):
        return np.asarray(np.linalg.norm([_field(table, axis) for axis in "xyz"], axis=0))
    return to_numpy(table[name]).astype(np.float64) if has(table, name) else np.full(table.num_rows, np.nan)


def taken(rows: Rows, chosen: Any) -> Rows:
    """Return the rows chosen by a mask, a slice or indices."""
    return {name: values[chosen] for name, values in rows.items()}


def are_same(old: Rows, new: Rows) -> bool:
    """Return whether both versions of a clip have the same rows in the same order."""
    return all(np.array_equal(old[name], new[name], equal_nan=name in FIELDS) for name in old)


def numbered(*sides: Sequence[Ints]) -> list[Ints]:
    """Return a number for each row of some columns, on every side the same for the same values.

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
    before, after = numbered(*([rows["start"], rows["label"], rows["source"], rank(rows)] for rows in (old, new)))
    _, a, b = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    return a, b


# --- values ---------------------------------------------------------------------------------------------------------

#: How far numbers may be apart that are the same: one version rounds to whole numbers, or both write decimals.
WHOLE, DECIMAL = 0.51, 0.0051


def wrapped(degrees: Any) -> Floats:
    """Return differences of azimuths from -180 to 180, 180 included."""
    return np.asarray(180 - (180 - np.asarray(degrees, np.float64)) % 360)


def tolerance(before: Floats, after: Floats) -> float:
    """Return how far values of a field may be apart that are the same."""
    whole = [bool((values == np.rint(values)).all()) for values in (before, after)]
    return WHOLE if any(whole) and not all(whole) else DECIMAL


def distances(field: str, before: Floats, after: Floats) -> Floats:
    """Return by how much values of a field differ; 0 where neither is known, infinite where one is not."""
    difference = np.abs(wrapped(after - before) if field == "azimuth" else after - before)
    unknown = np.isnan(before) + np.isnan(after).astype(int)
    return np.asarray(np.where(unknown == 2, 0.0, np.where(unknown == 1, np.inf, difference)))


# --- causes of whole clips --------------------------------------------------------------------------------------------

#: The share of rows that a cause explains, of those that it changes; rows that it has to change; and the share of
#: rows that both versions have.
EXPLAINED, LEAST, SHARED = 0.98, 5, 0.9
#: How far distances in another unit may be apart that are the same, as a share.
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
            sources = [numbers.get(source, source) for source in old["source"].tolist()]
            old = {**old, "source": np.array(sources, np.int64)}
        a, b = paired(old, new)
    if len(a) < SHARED * rows:
        return named, old
    before, after = (
        {field: side[field][place] for field in FIELDS if field in old} for side, place in ((old, a), (new, b))
    )
    # fields that differ in more rows than a slip explains
    unexplained = {
        field
        for field, values in before.items()
        if (~np.isnan(values + after[field])).sum() >= LEAST
        and (distances(field, values, after[field]) <= tolerance(values, after[field])).mean() < EXPLAINED
    }
    for change in _changes(before, after, unexplained):
        changed = change.redo(before)
        fields = {field for field in changed if not np.array_equal(changed[field], before[field], equal_nan=True)}
        if not fields or not fields <= unexplained:
            continue
        if all(_holds(field, before[field], after[field], changed[field], change) for field in fields):
            named.append(change.made)
            unexplained -= fields
            before |= changed
            old = {**old, **change.redo(old)}
    return named, old


def _shift(old: Rows, new: Rows) -> int:
    """Return the ticks by which nearly all events begin later in the new version; 0 if there are none."""
    onsets = []  # class and onset of each event as one number
    for side in (old, new):
        order, starts = runs([side["label"], side["source"]], side["start"])
        first = order[starts[:-1]]
        onsets.append(side["label"][first] * _LONGEST + side["start"][first])
    a, b = onsets
    unmoved = int(np.isin(a, b).sum())
    tried = a[np.isin(a // _LONGEST, b // _LONGEST)][:_ONSETS, np.newaxis]
    if unmoved > len(a) / 2 or not len(tried):
        return 0
    ticks, counts = np.unique((b - tried)[b // _LONGEST == tried // _LONGEST], return_counts=True)
    best = int(ticks[np.lexsort((np.abs(ticks), -counts))[0]])
    after = int(np.isin(a + best, b).sum())
    return best if after >= SHARED * max(len(a), len(b)) and unmoved <= after / 2 else 0


def _sources(old: Rows, new: Rows) -> Mapping[int, int]:
    """Return the new number of each source; nothing where numbers are not just others."""
    if (old["source"] == NO_SOURCE).all() or (new["source"] == NO_SOURCE).all():
        return {}
    moments = numbered(*([side["label"], side["start"]] for side in (old, new)))
    alone = [np.bincount(side)[side] == 1 for side in moments]  # nobody else of the class sounds there
    _, a, b = np.intersect1d(*(side[mask] for side, mask in zip(moments, alone, strict=True)), return_indices=True)
    pairs = Counter(zip(old["source"][alone[0]][a].tolist(), new["source"][alone[1]][b].tolist(), strict=True))
    numbers: dict[int, int] = {}
    for (before, after), _ in pairs.most_common():
        numbers.setdefault(before, after)
    explained = sum(count for (before, after), count in pairs.items() if numbers[before] == after)
    renumbered = any(before != after for before, after in numbers.items()) and len({*numbers.values()}) == len(numbers)
    return numbers if renumbered and explained >= max(LEAST, EXPLAINED * pairs.total()) else {}


def _holds(field: str, before: Floats, after: Floats, changed: Floats, change: Change) -> bool:
    """Return whether a change explains nearly all rows that it changes, and nearly all rows are then the same."""
    within = tolerance(changed if change.unit else before, after)
    if field == "distance":
        within = np.nanmax(np.maximum(within, _ROUNDED * np.abs(changed)))
    near = distances(field, changed, after) <= within
    informative = distances(field, before, changed) > 2 * within
    many = int(informative.sum())
    return bool(many >= LEAST and (near & informative).sum() >= EXPLAINED * many and near.mean() >= EXPLAINED)


def _changes(before: Mapping[str, Floats], after: Mapping[str, Floats], fields: set[str]) -> Iterator[Change]:
    """Yield what may have been done to *fields*: first the turn that most rows show."""
    if not fields:
        return
    if "azimuth" in fields:
        yield turned(_mode(wrapped(after["azimuth"] - before["azimuth"])))
    yield from BETWEEN_VERSIONS
    if "elevation" in fields:
        yield raised(_mode(after["elevation"] - before["elevation"]))
    for field in ("distance", "norm", "score"):
        if field in fields:
            positive = (before[field] > 0) & (after[field] > 0)
            factors = after[field][positive] / before[field][positive]
            yield scaled(field, float(np.median(factors)) if len(factors) else 1.0, FIELDS[field])


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
    **{field: f"events whose {words} changed" for field, words in FIELDS.items()},
    "further": "events whose further values changed",
    "re-timed": "events re-timed",
    "renamed": "events whose class changed",
    "renumbered": "events whose source changed",
    "added": "events added",
    "dropped": "events dropped",
}


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedEvent:
    """One event that is not the same in both versions."""

    happened: Mapping[str, str]  # details in words, by names of ``KINDS``
    label: str  # the class, of the new version unless the event is gone
    start: float  # seconds, of the new version unless the event is gone
    stop: float


class EventTable:
    """The events of a clip in one version: runs of rows of one class and source, or rows that are whole events."""

    def __init__(self, rows: Rows, whole: bool) -> None:
        """Group the rows of one clip into events; *whole*: each row is an event."""
        order, self.starts = np.arange(len(rows["start"])), np.arange(len(rows["start"]) + 1)
        if not whole:
            order, self.starts = runs([rows["label"], rows["source"], rank(rows)], rows["start"])
        self.rows = taken(rows, order)
        first, last = self.starts[:-1], self.starts[1:] - 1
        self.begin, self.end, self.label = self.rows["start"][first], self.rows["stop"][last], self.rows["label"][first]
        self.of_row = np.repeat(np.arange(len(first)), np.diff(self.starts))

    def __len__(self) -> int:
        return len(self.starts) - 1


def changed_events(
    old_rows: Rows, new_rows: Rows, whole: bool, names: Sequence[str], hop: float
) -> tuple[list[ChangedEvent], int]:
    """Return the events of one clip that changed, by onset, and how many are the same; *hop*: seconds of a tick."""
    old, new = EventTable(old_rows, whole), EventTable(new_rows, whole)
    within = {field: tolerance(old.rows[field], new.rows[field]) for field in FIELDS if field in old.rows}
    # events are the same if all of their rows are
    a, b = paired(old.rows, new.rows)
    equal = (old.rows["stop"][a] == new.rows["stop"][b]) & (old.rows["further"][a] == new.rows["further"][b])
    for field, limit in within.items():
        equal &= distances(field, old.rows[field][a], new.rows[field][b]) <= limit
    event_pairs = old.of_row[a[equal]] * (len(new) + 1) + new.of_row[b[equal]]
    pairs, counts = np.unique(event_pairs, return_counts=True)
    old_events, new_events = np.divmod(pairs, len(new) + 1)
    complete = (counts == np.diff(old.starts)[old_events]) & (counts == np.diff(new.starts)[new_events])
    same = int(complete.sum())
    old = EventTable(taken(old.rows, ~np.isin(old.of_row, old_events[complete])), whole)
    new = EventTable(taken(new.rows, ~np.isin(new.of_row, new_events[complete])), whole)

    def report(events: EventTable, number: int, happened: Mapping[str, str]) -> ChangedEvent:
        start, stop = (round(float(tick[number] * hop), 6) for tick in (events.begin, events.end))
        return ChangedEvent(happened, names[events.label[number]], start, stop)

    changed, dropped, added = [], set(range(len(old))), set(range(len(new)))
    for before, after, old_shared, new_shared in _matched(old, new):
        dropped.remove(before)
        added.remove(after)
        was, now = taken(old.rows, old_shared), taken(new.rows, new_shared)
        happened = _happened(was, now, within, names)
        spans = [
            "–".join(f"{tick * hop:.6g}" for tick in (side.begin[event], side.end[event])) + " s"
            for side, event in ((old, before), (new, after))
        ]
        if spans[0] != spans[1]:
            happened["re-timed"] = " to ".join(spans)
        if happened:
            changed.append(report(new, after, happened))
        else:
            same += 1
    changed += [report(old, event, {"dropped": ""}) for event in sorted(dropped)]
    changed += [report(new, event, {"added": ""}) for event in sorted(added)]
    return sorted(changed, key=lambda event: (event.start, event.stop, event.label)), same


def _matched(old: EventTable, new: EventTable) -> Iterator[tuple[int, int, Ints, Ints]]:
    """Yield the events of both versions that are one and the same, with their rows at the times that they share."""
    if not len(old) or not len(new):
        return
    begin, end = old.begin[:, np.newaxis], old.end[:, np.newaxis]
    common = np.clip(np.minimum(end, new.end) - np.maximum(begin, new.begin), 0, None)
    overlap = common / np.maximum(np.maximum(end, new.end) - np.minimum(begin, new.begin), 1)
    old_starts, new_starts = old.rows["start"], new.rows["start"]
    if common.shape == (len(old_starts), len(new_starts)):  # a row an event
        old_row, new_row = np.nonzero(common)
    else:
        by_start = np.argsort(new_starts, kind="stable")
        low, high = (new_starts[by_start].searchsorted(old_starts, side) for side in ("left", "right"))
        old_row = np.repeat(np.arange(len(old_starts)), high - low)
        new_row = by_start[np.arange(len(old_row)) + np.repeat(high - np.cumsum(high - low), high - low)]
    # the mean of the degrees between two events over the time that they share; infinite without such time
    angles = np.nan_to_num(_angles(taken(old.rows, old_row), taken(new.rows, new_row)))
    pair = old.of_row[old_row] * len(new) + new.of_row[new_row]
    count, total = (np.bincount(pair, weights, common.size) for weights in (None, angles))
    degrees = np.divide(total, count, out=np.full(common.size, np.inf), where=count > 0).reshape(common.shape)
    alike = old.label[:, np.newaxis] == new.label
    agreeing = (overlap >= OVERLAP).astype(int) + alike + (degrees <= NEAR)
    likely = (agreeing >= 2) & (common > 0)
    worth = np.where(likely, 1 + overlap + alike + np.clip(1 - degrees / 180, 0, 1), 0)
    (old_events,), (new_events,) = solved(-worth[np.newaxis])
    order = np.argsort(pair, kind="stable")
    old_row, new_row, pair = old_row[order], new_row[order], pair[order]
    for before, after in zip(old_events.tolist(), new_events.tolist(), strict=True):
        if likely[before, after]:
            shared = slice(*pair.searchsorted([before * len(new) + after, before * len(new) + after + 1]))
            yield before, after, old_row[shared], new_row[shared]


def _angles(old: Rows, new: Rows) -> Floats:
    """Return the degrees between rows of both versions; NaN where one has no direction."""
    if "azimuth" not in old:
        return np.zeros(len(old["start"]))
    if "elevation" not in old:
        return np.abs(wrapped(new["azimuth"] - old["azimuth"]))
    return np.asarray(geometry.great_circle(old["azimuth"], old["elevation"], new["azimuth"], new["elevation"]))


def _happened(was: Rows, now: Rows, within: Mapping[str, float], names: Sequence[str]) -> dict[str, str]:
    """Return what happened to an event, in words by kind; *was* and *now* are its rows at the same times."""
    changed = [field for field, limit in within.items() if (distances(field, was[field], now[field]) > limit).any()]
    happened: dict[str, str] = {}
    if "azimuth" in changed and "elevation" not in changed:
        turns = wrapped(now["azimuth"] - was["azimuth"])
        if (np.abs(turns - np.median(turns)) <= within["azimuth"]).all():
            moving = " at its start" if (was["azimuth"] != was["azimuth"][0]).any() else ""
            happened["turned"] = f"azimuth {was['azimuth'][0]:g}° to {now['azimuth'][0]:g}°{moving}"
    if not happened and {"azimuth", "elevation"} & {*changed}:
        angles = _angles(was, now)
        measured = angles[~np.isnan(angles)]
        happened["moved"] = f"by {np.median(measured) if len(measured) else 0:.1f}° (median)"
    for field in changed:
        if field not in ("azimuth", "elevation"):
            before, after = (_mean(side[field], " m" if field == "distance" else "") for side in (was, now))
            happened[field] = f"{FIELDS[field]} {before} to {after}"
    if (was["further"] != now["further"]).any():
        happened["further"] = ""
    if was["label"][0] != now["label"][0]:
        happened["renamed"] = " to ".join(names[side["label"][0]] for side in (was, now))
    if was["source"][0] != now["source"][0]:
        before, after = ("unknown" if n == NO_SOURCE else n for n in (was["source"][0], now["source"][0]))
        happened["renumbered"] = f"source {before} to {after}"
    return happened


def _mean(values: Floats, unit: str) -> str:
    return "unknown" if np.isnan(values).all() else f"{np.nanmean(values):.4g}{unit}"


# --- clips ------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ChangedClip:
    """A clip that is not the same in both versions."""

    clip: str
    causes: tuple[str, ...] = ()  # what was done to the whole clip
    events: tuple[ChangedEvent, ...] = ()
    same: int = 0  # events that are the same, but for the causes
    reordered: bool = False  # whether rows are in another order, and nothing else differs

    @property
    def count(self) -> int:
        """Return the number of events of the new version."""
        return self.same + sum("dropped" not in event.happened for event in self.events)


def compared_clips(
    clips: Sequence[str], tables: Sequence[pa.Table | None], layouts: Sequence[LabelFormat], columns: Sequence[str]
) -> list[ChangedClip]:
    """Return those of *clips* that changed; *tables* have their rows in both versions, which have these *layouts*."""
    tables, hop = _alike(tables, [layout.hop for layout in layouts])
    index = {clip: number for number, clip in enumerate(clips)}
    numbers = defaultdict[Any, int](itertools.count().__next__)
    sides = [
        version_rows(table, index, layout.vocabulary, numbers, columns)
        for table, layout in zip(tables, layouts, strict=True)
    ]
    if are_same(*sides):
        return []
    changed = []
    for clip, number in index.items():
        old, new = (taken(side, slice(*side["clip"].searchsorted([number, number + 1]))) for side in sides)
        if are_same(old, new):
            continue
        old, new = (taken(side, np.lexsort([*side.values()][::-1])) for side in (old, new))
        if are_same(old, new):
            changed.append(ChangedClip(clip, reordered=True))
            continue
        explanations, old = causes(old, new, float(hop))
        events, count = changed_events(old, new, hop == Fraction(1, MICRO), list(numbers), float(hop))
        if explanations or events:  # else only the rounding differs
            changed.append(ChangedClip(clip, tuple(explanations), tuple(events), count))
    return changed


def _alike(tables: Sequence[pa.Table | None], hops: Sequence[Fraction]) -> tuple[list[pa.Table | None], Fraction]:
    """Return both tables with rows of one kind, and seconds of a tick of their times."""
    whole = [None if table is None or not table.num_rows else are_events(table) for table in tables]
    if True in whole and False not in whole:
        return [*tables], Fraction(1, MICRO)
    hop = hops[0] if hops[0] == hops[1] and True not in whole else clock.HOP
    framed: list[pa.Table | None] = []
    for table, events, own_hop in zip(tables, whole, hops, strict=True):
        empty = table is None or events is None
        framed.append(table if empty else frames_of(table, hop) if events else rescaled(table, own_hop, hop))
    return framed, hop


def versions(
    old: Source, new: Source, formats: tuple[LabelFormat | None, LabelFormat | None]
) -> tuple[SideLabels, SideLabels]:
    """Return the labels of both sources.

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
        InvalidData: something in a file cannot be read, or a version has errors, and they are not forced.
    """
    compared = fields_of(old.fields) & fields_of(new.fields)
    columns = [name for name in ("source", *FIELDS) if name in compared]
    parts = shared_parts(old, new, sorted(old.clips.keys() & new.clips.keys()))
    changed: list[ChangedClip] = []
    read, newly_read = [*old.readings], [*new.readings]
    for part in tracked(parts, "comparing"):
        (before, of_old), (after, of_new) = rows_of(part.first, as_read=True), rows_of(part.second, as_read=True)
        read, newly_read = read + of_old, newly_read + of_new
        changed += compared_clips(part.clips, (before, after), (old.layout, new.layout), columns)
    settle(read, force)
    settle(newly_read, force)
    return changed
