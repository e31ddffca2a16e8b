"""By how much things must differ before a question about the difference has one right answer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache

from seldio.errors import UsageError
from seldio.text import clipped


def _margin(default: float, unit: str, meaning: str) -> float:
    value: float = dataclasses.field(default=default, metadata={"unit": unit, "meaning": meaning})
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Margins:
    """Differences below these are not asked about; the defaults follow the thresholds that SO-Bench scores by.

    Each field's ``metadata`` has its ``unit`` and its ``meaning``; ``seldio convert --help`` lists them all.
    Angles are degrees, distances metres, times seconds.
    """

    azimuth: float = _margin(
        20.0, "degrees",
        "two directions count as different, by place or as left and right, if they are farther "
        "apart than this",
    )  # fmt: skip
    elevation: float = _margin(
        10.0, "degrees",
        "one of two sources is higher if their elevations differ by more",
    )  # fmt: skip
    metres: float = _margin(
        0.5, "metres",
        "one of two sources is closer if their distances differ by more; a source that approaches "
        "or recedes does so by more; one that keeps its distance varies by no more",
    )  # fmt: skip
    seconds: float = _margin(
        0.5, "seconds",
        "nothing that matters changes for this long before and after a moment that is asked "
        "about; one of two times is later if they differ by at least this much",
    )  # fmt: skip
    shortest: float = _margin(
        0.3, "seconds",
        "shorter events (within the clip, cut at its ends) are not asked about",
    )  # fmt: skip
    still: float = _margin(
        5.0, "degrees",
        "a source that never leaves its mean direction by more is stationary",
    )  # fmt: skip
    moving: float = _margin(
        20.0, "degrees",
        "a source that leaves its mean direction by more has moved; between the two it is not "
        "asked about as motion",
    )  # fmt: skip
    sector: float = _margin(
        5.0, "degrees",
        "a direction closer than this to the edge of front-left, left and so on is neither called "
        "by that name nor counted as outside of it",
    )  # fmt: skip

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(
                    f"the margin {field.name} is a number of {field.metadata['unit']} from 0 up, not {value!r}"
                )
            if field.metadata["unit"] == "degrees" and value >= 180:
                raise UsageError(f"the margin {field.name} is below 180 degrees, not {value!r}")
        if self.sector >= 22.5:
            raise UsageError("the margin sector is below 22.5 degrees: half of what front-left and the like span")
        if self.still > self.moving:
            raise UsageError(f"the margin still ({self.still:g}) is not above the margin moving ({self.moving:g})")

    @property
    def frames(self) -> int:
        """``seconds`` in label frames, rounded up."""
        return _frames(self.seconds)


#: The margins where none are given.
DEFAULTS = Margins()


def margins_of(values: Mapping[str, float]) -> Margins:
    """The margins with these *values* by name, and the defaults of the others."""
    names = [field.name for field in dataclasses.fields(Margins)]
    for name in values:
        if name not in names:
            raise UsageError(f"unknown margin {clipped(name)}; choose from {', '.join(names)}")
    return Margins(**values)


def listing() -> list[tuple[str, str, str]]:
    """Name, default with its unit, and meaning of each margin."""
    return [
        (field.name, f"{field.default:g} {field.metadata['unit']}", field.metadata["meaning"])
        for field in dataclasses.fields(Margins)
    ]


@cache
def _frames(seconds: float) -> int:
    return math.ceil(round(seconds * 10, 6))
