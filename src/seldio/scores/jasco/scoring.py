"""JASCO's score: best-mean, and what the answers rest on, by ``eval.py`` and by the corrected reading.

*best-mean* is the mean over items of the best of an item's eight answers, each worth its rating (0, 1, 2)
if it rests on sound and speech, else 0. The shares of Audio, Both and Speech are among answers that rest on
one of these. An answer without a verdict is worth 0.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

from seldio.errors import DataError, SeldioError, UsageError
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.schema.qa import Item, Prediction
from seldio.scores.jasco.coverage import Coverage, coverage
from seldio.scores.jasco.judging import COLUMN, judged, text_of, with_judgements
from seldio.scores.jasco.official import Official, Row, official
from seldio.scores.jasco.parsing import Judged, Mode, Orientation, parse
from seldio.scores.jasco.prompts import Vocabulary
from seldio.scores.judge import Judgement, Reply, Request
from seldio.text import plural

#: The words with which eval.py's second call answers, for what the corrected reading finds.
_NAMES: dict[Orientation | None, str] = {
    "A": "Audio-Oriented", "S": "Speech-Oriented", "G": "Good", "N": "Neither", None: "",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Marks:
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
class Case:
    """A judged file.

    Args:
        rows: a model's outputs.
        texts: the judge's, of each row.
        read: the corrected reading of each text.
        official: what ``eval.py`` comes to, its second calls answered as the corrected reading understands them.
        official_least: the same with no second call understood.
        covered: what the file lacks.
    """

    rows: Sequence[Prediction]
    texts: Sequence[str]
    read: Sequence[Judged]
    official: Official
    official_least: Official
    covered: Coverage

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

    def marks(self, mode: Mode) -> Marks:
        """What rows are worth."""
        if mode == "eval.py":
            return Marks(self.official.points, self.official.orientations)
        kept = dict(enumerate(self.read))
        return Marks(
            {number: one.points for number, one in kept.items()},
            {number: one.orientation if one.complete else None for number, one in kept.items()},
        )

    def best_mean(self, unknown: int = 0) -> float:
        """best-mean by the corrected reading, each row without a verdict worth *unknown*."""
        worth = [one.points if one.complete else unknown for one in self.read]
        best = [max(worth[row] for row in rows) for rows in self.items.values()]
        return sum(best) / len(best)


def prepare(
    rows: Sequence[Prediction],
    items: Sequence[Item] | None = None,
    *,
    judge: Callable[[Sequence[Request]], Sequence[Reply]] | None = None,
    judgements: Mapping[str, Judgement] | None = None,
    vocabulary: Vocabulary = "Both",
    allow_missing: bool = False,
) -> Case:
    """All that a report is made of; the arguments are those of :func:`~seldio.scores.jasco.report.score`.

    Raises:
        UsageError: there are no judgements, and no judge to ask.
        DataError: predictions or judgements are missing, repeated or of no item.
    """
    covered = coverage(rows, items)
    if covered.lacking and not allow_missing:
        raise DataError(
            f"{'; '.join(covered.lacking)}. eval.py would score it as if it were whole. Answer all "
            f"{plural(len(covered.items), 'item')} with all {len(INSTRUCTIONS)} instructions, or give --allow-missing"
        )
    if judge is not None:
        rows = judged(rows, judge, vocabulary)
    if judgements is not None:
        rows = with_judgements(rows, judgements)
    texts = [text_of(row) for row in rows]
    if judge is not None and not any(text.strip() for text in texts):
        raise SeldioError("the judge replied to no request: run the same command again to ask for all of them")
    _demand(texts, allow_missing or judge is not None)
    read = [parse(text) for text in texts]
    pairs = [Row(row.id, text) for row, text in zip(rows, texts, strict=True)]
    with_second = official(pairs, lambda number: _NAMES[read[number].orientation])
    return Case(rows, texts, read, with_second, official(pairs), covered)


def _demand(texts: Sequence[str], partly: bool) -> None:
    """Judgements are there."""
    without = sum(not text.strip() for text in texts)
    if without == len(texts):
        raise UsageError(
            f"the predictions are not judged: there is no text in the column {COLUMN}. "
            "Name a judge, or a file with judgements"
        )
    if without and not partly:
        raise DataError(
            f"{without:,} of {plural(len(texts), 'prediction')} not judged: the column {COLUMN} is empty there. "
            "Judge them, or give --allow-missing to count them as no verdict"
        )
