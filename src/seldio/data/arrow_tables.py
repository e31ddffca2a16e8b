"""The labels and the questions of a dataset, read when they are asked for, as tables that any library takes."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

import pyarrow as pa

from seldio import clock
from seldio.catalogues import Catalogue
from seldio.catalogues.look import check_classes
from seldio.catalogues.parts import Part, entries_by_clip, resolved
from seldio.check.labels import settle
from seldio.conversion.inputs import raising_unknown
from seldio.conversion.outputs import clip_tables
from seldio.errors import InvalidData, UnknownFormat, UsageError
from seldio.files import Entry, Source
from seldio.findings import Finding, Severity
from seldio.formats import LabelFormat
from seldio.formats.dialects import DIALECTS
from seldio.schema.events import COLUMNS, origin_of, with_origin
from seldio.schema.frames import to_pandas
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    import pandas as pd

    from seldio.schema import arrow_types
    from seldio.schema.qa import Item

T = TypeVar("T")


class ArrowTable(ABC):
    """A table that is read when its rows are asked for; ``pa.table``, pandas, polars and duckdb take it as it is."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Return the names and the types of the columns."""

    @abstractmethod
    def table(self) -> arrow_types.Table:
        """Return all rows."""

    def to_pandas(self) -> pd.DataFrame:
        """Return all rows as a DataFrame, see :func:`seldio.to_pandas`."""
        return to_pandas(self.table())

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)


class ClipLabelFile(NamedTuple):
    """The label file of a clip; *table* and *format* once it was read."""

    clip: str
    entry: Entry
    table: pa.Table | None = None
    format: LabelFormat | None = None
    shared: bool = False  # whether the file is that of other clips too, or a table


class Events(ArrowTable):
    """The event tables of a dataset by clip, and one Arrow table of them all.

    It is used like a mapping, yet is none: polars takes mappings for columns.

    All files are read when the first table is asked for, as :func:`seldio.read` reads them: the format is told from
    all of them. Clips without a label file are not in it; silent ones are, without rows.

    Args:
        source: the files that were not read before, and those in which their datasets say what they are.
        files: one for each clip.
        format: the format of all files; found from their content if None.
        force: give rows in which there are errors too, such as angles in radians.
        remedy: what the message about a file that cannot be read ends with.
    """

    def __init__(
        self, source: Source, files: Mapping[str, ClipLabelFile], format: LabelFormat | None, force: bool, remedy: str
    ) -> None:
        self._source, self._files, self._format, self._force, self._remedy = source, files, format, force, remedy

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_read"}

    def __repr__(self) -> str:
        return f"Events({len(self):,} clips)"

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __contains__(self, clip: object) -> bool:
        return clip in self._files

    def __getitem__(self, clip: str) -> arrow_types.Table:
        """Return the event table of a clip, as :func:`seldio.read` gives it."""
        return cast("arrow_types.Table", self._read[clip].table)

    def items(self) -> Iterator[tuple[str, arrow_types.Table]]:
        """Return each clip with its table."""
        return ((clip, self[clip]) for clip in self)

    def format(self, clip: str) -> LabelFormat:
        """Return the format of a clip's file."""
        return cast("LabelFormat", self._read[clip].format)

    @cached_property
    def formats(self) -> tuple[LabelFormat, ...]:
        """The formats of all files."""
        read = [self._read[clip].format for clip in self._files]
        return tuple({format.name: format for format in read if format is not None}.values())

    @property
    def hop(self) -> Fraction:
        """Seconds between label frames.

        Raises:
            UsageError: there are formats that differ in it.
        """
        return self._only({format.hop for format in self.formats} or {clock.HOP}, "frame lengths")

    @property
    def vocabulary(self) -> str:
        """The class list that the class numbers index."""
        return self._only({format.vocabulary for format in self.formats} or {DIALECTS[0].vocabulary}, "class lists")

    def _only(self, values: set[T], what: str) -> T:
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

    def table(self) -> arrow_types.Table:
        """Return the rows of all clips, clip by clip."""
        schema = self.schema
        batches = [batch for _, table in self.items() for batch in conformed(table, schema).to_batches()]
        return cast("arrow_types.Table", pa.Table.from_batches(batches, schema))

    @cached_property
    def _read(self) -> Mapping[str, ClipLabelFile]:
        """Read the files that were not read before."""
        clips = {file.entry.path: clip for clip, file in self._files.items() if file.table is None}
        if not clips:
            return self._files
        source = self._source.restricted(self._source)  # which does not keep what the catalogue sees
        try:
            catalogue = Catalogue(source, self._format, raising_unknown(_stop))
            check_classes(catalogue.findings, by_name=True)
            parts = [
                part.of([file._replace(clip=clips[file.entry.path]) for file in part.files])
                for part in catalogue.labels
            ]
            read = {**self._files, **clip_files(parts, force=self._force)}
        except (InvalidData, UnknownFormat) as error:
            error.args = (f"{error.text}{self._remedy}",)
            raise
        if unread := [file for file in read.values() if file.table is None]:
            raise UsageError(f"{printable(unread[0].entry.path)} holds no labels of a known format")
        return read


