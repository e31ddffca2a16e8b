"""Drafts of Russian items: a question, its options in a random order, and which of them is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from seldio.tasks.russian.nouns import Noun
from seldio.tasks.russian.wording import INSTRUCTIONS, NO, YES
from seldio.tasks.scene import Event
from seldio.tasks.wording import Say

T = TypeVar("T")

#: Why a candidate is skipped; words that reports show, beside those of :mod:`seldio.tasks.base`.
NO_NAME = "a class has no Russian name"
NO_ABSENT = "too few classes are surely absent"
NESTED = "one class is a kind of the other"


class Draft(NamedTuple):
    """A question before it gets its ids; ``right`` counts from 0."""

    question: str
    options: list[str]
    right: int
    instruction: str
    events: Sequence[Event]


def draw(say: Say, some: Sequence[T], count: int) -> list[T]:
    """*count* of *some* without repetition, in a random order; all where there are fewer."""
    rest = list(some)
    for place in range(min(count, len(rest))):
        other = place + say.below(len(rest) - place)
        rest[place], rest[other] = rest[other], rest[place]
    return rest[:count]


def draft(
    say: Say, wordings: Sequence[str], words: Mapping[str, str], right: str, wrong: Iterable[str],
    events: Sequence[Event],
) -> Draft:  # fmt: skip
    """A question in one of its wordings, with the options *right* and *wrong* in a random order."""
    question = say.pick(wordings).format_map(words)
    options = [right, *wrong]
    options = draw(say, options, len(options))
    return Draft(question, options, options.index(right), say.pick(INSTRUCTIONS[len(options)]), events)


def yes_or_no(
    say: Say, wordings: Sequence[str], words: Mapping[str, str], truth: bool, events: Sequence[Event]
) -> Draft:
    """A question that is answered with yes or no."""
    return draft(say, wordings, words, YES if truth else NO, (NO if truth else YES,), events)


def which(say: Say, wordings: Sequence[str], right: Noun, wrong: Iterable[Noun], events: Sequence[Event]) -> Draft:
    """A question for one of four sounds."""
    return draft(say, wordings, {}, right.name, [noun.name for noun in wrong], events)
