"""The cells of label files: the kinds of columns, how their values are printed, and what they look like.

Numbers are plain decimals of ASCII digits: what Python's ``int`` and ``float`` accept beyond that (``1_0``, Arabic
digits, ``nan``) is not data. Expressions are written so that Python and Arrow read them alike, and take time in
proportion to the input.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from seldio.findings import Finding, Rule
from seldio.reader_rules import READER_RULES
from seldio.text import plural


@dataclasses.dataclass(frozen=True, slots=True)
class CellKind:
    """A kind of cell: what it matches, what is expected for messages, and numpy values as what prints so."""

    pattern: str
    says: str
    render: Callable[[Any], list[Any]]


def _whole(values: Any) -> list[int]:
    # rint rounds halves to even, as the official writer's round() does; never cut off
    numbers = values if values.dtype.kind in "iub" else np.rint(values)
    return [*numbers.astype(np.int64).tolist()]


def _real(values: Any) -> list[float]:
    return [*values.astype(np.float64).tolist()]


def _real3(values: Any) -> list[str]:
    # adding 0.0 turns -0.0 into 0.0
    return ["%.3f" % value for value in (np.round(values, 3) + 0.0).tolist()]  # noqa: UP031


# At most nine digits of value, which an int32 holds; leading zeros do not count.
DIGITS = r"(?:[0-9]{1,9}|0+[0-9]{0,9})"
UNSIGNED = rf"(?:{DIGITS}(?:\.[0-9]*)?|\.[0-9]+)"
_DECIMAL = f"-?{UNSIGNED}"
# No exponent that could lead out of the floats: such a number is always finite.
_REAL = rf"{_DECIMAL}(?:e(?:-[0-9]{{1,3}}|\+?[0-9]{{1,2}}))?"
# Characters that hide or reorder text: C1 controls, soft hyphen, marks of direction, zero widths.
_HIDDEN = "\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_LETTER = rf'[^,"\x00-\x1f{_HIDDEN}]'

KINDS: dict[str, CellKind] = {
    "int": CellKind(f"-?{DIGITS}", "a whole number", _whole),
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
        message, hint = f"byte 0x{byte.hex()} is not UTF-8", "save the file as UTF-8, not Latin-1 or Windows-1251"
        return _at(READER_RULES["SYN101"], path, data, error.start, message, byte.decode("latin-1"), hint)
    return None


def _at(rule: Rule, path: str, data: bytes, position: int, message: str, value: str, hint: str) -> Finding:
    """Return a finding about one byte; a byte order mark does not count as a character of line 1."""
    before = plain_lines(data[:position])
    behind = re.split(rb"[\r\n]", data[position:], maxsplit=1)[0]
    line = before[before.rfind(b"\n") + 1 :].decode(errors="replace")
    excerpt, column = line + behind.decode(errors="replace"), len(line) + 1
    return rule.at(path, message, hint, before.count(b"\n") + 1, column, value, excerpt)


# --- what cells look like -----------------------------------------------------------------------

#: Minus signs and dashes that word processors and spreadsheets put instead of a minus.
DASHES = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"
_TYPESET = str.maketrans(dict.fromkeys(DASHES, "-") | dict.fromkeys("°º˚"))
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
