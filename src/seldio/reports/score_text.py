"""Scores for people, in a terminal: tables as wide as it is, numbers never cut, what to know below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from seldio.reports.score_common import (
    ScoreOptions,
    first,
    further,
    header,
    headline,
    is_numeric,
    meanings,
    number,
    ordered,
    settings,
    shown,
)
from seldio.reports.tables import Cell, Column, Interval, Notice, ScoreReport, Table, side_by_side
from seldio.reports.text import console
from seldio.text import printable

_GAP = 2
_LEAST_NAME = 8
#: Lines are broken at the width that is asked for, but for a number that is wider.
_VAST = 100_000


def render_text(reports: Sequence[ScoreReport], options: ScoreOptions) -> Iterator[str]:
    """The tables of each report, systems side by side first; then what there is to know, and what the columns mean."""
    terminal = console(options.color, _VAST)
    for block in _blocks(reports, options.width):
        needed = sum((column.width or 0) + _GAP for column in block.columns) if isinstance(block, Grid) else 0
        with terminal.capture() as capture:
            terminal.print(block, width=max(options.width, needed - _GAP))
        text = capture.get()
        yield text if options.color else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _blocks(reports: Sequence[ScoreReport], width: int) -> Iterator[RenderableType]:
    if len(reports) > 1:
        for report in filter(first, reports):
            yield Text(headline(report), "bold")
            yield _notices(first(report))
            yield Text()
        yield from _table(side_by_side(reports), width)
    for report in reports:
        yield Text.assemble((headline(report), "bold"), f": {printable(report.title)}")
        yield Text(f"over {printable(report.over)}")
        if told := settings(report):
            yield Text(told, "dim")
        yield Text()
        if len(reports) == 1 and first(report):
            yield _notices(first(report))
            yield Text()
        for table in further(reports, report):
            yield from _table(table, width)
        if others := ordered(report):
            yield _notices(others)
            yield Text()
    legend = meanings(table for report in reports for table in report.tables)
    if legend:
        grid = Grid.grid(padding=(0, _GAP, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column()
        for title, meaning in legend:
            grid.add_row(Text(title, "dim"), Text(meaning, "dim"))
        yield grid


def _notices(notices: Sequence[Notice]) -> Grid:
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for notice in notices:
        style = "bold yellow" if notice.grave else "cyan"
        text = Text.assemble((f"{printable(notice.name)}: ", style), printable(notice.text))
        grid.add_row(Text("!" if notice.grave else "·", style), text)
    return grid


def _table(table: Table, width: int) -> Iterator[RenderableType]:
    """A table, in as many parts as its columns need, each with the names of its rows."""
    yield Text(printable(table.title), "bold")
    columns = [_column(table, place) for place in range(len(table.columns))]
    wide = [max(map(cell_len, column)) for column in columns]
    room = max(width - max(wide[1:], default=0) - _GAP, _LEAST_NAME)
    name = min(wide[0], room)
    for part in _parts(wide, name, width):
        grid = Grid(
            box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0), header_style="bold"
        )
        for place in (0, *part):
            numeric = is_numeric(table, place)
            title = Text(columns[place][0])
            least = name if place == 0 else wide[place]
            grid.add_column(
                title,
                justify="right" if numeric and place else "left",
                no_wrap=place > 0,
                overflow="fold",
                width=least,
            )
        for row in range(1, len(table.rows) + 1):
            grid.add_row(*(Text(columns[place][row]) for place in (0, *part)))
        yield grid
        yield Text()


def _parts(wide: Sequence[int], name: int, width: int) -> list[list[int]]:
    """The columns behind the first one, so many to a part as fit."""
    parts: list[list[int]] = [[]]
    left = width - name
    for place, each in enumerate(wide[1:], 1):
        if each + _GAP > left and parts[-1]:
            parts.append([])
            left = width - name
        parts[-1].append(place)
        left -= each + _GAP
    return parts


def _column(table: Table, place: int) -> list[str]:
    """The header and the cells of a column; the parts of its intervals stand below each other."""
    column = table.columns[place]
    cells = [row[place] for row in table.rows]
    if not any(isinstance(cell, Interval) for cell in cells):
        return [header(column), *(shown(cell, column) for cell in cells)]
    split = [_split(cell, column) for cell in cells]
    widths = [max(len(parts[n]) for parts in split) for n in range(3)]
    return [header(column), *(_joined(parts, widths) for parts in split)]


def _split(cell: Cell, column: Column) -> list[str]:
    if isinstance(cell, Interval):
        return [number(each, column) for each in cell]
    return [shown(cell, column), "", ""]


def _joined(parts: Sequence[str], widths: Sequence[int]) -> str:
    value, low, high = (part.rjust(width) for part, width in zip(parts, widths, strict=True))
    return f"{value} [{low}, {high}]" if parts[1] else value + " " * (widths[1] + widths[2] + len(" [, ]"))
