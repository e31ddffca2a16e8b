"""What all recordings of a dataset show together and no single one does: small rotations, offsets and shifts.

Each clip gives a sum: the differences of its places, or the likelihood of its labels at each shift. What is reported
must be there whichever clips are drawn.

Reflections make sound seem to come from nearer to a wall than it does, which is left of its source on one side of the
array and right of it on the other: a difference that goes with the sine of the azimuth, where a rotation is the same on
all sides. Floor and ceiling shift all elevations of a room. So both are estimated together, for each room that file
names tell, and a rotation or an offset is reported only as far as rooms cannot be the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from seldio.findings import Spread
from seldio.rules.deep_evidence import ASTRAY, MOST, Evidence, student, together
from seldio.rules.deep_pieces import Floats, Ints, LabelFrames
from seldio.rules.deep_timing import MARGIN, SMALLEST, AudibleFrames, evidence, matching

#: Fewest clips of a format that are looked at together.
MANY = 4
#: Where the interval (97.5 %) of a mean difference in azimuth and elevation must begin, degrees: rooms and annotators
#: cause smaller ones, and floors are often nearer than ceilings.
_BEYOND, _HIGHER = 1.0, 3.0
#: The normal quantile of that interval.
_SURE = 2.2414
#: Degrees by which a place of direct sound seems elsewhere; by which the walls of all rooms, and of each, shift places.
_PLACE, _WALLS, _ROOM = 1.2, 6.0, 2.0
#: Fewest clips.
_FEWEST = 3
#: Degrees by which floor and ceiling, the nearer of them, shift all elevations of a room.
_FLOOR = 3.0
#: Share of an elevation by which rooms make it seem nearer to the horizon, and how much that varies.
_FLATTENED, _FLAT = 0.1, 0.07
#: Most label frames by which labels of a dataset are shifted.
_FURTHEST = 20
#: Smallest share of label frames within 30 degrees after a shift: chance yields up to a quarter, right labels far more.
_MATCH = 0.4
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


def pooled(
    format: str, clips: Sequence[tuple[Evidence, LabelFrames, AudibleFrames]], rooms: Sequence[int | None]
) -> Pooled | None:  # fmt: skip
    """What clips of one format share, each recorded in one of *rooms* (None if unknown); None for fewer than four."""
    if len(clips) < MANY:
        return None
    every = together([one for one, _, _ in clips])
    known = np.unique([-1 if room is None else room for room in rooms], return_inverse=True)[1].ravel()
    azimuth = elevation = None
    moved = _shift(clips)
    if len(every) and every.share >= 0.5 and (moved is None or abs(moved.frames) < SMALLEST):
        turned, raised = (shared(every, known, round_about=one) for one in (True, False))
        azimuth = turned if turned is not None and _far(turned, _BEYOND) else None
        elevation = raised if raised is not None and _far(raised, _HIGHER) else None
    return Pooled(format, len(clips), azimuth, elevation, moved)


def shared(every: Evidence, rooms: Ints, *, round_about: bool) -> Spread | None:
    """By how much the audio of clips is further left (or higher) than the labels; None for fewer than three clips.

    A place counts as much as its sound is direct: reflections, others at each place, are what makes it seem elsewhere.
    The interval comes from how much clips differ, and from what rooms may hide; it is wider where a few clips count for
    most.

    Args:
        every: the pieces of all clips.
        rooms: the number of each clip's room. What rooms cause is estimated as well, with Gaussian priors (Rasmussen
            and Williams, "Gaussian Processes for Machine Learning", 2006, section 2.7).
        round_about: azimuths, else elevations.
    """
    values = every.azimuth if round_about else every.elevation + _FLATTENED * every.level
    near = every.error <= ASTRAY
    keys, of = np.unique(every.clip[near] * 100_000 + every.place[near], return_inverse=True)
    clip, of = np.unique(keys // 100_000, return_inverse=True)[1].ravel(), of.ravel()
    if not len(keys) or clip.max() + 1 < _FEWEST:
        return None
    frames = np.bincount(of, every.frames[near])
    heard = every.frames[near] * every.direct[near]
    total = np.bincount(of, heard)

    def over(one: Floats) -> Floats:
        """The mean over each place."""
        return np.asarray(np.bincount(of, heard * one[near]) / total)

    value = over(values)
    weight = total / frames * np.minimum(frames, MOST) / MOST
    across = np.maximum(np.cos(np.radians(over(every.level))), 0.01)
    weight *= across**2 if round_about else 1.0  # near the zenith, azimuths mean little
    waves = [over(wave(np.radians(every.side))) / across for wave in (np.cos, np.sin)]
    of_room = np.unique(rooms[np.unique(keys // 100_000)], return_inverse=True)[1].ravel()[clip]
    each = [of_room == number for number in range(of_room.max() + 1)]
    if round_about:
        causes = [(wave, _WALLS) for wave in waves] + [(wave * room, _ROOM) for room in each for wave in waves]
    else:
        causes = [(room * 1.0, _FLOOR) for room in each] + [(over(every.level), _FLAT)]
    columns = [np.ones(len(keys)), *(column for column, _ in causes)]
    variance = np.array([np.inf, *(size**2 for _, size in causes)])
    model = np.stack(columns, axis=1)
    inverse = np.linalg.inv(model.T @ (weight[:, np.newaxis] * model) + np.diag(_PLACE**2 / variance))
    gains = (inverse @ (model.T * weight))[0]
    fitted = inverse @ (model.T @ (weight * value))
    by_clip = np.bincount(clip, gains * (value - model @ fitted))
    leverage = np.abs(np.bincount(clip, gains))
    leverage /= leverage.sum()
    hidden = (gains @ model)[1:] ** 2 @ variance[1:]
    differ = float((by_clip**2 / np.maximum(1 - leverage, 1e-9)).sum())
    wide = np.sqrt(student(_SURE, max(1.0, 1 / float((leverage**2).sum()) - 1)) ** 2 * differ + _SURE**2 * hidden)
    return Spread(float(fitted[0]), float(fitted[0] - wide), float(fitted[0] + wide))


def _far(mean: Spread, limit: float) -> bool:
    """Whether a mean difference is surely beyond a limit."""
    return mean.low > limit or mean.high < -limit


def _shift(clips: Sequence[tuple[Evidence, LabelFrames, AudibleFrames]]) -> Drift | None:
    """The shift that makes the labels of all clips fit best; None if there is none, or if clips disagree.

    Directions and timing must both say so: where sounds fade into reverberation, labels without their last label frame
    fit directions better, without any shift. Labels of other clips fit none: directions match by chance at any time.
    """
    late = range(-_FURTHEST, _FURTHEST + 1)
    curves = np.array([[_likelihood(labels, sound, each) for each in late] for _, labels, sound in clips])
    gains = curves - curves[:, _FURTHEST : _FURTHEST + 1]
    best = int(np.argmax(gains.sum(axis=0).min(axis=1)))
    gain: Floats = gains[:, best]
    if late[best] == 0 or abs(late[best]) == _FURTHEST or gain.sum(axis=0).min() < MARGIN:
        return None
    matched, whole = np.sum([matching(labels, sound, late[best]) for _, labels, sound in clips], axis=0)
    if matched < _MATCH * whole:
        return None
    draws = np.random.default_rng(0).integers(0, len(gain), (_DRAWS, len(gain)))
    return Drift(late[best], len(clips)) if np.quantile(gain.sum(axis=1)[draws].sum(axis=1), 0.01) > 0 else None


def _likelihood(labels: LabelFrames, sound: AudibleFrames, late: int) -> tuple[float, float]:
    """That of directions, and that of timing."""
    where, when = evidence(labels, sound, late)
    return float(where.sum()), float(when.sum())
