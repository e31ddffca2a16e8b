"""Numbers with their units, and what is said about them, in plain text (see :mod:`seldio.answers.plain_text`)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Literal, NamedTuple, TypeVar

from seldio.answers.bearings import denied, directions
from seldio.answers.languages import regex, words

Kind = Literal["degrees", "metres", "seconds", "other", ""]
T = TypeVar("T")

#: Units by spelling: their kind, and what one is in degrees, metres or seconds.
_UNITS: dict[str, tuple[Kind, float]] = {
    **dict.fromkeys(("°", "degrees", "degree", "degs", "deg"), ("degrees", 1.0)),
    **dict.fromkeys(("radians", "radian", "rad"), ("degrees", 180 / math.pi)),
    **dict.fromkeys(("meters", "metres", "meter", "metre", "m"), ("metres", 1.0)),
    **dict.fromkeys(("centimeters", "centimetres", "centimeter", "centimetre", "cm"), ("metres", 0.01)),
    **dict.fromkeys(("millimeters", "millimetres", "mm"), ("metres", 0.001)),
    **dict.fromkeys(("kilometers", "kilometres", "kilometer", "kilometre", "km"), ("metres", 1000.0)),
    **dict.fromkeys(("feet", "foot", "ft"), ("metres", 0.3048)),
    **dict.fromkeys(("miles", "mile"), ("metres", 1609.344)),
    **dict.fromkeys(("inches", "inch"), ("metres", 0.0254)),
    **dict.fromkeys(("yards", "yard", "yd"), ("metres", 0.9144)),
    **dict.fromkeys(("seconds", "second", "secs", "sec", "s"), ("seconds", 1.0)),
    **dict.fromkeys(("milliseconds", "millisecond", "ms"), ("seconds", 0.001)),
    **dict.fromkeys(("minutes", "minute", "mins", "min"), ("seconds", 60.0)),
    **dict.fromkeys(("%", "percent", "khz", "hz", "db", "channels", "channel", "m/s", "th", "nd", "st", "rd", "x",
                     "frames", "frame", "times", "o'clock"), ("other", 1.0)),
}  # fmt: skip
_SPELLINGS = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_QUANTITY = regex(
    r"(?<![a-z\d/π^])(?<![^.]\.)(?P<number>(?:(?<![\w.)\]°%])(?<!\d['\"])[-+])?(?:\d++(?>(?:\.\d++)?)|\.\d++)(?>(?:e[-+]?\d++)?))(?!\s*/\s*\d|\s?[a-z°]*/\d)"
    rf"(?:\s*-?\s*(?P<unit>{_SPELLINGS})(?![a-z/\d^]))?"
)
_TOLERANCE = regex(rf"(?:±|\bgive or take)\s*[\d.]+(?:\s*(?:{_SPELLINGS})(?![a-z/]))?")
#: Words before a number that say it is not exact.
ABOUT = rf"(?:(?:{words('about')}|~)\s*)*"
#: Between two numbers of one unit, or of which one may be right.
JOINER = regex(rf"\s*(?:,?\s*(?:-|~|to|and|until|till|through|or)|,)\s*{ABOUT}")
#: Before a number of something else, to which what is asked for is compared: *closer than the singer at*.
_THAN = regex(
    r"\b(?:closer|nearer|farther|further|later|earlier|sooner|higher|lower),? than (?!\d)(?:[a-z]+ ){0,3}"
    rf"(?:[a-z]+, (?:who|which|that|qq) (?:[a-z]+ ){{0,5}})?{ABOUT}\Z"
)
#: Before or behind a number that is a bound, not a value.
_BOUND = regex(
    r"(?:<|(?<!-)>|≤|≥|\b(?:less|more|farther|further|closer|greater|fewer|larger|smaller|nearer|later|earlier"
    r"|sooner) than"
    r"|\b(?:below|beyond|under|over|at least|at most|within|exceeding|before|(?:max|min)imum(?: of)?"
    r"|(?<!\d )(?<!\ds )(?<!\d s )(?<!seconds )up to"
    rf"|(?:shortly|just|right|soon|some ?time|any ?time) after))\s*(?:the\s+)?{ABOUT}\Z"
)
OR_MORE = regex(
    r"\s*(?:\+(?!\s?[\d.-])|or (?:more|less|fewer|higher|lower|above|below|beyond|further|farther|closer|later|earlier"
    r"|over|under)\b|at (?:most|least)\b|(?:max|min)imum\b)"
)
#: Before a number that measures something else.
_OTHER = regex(
    r"\b(?:(?:error|margin|tolerance|uncertainty|accuracy|resolution|spread|width|height|size|difference|gap|cone|arc"
    r"|sector|factor) of(?: an?)?|the (?:very )?(?:first|last|final|initial|opening|next|other)|every|each|twice|times"
    r"|x|of (?:the|these|those)|between (?:[a-z]+ ){1,4}?(?:is|are|of)"
    r"|(?:rotat|sweep|mov|turn|travel|shift|chang|drift)[a-z]*(?: by)?)"
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
    "": regex(_COMPARED),
    "other": regex(_COMPARED),
    "degrees": regex(_COMPARED),
    "metres": regex(
        rf"{_COMPARED}|\s*(?:away\s+|distant\s+)?(?:from|(?:to\s+the\s+)?(?:left|right)\s+of|behind|beyond|past|above|below"
        rf"|in\s+front\s+of)\s+(?!{_HERE})[a-z]"
    ),
    "seconds": regex(
        rf"{_COMPARED}|\s*(?:after|following)\s+(?!(?:the\s+)?(?:start|beginning|audio|recording|clip|file|which|that)\b)"
        r"|\s*(?:before|prior to)\s+(?!(?:it\s+)?(?:end|stop|fad|finish|ceas|disappear))|\s*from (?:the )?(?:end|now)\b"
    ),
}
#: Behind the size of something.
_SIZE = regex(
    r"[\s-]*(?:wide|tall|high|deep|across|thick|apart|spread|sector|cone|arc|range|field|window|error|margin|resolution"
    r"|square|radius|difference|gap|separation|change|turn|rotation|per|in (?:height|width|size|diameter|radius))\b"
)
_LONG_METRES = regex(r"[\s-]*(?:long|in length)\b")
#: Before a number that is a name: *source 2*.
_LABEL = regex(
    r"\b(?:source|sound|track|speaker|event|channel|voice|object|frame|room|sample|step|mic(?:rophone)?|clip|fold"
    r"|mix) (?:number |no\.? )?#?\Z"
)
#: Before what a number is divided by.
_OVER = regex(r"\d\s*/\s*\Z")
_SECOND = regex(r"\bseconds? \Z")
#: Behind a number without unit that counts nothing: anything but a word, or one of these.
_NO_THING = regex(rf"\s*+(?![a-z])|\s+(?:(?:{words('no_thing')})\b)")
#: Between a value and another one that is not meant, and the other way round.
_PREPOSITION = r"(?:(?:at|to|from|about|around|of|the|between)\s+)*"
_NOT_THAT = regex(rf"[^.;\d]{{0,40}}?[\s,(](?:and |but )?(?:not|rather than|instead of)\s+{_PREPOSITION}")
_BUT_THIS = regex(rf"[^.;\d]{{0,30}}?[\s,]but\s+(?:rather |actually |instead )?(?:it(?:'s| is) )?{_PREPOSITION}")
#: Between a value and the one that is given in its stead; behind a value that is taken back.
_INSTEAD = rf"(?<![\w'])(?:{words('instead')})(?![\w'])"
_CORRECTED = regex(rf"[^\d]{{0,60}}?{_INSTEAD}[^\d]{{0,40}}")
_TAKEN_BACK = regex(rf"[^\d]{{0,60}}?{_INSTEAD}\W*[a-z]")
_AT_FIRST = regex(rf"\b(?:{words('at_first')})\b[^.;\d]*\Z")
_BUT_THEN = regex(r"[^.;\d]{0,40}?\b(?:but|then|now|in fact)\b[^\d]{0,40}")
#: Between a range and the value in it that is meant.
_SETTLED = regex(rf"[\s.,;:(]*(?:but |and )?(?:{words('settled')})\b[^.;\d]{{0,20}}")
#: Between two parts of one value: *6 ft 2 in*, *1 minute and 5 seconds*.
_PARTS = regex(r"\s*(?:and\s+)?")


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
        text = _TOLERANCE.sub(lambda found: " " * len(found.group()), text)
    found: list[tuple[Quantity, float]] = []
    for match in _QUANTITY.finditer(text):
        one, scale = _quantity(text, match, found[-1][0].end if found else 0)
        before, larger = found[-1] if found else (one, 0.0)
        if (
            scale < larger and one.kind == before.kind and one.value < larger
            and _PARTS.fullmatch(text, before.end, one.start)
        ):  # fmt: skip
            found[-1] = before._replace(value=_tidy(before.value + one.value), end=one.end), scale
            continue
        if before.kind and not one.kind and not text[before.end : one.start].strip() and found:  # "2 metres 30"
            found[-1] = before._replace(doubtful=True), larger
        found.append((one, scale))
    for place in range(len(found) - 2, -1, -1):
        (this, _), (after, scale) = found[place], found[place + 1]
        if not this.kind and after.kind and JOINER.fullmatch(text, this.end, after.start):
            found[place] = this._replace(kind=after.kind, value=_tidy(this.value * scale)), scale
    for place in range(1, len(found)):
        (this, scale), (after, _) = found[place - 1], found[place]
        bare = not after.kind and not after.counts
        if (
            bare
            and this.kind not in ("", "other")
            and (
                joined(text, this, after)
                or _SETTLED.fullmatch(text, this.end, after.start)
                or _corrects(text, this, after)
            )
        ):
            found[place] = after._replace(kind=this.kind, value=_tidy(after.value * scale)), scale
    return _last(text, _meant(text, [one for one, _ in found]))


def _last(text: str, found: list[Quantity]) -> list[Quantity]:
    """*found* without values that a later one is given in the stead of: *2 m, no, 3 m*, *2 to 3 m, say 2.5*."""
    before: dict[Kind, list[Quantity]] = {}
    first: dict[Kind, int] = {}
    for each in found:
        same = before.setdefault(each.kind, [])
        if same and _replaces(text, same[-2:], each):
            first[each.kind] = each.start
            same.clear()
        same.append(each)
    kept = [each for each in found if each.start >= first.get(each.kind, 0)]
    if kept and _TAKEN_BACK.match(text, kept[-1].end):
        kept[-1] = kept[-1]._replace(doubtful=True)
    return kept


def _replaces(text: str, before: list[Quantity], each: Quantity) -> bool:
    """Whether *each* is said in the stead of those *before* it."""
    ends = sorted(one.value for one in before)
    if len(ends) == 2 and ends[0] <= each.value <= ends[1] and _SETTLED.fullmatch(text, before[-1].end, each.start):
        return True
    return _corrects(text, before[-1], each)


def _corrects(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether the second of two numbers in a row takes the first one back: *2 m, no, 3 m*, *I thought 2, but 3*."""
    if _CORRECTED.fullmatch(text, one.end, two.start):
        return True
    at_first = _AT_FIRST.search(text, max(0, one.start - 60), one.start)
    return bool(at_first and _BUT_THEN.fullmatch(text, one.end, two.start))


