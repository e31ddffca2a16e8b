"""Writing: files appear whole or not at all. A process that is killed may leave a hidden file ``.seldio-tmp-…``.

The file or folder that a user names may be a link. Below such a folder, which is then given as *below*, nothing is
written, made or removed through one, whoever has made the folder.
"""

# Plain strings, not Path: what was named keeps its links until the place that they lead to is judged.
# ruff: noqa: PTH100, PTH103, PTH105, PTH108, PTH112, PTH118, PTH120, PTH123, PTH211

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from seldio.errors import UsageError
from seldio.files.entries import SAFE, failure
from seldio.text import printable

Place = str | os.PathLike[str]

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE
_TEMPORARY = ".seldio-tmp-"
_AT_ONCE = 8
#: Pairs of a temporary file and the file that it becomes, which get their names together.
_waiting: ContextVar[list[tuple[str, str]] | None] = ContextVar("waiting", default=None)


def input_at(path: Place, inputs: Iterable[object]) -> str | None:
    """Return the one of *inputs* that the file at *path* is, or lies in; None where no file exists.

    An input may name a split as well (``labels.zip:dev-test``), which is not part of its path.
    """
    place = os.path.realpath(path)
    for given in inputs if Path(place).exists() else ():
        if isinstance(given, str | os.PathLike) and given:
            name = str(os.fspath(given))
            for candidate in filter(None, (name, name.rpartition(":")[0])):
                real = os.path.realpath(candidate)
                if place == real or place.startswith(f"{real}{os.sep}"):
                    return candidate
    return None


