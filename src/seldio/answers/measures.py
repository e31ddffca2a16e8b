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


def owners(text: str, found: Sequence[Quantity]) -> list[str]:
    """By number: what it is said to be, ``azimuth``, ``elevation`` or ``distance``; empty where nothing says so.

    A word of direction after it decides first, then a list of names before it, then a name behind it, one before
    it, a word of direction before it; else what holds of the number before it.
    """
    listed = _listed(text, found)
    names: list[str] = []
    behind = 0
    for place, each in enumerate(found):
        name = _said_of(text, each, behind) if place not in listed else listed[place]
        if not name and names and not _RE.anew.search(text, behind, each.start):
            name = names[-1]
        names.append(name)
        after = _RE.behind.match(text, each.end)
        behind = after.end() if after else each.end
    return names


def _said_of(text: str, each: Quantity, behind: int) -> str:
    """Return the field that the words around a number name; words before *behind* belong to the number before it."""
    if (word := _RE.after.match(text, each.end)) and each.kind in ("degrees", ""):
        return pointed(word)
    if after := _RE.behind.match(text, each.end):
        return str(after.lastgroup)
    before = list(_RE.named.finditer(text, behind, each.start))
    if before:
        return str(before[-1].lastgroup)
    word = _RE.before.search(text, max(behind, each.start - 60), each.start)
    return pointed(word) if word else ""


def _listed(text: str, found: Sequence[Quantity]) -> dict[int, str]:
    """Return the fields of numbers that follow a list of names, by place."""
    listed: dict[int, str] = {}
    for names in _RE.list.finditer(text):
        fields = [str(match.lastgroup) for match in _RE.named.finditer(names.group())]
        first = next((place for place, each in enumerate(found) if each.start >= names.end()), len(found))
        numbers = found[first : first + len(fields)]
        if len(numbers) < len(fields) or _RE.named.search(text, names.end(), numbers[0].start):
            continue
        ends = pairwise(numbers)
        if all(_RE.next.fullmatch(text, one.end, two.start) for one, two in ends):
            listed |= dict(enumerate(fields, first))
    return listed


def words_at(text: str, each: Quantity) -> re.Match[str] | None:
    """The word that says where an angle points, right behind or before it."""
    return _RE.after.match(text, each.end) or _RE.before.search(text, max(0, each.start - 60), each.start)


def pointed(word: re.Match[str]) -> str:
    """The field of an angle with this word of direction."""
    return "elevation" if word["up"] or word["down"] else "azimuth"


# --- angles ----------------------------------------------------------------------------------------

Field = Literal["azimuth", "elevation"]


def azimuth(text: str) -> float | None:
    """The one azimuth in a plain text, degrees, +90 is left: *30° to the right* is -30, *directly behind* 180."""
    text = _RE.initial.sub(
        lambda found: " left " if "l" in found.group() else " right ", _RE.half_turn.sub("180", text)
    )
    return _angle(text, "azimuth") if _numbers(text) else pointing(text, "azimuth")


def elevation(text: str) -> float | None:
    """The one elevation in a plain text, degrees, +90 is up: *10 degrees below* is -10, *at ear level* 0."""
    return _angle(text, "elevation") if _numbers(text) else pointing(text, "elevation")


def _numbers(text: str) -> bool:
    """Whether a text holds a number but for hours of a clock."""
    return any(not text[each.start : each.end].endswith("o'clock") for each in quantities(text))


def names_only(text: str, other: str) -> bool:
    """Whether all angles of a plain text are said to be the *other* one."""
    found = _angles(text)
    return bool(found) and all(owner == other for _, owner in found)


#: Ranges no wider than these are read as their middle: the official limit is at least twice as far from their ends.
_WIDEST = {"azimuth": 20.0, "elevation": 10.0, "distance": 1.0}


def _angles(text: str, widest: float = 0.0) -> list[tuple[Quantity, str]]:
    """Return the angles and their fields; if there is none, the numbers without a unit. Bounds are left out."""
    numbers = middled(text, quantities(text), widest)
    found = list(zip(numbers, owners(text, numbers), strict=True))
    found = [each for each in found if each[0].kind == "degrees"] or [
        each for each in found if not each[0].kind and not each[0].counts and each[1] != "distance"
    ]
    return [each for each in found if not each[0].bound]


