"""A dataset that says what it is: ``dataset.toml`` in its root, or in a folder above what was named.

It is a file like those that seldio knows challenge years from (:mod:`seldio.schema.dataset_file`), found in the data.
What it says decides over every guess; what is wrong with it, or contradicts it, is a finding (DAT).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from seldio.errors import InvalidData, UsageError
from seldio.files import Entry, Source, open_source
from seldio.files.sources import OWN as NAME
from seldio.files.sources import own_files
from seldio.findings import Finding, Sink, raise_errors
from seldio.formats import get, named, stem_of
from seldio.formats.base import LabelFormat, Place, TextFile, TextLines
from seldio.formats.datasets import clip_range
from seldio.formats.detect import detect, width_and_header
from seldio.formats.label_csv import COMMA, Dialect, column
from seldio.formats.plain_csv import cells_of, delimiter_of, first_line
from seldio.reader_rules import READER_RULES
from seldio.schema.own_columns import FIELDS, UNITS, ZEROS
from seldio.text import clipped, from_toml, listed, printable
from seldio.vocabularies import own_list

if TYPE_CHECKING:
    from seldio.schema.dataset_file import KeyFault


@dataclass(frozen=True)
class OwnDataset:
    """A dataset as its ``dataset.toml`` describes it."""

    path: str  # of the file, as shown to people
    folder: str  # what it speaks of: names below a source's root that begin so, all if empty
    record: Mapping[str, Any]  # its keys, checked
    below: str = ""  # the folder of the dataset that the source is
    text: str = ""  # the file itself
    elsewhere: bool = False  # whether the files lie elsewhere, such as predictions that are compared with its labels

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.record["name"])

    @cached_property
    def vocabulary(self) -> str | None:
        """Return its classes as :func:`seldio.vocabularies.vocabulary` takes them; None where it names none."""
        return own_list(self.name, self._spellings.values()) if self._spellings else None

    @property
    def _spellings(self) -> dict[str, list[str]]:
        declined = {name: keys["forms"][:1] for name, keys in self.record.get("russian", {}).items()}
        classes = self.record.get("classes", {}).items()
        return {name: list(dict.fromkeys([name, *more.values(), *declined.get(name, ())])) for name, more in classes}

    @property
    def labels(self) -> Mapping[str, Any]:
        """Return how it says that its labels are written."""
        return self.record.get("labels", {})  # type: ignore[no-any-return]

    def layout(self, file: TextFile, sink: Sink) -> LabelFormat | None:
        """Return the format of a label file, as far as the dataset decides it; None where the content has to tell."""
        if self.labels.get("columns"):
            return _in_order(self._said, self.vocabulary, file, self.path, sink, elsewhere=self.elsewhere)
        formats = self.labels.get("formats", ())
        if self.elsewhere or len(formats) != 1 or not isinstance(format := get(formats[0]), Dialect):
            return None
        return self.format if width_and_header(file.data)[0] in (0, len(format.columns)) else None

    @property
    def _said(self) -> dict[str, Any]:
        keys = {key: value for key, value in self.labels.items() if key != "formats"}
        title = f"{self.record.get('title') or self.name}, in the columns that {NAME} names"
        return {"name": self.name, "title": title, "rate": self.record.get("recordings", {}).get("rate"), **keys}

    @property
    def format(self) -> LabelFormat | None:
        """Return its columns in the order that it names, or the only format that it names; None where neither is."""
        if columns := self.labels.get("columns"):
            header = ",".join(str(column["header"]) for column in columns) if columns[0].get("header") else None
            return _dialect(self._said, self.vocabulary, header)
        formats = self.labels.get("formats", ())
        format = get(formats[0]) if len(formats) == 1 else None
        return format if format is None or self.vocabulary is None else replace(format, vocabulary=self.vocabulary)

    def clips(self, split: str) -> frozenset[str]:
        """Return the clips that a split lists."""
        return frozenset[str]().union(*map(clips_of, self.record["splits"][split].get("clips", ())))

    def place(self, split: str) -> Place:
        """Return where the file describes a split."""
        return TomlPlaces(self.text).at(("splits", split))

    def splits(self, name: str) -> list[str]:
        """Return the splits that a file belongs to, by its folders and its clip's name; more than one is a fault."""
        *folders, last = (self.below + name.removeprefix(self.folder)).split("/")
        clip = stem_of(last)
        return [
            split
            for split, keys in self.record.get("splits", {}).items()
            if {*folders} & {*keys.get("folders", ())}
            or ("pattern" in keys and re.fullmatch(keys["pattern"], clip))
            or any(clip in clips_of(clips) for clips in keys.get("clips", ()))
        ]

    @property
    def facts(self) -> dict[str, Any]:
        """Return its facts for ``seldio info``."""
        record = {key: self.record[key] for key in ("name", "title", "license", "cite") if key in self.record}
        sound = self.record.get("recordings", {})
        more = {
            "classes": list(self.record.get("classes", ())),
            "splits": list(self.record.get("splits", ())),
            "columns": [str(column.get("header", "")) for column in self.labels.get("columns", ())],
            "formats": self.labels.get("formats"),
            "arrays": sound.get("arrays"),
            "rate": sound.get("rate"),
        }
        return {"file": self.path, **record, **{key: value for key, value in more.items() if value}}


