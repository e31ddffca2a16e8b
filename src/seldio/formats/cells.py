"""The cells of label files: the kinds of columns, how their values are printed, and what is wrong with a cell.

Numbers are plain decimals of ASCII digits: what Python's ``int`` and ``float`` accept beyond that (``1_0``, Arabic
digits, ``nan``) is not data. Expressions are written so that Python and Arrow read them alike, and take time in
proportion to the input.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio.findings import Finding, Rule
from seldio.reader_rules import READER_RULES
from seldio.schema.arrays import compute, from_numpy, from_texts, to_mask
from seldio.text import clipped, plural, printable


@dataclasses.dataclass(frozen=True, slots=True)
class CellKind:
    """A kind of cell: what it matches, what is expected for messages, and numpy values as what prints so."""

    pattern: str
    says: str
    render: Callable[[Any], list[Any]]


def _whole(values: Any) -> list[int]:
    # rint rounds halves to even, as the official writer's round() does; never cut off
    numbers = values if values.dtype.kind in "iub" else np.rint(values)
    whole: list[int] = numbers.astype(np.int64).tolist()
    return whole


def _real(values: Any) -> list[float]:
    numbers: list[float] = values.astype(np.float64).tolist()
    return numbers


def _real3(values: Any) -> list[str]:
    # adding 0.0 turns -0.0 into 0.0
    return ["%.3f" % value for value in (np.round(values, 3) + 0.0).tolist()]  # noqa: UP031


# At most nine digits of value, which an int32 holds; leading zeros do not count.
_DIGITS = r"(?:[0-9]{1,9}|0+[0-9]{0,9})"
_UNSIGNED = rf"(?:{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)"
_DECIMAL = f"-?{_UNSIGNED}"
# No exponent that could lead out of the floats: such a number is always finite.
_REAL = rf"{_DECIMAL}(?:e(?:-[0-9]{{1,3}}|\+?[0-9]{{1,2}}))?"
# Characters that hide or reorder text: C1 controls, soft hyphen, marks of direction, zero widths.
_HIDDEN = "\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_LETTER = rf'[^,"\x00-\x1f{_HIDDEN}]'

KINDS: dict[str, CellKind] = {
    "int": CellKind(f"-?{_DIGITS}", "a whole number", _whole),
    "whole": CellKind(_DECIMAL, "a number", _whole),
    "real": CellKind(_REAL, "a decimal number", _real),
    "real3": CellKind(_REAL, "a decimal number", _real3),
    "real3inf": CellKind(f"{_REAL}|-?inf", "a decimal number, inf or -inf", _real3),
    "flag": CellKind("[01]", "0 or 1", _whole),
    "name": CellKind(rf'[^ =+@,"\x00-\x1f{_HIDDEN}-](?:{_LETTER}*[^ ,"\x00-\x1f{_HIDDEN}])?', "a class name", list),
    "zero": CellKind(_REAL, "0", _real),
    "text": CellKind(f"{_LETTER}*", "a text without commas and quotes", list),
}
#: The value that numbers stay below.
LIMIT = 1e9

#: The grammar of one cell, to be matched whole.
PATTERNS = {kind: re.compile(rule.pattern) for kind, rule in KINDS.items()}

# --- files that are no text ---------------------------------------------------------------------------

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: How files begin that are no text at all, and what they are.
_BINARY = {
    b"PK\x03\x04": "an Excel workbook or another ZIP archive", b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "a gzip file", b"%PDF-": "a PDF", b"\x89HDF\r\n": "HDF5", b"\x93NUMPY": "a NumPy array",
    b"SQLite format 3\0": "an SQLite database", b"PAR1": "Parquet",
}  # fmt: skip


def plain_lines(data: bytes) -> bytes:
    """Return *data* with LF at the end of every line, and without a byte order mark."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def from_utf16(data: bytes) -> str | None:
    """Return the text of a file in UTF-16, with or without its mark; None where it is not, or does not decode."""
    names = ["utf-16"] if data.startswith(_UTF16) else []
    if not names and data[:2].count(0) == 1 and len(data) % 2 == 0 and data.count(0) == len(data) // 2:
        names = ["utf-16-be" if data[0] == 0 else "utf-16-le"]  # every second byte is 0: ASCII throughout
    try:
        text = data.decode(names[0]) if names else None
    except UnicodeDecodeError:
        return None
    return text if text is None or "\0" not in text else None


