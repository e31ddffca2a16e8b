"""Words of texts as readers compare them, in one spelling and in English, and the patterns of ``*.toml``.

A language is a table: its letters, its numerals and its phrases, each with the English ones. A word that the table does
not have becomes :data:`UNKNOWN`, and readers leave an answer open where that may matter.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from seldio.tasks.names import called_in_russian

T = TypeVar("T")
#: Characters that are read of the beginning and of the end of a longer reply.
READ_OF_BEGINNING, READ_OF_END = 1_500, 3_000
#: Stands for a word that is in no table; it is no word of English.
UNKNOWN = "qq"
#: A decimal comma; behind a bracket, where it may part two numbers, only before a unit or a dash with another one.
_COMMA = re.compile(
    r"(?:(?<![\d.,(\[])(?=\d+,\d{1,2}(?![\d,]))|(?<=[(\[])(?=\d+,\d{1,2}(?:\s*(?:[см](?!\w)|сек|метр)|\s?-\s?\d+,\d)))"
    r"(\d+),(\d+)"
)
_RANGE = re.compile(r"(\d(?:\s*(?:degrees|°|m|cm|s|seconds|minutes))?) (?:up to|through) (?=(?:about )?[-\d])")
#: Of the expressions of ``replies.toml``.
_FLAGS = re.IGNORECASE | re.DOTALL
_UNKNOWN_BEHIND = re.compile(rf"(?:\A|[.;!?])[^.;!?\d]*\d[^.;!?]*\b{UNKNOWN}\b")


# --- patterns --------------------------------------------------------------------------------------


@cache
def _file(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__ or "").joinpath(name).read_text("utf-8"))


def table(name: str) -> Any:
    """Return a table or a list of ``words.toml``."""
    return _file("words.toml")[name]


def listed(name: str) -> list[str]:
    """Return a list of words of ``replies.toml``."""
    return list(_file("replies.toml")["words"][name])


@cache
def filled(expression: str, replies: bool = False) -> str:
    """Return an expression with its parts in the place of ``<<name>>``: a list of words, or another expression."""
    words = _file("replies.toml")["words"] if replies else _file("words.toml")

    def part(match: re.Match[str]) -> str:
        if match[1] == "units":
            spellings = [spelling for unit in words["units"] for spelling in unit["spelled"]]
            return "|".join(map(re.escape, sorted(spellings, key=len, reverse=True)))
        return "|".join(words[match[1]]) if match[1] in words else str(words["parts"][match[1]])

    while "<<" in expression:
        expression = re.sub(r"<<(\w+)>>", part, expression)
    return expression


@cache
def patterns(part: str) -> dict[str, re.Pattern[str]]:
    """Return all regular expressions of a part of ``words.toml`` by name."""
    return {name: re.compile(filled(expression)) for name, expression in table(part).items()}


@cache
def _replaced(file: str) -> list[tuple[re.Pattern[str], str]]:
    """Return what a file of words replaces in a text, one after the other, and what comes instead."""
    replies = file == "replies.toml"
    rows = _file(file)["strip"]["steps"] if replies else table("respelled")
    return [(re.compile(filled(row[0], replies), _FLAGS if replies else 0), row[1]) for row in rows]


class Patterns:
    """The regular expressions of a part of ``words.toml``, or of ``replies.toml``, each compiled at its first use."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, name: str) -> re.Pattern[str]:
        replies = self._part == "replies"
        expressions = _file("replies.toml")["patterns"] if replies else table(self._part)
        if name not in expressions:
            raise AttributeError(name)
        pattern = re.compile(filled(expressions[name], replies), _FLAGS if replies else 0)
        setattr(self, name, pattern)
        return pattern


REPLIES = Patterns("replies")
_RE = Patterns("plain_text")

# --- words of replies and options ------------------------------------------------------------------


class Word(NamedTuple):
    """A word of a text, in the spelling in which words are compared."""

    spelled: str
    start: int
    end: int


@cache
def numbers() -> dict[str, str]:
    """Return the digits of each number word."""
    return {word: str(value) for value, row in enumerate(listed("numbers")) for word in row.split()}


@cache
def _articles() -> frozenset[str]:
    return frozenset(listed("articles"))


