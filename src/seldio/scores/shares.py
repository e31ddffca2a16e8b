"""Shares of right answers, over all questions and over groups of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from seldio.scores.result import Cell, Column, Table

Flags = npt.NDArray[np.bool_]

ITEMS = Column("items", "items", "", 0, None, "questions that the row is over")
CHANCE = Column("chance", "chance", "%", 1, None, "expected of guessing evenly among the options")


@dataclasses.dataclass(frozen=True)
class Measured:
    """Which answers are right, by measure.

    Args:
        measures: for each column a flag for each question.
        options: how many options each question has; 0 where it has none.
        base: of a column whose share is not over all questions, those that it is over.
    """

    measures: Mapping[Column, Flags]
    options: Sequence[int]
    base: Mapping[Column, Flags] = dataclasses.field(default_factory=dict)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of every table: how many questions, each measure, and guessing."""
        return (ITEMS, *self.measures, CHANCE)

    def row(self, chosen: Sequence[int] | None = None) -> tuple[Cell, ...]:
        """The cells of :attr:`columns` over the questions with the numbers *chosen*; over all without."""
        numbers = np.arange(len(self.options)) if chosen is None else np.asarray(chosen, dtype=np.intp)
        shares = [self._share(column, flags, numbers) for column, flags in self.measures.items()]
        counts = np.asarray(self.options, dtype=float)[numbers]
        chance = float((1 / counts).mean()) if len(counts) and (counts > 0).all() else math.nan
        return (len(numbers), *shares, chance)

    def _share(self, column: Column, flags: Flags, numbers: npt.NDArray[np.intp]) -> float:
        base = self.base.get(column)
        kept = numbers if base is None else numbers[base[numbers]]
        return float(flags[kept].mean()) if len(kept) else math.nan

    def table(
        self, name: str, title: str, labels: Sequence[str | int | None], absent: str = "not given"
    ) -> Table | None:
        """A row for each label, in alphabetical order (numbers by size); None where no question has one.

        Args:
            name: of the table, and of its first column.
            title: what the groups are.
            labels: one for each question.
            absent: what stands for None.
        """
        groups: dict[Hashable, list[int]] = {}
        for number, label in enumerate(labels):
            groups.setdefault(label, []).append(number)
        if set(groups) <= {None}:
            return None
        order = sorted(groups, key=lambda label: (label is None, label if isinstance(label, int) else 0, str(label)))
        rows = tuple((absent if label is None else str(label), *self.row(groups[label])) for label in order)
        return Table(name, title, (Column(name, name.replace("_", " ")), *self.columns), rows)