def encoding_problem(path: str, data: bytes) -> Finding | None:
    """Return why the file is not text in UTF-8; None where it is."""
    if data.isascii() and b"\0" not in data:  # nearly every file; much cheaper than decoding it
        return None
    if kind := next((kind for magic, kind in _BINARY.items() if data.startswith(magic)), None):
        message = f"not text: its first bytes are those of {kind}"
        hint = "export the table as CSV (UTF-8); renaming a file does not convert it"
        return READER_RULES["SYN115"].at(path, message, hint, 1, 1)
    if data.startswith(_UTF16) or from_utf16(data) is not None:
        message = f"the file is UTF-16{'' if data.startswith(_UTF16) else ', without a byte order mark'}, not UTF-8"
        hint = "save it as UTF-8 (in a spreadsheet: as CSV, not as Unicode text)"
        return READER_RULES["SYN102"].at(path, message, hint, 1, 1, fixable=False)
    if (position := data.find(b"\0")) >= 0:
        count = data.count(b"\0")
        hint = "they come from a crash while writing, or from UTF-16 without a byte order mark: write the file again"
        return _at(READER_RULES["SYN104"], path, data, position, f"{plural(count, 'NUL byte')} in the file", "\0", hint)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        byte = data[error.start : error.start + 1]
        message, hint = f"byte 0x{byte.hex()} is not UTF-8", "save the file as UTF-8; it is probably Latin-1"
        return _at(READER_RULES["SYN101"], path, data, error.start, message, byte.decode("latin-1"), hint)
    return None


def _at(rule: Rule, path: str, data: bytes, position: int, message: str, value: str, hint: str) -> Finding:
    """Return a finding about one byte; a byte order mark does not count as a character of line 1."""
    before = plain_lines(data[:position])
    behind = re.split(rb"[\r\n]", data[position:], maxsplit=1)[0]
    line = before[before.rfind(b"\n") + 1 :].decode(errors="replace")
    excerpt, column = line + behind.decode(errors="replace"), len(line) + 1
    return rule.at(path, message, hint, before.count(b"\n") + 1, column, value, excerpt)


# --- what is wrong with a cell -----------------------------------------------------------------------

#: Minus signs and dashes that word processors and spreadsheets put instead of a minus.
_DASHES = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"
_TYPESET = str.maketrans(dict.fromkeys(_DASHES, "-") | dict.fromkeys("°º˚"))
#: A terminal escape, a bidirectional control or another invisible character.
CONTROL_CHARACTER = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f{_HIDDEN}]")
#: The fields that a dataset of one's own may leave unknown, and what stands for no value there.
UNKNOWABLE = ("azimuth", "elevation", "distance")
ABSENT = -1000
_NOUNS = {"class_id": "class", "class_name": "class", "onscreen": "flag"}
_INSTEAD = {
    "distance": "write it, or describe the columns in a dataset.toml (seldio new --write): there distances may be "
    "unknown",
    "source": "write 0 where sources are not counted",
}
#: What stands above the row index that pandas writes, and above one that was read and written again.
INDEX_NAMES = ("", "unnamed: 0")
#: What headers call the confidence of a row, alone or in a longer name (class_score).
_CONFIDENCE = re.compile(r"(?i)(.*[ _.-])?(conf|confidences?|scores?|probs?|probability|certainty)([ _.-].*)?")


