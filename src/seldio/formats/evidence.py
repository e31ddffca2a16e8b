"""What the content and the names of label files say, before anybody has said what they are."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from seldio.formats import cells
from seldio.formats.base import TextFile
from seldio.formats.diagnosis import delimiter_of, plain_lines
from seldio.formats.shapes import INDEX_NAMES, Row, Rows, Shape, counted

#: Lines looked at in all files together, taken from their heads and tails.
SAMPLE = 4000
#: Columns looked at; more than any layout has.
WIDEST = 16
_HEAD = 1 << 16
#: Bytes that hardly any row has.
_ROW = 64


@dataclasses.dataclass(frozen=True)
class Column:
    """One file column of the sample: its numbers, whether any has a decimal point, and how many words."""

    values: np.ndarray[Any, np.dtype[np.float64]]
    decimals: bool
    words: int

    @property
    def whole(self) -> bool:
        """Whether every number is a whole one, however written."""
        return bool((self.values == np.rint(self.values)).all())

    def share(self, low: float, high: float) -> float:
        """The share of values inside [low, high]; 1 for an empty column."""
        inside = (self.values >= low) & (self.values <= high)
        return float(inside.mean()) if len(self.values) else 1.0


@dataclasses.dataclass(frozen=True)
class Sample:
    """What is seen of a group of files.

    Args:
        width: the number of cells that most rows have; 0 for files without rows.
        header: the names of the first line, where it holds no number.
        columns: one for each cell of a row, up to ``WIDEST``.
        rows: how many rows were looked at.
        names: paths of the files, as shown.
        crlf: whether lines end with CR LF.
        widths: the numbers of cells that rows have.
        shape: what is between the rows as they are and these, if anything.
    """

    width: int
    header: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: int
    names: tuple[str, ...]
    crlf: bool
    widths: frozenset[int]
    shape: Shape | None = None

    @property
    def indexed(self) -> bool:
        """Whether the first column is a row index, as ``DataFrame.to_csv`` writes one: a column without a name."""
        return bool(self.header) and self.header[0] in INDEX_NAMES

    @property
    def blank(self) -> bool:
        """Whether every cell of every row is 0."""
        return self.rows > 1 and all(len(c.values) == self.rows and not c.values.any() for c in self.columns)


@dataclasses.dataclass(frozen=True)
class Taken:
    """Some lines of a file: the names of the first one, where it holds no number, and rows."""

    path: str
    header: tuple[str, ...]
    rows: tuple[str, ...]
    crlf: bool

    @property
    def cells(self) -> tuple[Row, Rows]:
        """The header and the rows, cell by cell."""
        return self.header, [_split(row) for row in self.rows]

    def through(self, shape: Shape) -> Taken:
        """The same lines as they are meant."""
        header = tuple(shape.undo(self.header)) if self.header else ()
        rows = tuple(",".join(shape.undo(_split(row))) for row in self.rows)
        return dataclasses.replace(self, header=header, rows=rows)


def look(files: Sequence[TextFile]) -> Sample:
    """A bounded sample of *files*: enough to tell formats apart, whatever their size."""
    return summed(taken(files))


def taken(files: Sequence[TextFile]) -> list[Taken]:
    """Lines from the head and the tail of each file, none of those that have none."""
    share = max(6, SAMPLE // max(1, len(files)))
    found = []
    for file in files:
        lines = _lines(file.data, share)
        titles = _header(lines[0]) if lines else ()
        crlf = file.data.find(b"\r\n", 0, _HEAD) >= 0
        found.append(Taken(file.path, titles, tuple(lines[1:] if titles else lines), crlf))
    return found


def summed(files: Sequence[Taken], shape: Shape | None = None) -> Sample:
    """What lines of files say together, seen through *shape*."""
    if shape is not None:
        files = [file.through(shape) for file in files]
    header = next((file.header for file in files if file.header), ())
    rows = [row for file in files for row in file.rows]
    widths = [_width(row) for row in rows]
    counts = collections.Counter(widths)
    width = counts.most_common(1)[0][0] if rows else len(header)
    kept = [row for row, cells in zip(rows, widths, strict=True) if cells == width]
    columns = tuple(map(_column, islice(_transposed(kept, width), WIDEST)))
    crlf = any(file.crlf for file in files)
    return Sample(width, header, columns, len(kept), tuple(f.path for f in files), crlf, frozenset(counts), shape)


def signature(data: bytes) -> tuple[int, str, bool]:
    """Width, header and decimals of a file's first rows: files that share it are looked at together."""
    lines = _lines(data[:4096], 3)
    if not lines:
        return (0, "", False)
    titles = _header(lines[0])
    rows = lines[1:] if titles else lines
    row = _split(rows[0]) if rows else list(titles)
    return (len(row), ",".join(titles), any("." in cell for cell in row))


