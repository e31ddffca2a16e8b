"""The ways of scoring: one row for each official program, and the published definition."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Literal

from seldio import plugins
from seldio.errors import UsageError
from seldio.reports.tables import Column
from seldio.scores.measures import ANGLE, DISTANCE, ER, LE, LR, ONSCREEN, RELATIVE, SELD, F
from seldio.scores.seld import corrected, metrics, pairing
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
    #: which frames count: up to the last labelled one as the program has it, a fixed number, or up to the end of the
    #: recording, for which the second of the last labelled frame stands where nobody knows it
    horizon: Literal["before-last", "last-second", "recording"] | int = "last-second"
    vocabulary: str = "starss"  # of the classes
    misplaced: float = 1.0  # how much a misplaced source weighs in F, where a missed or a spurious one weighs a half
    missing: bool = False  # whether a clip without prediction counts as one where nothing was found
    #: by layout of the prediction, what the program makes of it
    misread: Mapping[str, str] = dataclasses.field(default_factory=dict)
    drops: tuple[str, ...] = ()  # layouts of a prediction none of whose rows the program reads
    needs: tuple[str, ...] = ()  # fields that both sides must have
    metre: float = 1.0  # units of distance in a metre
    tracks: int = 0  # how many sources of a class a frame can have; 0 for any number
    years: tuple[int, ...] = ()  # of the challenge whose outputs it is for
    #: what the program's own does: it prints the scores without the last file in place of those over all, it fails, or
    #: there is none
    jackknife: Literal["without-last", "fails"] | None = None
    aliases: tuple[str, ...] = ()  # further names

    @property
    def official(self) -> bool:
        """Whether its scores stand for those of a program."""
        return self.horizon != "recording"

    @property
    def ordered(self) -> bool:
        """Whether it tells references of one class and frame apart by the order of their rows."""
        return self.horizon in ("last-second", 600)

    @property
    def names(self) -> list[str]:
        """The names of the scores."""
        return [column.name for column in self.columns]


_DROPS_FOUR = (
    "the official program creates the frame of a row of four columns and silently drops its source: "
    "it would score F 0 %, ER 1.0, LE 180, LR 0 %"
)
_FAILS = "the official program expects x, y, z in its predictions and ends with IndexError on angles"
_MISREAD_2023 = {
    "dcase2023-submission": _DROPS_FOUR,
    "sony-av-output": _DROPS_FOUR,
    "dcase2019-output": _DROPS_FOUR,
    "starss22": _FAILS,
    "starss23": _FAILS,
    "dcase2024-submission": _FAILS,
}
_MISREAD_2024 = {
    "dcase2024-submission": "the official program reads five columns as frame, class, source, azimuth, elevation: "
    "it would take the azimuth for the source, the elevation for the azimuth and the distance for the elevation",
    "starss23": "the official program reads the distance of a prediction in metres, never in centimetres: "
    "it would find distances a hundred times too long",
    "dcase2023-submission": "the official program finds no distance in four columns and ends with AssertionError",
    "starss22": "the official program finds no distance in five columns and ends with AssertionError",
}

PROFILES: tuple[SeldProfile, ...] = (
    SeldProfile(
        name="dcase2023", years=(2022, 2023),
        title="DCASE 2022 and 2023 Task 3: segments of one second, a threshold of 20 degrees",
        program="seld-dcase2023 at 24d14c9, SELD_evaluation_metrics.py",
        measure=pairing.SPHERICAL, tally=metrics.segment_counts, unit=metrics.SECOND,
        score=metrics.classic, columns=_CLASSIC, misread=_MISREAD_2023, jackknife="without-last",
    ),
    SeldProfile(
        name="dcase2024", years=(2024,),
        title="DCASE 2024 Task 3: frame by frame, 20 degrees and a relative distance error up to 1",
        program="DCASE2024_seld_baseline at 0b07887, SELD_evaluation_metrics.py",
        measure=pairing.CARTESIAN, tally=metrics.frame_counts, unit=1, horizon="before-last",
        score=metrics.with_distance, columns=_DISTANCE, limits=Thresholds(20.0, relative=1.0), needs=("distance",),
        misread=_MISREAD_2024, jackknife="without-last",
    ),
    SeldProfile(
        name="dcase2024-angles", years=(2024,),
        title="DCASE 2024 Task 3 without distances",
        program="DCASE2024_seld_baseline at 0b07887 with evaluate_distance=False",
        measure=pairing.CARTESIAN, tally=metrics.frame_counts, unit=1, horizon="before-last",
        score=metrics.without_distance, columns=(ER, F, ANGLE, LR, SELD), jackknife="without-last",
        misread={"dcase2024-submission": _MISREAD_2024["dcase2024-submission"]},
    ),
    SeldProfile(
        name="dcase2024-segments", years=(2024,),
        title="the segments of 2023 with the angles of 2024: vectors, which are never less than 0.0008 degrees apart",
        program="DCASE2024_seld_baseline at 0b07887 with segment_based_metrics=True",
        measure=pairing.CARTESIAN, tally=metrics.segment_counts, unit=metrics.SECOND,
        score=metrics.classic, columns=_CLASSIC, jackknife="without-last",
    ),
    SeldProfile(
        name="dcase2025", years=(2025,),
        title="DCASE 2025 Task 3, stereo: folded azimuths, a relative distance error up to 1",
        program="DCASE2025_seld_baseline at 42a48b6, metrics.py",
        measure=pairing.FOLDED, tally=metrics.frame_counts, unit=1, tracks=metrics.TRACKS, horizon="before-last",
        score=metrics.stereo, lead="F", limits=Thresholds(20.0, relative=1.0), needs=("distance",), metre=100.0,
        columns=(F, ANGLE, dataclasses.replace(DISTANCE, unit="cm", digits=1), RELATIVE, ONSCREEN), jackknife="fails",
    ),
    SeldProfile(
        name="dcase2022", years=(2022, 2023),
        title="DCASE 2022 Task 3: as dcase2023, by a program that reads rows of five and six columns only",
        program="seld-dcase2022 at c8adb1d, SELD_evaluation_metrics.py",
        measure=pairing.SPHERICAL, tally=metrics.segment_counts, unit=metrics.SECOND,
        score=metrics.classic, columns=_CLASSIC, misread=_MISREAD_2023, drops=("dcase2023-output", "dcase2024-output"),
        jackknife="without-last",
    ),
    SeldProfile(
        name="dcase2021", years=(2021,),
        title="DCASE 2021 Task 3: segments of one second over the first 60 s, all classes pooled",
        program="seld-dcase2021 at f8e09db, metrics/SELD_evaluation_metrics.py",
        measure=pairing.SPHERICAL, tally=metrics.segment_counts, unit=metrics.SECOND, horizon=600,
        score=metrics.classic_2021, columns=_CLASSIC, averages=("micro",), vocabulary="tau-nigens-2021",
        misplaced=0.5,
    ),
    SeldProfile(
        name="corrected", years=(2022, 2023),
        title="the published definition of 2023 without the slips of its program",
        program="the task page of DCASE 2023 Task 3",
        measure=pairing.SPHERICAL, tally=corrected.tally, unit=metrics.SECOND, horizon="recording",
        score=corrected.score, columns=_CLASSIC, missing=True,
    ),
    *plugins.rows("profiles", SeldProfile),
)  # fmt: skip


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
