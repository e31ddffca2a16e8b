"""What tasks are made of: drafts of items, the truth as numbers, and the moments that are tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seldio.schema.qa import AnswerMeta, trusted
from seldio.tasks.scene import Event
from seldio.tasks.wording import Say

_UNKNOWN = dict.fromkeys(AnswerMeta.model_fields)


def meta(**values: float | list[float]) -> AnswerMeta:
    """The truth as numbers, with these keys."""
    return trusted(AnswerMeta, {**_UNKNOWN, **values})


#: The meta of tasks that have none.
NO_META = meta()
#: How many moments of an event or clip are tried.
TRIES = 4


class Draft(NamedTuple):
    """A question with its answer, before it gets its ids."""

    question: str
    answer: str
    canonical: str
    meta: AnswerMeta
    events: tuple[Event, ...]


def moments(low: int, high: int, say: Say) -> Iterator[int]:
    """Some label frames from *low* to *high* - 1, each once, in a random order."""
    if high > low:
        start, step = say.below(high - low), max(1, (high - low) // TRIES)
        for turn in range(min(TRIES, high - low)):
            yield low + (start + turn * step) % (high - low)
