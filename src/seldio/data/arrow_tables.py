"""The labels and the questions of a dataset, read when they are asked for, as tables that any library takes."""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import pyarrow as pa

from seldio import clock
from seldio.catalogues.look import Recognised, check_classes, detected, files_by_layout, usable
from seldio.check.labels import vet
from seldio.conversion.inputs import raising_unknown
from seldio.conversion.item_inputs import read_items
from seldio.errors import InvalidData, UsageError
from seldio.files import Entry, Source
from seldio.findings import Finding, raise_errors
from seldio.formats import LabelFormat, TextFile
from seldio.formats.dialects import DIALECTS
from seldio.formats.items import ItemFormat
from seldio.schema.events import COLUMNS
from seldio.schema.frames import to_pandas
from seldio.schema.qa import ITEM_SCHEMA, Item, to_table
from seldio.schema.streams import detached
from seldio.text import plural, printable

if TYPE_CHECKING:
    import pandas as pd

    from seldio.formats.own_dataset import OwnDatasets
    from seldio.schema import arrow_types

T = TypeVar("T")


class ArrowTable(ABC):
    """Rows that are made when they are asked for; ``pa.table``, pandas, polars and duckdb take it as it is."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns, with their types."""

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, part by part; each call begins anew."""

    def table(self) -> arrow_types.Table:
        """All rows."""
        table: arrow_types.Table = pa.Table.from_batches(self.batches(), self.schema)
        return table

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a DataFrame, see :func:`seldio.to_pandas`."""
        return to_pandas(self.table())

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)


#: Files of a folder that are looked at to tell its format.
SAMPLE = 24
#: Tables that are kept.
_KEPT = 256


class ClipLabelFile(NamedTuple):
    """The label file of a clip; *table*: of one that was read as a whole, the rows of the clip, with their format."""

    clip: str
    entry: Entry
    table: pa.Table | None = None
    format: LabelFormat | None = None
    shared: bool = False  # whether the file is that of other clips too, or a table

    def text(self) -> TextFile:
        """Its content.

        Raises:
            InvalidData: it is damaged or over a limit.
            SeldioError: the disk fails.
        """
        return TextFile(self.entry.path, self.entry.name, self.clip, self.entry.read())


