"""What a scorer gives back: tables of numbers, what there is to know about them, and systems side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from seldio.errors import UsageError
from seldio.text import listed


class Interval(NamedTuple):
    """A number with its confidence interval (95 %)."""

    value: float
    low: float
    high: float


#: A cell of a table; None where there is nothing to say, NaN where the score is not defined.
Cell = str | int | float | Interval | None


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: in csv and json.
        title: for people.
        unit: of its numbers, ``%`` for shares that are kept from 0 to 1 and shown from 0 to 100.
        digits: decimals that are shown; json and csv keep all.
        better: which way is better, where there is one.
        meaning: one sentence.
    """

    name: str
    title: str
    unit: str = ""
    digits: int = 3
    better: Literal["higher", "lower"] | None = None
    meaning: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """Numbers of one kind.

    Args:
        name: in file names and json, e.g. ``classes``.
        title: what they are, over what.
        columns: the first one names the row.
        rows: one cell for each column.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclasses.dataclass(frozen=True)
class Notice:
    """Something to know about the numbers.

    Args:
        name: short and stable, e.g. ``last-frame``.
        text: what it is, how much it matters here, and what to do.
        grave: whether the numbers may mislead without it.
        first: whether it is to be read before the numbers, as these may be of no use.
    """

    name: str
    text: str
    grave: bool = False
    first: bool = False


def in_order(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """*notices* as reports show them: what is to be read before the numbers, then the grave ones."""
    return tuple(sorted(notices, key=lambda notice: (not notice.first, not notice.grave)))


@dataclasses.dataclass(frozen=True)
class ScoreReport:
    """A system's score.

    Args:
        system: what was scored.
        profile: the way of scoring, as ``--profile`` names it.
        title: what the profile is, in a sentence.
        over: what the numbers are over, e.g. ``54 clips, 13 classes``.
        tables: the first one is the overall score.
        notices: what there is to know.
        settings: options that shape the numbers.
    """

    system: str
    profile: str
    title: str
    over: str
    tables: tuple[Table, ...]
    notices: tuple[Notice, ...] = ()
    settings: Mapping[str, str | float | int | bool | None] = dataclasses.field(default_factory=dict)

    @property
    def overall(self) -> dict[str, Cell]:
        """The first row of the first table, by column name."""
        table = self.tables[0]
        return dict(zip((column.name for column in table.columns), table.rows[0], strict=True))


_SYSTEM = Column("system", "system")
_PROFILE = Column("profile", "profile", meaning="the way of scoring")


def side_by_side(reports: Sequence[ScoreReport], name: str | None = None) -> Table:
    """The rows of one table of each report in one table; of a single report, the table itself.

    A column of one name that means another thing in another profile stands apart, as ``NAME@PROFILE``. Further rows
    of an overall score follow that of their system.

    Args:
        reports: at least one.
        name: of the table; the first one, with the overall score, without.

    Raises:
        UsageError: no report has that table; the message lists what there is.
    """
    found = [(report, table) for report in reports for table in report.tables if name in (None, table.name)]
    if name is None:
        found = [(report, report.tables[0]) for report in reports]
    if not found:
        there = list(dict.fromkeys(table.name for report in reports for table in report.tables))
        raise UsageError(f"there is no table {name!r}; there are {listed(there, 20)}")
    if len(reports) == 1:
        return found[0][1]
    mixed = len({report.profile for report, _ in found}) > 1
    columns = _columns(found)
    heads = (_SYSTEM, *((_PROFILE,) if mixed else ()), *((found[0][1].columns[0],) if name is not None else ()))
    rows: dict[str, tuple[Cell, ...]] = {}
    shared: set[str] = set()
    for report, table in found:
        for number, row in enumerate(table.rows):
            cells = {_key(report, column, columns): cell for column, cell in zip(table.columns, row, strict=True)}
            rest = tuple(cells.get(key) for key in columns)
            profile = (report.profile,) if mixed else ()
            if name is not None:
                head: tuple[Cell, ...] = (report.system, *profile, row[0])
            else:
                head = (report.system if number == 0 else row[0], *profile)
            key = repr((report.system if number == 0 or name is not None else "", head, rest))
            if number and name is None and key in rows:
                shared.add(key)  # rows that several reports have, such as published ones, come once and last
            rows.setdefault(key, (*head, *rest))
    title = f"{found[0][1].title}, systems side by side"
    ordered = sorted(rows, key=shared.__contains__)
    return Table(found[0][1].name, title, _unique((*heads, *columns.values())), tuple(rows[key] for key in ordered))


#: What tells columns of one name apart.
_Key = tuple[str, str]


def _columns(found: Sequence[tuple[ScoreReport, Table]]) -> dict[_Key, Column]:
    """All columns but the first of each table, in order of appearance."""
    columns: dict[_Key, Column] = {}
    for report, table in found:
        for column in table.columns[1:]:
            known = columns.setdefault((column.name, ""), column)
            if not _alike(known, column):
                title = f"{column.title} ({report.profile})"
                other = dataclasses.replace(column, name=f"{column.name}@{report.profile}", title=title)
                columns.setdefault((column.name, report.profile), other)
    return columns


def _key(report: ScoreReport, column: Column, columns: Mapping[_Key, Column]) -> _Key:
    """Where a column of a report has its place."""
    known = columns.get((column.name, ""))
    return (column.name, "" if known is None or _alike(known, column) else report.profile)


def _alike(one: Column, other: Column) -> bool:
    return (one.unit, one.better, one.meaning) == (other.unit, other.better, other.meaning)


def _unique(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns with a number behind a name that stood before."""
    seen: dict[str, int] = {}
    unique = []
    for column in columns:
        count = seen[column.name] = seen.get(column.name, 0) + 1
        unique.append(column if count == 1 else dataclasses.replace(column, name=f"{column.name}_{count}"))
    return tuple(unique)
