"""Energy maps of 2026 as pictures show them: pixels as the official program draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.schema.events import clip_codes
from seldio.scores.imaging.count import Annotations
from seldio.scores.imaging.energy_maps import HEIGHT, WIDTH, Floats, draw, polygons
from seldio.viewer.canvas import drawable
from seldio.viewer.tracks import PlottedLabels, events_of

#: Maps that a page holds: as many as a clip of ten minutes has with one source.
MOST = 6_000
#: Levels of energy that a page distinguishes, written as one digit to the base of 16.
_LEVELS = "0123456789abcdef"


def drawn(table: pa.Table, row: int, sides: Annotations | None = None) -> Floats:
    """The map of a row, shape ``HEIGHT`` x ``WIDTH`` from 0 to 1: left is azimuth +180, the first row elevation +90."""
    return draw(polygons((sides or Annotations(table)).shape(row)))


def energies(labels: PlottedLabels, clip: str) -> dict[str, Floats]:
    """The highest energy of each class of a clip at each pixel, by the name of the class; none without maps."""
    table = labels.table
    if "segmentation" not in table.column_names or not table.num_rows:
        return {}
    codes, names = clip_codes(table)
    table = table.filter(pa.array(codes == names.index(clip))) if clip in names else table.slice(0, 0)
    found: dict[str, list[int]] = {}
    for event in events_of(table, labels.hop, labels.vocabulary):
        found.setdefault(drawable(event.name), []).extend(event.rows.tolist())
    return {name: strongest(table, rows) for name, rows in found.items()}


def strongest(table: pa.Table, rows: Sequence[int]) -> Floats:
    """The highest energy of some rows at each pixel."""
    sides, found = Annotations(table), np.zeros((HEIGHT, WIDTH))
    for row in rows:
        np.maximum(found, drawn(table, row, sides), out=found)
    return found


def packed(table: pa.Table) -> list[list[Any] | None] | None:
    """The maps of all rows for a page: left column, first row, width and a digit for each pixel, row by row.

    Columns count on past the right edge, where they are those on the left. None for a row without energy; None as a
    whole where the labels have no maps, or more than a page holds.
    """
    if "segmentation" not in table.column_names or not 0 < table.num_rows <= MOST:
        return None
    sides = Annotations(table)
    return [_packed(drawn(table, row, sides)) for row in range(table.num_rows)]


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
