"""Count matches and errors, and compute the scores of the official programs.

They go by segments of one second (2021 to 2023) or frame by frame (2024, 2025). In a segment a class has as many
references and predictions as in its fullest frame. In each frame they are paired; the errors of a pair are averaged
over the segment by the place of the reference among the rows of its frame (not by its source number, as the official
program has it), and one average counts once.

Counts of clips are an array of shape [clips, counts, classes], see :class:`Count`: a resample, a jackknife and a sum
over clips are products with a matrix of weights. Macro scores are means over the classes of the vocabulary, micro
scores those of all classes pooled; the error rate is always pooled. A class of 2022 and 2023 without a match has an
error of 180 degrees, one of later years has none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Literal, NamedTuple

import numpy as np

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


@dataclasses.dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits that a well-placed matched prediction must not exceed."""

    angle: float  # degrees
    distance: float = np.inf  # metres
    relative: float = np.inf  # distance error over the distance of the reference
    onscreen: bool = False  # whether both must agree on being in the picture


class Count(IntEnum):
    """Counts of each class, by their place in an array of counts."""

    TRUE = 0  # predictions matched in class, place and (where asked) distance and picture
    MISPLACED = 1  # matched predictions that miss a threshold
    FALSE = 2  # predictions beyond the number of references
    MISSED = 3  # references beyond the number of predictions
    REFERENCES = 4  # references counted
    MATCHED = 5  # pairs of prediction and reference, well placed or not
    ANGLE = 6  # sum of their angular errors, degrees
    DISTANCE = 7  # sum of their distance errors, metres
    RELATIVE = 8  # sum of their distance errors, each divided by the distance
    ONSCREEN = 9  # pairs that agree on being on screen
    ERRORS = 10  # by segment or frame the greater number of wrong or missing sources, in all classes; with the first


def no_counts(clips: int, classes: int) -> Floats:
    """Return counts of which all are 0."""
    return np.zeros((clips, len(Count), classes))


# --- counts of the official programs --------------------------------------------------------------


class UnitCounts(NamedTuple):
    """Counts of each class in each segment or frame, laid end to end; shape [units, classes]."""

    references: Any
    matched: Any
    misplaced: Any
    missed: Any
    false: Any
    cell: Ints  # of each match: unit times classes, and class
    sums: dict[Count, Floats]  # the errors of each match


def unit_counts(pairing: Paired, unit: int, limits: Thresholds) -> UnitCounts:
    """Count every segment of *unit* frames, or every frame."""
    matches, classes = pairing.matches, pairing.classes
    references, predictions = (
        side.reshape(-1, unit, classes).max(axis=1) for side in (pairing.references, pairing.predictions)
    )
    sums: dict[Count, Floats] = {}
    if unit > 1:
        error, cell = _segment_tracks(matches, classes, unit)
        poor = error > limits.angle
    else:
        error, cell = matches.error, matches.cell
        rows = pairing.reference, pairing.prediction, matches.reference, matches.prediction
        distance, relative, onscreen = pair_errors(*rows)
        poor = (error > limits.angle) | (distance > limits.distance) | (relative > limits.relative)
        poor |= limits.onscreen & (onscreen != 1)
        sums = {Count.DISTANCE: distance, Count.RELATIVE: relative, Count.ONSCREEN: onscreen}
    matched, misplaced = (
        np.bincount(cell, weights, references.size).reshape(references.shape) for weights in (None, poor)
    )
    missed, false = np.maximum(references - predictions, 0), np.maximum(predictions - references, 0)
    if unit > 1:
        # where both sides have the class but no frame in common, the predictions count as misses and nothing else
        apart = (matched == 0) & (references > 0) & (predictions > 0)
        missed, false = np.where(apart, predictions, missed), np.where(apart, 0, false)
    return UnitCounts(references, matched, misplaced, missed, false, cell, {Count.ANGLE: error, **sums})


def clip_counts(pairing: Paired, unit: int, limits: Thresholds) -> Floats:
    """Return the counts of each clip, shape [clips, counts, classes]."""
    units, each = pairing.lengths // unit, unit_counts(pairing, unit, limits)
    clips, classes = len(units), pairing.classes
    some = np.flatnonzero(units)
    starts = (np.cumsum(units) - units)[some]
    counts = no_counts(clips, classes)
    by_unit = {
        Count.TRUE: each.matched - each.misplaced, Count.MISPLACED: each.misplaced, Count.FALSE: each.false,
        Count.MISSED: each.missed, Count.REFERENCES: each.references, Count.MATCHED: each.matched,
    }  # fmt: skip
    wrong, missed = (each.misplaced + each.false).sum(axis=1), each.missed.sum(axis=1)
    if len(some):
        for place, array in by_unit.items():
            counts[some, place] = np.add.reduceat(array, starts, axis=0)
        counts[some, Count.ERRORS, 0] = np.add.reduceat(np.maximum(wrong, missed), starts)
    clip_of_unit, (unit_of_match, class_of_match) = np.repeat(np.arange(clips), units), np.divmod(each.cell, classes)
    place_of_match = clip_of_unit[unit_of_match] * classes + class_of_match
    for place, errors in each.sums.items():
        counts[:, place] = np.bincount(place_of_match, errors, clips * classes).reshape(clips, classes)
    return counts


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


def scored(
    counts: Floats, average: Average, names: Sequence[str], of_seld: Sequence[str], misplaced: float, nothing: float
) -> Floats:
    """Return scores by name of sets of counts, shape [sets, scores, 1 + classes]; see ``ScoreRow``.

    First come those over all classes: means over the classes that have one. Micro scores have nothing else.
    """
    if average == "micro":
        counts = counts.sum(axis=2, keepdims=True)
    by_count = np.moveaxis(counts, 1, 0)
    true, wrong, false, missed, references, matched, angle, distance, relative, onscreen, errors = by_count

    def mean(total: Floats) -> Floats:
        return np.where(matched > 0, total / (matched + EPSILON), nothing)

    rate = errors.sum(axis=1, keepdims=True) / (references.sum(axis=1, keepdims=True) + EPSILON)
    er = np.broadcast_to(rate, true.shape)
    f = true / (EPSILON + true + (misplaced * wrong + 0.5 * (false + missed)))
    lr = matched / (EPSILON + matched + missed)
    each = {
        "ER": er, "F": f, "LE": mean(angle), "AngE": mean(angle), "DistE": mean(distance), "RelDistE": mean(relative),
        "LR": lr, "OnscreenAcc": mean(onscreen),
    }  # fmt: skip
    if of_seld:
        losses = each | {"F": 1 - f, "LE": each["LE"] / 180, "AngE": each["AngE"] / 180, "LR": 1 - lr}
        each["SELD"] = nanmean(np.stack([losses[name] for name in of_seld]), 0)
    by_class = np.stack([each[name] for name in names], axis=1)
    return by_class if average == "micro" else with_means(by_class)


def with_means(by_class: Floats) -> Floats:
    """Return scores with their means over classes before them."""
    return np.concatenate((nanmean(by_class, 2)[:, :, None], by_class), axis=2)


def nanmean(values: Floats, axis: int) -> Floats:
    """Return the mean of the numbers; NaN, without a warning, where there are none."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
