"""Why a score may be so low: changes that undo the usual mistakes, of predictions or labels, each tried and counted.

A sample of both sides is enough to try all changes: the whole set first, then each room, then each clip. What fits
much better there is scored again, as it is, by whoever says it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from seldio.changes import BETWEEN_SIDES, Change, classes_permuted, shifted
from seldio.scores.resampling import rooms_of
from seldio.scores.seld.counting import (
    EventFrames,
    Ints,
    Measure,
    Thresholds,
    degrees_between,
    linear_sum_assignment,
    oriented,
)
from seldio.scores.seld.scoring import SeldScore, count_sides
from seldio.text import listed, printable

#: Clips that changes are tried on, and their label frames that count, of how many one is tried.
TRIED, FRAMES, STEP = 128, 6000, 5
#: Label frames by which onsets may be apart to be compared.
REACH = 200
#: How many times as good a score has to become by a shift in time, which onsets tell, and by any other change.
_SHIFTED, _CHANGED = 1.05, 1.5
Bools = NDArray[np.bool_]


class Suspect(NamedTuple):
    """A change that fits much better in the sample, and the clips that it is about."""

    change: Change
    clips: Ints  # their numbers
    where: str = ""  # those clips, in words, if they are not all
    moved: Ints | None = None  # of each of these clips, the one that has its predictions
    least: float = _CHANGED  # how many times as good the score has to become


class ProbableCause(NamedTuple):
    """A change that makes a score much better, with the F-score before and after, over the clips it is about."""

    change: Change
    where: str
    before: float
    after: float

    def __str__(self) -> str:
        about = f" in {self.where}" if self.where else ""
        f = f"F would be {100 * self.after:.1f} %{about}, not {100 * self.before:.1f} %"
        return f"with {self.change.text} {f}: {self.change.why}"


def probable_causes(
    score: SeldScore, reference: EventFrames, prediction: EventFrames, limits: Thresholds, classes: int
) -> Iterator[ProbableCause]:
    """Yield the changes that make the score clearly better, with the F-score that they give over the clips concerned.

    All changes are tried on a sample of the rows, and the clips that one is about are scored with the best one.
    """
    tried = np.flatnonzero(np.isin(score.clips, sampled(score.clips)))
    a, b = (_of_clips(side, tried) for side in (reference, prediction))
    sides = []
    for side in (a, b):
        chosen = (side.frame >= 0) & (side.frame < FRAMES) & (side.frame % STEP == STEP // 2)
        sides.append(side.take(chosen & (side.class_id >= 0) & (side.class_id < classes)))
    first, second = sides
    sample = Sample(first, second, len(tried), classes, score.profile.measure, limits)
    sample = dataclasses.replace(sample, a=first.take(np.argsort(sample.cells(first), kind="stable")))
    suspects = _suspects(sample, tried, score)
    if not suspects and (frames := _shift(a, b)):
        suspects = [Suspect(shifted(frames), np.arange(len(score.clips)), least=_SHIFTED)]
    for change, clips, where, moved, least in suspects:
        rows = applied(change, _of_clips(prediction, clips if moved is None else clips[moved]))
        again = count_sides(_of_clips(reference, clips), rows, score.profile, limits, classes, len(clips))
        f = []
        for counts in (score.counts[clips], again):
            total = counts.sum(axis=0, keepdims=True)
            # of some clips, over the classes that they have
            values = score.present(total) if where else score.profile.score(total, score.average)[:, :, 0]
            f.append(float(values[0, score.profile.names.index("F")]))
        if f[1] > least * f[0]:
            yield ProbableCause(change, where, *f)


def sampled(clips: Iterable[str]) -> list[str]:
    """Return clips that are tried, chosen by their names alone: one clip more changes at most one of them."""
    return sorted(sorted(clips, key=lambda clip: (crc32(clip.encode("utf-8", "surrogatepass")), clip))[:TRIED])


def _of_clips(side: EventFrames, clips: Ints) -> EventFrames:
    """Return the rows of the *clips* with these numbers, which are numbered anew."""
    place = np.full(max(int(side.clip.max(initial=0)), int(clips.max(initial=0))) + 1, -1)
    place[clips] = np.arange(len(clips))
    moved = dataclasses.replace(side, clip=place[side.clip])
    return moved.take(np.flatnonzero(moved.clip >= 0))


def applied(change: Change, side: EventFrames) -> EventFrames:
    """Return events with a change undone, which concerns the columns that they have."""
    columns = {field: getattr(side, field) for field in ("frame", "class_id", "azimuth", "elevation", "distance")}
    undone = change.undo({field: values for field, values in columns.items() if values is not None})
    return dataclasses.replace(side, **undone)


# --- the sample ----------------------------------------------------------------------------------------------


class Tally(NamedTuple):
    """Counts of a sample, shape [clips, classes] each: rows well placed, rows matched, and references."""

    true: Ints
    matched: Ints
    references: Ints


@dataclasses.dataclass(frozen=True)
class Sample:
    """Every fifth frame of the beginnings of clips."""

    a: EventFrames  # of the reference, sorted by :meth:`cells`
    b: EventFrames  # of the prediction
    clips: int
    classes: int
    measure: Measure
    limits: Thresholds

    def cells(self, side: EventFrames) -> Ints:
        """Return a number for the clip, frame and class of each row."""
        return (side.clip * FRAMES + side.frame) * self.classes + side.class_id

    def sums(self, side: EventFrames, rows: Any) -> Ints:
        """Return how many rows each clip and class has of those chosen by a mask of the first ones."""
        chosen = np.flatnonzero(rows)
        places = side.clip[chosen] * self.classes + side.class_id[chosen]
        return np.bincount(places, minlength=self.clips * self.classes).reshape(self.clips, self.classes)

    def near(self, b: EventFrames, i: Ints, j: Ints) -> Bools:
        """Return which pairs of rows of the reference and of *b* are within the limits."""
        places = oriented(self.a, self.measure)[:, i], oriented(b, self.measure)[:, j]
        near = degrees_between(*places, self.measure) <= self.limits.angle
        if np.isfinite(self.limits.relative) and self.a.distance is not None and b.distance is not None:
            near &= np.abs(self.a.distance[i] - b.distance[j]) <= self.limits.relative * self.a.distance[i]
        return np.asarray(near)

    def tally(self, b: EventFrames) -> Tally:
        """Return the counts with the predictions changed to *b*: the rows in some pair, of both sides the fewer."""
        b = b.take((b.class_id >= 0) & (b.class_id < self.classes))
        i, j = near_pairs(self.cells(self.a), self.cells(b), 0)
        true, matched = (
            np.minimum(self.sums(self.a, np.bincount(i[pairs]) > 0), self.sums(b, np.bincount(j[pairs]) > 0))
            for pairs in (self.near(b, i, j), slice(None))
        )
        return Tally(true, matched, self.sums(self.a, np.ones(len(self.a))))


def near_pairs(a: Ints, b: Ints, reach: int) -> tuple[Ints, Ints]:
    """Return the pairs of elements of *a*, which is sorted, and of *b* that are at most *reach* apart."""
    first, last = np.searchsorted(a, b - reach), np.searchsorted(a, b + reach, side="right")
    many = last - first
    within = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(first, many) + within, np.repeat(np.arange(len(b)), many)


# --- what fits much better -------------------------------------------------------------------------------------

#: Shares of matches that are well placed and of references that are matched, below which something may be wrong; how
#: many more of them a change has to bring; those of a clip and class that are more than chance; and the share that
#: leaves no doubt even in a single clip.
_PLACED, _FOUND, _EVIDENCE, _CELL, _ALL = 1 / 3, 1 / 3, 20, 6, 0.9
#: The shares of the matches of a room and of a clip that a change has to place. How many clips have to agree on it, how
#: many of them in several classes, and how many times as many as agree on any other change.
_OF_ROOM, _OF_CLIP, _CLIPS, _SURE, _CLEARER = 0.4, 0.5, 4, 2, 2
#: How near the best change another one has to come to be named in its place, as it stands before it in the table.
_AS_GOOD = 0.97


def _suspects(sample: Sample, tried: Ints, score: SeldScore) -> list[Suspect]:
    """Return what fits much better: in the whole set, or else in rooms, or in clips that are in no such room.

    *tried* are the numbers of the clips of the sample.
    """
    all_clips, names = np.arange(sample.clips), [score.clips[number] for number in tried.tolist()]
    rooms = {room: np.array(clips) for room, clips in rooms_of(names).items()}
    before = sample.tally(sample.b)
    set_is_bad = any(_bad(before, all_clips).values())
    poor = [room for room, at in rooms.items() if 1 < len(at) < sample.clips and any(_bad(before, at).values())]
    bad = [clip for clip in all_clips if any(_bad(before, all_clips[clip : clip + 1]).values())]
    wanted = all_clips if set_is_bad else np.unique(np.concatenate([all_clips[bad], *(rooms[room] for room in poor)]))
    if not len(wanted):
        return []
    if len(wanted) < sample.clips:  # the same with the rows of these clips alone
        a, b = (side.take(np.isin(side.clip, wanted)) for side in (sample.a, sample.b))
        sample = dataclasses.replace(sample, a=a, b=b)
        before = sample.tally(sample.b)
    fields = {"azimuth", "class_id", *score.profile.needs}
    fields |= set() if score.profile.measure == "folded" else {"elevation"}
    changes = [change for change in BETWEEN_SIDES if change.needs in fields]
    changes += filter(None, [_permuted(sample)])
    tallies = {change: sample.tally(applied(change, sample.b)) for change in changes}
    if set_is_bad and (change := _best(before, tallies, all_clips, _PLACED)) is not None:
        return [Suspect(change, np.arange(len(score.clips)))]
    if set_is_bad and (exchange := _moved(sample, before, names)) is not None:
        part = f"the {len(tried)} of {len(score.clips):,} clips that are tried" if len(tried) < len(score.clips) else ""
        return [Suspect(exchange[0], tried, part, exchange[1])]
    of_rooms: dict[Change, list[str]] = {}
    for room in poor:
        if (change := _best(before, tallies, rooms[room], _OF_ROOM)) is not None:
            of_rooms.setdefault(change, []).append(room)
    explained = {clip for alike in of_rooms.values() for room in alike for clip in rooms[room].tolist()}
    single: dict[Change, list[int]] = {}
    for clip in set(all_clips.tolist()) - explained:
        if (change := _best(before, tallies, np.array([clip]), _OF_CLIP)) is not None:
            single.setdefault(change, []).append(clip)
    clips_of_room = rooms_of(score.clips)
    suspects = [
        Suspect(change, np.concatenate([clips_of_room[room] for room in alike]), listed(alike, 3))
        for change, alike in of_rooms.items()
    ]
    # a clip alone may be one with a source that is far off: many have to agree on a change, or two of which each fits
    # nearly whole, in several classes
    for change, clips in single.items():
        after = tallies[change]
        sure = _better(after.true[clips], before.true[clips]).sum(axis=1) >= _SURE
        fitting = sure & (after.true[clips].sum(axis=1) >= _ALL * after.matched[clips].sum(axis=1))
        rivals = max((len(alike) for rival, alike in single.items() if rival != change), default=0)
        many = len(clips) >= max(_CLIPS, _CLEARER * rivals) and sure.sum() >= _SURE
        if many or (len(clips) >= max(2, _CLEARER * rivals) and fitting.all()):
            where = f"at least {len(clips)} clips ({listed([printable(names[clip]) for clip in clips], 3)})"
            suspects.append(Suspect(change, tried[clips], where))
    return suspects


def _bad(before: Tally, clips: Ints) -> dict[str, bool]:
    """Return which shares are worse than in fair systems (a third of all sources found, a third of those placed)."""
    true, matched, references = (each[clips].sum() for each in before)
    return {"place": bool(true < _PLACED * matched), "match": bool(matched < _FOUND * references)}


def _best(before: Tally, tallies: Mapping[Change, Tally], clips: Ints, least: float) -> Change | None:
    """Return the change that fits some clips much better than none, if one does.

    What a system gets right has to become better by more than chance or a weak system explains.
    """
    sums = {change: each.true[clips].sum() for change, each in tallies.items()}
    most_placed = max(sums.values(), default=0)
    change = next((each for each, total in sums.items() if total >= _AS_GOOD * most_placed), None)
    if change is None or not _bad(before, clips)[change.improves]:
        return None
    placed, after = change.improves == "place", tallies[change]
    old, new = ((each.true if placed else each.matched)[clips] for each in (before, after))
    most = (after.matched if placed else before.references)[clips]
    if new.sum() < max(old.sum() + _EVIDENCE, 2 * old.sum(), least * most.sum()):
        return None
    # sources stay where they are, and a system may be wrong about one throughout: others have to agree, and those of
    # another clip, or nearly all
    better, worse = _better(new, old), _better(old, new)
    cells, wide = int(better.sum()), int(better.any(axis=1).sum())
    if len(clips) == 1 < len(before.true):
        return None if worse.any() else change
    many = 2 if len(clips) == len(before.true) else np.count_nonzero(most.sum(axis=1) >= _CELL) / 2
    agree = wide >= max(2, many) and cells >= max(3, 4 * worse.sum())
    return change if agree or (cells >= 2 and new.sum() >= _ALL * most.sum()) else None


def _better(new: NDArray[Any], old: NDArray[Any]) -> Bools:
    return (new >= 2 * old) & (new >= old + _CELL)


def _permuted(sample: Sample) -> Change | None:
    """Return the exchange of classes that makes most pairs of near rows agree, where that are several classes."""
    a, b, classes, every = sample.a, sample.b, sample.classes, np.arange(sample.classes)
    i, j = near_pairs(a.clip * FRAMES + a.frame, b.clip * FRAMES + b.frame, 0)
    near = sample.near(b, i, j)
    pairs = b.class_id[j[near]] * classes + a.class_id[i[near]]
    agreeing = np.bincount(pairs, minlength=classes**2).reshape(classes, classes)
    others = np.where(np.eye(classes, dtype=bool), 0, agreeing)
    if np.count_nonzero((others >= _EVIDENCE).any(axis=1)) < 3:
        return None
    _, new = linear_sum_assignment()(agreeing + 0.5 * np.eye(classes), maximize=True)
    moved = (new != every) & (agreeing[every, new] >= _EVIDENCE)
    return classes_permuted(np.where(moved, new, every)) if np.count_nonzero(moved) >= 3 else None


#: Of files compared with each other, the share that another clip fits better, that of predictions that are well placed
#: then, and how many times as many match in class.
_MOST, _FITTING, _OTHER = 0.6, 0.2, 1.5


def _moved(sample: Sample, tally: Tally, names: list[str]) -> tuple[Change, Ints] | None:
    """Return for each clip the one that its predictions fit, if most fit another clip much better than their own."""
    a, b, clips, classes = sample.a, sample.b, sample.clips, sample.classes
    if clips < 3 or tally.true.sum() >= _PLACED * tally.references.sum():
        return None
    true, matched = np.zeros((clips, clips)), np.zeros((clips, clips))
    key = a.frame * classes + a.class_id
    order = np.argsort(key, kind="stable")
    for clip in range(clips):  # its predictions, against the labels of all
        rows = np.flatnonzero(b.clip == clip)
        i, j = near_pairs(key[order], b.frame[rows] * classes + b.class_id[rows], 0)
        i, j = order[i], rows[j]
        for into, pairs in ((true, sample.near(b, i, j)), (matched, slice(None))):
            predicted = np.unique(a.clip[i[pairs]] * len(b) + j[pairs]) // len(b)
            both = predicted, a.clip[np.unique(i[pairs])]
            into[clip] = np.minimum(*(np.bincount(side, minlength=clips) for side in both))
    predictions = np.bincount(b.clip, minlength=clips)
    total = predictions[:, None] + tally.references.sum(axis=1)[None]
    _, new = linear_sum_assignment()(true / np.maximum(total, 1), maximize=True)
    own = np.arange(clips)
    before, after = true[own, own], true[own, new]
    better = _better(after, before)
    enough = after.sum() >= max(_EVIDENCE, 2 * before.sum(), _FITTING * predictions.sum())
    # sources of another clip are at other times, too
    enough = enough and matched[own, new].sum() >= _OTHER * matched.trace()
    if not enough or better.sum() < max(3, _MOST * (predictions >= _CELL).sum()):
        return None
    steps, counts = np.unique((new - own) % clips, return_counts=True)
    renamed = [f"{printable(names[n])} for {printable(names[new[n]])}" for n in np.flatnonzero(better)[:3].tolist()]
    many = f"{int(better.sum())} of {clips} files taken for another clip ({listed(renamed, 3)})"
    why = "predictions or labels seem to have each other's names"
    if counts.max() > _MOST * clips:
        step = int(steps[counts.argmax()])
        why = f"names seem to be shifted by {min(step, clips - step)}"
    still = shifted(0)
    return Change("files", still.undo, still.redo, many, why), np.argsort(new)


#: How many onsets have to agree on a shift in time, how many times as many as without one, and the frames of silence
#: before an onset: what is shorter may be a flicker.
_ONSETS, _SHARPER, _SILENCE = 20, 2.5, 5


def _shift(reference: EventFrames, prediction: EventFrames) -> int:
    """Return by how many frames predictions have to be moved, if onsets tell that clearly; else 0.

    Onsets of the reference are counted that have one of the same class in the prediction, by the frames between them.
    """
    classes = max(int(side.class_id.max(initial=0)) for side in (reference, prediction)) + 1
    onsets = []  # frames in which a class begins to sound, those of a clip and class far from those of others; sorted
    for side in (reference, prediction):
        rows = (side.frame >= 0) & (side.frame < FRAMES) & (side.class_id >= 0)
        group = side.clip[rows] * classes + side.class_id[rows]
        keys = np.sort(group * (FRAMES + 2 * REACH) + side.frame[rows])
        onsets.append(keys[np.diff(keys, prepend=-FRAMES) > _SILENCE])
    a, b = onsets
    i, j = near_pairs(b, a, REACH)
    counts = np.bincount(a[j] - b[i] + REACH, minlength=2 * REACH + 1)
    near = counts[:-2] + counts[1:-1] + counts[2:]  # systems are a frame early or late
    best, still = int(near.argmax()), near[REACH - 1]
    sharp = near[best] >= _ONSETS and near[best] >= _SHARPER * max(still, np.median(near))
    frames = best - REACH + round(float(np.average([0, 1, 2], weights=counts[best : best + 3] + 1e-9)))
    return frames if sharp and abs(frames) > 2 else 0
