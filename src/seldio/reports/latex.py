r"""Scores as tables for a paper: ``booktabs``, numbers as people read them, and what they rest on as a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from seldio.reports.sections import meanings, sections
from seldio.reports.tables import Cell, Column, Options, ScoreReport, Table
from seldio.text import printable

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "°": r"$^{\circ}$", "↑": r"$\uparrow$",
    "↓": r"$\downarrow$", "∞": r"$\infty$", "<": r"$<$", ">": r"$>$", "|": r"$|$", "−": r"$-$", "…": r"\dots{}",
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))


def latex(subject: Sequence[ScoreReport], options: Options) -> Iterator[str]:
    """Yield the tables of *subject*; the package ``booktabs`` is all that they need."""
    yield "% Tables by seldio; they need \\usepackage{booktabs}.\n"
    for section in sections(subject, options):
        told = [section.headline, section.verdict, section.title, f"over {section.over}" if section.over else ""]
        told += [section.settings, section.signature]
        told += [f"{note.name}: {note.text}" for note in [*section.urgent, *section.notices]]
        yield "".join(f"% {' '.join(text.split())}\n" for text in told if text)
        for table in section.tables:
            yield _table(table)
    yield "".join(f"% {title}: {meaning}\n" for title, meaning in meanings(subject, options))


def _table(table: Table) -> str:
    numeric = table.numeric
    heads = " & ".join(escaped(column.header) for column in table.columns)
    rows = "".join(
        f"{' & '.join(_cell(cell, column) for cell, column in zip(row, table.columns, strict=True))} \\\\\n"
        for row in table.rows
    )
    aligned = "".join("r" if right else "l" for right in numeric)
    return (
        f"\\begin{{table}}\n\\centering\n\\caption{{{escaped(table.title)}}}\n\\begin{{tabular}}{{{aligned}}}\n"
        f"\\toprule\n{heads} \\\\\n\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _cell(cell: Cell, column: Column) -> str:
    return escaped(column.shown(cell))


def escaped(text: str) -> str:
    """*text* as LaTeX sets it, whatever it holds."""
    return _SIGN.sub(lambda match: _SIGNS[match.group()], printable(text))
