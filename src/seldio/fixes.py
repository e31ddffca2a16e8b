"""Repair label files: what is safe, and, if asked, what is a good guess.

A fix works on the text of a file, row by row, and only for rules that found something in it. What no
fix touches stays byte for byte as it is; fixing twice changes nothing.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Collection, Iterator

import numpy as np

from seldio import angles
from seldio.formats import cells
from seldio.formats.diagnosis import delimiter_of, physical_lines
from seldio.formats.label_csv import Dialect
from seldio.rules import CATALOGUE
from seldio.text import printable

Row = list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    """A repaired file: its old and new bytes, and the codes that the repair went for."""

    path: str
    before: bytes
    after: bytes
    codes: tuple[str, ...]

    def diff(self) -> Iterator[str]:
        """A unified diff, safe to print."""
        old, new = (data.decode("utf-8", "backslashreplace") for data in (self.before, self.after))
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), self.path, self.path, n=1
        )
        for line in lines:
            end = "␍␊" if line.endswith("\r\n") else "␍" if line.endswith("\r") else ""
            yield printable(line.rstrip("\r\n")) + end


def fixable(codes: Collection[str], unsafe: bool) -> list[str]:
    """The codes that can be repaired, with guesses if *unsafe*, in the order of their repair.

    Text comes before meaning, meaning (radians, swapped columns) before ranges and rounding.
    """
    wanted = ("safe", "unsafe") if unsafe else ("safe",)
    known = {code for code in codes if code in CATALOGUE and CATALOGUE[code].fix in wanted}
    return sorted(known, key=lambda code: (code[:3] != "SYN", code[:4] != "LAB3", code))


def fix(path: str, data: bytes, dialect: Dialect, codes: Collection[str], unsafe: bool = False) -> Fixed:
    """Repair a file of *dialect* in which rules *codes* found something."""
    todo = fixable(codes, unsafe)
    text = _text(data, dialect, todo)
    lines = [line.decode() for line in text.split(b"\n")]
    final = lines.pop() if lines else ""
    if final:
        lines.append(final)
    lines = _headed(lines, dialect, todo)
    head, body = (lines[:1], lines[1:]) if dialect.header and lines[:1] == [dialect.header] else ([], lines)
    for code in todo:
        if code in _ROWS:
            body = _by_row(body, dialect, _ROWS[code])
        elif code in _BODIES:
            body = _BODIES[code](body, dialect)
    end = "\n" if not final else ""
    newline = _newline(data, dialect, todo)
    after = newline.join([*head, *body]) + (newline if (end or "SYN108" in todo) and (head or body) else "")
    encoded = after.encode()
    return Fixed(path, data, encoded, tuple(todo)) if encoded != data else Fixed(path, data, data, ())


# --- the file as a whole ---------------------------------------------------------------------------


def _text(data: bytes, dialect: Dialect, todo: list[str]) -> bytes:
    """The lines with LF; the byte order mark kept unless it is to go; commas between the cells."""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") and "SYN103" not in todo else b""
    text = b"\n".join(physical_lines(data))
    if "SYN120" in todo:
        first = next((line for line in text.split(b"\n") if line.strip()), b"").decode()
        sign = delimiter_of(first, len(dialect.columns))
        if sign == " ":
            text = b"\n".join(b",".join(line.split()) for line in text.split(b"\n"))
        elif sign != ",":
            text = text.replace(b",", b".").replace(sign.encode(), b",")
    return mark + text


def _newline(data: bytes, dialect: Dialect, todo: list[str]) -> str:
    """The dialect's line end where that is to be repaired, else the one the file has."""
    if {"SYN105", "SYN106", "SYN107"} & set(todo):
        return dialect.newline
    if b"\r\n" in data:
        return "\r\n"
    return "\r" if b"\r" in data else "\n"


def _headed(lines: list[str], dialect: Dialect, todo: list[str]) -> list[str]:
    if "SYN111" in todo and lines and dialect.header is None:
        return lines[1:]
    if "SYN112" in todo and dialect.header is not None and lines[:1] != [dialect.header]:
        return [dialect.header, *lines]
    return lines


# --- rows ------------------------------------------------------------------------------------------


def _by_row(lines: list[str], dialect: Dialect, change: Callable[[Row, Dialect], Row]) -> list[str]:
    """*change* applied to the cells of each row with the right number of them."""
    return [
        ",".join(change(row, dialect)) if len(row := line.split(",")) == len(dialect.columns) else line
        for line in lines
    ]


