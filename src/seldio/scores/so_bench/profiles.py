"""The protocols by which SO-Bench has been scored, as data: thresholds and policies."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, get_args

from seldio.errors import UsageError

SourceTime = Literal["event_only", "event_times_iou"]
SpanPolicy = Literal["semantic_only", "semantic_times_iou"]
_POLICIES: dict[str, tuple[str, ...]] = {"source_time": get_args(SourceTime), "span_policy": get_args(SpanPolicy)}


#: The limits of a profile that users may change, by name.
THRESHOLDS = ("azimuth", "elevation", "distance", "onset", "wer")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswerProfile:
    """One way of scoring; every threshold is met by an error equal to it."""

    name: str  # what users type
    title: str  # one line for people
    program: str  # what it agrees with
    azimuth: float = 20.0  # greatest angle between two azimuths, degrees, by the shorter way round
    elevation: float = 10.0  # greatest difference of two elevations, degrees
    distance: float = 1.0  # greatest error of a distance, in metres, or in shares of the true one where *relative*
    relative: bool = False  # whether the error of a distance is divided by the true distance
    onset: float = 0.2  # greatest error of an onset, seconds
    wer: float = 0.5  # greatest word error rate of a transcript
    source_time: SourceTime = "event_only"  # whether detect_source also counts the overlap of the intervals
    span_policy: SpanPolicy = "semantic_times_iou"  # whether spatial_temporal does
    broader: bool = False  # whether a broader name of a sound (``vehicle`` for ``bus``) is right
    known_faults: tuple[str, ...] = ()  # what the program does that its users do not expect
    departures: str = ""  # what of the program is not followed

    def changed(self, **values: Any) -> AnswerProfile:
        """The profile with other thresholds or policies; None keeps its own.

        Raises:
            UsageError: a threshold that is not a finite number of at least 0, or a policy that does not exist.
        """
        given = {name: value for name, value in values.items() if value is not None}
        for name, value in given.items():
            if name in THRESHOLDS and not 0 <= value < math.inf:
                raise UsageError(f"the {name} threshold is {value}; it is a number from 0 up")
            if value not in _POLICIES.get(name, (value,)):
                raise UsageError(f"unknown {name} {value!r}; choose from {', '.join(_POLICIES[name])}")
        return dataclasses.replace(self, **given) if given else self

    def settings(self) -> dict[str, str | float | bool]:
        """What shapes the numbers, by name."""
        return {
            "azimuth": self.azimuth,
            "elevation": self.elevation,
            "distance": self.distance,
            "relative_distance": self.relative,
            "onset": self.onset,
            "wer": self.wer,
            "source_time": self.source_time,
            "span_policy": self.span_policy,
            "broader": self.broader,
            "program": self.program,
        }


_FAULTS = (
    "thresholds are compared without rounding: an onset of 2.2 s for 2.0 s is 0.2000000000000002 s away and wrong",
    "an elevation that the judge did not give is read from its azimuth",
    "the judge sees the right answer while it reads numbers out of the prediction",
    "a count is cut off, so that 2.7 counts as 2",
    "predictions that are missing are left out of the mean",
    "a judgement whose source_match and source_match_level contradict each other counts as right",
)

PROFILES: tuple[AnswerProfile, ...] = (
    AnswerProfile(
        name="so-bench",
        title="SO-Bench as its card and its scorer have it: 20° azimuth, 10° elevation, 1.0 m, 0.2 s",
        program="Spatial-Omni at f57669d and the dataset card, score_sobench.py",
        known_faults=_FAULTS,
    ),
    AnswerProfile(
        name="so-bench-paper",
        title="SO-Bench as Appendix D of its paper has it: 20° azimuth, 10° elevation, 0.5 m, 0.4 s",
        program="arXiv 2606.10738, Appendix D",
        distance=0.5,
        onset=0.4,
        known_faults=_FAULTS,
    ),
    AnswerProfile(
        name="so-bench-legacy",
        title="SO-Bench with the limits of the first scorer: 20° azimuth, 10° elevation, 30 % of the distance, 0.4 s",
        program="Spatial-Omni at f57669d, score_test_predictions.py, its thresholds",
        distance=0.3,
        relative=True,
        onset=0.4,
        known_faults=_FAULTS,
        departures="the first scorer reads answers with patterns of its own, scores detect_source by the F1 of "
        "events at an IoU of 0.5, and gives part of a point in spatial_temporal; here only its thresholds hold",
    ),
)


def get(name: str) -> AnswerProfile:
    """The profile called *name*.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    for profile in PROFILES:
        if profile.name == name:
            return profile
    raise UsageError(f"unknown profile {name!r} for SO-Bench; choose from {', '.join(each.name for each in PROFILES)}")
