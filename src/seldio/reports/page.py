"""Findings and scores as one self-contained page: first the verdict, then notices and tables; and in notebooks.

The page has no scripts and loads nothing, is light and dark, fits a telephone, and can be read by screen readers.
Whatever a text holds, it stays text. Its look, ``look.css``, is that of the other pages too.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from seldio.findings import Finding, Report, Rule, Severity
from seldio.reports.excerpts import fit
from seldio.reports.sections import Section, by_cause, fix_mark, meanings, message, others, place, sections, spread
from seldio.reports.tables import (
    ARROWS,
    Cell,
    Column,
    Interval,
    Notice,
    Options,
    Phrase,
    ScoreReport,
    Subject,
    Table,
    WeakInterval,
)
from seldio.text import plural, printable

_ROOM = 100  # characters of an excerpt
_FEW = 8  # rules that are listed without being asked for
_FIGURES = 5  # measures that stand on top in large figures
_UNITS = {"%": " %", "°": "°"}  # behind a figure; others follow a space


def page(subject: Subject, options: Options) -> Iterator[str]:
    """Yield the page about *subject*: its title, what it comes to, its sections, then what the columns mean."""
    shown = sections(subject, options)
    first = shown[0]
    if isinstance(subject, Report):
        severities = [finding.severity for finding in subject.findings]
        worst = min(severities, key=lambda severity: severity.rank, default=Severity.INFO)
        title, head = "Findings", _verdict(first.title, "good" if worst is Severity.INFO else worst.value)
        parts = [_results([*_findings(first, subject, options)])]
    elif len(shown) > 1:
        title, head = "Scores", ""
        parts = [
            f"<section>\n<header>\n<h2>{safe(section.headline)}</h2>\n{_about(section)}</header>\n"
            f"{_results([*_panels(section, 'h3')])}</section>\n"
            for section in shown
        ]
    else:
        title, head = first.headline, f"{_verdict(first.verdict)}{_figures(subject[0])}{_about(first)}"
        parts = [_results([*_panels(first, "h2")])]
    if legend := meanings(subject, options):
        pairs = "".join(f"<dt>{safe(name)}</dt><dd>{safe(meaning)}</dd>\n" for name, meaning in legend)
        parts.append(_results([_panel(f"<h2>Columns</h2>\n<dl>\n{pairs}</dl>\n", "whole")]))
    style = look()
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'; style-src '{hashed(style)}'; base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{safe(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n<h1>{safe(title)}</h1>\n"
        f"{head}</header>\n<main>\n"
    )
    yield from parts
    yield "</main>\n</body>\n</html>\n"


@cache
def look() -> str:
    """Return the style sheet that all pages share."""
    return files(__package__).joinpath("look.css").read_text("utf-8")


def hashed(text: str) -> str:
    """Return how the policy of a page names the one script or style that it may use."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def safe(text: str) -> str:
    """Return *text* as the text of a page or of an attribute, whatever it holds."""
    return html.escape(printable(text))


# --- what a page comes to ----------------------------------------------------------------------------------


def _verdict(text: str, mood: str = "") -> str:
    return f'<p class="verdict{mood and f" {mood}"}">{safe(text)}</p>\n' if text else ""


def _about(section: Section) -> str:
    over = [f"over {section.over}"] if section.over else []
    return "".join(f"<p>{safe(line)}</p>\n" for line in (section.title, *over) if line)


def _figures(report: ScoreReport) -> str:
    """Return the overall measures of a system as large figures, the one that decides first."""
    table = report.tables[0]
    if not table.rows or table.rows[0][0] != report.system:
        return ""
    measures = [pair for pair in zip(table.columns, table.rows[0], strict=True) if pair[0].better]
    pairs = []
    for column, cell in sorted(measures, key=lambda pair: pair[0].name != report.lead)[:_FIGURES]:
        value = cell.value if isinstance(cell, Interval) else cell
        if isinstance(value, int | float):
            figure = column.number(value) + _UNITS.get(column.unit, f" {column.unit}" if column.unit else "")
            pairs.append(f"<div><dt>{safe(column.title)}{_arrow(column)}</dt><dd>{safe(figure)}</dd></div>\n")
    return f'<dl class="figures">\n{"".join(pairs)}</dl>\n' if pairs else ""


