"""The parts of all reports: tables with columns and rows, notices about them, and systems side by side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from seldio.errors import UsageError
from seldio.findings import Report, Rule
from seldio.text import Displayed, listed, plural, printable

ARROWS = {"higher": "↑", "lower": "↓"}

if TYPE_CHECKING:
    import pandas as pd


class Interval(NamedTuple):
    """A number with its confidence interval (95 %)."""

    value: float
    low: float
    high: float

    @property
    def mark(self) -> str:
        """Return its mark in csv: ``unreliable``, ``weak``, or nothing."""
        return {UnreliableInterval: "unreliable", WeakInterval: "weak"}.get(type(self), "")


class UnreliableInterval(Interval):
    """An interval from too few clips, or none (NaN): people are shown the value alone, json and csv keep the ends."""

    __slots__ = ()


class WeakInterval(Interval):
    """An interval that rests on few clips, or in part on too few, as means over classes may: shown with an asterisk."""

    __slots__ = ()


#: What follows the column of an interval's value, as ``NAME_low``.
INTERVAL_PARTS = ("low", "high", "mark")


class Phrase(NamedTuple):
    """Text of several kinds in one cell: pieces of ``text``, ``code`` or ``break``, or with the address of a link."""

    pieces: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "".join(text for _, text in self.pieces)


#: A cell of a table; None where there is nothing to say, NaN where the score is not defined.
Cell = str | int | float | Interval | Phrase | None


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str  # in csv and json
    title: str  # for people
    unit: str = ""  # of its numbers, ``%`` for shares that are kept from 0 to 1 and shown from 0 to 100
    digits: int = 3  # decimals that are shown; json and csv keep all
    better: Literal["higher", "lower"] | None = None  # which way is better, where there is one
    meaning: str = ""  # one sentence

    @property
    def named(self) -> str:
        """Return the title with its unit: ``F (%)``; printable."""
        return printable(f"{self.title} ({self.unit})" if self.unit else self.title)

    @property
    def header(self) -> str:
        """Return the title with its unit and an arrow that points to the better side: ``F (%) ↑``; printable."""
        return f"{self.named} {ARROWS[self.better]}" if self.better else self.named

    def shown(self, cell: Cell) -> str:
        """Return a cell as people read it: ``0.62 [0.57, 0.68]`` for an interval, nothing for None; printable."""
        if cell is None:
            return ""
        if isinstance(cell, str | Phrase):
            return printable(str(cell))
        if isinstance(cell, UnreliableInterval):
            return self.number(cell.value)
        if isinstance(cell, Interval):
            value, low, high = map(self.number, cell)
            return f"{value} [{low}, {high}]{'*' * isinstance(cell, WeakInterval)}"
        return self.number(cell)

    def number(self, value: float) -> str:
        """Return a number as people read it: rounded, shares in per cent, ``n/a`` for NaN."""
        if math.isnan(value):
            return "n/a"
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        if isinstance(value, int) and self.unit != "%":
            return f"{value:,}"
        return f"{100 * value if self.unit == '%' else value:z,.{self.digits}f}"


@dataclasses.dataclass(frozen=True, repr=False)
class Table(Displayed):
    """Rows of one kind.

    Args:
        name: in file names and json, e.g. ``classes``.
        title: what they are, over what.
        columns: the first one names the row.
        rows: one cell for each column.
        aside: whether ``seldio score`` prints it only with ``--details``.
        top: how many of its rows ``seldio score`` prints without ``--details``; all of them if not given.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    #: whether text without details leaves it out; a matter of display alone
    aside: bool = dataclasses.field(default=False, repr=False, compare=False)
    top: int | None = dataclasses.field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.name}: {plural(len(self.rows), 'row')} of {listed([each.name for each in self.columns], 20)}"

    def _repr_html_(self) -> str:
        from seldio.reports.page import table_html

        return table_html(self)

    @property
    def briefly(self) -> Table:
        """Return the table as people read it: that no interval in it is reliable is said once, above it."""
        place = next((place for place, column in enumerate(self.columns) if column.name == "interval"), None)
        if place is None or not self.rows or any(row[place] in (None, "") for row in self.rows):
            return self
        flag = str(self.rows[0][place])
        if any(row[place] != flag for row in self.rows):
            return self
        columns, *rows = (row[:place] + row[place + 1 :] for row in (self.columns, *self.rows))
        title = self.title if flag in self.title else f"{self.title}; {flag} for intervals"
        return dataclasses.replace(self, title=title, columns=columns, rows=tuple(rows))  # type: ignore[arg-type]

    @property
    def numeric(self) -> list[bool]:
        """Return for each column whether it contains only numbers; the first is text."""
        columns = ([row[place] for row in self.rows if row[place] is not None] for place in range(len(self.columns)))
        numbers = [bool(cells) and not any(isinstance(cell, str | Phrase) for cell in cells) for cells in columns]
        return [False, *numbers[1:]]

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        return iter(self.rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        columns = self.cells_by_name() if self.rows else {}
        mixed = {
            name for name, cells in columns.items() if len({isinstance(c, str) for c in cells if c is not None}) > 1
        }
        texts = {name: [None if cell is None else str(cell) for cell in columns[name]] for name in mixed}
        return pa.table({**columns, **texts}).__arrow_c_stream__(requested_schema)

    def cells_by_name(self) -> dict[str, list[Cell]]:
        """Return the cells of each column; intervals are values, with their ends and marks in columns of their own."""
        columns: dict[str, list[Cell]] = {}
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            columns[column.name] = [cell.value if isinstance(cell, Interval) else cell for cell in cells]
            if any(isinstance(cell, Interval) for cell in cells):
                for part in INTERVAL_PARTS:
                    columns[f"{column.name}_{part}"] = [getattr(cell, part, None) for cell in cells]
        return columns

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a DataFrame, with units in ``attrs``, where that of a share from 0 to 1 is ``1``.

        An interval's ends and mark are in ``NAME_low``, ``NAME_high`` and ``NAME_mark``.
        """
        import pyarrow as pa

        frame: pd.DataFrame = pa.table(self).to_pandas()
        ends = {f"{column.name}_{end}": column.unit for column in self.columns for end in ("low", "high")}
        units = {**{column.name: column.unit for column in self.columns}, **ends}
        frame.attrs["units"] = {
            name: unit.replace("%", "1") for name, unit in units.items() if unit and name in frame.columns
        }
        return frame


@dataclasses.dataclass(frozen=True)
class Notice:
    """Something to know about what a report shows."""

    name: str  # short and stable, e.g. ``last-frame``; none where the text says all.
    text: str  # what it is, how much it matters here, and what to do
    grave: bool = False  # whether the numbers may mislead without it
    first: bool = False  # whether it is to be read before the numbers, as these may be of no use


def counted(name: str, number: int, noun: str, text: str, grave: bool = False) -> list[Notice]:
    """Return a notice on a *number* of things, which its *text* is about; none where there are none of them."""
    return [Notice(name, f"{plural(number, noun)} {text}", grave)] if number else []


def in_order(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return *notices* as reports show them: what is to be read before the numbers, then the grave ones."""
    return tuple(sorted(notices, key=lambda notice: (not notice.first, not notice.grave)))


def said_of(systems: Sequence[str], notices: Sequence[Sequence[Notice]]) -> Iterator[Notice]:
    """Yield the notices of several systems, each once; it names its systems unless all have it."""
    names: dict[Notice, list[str]] = {}
    for system, of_system in zip(systems, notices, strict=True):
        for notice in dict.fromkeys(of_system):
            names.setdefault(notice, []).append(system)
    for notice, named in names.items():
        prefix = "" if len(named) == len(systems) else f"{listed(named)}: "
        yield dataclasses.replace(notice, text=f"{prefix}{notice.text}")


@dataclasses.dataclass(frozen=True, repr=False)
class ScoreReport(Displayed):
    """A system's score.

    Args:
        system: what was scored.
        profile: the way of scoring, as ``--profile`` names it.
        title: what the profile is, in a sentence.
        over: what the numbers are over, e.g. ``54 clips, 13 classes``.
        tables: the first one is the overall score.
        notices: what there is to know.
        settings: options that shape the numbers.
        signature: what the numbers rest on, in one line, see :mod:`seldio.scores.signatures`; empty where none is made.
        verdict: what a comparison comes to, in a sentence; empty for the score of one system.
        lead: the name of the measure that decides which system is better; empty where none does.
    """

    system: str
    profile: str
    title: str
    over: str
    tables: tuple[Table, ...]
    notices: tuple[Notice, ...] = ()
    settings: Mapping[str, str | float | int | bool | None] = dataclasses.field(default_factory=dict)
    signature: str = ""
    verdict: str = ""
    lead: str = ""

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def __str__(self) -> str:
        """Return the text that ``seldio score --details`` prints."""
        from seldio.reports import render

        return "".join(render([self])).rstrip("\n")

    @property
    def in_brief(self) -> str:
        """Return the system, the verdict of a comparison or the first numbers, and the clips or questions in a line."""
        rows = [(table.columns[1:], row[1:]) for table in self.tables[:1] for row in table.rows[:1]]
        first = [pair for columns, row in rows for pair in zip(columns, row, strict=False)]
        shown = (f"{column.title} {column.shown(cell)} {column.unit}".strip() for column, cell in first if cell != "")
        numbers = ", ".join(shown)
        return ": ".join(filter(None, (self.system, self.verdict.rstrip(".") or numbers or self.title, self.over)))

    def _repr_html_(self) -> str:
        from seldio.reports.page import as_html

        return as_html(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def table(self, name: str | None = None) -> Table:
        """Return the table of that name; the overall score without one.

        Raises:
            UsageError: there is no such table; the message lists what there is.
        """
        return side_by_side([self], name)

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Return a table as a DataFrame, see :meth:`table`."""
        return self.table(table).to_pandas()

    def to_json(self) -> str:
        """Return the report as ``seldio score --json`` writes it; every digit is kept."""
        from seldio.reports import render

        return "".join(render([self], "json"))

    @property
    def overall(self) -> dict[str, Cell]:
        """Return the first row of the first table, by column name."""
        table = self.tables[0]
        return dict(zip((column.name for column in table.columns), table.rows[0], strict=True))


def measured(columns: Sequence[Column], name: str) -> int:
    """Return the place of the measure that ``--lead`` names.

    Raises:
        UsageError: there is no such measure.
    """
    for place, column in enumerate(columns):
        if name.casefold() in (column.name.casefold(), column.title.casefold()) and column.better:
            return place
    names = ", ".join(dict.fromkeys(column.name for column in columns if column.better))
    raise UsageError(f"--lead {printable(name)}: choose from {names}")


#: The findings of a run, or the scores of systems.
Subject: TypeAlias = Report | Sequence[ScoreReport]


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How a report is to be rendered; an output takes from this what concerns it."""

    #: the rules by code; a code that is missing there is shown without its name
    catalogue: Mapping[str, Rule] = dataclasses.field(default_factory=dict)
    max_per_rule: int | None = 20  # how many findings of one rule are displayed to people; None for all
    statistics: bool = False  # whether findings for people end with a table by rule
    #: for scores, the name of the one table to give, but in json; without, all of them, in csv in the long form
    table: str | None = None
    details: bool = True  # whether scores as text have every table and notice, and what the columns mean
    color: bool = False  # whether text uses ANSI colours
    width: int = 100  # how many terminal cells a line of text may take
    wrap: bool = False  # whether long lines of findings are broken between words, as on a terminal


def side_by_side(reports: Sequence[ScoreReport], name: str | None = None) -> Table:
    """Return the rows of one table of each report in one table; of a single report, the table itself.

    A column of one name that means another thing in another profile stands apart, as ``NAME@PROFILE``. Further rows
    of an overall score follow that of their system.

    Args:
        reports: at least one.
        name: of the table; the first one, with the overall score, without.

    Raises:
        UsageError: no report has that table; the message lists what there is.
    """
    firsts = [report.tables[0] for report in reports]
    overall = name is None or all(table.name == name and table.columns[0].name == "system" for table in firsts)
    chosen = [(report, table) for report in reports for table in report.tables if table.name == name]
    if overall:
        chosen = list(zip(reports, firsts, strict=True))
    if not chosen:
        names = list(dict.fromkeys(table.name for report in reports for table in report.tables))
        raise UsageError(f"unknown table {name!r}; choose from {listed(names, 20)}")
    first_table = chosen[0][1]
    if len(reports) == 1:
        return first_table
    mixed = len({report.profile for report, _ in chosen}) > 1
    heads = [Column("system", "system"), *[Column("profile", "profile", meaning="the scoring profile")] * mixed]
    heads += [] if overall else [first_table.columns[0]]
    columns: dict[str, Column] = {}  # by a name that none of the heads has
    names_of_tables = []  # of their columns in the order of the table, all of them known before the first row
    for report, table in chosen:
        columns_by_label = {}
        for column in table.columns[1:]:
            label = f"{column.name}_2" if column.name in [head.name for head in heads] else column.name
            same = columns.setdefault(label, dataclasses.replace(column, name=label))
            if (same.unit, same.better, same.meaning) != (column.unit, column.better, column.meaning):
                label, title = f"{label}@{report.profile}", f"{column.title} ({report.profile})"
                columns.setdefault(label, dataclasses.replace(column, name=label, title=title))
            columns_by_label[label] = column
        names_of_tables.append(columns_by_label)
    rows: dict[str, tuple[Cell, ...]] = {}
    shared: set[str] = set()  # what several reports have, such as published scores, comes once and last
    for (report, table), columns_by_label in zip(chosen, names_of_tables, strict=True):
        for number, (first_cell, *cells) in enumerate(table.rows):
            is_further = overall and number > 0
            system, named = first_cell if is_further else report.system, [] if overall else [first_cell]
            head = (system, *[report.profile] * mixed, *named)
            by_name = dict(zip(columns_by_label, cells, strict=True))
            row = (*head, *(by_name.get(label) for label in columns))
            text = repr(row) if is_further else f"{report.system} {row!r}"
            shared |= {text} if is_further and text in rows else set()
            rows.setdefault(text, row)
    body = tuple(rows[text] for text in sorted(rows, key=shared.__contains__))
    return Table(first_table.name, f"{first_table.title}, systems side by side", (*heads, *columns.values()), body)
