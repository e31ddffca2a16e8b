"""Judgements counted as they are meant, and as ``eval.py`` of JASCO does: what it prints, and how it crashes.

Its faults, all shown by the real program: the rating of the row before is used for a row without one, also
across items; ids and texts go through pandas, so that ``None`` and ``NA`` become NaN, rows without an id
vanish, and 1 and 1.0 are one item; the shares are a division by zero where no row has an orientation.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from seldio.errors import DataError, SeldioError, UsageError
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.schema.qa import Item, Prediction
from seldio.scores.jasco.judging import (
    COLUMN,
    Judged,
    Mode,
    Orientation,
    Vocabulary,
    judged,
    key,
    parse,
    second_reply,
    text_of,
    with_judgements,
)
from seldio.scores.judge import Judgement, JudgeRequest, Reply
from seldio.text import clipped, listed, plural

# --- which questions are answered ------------------------------------------------------------------
#: Items of JASCO; their ids are 1 to 80.
ITEMS = 80


@dataclasses.dataclass(frozen=True)
class Coverage:
    """What a file lacks."""

    items: tuple[str, ...]  # ids that are to be answered
    missing: tuple[str, ...]  # those without any row
    incomplete: dict[str, int]  # those with some of the eight instructions, and how many they lack
    other_prompts: int  # rows with an instruction that is not JASCO's
    other_answers: int  # rows whose right answer is not that of the questions

    @property
    def lacking(self) -> list[str]:
        """What is wrong, in words; empty where all is there."""
        texts = []
        if self.missing:
            texts.append(f"{len(self.missing)} of {plural(len(self.items), 'item')} missing ({listed(self.missing)})")
        if self.incomplete:
            names = tuple(self.incomplete)
            rows = plural(sum(self.incomplete.values()), "row")
            texts.append(
                f"{plural(len(names), 'item')} not asked all eight instructions, {rows} short ({listed(names)})"
            )
        if self.other_prompts:
            texts.append(f"{plural(self.other_prompts, 'row')} with an instruction that is not JASCO's")
        return texts


def join(rows: Sequence[Prediction], items: Sequence[Item] | None = None, *, allow_missing: bool = False) -> Coverage:
    """What of the questions *rows* answer.

    Raises:
        DataError: something lacks; or a row has no id, answers no item, or repeats another one: the best of several
            tries counts, so more tries would be a better score.
    """
    answers = {item.id: item.answer for item in items} if items is not None else None
    expected = tuple(answers) if answers is not None else tuple(str(number + 1) for number in range(ITEMS))
    _refuse(rows, set(expected), items is not None)
    asked: dict[str, int] = dict.fromkeys(expected, 0)
    for row in rows:
        asked[row.id or ""] += (row.prompt or "").strip() in INSTRUCTIONS
    present = {row.id for row in rows}
    missing = tuple(id for id in expected if id not in present)
    incomplete = {id: len(INSTRUCTIONS) - n for id, n in asked.items() if id in present and n < len(INSTRUCTIONS)}
    other = sum((row.prompt or "").strip() not in INSTRUCTIONS for row in rows)
    differing = 0
    if answers is not None:
        differing = sum((row.extra or {}).get("tgt_text") != answers[row.id or ""] for row in rows)
    covered = Coverage(expected, missing, incomplete, other, differing)
    if covered.lacking and not allow_missing:
        raise DataError(
            f"{'; '.join(covered.lacking)}. eval.py would score it as if it were complete. Answer all "
            f"{plural(len(covered.items), 'item')} with all {len(INSTRUCTIONS)} instructions, or use --allow-missing"
        )
    return covered


def _refuse(rows: Sequence[Prediction], expected: set[str], named: bool) -> None:
    if not rows:
        raise DataError("no predictions to score")
    if nameless := [number for number, row in enumerate(rows, 1) if not row.id]:
        raise DataError(f"{plural(len(nameless), 'row')} without an id, the first is row {nameless[0]:,}")
    if strange := sorted({row.id or "" for row in rows} - expected):
        hint = "" if named else f"; JASCO's are 1 to {ITEMS}; for other questions name their file"
        raise DataError(f"{plural(len(strange), 'id')} of no item: {listed(strange)}{hint}")
    twice = [name for name, number in Counter(key(row) for row in rows).items() if number > 1]
    if twice:
        id, _, prompt = twice[0].partition("/")
        raise DataError(
            f"{plural(len(twice), 'row')} more than once, e.g. item {clipped(id, 30)}, instruction "
            f"{clipped(prompt, 30)}: the best answer to an item counts, so repeated rows would be further tries"
        )


# --- as eval.py counts -----------------------------------------------------------------------------

#: What pandas reads as NaN.
NAN_TEXTS = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
     "NULL", "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


class JudgedRow(NamedTuple):
    """An item's id and the judge's text on one of its predictions, as they stand in the csv file."""

    id: str | None
    text: str | None


@dataclasses.dataclass(frozen=True)
class Official:
    """What ``eval.py`` comes to."""

    best_mean: float | None  # None where it crashes before
    #: of Audio-, Both- and Speech-Oriented, among rows with one of these; None where it crashes before
    shares: tuple[float, float, float] | None
    crash: str | None  # the exception that it ends with, as Python writes it
    reasked: tuple[int, ...]  # rows for which it asks the judge a second time
    stale: tuple[int, ...]  # rows that are scored with the rating of another row
    points: dict[int, int]  # of each row that it looked at, by number of the row
    orientations: dict[int, Orientation | None]  # likewise; None is its ``?``

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


def official(rows: Sequence[JudgedRow], second: Callable[[int], str] | None = None) -> Official:
    """What ``eval.py`` prints for a judged file; *second*: the judge's second reply on a row, without it ``?``."""
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

    def __init__(self, rows: Sequence[JudgedRow], second: Callable[[int], str] | None) -> None:
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


