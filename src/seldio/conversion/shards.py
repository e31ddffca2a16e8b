"""Label files read a few at a time: all are looked at to tell their layouts, none is kept in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from seldio.conversion.inputs import asking, label_entries, label_files
from seldio.files import Entry, Source
from seldio.findings import Finding, raise_errors
from seldio.formats import Format, TextFile, get
from seldio.formats.recognise import files_by_layout, read_files

#: Bytes of labels that are worked on together.
SHARD = 1 << 18
#: Bytes kept of all files together while their layouts are told, and of each at least.
_LOOK, _LEAST = 1 << 20, 1 << 11


class Shard(NamedTuple):
    """Some label files of one layout; the layout is None where the content does not tell it.

    Each file is its entry, its name and its clip.
    """

    layout: str | None
    files: tuple[tuple[Entry, str, str], ...]

    def portable(self) -> Shard:
        """The shard as it can go to another process."""
        return Shard(self.layout, tuple((entry.portable(), name, clip) for entry, name, clip in self.files))

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when one of its files does."""
        return (self.layout, *((entry.stamp, name, clip) for entry, name, clip in self.files))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(max(entry.size, 0) for entry, _, _ in self.files)

    def tables(self) -> list[tuple[pa.Table, str]]:
        """The event tables of its files, each with the name of its layout.

        Raises:
            InvalidData: something in the labels is wrong.
            UnknownFormat: the layout has to be named.
        """
        told = get(self.layout) if self.layout is not None else None
        files = [TextFile(entry.path, name, clip, entry.read()) for entry, name, clip in self.files]
        found = [item.reading for item in read_files(files, asking(raise_errors), told)]
        return [(reading.table, reading.format.name) for reading in found]


def shards(source: Source, told: Format | None = None, without: Path | None = None) -> list[Shard]:
    """The label files of a source in shards: by layout, and within one by the name of the clip.

    Args:
        source: open, and to stay open until the shards are read.
        told: the layout of all files; found from the content of all of them together if not given.
        without: a folder that is left out.

    Raises:
        UnknownFormat: the content does not tell the layout; the message names the candidates.
        UsageError: two files describe one clip.
        InvalidData: a file is damaged.
    """
    entries = label_entries(source, told, without)
    room = max(_LEAST, _LOOK // max(1, len(entries)))
    sizes: dict[str, int] = {}
    samples = []
    for entry, name, clip in entries:
        data = entry.read()
        sizes[entry.path] = len(data)
        samples.append(TextFile(entry.path, name, clip, sample(data, room) if told is None else b""))
    alone = source.kind in ("file", "gzip", "stdin")
    kept = label_files(samples, every=alone or told is not None)
    layouts = dict.fromkeys((file.path for file in kept), told.name) if told is not None else _layouts(kept)
    groups: dict[str | None, list[tuple[Entry, str, str]]] = {}
    for each in entries:
        if each[0].path in layouts:
            groups.setdefault(layouts[each[0].path], []).append(each)
    return [shard for layout, group in groups.items() for shard in _cut(layout, group, sizes)]


def sample(data: bytes, room: int) -> bytes:
    """Whole lines from the head and the tail of a label file, *room* bytes at most; all of it where it is smaller."""
    if len(data) <= room:
        return data
    head = data[: data.rfind(b"\n", 0, room // 2) + 1] or data[: room // 2]
    tail = data[-(room // 2) :]
    return head + tail[tail.find(b"\n") + 1 :]


def _layouts(files: Sequence[TextFile]) -> dict[str, str | None]:
    """The layout of each file by its path, in the order of layouts; None where the file itself has to say why not."""
    found: dict[str, str | None] = {}
    for format, members, _ in files_by_layout(files, asking(_unheard)):
        found |= {file.path: format.name for file in members}
    return found | {file.path: None for file in files if file.path not in found}


def _unheard(finding: Finding) -> None:
    """What is wrong is told, with its true line, when the file is read as a whole."""


def _cut(layout: str | None, group: list[tuple[Entry, str, str]], sizes: dict[str, int]) -> Iterator[Shard]:
    """Files by clip, ``SHARD`` bytes at a time."""
    taken: list[tuple[Entry, str, str]] = []
    size = 0
    for each in sorted(group, key=lambda each: each[2]):
        if taken and size + sizes[each[0].path] > SHARD:
            yield Shard(layout, tuple(taken))
            taken, size = [], 0
        taken.append(each)
        size += sizes[each[0].path]
    if taken:
        yield Shard(layout, tuple(taken))
