"""The option that a free answer names in the end, as a person reads it: by its text, by its letter, or by both.

None where a person would not be sure either: several options, a denial, a doubt, a letter and a text that disagree, an
answer that stands in the thoughts alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from seldio.answers import bearings
from seldio.answers.extract import beside_another
from seldio.answers.matching import chosen, folded, same_text
from seldio.answers.names import Mention
from seldio.answers.plain_text import announced, final_words, plainly
from seldio.answers.quantities import only

#: Options that are words of grammar, and what they mean at the beginning of an answer.
_YES_NO = {"yes": True, "no": False, "да": True, "нет": False}
_BOTH = re.compile(r"\A(?=.*\byes\b).*\bno\b(?! doubt)")
#: Behind the answer: why.
_REASON = re.compile(
    r"\b(?:because|since|as (?:the|it|there|i)|потому|поскольку|так как)\b|;|\s\((?=\w{2})", re.IGNORECASE
)
#: Words of somebody who is not sure, or offers several.
_DOUBT = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|might|may be|could|unsure|not sure|uncertain|unclear|hard to|difficult to"
    r"|cannot|can't|don't know|do not know|guess|none of)\b"
)
_QUESTION = re.compile(r"(?:\A|(?<=[.!?;]))[^.!?;]*\?")
_ARTICLE = re.compile(r"\A(?:an?|the)\s+(?=\w)", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
#: More of them mark no answer.
_MOST_BOLD = 20
#: Behind a first line that is taken back.
_BACK = re.compile(r"\b(?:no|wait|actually|rather|instead|нет|точнее|вернее)\b", re.IGNORECASE)
#: Words; in longer answers an option may be named for any reason.
_SHORT = 40


def read_option(text: str, options: Sequence[str]) -> str | None:
    """The one of *options* that *text* says is the answer.

    >>> read_option("<think>violin, guitar</think> The answer is **flute**.", ["violin", "flute"])
    'flute'
    """
    words = final_words(text)
    if not words or not options:
        return None
    if (answer := announced(words)) is not None:
        return _named(_REASON.split(answer.partition("\n")[0])[0], options)
    first, *others = (line for line in words.splitlines() if line.strip())
    ends = [first, others[-1]] if others and not _BACK.search(words, len(first)) else others[-1:]
    found = only(each for line in ends if (each := _whole(line, options)) is not None)
    if found is None and len(words.split()) <= _SHORT:
        found = _named(words, options)
    return found or _bold(words, options)


def _whole(text: str, options: Sequence[str]) -> str | None:
    """The option that *text* is, or whose letter it is."""
    if _asks(text, options):
        return None
    same = {option for option in options if same_text(text, option)}
    letter, lettered = chosen(text, options)
    if letter is not None and letter.rule in ("alone", "first"):
        if not same:
            return lettered if letter.rule == "alone" else None
        return lettered if lettered in same else None if letter.rule == "first" else only(same)
    return only(same)


def _asks(text: str, options: Sequence[str]) -> bool:
    return text.rstrip(" *_`\"'").endswith("?") and not any(option.endswith("?") for option in options)


def _bold(text: str, options: Sequence[str]) -> str | None:
    """The only option that is in bold, where it is not denied."""
    spans = list(islice(_BOLD.finditer(text), _MOST_BOLD))
    found = [(each, match) for match in spans if (each := _whole(match[1], options)) is not None]
    plain = text.lower()
    if any(bearings.denied(plain, match.start()) or bearings.inaudible(plain, *match.span()) for _, match in found):
        return None
    return only(each for each, _ in found) if len(spans) < _MOST_BOLD else None


def _named(text: str, options: Sequence[str]) -> str | None:
    """The option that a short text names, by its text, its letter or both, without doubt or denial."""
    if (whole := _whole(text, options)) is not None:
        return whole
    lettered = None if _asks(text, options) else chosen(text, options)[1]
    if _YES_NO.keys() >= {folded(option) for option in options}:
        return _yes_or_no(text, options) or lettered
    plain, mentions = _mentions(text, options)
    meant = [mention for mention in mentions if not bearings.denied(plain, mention.start)]
    if not meant:
        return None if mentions else lettered
    named = only(mention.name for mention in meant)
    if named is None or bearings.retracted(plain) or _DOUBT.search(plain):
        return None
    if any(bearings.inaudible(plain, each.start, each.end) or beside_another(plain, each) for each in meant):
        return None
    named = options[ord(named[-1]) - ord("a")]
    return named if lettered in (None, named) else None


def _yes_or_no(text: str, options: Sequence[str]) -> str | None:
    plain = plainly(text)
    answer = None if _BOTH.search(plain) else bearings.yes_no(plain)
    return next((option for option in options if answer is _YES_NO[folded(option)]), None)


def _mentions(text: str, options: Sequence[str]) -> tuple[str, list[Mention]]:
    """The text in plain spelling, with a name of one kind in place of each option, and where those are."""
    masked = text
    for option in sorted(options, key=len, reverse=True):
        words = re.findall(r"\w+", _ARTICLE.sub("", option))
        if words and len(options) <= 26:
            pattern = r"(?<![\w.,]{1})" + r"\W+".join(map(re.escape, words)) + r"(?!\w|[.,]\d)"
            masked = re.sub(pattern, f" qz{chr(ord('a') + list(options).index(option))} ", masked, flags=re.IGNORECASE)
    plain = _QUESTION.sub(" ", plainly(masked))
    return plain, [Mention(match.group(), *match.span()) for match in re.finditer(r"\bqz[a-z]\b", plain)]
