"""Words of replies and of options as they are compared, and the patterns of ``replies.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from seldio.answers.languages import filled_from

#: Characters that are read of the beginning and of the end of a longer reply.
READ_OF_BEGINNING, READ_OF_END = 1_500, 3_000


class Word(NamedTuple):
    """A word of a text, in the spelling in which words are compared."""

    spelled: str
    start: int
    end: int


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__ or "").joinpath("replies.toml").read_text("utf-8"))


def listed(name: str) -> list[str]:
    """Return a list of words of ``replies.toml``."""
    return list(_table()["words"][name])


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of ``replies.toml``."""
    return _compiled(_table()["patterns"][name])


def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(filled_from(expression, lambda name: "|".join(listed(name))), re.IGNORECASE | re.DOTALL)


@cache
def _steps() -> list[tuple[re.Pattern[str], str]]:
    return [(_compiled(expression), replacement) for expression, replacement in _table()["strip"]["steps"]]


@cache
def numbers() -> dict[str, str]:
    """Return the digits of each number word."""
    rows = listed("numbers")
    return {word: str(value) for value, row in enumerate(rows) for word in row.split()}


@cache
def _articles() -> frozenset[str]:
    return frozenset(listed("articles"))


@cache
def opposites() -> list[set[str]]:
    """Return the sets of words that turn a comparison around: *louder, quieter*."""
    return [{stems(word) for word in row.split()} for row in listed("opposites")]


def stripped(reply: str) -> str:
    """Return a reply without thoughts, stop tokens, tags and marks; a marked answer becomes ``Answer: …``."""
    for expression, replacement in _steps():
        reply = expression.sub(replacement, reply)
    if len(reply) > READ_OF_BEGINNING + READ_OF_END:
        reply = f"{reply[:READ_OF_BEGINNING]}\n{reply[-READ_OF_END:]}"
    return reply.strip()


def words(text: str) -> list[Word]:
    """Return the words of a text with their places; numbers in digits."""
    return [
        Word(_spelled(match.group()), match.start(), match.end())
        for match in pattern("token").finditer(text.replace("’", "'"))
    ]


def _spelled(word: str) -> str:
    word = word.lower().replace("ё", "е").replace("−", "-")
    if word.isdecimal():
        word = word.lstrip("0") or "0"
    return numbers().get(word, word)


def content(text: str) -> list[Word]:
    """Return the words of a text without articles and prepositions; a letter that may be a label or a note stays."""
    all_words = words(text)
    content_words = [
        word
        for number, word in enumerate(all_words)
        if word.spelled not in _articles() or _is_label(text, number, word)
    ]
    return content_words or all_words


def _is_label(text: str, number: int, word: Word) -> bool:
    """Return whether an article may be the letter of an option or the name of a note."""
    inside = text[word.end : word.end + 1] == " "
    capital = number > 0 and text[word.start].isupper()
    return not inside or capital or bool(pattern("note").match(text, word.end))


def folded(text: str) -> str:
    """Return a text without case, marks and articles."""
    return " ".join(word.spelled for word in content(text))


def stem(word: str) -> str:
    """Return a word without its ending."""
    return pattern("ending").sub("", word)


def stems(text: str) -> str:
    """Return a folded text without the endings of its words."""
    return " ".join(stem(word.spelled) for word in content(text))


def loose(text: str) -> str:
    """Return a text without case and what may stand around it."""
    return text.replace("’", "'").casefold().strip(" \t\n.!\"'«»“”")


def trimmed(text: str) -> str:
    """Return a text without what may stand before and behind an option: *I think it's …, most likely*."""
    text = pattern("lead").sub("", text, count=1)
    return pattern("tail").sub("", text, count=1)


def asks(text: str) -> bool:
    """Return whether a text is a question."""
    return text.rstrip(" \"'»”)").endswith("?")


def only(places: Iterable[int]) -> int | None:
    """Return the only one of some numbers; None where there are none or several."""
    different = {*places}
    return different.pop() if len(different) == 1 else None
