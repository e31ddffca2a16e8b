"""Counting frame by frame: ``dcase2024`` and ``dcase2025``."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from seldio.scores.seld.chunks import Chunk, chunks
from seldio.scores.seld.counts import Counts, per_clip, with_errors
from seldio.scores.seld.measures import Between, Prepare
from seldio.scores.seld.metrics import EPSILON
from seldio.scores.seld.pairing import Matches, match
from seldio.scores.seld.sides import Floats, Ints, Side

_TRACKS = 10
#: More than any vocabulary has.
_CLASSES = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """What a matched prediction must not exceed to be well placed.

    Args:
        angle: degrees.
        distance: metres.
        relative: distance error over the distance of the reference.
        onscreen: whether both must agree on being in the picture.
    """

    angle: float
    distance: float = np.inf
    relative: float = np.inf
    onscreen: bool = False


def count(
    reference: Side, prediction: Side, lengths: Ints, classes: int, prepare: Prepare, between: Between, limits: Limits
) -> Counts:
    """The counts of every clip; the arguments are those of :func:`seldio.scores.seld.segments.count`."""
    parts = [
        _count(chunk, lengths[chunk.clips], classes, prepare, between, limits)
        for chunk in chunks(reference, prediction, lengths, classes)
    ]
    return Counts.joined(parts) if parts else Counts.zeros(0, classes)


def _count(chunk: Chunk, lengths: Ints, classes: int, prepare: Prepare, between: Between, limits: Limits) -> Counts:
    a, b, shape = chunk.reference, chunk.prediction, (chunk.frames, classes)
    cells, matches = match(
        a.frame * classes + a.class_id, b.frame * classes + b.class_id, chunk.frames * classes, prepare(a), prepare(b),
        between,
    )  # fmt: skip
    distance, relative, onscreen = _errors(a, b, matches)
    poor = (matches.error > limits.angle) | (distance > limits.distance) | (relative > limits.relative)
    if limits.onscreen:
        poor |= onscreen != 1

    def summed(weights: Any = None) -> Any:
        return np.bincount(matches.cell, weights=weights, minlength=chunk.frames * classes).reshape(shape)

    references, predictions, matched = cells.references.reshape(shape), cells.predictions.reshape(shape), summed()
    misplaced = summed(poor)
    counts = dataclasses.replace(
        Counts.zeros(chunk.frames, classes),
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
    )
    return per_clip(with_errors(counts), lengths)


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

    A source keeps its number as track while that is below ten and free, and gets the lowest free one otherwise.
    """
    cell = (side.clip * (int(side.frame.max(initial=0)) + 1) + side.frame) * _CLASSES + side.class_id
    _, inverse, many = np.unique(cell, return_inverse=True, return_counts=True)
    if not len(cell) or many.max() <= _TRACKS:
        return side
    keep = np.arange(len(side))
    dropped: list[int] = []
    for crowded in np.flatnonzero(many > _TRACKS):
        rows = np.flatnonzero(inverse == crowded)
        zero = rows[_owners(side, rows).index(0)]
        keep[zero] = rows[-1]
        dropped += rows[_TRACKS:].tolist()
    return side.take(np.delete(keep, dropped))


def _owners(side: Side, rows: Ints) -> list[int]:
    """The tracks of the first ten of *rows*."""
    wanted = side.source[rows[:_TRACKS]].tolist() if side.source is not None else [0] * _TRACKS
    taken: list[int] = []
    for source in wanted:
        free = source < _TRACKS and source not in taken
        taken.append(source if free else min(set(range(_TRACKS)) - set(taken)))
    return taken