@cache
def opposites() -> list[set[str]]:
    """Return the sets of words that turn a comparison around: *louder, quieter*."""
    return [{stems(word) for word in row.split()} for row in listed("opposites")]


def stripped(reply: str) -> str:
    """Return a reply without thoughts, stop tokens, tags and marks; a marked answer becomes ``Answer: …``."""
    if REPLIES.markup.search(reply):
        for expression, replacement in _replaced("replies.toml"):
            reply = expression.sub(replacement, reply)
    if len(reply) > READ_OF_BEGINNING + READ_OF_END:
        reply = f"{reply[:READ_OF_BEGINNING]}\n{reply[-READ_OF_END:]}"
    return reply.strip()


def content(text: str) -> list[Word]:
    """Return the words of a text with their places, numbers in digits, without articles and prepositions.

    A letter that may be a label or a note stays.
    """
    digits, articles = numbers(), _articles()
    words: list[Word] = []
    content_words: list[Word] = []
    for place, match in enumerate(REPLIES.token.finditer(text.replace("’", "'"))):
        spelled = match.group().lower().replace("ё", "е").replace("−", "-")
        if spelled.isdecimal():
            spelled = spelled.lstrip("0") or "0"
        word = Word(digits.get(spelled, spelled), match.start(), match.end())
        words.append(word)
        if word.spelled in articles and text[word.end : word.end + 1] == " ":
            capital = place > 0 and text[word.start].isupper()  # the letter of an option or the name of a note
            if not capital and not REPLIES.note.match(text, word.end):
                continue
        content_words.append(word)
    return content_words or words


def folded(text: str) -> str:
    """Return a text without case, marks and articles."""
    return " ".join(word.spelled for word in content(text))


def stem(word: str) -> str:
    """Return a word without its ending."""
    return REPLIES.ending.sub("", word)


def stems(text: str) -> str:
    """Return a folded text without the endings of its words."""
    return " ".join(stem(word.spelled) for word in content(text))


def loose(text: str) -> str:
    """Return a text without case and what may stand around it."""
    return text.replace("’", "'").casefold().strip(" \t\n.!\"'«»“”")


def trimmed(text: str) -> str:
    """Return a text without what may stand before and behind an option: *I think it's …, most likely*."""
    return REPLIES.tail.sub("", REPLIES.lead.sub("", text, count=1), count=1)


def asks(text: str) -> bool:
    """Return whether a text is a question."""
    return text.rstrip(" \"'»”)").endswith("?")


