"""The ways of scoring labels, those of official programs, from the files of datasets."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

from seldio import plugins
from seldio.errors import UsageError
from seldio.reports.tables import Column
from seldio.scores.measures import ANGLE, DISTANCE, ER, LE, LR, ONSCREEN, RELATIVE, SELD, F
from seldio.scores.seld import metrics, pairing
from seldio.scores.seld.metrics import Average, Counts, Thresholds, Values
from seldio.scores.seld.pairing import Measure, Paired
from seldio.text import meant

SELD_2024 = dataclasses.replace(SELD, meaning="mean of 1 - F, AngE / 180 and relative distance error")

#: Twenty degrees and nothing else.
DEFAULT = Thresholds(20.0)
_CLASSIC, _DISTANCE = (ER, F, LE, LR, SELD), (ER, F, ANGLE, DISTANCE, RELATIVE, LR, SELD_2024)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class SeldProfile:
    """One way of scoring."""

    name: str  # what users type
    title: str  # one line for people
    program: str  # what it agrees with
    measure: Measure  # the angular distance
    tally: Callable[[Paired, Thresholds], Counts]  # counts of each segment or frame, from the pairs of rows
    unit: int  # label frames of those
    score: Callable[[Counts, Average], Values]  # from counts and an average to scores by class (macro) or over all
    columns: tuple[Column, ...]  # the scores, in their order
    lead: str = "SELD"  # the score whose test decides which of two systems is better
    averages: tuple[Average, ...] = ("macro", "micro")  # the first is the default
    limits: Thresholds = DEFAULT  # the default ones
    #: which frames count: up to the last labelled one as the program has it, or a fixed number
    horizon: Literal["before-last", "last-second"] | int = "last-second"
    vocabulary: str = "starss"  # of the classes
    misplaced: float = 1.0  # how much a misplaced source weighs in F, where a missed or a spurious one weighs a half
    #: by format of the prediction, what the program makes of it
    misread: Mapping[str, str] = dataclasses.field(default_factory=dict)
    drops: tuple[str, ...] = ()  # formats of a prediction none of whose rows the program reads
    needs: tuple[str, ...] = ()  # fields that both sides must have
    metre: float = 1.0  # units of distance in a metre
    tracks: int = 0  # how many sources of a class a frame can have; 0 for any number
    years: tuple[int, ...] = ()  # of the challenge whose outputs it is for
    #: what the program's own does: it prints the scores without the last file in place of those over all, it fails, or
    #: there is none
    jackknife: Literal["without-last", "fails"] | None = None
    aliases: tuple[str, ...] = ()  # further names

    @property
    def ordered(self) -> bool:
        """Whether it tells references of one class and frame apart by the order of their rows."""
        return self.horizon in ("last-second", 600)

    @property
    def names(self) -> list[str]:
        """The names of the scores."""
        return [column.name for column in self.columns]


#: What a profile may say in its file: the angular distance; what is counted, with its label frames; the scores.
MEASURES = {"spherical": pairing.SPHERICAL, "cartesian": pairing.CARTESIAN, "folded": pairing.FOLDED}
COUNTS = {
    "segments": (metrics.segment_counts, metrics.SECOND),
    "frames": (metrics.frame_counts, 1),
}
SCORES: Mapping[str, tuple[Callable[[Counts, Average], Values], tuple[Column, ...]]] = {
    "classic": (metrics.classic, _CLASSIC),
    "classic-2021": (metrics.classic_2021, _CLASSIC),
    "with-distance": (metrics.with_distance, _DISTANCE),
    "without-distance": (metrics.without_distance, (ER, F, ANGLE, LR, SELD)),
    "stereo": (metrics.stereo, (F, ANGLE, dataclasses.replace(DISTANCE, unit="cm", digits=1), RELATIVE, ONSCREEN)),
}


def _profile(row: Mapping[str, Any]) -> SeldProfile:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    measure, counts, scores = (fields.pop(key) for key in ("measure", "counts", "scores"))
    (tally, unit), (score, columns) = COUNTS[counts], SCORES[scores]
    limits = {key: fields.pop(key) for key in ("distance", "relative") if key in fields}
    fields["limits"] = Thresholds(fields.pop("angle", 20.0), **limits)
    return SeldProfile(measure=MEASURES[measure], tally=tally, unit=unit, score=score, columns=columns, **fields)


PROFILES: tuple[SeldProfile, ...] = tuple(
    _profile(row) for record in plugins.datasets() for row in record.get("profiles", ())
)


def get(name: str) -> SeldProfile:
    """The profile called *name*.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    for profile in PROFILES:
        if name in (profile.name, *profile.aliases):
            return profile
    names = [profile.name for profile in PROFILES]
    close = meant(name, names) or f"; choose from {', '.join(names)}"
    raise UsageError(f"unknown profile {name!r} for labels{close}")
