"""What the formats of score reports share: how a cell, a header and a notice look to people."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

from seldio.reports.tables import Cell, Column, Interval, Notice, ScoreReport, Table
from seldio.text import printable

ARROWS = {"higher": "↑", "lower": "↓"}
UNDEFINED = "n/a"


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How score reports are to be rendered.

    Args:
        table: the name of the one table that csv gives; None for all of them in the long form.
        color: whether the text format uses ANSI colours.
        width: how many terminal cells a line of the text format may take.
    """

    table: str | None = None
    color: bool = False
    width: int = 100


def number(value: float, column: Column) -> str:
    """A number as people read it: so many digits, shares in per cent, ``n/a`` for NaN."""
    if math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if isinstance(value, int) and column.unit != "%":
        return f"{value:,}"
    return f"{100 * value if column.unit == '%' else value:z,.{column.digits}f}"


def shown(cell: Cell, column: Column) -> str:
    """A cell as people read it: ``0.62 [0.57, 0.68]`` for an interval, nothing for None; printable."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return printable(cell)
    if isinstance(cell, Interval):
        value, low, high = (number(each, column) for each in cell)
        return f"{value} [{low}, {high}]"
    return number(cell, column)


def named(column: Column) -> str:
    """The title of a column with its unit: ``F (%)``; printable."""
    return printable(f"{column.title} ({column.unit})" if column.unit else column.title)


def header(column: Column) -> str:
    """The title of a column with its unit and an arrow that points to the better side: ``F (%) ↑``."""
    return f"{named(column)} {ARROWS[column.better]}" if column.better else named(column)


def is_numeric(table: Table, place: int) -> bool:
    """Whether a column of *table* holds numbers and nothing else."""
    cells = [row[place] for row in table.rows if row[place] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def first(report: ScoreReport) -> list[Notice]:
    """The notices that are to be read before the tables."""
    return [notice for notice in report.notices if notice.first]


def ordered(report: ScoreReport) -> list[Notice]:
    """The other notices, the grave ones first."""
    return sorted((notice for notice in report.notices if not notice.first), key=lambda notice: not notice.grave)


def meanings(tables: Iterable[Table]) -> list[tuple[str, str]]:
    """Title and meaning of the columns of *tables*, each once; printable."""
    columns = [column for table in tables for column in table.columns if column.meaning]
    return list(dict.fromkeys((printable(column.title), printable(column.meaning)) for column in columns))


def headline(report: ScoreReport) -> str:
    """What was scored, and in which profile; printable."""
    return printable(f"{report.system}, profile {report.profile}")


def settings(report: ScoreReport) -> str:
    """The options of a score in a line; printable, empty where there are none."""
    return printable(", ".join(f"{name} {_setting(value)}" for name, value in report.settings.items()))


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def further(reports: Sequence[ScoreReport], report: ScoreReport) -> tuple[Table, ...]:
    """The tables of *report* that have to be shown beside that of all *reports*."""
    return report.tables if len(reports) == 1 else report.tables[1:]
