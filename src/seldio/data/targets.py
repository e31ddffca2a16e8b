"""Make training targets from labels: rows, class activity, activity with directions, ACCDOA and multi-ACCDOA.

:mod:`seldio.data.decoding` goes the other way. Directions are unit vectors: x front, y left, z up (azimuth +90 is
left), distances metres. The sums are those of the DCASE baselines' ``cls_feature_class.py`` (2021 to 2024), whose
functions ``get_labels_for_file`` and ``get_adpit_labels_for_file`` give the same numbers; only that single ACCDOA of
2024 has its distances in centimetres.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.conversion.frames import are_events, frames_of
from seldio.errors import DataError
from seldio.schema.arrays import pc
from seldio.schema.spans import rank_in_frame
from seldio.text import printable

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

#: The columns of plain rows, in their order.
ROW_FIELDS = ("frame", "class_id", "source", "azimuth", "elevation", "distance", "onscreen")
_FRAME, _CLASS, _, _AZIMUTH, _ELEVATION, _DISTANCE, _ONSCREEN = range(len(ROW_FIELDS))
#: Dummy tracks of multi-ACCDOA: A0 for one source of a class, B0 and B1 for two, C0 to C2 for three.
TRACKS = 6


@dataclass(frozen=True)
class ClipLabels:
    """The labels of a clip as numbers."""

    clip: str  # its name, for messages
    #: shape (rows, fields) with the fields ``ROW_FIELDS``, in the order of the file; NaN for what is not known
    rows: Doubles
    level: bool = False  # whether the format has no elevation, as that of 2025

    @staticmethod
    def of(clip: str, table: pa.Table, hop: Fraction) -> ClipLabels:
        """Return the labels in an event table; whole events become the frames that they touch."""
        table = frames_of(table, hop) if are_events(table) and table.num_rows else table
        rows = np.full((table.num_rows, len(ROW_FIELDS)), np.nan)
        names = frozenset(table.column_names)
        for number, field in enumerate(ROW_FIELDS):
            if field in names:
                column = table[field]
                if column.null_count or pa.types.is_boolean(column.type):
                    column = pc.fill_null(column.cast(pa.float64()), np.nan)
                rows[:, number] = column.to_numpy()
        return ClipLabels(clip, rows, "elevation" not in names)

    def between(self, first: int, stop: int) -> ClipLabels:
        """Return the rows of the frames *first* … *stop* - 1, counted from *first* on."""
        frame = self.rows[:, _FRAME]
        part = self.rows[(frame >= first) & (frame < stop)]
        part[:, _FRAME] -= first
        return replace(self, rows=part)


@dataclass(frozen=True, slots=True)
class TargetForm:
    """A kind of target and what it has of each source: what :mod:`seldio.data.decoding` needs to read one."""

    target: str  # one of ``TARGETS``
    classes: int
    elevation: bool = True  # whether directions are x, y, z, or x and y alone, as in 2025
    distance: bool = False  # whether metres come after the direction
    onscreen: bool = False  # whether the on-screen flag (0 or 1) comes last

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the values of a source in a target besides its activity, in order."""
        if self.target == "activity":
            return ()
        return ("x", "y", *("z",) * self.elevation, *("distance",) * self.distance, *("onscreen",) * self.onscreen)

    def encode(self, labels: ClipLabels, frames: int) -> Any:
        """Return the target of *frames* label frames.

        Raises:
            DataError: a row lacks what it needs: a class, a direction, a distance or a flag.
        """
        return TARGETS[self.target](labels, frames, self)

    def shape(self, frames: int | None) -> tuple[int | None, ...]:
        """Return the shape of a target of *frames* label frames; None for what differs from window to window."""
        return (None, len(ROW_FIELDS)) if self.target == "rows" else (frames, *self.inner)

    @property
    def inner(self) -> tuple[int, ...]:
        """The shape of a label frame."""
        parts = len(self.parts)
        inner = {"activity": (), "activity-doa": (1 + parts,), "accdoa": (parts,), "multi-accdoa": (TRACKS, 1 + parts)}
        return (*inner[self.target], self.classes)


def plain(labels: ClipLabels, _frames: int, _form: TargetForm) -> Doubles:
    """Return the rows as they are, shape (rows, fields), float64: see ``ROW_FIELDS``."""
    return labels.rows


def activity(labels: ClipLabels, frames: int, form: TargetForm) -> Floats:
    """Return 1 where a class sounds, else 0; shape (frames, classes)."""
    frame, number = _cells(labels, form.classes)
    out = np.zeros((frames, form.classes), np.float32)
    out[frame, number] = 1
    return out


