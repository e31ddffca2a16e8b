"""Describe sources and formats, for people and for json."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seldio import benchmarks
from seldio.catalogues.parts import Part, resolved
from seldio.check.facts import item_counts, label_counts
from seldio.check.validation import Examined, examine
from seldio.errors import SeldioError
from seldio.files.entries import plain_file
from seldio.files.names import media_type
from seldio.files.sources import Place, path_of
from seldio.findings import Severity
from seldio.formats import Format, LabelFormat, LabelReading
from seldio.formats.about import KnownDataset, Results, find
from seldio.formats.base import UNITS
from seldio.formats.datasets import DATASETS, LOOSE
from seldio.formats.label_csv import Dialect
from seldio.text import clipped, listed, plural, printable
from seldio.vocabularies import short, vocabulary

if TYPE_CHECKING:
    from seldio.check.items import CheckedItems


def describe(path: Place, format: str | None = None) -> dict[str, Any]:
    """Return formats with their evidence, clips, events, classes and overlaps of a source; of questions their counts.

    Of a name that no file has, what is known of the dataset or benchmark called so. Of a recording: channels, rate,
    length, peak and levels (dB of full scale) by channel; of a video its pictures.

    Raises:
        UsageError: nothing has that name, or no such format exists.
    """
    shown = path_of(path)
    dataset = find(shown) if format is None and not os.path.lexists(shown) else None
    if dataset is not None:
        return {"about": [dict(dataset.record)]}
    examined = examine(path, format=format, judge=False, facts=True)
    described = description(examined, shown, named=format is not None)
    if (kind := media_type(shown)) is not None and Path(shown).is_file():  # a single recording or video
        from seldio.media.contents import contents

        with suppress(SeldioError):  # seldio validate says why it cannot be read
            described["media"] = [contents(plain_file(shown), kind)]
    return described


def description(examined: Examined, path: str, named: bool = False) -> dict[str, Any]:
    """Return the result of :func:`describe` for an examined source; *named*: whether its format was named."""
    unread = {finding.path for finding in examined.report.findings if finding.severity is Severity.ERROR}
    groups = [_group(reading, unread) for reading in examined.labels]
    items = [_items(part, rows, named) for part, rows in examined.questions if rows.part is not None]
    report = examined.report
    described = {"path": path, "files": report.files, "findings": report.summary()["by_rule"], "groups": groups}
    doubts = [finding.message for finding in report.findings if finding.code == "SYN902"]
    unknown = [(finding.hint or "", finding.path) for finding in report.findings if finding.code == "SYN901"]
    doubts += [f"{hint} ({file})" for hint, file in unknown if hint.startswith("if these are ")]
    hints = (part for hint, _ in unknown for part in hint.split("; "))
    doubts += [f"no known format: {hint}" for hint in dict.fromkeys(hints) if hint.startswith("seldio new ")]
    datasets = [dataset.facts for dataset in examined.described.datasets] if examined.described else []
    if datasets:
        described["datasets"] = datasets
    if not any("license" in facts for facts in datasets):
        about = [facts for facts in _recognized(examined, items) if facts["complete"] or not datasets]
        described |= {"about": about} if about else {}
    described["catalogue"] = [
        {name: getattr(group, name) for name in ("kind", "format")}
        | {"files": [entry.path for entry in group.files]}
        | {name: getattr(group, name) for name in ("evidence", "certainty", "doubt")}
        for group in examined.catalogue
    ]
    return described | ({"items": items} if items else {}) | ({"doubts": doubts} if doubts else {})


def _recognized(examined: Examined, items: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield facts about the dataset or benchmark that the source is.

    A tree is recognized by its names, and is ``complete`` where no labels lack, in the folders and the format of the
    dataset; questions are recognized by their format and number, which does not show that they are the published ones.
    """
    tree = examined.tree
    if tree is not None and tree.layout != LOOSE.name and (dataset := find(tree.layout)) is not None:
        clips = {clip for part, clip in tree.holdings if part == "dev" and any(place.inside for place in tree.places)}
        tops = {top for place in tree.places for top in place.name.split("/")[:-1]}
        lacking = {top: name for top, name in dataset.record.get("archives", {}).items() if top not in tops}
        ours = all(reading.format.name in tree.row.dialects for reading in examined.labels)
        complete = bool(tree.row.recordings) and tree.row.recordings <= clips and ours
        yield _brief(dataset, complete) | ({"lacking": lacking} if lacking else {})
    for group in items:
        if group["holds"] == "items" and benchmarks.find(group["format"]) is not None:
            dataset = find(group["format"])
            if dataset is not None and group["ids"] == group["rows"] and group["rows"] in dataset.sizes:
                yield _brief(dataset, False)


