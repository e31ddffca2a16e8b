"""Numbers with their units, and what is said about them, in plain text (see :mod:`seldio.answers.plain_text`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Literal, NamedTuple, TypeVar

from seldio.answers.bearings import denied, directions
from seldio.answers.languages import Patterns, patterns, table

_RE = Patterns("quantities")

Kind = Literal["degrees", "metres", "seconds", "other", ""]
T = TypeVar("T")

#: Units by spelling: their kind, and what one is in degrees, metres or seconds.
_UNITS: dict[str, tuple[Kind, float]] = {
    spelling: (unit["kind"], unit["scale"]) for unit in table("units") for spelling in unit["spelled"]
}


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


def quantities(text: str) -> list[Quantity]:
    """Return the numbers in a plain text, without names, sizes, tolerances and values that another one corrects.

    A number without a unit takes that of the next if both are joined (*2 to 3 m*); parts are added (*6 ft 2 inches*).
    """
    if "±" in text or "give or take" in text:
        text = _RE.tolerance.sub(lambda match: " " * len(match.group()), text)
    scaled: list[tuple[Quantity, float]] = []
    for match in _RE.quantity.finditer(text):
        number, scale = _quantity(text, match, scaled[-1][0].end if scaled else 0)
        before, larger = scaled[-1] if scaled else (number, 0.0)
        smaller_unit = scale < larger and number.kind == before.kind and number.value < larger
        if smaller_unit and _RE.parts.fullmatch(text, before.end, number.start):
            scaled[-1] = before._replace(value=_tidy(before.value + number.value), end=number.end), scale
            continue
        if before.kind and not number.kind and not text[before.end : number.start].strip() and scaled:  # "2 metres 30"
            scaled[-1] = before._replace(doubtful=True), larger
        scaled.append((number, scale))
    for place in range(len(scaled) - 2, -1, -1):
        (this, _), (after, scale) = scaled[place], scaled[place + 1]
        if not this.kind and after.kind and _RE.joiner.fullmatch(text, this.end, after.start):
            scaled[place] = this._replace(kind=after.kind, value=_tidy(this.value * scale)), scale
    for place in range(1, len(scaled)):
        (this, scale), (after, _) = scaled[place - 1], scaled[place]
        if after.kind or after.counts or this.kind in ("", "other"):
            continue
        settled = _RE.settled.fullmatch(text, this.end, after.start)
        if settled or joined(text, this, after) or _corrects(text, this, after):
            scaled[place] = after._replace(kind=this.kind, value=_tidy(after.value * scale)), scale
    return _last(text, _meant(text, [number for number, _ in scaled]))


def _last(text: str, numbers: list[Quantity]) -> list[Quantity]:
    """Drop quantities that a later one replaces: *2 m, no, 3 m*, *2 to 3 m, say 2.5*."""
    before: dict[Kind, list[Quantity]] = {}
    first: dict[Kind, int] = {}
    for number in numbers:
        same = before.setdefault(number.kind, [])
        if same and _replaces(text, same[-2:], number):
            first[number.kind] = number.start
            same.clear()
        same.append(number)
    current = [number for number in numbers if number.start >= first.get(number.kind, 0)]
    if current and _RE.taken_back.match(text, current[-1].end):
        current[-1] = current[-1]._replace(doubtful=True)
    return current


def _replaces(text: str, before: list[Quantity], number: Quantity) -> bool:
    ends = sorted(earlier.value for earlier in before)
    inside = len(ends) == 2 and ends[0] <= number.value <= ends[1]
    if inside and _RE.settled.fullmatch(text, before[-1].end, number.start):
        return True
    return _corrects(text, before[-1], number)


def _corrects(text: str, first: Quantity, second: Quantity) -> bool:
    """Return whether the second of two numbers takes the first one back: *2 m, no, 3 m*, *I thought 2, but 3*."""
    if _RE.corrected.fullmatch(text, first.end, second.start):
        return True
    at_first = _RE.at_first.search(text, max(0, first.start - 60), first.start)
    return bool(at_first and _RE.but_then.fullmatch(text, first.end, second.start))


def _quantity(text: str, match: re.Match[str], behind: int) -> tuple[Quantity, float]:
    number, unit, (start, end) = match["number"], match["unit"], match.span()
    kind, scale = _UNITS[unit] if unit else ("", 1.0)
    if not unit and (second := _RE.second.search(text, behind, start)):
        kind, start = "seconds", second.start()
    if _is_other(text, start, end, kind):
        kind = "other"
    lead = max(0, start - 40)
    bound = bool(
        _RE.bound.search(text, lead, start)
        or _RE.than.search(text, max(0, start - 80), start)
        or _RE.or_more.match(text, end)
    )
    doubtful = bool(patterns("beside").get(kind, _RE.compared).match(text, end)) or denied(text, start)
    counts = not unit and kind == "" and not _RE.no_thing.match(text, end)
    value = float(number) if scale == 1.0 else _tidy(float(number) * scale)
    return Quantity(value, kind, start, end, bound, number[0] in "+-", doubtful, counts), scale


def _is_other(text: str, start: int, end: int, kind: Kind) -> bool:
    """Return whether a number is a size, a tolerance, one of several, a name or the number of a point in a list."""
    lead = max(0, start - 40)
    if _RE.other.search(text, lead, start) or _RE.over.search(text, lead, start) or _RE.size.match(text, end):
        return True
    if kind:
        return kind == "metres" and bool(_RE.long_metres.match(text, end))
    point = text.startswith(")", end) and text.rfind("(", 0, start) <= text.rfind(")", 0, start)
    return point or bool(_RE.label.search(text, lead, start))


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
            (before and before.kind == number.kind and _RE.not_that.fullmatch(text, before.end, number.start))
            or (after and after.kind == number.kind and _RE.but_this.fullmatch(text, number.end, after.start))
        )
        dropped = number if opposed else None
        if not opposed:
            asserted.append(number)
    return asserted


def joined(text: str, first: Quantity, second: Quantity) -> bool:
    """Return whether two numbers in a row are a range or a choice: *1 to 2 m*, *1 or 2 m*, *between 1 and 2 m*."""
    if _RE.range.fullmatch(text, first.end, second.start):
        return True
    return bool(
        _RE.between.search(text, max(0, first.start - 60), first.start)
        and _RE.joiner.fullmatch(text, first.end, second.start)
    )


def middled(text: str, numbers: list[Quantity], widest: float) -> list[Quantity]:
    """Replace ranges no wider than *widest* by their middle: *between 40 and 50 degrees* is 45."""
    merged: list[Quantity] = []
    for number in numbers:
        before = merged[-1] if merged else number
        near = before.kind == number.kind and 0 < abs(before.value - number.value) <= widest
        sure = before.value * number.value >= 0 and not (before.doubtful or number.doubtful)
        if near and sure and _ends(text, before, number):
            middle = _tidy((before.value + number.value) / 2)
            merged[-1] = before._replace(value=middle, end=number.end, counts=number.counts)
        else:
            merged.append(number)
    return merged


def _ends(text: str, first: Quantity, second: Quantity) -> bool:
    """Return whether two numbers are the ends of a range, and not of a movement."""
    moves = _RE.from_word.search(text, max(0, first.start - 60), first.start)
    return joined(text, first, second) and bool(_RE.to.fullmatch(text, first.end, second.start)) and not moves


def of_kind(text: str, kind: Kind) -> list[Quantity]:
    """The numbers of a kind in a plain text but for bounds; where there is none of the kind, those without any unit."""
    numbers = quantities(text)
    numbers = [number for number in numbers if number.kind == kind] or [
        number for number in numbers if not number.kind and not number.counts
    ]
    return [number for number in numbers if not number.bound]


def only(values: Iterable[T]) -> T | None:
    """Return the value, where all are the same; None where there is none or a choice."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def concluded(read: Callable[[str], float | None], text: str) -> float | None:
    """Return the value that *read* reads of a plain text, or of its conclusion if that names no fewer directions."""
    if (value := read(text)) is not None or not (ends := [match.end() for match in _RE.so.finditer(text)]):
        return value
    end = text[ends[-1] :].lstrip("=")
    said = ends[-1] and directions(end) == directions(text) and not _RE.ruled_out.search(end)
    return read(end) if said else None


