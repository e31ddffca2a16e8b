"""What tasks are made of: the record of one, wordings chosen by a seed, drafts of questions, and reasons to skip.

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
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from seldio.schema.qa import AnswerMeta, Item, trusted
from seldio.tasks.margins import Margins
from seldio.tasks.names import Name as Name
from seldio.tasks.names import name_of as name_of

if TYPE_CHECKING:
    from seldio.tasks.scene import SceneEvent

T = TypeVar("T")
View = TypeVar("View")
Made = TypeVar("Made")
#: What the answer of a task is.
Answer = Literal[
    "number", "interval", "source", "relation", "motion", "source and direction", "speech", "choice"
]  # fmt: skip

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

# --- words ------------------------------------------------------------------------------------------------
#: What may stand before a question; half of them have nothing.
PREAMBLES = (
    "Listen to the audio clip and answer based only on what you hear. ",
    "Answer using only the spatial audio. ",
    "",
    "",
)
#: What may follow a question for one source.
SOURCE_SUFFIXES = ("Name the sound source.", "Answer with the name of one sound source.", "")
#: What a judge is to do with an answer that is one source.
READ_SOURCE = "Read the sound that is given as the answer into primary_source; decide the source fields."


@cache
def second(frame: int) -> str:
    """The time at which a label frame begins: ``18.5s``."""
    return f"{frame / 10:.1f}s"


def number(value: float) -> str:
    """A number without needless zeros: ``67``, ``-36.6``."""
    return f"{value:g}"


def degrees(value: float) -> str:
    """An angle as a sentence has it: ``1 degree``, ``-36.6 degrees``."""
    return f"{number(value)} degree{'' if abs(value) == 1 else 's'}"


def digest(*parts: object) -> str:
    """20 hexadecimal digits of the sha256 of *parts*."""
    text = "\x1f".join(map(str, parts))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:20]


def hashed(*parts: object) -> int:
    """The first 64 bits of the sha256 of *parts*: the seed of a clip, or the place of an item in a drawing of lots."""
    return int(digest(*parts)[:16], 16)


_of_task = cache(hashed)


class Wording(NamedTuple):
    """One way to ask, in several wordings; one of the suffixes follows.

    ``{x}`` and ``{y}`` are names of classes, ``{verb}``, ``{do}`` and ``{heard}`` go with x (see
    :class:`seldio.tasks.names.Name`), ``{t}`` is a time, ``{place}`` and ``{side}`` are directions in words.
    """

    questions: tuple[str, ...]
    suffixes: tuple[str, ...]


class Say:
    """Chooses among wordings, by a seed of its own for each clip and task: the same on every machine."""

    __slots__ = ("_state", "_wordings")

    def __init__(self, chance: int, task: str, wordings: Sequence[Wording] = ()) -> None:
        self._state = chance + _of_task(task)
        self._wordings = wordings

    def below(self, limit: int) -> int:
        """A number from 0 to *limit* - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (self._state >> 33) % limit

    def pick(self, options: Sequence[T]) -> T:
        """One of *options*."""
        return options[self.below(len(options))]

    def ask(self, name: Name | None = None, *, way: int = 0, **words: str) -> str:
        """A question of the task, asked in one *way* of it, about *name*, with *words* in their places."""
        given = name.words | words if name and words else name.words if name else words
        questions, suffixes = self._wordings[way]
        question = self.pick(questions).format_map(given)
        return f"{self.pick(PREAMBLES)}{question} {self.pick(suffixes)}".rstrip()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task(Generic[View, Made]):
    """All that makers, rules, readers, scores and judges know of a task.

    Args:
        name: as ``task_name`` has it.
        question_class: the group of its questions.
        weight: its share where questions are chosen; in SO-Bench how many of the 7,877 published ones are of it.
        spatial: whether it takes directions or distances to answer, which a recording of one channel does not hold.
        language: that it is asked in: ``en`` is in the style of SO-Bench, ``ru`` in that of ruEnvAQA.
        candidates: looks at a clip and yields drafts and, for each candidate that is skipped, the reason.
        refused: why labels cannot answer it, where they cannot.
        wordings: how it is asked, the usual way first.
        answer: what its answer is.
        read: what reads an answer without a judge: a name among :data:`seldio.answers.extract.READERS`, or a function
            of a question, its plain answer and the known names; None where only a judge can.
        metric: what the official program calls its measure.
        ask: what a judge has to read out of an answer, and to decide; empty where none is asked.
        truth: the key of ``answer_meta`` that it is scored by.
        field: where a judgement has the same of a prediction.
        error: the key of an outcome that holds how far off a prediction is.
        threshold: the name of its limit in a profile.
        unit: of error and limit.
        hidden: what of the reference a judge is not shown, since it reads that out of the answer itself.
        alike: what of an item counts as the same answer, where answers are to be even; None for the usual, see
            :func:`seldio.tasks.mix.answer_group`.
        claims: of each option of an item, the right one first, what it says of a class or a number, None where that is
            not known; where items are balanced, each claim is right as often as guessing has it, see
            :mod:`seldio.tasks.even`.
        contexts: of an item with an open answer, what the question tells that may go with its answer, two things at
            most; where items are balanced, answers are even for each.

    Raises:
        ValueError: a task without a weight, or that labels neither answer nor are said not to.
    """

    name: str
    question_class: str
    weight: int
    spatial: bool = False
    language: Literal["en", "ru"] = "en"
    candidates: Callable[[View, Margins, Say], Iterator[Made | str]] | None = None
    refused: str = ""
    wordings: tuple[Wording, ...] = ()
    answer: Answer = "choice"
    read: str | Callable[..., Any] | None = None
    metric: str = "normalized_exact_match"
    ask: str = ""
    truth: str | None = None
    field: str | None = None
    error: str | None = None
    threshold: str | None = None
    unit: str = ""
    hidden: Literal["", "times", "all"] = ""
    alike: Callable[[Item], Hashable] | None = None
    claims: Callable[[Item], list[list[Hashable]] | None] | None = None
    contexts: Callable[[Item], tuple[Hashable, ...]] | None = None

    def __post_init__(self) -> None:
        if self.weight < 1:
            raise ValueError(f"the weight of {self.name} is {self.weight}; it is at least 1")
        if (self.candidates is None) != bool(self.refused):
            raise ValueError(f"{self.name} needs candidates, or the reason why labels have none")


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
