"""Onset and offset F of whole events: measures of their own, next to those of the official programs.

An event is a run of label frames of one class and source of a clip. One of the reference is found where a predicted
event of its class begins within a collar of it (200 ms), and ends within the greater of the collar and a share of its
length (50 %), as sed_eval and DCASE Task 4 define it; with direction, the mean angle between the two over the label
frames that they share must not exceed the threshold of the profile. Each event counts once: of all ways to pair
events, one with the most pairs is counted. Collars are compared in label frames, exactly, where sed_eval compares
floating-point seconds: 0.9 s and 0.7 s are 0.2000…007 s apart there.

Where more than 1 % of the rows of a side have the number (or none) of another one in their frame and class, numbers do
not tell events apart. Then an event is a run of frames in which a class is active, and its angle in a frame the mean of
the best pairs of rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from seldio.reports.tables import Cell, Column, Notice, Table
from seldio.scores.seld.clip_sums import ClipSums
from seldio.scores.seld.corrected import STEPS
from seldio.scores.seld.pairing import Measure, assigned, cell_groups, pairs
from seldio.scores.seld.rows import EventFrames, Floats, Ints, distinct
from seldio.text import plural

#: Seconds of the collar, and the share of an event's length that an offset may be off.
COLLAR, SHARE = 0.2, 0.5
#: What has to agree: with the offset or without, with the direction or without.
CRITERIA = ("onset", "onset, direction", "onset, offset", "onset, offset, direction")
_FRAMES = 10  # in a second


@dataclasses.dataclass(frozen=True, slots=True)
class EventCounts:
    """How many events there are and are found in each clip; parts add up in the order of their clips.

    The second axis tells events of sources from those of classes alone; on the third are those found by each criterion,
    those of the reference and those predicted.
    """

    by_clip: Ints  # shape [clips, 2, criteria + 2, classes]
    repeated: Ints  # rows of a side with the frame, class and source of another one, shape [2]
    rows: Ints  # of a side, shape [2]

    def __add__(self, other: EventCounts) -> EventCounts:
        by_clip = np.concatenate([self.by_clip, other.by_clip])
        return EventCounts(by_clip, self.repeated + other.repeated, self.rows + other.rows)

    @property
    def found(self) -> Ints:
        """How many of all clips are found, shape [2, criteria, classes]."""
        return np.asarray(self.by_clip[:, :, : len(CRITERIA)].sum(axis=0))

    @property
    def references(self) -> Ints:
        """How many the reference has, shape [2, classes]."""
        return np.asarray(self.by_clip[:, :, -2].sum(axis=0))

    @property
    def predictions(self) -> Ints:
        """How many are predicted, shape [2, classes]."""
        return np.asarray(self.by_clip[:, :, -1].sum(axis=0))

    @property
    def level(self) -> int:
        """Which events count: 0 for those of sources; 1 for those of classes, where numbers do not tell sources."""
        return int((self.repeated > _FEW * self.rows).any())


#: The share of rows with the number of another one up to which numbers tell sources apart.
_FEW = 0.01


class _EventRuns(NamedTuple):
    """Events of a side, by clip and class and then by onset; rows of one follow each other."""

    side: EventFrames  # its rows in the order of events
    first: Ints  # the first row of each event
    clip: Ints
    class_id: Ints
    onset: Ints  # its first frame
    offset: Ints  # the frame behind its last one

    def __len__(self) -> int:
        return len(self.first)


def count(
    reference: EventFrames, prediction: EventFrames, measure: Measure, angle: float, classes: int, collar: float,
    share: float, clips: int = 0,
) -> EventCounts:  # fmt: skip
    """The events of some clips; rows of other classes and of negative frames are left out.

    Args:
        reference: rows about clips.
        prediction: the predictions.
        measure: the angular distance.
        angle: maximum mean angular error of an event in degrees.
        classes: how many the vocabulary has.
        collar: maximum error of onset and offset in seconds.
        share: maximum error of the offset of an event over its length, if that is more.
        clips: how many there are; by default as many as have rows.
    """
    (a_side, again), (b_side, twice) = (distinct(_known(side, classes)) for side in (reference, prediction))
    sides = a_side, b_side
    clips = max(clips, *(int(side.clip.max(initial=-1)) + 1 for side in sides))
    by_clip = np.zeros((clips, 2, len(CRITERIA) + 2, classes), np.int64)

    def add(level: int, number: int, clip: Ints, class_id: Ints) -> None:
        many = np.bincount(clip * classes + class_id, minlength=clips * classes)
        by_clip[:, level, number] = many.reshape(clips, classes)

    for level, by_source in enumerate((True, False)):
        a, b = (_events(side, by_source=by_source) for side in sides)
        for number, each in enumerate((a, b), len(CRITERIA)):
            add(level, number, each.clip, each.class_id)
        i, j = _near(a, b, collar * _FRAMES)
        allowed = np.maximum(collar, share * (a.offset - a.onset)[i] / _FRAMES) * _FRAMES
        ends = np.abs(a.offset[i] - b.offset[j]) <= allowed + _SLIP
        error = _between(a.side, b.side, measure) if by_source else _of_classes(sides, a.side, measure)
        here = _angles(a, b, i, j, error) <= angle
        for number, good in enumerate((np.ones(len(i), dtype=bool), here, ends, here & ends)):
            rows = _matched(a, b, i[good], j[good])
            add(level, number, a.clip[rows], a.class_id[rows])
    return EventCounts(by_clip, np.array([again.sum(), twice.sum()]), np.array([len(side) for side in sides]))


#: Frames that are no more than rounding.
_SLIP = 1e-9


def _known(side: EventFrames, classes: int) -> EventFrames:
    good = (side.frame >= 0) & (side.class_id >= 0) & (side.class_id < classes)
    return side if good.all() else side.take(good)


def _keys(side: EventFrames, *, by_source: bool) -> list[Ints]:
    keys = [side.clip, side.class_id]
    return [*keys, side.source] if by_source and side.source is not None else keys


def _events(side: EventFrames, *, by_source: bool) -> _EventRuns:
    keys = _keys(side, by_source=by_source)
    order = np.lexsort((side.frame, *reversed(keys)))
    same = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    step = np.diff(side.frame[order])
    order = order[np.insert(~same | (step > 0), 0, True)[: len(order)]]  # one row of each frame
    side = side.take(order)
    keys = _keys(side, by_source=by_source)
    new = np.logical_or.reduce([np.diff(key) != 0 for key in keys]) | (np.diff(side.frame) > 1)
    first = np.flatnonzero(np.insert(new, 0, True)[: len(side)])
    last = np.append(first[1:], len(side)) - 1 if len(first) else first
    onset = side.frame[first]
    by_onset = np.lexsort((onset, side.class_id[first], side.clip[first]))
    first, last = first[by_onset], last[by_onset]
    return _EventRuns(side, first, side.clip[first], side.class_id[first], side.frame[first], side.frame[last] + 1)


def _near(a: _EventRuns, b: _EventRuns, reach: float) -> tuple[Ints, Ints]:
    """Events of both sides of one clip and class whose onsets are at most *reach* frames apart."""
    frames = int(max(a.onset.max(initial=0), b.onset.max(initial=0))) + 1
    reach = int(min(reach + _SLIP, frames))
    classes = int(max(a.class_id.max(initial=0), b.class_id.max(initial=0))) + 1
    wide = frames + 2 * reach
    at, there = ((each.clip * classes + each.class_id) * wide + each.onset for each in (a, b))
    low, high = np.searchsorted(there, at - reach), np.searchsorted(there, at + reach, side="right")
    many = high - low
    i = np.repeat(np.arange(len(a)), many)
    return i, np.arange(len(i)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(low, many)


def _angles(a: _EventRuns, b: _EventRuns, i: Ints, j: Ints, error: Callable[[Ints, Ints], Floats]) -> Floats:
    """Degrees between events: the mean *error* over the frames that both have, or of those nearest to each other."""
    low, high = np.maximum(a.onset[i], b.onset[j]), np.minimum(a.offset[i], b.offset[j])
    many = np.maximum(high - low, 1)
    pair = np.repeat(np.arange(len(i)), many)
    frame = low[pair] + np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many)
    rows = (each.first[n][pair] + np.minimum(frame, each.offset[n][pair] - 1) - each.onset[n][pair]
            for each, n in ((a, i), (b, j)))  # fmt: skip
    total = np.bincount(pair, weights=np.rint(error(*rows) * STEPS), minlength=len(i))
    return np.asarray(total / STEPS / many)


def _between(a: EventFrames, b: EventFrames, measure: Measure) -> Callable[[Ints, Ints], Floats]:
    """Degrees between rows of both sides."""
    left, right = measure.prepare(a), measure.prepare(b)
    return lambda i, j: measure.between(left[:, i], right[:, j])


def _of_classes(sides: Sequence[EventFrames], rows: EventFrames, measure: Measure) -> Callable[[Ints, Ints], Floats]:
    """Degrees between *sides* in the frame and class of some *rows*: the mean of the pairs of the least total angle."""
    frames, classes = (max(int(each.max(initial=0)) for each in some) + 1
                       for some in zip(*((side.frame, side.class_id) for side in sides), strict=True))  # fmt: skip
    keys = [(side.clip * classes + side.class_id) * frames + side.frame for side in (*sides, rows)]
    known, cell = np.unique(np.concatenate(keys), return_inverse=True)
    first, second, wanted = np.split(cell.reshape(-1), np.cumsum([len(key) for key in keys])[:-1])
    counts = np.bincount(first, minlength=len(known)), np.bincount(second, minlength=len(known))
    a, b = (measure.prepare(side) for side in sides)
    groups = cell_groups((first, second), counts, a, b, measure.between)
    found = pairs((group, group.nothing if group.single else assigned(group.cost)) for group in groups)
    many = np.bincount(found.cell, minlength=len(known))
    total = np.bincount(found.cell, weights=np.rint(found.error * STEPS), minlength=len(known))
    error = np.where(many > 0, total / STEPS / np.maximum(many, 1), np.inf)[wanted]
    return lambda i, _: error[i]


def _matched(a: _EventRuns, b: _EventRuns, i: Ints, j: Ints) -> Ints:
    """The numbers of the events of *a* that are found, where each event is at most half of one pair."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not len(i):
        return np.empty(0, np.int64)
    graph = csr_array((np.ones(len(i), np.int8), (i, j)), shape=(len(a), len(b)))
    partner = maximum_bipartite_matching(graph, perm_type="column")
    return np.flatnonzero(partner >= 0)


