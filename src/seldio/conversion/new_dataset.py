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
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from seldio.catalogues import Catalogue
from seldio.clock import HOP
from seldio.errors import UsageError
from seldio.files import Entry, Source, open_source, write_bytes
from seldio.files.sources import OWN
from seldio.findings import raise_errors
from seldio.formats import TextFile, stem_of
from seldio.formats.cells import from_utf16, number_in, numeric
from seldio.formats.dataset_toml import parsed
from seldio.formats.label_csv import COMMA
from seldio.formats.own_dataset import OwnDataset
from seldio.formats.plain_csv import PlainCsv, delimiter_of, first_line
from seldio.media.audio import probe_entry
from seldio.media.heard import array_heard
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
#: Classes of a label column, at most: more are no classes.
_CLASSES = 1000
#: Rows that are shown.
_SHOWN = 3


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

    @property
    def known(self) -> int:
        """How many of its columns are called like fields of labels."""
        names = {plain_title(title) for title in self.header}
        return sum(not names.isdisjoint(LIKELY[field]) for field in _LOOKED_FOR)


class ProposedColumn(NamedTuple):
    """What a column is proposed to be."""

    header: str
    field: str | None
    unit: str | None
    values: tuple[str, ...]

    @property
    def keys(self) -> dict[str, str]:
        """The column as the dataset file writes it."""
        keys = {"header": self.header}
        if self.field is not None:
            keys["field"] = self.field
        return keys | ({"unit": self.unit} if self.unit not in (None, _USUAL.get(self.field or "")) else {})

    def __str__(self) -> str:
        numbers = [float(one) for one in self.values if numeric(one)]
        seen = f"{min(numbers):g} to {max(numbers):g}" if len(numbers) == len(self.values) > 0 else listed(
            [clipped(one, 30) for one in dict.fromkeys(self.values)], 3
        )  # fmt: skip
        means = f", {_MEANS.get(self.unit, self.unit)}" if self.unit is not None else ""
        return f"{self.field or 'passed over'}{means}: {seen}"


