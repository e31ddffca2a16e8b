"""Writing: files appear whole or not at all, and what killed processes left is swept away."""

# Plain strings and descriptors, not Path: a file is opened once, and what was opened is what is checked.
# ruff: noqa: PTH103, PTH105, PTH108, PTH112, PTH113, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import errno
import os
import stat
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from seldio.errors import SeldioError, UsageError
from seldio.files.problems import failure
from seldio.files.streams import SAFE
from seldio.text import printable

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE
_TEMPORARY = ".seldio-tmp-"
_AT_ONCE = 8


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream whose bytes replace the file at *path* once the block ends well.

    At any time, through kills and full disks, the file is the old one or the whole new one. It keeps its mode
    (a new file gets the umask's), a link is written through, and an error leaves nothing behind.
    A character device, such as ``/dev/null``, is not replaced but written to.
    """
    shown = os.fspath(path)
    target = os.path.realpath(shown)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise UsageError(f"cannot write {printable(shown)}: its folder does not exist")
    if os.path.lexists(target) and stat.S_ISCHR(os.lstat(target).st_mode):
        with _named(shown), open(target, "wb") as stream:
            yield stream
        return
    if os.path.lexists(target) and not os.path.isfile(target):
        raise UsageError(f"cannot write {printable(shown)}: it is not a regular file")
    _sweep(folder)
    temp = os.path.join(folder, f"{_prefix()}{os.getpid()}-{os.urandom(4).hex()}.tmp")
    waiting = _waiting.get()
    try:
        with _named(shown):
            handle = _create(temp, target)
            try:
                with open(handle, "wb", closefd=False) as stream:
                    yield stream
                if waiting is None:
                    os.fsync(handle)
            finally:
                os.close(handle)
            if waiting is None:
                os.replace(temp, target)
                _sync(folder)
            else:
                waiting.append(_Written(temp, target, shown))
    except BaseException:
        _discard(temp)
        raise


class _Written(NamedTuple):
    """A file that waits for its name."""

    temp: str
    target: str
    shown: str


#: Files that get their names together.
_waiting: ContextVar[list[_Written] | None] = ContextVar("waiting", default=None)


def _started(pool: ThreadPoolExecutor, path: str) -> Future[None] | None:
    """The sync of a file, under way; None where no thread can be started, as in a browser."""
    try:
        return pool.submit(_sync, path)
    except RuntimeError:
        return None


@contextmanager
def many_files() -> Iterator[None]:
    """Let files that are written inside of the block get their names when it ends, all together.

    The disk is then asked once for each file and once for each folder, and not for the folder after each file.
    Through kills each file is the old one or the whole new one; an error inside of the block leaves all of them old.
    """
    files: list[_Written] = []
    token = _waiting.set(files)
    try:
        try:
            yield
        finally:
            _waiting.reset(token)
        with ThreadPoolExecutor(_AT_ONCE) as pool:  # disks sync several files as fast as one
            syncing = [_started(pool, file.temp) for file in files]
        for file, done in zip(files, syncing, strict=True):
            with _named(file.shown):
                _sync(file.temp) if done is None else done.result()
        for file in files:
            with _named(file.shown):
                os.replace(file.temp, file.target)
        for folder in dict.fromkeys(os.path.dirname(file.target) for file in files):
            with _named(folder):
                _sync(folder)
    except BaseException:
        for file in files:
            _discard(file.temp)
        raise


@contextmanager
def _named(shown: str) -> Iterator[None]:
    """Say of which file the system has refused something."""
    try:
        yield
    except OSError as error:
        raise failure(shown, error, "write") from error


def _discard(temp: str) -> None:
    with suppress(OSError):
        os.unlink(temp)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write *data* by :func:`atomic_write`, raising what that raises."""
    with atomic_write(path) as stream:
        stream.write(data)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it, if they do not exist yet."""
    shown = printable(os.fspath(path))
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{shown} is a file, but the output is a folder") from None
    except OSError as error:
        raise SeldioError(f"cannot make {shown}: {error.strerror or error}") from error


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove the temporary files of a folder in which nobody writes any more, whichever machine they are of."""
    with suppress(OSError), os.scandir(folder) as items:
        for item in items:
            if item.name.startswith(_TEMPORARY):
                with suppress(OSError):
                    os.unlink(item.path)


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


def _sync(path: str) -> None:
    """Let the disk keep what is in a file, or the names in a folder."""
    if os.name == "nt" and os.path.isdir(path):
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP) or not os.path.isdir(path):
            raise
        # else a file system that does not know how to sync a folder
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
