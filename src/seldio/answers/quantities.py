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
    """All numbers of a plain text that are not names, sizes or tolerances, and none that is given up for another one.

    One without unit takes that of the next where the two are joined (*2 to 3 m*); parts become one (*6 ft 2 inches*).
    """
    if "±" in text or "give or take" in text:
        text = _RE.tolerance.sub(lambda found: " " * len(found.group()), text)
    found: list[tuple[Quantity, float]] = []
    for match in _RE.quantity.finditer(text):
        one, scale = _quantity(text, match, found[-1][0].end if found else 0)
        before, larger = found[-1] if found else (one, 0.0)
        if (
            scale < larger and one.kind == before.kind and one.value < larger
            and _RE.parts.fullmatch(text, before.end, one.start)
        ):  # fmt: skip
            found[-1] = before._replace(value=_tidy(before.value + one.value), end=one.end), scale
            continue
        if before.kind and not one.kind and not text[before.end : one.start].strip() and found:  # "2 metres 30"
            found[-1] = before._replace(doubtful=True), larger
        found.append((one, scale))
    for place in range(len(found) - 2, -1, -1):
        (this, _), (after, scale) = found[place], found[place + 1]
        if not this.kind and after.kind and _RE.joiner.fullmatch(text, this.end, after.start):
            found[place] = this._replace(kind=after.kind, value=_tidy(this.value * scale)), scale
    for place in range(1, len(found)):
        (this, scale), (after, _) = found[place - 1], found[place]
        bare = not after.kind and not after.counts
        if (
            bare
            and this.kind not in ("", "other")
            and (
                joined(text, this, after)
                or _RE.settled.fullmatch(text, this.end, after.start)
                or _corrects(text, this, after)
            )
        ):
            found[place] = after._replace(kind=this.kind, value=_tidy(after.value * scale)), scale
    return _last(text, _meant(text, [one for one, _ in found]))


def _last(text: str, found: list[Quantity]) -> list[Quantity]:
    """Drop quantities that a later one replaces: *2 m, no, 3 m*, *2 to 3 m, say 2.5*."""
    before: dict[Kind, list[Quantity]] = {}
    first: dict[Kind, int] = {}
    for each in found:
        same = before.setdefault(each.kind, [])
        if same and _replaces(text, same[-2:], each):
            first[each.kind] = each.start
            same.clear()
        same.append(each)
    kept = [each for each in found if each.start >= first.get(each.kind, 0)]
    if kept and _RE.taken_back.match(text, kept[-1].end):
        kept[-1] = kept[-1]._replace(doubtful=True)
    return kept


def _replaces(text: str, before: list[Quantity], each: Quantity) -> bool:
    ends = sorted(one.value for one in before)
    if len(ends) == 2 and ends[0] <= each.value <= ends[1] and _RE.settled.fullmatch(text, before[-1].end, each.start):
        return True
    return _corrects(text, before[-1], each)


