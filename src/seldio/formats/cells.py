"""The cells of label files: the kinds of columns, how their values are printed, and what is wrong with a cell.

The expressions of the grammar are possessive or atomic throughout (no backtracking), so that matching is linear in the
input whatever it holds. Groups are atomic, ``(?>(?:…)?)``, as Python before 3.11.5 matches possessive groups wrongly.
Numbers are plain decimals of ASCII digits: what Python's ``int`` and ``float`` accept beyond that (``1_0``, Arabic
digits, ``nan``) is not data.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from seldio.findings import Finding, Rule
from seldio.reader_rules import READER_RULES
from seldio.text import clipped, plural, printable


@dataclasses.dataclass(frozen=True, slots=True)
class CellKind:
    """A kind of cell: what it matches, what is expected for messages, and numpy values as what prints so."""

    pattern: bytes
    says: str
    render: Callable[[Any], list[Any]]


def _whole(values: Any) -> list[int]:
    # rint rounds halves to even, as the official writer's round() does; never cut off
    numbers = values if values.dtype.kind in "iub" else np.rint(values)
    found: list[int] = numbers.astype(np.int64).tolist()
    return found


def _real(values: Any) -> list[float]:
    found: list[float] = values.astype(np.float64).tolist()
    return found


def _real3(values: Any) -> list[str]:
    # adding 0.0 turns -0.0 into 0.0
    return ["%.3f" % value for value in (np.round(values, 3) + 0.0).tolist()]  # noqa: UP031


# At most nine digits of value, which an int32 holds; leading zeros do not count.
_DIGITS = rb"(?:[0-9]{1,9}+|0++[0-9]{0,9}+)"
_INT = rb"-?+" + _DIGITS
_DECIMAL = rb"-?+(?:" + _DIGITS + rb"(?>(?:\.[0-9]*+)?)|\.[0-9]++)"
# No exponent that could lead out of the floats: such a number is always finite.
_REAL = _DECIMAL + rb"(?>(?:e(?:-[0-9]{1,3}+|\+?+[0-9]{1,2}+))?)"
# Characters that hide or reorder text, as UTF-8: C1 controls, soft hyphen, marks of direction, zero widths.
_HIDDEN = (
    rb"(?:\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]"
    rb"|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80\x81])"
)
_NAME = rb"(?![ =+@-])(?>(?:(?!" + _HIDDEN + rb')[^,"\x00-\x1f\x7f])+)(?<! )'
# What a column that is passed over may hold.
_TEXT = rb"(?>(?:(?!" + _HIDDEN + rb')[^,"\x00-\x1f\x7f])*)'

KINDS: dict[str, CellKind] = {
    "int": CellKind(_INT, "a whole number", _whole),
    "whole": CellKind(_DECIMAL, "a whole number", _whole),
    "real": CellKind(_REAL, "a decimal number", _real),
    "real3": CellKind(_REAL, "a decimal number", _real3),
    "real3inf": CellKind(rb"(?:" + _REAL + rb"|-?+inf)", "a decimal number, inf or -inf", _real3),
    "flag": CellKind(rb"[01]", "0 or 1", _whole),
    "name": CellKind(_NAME, "a class name", list),
    "zero": CellKind(_REAL, "0", _real),
    "text": CellKind(_TEXT, "a text without commas and quotes", list),
}
#: The value that numbers stay below.
LIMIT = 1e9


#: The grammar of one cell, to be matched whole.
PATTERNS = {kind: re.compile(rule.pattern) for kind, rule in KINDS.items()}
_MANTISSA = re.compile(rb"(?:\A|[,\n])" + _DECIMAL + rb"\Z")
_EXPONENT = re.compile(rb"e(?=(?:-[0-9]{1,3}|[0-9]{1,2})(?:[,\r\n]|\Z))")


def plain_exponents(data: bytes) -> bool:
    """Whether the numbers of *data* that have an exponent (after a lower-case e) are in the grammar.

    May say no to very long ones that are.
    """
    count = 0
    for match in _EXPONENT.finditer(data):
        count += 1
        if not _MANTISSA.search(data, max(0, match.start() - 40), match.start()):
            return False
    return count == data.count(b"e")


# --- what is wrong with a cell -----------------------------------------------------------------------

_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_FORMULA = re.compile(r"[=@].*|[+-](?!(?:nan|inf\w*)\Z)[A-Za-z(@=].*", re.IGNORECASE)
_ANGLES = ("azimuth", "elevation")
_NOWHERE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
#: What programs write where there is no number.
_NOTHING = {"na", "n/a", "none", "null", "nil", "-", "--", "?", "missing", "unknown", "<na>", "nat", "#n/a"}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: How files begin that are no text at all, and what they are.
_BINARY = {
    b"PK\x03\x04": "an Excel workbook or another ZIP archive", b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "a gzip file", b"%PDF-": "a PDF", b"\x89HDF\r\n": "HDF5", b"\x93NUMPY": "a NumPy array",
    b"SQLite format 3\0": "an SQLite database", b"PAR1": "Parquet",
}  # fmt: skip
#: Minus signs and dashes that word processors and spreadsheets put instead of a minus.
_DASHES = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"
_TYPESET = str.maketrans(dict.fromkeys(_DASHES, "-") | dict.fromkeys("°º˚"))


@dataclasses.dataclass(frozen=True, slots=True)
class CellProblem:
    """What is wrong with a cell: a *value*, *shift* characters from its start, and the cell as it can only be meant.

    A cell that can mean several things, or nothing, is not *repaired*.
    """

    code: str
    message: str
    value: str
    hint: str
    shift: int = 0
    repaired: str | None = None

    @property
    def fixable(self) -> bool:
        """Whether a repair can write it."""
        return self.repaired is not None


def numeric(cell: str) -> bool:
    """Whether Python would take the cell for a number, whatever else it looks like."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.lower().strip("+-") not in ("nan", "inf", "infinity")


