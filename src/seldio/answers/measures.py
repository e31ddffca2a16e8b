"""Directions, sides, motions, azimuths, elevations, distances and times in plain texts (:func:`.words.plainly`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Literal, NamedTuple

from seldio.answers.words import Patterns, filled, only, patterns, table

_BEARING, _NUMBER, _RE = (Patterns(part) for part in ("bearings", "quantities", "measures"))
OPPOSITE = {"left": "right", "right": "left", "front": "back", "back": "front", "above": "below", "below": "above"}


def denied(text: str, place: int) -> bool:
    """Return whether what stands at *place* is denied: *not left*, *rather than the left*."""
    return bool(_BEARING.negated.search(text, max(0, place - 60), place))


def inaudible(text: str, start: int, end: int) -> bool:
    """Return whether the clause around a name says that it is not heard, or only asks."""
    stop = _BEARING.clause_end.search(text, end)
    assert stop is not None
    begin = max(
        (match.end() for match in _BEARING.clause_end.finditer(text, max(0, start - 80), start) if match.group()),
        default=max(0, start - 80),
    )
    inside = _BEARING.absent.search(text, begin, stop.start()) or _BEARING.not_behind.search(text, end, stop.start())
    return bool(inside) or bool(_BEARING.asked.match(text, stop.start()))


@lru_cache(maxsize=16)
def directions(text: str) -> frozenset[str] | None:
    """Return the directions that a plain text names; None if one is denied, or two are given to choose from."""
    text = _BEARING.aside.sub(" ", text)
    if _BEARING.either.search(text):
        return None
    named = set()
    for match in _BEARING.any.finditer(text):
        if denied(text, match.start()):
            return None
        named.add(str(match.lastgroup))
    return frozenset(named)


_PLANE = {"azimuth": {"left", "right", "front", "back"}, "elevation": {"above", "below"}}


def pointing(text: str, field: Literal["azimuth", "elevation"]) -> float | None:
    """Return the degrees of a direction that a plain text names without a number: *directly behind*, *at 3 o'clock*.

    None where another direction in the same plane is named too, or one is denied or not meant exactly.
    """
    named = directions(text)
    if named is None or _BEARING.not_exactly.search(text):
        return None
    angles = {
        row["degrees"]: {*row["names"]} for row in table("pointed")[field] if re.search(filled(row["words"]), text)
    }
    named = named & _PLANE[field]
    for hour in map(int, _BEARING.hour.findall(text)) if field == "azimuth" else ():
        value = 180.0 if hour == 6 else (180.0 - 30.0 * hour) % 360 - 180.0
        angles[value] = {*named} - ({"left"} if value < 0 else {"right"} if 0 < value < 180 else {"left", "right"})
    return next((value for value, names in angles.items() if len(angles) == 1 and named <= names), None)


def sides(text: str) -> list[tuple[str, int]]:
    """Return left and right in a plain text with their places; *not left* says right, *not sure if left* both."""
    text = _BEARING.aside.sub(lambda places: " " * len(places.group()), text)
    places: list[tuple[str, int]] = []
    for match in _BEARING.any.finditer(text):
        side, place = match.lastgroup, match.start()
        if side != "left" and side != "right":
            continue
        unsaid, other = denied(text, place), OPPOSITE[side]
        if not unsaid or not _BEARING.not_this_side.search(text, max(0, place - 60), place):
            places.append((side, place))
        if unsaid:
            places.append((other, place))
    return places


# --- motions and comparisons -----------------------------------------------------------------------


def motion(text: str) -> str | None:
    """Return the one motion that a plain text names, as a ``motion_label``; None where there is none or a choice."""
    if _BEARING.not_still.search(text):
        text = _BEARING.not_still.sub(" moving ", text)
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


#: The two ends of what is compared.
POLES = {task: patterns(task) for task in ("compare_elevation", "compare_distance")}


# --- numbers with their units ----------------------------------------------------------------------

Kind = Literal["degrees", "metres", "seconds", "other", ""]

#: Units by spelling: their kind, and what one is in degrees, metres or seconds.
_UNITS: dict[str, tuple[Kind, float]] = {
    spelling: (unit["kind"], unit["scale"]) for unit in table("units") for spelling in unit["spelled"]
}
_NO_UNIT: tuple[Kind, float] = ("", 1.0)


class Quantity(NamedTuple):
    """A number in a text."""

    value: float  # in degrees, metres or seconds where it has such a unit
    kind: Kind  # of its unit; empty where it has none
    start: int  # where it begins in the text
    end: int  # behind its unit
    bound: bool  # whether it is said to be a limit, as in *less than 2 m*
    signed: bool  # whether a sign stands before it
    #: whether it is denied, or compared to or counted from something else: *not 2 m*, *2 m from the bell*
    doubtful: bool
    counts: bool = False  # whether it counts things: *3 steps*


@lru_cache(maxsize=16)  # several readers ask about the same text
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers in a plain text, without names, sizes, tolerances and values that another one corrects.

    A number without a unit takes that of the next if both are joined (*2 to 3 m*); parts are added (*6 ft 2 inches*).
    """
    if "±" in text or "give or take" in text:
        text = _NUMBER.tolerance.sub(lambda match: " " * len(match.group()), text)
    scaled: list[tuple[Quantity, float]] = []
    for match in _NUMBER.quantity.finditer(text):
        figure, unit, (start, end) = match["number"], match["unit"], match.span()
        kind, scale = _UNITS[unit] if unit else _NO_UNIT
        if not unit and (second := _NUMBER.second.search(text, scaled[-1][0].end if scaled else 0, start)):
            kind, start = "seconds", second.start()
        lead = max(0, start - 40)
        # a size, a tolerance, one of several, a name or the number of a point in a list
        other = _NUMBER.other.search(text, lead, start) or _NUMBER.over.search(text, lead, start)
        if other or _NUMBER.size.match(text, end) or (kind == "metres" and _NUMBER.long_metres.match(text, end)):
            kind = "other"
        elif not kind:
            point = text.startswith(")", end) and text.rfind("(", 0, start) <= text.rfind(")", 0, start)
            kind = "other" if point or _NUMBER.label.search(text, lead, start) else ""
        bound = bool(
            _NUMBER.bound.search(text, lead, start)
            or _NUMBER.than.search(text, max(0, start - 80), start)
            or _NUMBER.or_more.match(text, end)
        )
        doubtful = bool(patterns("beside").get(kind, _NUMBER.compared).match(text, end)) or denied(text, start)
        counts = not unit and kind == "" and not _NUMBER.no_thing.match(text, end)
        value = float(figure) if scale == 1.0 else _tidy(float(figure) * scale)
        number = Quantity(value, kind, start, end, bound, figure[0] in "+-", doubtful, counts)
        before, larger = scaled[-1] if scaled else (number, 0.0)
        smaller_unit = scale < larger and number.kind == before.kind and number.value < larger
        if smaller_unit and _NUMBER.parts.fullmatch(text, before.end, number.start):
            scaled[-1] = before._replace(value=_tidy(before.value + number.value), end=number.end), scale
            continue
        if before.kind and not number.kind and not text[before.end : number.start].strip() and scaled:  # "2 metres 30"
            scaled[-1] = before._replace(doubtful=True), larger
        scaled.append((number, scale))
    for place in range(len(scaled) - 2, -1, -1):
        (this, _), (after, scale) = scaled[place], scaled[place + 1]
        if not this.kind and after.kind and _NUMBER.joiner.fullmatch(text, this.end, after.start):
            scaled[place] = this._replace(kind=after.kind, value=_tidy(this.value * scale)), scale
    for place in range(1, len(scaled)):
        (this, scale), (after, _) = scaled[place - 1], scaled[place]
        if after.kind or after.counts or this.kind in ("", "other"):
            continue
        settled = _NUMBER.settled.fullmatch(text, this.end, after.start)
        if settled or joined(text, this, after) or _corrects(text, this, after):
            scaled[place] = after._replace(kind=this.kind, value=_tidy(after.value * scale)), scale
    return tuple(_last(text, _meant(text, [number for number, _ in scaled])))


