"""Scores as one self-contained page: no scripts, nothing loaded, light and dark, readable by screen readers."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from seldio.reports.score_common import (
    ARROWS,
    ScoreOptions,
    first,
    further,
    headline,
    is_numeric,
    meanings,
    named,
    ordered,
    settings,
    shown,
)
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, side_by_side
from seldio.text import printable

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --grave: #b45309; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0 2rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; }
tbody th { font-weight: 400; }
li.grave { border-left: .25rem solid var(--grave); padding-left: .5rem; }
ul { padding-left: 1.25rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (prefers-color-scheme: dark) { :root { --grave: #fbbf24; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(reports: Sequence[ScoreReport], _options: ScoreOptions) -> Iterator[str]:
    """The whole page; systems side by side first."""
    title = "Scores" if len(reports) != 1 else headline(reports[0])
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{_safe(title)}</h1>\n"
    )
    if len(reports) > 1:
        for report in filter(first, reports):
            yield f"<p>{_safe(headline(report))}:</p>\n"
            yield from _notices(first(report))
        yield from _table(side_by_side(reports))
    for report in reports:
        yield from _section(report, further(reports, report), len(reports) > 1)
    yield from _legend(meanings(table for report in reports for table in report.tables))
    yield "</main>\n</body>\n</html>\n"


def _section(report: ScoreReport, tables: Sequence[Table], heading: bool) -> Iterator[str]:
    yield "<section>\n"
    if heading:
        yield f"<h2>{_safe(headline(report))}</h2>\n"
    yield f"<p>{_safe(report.title)}<br>over {_safe(report.over)}</p>\n"
    if told := settings(report):
        yield f"<p>Settings: {_safe(told)}</p>\n"
    if not heading:
        yield from _notices(first(report))
    for table in tables:
        yield from _table(table)
    yield from _notices(ordered(report))
    yield "</section>\n"


def _notices(notices: Sequence[Notice]) -> Iterator[str]:
    if notices:
        yield "<ul>\n"
        yield from map(_notice, notices)
        yield "</ul>\n"


def _notice(notice: Notice) -> str:
    opening = '<li class="grave"><strong>Careful, ' if notice.grave else "<li><strong>"
    return f"{opening}{_safe(notice.name)}:</strong> {_safe(notice.text)}</li>\n"


def _table(table: Table) -> Iterator[str]:
    numeric = [n > 0 and is_numeric(table, n) for n in range(len(table.columns))]
    yield f'<div class="wide">\n<table>\n<caption>{_safe(table.title)}</caption>\n<thead>\n<tr>'
    yield from (_header(column, right) for column, right in zip(table.columns, numeric, strict=True))
    yield "</tr>\n</thead>\n<tbody>\n"
    for row in table.rows:
        cells = zip(row, table.columns, numeric, strict=True)
        yield "<tr>" + "".join(_cell(cell, column, right, n == 0) for n, (cell, column, right) in enumerate(cells))
        yield "</tr>\n"
    yield "</tbody>\n</table>\n</div>\n"


def _header(column: Column, right: bool) -> str:
    arrow = ""
    if column.better:
        told = f'<span class="hidden">, {column.better} is better</span>'
        arrow = f' <span aria-hidden="true">{ARROWS[column.better]}</span>{told}'
    told = f' title="{_safe(column.meaning)}"' if column.meaning else ""
    return f'<th scope="col"{_right(right)}{told}>{_safe(named(column))}{arrow}</th>'


def _cell(cell: Cell, column: Column, right: bool, first: bool) -> str:
    text = _safe(shown(cell, column))
    return f'<th scope="row">{text}</th>' if first else f"<td{_right(right)}>{text}</td>"


def _right(right: bool) -> str:
    return ' class="n"' if right else ""


def _legend(legend: Sequence[tuple[str, str]]) -> Iterator[str]:
    if legend:
        yield "<h2>Columns</h2>\n<dl>\n"
        yield from (f"<dt>{_safe(title)}</dt><dd>{_safe(meaning)}</dd>\n" for title, meaning in legend)
        yield "</dl>\n"


def _safe(text: str) -> str:
    return html.escape(printable(text))
