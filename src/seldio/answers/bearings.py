"""Directions, sides, motions and comparisons in words."""

from __future__ import annotations

import re
from typing import Literal

from seldio.answers.languages import Patterns, filled, patterns, table

_RE = Patterns("bearings")

Side = Literal["left", "right"]

_OPPOSITE = {"left": "right", "right": "left", "front": "back", "back": "front", "above": "below", "below": "above"}


def denied(text: str, place: int) -> bool:
    """Return whether what stands at *place* is denied: *not left*, *rather than the left*."""
    return bool(_RE.negated.search(text, max(0, place - 60), place))


def retracted(text: str) -> bool:
    """Return whether a plain text takes back what it says: *unlikely*, *I doubt it*, *? No.*, *: false*."""
    return bool(_RE.retracted.search(text))


def inaudible(text: str, start: int, end: int) -> bool:
    """Return whether the clause around a name says that it is not heard, or only asks."""
    stop = _RE.clause_end.search(text, end)
    assert stop is not None
    begin = max(
        (match.end() for match in _RE.clause_end.finditer(text, max(0, start - 80), start) if match.group()),
        default=max(0, start - 80),
    )
    inside = _RE.absent.search(text, begin, stop.start()) or _RE.not_behind.search(text, end, stop.start())
    return bool(inside) or bool(_RE.asked.match(text, stop.start()))


def given_up(text: str, place: int) -> bool:
    """Return whether the text at *place* is denied in favour of the text before it: *a dog, not a guitar*."""
    return bool(_RE.given_up.search(text, max(0, place - 30), place))


def directions(text: str) -> frozenset[str] | None:
    """Return the directions that a plain text names; None if one is denied, or two are given to choose from."""
    text = _RE.aside.sub(" ", text)
    if _RE.either.search(text):
        return None
    named = set()
    for match in _RE.any.finditer(text):
        if denied(text, match.start()):
            return None
        named.add(str(match.lastgroup))
    return frozenset(named)


_PLANE = {"azimuth": {"left", "right", "front", "back"}, "elevation": {"above", "below"}}


def pointing(text: str, field: Literal["azimuth", "elevation"]) -> float | None:
    """The angle of a direction that a plain text names without a number: *directly behind*, *at 3 o'clock*; degrees.

    None where another direction in the same plane is named too, or one is denied or not meant exactly.
    """
    named = directions(text)
    if named is None or _RE.not_exactly.search(text):
        return None
    angles = {
        row["degrees"]: {*row["names"]} for row in table("pointed")[field] if re.search(filled(row["words"]), text)
    }
    named = named & _PLANE[field]
    for hour in map(int, _RE.hour.findall(text)) if field == "azimuth" else ():
        value = 180.0 if hour == 6 else (180.0 - 30.0 * hour) % 360 - 180.0
        angles[value] = {*named} - ({"left"} if value < 0 else {"right"} if 0 < value < 180 else {"left", "right"})
    return next((value for value, names in angles.items() if len(angles) == 1 and named <= names), None)


def contradictory(named: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether a direction in *named* is the opposite of one in *other*, which does not name it as well."""
    return any(_OPPOSITE[name] in other and name not in other for name in named)


def sides(text: str) -> list[tuple[Side, int]]:
    """Left and right in a plain text with their places; *not left* says right, *not sure if left* both."""
    text = _RE.aside.sub(lambda places: " " * len(places.group()), text)
    places: list[tuple[Side, int]] = []
    for match in _RE.any.finditer(text):
        side, place = match.lastgroup, match.start()
        if side not in ("left", "right"):
            continue
        unsaid, other = denied(text, place), "right" if side == "left" else "left"
        if not unsaid or not _RE.not_this_side.search(text, max(0, place - 60), place):
            places.append(("left" if side == "left" else "right", place))
        if unsaid:
            places.append(("left" if other == "left" else "right", place))
    return places


# --- motions and comparisons -----------------------------------------------------------------------


def motion(text: str) -> str | None:
    """Return the one motion that a plain text names, as a ``motion_label``; None where there is none or a choice."""
    if _RE.not_still.search(text):
        text = _RE.not_still.sub(" moving ", text)
    labels = set()
    for name, pattern in patterns("motions").items():
        matches = list(pattern.finditer(text))
        if any(denied(text, match.start()) for match in matches):
            return None
        if matches:
            text = pattern.sub(" ", text)
            labels.add(name)
    finer = labels - {"moving"}
    if finer & {"moving_left", "moving_right"} and sides(text):
        return None  # "left or right", "left, then right"
    if len(finer) > 1 or ("stationary" in finer and len(labels) > 1):
        return None
    return next(iter(finer or labels), None)


def same_motion(answer: str, true: str) -> bool | None:
    """Return whether two motions agree; None if one is a kind of the other, which a judge has to decide."""
    if answer == true:
        return True
    if "stationary" in (answer, true) or {answer, true} <= {"moving_toward", "moving_away"}:
        return False
    return False if {answer, true} == {"moving_left", "moving_right"} else None


#: The two ends of what is compared.
POLES = {task: patterns(task) for task in ("compare_elevation", "compare_distance")}