def _last(text: str, numbers: list[Quantity]) -> list[Quantity]:
    """Drop quantities that a later one replaces: *2 m, no, 3 m*, *2 to 3 m, say 2.5*."""
    before: dict[Kind, list[Quantity]] = {}
    first: dict[Kind, int] = {}
    for number in numbers:
        same = before.setdefault(number.kind, [])
        ends = sorted(earlier.value for earlier in same[-2:])
        inside = len(ends) == 2 and ends[0] <= number.value <= ends[1]
        settled = inside and _NUMBER.settled.fullmatch(text, same[-1].end, number.start)
        if settled or (same and _corrects(text, same[-1], number)):
            first[number.kind] = number.start
            same.clear()
        same.append(number)
    current = [number for number in numbers if number.start >= first.get(number.kind, 0)]
    if current and _NUMBER.taken_back.match(text, current[-1].end):
        current[-1] = current[-1]._replace(doubtful=True)
    return current


def _corrects(text: str, first: Quantity, second: Quantity) -> bool:
    """Return whether the second of two numbers takes the first one back: *2 m, no, 3 m*, *I thought 2, but 3*."""
    if _NUMBER.corrected.fullmatch(text, first.end, second.start):
        return True
    at_first = _NUMBER.at_first.search(text, max(0, first.start - 60), first.start)
    return bool(at_first and _NUMBER.but_then.fullmatch(text, first.end, second.start))


