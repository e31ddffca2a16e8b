"""What a source holds, and what a format is: descriptions for people and for json."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seldio.check.validation import Examined, examine
from seldio.errors import SeldioError
from seldio.files.entries import plain_file
from seldio.formats import Format, Reading
from seldio.formats.base import UNITS
from seldio.formats.items import ItemFormat, ItemReading
from seldio.formats.json_items import JsonItems
from seldio.formats.label_csv import Dialect
from seldio.formats.trees import TYPES
from seldio.schema.events import clip_codes
from seldio.schema.qa import PREDICTION_SCHEMA, Item, Prediction
from seldio.schema.spans import spans
from seldio.text import clipped, listed, plural, printable
from seldio.vocabularies import vocabulary


def describe(path: str | os.PathLike[str], format: str | None = None) -> dict[str, Any]:
    """Layouts with their evidence, clips, events, classes and overlaps of a source; of questions their counts.

    Of a recording: channels, rate, length, peak and levels (dB of full scale) by channel; of a video its pictures.

    Raises:
        UsageError: nothing has that name, or no such format exists.
    """
    return description(examine(path, format=format), path, told=format is not None) | _media(path)


def _media(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in a single recording or video; nothing for any other source, and for what cannot be read."""
    kind = TYPES.get(os.fspath(path).rpartition(".")[2].lower())
    if kind not in ("audio", "video") or not Path(path).is_file():
        return {}
    from seldio.media.contents import contents

    try:
        return {"media": [contents(plain_file(os.fspath(path)), kind)]}
    except SeldioError:
        return {}  # seldio validate says why


def description(examined: Examined, path: str | os.PathLike[str], told: bool = False) -> dict[str, Any]:
    """What :func:`describe` returns, of a source that was examined already; *told*: its format was named."""
    groups = [
        {"evidence": item.evidence if not item.told else "named by --format", **_group(item.reading)}
        for item in examined.recognised
    ]
    items = [
        {"evidence": "named by --format" if told else _item_evidence(reading), **_items(reading)}
        for reading in examined.items
    ]
    report = examined.report
    found = {"path": os.fspath(path), "files": report.files, "findings": report.summary()["by_rule"], "groups": groups}
    doubts = [finding.message for finding in report.findings if finding.code == "SYN902"]
    return found | ({"items": items} if items else {}) | ({"doubts": doubts} if doubts else {})


def _group(reading: Reading) -> dict[str, Any]:
    table, format = reading.table, reading.format
    found: dict[str, Any] = {
        "format": format.name,
        "title": format.title,
        "vocabulary": format.vocabulary,
        "files": list(dict.fromkeys(part.file.path for part in reading.parts)),
        "clips": len(reading.parts),
        "silent_clips": sum(part.readable and not part.rows for part in reading.parts),
        "rows": table.num_rows,
        "columns": [name for name in table.column_names if name != "clip"],
    }
    return found | frame_counts(table, format.hop, format.vocabulary)


def frame_counts(table: pa.Table, hop: Fraction, classes: str) -> dict[str, Any]:
    """Events, seconds of sound, how many sources overlap, and event frames of each class of the list *classes*."""
    found: dict[str, Any] = {}
    if "frame" in table.column_names and table.num_rows:
        found |= _frames(table, hop)
    if "class_id" in table.column_names and table.num_rows:
        ids = table["class_id"].drop_null().to_numpy()
        names = vocabulary(classes)
        found["classes"] = {names.label(index): int((ids == index).sum()) for index in np.unique(ids).tolist()}
    return found


def _frames(table: pa.Table, hop: Fraction) -> dict[str, Any]:
    frame, clip = table["frame"].to_numpy().astype(np.int64), clip_codes(table)[0].astype(np.int64)
    _, counts = np.unique(clip * (int(frame.max()) + 2) + frame, return_counts=True)
    overlap, frames = np.unique(counts, return_counts=True)
    known = "class_id" in table.column_names and not table["class_id"].null_count
    return {
        "active_seconds": float(len(counts) * hop),
        "events": len(spans(table, hop=hop)) if known else None,
        "overlaps": {str(n): int(many) for n, many in zip(overlap, frames, strict=True)},
        "last_frame": int(frame.max()),
    }


# --- questions and predictions ---------------------------------------------------------------------


def _item_evidence(reading: ItemReading) -> str:
    """What a file of questions or predictions was recognised by."""
    format = reading.format
    if isinstance(format, JsonItems) and reading.rows:
        keys = format.record(reading.rows[0])
        marks = dict.fromkeys(key for mark in (*format.marks, *format.sure) for key in mark.split("|"))
        return f"its first record has {', '.join(key for key in marks if key in keys)}"
    columns, header = getattr(format, "columns", None), reading.origin.get("header")
    if columns and isinstance(header, (list, tuple)):
        return f"its header names {sum(name in header for name in columns)} of {len(columns)} columns"
    return "the keys of its records"


