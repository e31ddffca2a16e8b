"""Overlap and Pearson r of many pairs of maps at once, equal to those of the program.

Maps are drawn by ``triangles``; of each, only the pixel rows that it has are kept. The overlap of a pair is the
sum of minima S over the sum of maxima, which is the sum of both maps less S, so that only pixels of the label are
looked at. The program keeps overlaps in float32, from which it pairs maps and which it compares with thresholds: an
overlap is taken only where one that is up to 1e-11 off would be the same float32. So every pair, hit and count is
that of the program, and Pearson r agrees to 1e-9. Where that cannot be known, because of the overlap, of a
polygon that is in doubt (see ``triangles``) or has only one or two points, or of maps that are nearly flat or empty,
the two maps are drawn and compared as the program does it.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from seldio.scores.imaging.energy_maps import HEIGHT, PANORAMA, WIDTH, Floats, Ints, Maps, Outline, overlap, pearson
from seldio.scores.imaging.triangles import Bools, interpolate

#: How far an overlap can be from the program's before it is rounded, and more.
_OFF = 1e-11
#: Maps whose energy varies less than this are compared as by the program, which takes less than 1e-12 for flat.
_FLAT = 1e-5


class Side(Protocol):
    """The labels or detections of a clip."""

    rows: Ints  #: where the polygons of each row begin, and where those of the last one end
    polygons: Ints  #: the same of the points of each polygon
    single: Floats  #: x, y and energy of all points, float32

    def shape(self, row: int) -> Outline:
        """The polygons of a row."""


class _Placed(NamedTuple):
    """All polygons in pixels, on a grid twice as wide as a map so that they are in one piece."""

    x: Floats
    y: Floats
    box: Ints  # first column, last column, first row and last row that a row of the side can have, shape 4 x rows


class _Drawn(NamedTuple):
    """The maps of some rows."""

    doubtful: Bools
    values: Floats  # of all pixels of the pixel rows that each has, one map after the other, its peak 1
    starts: Ints
    top: Ints
    bottom: Ints  # after the last row
    total: Floats  # the sum of each map


def compared(labels: Side, detections: Side, pairs: Ints) -> tuple[Floats, Floats]:
    """The overlap (float32) and Pearson r of each pair of a label and a detection.

    Args:
        labels: the labels.
        detections: the detections.
        pairs: the rows of both, shape 2 x n.
    """
    sides = labels, detections
    iou, r = np.zeros(pairs.shape[1], np.float32), np.full(pairs.shape[1], np.nan)
    placed = [_placed(side) for side in sides]
    near = np.flatnonzero(_meet(*(one.box[:, rows] for one, rows in zip(placed, pairs, strict=True))))
    if not len(near):
        return iou, r
    drawn = []
    for side, place, rows in zip(sides, placed, pairs[:, near], strict=True):
        chosen, number = np.unique(rows, return_inverse=True)
        drawn.append((_draw(side, place, chosen), number))
    iou[near], r[near], doubtful = _statistics(*drawn[0], *drawn[1])
    maps = Maps()
    for pair in near[doubtful].tolist():
        label, detection = (maps.of(side.shape(row)) for side, row in zip(sides, pairs[:, pair].tolist(), strict=True))
        iou[pair], r[pair] = overlap(detection, label), pearson(label, detection)
    return iou, r


def _placed(side: Side) -> _Placed:
    """The polygons in pixels; one that crosses the left edge of the panorama goes on beyond the right one."""
    x, y = side.single[:, 0] * (WIDTH / PANORAMA[0]), side.single[:, 1] * (HEIGHT / PANORAMA[1])
    counts = np.diff(side.polygons)
    full = np.flatnonzero(counts)
    box = np.repeat([[1 << 20], [-1 << 20]] * 2, len(side.rows) - 1, axis=1)
    if not len(full):
        return _Placed(x, y, box)
    starts = side.polygons[full]
    for polygon in full[np.maximum.reduceat(x, starts) - np.minimum.reduceat(x, starts) > WIDTH / 2].tolist():
        points = slice(*side.polygons[polygon : polygon + 2].tolist())
        across = np.sort(x[points])
        gaps = np.diff(across)
        widest = np.argmax(gaps)
        if gaps[widest] > WIDTH / 2:
            x[points] = np.where(x[points] <= across[widest], x[points] + WIDTH, x[points])
    owner = np.repeat(np.arange(len(side.rows) - 1), np.diff(side.rows))[full]
    # a polygon that cannot be triangulated becomes single pixels, up to half a pixel farther out
    for n, values in enumerate((x, y)):
        np.minimum.at(box[2 * n], owner, np.floor(np.minimum.reduceat(values, starts) - 0.5).astype(np.int64))
        np.maximum.at(box[2 * n + 1], owner, np.ceil(np.maximum.reduceat(values, starts) + 0.5).astype(np.int64))
    box[2:] = box[2:].clip(0, HEIGHT - 1)
    return _Placed(x, y, box)


def _meet(label: Ints, detection: Ints) -> Bools:
    """Whether two boxes have a pixel in common, around the panorama too."""
    left, right, top, bottom = label
    others = detection[:2]
    beside = [(left <= others[1] + turn) & (others[0] + turn <= right) for turn in (-WIDTH, 0, WIDTH)]
    meet: Bools = np.any(beside, axis=0) & (top <= detection[3]) & (detection[2] <= bottom)
    return meet


def _draw(side: Side, place: _Placed, rows: Ints) -> _Drawn:
    """The maps of some rows, all in order, that have points."""
    counts = side.rows[rows + 1] - side.rows[rows]
    owner = np.repeat(np.arange(len(rows)), counts)
    polygon = side.rows[rows][owner] + np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]
    points = side.polygons[polygon + 1] - side.polygons[polygon]
    doubtful = np.zeros(len(rows), bool)
    doubtful[owner[(points > 0) & (points < 3)]] = True
    full = np.flatnonzero(points >= 3)
    energy = np.ascontiguousarray(side.single[:, 2])
    pixels, wrong = interpolate(place.x, place.y, energy, side.polygons[polygon[full]], points[full])
    doubtful[owner[full[wrong]]] = True
    doubtful[owner[full[np.bincount(pixels.polygon, minlength=len(full)) == 0]]] = True  # the program draws its points
    top, bottom = place.box[2, rows], place.box[3, rows] + 1
    sizes = (bottom - top) * WIDTH
    starts = np.cumsum(sizes) - sizes
    values = np.zeros(int(sizes.sum()))
    number = owner[full[pixels.polygon]]
    np.maximum.at(values, starts[number] + (pixels.row - top[number]) * WIDTH + pixels.column % WIDTH, pixels.value)
    peak = np.maximum.reduceat(values, starts)
    doubtful |= (peak > 1e-9) & (peak < 1e-7)  # the program divides from 1e-8 on
    values /= np.repeat(np.where(peak > 1e-8, peak, 1.0), sizes)
    return _Drawn(doubtful, values, starts, top, bottom, np.add.reduceat(values, starts))


def _statistics(labels: _Drawn, a: Ints, detections: _Drawn, b: Ints) -> tuple[Floats, Floats, Bools]:
    """The overlap and Pearson r of pairs of maps, and which pairs are in doubt."""
    filled = np.flatnonzero(labels.values)
    starts = np.searchsorted(filled, np.append(labels.starts, len(labels.values)))
    counts = np.diff(starts)[a]
    pair = np.repeat(np.arange(len(a)), counts)
    pixel = filled[starts[a][pair] + np.arange(len(pair)) - (np.cumsum(counts) - counts)[pair]]
    within = pixel - labels.starts[a][pair] + (labels.top[a] - detections.top[b])[pair] * WIDTH
    there = (within >= 0) & (within < ((detections.bottom - detections.top)[b] * WIDTH)[pair])
    one = labels.values[pixel]
    other = np.where(there, detections.values[np.where(there, detections.starts[b][pair] + within, 0)], 0.0)

    def total(values: Floats) -> Floats:
        return np.bincount(pair, values, len(a)).astype(np.float64, copy=False)

    least = total(np.minimum(one, other))
    union = labels.total[a] + detections.total[b] - least
    iou = np.divide(least, union, out=np.zeros(len(a)), where=union > 0)
    doubtful = ((iou - _OFF).astype(np.float32) != (iou + _OFF).astype(np.float32)) | (union < 1e-6)
    doubtful &= least > 0
    doubtful |= labels.doubtful[a] | detections.doubtful[b]
    with np.errstate(divide="ignore", invalid="ignore"):
        away = [side - (total(side) / counts)[pair] for side in (one, other)]
        spread = [np.sqrt(total(side * side) / counts) for side in away]
        r = total(away[0] * away[1]) / counts / (spread[0] * spread[1])
    for side in spread:
        doubtful |= (side < _FLAT) & (side > 1e-15)
        r[~(side > 1e-12)] = np.nan
    r[counts < 2] = np.nan
    return iou, r, doubtful
