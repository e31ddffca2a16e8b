"""Why a score may be so low: changes that undo the usual mistakes of conventions, of predictions or labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from seldio.scores.seld.metrics import Counts
from seldio.scores.seld.pairing import FOLDED
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.rows import EventFrames, Floats, Ints

#: Label frames by which onsets may be apart to be compared, and those of a clip that count.
REACH, FRAMES = 200, 6000
#: No onset of one side near one of the other; see :func:`lags`.
NO_LAGS = np.zeros(2 * REACH + 1, dtype=np.int64)


class Change(NamedTuple):
    """A row of the table."""

    name: str
    text: str  # what is changed, after "with"
    why: str  # what the mistake would be
    apply: Callable[[EventFrames], EventFrames]
    kind: str = "place"  # what has to be bad for it to be tried: places of matched sources, or matches
    needs: str = "azimuth"  # a field that the predictions and the profile must have


class ProbableCause(NamedTuple):
    """A change of the predictions that makes a score much better, and the F-score with it."""

    change: Change
    f: float


def _turned(by: Callable[[Floats], Floats]) -> Callable[[EventFrames], EventFrames]:
    return lambda side: dataclasses.replace(side, azimuth=by(side.azimuth))


def _raised(by: Callable[[Floats], Floats]) -> Callable[[EventFrames], EventFrames]:
    return lambda side: dataclasses.replace(side, elevation=None if side.elevation is None else by(side.elevation))


def _farther(times: float) -> Callable[[EventFrames], EventFrames]:
    return lambda side: dataclasses.replace(side, distance=None if side.distance is None else side.distance * times)


def _classed(by: int) -> Callable[[EventFrames], EventFrames]:
    return lambda side: dataclasses.replace(side, class_id=side.class_id + by)


def _exchanged(side: EventFrames) -> EventFrames:
    return side if side.elevation is None else dataclasses.replace(side, azimuth=side.elevation, elevation=side.azimuth)


_EITHER = "predictions or labels seem to"
#: The first of equally good ones is named.
CHANGES: tuple[Change, ...] = (
    Change("mirrored", "the azimuth mirrored", f"{_EITHER} measure azimuths clockwise", _turned(np.negative)),
    Change("flipped", "the elevation negated", f"{_EITHER} measure elevations downwards",
           _raised(np.negative), needs="elevation"),
    Change("inclination", "90° minus the elevation", f"{_EITHER} have angles from the zenith, not elevations",
           _raised(lambda elevation: 90 - elevation), needs="elevation"),
    Change("exchanged", "azimuth and elevation exchanged", f"{_EITHER} have them in the other order",
           _exchanged, needs="elevation"),
    Change("radians", "the predicted angles read as radians", "they seem not to be in degrees",
           lambda side: _raised(np.degrees)(_turned(np.degrees)(side))),
    Change("behind", "azimuths turned by 180°", f"{_EITHER} measure them from the back",
           _turned(lambda azimuth: azimuth + 180)),
    Change("reversed", "front and back swapped", f"{_EITHER} measure azimuths from the back, clockwise",
           _turned(lambda azimuth: 180 - azimuth)),
    Change("left", "the predicted azimuths turned by 90°", "the two seem to measure them from different axes",
           _turned(lambda azimuth: azimuth + 90)),
    Change("right", "the predicted azimuths turned by -90°", "the two seem to measure them from different axes",
           _turned(lambda azimuth: azimuth - 90)),
    Change("axes", "x and y exchanged", f"{_EITHER} measure azimuths clockwise from the left",
           _turned(lambda azimuth: 90 - azimuth)),
    Change("farther", "the predicted distances times 100", "they seem to be in another unit", _farther(100.0),
           needs="distance"),
    Change("nearer", "the predicted distances divided by 100", "they seem to be in another unit", _farther(0.01),
           needs="distance"),
    Change("class+1", "the predicted classes 1 higher", f"{_EITHER} count classes from 1", _classed(1), "match"),
    Change("class-1", "the predicted classes 1 lower", f"{_EITHER} count classes from 1", _classed(-1), "match"),
)  # fmt: skip


def suspected(profile: SeldProfile, counts: Counts) -> tuple[str, ...]:
    """The names of the changes that are worth trying, as the *counts* of all clips together are unlike a system's.

    Fair systems find a third of all sources, and place a third of those that they find.
    """
    found, here, there = (float(each.sum()) for each in (counts.matched, counts.true, counts.references))
    bad = {"place": here < found * _PLACED, "match": found < there * _FOUND} if there >= _EVIDENCE else {}
    fields = {"azimuth", "distance"} & {"azimuth", *profile.needs}
    fields |= set() if profile.measure is FOLDED else {"elevation"}
    return tuple(change.name for change in CHANGES if bad.get(change.kind) and change.needs in fields)


#: Shares of matches that are well placed and of references that are matched, below which something may be wrong;
#: and how many more of them a change has to bring.
_PLACED, _FOUND, _EVIDENCE = 1 / 3, 1 / 3, 10


def clear(change: str, before: Counts, after: Counts) -> bool:
    """Whether a change makes what a system gets right better by more than chance or a weak system explains.

    *before* and *after* are the counts of some clips without it and with it.
    """
    placed = named(change).kind == "place"
    old, new = ((each.true if placed else each.matched) for each in (before, after))
    most = after.matched if placed else after.references
    least = (_PLACED if placed else _MATCHED) * most.sum()
    if new.sum() < max(old.sum() + _EVIDENCE, 2 * old.sum(), least):
        return False
    # sources stay where they are, and a system may be wrong about one throughout: others have to agree, and those of
    # another clip, or nearly all
    better, worse = ((a >= 2 * b) & (a >= b + _CELL) for a, b in ((new, old), (old, new)))
    cells, clips = better.sum(), better.any(axis=1).sum()
    wide = clips >= 2 and cells >= max(3, 4 * worse.sum())
    return bool(wide or (cells >= 2 and new.sum() >= _ALL * most.sum()))


#: The share of references that a change has to match; matches of a clip and class that are more than chance; and the
#: share that leaves no doubt even in a single clip.
_MATCHED, _CELL, _ALL = 0.3, 3, 0.9


def named(name: str) -> Change:
    """The change called *name*; ``shift:N`` moves predictions by N label frames."""
    if not name.startswith("shift:"):
        return next(change for change in CHANGES if change.name == name)
    frames = int(name.removeprefix("shift:"))
    text = f"the predictions {abs(frames) / 10:g} s {'later' if frames > 0 else 'earlier'}"
    return Change(
        name, text, "they seem to be shifted in time", lambda side: dataclasses.replace(side, frame=side.frame + frames)
    )


def early(side: EventFrames) -> EventFrames:
    """The rows of the first ``FRAMES`` frames of each clip."""
    kept = (side.frame >= 0) & (side.frame < FRAMES)
    return side if kept.all() else side.take(kept)


def lags(reference: EventFrames, prediction: EventFrames, chosen: Sequence[int] = ()) -> Ints:
    """How many onsets of the reference have one of the same class a number of frames earlier in the prediction.

    Counts over frames from ``-REACH`` to ``REACH``, by which the predictions would have to be moved; they add up over
    clips, of which the *chosen* ones count.
    """
    classes = max(int(side.class_id.max(initial=0)) for side in (reference, prediction)) + 1
    a, b = (_onsets(side, chosen, classes) for side in (reference, prediction))
    first, last = np.searchsorted(b, a - REACH), np.searchsorted(b, a + REACH, side="right")
    many = last - first
    within = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    moved = np.repeat(a, many) - b[np.repeat(first, many) + within]
    return np.asarray(np.bincount(moved + REACH, minlength=2 * REACH + 1), dtype=np.int64)


def shift(counts: Ints) -> int:
    """By how many frames predictions have to be moved, if onsets tell that clearly; else 0."""
    near = counts[:-2] + counts[1:-1] + counts[2:]  # systems are a frame early or late
    best, still = int(near.argmax()), near[REACH - 1]
    sharp = near[best] >= _ONSETS and near[best] >= _SHARPER * max(still, np.median(near))
    frames = best - REACH + round(float(np.average([0, 1, 2], weights=counts[best : best + 3] + 1e-9)))
    return frames if sharp and abs(frames) > 2 else 0


#: How many onsets have to agree on a shift, how many times as many as without one, and the frames of silence before
#: an onset: what is shorter may be a flicker.
_ONSETS, _SHARPER, _SILENCE = 20, 2.5, 5


def _onsets(side: EventFrames, chosen: Sequence[int], classes: int) -> Ints:
    """The frames in which a class begins to sound, those of each clip and class far from those of others; sorted."""
    clip = np.zeros(max(int(side.clip.max(initial=0)), *chosen, 0) + 1, dtype=bool)
    clip[list(chosen)] = True
    rows = clip[side.clip] & (side.frame >= 0) & (side.frame < FRAMES) & (side.class_id >= 0)
    group = side.clip[rows] * classes + side.class_id[rows]
    keys = np.sort(group * (FRAMES + 2 * REACH) + side.frame[rows])
    return np.asarray(keys[np.diff(keys, prepend=-FRAMES) > _SILENCE])
