"""The folder of an export while it is written: files whole or not at all, and a journal by which a broken one goes on.

Who exports says which files there shall be (:meth:`Export.want`); :meth:`Export.work` writes those that are not there
yet, wherever the user wants that to happen (:mod:`seldio.engines`). A file is written by the process that makes it;
this one notes in the journal what is finished, and writes the manifest last.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self, TypeVar, cast

import pyarrow as pa

from seldio import __version__, progress
from seldio.conversion.outputs import safe_name
from seldio.engines import each
from seldio.errors import DataError, InvalidData, UsageError
from seldio.files import Entry, atomic_write, make_folder, write_bytes
from seldio.files.writing import sweep
from seldio.text import plural, printable

MANIFEST = "manifest.json"
VERSION = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """One file of an export.

    Args:
        name: POSIX path below the folder of the export.
        bytes: its size.
        sha256: of its content.
        split: the split that it belongs to; None for what is of no split.
        rows: clips in it, or rows of labels; 0 for what is no table.
        origin: the file of the source that it is a copy of; None where it holds several.
    """

    name: str
    bytes: int
    sha256: str
    split: str | None = None
    rows: int = 0
    origin: str | None = None


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What an export consists of.

    Args:
        kind: parquet, webdataset, audiofolder, videofolder or files.
        files: everything written, sorted by name.
        features: by configuration, the columns as the library ``datasets`` describes them.
        statistics: clips, clips of each split, files of each kind, bytes of the source.
    """

    kind: str
    files: tuple[Written, ...]
    features: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    statistics: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def to_json(self) -> bytes:
        """The content of ``manifest.json``; the same export gives the same bytes everywhere."""
        record = {"seldio_export": VERSION, **dataclasses.asdict(self)}
        return (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode(errors="backslashreplace")

    @staticmethod
    def load(folder: Path) -> Manifest:
        """The manifest of an export.

        Raises:
            UsageError: the folder holds none, so it is no export or one that was broken off.
            DataError: it cannot be read.
        """
        path = folder / MANIFEST
        if not path.is_file():
            raise UsageError(f"{printable(str(folder))} is no finished export of seldio: it holds no {MANIFEST}")
        return Manifest.parse(path.read_bytes(), str(path))

    @staticmethod
    def parse(data: bytes, path: str) -> Manifest:
        """The manifest that a file holds; *path* is what messages call it.

        Raises:
            DataError: it cannot be read.
        """
        try:
            record = json.loads(data)
            if record.pop("seldio_export") != VERSION:
                raise DataError(f"{printable(path)} is of another version of seldio: read it with that one")
            return Manifest(**record | {"files": tuple(Written(**file) for file in record["files"])})
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise DataError(f"{printable(path)} cannot be read: export again, or fetch it again") from None


Part = TypeVar("Part")
Result = TypeVar("Result")

#: Hidden, so that it is no part of what is shared: it knows when the source files were changed last.
JOURNAL = ".seldio-export.jsonl"
_HEAD = b'{"seldio_export": %d}\n' % VERSION
#: Files, and bytes, that travel to a worker together.
_LOT_FILES, _LOT_BYTES = 64, 16 << 20


class Content(Protocol):
    """What writes the content of a file; a frozen dataclass, so that another process can do it."""

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of rows."""
        ...

    def portable(self) -> Content:
        """The same with no more than it needs itself."""
        ...


@dataclasses.dataclass(frozen=True)
class Copy:
    """A file of the source as it is."""

    entry: Entry

    def __call__(self, stream: BinaryIO) -> int:
        """Write it."""
        with self.entry.open() as source:
            while piece := source.read(1 << 20):
                stream.write(piece)
        return 0

    def portable(self) -> Self:
        """Itself."""
        return self


@dataclasses.dataclass(frozen=True)
class Job:
    """One file that shall be there.

    Args:
        out: the folder of the export.
        name: POSIX path below it.
        inputs: the files of the source that it is made of.
        content: writes it.
        split: the split that it belongs to.
        origin: the file that it is a copy of.
        gathered: whether its content is put together in this process, from parts that are made anywhere.
    """

    out: Path
    name: str
    inputs: tuple[Entry, ...]
    content: Content
    split: str | None = None
    origin: str | None = None
    gathered: bool = False

    @property
    def path(self) -> Path:
        """Where it will be."""
        return self.out / self.name

    @property
    def size(self) -> int:
        """Bytes of the files that it is made of."""
        return sum(max(entry.size, 0) for entry in self.inputs)

    def portable(self) -> Job:
        """The same as it can go to another process."""
        return dataclasses.replace(self, inputs=(), content=self.content.portable())


def written(job: Job) -> Written:
    """Write a file.

    Raises:
        InvalidData: a file of the source is damaged or over a limit, or labels are wrong.
        SeldioError: the disk fails.
    """
    with atomic_write(job.path) as stream:
        hashed = Hashed(stream)
        rows = job.content(cast("BinaryIO", hashed))
        hashed.flush()
    return Written(job.name, hashed.count, hashed.sha.hexdigest(), job.split, rows, job.origin)


def spread(
    work: Callable[[Part], Result], parts: Sequence[Part], apart: bool, what: str, *, batch: int = 1,
    size: Callable[[Part], int] | None = None, key: Callable[[Part], object] | None = None,
) -> Iterator[Result]:  # fmt: skip
    """As :func:`seldio.engines.each`, but in this process unless the parts can be worked on *apart* from it.

    They cannot where their files are packed: what is in an archive would have to be unpacked here all the same, and
    would fill the memory on its way.
    """
    if apart:
        return each(work, parts, batch=batch, what=what, size=size, key=key)
    return map(work, progress.over(parts, what, size=size))


def lot(sizes: Sequence[int]) -> int:
    """How many files of these sizes should travel together: many small ones, few large ones.

    >>> lot([1000] * 500), lot([10 << 20] * 500), lot([1 << 30]), lot([])
    (64, 1, 1, 1)
    """
    return max(1, min(_LOT_FILES, len(sizes), _LOT_BYTES * len(sizes) // max(1, sum(sizes))))


class Export:
    """A folder that is being written: each file whole or not at all, those of an earlier run kept where they fit.

    A context manager: Ctrl-C inside of the block says how to go on.

    Args:
        out: the folder; made if it is not there.
        kind: what is written.
        settings: what the bytes depend on beside the source and the version of the software.

    Raises:
        UsageError: the folder holds something that no export has written.
    """

    def __init__(self, out: Path, kind: str, settings: Mapping[str, Any]) -> None:
        self.out, self.kind = out.absolute(), kind
        self._settings = json.dumps([VERSION, __version__, pa.__version__, kind, settings], sort_keys=True)
        self.files: dict[str, Written] = {}
        self._wanted: list[Job] = []
        if out.exists() and not out.is_dir():
            raise UsageError(f"{printable(str(out))} is a file, and an export is a folder")
        self._known = _journal(out / JOURNAL)
        if not (out / JOURNAL).is_file() and out.is_dir() and any(out.iterdir()):
            raise UsageError(f"{printable(str(out))} is not empty: name a new folder for the export")
        self._shown = printable(str(out))
        make_folder(out)
        (out / MANIFEST).unlink(missing_ok=True)  # written last: until then this is no finished export
        # the journal anew, without what a kill has left of a line
        write_bytes(out / JOURNAL, b"".join([_HEAD, *(_line(*known) for known in self._known.values())]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let Ctrl-C say how to go on."""
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            count = f"{len(self.files):,} of {plural(len(self._wanted), 'file')}"
            told = f"stopped; {count} are written in {self._shown}: the same command goes on from there"
            raise KeyboardInterrupt(told) from None

    def want(
        self, name: str, inputs: Iterable[Entry], content: Content, *, split: str | None = None, gathered: bool = False
    ) -> None:
        """Say that a file shall be there.

        Args:
            name: POSIX path below the folder.
            inputs: the files of the source that it is made of.
            content: writes it.
            split: the split that it belongs to.
            gathered: whether this process puts the content together, from parts that are made anywhere.
        """
        self._wanted.append(Job(self.out, name, tuple(inputs), content, split, gathered=gathered))

    def copy(self, name: str, entry: Entry, *, split: str | None = None) -> None:
        """Say that a copy of a file of the source shall be there."""
        self._wanted.append(Job(self.out, name, (entry,), Copy(entry), split, entry.name))

    def work(self) -> None:
        """Write what is wanted, but for what an earlier run has made from the same files in the same way.

        Raises:
            InvalidData: a file of the source is damaged or over a limit, or labels are wrong.
            SeldioError: the disk fails.
        """
        todo: list[tuple[Job, str]] = []
        for job in self._wanted:
            key = self._key(job)
            done, known = self._known.get(job.name, (None, ""))
            if done is not None and known == key and _is_there(job.path, done.bytes):
                self.files[job.name] = done
            else:
                todo.append((job, key))
        for folder in sorted({job.path.parent for job, _ in todo}):
            make_folder(folder)
        for those in _stages(todo):
            for (_, key), done in zip(those, _results([job for job, _ in those]), strict=True):
                self._add(done, key)

    def text(self, name: str, text: str) -> None:
        """Write a small file that tells of the others."""
        data = text.encode()
        write_bytes(self.out / name, data)
        self.files[name] = Written(name, len(data), hashlib.sha256(data).hexdigest())

    def finish(self, features: Mapping[str, Mapping[str, Any]], statistics: Mapping[str, Any]) -> Manifest:
        """Take away what an earlier run has left, and write the manifest."""
        for name in self._known.keys() - self.files.keys():
            (self.out / name).unlink(missing_ok=True)
        for folder in {self.out, *((self.out / name).parent for name in self.files)}:
            sweep(folder)
        files = tuple(self.files[name] for name in sorted(self.files))
        manifest = Manifest(self.kind, files, features, statistics)
        write_bytes(self.out / MANIFEST, manifest.to_json())
        return manifest

    def _key(self, job: Job) -> str:
        """What the content of a file depends on, as a hash."""
        return hashlib.sha256(f"{self._settings}{[entry.stamp for entry in job.inputs]}".encode()).hexdigest()

    def _add(self, done: Written, key: str) -> None:
        with (self.out / JOURNAL).open("ab") as journal:
            journal.write(_line(done, key))
        self.files[done.name] = done
        self._known[done.name] = (done, key)


def _stages(todo: Sequence[tuple[Job, str]]) -> list[list[tuple[Job, str]]]:
    """What is done one after the other: copies, then what is made of several files, then what is gathered."""
    copies = [one for one in todo if one[0].origin is not None]
    gathered = [one for one in todo if one[0].gathered]
    others = [one for one in todo if one[0].origin is None and not one[0].gathered]
    return [copies, others, gathered]


def _results(jobs: Sequence[Job]) -> Iterator[Written]:
    """The files, written one by one or several at a time; all of *jobs* are of one stage."""
    if not jobs or jobs[0].gathered:
        return map(written, jobs)
    apart = all(entry.on_disk for job in jobs for entry in job.inputs)
    if jobs[0].origin is None:
        return spread(written, jobs, apart, "writing shards", size=attrgetter("size"))
    sizes = [job.size for job in jobs]
    return spread(written, jobs, apart, "copying files", batch=lot(sizes), size=attrgetter("size"))


def _is_there(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def _line(done: Written, key: str) -> bytes:
    return json.dumps({"key": key, **dataclasses.asdict(done)}).encode() + b"\n"


def _journal(path: Path) -> dict[str, tuple[Written, str]]:
    """What earlier runs have finished; lines that a kill cut off, and names that lead out of the folder, are left out.

    Of a journal of another version the names alone are believed, so that what it has left can be taken away.
    """
    known: dict[str, tuple[Written, str]] = {}
    head, *lines = path.read_bytes().split(b"\n") if path.is_file() else (b"",)
    for line in lines:
        try:
            record = json.loads(line)
            key = record.pop("key")
            known[safe_name(record["name"], str(path))] = (Written(**record), key if head + b"\n" == _HEAD else "")
        except (ValueError, LookupError, TypeError, AttributeError, InvalidData):
            continue
    return known


class Hashed(io.RawIOBase):
    """A stream for writing that knows the hash and the number of bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream, self.sha, self.count = stream, hashlib.sha256(), 0

    def writable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Bytes written."""
        return self.count

    def write(self, data: Any) -> int:
        """All of *data*."""
        view = memoryview(data).cast("B")
        self._stream.write(view)
        self.sha.update(view)
        self.count += len(view)
        return len(view)
