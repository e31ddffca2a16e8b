"""How our lab scores: every frame by itself, and half the threshold of the challenge."""

from __future__ import annotations

from seldio.scores.seld import metrics, pairing
from seldio.scores.seld.metrics import Thresholds
from seldio.scores.seld.profiles import ANGLE, ER, LR, SELD, F, SeldProfile

PROFILES = (
    SeldProfile(
        name="lab2027",
        title="our lab: frame by frame, a threshold of 10 degrees",
        program="none: it is our own",
        measure=pairing.SPHERICAL,
        tally=metrics.frame_counts,
        unit=1,
        score=metrics.without_distance,
        columns=(ER, F, ANGLE, LR, SELD),
        limits=Thresholds(10.0),
        horizon="recording",
        vocabulary="lab2027",
    ),
)