def _angle(text: str, wanted: Field) -> float | None:
    found = _angles(text, _WIDEST[wanted])
    pairs = pairwise(each for each, _ in found)
    if _RE.compass.search(text) or any(joined(text, one, two) for one, two in pairs):
        return None
    chosen = [each for each, owner in found if owner == wanted] or [each for each, owner in found if not owner]
    if any(
        each.doubtful
        or _counted_from_elsewhere(text, each)
        or _RE.dash.search(text, max(0, each.start - 20), each.start)
        for each in chosen
    ):
        return None
    positive, negative = ("left", "right") if wanted == "azimuth" else ("up", "down")
    values = [_signed(text, each, positive, negative) for each in chosen]
    value = only(value for value in values if value is not None)
    sides = (directions(text) or frozenset()) - {"front", "back"}
    plain = len(found) == 1 and not found[0][1] and not chosen[0].signed and not words_at(text, chosen[0])
    if value and plain and sides == {"right" if wanted == "azimuth" else "below"} and not _RE.of_others.search(text):
        value = -value  # "on the right, at 40 degrees"
    if value and any(each.signed and each.value == -value and each.kind != "other" for each in quantities(text)):
        return None
    if value is None or None in values or _contradicted(text, value, chosen, wanted):
        return None
    return value


def _counted_from_elsewhere(text: str, each: Quantity) -> bool:
    """Whether an angle is counted from another thing than the front or horizon: *30 degrees left of the bell*."""
    if _RE.off.match(text, each.end):
        return not (_RE.off_centre.match(text, each.end) and directions(text[each.end :].replace("front", "")))
    word = _RE.after.match(text, each.end)
    if word is None:
        return False
    return bool(
        _RE.elsewhere.match(text, word.end()) or (pointed(word) == "elevation" and _RE.above_it.match(text, word.end()))
    )


def _signed(text: str, each: Quantity, positive: str, negative: str) -> float | None:
    """Return the angle with the sign of its words; None if sign and words contradict."""
    word = words_at(text, each)
    groups = word.groupdict() if word else {}
    if groups.get(negative):
        return -abs(each.value) if not each.signed or each.value < 0 else None
    if groups.get(positive):
        return each.value if each.value >= 0 else None
    return each.value


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
    stated = all(_RE.after.match(text, each.end) for each in chosen)
    return bool(against) and named & beside == against and not stated


# --- distances -------------------------------------------------------------------------------------


def metres(text: str) -> float | None:
    """The one distance in a plain text; a second unit next to it (*2 m, about 6.6 feet*) is not a second one."""
    text = _RE.decimal.sub(r"\1.", text)
    found = _distances(text)
    if not found or any(each.value < 0 or each.doubtful for each in found):
        return None
    if len(found) > 1 and any(_RE.along.match(text, each.end) for each in found):
        return None
    first = found[0].value
    close = all(abs(each.value - first) <= 0.05 * first for each in found)
    return only({each.value for each in found} if not close else {first})


def _distances(text: str) -> list[Quantity]:
    """Return the distances, or numbers without a unit that are not angles; bounds and ranges are left out."""
    numbers = middled(text, quantities(text), _WIDEST["distance"])
    named = dict(zip(numbers, owners(text, numbers), strict=True))
    found = [each for each in numbers if each.kind == "metres"] or [
        each for each in numbers if not each.kind and not each.counts and named[each] in ("", "distance")
    ]
    if any(named[each] == "distance" for each in found):
        found = [each for each in found if named[each] == "distance"]
    ranges = [
        (one, two) for one, two in pairwise(found)
        if joined(text, one, two) and abs(one.value - two.value) > 0.05 * abs(one.value)  # else one in two units
    ]  # fmt: skip
    ends = {end for pair in ranges for end in pair}
    return [each for each in found if not each.bound and each not in ends]


# --- moments and intervals of time, seconds --------------------------------------------------------

Span = tuple[float, float]


def times(text: str) -> list[Quantity]:
    """The moments in a plain text."""
    return of_kind(text, "seconds")


def spans(text: str) -> list[Span]:
    """The intervals in a plain text, each once."""
    return list(dict.fromkeys(intervals(text)))


def intervals(text: str) -> list[Span]:
    """The intervals in a plain text as they come; none where one may be something else (*starts between 2 and 3 s*)."""
    found = times(text)
    pairs = _pairs(text, found)
    if any(each.doubtful for each in found) or _uncertain(text, found, pairs):
        return []
    if not pairs and (stated := _stated_span(text, found)):
        return [stated]
    return [(one.value, abs(two.value)) for one, two in pairs]


