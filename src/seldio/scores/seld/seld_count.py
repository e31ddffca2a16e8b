"""What is counted in each part of a comparison, and again with the predictions changed where a score is suspicious."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple
from zlib import crc32

import numpy as np

from seldio.conversion.vetting import Faults, joined
from seldio.engines import cut, each
from seldio.errors import UsageError
from seldio.scores.seld import probable_causes, profiles
from seldio.scores.seld.counts import Counts, Thresholds
from seldio.scores.seld.probable_causes import ProbableCause
from seldio.scores.seld.seld_join import ClipRows, Compared
from seldio.scores.seld.seld_score import SeldScore, horizons, score_sides
from seldio.scores.seld.sides import NOTHING, EventFrames, Ints, SideFacts, event_frames, facts_of

#: Clips whose onsets are looked at.
_LOOKED = 12
#: Bytes of both sides that are counted together, as if they were text.
PART = 1 << 22


class SeldPart(NamedTuple):
    """Some clips of both sides.

    Args:
        clips: their names, in alphabetic order.
        reference: what there is of them.
        prediction: likewise.
        frames: label frames of the recordings, 0 where they are not known.
        looked: numbers of the clips whose onsets are looked at.
        size: bytes of both sides.
    """

    clips: tuple[str, ...]
    reference: ClipRows
    prediction: ClipRows
    frames: tuple[int, ...]
    looked: tuple[int, ...]
    size: int

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when one of its files does."""
        return self.clips, self.reference.stamp, self.prediction.stamp, self.frames, self.looked

    def portable(self) -> SeldPart:
        """The part as it can go to another process."""
        return self._replace(reference=self.reference.portable(), prediction=self.prediction.portable())


@dataclasses.dataclass(frozen=True)
class Counted:
    """What was counted in a part; that of several parts adds up.

    Args:
        counts: by each profile, of each clip and class.
        facts: what is notable about the rows.
        faults: errors of the reference, and of the prediction.
        lags: how far onsets are apart, over a few clips.
    """

    counts: tuple[Counts, ...]
    facts: SideFacts
    faults: tuple[Faults, Faults]
    lags: Ints

    @staticmethod
    def total(parts: Iterable[Counted], ways: int, classes: int) -> Counted:
        """All parts together, their clips one after the other.

        Args:
            parts: in the order of their clips; there may be none.
            ways: how many profiles counted.
            classes: how many they counted.
        """
        no_clips = (Counts.zeros(0, classes),) * ways
        none = Counted(no_clips, SideFacts(), (Faults(), Faults()), probable_causes.lags(NOTHING, NOTHING))
        every = [none, *parts]
        reference, prediction = (joined(part.faults[side] for part in every) for side in (0, 1))
        return Counted(
            tuple(Counts.joined(counts) for counts in zip(*(part.counts for part in every), strict=True)),
            sum((part.facts for part in every), start=SideFacts()),
            (reference, prediction),
            sum((part.lags for part in every[1:]), start=none.lags),
        )


def sampled(clips: Iterable[str], most: int) -> list[str]:
    """At most so many of *clips*, which depend on nothing but their names: one clip more changes one at most."""
    return sorted(sorted(clips, key=lambda clip: (crc32(clip.encode("utf-8", "surrogatepass")), clip))[:most])