def _tidy(value: float) -> float:
    return float(f"{value:.12g}")


def _meant(text: str, numbers: list[Quantity]) -> list[Quantity]:
    """Drop quantities that are denied in favor of a neighbor: *not 3 m but 2 m*, *2 m, not 3 to 4 m*."""
    asserted: list[Quantity] = []
    dropped: Quantity | None = None
    for place, number in enumerate(numbers):
        if dropped is not None and joined(text, dropped, number):
            dropped = number
            continue
        after = numbers[place + 1] if place + 1 < len(numbers) else None
        before = asserted[-1] if asserted else None
        opposed = denied(text, number.start) and (
            (before and before.kind == number.kind and _NUMBER.not_that.fullmatch(text, before.end, number.start))
            or (after and after.kind == number.kind and _NUMBER.but_this.fullmatch(text, number.end, after.start))
        )
        dropped = number if opposed else None
        if not opposed:
            asserted.append(number)
    return asserted


def joined(text: str, first: Quantity, second: Quantity) -> bool:
    """Return whether two numbers in a row are a range or a choice: *1 to 2 m*, *1 or 2 m*, *between 1 and 2 m*."""
    if _NUMBER.range.fullmatch(text, first.end, second.start):
        return True
    return bool(
        _NUMBER.between.search(text, max(0, first.start - 60), first.start)
        and _NUMBER.joiner.fullmatch(text, first.end, second.start)
    )


def middled(text: str, numbers: Sequence[Quantity], widest: float) -> list[Quantity]:
    """Replace ranges no wider than *widest* by their middle: *between 40 and 50 degrees* is 45."""
    merged: list[Quantity] = []
    for number in numbers:
        before = merged[-1] if merged else number
        near = before.kind == number.kind and 0 < abs(before.value - number.value) <= widest
        sure = before.value * number.value >= 0 and not (before.doubtful or number.doubtful)
        range_of_both = (
            near and sure and joined(text, before, number) and _NUMBER.to.fullmatch(text, before.end, number.start)
        )
        if range_of_both and not _NUMBER.from_word.search(text, max(0, before.start - 60), before.start):
            middle = _tidy((before.value + number.value) / 2)
            merged[-1] = before._replace(value=middle, end=number.end, counts=number.counts)
        else:
            merged.append(number)
    return merged


