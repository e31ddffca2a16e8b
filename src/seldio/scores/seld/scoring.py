"""One system against its reference: counts, scores, and intervals by leaving out one clip at a time."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from scipy.special import stdtrit

from seldio.errors import UsageError
from seldio.scores.seld.counts import Counts, Thresholds, per_clip
from seldio.scores.seld.official import Average, Values, nanmean, ten_tracks
from seldio.scores.seld.pairing import paired
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.rows import EventFrames, Floats, Ints, event_frames

_ROOM = re.compile(r"room(\d+)")


@dataclasses.dataclass(frozen=True)
class SeldScore:
    """Counts of every clip, with what is needed to make scores of any part of them.

    Args:
        profile: how they were counted.
        average: of the scores.
        clips: names, in the order of the counts.
        counts: of each clip and class.
    """

    profile: SeldProfile
    average: Average
    clips: tuple[str, ...]
    counts: Counts

    @property
    def rooms(self) -> dict[str, list[int]]:
        """The clips of each room by number; the official program looks at the first digit only."""
        rooms: dict[int, list[int]] = {}
        for number, clip in enumerate(self.clips):
            if match := _ROOM.search(clip):
                rooms.setdefault(int(match.group(1)), []).append(number)
        return {f"room {room}": rooms[room] for room in sorted(rooms)}

    @property
    def overall(self) -> dict[str, float]:
        """The scores over all clips by name; NaN where there is no clip."""
        return dict(zip(self.profile.names, self.values().overall[0].tolist(), strict=True))

    def values(self) -> Values:
        """The scores over all clips, as one set; NaN over no clips."""
        values = self.profile.score(self.counts.total(), self.average)
        return values if len(self.counts) else values.undefined()

    def present(self, counts: Counts) -> Floats:
        """The overall scores of some *counts*, with means over the classes that have references; NaN where none has.

        A mean over all classes is lower the fewer of them a clip has, which says nothing about the clip.
        """
        values = self.profile.score(counts, self.average)
        overall = values.overall.copy()
        if values.by_class is not None and self.profile.official:
            there = counts.references > 0
            overall = nanmean(np.where(there[:, None, :], values.by_class, np.nan), 2)
        overall[counts.references.sum(axis=1) == 0] = np.nan
        return overall

    def jackknife(self) -> tuple[Values, Values]:
        """The lower and upper ends of the 95 % confidence intervals, shapes as in :meth:`values`."""
        whole, without = self.values(), self.left_out()
        low, high = intervals(whole.overall[0], without.overall)
        if whole.by_class is None or without.by_class is None:
            return Values(low[None]), Values(high[None])
        by_class = intervals(whole.by_class[0], without.by_class)
        return Values(low[None], by_class[0][None]), Values(high[None], by_class[1][None])

    def left_out(self) -> Values:
        """The scores over all clips but one, for each one."""
        return self.profile.score(self.counts.without_each(), self.average)


def score_tables(
    reference: pa.Table, prediction: pa.Table, clips: Sequence[str], profile: SeldProfile, *, classes: int,
    average: Average | None = None, limits: Thresholds | None = None, frames: Mapping[str, int] | None = None,
) -> SeldScore:  # fmt: skip
    """Score the rows about *clips*.

    Args:
        reference: an event table; rows of one frame in the order of their file, where ties depend on it.
        prediction: likewise, of any layout: angles or x, y, z; distances in metres.
        clips: what is scored; a clip without predicted rows is one where nothing was found.
        profile: how.
        classes: how many the vocabulary has.
        average: by class (macro) or over all (micro); the profile's first by default.
        limits: thresholds; those of the profile by default.
        frames: label frames of recordings, where they are known; only ``corrected`` looks at them.

    Raises:
        UsageError: a side lacks a field that the profile needs.
    """
    known = np.array([(frames or {}).get(clip, 0) for clip in clips], dtype=np.int64)
    index = {clip: number for number, clip in enumerate(clips)}
    sides = event_frames(reference, index), event_frames(prediction, index)
    (counts,) = count_sides(*sides, {profile: limits or profile.limits}, classes, known)
    return SeldScore(profile, average or profile.averages[0], tuple(clips), counts)


def count_sides(
    reference: EventFrames, prediction: EventFrames, limits: Mapping[SeldProfile, Thresholds], classes: int,
    frames: Ints,
) -> list[Counts]:  # fmt: skip
    """Counts of each clip by several profiles that measure angles alike: rows are paired once for all of them.

    Args:
        reference: rows about clips.
        prediction: likewise.
        limits: thresholds of each profile.
        classes: how many the vocabulary has.
        frames: label frames of each recording, 0 where it is not known.

    Raises:
        UsageError: a side lacks a field that a profile needs.
    """
    first = next(iter(limits))
    assert all(profile.measure is first.measure for profile in limits)
    a, b = _fit(reference, first, "the reference"), _fit(prediction, first, "the prediction")
    units = {profile: -(-horizons(profile, a, b, frames) // profile.unit) for profile in limits}
    step = max(profile.unit for profile in limits)
    lengths = np.max([-(-units[profile] * profile.unit // step) * step for profile in limits], axis=0)
    parts: dict[SeldProfile, list[Counts]] = {profile: [Counts.zeros(0, classes)] for profile in limits}
    for group in paired(a, b, lengths, classes, first.measure):
        for profile, thresholds in limits.items():
            counted = units[profile][group.clips]
            parts[profile].append(per_clip(profile.tally(group, thresholds), group.lengths // profile.unit, counted))
    return [Counts.joined(found) for found in parts.values()]


def _fit(given: EventFrames, profile: SeldProfile, name: str) -> EventFrames:
    """*given* with what the profile needs, distances in its unit.

    Raises:
        UsageError: a field is not there.
    """
    for field in profile.needs if len(given) else ():
        values = getattr(given, field)
        if values is None or np.isnan(values).any():
            lacking = "no" if values is None else "not in every row a"
            raise UsageError(f"{profile.name} needs {field}, and {name} has {lacking} {field}")
    if profile.tracks:
        given = ten_tracks(given)
    if profile.metre == 1 or given.distance is None:
        return given
    # the number that was written, where reading it divided it (0.29 m are 29 cm)
    scaled = given.distance * profile.metre
    written = np.round(scaled, 6)
    return dataclasses.replace(given, distance=np.where(written / profile.metre == given.distance, written, scaled))


def horizons(profile: SeldProfile, reference: EventFrames, prediction: EventFrames, frames: Ints) -> Ints:
    """The label frames of each clip that count; *frames* are those of the recordings, 0 where they are not known."""
    clips = len(frames)
    if isinstance(profile.horizon, int):
        return np.full(clips, profile.horizon, dtype=np.int64)
    last = _last(reference, clips)
    if profile.horizon == "recording":
        labelled = -(-(last + 1) // profile.unit) * profile.unit
        # nothing tells how long a clip without labels is
        unknown = np.where(last < 0, _last(prediction, clips) + 1, labelled)
        return np.where(frames > 0, np.maximum(frames, last + 1), unknown)
    return np.maximum(last, 0)


def _last(given: EventFrames, clips: int) -> Ints:
    """The last frame of each clip; -1 where it has none."""
    last = np.full(clips, -1, dtype=np.int64)
    np.maximum.at(last, given.clip, given.frame)
    return last


def intervals(whole: Floats, without: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The lower and upper end for each score.

    The jackknife estimate ``n * whole - (n - 1) * mean``, give or take Student's t with n - 1 degrees of freedom
    times the standard error ``sqrt((n - 1) / n * sum((without - mean) ** 2))``.

    Args:
        whole: scores over all clips, any shape.
        without: scores without each of the n clips, shape [n, ...].
        confidence: share of the distribution between the ends.

    Returns:
        Both ends, shape of *whole*; NaN where a score is not defined, or there is but one clip.
    """
    count = len(without)
    if count < 2:
        return np.full(whole.shape, np.nan), np.full(whole.shape, np.nan)
    mean = without.mean(axis=0)
    estimate = whole - (count - 1) * (mean - whole)
    error = np.sqrt((count - 1) * ((without - mean) ** 2).mean(axis=0))
    reach = stdtrit(count - 1, 1 - (1 - confidence) / 2) * error
    return estimate - reach, estimate + reach
