"""Moments and intervals of time in plain texts, seconds."""

from __future__ import annotations

import re
from itertools import pairwise

from seldio.answers.quantities import ABOUT, Quantity, of_kind, only

Span = tuple[float, float]

#: What joins the ends of an interval, between two numbers.
_TO = re.compile(
    rf"\s*(?:-+>?|→|~|to|until|till|through|up to|and|;|,|\.\.+)\s*(?:{ABOUT}(?:the|time|of|t\s*=|mark)\s*)*{ABOUT}",
    re.ASCII,
)
_STRONG = re.compile(r"\s*(?:-+>?|→|~|to|until|till|through|up to|\.\.+)")
_SOMEWHERE = re.compile(r"\b(?:somewhere|sometime|some time)\b")
_UNTIL = re.compile(rf"\s*(?:until|till)\s*{ABOUT}")
_BETWEEN = re.compile(rf"\bbetween\s+{ABOUT}\Z")
_BRACKET = re.compile(r"[\[(]\s*\Z")
_FROM = re.compile(r"\bfrom\b[^\d.;,]*\Z")
#: What a moment is, by the last of these words before it.
_ROLE = re.compile(
    r"\b(?:(?P<start>start|begin|onset|from\b|appear|set|commenc|enter)"
    r"|(?P<end>(?<!near the )(?<!towards the )(?<!toward the )end|stop|offset|until|ceas|finish|fade|disappear"
    rf"|(?:to|by)\s+{ABOUT}\Z)|(?P<length>last(?:s|ed|ing)?\b|duration|length|for\s+{ABOUT}\Z))"
)
#: The same behind it: *5 s (offset)*.
_END_NOTE = re.compile(r"\s*[(\[](?:end|stop|offset)\b")
_LONG = re.compile(r"[\s-]*(?:long|in (?:length|duration)|duration|clip|recording|audio)")
#: Before a range in which one end of an interval, or its length, lies; and before a time without the sound.
_START = re.compile(r"\b(?<!from )(?<!from the )(?:start|begin|onset|commenc)(?!.*\bfrom\b)[^\d.;]*\Z")
_END = re.compile(
    r"\b(?:end|stop|offset|ceas|finish|last|duration|length)(?!.*\bfrom\b)[^\d.;,]*\Z"
    rf"|\bfor\s+{ABOUT}\Z"
)
_SILENT = re.compile(r"\b(?:silen|absent|inaudible|quiet|paus|outside|except|miss|stops|mute)[^\d.;,]*\Z")
#: Before a further time that may be meant as well.
_ANOTHER = re.compile(r"\b(?:or|again)\b")


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
    if not pairs and (told := _told(text, found)):
        return [told]
    return [(one.value, abs(two.value)) for one, two in pairs]


def span(text: str) -> Span | None:
    """The one interval in a plain text; None where there is none or a choice."""
    found = spans(text)
    return found[0] if len(found) == 1 else None


def onset(text: str) -> float | None:
    """The one moment at which a plain text says that something begins.

    That of an interval counts; a range (*2-3 s*, *between 2 and 3 s*) may say when it begins as well.
    """
    found = times(text)
    pairs = _pairs(text, found)
    if pairs:
        sure = all(_is_interval(text, one, two) for one, two in pairs)
        return only(start for start, _ in intervals(text)) if sure else None
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
    lead = text[: one.start]
    return bool(_STRONG.match(text, one.end) or _BETWEEN.search(lead) or _BRACKET.search(lead))


def _is_interval(text: str, one: Quantity, two: Quantity) -> bool:
    """Whether a pair is rather an interval than a range: *from a to b*, *a s to b s*, *[a, b]*."""
    lead = text[: one.start]
    if _BETWEEN.search(lead):
        return False
    both = text[one.end - 1].isalpha() and text[two.end - 1].isalpha()
    return bool(both or _BRACKET.search(lead) or _FROM.search(lead))


def _leads(text: str, found: list[Quantity]) -> list[str]:
    """What stands before each moment, behind the one before it."""
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
    words = list(_ROLE.finditer(_leads(text, found)[place]))
    return str(words[-1].lastgroup) if words else ""


def _told(text: str, found: list[Quantity]) -> Span | None:
    """The interval of a text that says where it begins, and where it ends or how long it is."""
    told: dict[str, list[float]] = {"start": [], "end": [], "length": []}
    for place, each in enumerate(found):
        role = _role(text, place, found)
        if not role and place == 0 and len(found) > 1 and _role(text, 1, found) == "length":
            role = "start"  # "3 s, lasting 2 s"
        if not role:
            return None
        told[role].append(each.value)
    start, end, length = (only(told[role]) for role in ("start", "end", "length"))
    if start is None or (end is None and length is None):
        return None
    return (start, end) if end is not None else (start, round(start + (length or 0.0), 9))