def concluded(read: Callable[[str], float | None], text: str) -> float | None:
    """Return the value that *read* reads of a plain text, or of its conclusion if that names no fewer directions."""
    if (value := read(text)) is not None or not (ends := [match.end() for match in _NUMBER.so.finditer(text)]):
        return value
    end = text[ends[-1] :].lstrip("=")
    said = ends[-1] and directions(end) == directions(text) and not _NUMBER.ruled_out.search(end)
    return read(end) if said else None


# --- the number of sources -------------------------------------------------------------------------


def count(text: str) -> int | None:
    """Return the one number of sources in a plain text."""
    numbers = [number for number in quantities(text) if not number.kind]
    if any(number.bound or number.signed or number.doubtful for number in numbers):
        return None
    gaps = [(first.end, second.start) for first, second in pairwise(numbers)]
    if any(_NUMBER.joiner.fullmatch(text, *gap) and text[slice(*gap)].strip() != "," for gap in gaps):
        return None  # one of both
    if any(_NUMBER.or_so.search(text, max(0, number.start - 20), number.start) for number in numbers[1:]):
        return None
    numbers = [number for number in numbers if _NUMBER.total.match(text, number.end)] or numbers
    first = next((number for number in numbers if _NUMBER.counted.match(text, number.end)), None)
    bare = [number for number in numbers if not number.counts and not _NUMBER.of_them.match(text, number.end)]
    others = [number for number in bare if first and number.start > first.start and number.value != first.value]
    if first and any(text.find(":", first.end, number.start) < 0 for number in others):
        return None  # a number without a noun, and no detail after a colon
    counted = [(number, match) for number in numbers if (match := _NUMBER.counted.match(text, number.end))]
    for _, match in counted:
        if _NUMBER.or_more.match(text, match.end()) or (match["some"] and _NUMBER.and_more.match(text, match.end())):
            return None
    if len(numbers) > 1 and counted and directions(text) != frozenset():
        return None  # so many here, so many there
    values = [number.value for number, _ in counted] or [number.value for number in numbers]
    if not counted and not all(_NUMBER.bare.match(text, number.end) for number in numbers):
        return None
    single = _NUMBER.single.search(text)
    if single and denied(text, single.start()):
        return None
    values += [0.0] * bool(_NUMBER.none.search(text)) + [1.0] * bool(single) + [2.0] * bool(_NUMBER.pair.search(text))
    value = only(values)
    return int(value) if value is not None and value.is_integer() and value < 1e9 else None


# --- azimuth, elevation or distance ----------------------------------------------------------------


def owners(text: str, numbers: Sequence[Quantity]) -> list[str]:
    """Return for each number ``azimuth``, ``elevation`` or ``distance``; empty if nothing says which.

    A word of direction after it decides first, then a list of names before it, then a name behind it, one before
    it, a word of direction before it; else what holds of the number before it.
    """
    listed = _listed(text, numbers)
    names: list[str] = []
    behind = 0
    for place, number in enumerate(numbers):
        word = _RE.after.match(text, number.end) if number.kind in ("degrees", "") else None
        after = _RE.behind.match(text, number.end)
        if place in listed:
            name = listed[place]
        elif word:
            name = pointed(word)
        elif after:
            name = str(after.lastgroup)
        elif before := list(_RE.named.finditer(text, behind, number.start)):
            name = str(before[-1].lastgroup)
        else:
            word = _RE.before.search(text, max(behind, number.start - 60), number.start)
            name = pointed(word) if word else ""
        if not name and names and not _RE.anew.search(text, behind, number.start):
            name = names[-1]
        names.append(name)
        behind = after.end() if after else number.end
    return names


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
    """Return the one azimuth in a plain text, +90° is left: *30° to the right* is -30, *directly behind* is 180."""
    text = _RE.initial.sub(
        lambda match: " left " if "l" in match.group() else " right ", _RE.half_turn.sub("180", text)
    )
    return _angle(text, "azimuth")


