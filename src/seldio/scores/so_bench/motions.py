"""Motions and comparisons in plain texts."""

from __future__ import annotations

import re

from seldio.scores.so_bench.bearings import denied, sides

_PLACE = r"(?:place|one place|the same)"
_GO = r"(?:mov|go|gett|travel|walk|driv|head)"
#: Behind a denied movement: there may be another one.
_SOMEWHERE = r"(?: \w+)? (?:away|closer|nearer|farther|further|left|right|to|towards?|from|off)\b"
_TO = r"(?:to(?:wards?)? (?:the )?)?"


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")


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
_NOT_STILL = re.compile(
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


def same_motion(said: str, true: str) -> bool | None:
    """Whether two motions agree; None where one is a kind of the other, so that a judge has to say."""
    if said == true:
        return True
    if "stationary" in (said, true) or {said, true} <= {"moving_toward", "moving_away"}:
        return False
    return False if {said, true} == {"moving_left", "moving_right"} else None


#: The two ends of what is compared.
POLES: dict[str, dict[str, re.Pattern[str]]] = {
    "compare_elevation": {
        "higher": re.compile(r"\b(?:higher|above|highest|more elevated|upper)\b"),
        "lower": re.compile(r"\b(?:lower|below|lowest|less elevated|beneath|underneath)\b"),
    },
    "compare_distance": {
        "closer": re.compile(r"\b(?:closer|nearer|closest|nearest|less (?:far|distant))\b"),
        "farther": re.compile(r"\b(?:farther|further|farthest|furthest|more distant|more remote)\b"),
    },
}
SAME = re.compile(r"\b(?:the )?(?:same|equal(?:ly)?|identical|equidistant)\b")
