"""Right answers as the target writes them: the letter of an option, or its text."""

from __future__ import annotations

import string
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seldio import formats
from seldio.errors import UsageError
from seldio.formats.items import Answers, ItemFormat, ItemReading
from seldio.schema.qa import Item
from seldio.text import clipped, listed, plural

_LETTERS = string.ascii_uppercase
#: So many questions are named in an error.
_FEW = 3


class RightAnswers:
    """The right answers of a file, written as *target* writes them, a part of the file after the other."""

    def __init__(self, reading: ItemReading, target: ItemFormat) -> None:
        home = formats.named(reading.home, ItemFormat) or reading.format
        self.source, self.kind, self.target = reading.format.name, home.answers, target
        self.other = target.holds == "items" and target.name not in (reading.format.name, home.name)
        self.rows = self.changed = 0
        self.sizes: Counter[int] = Counter()  # of questions with a number of options that the target does not take
        self.few: list[str] = []  # some of those
        self.wrong: dict[str, list[str]] = {}  # ids, by what is wrong with the answer

    def add(self, table: pa.Table) -> pa.Table:
        """*table* with answers as the target writes them, as far as they are clear."""
        if not self.other:
            return table
        self.rows += len(table)
        if self.target.counts:
            self._count(table)
        options = table.column("options")
        if self.target.answers is None or options.null_count == len(options):
            return table
        answers = table.column("answer").to_pylist()
        for number, (id, texts) in enumerate(zip(table.column("id").to_pylist(), options.to_pylist(), strict=True)):
            answer = answers[number]
            if not texts or answer is None:
                continue
            found = _meant(answer, texts, self.kind)
            if len(found) == 1:
                (index,) = found
                answers[number] = _LETTERS[index] if self.target.answers == "letter" else texts[index]
                self.changed += answers[number] != answer
            elif self.kind != self.target.answers:  # else it is written as it was
                self.wrong.setdefault(_why(found), []).append(id)
        place = table.schema.names.index("answer")
        return table.set_column(place, table.schema.field(place), pa.array(answers, pa.string()))

    def finish(self) -> list[str]:
        """A note where answers changed."""
        if self.sizes:
            count, wanted = self.sizes.total(), " or ".join(map(str, self.target.counts))
            shown = ", ".join(f"{number:,} with {size}" for size, number in sorted(self.sizes.items()))
            names = listed([*self.few, *[""] * (count - len(self.few))], _FEW)
            raise UsageError(
                f"{self.target.name} takes questions with {wanted} options; {count:,} of {self.rows:,} have another "
                f"number ({shown}): {names}. Remove these questions, or give them {wanted} options"
            )
        if self.wrong:
            parts = "; ".join(
                f"{plural(len(ids), 'answer')} {'is' if len(ids) == 1 else 'are'} {why} ({listed(ids, _FEW)})"
                for why, ids in self.wrong.items()
            )
            kind = "a letter" if self.target.answers == "letter" else "the text of an option"
            raise UsageError(
                f"{self.target.name} cannot be made of {self.source}: it writes the right answer as {kind}, but "
                f"{parts}. Correct or remove these questions"
            )
        return (
            [f"{plural(self.changed, 'answer')} written as {self.target.answers}s of options"] if self.changed else []
        )

    def _count(self, table: pa.Table) -> None:
        sizes = pc.fill_null(pc.list_value_length(table.column("options")), 0).to_numpy()
        wrong = np.flatnonzero(~np.isin(sizes, self.target.counts))
        self.sizes.update(sizes[wrong].tolist())
        for row in wrong[: max(_FEW - len(self.few), 0)].tolist():
            self.few.append(f"{clipped(table.column('id')[row].as_py(), 40)} with {sizes[row]}")


def with_choices(reading: ItemReading) -> tuple[pa.Table, int]:
    """A part with options made of the wrong answers that its format holds, and for how many questions without any."""
    table = reading.table
    if type(reading.format).choices is ItemFormat.choices:
        return table, 0
    options = [row.options if isinstance(row, Item) else None for row in reading.rows]
    chosen = [None if given else reading.format.choices(row) for given, row in zip(options, reading.rows, strict=True)]
    place = table.schema.names.index("options")
    column = pa.array([made or given for made, given in zip(chosen, options, strict=True)], table.schema.types[place])
    return table.set_column(place, table.schema.field(place), column), sum(made is not None for made in chosen)


def _meant(answer: str, options: list[str], kind: Answers | None) -> set[int]:
    """The options that an answer may mean; *kind* says how the source writes answers, None where it says nothing."""
    texts = {index for index, option in enumerate(options) if option == answer} if kind != "letter" else set()
    letter = answer.strip().upper()
    if kind == "text" or len(letter) != 1 or letter not in _LETTERS[: len(options)]:
        return texts
    return texts | {_LETTERS.index(letter)}


def _why(found: set[int]) -> str:
    if not found:
        return "none of the options"
    return f"option {' or '.join(_LETTERS[index] for index in sorted(found))}"
