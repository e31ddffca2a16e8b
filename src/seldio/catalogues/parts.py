"""Parts: runs of files of one format; every verb works on them.

Reading a part needs nothing but the part, wherever it is worked on. How a dataset is cut changes no result.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, cast

import pyarrow as pa

from seldio.catalogues.look import in_utf8, usable
from seldio.errors import InvalidData, UnknownFormat, UsageError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.findings import Sink
from seldio.formats import Format, LabelFormat, LabelReading, TextFile, get
from seldio.schema.events import origin_of
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat, ItemReading

#: Bytes of files that are worked on at once.
CUT = 8 << 20


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
    format: Format | None = None  # None for files that cannot be read, which reading says
    named: bool = False  # whether the user named the format
    evidence: str = ""  # why the format was chosen; empty where it was named, or where no file has a row
    #: whether several formats of labels remain, or none, which is an error already
    undecided: bool = False
    _held: Mapping[str, bytes] = dataclasses.field(default_factory=dict, repr=False, compare=False)  # by shown path

    @property
    def questions(self) -> str | None:
        """The name of the format, where it is one of questions or predictions."""
        return self.format.name if self.format is not None and self.format.holds != "events" else None

    @property
    def size(self) -> int:
        """Bytes of all files, as far as they are known."""
        return sum(file.size for file in self.files)

    @property
    def packed(self) -> bool:
        """Whether other processes would have to unpack its files anew."""
        return packed(file.entry for file in self.files)

    def texts(self, sink: Sink) -> Iterator[TextFile]:
        """Yield the files with their content, one after the other; what is damaged or over a limit goes to *sink*."""
        for entry, name, clip in self.files:
            try:
                data = self._held[entry.path] if entry.path in self._held else entry.read()
            except InvalidData as error:
                sink(error.finding)
            else:
                yield TextFile(entry.path, name, clip, data)

    def labels(self, sink: Sink) -> list[LabelReading]:
        """Return the labels of its files, each format apart; what is wrong goes to *sink*. None of questions.

        A table of many clips is a reading of its own. Files that turn out to be unreadable are in no reading.
        """
        if self.questions is not None or (self.undecided and self.format is None):
            return []
        files = list(self.texts(sink))
        format = self.format
        if not self.named:
            files = usable(files, sink)
        elif format is not None and format.suffix == ".csv":
            files = [in_utf8(file, sink) for file in files]
        if not isinstance(format, LabelFormat):
            return []
        groups = [[file] for file in files] if format.role == "table" else [files] * bool(files)
        readings = (format.read(group, sink) for group in groups)
        return [dataclasses.replace(reading, named=self.named, evidence=self.evidence) for reading in readings]

    def items(self, sink: Sink) -> Iterator[ItemReading]:
        """Yield the questions or predictions of each file that can be read, none of labels; report to *sink*."""
        if self.questions is not None:
            readings = (self.reading(file, sink) for file in self.texts(sink))
            yield from (reading for reading in readings if reading is not None)

    def reading(self, file: TextFile, sink: Sink) -> ItemReading | None:
        """Return the questions or predictions of one of :meth:`texts`; None, with findings, where that fails."""
        return cast("ItemFormat", self.format).read(file.data, file.path, sink)

    def by_clip(self) -> Part:
        """Return the part with its files in the order of their clips, whatever folders they are in."""
        return self.of(sorted(self.files, key=attrgetter("clip")))

    def cut(self, most: int = CUT) -> list[Part]:
        """Return the part in parts of at most so many bytes; no file is split."""
        from seldio.parallel import cut

        return [self.of(files) for files in cut(self.files, most, attrgetter("size"))]

    def chosen(self, numbers: Sequence[int]) -> Part:
        """Return the part with some of its files only, in that order."""
        return self.of([self.files[number] for number in numbers])

    def of(self, files: Sequence[NamedEntry], held: Mapping[str, bytes] | None = None) -> Part:
        """Return the part with these files only, and what is *held* of them."""
        held = self._held if held is None else held
        paths = [file.entry.path for file in files]
        return dataclasses.replace(self, files=tuple(files), _held={path: held[path] for path in paths if path in held})


def resolved(format: LabelFormat, table: pa.Table) -> LabelFormat:
    """Return the format of *table*: of a table read from Parquet, the one that its rows came from."""
    if format.role != "table":
        return format
    origin = origin_of(table)
    try:
        return dataclasses.replace(get(origin.format), vocabulary=origin.vocabulary)
    except UnknownFormat:
        return dataclasses.replace(format, vocabulary=origin.vocabulary)


def entries_by_clip(parts: Iterable[Part], read: Iterable[LabelReading] | None = None) -> dict[str, Entry]:
    """Return the label file of each clip: by its name, or as the rows say that were *read* of the parts.

    Raises:
        UsageError: two files describe one clip.
    """
    files = [file for part in parts if part.questions is None for file in part.files]
    clips = [(file.clip, file.entry) for file in files]
    if read is not None:
        entries = {file.entry.path: file.entry for file in files}
        clips = [(part.origin.clip, entries[part.file.path]) for reading in read for part in reading.parts]
    first: dict[str, Entry] = {}
    for clip, entry in clips:
        other = first.setdefault(clip, entry)
        if other is not entry:
            both = f"{printable(other.path)} and {printable(entry.path)}"
            raise UsageError(f"{both} both belong to clip {printable(clip)}")
    return first
