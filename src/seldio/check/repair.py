"""Repair files on disk: check, fix, and check again until nothing changes; then write each file once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from seldio.check.fixes import Fixed, fix
from seldio.check.validation import Examined
from seldio.files import many_files, write_bytes
from seldio.formats import Format, TextFile
from seldio.formats.detect import MARGIN, detect, means_the_same
from seldio.formats.label_csv import Dialect
from seldio.rules import CATALOGUE
from seldio.text import plural

#: One repair can lay bare the next (a delimiter, then radians); more rounds than this never occur.
ROUNDS = 6

#: Checks all sources again, with these contents in place of those on disk.
Check = Callable[[Mapping[str, bytes]], list[Examined]]


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
                fixed = _fixed(file, format, found, unsafe) if found else None
                if fixed is not None and fixed.codes:
                    yield fixed


def _certain(file: TextFile, format: Dialect) -> bool:
    """Whether a file without a header can be nothing but *format*: the header says so for good."""
    found = detect([file])
    rest = [one for one in found.possible if not means_the_same(one.format, format)]
    firm = all(one.points < found.candidates[0].points - 2 * MARGIN for one in rest)
    return found.format is not None and found.format.name == format.name and firm


def _fixed(file: TextFile, format: Dialect, codes: set[str], unsafe: bool) -> Fixed | None:
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
