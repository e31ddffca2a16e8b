"""What a model's text says in the end, made plain.

Layers take off what is no answer (:data:`TAKEN_OFF`), and only the last answer that is marked as one counts: in a tag,
in a box, under a key of JSON, behind ``Answer:`` or *the answer is*. Then number words, dashes, quotes and marks of
layout become ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from seldio.answers.languages import in_english, listed, regex, words

# --- what is taken off -----------------------------------------------------------------------------

#: Thoughts between their marks; to the end where they are cut off, from the beginning where only their end is left.
_THOUGHTS = r"(?:think(?:ing)?|thoughts?|reasoning|scratchpad|размышлени[ея])"
_THOUGHT = regex(rf"<{_THOUGHTS}>.*?(?:</{_THOUGHTS}>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = regex(rf"</{_THOUGHTS}>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
#: A turn of somebody else, behind the reply; then marks of turns and ends.
_NEXT_TURN = regex(
    r"(?<=\S)\s*<\|(?:im_start|start_header_id|endoftext|im_end|eot_id)\|>\s*(?:user|system|human|question)\b.*",
    re.DOTALL | re.IGNORECASE,
)
_NEXT_QUESTION = regex(r"\n[ \t]*(?:question|вопрос|human|user)\s*\d{0,3}\s*:", re.IGNORECASE)
_TOKEN = regex(
    r"<\|(?:im_start|start_header_id)\|>\s*(?:assistant|model)\b|<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]"
    r"|</?(?:eos|bos|pad|unk|end_of_turn|end_of_text|start_of_turn)>|\A\s*(?:assistant|model)\s*\n",
    re.IGNORECASE,
)
_NAMED = r"(?:answer|response|result|prediction|output|ответ)"
_TAG = regex(rf"<(?:final[ _-]?)?(?:{_NAMED}|final)>", re.IGNORECASE)
_TAG_END = regex(rf"</(?:final[ _-]?)?(?:{_NAMED}|final)>", re.IGNORECASE)
_LONE = regex(r"\A\s*<([A-Za-z])>\s*\Z")
_OTHER_TAG = regex(r"</?[a-z][a-z\d_-]{0,20}>", re.IGNORECASE)
_FENCE = regex(r"```[\w-]*|~~~")
_KEY = regex(
    rf"[{{,\[]\s*[\"'](?:final_?|correct_?|selected_?|predicted_?|chosen_?)?(?:{_NAMED}|option|choice|letter|label)[\"']\s*:\s*"
    r"(?:\"((?>(?:[^\"\\]|\\.)*))\"|'([^'\n]*+)'|([^\s,}\"'{[]++))",
    re.IGNORECASE,
)
_BOX = "\\boxed{"
_LATEX = regex(r"\\(?:text(?:bf|rm|it|tt)?|math(?:rm|bf|it)|mbox)\s*\{([^{}]*)\}|\\[()\[\]]")


def _without_thoughts(text: str) -> str:
    return _THOUGHT_END.split(_THOUGHT.sub(" ", text))[-1] if "<" in text else text


def _without_tokens(text: str) -> str:
    text = _TOKEN.sub(" ", _NEXT_TURN.sub("", text))
    asked = _NEXT_QUESTION.search(text)
    return text if asked is None or announced(text[: asked.start()]) is None else text[: asked.start()]


def _in_tag(text: str) -> str:
    if "<" not in text:
        return text
    text = _TAG_END.split(_TAG.split(text)[-1])[0] if _TAG.search(text) else text
    return _OTHER_TAG.sub(" ", _LONE.sub(r"\1", text))


def _in_json(text: str) -> str:
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(" ", text)
    found = _KEY.findall(text) if "{" in text else []
    return next(filter(None, found[-1]), "") if found else text


def _in_box(text: str) -> str:
    if _BOX in text:
        text = _boxed(text.rpartition(_BOX)[2])
    return _LATEX.sub(r"\1", text) if "\\" in text else text


#: What is taken off a reply, in this order.
TAKEN_OFF: dict[str, Callable[[str], str]] = {
    "thoughts": _without_thoughts, "tokens": _without_tokens, "tags": _in_tag, "code and JSON": _in_json,
    "box and LaTeX": _in_box,
}  # fmt: skip


def final_words(text: str) -> str:
    r"""*text* without what :data:`TAKEN_OFF` takes off.

    >>> final_words("<think>A?</think> The answer is $\\boxed{\\text{B}}$.")
    'B'
    """
    for take in TAKEN_OFF.values():
        text = take(text)
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
_ANSWER = rf"(?<![^\W_])(?:{words('answer')})"
_ANNOUNCED = regex(
    rf"{_ANSWER}(?![^\W_])[\"'*_`)\]]*+(?:\s+(?:{words('is')}))?[*_`]*"
    r"(?:\s*[:：=]|\s+[-—–](?=\s)|[ \t]*\n)[\"'*_`\s]*(?=\S)"
    rf"|(?:{_ANSWER}|(?<![^\W_])(?:{words('chosen')}))[*_`]* (?:{words('is')})\s+(?=\S)"
    rf"|(?<![^\W_])(?:{words('announcing')})(?:[*_`]*\s*:|(?<=ans)\.)[*_`]*\s+(?=\S)|答案\s*(?:是|为|[:：])\s*(?=\S)",
    re.IGNORECASE,
)
_DENIED_LEAD = regex(r"(?:n't|n’t|(?<![^\W_])(?:not|never|cannot|не))\s[^.;:!?\n]{0,40}\Z", re.IGNORECASE)
#: Signs that compatibility forms would make another number of (½), and the many dashes and quotes.
_SIGNS = str.maketrans(
    {
        "½": ".5", "¼": ".25", "¾": ".75", "º": "°", "˚": "°", "−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-",
        "—": " ; ", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "≈": "~", "\N{MULTIPLICATION SIGN}": "x",
    }
)  # fmt: skip
_DEGREE = regex(r"\^?\{?\\(?:circ|degree)\b\}?")
_LAYOUT = str.maketrans({"*": None, "`": None, "$": None, "_": " ", "#": None})

_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_DECADES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = {word: number for number, word in enumerate((*_UNITS, *_TEENS))}
_TENS = {word: number for number, word in zip(range(20, 100, 10), _DECADES, strict=True)}
_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_UNITS[1:])}))?|(?:{'|'.join(reversed(_ONES))}))"
_WORDS = regex(
    rf"\b(?:(?P<hundreds>{_SMALL}|an?)\s+hundred(?:\s+(?:and\s+)?(?P<rest>{_SMALL}))?|(?P<small>{_SMALL}))"
    rf"(?:\s+point(?P<decimals>(?:\s+(?:{'|'.join(_UNITS)}))+))?(?P<half>\s+and\s+a\s+half)?\b"
)
_ANY_WORD = regex(rf"\b(?:{'|'.join((*_TENS, *_ONES))}|half|hundred)")
_MEASURE = r"(?:m|cm|km|s|sec|ms)\b|°|deg|(?:kilo|centi|milli)?met(?:er|re)s?\b|miles?\b|second|feet|foot|minute"
#: "one" is a number before a unit or a kind of thing that is counted, or after a word that announces it.
_ONE_BEFORE = regex(
    rf"\s+(?:{_MEASURE}|(?:to|or|and)\s+(?:\d|{_SMALL}\b)|(?:[\w-]+\s+){{0,3}}?(?:sources?|sounds?|events?|speakers?|voices?)\b)"
)
_ONE_AFTER = regex(r"(?:\A|\b(?:only|just|exactly|is|are|number|count|total)|[:=])\s*\Z")
_HALF = regex(rf"(?<!and )\b(?:(?:a\s+)?half\s+(?:of\s+)?an?|a\s+half)\s+(?={_MEASURE})")
_A_METRE = regex(
    r"(?<!wait )(?<!times )(?<!t[hy] of )(?<!ths of )(?<!rd of )(?<!rds of )(?<!part of )(?<!fraction of )\ban?\s+"
    r"(?=(?:kilo)?met(?:er|re)\b|minute\b|second(?:\s+and\s+a\s+half\b|\s+(?:in|into|later)\b|\W*\Z))"
)
_EITHER_SIGN = regex(r"\b(?:plus(?: or |/|-)minus|positive or negative)\b|\+/-")
_MINUS = regex(r"\b(?:minus|negative)\s+(?=[\d.])")
_PLUS = regex(r"\b(?:plus|positive)\s+(?=[\d.]+\s*(?:°|deg))")
_THOUSANDS = regex(r"(?<![\d.,\[(])\d{1,3}(?:,\d{3})+(?![\d,])")
_COMMA = regex(rf"(?<![\d.,\[(])(\d+),(\d{{1,2}})(?=\s*(?:{_MEASURE}))")
#: A minus with a blank behind it, where nothing before it makes it a dash or the middle of a range.
_SPACED_MINUS = regex(
    r"(\A|[:=(\[,]|\b(?:is|are|at|of|to|from|and|or|by|about|around|roughly|approximately|exactly))\s*-\s+(?=[\d.])"
)
_MIXED = regex(r"\b(\d+)\s+1/2\b")
_AND_A_HALF = regex(r"\b(\d+)(\s+(?:[a-z]+))?\s+and\s+a\s+half\b")
_QUARTER = regex(rf"\b(?:(?P<three>three|3)[ -]quarters|(?:(?:an?|one|1)\s+)?quarter)\s+(?:of\s+)?an?\s+(?={_MEASURE})")
_AND_QUARTERS = regex(r"\b(\d+)\s+and\s+(?:(?P<three>three|3)|an?|one|1)[ -]quarters?\b")
#: *point 5 m*, and Russian decimals: *ноль пять метра*, *2 целых 3 десятых*.
_POINT = regex(rf"(?<!\d )\bpoint\s+(\d+)(?=\s*(?:{_MEASURE}))|\b0\s+([1-9])(?=\s*(?:{_MEASURE}))")
_TENTHS = regex(r"\b(\d+)\s+whole\s+(\d)\s+tenths?\b")
_THOUSAND = regex(r"(?<![\d.,])\b(\d+|an?)\s+thousand\b(?!\s+(?:and\s+)?\d)")
_NTH_SECOND = regex(
    rf"(\b(?:at|on|by|from|around)) the (?:(\d+)(?:nd|rd|th)|({words('ordinals')})) second\b(?! [a-z]+s\b)"
)
_FOOT = regex(r"(?<=\d)\s*'\s*(?=\d)")
_INCH = regex(r"(\d\s*(?:ft|feet|foot)\s*(?:and\s+)?[\d.]+)\s*(?:in\b|\"|'')")
#: Which end of an interval a time is, behind it: *3.2 s (onset), 5 s (offset)*; a lone end stays what it is.
_START_NOTE = r"\s*\((?:start|begin|onset)(?:ning|ing|s)?\)"
_ENDS = regex(
    rf"{_START_NOTE}\s*(?:,|;|-|to\b|until\b|and\b)\s*([\d.]+(?:\s*s\b|\s*sec(?:ond)?s?\b)?)\s*\((?:end|stop|offset)(?:ing|s)?\)"
)
_NOTE = regex(_START_NOTE)
_FROM_START = regex(
    r"\bfrom the (?:very )?(?:beginning|start)(?: of the \w+)?\s+(?:up to|to|until|till)(?=\s+(?:about |around )?\d)"
)
_BULLET = regex(r"^\s*[-*•]\s+", re.MULTILINE)
_SPELLINGS = (
    (_EITHER_SIGN, "±"), (_QUARTER, lambda found: "0.75 " if found["three"] else "0.25 "),
    (_NTH_SECOND, lambda found: f"{found[1]} {found[2] or listed('ordinals').index(found[3]) + 2} seconds"),
    (_AND_QUARTERS, lambda found: f"{found[1]}.{'75' if found['three'] else '25'}"), (_TENTHS, r"\1.\2"),
    (_POINT, lambda found: f"0.{found[1] or found[2]}"),
    (_THOUSAND, lambda found: f"{1000 * int(found[1]) if found[1].isdigit() else 1000}"),
    (_A_METRE, "1 "), (_MINUS, "-"), (_SPACED_MINUS, r"\1 -"), (_PLUS, "+"), (_COMMA, r"\1.\2"),
    (_MIXED, r"\1.5"), (_AND_A_HALF, r"\1.5\2"), (_FOOT, " ft "), (_INCH, r"\1 inches"), (_ENDS, r" to \1"),
    (_NOTE, ""), (_FROM_START, "from 0 to"),
)  # fmt: skip
_CLOCK = regex(r"(?<![\d:.])(?:(\d{1,2}):)?(\d{1,2}):(\d{2}(?:\.\d+)?)(?![\d:])(?:\s*(?:min(?:ute)?s?|s(?:ec\w*)?)\b)?")


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
