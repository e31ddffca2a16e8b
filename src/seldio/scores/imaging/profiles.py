"""The versions of the program of DCASE 2026 Task 3, one row each: published numbers come from all of them."""

from __future__ import annotations

import dataclasses
from typing import Literal

from seldio.errors import UsageError
from seldio.text import meant

#: How the program pairs files: a prediction and a label of the clip ``X``; what the first version called predictions,
#: for which it finds no label, so that it leaves them out; and the bytes of a file of predictions at which it ends.
PREDICTION, LABEL, SKIPPED, LARGEST = "X.json", "X_std.json", "X_inference.json", 20 << 20
#: Mean over the classes that have labels, or one list of all detections.
Average = Literal["macro", "micro"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImagingProfile:
    """One version of the program."""

    name: str  # what users type
    title: str  # one line for people
    program: str  # what it agrees with
    changed: str  # what it does differently from the version before it
    #: at which overlap (IoU) a pair counts as a detection
    thresholds: tuple[float, ...]
    #: whether a class with labels and without any detection has AP 0; the mean leaves it out if not
    undetected: bool = True
    lead: str = "mAP"  # the score whose test decides which of two systems is better
    averages: tuple[Average, ...] = ("macro", "micro")  # the first is the default
    vocabulary: str = "starss"  # of the classes
    years: tuple[int, ...] = (2026,)  # of the challenge whose outputs it is for

    @property
    def names(self) -> list[str]:
        """The names of the scores: ``AP50`` is AP at an IoU of 0.50."""
        aps = [threshold_name(value) for value in self.thresholds]
        return ["mAP", *aps, "r"]


def threshold_name(threshold: float) -> str:
    """``AP50`` for 0.5."""
    return f"AP{round(100 * threshold):02d}"


_REPOSITORY = "DCASE2026_Task3_SAISELD_baseline"
#: 0.50, 0.55, … 0.95
_COCO = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
_THREE = (0.25, 0.5, 0.75)

PROFILES: tuple[ImagingProfile, ...] = (
    ImagingProfile(
        name="dcase2026", title="DCASE 2026 Task 3: AP of energy maps at IoU 0.25, 0.50 and 0.75, and Pearson r",
        program=f"{_REPOSITORY} at d4df662 (30 June 2026), evaluate.py", thresholds=_THREE,
        changed="a class with labels and without detections has AP 0, and counts in the mean over classes",
    ),
    ImagingProfile(
        name="dcase2026-0528", title="the version of 28 May: classes without detections are left out of the mean",
        program=f"{_REPOSITORY} at d47b751 (28 May 2026), evaluate.py", thresholds=_THREE, undetected=False,
        changed="thresholds are 0.25, 0.50 and 0.75",
    ),
    ImagingProfile(
        name="dcase2026-0518", title="the version of 18 May: thresholds from 0.50 to 0.95",
        program=f"{_REPOSITORY} at 2bbbe41 (18 May 2026), evaluate.py", thresholds=_COCO, undetected=False,
        changed="maps are interpolated and compared as they are, Pearson r is over the label, distance is not scored",
    ),
)  # fmt: skip


def get(name: str) -> ImagingProfile:
    """Return the profile called *name*.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    for profile in PROFILES:
        if name == profile.name:
            return profile
    names = [profile.name for profile in PROFILES]
    close = meant(name, names) or f"; choose from {', '.join(names)}"
    raise UsageError(f"unknown profile {name!r} for energy maps{close}")
