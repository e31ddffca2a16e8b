"""What was heard of labels, in numbers: how far labels and audio are apart, where a single source is labelled.

A row is a piece of an event, up to two seconds long. Rows of recordings and of whole datasets add up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np

from seldio import geometry
from seldio.findings import Heard, HeardClass, Spread
from seldio.rules.deep_pieces import BLOCK, DIRECT, LEAST, Floats, Ints, LabelFrames, places, runs

#: Errors beyond this many degrees are not of the source that is labelled, but of another sound.
ASTRAY = 60.0
#: Within this many degrees label and audio agree.
WITHIN = 30.0
#: Label frames of one place count no more than this many for a mean over places.
MOST = 30
#: Fewest places for an interval of a mean.
_LEAST = 3


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Pieces of isolated events, each with its label frames and what was measured there; arrays of shape (n,)."""

    frames: Ints  # label frames with a direction
    error: Floats  # degrees between label and audio
    azimuth: Floats  # degrees by which the audio is further left than the label
    elevation: Floats  # degrees by which it is higher
    place: Ints  # a number of the place
    event: Ints  # a number of the event
    kind: Ints  # the class
    clip: Ints  # a number of the clip

    def __len__(self) -> int:
        return len(self.frames)

    def of(self, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Evidence:
        """Some of the pieces."""
        return Evidence(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))

    @property
    def median(self) -> float:
        """The median error over label frames, degrees."""
        order = np.argsort(self.error)
        return float(self.error[order][np.searchsorted(np.cumsum(self.frames[order]), self.frames.sum() / 2)])

    @property
    def share(self) -> float:
        """The share of the label frames within 30 degrees."""
        return float(self.frames[self.error <= WITHIN].sum() / self.frames.sum())

    def mean(self, values: Floats) -> Spread | None:
        """The mean of values of the pieces over places, with its 95 % interval; pieces that are astray are left out.

        None for fewer than three places.
        """
        near = self.error <= ASTRAY
        keys, of = np.unique(self.clip[near] * 100_000 + self.place[near], return_inverse=True)
        count = len(keys)
        if count < _LEAST:
            return None
        frames = np.bincount(of.ravel(), self.frames[near])
        means = np.bincount(of.ravel(), self.frames[near] * values[near]) / frames
        weight = np.minimum(frames, MOST)
        middle = float(np.average(means, weights=weight))
        error = np.sqrt((weight**2 * (means - middle) ** 2).sum()) / weight.sum() * np.sqrt(count / (count - 1))
        wide = student(1.96, count - 1) * float(error)
        return Spread(middle, middle - wide, middle + wide)


def student(z: float, freedom: float) -> float:
    """The quantile of Student's t for that of the normal distribution (Cornish and Fisher, to the second order)."""
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def evidence_of(labels: LabelFrames, directions: Floats) -> Evidence:
    """The evidence of one recording; *directions* (label frames, 3) are as long as they are direct."""
    count = min(len(labels), len(directions))
    direct = np.linalg.norm(directions[:count], axis=1) > DIRECT
    alone = np.flatnonzero(labels.alone[:count])
    frame = alone[direct[alone]]
    event = runs(alone, labels.event[alone])[direct[alone]]
    keys, piece, sizes = np.unique(
        np.stack((event, frame // BLOCK, places(labels.direction[frame]))), axis=1, return_inverse=True,
        return_counts=True,
    )  # fmt: skip
    labelled, measured = np.zeros((2, len(sizes), 3))
    np.add.at(labelled, piece.ravel(), labels.direction[frame])
    np.add.at(measured, piece.ravel(), directions[frame])
    azimuth, elevation = geometry.to_polar(*labelled.T)
    heard_azimuth, heard_elevation = geometry.to_polar(*measured.T)
    kind = np.zeros(len(sizes), np.int64)
    kind[piece.ravel()] = labels.event[frame] // 100_000
    return Evidence(
        sizes,
        np.asarray(geometry.great_circle(azimuth, elevation, heard_azimuth, heard_elevation), np.float64),
        np.asarray(geometry.wrap(heard_azimuth - azimuth), np.float64),
        heard_elevation - elevation,
        keys[2],
        keys[0],
        kind,
        np.zeros(len(sizes), np.int64),
    )


def together(clips: Iterable[Evidence]) -> Evidence:
    """The evidence of several recordings."""
    every = [dataclasses.replace(one, clip=one.clip + number) for number, one in enumerate(clips)]
    fields = (field.name for field in dataclasses.fields(Evidence))
    return Evidence(*(np.concatenate([getattr(one, name) for one in every]) for name in fields))


def heard(
    evidence: Evidence, names: Mapping[int, str], outcome: str, why: str | None, clip: str | None, recording: str,
    format: str, hop: float,
) -> Heard:  # fmt: skip
    """What is reported of the evidence of a recording, or of those of a dataset (*clip* is None)."""
    if not len(evidence):
        return Heard(clip, recording, format, outcome, why)
    fits = evidence.share >= 0.5
    kinds = [evidence.of(evidence.kind == kind) for kind in np.unique(evidence.kind)]
    classes = tuple(
        HeardClass(names.get(int(one.kind[0]), f"class {one.kind[0]}"), _events(one), _seconds(one, hop), one.median,
                   one.share)
        for one in kinds
    )  # fmt: skip
    spots = len(np.unique(evidence.clip * 100_000 + evidence.place))
    return Heard(
        clip, recording, format, outcome, why, _events(evidence), spots, _seconds(evidence, hop), evidence.median,
        evidence.share, evidence.mean(evidence.azimuth) if fits else None,
        evidence.mean(evidence.elevation) if fits else None, classes,
    )  # fmt: skip


def _events(evidence: Evidence) -> int:
    """How many events there are, each with three label frames or more."""
    _, of = np.unique(evidence.clip * 1_000_000 + evidence.event, return_inverse=True)
    return int((np.bincount(of.ravel(), evidence.frames) >= LEAST).sum())


def _seconds(evidence: Evidence, hop: float) -> float:
    return round(float(evidence.frames.sum() * hop), 1)
