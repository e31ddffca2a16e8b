"""One side of a comparison, reference or prediction, as plain arrays, and what is notable about its rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio.errors import UsageError
from seldio.geometry import Floats as Floats
from seldio.geometry import Ints as Ints
from seldio.schema.arrays import pc, to_mask, to_numpy
from seldio.schema.events import clip_codes


@dataclasses.dataclass(frozen=True, slots=True)
class EventFrames:
    """Rows of an event table, one entry for each active source in each label frame; a field is one array.

    What no row has is None.
    """

    clip: Ints  # index of the clip, in the order both sides share
    frame: Ints  # label frame
    class_id: Ints  # index into the vocabulary
    azimuth: Floats  # azimuth (°), +90 is left
    elevation: Floats | None = None  # degrees, +90 is up; stereo labels have none
    distance: Floats | None = None  # metres, NaN where it is unknown
    onscreen: NDArray[np.bool_] | None = None  # whether the source is in the picture
    source: Ints | None = None  # number of the source
    pointless: NDArray[np.bool_] | None = None  # whether the vector is (0, 0, 0), which has no direction

    def take(self, rows: Any) -> EventFrames:
        """Return the rows chosen by a mask, a slice or indices."""
        fields = (getattr(self, field.name) for field in dataclasses.fields(self))
        taken: Any = (None if values is None else values[rows] for values in fields)
        return EventFrames(*taken)

    def __len__(self) -> int:
        return len(self.frame)


#: Steps of a degree and of a metre that a digest tells apart; digests are of 63 bits; an odd number that mixes bits.
_STEPS, WORD, _MIXED = 10**4, (1 << 63) - 1, np.uint64(0x9E3779B97F4A7C15)
#: The side of clips that have no file.
_NO_INTS = np.empty(0, dtype=np.int64)
NOTHING = EventFrames(_NO_INTS, _NO_INTS, _NO_INTS, np.empty(0))


def event_frames(table: pa.Table, clips: Mapping[str, int]) -> EventFrames:
    """Return the rows of *table* about *clips*, which gives each clip its index; other clips are left out.

    Directions given as x, y, z become degrees by ``arctan2(..) * 180 / pi``, in this order of operations even where
    the table has angles as well, because scores at exactly the threshold and equal pairings depend on it.

    Raises:
        UsageError: the table has no frames, classes or directions.
    """
    for field in ("frame", "class_id"):
        if field not in table.column_names or table[field].null_count:
            raise UsageError(f"scores need {field} in every row; convert the labels to a format that has it")
    codes, names = clip_codes(table)
    index = np.array([clips.get(name, -1) for name in names] or [-1], dtype=np.int64)[codes]
    azimuth, elevation, pointless = _directions(table)
    whole = EventFrames(
        index,
        _ints(table["frame"]),
        _ints(table["class_id"]),
        azimuth,
        elevation,
        _floats(table, "distance"),
        None if "onscreen" not in table.column_names else to_mask(pc.fill_null(table["onscreen"], False)),
        None
        if "source" not in table.column_names
        else _ints(pc.fill_null(table["source"], -1) if table["source"].null_count else table["source"]),
        pointless,
    )
    return whole if (index >= 0).all() else whole.take(index >= 0)


def digest(side: EventFrames, clips: Sequence[str]) -> tuple[int, int]:
    """Return a digest of some clips' rows, in any order and format, and how many rows are like another one.

    Digests of further clips add up, without the carry. A clip goes by its own name, whatever folder it lies in, and one
    without rows counts too.
    """
    numbers = np.zeros(len(side), np.uint64)  # one for each row, the same for the same values
    for field in (side.frame, side.class_id, side.source, side.azimuth, side.elevation, side.distance, side.onscreen):
        values = np.full(len(side), np.nan)
        if field is not None:
            values = np.rint(np.asarray(field, np.float64) * (1 if field.dtype.kind in "iub" else _STEPS)) + 0.0
            values[np.isnan(values)] = np.nan  # of which there are several
        numbers = (numbers ^ values.view(np.uint64)) * _MIXED
        numbers ^= numbers >> np.uint64(29)
    order = np.argsort(side.clip, kind="stable")
    ends = np.searchsorted(side.clip[order], np.arange(len(clips) + 1))
    numbers, total, repeated = numbers[order], 0, 0
    for clip, start, stop in zip(clips, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        name = clip.rpartition("/")[2].encode("utf-8", "surrogatepass") + b"\0"
        ordered = np.sort(numbers[start:stop])
        repeated += int(np.count_nonzero(ordered[1:] == ordered[:-1]))
        total += int.from_bytes(sha256(name + ordered.tobytes()).digest()[:8], "little")
    return total & WORD, repeated


def _ints(column: Any) -> Ints:
    return np.asarray(to_numpy(column), dtype=np.int64)


def _floats(table: pa.Table, field: str) -> Floats | None:
    if field not in table.column_names or table[field].null_count == table.num_rows:
        return None
    return np.asarray(to_numpy(table[field]), dtype=np.float64)


def _directions(table: pa.Table) -> tuple[Floats, Floats | None, NDArray[np.bool_] | None]:
    """Azimuth and elevation of every row, in degrees, and whether its vector has neither; None where none is so.

    Raises:
        UsageError: a row has neither angles nor x, y and z.
    """
    azimuth, elevation = _floats(table, "azimuth"), _floats(table, "elevation")
    x, y, z = (_floats(table, axis) for axis in "xyz")
    pointless = None
    if x is not None and y is not None and z is not None:
        azimuth, elevation = _from_axes(azimuth, elevation, x, y, z)
        if not x.all():
            pointless = (x == 0) & (y == 0) & (z == 0)
    if azimuth is None:
        if table.num_rows:
            raise UsageError("scoring requires directions: azimuth and elevation, or x, y and z")
        azimuth = np.empty(0)
    if np.isnan(azimuth).any() or (elevation is not None and np.isnan(elevation).any()):
        raise UsageError("scoring requires a direction in every row")
    return azimuth, elevation, pointless


def _from_axes(
    azimuth: Floats | None, elevation: Floats | None, x: Floats, y: Floats, z: Floats
) -> tuple[Floats, Floats]:
    """Return the angles of x, y, z, and those given where a row has no x, y, z.

    Tables that were read have angles too, with other last bits than the official programs get. Those square by
    the power function (Python's ``x**2``), which differs from ``x * x`` in the last bit of one row in a thousand.
    """
    flat = np.sqrt(np.float_power(x, 2.0) + np.float_power(y, 2.0))
    angles = np.arctan2(y, x) * 180 / np.pi, np.arctan2(z, flat) * 180 / np.pi
    unknown = np.isnan(x) | np.isnan(y) | np.isnan(z)
    if not unknown.any():
        return angles
    given = (np.full(len(x), np.nan) if each is None else each for each in (azimuth, elevation))
    azimuth, elevation = (np.where(unknown, old, new) for old, new in zip(given, angles, strict=True))
    return azimuth, elevation


def last_frames(side: EventFrames, clips: int) -> Ints:
    """Return the last frame of each clip; -1 where it has none."""
    last = np.full(clips, -1, dtype=np.int64)
    np.maximum.at(last, side.clip, side.frame)
    return last
