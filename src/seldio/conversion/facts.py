"""Numbers about event tables of one format, which add up over parts: all that a plan is made of."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.conversion.carry import COUNT, classes, filled, folds, given_class, held_back, located, nowhere
from seldio.conversion.frames import are_events, frames_of, grouped, has, pieces_of, rescaled, takes_events, with_times
from seldio.formats import LabelFormat
from seldio.formats.dcase_json import points
from seldio.formats.label_csv import Dialect
from seldio.schema.arrays import known_values, pc, to_mask, to_numpy
from seldio.schema.events import clip_codes, origin_of
from seldio.vocabularies import vocabulary

#: Decimals that are left by each kind of column that rounds.
_DECIMALS = {"whole": 0, "real3": 3, "real3inf": 3}
TIMES = ("frame", "onset", "offset")
#: What may change in the course of an event.
MOVABLE = ("azimuth", "elevation", "distance")


@dataclasses.dataclass
class Columns:
    """The rows of a table, and in how many of them each of its columns is known."""

    rows: int = 0
    known: dict[str, int] = dataclasses.field(default_factory=dict)

    @staticmethod
    def of(table: pa.Table) -> Columns:
        """Those of *table*."""
        known = {field: table.num_rows - table[field].null_count for field in table.column_names}
        return Columns(table.num_rows, known)

    def has(self, field: str) -> bool:
        """Whether *field* is known of any row."""
        return self.known.get(field, 0) > 0

    def unknown(self, field: str) -> int:
        """The number of rows of which *field* is not known."""
        return self.rows - self.known.get(field, 0)

    @property
    def are_events(self) -> bool:
        """Whether rows are whole events and not event frames."""
        return self.has("onset") and not self.has("frame")

    def add(self, other: Columns) -> None:
        """Count the rows of *other* too."""
        self.rows += other.rows
        for field, count in other.known.items():
            self.known[field] = self.known.get(field, 0) + count


@dataclasses.dataclass
class Facts:
    """What a plan is made of."""

    table: Columns = dataclasses.field(default_factory=Columns)  # of the rows with what was filled in
    timed: Columns = dataclasses.field(default_factory=Columns)  # of the rows as events or frames of the target
    #: of rows, events and clips, by what they are counted for
    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    least: dict[str, float] = dataclasses.field(default_factory=dict)  # the smallest number of each kind
    most: dict[str, float] = dataclasses.field(default_factory=dict)  # the largest
    #: of classes and keys, in the order in which they were met, with the number of their rows
    names: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)

    def range(self, what: str, low: float, high: float) -> None:
        """Take in that *what* goes from *low* to *high*."""
        self.least[what] = min(low, self.least.get(what, low))
        self.most[what] = max(high, self.most.get(what, high))

    def name(self, what: str, name: str, rows: int = 1) -> None:
        """Take in *rows* of *name*, which is a *what*."""
        group = self.names.setdefault(what, {})
        group[name] = group.get(name, 0) + rows

    def add(self, other: Facts) -> None:
        """Take in what is known of further rows, of other clips."""
        self.table.add(other.table)
        self.timed.add(other.timed)
        self.counts.update(other.counts)
        for what, low in other.least.items():
            self.range(what, low, other.most[what])
        for what, group in other.names.items():
            for name, rows in group.items():
                self.name(what, name, rows)


def measured(table: pa.Table, source: LabelFormat, target: LabelFormat, fill: Mapping[str, Any]) -> Facts:
    """The facts about *table* that matter when it goes from *source* to *target*.

    Facts of tables with different clips and one format add up to those of all their rows together.
    """
    held_back(table, target)
    given, table = table, filled(table, target, fill)
    found = Facts(Columns.of(table))
    if target.role == "table":
        return found
    for field, value in fill.items():
        if value == COUNT:
            found.counts[f"filled {field}"] = 1
            continue
        own = not given.num_rows or (field in given.column_names and given[field].equals(table[field]))
        found.counts[f"filled {field}"] = int(not own)
    unknown = [~to_mask(table[field]) for field in ("class_id", "class_name") if field in table.column_names]
    found.counts["nowhere"] = int(nowhere(table, target).sum())
    left = located(table, target)
    found.counts["no distance"] = left["distance"].null_count if "distance" in left.column_names else left.num_rows
    found.counts["unclassed"] = int(np.logical_and.reduce([np.ones(table.num_rows, dtype=bool), *unknown]).sum())
    if given_class(fill, target) is not None:
        found.counts["filled class_id"], found.counts["unclassed"] = found.counts["unclassed"], 0
    _keys(found, table, source, target)
    if not table.num_rows:
        _clips(found, table, source, target)
    elif complete(found, target):
        _losses(found, table, source, target, given_class(fill, target))
        _changes(found, table, source, target)
    return found


def complete(facts: Facts, target: LabelFormat) -> bool:
    """Whether every row has a time and a class, as *target* needs them: without, nothing else can be worked out."""
    timed = not set(TIMES) & set(target.needs) or not untimed(facts.table)
    return timed and not ("class_id" in target.carries and facts.counts["unclassed"])


def untimed(columns: Columns) -> int:
    """The number of rows without a time."""
    return max(map(columns.unknown, TIMES[1:] if columns.are_events else TIMES[:1]))


# --- what may be lost ------------------------------------------------------------------------------


def _losses(found: Facts, table: pa.Table, source: LabelFormat, target: LabelFormat, given: int | None) -> None:
    _times(found, table, source, target)
    every = classes(table, source, target, given)
    if every.filled and given is not None:
        found.counts["filled class_id"] += 1
        found.name("given as", vocabulary(target.vocabulary).label(given))
    for what, group in (("lost", every.lost), ("foreign", every.foreign), ("given", every.filled)):
        for name, rows in group.items():
            found.name(what, name, rows)
    for field in ("source", "elevation", "distance", "score"):
        if has(table, field) and field not in target.carries:
            values = known_values(table[field])
            found.range(field, np.fmin.reduce(values).item(), np.fmax.reduce(values).item())
    if "hemisphere" in table.column_names:
        found.counts["hemisphere"] = pc.sum(table["hemisphere"]).as_py() or 0
    if "segmentation" in table.column_names and "segmentation" not in target.carries:
        maps = table["segmentation"].combine_chunks()
        row, triplet = points(maps)
        count, energy = (np.bincount(row, weights, len(maps)) for weights in (None, triplet[:, 2]))
        direction = (count == 1) & (energy == 1.0)  # a single point of energy 1 says no more
        found.counts["maps"] = int((pc.is_valid(maps).to_numpy(zero_copy_only=False) & ~direction).sum())
    if "x" not in target.carries and has(table, "x"):
        norm = np.sqrt(sum(to_numpy(table[axis]) ** 2 for axis in "xyz"))
        _range(found, "norm", norm[np.isfinite(norm)])
    if folds(source, target) and has(table, "azimuth"):
        found.counts["behind"] = int((np.abs(to_numpy(table["azimuth"])) > 90.0).sum())


def _range(found: Facts, what: str, values: Any) -> None:
    if len(values):
        found.range(what, float(values.min()), float(values.max()))


def _times(found: Facts, table: pa.Table, source: LabelFormat, target: LabelFormat) -> None:
    """What falls together or moves, when rows become events or frames of another length."""
    if are_events(table) and not takes_events(target):
        times = np.concatenate([to_numpy(table["onset"]), to_numpy(table["offset"])]) / float(target.hop)
        off = int((np.abs(times - np.rint(times)) > 1e-6).sum())
        found.counts["between frames"] = off
        found.counts["pieces"] = pieces_of(table)
        if not off:
            found.counts["separate"] = len(grouped(frames_of(table, target.hop), target.hop))
    elif not are_events(table) and takes_events(target):
        _movements(found, table, source, target)
    elif not are_events(table) and source.hop < target.hop:
        found.counts["rescaled"] = rescaled(table, source.hop, target.hop).num_rows


def _movements(found: Facts, table: pa.Table, source: LabelFormat, target: LabelFormat) -> None:
    """In how many events direction and distance change."""
    events = grouped(table, source.hop)
    lengths = np.diff(events.starts)
    middle = (events.starts[:-1] + events.starts[1:] - 1) // 2
    found.counts["events"] = len(events)
    for field in MOVABLE:
        if field not in target.carries or not has(table, field):
            continue
        values = np.nan_to_num(to_numpy(table[field])[events.rows], nan=-1.0)
        if field == "azimuth":
            values = values % 360.0  # -180 and 180 are one place
        changed = values != np.repeat(values[middle], lengths)
        found.counts[f"moving {field}"] = len(np.unique(np.repeat(np.arange(len(lengths)), lengths)[changed]))


def _keys(found: Facts, table: pa.Table, source: LabelFormat, target: LabelFormat) -> None:
    """The further keys of the source files and of their rows, where the target does not keep them."""
    held = "extra" in table.column_names and "extra" not in target.carries
    rows = table["extra"].unique().to_pylist() if held else []
    files = (file.extra for file in origin_of(table).files if source.name != target.name)
    for what, texts in (("keys of files", files), ("keys of rows", rows)):
        for key in dict.fromkeys(key for text in texts if text for key in json.loads(text)):
            found.name(what, key)


# --- what changes ----------------------------------------------------------------------------------


def _changes(found: Facts, table: pa.Table, source: LabelFormat, target: LabelFormat) -> None:
    if {"class_name", "class_id"} <= set(table.column_names) and "class_name" not in target.carries:
        for name in table["class_name"].filter(table["class_id"].is_valid()).drop_null().unique().to_pylist():
            found.name("spelled", name)
    timed = with_times(located(table, target), source, target)
    found.timed = Columns.of(timed)
    for field in MOVABLE:
        if decimals(target, field) is not None and has(timed, field):
            unit = (target.metre or 1) if isinstance(target, Dialect) and field == "distance" else 1
            values = to_numpy(timed[field]) * unit
            values = values[np.isfinite(values)]
            _range(found, f"rounding of {field}", np.abs(values - np.round(values, decimals(target, field) or 0)))
    if target.time_decimals is not None:
        for field in ("onset", "offset"):
            values = to_numpy(timed[field])
            moved = np.abs(values - np.round(values, target.time_decimals))
            _range(found, "rounding of times", moved[moved > 1e-10])  # less is noise of binary numbers
    _clips(found, timed, source, target)


def decimals(target: LabelFormat, field: str) -> int | None:
    """The decimals that *target* leaves to *field*; None where it does not round."""
    return _DECIMALS.get(target.kind(field) or "") if isinstance(target, Dialect) else None


def _clips(found: Facts, table: pa.Table, source: LabelFormat, target: LabelFormat) -> None:
    """How many clips go on beyond what the target has, or end in silence."""
    codes, names = clip_codes(table)
    last = np.full(len(names), -1)
    if has(table, "frame"):
        np.maximum.at(last, codes, to_numpy(table["frame"]))
    if target.clip_frames and target.clip_frames != source.clip_frames:
        found.counts["long clips"] = int((last >= target.clip_frames).sum())
    ends = dict(zip(names, last.tolist(), strict=True))
    longer = sum((file.frames or 0) > ends.get(file.clip, -1) + 1 for file in origin_of(table).files)
    found.counts["silent ends"] = longer
