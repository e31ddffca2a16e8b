r"""The letter of an option in a model's free answer, by a grammar that would rather find none than a wrong one.

Text between ``<think>`` marks is ignored, and only the last LaTeX ``\boxed{…}`` counts. A *letter* has no other letter
or digit next to it. It is *closed* if the line ends after it, or a sign that closes a label follows (``B)``, ``B:``,
``B.`` and a space). The first rule that applies decides:

1. *alone*: apart from whitespace and punctuation, the answer is one letter: ``B``, ``(b)``, ``**B**``, `` «B», B B ``
2. *corrected*: the answer takes a letter back and gives another one: ``D... нет, C``, ``not D but C``.
3. *answer word*: a closed letter follows the last ОТВЕТ or ANSWER; words such as ``is``, ``это``, ``вариант`` or
   ``option`` may come between. Capitals that are not English words (all but A and I) need not be closed, nor any
   letter after ``option`` and similar words, or before a bracket.
4. *first*: the answer begins with a closed letter, and no other letter is followed by the sign of a label.
5. *named*: one letter follows ``option``, ``вариант``, ``I choose`` and similar words, or precedes ``is correct``, and
   it is the same everywhere.
6. *only*: of the letters in a short answer all but one are denied (``A is wrong, so B``), and that one ends a sentence,
   or its reason or praise follows: ``So B.``, ``I'd say B, as nothing barks``, ``B fits best``, ``Думаю, B``.

If two letters are next to each other (``B или C``), or a letter is denied (``B is wrong``), there is none.
Cyrillic letters are found like Latin ones: А, В, С and Е are then read by their look, which is counted apart; Б, Г and
Д, which look like no option, by their place in the alphabet.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from seldio.answers.languages import Patterns
from seldio.answers.spelling import stripped
from seldio.formats.mera import CYRILLIC

_RE = Patterns("letters")

#: The Russian alphabet beside the Latin one, for those who count options by it.
RUSSIAN = dict(zip("АБВГДЕабвгде", "ABCDEFABCDEF", strict=True))


#: Words; of longer answers only the last sentence is searched for its only letter.
_SHORT = 40


@dataclasses.dataclass(frozen=True)
class Letter:
    """The letter of an answer."""

    written: str  # as it stands in the answer
    rule: str  # which rule found it: ``alone``, ``corrected``, ``answer word``, ``first``, ``named`` or ``only``

    @property
    def cyrillic(self) -> bool:
        """Whether it is a Cyrillic letter, whatever it looks like."""
        return not self.written.isascii()

    @property
    def latin(self) -> str | None:
        """The Latin capital that it is or looks like; None for a Cyrillic one that looks like no option."""
        return CYRILLIC.get(self.written) if self.cyrillic else self.written.upper()

    @property
    def by_alphabet(self) -> str | None:
        """The Latin letter of its place in the alphabet: В, third in the Russian one, gives C; None beyond Е."""
        return RUSSIAN.get(self.written) if self.cyrillic else self.written.upper()

    @property
    def index(self) -> int:
        """The number of the option, from 0, by look or else by the alphabet; -1 where it is none."""
        return ord(self.latin or self.by_alphabet or "@") - ord("A")


def letter_of(text: str) -> Letter | None:
    """Return the letter that an answer gives; None where it gives none, or more than one."""
    text = stripped(text)
    if alone := _RE.whole.fullmatch(text):
        return Letter(alone[1], "alone")
    if corrected := list(_RE.corrected.finditer(text)):
        return _single(text, corrected[-1], "corrected")
    if answers := list(_RE.answered.finditer(text)):
        return _single(text, answers[-1], "answer word")
    if first := _RE.first.match(text):
        labels = {_folded(label) for label in _RE.label.findall(text)}
        letter = _single(text, first, "first") if labels <= {_folded(first[1])} else None
        return letter or _only(text)
    named = [*_RE.named.finditer(text), *_RE.stated.finditer(text)]
    if len({_folded(_letter(match)) for match in named}) == 1:
        return _single(text, named[0], "named")
    return None if named else _only(text)


def _only(text: str) -> Letter | None:
    """Return the letter of a short text, or of the last sentence, if all others are denied."""
    if len(text.split()) > _SHORT:
        text = _RE.sentence_end.split(text.strip())[-1]
    if _RE.open.search(text):
        return None
    meant: dict[str, re.Match[str]] = {}
    lists = [match.span() for match in _RE.denied_list.finditer(text)]
    for match in _RE.mention.finditer(text):
        start = match.start()
        denied = _RE.denied_clause.search(text, max(0, start - 60), start) or _RE.denied_behind.match(text, match.end())
        if not denied and not any(first <= start < last for first, last in lists):
            meant.setdefault(_folded(_letter(match)), match)
    if len(meant) != 1:
        return None
    (match,) = meant.values()
    if not lists and _RE.beside.search(text, max(0, match.start() - 20), match.start()):
        return None
    if _RE.no_option.search(text, max(0, match.start() - 30), match.start()) or not _RE.ends.match(text, match.end()):
        return None
    return Letter(_letter(match), "only")


def _letter(match: re.Match[str]) -> str:
    return str(next(group for group in match.groups() if group))


def _single(text: str, match: re.Match[str], rule: str) -> Letter | None:
    """Return the letter of a match, unless it is denied or another letter follows it."""
    letter = _letter(match)
    start, end = match.span(match.groups().index(letter) + 1)
    behind = _RE.another.match(text, end)
    if behind is not None and _folded(behind[1]) != _folded(letter):
        return None
    denied = _RE.denied_before.search(text, max(0, start - 40), start) or _RE.denied_behind.match(text, end)
    if rule == "named":
        denied = denied or _RE.denied_clause.search(text, max(0, start - 60), start)
    return None if denied and rule != "corrected" else Letter(letter, rule)


def _folded(letter: str) -> str:
    return CYRILLIC.get(letter, letter).upper()


def unlabelled(text: str) -> Iterator[str]:
    """Yield the text, and the text without the label of an option that it begins with: ``B) pier`` gives ``pier``."""
    yield text
    if first := _RE.first.match(text):
        yield text[first.end(1) :].lstrip(" \t\r\n).:]—–-*_")
