"""Describe sources and formats, for people and for json."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seldio import benchmarks
from seldio.catalogues.parts import Part, resolved
from seldio.check.facts import item_counts, label_counts
from seldio.check.labels import LabelGroup
from seldio.check.validation import Examined, examine
from seldio.errors import SeldioError
from seldio.files.entries import plain_file
from seldio.files.names import media_type
from seldio.files.sources import Place, path_of
from seldio.findings import Severity
from seldio.formats import Format, LabelFormat
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
    known = find(shown) if format is None and not os.path.lexists(shown) else None
    if known is not None:
        return {"about": [dict(known.record)]}
    examined = examine(path, format=format, rows=False, facts=True)
    return description(examined, shown, named=format is not None) | _media(shown)


def _media(path: str) -> dict[str, Any]:
    """Describe a single recording or video; empty for any other source, and for what cannot be read."""
    kind = media_type(path)
    if kind is None or not Path(path).is_file():
        return {}
    from seldio.media.contents import contents

    try:
        return {"media": [contents(plain_file(path), kind)]}
    except SeldioError:
        return {}  # seldio validate says why


def description(examined: Examined, path: str, named: bool = False) -> dict[str, Any]:
    """Return the result of :func:`describe` for an examined source; *named*: whether its format was named."""
    unread = {finding.path for finding in examined.report.findings if finding.severity is Severity.ERROR}
    groups = [_group(labels, unread) for labels in examined.labels]
    items = [_items(part, rows, named) for part, rows in examined.questions if rows.part is not None]
    report = examined.report
    found = {"path": path, "files": report.files, "findings": report.summary()["by_rule"], "groups": groups}
    doubts = [finding.message for finding in report.findings if finding.code == "SYN902"]
    unknown = [(finding.hint or "", finding.path) for finding in report.findings if finding.code == "SYN901"]
    doubts += [f"{hint} ({file})" for hint, file in unknown if hint.startswith("if these are ")]
    hints = (part for hint, _ in unknown for part in hint.split("; "))
    doubts += [f"no known format: {hint}" for hint in dict.fromkeys(hints) if hint.startswith("seldio new ")]
    own = [one.facts for one in examined.described.datasets] if examined.described else []
    known = [] if any("license" in one for one in own) else list(_recognized(examined, items))
    about = [one for one in known if one["complete"] or not own]
    found |= ({"datasets": own} if own else {}) | ({"about": about} if about else {})
    found["catalogue"] = [
        {name: getattr(one, name) for name in ("kind", "format")}
        | {"files": [entry.path for entry in one.files]}
        | {name: getattr(one, name) for name in ("evidence", "certainty", "doubt")}
        for one in examined.catalogue
    ]
    return found | ({"items": items} if items else {}) | ({"doubts": doubts} if doubts else {})


def _recognized(examined: Examined, items: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield facts about the dataset or benchmark that the source is.

    A tree is recognized by its names, and is ``complete`` where no labels lack, in the folders and the format of the
    dataset; questions are recognized by their format and number, which does not show that they are the published ones.
    """
    tree = examined.tree
    if tree is not None and tree.layout != LOOSE.name and (known := find(tree.layout)) is not None:
        held = {clip for part, clip in tree.holdings if part == "dev" and any(place.inside for place in tree.places)}
        tops = {top for place in tree.places for top in place.name.split("/")[:-1]}
        lacking = {top: name for top, name in known.record.get("archives", {}).items() if top not in tops}
        ours = all(labels.format.name in tree.row.dialects for labels in examined.labels)
        complete = bool(tree.row.recordings) and tree.row.recordings <= held and ours
        yield _brief(known, complete) | ({"lacking": lacking} if lacking else {})
    for group in items:
        if group["holds"] == "items" and benchmarks.find(group["format"]) is not None:
            known = find(group["format"])
            if known is not None and group["ids"] == group["rows"] and group["rows"] in known.sizes:
                yield _brief(known, False)


def _brief(known: KnownDataset, complete: bool) -> dict[str, Any]:
    """Return the facts to show about a recognized dataset."""
    keys = ("name", "title", "license", "license_says", "download")
    called = [*known.record.get("aliases", ()), known.name][0]  # a name that a folder hardly has
    found = {key: known.record[key] for key in keys if key in known.record}
    return found | {"called": called, "complete": complete}


