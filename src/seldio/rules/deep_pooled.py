"""What all recordings of a dataset show together and no single one does: small rotations, offsets and shifts.

Each clip gives a sum: the mean difference of its places, or the likelihood of its labels at each shift. What is
reported must be there whichever clips are drawn.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from seldio.findings import Spread
from seldio.rules.deep_evidence import Evidence, together
from seldio.rules.deep_pieces import Floats, LabelFrames
from seldio.rules.deep_timing import MARGIN, AudibleFrames, evidence

#: Fewest clips of a format that are looked at together.
MANY = 4
#: Smallest mean difference (degrees) that is reported, and from where its interval (99 %) must begin.
_LEAST, _BEYOND = 2.5, 1.0
#: The normal quantile of that interval.
_SURE = 2.576
#: Share of an elevation by which rooms may make it seem lower, whether it is positive or negative.
_FLATTENED = 0.2
#: Most label frames by which labels of a dataset are shifted, and by how much (log-likelihood) a shift must be better.
_FURTHEST, _BETTER = 20, 2 * MARGIN
_DRAWS = 400


class Drift(NamedTuple):
    """A shift that all clips share."""

    frames: int  # label frames by which labels are late (early, if negative)
    clips: int  # recordings that were looked at


@dataclasses.dataclass(frozen=True)
class Pooled:
    """What the recordings of one format show together; None where that is nothing."""

    format: str
    clips: int  # recordings
    azimuth: Spread | None  # degrees by which the audio is further left than the labels
    elevation: Spread | None  # degrees by which it is higher
    shift: Drift | None  # label frames by which labels are late


def pooled(format: str, clips: Sequence[tuple[Evidence, LabelFrames, AudibleFrames]]) -> Pooled | None:
    """What clips of one format share; None for fewer than four."""
    if len(clips) < MANY:
        return None
    every = together([one for one, _, _ in clips if len(one)])
    azimuth = elevation = None
    if len(every) and every.share >= 0.5:
        turned = every.mean(every.azimuth, by_clip=True, z=_SURE)
        azimuth = turned if turned is not None and _far(turned) else None
        # in a room, sources above and below seem nearer to the horizon than they are
        bounds = [
            every.mean(every.elevation + share * every.level, by_clip=True, z=_SURE) for share in (0.0, _FLATTENED)
        ]
        if all(bound is not None and _far(bound) for bound in bounds):
            low, high = bounds
            assert low is not None
            assert high is not None
            elevation = low if low.value * high.value > 0 else None
    return Pooled(format, len(clips), azimuth, elevation, _shift(clips))


def _far(mean: Spread) -> bool:
    """Whether a mean difference is large, and surely not small."""
    return abs(mean.value) >= _LEAST and (mean.low > _BEYOND or mean.high < -_BEYOND)


def _shift(clips: Sequence[tuple[Evidence, LabelFrames, AudibleFrames]]) -> Drift | None:
    """The shift that makes the labels of all clips fit best; None if there is none, or if clips disagree."""
    late = range(-_FURTHEST, _FURTHEST + 1)
    curves = np.array([[_likelihood(labels, sound, each) for each in late] for _, labels, sound in clips])
    best = int(np.argmax(curves.sum(axis=0)))
    gain: Floats = curves[:, best] - curves[:, _FURTHEST]
    if late[best] == 0 or abs(late[best]) == _FURTHEST or gain.sum() < _BETTER:
        return None
    draws = np.random.default_rng(0).integers(0, len(gain), (_DRAWS, len(gain)))
    return Drift(late[best], len(clips)) if np.quantile(gain[draws].sum(axis=1), 0.01) > 0 else None


def _likelihood(labels: LabelFrames, sound: AudibleFrames, late: int) -> float:
    return float(reduce(np.add, evidence(labels, sound, late)).sum())