# --- panels ------------------------------------------------------------------------------------------------


def _results(panels: Sequence[str]) -> str:
    return f'<div class="results">\n{"".join(panels)}</div>\n' if panels else ""


def _panel(inside: str, kind: str = "") -> str:
    return f'<section class="panel{kind and f" {kind}"}">\n{inside}</section>\n'


def _panels(section: Section, heading: str) -> Iterator[str]:
    notices = _list(section.urgent)
    if section.notices:
        what = plural(len(section.notices), "more notice" if notices else "notice")
        notices += f"<details>\n<summary>{what}</summary>\n{_list(section.notices)}</details>\n"
    if notices:
        yield _panel(f"<{heading}>Notices</{heading}>\n{notices}", "whole")
    yield from (_panel(_table(table)) for table in section.tables if table.rows)
    if section.settings or section.signature:
        signed = f"<dt>Signature</dt><dd><code>{safe(section.signature)}</code></dd>\n" if section.signature else ""
        settings = f"<dt>Settings</dt><dd>{safe(section.settings)}</dd>\n" if section.settings else ""
        yield _panel(f"<{heading}>How it was made</{heading}>\n<dl>\n{settings}{signed}</dl>\n", "whole")


def _list(notices: Sequence[Notice]) -> str:
    entries = []
    for notice in notices:
        kind, careful = ("warning", "Careful, ") if notice.grave else ("info", "")
        name = f"<strong>{careful}{safe(notice.name)}:</strong> " if notice.name else ""
        entries.append(f'<li class="{kind}">{name}{safe(notice.text)}</li>\n')
    return f'<ul class="told">\n{"".join(entries)}</ul>\n' if entries else ""


# --- tables ------------------------------------------------------------------------------------------------


def _table(table: Table) -> str:
    columns, classes = table.columns, [' class="n"' if right else "" for right in table.numeric]
    heads = []
    for column, aligned in zip(columns, classes, strict=True):
        meaning = f' title="{safe(column.meaning)}"' if column.meaning else ""
        head = f'<th scope="col"{aligned}{meaning}>{safe(column.named)}{_arrow(column)}</th>'
        heads.append(head if column.named else "<td></td>")
    rows = []
    for row in table.rows:
        first, *others = map(_cell, row, columns)
        cells = [f"<td{aligned}>{cell}</td>" for cell, aligned in zip(others, classes[1:], strict=True)]
        rows.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>\n')
    weak = any(isinstance(cell, WeakInterval) for row in table.rows for cell in row)
    hint = '<p class="hint">*: intervals that rest on few clips or questions.</p>\n' if weak else ""
    return (
        f'<div class="wide" role="group" tabindex="0" aria-label="{safe(table.title)}">\n<table>\n'
        f"<caption><span>{safe(table.title)}</span></caption>\n<thead>\n<tr>{''.join(heads)}</tr>\n</thead>\n"
        f"<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n{hint}"
    )


def _arrow(column: Column) -> str:
    if not column.better:
        return ""
    return f' <span role="img" aria-label="{column.better} is better">{ARROWS[column.better]}</span>'


def _cell(cell: Cell, column: Column) -> str:
    if not isinstance(cell, Phrase):
        return safe(column.shown(cell))
    kinds = {"text": "{}", "code": "<code>{}</code>", "break": "<br>"}
    return "".join(
        kinds[kind].format(safe(text)) if kind in kinds else f'<a href="{safe(kind)}">{safe(text)}</a>'
        for kind, text in cell.pieces
    )


# --- findings ----------------------------------------------------------------------------------------------


