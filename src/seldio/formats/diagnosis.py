"""The slow path: what is wrong with a csv file that its grammar does not accept, line by line.

Rows that match the grammar are kept as they are; the others are named with their line and column,
and kept as well where they can mean only one thing (``24.0`` for 24, ``+1``, quotes around a number).
One cause gives one finding: a wrong delimiter or a wrong number of columns throughout the file is
reported once.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio.findings import Finding, Severity, Sink
from seldio.formats import cells
from seldio.text import clipped, plural

if TYPE_CHECKING:
    from seldio.formats.base import TextFile
    from seldio.formats.label_csv import Dialect

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}


@dataclasses.dataclass(frozen=True, slots=True)
class Cleaned:
    """The rows of a file that can be read.

    Args:
        body: the rows, each with its line feed.
        lines: physical line of each row; None where row i is line ``i + 1 + skipped``.
        skipped: lines before the first row.
        readable: False where the file could not be read at all.
        newline: the line end that most lines have.
        final_newline: whether the last line has one.
    """

    body: bytes = b""
    lines: np.ndarray[Any, np.dtype[np.int64]] | None = None
    skipped: int = 0
    readable: bool = False
    newline: str = "\n"
    final_newline: bool = True


def physical_lines(data: bytes) -> list[bytes]:
    """The lines of *data* whatever their ends, without a byte order mark."""
    return _normalised(data.removeprefix(_BOM)).split(b"\n")


def _normalised(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def delimiter_of(line: str, columns: int) -> str:
    """What separates the cells of *line*: a comma unless another sign does so better."""
    if line.count(",") == columns - 1:
        return ","
    return next((sign for sign in _DELIMITERS if line.strip().count(sign) == columns - 1), ",")


def clean(file: TextFile, dialect: Dialect, sink: Sink) -> Cleaned:
    """Hold *file* against the grammar of *dialect*."""
    return _Cleaner(file, dialect, sink).run()


class _Cleaner:
    def __init__(self, file: TextFile, dialect: Dialect, sink: Sink) -> None:
        self.file, self.dialect, self.sink = file, dialect, sink
        self.width = len(dialect.columns)
        self.rows: list[bytes] = []  # spans of good text
        self.numbers: list[np.ndarray[Any, Any]] = []  # their physical lines

    def run(self) -> Cleaned:
        data = self.file.data
        if unreadable := cells.encoding_problem(self.file.path, data):
            self.sink(unreadable)
            return Cleaned()
        if data.startswith(_BOM):
            self.report("SYN103", ERROR, "the file begins with a byte order mark", 1, fixable=True,
                        hint="save as UTF-8 without BOM; the official loaders stop at it")  # fmt: skip
            data = data[len(_BOM) :]
        newline = self.line_ends(data)
        self.final_newline = data[-1:] in (b"\n", b"\r", b"")
        text = _normalised(data)
        if text and not text.endswith(b"\n"):
            text += b"\n"
        first = text[: text.find(b"\n") + 1] if text else b""
        text = self.delimiter(text, first)
        skipped = self.header(text)
        if skipped is None:
            return Cleaned(newline=newline, final_newline=self.final_newline)
        if not self.same_width(text, skipped):
            return Cleaned(newline=newline, final_newline=self.final_newline)
        self.scan(text, skipped)
        body = b"".join(self.rows)
        lines = np.concatenate(self.numbers) if self.numbers else np.zeros(0, np.int64)
        return Cleaned(body, lines, skipped, True, newline, self.final_newline)

    def report(
        self, code: str, severity: Severity, message: str, line: int, column: int = 1, value: str | None = None,
        hint: str | None = None, fixable: bool = False, excerpt: str | None = None,
    ) -> None:  # fmt: skip
        end = column + len(value) if value is not None else None
        self.sink(Finding(code, severity, message, self.file.path, line, column, end, value, hint, fixable, excerpt))

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
                        hint="end every line with LF")  # fmt: skip
        elif lone:
            self.report("SYN107", ERROR, "lines end with a bare CR, as on Mac OS before 2001", 1, fixable=True,
                        hint="end every line with LF; to the official loaders this file is a single line")  # fmt: skip
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

    def delimiter(self, text: bytes, first: bytes) -> bytes:
        """Report another delimiter than the comma once, and read on as if it were commas."""
        line = first.rstrip(b"\n").decode()
        sign = delimiter_of(line, self.width)
        if sign == "," or not line.strip():
            return text
        decimal_commas = b"," in text
        message = f"cells are separated by {_DELIMITERS[sign]}, not commas"
        if decimal_commas:
            message += ", and decimals are written with a comma"
        self.report("SYN120", ERROR, message, 1, line.index(sign) + 1, sign, excerpt=line, fixable=True,
                    hint="write 1,2.5,3: commas between cells, points in numbers")  # fmt: skip
        return text.replace(b",", b".").replace(sign.encode(), b",") if sign != " " else _comma_spaced(text)

    def header(self, text: bytes) -> int | None:
        """How many lines to skip before the rows; None where the header makes the rows meaningless."""
        line = text[: text.find(b"\n")].decode() if text else ""
        names = [name.strip() for name in line.split(",")]
        titled = bool(line) and not any(cells.numeric(name) for name in names) and cells.wordy(names[0])
        expected = self.dialect.header
        if expected is None:
            named = any(part.kind == "name" for part in self.dialect.columns)
            if not titled or named:
                return 0
            self.odd_header(line, names, text)
            return 1
        if [name.lower() for name in names] == expected.split(","):
            return 1
        if not text:
            return 0
        if titled and len(names) > 1:
            self.report("SYN113", ERROR, f"the header is not that of {self.dialect.name}", 1, 1, line, excerpt=line,
                        hint=f"expected {expected}; columns in another order would be misread")  # fmt: skip
            return None
        self.report("SYN112", ERROR, "the header line is missing", 1, excerpt=line, fixable=True,
                    hint=f"put {expected} first: the official loader drops line 1 whatever it holds")  # fmt: skip
        return 0

    def odd_header(self, line: str, names: list[str], text: bytes) -> None:
        twice = next((name for name in names if names.count(name) > 1), None)
        self.report("SYN111", ERROR, f"a header line where {self.dialect.name} has none", 1, 1, line, excerpt=line,
                    fixable=True, hint="remove it: the official loaders call int() on the first cell")  # fmt: skip
        if twice is not None:
            column = line.index(twice, line.index(twice) + 1) + 1
            self.report("SYN113", ERROR, f"the header names {clipped(twice)} twice", 1, column, twice, excerpt=line,
                        hint="readers that go by name keep only one of the two columns")  # fmt: skip
        second = text.split(b"\n", 2)[1:2]
        if second and second[0] and second[0].count(b",") + 1 != len(names):
            self.report("SYN113", ERROR, f"the header names {len(names)} columns, line 2 has "
                        f"{second[0].count(b',') + 1}", 1, 1, line, excerpt=line,
                        hint="pandas takes the first column for an index then, and shifts all others")  # fmt: skip

    def same_width(self, text: bytes, skipped: int) -> bool:
        """False, with one finding, where all rows have the same wrong number of cells."""
        widths = {line.count(b",") + 1 for line in _complete(text, skipped, self.final_newline) if line.strip()}
        if len(widths) != 1 or widths == {self.width} or b'"' in text:
            return True
        from seldio.formats.detect import explain_width  # the table of dialects needs this module first

        found = explain_width(self.file, self.dialect, widths.pop())
        number = next(i for i, line in enumerate(text.split(b"\n"), 1) if line.strip() and i > skipped)
        excerpt = text.split(b"\n", number)[number - 1].decode()
        self.report(found.code, ERROR, found.message, number, 1, excerpt, hint=found.hint, excerpt=excerpt)
        return False

    # --- line by line ------------------------------------------------------------------------------

    def scan(self, text: bytes, skipped: int) -> None:
        """Keep runs of good rows; look at each line between them."""
        position = 0
        for _ in range(skipped):
            position = text.index(b"\n", position) + 1
        line, match = skipped + 1, self.dialect.pattern.match
        while position < len(text):
            end = match(text, position).end()
            if end > position:
                count = text.count(b"\n", position, end)
                self.keep(text[position:end], np.arange(line, line + count))
                position, line = end, line + count
                continue
            end = text.find(b"\n", position)
            end, count = self.look(text, position, end, line)
            position, line = end + 1, line + count

    def keep(self, rows: bytes, numbers: np.ndarray[Any, Any]) -> None:
        self.rows.append(rows)
        self.numbers.append(numbers)

    def look(self, text: bytes, start: int, end: int, line: int) -> tuple[int, int]:
        """Report what is wrong in a line; return where it ends and how many lines it spans."""
        row = text[start:end]
        if not row.strip():
            stop = start
            while text.startswith((b"\n", b" ", b"\t"), stop) and not text[stop : text.find(b"\n", stop)].strip():
                stop = text.find(b"\n", stop) + 1
            count = text.count(b"\n", start, stop)
            self.report("SYN110", ERROR, "blank line" if count == 1 else f"{count} blank lines", line, fixable=True,
                        hint="remove it: the official loaders stop at a blank line", excerpt="")  # fmt: skip
            return stop - 1, count
        if row.count(b'"') % 2:
            return self.open_quote(text, start, end, line)
        last = end == len(text) - 1 and not self.final_newline
        repaired = self.row(row.decode(), line, last)
        if repaired is not None:
            self.keep(repaired.encode() + b"\n", np.array([line]))
        return end, 1

    def open_quote(self, text: bytes, start: int, end: int, line: int) -> tuple[int, int]:
        """A quote that does not close on its line: it closes on a later one, or never."""
        row = text[start:end].decode()
        column = row.rindex('"') + 1
        close = text.find(b'"', end)
        if close < 0:
            self.report("SYN122", ERROR, "a quote is opened and never closed: the rest of the file is inside it", line,
                        column, row[column - 1 :], excerpt=row, hint="cells are plain numbers: remove the quotes")  # fmt: skip
            return len(text) - 1, text.count(b"\n", start)
        stop = text.find(b"\n", close)
        count = text.count(b"\n", start, stop) + 1
        self.report("SYN122", ERROR, f"a quoted cell runs over {count} lines", line, column, row[column - 1 :],
                    excerpt=row, hint="a row is one line; cells are plain numbers without quotes")  # fmt: skip
        return stop, count

    def row(self, text: str, line: int, last: bool) -> str | None:
        """Report each bad cell of a row; return the row repaired, or None where it has no one meaning."""
        parts = text.split(",")
        if len(parts) != self.width:
            self.ragged(text, parts, line, last)
            return None
        column, repaired, meaningful = 1, [], True
        for part, cell in zip(self.dialect.columns, parts, strict=True):
            problem = cells.problem(cell, part.kind, part.field, first=column == 1)
            if problem is not None:
                self.report(problem.code, problem.severity, problem.message, line, column + problem.shift,
                            problem.value, problem.hint, problem.fixable, text)  # fmt: skip
                meaningful = meaningful and problem.repaired is not None
                repaired.append(problem.repaired or "")
            else:
                repaired.append(cell)
            column += len(cell) + 1
        return ",".join(repaired) if meaningful else None

    def ragged(self, text: str, parts: Sequence[str], line: int, last: bool) -> None:
        if last and len(parts) < self.width:
            self.report("SYN108", ERROR, f"the last row is torn: {plural(len(parts), 'cell')} of {self.width} and no "
                        "line end", line, 1, text, excerpt=text, fixable=True,
                        hint="the file was cut off while it was written: write it again")  # fmt: skip
            return
        if control := cells.control_character(text):
            self.report("SAF201", ERROR, control.message, line, control.shift + 1, control.value, control.hint,
                        excerpt=text)  # fmt: skip
            return
        names = ", ".join(part.field for part in self.dialect.columns)
        self.report("SYN121", ERROR, f"{plural(len(parts), 'cell')} in a row of {self.width} columns", line, 1, text,
                    excerpt=text, hint=f"{self.dialect.name} rows are {names}")  # fmt: skip


def _complete(text: bytes, skipped: int, final_newline: bool) -> Iterator[bytes]:
    """The lines behind the header, without a last one that may be torn (unless it is the only one)."""
    lines = text.split(b"\n")[skipped:-1]
    yield from lines if final_newline or len(lines) == 1 else lines[:-1]


def _comma_spaced(text: bytes) -> bytes:
    return re.sub(rb"(?<=[^ \n]) (?=[^ \n])", b",", text)