class ClassNoun(NamedTuple):
    """A class of a dataset in Russian sentences."""

    names: tuple[str, ...]  # in all languages
    gender: str  # empty where the dataset does not say how the noun is declined
    forms: tuple[str, ...]


@dataclass(frozen=True)
class OwnDatasets:
    """The descriptions of the datasets in a source."""

    datasets: Sequence[OwnDataset] = ()
    broken: Sequence[str] = ()  # the folders of those that do not say it right, which is a finding

    def __bool__(self) -> bool:
        return bool(self.datasets or self.broken)

    def unread(self, name: str) -> bool:
        """Return whether a file is of a dataset that does not say right what it is: nothing can be said of it."""
        dataset = self.of(name)
        depth = -1 if dataset is None else len(dataset.folder)
        return any(name.startswith(folder) and depth < len(folder) for folder in self.broken)

    def layouts(self, files: Iterable[TextFile], sink: Sink) -> Iterator[tuple[LabelFormat, list[TextFile], str]]:
        """Yield the formats that datasets decide, each with its files and who says so."""
        groups: dict[tuple[str, str, str], tuple[LabelFormat, list[TextFile], str]] = {}
        for file in files:
            if (dataset := self.of(file.name)) is not None and (layout := dataset.layout(file, sink)) is not None:
                key = (dataset.path, layout.name, layout.own)
                groups.setdefault(key, (layout, [], f"{dataset.path} says so"))[1].append(file)
        yield from groups.values()

    def classes(
        self, format: LabelFormat, files: Iterable[TextFile], sink: Sink, *, named: bool = False
    ) -> Iterator[tuple[LabelFormat, list[TextFile]]]:
        """Yield a format that was told otherwise, or *named* by people, with the classes of each file's dataset."""
        groups: dict[str | None, list[TextFile]] = {}
        for file in files:
            dataset = self.of(file.name)
            labels = dataset.labels if dataset is not None and not dataset.elsewhere else {}
            formats = labels.get("formats", ())
            said = bool(formats or labels.get("columns"))
            if dataset is not None and said and not named and format.role == "label" and format.name not in formats:
                message = f"the labels are read as {format.name}, which is not what {dataset.path} says"
                sink(READER_RULES["DAT201"].at(file.path, message, _MEND))
            groups.setdefault(dataset.vocabulary if dataset is not None else None, []).append(file)
        for classes, group in groups.items():
            yield format if classes is None or format.role == "table" else replace(format, vocabulary=classes), group

    def for_other_files(self) -> OwnDatasets | None:
        """Return the same for files that lie elsewhere; None of several datasets: nothing tells which is meant."""
        if len(self.datasets) != 1:
            return None
        return OwnDatasets((replace(self.datasets[0], folder="", below="", elsewhere=True),))

    def array(self, name: str) -> Literal["foa", "mic"] | None:
        """Return the array of a recording with four channels; None where no dataset says it."""
        dataset = self.of(name)
        said = dataset.record.get("recordings", {}).get("arrays", []) if dataset is not None else []
        return "foa" if said == ["foa"] else "mic" if said == ["mic"] else None

    @property
    def nouns(self) -> tuple[ClassNoun, ...]:
        """Return the classes as nouns of Russian sentences."""
        return tuple(
            ClassNoun(tuple(names), keys.get("gender", ""), tuple(keys.get("forms", ())))
            for dataset in self.datasets
            for name, names in dataset._spellings.items()
            for keys in [dataset.record.get("russian", {}).get(name, {})]
        )

    def split(self, name: str) -> str | None:
        """Return the split of a file; None where no dataset says it."""
        dataset = self.of(name)
        return next(iter(dataset.splits(name)), None) if dataset is not None else None

    def of(self, name: str) -> OwnDataset | None:
        """Return the dataset that a file is of: that of the nearest folder."""
        datasets = (dataset for dataset in self.datasets if name.startswith(dataset.folder))
        return max(datasets, key=lambda dataset: len(dataset.folder), default=None)


