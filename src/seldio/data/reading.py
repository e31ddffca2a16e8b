"""Back from an export to the files that it was made from."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.conversion.outputs import safe_name
from seldio.data import features
from seldio.data.manifest import NAME, Manifest, Written
from seldio.errors import DataError, UsageError
from seldio.files import write_bytes
from seldio.text import printable

#: A file of the source: its name and its bytes.
Original = tuple[str, bytes]


def read_back(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write the files that an export was made from, byte for byte.

    Args:
        path: a folder that :func:`seldio.data.export` has written, or a copy of one.
        out: a folder for the files; empty, or not there yet.

    Returns:
        Their names below *out*, sorted.

    Raises:
        UsageError: *path* is no finished export, or *out* is no place for the files.
        DataError: the export is damaged: a file is missing or another one than was written, or a name leads out.
        SeldioError: the disk fails.
    """
    folder, place = Path(path), Path(out)
    manifest = Manifest.load(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{printable(str(place))} is there and not empty: name a new folder")
    names: set[str] = set()
    for file in manifest.files:
        _check(folder, file)
        for name, data in _originals(folder, file, manifest.kind):
            target = place / safe_name(name, str(folder / file.name))
            target.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(target, data)
            names.add(name)
    return tuple(sorted(names))


def _check(folder: Path, file: Written) -> None:
    """See that a file is the one that was written."""
    path = folder / safe_name(file.name, str(folder / NAME))
    if not path.is_file():
        raise DataError(f"{printable(str(path))} is missing: export again, or fetch it again")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != file.sha256:
        raise DataError(f"{printable(str(path))} is not what was written (its SHA-256 differs): fetch it again")


def _originals(folder: Path, file: Written, kind: str) -> Iterator[Original]:
    """The files of the source that are in a file of an export."""
    if file.origin is not None:
        yield file.origin, (folder / file.name).read_bytes()
        return
    reader = _READERS.get((kind, file.name.partition("/")[0]))
    if reader is not None:
        yield from reader(folder / file.name)


def _from_parquet(path: Path) -> Iterator[Original]:
    with pq.ParquetFile(path, page_checksum_verification=True) as table:
        columns = [field.name for field in table.schema_arrow if field.type.equals(features.FILE)]
        for number in range(table.num_row_groups):
            group = table.read_row_group(number, columns)
            for column in group.columns:
                yield from _embedded(column)


def _embedded(column: pa.ChunkedArray) -> Iterator[Original]:
    for value in column:
        if value.is_valid and (data := value["bytes"]).is_valid:
            yield value["path"].as_py(), data.as_py()


def _from_tar(path: Path) -> Iterator[Original]:
    """The files of a shard: the record of each sample, which comes last, tells their names."""
    sample: dict[str, bytes] = {}
    with tarfile.open(path, mode="r|") as tar:
        for member in tar:
            stream = tar.extractfile(member)
            if stream is None:
                raise DataError(f"{printable(str(path))} holds {printable(member.name)}, which is no file")
            key, _, name = member.name.partition(".")
            if name != "json":
                sample[name] = stream.read()
                continue
            files = json.loads(stream.read())["files"]
            if files.keys() != sample.keys():
                raise DataError(f"{printable(str(path))}: the sample {printable(key)} has not the files that it names")
            yield from ((files[inside], data) for inside, data in sample.items())
            sample = {}


_READERS: dict[tuple[str, str], Callable[[Path], Iterator[Original]]] = {
    ("parquet", "data"): _from_parquet,
    ("webdataset", "data"): _from_tar,
}
