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
from seldio.rules.submissions import near_ends
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


#: Steps of a degree and of a metre that a digest tells apart; digests are of 63 bits.
_STEPS, WORD = 10**4, (1 << 63) - 1
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


def digest(side: EventFrames, clips: Sequence[str]) -> int:
    """Return a digest of some clips' rows, in any order and format; those of further clips add up, without the carry.

    A clip goes by its own name, whatever folder it lies in, and one without rows counts too.
    """
    fields = (side.frame, side.class_id, side.source, side.azimuth, side.elevation, side.distance, side.onscreen)
    rows = np.full((len(side), len(fields)), np.nan)
    keys: list[Any] = []
    for place, field in enumerate(fields):
        if field is not None:
            step = 1 if field.dtype.kind in "iub" else _STEPS
            steps = np.rint(np.asarray(field, np.float64) * step) + 0.0
            rows[:, place] = np.where(np.isnan(steps), np.nan, steps / step)  # of which there are several
            keys.append(steps)
    order = _order([*keys, side.clip])
    rows, total = rows[order], 0
    ends = np.searchsorted(side.clip[order], np.arange(len(clips) + 1))
    for number, clip in enumerate(clips):
        text = clip.rpartition("/")[2].encode("utf-8", "surrogatepass") + b"\0"
        total += int.from_bytes(sha256(text + rows[ends[number] : ends[number + 1]].tobytes()).digest()[:8], "little")
    return total & WORD


def _order(keys: Sequence[Ints | Floats]) -> Ints:
    """Return the order of rows by the last of *keys*, then by those before it, as ``numpy.lexsort`` has it.

    Whole numbers of a small range are sorted as one number.
    """
    packed: list[Any] = []
    room = 0  # how many values the last of the packed numbers can still be multiplied with
    for key in keys[::-1]:
        least, most = (key.min(), key.max()) if len(key) else (0, 0)
        width = most - least + 1
        if not width <= _WIDEST or not (key == np.floor(key)).all():
            packed, room = [*packed, key], 0
        elif width <= room:
            packed[-1], room = packed[-1] * int(width) + (key - least).astype(np.int64), room // int(width)
        else:
            packed, room = [*packed, (key - least).astype(np.int64)], (1 << 62) // int(width)
    return np.lexsort(packed[::-1])


#: A column with a wider range of whole numbers is sorted by itself.
_WIDEST = 1 << 40


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


@dataclasses.dataclass(frozen=True)
class RowFacts:
    """How many rows of one side are notable, and why."""

    all: int = 0
    elevations: int = 0  # that have an elevation, be it 0
    raised: int = 0  # whose elevation is not 0
    distances: int = 0  # all, where distances are known
    unfolded: int = 0  # with an azimuth beyond ±90 degrees
    beyond: int = 0  # in frames behind those that the profile counts
    foreign: int = 0  # of a class that the vocabulary does not have
    early: int = 0  # in a negative frame
    pointless: int = 0  # whose vector is (0, 0, 0)
    touching: int = 0  # whose distance is 0
    repeated: int = 0  # like another one in frame, class, source and direction


@dataclasses.dataclass(frozen=True)
class SideFacts:
    """Counts of notable rows on both sides of some clips."""

    reference: RowFacts
    prediction: RowFacts
    unlabelled: int  # clips without any reference row
    alarms: int  # predicted rows in those
    crowded: int  # frames with several references of one class, where the profile goes by the order of their rows
    fits: Ints  # see :func:`near_ends`
    dropped: int = 0  # predicted rows that the program does not read


def facts_of(reference: EventFrames, prediction: EventFrames, ends: Ints, classes: int, ordered: bool) -> SideFacts:
    """Return what is notable about the rows of both sides, as they were given; *ends*: the frames that count by clip.

    *ordered*: whether the profile goes by the order of the rows of a frame.
    """
    clips = len(ends)
    labelled = np.bincount(reference.clip, minlength=clips) > 0
    (crowded, twice), (_, again) = _crowded(reference), _crowded(prediction)
    return SideFacts(
        _row_facts(reference, ends, classes, twice),
        _row_facts(prediction, ends, classes, again),
        unlabelled=int((~labelled).sum()),
        alarms=int((~labelled[prediction.clip]).sum()),
        crowded=crowded if ordered else 0,
        fits=near_ends(last_frames(prediction, clips), last_frames(reference, clips) + 1),
    )


def last_frames(side: EventFrames, clips: int) -> Ints:
    """Return the last frame of each clip; -1 where it has none."""
    last = np.full(clips, -1, dtype=np.int64)
    np.maximum.at(last, side.clip, side.frame)
    return last


def _row_facts(side: EventFrames, ends: Ints, classes: int, repeated: int) -> RowFacts:
    elevation, distance = side.elevation, side.distance
    return RowFacts(
        len(side),
        0 if elevation is None else len(side),
        0 if elevation is None else int(np.count_nonzero(elevation)),
        0 if distance is None else len(side),
        int((np.abs(side.azimuth) > 90).sum()),
        int((side.frame >= ends[side.clip]).sum()),
        int(((side.class_id < 0) | (side.class_id >= classes)).sum()),
        int((side.frame < 0).sum()),
        0 if side.pointless is None else int(side.pointless.sum()),
        0 if distance is None else int((distance == 0).sum()),
        repeated,
    )


def _crowded(side: EventFrames) -> tuple[int, int]:
    """Frames with several rows of one class, and rows there that are like another one of their frame.

    Negative frames and classes, which are never scored, are left out.
    """
    counts = (side.frame >= 0) & (side.class_id >= 0)
    side = side if counts.all() else side.take(counts)
    frames, classes = (int(values.max(initial=0)) + 1 for values in (side.frame, side.class_id))
    key = (side.clip * frames + side.frame) * classes + side.class_id
    order = np.argsort(key, kind="stable")
    same = np.diff(key[order]) == 0
    if not same.any():
        return 0, 0
    shared = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    many = side.take(order[shared])
    fields = [each for each in (key[order[shared]], many.source, many.azimuth, many.elevation) if each is not None]
    alike = np.lexsort(fields[::-1])
    equal = np.logical_and.reduce([np.diff(each[alike]) == 0 for each in fields])
    return len(shared) - int(same.sum()), int(equal.sum())
