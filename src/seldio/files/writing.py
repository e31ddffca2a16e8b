"""Writing: files appear whole or not at all, and what killed processes left is swept away."""

# Plain strings and descriptors, not Path: a file is opened once, and what was opened is what is checked.
# ruff: noqa: PTH103, PTH105, PTH108, PTH112, PTH113, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import BinaryIO

from seldio.errors import SeldioError, UsageError
from seldio.files.problems import failure
from seldio.files.regular import SAFE
from seldio.text import printable

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE
_TEMPORARY = ".seldio-tmp-"


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream whose bytes replace the file at *path* once the block ends well.

    At any time, through kills and full disks, the file is the old one or the whole new one. It keeps its mode
    (a new file gets the umask's), a link is written through, and an error leaves nothing behind.

    Raises:
        UsageError: the folder does not exist, or *path* is no regular file.
        SeldioError: the disk fails, is full, or may not be written.
    """
    target = _target(os.fspath(path))
    folder = os.path.dirname(target)
    _sweep(folder)
    temp = os.path.join(folder, f"{_prefix()}{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        handle = _create(temp, target)
        try:
            with open(handle, "wb", closefd=False) as stream:
                yield stream
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temp, target)
        _sync_folder(folder)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temp)
        if isinstance(error, OSError):
            raise failure(os.fspath(path), error, "write") from error
        raise


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write *data* by :func:`atomic_write`, raising what that raises."""
    with atomic_write(path) as stream:
        stream.write(data)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it, where they are not there yet.

    Raises:
        UsageError: a file has that name.
        SeldioError: the disk fails, or may not be written.
    """
    shown = printable(os.fspath(path))
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{shown} is a file, and the output is a folder") from None
    except OSError as error:
        raise SeldioError(f"cannot make {shown}: {error.strerror or error}") from error


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove the temporary files of a folder in which nobody writes any more, whichever machine they are of."""
    with suppress(OSError), os.scandir(folder) as items:
        for item in items:
            if item.name.startswith(_TEMPORARY):
                with suppress(OSError):
                    os.unlink(item.path)


def _target(path: str) -> str:
    target = os.path.realpath(path)
    if not os.path.isdir(os.path.dirname(target)):
        raise UsageError(f"cannot write {printable(path)}: its folder does not exist")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise UsageError(f"cannot write {printable(path)}: it is not a regular file")
    return target


def _create(temp: str, target: str) -> int:
    """A new file with the owner and mode of *target*, if there is one."""
    try:
        old = os.stat(target)
    except FileNotFoundError:
        return os.open(temp, _WRITE, 0o666)
    handle = os.open(temp, _WRITE, 0o600)
    if hasattr(os, "fchmod"):
        with suppress(OSError):
            os.fchown(handle, old.st_uid, old.st_gid)
        with suppress(OSError):
            os.fchmod(handle, old.st_mode & 0o777)
    return handle


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that does not know how
            raise
    finally:
        os.close(handle)


@lru_cache(maxsize=1)
def _prefix() -> str:
    """What this machine's temporary files begin with; process numbers mean nothing on another."""
    host = os.uname().nodename if hasattr(os, "uname") else ""
    return f"{_TEMPORARY}{zlib.crc32(host.encode()):08x}-"


@lru_cache(maxsize=4096)
def _sweep(folder: str) -> None:
    """Remove what killed processes left; once per folder and process, since it lists the whole folder."""
    with suppress(OSError), os.scandir(folder) as items:
        for item in items:
            owner = item.name.removeprefix(_prefix()).partition("-")[0]
            if item.name.startswith(_prefix()) and _is_dead(owner):
                with suppress(OSError):
                    os.unlink(item.path)


def _is_dead(pid: str) -> bool:
    if os.name == "nt" or not pid.isdecimal():  # Windows takes signal 0 for Ctrl-C
        return False
    try:
        os.kill(int(pid), 0)
        with open(f"/proc/{pid}/stat", "rb") as state:  # killed, and nobody has asked how it ended: still listed
            return state.read().rpartition(b") ")[2][:1] in b"ZX"
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