# --- both readings ---------------------------------------------------------------------------------

#: The words with which eval.py's second call answers, for what the corrected reading finds.
_NAMES: dict[Orientation | None, str] = {
    "A": "Audio-Oriented", "S": "Speech-Oriented", "G": "Good", "N": "Neither", None: "",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class AnswerMarks:
    """What rows are worth in one reading, by number of the row; rows that the reading never saw are absent."""

    points: Mapping[int, int]
    orientations: Mapping[int, Orientation | None]

    def mean(self, rows: Sequence[int]) -> float:
        """Mean points over *rows*; NaN where none was seen."""
        found = [self.points[row] for row in rows if row in self.points]
        return sum(found) / len(found) if found else math.nan

    def best(self, rows: Sequence[int]) -> float:
        """The points of the best of *rows*; NaN where none was seen."""
        return max((float(self.points[row]) for row in rows if row in self.points), default=math.nan)

    def counts(self, rows: Sequence[int]) -> dict[Orientation | None, int]:
        """How many of *rows* have which orientation; None: no verdict."""
        found = [self.orientations[row] for row in rows if row in self.orientations]
        kinds: tuple[Orientation | None, ...] = ("A", "G", "S", "N", None)
        return {kind: found.count(kind) for kind in kinds}


@dataclasses.dataclass(frozen=True)
class JascoCase:
    """A judged file."""

    rows: Sequence[Prediction]  # a model's outputs
    texts: Sequence[str]  # the judge's, of each row
    read: Sequence[Judged]  # the corrected reading of each text
    official: Official  # what ``eval.py`` comes to, its second calls answered as the corrected reading understands them
    official_least: Official  # the same with no second call understood
    covered: Coverage  # what the file lacks

    @property
    def items(self) -> dict[str, list[int]]:
        """The rows of each item."""
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            found.setdefault(row.id or "", []).append(number)
        return found

    @property
    def prompts(self) -> dict[str, list[int]]:
        """The rows of each instruction, JASCO's first and in its order."""
        found: dict[str, list[int]] = {prompt: [] for prompt in INSTRUCTIONS}
        for number, row in enumerate(self.rows):
            found.setdefault((row.prompt or "").strip(), []).append(number)
        return {prompt: rows for prompt, rows in found.items() if rows}

    def marks(self, mode: Mode) -> AnswerMarks:
        """What rows are worth."""
        if mode == "eval.py":
            return AnswerMarks(self.official.points, self.official.orientations)
        kept = dict(enumerate(self.read))
        return AnswerMarks(
            {number: one.points for number, one in kept.items()},
            {number: one.orientation if one.complete else None for number, one in kept.items()},
        )

    def best_mean(self, unknown: int = 0) -> float:
        """best-mean by the corrected reading, each row without a verdict worth *unknown*."""
        worth = [one.points if one.complete else unknown for one in self.read]
        best = [max(worth[row] for row in rows) for rows in self.items.values()]
        return sum(best) / len(best)


def count(
    rows: Sequence[Prediction],
    covered: Coverage,
    *,
    judge: Callable[[Sequence[JudgeRequest]], Sequence[Reply]] | None = None,
    judgements: Mapping[str, Judgement] | None = None,
    vocabulary: Vocabulary = "Both",
    prompt: str = "seldio",
    allow_missing: bool = False,
) -> JascoCase:
    """All that a report is made of; the arguments are those of :func:`~seldio.scores.jasco.report.score`.

    Raises:
        UsageError: there are no judgements, and no judge to ask.
        DataError: judgements are missing, repeated or of no item.
    """
    if judge is not None:
        rows = judged(rows, judge, vocabulary, prompt)
    if judgements is not None:
        rows = with_judgements(rows, judgements)
    texts = [text_of(row) for row in rows]
    without = sum(not text.strip() for text in texts)
    if judge is not None and without == len(texts):
        raise SeldioError("the judge replied to no request: run the same command again to ask for all of them")
    if without == len(texts):
        raise UsageError(
            f"the predictions are not judged: there is no text in the column {COLUMN}. "
            "Use --judge, or --judgements with a file"
        )
    if without and not allow_missing and judge is None:
        raise DataError(
            f"{without:,} of {plural(len(texts), 'prediction')} not judged: the column {COLUMN} is empty there. "
            "Judge them, or use --allow-missing to count them as no verdict"
        )
    read = [parse(text) for text in texts]
    pairs = [JudgedRow(row.id, text) for row, text in zip(rows, texts, strict=True)]
    with_second = official(pairs, lambda number: _NAMES[read[number].orientation])
    return JascoCase(rows, texts, read, with_second, official(pairs), covered)