def _brief(dataset: KnownDataset, complete: bool) -> dict[str, Any]:
    """Return the facts to show about a recognized dataset."""
    keys = ("name", "title", "license", "license_says", "download")
    called = [*dataset.record.get("aliases", ()), dataset.name][0]  # a name that a folder hardly has
    facts = {key: dataset.record[key] for key in keys if key in dataset.record}
    return facts | {"called": called, "complete": complete}


def _group(reading: LabelReading, unread: Container[str]) -> dict[str, Any]:
    """Return what is said of labels; a clip without rows is silent unless errors kept its rows from being read."""
    format, parts, table = reading.format, reading.parts, reading.table
    content = resolved(format, table)  # a table has the classes and the clock of its rows
    return {
        "evidence": "chosen with --format" if reading.named else reading.evidence,
        "format": format.name,
        "title": format.title,
        "vocabulary": short(content.vocabulary),
        "files": list(dict.fromkeys(part.file.path for part in parts)),
        "clips": len(parts),
        "silent_clips": sum(part.readable and not part.rows and part.file.path not in unread for part in parts),
        "rows": table.num_rows,
        "columns": [name for name in table.column_names if name != "clip"],
    } | label_counts(table, content.hop, content.vocabulary)


def _items(part: Part, rows: CheckedItems, named: bool) -> dict[str, Any]:
    """Return counts of the rows of one file, and how long their texts are."""
    format = part.format
    assert format is not None
    assert rows.part is not None
    return {
        "evidence": "chosen with --format" if named else rows.evidence,
        "file": part.files[rows.file].entry.path,
        "format": format.name,
        "title": format.title,
        "holds": format.holds,
    } | item_counts(rows.part.table, format.holds)


#: Most values of a column that are shown to people; json has them all.
_SHOWN = 20


def as_text(description: dict[str, Any]) -> str:
    """Return a description for people."""
    items, about = description.get("items", []), description.get("about", [])
    if "path" not in description:
        return about_page(KnownDataset(about[0]))
    path = description["path"]
    lines = [printable(f"{path}: {plural(description['files'], 'file')}")]
    for facts in description.get("datasets", ()):
        lines += ["", printable(f"{facts['name']}  {facts.get('title') or 'a dataset that says what it is'}")]
        for name, value in facts.items():
            if name not in ("name", "title"):
                text = f"{value:,} Hz" if isinstance(value, int) else value
                text = listed(value, _SHOWN) if isinstance(value, list) else text
                lines.append(f"  {name:<11} {printable(text)}")
    for facts in about:
        lines += _about_text(facts)
    for group in items:
        lines += _items_text(group)
    for group in description["groups"]:
        lines += _labels_text(group, path)
    for media in description.get("media", []):
        lines += ["", f"{media['kind']}  {printable(media['type'])}", *_media_text(media)]
        lines += [f"  fault       {printable(media['fault'])}"] if "fault" in media else []
    if passed_over := [group for group in description.get("catalogue", ()) if group["kind"] in ("list", "other")]:
        lines += ["", "passed over"]
    for group in passed_over:
        names = listed([_below(name, path) for name in group["files"]], 3)
        doubt = f"; {group['doubt']}" * bool(group["doubt"])
        lines.append(printable(f"  {plural(len(group['files']), 'file')} {group['evidence']}: {names}{doubt}"))
    for doubt in description.get("doubts", ()):
        lines += ["", printable(doubt[:1].upper() + doubt[1:] + ".")]
    if description["findings"]:
        by_rule = ", ".join(f"{code} ({count:,})" for code, count in description["findings"].items())
        lines += ["", f"Findings: {by_rule}. Run seldio validate to see where."]
    return "\n".join(lines)


def _below(name: str, top: str) -> str:
    return name.removeprefix(top.rstrip("/") + "/")


def _items_text(group: dict[str, Any]) -> list[str]:
    lines = ["", f"{group['format']}  {group['title']}", f"  evidence    {printable(group['evidence'])}"]
    lines.append(f"  file        {printable(group['file'])}")
    what = "question" if group["holds"] == "items" else "prediction"
    ids = ", each with its own id" if group["ids"] == group["rows"] else f", {plural(group['ids'], 'different id')}"
    prompts = f", {plural(group['prompts'], 'different prompt')}" if group.get("prompts") else ""
    lines.append(f"  rows        {plural(group['rows'], what)}{ids if group['rows'] > 1 else ''}{prompts}")
    if files := group["audio_files"]:
        lines.append(f"  audio       {plural(files, 'different file') if files > 1 else '1 file'}")
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
        spans = group["seconds"]
        lines.append(f"  seconds     {spans['shortest']:g} to {spans['longest']:g}, mean {spans['mean']:.1f}")
    for name, lengths in group["characters"].items():
        if lengths is not None:
            size = f"{lengths['shortest']:,} to {lengths['longest']:,} characters, mean {lengths['mean']:,.1f}"
            if lengths["shortest"] == lengths["longest"]:
                size = plural(int(lengths["longest"]), "character")
            lines.append(f"  {name:<11} {size}")
    return lines


