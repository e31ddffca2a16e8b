"""An export as a source: the files that it was made from, under their own names, read where they lie.

``manifest.json`` names each file of an export. A copy has the name that it had in the source. A shard gives back the
files inside: of a Parquet file the cells of its columns of files (structs of ``bytes`` and ``path``), of a tar file the
members whose old names are in the ``KEY.json`` of their sample. What seldio made from them, such as tables of labels,
is left out.

A recording that has a row group of its own, uncompressed, ends where its column ends: then it is a stretch of the
shard, and a window of it is read without the rest. pyarrow reads all others, a column of a row group at a time.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.errors import DataError, InvalidData, UsageError
from seldio.files.archives import Member, OnDisk, admitted, collected, safe, tar_members
from seldio.files.entries import (
    Entry,
    Inside,
    Limits,
    Source,
    Stretch,
    checked,
    guard,
    open_regular,
    plain_file,
    problem,
)
from seldio.files.names import MANIFEST
from seldio.findings import Sink
from seldio.text import Displayed, listed, plural, printable

VERSION = 1
#: The folder of shards.
DATA = "data/"
#: Bytes in which a manifest says that it is one, and the most of a ``KEY.json`` in a tar.
_HEAD, _RECORD = 64, 2**24
#: The key of the sizes of files in the metadata of a Parquet file.
SIZES = b"seldio sizes"
#: Columns of row groups that are kept.
_KEPT = 4
#: Before 21, pyarrow made extension types of no column unless it was asked to, and had no such option.
_NO_EXTENSIONS = {name: False for name in signature(pq.ParquetFile).parameters if name == "arrow_extensions_enabled"}
#: The fields of a column of files.
_FILE = {"bytes": pa.binary(), "path": pa.string()}


def parquet_file(source: Any, **options: Any) -> pq.ParquetFile:
    """Return a Parquet file, its columns as they are stored, of no extension type."""
    return pq.ParquetFile(source, **options, **_NO_EXTENSIONS)


# --- the manifest ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file of an export."""

    name: str  # POSIX path below the folder of the export
    bytes: int  # its size
    sha256: str  # of its content
    split: str | None = None  # the split that it belongs to; None for what is of no split
    rows: int = 0  # clips in it, or rows of labels; 0 for what is no table
    origin: str | None = None  # the file of the source that it is a copy of; None where it holds several


_TYPES = get_type_hints(ExportFile)


