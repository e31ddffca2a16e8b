"""Repair label files: what is safe, and, if asked, what is a good guess.

A fix works on the text of a file, line by line, and only for rules that found something in it. What no fix touches
stays byte for byte as it is; fixing twice changes nothing. On disk: check, fix, and check again until nothing changes;
then each file is written once.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from seldio import geometry
from seldio.check.validation import Examined
from seldio.files import many_files, write_bytes
from seldio.formats import Format, TextFile, cells, shapes
from seldio.formats.detect import MARGIN, detect, means_the_same, shape_of
from seldio.formats.diagnosis import delimiter_of, with_commas
from seldio.formats.label_csv import Dialect
from seldio.rules import CATALOGUE
from seldio.text import plural, printable

#: One repair can lay bare the next (a delimiter, then radians); more rounds than this never occur.
ROUNDS = 6

#: Checks all sources again, with these contents in place of those on disk.
Check = Callable[[Mapping[str, bytes]], list[Examined]]

Row = list[str]

_MARK = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_PLAIN = cells.PATTERNS["real"]
_LINE_ENDS = {"SYN105", "SYN106", "SYN107"}


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    """A repaired file: its old and new bytes, and the codes that the repair went for."""

    path: str
    before: bytes
    after: bytes
    codes: tuple[str, ...]

    def diff(self) -> Iterator[str]:
        """A unified diff, safe to print; line ends other than LF are shown."""
        old, new = (_LINE.findall(_decoded(data)) for data in (self.before, self.after))
        if old == new and self.before != self.after:
            yield from (f"--- {printable(self.path)}", f"+++ {printable(self.path)}", r"\ UTF-16 becomes UTF-8")
        for line in difflib.unified_diff(old, new, self.path, self.path, n=1, lineterm="\n"):
            text = line.rstrip("\r\n")
            yield printable(text) + {"\r\n": "␍␊", "\r": "␍"}.get(line[len(text) :], "")
            if text == line:
                yield r"\ No newline at end of file"


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A line and how it ends: LF, CR LF, CR, or not at all."""

    text: str
    end: str

    @staticmethod
    def of(line: str) -> Line:
        """*line* with its end taken off."""
        text = line.rstrip("\r\n")
        return Line(text, line[len(text) :])

    @property
    def cells(self) -> Row:
        """What stands between the commas."""
        return self.text.split(",")


def fixable(codes: Collection[str], unsafe: bool) -> list[str]:
    """The codes that can be repaired, with guesses if *unsafe*, in the order of their repair.

    Text comes before meaning, meaning (radians, swapped columns) before ranges and rounding.
    """
    wanted = ("safe", "unsafe") if unsafe else ("safe",)
    known = {code for code in codes if code in CATALOGUE and CATALOGUE[code].fix in wanted}
    if "SYN113" in codes:  # what the header says against the columns would be lost with it
        known.discard("SYN111")
    return sorted(known, key=lambda code: (code[:3] != "SYN", code[:4] != "LAB3", code))


def fix(path: str, data: bytes, dialect: Dialect, codes: Collection[str], unsafe: bool = False) -> Fixed:
    """Repair a file of *dialect* in which rules *codes* found something."""
    todo = fixable(codes, unsafe)
    try:
        text = _decoded(data) if "SYN102" in todo else data.decode()
    except UnicodeDecodeError:  # no fix for that, and none without it
        return Fixed(path, data, data, ())
    mark = _MARK if text.startswith(_MARK) else ""
    lines = map(Line.of, _LINE.findall(text[len(mark) :]))
    fixed = "".join(line.text + line.end for line in _fixed(list(lines), dialect, todo))
    after = (("" if "SYN103" in todo else mark) + fixed).encode()
    return Fixed(path, data, after, tuple(todo) if after != data else ())


def _decoded(data: bytes) -> str:
    """The text of a file in UTF-16 or UTF-8."""
    text = cells.from_utf16(data)
    return data.decode() if text is None else text


