"""Results as a notebook shows them: a line, notices, and tables by pandas, no longer than can be looked at."""

from __future__ import annotations

import html
from collections.abc import Mapping

from seldio.findings import Report, Rule
from seldio.reports.sections import sections
from seldio.reports.tables import Options, ScoreReport, Table
from seldio.text import printable

#: So many rows of a table are shown, as pandas does.
ROWS = 60
#: So many findings of one rule.
_OF_A_RULE = 5


def as_html(subject: Report | ScoreReport, catalogue: Mapping[str, Rule] | None = None) -> str:
    """Return the findings of a run, or a score, with the longest tables cut short."""
    about = subject if isinstance(subject, Report) else [subject]
    pieces = [_line(subject.in_brief)]
    for section in sections(about, Options(catalogue or {}, max_per_rule=_OF_A_RULE)):
        pieces += [_line(f"{notice.name}: {notice.text}") for notice in section.urgent]
        pieces += [_rows(table, table.top) for table in section.tables if table.rows and not table.aside]
        aside = [table for table in section.tables if table.rows and table.aside]
        pieces += [_line(f"not shown: {table.title}, to_pandas({table.name!r})") for table in aside]
        pieces += [_line(f"{notice.name}: {notice.text}".removeprefix(": ")) for notice in section.notices]
    return "".join(pieces)


def table_html(table: Table) -> str:
    """Return one table, below a line about it all."""
    return _line(table.in_brief) + _rows(table)


def _line(text: str) -> str:
    return f"<p>{html.escape(printable(text))}</p>\n"


def _rows(table: Table, most: int | None = None) -> str:
    import pandas as pd

    shown = [[column.shown(cell) for column, cell in zip(table.columns, row, strict=True)] for row in table.rows]
    shown, total = shown[: ROWS if most is None else most], len(shown)
    rest = "" if len(shown) == total else f" (the first {len(shown)}; to_pandas has all {total:,})"
    with pd.option_context("display.max_colwidth", None):
        frame = pd.DataFrame(shown, columns=[column.header for column in table.columns])
        return f"{_line(f'{table.title}{rest}')}{frame.to_html(index=False)}\n"
