"""Word error rates of transcripts, as the official program has them: the best of several readings of a text."""

from __future__ import annotations

import re
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

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
    """The word error rate of one reading.

    Args:
        rate: errors over words of the reference; 0 or 1 where that has none.
        errors: words put in, left out and exchanged.
        words: of the reference.
    """

    rate: float
    errors: int
    words: int


class Transcript(NamedTuple):
    """The reading that comes nearest to the reference.

    Args:
        best: its word error rate.
        raw: that of the whole text.
        text: the reading.
        number: its place among :func:`candidates`; -1 where none is better than the whole text.
    """

    best: Wer
    raw: Wer
    text: str
    number: int


def words(text: str) -> list[str]:
    """The words that are compared: lower case, without punctuation but for the straight apostrophe."""
    return _OTHER.sub(" ", text.lower().replace("_", " ")).split()


def word_error_rate(reference: str, hypothesis: str) -> Wer:
    """The least number of words to put in, leave out and exchange, over the words of *reference*."""
    wanted, said = words(reference), words(hypothesis)
    if not wanted:
        return Wer(1.0 if said else 0.0, len(said), 0)
    errors = Levenshtein.distance(wanted, said)
    return Wer(errors / len(wanted), errors, len(wanted))


def candidates(text: str) -> list[str]:
    """The whole text, what of it stands in quotes, and what follows words like *says*; each reading once."""
    text = text.strip()
    found = [text, *(next(filter(None, groups)).strip() for groups in _QUOTED.findall(text))]
    found += [match.group(1).strip() for pattern in _BEHIND if (match := pattern.search(text))]
    kept: dict[str, str] = {}
    for each in found:
        kept.setdefault(" ".join(words(each.strip(_EDGES))), each.strip(_EDGES))
    kept.pop("", None)
    return list(kept.values()) or [text]


def reference_of(canonical: str | None, answer: str | None) -> str:
    """The transcript that is right: the canonical answer, else the first quotation of the answer, else all of it."""
    if canonical and canonical.strip():
        return canonical.strip()
    text = (answer or "").strip()
    found = candidates(text)
    return found[1] if len(found) > 1 else text


def transcribed(reference: str, text: str) -> Transcript:
    """The reading of *text* with the least word error rate; among equals the first, the whole text before all."""
    raw = word_error_rate(reference, text)
    best = Transcript(raw, raw, text, -1)
    for number, each in enumerate(candidates(text)):
        if (found := word_error_rate(reference, each)).rate < best.best.rate:
            best = Transcript(found, raw, each, number)
    return best
