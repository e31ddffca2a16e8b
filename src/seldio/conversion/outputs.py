"""Write tables to disk: to one file, to a folder of files, or to one Parquet file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import IOBase
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa

from seldio.conversion.inputs import Input
from seldio.errors import InvalidData, UsageError
from seldio.files import atomic_write, make_folder, many_files, write_bytes
from seldio.formats import Format
from seldio.formats.parquet import write_parquet
from seldio.progress import over
from seldio.reader_rules import reader_rule
from seldio.schema.events import ClipFile, clip_codes, origin_of
from seldio.text import clipped, printable

#: Names that could lead out of the folder they are put in; "" and "." are no names either.
_ESCAPES = re.compile(r"(^|/)\.{0,2}(/|$)|^[A-Za-z]:|[\\\0]")

Identity = tuple[int, int]


def write_tables(tables: Sequence[pa.Table], target: Format, out: str, source: Input) -> tuple[str, ...]:
    """Write tables that *target* can hold; return the paths written.

    Raises:
        UsageError: *out* is the source itself or no place for the output, or names collide.
        InvalidData: the table names files that lead out of the folder.
        SeldioError: the disk fails.
    """
    if target.role == "table":
        path = table_place(out, source.local, len(tables))
        with atomic_write(path) as stream:
            write_parquet(tables[0], stream)
        return (str(path),)
    inputs = _identities(source.local)
    clips = [(file, target.write(rows, file)) for table in tables for file, rows in clip_tables(table)]
    if source.single:
        folder = Path(out) if out.endswith(os.sep) or Path(out).is_dir() else None
        name = safe_name(clips[0][0].name, source.path)
        paths = {clips[0][0].name: _new(folder / name if folder else Path(out), inputs)}
        if folder:
            make_folder(folder)
    else:
        paths = _folder([file for file, _ in clips], Path(out), inputs, source.path)
    with many_files():
        for file, data in over(clips, "writing labels"):
            write_bytes(paths[file.name], data)
    return tuple(str(path) for path in paths.values())


def table_place(out: str, sources: Iterable[str], layouts: int) -> Path:
    """The file for one Parquet table of *layouts* layouts, once it is clear that it can be written there.

    Raises:
        UsageError: *out* is one of the *sources*, or the labels have several layouts.
    """
    path = _new(Path(out), _identities(sources))
    if layouts > 1:
        raise UsageError("the files have several layouts, a Parquet table has one: convert them one by one")
    return path


def folder_place(files: Iterable[ClipFile], out: str, sources: Iterable[str], source: str) -> list[Path]:
    """The paths of *files* below the folder *out*, which is made with all folders in it.

    Raises:
        UsageError: one of them is one of the *sources*, or leads out of *out*, or two are one.
        InvalidData: a name leads out of the folder.
        SeldioError: the disk fails.
    """
    return list(_folder(files, Path(out), _identities(sources), source).values())


def write_single(
    data: bytes, out: str | os.PathLike[str] | BinaryIO, source: str | os.PathLike[str]
) -> tuple[str, ...]:
    """Write one file, or into a stream; return where.

    Raises:
        UsageError: *out* is the source itself.
        SeldioError: the disk fails.
    """
    with single_file(out, [source]) as (stream, written):
        stream.write(data)
    return written


@contextmanager
def single_file(
    out: str | os.PathLike[str] | BinaryIO, sources: Iterable[str | os.PathLike[str]]
) -> Iterator[tuple[BinaryIO, tuple[str, ...]]]:
    """A stream for one file, which appears when the block ends well, with its path; *out* itself if it is a stream.

    Raises:
        UsageError: *out* is one of the *sources*.
        SeldioError: the disk fails.
    """
    if isinstance(out, IOBase):
        yield cast("BinaryIO", out), ("-",)
        return
    inputs = _identities(sources)
    path = _new(Path(cast("str | os.PathLike[str]", out)), inputs)
    make_folder(path.parent)
    with atomic_write(path) as stream:
        yield stream, (str(path),)


def write_stream(tables: Sequence[pa.Table], target: Format, stream: BinaryIO, source: Input) -> tuple[str, ...]:
    """Write what is a single file into *stream*.

    Raises:
        UsageError: the output is a folder of files.
    """
    if target.role == "table" and len(tables) == 1:
        write_parquet(tables[0], stream)
        return ("-",)
    clips = [(file, rows) for table in tables for file, rows in clip_tables(table)]
    if not source.single or len(clips) != 1:
        raise several(source.path, len(clips))
    stream.write(target.write(clips[0][1], clips[0][0]))
    return ("-",)


def several(source: str, files: int) -> UsageError:
    """Why *files* files have no place in a stream."""
    return UsageError(f"{printable(source)} becomes {files} files: name a folder for them with -o")


def clip_tables(table: pa.Table) -> Iterator[tuple[ClipFile, pa.Table]]:
    """The rows of each clip with its file, in the order of the files; silent clips included."""
    codes, names = clip_codes(table)
    ends = np.flatnonzero(np.diff(codes)) + 1
    if len(ends) >= len(np.unique(codes)) > 0:  # a clip stands in several places
        order = np.argsort(codes, kind="stable")
        codes, table = codes[order], table.take(pa.array(order))
        ends = np.flatnonzero(np.diff(codes)) + 1
    bounds = [0, *ends.tolist(), len(codes)] if len(codes) else [0]
    rows = {names[codes[start]]: (start, end - start) for start, end in pairwise(bounds)}
    files = {file.clip: file for file in origin_of(table).files}
    files |= {clip: ClipFile(clip, f"{clip}.csv") for clip in rows if clip not in files}
    table = table.combine_chunks()
    for clip, file in files.items():
        yield file, table.slice(*rows.get(clip, (0, 0)))


def _folder(files: Iterable[ClipFile], out: Path, inputs: set[Identity], source: str) -> dict[str, Path]:
    """The path of each file below *out*; all are checked before the first folder is made."""
    paths: dict[str, Path] = {}
    for file in files:
        path = _new(out / safe_name(file.name, source), inputs)
        if file.name in paths:
            raise UsageError(f"two files would be written to {printable(str(path))}")
        paths[file.name] = path
    folders = dict.fromkeys([out, *(path.parent for path in paths.values())])
    for folder in folders:
        if not folder.resolve().is_relative_to(out.resolve()):
            raise UsageError(f"{printable(str(folder))} leads out of {printable(str(out))}: it is a link")
    for folder in folders:
        make_folder(folder)
    return paths


def safe_name(name: str, source: str) -> str:
    """The name of a file, unless it leads out of the folder that it is put in.

    Raises:
        InvalidData: it does (``SAF101``).
    """
    if _ESCAPES.search(name):
        message = f"the file name {clipped(name)} leads out of the folder"
        raise InvalidData(reader_rule("SAF101").at(source, message))
    return name


def _new(path: Path, inputs: set[Identity]) -> Path:
    """*path*, unless it is one of the files that are being read."""
    if _identity(path) in inputs:
        raise UsageError(f"{printable(str(path))} is the source itself: name another place for the output")
    return path


def _identities(paths: Iterable[str | os.PathLike[str]]) -> set[Identity]:
    return {identity for path in paths if (identity := _identity(Path(path))) is not None}


def _identity(path: Path) -> Identity | None:
    try:
        state = path.stat()
    except (OSError, ValueError):
        return None
    return state.st_dev, state.st_ino
