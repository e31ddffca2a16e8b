"""What a score has to say about rows beside their counts: numbers that add up over clips, like the counts."""

from __future__ import annotations

import dataclasses

import numpy as np

from seldio.scores.seld.profiles import Profile
from seldio.scores.seld.scoring import horizons
from seldio.scores.seld.sides import Ints, Side


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one side, by what is notable about them.

    Args:
        all: of them.
        elevations: that have an elevation, be it 0.
        raised: whose elevation is not 0.
        distances: of parts in which distances are known.
        unfolded: with an azimuth beyond ±90 degrees.
        beyond: in frames behind those that the profile counts.
        foreign: of a class that the vocabulary does not have.
        early: in a negative frame.
        pointless: whose vector is (0, 0, 0).
        touching: whose distance is 0.
        repeated: like another one in frame, class, source and direction.
    """

    all: int = 0
    elevations: int = 0
    raised: int = 0
    distances: int = 0
    unfolded: int = 0
    beyond: int = 0
    foreign: int = 0
    early: int = 0
    pointless: int = 0
    touching: int = 0
    repeated: int = 0

    def __add__(self, other: Rows) -> Rows:
        return Rows(*(getattr(self, name) + getattr(other, name) for name in _names(self)))


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """Both sides of some clips.

    Args:
        reference: its rows.
        prediction: its rows.
        unlabelled: clips without any reference row.
        alarms: predicted rows in those.
        crowded: frames with several references of one class, where the profile goes by the order of their rows.
        recorded: clips the length of whose recording is known.
    """

    reference: Rows = Rows()
    prediction: Rows = Rows()
    unlabelled: int = 0
    alarms: int = 0
    crowded: int = 0
    recorded: int = 0

    def __add__(self, other: Seen) -> Seen:
        return Seen(*(getattr(self, name) + getattr(other, name) for name in _names(self)))


def _names(record: Rows | Seen) -> list[str]:
    return [field.name for field in dataclasses.fields(record)]


def seen(profile: Profile, reference: Side, prediction: Side, frames: Ints, classes: int) -> Seen:
    """What is notable about the rows of both sides, as they were given.

    Args:
        profile: of the score.
        reference: rows about the clips.
        prediction: likewise.
        frames: label frames of the recording of each clip, 0 where it is not known.
        classes: how many the vocabulary has.
    """
    ends = -(-horizons(profile, reference, prediction, frames) // profile.unit) * profile.unit
    labelled = np.bincount(reference.clip, minlength=len(frames)) > 0
    crowded, twice = _crowded(reference)
    return Seen(
        _rows(reference, ends, classes, twice),
        _rows(prediction, ends, classes, _crowded(prediction)[1]),
        int((~labelled).sum()),
        int((~labelled[prediction.clip]).sum()),
        crowded if profile.ordered else 0,
        int((frames > 0).sum()),
    )


def _rows(side: Side, ends: Ints, classes: int, repeated: int) -> Rows:
    elevation, distance = side.elevation, side.distance
    return Rows(
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


def _crowded(side: Side) -> tuple[int, int]:
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
