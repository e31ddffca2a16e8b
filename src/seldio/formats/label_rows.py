"""The rows of label files of one shape as columns of numbers, whatever their format, from the head and tail of each."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from seldio.formats import cells
from seldio.formats.base import TextFile
from seldio.formats.diagnosis import plain_lines
from seldio.formats.shapes import INDEX_NAMES, Row, Rows, Shape, counted

Numbers = np.ndarray[Any, Any]
#: Lines of all files together, and at least of each file that is looked at.
LINES, FEWEST = 4000, 6
#: Bytes of the head and of the tail of a file, and of a usual row.
_REACH, _ROW = 1 << 16, 64
#: Cells of the widest row without commas.
_MOST = 12
#: Characters of the longest number that is read.
_LONGEST = 60
_MISSING = {"", "na", "n/a", "nan", "none", "null", "nil", "-", "--", "?", "missing", "unknown", "<na>", "nat", "#n/a"}
_PLAIN = re.compile(r"[0-9+.,-]*")


@dataclasses.dataclass(frozen=True)
class NumberColumn:
    """One column: its numbers, NaN where a cell holds none, and how they are written."""

    values: Numbers
    pointed: bool = False  # whether any of them has a decimal point or an exponent
    missing: Numbers | bool = False  # the cells that say that there is no value
    words: Numbers | bool = False  # the cells that are words
    empty: bool = False  # whether there is nothing between the commas, in all rows

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest number; 0 where there is none."""
        finite = self.values[np.isfinite(self.values)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)

    @cached_property
    def whole(self) -> bool:
        """Whether every number is a whole one, however written."""
        return bool((~np.isfinite(self.values) | (self.values == np.rint(self.values))).all())


class SampledFile(NamedTuple):
    """Rows of a file: the names of its first line, where that holds no number, and cells."""

    path: str
    header: Row
    rows: Rows


@dataclasses.dataclass(frozen=True)
class LabelRows:
    """Rows of several files as columns."""

    files: Sequence[SampledFile]
    header: tuple[str, ...]
    columns: tuple[NumberColumn, ...]  # of the rows that have the usual number of cells
    strays: int  # rows with another number of cells
    shape: Shape | None = None  # what is between the rows as they are and these

    @classmethod
    def of(cls, files: Sequence[SampledFile], shape: Shape | None = None) -> LabelRows:
        """Return the rows of *files*, behind a *shape*."""
        rows = [row for file in files for row in file.rows]
        width, usual = collections.Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        columns = map(_column, zip(*(row for row in rows if len(row) == width), strict=True))
        header = next((tuple(file.header) for file in files if file.header), ())
        return cls(files, header, tuple(columns), len(rows) - usual, shape)

    @property
    def width(self) -> int:
        """The number of cells that most rows have."""
        return len(self.columns)

    @property
    def rows(self) -> int:
        """How many rows have that number."""
        return len(self.columns[0].values) if self.columns else 0

    @property
    def indexed(self) -> bool:
        """Whether the first column is called as that which pandas counts the rows in."""
        return bool(self.header) and self.header[0] in INDEX_NAMES

    @property
    def cells(self) -> list[tuple[Row, Rows]]:
        """The header and the rows of each file, cell by cell."""
        return [(file.header, file.rows) for file in self.files]

    @cached_property
    def distinct(self) -> int:
        """How many rows differ in more than their first column: a steady source is one observation."""
        return len(np.unique(np.column_stack([column.values for column in self.columns[1:]]), axis=0))

    def through(self, shape: Shape) -> LabelRows:
        """Return the same rows as they are meant."""
        undo = shape.undo
        files = [SampledFile(path, undo(head) if head else (), [*map(undo, rows)]) for path, head, rows in self.files]
        return LabelRows.of(files, shape)


def rows_of(files: Sequence[TextFile]) -> LabelRows:
    """Return rows of *files*, which belong together; of very many files, every second or third is looked at."""
    files = files[:: 1 + len(files) * FEWEST // LINES]
    most = LINES // max(1, len(files))
    return LabelRows.of([_sampled(file.path, _lines(file.data, most)) for file in files])


def shape_of(data: bytes) -> tuple[int, str]:
    """Return the width and the header of a file: files that share them are looked at together."""
    file = _sampled("", _lines(data[:4096], 3))
    row = file.rows[0] if file.rows else file.header
    return len(row), ",".join(file.header)


def _sampled(path: str, lines: Iterable[str]) -> SampledFile:
    rows = [_split(line) for line in lines]
    names = [cell.strip().strip('"') for cell in rows[0]] if rows else []
    titles = names[1:] if names and names[0].lower() in INDEX_NAMES else names
    wordy = len(names) > 1 and all(cells.wordy(title) and not cells.numeric(title) for title in titles)
    if wordy or counted(names):
        return SampledFile(path, [name.lower() for name in names], rows[1:])
    return SampledFile(path, (), rows)


def _lines(data: bytes, most: int) -> list[str]:
    """Return up to *most* non-blank lines, half from the head and half from the tail; the last only if whole."""
    reach = min(_REACH, _ROW * most)
    lines: list[bytes] = []
    if len(data) > 2 * reach:
        lines = plain_lines(data[:reach]).split(b"\n")[:-1] + plain_lines(data[-reach:]).split(b"\n")[1:]
    lines = lines or plain_lines(data).split(b"\n")
    cut_off = len(lines) > 2 and lines[-1] != b""
    lines = [line for line in (lines[:-1] if cut_off else lines) if line.strip()]
    if len(lines) > most:
        lines = lines[: most - most // 2] + lines[-(most // 2) :]
    return [line.decode(errors="replace") for line in lines]


def _split(line: str) -> list[str]:
    """Return the cells of a line, by the delimiter that it seems to use."""
    if line.count(";") > 1:
        return [cell.replace(",", ".") for cell in line.split(";")]
    if "," in line:
        return line.split(",")
    sign = next((sign for sign in "\t| " if 1 < line.strip().count(sign) < _MOST), None)
    return line.split(sign) if sign else [line]


def _column(texts: Sequence[str]) -> NumberColumn:
    joined = ",".join(texts)
    if _PLAIN.fullmatch(joined) and max(map(len, texts)) < _LONGEST:
        try:
            return NumberColumn(np.array(texts, np.float64), "." in joined)
        except ValueError:  # a sign or a point in a strange place
            pass
    texts = [cells.plainly(text.strip().strip('"')) for text in texts]
    values = np.array(list(map(_number, texts)))
    missing = np.array([text.lower() in _MISSING for text in texts])
    words = np.array([len(text) < _LONGEST and cells.wordy(text) for text in texts]) & ~missing & np.isnan(values)
    numbers = itertools.compress(texts, ~np.isnan(values))
    pointed = any("." in text or "e" in text.lower() for text in numbers)
    return NumberColumn(values, pointed, missing, words, not any(texts))


def _number(text: str) -> float:
    if not text.isascii() or "_" in text or len(text) > _LONGEST:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return float("nan")
