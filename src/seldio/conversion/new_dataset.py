"""What is in the label files and recordings of a folder, proposed as the ``dataset.toml`` that describes them.

What values and names tell is proposed; what is in no file, such as the direction of azimuths, has to be said.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from seldio.catalogues import Catalogue
from seldio.clock import HOP
from seldio.errors import UsageError
from seldio.files import Entry, Source, open_source, write_bytes
from seldio.files.sources import OWN
from seldio.findings import raise_errors
from seldio.formats import TextFile
from seldio.formats.cells import from_utf16, number_in, numeric
from seldio.formats.dataset_toml import parsed
from seldio.formats.label_csv import COMMA
from seldio.formats.own_dataset import OwnDataset
from seldio.formats.plain_csv import PlainCsv, delimiter_of, first_line
from seldio.media.heard import array_heard
from seldio.rules.collection import probed
from seldio.rules.ignored import why_no_labels
from seldio.schema.column_names import LIKELY, UNIT, plain_title
from seldio.schema.own_columns import FIELDS, GIVEN, ZEROS
from seldio.schema.splits import is_name
from seldio.text import clipped, listed, plural, printable

#: Fields that columns are looked for; a field has the first column that fits.
_LOOKED_FOR = (
    "clip", "onset", "offset", "frame", "class_name", "class_id", "source", "azimuth", "elevation", "distance", "score",
)  # fmt: skip
_UNITS = {"sec": "s", "second": "s", "seconds": "s", "deg": "degrees", "degree": "degrees", "°": "degrees",
          "rad": "radians", "radian": "radians", "meter": "m", "meters": "m", "metre": "m", "metres": "m"}  # fmt: skip
#: The units that are assumed where a column does not name one; of a frame, where it has decimals or is called a time.
_USUAL = {field: units[0] for field, units in FIELDS.items() if units}
_MEANS = {"frames": "label frames", "s": "seconds", "ms": "milliseconds", "m": "metres", "cm": "centimetres",
          "mm": "millimetres"}  # fmt: skip
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
#: Classes of a label column, at most: more are no classes.
_CLASSES = 1000
#: Rows that are shown.
_SHOWN = 3
_WAYS = ("clockwise", "counter-clockwise")


@dataclass(frozen=True)
class SaidOfColumns:
    """What people say, and no file tells."""

    name: str | None = None  # of the dataset; that of the folder by default
    columns: Sequence[str] = ()  # HEADER=FIELD or HEADER=FIELD:UNIT, or HEADER= for none
    azimuth: str | None = None  # clockwise or counter-clockwise
    zero: str = "front"  # where azimuth 0 is
    given: Mapping[str, float] = field(default_factory=dict)  # what is the same of all rows


class UnknownTable(NamedTuple):
    """A label file as text."""

    entry: Entry
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # those as wide as the header
    odd: tuple[int, ...] = ()  # the lines of those that are not


class ProposedColumn(NamedTuple):
    """What a column is proposed to be."""

    header: str
    field: str
    unit: str | None
    values: tuple[str, ...]  # of the cells that are not blank

    def __str__(self) -> str:
        numbers = [float(value) for value in self.values if numeric(value)]
        seen = listed([clipped(value, 30) for value in dict.fromkeys(self.values)], 3)
        if len(numbers) == len(self.values) > 0:
            seen = f"{min(numbers):g} to {max(numbers):g}"
        means = f", {_MEANS.get(self.unit, self.unit)}" if self.unit is not None else ""
        return f"{self.field or 'passed over'}{means}: {seen}"


@dataclass(frozen=True)
class NewDataset:
    """The proposal for a folder of *tables* with equal columns; *said* decides over what is guessed."""

    folder: Path
    tables: Sequence[UnknownTable]
    said: SaidOfColumns
    sound: Mapping[str, Any]  # what all recordings have in common
    splits: Sequence[str]

    @cached_property
    def columns(self) -> list[ProposedColumn]:
        """The columns of the first file, with what they seem to hold in all files."""
        header = self.tables[0].header
        cells = {
            title: tuple(row[at] for table in self.tables for row in table.rows if row[at])
            for at, title in enumerate(header)
        }
        said = _said_of_columns(self.said.columns, header)
        taken = {name for name, _ in said.values()}
        guessed = {
            title: name for name in _LOOKED_FOR if name not in taken
            for title in _best(name, [title for title in header if title not in said], cells)
        }  # fmt: skip
        columns = []
        for title in header:
            name, unit = said.get(title, (guessed.get(title, ""), None))
            columns.append(ProposedColumn(title, name, unit or _unit(name, title, cells[title]), cells[title]))
        return columns

    @property
    def fields(self) -> dict[str, ProposedColumn]:
        """The columns by the fields that they hold."""
        return {column.field: column for column in self.columns if column.field}

    @property
    def classes(self) -> list[str]:
        """The names in the column of classes, sorted, or a name for each number up to the highest."""
        names, numbers = self.fields.get("class_name"), self.fields.get("class_id")
        classes = sorted(set(names.values)) if names else []
        if not names and numbers:
            highest = max((int(value) for value in numbers.values if value.isdecimal()), default=-1)
            classes = [f"class {number}" for number in range(highest + 1)]
        return classes if len(classes) <= _CLASSES else []

    @property
    def hop(self) -> Fraction:
        """Seconds between frames that are given as times: the most frequent step."""
        column = self.fields.get("frame")
        if column is None or column.unit not in ("s", "ms"):
            return HOP
        second = 1000 if column.unit == "ms" else 1
        times = [Fraction(value) / second for value in column.values if _DECIMAL.fullmatch(value)]
        steps = Counter(after - before for before, after in pairwise(times) if after > before)
        return steps.most_common(1)[0][0] if steps else HOP

    @property
    def record(self) -> dict[str, Any]:
        """The dataset file."""
        columns = []
        for column in self.columns:
            keys = {"header": column.header} | ({"field": column.field} if column.field else {})
            if column.unit not in (None, _USUAL.get(column.field)):
                keys["unit"] = str(column.unit)
            if column.field == "azimuth":
                keys["direction"] = self.said.azimuth or "?"  # which the file cannot be written with
                keys |= {"zero": self.said.zero} if self.said.zero != "front" else {}
            columns.append(keys)
        exact = Fraction(str(float(self.hop))) == self.hop
        labels: dict[str, Any] = {"hop": float(self.hop) if exact else str(self.hop)} if self.hop != HOP else {}
        labels |= {"given": dict(self.said.given)} if self.said.given else {}
        described: dict[str, Any] = {"classes": {name: {} for name in self.classes}} if self.classes else {}
        described["labels"] = {**labels, "columns": columns}
        return _record(self.said.name or _name(self.folder), described, self.sound, self.splits)

    @property
    def open_questions(self) -> Iterator[str]:
        """What has to be said before the file can be written, each with the option that says it."""
        header = f"where HEADER is {' or '.join(self.tables[0].header)}"
        if "azimuth" in self.fields and self.said.azimuth is None:
            yield "no file says which way azimuths turn: --azimuth clockwise (90 is right) or counter-clockwise"
        if not {"frame", "onset"} & {*self.fields}:
            yield f"no column seems to be the time: --column HEADER=frame:s, {header}"
        if "onset" in self.fields and not {"offset", "frame"} & {*self.fields}:
            yield f"no column seems to be the end of events, in which onsets need one: --column HEADER=offset, {header}"
        if not {"class_name", "class_id"} & {*self.fields}:
            yield "no column seems to be the class: --column HEADER=class_name"

    def lines(self) -> Iterator[str]:
        """The proposal for people, as comments of a shell script."""
        header = ",".join(self.tables[0].header)
        yield f"# {plural(len(self.tables), 'label file')} with columns that no format has: {header}"
        if odd := [f"{table.entry.path}:{line}" for table in self.tables for line in table.odd]:
            yield f"# {plural(len(odd), 'row')} with more or fewer cells than the header, left out here: {listed(odd)}"
        width = max(len(column.header) for column in self.columns)
        for column in self.columns:
            yield f"#   {column.header:<{width}}  {printable(str(column))}"
        for line in self._read():
            yield f"# {line}"
        if "elevation" not in {*self.fields, *self.said.given}:
            yield "# there is no elevation: --given elevation=0 says that all sources are as high as the microphone"
        if "class_id" in self.fields and "class_name" not in self.fields:
            yield "# no file says which class a number is: write the names into the table classes"
        for question in self.open_questions:
            yield f"# {question}"

    def _read(self) -> Iterator[str]:
        """Yield the first rows of the first file, each beside what the description reads in it."""
        if not {"frame", "onset"} & {*self.fields} or ("onset" in self.fields and "offset" not in self.fields):
            return
        ways = _WAYS if [*self.open_questions] else (self.said.azimuth,)
        for way in ways if "azimuth" in self.fields else (None,):
            record = replace(self, said=replace(self.said, azimuth=way), sound={}).record
            own = OwnDataset(OWN, "", parsed(as_toml(record).encode(), OWN)[0])
            yield f"read {way}:" if len(ways) > 1 and way else "read so:"
            for row in self.tables[0].rows[:_SHOWN]:
                yield f"  {_line(row)}  is  {self._row_read(row, own)}"

    def _row_read(self, row: Sequence[str], own: OwnDataset) -> str:
        text = f"{_line(self.tables[0].header)}\n{_line(row)}\n"
        file = TextFile(self.tables[0].entry.path, self.tables[0].entry.name, "clip", text.encode())
        layout = own.layout(file, raise_errors)
        events = layout.read([file], lambda _: None).table.to_pylist() if layout is not None else []
        if not events:
            return "no event that can be read"
        event, names = events[0], list(own.record.get("classes", ()))
        time = f"frame {event['frame']}" if "frame" in event else f"{event['onset']:g} s"
        name = event.get("class_name") or (
            names[event["class_id"]] if event.get("class_id") is not None and names else ""
        )
        azimuth, distance = event.get("azimuth"), event.get("distance")
        side = "" if azimuth is None else " (left)" if 0 < azimuth < 180 else " (right)" if -180 < azimuth < 0 else ""
        direction = "" if azimuth is None else f"azimuth {azimuth:g}{side}"
        return ", ".join(filter(None, [time, name, direction, "" if distance is None else f"{distance:g} m"]))


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


# --- what is in the folder ------------------------------------------------------------------------------------------


def _tables(catalogue: Catalogue) -> Iterator[UnknownTable]:
    """Yield the tables with a header that are of no known format; lists of words only where there are no labels."""
    known = any(group.format is not None for group in catalogue.of("labels"))
    groups = [group for group in catalogue.of("labels", *(() if known else ("list",))) if group.format is None]
    for entry in sorted((entry for group in groups for entry in group.files), key=lambda entry: entry.name):
        data = entry.read()
        data = text.encode() if (text := from_utf16(data)) is not None else data
        plain = PlainCsv(data, delimiter_of(first_line(data)))
        lines = [(n, line) for n, line in enumerate(plain.data.decode().split("\n"), 1) if line.strip()]
        rows = [(n, tuple(cell.replace(COMMA, ",").strip() for cell in line.split(","))) for n, line in lines]
        header = rows[0][1] if rows else ()
        if len(header) > 1 and not any(map(numeric, header)):
            if twice := [title for title, count in Counter(header).items() if count > 1]:
                raise UsageError(f"{printable(entry.path)}: two columns are called {listed(twice)}: rename one")
            whole = tuple(row for _, row in rows[1:] if len(row) == len(header))
            yield UnknownTable(entry, header, whole, tuple(n for n, row in rows if len(row) != len(header)))


def _alike(tables: Sequence[UnknownTable]) -> list[UnknownTable]:
    """Return the tables with the columns that most look like those of labels, each in the order of the first."""
    kinds: dict[frozenset[str], list[UnknownTable]] = {}
    for table in tables:
        kinds.setdefault(frozenset(table.header), []).append(table)
    titles = {title for name in _LOOKED_FOR for title in LIKELY[name]}
    best = max(
        kinds.values(), key=lambda kind: (sum(plain_title(title) in titles for title in kind[0].header), len(kind))
    )
    places = [[table.header.index(title) for title in best[0].header] for table in best]
    return [
        table._replace(header=best[0].header, rows=tuple(tuple(row[at] for at in place) for row in table.rows))
        for table, place in zip(best, places, strict=True)
    ]


def _sound(catalogue: Catalogue) -> dict[str, Any]:
    """Return what all recordings have in common."""
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


def _splits(files: Iterable[Entry]) -> list[str]:
    """Return the folders of label files that are called like splits."""
    return sorted(filter(is_name, {part for entry in files for part in entry.name.split("/")[:-1]}))


def _name(folder: Path) -> str:
    return re.sub(r"[^\w .-]", "-", folder.resolve().name).strip(" .-") or "dataset"


def _record(name: str, labels: Mapping[str, Any], sound: Mapping[str, Any], splits: Iterable[str]) -> dict[str, Any]:
    record = {"name": name, **labels} | ({"recordings": dict(sound)} if sound else {})
    folders = {split: {"folders": [split]} for split in splits}
    return record | ({"splits": folders} if folders else {})


# --- what columns hold ----------------------------------------------------------------------------------------------


def _said_of_columns(columns: Iterable[str], header: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Return field and unit of the columns that people name."""
    said = {}
    for text in columns:
        title, mark, what = text.rpartition("=")
        name, _, unit = what.partition(":")
        option = f"seldio new --column {clipped(text)}"
        if not mark or title not in header:
            raise UsageError(f"{option}: write HEADER=FIELD, where HEADER is {' or '.join(header)}")
        if name and name not in FIELDS:
            raise UsageError(f"{option}: unknown field {name!r}; choose from {', '.join(FIELDS)}")
        if unit and unit not in FIELDS.get(name, ()):
            units = ", ".join(FIELDS.get(name, ())) or f"none, as {name or 'what is passed over'} has no unit"
            raise UsageError(f"{option}: unknown unit {unit!r}; choose from {units}")
        said[title] = name, unit or None
    return said


