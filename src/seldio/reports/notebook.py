"""Results as a notebook shows them: the tables of their page as a piece of HTML, no longer than can be looked at.

A page of scores or findings is a document with its own style; in a notebook its content stands in that of the notebook.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Mapping

from seldio.findings import Report, Rule
from seldio.reports.page import content
from seldio.reports.sections import sections
from seldio.reports.tables import Notice, Options, ScoreReport, Table
from seldio.text import printable

#: So many rows of a table are shown, as pandas does.
ROWS = 60
#: So many findings of one rule.
_OF_A_RULE = 5
#: What the page's classes do that its content cannot do without.
_STYLE = (
    ".seldio .n { text-align: right } .seldio caption { text-align: left; font-weight: 600 } "
    ".seldio .hidden { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }"
)


def as_html(subject: Report | ScoreReport, catalogue: Mapping[str, Rule] | None = None) -> str:
    """Return the findings of a run, or a score, with the longest tables cut short."""
    if isinstance(subject, ScoreReport):
        cuts = [*map(_cut, subject.tables)]
        lacking = [table.name if table.aside else f"{len(table.rows) - len(cut.rows):,} rows of {table.name}"
                   for table, cut in zip(subject.tables, cuts, strict=True)
                   if cut.rows != table.rows]  # fmt: skip
        more = [Notice("", f"Not shown: {', '.join(lacking)}; to_pandas(NAME) has all of it.")] if lacking else []
        tables = tuple(cut for cut in cuts if not cut.aside)
        shown = dataclasses.replace(subject, tables=tables, notices=(*subject.notices, *more))
        return _piece(subject.in_brief, shown, Options())
    return _piece(subject.in_brief, subject, Options(catalogue or {}, max_per_rule=_OF_A_RULE))


def table_html(table: Table, line: str = "") -> str:
    """One table, below a line about it all."""
    rest = "" if len(table.rows) <= ROWS else f" (the first {ROWS})"
    cut = dataclasses.replace(table, name="table", title=table.title + rest, rows=table.rows[:ROWS])
    return _piece(line or table.in_brief, ScoreReport("", "", "", "", (cut,)), Options(table="table"))


def _piece(line: str, subject: Report | ScoreReport, options: Options) -> str:
    """Return a line, and what the page of *subject* holds below its title."""
    about = subject if isinstance(subject, Report) else [subject]
    held = "".join(content(about, options, sections(about, options)))
    above = f'<div class="seldio">\n<style>{_STYLE}</style>\n<p>{html.escape(printable(line))}</p>\n'
    return f"{above}{held.strip()}\n</div>"


def _cut(table: Table) -> Table:
    """Return the rows of a table that are shown."""
    rows = () if table.aside else table.rows[: ROWS if table.top is None else table.top]
    return dataclasses.replace(table, rows=rows)
