"""Ways of comparing a free answer with the right text: exact match, string match, word error rate."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from seldio.answers.reading import LOOKS
from seldio.answers.words import REPLIES
from seldio.errors import needing

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


def by_look(text: str) -> str:
    """Return a text with the Cyrillic letters А, В, С and Е as the Latin ones that look like them, in any case."""
    return text.upper().translate(LOOKS)


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
    right, label = folded(answer), REPLIES.labelled.match(prediction)
    return right in (folded(prediction), folded(prediction[label.end() :]) if label else None)


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
