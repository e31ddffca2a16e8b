"""Counting in segments of one second: ``dcase2021`` to ``dcase2023``.

A class has as many references and predictions in a segment as in its fullest frame. In each frame they are
paired; the errors of a pair are averaged over the segment by the place of the reference among the rows of its
frame (not by its source number, as the official program has it), and one average counts once.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from seldio.scores.seld.counts import Counts, with_errors
from seldio.scores.seld.limits import EDGE, Limits
from seldio.scores.seld.paired import Paired
from seldio.scores.seld.pairing import Matches
from seldio.scores.seld.sides import Floats, Ints

#: Label frames in a segment.
SECOND = 10


def tally(given: Paired, limits: Limits) -> Counts:
    """The counts of every segment, shape [segments, classes]."""
    classes, blocks = given.classes, given.frames // SECOND
    references, predictions = (
        side.reshape(blocks, SECOND, classes).max(axis=1) for side in (given.references, given.predictions)
    )
    error, block_class = _tracks(given.matches, classes)
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
        matched=matched, angle=angle, angles=matched, shared=np.maximum(matched - predictions, 0).sum(axis=1),
        apart=apart.sum(axis=1), edge=np.bincount(edge, minlength=blocks),
    )  # fmt: skip
    return with_errors(counts)


def _tracks(matches: Matches, classes: int) -> tuple[Floats, Ints]:
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
