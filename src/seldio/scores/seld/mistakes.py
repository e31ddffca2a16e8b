"""Split a lost F into its causes: missed, spurious, of the wrong class, or in the wrong place.

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

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from seldio.reports.tables import Cell, Column, Table
from seldio.scores.seld.counting import (
    Count,
    EventFrames,
    Floats,
    Ints,
    Paired,
    Thresholds,
    cell_groups,
    linear_sum_assignment,
    nanmean,
    pair_errors,
    unit_counts,
)
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.scoring import SeldScore, pairings

#: Kinds of errors, in the order of their counts. *confused* and *mistaken* are the same pairs, by the class of the
#: reference and by that of the prediction.
KINDS = ("missed", "spurious", "confused", "mistaken", "place", "distance", "onscreen")
#: What is wrong with a pair of rows of one class.
_RIGHT, _PLACE, _DISTANCE, _ONSCREEN = range(4)


class Mistakes(NamedTuple):
    """Counts of errors; whole numbers, so that no sum depends on the cut."""

    kinds: Ints  # in the units of the profile (segments or frames), shape [kinds, classes]
    pairs: Ints  # of rows of a wrong class, shape [classes of references, classes of predictions]


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
    counts_by_kind = np.zeros((len(KINDS), classes), np.int64)
    pairs = np.zeros((classes, classes), np.int64)
    for group in pairings(reference, prediction, profile, classes, clips):
        a, b, matches = group.reference, group.prediction, group.matches
        fault = _faults(a, b, matches.reference, matches.prediction, matches.error, limits)
        missing, alone = np.ones(len(a), dtype=bool), np.ones(len(b), dtype=bool)
        missing[matches.reference], alone[matches.prediction] = False, False
        i, j = _confused(group, np.flatnonzero(missing), np.flatnonzero(alone), profile, limits)
        pairs += np.bincount(a.class_id[i] * classes + b.class_id[j], minlength=classes**2).reshape(classes, classes)
        of_class = a.class_id[matches.reference]
        far, hidden = (np.bincount(of_class[fault == kind], minlength=classes) for kind in (_DISTANCE, _ONSCREEN))
        by_unit, *_ = unit_counts(group, profile.unit, limits)
        missed, false = by_unit[Count.MISSED], by_unit[Count.FALSE]
        confused = _called(missed, a.frame[i] // profile.unit, a.class_id[i], a.frame[i])
        mistaken = _called(false, b.frame[j] // profile.unit, b.class_id[j], b.frame[j])
        placed = by_unit[Count.MISPLACED].astype(np.int64).sum(axis=0) - far - hidden
        spurious = false.sum(axis=0) - mistaken
        counts_by_kind += np.stack([missed.sum(axis=0) - confused, spurious, confused, mistaken, placed, far, hidden])
    return Mistakes(counts_by_kind, pairs)


def _faults(a: EventFrames, b: EventFrames, i: Ints, j: Ints, error: Floats, limits: Thresholds) -> Ints:
    """Return the fault of each pair of rows, angles first."""
    distance, relative, onscreen = pair_errors(a, b, i, j)
    far = (distance > limits.distance) | (relative > limits.relative)
    hidden = (onscreen != 1) & limits.onscreen
    return np.select([error > limits.angle, far, hidden], [_PLACE, _DISTANCE, _ONSCREEN], _RIGHT)


def _confused(group: Paired, missed: Ints, false: Ints, profile: SeldProfile, limits: Thresholds) -> tuple[Ints, Ints]:
    """Return rows of both sides that are one source but for its class: as many as can be, then those of least angles.

    *missed* and *false* are the rows without a partner of their class, so that none of them share a class and frame.
    """
    a, b = group.reference.take(missed), group.prediction.take(false)
    frames, total = (a.frame, b.frame), len(group.references) // group.classes
    counts = np.bincount(a.frame, minlength=total), np.bincount(b.frame, minlength=total)
    pairs: list[tuple[Ints, Ints]] = [(np.empty(0, np.int64),) * 2]
    for _, references, predictions, cost in cell_groups(a, b, frames, counts, profile.measure):
        r, p = np.broadcast_arrays(references[:, :, None], predictions[:, None, :])
        good = _faults(a, b, r.ravel(), p.ravel(), cost.ravel(), limits).reshape(r.shape) == _RIGHT
        if cost.shape[1:] == (1, 1):
            pairs.append((r[good], p[good]))
            continue
        for cell in np.flatnonzero(good.any(axis=(1, 2))):
            chosen = linear_sum_assignment()(np.where(good[cell], cost[cell], _FAR))
            right = good[cell][chosen]
            pairs.append((r[cell][chosen][right], p[cell][chosen][right]))
    i, j = (np.concatenate(rows) for rows in zip(*pairs, strict=True))
    return missed[i], false[j]


#: Stands for a pair that is none: more than the angles of all pairs of a frame together.
_FAR = 1e6


def _called(many: Ints, unit: Ints, class_id: Ints, frame: Ints) -> Ints:
    """Return how many of *many* errors, shape [units, classes], are due to a wrong class; by class.

    A unit has as many as its fullest frame; *unit*, *class_id* and *frame* are those of rows under a wrong class.
    """
    classes = many.shape[1]
    keys, times = np.unique(frame * classes + class_id, return_counts=True)
    fullest = np.zeros_like(many)
    units = np.zeros(int(frame.max(initial=0)) + 1, np.int64)
    units[frame] = unit
    np.maximum.at(fullest, (units[keys // classes], keys % classes), times)
    return np.asarray(np.minimum(many, fullest).sum(axis=0))


# --- tables ------------------------------------------------------------------------------------------------

#: What each error is called, and the kinds that it is made of: a wrong class is an error of two classes.
ERRORS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "missed": ("missed", ("missed",)), "spurious": ("spurious", ("spurious",)),
    "wrong_class": ("wrong class", ("confused", "mistaken")), "wrong_place": ("wrong place", ("place",)),
    "wrong_distance": ("wrong distance", ("distance",)), "wrong_onscreen": ("wrong on-screen flag", ("onscreen",)),
    "absent": ("class absent", ()),
}  # fmt: skip
#: Pairs of classes that are shown without being asked for.
_TOP = 8
_F = Column("F", "F", "%", 1, "higher")
_ERRORS = (
    Column("error", "error"),
    Column("count", "count", "", 0, None,
           "misses, false alarms or misplaced pairs of this kind, and classes that are absent"),
    Column("lost", "lost F", "%", 1, None, "points of F that these errors cost; together 100 - F"),
    Column("share", "share", "%", 1, None, "their share of the lost F"),
    Column("repaired", "F repaired", "%", 1, "higher", "F if these errors alone were right"),
)  # fmt: skip
_CONFUSIONS = (
    Column("rank", ""), Column("reference", "reference"), Column("prediction", "called"),
    Column("count", "rows", "", 0, None, "rows of the reference"),
    Column("share", "share", "%", 1, None, "of all rows of a wrong class"),
)  # fmt: skip


def lost_f(score: SeldScore, kinds: Ints) -> dict[str, Floats]:
    """Return the points of F that each error costs each class, or all classes where these are pooled.

    They add up to 1 - F, and are NaN where a class does not count. *kinds* as in :class:`Mistakes`.
    """
    f = score.values()[score.profile.names.index("F")]
    missing, references = 1 - f[1:], score.counts[:, Count.REFERENCES].sum(axis=0)
    if score.average == "micro":
        missing, kinds, references = 1 - f, kinds.sum(axis=1, keepdims=True), references.sum()
    weigh = dict.fromkeys(KINDS, 0.5) | dict.fromkeys(("place", "distance", "onscreen"), score.profile.misplaced)
    many = {kind: weigh[kind] * each for kind, each in zip(KINDS, kinds, strict=True)}
    total = sum(many.values())
    shares = {
        error: sum(many[kind] for kind in parts) / np.where(total > 0, total, 1) for error, (_, parts) in ERRORS.items()
    }
    shares["absent"] = (total == 0) & (references == 0)
    return {error: np.asarray(missing * share) for error, share in shares.items()}


def repaired(score: SeldScore, kinds: Ints, error: str) -> float:
    """Return F if the errors of a kind were right: found, left out, called by their class, or put in their place."""
    first, *second = (kinds[KINDS.index(kind)] for kind in ERRORS[error][1])
    counts = score.counts.sum(axis=0, keepdims=True)
    if error == "spurious":
        counts[0, Count.FALSE] -= first
    else:
        counts[0, Count.TRUE] += first
        counts[0, Count.MISSED if error in ("missed", "wrong_class") else Count.MISPLACED] -= first
        counts[0, Count.FALSE] -= sum(second)
    return float(score.profile.score(counts, score.average)[0, score.profile.names.index("F"), 0])


def tables(score: SeldScore, mistakes: Mistakes, limits: Thresholds, labels: Sequence[str]) -> Iterator[Table]:
    """Yield what F loses, by kind of error, pair of classes, and class."""
    lost = lost_f(score, mistakes.kinds)
    means = {error: float(nanmean(each, 0)) for error, each in lost.items()}
    counted = {
        "wrong_distance": np.isfinite(limits.distance) or np.isfinite(limits.relative),
        "wrong_onscreen": limits.onscreen,
        "absent": means["absent"] > 0,
    }
    shown = [error for error in ERRORS if counted.get(error, True)]
    whole = sum(means[error] for error in shown)
    rows: list[tuple[Cell, ...]] = []
    for error in shown:
        name, parts = ERRORS[error]
        count = sum(int(mistakes.kinds[KINDS.index(part)].sum()) for part in parts)
        if error == "absent":
            count = int((lost[error] > 0).sum()) if score.average == "macro" else len(labels)
        share, better = (
            means[error] / whole if whole else np.nan,
            repaired(score, mistakes.kinds, error) if parts else None,
        )
        rows.append((name, count, means[error], share, better))
    rows.append(("all", None, whole, 1.0 if whole else np.nan, None))
    where = "segments of 1 s" if score.profile.unit > 1 else "label frames"
    yield Table("errors", f"errors: what F lacks to 100 %, counted in {where}", _ERRORS, tuple(rows))
    true, called = np.nonzero(mistakes.pairs)
    many = mistakes.pairs[true, called]
    confused = tuple(
        (str(rank), labels[true[n]], labels[called[n]], int(many[n]), float(many[n] / many.sum()))
        for rank, n in enumerate(np.lexsort((called, true, -many)), 1)
    )
    title = "wrong classes in the right place, in label frames"
    yield Table("confusions", title, _CONFUSIONS, confused, aside=not confused, top=_TOP)
    if score.average == "macro":
        columns = (Column("class", "class"), _F, *(Column(error, ERRORS[error][0], "%", 1, "lower") for error in shown))
        numbers = [score.values()[score.profile.names.index("F"), 1:], *(lost[error] for error in shown)]
        by_class = tuple(zip(labels, *(each.tolist() for each in numbers), strict=True))
        yield Table("class-errors", "points of F that each class loses", columns, by_class, aside=True)
