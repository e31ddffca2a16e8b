"""Numbers with their units, and what is said about them, in plain text (see :mod:`seldio.scores.so_bench.tidy`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeVar

from seldio.scores.so_bench.bearings import denied

Kind = Literal["degrees", "metres", "seconds", "other", ""]
T = TypeVar("T")

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
    r"(?<![a-z\d./π])(?P<number>(?:(?<![\w.)\]°%'\"])[-+])?(?:\d++(?:\.\d++)?+|\.\d++)(?:e[-+]?\d++)?+)(?!\s*/\s*\d|\s?[a-z°]*/\d)"
    rf"(?:\s*-?\s*(?P<unit>{_SPELLINGS})(?![a-z/]))?"
)
_TOLERANCE = re.compile(r"±\s*[\d.]+\s*(?:°|deg(?:ree)?s?|m|s)?")
#: Words before a number that say it is not exact.
ABOUT = r"(?:(?:about|around|approximately|roughly|nearly|almost|exactly|possibly|maybe|perhaps|even|some|at|~)\s*)*"
#: Between two numbers of one unit, or of which one may be right.
JOINER = re.compile(rf"\s*(?:-|to|and|until|till|through|or|,)\s*{ABOUT}")
#: Before or behind a number that is a bound, not a value.
_BOUND = re.compile(
    r"(?:<|(?<!-)>|≤|≥|\b(?:less|more|farther|further|closer|greater|fewer|larger|smaller|nearer|later|earlier"
    r"|sooner) than"
    r"|\b(?:below|beyond|under|over|at least|at most|up to|within|exceeding|before|(?:max|min)imum(?: of)?"
    rf"|(?:shortly|just|right|soon|some ?time|any ?time) after))\s*{ABOUT}\Z"
)
OR_MORE = re.compile(
    r"\s*(?:\+(?!\s?[\d.-])|or (?:more|less|fewer|higher|lower|above|below|beyond|further|farther|closer|later|earlier"
    r"|over|under)\b|at (?:most|least)\b|(?:max|min)imum\b)"
)
#: Before a number that measures something else.
_OTHER = re.compile(
    r"\b(?:(?:error|margin|tolerance|uncertainty|accuracy|resolution|spread|width|height|size|difference|gap|cone|arc"
    r"|sector|factor) of(?: an?)?|the (?:very )?(?:first|last|final|initial|opening|next|other)|every|each|twice)"
    rf"\s+{ABOUT}\Z"
)
#: Where distances are counted from, and directions from which sounds come.
_HERE = (
    r"(?:(?:the|your|our|my|its|this|a)\s+)?(?:(?:foa|ambisonic|recording|central|virtual)\s+)?(?:listen|mic|array"
    r"|observer|cent(?:er|re)|origin|camera|head|record|user|me\b|you|us\b|here|receiver|sensor|point of|position|front"
    r"|back|behind|left|right|above|below|rear|top|bottom|ahead|straight|\d)"
)
#: Behind a number that is compared to another one, or counted from something else, by kind.
_COMPARED = (
    r"\s+(?:more|less|closer|nearer|farther|further|later|earlier|sooner|other|additional|extra)\b"
    r"|\s+(?:[a-z]+\s+){1,3}?than\b"
)
_BESIDE: dict[Kind, re.Pattern[str]] = {
    "": re.compile(_COMPARED),
    "other": re.compile(_COMPARED),
    "degrees": re.compile(
        rf"{_COMPARED}|[\s-]*(?:wide|apart|spread|sector|cone|arc|range|field|window|error|margin|resolution)\b"
    ),
    "metres": re.compile(
        rf"{_COMPARED}|[\s-]*(?:wide|tall|high|deep|long|across|thick|apart|square|radius"
        rf"|in (?:height|width|length|size|diameter|radius))\b|\s*(?:away\s+|distant\s+)?from\s+(?!{_HERE})"
    ),
    "seconds": re.compile(
        rf"{_COMPARED}|\s*(?:after|following)\s+(?!(?:the\s+)?(?:start|beginning|audio|recording|clip|file|which|that)\b)"
        r"|\s*(?:before|prior to)\s+(?!(?:it\s+)?(?:end|stop|fad|finish|ceas|disappear))|\s*from (?:the )?(?:end|now)\b"
    ),
}


class Quantity(NamedTuple):
    """A number in a text.

    Args:
        value: in degrees, metres or seconds where it has such a unit.
        kind: of its unit; empty where it has none.
        start: where it begins in the text.
        end: behind its unit.
        bound: whether it is said to be a limit, as in *less than 2 m*.
        signed: whether a sign stands before it.
        doubtful: whether it is denied, or measures or is counted from something else: *not 2 m*, *2 m from the bell*.
    """

    value: float
    kind: Kind
    start: int
    end: int
    bound: bool
    signed: bool
    doubtful: bool


def quantities(text: str) -> list[Quantity]:
    """All numbers of a plain text; one without unit takes that of the next where the two are joined (*2 to 3 m*)."""
    if "±" in text:
        text = _TOLERANCE.sub(lambda found: " " * len(found.group()), text)
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        number, unit = match["number"], match["unit"]
        kind, scale = _UNITS[unit] if unit else ("", 1.0)
        value = float(number) if scale == 1.0 else float(f"{float(number) * scale:.12g}")
        found.append(Quantity(value, kind, *match.span(), _bound(text, *match.span()), number[0] in "+-",
                              _doubtful(text, *match.span(), kind)))  # fmt: skip
    for place in range(len(found) - 2, -1, -1):
        this, after = found[place], found[place + 1]
        if not this.kind and after.kind and JOINER.fullmatch(text, this.end, after.start):
            found[place] = this._replace(kind=after.kind)
    return found


def _bound(text: str, start: int, end: int) -> bool:
    return bool(_BOUND.search(text, max(0, start - 40), start) or OR_MORE.match(text, end))


def _doubtful(text: str, start: int, end: int, kind: Kind) -> bool:
    other = _OTHER.search(text, max(0, start - 40), start) or _BESIDE[kind].match(text, end)
    return bool(other) or denied(text, start)


def of_kind(text: str, kind: Kind) -> list[Quantity]:
    """The numbers of a kind in a plain text but for bounds; where there is none of the kind, those without any unit."""
    found = quantities(text)
    found = [each for each in found if each.kind == kind] or [each for each in found if not each.kind]
    return [each for each in found if not each.bound]


def only(values: Iterable[T]) -> T | None:
    """The value, where all are the same; None where there is none or a choice."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


#: Behind a distance along one direction, of which there may be others: *3 m to the left and 3 m ahead*.
_ALONG = re.compile(
    r"\s*(?:to|on|in|towards?)?\s*(?:the\s+|your\s+)?(?:left|right|front|back|behind|above|below|up|down|ahead|forwards?)\b"
)


def metres(text: str) -> float | None:
    """The one distance in a plain text, metres; a second unit beside it (*2 m, about 6.6 feet*) is no second one."""
    found = of_kind(text, "metres")
    if not found or any(each.value < 0 or each.doubtful for each in found):
        return None
    if len(found) > 1 and any(_ALONG.match(text, each.end) for each in found):
        return None
    first = found[0].value
    close = all(abs(each.value - first) <= 0.05 * first for each in found)
    converted = {each.value for each in found} if not close else {first}
    return only(converted)
