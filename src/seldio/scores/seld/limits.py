"""Thresholds of what is well placed."""

from __future__ import annotations

import dataclasses

import numpy as np

#: Degrees within which an error is at the threshold: more than rounding, and than the shortened vectors of 2024.
EDGE = 1e-6


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """What a matched prediction must not exceed to be well placed.

    Args:
        angle: degrees.
        distance: metres.
        relative: distance error over the distance of the reference.
        onscreen: whether both must agree on being in the picture.
    """

    angle: float
    distance: float = np.inf
    relative: float = np.inf
    onscreen: bool = False
