"""Which prediction belongs to which reference source, in every frame and class at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment

from seldio.scores.seld.sides import Floats, Ints

#: Degrees between prepared rows of both sides; shapes [parts, ...] broadcast.
Between: TypeAlias = Callable[[Floats, Floats], Floats]

#: Rows and columns of the chosen pairs of many cost matrices, shape [matrices, pairs] each.
Chosen: TypeAlias = tuple[Ints, Ints]


class Cells(NamedTuple):
    """How many rows each cell, a frame and a class, has on both sides; shape [cells] each."""

    references: Ints
    predictions: Ints


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """Cells that have rows on both sides, equally many in each of them.

    Args:
        cells: their numbers.
        reference: rows of each cell in the order that counts for ties, shape [cells, references].
        prediction: likewise.
        cost: degrees between them, shape [cells, references, predictions].
    """

    cells: Ints
    reference: Ints
    prediction: Ints
    cost: Floats

    @property
    def single(self) -> bool:
        """Whether there is nothing to choose, with one row on each side."""
        return self.cost.shape[1:] == (1, 1)

    @property
    def nothing(self) -> Chosen:
        """The pairs where there is nothing to choose."""
        none = np.zeros((len(self.cells), 1), dtype=np.int64)
        return none, none


@dataclasses.dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of rows that the least total distance puts together.

    Args:
        cell: of each pair.
        track: which of the references of its cell, by their order in the file.
        reference: its row.
        prediction: row of the prediction.
        error: degrees between them.
    """

    cell: Ints
    track: Ints
    reference: Ints
    prediction: Ints
    error: Floats


def grouped(
    reference: Ints, prediction: Ints, cells: int, a: Floats, b: Floats, between: Between
) -> tuple[Cells, list[Group]]:
    """The rows of all cells that both sides have, and how far they are from each other.

    Args:
        reference: the cell of each reference row, rows of a cell in the order that counts for ties.
        prediction: the cell of each predicted row.
        cells: how many cells there are.
        a: reference rows as the distance wants them, shape [parts, rows].
        b: predicted rows likewise.
        between: the distance in degrees.

    Returns:
        How many rows each cell has, and the cells with rows on both sides.
    """
    counts = Cells(np.bincount(reference, minlength=cells), np.bincount(prediction, minlength=cells))
    found = [_single(reference, prediction, counts, a, b, between)]
    many = (counts.references > 0) & (counts.predictions > 0) & (counts.references + counts.predictions > 2)
    if many.any():
        found += _several(reference, prediction, counts, many, a, b, between)
    return counts, found


def match(groups: Iterable[Group]) -> Matches:
    """The pairs of the least total distance, as scipy chooses among equal ones; in no particular order."""
    return pairs((group, group.nothing if group.single else _assigned(group.cost)) for group in groups)


def pairs(chosen: Iterable[tuple[Group, Chosen]]) -> Matches:
    """The chosen pairs of many groups."""
    found = [_pairs(group, *places) for group, places in chosen]
    return Matches(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _pairs(group: Group, i: Ints, j: Ints) -> tuple[Ints | Floats, ...]:
    if group.single:
        return group.cells, i[:, 0], group.reference[:, 0], group.prediction[:, 0], group.cost[:, 0, 0]
    n = np.arange(len(group.cells))[:, None]
    rows = group.reference[n, i].ravel(), group.prediction[n, j].ravel()
    return np.repeat(group.cells, i.shape[1]), i.ravel(), *rows, group.cost[n, i, j].ravel()


def _single(reference: Ints, prediction: Ints, counts: Cells, a: Floats, b: Floats, between: Between) -> Group:
    """Cells with one row on each side: nothing to choose."""
    cells = np.flatnonzero((counts.references == 1) & (counts.predictions == 1))
    row = np.empty(len(counts.references), dtype=np.int64)
    row[reference] = np.arange(len(reference))
    r = row[cells]
    row[prediction] = np.arange(len(prediction))
    p = row[cells]
    return Group(cells, r[:, None], p[:, None], between(a[:, r], b[:, p])[:, None, None])


def _several(
    reference: Ints,
    prediction: Ints,
    counts: Cells,
    many: np.ndarray,
    a: Floats,
    b: Floats,
    between: Between,
) -> Iterator[Group]:
    """Cells with more rows, all cells of one shape together."""
    r_rows, r_first = _by_cell(reference, many)
    p_rows, p_first = _by_cell(prediction, many)
    cells = np.flatnonzero(many)
    shape = counts.references[cells] * (int(counts.predictions.max()) + 1) + counts.predictions[cells]
    for one in np.unique(shape):
        here = np.flatnonzero(shape == one)
        height, width = counts.references[cells[here[0]]], counts.predictions[cells[here[0]]]
        r = r_rows[r_first[here][:, None] + np.arange(height)]
        p = p_rows[p_first[here][:, None] + np.arange(width)]
        yield Group(cells[here], r, p, between(a[:, r][:, :, :, None], b[:, p][:, :, None, :]))


def _by_cell(cell_of_row: Ints, many: np.ndarray) -> tuple[Ints, Ints]:
    """The rows in cells of *many*, by cell and in their order, and where each cell begins among them."""
    rows = np.flatnonzero(many[cell_of_row])
    cells = cell_of_row[rows]
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    return rows[order], np.flatnonzero(np.diff(ordered, prepend=-1))


def _assigned(cost: Floats) -> Chosen:
    """The cheapest pairings of many cost matrices.

    With one row or one column the cheapest entry is the answer, the first of equal ones, as scipy has it.
    """
    count, height, width = cost.shape
    if height == 1:
        return np.zeros((count, 1), dtype=np.int64), cost[:, 0].argmin(axis=1)[:, None]
    if width == 1:
        return cost[:, :, 0].argmin(axis=1)[:, None], np.zeros((count, 1), dtype=np.int64)
    pairs = [linear_sum_assignment(matrix) for matrix in cost]
    return np.array([i for i, _ in pairs]), np.array([j for _, j in pairs])
