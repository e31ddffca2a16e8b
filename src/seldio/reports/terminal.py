"""Findings and scores for people, in a terminal: lines with carets, tables as wide as it is, numbers never cut.

Everything is printed as rich ``Text`` with styles attached, never as markup, and has gone through
:func:`seldio.text.printable` before: a file name or a cell cannot style, move or hide anything.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from seldio.findings import Finding, Report, Severity
from seldio.reports import LEAST_ROOM, READABLE
from seldio.reports.sections import (
    by_cause,
    by_code,
    conclusion,
    details,
    fix_mark,
    listening,
    meanings,
    message,
    more,
    name_of,
    others,
    place,
    rules_table,
    sections,
    silence,
    spread,
    verdict,
    worst,
)
from seldio.reports.tables import (
    Interval,
    Notice,
    Options,
    Phrase,
    ScoreReport,
    Subject,
    Table,
    UnreliableInterval,
    WeakInterval,
)
from seldio.text import printable

# Yellow and cyan can hardly be read on white; these can, on white and on black.
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "magenta", Severity.INFO: "bright_blue"}
_VERDICT = {Severity.ERROR: "bold red", Severity.WARNING: "bold magenta", Severity.INFO: "bold green"}
_GUTTER = "bright_blue"
#: More findings than this are shown below the verdict, and rule by rule if each rule has this number on average.
_MANY, _REPEATED = 6, 1.5
#: Tables have their own width, and findings that of their lines.
_VAST = 100_000
#: Cells between columns of scores, and the fewest that names of rows have.
_GAP, _LEAST_NAME = 2, 8


def text(subject: Subject, options: Options) -> Iterator[str]:
    """Yield findings with their lines and carets, at most so many per rule, then the counts; or tables of scores."""
    # looks neither at the environment nor at a terminal
    console = Console(
        color_system="standard" if options.color else None,
        force_terminal=options.color,
        no_color=not options.color,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        width=_VAST,
    )
    of_findings = isinstance(subject, Report)
    for block in _findings(subject, options) if isinstance(subject, Report) else _scores(subject, options):
        plain, table = of_findings and isinstance(block, Text), isinstance(block, Grid) and block.box is not None
        with console.capture() as capture:
            console.print(block, soft_wrap=plain, width=_VAST if of_findings or table else min(options.width, READABLE))
        shown = capture.get()
        yield shown if plain or options.color else "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


# --- findings ----------------------------------------------------------------------------------------------


def _findings(report: Report, options: Options) -> Iterator[RenderableType]:
    """Yield findings by file, or by rule if there are many; the verdict last, and first as well if it is far away."""
    shown, hidden = by_cause(report.findings, options.max_per_rule)
    many = len(shown) > _MANY
    if many:
        yield Text(verdict(report) + "\n", _VERDICT[worst(report.findings)])
    if many and len(shown) >= _REPEATED * len(report.by_rule()):
        yield from _by_rule(shown, hidden, report, options)
    else:
        for group in shown:
            yield _finding(group, report, options)
        for code, count in hidden.items():
            yield Text(more(code, count), "dim")
        if hidden:
            yield Text()
    if options.statistics and report.findings:
        yield from _table(rules_table(report, options), options.width)
    for table in listening(report, options):
        yield from _table(table, options.width)
    if notes := silence(report):
        for note in notes:
            yield _flow(Text(printable(note), "dim"), options, 2)
        yield Text()
    if many:
        every = "; --max-per-rule 0 shows every finding" if hidden else ""
        yield Text(f"seldio rule CODE explains a rule{every}.", "dim")
    yield _flow(Text(conclusion(report), _VERDICT[worst(report.findings)]), options, 0)


def _by_rule(
    shown: Sequence[Sequence[Finding]], hidden: Mapping[str, int], report: Report, options: Options
) -> Iterator[Text]:
    """Yield a block for each rule, the worst first: its name, count and findings, shared hints only once."""
    for code, findings in sorted(by_code(report).items(), key=lambda item: worst(item[1]).rank):
        name = name_of(code, options.catalogue)
        block = Text.assemble(*_rule(min(findings, key=lambda finding: finding.severity.rank)), f"  {name}")
        if len(findings) > 1:
            block.append(f": {len(findings):,} findings {spread(findings, report)}", "bold")
        block.append("\n")
        groups = [group for group in shown if group[0].code == code]
        quoted = False
        for group, after in itertools.zip_longest(groups, groups[1:]):
            finding = group[0]
            where = (printable(place(finding)), "bold")
            block.append_text(_flow(Text.assemble("  ", where, f"  {printable(message(finding))}"), options, 6))
            block.append("\n")
            if finding.excerpt is not None and not quoted:
                block.append_text(_excerpt(finding, finding.excerpt, len(str(finding.line or "")) + 4, options.width))
                quoted = True
            if len(group) > 1:
                block.append_text(_note("", f"{spread(group, report)}, {others(group)}", 4, options))
            if finding.hint and (after is None or after[0].hint != finding.hint):
                block.append_text(_note("hint: ", finding.hint, 4, options))
        if code in hidden:
            block.append(f"  {more(code, hidden[code])}\n", "dim")
        yield block


def _flow(line: Text, options: Options, indent: int) -> Text:
    """Return *line*, on a terminal broken between words; what follows the first line is indented."""
    width = min(options.width, READABLE)
    if not options.wrap or cell_len(line.plain) <= width:
        return line
    console = Console(width=width, color_system=None)
    parts = line.wrap(console, max(width - indent, LEAST_ROOM))
    for part in parts:
        part.rstrip()
    return Text("\n" + " " * indent).join(parts)


def _note(name: str, said: str, gutter: int, options: Options) -> Text:
    """Return a line after the gutter, such as a hint."""
    line = Text.assemble((" " * gutter + " = ", _GUTTER), (name, "bold"), printable(said))
    return _flow(line, options, gutter + len(" = ")).append("\n")


def _finding(group: Sequence[Finding], report: Report, options: Options) -> Text:
    """Return a finding with its line; for a group, its first one and the places of the others."""
    finding = group[0]
    gutter = len(str(finding.line)) if finding.line is not None and finding.excerpt is not None else 0
    said = f" {printable(message(finding))}"
    if len(group) == 1:
        position = "".join(f":{part}" for part in (finding.line, finding.column) if part is not None)
        shown = printable(f"{finding.path}{position}").removesuffix(position)
        line = Text.assemble((shown, "bold"), (position, "dim"), "  ", *_rule(finding), said)
    else:
        where = printable(place(finding))
        example = (f" {spread(group, report)}", "bold"), (f", e.g. {where}", "dim")
        line = Text.assemble(*_rule(finding), *example, f" {said}")
    block = _flow(line, options, 4).append("\n")
    if finding.excerpt is not None:
        block.append_text(_excerpt(finding, finding.excerpt, gutter, options.width))
    if finding.hint:
        block.append_text(_note("hint: ", finding.hint, gutter, options))
    if len(group) > 1:
        block.append_text(_note("", others(group), gutter, options))
    return block


def _rule(finding: Finding) -> list[str | tuple[str, str]]:
    style = _STYLES[finding.severity]
    mark = fix_mark(finding.fixable), "green"
    return [(printable(finding.code), f"bold {style}"), mark, " ", (finding.severity.value, style)]


def _excerpt(finding: Finding, line: str, gutter: int, width: int) -> Text:
    from seldio.reports.excerpts import fit

    room = max(width - gutter - len(" | "), LEAST_ROOM)
    view = fit(line, finding.column or 1, finding.end_column, room)
    number = "" if finding.line is None else str(finding.line)
    block = Text.assemble((f"{number:>{gutter}} | ", _GUTTER), view.text, "\n")
    if finding.column is not None:
        style = f"bold {_STYLES[finding.severity]}"
        block.stylize(style, gutter + 3 + view.start, gutter + 3 + view.end)
        block.append(" " * gutter + " | ", _GUTTER).append(" " * view.indent)
        block.append("^" * view.carets + "\n", style)
    return block


# --- scores ------------------------------------------------------------------------------------------------


def _scores(subject: Sequence[ScoreReport], options: Options) -> Iterator[RenderableType]:
    everything = options.details or options.table is not None
    for section in sections(subject, options):
        if section.verdict:
            yield Text(section.verdict + "\n", "bold")
        if section.over is not None:
            yield Text.assemble((section.headline, "bold"), f": {section.title}")
            yield Text(f"over {section.over}")
            if section.settings:
                yield Text(section.settings, "dim")
            if everything and section.signature:
                yield Text(section.signature, "dim", overflow="fold")
            yield Text()
        if section.urgent:
            yield _notices(section.urgent)
            yield Text()
        for table in section.tables:
            if table.rows and everything:
                yield from _table(table, options.width, section.lead)
            elif table.rows and not table.aside:
                shown = dataclasses.replace(table, rows=table.rows[: table.top])
                yield from _table(shown, options.width, section.lead)
        if section.notices and everything:
            yield _notices(section.notices)
            yield Text()
    if not everything:
        if left_out := details(subject):
            yield Text(left_out, "dim")
    elif legend := meanings(subject, options):
        yield _pairs(((Text(title, "dim"), Text(meaning, "dim")) for title, meaning in legend), _GAP)


def _notices(notices: Sequence[Notice]) -> Grid:
    rows = []
    for notice in notices:
        style = "bold magenta" if notice.grave else "bright_blue"
        line = Text.assemble((f"{printable(notice.name)}: ", style), printable(notice.text))
        rows.append((Text("!" if notice.grave else "·", style), line))
    return _pairs(rows, 1)


def _pairs(rows: Iterable[tuple[Text, Text]], gap: int) -> Grid:
    """Return rows of a short text and a long one, which alone is wrapped."""
    grid = Grid.grid(padding=(0, gap, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for row in rows:
        grid.add_row(*row)
    return grid


def _table(table: Table, width: int, lead: str = "") -> Iterator[RenderableType]:
    """Yield a table in as many parts as its columns need, each with the names of its rows; *lead* is in the first."""
    yield Text(printable(table.title), "bold")
    columns, numeric = [_column(table, number) for number in range(len(table.columns))], table.numeric
    full = [max(map(cell_len, column)) for column in columns]
    # text is broken between words where it leaves the names too little room; what is to be copied goes over the edge
    copied = [any(isinstance(row[number], Phrase) for row in table.rows) for number in range(len(full))]
    room = max(width - min(full[0], width // 2) - _GAP, _LEAST_NAME)
    fixed = [not number or numeric[number] or copied[number] for number in range(len(full))]
    wide = [size if is_fixed else min(size, room) for is_fixed, size in zip(fixed, full, strict=True)]
    widest = max((size for number, size in enumerate(wide) if number and not copied[number]), default=0)
    name = min(wide[0], max(width - widest - _GAP, _LEAST_NAME))
    leading = [number for number, column in enumerate(table.columns) if number and column.name == lead]
    for part in _parts([0 if flows else size for flows, size in zip(copied, wide, strict=True)], name, width, leading):
        grid = Grid(
            box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0), header_style="bold"
        )
        for number in (0, *part):
            grid.add_column(
                Text(columns[number][0]),
                justify="right" if numeric[number] else "left",
                overflow="fold",
                no_wrap=number > 0 and wide[number] == full[number],
                width=wide[number] if number else name,
            )
        for row in range(1, len(table.rows) + 1):
            grid.add_row(*(Text(columns[number][row]) for number in (0, *part)))
        yield grid
        yield Text()


def _parts(wide: Sequence[int], name: int, width: int, lead: Sequence[int]) -> list[list[int]]:
    """Return the columns after the name, as many to a part as fit; where some do not, *lead* closes the first part."""
    leading = [number for number in lead if sum(wide[1:]) + _GAP * (len(wide) - 1) > width - name]
    parts: list[list[int]] = [[]]
    left = width - name - sum(wide[number] + _GAP for number in leading)
    for number in sorted({*range(1, len(wide))} - {*leading}):
        if wide[number] + _GAP > left and (parts[-1] or leading):
            parts[-1] += leading
            parts.append([])
            left, leading = width - name, []
        parts[-1].append(number)
        left -= wide[number] + _GAP
    parts[-1] += leading
    return parts


def _column(table: Table, number: int) -> list[str]:
    """Return the header and the cells of a column; the parts of its intervals stand below each other."""
    column = table.columns[number]
    cells = [row[number] for row in table.rows]
    if not any(isinstance(cell, Interval) for cell in cells):
        return [column.header, *map(column.shown, cells)]
    split = [
        [column.number(part) for part in cell]
        if isinstance(cell, Interval) and not isinstance(cell, UnreliableInterval)
        else [column.shown(cell), "", ""]
        for cell in cells
    ]
    widths = [max(map(len, parts)) for parts in zip(*split, strict=True)]
    ends = widths[1] + widths[2] and widths[1] + widths[2] + len(" [, ]")
    aligned = ([part.rjust(width) for part, width in zip(parts, widths, strict=True)] for parts in split)
    mark = " " * any(isinstance(cell, WeakInterval) for cell in cells)
    marks = ["*" if isinstance(cell, WeakInterval) else mark for cell in cells]
    texts = [column.header + mark]
    for (value, low, high), star in zip(aligned, marks, strict=True):
        texts.append(f"{value} [{low}, {high}]{star}" if low.strip() else value + " " * ends + star)
    return texts
