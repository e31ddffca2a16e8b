"""Repair files on disk: check, fix, and check again until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from seldio.files import write_bytes
from seldio.fixes import Fixed, fix
from seldio.formats.label_csv import Dialect
from seldio.text import plural
from seldio.validate import Examined

#: One repair can lay bare the next (a header, then blank lines behind it); more rounds than this never occur.
ROUNDS = 6


def repairs(examined: Sequence[Examined], unsafe: bool) -> Iterator[Fixed]:
    """What a repair changes, one file after another; writes nothing."""
    for one in examined:
        codes: dict[str, set[str]] = {}
        for finding in one.report.findings:
            codes.setdefault(finding.path, set()).add(finding.code)
        for recognised in one.recognised:
            for part in recognised.reading.parts:
                path, format = part.file.path, recognised.reading.format
                if path in codes and path in one.local and isinstance(format, Dialect):
                    fixed = fix(path, part.file.data, format, codes[path], unsafe)
                    if fixed.codes:
                        yield fixed


def repair(
    examined: Sequence[Examined], unsafe: bool, check: Callable[[], list[Examined]]
) -> tuple[str, list[Examined]]:
    """Repair in place; return one sentence on what was done, and what *check* says then."""
    before, files, current = _count(examined), set(), list(examined)
    for _ in range(ROUNDS):
        local = {path: real for one in current for path, real in one.local.items()}
        changes = list(repairs(current, unsafe))
        for change in changes:
            write_bytes(local[change.path], change.after)
            files.add(change.path)
        if not changes:
            break
        current = check()
    left = _count(current)
    if not files:
        return "Nothing to repair.", current
    return f"Repaired {plural(len(files), 'file')}: {plural(before, 'finding')} before, {left:,} now.", current


def _count(examined: Sequence[Examined]) -> int:
    return sum(len(one.report.findings) for one in examined)