def parts(compared: Compared, frames: Mapping[str, int]) -> list[SeldPart]:
    """The clips of both sides, ``PART`` bytes at a time; they depend on nothing but the files.

    Args:
        compared: both sides.
        frames: label frames of recordings, where they are known.
    """
    reference, prediction, clips, _ = compared
    sizes = reference.sizes, prediction.sizes
    looked = set(sampled(clips, _LOOKED))

    def size(clip: str) -> int:
        return sum(each.get(clip, 0) for each in sizes)

    return [
        SeldPart(
            tuple(some), reference.some(some), prediction.some(some), tuple(frames.get(clip, 0) for clip in some),
            tuple(number for number, clip in enumerate(some) if clip in looked), sum(map(size, some)),
        )
        for some in cut(clips, PART, size)
    ]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Counting:
    """The work on a part.

    Args:
        ways: names of profiles that measure angles alike, the first one that of the score, with their thresholds.
        classes: how many the vocabulary has.
        change: of the predictions, by name.
    """

    ways: tuple[tuple[str, Thresholds], ...]
    classes: int
    change: str = ""

    def __call__(self, part: SeldPart) -> Counted:
        """The counts of each clip of *part*.

        Raises:
            InvalidData: something in a file is wrong.
            UsageError: a side lacks a field that a profile needs.
        """
        (a, wrong), (b, amiss) = _sides(part)
        if self.change:
            b = probable_causes.named(self.change).apply(b)
        ways = {profiles.get(name): limits for name, limits in self.ways}
        profile, limits = next(iter(ways.items()))
        if limits.onscreen and any(len(each) and each.onscreen is None for each in (a, b)):
            raise UsageError("--onscreen needs labels and predictions that say what is in the picture")
        frames = np.array(part.frames, dtype=np.int64)
        scores = score_sides(a, b, part.clips, ways, self.classes, frames=frames)
        ends = -(-horizons(profile, a, b, frames) // profile.unit) * profile.unit
        notable = facts_of(a, b, ends, frames, self.classes, profile.ordered)
        return Counted(
            tuple(score.counts for score in scores), notable, (wrong, amiss), probable_causes.lags(a, b, part.looked)
        )


def count(work: Counting, parts: Sequence[SeldPart], what: str = "scoring") -> Counted:
    """What *work* counts in all *parts*, wherever :func:`seldio.running` says.

    Raises:
        InvalidData, UsageError: see :class:`Counting`.
    """
    counted = each(work, parts, what=what, size=attrgetter("size"), key=attrgetter("stamp"))
    return Counted.total(counted, len(work.ways), work.classes)


@dataclasses.dataclass(frozen=True)
class Trying:
    """What changes of the predictions would make of the beginnings of clips.

    Args:
        way: name of the profile, and its thresholds.
        classes: how many the vocabulary has.
        names: of the changes.
    """

    way: tuple[str, Thresholds]
    classes: int
    names: tuple[str, ...]

    def __call__(self, part: SeldPart) -> tuple[Counts, ...]:
        """The counts of each clip of *part*, as it is and by each change."""
        a, b = (probable_causes.early(side) for side, _ in _sides(part))
        ways = {profiles.get(self.way[0]): self.way[1]}
        tried = (b, *(probable_causes.named(name).apply(b) for name in self.names))
        return tuple(score_sides(a, each, part.clips, ways, self.classes)[0].counts for each in tried)


def _sides(part: SeldPart) -> tuple[tuple[EventFrames, Faults], tuple[EventFrames, Faults]]:
    index = {clip: number for number, clip in enumerate(part.clips)}
    return _side(part.reference, index), _side(part.prediction, index)


def _side(some: ClipRows, clips: Mapping[str, int]) -> tuple[EventFrames, Faults]:
    table, faults = some.rows()
    return NOTHING if table is None else event_frames(table, clips), faults


#: Clips that changes are tried on.
_TRIED = 24
#: How many times as good a score has to become by a shift in time, which onsets tell, and by any other change.
_SHIFTED, _CHANGED = 1.05, 1.5


def probable_cause(
    score: SeldScore,
    lags: Ints,
    work: Counting,
    whole: Sequence[SeldPart],
    compared: Compared,
    frames: Mapping[str, int],
) -> ProbableCause | None:
    """The change that makes the score clearly better, with the F-score that it gives over all clips; None if none does.

    Nothing is tried where the score is not suspicious; else the beginnings of a few clips are scored with every
    change, and all clips with the best one.

    Args:
        score: what was found.
        lags: how far onsets are apart, over the clips that were looked at.
        work: how *whole* was counted.
        whole: all clips of both sides.
        compared: both sides.
        frames: label frames of recordings, where they are known.
    """
    name, least = _best(score, work, compared, frames), _CHANGED
    if name is None and (shift := probable_causes.shift(lags)):
        name, least = f"shift:{shift}", _SHIFTED
    if name is None:
        return None
    changed = Counting(work.ways[:1], work.classes, name)
    counts = count(changed, whole, "scoring again").counts[0]
    new, old = (_f(one) for one in (SeldScore(score.profile, score.average, score.clips, counts), score))
    return ProbableCause(probable_causes.named(name), new) if new > least * old else None


def _best(score: SeldScore, work: Counting, compared: Compared, frames: Mapping[str, int]) -> str | None:
    """The change that is best on a sample, if it is clearly better than none."""
    names = probable_causes.suspected(score.profile, score.counts.total())
    if not names:
        return None
    some = parts(compared._replace(clips=sampled(score.clips, _TRIED)), frames)
    trying = Trying(work.ways[0], work.classes, names)
    found = list(each(trying, some, what="looking for a cause", size=attrgetter("size"), key=attrgetter("stamp")))
    before, *after = (Counts.joined(counts) for counts in zip(*found, strict=True))
    best = int(np.argmax([counts.true.sum() for counts in after]))
    return names[best] if probable_causes.clear(names[best], before, after[best]) else None


def _f(score: SeldScore) -> float:
    place = [column.name for column in score.profile.columns].index("F")
    return float(score.values().overall[0, place])
