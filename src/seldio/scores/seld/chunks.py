"""Many clips counted a few at a time, on one dense grid of frames and classes each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from seldio.scores.seld.sides import Ints, Side

#: Cells (frames times classes) of a grid: few enough to stay in the processor's cache and in memory.
CELLS = 1 << 18


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """Some clips, their frames laid end to end.

    Args:
        clips: the slice of all clips.
        first: where the frames of each clip begin.
        frames: how many frames there are in all.
        reference: rows about them, with their place ``frame`` in the chunk.
        prediction: likewise.
    """

    clips: slice
    first: Ints
    frames: int
    reference: Side
    prediction: Side


def chunks(reference: Side, prediction: Side, lengths: Ints, classes: int) -> Iterator[Chunk]:
    """The rows of both sides, by chunks of clips.

    Args:
        reference: rows in the order that counts for ties.
        prediction: likewise.
        lengths: label frames of each clip that count; rows beyond them, with a negative frame or with a class
            of *classes* or more are left out.
        classes: how many classes count.
    """
    sides = [_sorted(_counting(side, lengths, classes)) for side in (reference, prediction)]
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + CELLS // classes, side="right")))
        first = ends[start:stop] - lengths[start:stop] - done
        placed = [_placed(side, start, stop, first) for side in sides]
        yield Chunk(slice(start, stop), first, int(ends[stop - 1] - done), *placed)
        start = stop


def _counting(side: Side, lengths: Ints, classes: int) -> Side:
    counts = (side.frame >= 0) & (side.frame < lengths[side.clip]) & (side.class_id >= 0) & (side.class_id < classes)
    return side if counts.all() else side.take(counts)


def _sorted(side: Side) -> Side:
    """Rows by clip; as files are read one after the other they mostly are."""
    return side if (np.diff(side.clip) >= 0).all() else side.take(np.argsort(side.clip, kind="stable"))


def _placed(side: Side, start: int, stop: int, first: Ints) -> Side:
    """The rows of clips *start* to *stop*, frames counted from the beginning of the chunk."""
    lower, upper = np.searchsorted(side.clip, [start, stop])
    part = side.take(slice(lower, upper))
    return dataclasses.replace(part, frame=part.frame + first[part.clip - start])
