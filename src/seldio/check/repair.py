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
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from seldio.check import gate
from seldio.check.allowed import ALLOWED, number, within
from seldio.check.validation import Examined
from seldio.files import many_files, write_bytes
from seldio.formats import LabelFormat, TextFile, cells, diagnosis
from seldio.formats.detect import MARGIN, detect, means_the_same
from seldio.formats.label_csv import Dialect
from seldio.formats.shapes import CODES
from seldio.rules import CATALOGUE
from seldio.text import Displayed, plural, printable

#: One repair can lay bare the next (a delimiter, then radians); more rounds than this never occur.
ROUNDS = 6
#: The rules whose repair writes answers in the form of their format.
FORMS = ("QAI121", "QAI128")

#: Checks all sources again, with these contents instead of those on disk.
Check = Callable[[Mapping[str, bytes]], list[Examined]]

_MARK = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_PLAIN = cells.PATTERNS["real"]
_LINE_ENDS = {"SYN105", "SYN106", "SYN107"}


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Fixed(Displayed):
    """A repaired file: its old and new bytes, and the codes that the repair went for."""

    path: str
    before: bytes
    after: bytes
    codes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.path}: {', '.join(self.codes)}", *self.diff()])

    def diff(self) -> Iterator[str]:
        """A unified diff, safe to print; line ends other than LF are shown."""
        old, new = (_LINE.findall(_decoded(data)) for data in (self.before, self.after))
        if old == new and self.before != self.after:
            yield from (f"--- {printable(self.path)}", f"+++ {printable(self.path)}", r"\ UTF-16 becomes UTF-8")
        for line in difflib.unified_diff(old, new, self.path, self.path, n=1, lineterm="\n"):
            text = line.rstrip("\r\n")
            yield "\t".join(map(printable, text.split("\t"))) + {"\r\n": "␍␊", "\r": "␍"}.get(line[len(text) :], "")
            if text == line:
                yield r"\ No newline at end of file"


class Line(NamedTuple):
    """A line and how it ends: LF, CR LF, CR, or not at all."""

    text: str
    end: str


def fixable(codes: Collection[str], unsafe: bool) -> list[str]:
    """The codes that can be repaired, with guesses if *unsafe*, in the order of their repair.

    Text comes before meaning, meaning (radians, swapped columns) before ranges and rounding.
    """
    wanted = ("safe", "unsafe") if unsafe else ("safe",)
    known = {code for code in codes if code in CATALOGUE and CATALOGUE[code].fix in wanted}
    if "SYN113" in codes:  # what the header says against the columns would be lost with it
        known.discard("SYN111")
    return sorted(known, key=lambda code: (code[:3] != "SYN", code[:4] != "LAB3", code))


def fix(path: str, data: bytes, dialect: LabelFormat, codes: Collection[str], unsafe: bool = False) -> Fixed:
    """Repair a file of *dialect* in which rules *codes* found something."""
    todo = fixable(codes, unsafe)
    try:
        text = _decoded(data) if "SYN102" in todo else data.decode()
    except UnicodeDecodeError:  # no fix for that, and none without it
        return Fixed(path, data, data, ())
    mark = _MARK if text.startswith(_MARK) else ""
    text = text[len(mark) :]
    if not isinstance(dialect, Dialect):
        fixed = dialect.repaired(text, todo)
    else:
        if not set(todo) <= _LINE_ENDS:
            text = diagnosis.repaired(text, dialect, todo)
        fixed = _fixed(text, dialect, todo)
    after = (("" if "SYN103" in todo else mark) + fixed).encode()
    return Fixed(path, data, after, tuple(todo) if after != data else ())


def _decoded(data: bytes) -> str:
    """The text of a file in UTF-16 or UTF-8."""
    text = cells.from_utf16(data)
    return data.decode() if text is None else text


def _fixed(text: str, dialect: Dialect, todo: list[str]) -> str:
    """*text* with the rows that rules for labels found changed, and with the line ends of the format."""
    lines = [Line(line.rstrip("\r\n"), line[len(line.rstrip("\r\n")) :]) for line in _LINE.findall(text)]
    final = not lines or bool(lines[-1].end)
    newline = next((line.end for line in lines if line.end), dialect.newline)
    lines = [Line(line.text, line.end or newline) for line in lines]
    first = next((number for number, line in enumerate(lines) if line.text.strip()), 0)
    start = first + 1 if lines and diagnosis.headed_by(lines[first].text, dialect.header) else 0
    for code in todo:
        if code == "LAB201":
            lines[start:] = _sorted(lines[start:], dialect)
        elif code == "LAB202":
            lines[start:] = _without_duplicates(lines[start:], dialect)
        elif code[:3] == "LAB" and code not in CODES:  # the diagnosis mends a shape
            lines[start:] = [Line(_changed(line.text, dialect, code), line.end) for line in lines[start:]]
    if _LINE_ENDS & set(todo):
        lines = [Line(line.text, dialect.newline) for line in lines]
    fixed = "".join(line.text + line.end for line in lines)
    return fixed if final or not lines else fixed.removesuffix(lines[-1].end)


