"""From a source to parts, which every verb works on, whatever the size of the data.

A part is a run of files of one layout, or a run of lines or of row groups of one large file. :func:`parts` looks at
bounded evidence of all files, once, and says of each what its layout is; reading a part needs nothing but the part.
What a verb does::

    with open_source(path, sink) as source:
        found = parts(source, format, sink)                      # findings on layouts; nothing is read as rows yet
        for part, partial in zip(found, each(work, found, size=attrgetter("size"), key=attrgetter("stamp"))):
            total += partial                                     # work(part) calls part.labels(sink), part.items(sink)

A small dataset is one part for each layout, and holds what was read of its files, so that nothing is read twice; of
a large one, each part reads its own files, wherever it is worked on. How a dataset is cut changes no result.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

import pyarrow as pa

from seldio import formats
from seldio.engines import cut
from seldio.errors import InvalidData, UnknownFormat, UsageError
from seldio.files import Entry, Source
from seldio.files.sources import is_own, own_files
from seldio.findings import Sink
from seldio.formats import Format, LabelFormat, TextFile, get
from seldio.formats.detect import Wanted
from seldio.formats.recognise import (
    PARQUET_SUFFIX,
    Content,
    Recognised,
    clip_names,
    files_by_layout,
    in_utf8,
    is_table,
    named_like_labels,
    read_files,
    usable,
)
from seldio.schema.events import origin_of
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat, ItemReading
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.formats.parquet import TableRows

#: What annotations name beside, for results that are kept (see :mod:`seldio.engines.kept`).
LATER = {"TableRows": "seldio.formats.parquet"}
#: Bytes of a part. One file is never split, unless it has lines of questions, or is a table.
CUT = 8 << 20
#: Bytes of a dataset whose files are kept, once they have been looked at, until they are worked on.
HOLD = 16 << 20
#: Bytes of a dataset whose files are evidence as a whole, and of the evidence of a larger one, heads and tails.
EVIDENCE, ENDS = 64 << 20, 8 << 20
#: What is looked at of a file in any case: a few rows, the head of JSON Lines, and what tells other JSON and Parquet.
_ROWS, _OBJECT, _HEAD = 1 << 9, 1 << 16, 1 << 12
#: Bytes of a file of lines from which on these are read some at a time, and how many bytes at a time.
LINES, CHUNK = 8 << 20, 4 << 20
_LINES = (".jsonl", ".ndjson")
#: A table is at most so many times as small as the same rows as text.
_PACKED = 64


class NamedEntry(NamedTuple):
    """A file of a part: its name in outputs, the clip that it describes, and what is read with it."""

    entry: Entry
    name: str
    clip: str
    beside: tuple[tuple[Entry, int | None], ...] = ()  # with the bytes that are wanted of each, all if None

    @property
    def size(self) -> int:
        """Bytes of all that is read, as far as they are known."""
        more = (entry.size if most is None else min(entry.size, most) for entry, most in self.beside)
        return sum(max(size, 0) for size in (self.entry.size, *more))

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when one of its files does, or what is made of it."""
        # findings name the path, so that the same files elsewhere are others
        return (self.entry.path, self.entry.stamp, self.name, self.clip,
                *((entry.path, entry.stamp) for entry, _ in self.beside))  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Part:
    """Files of one layout that are worked on together, anywhere."""

    files: tuple[NamedEntry, ...]  # in their order
    #: by a name or alias that :func:`seldio.formats.get` knows, or as it is if none does; None for files that cannot
    #: be read, which reading says
    layout: str | Format | None = None
    named: bool = False  # whether the user named the layout
    evidence: str = ""  # why the layout was chosen; empty where it was named, or where no file has a row
    span: tuple[int, int] | None = None  # the bytes of the only file that are the part, whole lines; all of it if None
    rows: TableRows | None = None  # the rows of the only file, a table, that are the part; all of it if None
    #: whether the layout of labels could not be told, which is a finding already: there is nothing to read
    undecided: bool = False
    _held: Mapping[str, bytes] = dataclasses.field(default_factory=dict, repr=False, compare=False)  # by shown path
    _sound: bool = dataclasses.field(default=False, repr=False, compare=False)  # what is held was found usable as it is

    @property
    def format(self) -> Format | None:
        """The layout."""
        return get(self.layout, Format) if isinstance(self.layout, str) else self.layout

    @property
    def questions(self) -> str | None:
        """The name of the layout, where it is one of questions or predictions."""
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
    def stamp(self) -> tuple[object, ...]:
        """What changes when one of the files does, or what is made of it."""
        return (self.layout, self.named, self.span, self.rows, *(file.stamp for file in self.files))

    def portable(self) -> Part:
        """The part as it can go to another process."""
        files = (
            file._replace(
                entry=file.entry.unopened() if file.entry.path in self._held else file.entry.portable(),
                beside=tuple((entry.portable(), most) for entry, most in file.beside),
            )
            for file in self.files
        )
        return dataclasses.replace(self, files=tuple(files))

    def texts(self, sink: Sink) -> Iterator[TextFile]:
        """The files with their content, one after the other; what is damaged or over a limit goes to *sink*.

        Of a part of a table the content is empty, as it is not text.
        """
        for entry, name, clip, beside in self.files:
            try:
                data = self._held[entry.path] if entry.path in self._held else self._read(entry)
                with_it = tuple(
                    TextFile(one.path, one.name, clip, one.read() if most is None else one.head(most))
                    for one, most in beside
                )
            except InvalidData as error:
                sink(error.finding)
            else:
                yield TextFile(entry.path, name, clip, data, beside=with_it)

    def _read(self, entry: Entry) -> bytes:
        if self.rows is not None:
            return b""
        if self.span is None:
            return entry.read()
        with entry.open() as stream:
            stream.seek(self.span[0])
            return stream.read(self.size)

    def labels(self, sink: Sink) -> list[Recognised]:
        """The labels of its files, each layout apart; what is wrong goes to *sink*. Empty for a part of questions.

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

    def readings(self, file: TextFile, sink: Sink) -> Iterator[ItemReading]:
        """What :meth:`reading` gives; of formats that can be read so, in runs that follow each other."""
        format = cast("ItemFormat", self.format)
        if self.rows is None:
            yield from format.readings(file.data, file.path, sink)
        elif (reading := self.reading(file, sink)) is not None:
            yield reading

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


def parts(
    source: Source, format: Format | str | None, sink: Sink, *, without: Path | None = None,
    wanted: Wanted | None = None, contents: Mapping[str, bytes] = MappingProxyType({}), size: int | None = None,
    by_clip: bool = False, whole: bool = False, labels: bool = True,
) -> list[Part]:  # fmt: skip
    """The files of a source that hold labels, questions or predictions, in parts.

    What cannot be read comes first, then labels by layout, then questions by layout.

    Args:
        source: open, and to stay open until the parts are read. A single file is always taken for one of these; of
            many, those that are called like one, and JSON only if it begins like one.
        format: the layout of all files; found from their content if not given.
        sink: takes what is found about layouts, and about files that cannot be opened. What is wrong inside of a
            file is found when it is read.
        without: a folder on disk that is left out.
        wanted: what decides between layouts that the content leaves.
        contents: what to take instead of the files on disk, by shown path.
        size: bytes of a part, ``CUT`` if not given.
        by_clip: whether the label files of a layout are in the order of their clips, whatever folders they are in.
        whole: whether large files of questions are not split; tables of labels are where they are larger than *size*.
        labels: whether files of labels are wanted as well as those of questions and predictions.

    Raises:
        UsageError: no such format exists; and what *sink* raises.
        SeldioError: the disk fails.
    """
    chosen = formats.asked(format) if isinstance(format, str) else format
    own = own_datasets(source, sink)
    found = _looked_at(candidates(source, chosen, without, labels), source, chosen, contents, sink, own)
    groups = list(_label_parts(found, chosen, wanted, sink, own)) if labels else []
    groups = _accompanied(groups, source)
    cuts = [part for group in groups for part in _cut(group, found, size or CUT, by_clip)]
    for name, entries in found.questions.items():
        alone = Part(tuple(NamedEntry(e, e.name, "") for e in entries), name, named=chosen is not None)
        cuts += _cut(alone, found, size or CUT, split=not whole)
    return cuts


def own_datasets(source: Source, sink: Sink) -> OwnDatasets | None:
    """What the datasets of a source say of themselves; None where there is nothing that says it."""
    if not own_files(source):
        return None
    from seldio.formats.own_dataset import described

    return described(source, sink)


def resolved(format: LabelFormat, table: pa.Table) -> LabelFormat:
    """The layout of *table*: of a table read from Parquet, the one that its rows came from."""
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


def candidates(
    source: Source, format: Format | None = None, without: Path | None = None, labels: bool = True
) -> list[Entry]:
    """The files that may hold labels or questions, by their names; without *labels*, those that may hold questions."""
    if source.single or (labels and format is not None and format.holds != "events"):
        return [entry for entry in source if not is_own(entry)]
    own = format if labels else None

    def named(entry: Entry) -> bool:
        name = entry.name.lower()
        if format is not None and format.holds != "events" and name.endswith(".csv") and format.suffix != ".csv":
            return False  # labels beside questions
        return name.endswith(own.suffix) if own is not None else name.endswith(_LINES) or named_like_labels(entry)

    tables: tuple[Content, ...] = ("labels", "items", "damaged") if labels else ("items",)
    return [
        entry for entry in source
        if (named(entry)
            or ((format is None or not labels) and is_table(entry, *tables)))
        and not (without is not None and entry.local is not None and entry.local.is_relative_to(without))
    ]  # fmt: skip


@dataclasses.dataclass
class _Evidence:
    """What files hold, as far as their heads and tails tell."""

    #: those of label files, or of what may be some
    labels: list[tuple[Entry, TextFile]] = dataclasses.field(default_factory=list)
    #: the files of questions and predictions, by format
    questions: dict[str, list[Entry]] = dataclasses.field(default_factory=dict)
    #: the content of files by path: of all of them, unless that is too much
    held: dict[str, bytes] = dataclasses.field(default_factory=dict)
    whole: bool = True

    def take(self, entry: Entry, data: bytes, source: Source, format: Format | None) -> None:
        """Say what a file is that begins and ends with *data*."""
        name = "stdin.csv" if entry.name == "<stdin>" else entry.name
        file = TextFile(entry.path, name, "", data)
        found = format or file.told
        if found is not None and found.holds != "events":
            self.questions.setdefault(found.name, []).append(entry)
        elif found is not None or source.single or name.lower().endswith((".csv", PARQUET_SUFFIX)):
            known = not self.whole and not name.lower().endswith(".csv")  # by its first bytes
            self.labels.append((entry, dataclasses.replace(file, data=data[:_HEAD]) if known else file))


def _shown(entries: Sequence[Entry]) -> Iterable[Entry]:
    """*entries*, with progress where there are several."""
    if len(entries) < 2:
        return entries
    from seldio.progress import tracked

    return tracked(entries, "looking at files")


def _looked_at(
    entries: Sequence[Entry], source: Source, format: Format | None, contents: Mapping[str, bytes],
    sink: Sink, own: OwnDatasets | None = None,
) -> _Evidence:  # fmt: skip
    """What bounded evidence of all *entries* tells; nothing has to be looked at where the format is named."""
    size = sum(max(entry.size, 0) for entry in entries)
    told = _Evidence(whole=size <= HOLD)
    room = size if size <= EVIDENCE else max(_ROWS, ENDS // len(entries))
    for entry in _shown(entries):
        try:
            data = contents.get(entry.path)
            if data is None:
                data = b"" if format is not None and not told.whole else _evidence(entry, room)
        except InvalidData as error:
            sink(error.finding)
            continue
        if told.whole or entry.path in contents:
            told.held[entry.path] = data
        described = own.layout(TextFile(entry.path, entry.name, "", data), lambda _: None) if own else None
        told.take(entry, data, source, format or described)
    return told


def _evidence(entry: Entry, room: int) -> bytes:
    """All of a file, or whole lines of its head and tail, of *room* bytes or of the head of an object.

    Raises:
        InvalidData: it is damaged or over a limit.
        SeldioError: the disk fails.
    """
    name = entry.name.lower()
    if entry.size > room and entry.on_disk and name.endswith(PARQUET_SUFFIX):
        from seldio.formats.parquet import footer_of

        with entry.open() as stream:
            return footer_of(stream)
    if entry.size <= room or not name.endswith((*_LINES, ".csv")):
        return entry.read()
    with entry.open() as stream:
        head = stream.read(max(room // 2, _OBJECT))
        if head[:1] == b"{":
            return head[: head.rfind(b"\n") + 1] or head
        stream.seek(entry.size - room // 2)
        return _ends(head[: room // 2], stream.read())


def _ends(head: bytes, tail: bytes) -> bytes:
    """The whole lines of the head and of the tail of a file."""
    return (head[: head.rfind(b"\n") + 1] or head) + tail[tail.find(b"\n") + 1 :]


def evidence(found: Sequence[Part]) -> Iterator[TextFile]:
    """What is looked at of the label files of some parts, to say what they are: all of a small dataset."""
    size, files = sum(part.size for part in found), sum(len(part.files) for part in found)
    room = size if size <= EVIDENCE else max(_ROWS, ENDS // files)
    for file in (file for part in found for file in part.texts(lambda _: None)):
        text = in_utf8(file, lambda _: None)
        data = text.data if len(text.data) <= room else _ends(text.data[: room // 2], text.data[-(room // 2) :])
        yield dataclasses.replace(text, data=data)


def _label_parts(
    found: _Evidence, chosen: Format | None, wanted: Wanted | None, sink: Sink, own: OwnDatasets | None = None
) -> Iterator[Part]:
    """One part for each layout, and one for what cannot be read."""
    entries = {file.path: entry for entry, file in found.labels}
    clips = dict(zip(entries, clip_names([file.name for _, file in found.labels]), strict=True))

    def run(files: Iterable[TextFile]) -> tuple[NamedEntry, ...]:
        return tuple(NamedEntry(entries[file.path], file.name, clips[file.path]) for file in files)

    every = [file for _, file in found.labels]
    if isinstance(chosen, LabelFormat):
        names = (chosen.name, *chosen.aliases)
        name = next((name for name in names if get(name) == chosen), chosen)
        tables = [[file] for file in every] if chosen.role == "table" else [every] * bool(every)
        yield from (Part(run(files), name, named=True) for files in tables)
        return
    if own:
        mine = set()
        for layout, files, why in own.layouts(every, sink):
            yield Part(run(files), layout, evidence=why)
            mine |= {file.path for file in files}
        every = [file for file in every if file.path not in mine]
    sound = usable(every, lambda _: None)
    there = {file.path for file in sound}
    if broken := [file for file in every if file.path not in there]:
        yield Part(run(broken))
    as_they_are = {id(file) for file in every} if found.whole else set()
    told = files_by_layout(sound, sink, wanted, others=bool(found.questions))
    for layout, files, evidence in told.layouts:
        whole = all(id(file) in as_they_are for file in files)
        for format, some in own.classes(layout, files, sink) if own else [(layout, files)]:
            known = layout.name if format is layout else format
            yield Part(run(some), known, evidence=evidence, _sound=whole)
        there -= {file.path for file in files}
    there -= {file.path for file in told.lists}
    if there:
        yield Part(run(file for file in sound if file.path in there), undecided=True)


def _accompanied(groups: Sequence[Part], source: Source) -> list[Part]:
    """*groups* of label files with what is read with each of them."""
    wanted = {
        file.entry.path: (file.entry, own)
        for part, format in zip(groups, [part.format for part in groups], strict=True)
        if isinstance(format, LabelFormat)
        for file in part.files
        if (own := format.companions(_place(file.entry), file.clip))
    }  # fmt: skip
    if not wanted:
        return list(groups)
    from seldio.formats.companions import Surroundings

    found = Surroundings(source).of(wanted)
    return [
        dataclasses.replace(part, files=tuple(f._replace(beside=found.get(f.entry.path, ())) for f in part.files))
        for part in groups
    ]


def _place(entry: Entry) -> str:
    """Where a file is, for what its name and folder tell; a copy in an export has the name that it had."""
    copied = entry.local is None or entry.local.name != entry.name.rpartition("/")[2]
    return entry.name if copied else str(entry.local)


def _cut(part: Part, found: _Evidence, size: int, by_clip: bool = False, split: bool = False) -> Iterator[Part]:
    """A part *size* bytes at a time, with what is held of its files, and large tables by their rows.

    *split*: large files of questions as well.
    """
    files = sorted(part.files, key=lambda file: file.clip) if by_clip else part.files
    for some in cut(files, min(size, LINES) if split else size, attrgetter("size")):
        entry = some[0].entry
        if split and entry.size > LINES and entry.on_disk and entry.name.lower().endswith(_LINES):
            yield from (dataclasses.replace(part, files=(some[0],), span=span) for span in _spans(entry))
        elif tables := _tables(part, entry, size, split):
            yield from (dataclasses.replace(part, files=(some[0],), rows=rows) for rows in tables)
        else:
            yield part._of(some, found.held)


def _tables(part: Part, entry: Entry, size: int, split: bool) -> list[TableRows]:
    """The row groups of a large table of labels, or with *split* of questions, half a part at a time."""
    format, most = part.format, min(size, LINES) if split else size
    if not entry.on_disk or _PACKED * entry.size <= most or not (split or part.layout == "parquet"):
        return []
    from seldio.formats.item_parquet import ItemParquet
    from seldio.formats.parquet import table_rows

    with entry.open() as stream:
        if isinstance(format, ItemParquet):
            return format.table_rows(stream, most // 2)
        return table_rows(stream, most // 2) if part.layout == "parquet" else []


def _spans(entry: Entry) -> Iterator[tuple[int, int]]:
    """From the start of a line to that of another, ``CHUNK`` bytes and a line at a time."""
    with entry.open() as stream:
        start = 0
        while start < entry.size:
            stream.seek(min(start + CHUNK, entry.size))
            stream.readline()
            yield start, stream.tell()
            start = stream.tell()
