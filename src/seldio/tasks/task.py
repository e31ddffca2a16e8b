"""Wordings chosen by a seed, and reasons to skip.

Questions and answers call classes as people do (:mod:`seldio.tasks.names`); canonical answers have the names of
the vocabulary, in lower case. There a name with a comma stands in double quotes wherever it is part of a list
(``"water tap, faucet" from 1.0s to 2.5s, bell from …``), so that a comma outside of quotes always separates;
a canonical answer that is one name has it bare.
Times are seconds from the start of the clip to 0.1 s; azimuths are positive to the left.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, TypeVar

from seldio.tasks.names import Name, capitalized

T = TypeVar("T")


class Why:
    """Why a candidate is skipped, in the words that reports show."""

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


# --- languages -----------------------------------------------------------------------------------------------------
Code = Literal["en", "ru"]
#: Seconds; the clips of SO-Bench and of ruEnvAQA are no longer.
LONGEST = 20.0
#: Stands for the name of a class that has none in the language.
NAMELESS = "\0"


class Wording(NamedTuple):
    """One way to ask, in several wordings; one of the suffixes follows.

    ``{x}`` and ``{y}`` are names of classes, ``{verb}``, ``{do}`` and ``{heard}`` go with x (see
    :class:`seldio.tasks.names.Name`), ``{t}`` is a time, ``{place}`` and ``{side}`` are directions in words.
    """

    questions: tuple[str, ...]
    suffixes: tuple[str, ...]
    answers: tuple[str, ...] = ()  # one for each of what there is to say, such as the motions


class Direction(NamedTuple):
    """One cell in words."""

    name: str  # after *from*, with its article: ``the front-left and below``
    short: str  # the same without the article, as canonical answers have it in any language: ``front-left and below``
    place: str  # relative to the listener: ``to the front-left and below the listener``


def one_few_many(number: float) -> int:
    """Return which form a number takes in Russian: of 1, of 2 or a fraction, of 5."""
    if number != round(number):
        return 1
    last = abs(int(number)) % 100
    return 2 if 10 < last < 15 or not 0 < last % 10 < 5 else int(last % 10 > 1)


class Wordings(NamedTuple):
    """How to ask in a language."""

    preambles: tuple[str, ...]  # what may stand before a question; half of them have nothing
    ways: dict[str, tuple[Wording, ...]]  # by task
    directions: tuple[Direction, ...]  # all cells in words, by number
    words: dict[str, Any]
    form: Callable[[float], int]  # the place of the form that goes with a number among those of a word
    times: tuple[str, ...]  # at which each label frame of a clip begins, and the last one ends: ``18.5s``

    def counted(self, value: float, unit: Literal["degrees", "metres"]) -> str:
        """Return a number with its unit, as a sentence has it: ``1 degree``, ``-36.6 degrees``."""
        number = f"{value:g}".replace(".", self.words["decimal"])
        return f"{number} {self.words[unit][self.form(value)]}"


@cache
def wordings_in(code: Code) -> Wordings:
    """Return how to ask in the language with this code."""
    table = tomllib.loads(files(__package__ or "").joinpath(f"so_bench.{code}.toml").read_text("utf-8"))
    ways: dict[str, tuple[Wording, ...]] = {}
    for task, rows in table.items():
        if isinstance(rows, list) and isinstance(rows[0], dict):
            first = rows[0]["suffixes"]
            suffixes = [row.get("suffixes", first) for row in rows]
            suffixes = [table[suffix] if isinstance(suffix, str) else suffix for suffix in suffixes]
            parts = zip(rows, suffixes, strict=True)
            ways[task] = tuple(Wording(tuple(row["questions"]), tuple(s), tuple(row["answers"])) for row, s in parts)
    forms: dict[Code, Callable[[float], int]] = {"en": lambda number: int(abs(number) != 1), "ru": one_few_many}
    directions = tuple(Direction(*row) for row in table["directions"])
    words = table["words"]
    times = tuple(
        words["time"].format(f"{frame / 10:.1f}".replace(".", words["decimal"]))
        for frame in range(round(LONGEST * 10) + 1)
    )
    return Wordings(tuple(table["preambles"]), ways, directions, words, forms[code], times)


#: What is asked in unless another language is wanted, and that of tasks from elsewhere.
ENGLISH = wordings_in("en")


# --- words ------------------------------------------------------------------------------------------------


def digest(*parts: object) -> str:
    """Return 20 hexadecimal digits of the sha256 of *parts*."""
    text = "\x1f".join(map(str, parts))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:20]


def hashed(*parts: object) -> int:
    """Return the first 64 bits of the sha256 of *parts*: the seed of a clip, or the lot of an item."""
    return int(digest(*parts)[:16], 16)


_of_task = cache(hashed)


class Say:
    """Chooses among wordings, by a seed of its own for each clip and task: the same on every machine."""

    __slots__ = ("_state", "_ways", "language")

    def __init__(self, chance: int, task: str, language: Wordings) -> None:
        self._state = chance + _of_task(task)
        self._ways = language.ways.get(task, ())
        self.language = language

    def below(self, limit: int) -> int:
        """Return a number from 0 to *limit* - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (self._state >> 33) % limit

    def pick(self, options: Sequence[T]) -> T:
        """Return one of *options*."""
        return options[self.below(len(options))]

    def ask(
        self, *names: Name, answered: Sequence[Name] | None = None, way: int = 0, of: int = 0, **words: str
    ) -> tuple[str, str]:
        """Return a question of the task and its answer, with *words* in their places.

        Args:
            names: the classes that it is about, two at most.
            answered: the classes that the answer is about, if in another order.
            way: the way in which it is asked.
            of: the place of the answer among those that there are.
        """
        questions, suffixes, answers = self._ways[way]
        wording = self.pick(questions)
        preamble, suffix = self.pick(self.language.preambles), self.pick(suffixes)
        forms = [
            {**(about[0].words if about else {}), **(about[1].others if about[1:] else {}), **words}
            for about in ((names, answered) if answered else (names,))
        ]
        question, answer = wording.format_map(forms[0]), answers[of].format_map(forms[-1])
        return f"{preamble}{question} {suffix}".rstrip(), capitalized(answer)
