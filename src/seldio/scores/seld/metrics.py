"""Count matches and errors, and compute the scores of the official programs.

They go by segments of one second (2021 to 2023) or frame by frame (2024, 2025). In a segment a class has as many
references and predictions as in its fullest frame. In each frame they are paired; the errors of a pair are averaged
over the segment by the place of the reference among the rows of its frame (not by its source number, as the official
program has it), and one average counts once.

Macro scores are means over the classes of the vocabulary, micro scores those of all classes pooled; the error rate is
always pooled. A class of 2022 and 2023 without a match has an error of 180 degrees, one of later years has none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seldio.scores.seld.pairing import Matches, Paired
from seldio.scores.seld.rows import EventFrames, Floats, Ints

Average = Literal["macro", "micro"]
#: The official programs add it to every denominator.
EPSILON = float(np.finfo(float).eps)
#: Label frames in a segment.
SECOND = 10
#: Sources of a class that a frame of ``dcase2025`` can have.
TRACKS = 10
#: More than any vocabulary has.
_CLASSES = 1 << 20
#: Degrees within which an error is at the threshold: more than rounding, and than the shortened vectors of 2024.
EDGE = 1e-6


@dataclasses.dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits that a well-placed matched prediction must not exceed."""

    angle: float  # degrees
    distance: float = np.inf  # metres
    relative: float = np.inf  # distance error over the distance of the reference
    onscreen: bool = False  # whether both must agree on being in the picture


