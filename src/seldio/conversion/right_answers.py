"""Right answers as the target of a conversion writes them: the letter of an option, or its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from seldio import formats
from seldio.errors import UsageError
from seldio.formats.item_parquet import ItemParquet
from seldio.formats.items import ANSWERS, ItemFormat, ItemReading, option_letter
from seldio.schema.arrays import pc
from seldio.schema.qa import Item
from seldio.text import clipped, listed, plural

#: So many questions are named in an error.
FEW = 3


class RightAnswers:
    """The right answers of a file, written as *target* writes them, a part of the file after the other."""

    def __init__(self, reading: ItemReading, target: ItemFormat) -> None:
        self.home = formats.named(reading.home, ItemFormat) or reading.format
        self.source, self.target = reading.format.name, target
        # a table keeps the answers of the format that it is of
        same = isinstance(target, ItemParquet) or target.name in (reading.format.name, self.home.name)
        self.other = target.holds == "items" and not same
        self.rows = self.changed = 0
        self.sizes: Counter[int] = Counter()  # of questions with a number of options that the target does not take
        self.few: list[str] = []  # some of those
        self.wrong: dict[str, list[str]] = {}  # ids, by what is wrong with the answer

    def add(self, table: pa.Table) -> pa.Table:
        """*table* with answers as the target writes them, as far as they are clear."""
        if not self.other:
            return table
        self.rows += len(table)
        for row, size in self.misfits(table):
            self.sizes[size] += 1
            if len(self.few) < FEW:
                self.few.append(f"{clipped(table.column('id')[row].as_py(), 40)} with {size}")
        answers = table.column("answer").to_pylist()
        for row, answer, why in self.answers(table):
            if why is not None:
                self.wrong.setdefault(why, []).append(table.column("id")[row].as_py())
            else:
                self.changed += answers[row] != answer
                answers[row] = answer
        place = table.schema.names.index("answer")
        return table.set_column(place, table.schema.field(place), pa.array(answers, pa.string()))

    def misfits(self, table: pa.Table) -> Iterator[tuple[int, int]]:
        """The rows with a number of options that the target does not take, and this number."""
        if self.other and self.target.counts:
            sizes = pc.fill_null(pc.list_value_length(table.column("options")), 0).to_numpy()
            wrong = np.flatnonzero(~np.isin(sizes, self.target.counts))
            yield from zip(wrong.tolist(), sizes[wrong].tolist(), strict=True)

    def answers(self, table: pa.Table) -> Iterator[tuple[int, str, str | None]]:
        """The rows with options and an answer: the answer as the target writes it, or why it cannot be written so."""
        options = table.column("options")
        if not self.other or self.target.answers is None or options.null_count == len(options):
            return
        # what reads letters and texts takes any answer as it is, and validation says what is wrong with it
        choice = self.target.answers in ("letter", "text") and not self.target.letters
        both = zip(table.column("answer").to_pylist(), options.to_pylist(), strict=True)
        for row, (answer, texts) in enumerate(both):
            if not texts or not answer:
                continue
            found = self.home.meant(answer, texts)
            if len(found) == 1:
                (index,) = found
                alike = [place for place, text in enumerate(texts) if text == texts[index]]
                if self.target.answers == "letter":
                    yield row, option_letter(index), None
                elif len(alike) == 1 or answer == texts[index] or (self.target.letters and answer in texts):
                    yield row, texts[index], None
                elif not self.target.letters:  # the way back would not be clear
                    yield row, answer, f"the text of options {' and '.join(option_letter(place) for place in alike)}"
            elif choice and not (self.target.answers == "text" and answer in texts and self.home.answers == "text"):
                letters = " or ".join(option_letter(index) for index in sorted(found))
                yield row, answer, f"option {letters}" if found else "none of the options"

    def finish(self) -> list[str]:
        """A note where answers changed."""
        if self.sizes:
            count, wanted = self.sizes.total(), " or ".join(map(str, self.target.counts))
            shown = ", ".join(f"{number:,} with {size}" for size, number in sorted(self.sizes.items()))
            names = listed([*self.few, *[""] * (count - len(self.few))], FEW)
            raise UsageError(
                f"{self.target.name} takes questions with {wanted} options; {count:,} of {self.rows:,} have another "
                f"number ({shown}): {names}. Give them {wanted} options, or leave them out with --drop-unfit"
            )
        if self.wrong:
            parts = "; ".join(
                f"{plural(len(ids), 'answer')} {'is' if len(ids) == 1 else 'are'} {why} ({listed(ids, FEW)})"
                for why, ids in self.wrong.items()
            )
            raise UsageError(
                f"{self.target.name} cannot be made from {self.source}: it writes the right answer as "
                f"{ANSWERS[self.target.answers or 'text']}, but {parts}. Correct these questions, or leave them out "
                "with --drop-unfit"
            )
        kind = "letters" if self.target.answers == "letter" else "texts"
        return [f"{plural(self.changed, 'answer')} written as option {kind}"] if self.changed else []


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
