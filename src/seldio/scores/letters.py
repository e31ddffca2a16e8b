"""The letter of an option in a model's free answer, by a grammar that would rather find none than a wrong one.

A *letter* stands alone: no letter or digit touches it. It is *closed* where the line ends behind it, or a sign
that closes a label (``B)``, ``B:``, ``B.`` and a space). The first rule that applies decides:

1. *alone*: but for white space and punctuation, the answer is one letter: ``B``, ``(b)``, ``**B**``, `` «B». ``
2. *answer word*: behind the last ОТВЕТ or ANSWER stands a letter that is closed; words such as ``is``, ``это``,
   ``вариант`` or ``option`` may stand between. Capitals that are no English word (all but A and I) need not be closed.
3. *first*: the answer begins with a closed letter, and no other letter has the sign of a label behind it.
4. *named*: behind ``option``, ``вариант``, ``литера`` and the like stands one letter, everywhere the same.

Where two letters stand side by side (``B или C``) there is none. Cyrillic letters are found like Latin ones: А, В,
С and Е are then read by their look, which is counted apart, as is Б, which looks like no option.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

#: Cyrillic letters that look like those of options.
CYRILLIC = dict(zip("АВСЕавсе", "ABCEABCE", strict=True))
#: The Russian alphabet beside the Latin one, for those who count options by it.
RUSSIAN = dict(zip("АБВГДЕабвгде", "ABCDEFABCDEF", strict=True))

_ANY = "[A-Za-zАБВГДЕСабвгдес]"
_ALONE = rf"(?<![^\W_]){_ANY}(?![^\W_])"
_CLOSED = rf"{_ALONE}(?=[^\w\s]*[)\]}}:»—–]|(?:[^\w\s]|_)+(?:\s|\Z)|[ \t]+[-—–:=](?:\s|\Z)|[ \t]*(?:[\r\n]|\Z))"
_LETTER = rf"({_CLOSED}|(?<![^\W_])[B-HJ-Z](?=\s))"
_NOUN = r"(?:букв(?:а|ой)|литер(?:а|ой)|вариант(?:ом)?|option|letter|choice)"
_BETWEEN = rf"(?:[\W_]+(?i:{_NOUN}|is|это|ответа|верный|правильный|correct|the))*[\W_]+"

_WHOLE = re.compile(rf"[\W_]*({_ANY})[\W_]*")
_ANSWERED = re.compile(rf"(?<![^\W_])(?i:ответ|answer){_BETWEEN}{_LETTER}")
_FIRST = re.compile(rf"[\W_]*({_CLOSED})")
_LABEL = re.compile(rf"({_ALONE})(?=[).:\]])")
_NAMED = re.compile(rf"(?<![^\W_])(?i:{_NOUN})[\W_]+{_LETTER}")
_ANOTHER = re.compile(rf"[\W_]*(?:(?i:или|либо|or|и|and)[\W_]+)?({_CLOSED})")


@dataclasses.dataclass(frozen=True)
class Letter:
    """The letter of an answer.

    Args:
        written: as it stands in the answer.
        rule: which rule found it: ``alone``, ``answer word``, ``first`` or ``named``.
    """

    written: str
    rule: str

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
        """The number of the option, from 0; -1 where it looks like none."""
        return -1 if self.latin is None else ord(self.latin) - ord("A")


def letter_of(text: str) -> Letter | None:
    """The letter that an answer gives; None where it gives none, or more than one."""
    if alone := _WHOLE.fullmatch(text):
        return Letter(alone[1], "alone")
    answers = list(_ANSWERED.finditer(text))
    if answers:
        return _single(text, answers[-1], "answer word")
    if first := _FIRST.match(text):
        labels = {_folded(found) for found in _LABEL.findall(text)}
        return _single(text, first, "first") if labels <= {_folded(first[1])} else None
    named = list(_NAMED.finditer(text))
    if len({_folded(match[1]) for match in named}) == 1:
        return _single(text, named[0], "named")
    return None


def _single(text: str, match: re.Match[str], rule: str) -> Letter | None:
    """The letter of a match, unless another one stands right behind it."""
    behind = _ANOTHER.match(text, match.end(1))
    if behind is not None and _folded(behind[1]) != _folded(match[1]):
        return None
    return Letter(match[1], rule)


def _folded(letter: str) -> str:
    return CYRILLIC.get(letter, letter).upper()


def unlabelled(text: str) -> Iterator[str]:
    """The text, and the text without the label of an option that it begins with: ``B) pier`` gives ``pier``."""
    yield text
    if first := _FIRST.match(text):
        yield text[first.end(1) :].lstrip(" \t\r\n).:]—–-*_")
