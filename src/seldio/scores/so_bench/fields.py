"""Which number of a plain text is the azimuth, the elevation or the distance, as far as it is said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from seldio.scores.so_bench.quantities import ABOUT, Quantity

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
