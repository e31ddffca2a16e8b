"""Repair files on disk: check, fix, and check again until nothing changes; then write each file once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from seldio.files import write_bytes
from seldio.fixes import Fixed, fix
from seldio.formats.label_csv import Dialect
from seldio.text import plural
from seldio.validation import Examined

#: One repair can lay bare the next (a delimiter, then radians); more rounds than this never occur.
ROUNDS = 6

#: Checks all sources again, with these contents in place of those on disk.
Check = Callable[[Mapping[str, bytes]], list[Examined]]


def repairs(examined: Sequence[Examined], unsafe: bool, check: Check) -> list[Fixed]:
    """What a repair changes in each file; writes nothing."""
    changes: dict[str, Fixed] = {}
    for _ in range(ROUNDS):
        fixed = list(_round(examined, unsafe))
        if not fixed:
            break
        for new in fixed:
            old = changes.get(new.path, Fixed(new.path, new.before, b"", ()))
            codes = tuple(dict.fromkeys((*old.codes, *new.codes)))
            changes[new.path] = dataclasses.replace(new, before=old.before, codes=codes)
        examined = check({path: change.after for path, change in changes.items()})
    return list(changes.values())


def _round(examined: Sequence[Examined], unsafe: bool) -> Iterator[Fixed]:
    """The files that can be repaired, each repaired once."""
    codes: dict[str, set[str]] = {}
    for one in examined:
        for finding in one.report.findings:
            codes.setdefault(finding.path, set()).add(finding.code)
    for one in examined:
        for recognised in one.recognised:
            format, parts = recognised.reading.format, recognised.reading.parts
            if not isinstance(format, Dialect):
                continue
            for file in (part.file for part in parts if part.file.path in one.local):
                fixed = fix(file.path, file.data, format, codes.get(file.path, set()), unsafe)
                if fixed.codes:
                    yield fixed


def repair(examined: Sequence[Examined], unsafe: bool, check: Check) -> tuple[str, list[Examined]]:
    """Repair in place; return one sentence on what was done, and what *check* says then."""
    local = {path: real for one in examined for path, real in one.local.items()}
    changes = repairs(examined, unsafe, check)
    if not changes:
        return "Nothing to repair.", list(examined)
    for change in changes:
        write_bytes(local[change.path], change.after)
    current = check({})
    before, left = plural(_count(examined), "finding"), _count(current)
    return f"Repaired {plural(len(changes), 'file')}: {before} before, {left:,} now.", current


def _count(examined: Sequence[Examined]) -> int:
    return sum(len(one.report.findings) for one in examined)
