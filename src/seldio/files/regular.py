"""Regular files on disk, opened once and never through a link, and what lies inside of them."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass
from typing import Any, BinaryIO

from seldio.errors import InvalidData
from seldio.files.problems import failure, problem, special

#: Bytes read at once.
CHUNK = 2**16
#: Flags with which every file is opened, for reading and for writing.
SAFE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_READ = os.O_RDONLY | SAFE | getattr(os, "O_NONBLOCK", 0)


def open_regular(real: str, path: str) -> tuple[int, int]:
    """Descriptor and size of a regular file; a named pipe put in its place does not block."""
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
    """The content of a regular file.

    Raises:
        InvalidData: it has more than *cap* bytes (``SAF105``), or is no regular file.
        SeldioError: the disk fails.
    """
    handle, size = open_regular(real, path)
    try:
        parts = [os.read(handle, min(size, cap) + 1)]
        total = len(parts[0])
        if total == size <= cap:
            return parts[0]
        while parts[-1] and total <= cap:  # it grows or shrinks, or hides its size as /proc does
            parts.append(os.read(handle, CHUNK))
            total += len(parts[-1])
    except OSError as error:
        raise failure(path, error) from error
    finally:
        os.close(handle)
    if total > cap:
        raise InvalidData(problem("SAF105", path, f"Holds more than {cap:,} bytes"))
    return b"".join(parts)


# --- what lies inside of a file -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Inside:
    """What lies inside of a file on disk, which is opened anew each time that this is called.

    Args:
        real: the file, links resolved.
    """

    real: str

    def __call__(self) -> Any:
        """A stream of it; raises OSError, or an error in ``DAMAGE``, where the file is no longer what it was."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Stretch(Inside):
    """Bytes that lie in a file as they are; called, it gives a seekable stream of them.

    Args:
        real: the file, links resolved.
        at: where they begin.
        size: how many they are.
    """

    at: int
    size: int

    def __call__(self) -> io.BufferedReader:
        """See :class:`Inside`."""
        handle, whole = open_regular(self.real, self.real)
        if whole < self.at + self.size:
            os.close(handle)
            raise EOFError("it has become shorter")
        return io.BufferedReader(_Within(handle, self.at, self.size))


def inside(stream: BinaryIO) -> int:
    """Where the bytes of a stream that :meth:`Entry.open` gave begin in the file behind its ``fileno``."""
    raw = getattr(stream, "raw", None)
    return raw.base if isinstance(raw, _Within) else 0


class _Within(io.RawIOBase):
    """The stream of a stretch.

    Args:
        base: where the stretch begins in the file behind ``fileno``.
    """

    def __init__(self, handle: int, base: int, size: int) -> None:
        super().__init__()
        self._file = os.fdopen(handle, "rb", buffering=0)
        self.base, self._size, self._place = base, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

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
        self._file.seek(self.base + self._place)
        count = self._file.readinto(view) or 0
        self._place += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