class Events(ArrowTable):
    """The event tables of a dataset by clip, and one Arrow table of them all.

    It is used like a mapping, yet is none: polars takes mappings for columns.

    A clip's file is read when it is asked for. Its format is told from some files of its folder, and from the
    file itself where that does not fit. Clips without a label file are not in it; silent ones are, without rows.

    Args:
        files: one for each clip.
        format: the format of all files; found from their content if None.
        force: give rows in which there are errors too, such as angles in radians.
        own: what the datasets say of themselves.
    """

    def __init__(
        self, files: Mapping[str, ClipLabelFile], format: LabelFormat | None = None, *, force: bool = False,
        own: OwnDatasets | None = None,
    ) -> None:  # fmt: skip
        self._files, self._format, self._force, self._own = files, format, force, own
        self._vetted: set[str] = set()
        self._folders: dict[str, LabelFormat] = {}
        self._read = lru_cache(_KEPT)(self._parsed)

    @cached_property
    def _beside(self) -> Mapping[str, Sequence[str]]:
        """The clips of each folder."""
        found: dict[str, list[str]] = {}
        for clip, file in self._files.items():
            found.setdefault(posixpath.dirname(file.entry.name), []).append(clip)
        return found

    def __getstate__(self) -> tuple[Any, ...]:
        return self._files, self._format, self._force, self._own, self._folders

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        files, format, force, own, folders = state
        self.__init__(files, format, force=force, own=own)  # type: ignore[misc]
        self._folders = dict(folders)

    def part(self, clips: Iterable[str]) -> Events:
        """The same for some clips, as it can go to another process: their formats are told as they are here."""
        files = {clip: self._files[clip] for clip in clips}
        for clip, file in files.items():
            self._expected(file)
            if file.table is not None:
                files[clip] = file._replace(table=detached(file.table))
        part = Events(files, self._format, force=self._force, own=self._own)
        part._folders = {folder: self._folders[folder] for folder in part._beside if folder in self._folders}
        return part

    def __repr__(self) -> str:
        return f"Events({len(self):,} clips)"

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __contains__(self, clip: object) -> bool:
        return clip in self._files

    def __getitem__(self, clip: str) -> arrow_types.Table:
        """The event table of a clip, as :func:`seldio.read` gives it."""
        return self._read(clip)[0]

    def read(self, clip: str) -> arrow_types.Table:
        """The same for who keeps what is made of it: the table itself is not kept."""
        return self._parsed(clip)[0]

    def source(self, clip: str) -> ClipLabelFile:
        """The file that the labels of a clip are in."""
        return self._files[clip]

    def items(self) -> Iterator[tuple[str, arrow_types.Table]]:
        """Each clip with its table."""
        return ((clip, self[clip]) for clip in self)

    def format(self, clip: str) -> LabelFormat:
        """The format of a clip's file."""
        return self._read(clip)[1]

    @property
    def formats(self) -> tuple[LabelFormat, ...]:
        """The formats of all folders."""
        firsts = (self._files[clips[0]] for clips in self._beside.values())
        return tuple({format.name: format for format in map(self._expected, firsts)}.values())

    @property
    def hop(self) -> Fraction:
        """Seconds between label frames.

        Raises:
            UsageError: there are formats that differ in it.
        """
        return self._one({format.hop for format in self.formats} or {clock.HOP}, "frame lengths")

    @property
    def vocabulary(self) -> str:
        """The class list that the class numbers index."""
        return self._one({format.vocabulary for format in self.formats} or {DIALECTS[0].vocabulary}, "class lists")

    def _one(self, values: set[T], what: str) -> T:
        if len(values) > 1:
            names = ", ".join(format.name for format in self.formats)
            raise UsageError(f"the labels use several {what} ({names}): open only one of them")
        return values.pop()

    @property
    def schema(self) -> pa.Schema:
        """The columns that the formats carry, in their order; the clip as plain text."""
        carried = {"clip"}.union(*(format.carries for format in self.formats))
        kinds = {name: kind for name, kind in COLUMNS.items() if name in carried}
        return pa.schema({**kinds, "clip": pa.string()})

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, clip by clip."""
        schema = self.schema
        for clip in self:
            yield from conformed(self._parsed(clip)[0], schema).to_batches()

    def _parsed(self, clip: str) -> tuple[arrow_types.Table, LabelFormat]:
        file = self._files[clip]
        format = self._expected(file)
        if file.table is not None:
            return file.table, format
        text = file.text()
        try:
            reading = format.read([text], raise_errors)
        except InvalidData:
            other = _layout([text], self._own, self._format)
            if other == format:
                raise
            reading = other.read([text], raise_errors)
        if not self._force and clip not in self._vetted:
            vet([Recognised(reading, self._format is not None, "")]).settle(force=False)
            self._vetted.add(clip)
        return reading.table, reading.format

    def _expected(self, file: ClipLabelFile) -> LabelFormat:
        """The format that most files of a file's folder have."""
        if file.format is not None:
            return file.format
        if self._format is not None and not self._own and not self._format.own:
            return self._format
        folder = posixpath.dirname(file.entry.name)
        if folder not in self._folders:
            files = self._beside[folder]
            step = -(-len(files) // SAMPLE)
            self._folders[folder] = _layout(
                [self._files[clip].text() for clip in files[::step]], self._own, self._format
            )
        return self._folders[folder]


def _layout(files: Sequence[TextFile], own: OwnDatasets | None = None, named: LabelFormat | None = None) -> LabelFormat:
    """The format of most of *files*, or the one that people have *named*."""
    if named is not None:
        from seldio.formats.own_dataset import given

        return max(given(named, own, files, raise_errors), key=lambda group: len(group[1]))[0]
    if own and (mine := list(own.layouts(files, raise_errors))):
        return max(mine, key=lambda group: len(group[1]))[0]
    remarks: list[Finding] = []
    found = files_by_layout(
        detected(usable(files, raising_unknown(raise_errors))), raising_unknown(remarks.append)
    ).layouts
    for finding in remarks:
        raise_errors(finding)
    check_classes(remarks, told=True)
    if not found:
        raise UsageError(f"{printable(files[0].path)} holds no labels of a known format")
    layout, most, *_ = max(found, key=lambda group: len(group.files))
    return next(own.classes(layout, most, raise_errors))[0] if own else layout


def conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns that *schema* has, with its types; absent ones null."""
    columns = [
        table[field.name].cast(field.type) if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type) for field in schema
    ]  # fmt: skip
    return pa.table(columns, schema=schema)


#: Rows of a batch.
_BATCH = 4096


class ItemRow(NamedTuple):
    """An item, and the name of the file that it stands in."""

    item: Item
    file: str


class Items(ArrowTable):
    """The questions of a dataset, by number and one after the other, and one Arrow table of them all.

    Args:
        rows: the questions.
        predictions: the format of predictions that lie there as well; empty if none do.
    """

    def __init__(self, rows: Sequence[ItemRow], predictions: str = "") -> None:
        self.rows = rows
        self.predictions = predictions

    def __repr__(self) -> str:
        return f"Items({plural(len(self), 'question')})"

    def _repr_html_(self) -> str:
        from seldio.reports.notebook import rows_html

        rows = ((item.id, item.task, item.question, "" if item.answer is None else str(item.answer)) for item in self)
        return rows_html(repr(self), "questions", ("id", "task", "question", "answer"), rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Item]:
        return (row.item for row in self.rows)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if isinstance(index, slice):
            return [row.item for row in self.rows[index]]
        return self.rows[index].item

    @property
    def schema(self) -> pa.Schema:
        """That of all item tables."""
        return ITEM_SCHEMA

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, some thousand at a time."""
        for first in range(0, len(self), _BATCH):
            yield from to_table(self[first : first + _BATCH]).to_batches()


def read_questions(source: Source, format: ItemFormat | None) -> Items:
    """The questions in the files of *source*; predictions are left out."""
    names = {entry.path: entry.name for entry in source}
    readings = read_items(source, format, raise_errors)
    rows = [ItemRow(row, names[one.path]) for one in readings for row in one.rows if isinstance(row, Item)]
    return Items(rows, next((one.format.name for one in readings if one.format.holds == "predictions"), ""))
