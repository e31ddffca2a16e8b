"""Sources and their entries, which are read one by one, within limits; and what is wrong with files (``SAF1xx``).

A regular file is opened once, never through a link, and what was opened is what is checked. Archives are read by
threads and processes independently of each other: each stream has a position of its own, kept in Python where several
share a descriptor.
"""

from __future__ import annotations

import errno
import io
import lzma
import os
import re
import shutil
import stat
import struct
import tarfile
import threading
import unicodedata
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self, cast

from seldio.errors import InvalidData, SeldioError
from seldio.findings import Finding, Sink
from seldio.reader_rules import READER_RULES
from seldio.text import clipped, hides, listed, printable

Kind = Literal["file", "folder", "zip", "tar", "gzip", "stdin"]
#: Bytes read at once.
CHUNK = 2**16
#: Flags with which every file is opened, for reading and for writing.
SAFE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_READ = os.O_RDONLY | SAFE | getattr(os, "O_NONBLOCK", 0)
#: Taken by reading where the system has no ``preadv``.
_one_at_a_time = threading.Lock()

# --- problems with files (``SAF1xx``) --------------------------------------------------------------------

_WHY = {
    "SAF101": "unpacking would write outside the folder, so it is not read",
    "SAF102": "unpacking could write anywhere on the disk, so it is not read",
    "SAF103": "reading it might never end, so it is not opened",
    "SAF104": "unpacking keeps the last one, here the first is read",
    "SAF105": "that exceeds a limit that keeps memory and disk from filling up",
    "SAF107": "it cannot be read completely",
    "SAF108": "it is not followed",
    "SAF109": "other systems may reject or confuse it",
    "SAF111": "WebDataset uses only the part before the first dot as the sample's key",
}

# What the standard library raises on damaged and forged archives; a fuzz test holds that this is all.
DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, RuntimeError, OverflowError, LookupError),
)

#: Reasons of the standard library in other words.
_REASONS = {
    "Compressed file ended before the end-of-stream marker was reached": "cut short",
    "File is not a zip file": "the list of its files, at its end, is missing",
    "Bad magic number for file header": "the header of the file is broken",
    "Bad magic number for central directory": "the list of its files is broken",
}


def problem(code: str, path: str, what: str) -> Finding:
    """Return the finding for *what* is wrong with *path*, with the reason that *code* stands for."""
    return READER_RULES[code].at(path, f"{what}: {_WHY[code]}")


def special(path: str, mode: int) -> Finding:
    """Return the finding for what is neither file nor folder."""
    kind = "A named pipe" if stat.S_ISFIFO(mode) else "A socket" if stat.S_ISSOCK(mode) else "A device"
    return problem("SAF103", path, kind)


def failure(path: str, error: OSError, deed: str = "read") -> SeldioError:
    """Return the exception to raise when the system refuses a *deed*."""
    if deed == "read" and isinstance(error, FileNotFoundError):
        return SeldioError(f"{printable(path)} vanished while it was being read")
    return SeldioError(f"cannot {deed} {printable(path)}: {error.strerror or error}")


