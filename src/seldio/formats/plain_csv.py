"""Tables in other ways than bare cells between commas, as these: with semicolons, tabs or bars, and in quotes.

The columns of a dataset's own may be written so; no row and no line moves, and findings are led back to their place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from seldio.files.names import media_type, without_suffix
from seldio.findings import Finding, Sink
from seldio.formats.base import FileRows, Ints, Place, TextFile
from seldio.formats.cells import numeric, plain_lines
from seldio.formats.csv_text import QuotedCell, row_at
from seldio.formats.diagnosis import thousands_in
from seldio.formats.label_csv import COMMA, CsvPart, Dialect
from seldio.reader_rules import READER_RULES

if TYPE_CHECKING:
    from seldio.formats.diagnosis import FileLook

#: Bytes of a file that its first line is within.
_HEAD = 4096
DELIMITERS = (",", ";", "\t", "|")


def cells_of(line: str, delimiter: str) -> list[QuotedCell]:
    """Return the cells of a line, without quotes; a cell that its quotes do not enclose is as it is written."""
    row = row_at(line, 0, delimiter)
    if not any(cell.flaw for cell in row.cells):
        return row.cells
    ends = [*(cell.start - cell.quoted - 1 for cell in row.cells[1:]), row.end]
    return [
        QuotedCell(line[cell.start - 1 : end], cell.start - 1, end)
        if cell.flaw == "unclosed" or line[cell.end + 1 : end].strip()
        else cell
        for cell, end in zip(row.cells, ends, strict=True)
    ]


def delimiter_of(line: str, names: Iterable[str] = (), width: int = 0) -> str:
    """Return the delimiter that gives most of the *names* that a line should hold, or *width* cells."""
    wanted = {name.lower() for name in names}

    def fits(sign: str) -> tuple[int, bool, int]:
        cells = cells_of(line, sign)
        return len({cell.value.strip().lower() for cell in cells} & wanted), len(cells) == width, len(cells)

    return max(DELIMITERS, key=fits)


def first_line(data: bytes) -> str:
    """Return the first line of a table, as far as it is of a usual length."""
    return plain_lines(data[:_HEAD]).decode(errors="replace").partition("\n")[0]


def text_lines(data: bytes) -> list[str]:
    """Return the lines of a table."""
    return plain_lines(data).decode(errors="replace").split("\n")


def bare(line: str, delimiter: str) -> str:
    """Return a line of a table with bare cells between commas."""
    bare_cells = []
    for cell in cells_of(line, delimiter):
        decimal = cell.value.replace(",", ".", 1) if delimiter != "," else cell.value  # elsewhere it may part thousands
        bare_cells.append(decimal if numeric(decimal.strip()) else cell.value.replace(",", COMMA))
    return ",".join(bare_cells)


def part_of(dialect: Dialect, file: TextFile, sink: Sink) -> CsvPart:
    """Return the rows of a file in the columns of a dataset, however they are written.

    Commas in numbers show decimals; where all of them may part thousands as well, that is an error.
    """
    delimiter = delimiter_of(first_line(file.data), dialect.titles, len(dialect.columns)) if file.data else ","
    if delimiter == "," and b'"' not in file.data and dialect.clips_by == "name":
        return CsvPart(dialect, file)
    if delimiter != "," and (number := thousands_in(plain_lines(file.data))):
        line, text = next((at, text) for at, text in enumerate(text_lines(file.data), 1) if number in text)
        message = f"{number} may be {number.replace(',', '.', 1)} or {number.replace(',', '')}"
        hint = "write numbers with a point for decimals, and without commas"
        column = text.index(number) + 1
        sink(READER_RULES["SYN125"].at(file.path, message, hint, line, column, number, text, fixable=False))
    return _OtherPart(dialect, file, delimiter)


class _OtherPart(CsvPart):
    """The rows of one csv file that are written in another way."""

    def __init__(self, dialect: Dialect, file: TextFile, delimiter: str) -> None:
        self.written, self.sign = text_lines(file.data), delimiter
        rows = [bare(line, delimiter) for line in self.written]
        clips = [_clip_without_events(dialect, row.split(",")) if dialect.clips_by == "rows" else "" for row in rows]
        #: The clips of which a row says that they have no events, and the lines of all other rows.
        self.silent = tuple(filter(None, clips))
        self.numbers = np.array([line for line, clip in enumerate(clips, 1) if not clip], np.int64)
        data = "\n".join(row for row, clip in zip(rows, clips, strict=True) if not clip)
        super().__init__(dialect, dataclasses.replace(file, data=data.encode()))

    def moved(self, finding: Finding) -> Finding:
        """See :meth:`CsvPart.moved`."""
        if finding.line is None or finding.column is None:
            return finding
        line = int(self.numbers[finding.line - 1])
        text = self.written[line - 1]
        *before, within = bare(text, self.sign)[: finding.column - 1].split(",")
        column = cells_of(text, self.sign)[len(before)].start + len(within) + 1
        value = finding.value.replace(COMMA, ",") if finding.value else finding.value
        message = finding.message.replace(COMMA, ",")
        return dataclasses.replace(finding, line=line, column=column, value=value, message=message, excerpt=text)

    def take(self, look: FileLook) -> None:
        """See :meth:`CsvPart.take`."""
        super().take(look)
        self.physical = self.numbers[look.lines - 1]

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`CsvPart.place`."""
        line, index = int(self.lines(np.array([row]))[0]), self.dialect.index(field)
        text = self.written[line - 1]
        if index is None:
            return Place(line, 1, len(text) + 1, text, text)
        cell = cells_of(text, self.sign)[index]
        return Place(line, cell.start + 1, cell.end + 1, cell.value, text)


