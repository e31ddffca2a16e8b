"""Numbers with their units, and intervals of time, in plain text (see :mod:`seldio.scores.so_bench.tidy`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, NamedTuple

Kind = Literal["degrees", "metres", "seconds", "other", ""]
Span = tuple[float, float]

#: Units by spelling: their kind, and what one is in degrees, metres or seconds.
_UNITS: dict[str, tuple[Kind, float]] = {
    **dict.fromkeys(("°", "degrees", "degree", "degs", "deg"), ("degrees", 1.0)),
    **dict.fromkeys(("radians", "radian", "rad"), ("degrees", 180 / math.pi)),
    **dict.fromkeys(("meters", "metres", "meter", "metre", "m"), ("metres", 1.0)),
    **dict.fromkeys(("centimeters", "centimetres", "centimeter", "centimetre", "cm"), ("metres", 0.01)),
    **dict.fromkeys(("millimeters", "millimetres", "mm"), ("metres", 0.001)),
    **dict.fromkeys(("kilometers", "kilometres", "km"), ("metres", 1000.0)),
    **dict.fromkeys(("feet", "foot", "ft"), ("metres", 0.3048)),
    **dict.fromkeys(("inches", "inch"), ("metres", 0.0254)),
    **dict.fromkeys(("yards", "yard", "yd"), ("metres", 0.9144)),
    **dict.fromkeys(("seconds", "second", "secs", "sec", "s"), ("seconds", 1.0)),
    **dict.fromkeys(("milliseconds", "millisecond", "ms"), ("seconds", 0.001)),
    **dict.fromkeys(("minutes", "minute", "mins", "min"), ("seconds", 60.0)),
    **dict.fromkeys(("%", "percent", "khz", "hz", "db", "channels", "channel", "m/s", "th", "nd", "st", "rd", "x",
                     "frames", "frame", "times", "o'clock"), ("other", 1.0)),
}  # fmt: skip
_SPELLINGS = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_QUANTITY = re.compile(
    r"(?<![a-z\d./π])(?P<number>(?:(?<![\w.)\]°%'\"])[-+])?(?:\d++(?:\.\d++)?+|\.\d++)(?:e[-+]?\d++)?+)(?!\s*/\s*\d)"
    rf"(?:\s*-?\s*(?P<unit>{_SPELLINGS})(?![a-z/]))?"
)
_TOLERANCE = re.compile(r"(?:±|\+/?-)\s*[\d.]+\s*(?:°|deg(?:ree)?s?|m|s)?")
_JOINER = re.compile(r"\s*(?:-|to|and|until|till|through|or|,)\s*(?:about|around|approximately|roughly|at|~)?\s*")
#: Before a number that is a bound, not a value.
_BOUND = re.compile(r"(?:<|(?<!-)>|≤|≥|\b(?:less|more|farther|further|closer|greater|fewer|larger|smaller|nearer) than"
                    r"|\b(?:below|beyond|under|over|at least|at most|up to|within))\s*\Z")  # fmt: skip


class Quantity(NamedTuple):
    """A number in a text.

    Args:
        value: in degrees, metres or seconds where it has such a unit.
        kind: of its unit; empty where it has none.
        start: where it begins in the text.
        end: behind its unit.
        bound: whether it is said to be a limit, as in *less than 2 m*.
        signed: whether a sign stands before it.
    """

    value: float
    kind: Kind
    start: int
    end: int
    bound: bool
    signed: bool


def quantities(text: str) -> list[Quantity]:
    """All numbers of a plain text; one without unit takes that of the next where the two are joined (*2 to 3 m*)."""
    if "±" in text or "+/-" in text:
        text = _TOLERANCE.sub(lambda found: " " * len(found.group()), text)
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        number, unit = match["number"], match["unit"]
        kind, scale = _UNITS[unit] if unit else ("", 1.0)
        bound = bool(_BOUND.search(text, max(0, match.start() - 16), match.start()))
        value = float(number) if scale == 1.0 else float(f"{float(number) * scale:.12g}")
        found.append(Quantity(value, kind, match.start(), match.end(), bound, number[0] in "+-"))
    for place in range(len(found) - 2, -1, -1):
        this, after = found[place], found[place + 1]
        if not this.kind and after.kind and _JOINER.fullmatch(text, this.end, after.start):
            found[place] = this._replace(kind=after.kind)
    return found


def of_kind(found: Iterable[Quantity], kind: Kind) -> list[Quantity]:
    """The numbers of a kind; where there are none, those without any unit."""
    found = list(found)
    return [each for each in found if each.kind == kind] or [each for each in found if not each.kind]


def only(values: Iterable[float]) -> float | None:
    """The value, where all are the same; None where there is none or a choice."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def metres(text: str) -> float | None:
    """The one distance in a plain text, metres; a second unit beside it (*2 m, about 6.6 feet*) is no second one."""
    found = [each for each in of_kind(quantities(text), "metres") if not each.bound]
    if not found or any(each.value < 0 for each in found):
        return None
    first = found[0].value
    close = all(abs(each.value - first) <= 0.05 * first for each in found)
    converted = {each.value for each in found} if not close else {first}
    return only(converted)


