"""Right answers as the target of a conversion writes them: the letter of an option, or its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

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
    """The right answers of a file, as *target* writes them."""

    def __init__(self, reading: ItemReading, target: ItemFormat) -> None:
        self.home = formats.named(reading.home, ItemFormat) or reading.format
        self.source, self.target = reading.format.name, target
        # a table keeps the answers of the format that it is of
        same = isinstance(target, ItemParquet) or target.name in (reading.format.name, self.home.name)
        self.other = target.holds == "items" and not same

    def written(self, table: pa.Table) -> tuple[pa.Table, list[str]]:
        """Return *table* with answers as the target writes them, and a note; UsageError if one cannot be written."""
        if not self.other:
            return table, []
        ids, texts = table.column("id").to_pylist(), table.column("answer").to_pylist()
        changed, faults = 0, dict[str, list[str]]()
        self._check_options([(ids[row], size) for row, size in self.misfits(table)], len(table))
        for row, answer, fault in self.answers(table):
            if fault is not None:
                faults.setdefault(fault, []).append(ids[row])
            else:
                changed += texts[row] != answer
                texts[row] = answer
        if faults:
            parts = "; ".join(
                f"{plural(len(ids), 'answer')} {'is' if len(ids) == 1 else 'are'} {fault} ({listed(ids, FEW)})"
                for fault, ids in faults.items()
            )
            raise UsageError(
                f"{self.target.name} cannot be made from {self.source}: it writes the right answer as "
                f"{ANSWERS[self.target.answers or 'text']}, but {parts}. Correct these questions, or leave them out "
                "with --drop-unfit"
            )
        place = table.schema.names.index("answer")
        kind = "letters" if self.target.answers == "letter" else "texts"
        notes = [f"{plural(changed, 'answer')} written as option {kind}"] if changed else []
        return table.set_column(place, table.schema.field(place), pa.array(texts, pa.string())), notes

    def _check_options(self, misfits: Sequence[tuple[str, int]], count: int) -> None:
        if misfits:
            wanted = " or ".join(map(str, self.target.counts))
            sizes = sorted(Counter(size for _, size in misfits).items())
            shown = ", ".join(f"{number:,} with {size}" for size, number in sizes)
            names = listed([f"{clipped(id, 40)} with {size}" for id, size in misfits], FEW)
            raise UsageError(
                f"{self.target.name} takes questions with {wanted} options; {len(misfits):,} of {count:,} have another "
                f"number ({shown}): {names}. Give them {wanted} options, or leave them out with --drop-unfit"
            )

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
            meant = self.home.meant(answer, texts)
            if len(meant) == 1:
                (index,) = meant
                alike = [place for place, text in enumerate(texts) if text == texts[index]]
                if self.target.answers == "letter":
                    yield row, option_letter(index), None
                elif len(alike) == 1 or answer == texts[index] or (self.target.letters and answer in texts):
                    yield row, texts[index], None
                elif not self.target.letters:  # the way back would not be clear
                    yield row, answer, f"the text of options {' and '.join(option_letter(place) for place in alike)}"
            elif choice and not (self.target.answers == "text" and answer in texts and self.home.answers == "text"):
                letters = " or ".join(option_letter(index) for index in sorted(meant))
                yield row, answer, f"option {letters}" if meant else "none of the options"


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
