"""The record of a task, wordings chosen by a seed, drafts of questions, and reasons to skip.

Questions and answers call classes as people do (:mod:`seldio.tasks.names`); canonical answers have the names of
the vocabulary, in lower case. There a name with a comma stands in double quotes wherever it is part of a list
(``"water tap, faucet" from 1.0s to 2.5s, bell from …``), so that a comma outside of quotes always separates;
a canonical answer that is one name has it bare.
Times are seconds from the start of the clip to 0.1 s; azimuths are positive to the left.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from seldio.schema.qa import AnswerMeta, Item, trusted
from seldio.tasks.margins import Margins
from seldio.tasks.names import Name as Name
from seldio.tasks.names import capitalized
from seldio.tasks.names import name_of as name_of
from seldio.tasks.specs import PUBLISHED, TaskSpec
from seldio.tasks.specs import READ_SOURCE as READ_SOURCE
from seldio.tasks.wordings import ENGLISH, Wordings
from seldio.tasks.wordings import Wording as Wording

if TYPE_CHECKING:
    from seldio.tasks.scene import SceneEvent

T = TypeVar("T")
View = TypeVar("View")
Made = TypeVar("Made")

# --- why a candidate is skipped: words that reports show ------------------------------------------------
REPEATED = "the class sounds more than once in the clip"
DOUBLED = "one of its rows may be written twice"
SHORT = "the event is too short"
UNKNOWN = "its direction is not known"
MOVES = "the source moves"
NO_DISTANCE = "its distance is not known"
EDGE = "its direction is near the edge of a direction word"
SHARED = "another event shares the direction"
UNSTEADY = "no moment has one right answer"
CLOSE = "the difference is within the margin"
NO_NAME = "a class has no Russian name"


# --- words ------------------------------------------------------------------------------------------------


@cache
def second(frame: int) -> str:
    """The time at which a label frame begins: ``18.5s``."""
    return f"{frame / 10:.1f}s"


def number(value: float) -> str:
    """A number without needless zeros: ``67``, ``-36.6``."""
    return f"{value:g}"


def digest(*parts: object) -> str:
    """20 hexadecimal digits of the sha256 of *parts*."""
    text = "\x1f".join(map(str, parts))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:20]


def hashed(*parts: object) -> int:
    """The first 64 bits of the sha256 of *parts*: the seed of a clip, or the place of an item in a drawing of lots."""
    return int(digest(*parts)[:16], 16)


_of_task = cache(hashed)


class Say:
    """Chooses among wordings, by a seed of its own for each clip and task: the same on every machine."""

    __slots__ = ("_state", "_wordings", "language")

    def __init__(self, chance: int, task: str, wordings: Sequence[Wording] = (), language: Wordings = ENGLISH) -> None:
        self._state = chance + _of_task(task)
        self._wordings = wordings
        self.language = language

    def below(self, limit: int) -> int:
        """A number from 0 to *limit* - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (self._state >> 33) % limit

    def pick(self, options: Sequence[T]) -> T:
        """One of *options*."""
        return options[self.below(len(options))]

    def ask(self, name: Name | None = None, other: Name | None = None, *, way: int = 0, **words: str) -> str:
        """A question of the task, asked in one *way* of it, about *name* and *other*, with *words* in their places."""
        questions, suffixes, _ = self._wordings[way]
        question = self.pick(questions).format_map(_given(name, other, words))
        return f"{self.pick(self.language.preambles)}{question} {self.pick(suffixes)}".rstrip()

    def tell(
        self, name: Name | None = None, other: Name | None = None, *, way: int = 0, of: int = 0, **words: str
    ) -> str:
        """The answer to a question that is asked in this *way*: the one at the place *of* those there are."""
        return capitalized(self._wordings[way].answers[of].format_map(_given(name, other, words)))

    def times(self, event: SceneEvent) -> dict[str, Any]:
        """When an event begins and ends, as words of an answer."""
        return {"since": self.language.time(event.first), "until": self.language.time(event.end)}

    def direction(self, event: SceneEvent) -> dict[str, Any]:
        """Return the words for the direction of an event in a question or answer."""
        direction = self.language.directions[event.cell]
        return {"place": direction.place, "side": direction.name}


def _given(name: Name | None, other: Name | None, words: dict[str, str]) -> dict[str, str]:
    named = name.words if name else {}
    return named | other.others | words if other else named | words if words else named


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task(TaskSpec, Generic[View, Made]):
    """A task with what makes its questions.

    Args:
        candidates: looks at a clip and yields drafts and, for each candidate that is skipped, the reason.
        wordings: how it is asked, the usual way first.
        alike: what of an item counts as the same answer, where answers are to be even; None for the usual, see
            :func:`seldio.tasks.mix.lot_of`.
        claims: of each option of an item, the right one first, what it says of a class or a number, None where that is
            not known; where items are balanced, each claim is right as often as guessing has it, see
            :mod:`seldio.tasks.mix`.
        contexts: of an item with an open answer, what the question tells that may go with its answer, two things at
            most; where items are balanced, answers are even for each.
    """

    candidates: Callable[[View, Margins, Say], Iterator[Made | str]] | None = None
    wordings: tuple[Wording, ...] = ()
    alike: Callable[[Item], Hashable] | None = None
    claims: Callable[[Item], list[list[Hashable]] | None] | None = None
    contexts: Callable[[Item], tuple[Hashable, ...]] | None = None


def published(name: str, **makers: Any) -> Task[Any, Any]:
    """The task of SO-Bench called *name*, with what makes its questions."""
    return Task(**vars(PUBLISHED[name]), wordings=ENGLISH.ways[name], **makers)


# --- questions before they get their ids ------------------------------------------------------------------
_UNKNOWN = dict.fromkeys(AnswerMeta.model_fields)


def meta(**values: float | list[float]) -> AnswerMeta:
    """The truth as numbers, with these keys."""
    return trusted(AnswerMeta, {**_UNKNOWN, **values})


#: The meta of tasks that have none.
NO_META = meta()
#: How many moments of an event or clip are tried.
TRIES = 4


def first_class(item: Item) -> str | None:
    """The class of the first event that *item* is about: answers with times are alike where it is the same."""
    return item.events[0].class_name if item.events else None


class Draft(NamedTuple):
    """A question with its answer, before it gets its ids."""

    question: str
    answer: str
    canonical: str
    meta: AnswerMeta
    events: tuple[SceneEvent, ...]


def moments(low: int, high: int, say: Say) -> Iterator[int]:
    """Some label frames from *low* to *high* - 1, each once, in a random order."""
    if high > low:
        start, step = say.below(high - low), max(1, (high - low) // TRIES)
        for turn in range(min(TRIES, high - low)):
            yield low + (start + turn * step) % (high - low)
