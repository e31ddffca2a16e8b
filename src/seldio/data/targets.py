"""What a model learns from labels: rows, class activity, ACCDOA and multi-ACCDOA.

Directions are unit vectors: x front, y left, z up (azimuth +90 is left), distances metres. The sums are those of the
DCASE baselines' ``cls_feature_class.py`` (2021 to 2024), whose functions ``get_labels_for_file`` and
``get_adpit_labels_for_file`` give the same numbers; only that single ACCDOA of 2024 has its distances in centimetres.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seldio import geometry
from seldio.conversion.frames import are_events, frames_of
from seldio.errors import DataError
from seldio.schema.spans import rank_in_frame
from seldio.text import printable

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

#: The columns of plain rows, in their order.
ROW_FIELDS = ("frame", "class_id", "source", "azimuth", "elevation", "distance", "onscreen")
_FRAME, _CLASS, _AZIMUTH, _ELEVATION, _DISTANCE = (
    ROW_FIELDS.index(name) for name in ("frame", "class_id", "azimuth", "elevation", "distance")
)
#: Dummy tracks of multi-ACCDOA: A0 for one source of a class, B0 and B1 for two, C0 to C2 for three.
TRACKS = 6


@dataclass(frozen=True)
class ClipLabels:
    """The labels of a clip as numbers."""

    clip: str  # its name, for messages
    #: shape (rows, fields) with the fields ``ROW_FIELDS``, in the order of the file; NaN for what is not known
    rows: Doubles
    level: bool = False  # whether the layout has no elevation, as that of 2025

    @staticmethod
    def of(clip: str, table: pa.Table, hop: Fraction) -> ClipLabels:
        """The labels in an event table; whole events become the frames that they touch."""
        table = frames_of(table, hop) if are_events(table) and table.num_rows else table
        rows = np.full((table.num_rows, len(ROW_FIELDS)), np.nan)
        for number, field in enumerate(ROW_FIELDS):
            if field in table.column_names:
                rows[:, number] = pc.fill_null(table[field].cast(pa.float64()), np.nan).to_numpy()
        return ClipLabels(clip, rows, "elevation" not in table.column_names)

    def between(self, first: int, stop: int) -> ClipLabels:
        """The rows of the frames *first* … *stop* - 1, counted from *first* on."""
        frame = self.rows[:, _FRAME]
        part = self.rows[(frame >= first) & (frame < stop)]
        part[:, _FRAME] -= first
        return replace(self, rows=part)


def plain(labels: ClipLabels, _frames: int, _classes: int, _distance: bool) -> Doubles:
    """The rows as they are, shape (rows, fields), float64: see ``ROW_FIELDS``."""
    return labels.rows


def activity(labels: ClipLabels, frames: int, classes: int, _distance: bool = False) -> Floats:
    """1 where a class sounds, else 0; shape (frames, classes)."""
    frame, number = _cells(labels, classes)
    out = np.zeros((frames, classes), np.float32)
    out[frame, number] = 1
    return out


def accdoa(labels: ClipLabels, frames: int, classes: int, distance: bool = False) -> Floats:
    """Activity-coupled Cartesian directions, shape (frames, 3, classes), or (frames, 4, classes) with the distance.

    A vector is the unit vector to the source where the class sounds, else 0 (Shimada et al., "ACCDOA:
    Activity-Coupled Cartesian Direction of Arrival Representation", ICASSP 2021). Of several sources of one class
    in one frame the last in the file is kept, as in the baselines: multi-ACCDOA holds up to three.
    """
    frame, number = _cells(labels, classes)
    values = _vectors(labels, distance)
    out = np.zeros((frames, values.shape[1], classes), np.float32)
    keys = frame * classes + number
    last = len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]  # the last row of each
    out[frame[last], :, number[last]] = values[last]
    return out


def multi_accdoa(labels: ClipLabels, frames: int, classes: int, distance: bool = False) -> Floats:
    """Six dummy tracks with activity, x, y, z: shape (frames, 6, 4, classes), or (frames, 6, 5, classes) with distance.

    One source of a class in a frame is in track A0, two are in B0 and B1, three in C0, C1 and C2, in the order of
    the file; of more than three the first three are kept, as in the baselines. The loss takes the best of the 13
    ways to give them to three tracks (A0A0A0; B0B0B1, …; C0C1C2, …), the auxiliary duplicating permutation
    invariant training of Shimada et al., "Multi-ACCDOA", ICASSP 2022.
    """
    frame, number = _cells(labels, classes)
    values = _vectors(labels, distance)
    out = np.zeros((frames, TRACKS, 1 + values.shape[1], classes), np.float32)
    rank = rank_in_frame([number], frame)
    _, group, counts = np.unique(frame * classes + number, return_inverse=True, return_counts=True)
    track = np.array([0, 0, 1, 3])[np.minimum(counts[group], 3)] + rank
    kept = rank < 3
    out[frame[kept], track[kept], 0, number[kept]] = 1
    out[frame[kept], track[kept], 1:, number[kept]] = values[kept]
    return out


#: Every kind of target by name: from labels, frames, classes and whether the distance is wanted.
TARGETS: dict[str, Callable[[ClipLabels, int, int, bool], Any]] = {
    "rows": plain,
    "activity": activity,
    "accdoa": accdoa,
    "multi-accdoa": multi_accdoa,
}


def shape(target: str, frames: int | None, classes: int, distance: bool) -> tuple[int | None, ...]:
    """The shape of a target of *frames* label frames; None for what differs from window to window."""
    if target == "rows":
        return (None, len(ROW_FIELDS))
    inner = {"activity": (), "accdoa": (3 + distance,), "multi-accdoa": (TRACKS, 4 + distance)}[target]
    return (frames, *inner, classes)


def _cells(labels: ClipLabels, classes: int) -> tuple[Ints, Ints]:
    """Frame and class of each row."""
    number = labels.rows[:, _CLASS]
    if not ((number >= 0) & (number < classes)).all():
        raise DataError(
            f"clip {printable(labels.clip)} has a class without a number from 0 to {classes - 1}, which the target "
            "needs: target='rows' keeps it, and 'seldio validate' says where it is"
        )
    return labels.rows[:, _FRAME].astype(np.int64), number.astype(np.int64)


def _vectors(labels: ClipLabels, distance: bool) -> Doubles:
    """Unit vector of each row, and the distance if it is wanted; level where the layout has no elevation."""
    azimuth, elevation = labels.rows[:, _AZIMUTH], labels.rows[:, _ELEVATION]
    elevation = np.zeros_like(azimuth) if labels.level else elevation
    columns = [*geometry.to_cartesian(azimuth, elevation)]
    if distance:
        columns.append(labels.rows[:, _DISTANCE])
    values = np.stack(columns, axis=1)
    if np.isnan(values).any():
        what = "direction" if np.isnan(values[:, :3]).any() else "distance"
        raise DataError(f"clip {printable(labels.clip)} has a row without {what}, which the target needs")
    return values
