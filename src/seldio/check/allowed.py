"""The list of what each repair may do: to values, rows, columns and their order.

Repairs are made by it (:mod:`seldio.check.repair`), admitted by it (:mod:`seldio.check.gate`), and what one has made
of a file is held against it before anything is written. The page on repairs shows it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from seldio import geometry
from seldio.formats import cells
from seldio.formats.diagnosis import headed_by, plain_lines
from seldio.formats.label_csv import Dialect


class Edit(NamedTuple):
    """How values of a field change: in words, and the one that is meant, of the one that is written.

    Without *meant*, only the spelling changes. In another *unit*, a value is written as its column asks for it.
    """

    name: str
    meant: Callable[[float, Dialect], float] | None = None
    unit: bool = False


@dataclasses.dataclass(frozen=True)
class Allowed:
    """What the repair of a rule may do. What is not named stays as it is.

    Args:
        premise: what puts it in doubt: nothing, as every value reads as before; what speaks against the format in
            any of its files, or in the file itself; or that only some files of the whole set have the fault.
        values: the fields whose values may change, and how.
        rows: which rows may go.
        columns: which columns may go; "exchanged" are those of *values*.
        order: of the rows.
        least: rows of a set from which on its content tells the format, if nobody names that.
    """

    premise: Literal["none", "layout", "file", "set"] = "none"
    values: Mapping[str, Edit] = dataclasses.field(default_factory=dict)
    rows: Literal["kept", "repeated ones go"] = "kept"
    columns: Literal["kept", "an empty one goes", "one goes", "halves joined", "exchanged"] = "kept"
    order: Literal["kept", "by frame"] = "kept"
    least: int = 0


def _wrapped(azimuth: float, dialect: Dialect) -> float:
    return float(geometry.fold(azimuth) if dialect.folded else geometry.wrap(azimuth))


#: What leaves a direction where it is, however it is counted, so that it puts nothing in doubt.
WRAPPED = Edit("wrapped", _wrapped)
_SPELLED = {"all": Edit("spelling")}
_DEGREES = Edit("radians to degrees", lambda value, _: math.degrees(value), unit=True)
_EXCHANGED = Edit("exchanged")


def _scaled(value: float, dialect: Dialect) -> float:
    if value == dialect.unknown_distance:
        return value
    return value * 100 if dialect.metre == 100 else value / 100


_UNIT: dict[str, Callable[[float, Dialect], float]] = {
    "metres and centimetres": _scaled,
    "seconds to frames": lambda value, dialect: float(value / dialect.hop),
}
_METRES, _FRAMES = (Edit(name, meant, unit=True) for name, meant in _UNIT.items())

#: By rule, what its repair may do.
ALLOWED: dict[str, Allowed] = {
    "LAB103": Allowed("file", {"azimuth": WRAPPED}),
    "LAB201": Allowed("file", order="by frame"),
    "LAB202": Allowed("file", rows="repeated ones go"),
    "LAB301": Allowed("set", {"azimuth": _DEGREES, "elevation": _DEGREES}),
    "LAB303": Allowed("file", {"azimuth": WRAPPED}),
    "LAB304": Allowed("set", {"azimuth": _EXCHANGED, "elevation": _EXCHANGED}, columns="exchanged"),
    "LAB305": Allowed("set", {"class_id": Edit("less 1", lambda value, _: value - 1)}, least=50),
    "LAB308": Allowed("set", {"distance": _METRES}, least=50),
    "LAB316": Allowed("set", {"frame": _FRAMES}),
    "LAB320": Allowed("set", {"frame": _EXCHANGED, "class_id": _EXCHANGED}, columns="exchanged"),
    **dict.fromkeys(("QAI121", "QAI128"), Allowed("none", {"answer": Edit("letter or text of the same option")})),
    **dict.fromkeys(("SYN103", "SYN105", "SYN106", "SYN107", "SYN110"), Allowed()),
    **dict.fromkeys(("SYN111", "SYN112"), Allowed("layout")),
    **dict.fromkeys(("SYN114", "SYN145"), Allowed("set", columns="one goes")),
    **dict.fromkeys(("SYN102", "SYN120", "SYN122", "SYN123", "SYN131", "SYN132", "SYN137", "SYN138", "SYN503"),
                    Allowed("none", _SPELLED)),
    "SYN124": Allowed("layout", columns="an empty one goes"),
    "SYN125": Allowed("set", _SPELLED, columns="halves joined"),
}  # fmt: skip


def number(cell: str) -> float | None:
    """The number in a cell, None where there is none."""
    text = cell.strip()
    return float(text) if cells.PATTERNS["real"].fullmatch(text.encode()) else None


def within(before: bytes, after: bytes, dialect: Dialect, code: str) -> bool:
    """Whether a guess changed no more of the cells of a file than the list says of rule *code*."""
    allowed = ALLOWED[code]
    old, new = ([line.split(",") for line in plain_lines(data).decode().split("\n") if line.strip()]
                for data in (before, after))  # fmt: skip
    if allowed.rows != "kept":
        rest = iter(old)
        same = {tuple(map(_read, row)) for row in old} == {tuple(map(_read, row)) for row in new}
        return same and all(row in rest for row in new)
    if allowed.columns == "one goes":
        old = old[-len(new) :] if len(old) == len(new) + 1 else old  # the numbers of the columns go with an index
        places = range(len(old[0]) if len(old) == len(new) else 0)
        return any(all(row[:at] + row[at + 1 :] == left for row, left in zip(old, new, strict=True)) for at in places)
    if allowed.columns == "halves joined":
        return _signs(old) == _signs(new)
    fields = [part.field for part in dialect.columns]
    if allowed.columns == "exchanged":
        one, other = (fields.index(field) for field in allowed.values)
        order = [{one: other, other: one}.get(at, at) for at in range(len(fields))]
        head = int(bool(old) and headed_by(",".join(old[0]), dialect.header))
        old[head:] = [[row[at] for at in order] if len(row) == len(fields) else row for row in old[head:]]
    rounded = [0.501 if part.kind in ("int", "whole") else 1e-3 for part in dialect.columns]
    return len(old) == len(new) and all(
        one == other or (len(row) == len(line) == len(fields) and _meant(allowed, field, one, other, dialect, most))
        for row, line in zip(old, new, strict=True)
        for one, other, field, most in zip(row, line, fields, rounded, strict=False)
    )


def _meant(allowed: Allowed, field: str, old: str, new: str, dialect: Dialect, rounded: float) -> bool:
    change, value, then = allowed.values.get(field), number(old), number(new)
    if change is None or change.meant is None or value is None or then is None:
        return False
    return abs(change.meant(value, dialect) - then) <= (rounded if change.unit else 1e-6)


def _read(cell: str) -> float | str:
    return cell.strip() if (value := number(cell)) is None else value


def _signs(rows: list[list[str]]) -> str:
    """All cells without quotes and spaces, with one sign for decimals and between cells."""
    return "\n".join(",".join(row).replace(".", ",").replace('"', "").replace(" ", "") for row in rows)
