"""Linear interpolation over the Delaunay triangles of many polygons at once, pixel row by pixel row.

The program triangulates each polygon and looks up the triangle of each pixel. Here each pixel row walks through the
triangles that it crosses, all rows of all polygons side by side: from the edge of the hull on its left, the next
triangle has as third corner the point to the right of the edge that sees it under the largest angle (so that no point
is in the circle through the three), and the row leaves by the edge to that corner which it crosses; until there is
no point to the right. A triangle that no pixel row crosses is never looked for.

The search is in float32, in which the program has its coordinates, so that each difference of two of them is right to
its last bit, and cotangents to about 1e-6; crossings and values are in float64. A polygon is in doubt, and left to the
program's own way of drawing, where rounding, of this search or of the program's, could choose otherwise: a second
point sees an edge under nearly the same angle (four points on a circle, two points in one place), two points are nearly
in line on the hull, the hull crosses a pixel row at a pixel or has a tip on one, a triangle is too thin for its
values to be right to 1e-10, or a value is nearly but not exactly 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seldio.scores.imaging.energy_maps import HEIGHT, WIDTH, Floats, Ints

Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

#: Points of a polygon: with more, all points of each step cost more than a triangulation.
MOST = 256
#: Pixel rows that walk side by side, and as many of them as stay in the cache of the processor.
_ABREAST = 4096
_TILE = 1024
#: Cotangents, or slopes of edges, that are nearer may be equal (times 1 + their square).
_SLACK = 1e-5
#: Where there is no cotangent, and what makes a very large one of the area on the left of an edge, which is negative.
_NONE = np.float32(3e38)
_LEFT = np.float32(-1e34)
_NUMBERS = np.arange(MOST, dtype=np.uint8)[:, None]
#: Pixels within which a hull may be elsewhere.
_NEAR = 1e-6
#: Pixels: a polygon of less height may be on a line, which the program draws as single pixels.
_FLAT = 1e-3
#: The longest side of a triangle, squared, over its area, from which on it is too thin.
_THIN = 1e5
#: Values below this that are not exactly 0 may be 0 for the program.
_FAINT = 1e-9


class Pixels(NamedTuple):
    """Pixels of polygons; a polygon that goes around the panorama can have one twice."""

    polygon: Ints
    row: Ints
    column: Ints
    value: Floats


class Corners(NamedTuple):
    """Polygons of up to as many points as there are rows."""

    x: Floats  # float32, shape points x polygons, NaN where there is none
    y: Floats
    energy: Floats


def interpolate(x: Floats, y: Floats, energy: Floats, starts: Ints, counts: Ints) -> tuple[Pixels, Bools]:
    """The pixels of polygons on the grid twice as wide as a map, and which polygons are in doubt.

    Args:
        x: of all points in pixels, float32.
        y: the same.
        energy: the same, float32.
        starts: the first point of each polygon.
        counts: how many points it has, at least 3.
    """
    doubtful = counts > MOST
    found: list[Pixels] = []
    order = np.argsort(counts, kind="stable")
    order = order[~doubtful[order]]
    while len(order):
        some = _side_by_side(counts[order])
        chosen, order = order[:some], order[some:]
        places = starts[chosen] + np.arange(counts[chosen[-1]])[:, None]
        absent = np.arange(counts[chosen[-1]])[:, None] >= counts[chosen]
        places[absent] = 0
        corners = Corners(x[places], y[places], energy[places])
        for side in corners:
            side[absent] = np.nan
        pixels, wrong = _walk(corners)
        doubtful[chosen[wrong]] = True
        found.append(pixels._replace(polygon=chosen[pixels.polygon]))
    none = np.zeros(0, np.int64)
    found.append(Pixels(none, none, none, np.zeros(0)))
    return Pixels(*map(np.concatenate, zip(*found, strict=True))), doubtful


def _side_by_side(counts: Ints) -> int:
    """How many of polygons, the smallest first, are taken together: hardly any room is left without a point."""
    return max(int(np.searchsorted(counts[:_ABREAST], counts[0] + max(counts[0] // 8, 2), side="right")), 1)


def _walk(corners: Corners) -> tuple[Pixels, Bools]:
    """The pixels of polygons in one piece."""
    low, high = np.nanmin(corners.y, axis=0), np.nanmax(corners.y, axis=0)
    left, right = np.nanmin(corners.x, axis=0), np.nanmax(corners.x, axis=0)
    doubtful = (np.abs(low - np.rint(low)) < _NEAR) | (np.abs(high - np.rint(high)) < _NEAR)
    doubtful |= (high - low < _FLAT) | (left < 0) | (right > 2 * WIDTH - 1) | (low < 0)
    doubtful |= ~np.isfinite(np.where(np.isnan(corners.x), 0, corners.energy)).all(axis=0)
    flat = tuple(side.ravel() for side in corners)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        polygon, row, below, above = _left_edges(corners, doubtful)
    found = []
    for start in range(0, len(polygon), _ABREAST):
        some = slice(start, start + _ABREAST)
        rows = _Rows(corners, flat, polygon[some], row[some], np.stack((below[some], above[some])))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            pixels, wrong = rows.pixels()
        doubtful[wrong] = True
        found.append(pixels)
    none = np.zeros(0, np.int64)
    found.append(Pixels(none, none, none, np.zeros(0)))
    return Pixels(*map(np.concatenate, zip(*found, strict=True))), doubtful


def _left_edges(corners: Corners, doubtful: Bools) -> tuple[Ints, Ints, Ints, Ints]:
    """Polygon, row, and the points below and above, of the edge of the hull on the left of each pixel row."""
    polygon = np.flatnonzero(~doubtful)
    x, y = (side[:, polygon] for side in corners[:2])
    below = _least(np.where(y == np.nanmin(y, axis=0), x, _NONE))[1] if len(polygon) else polygon
    found = []
    while len(polygon):
        places = np.arange(len(polygon))
        down = y - y[below, places]
        slopes = np.where(down > 0, (x - x[below, places]) / down, _NONE)
        slope, above = _least(slopes)
        slopes[above, places] = _NONE
        going = slope < 1e38
        slope, second = np.where(going, slope, 0.0).astype(np.float64), np.fmin.reduce(slopes, axis=0)
        doubtful[polygon[going & (second - slope <= _SLACK * (1 + slope * slope))]] = True
        first = np.floor(y[below, places])
        last = np.minimum(np.floor(y[above, places]), HEIGHT - 1)
        rows = np.where(going, np.maximum(last - first, 0), 0).astype(np.int64)
        number = np.repeat(places, rows)
        row = np.arange(len(number)) - (np.cumsum(rows) - rows - first.astype(np.int64) - 1)[number]
        found.append((polygon[number], row, below[number], above[number]))
        polygon, below, x, y = polygon[going], above[going], x[:, going], y[:, going]
    none = np.zeros(0, np.int64)
    found.append((none, none, none, none))
    polygon, row, below, above = map(np.concatenate, zip(*found, strict=True))
    keep = ~doubtful[polygon]
    return polygon[keep], row[keep], below[keep], above[keep]


def _least(values: Floats) -> tuple[Floats, Ints]:
    """The least of each column, and the last row that it stands in."""
    least = np.fmin.reduce(values, axis=0)
    there = (values == least).view(np.uint8)
    return least, np.maximum.reduce(np.multiply(there, _NUMBERS[: len(values)], out=there), axis=0).astype(np.int64)


class _Rows:
    """Pixel rows on their way from left to right through the triangles of a polygon each."""

    def __init__(self, corners: Corners, flat: tuple[Floats, ...], polygon: Ints, row: Ints, edges: Ints) -> None:
        self.flat, self.width = flat, corners.x.shape[1]
        self.polygon, self.row, self.edges = polygon, row.astype(np.float64), edges
        self.sides = corners[:2]
        self._set_tiles()
        self.wrong: list[Ints] = []
        self.room = [np.empty(len(corners.x) * _TILE, np.float32) for _ in range(6)]

    def _set_tiles(self) -> None:
        """Copy x and y of all points for each row, a tile of rows at a time that the cache of the processor holds."""
        starts = range(0, len(self.polygon), _TILE)
        self.tiles = [[side.take(self.polygon[n : n + _TILE], axis=1) for side in self.sides] for n in starts]

    def pixels(self) -> tuple[Pixels, Ints]:
        """The pixels, and the polygons that are in doubt."""
        # of the edge that each row stands at: number, x and y of the point below, and of that above
        number = self.edges
        x, y = (self.flat[axis].take(number * self.width + self.polygon).astype(np.float64) for axis in (0, 1))
        enter = self._crossing(x, y)
        self._doubt(np.abs(enter - np.rint(enter)) < _NEAR)
        found, floor = [], np.floor(enter)
        for _ in range(4 * len(self.sides[0])):
            if not len(self.row):
                break
            least, second, corner = self._third_corner(x, y)
            going = least < 1e15
            self._doubt(going & (second - least <= _SLACK * (1 + least * least)))
            if not going.all():
                self._doubt(~going & (np.abs(enter - np.rint(enter)) < _NEAR))
                if 4 * np.count_nonzero(going) < 3 * len(going):
                    number, x, y = (side.compress(going, axis=1) for side in (number, x, y))
                    self.polygon, self.row, floor, corner = (
                        side.compress(going) for side in (self.polygon, self.row, floor, corner)
                    )
                    self._set_tiles()
                else:  # those at their end stay where they are
                    corner = np.where(going, corner, number[1])
            point = corner * self.width + self.polygon
            corner_x, corner_y = (self.flat[axis].take(point).astype(np.float64) for axis in (0, 1))
            # the corner takes the place of the point on its side of the row
            place = (corner_y >= self.row) * len(corner) + np.arange(len(corner))
            before = number.copy()
            for side, value in ((number, corner), (x, corner_x), (y, corner_y)):
                side.ravel()[place] = value
            enter = self._crossing(x, y)
            ahead = np.floor(enter)
            some = np.flatnonzero(ahead > floor)
            if len(some):
                found.append((self.polygon[some], self.row[some], floor[some], (ahead - floor)[some],
                              before[0, some], before[1, some], corner[some]))  # fmt: skip
            floor = ahead
        else:
            self.wrong.append(self.polygon)
        if not found:
            none = np.zeros(0, np.int64)
            return Pixels(none, none, none, np.zeros(0)), np.unique(np.concatenate([none, *self.wrong]))
        polygon, row, column, columns, *corners = map(np.concatenate, zip(*found, strict=True))
        return self._values(
            polygon, row.astype(np.int64), column.astype(np.int64) + 1, columns.astype(np.int64), *corners
        )

    def _doubt(self, where: Bools) -> None:
        if where.any():
            self.wrong.append(self.polygon[where])

    def _crossing(self, x: Floats, y: Floats) -> Floats:
        """Where each row crosses its edge."""
        crossing: Floats = x[1] + (self.row - y[1]) * ((x[0] - x[1]) / (y[0] - y[1]))
        return crossing

    def _third_corner(self, x: Floats, y: Floats) -> tuple[Floats, Floats, Ints]:
        """The point right of each edge that sees it under the largest angle: cotangent, that of the next, number.

        Where there is no point on the right, the cotangent is a very large number.
        """
        x, y = x.astype(np.float32), y.astype(np.float32)
        count = x.shape[1]
        least, second, point = np.empty(count, np.float32), np.empty(count, np.float32), np.empty(count, np.int64)
        for number, (tile_x, tile_y) in enumerate(self.tiles):
            some = slice(number * _TILE, number * _TILE + tile_x.shape[1])
            one, two, three, four, dot, cross = (side[: tile_x.size].reshape(tile_x.shape) for side in self.room)
            np.subtract(tile_x, x[1, some], out=one)
            np.subtract(tile_x, x[0, some], out=three)
            np.subtract(tile_y, y[1, some], out=two)
            np.subtract(tile_y, y[0, some], out=four)
            np.multiply(one, three, out=dot)
            np.multiply(two, four, out=cross)
            np.add(dot, cross, out=dot)
            np.multiply(one, four, out=cross)
            np.multiply(two, three, out=one)
            np.subtract(cross, one, out=cross)
            # NaN, which is never the least, for the ends of the edge; very large for what is not right of it
            np.divide(dot, cross, out=dot)
            np.multiply(cross, _LEFT, out=cross)
            np.maximum(dot, cross, out=dot)
            least[some], point[some] = _least(dot)
            dot.ravel()[point[some] * tile_x[0].size + np.arange(tile_x[0].size)] = _NONE
            second[some] = np.fmin.reduce(dot, axis=0)
        return least.astype(np.float64), second, point

    def _values(self, polygon: Ints, row: Ints, column: Ints, columns: Ints, *corners: Ints) -> tuple[Pixels, Ints]:
        """The values of pixels in their triangles."""
        (ax, ay, ae), (bx, by, be), (cx, cy, ce) = (
            [side.take(corner * self.width + polygon).astype(np.float64) for side in self.flat] for corner in corners
        )
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        longest = np.maximum(np.maximum((bx - ax) ** 2 + (by - ay) ** 2, (cx - ax) ** 2 + (cy - ay) ** 2),
                             (cx - bx) ** 2 + (cy - by) ** 2)  # fmt: skip
        self.wrong.append(polygon[longest > _THIN * np.abs(area)])
        # the gradient over the triangle
        across = ((be - ae) * (cy - ay) - (ce - ae) * (by - ay)) / area
        down = ((ce - ae) * (bx - ax) - (be - ae) * (cx - ax)) / area
        empty = (ae == 0) & (be == 0) & (ce == 0)
        number = np.repeat(np.arange(len(row)), columns)
        column = column[number] + np.arange(len(number)) - (np.cumsum(columns) - columns)[number]
        polygon, row = polygon[number], row[number]
        value = ae[number] + across[number] * (column - ax[number]) + down[number] * (row - ay[number])
        self.wrong.append(polygon[(np.abs(value) < _FAINT) & ~empty[number]])
        return Pixels(polygon, row, column, np.maximum(value, 0.0)), np.unique(np.concatenate(self.wrong))
