"""Azimuths and elevations in plain texts, with the words that give them their sign."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from seldio.scores.so_bench.bearings import directions
from seldio.scores.so_bench.quantities import Quantity, of_kind, only

_NAMED = re.compile(r"(?P<azimuth>\b(?:azimuth(?:al)?|az|horizontal(?:ly)?)\b)"
                    r"|(?P<elevation>\b(?:elevation|elev|el|vertical(?:ly)?)\b)")  # fmt: skip
#: Directions that are counted from elsewhere, or the other way round.
_COMPASS = re.compile(r"\b(?:north|south|east|west)|o'clock|π|\bpi\b")
#: Between the ends of a range, or two values of which one may be right.
_OR = re.compile(r"\s*(?:-|~|to|or|through|up to)\s*")
#: A word right behind an angle that says where it points; an angle "of the back" is counted from elsewhere.
_AFTER = re.compile(
    r"\s*(?:to|on|towards?)?\s*(?:the|your|its)?\s*"
    r"(?:(?P<left>left|counter-?\s?clockwise|anti-?\s?clockwise)|(?P<right>right|clockwise)"
    r"|(?P<up>above|up|upwards?|higher)|(?P<down>below|down|downwards?|lower|beneath|under))\b"
)
#: Where angles are counted from, unless a text says otherwise.
_CENTRE = (
    r"(?:(?:dead|exact|straight|direct)\s+)?(?:front|cent(?:er|re)|ahead|forward|straight|listen|you|me\b|us\b|mic|array|head|observer"
    r"|camera|mid|median|horizon|ear|eye|ground|level|zero|north|origin|user|record|receiver|facing|plane)"
)
#: Behind a side: what it is counted from, where that is not the front.
_ELSEWHERE = re.compile(rf"(?: side)?\s+(?:of|from|than)\s+(?:(?:the|your|my|a|an)\s+)?+(?!{_CENTRE})[a-z]")
_ABOVE_IT = re.compile(rf"\s+(?:the|a|an|that|your)\s+(?!{_CENTRE})[a-z]")
#: Behind an angle that is counted from somewhere else, or from the front to a side that is told later.
_OFF = re.compile(r"\s*(?:away\s+)?(?:from|off|past|beyond|short of)\b")
_OFF_CENTRE = re.compile(rf"\s*(?:away\s+)?(?:from|off)[\s-]+(?:the\s+|your\s+)?{_CENTRE}")
#: The same right before it.
_BEFORE = re.compile(
    r"\b(?:(?P<left>left)|(?P<right>right)|(?P<up>up|upwards?|above)|(?P<down>down|downwards?|below))"
    r"(?: (?:the |your )?(?:horizon|horizontal|ear level|listener))?"
    r"[\s(]*(?:by|at|of|about|around|approximately|roughly|~|an angle of|\s)*\Z"
)


def azimuth(text: str) -> float | None:
    """The one azimuth in a plain text, degrees, +90 is left: *30 degrees to the right* is -30."""
    return _angle(text, "azimuth")


def elevation(text: str) -> float | None:
    """The one elevation in a plain text, degrees, +90 is up: *10 degrees below* is -10."""
    return _angle(text, "elevation")


def names_only(text: str, other: Literal["azimuth", "elevation"]) -> bool:
    """Whether all angles of a plain text are said to be the *other* one."""
    found = of_kind(text, "degrees")
    return bool(found) and all(_owner(text, each, found) == other for each in found)


def _angle(text: str, wanted: Literal["azimuth", "elevation"]) -> float | None:
    found = of_kind(text, "degrees")
    if _COMPASS.search(text) or any(_OR.fullmatch(text, one.end, two.start) for one, two in pairwise(found)):
        return None
    owners = [_owner(text, each, found) for each in found]
    chosen = [each for each, owner in zip(found, owners, strict=True) if owner == wanted]
    chosen = chosen or [each for each, owner in zip(found, owners, strict=True) if not owner]
    if any(each.doubtful or _counted_from_elsewhere(text, each) for each in chosen):
        return None
    positive, negative = ("left", "right") if wanted == "azimuth" else ("up", "down")
    values = [_signed(text, each, positive, negative) for each in chosen]
    value = only(value for value in values if value is not None)
    if value is None or None in values or _contradicted(text, value, chosen, wanted):
        return None
    return value


def _counted_from_elsewhere(text: str, each: Quantity) -> bool:
    """Whether an angle is one from something else than the front or the horizon: *30 degrees left of the bell*."""
    if _OFF.match(text, each.end):
        return not (_OFF_CENTRE.match(text, each.end) and directions(text[each.end :].replace("front", "")))
    word = _AFTER.match(text, each.end)
    if word is None:
        return False
    return bool(
        _ELSEWHERE.match(text, word.end()) or (_pointed(word) == "elevation" and _ABOVE_IT.match(text, word.end()))
    )


def _words_at(text: str, each: Quantity) -> re.Match[str] | None:
    """The word that says where an angle points, right behind or before it."""
    return _AFTER.match(text, each.end) or _BEFORE.search(text, max(0, each.start - 60), each.start)


def _owner(text: str, each: Quantity, found: list[Quantity]) -> str:
    """Whether an angle is an azimuth or an elevation; empty where nothing says so."""
    if after := _AFTER.match(text, each.end):
        return _pointed(after)
    names = [(str(match.lastgroup), match.start()) for match in _NAMED.finditer(text)]
    if names and names[0][1] > found[0].start:  # "30° azimuth, 10° elevation"
        return next((name for name, place in names if place > each.start), "")
    before = _words_at(text, each)
    named = next((name for name, place in reversed(names) if place < each.start), "")
    return named or (_pointed(before) if before else "")


def _pointed(word: re.Match[str]) -> str:
    return "elevation" if word["up"] or word["down"] else "azimuth"


def _signed(text: str, each: Quantity, positive: str, negative: str) -> float | None:
    """The value of an angle with the sign that its words give it; None where sign and words contradict."""
    word = _words_at(text, each)
    groups = word.groupdict() if word else {}
    if groups.get(negative):
        return -abs(each.value) if not each.signed or each.value < 0 else None
    if groups.get(positive):
        return each.value if each.value >= 0 else None
    return each.value


def _contradicted(text: str, value: float, chosen: list[Quantity], wanted: str) -> bool:
    """Whether the text elsewhere names the other half, or only the other side of an angle without words of its own."""
    named = directions(text)
    if named is None:
        return True
    if wanted == "azimuth":
        inside = ((value + 180.0) % 360.0) - 180.0
        if ("back" in named and abs(inside) < 90) or ("front" in named and abs(inside) > 90):
            return True  # "behind, 20 degrees to the left" is counted from behind
        against = {"right"} if inside > 0 else {"left"} if inside < 0 else set()
        beside = {"left", "right"}
    else:
        against = {"below"} if value > 0 else {"above"} if value < 0 else set()
        beside = {"above", "below"}
    return bool(against) and named & beside == against and not _stated(text, chosen)


def _stated(text: str, chosen: list[Quantity]) -> bool:
    return all(_AFTER.match(text, each.end) for each in chosen)
