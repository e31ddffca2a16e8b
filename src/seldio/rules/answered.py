"""Predictions beside the questions they answer, and what official scorers make of those that do not fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from seldio.formats.items import ItemReading, Row
from seldio.schema.qa import Item, Prediction
from seldio.text import printable

#: Formats of questions whose files also carry a model's outputs, and the key of the output.
OUTPUTS = {"mmau": "model_output", "mmar": "answer_prediction"}
#: The benchmark that a format of predictions belongs to.
_OF = {"so-bench-predictions": "so-bench", "jasco-predictions": "jasco", "ruenvaqa-submission": "ruenvaqa"}


@dataclasses.dataclass(frozen=True)
class ItemReference:
    """The questions that predictions are held against.

    Args:
        path: what the user named.
        questions: those of a file; None where the reference is a folder of MERA's tasks without ruEnvAQA.
        tasks: for MERA the right outputs of each task by id, as its files have them.
    """

    path: str
    questions: ItemReading | None = None
    tasks: Mapping[str, Mapping[Any, Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Join:
    """What the official scorer of a benchmark does with predictions that do not fit its questions."""

    missing: str = "scorers leave it out or count it as wrong, most of them without a word"
    surplus: str = "scorers ignore it or join it to another question: correct its id"
    audio: str = "scorers join by id and do not look at the audio: check both"
    task: str = "scorers take the task of the question: check the id"
    order: str = "one row too many or too few, and all behind it are joined to the wrong question: write ids"
    copy: str = "a scorer that reads the copy judges by another truth: copy it again"


JOINS = {
    "so-bench": Join(
        missing="the official scorer leaves it out of the mean without a word, unless --expected-examples is given",
        surplus="the official scorer joins it to the question in the same line if audio and task agree, and stops "
        "with a ValueError if not: correct its qa_id",
        audio="the official scorer joins by qa_id and does not look: an answer about another recording is scored here",
        task="the official scorer joins by qa_id and takes the task of the question: check the id",
        order="without qa_id the official scorer joins line by line where audio and task agree, and stops with a "
        "ValueError where they do not: write qa_id",
    ),
    "jasco": Join(
        missing="eval.py counts no ids: the mean over the others looks like one over all",
        surplus="eval.py reads no file of questions: it counts as one more recording in the mean",
        audio="eval.py groups by id and does not look at the audio: the answer counts for this id",
        copy="eval.py judges by the copy in this file, not by the benchmark's: copy it again",
    ),
    "ruenvaqa": Join(
        missing="for MERA one question without an answer is enough: the whole task scores 0",
        surplus="MERA ignores it: correct its id",
    ),
    "mmau": Join(
        missing="the official evaluation skips it without a word: the accuracy is one over fewer questions",
        copy="the official evaluation takes options and answer from this file: copy them again",
    ),
}


@dataclasses.dataclass(frozen=True)
class Answered:
    """Predictions and the questions they are joined to.

    Args:
        reading: of the predictions.
        questions: of the reference, each id once.
    """

    reading: ItemReading
    questions: ItemReading

    @property
    def join(self) -> Join:
        """What the benchmark's scorer does."""
        own = self.reading.home
        name = _OF.get(own, own)
        return JOINS.get(name if name in JOINS else self.questions.home, Join())

    @cached_property
    def rows(self) -> Sequence[Prediction]:
        """The predictions, one for each row of the reading."""
        return [prediction_of(row, self.reading.home) for row in self.reading.rows]

    @cached_property
    def items(self) -> dict[str, int]:
        """The row of each question by its id."""
        return {row.id: number for number, row in enumerate(self.questions.rows) if row.id is not None}

    @cached_property
    def nameless(self) -> bool:
        """Whether some predictions have no id, so that they go by order."""
        return any(row.id is None for row in self.rows)

    @property
    def counts_differ(self) -> bool:
        """Whether predictions go by order and are not as many as the questions."""
        return self.nameless and len(self.rows) != len(self.questions.rows)

    def question(self, number: int) -> Item | None:
        """The question that prediction *number* is joined to: by id, without one by its place in the file."""
        id = self.rows[number].id
        row = number if id is None else self.items.get(id, -1)
        item = self.questions.rows[row] if 0 <= row < len(self.questions.rows) else None
        return item if isinstance(item, Item) else None

    @cached_property
    def pairs(self) -> list[tuple[int, Prediction, Item]]:
        """Number, prediction and question of those that are joined; none by order where the counts differ."""
        joined = ((number, row, self.question(number)) for number, row in enumerate(self.rows))
        by_order = not self.counts_differ
        return [(n, row, item) for n, row, item in joined if item is not None and (by_order or row.id is not None)]

    def place(self, item: str) -> str:
        """Where a question stands, for people."""
        line = self.questions.locate(self.items[item], "id", None).line
        return f"line {line} of {printable(self.questions.path)}"


def has_outputs(reading: ItemReading) -> bool:
    """Whether a file holds predictions, those beside their questions included."""
    key = OUTPUTS.get(reading.home)
    if reading.format.holds == "predictions" or any(isinstance(row, Prediction) for row in reading.rows):
        return True
    return key is not None and any(key in (row.extra or {}) for row in reading.rows)


def prediction_of(row: Row, format: str) -> Prediction:
    """A row as a prediction."""
    if isinstance(row, Prediction):
        return row
    output = (row.extra or {}).get(OUTPUTS.get(format, ""))
    text = output if isinstance(output, str) else None
    return Prediction(id=row.id, audio=row.audio, task=row.task, prompt=None, prediction=text, extra=row.extra)
