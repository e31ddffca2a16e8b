"""Parts: runs of files of one format, or of lines or row groups of one large file; every verb works on them.

Reading a part needs nothing but the part, wherever it is worked on. How a dataset is cut changes no result.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import pyarrow as pa

from seldio.catalogues.look import Recognised, read_files, usable
from seldio.errors import InvalidData, UnknownFormat, UsageError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.findings import Sink
from seldio.formats import Format, LabelFormat, TextFile, get
from seldio.schema.events import origin_of
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat, ItemReading
    from seldio.formats.parquet import TableRows


class NamedEntry(NamedTuple):
    """A file of a part: its name in outputs, and the clip that it describes."""

    entry: Entry
    name: str
    clip: str

    @property
    def size(self) -> int:
        """Its bytes, as far as they are known."""
        return max(self.entry.size, 0)


@dataclasses.dataclass(frozen=True)
class Part:
    """Files of one format that are worked on together, anywhere."""

    files: tuple[NamedEntry, ...]  # in their order
    #: by a name or alias that :func:`seldio.formats.get` knows, or as it is if none does; None for files that cannot
    #: be read, which reading says
    layout: str | Format | None = None
    named: bool = False  # whether the user named the format
    evidence: str = ""  # why the format was chosen; empty where it was named, or where no file has a row
    span: tuple[int, int] | None = None  # the bytes of the only file that are the part, whole lines; all of it if None
    rows: TableRows | None = None  # the rows of the only file, a table, that are the part; all of it if None
    #: whether the format of labels could not be told, which is a finding already: there is nothing to read
    undecided: bool = False
    _held: Mapping[str, bytes] = dataclasses.field(default_factory=dict, repr=False, compare=False)  # by shown path
    _sound: bool = dataclasses.field(default=False, repr=False, compare=False)  # what is held was found usable as it is

    @property
    def format(self) -> Format | None:
        """The format."""
        return get(self.layout, Format) if isinstance(self.layout, str) else self.layout

    @property
    def questions(self) -> str | None:
        """The name of the format, where it is one of questions or predictions."""
        return self.format.name if self.format is not None and self.format.holds != "events" else None

    @property
    def size(self) -> int:
        """Bytes of all files, as far as they are known."""
        if self.span is not None:
            return self.span[1] - self.span[0]
        if self.rows is not None:
            return self.rows.size
        return sum(file.size for file in self.files)

    @property
    def packed(self) -> bool:
        """Whether other processes would have to unpack its files anew."""
        return packed(file.entry for file in self.files)

    def texts(self, sink: Sink) -> Iterator[TextFile]:
        """The files with their content, one after the other; what is damaged or over a limit goes to *sink*.

        Of a part of a table the content is empty, as it is not text.
        """
        for entry, name, clip in self.files:
            try:
                data = self._held[entry.path] if entry.path in self._held else self._read(entry)
            except InvalidData as error:
                sink(error.finding)
            else:
                yield TextFile(entry.path, name, clip, data)

    def _read(self, entry: Entry) -> bytes:
        if self.rows is not None:
            return b""
        if self.span is None:
            return entry.read()
        with entry.open() as stream:
            stream.seek(self.span[0])
            return stream.read(self.size)

    def labels(self, sink: Sink) -> list[Recognised]:
        """The labels of its files, each format apart; what is wrong goes to *sink*. Empty for a part of questions.

        A table of many clips is a reading of its own. Files that turn out to be unreadable are in no reading.
        """
        if self.questions is not None or self.undecided:
            return []
        if self.rows is not None:
            try:
                from seldio.formats.parquet import read_table

                with self.files[0].entry.open() as stream:
                    reading = read_table(stream, self.files[0].entry.path, sink, self.rows)
            except InvalidData as error:
                sink(error.finding)
                return []
            return [Recognised(reading, self.named, self.evidence)]
        files = list(self.texts(sink))
        format = self.format
        if format is None or self.named:
            assert format is None or isinstance(format, LabelFormat)
            return read_files(files, sink, format)
        assert isinstance(format, LabelFormat)
        files = files if self._sound else usable(files, sink)
        groups = [[file] for file in files] if format.role == "table" else [files] * bool(files)
        return [Recognised(format.read(group, sink), False, self.evidence) for group in groups]

    def items(self, sink: Sink) -> Iterator[ItemReading]:
        """The questions or predictions of each file that can be read; what is wrong goes to *sink*. None of labels."""
        if self.questions is not None:
            readings = (self.reading(file, sink) for file in self.texts(sink))
            yield from (reading for reading in readings if reading is not None)

    def reading(self, file: TextFile, sink: Sink) -> ItemReading | None:
        """The questions or predictions of one of :meth:`texts`; None, after findings, where it cannot be read."""
        from seldio.formats.item_parquet import ItemParquet

        format = cast("ItemFormat", self.format)
        if self.rows is None or not isinstance(format, ItemParquet):
            return format.read(file.data, file.path, sink)
        with self.files[0].entry.open() as stream:
            return format.read_rows(stream, file.path, sink, self.rows)

    def chosen(self, numbers: Sequence[int]) -> Part:
        """The part with some of its files only, in that order."""
        return self._of([self.files[number] for number in numbers], self._held)

    def _of(self, files: Sequence[NamedEntry], held: Mapping[str, bytes]) -> Part:
        own = {file.entry.path: held[file.entry.path] for file in files if file.entry.path in held}
        return dataclasses.replace(self, files=tuple(files), _held=own)


def resolved(format: LabelFormat, table: pa.Table) -> LabelFormat:
    """The format of *table*: of a table read from Parquet, the one that its rows came from."""
    if format.role != "table":
        return format
    origin = origin_of(table)
    try:
        return dataclasses.replace(get(origin.format), vocabulary=origin.vocabulary)
    except UnknownFormat:
        return dataclasses.replace(format, vocabulary=origin.vocabulary)


def checked_clips(found: Iterable[Part]) -> None:
    """See that each clip has one label file.

    Raises:
        UsageError: two files describe one clip of one folder.
    """
    first: dict[str, Entry] = {}
    for file in (file for part in found if part.questions is None for file in part.files):
        if first.setdefault(file.clip, file.entry) is not file.entry:
            raise _both(first[file.clip], file.entry, file.clip)


def entries_by_clip(read: Iterable[Recognised], found: Iterable[Part]) -> dict[str, Entry]:
    """The file of each clip, as the rows of parts say that were *read* of them.

    Raises:
        UsageError: two files describe one clip.
    """
    entries = {file.entry.path: file.entry for part in found for file in part.files}
    clips = [(part.origin.clip, entries[part.file.path]) for one in read for part in one.reading.parts]
    first: dict[str, Entry] = {}
    for clip, entry in clips:
        if first.setdefault(clip, entry) is not entry:
            raise _both(first[clip], entry, clip)
    return first


def _both(one: Entry, other: Entry, clip: str) -> UsageError:
    return UsageError(f"{printable(one.path)} and {printable(other.path)} both belong to clip {printable(clip)}")