def wordy(cell: str) -> bool:
    """Whether the cell is a plain word, as names of columns are."""
    return re.fullmatch(r"[A-Za-z_][\w ()\[\]#%/.-]*", cell.strip()) is not None


def plainly(text: str) -> str:
    """A number with a plain minus and without a degree sign; what is ASCII stays as it is."""
    return text if text.isascii() else text.translate(_TYPESET).strip()


def from_utf16(data: bytes) -> str | None:
    """The text of a file in UTF-16, with or without its mark; None where it is not, or does not decode."""
    names = ["utf-16"] if data.startswith(_UTF16) else []
    if not names and data[:2].count(0) == 1 and len(data) % 2 == 0 and data.count(0) == len(data) // 2:
        names = ["utf-16-be" if data[0] == 0 else "utf-16-le"]  # every second byte is 0: ASCII throughout
    try:
        text = data.decode(names[0]) if names else None
    except UnicodeDecodeError:
        return None
    return text if text is None or "\0" not in text else None


def encoding_problem(path: str, data: bytes) -> Finding | None:
    """Why the file is not text in UTF-8; None where it is."""
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
    """A finding about one byte; a byte order mark does not count as a character of line 1."""
    before = data[:position].removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    rest = re.compile(rb"[^\r\n]*+").match(data, position)
    assert rest is not None
    line = before[before.rfind(b"\n") + 1 :].decode(errors="replace")
    excerpt, column = line + rest.group().decode(errors="replace"), len(line) + 1
    return rule.at(path, message, hint, before.count(b"\n") + 1, column, value, excerpt)


def control_character(cell: str) -> CellProblem | None:
    """A terminal escape, bidirectional control or other invisible character in *cell*."""
    match = _CONTROL.search(cell)
    if match is None:
        return None
    message = f"an invisible control character ({printable(match.group())}) in a cell"
    hint = "remove it: such characters can garble a terminal or hide text"
    return CellProblem("SAF201", message, match.group(), hint, shift=match.start())


def problem(cell: str, kind: str, field: str, first: bool) -> CellProblem | None:
    """What is wrong with *cell* in a column of *kind*; None where nothing is.

    Spaces before a number are legal behind a comma, not at the start of a row (*first*).
    """
    if PATTERNS[kind].fullmatch(cell.encode()):  # by far the most cells of a bad row
        return None
    text = cell.strip()
    leading = cell[: len(cell) - len(cell.lstrip())]
    if _fits(kind, text):
        if cell.endswith(text) and not leading.strip(" ") and not (first and leading):
            return None
        return CellProblem("SYN123", "whitespace around a number, other than spaces after a comma", cell, "remove it",
                       repaired=text)  # fmt: skip
    if (found := control_character(cell)) is not None:
        return found
    code, message, hint, repaired = _misfit(text, kind, field)
    return CellProblem(code, f"{field} {message}", text, hint, len(leading), repaired)


def _fits(kind: str, text: str) -> bool:
    return PATTERNS[kind].fullmatch(text.encode()) is not None


