"""The report for people, in a terminal. The only home of rich in seldio's reports.

Everything is printed as rich ``Text`` with styles attached, never as markup, and has gone through
:func:`seldio.text.printable` before: a file name or a cell cannot style, move or hide anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from seldio.findings import Finding, Report, Severity
from seldio.reports.common import (
    Options,
    by_cause,
    fix_mark,
    message,
    more,
    others,
    place,
    spread,
    statistics_rows,
    summary_line,
)
from seldio.reports.excerpt import fit
from seldio.text import printable

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_GUTTER = "bright_blue"
_LEAST_ROOM = 20
_DEFAULT_WIDTH = 100


def terminal(stream: TextIO) -> tuple[bool, int]:
    """Whether to use colours on *stream*, and its width in cells; honours ``NO_COLOR``."""
    screen = Console(file=stream)
    if not screen.is_terminal:
        return False, _DEFAULT_WIDTH
    return not (screen.no_color or screen.is_dumb_terminal), screen.width


def render_text(report: Report, options: Options) -> Iterator[str]:
    """Each finding with its line and a caret, at most so many per rule; then the counts, whole."""
    screen = console(options.color)
    for block in _blocks(report, options):
        with screen.capture() as capture:
            screen.print(block, soft_wrap=True)
        yield capture.get()


def console(color: bool, width: int = _DEFAULT_WIDTH) -> Console:
    """A console that looks neither at the environment nor at a terminal."""
    return Console(
        color_system="standard" if color else None,
        force_terminal=color,
        no_color=not color,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        width=width,
    )


def _blocks(report: Report, options: Options) -> Iterator[Text]:
    shown, hidden = by_cause(report.findings, options.max_per_rule)
    for group in shown:
        yield _finding(group, report, options.width)
    for code, count in hidden.items():
        yield Text(more(code, count), "dim")
    if hidden:
        yield Text()
    if options.statistics and report.findings:
        yield _statistics(report, options)
    yield Text(summary_line(report, options.catalogue), "bold" if report.findings else "bold green")


def _finding(group: Sequence[Finding], report: Report, width: int) -> Text:
    """A finding with its line; of a group its first one, and where the others are."""
    finding = group[0]
    gutter = len(str(finding.line)) if finding.line is not None and finding.excerpt is not None else 0
    block = _headline(finding) if len(group) == 1 else _group_headline(group, report)
    if finding.excerpt is not None:
        block.append_text(_excerpt(finding, finding.excerpt, gutter, width))
    if finding.hint:
        block.append(" " * gutter + " = ", _GUTTER).append("hint: ", "bold")
        block.append(printable(finding.hint) + "\n")
    if len(group) > 1:
        block.append(" " * gutter + " = ", _GUTTER).append(others(group) + "\n")
    return block


def _group_headline(group: Sequence[Finding], report: Report) -> Text:
    """``CODE error in 78 of 78 files, e.g. path:line:column  message``."""
    finding = group[0]
    style = _STYLES[finding.severity]
    return Text.assemble(
        (printable(finding.code), f"bold {style}"),
        (fix_mark(finding.fixable), "green"),
        " ",
        (finding.severity.value, style),
        (f" {spread(group, report)}", "bold"),
        (f", e.g. {printable(place(finding))}", "dim"),
        f"  {printable(message(finding))}\n",
    )


def _headline(finding: Finding) -> Text:
    style = _STYLES[finding.severity]
    position = "".join(f":{part}" for part in (finding.line, finding.column) if part is not None)
    shown = printable(f"{finding.path}{position}")
    return Text.assemble(
        (shown.removesuffix(position), "bold"),
        (position, "dim"),
        "  ",
        (printable(finding.code), f"bold {style}"),
        (fix_mark(finding.fixable), "green"),
        " ",
        (finding.severity.value, style),
        f" {printable(message(finding))}\n",
    )


def _excerpt(finding: Finding, line: str, gutter: int, width: int) -> Text:
    room = max(width - gutter - len(" | "), _LEAST_ROOM)
    view = fit(line, finding.column or 1, finding.end_column, room)
    number = "" if finding.line is None else str(finding.line)
    block = Text.assemble((f"{number:>{gutter}} | ", _GUTTER), view.text, "\n")
    if finding.column is not None:
        style = f"bold {_STYLES[finding.severity]}"
        block.stylize(style, gutter + 3 + view.start, gutter + 3 + view.end)
        block.append(" " * gutter + " | ", _GUTTER).append(" " * view.indent)
        block.append("^" * view.carets + "\n", style)
    return block


def _statistics(report: Report, options: Options) -> Text:
    block = Text()
    for count, code, mark, name in statistics_rows(report, options.catalogue):
        row = Text.assemble(f"{count}  ", (code, "bold"), (mark, "green"), f"  {name}")
        row.rstrip()
        block.append_text(row).append("\n")
    return block
