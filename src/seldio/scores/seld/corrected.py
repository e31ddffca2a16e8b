"""The published definition of the metrics, as the task page of 2023 states it, without the program's slips.

A reference event is a source of a class in a segment of one second, identified by its number where the labels
have one. In every frame references and predictions are paired by the least total angle; a pair of events has the
mean angle of its frames. ``K = min(P, R)`` events are paired in a segment, so that ``P = TP + FP`` and
``R = TP + FP_spatial + FN`` hold, which the official program breaks where one prediction meets two references in
turn. Predicted events are as many as the fullest frame shows, and one more for each reference that only begins
after another of its class has ended. ``LE_c`` is the mean of the events of a segment, averaged over the segments
that have any.

Nothing depends on the order of rows, nor on rounding: angles are whole numbers of 0.00001 degrees, of equal
pairings the most even one is taken, and of those the one that is nearest to the reference of the lowest number.
"""

from __future__ import annotations

import dataclasses
from itertools import permutations
from math import perm
from typing import Any

import numpy as np

from seldio.scores.seld.metrics import SECOND, Average, Counts, Thresholds, Values, classic, nanmean, with_errors
from seldio.scores.seld.pairing import Chosen, Paired, pairs, solved
from seldio.scores.seld.rows import EventFrames, Floats, Ints

#: Steps in a degree: far finer than labels, and coarser than what rounding does near 0 and 180 degrees.
STEPS = 100_000
#: Pairings of a frame that are all tried, five sources on each side; beyond that scipy finds one of the cheapest.
_TRIED = perm(5)
#: The error of a reference that has no partner, as it is compared with others.
_ALONE = np.iinfo(np.int64).max


def score(counts: Counts, average: Average) -> Values:
    """ER, F, LE, LR, SELD, over the classes that the reference has; LE over those with a match.

    Where nothing matches at all, LE is not defined and SELD takes it for 180 degrees.
    """
    values = classic(counts, average)
    if values.by_class is None:
        nothing = counts.matched.sum(axis=1) == 0
        overall = values.overall.copy()
        overall[nothing, 2] = np.nan
        return Values(overall)
    by_class = np.where(counts.references[:, None, :] > 0, values.by_class, np.nan)
    by_class[:, 2][counts.matched == 0] = np.nan
    overall = np.stack([nanmean(by_class[:, number], 1) for number in range(5)], axis=1)
    overall[:, 0] = values.overall[:, 0]
    le = np.where(np.isnan(overall[:, 2]), 180.0, overall[:, 2])
    overall[:, 4] = (overall[:, 0] + 1 - overall[:, 1] + le / 180 + 1 - overall[:, 3]) / 4
    return Values(overall, by_class)


def tally(pairing: Paired, limits: Thresholds) -> Counts:
    """The counts of every segment, shape [segments, classes]."""
    classes = pairing.classes
    shape = (pairing.frames // SECOND, SECOND, classes)
    most = [side.reshape(shape).max(axis=1).ravel() for side in (pairing.references, pairing.predictions)]
    event_cell, event_of = _events(pairing.reference, classes)
    references = np.bincount(event_cell, minlength=len(most[0]))
    matched, error = _matched(pairing, event_of)
    frames = np.bincount(matched, minlength=len(event_cell))
    total = np.bincount(matched, weights=error, minlength=len(event_cell))
    met = np.flatnonzero(frames)
    frames, total = frames[met], total[met]
    later = np.maximum(references - most[0], 0)
    paired = np.minimum(np.bincount(event_cell[met], minlength=len(references)), most[1] + later)
    # most frames first, then the smaller error
    chosen = _places(event_cell[met], total, -frames) < paired[event_cell[met]]

    def summed(weights: Floats) -> Any:
        return np.bincount(event_cell[met], weights=weights * chosen, minlength=len(references))

    good = summed((total <= limits.angle * STEPS * frames).astype(np.float64))
    counts = {
        "true": good,
        "misplaced": paired - good,
        "false": np.maximum(most[1] - paired, 0),
        "missed": references - paired,
        "references": references,
        "matched": paired,
        "angle": summed(total / STEPS / frames) / np.maximum(paired, 1),
        "angles": paired > 0,
    }
    grid = {name: values.reshape(-1, classes).astype(np.float64) for name, values in counts.items()}
    return with_errors(dataclasses.replace(Counts.zeros(shape[0], classes), **grid))


def _events(side: EventFrames, classes: int) -> tuple[Ints, Ints]:
    """The segment and class of each reference event, and the event of each row.

    Sources without a number are distinguished by their place in each frame, from the right to the left.
    """
    cell = side.frame // SECOND * classes + side.class_id
    track = side.source
    if track is None:
        height = np.zeros(len(side)) if side.elevation is None else side.elevation
        track = _places(side.frame * classes + side.class_id, height, side.azimuth)
    low = int(track.min(initial=0))
    width = int(track.max(initial=0)) - low + 1
    keys, event_of = np.unique(cell * width + (track - low), return_inverse=True)
    return keys // width, event_of.reshape(-1)


def _matched(pairing: Paired, event_of: Ints) -> tuple[Ints, Floats]:
    """The event of each pair of rows, and its error in steps."""
    chosen = []
    for group in pairing.groups:
        if group.single:
            chosen.append((dataclasses.replace(group, cost=np.rint(group.cost * STEPS)), group.nothing))
            continue
        order = np.argsort(event_of[group.reference], axis=1, kind="stable")
        reference = np.take_along_axis(group.reference, order, axis=1)
        cost = np.rint(np.take_along_axis(group.cost, order[:, :, None], axis=1) * STEPS)
        ordered = dataclasses.replace(group, reference=reference, cost=cost)
        chosen.append((ordered, _assigned(cost.astype(np.int64))))
    matches = pairs(chosen)
    return event_of[matches.reference], matches.error


def _assigned(cost: Ints) -> Chosen:
    """The cheapest pairings of many cost matrices, the most even ones of those, and then the least first row."""
    count, height, width = cost.shape
    few, many = sorted((height, width))
    if perm(many, few) > _TRIED:
        return solved(cost)
    ways, every = np.array(list(permutations(range(many), few))), np.arange(few)
    i, j = np.broadcast_arrays(every, ways) if height <= width else np.broadcast_arrays(ways, every)
    errors = cost[:, i, j]
    keys = [errors.sum(axis=2), (errors**2).sum(axis=2)]
    for row in range(height):
        there = i == row
        keys.append(np.where(there.any(axis=1), np.where(there, errors, 0).sum(axis=2), _ALONE))
    best = np.ones((count, len(ways)), dtype=bool)
    for key in keys:
        best &= key == np.where(best, key, _ALONE).min(axis=1, keepdims=True)
    way = best.argmax(axis=1)
    return i[way], j[way]


def _places(cells: Ints, *later: Ints | Floats) -> Ints:
    """The place of each row among those of its cell, by *later* (the last one first), then as they stand."""
    order = np.lexsort((*later, cells))
    ordered = cells[order]
    first = np.maximum.accumulate(np.where(np.diff(ordered, prepend=-1) != 0, np.arange(len(cells)), 0))
    places = np.empty(len(cells), dtype=np.int64)
    places[order] = np.arange(len(cells)) - first
    return places
