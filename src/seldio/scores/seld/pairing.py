"""Which prediction belongs to which reference source: angular distances, frames and classes as one grid, least cost.

Each distance is written with the order of operations of the program it stands for: two sources exactly 20 degrees
apart pass or fail by the last bit, so the last bit has to be the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder
from importlib.util import module_from_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seldio import geometry
from seldio.scores.seld.rows import EventFrames, Floats, Ints


class Measure(NamedTuple):
    """An angular distance: what it needs of each row of a side, and degrees between prepared rows of both sides."""

    prepare: Callable[[EventFrames], Floats]  # shape [parts, rows]
    between: Callable[[Floats, Floats], Floats]  # shapes [parts, ...] broadcast


def _spherical(side: EventFrames) -> Floats:
    """Azimuth in radians, sine and cosine of the elevation, for the law of cosines of 2021 to 2023."""
    azimuth, elevation = side.azimuth * np.pi / 180.0, _elevation(side) * np.pi / 180.0
    return np.stack([azimuth, np.sin(elevation), np.cos(elevation)])


def _between_spherical(a: Floats, b: Floats) -> Floats:
    return _degrees(a[1] * b[1] + a[2] * b[2] * np.cos(np.abs(a[0] - b[0])))


def _cartesian(side: EventFrames) -> Floats:
    """Unit vectors as ``dcase2024`` makes them: a constant under the root keeps equal ones 0.0008 degrees apart."""
    azimuth, elevation = side.azimuth * np.pi / 180.0, _elevation(side) * np.pi / 180.0
    flat = np.cos(elevation)
    x, y, z = np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.sin(elevation)
    norm = np.sqrt(x**2 + y**2 + z**2 + 1e-10)
    return np.stack([x / norm, y / norm, z / norm])


def _between_cartesian(a: Floats, b: Floats) -> Floats:
    return _degrees(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def _folded(side: EventFrames) -> Floats:
    """Azimuth folded front to back, in degrees: ``dcase2025``, which wraps (and rounds) those in range as well."""
    return geometry.fold((side.azimuth + 180) % 360 - 180)[None]


def _between_folded(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.abs(a[0] - b[0]))


def _elevation(side: EventFrames) -> Floats:
    return np.zeros(len(side)) if side.elevation is None else side.elevation


def _degrees(cosine: Any) -> NDArray[np.float64]:
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)) * 180 / np.pi)


SPHERICAL = Measure(_spherical, _between_spherical)
CARTESIAN = Measure(_cartesian, _between_cartesian)
FOLDED = Measure(_folded, _between_folded)


class CellGroup(NamedTuple):
    """Cells that have rows on both sides, equally many in each of them."""

    cells: Ints  # their numbers
    reference: Ints  # rows of each cell in the order that counts for ties, shape [cells, references]
    prediction: Ints  # likewise
    cost: Floats  # degrees between them, shape [cells, references, predictions]

    @property
    def single(self) -> bool:
        """Whether there is nothing to choose, with one row on each side."""
        return self.cost.shape[1:] == (1, 1)

    @property
    def pairs(self) -> Matches:
        """The pairs of the least total distance, as scipy chooses among equal ones."""
        if self.single:
            track = np.zeros(len(self.cells), dtype=np.int64)
            return Matches(self.cells, track, self.reference[:, 0], self.prediction[:, 0], self.cost[:, 0, 0])
        (i, j), n = assigned(self.cost), np.arange(len(self.cells))[:, None]
        cells, rows = np.repeat(self.cells, i.shape[1]), (self.reference[n, i].ravel(), self.prediction[n, j].ravel())
        return Matches(cells, i.ravel(), *rows, self.cost[n, i, j].ravel())


class Matches(NamedTuple):
    """Pairs of rows that belong together; one entry each."""

    cell: Ints
    track: Ints  # which of the references of the cell, by their order in the file
    reference: Ints  # its row
    prediction: Ints  # row of the prediction
    error: Floats  # degrees between them


def cell_groups(
    cells: tuple[Ints, Ints], counts: tuple[Ints, Ints], a: Floats, b: Floats, between: Any
) -> Iterator[CellGroup]:
    """Yield the rows of all cells that both sides have, and how far they are from each other.

    *cells* are those of each reference row and of each predicted row, in the order that counts for ties; *counts* say
    how many of both each cell has. *a* and *b* are the rows as the distance wants them, shape [parts, rows].
    """
    alone = np.flatnonzero((counts[0] == 1) & (counts[1] == 1))
    row = np.empty(len(counts[0]), dtype=np.int64)
    row[cells[0]] = np.arange(len(cells[0]))
    r = row[alone]
    row[cells[1]] = np.arange(len(cells[1]))
    p = row[alone]
    yield CellGroup(alone, r[:, None], p[:, None], between(a[:, r], b[:, p])[:, None, None])
    many = (counts[0] > 0) & (counts[1] > 0) & (counts[0] + counts[1] > 2)
    if not many.any():
        return
    # cells with more rows, all cells of one shape together
    (r_rows, r_first), (p_rows, p_first) = (_by_cell(each, many) for each in cells)
    crowded = np.flatnonzero(many)
    shape = counts[0][crowded] * (int(counts[1].max()) + 1) + counts[1][crowded]
    for one in np.unique(shape):
        here = np.flatnonzero(shape == one)
        height, width = (count[crowded[here[0]]] for count in counts)
        r = r_rows[r_first[here][:, None] + np.arange(height)]
        p = p_rows[p_first[here][:, None] + np.arange(width)]
        yield CellGroup(crowded[here], r, p, between(a[:, r][:, :, :, None], b[:, p][:, :, None, :]))


def _by_cell(cell_of_row: Ints, many: np.ndarray) -> tuple[Ints, Ints]:
    """Return the rows in cells of *many*, by cell and in their order, and where each cell begins among them."""
    rows = np.flatnonzero(many[cell_of_row])
    cells = cell_of_row[rows]
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    return rows[order], np.flatnonzero(np.diff(ordered, prepend=-1))


def assigned(cost: Floats) -> tuple[Ints, Ints]:
    """Return rows and columns of the cheapest pairings of many cost matrices, shape [matrices, pairs] each.

    With one row or one column the cheapest entry is the answer, the first of equal ones, as scipy has it.
    """
    count, height, width = cost.shape
    if height == 1:
        return np.zeros((count, 1), dtype=np.int64), cost[:, 0].argmin(axis=1)[:, None]
    if width == 1:
        return cost[:, :, 0].argmin(axis=1)[:, None], np.zeros((count, 1), dtype=np.int64)
    return solved(cost)


def solved(cost: Floats | Ints) -> tuple[Ints, Ints]:
    """Return the cheapest pairings as scipy finds them, matrix by matrix."""
    solve = linear_sum_assignment()
    chosen = [solve(matrix) for matrix in cost]
    return np.array([i for i, _ in chosen]), np.array([j for _, j in chosen])


@cache
def linear_sum_assignment() -> Any:
    """Return scipy's function of this name, without the rest of scipy.optimize, which takes 0.4 s to load."""
    import scipy

    compiled = PathFinder.find_spec("_lsap", [f"{folder}/optimize" for folder in scipy.__path__])
    if compiled is None or not isinstance(compiled.loader, ExtensionFileLoader):
        return import_module("scipy.optimize").linear_sum_assignment
    module = module_from_spec(compiled)
    compiled.loader.exec_module(module)
    return module.linear_sum_assignment


