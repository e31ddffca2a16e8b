"""The base of item formats: questions or predictions in one concrete file format."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from string import ascii_uppercase
from typing import Literal

import numpy as np
import pyarrow as pa

from seldio.findings import Sink
from seldio.formats.base import Format, Ints, Place, Reading
from seldio.schema.qa import ITEM_SCHEMA, PREDICTION_SCHEMA, Item, Prediction, table_of

Row = Item | Prediction
#: Those of options, in their order.
LETTERS = ascii_uppercase


def option_letter(place: int) -> str:
    """Return what names the option at a *place*: A to Z, then 1, 2 and so on, as inspect_ai has it."""
    return LETTERS[place] if place < len(LETTERS) else str(place - len(LETTERS) + 1)


def option_place(letter: str, count: int) -> int | None:
    """Return the place of the one of *count* options that a letter names, of either case; None where it names none."""
    letters = [option_letter(place) for place in range(count)]
    return letters.index(letter.upper()) if letter.upper() in letters else None


#: What ``graded`` says of seldio's own formats.
LETTERS_READ = "seldio score reads a letter as the option that it stands for, other programs may not"
#: The forms in which formats write right answers: of several options the letter or the text of the right one; where
#: there is nothing to choose from, free text, or a sentence with a short form and numbers beside it.
Answers = Literal["letter", "text", "free", "structured"]
ANSWERS: Mapping[Answers, str] = {
    "letter": "the letter of the right option",
    "text": "the text of the right option",
    "free": "free text",
    "structured": "a sentence, with a short form and numbers that scorers compare",
}
#: Finds where a field of a row stands: of :meth:`Reading.place` all that is special to a file.
Locate = Callable[[int, str | None, int | None], Place]


@dataclasses.dataclass(frozen=True)
class ItemReading(Reading):
    """The rows of one file of questions or predictions."""

    format: ItemFormat  # of the file
    path: str  # the file, as shown to people
    #: items or predictions, in file order; records that cannot be read are left out. Where they are :class:`Rows`,
    #: models are made of :attr:`table` when they are asked for.
    rows: Sequence[Row]
    locate: Locate
    #: what the file holds besides its rows (a container's keys, the layout of its text), or what finds it out where a
    #: writer asks, see :attr:`origin`
    source: dict[str, object] | Callable[[], dict[str, object]] = dataclasses.field(default_factory=dict)
    #: what of the file is in no row, by the field that it belongs to
    lost: dict[str, str] = dataclasses.field(default_factory=dict)
    lines: Ints | None = None  # where each row begins, of a file with a record in each line
    members: Sequence[str] = ()  # of an archive, the member that each row is in, as shown to people

    @cached_property
    def table(self) -> pa.Table:
        """The rows as columns: of ITEM_SCHEMA or PREDICTION_SCHEMA."""
        return table_of(self.rows, self.format.model)

    @cached_property
    def origin(self) -> dict[str, object]:
        """Return what the file holds besides its rows, for the format's writer."""
        return self.source() if callable(self.source) else self.source

    @property
    def home(self) -> str:
        """The name of the format that the rows come from: of the file, or of that which a table was made of."""
        return self.format.name if callable(self.source) else str(self.source.get("format", self.format.name))

    def path_of(self, row: int | None) -> str:
        """See :meth:`Reading.path_of`."""
        return self.members[row] if self.members and row is not None else self.path

    def place(self, row: int, field: str | None, number: int | None = None) -> Place:
        """See :meth:`Reading.place`."""
        return self.locate(row, field, number)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ItemFormat(Format):
    """One format of questions or predictions; ``carries`` has ``extra`` where it keeps further keys."""

    holds: Literal["items", "predictions"]
    needs: tuple[str, ...] = ("id",)
    suffix: str = ".jsonl"
    answers: Answers | None = None  # the form of its right answers; None where it may be any
    letters: bool = False  # of texts, whether a letter that is none of them is read as the option it stands for
    graded: str = ""  # what its scorer does with the right answer of several options, as a sentence
    counts: tuple[int, ...] = ()  # how many options a question may have; empty for any number
    #: fields that it holds but whoever reads it takes no notice of, with the reason: a loss, though they are there
    ignored: Mapping[str, str] = dataclasses.field(default_factory=dict)
    sounds: tuple[str, ...] = ()  # suffixes of the recordings that it takes; of any kind if empty
    #: makes options of the answers that a question holds besides the right one, None of those of too few
    choices: Callable[[Item], list[str] | None] | None = None
    recording: tuple[str, ...] = ()  # further keys of a record that, with the audio, say which recording it is about

    @property
    def model(self) -> type[Item | Prediction]:
        """The model of its rows."""
        return Item if self.holds == "items" else Prediction

    @property
    def schema(self) -> pa.Schema:
        """The columns of its tables."""
        return ITEM_SCHEMA if self.holds == "items" else PREDICTION_SCHEMA

    @abstractmethod
    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """Return the rows of a file; what is wrong goes to *sink*. None where nothing can be read."""

    @abstractmethod
    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:
        """Return a file with *rows*; with the *origin* of a reading of this format, as that was written."""

    def origin_of(self, reading: ItemReading) -> dict[str, object] | None:
        """Return the origin that the writer wants of *reading*."""
        if reading.format.name == self.name:
            return reading.origin
        origin = reading.origin.get("origin") if reading.home == self.name else None
        return origin if isinstance(origin, dict) else None

    def doubtful(self, table: pa.Table) -> Ints:
        """Return the numbers of rows that may come back otherwise than they are; all others surely do as they are."""
        return np.arange(len(table))

    def meant(self, answer: str, options: Sequence[str]) -> set[int]:
        """Return the numbers of the *options* that the right *answer* of a question in this format may mean."""
        texts = {index for index, option in enumerate(options) if option == answer and self.answers != "letter"}
        place = option_place(answer.strip(), len(options))
        if place is None or (self.answers == "text" and (texts or not self.letters)):
            return texts
        return texts | {place}

    def template(self, items: Sequence[Item]) -> list[Prediction]:
        """Return empty predictions for *items*; raise UsageError if these cannot be answered in this format."""
        copied = ("id", "audio", "task", "prompt")
        rows = (item.model_dump() | {"prompt": item.question or None} for item in items)
        return [
            Prediction.model_validate({name: row[name] for name in copied if name in self.carries} | {"prediction": ""})
            for row in rows
        ]