@contextmanager
def guard(path: str) -> Iterator[None]:
    """Turn what damaged archives and failing disks raise into InvalidData and SeldioError."""
    try:
        yield
    except (*DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise failure(path, error) from error
        kind = "zip" if isinstance(error, zipfile.BadZipFile) else "tar"
        what = f"A corrupt {kind} archive" if isinstance(error, zipfile.BadZipFile | tarfile.TarError) else "Damaged"
        reason = _REASONS.get(str(error), str(error) or type(error).__name__)
        if isinstance(error, zlib.error):  # "Error -3 while decompressing data: invalid block type"
            reason = f"its compressed data is broken: {reason.rpartition(': ')[2]}"
        raise InvalidData(problem("SAF107", path, f"{what} ({clipped(reason, 200)})")) from error


# --- regular files ---------------------------------------------------------------------------------------


def open_regular(real: str, path: str) -> tuple[int, int]:
    """Return the descriptor and size of a regular file; a named pipe put in its place does not block."""
    try:
        handle = os.open(real, _READ)
    except OSError as error:
        raise failure(path, error) from error
    state = os.fstat(handle)
    if stat.S_ISREG(state.st_mode):
        return handle, state.st_size
    os.close(handle)
    raise InvalidData(special(path, state.st_mode))


class Handle:
    """A descriptor, closed when nothing refers to it any more."""

    def __init__(self, number: int, size: int) -> None:
        self.number, self.size = number, size
        weakref.finalize(self, os.close, number)

    def stream(self, base: int = 0) -> io.BufferedReader:
        """Return the whole file, or as many bytes from *base* on, with a position of its own."""
        return io.BufferedReader(_Window(self, base, self.size), CHUNK)

    @property
    def stamp(self) -> tuple[int, int]:
        """Return a stamp that changes with the file, the same on all machines that see it."""
        return self.size, os.fstat(self.number).st_mtime_ns


class _Window(io.RawIOBase):
    """A stream of bytes of a file that never moves the position which other streams of the descriptor share."""

    def __init__(self, handle: Handle, base: int, size: int) -> None:
        super().__init__()
        self.base = base
        self._handle, self._size, self._place = handle, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle.number

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("before the beginning")
        self._place = start + offset
        return self._place

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")[: max(0, self._size - self._place)]
        number, place = self._handle.number, self.base + self._place
        if hasattr(os, "preadv"):
            count = os.preadv(number, [view], place)
        else:  # Windows, where nothing forks
            with _one_at_a_time:
                os.lseek(number, place, os.SEEK_SET)
                data = os.read(number, len(view))
            count = len(data)
            view[:count] = data
        self._place += count
        return count


@dataclass(frozen=True, slots=True)
class Inside:
    """The content of a file on disk, or of a part of it; each call of a subclass opens it anew.

    It raises OSError, or an error in ``DAMAGE``, where the file is no longer what it was.
    """

    real: str  # the file, links resolved


@dataclass(frozen=True, slots=True)
class Stretch(Inside):
    """Bytes that lie in a file as they are; called, it gives a seekable stream of them."""

    at: int
    size: int

    def __call__(self) -> io.BufferedReader:
        """See :class:`Inside`."""
        handle, whole = open_regular(self.real, self.real)
        if whole < self.at + self.size:
            os.close(handle)
            raise EOFError("it has become shorter")
        return io.BufferedReader(_Window(Handle(handle, whole), self.at, self.size))


def inside(stream: BinaryIO) -> int:
    """Return the offset in the file behind ``fileno`` at which a stream from :meth:`Entry.open` begins."""
    raw = getattr(stream, "raw", None)
    return raw.base if isinstance(raw, _Window) else 0


def reopening(stream: BinaryIO) -> Callable[[], BinaryIO]:
    """Return what opens the bytes of *stream*, which may be closed, again, each time with a position of its own.

    Those of a file stay in it, even if another one gets its name; those of other streams are held in memory.
    """
    if not isinstance(getattr(stream, "raw", None), io.FileIO | _Window):
        stream.seek(0)
        return partial(io.BytesIO, stream.read())
    size = stream.seek(0, os.SEEK_END)
    return partial(Handle(os.dup(stream.fileno()), size).stream, inside(stream))


# --- sources ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on what a source may ask of this machine; whatever exceeds one is a ``SAF105`` finding."""

    file_bytes: int = 256 * 2**20  # one file, or one member of an archive, read as a whole
    lines_bytes: int = 4 * 2**30  # the same for JSON Lines on disk: the questions of a whole dataset are one such file
    members: int = 200_000  # members of one archive, or files of one folder that links to folders lead to
    total_bytes: int = 4 * 2**30  # all members of one archive together, unpacked
    ratio: int = 200  # unpacked to packed size, of what unpacks to more than 1 MiB (a compressed tar: 64 MiB)

    def plain(self, name: str) -> int:
        """Return how large a file on disk may be, in bytes, to be read as a whole."""
        return self.lines_bytes if name.lower().endswith((".jsonl", ".ndjson")) else self.file_bytes

    def unpacked(self, packed: int, most: int) -> int:
        """Return how many bytes *packed* bytes may unpack to; never over *most*."""
        return min(most, max(2**20, self.ratio * packed))


DEFAULTS = Limits()
#: Those of exports: recordings are longer than what other verbs hold in memory.
LARGE = Limits(file_bytes=2**30, total_bytes=2**40, members=2_000_000)


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

    @property
    def on_disk(self) -> bool:
        """Whether its bytes lie on disk as they are: as a file of their own, or inside of one."""
        return self.real is not None or isinstance(self._start, Stretch)

    def read(self) -> bytes:
        """Return the whole content.

        Raises:
            InvalidData: a limit is passed (``SAF105``) or the data is damaged (``SAF107``).
            SeldioError: the disk fails, or the file vanished or may not be read.
        """
        if self.real is None:
            unpacked = io.BytesIO()
            with guard(self.path), self._start() as stream:
                while chunk := stream.read(CHUNK):  # counted here, whatever the headers say
                    unpacked.write(chunk)
                    if unpacked.tell() > self._cap:
                        raise InvalidData(problem("SAF105", self.path, f"Unpacks to over {self._cap:,} bytes"))
            return unpacked.getvalue()
        handle, size = open_regular(self.real, self.path)
        with guard(self.path), os.fdopen(handle, "rb") as stream:
            data: bytes = stream.read(size + 1) if size <= self._cap else b""
            if len(data) > size:  # it grows, or hides its size as /proc does
                data += stream.read(self._cap)
        if max(size, len(data)) > self._cap:
            raise InvalidData(problem("SAF105", self.path, f"Holds more than {self._cap:,} bytes"))
        return data

    def head(self, count: int) -> bytes:
        """Return the first *count* bytes, or all if there are no more; raises what :meth:`read` raises."""
        with guard(self.path), self.open() if self.real is not None else self._start() as stream:
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

    def copy_to(self, stream: BinaryIO) -> None:
        """Write the content to *stream*, a megabyte at a time; raises what :meth:`read` raises."""
        with self.open() as content:
            shutil.copyfileobj(content, stream, 16 * CHUNK)


def packed(entries: Iterable[Entry]) -> bool:
    """Return whether some of *entries* are packed or in memory, so that each process would have to unpack them anew."""
    return any(entry.real is None and not isinstance(entry._start, Inside) for entry in entries)


def plain_file(path: str | os.PathLike[str]) -> Entry:
    """Return the file *path*, links followed; only opening it tells whether it is a regular one."""
    return Entry(os.fspath(path), Path(path).name, -1, DEFAULTS.file_bytes, os.path.realpath(path))


@dataclass(frozen=True, slots=True)
class Source:
    """The regular files of a file, folder, archive or standard input; a context manager."""

    path: str  # the source as the user named it
    kind: Kind  # *tar* may be compressed; *gzip* is one file packed by gzip, bzip2 or xz
    entries: tuple[Entry, ...]  # sorted by name, by code point (which is the byte order of UTF-8) in every locale
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
        return Source(self.path, self.kind, tuple(entries), self.exported, self.every or self.entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open: each entry is opened when it is read."""


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
            sink(problem("SAF109", same[-1].path, f"{names} differ only in case or Unicode form"))
    return ordered


def name_fault(name: str) -> str | None:
    """Return why other systems may refuse *name* or mix it up; None where they do not."""
    if hides(name):
        broken = any("\ud800" <= character <= "\udfff" for character in name)
        return "is not UTF-8" if broken else "holds control, invisible or text-reversing characters"
    if any(len(part.encode()) > 255 for part in name.split("/")):
        return "is longer than 255 bytes"
    return next((fault for fault, pattern in _ON_WINDOWS.items() if pattern.search(name)), None)
