"""A layout where the content does not tell it: what the files are wanted for speaks for one of those left."""

from __future__ import annotations

import dataclasses
import re

from seldio.findings import Finding, Severity, Sink
from seldio.formats.base import Format, Role
from seldio.formats.detect import FEW, MARGIN, Candidate, Detection, means_the_same
from seldio.formats.label_csv import Dialect

#: The finding that a layout is likely and not certain.
CHOSEN = "SYN902"
#: Years after which a layout is of another time.
ERA = 3
_NEVER = 10_000


def years(format: Format) -> tuple[int, ...]:
    """The years of the challenge that a layout is of."""
    return () if format.years.startswith("since") else tuple(map(int, re.findall(r"\d{4}", format.years)))


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What files are likely to be.

    Args:
        roles: labels, or what systems write.
        years: of the challenge.
    """

    roles: tuple[Role, ...]
    years: tuple[int, ...]

    def rank(self, format: Format) -> tuple[bool, int]:
        """How well a layout fits, the role before the year; more is better."""
        return format.role in self.roles, -self.apart(format)

    def apart(self, format: Format) -> int:
        """Years between a layout and those wanted; many for one that is of no year."""
        return min((abs(one - other) for one in years(format) for other in self.years), default=_NEVER)


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a group of files is read as, in view of what they are wanted for.

    Args:
        detection: with the layout, if there is one.
        others: layouts of another meaning that were left as well, where it was not the content that decided.
    """

    detection: Detection
    others: tuple[Dialect, ...] = ()

    def tell(self, path: str, sink: Sink) -> None:
        """Say that there was a choice."""
        if self.detection.format is not None and self.others:
            names = " or ".join(dict.fromkeys(other.name for other in self.others))
            message = f"read as {self.detection.format.name}; its content could be {names} as well"
            hint = f"if it is, say --format {self.others[0].name}"
            sink(Finding(CHOSEN, Severity.INFO, message, path, 1, hint=hint))


def wished(found: Detection, wanted: Wanted) -> Wish:
    """The layout that fits *wanted* best among those that the content does not rule out.

    Where the content decides, that stands, unless it is for a layout of another time, another one is not far behind
    and nothing speaks against that on the whole: outputs whose directions happen to lie on the grid of 2019. A layout
    that fits no better than another one of another meaning is not chosen.
    """
    left = _left(found, wanted)
    if not left:
        return Wish(found)
    best = max(left, key=lambda one: (wanted.rank(one.format), one.points))
    others = [one for one in left if not means_the_same(one.format, best.format)]
    if best.format == found.format or any(_equal(wanted, one, best) for one in others):
        return Wish(found)
    candidates = (best, *(one for one in left if one is not best))
    done = dataclasses.replace(found, format=best.format, candidates=candidates)
    return Wish(done, tuple(one.format for one in others))


def offered(found: Detection, wanted: Wanted | None) -> tuple[Candidate, ...]:
    """The layouts to name where nothing decides: no outputs for labels, and outputs first for what systems write."""
    if wanted is None:
        return found.candidates
    if "label" in wanted.roles:
        return tuple(one for one in found.candidates if one.format.role in wanted.roles) or found.candidates
    return tuple(sorted(found.possible or found.candidates, key=lambda one: one.format.role not in wanted.roles))


def _left(found: Detection, wanted: Wanted) -> list[Candidate]:
    """The layouts that the content does not rule out, the likeliest first."""
    if not found.possible:
        return []
    first, *rest = found.possible
    reach = (4 if found.format is not None and found.sample.rows < FEW else 2) * MARGIN
    near = [one for one in rest if one.points > first.points - reach]
    if found.format is not None:
        near = [one for one in near if one.points >= 0 and _nearer(wanted, one.format, found.format)]
    return [first, *near]


def _nearer(wanted: Wanted, one: Format, other: Format) -> bool:
    """Whether *one* is of the same class list or time as what is wanted, and *other* of another."""
    return means_the_same(one, other) or wanted.apart(one) + ERA <= wanted.apart(other)


def _equal(wanted: Wanted, one: Candidate, best: Candidate) -> bool:
    return wanted.rank(one.format) == wanted.rank(best.format) and one.points > best.points - MARGIN
