"""Energy maps as the program draws them from 18 May on, and compares them: points on a grid of 100 x 50 pixels.

A label or a detection has polygons of points ``(x, y, energy)`` on a panorama of 360 x 180 (x = 180 is the front,
x = 90 the left). Each polygon is interpolated linearly between its points, the polygons are joined by their maximum,
and the map is divided by its peak. Every operation, its order and its precision are those of the program, so that
maps are equal to the last bit; only pixels outside of the box around a polygon, which are 0, are not looked at, nor
maps whose boxes do not meet. Threads of the linear algebra would wait for each other over systems of two equations, so
that there is one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import QhullError
from threadpoolctl import threadpool_limits

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

#: The panorama that points are on, and the pixels of a map.
PANORAMA = (360, 180)
WIDTH, HEIGHT = 100, 50
#: Maps that are kept: those of a source that stays where it is are drawn once.
_KEPT = 256
#: x and y of each pixel of the grid that polygons are drawn on.
_PIXELS = np.stack(np.meshgrid(np.arange(2.0 * WIDTH), np.arange(1.0 * HEIGHT)), -1)
#: Farther from a polygon than this (in pixels), nothing of it is found.
_NEAR = 1e-6


class Outline(NamedTuple):
    """The polygons of one label or detection."""

    points: Floats  # x, y and energy, float32, shape n x 3
    ends: tuple[int, ...]  # after the last point of each polygon


class Polygon(NamedTuple):
    """A polygon in pixels, on a grid twice as wide as the map so that it is in one piece."""

    x: Floats  # float32
    y: Floats
    energy: Floats


def polygons(shape: Outline) -> list[Polygon]:
    """Return the polygons in pixels; one that crosses the left edge of the panorama goes on beyond the right one."""
    found = []
    start = 0
    for end in shape.ends:
        points, start = shape.points[start:end], end
        if not len(points):
            continue
        x, y = points[:, 0] * (WIDTH / PANORAMA[0]), points[:, 1] * (HEIGHT / PANORAMA[1])
        if x.max() - x.min() > WIDTH / 2:
            across = np.sort(x)
            gaps = np.diff(across)
            widest = np.argmax(gaps)
            if gaps[widest] > WIDTH / 2:
                x = np.where(x <= across[widest], x + WIDTH, x)
        found.append(Polygon(x, y, points[:, 2]))
    return found


def draw(parts: list[Polygon]) -> Floats:
    """Return the map of some polygons, shape ``HEIGHT`` x ``WIDTH``, its peak 1 unless it is 0 everywhere.

    float64, or float32 where all polygons are single pixels: as in the program, whose sums depend on it.
    """
    canvas: Floats = np.zeros((HEIGHT, WIDTH), np.float32)
    for part in parts:
        canvas = _draw_polygon(part, canvas)
    peak = canvas.max()
    if peak > 1e-8:
        canvas /= peak
    return canvas


def _draw_polygon(part: Polygon, canvas: Floats) -> Floats:
    if len(part.x) >= 3:
        left, right, top, bottom = _grid(part)
        try:
            # as griddata does it; pixels row by row, since the search for a triangle starts where the last one ended
            field = LinearNDInterpolator(
                np.column_stack((part.x, part.y)).astype(np.float64), part.energy, fill_value=0.0
            )
            values = np.fmax(field(_PIXELS[top:bottom, left:right]), 0.0)  # NaN becomes 0, too
        except QhullError:  # all on one line
            pass
        else:
            drawn = canvas.astype(np.float64)
            for start, stop, shift in ((left, min(right, WIDTH), 0), (max(left, WIDTH), right, WIDTH)):
                if start < stop:
                    window = drawn[top:bottom, start - shift : stop - shift]
                    np.maximum(window, values[:, start - left : stop - left], out=window)
            return drawn
    rows, columns = _pixels(part.y, HEIGHT), _pixels(part.x, 2 * WIDTH)
    for row, column, energy in zip(rows, columns, part.energy, strict=True):
        canvas[row, column % WIDTH] = max(canvas[row, column % WIDTH], energy)
    return canvas


def _grid(part: Polygon) -> tuple[int, int, int, int]:
    """The pixels in the box around a polygon: the first column and the one after the last, and the same of rows."""
    ends = []
    for values, size in ((part.x, 2 * WIDTH), (part.y, HEIGHT)):
        low, high = float(values.min()), float(values.max())
        ends += [min(max(int(np.ceil(low - _NEAR)), 0), size), max(min(int(np.floor(high + _NEAR)) + 1, size), 0)]
    left, right, top, bottom = ends
    return left, right, top, bottom


def _pixels(values: Floats, size: int) -> list[int]:
    """Return the nearest pixels, of two the even one."""
    return [min(max(round(value), 0), size - 1) for value in values.tolist()]


class EnergyMap:
    """The map of an outline, drawn when it is looked at."""

    def __init__(self, shape: Outline) -> None:
        self.polygons = polygons(shape)

    @cached_property
    def pixels(self) -> Floats:
        """All of it; see :func:`draw`."""
        return draw(self.polygons)

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """The first and last column and row that can be above 0, with a pixel to spare."""
        x, y = ([end for part in self.polygons for end in (part[n].min(), part[n].max())] for n in (0, 1))
        rows = np.clip((min(y) - 1, max(y) + 1), 0, HEIGHT - 1).tolist()
        return float(min(x)) - 1, float(max(x)) + 1, *rows

    def meets(self, other: EnergyMap) -> bool:
        """Return whether both can have a pixel in common, around the panorama too."""
        if not self.polygons or not other.polygons:
            return False
        left, right, top, bottom = self.box
        first, last, upper, lower = other.box
        beside = any(left <= last + turn and first + turn <= right for turn in (-WIDTH, 0, WIDTH))
        return beside and top <= lower and upper <= bottom


@lru_cache(maxsize=_KEPT)
def _map_of(points: bytes, ends: tuple[int, ...]) -> EnergyMap:
    return EnergyMap(Outline(np.frombuffer(points, np.float32).reshape(-1, 3), ends))


def compared(pairs: Iterable[tuple[Outline, Outline]]) -> tuple[Floats, Floats]:
    """Return the overlap (float32) and Pearson r of each pair of a label and a detection, as the program has them."""
    values = []
    with threadpool_limits(1, "blas"):
        for shapes in pairs:
            label, detection = (_map_of(shape.points.tobytes(), shape.ends) for shape in shapes)
            if label.meets(detection):
                a, b = label.pixels, detection.pixels
                values.append((overlap(b, a), pearson(a, b)))
            else:
                values.append((0.0, np.nan))
    iou, r = np.array(values).reshape(-1, 2).T
    return iou.astype(np.float32), r


def overlap(a: Floats, b: Floats) -> float:
    """Return the soft IoU of two maps: the sum of minima over the sum of maxima; 0 where both are empty."""
    union = np.maximum(a, b).sum()
    return 0.0 if union < 1e-8 else float(np.minimum(a, b).sum() / union)


def pearson(label: Floats, detection: Floats) -> float:
    """Pearson r over the pixels where the label is above 0; NaN where it has fewer than two, or one side is flat."""
    inside = np.flatnonzero(label > 0)
    if len(inside) < 2:
        return float("nan")
    sides = []
    for side in (label, detection):
        values = side.ravel()[inside].astype(np.float64)
        away = values - values.mean()
        spread = np.sqrt((away * away).mean())
        if spread < 1e-12:
            return float("nan")
        sides.append(away / spread)
    return float(np.mean(sides[0] * sides[1]))
