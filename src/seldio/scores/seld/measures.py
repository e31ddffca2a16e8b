"""How far a prediction is from a reference: the three angular distances of the official programs.

Each is written with the order of operations of the program it stands for: two sources exactly 20 degrees
apart pass or fail by the last bit, so the last bit has to be the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seldio import geometry
from seldio.scores.seld.sides import Floats, Side


class Measure(NamedTuple):
    """An angular distance.

    Args:
        prepare: from a side to what the distance needs of each row, one column a row: shape [parts, rows].
        between: degrees between prepared rows of both sides; shapes [parts, ...] broadcast.
    """

    prepare: Callable[[Side], Floats]
    between: Callable[[Floats, Floats], Floats]


def _spherical(side: Side) -> Floats:
    """Azimuth in radians, sine and cosine of the elevation: ``dcase2021`` to ``dcase2023``."""
    azimuth, elevation = side.azimuth * np.pi / 180.0, _elevation(side) * np.pi / 180.0
    return np.stack([azimuth, np.sin(elevation), np.cos(elevation)])


def _between_spherical(a: Floats, b: Floats) -> Floats:
    """The spherical law of cosines, in degrees."""
    cosine = a[1] * b[1] + a[2] * b[2] * np.cos(np.abs(a[0] - b[0]))
    return _degrees(cosine)


def _cartesian(side: Side) -> Floats:
    """Unit vectors as ``dcase2024`` makes them: a tiny constant under the root keeps them just below 1."""
    azimuth, elevation = side.azimuth * np.pi / 180.0, _elevation(side) * np.pi / 180.0
    flat = np.cos(elevation)
    x, y, z = np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.sin(elevation)
    norm = np.sqrt(x**2 + y**2 + z**2 + 1e-10)
    return np.stack([x / norm, y / norm, z / norm])


def _between_cartesian(a: Floats, b: Floats) -> Floats:
    """The angle between vectors, in degrees; 0.0008 where they are the same."""
    return _degrees(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def _folded(side: Side) -> Floats:
    """Azimuth folded front to back, in degrees: ``dcase2025``, which wraps (and rounds) those in range as well."""
    return geometry.fold((side.azimuth + 180) % 360 - 180)[None]


def _between_folded(a: Floats, b: Floats) -> Floats:
    """The difference of folded azimuths, in degrees."""
    return np.asarray(np.abs(a[0] - b[0]))


def _elevation(side: Side) -> Floats:
    return np.zeros(len(side)) if side.elevation is None else side.elevation


def _degrees(cosine: Any) -> NDArray[np.float64]:
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)) * 180 / np.pi)


SPHERICAL = Measure(_spherical, _between_spherical)
CARTESIAN = Measure(_cartesian, _between_cartesian)
FOLDED = Measure(_folded, _between_folded)
