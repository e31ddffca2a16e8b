"""What an export has written: a manifest at its end, and a journal by which a broken one goes on."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from seldio.errors import DataError, UsageError
from seldio.files import Entry, atomic_write, make_folder, write_bytes
from seldio.text import printable

NAME = "manifest.json"
#: Hidden, so that it is no part of what is shared: it knows when the source files were changed last.
JOURNAL = ".seldio-export.jsonl"
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
        path = folder / NAME
        if not path.is_file():
            raise UsageError(f"{printable(str(folder))} is no finished export of seldio: it holds no {NAME}")
        try:
            record = json.loads(path.read_bytes())
            if record.pop("seldio_export") != VERSION:
                raise DataError(f"{printable(str(path))} is of another version of seldio: read it with that one")
            return Manifest(**record | {"files": tuple(Written(**file) for file in record["files"])})
        except (ValueError, LookupError, TypeError, AttributeError):
            raise DataError(f"{printable(str(path))} cannot be read: export again, or fetch it again") from None


class Export:
    """A folder that is being written: each file whole or not at all, those of an earlier run kept where they fit.

    Args:
        out: the folder; made if it is not there.
        kind: what is written.
        settings: what the bytes depend on beside the source.

    Raises:
        UsageError: the folder holds something that no export has written.
    """

    def __init__(self, out: Path, kind: str, settings: Mapping[str, Any]) -> None:
        self.out, self.kind, self._settings = out, kind, json.dumps([VERSION, kind, settings], sort_keys=True)
        self.files: dict[str, Written] = {}
        if out.exists() and not out.is_dir():
            raise UsageError(f"{printable(str(out))} is a file, and an export is a folder")
        self._known = _journal(out / JOURNAL)
        if not (out / JOURNAL).is_file() and out.is_dir() and any(out.iterdir()):
            raise UsageError(f"{printable(str(out))} is not empty: name a new folder for the export")
        make_folder(out)
        (out / NAME).unlink(missing_ok=True)  # written last: until then this is no finished export
        # the journal anew, without what a kill has left of a line
        write_bytes(out / JOURNAL, b"".join([_HEAD, *(_line(*known) for known in self._known.values())]))

    def produce(
        self, name: str, inputs: Iterable[Entry], write: Callable[[BinaryIO], int], *,
        split: str | None = None, origin: str | None = None,
    ) -> None:  # fmt: skip
        """Write one file, unless an earlier run has made it from the same files in the same way.

        Args:
            name: POSIX path below the folder.
            inputs: the files of the source that it is made of.
            write: writes the content and returns the number of rows.
            split: the split that it belongs to.
            origin: the file that it is a copy of.

        Raises:
            SeldioError: the disk fails.
        """
        key = hashlib.sha256(f"{self._settings}{[entry.stamp for entry in inputs]}".encode()).hexdigest()
        path = self.out / name
        done, known = self._known.get(name, (None, ""))
        if done is None or known != key or not path.is_file() or path.stat().st_size != done.bytes:
            make_folder(path.parent)
            with atomic_write(path) as stream:
                hashed = Hashed(stream)
                rows = write(cast("BinaryIO", hashed))
                hashed.flush()
            done = Written(name, hashed.count, hashed.sha.hexdigest(), split, rows, origin)
            self._add(done, key)
        self.files[name] = done

    def copy(self, name: str, entry: Entry, *, split: str | None = None) -> None:
        """A file of the source as it is; see :meth:`produce`."""

        def write(stream: BinaryIO) -> int:
            with entry.open() as source:
                while piece := source.read(1 << 20):
                    stream.write(piece)
            return 0

        self.produce(name, [entry], write, split=split, origin=entry.name)

    def text(self, name: str, text: str) -> None:
        """A small file that tells of the others."""
        data = text.encode()
        write_bytes(self.out / name, data)
        self.files[name] = Written(name, len(data), hashlib.sha256(data).hexdigest())

    def finish(self, features: Mapping[str, Mapping[str, Any]], statistics: Mapping[str, Any]) -> Manifest:
        """Take away what an earlier run has left, and write the manifest."""
        for name in self._known.keys() - self.files.keys():
            (self.out / name).unlink(missing_ok=True)
        files = tuple(self.files[name] for name in sorted(self.files))
        manifest = Manifest(self.kind, files, features, statistics)
        write_bytes(self.out / NAME, manifest.to_json())
        return manifest

    def _add(self, done: Written, key: str) -> None:
        with (self.out / JOURNAL).open("ab") as journal:
            journal.write(_line(done, key))
        self._known[done.name] = (done, key)


_HEAD = b'{"seldio_export": %d}\n' % VERSION


def _line(done: Written, key: str) -> bytes:
    return json.dumps({"key": key, **dataclasses.asdict(done)}).encode() + b"\n"


def _journal(path: Path) -> dict[str, tuple[Written, str]]:
    """What earlier runs have finished; lines that a kill cut off are left out."""
    known: dict[str, tuple[Written, str]] = {}
    for line in path.read_bytes().split(b"\n")[1:] if path.is_file() else ():
        try:
            record = json.loads(line)
            key = record.pop("key")
            known[record["name"]] = (Written(**record), key)
        except (ValueError, LookupError, TypeError, AttributeError):
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
