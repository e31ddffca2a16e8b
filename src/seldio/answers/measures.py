"""Azimuths, elevations, distances and times in plain texts: which number is which, and its sign."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Literal

from seldio.answers.bearings import directions, pointing
from seldio.answers.counts import number_of
from seldio.answers.languages import regex
from seldio.answers.quantities import ABOUT, Quantity, concluded, count, joined, middled, of_kind, only, quantities

_NAMES = {
    "azimuth": r"azimuth(?:al)?|az|horizontal(?:ly)?",
    "elevation": r"elevation|elev|el|vertical(?:ly)?",
    "distance": r"distance|dist",
}
_NAME = "|".join(rf"(?P<{name}>{words})" for name, words in _NAMES.items())
_ANY = "|".join(_NAMES.values())
_NAMED = regex(rf"\b(?:{_NAME})\b")
_AND = r"[\s\"'`]*(?:,|/|;|and|&)[\s\"'`]*(?:the\s+)?"
#: Several names in a row, which the same number of numbers follow: *(azimuth, elevation) = (30, 10)*.
_LIST = regex(rf"\b(?:{_ANY})\b(?:{_AND}(?:{_ANY})\b)+")
_NEXT = regex(r"[°)\]\s]*(?:,|/|;|and\b|&)?[(\[\s]*")
#: A name right behind a number, unless it has a number of its own: *30° azimuth*, *10° (elevation)*.
_BEHIND = regex(
    rf"\s*(?:[(\[]?\s*(?:(?:is|in|of|for|as)\s+)?(?:the\s+)?|,\s*(?=[a-z]+\s*\)))(?:{_NAME})\b"
    rf"(?![\s\"':=(]*(?:(?:angle|degrees|deg|of|is|at|m)\s*[:=]?\s*)*{ABOUT}[-+]?[\d.])"
)
#: A word right behind an angle that says where it points; an angle "of the back" is counted from elsewhere.
AFTER = regex(
    r"\s*(?:angle\s+|off\s+)?(?:to|on|towards?)?\s*(?:the|your|its)?\s*(?:front[\s-]*)?"
    r"(?:(?P<left>left|counter-?\s?clockwise|anti-?\s?clockwise)|(?P<right>right|clockwise)"
    r"|(?P<up>above|up|upwards?|higher)|(?P<down>below|down|downwards?|lower|beneath|under))\b"
)
#: The same right before it.
_BEFORE = regex(
    r"\b(?:(?P<left>left)|(?P<right>right)|(?P<up>up|upwards?|above)|(?P<down>down|downwards?|below))"
    r"(?: (?:the |your )?(?:horizon|horizontal|ear level|listener))?"
    r"[\s(]*(?:by|at|of|about|around|approximately|roughly|~|an angle of|\s)*\Z"
)
#: Before a number that begins anew: what was said of the one before it does not hold on.
_ANEW = regex(rf"\b(?:at|from)\s+{ABOUT}\Z")


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
        if not name and names and not _ANEW.search(text, behind, each.start):
            name = names[-1]
        names.append(name)
        after = _BEHIND.match(text, each.end)
        behind = after.end() if after else each.end
    return names


def _said_of(text: str, each: Quantity, behind: int) -> str:
    """What the words around a number say that it is; those before *behind* belong to the one before it."""
    if (word := AFTER.match(text, each.end)) and each.kind in ("degrees", ""):
        return pointed(word)
    if after := _BEHIND.match(text, each.end):
        return str(after.lastgroup)
    before = list(_NAMED.finditer(text, behind, each.start))
    if before:
        return str(before[-1].lastgroup)
    word = _BEFORE.search(text, max(behind, each.start - 60), each.start)
    return pointed(word) if word else ""


def _listed(text: str, found: Sequence[Quantity]) -> dict[int, str]:
    """The fields of numbers that follow a list of names, by place."""
    listed: dict[int, str] = {}
    for names in _LIST.finditer(text):
        fields = [str(match.lastgroup) for match in _NAMED.finditer(names.group())]
        first = next((place for place, each in enumerate(found) if each.start >= names.end()), len(found))
        numbers = found[first : first + len(fields)]
        if len(numbers) < len(fields) or _NAMED.search(text, names.end(), numbers[0].start):
            continue
        ends = pairwise(numbers)
        if all(_NEXT.fullmatch(text, one.end, two.start) for one, two in ends):
            listed |= dict(enumerate(fields, first))
    return listed


def words_at(text: str, each: Quantity) -> re.Match[str] | None:
    """The word that says where an angle points, right behind or before it."""
    return AFTER.match(text, each.end) or _BEFORE.search(text, max(0, each.start - 60), each.start)


def pointed(word: re.Match[str]) -> str:
    """The field of an angle with this word of direction."""
    return "elevation" if word["up"] or word["down"] else "azimuth"


# --- angles ----------------------------------------------------------------------------------------

Field = Literal["azimuth", "elevation"]
#: Directions that are counted from elsewhere, or the other way round.
_COMPASS = regex(r"\b(?:north|south|east|west)|o'clock|π|\bpi\b|\bradians?\W*[:=]")
#: Before a sign that may be a dash: *azimuth - 30*.
_DASH = regex(r"[a-z]\s*-\s+\Z")
#: Where angles are counted from, unless a text says otherwise.
_CENTRE = (
    r"(?:(?:dead|exact|straight|direct)\s+)?(?:front|cent(?:er|re)|ahead|forward|straight|listen|you|me\b|us\b|mic|array|head|observer"
    r"|camera|mid|median|horizon|ear|eye|ground|level|zero|north|origin|user|record|receiver|facing|plane)"
)
#: Behind a side: what it is counted from, where that is not the front.
_ELSEWHERE = regex(rf"(?: side)?\s+(?:of|from|than)\s+(?>(?:(?:the|your|my|a|an)\s+)?)(?!{_CENTRE})[a-z]")
_ABOVE_IT = regex(rf"\s+(?:the|a|an|that|your)\s+(?!{_CENTRE})[a-z]")
#: Behind an angle that is counted from somewhere else, or from the front to a side that is stated later.
_OFF = regex(r"\s*(?:away\s+)?(?:from|off(?! to\b)|past|beyond|short of)\b")
_OFF_CENTRE = regex(rf"\s*(?:away\s+)?(?:from|off)[\s-]+(?:the\s+|your\s+)?{_CENTRE}")


#: Behind, by either sign; *L 30*, *30° R*.
_HALF_TURN = regex(
    r"±\s*180(?![\d.])|\b180(?:\s*°|\s*degrees)?\s*(?:or|/)\s*-\s?180\b|-180(?:\s*°|\s*degrees)?\s*(?:or|/)\s*\+?180\b"
)
_INITIAL = regex(r"\b(?P<side>[lr])(?=\s?\d)|(?<=[\d°])\s?(?P<behind>[lr])\b")


def azimuth(text: str) -> float | None:
    """The one azimuth in a plain text, degrees, +90 is left: *30° to the right* is -30, *directly behind* 180."""
    text = _INITIAL.sub(lambda found: " left " if "l" in found.group() else " right ", _HALF_TURN.sub("180", text))
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


_OF_OTHERS = regex(r";|\d.*\b(?:is|are)\b")
#: Ranges no wider than these are read as their middle: the official limit is at least twice as far from their ends.
_WIDEST = {"azimuth": 20.0, "elevation": 10.0, "distance": 1.0}


def _angles(text: str, widest: float = 0.0) -> list[tuple[Quantity, str]]:
    """The angles but for bounds, or numbers without unit where there is none, and the field that each is said to be."""
    numbers = middled(text, quantities(text), widest)
    found = list(zip(numbers, owners(text, numbers), strict=True))
    found = [each for each in found if each[0].kind == "degrees"] or [
        each for each in found if not each[0].kind and not each[0].counts and each[1] != "distance"
    ]
    return [each for each in found if not each[0].bound]


def _angle(text: str, wanted: Field) -> float | None:
    found = _angles(text, _WIDEST[wanted])
    pairs = pairwise(each for each, _ in found)
    if _COMPASS.search(text) or any(joined(text, one, two) for one, two in pairs):
        return None
    chosen = [each for each, owner in found if owner == wanted] or [each for each, owner in found if not owner]
    if any(
        each.doubtful or _counted_from_elsewhere(text, each) or _DASH.search(text, max(0, each.start - 20), each.start)
        for each in chosen
    ):
        return None
    positive, negative = ("left", "right") if wanted == "azimuth" else ("up", "down")
    values = [_signed(text, each, positive, negative) for each in chosen]
    value = only(value for value in values if value is not None)
    sides = (directions(text) or frozenset()) - {"front", "back"}
    plain = len(found) == 1 and not found[0][1] and not chosen[0].signed and not words_at(text, chosen[0])
    if value and plain and sides == {"right" if wanted == "azimuth" else "below"} and not _OF_OTHERS.search(text):
        value = -value  # "on the right, at 40 degrees"
    if value and any(each.signed and each.value == -value and each.kind != "other" for each in quantities(text)):
        return None
    if value is None or None in values or _contradicted(text, value, chosen, wanted):
        return None
    return value


def _counted_from_elsewhere(text: str, each: Quantity) -> bool:
    """Whether an angle is one from something else than the front or the horizon: *30 degrees left of the bell*."""
    if _OFF.match(text, each.end):
        return not (_OFF_CENTRE.match(text, each.end) and directions(text[each.end :].replace("front", "")))
    word = AFTER.match(text, each.end)
    if word is None:
        return False
    return bool(
        _ELSEWHERE.match(text, word.end()) or (pointed(word) == "elevation" and _ABOVE_IT.match(text, word.end()))
    )


def _signed(text: str, each: Quantity, positive: str, negative: str) -> float | None:
    """The value of an angle with the sign that its words give it; None where sign and words contradict."""
    word = words_at(text, each)
    groups = word.groupdict() if word else {}
    if groups.get(negative):
        return -abs(each.value) if not each.signed or each.value < 0 else None
    if groups.get(positive):
        return each.value if each.value >= 0 else None
    return each.value


def _contradicted(text: str, value: float, chosen: list[Quantity], wanted: str) -> bool:
    """Whether the text elsewhere names the other half, or only the other side of an angle without words of its own."""
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
    stated = all(AFTER.match(text, each.end) for each in chosen)
    return bool(against) and named & beside == against and not stated


# --- distances -------------------------------------------------------------------------------------

#: Behind a distance along one direction, of which there may be others: *3 m to the left and 3 m ahead*.
_ALONG = regex(
    r"\s*(?:to|on|in|towards?)?\s*(?:the\s+|your\s+)?(?:left|right|front|back|behind|above|below|up|down|ahead|forwards?)\b"
)


#: A number that is all that is said, with a decimal comma.
_DECIMAL = regex(rf"(\A[^\w~]*{ABOUT}\d+),(?=\d{{1,2}}\W*\Z)")


def metres(text: str) -> float | None:
    """The one distance in a plain text; a second unit next to it (*2 m, about 6.6 feet*) is not a second one."""
    text = _DECIMAL.sub(r"\1.", text)
    found = _distances(text)
    if not found or any(each.value < 0 or each.doubtful for each in found):
        return None
    if len(found) > 1 and any(_ALONG.match(text, each.end) for each in found):
        return None
    first = found[0].value
    close = all(abs(each.value - first) <= 0.05 * first for each in found)
    return only({each.value for each in found} if not close else {first})


def _distances(text: str) -> list[Quantity]:
    """The distances, or numbers without a unit that nothing says to be an angle; no bounds, and no ranges."""
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

#: What joins the ends of an interval, between two numbers.
_TO = regex(
    rf"\s*(?:-+>?|→|~|to|until|till|through|up to|and|;|,|\.\.+)\s*(?:{ABOUT}(?:the|time|of|t\s*=|mark)\s*)*{ABOUT}",
    re.ASCII,
)
_STRONG = regex(r"\s*(?:-+>?|→|~|to|until|till|through|up to|\.\.+)")
_SOMEWHERE = regex(r"\b(?:somewhere|sometime|some time)\b")
_UNTIL = regex(rf"\s*(?:until|till)\s*{ABOUT}")
_BETWEEN = regex(rf"\bbetween\s+{ABOUT}\Z")
_BRACKET = regex(r"[\[(]\s*\Z")
_FROM = regex(r"\bfrom\b[^\d.;,]*\Z")
#: What a moment is, by the last of these words before it.
_ROLE = regex(
    r"\b(?:(?P<start>start|begin|onset|from\b|appear|set|commenc|enter)"
    r"|(?P<end>(?<!near the )(?<!towards the )(?<!toward the )end|stop|offset|until|ceas|finish|fade|disappear"
    rf"|(?:to|by)\s+{ABOUT}\Z)|(?P<length>last(?:s|ed|ing)?\b|duration|length|for\s+{ABOUT}\Z))"
)
#: The same behind it: *5 s (offset)*.
_END_NOTE = regex(r"\s*(?:[(\[](?:end|stop|offset)\b|(?:or so )?(?:it|the [a-z]+) (?:ends|stops|ceases)\b)")
_LONG = regex(r"[\s-]*(?:long|in (?:length|duration)|duration|clip|recording|audio)")
#: Before a range in which one end of an interval, or its length, lies; and before a time without the sound.
_START = regex(r"\b(?<!from )(?<!from the )(?:start|begin|onset|commenc)(?!.*\bfrom\b)[^\d.;]*\Z")
_END = regex(
    r"\b(?:end|stop|offset|ceas|finish|last|duration|length)(?!.*\bfrom\b)[^\d.;,]*\Z"
    rf"|\bfor\s+{ABOUT}\Z"
)
_SILENT = regex(r"\b(?:silen|absent|inaudible|quiet|paus|outside|except|miss|stops|mute)[^\d.;,]*\Z")
#: Before a further time that may be meant as well.
_ANOTHER = regex(r"\b(?:or|again)\b")


#: The beginning of a recording, without a number.
_AT_ONCE = regex(
    r"\A\W*(?:[a-z]+ ){0,4}?(?:immediately|(?:right|straight) away|(?:right |exactly )?(?:at|from|after) the (?:very )?"
    r"(?:start|beginning|outset)(?: of the (?:clip|recording|audio|file|track))?)\W*\Z"
)
#: The middle of a recording of which the length is said.
_HALFWAY = regex(
    r"\D*\b(?:(?:half-?\s?|mid-?)way|in the middle)\s+(?:through|into|of|in)\s+(?:(?:the|this|an?)\s+)?([\d.]*\d)[\s-]*"
    r"(?:s|sec|seconds?)\b[\s-]*(?:long\s+)?(?:clip|recording|audio|file|excerpt|sample|track)\b\D*"
)
#: An interval that begins with the recording.
FIRST = regex(r"\b(?:for |during |in |within )?the first ([\d.]+) s(?:econds?|ec)?\b")


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
    found = spans(FIRST.sub(r"from 0 to \1 s", text))
    return found[0] if len(found) == 1 else None


def onset(text: str) -> float | None:
    """The one moment at which a plain text says that something begins.

    That of an interval counts; a range (*2-3 s*, *between 2 and 3 s*) may say when it begins as well.
    """
    found = times(text := _DECIMAL.sub(r"\1.", text))
    pairs = _pairs(text, found)
    if (half := _HALFWAY.fullmatch(text)) is not None:
        return float(half[1]) / 2
    if pairs:
        sure = all(_is_interval(text, one, two) for one, two in pairs)
        ends = {end for pair in pairs for end in pair}
        sure = sure and all(each in ends or _role(text, place, found) == "length" for place, each in enumerate(found))
        return only(start for start, _ in intervals(text)) if sure else None
    if not found and _AT_ONCE.search(text):
        return 0.0
    moments = [(each, _role(text, place, found)) for place, each in enumerate(found)]
    doubtful = any(each.doubtful for each in found)
    value = None if doubtful else only(each.value for each, role in moments if role in ("start", ""))
    return value if value is not None and value >= 0 else None


def _pairs(text: str, found: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    """The moments that are joined in twos."""
    pairs: list[tuple[Quantity, Quantity]] = []
    for one, two in pairwise(found):
        if (not pairs or one is not pairs[-1][1]) and _joined(text, one, two):
            pairs.append((one, two))
    return pairs


def _joined(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether two numbers are the ends of an interval: *a to b*, *a-b*, *between a and b*, *[a, b]*."""
    if two.signed and not text[one.end : two.start].strip():  # "18.4 -20.0"
        return text[two.start] == "-"
    if not _TO.fullmatch(text, one.end, two.start):
        return False
    lead = text[max(0, one.start - 120) : one.start]
    return bool(_STRONG.match(text, one.end) or _BETWEEN.search(lead) or _BRACKET.search(lead))