def in_file(path: str) -> LabelFormat:
    """Return the format of a dataset file; raise UsageError if it has none, InvalidData if it is wrong."""
    with open_source(path, raise_errors) as source:
        dataset = _read(source.entries[0], "", "", raise_errors) if source.single and source.entries else None
    if dataset is None or (format := dataset.format) is None:
        raise UsageError(f"{printable(path)} says neither columns nor one format of labels")
    return format


def given(
    format: LabelFormat, datasets: OwnDatasets | None, files: Sequence[TextFile], sink: Sink
) -> Iterator[tuple[LabelFormat, list[TextFile]]]:
    """Yield a format that people name for *files*: its columns in the order of each, or with its dataset's classes."""
    if not format.own:
        yield from datasets.classes(format, files, sink, named=True) if datasets else [(format, [*files])]
        return
    groups: dict[str, tuple[LabelFormat, list[TextFile]]] = {}
    for file in files:
        layout = _in_order(json.loads(format.own), format.vocabulary, file, NAME, sink) or format
        groups.setdefault(layout.own, (layout, []))[1].append(file)
    yield from groups.values()


def _in_order(
    said: Mapping[str, Any], vocabulary: str | None, file: TextFile, path: str, sink: Sink, *, elsewhere: bool = False
) -> Dialect | None:
    """Return the layout of a file with the columns of a dataset in the order of its header; None if they differ."""
    columns = said["columns"]
    if not columns[0].get("header") or not file.data.strip():  # a silent clip may have no header either
        fits = not elsewhere or (width_and_header(file.data)[0] == len(columns) and _unknown(file))
        return _dialect(said, vocabulary, None) if fits else None
    first = first_line(file.data)
    columns_by_header = {str(column["header"]).strip().lower(): column for column in columns}
    cells = cells_of(first, delimiter_of(first, columns_by_header))
    names = [cell.value.strip() for cell in cells]
    present = {name.lower() for name in names} & columns_by_header.keys()
    lacking = [
        str(column["header"])
        for name, column in columns_by_header.items()
        if name not in present and column.get("field")
    ]
    if 2 * len(present) < len(columns_by_header) or (elsewhere and lacking and not _unknown(file)):
        return None
    if lacking:
        message = f"no column {listed(lacking)}, which {path} names"
        hint = f"the columns are {listed(names, 12)}"
        sink(READER_RULES["DAT201"].at(file.path, message, hint, 1, 1, first, first))
    for name, cell in zip(names, cells, strict=True):
        if name.lower() not in columns_by_header:
            message = f"column {clipped(name, 40)} is ignored: {path} does not name it"
            hint = "add it to labels.columns, without a field if labels do without it"
            sink(READER_RULES["DAT202"].at(file.path, message, hint, 1, cell.start + 1, name, first))
    columns_in_order = [columns_by_header.get(name.lower(), {}) for name in names]
    timed = {"frame", "onset"} & {column.get("field") for column in columns_in_order}
    header = ",".join(cell.value.replace(",", COMMA) for cell in cells)
    return _dialect({**said, "columns": columns_in_order}, vocabulary, header) if timed else None


def _unknown(file: TextFile) -> bool:
    return file.told is None and not detect([file]).candidates


def _dialect(said: Mapping[str, Any], vocabulary: str | None, header: str | None) -> Dialect:
    columns = [_column(number, keys, said.get("rate") or 1) for number, keys in enumerate(said["columns"])]
    return Dialect(
        name=said["name"],
        title=said["title"],
        role="label",
        vocabulary=vocabulary or "starss",
        header=header,
        columns=tuple(columns),
        hop=Fraction(str(said.get("hop", "1/10"))),
        clip_frames=said.get("clip_frames"),
        metre=1,
        given=said.get("given", {}),
        own=json.dumps({**said, "header": header}, ensure_ascii=False),
        repairable=False,
        clips_by="rows" if any(column.field == "clip" for column in columns) else "name",
    )


_KINDS = {"clip": "name", "class_id": "int", "source": "int", "class_name": "name", "onscreen": "flag"}