def _labels_text(group: dict[str, Any], path: str) -> list[str]:
    lines = ["", f"{group['format']}  {group['title']}"]
    lines.append(f"  evidence    {printable(group['evidence'] or 'no file has a row')}")
    lines.append(f"  files       {listed([_below(name, path) for name in group['files']], 3)}")
    silent = f", {group['silent_clips']:,} of them silent" if group["silent_clips"] else ""
    lines.append(f"  clips       {group['clips']:,}{silent}")
    lines.append(f"  rows        {group['rows']:,} with {', '.join(group['columns'])}")
    if "active_seconds" in group:
        events = f"{group['events']:,} events, " if group["events"] is not None else ""
        lines.append(f"  activity    {events}{group['active_seconds']:,.1f} s with at least one source")
        overlaps = [f"{count:,} with {number}" for number, count in group["overlaps"].items()]
        for number, count in [*group["overlaps"].items()][:1]:
            overlaps[0] = f"{plural(count, 'frame')} with {plural(int(number), 'source')}"
        lines.append(f"  polyphony   {', '.join(overlaps)}")
    if maps := group.get("maps"):
        size = "none has a point"
        if rows := maps["rows"]:
            peak = maps["peak"]
            size = f"{rows:,}, with {maps['points'] / rows:,.1f} points in {maps['polygons'] / rows:,.1f} polygons on "
            size += f"average, at most {plural(maps['most_points'], 'point')}; "
            size += f"peaks {peak['lowest']:g} to {peak['highest']:g}, mean {peak['mean']:.3g}"
        lines.append(f"  maps        {size}")
    for number, (name, count) in enumerate(group.get("classes", {}).items()):
        lines.append(f"  {'classes' if not number else '':<11} {count:>9,}  {printable(name)}")
    return lines


def _media_text(media: dict[str, Any]) -> list[str]:
    if media["kind"] != "recording":
        size, mean = f"{media['width']} × {media['height']}", " on average (variable)" if media.get("variable") else ""
        lines = [f"  frames      {media['pictures']:,} of {size} at {media['rate']:.6g} fps{mean}"]
        if turn := media.get("rotation"):
            lines.append(f"  rotated     by {turn}° counter-clockwise when shown; the size is that as shown")
        return [*lines, f"  length      from {media['start']:.3f} to {media['end']:.3f} s"]
    if "channels" not in media:
        return []
    lines = [f"  channels    {media['channels']} at {media['rate']:,} Hz"]
    if "array" in media:
        lines.append(f"  array       {_array(**media['array'])}")
    lines.append(f"  length      {media['seconds']:.3f} s ({plural(media['frames'], 'frame')})")
    lines.append(f"  peak        {_level(media['peak'])}")
    for number, channel in enumerate(media["by_channel"]):
        peak = f", peak {_level(channel['peak'])}" if channel["level"] is not None else ""
        lines.append(f"  {'levels' if not number else '':<11} channel {number + 1}: {_level(channel['level'])}{peak}")
    return lines


def _array(named: str | None, heard: str | None) -> str:
    if heard is None:
        return "cannot be told from the sound" + (f"; its name says {named.upper()}" if named is not None else "")
    if named in (None, heard):
        return f"sounds like {heard.upper()}"
    return f"sounds like {heard.upper()}, but its name says {str(named).upper()}: one of them is wrong"


def _level(decibels: float | None) -> str:
    return "silence" if decibels is None else f"{round(decibels, 1) + 0.0:.1f} dBFS"


# --- datasets and benchmarks -----------------------------------------------------------------------

#: What is said of a dataset in a line each, with what it is called.
_SAID = {"license_says": "licence", "doi": "doi", "download": "download", "page": "page"}


def _about_text(facts: dict[str, Any]) -> list[str]:
    lines = ["", f"{facts['name']}  {facts['title']}"]
    lines += [] if facts["complete"] else ["  by its names, and only if its files are the published ones:"]
    lines += [f"  {name:<11} {facts[key]}" for key, name in _SAID.items() if key in facts]
    lines.append(f"  citation    seldio cite {facts['name']}")
    if lacking := facts.get("lacking"):
        lines.append(f"  not here    {', '.join(f'{top} ({name})' for top, name in lacking.items())}")
    return [*lines, f"  more        seldio info {facts['called']}"]


