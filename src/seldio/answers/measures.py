"""Azimuths, elevations, distances and times in plain texts: which number is which, and its sign."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Literal

from seldio.answers.bearings import directions, pointing
from seldio.answers.languages import Patterns
from seldio.answers.quantities import Quantity, concluded, count, joined, middled, of_kind, only, quantities

_RE = Patterns("measures")

_NAMES = {
    "azimuth": r"azimuth(?:al)?|az|horizontal(?:ly)?",
    "elevation": r"elevation|elev|el|vertical(?:ly)?",
    "distance": r"distance|dist",
}


def owners(text: str, numbers: Sequence[Quantity]) -> list[str]:
    """Return for each number ``azimuth``, ``elevation`` or ``distance``; empty if nothing says which.

    A word of direction after it decides first, then a list of names before it, then a name behind it, one before
    it, a word of direction before it; else what holds of the number before it.
    """
    listed = _listed(text, numbers)
    names: list[str] = []
    behind = 0
    for place, number in enumerate(numbers):
        name = _said_of(text, number, behind) if place not in listed else listed[place]
        if not name and names and not _RE.anew.search(text, behind, number.start):
            name = names[-1]
        names.append(name)
        after = _RE.behind.match(text, number.end)
        behind = after.end() if after else number.end
    return names


def _said_of(text: str, number: Quantity, behind: int) -> str:
    """Return the field that the words around a number name; words before *behind* belong to the number before it."""
    if (word := _RE.after.match(text, number.end)) and number.kind in ("degrees", ""):
        return pointed(word)
    if after := _RE.behind.match(text, number.end):
        return str(after.lastgroup)
    before = list(_RE.named.finditer(text, behind, number.start))
    if before:
        return str(before[-1].lastgroup)
    word = _RE.before.search(text, max(behind, number.start - 60), number.start)
    return pointed(word) if word else ""


def _listed(text: str, numbers: Sequence[Quantity]) -> dict[int, str]:
    """Return the fields of numbers that follow a list of names, by place."""
    listed: dict[int, str] = {}
    for names in _RE.list.finditer(text):
        fields = [str(match.lastgroup) for match in _RE.named.finditer(names.group())]
        first = next((place for place, number in enumerate(numbers) if number.start >= names.end()), len(numbers))
        listed_numbers = numbers[first : first + len(fields)]
        if len(listed_numbers) < len(fields) or _RE.named.search(text, names.end(), listed_numbers[0].start):
            continue
        neighbors = pairwise(listed_numbers)
        if all(_RE.next.fullmatch(text, number.end, following.start) for number, following in neighbors):
            listed |= dict(enumerate(fields, first))
    return listed


def words_at(text: str, angle: Quantity) -> re.Match[str] | None:
    """Return the word that says where an angle points, right behind or before it."""
    return _RE.after.match(text, angle.end) or _RE.before.search(text, max(0, angle.start - 60), angle.start)


def pointed(word: re.Match[str]) -> str:
    """Return the field of an angle with this word of direction."""
    return "elevation" if word["up"] or word["down"] else "azimuth"


# --- angles ----------------------------------------------------------------------------------------

Field = Literal["azimuth", "elevation"]


def azimuth(text: str) -> float | None:
    """The one azimuth in a plain text, degrees, +90 is left: *30° to the right* is -30, *directly behind* 180."""
    text = _RE.initial.sub(
        lambda match: " left " if "l" in match.group() else " right ", _RE.half_turn.sub("180", text)
    )
    return _angle(text, "azimuth") if _numbers(text) else pointing(text, "azimuth")


def elevation(text: str) -> float | None:
    """Return the one elevation in a plain text, degrees, +90 is up: *10 degrees below* is -10, *at ear level* 0."""
    return _angle(text, "elevation") if _numbers(text) else pointing(text, "elevation")


def _numbers(text: str) -> bool:
    """Return whether a text holds a number but for hours of a clock."""
    return any(not text[number.start : number.end].endswith("o'clock") for number in quantities(text))


def names_only(text: str, other: str) -> bool:
    """Return whether all angles of a plain text are said to be the *other* one."""
    angles = _angles(text)
    return bool(angles) and all(owner == other for _, owner in angles)


#: Ranges no wider than these are read as their middle: the official limit is at least twice as far from their ends.
_WIDEST = {"azimuth": 20.0, "elevation": 10.0, "distance": 1.0}


def _angles(text: str, widest: float = 0.0) -> list[tuple[Quantity, str]]:
    """Return the angles and their fields; if there is none, the numbers without a unit. Bounds are left out."""
    numbers = middled(text, quantities(text), widest)
    owned = list(zip(numbers, owners(text, numbers), strict=True))
    owned = [angle for angle in owned if angle[0].kind == "degrees"] or [
        angle for angle in owned if not angle[0].kind and not angle[0].counts and angle[1] != "distance"
    ]
    return [angle for angle in owned if not angle[0].bound]


def _angle(text: str, wanted: Field) -> float | None:
    angles = _angles(text, _WIDEST[wanted])
    pairs = pairwise(angle for angle, _ in angles)
    if _RE.compass.search(text) or any(joined(text, *pair) for pair in pairs):
        return None
    chosen = [angle for angle, owner in angles if owner == wanted] or [angle for angle, owner in angles if not owner]
    if any(
        angle.doubtful
        or _counted_from_elsewhere(text, angle)
        or _RE.dash.search(text, max(0, angle.start - 20), angle.start)
        for angle in chosen
    ):
        return None
    positive, negative = ("left", "right") if wanted == "azimuth" else ("up", "down")
    values = [_signed(text, angle, positive, negative) for angle in chosen]
    value = only(value for value in values if value is not None)
    sides = (directions(text) or frozenset()) - {"front", "back"}
    plain = len(angles) == 1 and not angles[0][1] and not chosen[0].signed and not words_at(text, chosen[0])
    if value and plain and sides == {"right" if wanted == "azimuth" else "below"} and not _RE.of_others.search(text):
        value = -value  # "on the right, at 40 degrees"
    if value and any(angle.signed and angle.value == -value and angle.kind != "other" for angle in quantities(text)):
        return None
    if value is None or None in values or _contradicted(text, value, chosen, wanted):
        return None
    return value


def _counted_from_elsewhere(text: str, angle: Quantity) -> bool:
    """Whether an angle is counted from another thing than the front or horizon: *30 degrees left of the bell*."""
    if _RE.off.match(text, angle.end):
        return not (_RE.off_centre.match(text, angle.end) and directions(text[angle.end :].replace("front", "")))
    word = _RE.after.match(text, angle.end)
    if word is None:
        return False
    return bool(
        _RE.elsewhere.match(text, word.end()) or (pointed(word) == "elevation" and _RE.above_it.match(text, word.end()))
    )


def _signed(text: str, angle: Quantity, positive: str, negative: str) -> float | None:
    """Return the angle with the sign of its words; None if sign and words contradict."""
    word = words_at(text, angle)
    groups = word.groupdict() if word else {}
    if groups.get(negative):
        return -abs(angle.value) if not angle.signed or angle.value < 0 else None
    if groups.get(positive):
        return angle.value if angle.value >= 0 else None
    return angle.value


def _contradicted(text: str, value: float, chosen: list[Quantity], wanted: str) -> bool:
    """Whether the text names the other half, or only the other side, elsewhere than in the words of the angle."""
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
    stated = all(_RE.after.match(text, angle.end) for angle in chosen)
    return bool(against) and named & beside == against and not stated


# --- distances -------------------------------------------------------------------------------------


def metres(text: str) -> float | None:
    """Return the one distance in a plain text; a second unit next to it (*2 m, about 6.6 feet*) is not a second one."""
    text = _RE.decimal.sub(r"\1.", text)
    distances = _distances(text)
    if not distances or any(distance.value < 0 or distance.doubtful for distance in distances):
        return None
    if len(distances) > 1 and any(_RE.along.match(text, distance.end) for distance in distances):
        return None
    first = distances[0].value
    close = all(abs(distance.value - first) <= 0.05 * first for distance in distances)
    return only({distance.value for distance in distances} if not close else {first})


def _distances(text: str) -> list[Quantity]:
    """Return the distances, or numbers without a unit that are not angles; bounds and ranges are left out."""
    numbers = middled(text, quantities(text), _WIDEST["distance"])
    named = dict(zip(numbers, owners(text, numbers), strict=True))
    distances = [number for number in numbers if number.kind == "metres"] or [
        number for number in numbers if not number.kind and not number.counts and named[number] in ("", "distance")
    ]
    if any(named[number] == "distance" for number in distances):
        distances = [number for number in distances if named[number] == "distance"]
    ranges = [
        (first, second)
        for first, second in pairwise(distances)
        if joined(text, first, second)
        and abs(first.value - second.value) > 0.05 * abs(first.value)  # else one distance in two units
    ]
    ends = {end for pair in ranges for end in pair}
    return [number for number in distances if not number.bound and number not in ends]


# --- moments and intervals of time, seconds --------------------------------------------------------

Span = tuple[float, float]


def times(text: str) -> list[Quantity]:
    """Return the moments in a plain text."""
    return of_kind(text, "seconds")


def spans(text: str) -> list[Span]:
    """Return the intervals in a plain text, each once."""
    return list(dict.fromkeys(intervals(text)))


def intervals(text: str) -> list[Span]:
    """The intervals in a plain text as they come; none where one may be something else (*starts between 2 and 3 s*)."""
    moments = times(text)
    pairs = _pairs(text, moments)
    if any(moment.doubtful for moment in moments) or _uncertain(text, moments, pairs):
        return []
    if not pairs and (stated := _stated_span(text, moments)):
        return [stated]
    return [(start.value, abs(end.value)) for start, end in pairs]


def span(text: str) -> Span | None:
    """Return the one interval in a plain text; None where there is none or a choice."""
    return only(spans(_RE.first.sub(r"from 0 to \1 s", text)))


def onset(text: str) -> float | None:
    """Return the one moment at which something begins: of an interval its start, of a range (*2-3 s*) any of it."""
    moments = times(text := _RE.decimal.sub(r"\1.", text))
    pairs = _pairs(text, moments)
    if (half := _RE.halfway.fullmatch(text)) is not None:
        return float(half[1]) / 2
    if pairs:
        sure = all(_is_interval(text, *pair) for pair in pairs)
        ends = {end for pair in pairs for end in pair}
        others = (place for place, moment in enumerate(moments) if moment not in ends)
        sure = sure and all(_role(text, place, moments) == "length" for place in others)
        return only(start for start, _ in intervals(text)) if sure else None
    if not moments and _RE.at_once.search(text):
        return 0.0
    roles = [(moment, _role(text, place, moments)) for place, moment in enumerate(moments)]
    doubtful = any(moment.doubtful for moment in moments)
    value = None if doubtful else only(moment.value for moment, role in roles if role in ("start", ""))
    return value if value is not None and value >= 0 else None


def _pairs(text: str, moments: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    pairs: list[tuple[Quantity, Quantity]] = []
    for moment, following in pairwise(moments):
        if (not pairs or moment is not pairs[-1][1]) and _joined(text, moment, following):
            pairs.append((moment, following))
    return pairs


def _joined(text: str, first: Quantity, second: Quantity) -> bool:
    """Return whether two numbers are the ends of an interval: *a to b*, *a-b*, *between a and b*, *[a, b]*."""
    if second.signed and not text[first.end : second.start].strip():  # "18.4 -20.0"
        return text[second.start] == "-"
    if not _RE.to.fullmatch(text, first.end, second.start):
        return False
    lead = text[max(0, first.start - 120) : first.start]
    return bool(_RE.strong.match(text, first.end) or _RE.between.search(lead) or _RE.bracket.search(lead))


def _is_interval(text: str, first: Quantity, second: Quantity) -> bool:
    """Return whether a pair is an interval rather than a range: *from a to b*, *a s to b s*, *[a, b]*."""
    lead = text[max(0, first.start - 120) : first.start]
    if _RE.between.search(lead):
        return False
    both = text[first.end - 1].isalpha() and text[second.end - 1].isalpha()
    return bool(both or _RE.bracket.search(lead) or _RE.from_word.search(lead))


def _leads(text: str, moments: list[Quantity]) -> list[str]:
    ends = [0, *(moment.end for moment in moments)]
    return [text[end : moment.start] for end, moment in zip(ends, moments, strict=False)]


def _uncertain(text: str, moments: list[Quantity], pairs: list[tuple[Quantity, Quantity]]) -> bool:
    """Return whether a pair is the range of one end, or the text may mean another moment."""
    firsts, seconds = {first.start for first, _ in pairs}, {second.start for _, second in pairs}
    if any(
        first.start in seconds and second.start not in firsts and _joined(text, first, second)
        for first, second in pairwise(moments)
    ):
        return True  # "from 3 to 4 s until 6 s"
    lasting = {first.start for first, second in pairs if _RE.until.fullmatch(text, first.end, second.start)}
    for place, (moment, lead) in enumerate(zip(moments, _leads(text, moments), strict=True)):
        if place and moment.start not in seconds and pairs and _RE.another.search(lead):
            return True
        start, end = _RE.start.search(lead), _RE.end.search(lead)
        wide = bool(start) != bool(end) or _RE.silent.search(lead) or _RE.somewhere.search(lead)
        if moment.start in firsts - lasting and wide:
            return True
    return False


def _role(text: str, place: int, moments: list[Quantity]) -> str:
    """Return ``start``, ``end`` or ``length``; empty if the words around a moment do not say which."""
    if _RE.long.match(text, moments[place].end):
        return "length"
    if _RE.end_note.match(text, moments[place].end):
        return "end"
    words = list(_RE.role.finditer(text[moments[place - 1].end if place else 0 : moments[place].start]))
    return str(words[-1].lastgroup) if words else ""


def _stated_span(text: str, moments: list[Quantity]) -> Span | None:
    stated: dict[str, list[float]] = {"start": [], "end": [], "length": []}
    for place, moment in enumerate(moments):
        role = _role(text, place, moments)
        if not role and place == 0 and len(moments) > 1 and _role(text, 1, moments) == "length":
            role = "start"  # "3 s, lasting 2 s"
        if not role:
            return None
        stated[role].append(moment.value)
    start, end, length = (only(stated[role]) for role in ("start", "end", "length"))
    if start is None or (end is None and length is None):
        return None
    return (start, end) if end is not None else (start, round(start + (length or 0.0), 9))


_NUMBERS: dict[str, Callable[[str], float | None]] = {
    "azimuth": azimuth, "elevation": elevation, "distance": metres, "onset": onset, "active sources": count,
}  # fmt: skip
#: What reads a quantity in a plain text.
QUANTITIES: dict[str, Callable[[str], float | Span | None]] = {
    **{name: partial(concluded, read) for name, read in _NUMBERS.items()}, "interval": span,
}  # fmt: skip
