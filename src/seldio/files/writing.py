"""Writing: files appear whole or not at all. A process that is killed may leave a hidden file ``.seldio-tmp-…``.

The file or folder that a user names may be a link. Below such a folder, which is then given as *below*, nothing is
written, made or removed through one: each folder is opened from the one above it, and each file from its folder. Who
has made the folder does not matter then.
"""

# Plain strings and descriptors, not Path: a file is opened once, and what was opened is what is checked.
# ruff: noqa: PTH100, PTH103, PTH112, PTH118, PTH120, PTH123

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

from seldio.errors import SeldioError, UsageError
from seldio.files.entries import SAFE, failure
from seldio.text import printable

Place = str | os.PathLike[str]

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
#: Whether the system opens files relative to folders that are open.
_RELATIVE = {os.open, os.mkdir, os.stat, os.unlink, os.rename} <= os.supports_dir_fd
_TEMPORARY = ".seldio-tmp-"
_AT_ONCE = 8


class _Folder(NamedTuple):
    """An open folder."""

    path: str
    handle: int | None  # what lies in it is reached from here; None where the system cannot do that

    def at(self, name: str) -> str:
        """Return how the system is told of a file in it, together with the handle."""
        return os.path.join(self.path, name) if self.handle is None else name

    def state(self, name: str) -> os.stat_result | None:
        """Return the state of *name*, without following links; None if nothing has that name."""
        try:
            return os.stat(self.at(name or "."), dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def inside(self, name: str, *, make: bool) -> _Folder:
        """Return a folder in it."""
        if make and self.state(name) is None:
            with suppress(FileExistsError):
                os.mkdir(self.at(name), dir_fd=self.handle)
        path, state = os.path.join(self.path, name), self.unlinked(name)
        if state is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if not stat.S_ISDIR(state.st_mode):
            raise UsageError(f"{printable(path)} is a file, but the output needs a folder of this name")
        return _Folder(path, None if self.handle is None else os.open(name, _FOLDER | SAFE, dir_fd=self.handle))

    def unlinked(self, name: str) -> os.stat_result | None:
        """Return the state of *name*; raise UsageError if it is a link."""
        state = self.state(name)
        # Windows has two kinds of links
        joined = getattr(state, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
        if state is not None and (stat.S_ISLNK(state.st_mode) or joined):
            shown = printable(os.path.join(self.path, name))
            raise UsageError(f"{shown} is a link, and outputs are not written through links in their folder: remove it")
        return state

    def rename(self, old: str, new: str) -> None:
        """Give a file in it another name."""
        os.replace(self.at(old), self.at(new), src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def close(self) -> None:
        """Let go of it."""
        if self.handle is not None:
            os.close(self.handle)


@contextmanager
def _opened(path: str, below: Place | None = None, *, make: bool = False) -> Iterator[_Folder]:
    """Open the folder at *path*, to which no link may lead from the folder *below*; made as needed if *make*."""
    top = path if below is None else os.fspath(below) or "."
    if make and below is not None:
        make_folder(top)
    names = () if below is None else Path(os.path.relpath(path or ".", top)).parts
    if ".." in names:
        raise UsageError(f"{printable(path)} points outside {printable(top)}")
    folder = _Folder(top, os.open(top, _FOLDER) if _RELATIVE else None)
    try:
        for name in names:
            inner = folder.inside(name, make=make)
            folder.close()
            folder = inner
        yield folder
    finally:
        folder.close()


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
    parent, name = os.path.split(target)
    if below is None and not os.path.isdir(parent):
        raise UsageError(f"cannot write {printable(shown)}: its folder does not exist")
    waiting = _waiting.get()
    with _named(shown), _opened(parent, below, make=True) as folder:
        old = folder.state(name) if below is None else folder.unlinked(name)
        if below is None and old is not None and stat.S_ISCHR(old.st_mode):
            with open(target, "wb") as stream:
                yield stream
            return
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise UsageError(f"cannot write {printable(shown)}: it is not a regular file")
        temp = f"{_TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}.tmp"
        try:
            handle = os.open(folder.at(temp), _WRITE, 0o666 if old is None else 0o600, dir_fd=folder.handle)
            try:
                if old is not None and hasattr(os, "fchmod"):  # the new file has the owner and mode of the old one
                    with suppress(OSError):
                        os.fchown(handle, old.st_uid, old.st_gid)
                    with suppress(OSError):
                        os.fchmod(handle, old.st_mode & 0o777)
                with open(handle, "wb", closefd=False) as stream:
                    yield stream
                if waiting is None:
                    os.fsync(handle)
            finally:
                os.close(handle)
            if waiting is None:
                folder.rename(temp, name)
                _sync(folder)
            else:
                waiting.append(_Written(parent, below, temp, name, shown))
        except BaseException:
            _unlink(folder, temp)
            raise


class _Written(NamedTuple):
    """A file that waits for its name."""

    parent: str
    below: Place | None
    temp: str
    name: str
    shown: str

    def sync(self) -> None:
        """Let the disk keep what is in it."""
        with _named(self.shown), _opened(self.parent, self.below) as folder:
            _sync(folder, self.temp)


#: Files that get their names together.
_waiting: ContextVar[list[_Written] | None] = ContextVar("waiting", default=None)


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
        if len(files) == 1:
            files[0].sync()
        elif files:
            from concurrent.futures import ThreadPoolExecutor  # which loads logging: not for one file

            with ThreadPoolExecutor(_AT_ONCE) as pool:  # the disk syncs several at once as fast as one
                list(pool.map(_Written.sync, files))
        for parent, those in groupby(sorted(files, key=attrgetter("parent")), attrgetter("parent")):
            together = list(those)
            with _named(parent), _opened(parent, together[0].below) as folder:
                for file in together:
                    with _named(file.shown):
                        folder.rename(file.temp, file.name)
                _sync(folder)
    except BaseException:
        for file in files:
            with suppress(OSError, SeldioError), _opened(file.parent, file.below) as folder:
                _unlink(folder, file.temp)
        raise


@contextmanager
def _named(shown: str, deed: str = "write") -> Iterator[None]:
    """Say of which file the system has refused something."""
    try:
        yield
    except OSError as error:
        raise failure(shown, error, deed) from error


def write_bytes(path: Place, data: bytes, below: Place | None = None) -> None:
    """Write *data* by :func:`atomic_write`, raising what that raises."""
    with atomic_write(path, below) as stream:
        stream.write(data)


def make_folder(path: Place, below: Place | None = None) -> None:
    """Make a folder, and those above it, if they do not exist yet; below the folder *below* no link is followed."""
    shown = printable(os.fspath(path))
    try:
        if below is None:
            os.makedirs(path, exist_ok=True)
        else:
            with _opened(os.fspath(path), below, make=True):
                pass
    except FileExistsError:
        raise UsageError(f"{shown} is a file, but the output is a folder") from None
    except OSError as error:
        raise SeldioError(f"cannot make {shown}: {error.strerror or error}") from error


def in_the_way(path: Place, below: Place) -> os.stat_result | None:
    """Return the state of what is already at *path*, without links from the folder *below*; None if nothing is there.

    Raises:
        UsageError: there is a link on the way, or the file is one.
    """
    parent, name = os.path.split(os.fspath(path))
    try:
        with _opened(parent, below) as folder:
            return folder.unlinked(name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure(os.fspath(path), error) from error


def check_tree(path: Place) -> None:
    """See that a folder, if it is there, holds no links and is none.

    Raises:
        UsageError: there is a link.
    """
    top = os.fspath(path)
    in_the_way(top, os.path.dirname(top))
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            in_the_way(os.path.join(folder, name), folder)


def remove(path: Place, below: Place) -> None:
    """Remove a file below a folder, if it is there, as :func:`atomic_write` writes it."""
    parent, name = os.path.split(os.fspath(path))
    with _named(os.fspath(path), "remove"), _opened(parent, below) as folder, suppress(FileNotFoundError):
        folder.unlinked(name)
        os.unlink(folder.at(name), dir_fd=folder.handle)


def remove_tree(path: Place) -> None:
    """Remove a folder with all that is in it, as far as the system lets it; what links lead to stays."""
    shutil.rmtree(path, ignore_errors=True)


def move(path: Place, target: Place, below: Place | None = None) -> None:
    """Give a file or folder another name, on the same disk; that is a new one, or below a folder."""
    parent, name = os.path.split(os.path.abspath(target) if below is None else os.fspath(target))
    with _named(os.fspath(target)), _opened(parent, below, make=True) as folder:
        folder.unlinked(name)
        os.replace(path, folder.at(name), dst_dir_fd=folder.handle)


def link(path: Place, target: Place, below: Place) -> None:
    """Make *target* a link to the file at *path*, or a copy of it where the system makes no links."""
    parent, name = os.path.split(os.fspath(target))
    with _named(os.fspath(target)), _opened(parent, below, make=True) as folder:
        try:
            os.symlink(os.path.abspath(path), folder.at(name), dir_fd=folder.handle)
        except (OSError, NotImplementedError):
            shutil.copyfile(path, target)


def _unlink(folder: _Folder, name: str) -> None:
    with suppress(OSError):
        os.unlink(folder.at(name), dir_fd=folder.handle)


def _sync(folder: _Folder, name: str = ".") -> None:
    """Let the disk keep what is in a file, or the names in a folder."""
    if os.name == "nt" and name == ".":
        return
    handle = os.open(folder.at(name), os.O_RDWR if os.name == "nt" else os.O_RDONLY, dir_fd=folder.handle)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP) or name != ".":
            raise
        # else a file system that does not know how to sync a folder
    finally:
        os.close(handle)