def _fixed(lines: list[Line], dialect: Dialect, todo: list[str]) -> list[Line]:
    newline = next((line.end for line in lines if line.end), dialect.newline)
    if set(shapes.CODES) & set(todo):
        lines = _unshaped(lines, dialect)
    if "SYN108" in todo:
        lines = _without_torn(lines, dialect)
    if "SYN110" in todo:
        lines = [line for line in lines if line.text.strip()]
    final = not lines or bool(lines[-1].end)
    lines = [Line(line.text, line.end or newline) for line in lines]
    head, body = _parted(lines, dialect, todo, newline)
    for code in todo:
        if code in _ROWS:
            body = _by_row(body, dialect, _ROWS[code])
        elif code in _BODIES:
            body = _BODIES[code](body, dialect)
    lines = [*head, *body]
    if _LINE_ENDS & set(todo):
        lines = [Line(line.text, dialect.newline) for line in lines]
    return lines if final or not lines else [*lines[:-1], Line(lines[-1].text, "")]


def _unshaped(lines: list[Line], dialect: Dialect) -> list[Line]:
    """Rows in the shape of the layout."""
    whole = [line.text for line in lines if line.text.strip() and (line.end or len(lines) == 1)]
    shape = shape_of(whole, dialect)
    if shape is None or not shape.fixable:
        return lines
    if lines and shapes.counted(lines[0].text.split(",")):  # without the index, its numbers would be a row
        lines = lines[1:]
    return [Line(shape.line(line.text), line.end) for line in lines]


# --- lines -----------------------------------------------------------------------------------------


def _without_torn(lines: list[Line], dialect: Dialect) -> list[Line]:
    """All but a last row without a line end and with too few cells."""
    torn = lines and not lines[-1].end and lines[-1].text.count(",") + 1 < len(dialect.columns)
    return lines[:-1] if torn else lines


def _parted(lines: list[Line], dialect: Dialect, todo: list[str], newline: str) -> tuple[list[Line], list[Line]]:
    """The header and the rows, with commas between their cells; blank lines before a header count to it."""
    if "SYN120" in todo:
        lines = _separated(lines, dialect)
    at = next((number for number, line in enumerate(lines) if line.text.strip()), len(lines))
    names = [name.strip().strip('"').lower() for name in lines[at].text.split(",")] if at < len(lines) else []
    if dialect.header is None:
        titled = names and not any(map(cells.numeric, names)) and cells.wordy(names[0])
        return [], lines[:at] + lines[at + 1 :] if titled and "SYN111" in todo else lines
    if names == dialect.header.split(","):
        return lines[: at + 1], lines[at + 1 :]
    return [Line(dialect.header, newline)] if names and "SYN112" in todo else [], lines


def _separated(lines: list[Line], dialect: Dialect) -> list[Line]:
    """Commas in place of the sign that the first line has between its cells; rows that have commas stay."""
    width = len(dialect.columns)
    sign = delimiter_of(next((line.text for line in lines if line.text.strip()), ""), width)
    replaced = [Line(with_commas(line.text.encode(), sign).decode(), line.end) for line in lines]
    return [
        new if len(new.cells) == width or len(old.cells) == 1 else old for old, new in zip(lines, replaced, strict=True)
    ]


def _sorted(lines: list[Line], dialect: Dialect) -> list[Line]:
    """Rows by frame, in file order inside a frame; one without a number stays behind the row before it."""
    if any(line.text.count('"') % 2 for line in lines):  # a cell over several lines
        return lines
    at, frame = dialect.index("frame") or 0, -math.inf
    keys = []
    for line in lines:
        number = _number(line.cells[at]) if len(line.cells) > at else None
        frame = frame if number is None else number
        keys.append(frame)
    return [lines[number] for number in sorted(range(len(lines)), key=keys.__getitem__)]


def _without_duplicates(lines: list[Line], dialect: Dialect) -> list[Line]:
    """The first of rows whose numbers are equal."""
    seen: set[tuple[float | str, ...]] = set()
    kept = []
    for line in lines:
        key = tuple(cell.strip() if (value := _number(cell)) is None else value for cell in line.cells)
        if key not in seen or len(key) != len(dialect.columns):
            kept.append(line)
        seen.add(key)
    return kept


_BODIES: dict[str, Callable[[list[Line], Dialect], list[Line]]] = {
    "LAB201": _sorted,
    "LAB202": _without_duplicates,
}


# --- rows ------------------------------------------------------------------------------------------


def _by_row(lines: list[Line], dialect: Dialect, change: Callable[[Row, Dialect], Row]) -> list[Line]:
    """*change* applied to the cells of each row with the right number of them."""
    return [
        Line(",".join(change(line.cells, dialect)), line.end) if len(line.cells) == len(dialect.columns) else line
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
            (problem.repaired if problem is not None and problem.code == code else None) or cell
            for cell, problem in zip(row, problems, strict=True)
        ]

    return change