def _stop(finding: Finding) -> None:
    if finding.severity is Severity.ERROR:
        raise InvalidData(finding, ". seldio validate shows all findings")


def clip_files(parts: Sequence[Part], *, force: bool) -> dict[str, ClipLabelFile]:
    """Return the labels of parts by clip, silent ones too; with *force* those with errors as well."""
    read = [reading for part in parts for reading in part.labels(_stop)]
    entries = entries_by_clip(parts, read)
    clips_of = Counter(entry.path for entry in entries.values())
    files: dict[str, ClipLabelFile] = {}
    for reading in read:
        format, is_table = reading.format, reading.format.role == "table"
        if is_table:  # it keeps columns that the labels which it was made from have not
            format = dataclasses.replace(resolved(format, reading.table), carries=format.carries)
        origin = origin_of(reading.table)
        clips = {}
        for file, rows in clip_tables(reading.table):
            names = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows.num_rows), [file.clip])
            table = rows.set_column(rows.column_names.index("clip"), "clip", names)
            entry, table = entries[file.clip], with_origin(table, dataclasses.replace(origin, files=(file,)))
            clips[file.clip] = ClipLabelFile(file.clip, entry, table, format, is_table or clips_of[entry.path] > 1)
        files = joined_files(files, clips)
    settle(read, force)
    return files


def joined_files(files: Mapping[str, ClipLabelFile], more: Mapping[str, ClipLabelFile]) -> dict[str, ClipLabelFile]:
    """Return the label files of both; refuse two of one clip."""
    if both := sorted(files.keys() & more.keys()):
        raise UsageError(
            f"{printable(files[both[0]].entry.path)} and {printable(more[both[0]].entry.path)} both hold labels of "
            f"{listed(both)}: open only one, or remove one"
        )
    return {**files, **more}


def conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns that *schema* has, with its types; absent ones null."""
    columns = [
        table[field.name].cast(field.type) if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


class Items(ArrowTable):
    """The questions of a dataset, by number and one after the other, and one Arrow table of them all.

    Args:
        rows: the questions, each with the name of the file that it stands in.
        predictions: the format of predictions that lie there as well; empty if none do.
    """

    def __init__(self, rows: Sequence[tuple[Item, str]], predictions: str = "") -> None:
        self.rows, self.predictions = rows, predictions

    def __repr__(self) -> str:
        return f"Items({plural(len(self), 'question')})"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Item]:
        return (item for item, _ in self.rows)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        return [item for item, _ in self.rows[index]] if isinstance(index, slice) else self.rows[index][0]

    @property
    def schema(self) -> pa.Schema:
        """Return the columns of every table of questions, ``seldio.schema.qa.ITEM_SCHEMA``."""
        from seldio.schema.qa import ITEM_SCHEMA

        return ITEM_SCHEMA

    def table(self) -> arrow_types.Table:
        """Return a row for each question."""
        from seldio.schema.qa import to_table

        return cast("arrow_types.Table", to_table(list(self)))