def _group(labels: LabelGroup, unread: Container[str]) -> dict[str, Any]:
    """Return what is said of labels; a clip without rows is silent unless errors kept its rows from being read."""
    format, parts = labels.format, labels.reading.parts
    content = resolved(format, labels.reading.table)  # a table has the classes and the clock of its rows
    table = labels.reading.table
    return {
        "evidence": "chosen with --format" if labels.named else labels.evidence,
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


def _said(value: Any) -> str:
    return listed(value, _SHOWN) if isinstance(value, list) else f"{value:,} Hz" if isinstance(value, int) else value


#: Most values of a column that are shown to people; json has them all.
_SHOWN = 20


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
    for name, found in group["characters"].items():
        if found is not None:
            size = f"{found['shortest']:,} to {found['longest']:,} characters, mean {found['mean']:,.1f}"
            one = found["shortest"] == found["longest"]
            lines.append(f"  {name:<11} {plural(int(found['longest']), 'character') if one else size}")
    return lines


def as_text(description: dict[str, Any]) -> str:
    """Return a description for people."""
    items, about = description.get("items", []), description.get("about", [])
    if "path" not in description:
        return about_page(KnownDataset(about[0]))
    files = plural(description["files"], "file")
    lines = [printable(f"{description['path']}: {files}")]
    for own in description.get("datasets", ()):
        lines += ["", printable(f"{own['name']}  {own.get('title') or 'a dataset that says what it is'}")]
        lines += [f"  {name:<11} {printable(_said(own[name]))}" for name in own if name not in ("name", "title")]
    for one in about:
        lines += _about_text(one)
    for group in items:
        lines += _items_text(group)
    for group in description["groups"]:
        lines += ["", f"{group['format']}  {group['title']}"]
        lines.append(f"  evidence    {printable(group['evidence'] or 'no file has a row')}")
        silent = f", {group['silent_clips']:,} of them silent" if group["silent_clips"] else ""
        lines.append(f"  files       {listed([_below(name, description['path']) for name in group['files']], 3)}")
        lines.append(f"  clips       {group['clips']:,}{silent}")
        lines.append(f"  rows        {group['rows']:,} with {', '.join(group['columns'])}")
        if "active_seconds" in group:
            events = f"{group['events']:,} events, " if group["events"] is not None else ""
            lines.append(f"  activity    {events}{group['active_seconds']:,.1f} s with at least one source")
            lines.append(f"  polyphony   {_polyphony(group['overlaps'])}")
        if "maps" in group:
            lines.append(f"  maps        {_maps_text(group['maps'])}")
        for number, (name, count) in enumerate(group.get("classes", {}).items()):
            lines.append(f"  {'classes' if not number else '':<11} {count:>9,}  {printable(name)}")
    for each in description.get("media", []):
        lines += _media_text(each)
    if passed := [one for one in description.get("catalogue", ()) if one["kind"] in ("list", "other")]:
        lines += ["", "passed over"]
    for one in passed:
        names = listed([_below(name, description["path"]) for name in one["files"]], 3)
        doubt = f"; {one['doubt']}" * bool(one["doubt"])
        lines.append(printable(f"  {plural(len(one['files']), 'file')} {one['evidence']}: {names}{doubt}"))
    for doubt in description.get("doubts", ()):
        lines += ["", printable(doubt[:1].upper() + doubt[1:] + ".")]
    if description["findings"]:
        found = ", ".join(f"{code} ({count:,})" for code, count in description["findings"].items())
        lines += ["", f"Findings: {found}. Run seldio validate to see where."]
    return "\n".join(lines)


def _maps_text(maps: dict[str, Any]) -> str:
    if not maps["rows"]:
        return "none has a point"
    rows, peak = maps["rows"], maps["peak"]
    size = f"{maps['points'] / rows:,.1f} points in {maps['polygons'] / rows:,.1f} polygons on average"
    ends = f"peaks {peak['lowest']:g} to {peak['highest']:g}, mean {peak['mean']:.3g}"
    return f"{rows:,}, with {size}, at most {plural(maps['most_points'], 'point')}; {ends}"


def _below(name: str, top: str) -> str:
    return name.removeprefix(top.rstrip("/") + "/")


def _polyphony(overlaps: dict[str, int]) -> str:
    parts = [f"{count:,} with {number}" for number, count in overlaps.items()]
    for number, count in [*overlaps.items()][:1]:
        parts[0] = f"{plural(count, 'frame')} with {plural(int(number), 'source')}"
    return ", ".join(parts)


def _media_text(found: dict[str, Any]) -> list[str]:
    lines = ["", f"{found['kind']}  {printable(found['type'])}"]
    if found["kind"] == "recording":
        return lines + _sound_text(found)
    mean = " on average (variable)" if found.get("variable") else ""
    lines.append(
        f"  frames      {found['pictures']:,} of {found['width']} × {found['height']} at {found['rate']:.6g} fps{mean}"
    )
    if found.get("rotation"):
        lines.append(f"  rotated     by {found['rotation']}° counter-clockwise when shown; the size is that as shown")
    lines.append(f"  length      from {found['start']:.3f} to {found['end']:.3f} s")
    if "fault" in found:
        lines.append(f"  fault       {printable(found['fault'])}")
    return lines


def _sound_text(found: dict[str, Any]) -> list[str]:
    lines = []
    if "channels" in found:
        lines += [
            f"  channels    {found['channels']} at {found['rate']:,} Hz",
            *([f"  array       {_array(**found['array'])}"] if "array" in found else []),
            f"  length      {found['seconds']:.3f} s ({plural(found['frames'], 'frame')})",
            f"  peak        {_level(found['peak'])}",
        ]
        for number, each in enumerate(found["by_channel"]):
            peak = f", peak {_level(each['peak'])}" if each["level"] is not None else ""
            lines.append(f"  {'levels' if not number else '':<11} channel {number + 1}: {_level(each['level'])}{peak}")
    if "fault" in found:
        lines.append(f"  fault       {printable(found['fault'])}")
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


def _about_text(one: dict[str, Any]) -> list[str]:
    lines = ["", f"{one['name']}  {one['title']}"]
    lines += [] if one["complete"] else ["  by its names, and only if its files are the published ones:"]
    lines += [f"  {name:<11} {one[key]}" for key, name in _SAID.items() if key in one]
    lines.append(f"  citation    seldio cite {one['name']}")
    if lacking := one.get("lacking"):
        lines.append(f"  not here    {', '.join(f'{top} ({name})' for top, name in lacking.items())}")
    return [*lines, f"  more        seldio info {one['called']}"]


def about_page(known: KnownDataset) -> str:
    """Return all that is known of a dataset or benchmark, for people."""
    record = known.record
    lines = [f"{known.name}  {known.title}", ""]
    lines += [f"{name:<12} {record[key]}" for key, name in _SAID.items() if key in record]
    lines += [f"{'code':<12} {address}" for address in record.get("code", ())]
    lines.append(f"{'citation':<12} seldio cite {known.name}")
    lines += ["", *(f"{name:<12} {text}" for name, text in record.get("facts", {}).items())]
    if parts := record.get("made_from"):
        lines += ["", "Made from"]
        lines += [f"  {one['name']}: {one['license']}{_after(one.get('address'))}" for one in parts]
    if spec := next((row for row in DATASETS if row.name == known.name and row.splits), None):
        lines += ["", "Splits"]
        for split in (one for one in spec.splits if one.rooms):
            lines.append(f"  {split.name} {plural(len(split.clips), 'clip')} in {plural(len(split.rooms), 'room')}")
    if classes := record.get("classes"):
        lines += ["", "Classes, with names in AudioSet"]
        for number, one in enumerate(classes):
            held = f" ({one['holds']})" if "holds" in one else ""
            lines.append(f"  {number:>2}  {one['name']}: {'; '.join(one['audioset'])}{held}")
    for results in known.results:
        note = f"; {results.note}" if results.note else ""
        lines += ["", f"{results.title}{note}", *(f"  {_result(results, row)}" for row in results.rows)]
    for one in known.lists:
        lines += ["", one["title"]]
        for row in one["rows"]:
            values = (row[name] for name in one["columns"])
            lines.append("  " + ", ".join(f"{value:,}" if isinstance(value, int) else value for value in values))
    return "\n".join(lines)


def _after(address: str | None) -> str:
    return f", {address}" if address else ""


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
    if not isinstance(format, LabelFormat):
        return {
            "name": format.name,
            "aliases": list(format.aliases),
            "title": format.title,
            "role": format.holds,
            "suffix": format.suffix,
            "carries": list(format.carries),
            "needs": list(format.needs),
            "answers": getattr(format, "answers", None),
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