def _sorted(lines: list[Line], dialect: Dialect) -> list[Line]:
    """Rows by frame, in file order inside a frame; a blank line stays behind the row before it.

    As they are if a line has no frame number, or leaves a quote open: nobody knows where it belongs.
    """
    at, keys = dialect.index("frame") or 0, [-math.inf]
    for line in lines:
        frame = number("".join(line.text.split(",")[at : at + 1]))
        if (frame is None and line.text.strip()) or line.text.count('"') % 2:
            return lines
        keys.append(keys[-1] if frame is None else frame)
    return [lines[place] for place in sorted(range(len(lines)), key=keys[1:].__getitem__)]


def _without_duplicates(lines: list[Line], dialect: Dialect) -> list[Line]:
    """The first of rows whose numbers are equal."""
    seen: set[tuple[float | str, ...]] = set()
    kept = []
    for line in lines:
        key = tuple(cell.strip() if (value := number(cell)) is None else value for cell in line.text.split(","))
        if key not in seen or len(key) != len(dialect.columns):
            kept.append(line)
        seen.add(key)
    return kept


def _changed(text: str, dialect: Dialect, code: str) -> str:
    """A row with the values that are meant; spaces before them stay.

    In another unit a value is written as its column asks for it, otherwise with as many decimals as before.
    """
    row = text.split(",")
    if len(row) != len(dialect.columns):
        return text
    values = ALLOWED[code].values
    if ALLOWED[code].columns == "exchanged":
        one, other = (dialect.index(field) or 0 for field in values)
        row[one], row[other] = row[other], row[one]
    for field, change in values.items():
        at = dialect.index(field)
        value = number(row[at]) if at is not None and change.meant is not None else None
        if at is None or change.meant is None or value is None or (new := change.meant(value, dialect)) == value:
            continue
        kind, space = dialect.columns[at].kind, row[at][: len(row[at]) - len(row[at].lstrip())]
        if not change.unit:
            decimals = max(0, -int(Decimal(row[at].strip()).as_tuple().exponent))
            row[at] = f"{space}{new + 0.0:.{decimals}f}"
        elif kind in ("whole", "int"):  # rounded, never cut off
            row[at] = f"{space}{int(np.rint(new))}"
        else:
            row[at] = space + (f"{new + 0.0:.3f}" if kind.startswith("real3") else repr(new + 0.0))
    return ",".join(row)


# --- on disk ---------------------------------------------------------------------------------------


def repairs(examined: Sequence[Examined], unsafe: bool, check: Check) -> list[Fixed]:
    """What a repair changes in each file; writes nothing.

    A change that the gate refuses is not made.
    """
    changes: dict[str, Fixed] = {}
    kept: set[str] = set()  # files that stay as they are
    careful: set[str] = set() if unsafe else {path for one in examined for path in one.local}  # safe repairs alone
    for _ in range(2 * ROUNDS):
        fixed = [one for one in _round(examined, careful) if one.path not in kept]
        if not fixed:
            break
        tried = dict(changes)
        for new in fixed:  # two changes of a file, one after the other, are one
            old = changes.get(new.path, dataclasses.replace(new, codes=()))
            codes = tuple(dict.fromkeys((*old.codes, *new.codes)))
            tried[new.path] = dataclasses.replace(new, before=old.before, codes=codes)
        then = check({path: change.after for path, change in tried.items()})
        wrong = gate.refused(examined, then, {new.path: new.codes for new in fixed})
        if not wrong:
            changes, examined = tried, then
            continue
        mine = wrong & {new.path for new in fixed} or {new.path for new in fixed}  # or one moves its neighbors
        guessed = {new.path for new in fixed if any(CATALOGUE[code].fix == "unsafe" for code in new.codes)} & mine
        careful |= guessed
        kept |= mine - guessed
    return list(changes.values())


