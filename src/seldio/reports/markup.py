"""Markdown, for model cards, pull requests and job summaries; LaTeX, for papers, with ``booktabs``.

Whatever a text holds, it stays text: it mentions nobody, links nowhere and is never markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from seldio.reports.sections import meanings, sections
from seldio.reports.tables import Cell, Column, Notice, Options, Phrase, ScoreReport, Subject, Table
from seldio.text import printable

# What Markdown or HTML would take for its own; as character references they are plain text.
_MARKUP = r"[&<>|`*~$\\\[\]]|(?<![^\W_])_|_(?![^\W_])"
# What would become a mention, an issue, an emoji or a link; a zero-width space behind it prevents that.
_REFERENCE = r"@(?=\w)|#(?=\d)|:(?=[\w+-]+:)|(?<=http):|(?<=https):|(?<=www)\."
_SPECIAL = re.compile(f"(?P<markup>{_MARKUP})|{_REFERENCE}")
# What a span between backticks inside a table cell cannot hold.
_UNSPEAKABLE = re.compile(r"[|`\\]")


def markdown(subject: Subject, options: Options) -> Iterator[str]:
    """Yield the sections of *subject*, blocks with an empty line between them, then what the columns mean."""
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
    rule = ["---:" if right else "---" for right in table.numeric]
    rows = ([_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, rule, *rows))


def _cell(cell: Cell, column: Column) -> str:
    if not isinstance(cell, Phrase):
        return escaped(column.shown(cell))
    pieces = []
    for kind, text in cell.pieces:
        plain = printable(text)
        if kind == "code" and plain.strip() and not _UNSPEAKABLE.search(plain):
            pieces.append(f"`{plain}`")
        elif kind == "code":  # HTML where backticks cannot say it
            pieces.append(f"<code>{escaped(text)}</code>")
        elif kind in ("text", "break"):
            pieces.append("<br>" if kind == "break" else escaped(text))
        else:
            pieces.append(f"[{escaped(text)}]({kind})")
    return "".join(pieces)


def escaped(text: str) -> str:
    """Return *text* as plain text inside a table cell, whatever it holds."""
    return _SPECIAL.sub(
        lambda match: f"&#{ord(match.group())};" if match["markup"] else f"{match.group()}&#8203;", printable(text)
    )


# --- LaTeX ------------------------------------------------------------------------------------------------------------

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "°": r"$^{\circ}$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "∞": r"$\infty$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "−": r"$-$",
    "…": r"\dots{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))


def latex(subject: Sequence[ScoreReport], options: Options) -> Iterator[str]:
    """Yield the tables of *subject*; the package ``booktabs`` is all that they need."""
    yield "% Tables by seldio; they need \\usepackage{booktabs}.\n"
    for section in sections(subject, options):
        lines = [section.headline, section.verdict, section.title, f"over {section.over}" if section.over else ""]
        lines += [section.settings, section.signature]
        lines += [f"{note.name}: {note.text}" for note in [*section.urgent, *section.notices]]
        yield "".join(f"% {' '.join(text.split())}\n" for text in lines if text)
        for table in section.tables:
            heads = " & ".join(_in_latex(column.header) for column in table.columns)
            rows = []
            for row in table.rows:
                cells = (_in_latex(column.shown(cell)) for cell, column in zip(row, table.columns, strict=True))
                rows.append(f"{' & '.join(cells)} \\\\\n")
            aligned = "".join("r" if right else "l" for right in table.numeric)
            yield (
                f"\\begin{{table}}\n\\centering\n\\caption{{{_in_latex(table.title)}}}\n"
                f"\\begin{{tabular}}{{{aligned}}}\n\\toprule\n{heads} \\\\\n\\midrule\n{''.join(rows)}\\bottomrule\n"
                "\\end{tabular}\n\\end{table}\n"
            )
    yield "".join(f"% {title}: {meaning}\n" for title, meaning in meanings(subject, options))


def _in_latex(text: str) -> str:
    """Return *text* as LaTeX sets it, whatever it holds."""
    return _SIGN.sub(lambda match: _SIGNS[match.group()], printable(text))
