"""What a scorer gives back: tables of numbers, each saying what it is, and what there is to know about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal, NamedTuple


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
