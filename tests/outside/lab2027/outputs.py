"""Scores as tables for our papers."""

from __future__ import annotations

from collections.abc import Iterator

from seldio.reports import Options, Output, Subject
from seldio.reports.sections import sections

_SPECIAL = str.maketrans({each: f"\\{each}" for each in "&%$#_{}"} | {"°": r"$^\circ$", "↑": "", "↓": ""})


def latex(subject: Subject, options: Options) -> Iterator[str]:
    """A tabular for each table of scores."""
    for section in sections(subject, options):
        for table in section.tables:
            rows = [[column.shown(cell) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
            sides = "".join("r" if numeric else "l" for numeric in table.numeric)
            yield f"% {table.title}\n\\begin{{tabular}}{{{sides}}}\n"
            for cells in ([column.header for column in table.columns], *rows):
                yield " & ".join(cell.translate(_SPECIAL).strip() for cell in cells) + r" \\" + "\n"
            yield "\\end{tabular}\n"


OUTPUTS = (Output("latex", latex, findings=False),)
