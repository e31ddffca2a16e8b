"""Where a lost F comes from: what was missed, made up, called by another name, or put in the wrong place.

F of a class is ``TP / (TP + w * misplaced + (FP + FN) / 2)``, so what it lacks to 1 is
``(w * misplaced + FP / 2 + FN / 2)`` over the same denominator: each error has a share of it, and the shares add up
to the lost F of the class, and their means to that of the mean. These are the errors:

- A prediction that is paired with a reference of its class and misses a threshold is in the wrong place if its angle
  does, else at the wrong distance, else it has the wrong on-screen flag.
- A reference beyond the predictions of its class and a prediction beyond the references of its own, in one label frame
  and within all thresholds of each other, are one source of the wrong class: half an error of either class.
- What is left is missed, or spurious.
- A class of the vocabulary that has neither references nor predictions loses its whole F in a mean over all classes.

Programs that score segments count errors by the segment; a missed reference and a spurious prediction of a segment are
each due to a wrong class as often as such rows are in its fullest frame. Pairs of classes and conditions (distance,
elevation, polyphony, motion, room) are counted in label frames.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from seldio import geometry
from seldio.scores.seld.corrected import STEPS
from seldio.scores.seld.metrics import Thresholds, pair_errors
from seldio.scores.seld.pairing import Paired, cell_groups, paired
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.rows import EventFrames, Floats, Ints
from seldio.scores.seld.scoring import fit, horizons
from seldio.tasks.margins import Margins

#: Kinds of errors, in the order of their counts. *confused* and *mistaken* are the same pairs, by the class of the
#: reference and by that of the prediction.
KINDS = ("missed", "spurious", "confused", "mistaken", "place", "distance", "onscreen")
#: What becomes of a row, in the order of the sums of a condition; then pairs of one class and their angles, in steps.
STATES = ("right", "confused", "place", "distance", "onscreen", "missed", "spurious", "pairs", "angle")
_RIGHT, _CONFUSED, _PLACE, _DISTANCE, _ONSCREEN, _MISSED, _SPURIOUS, _PAIRS, _ANGLE = range(len(STATES))


@dataclasses.dataclass(frozen=True, slots=True)
class Mistakes:
    """Counts of errors, which add up over parts; whole numbers, so that no sum depends on the cut."""

    kinds: Ints  # in the units of the profile (segments or frames), shape [kinds, classes]
    pairs: Ints  # of rows of a wrong class, shape [classes of references, classes of predictions]
    bands: Ints  # of rows under each condition, shape [bands of all conditions, states]
    clips: Ints  # of rows of each clip, shape [clips, states]

    def __add__(self, other: Mistakes) -> Mistakes:
        return Mistakes(
            self.kinds + other.kinds, self.pairs + other.pairs, self.bands + other.bands,
            np.concatenate([self.clips, other.clips]),
        )  # fmt: skip


def count(
    reference: EventFrames,
    prediction: EventFrames,
    profile: SeldProfile,
    limits: Thresholds,
    classes: int,
    frames: Ints,
) -> Mistakes:
    """The errors of some clips, *frames* the label frames of their recordings (0 where they are not known).

    Raises:
        UsageError: a side lacks a field that the profile needs.
    """
    a, b = fit(reference, profile, "the reference"), fit(prediction, profile, "the prediction")
    lengths = -(-horizons(profile, a, b, frames) // profile.unit) * profile.unit
    total = Mistakes(
        np.zeros((len(KINDS), classes), np.int64), np.zeros((classes, classes), np.int64),
        np.zeros((sum(len(each.bands) for each in CONDITIONS), len(STATES)), np.int64),
        np.zeros((0, len(STATES)), np.int64),
    )  # fmt: skip
    for group in paired(a, b, lengths, classes, profile.measure):
        total += _group(group, profile, limits)
    return total


def _group(group: Paired, profile: SeldProfile, limits: Thresholds) -> Mistakes:
    a, b, matches, classes = group.reference, group.prediction, group.matches, group.classes
    fault = _faults(a, b, matches.reference, matches.prediction, matches.error, limits)
    states, alone = np.full(len(a), _MISSED), np.ones(len(b), dtype=bool)
    states[matches.reference], alone[matches.prediction] = fault, False
    i, j = _confused(group, np.flatnonzero(states == _MISSED), np.flatnonzero(alone), profile, limits)
    states[i], alone[j] = _CONFUSED, False

    counts = profile.tally(group, limits)
    missed, false, misplaced = (
        np.rint(each).astype(np.int64) for each in (counts.missed, counts.false, counts.misplaced)
    )
    kinds = np.zeros((len(KINDS), classes), np.int64)
    kinds[2] = _called(missed, a.frame[i] // profile.unit, a.class_id[i], a.frame[i])
    kinds[3] = _called(false, b.frame[j] // profile.unit, b.class_id[j], b.frame[j])
    kinds[0], kinds[1] = missed.sum(axis=0) - kinds[2], false.sum(axis=0) - kinds[3]
    of_class = a.class_id[matches.reference]
    kinds[5], kinds[6] = (np.bincount(of_class[fault == kind], minlength=classes) for kind in (_DISTANCE, _ONSCREEN))
    kinds[4] = misplaced.sum(axis=0) - kinds[5] - kinds[6]

    angle = np.rint(matches.error * STEPS).astype(np.int64)
    bands = []
    many = np.bincount(a.frame, minlength=group.frames)
    left, right = (Seen(side, many[side.frame], profile.metre) for side in (a, b.take(alone)))
    for condition in CONDITIONS:
        rows = condition.band(left)
        spurious = condition.band(right) if condition.both else np.full(len(right.side), -1)
        bands.append(_sums(rows, states, spurious, rows[matches.reference], angle, len(condition.bands)))
    first, clips = group.clips.start, len(group.lengths)
    of_clips = _sums(a.clip - first, states, b.clip[alone] - first, a.clip[matches.reference] - first, angle, clips)
    pairs = np.bincount(a.class_id[i] * classes + b.class_id[j], minlength=classes**2).reshape(classes, classes)
    return Mistakes(kinds, pairs, np.concatenate(bands), of_clips)


def _faults(a: EventFrames, b: EventFrames, i: Ints, j: Ints, error: Floats, limits: Thresholds) -> Ints:
    """What is wrong with pairs of rows, angles first."""
    distance, relative, onscreen = pair_errors(a, b, i, j)
    far = (distance > limits.distance) | (relative > limits.relative)
    hidden = (onscreen != 1) & limits.onscreen
    return np.select([error > limits.angle, far, hidden], [_PLACE, _DISTANCE, _ONSCREEN], _RIGHT)


def _confused(group: Paired, missed: Ints, false: Ints, profile: SeldProfile, limits: Thresholds) -> tuple[Ints, Ints]:
    """Rows of both sides that are one source but for its class: as many as can be, then those of the least angles.

    *missed* and *false* are the rows without a partner of their class, so that none of them share a class and frame.
    """
    from scipy.optimize import linear_sum_assignment

    a, b = group.reference.take(missed), group.prediction.take(false)
    frames = a.frame, b.frame
    counts = np.bincount(frames[0], minlength=group.frames), np.bincount(frames[1], minlength=group.frames)
    measure = profile.measure
    found: list[tuple[Ints, Ints]] = [(np.empty(0, np.int64),) * 2]
    for cells in cell_groups(frames, counts, measure.prepare(a), measure.prepare(b), measure.between):
        r, p = np.broadcast_arrays(cells.reference[:, :, None], cells.prediction[:, None, :])
        good = _faults(a, b, r.ravel(), p.ravel(), cells.cost.ravel(), limits).reshape(r.shape) == _RIGHT
        if cells.single:
            found.append((r[good], p[good]))
            continue
        for n in np.flatnonzero(good.any(axis=(1, 2))):
            chosen = linear_sum_assignment(np.where(good[n], cells.cost[n], _FAR))
            kept = good[n][chosen]
            found.append((r[n][chosen][kept], p[n][chosen][kept]))
    i, j = (np.concatenate(each) for each in zip(*found, strict=True))
    return missed[i], false[j]


#: Stands for a pair that is none: more than the angles of all pairs of a frame together.
_FAR = 1e6


def _called(many: Ints, unit: Ints, class_id: Ints, frame: Ints) -> Ints:
    """How many of *many* errors, shape [units, classes], are due to a wrong class; by class.

    A unit has as many as its fullest frame; *unit*, *class_id* and *frame* are those of rows under a wrong class.
    """
    classes = many.shape[1]
    keys, times = np.unique(frame * classes + class_id, return_counts=True)
    fullest = np.zeros_like(many)
    units = np.zeros(int(frame.max(initial=0)) + 1, np.int64)
    units[frame] = unit
    np.maximum.at(fullest, (units[keys // classes], keys % classes), times)
    return np.asarray(np.minimum(many, fullest).sum(axis=0))


def _sums(rows: Ints, states: Ints, spurious: Ints, of_pairs: Ints, angle: Ints, size: int) -> Ints:
    """Of each band (-1 is none): rows in each state, spurious ones, pairs, and their angles in steps."""
    found = np.zeros((size, len(STATES)), np.int64)
    known = rows >= 0
    found[:] = np.bincount(rows[known] * len(STATES) + states[known], minlength=found.size).reshape(found.shape)
    found[:, _SPURIOUS] = np.bincount(spurious[spurious >= 0], minlength=size)
    placed = of_pairs >= 0
    found[:, _PAIRS] = np.bincount(of_pairs[placed], minlength=size)
    np.add.at(found[:, _ANGLE], of_pairs[placed], angle[placed])
    return found


# --- conditions ------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """Rows of a side, and what conditions are told by."""

    side: EventFrames
    sources: Ints  # how many the reference has in the frame of each row
    metre: float  # units of distance in a metre


class Condition(NamedTuple):
    """What may make a source harder to find."""

    name: str
    bands: tuple[str, ...]
    band: Callable[[Seen], Ints]  # of each row; -1 where it is not known
    lacking: str  # what the reference has not where no band is known
    both: bool = True  # whether predictions have it, too


_METRES, _DEGREES = (1.0, 2.0, 3.0, 4.0), (-30.0, -10.0, 10.0, 30.0)


def _distance(seen: Seen) -> Ints:
    distance = seen.side.distance
    if distance is None:
        return np.full(len(seen.side), -1)
    return np.where(np.isnan(distance), -1, np.searchsorted(_METRES, distance / seen.metre, side="right"))


def _elevation(seen: Seen) -> Ints:
    if seen.side.elevation is None:
        return np.full(len(seen.side), -1)
    return np.searchsorted(_DEGREES, seen.side.elevation, side="right")


def _polyphony(seen: Seen) -> Ints:
    return np.minimum(seen.sources, 4)


def _motion(seen: Seen) -> Ints:
    """How far an event gets from its mean direction: a run of frames of one clip, class and source number."""
    side = seen.side
    bands = np.full(len(side), -1)
    if side.source is None or not len(side):
        return bands
    keys = side.clip, side.class_id, side.source
    order = np.lexsort((side.frame, *reversed(keys)))
    step = np.diff(side.frame[order])
    other = np.logical_or.reduce([np.diff(key[order]) != 0 for key in keys])
    low = np.flatnonzero(np.insert(other | (step > 1), 0, True))
    size = np.diff(np.append(low, len(order)))
    elevation = np.zeros(len(side)) if side.elevation is None else side.elevation
    units = np.stack(geometry.to_cartesian(side.azimuth, elevation), axis=1)[order]
    mean = np.add.reduceat(units, low)
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)
    cosine = np.minimum.reduceat(np.einsum("ij,ij->i", np.repeat(mean, size, axis=0), units), low)
    spread = np.round(np.degrees(np.arccos(np.clip(cosine, -1, 1))), 4)
    margins = Margins()
    band = np.digitize(spread, [margins.still, margins.moving], right=True)
    twice = np.zeros(len(low), dtype=bool)  # one number for two places: nobody knows which of them moved
    event = np.repeat(np.arange(len(low)), size)
    twice[event[1:][(step == 0) & ~other]] = True
    bands[order] = np.repeat(np.where(twice, -1, band), size)
    return bands


CONDITIONS: tuple[Condition, ...] = (
    Condition("distance", ("< 1 m", "1…2 m", "2…3 m", "3…4 m", "≥ 4 m"), _distance, "distances"),
    Condition("elevation", ("< -30°", "-30…-10°", "-10…10°", "10…30°", "≥ 30°"), _elevation, "elevations"),
    Condition("polyphony", ("0", "1", "2", "3", "≥ 4"), _polyphony, "rows"),
    Condition("motion", ("still", "slight", "moving"), _motion, "source numbers", both=False),
)


def band_rows(bands: Any) -> list[tuple[Condition, Any]]:
    """The sums of each condition, of all of them together."""
    ends = np.cumsum([len(condition.bands) for condition in CONDITIONS])
    return list(zip(CONDITIONS, np.split(bands, ends[:-1]), strict=True))
