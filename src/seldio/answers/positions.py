"""Azimuths, elevations and distances in plain texts: which number is which, and its sign."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from seldio.answers.bearings import directions
from seldio.answers.quantities import ABOUT, Quantity, joined, only, quantities

_NAMES = {
    "azimuth": r"azimuth(?:al)?|az|horizontal(?:ly)?",
    "elevation": r"elevation|elev|el|vertical(?:ly)?",
    "distance": r"distance|dist",
}
_NAME = "|".join(rf"(?P<{name}>{words})" for name, words in _NAMES.items())
_ANY = "|".join(_NAMES.values())
_NAMED = re.compile(rf"\b(?:{_NAME})\b")
_AND = r"[\s\"'`]*(?:,|/|;|and|&)[\s\"'`]*(?:the\s+)?"
#: Several names in a row, which the same number of numbers follow: *(azimuth, elevation) = (30, 10)*.
_LIST = re.compile(rf"\b(?:{_ANY})\b(?:{_AND}(?:{_ANY})\b)+")
_NEXT = re.compile(r"[°)\]\s]*(?:,|/|;|and\b|&)?[(\[\s]*")
#: A name right behind a number, unless it has a number of its own: *30° azimuth*, *10° (elevation)*.
_BEHIND = re.compile(
    rf"\s*(?:[(\[]?\s*(?:(?:is|in|of|for|as)\s+)?(?:the\s+)?|,\s*(?=[a-z]+\s*\)))(?:{_NAME})\b"
    rf"(?![\s\"':=(]*(?:(?:angle|degrees|deg|of|is|at|m)\s*[:=]?\s*)*{ABOUT}[-+]?[\d.])"
)
#: A word right behind an angle that says where it points; an angle "of the back" is counted from elsewhere.
AFTER = re.compile(
    r"\s*(?:angle\s+)?(?:to|on|towards?)?\s*(?:the|your|its)?\s*(?:front[\s-]*)?"
    r"(?:(?P<left>left|counter-?\s?clockwise|anti-?\s?clockwise)|(?P<right>right|clockwise)"
    r"|(?P<up>above|up|upwards?|higher)|(?P<down>below|down|downwards?|lower|beneath|under))\b"
)
#: The same right before it.
_BEFORE = re.compile(
    r"\b(?:(?P<left>left)|(?P<right>right)|(?P<up>up|upwards?|above)|(?P<down>down|downwards?|below))"
    r"(?: (?:the |your )?(?:horizon|horizontal|ear level|listener))?"
    r"[\s(]*(?:by|at|of|about|around|approximately|roughly|~|an angle of|\s)*\Z"
)
#: Before a number that begins anew: what was said of the one before it does not hold on.
_ANEW = re.compile(rf"\b(?:at|from)\s+{ABOUT}\Z")


def owners(text: str, found: Sequence[Quantity]) -> list[str]:
    """By number: what it is said to be, ``azimuth``, ``elevation`` or ``distance``; empty where nothing says so.

    A word of direction behind it decides first, then a list of names before it, then a name behind it, one before
    it, a word of direction before it; else what holds of the number before it.
    """
    listed = _listed(text, found)
    names: list[str] = []
    behind = 0
    for place, each in enumerate(found):
        name = _said_of(text, each, behind) if place not in listed else listed[place]
        if not name and names and not _ANEW.search(text, behind, each.start):
            name = names[-1]
        names.append(name)
        after = _BEHIND.match(text, each.end)
        behind = after.end() if after else each.end
    return names


def _said_of(text: str, each: Quantity, behind: int) -> str:
    """What the words around a number say that it is; those before *behind* belong to the one before it."""
    if (word := AFTER.match(text, each.end)) and each.kind in ("degrees", ""):
        return pointed(word)
    if after := _BEHIND.match(text, each.end):
        return str(after.lastgroup)
    before = list(_NAMED.finditer(text, behind, each.start))
    if before:
        return str(before[-1].lastgroup)
    word = _BEFORE.search(text, max(behind, each.start - 60), each.start)
    return pointed(word) if word else ""


def _listed(text: str, found: Sequence[Quantity]) -> dict[int, str]:
    """The fields of numbers that follow a list of names, by place."""
    listed: dict[int, str] = {}
    for names in _LIST.finditer(text):
        fields = [str(match.lastgroup) for match in _NAMED.finditer(names.group())]
        first = next((place for place, each in enumerate(found) if each.start >= names.end()), len(found))
        numbers = found[first : first + len(fields)]
        if len(numbers) < len(fields) or _NAMED.search(text, names.end(), numbers[0].start):
            continue
        ends = pairwise(numbers)
        if all(_NEXT.fullmatch(text, one.end, two.start) for one, two in ends):
            listed |= dict(enumerate(fields, first))
    return listed


def words_at(text: str, each: Quantity) -> re.Match[str] | None:
    """The word that says where an angle points, right behind or before it."""
    return AFTER.match(text, each.end) or _BEFORE.search(text, max(0, each.start - 60), each.start)


def pointed(word: re.Match[str]) -> str:
    """The field of an angle with this word of direction."""
    return "elevation" if word["up"] or word["down"] else "azimuth"


# --- angles ----------------------------------------------------------------------------------------

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


# --- distances -------------------------------------------------------------------------------------

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
