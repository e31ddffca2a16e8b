"""Both sides of many clips, paired a few clips at a time on one dense grid of frames and classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from seldio.scores.seld.measures import Measure
from seldio.scores.seld.pairing import Group, Matches, grouped, match
from seldio.scores.seld.sides import Ints, Side

#: Cells (frames times classes) of a grid: few enough to stay in the processor's cache and in memory.
CELLS = 1 << 18


@dataclasses.dataclass(frozen=True)
class Paired:
    """Some clips, their frames laid end to end, their rows put together by frame and class.

    A cell is a frame and a class: ``frame * classes + class_id``.

    Args:
        clips: the slice of all clips.
        lengths: frames of each clip.
        classes: how many count.
        reference: rows about them, with their place ``frame`` in the grid.
        prediction: likewise.
        references: rows of the reference in each cell.
        predictions: rows of the prediction.
        groups: cells that have rows on both sides.
    """

    clips: slice
    lengths: Ints
    classes: int
    reference: Side
    prediction: Side
    references: Ints
    predictions: Ints
    groups: Sequence[Group]

    @cached_property
    def matches(self) -> Matches:
        """Which rows belong together, as the official programs have it."""
        return match(self.groups)

    @property
    def frames(self) -> int:
        """Frames of all clips together."""
        return len(self.references) // self.classes


def paired(reference: Side, prediction: Side, lengths: Ints, classes: int, measure: Measure) -> Iterator[Paired]:
    """The rows of both sides in pairs, by groups of clips.

    Args:
        reference: rows in the order that counts for ties.
        prediction: likewise.
        lengths: label frames of each clip; rows beyond them, with a negative frame or with a class of *classes* or
            more are left out.
        classes: how many classes count.
        measure: the angular distance.
    """
    sides = [_sorted(_counting(side, lengths, classes)) for side in (reference, prediction)]
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + CELLS // classes, side="right")))
        first = ends[start:stop] - lengths[start:stop] - done
        a, b = (_placed(side, start, stop, first) for side in sides)
        counts, groups = grouped(
            a.frame * classes + a.class_id, b.frame * classes + b.class_id, int(ends[stop - 1] - done) * classes,
            measure.prepare(a), measure.prepare(b), measure.between,
        )  # fmt: skip
        yield Paired(slice(start, stop), lengths[start:stop], classes, a, b, *counts, groups)
        start = stop


def _counting(side: Side, lengths: Ints, classes: int) -> Side:
    counts = (side.frame >= 0) & (side.frame < lengths[side.clip]) & (side.class_id >= 0) & (side.class_id < classes)
    return side if counts.all() else side.take(counts)


def _sorted(side: Side) -> Side:
    """Rows by clip; as files are read one after the other they mostly are."""
    return side if (np.diff(side.clip) >= 0).all() else side.take(np.argsort(side.clip, kind="stable"))


def _placed(side: Side, start: int, stop: int, first: Ints) -> Side:
    """The rows of clips *start* to *stop*, frames counted from the beginning of the grid."""
    lower, upper = np.searchsorted(side.clip, [start, stop])
    part = side.take(slice(lower, upper))
    return dataclasses.replace(part, frame=part.frame + first[part.clip - start])