def _lines(data: bytes, most: int) -> list[str]:
    """Up to *most* non-blank lines, half from the head and half from the tail; the last only if whole."""
    lines: list[bytes] = []
    for reach in sorted({min(_HEAD, _ROW * most), _HEAD}):  # a few rows do not take all of a file's head
        if not lines and len(data) > 2 * reach:
            lines = plain_lines(data[:reach]).split(b"\n")[:-1] + plain_lines(data[-reach:]).split(b"\n")[1:]
    lines = lines or plain_lines(data).split(b"\n")
    torn = len(lines) > 2 and lines[-1] != b""
    lines = [line for line in (lines[:-1] if torn else lines) if line.strip()]
    if len(lines) > most:
        lines = lines[: most - most // 2] + lines[-(most // 2) :]
    return [line.decode(errors="replace") for line in lines]


def _header(line: str) -> tuple[str, ...]:
    names = tuple(cell.strip().strip('"') for cell in _split(line))
    titles = names[1:] if names[0].lower() in INDEX_NAMES else names
    wordy = not any(cells.numeric(name) for name in titles) and all(map(cells.wordy, titles)) and len(names) > 1
    return tuple(name.lower() for name in names) if wordy or counted(names) else ()


def _split(line: str) -> list[str]:
    """The cells of a line, by the delimiter it seems to use."""
    if line.count(";") > 1:
        return [cell.replace(",", ".") for cell in line.split(";")]
    if "," in line:
        return line.split(",")
    found = next((n for n in range(12, 2, -1) if delimiter_of(line, n) != ","), 0)
    return line.split(delimiter_of(line, found)) if found else [line]


def _width(line: str) -> int:
    """How many cells a line has."""
    return line.count(",") + 1 if _simple(line) else len(_split(line))


def _simple(line: str) -> bool:
    return "," in line and ";" not in line


def _transposed(lines: Sequence[str], width: int) -> Iterator[Sequence[str]]:
    """The columns of lines of *width* cells."""
    if all(map(_simple, lines)):
        every = ",".join(lines).split(",")
        return (every[number::width] for number in range(width if lines else 0))
    return zip(*map(_split, lines), strict=True)


_PLAIN = re.compile(r"[0-9+.\0-]*")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")


def _column(texts: Sequence[str]) -> Column:
    if (plain := _plain(texts)) is not None:
        return plain
    found = [cells.plainly(cell.strip().strip('"')) for cell in texts]
    if (plain := _plain(found)) is not None:
        return plain
    numbers = [text for text in found if _NUMBER.fullmatch(text) and len(text) < 60]
    words = sum(cells.wordy(text) and text.lower() not in ("nan", "inf", "na", "none", "null") for text in found)
    decimals = any("." in text or "e" in text.lower() for text in numbers)
    return Column(np.array([float(text) for text in numbers]), decimals, words)


def _plain(cells: Sequence[str]) -> Column | None:
    """A column of nothing but short plain numbers, at once; None for any other."""
    joined = "\0".join(cells)
    if not _PLAIN.fullmatch(joined) or max(map(len, cells), default=0) >= 60:
        return None
    try:
        return Column(np.array(cells, dtype=np.float64), "." in joined, 0)
    except ValueError:
        return None