def _clip_without_events(dialect: Dialect, cells: Sequence[str]) -> str:
    """Return the recording that a row names without a time, class or place; empty where there is one of them."""
    fields = [part.field for part in dialect.columns]
    cells_by_field = dict(zip(fields, map(str.strip, cells), strict=False))
    blank = not any(text for field, text in cells_by_field.items() if field != "clip" and field[0] != "#")
    return cells_by_field["clip"] if blank and len(cells) == len(fields) else ""


class _ClipPart(FileRows):
    """The rows of one clip in a file of several."""

    def __init__(self, whole: FileRows, clip: str, rows: Ints) -> None:
        folder = whole.origin.name.rpartition("/")[0]
        name = f"{folder}/{clip}.csv" if folder else f"{clip}.csv"
        super().__init__(whole.file, dataclasses.replace(whole.origin, clip=clip, name=name))
        self._whole, self._rows, self.rows = whole, rows, len(rows)

    def lines(self, rows: Ints) -> Ints:
        """See :meth:`FileRows.lines`."""
        return self._whole.lines(self._rows[rows])

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`FileRows.place`."""
        return self._whole.place(int(self._rows[row]), field)


def by_clip(parts: Sequence[FileRows], recordings: Sequence[str]) -> tuple[list[FileRows], Ints]:
    """Return the rows of each clip, and their order in all rows of *parts*; *recordings* names the clip of each row."""
    clips, order, first = list[FileRows](), list[Ints](), 0
    for part in parts:
        rows: dict[str, list[int]] = {}
        for row, text in enumerate(recordings[first : first + part.rows]):
            rows.setdefault(text.strip().replace(COMMA, ","), []).append(row)
        for text in getattr(part, "silent", ()):
            rows.setdefault(text.replace(COMMA, ","), [])
        paths = [without_suffix(text) if media_type(text) else text for text in rows]
        stems = [path.replace("\\", "/").rpartition("/")[2] for path in paths]
        for path, stem, numbers in zip(paths, stems, rows.values(), strict=True):
            clips.append(_ClipPart(part, stem if stems.count(stem) == 1 else path, np.array(numbers, np.int64)))
            order.append(np.array(numbers, np.int64) + first)
        clips += [] if rows else [part]  # a table without rows is a clip without labels, as any other file
        first += part.rows
    return clips, np.concatenate(order) if order else np.zeros(0, np.int64)