class NewDataset:
    """The proposal for an open folder; *said* decides over what is guessed.

    Raises:
        UsageError: what is *said* names no column, field or unit.
    """

    def __init__(self, source: Source, said: SaidOfColumns) -> None:
        self.source, self.said = source, said
        catalogue = Catalogue(source)
        found = list(_tables(catalogue))
        #: those with the columns of most label files, in the order of the first; and all others
        self.tables, self.other = _alike(found)
        self.sounds = [entry for one in catalogue.of("recording") for entry in one.files]

    @cached_property
    def columns(self) -> list[ProposedColumn]:
        """The columns of the first file, with what they seem to hold in all files."""
        if not self.tables:
            return []
        first = self.tables[0].header
        cells = [tuple(row[at] for table in self.tables for row in table.rows) for at in range(len(first))]
        told = _told(self.said.columns, first)
        free = [title for title in first if title not in told]
        found = {title: one for one in _LOOKED_FOR for title in _best(one, free, dict(zip(first, cells, strict=True)))}
        taken: set[str] = {name for name, _ in told.values() if name}
        columns = []
        for title, values in zip(first, cells, strict=True):
            name, unit = told.get(title, (found.get(title, ""), None))
            if title not in told and name in taken:
                name = ""
            taken.add(name)
            columns.append(ProposedColumn(title, name or None, unit or _unit(name, title, values), values))
        return columns

    @cached_property
    def classes(self) -> list[str]:
        """The names in the column of classes, sorted."""
        names = {name for one in self.columns if one.field == "class_name" for name in one.values}
        found = sorted(names) or [f"class {number}" for number in self._numbers]
        return found if len(found) <= _CLASSES else []

    @property
    def _numbers(self) -> range:
        cells = [cell for one in self.columns if one.field == "class_id" for cell in one.values if cell.isdecimal()]
        return range(max(map(int, cells), default=-1) + 1)

    @cached_property
    def hop(self) -> Fraction:
        """Seconds between frames that are given as times: the most frequent step."""
        column = next((one for one in self.columns if one.field == "frame" and one.unit in ("s", "ms")), None)
        if column is None:
            return HOP
        times = [
            Fraction(one) / (1000 if column.unit == "ms" else 1) for one in column.values if _DECIMAL.fullmatch(one)
        ]
        steps = Counter(b - a for a, b in pairwise(times) if b > a)
        return steps.most_common(1)[0][0] if steps else HOP

    @cached_property
    def sound(self) -> dict[str, Any]:
        """What all recordings have in common."""
        headers = [probe_entry(entry) for entry in self.sounds]
        rates = {header.rate for header in headers}
        found: dict[str, Any] = {"rate": rates.pop()} if len(rates) == 1 else {}
        if headers and {header.channels for header in headers} == {4}:
            one = array_heard(self.sounds[0])
            if one is not None and (array := one.heard or one.named):
                found = {"arrays": [array], **found}
        return found

    @property
    def splits(self) -> list[str]:
        """Folders of label files that are called like splits."""
        return _splits(table.entry for table in self.tables)

    @property
    def _folder(self) -> Path:
        place = Path(self.source.path)
        return place if place.is_dir() else place.parent

    @property
    def name(self) -> str:
        """Name of the dataset."""
        folder = re.sub(r"[^\w .-]", "-", self._folder.resolve().name).strip(" .-")
        return self.said.name or folder or "dataset"

    @property
    def record(self) -> dict[str, Any]:
        """The dataset file."""
        columns = [one.keys for one in self.columns]
        for keys in columns:
            if keys.get("field") == "azimuth":
                keys |= {"direction": self.said.azimuth or "?"}  # which the file cannot be written with
                keys |= {"zero": self.said.zero} if self.said.zero != "front" else {}
        labels: dict[str, Any] = {"hop": _plain(self.hop)} if self.hop != HOP else {}
        labels |= {"given": dict(self.said.given)} if self.said.given else {}
        found: dict[str, Any] = {"name": self.name}
        found |= {"classes": {one: {} for one in self.classes}} if self.classes else {}
        found |= {"labels": {**labels, "columns": columns}} if columns else {}
        found |= {"recordings": self.sound} if self.sound else {}
        return found | ({"splits": {one: {"folders": [one]} for one in self.splits}} if self.splits else {})

    @property
    def open_questions(self) -> Iterator[str]:
        """What has to be said before the file can be written, each with the option that says it."""
        fields = [one.field for one in self.columns]
        if "azimuth" in fields and self.said.azimuth is None:
            yield "no file says which way azimuths turn: --azimuth clockwise (90 is right) or counter-clockwise"
        if self.columns and not {"frame", "onset"} & {*fields}:
            header = " or ".join(self.tables[0].header)
            yield f"no column seems to be the time: --column HEADER=frame:s, where HEADER is {header}"
        if self.columns and not {"class_name", "class_id"} & {*fields}:
            yield "no column seems to be the class: --column HEADER=class_name"

    def lines(self) -> Iterator[str]:
        """The proposal for people, as comments of a shell script."""
        yield (f"# {plural(len(self.tables), 'label file')} with columns that no format has: "
               f"{','.join(self.tables[0].header)}")  # fmt: skip
        if self.other:
            paths = listed([table.entry.path for table in self.other])
            yield f"# {plural(len(self.other), 'file')} with other columns, passed over: {paths}"
        if odd := [f"{table.entry.path}:{line}" for table in self.tables for line in table.odd]:
            yield f"# {plural(len(odd), 'row')} with more or fewer cells than the header, left out here: {listed(odd)}"
        width = max(len(one.header) for one in self.columns)
        for one in self.columns:
            yield f"#   {one.header:<{width}}  {printable(str(one))}"
        for line in self._read():
            yield f"# {line}"
        if "elevation" not in {one.field for one in self.columns} | {*self.said.given}:
            yield "# there is no elevation: --given elevation=0 says that all sources are as high as the microphone"
        if self._numbers and "class_name" not in {one.field for one in self.columns}:
            yield "# no file says which class a number is: write the names into the table classes"
        for question in self.open_questions:
            yield f"# {question}"

    def _read(self) -> Iterator[str]:
        """The first rows of the first file, as the description reads them."""
        if not {"frame", "onset"} & {one.field for one in self.columns}:
            return
        table = self.tables[0]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([table.header, *table.rows[:_SHOWN]])
        ways = ("clockwise", "counter-clockwise") if [*self.open_questions] else (self.said.azimuth,)
        for way in ways if any(one.field == "azimuth" for one in self.columns) else (None,):
            chosen = NewDataset.__new__(NewDataset)
            chosen.source, chosen.tables, chosen.sounds = self.source, self.tables, []
            chosen.said = SaidOfColumns(self.said.name, self.said.columns, way, self.said.zero, self.said.given)
            own = OwnDataset(OWN, "", parsed(as_toml(chosen.record).encode(), OWN)[0])
            file = TextFile(table.entry.path, table.entry.name, "clip", text.getvalue().encode())
            layout = own.layout(file, raise_errors)
            if layout is None:
                return
            rows = layout.read([file], raise_errors).table
            yield f"read {way}:" if len(ways) > 1 and way else "read so:"
            shown = text.getvalue().splitlines()[1:]
            yield from (f"  {row}  is  {said}" for row, said in zip(shown, _said(rows, own), strict=False))

    def write(self) -> Path:
        """Write the file into the folder.

        Raises:
            UsageError: it is there, or something has to be said first.
        """
        if questions := [*self.open_questions]:
            raise UsageError("; ".join(questions))
        return _written(self.record, self._folder)