def activity_doa(labels: ClipLabels, frames: int, form: TargetForm) -> Floats:
    """Return activity and the parts of :func:`accdoa`, shape (frames, 1 + parts, classes).

    For two heads, one for detection and one for directions, as in SELDnet (Adavanne et al., "Sound Event
    Localization and Detection of Overlapping Sources Using Convolutional Recurrent Neural Networks", JSTSP 2019).
    """
    return np.concatenate([activity(labels, frames, form)[:, None], accdoa(labels, frames, form)], axis=1)


def accdoa(labels: ClipLabels, frames: int, form: TargetForm) -> Floats:
    """Return activity-coupled Cartesian directions, shape (frames, parts, classes): x, y, z, distance, flag.

    A vector is the unit vector to the source where the class sounds, else 0 (Shimada et al., "ACCDOA:
    Activity-Coupled Cartesian Direction of Arrival Representation", ICASSP 2021). Of several sources of one class
    in one frame the last in the file is kept, as in the baselines: multi-ACCDOA holds up to three.
    """
    frame, number = _cells(labels, form.classes)
    values = _values(labels, form)
    out = np.zeros((frames, values.shape[1], form.classes), np.float32)
    keys = frame * form.classes + number
    last = len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]  # the last row of each
    out[frame[last], :, number[last]] = values[last]
    return out


def multi_accdoa(labels: ClipLabels, frames: int, form: TargetForm) -> Floats:
    """Return six dummy tracks with activity and the parts of :func:`accdoa`: shape (frames, 6, 1 + parts, classes).

    One source of a class in a frame is in track A0, two are in B0 and B1, three in C0, C1 and C2, in the order of
    the file; of more than three the first three are kept, as in the baselines. The loss takes the best of the 13
    ways to give them to three tracks (A0A0A0; B0B0B1, …; C0C1C2, …), the auxiliary duplicating permutation
    invariant training of Shimada et al., "Multi-ACCDOA", ICASSP 2022; with distances, Krause et al., "Sound Event
    Detection and Localization with Distance Estimation", EUSIPCO 2024.
    """
    frame, number = _cells(labels, form.classes)
    values = _values(labels, form)
    out = np.zeros((frames, TRACKS, 1 + values.shape[1], form.classes), np.float32)
    rank = rank_in_frame([number], frame)
    _, group, counts = np.unique(frame * form.classes + number, return_inverse=True, return_counts=True)
    track = np.array([0, 0, 1, 3])[np.minimum(counts[group], 3)] + rank
    first = rank < 3
    out[frame[first], track[first], 0, number[first]] = 1
    out[frame[first], track[first], 1:, number[first]] = values[first]
    return out


#: Every kind of target by name: from labels and frames, in a form.
TARGETS: dict[str, Callable[[ClipLabels, int, TargetForm], Any]] = {
    "rows": plain,
    "activity": activity,
    "activity-doa": activity_doa,
    "accdoa": accdoa,
    "multi-accdoa": multi_accdoa,
}


def _cells(labels: ClipLabels, classes: int) -> tuple[Ints, Ints]:
    number = labels.rows[:, _CLASS]
    if not ((number >= 0) & (number < classes)).all():
        raise DataError(
            f"clip {printable(labels.clip)} has a class without a number from 0 to {classes - 1}, which the target "
            "needs: target='rows' keeps it, and 'seldio validate' says where it is"
        )
    return labels.rows[:, _FRAME].astype(np.int64), number.astype(np.int64)


def _values(labels: ClipLabels, form: TargetForm) -> Doubles:
    """Return the parts of each row: its unit vector, level where there is no elevation, and what else is asked for."""
    azimuth, elevation = labels.rows[:, _AZIMUTH], labels.rows[:, _ELEVATION]
    elevation = elevation if form.elevation and not labels.level else np.zeros_like(azimuth)
    parts = dict(zip("xyz", geometry.to_cartesian(azimuth, elevation), strict=True))
    parts |= {"distance": labels.rows[:, _DISTANCE], "onscreen": labels.rows[:, _ONSCREEN]}
    values = np.stack([parts[part] for part in form.parts], axis=1)
    if missing := [part for part in form.parts if np.isnan(parts[part]).any()]:
        what = {"distance": "distance", "onscreen": "on-screen flag"}.get(missing[0], "direction")
        raise DataError(f"clip {printable(labels.clip)} has a row without {what}, which the target needs")
    return values
