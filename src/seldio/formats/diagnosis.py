"""Diagnose csv files that cannot be parsed as they are, and read the meaning of their rows.

Each file is looked at as a text first: its encoding, line ends, header and the width of its rows. The cells of all
files are then split at once, and those that are not in the grammar of their columns (:mod:`seldio.formats.cells`) go
through the table of faults. Rows are kept where they can only mean one thing (``24.0`` for 24, ``+1``, quotes around a
number). One cause gives one finding: a wrong delimiter or a wrong number of columns throughout the file is reported
once. What was read is what a repair writes (:func:`repaired`).
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio.findings import SINGLY, Finding, Sink
from seldio.formats import cells, label_csv
from seldio.formats.base import Ints, TextFile
from seldio.formats.cells import CONTROL_CHARACTER, DASHES, DIGITS, KINDS, PATTERNS, UNSIGNED, absent, numeric
from seldio.formats.detect import change_between, explain_width
from seldio.formats.label_csv import CsvPart, Dialect, column_type, headed_by, split_cells, with_commas
from seldio.reader_rules import READER_RULES
from seldio.schema.arrays import compute, from_numpy, from_texts, to_mask, to_numpy
from seldio.text import clipped, plural, printable

Bools = np.ndarray[Any, np.dtype[np.bool_]]
_BOM = codecs.BOM_UTF8
_TEXT_END = re.compile(r"\r\n|\r|\n")
#: What people head the columns with, and the fields that are meant.
_TITLES = {
    "frame": "frame", "class": "class_id", "class_id": "class_id", "source": "source", "track": "source",
    "azimuth": "azimuth", "azi": "azimuth", "az": "azimuth", "elevation": "elevation", "ele": "elevation",
    "el": "elevation", "distance": "distance", "dist": "distance", "x": "x", "y": "y", "z": "z",
    "onscreen": "onscreen",
}  # fmt: skip
_ENDS = {"\n": "LF", "\r\n": "CR LF"}
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
#: A number with a comma in it, and one whose comma may separate thousands: `1,234`, but not `0,234` or `1,23`.
_COMMAS = re.compile(rb"[0-9]*(?:,[0-9]+)+")
_SEVERAL = re.compile(rb"(?<![0-9,])[0-9]++(?>(?:,[0-9]++){2,})(?=[\"';\t |]|$)", re.MULTILINE)
#: A line that begins with a number that is not whole.
_FRACTION = re.compile(rb"^[ \"]*+-?+[0-9]*+\.0*+[1-9]", re.MULTILINE)
_THOUSANDS = re.compile(rb"[1-9][0-9]{0,2}(?:,[0-9]{3})+")


def thousands_in(text: bytes) -> str:
    """Return a number whose comma may separate thousands; empty where there is none, or another shows decimals.

    A number with several commas is none with decimals, whatever the others are.
    """
    if (several := _SEVERAL.search(text)) is not None:
        return several[0].decode()
    first = _COMMAS.search(text)
    if first is None or not all(_THOUSANDS.fullmatch(number[0]) for number in _COMMAS.finditer(text)):
        return ""
    return first[0].decode()


def repaired(text: str, dialect: Dialect, codes: Collection[str]) -> str:
    """Return *text* as it was read, as to faults with *codes*; line ends stay."""
    look = FileLook(TextFile("", "", "", _BOM + text.encode()), dialect, codes)
    if look.body and look.certain:
        for at, column in enumerate(_columns(dialect, look.body)):
            for row in np.flatnonzero(column.causes[column.which] >= 0).tolist():
                problem = column.problem(row)
                if problem.fault.code in codes and problem.repaired is not None:
                    line = int(look.lines[row]) - 1
                    parts = (look.meant[line] or "").split(",")
                    parts[at] = problem.repaired
                    look.meant[line] = ",".join(parts)
    ends = _TEXT_END.findall(text)
    lines = itertools.zip_longest(look.meant, ends, fillvalue="")
    left = [(line, end) for line, end in lines if line is not None and (line.strip() or "SYN110" not in codes)]
    first = next((line for line, _ in left if line.strip()), "")
    if look.headless and first and not headed_by(first, dialect.header):
        left.insert(0, (dialect.header or "", next(iter(ends), dialect.newline)))
    return "".join(itertools.chain.from_iterable(left))


# --- what is wrong with a cell -----------------------------------------------------------------------


class CellFault(NamedTuple):
    """One way in which cells are wrong."""

    code: str
    pattern: str  # of the cell without whitespace around it; N stands for the grammar of its column
    says: str  # behind the name of the field
    hint: str
    meant: str = ""  # what the cell can only mean, from the groups of the pattern; empty where that is not certain
    kinds: tuple[str, ...] = ()  # the kinds of columns that it is looked for in, all if empty
    angles: bool = False  # whether it is looked for in columns of angles alone
    only: Callable[[str], Any] | None = None  # what has to be true of the cell as well


_NUMBERS = ("int", "whole", "real", "real3", "real3inf", "zero", "flag")
_EXPONENTIAL = r"[+-]?[0-9]{1,9}(?:\.[0-9]{0,30})?[eE][+-]?[0-9]{1,2}"
_SPACE = r"[\s\pZ]*"  # as RE2, which Arrow looks with, has it for all of Unicode
_ODD = "is {text}, not a plain decimal number"
_SIGNS = "write numbers using only 0-9, - and ."
_POINT = "write it without a decimal point: the official loaders call int() on it"
_CLEAN = "remove it: such characters can garble a terminal or hide text"
CONTROL = CellFault("SAF201", CONTROL_CHARACTER.pattern, "an invisible control character ({control}) in a cell", _CLEAN)
#: What may be wrong with a cell that is not in the grammar of its column: the first that matches is it.
FAULTS: tuple[CellFault, ...] = (
    CellFault("SYN123", "(N)", "whitespace around a number, other than spaces after a comma", "remove it", r"\1"),
    CONTROL,
    CellFault("SYN135", "", "is empty: {absent}", "{instead}"),
    CellFault("SYN122", rf'"{_SPACE}(N){_SPACE}"', "is in quotes: {text}", "write numbers without quotes", r"\1"),
    CellFault("SYN122", '".*"', "is in quotes: {text}", "write numbers without quotes"),
    CellFault("SYN122", '[^"]*"[^"]*', "has a quote that is not closed: {text}",
              "cells are plain numbers: remove the quotes"),
    CellFault("SYN136", ".*", "is {text}, but must be 0 or 1", "1: on screen, 0: off screen", kinds=("flag",)),
    CellFault("SYN133", "[+-]?(?i:nan)", "is {text}: {absent}", "{instead}"),
    CellFault("SYN133", "[+-]?(?i:inf|infinity)", "is {text}, not a finite number",
              "leave out rows where nothing was detected"),
    CellFault("SAF202", r"[=@].*|[+-][A-Za-z(@=].*", "holds a spreadsheet formula: {text}",
              "expected {expected}; a spreadsheet would run this cell on opening the file"),
    CellFault("SYN135", r"(?i:na|n/a|none|null|nil|--?|\?|missing|unknown|<na>|nat|#n/a)", "is {text}: {absent}",
              "{instead}"),
    CellFault("SYN134", r"[+-]?[0-9]{10,}(?:\.[0-9]*)?", "has {digits:,} digits: {short}",
              "no frame, class or angle needs more than nine"),
    CellFault("SYN131", rf"[{DASHES}]({UNSIGNED})", "is written with a dash instead of a minus sign: {text}", _SIGNS,
              r"-\1", kinds=_NUMBERS[1:6]),
    CellFault("SYN131", rf"[{DASHES}]({DIGITS})", "is written with a dash instead of a minus sign: {text}", _SIGNS,
              r"-\1", kinds=("int",)),
    CellFault("SYN131", rf"(N){_SPACE}[°º˚]", "is written with a degree sign: {text}", _SIGNS, r"\1", angles=True),
    CellFault("SYN131", rf"[{DASHES}]({UNSIGNED}){_SPACE}[°º˚]", "is written with a degree sign: {text}", _SIGNS,
              r"-\1", angles=True),
    CellFault("SYN137", r"\+(N)", "is written with a plus sign: {text}", "write numbers as plain decimals", r"\1"),
    CellFault("SYN132", r"(-?[0-9]{1,9})\.0*", "is {text}, but must be a whole number", _POINT, r"\1", kinds=("int",)),
    CellFault("SYN132", r"-?[0-9]{1,9}\.[0-9]*", "is {text}, but must be a whole number", _POINT, kinds=("int",)),
    CellFault("SYN131", _EXPONENTIAL, _ODD,
              'write {meant}; np.savetxt writes exponents by default: give it fmt="%g" and delimiter=","', "plain",
              kinds=_NUMBERS),
    CellFault("SYN131", ".*", _ODD,
              "write {expected} with the digits 0-9: Python reads this as {number:g}, other programs do not",
              only=numeric),
    CellFault("SYN131", "0[xXoObB][0-9A-Fa-f]+", _ODD, "write {expected}", kinds=_NUMBERS),
    CellFault("SYN130", ".*", "is {text}, not {expected}",
              "write {expected} in digits 0-9, with nothing around it"),
)  # fmt: skip
#: Codes of the faults of cells, in the order of their first row in the table.
_CODES = [*dict.fromkeys(fault.code for fault in FAULTS)]
_CODE_OF = np.array([_CODES.index(fault.code) for fault in FAULTS])
#: By fault: it says that there is no value.
_NO_VALUE = np.array(["{absent}" in fault.says for fault in FAULTS])
_CLASS_HINT = "write the class number, counted from 0; seldio formats shows the class list"


class CellProblem(NamedTuple):
    """A cell that is wrong; one that can mean several things, or nothing, is not *repaired*."""

    fault: CellFault
    repaired: str | None
    cell: str
    kind: str
    field: str

    @property
    def shown(self) -> tuple[str, int]:
        """Return the piece of the cell that is wrong, and where it begins in it."""
        if self.fault.code == "SYN123":
            return self.cell, 0
        if (control := CONTROL_CHARACTER.search(self.cell)) and self.fault.code == "SAF201":
            return control[0], control.start()
        return self.cell.strip(), len(self.cell) - len(self.cell.lstrip())

    @property
    def sentences(self) -> tuple[str, str]:
        """Return the problem and the hint as sentences."""
        text, (missing, instead) = self.cell.strip(), absent(self.field)
        words = {
            "text": clipped(text, 40),
            "short": clipped(text, 20),
            "expected": KINDS[self.kind].says,
            "digits": len(text.lstrip("+-").split(".")[0]),
            "control": printable(self.shown[0]),
            "absent": missing,
            "instead": instead,
            "meant": self.repaired,
            "number": float(text) if self.fault.only is numeric else 0.0,
        }
        says = self.fault.says.format_map(words)
        named = self.fault.code not in ("SYN123", "SAF201")
        worded = self.fault.code == "SYN130" and self.field == "class_id" and text[:1].isalpha()
        return f"{self.field} {says}" if named else says, _CLASS_HINT if worded else self.fault.hint.format_map(words)


def matched(texts: pa.Array, pattern: str) -> Bools:
    """Return which of *texts* a pattern is found in."""
    return to_mask(compute("match_substring_regex", texts, pattern=pattern))


def _plain(text: str) -> str:
    """Return a number without its exponent; empty where that is long."""
    digits = format(Decimal(text), "f")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "" if len(digits) > 20 else "0" if digits == "-0" else digits


def problems(bad: pa.Array, kind: str, field: str) -> tuple[Ints, pa.Array]:
    """Return the number of the fault of each of these *bad* cells, and what each can only mean, null if uncertain."""
    texts, grammar = compute("utf8_trim_whitespace", bad), KINDS[kind].pattern
    faults, meant = np.full(len(bad), -1), pa.nulls(len(bad), pa.string())
    for number, fault in enumerate(FAULTS):
        if kind not in (fault.kinds or KINDS) or fault.angles > (field in ("azimuth", "elevation")):
            continue
        pattern = f"(?s)^(?:{fault.pattern.replace('(N)', f'({grammar})')})$"
        hits = (matched(bad, fault.pattern) if fault is CONTROL else matched(texts, pattern)) & (faults < 0)
        if not hits.any():
            continue
        found = compute("array_filter", texts, from_numpy(hits))
        if fault.only is not None:
            hits[hits] = [bool(fault.only(text)) for text in found.to_pylist()]
        elif fault.meant:
            if fault.meant == "plain":
                found = from_texts(map(_plain, found.to_pylist()))
            else:
                found = compute("replace_substring_regex", found, pattern=pattern, replacement=fault.meant)
            valid = matched(found, f"^(?:{grammar})$")
            hits[hits] = valid
            found = compute("array_filter", found, from_numpy(valid))
            meant = compute("replace_with_mask", meant, from_numpy(hits), found)
        faults[hits] = number
        if (faults >= 0).all():
            break
    return faults, meant


# --- the cells of all files ---------------------------------------------------------------------------


class _Column:
    """One column of the rows of all files: its different texts, which of them each row has, and what is wrong."""

    def __init__(self, cells_of: pa.Array, part: label_csv.column, *, first: bool, described: bool) -> None:
        if isinstance(cells_of, pa.DictionaryArray):
            self.texts, self.which = cells_of.dictionary, to_numpy(cells_of.indices)[1:]
        else:
            self.texts, self.which = cells_of, np.arange(1, len(cells_of))
        self.part = part
        # spaces before a number are legal behind a comma, not at the start of a row
        pattern = f"^{'' if first else ' *'}(?:{KINDS[part.kind].pattern})$"
        bad = ~matched(self.texts, pattern)
        faults, repaired = problems(compute("array_filter", self.texts, from_numpy(bad)), part.kind, part.field)
        unknown = _NO_VALUE[faults] & (described and part.field in cells.UNKNOWABLE)
        absent = from_texts([str(cells.ABSENT)] * int(unknown.sum()))
        #: what each text can only mean
        self.meant = compute("replace_with_mask", repaired, from_numpy(unknown), absent)
        self.meant = compute("replace_with_mask", self.texts, from_numpy(bad), self.meant)
        #: for each text the number of its fault, and the cause: twice the number of its code, 1 more if it is repaired
        self.faults, self.causes = np.full((2, len(bad)), -1)
        self.faults[bad] = faults
        self.causes[bad] = np.where(unknown, -1, 2 * _CODE_OF[faults] + to_mask(repaired))

    def problem(self, row: int) -> CellProblem:
        """Return what is wrong with the cell of a row."""
        at = int(self.which[row])
        fault, repaired, text = FAULTS[self.faults[at]], self.meant[at].as_py(), self.texts[at].as_py()
        return CellProblem(fault, repaired, text, self.part.kind, self.part.field)

    def values(self, readable: Bools, kind: pa.DataType) -> pa.Array:
        """Return the values of the rows that are *readable*."""
        texts = compute("utf8_trim_whitespace", self.meant)
        if kind == pa.string():
            return compute("take", texts, from_numpy(self.which[readable]))
        valid = to_mask(texts)
        values = to_numpy(compute("cast", compute("array_filter", texts, from_numpy(valid)), kind=kind))
        return from_numpy(values[(np.cumsum(valid) - 1)[self.which[readable]]])


def _columns(dialect: Dialect, text: bytes) -> list[_Column]:
    """Split rows of bare cells into columns of texts."""
    longest = int(np.diff(np.flatnonzero(np.frombuffer(text, np.uint8) == 10), prepend=-1).max(initial=0))
    few = pa.dictionary(pa.int32(), pa.string())  # decimals are nearly all different
    types = {f"{at}": pa.string() if part.kind[:4] == "real" else few for at, part in enumerate(dialect.columns)}
    head = b",".join([b"0"] * len(types)) + b"\n"  # what stands first may be a second byte order mark
    table = split_cells(types, head + text, max(1 << 20, 2 * longest))
    texts = [column.combine_chunks() for column in table.columns]
    return [
        _Column(text, part, first=not at, described=bool(dialect.own))
        for at, (text, part) in enumerate(zip(texts, dialect.columns, strict=True))
    ]


def read_faulty(dialect: Dialect, parts: Sequence[CsvPart], sink: Sink) -> pa.Table:
    """Return the rows of files that cannot be parsed as they are, as columns by field; what is wrong goes to *sink*."""
    looks = [FileLook(part.file, dialect) for part in parts]
    columns = _columns(dialect, b"".join(look.body for look in looks))
    readable, row_offset = list[Bools](), 0
    for part, look in zip(parts, looks, strict=True):
        rows = slice(row_offset, row_offset + len(look.lines))
        causes = np.array([column.causes[column.which[rows]] for column in columns])
        for cause in np.flatnonzero(np.bincount(causes[causes >= 0])).tolist():
            look.note_cells(columns, causes == cause, row_offset, repaired=bool(cause % 2))
        for finding in look.findings():
            sink(part.moved(finding))
        readable.append((causes % 2 == 1).all(axis=0))
        look.lines, row_offset = look.lines[readable[-1]], rows.stop
        part.take(look)
    decimals = any(column.part.kind == "whole" for column in columns)
    if decimals:
        reals = [column for column in columns if column.part.kind not in ("int", "flag", "name", "text")]
        decimals = any(matched(column.meant, "[.e]").any() for column in reals)
    readable_rows = np.concatenate(readable)
    values = [column.values(readable_rows, column_type(column.part.kind, decimals)) for column in columns]
    return pa.Table.from_arrays(values, names=[part.field for part in dialect.columns])


# --- a file as a text ---------------------------------------------------------------------------------


class FileLook:
    """One file as a text: what is wrong with its encoding, line ends, header and widths, and its rows.

    ``shown`` is the text with LF, ``text`` the same with commas between cells. What is wrong by rules *undone* is put
    right in ``meant``: the lines of ``shown``, None where one has to go.
    """

    def __init__(self, file: TextFile, dialect: Dialect, undone: Collection[str] = ()) -> None:
        self.file, self.dialect, self.undone = file, dialect, undone
        self.width = len(dialect.columns)
        self.cell_findings: list[Finding] = []
        self.line_findings: dict[tuple[str, bool], list[tuple[Finding, int]]] = {}  # each with its number of lines
        self.meant: list[str | None] = []
        self.headless = False  # whether the header has to be put first
        self.certain = True  # whether cells can be told apart for sure
        self.body = b""  # the rows, each with its line feed, cells separated by bare commas
        self.lines = np.zeros(0, np.int64)  # the physical line of each row
        self.delimiter, self.newline, self.final_newline = ",", "\n", True
        self.readable = False
        if unreadable := cells.encoding_problem(file.path, file.data):
            self.note(unreadable)
            return
        if file.data.startswith(_BOM):
            hint = "save as UTF-8 without BOM; the official loaders stop at it"
            self.report("SYN103", "the file begins with a byte order mark", 1, hint)
        data = file.data.removeprefix(_BOM)
        self.newline = self.line_ends(data)
        self.final_newline = data[-1:] in (b"\n", b"\r", b"")
        self.shown = self.text = cells.plain_lines(data) + (b"" if self.final_newline else b"\n")
        self.meant = [*self.shown.decode().split("\n")[:-1]] if undone else []
        blank = re.match(rb"(?>(?:[ \t\v\f]*+\n)*)", self.shown)
        first = blank[0].count(b"\n") if blank is not None else 0
        self.delimiter = self.separator(first)
        self.text = with_commas(self.shown, self.delimiter)
        if self.delimiter != ",":
            self.certain = not thousands_in(self.shown)
            if "SYN120" in self.undone and self.certain:
                self.meant = self.undelimited()
            elif self.undone:
                self.certain = False
        if self.reshaped(first):
            return
        begin = self.header(first)
        if begin is None or not self.same_width(begin):
            return
        self.readable = True
        rows = self.rows(begin)
        self.lines = np.flatnonzero(rows) + 1
        kept = slice(None) if rows.all() else np.repeat(rows, np.diff(self.ends, prepend=-1))
        self.body = np.frombuffer(self.text, np.uint8)[kept].tobytes()

    # --- lines -----------------------------------------------------------------------------------------

    @cached_property
    def ends(self) -> Ints:
        """Return the offset at which each line ends."""
        return np.flatnonzero(np.frombuffer(self.shown, np.uint8) == 10)

    @cached_property
    def widths(self) -> Ints:
        """How many cells each line has; none where it is blank."""
        text = np.frombuffer(self.text, np.uint8)
        marks = text[(text == 44) | (text == 10)]
        widths = np.flatnonzero(marks == 10) + 1
        widths[1:] -= widths[:-1].copy()
        for number in np.flatnonzero(widths == 1).tolist():
            if not self.line(number).strip(" \t\v\f"):
                widths[number] = 0
        return widths

    def line(self, number: int, shown: bool = False) -> str:
        """Return a line, from 0, as it is *shown* or with commas between its cells; empty behind the last one."""
        if number >= len(self.ends):
            return ""
        start = int(self.ends[number - 1]) + 1 if number else 0
        return (self.shown if shown else self.text)[start : self.ends[number]].decode()

    # --- findings --------------------------------------------------------------------------------------

    def report(
        self,
        code: str,
        message: str,
        line: int,
        hint: str | None = None,
        *,
        whole: bool = False,
        column: int = 1,
        width: int | None = None,
        fixable: bool = True,
        lines: int = 1,
    ) -> None:
        """Report something wrong with the file or whole *lines*, first seen in *line*; or with a piece of one line.

        The piece is the *whole* line, or has *width* characters.
        """
        if self.undone:  # it has been found before
            return
        rule = READER_RULES[code]
        fixable = fixable and rule.fix != "none"
        if not whole and width is None:
            self.note(rule.at(self.file.path, message, hint, line, 1, fixable=fixable), lines)
            return
        excerpt = self.line(line - 1, shown=True)
        value = excerpt[column - 1 :][:width]
        self.note(rule.at(self.file.path, message, hint, line, column, value, excerpt, fixable=fixable))

    def note(self, finding: Finding, count: int = 1) -> None:
        """Take a finding, about *count* lines."""
        self.line_findings.setdefault((finding.code, finding.fixable), []).append((finding, count))

    def note_cells(self, columns: Sequence[_Column], marked: Bools, first: int, *, repaired: bool) -> None:
        """Take the cells with one cause, *marked* by column and row; *first*: the first row of this file in all."""
        places, rows = int(marked.sum()), np.flatnonzero(marked.any(axis=0))
        shown = SINGLY if places <= SINGLY else 1
        findings: list[Finding] = []
        for row in rows[:shown].tolist():
            line = int(self.lines[row])
            excerpt = self.line(line - 1, shown=True)
            for at in np.flatnonzero(marked[:, row])[:shown].tolist():
                problem = columns[at].problem(first + row)
                (value, shift), (message, hint) = problem.shown, problem.sentences
                place = len(",".join([*self.line(line - 1).split(",")[:at], ""])) + 1 + shift
                rule, value = READER_RULES[problem.fault.code], excerpt[place - 1 :][: len(value)]
                fixable = repaired and self.certain
                findings.append(rule.at(self.file.path, message, hint, line, place, value, excerpt, fixable=fixable))
        self.cell_findings += findings if shown > 1 else [findings[0].times(places, self.lines[rows])]

    def findings(self) -> list[Finding]:
        """Return everything that was found: of each cause a few findings, or one for all."""
        every = [*self.cell_findings]
        for alike in self.line_findings.values():
            lines = [finding.line + at for finding, count in alike if finding.line for at in range(count)]
            every += [alike[0][0].times(len(lines), lines)] if len(alike) > SINGLY else [each for each, _ in alike]
        return sorted(every, key=lambda finding: finding.order)

    # --- the file as a whole -----------------------------------------------------------------------------

    def line_ends(self, data: bytes) -> str:
        """Report line ends other than those of the dialect; return the prevailing one."""
        if b"\r" not in data:
            return "\n"
        crlf = data.count(b"\r\n")
        lone = data.count(b"\r") - crlf
        lf = data.count(b"\n") - crlf
        ends = [f"{plural(n, 'line')} with {name}" for name, n in (("CR LF", crlf), ("LF", lf), ("CR", lone)) if n]
        wanted = f"end every line with {_ENDS[self.dialect.newline]}"
        if len(ends) > 1:
            every = re.findall(rb"\r\n|\r|\n", data)
            line = next(number for number, end in enumerate(every, 1) if end != every[0])
            self.report("SYN106", f"mixed line endings: {', '.join(ends)}", line, wanted)
        elif lone:
            hint = f"{wanted}; Git and grep see the file as a single line"
            self.report("SYN106", "lines end with a bare CR, as on Mac OS before 2001", 1, hint)
        elif self.dialect.newline == "\n":
            hint = "harmless to the official loaders; the format itself uses LF"
            self.report("SYN105", "lines end with CR LF", 1, hint)
        return "\r\n" if crlf > lf else "\n"

    def separator(self, first: int) -> str:
        """Return what separates the cells; report it where it is not a comma."""
        line = self.line(first, shown=True)
        text, sign = line.strip(), ","  # a sign behind the last cell is a fault of its own
        if line.count(",") != self.width - 1:
            signs = (
                each for each in _DELIMITERS if self.width - 1 in (text.count(each), text.rstrip(each).count(each))
            )
            sign = next((each for each in signs if each != " " or ", " not in line), ",")
        if sign != ",":
            message = f"cells are separated by {_DELIMITERS[sign]}, not commas"
            if b"," in self.shown:
                message += ", and decimals are written with a comma"
            column = len(line) - len(line.lstrip(" ")) + line.strip(" ").index(sign) + 1
            hint = "write 1,2.5,3: commas between cells, points in numbers"
            if thousands := thousands_in(self.shown):
                hint += f"; not repaired, as {thousands} may be {thousands.replace(',', '')} as well"
            self.report("SYN120", message, first + 1, hint, column=column, width=1, fixable=not thousands)
        return sign

    def undelimited(self) -> list[str | None]:
        """Return the lines with commas between cells; rows that have commas stay; with all of them, the header does."""
        lines = [*zip(self.meant, self.text.decode().split("\n")[:-1], strict=True)]
        fits = [new.removesuffix(",").count(",") + 1 == self.width or "," not in (old or "") for old, new in lines]
        changed = any(fits[1:] if fits[1:] and cells.titled(lines[0][1].split(",")) else fits)
        return [new if fit and changed else old for (old, new), fit in zip(lines, fits, strict=True)]

    def reshaped(self, first: int) -> bool:
        """Return whether all rows have the same other shape of the format, and report that as a single finding."""
        header = self.line(first).split(",")
        second = first + cells.titled(header)
        row = self.line(second).split(",")
        few = [line.split(",") for line in itertools.islice(self.whole_lines(second), 20) if line.strip()]
        mixed = len({len(row) for row in few}) > 1 and b'"' not in self.text
        lettered = all(row[1].strip(' "')[:1].isalpha() for row in few if len(row) > 1)
        timed = "." in row[0] and _FRACTION.search(self.text) is not None
        if self.dialect.own or mixed or (len(row) == self.width and not timed and not lettered):
            return False  # nearly every file
        lines = [line for line in self.whole_lines(first) if line.strip()]
        change = change_between(lines, self.dialect)
        if change is None:
            return False
        rows = (line.split(",") for line in lines[second - first :])
        fixable = change.certain and all(map(change.gives_back, rows))
        within = change.column if change.column < len(row) else 0  # the first line may be blank
        column = 1 + sum(len(cell) + 1 for cell in row[:within])
        width = len(row[within]) if within else None
        self.report(
            change.code, change.why, second + 1, change.hint, whole=True, column=column, width=width, fixable=fixable
        )
        if fixable and change.code in self.undone:
            for number, line in enumerate(self.meant):
                self.meant[number] = ",".join(change.undo(line.split(","))) if line and line.strip() else line
            if cells.counted(header):  # without the index, its numbers would be a row
                self.meant[first] = None
        return True

    def whole_lines(self, start: int) -> Iterator[str]:
        """Return lines without a last one that may be cut, unless it is the only one."""
        return map(self.line, range(start, len(self.ends) - (not self.final_newline and start + 1 < len(self.ends))))

    def header(self, first: int) -> int | None:
        """Return the line at which the rows begin; None where the header makes them meaningless."""
        if first == len(self.ends):
            return first
        line, expected = self.line(first), self.dialect.header
        names = [name.strip().strip('"') for name in line.split(",")]
        named = not any(map(numeric, names)) and cells.wordy(names[0])
        if expected is None:
            if named:
                self.odd_line(first, "a header", "remove it: the official loaders call int() on the first cell")
            return first + named
        if headed_by(line, expected):
            return first + 1
        if named and len(names) > 1:
            hint = f"expected {expected}; other columns would be misread"
            self.report("SYN113", f"the header is not that of {self.dialect.name}", first + 1, hint, whole=True)
            return None
        hint = f"put {expected} first: the official loader always drops line 1"
        self.report("SYN112", "the header line is missing", first + 1, hint, whole=True)
        self.headless = "SYN112" in self.undone
        return first

    def odd_line(self, number: int, what: str, hint: str) -> None:
        """Report a line of names where none belongs, and what it says against the columns."""
        titles = self.line(number).split(",")
        names = [title.strip(' "#') for title in titles]
        fields = [part.field for part in self.dialect.columns]
        faults: list[tuple[int, int | None, str, str]] = []  # column, width (None: to the end), message and hint
        for index, name in enumerate(names if len(names) > 1 else ()):
            field = _TITLES.get(name.lower(), fields[index] if index < len(fields) else "")
            if name in names[:index] and name and not numeric(name):  # a row may be commented out
                message = f"the header lists {clipped(name)} twice"
                advice = "programs that read columns by name keep only one of the two"
            elif index < len(fields) and (field != fields[index] or cells.is_confidence(name)):
                message = f"column {index + 1} is headed {name}, but in {self.dialect.name} it is {fields[index]}"
                advice = "columns in another order are misread: loaders ignore the header"
            else:
                continue
            column = len(",".join([*titles[:index], ""])) + titles[index].index(name) + 1
            faults.append((column, len(name), message, advice))
            break
        next_width = int(self.widths[number + 1]) if what == "a header" and number + 1 < len(self.ends) else 0
        if next_width not in (0, len(names)):
            advice = "write one name for each column: where names are too few, pandas shifts them"
            faults.append((1, None, f"the header has {len(names)} columns, but the next line has {next_width}", advice))
        if faults:
            hint += "; but first check what its names say about the columns"
        message = f"{what} line, but {self.dialect.name} has none"
        self.report("SYN111", message, number + 1, hint, whole=True, fixable=not faults)
        if not faults and "SYN111" in self.undone:
            self.meant[number] = None
        for column, width, message, advice in faults:
            self.report("SYN113", message, number + 1, advice, whole=True, column=column, width=width)

    def same_width(self, begin: int) -> bool:
        """Return False, with one finding, where all rows have the same wrong number of cells."""
        if (self.widths[begin : begin + 1] == self.width).any():
            return True  # nearly every file
        cut = not self.final_newline and len(self.ends) - 1 > begin
        filled = np.flatnonzero(self.widths[begin : len(self.ends) - cut]) + begin
        widths = self.widths[filled]
        if not len(filled) or widths[0] == self.width or (widths != widths[0]).any() or b'"' in self.text:
            return True
        code, message, hint = explain_width(self.file, self.dialect, int(widths[0]))
        self.report(code, message, int(filled[0]) + 1, hint, whole=True)
        return False

    # --- rows --------------------------------------------------------------------------------------------

    def rows(self, begin: int) -> Bools:
        """Return the lines that are rows of the right width; report the others."""
        rows: Bools = self.widths == self.width
        rows[:begin] = False
        blank = np.flatnonzero(self.widths == 0)
        for run in np.split(blank, np.flatnonzero(np.diff(blank) > 1) + 1) if len(blank) else ():
            message = "blank line" if len(run) == 1 else f"{len(run):,} blank lines"
            hint = "remove blank lines: the official loaders stop there"
            self.report("SYN110", message, int(run[0]) + 1, hint, lines=len(run))
        ragged = ~rows & (self.widths > 0)
        ragged[:begin] = False
        patterns = [PATTERNS[part.kind] for part in self.dialect.columns]
        way = 'np.savetxt(header=…) needs comments=""' if self.dialect.header else "call np.savetxt without header="
        for number in range(begin, len(rows)) if b"#" in self.text else ():
            line = self.line(number)
            if not line.lstrip().startswith("#"):
                continue
            parts = line.split(",")
            cells_of_row = len(parts) == self.width and all(map(re.Pattern.fullmatch, patterns, parts))
            if not cells_of_row:  # of a class that is called so
                self.odd_line(number, "a comment", f"remove it: the official loaders call int() on it; {way}")
                rows[number] = ragged[number] = False
        for number in np.flatnonzero(ragged).tolist():
            self.ragged(number)
        return rows

    def ragged(self, number: int) -> None:
        """Report a row with another number of cells."""
        width = int(self.widths[number])
        text = self.line(number)
        if text.count('"') % 2:
            message, hint = "a quote is opened and not closed in its line", "a row is one line of unquoted cells"
            column = text.rindex('"') + 1
            self.report("SYN122", message, number + 1, hint, whole=True, column=column, fixable=False)
        elif number == len(self.ends) - 1 and not self.final_newline and width < self.width:
            message = f"the last row is cut off: {plural(width, 'cell')} of {self.width} and no line ending"
            hint = "the file seems to be cut off, and rows after this one may be missing: write or download it again"
            self.report("SYN108", message, number + 1, hint, whole=True)
        elif control := CONTROL_CHARACTER.search(text):
            message = CONTROL.says.format(control=printable(control[0]))
            self.report("SAF201", message, number + 1, CONTROL.hint, column=control.start() + 1, width=1)
        else:
            message = f"{plural(width, 'cell')} in a row of {self.width} columns"
            hint = f"{self.dialect.name} rows are {', '.join(part.field for part in self.dialect.columns)}"
            self.report("SYN121", message, number + 1, hint, whole=True)
