"""Counts of labels, of questions and of predictions."""

from __future__ import annotations

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


def label_counts(table: pa.Table, hop: Fraction, classes: str) -> dict[str, Any]:
    """Return counts of an event table with *hop* seconds between its frames.

    They are events (None where a class has no number), seconds of sound, overlaps, and event frames of each class of
    the list *classes*; nothing that the table has no column for.
    """
    names = table.column_names if table.num_rows else ()
    counts: dict[str, Any] = {}
    if "frame" in names:
        frame, clip = to_numpy(table["frame"]).astype(np.int64), clip_codes(table)[0].astype(np.int64)
        _, sources = np.unique(clip * (int(frame.max()) + 2) + frame, return_counts=True)
        numbered = "class_id" in names and not table["class_id"].null_count
        overlaps = zip(*np.unique(sources, return_counts=True), strict=True)
        counts = {
            "active_seconds": float(len(sources) * hop),
            "events": len(spans(table, hop=hop)) if numbered else None,
            "overlaps": {str(number): int(frames) for number, frames in overlaps},
            "last_frame": int(frame.max()),
        }
    if "class_id" in names:
        labels = vocabulary(classes)
        ids = zip(*np.unique(known_values(table["class_id"]), return_counts=True), strict=True)
        counts["classes"] = {labels.label(int(index)): int(rows) for index, rows in ids}
    if "segmentation" in names:
        counts["maps"] = _map_counts(table["segmentation"])
    return counts


# --- questions and predictions ---------------------------------------------------------------------


def item_counts(table: pa.Table, holds: str) -> dict[str, Any]:
    """Return counts of the questions or predictions of a file, and how long their texts are."""
    names = table.schema.names
    counts: dict[str, Any] = {
        "rows": len(table),
        "ids": _different(table, "id"),
        "audio_files": _different(table, "audio"),
        "tasks": _counted(table, "task"),
    }
    if holds == "predictions" or not len(table):
        given = _texts(table, "prediction")
        counts["prompts"] = _different(table, "prompt")
        empty = len(table) - len(given) if "prediction" in names else 0
        counts["predictions"] = {"given": len(given), "empty": empty}
        return counts | {"characters": {"prediction": _lengths(given)}}
    counts |= {f"{name}s": _counted(table, name) for name in ("split", "language", "dataset")}
    counts["options"] = _counted(table, "options")
    answered = len(_texts(table, "answer"))
    counts["answers"] = {"known": answered, "hidden": len(table) - answered}
    spans = pc.subtract(table["end"], table["start"]).drop_null().to_numpy()
    if len(spans):
        counts["seconds"] = {"shortest": spans.min().item(), "mean": spans.mean().item(), "longest": spans.max().item()}
    return counts | {"characters": {name: _lengths(_texts(table, name)) for name in ("question", "answer")}}


def _counted(table: pa.Table, name: str) -> dict[str, int]:
    """Return how often each value of a column stands, the most frequent first; of options how many there are."""
    column = table[name].drop_null() if name in table.schema.names else pa.chunked_array([], pa.string())
    values = pc.list_value_length(column).cast(pa.string()) if name == "options" else column
    counts = {each["values"]: each["counts"] for each in pc.value_counts(values).to_pylist()}
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


def _texts(table: pa.Table, name: str) -> pa.ChunkedArray:
    column = table[name] if name in table.schema.names else pa.chunked_array([], pa.string())
    return column.filter(pc.fill_null(pc.not_equal(column, ""), False))


def _lengths(texts: pa.ChunkedArray) -> dict[str, float] | None:
    """Return characters of the shortest, the mean and the longest; None where there is none."""
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
        keys = format.record(Rows(reading.table.slice(0, 1), format.model)[0].model_dump())
        marks = dict.fromkeys(key for mark in (*format.marks, *format.sure) for key in mark.split("|"))
        return f"its first record has {', '.join(key for key in marks if key in keys)}"
    columns, header = getattr(format, "columns", None), reading.origin.get("header")
    if columns and isinstance(header, (list, tuple)):
        return f"its header has {sum(name in header for name in columns)} of {len(columns)} columns"
    return "the keys of its records"
