"""The option that a free answer names in the end, as a person reads it: by its text, by its letter, or by both.

None where a person would not be sure either: several options, a denial, a doubt, a letter and a text that disagree, an
answer that stands in the thoughts alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, pairwise

from seldio.answers import bearings
from seldio.answers.extract import beside_another
from seldio.answers.letters import unlabelled
from seldio.answers.matching import chosen, folded, one_spelling, tokens
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
#: Between words of an option that only a blank stands between, and between others.
_BLANK, _MARKS = r"[\s*_`\"'-]{1,8}", r"[\W_]{1,8}"
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
    same = _same(text, options)
    letter, lettered = chosen(text, options)
    if letter is None or letter.rule not in ("alone", "first"):
        return only(same)
    if letter.rule == "alone":  # a letter may be the text of another option
        return lettered if same <= {lettered} else only(same) if lettered is None else None
    return lettered if lettered in same else text if text in same else None


def _same(text: str, options: Sequence[str]) -> set[str]:
    """The options whose text this is, the label aside: of those that differ little, the nearest."""
    for part in unlabelled(text):
        for spelled in (str.strip, _bare, folded):
            meant = spelled(part)
            if found := {option for option in options if spelled(option) == meant}:
                return found
    return set()


def _bare(text: str) -> str:
    """A text without case and what may stand around it."""
    return text.casefold().strip(" \t\r\n*_`\"'“”«».!") if any(map(str.isalnum, text)) else text


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
    if lettered is not None and (same := _same(text, options)) and lettered not in same:
        return None
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
    return named if lettered in (None, named) and named not in _doubles(tuple(options)) else None


def _yes_or_no(text: str, options: Sequence[str]) -> str | None:
    plain = plainly(text)
    answer = None if _BOTH.search(plain) else bearings.yes_no(plain)
    return next((option for option in options if answer is _YES_NO[folded(option)]), None)


def _mentions(text: str, options: Sequence[str]) -> tuple[str, list[Mention]]:
    """The text in plain spelling, with a name of one kind in place of each option, and where those are."""
    if len(options) <= 26:
        text = _named_in(tuple(options)).sub(lambda found: f" {found.lastgroup} ", one_spelling(text))
    plain = _QUESTION.sub(" ", plainly(text))
    return plain, [Mention(match.group(), *match.span()) for match in re.finditer(r"\bqz[a-z]\b", plain)]


@lru_cache(256)
def _named_in(options: tuple[str, ...]) -> re.Pattern[str]:
    """What finds options in a text in one spelling, the longest first: the group tells which."""
    patterns = {f"qz{chr(ord('a') + options.index(option))}": _pattern(option, options) for option in options}
    longest = sorted(patterns, key=lambda name: len(patterns[name]), reverse=True)
    return re.compile("|".join(f"(?P<{name}>{patterns[name]})" for name in longest if patterns[name]) or r"(?!)")


@lru_cache(256)
def _doubles(options: tuple[str, ...]) -> frozenset[str]:
    """The options that another one may be taken for inside a sentence, where case and marks tell little."""
    named = {option: re.compile(_pattern(option, options) or r"(?!)") for option in options}
    pairs = [(one, two) for one in named for two in named if one != two and named[one].fullmatch(one_spelling(two))]
    return frozenset(option for pair in pairs for option in pair)


def _article(words: Sequence[re.Match[str]]) -> bool:
    return len(words) > 1 and words[0].group().lower() in ("a", "an", "the")


def _inside(words: Sequence[re.Match[str]], option: str) -> bool:
    """Whether an option has these words one after the other."""
    return f" {' '.join(word.group().casefold() for word in words)} " in f" {folded(option)} "


def _pattern(option: str, options: Sequence[str]) -> str:
    """An option in a text: all its words and signs, with none that make another one of it."""
    text, found, before = one_spelling(option), tokens(option), ""
    if found and found[0].group()[0].isdigit():
        before = r"(?<![-+])"
    elif _article(found) and not any(_inside(found[1:], other) for other in options if other != option):
        found, before = found[1:], r"(?<!\b[B-HJ-Z]\s)(?<!#\s)"  # an article may be left out; the A of A major may not
    words = [re.escape(each.group()) for each in found]
    if not words:
        return ""
    for number, (one, two) in enumerate(pairwise(found), 1):
        between = text[one.end() : two.start()]
        words[number] = (_BLANK if between.isspace() else _MARKS if between else r"\s?") + words[number]
    case = "i" if len(words[0]) > 1 or len(words) > 1 else ""  # I and a are words of sentences
    words.append(r"\??" if option.endswith("?") else "")
    return rf"(?<![^\W_])(?<!\d[.,:/]){before}(?{case}:{''.join(words)})(?![^\W_]|[#+]|[.,:/]\d|\s?[%°]|-(?!\w))"
