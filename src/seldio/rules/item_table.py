"""Questions or predictions by columns, as their rules look at them: a part of a file, and the sum of its parts."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seldio.findings import Finding, Rule
from seldio.formats.base import Ints
from seldio.formats.items import ItemReading
from seldio.rules.base import Bools

#: Formats of questions whose files also carry a model's outputs, and the key of the output.
OUTPUTS = {"mmau": "model_output", "mmar": "answer_prediction"}
#: The columns that rules about all rows of a file look at.
WHOLE = ("id", "audio", "task", "prompt")
#: A place in a message.
_PLACE = re.compile(r"\bline ([\d,]+), column\b")


class Paths(NamedTuple):
    """The recordings that rows name: the different paths, and of each mention its path, row and place in that row."""

    names: list[str]
    name: Ints
    row: Ints
    place: Ints


class ItemTable:
    """The columns of a reading, and what several rules ask of them, computed once."""

    def __init__(self, reading: ItemReading) -> None:
        self.reading, self.home, self.format, self.path = reading, reading.home, reading.format.name, reading.path
        self._take(reading.table)

    def _take(self, table: pa.Table) -> None:
        self.table = table
        #: whether the rows are questions; else they are predictions
        self.asks = "question" in table.column_names or "prompt" not in table.column_names
        self._values: dict[str, Any] = {}

    def finding(
        self, rule: Rule, row: int | None, field: str | None, message: str, hint: str | None = None,
        number: int | None = None,
    ) -> Finding:  # fmt: skip
        """A finding of *rule* about a row, with its true place; with None about the file."""
        return self.reading.finding(rule, row, field, message, hint, number)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, field: str) -> pa.Array:
        """A column; ``answer_meta.KEY`` is a key of the meta."""
        name, _, key = field.partition(".")
        column = self.table[name].combine_chunks()
        return pc.struct_field(column, key) if key else column

    def values(self, field: str) -> list[Any]:
        """A column as Python values."""
        if field not in self._values:
            self._values[field] = self.column(field).to_pylist()
        return self._values[field]  # type: ignore[no-any-return]

    def numbers(self, field: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """A column of numbers; NaN where one is not known."""
        return np.asarray(self.column(field).cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)

    def extra(self, row: int) -> dict[str, Any]:
        """The further keys of a row."""
        text = self.values("extra")[row]
        return json.loads(text) if text else {}

    def shared(self, make: Callable[[ItemTable], Any]) -> Any:
        """What *make* makes of the table, made once for all rules."""
        if make.__name__ not in self._values:
            self._values[make.__name__] = make(self)
        return self._values[make.__name__]

    def known(self, field: str) -> Bools:
        """The rows that have a value of *field*."""
        return np.asarray(self.column(field).is_valid().to_numpy(zero_copy_only=False))

    def blank(self, field: str) -> list[int]:
        """The rows without a text in *field* that is more than white space."""
        return rows_where(pc.equal(pc.utf8_trim_whitespace(pc.fill_null(self.column(field), "")), ""))

    @cached_property
    def spans(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Starts and ends of ``time_span``; NaN where there is none."""
        spans = self.column("answer_meta.time_span")
        ends = (pc.list_element(spans, place) for place in (0, 1))
        start, end = (np.asarray(each.to_numpy(zero_copy_only=False), np.float64) for each in ends)
        return start, end

    @cached_property
    def paths(self) -> Paths:
        """The recordings that rows name, in order."""
        lists = self.column("audio")
        found = pc.list_flatten(lists).dictionary_encode()
        row = pc.list_parent_indices(lists).to_numpy()
        first = np.searchsorted(row, row)
        return Paths(found.dictionary.to_pylist(), found.indices.to_numpy(), row, np.arange(len(row)) - first)

    def repeated(self, *fields: str) -> list[tuple[int, int]]:
        """The rows whose *fields* stand before, each with the first such row; a row without the first field is none."""
        key = np.zeros(len(self), np.int64)
        for field in fields:
            found = self.column(field).dictionary_encode("encode")
            key = key * (len(found.dictionary) + 1) + found.indices.to_numpy()
        key[~self.known(fields[0])] = -1
        _, firsts, inverse = np.unique(key, return_index=True, return_inverse=True)
        first = firsts[inverse]
        rows = rows_where((first != np.arange(len(self))) & (key >= 0))
        return list(zip(rows, first[rows].tolist(), strict=True))

    def line(self, row: int) -> int:
        """The line in which the id of a row stands."""
        return self.reading.place(row, "id").line


class ItemPart(NamedTuple):
    """What rules about a whole file need of a part of it, whose rows come from the format *home*.

    The table has its columns ``WHOLE``, and the further keys where these may hold outputs; *lines* says how many the
    part has, where it is a run of them.
    """

    home: str
    format: str
    path: str
    table: pa.Table
    lines: int = 0

    @classmethod
    def of(cls, table: ItemTable, lines: int = 0) -> ItemPart:
        """What is kept of a part."""
        names = (*WHOLE, "extra") if table.home in OUTPUTS else WHOLE
        kept = table.table.select([name for name in names if name in table.table.column_names])
        return cls(table.home, table.format, table.path, kept, lines)


class ItemFile(ItemTable):
    """The sum of the parts of a file: their columns ``WHOLE``, one after another.

    Args:
        parts: in their order, at least one.
        reading: a part, read (again), for the places of findings.
    """

    def __init__(self, parts: Sequence[ItemPart], reading: Callable[[int], ItemReading]) -> None:
        self.home, self.format, self.path = parts[0].home, parts[0].format, parts[0].path
        self.parts, self._reading = parts, reading
        self._rows = np.cumsum([0, *(len(part.table) for part in parts)])
        self._lines = np.cumsum([0, *(part.lines for part in parts)])
        self._take(pa.concat_tables([part.table for part in parts]))

    def _at(self, row: int) -> tuple[ItemReading, int, int]:
        """The part of a row, the number of the row in it, and how many lines stand before it."""
        part = int(np.searchsorted(self._rows, row, side="right")) - 1
        return self._reading(part), row - int(self._rows[part]), int(self._lines[part])

    def finding(
        self, rule: Rule, row: int | None, field: str | None, message: str, hint: str | None = None,
        number: int | None = None,
    ) -> Finding:  # fmt: skip
        """A finding of *rule* about a row, with its true place; with None about the file."""
        if row is None:
            return rule.at(self.path, message, hint)
        reading, row, lines = self._at(row)
        return moved(reading.finding(rule, row, field, message, hint, number), lines)

    def line(self, row: int) -> int:
        """The line in which the id of a row stands."""
        reading, row, lines = self._at(row)
        return reading.place(row, "id").line + lines


def moved(finding: Finding, lines: int) -> Finding:
    """A finding in a run of lines as one in the file, *lines* of which stand before it."""
    if finding.line is None or not lines:
        return finding
    message = _PLACE.sub(lambda found: f"line {int(found[1].replace(',', '')) + lines:,}, column", finding.message)
    ranges = tuple((first + lines, last + lines) for first, last in finding.ranges)
    return dataclasses.replace(finding, line=finding.line + lines, message=message, ranges=ranges)


def rows_where(mask: Bools | pa.BooleanArray) -> list[int]:
    """The numbers of the rows that a mask has; those for which it is null are not among them."""
    if isinstance(mask, pa.Array):
        mask = pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
    return np.flatnonzero(mask).tolist()