def _misfit(text: str, kind: str, field: str) -> tuple[str, str, str, str | None]:
    """Code, message behind the field's name, hint and repair of a cell that does not fit its column."""
    shown, expected = clipped(text, 40), KINDS[kind].says
    if not text:
        return "SYN135", "is empty", f"expected {expected}; no cell may be empty", None
    if len(text) > 1 and text[0] == text[-1] == '"':
        inside = text[1:-1].strip()
        clean = inside if _fits(kind, inside) else None
        return "SYN122", f"is in quotes: {shown}", "write numbers without quotes", clean
    if kind == "flag":
        return "SYN136", f"is {shown}, but must be 0 or 1", "1: on screen, 0: off screen", None
    if _FORMULA.fullmatch(text):
        hint = f"expected {expected}; a spreadsheet would run this cell on opening the file"
        return "SAF202", f"holds a spreadsheet formula: {shown}", hint, None
    if _NOWHERE.fullmatch(text):
        return "SYN133", f"is {shown}, not a finite number", "leave out rows where nothing was detected", None
    if re.fullmatch(r"[+-]?[0-9]{10,}(\.[0-9]*)?", text):
        digits = len(text.lstrip("+-").partition(".")[0])
        message = f"has {digits:,} digits: {clipped(text, 20)}"
        return "SYN134", message, "no frame, class or angle needs more than nine", None
    plain, degrees = plainly(text), set(text) & set("°º˚")
    if plain != text and _fits(kind, plain) and (field in _ANGLES or not degrees):
        sign = "a degree sign" if degrees else "a dash instead of a minus sign"
        hint = "write numbers using only 0-9, - and ."
        return "SYN138", f"is written with {sign}: {shown}", hint, plain
    plain = text.removeprefix("+")
    if plain != text and _fits(kind, plain):
        return "SYN137", f"is written with a plus sign: {shown}", "write numbers as plain decimals", plain
    if kind in ("int", "flag") and (match := re.fullmatch(r"(-?[0-9]{1,9})\.([0-9]*)", text)):
        hint = "write it without a decimal point: the official loaders call int() on it"
        return "SYN132", f"is {shown}, but must be a whole number", hint, None if match[2].strip("0") else match[1]
    odd = f"is {shown}, not a plain decimal number"
    if kind != "name" and (plain := _without_exponent(text)) and _fits(kind, plain):
        hint = f'write {plain}; np.savetxt writes exponents by default: give it fmt="%g" and delimiter=","'
        return "SYN131", odd, hint, plain
    if numeric(text):
        hint = f"write {expected} with the digits 0-9: Python reads this as {float(text):g}, other programs do not"
        return "SYN131", odd, hint, None
    if kind != "name" and re.fullmatch(r"0[xXoObB][0-9A-Fa-f]+", text):
        return "SYN131", odd, f"write {expected}", None
    hint = f"expected {expected}, written with the digits 0-9 and nothing around it"
    if text.lower() in _NOTHING:
        hint = "leave out rows where nothing was detected"
    elif field == "class_id" and text[0].isalpha():
        hint = "write the class number, counted from 0; seldio formats shows the class list"
    return "SYN130", f"is {shown}, not {expected}", hint, None


def _without_exponent(text: str) -> str:
    """The same number without its exponent; empty where that would be long, or there is none."""
    if not re.fullmatch(r"[+-]?[0-9]{1,9}(\.[0-9]{0,30})?[eE][+-]?[0-9]{1,2}", text):
        return ""
    plain = format(Decimal(text), "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "" if len(plain) > 20 else "0" if plain == "-0" else plain


# --- numbers that people write -------------------------------------------------------------------------------------


#: What follows the number of a field, and what it is multiplied by.
_UNITS = {"azimuth": {"°": 1.0, "deg": 1.0}, "elevation": {"°": 1.0, "deg": 1.0}, "distance": {"m": 1.0, "cm": 0.01}}
_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(.*)", re.DOTALL)


def number_in(text: str, field: str = "") -> float | None:
    """The number that *text* is, in degrees or metres if it is one of a direction; None where it is none."""
    match = _NUMBER.fullmatch(text.strip())
    factor = (_UNITS.get(field, {}) | {"": 1.0}).get(match[2].strip()) if match else None
    if match is None or factor is None or abs(value := float(match[1]) * factor) > 2**53:
        return None
    return round(value, 12) if factor != 1.0 else value
