"""Directions as people say them: eight sectors at three heights, straight up and straight down.

A *cell* is one of 26: ``8 * height + sector`` with the sectors counter-clockwise from the front (front,
front-left, left, …) and the heights level, above, below; then straight above and straight below. Sectors
are 45 degrees wide around their middles; *above* begins at elevation 20, *straight above* at 65.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SECTORS = ("front", "front-left", "left", "back-left", "back", "back-right", "right", "front-right")
#: Half the width of a sector, where "above" begins, where "straight above" begins: degrees.
HALF, ABOVE, STRAIGHT = 22.5, 20.0, 65.0
_UP, _DOWN = 24, 25
#: The mask of a direction that is not known: it may be anywhere.
ANYWHERE = (1 << 26) - 1

_BESIDE = {
    "front": "in front of",
    "back": "behind",
}


class Direction(NamedTuple):
    """One cell in words.

    Args:
        name: after *from*, with its article: ``the front-left and below``.
        short: the same without the article, as canonical answers have it: ``front-left and below``.
        place: relative to the listener: ``to the front-left and below the listener``.
    """

    name: str
    short: str
    place: str


def _place(sector: str, height: str) -> str:
    if sector in _BESIDE:
        return f"{_BESIDE[sector]}{f' and {height}' if height else ''} the listener"
    return f"to the {sector} and {height} the listener" if height else f"to the {sector} of the listener"


def _direction(sector: str, height: str) -> Direction:
    short = f"{sector} and {height}" if height else sector
    return Direction(f"the {short}", short, _place(sector, height))


#: All cells in words, by number.
DIRECTIONS: tuple[Direction, ...] = (
    *(_direction(sector, height) for height in ("", "above", "below") for sector in SECTORS),
    Direction("straight above", "straight above", "straight above the listener"),
    Direction("straight below", "straight below", "straight below the listener"),
)


def _rivals(cell: int) -> int:
    """The cells whose sounds a hearer may take to be meant by the words for *cell*."""
    if cell == _UP:
        return 1 << _UP | 0xFF << 8
    if cell == _DOWN:
        return 1 << _DOWN | 0xFF << 16
    return (0x10101 << cell) if cell < 8 else 1 << cell


#: For each cell the mask of those that its words may mean: "left" may be said of what is left and above.
RIVALS = tuple(_rivals(cell) for cell in range(26))


def _sectors(azimuth: Any, margin: float) -> Any:
    """Masks of the sectors alone: that of the azimuth, and its neighbours where their edge is near."""
    turned = (azimuth + HALF) % 360.0
    sector = np.minimum(turned // 45.0, 7).astype(np.int64)
    inside = turned - 45.0 * sector
    mask = np.left_shift(1, sector)
    mask |= np.where(inside <= margin, np.left_shift(1, (sector - 1) % 8), 0)
    return mask | np.where(inside >= 45.0 - margin, np.left_shift(1, (sector + 1) % 8), 0)


def cells(azimuth: Any, elevation: Any, margin: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Masks of the cells that directions (degrees) lie in or nearer to than *margin* degrees; not known: all."""
    near = _sectors(np.nan_to_num(azimuth), margin)
    high = np.abs(elevation)
    raised = (high >= ABOVE - margin) & (high <= STRAIGHT + margin)
    upward, downward = elevation > 0, elevation < 0
    mask = np.where(high <= ABOVE + margin, near, 0)
    mask |= np.where(raised & upward, near << 8, 0) | np.where(raised & downward, near << 16, 0)
    mask |= np.where(high >= STRAIGHT - margin, np.where(upward, 1 << _UP, 1 << _DOWN), 0)
    return np.where(np.isfinite(azimuth) & np.isfinite(elevation), mask, ANYWHERE)


def only_cell(mask: int) -> int:
    """The number of the one cell in *mask*; -1 where there are more."""
    return mask.bit_length() - 1 if mask and not mask & (mask - 1) else -1