def write_known(path: str, format: str | None = None) -> Path:
    """Write what a folder with labels of known formats is: these, its recordings and its splits.

    Raises:
        UsageError: it is not a folder of such labels, or the file is there.
    """
    with open_source(path, raise_errors) as source:
        if source.kind != "folder" or source.exported:
            raise UsageError(f"{printable(path)} is not a folder of label files")
        told = Catalogue(source, format)
        formats = sorted({one.format for one in told.of("labels") if one.format is not None})
        if not formats:
            raise UsageError(
                f"{printable(path)} holds no labels of a known format: seldio new proposes what their columns are"
            )
        new = NewDataset(source, SaidOfColumns())
        names = _splits(entry for group in told.of("labels") for entry in group.files)
        record: dict[str, Any] = {"name": new.name, "labels": {"formats": formats}}
        record |= {"recordings": new.sound} if new.sound else {}
        record |= {"splits": {name: {"folders": [name]} for name in names}} if names else {}
    return _written(record, Path(path))


def _splits(files: Iterable[Entry]) -> list[str]:
    return sorted(filter(is_name, {part for entry in files for part in entry.name.split("/")[:-1]}))


def _written(record: Mapping[str, Any], folder: Path) -> Path:
    place = folder / OWN
    if place.exists():
        raise UsageError(f"{printable(str(place))} already exists: change it, or move it away")
    write_bytes(place, as_toml(record).encode(), folder)
    return place


def _tables(catalogue: Catalogue) -> Iterator[UnknownTable]:
    """The tables with a header that are of no known format; lists of words only where there are no labels."""
    known = any(one.format is not None for one in catalogue.of("labels"))
    unknown = (one for one in catalogue.of("labels", *(() if known else ("list",))) if one.format is None)
    for entry in sorted((entry for one in unknown for entry in one.files), key=lambda entry: entry.name):
        data = entry.read()
        data = text.encode() if (text := from_utf16(data)) is not None else data
        plain = PlainCsv(data, delimiter_of(first_line(data)))
        lines = [(n, line) for n, line in enumerate(plain.data.decode().split("\n"), 1) if line.strip()]
        rows = [(n, tuple(cell.replace(COMMA, ",").strip() for cell in line.split(","))) for n, line in lines]
        header = rows[0][1] if rows else ()
        if len(header) > 1 and not any(map(numeric, header)):
            whole = tuple(row for _, row in rows[1:] if len(row) == len(header))
            yield UnknownTable(entry, header, whole, tuple(n for n, row in rows if len(row) != len(header)))


def _alike(found: Sequence[UnknownTable]) -> tuple[list[UnknownTable], list[UnknownTable]]:
    """The tables with the columns that most look like those of labels, each in the order of the first; and others."""
    kinds: dict[frozenset[str], list[UnknownTable]] = {}
    for table in found:
        kinds.setdefault(frozenset(table.header), []).append(table)
    best = max(kinds.values(), key=lambda some: (some[0].known, len(some)), default=[])
    places = [[table.header.index(title) for title in best[0].header] for table in best]
    ordered = [
        table._replace(header=best[0].header, rows=tuple(tuple(row[at] for at in place) for row in table.rows))
        for table, place in zip(best, places, strict=True)
    ]
    return ordered, [table for table in found if not any(table is one for one in best)]