@dataclass(frozen=True, repr=False)
class Manifest(Displayed):
    """The contents of an export.

    Args:
        kind: parquet, webdataset, audiofolder or videofolder.
        files: everything written, sorted by name.
        statistics: clips, clips of each split, files of each kind, bytes of the source.
        finished: False while the export is being written, and after it was broken off; then only names are known.
    """

    kind: str
    files: tuple[ExportFile, ...]
    statistics: Mapping[str, Any] = field(default_factory=dict)
    finished: bool = True

    def __str__(self) -> str:
        return f"{self.kind}: {plural(len(self.files), 'file')}, {sum(file.bytes for file in self.files):,} bytes"

    def to_json(self) -> bytes:
        """Return the content of ``manifest.json``; the same export gives the same bytes everywhere."""
        record = {"seldio_export": VERSION, **asdict(self)}
        return (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode(errors="backslashreplace")

    @staticmethod
    def load(folder: Path) -> Manifest:
        """Read the manifest of an export.

        Raises:
            UsageError: the folder does not hold one, so it is not an export.
            DataError: it cannot be read.
        """
        path = folder / MANIFEST
        if not path.is_file():
            raise UsageError(f"{printable(str(folder))} is not a seldio export: it has no {MANIFEST}")
        return Manifest.parse(plain_file(path).read(), str(path))

    @staticmethod
    def parse(data: bytes, path: str) -> Manifest:
        """Return the manifest that *data* holds; *path* is what messages call it.

        Raises:
            DataError: it cannot be read.
        """
        shown = printable(path)
        try:
            record = json.loads(data)
            if record.pop("seldio_export") != VERSION:
                raise DataError(f"{shown} was written by another version of seldio: read it with that version")
            record.pop("features", None)  # of earlier versions
            files = tuple(ExportFile(**file) for file in record.pop("files"))
            manifest = Manifest(files=files, **record)
            typed = [(getattr(file, name), kind) for file in files for name, kind in _TYPES.items()]
            typed += [(manifest.kind, str), (manifest.finished, bool)]
            if manifest.finished:
                counts = [manifest.statistics["clips"], *manifest.statistics["files"].values()]
                typed += [(count, int) for count in counts]
            if not all(isinstance(value, kind) for value, kind in typed):
                raise ValueError
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise DataError(f"{shown} cannot be read: export again, or fetch it again") from None
        return manifest


# --- the files that an export was made from --------------------------------------------------------------


def restored(source: Source, sink: Sink, limits: Limits) -> Source:
    """Return the files that *source*, which has a manifest, was made from if it is an export, else *source*."""
    entry = next(entry for entry in source if entry.name == MANIFEST)
    try:
        if b'"seldio_export"' not in entry.head(_HEAD):
            return source
        manifest = Manifest.parse(entry.read(), entry.path)
    except InvalidData as error:
        sink(error.finding)
        return source
    except DataError:
        sink(problem("SAF107", entry.path, "A damaged manifest of an export"))
        return source
    if not manifest.finished:
        sink(problem("SAF107", entry.path, "An export that was broken off"))
        return source
    return original_files(source, manifest, sink, limits)


def original_files(source: Source, manifest: Manifest, sink: Sink, limits: Limits) -> Source:
    """Return the files that an export was made from.

    Names are checked as those of an archive's members are.
    """
    names = {entry.name for entry in source}
    written = {file.name: file for file in manifest.files}
    if missing := sorted(written.keys() - names):
        what = f"{plural(len(missing), 'file')} of the export missing: {listed(missing)}"
        sink(problem("SAF107", source.path, what))
    entries: dict[str, Entry] = {}
    for entry in source:
        try:
            originals = _originals(entry, written, sink, limits)
        except InvalidData as error:
            sink(error.finding)
            continue
        for original in originals:
            first = entries.setdefault(original.name, original)
            # a recording that several people labelled is stored with each of its clips
            if first.size != original.size:
                other = first.path.partition("!/")[0]
                sink(problem("SAF104", original.path, f"Appears twice (also in {other})"))
    return replace(source, entries=checked(entries.values(), sink), exported=True)


def _originals(entry: Entry, written: Mapping[str, ExportFile], sink: Sink, limits: Limits) -> list[Entry]:
    """Return the files of the source that a file of an export is, or holds."""
    file = written.get(entry.name)
    if file is None:  # it was added later
        return [entry] if entry.name != MANIFEST else []
    if file.origin is not None:
        return [replace(entry, name=file.origin)] if safe(file.origin, entry.path, sink) else []
    if not entry.name.startswith(DATA):  # a table that was made from the others
        return []
    if entry.real is None:
        raise InvalidData(problem("SAF107", entry.path, "A shard of an export inside an archive"))
    with guard(entry.path), entry.open() as stream:
        if entry.name.endswith(".tar"):
            members = _tar_files(entry, stream, sink, limits)
        else:
            try:
                members = list(_cells(entry, stream, limits))
            except (pa.ArrowException, TypeError, MemoryError) as error:
                raise ValueError(str(error) or type(error).__name__) from error
    distinct = {(member.name, member.size): member for member in reversed(members)}
    return list(admitted(list(distinct.values())[::-1], entry.path, sink, limits))


def _tar_files(entry: Entry, stream: BinaryIO, sink: Sink, limits: Limits) -> list[Member]:
    """Return the files of all samples in a tar, under the names that they had."""
    real = str(entry.real)
    names: dict[str, str] = {}
    members = collected(tar_members(OnDisk(real, entry.path)), entry.path, sink, limits)
    for member in members:
        key, _, kind = member.name.partition(".")
        if kind == "json" and member.at is not None and member.size <= _RECORD:
            stream.seek(member.at)
            record = json.loads(stream.read(member.size))
            if not isinstance(record, dict) or not isinstance(record.get("files"), dict):
                raise ValueError(f"{printable(member.name)} does not name the files of its sample")
            names |= {f"{key}.{inside}": str(name) for inside, name in record["files"].items()}
    return [
        replace(member, raw=names[member.name], start=Stretch(real, member.at, member.size))
        for member in members
        if member.name in names and member.at is not None
    ]


# --- cells of a Parquet file -----------------------------------------------------------------------------


def _cells(entry: Entry, stream: BinaryIO, limits: Limits) -> Iterator[Member]:
    """Yield the files in the columns of a Parquet file that hold files."""
    file = parquet_file(stream)
    metadata, real = file.metadata, str(entry.real)
    columns = [
        column.name
        for column in file.schema_arrow
        if pa.types.is_struct(column.type) and {field.name: field.type for field in column.type} == _FILE
    ]
    if metadata.num_rows * len(columns) > limits.members:
        raise InvalidData(problem("SAF105", entry.path, f"Holds more than {limits.members:,} files"))
    sizes = json.loads((file.schema_arrow.metadata or {}).get(SIZES, b"{}"))
    leaves = {metadata.schema.column(number).path: number for number in range(metadata.num_columns)}
    first = 0  # row of the group
    for group in range(metadata.num_row_groups):
        chunks = {name: metadata.row_group(group).column(number) for name, number in leaves.items()}
        for chunk in (chunks[f"{column}.{part}"] for column in columns for part in ("bytes", "path")):
            packed, size = chunk.total_compressed_size, chunk.total_uncompressed_size
            if size > limits.unpacked(packed, size):
                what = f"A column unpacks to {size:,} bytes, from {packed:,} compressed"
                raise InvalidData(problem("SAF105", entry.path, what))
        paths = file.read_row_group(group, [f"{column}.path" for column in columns])
        for column in columns:
            chunk = chunks[f"{column}.bytes"]
            for row, cell in enumerate(paths[column].to_pylist()):
                if cell is not None and cell["path"] is not None:
                    size = sizes[column][first + row] if column in sizes else -1
                    start = _stretch(stream, chunk, real, size) or Cell(real, group, column, row)
                    yield Member(cell["path"], 0, size, limits.file_bytes, chunk.data_page_offset, start)
        first += paths.num_rows


def _stretch(stream: BinaryIO, chunk: Any, real: str, size: int) -> Stretch | None:
    """Return where the only value of a column of a row group lies, if it lies there as it is."""
    start = chunk.data_page_offset + chunk.total_compressed_size - size
    if chunk.num_values != 1 or chunk.compression != "UNCOMPRESSED" or size < 0 or start - 4 < chunk.data_page_offset:
        return None
    stream.seek(start - 4)  # its length stands before it
    return Stretch(real, start, size) if stream.read(4) == size.to_bytes(4, "little") else None


@dataclass(frozen=True, slots=True)
class Cell(Inside):
    """A file in a row group of several; called, it gives a stream of it."""

    group: int
    column: str
    row: int  # in its group

    def __call__(self) -> io.BytesIO:
        """See :class:`Inside`."""
        try:
            cell = _column(self.real, Path(self.real).stat().st_mtime_ns, self.group, self.column)[self.row].as_py()
        except (pa.ArrowException, MemoryError) as error:
            raise ValueError(str(error)) from error
        return io.BytesIO(cell["bytes"])


@lru_cache(_KEPT)
def _column(real: str, _: int, group: int, column: str) -> pa.ChunkedArray:
    with open(open_regular(real, real)[0], "rb") as stream:  # noqa: PTH123 - a descriptor
        leaf = f"{column}.bytes"  # values that are alike are held once
        file = parquet_file(stream, read_dictionary=[leaf], page_checksum_verification=True)
        return file.read_row_group(group, [leaf])[column]
