"""Propose the ``dataset.toml`` of a folder: what its columns hold, each shown row beside what is read of it.

What names and values tell is proposed; what is in no file, such as the direction of azimuths, is asked for.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from seldio.catalogues import Catalogue
from seldio.clock import HOP
from seldio.errors import UsageError
from seldio.files import Entry, Source, open_source, write_bytes
from seldio.files.names import suffix_of
from seldio.files.sources import OWN
from seldio.findings import raise_errors
from seldio.formats import TextFile
from seldio.formats.cells import from_utf16, number_in, numeric
from seldio.formats.label_csv import COMMA
from seldio.formats.own_dataset import OwnDataset, parsed
from seldio.formats.plain_csv import bare, delimiter_of, first_line, text_lines
from seldio.media.intensity import array_heard
from seldio.rules.collection import probed, why_no_labels
from seldio.schema.column_names import LIKELY, UNIT, plain_title
from seldio.schema.events import origin_of
from seldio.schema.own_columns import FIELDS, GIVEN, ZEROS
from seldio.schema.splits import is_name
from seldio.text import as_toml, clipped, listed, plural, printable

#: Fields that columns are looked for, in this order; a column holds the last one that fits.
_GUESSED = (
    "clip",
    "onset",
    "offset",
    "duration",
    "frame",
    "class_name",
    "class_id",
    "source",
    "azimuth",
    "elevation",
    "distance",
    "score",
)
#: Beginnings of the names of units, longest first, in titles of columns.
_UNITS = {"sample": "samples", "sec": "s", "deg": "degrees", "°": "degrees", "rad": "radians", "met": "m"}
_UNIT_WORDS = {
    "frames": "label frames", "s": "seconds", "ms": "milliseconds", "m": "metres", "cm": "centimetres",
    "mm": "millimetres",
}  # fmt: skip
_SAMPLES = re.compile(r"(?i)[\s_-]+(?P<unit>samples?)$")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_MOST_CLASSES = 1000
_SHOWN_ROWS = 3
_WAYS = ("clockwise", "counter-clockwise")


class UnknownTable(NamedTuple):
    """A table of no known format: its rows by title, and the lines that are narrower or wider than its header."""

    entry: Entry
    header: tuple[str, ...]
    rows: tuple[dict[str, str], ...]
    odd_lines: tuple[int, ...]


class ProposedColumn(NamedTuple):
    """A column with the field and unit that it seems to hold, and its cells that are not blank."""

    header: str
    field: str
    unit: str | None
    cells: tuple[str, ...]

    def __str__(self) -> str:
        numbers = [float(cell) for cell in self.cells if numeric(cell)]
        seen = listed([clipped(cell, 30) for cell in dict.fromkeys(self.cells)], 3)
        if len(numbers) == len(self.cells) > 0:
            seen = f"{min(numbers):g} to {max(numbers):g}"
        unit = f", {_UNIT_WORDS.get(self.unit, self.unit)}" if self.unit is not None else ""
        return f"{self.field or 'passed over'}{unit}: {seen}"


# --- what is in the folder ------------------------------------------------------------------------------------------


def _tables(catalogue: Catalogue) -> Iterator[UnknownTable]:
    labels = [entry for group in catalogue.of("labels") if group.format is None for entry in group.files]
    if all(group.format is None for group in catalogue.of("labels")):
        others = [entry for group in catalogue.of("list", "other") for entry in group.files]
        labels += [entry for entry in others if suffix_of(entry.name) in ("csv", "tsv")]
    for entry in sorted(labels, key=lambda entry: entry.name):
        data = entry.read()
        data = text.encode() if (text := from_utf16(data)) is not None else data
        delimiter = delimiter_of(first_line(data))
        plain = enumerate((bare(line, delimiter) for line in text_lines(data)), 1)
        lines = [(number, line) for number, line in plain if line.strip()]
        rows = [(number, tuple(cell.replace(COMMA, ",").strip() for cell in line.split(","))) for number, line in lines]
        header = rows[0][1] if rows else ()
        if len(header) > 1 and not any(map(numeric, header)):
            if twice := [title for title, count in Counter(header).items() if count > 1]:
                raise UsageError(f"{printable(entry.path)}: two columns are called {listed(twice)}: rename one")
            whole = tuple(dict(zip(header, row, strict=True)) for _, row in rows[1:] if len(row) == len(header))
            yield UnknownTable(entry, header, whole, tuple(number for number, row in rows if len(row) != len(header)))


def _recordings(catalogue: Catalogue) -> dict[str, Any]:
    entries = [entry for group in catalogue.of("recording") for entry in group.files]
    headers = []
    for entry in entries:
        header, fault = probed(entry)
        if header is None:
            raise UsageError(f"{printable(entry.path)} cannot be read ({fault}): put it right or take it away")
        headers.append(header)
    rates, channels = {header.rate for header in headers}, {header.channels for header in headers}
    heard = array_heard(entries[0]) if channels == {4} else None
    array = (heard.heard or heard.named) if heard is not None else None
    return ({"arrays": [array]} if array else {}) | ({"rate": rates.pop()} if len(rates) == 1 else {})


def _record(folder: Path, name: str | None, entries: Iterable[Entry], **tables: Any) -> dict[str, Any]:
    name = name or re.sub(r"[^\w .-]", "-", folder.resolve().name).strip(" .-") or "dataset"
    splits = sorted(filter(is_name, {part for entry in entries for part in entry.name.split("/")[:-1]}))
    tables["splits"] = {split: {"folders": [split]} for split in splits}
    return {"name": name} | {key: table for key, table in tables.items() if table}


# --- what columns hold ----------------------------------------------------------------------------------------------


def _columns(tables: Sequence[UnknownTable], options: Iterable[str]) -> list[ProposedColumn]:
    """Return what the columns hold: what *options* say, or else what titles and cells tell."""
    header = tables[0].header
    cells = {title: tuple(row[title] for table in tables for row in table.rows if row[title]) for title in header}
    columns: dict[str, tuple[str, str | None]] = {}
    for text in options:
        title, _, value = text.rpartition("=")
        field, _, unit = value.partition(":")
        units = ("", *FIELDS.get(field, ()))
        for what, word, choices in (("header", title, header), ("field", field, ("", *FIELDS)), ("unit", unit, units)):
            if word not in choices:
                choose = f"choose from {', '.join(filter(None, choices)) or 'none'}, and write HEADER=FIELD:UNIT"
                raise UsageError(f"seldio new --column {clipped(text)}: unknown {what} {word!r}; {choose}")
        columns[title] = field, unit or None
    taken, guessed = {field for field, _ in columns.values()}, dict[str, str]()
    for field in _GUESSED:
        if field in taken or (field == "duration" and "offset" in {*taken, *guessed.values()}):
            continue
        words = field in ("clip", "class_name")
        titles = {
            plain_title(_SAMPLES.sub("", title)): title
            for title in reversed(header)
            if title not in columns and cells[title] and words != all(map(numeric, cells[title]))
        }
        guessed |= {titles[name]: field for name in [name for name in LIKELY[field] if name in titles][:1]}
    proposed_columns = []
    for title in header:
        field, given_unit = columns.get(title, (guessed.get(title, ""), None))
        likely_unit = given_unit or _unit(field, title, cells[title])
        proposed_columns.append(ProposedColumn(title, field, likely_unit, cells[title]))
    return proposed_columns


def _unit(field: str, title: str, cells: Sequence[str]) -> str | None:
    match = _SAMPLES.search(title) or UNIT.search(title)
    named = match["unit"].lower() if match else re.sub(r"[\W_]+", "", title.lower())
    unit = next((unit for start, unit in _UNITS.items() if named.startswith(start)), named)
    if unit in FIELDS.get(field, ()):
        return unit
    if field == "frame" and ("time" in title.lower() or any("." in value for value in cells)):
        return "s"
    return next(iter(FIELDS.get(field, ())), None)


# --- what is said of it ---------------------------------------------------------------------------------------------


def _questions(record: Mapping[str, Any], columns: Sequence[ProposedColumn]) -> Iterator[str]:
    """Yield what has to be said before the file can be written, each with the option that says it."""
    fields = {column.field for column in columns}
    header = f"where HEADER is {' or '.join(column.header for column in columns)}"
    if any(column.get("direction") == "?" for column in record["labels"]["columns"]):
        yield "no file says which way azimuths turn: --azimuth clockwise (90 is right) or counter-clockwise"
    if not {"frame", "onset"} & fields:
        yield f"no column seems to be the time: --column HEADER=frame:s, {header}"
    if "onset" in fields and not {"offset", "duration", "frame"} & fields:
        choices = f"--column HEADER=offset or HEADER=duration, {header}"
        yield f"no column seems to be the end of events, in which onsets need one: {choices}"
    if any(column.unit == "samples" for column in columns) and "rate" not in record.get("recordings", {}):
        yield "no recording says how many samples a second has: --given rate=48000"
    if not {"class_name", "class_id"} & {*fields, *record["labels"].get("given", ())}:
        yield "no column seems to be the class: --column HEADER=class_name, or --given class_name=NAME of all rows"


def _lines(
    record: Mapping[str, Any], columns: Sequence[ProposedColumn], tables: Sequence[UnknownTable], way: str | None
) -> Iterator[str]:
    """Yield the proposal for people, as comments of a shell script."""
    yield f"# {plural(len(tables), 'label file')} with columns that no format has: {','.join(tables[0].header)}"
    if odd := [f"{table.entry.path}:{line}" for table in tables for line in table.odd_lines]:
        yield f"# {plural(len(odd), 'row')} with more or fewer cells than the header, left out here: {listed(odd)}"
    width = max(len(column.header) for column in columns)
    for column in columns:
        yield f"#   {column.header:<{width}}  {printable(str(column))}"
    fields, text, questions = {column.field for column in columns}, as_toml(record), [*_questions(record, columns)]
    unsaid = 'direction = "?"'
    ways = _WAYS if unsaid in text else (way or "",)
    for turn in ways if len(questions) == len(ways) - 1 else ():
        yield f"# read {turn}:" if len(ways) > 1 else "# read so:"
        dataset = OwnDataset(OWN, "", parsed(text.replace(unsaid, unsaid.replace("?", turn)).encode(), OWN)[0])
        for row in tables[0].rows[:_SHOWN_ROWS]:
            yield f"#   {_csv_line(row.values())}  is  {_reading(tables[0], row, dataset)}"
    if "elevation" not in {*fields, *record["labels"].get("given", ())}:
        yield "# there is no elevation: --given elevation=0 says that all sources are as high as the microphone"
    if "class_id" in fields and "class_name" not in fields:
        yield "# no file says which class a number is: write the names into the table classes"
    yield from (f"# {question}" for question in questions)


def _reading(table: UnknownTable, row: Mapping[str, str], dataset: OwnDataset) -> str:
    text = f"{_csv_line(table.header)}\n{_csv_line(row.values())}\n"
    file = TextFile(table.entry.path, table.entry.name, "", text.encode())
    layout = dataset.layout(file, raise_errors)
    events = layout.read([file], lambda _: None).table if layout is not None else None
    if events is None or not events.num_rows:
        clips = [file.clip for file in origin_of(events).files if file.clip] if events is not None else []
        return f"{clips[0]}, without events" if clips else "no event that can be read"
    event, names = events.to_pylist()[0], [*dataset.record.get("classes", ())]
    time = f"frame {event['frame']}" if "frame" in event else f"{event['onset']:g} s"
    number, azimuth, distance = event.get("class_id"), event.get("azimuth"), event.get("distance")
    name = event.get("class_name") or (names[number] if number is not None and number < len(names) else "")
    side = "" if azimuth is None else " (left)" if 0 < azimuth < 180 else " (right)" if -180 < azimuth < 0 else ""
    direction = "" if azimuth is None else f"azimuth {azimuth:g}{side}"
    return ", ".join(filter(None, [time, name, direction, "" if distance is None else f"{distance:g} m"]))


def _csv_line(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


# --- the commands ---------------------------------------------------------------------------------------------------


def write_known(path: str, format: str | None = None) -> Path:
    """Write the formats, recordings and splits of a folder; raise UsageError if it has no known labels."""
    with open_source(path, raise_errors) as source:
        if source.kind != "folder" or source.exported:
            raise UsageError(f"{printable(path)} is not a folder of label files")
        catalogue = Catalogue(source, format)
        if not (formats := _known_formats(catalogue)):
            nothing = f"{printable(path)} holds no labels of a known format"
            raise UsageError(f"{nothing}: seldio new proposes what their columns are")
        entries = [entry for group in catalogue.of("labels") for entry in group.files]
        labels = {"formats": sorted(formats)}
        record = _record(Path(path), None, entries, labels=labels, recordings=_recordings(catalogue))
    return _written(record, Path(path))


def _known_formats(catalogue: Catalogue) -> Counter[str]:
    return Counter(str(group.format) for group in catalogue.of("labels") if group.format for _ in group.files)


def _written(record: Mapping[str, Any], folder: Path) -> Path:
    place = folder / OWN
    if place.exists():
        raise UsageError(f"{printable(str(place))} already exists: change it, or move it away")
    write_bytes(place, as_toml(record).encode(), folder)
    return place


def proposed(path: Path, said: Mapping[str, Any], *, write: bool) -> list[str]:
    """Return the lines that propose a ``dataset.toml`` for tables that no format has, or say what the labels are.

    Args:
        path: the folder, or a file of it.
        said: the options: name, columns (``HEADER=FIELD:UNIT``), azimuth, zero, given (``FIELD=VALUE``).
        write: whether it is written.

    Raises:
        UsageError: there is no such table, or what is *said* makes no sense.
    """
    if not path.exists():
        raise UsageError(f"no such file or folder: {printable(str(path))}")
    for option, choices in (("azimuth", _WAYS), ("zero", (*ZEROS,))):
        if said[option] not in (None, *choices):
            raise UsageError(f"--{option} {clipped(said[option])}: choose from {', '.join(choices)}")
    folder = path if path.is_dir() else path.parent
    with open_source(path, raise_errors) as source:
        if source.archived:
            raise UsageError(f"{printable(str(path))} is an archive: unpack it and name the folder")
        catalogue = Catalogue(source)
        every = [*_tables(catalogue)]
        if not every:
            return _known(path, source, catalogue, write)
        # the tables with the columns that most look like those of labels
        kinds: dict[frozenset[str], list[UnknownTable]] = {}
        for table in every:
            kinds.setdefault(frozenset(table.header), []).append(table)
        titles = {title for field in _GUESSED for title in LIKELY[field]}
        likeliest = max(kinds, key=lambda kind: (sum(plain_title(title) in titles for title in kind), len(kinds[kind])))
        tables = kinds[likeliest]
        columns = _columns(tables, said["columns"])
        record = _proposal(folder, tables, columns, _recordings(catalogue), said)
    lines, questions = [*_lines(record, columns, tables, said["azimuth"])], [*_questions(record, columns)]
    if write and questions:
        raise UsageError("; ".join(questions))
    if write:
        place = _written(record, folder)
        return [f"{printable(str(place))} written. Now: seldio info {printable(shlex.quote(str(path)))}"]
    if others := [table.entry.path for table in every if frozenset(table.header) != likeliest]:
        lines.insert(1, f"# {plural(len(others), 'file')} with other columns, passed over: {listed(others)}")
    ready = [] if questions else ["", f"# run the same command with --write to save this as {OWN}"]
    return [*lines, "", *as_toml(record).splitlines(), *ready]


def _proposal(
    folder: Path,
    tables: Sequence[UnknownTable],
    columns: Sequence[ProposedColumn],
    recordings: dict[str, Any],
    said: Mapping[str, Any],
) -> dict[str, Any]:
    given: dict[str, Any] = {}  # the values that all rows share, and the rate of all recordings
    choices = (*(field for field in GIVEN if field != "class_id"), "class_name", "rate")
    for text in said["given"]:
        name, _, written = text.partition("=")
        value = written if name == "class_name" else number_in(written)
        if name not in choices or value in (None, ""):
            fields_of_all = ", ".join(choices)
            raise UsageError(f"seldio new --given {clipped(text)}: write FIELD=VALUE, where FIELD is {fields_of_all}")
        given[name] = value
    recordings |= {"rate": int(given.pop("rate"))} if "rate" in given else {}
    turn = {"direction": said["azimuth"] or "?"} | ({"zero": said["zero"]} if said["zero"] != "front" else {})
    keys = []
    for column in columns:
        unit = {"unit": column.unit} if column.unit not in (None, *FIELDS.get(column.field, ())[:1]) else {}
        field = {"field": column.field} if column.field else {}
        keys.append({"header": column.header} | field | unit | (turn if column.field == "azimuth" else {}))
    # the names in the column of classes, sorted, or a name for each number up to the highest
    fields = {column.field: column for column in columns if column.field}
    names, numbers = fields.get("class_name"), fields.get("class_id")
    classes = sorted(set(names.cells)) if names else []
    if not names and numbers:
        highest = max((int(cell) for cell in numbers.cells if cell.isdecimal()), default=-1)
        classes = [f"class {number}" for number in range(min(highest, _MOST_CLASSES) + 1)]
    classes = classes if len(classes) <= _MOST_CLASSES else []
    if "class_name" in given:
        classes, given["class_id"] = [given.pop("class_name")], 0
    labels = {**_hop(fields.get("frame")), **({"given": given} if given else {}), "columns": keys}
    entries, named = [table.entry for table in tables], {name: dict[str, Any]() for name in classes}
    return _record(folder, said["name"], entries, classes=named, labels=labels, recordings=recordings)


def _hop(frame: ProposedColumn | None) -> dict[str, Any]:
    """Return the most frequent step between frames that are given as times, unless it is the default."""
    if frame is None or frame.unit not in ("s", "ms"):
        return {}
    times = [Fraction(cell) / (1000 if frame.unit == "ms" else 1) for cell in frame.cells if _DECIMAL.fullmatch(cell)]
    steps = Counter(after - before for before, after in pairwise(times) if after > before)
    hop = steps.most_common(1)[0][0] if steps else HOP
    exact = Fraction(str(float(hop))) == hop
    return {} if hop == HOP else {"hop": float(hop) if exact else str(hop)}


def _known(path: Path, source: Source, catalogue: Catalogue, write: bool) -> list[str]:
    """Describe a folder without own columns: labels of known formats, or tables with another suffix."""
    formats = _known_formats(catalogue)
    if not formats or not path.is_dir():
        nothing = f"{printable(str(path))} has no tables with columns that no format has"
        raise UsageError(nothing + why_no_labels(source))
    if write:
        place = write_known(str(path))
        return [f"{printable(str(place))} written. Now: seldio info {printable(shlex.quote(str(path)))}"]
    counts = [f"{plural(count, 'label file')} of {name}" for name, count in sorted(formats.items())]
    recordings = sum(len(group.files) for group in catalogue.of("recording"))
    contents = listed([*counts, *([plural(recordings, "recording")] if recordings else [])])
    command = shlex.join(["seldio", "info", str(path), "--write"])
    return [f"# {contents}: known formats, of which no column has to be described", f"# to save it as {OWN}:", command]
