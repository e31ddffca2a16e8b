"""Quoted csv as text: cells with the exact places they stand at, and writing them back as they stood.

The grammar is that of RFC 4180 as Python's ``csv`` reads it: a cell that begins with a quote runs to the
quote that closes it, over commas and line ends; a doubled quote in it stands for one. A quote elsewhere
is a character like any other. Lines end with LF, CR LF or CR.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Literal, NamedTuple

from seldio.formats.base import Place

_CELL = re.compile(r'(?:"((?:[^"]++|"")*+)"([^,\r\n]*+)|([^,\r\n]*+))(,|\r\n|\r|\n|\Z)')
_LINE_END = re.compile(r"\r\n|\r|\n")
_SPECIAL = re.compile(r'[",\r\n]')
_BREAKS = re.compile(r'\A"|[,\r\n]')
BOM = "\ufeff"


class Cell(NamedTuple):
    """One cell.

    Args:
        value: its text, quotes undone.
        start: where its content begins in the text, behind the quote if there is one.
        end: where its content ends, before the quote if there is one.
        quoted: whether it stands in quotes.
        flaw: a quote that never closes, or text behind the closing one.
    """

    value: str
    start: int
    end: int
    quoted: bool = False
    flaw: Literal["", "unclosed", "tail"] = ""


class Row(NamedTuple):
    """The cells of one row, where it begins and ends in the text, and its line end (none: the end of the file)."""

    cells: list[Cell]
    start: int
    end: int
    newline: str

    @property
    def blank(self) -> bool:
        """Whether the row is an empty line."""
        return self.start == self.end

    @property
    def values(self) -> list[str]:
        """The text of each cell."""
        return [cell.value for cell in self.cells]


def rows(text: str, start: int = 0) -> Iterator[Row]:
    """The rows of *text* from *start* on, blank ones too; any text has rows."""
    while start < len(text):
        row = row_at(text, start)
        yield row
        start = row.end + len(row.newline)


def row_at(text: str, start: int) -> Row:
    """The row that begins at *start*."""
    cells: list[Cell] = []
    position = start
    while True:
        match = _CELL.match(text, position)
        if match is None or (match[3] or "").startswith('"'):
            cells.append(_unclosed(text, position + 1))
            return Row(cells, start, len(text), "")
        cells.append(_cell(match))
        if match[4] != ",":
            return Row(cells, start, match.start(4), match[4])
        position = match.end()


def _cell(match: re.Match[str]) -> Cell:
    if match[1] is None:
        return Cell(match[3], match.start(3), match.end(3))
    value = match[1].replace('""', '"') + match[2]
    return Cell(value, match.start(1), match.end(1), True, "tail" if match[2] else "")


def _unclosed(text: str, start: int) -> Cell:
    return Cell(text[start:].replace('""', '"'), start, len(text), True, "unclosed")


@dataclasses.dataclass(frozen=True)
class Source:
    """A text in which places are looked up; a byte order mark is no part of it."""

    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def line(self, position: int) -> int:
        """The 1-based physical line of *position*."""
        return bisect_right(self._starts, position)

    def place(self, start: int, end: int, value: str | None = None) -> Place:
        """Where the text from *start* to *end* stands; on its first line, if it runs over several."""
        number = self.line(start)
        begin = self._starts[number - 1]
        stop = _LINE_END.search(self.text, begin)
        last = stop.start() if stop is not None else len(self.text)
        shown = self.text[start:end] if value is None else value
        ends = max(start, min(end, last))
        return Place(number, start - begin + 1, ends - begin + 1, shown, self.text[begin:last])


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """How a csv text was written; rows are counted from the header, which is row 0.

    Args:
        bom: whether it begins with a byte order mark.
        newline: how most rows end.
        final_newline: whether the last row has a line end.
        all_quoted: whether every cell stands in quotes, and not only those that need them.
        odd: the cells (row, column) that do it otherwise.
        ends: line ends of rows that end otherwise.
    """

    bom: bool = False
    newline: str = "\n"
    final_newline: bool = True
    all_quoted: bool = False
    odd: AbstractSet[tuple[int, int]] = frozenset()
    ends: Mapping[int, str] = dataclasses.field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The layout as JSON holds it."""
        packed = {"odd": sorted(map(list, self.odd)), "ends": [list(end) for end in self.ends.items()]}
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | packed

    @staticmethod
    def from_json(given: object) -> Layout:
        """The inverse of :meth:`as_json`; the plain layout for what is none."""
        if not isinstance(given, Mapping):
            return PLAIN
        names = {field.name for field in dataclasses.fields(Layout)}
        known = {name: value for name, value in given.items() if name in names}
        odd = frozenset((row, column) for row, column in known.get("odd", ()))
        return Layout(**known | {"odd": odd, "ends": dict(known.get("ends", ()))})


PLAIN = Layout()


def layout_of(found: Sequence[Row], bom: bool = False) -> Layout:
    """The layout of the text that *found* are the rows of."""
    newlines = [row.newline for row in found if row.newline]
    newline = max(("\n", "\r\n", "\r"), key=newlines.count)
    ends = {number: row.newline for number, row in enumerate(found) if row.newline not in ("", newline)}
    final = not found or found[-1].newline != ""
    if all(cell.quoted for row in found for cell in row.cells) and found:
        return Layout(bom, newline, final, True, frozenset(), ends)
    odd = frozenset(
        (number, column)
        for number, row in enumerate(found)
        for column, cell in enumerate(row.cells)
        if cell.quoted != needs_quotes(cell.value)
    )
    return Layout(bom, newline, final, False, odd, ends)


def needs_quotes(cell: str) -> bool:
    """Whether ``csv.QUOTE_MINIMAL`` puts *cell* into quotes."""
    return _SPECIAL.search(cell) is not None


def written(
    table: Sequence[Sequence[str | None]], layout: Layout = PLAIN, explicit: AbstractSet[int] = frozenset()
) -> str:
    """The text of *table*, whose first row is the header.

    None is an empty cell without quotes; in the columns *explicit*, an empty text is a cell of two quotes,
    so that the two stay apart.
    """
    parts = [BOM] if layout.bom else []
    for number, row in enumerate(table):
        line = ",".join(_shown(cell, number, column, layout, explicit) for column, cell in enumerate(row))
        parts.append(line or '""')  # an empty line would be no row
        parts.append(layout.ends.get(number, layout.newline))
    if not layout.final_newline and len(parts) > 1:
        parts.pop()
    return "".join(parts)


def _shown(cell: str | None, row: int, column: int, layout: Layout, explicit: AbstractSet[int]) -> str:
    """One cell as it is written."""
    if cell is None:
        return ""
    quoted = (layout.all_quoted or needs_quotes(cell)) != ((row, column) in layout.odd)
    if not quoted and _BREAKS.search(cell) is None and (cell or column not in explicit):
        return cell
    return '"' + cell.replace('"', '""') + '"'
