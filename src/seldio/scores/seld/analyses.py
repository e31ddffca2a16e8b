"""What can be measured next to a score: where errors come from, whole events, and tracks.

Each is counted in the same pass over the parts of both sides as the score, in sums that add up, and ends in tables and
notices of its own; no official number depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from seldio.reports.tables import Notice, Table
from seldio.scores.seld import error_tables, event_scores, mistakes, tracking
from seldio.scores.seld.clip_sums import ClipSums
from seldio.scores.seld.metrics import Thresholds
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.rows import EventFrames, Ints
from seldio.scores.seld.scoring import SeldScore


class Asked(NamedTuple):
    """Which analyses are wanted, and how."""

    names: tuple[str, ...] = ()
    collar: float = event_scores.COLLAR  # seconds
    offset_share: float = event_scores.SHARE


#: No analysis at all.
NO_ANALYSIS = Asked()


class Sides(NamedTuple):
    """What an analysis looks at: some clips of both sides, and how they are scored."""

    reference: EventFrames
    prediction: EventFrames
    clips: Sequence[str]  # names
    frames: Ints  # label frames of the recordings, 0 where they are not known
    profile: SeldProfile
    limits: Thresholds
    classes: int  # how many the vocabulary has
    asked: Asked


class Shown(NamedTuple):
    """What the tables of an analysis go by."""

    score: SeldScore
    limits: Thresholds
    labels: Sequence[str]  # name of each class
    asked: Asked


class Beside(NamedTuple):
    """What was measured next to a score."""

    tables: tuple[Table, ...]
    notices: tuple[Notice, ...]
    settings: Mapping[str, float] = MappingProxyType({})  # options that shape the numbers
    levels: tuple[ClipSums, ...] = ()  # scores that can be resampled, by each way to tell events apart
    level: int = 0  # the one that counts


class Analysis(NamedTuple):
    """A row of the table."""

    name: str  # the option
    count: Callable[[Sides], Any]  # sums of a part, which add up
    finish: Callable[[Any, Shown], Beside]  # of the sums of all parts; raises UsageError where the data does not do


def _errors(sums: mistakes.Mistakes, shown: Shown) -> Beside:
    found = error_tables.tables(shown.score, sums, shown.limits, shown.labels)
    return Beside(tuple(found), tuple(error_tables.notices(shown.score, sums)))


def _events(sums: event_scores.EventCounts, shown: Shown) -> Beside:
    asked = shown.asked
    found = event_scores.tables(sums, shown.labels, asked.collar, asked.offset_share, shown.limits.angle)
    settings = {"collar": asked.collar, "offset_share": asked.offset_share}
    levels = tuple(event_scores.clip_sums(sums, level) for level in range(2))
    return Beside(tuple(found), tuple(event_scores.notices(sums)), settings, levels, sums.level)


def _tracks(sums: tracking.TrackCounts, shown: Shown) -> Beside:
    tracking.checked(sums)
    found = tracking.tables(sums, shown.labels, shown.limits.angle)
    return Beside(tuple(found), tuple(tracking.notices(sums)), levels=(tracking.clip_sums(sums),))


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "errors",
        lambda sides: mistakes.count(
            sides.reference, sides.prediction, sides.profile, sides.limits, sides.classes, sides.frames
        ),
        _errors,
    ),
    Analysis(
        "events",
        lambda sides: event_scores.count(
            sides.reference, sides.prediction, sides.profile.measure, sides.limits.angle, sides.classes,
            sides.asked.collar, sides.asked.offset_share, len(sides.clips),
        ),
        _events,
    ),
    Analysis(
        "tracks",
        lambda sides: tracking.count(
            sides.reference, sides.prediction, sides.clips, sides.profile.measure, sides.limits.angle, sides.classes
        ),
        _tracks,
    ),
)  # fmt: skip


def wanted(asked: Asked) -> list[Analysis]:
    """The analyses that are asked for, in the order of their tables."""
    return [analysis for analysis in ANALYSES if analysis.name in asked.names]


def finished(sums: Sequence[Any], shown: Shown) -> tuple[Beside, ...]:
    """What the sums of the analyses that were asked for end in.

    Raises:
        UsageError: the data does not allow one of them.
    """
    return tuple(analysis.finish(some, shown) for analysis, some in zip(wanted(shown.asked), sums, strict=True))
