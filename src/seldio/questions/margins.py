"""By how much things must differ before a question about the difference has one right answer."""

from __future__ import annotations

import dataclasses
import math
from functools import cache

from seldio.errors import UsageError


@dataclasses.dataclass(frozen=True, slots=True)
class Margins:
    """Differences below these are not asked about; the defaults follow the thresholds that SO-Bench scores by.

    Args:
        azimuth: degrees. Two directions are told apart, by place or as left and right, when farther apart.
        elevation: degrees. Of two sources one is higher when their elevations differ by more.
        metres: of two sources one is closer when their distances differ by more; a source that approaches or
            recedes does so by more; one that keeps its distance varies by no more.
        seconds: around a moment that is asked about, nothing that matters changes for so long before and after;
            of two times one is later when they differ by at least as much.
        shortest: seconds. Shorter events (in the clip, cut at its ends) are not asked about.
        still: degrees. A source that never leaves its mean direction by more stands still.
        moving: degrees. One that leaves it by more has moved; between the two it is not asked about as motion.
        sector: degrees. Nothing nearer than this to the edge of ``front-left`` and the like is called by that
            name, or counts as outside of it.
    """

    azimuth: float = 20.0
    elevation: float = 10.0
    metres: float = 0.5
    seconds: float = 0.5
    shortest: float = 0.3
    still: float = 5.0
    moving: float = 20.0
    sector: float = 5.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"the margin {field.name} is a number from 0 up, not {value!r}")
        if self.sector >= 22.5:
            raise UsageError("the margin sector is below 22.5 degrees: half of what front-left and the like span")
        if self.still > self.moving:
            raise UsageError("the margin still is not above the margin moving")

    @property
    def frames(self) -> int:
        """``seconds`` in label frames, rounded up."""
        return _frames(self.seconds)


@cache
def _frames(seconds: float) -> int:
    return math.ceil(round(seconds * 10, 6))