def _number(cell: str) -> float | None:
    text = cell.strip()
    return float(text) if _PLAIN.fullmatch(text.encode()) else None


def _written(value: float, kind: str) -> str:
    """A number as its column asks for it; whole ones are rounded, never cut off."""
    if kind in ("whole", "int"):
        return str(int(np.rint(value)))
    return f"{value + 0.0:.3f}" if kind.startswith("real3") else repr(value + 0.0)


def _on(field: str, change: Callable[[float, Dialect], float]) -> Callable[[Row, Dialect], Row]:
    """A change of the number in one column; spaces before it stay."""

    def changed(row: Row, dialect: Dialect) -> Row:
        at = dialect.index(field)
        value = _number(row[at]) if at is not None else None
        if at is None or value is None or (new := change(value, dialect)) == value:
            return row
        space = row[at][: len(row[at]) - len(row[at].lstrip())]
        return [*row[:at], space + _written(new, dialect.columns[at].kind), *row[at + 1 :]]

    return changed


def _both(*changes: Callable[[Row, Dialect], Row]) -> Callable[[Row, Dialect], Row]:
    def changed(row: Row, dialect: Dialect) -> Row:
        for change in changes:
            row = change(row, dialect)
        return row

    return changed


def _degrees(radians: float, _: Dialect) -> float:
    return math.degrees(radians)


def _wrapped(azimuth: float, dialect: Dialect) -> float:
    return float(geometry.fold(azimuth) if dialect.folded else geometry.wrap(azimuth))


def _swapped(row: Row, dialect: Dialect) -> Row:
    azimuth, elevation = dialect.index("azimuth"), dialect.index("elevation")
    if azimuth is None or elevation is None:
        return row
    swapped = {azimuth: row[elevation], elevation: row[azimuth]}
    return [swapped.get(number, cell) for number, cell in enumerate(row)]


def _rounded(row: Row, dialect: Dialect) -> Row:
    for part in dialect.columns:
        if part.kind == "whole":
            row = _on(part.field, lambda value, _: float(np.rint(value)))(row, dialect)
    return row


_ROWS: dict[str, Callable[[Row, Dialect], Row]] = {
    "SYN122": _repaired("SYN122"),
    "SYN123": _repaired("SYN123"),
    "SYN132": _repaired("SYN132"),
    "SYN137": _repaired("SYN137"),
    "SYN138": _repaired("SYN138"),
    "LAB103": _on("azimuth", _wrapped),
    "LAB205": _rounded,
    "LAB301": _both(_on("azimuth", _degrees), _on("elevation", _degrees)),
    "LAB303": _on("azimuth", _wrapped),
    "LAB304": _swapped,
    "LAB305": _on("class_id", lambda value, _: value - 1),
    "LAB308": _on("distance", lambda value, dialect: value * 100 if dialect.metre == 100 else value / 100),
    "LAB314": _on("elevation", lambda value, _: 90 - value),
    "LAB318": _on("distance", lambda value, dialect: value * (dialect.metre or 1) / 1000),
}


# --- on disk ---------------------------------------------------------------------------------------


def repairs(examined: Sequence[Examined], unsafe: bool, check: Check) -> list[Fixed]:
    """What a repair changes in each file; writes nothing.

    A change after which a file would be read as another layout is not made.
    """
    changes: dict[str, Fixed] = {}
    refused: set[str] = set()
    for _ in range(ROUNDS):
        fixed = [one for one in _round(examined, unsafe) if one.path not in refused]
        if not fixed:
            break
        tried = changes | {new.path: _after(changes.get(new.path), new) for new in fixed}
        then = check({path: change.after for path, change in tried.items()})
        moved = _moved(examined, then)
        if not moved:
            changes, examined = tried, then
            continue
        mine = moved & {new.path for new in fixed}
        refused |= mine or {new.path for new in fixed}  # or one change moves its neighbours: none of them is made
    return list(changes.values())


def _after(old: Fixed | None, new: Fixed) -> Fixed:
    """Two changes of a file, one after the other, as one."""
    if old is None:
        return new
    return dataclasses.replace(new, before=old.before, codes=tuple(dict.fromkeys((*old.codes, *new.codes))))