def _repaired(code: str) -> Callable[[Row, Dialect], Row]:
    """Cells that can only mean one thing, written so."""

    def change(row: Row, dialect: Dialect) -> Row:
        problems = [
            cells.problem(cell, part.kind, part.field, first=number == 0)
            for number, (cell, part) in enumerate(zip(row, dialect.columns, strict=True))
        ]
        return [
            problem.repaired if problem is not None and problem.code == code and problem.repaired is not None else cell
            for cell, problem in zip(row, problems, strict=True)
        ]

    return change


def _number(cell: str) -> float | None:
    return float(cell) if cells.numeric(cell) else None


def _written(value: float, kind: str) -> str:
    """A number as its column asks for it; whole ones are rounded, never cut off."""
    if kind in ("whole", "int"):
        return str(int(np.rint(value)))
    return f"{value + 0.0:.3f}" if kind.startswith("real3") else repr(value + 0.0)


def _on(field: str, change: Callable[[float, Dialect], float]) -> Callable[[Row, Dialect], Row]:
    """A change of the number in one column."""

    def changed(row: Row, dialect: Dialect) -> Row:
        at = dialect.index(field)
        value = _number(row[at]) if at is not None else None
        if at is None or value is None or (new := change(value, dialect)) == value:
            return row
        return [*row[:at], _written(new, dialect.columns[at].kind), *row[at + 1 :]]

    return changed


def _both(*changes: Callable[[Row, Dialect], Row]) -> Callable[[Row, Dialect], Row]:
    def changed(row: Row, dialect: Dialect) -> Row:
        for change in changes:
            row = change(row, dialect)
        return row

    return changed


def _wrapped(azimuth: float, dialect: Dialect) -> float:
    return float(angles.fold(azimuth) if dialect.folded else angles.wrap(azimuth))


def _swapped(row: Row, dialect: Dialect) -> Row:
    azimuth, elevation = dialect.index("azimuth"), dialect.index("elevation")
    assert azimuth is not None and elevation is not None
    row = list(row)
    row[azimuth], row[elevation] = row[elevation], row[azimuth]
    return row


def _scaled(value: float, dialect: Dialect) -> float:
    return value * 100 if dialect.metre == 100 else value / 100


def _rounded(row: Row, dialect: Dialect) -> Row:
    return [
        _written(value, "whole") if part.kind == "whole" and (value := _number(cell)) is not None and value % 1 else cell
        for cell, part in zip(row, dialect.columns, strict=True)
    ]


def _degrees(value: float, dialect: Dialect) -> float:
    return math.degrees(value)


_ROWS: dict[str, Callable[[Row, Dialect], Row]] = {
    "SYN122": _repaired("SYN122"),
    "SYN123": _repaired("SYN123"),
    "SYN132": _repaired("SYN132"),
    "SYN137": _repaired("SYN137"),
    "LAB103": _on("azimuth", _wrapped),
    "LAB205": _rounded,
    "LAB301": _both(_on("azimuth", _degrees), _on("elevation", _degrees)),
    "LAB303": _on("azimuth", _wrapped),
    "LAB304": _swapped,
    "LAB305": _on("class_id", lambda value, _: value - 1),
    "LAB308": _on("distance", _scaled),
}


# --- lines -----------------------------------------------------------------------------------------


def _without_blanks(lines: list[str], dialect: Dialect) -> list[str]:
    return [line for line in lines if line.strip()]


def _without_torn(lines: list[str], dialect: Dialect) -> list[str]:
    return lines[:-1] if lines and lines[-1].count(",") + 1 < len(dialect.columns) else lines


def _sorted(lines: list[str], dialect: Dialect) -> list[str]:
    """Rows by frame, in file order inside a frame; left alone where a row has no frame number."""
    at = dialect.index("frame")
    frames = [_number(row[at]) if at is not None and len(row := line.split(",")) > at else None for line in lines]
    if any(frame is None for frame in frames):
        return lines
    order = sorted(range(len(lines)), key=lambda number: frames[number] or 0.0)
    return [lines[number] for number in order]


def _without_duplicates(lines: list[str], dialect: Dialect) -> list[str]:
    """The first of rows whose numbers are equal."""
    seen: set[tuple[float | str, ...]] = set()
    kept = []
    for line in lines:
        key = tuple(cell if (value := _number(cell)) is None else value for cell in line.split(","))
        if key not in seen:
            kept.append(line)
        seen.add(key)
    return kept


_BODIES: dict[str, Callable[[list[str], Dialect], list[str]]] = {
    "SYN108": _without_torn,
    "SYN110": _without_blanks,
    "LAB201": _sorted,
    "LAB202": _without_duplicates,
}
