"""What is counted, and what official programs make of it.

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
    """What a matched prediction must not exceed to be well placed."""

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
        """No counts yet."""
        per_class = [np.zeros((clips, classes)) for _ in range(len(dataclasses.fields(Counts)) - _POOLED)]
        return Counts(*per_class, *(np.zeros(clips) for _ in range(_POOLED)))

    @staticmethod
    def joined(parts: Sequence[Counts]) -> Counts:
        """The clips of several counts, one after the other."""
        return Counts(*(np.concatenate(arrays) for arrays in zip(*(part.arrays() for part in parts), strict=True)))

    def arrays(self) -> tuple[Sums, ...]:
        """All sums, in their order."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def map(self, change: Callable[[Sums], Any]) -> Counts:
        """Each array changed by *change*."""
        return Counts(*map(change, self.arrays()))

    def take(self, clips: Any) -> Counts:
        """The clips chosen by a mask, a slice or indices."""
        return self.map(lambda array: array[clips])

    def same(self, other: Counts) -> bool:
        """Whether all sums are the same."""
        pairs = zip(self.arrays(), other.arrays(), strict=True)
        return all(np.array_equal(one, another, equal_nan=True) for one, another in pairs)

    def total(self) -> Counts:
        """The sum over all clips, as one clip."""
        return self.map(lambda array: array.sum(axis=0, keepdims=True))

    def without_each(self) -> Counts:
        """For each clip the sum over all others, shape as before."""
        return self.map(lambda array: array.sum(axis=0, keepdims=True) - array)

    def __len__(self) -> int:
        return len(self.substituted)


def with_errors(counts: Counts) -> Counts:
    """*counts* of segments or frames, with the errors of each pooled over its classes."""
    false = (counts.misplaced + counts.false).sum(axis=1)
    missed = counts.missed.sum(axis=1)
    return dataclasses.replace(
        counts,
        substituted=np.minimum(false, missed),
        deleted=np.maximum(0, missed - false),
        inserted=np.maximum(0, false - missed),
    )


