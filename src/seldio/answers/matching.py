r"""Ways of comparing a free answer with the right text: exact match, string match, its letter, word error rate.

The letter of an option in a model's free answer, by a grammar that would rather find none than a wrong one.

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
import string
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from seldio.answers.words import Patterns, stripped
from seldio.errors import needing
from seldio.formats.mera import CYRILLIC

_RE = Patterns("letters")

# --- the letter of an answer -----------------------------------------------------------------------

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
        """Return whether it is a Cyrillic letter, whatever it looks like."""
        return not self.written.isascii()

    @property
    def latin(self) -> str | None:
        """Return the Latin capital that it is or looks like; None for a Cyrillic one that looks like no option."""
        return CYRILLIC.get(self.written) if self.cyrillic else self.written.upper()

    @property
    def index(self) -> int:
        """Return the number of the option, from 0, by look or else by the alphabet; -1 where it is none."""
        return ord(self.latin or RUSSIAN.get(self.written, "@")) - ord("A")


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


# --- exact match, as MERA asks for it of lm-eval, and what it misses -------------------------------

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ANSWER_WORD = re.compile(r"(?<![^\W_])ответ(?![^\W_])[\s:]*", re.IGNORECASE)


def normalised(text: str) -> str:
    """Return what exact match compares: lower case, no ASCII punctuation (« » and — stay), no NUL at the end."""
    return text.lower().translate(_NO_PUNCTUATION).rstrip("\0")


def exact_match(prediction: str, reference: str) -> bool:
    """Return whether lm-eval's ``exact_match`` gives 1 with MERA's options for ruEnvAQA.

    Source: lm-evaluation-harness, ``api/metrics.py``, ``exact_match_hf_evaluate``; MERA_MULTIMODAL, ``ruenvaqa.yaml``.
    """
    return normalised(prediction) == normalised(reference)


def after_answer_word(text: str) -> str | None:
    """Return the text behind the last ОТВЕТ (in any case), stripped; None without that word."""
    matches = list(_ANSWER_WORD.finditer(text))
    return text[matches[-1].end() :].strip() if matches else None


# --- the texts of options --------------------------------------------------------------------------

_WORD = re.compile(r"\b\w+\b")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, as MMAU's script takes them; their order and number are lost."""
    return frozenset(_WORD.findall(text.lower()))


def string_match(prediction: str, answer: str, options: Sequence[str]) -> bool:
    """Return whether all words of the answer are in the prediction, and no word that only wrong options have.

    Source: ``string_match`` of MMAU's ``evaluation.py`` at 110127f; MMAR's at 3bce090 is the same.
    """
    said, right = word_set(prediction), word_set(answer)
    wrong = frozenset().union(*(word_set(option) for option in options if word_set(option) != right)) - right
    return bool(said) and right <= said and not said & wrong


#: Signs that are written in several ways.
_SIGNS = str.maketrans({"−": "-", "–": "-", "♯": "#", "♭": "b", "ё": "е", "Ё": "Е"})
#: Words and numbers, with the signs that make them others: C#, C++, B-, -2, 2.5, 3/4, 5%, 30°.
_TOKEN = re.compile(
    r"(?:(?<![^\s(\[\"'«=:*`])[-+](?=\d))?(?:\d+(?:[.,:/]\d+)+|[^\W_]+)[#+]*|[%°]|(?<=\b[^\W\d_])-(?![\w-])"
)


def folded(text: str) -> str:
    """Return a text without what does not matter: case, punctuation (Unicode's too) and the width of whitespace.

    Signs that make another word or number (``C#``, ``-2``, ``2.5``) matter. Where nothing is left of it (``+``), the
    text itself, stripped.
    """
    tokens = _TOKEN.findall(unicodedata.normalize("NFC", text).translate(_SIGNS))
    return " ".join(tokens).casefold() or text.strip()


def same_text(prediction: str, answer: str) -> bool:
    """Return whether the prediction is the text of the answer, the label of its option aside (``B) pier``)."""
    right, first = folded(answer), _RE.first.match(prediction)
    parts = [prediction, *([prediction[first.end(1) :].lstrip(" \t\r\n).:]—–-*_")] if first else [])]
    return any(folded(part) == right for part in parts)


# --- word error rates of transcripts, as SO-Bench's program has them -------------------------------

_OTHER = re.compile(r"[^\w\s']")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|'([^']+)'")
#: A transcript behind a colon, and one behind "says".
_BEHIND = (
    re.compile(
        r"(?:transcript|spoken words|speech content|the speaker says|speaker says|says|said|answer)\s*[:：]\s*(.+)$",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"(?:says|said)\s*,?\s*[\"“']?(.+?)[\"”']?$", re.IGNORECASE | re.DOTALL),
)
_EDGES = " \t\r\n\"'“”"


class Wer(NamedTuple):
    """The word error rate of one reading."""

    rate: float  # errors over words of the reference; 0 or 1 where that has none
    errors: int  # words put in, left out and exchanged
    words: int  # of the reference


class Transcript(NamedTuple):
    """The reading that comes nearest to the reference."""

    best: Wer  # its word error rate
    raw: Wer  # that of the whole text
    text: str  # the reading
    number: int  # its place among :func:`candidates`; -1 where none is better than the whole text


def words(text: str) -> list[str]:
    """Return the words that are compared: lower case, without punctuation but for the straight apostrophe."""
    return _OTHER.sub(" ", text.lower().replace("_", " ")).split()


def word_error_rate(reference: str, hypothesis: str) -> Wer:
    """Return the least number of words to put in, leave out and exchange, over the words of *reference*."""
    with needing("rapidfuzz"):
        from rapidfuzz.distance import Levenshtein

    wanted, said = words(reference), words(hypothesis)
    if not wanted:
        return Wer(1.0 if said else 0.0, len(said), 0)
    errors = Levenshtein.distance(wanted, said)
    return Wer(errors / len(wanted), errors, len(wanted))


def candidates(text: str) -> list[str]:
    """Return the whole text, what of it stands in quotes, and what follows words like *says*; each reading once."""
    text = text.strip()
    readings = [text, *(next(filter(None, groups)).strip() for groups in _QUOTED.findall(text))]
    readings += [match.group(1).strip() for pattern in _BEHIND if (match := pattern.search(text))]
    different: dict[str, str] = {}
    for reading in readings:
        different.setdefault(" ".join(words(reading.strip(_EDGES))), reading.strip(_EDGES))
    different.pop("", None)
    return list(different.values()) or [text]


def reference_of(canonical: str | None, answer: str | None) -> str:
    """Return the right transcript: the canonical answer, else the first quotation of the answer, else all of it."""
    if canonical and canonical.strip():
        return canonical.strip()
    text = (answer or "").strip()
    readings = candidates(text)
    return readings[1] if len(readings) > 1 else text


def transcribed(reference: str, text: str) -> Transcript:
    """Return the reading of *text* with the least word error rate; of equals the first, the whole text before all."""
    raw = word_error_rate(reference, text)
    best = Transcript(raw, raw, text, -1)
    for number, reading in enumerate(candidates(text)):
        if (rate := word_error_rate(reference, reading)).rate < best.best.rate:
            best = Transcript(rate, raw, reading, number)
    return best
