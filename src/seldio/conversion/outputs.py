"""Names and places of outputs: inside their folder, never over the source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import IOBase
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa

from seldio.errors import InvalidData, UsageError
from seldio.files import atomic_write, in_the_way, make_folder
from seldio.reader_rules import READER_RULES
from seldio.schema.events import ClipFile, clip_codes, origin_of
from seldio.text import clipped, printable

#: Names that could lead out of the folder they are put in; "" and "." are no names either.
_ESCAPES = re.compile(r"(^|/)\.{0,2}(/|$)|^[A-Za-z]:|[\\\0]")


def earlier_output(source: str, out: str | os.PathLike[str]) -> Path | None:
    """Return *out* if it is inside the folder *source*, of which it is no part: an earlier run may have written it."""
    top, below = Path(source).resolve(), Path(out).resolve()
    return below if top != below and below.is_relative_to(top) else None


def folder_place(files: Iterable[ClipFile], out: str, sources: Iterable[str], source: str) -> list[Path]:
    """Return the paths of *files* below the folder *out*; all are checked before it is made, with all folders in it."""
    top = Path(out)
    paths: dict[str, Path] = {}
    for file in files:
        path = top / safe_name(file.name, source)
        if file.name in paths:
            raise UsageError(f"two files would be written to {printable(str(path))}")
        paths[file.name] = path
    _see_no_source(paths.values(), sources)
    for path in paths.values():
        in_the_way(path, top)
    for folder in dict.fromkeys([top, *(path.parent for path in paths.values())]):
        make_folder(folder, top)
    return list(paths.values())


@contextmanager
def single_file(
    out: str | os.PathLike[str] | BinaryIO, sources: Iterable[str | os.PathLike[str]]
) -> Iterator[tuple[BinaryIO, tuple[str, ...]]]:
    """Open a stream for one file, which appears when the block ends well, with its path; *out* if it is a stream."""
    if isinstance(out, IOBase):
        yield cast("BinaryIO", out), ("-",)
        return
    path = Path(cast("str | os.PathLike[str]", out))
    _see_no_source([path], sources)
    make_folder(path.parent)
    with atomic_write(path) as stream:
        yield stream, (str(path),)


def clip_tables(table: pa.Table) -> Iterator[tuple[ClipFile, pa.Table]]:
    """Yield the rows of each clip with its file, in the order of the files; silent clips included."""
    codes, names = clip_codes(table)
    order = np.argsort(codes, kind="stable")
    table = (table.take(pa.array(order)) if (np.diff(codes) < 0).any() else table).combine_chunks()
    bounds = zip(names, pairwise(np.searchsorted(codes[order], np.arange(len(names) + 1)).tolist()), strict=True)
    rows = {clip: (start, end - start) for clip, (start, end) in bounds if start < end}
    files = {file.clip: file for file in origin_of(table).files}
    files |= {clip: ClipFile(clip, f"{clip}.csv") for clip in rows if clip not in files}
    for clip, file in files.items():
        yield file, table.slice(*rows.get(clip, (0, 0)))


def safe_name(name: str, source: str) -> str:
    """Return the name of a file, unless it points outside the folder that it is put in."""
    if _ESCAPES.search(name):
        message = f"the file name {clipped(name)} points outside the folder"
        raise InvalidData(READER_RULES["SAF101"].at(source, message))
    return name


def _see_no_source(paths: Iterable[Path], sources: Iterable[str | os.PathLike[str]]) -> None:
    """Raise UsageError if one of *paths* is one of the files that are being read."""
    inputs = set()
    for source in sources:
        with suppress(OSError, ValueError):
            state = Path(source).stat()
            inputs.add((state.st_dev, state.st_ino))
    for path in paths:
        with suppress(OSError, ValueError):
            state = path.stat()
            if (state.st_dev, state.st_ino) in inputs:
                raise UsageError(f"{printable(str(path))} is the source itself: choose another output")
