"""Tables as CSV that is safe to open in a spreadsheet, with every digit.

A column with intervals is followed by ``NAME_low``, ``NAME_high`` and ``NAME_mark``, which is ``weak`` or
``unreliable`` where too little tells of the interval. A score that is not defined is ``nan``, a cell without anything
to say is empty. Shares are from 0 to 1.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from seldio.findings import Report
from seldio.reports.sections import findings_table
from seldio.reports.tables import Cell, Options, Subject, side_by_side
from seldio.text import printable

#: What a spreadsheet takes for a formula at the beginning of a cell; the apostrophe is what guards against it.
_FORMULA = re.compile(r"[=+\-@'＝＋－＠]")


def csv_text(subject: Subject, options: Options) -> Iterator[str]:
    """Yield the findings, or one table of scores, systems side by side; the overall score if none is named."""
    table = findings_table(subject) if isinstance(subject, Report) else side_by_side(subject, options.table)
    columns = table.cells_by_name()
    yield written([[*map(guarded, columns)], *([*map(_text, row)] for row in zip(*columns.values(), strict=True))])


def guarded(text: str) -> str:
    """Return *text* as a cell that a spreadsheet takes for text: behind an apostrophe if it looks like a formula.

    Controls and invisible characters are escaped.
    """
    plain = printable(text)
    return f"'{plain}" if _FORMULA.match(plain) else plain


def unguarded(cell: str) -> str:
    """Return the text of a guarded cell."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell[1:]) else cell


def _text(cell: Cell) -> str:
    return "" if cell is None else repr(cell) if isinstance(cell, int | float) else guarded(str(cell))


def written(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of cells as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