# --- times -----------------------------------------------------------------------------------------

_ABOUT = r"(?:about|around|approximately|roughly|exactly|~|at|the|time|of|t\s*=|mark)"
#: What joins the ends of an interval, between two numbers.
_TO = re.compile(rf"\s*(?:-+>?|→|~|to|until|till|through|up to|and|;|,|\.\.+)\s*(?:{_ABOUT}\s*)*", re.ASCII)
_STRONG = re.compile(r"\s*(?:-+>?|→|~|to|until|till|through|up to|\.\.+)")
_BETWEEN = re.compile(r"(?:\bbetween\s+(?:about |around |approximately |roughly |~)*|[\[(]\s*)\Z")
_BEGINS = re.compile(r"\b(?:start|begin|onset|from|appear|set|commenc|enter)[^\d]*\Z")
_ENDS = re.compile(r"\b(?:end|stop|offset|until|ceas|finish|fade|disappear|to)[^\d]*\Z")
_LASTS = re.compile(r"\b(?:last|duration|for|length|lasting)[^\d]{0,24}\Z")
_LONG = re.compile(r"\s*(?:long|in (?:length|duration)|duration|clip|recording|audio)")


def times(text: str) -> list[Quantity]:
    """The moments in a plain text, seconds."""
    return [each for each in of_kind(quantities(text), "seconds") if not each.bound]


def spans(text: str) -> list[Span]:
    """The intervals in a plain text, seconds, each once."""
    return list(dict.fromkeys(intervals(text)))


def intervals(text: str) -> list[Span]:
    """The intervals in a plain text, seconds, as they come."""
    found, taken = times(text), -1
    pairs: list[Span] = []
    for place, (one, two) in enumerate(pairwise(found)):
        if place > taken and _joined(text, one, two):
            pairs.append((one.value, abs(two.value)))
            taken = place + 1
    if not pairs and (told := _told(text, found)):
        pairs.append(told)
    return pairs


def _joined(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether two numbers are the ends of an interval: *a to b*, *a-b*, *between a and b*, *[a, b]*."""
    if two.signed and not text[one.end : two.start].strip():  # "18.4 -20.0"
        return text[two.start] == "-"
    if not _TO.fullmatch(text, one.end, two.start):
        return False
    return bool(_STRONG.match(text, one.end) or _BETWEEN.search(text, 0, one.start))


def _told(text: str, found: list[Quantity]) -> Span | None:
    """The interval of a text that says where it begins, and where it ends or how long it is."""
    starts, ends, lengths = [], [], []
    before = 0
    for each in found:
        lead = text[before : each.start]
        before = each.end
        if _LASTS.search(lead) or _LONG.match(text, each.end):
            lengths.append(each.value)
        elif _ENDS.search(lead) and not re.search(r"\bfrom[^\d]*\Z", lead):
            ends.append(each.value)
        elif _BEGINS.search(lead):
            starts.append(each.value)
        else:
            return None
    start, end, length = only(starts), only(ends), only(lengths)
    if start is None or (end is None and length is None):
        return None
    return (start, end) if end is not None else (start, round(start + (length or 0.0), 9))


def span(text: str) -> Span | None:
    """The one interval in a plain text; None where there is none or a choice."""
    found = spans(text)
    return found[0] if len(found) == 1 else None


def onset(text: str) -> float | None:
    """The one moment at which a plain text says that something begins."""
    if (found := span(text)) is not None:
        return found[0]
    moments = times(text)
    if (value := only(each.value for each in moments)) is not None:
        return value if value >= 0 else None
    begins = [each.value for each in moments if _BEGINS.search(text, 0, each.start) and not _ended(text, each)]
    return only(begins)


def _ended(text: str, moment: Quantity) -> bool:
    return bool(_ENDS.search(text, 0, moment.start) or _LASTS.search(text, 0, moment.start))


# --- counts ----------------------------------------------------------------------------------------

_COUNTED = re.compile(
    r"\s*(?:[a-z-]+\s+){0,3}?(?:sources?|sounds?|events?|speakers?|voices?|people|persons|objects?|active|audible)\b"
)
_NONE = re.compile(
    r"\b(?:no|zero|without any)\s+(?:[a-z-]+\s+){0,2}?(?:sources?|sounds?|events?)\b|\A(?:none|nothing)\W*\Z"
)
_SINGLE = re.compile(r"\b(?:a|only a|just a)?\s*single\s+(?:[a-z-]+\s+){0,2}?(?:source|sound|event)\b")


def count(text: str) -> int | None:
    """The one number of sources in a plain text."""
    found = [each for each in quantities(text) if not each.kind]
    if any(each.bound or each.signed for each in found):
        return None
    counted = [each.value for each in found if _COUNTED.match(text, each.end)]
    values = counted or [each.value for each in found]
    values += [0.0] * bool(_NONE.search(text)) + [1.0] * bool(_SINGLE.search(text))
    value = only(values)
    return int(value) if value is not None and value.is_integer() and value < 1e9 else None
