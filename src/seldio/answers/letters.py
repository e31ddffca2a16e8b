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

from seldio.answers.languages import regex, words
from seldio.answers.plain_text import final_words
from seldio.formats.mera import CYRILLIC

#: The Russian alphabet beside the Latin one, for those who count options by it.
RUSSIAN = dict(zip("АБВГДЕабвгде", "ABCDEFABCDEF", strict=True))

_ANY = "[A-Za-zАБВГДЕСабвгдес]"
_ALONE = rf"(?<![^\W_]){_ANY}(?![^\W_])"
_CLOSED = (
    rf"{_ALONE}(?=[^\w\s]*[)\]}}:»—–]|(?:[^\w\s]|_)+(?:\s|\Z)|[ \t]+[-—–:=](?:\s|\Z)|[ \t]+\((?!\w\))"
    r"|[ \t]*(?:[\r\n]|\Z))"
)
_LETTER = rf"({_CLOSED}|(?<![^\W_])[B-HJ-Z](?=\s))"
_NOUN = r"(?:букв(?:а|ой|у)|литер(?:а|ой|у)|вариант(?:ом)?(?:\s+ответа)?|option|letter|choice)"
_LINK = (
    r"(?:is|would|should|must|be|most|likely|probably|это|ответа|верный|правильный|correct|the|option|answer|\\boxed)"
)
_BETWEEN = rf"(?:[\W_]{{1,20}}(?i:{_LINK})){{0,6}}[\W_]{{1,20}}"
_CHOOSE = r"(?:i\s+(?:would\s+)?(?:choose|pick|select|say|go\s+with)|выб(?:ираю|рал|рала|ор)|it(?:'s|’s|\s+is)|это)"
#: Right behind a noun a capital is the letter of an option, whatever follows.
_AFTER_NOUN = rf"(?i:{_NOUN})(?:{_BETWEEN}{_LETTER}|\s+[(\[«\"*]*({_ALONE.replace(_ANY, '[A-ZАБВГДЕС]')}))"

_WHOLE = regex(rf"[\W_]*(?:1\. )?({_ANY})(?:[\W_]+\1)*[\W_]*")
_ANSWERED = regex(rf"(?<![^\W_])(?i:ответ|answer){_BETWEEN}(?:{_AFTER_NOUN}|{_LETTER})")
_FIRST = regex(rf"[\W_]*({_CLOSED})")
_LABEL = regex(rf"({_ALONE})(?=[).:\]])")
_NAMED = regex(rf"(?<![^\W_])(?:{_AFTER_NOUN}|(?i:{_CHOOSE})[\W_]+{_LETTER})")
_STATED = regex(rf"({_ALONE})\s+(?i:is\s+(?:the\s+)?(?:correct|right|best)|верн|правильн)")
_ANOTHER = regex(rf"[\W_]*(?:(?i:или|либо|or|и|and)[\W_]+(?:(?i:{_NOUN})[\W_]+)?)?({_CLOSED})")
_NOT = r"(?i:не|not|isn't|isn’t|neither|nor|nicht|pas|no)"
#: A letter that is taken back for another one, which ends the answer or its sentence.
_BACK = r"(?i:нет|no|wait|точнее|вернее|actually|rather|скорее)"
_CORRECTED = regex(
    rf"{_ALONE}[\W_]{{1,20}}(?:{_BACK}[\W_]{{1,20}}){{1,4}}({_CLOSED})|(?<![^\W_])(?:{_NOT}[\W_]{{1,20}}{_ALONE}[\W_]{{1,20}}(?:(?i:и|and)[\W_]{{1,20}})?){{1,4}}"
    rf"(?i:а|но|but|sondern|mais|sino)[\W_]{{1,20}}({_CLOSED})"
)
_DENIED_BEFORE = regex(rf"(?<![^\W_]){_NOT}[\W_]+(?:(?i:{_NOUN}|the)[\W_]+)*\Z")
_WRONG = rf"(?i:{words('wrong')})"
_DENIED_BEHIND = regex(
    rf"[\W_]*(?:(?i:is|it's|это)[\W_]+)?(?:{_WRONG}|(?i:not|не)(?!\W+[A-ZА-Е]\b)|(?i:no|нет)(?!\s+[^\W_]))(?![^\W_])"
)
#: Several letters that are denied at once, and a letter in the same clause as a word that denies it.
_DENIED_LIST = regex(
    rf"{_ALONE}(?:[\W_]{{1,3}}(?:(?i:and|or|и)[\W_]{{1,3}})?{_ALONE}){{0,8}}"
    r"\s{1,4}(?:(?i:is|are|can be|seems?|look)\s{1,4}){0,4}"
    rf"(?:{_WRONG}|(?i:{words('excluded')}))"
)
_DENIED_CLAUSE = regex(rf"(?:n['’]t|(?<![^\W_])(?i:{words('denying')}))\s[^.,;:!?\n]{{0,40}}\Z")
#: Before a letter: another one, of the same rank.
_BESIDE = regex(rf"{_ALONE}[\W_]{{0,3}}(?:(?i:and|or|и|vs|versus)|[/&+,])[\W_]*\Z")
#: Capitals that may be letters of options, or a word or the name of something else.
_MENTION = regex(
    rf"(?<![^\W_]['’.-])(?={_ALONE}){_LETTER.replace('[A-Za-zАБВГДЕСабвгдес]', '[A-ZАБВГДЕС]')}(?![#♯♭'’])"
)
_NO_OPTION = regex(rf"(?i:(?<![^\W_])(?:{words('named')}))\s+[\W_]*\Z")
_ENDS = regex(rf"[\W_]*\Z|[\"'*_`)\]}}]*[.!;:,—–(]|\s+[-—–(]|[\"'*_`)\]}}]*\s+(?i:{words('praise')})(?![^\W_])")
_OPEN = regex(rf"(?<![^\W_])(?i:{words('choice')})(?![^\W_])|\?\s*\Z")
#: Words; of longer answers only the last sentence is searched for its only letter.
_SHORT = 40
_SENTENCE_END = regex(r"(?<=[.!?])\s+|\n+")


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
    """The letter that an answer gives; None where it gives none, or more than one."""
    text = final_words(text)
    if alone := _WHOLE.fullmatch(text):
        return Letter(alone[1], "alone")
    if corrected := list(_CORRECTED.finditer(text)):
        return _single(text, corrected[-1], "corrected")
    if answers := list(_ANSWERED.finditer(text)):
        return _single(text, answers[-1], "answer word")
    if first := _FIRST.match(text):
        labels = {_folded(found) for found in _LABEL.findall(text)}
        return (_single(text, first, "first") if labels <= {_folded(first[1])} else None) or _only_in(text)
    named = [*_NAMED.finditer(text), *_STATED.finditer(text)]
    if len({_folded(_letter(match)) for match in named}) == 1:
        return _single(text, named[0], "named")
    return None if named else _only_in(text)


