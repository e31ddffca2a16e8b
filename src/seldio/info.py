"""What a source holds, and what a format is: descriptions for people and for json."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from seldio.formats import Format, Reading
from seldio.formats.items import ItemFormat
from seldio.formats.label_csv import Dialect
from seldio.schema.qa import Item, Prediction
from seldio.schema.spans import spans
from seldio.text import plural, printable
from seldio.validation import examine
from seldio.vocabularies import vocabulary


def describe(path: str | os.PathLike[str], format: str | None = None) -> dict[str, Any]:
    """Layouts with their evidence, clips, events, classes and overlaps of a source.

    Raises:
        UsageError: nothing has that name, or no such format exists.
    """
    examined = examine(path, format=format)
    groups = [
        {"evidence": item.evidence if not item.told else "named by --format", **_group(item.reading)}
        for item in examined.recognised
    ]
    report = examined.report
    return {"path": os.fspath(path), "files": report.files, "findings": report.summary()["by_rule"], "groups": groups}


def _group(reading: Reading) -> dict[str, Any]:
    table, format = reading.table, reading.format
    found: dict[str, Any] = {
        "format": format.name,
        "title": format.title,
        "vocabulary": format.vocabulary,
        "clips": len(reading.parts),
        "silent_clips": sum(not part.rows for part in reading.parts),
        "rows": table.num_rows,
        "columns": [name for name in table.column_names if name != "clip"],
    }
    if "frame" in table.column_names and table.num_rows:
        found |= _frames(reading)
    if "class_id" in table.column_names and table.num_rows:
        found["classes"] = _classes(reading)
    return found


def _frames(reading: Reading) -> dict[str, Any]:
    """Events, seconds of sound and how many sources overlap."""
    table, hop = reading.table, reading.format.hop
    frame = table["frame"].to_numpy().astype(np.int64)
    clip = table["clip"].combine_chunks().indices.to_numpy().astype(np.int64)
    _, counts = np.unique(clip * (int(frame.max()) + 2) + frame, return_counts=True)
    overlap, frames = np.unique(counts, return_counts=True)
    known = "class_id" in table.column_names and not table["class_id"].null_count
    return {
        "active_seconds": float(len(counts) * hop),
        "events": len(spans(table, hop=hop)) if known else None,
        "overlaps": {str(n): int(many) for n, many in zip(overlap, frames, strict=True)},
        "last_frame": int(frame.max()),
    }


def _classes(reading: Reading) -> dict[str, int]:
    names = vocabulary(reading.format.vocabulary)
    ids = reading.table["class_id"].drop_null().to_numpy()
    return {names.label(index): int((ids == index).sum()) for index in np.unique(ids).tolist()}


def as_text(description: dict[str, Any]) -> str:
    """A description for people."""
    lines = [f"{printable(description['path'])}: {plural(description['files'], 'label file')}"]
    for group in description["groups"]:
        lines += ["", f"{group['format']}  {group['title']}"]
        lines.append(f"  because     {printable(group['evidence'] or 'no file has a row')}")
        silent = f", {group['silent_clips']:,} of them silent" if group["silent_clips"] else ""
        lines.append(f"  clips       {group['clips']:,}{silent}")
        lines.append(f"  rows        {group['rows']:,} with {', '.join(group['columns'])}")
        if "active_seconds" in group:
            events = f"{group['events']:,} events, " if group["events"] is not None else ""
            lines.append(f"  sound       {events}{group['active_seconds']:,.1f} s with at least one source")
            many = ", ".join(f"{n}: {count:,}" for n, count in group["overlaps"].items())
            lines.append(f"  at a time   {many} frames")
        for number, (name, count) in enumerate(group.get("classes", {}).items()):
            lines.append(f"  {'classes' if not number else '':<11} {count:>9,}  {printable(name)}")
    if description["findings"]:
        found = ", ".join(f"{code} {count:,}" for code, count in description["findings"].items())
        lines += ["", f"Findings: {found}. seldio validate says where."]
    return "\n".join(lines)


# --- formats ---------------------------------------------------------------------------------------


def format_record(format: Format | ItemFormat) -> dict[str, Any]:
    """A format for json."""
    if isinstance(format, ItemFormat):
        return {
            "name": format.name,
            "aliases": list(format.aliases),
            "title": format.title,
            "role": format.holds,
            "suffix": format.suffix,
            "carries": list(format.carries),
            "needs": list(format.needs),
            "source": format.source,
            "note": format.note,
        }
    return {
        "name": format.name,
        "aliases": list(format.aliases),
        "title": format.title,
        "role": format.role,
        "years": format.years,
        "suffix": format.suffix,
        "columns": [f"{part.field}:{part.kind}" for part in format.columns] if isinstance(format, Dialect) else [],
        "carries": list(format.carries),
        "needs": list(format.needs),
        "vocabulary": format.vocabulary,
        "hop_seconds": float(format.hop),
        "distance_unit": {1: "m", 100: "cm"}.get(getattr(format, "metre", None) or 0),
        "source": format.source,
        "note": format.note,
    }


def format_page(format: Format | ItemFormat) -> str:
    """A format for people."""
    from seldio.schema.events import COLUMNS

    if isinstance(format, ItemFormat):
        return _item_format_page(format)
    record = format_record(format)
    lines = [f"{format.name}  {format.title}", ""]
    if isinstance(format, Dialect):
        head = format.header or ",".join(part.field for part in format.columns)
        lines.append(f"columns     {head}{'' if format.header else '  (no header line)'}")
    unit = f", distance in {record['distance_unit']}" if record["distance_unit"] else ""
    lines.append(f"frames      {record['hop_seconds'] * 1000:g} ms{unit}")
    names = vocabulary(format.vocabulary)
    lines.append(f"classes     {len(names)} of {names.name}: {names.title}")
    lines.append(f"carries     {', '.join(format.carries)}")
    lines.append(f"cannot      {', '.join(name for name in COLUMNS if name not in format.carries) or '-'}")
    if format.aliases:
        lines.append(f"also called {', '.join(format.aliases)}")
    lines.append(f"source      {format.source}")
    return "\n".join([*lines, "", format.note])


def _item_format_page(format: ItemFormat) -> str:
    lines = [f"{format.name}  {format.title}", "", f"holds       {format.holds}"]
    lines.append(f"carries     {', '.join(format.carries)}")
    model = Item if format.holds == "items" else Prediction
    lines.append(f"cannot      {', '.join(name for name in model.model_fields if name not in format.carries) or '-'}")
    if format.aliases:
        lines.append(f"also called {', '.join(format.aliases)}")
    lines.append(f"source      {format.source}")
    return "\n".join([*lines, "", format.note])