def _findings(section: Section, report: Report, options: Options) -> Iterator[str]:
    """Yield the counts by rule, then each finding with its line, as on a terminal."""
    for table in section.tables:
        if table.name == "rules":
            few = " open" if len(table.rows) <= _FEW else ""
            counts = _table(table)
            yield _panel(
                f"<details{few}>\n<summary>{plural(len(table.rows), 'rule')}</summary>\n{counts}</details>\n", "whole"
            )
        elif table.name != "findings":
            yield _panel(_table(table), "whole")
        else:
            groups = by_cause(report.findings, options.max_per_rule)[0]
            entries = "".join(_finding(group, report, options) for group in groups)
            yield _panel(f'<h2>Findings</h2>\n<ul class="told">\n{entries}</ul>\n', "whole")
    if section.notices:
        notices = "".join(f'<p class="hint">{safe(notice.text)}</p>\n' for notice in section.notices)
        yield _panel(f"<h2>Notices</h2>\n{notices}", "whole")


def _finding(group: Sequence[Finding], report: Report, options: Options) -> str:
    finding = group[0]
    severity, code = finding.severity.value, safe(finding.code)
    described = options.catalogue.get(finding.code)
    name = "" if described is None else f' <span class="hint">{safe(described.name)}</span>'
    rule = f'<a href="{safe(finding.url)}">{code}</a>' if finding.url else code
    where = f"{spread(group, report)}, e.g. " if len(group) > 1 else ""
    marked = f"<strong>{rule}{fix_mark(finding.fixable)}</strong> {severity}{name}"
    hint = f'<p class="hint">Hint: {safe(finding.hint)}</p>\n' if finding.hint else ""
    also = f'<p class="hint">{safe(others(group))}</p>\n' if len(group) > 1 else ""
    head = f"{where}<code>{safe(place(finding))}</code> {marked}<br>{safe(message(finding))}"
    excerpt = ""
    if finding.excerpt is not None:  # with a caret below it, which wide characters may move: it is marked as well
        view = fit(finding.excerpt, finding.column or 1, finding.end_column, _ROOM)
        number = "" if finding.line is None else str(finding.line)
        text, caret = html.escape(view.text), ""
        if finding.column is not None:
            before, value, behind = view.text[: view.start], view.text[view.start : view.end], view.text[view.end :]
            text = f"{html.escape(before)}<mark>{html.escape(value)}</mark>{html.escape(behind)}"
            caret = f'{" " * len(number)} | {" " * view.indent}<mark aria-hidden="true">{"^" * view.carets}</mark>\n'
        excerpt = f'<pre tabindex="0">{number} | {text}\n{caret}</pre>\n'
    return f'<li class="{severity}">{head}\n{excerpt}{hint}{also}</li>\n'


# --- notebooks: a line, notices and tables, no longer than can be looked at -------------------------------------------

#: So many rows of a table are shown, as pandas does.
ROWS = 60
#: So many findings of one rule.
_OF_A_RULE = 5


def as_html(subject: Report | ScoreReport, catalogue: Mapping[str, Rule] | None = None) -> str:
    """Return the findings of a run, or a score, with the longest tables cut short."""
    about = subject if isinstance(subject, Report) else [subject]
    pieces = [_line(subject.in_brief)]
    for section in sections(about, Options(catalogue or {}, max_per_rule=_OF_A_RULE)):
        pieces.append(_list(section.urgent))
        for table in (table for table in section.tables if table.rows):
            aside = f"not shown: {table.title}, to_pandas({table.name!r})"
            pieces.append(_line(aside) if table.aside else _cut(table, table.top))
        pieces.append(_list(section.notices))
    return "".join(pieces)


def table_html(table: Table) -> str:
    """Return one table, below a line about it all."""
    return _line(table.in_brief) + _cut(table)


def _line(text: str) -> str:
    return f"<p>{safe(text)}</p>\n"


def _cut(table: Table, most: int | None = None) -> str:
    rows = table.rows[: ROWS if most is None else most]
    more = "" if len(rows) == len(table.rows) else f" (the first {len(rows)}; to_pandas has all {len(table.rows):,})"
    return _table(dataclasses.replace(table, title=f"{table.title}{more}", rows=rows))
