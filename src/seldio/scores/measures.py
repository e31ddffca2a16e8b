"""The measures of labels that the programs of DCASE Task 3 print, as columns of tables."""

from __future__ import annotations

import dataclasses

from seldio.reports.tables import Column

ER = Column(
    "ER", "ER", "", 3, "lower", "location-dependent error rate of all classes together: (S + D + I) over references"
)
F = Column("F", "F", "%", 1, "higher", "location-dependent F-score")
LE = Column("LE", "LE", "°", 1, "lower", "class-dependent localization error, over matched pairs near and far")
LR = Column("LR", "LR", "%", 1, "higher", "class-dependent localization recall")
SELD = Column("SELD", "SELD", "", 3, "lower", "mean of ER, 1 - F, LE / 180 and 1 - LR")
ANGLE = dataclasses.replace(LE, name="AngE", title="AngE", meaning="angular error over matched pairs")
DISTANCE = Column("DistE", "DistE", "m", 2, "lower", "distance error over matched pairs")
RELATIVE = Column("RelDistE", "RDE", "%", 1, "lower", "distance error relative to the distance")
ONSCREEN = Column("OnscreenAcc", "onscreen", "%", 1, "higher", "pairs that agree on being on screen")
