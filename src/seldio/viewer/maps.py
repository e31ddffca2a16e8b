"""Energy maps of 2026 as pages show them: pixels as the official program draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from seldio.scores.imaging.count import Annotations
from seldio.scores.imaging.energy_maps import WIDTH, Floats, draw, polygons

#: Maps that a page holds: as many as a clip of ten minutes has with one source.
MOST = 6_000
#: Levels of energy that a page distinguishes, written as one digit to the base of 16.
_LEVELS = "0123456789abcdef"


def packed(table: pa.Table) -> list[list[Any] | None] | None:
    """Return the maps of all rows for a page: left column, first row, width and a digit for each pixel, row by row.

    Columns count on past the right edge, where they are those on the left. None for a row without energy; None as a
    whole where the labels have no maps, or more than a page holds.
    """
    if "segmentation" not in table.column_names or not 0 < table.num_rows <= MOST:
        return None
    sides = Annotations(table)
    return [_packed(draw(polygons(sides.shape(row)))) for row in range(table.num_rows)]


def _packed(energy: Floats) -> list[Any] | None:
    levels = np.rint(energy * (len(_LEVELS) - 1)).astype(int)
    rows, columns = (np.flatnonzero(levels.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return None
    # the widest empty stretch, around the circle, is what is left out
    gaps = np.diff(np.append(columns, columns[0] + WIDTH))
    left = int(columns[(int(gaps.argmax()) + 1) % len(columns)])
    width = WIDTH - int(gaps.max()) + 1
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    inside = levels[top:bottom].take(range(left, left + width), axis=1, mode="wrap")
    return [left, top, width, "".join(_LEVELS[level] for level in inside.ravel().tolist())]