#: Numbers of any kind; sums over clips are floats.
Sums: TypeAlias = NDArray[Any]
#: How many of the sums are over all classes.
_POOLED = 6


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """Sums that can be added over clips: shape [clips, classes], the last six [clips]."""

    true: Sums  # predictions matched in class, place and (where asked) distance and picture
    false: Sums  # predictions beyond the number of references
    misplaced: Sums  # matched predictions that miss a threshold
    missed: Sums  # references beyond the number of predictions
    references: Sums  # references counted
    matched: Sums  # pairs of prediction and reference, well placed or not
    angle: Sums  # sum of their angular errors, degrees
    distance: Sums  # sum of their distance errors, metres
    relative: Sums  # sum of their distance errors, each divided by the distance
    onscreen: Sums  # pairs that agree on being on screen
    substituted: Sums  # errors of both kinds at once, by the segment or frame
    deleted: Sums  # misses beyond those
    inserted: Sums  # false ones beyond those
    shared: Sums  # matches beyond the number of predictions: one that turns between references counts for each
    apart: Sums  # classes of segments that both sides have, in no common frame
    edge: Sums  # matches whose error is the threshold of the angle but for the last bits

    @staticmethod
    def zeros(clips: int, classes: int) -> Counts:
        """Return no counts yet."""
        per_class = len(dataclasses.fields(Counts)) - _POOLED
        return Counts(*np.zeros((per_class, clips, classes)), *np.zeros((_POOLED, clips)))

    @staticmethod
    def joined(parts: Sequence[Counts]) -> Counts:
        """Return the clips of several counts, one after the other."""
        return Counts(*(np.concatenate(arrays) for arrays in zip(*(part.arrays() for part in parts), strict=True)))

    def arrays(self) -> tuple[Sums, ...]:
        """Return all sums, in their order."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def map(self, change: Callable[[Sums], Any]) -> Counts:
        """Each array changed by *change*."""
        return Counts(*map(change, self.arrays()))

    def take(self, clips: Any) -> Counts:
        """Return the clips chosen by a mask, a slice or indices."""
        return self.map(lambda array: array[clips])

    def same(self, other: Counts) -> bool:
        """Return whether all sums are the same."""
        pairs = zip(self.arrays(), other.arrays(), strict=True)
        return all(np.array_equal(one, another, equal_nan=True) for one, another in pairs)

    def total(self) -> Counts:
        """Return the sum over all clips, as one clip."""
        return self.map(lambda array: array.sum(axis=0, keepdims=True))

    def without_each(self) -> Counts:
        """For each clip the sum over all others, shape as before."""
        return self.map(lambda array: array.sum(axis=0, keepdims=True) - array)

    def __len__(self) -> int:
        return len(self.substituted)


def per_clip(counts: Counts, units: Ints) -> Counts:
    """Return the sums of counts of segments or frames, laid end to end, over the *units* of each clip."""
    some = np.flatnonzero(units)
    starts = (np.cumsum(units) - units)[some]

    def add(array: Sums) -> Sums:
        sums = np.zeros((len(units), *array.shape[1:]))
        if len(some):
            sums[some] = np.add.reduceat(array, starts, axis=0)
        return sums

    return counts.map(add)


# --- counts of the official programs --------------------------------------------------------------


def unit_counts(pairing: Paired, unit: int, limits: Thresholds) -> Counts:
    """Count every segment of *unit* frames, or every frame; shape [units, classes]."""
    matches, classes = pairing.matches, pairing.classes
    shape = pairing.frames // unit, classes
    references, predictions = (
        side.reshape(-1, unit, classes).max(axis=1) for side in (pairing.references, pairing.predictions)
    )
    far: dict[str, Floats] = {}
    if unit > 1:
        error, cell = _segment_tracks(matches, classes, unit)
        poor = error > limits.angle
    else:
        error, cell = matches.error, matches.cell
        rows = pairing.reference, pairing.prediction, matches.reference, matches.prediction
        distance, relative, onscreen = pair_errors(*rows)
        poor = (error > limits.angle) | (distance > limits.distance) | (relative > limits.relative)
        poor |= limits.onscreen & (onscreen != 1)
        far = {"distance": distance, "relative": relative, "onscreen": onscreen}

    def summed(weights: Any = None) -> Any:
        return np.bincount(cell, weights=weights, minlength=shape[0] * classes).reshape(shape)

    matched, misplaced = summed(), summed(poor)
    missed, false = np.maximum(references - predictions, 0), np.maximum(predictions - references, 0)
    edge = np.bincount(cell[np.abs(error - limits.angle) < EDGE] // classes, minlength=shape[0])
    counts = dataclasses.replace(
        Counts.zeros(*shape), true=matched - misplaced, misplaced=misplaced, false=false, missed=missed,
        references=references, matched=matched, angle=summed(error), edge=edge,
        **{name: summed(each) for name, each in far.items()},
    )  # fmt: skip
    if unit > 1:
        # where both sides have the class but no frame in common, the predictions count as misses and nothing else
        apart = (matched == 0) & (references > 0) & (predictions > 0)
        counts = dataclasses.replace(
            counts, missed=np.where(apart, predictions, missed), false=np.where(apart, 0, false),
            apart=apart.sum(axis=1), shared=np.maximum(matched - predictions, 0).sum(axis=1),
        )  # fmt: skip
    wrong, gone = (counts.misplaced + counts.false).sum(axis=1), counts.missed.sum(axis=1)
    return dataclasses.replace(
        counts, substituted=np.minimum(wrong, gone), deleted=np.maximum(0, gone - wrong),
        inserted=np.maximum(0, wrong - gone),
    )  # fmt: skip


def _segment_tracks(matches: Matches, classes: int, unit: int) -> tuple[Floats, Ints]:
    """Return the mean error of each reference place in each segment and class, and the number of that cell.

    The errors of a track are added frame by frame: a mean at exactly the threshold depends on it.
    """
    frame, class_id = np.divmod(matches.cell, classes)
    segment, within = np.divmod(frame, unit)
    order = np.argsort(within.astype(np.uint8), kind="stable")
    width = int(matches.track.max(initial=0)) + 1
    track = ((segment * classes + class_id) * width + matches.track)[order]
    many = np.bincount(track)
    total = np.bincount(track, weights=matches.error[order])
    there = np.flatnonzero(many)
    return total[there] / many[there], there // width


def pair_errors(a: EventFrames, b: EventFrames, reference: Ints, prediction: Ints) -> tuple[Floats, Floats, Floats]:
    """Errors of distance, absolute and relative, and agreement on being on screen (0 or 1), of pairs of rows.

    NaN where one of the two is unknown.
    """
    unknown = np.full(len(reference), np.nan)
    distance, relative = unknown, unknown
    if a.distance is not None and b.distance is not None:
        true = a.distance[reference]
        distance = np.abs(true - b.distance[prediction])
        relative = distance / (true + EPSILON)
    if a.onscreen is None or b.onscreen is None:
        return distance, relative, unknown
    agree = a.onscreen[reference] == b.onscreen[prediction]
    return distance, relative, agree.astype(np.float64)


def ten_tracks(side: EventFrames) -> EventFrames:
    """*side* as ``dcase2025`` reads it: ten tracks of a class in a frame, and the last source instead of track 0.

    A source keeps its number as track while that is below ten and free (a negative number is a track of its own),
    and gets the lowest free one otherwise.
    """
    cell = (side.clip * (int(side.frame.max(initial=0)) + 1) + side.frame) * _CLASSES + side.class_id
    _, inverse, many = np.unique(cell, return_inverse=True, return_counts=True)
    if not len(cell) or many.max() <= TRACKS:
        return side
    keep = np.arange(len(side))
    dropped: list[int] = []
    for crowded in np.flatnonzero(many > TRACKS):
        rows = np.flatnonzero(inverse == crowded)
        held = _held_tracks(side, rows)
        keep[rows[: len(held)]] = held
        dropped += rows[len(held) :].tolist()
    return side.take(np.delete(keep, dropped))


def _held_tracks(side: EventFrames, rows: Ints) -> list[int]:
    """Which of *rows* the tracks of a frame and class hold in the end, by the order the tracks were first taken in."""
    held: dict[int, int] = {}
    sources = side.source[rows].tolist() if side.source is not None else [0] * len(rows)
    for row, source in zip(rows.tolist(), sources, strict=True):
        free = set(range(TRACKS)) - held.keys()
        track = source if source < TRACKS and source not in held else min(free, default=0)
        held[track] = row
    return list(held.values())


# --- scores ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Values:
    """Scores of many sets of counts."""

    overall: Floats  # shape [sets, metrics]
    by_class: Floats | None = None  # shape [sets, metrics, classes]; None for micro averages

    def undefined(self) -> Values:
        """Return NaN in the place of every score."""
        return Values(self.overall * np.nan, None if self.by_class is None else self.by_class * np.nan)


def scored(
    counts: Counts, average: Average, names: Sequence[str], of_seld: Sequence[str], misplaced: float, nothing: float
) -> Values:
    """Return scores by name of sets of counts, with means over the classes that have one; see ``ScoreRow``."""
    if average == "micro":
        counts = counts.map(lambda array: array.sum(axis=1, keepdims=True) if array.ndim == 2 else array)

    def mean(total: Sums) -> Floats:
        return np.where(counts.matched > 0, total / (counts.matched + EPSILON), nothing)

    errors = counts.substituted + counts.deleted + counts.inserted
    wrong = misplaced * counts.misplaced + 0.5 * (counts.false + counts.missed)
    angle, relative = mean(counts.angle), mean(counts.relative)
    er = np.broadcast_to((errors / (counts.references.sum(axis=1) + EPSILON))[:, None], angle.shape)
    f = counts.true / (EPSILON + counts.true + wrong)
    lr = counts.matched / (EPSILON + counts.matched + counts.missed)
    each = {
        "ER": er, "F": f, "LE": angle, "AngE": angle, "DistE": mean(counts.distance), "RelDistE": relative, "LR": lr,
        "OnscreenAcc": mean(counts.onscreen),
    }  # fmt: skip
    if of_seld:
        losses = {"ER": er, "F": 1 - f, "LE": angle / 180, "AngE": angle / 180, "RelDistE": relative, "LR": 1 - lr}
        each["SELD"] = nanmean(np.stack([losses[name] for name in of_seld]), 0)
    by_class = np.stack([each[name] for name in names], axis=1)
    return Values(by_class[:, :, 0]) if average == "micro" else Values(nanmean(by_class, 2), by_class)


def nanmean(values: Floats, axis: int) -> Floats:
    """Return the mean of the numbers; NaN, without a warning, where there are none."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
