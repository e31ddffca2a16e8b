"""F-scores of analyses on other clips: sums by clip of what is found, of what there is and of what is predicted.

Onset and offset F of events and IDF1 are means over classes of ``2 * found / (references + predictions)``. So a
resample of the clips is a product of matrices, as it is for the official scores (:mod:`seldio.scores.resampling`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seldio.reports.tables import Column, Table
from seldio.scores.resampling import ENOUGH, FEWEST, Resampling, effective, interval, interval_cells, weights
from seldio.scores.seld.rows import Floats, Ints


@dataclasses.dataclass(frozen=True)
class ClipSums:
    """Some F-scores of a system, by clip."""

    columns: tuple[Column, ...]  # of the scores
    #: found, references and predictions of each score, shape [clips, scores, 3, classes]
    sums: Ints
    labelled: tuple[bool, ...]  # of each score, whether only classes that have references count, or predicted ones too
    table: str = ""  # the name of the table that has the scores
    cells: tuple[tuple[int, int], ...] = ()  # row and column of each score in it

    def scores(self, sums: Floats | None = None) -> Floats:
        """The scores of some *sums*, shape [batch, scores]; by default of all clips, as one batch."""
        if sums is None:
            sums = self.sums.sum(axis=0, keepdims=True)
        found, references, predictions = (sums[:, :, number] for number in range(3))
        both = references + predictions
        there = np.where(np.array(self.labelled)[:, None], references, both) > 0
        f = np.where(there, 2 * found / np.maximum(both, 1), 0.0).sum(axis=2)
        return np.where(there.any(axis=2), f / np.maximum(there.sum(axis=2), 1), np.nan)

    def weighted(self, some: Floats) -> Floats:
        """Sums of clips with weights, shape [batch, scores, 3, classes]; the weights are of shape [batch, clips]."""
        flat = some @ self.sums.reshape(len(self.sums), -1)
        return np.asarray(flat.reshape(len(some), *self.sums.shape[1:]))

    def resampled(self, draw: Resampling, unit_of: Ints) -> Floats:
        """The scores of each resample, shape [resamples, scores]."""
        return np.concatenate([self.scores(self.weighted(batch)) for batch in weights(draw, unit_of)])

    def support(self, unit_of: Ints) -> Floats:
        """On how many clips, or rooms, each score rests in effect, shape [scores]."""
        return effective(self.sums[:, :, 1:].sum(axis=(2, 3)), unit_of)

    def weak(self, unit_of: Ints) -> NDArray[np.bool_]:
        """Which scores rest on few clips, or rooms, in effect, or on a class that too few tell about."""
        there = self.sums.sum(axis=0)
        counted = np.where(np.array(self.labelled)[:, None], there[:, 1], there[:, 1] + there[:, 2]) > 0
        few = effective(self.sums[:, :, 1:].sum(axis=2), unit_of) < FEWEST
        return np.asarray((self.support(unit_of) < ENOUGH) | (counted & few).any(axis=1))

    def take(self, clips: Any) -> ClipSums:
        """Those of some clips."""
        return dataclasses.replace(self, sums=self.sums[clips])

    def with_intervals(self, table: Table, draw: Resampling, unit_of: Ints) -> Table:
        """*table* with the 95 % bootstrap intervals of these scores, if it is theirs."""
        if table.name != self.table:
            return table
        units = int(unit_of.max(initial=-1)) + 1
        low, high = interval(self.resampled(draw, unit_of), units)
        rows = [list(row) for row in table.rows]
        values = np.array([rows[row][column] for row, column in self.cells], dtype=np.float64)
        found = interval_cells(values, low, high, self.support(unit_of) >= FEWEST, self.weak(unit_of))
        for (row, column), cell in zip(self.cells, found, strict=True):
            rows[row][column] = cell
        title = f"{table.title}; 95 % confidence intervals by bootstrap over {draw.over}"
        return dataclasses.replace(table, title=title, rows=tuple(map(tuple, rows)))


def together(some: list[ClipSums]) -> ClipSums:
    """The scores of several analyses of one system side by side."""
    return ClipSums(
        tuple(column for each in some for column in each.columns), np.concatenate([each.sums for each in some], axis=1),
        tuple(flag for each in some for flag in each.labelled),
    )  # fmt: skip


def exchanged_sums(one: ClipSums, other: ClipSums) -> Callable[[Floats], Floats]:
    """The differences where some clips change sides between two systems."""
    change = dataclasses.replace(one, sums=other.sums - one.sums)
    first, second = one.sums.sum(axis=0), other.sums.sum(axis=0)

    def differences(sides: Floats) -> Floats:
        moved = change.weighted(sides)
        return np.asarray(one.scores(second - moved) - one.scores(first + moved))

    return differences
