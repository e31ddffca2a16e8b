"""``eval.py`` of JASCO, number for number: what it prints, and how it ends where it crashes.

Its faults, all shown by the real program: the rating of the row before is used for a row without one, also
across items; ids and texts go through pandas, so that ``None`` and ``NA`` become NaN, rows without an id
vanish, and 1 and 1.0 are one item; the shares are a division by zero where no row has an orientation.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from seldio.scores.jasco.parsing import Orientation, parse, second_reply

#: What pandas reads as NaN.
NAN_TEXTS = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
     "NULL", "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


class Row(NamedTuple):
    """An item's id and the judge's text on one of its predictions, as they stand in the csv file."""

    id: str | None
    text: str | None


@dataclasses.dataclass(frozen=True)
class Official:
    """What ``eval.py`` comes to.

    Args:
        best_mean: None where it crashes before.
        shares: of Audio-, Both- and Speech-Oriented, among rows with one of these; None where it crashes before.
        crash: the exception that it ends with, as Python writes it.
        reasked: rows for which it asks the judge a second time.
        stale: rows that are scored with the rating of another row.
        points: of each row that it looked at, by number of the row.
        orientations: likewise; None is its ``?``.
    """

    best_mean: float | None
    shares: tuple[float, float, float] | None
    crash: str | None
    reasked: tuple[int, ...]
    stale: tuple[int, ...]
    points: dict[int, int]
    orientations: dict[int, Orientation | None]

    def printed(self) -> str:
        """The lines that it prints."""
        lines = []
        if self.best_mean is not None:
            lines.append(f"best-mean :  {self.best_mean}")
        if self.shares is not None:
            names = ("Audio", "Both", "Speech")
            lines += [f"{name}-Oriented % :  {share}" for name, share in zip(names, self.shares, strict=True)]
        return "\n".join(lines)


class _Crash(Exception):
    """``eval.py`` ends with an exception."""


def official(rows: Sequence[Row], second: Callable[[int], str] | None = None) -> Official:
    """What ``eval.py`` prints for a judged file.

    Args:
        rows: in the order of the file.
        second: the judge's second reply on a row, by its number; without, it is taken as unreadable (``?``).
    """
    run = _Run(rows, second)
    best_mean, shares, crash = None, None, None
    try:
        best_mean = run.best_mean()
        shares = run.shares()
    except _Crash as error:
        crash = str(error)
    return Official(best_mean, shares, crash, tuple(run.reasked), tuple(run.stale), run.points, run.orientations)


class _Run:
    """The program's state."""

    def __init__(self, rows: Sequence[Row], second: Callable[[int], str] | None) -> None:
        self.rows, self.second = rows, second
        self.reasked: list[int] = []
        self.stale: list[int] = []
        self.points: dict[int, int] = {}
        self.orientations: dict[int, Orientation | None] = {}
        self.score: int | None = None  # the variable that outlives its row

    def best_mean(self) -> float:
        if _all_numbers([row.text for row in self.rows]):
            raise _Crash("TypeError: argument of type 'int' is not iterable")
        groups = grouped([row.id for row in self.rows])
        best = [max(self._row(number) for number in members) for members in groups]
        if not best:
            raise _Crash("ZeroDivisionError: division by zero")
        return sum(best) / len(best)

    def _row(self, number: int) -> int:
        text = self.rows[number].text
        if text is None or text in NAN_TEXTS:
            raise _Crash("TypeError: argument of type 'numpy.float64' is not iterable")
        judged = parse(text, "eval.py")
        orientation = judged.orientation
        if orientation is None:
            self.reasked.append(number)
            orientation = second_reply(self.second(number)) if self.second else None
        self.orientations[number] = orientation
        if judged.rating is not None:
            self.score = judged.rating
        elif orientation == "G":
            if self.score is None:
                raise _Crash(
                    "UnboundLocalError: cannot access local variable 'score' where it is not associated with a value"
                )
            self.stale.append(number)
        self.points[number] = (self.score or 0) if orientation == "G" else 0
        return self.points[number]

    def shares(self) -> tuple[float, float, float]:
        """In the program's own order of operations, to the last digit."""
        found = list(self.orientations.values())
        audio, speech, both = (found.count(name) / len(found) for name in ("A", "S", "G"))
        whole = audio + speech + both
        if not whole:
            raise _Crash("ZeroDivisionError: float division by zero")
        return audio / whole, both / whole, speech / whole


def grouped(ids: Sequence[str | None]) -> list[list[int]]:
    """The rows of each item as pandas groups them: sorted, without those that have no id, 1 and 1.0 as one."""
    there = [id for id in ids if id is not None and id not in NAN_TEXTS]
    numbers = all(_NUMBER.fullmatch(id) for id in there)
    exact = all(_WHOLE.fullmatch(id) for id in there) and len(there) == len(ids)
    groups: dict[str | int | float, list[int]] = {}
    for number, id in enumerate(ids):
        if id is not None and id not in NAN_TEXTS:
            key: str | int | float = id if not numbers else int(id) if exact else float(id)
            groups.setdefault(key, []).append(number)
    return [groups[key] for key in sorted(groups)]  # all of one type


def _all_numbers(texts: Sequence[str | None]) -> bool:
    """Whether pandas reads the column as numbers."""
    there = [text for text in texts if text is not None and text not in NAN_TEXTS]
    return bool(there) and len(there) == len(texts) and all(_NUMBER.fullmatch(text) for text in there)
