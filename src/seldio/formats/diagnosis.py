"""The slow path: what is wrong with a csv file that its grammar does not accept, line by line.

Rows that match the grammar are kept as they are; the others are named with their line and column,
and kept as well where they can mean only one thing (``24.0`` for 24, ``+1``, quotes around a number).
One cause gives one finding: a wrong delimiter or a wrong number of columns throughout the file is
reported once. What a cause says of a line gives its repair as well (:func:`repaired`).
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio.findings import SINGLY, Finding, Sink
from seldio.formats import cells
from seldio.formats.base import TextFile
from seldio.formats.shapes import counted, is_confidence, titled
from seldio.reader_rules import reader_rule
from seldio.text import clipped, plural

if TYPE_CHECKING:
    from seldio.formats.bad_rows import BadRows
    from seldio.formats.label_csv import Dialect

Ints = np.ndarray[Any, np.dtype[np.int64]]
_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_TEXT_END = re.compile(r"\r\n|\r|\n")
#: A line that begins with a number that is not whole.
_FRACTION = re.compile(rb"^[ \"]*+-?+[0-9]*+\.0*+[1-9]", re.MULTILINE)
_BLANKS = re.compile(rb"(?>(?:[ \t\v\f]*+\n)*)")
#: What people head the columns with, and the fields that are meant.
_TITLES = {
    "frame": "frame", "class": "class_id", "class_id": "class_id", "source": "source", "track": "source",
    "azimuth": "azimuth", "azi": "azimuth", "az": "azimuth", "elevation": "elevation", "ele": "elevation",
    "el": "elevation", "distance": "distance", "dist": "distance", "x": "x", "y": "y", "z": "z",
    "onscreen": "onscreen",
}  # fmt: skip
_ENDS = {"\n": "LF", "\r\n": "CR LF"}
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_LONE_SPACE = re.compile(rb"(?<=[^ \n]) (?=[^ \n])")
#: A number with a comma in it, and one whose comma may separate thousands: `1,234`, but not `0,234` or `1,23`.
_COMMAS = re.compile(rb"[0-9]*(?:,[0-9]+)+")
_SEVERAL = re.compile(rb"(?<![0-9,])[0-9]++(?>(?:,[0-9]++){2,})(?=[\"';\t |]|$)", re.MULTILINE)
_THOUSANDS = re.compile(rb"[1-9][0-9]{0,2}(?:,[0-9]{3})+")


@dataclasses.dataclass(frozen=True, slots=True)
class Cleaned:
    """The rows of a file that can be read."""

    body: bytes = b""  # the rows, each with its line feed, cells separated by bare commas
    lines: Ints = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))  # physical line of each row
    skipped: int = 0  # lines before the first row
    delimiter: str = ","  # what separates the cells in the file
    readable: bool = False  # False where the file could not be read at all
    newline: str = "\n"  # the line end that most lines have
    final_newline: bool = True  # whether the last line has one
    pointed: bool = False  # whether whole numbers may have a point and zeros in the body


def plain_lines(data: bytes) -> bytes:
    """*data* with LF at the end of every line, and without a byte order mark."""
    data = data.removeprefix(_BOM)
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


def thousands_in(text: bytes) -> str:
    """A number whose comma may separate thousands; empty where there is none, or another shows decimals.

    A number with several commas is none with decimals, whatever the others are.
    """
    if (several := _SEVERAL.search(text)) is not None:
        return several[0].decode()
    first = _COMMAS.search(text)
    if first is None or not all(_THOUSANDS.fullmatch(number[0]) for number in _COMMAS.finditer(text)):
        return ""
    return first[0].decode()


def headed_by(line: str, header: str | None) -> bool:
    """Whether *line* is the *header* of a format, as it may be spelt."""
    names = [name.strip().strip('"').lower() for name in line.split(",")]
    return header is not None and names == header.lower().split(",")


def clean(file: TextFile, dialect: Dialect, known: BadRows, sink: Sink) -> Cleaned:
    """Hold *file* against the grammar of *dialect*; *known* are the bad rows of such files so far."""
    cleaner = _Cleaner(file, dialect, known)
    cleaned = cleaner.run()
    for finding in sorted(cleaner.found(), key=lambda finding: finding.order):
        sink(finding)
    return cleaned


def repaired(text: str, dialect: Dialect, codes: Collection[str]) -> str:
    """*text* as its diagnosis says that it is meant, as to causes with *codes*; line ends stay."""
    file, ends = TextFile("", "", "", _BOM + text.encode()), _TEXT_END.findall(text)
    from seldio.formats.bad_rows import BadRows

    cleaner = _Cleaner(file, dialect, BadRows([part.kind for part in dialect.columns], most=0), codes)
    cleaner.run()
    lines = itertools.zip_longest(cleaner.meant, ends, fillvalue="")
    kept = [(line, end) for line, end in lines if line is not None and (line.strip() or "SYN110" not in codes)]
    first = next((line for line, _ in kept if line.strip()), "")
    if cleaner.headless and first and not headed_by(first, dialect.header):
        kept.insert(0, (dialect.header or "", next(iter(ends), dialect.newline)))
    return "".join(itertools.chain.from_iterable(kept))


class _Cause:
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
        return self.first if self.number <= len(self.first) else [self.first[0].times(self.places, _counted(self.runs))]


class _Cleaner:
    """The state of one pass: ``shown`` is the text with LF, ``text`` the same with commas between cells.

    What is wrong by rules *undone* is put right in ``meant``: the lines of ``shown``, None where one has to go.
    """

    def __init__(self, file: TextFile, dialect: Dialect, known: BadRows, undone: Collection[str] = ()) -> None:
        self.file, self.dialect, self.bad_rows, self.undone = file, dialect, known, undone
        self.meant: list[str | None] = []
        self.stuck = False  # whether nothing can be put right in the cells
        self.headless = False  # whether the header has to be put first
        self.causes: dict[tuple[str, bool], _Cause] = {}
        #: by number of a shape the runs of lines that it has and that are counted only
        self.counted: dict[int, list[tuple[int, int]]] = {}
        self.width = len(dialect.columns)
        self.shown = self.text = b""
        self.rows: list[bytes] = []  # runs of good rows
        self.runs: list[tuple[int, int]] = []  # the physical line at which each begins, and its length

    def run(self) -> Cleaned:
        data = self.file.data
        if unreadable := cells.encoding_problem(self.file.path, data):
            self.note(unreadable)
            return Cleaned()
        if data.startswith(_BOM):
            hint = "save as UTF-8 without BOM; the official loaders stop at it"
            self.report("SYN103", "the file begins with a byte order mark", 1, hint)
        newline = self.line_ends(data.removeprefix(_BOM))
        self.final_newline = data.removeprefix(_BOM)[-1:] in (b"\n", b"\r", b"")
        self.shown = self.text = plain_lines(data) + (b"" if self.final_newline else b"\n")
        self.meant = [*self.shown.decode().split("\n")[:-1]] if self.undone else []
        start = self.blanks(0, 1)
        delimiter = self.delimiter(start)
        self.stuck = delimiter != "," and bool(thousands_in(self.shown))  # then cells cannot be told apart for sure
        self.told = delimiter == "," or ("SYN120" in self.undone and not self.stuck)
        self.text = with_commas(self.shown, delimiter)
        if delimiter != "," and self.told:  # rows that have commas stay; with all of them, the header does
            pairs = [*zip(self.shown.decode().split("\n"), self.text.decode().split("\n")[:-1], strict=False)]
            fits = [new.removesuffix(",").count(",") + 1 == self.width or "," not in old for old, new in pairs]
            some = any(fits[1:] if fits[1:] and titled(pairs[0][1].split(",")) else fits)
            self.meant = [new if fit and some else old for (old, new), fit in zip(pairs, fits, strict=True)]
        begin = self.header(start) if not self.reshaped(start) else None
        if begin is None or not self.same_width(begin):
            return Cleaned(newline=newline, final_newline=self.final_newline)
        self.scan(begin)
        body = b"".join(self.rows)
        body = re.sub(rb", ++", b",", body) if b", " in body else body
        skipped = self.text.count(b"\n", 0, begin)
        pointed = any(self.bad_rows.known[number - 1].pointed for number in self.counted)
        return Cleaned(body, _counted(self.runs), skipped, delimiter, True, newline, self.final_newline, pointed)

    # --- what was found ----------------------------------------------------------------------------

    def report(
        self, code: str, message: str, line: int, hint: str | None = None, *, start: int | None = None,
        column: int = 1, width: int | None = None, fixable: bool | None = None, lines: int = 1,
    ) -> None:  # fmt: skip
        """Something wrong with the file or whole *lines*, first seen in *line*; or with a piece of one line.

        That line begins at *start*, and the piece has *width* characters, all by default.
        """
        if self.undone:  # it has been found before
            return
        rule = reader_rule(code)
        fixable = rule.fix != "none" if fixable is None else fixable
        if start is None:
            self.note(rule.at(self.file.path, message, hint, line, 1, fixable=fixable), lines)
            return
        cause = self.cause(code, fixable)
        if cause.full:
            cause.add([(line, 1)], 1)
            return
        excerpt = self.line_at(self.shown, start)
        value = excerpt[column - 1 :][:width]
        self.note(rule.at(self.file.path, message, hint, line, column, value, excerpt, fixable=fixable))

    def cause(self, code: str, fixable: bool) -> _Cause:
        """What was found so far of a rule, of what can be repaired or of the rest."""
        return self.causes.setdefault((code, fixable), _Cause())

    def note(self, finding: Finding, count: int = 1) -> None:
        """Take a finding, about *count* lines."""
        cause = self.cause(finding.code, finding.fixable)
        if not cause.full:
            cause.first.append(finding)
        cause.add([(finding.line or 1, count)], count, 1)

    def found(self) -> Iterator[Finding]:
        """Everything found: of each cause a few findings, or one for all."""
        for number, runs in self.counted.items():
            rows = sum(count for _, count in runs)
            for fault in self.bad_rows.known[number - 1].faults:
                cause = self.cause(fault.code, fault.fixable and not self.stuck)
                cause.add(runs, rows * fault.cells)
        self.counted.clear()
        for cause in self.causes.values():
            yield from cause.findings()

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
        wanted = f"end every line with {_ENDS[self.dialect.newline]}"
        if len(ends) > 1:
            found = [match.group() for match in _LINE_END.finditer(data)]
            line = next(number for number, end in enumerate(found, 1) if end != found[0])
            self.report("SYN106", f"mixed line endings: {', '.join(ends)}", line, wanted)
        elif lone:
            hint = f"{wanted}; Git and grep see the file as a single line"
            self.report("SYN107", "lines end with a bare CR, as on Mac OS before 2001", 1, hint)
        elif self.dialect.newline == "\n":
            hint = "harmless to the official loaders; the format itself uses LF"
            self.report("SYN105", "lines end with CR LF", 1, hint)
        return "\r\n" if crlf > lf else "\n"

    def blanks(self, start: int, line: int) -> int:
        """Report the blank lines that begin at *start*, if any; return where they end."""
        match = _BLANKS.match(self.text, start)
        assert match is not None
        if count := match.group().count(b"\n"):
            message = "blank line" if count == 1 else f"{count:,} blank lines"
            self.report("SYN110", message, line, "remove blank lines: the official loaders stop there", lines=count)
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
            hint = "write 1,2.5,3: commas between cells, points in numbers"
            if thousands := thousands_in(self.shown):
                hint += f"; not repaired, as {thousands} may be {thousands.replace(',', '')} as well"
            self.report("SYN120", message, number, hint, start=start, column=column, width=1, fixable=not thousands)
        return sign

    def reshaped(self, start: int) -> bool:
        """Whether all rows are those of the format in another shape, which is one finding and no more."""
        if self.dialect.own:
            return False
        first = self.line_at(self.text, start).split(",")
        second = self.text.find(b"\n", start) + 1 if titled(first) else start
        row = self.line_at(self.text, second).split(",") if second < len(self.text) else []
        timed = bool(row) and "." in row[0] and _FRACTION.search(self.text, second) is not None
        if len(row) == self.width and not timed and not row[1].strip(' "')[:1].isalpha():
            return False  # nearly every file
        few = [line.decode().split(",") for _, line in itertools.islice(self.lines(second), 20) if line.strip()]
        widths = {len(row) for row in few}
        if len(widths) > 1 and b'"' not in self.text:
            return False  # rows of several widths
        if widths == {self.width} and not timed and not all(row[1].strip(' "')[:1].isalpha() for row in few):
            return False  # a letter in one row, which is no name of a class in all
        from seldio.formats.detect import shape_of  # the table of dialects needs this module first

        shape = shape_of([line.decode() for _, line in self.lines(start) if line.strip()], self.dialect)
        if shape is not None:
            number = self.text.count(b"\n", 0, second) + 1
            within = shape.column if shape.column < len(row) else 0  # the first line may be blank
            column = 1 + sum(len(cell) + 1 for cell in row[:within])
            width = len(row[within]) if within else None
            self.report(
                shape.code, shape.message, number, shape.hint, start=second, column=column, width=width,
                fixable=shape.fixable,
            )  # fmt: skip
            if shape.fixable and shape.code in self.undone:
                self.meant = [line and shape.line(line) for line in self.meant]
                if counted(first):  # without the index, its numbers would be a row
                    self.meant[number - 2] = None
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
        if headed_by(line, expected):
            return end
        if named and len(names) > 1:
            hint = f"expected {expected}; other columns would be misread"
            self.report("SYN113", f"the header is not that of {self.dialect.name}", number, hint, start=start)
            return None
        hint = f"put {expected} first: the official loader always drops line 1"
        self.report("SYN112", "the header line is missing", number, hint, start=start)
        self.headless = "SYN112" in self.undone
        return start

    def odd_header(self, start: int, names: list[str], number: int) -> None:
        """Report a header where none belongs, and what it says against the columns."""
        line, end = self.line_at(self.text, start), self.text.find(b"\n", start) + 1
        faults = list(self.header_faults(names, self.line_at(self.text, end)))
        hint = "remove it: the official loaders call int() on the first cell"
        if faults:
            hint += "; but first check what its names say about the columns"
        message = f"a header line, but {self.dialect.name} has none"
        self.report("SYN111", message, number, hint, start=start, fixable=not faults)
        if not faults and "SYN111" in self.undone:
            self.meant[number - 1] = None
        titles = line.split(",")
        for index, message, hint in faults:
            if index is None:
                self.report("SYN113", message, number, hint, start=start)
                continue
            column = sum(len(title) + 1 for title in titles[:index]) + 1 + titles[index].index(names[index])
            self.report("SYN113", message, number, hint, start=start, column=column, width=len(names[index]))

    def header_faults(self, names: list[str], second: str) -> Iterator[tuple[int | None, str, str]]:
        """What a header says against the columns: the place of a name (None for all), message, hint."""
        fields = [part.field for part in self.dialect.columns]
        for index, name in enumerate(names):
            if name and name in names[:index]:
                hint = "programs that read columns by name keep only one of the two"
                yield index, f"the header lists {clipped(name)} twice", hint
                break
            field = _TITLES.get(name.lower(), fields[index] if index < len(fields) else "")
            if index < len(fields) and (field != fields[index] or is_confidence(name)):
                message = f"column {index + 1} is headed {name}, but in {self.dialect.name} it is {fields[index]}"
                yield index, message, "columns in another order are misread: loaders ignore the header"
                break
        if second.strip() and (width := second.count(",") + 1) != len(names):
            hint = "pandas then reads the first column as an index and shifts the others"
            yield None, f"the header has {len(names)} columns, but the next line has {width}", hint

    def same_width(self, start: int) -> bool:
        """False, with one finding, where all rows have the same wrong number of cells."""
        found: tuple[int, int] | None = None  # the first row and its number of cells
        for begin, line in self.lines(start):
            width = line.count(b",") + 1
            if line.strip() and (width == self.width or (found is not None and width != found[1])):
                return True
            if line.strip() and found is None:
                found = begin, width
        if found is None or b'"' in self.text:
            return True
        from seldio.formats.detect import explain_width  # the table of dialects needs this module first

        code, message, hint = explain_width(self.file, self.dialect, found[1])
        self.report(code, message, self.text.count(b"\n", 0, found[0]) + 1, hint, start=found[0])
        return False

    def lines(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Lines with where they begin, without a last one that may be cut (unless it is the only one)."""
        first = start
        while start < len(self.text):
            end = self.text.find(b"\n", start)
            if self.final_newline or end < len(self.text) - 1 or start == first:
                yield start, self.text[start:end]
            start = end + 1

    # --- line by line ------------------------------------------------------------------------------

    def scan(self, start: int) -> None:
        """Keep runs of good rows and of rows that can only mean one thing; look at each line between them."""
        text, line = self.text, self.text.count(b"\n", 0, start) + 1
        # a last line without an end may be cut
        end = len(text) if self.final_newline else max(start, text.rfind(b"\n", 0, len(text) - 1) + 1)
        while start < len(text):
            if start < end:
                start, line = self.runs_of_rows(start, line, end)
            if start < len(text):
                start, count = self.odd_line(start, line)
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
                faults = known[number - 1].faults
                causes = [self.cause(fault.code, fault.fixable and not self.stuck) for fault in faults]
                if all(cause.full or (cause.first and count > SINGLY) for cause in causes):
                    counted[number] = []
                else:  # the first few are shown
                    begin, lines = self.odd_line(begin, line, known=True)
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

    def odd_line(self, start: int, line: int, known: bool = False) -> tuple[int, int]:
        """Report what is wrong in a line; return where the next one begins and how many lines that is.

        The faults that it has are remembered, unless they are *known*.
        """
        if (end := self.blanks(start, line)) > start:
            return end, self.text.count(b"\n", start, end)
        row, end = self.line_at(self.text, start), self.text.find(b"\n", start) + 1
        if row.count('"') % 2 and not self.undone:  # a repair takes each line for itself
            return self.open_quote(start, row, line)
        repaired = self.row(start, row, line, last=end == len(self.text) and not self.final_newline, known=known)
        if repaired is not None:
            self.keep(repaired.encode() + b"\n", line, 1)
        return end, 1

    def open_quote(self, start: int, row: str, line: int) -> tuple[int, int]:
        """A quote that does not close on its line: it closes on a later one, or never."""
        close = self.text.find(b'"', self.text.find(b"\n", start))
        end = self.text.find(b"\n", close) + 1 if close >= 0 else len(self.text)
        count = self.text.count(b"\n", start, end)
        message, hint = f"a quoted cell spans {count} lines", "a row is one line of unquoted cells"
        if close < 0:
            message = "a quote is opened and never closed: the rest of the file is inside it"
            hint = "cells are plain numbers: remove the quotes"
        self.report("SYN122", message, line, hint, start=start, column=row.rindex('"') + 1, fixable=False)
        return end, count

    def row(self, start: int, text: str, line: int, *, last: bool, known: bool) -> str | None:
        """Report each bad cell of a row; return the row repaired, or None where it has no one meaning."""
        parts = text.split(",")
        problems = [
            cells.problem(cell, part.kind, part.field, first=index == 0)
            for index, (part, cell) in enumerate(zip(self.dialect.columns, parts, strict=False))
        ]
        fits = len(parts) == self.width
        if text.lstrip().startswith("#") and not (fits and not any(problems)):  # a class may be called so
            self.comment(start, [name.strip(' "#') for name in parts], line)
            return None
        if not fits:
            self.ragged(start, text, len(parts), line, last)
            return None
        if self.undone:
            if self.told:
                pairs = zip(parts, problems, strict=True)
                self.meant[line - 1] = ",".join(
                    (problem is not None and problem.code in self.undone and problem.repaired) or cell
                    for cell, problem in pairs
                )
            return None
        if not known:
            self.bad_rows.learn(text, parts, problems)
        column, meant = 1, list(parts)
        for index, (cell, problem) in enumerate(zip(parts, problems, strict=True)):
            if problem is not None:
                self.report(
                    problem.code, problem.message, line, problem.hint, start=start, column=column + problem.shift,
                    width=len(problem.value), fixable=problem.fixable and not self.stuck,
                )  # fmt: skip
                meant[index] = problem.repaired or ""
            column += len(cell) + 1
        meaningful = all(problem is None or problem.repaired is not None for problem in problems)
        return ",".join(meant) if meaningful else None

    def comment(self, start: int, names: list[str], line: int) -> None:
        """Report a comment, which may hold the names of the columns."""
        contradicted = len(names) > 1 and any(self.header_faults(names, ""))
        hint = 'remove it: the official loaders call int() on it; np.savetxt(header=…) needs comments=""'
        if self.dialect.header is None:
            hint = "remove it: the official loaders call int() on it; call np.savetxt without header="
        if contradicted:
            hint += "; but first check what its names say about the columns"
        message = f"a comment line, but {self.dialect.name} has none"
        self.report("SYN111", message, line, hint, start=start, fixable=not contradicted)
        if "SYN111" in self.undone and not contradicted:
            self.meant[line - 1] = None

    def ragged(self, start: int, text: str, width: int, line: int, last: bool) -> None:
        """Report a row with another number of cells."""
        if last and width < self.width:
            message = f"the last row is cut off: {plural(width, 'cell')} of {self.width} and no line ending"
            hint = "the file seems to be cut off, and rows after this one may be missing: write or download it again"
            self.report("SYN108", message, line, hint, start=start)
        elif control := cells.control_character(text):
            self.report("SAF201", control.message, line, control.hint, start=start, column=control.shift + 1, width=1)
        else:
            message = f"{plural(width, 'cell')} in a row of {self.width} columns"
            hint = f"{self.dialect.name} rows are {', '.join(part.field for part in self.dialect.columns)}"
            self.report("SYN121", message, line, hint, start=start)
            self.bad_rows.learn_ragged(text, width)


def _counted(runs: Sequence[tuple[int, int]]) -> Ints:
    """The numbers first, first + 1, … of each (first, count), one run after another."""
    if len(runs) == 1:
        return np.arange(runs[0][0], sum(runs[0]))
    firsts, counts = np.array(runs, np.int64).reshape(-1, 2).T
    return np.repeat(firsts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
