"""Directions: pure functions on arrays, degrees in and out.

Azimuth is counter-clockwise seen from above: 0 is the front, +90 is left, and files hold both
-180 and 180. Elevation is up positive. Cartesian axes are x front, y left, z up, so that
``x = cos(az) cos(el)``, ``y = sin(az) cos(el)``, ``z = sin(el)`` (the DCASE Task 3 convention).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def to_polar(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[Floats, Floats]:
    """Return the azimuth and elevation (degrees) of Cartesian vectors of any norm; (0, 0) for the zero vector.

    Args:
        x: front; arrays of one shape.
        y: left.
        z: up.

    Returns:
        Azimuth in [-180, 180] and elevation in [-90, 90], of the same shape.
    """
    # contiguous, as numpy 1.24 rounds arctan2 of interleaved columns in another way
    x, y, z = (np.asarray(part, np.float64, "C") for part in (x, y, z))
    azimuth = np.arctan2(y, x)
    elevation = np.arctan2(z, np.sqrt(x * x + y * y))
    return np.degrees(azimuth), np.degrees(elevation)


def to_cartesian(azimuth: ArrayLike, elevation: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return unit vectors (x front, y left, z up) of directions in degrees; shapes broadcast."""
    azimuth, elevation = np.broadcast_arrays(np.radians(azimuth), np.radians(elevation))
    flat = np.cos(elevation)
    return np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.sin(elevation)


def wrap(azimuth: ArrayLike) -> Floats:
    """Return azimuths brought into [-180, 180]; values already there, both ends included, stay as they are."""
    azimuth = np.asarray(azimuth, dtype=np.float64)
    return np.where(np.abs(azimuth) <= 180.0, azimuth, (azimuth + 180.0) % 360.0 - 180.0)


def fold(azimuth: ArrayLike) -> Floats:
    """Return azimuths folded front to back into [-90, 90], as stereo recordings see them (DCASE 2025)."""
    azimuth = wrap(azimuth)
    return np.where(azimuth > 90.0, 180.0 - azimuth, np.where(azimuth < -90.0, -180.0 - azimuth, azimuth))


#: Width and height with which :func:`from_pixels` reads the points of DCASE 2026: y runs from 0 (up) to 180 (down), as
#: the generator of its labels writes them. (The program of 2 April took 179 for -90°, so that y = 90 was -0.5°.)
MAP = (360, 181)


def from_pixels(x: ArrayLike, y: ArrayLike, width: int = 360, height: int = 180) -> tuple[Floats, Floats]:
    """Return the azimuth and elevation (degrees) of points of an equirectangular picture.

    The picture's middle is the front, its left edge azimuth +180; rows run from elevation +90 (row 0)
    to -90 (row ``height - 1``). Columns beyond the picture wrap around it. For points of energy maps, see
    :data:`MAP`.
    """
    azimuth = wrap(180.0 - np.asarray(x, dtype=np.float64) * (360.0 / width))
    elevation = 90.0 - np.asarray(y, dtype=np.float64) * (180.0 / (height - 1))
    return azimuth, elevation


def to_pixels(azimuth: ArrayLike, elevation: ArrayLike, width: int = 360, height: int = 180) -> tuple[Floats, Floats]:
    """Return the inverse of :func:`from_pixels`: x in [0, width), y in [0, height - 1]."""
    x = (180.0 - np.asarray(azimuth, dtype=np.float64)) * (width / 360.0) % width
    x = np.where(x < width, x, 0.0)  # the rest of a division may round up to the divisor
    y = (90.0 - np.asarray(elevation, dtype=np.float64)) * ((height - 1) / 180.0)
    return x, y


def great_circle(azimuth: ArrayLike, elevation: ArrayLike, azimuth2: ArrayLike, elevation2: ArrayLike) -> Any:
    """Return the angle (degrees, 0 to 180) between directions, by the haversine formula; shapes broadcast."""
    az1, el1, az2, el2 = map(np.radians, (azimuth, elevation, azimuth2, elevation2))
    haversine = np.sin((el1 - el2) / 2) ** 2 + np.cos(el1) * np.cos(el2) * np.sin((az1 - az2) / 2) ** 2
    return np.degrees(2 * np.arcsin(np.sqrt(np.clip(haversine, 0.0, 1.0))))