def elevation(text: str) -> float | None:
    """Return the one elevation in a plain text, degrees, +90 is up: *10 degrees below* is -10, *at ear level* 0."""
    return _angle(text, "elevation")


#: Ranges no wider than these are read as their middle: the official limit is at least twice as far from their ends.
_WIDEST = {"azimuth": 20.0, "elevation": 10.0, "distance": 1.0}


def angles(text: str, widest: float = 0.0) -> list[tuple[Quantity, str]]:
    """Return the angles and their fields; if there is none, the numbers without a unit. Bounds are left out."""
    numbers = middled(text, quantities(text), widest)
    owned = list(zip(numbers, owners(text, numbers), strict=True))
    owned = [angle for angle in owned if angle[0].kind == "degrees"] or [
        angle for angle in owned if not angle[0].kind and not angle[0].counts and angle[1] != "distance"
    ]
    return [angle for angle in owned if not angle[0].bound]


def _angle(text: str, wanted: Field) -> float | None:
    if all(text[number.start : number.end].endswith("o'clock") for number in quantities(text)):  # hours
        return pointing(text, wanted)
    every = angles(text, _WIDEST[wanted])
    pairs = pairwise(angle for angle, _ in every)
    if _RE.compass.search(text) or any(joined(text, *pair) for pair in pairs):
        return None
    chosen = [angle for angle, owner in every if owner == wanted] or [angle for angle, owner in every if not owner]
    if any(
        angle.doubtful
        or _counted_from_elsewhere(text, angle)
        or _RE.dash.search(text, max(0, angle.start - 20), angle.start)
        for angle in chosen
    ):
        return None
    positive, negative = ("left", "right") if wanted == "azimuth" else ("up", "down")
    values: list[float | None] = []  # with the sign of their words; None where sign and words contradict each other
    for angle in chosen:
        word, degrees = words_at(text, angle), angle.value
        groups = word.groupdict() if word else {}
        if groups.get(negative):
            values.append(-abs(degrees) if not angle.signed or degrees < 0 else None)
        else:
            values.append(None if groups.get(positive) and degrees < 0 else degrees)
    value = only(value for value in values if value is not None)
    sides = (directions(text) or frozenset()) - {"front", "back"}
    plain = len(every) == 1 and not every[0][1] and not chosen[0].signed and not words_at(text, chosen[0])
    if value and plain and sides == {"right" if wanted == "azimuth" else "below"} and not _RE.of_others.search(text):
        value = -value  # "on the right, at 40 degrees"
    if value and any(angle.signed and angle.value == -value and angle.kind != "other" for angle in quantities(text)):
        return None
    if value is None or None in values or _contradicted(text, value, chosen, wanted):
        return None
    return value


def _counted_from_elsewhere(text: str, angle: Quantity) -> bool:
    """Return whether an angle is not counted from the front or horizon: *30 degrees left of the bell*."""
    if _RE.off.match(text, angle.end):
        return not (_RE.off_centre.match(text, angle.end) and directions(text[angle.end :].replace("front", "")))
    word = _RE.after.match(text, angle.end)
    if word is None:
        return False
    return bool(
        _RE.elsewhere.match(text, word.end()) or (pointed(word) == "elevation" and _RE.above_it.match(text, word.end()))
    )


def _contradicted(text: str, value: float, chosen: list[Quantity], wanted: str) -> bool:
    """Return whether a text names the other half, or only the other side, beside the words of the angle."""
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
    # the distances, or numbers without a unit that are not angles; bounds and ranges are left out
    numbers = middled(text, quantities(text), _WIDEST["distance"])
    named = dict(zip(numbers, owners(text, numbers), strict=True))
    distances = [number for number in numbers if number.kind == "metres"] or [
        number for number in numbers if not number.kind and not number.counts and named[number] in ("", "distance")
    ]
    distances = [number for number in distances if named[number] == "distance"] or distances
    ends: set[Quantity] = set()
    for first, second in pairwise(distances):
        two_units = abs(first.value - second.value) <= 0.05 * abs(first.value)  # of one distance
        ends |= {first, second} if joined(text, first, second) and not two_units else set()
    distances = [number for number in distances if not number.bound and number not in ends]
    if not distances or any(distance.value < 0 or distance.doubtful for distance in distances):
        return None
    if len(distances) > 1 and any(_RE.along.match(text, distance.end) for distance in distances):
        return None
    nearest = distances[0].value
    close = all(abs(distance.value - nearest) <= 0.05 * nearest for distance in distances)
    return nearest if close else only(distance.value for distance in distances)


