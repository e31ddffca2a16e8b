"""Azimuths and elevations in plain texts, with the words that give them their sign."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from seldio.scores.so_bench.bearings import directions
from seldio.scores.so_bench.fields import AFTER, owners, pointed, words_at
from seldio.scores.so_bench.quantities import Quantity, joined, only, quantities

Field = Literal["azimuth", "elevation"]
#: Directions that are counted from elsewhere, or the other way round.
_COMPASS = re.compile(r"\b(?:north|south|east|west)|o'clock|π|\bpi\b")
#: Before a sign that may be a dash: *azimuth - 30*.
_DASH = re.compile(r"[a-z]\s*-\s+\Z")
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


def azimuth(text: str) -> float | None:
    """The one azimuth in a plain text, degrees, +90 is left: *30 degrees to the right* is -30."""
    return _angle(text, "azimuth")


def elevation(text: str) -> float | None:
    """The one elevation in a plain text, degrees, +90 is up: *10 degrees below* is -10."""
    return _angle(text, "elevation")


def names_only(text: str, other: Field) -> bool:
    """Whether all angles of a plain text are said to be the *other* one."""
    found = _angles(text)
    return bool(found) and all(owner == other for _, owner in found)


def _angles(text: str) -> list[tuple[Quantity, str]]:
    """The angles but for bounds, or numbers without unit where there is none, and the field that each is said to be."""
    numbers = quantities(text)
    found = list(zip(numbers, owners(text, numbers), strict=True))
    found = [each for each in found if each[0].kind == "degrees"] or [
        each for each in found if not each[0].kind and not each[0].counts and each[1] != "distance"
    ]
    return [each for each in found if not each[0].bound]


def _angle(text: str, wanted: Field) -> float | None:
    found = _angles(text)
    pairs = pairwise(each for each, _ in found)
    if _COMPASS.search(text) or any(joined(text, one, two) for one, two in pairs):
        return None
    chosen = [each for each, owner in found if owner == wanted] or [each for each, owner in found if not owner]
    if any(
        each.doubtful or _counted_from_elsewhere(text, each) or _DASH.search(text, 0, each.start) for each in chosen
    ):
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
    word = AFTER.match(text, each.end)
    if word is None:
        return False
    return bool(
        _ELSEWHERE.match(text, word.end()) or (pointed(word) == "elevation" and _ABOVE_IT.match(text, word.end()))
    )


def _signed(text: str, each: Quantity, positive: str, negative: str) -> float | None:
    """The value of an angle with the sign that its words give it; None where sign and words contradict."""
    word = words_at(text, each)
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
    return all(AFTER.match(text, each.end) for each in chosen)