def _round(examined: Sequence[Examined], careful: Collection[str]) -> Iterator[Fixed]:
    """The files that can be repaired, each repaired once; those of *careful* without guesses."""
    codes: dict[str, set[str]] = {}
    for one in examined:
        for finding in one.report.findings:
            if finding.fixable:
                codes.setdefault(finding.path, set()).add(finding.code)
    for one in examined:
        for labels in one.labels:
            format = labels.format
            if not (format.repairable or format.own):
                continue
            for path in labels.files:
                if path not in one.local or path not in codes:
                    continue
                file, found = labels.files[path].file, codes[path]
                if format.own:  # whose cells are left as they are
                    if "SYN102" in found and file.stored is not None:
                        yield Fixed(path, file.stored, file.data, ("SYN102",))
                    continue
                if (
                    isinstance(format, Dialect)
                    and not labels.named
                    and "SYN112" in found
                    and not _certain(file, format)
                ):
                    found = found - {"SYN112"}
                fixed = _mended(file, format, found, path not in careful) if found else None
                if fixed is not None and fixed.codes:
                    yield fixed
        asked = {
            path: code for path, found in codes.items() for code in FORMS
            if code in found and path in one.local and (path not in careful or CATALOGUE[code].fix == "safe")
        }  # fmt: skip
        if asked:
            from seldio.check.answer_repair import with_answers_in_form
        for path, before, after in with_answers_in_form(one.questions, asked) if asked else ():
            yield Fixed(path, before, after, (asked[path],))


def _certain(file: TextFile, format: Dialect) -> bool:
    """Whether a file without a header can be nothing but *format*: the header says so for good."""
    found = detect([file])
    rest = [one for one in found.possible if not means_the_same(one.format, format)]
    firm = all(one.points < found.candidates[0].points - 2 * MARGIN for one in rest)
    return found.format is not None and found.format.name == format.name and firm


def _mended(file: TextFile, format: LabelFormat, codes: set[str], unsafe: bool) -> Fixed | None:
    """A file repaired; None where what is safe would change a value that can be read.

    A guess that goes beyond what the list says of it is not made.
    """
    stored = file.stored if file.stored is not None else file.data
    fixed = fix(file.path, stored, format, codes)
    if fixed.codes and not _keeps(file, dataclasses.replace(file, data=fixed.after, stored=None), format, fixed.codes):
        return None
    if not isinstance(format, Dialect):
        return fixed
    for code in (code for code in fixable(codes, unsafe) if CATALOGUE[code].fix == "unsafe"):
        tried = fix(file.path, fixed.after, format, {code}, unsafe)
        if tried.codes and within(fixed.after, tried.after, format, code):
            fixed = dataclasses.replace(fixed, after=tried.after, codes=(*fixed.codes, code))
    return fixed


def _keeps(before: TextFile, after: TextFile, format: LabelFormat, codes: Collection[str]) -> bool:
    """Whether all rows that can be read before can be read after, with the same values, in the order of the list."""
    old, new = (format.read([file], lambda _: None).table.drop_columns("clip") for file in (before, after))
    if not set(old.column_names) <= set(new.column_names):
        return len(old) == 0
    new = new.select(old.column_names)
    orders = [old]
    if any(ALLOWED[code].order == "by frame" for code in codes):
        orders.append(old.take(np.argsort(old["frame"].to_numpy(), kind="stable")))
    return any(one.equals(new) or _follows(one, new) for one in orders)


def _follows(old: pa.Table, new: pa.Table) -> bool:
    """Whether *new* has the rows of *old* in their order, and maybe others between them."""
    rows, rest = (zip(*(column.to_pylist() for column in table.columns), strict=True) for table in (old, new))
    return len(old) <= len(new) and all(row in rest for row in rows)


def nothing(examined: Sequence[Examined], unsafe: bool) -> str:
    """What to say where a repair changes nothing: that there is nothing to repair, or what stands in the way."""
    left = [finding for one in examined for finding in one.report.findings if finding.fixable]
    packed = Counter(finding.packed for finding in left if finding.packed is not None)
    guesses = sum(CATALOGUE[finding.code].fix == "unsafe" for finding in left if not finding.packed)
    reasons = []
    if guesses and not unsafe:
        reasons.append(f"{plural(guesses, 'finding needs', 'findings need')} --unsafe-fixes")
    for (then, why), count in packed.items():
        reasons.append(f"{plural(count, 'finding')} can be repaired once {then} ({why})")
    if other := len(left) - packed.total() - (0 if unsafe else guesses):
        reasons.append(f"{plural(other, 'finding')} cannot be repaired without changing the detected format")
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
    counts = f"{plural(_count(examined), 'finding')} before, {_count(current):,} left"
    return f"Repaired {plural(len(changes), 'file')}: {counts}.", tuple(changes), current


def _count(examined: Sequence[Examined]) -> int:
    return sum(len(one.report.findings) for one in examined)
