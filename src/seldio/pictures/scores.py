"""Scores as bars: a panel for each score, a row for each class or task, with the numbers and their intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from seldio.errors import UsageError
from seldio.files import open_source, read_entries
from seldio.findings import raise_errors
from seldio.formats import json_text
from seldio.pictures.canvas import blank, named, style
from seldio.pictures.colours import colour
from seldio.scores import score_json
from seldio.scores.result import Cell, Column, Interval, ScoreReport, Table
from seldio.text import clipped, printable

#: The tables that are drawn by themselves, the first one that a report has; then that of the overall scores.
TABLES = ("classes", "tasks")
_COUNTS = ("references", "clips", "rows", "items")
#: Inches of a row, of what stands around the rows, of a panel with its numbers, and of a letter of the title.
_ROW, _AROUND, _PANEL, _LETTER = 0.3, 1.7, 3.2, 0.09
#: The greatest score that there can be, by unit.
_GREATEST = {"%": 100.0, "°": 180.0}


def read_reports(path: str | os.PathLike[str]) -> tuple[ScoreReport, ...]:
    """The reports of a file that ``seldio score --json`` wrote.

    Raises:
        DataError: it is none.
        UsageError: nothing has that name.
    """
    with open_source(path, raise_errors) as source:
        files = list(read_entries(source, raise_errors))
    if len(files) != 1:
        raise UsageError(f"{printable(os.fspath(path))}: name one file that seldio score --json wrote")
    document = json_text.parse(files[0][1], files[0][0].path, raise_errors)
    return score_json.reports(None if document is None else document.value, printable(files[0][0].path))


def draw(reports: Sequence[ScoreReport], table: str | None = None) -> Any:
    """A matplotlib figure of one table of each report, systems side by side, overall scores as dashed lines.

    Args:
        reports: all with the same rows.
        table: its name, e.g. ``rooms``; by default that of the classes or tasks, else the overall scores.

    Raises:
        UsageError: a report has no such table, or the tables do not fit.
    """
    chosen = [_table(report, table) for report in reports]
    columns = _drawn(chosen[0])
    rows = [str(row[0]) for row in chosen[0].rows]
    whole = chosen[0].name == reports[0].tables[0].name
    for report, other in zip(reports, chosen, strict=True):
        same = other.columns == chosen[0].columns and (whole or [str(row[0]) for row in other.rows] == rows)
        if not same:
            raise UsageError(
                f"{printable(report.system)} has other rows or scores than {printable(reports[0].system)}: draw them "
                "one by one"
            )
    if whole:
        return _figure(reports, _stacked(reports, chosen), columns, overall=False)
    return _figure(reports, chosen, columns, overall=True)


def _stacked(reports: Sequence[ScoreReport], tables: Sequence[Table]) -> list[Table]:
    """The overall scores of several systems as one table with a row for each."""
    rows = [(report.system, *row[1:]) if len(table.rows) == 1 else row
            for report, table in zip(reports, tables, strict=True) for row in table.rows]  # fmt: skip
    return [Table("overall", tables[0].title, tables[0].columns, tuple(rows))]


def _table(report: ScoreReport, name: str | None) -> Table:
    by_name = {table.name: table for table in report.tables}
    if name is not None and name not in by_name:
        raise UsageError(f"no table {clipped(name)} of {printable(report.system)}; there are {', '.join(by_name)}")
    found = name if name is not None else next((each for each in TABLES if each in by_name), report.tables[0].name)
    return by_name[found]


def _drawn(table: Table) -> list[Column]:
    """The columns that hold scores.

    Raises:
        UsageError: there are none.
    """
    columns = [column for column in table.columns[1:] if column.better is not None]
    if not columns:
        raise UsageError(f"the table {table.name} holds no scores to draw")
    return columns


def _figure(reports: Sequence[ScoreReport], tables: Sequence[Table], columns: Sequence[Column], overall: bool) -> Any:
    rows = [_row_name(row, tables[0]) for row in tables[0].rows]
    height = _AROUND + _ROW * max(2, len(rows)) * (0.5 + 0.5 * len(tables))
    with style():
        figure = blank(2.4 + _PANEL * len(columns), height)
        panels = np.atleast_1d(figure.subplots(1, len(columns), sharey=True))
        for axes, column in zip(panels, columns, strict=True):
            for number, table in enumerate(tables):
                _bars(axes, table, column, number, len(tables), reports[number].system)
                if overall and column.name in reports[number].overall:
                    _overall(axes, reports[number].overall[column.name], column, _shade(number, len(tables)))
            better = f"{column.better} is better"
            axes.set_title(f"{column.title}{f' ({column.unit})' if column.unit else ''}\n{better}", fontsize=9)
            axes.grid(visible=False, axis="y")
            axes.margins(y=0.02)
            axes.set_xlim(_ends(tables, column))
        panels[0].set_yticks(range(len(rows)), rows)
        panels[0].invert_yaxis()
        first = reports[0]
        names = _joined([named(report.system) for report in reports], int(figure.get_figwidth() / _LETTER))
        figure.suptitle(f"{names}\n{first.profile}: {first.over}", fontsize=10, x=0.01, ha="left")
        if len(tables) > 1:
            handles, labels = panels[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False)
    return figure


def _row_name(row: Sequence[Cell], table: Table) -> str:
    """The name of a row, with how much it is over."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    count = next((row[places[name]] for name in _COUNTS if name in places), None)
    return f"{named(str(row[0]))} ({count:,.0f})" if isinstance(count, int | float) else named(str(row[0]))


