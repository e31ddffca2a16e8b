"""Where sources are as a microphone array sees them, from places in a room and the pose of the array.

Tracking systems write places in the coordinates of a room, and of what they track its rotation: ``world = R local + p``
with the columns of *R* being the axes of the array in the room. A source at *h* is at ``Rᵀ (h - p)`` for an array at
*p*, as the official programs of LOCATA (``get_truth.m``) and SPEAR (``SPEAR_read_participant_relative_position.m``)
have it. Which of the array's own axes is the front differs by dataset: :data:`FRONT_Y`, :data:`FRONT_Z`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seldio import geometry
from seldio.formats.trajectories import Track

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
#: The axes front, left and up in those of the array. LOCATA: x right, y front, z up.
FRONT_Y: Floats = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
#: EasyCom: x left, y up, z front.
FRONT_Z: Floats = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
#: Seconds without a known place up to which the way between two known ones is followed.
GAP = 0.25
#: Metres below which a source is where the array is, and has no direction.
_HERE = 1e-3


def track(times: Floats, source: Floats, array: Floats, rotations: Floats, axes: Floats, known: Flags) -> Track:
    """The track of a source in the coordinates of an array.

    Args:
        times: seconds, (n,).
        source: places of the source in the room, metres, (n, 3).
        array: those of the array, (n, 3).
        rotations: of the array, from its own axes to those of the room, (n, 3, 3).
        axes: front, left and up in the array's own axes, (3, 3).
        known: where places and rotations are to be relied on, (n,).

    Returns:
        Rows of time, azimuth, elevation (degrees) and distance (m); NaN where nothing is known for longer than
        :data:`GAP`, and where source and array are one.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        front, left, up = axes @ np.einsum("nji,nj->in", rotations, source - array)
        distance = np.sqrt(front**2 + left**2 + up**2)
        good = known & np.isfinite(distance) & (distance > _HERE)
        values = np.array([*geometry.to_polar(front, left, up), distance])
    values = np.where(good, np.round(values, 6) + 0.0, np.nan)
    rows: Track = np.column_stack([times, *values])
    kept: Track = rows[good | ~_short(times, good)]
    return kept


def _short(times: Floats, good: Flags) -> Flags:
    """Which moments lie between two good ones that are near each other."""
    here = np.arange(len(times))
    before = np.maximum.accumulate(np.where(good, here, -1))
    after = np.minimum.accumulate(np.where(good, here, len(times))[::-1])[::-1]
    between = (before >= 0) & (after < len(times))
    found: Flags = between & (times[np.clip(after, 0, len(times) - 1)] - times[np.clip(before, 0, None)] <= GAP)
    return found


def rotations_of(quaternions: Floats) -> Floats:
    """The rotations from local axes to those of the room, (n, 3, 3), of unit quaternions x, y, z, w, (n, 4)."""
    x, y, z, w = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def are_rotations(matrices: Floats, slack: float = 0.01) -> Flags:
    """Which of the matrices, (n, 3, 3), are proper rotations, within *slack* of each element."""
    with np.errstate(invalid="ignore", over="ignore"):
        square = np.einsum("nji,njk->nik", matrices, matrices)
        found: Flags = (np.abs(square - np.eye(3)) <= slack).all(axis=(1, 2)) & (np.linalg.det(matrices) > 0)
    return found
