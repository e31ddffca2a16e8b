"""Numbers about event tables of one layout, which can be added up: what a plan is made of."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pyarrow as pa


@dataclasses.dataclass
class Columns:
    """The rows of a table, and in how many of them each of its columns is known."""

    rows: int = 0
    known: dict[str, int] = dataclasses.field(default_factory=dict)

    @staticmethod
    def of(table: pa.Table) -> Columns:
        """Those of *table*."""
        known = {field: table.num_rows - table[field].null_count for field in table.column_names}
        return Columns(table.num_rows, known)

    def has(self, field: str) -> bool:
        """Whether *field* is known of any row."""
        return self.known.get(field, 0) > 0

    def unknown(self, field: str) -> int:
        """The number of rows of which *field* is not known."""
        return self.rows - self.known.get(field, 0)

    @property
    def are_events(self) -> bool:
        """Whether rows are whole events and not event frames."""
        return self.has("onset") and not self.has("frame")

    def add(self, other: Columns) -> None:
        """Count the rows of *other* too."""
        self.rows += other.rows
        for field, count in other.known.items():
            self.known[field] = self.known.get(field, 0) + count


@dataclasses.dataclass
class Facts:
    """What a plan is made of.

    Args:
        table: of the rows with what was filled in.
        timed: of the rows as events or frames of the target.
        counts: of rows, events and clips, by what they are counted for.
        least: the smallest number of each kind.
        most: the largest.
        names: of classes and keys, in the order in which they were met, with the number of their rows.
    """

    table: Columns = dataclasses.field(default_factory=Columns)
    timed: Columns = dataclasses.field(default_factory=Columns)
    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    least: dict[str, float] = dataclasses.field(default_factory=dict)
    most: dict[str, float] = dataclasses.field(default_factory=dict)
    names: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)

    def range(self, what: str, low: float, high: float) -> None:
        """Take in that *what* goes from *low* to *high*."""
        self.least[what] = min(low, self.least.get(what, low))
        self.most[what] = max(high, self.most.get(what, high))

    def name(self, what: str, name: str, rows: int = 1) -> None:
        """Take in *rows* of *name*, which is a *what*."""
        group = self.names.setdefault(what, {})
        group[name] = group.get(name, 0) + rows

    def add(self, other: Facts) -> None:
        """Take in what is known of further rows, of other clips."""
        self.table.add(other.table)
        self.timed.add(other.timed)
        self.counts.update(other.counts)
        for what, low in other.least.items():
            self.range(what, low, other.most[what])
        for what, group in other.names.items():
            for name, rows in group.items():
                self.name(what, name, rows)
