"""Ways of holding a free answer against the texts of the options."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seldio.scores.letters import Letter, letter_of, unlabelled

_WORD = re.compile(r"\b\w+\b")


def words(text: str) -> frozenset[str]:
    """The set of words of a text, in small letters, as MMAU's script takes them; their order and number are lost."""
    return frozenset(_WORD.findall(text.lower()))


def string_match(prediction: str, answer: str, options: Sequence[str]) -> bool:
    """Whether all words of the answer are in the prediction, and no word that only wrong options have.

    Source: ``string_match`` of MMAU's ``evaluation.py`` at 110127f; MMAR's at 3bce090 is the same.
    """
    said, right = words(prediction), words(answer)
    wrong = frozenset().union(*(words(option) for option in options if words(option) != right)) - right
    return bool(said) and right <= said and not said & wrong


def folded(text: str) -> str:
    """A text without what does not matter: case, punctuation (Unicode's too) and the width of white space.

    Where nothing is left of it (``+``), the text itself, stripped.
    """
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def same_text(prediction: str, answer: str) -> bool:
    """Whether the prediction is the text of the answer, the label of its option aside (``B) pier``)."""
    right = folded(answer)
    return any(folded(part) == right for part in unlabelled(prediction))


def chosen(prediction: str, options: Sequence[str]) -> tuple[Letter | None, str | None]:
    """The letter of a prediction, and the option that it stands for; None where it stands for none."""
    letter = letter_of(prediction)
    if letter is None or not 0 <= letter.index < len(options):
        return letter, None
    return letter, options[letter.index]


def passing(answer: str, options: Sequence[str]) -> list[str]:
    """The wrong options that :func:`string_match` takes for the answer: those with the same words in another order."""
    return [option for option in options if option != answer and string_match(option, answer, options)]
