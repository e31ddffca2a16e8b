"""Repair label files: what is safe, and, if asked, what is a good guess.

A *safe* repair writes what was read, spelled otherwise; as many rows are read after it, in the same format. An
*unsafe* one is one named change of a whole set. What is in doubt is repaired by neither, and :func:`admitted` says so
in the report. A repair works on the text of a file, line by line; what it does not touch stays byte for byte, and
repairing twice changes nothing. On disk: check, repair, and check again until nothing changes; then each
file is written once.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from seldio import changes as label_changes
from seldio.changes import Change
from seldio.files import many_files, write_bytes
from seldio.findings import SINGLY, Finding, Severity
from seldio.formats import LabelFormat, LabelReading, TextFile, cells
from seldio.formats.detect import ENOUGH, detect, fits_of, means_the_same
from seldio.formats.diagnosis import repaired
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect, headed_by
from seldio.rules import catalogue
from seldio.schema.arrays import to_numpy
from seldio.text import Displayed, plural, printable

if TYPE_CHECKING:
    from seldio.check.validation import Examined

# --- what a repair rests on --------------------------------------------------------------------------------

#: Rules whose repair is in doubt where something speaks against the format in any of its files, or in the file itself.
_ON_LAYOUT, _ON_FILE = {"SYN111", "SYN112", "SYN124"}, {"LAB103", "LAB201", "LAB202", "LAB303"}
#: Rules whose repair is in doubt as well if only some files of the whole set have the fault.
_ON_SET = {"LAB301", "LAB304", "LAB305", "LAB308", "LAB316", "LAB320", "SYN114", "SYN125", "SYN145"}
#: Those of them whose set tells its format, if nobody names that, from so many rows on.
_LONG, _ROWS = ("LAB305", "LAB308"), 50
#: The rules whose repair leaves directions where they are.
_WRAPPED = ("LAB103", "LAB303")


# --- what is in doubt --------------------------------------------------------------------------------------

#: What says that a file is not what it is read as, wherever it is found as well as what is found in many of its rows.
_AGAINST = frozenset(
    ["SYN113", "SYN114", "SYN125", "SYN145", "SYN146", "SYN147", "SUB106", "LAB316", "LAB317", "LAB325", "LAB327"]
)
#: Metres that the farthest of all sources is beyond.
_NEAREST = 0.25
#: Share of the rows of a file from which on what is wrong with them is a fault of the format.
_MANY = 0.05


def admitted(groups: Sequence[LabelReading], findings: Sequence[Finding]) -> list[Finding]:
    """Return *findings*, of which those stay fixable whose repair nothing puts in doubt; the others say what does."""
    reasons: dict[int, str] = {}
    for group in groups:
        places = [place for place, finding in enumerate(findings) if finding.path in group.files]
        fixable = [place for place in places if findings[place].fixable]
        doubts = _doubts(group, [findings[place] for place in places]) if fixable else {}
        for code in {findings[place].code for place in fixable} & (_ON_LAYOUT | _ON_FILE | _ON_SET):
            alike = {place: findings[place] for place in fixable if findings[place].code == code}
            shared = _doubt_of_all(group, code, alike.values())
            another = None if group.named else _another_format(group, code)
            others = {other: paths for other, paths in doubts.items() if other != code}
            for place, finding in alike.items():
                against = sorted(other for other in others if code not in _ON_FILE or finding.path in others[other])
                if another is not None:
                    reasons[place] = f"{another}: --format {group.format.name} says that it is not so"
                elif against:
                    reasons[place] = f"not repaired because of {', '.join(against)}: the format is in doubt"
                elif shared is not None:
                    reasons[place] = shared
    judged = list(findings)
    for place, reason in reasons.items():
        hints = [hint for hint in (findings[place].hint or "").split("; ") if hint and "--unsafe-fixes" not in hint]
        judged[place] = dataclasses.replace(findings[place], fixable=False, hint="; ".join([*hints, reason]))
    return judged


def _doubts(group: LabelReading, findings: Iterable[Finding]) -> dict[str, set[str]]:
    """Return, by code, the files in which a finding speaks against the format that they are read as."""
    doubts: dict[str, set[str]] = defaultdict(set)
    places: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        places[finding.code, finding.path] += finding.count
        rows = group.files[finding.path].rows if finding.path in group.files else 0
        error = finding.severity is Severity.ERROR
        whole = finding.code in _AGAINST or (error and finding.code.startswith("LAB3"))
        often = places[finding.code, finding.path] > max(SINGLY - 1, _MANY * rows)
        rounded = (finding.code, group.format.role) == ("LAB205", "submission")  # decimals of what is no other unit
        wrong = error and catalogue()[finding.code].fix != "safe" and not rounded
        if finding.code not in _WRAPPED and (whole or (often and wrong)):
            doubts[finding.code].add(finding.path)
    return doubts


def _doubt_of_all(group: LabelReading, code: str, alike: Collection[Finding]) -> str | None:
    """Return why the findings *alike* do not show a fault of the whole set; None where they do."""
    if code not in _ON_SET:
        return None
    filled = {path for path, part in group.files.items() if part.file.data.strip()}
    if lacking := len(filled.difference(finding.path for finding in alike)):
        have = f"{len(filled) - lacking:,} of {len(filled):,} files"
        return f"not repaired, as only {have} have it: repair those separately"
    if len({(finding.excerpt or "")[: (finding.column or 1) - 1].count(",") for finding in alike}) > 1:
        return "not repaired, as it is a different column in other files"
    return None


def _another_format(group: LabelReading, code: str) -> str | None:
    """Return why the files may be of another format; None where they cannot."""
    format = group.format
    if not isinstance(format, Dialect):
        return None
    fields = [part.field for part in format.columns]
    for other in DIALECTS:
        more = [part.field for part in other.columns]
        if code == "SYN124" and more == [*fields, "distance"]:
            return f"or else the distances of {other.name} are missing"
        longer = len(more) == len(fields) + 1 and set(more) > set(fields)
        if code == "LAB308" and longer and other.metre != format.metre:
            return f"or else a column of {other.name} is missing"
    near = format.metre is not None and "distance" in group.table.column_names
    if code == "LAB304" and near and np.nanmax(to_numpy(group.table["distance"])) < _NEAREST:
        return "not repaired, as its distances do not look like distances, so the format is in doubt"
    if code in _LONG and group.table.num_rows < _ROWS:
        return f"not repaired, as {plural(group.table.num_rows, 'row')} may be of another format"
    return None


# --- the text of a file --------------------------------------------------------------------------------------

_MARK = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_LINE_ENDS = {"SYN105", "SYN106"}


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
        """Yield a unified diff, safe to print; line ends other than LF are shown."""
        old, new = (_LINE.findall(_decoded(data)) for data in (self.before, self.after))
        if old == new and self.before != self.after:
            yield from (f"--- {printable(self.path)}", f"+++ {printable(self.path)}", r"\ UTF-16 becomes UTF-8")
        for line in difflib.unified_diff(old, new, self.path, self.path, n=1, lineterm="\n"):
            text = line.rstrip("\r\n")
            yield "\t".join(map(printable, text.split("\t"))) + {"\r\n": "␍␊", "\r": "␍"}.get(line[len(text) :], "")
            if text == line:
                yield r"\ No newline at end of file"


def _decoded(data: bytes) -> str:
    text = cells.from_utf16(data)
    return data.decode() if text is None else text


def fix(path: str, data: bytes, format: LabelFormat, codes: Collection[str], unsafe: bool = False) -> Fixed:
    """Repair a file in which rules *codes* found something, with guesses if *unsafe*."""
    kinds = ("safe", "unsafe") if unsafe else ("safe",)
    todo = {code for code in codes if code in catalogue() and catalogue()[code].fix in kinds}
    if "SYN113" in codes:  # what the header says against the columns would be lost with it
        todo.discard("SYN111")
    # text comes before meaning, meaning (radians, swapped columns) before ranges and rounding
    ordered = sorted(todo, key=lambda code: (code[:3] != "SYN", code[:4] != "LAB3", code))
    try:
        text = _decoded(data) if "SYN102" in todo else data.decode()
    except UnicodeDecodeError:  # no repair for that, and none without it
        return Fixed(path, data, data, ())
    mark = _MARK if text.startswith(_MARK) else ""
    text = text[len(mark) :]
    if isinstance(format, Dialect):
        text = text if todo <= _LINE_ENDS else repaired(text, format, ordered)
        text = _with_rows_repaired(text, format, ordered)
    else:
        text = format.repaired(text, ordered)
    after = (("" if "SYN103" in todo else mark) + text).encode()
    return Fixed(path, data, after, tuple(ordered) if after != data else ())


def _with_rows_repaired(text: str, dialect: Dialect, codes: Sequence[str]) -> str:
    """Return *text* with the rows that rules for labels found changed, and with the line ends of the format."""
    lines: list[str] = _LINE.findall(text)
    if not lines:
        return text
    final = lines[-1].endswith(("\r", "\n"))
    newline = _end(lines[0]) or dialect.newline
    lines[-1] += "" if final else newline
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    start = first + headed_by(lines[first].rstrip("\r\n"), dialect.header)
    start = start if start > first else 0
    for code in codes:
        if code == "LAB201":
            lines[start:] = _sorted(lines[start:], dialect)
        elif code == "LAB202":
            lines[start:] = _without_duplicates(lines[start:], dialect)
        else:
            change = label_changes.BY_RULE.get(code)
            if code in _WRAPPED and dialect.folded:
                change = label_changes.FOLDED
            elif code == "LAB308" and dialect.metre != 100:
                change = label_changes.CENTIMETRES
            if change is not None:
                lines[start:] = [_changed(line, dialect, change) for line in lines[start:]]
    if _LINE_ENDS & {*codes}:
        lines = [line.rstrip("\r\n") + dialect.newline for line in lines]
    if not final:
        lines[-1] = lines[-1].removesuffix(_end(lines[-1]))
    return "".join(lines)


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _number(cell: str) -> float | None:
    text = cell.strip()
    return float(text) if cells.PATTERNS["real"].fullmatch(text) else None


def _sorted(lines: list[str], dialect: Dialect) -> list[str]:
    """Return rows by frame, in file order inside a frame; a blank line stays behind the row before it.

    As they are if a line has no frame number, or leaves a quote open: nobody knows where it belongs.
    """
    at, keys = dialect.index("frame") or 0, [-math.inf]
    for line in lines:
        frame = _number("".join(line.split(",")[at : at + 1]))
        if (frame is None and line.strip()) or line.count('"') % 2:
            return lines
        keys.append(keys[-1] if frame is None else frame)
    return [lines[place] for place in sorted(range(len(lines)), key=keys[1:].__getitem__)]


def _without_duplicates(lines: list[str], dialect: Dialect) -> list[str]:
    first_lines: dict[tuple[float | str, ...], str] = {}
    rows = []
    for line in lines:
        numbers = tuple(cell.strip() if (value := _number(cell)) is None else value for cell in line.split(","))
        if first_lines.setdefault(numbers, line) is line or len(numbers) != len(dialect.columns):
            rows.append(line)
    return rows


def _changed(line: str, dialect: Dialect, change: Change) -> str:
    """Return a row with the values that are meant; spaces before them stay.

    In another unit a value is written as its column asks for it, otherwise with as many decimals as before.
    """
    row = line.rstrip("\r\n").split(",")
    if len(row) != len(dialect.columns):
        return line
    places = {part.field: at for at, part in enumerate(dialect.columns)}
    if change.exchanges:
        left, right = (places[field] for field in change.exchanges)
        row[left], row[right] = row[right], row[left]
        return ",".join(row) + _end(line)
    numbers = {field: value for field, at in places.items() if (value := _number(row[at])) is not None}
    for field, value in change.undo(numbers).items():
        if value == numbers[field]:
            continue
        cell, kind, meant = row[places[field]], dialect.columns[places[field]].kind, float(value) + 0.0
        if not change.unit:
            text = f"{meant:.{max(0, -int(Decimal(cell.strip()).as_tuple().exponent))}f}"
        elif kind in ("whole", "int"):  # rounded, never cut off
            text = str(int(np.rint(meant)))
        else:
            text = f"{meant:.3f}" if kind.startswith("real3") else repr(meant)
        row[places[field]] = cell[: len(cell) - len(cell.lstrip())] + text
    return ",".join(row) + _end(line)


# --- on disk ---------------------------------------------------------------------------------------

#: One repair can lay bare the next (a delimiter, then radians); more rounds than this never occur.
ROUNDS = 6
#: The rules whose repair writes answers in the form of their format.
FORMS = ("QAI121", "QAI128")
#: Checks all sources again, with these contents instead of those on disk.
Check = Callable[[Mapping[str, bytes]], "list[Examined]"]


def repairs(examined: Sequence[Examined], unsafe: bool, check: Check) -> list[Fixed]:
    """Return the changes that a repair makes in each file; write nothing.

    Each change is tried in memory. One after which a file is in doubt is not made.
    """
    changes: dict[str, Fixed] = {}
    untouched: set[str] = set()
    careful: set[str] = set() if unsafe else {path for each in examined for path in each.local}  # safe repairs alone
    for _ in range(2 * ROUNDS):
        fixed = {change.path: change for change in _round(examined, careful) if change.path not in untouched}
        if not fixed:
            break
        tried = dict(changes)
        for path, change in fixed.items():  # two changes of a file, one after the other, are one
            earlier = changes.get(path, dataclasses.replace(change, codes=()))
            codes = tuple(dict.fromkeys((*earlier.codes, *change.codes)))
            tried[path] = dataclasses.replace(change, before=earlier.before, codes=codes)
        then = check({path: change.after for path, change in tried.items()})
        unsafe_codes = {path: {code for code in change.codes if _is_unsafe(code)} for path, change in fixed.items()}
        wrong = _refused(examined, then, unsafe_codes)
        if not wrong:
            changes, examined = tried, then
            continue
        wrong = wrong & fixed.keys() or {*fixed}  # or one moves its neighbors
        guessed = {path for path in wrong if unsafe_codes[path]}
        careful |= guessed
        untouched |= wrong - guessed
    return list(changes.values())


def _is_unsafe(code: str) -> bool:
    return catalogue()[code].fix == "unsafe"


def _refused(before: Sequence[Examined], after: Sequence[Examined], unsafe: Mapping[str, set[str]]) -> set[str]:
    """Return the files that must stay as they are, of those on which repairs were tried, with *unsafe* ones by path.

    None may be of another format then, or have fewer rows that can be read, unless repeated ones were removed.
    """
    old, new = (
        {path: group for each in examined for group in each.labels for path in group.files}
        for examined in (before, after)
    )
    refused = {
        path
        for path, group in old.items()
        if path not in new
        or not (group.format == new[path].format or means_the_same(group.format, new[path].format))
        or (group.files[path].rows > new[path].files[path].rows and "LAB202" not in unsafe.get(path, ()))
    }
    for examined in after:
        for group in examined.labels:
            guesses = {path: codes for path in group.files if (codes := unsafe.get(path))}
            whole = any(codes & _ON_SET for codes in guesses.values())
            doubts = _doubts(group, (f for f in examined.report.findings if f.path in group.files)) if guesses else {}
            doubtful = set().union(*doubts.values())
            refused |= {path for path in guesses if path in doubtful or (whole and doubtful)}
    return refused


def _round(examined: Sequence[Examined], careful: Collection[str]) -> Iterator[Fixed]:
    """Yield the files that can be repaired, each repaired once; those of *careful* without guesses."""
    codes: dict[str, set[str]] = defaultdict(set)
    for finding in (finding for source in examined for finding in source.report.findings if finding.fixable):
        codes[finding.path].add(finding.code)
    for source in examined:
        for group in source.labels:
            for path, part in group.files.items():
                if path in source.local and path in codes:
                    yield from _mended(part.file, group, codes[path], path not in careful)
        forms = {
            path: code
            for path in codes.keys() & source.local.keys()
            for code in FORMS
            if code in codes[path] and (path not in careful or not _is_unsafe(code))
        }
        if forms:
            from seldio.check.items import with_answers_in_form

            for path, before, after in with_answers_in_form(source.questions, forms):
                yield Fixed(path, before, after, (forms[path],))


def _mended(file: TextFile, group: LabelReading, codes: set[str], unsafe: bool) -> Iterator[Fixed]:
    """Yield a file repaired, if anything is."""
    format, stored = group.format, file.data if file.stored is None else file.stored
    if format.own:  # whose cells are left as they are
        if "SYN102" in codes and file.stored is not None:
            yield Fixed(file.path, file.stored, file.data, ("SYN102",))
        return
    if not format.repairable:
        return
    if "SYN112" in codes and isinstance(format, Dialect) and not group.named:
        # the header is added only if the rows fit no other format
        detected = detect([file])
        fits = {fit.format.name: fit for fit in fits_of(detected.rows)}
        others = [fit for fit in fits.values() if not means_the_same(fit.format, format)]
        certain = detected.format == format and fits[format.name].share >= ENOUGH
        if not certain or any(fit.possible for fit in others):
            codes = codes - {"SYN112"}
    fixed = fix(file.path, stored, format, codes, unsafe and isinstance(format, Dialect))
    if fixed.codes:
        yield fixed


def nothing(examined: Sequence[Examined], unsafe: bool) -> str:
    """Explain why a repair changes nothing: there is nothing to repair, or something stands in the way."""
    left = [finding for source in examined for finding in source.report.findings if finding.fixable]
    packed = Counter(finding.packed for finding in left if finding.packed is not None)
    guesses = sum(_is_unsafe(finding.code) for finding in left if not finding.packed) if not unsafe else 0
    reasons = [f"{plural(guesses, 'finding needs', 'findings need')} --unsafe-fixes"] if guesses else []
    for (then, why), count in packed.items():
        reasons.append(f"{plural(count, 'finding')} can be repaired once {then} ({why})")
    if other := len(left) - packed.total() - guesses:
        reasons.append(
            f"{plural(other, 'finding')} cannot be repaired without changing the detected format or losing rows"
        )
    return f"Nothing was repaired: {'; '.join(reasons)}." if reasons else "Nothing to repair."


def repair(examined: Sequence[Examined], unsafe: bool, check: Check) -> tuple[str, tuple[Fixed, ...], list[Examined]]:
    """Repair in place; return one sentence on what was done, the changes, and what *check* says then."""
    local = {path: real for source in examined for path, real in source.local.items()}
    changes = repairs(examined, unsafe, check)
    if not changes:
        return nothing(examined, unsafe), (), list(examined)
    with many_files():
        for change in changes:
            write_bytes(local[change.path], change.after)
    current = check({})
    before, after = (sum(len(source.report.findings) for source in sources) for sources in (examined, current))
    counts = f"{plural(before, 'finding')} before, {after:,} left"
    return f"Repaired {plural(len(changes), 'file')}: {counts}.", tuple(changes), current
