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
        beyond: in frames that the profile does not count.
        foreign: of a class that the vocabulary does not have.
        early: in a negative frame.
    """

    all: int = 0
    elevations: int = 0
    raised: int = 0
    distances: int = 0
    unfolded: int = 0
    beyond: int = 0
    foreign: int = 0
    early: int = 0

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
    """

    reference: Rows = Rows()
    prediction: Rows = Rows()
    unlabelled: int = 0
    alarms: int = 0
    crowded: int = 0

    def __add__(self, other: Seen) -> Seen:
        return Seen(*(getattr(self, name) + getattr(other, name) for name in _names(self)))


def _names(record: Rows | Seen) -> list[str]:
    return [field.name for field in dataclasses.fields(record)]


def seen(profile: Profile, reference: Side, prediction: Side, clips: int, classes: int) -> Seen:
    """What is notable about the rows of both sides, as they were given, in *clips* clips."""
    step = 10 if profile.horizon == "last-second" else 1
    ends = -(-horizons(profile, reference, prediction, clips) // step) * step
    labelled = np.bincount(reference.clip, minlength=clips) > 0
    return Seen(
        _rows(reference, ends, classes),
        _rows(prediction, ends, classes),
        int((~labelled).sum()),
        int((~labelled[prediction.clip]).sum()),
        _crowded(reference) if profile.ordered else 0,
    )


def _rows(side: Side, ends: Ints, classes: int) -> Rows:
    elevation = side.elevation
    return Rows(
        len(side),
        0 if elevation is None else len(side),
        0 if elevation is None else int(np.count_nonzero(elevation)),
        0 if side.distance is None else len(side),
        int((np.abs(side.azimuth) > 90).sum()),
        int((side.frame >= ends[side.clip]).sum()),
        int(((side.class_id < 0) | (side.class_id >= classes)).sum()),
        int((side.frame < 0).sum()),
    )


def _crowded(side: Side) -> int:
    """Frames with several rows of one class; negative frames and classes are never scored."""
    side = side.take((side.frame >= 0) & (side.class_id >= 0))
    frames, classes = (int(values.max(initial=0)) + 1 for values in (side.frame, side.class_id))
    _, many = np.unique((side.clip * frames + side.frame) * classes + side.class_id, return_counts=True)
    return int((many > 1).sum())
