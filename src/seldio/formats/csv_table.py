"""A quoted csv file with a header as a table of texts: what is wrong with its bytes, lines and rows.

Rows that cannot be read are left out and reported; cells are texts and nothing else, so that NA, null
and 007 stay what they are.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from seldio.findings import Finding, Severity, Sink
from seldio.formats.base import Place
from seldio.formats.cells import encoding_problem
from seldio.formats.csv_text import BOM, Cell, Layout, Row, Source, layout_of, row_at, rows
from seldio.text import clipped, plural

ERROR, WARNING = Severity.ERROR, Severity.WARNING
_ENDS = {"\n": "LF", "\r\n": "CR LF", "\r": "CR"}
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclasses.dataclass(frozen=True)
class Table:
    """The rows of a csv file.

    Args:
        source: its text.
        header: the names of the columns, without those of further columns of the same name.
        cells: the text of each cell; None where it is empty and has no quotes.
        starts: where each row begins in the text.
        layout: how the file was written.
    """

    source: Source
    header: tuple[str, ...]
    cells: Sequence[Sequence[str | None]]
    starts: Sequence[int]
    layout: Layout

    def cell(self, row: int, column: int) -> Cell:
        """A cell with where it stands."""
        return row_at(self.source.text, self.starts[row]).cells[column]

    def place(self, row: int, column: int | None) -> Place:
        """Where a cell stands; the whole row without a column."""
        if column is not None:
            cell = self.cell(row, column)
            return self.source.place(cell.start, cell.end, cell.value)
        found = row_at(self.source.text, self.starts[row])
        return self.source.place(found.start, found.end)


def read_table(data: bytes, path: str, sink: Sink, columns: Sequence[str]) -> Table | None:
    """The table of a csv file that has at least the *columns*; None, with a finding, where it has no such header."""
    if unreadable := encoding_problem(path, data):
        sink(unreadable)
        return None
    text = data.decode()
    reader = _Reader(path, sink, Source(text.removeprefix(BOM)))
    if text.startswith(BOM):
        reader.report("SYN103", "the file begins with a byte order mark", Place(1, 1, 1, BOM, ""),
                      "save as UTF-8 without BOM: to Python's csv it is part of the first name")  # fmt: skip
    return reader.run(columns, text.startswith(BOM))


class _Reader:
    """One pass over a file; what is wrong goes to the sink."""

    def __init__(self, path: str, sink: Sink, source: Source) -> None:
        self.path, self.sink, self.source = path, sink, source

    def report(self, code: str, message: str, at: Place, hint: str, severity: Severity = ERROR) -> None:
        self.sink(Finding(code, severity, message, self.path, at.line, at.column, at.end_column, at.value, hint,
                          excerpt=at.excerpt))  # fmt: skip

    def run(self, columns: Sequence[str], bom: bool) -> Table | None:
        found = [row for row in rows(self.source.text) if not self.blank(row)]
        self.line_ends(found)
        header = found[0] if found else Row([], 0, 0, "")
        if not self.header(header, columns):
            return None
        kept = [row for row in self.same_width(header, found[1:]) if self.sound(row)]
        names = tuple(header.values)
        cells = [[cell.value if cell.value or cell.quoted else None for cell in row.cells] for row in kept]
        layout = layout_of([header, *kept], bom)
        return Table(self.source, names, cells, [row.start for row in kept], layout)

    # --- lines ---------------------------------------------------------------------------------------

    def blank(self, row: Row) -> bool:
        if row.blank:
            self.report("SYN110", "blank line", self.source.place(row.start, row.end),
                        "remove it: programs that read line by line stop at it")  # fmt: skip
        return row.blank

    def line_ends(self, found: Sequence[Row]) -> None:
        """Report rows that end differently, and lines that end with a bare CR; CR LF is as good as LF."""
        counts = Counter(row.newline for row in found if row.newline)
        if len(counts) > 1:
            ends = ", ".join(f"{plural(counts[end], 'row')} with {_ENDS[end]}" for end in _ENDS if counts[end])
            other = next(row for row in found if row.newline not in ("", found[0].newline))
            self.report("SYN106", f"mixed line ends: {ends}", self.whole(other), "end every row alike", WARNING)
        elif counts["\r"]:
            self.report("SYN107", "lines end with a bare CR, as on Mac OS before 2001", self.whole(found[0]),
                        "end every row with LF; to Git and grep this is a single line", WARNING)  # fmt: skip

    def whole(self, row: Row) -> Place:
        return self.source.place(row.start, row.end)

    # --- the header ----------------------------------------------------------------------------------

    def header(self, row: Row, columns: Sequence[str]) -> bool:
        """Whether the rows can be read with this header; what is wrong with it is reported."""
        names = row.values
        expected = f"expected {','.join(columns)}"
        missing = [name for name in columns if name not in names]
        if not names:
            self.report("SYN112", "the file is empty: not even a header line", self.whole(row), expected)
        elif sign := self.other_delimiter(names, columns):
            self.report("SYN120", f"cells are separated by {_DELIMITERS[sign]}, not commas", self.whole(row),
                        "write commas between cells")  # fmt: skip
        elif len(missing) == len(columns):
            self.report("SYN113", "the first line is no header of this layout", self.whole(row), expected)
        elif missing:
            shown = ", ".join(missing)
            self.report("SYN113", f"the header lacks {shown}", self.whole(row), f"{expected}; letter case counts")
        return not missing and self.header_cells(row)

    @staticmethod
    def other_delimiter(names: Sequence[str], columns: Sequence[str]) -> str:
        """The sign that separates cells in place of the comma."""
        fits = (sign for sign in _DELIMITERS if columns[0] in names[0].split(sign) and sign in names[0])
        return next(fits, "") if columns[0] not in names else ""

    def header_cells(self, row: Row) -> bool:
        """Whether each name stands once; a name that stands twice loses a column to readers by name."""
        good = self.sound(row)
        for number, cell in enumerate(row.cells):
            if cell.value in row.values[:number]:
                self.report("SYN113", f"the header names {clipped(cell.value) or 'an empty column'} twice",
                            self.source.place(cell.start, cell.end, cell.value),
                            "readers that go by name keep only one of the two columns")  # fmt: skip
                good = False
        return good

    # --- rows ----------------------------------------------------------------------------------------

    def same_width(self, header: Row, found: Sequence[Row]) -> list[Row]:
        """The rows that have a cell for each name; the others are reported, once if they are all alike."""
        width = len(header.cells)
        good = [row for row in found if len(row.cells) == width]
        ragged = [row for row in found if len(row.cells) != width]
        widths = {len(row.cells) for row in ragged}
        if len(ragged) > 1 and len(widths) == 1 and not good and ragged[-1].cells[-1].flaw != "unclosed":
            message = f"the header names {plural(width, 'column')}, all {len(ragged):,} rows have {widths.pop()}"
            hint = "pandas takes the first column for an index then, and shifts all others"
            self.report("SYN113", message, self.whole(header), hint)
        else:
            for row in ragged:
                self.ragged(row, width)
        return good

    def ragged(self, row: Row, width: int) -> None:
        """Report a row with another number of cells."""
        count = len(row.cells)
        if row.cells[-1].flaw == "unclosed":
            self.sound(row)
        elif not row.newline and count < width:
            self.report("SYN108", f"the last row is torn: {plural(count, 'cell')} of {width} and no line end",
                        self.whole(row), "the file was cut off while it was written: write it again")  # fmt: skip
        else:
            hint = "a cell that holds a comma or a line end stands in quotes"
            if any(cell.value.lstrip().startswith('"') and not cell.quoted for cell in row.cells):
                hint += ", and the quote follows the comma without a space"
            first = row.cells[width].start if count > width else row.start
            first -= count > width and row.cells[width].quoted
            message = f"{plural(count, 'cell')} in a row of {width} columns"
            self.report("SYN121", message, self.source.place(first, row.end), hint)

    def sound(self, row: Row) -> bool:
        """Whether the quotes of a row close where its cells end; reported where they do not."""
        for cell in row.cells:
            if cell.flaw == "unclosed":
                self.report("SYN122", "a quote is opened and never closed: the rest of the file is inside it",
                            self.source.place(cell.start - 1, cell.end),
                            "close it; a quote inside a cell in quotes is written twice")  # fmt: skip
            elif cell.flaw:
                self.report("SYN122", "text stands behind the quote that closes a cell",
                            self.source.place(cell.end, row.end),
                            "a quote inside a cell in quotes is written twice")  # fmt: skip
        return not any(cell.flaw for cell in row.cells)
