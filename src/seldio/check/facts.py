"""Counts of labels, of questions and of predictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from seldio.schema.arrays import known_values, pc, to_numpy
from seldio.schema.events import clip_codes
from seldio.schema.spans import spans
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.formats.items import ItemReading

# --- labels ----------------------------------------------------------------------------------------


def _map_counts(column: pa.ChunkedArray) -> dict[str, Any]:
    """Return rows with an energy map, its polygons and points, and the energies of the strongest points."""
    from seldio.formats.dcase_json import list_offsets

    rows, polygons, spots = list_offsets(column.combine_chunks())
    if not len(spots):
        return {"rows": 0, "polygons": 0, "points": 0}
    sizes = np.diff(polygons[rows])
    starts, sizes = polygons[rows[:-1]][sizes > 0], sizes[sizes > 0]
    peaks = np.maximum.reduceat(spots[:, 2], starts)
    ends = {"lowest": float(peaks.min()), "mean": float(peaks.sum()) / len(starts), "highest": float(peaks.max())}
    filled = int(np.count_nonzero(np.diff(polygons)))
    counts = {"rows": len(starts), "polygons": filled, "points": len(spots), "most_points": int(sizes.max())}
    return counts | {"peak": ends}


@dataclasses.dataclass(frozen=True)
class LabelFacts:
    """Counts of event frames."""

    rows: int
    columns: tuple[str, ...]  # all but the clip
    frames: int = 0  # with at least one source
    last_frame: int | None = None  # None where nobody knows of frames
    events: int | None = 0  # None where a class has no number
    overlaps: Mapping[int, int] = dataclasses.field(default_factory=dict)  # frames by their number of sources
    classes: Mapping[int, int] | None = None  # rows by class; None where nobody knows of classes
    maps: Mapping[str, Any] | None = None  # counts of energy maps; None where the format has none

    @classmethod
    def of(cls, table: pa.Table, hop: Fraction) -> LabelFacts:
        """Return the facts of an event table with *hop* seconds between its frames."""
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
            facts = dataclasses.replace(facts, maps=_map_counts(table["segmentation"]))
        return facts

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
        return found | ({"maps": self.maps} if self.maps is not None else {})


def _tally(values: Any) -> dict[int, int]:
    there, counts = np.unique(values, return_counts=True)
    return dict(zip(there.tolist(), counts.tolist(), strict=True))


# --- questions and predictions ---------------------------------------------------------------------


def item_counts(table: pa.Table, holds: str) -> dict[str, Any]:
    """Counts of the questions or predictions of a file, and how long their texts are."""
    names = table.schema.names
    found: dict[str, Any] = {
        "rows": len(table),
        "ids": _different(table, "id"),
        "audio_files": _different(table, "audio"),
        "tasks": _counted(table, "task"),
    }
    if holds == "predictions" or not len(table):
        given = _texts(table, "prediction")
        found["prompts"] = _different(table, "prompt")
        empty = len(table) - len(given) if "prediction" in names else 0
        found["predictions"] = {"given": len(given), "empty": empty}
        return found | {"characters": {"prediction": _lengths(given)}}
    found |= {f"{name}s": _counted(table, name) for name in ("split", "language", "dataset")}
    found["options"] = _counted(table, "options")
    known = len(_texts(table, "answer"))
    found["answers"] = {"known": known, "hidden": len(table) - known}
    spans = pc.subtract(table["end"], table["start"]).drop_null().to_numpy()
    if len(spans):
        found["seconds"] = {"shortest": spans.min().item(), "mean": spans.mean().item(), "longest": spans.max().item()}
    return found | {"characters": {name: _lengths(_texts(table, name)) for name in ("question", "answer")}}


def _counted(table: pa.Table, name: str) -> dict[str, int]:
    """How often each value of a column stands, the most frequent first; of options how many there are."""
    column = table[name].drop_null() if name in table.schema.names else pa.chunked_array([], pa.string())
    values = pc.list_value_length(column).cast(pa.string()) if name == "options" else column
    counts = {each["values"]: each["counts"] for each in pc.value_counts(values).to_pylist()}
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


def _texts(table: pa.Table, name: str) -> pa.ChunkedArray:
    column = table[name] if name in table.schema.names else pa.chunked_array([], pa.string())
    return column.filter(pc.fill_null(pc.not_equal(column, ""), False))


def _lengths(texts: pa.ChunkedArray) -> dict[str, float] | None:
    """Characters of the shortest, the mean and the longest; None where there is none."""
    lengths = pc.utf8_length(texts).to_numpy()
    if not len(lengths):
        return None
    mean = round(int(lengths.sum()) / len(lengths), 1)
    return {"shortest": int(lengths.min()), "mean": mean, "longest": int(lengths.max())}


def _different(table: pa.Table, name: str) -> int:
    values = _texts(table, name) if name == "prompt" else table[name]
    return int(pc.count_distinct(pc.list_flatten(values) if name == "audio" else values).as_py())


def evidence_of(reading: ItemReading) -> str:
    """Return the evidence by which a file of questions or predictions was recognised."""
    format = reading.format
    from seldio.formats.json_items import JsonItems
    from seldio.schema.qa import Rows

    if isinstance(format, JsonItems) and reading.rows:
        keys = format.record(Rows(reading.table.slice(0, 1), format.model)[0])
        marks = dict.fromkeys(key for mark in (*format.marks, *format.sure) for key in mark.split("|"))
        return f"its first record has {', '.join(key for key in marks if key in keys)}"
    columns, header = getattr(format, "columns", None), reading.origin.get("header")
    if columns and isinstance(header, (list, tuple)):
        return f"its header has {sum(name in header for name in columns)} of {len(columns)} columns"
    return "the keys of its records"
