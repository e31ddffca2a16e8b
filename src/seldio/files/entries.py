"""A source and its entries, which are read one by one; their names, and the limits of what a source may ask for.

Some names are passed over; of others, a warning says that other systems (``SAF109``) or WebDataset (``SAF111``) take
them otherwise.
"""

from __future__ import annotations

import io
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self, cast

from seldio.errors import InvalidData, SeldioError
from seldio.files.streams import CHUNK, Inside, Stretch, guard, open_regular, problem, read_regular
from seldio.findings import Sink
from seldio.text import hides, listed, plural, printable

if TYPE_CHECKING:
    from seldio.files.archives import Packed

Kind = Literal["file", "folder", "zip", "tar", "gzip", "stdin"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on what a source may ask of this machine; whatever exceeds one is a ``SAF105`` finding."""

    file_bytes: int = 256 * 2**20  # one file, or one member of an archive, read as a whole
    lines_bytes: int = 4 * 2**30  # the same for JSON Lines on disk: the questions of a whole dataset are one such file
    members: int = 200_000  # members of one archive, or files of one folder that links to folders lead to
    files: int = 5_000_000  # files of one folder
    total_bytes: int = 4 * 2**30  # all members of one archive together, unpacked
    ratio: int = 200  # unpacked to packed size, of what unpacks to more than 1 MiB (a compressed tar: 64 MiB)
    name_chars: int = 1024  # a name with its folders

    def plain(self, name: str) -> int:
        """Return how large a file on disk may be, in bytes, to be read as a whole."""
        return self.lines_bytes if name.lower().endswith((".jsonl", ".ndjson")) else self.file_bytes

    def unpacked(self, packed: int, most: int) -> int:
        """Return how many bytes *packed* bytes may unpack to; never over *most*."""
        return min(most, max(2**20, self.ratio * packed))


DEFAULTS = Limits()


@dataclass(frozen=True, slots=True)
class Entry:
    """One regular file of a source."""

    path: str  # the file as shown to the user: ``folder/a.csv``, ``x.zip!/a.csv``, ``<stdin>``
    name: str  # POSIX path relative to the source's root; for a single file its file name
    size: int  # bytes when unpacked; -1 if unknown
    _cap: int = field(repr=False)
    #: the real file on disk, links resolved; None in archives and standard input
    real: str | None = field(default=None, repr=False)
    _start: Callable[[], Any] = field(default=io.BytesIO, repr=False)
    _owner: Packed | None = field(default=None, repr=False)

    @property
    def on_disk(self) -> bool:
        """Whether its bytes lie on disk as they are: as a file of their own, or inside of one."""
        return self.real is not None or isinstance(self._start, Stretch)

    @property
    def reopens(self) -> bool:
        """Whether any process can open it anew at once; what is in an archive is found by reading that first."""
        return self.real is not None or isinstance(self._start, Inside)

    def read(self) -> bytes:
        """Return the whole content.

        Raises:
            InvalidData: a limit is passed (``SAF105``) or the data is damaged (``SAF107``).
            SeldioError: the disk fails, or the file vanished or may not be read.
        """
        if self.real is not None:
            return read_regular(self.real, self.path, self._cap)
        data = io.BytesIO()
        with guard(self.path), self._started() as stream:
            while chunk := stream.read(CHUNK):  # counted here, whatever the headers say
                data.write(chunk)
                if data.tell() > self._cap:
                    raise InvalidData(problem("SAF105", self.path, f"Unpacks to over {self._cap:,} bytes"))
        return data.getvalue()

    def _started(self) -> Any:
        """Return a stream of what is in an archive or in memory."""
        if self._owner is not None and self._owner.closed:
            raise SeldioError(f"{printable(self.path)} belongs to a source that has been closed")
        return self._start()

    def head(self, count: int) -> bytes:
        """Return the first *count* bytes, or all if there are no more; raises what :meth:`read` raises."""
        with guard(self.path), self.open() if self.real is not None else self._started() as stream:
            return bytes(stream.read(count))

    def open(self) -> BinaryIO:
        """Return a seekable stream of the content, to be closed by the caller; raises what :meth:`read` raises.

        A real file, or a stretch of one, may have any size, since a stream of it fills no memory; what comes out of
        an archive otherwise is held in memory.
        """
        if self.real is not None:
            return os.fdopen(open_regular(self.real, self.path)[0], "rb")
        if isinstance(self._start, Stretch):
            with guard(self.path):
                return cast("BinaryIO", self._start())
        return io.BytesIO(self.read())


def packed(entries: Iterable[Entry]) -> bool:
    """Return whether some of *entries* are packed or in memory, so that each process would have to unpack them anew."""
    return not all(entry.reopens for entry in entries)


def plain_file(path: str | os.PathLike[str]) -> Entry:
    """The file *path*, links followed, before anything is known of it: opening it tells whether it is a regular one."""
    return Entry(os.fspath(path), Path(path).name, -1, DEFAULTS.file_bytes, os.path.realpath(path))


@dataclass(frozen=True, slots=True)
class Source:
    """The regular files of a file, folder, archive or standard input; a context manager."""

    path: str  # the source as the user named it
    kind: Kind  # *tar* may be compressed; *gzip* is one file packed by gzip, bzip2 or xz
    entries: tuple[Entry, ...]  # sorted by name, by code point (which is the byte order of UTF-8) in every locale
    _stack: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)
    exported: bool = False  # whether it is an export, and *entries* are the files that it was made from
    #: of a source with only some of its files, all of them
    every: tuple[Entry, ...] = ()
    #: what a catalogue has found in its files, for the next one, by whether labels were wanted
    looks: dict[bool, Any] = field(default_factory=dict, repr=False, compare=False)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def single(self) -> bool:
        """Whether it is one file, packed or not, or standard input: no folder and no archive."""
        return self.kind in ("file", "gzip", "stdin")

    @property
    def archived(self) -> bool:
        """Whether it is an archive of several files."""
        return self.kind in ("zip", "tar")

    @property
    def streamed(self) -> bool:
        """Whether it is what comes out of a packed file or standard input, which stands in no folder of its own."""
        return self.kind in ("gzip", "stdin")

    def restricted(self, entries: Iterable[Entry]) -> Source:
        """Return the same source with only these of its files."""
        return Source(self.path, self.kind, tuple(entries), self._stack, self.exported, self.every or self.entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive; its entries can no longer be read."""
        self._stack.close()


# --- names -----------------------------------------------------------------------------------------------


#: Skipped in folders and archives, as is every name that begins with a dot.
SKIPPED = frozenset({"__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini"})

_ON_WINDOWS = {
    "holds a character that Windows forbids": re.compile(r"[<>:|?*\\]"),
    "ends in a dot or space, which Windows drops": re.compile(r"[. ](/|$)"),
    "is reserved for a device on Windows": re.compile(r"(?i)(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.[^/]*)?(/|$)"),
}


def hidden(name: str) -> bool:
    """Return whether a file or folder of this name is passed over."""
    return name.startswith(".") or name in SKIPPED


def checked(entries: Iterable[Entry], sink: Sink) -> tuple[Entry, ...]:
    """Return the entries sorted by name; a warning for each name that fails on other systems."""
    ordered = tuple(sorted(entries, key=attrgetter("name")))
    alike: dict[str, list[Entry]] = {}
    for entry in ordered:
        if fault := name_fault(entry.name):
            sink(problem("SAF109", entry.path, f"The name {fault}"))
        alike.setdefault(unicodedata.normalize("NFC", entry.name).casefold(), []).append(entry)
    for same in alike.values():
        if len(same) > 1:
            names = listed([ascii(entry.name) for entry in same])
            what = f"{names} differ only in case or Unicode form"
            sink(problem("SAF109", same[-1].path, what))
    return ordered


def name_fault(name: str) -> str | None:
    """Return why other systems may refuse *name* or mix it up; None where they do not."""
    if hides(name):
        broken = any("\ud800" <= character <= "\udfff" for character in name)
        return "is not UTF-8" if broken else "holds control, invisible or text-reversing characters"
    if any(len(part.encode()) > 255 for part in name.split("/")):
        return "is longer than 255 bytes"
    return next((fault for fault, pattern in _ON_WINDOWS.items() if pattern.search(name)), None)


def check_keys(path: str, entries: Iterable[Entry], sink: Sink) -> None:
    """Warn if WebDataset would cut names short."""
    names = [entry.name for entry in entries if entry.name.rpartition("/")[2].count(".") > 1]
    if names:
        what = f"More than one dot in {plural(len(names), 'name')} ({listed(names)})"
        sink(problem("SAF111", path, what))