# --- the number of sources -------------------------------------------------------------------------


def count(text: str) -> int | None:
    """Return the one number of sources in a plain text."""
    numbers = [number for number in quantities(text) if not number.kind]
    if any(number.bound or number.signed or number.doubtful for number in numbers):
        return None
    if any(_one_of_both(text, *pair) for pair in pairwise(numbers)):
        return None
    if any(_RE.or_so.search(text, max(0, number.start - 20), number.start) for number in numbers[1:]):
        return None
    numbers = [number for number in numbers if _RE.total.match(text, number.end)] or numbers
    first = next((number for number in numbers if _RE.counted.match(text, number.end)), None)
    bare = [number for number in numbers if not number.counts and not _RE.of_them.match(text, number.end)]
    if first and any(_besides(text, first, number) for number in bare):
        return None
    counted = [(number, match) for number in numbers if (match := _RE.counted.match(text, number.end))]
    for _, match in counted:
        if _RE.or_more.match(text, match.end()) or (match["some"] and _RE.and_more.match(text, match.end())):
            return None
    if len(numbers) > 1 and counted and directions(text) != frozenset():
        return None  # so many here, so many there
    values = [number.value for number, _ in counted] or [number.value for number in numbers]
    if not counted and not all(_RE.bare.match(text, number.end) for number in numbers):
        return None
    single = _RE.single.search(text)
    if single and denied(text, single.start()):
        return None
    values += [0.0] * bool(_RE.none.search(text)) + [1.0] * bool(single) + [2.0] * bool(_RE.pair.search(text))
    value = only(values)
    return int(value) if value is not None and value.is_integer() and value < 1e9 else None


def _besides(text: str, first: Quantity, number: Quantity) -> bool:
    """Return whether a number without a noun follows the *first* with one, except for details after a colon."""
    return number.start > first.start and number.value != first.value and text.find(":", first.end, number.start) < 0


def _one_of_both(text: str, first: Quantity, second: Quantity) -> bool:
    between = text[first.end : second.start]
    return bool(_RE.joiner.fullmatch(between)) and between.strip() != ","
