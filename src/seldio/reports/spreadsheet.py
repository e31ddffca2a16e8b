"""Tables as CSV that is safe to open in a spreadsheet, with every digit."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from seldio.findings import JSON_KEYS, Report
from seldio.reports.sections import runs
from seldio.reports.tables import INTERVAL_PARTS, Cell, Interval, Options, Subject, Table, side_by_side
from seldio.text import printable

#: Columns of the long form.
LONG = ("system", "profile", "table", "row", "column", "value", *INTERVAL_PARTS)
#: What a spreadsheet takes for a formula at the beginning of a cell; the apostrophe is what guards against it.
_FORMULA = re.compile(r"[=+\-@'＝＋－＠]")


def csv_text(subject: Subject, options: Options) -> Iterator[str]:
    """Yield the findings; one table of scores, systems side by side; or all of them, a line for each number."""
    if isinstance(subject, Report):
        rows = (finding.as_dict() | {"ranges": " ".join(runs(finding))} for finding in subject.listed()[0])
        yield written([JSON_KEYS, *([_text(row[name]) for name in JSON_KEYS] for row in rows)])
    elif options.table is not None:
        yield write_table(side_by_side(subject, options.table))
    else:
        lines: list[Sequence[str]] = [LONG]
        for report in subject:
            if report.signature:
                signed = [guarded(report.system), report.profile, "signature", "", "", guarded(report.signature)]
                lines.append([*signed, *[""] * len(INTERVAL_PARTS)])
            for table in report.tables:
                for name, *cells in table.rows:
                    head = [guarded(text) for text in (report.system, report.profile, table.name, str(name))]
                    for column, cell in zip(table.columns[1:], cells, strict=True):
                        parts = (*cell, cell.mark) if isinstance(cell, Interval) else (cell, "", "", "")
                        if cell is not None:
                            lines.append([*head, guarded(column.name), *map(_text, parts)])
        yield written(lines)


def guarded(text: str) -> str:
    """Return *text* as a cell that a spreadsheet takes for text: behind an apostrophe if it looks like a formula.

    Controls and invisible characters are escaped.
    """
    plain = printable(text)
    return f"'{plain}" if _FORMULA.match(plain) else plain


def unguarded(cell: str) -> str:
    """Return the text of a guarded cell."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell[1:]) else cell


def write_table(table: Table) -> str:
    """Return one table; a column with intervals is followed by ``NAME_low``, ``NAME_high`` and ``NAME_mark``.

    The mark is ``weak`` or ``unreliable`` where too little tells of the interval. A score that is not defined is
    ``nan``, a cell without anything to say is empty. Shares are from 0 to 1.
    """
    columns = table.cells_by_name()
    return written([[*map(guarded, columns)], *([*map(_text, row)] for row in zip(*columns.values(), strict=True))])


def _text(cell: Cell) -> str:
    return "" if cell is None else repr(cell) if isinstance(cell, int | float) else guarded(str(cell))


def written(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of cells as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