def about_page(dataset: KnownDataset) -> str:
    """Return all that is known of a dataset or benchmark, for people."""
    record = dataset.record
    lines = [f"{dataset.name}  {dataset.title}", ""]
    lines += [f"{name:<12} {record[key]}" for key, name in _SAID.items() if key in record]
    lines += [f"{'code':<12} {address}" for address in record.get("code", ())]
    lines.append(f"{'citation':<12} seldio cite {dataset.name}")
    lines += ["", *(f"{name:<12} {text}" for name, text in record.get("facts", {}).items())]
    if parts := record.get("made_from"):
        lines += ["", "Made from"]
        for part in parts:
            address = f", {part['address']}" if part.get("address") else ""
            lines.append(f"  {part['name']}: {part['license']}{address}")
    if spec := next((row for row in DATASETS if row.name == dataset.name and row.splits), None):
        lines += ["", "Splits"]
        for split in spec.splits:
            if split.rooms:
                rooms = plural(len(split.rooms), "room")
                lines.append(f"  {split.name} {plural(len(split.clips), 'clip')} in {rooms}")
    if classes := record.get("classes"):
        lines += ["", "Classes, with names in AudioSet"]
        for number, label in enumerate(classes):
            holds = f" ({label['holds']})" if "holds" in label else ""
            lines.append(f"  {number:>2}  {label['name']}: {'; '.join(label['audioset'])}{holds}")
    for results in dataset.results:
        note = f"; {results.note}" if results.note else ""
        lines += ["", f"{results.title}{note}", *(f"  {_result(results, row)}" for row in results.rows)]
    for table in dataset.lists:
        lines += ["", table["title"]]
        for row in table["rows"]:
            values = (row[name] for name in table["columns"])
            lines.append("  " + ", ".join(f"{value:,}" if isinstance(value, int) else value for value in values))
    return "\n".join(lines)


def _result(results: Results, row: Mapping[str, Any]) -> str:

    def shown(value: Any, unit: str) -> str:
        number, *ends = value if isinstance(value, list) else [value]
        interval = f" [{ends[0]:g}, {ends[1]:g}]" if ends else ""
        return f"{number:g}{interval}{' %' if unit == '%' else unit}"

    scores = (f"{name} {shown(row[name], unit)}" for name, unit in results.columns.items() if name in row)
    return f"{row['system']}{' (official baseline)' if row.get('baseline') else ''}: {', '.join(scores)}"


# --- formats ---------------------------------------------------------------------------------------


def format_record(format: Format) -> dict[str, Any]:
    """Return a format for json."""
    record = {"name": format.name, "aliases": list(format.aliases), "title": format.title}
    carries = {"carries": list(format.carries), "needs": list(format.needs)}
    about = {"source": format.source, "note": format.note}
    if not isinstance(format, LabelFormat):
        answers = {"answers": getattr(format, "answers", None)}
        return record | {"role": format.holds, "suffix": format.suffix} | carries | answers | about
    columns = [f"{part.field}:{part.kind}" for part in format.columns] if isinstance(format, Dialect) else []
    record |= {"role": format.role, "years": format.years, "suffix": format.suffix, "columns": columns}
    scales = {
        "vocabulary": format.vocabulary,
        "hop_seconds": float(format.hop),
        "distance_unit": UNITS.get(getattr(format, "metre", None) or 0, (None,))[0],
    }
    return record | carries | scales | about


def format_page(format: Format) -> str:
    """Return a format for people."""
    from seldio.schema.events import COLUMNS

    lines, fields = [f"{format.name}  {format.title}", ""], list(COLUMNS)
    if not isinstance(format, LabelFormat):
        from seldio.formats.items import ANSWERS, ItemFormat
        from seldio.schema.qa import Item, Prediction

        fields = list((Item if format.holds == "items" else Prediction).model_fields)
        lines.append(f"holds       {format.holds}")
        if isinstance(format, ItemFormat) and format.answers is not None:
            lines.append(f"answers     {ANSWERS[format.answers]}")
    else:
        record, names = format_record(format), vocabulary(format.vocabulary)
        if isinstance(format, Dialect):
            head = format.header or ",".join(part.field for part in format.columns)
            lines.append(f"columns     {head}{'' if format.header else '  (no header line)'}")
        unit = f", distance in {record['distance_unit']}" if record["distance_unit"] else ""
        lines.append(f"frames      {record['hop_seconds'] * 1000:g} ms{unit}")
        lines.append(f"classes     {len(names)} of {names.name}: {names.title}")
    lines.append(f"carries     {', '.join(format.carries)}")
    if lacking := [name for name in fields if name not in format.carries]:
        lines.append(f"lacks       {', '.join(lacking)}")
    if format.aliases:
        lines.append(f"also called {', '.join(format.aliases)}")
    lines += [f"source      {format.source}"] if format.source else []
    return "\n".join([*lines, *(["", format.note] if format.note else [])])
