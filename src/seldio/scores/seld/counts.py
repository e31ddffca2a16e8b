"""What is counted for each clip and class, and what scores are made of those sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seldio.scores.seld.rows import Ints

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
    angle: Sums  # sum of their angular errors, degrees; in ``corrected`` of the mean errors of segments
    angles: Sums  # how many numbers that is the sum of
    distance: Sums  # sum of their distance errors, metres
    relative: Sums  # sum of their distance errors, each divided by the distance
    onscreen: Sums  # pairs that agree on being in the picture
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
    """Counts of segments or frames, laid end to end, summed over each clip.

    Args:
        counts: of the segments or frames.
        lengths: how many of them each clip has.
        counted: how many of those count, from the first on.
    """
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