def _column(number: int, keys: Mapping[str, Any], rate: int) -> column:
    field, unit = keys.get("field"), keys.get("unit")
    if field is None:
        return column(f"#{number + 1}", keys.get("kind", "text"))
    timed = field == "frame" and unit not in (None, "frames")
    usual = "int" if field == "frame" and not timed else "whole" if unit == "samples" else "real"
    scale = UNITS[unit or "frames"] * (-1.0 if keys.get("direction") == "clockwise" else 1.0)
    scale /= rate if unit == "samples" else 1
    zero, kind = ZEROS[keys.get("zero", "front")], keys.get("kind") or _KINDS.get(field) or usual
    return column("offset" if field == "duration" else field, kind, scale, zero, timed, field == "duration")


def described(source: Source, sink: Sink) -> OwnDatasets:
    """Return the descriptions of the datasets in a source; wrong files are reported and ignored."""
    datasets = [(folder, _read(entry, folder, below, sink)) for entry, folder, below in own_files(source)]
    broken = [folder for folder, dataset in datasets if dataset is None]
    return OwnDatasets(tuple(dataset for _, dataset in datasets if dataset is not None), broken)


def _read(entry: Entry, folder: str, below: str, sink: Sink) -> OwnDataset | None:
    try:
        record, wrong = parsed(entry.read(), entry.path)
    except InvalidData as error:
        sink(error.finding)
        return None
    for finding in wrong:
        sink(finding)
    return None if wrong else OwnDataset(entry.path, folder, record, below, entry.read().decode())


_MEND = "write the labels as it says, or correct labels.columns or labels.formats"


# --- the file: its keys, what is wrong with them, and where they stand in it ----------------------------------