def _only_in(text: str) -> Letter | None:
    """The only letter of a short text, or of the last sentence of a long one."""
    return _only(text if len(text.split()) <= _SHORT else _SENTENCE_END.split(text.strip())[-1])


def _only(text: str) -> Letter | None:
    """The letter that is left where the others are denied: it must end its sentence, or its reason follows."""
    if _OPEN.search(text):
        return None
    meant: dict[str, re.Match[str]] = {}
    lists = [match.span() for match in _DENIED_LIST.finditer(text)]
    for match in _MENTION.finditer(text):
        start = match.start()
        denied = _DENIED_CLAUSE.search(text, max(0, start - 60), start) or _DENIED_BEHIND.match(text, match.end())
        if not denied and not any(first <= start < last for first, last in lists):
            meant.setdefault(_folded(_letter(match)), match)
    if len(meant) != 1:
        return None
    (match,) = meant.values()
    if not lists and _BESIDE.search(text, max(0, match.start() - 20), match.start()):
        return None
    if _NO_OPTION.search(text, max(0, match.start() - 30), match.start()) or not _ENDS.match(text, match.end()):
        return None
    return Letter(_letter(match), "only")


def _letter(match: re.Match[str]) -> str:
    return str(next(group for group in match.groups() if group))


def _single(text: str, match: re.Match[str], rule: str) -> Letter | None:
    """The letter of a match, unless it is denied, or another one follows it directly."""
    letter = _letter(match)
    start, end = match.span(match.groups().index(letter) + 1)
    behind = _ANOTHER.match(text, end)
    if behind is not None and _folded(behind[1]) != _folded(letter):
        return None
    denied = _DENIED_BEFORE.search(text, max(0, start - 40), start) or _DENIED_BEHIND.match(text, end)
    if rule == "named":
        denied = denied or _DENIED_CLAUSE.search(text, max(0, start - 60), start)
    return None if denied and rule != "corrected" else Letter(letter, rule)


def _folded(letter: str) -> str:
    return CYRILLIC.get(letter, letter).upper()


def unlabelled(text: str) -> Iterator[str]:
    """The text, and the text without the label of an option that it begins with: ``B) pier`` gives ``pier``."""
    yield text
    if first := _FIRST.match(text):
        yield text[first.end(1) :].lstrip(" \t\r\n).:]—–-*_")