def _moved(before: Sequence[Examined], after: Sequence[Examined]) -> set[str]:
    """The files that had a layout, and do not have one that means the same by its columns any more."""
    old, new = _layouts(before), _layouts(after)
    return {
        path for path, format in old.items()
        if path not in new or not (format == new[path] or means_the_same(format, new[path]))
    }  # fmt: skip


def _layouts(examined: Sequence[Examined]) -> dict[str, Format]:
    return {path: labels.format for one in examined for labels in one.labels for path in labels.places}


def _round(examined: Sequence[Examined], unsafe: bool) -> Iterator[Fixed]:
    """The files that can be repaired, each repaired once."""
    codes: dict[str, set[str]] = {}
    for one in examined:
        for finding in one.report.findings:
            if finding.fixable:
                codes.setdefault(finding.path, set()).add(finding.code)
    for one in examined:
        for labels in one.labels:
            format = labels.format
            if not isinstance(format, Dialect):
                continue
            for path in labels.places:
                if path not in one.local or path not in codes:
                    continue
                file, found = labels.text(path), codes[path]
                if not labels.named and "SYN112" in found and not _certain(file, format):
                    found = found - {"SYN112"}
                fixed = _mended(file, format, found, unsafe) if found else None
                if fixed is not None and fixed.codes:
                    yield fixed


def _certain(file: TextFile, format: Dialect) -> bool:
    """Whether a file without a header can be nothing but *format*: the header says so for good."""
    found = detect([file])
    rest = [one for one in found.possible if not means_the_same(one.format, format)]
    firm = all(one.points < found.candidates[0].points - 2 * MARGIN for one in rest)
    return found.format is not None and found.format.name == format.name and firm


def _mended(file: TextFile, format: Dialect, codes: set[str], unsafe: bool) -> Fixed | None:
    """A file repaired; None where what is safe would change a value that can be read."""
    stored = file.stored if file.stored is not None else file.data
    safe = fix(file.path, stored, format, codes)
    if safe.codes and not _keeps(file, dataclasses.replace(file, data=safe.after, stored=None), format):
        return None
    return fix(file.path, stored, format, codes, unsafe) if unsafe else safe


def _keeps(before: TextFile, after: TextFile, format: Dialect) -> bool:
    """Whether all rows that can be read before can be read after, with the same values."""
    old, new = (format.read([file], lambda _: None).table.drop_columns("clip") for file in (before, after))
    if not set(old.column_names) <= set(new.column_names):
        return len(old) == 0
    new = new.select(old.column_names)
    if old.equals(new):
        return True
    rows = [Counter(zip(*(column.to_pylist() for column in table.columns), strict=True)) for table in (old, new)]
    return bool(rows[0] <= rows[1])


def nothing(examined: Sequence[Examined], unsafe: bool) -> str:
    """What to say where a repair changes nothing: that there is nothing to repair, or what stands in the way."""
    left = [finding for one in examined for finding in one.report.findings if finding.fixable]
    packed = sum(finding.packed for finding in left)
    guesses = sum(CATALOGUE[finding.code].fix == "unsafe" for finding in left if not finding.packed)
    reasons = []
    if guesses and not unsafe:
        reasons.append(f"{plural(guesses, 'finding needs', 'findings need')} --unsafe-fixes")
    if packed:
        where = f"{plural(packed, 'finding is', 'findings are')} in an archive or a stream"
        reasons.append(f"{where}: these are not rewritten, unpack them first")
    if other := len(left) - packed - (0 if unsafe else guesses):
        reasons.append(f"{plural(other, 'finding')} cannot be repaired without changing what the file is read as")
    return f"Nothing was repaired: {'; '.join(reasons)}." if reasons else "Nothing to repair."


def repair(examined: Sequence[Examined], unsafe: bool, check: Check) -> tuple[str, tuple[Fixed, ...], list[Examined]]:
    """Repair in place; return one sentence on what was done, the changes, and what *check* says then."""
    local = {path: real for one in examined for path, real in one.local.items()}
    changes = repairs(examined, unsafe, check)
    if not changes:
        return nothing(examined, unsafe), (), list(examined)
    with many_files():
        for change in changes:
            write_bytes(local[change.path], change.after)
    current = check({})
    before, left = plural(_count(examined), "finding"), _count(current)
    return f"Repaired {plural(len(changes), 'file')}: {before} before, {left:,} now.", tuple(changes), current


def _count(examined: Sequence[Examined]) -> int:
    return sum(len(one.report.findings) for one in examined)