def _quantity(text: str, match: re.Match[str], behind: int) -> tuple[Quantity, float]:
    """A number with its unit, and the scale of that."""
    number, unit, (start, end) = match["number"], match["unit"], match.span()
    kind, scale = _UNITS[unit] if unit else ("", 1.0)
    if not unit and (second := _SECOND.search(text, behind, start)):
        kind, start = "seconds", second.start()
    if _is_other(text, start, end, kind):
        kind = "other"
    lead = max(0, start - 40)
    bound = bool(
        _BOUND.search(text, lead, start) or _THAN.search(text, max(0, start - 80), start) or OR_MORE.match(text, end)
    )
    doubtful = bool(_BESIDE[kind].match(text, end)) or denied(text, start)
    counts = not unit and kind == "" and not _NO_THING.match(text, end)
    value = float(number) if scale == 1.0 else _tidy(float(number) * scale)
    return Quantity(value, kind, start, end, bound, number[0] in "+-", doubtful, counts), scale


def _is_other(text: str, start: int, end: int, kind: Kind) -> bool:
    """Whether a number is a size, a tolerance, one of several, a name or the number of a point in a list."""
    lead = max(0, start - 40)
    if _OTHER.search(text, lead, start) or _OVER.search(text, lead, start) or _SIZE.match(text, end):
        return True
    if kind:
        return kind == "metres" and bool(_LONG_METRES.match(text, end))
    point = text.startswith(")", end) and text.rfind("(", 0, start) <= text.rfind(")", 0, start)
    return point or bool(_LABEL.search(text, lead, start))


