"""Scores as Markdown, for model cards, papers' repositories and pull requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seldio.reports.markdown import escaped, line
from seldio.reports.score_common import (
    ScoreOptions,
    first,
    further,
    header,
    headline,
    is_numeric,
    meanings,
    ordered,
    settings,
    shown,
)
from seldio.reports.tables import Notice, ScoreReport, Table, side_by_side


def render_markdown(reports: Sequence[ScoreReport], _options: ScoreOptions) -> Iterator[str]:
    """A section for each report, systems side by side first."""
    if len(reports) > 1:
        yield "## Systems\n\n"
        for report in filter(first, reports):
            yield f"{escaped(headline(report))}:\n\n"
            yield from _notices(first(report))
        yield from _table(side_by_side(reports))
    for report in reports:
        yield f"## {escaped(headline(report))}\n\n{escaped(report.title)}\n\nOver {escaped(report.over)}.\n\n"
        if told := settings(report):
            yield f"Settings: {escaped(told)}.\n\n"
        if len(reports) == 1:
            yield from _notices(first(report))
        for table in further(reports, report):
            yield f"### {escaped(table.title)}\n\n"
            yield from _table(table)
        if others := ordered(report):
            yield "### To know\n\n"
            yield from _notices(others)
    legend = meanings(table for report in reports for table in report.tables)
    if legend:
        yield "### Columns\n\n"
        yield from (f"- {escaped(title)}: {escaped(meaning)}\n" for title, meaning in legend)


def _notices(notices: Sequence[Notice]) -> Iterator[str]:
    for notice in notices:
        mark = "**Careful**, " if notice.grave else ""
        yield f"- {mark}{escaped(notice.name)}: {escaped(notice.text)}\n"
    yield "\n" * bool(notices)


def _table(table: Table) -> Iterator[str]:
    yield line([escaped(header(column)) for column in table.columns])
    yield line(["---:" if n and is_numeric(table, n) else "---" for n in range(len(table.columns))])
    for row in table.rows:
        yield line([escaped(shown(cell, column)) for cell, column in zip(row, table.columns, strict=True)])
    yield "\n"
