"""Label files read a few at a time: all are looked at to tell their layouts, none is kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from seldio.check.vetting import Faults, vet
from seldio.conversion.inputs import asking, label_entries, label_files
from seldio.engines import cut
from seldio.files import Entry, Source
from seldio.findings import Finding, Severity, Sink, raise_errors
from seldio.formats import Format, TextFile, get
from seldio.formats.detect import Wanted
from seldio.formats.recognise import Recognised, files_by_layout, read_files, usable
from seldio.progress import over

#: Bytes of labels that are worked on together.
SHARD = 1 << 18
#: Bytes kept of all files together while their layouts are told; of each at least a few rows, or the head of an object.
_LOOK, _ROWS, _OBJECT = 1 << 20, 1 << 9, 1 << 11
#: An entry, its name and its clip.
File = tuple[Entry, str, str]


class Shard(NamedTuple):
    """Some label files of one layout; the layout is None where the content does not tell it.

    Each file is its entry, its name and its clip. The layout is a name or alias for :func:`seldio.formats.get`;
    *told*: the user named it.
    """

    layout: str | None
    files: tuple[File, ...]
    told: bool = False

    def portable(self) -> Shard:
        """The shard as it can go to another process."""
        return self._replace(files=tuple((entry.portable(), name, clip) for entry, name, clip in self.files))

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when one of its files does."""
        return (self.layout, self.told, *((entry.stamp, name, clip) for entry, name, clip in self.files))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(max(entry.size, 0) for entry, _, _ in self.files)

    def read(self, sink: Sink = raise_errors) -> list[tuple[pa.Table, Format]]:
        """The event tables of its files, each with its layout; raises what :meth:`vetted` raises."""
        return [(one.reading.table, one.reading.format) for one in self._readings(sink)]

    def vetted(self, sink: Sink = raise_errors) -> tuple[list[tuple[pa.Table, Format]], Faults]:
        """The event tables of its files, each with its layout, and errors in their rows.

        Raises:
            InvalidData: a file is damaged; and what *sink* raises.
            UnknownFormat: the layout has to be named.
        """
        found = self._readings(sink)
        return [(one.reading.table, one.reading.format) for one in found], vet(found).alone()

    def _readings(self, sink: Sink) -> list[Recognised]:
        told = get(self.layout) if self.layout is not None else None
        files = [TextFile(entry.path, name, clip, entry.read()) for entry, name, clip in self.files]
        return read_files(files, asking(sink), told)


def shards(
    source: Source, told: Format | None = None, without: Path | None = None, *, sink: Sink = raise_errors,
    by_clip: bool = True, wanted: Wanted | None = None,
) -> list[Shard]:  # fmt: skip
    """The label files of a source in shards: by layout, and within one by the name of the clip or of the file.

    Args:
        source: open, and to stay open until the shards are read.
        told: the layout of all files; found from the content of all of them together if not given.
        without: a folder that is left out.
        sink: takes remarks about what the files seem to be. What is wrong is told, with its true line, when the
            files are read as a whole.
        wanted: what decides between layouts that the content leaves; nothing, if not given.
        by_clip: whether clips are in the order of their names, whatever folders they are in.

    Raises:
        UnknownFormat: the content does not tell the layout; the message names the candidates.
        UsageError: two files describe one clip.
        InvalidData: a file is damaged.
    """
    entries = label_entries(source, told, without)
    room = _LOOK // max(1, len(entries))
    sizes: dict[str, int] = {}
    samples = []
    for entry, name, clip in over(entries, "looking at labels"):
        known = told is not None and entry.size >= 0
        data = b"" if known else entry.read()
        sizes[entry.path] = entry.size if known else len(data)
        least = _OBJECT if data[:1] == b"{" else _ROWS
        seen = sample(data, max(room, least)) if told is None else b""
        samples.append(TextFile(entry.path, name, clip, seen))
    alone = source.kind in ("file", "gzip", "stdin")
    kept = label_files(samples, every=alone or told is not None)
    same = None if told is None else dict.fromkeys((file.path for file in kept), _name(told))
    layouts = _layouts(kept, sink, wanted) if same is None else same
    groups: dict[str | None, list[File]] = {}
    for each in entries:
        if each[0].path in layouts:
            groups.setdefault(layouts[each[0].path], []).append(each)
    if by_clip:
        groups = {layout: sorted(group, key=itemgetter(2)) for layout, group in groups.items()}
    return [
        Shard(layout, tuple(those), told is not None)
        for layout, group in groups.items() for those in cut(group, SHARD, lambda file: sizes[file[0].path])
    ]  # fmt: skip


def known(format: Format) -> bool:
    """Whether another process finds *format* by a name."""
    return any(get(name) == format for name in (format.name, *format.aliases))


def _name(format: Format) -> str:
    """A name or alias under which *format* is found."""
    return next((name for name in (format.name, *format.aliases) if get(name) == format), format.name)


def sample(data: bytes, room: int) -> bytes:
    """Whole lines from the head and the tail of a label file, *room* bytes at most; all of it where it is smaller."""
    if len(data) <= room:
        return data
    head = data[: data.rfind(b"\n", 0, room // 2) + 1] or data[: room // 2]
    tail = data[-(room // 2) :]
    return head + tail[tail.find(b"\n") + 1 :]


def _layouts(files: Sequence[TextFile], sink: Sink, wanted: Wanted | None) -> dict[str, str | None]:
    """The layout of each file by its path, in the order of layouts; None where the file itself has to say why not."""

    def remark(finding: Finding) -> None:
        if finding.severity is not Severity.ERROR:
            sink(finding)

    found: dict[str, str | None] = {}
    for format, members, _ in files_by_layout(usable(files, asking(remark)), asking(remark), wanted):
        found |= {file.path: format.name for file in members}
    return found | {file.path: None for file in files if file.path not in found}
