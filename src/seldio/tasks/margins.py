"""By how much things must differ before a question about the difference has one right answer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from seldio.errors import UsageError
from seldio.text import clipped

_UNITS: Mapping[str, str] = {
    "azimuth": "degrees", "elevation": "degrees", "metres": "metres", "seconds": "seconds", "shortest": "seconds",
    "still": "degrees", "moving": "degrees", "sector": "degrees",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Margins:
    """Differences below these are not asked about; the defaults follow the thresholds that SO-Bench scores by.

    Angles are degrees, distances metres, times seconds; ``frames`` is ``seconds`` in label frames, rounded up.

    Args:
        azimuth: two directions count as different, by place or as left and right, if they are farther apart.
        elevation: one of two sources is higher if their elevations differ by more.
        metres: one of two sources is closer if their distances differ by more; a source that approaches or recedes does
            so by more; one that keeps its distance varies by no more.
        seconds: nothing that matters changes for this long before and after a moment that is asked about; one of two
            times is later if they differ by at least this much.
        shortest: shorter events (within the clip, cut at its ends) are not asked about.
        still: a source that never leaves its mean direction by more is stationary.
        moving: a source that leaves its mean direction by more has moved; in between its motion is not asked about.
        sector: a direction closer to the edge of front-left, left and so on is neither called by that name nor counted
            as outside of it.
    """

    azimuth: float = 20.0
    elevation: float = 10.0
    metres: float = 0.5
    seconds: float = 0.5
    shortest: float = 0.3
    still: float = 5.0
    moving: float = 20.0
    sector: float = 5.0
    frames: int = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, unit in _UNITS.items():
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"the margin {name} is a number of {unit} from 0 up, not {value!r}")
            if unit == "degrees" and value >= 180:
                raise UsageError(f"the margin {name} is below 180 degrees, not {value!r}")
        if self.sector >= 22.5:
            raise UsageError("the margin sector is below 22.5 degrees: half of what front-left and the like span")
        if self.still > self.moving:
            raise UsageError(f"the margin still ({self.still:g}) is not above the margin moving ({self.moving:g})")
        object.__setattr__(self, "frames", math.ceil(round(self.seconds * 10, 6)))


#: The margins where none are given.
DEFAULTS = Margins()


def margins_of(values: Mapping[str, float]) -> Margins:
    """The margins with these *values* by name, and the defaults of the others."""
    for name in values:
        if name not in _UNITS:
            raise UsageError(f"unknown margin {clipped(name)}; choose from {', '.join(_UNITS)}")
    return Margins(**values)
