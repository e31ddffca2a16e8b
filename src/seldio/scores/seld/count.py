"""What is counted in each part of a comparison, and again with the predictions changed where a score is suspicious."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple
from zlib import crc32

import numpy as np

from seldio.check.vetting import Faults, joined
from seldio.engines import cut, each
from seldio.errors import UsageError
from seldio.scores.seld import causes, profiles
from seldio.scores.seld.causes import ProbableCause
from seldio.scores.seld.join import ClipRows, Compared
from seldio.scores.seld.metrics import Counts, Thresholds
from seldio.scores.seld.rows import NOTHING, EventFrames, Ints, SideFacts, event_frames, facts_of
from seldio.scores.seld.scoring import SeldScore, count_sides, horizons

#: Clips whose onsets are compared.
_ONSETS = 12
#: Bytes of both sides that are counted together, as if they were text.
PART = 1 << 22


class SeldPart(NamedTuple):
    """Some clips of both sides."""

    clips: tuple[str, ...]  # in alphabetic order
    reference: ClipRows
    prediction: ClipRows
    frames: tuple[int, ...]  # label frames of the recordings, 0 where they are not known
    onsets: tuple[int, ...]  # numbers of the clips whose onsets are compared
    size: int  # bytes of both sides

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when one of its files does."""
        return self.clips, self.reference.stamp, self.prediction.stamp, self.frames, self.onsets

    def portable(self) -> SeldPart:
        """The part as it can go to another process."""
        return self._replace(reference=self.reference.portable(), prediction=self.prediction.portable())


def sampled(clips: Iterable[str], most: int) -> list[str]:
    """At most so many of *clips*, which depend on nothing but their names: one clip more changes one at most."""
    return sorted(sorted(clips, key=lambda clip: (crc32(clip.encode("utf-8", "surrogatepass")), clip))[:most])


def parts(compared: Compared, frames: Mapping[str, int]) -> list[SeldPart]:
    """The clips of both sides, ``PART`` bytes at a time; they depend on nothing but the files.

    *frames* are the label frames of recordings, where they are known.
    """
    reference, prediction, clips, _ = compared
    sizes = reference.sizes, prediction.sizes
    onsets = set(sampled(clips, _ONSETS))

    def size(clip: str) -> int:
        return sum(side.get(clip, 0) for side in sizes)

    return [
        SeldPart(
            tuple(some), reference.some(some), prediction.some(some), tuple(frames.get(clip, 0) for clip in some),
            tuple(number for number, clip in enumerate(some) if clip in onsets), sum(map(size, some)),
        )
        for some in cut(clips, PART, size)
    ]  # fmt: skip


class Way(NamedTuple):
    """How rows are counted: the name of a profile, its thresholds, and the name of a change of the predictions."""

    profile: str
    limits: Thresholds
    change: str = ""


@dataclasses.dataclass(frozen=True)
class Counted:
    """What was counted in a part; parts add up in the order of their clips."""

    pieces: tuple[tuple[Counts, ...], ...]  # of each part and way, by clip and class
    facts: SideFacts = dataclasses.field(default_factory=SideFacts)  # what is notable about the rows
    reference: Faults = dataclasses.field(default_factory=Faults)  # errors
    prediction: Faults = dataclasses.field(default_factory=Faults)  # errors
    lags: Ints = dataclasses.field(default_factory=causes.NO_LAGS.copy)  # how far onsets are apart, over a few clips

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            self.pieces + other.pieces, self.facts + other.facts, joined([self.reference, other.reference]),
            joined([self.prediction, other.prediction]), self.lags + other.lags,
        )  # fmt: skip

    @property
    def counts(self) -> tuple[Counts, ...]:
        """By each way, of all clips."""
        return tuple(map(Counts.joined, zip(*self.pieces, strict=True)))


