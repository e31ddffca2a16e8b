"""A column that the user wants gone, taken out of all label files where what remains fits a format."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seldio.check.repair import Check, Fixed
from seldio.check.validation import Examined
from seldio.errors import UsageError
from seldio.files import DEFAULTS
from seldio.files.names import is_csv
from seldio.files.streams import read_regular
from seldio.formats import TextFile, cells
from seldio.formats.detect import detect
from seldio.text import clipped, listed, plural, printable

_END = re.compile(r"(\r\n|\r|\n)")


def without_column(examined: Sequence[Examined], column: int, check: Check) -> tuple[dict[str, Fixed], str]:
    """The label files on disk without their *column*, counted from 1, and a sentence that says what went.

    Raises:
        UsageError: there is no such column in each row of each file, or what remains fits no format.
        InvalidData: a file cannot be read.
    """
    questions = {file.entry.path for one in examined for part, _ in one.questions for file in part.files}
    tables = {path: real for one in examined for path, real in one.local.items()
              if is_csv(path) and path not in questions}  # fmt: skip
    if not tables:
        raise UsageError("--drop-column: there is no label file with columns")
    changes, gone, widths = {}, list[str](), set[int]()
    for path, real in tables.items():
        before = read_regular(real, path, DEFAULTS.file_bytes)
        try:
            pieces = _END.split(before.decode())
        except UnicodeDecodeError:
            raise UsageError(f"--drop-column: {printable(path)} is not in UTF-8") from None
        sign = next((sign for sign in ";\t," if sign in pieces[0]), ",")
        for at, line in enumerate(pieces):
            if at % 2 or not line.strip():
                continue
            row = line.split(sign)
            widths.add(len(row))
            if len(widths) > 1 or len(row) < column or any(cell.count('"') % 2 for cell in row):
                where = f"{printable(path)}:{at // 2 + 1}"
                why = f"has {plural(len(row), 'cell')}" + (", other rows have not" if len(widths) > 1 else "")
                raise UsageError(f"--drop-column {column}: {where} {why}: {clipped(line)}")
            gone.append(row.pop(column - 1).strip(' "'))
            pieces[at] = sign.join(row)
        changes[path] = Fixed(path, before, "".join(pieces).encode(), ())
    after = check({path: change.after for path, change in changes.items()})
    layouts = {path: (group.format, group.named) for one in after for group in one.labels for path in group.places}
    found = detect([TextFile(path, path, path, change.after) for path, change in changes.items()])
    fits = {one.format.name for one in found.possible if found.sample.shape is None}
    for path in changes:
        format, named = layouts.get(path, (None, False))
        if format is None or not fits or (named and format.name not in fits):
            rest = f"what remains is not {format.name}" if named and format else "what remains fits no one format"
            more = f"; it may be {listed(sorted(fits), 3)}: say which with --format" if fits else ""
            raise UsageError(f"--drop-column {column}: {rest} ({printable(path)}){more}")
    names = listed(sorted({format.name for format, _ in layouts.values()}), 3)
    return changes, f"Dropped column {column} ({_shown(gone)}) from {plural(len(changes), 'file')}, now {names}."


def _shown(gone: Sequence[str]) -> str:
    """The values of a column, in few words."""
    numbers = [float(cell) for cell in gone if cells.PATTERNS["real"].fullmatch(cell.encode())]
    words = [clipped(cell, 20) for cell in dict.fromkeys(gone) if not cells.PATTERNS["real"].fullmatch(cell.encode())]
    span = [f"{min(numbers):g} to {max(numbers):g}"] if numbers else []
    return "; ".join([*([listed(words, 3)] if words else []), *span])