@lru_cache(maxsize=256)
def clips_of(text: str) -> frozenset[str]:
    """Return the clips that a list names: one, or a range such as mix001..mix079."""
    return frozenset(clip_range(text) if ".." in text else (text,))


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@lru_cache(maxsize=16)
def parsed(data: bytes, path: str) -> tuple[Mapping[str, Any], Sequence[Finding]]:
    """Parse a dataset.toml; return its keys and a finding for each mistake."""
    from seldio.schema.dataset_file import faults

    try:
        text = data.decode()
        record = from_toml(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return {}, [
            READER_RULES["DAT101"].at(path, "is not UTF-8", "save it as UTF-8; labels are not read until then", line)
        ]
    except ValueError as error:
        lines, match = text.split("\n"), _AT.search(str(error))
        line, column = (int(match[1]), int(match[2])) if match and match[1] else (len(lines), len(lines[-1]) + 1)
        message = f"is not TOML: {_AT.sub('', str(error))}"
        excerpt = lines[line - 1].removesuffix("\r") if line <= len(lines) else ""
        hint = "texts are in quotes, tables in [brackets]; labels are not read until this is right"
        return {}, [READER_RULES["DAT101"].at(path, message, hint, line, column, None, excerpt)]
    places = TomlPlaces(text)
    wrong = [*faults(record)] or [*_more(record)]
    return record, [places.finding(fault, path) for fault in wrong]


def _more(record: Mapping[str, Any]) -> Iterator[KeyFault]:
    """Yield faults that no single key shows."""
    from seldio.schema.dataset_file import KeyFault

    labels = record.get("labels", {})
    columns, everywhere = labels.get("columns", []), labels.get("given", {})
    fields = [column.get("field") for column in columns]
    for number, (field, keys) in enumerate(zip(fields, columns, strict=True)):
        place = ("labels", "columns", number)
        if field is not None and field in fields[:number]:
            yield KeyFault((*place, "field"), f"{field} is in another column as well")
        if field in everywhere:
            yield KeyFault(("labels", "given", field), f"{field} has a column of its own: it cannot be given as well")
        if field is not None and "unit" in keys and keys["unit"] not in (units := FIELDS[field]):
            choices = f"{keys['unit']} is not a unit of {field}; choose from {', '.join(units)}"
            yield KeyFault((*place, "unit"), choices if units else f"{field} has no unit")
        for key in ("direction", "zero") if field != "azimuth" else ():
            if key in keys:
                yield KeyFault((*place, key), f"{key} is of azimuths")
        if field == "azimuth" and "direction" not in keys:
            yield KeyFault(place, "the direction is missing: clockwise (90 is right) or counter-clockwise (90 is left)")
    headers = [column.get("header") for column in columns]
    names = [str(header).strip().lower() for header in headers]
    for number, name in enumerate(names):
        if headers[number] is not None and name in names[:number]:
            yield KeyFault(("labels", "columns", number, "header"), f"another column is called {name} as well")
    if None in headers and any(headers):
        yield KeyFault(("labels", "columns", headers.index(None)), "all columns have a header, or none has")
    if columns and not {"frame", "onset"} & {*fields}:
        yield KeyFault(("labels", "columns"), "no column is the frame or the onset")
    if "onset" in fields and not {"frame", "offset", "duration"} & {*fields}:
        message = "no column is the offset or the duration, by which the events end"
        yield KeyFault(("labels", "columns", fields.index("onset")), message)
    if "duration" in fields and ("offset" in fields or "onset" not in fields):
        message = "an event has an onset and either an offset or a duration"
        yield KeyFault(("labels", "columns", fields.index("duration"), "field"), message)
    measures = [keys.get("unit") for keys in columns]
    if "samples" in measures and not record.get("recordings", {}).get("rate"):
        message = "nothing says how many samples a second has: write rate = 48000 in a table recordings"
        yield KeyFault(("labels", "columns", measures.index("samples"), "unit"), message)
    if not record.get("classes") and "class_name" not in fields and "class_id" in (*fields, *everywhere):
        at = ("columns", fields.index("class_id"), "field") if "class_id" in fields else ("given", "class_id")
        message = "nothing says which class a number is: name them in their order, in a table classes"
        yield KeyFault(("labels", *at), message)
    for name in record.get("russian", {}).keys() - record.get("classes", {}).keys():
        yield KeyFault(("russian", name), f"{name} is not among the classes")
    for split, keys in record.get("splits", {}).items():
        for number, text in enumerate(keys.get("clips", ())):
            try:
                clips_of(text)
            except UsageError as error:
                yield KeyFault(("splits", split, "clips", number), str(error))
    for number, format in enumerate(labels.get("formats", ())):
        if named(format, LabelFormat) is None:
            message = f"unknown format of labels {format!r}; seldio formats lists them"
            yield KeyFault(("labels", "formats", number), message)


class TomlPlaces:
    """The places of the keys of a TOML file."""

    def __init__(self, text: str) -> None:
        self._lines = TextLines(text)
        self._starts: dict[tuple[str | int, ...], tuple[int, int]] = {}
        here: tuple[str | int, ...] = ()
        counts: dict[tuple[str, ...], int] = {}
        for match in _LINE.finditer(text):
            keys = tuple(part.strip("\"'") for part in re.findall(_KEY, match["keys"]))
            if match["table"] == "[[":
                counts[keys] = counts.get(keys, -1) + 1
            if match["table"]:
                here = ()
                for number in range(1, len(keys) + 1):  # which may stand in the last of a list of tables
                    here += (keys[number - 1], *([counts[keys[:number]]] if keys[:number] in counts else ()))
            self._starts.setdefault(here if match["table"] else (*here, *keys), match.span("keys"))

    def finding(self, fault: KeyFault, path: str) -> Finding:
        """Return a finding at a key, or at the nearest one around it."""
        at = self.at(fault.path)
        message = f"{fault.where}: {clipped(fault.message, 400)}"
        return READER_RULES["DAT102"].at(path, message, _HINT, at.line, at.column, at.value or None, at.excerpt)

    def at(self, path: tuple[str | int, ...]) -> Place:
        """Return the place of a key, or of the nearest one around it."""
        count = next((n for n in range(len(path), 0, -1) if path[:n] in self._starts), 0)
        start, end = self._starts.get(path[:count], (0, 0))
        stop = min((first for first, _ in self._starts.values() if first > end), default=len(self._lines.text))
        for part in path[count:]:  # inside of what stands in brackets
            pattern = r"\{" if isinstance(part, int) else rf"(?<![\w.-])[\"']?{re.escape(part)}[\"']?(?=\s*[=.])"
            inner = dict(enumerate(re.compile(pattern).finditer(self._lines.text, end, stop)))
            if (number := part if isinstance(part, int) else 0) not in inner:
                break
            start, end = inner[number].span()
        return self._lines.place(start, end)


_HINT = "seldio schema dataset shows the keys; labels are not read until this is right"
_KEY = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_LINE = re.compile(rf"^[ \t]*(?P<table>\[\[?)?[ \t]*(?P<keys>{_DOTTED})[ \t]*(?(table)\]|=)", re.MULTILINE)