#: Cells (frames times classes) of a grid: few enough to stay in the processor's cache and in memory.
CELLS = 1 << 18


@dataclasses.dataclass(frozen=True)
class Paired:
    """Some clips, their frames laid end to end, their rows put together by frame and class.

    A cell is a frame and a class: ``frame * classes + class_id``.
    """

    clips: slice  # of all clips
    lengths: Ints  # frames of each clip
    classes: int  # how many count
    reference: EventFrames  # rows about the clips, with their place ``frame`` in the grid
    prediction: EventFrames
    references: Ints  # rows of the reference in each cell
    predictions: Ints  # rows of the prediction in each cell
    groups: Sequence[CellGroup]  # cells that have rows on both sides

    @cached_property
    def matches(self) -> Matches:
        """The pairs of all cells; in no particular order."""
        return Matches(*map(np.concatenate, zip(*(group.pairs for group in self.groups), strict=True)))

    @property
    def frames(self) -> int:
        """Frames of all clips together."""
        return len(self.references) // self.classes


def paired(
    reference: EventFrames, prediction: EventFrames, lengths: Ints, classes: int, measure: Measure
) -> Iterator[Paired]:
    """Yield the rows of both sides in pairs, by groups of clips; their order counts for ties.

    Rows beyond the label frames of their clip, with a negative frame or with a class of *classes* or more are left out.
    """
    sides = [_counting(side, lengths, classes) for side in (reference, prediction)]
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + CELLS // classes, side="right")))
        first = ends[start:stop] - lengths[start:stop] - done
        a, b = (_placed(side, start, stop, first) for side in sides)
        cells = a.frame * classes + a.class_id, b.frame * classes + b.class_id
        grid = int(ends[stop - 1] - done) * classes
        counts = np.bincount(cells[0], minlength=grid), np.bincount(cells[1], minlength=grid)
        groups = list(cell_groups(cells, counts, measure.prepare(a), measure.prepare(b), measure.between))
        yield Paired(slice(start, stop), lengths[start:stop], classes, a, b, *counts, groups)
        start = stop


def _counting(side: EventFrames, lengths: Ints, classes: int) -> EventFrames:
    """Return the rows that count, by clip; as files are read one after the other they mostly are."""
    counts = (side.frame >= 0) & (side.frame < lengths[side.clip]) & (side.class_id >= 0) & (side.class_id < classes)
    side = side if counts.all() else side.take(counts)
    return side if (np.diff(side.clip) >= 0).all() else side.take(np.argsort(side.clip, kind="stable"))


def _placed(side: EventFrames, start: int, stop: int, first: Ints) -> EventFrames:
    """Return the rows of clips *start* to *stop*, frames counted from the beginning of the grid."""
    lower, upper = np.searchsorted(side.clip, [start, stop])
    part = side.take(slice(lower, upper))
    return dataclasses.replace(part, frame=part.frame + first[part.clip - start])