def _items(reading: ItemReading) -> dict[str, Any]:
    """Counts of the rows of one file, and how long their texts are."""
    table = reading.table
    found: dict[str, Any] = {
        "file": reading.path,
        "format": reading.format.name,
        "title": reading.format.title,
        "holds": reading.format.holds,
        "rows": len(table),
        "ids": pc.count_distinct(table["id"]).as_py(),
        "audio_files": pc.count_distinct(pc.list_flatten(table["audio"])).as_py(),
        "tasks": _counts(table["task"]),
    }
    if reading.format.holds == "predictions" or not len(table):
        table = table if "prompt" in table.schema.names else PREDICTION_SCHEMA.empty_table()
        prompts, given = table["prompt"], _texts(table["prediction"])
        found["prompts"] = pc.count_distinct(prompts.filter(_texts(prompts))).as_py()
        found["predictions"] = {"given": pc.sum(given).as_py() or 0, "empty": pc.sum(pc.invert(given)).as_py() or 0}
        return found | {"characters": {"prediction": _lengths(table["prediction"])}}
    for name in ("split", "language", "dataset"):
        found[f"{name}s"] = _counts(table[name])
    found["options"] = _counts(pc.list_value_length(table["options"]).cast(pa.string()))
    known = pc.sum(_texts(table["answer"])).as_py() or 0
    found["answers"] = {"known": known, "hidden": len(table) - known}
    spans = pc.subtract(table["end"], table["start"]).drop_null().to_numpy()
    if len(spans):
        found["seconds"] = {"shortest": spans.min().item(), "mean": spans.mean().item(), "longest": spans.max().item()}
    return found | {"characters": {name: _lengths(table[name]) for name in ("question", "answer")}}


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which rows have a text that is not empty."""
    return pc.fill_null(pc.not_equal(column, ""), False)


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    """How often each value stands, the most frequent first; those that nobody wrote are left out."""
    counts = [(each["values"], each["counts"]) for each in pc.value_counts(column.drop_null()).to_pylist()]
    return dict(sorted(counts, key=lambda pair: -pair[1]))


def _lengths(texts: pa.ChunkedArray) -> dict[str, float] | None:
    """Characters of the texts that are not empty; None where all are."""
    lengths = pc.utf8_length(texts.filter(_texts(texts))).to_numpy()
    if not len(lengths):
        return None
    return {"shortest": int(lengths.min()), "mean": round(float(lengths.mean()), 1), "longest": int(lengths.max())}


#: Most values of a column that are shown to people; json has them all.
_SHOWN = 20


def _items_text(group: dict[str, Any]) -> list[str]:
    """A file of questions or predictions, for people."""
    lines = ["", f"{group['format']}  {group['title']}", f"  because     {printable(group['evidence'])}"]
    lines.append(f"  file        {printable(group['file'])}")
    what = "question" if group["holds"] == "items" else "prediction"
    ids = "each with its own id" if group["ids"] == group["rows"] else plural(group["ids"], "different id")
    prompts = f", {plural(group['prompts'], 'different prompt')}" if group.get("prompts") else ""
    lines.append(f"  rows        {plural(group['rows'], what)}, {ids}{prompts}")
    lines.append(f"  audio       {plural(group['audio_files'], 'different file')}")
    lines += [
        f"  {name:<11} {', '.join(f'{count:,} {state}' for state, count in group[name].items())}"
        for name in ("answers", "predictions")
        if name in group
    ]
    for name in ("tasks", "splits", "languages", "datasets", "options"):
        counts = group.get(name) or {}
        noun = " options" if name == "options" else ""
        for number, (value, count) in enumerate(list(counts.items())[:_SHOWN]):
            lines.append(f"  {name if not number else '':<11} {count:>9,}  {clipped(value)}{noun}")
        if len(counts) > _SHOWN:
            lines.append(f"  {'':<11} {'':>9}  and {len(counts) - _SHOWN:,} more")
    if "seconds" in group:
        lines.append(f"  seconds     {group['seconds']['shortest']:g} to {group['seconds']['longest']:g}, "
                     f"mean {group['seconds']['mean']:.1f}")  # fmt: skip
    for name, found in group["characters"].items():
        if found is not None:
            size = f"{found['shortest']:,} to {found['longest']:,} characters, mean {found['mean']:,.1f}"
            one = found["shortest"] == found["longest"]
            lines.append(f"  {name:<11} {plural(int(found['longest']), 'character') if one else size}")
    return lines


def as_text(description: dict[str, Any]) -> str:
    """A description for people."""
    items = description.get("items", [])
    files = plural(description["files"], "file")
    lines = [printable(f"{description['path']}: {files}")]
    for group in items:
        lines += _items_text(group)
    for group in description["groups"]:
        lines += ["", f"{group['format']}  {group['title']}"]
        lines.append(f"  because     {printable(group['evidence'] or 'no file has a row')}")
        silent = f", {group['silent_clips']:,} of them silent" if group["silent_clips"] else ""
        lines.append(f"  files       {listed(group['files'], 3)}")
        lines.append(f"  clips       {group['clips']:,}{silent}")
        lines.append(f"  rows        {group['rows']:,} with {', '.join(group['columns'])}")
        if "active_seconds" in group:
            events = f"{group['events']:,} events, " if group["events"] is not None else ""
            lines.append(f"  sound       {events}{group['active_seconds']:,.1f} s with at least one source")
            many = ", ".join(f"{n}: {count:,}" for n, count in group["overlaps"].items())
            lines.append(f"  at a time   {many} frames")
        for number, (name, count) in enumerate(group.get("classes", {}).items()):
            lines.append(f"  {'classes' if not number else '':<11} {count:>9,}  {printable(name)}")
    for each in description.get("media", []):
        lines += _media_text(each)
    for doubt in description.get("doubts", ()):
        lines += ["", printable(doubt[:1].upper() + doubt[1:] + ".")]
    if description["findings"]:
        found = ", ".join(f"{code} {count:,}" for code, count in description["findings"].items())
        lines += ["", f"Findings: {found}. seldio validate says where."]
    return "\n".join(lines)


def _media_text(found: dict[str, Any]) -> list[str]:
    """A recording or a video, for people."""
    lines = ["", f"{found['kind']}  {printable(found['type'])}"]
    if found["kind"] == "recording":
        return lines + _sound_text(found)
    lines.append(
        f"  pictures    {found['pictures']:,} of {found['width']} × {found['height']}, {found['rate']:.6g} a second"
    )
    hidden = f"; {found['hidden']:,} more are hidden by an edit list" if found["hidden"] else ""
    lines.append(f"  length      from {found['start']:.3f} to {found['end']:.3f} s{hidden}")
    if "fault" in found:
        lines.append(f"  fault       {printable(found['fault'])}")
    sound = found.get("sound")
    return [*lines, "", f"sound inside  {printable(sound.get('type', ''))}", *_sound_text(sound)] if sound else lines


def _sound_text(found: dict[str, Any]) -> list[str]:
    """Sound, for people: levels are in dB of full scale."""
    lines = []
    if "channels" in found:
        lines += [
            f"  channels    {found['channels']} at {found['rate']:,} Hz",
            f"  length      {found['seconds']:.3f} s ({plural(found['frames'], 'frame')})",
            f"  peak        {_level(found['peak'])} of full scale",
        ]
        for number, each in enumerate(found["by_channel"]):
            peak = f", peak {_level(each['peak'])}" if each["level"] is not None else ""
            lines.append(f"  {'levels' if not number else '':<11} channel {number + 1}: {_level(each['level'])}{peak}")
    if "fault" in found:
        lines.append(f"  fault       {printable(found['fault'])}")
    return lines


def _level(decibels: float | None) -> str:
    return "silence" if decibels is None else f"{round(decibels, 1) + 0.0:.1f} dB"


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
        "distance_unit": UNITS.get(getattr(format, "metre", None) or 0, (None,))[0],
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


def profile_titles() -> list[tuple[str, str]]:
    """All ways of scoring, labels first: name and title."""
    from seldio.scores.seld import profiles as seld
    from seldio.scores.so_bench import profiles as so_bench

    labels = [(profile.name, profile.title) for profile in seld.PROFILES]
    return [*labels, *((profile.name, profile.title) for profile in so_bench.PROFILES), *_OTHER_PROFILES]


_OTHER_PROFILES = (
    ("jasco", "JASCO: best mean over the instructions of an item, judgements read as they are meant"),
    ("jasco-eval.py", "the same, judgements read as JASCO's eval.py reads them"),
    ("ruenvaqa", "ruEnvAQA (MERA Multi): exact match, and letters read out of longer answers"),
    ("mmau", "MMAU: the answer among the options, as its evaluation.py finds it"),
    ("mmar", "MMAR: likewise"),
    ("multiple-choice", "questions with options of any format"),
)