def span(text: str) -> Span | None:
    """The one interval in a plain text; None where there is none or a choice."""
    found = spans(_RE.first.sub(r"from 0 to \1 s", text))
    return found[0] if len(found) == 1 else None


def onset(text: str) -> float | None:
    """The one moment at which a plain text says that something begins.

    That of an interval counts; a range (*2-3 s*, *between 2 and 3 s*) may say when it begins as well.
    """
    found = times(text := _RE.decimal.sub(r"\1.", text))
    pairs = _pairs(text, found)
    if (half := _RE.halfway.fullmatch(text)) is not None:
        return float(half[1]) / 2
    if pairs:
        sure = all(_is_interval(text, one, two) for one, two in pairs)
        ends = {end for pair in pairs for end in pair}
        sure = sure and all(each in ends or _role(text, place, found) == "length" for place, each in enumerate(found))
        return only(start for start, _ in intervals(text)) if sure else None
    if not found and _RE.at_once.search(text):
        return 0.0
    moments = [(each, _role(text, place, found)) for place, each in enumerate(found)]
    doubtful = any(each.doubtful for each in found)
    value = None if doubtful else only(each.value for each, role in moments if role in ("start", ""))
    return value if value is not None and value >= 0 else None


def _pairs(text: str, found: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    pairs: list[tuple[Quantity, Quantity]] = []
    for one, two in pairwise(found):
        if (not pairs or one is not pairs[-1][1]) and _joined(text, one, two):
            pairs.append((one, two))
    return pairs


def _joined(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether two numbers are the ends of an interval: *a to b*, *a-b*, *between a and b*, *[a, b]*."""
    if two.signed and not text[one.end : two.start].strip():  # "18.4 -20.0"
        return text[two.start] == "-"
    if not _RE.to.fullmatch(text, one.end, two.start):
        return False
    lead = text[max(0, one.start - 120) : one.start]
    return bool(_RE.strong.match(text, one.end) or _RE.between.search(lead) or _RE.bracket.search(lead))


def _is_interval(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether a pair is an interval rather than a range: *from a to b*, *a s to b s*, *[a, b]*."""
    lead = text[max(0, one.start - 120) : one.start]
    if _RE.between.search(lead):
        return False
    both = text[one.end - 1].isalpha() and text[two.end - 1].isalpha()
    return bool(both or _RE.bracket.search(lead) or _RE.from_word.search(lead))


def _leads(text: str, found: list[Quantity]) -> list[str]:
    ends = [0, *(each.end for each in found)]
    return [text[end : each.start] for end, each in zip(ends, found, strict=False)]


def _uncertain(text: str, found: list[Quantity], pairs: list[tuple[Quantity, Quantity]]) -> bool:
    """Whether a pair is the range of one end, or the text may mean another moment."""
    firsts, seconds = {one.start for one, _ in pairs}, {two.start for _, two in pairs}
    if any(
        one.start in seconds and two.start not in firsts and _joined(text, one, two) for one, two in pairwise(found)
    ):
        return True  # "from 3 to 4 s until 6 s"
    lasting = {one.start for one, two in pairs if _RE.until.fullmatch(text, one.end, two.start)}
    for place, (each, lead) in enumerate(zip(found, _leads(text, found), strict=True)):
        if place and each.start not in seconds and pairs and _RE.another.search(lead):
            return True
        start, end = _RE.start.search(lead), _RE.end.search(lead)
        wide = bool(start) != bool(end) or _RE.silent.search(lead) or _RE.somewhere.search(lead)
        if each.start in firsts - lasting and wide:
            return True
    return False


def _role(text: str, place: int, found: list[Quantity]) -> str:
    """Return ``start``, ``end`` or ``length``; empty if the words around a moment do not say which."""
    if _RE.long.match(text, found[place].end):
        return "length"
    if _RE.end_note.match(text, found[place].end):
        return "end"
    words = list(_RE.role.finditer(text[found[place - 1].end if place else 0 : found[place].start]))
    return str(words[-1].lastgroup) if words else ""


def _stated_span(text: str, found: list[Quantity]) -> Span | None:
    stated: dict[str, list[float]] = {"start": [], "end": [], "length": []}
    for place, each in enumerate(found):
        role = _role(text, place, found)
        if not role and place == 0 and len(found) > 1 and _role(text, 1, found) == "length":
            role = "start"  # "3 s, lasting 2 s"
        if not role:
            return None
        stated[role].append(each.value)
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
