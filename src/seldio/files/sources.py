"""Opening sources: what a path, an address or standard input turns out to be, and files that other files name.

This floor reaches no network: what lies at ``hf://`` is fetched by ``seldio.hub``. Files that other files name are
looked up among the entries of a source, or on disk next to it, never outside.
"""

# Plain strings and descriptors, not Path: a file is opened once, what was opened is what is checked, and what was named
# keeps its links until the place that they lead to is judged.
# ruff: noqa: PTH100, PTH110, PTH113, PTH114, PTH116, PTH117, PTH119, PTH120, PTH202

from __future__ import annotations

import dataclasses
import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import chain, islice
from operator import attrgetter
from pathlib import PurePath
from typing import Any

from seldio.errors import InvalidData, SeldioError, UsageError
from seldio.files.entries import (
    CHUNK,
    DEFAULTS,
    Entry,
    Limits,
    Source,
    checked,
    failure,
    hidden,
    problem,
    special,
)
from seldio.files.names import MANIFEST, suffix_of
from seldio.findings import Sink
from seldio.text import clipped, meant, printable

#: A path, or what is open already: that is not opened again.
Place = str | os.PathLike[str] | Source


def open_source(
    path: str | os.PathLike[str], sink: Sink, limits: Limits = DEFAULTS, *, as_it_lies: bool = False
) -> Source:
    """Return the files of *path*: a file, folder or archive, ``-`` for standard input, or an address such as ``hf://``.

    What is unsafe, odd or damaged goes to *sink* as ``SAF1xx`` findings. Of a folder that
    :func:`seldio.data.export` has written, they are the files that it was made from.

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
        if sys.stdin is None or sys.stdin.closed:
            raise SeldioError("cannot read <stdin>: it is closed")
        return open_stream(sys.stdin.buffer, "<stdin>", sink, limits)
    place = on_this_machine(given, limits)
    try:
        os.lstat(place)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise no_such(given) from None
    except OSError as error:
        raise failure(given, error) from error
    real, mode, size = _followed(place, given, sink)
    if stat.S_ISDIR(mode):
        source = Source(given, "folder", checked(_walk(given, real, sink, limits), sink))
    elif stat.S_ISREG(mode):
        from seldio.files.archives import OnDisk, open_packed

        plain = Entry(given, os.path.basename(given), size, limits.plain(given), real)
        source = open_packed(plain, "file", OnDisk(real, given), sink, limits)
    else:
        if mode:
            sink(special(given, mode))
        return Source(given, "file", ())
    if as_it_lies or source.single:
        return source
    if any(entry.name == MANIFEST for entry in source):
        from seldio.files.exports import restored

        if (export := restored(source, sink, limits)) is not source:
            return export
    if source.kind == "folder" and any(suffix_of(entry.name) == "gz" for entry in source):
        from seldio.files.archives import inflating

        return dataclasses.replace(source, entries=inflating(source.entries, sink, limits))
    return source


@contextmanager
def reopened(place: Place, sink: Sink) -> Iterator[Source]:
    """Provide the source at *place*; one that is open already is taken as it is: standard input is read only once."""
    if isinstance(place, Source):
        yield place
        return
    with open_source(place, sink) as source:
        yield source


def path_of(place: Place) -> str:
    """Return the path of *place*, as its user wrote it."""
    return place.path if isinstance(place, Source) else os.fspath(place)


def read_entries(source: Iterable[Entry], sink: Sink) -> Iterator[tuple[Entry, bytes]]:
    """Yield each entry with its content; one that is damaged or over a limit goes to *sink* instead."""
    for entry in source:
        try:
            data = entry.read()
        except InvalidData as error:
            sink(error.finding)
        else:
            yield entry, data


def open_stream(stream: Any, path: str, sink: Sink, limits: Limits = DEFAULTS, name: str = "<stdin>") -> Source:
    """Open the rest of *stream*, an archive perhaps, as a source that messages call *path*.

    Raises:
        SeldioError: it cannot be read.
    """
    data = bytearray()
    try:
        while len(data) <= limits.file_bytes and (chunk := stream.read(CHUNK)):
            data += chunk.encode() if isinstance(chunk, str) else chunk
    except ValueError as error:  # closed, for writing (which is an OSError too), or text that is not Unicode
        why = "it was not opened for reading" if isinstance(error, OSError) else str(error)
        why = "it is closed" if getattr(stream, "closed", False) else why
        raise SeldioError(f"cannot read {printable(path)}: {why}") from error
    except OSError as error:
        raise failure(path, error) from error
    if len(data) > limits.file_bytes:
        sink(problem("SAF105", path, f"Holds more than {limits.file_bytes:,} bytes"))
        return Source(path, "stdin", ())
    from seldio.files.archives import open_bytes

    return open_bytes(bytes(data), path, name, sink, limits)


def _walk(root: str, top: str, sink: Sink, limits: Limits) -> Iterator[Entry]:
    shown = "" if root in (".", "./") else root.rstrip("/" + os.sep) + "/"
    linked, todo = 0, [("", top, frozenset([top]), False)]
    while todo:
        prefix, folder, above, by_link = todo.pop()
        try:
            with os.scandir(folder) as listing:
                items = sorted((item for item in listing if not hidden(item.name)), key=attrgetter("name"))
        except OSError as error:
            raise failure(shown + prefix, error) from error
        linked += len(items) if by_link else 0
        if linked > limits.members:  # folders that link to folders can multiply
            sink(problem("SAF105", root, f"Holds more than {limits.members:,} files in linked folders"))
            return
        for item in items:
            name, path = prefix + item.name, shown + prefix + item.name
            try:
                state = item.stat(follow_symlinks=False)
            except OSError as error:
                raise failure(path, error) from error
            real, mode, size = item.path, state.st_mode, state.st_size
            if stat.S_ISLNK(mode):
                real, mode, size = _followed(item.path, path, sink)
                if mode and not _inside(real, top):
                    sink(problem("SAF108", path, "The link points outside the folder"))
                    mode = 0
            if stat.S_ISDIR(mode) and real in above:
                sink(problem("SAF108", path, "The link loops"))
            elif stat.S_ISDIR(mode):
                todo.append((name + "/", real, above | {real}, by_link or item.is_symlink()))
            elif mode and not stat.S_ISREG(mode):
                sink(special(path, mode))
            elif mode:
                yield Entry(path, name, size, limits.plain(name), real)


def _followed(link: str, path: str, sink: Sink) -> tuple[str, int, int]:
    """Return the real path, mode and size of what *link* leads to; mode 0 if it leads nowhere."""
    try:
        state = os.stat(link)
    except OSError as error:
        if not os.path.islink(link) or error.errno not in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR):
            raise failure(path, error) from error
        deed = "loops" if error.errno == errno.ELOOP else "is broken"
        sink(problem("SAF108", path, f"The link {deed}"))
        return link, 0, 0
    return os.path.realpath(link), state.st_mode, state.st_size


# --- sources that are fetched first ----------------------------------------------------------------------


#: Names are compared with a mistyped one only up to this number.
_BESIDE = 1000


def beside(path: str) -> list[str]:
    """Return names in the folder of *path* (which may not exist) that *path* may have meant."""
    folder = "".join(path.rstrip(os.sep).rpartition(os.sep)[:2])
    try:
        with os.scandir(folder or os.curdir) as items:
            return [folder + item.name for item in islice(items, _BESIDE)]
    except (OSError, ValueError):
        return []


def no_such(path: str) -> UsageError:
    """Return the error for a path that nothing has."""
    near = {each.rpartition(os.sep)[2]: each for each in beside(path)}
    close = meant(path.rstrip(os.sep).rpartition(os.sep)[2], near, near.__getitem__)
    return UsageError(f"no such file or folder: {clipped(path, 200)}{close}")


def on_this_machine(source: str, limits: Limits) -> str:
    """Return the path of *source* on disk, which is fetched first if it is remote."""
    if not source.startswith("hf://"):
        return source
    return str(import_module("seldio.hub.repository").fetch_address(source, limits))


# --- files that other files name -------------------------------------------------------------------------

#: How many folders above the file that names another one its dataset may begin.
LEVELS = 3


class Lookup:
    """A lookup for the files that the files of a source name.

    A path counts from the folder of the file that names it or from one above. In a folder or next to a single
    file the disk is asked too, up to three folders above: the dataset may begin higher than what was named.
    """

    def __init__(self, source: Source) -> None:
        self._entries = {entry.name: entry for entry in source}
        self._bases = bases_of(source)
        self._bases_with: dict[str, list[str]] = {}  # by the folder of a path: the bases that have such a folder

    def find(self, path: str, name: str = "") -> Entry | None:
        """Return the file that the entry *name* calls *path* (a POSIX path); None where there is none."""
        path = path.removeprefix("./")
        inside = (self._entries.get(folder + path) for folder in _above(name))
        folder = path.rpartition("/")[0]
        if folder not in self._bases_with:  # most often, there are no recordings at all
            self._bases_with[folder] = [base for base in self._bases if os.path.exists(f"{base or '.'}/{folder}")]
        outside = (on_disk(base, path) for base in self._bases_with[folder])
        return next(filter(None, chain(inside, outside)), None)


def on_disk(base: str, name: str) -> Entry | None:
    """Return the regular file *name* (a POSIX path) below the folder *base*, links followed that stay below it.

    None where there is none, or where the name or a link leads out. In a cache of the Hugging Face Hub, where
    all files are links, those to the blobs of the same repository count as inside.
    """
    parts = name.split("/")
    if not name or any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
        return None
    if os.name == "nt" and ":" in name:  # drives and streams
        return None
    shown = name if base in ("", ".") else f"{base.rstrip('/' + os.sep)}/{name}"
    if not os.path.exists(shown):  # most often, and quicker to ask
        return None
    real = os.path.realpath(shown)
    if not _inside(real, os.path.abspath(base)) or not os.path.isfile(real):
        return None
    return Entry(shown, name, os.path.getsize(real), DEFAULTS.file_bytes, real)


def _inside(real: str, base: str) -> bool:
    """Return whether a file or folder below *base*, an absolute path, may really lie at *real*."""
    return any((real + os.sep).startswith(place.rstrip(os.sep) + os.sep) for place in _real_places(base))


@lru_cache(maxsize=1024)
def _real_places(base: str) -> tuple[str, ...]:
    """Return the folders in which a file below *base* may really lie: itself, and in a cache of the Hub the blobs."""
    real = os.path.realpath(base)
    above = re.match(r"(.+)[/\\]snapshots(?:[/\\]|$)", real)
    blobs = above[1] + os.sep + "blobs" if above else ""
    return (real, blobs) if above and os.path.realpath(blobs) == blobs and os.path.exists(blobs) else (real,)


@lru_cache(maxsize=1024)
def _above(name: str) -> list[str]:
    """Return the folder of an entry and all above it, each with a slash at its end; the root is empty."""
    parts = name.split("/")[:-1]
    return ["".join(part + "/" for part in parts[:count]) for count in range(len(parts), -1, -1)]


def bases_of(source: Source) -> list[str]:
    """Return the folders on disk, nearest first, from which the paths in *source* may count."""
    if source.kind not in ("file", "gzip", "folder"):
        return []
    above = _folders_above(source.path)
    return above[:LEVELS] if source.kind == "folder" else [os.path.dirname(source.path) or ".", *above[1 : LEVELS + 1]]


def _folders_above(path: str) -> list[str]:
    return [*map(str, PurePath(os.path.abspath(path)).parents)]


# --- what a dataset says of itself -----------------------------------------------------------------------

#: The file in which a dataset says what it is (see :mod:`seldio.formats.own_dataset`).
OWN = "dataset.toml"


def is_own(entry: Entry) -> bool:
    """Return whether a file is one in which a dataset says what it is."""
    return entry.name.rpartition("/")[2] == OWN


def own_files(source: Source) -> list[tuple[Entry, str, str]]:
    """Return the files in which the datasets of a source say what they are.

    Each comes with the folder of the source that it speaks of, and with the folder below its own that the source is.
    Where there is none in the root, the nearest in a folder above speaks of all.
    """
    files = [(entry, entry.name.removesuffix(OWN), "") for entry in source.every or source.entries if is_own(entry)]
    if source.kind not in ("file", "folder") or any(not folder for _, folder, _ in files):
        return files
    above = _folders_above(source.path)
    place = os.path.abspath(source.path) if source.kind == "folder" else above[0]
    for top in above[: LEVELS + (source.kind == "file")]:
        shown = top if os.path.isabs(source.path) else os.path.relpath(top)
        if (entry := on_disk("" if shown == "." else shown, OWN)) is not None:
            below = os.path.relpath(place, top).replace(os.sep, "/")
            return [*files, (entry, "", "" if below == "." else f"{below}/")]
    return files
