"""Quoted csv files with a header: cells with the places they stand at, what is wrong with them, and writing as read.

The grammar is that of RFC 4180 as Python's ``csv`` reads it: a cell that begins with a quote runs to the
quote that closes it, over commas and line ends; a doubled quote in it stands for one. A quote elsewhere
is a character like any other. Lines end with LF, CR LF or CR. Cells are texts and nothing else, so that NA, null
and 007 stay what they are; rows that cannot be read are left out of a table and reported.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Literal, NamedTuple

from seldio.findings import Sink
from seldio.formats.base import Place, TextLines
from seldio.formats.cells import encoding_problem
from seldio.reader_rules import READER_RULES
from seldio.text import clipped, plural

_CELL = r'(?:"((?>(?:[^"]++|"")*))"([^{0}\r\n]*+)|([^{0}\r\n]*+))([{0}]|\r\n|\r|\n|\Z)'
_SPECIAL = re.compile(r'[",\r\n]')
BOM = "\ufeff"
_ENDS = {"\n": "LF", "\r\n": "CR LF", "\r": "CR"}
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}


class QuotedCell(NamedTuple):
    """One cell."""

    value: str  # its text, quotes undone
    start: int  # where its content begins in the text, behind the quote if there is one
    end: int  # where its content ends, before the quote if there is one
    quoted: bool = False  # whether it stands in quotes
    flaw: Literal["", "unclosed", "tail"] = ""  # a quote that never closes, or text behind the closing one


class QuotedRow(NamedTuple):
    """The cells of one row, where it begins and ends in the text, and its line end (none: the end of the file)."""

    cells: list[QuotedCell]
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


def rows(text: str, start: int = 0, delimiter: str = ",") -> Iterator[QuotedRow]:
    """Yield the rows of *text* from *start* on, blank ones too; any text has rows."""
    while start < len(text):
        row = row_at(text, start, delimiter)
        yield row
        start = row.end + len(row.newline)


@cache
def _cell_pattern(delimiter: str) -> re.Pattern[str]:
    return re.compile(_CELL.format(re.escape(delimiter)))


def row_at(text: str, start: int, delimiter: str = ",") -> QuotedRow:
    """Return the row that begins at *start*."""
    cells: list[QuotedCell] = []
    position, pattern = start, _cell_pattern(delimiter)
    while True:
        match = pattern.match(text, position)
        if match is None or (match[3] or "").startswith('"'):
            value = text[position + 1 :].replace('""', '"')
            cells.append(QuotedCell(value, position + 1, len(text), True, "unclosed"))
            return QuotedRow(cells, start, len(text), "")
        if match[1] is None:
            cells.append(QuotedCell(match[3], match.start(3), match.end(3)))
        else:
            value = match[1].replace('""', '"') + match[2]
            cells.append(QuotedCell(value, match.start(1), match.end(1), True, "tail" if match[2] else ""))
        if match[4] != delimiter:
            return QuotedRow(cells, start, match.start(4), match[4])
        position = match.end()


@dataclasses.dataclass(frozen=True)
class CsvLayout:
    """How a csv text was written."""

    bom: bool = False  # whether it begins with a byte order mark
    newline: str = "\n"  # how most rows end
    final_newline: bool = True  # whether the last row has a line end
    all_quoted: bool = False  # whether every cell stands in quotes, and not only those that need them

    @staticmethod
    def of(rows: Sequence[QuotedRow], bom: bool = False) -> CsvLayout:
        """Return the layout of the text that has these *rows*."""
        newlines = [row.newline for row in rows if row.newline]
        newline = max(("\n", "\r\n", "\r"), key=newlines.count)
        quoted = bool(rows) and all(cell.quoted for row in rows for cell in row.cells)
        return CsvLayout(bom, newline, not rows or rows[-1].newline != "", quoted)


PLAIN = CsvLayout()


def written(
    table: Sequence[Sequence[str | None]], layout: CsvLayout = PLAIN, explicit: AbstractSet[int] = frozenset()
) -> str:
    """Return the text of *table*, whose first row is the header.

    None is an empty cell without quotes; in the columns *explicit*, an empty text is a cell of two quotes,
    so that the two stay apart.
    """

    def shown(cell: str | None, column: int) -> str:
        if cell is None:
            return ""
        if layout.all_quoted or _SPECIAL.search(cell) or (not cell and column in explicit):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    lines = [",".join(shown(cell, column) for column, cell in enumerate(row)) for row in table]
    text = layout.newline.join(line or '""' for line in lines)  # an empty line would be no row
    return BOM * layout.bom + text + layout.newline * (layout.final_newline and bool(lines))


# --- a file as a table ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class CsvTable:
    """The rows of a csv file."""

    source: TextLines  # its text
    header: tuple[str, ...]  # the names of the columns, without those of further columns of the same name
    cells: Sequence[Sequence[str | None]]  # the text of each cell; None where it is empty and has no quotes
    starts: Sequence[int]  # where each row begins in the text
    layout: CsvLayout  # how the file was written
    delimiter: str = ","  # what stands between cells

    def cell(self, row: int, column: int) -> QuotedCell:
        """Return a cell with its position."""
        return row_at(self.source.text, self.starts[row], self.delimiter).cells[column]

    def place(self, row: int, column: int | None) -> Place:
        """Return the location of a cell; the whole row without a column."""
        if column is not None:
            cell = self.cell(row, column)
            return self.source.place(cell.start, cell.end, cell.value)
        whole = row_at(self.source.text, self.starts[row], self.delimiter)
        return self.source.place(whole.start, whole.end)


def read_table(data: bytes, path: str, sink: Sink, columns: Sequence[str], delimiter: str = ",") -> CsvTable | None:
    """Return the table of a file that has at least the *columns*; None, with a finding, where it has no such header."""
    if unreadable := encoding_problem(path, data):
        sink(unreadable)
        return None
    text = data.decode()
    reader = _TableReader(path, sink, TextLines(text.removeprefix(BOM)), delimiter)
    if text.startswith(BOM):
        hint = "save as UTF-8 without BOM: Python's csv module reads it as part of the first column name"
        reader.report("SYN103", "the file begins with a byte order mark", Place(1, 1, 1, BOM, ""), hint)
    return reader.run(columns, text.startswith(BOM))


class _TableReader:
    """One pass over a file; what is wrong goes to the sink."""

    def __init__(self, path: str, sink: Sink, source: TextLines, delimiter: str) -> None:
        self.path, self.sink, self.source, self.delimiter = path, sink, source, delimiter

    def report(self, code: str, message: str, where: Place | tuple[int, int] | QuotedRow, hint: str) -> None:
        """Report what is wrong at a place, from an offset to another, or with a row."""
        where = (where.start, where.end) if isinstance(where, QuotedRow) else where
        at = where if isinstance(where, Place) else self.source.place(*where)
        self.sink(at.finding(READER_RULES[code], self.path, message, hint, fixable=False))

    def run(self, columns: Sequence[str], bom: bool) -> CsvTable | None:
        every = []
        for row in rows(self.source.text, 0, self.delimiter):
            if row.blank:
                hint = "remove blank lines: programs that read line by line stop there"
                self.report("SYN110", "blank line", row, hint)
            else:
                every.append(row)
        counts = Counter(row.newline for row in every if row.newline)
        if len(counts) > 1:
            ends = ", ".join(f"{plural(counts[end], 'row')} with {_ENDS[end]}" for end in _ENDS if counts[end])
            other = next(row for row in every if row.newline not in ("", every[0].newline))
            self.report("SYN106", f"mixed line endings: {ends}", other, "use one line ending throughout")
        elif counts["\r"]:
            hint = "end every row with LF; Git and grep see the file as a single line"
            self.report("SYN106", "lines end with a bare CR, as on Mac OS before 2001", every[0], hint)
        header = every[0] if every else QuotedRow([], 0, 0, "")
        if not self.header(header, columns):
            return None
        readable = [row for row in self.same_width(header, every[1:]) if self.sound(row)]
        cells = [[cell.value if cell.value or cell.quoted else None for cell in row.cells] for row in readable]
        layout, starts = CsvLayout.of([header, *readable], bom), [row.start for row in readable]
        return CsvTable(self.source, tuple(header.values), cells, starts, layout, self.delimiter)

    def header(self, row: QuotedRow, columns: Sequence[str]) -> bool:
        """Return whether the rows can be read with this header; what is wrong with it is reported."""
        names, first = row.values, columns[0] if columns else None
        lone = bool(names) and (len(names) == 1 if first is None else first not in names)
        signs = [sign for sign in _DELIMITERS if lone and sign in names[0]]
        sign = next((sign for sign in signs if first is None or first in names[0].split(sign)), "")
        expected = f"expected {','.join(columns)}"
        missing = [name for name in columns if name not in names]
        if not names:
            self.report("SYN112", "the file is empty, without even a header line", row, expected)
        elif sign:
            message = f"cells are separated by {_DELIMITERS[sign]}, not commas"
            self.report("SYN120", message, row, "separate cells with commas")
        elif columns and len(missing) == len(columns):
            self.report("SYN113", "the first line is not the header of this format", row, expected)
        elif missing:
            hint = f"{expected}; names are case-sensitive"
            self.report("SYN113", f"the header has no {', '.join(missing)}", row, hint)
        if missing or not self.sound(row):
            return False
        twice = [cell for number, cell in enumerate(row.cells) if cell.value in names[:number]]
        for cell in twice:  # readers by name lose a column
            message = f"the header lists {clipped(cell.value) or 'an empty column'} twice"
            place = self.source.place(cell.start, cell.end, cell.value)
            self.report("SYN113", message, place, "programs that read columns by name keep only one of the two")
        return not twice

    def same_width(self, header: QuotedRow, every: Sequence[QuotedRow]) -> list[QuotedRow]:
        """Return the rows with a cell for each name; report the others, once if they all have the same fault."""
        width = len(header.cells)
        good = [row for row in every if len(row.cells) == width]
        ragged = [row for row in every if len(row.cells) != width]
        widths = {len(row.cells) for row in ragged}
        if len(ragged) > 1 and len(widths) == 1 and not good and ragged[-1].cells[-1].flaw != "unclosed":
            message = f"the header has {plural(width, 'column')}, but all {len(ragged):,} rows have {widths.pop()}"
            hint = "write one name for each column: where names are too few, pandas shifts them"
            self.report("SYN113", message, header, hint)
        else:
            for row in ragged:
                self.ragged(row, width)
        return good

    def ragged(self, row: QuotedRow, width: int) -> None:
        """Report a row with another number of cells."""
        count = len(row.cells)
        if row.cells[-1].flaw == "unclosed":
            self.sound(row)
        elif not row.newline and count < width:
            message = f"the last row is cut off: {plural(count, 'cell')} of {width} and no line ending"
            self.report("SYN108", message, row, "the file seems to be cut off: write or download it again")
        else:
            hint = "put a cell that contains a comma or a line break in quotes"
            if any(cell.value.lstrip().startswith('"') and not cell.quoted for cell in row.cells):
                hint += ", with no space between comma and quote"
            spare = row.cells[width] if count > width else None
            start = spare.start - spare.quoted if spare is not None else row.start
            self.report("SYN121", f"{plural(count, 'cell')} in a row of {width} columns", (start, row.end), hint)

    def sound(self, row: QuotedRow) -> bool:
        """Return whether the quotes of a row close where its cells end; reported where they do not."""
        for cell in row.cells:
            hint = "a quote inside a cell in quotes is written twice"
            if cell.flaw == "unclosed":
                message = "a quote is opened and never closed: the rest of the file is inside it"
                self.report("SYN122", message, (cell.start - 1, cell.end), f"close it; {hint}")
            elif cell.flaw:
                self.report("SYN122", "text follows the closing quote of a cell", (cell.end, row.end), hint)
        return not any(cell.flaw for cell in row.cells)
