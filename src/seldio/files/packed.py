"""The bytes of an archive, which threads and processes read independently of each other.

A stream has one position. Forked processes share that of a file, and threads that of any stream: each would read at
the place to which another one has just moved. So everything that reads an archive takes a stream of its own, whose
position is kept in Python; a process into which the archive was pickled opens the file for itself.
"""

from __future__ import annotations

import io
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import IO, Any, Protocol

from seldio.errors import InvalidData, SeldioError
from seldio.files.problems import problem
from seldio.files.regular import CHUNK, open_regular
from seldio.text import printable

_SPOOL = 2**26  # bytes of an inflated tar kept in memory
_AHEAD = 2**16


class Packed(Protocol):
    """An opened archive, or one that is opened when it is first read. It can be pickled."""

    closed: bool

    def stream(self) -> IO[bytes]:
        """Its bytes, seekable, with a position of their own."""
        ...

    def close(self) -> None:
        """Nothing more is read."""
        ...


class Memory:
    """An archive in memory, as it came from standard input.

    Args:
        data: its bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.closed, self._data = False, data

    def stream(self) -> IO[bytes]:
        """See :class:`Packed`."""
        return io.BytesIO(self._data)

    def close(self) -> None:
        """See :class:`Packed`."""
        self.closed = True


class OnDisk:
    """An archive on disk. What was opened stays readable here and in forks, whatever takes its place.

    Args:
        real: the file, links resolved.
        path: as shown to the user.
    """

    def __init__(self, real: str, path: str) -> None:
        self.closed, self._real, self._path = False, real, path
        self._handle: _Handle | None = _Handle(*open_regular(real, path))
        self._stamp = self._handle.stamp

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_handle": None}

    def stream(self) -> IO[bytes]:
        """See :class:`Packed`.

        Raises:
            SeldioError: this is another process, and the file is no longer what it was.
        """
        if self._handle is None:
            handle = _Handle(*open_regular(self._real, self._path))
            if handle.stamp != self._stamp:
                raise SeldioError(f"{printable(self._path)} has changed since it was opened: open the data set again")
            self._handle = handle
        return io.BufferedReader(_Positioned(self._handle), _AHEAD)

    def close(self) -> None:
        """See :class:`Packed`."""
        self.closed = True
        if self._handle is not None:
            self._handle.close()


class Inflated:
    """A compressed tar, inflated once in each process: jumping about in it would inflate it again for each member.

    It lies in memory or, if it is large, in a nameless temporary file.

    Args:
        packed: the compressed file.
        unpack: gives the inflated bytes of a stream.
        cap: most bytes that there may be.
        path: as shown to the user.
    """

    def __init__(self, packed: Packed, unpack: Callable[[IO[bytes]], Any], cap: int, path: str) -> None:
        self.closed, self._packed, self._unpack, self._cap, self._path = False, packed, unpack, cap, path
        self._start()

    def _start(self) -> None:
        self._lock, self._found = threading.Lock(), None  # type: tuple[threading.Lock, Memory | _Handle | None]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_found")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def stream(self) -> IO[bytes]:
        """See :class:`Packed`.

        Raises:
            InvalidData: it unpacks to more than the cap.
        """
        with self._lock:
            self._found = self._found or self._inflate()
        if isinstance(self._found, Memory):
            return self._found.stream()
        return io.BufferedReader(_Positioned(self._found), _AHEAD)

    def _inflate(self) -> Memory | _Handle:
        with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
            with self._packed.stream() as stream, self._unpack(stream) as opened:
                while chunk := opened.read(CHUNK):
                    spool.write(chunk)
                    if spool.tell() > self._cap:
                        raise InvalidData(problem("SAF105", self._path, f"Unpacks to more than {self._cap:,} bytes"))
            size = spool.tell()
            if size <= _SPOOL:
                spool.seek(0)
                return Memory(spool.read())
            spool.flush()
            return _Handle(os.dup(spool.fileno()), size)

    def close(self) -> None:
        """See :class:`Packed`."""
        self.closed = True
        if self._found is not None:
            self._found.close()


class _Handle:
    """A descriptor, closed when nothing refers to it any more."""

    def __init__(self, number: int, size: int) -> None:
        self.number, self.size = number, size
        self.close = weakref.finalize(self, os.close, number)

    @property
    def stamp(self) -> tuple[int, int]:
        """What differs when the file does, the same on all machines that see it."""
        return self.size, os.fstat(self.number).st_mtime_ns


class _Positioned(io.RawIOBase):
    """A stream of a descriptor that never moves the position which others share."""

    def __init__(self, handle: _Handle) -> None:
        super().__init__()
        self._handle, self._place = handle, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._handle.size}[whence]
        if start + offset < 0:
            raise ValueError("before the beginning")
        self._place = start + offset
        return self._place

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        data = _read_at(self._handle.number, len(view), self._place)
        view[: len(data)] = data
        self._place += len(data)
        return len(data)


if hasattr(os, "pread"):
    _read_at = os.pread
else:  # Windows, where nothing forks
    _one_at_a_time = threading.Lock()

    def _read_at(number: int, size: int, place: int, /) -> bytes:
        with _one_at_a_time:
            os.lseek(number, place, os.SEEK_SET)
            return os.read(number, size)