def _corrects(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether the second of two numbers takes the first one back: *2 m, no, 3 m*, *I thought 2, but 3*."""
    if _RE.corrected.fullmatch(text, one.end, two.start):
        return True
    at_first = _RE.at_first.search(text, max(0, one.start - 60), one.start)
    return bool(at_first and _RE.but_then.fullmatch(text, one.end, two.start))


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
    """Whether a number is a size, a tolerance, one of several, a name or the number of a point in a list."""
    lead = max(0, start - 40)
    if _RE.other.search(text, lead, start) or _RE.over.search(text, lead, start) or _RE.size.match(text, end):
        return True
    if kind:
        return kind == "metres" and bool(_RE.long_metres.match(text, end))
    point = text.startswith(")", end) and text.rfind("(", 0, start) <= text.rfind(")", 0, start)
    return point or bool(_RE.label.search(text, lead, start))


def _tidy(value: float) -> float:
    return float(f"{value:.12g}")


def _meant(text: str, found: list[Quantity]) -> list[Quantity]:
    """Drop quantities that are denied in favor of a neighbor: *not 3 m but 2 m*, *2 m, not 3 to 4 m*."""
    kept: list[Quantity] = []
    dropped: Quantity | None = None
    for place, each in enumerate(found):
        if dropped is not None and joined(text, dropped, each):
            dropped = each
            continue
        after = found[place + 1] if place + 1 < len(found) else None
        opposed = denied(text, each.start) and (
            (kept and kept[-1].kind == each.kind and _RE.not_that.fullmatch(text, kept[-1].end, each.start))
            or (after is not None and after.kind == each.kind and _RE.but_this.fullmatch(text, each.end, after.start))
        )
        dropped = each if opposed else None
        if not opposed:
            kept.append(each)
    return kept


def joined(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether two numbers in a row are a range or a choice: *1 to 2 m*, *1 or 2 m*, *between 1 and 2 m*."""
    if _RE.range.fullmatch(text, one.end, two.start):
        return True
    return bool(
        _RE.between.search(text, max(0, one.start - 60), one.start) and _RE.joiner.fullmatch(text, one.end, two.start)
    )


def middled(text: str, found: list[Quantity], widest: float) -> list[Quantity]:
    """*found* with the middle in place of a range that is no wider than *widest*: *between 40 and 50 degrees* is 45."""
    kept: list[Quantity] = []
    for each in found:
        one = kept[-1] if kept else each
        near = one.kind == each.kind and abs(one.value - each.value) <= widest and one.value * each.value >= 0
        if near and kept and one.value != each.value and not (one.doubtful or each.doubtful) and _ends(text, one, each):
            kept[-1] = one._replace(value=_tidy((one.value + each.value) / 2), end=each.end, counts=each.counts)
        else:
            kept.append(each)
    return kept


def _ends(text: str, one: Quantity, two: Quantity) -> bool:
    """Return whether two numbers are the ends of a range, and not of a movement."""
    moves = _RE.from_word.search(text, max(0, one.start - 60), one.start)
    return joined(text, one, two) and bool(_RE.to.fullmatch(text, one.end, two.start)) and not moves


def of_kind(text: str, kind: Kind) -> list[Quantity]:
    """The numbers of a kind in a plain text but for bounds; where there is none of the kind, those without any unit."""
    found = quantities(text)
    found = [each for each in found if each.kind == kind] or [
        each for each in found if not each.kind and not each.counts
    ]
    return [each for each in found if not each.bound]


def only(values: Iterable[T]) -> T | None:
    """The value, where all are the same; None where there is none or a choice."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def concluded(read: Callable[[str], float | None], text: str) -> float | None:
    """Return the value that *read* reads of a plain text, or of its conclusion if that names no fewer directions."""
    if (value := read(text)) is not None or not (ends := [found.end() for found in _RE.so.finditer(text)]):
        return value
    end = text[ends[-1] :].lstrip("=")
    said = ends[-1] and directions(end) == directions(text) and not _RE.ruled_out.search(end)
    return read(end) if said else None


# --- the number of sources -------------------------------------------------------------------------


def count(text: str) -> int | None:
    """The one number of sources in a plain text."""
    found = [each for each in quantities(text) if not each.kind]
    if any(each.bound or each.signed or each.doubtful for each in found):
        return None
    if any(_one_of_both(text, one, two) for one, two in pairwise(found)):
        return None
    if any(_RE.or_so.search(text, max(0, each.start - 20), each.start) for each in found[1:]):
        return None
    found = [each for each in found if _RE.total.match(text, each.end)] or found
    first = next((one for one in found if _RE.counted.match(text, one.end)), None)
    bare = [each for each in found if not each.counts and not _RE.of_them.match(text, each.end)]
    if first and any(_besides(text, first, each) for each in bare):
        return None
    counted = [(each, match) for each in found if (match := _RE.counted.match(text, each.end))]
    if any(_RE.or_more.match(text, match.end()) or (match["some"] and _RE.and_more.match(text, match.end()))
           for _, match in counted):  # fmt: skip
        return None
    if len(found) > 1 and counted and directions(text) != frozenset():
        return None  # so many here, so many there
    values = [each.value for each, _ in counted] or [each.value for each in found]
    if not counted and not all(_RE.bare.match(text, each.end) for each in found):
        return None
    single = _RE.single.search(text)
    if single and denied(text, single.start()):
        return None
    values += [0.0] * bool(_RE.none.search(text)) + [1.0] * bool(single) + [2.0] * bool(_RE.pair.search(text))
    value = only(values)
    return int(value) if value is not None and value.is_integer() and value < 1e9 else None


def _besides(text: str, first: Quantity, each: Quantity) -> bool:
    """Whether a number without a noun follows the *first* with one, except for details after a colon."""
    return each.start > first.start and each.value != first.value and text.find(":", first.end, each.start) < 0


def _one_of_both(text: str, one: Quantity, two: Quantity) -> bool:
    between = text[one.end : two.start]
    return bool(_RE.joiner.fullmatch(between)) and between.strip() != ","
