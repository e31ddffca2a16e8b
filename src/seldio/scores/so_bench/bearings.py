"""Directions and sides in words."""

from __future__ import annotations

import re
from typing import Literal

Side = Literal["left", "right"]

#: "right" that is no side.
_ASIDE = re.compile(r"\bright (?:now|away|before|after|at|in front|behind|above|below|next|on top)\b"
                    r"|\b(?:all|that's|that is|is) right\b(?=[,.!]|\Z)")  # fmt: skip
_WORDS: dict[str, str] = {
    "left": r"left(?:ward|wards|most|side)?|port(?: side)?|left-hand",
    "right": r"right(?:ward|wards|most|side)?|starboard|right-hand",
    "front": r"front(?:al)?|ahead|forwards?",
    "back": r"back(?:ward|wards)?|behind|rear",
    "above": r"above|overhead|up|upwards?|upper|top|high|higher|elevated|over (?:the|your) (?:head|listener)",
    "below": r"below|beneath|underneath|under|down|downwards?|lower|bottom|low|depress(?:ed|ion)",
}
_ANY = re.compile("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _WORDS.items()))
_NEGATED = re.compile(r"\b(?:not|n't|isn't|never|rather than|instead of|nor|no longer)\s+(?:[a-z]+\s+){0,4}?\Z")
_OPPOSITE = {"left": "right", "right": "left", "front": "back", "back": "front", "above": "below", "below": "above"}


def denied(text: str, place: int) -> bool:
    """Whether what stands at *place* is denied: *not left*, *rather than the left*."""
    return bool(_NEGATED.search(text, max(0, place - 40), place))


def directions(text: str) -> frozenset[str] | None:
    """The directions that a plain text names, of left, right, front, back, above, below; None where one is denied."""
    text = _ASIDE.sub(" ", text)
    found = set()
    for match in _ANY.finditer(text):
        if denied(text, match.start()):
            return None
        found.add(str(match.lastgroup))
    return frozenset(found)


def contradictory(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a direction in *one* is the opposite of one in *other*, which does not name it as well."""
    return any(_OPPOSITE[name] in other and name not in other for name in one)


def sides(text: str) -> list[tuple[Side, int]]:
    """Left and right in a plain text with their places; *not left* says right, and is told once."""
    text = _ASIDE.sub(lambda found: " " * len(found.group()), text)
    found: list[tuple[Side, int]] = []
    for match in _ANY.finditer(text):
        name = str(match.lastgroup)
        if name in ("left", "right"):
            side = _OPPOSITE[name] if denied(text, match.start()) else name
            found.append(("left" if side == "left" else "right", match.start()))
    return found


_YES_NO = re.compile(r"\A\W*(yes|yeah|yep|correct|true|no|nope|incorrect|false)\b(?!\s+(?:doubt|sound|source))")


def yes_no(text: str) -> bool | None:
    """Whether a plain text begins with yes (true) or no (false): *Yes, no doubt* is yes."""
    found = _YES_NO.match(text)
    return found.group(1) in ("yes", "yeah", "yep", "correct", "true") if found else None
