"""By how much things must differ before a question about the difference has one right answer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache

from seldio.errors import UsageError
from seldio.text import clipped


def _margin(default: float, unit: str, meaning: str) -> float:
    """A field with its unit and meaning, which the help and the documentation show."""
    value: float = dataclasses.field(default=default, metadata={"unit": unit, "meaning": meaning})
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Margins:
    """Differences below these are not asked about; the defaults follow the thresholds that SO-Bench scores by.

    Each field's ``metadata`` has its ``unit`` and its ``meaning``; ``seldio convert --help`` lists them all.
    Angles are degrees, distances metres, times seconds.
    """

    azimuth: float = _margin(
        20.0, "degrees", "two directions are told apart, by place or as left and right, when farther apart"
    )
    elevation: float = _margin(10.0, "degrees", "of two sources one is higher when their elevations differ by more")
    metres: float = _margin(
        0.5, "metres", "of two sources one is closer when their distances differ by more; a source that approaches or "
        "recedes does so by more; one that keeps its distance varies by no more",
    )  # fmt: skip
    seconds: float = _margin(
        0.5, "seconds", "around a moment that is asked about, nothing that matters changes for so long before and "
        "after; of two times one is later when they differ by at least as much",
    )  # fmt: skip
    shortest: float = _margin(0.3, "seconds", "shorter events (in the clip, cut at its ends) are not asked about")
    still: float = _margin(5.0, "degrees", "a source that never leaves its mean direction by more stands still")
    moving: float = _margin(
        20.0, "degrees", "one that leaves it by more has moved; between the two it is not asked about as motion"
    )
    sector: float = _margin(
        5.0, "degrees", "nothing nearer than this to the edge of front-left and the like is called by that name, or "
        "counts as outside of it",
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


def margins_of(values: Mapping[str, float]) -> Margins:
    """The margins with these *values* by name, and the defaults of the others."""
    names = [field.name for field in dataclasses.fields(Margins)]
    for name in values:
        if name not in names:
            raise UsageError(f"no margin {clipped(name)}; there are {', '.join(names)}")
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
