"""Directions, sides, motions and comparisons in words."""

from __future__ import annotations

import re
from typing import Literal

from seldio.answers.languages import regex, words

Side = Literal["left", "right"]

#: "right" that is no side.
_ASIDE = regex(r"\bright (?:now|away|before|after|at|in front|behind|above|below|next|on top)\b"
                    r"|\b(?:all|that's|that is|is) right\b(?=[,.!]|\Z)")  # fmt: skip
_WORDS: dict[str, str] = {
    "left": r"left(?:ward|wards|most|side)?|port(?: side)?|left-hand",
    "right": r"right(?:ward|wards|most|side)?|starboard|right-hand",
    "front": r"front(?:al)?|ahead|forwards?",
    "back": r"back(?:ward|wards)?|behind|rear",
    "above": r"above|overhead|up|upwards?|upper|top|high|higher|elevated|over (?:the|your) (?:head|listener)",
    "below": r"below|beneath|underneath|under|down|downwards?|lower|bottom|low|depress(?:ed|ion)",
}
_ANY = regex("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _WORDS.items()))
#: All of them, and those between: straight ahead, at ear level.
_NAMES = "|".join((*_WORDS.values(), r"straight ahead|(?:ear |eye |head )?level|horizon|cent(?:er|re)"))
#: Two directions of which one is meant, nobody knows which; the second may come with its angle.
_EITHER = regex(
    rf"\b(?:{_NAMES})\b\s*(?:,?\s*or|/)\s*(?:(?:to|on|in|at|from)\s+)?(?:(?:the|your|its)\s+)?"
    rf"(?:\d+(?:\.\d+)?\s*(?:°|degrees?)\s*(?:(?:to|on|towards?)\s+)?(?:(?:the|your)\s+)?)?(?:{_NAMES})\b"
    r"|\b(?:either|both|each) sides?\b"
)
_NOT = r"(?:\b(?:not|never|rather than|instead of|nor|no longer|cannot)|n't)"
#: Words that deny what stands up to four words behind them.
_NEGATED = regex(
    rf"(?:{_NOT}|\b(?:neither|other than|(?:any|every)thing but|nothing like|opposite of|except(?: for)?|excluding"
    r"|without|whether|no(?! doubt|\W+(?:wait|sorry)\b)))"
    r"(?:,[^,;.\d]{0,40},)?\s+(?:(?!but\b)[a-z']+\s+){0,4}?\Z"
)
#: A side that is denied so that the other one is meant; *not sure if left* is none of these.
_NOT_THIS_SIDE = regex(rf"{_NOT}\s+(?:(?:be|to|on|at|in|from|of|the|a|your|its|located|positioned|coming|heard)\s+)*\Z")
_OPPOSITE = {"left": "right", "right": "left", "front": "back", "back": "front", "above": "below", "below": "above"}


def denied(text: str, place: int) -> bool:
    """Whether what stands at *place* is denied: *not left*, *rather than the left*."""
    return bool(_NEGATED.search(text, max(0, place - 60), place))


#: What takes back a whole answer, wherever it stands: *a dog is unlikely*, *2 m? No.*, *dog: false*.
_RETRACTED = regex(
    r"(?<!\A)\b(?:false|wrong|incorrect|impossible)\b|[:=(]\s*[\"']?no\b"
    r"|\b(?:i doubt|doubtful|unlikely|improbable|hardly|fail(?:s|ed) to|rul(?:ed|ing|es?) out|far from being|or not)\b"
    r"|\?\s*(?:no\b(?!,? doubt)|nope\b|not really|never\b|i (?:do not|don't|doubt))"
)
#: Around a name in its clause: it is not heard.
ABSENT = regex(
    r"\b(?:absen(?:t|ce)|lack(?:s|ing)?|missing|silent|unlike|inaudible|nowhere)\b|[=:]\s*[\"']?(?:0|false|none)\b"
)
_NOT_BEHIND = regex(r"\b(?:not|never|cannot)\b|n't\b")
_CLAUSE_END = regex(r"[;,!?]|\.(?!\d)|\Z")
_ASKED = regex(r"\?\s*+(?!yes\b|yeah\b|correct\b|true\b)")
#: Before a name that is given up for the one before it.
_GIVEN_UP = regex(r"(?:[,(]\s*(?:and |but )?not|\brather than|\binstead of)\s+(?:an?\s+|the\s+)?\Z")


def retracted(text: str) -> bool:
    """Whether a plain text takes back what it says: *unlikely*, *I doubt it*, *? No.*, *: false*."""
    return bool(_RETRACTED.search(text))


def inaudible(text: str, start: int, end: int) -> bool:
    """Whether the clause around a name says that it is not heard, or only asks."""
    stop = _CLAUSE_END.search(text, end)
    assert stop is not None
    begin = max(
        (match.end() for match in _CLAUSE_END.finditer(text, max(0, start - 80), start) if match.group()),
        default=max(0, start - 80),
    )
    inside = ABSENT.search(text, begin, stop.start()) or _NOT_BEHIND.search(text, end, stop.start())
    return bool(inside) or bool(_ASKED.match(text, stop.start()))


def given_up(text: str, place: int) -> bool:
    """Whether the text at *place* is denied in favour of the text before it: *a dog, not a guitar*."""
    return bool(_GIVEN_UP.search(text, max(0, place - 30), place))


def directions(text: str) -> frozenset[str] | None:
    """The directions that a plain text names, of left, right, front, back, above, below.

    None where one is denied, or two are given to choose from.
    """
    text = _ASIDE.sub(" ", text)
    if _EITHER.search(text):
        return None
    found = set()
    for match in _ANY.finditer(text):
        if denied(text, match.start()):
            return None
        found.add(str(match.lastgroup))
    return frozenset(found)


#: A direction that is meant without a deviation: its angle, and the directions that its words name.
_EXACTLY = rf"(?:{words('exactly')}|right(?! (?:above|below|left)))"
_LATERAL = rf"\b{_EXACTLY} (?:(?:to|on|at|in|from) )?(?:(?:the|your|my|its) )?"
_VERTICAL = r"\b(?:directly|straight|exactly|right) "
_POINTED: dict[str, tuple[tuple[float, set[str], re.Pattern[str]], ...]] = {
    "azimuth": (
        (0.0, {"front"}, regex(rf"{_LATERAL}(?:ahead|front|forwards?|cent(?:er|re))\b")),
        (180.0, {"back"}, regex(rf"{_LATERAL}(?:behind|back|rear)\b")),
        (90.0, {"left"}, regex(rf"{_LATERAL}left\b")),
        (-90.0, {"right"}, regex(rf"{_LATERAL}right(?! (?:above|below|behind|in))\b")),
    ),
    "elevation": (
        (0.0, set(), regex(rf"\b(?:{words('level')})\b")),
        (90.0, {"above"}, regex(rf"{_VERTICAL}(?:above|over|overhead|up(?:wards?)?)\b")),
        (-90.0, {"below"}, regex(rf"{_VERTICAL}(?:below|beneath|under(?:neath)?|down(?:wards?)?)\b")),
    ),
}
_PLANE = {"azimuth": {"left", "right", "front", "back"}, "elevation": {"above", "below"}}
_NOT_EXACTLY = regex(rf"\b(?:{words('inexactly')})\w*\b|\?|(?<!\A)(?<!\Aqq )qq|\Aqq(?! (?:qq )?is\b)")
_HOUR = regex(r"\b(1[0-2]|[1-9])(?::00)?\s*o'clock\b")


def pointing(text: str, field: Literal["azimuth", "elevation"]) -> float | None:
    """The angle of a direction that a plain text names without a number: *directly behind*, *at 3 o'clock*; degrees.

    None where another direction in the same plane is named too, or one is denied or not meant exactly.
    """
    named = directions(text)
    if named is None or _NOT_EXACTLY.search(text):
        return None
    found = {value: names for value, names, pattern in _POINTED[field] if pattern.search(text)}
    named = named & _PLANE[field]
    for hour in map(int, _HOUR.findall(text)) if field == "azimuth" else ():
        value = 180.0 if hour == 6 else (180.0 - 30.0 * hour) % 360 - 180.0
        found[value] = {*named} - ({"left"} if value < 0 else {"right"} if 0 < value < 180 else {"left", "right"})
    return next((value for value, names in found.items() if len(found) == 1 and named <= names), None)


def contradictory(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a direction in *one* is the opposite of one in *other*, which does not name it as well."""
    return any(_OPPOSITE[name] in other and name not in other for name in one)


def sides(text: str) -> list[tuple[Side, int]]:
    """Left and right in a plain text with their places; *not left* says right, *not sure if left* both."""
    text = _ASIDE.sub(lambda found: " " * len(found.group()), text)
    found: list[tuple[Side, int]] = []
    for match in _ANY.finditer(text):
        side, place = match.lastgroup, match.start()
        if side not in ("left", "right"):
            continue
        unsaid, other = denied(text, place), "right" if side == "left" else "left"
        if not unsaid or not _NOT_THIS_SIDE.search(text, max(0, place - 60), place):
            found.append(("left" if side == "left" else "right", place))
        if unsaid:
            found.append(("left" if other == "left" else "right", place))
    return found


# --- motions and comparisons -----------------------------------------------------------------------

_PLACE = r"(?:place|one place|the same)"
_GO = r"(?:mov|go|gett|travel|walk|driv|head)"
#: Behind a denied movement: there may be another one.
_SOMEWHERE = r"(?: \w+)? (?:away|closer|nearer|farther|further|left|right|to|towards?|from|off)\b"
_TO = r"(?:to(?:wards?)? (?:the )?)?"


def _any_of(*patterns: str) -> re.Pattern[str]:
    return regex(rf"\b(?:{'|'.join(patterns)})\b")


#: Words for each ``motion_label`` of a judgement; the general one last.
_MOTIONS: dict[str, re.Pattern[str]] = {
    "stationary": _any_of(
        "stationary|static|still|motionless|immobile|fixed|unmoving",
        rf"stay(?:s|ed|ing)? (?:put|where|in {_PLACE})",
        rf"remain\w* (?:in {_PLACE}|at the same|where)",
        rf"(?:does not|doesn't|do not|don't|did not|didn't) (?:move|change)(?!{_SOMEWHERE})",
        rf"(?:not|isn't|aren't|wasn't|without) moving(?!{_SOMEWHERE})",
        "no (?:movement|motion)",
        "(?:same|constant) (?:position|location|place)",
    ),
    "moving_toward": _any_of(
        r"approach\w*",
        rf"(?:{_GO}|com|draw)\w* (?:\w+ )?(?:towards? (?!the (?:left|right))|closer|nearer)",
        "coming (?:in|near)",
        "gets? (?:closer|nearer)",
    ),
    "moving_away": _any_of(
        r"reced\w*|depart\w*|retreat\w*",
        rf"{_GO}\w* (?:\w+ )?(?:away|farther|further|off)",
        "gets? (?:farther|further)",
    ),
    "moving_left": _any_of(rf"mov\w* (?:from (?:the )?right to (?:the )?left|{_TO}left(?:wards?)?)"),
    "moving_right": _any_of(rf"mov\w* (?:from (?:the )?left to (?:the )?right|{_TO}right(?:wards?)?)"),
    "moving": _any_of(
        r"mov(?:e|es|ing|ed)|in motion|mobile|passing|passes",
        r"circl\w*|orbit\w*|wander\w*|sweep\w*|travel\w*",
    ),
}
_NOT_STILL = regex(
    r"\b(?:not|isn't|aren't|n't|never|no longer) (?:\w+ )?(?:stationary|static|still|fixed|motionless)\b"
)


def motion(text: str) -> str | None:
    """The one motion that a plain text names, as a ``motion_label``; None where there is none or a choice."""
    if _NOT_STILL.search(text):
        text = _NOT_STILL.sub(" moving ", text)
    found = set()
    for name, pattern in _MOTIONS.items():
        matches = list(pattern.finditer(text))
        if any(denied(text, match.start()) for match in matches):
            return None
        if matches:
            text = pattern.sub(" ", text)
            found.add(name)
    finer = found - {"moving"}
    if finer & {"moving_left", "moving_right"} and sides(text):
        return None  # "left or right", "left, then right"
    if len(finer) > 1 or ("stationary" in finer and len(found) > 1):
        return None
    return next(iter(finer or found), None)


def same_motion(answer: str, true: str) -> bool | None:
    """Whether two motions agree; None where one is a kind of the other, so that a judge has to say."""
    if answer == true:
        return True
    if "stationary" in (answer, true) or {answer, true} <= {"moving_toward", "moving_away"}:
        return False
    return False if {answer, true} == {"moving_left", "moving_right"} else None


#: The two ends of what is compared.
POLES: dict[str, dict[str, re.Pattern[str]]] = {
    "compare_elevation": {
        "higher": regex(r"\b(?:higher|above|highest|more elevated|upper)\b"),
        "lower": regex(r"\b(?:lower|below|lowest|less elevated|beneath|underneath)\b"),
    },
    "compare_distance": {
        "closer": regex(r"\b(?:closer|nearer|closest|nearest|less (?:far|distant))\b"),
        "farther": regex(r"\b(?:farther|further|farthest|furthest|more distant|more remote)\b"),
    },
}
SAME = regex(r"\b(?:the )?(?:same|equal(?:ly)?|identical|equidistant)\b")
