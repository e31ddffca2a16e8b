"""The number of sources in plain texts."""

from __future__ import annotations

import re
from itertools import pairwise

from seldio.scores.so_bench.bearings import denied, directions
from seldio.scores.so_bench.quantities import JOINER, OR_MORE, Quantity, only, quantities

#: What is counted, behind a number: sources of any kind, or some that may not be all.
_COUNTED = re.compile(
    r"\s*(?:(?!(?:and|or|of|with|to|in|on|than)\b)[a-z-]+\s+){0,3}?(?:(?:sources?|sounds?|events?)\b|(?P<some>speakers?|voices?|people|"
    r"persons|objects?)\b)|\s*(?:(?:are|is|were|was|currently|simultaneously|different|distinct)\s+){0,3}?(?:active|audible)\b"
)
#: Behind a number that counts nothing in particular.
_BARE = re.compile(r"\s*(?:[^\w\s]|\Z|(?:in total|total|at|in all|different|distinct)\b)")
_AND_MORE = re.compile(r"\s*(?:,|and|plus|with|as well)\s")
#: Before a second number that may be meant as well.
_OR_SO = re.compile(r"\b(?:possibly|maybe|perhaps|or)\s+\Z")
#: Behind a number that is part of another one.
_OF_THEM = re.compile(r"\s+of (?:which|them|these|those)\b")
#: A number of all that there is.
_TOTAL = re.compile(r"\s*(?:sources?\s+|sounds?\s+)?(?:in total|total|altogether|overall)\b")
_NONE = re.compile(
    r"\b(?:no|zero|without any)\s+(?:[a-z-]+\s+){0,2}?(?:sources?|sounds?|events?)\b|\A(?:none|nothing)\W*\Z"
)
_SINGLE = re.compile(r"\b(?:a|only a|just a)?\s*single\s+(?:[a-z-]+\s+){0,2}?(?:source|sound|event)\b")


def count(text: str) -> int | None:
    """The one number of sources in a plain text."""
    found = [each for each in quantities(text) if not each.kind]
    if any(each.bound or each.signed or each.doubtful for each in found):
        return None
    if any(_one_of_both(text, one, two) for one, two in pairwise(found)):
        return None
    if any(_OR_SO.search(text, 0, each.start) for each in found[1:]):
        return None
    found = [each for each in found if _TOTAL.match(text, each.end)] or found
    if any(not each.counts and not _OF_THEM.match(text, each.end) and _besides(text, found, each) for each in found):
        return None
    counted = [(each, match) for each in found if (match := _COUNTED.match(text, each.end))]
    if any(OR_MORE.match(text, match.end()) or (match["some"] and _AND_MORE.match(text, match.end()))
           for _, match in counted):  # fmt: skip
        return None
    if len(found) > 1 and counted and directions(text) != frozenset():
        return None  # so many here, so many there
    values = [each.value for each, _ in counted] or [each.value for each in found]
    if not counted and not all(_BARE.match(text, each.end) for each in found):
        return None
    single = _SINGLE.search(text)
    if single and denied(text, single.start()):
        return None
    values += [0.0] * bool(_NONE.search(text)) + [1.0] * bool(single)
    value = only(values)
    return int(value) if value is not None and value.is_integer() and value < 1e9 else None


def _besides(text: str, found: list[Quantity], each: Quantity) -> bool:
    """Whether a number without a noun stands behind another one with one, but for details behind a colon."""
    first = next((one for one in found if _COUNTED.match(text, one.end)), each)
    return each.start > first.start and each.value != first.value and ":" not in text[first.end : each.start]


def _one_of_both(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether two numbers are a range or a choice: *2 or 3*, *2-3*, *between 2 and 3*."""
    between = text[one.end : two.start]
    return bool(JOINER.fullmatch(between)) and between.strip() != ","
