"""The languages in which the tasks of SO-Bench are asked: their wordings, directions and numbers, read from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

Code = Literal["en", "ru"]
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
    """Which form a number takes in Russian: of 1, of 2 or a fraction, of 5."""
    if number != round(number):
        return 1
    last = abs(int(number)) % 100
    return 2 if 10 < last < 15 or not 0 < last % 10 < 5 else int(last % 10 > 1)


_FORMS: dict[str, Callable[[float], int]] = {"en": lambda number: int(abs(number) != 1), "ru": one_few_many}


@cache
def _time(frame: int, written: str, decimal: str) -> str:
    return written.format(f"{frame / 10:.1f}".replace(".", decimal))


class Wordings(NamedTuple):
    """How to ask in a language."""

    code: Code
    preambles: tuple[str, ...]  # what may stand before a question; half of them have nothing
    ways: dict[str, tuple[Wording, ...]]  # by task
    directions: tuple[Direction, ...]  # all cells in words, by number
    words: dict[str, Any]

    def number(self, value: float) -> str:
        """A number without needless zeros: ``67``, ``-36.6``."""
        return f"{value:g}".replace(".", self.words["decimal"])

    def time(self, frame: int) -> str:
        """The time at which a label frame begins: ``18.5s``."""
        return _time(frame, self.words["time"], self.words["decimal"])

    def counted(self, value: float, unit: Literal["degrees", "metres"]) -> str:
        """A number with its unit, as a sentence has it: ``1 degree``, ``-36.6 degrees``."""
        return f"{self.number(value)} {self.words[unit][self.plural(value)]}"

    def plural(self, value: float) -> int:
        """The place of the form that goes with a number among those of a word."""
        return _FORMS[self.code](value)

    def listed(self, parts: Iterable[str]) -> str:
        """*parts* as one says a list: ``a``, ``a and b``, ``a, b, and c``."""
        between, before_last, of_two = self.words["list"]
        *others, last = parts
        return f"{between.join(others)}{before_last if len(others) > 1 else of_two}{last}" if others else last


@cache
def wordings_in(code: Code) -> Wordings:
    """How to ask in the language with this code."""
    table = tomllib.loads(files(__package__ or "").joinpath(f"so_bench.{code}.toml").read_text("utf-8"))
    ways: dict[str, tuple[Wording, ...]] = {}
    for task, rows in table.items():
        if isinstance(rows, list) and isinstance(rows[0], dict):
            first = rows[0]["suffixes"]
            suffixes = [row.get("suffixes", first) for row in rows]
            suffixes = [table[suffix] if isinstance(suffix, str) else suffix for suffix in suffixes]
            parts = zip(rows, suffixes, strict=True)
            ways[task] = tuple(Wording(tuple(row["questions"]), tuple(s), tuple(row["answers"])) for row, s in parts)
    return Wordings(
        code, tuple(table["preambles"]), ways, tuple(Direction(*row) for row in table["directions"]), table["words"]
    )


#: What is asked in unless another language is wanted, and that of tasks from elsewhere.
ENGLISH = wordings_in("en")
