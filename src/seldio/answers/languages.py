"""Answers in other languages in the words of English, so that one grammar reads them all.

A language is a table: its letters, its numerals and its phrases, each with the English ones. A word that the table does
not have becomes :data:`UNKNOWN`, and readers leave an answer open where that may matter.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from seldio.tasks.names import called_in_russian

#: Stands for a word that is in no table; it is no word of English.
UNKNOWN = "qq"
#: A decimal comma; behind a bracket, where it may part two numbers, only before a unit or a dash with another one.
_COMMA = re.compile(
    r"(?:(?<![\d.,(\[])(?=\d+,\d{1,2}(?![\d,]))|(?<=[(\[])(?=\d+,\d{1,2}(?:\s*(?:[см](?!\w)|сек|метр)|\s?-\s?\d+,\d)))"
    r"(\d+),(\d+)"
)
_RANGE = re.compile(r"(\d(?:\s*(?:degrees|°|m|cm|s|seconds|minutes))?) (?:up to|through) (?=(?:about )?[-\d])")
_UNKNOWN_BEHIND = re.compile(rf"(?:\A|[.;!?])[^.;!?\d]*\d[^.;!?]*\b{UNKNOWN}\b")


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads(files(__package__ or "").joinpath("words.toml").read_text("utf-8"))


def table(name: str) -> Any:
    """Return a table or a list of ``words.toml``."""
    return _words()[name]


class Patterns:
    """The regular expressions of a part of ``words.toml``, each compiled when it is first used."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in _words()[self._part]:
            raise AttributeError(name)
        pattern = re.compile(filled(_words()[self._part][name]))
        setattr(self, name, pattern)
        return pattern


@cache
def patterns(part: str) -> dict[str, re.Pattern[str]]:
    """Return all regular expressions of a part of ``words.toml`` by name."""
    return {name: re.compile(filled(expression)) for name, expression in _words()[part].items()}


@cache
def filled(expression: str) -> str:
    """Return an expression with its parts in the place of ``<<name>>``: a list of words, or another expression."""
    return filled_from(expression, _part)


def filled_from(expression: str, part: Callable[[str], str]) -> str:
    """Return an expression with *part* of each name in the place of ``<<name>>``."""
    while "<<" in expression:
        expression = re.sub(r"<<(\w+)>>", lambda name: part(name[1]), expression)
    return expression


def _part(name: str) -> str:
    if name == "units":
        spellings = [spelling for unit in _words()["units"] for spelling in unit["spelled"]]
        return "|".join(map(re.escape, sorted(spellings, key=len, reverse=True)))
    return "|".join(_words()[name]) if name in _words() else str(_words()["parts"][name])


class Language(NamedTuple):
    """The table of a language, ready for use."""

    letter: re.Pattern[str]
    word: re.Pattern[str]
    joined: re.Pattern[str]  # a number and a word, without a blank
    ending: re.Pattern[str]  # behind the hyphen of a number in digits
    ordinal: re.Pattern[str]  # what a cardinal may stand for as well: the stems, or an ending behind digits
    cardinals: tuple[str, ...]
    numerals: dict[str, float]
    numeral: re.Pattern[str]  # a run of numerals, and a half
    ones: frozenset[str]
    phrase: re.Pattern[str]
    english: tuple[str, ...]


@cache
def _russian() -> Language:
    table = json.loads(files(__package__ or "").joinpath("russian.json").read_text("utf-8"))
    letters, half = table["letters"], table["conjunction"]
    numerals = {word: float(number) for number, words in table["numbers"].items() for word in words.split()}
    stems = "|".join(f"({stem})" for stem in table["ordinals"].values())
    one_numeral = "|".join(sorted((*numerals, *table["one"]), key=len, reverse=True))
    phrases = [*called_in_russian(), *table["phrases"]]
    runs = rf"(?:{one_numeral})(?: (?:{one_numeral}))*|\d+(?={half})"
    return Language(
        letter=re.compile(f"[{letters}]"),
        word=re.compile(rf"[{letters}][{letters}-]*"),
        joined=re.compile(rf"(?<=\d)(?=[{letters}])"),
        ending=re.compile(rf"(?<=\d)-(?=[{letters}])"),
        ordinal=re.compile(rf"(?:(?<=\d)-?|(?<!\w)(?:{stems})){table['ordinal']}"),
        cardinals=(*table["ordinals"],),
        numerals=numerals,
        numeral=re.compile(rf"(?<!\w)(?:{runs})(?:{half})?(?!\w)"),
        ones=frozenset(table["one"]),
        phrase=re.compile("|".join(rf"((?<!\w)(?:{pattern})(?!\w))" for pattern, _ in phrases)),
        english=tuple(english for _, english in phrases),
    )


def in_english(text: str) -> str:
    """Return a text in lower case with the words of other languages in English; others are :data:`UNKNOWN`.

    >>> in_english("примерно шестьдесят пять градусов вправо")
    'about 65 degrees to the right'
    """
    return _translated(text, _russian()) if _russian().letter.search(text) else text


def unsure(text: str, numeric: bool) -> bool:
    """Return whether a word that nobody knows may change what an answer says: any but one before a number."""
    return bool(_UNKNOWN_BEHIND.search(text)) if numeric else UNKNOWN in text.split()


def _translated(text: str, language: Language) -> str:
    text = language.ordinal.sub(lambda match: language.cardinals[match.lastindex - 1] if match.lastindex else "", text)
    text = language.joined.sub(" ", language.ending.sub(f" {UNKNOWN}-", " ".join(text.split())))
    text = _COMMA.sub(r"\1.\2", text)
    text = language.numeral.sub(lambda match: _digits(match.group(), language), text)
    text = language.phrase.sub(lambda match: language.english[(match.lastindex or 1) - 1], text)
    text = language.word.sub(UNKNOWN, text)
    return " ".join(_RANGE.sub(r"\1 to ", text).split())


def _digits(words: str, language: Language) -> str:
    """Write a run of numerals in digits; a numeral smaller than the one before it belongs to the same number."""
    numbers: list[float] = []
    half = 0.0
    least = 0.0
    for word in words.split():
        if word[0].isdigit():
            value = float(word)
        elif word in language.ones:
            value = 1.0
        elif word in language.numerals:
            value = language.numerals[word]
        else:
            half = 0.5
            continue
        if numbers and value < least and value != 0:
            numbers[-1] += value
        else:
            numbers.append(value)
        least = 100 if value >= 100 else 10 if value >= 20 else 0
    if not half and words in language.ones:
        return "one"
    return " ".join(f"{number + half * (place == len(numbers) - 1):g}" for place, number in enumerate(numbers))
