"""One cell: why it is not what its column asks for."""

from __future__ import annotations

import codecs
import dataclasses
import re

from seldio.findings import Finding, Severity
from seldio.formats.grammar import KINDS, cell_pattern
from seldio.text import clipped, plural, printable

ERROR, WARNING = Severity.ERROR, Severity.WARNING
_PATTERNS = {kind: cell_pattern(kind) for kind in KINDS}
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_FORMULA = re.compile(r"[=@].*|[+-](?!(?:nan|inf\w*)\Z)[A-Za-z(@=].*", re.IGNORECASE)
_ANGLES = ("azimuth", "elevation")
_NOWHERE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: How files begin that are no text at all, and what they are.
_BINARY = {
    b"PK\x03\x04": "an Excel workbook or another zip", b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "packed with gzip", b"%PDF-": "a PDF", b"\x89HDF\r\n": "HDF5", b"\x93NUMPY": "an array of numpy",
    b"SQLite format 3\0": "an SQLite database", b"PAR1": "Parquet",
}  # fmt: skip
#: Minus signs and dashes that word processors and spreadsheets put in place of a minus.
_DASHES = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"
_TYPESET = str.maketrans(dict.fromkeys(_DASHES, "-") | dict.fromkeys("°º˚"))


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a cell.

    Args:
        shift: where in the cell the offending text begins.
        repaired: the cell as it can only be meant, or None.
    """

    code: str
    message: str
    value: str
    hint: str
    severity: Severity = ERROR
    shift: int = 0
    repaired: str | None = None
    fixable: bool = False


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
        return Finding("SYN115", ERROR, f"this is no text: by its first bytes it is {kind}", path, 1, 1,
                       hint="export the table as CSV (UTF-8); another name does not change what a file is")  # fmt: skip
    if data.startswith(_UTF16) or from_utf16(data) is not None:
        marked = "" if data.startswith(_UTF16) else ", without its mark"
        return Finding("SYN102", ERROR, f"the file is UTF-16{marked}, not UTF-8", path, 1, 1,
                       hint="save it as UTF-8 (in a spreadsheet: as CSV, not as Unicode text)")  # fmt: skip
    if (position := data.find(b"\0")) >= 0:
        line, column, excerpt = _at(data, position)
        count = data.count(b"\0")
        message = f"{plural(count, 'NUL byte')} in the file"
        return Finding(
            "SYN104",
            ERROR,
            message,
            path,
            line,
            column,
            column + 1,
            "\0",
            "zeros are what a power loss leaves, or UTF-16 without a mark: write the file again",
            excerpt=excerpt,
        )
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line, column, excerpt = _at(data, error.start)
        byte = data[error.start : error.start + 1]
        return Finding("SYN101", ERROR, f"byte 0x{byte.hex()} is not UTF-8", path, line, column, column + 1,
                       byte.decode("latin-1"), "save the file as UTF-8; Latin-1 text looks like this",
                       excerpt=excerpt)  # fmt: skip
    return None


def _at(data: bytes, position: int) -> tuple[int, int, str]:
    """Line, column and line text of a byte position; a byte order mark is no character of line 1."""
    before = data[:position].removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start = before.rfind(b"\n") + 1
    rest = re.compile(rb"[^\r\n]*+").match(data, position)
    assert rest is not None
    line = before[start:].decode(errors="replace")
    return before.count(b"\n") + 1, len(line) + 1, line + rest.group().decode(errors="replace")


def control_character(cell: str) -> Problem | None:
    """A terminal escape, bidirectional control or other invisible character in *cell*."""
    match = _CONTROL.search(cell)
    if match is None:
        return None
    message = f"an invisible control character ({printable(match.group())}) in a cell"
    hint = "remove it: it can rewrite a terminal or hide text"
    return Problem("SAF201", message, match.group(), hint, shift=match.start())


def problem(cell: str, kind: str, field: str, first: bool) -> Problem | None:
    """What is wrong with *cell* in a column of *kind*; None where nothing is.

    Spaces before a number are legal behind a comma, not at the start of a row (*first*).
    """
    if _PATTERNS[kind].fullmatch(cell.encode()):  # by far the most cells of a bad row
        return None
    text = cell.strip()
    if _fits(kind, text):
        return _spaces(cell, text, first)
    shift = len(cell) - len(cell.lstrip())
    found = control_character(cell) or _other(text, kind, field)
    return dataclasses.replace(found, shift=shift) if shift and found.code != "SAF201" else found


def _fits(kind: str, text: str) -> bool:
    return _PATTERNS[kind].fullmatch(text.encode()) is not None


def _spaces(cell: str, text: str, first: bool) -> Problem | None:
    leading = cell[: len(cell) - len(cell.lstrip())]
    if cell.endswith(text) and not leading.strip(" ") and not (first and leading):
        return None
    return Problem("SYN123", "white space around a number, other than spaces after a comma", cell,
                   "remove it", WARNING, repaired=text, fixable=True)  # fmt: skip


def _other(text: str, kind: str, field: str) -> Problem:
    """The problem of a non-matching cell without control characters."""
    shown, expected = clipped(text, 40), KINDS[kind].says
    if not text:
        return Problem("SYN135", f"{field} is empty", text, f"every cell of a row holds {expected}")
    if len(text) > 1 and text[0] == text[-1] == '"':
        inside = text[1:-1].strip()
        clean = inside if _fits(kind, inside) else None
        return Problem("SYN122", f"{field} is in quotes: {shown}", text, "numbers stand without quotes",
                       repaired=clean, fixable=clean is not None)  # fmt: skip
    if kind == "flag":
        return Problem("SYN136", f"{field} is {shown}, and can only be 0 or 1", text, "1: in the picture, 0: not")
    if _FORMULA.fullmatch(text):
        hint = f"expected {expected}; a spreadsheet runs this cell when it opens the file"
        return Problem("SAF202", f"{field} holds a spreadsheet formula: {shown}", text, hint)
    return _number(text, kind, field, shown, expected)


def _number(text: str, kind: str, field: str, shown: str, expected: str) -> Problem:
    """The problem of a cell that is, or nearly is, a number."""
    if _NOWHERE.fullmatch(text):
        return Problem("SYN133", f"{field} is {shown}, which is no place", text,
                       "leave the row out where nothing was detected")  # fmt: skip
    if re.fullmatch(r"[+-]?[0-9]{10,}(\.[0-9]*)?", text):
        digits = len(text.lstrip("+-").partition(".")[0])
        return Problem("SYN134", f"{field} has {digits:,} digits: {clipped(text, 20)}", text,
                       "no frame, class or angle needs more than nine")  # fmt: skip
    plain = plainly(text)
    if plain != text and _fits(kind, plain) and (field in _ANGLES or not set(text) & set("°º˚")):
        sign = "a degree sign" if set(text) & set("°º˚") else "a dash in place of the minus"
        return Problem("SYN138", f"{field} is written with {sign}: {shown}", text,
                       "write numbers with the characters 0-9, - and . alone",
                       repaired=plain, fixable=True)  # fmt: skip
    plain = text.removeprefix("+")
    if plain != text and _fits(kind, plain):
        return Problem("SYN137", f"{field} is written with a plus sign: {shown}", text,
                       "write numbers as plain decimals", WARNING, repaired=plain, fixable=True)  # fmt: skip
    if kind in ("int", "flag") and (match := re.fullmatch(r"(-?[0-9]{1,9})\.([0-9]*)", text)):
        whole = match[1] if not match[2].strip("0") else None
        return Problem("SYN132", f"{field} is {shown}, and must be a whole number", text,
                       "write it without a decimal point: the official loaders call int() on it",
                       repaired=whole, fixable=whole is not None)  # fmt: skip
    if numeric(text):
        return Problem("SYN131", f"{field} is {shown}, which is no plain decimal", text,
                       f"write {expected} with the digits 0-9: Python reads this as {float(text):g}, "
                       "others do not")  # fmt: skip
    if kind != "name" and re.fullmatch(r"0[xXoObB][0-9A-Fa-f]+", text):
        return Problem("SYN131", f"{field} is {shown}, which is no plain decimal", text, f"write {expected}")
    hint = "leave the row out where nothing was detected"
    if field == "class_id":
        hint = "write the number of the class, from 0: seldio formats names the class list"
    return Problem("SYN130", f"{field} is {shown}, not {expected}", text, hint)
