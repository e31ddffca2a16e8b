"""From a source to the files that go to the Hub."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from seldio import progress
from seldio.errors import UsageError
from seldio.files import Entry, Limits, Source, atomic_write, open_source
from seldio.files.entries import hidden
from seldio.findings import Sink
from seldio.hub.manifest import Kind, Manifest, allowed
from seldio.text import printable

#: A data set may be larger than what one reading of it takes into memory: files are streamed.
LIMITS = Limits(file_bytes=2**30, total_bytes=2**40, members=2_000_000)


def prepare(source: str, kind: Kind, folder: Path, sink: Sink, include: Sequence[str] = ()) -> Manifest:
    """The files that go up.

    Args:
        source: a file, folder or archive.
        kind: *files* takes them as they are; the others write them anew into *folder*.
        folder: where new files are written; what is there from a run before is used again.
        sink: takes what is wrong with the source itself (``SAF1xx``).
        include: patterns of files that go too, though data sets are not made of such files as a rule.

    Raises:
        UsageError: there is nothing to take.
        DataError: the data is wrong, so that it cannot be written anew.
    """
    if kind == "files":
        return _as_they_are(source, folder, sink, include)
    from seldio.data import export
    from seldio.data.manifest import NAME as MANIFEST

    out = folder / kind
    folder.mkdir(parents=True, exist_ok=True)
    # a staging folder may hold more than was written for this source
    written = {file.name for file in export(source, out, kind).files} | {MANIFEST}
    with open_source(out, sink, LIMITS, as_it_lies=True) as made:
        return Manifest(source, kind, tuple(entry for entry in made if entry.name in written))


def _as_they_are(source: str, folder: Path, sink: Sink, include: Sequence[str]) -> Manifest:
    with open_source(source, sink, LIMITS, as_it_lies=True) as opened:
        going: list[Entry] = []
        staying: list[Entry] = []
        for entry in opened:
            wanted = allowed(entry.name) or any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in include)
            (going if wanted else staying).append(entry)
        if not going:
            raise UsageError(
                f"{printable(source)} holds no file that data sets are made of; --include PATTERN adds some"
            )
        left = (*(entry.name for entry in staying), *_hidden(opened))
        return Manifest(source, "files", tuple(_on_disk(going, folder / "files")), tuple(sorted(left)))


def _hidden(source: Source) -> list[str]:
    """What stands hidden in the top folder: it never goes, and people should know."""
    if source.kind != "folder":
        return []
    return sorted(item.name + "/" * item.is_dir() for item in Path(source.path).iterdir() if hidden(item.name))


def _on_disk(entries: Sequence[Entry], folder: Path) -> list[Entry]:
    """The entries as files on disk: what is in an archive is unpacked into *folder*, names as they were checked."""
    if all(entry.local is not None for entry in entries):
        return list(entries)
    for entry in progress.over(entries, "unpacking files", size=attrgetter("size")):
        target = folder / entry.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (target.is_file() and target.stat().st_size == entry.size):
            with atomic_write(target) as stream:
                stream.write(entry.read())
    made = {entry.name for entry in entries}
    with open_source(folder, _ignored, LIMITS, as_it_lies=True) as unpacked:
        return [entry for entry in unpacked if entry.name in made]


def _ignored(_: object) -> None:
    """What is wrong with names was reported when the archive was opened."""
