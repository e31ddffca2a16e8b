"""Exports: a data set written anew in one of the ways in which data sets are shared, and the way back."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.conversion.outputs import safe_name
from seldio.conversion.sources import Conversion
from seldio.data.export_files import MANIFEST, Export, Manifest, Written
from seldio.data.export_table import FILE, Plan
from seldio.data.index import Index
from seldio.data.media_folders import write_media_folder
from seldio.data.shard_files import write_parquet_shards, write_tar_shards
from seldio.errors import DataError, UsageError
from seldio.files import Limits, open_source, write_bytes
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.text import plural, printable

#: Recordings are longer than what other verbs hold in memory.
LIMITS = Limits(file_bytes=2**30, total_bytes=2**40, members=2_000_000)
_WRITERS = {
    "parquet": write_parquet_shards, "webdataset": write_tar_shards, "audiofolder": write_media_folder,
    "videofolder": write_media_folder, "files": None,
}  # fmt: skip
KINDS = tuple(_WRITERS)
#: Where files lie that are of no clip; they come back from there.
OTHER = "other/"


def export(
    source: str | os.PathLike[str], out: str | os.PathLike[str], kind: str = "parquet", *,
    embed: bool = True, shard_bytes: int = 500 << 20, array: str = "foa", format: str | None = None,
    force: bool = False,
) -> Manifest:  # fmt: skip
    """Write a data set to a folder in one of the ways in which data sets are shared.

    Nothing is lost: recordings, videos and label files go in as the bytes they are, and files that are of no clip
    are copied; :func:`seldio.data.read_back` makes all of them again. Files appear whole or not at all, the
    manifest last. The same call again goes on where an earlier one was broken off, and writes again only what
    has changed in the source. The same source gives the same bytes.

    Args:
        source: a folder, archive or file.
        out: a folder that is empty, not there, or of an earlier export.
        kind: *parquet*, *webdataset*, *audiofolder*, *videofolder*, or *files* for plain copies.
        embed: put recordings and videos into the Parquet files; else copies lie in ``media/``, and paths lead there.
        shard_bytes: most bytes of a shard, unless one clip has more.
        array: the array that is the column ``audio``; others have columns of their own.
        format: the layout of the labels; found from their content if not given.
        force: export labels in which there are errors too, such as angles in radians or classes that do not exist.

    Raises:
        UsageError: there is nothing to export, the labels are of several class lists, or *out* is no place for it.
        InvalidData: labels or questions are wrong.
        SeldioError: the disk fails.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no kind of storage {kind!r}; choose one of {', '.join(KINDS)}")
    if shard_bytes < 1:
        raise UsageError(f"shards of {shard_bytes} bytes cannot be: give a number above 0, such as {500 << 20}")
    place = Path(out)
    with open_source(source, raise_errors, LIMITS) as opened:
        top = Path(opened.path).resolve()
        if opened.kind == "folder" and (place.resolve() == top or place.resolve().is_relative_to(top)):
            raise UsageError(f"{printable(str(place))} lies inside the source: name a folder beside it")
        if not opened.entries:
            raise UsageError(f"{printable(opened.path)} holds no files to export")
        plan = Plan(Index(opened, get(format) if format is not None else None, force=force), array)
        return _written(plan, place, kind, {"embed": embed, "shard_bytes": shard_bytes})


def _columns(plan: Plan) -> dict[str, Any]:
    """What the content of every shard depends on beside the files of its own clips."""
    return {
        "array": plan.array,
        "format": plan.index.format.name if plan.index.format is not None else None,
        "columns": [plan.facts, plan.media, bool(plan.files), plan.events.schema.to_string()],
        "classes": plan.classes,
        "rates": plan.rates,
        "questions": [entry.stamp for entry in plan.others] if plan.items else [],
    }


def _check_sizes(plan: Plan) -> None:
    """See that each file fits a cell of a Parquet file, which is put together in memory, before any is read.

    Raises:
        UsageError: one is too large.
    """
    large = [entry for row in plan.rows for entry in row.files if entry.size > LIMITS.file_bytes]
    if large:
        more = f", as have {len(large) - 1:,} others" if len(large) > 1 else ""
        raise UsageError(
            f"{printable(large[0].path)} has {large[0].size / 1e9:.2f} GB{more}: a cell of a Parquet file takes at "
            f"most {LIMITS.file_bytes / 1e9:.2f} GB here. Export as WebDataset (--to webdataset), which takes any size"
        )


def _written(plan: Plan, place: Path, kind: str, options: dict[str, Any]) -> Manifest:
    writer = _WRITERS[kind]
    if writer is not None and not plan.rows:
        raise UsageError(f"{printable(plan.index.source.path)} holds no clip: kind 'files' copies it as it is")
    if kind == "parquet" and options["embed"]:
        _check_sizes(plan)
    with Export(place, kind, {**options, **({} if writer is None else _columns(plan))}) as made:
        for entry in plan.index.source if writer is None else plan.others:
            made.copy(entry.name if writer is None else OTHER + entry.name, entry)
        if writer is None:
            made.work()
        features = {} if writer is None else writer(plan, made, **options)
        return made.finish(features, plan.statistics())


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
    path = folder / safe_name(file.name, str(folder / MANIFEST))
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
        columns = [field.name for field in table.schema_arrow if field.type.equals(FILE)]
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


@dataclasses.dataclass(frozen=True)
class Stored(Conversion):
    """What an export or the way back did.

    Args:
        bytes: of the files written.
    """

    bytes: int = 0

    def lines(self) -> Iterator[str]:
        """What was done, for people."""
        size = f"{self.bytes:,} bytes"
        yield (
            f"{' and '.join(self.formats)} to {self.target}: {plural(self.clips, 'clip')} from "
            f"{plural(self.files, 'file')}, in {plural(len(self.written), 'file')} ({size})"
        )
        yield from (f"  {note}" for note in self.notes)


def convert_stored(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | BinaryIO,
    to: str,
    format: str | None,
    force: bool = False,
) -> Stored:
    """Export a data set, or with *files* make the files again that an export was made from.

    Raises:
        UsageError: *out* is a stream; and what :func:`export` and :func:`read_back` raise.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes a folder: name it with -o")
    if to == "files":
        manifest = Manifest.load(Path(path))
        names = read_back(path, out)
        sizes = sum((Path(out) / name).stat().st_size for name in names)
        return _stored(manifest, (manifest.kind,), to, len(manifest.files), [Path(out) / name for name in names], sizes)
    manifest = export(path, out, to.removeprefix("hf-"), format=format, force=force)
    written = [Path(out) / file.name for file in manifest.files]
    layout, files = manifest.statistics["layout"], sum(manifest.statistics["files"].values())
    return _stored(manifest, (layout,), to, files, written, sum(file.bytes for file in manifest.files))


def _stored(
    manifest: Manifest, formats: tuple[str, ...], to: str, files: int, written: list[Path], size: int
) -> Stored:
    clips = manifest.statistics["clips"]
    others = manifest.statistics["files"]["other"]
    return Stored(
        formats=formats, target=to, files=files, written=tuple(map(str, written)), clips=clips, rows=(clips, clips),
        losses={}, notes=(f"{plural(others, 'file')} of no clip copied as is",) if others else (), findings=(),
        bytes=size,
    )  # fmt: skip
