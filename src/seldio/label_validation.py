"""Check label files: their rules, and sets too large for memory, of which only what other rules need is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import pyarrow as pa

from seldio import rules
from seldio.conversion.shards import Shard
from seldio.engines import cut, each
from seldio.files import Entry, Source, read_entries
from seldio.findings import Finding, Sink
from seldio.formats import Format, Reading, TextFile, get, item_formats
from seldio.formats.base import Ints, Part, Place
from seldio.formats.recognise import Recognised, clip_names, read_files
from seldio.rules.base import Labels
from seldio.rules.collection import Reference
from seldio.rules.package import is_package
from seldio.schema.events import ClipFile

#: Bytes of label files in a folder from which on they are checked a shard at a time: some four million rows.
LARGE = 64 << 20
#: Bytes of a shard.
SHARD = 8 << 20
#: What rules for recordings and pictures need of the rows; the second part where they listen.
_KEPT, _HEARD = ("frame",), ("azimuth", "elevation", "x", "y", "z", "class_id", "source")


def check_labels(reading: Reading, sink: Sink, *, told: bool = True, reference: Reference | None = None) -> None:
    """Run all label rules over a table that was read."""
    lengths = {clip: n for clip, n in reference.clips.items() if n is not None} if reference is not None else {}
    rules.run(Labels(reading, told, lengths), sink)


class _Row(NamedTuple):
    """A file of a shard: what a :class:`Part` is made of again."""

    file: int
    origin: ClipFile
    first: int
    rows: int
    readable: bool
    blank: bool


class _Read(NamedTuple):
    """What is kept of the files of a shard that have one layout: some columns as Arrow IPC, and the files."""

    format: str
    evidence: str
    table: bytes
    rows: tuple[_Row, ...]


def large_labels(source: Source, told: Format | None) -> list[Entry]:
    """The label files of a folder that has too many bytes of them to be held in memory; none of a smaller one."""
    suffix = told.suffix if told is not None else ".csv"
    entries = [entry for entry in source if entry.name.lower().endswith(suffix)]
    if source.kind != "folder" or sum(entry.size for entry in entries) < LARGE or is_package(source.entries):
        return []
    return [entry for entry in entries if told is not None or _begins_like_labels(entry)]


def _begins_like_labels(entry: Entry) -> bool:
    first = entry.head(1)
    return first.isdigit() or not first or item_formats.recognise(entry.head(1 << 16), entry.name) is None


def check_large(
    entries: Sequence[Entry], told: Format | None, reference: Reference | None, sink: Sink, *, deep: bool
) -> list[Recognised]:
    """Check label files shard by shard, each with its neighbours by name.

    Rules that look at many files at once look at those of a shard, so that what all share is told once for each.

    Args:
        entries: the files.
        told: the layout of all; found from the content of each shard if not given.
        reference: the clips to expect.
        sink: takes the findings.
        deep: keep what listening needs.

    Returns:
        The files by layout, with the columns that rules for recordings and pictures need.
    """
    names = clip_names([entry.name for entry in entries])
    files = list(zip(entries, [entry.name for entry in entries], names, strict=True))
    parts = list(_cut(None if told is None else told.name, files))
    work = _Check(reference, _KEPT + _HEARD * deep)
    results = each(work, parts, what="checking labels", size=attrgetter("size"), key=attrgetter("stamp"))
    kept: list[tuple[_Read, Shard]] = []
    for shard, (findings, reads) in zip(parts, results, strict=True):
        for finding in findings:
            sink(finding)
        kept += [(read, shard) for read in reads]
    kept.sort(key=lambda pair: pair[0].format)  # stable: shards stay in their order
    groups = groupby(kept, key=lambda pair: pair[0].format)
    return [_joined(get(name), list(group), told is not None) for name, group in groups]


def _cut(layout: str | None, files: Sequence[tuple[Entry, str, str]]) -> Iterator[Shard]:
    """The files in their order, ``SHARD`` bytes at a time."""
    return (Shard(layout, tuple(those)) for those in cut(files, SHARD, lambda file: file[0].size))


@dataclasses.dataclass(frozen=True)
class _Check:
    """What is wrong in the files of a shard, and what is kept of them."""

    reference: Reference | None
    columns: tuple[str, ...]

    def __call__(self, shard: Shard) -> tuple[list[Finding], list[_Read]]:
        found: list[Finding] = []
        names = {entry.path: (name, clip) for entry, name, clip in shard.files}
        entries = (entry for entry, _, _ in shard.files)
        files = [TextFile(entry.path, *names[entry.path], data) for entry, data in read_entries(entries, found.append)]
        told = get(shard.layout) if shard.layout is not None else None
        recognised = read_files(files, found.append, told)
        for item in recognised:
            check_labels(item.reading, found.append, told=item.told, reference=self.reference)
        numbers = {path: number for number, path in enumerate(names)}
        return found, [self._kept(item, numbers) for item in recognised]

    def _kept(self, item: Recognised, numbers: dict[str, int]) -> _Read:
        table = item.reading.table
        columns = [name for name in self.columns if name in table.column_names]
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, table.select(columns).schema.remove_metadata()) as writer:
            writer.write_table(table.select(columns).replace_schema_metadata())
        rows = tuple(
            _Row(numbers[p.file.path], p.origin, p.first, p.rows, p.readable, not p.file.data.strip())
            for p in item.reading.parts
        )
        return _Read(item.reading.format.name, item.evidence, stream.getvalue().to_pybytes(), rows)


class _LatePart(Part):
    """A file that was read and let go; it is read again for the place of a row."""

    def __init__(self, format: Format, entry: Entry, names: tuple[str, str], row: _Row, first: int) -> None:
        super().__init__(TextFile(entry.path, *names, b"" if row.blank else b"\0"), row.origin)
        self.first, self.rows, self.readable = first, row.rows, row.readable
        self._format, self._entry = format, entry

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`Part.place`."""
        return self._again().place(row, field)

    def lines(self, rows: Ints) -> Ints:
        """See :meth:`Part.lines`."""
        return self._again().lines(rows)

    def _again(self) -> Part:
        file = dataclasses.replace(self.file, data=self._entry.read())
        return self._format.read([file], lambda _: None).parts[0]


def _joined(format: Format, kept: Sequence[tuple[_Read, Shard]], told: bool) -> Recognised:
    """What was kept of all shards as one reading."""
    tables: list[pa.Table] = []
    parts: list[Part] = []
    before = 0
    for read, shard in kept:
        table = pa.ipc.open_stream(read.table).read_all()
        tables.append(table)
        for row in read.rows:
            entry, *names = shard.files[row.file]
            parts.append(_LatePart(format, entry, (names[0], names[1]), row, before + row.first))
        before += table.num_rows
    evidence = next((read.evidence for read, _ in kept if read.evidence), "")
    return Recognised(Reading(format, pa.concat_tables(tables, promote_options="default"), parts), told, evidence)