def only(values: Iterable[T]) -> T | None:
    """Return the value, where all are the same; None where there is none or a choice."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


# --- plain texts: the final answer, with number words, dashes, quotes and marks of layout in ASCII --------------------

#: Signs that compatibility forms would make another number of (½), and the many dashes and quotes.
_SIGNS = str.maketrans(
    {
        "½": ".5",
        "¼": ".25",
        "¾": ".75",
        "º": "°",
        "˚": "°",
        "−": "-",
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "–": "-",
        "—": " ; ",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "≈": "~",
        "\N{MULTIPLICATION SIGN}": "x",
    }
)
_LAYOUT = str.maketrans({"*": None, "`": None, "$": None, "_": " ", "#": None})
_VALUES = {word: number for number, word in enumerate(table("ones"))}
_VALUES |= {word: 10 * number for number, word in enumerate(table("tens"), 2)}


def final_answer(text: str) -> str:
    """Return the final answer of *text* in lower case: what is behind the last announcement that is not denied.

    >>> final_answer("A violin? I do not think so. The answer is flute.")
    'flute.'
    """
    text = stripped(text.lower())
    matches = list(_RE.announced.finditer(text)) if _RE.may_announce.search(text) else []
    if matches and not _RE.denied_lead.search(text, max(0, matches[-1].start() - 60), matches[-1].start()):
        return text[matches[-1].end() :].strip() or text
    return text


def plainly(text: str) -> str:
    """Return the final answer of *text* in the one spelling that the readers of numbers and names know.

    >>> plainly("from **18.4s–20.0s**, at minus twenty-five degrees")
    'from 18.4s-20.0s, at -25 degrees'
    """
    text = final_answer(text)
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
    text = _RE.nth_second.sub(
        lambda match: f"{match[1]} {match[2] or table('ordinals').index(match[3]) + 2} seconds", text
    )
    if _RE.respellable.search(text):
        for pattern, replacement in _replaced("words.toml"):
            text = pattern.sub(replacement, text)
    if "," in text:
        text = _RE.thousands.sub(lambda match: match.group().replace(",", ""), text)
    if ":" in text:
        text = _RE.clock.sub(
            lambda match: f"{3600 * float(match[1] or 0) + 60 * float(match[2]) + float(match[3]):g} s", text
        )
    return text


def _number(match: re.Match[str]) -> str:
    """Write a number word in digits; "one" stays if it may stand for a thing."""
    if match.group() == "one":
        alone = match.string.strip(" .!") == "one"
        counts = _RE.one_before.match(match.string, match.end()) or _RE.one_after.search(match.string[: match.start()])
        if not (alone or counts):
            return "one"
    value = 0
    for words, scale in ((match["small"] or match["rest"], 1), (match["hundreds"], 100)):
        value += sum(scale * _VALUES.get(word, 1) for word in re.split(r"[\s-]", words)) if words else 0
    decimals = "".join(str(_VALUES[word]) for word in (match["decimals"] or "").split())
    return f"{value}.{decimals}" if decimals else f"{value}.5" if match["half"] else str(value)


# --- other languages -------------------------------------------------------------------------------


@cache
def _russian() -> SimpleNamespace:
    table = json.loads(files(__package__ or "").joinpath("russian.json").read_text("utf-8"))
    letters, half = table["letters"], table["conjunction"]
    numerals = {word: float(number) for number, words in table["numbers"].items() for word in words.split()}
    stems = "|".join(f"({stem})" for stem in table["ordinals"].values())
    one_numeral = "|".join(sorted((*numerals, *table["one"]), key=len, reverse=True))
    phrases = [*called_in_russian(), *table["phrases"]]
    runs = rf"(?:{one_numeral})(?: (?:{one_numeral}))*|\d+(?={half})"
    return SimpleNamespace(
        letter=re.compile(f"[{letters}]"),
        word=re.compile(rf"[{letters}][{letters}-]*"),
        # a number and a word, without a blank; then what is behind the hyphen of a number in digits
        joined=re.compile(rf"(?<=\d)(?=[{letters}])"),
        ending=re.compile(rf"(?<=\d)-(?=[{letters}])"),
        # what a cardinal may stand for as well: the stems, or an ending behind digits
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
    language = _russian()
    if not language.letter.search(text):
        return text
    text = language.ordinal.sub(lambda match: language.cardinals[match.lastindex - 1] if match.lastindex else "", text)
    text = language.joined.sub(" ", language.ending.sub(f" {UNKNOWN}-", " ".join(text.split())))
    text = _COMMA.sub(r"\1.\2", text)
    text = language.numeral.sub(lambda match: _digits(match.group(), language), text)
    text = language.phrase.sub(lambda match: language.english[(match.lastindex or 1) - 1], text)
    text = language.word.sub(UNKNOWN, text)
    return " ".join(_RANGE.sub(r"\1 to ", text).split())


def _digits(words: str, language: SimpleNamespace) -> str:
    """Write a run of numerals in digits; a numeral smaller than the one before it belongs to the same number."""
    if words in language.ones:
        return "one"
    numbers: list[float] = []
    half, least = 0.0, 0.0
    for word in words.split():
        value = float(word) if word[0].isdigit() else 1.0 if word in language.ones else language.numerals.get(word)
        if value is None:
            half = 0.5
            continue
        if numbers and value < least and value != 0:
            numbers[-1] += value
        else:
            numbers.append(value)
        least = 100 if value >= 100 else 10 if value >= 20 else 0
    return " ".join(f"{number + half * (place == len(numbers) - 1):g}" for place, number in enumerate(numbers))


def unsure(text: str, numeric: bool) -> bool:
    """Return whether a word that nobody knows may change what an answer says: any but one before a number."""
    return bool(_UNKNOWN_BEHIND.search(text)) if numeric else UNKNOWN in text.split()