@dataclasses.dataclass(frozen=True)
class Counting:
    """The work on a part."""

    ways: tuple[Way, ...]  # those with one change measure angles alike; the first is that of the score
    classes: int  # how many the vocabulary has
    early: bool = False  # whether only the beginnings of clips count

    def __call__(self, part: SeldPart) -> Counted:
        """What there is in *part*.

        Raises:
            InvalidData: something in a file is wrong.
            UsageError: a side lacks a field that a profile needs.
        """
        (a, wrong), (b, amiss) = _side(part.reference, part.clips), _side(part.prediction, part.clips)
        if self.early:
            a, b = causes.early(a), causes.early(b)
        profile, limits = profiles.get(self.ways[0].profile), self.ways[0].limits
        if limits.onscreen and any(len(side) and side.onscreen is None for side in (a, b)):
            raise UsageError("--onscreen needs labels and predictions that say what is in the picture")
        frames = np.array(part.frames, dtype=np.int64)
        counts: dict[Way, Counts] = {}
        for change in dict.fromkeys(way.change for way in self.ways):
            ways = [way for way in self.ways if way.change == change]
            changed = causes.named(change).apply(b) if change else b
            thresholds = {profiles.get(way.profile): way.limits for way in ways}
            counts |= zip(ways, count_sides(a, changed, thresholds, self.classes, frames), strict=True)
        ends = -(-horizons(profile, a, b, frames) // profile.unit) * profile.unit
        notable = facts_of(a, b, ends, frames, self.classes, profile.ordered)
        lags = causes.lags(a, b, part.onsets)
        return Counted((tuple(counts[way] for way in self.ways),), notable, wrong, amiss, lags)


def _side(some: ClipRows, clips: Sequence[str]) -> tuple[EventFrames, Faults]:
    table, faults = some.rows()
    index = {clip: number for number, clip in enumerate(clips)}
    return NOTHING if table is None else event_frames(table, index), faults


def count(work: Counting, parts: Sequence[SeldPart], what: str = "scoring") -> Counted:
    """What *work* counts in all *parts*, wherever :func:`seldio.running` says.

    Raises:
        InvalidData, UsageError: see :class:`Counting`.
    """
    counted = each(work, parts, what=what, size=attrgetter("size"), key=attrgetter("stamp"))
    return sum(counted, start=Counted(((Counts.zeros(0, work.classes),) * len(work.ways),)))


#: Clips that changes are tried on.
TRIED = 24
#: How many times as good a score has to become by a shift in time, which onsets tell, and by any other change.
_SHIFTED, _CHANGED = 1.05, 1.5


def probable_cause(
    score: SeldScore, lags: Ints, work: Counting, whole: Sequence[SeldPart], compared: Compared,
    frames: Mapping[str, int],
) -> ProbableCause | None:  # fmt: skip
    """The change that makes the score clearly better, with the F-score that it gives over all clips; None if none does.

    Nothing is tried where the score is not suspicious; else the beginnings of a few clips are scored with every
    change, and all clips with the best one. *work* is how the *whole* was counted, *lags* how far onsets are apart.
    """
    name, least = _best(score, work, compared, frames), _CHANGED
    if name is None and (shift := causes.shift(lags)):
        name, least = f"shift:{shift}", _SHIFTED
    if name is None:
        return None
    changed = dataclasses.replace(work, ways=(work.ways[0]._replace(change=name),))
    counts = count(changed, whole, "scoring again").counts[0]
    new = dataclasses.replace(score, counts=counts).overall["F"]
    return ProbableCause(causes.named(name), new) if new > least * score.overall["F"] else None


def _best(score: SeldScore, work: Counting, compared: Compared, frames: Mapping[str, int]) -> str | None:
    """The change that is best on a sample, if it is clearly better than none."""
    names = causes.suspected(score.profile, score.counts.total())
    if not names:
        return None
    trying = Counting(tuple(work.ways[0]._replace(change=name) for name in ("", *names)), work.classes, early=True)
    sample = parts(compared._replace(clips=sampled(score.clips, TRIED)), frames)
    before, *after = count(trying, sample, "looking for a cause").counts
    best = int(np.argmax([counts.true.sum() for counts in after]))
    return names[best] if causes.clear(names[best], before, after[best]) else None
