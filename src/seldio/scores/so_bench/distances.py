"""The distance in a plain text, metres."""

from __future__ import annotations

import re
from itertools import pairwise

from seldio.scores.so_bench.fields import owners
from seldio.scores.so_bench.quantities import Quantity, joined, only, quantities

#: Behind a distance along one direction, of which there may be others: *3 m to the left and 3 m ahead*.
_ALONG = re.compile(
    r"\s*(?:to|on|in|towards?)?\s*(?:the\s+|your\s+)?(?:left|right|front|back|behind|above|below|up|down|ahead|forwards?)\b"
)


def metres(text: str) -> float | None:
    """The one distance in a plain text; a second unit beside it (*2 m, about 6.6 feet*) is no second one."""
    found = _distances(text)
    if not found or any(each.value < 0 or each.doubtful for each in found):
        return None
    if len(found) > 1 and any(_ALONG.match(text, each.end) for each in found):
        return None
    first = found[0].value
    close = all(abs(each.value - first) <= 0.05 * first for each in found)
    return only({each.value for each in found} if not close else {first})


def _distances(text: str) -> list[Quantity]:
    """The distances, or numbers without a unit that nothing says to be an angle; no bounds, and no ranges."""
    numbers = quantities(text)
    named = dict(zip(numbers, owners(text, numbers), strict=True))
    found = [each for each in numbers if each.kind == "metres"] or [
        each for each in numbers if not each.kind and not each.counts and named[each] in ("", "distance")
    ]
    if any(named[each] == "distance" for each in found):
        found = [each for each in found if named[each] == "distance"]
    ranges = [pair for pair in pairwise(found) if joined(text, *pair) and not _same(*pair)]
    ends = {end for pair in ranges for end in pair}
    return [each for each in found if not each.bound and each not in ends]


def _same(one: Quantity, two: Quantity) -> bool:
    """Whether two distances are one in two units."""
    return abs(one.value - two.value) <= 0.05 * abs(one.value)