def per_clip(counts: Counts, lengths: Ints, counted: Ints) -> Counts:
    """Counts of segments or frames, laid end to end, summed over the first *counted* of each clip."""
    if (counted < lengths).any():
        within = np.arange(len(counts)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        counts = counts.take(within < np.repeat(counted, lengths))
    some = np.flatnonzero(counted)
    starts = (np.cumsum(counted) - counted)[some]

    def add(array: Sums) -> Sums:
        sums = np.zeros((len(counted), *array.shape[1:]))
        if len(some):
            sums[some] = np.add.reduceat(array, starts, axis=0)
        return sums

    return counts.map(add)


# --- counts of the official programs --------------------------------------------------------------


def segment_counts(pairing: Paired, limits: Thresholds) -> Counts:
    """The counts of every segment, shape [segments, classes]."""
    classes, blocks = pairing.classes, pairing.frames // SECOND
    references, predictions = (
        side.reshape(blocks, SECOND, classes).max(axis=1) for side in (pairing.references, pairing.predictions)
    )
    error, block_class = _segment_tracks(pairing.matches, classes)
    edge = block_class[np.abs(error - limits.angle) < EDGE] // classes
    good = np.bincount(block_class[error <= limits.angle], minlength=blocks * classes).reshape(blocks, classes)
    matched = np.bincount(block_class, minlength=blocks * classes).reshape(blocks, classes)
    angle = np.bincount(block_class, weights=error, minlength=blocks * classes).reshape(blocks, classes)
    # where both sides have the class but no frame in common, the predictions count as misses and nothing else
    apart = (matched == 0) & (references > 0) & (predictions > 0)
    missed = np.where(apart, predictions, np.maximum(references - predictions, 0))
    false = np.where(apart, 0, np.maximum(predictions - references, 0))
    counts = Counts.zeros(blocks, classes)
    counts = dataclasses.replace(
        counts, true=good, false=false, misplaced=matched - good, missed=missed, references=references,
        matched=matched, angle=angle, shared=np.maximum(matched - predictions, 0).sum(axis=1),
        apart=apart.sum(axis=1), edge=np.bincount(edge, minlength=blocks),
    )  # fmt: skip
    return with_errors(counts)


def _segment_tracks(matches: Matches, classes: int) -> tuple[Floats, Ints]:
    """The mean error of each reference place in each segment and class, and the number of that cell.

    The errors of a track are added frame by frame: a mean at exactly the threshold depends on it.
    """
    frame, class_id = np.divmod(matches.cell, classes)
    block, within = np.divmod(frame, SECOND)
    order = np.argsort(within.astype(np.uint8), kind="stable")
    width = int(matches.track.max(initial=0)) + 1
    track = (((block * classes) + class_id) * width + matches.track)[order]
    many = np.bincount(track)
    total = np.bincount(track, weights=matches.error[order])
    there = np.flatnonzero(many)
    return total[there] / many[there], there // width


def frame_counts(pairing: Paired, limits: Thresholds) -> Counts:
    """The counts of every frame, shape [frames, classes]."""
    matches, shape = pairing.matches, (pairing.frames, pairing.classes)
    distance, relative, onscreen = pair_errors(
        pairing.reference, pairing.prediction, matches.reference, matches.prediction
    )
    poor = (matches.error > limits.angle) | (distance > limits.distance) | (relative > limits.relative)
    if limits.onscreen:
        poor |= onscreen != 1
    edge = matches.cell[np.abs(matches.error - limits.angle) < EDGE] // pairing.classes

    def summed(weights: Any = None) -> Any:
        return np.bincount(matches.cell, weights=weights, minlength=shape[0] * shape[1]).reshape(shape)

    references, predictions = pairing.references.reshape(shape), pairing.predictions.reshape(shape)
    matched = summed()
    misplaced = summed(poor)
    counts = dataclasses.replace(
        Counts.zeros(*shape),
        true=matched - misplaced,
        misplaced=misplaced,
        false=np.maximum(predictions - references, 0),
        missed=np.maximum(references - predictions, 0),
        references=references,
        matched=matched,
        angle=summed(matches.error),
        distance=summed(distance),
        relative=summed(relative),
        onscreen=summed(onscreen),
        edge=np.bincount(edge, minlength=shape[0]),
    )
    return with_errors(counts)


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
        """NaN in the place of every score."""
        by_class = None if self.by_class is None else np.full_like(self.by_class, np.nan)
        return Values(np.full_like(self.overall, np.nan), by_class)


def classic_2021(counts: Counts, average: Average) -> Values:  # noqa: ARG001 - there is but one
    """ER, F, LE, LR, SELD as in 2021: misplaced sources weigh half in F, and all classes are pooled."""
    pooled = _pooled(counts)
    error, missed = _error_rate(counts), pooled.missed[:, 0]
    f = f_score(pooled.true[:, 0], 0.0, pooled.false[:, 0] + pooled.misplaced[:, 0], missed)
    le = mean_error(pooled.angle, pooled.matched, 180.0)[:, 0]
    lr = recall(pooled.matched[:, 0], missed)
    return Values(np.stack([error, f, le, lr, _mean(error, 1 - f, le / 180, 1 - lr)], axis=1))


def classic(counts: Counts, average: Average) -> Values:
    """ER, F, LE, LR, SELD as in 2022 and 2023: 180 degrees for a class without a match, which counts in the mean."""
    given = counts if average == "macro" else _pooled(counts)
    f = f_score(given.true, given.misplaced, given.false, given.missed)
    le = mean_error(given.angle, given.matched, 180.0)
    lr = recall(given.matched, given.missed)
    er = np.broadcast_to(_error_rate(counts)[:, None], f.shape)
    by_class = np.stack([er, f, le, lr, _mean(er, 1 - f, le / 180, 1 - lr)], axis=1)
    if average == "micro":
        return Values(by_class[:, :, 0])
    means = by_class.mean(axis=2)
    means[:, 0] = er[:, 0]
    return Values(means, by_class)


def with_distance(counts: Counts, average: Average) -> Values:
    """ER, F, AngE, DistE, RelDistE, LR, SELD as in 2024: a class without a match has no errors and is left out."""
    er, f, angle, distance, relative, lr = _framewise(counts, average)
    score = nanmean(np.stack([1 - f, angle / 180, relative]), 0)
    return _averaged(np.stack([er, f, angle, distance, relative, lr, score], axis=1), average, (2, 3, 4))


def without_distance(counts: Counts, average: Average) -> Values:
    """ER, F, AngE, LR, SELD as in 2024 where no distance is asked for."""
    er, f, angle, _, _, lr = _framewise(counts, average)
    score = nanmean(np.stack([er, 1 - f, angle / 180, 1 - lr]), 0)
    return _averaged(np.stack([er, f, angle, lr, score], axis=1), average, (2,))


def stereo(counts: Counts, average: Average) -> Values:
    """F, AngE, DistE, RelDistE, OnscreenAcc as in 2025."""
    _, f, angle, distance, relative, _ = _framewise(counts, average)
    given = counts if average == "macro" else _pooled(counts)
    onscreen = mean_error(given.onscreen, given.matched, np.nan)
    return _averaged(np.stack([f, angle, distance, relative, onscreen], axis=1), average, (1, 2, 3, 4))


def f_score(true: Any, misplaced: Any, false: Any, missed: Any) -> Floats:
    """TP / (TP + FP_spatial + (FP + FN) / 2), as since 2022."""
    return np.asarray(true / (EPSILON + true + misplaced + 0.5 * (false + missed)))


def mean_error(total: Any, matched: Any, nothing: float) -> Floats:
    """The mean over matched pairs; *nothing* where there are none."""
    return np.where(matched > 0, total / (matched + EPSILON), nothing)


def recall(matched: Any, missed: Any) -> Floats:
    """Matched pairs over those and the missed ones."""
    return np.asarray(matched / (EPSILON + matched + missed))


def _error_rate(counts: Counts) -> Floats:
    """(S + D + I) / references, shape [sets]; never by class."""
    errors = counts.substituted + counts.deleted + counts.inserted
    return np.asarray(errors / (counts.references.sum(axis=1) + EPSILON))


def _pooled(counts: Counts) -> Counts:
    return counts.map(lambda array: array.sum(axis=1, keepdims=True) if array.ndim == 2 else array)


def _framewise(counts: Counts, average: Average) -> tuple[Floats, ...]:
    """ER, F, angle, distance and relative errors, LR; NaN where nothing matches. Shape [sets, classes or 1] each."""
    given = counts if average == "macro" else _pooled(counts)
    f = f_score(given.true, given.misplaced, given.false, given.missed)
    errors = (mean_error(total, given.matched, np.nan) for total in (given.angle, given.distance, given.relative))
    er = np.broadcast_to(_error_rate(counts)[:, None], f.shape)
    return er, f, *errors, recall(given.matched, given.missed)


def _averaged(by_class: Floats, average: Average, known: tuple[int, ...]) -> Values:
    """The means over classes; of the scores numbered in *known*, over the classes that have one."""
    if average == "micro":
        return Values(by_class[:, :, 0])
    means = by_class.mean(axis=2)
    for number in known:
        means[:, number] = nanmean(by_class[:, number], 1)
    return Values(means, by_class)


def nanmean(values: Floats, axis: int) -> Floats:
    """The mean of the numbers; NaN, without a warning, where there are none."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _mean(*values: Floats) -> Floats:
    return np.asarray(np.mean(values, axis=0))
