"""What labels and sound say about the same moments: pieces of events that sound alone, with both directions.

Frames of one event depend on each other, and so do events at one place, which share their reflections. So frames
are put together into pieces of events, and pieces into places; chance is judged over places.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from seldio import geometry

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

#: Label frames of a piece, at most; a moving source is in several places.
_PIECE = 20
#: Label frames with a direction that make a piece, at least.
_LEAST = 3
#: Directness below which a label frame tells nothing.
_DIRECT = 0.03
#: Labelled directions nearer to each other than this sound like one; pieces of this size are one place. Degrees.
_TOGETHER, _PLACE = 10.0, 20.0
#: Directions measured are off like this: a share is off by anything, the rest by about 18 degrees.
_ASTRAY, _SHARPNESS = 0.15, 10.0


@dataclasses.dataclass(frozen=True)
class Said:
    """What labels say of each label frame of a clip.

    Args:
        active: whether anything sounds, shape (label frames,).
        alone: whether what sounds comes from one direction.
        direction: the unit vector to it (front, left, up), shape (label frames, 3); zeros where not alone.
        event: a number of the class and source that sound there, -1 where not alone.
    """

    active: Bools
    alone: Bools
    direction: Floats
    event: Ints

    def __len__(self) -> int:
        return len(self.active)


def said(frame: Ints, azimuth: Floats, elevation: Floats, event: Ints, count: int) -> Said:
    """What the rows of one clip say of its first label frames.

    Args:
        frame: label frames; those below 0 and from *count* on are left out.
        azimuth: degrees, NaN where unknown.
        elevation: degrees, NaN where unknown.
        event: a number of the class and source.
        count: label frames to look at.
    """
    inside = (frame >= 0) & (frame < count)
    frame, event, azimuth, elevation = frame[inside], event[inside], azimuth[inside], elevation[inside]
    known = np.isfinite(azimuth) & np.isfinite(elevation)
    units = np.stack(geometry.to_cartesian(np.where(known, azimuth, 0.0), np.where(known, elevation, 0.0)), axis=1)
    rows = np.bincount(frame, minlength=count)
    total = np.zeros((count, 3))
    np.add.at(total, frame, units)
    length = np.linalg.norm(total, axis=1)
    alone = (rows > 0) & (length > rows * np.cos(np.radians(_TOGETHER / 2)))
    alone[frame[~known]] = False
    direction = np.where(alone[:, np.newaxis], total / np.maximum(length, 1e-9)[:, np.newaxis], 0.0)
    of = np.full(count, -1, np.int64)
    of[frame] = event
    return Said(rows > 0, alone, direction, np.where(alone, of, -1))


@dataclasses.dataclass(frozen=True)
class Pieces:
    """Pieces of events of one or more clips.

    Args:
        agreement: of n pieces the mean of ``u vᵀ`` over its label frames, with the unit vectors u as labelled and v
            as heard, weighted by directness: shape (n, 3, 3). The mean cosine between labels and what is heard,
            turned by Q, is ``(agreement * Q).sum()``.
        place: a number of the place (and clip) of each piece, shape (n,).
        events: how many events they are from.
    """

    agreement: Floats
    place: Ints
    events: int

    def __len__(self) -> int:
        return len(self.agreement)

    @property
    def places(self) -> int:
        """How many places there are."""
        return len(np.unique(self.place))

    def cosines(self, turned: Floats) -> Floats:
        """Mean cosines between labels and sound turned by each of q matrices (q, 3, 3): shape (q, pieces)."""
        return np.asarray(np.tensordot(turned, self.agreement, axes=([1, 2], [1, 2])))

    def errors(self, turned: Floats) -> Floats:
        """The angle (degrees) of each place for each of q matrices: shape (q, places)."""
        return np.degrees(np.arccos(np.clip(self._by_place(self.cosines(turned)), -1.0, 1.0)))

    def evidence(self, turned: Floats) -> Floats:
        """Log-likelihood of each place for each of q matrices, against any direction at all: shape (q, places).

        Many pieces at one place say little more than three.
        """
        _, counts = np.unique(self.place, return_counts=True)
        return self._by_place(likelihood(self.cosines(turned))) * np.minimum(counts, 3)

    def _by_place(self, values: Floats) -> Floats:
        of = self.place == np.unique(self.place)[:, np.newaxis]
        return np.asarray(values @ of.T / of.sum(axis=1))


def likelihood(cosine: Floats) -> Floats:
    """Log-likelihood of an angle between label and sound, against any direction being as likely."""
    peak = 2 * _SHARPNESS / (1 - np.exp(-2 * _SHARPNESS))
    return np.asarray(np.log((1 - _ASTRAY) * peak * np.exp(_SHARPNESS * (cosine - 1)) + _ASTRAY))


def pieces(labels: Said, heard: Mapping[int, Floats]) -> dict[int, Pieces]:
    """Pieces of the events that sound alone.

    Args:
        labels: of a clip.
        heard: directions, shape (label frames, 3), as long as they are direct, by the channel that is taken for W.

    Returns:
        The same pieces, by that channel, each with the directions heard.
    """
    lengths = {reference: np.linalg.norm(directions, axis=1) for reference, directions in heard.items()}
    count = min(len(labels), *map(len, heard.values()))
    direct = np.max(list(lengths.values()), axis=0)[:count] > _DIRECT
    frame = np.flatnonzero(labels.alone[:count] & direct)
    run = runs(frame, labels.event[frame])
    began = frame[np.searchsorted(run, run)] if len(frame) else frame
    piece = np.unique(np.stack((run, (frame - began) // _PIECE)), axis=1, return_inverse=True)[1].ravel()
    sizes = np.bincount(piece)
    kept = sizes >= _LEAST
    middle = np.zeros((len(sizes), 3))
    np.add.at(middle, piece, labels.direction[frame])
    place, events = places(middle[kept]), len(np.unique(run[kept[piece]]))
    return {
        reference: Pieces(_agreement(labels.direction[frame], directions[frame], piece)[kept], place, events)
        for reference, directions in heard.items()
    }


def runs(frame: Ints, event: Ints) -> Ints:
    """The number of the event of each label frame; short gaps do not end an event."""
    new = (np.diff(frame) > _LEAST) | (np.diff(event) != 0)
    return np.concatenate((np.zeros(min(1, len(frame)), np.int64), np.cumsum(new)))


def _agreement(labelled: Floats, heard: Floats, piece: Ints) -> Floats:
    """Mean of ``u vᵀ`` in each piece, weighted by the length of what is heard."""
    total = np.zeros((int(piece.max(initial=-1)) + 1, 3, 3))
    np.add.at(total, piece, labelled[:, :, np.newaxis] * heard[:, np.newaxis])
    weight = np.bincount(piece, np.linalg.norm(heard, axis=1), len(total))
    return np.asarray(total / np.maximum(weight, 1e-9)[:, np.newaxis, np.newaxis])


def places(direction: Floats) -> Ints:
    """A number for each direction (n, 3); those in one cell of the sphere have the same."""
    azimuth, elevation = geometry.to_polar(*direction.T)
    ring = np.rint(elevation / _PLACE)
    across = np.maximum(1, np.rint(360 / _PLACE * np.cos(np.radians(ring * _PLACE))))
    return np.asarray(np.rint(azimuth / 360 * across) % across + 100 * (ring + 10), np.int64)


def joined(those: list[Pieces]) -> Pieces:
    """The pieces of several clips, whose places are their own."""
    agreement = np.concatenate([one.agreement for one in those])
    place = np.concatenate([one.place + 10_000 * number for number, one in enumerate(those)])
    return Pieces(agreement, place, sum(one.events for one in those))