def _shade(number: int, many: int) -> str:
    return "#33608c" if many == 1 else colour(number)


def _scaled(cell: Cell, column: Column) -> tuple[float, float, float]:
    """Value, lower and upper end as they are shown; nan where a score is not defined."""
    times = 100.0 if column.unit == "%" else 1.0
    if isinstance(cell, Interval):
        value, low, high = (float(part) * times for part in cell)
        return value, low, high
    value = float(cell) * times if isinstance(cell, int | float) else math.nan
    return value, math.nan, math.nan


def _bars(axes: Any, table: Table, column: Column, number: int, many: int, system: str) -> None:
    """The bars of one system in one panel; numbers beside them where there is only one."""
    place = [each.name for each in table.columns].index(column.name)
    cells = [_scaled(row[place], column) for row in table.rows]
    thick = 0.8 / many
    at = np.arange(len(cells)) + (number - (many - 1) / 2) * thick
    values = np.array([value if math.isfinite(value) else math.nan for value, _, _ in cells])
    axes.barh(at, np.nan_to_num(values), height=thick * 0.92, color=_shade(number, many), label=named(system))
    ends = np.array([(low, high) for _, low, high in cells])
    known = np.isfinite(ends).all(axis=1) & np.isfinite(values)
    if known.any():
        axes.hlines(at[known], ends[known, 0], ends[known, 1], color="#222222", linewidth=1.2)
    if many == 1:
        for y, (value, low, high) in zip(at, cells, strict=True):
            right = max(part for part in (value, high, 0.0) if math.isfinite(part))
            axes.annotate(_number(value, low, high, column.digits), (right, y), xytext=(4, 0), va="center",
                          textcoords="offset points", fontsize=7.5,
                          bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6})  # fmt: skip


def _ends(tables: Sequence[Table], column: Column) -> tuple[float, float]:
    """Where the axis of a column begins and ends.

    A jackknife may give ends that no score can have: no axis shows them, the numbers tell them.
    """
    place = [each.name for each in tables[0].columns].index(column.name)
    cells = [_scaled(row[place], column) for table in tables for row in table.rows]
    values = [value for value, _, _ in cells if math.isfinite(value)]
    highs = [*values, *(high for _, _, high in cells if math.isfinite(high))]
    least, most = min([0.0, *values]), max(highs, default=1.0)
    return least * 1.1, min(most * 1.05 or 1.0, max([_GREATEST.get(column.unit, math.inf), *values]))


def _joined(names: Sequence[str], width: int) -> str:
    """*names* in lines of at most *width* letters, where no name is longer."""
    lines: list[str] = []
    for name in names:
        if lines and len(lines[-1]) + len(name) + 2 <= width:
            lines[-1] += f", {name}"
        else:
            lines.append(name)
    return ",\n".join(lines)


def _number(value: float, low: float, high: float, digits: int) -> str:
    if math.isnan(value):
        return "not defined"
    text = f"{value:.{digits}f}"
    return f"{text} [{low:.{digits}f}, {high:.{digits}f}]" if math.isfinite(low) and math.isfinite(high) else text


def _overall(axes: Any, cell: Cell, column: Column, shade: str) -> None:
    value, _, _ = _scaled(cell, column)
    if math.isfinite(value):
        axes.axvline(value, color=shade, linestyle="--", linewidth=1)