def numeric(cell: str) -> bool:
    """Return whether Python would take the cell for a number, whatever else it looks like."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.lower().strip("+-") not in ("nan", "inf", "infinity")


def wordy(cell: str) -> bool:
    """Return whether the cell is a plain word, as names of columns are."""
    return re.fullmatch(r"[A-Za-z_][\w ()\[\]#%/.-]*", cell.strip()) is not None


def is_confidence(name: str) -> bool:
    """Return whether the name of a column says that it holds a confidence."""
    return _CONFIDENCE.fullmatch(name.strip().strip('"')) is not None


def titled(first: Sequence[str]) -> bool:
    """Return whether the first line of a file is a header: it holds no number, or is the one :func:`counted`."""
    return len(first) > 1 and (counted(first) or not any(map(numeric, first)))


def counted(first: Sequence[str]) -> bool:
    """Return whether a line is what pandas writes over an index and columns without names, counted from 0."""
    names = [cell.strip().strip('"') for cell in first]
    return len(names) > 2 and not names[0] and names[1:] == list(map(str, range(len(names) - 1)))


def plainly(text: str) -> str:
    """Return a number with a plain minus and without a degree sign; what is ASCII stays as it is."""
    return text if text.isascii() else text.translate(_TYPESET).strip()


def absent(field: str) -> tuple[str, str]:
    """Return problem and hint for a cell without the value of *field*, which its format requires."""
    return f"no {_NOUNS.get(field, field)} is given", _INSTEAD.get(field, "leave out rows where nothing was detected")


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
    CellFault("SYN122", r'"\s*(N)\s*"', "is in quotes: {text}", "write numbers without quotes", r"\1"),
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
    CellFault("SYN131", rf"[{_DASHES}]({_UNSIGNED})", "is written with a dash instead of a minus sign: {text}", _SIGNS,
              r"-\1", kinds=_NUMBERS[1:6]),
    CellFault("SYN131", rf"[{_DASHES}]({_DIGITS})", "is written with a dash instead of a minus sign: {text}", _SIGNS,
              r"-\1", kinds=("int",)),
    CellFault("SYN131", r"(N)\s*[°º˚]", "is written with a degree sign: {text}", _SIGNS, r"\1", angles=True),
    CellFault("SYN131", rf"[{_DASHES}]({_UNSIGNED})\s*[°º˚]", "is written with a degree sign: {text}", _SIGNS, r"-\1",
              angles=True),
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
              "expected {expected}, written with the digits 0-9 and nothing around it"),
)  # fmt: skip
#: The faults of cells that say that there is no value.
WITHOUT_VALUE = [number for number, fault in enumerate(FAULTS) if "{absent}" in fault.says]
_CLASS_HINT = "write the class number, counted from 0; seldio formats shows the class list"


class CellProblem(NamedTuple):
    """A problem in a cell: a *value*, *shift* characters from its start, and the cell as it can only be meant.

    A cell that can mean several things, or nothing, is not *repaired*.
    """

    number: int  # of its fault in the table
    repaired: str | None
    cell: str
    kind: str
    field: str

    @property
    def fault(self) -> CellFault:
        """Return the fault that the cell has."""
        return FAULTS[self.number]

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
            "digits": len(text.lstrip("+-").partition(".")[0]),
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


@cache
def _looked_for(kind: str, field: str) -> list[tuple[int, re.Pattern[str]]]:
    """Return the numbers of the faults that a column may have, with their patterns."""
    grammar = f"((?:{KINDS[kind].pattern}))"
    angle = field in ("azimuth", "elevation")
    return [
        (number, re.compile(f"(?s:{fault.pattern.replace('(N)', grammar)})"))
        for number, fault in enumerate(FAULTS)
        if kind in (fault.kinds or KINDS) and angle >= fault.angles
    ]


def problem(cell: str, kind: str, field: str) -> CellProblem:
    """Return the problem of a cell that does not match the grammar of its column."""
    text = cell.strip()
    for number, pattern in _looked_for(kind, field):
        fault = FAULTS[number]
        match = pattern.search(cell) if fault is CONTROL else pattern.fullmatch(text)
        if match is None or (fault.only is not None and not fault.only(text)):
            continue
        repaired = match.expand(fault.meant) or None if fault.meant != "plain" else format(Decimal(text), "f")
        if repaired is not None and fault.meant == "plain":  # without the exponent, where that is not long
            repaired = repaired.rstrip("0").rstrip(".") if "." in repaired else repaired
            repaired = None if len(repaired) > 20 else "0" if repaired == "-0" else repaired
        if not fault.meant or (repaired is not None and PATTERNS[kind].fullmatch(repaired)):
            return CellProblem(number, repaired, cell, kind, field)
    raise AssertionError("the last row of the table matches every cell")


#: Different cells from which on Arrow looks at them all at once.
_MANY = 1000


def matched(texts: pa.Array, pattern: str) -> pa.Array:
    """Return in which of *texts* a pattern is found."""
    return compute("match_substring_regex", texts, pattern=pattern)


def problems(cells: pa.Array, kind: str, field: str) -> tuple[np.ndarray[Any, Any], pa.Array]:
    """Return the number of the fault of each of these *cells*, all of them bad, and what each is meant as."""
    texts = meant = compute("utf8_trim_whitespace", cells)
    faults, grammar = np.full(len(cells), -1), f"^(?:{KINDS[kind].pattern})$"
    for number, pattern in _looked_for(kind, field) if len(cells) > _MANY else ():
        fault, wanted = FAULTS[number], f"^{pattern.pattern}$"
        if fault.only is not None or fault.meant == "plain":
            break
        hits = to_mask(matched(cells, pattern.pattern) if fault is CONTROL else matched(texts, wanted)) & (faults < 0)
        faults[hits] = number
        if fault.meant and hits.any():
            meant = compute("replace_substring_regex", meant, pattern=wanted, replacement=fault.meant)
        if (faults >= 0).all():
            break
    left = faults < 0
    single = [problem(cell.as_py(), kind, field) for cell in compute("array_filter", cells, from_numpy(left))]
    faults[left] = [each.number for each in single]
    sure = to_mask(matched(meant, grammar)) & np.array([bool(fault.meant) for fault in FAULTS])[faults]
    meant = compute("if_else", from_numpy(sure & ~left), meant, pa.nulls(len(cells), pa.string()))
    if single:
        meant = compute("replace_with_mask", meant, from_numpy(left), from_texts(each.repaired for each in single))
    return faults, meant


# --- numbers that people write -------------------------------------------------------------------------------------


#: What follows the number of a field, and what it is multiplied by.
_UNITS = {"azimuth": {"°": 1.0, "deg": 1.0}, "elevation": {"°": 1.0, "deg": 1.0}, "distance": {"m": 1.0, "cm": 0.01}}
_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(.*)", re.DOTALL)


def number_in(text: str, field: str = "") -> float | None:
    """Return the number that *text* is, in degrees or metres if it is one of a direction; None where it is none."""
    match = _NUMBER.fullmatch(text.strip())
    factor = (_UNITS.get(field, {}) | {"": 1.0}).get(match[2].strip()) if match else None
    if match is None or factor is None or abs(value := float(match[1]) * factor) > 2**53:
        return None
    return round(value, 12) if factor != 1.0 else value
