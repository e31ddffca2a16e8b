"""The final answer in a model's text, made plain.

Only the last answer that is marked as one counts: in a tag, in a box, under a key of JSON, behind ``Answer:`` or *the
answer is*. Then number words, dashes, quotes and marks of layout become ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from seldio.answers.languages import Patterns, filled, in_english, table
from seldio.answers.spelling import stripped

_RE = Patterns("plain_text")

#: Signs that compatibility forms would make another number of (½), and the many dashes and quotes.
_SIGNS = str.maketrans(
    {
        "½": ".5", "¼": ".25", "¾": ".75", "º": "°", "˚": "°", "−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-",
        "—": " ; ", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "≈": "~", "\N{MULTIPLICATION SIGN}": "x",
    }
)  # fmt: skip
_LAYOUT = str.maketrans({"*": None, "`": None, "$": None, "_": " ", "#": None})

_ONES = {word: number for number, word in enumerate(table("ones"))}
_TENS = {word: 10 * number for number, word in enumerate(table("tens"), 2)}


@cache
def _respelled() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(filled(expression)), replacement) for expression, replacement in table("respelled")]


def announced(text: str) -> str | None:
    """Return the text behind the last words that announce an answer; None if there are none or they are denied.

    >>> announced("A violin? I do not think so. The answer is flute.")
    'flute.'
    """
    matches = list(_RE.announced.finditer(text))
    if not matches or _RE.denied_lead.search(text, max(0, matches[-1].start() - 60), matches[-1].start()):
        return None
    return text[matches[-1].end() :].strip()


def said(text: str) -> str:
    """Return the final answer of *text* in lower case: without thoughts, only the text behind a last ``Answer:``."""
    text = stripped(text.lower())
    return (announced(text) or text).strip()


def plainly(text: str) -> str:
    """*text* in the one spelling that the readers of numbers and names know.

    >>> plainly("from **18.4s–20.0s**, at minus twenty-five degrees")
    'from 18.4s-20.0s, at -25 degrees'
    """
    text = said(text)
    if "\\" in text:
        text = _RE.degree.sub("°", text)
    if len(_RE.bullet.findall(text)) > 1:  # a list, no minus
        text = _RE.bullet.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_SIGNS))
    text = " ".join(text.translate(_LAYOUT).split())
    if not text.isascii():
        text = in_english(text)
    if _RE.any_word.search(text):
        text = _RE.words.sub(_number, _RE.half.sub("0.5 ", text))
    text = _RE.nth_second.sub(_second, text)
    for pattern, replacement in _respelled():
        text = pattern.sub(replacement, text)
    text = _RE.thousands.sub(lambda match: match.group().replace(",", ""), text)
    return _RE.clock.sub(_seconds, text) if ":" in text else text


def _number(match: re.Match[str]) -> str:
    """Write a number word in digits; "one" stays if it may stand for a thing."""
    if match.group() == "one":
        alone = match.string.strip(" .!") == "one"
        counts = _RE.one_before.match(match.string, match.end()) or _RE.one_after.search(match.string[: match.start()])
        if not (alone or counts):
            return "one"
    value = _small(match["small"]) if match["small"] else 100 * _small(match["hundreds"]) + _small(match["rest"])
    decimals = "".join(str(_ONES[word]) for word in (match["decimals"] or "").split())
    return f"{value}.{decimals}" if decimals else f"{value}.5" if match["half"] else str(value)


def _second(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2] or table('ordinals').index(match[3]) + 2} seconds"


def _small(words: str | None) -> int:
    return sum(_TENS.get(word, _ONES.get(word, 1)) for word in re.split(r"[\s-]", words)) if words else 0


def _seconds(match: re.Match[str]) -> str:
    total = 0.0
    for part in match.groups():
        total = 60 * total + float(part or 0)
    return f"{total:g} s"
