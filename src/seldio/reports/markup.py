"""Markdown, for model cards, papers' repositories, pull requests and job summaries; and one self-contained page.

Whatever a text holds, it stays text: it mentions nobody, links nowhere and is never markup. The page has no scripts and
loads nothing, is light and dark, and can be read by screen readers.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence

from seldio.findings import Report
from seldio.reports.sections import meanings, sections
from seldio.reports.tables import ARROWS, Cell, Column, Notice, Options, Phrase, Subject, Table
from seldio.text import printable

# What Markdown or HTML would take for its own; as character references they are plain text.
_MARKUP = r"[&<>|`*~$\\\[\]]|(?<![^\W_])_|_(?![^\W_])"
# What would become a mention, an issue, an emoji or a link; a zero-width space behind it prevents that.
_REFERENCE = r"@(?=\w)|#(?=\d)|:(?=[\w+-]+:)|(?<=http):|(?<=https):|(?<=www)\."
_SPECIAL = re.compile(f"(?P<markup>{_MARKUP})|{_REFERENCE}")
# What a span between backticks inside a table cell cannot hold.
_UNSPEAKABLE = re.compile(r"[|`\\]")


#: Wider columns are not padded.
_READABLE = 40


def markdown(subject: Subject, options: Options) -> Iterator[str]:
    """The sections of *subject*, blocks with an empty line between them, then what the columns mean."""
    for number, block in enumerate(_blocks(subject, options)):
        yield f"\n{block}" if number else block


def _blocks(subject: Subject, options: Options) -> Iterator[str]:
    for section in sections(subject, options):
        if section.headline:
            yield f"## {escaped(section.headline)}\n"
        if section.verdict:
            yield f"**{escaped(section.verdict)}**\n"
        if section.title:
            yield f"{escaped(section.title)}\n"
        if section.over is not None:
            yield f"Over {escaped(section.over)}.\n"
        if section.settings:
            yield f"Settings: {escaped(section.settings)}.\n"
        if section.signature:
            plain = section.signature.replace("`", "'")
            yield f"Signature: `{plain}`\n"
        if section.urgent:
            yield "".join(map(_note, section.urgent))
        for table in section.tables:
            if section.over is not None:
                yield f"### {escaped(table.title)}\n"
            yield _table(table)
        if section.notices:
            if section.over is not None:
                yield "### Notices\n"
            yield "".join(map(_note, section.notices))
    if legend := meanings(subject, options):
        yield "### Columns\n"
        yield "".join(f"- {escaped(title)}: {escaped(meaning)}\n" for title, meaning in legend)


def _note(notice: Notice) -> str:
    name = f"{'**Careful**, ' if notice.grave else ''}{escaped(notice.name)}: " if notice.name else ""
    return f"- {name}{escaped(notice.text)}\n"


def _table(table: Table) -> str:
    heads = [escaped(column.header) for column in table.columns]
    rows = [[_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    numeric = table.numeric
    wide = [max(3 + right, *map(len, cells)) for right, *cells in zip(numeric, heads, *rows, strict=True)]
    linked = any(isinstance(cell, Phrase) for row in table.rows for cell in row)
    wide = [0 if linked or width > _READABLE else width for width in wide]  # source is to be read, not to be scrolled

    def line(cells: Sequence[str]) -> str:
        return (
            f"| {' | '.join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, wide, numeric, strict=True))} |\n"
        )

    rule = ["-" * max(width - right, 3) + ":" * right for width, right in zip(wide, numeric, strict=True)]
    return "".join(map(line, (heads, rule, *rows)))


def _cell(cell: Cell, column: Column) -> str:
    if not isinstance(cell, Phrase):
        return escaped(column.shown(cell))
    kinds: dict[str, Callable[[str], str]] = {"text": escaped, "code": code_span, "break": lambda _: "<br>"}
    return "".join(kinds[kind](text) if kind in kinds else f"[{escaped(text)}]({kind})" for kind, text in cell.pieces)


def escaped(text: str) -> str:
    """*text* as plain text inside a table cell, whatever it holds."""
    return _SPECIAL.sub(
        lambda match: f"&#{ord(match.group())};" if match["markup"] else f"{match.group()}&#8203;", printable(text)
    )


def code_span(text: str) -> str:
    """*text* as code; HTML where backticks cannot say it."""
    plain = printable(text)
    if not plain.strip() or _UNSPEAKABLE.search(plain):
        return f"<code>{escaped(text)}</code>"
    return f"`{plain}`"


# --- the page ----------------------------------------------------------------------------------------------

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


def page(subject: Subject, options: Options) -> Iterator[str]:
    """The sections of *subject* as one page, then what the columns mean."""
    found = sections(subject, options)
    several = len(found) > 1
    title = "Findings" if isinstance(subject, Report) else "Scores" if several else found[0].headline
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{_safe(title)}</h1>\n"
    )
    for section in found:
        if section.over is not None:
            heading = f"<h2>{_safe(section.headline)}</h2>\n" if several else ""
            yield f"<section>\n{heading}<p>{_safe(section.title)}<br>over {_safe(section.over)}</p>\n"
        elif section.title:
            yield f"<p>{_safe(section.title)}</p>\n"
        if section.settings:
            yield f"<p>Settings: {_safe(section.settings)}</p>\n"
        if section.signature:
            yield f"<p>Signature: <code>{_safe(section.signature)}</code></p>\n"
        yield _list(section.urgent)
        yield from map(_page_table, section.tables)
        yield _list(section.notices) + "</section>\n" * (section.over is not None)
    if legend := meanings(subject, options):
        yield "<h2>Columns</h2>\n<dl>\n"
        yield from (f"<dt>{_safe(title)}</dt><dd>{_safe(meaning)}</dd>\n" for title, meaning in legend)
        yield "</dl>\n"
    yield "</main>\n</body>\n</html>\n"


def _list(notices: Sequence[Notice]) -> str:
    return f"<ul>\n{''.join(map(_item, notices))}</ul>\n" if notices else ""


def _item(notice: Notice) -> str:
    if not notice.name:
        return f"<li>{_safe(notice.text)}</li>\n"
    opening = '<li class="grave"><strong>Careful, ' if notice.grave else "<li><strong>"
    return f"{opening}{_safe(notice.name)}:</strong> {_safe(notice.text)}</li>\n"


def _page_table(table: Table) -> str:
    numeric = table.numeric
    heads = "".join(_header(column, right) for column, right in zip(table.columns, numeric, strict=True))
    rows = []
    for row in table.rows:
        first, *rest = (_page_cell(cell, column) for cell, column in zip(row, table.columns, strict=True))
        cells = (f"<td{_right(right)}>{cell}</td>" for cell, right in zip(rest, numeric[1:], strict=True))
        rows.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>\n')
    return (
        f'<div class="wide">\n<table>\n<caption>{_safe(table.title)}</caption>\n<thead>\n<tr>{heads}</tr>\n</thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n"
    )


def _header(column: Column, right: bool) -> str:
    arrow = ""
    if column.better:
        hidden = f'<span class="hidden">, {column.better} is better</span>'
        arrow = f' <span aria-hidden="true">{ARROWS[column.better]}</span>{hidden}'
    meaning = f' title="{_safe(column.meaning)}"' if column.meaning else ""
    return f'<th scope="col"{_right(right)}{meaning}>{_safe(column.named)}{arrow}</th>'


def _page_cell(cell: Cell, column: Column) -> str:
    if not isinstance(cell, Phrase):
        return _safe(column.shown(cell))
    kinds = {"text": "{}", "code": "<code>{}</code>", "break": "<br>"}
    return "".join(
        kinds[kind].format(_safe(text)) if kind in kinds else f'<a href="{_safe(kind)}">{_safe(text)}</a>'
        for kind, text in cell.pieces
    )


def _right(right: bool) -> str:
    return ' class="n"' if right else ""


def _safe(text: str) -> str:
    return html.escape(printable(text))