def _tidy(value: float) -> float:
    return float(f"{value:.12g}")


def _meant(text: str, found: list[Quantity]) -> list[Quantity]:
    """*found* without values that are denied in favour of one next to them: *not 3 m but 2 m*, *2 m, not 3 to 4 m*."""
    kept: list[Quantity] = []
    dropped: Quantity | None = None
    for place, each in enumerate(found):
        if dropped is not None and joined(text, dropped, each):
            dropped = each
            continue
        after = found[place + 1] if place + 1 < len(found) else None
        opposed = denied(text, each.start) and (
            (kept and kept[-1].kind == each.kind and _NOT_THAT.fullmatch(text, kept[-1].end, each.start))
            or (after is not None and after.kind == each.kind and _BUT_THIS.fullmatch(text, each.end, after.start))
        )
        dropped = each if opposed else None
        if not opposed:
            kept.append(each)
    return kept


_RANGE = regex(
    r"\s*(?:,?\s*(?:-|~|to|or|nor|until|till|through|up to)|,\s*(?:or\s+)?(?:maybe|possibly|perhaps))"
    rf"\s*{ABOUT}{_PREPOSITION}"
)
_BETWEEN = regex(rf"\bbetween\s+{ABOUT}\Z")


def joined(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether two numbers in a row are a range or a choice: *1 to 2 m*, *1 or 2 m*, *between 1 and 2 m*."""
    if _RANGE.fullmatch(text, one.end, two.start):
        return True
    return bool(_BETWEEN.search(text, max(0, one.start - 60), one.start) and JOINER.fullmatch(text, one.end, two.start))


#: Between the ends of a range, and before one that may be a movement.
_TO = regex(rf"\s*(?:-|~|to|up to|and)\s*{ABOUT}")
_FROM = regex(rf"\bfrom\s+{ABOUT}\Z")


def middled(text: str, found: list[Quantity], widest: float) -> list[Quantity]:
    """*found* with the middle in place of a range that is no wider than *widest*: *between 40 and 50 degrees* is 45."""
    kept: list[Quantity] = []
    for each in found:
        one = kept[-1] if kept else each
        near = one.kind == each.kind and abs(one.value - each.value) <= widest and not (one.doubtful or each.doubtful)
        if (
            kept and near and one.value * each.value >= 0 and one.value != each.value and joined(text, one, each)
            and _TO.fullmatch(text, one.end, each.start) and not _FROM.search(text, max(0, one.start - 60), one.start)
        ):  # fmt: skip
            kept[-1] = one._replace(value=_tidy((one.value + each.value) / 2), end=each.end, counts=each.counts)
        else:
            kept.append(each)
    return kept


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


#: Before what follows from the rest.
_SO = regex(
    rf"(?:\A|[.;!?,:]\s*|\band\s+)(?=(?:{words('so')})\b|the answer\b|in total\b)"
    r"|[.;!?]\s*(?=the (?:[a-z]+est|first|last)\b)|\A[^=+]*\+[^=]*(?==)"
)


_RULED_OUT = regex(rf"\b(?:{words('wrong')}|{words('excluded')})\b")


def concluded(read: Callable[[str], float | None], text: str) -> float | None:
    """What *read* reads of a plain text, or of its conclusion, where that names no fewer directions."""
    if (value := read(text)) is not None or not (ends := [found.end() for found in _SO.finditer(text)]):
        return value
    end = text[ends[-1] :].lstrip("=")
    said = ends[-1] and directions(end) == directions(text) and not _RULED_OUT.search(end)
    return read(end) if said else None


# --- the number of sources -------------------------------------------------------------------------

#: What is counted, behind a number: sources of any kind, or some that may not be all.
_COUNTED = regex(
    r"\s*(?:(?!(?:and|or|of|with|to|in|on|than)\b)[a-z-]+\s+){0,3}?(?:(?:sources?|sounds?|events?)\b|(?P<some>speakers?|voices?|people|"
    r"persons|objects?)\b)|\s*(?:(?:are|is|were|was|currently|simultaneously|different|distinct)\s+){0,3}?(?:active|audible)\b"
)
#: Behind a number that counts nothing in particular.
_BARE = regex(r"\s*(?:[^\w\s]|\Z|(?:in total|total|at|in all|different|distinct)\b)")
_AND_MORE = regex(r"\s*(?:,|and|plus|with|as well)\s")
#: Before a second number that may be meant as well.
_OR_SO = regex(r"\b(?:possibly|maybe|perhaps|or)\s+\Z")
#: Behind a number that is part of another one.
_OF_THEM = regex(r"\s+of (?:which|them|these|those)\b")
#: A number of all that there is.
_TOTAL = regex(r"\s*(?:sources?\s+|sounds?\s+)?(?:in total|total|altogether|overall)\b")
_NONE = regex(r"\b(?:no|zero|without any)\s+(?:[a-z-]+\s+){0,2}?(?:sources?|sounds?|events?)\b|\A(?:none|nothing)\W*\Z")
_PAIR = regex(r"\ba pair\b")
_SINGLE = regex(r"\b(?:a|only a|just a)?\s*single\s+(?:[a-z-]+\s+){0,2}?(?:source|sound|event)\b")


def count(text: str) -> int | None:
    """The one number of sources in a plain text."""
    found = [each for each in quantities(text) if not each.kind]
    if any(each.bound or each.signed or each.doubtful for each in found):
        return None
    if any(_one_of_both(text, one, two) for one, two in pairwise(found)):
        return None
    if any(_OR_SO.search(text, max(0, each.start - 20), each.start) for each in found[1:]):
        return None
    found = [each for each in found if _TOTAL.match(text, each.end)] or found
    first = next((one for one in found if _COUNTED.match(text, one.end)), None)
    bare = [each for each in found if not each.counts and not _OF_THEM.match(text, each.end)]
    if first and any(_besides(text, first, each) for each in bare):
        return None
    counted = [(each, match) for each in found if (match := _COUNTED.match(text, each.end))]
    if any(OR_MORE.match(text, match.end()) or (match["some"] and _AND_MORE.match(text, match.end()))
           for _, match in counted):  # fmt: skip
        return None
    if len(found) > 1 and counted and directions(text) != frozenset():
        return None  # so many here, so many there
    values = [each.value for each, _ in counted] or [each.value for each in found]
    if not counted and not all(_BARE.match(text, each.end) for each in found):
        return None
    single = _SINGLE.search(text)
    if single and denied(text, single.start()):
        return None
    values += [0.0] * bool(_NONE.search(text)) + [1.0] * bool(single) + [2.0] * bool(_PAIR.search(text))
    value = only(values)
    return int(value) if value is not None and value.is_integer() and value < 1e9 else None


def _besides(text: str, first: Quantity, each: Quantity) -> bool:
    """Whether a number without a noun follows the *first* with one, except for details after a colon."""
    return each.start > first.start and each.value != first.value and text.find(":", first.end, each.start) < 0


def _one_of_both(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether two numbers are a range or a choice: *2 or 3*, *2-3*, *between 2 and 3*."""
    between = text[one.end : two.start]
    return bool(JOINER.fullmatch(between)) and between.strip() != ","
