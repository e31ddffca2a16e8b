"""Counting frame by frame: ``dcase2024`` and ``dcase2025``."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from seldio.scores.seld.counts import Counts, with_errors
from seldio.scores.seld.limits import EDGE, Limits
from seldio.scores.seld.metrics import EPSILON
from seldio.scores.seld.paired import Paired
from seldio.scores.seld.pairing import Matches
from seldio.scores.seld.sides import Floats, Ints, Side

#: Sources of a class that a frame of ``dcase2025`` can have.
TRACKS = 10
#: More than any vocabulary has.
_CLASSES = 1 << 20


def tally(given: Paired, limits: Limits) -> Counts:
    """The counts of every frame, shape [frames, classes]."""
    matches, shape = given.matches, (given.frames, given.classes)
    distance, relative, onscreen = _errors(given.reference, given.prediction, matches)
    poor = (matches.error > limits.angle) | (distance > limits.distance) | (relative > limits.relative)
    if limits.onscreen:
        poor |= onscreen != 1
    edge = matches.cell[np.abs(matches.error - limits.angle) < EDGE] // given.classes

    def summed(weights: Any = None) -> Any:
        return np.bincount(matches.cell, weights=weights, minlength=shape[0] * shape[1]).reshape(shape)

    references, predictions = given.references.reshape(shape), given.predictions.reshape(shape)
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
        angles=matched,
        distance=summed(distance),
        relative=summed(relative),
        onscreen=summed(onscreen),
        edge=np.bincount(edge, minlength=shape[0]),
    )
    return with_errors(counts)


def _errors(a: Side, b: Side, matches: Matches) -> tuple[Floats, Floats, Floats]:
    """Errors of distance, absolute and relative, and agreement on the picture (0 or 1), of each pair.

    NaN where one of the two is unknown.
    """
    unknown = np.full(len(matches.cell), np.nan)
    distance, relative = unknown, unknown
    if a.distance is not None and b.distance is not None:
        true = a.distance[matches.reference]
        distance = np.abs(true - b.distance[matches.prediction])
        relative = distance / (true + EPSILON)
    if a.onscreen is None or b.onscreen is None:
        return distance, relative, unknown
    agree = a.onscreen[matches.reference] == b.onscreen[matches.prediction]
    return distance, relative, agree.astype(np.float64)


def ten_tracks(side: Side) -> Side:
    """*side* as ``dcase2025`` reads it: ten tracks of a class in a frame, and the last source in place of track 0.

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
        held = _tracks(side, rows)
        keep[rows[: len(held)]] = held
        dropped += rows[len(held) :].tolist()
    return side.take(np.delete(keep, dropped))


def _tracks(side: Side, rows: Ints) -> list[int]:
    """Which of *rows* the tracks of a frame and class hold in the end, by the order the tracks were first taken in."""
    held: dict[int, int] = {}
    sources = side.source[rows].tolist() if side.source is not None else [0] * len(rows)
    for row, source in zip(rows.tolist(), sources, strict=True):
        free = set(range(TRACKS)) - held.keys()
        track = source if source < TRACKS and source not in held else min(free, default=0)
        held[track] = row
    return list(held.values())