def _best(field: str, titles: Sequence[str], cells: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the column that is called like a *field* and holds values of its kind; none or one."""
    words = field in ("clip", "class_name")
    fitting = {
        plain_title(title): title
        for title in reversed(titles) if cells[title] and words != all(map(numeric, cells[title]))
    }  # fmt: skip
    return [fitting[name] for name in LIKELY[field] if name in fitting][:1]


def _unit(field: str, title: str, values: Sequence[str]) -> str | None:
    """Return the unit of a column, as its header names it, or as its values are."""
    match = UNIT.search(title)
    named = match["unit"].lower() if match else re.sub(r"[\W_]+", "", title.lower())
    unit = _UNITS.get(named, named)
    if unit in FIELDS.get(field, ()):
        return unit
    if field == "frame" and ("time" in title.lower() or any("." in value for value in values)):
        return "s"
    return _USUAL.get(field)


# --- TOML ------------------------------------------------------------------------------------------------


def as_toml(record: Mapping[str, Any]) -> str:
    """Return a dataset file: what is short in one line, tables apart."""
    lines = [f"{key} = {_value(value)}" for key, value in record.items() if not isinstance(value, Mapping)]
    for key, table in record.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{key}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _value(text)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n" + "".join(f"  {_value(item)},\n" for item in value) + "]"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _written(record: Mapping[str, Any], folder: Path) -> Path:
    place = folder / OWN
    if place.exists():
        raise UsageError(f"{printable(str(place))} already exists: change it, or move it away")
    write_bytes(place, as_toml(record).encode(), folder)
    return place


# --- the commands ---------------------------------------------------------------------------------------------------


def write_known(path: str, format: str | None = None) -> Path:
    """Write what a folder with labels of known formats is: these, its recordings and its splits.

    Raises:
        UsageError: it is not a folder of such labels, or the file is there.
    """
    with open_source(path, raise_errors) as source:
        if source.kind != "folder" or source.exported:
            raise UsageError(f"{printable(path)} is not a folder of label files")
        catalogue = Catalogue(source, format)
        if not (formats := _known_formats(catalogue)):
            what = f"{printable(path)} holds no labels of a known format"
            raise UsageError(f"{what}: seldio new proposes what their columns are")
        splits = _splits(entry for group in catalogue.of("labels") for entry in group.files)
        labels = {"labels": {"formats": sorted(formats)}}
        return _written(_record(_name(Path(path)), labels, _sound(catalogue), splits), Path(path))


def _known_formats(catalogue: Catalogue) -> Counter[str]:
    """Count the label files of each known format."""
    formats = Counter[str]()
    for group in catalogue.of("labels"):
        if group.format is not None:
            formats[group.format] += len(group.files)
    return formats


def proposed(path: Path, said: Mapping[str, Any], *, write: bool) -> list[str]:
    """Return the lines that propose a ``dataset.toml`` for tables that no format has, or say what the labels are.

    Args:
        path: the folder, or a file of it.
        said: the fields of :class:`seldio.conversion.new_dataset.SaidOfColumns`, numbers as ``FIELD=VALUE``.
        write: whether it is written.

    Raises:
        UsageError: there is no such table, or what is *said* makes no sense.
    """
    if not path.exists():
        raise UsageError(f"no such file or folder: {printable(str(path))}")
    for option, words in (("azimuth", _WAYS), ("zero", (*ZEROS,))):
        if said[option] not in (None, *words):
            raise UsageError(f"--{option} {clipped(said[option])}: choose from {', '.join(words)}")
    given = {}
    for text in said["given"]:
        name, _, value = text.partition("=")
        if name not in GIVEN or number_in(value) is None:
            raise UsageError(f"seldio new --given {clipped(text)}: write FIELD=VALUE, such as elevation=0")
        given[name] = number_in(value)
    with open_source(path, raise_errors) as source:
        if source.archived:
            raise UsageError(f"{printable(str(path))} is an archive: unpack it and name the folder")
        catalogue = Catalogue(source)
        unknown = list(_tables(catalogue))
        if not unknown:
            return _known(path, source, catalogue, write)
        tables = _alike(unknown)
        folder = path if path.is_dir() else path.parent
        new = NewDataset(folder, tables, SaidOfColumns(**{**said, "given": given}), _sound(catalogue),
                         _splits(table.entry for table in tables))  # fmt: skip
        lines, questions = [*new.lines()], [*new.open_questions]
    if write and questions:
        raise UsageError("; ".join(questions))
    if write:
        place = _written(new.record, folder)
        return [f"{printable(str(place))} written. Now: seldio info {shlex.quote(str(path))}"]
    if other := [table.entry.path for table in unknown if frozenset(table.header) != frozenset(tables[0].header)]:
        lines.insert(1, f"# {plural(len(other), 'file')} with other columns, passed over: {listed(other)}")
    ready = [] if questions else ["", f"# run the same command with --write to save this as {OWN}"]
    return [*lines, "", *as_toml(new.record).splitlines(), *ready]


def _known(path: Path, source: Source, catalogue: Catalogue, write: bool) -> list[str]:
    """Return what a folder without own columns holds: labels of known formats, or tables with another suffix."""
    formats = _known_formats(catalogue)
    command = shlex.join(["seldio", "info", str(path), "--write"])
    if formats and path.is_dir():
        if write:
            return [f"{printable(str(write_known(str(path))))} written. Now: seldio info {shlex.quote(str(path))}"]
        counts = [f"{plural(count, 'label file')} of {name}" for name, count in sorted(formats.items())]
        recordings = sum(len(group.files) for group in catalogue.of("recording"))
        held = listed([*counts, *([plural(recordings, "recording")] if recordings else [])])
        return [f"# {held}: known formats, of which no column has to be described", f"# save this as {OWN}:", command]
    nothing = f"{printable(str(path))} has no tables with columns that no format has{why_no_labels(source)}"
    raise UsageError(nothing)