def _is_interval(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether a pair is rather an interval than a range: *from a to b*, *a s to b s*, *[a, b]*."""
    lead = text[max(0, one.start - 120) : one.start]
    if _BETWEEN.search(lead):
        return False
    both = text[one.end - 1].isalpha() and text[two.end - 1].isalpha()
    return bool(both or _BRACKET.search(lead) or _FROM.search(lead))


def _leads(text: str, found: list[Quantity]) -> list[str]:
    """The text before each moment, from the end of the moment before."""
    ends = [0, *(each.end for each in found)]
    return [text[end : each.start] for end, each in zip(ends, found, strict=False)]


def _uncertain(text: str, found: list[Quantity], pairs: list[tuple[Quantity, Quantity]]) -> bool:
    """Whether a pair is the range of one end, or another moment may be meant as well."""
    firsts, seconds = {one.start for one, _ in pairs}, {two.start for _, two in pairs}
    if any(
        one.start in seconds and two.start not in firsts and _joined(text, one, two) for one, two in pairwise(found)
    ):
        return True  # "from 3 to 4 s until 6 s"
    lasting = {one.start for one, two in pairs if _UNTIL.fullmatch(text, one.end, two.start)}
    for place, (each, lead) in enumerate(zip(found, _leads(text, found), strict=True)):
        if place and each.start not in seconds and pairs and _ANOTHER.search(lead):
            return True
        start, end = _START.search(lead), _END.search(lead)
        wide = bool(start) != bool(end) or _SILENT.search(lead) or _SOMEWHERE.search(lead)
        if each.start in firsts - lasting and wide:
            return True
    return False


def _role(text: str, place: int, found: list[Quantity]) -> str:
    """What a moment is: ``start``, ``end``, ``length``; empty where nothing says so."""
    if _LONG.match(text, found[place].end):
        return "length"
    if _END_NOTE.match(text, found[place].end):
        return "end"
    words = list(_ROLE.finditer(text[found[place - 1].end if place else 0 : found[place].start]))
    return str(words[-1].lastgroup) if words else ""


def _stated_span(text: str, found: list[Quantity]) -> Span | None:
    """The interval of a text that says where it begins, and where it ends or how long it is."""
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
    "azimuth": azimuth, "elevation": elevation, "distance": metres, "onset": onset, "count": number_of,
    "active sources": count,
}  # fmt: skip
#: What reads a quantity in a plain text.
QUANTITIES: dict[str, Callable[[str], float | Span | None]] = {
    **{name: partial(concluded, read) for name, read in _NUMBERS.items()}, "interval": span,
}  # fmt: skip
