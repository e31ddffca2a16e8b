"""Opening sources: what a path or standard input turns out to be, and walking through folders."""

# Plain strings and descriptors, not Path: a file is opened once, and what was opened is what is checked.
# ruff: noqa: PTH114, PTH116, PTH119

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from operator import attrgetter

from seldio.errors import InvalidData, SeldioError, UsageError
from seldio.files.archives import open_packed
from seldio.files.entries import DEFAULTS, Entry, Limits, Source
from seldio.files.lookup import real_places
from seldio.files.names import checked, hidden
from seldio.files.packed import Memory, OnDisk
from seldio.files.problems import check_bits, failure, problem, special
from seldio.files.regular import CHUNK
from seldio.files.schemes import on_this_machine
from seldio.files.stored import restored
from seldio.findings import Sink
from seldio.text import clipped


def open_source(
    path: str | os.PathLike[str], sink: Sink, limits: Limits = DEFAULTS, *, as_it_lies: bool = False
) -> Source:  # fmt: skip
    """The files of *path*: a file, folder or archive, ``-`` for standard input, or an address such as ``hf://``.

    What is unsafe, odd or damaged goes to *sink* as ``SAF1xx`` findings. Of a folder that
    :func:`seldio.data.export` has written, or a shard of one, they are the files that it was made from.

    Args:
        path: what to open.
        sink: takes the findings.
        limits: what it may ask of this machine.
        as_it_lies: take the files of an export as they are, shards and all.

    Raises:
        UsageError: nothing has that name.
        SeldioError: it may not be read, or the disk fails.
    """
    given = os.fspath(path)
    if given == "-":
        return _open_stdin(sink, limits)
    place = on_this_machine(given, limits)
    try:
        os.lstat(place)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise UsageError(f"no such file or folder: {clipped(given, 200)}") from None
    except OSError as error:
        raise failure(given, error) from error
    real, mode, size = _followed(place, given, sink)
    if stat.S_ISDIR(mode):
        folder = Source(given, "folder", checked(_walk(given, real, sink, limits), sink))
        return folder if as_it_lies else restored(folder, sink, limits)
    if stat.S_ISREG(mode):
        check_bits(given, mode, sink)
        plain = Entry(given, os.path.basename(given), size, limits.plain(given), real)
        alone = Source(given, "file", (plain,))
        if not as_it_lies and (shard := restored(alone, sink, limits)) is not alone:
            return shard
        single = open_packed(plain, "file", OnDisk(real, given), sink, limits)
        return single if as_it_lies else restored(single, sink, limits)
    if mode:
        sink(special(given, mode))
    return Source(given, "file", ())


def read_entries(source: Iterable[Entry], sink: Sink) -> Iterator[tuple[Entry, bytes]]:
    """Each entry with its content; one that is damaged or over a limit goes to *sink* instead.

    Raises:
        SeldioError: the disk fails, or a file vanished or may not be read.
    """
    for entry in source:
        try:
            data = entry.read()
        except InvalidData as error:
            sink(error.finding)
        else:
            yield entry, data


def _open_stdin(sink: Sink, limits: Limits) -> Source:
    if sys.stdin is None or sys.stdin.closed:
        raise SeldioError("cannot read <stdin>: it is closed")
    data = bytearray()
    try:
        while len(data) <= limits.file_bytes and (chunk := sys.stdin.buffer.read(CHUNK)):
            data += chunk
    except OSError as error:
        raise failure("<stdin>", error) from error
    if len(data) > limits.file_bytes:
        sink(problem("SAF105", "<stdin>", f"Holds more than {limits.file_bytes:,} bytes"))
        return Source("<stdin>", "stdin", ())
    packed = Memory(bytes(data))
    plain = Entry("<stdin>", "<stdin>", len(data), limits.file_bytes, None, packed.stream)
    return open_packed(plain, "stdin", packed, sink, limits)


def _walk(root: str, top: str, sink: Sink, limits: Limits) -> Iterator[Entry]:
    shown = "" if root in (".", "./") else root.rstrip("/" + os.sep) + "/"
    count, linked, todo = 0, 0, [("", top, frozenset([top]), False)]
    while todo:
        prefix, folder, above, by_link = todo.pop()
        for item in _listing(folder, shown + prefix):
            name, path = prefix + item.name, shown + prefix + item.name
            real, mode, size = _resolved(item, path, top, sink)
            if len(name) > limits.name_chars:
                sink(problem("SAF105", path, f"The name has {len(name):,} characters"))
            elif stat.S_ISDIR(mode) and real in above:
                sink(problem("SAF108", path, "The link loops"))
            elif stat.S_ISDIR(mode):
                todo.append((name + "/", real, above | {real}, by_link or item.is_symlink()))
            elif mode and not stat.S_ISREG(mode):
                sink(special(path, mode))
            elif mode and count == limits.files:
                sink(problem("SAF105", root, f"Holds more than {count:,} files"))
                return
            elif mode and by_link and linked == limits.members:  # folders that link to folders can multiply
                sink(problem("SAF105", root, f"Holds more than {linked:,} files in linked folders"))
                return
            elif mode:
                count += 1
                linked += by_link
                check_bits(path, mode, sink)
                yield Entry(path, name, size, limits.plain(name), real)


def _listing(folder: str, path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return sorted((item for item in items if not hidden(item.name)), key=attrgetter("name"))
    except OSError as error:
        raise failure(path, error) from error


def _resolved(item: os.DirEntry[str], path: str, top: str, sink: Sink) -> tuple[str, int, int]:
    """Real path, mode and size of what stands in a folder; mode 0 for a bad link."""
    try:
        state = item.stat(follow_symlinks=False)
    except OSError as error:
        raise failure(path, error) from error
    if not stat.S_ISLNK(state.st_mode):
        return item.path, state.st_mode, state.st_size
    real, mode, size = _followed(item.path, path, sink)
    if mode and not any((real + os.sep).startswith(place.rstrip(os.sep) + os.sep) for place in real_places(top)):
        sink(problem("SAF108", path, "The link leads out of the folder"))
        mode = 0
    return real, mode, size


def _followed(link: str, path: str, sink: Sink) -> tuple[str, int, int]:
    """Real path, mode and size of what *link* leads to; mode 0 if it leads nowhere."""
    try:
        state = os.stat(link)
    except OSError as error:
        if not os.path.islink(link) or error.errno not in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR):
            raise failure(path, error) from error
        deed = "loops" if error.errno == errno.ELOOP else "leads nowhere"
        sink(problem("SAF108", path, f"The link {deed}"))
        return link, 0, 0
    return os.path.realpath(link), state.st_mode, state.st_size
