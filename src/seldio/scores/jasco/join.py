"""Which questions of JASCO the rows of a file answer, and which instructions they were asked."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from seldio.errors import DataError
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.schema.qa import Item, Prediction
from seldio.scores.jasco.judging import key
from seldio.text import clipped, listed, plural

#: Items of JASCO; their ids are 1 to 80.
ITEMS = 80


@dataclasses.dataclass(frozen=True)
class Coverage:
    """What a file lacks.

    Args:
        items: ids that are to be answered.
        missing: those without any row.
        incomplete: those with some of the eight instructions, and how many they lack.
        other_prompts: rows with an instruction that is not JASCO's.
        other_answers: rows whose right answer is not that of the questions.
    """

    items: tuple[str, ...]
    missing: tuple[str, ...]
    incomplete: dict[str, int]
    other_prompts: int
    other_answers: int

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

    Args:
        rows: a model's outputs.
        items: the questions; None for JASCO's 80.
        allow_missing: whether something may lack.

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
            f"{'; '.join(covered.lacking)}. eval.py would score it as if it were whole. Answer all "
            f"{plural(len(covered.items), 'item')} with all {len(INSTRUCTIONS)} instructions, or give --allow-missing"
        )
    return covered


def _refuse(rows: Sequence[Prediction], expected: set[str], named: bool) -> None:
    if not rows:
        raise DataError("there is no prediction to score")
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
