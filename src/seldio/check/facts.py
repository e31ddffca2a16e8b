"""Counts of labels, of questions and of predictions: those of a part are plain values that add up."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from seldio.schema.arrays import known_values, pc, to_numpy
from seldio.schema.events import clip_codes
from seldio.schema.qa import Rows
from seldio.schema.spans import spans
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.formats.items import ItemReading

# --- labels ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class MapTotals:
    """Energy maps of rows: polygons, points, and the energy of the strongest point of each."""

    rows: int = 0  # that have a point
    polygons: int = 0
    points: int = 0
    most: int = 0  # points of one row
    peaks: tuple[float, float, float] = (np.inf, 0.0, -np.inf)  # the lowest, the sum and the highest

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> MapTotals:
        """Those of a column of segmentations."""
        from seldio.formats.dcase_json import list_offsets, points

        _, polygons, spots = list_offsets(column.combine_chunks())
        row, _ = points(column.combine_chunks())
        if not len(spots):
            return cls()
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        peaks = np.maximum.reduceat(spots[:, 2], starts)
        sizes = np.diff(np.append(starts, len(spots)))
        filled = int(np.count_nonzero(np.diff(polygons)))
        ends = float(peaks.min()), float(peaks.sum()), float(peaks.max())
        return cls(len(starts), filled, len(spots), int(sizes.max()), ends)

    def __add__(self, other: MapTotals) -> MapTotals:
        """Those of both."""
        (low, total, high), (low2, total2, high2) = self.peaks, other.peaks
        return MapTotals(
            self.rows + other.rows, self.polygons + other.polygons, self.points + other.points,
            max(self.most, other.most), (min(low, low2), total + total2, max(high, high2)),
        )  # fmt: skip

    def counts(self) -> dict[str, Any]:
        """Rows with a map, polygons, points and the energy of peaks."""
        found: dict[str, Any] = {"rows": self.rows, "polygons": self.polygons, "points": self.points}
        if self.rows:
            low, total, high = self.peaks
            found |= {"most_points": self.most, "peak": {"lowest": low, "mean": total / self.rows, "highest": high}}
        return found


@dataclasses.dataclass(frozen=True)
class LabelFacts:
    """Counts of event frames; two of them add up where no clip is in both."""

    rows: int
    columns: tuple[str, ...]  # all but the clip
    frames: int = 0  # with at least one source
    last_frame: int | None = None  # None where nobody knows of frames
    events: int | None = 0  # None where a class has no number
    overlaps: Mapping[int, int] = dataclasses.field(default_factory=dict)  # frames by their number of sources
    classes: Mapping[int, int] | None = None  # rows by class; None where nobody knows of classes
    maps: MapTotals | None = None  # energy maps; None where the format has none

    @classmethod
    def of(cls, table: pa.Table, hop: Fraction) -> LabelFacts:
        """What an event table with *hop* seconds between its frames holds."""
        names = table.column_names
        facts = cls(table.num_rows, tuple(name for name in names if name != "clip"))
        if table.num_rows and "frame" in names:
            frame, clip = to_numpy(table["frame"]).astype(np.int64), clip_codes(table)[0].astype(np.int64)
            _, counts = np.unique(clip * (int(frame.max()) + 2) + frame, return_counts=True)
            known = "class_id" in names and not table["class_id"].null_count
            events = len(spans(table, hop=hop)) if known else None
            facts = dataclasses.replace(
                facts, frames=len(counts), last_frame=int(frame.max()), events=events, overlaps=_tally(counts)
            )
        if table.num_rows and "class_id" in names:
            facts = dataclasses.replace(facts, classes=_tally(known_values(table["class_id"])))
        if table.num_rows and "segmentation" in names:
            facts = dataclasses.replace(facts, maps=MapTotals.of(table["segmentation"]))
        return facts

    def __add__(self, other: LabelFacts) -> LabelFacts:
        """Those of both."""
        classes = None if self.classes is None and other.classes is None else _sum(self.classes, other.classes)
        return LabelFacts(
            self.rows + other.rows,
            (*self.columns, *(name for name in other.columns if name not in self.columns)),
            self.frames + other.frames,
            max((n for n in (self.last_frame, other.last_frame) if n is not None), default=None),
            None if self.events is None or other.events is None else self.events + other.events,
            _sum(self.overlaps, other.overlaps),
            classes,
            self.maps + other.maps if self.maps and other.maps else self.maps or other.maps,
        )

    def counts(self, hop: Fraction, classes: str) -> dict[str, Any]:
        """Events, seconds of sound, overlaps, and event frames of each class of the list *classes*."""
        found: dict[str, Any] = {}
        if self.last_frame is not None:
            found |= {
                "active_seconds": float(self.frames * hop),
                "events": self.events,
                "overlaps": {str(n): many for n, many in sorted(self.overlaps.items())},
                "last_frame": self.last_frame,
            }
        if self.classes is not None:
            names = vocabulary(classes)
            found["classes"] = {names.label(index): many for index, many in sorted(self.classes.items())}
        return found | ({"maps": self.maps.counts()} if self.maps is not None else {})


def _tally(values: Any) -> dict[int, int]:
    there, counts = np.unique(values, return_counts=True)
    return dict(zip(there.tolist(), counts.tolist(), strict=True))


def _sum(one: Mapping[Any, int] | None, other: Mapping[Any, int] | None) -> dict[Any, int]:
    """How often each value stands in both, in the order in which they come first."""
    total = dict(one or {})
    for value, count in (other or {}).items():
        total[value] = total.get(value, 0) + count
    return total


# --- questions and predictions ---------------------------------------------------------------------

#: Columns whose values are counted, and those whose characters are.
_COUNTED = ("task", "split", "language", "dataset", "options")
_TEXTS = ("question", "answer", "prediction")
_NAMES = ("id", "audio", "prompt")


@dataclasses.dataclass(frozen=True)
class Lengths:
    """Characters of the texts that are not empty."""

    texts: int = 0
    characters: int = 0
    shortest: int = 0
    longest: int = 0

    @classmethod
    def of(cls, texts: pa.ChunkedArray) -> Lengths:
        """Those of a column."""
        lengths = pc.utf8_length(texts.filter(_written(texts))).to_numpy()
        return cls(len(lengths), int(lengths.sum()), int(lengths.min()), int(lengths.max())) if len(lengths) else cls()

    def __add__(self, other: Lengths) -> Lengths:
        """Those of both."""
        some = [one for one in (self, other) if one.texts] or [self]
        return Lengths(
            self.texts + other.texts, self.characters + other.characters,
            min(one.shortest for one in some), max(one.longest for one in some),
        )  # fmt: skip

    def counts(self) -> dict[str, float] | None:
        """The shortest, the mean and the longest; None where no text has a character."""
        if not self.texts:
            return None
        mean = round(self.characters / self.texts, 1)
        return {"shortest": self.shortest, "mean": mean, "longest": self.longest}


@dataclasses.dataclass(frozen=True)
class ItemFacts:
    """Counts of the questions or predictions of a file, or of a run of its lines."""

    evidence: str  # what the file was recognised by
    rows: int
    counted: Mapping[str, Mapping[Any, int]]  # by column, how often each value stands
    lengths: Mapping[str, Lengths]  # by column
    seconds: tuple[np.ndarray[Any, Any], ...]  # of each part, how much of the recordings is asked about
    names: tuple[pa.Table, ...]  # of each part, the columns whose different values are counted

    @classmethod
    def of(cls, reading: ItemReading) -> ItemFacts:
        """What was read."""
        table = reading.table
        names = table.schema.names
        columns = {name: table[name] for name in _COUNTED if name in names}
        if "options" in columns:
            columns["options"] = pc.list_value_length(columns["options"]).cast(pa.string())
        asked = pc.subtract(table["end"], table["start"]).drop_null().to_numpy() if "end" in names else np.empty(0)
        return cls(
            _evidence(reading),
            len(table),
            {
                name: {each["values"]: each["counts"] for each in pc.value_counts(column.drop_null()).to_pylist()}
                for name, column in columns.items()
            },
            {name: Lengths.of(table[name]) for name in _TEXTS if name in names},
            (asked,),
            (table.select([name for name in _NAMES if name in names]),),
        )

    def __add__(self, other: ItemFacts) -> ItemFacts:
        """Those of both; *other* comes behind in the file."""
        return ItemFacts(
            self.evidence if self.rows else other.evidence,
            self.rows + other.rows,
            {name: _sum(counts, other.counted[name]) for name, counts in self.counted.items()},
            {name: lengths + other.lengths[name] for name, lengths in self.lengths.items()},
            self.seconds + other.seconds,
            self.names + other.names,
        )

    def counts(self, holds: str) -> dict[str, Any]:
        """Counts of the rows, and how long their texts are."""
        found: dict[str, Any] = {
            "rows": self.rows,
            "ids": self._different("id"),
            "audio_files": self._different("audio"),
            "tasks": self._ordered("task"),
        }
        if holds == "predictions" or not self.rows:
            lengths = self.lengths.get("prediction", Lengths())
            found["prompts"] = self._different("prompt")
            rows = self.rows if "prediction" in self.lengths else 0
            found["predictions"] = {"given": lengths.texts, "empty": rows - lengths.texts}
            return found | {"characters": {"prediction": lengths.counts()}}
        for name in ("split", "language", "dataset"):
            found[f"{name}s"] = self._ordered(name)
        found["options"] = self._ordered("options")
        known = self.lengths["answer"].texts
        found["answers"] = {"known": known, "hidden": self.rows - known}
        spans = np.concatenate(self.seconds)
        if len(spans):
            longest, mean = spans.max().item(), spans.mean().item()
            found["seconds"] = {"shortest": spans.min().item(), "mean": mean, "longest": longest}
        return found | {"characters": {name: self.lengths[name].counts() for name in ("question", "answer")}}

    def _different(self, name: str) -> int:
        """Count the different values of a column that are not empty texts."""
        columns = [table[name] for table in self.names if name in table.column_names]
        values = [pc.list_flatten(column) if name == "audio" else column for column in columns]
        chunks = [chunk for column in values for chunk in column.chunks]
        texts = pa.chunked_array(chunks, pa.string())
        return int(pc.count_distinct(texts.filter(_written(texts))).as_py())

    def _ordered(self, name: str) -> dict[str, int]:
        """How often each value stands, the most frequent first."""
        return dict(sorted(self.counted[name].items(), key=lambda pair: -pair[1]))


def _evidence(reading: ItemReading) -> str:
    """What a file of questions or predictions was recognised by."""
    format = reading.format
    from seldio.formats.json_items import JsonItems

    if isinstance(format, JsonItems) and reading.rows:
        keys = format.record(Rows(reading.table.slice(0, 1), format.model)[0])
        marks = dict.fromkeys(key for mark in (*format.marks, *format.sure) for key in mark.split("|"))
        return f"its first record has {', '.join(key for key in marks if key in keys)}"
    columns, header = getattr(format, "columns", None), reading.origin.get("header")
    if columns and isinstance(header, (list, tuple)):
        return f"its header has {sum(name in header for name in columns)} of {len(columns)} columns"
    return "the keys of its records"


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which rows have a text that is not empty."""
    return pc.fill_null(pc.not_equal(column, ""), False)


Facts = TypeVar("Facts", LabelFacts, ItemFacts)


def total(facts: Iterable[Facts | None]) -> Facts:
    """The sum of facts of one kind, of which there are some."""
    return reduce(lambda one, other: one + other, (one for one in facts if one is not None))
