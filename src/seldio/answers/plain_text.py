"""What a model's text says in the end, made plain.

Thoughts are ignored, and only the last answer that is marked as one counts: in ``<answer>``, in a box, behind
``Answer:`` or *the answer is*. Then number words, dashes, quotes and marks of layout become ASCII.
"""

from __future__ import annotations

import re
import unicodedata

from seldio.answers.languages import in_english

#: Thoughts between their marks; to the end where they are cut off, from the beginning where only their end is left.
_THOUGHTS = r"(?:think(?:ing)?|thoughts?|reasoning|scratchpad)"
_THOUGHT = re.compile(rf"<{_THOUGHTS}>.*?(?:</{_THOUGHTS}>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(rf"</{_THOUGHTS}>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
_TAG = re.compile(r"<(?:final_)?answer>", re.IGNORECASE)
_TAG_END = re.compile(r"</(?:final_)?answer>", re.IGNORECASE)
_BOX = "\\boxed{"
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")


def final_words(text: str) -> str:
    r"""*text* without thoughts; where it has ``<answer>`` or a box of LaTeX, what is in the last one.

    >>> final_words("<think>A?</think> The answer is $\\boxed{\\text{B}}$.")
    'B'
    """
    if "<" in text:
        text = _THOUGHT.sub(" ", text)
        text = _THOUGHT_END.split(text)[-1]
        text = _TAG_END.split(_TAG.split(text)[-1])[0] if _TAG.search(text) else text
    if _BOX in text:
        text = _boxed(text.rpartition(_BOX)[2])
    if "\\" in text:
        text = _LATEX.sub(r"\1", text)
    return text.strip()


def _boxed(text: str) -> str:
    """The text before the brace that closes a box."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return text[:place]
    return text


# --- one spelling ----------------------------------------------------------------------------------

#: What announces an answer: *Answer:*, *the correct option is*, *Ответ —*, ``"answer":``, a heading.
_ANNOUNCED = re.compile(
    r"(?<![^\W_])(?:answer|ответ)(?![^\W_])[\"'*_`)\]]*+(?:\s+(?:is|would be|must be|should be))?[*_`]*"
    r"(?:\s*[:：=]|\s+[-—–](?=\s)|[ \t]*\n)[\"'*_`\s]*(?=\S)"
    r"|(?<![^\W_])(?:answer|(?:correct|right|best) (?:option|choice))[*_`]* (?:is|would be|must be|should be)\s+(?=\S)",
    re.IGNORECASE,
)
_DENIED_LEAD = re.compile(r"(?:n't|n’t|(?<![^\W_])(?:not|never|cannot|не))\s[^.;:!?\n]{0,40}\Z", re.IGNORECASE)
#: Signs that compatibility forms would make another number of (½), and the many dashes and quotes.
_SIGNS = str.maketrans(
    {
        "½": ".5", "¼": ".25", "¾": ".75", "º": "°", "˚": "°", "−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-",
        "—": " ; ", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "≈": "~", "\N{MULTIPLICATION SIGN}": "x",
    }
)  # fmt: skip
_DEGREE = re.compile(r"\^?\{?\\(?:circ|degree)\b\}?")
_LAYOUT = str.maketrans({"*": None, "`": None, "$": None, "_": " ", "#": None})

_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_DECADES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = {word: number for number, word in enumerate((*_UNITS, *_TEENS))}
_TENS = {word: number for number, word in zip(range(20, 100, 10), _DECADES, strict=True)}
_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_UNITS[1:])}))?|(?:{'|'.join(reversed(_ONES))}))"
_WORDS = re.compile(
    rf"\b(?:(?P<hundreds>{_SMALL}|an?)\s+hundred(?:\s+(?:and\s+)?(?P<rest>{_SMALL}))?|(?P<small>{_SMALL}))"
    rf"(?:\s+point(?P<decimals>(?:\s+(?:{'|'.join(_UNITS)}))+))?(?P<half>\s+and\s+a\s+half)?\b"
)
_ANY_WORD = re.compile(rf"\b(?:{'|'.join((*_TENS, *_ONES))}|half|hundred)")
_MEASURE = r"(?:m|cm|s|sec|ms)\b|°|deg|met(?:er|re)s?\b|second|feet|foot|minute"
#: "one" is a number before a unit or a kind of thing that is counted, or after a word that announces it.
_ONE_BEFORE = re.compile(
    rf"\s+(?:{_MEASURE}|(?:to|or|and)\s+(?:\d|{_SMALL}\b)|(?:[\w-]+\s+){{0,3}}?(?:sources?|sounds?|events?|speakers?|voices?)\b)"
)
_ONE_AFTER = re.compile(r"(?:\A|\b(?:only|just|exactly|is|are|number|count|total)|[:=])\s*\Z")
_HALF = re.compile(rf"(?<!and )\b(?:(?:a\s+)?half\s+(?:of\s+)?an?|a\s+half)\s+(?={_MEASURE})")
_A_METRE = re.compile(r"\ban?\s+(?=met(?:er|re)\b)")
_EITHER_SIGN = re.compile(r"\b(?:plus(?: or |/|-)minus|positive or negative)\b|\+/-")
_MINUS = re.compile(r"\b(?:minus|negative)\s+(?=[\d.])")
_PLUS = re.compile(r"\b(?:plus|positive)\s+(?=[\d.]+\s*(?:°|deg))")
_THOUSANDS = re.compile(r"(?<![\d.,\[(])\d{1,3}(?:,\d{3})+(?![\d,])")
_COMMA = re.compile(rf"(?<![\d.,\[(])(\d+),(\d{{1,2}})(?=\s*(?:{_MEASURE}))")
#: A minus with a blank behind it, where nothing before it makes it a dash or the middle of a range.
_SPACED_MINUS = re.compile(
    r"(\A|[:=(\[,]|\b(?:is|are|at|of|to|from|and|or|by|about|around|roughly|approximately|exactly))\s*-\s+(?=[\d.])"
)
_MIXED = re.compile(r"\b(\d+)\s+1/2\b")
_AND_A_HALF = re.compile(r"\b(\d+)(\s+(?:[a-z]+))\s+and\s+a\s+half\b")
_FOOT = re.compile(r"(?<=\d)\s*'\s*(?=\d)")
_INCH = re.compile(r"(\d\s*(?:ft|feet|foot)\s*(?:and\s+)?[\d.]+)\s*(?:in\b|\"|'')")
#: Which end of an interval a time is, behind it: *3.2 s (onset), 5 s (offset)*; a lone end stays what it is.
_START_NOTE = r"\s*\((?:start|begin|onset)(?:ning|ing|s)?\)"
_ENDS = re.compile(
    rf"{_START_NOTE}\s*(?:,|;|-|to\b|until\b|and\b)\s*([\d.]+(?:\s*s\b|\s*sec(?:ond)?s?\b)?)\s*\((?:end|stop|offset)(?:ing|s)?\)"
)
_NOTE = re.compile(_START_NOTE)
_BULLET = re.compile(r"^\s*[-*•]\s+", re.MULTILINE)
_SPELLINGS = (
    (_EITHER_SIGN, "±"), (_A_METRE, "1 "), (_MINUS, "-"), (_SPACED_MINUS, r"\1 -"), (_PLUS, "+"), (_COMMA, r"\1.\2"),
    (_MIXED, r"\1.5"), (_AND_A_HALF, r"\1.5\2"), (_FOOT, " ft "), (_INCH, r"\1 inches"), (_ENDS, r" to \1"),
    (_NOTE, ""),
)  # fmt: skip
_CLOCK = re.compile(
    r"(?<![\d:.])(?:(\d{1,2}):)?(\d{1,2}):(\d{2}(?:\.\d+)?)(?![\d:])(?:\s*(?:min(?:ute)?s?|s(?:ec\w*)?)\b)?"
)


def announced(text: str) -> str | None:
    """What follows the last words that announce an answer; None where there are none, or they are denied.

    >>> announced("A violin? I do not think so. The answer is flute.")
    'flute.'
    """
    found = list(_ANNOUNCED.finditer(text))
    if not found or _DENIED_LEAD.search(text, max(0, found[-1].start() - 60), found[-1].start()):
        return None
    return text[found[-1].end() :].strip()


def said(text: str) -> str:
    """What *text* says in the end, in lower case: thoughts left out, only what follows a last ``Answer:``."""
    text = final_words(text.lower())
    return (announced(text) or text).strip()


def plainly(text: str) -> str:
    """*text* in the one spelling that the readers of numbers and names know.

    >>> plainly("from **18.4s–20.0s**, at minus twenty-five degrees")
    'from 18.4s-20.0s, at -25 degrees'
    """
    text = said(text)
    if "\\" in text:
        text = _DEGREE.sub("°", text)
    if len(_BULLET.findall(text)) > 1:  # a list, no minus
        text = _BULLET.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_SIGNS))
    text = " ".join(text.translate(_LAYOUT).split())
    if not text.isascii():
        text = in_english(text)
    if _ANY_WORD.search(text):
        text = _WORDS.sub(_number, _HALF.sub("0.5 ", text))
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    text = _THOUSANDS.sub(lambda found: found.group().replace(",", ""), text)
    return _CLOCK.sub(_seconds, text) if ":" in text else text


def _number(found: re.Match[str]) -> str:
    """A number in words as digits; "one" stays where it may stand for a thing."""
    if found.group() == "one" and not (
        _ONE_BEFORE.match(found.string, found.end()) or _ONE_AFTER.search(found.string[: found.start()])
        or found.group() == found.string.strip(" .!")
    ):  # fmt: skip
        return "one"
    value = _small(found["small"]) if found["small"] else 100 * _small(found["hundreds"]) + _small(found["rest"])
    decimals = "".join(str(_ONES[word]) for word in (found["decimals"] or "").split())
    return f"{value}.{decimals}" if decimals else f"{value}.5" if found["half"] else str(value)


def _small(words: str | None) -> int:
    return sum(_TENS.get(word, _ONES.get(word, 1)) for word in re.split(r"[\s-]", words)) if words else 0


def _seconds(found: re.Match[str]) -> str:
    """A time of hours, minutes and seconds in seconds."""
    total = 0.0
    for part in found.groups():
        total = 60 * total + float(part or 0)
    return f"{total:g} s"