# --- moments and intervals of time, seconds --------------------------------------------------------

Span = tuple[float, float]


def times(text: str) -> list[Quantity]:
    """Return the moments in a plain text but for bounds; where there is none, the numbers without any unit."""
    numbers = quantities(text)
    moments = [number for number in numbers if number.kind == "seconds"] or [
        number for number in numbers if not number.kind and not number.counts
    ]
    return [moment for moment in moments if not moment.bound]


def intervals(text: str) -> list[Span]:
    """Return the intervals in a plain text in order, none where one may not be one: *begins between 2 and 3 s*."""
    moments = times(text)
    pairs = _pairs(text, moments)
    if any(moment.doubtful for moment in moments) or _uncertain(text, moments, pairs):
        return []
    if not pairs:  # "it begins at 3 s and lasts 2 s"
        stated: dict[str, list[float]] = {"start": [], "end": [], "length": []}
        for place, moment in enumerate(moments):
            role = _role(text, place, moments)
            if not role and place == 0 and len(moments) > 1 and _role(text, 1, moments) == "length":
                role = "start"  # "3 s, lasting 2 s"
            if not role:
                return []
            stated[role].append(moment.value)
        start, end, length = (only(stated[role]) for role in ("start", "end", "length"))
        if start is None or (end is None and length is None):
            return []
        return [(start, end if end is not None else round(start + (length or 0.0), 9))]
    return [(first.value, abs(second.value)) for first, second in pairs]


def span(text: str) -> Span | None:
    """Return the one interval in a plain text; None where there is none or a choice."""
    return only(intervals(_RE.first.sub(r"from 0 to \1 s", text)))


def onset(text: str) -> float | None:
    """Return the one moment at which something begins: of an interval its start, of a range (*2-3 s*) any of it."""
    moments = times(text := _RE.decimal.sub(r"\1.", text))
    pairs = _pairs(text, moments)
    if (half := _RE.halfway.fullmatch(text)) is not None:
        return float(half[1]) / 2
    if pairs:
        sure = True  # an interval rather than a range: *from a to b*, *a s to b s*, *[a, b]*
        for first, second in pairs:
            lead = text[max(0, first.start - 120) : first.start]
            both = text[first.end - 1].isalpha() and text[second.end - 1].isalpha()
            named = both or _RE.bracket.search(lead) or _RE.from_word.search(lead)
            sure = sure and bool(named) and not _RE.between.search(lead)
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


def _uncertain(text: str, moments: list[Quantity], pairs: list[tuple[Quantity, Quantity]]) -> bool:
    """Return whether a pair is the range of one end, or the text may mean another moment."""
    firsts, seconds = {first.start for first, _ in pairs}, {second.start for _, second in pairs}
    if any(
        first.start in seconds and second.start not in firsts and _joined(text, first, second)
        for first, second in pairwise(moments)
    ):
        return True  # "from 3 to 4 s until 6 s"
    lasting = {first.start for first, second in pairs if _RE.until.fullmatch(text, first.end, second.start)}
    ends = [0, *(moment.end for moment in moments)]
    for place, moment in enumerate(moments):
        lead = text[ends[place] : moment.start]
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


#: What reads a quantity in a plain text.
QUANTITIES: dict[str, Callable[[str], float | Span | None]] = {
    "azimuth": partial(concluded, azimuth),
    "elevation": partial(concluded, elevation),
    "distance": partial(concluded, metres),
    "onset": partial(concluded, onset),
    "active sources": partial(concluded, count),
    "interval": span,
}
