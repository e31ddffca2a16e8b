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
each due to a wrong class as often as such rows are in its fullest frame. Pairs of classes are counted in label frames.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from seldio.scores.seld.metrics import Thresholds, pair_errors, unit_counts
from seldio.scores.seld.pairing import Paired, cell_groups, paired
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.rows import EventFrames, Floats, Ints
from seldio.scores.seld.scoring import fit, horizons

#: Kinds of errors, in the order of their counts. *confused* and *mistaken* are the same pairs, by the class of the
#: reference and by that of the prediction.
KINDS = ("missed", "spurious", "confused", "mistaken", "place", "distance", "onscreen")
#: What is wrong with a pair of rows of one class.
_RIGHT, _PLACE, _DISTANCE, _ONSCREEN = range(4)


@dataclasses.dataclass(frozen=True, slots=True)
class Mistakes:
    """Counts of errors, which add up over parts; whole numbers, so that no sum depends on the cut."""

    kinds: Ints  # in the units of the profile (segments or frames), shape [kinds, classes]
    pairs: Ints  # of rows of a wrong class, shape [classes of references, classes of predictions]

    def __add__(self, other: Mistakes) -> Mistakes:
        return Mistakes(self.kinds + other.kinds, self.pairs + other.pairs)

    @staticmethod
    def none(classes: int) -> Mistakes:
        """Return the counts of no clip."""
        return Mistakes(np.zeros((len(KINDS), classes), np.int64), np.zeros((classes, classes), np.int64))


def count(
    reference: EventFrames,
    prediction: EventFrames,
    profile: SeldProfile,
    limits: Thresholds,
    classes: int,
    clips: int,
) -> Mistakes:
    """Count the errors in a number of *clips*.

    Raises:
        UsageError: a side lacks a field that the profile needs.
    """
    a, b = fit(reference, profile, "the reference"), fit(prediction, profile, "the prediction")
    lengths = -(-horizons(profile, a, clips) // profile.unit) * profile.unit
    total = Mistakes.none(classes)
    for group in paired(a, b, lengths, classes, profile.measure):
        total += _group(group, profile, limits)
    return total


def _group(group: Paired, profile: SeldProfile, limits: Thresholds) -> Mistakes:
    a, b, matches, classes = group.reference, group.prediction, group.matches, group.classes
    fault = _faults(a, b, matches.reference, matches.prediction, matches.error, limits)
    missing, alone = np.ones(len(a), dtype=bool), np.ones(len(b), dtype=bool)
    missing[matches.reference], alone[matches.prediction] = False, False
    i, j = _confused(group, np.flatnonzero(missing), np.flatnonzero(alone), profile, limits)

    counts = unit_counts(group, profile.unit, limits)
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
    pairs = np.bincount(a.class_id[i] * classes + b.class_id[j], minlength=classes**2).reshape(classes, classes)
    return Mistakes(kinds, pairs)


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