def in_the_way(path: Place, below: Place) -> os.stat_result | None:
    """Return the state of what is at *path*, reached from the folder *below* without links; None if nothing is there.

    Raises:
        UsageError: a link or a file is on the way, or the file at *path* is a link.
    """
    top = place = os.fspath(below) or "."
    names = Path(os.path.relpath(path, top)).parts
    if ".." in names:
        raise UsageError(f"{printable(os.fspath(path))} points outside {printable(top)}")
    state = None
    for name in names:
        if state is not None and not stat.S_ISDIR(state.st_mode):
            raise UsageError(f"{printable(place)} is a file, but the output needs a folder of this name")
        place = os.path.join(place, name)
        with _naming(place):
            state = _state(place)
        if state is None:
            return None
        # Windows has two kinds of links
        joined = getattr(state, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
        if stat.S_ISLNK(state.st_mode) or joined:
            shown = printable(place)
            raise UsageError(f"{shown} is a link, and outputs are not written through links in their folder: remove it")
    return state


def _state(path: str) -> os.stat_result | None:
    """Return the state of a file or link; None where there is none."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def make_folder(path: Place, below: Place | None = None) -> None:
    """Make a folder, and those above it, if they do not exist yet; below the folder *below* no link is followed."""
    if below is not None:
        in_the_way(path, below)
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"{printable(os.fspath(path))} is a file, but the output is a folder") from None
    except OSError as error:
        raise failure(os.fspath(path), error, "make") from error


@contextmanager
def atomic_write(path: Place, below: Place | None = None) -> Iterator[BinaryIO]:
    """Open a binary stream whose bytes replace the file at *path* once the block ends well.

    At any time, through kills and full disks, the file is the old one or the whole new one. It keeps its mode
    (a new file gets the umask's), and an error leaves nothing behind. Without *below*, a link is written through, and
    a character device, such as ``/dev/null``, is not replaced but written to. With *below*, a folder above the file,
    folders are made as needed, and a link there is refused.

    Raises:
        UsageError: there is no such folder, or a link or something else is in the way.
        SeldioError: the disk fails.
    """
    shown = os.fspath(path)
    target = os.path.realpath(shown) if below is None else shown
    folder = os.path.dirname(target) or "."
    if below is not None:
        make_folder(folder, below)
    elif not os.path.isdir(folder):
        raise UsageError(f"cannot write {printable(shown)}: its folder does not exist")
    waiting = _waiting.get()
    with _naming(shown):
        old = _state(target) if below is None else in_the_way(target, below)
        if below is None and old is not None and stat.S_ISCHR(old.st_mode):
            with open(target, "wb") as stream:
                yield stream
            return
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise UsageError(f"cannot write {printable(shown)}: it is not a regular file")
        temporary = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}.tmp")
        try:
            with open(os.open(temporary, _WRITE, 0o666 if old is None else 0o600), "wb") as stream:
                if old is not None and hasattr(os, "fchmod"):  # the new file has the owner and mode of the old one
                    with suppress(OSError):
                        os.fchown(stream.fileno(), old.st_uid, old.st_gid)
                    with suppress(OSError):
                        os.fchmod(stream.fileno(), old.st_mode & 0o777)
                yield stream
            if waiting is not None:
                waiting.append((temporary, target))
            else:
                _sync(temporary, shown)
                os.replace(temporary, target)
                _sync(folder, shown)
        except BaseException:
            _unlink(temporary)
            raise


@contextmanager
def many_files() -> Iterator[None]:
    """Rename all files that the block writes into place when it ends.

    Each file and each folder is then synced once, not the folder after every file. If the process is killed, each
    file is the old one or the whole new one; if the block raises an error, all of them stay the old ones.
    """
    files: list[tuple[str, str]] = []
    token = _waiting.set(files)
    try:
        try:
            yield
        finally:
            _waiting.reset(token)
        if len(files) == 1:
            _sync(*files[0])
        elif files:
            from concurrent.futures import ThreadPoolExecutor  # which loads logging: not for one file

            with ThreadPoolExecutor(_AT_ONCE) as pool:  # the disk syncs several at once as fast as one
                list(pool.map(_sync, *zip(*files, strict=True)))
        for temporary, target in files:
            with _naming(target):
                os.replace(temporary, target)
        for folder in dict.fromkeys(os.path.dirname(target) or "." for _, target in files):
            _sync(folder, folder)
    except BaseException:
        for temporary, _ in files:
            _unlink(temporary)
        raise


@contextmanager
def _naming(shown: str, deed: str = "write") -> Iterator[None]:
    """Name the file with which the system has refused to do something."""
    try:
        yield
    except OSError as error:
        raise failure(shown, error, deed) from error


def write_bytes(path: Place, data: bytes, below: Place | None = None) -> None:
    """Write *data* by :func:`atomic_write`, raising what that raises."""
    with atomic_write(path, below) as stream:
        stream.write(data)


def check_tree(path: Place) -> None:
    """See that a folder, if it is there, holds no links and is none.

    Raises:
        UsageError: there is a link.
    """
    top = os.fspath(path)
    in_the_way(top, os.path.dirname(top) or ".")
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            in_the_way(os.path.join(folder, name), folder)


def remove(path: Place, below: Place) -> None:
    """Remove a file below a folder, if it is there; a link there is refused."""
    if in_the_way(path, below) is not None:
        with _naming(os.fspath(path), "remove"):
            os.unlink(path)


def remove_tree(path: Place) -> None:
    """Remove a folder with all that is in it, as far as the system lets it; what links lead to stays."""
    shutil.rmtree(path, ignore_errors=True)


def move(path: Place, target: Place) -> None:
    """Give a folder another name, on the same disk."""
    with _naming(os.fspath(target)):
        os.replace(path, target)


def link(path: Place, target: Place, below: Place) -> None:
    """Make *target* a link to the file at *path*, or a copy of it where the system makes no links."""
    make_folder(os.path.dirname(os.fspath(target)) or ".", below)
    with _naming(os.fspath(target)):
        try:
            os.symlink(os.path.abspath(path), target)
        except (OSError, NotImplementedError):
            shutil.copyfile(path, target)


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _sync(path: str, shown: str) -> None:
    """Let the disk keep what is in a file, or the names in a folder; an error names *shown*."""
    is_folder = os.path.isdir(path)
    if os.name == "nt" and is_folder:
        return
    with _naming(shown):
        handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP) or not is_folder:
                raise
            # else a file system that does not know how to sync a folder
        finally:
            os.close(handle)