_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def _told(columns: Iterable[str], header: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Field and unit of the columns that people name."""
    found = {}
    for text in columns:
        title, mark, what = text.rpartition("=")
        name, _, unit = what.partition(":")
        if not mark or title not in header:
            raise UsageError(
                f"seldio new --column {clipped(text)}: write HEADER=FIELD, where HEADER is {' or '.join(header)}"
            )
        if name and name not in FIELDS:
            raise UsageError(
                f"seldio new --column {clipped(text)}: unknown field {name!r}; choose from {', '.join(FIELDS)}"
            )
        found[title] = name, unit or None
    return found


def _best(field: str, titles: Sequence[str], cells: Mapping[str, Sequence[str]]) -> list[str]:
    """The column that is called like a *field* and holds values of its kind; none or one."""
    for pattern in LIKELY[field]:
        for title in titles:
            name = plain_title(title)
            words = not all(map(numeric, cells[title]))
            if name == pattern and bool(cells[title]) and words == (field in ("clip", "class_name")):
                return [title]
    return []


def _unit(field: str, title: str, values: Sequence[str]) -> str | None:
    """The unit of a column, as its header names it, or as its values are."""
    match = UNIT.search(title)
    named = match["unit"].lower() if match else re.sub(r"[\W_]+", "", title.lower())
    unit = _UNITS.get(named, named)
    if unit in FIELDS.get(field, ()):
        return unit
    if field == "frame" and ("time" in title.lower() or any("." in one for one in values)):
        return "s"
    return _USUAL.get(field)


def _said(rows: pa.Table, own: OwnDataset) -> Iterator[str]:
    names = list(own.record.get("classes", ()))
    for row in rows.to_pylist():
        time = f"frame {row['frame']}" if "frame" in row else f"{row['onset']:g} s"
        name = row.get("class_name") or (names[row["class_id"]] if "class_id" in row and names else None)
        azimuth, distance = row.get("azimuth"), row.get("distance")
        side = "" if azimuth is None else " (left)" if 0 < azimuth < 180 else " (right)" if -180 < azimuth < 0 else ""
        parts = [time, name, None if azimuth is None else f"azimuth {azimuth:g}{side}"]
        yield ", ".join(filter(None, [*parts, None if distance is None else f"{distance:g} m"]))


def _plain(value: Fraction) -> float | str:
    return float(value) if Fraction(str(float(value))) == value else str(value)


# --- TOML ------------------------------------------------------------------------------------------------


def as_toml(record: Mapping[str, Any]) -> str:
    """A dataset file: what is short in one line, tables apart."""
    lines = [f"{key} = {_value(value)}" for key, value in record.items() if not isinstance(value, Mapping)]
    for key, table in record.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{key}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _value(text)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n" + "".join(f"  {_value(one)},\n" for one in value) + "]"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def proposed(path: Path, said: Mapping[str, Any], *, write: bool) -> list[str]:
    """The lines that propose a ``dataset.toml`` for tables that no format has.

    Args:
        path: the folder, or a file of it; of an archive, the lines unpack it.
        said: the fields of :class:`seldio.conversion.new_dataset.SaidOfColumns`, numbers as ``FIELD=VALUE``.
        write: whether it is written.

    Raises:
        UsageError: there is no such table, or what is *said* makes no sense.
    """
    if not path.exists():
        raise UsageError(f"no such file or folder: {printable(str(path))}")
    for option, words in (
        ("azimuth", ("clockwise", "counter-clockwise")),
        ("zero", (*ZEROS,)),
    ):
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
            to = str(path.with_name(stem_of(stem_of(path.name))))
            unpack = ["unzip", str(path), "-d", to] if source.kind == "zip" else ["tar", "-xf", str(path), "-C", to]
            made = [] if source.kind == "zip" else [shlex.join(["mkdir", "-p", to])]
            return ["# archives cannot be written to: unpack it first", *made, shlex.join(unpack),
                    shlex.join(["seldio", "new", to])]  # fmt: skip
        found = NewDataset(source, SaidOfColumns(**{**said, "given": given}))
        if not found.tables:
            raise UsageError(
                f"{printable(str(path))} has no tables with columns that no format has: seldio validate says what is "
                "there, and seldio convert makes other labels of it"
            )
        if write:
            place = found.write()
            return [f"{printable(str(place))} written. Now: seldio info {shlex.quote(str(path))}"]
        ready = [] if [*found.open_questions] else ["", f"# run the same command with --write to save this as {OWN}"]
        return [*found.lines(), "", *as_toml(found.record).splitlines(), *ready]
