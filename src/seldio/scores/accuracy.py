"""Accuracy over questions: predictions joined by id, and shares of right answers, also by group."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from seldio.errors import DataError
from seldio.reports.tables import Cell, Column, Notice, Table
from seldio.schema.qa import Item, Prediction
from seldio.text import listed, plural


@dataclasses.dataclass(frozen=True)
class Joined:
    """Questions with their predictions.

    Args:
        pairs: each question and its prediction, in the order of the questions; None where there is none.
        missing: ids of questions without prediction.
        surplus: ids of predictions without question.
        repeated: ids that stand on several predictions, of which the last counts.
        conflicting: those of them whose predictions differ.
        by_order: whether predictions without ids were joined line by line.
    """

    pairs: tuple[tuple[Item, Prediction | None], ...]
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()
    by_order: bool = False

    @property
    def texts(self) -> list[str]:
        """The text of each prediction, empty where there is none."""
        return [(row.prediction or "") if row is not None else "" for _, row in self.pairs]


def join(items: Sequence[Item], predictions: Sequence[Prediction], *, allow_missing: bool = False) -> Joined:
    """Join by id; of several predictions with one id, the last counts.

    Args:
        items: the questions, with their answers.
        predictions: in any order; where none has an id, they go by order.
        allow_missing: whether some questions may lack a prediction, and some predictions a question.

    Raises:
        DataError: there is nothing to score, an answer is secret, an id stands on two questions, or something is
            missing or left over.
    """
    _check(items)
    ids = [row.id for row in predictions]
    if predictions and all(id is None for id in ids):
        return _by_order(items, predictions)
    if None in ids:
        raise DataError(
            f"{plural(ids.count(None), 'prediction')} of {len(ids):,} without id: it cannot be told which question "
            "each answers. Write the id of its question on every prediction, or on none to join them by order"
        )
    last = {row.id: row for row in predictions if row.id is not None}
    known = {item.id for item in items}
    joined = Joined(
        tuple((item, last.get(item.id)) for item in items),
        tuple(item.id for item in items if item.id not in last),
        tuple(id for id in last if id not in known),
        *_repeated(predictions),
    )
    if not allow_missing:
        _whole(joined)
    return joined


def _check(items: Sequence[Item]) -> None:
    if not items:
        raise DataError("there is no question to score answers to")
    twice = [id for id, count in Counter(item.id for item in items).items() if count > 1]
    if twice:
        raise DataError(f"several questions have the id {listed(twice)}: no prediction can be joined to them")
    secret = [item.id for item in items if item.answer is None]
    if secret:
        every = "all" if len(secret) == len(items) else f"{len(secret):,} of {len(items):,}"
        raise DataError(
            f"the right answer of {every} questions is not in the file ({listed(secret)}): "
            "only those who keep them secret can score these predictions"
        )


def _by_order(items: Sequence[Item], predictions: Sequence[Prediction]) -> Joined:
    if len(items) != len(predictions):
        raise DataError(
            f"{plural(len(predictions), 'prediction')} without ids for {plural(len(items), 'question')}: joined by "
            "order, all behind the gap would be held against the wrong question. Write the ids of the questions"
        )
    return Joined(tuple(zip(items, predictions, strict=True)), by_order=True)


def _repeated(predictions: Iterable[Prediction]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    texts: dict[str, list[str | None]] = {}
    for row in predictions:
        texts.setdefault(row.id or "", []).append(row.prediction)
    repeated = tuple(id for id, found in texts.items() if len(found) > 1)
    return repeated, tuple(id for id in repeated if len(set(texts[id])) > 1)


def _whole(joined: Joined) -> None:
    parts = []
    if joined.missing:
        count = plural(len(joined.missing), "question")
        parts.append(f"{count} of {len(joined.pairs):,} without prediction ({listed(joined.missing)})")
    if joined.surplus:
        parts.append(f"{plural(len(joined.surplus), 'prediction')} without question ({listed(joined.surplus)})")
    if parts:
        raise DataError(f"{', and '.join(parts)}. Correct the ids, or allow it with --allow-missing")


def join_notices(joined: Joined, texts: Mapping[str, str]) -> Iterator[Notice]:
    """What there is to know of a join, in the words of *texts* (``{count}``, ``{ids}``, ``{differ}``)."""
    differ = len(joined.conflicting)
    for name, noun, ids, grave in (
        ("missing", "question", joined.missing, True),
        ("surplus", "prediction", joined.surplus, False),
        ("repeated", "question", joined.repeated, differ > 0),
        ("by-order", "", ("",) * joined.by_order, True),
    ):
        if ids:
            text = texts[name].format(count=plural(len(ids), noun), ids=listed(ids, 3), differ=f"{differ:,}")
            yield Notice(name, text, grave)


# --- shares ----------------------------------------------------------------------------------------

Flags = npt.NDArray[np.bool_]

ITEMS = Column("items", "items", "", 0, None, "questions that the row is over")
CHANCE = Column("chance", "chance", "%", 1, None, "expected of guessing evenly among the options")


@dataclasses.dataclass(frozen=True)
class Measured:
    """Which answers are right, by measure.

    Args:
        measures: for each column a flag for each question.
        options: how many options each question has; 0 where it has none.
        base: of a column whose share is not over all questions, those that it is over.
    """

    measures: Mapping[Column, Flags]
    options: Sequence[int]
    base: Mapping[Column, Flags] = dataclasses.field(default_factory=dict)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of every table: how many questions, each measure, and guessing."""
        return (ITEMS, *self.measures, CHANCE)

    def row(self, chosen: Sequence[int] | None = None) -> tuple[Cell, ...]:
        """The cells of :attr:`columns` over the questions with the numbers *chosen*; over all without."""
        numbers = np.arange(len(self.options)) if chosen is None else np.asarray(chosen, dtype=np.intp)
        shares = [self._share(column, flags, numbers) for column, flags in self.measures.items()]
        counts = np.asarray(self.options, dtype=float)[numbers]
        chance = float((1 / counts).mean()) if len(counts) and (counts > 0).all() else math.nan
        return (len(numbers), *shares, chance)

    def _share(self, column: Column, flags: Flags, numbers: npt.NDArray[np.intp]) -> float:
        base = self.base.get(column)
        kept = numbers if base is None else numbers[base[numbers]]
        return float(flags[kept].mean()) if len(kept) else math.nan

    def table(
        self, name: str, title: str, labels: Sequence[str | int | None], absent: str = "not given"
    ) -> Table | None:
        """A row for each label, in alphabetical order (numbers by size); None where no question has one.

        Args:
            name: of the table, and of its first column.
            title: what the groups are.
            labels: one for each question.
            absent: what stands for None.
        """
        groups: dict[Hashable, list[int]] = {}
        for number, label in enumerate(labels):
            groups.setdefault(label, []).append(number)
        if set(groups) <= {None}:
            return None
        order = sorted(groups, key=lambda label: (label is None, label if isinstance(label, int) else 0, str(label)))
        rows = tuple((absent if label is None else str(label), *self.row(groups[label])) for label in order)
        return Table(name, title, (Column(name, name.replace("_", " ")), *self.columns), rows)
