"""Streams of regular files on disk and of what lies inside of them; and what is wrong with them.

A regular file is opened once, never through a link, and what was opened is what is checked. An archive is read by
threads and processes independently of each other: a stream has one position, forked processes share that of a file,
and threads that of any stream, so that each would read at the place to which another one has just moved. So everything
that reads an archive takes a stream of its own, whose position is kept in Python; a process into which the archive was
pickled opens the file for itself.
"""

from __future__ import annotations

import errno
import io
import lzma
import os
import stat
import struct
import tarfile
import threading
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from seldio.errors import InvalidData, SeldioError
from seldio.findings import Finding
from seldio.reader_rules import READER_RULES
from seldio.text import clipped, printable

#: Bytes read at once.
CHUNK = 2**16
#: Flags with which every file is opened, for reading and for writing.
SAFE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_READ = os.O_RDONLY | SAFE | getattr(os, "O_NONBLOCK", 0)
#: Bytes read ahead in archives.
_AHEAD = 2**16

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
        packed = {zipfile.BadZipFile: "zip", tarfile.TarError: "tar"}
        kind = next((packed[each] for each in type(error).__mro__ if each in packed), None)
        what = f"A corrupt {kind} archive" if kind else "Damaged"
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


def read_regular(real: str, path: str, cap: int) -> bytes:
    """Return the content of a regular file."""
    handle, size = open_regular(real, path)
    with os.fdopen(handle, "rb") as stream:  # buffered: it reads on where the system stops at 2 GiB
        try:
            data = stream.read(min(size, cap) + 1)
            while size < len(data) <= cap and (more := stream.read(len(data))):
                data += more  # it grows, or hides its size as /proc does
        except OSError as error:
            raise failure(path, error) from error
    if len(data) > cap:
        raise InvalidData(problem("SAF105", path, f"Holds more than {cap:,} bytes"))
    return data


class Handle:
    """A descriptor, closed when nothing refers to it any more."""

    def __init__(self, number: int, size: int) -> None:
        self.number, self.size = number, size
        self.close = weakref.finalize(self, os.close, number)

    def stream(self) -> io.BufferedReader:
        """Return the whole file, with a position of its own."""
        return io.BufferedReader(_Window(self, 0, self.size, alone=False), _AHEAD)

    @property
    def stamp(self) -> tuple[int, int]:
        """Return a stamp that changes with the file, the same on all machines that see it."""
        return self.size, os.fstat(self.number).st_mtime_ns


class _Window(io.RawIOBase):
    """A stream of bytes of a file that never moves the position which other streams of the descriptor share."""

    def __init__(self, handle: Handle, base: int, size: int, *, alone: bool) -> None:
        super().__init__()
        self.base = base
        self._handle, self._size, self._alone, self._place = handle, size, alone, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle.number if self._alone else super().fileno()

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("before the beginning")
        self._place = start + offset
        return self._place

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")[: max(0, self._size - self._place)]
        count = _read_into(self._handle.number, view, self.base + self._place)
        self._place += count
        return count

    def close(self) -> None:
        if self._alone:
            self._handle.close()
        super().close()


if hasattr(os, "preadv"):

    def _read_into(number: int, view: memoryview, place: int) -> int:
        return os.preadv(number, [view], place)

else:  # Windows, where nothing forks
    _one_at_a_time = threading.Lock()

    def _read_into(number: int, view: memoryview, place: int) -> int:
        with _one_at_a_time:
            os.lseek(number, place, os.SEEK_SET)
            data = os.read(number, len(view))
        view[: len(data)] = data
        return len(data)


# --- what lies inside of a file -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inside:
    """The content of a file on disk, or of a part of it, which each call opens anew."""

    real: str  # the file, links resolved

    def __call__(self) -> Any:
        """Return a stream of it; raises OSError, or an error in ``DAMAGE``, where the file is no longer what it was."""
        raise NotImplementedError


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
        return io.BufferedReader(_Window(Handle(handle, whole), self.at, self.size, alone=True))


def inside(stream: BinaryIO) -> int:
    """Return the offset in the file behind ``fileno`` at which a stream from :meth:`Entry.open` begins."""
    raw = getattr(stream, "raw", None)
    return raw.base if isinstance(raw, _Window) else 0
