"""The slow path: what is wrong with a csv file that its grammar does not accept, line by line.

Rows that match the grammar are kept as they are; the others are named with their line and column,
and kept as well where they can mean only one thing (``24.0`` for 24, ``+1``, quotes around a number).
One cause gives one finding: a wrong delimiter or a wrong number of columns throughout the file is
reported once.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio.findings import SINGLY, Finding, Severity, Sink
from seldio.formats import cells
from seldio.formats.bad_rows import BadRows
from seldio.formats.shapes import titled
from seldio.text import clipped, plural

if TYPE_CHECKING:
    from seldio.formats.base import TextFile
    from seldio.formats.label_csv import Dialect

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
Ints = np.ndarray[Any, np.dtype[np.int64]]
_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
#: A line that begins with a number that is not whole.
_FRACTION = re.compile(rb"^[ \"]*+-?+[0-9]*+\.0*+[1-9]", re.MULTILINE)
_BLANKS = re.compile(rb"(?:[ \t\v\f]*+\n)*+")
#: What people head the columns with, and the fields that are meant.
_TITLES = {
    "frame": "frame", "class": "class_id", "class_id": "class_id", "source": "source", "track": "source",
    "azimuth": "azimuth", "azi": "azimuth", "az": "azimuth", "elevation": "elevation", "ele": "elevation",
    "el": "elevation", "distance": "distance", "dist": "distance", "x": "x", "y": "y", "z": "z",
}  # fmt: skip
_ENDS = {"\n": "LF", "\r\n": "CR LF"}
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}


@dataclasses.dataclass(frozen=True, slots=True)
class Cleaned:
    """The rows of a file that can be read.

    Args:
        body: the rows, each with its line feed, cells separated by bare commas.
        lines: physical line of each row.
        skipped: lines before the first row.
        delimiter: what separates the cells in the file.
        readable: False where the file could not be read at all.
        newline: the line end that most lines have.
        final_newline: whether the last line has one.
        pointed: whether whole numbers may have a point and zeros in the body.
    """

    body: bytes = b""
    lines: Ints = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    skipped: int = 0
    delimiter: str = ","
    readable: bool = False
    newline: str = "\n"
    final_newline: bool = True
    pointed: bool = False


def physical_lines(data: bytes) -> list[bytes]:
    """The lines of *data* whatever their ends, without a byte order mark."""
    return plain_lines(data).split(b"\n")


def plain_lines(data: bytes) -> bytes:
    """*data* with LF at the end of every line, and without a byte order mark."""
    return _normalised(data.removeprefix(_BOM))


def _normalised(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def delimiter_of(line: str, columns: int) -> str:
    """What separates the cells of *line*: a comma unless another sign does so better."""
    if line.count(",") == columns - 1:
        return ","
    text = line.strip()  # a sign behind the last cell is a fault of its own
    signs = (sign for sign in _DELIMITERS if columns - 1 in (text.count(sign), text.rstrip(sign).count(sign)))
    return next((sign for sign in signs if sign != " " or ", " not in line), ",")


def with_commas(text: bytes, delimiter: str) -> bytes:
    """*text* with commas between its cells and points in its numbers; nothing moves."""
    if delimiter == ",":
        return text
    text = text.replace(b",", b".")
    return _LONE_SPACE.sub(b",", text) if delimiter == " " else text.replace(delimiter.encode(), b",")


_LONE_SPACE = re.compile(rb"(?<=[^ \n]) (?=[^ \n])")


def clean(file: TextFile, dialect: Dialect, known: BadRows, sink: Sink) -> Cleaned:
    """Hold *file* against the grammar of *dialect*; *known* are the bad rows of such files so far."""
    cleaner = _Cleaner(file, dialect, known)
    cleaned = cleaner.run()
    for finding in sorted(cleaner.found(), key=lambda finding: finding.order):
        sink(finding)
    return cleaned


class _Same:
    """The findings of one cause: the first few whole, of the others their number and lines."""

    def __init__(self) -> None:
        self.first: list[Finding] = []
        self.number = self.places = 0
        self.runs: list[tuple[int, int]] = []  # the line at which each run of lines begins, and its length

    @property
    def full(self) -> bool:
        """Whether further findings need only be counted."""
        return len(self.first) >= SINGLY

    def add(self, runs: Sequence[tuple[int, int]], places: int, number: int | None = None) -> None:
        """Count *places* in *runs* of lines: *number* findings, or as many as places."""
        self.number += places if number is None else number
        self.places += places
        self.runs += runs

    def findings(self) -> list[Finding]:
        """Few findings as they are, more as one."""
        if self.number <= len(self.first):
            return self.first
        return [self.first[0].times(self.places, _counted(self.runs))]


class _Cleaner:
    """The state of one pass: ``shown`` is the text with LF, ``text`` the same with commas between cells."""

    def __init__(self, file: TextFile, dialect: Dialect, known: BadRows) -> None:
        self.file, self.dialect, self.bad_rows = file, dialect, known
        self.causes: dict[tuple[str, bool], _Same] = {}
        #: by number of a shape the runs of lines that it has and that are counted only
        self.counted: dict[int, list[tuple[int, int]]] = {}
        self.width = len(dialect.columns)
        self.shape = f"{dialect.name} rows are {', '.join(part.field for part in dialect.columns)}"
        self.shown = self.text = b""
        self.rows: list[bytes] = []  # runs of good rows
        self.runs: list[tuple[int, int]] = []  # the physical line at which each begins, and its length

    def run(self) -> Cleaned:
        data = self.file.data
        if unreadable := cells.encoding_problem(self.file.path, data):
            self.note(unreadable)
            return Cleaned()
        if data.startswith(_BOM):
            self.report("SYN103", ERROR, "the file begins with a byte order mark", 1, fixable=True,
                        hint="save as UTF-8 without BOM; the official loaders stop at it")  # fmt: skip
            data = data[len(_BOM) :]
        newline = self.line_ends(data)
        self.final_newline = data[-1:] in (b"\n", b"\r", b"")
        self.shown = self.text = _normalised(data) + (b"" if self.final_newline else b"\n")
        start = self.blanks(0, 1)
        delimiter = self.delimiter(start)
        self.text = with_commas(self.shown, delimiter)
        begin = self.header(start) if not self.reshaped(start) else None
        readable = begin is not None and self.same_width(begin)
        if begin is None or not readable:
            return Cleaned(newline=newline, final_newline=self.final_newline)
        self.scan(begin)
        body = b"".join(self.rows)
        body = re.sub(rb", ++", b",", body) if b", " in body else body
        skipped = self.text.count(b"\n", 0, begin)
        lines = _counted(self.runs)
        pointed = any(self.bad_rows.known[number - 1].pointed for number in self.counted)
        return Cleaned(body, lines, skipped, delimiter, True, newline, self.final_newline, pointed)

    def report(
        self,
        code: str,
        severity: Severity,
        message: str,
        line: int,
        hint: str | None = None,
        fixable: bool = False,
    ) -> None:
        """Something wrong with the file as a whole, or with whole lines, first seen in *line*."""
        self.note(Finding(code, severity, message, self.file.path, line, 1, None, None, hint, fixable))

    def note(self, finding: Finding, count: int = 1) -> None:
        """Take a finding, about *count* lines."""
        same = self.cause(finding.code, finding.fixable)
        if not same.full:
            same.first.append(finding)
        same.add([(finding.line or 1, count)], count, 1)

    def cause(self, code: str, fixable: bool) -> _Same:
        """What was found of one rule, apart what can be repaired and what cannot."""
        return self.causes.setdefault((code, fixable), _Same())

    def found(self) -> Iterator[Finding]:
        """Everything found: of each cause a few findings, or one for all."""
        for number, runs in self.counted.items():
            shape = self.bad_rows.known[number - 1]
            rows = sum(count for _, count in runs)
            for fault in shape.faults:
                self.cause(fault.code, fault.fixable).add(runs, rows * fault.cells)
        self.counted.clear()
        for same in self.causes.values():
            yield from same.findings()

    def report_at(
        self, start: int, code: str, severity: Severity, message: str, line: int, column: int = 1,
        width: int | None = None, hint: str | None = None, fixable: bool = False,
    ) -> None:  # fmt: skip
        """Something wrong with *width* characters (all, by default) of the line that begins at *start*."""
        same = self.cause(code, fixable)
        if same.full:
            same.add([(line, 1)], 1)
            return
        excerpt = self.line_at(self.shown, start)
        value = excerpt[column - 1 :] if width is None else excerpt[column - 1 : column - 1 + width]
        end = column + len(value)
        self.note(Finding(code, severity, message, self.file.path, line, column, end, value, hint, fixable, excerpt))

    @staticmethod
    def line_at(text: bytes, start: int) -> str:
        return text[start : text.find(b"\n", start)].decode()

    # --- the file as a whole -----------------------------------------------------------------------

    def line_ends(self, data: bytes) -> str:
        """Report line ends other than the dialect's; return the prevailing one."""
        if b"\r" not in data:
            return "\n"
        crlf = data.count(b"\r\n")
        lone = data.count(b"\r") - crlf
        lf = data.count(b"\n") - crlf
        ends = [f"{plural(n, 'line')} with {name}" for name, n in (("CR LF", crlf), ("LF", lf), ("CR", lone)) if n]
        if len(ends) > 1:
            line = self.first_other_end(data)
            self.report("SYN106", WARNING, f"mixed line ends: {', '.join(ends)}", line, fixable=True,
                        hint=f"end every line with {_ENDS[self.dialect.newline]}")  # fmt: skip
        elif lone:
            hint = f"end every line with {_ENDS[self.dialect.newline]}; to Git and grep this is a single line"
            message = "lines end with a bare CR, as on Mac OS before 2001"
            self.report("SYN107", WARNING, message, 1, hint, fixable=True)
        elif self.dialect.newline == "\n":
            self.report("SYN105", INFO, "lines end with CR LF", 1, fixable=True,
                        hint="harmless to the official loaders; the layout itself uses LF")  # fmt: skip
        return "\r\n" if crlf > lf else "\n"

    def first_other_end(self, data: bytes) -> int:
        first = None
        for number, match in enumerate(_LINE_END.finditer(data), 1):
            first = first or match.group()
            if match.group() != first:
                return number
        return 1

    def blanks(self, start: int, line: int) -> int:
        """Report the blank lines that begin at *start*, if any; return where they end."""
        match = _BLANKS.match(self.text, start)
        assert match is not None
        if count := match.group().count(b"\n"):
            message = "blank line" if count == 1 else f"{count:,} blank lines"
            hint = "remove it: the official loaders stop at a blank line"
            self.note(Finding("SYN110", ERROR, message, self.file.path, line, 1, hint=hint, fixable=True), count)
        return match.end()

    def delimiter(self, start: int) -> str:
        """What separates the cells; reported once where it is not a comma."""
        line = self.line_at(self.shown, start)
        sign = delimiter_of(line, self.width)
        if sign != ",":
            message = f"cells are separated by {_DELIMITERS[sign]}, not commas"
            if b"," in self.shown:
                message += ", and decimals are written with a comma"
            number = self.shown.count(b"\n", 0, start) + 1
            column = len(line) - len(line.lstrip(" ")) + line.strip(" ").index(sign) + 1
            self.report_at(start, "SYN120", ERROR, message, number, column, 1, fixable=True,
                           hint="write 1,2.5,3: commas between cells, points in numbers")  # fmt: skip
        return sign

    def reshaped(self, start: int) -> bool:
        """Whether all rows are those of the layout in another shape, which is one finding and no more."""
        first = self.line_at(self.text, start).split(",")
        second = self.text.find(b"\n", start) + 1 if titled(first) else start
        row = self.line_at(self.text, second).split(",") if second < len(self.text) else []
        timed = bool(row) and "." in row[0] and _FRACTION.search(self.text, second) is not None
        if len(row) == self.width and not timed and not row[1].strip(' "')[:1].isalpha():
            return False  # nearly every file
        few = itertools.islice(_lines(self.text, second, self.final_newline), 20)
        if len({line.count(b",") for _, line in few if line.strip()}) > 1 and b'"' not in self.text:
            return False  # rows of several widths
        from seldio.formats.detect import shape_of  # the table of dialects needs this module first

        lines = [line.decode() for _, line in _lines(self.text, start, self.final_newline) if line.strip()]
        shape = shape_of(lines, self.dialect)
        if shape is not None:
            number = self.text.count(b"\n", 0, second) + 1
            self.report_at(second, shape.code, ERROR, shape.message, number, hint=shape.hint, fixable=shape.fixable)
        return shape is not None

    def header(self, start: int) -> int | None:
        """Where the rows begin; None where the header makes them meaningless."""
        if start == len(self.text):
            return start
        line, end = self.line_at(self.text, start), self.text.find(b"\n", start) + 1
        number = self.text.count(b"\n", 0, end)
        names = [name.strip().strip('"') for name in line.split(",")]
        named = not any(map(cells.numeric, names)) and cells.wordy(names[0])
        expected = self.dialect.header
        if expected is None:
            if named:
                self.odd_header(start, names, number)
            return end if named else start
        if [name.lower() for name in names] == expected.split(","):
            return end
        if named and len(names) > 1:
            self.report_at(start, "SYN113", ERROR, f"the header is not that of {self.dialect.name}", number,
                           hint=f"expected {expected}; other columns would be misread")  # fmt: skip
            return None
        hint = f"put {expected} first: the official loader drops line 1 in any case"
        self.report_at(start, "SYN112", ERROR, "the header line is missing", number, fixable=True, hint=hint)
        return start

    def odd_header(self, start: int, names: list[str], number: int) -> None:
        """Report a header where none belongs, and what it says against the columns."""
        line, end = self.line_at(self.text, start), self.text.find(b"\n", start) + 1
        faults = list(self.header_faults(names, self.line_at(self.text, end)))
        hint = "remove it: the official loaders call int() on the first cell"
        if faults:
            hint += "; but see first what its names say about the columns"
        self.report_at(start, "SYN111", ERROR, f"a header line where {self.dialect.name} has none", number,
                       fixable=not faults, hint=hint)  # fmt: skip
        for index, message, hint in faults:
            column = 1 if index is None else sum(len(cell) + 1 for cell in line.split(",")[:index]) + 1
            if index is not None:
                column += line.split(",")[index].index(names[index])
            width = None if index is None else len(names[index])
            self.report_at(start, "SYN113", ERROR, message, number, column, width, hint)

    def header_faults(self, names: list[str], second: str) -> Iterator[tuple[int | None, str, str]]:
        """What a header says against the columns: the place of a name (None for all), message, hint."""
        fields = [part.field for part in self.dialect.columns]
        for index, name in enumerate(names):
            if name and name in names[:index]:
                hint = "readers that go by name keep only one of the two columns"
                yield index, f"the header names {clipped(name)} twice", hint
                break
            field = _TITLES.get(name.lower(), fields[index] if index < len(fields) else "")
            if index < len(fields) and field != fields[index]:
                message = f"column {index + 1} is headed {name}, in {self.dialect.name} it is {fields[index]}"
                yield index, message, "columns in another order are misread: the header is not looked at"
                break
        if second.strip() and (width := second.count(",") + 1) != len(names):
            hint = "pandas takes the first column for an index then, and shifts all others"
            yield None, f"the header names {len(names)} columns, the next line has {width}", hint

    def same_width(self, start: int) -> bool:
        """False, with one finding, where all rows have the same wrong number of cells."""
        found: tuple[int, int] | None = None  # the first row and its number of cells
        for begin, line in _lines(self.text, start, self.final_newline):
            width = line.count(b",") + 1
            if line.strip() and (width == self.width or (found is not None and width != found[1])):
                return True
            if line.strip() and found is None:
                found = begin, width
        if found is None or b'"' in self.text:
            return True
        from seldio.formats.detect import explain_width  # the table of dialects needs this module first

        why = explain_width(self.file, self.dialect, found[1])
        number = self.text.count(b"\n", 0, found[0]) + 1
        self.report_at(found[0], why.code, ERROR, why.message, number, hint=why.hint)
        return False

    # --- line by line ------------------------------------------------------------------------------

    def scan(self, start: int) -> None:
        """Keep runs of good rows and of rows that can only mean one thing; look at each line between them."""
        text, line = self.text, self.text.count(b"\n", 0, start) + 1
        # a last line without an end may be torn
        end = len(text) if self.final_newline else max(start, text.rfind(b"\n", 0, len(text) - 1) + 1)
        while start < len(text):
            if start < end:
                start, line = self.runs_of_rows(start, line, end)
            if start < len(text):
                start, count = self.look(start, line)
                line += count

    def runs_of_rows(self, start: int, line: int, end: int) -> tuple[int, int]:
        """Take the good rows and the known bad ones; return where a line begins that has to be looked at."""
        text, known, counted = self.text, self.bad_rows.known, self.counted
        unknown = len(known) + 1
        for match in self.bad_rows.scanner.finditer(text, start, end):
            begin, stop = match.span()
            number = match.lastindex
            if number == unknown:
                return begin, line
            count = text.count(b"\n", begin, stop)
            while number is not None and number not in counted and count:
                causes = [self.cause(fault.code, fault.fixable) for fault in known[number - 1].faults]
                if all(same.full or (same.first and count > SINGLY) for same in causes):
                    counted[number] = []
                else:  # the first few are shown
                    begin, lines = self.look(begin, line, known=True)
                    line, count = line + lines, count - lines
                    if begin > stop:  # blank lines go on to the end of the file, which has no line end
                        return begin, line
            if not count:
                continue
            if number is None:
                self.keep(text[begin:stop], line, count)
            else:
                counted[number].append((line, count))
                shape = known[number - 1]
                if shape.kept:
                    self.keep(shape.readable(text[begin:stop]), line, count)
            line += count
        return end, line

    def keep(self, rows: bytes, line: int, count: int) -> None:
        self.rows.append(rows)
        self.runs.append((line, count))

    def look(self, start: int, line: int, known: bool = False) -> tuple[int, int]:
        """Report what is wrong in a line; return where the next one begins and how many lines that is.

        What it looks like is remembered, unless it is *known*.
        """
        if (end := self.blanks(start, line)) > start:
            return end, self.text.count(b"\n", start, end)
        row, end = self.line_at(self.text, start), self.text.find(b"\n", start) + 1
        if row.count('"') % 2:
            return self.open_quote(start, row, line)
        last = end == len(self.text) and not self.final_newline
        repaired = self.row(start, row, line, last, known)
        if repaired is not None:
            self.keep(repaired.encode() + b"\n", line, 1)
        return end, 1

    def open_quote(self, start: int, row: str, line: int) -> tuple[int, int]:
        """A quote that does not close on its line: it closes on a later one, or never."""
        column = row.rindex('"') + 1
        close = self.text.find(b'"', self.text.find(b"\n", start))
        end = self.text.find(b"\n", close) + 1 if close >= 0 else len(self.text)
        count = self.text.count(b"\n", start, end)
        message, hint = (
            f"a quoted cell runs over {count} lines",
            "a row is one line, its cells without quotes",
        )
        if close < 0:
            message = "a quote is opened and never closed: the rest of the file is inside it"
            hint = "cells are plain numbers: remove the quotes"
        self.report_at(start, "SYN122", ERROR, message, line, column, hint=hint)
        return end, count

    def row(self, start: int, text: str, line: int, last: bool, known: bool) -> str | None:
        """Report each bad cell of a row; return the row repaired, or None where it has no one meaning."""
        parts = text.split(",")
        if len(parts) != self.width:
            self.ragged(start, text, len(parts), line, last)
            return None
        problems = [
            cells.problem(cell, part.kind, part.field, first=index == 0)
            for index, (part, cell) in enumerate(zip(self.dialect.columns, parts, strict=True))
        ]
        if not known:
            self.bad_rows.learn(text, parts, problems)
        column, meant = 1, list(parts)
        for index, (cell, problem) in enumerate(zip(parts, problems, strict=True)):
            if problem is not None:
                what = problem.code, problem.severity, problem.message
                where = line, column + problem.shift, len(problem.value)
                self.report_at(start, *what, *where, problem.hint, problem.fixable)
                meant[index] = problem.repaired or ""
            column += len(cell) + 1
        meaningful = all(problem is None or problem.repaired is not None for problem in problems)
        return ",".join(meant) if meaningful else None

    def ragged(self, start: int, text: str, width: int, line: int, last: bool) -> None:
        if last and width < self.width:
            message = f"the last row is torn: {plural(width, 'cell')} of {self.width} and no line end"
            hint = "the file was cut off while it was written: write it again"
            self.report_at(start, "SYN108", ERROR, message, line, hint=hint, fixable=True)
        elif control := cells.control_character(text):
            self.report_at(start, "SAF201", ERROR, control.message, line, control.shift + 1, 1, control.hint)
        else:
            message = f"{plural(width, 'cell')} in a row of {self.width} columns"
            self.report_at(start, "SYN121", ERROR, message, line, hint=self.shape)
            self.bad_rows.learn_ragged(text, width)


def _lines(text: bytes, start: int, final_newline: bool) -> Iterator[tuple[int, bytes]]:
    """Lines with where they begin, without a last one that may be torn (unless it is the only one)."""
    first = start
    while start < len(text):
        end = text.find(b"\n", start)
        if final_newline or end < len(text) - 1 or start == first:
            yield start, text[start:end]
        start = end + 1


def _counted(runs: Sequence[tuple[int, int]]) -> Ints:
    """The numbers first, first + 1, … of each (first, count), one run after another."""
    if len(runs) == 1:
        return np.arange(runs[0][0], sum(runs[0]))
    firsts, counts = np.array(runs, np.int64).reshape(-1, 2).T
    return np.repeat(firsts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