# --- tables ----------------------------------------------------------------------------------------

_F = Column("F_macro", "F", "%", 1, "higher", "F-score of events, the mean over the classes that have references")
_POOLED = Column("F_micro", "F micro", "%", 1, None, "F-score of the events of all classes together")
_PRECISION = Column("precision", "P", "%", 1, None, "precision: found events over predicted ones, all classes together")
_RECALL = Column("recall", "R", "%", 1, None, "recall: found events over those of the reference, all classes together")
_COUNTS = (
    Column("references", "events", "", 0, None, "events of the reference"),
    Column("predictions", "predicted", "", 0, None, "predicted events"),
)


def clip_sums(counts: EventCounts, level: int) -> ClipSums:
    """F by each criterion, by clip; of events of sources (0) or of classes (1)."""
    own = counts.by_clip[:, level]
    many = len(CRITERIA)
    sums = np.stack([own[:, [number, many, many + 1]] for number in range(many)], axis=1)
    columns = tuple(
        Column(f"F_{name.replace(', ', '_')}", f"F {name}", "%", 1, "higher", f"F-score of events by {name}, macro")
        for name in CRITERIA
    )
    return ClipSums(columns, sums, (True,) * many, "events", tuple((number, 1) for number in range(many)))


def tables(counts: EventCounts, labels: Sequence[str], collar: float, share: float, angle: float) -> Iterator[Table]:
    """The scores of all events, and those by class."""
    level = counts.level
    references, predictions = counts.references[level], counts.predictions[level]
    both, there = references + predictions, references > 0
    all_a, all_b = int(references.sum()), int(predictions.sum())
    rows: list[tuple[Cell, ...]] = []
    by_class = []
    for name, found in zip(CRITERIA, counts.found[level], strict=True):
        f, hits = np.where(both > 0, 2 * found / np.maximum(both, 1), np.nan), int(found.sum())
        macro = float(f[there].mean()) if there.any() else np.nan
        cells: tuple[Cell, ...] = macro, _over(2 * hits, all_a + all_b), _over(hits, all_b), _over(hits, all_a)
        by_class.append(f.tolist())
        rows.append((name, *cells, all_a, all_b))
    title = (
        f"events: collar {1000 * collar:g} ms, offsets also up to {100 * share:g} % of the length, directions within "
        f"{angle:g}° on average"
    )
    heads = (Column("criterion", "what agrees"), _F, _POOLED, _PRECISION, _RECALL, *_COUNTS)
    yield Table("events", title, heads, tuple(rows))
    each = zip(labels, references.tolist(), predictions.tolist(), *by_class, strict=True)
    columns = (Column(f"F_{name.replace(', ', '_')}", name, "%", 1, "higher") for name in CRITERIA)
    yield Table(
        "event-classes", "F of events by class", (Column("class", "class"), *_COUNTS, *columns), tuple(each), True
    )


def _over(part: int, whole: int) -> float:
    return part / whole if whole else np.nan


def notices(counts: EventCounts) -> Iterator[Notice]:
    """How events were distinguished, where that is not by their numbers."""
    if not counts.repeated.any():
        return
    each = zip(counts.repeated.tolist(), ("reference row", "predicted row"), strict=True)
    text = (
        f"{' and '.join(plural(many, noun) for many, noun in each if many)} with the frame, class and source of another"
    )
    if counts.level:
        text += ": an event is a time in which a class is active, whatever the number of its sources"
        yield Notice("class-events", text, grave=True)
    else:
        yield Notice("repeated-source", f"{text}: each belongs to an event of its own")
