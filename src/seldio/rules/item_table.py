"""Questions or predictions by columns, as their rules see them: a part of a file, and the sum of its parts."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seldio import formats
from seldio.benchmarks import FieldValues, find
from seldio.findings import RECORDS_SINGLY, Finding, Rule
from seldio.formats.base import FirstRow, Ints
from seldio.formats.items import ItemReading
from seldio.formats.mera import dig
from seldio.rules.base import Bools
from seldio.schema.arrays import pc
from seldio.text import clipped

#: Formats of questions whose files also carry a model's outputs, and the key of the output.
OUTPUTS = {"mmau": "model_output", "mmar": "answer_prediction"}
#: The columns that rules about all rows of a file look at.
WHOLE = ("id", "audio", "task", "prompt")
#: What is worked out of the other columns for them: whether a question has an answer, and a number for each question
#: about a recording; and the line in which a row begins.
ANSWERED, ASKED, LINE = "answered", "asked", "line"
#: What the names of columns begin with that hold the fields of a benchmark, see :meth:`ItemTable.field`.
FIELD = "field "
#: A place in a message.
_PLACE = re.compile(r"\bline ([\d,]+), column\b")


class Paths(NamedTuple):
    """The recordings that rows refer to: the distinct paths, and each mention with its path, row and place there."""

    names: list[str]
    name: Ints
    row: Ints
    place: Ints


class ItemTable:
    """The columns of a file, or of a part of it, and values that several rules need, computed once.

    *home* is the format that the rows come from; *reading* is None where no findings are created.
    """

    def __init__(
        self, table: pa.Table, home: str, format: str, path: str, reading: ItemReading | None = None
    ) -> None:  # fmt: skip
        self.table, self.home, self.format, self.path, self.reading = table, home, format, path, reading
        #: whether the rows are questions; else they are predictions
        self.asks = "question" in table.column_names or "prompt" not in table.column_names
        self._values: dict[str, Any] = {}
        self._fields: dict[str, pa.Array] = {}

    @classmethod
    def of(cls, reading: ItemReading) -> ItemTable:
        """All columns of a reading."""
        return cls(reading.table, reading.home, reading.format.name, reading.path, reading)

    def slim(self) -> ItemTable:
        """The columns that rules about the whole file need: ``WHOLE``, and further keys that may hold outputs."""
        names = (*WHOLE, "extra") if self.home in OUTPUTS else WHOLE
        kept = self.table.select([name for name in names if name in self.table.column_names])
        lines = None if self.reading is None else self.reading.lines
        kept = kept.append_column(LINE, pa.nulls(len(self), pa.int64()) if lines is None else pa.array(lines))
        if self.asks:
            answered = pc.invert(pc.and_(self.blank("answer"), self.blank("canonical_answer")))
            kept = kept.append_column(ANSWERED, answered).append_column(ASKED, self._asked())
            for one in getattr(find(self.home), "fields", ()):
                kept = kept.append_column(FIELD + one.name, self.field(one))
        return ItemTable(kept, self.home, self.format, self.path)

    def _asked(self) -> pa.Array:
        """Return a number for each question: of its text and options, the recordings in their order, and the times."""
        paths, factor = self.paths, np.uint64(0x9E3779B97F4A7C15)
        found = pc.fill_null(self.column("question"), "").dictionary_encode()
        numbers = _hashed(found.dictionary.to_pylist())[found.indices.to_numpy()]
        np.add.at(numbers, paths.row, (_hashed(paths.names)[paths.name] + paths.place.astype(np.uint64)) * factor)
        options = self.column("options")
        texts = pc.list_flatten(options).dictionary_encode()
        hashes = _hashed(texts.dictionary.to_pylist())[texts.indices.to_numpy()]
        np.add.at(numbers, pc.list_parent_indices(options).to_numpy(), hashes)  # in any order
        for name in ("start", "end"):
            numbers = numbers * factor + np.nan_to_num(self.numbers(name), nan=-1.0).view(np.uint64)
        for key in sorted({key for format in formats.ITEM_FORMATS for key in format.recording}):
            if pc.any(pc.match_substring(self.column("extra"), f'"{key}"')).as_py():
                numbers = numbers * factor + _hashed([str(self.extra(row).get(key)) for row in range(len(self))])
        heard = np.zeros(len(self), bool)
        heard[paths.row] = True
        return pa.array(numbers, mask=~heard)

    def field(self, one: FieldValues) -> pa.Array:
        """What each record has in a field of its benchmark, as text; null where it has none, or may have any."""
        if one.name not in self._fields:
            there = FIELD + one.name in self.table.column_names
            self._fields[one.name] = self.column(FIELD + one.name) if there else self._field(one)
        return self._fields[one.name]

    def strange(self, one: FieldValues, values: pa.Array) -> pa.BooleanArray:
        """Which of *values* a field of a benchmark does not hold."""
        if one.values:
            return pc.invert(pc.is_in(values, value_set=pa.array(one.values)))
        return pc.match_substring_regex(values, one.wrong) if one.wrong else pa.repeat(False, len(values))

    def _field(self, one: FieldValues) -> pa.Array:
        key, known = f'"{one.keys[-1]}"', pa.array(one.values)
        if one.column:
            found = self.column(one.column)
            found = pc.binary_join(found, ", ") if pa.types.is_list(found.type) else found
            if not one.unless:
                return found
        texts = self.column("extra")
        if one.column:
            odd = pc.and_(found.is_valid(), self.strange(one, found))
        else:
            found = pc.struct_field(pc.extract_regex(texts, rf'{key}: "(?P<value>[^"\\]*)"'), "value")
            usual = pc.and_(pc.equal(pc.count_substring(texts, key), 1), pc.is_in(found, value_set=known))
            odd = pc.and_not(pc.match_substring(texts, key), usual)
        for keys in one.unless:
            if keys in self.table.column_names:
                other = self.column(keys).is_valid()
                found, odd = pc.if_else(other, pa.scalar(None, pa.string()), found), pc.and_not(odd, other)
            else:
                named = pc.match_substring(texts, f'"{keys.split(".")[-1]}"')
                odd = pc.or_(odd, pc.fill_null(named, False))
        if not (rows := rows_where(odd)):  # nearly always
            return found
        values = found.to_pylist()
        for row in rows:
            extra = self.extra(row)
            value = values[row] if one.column else dig(extra, *one.keys)
            other = any(dig(extra, *keys.split(".")) is not None for keys in one.unless)
            values[row] = None if other else value if isinstance(value, str | None) else json.dumps(value)
        return pa.array(values, pa.string())

    def _at(self, row: int) -> tuple[ItemReading, int, int]:
        """The reading of a row, the number of the row in it, and how many lines of the file precede it."""
        assert self.reading is not None
        return self.reading, row, 0

    def finding(
        self, rule: Rule, row: int | None, field: str | None, message: str, hint: str | None = None,
        number: int | None = None,
    ) -> Finding:  # fmt: skip
        """A finding of *rule* at *field* of a row, with its true place; about the file if *row* is None."""
        if row is None:
            return rule.at(self.path, message, hint)
        reading, row, lines = self._at(row)
        return moved(reading.finding(rule, row, field, message, hint, number), lines)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, field: str) -> pa.Array:
        """A column; ``answer_meta.KEY`` is a key of the meta."""
        name, *keys = field.split(".", 1)
        column = self.table[name].combine_chunks()
        return pc.struct_field(column, keys) if keys else column

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
        """The result of *make* for the table, computed once for all rules."""
        if make.__name__ not in self._values:
            self._values[make.__name__] = make(self)
        return self._values[make.__name__]

    def known(self, field: str) -> Bools:
        """The rows that have a value of *field*."""
        return np.asarray(self.column(field).is_valid().to_numpy(zero_copy_only=False))

    def blank(self, field: str) -> pa.BooleanArray:
        """The rows whose text in *field* is empty or whitespace."""
        return pc.equal(pc.utf8_trim_whitespace(pc.fill_null(self.column(field), "")), "")

    def where(self, field: str, mask: Bools | pa.BooleanArray | None) -> list[int]:  # noqa: ARG002
        """The rows that a mask selects; none without a mask."""
        return [] if mask is None else rows_where(mask)

    def cell(self, row: int, name: str) -> str:
        """A text of *row*, short enough for a sentence."""
        return clipped(self.values(name)[row] or "this question")

    @cached_property
    def spans(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Starts and ends of ``time_span``; NaN where there is none."""
        spans = self.column("answer_meta.time_span")
        ends = (pc.list_element(spans, place) for place in (0, 1))
        start, end = (np.asarray(each.to_numpy(zero_copy_only=False), np.float64) for each in ends)
        return start, end

    @cached_property
    def paths(self) -> Paths:
        """The recordings that rows refer to, in order."""
        lists = self.column("audio")
        found = pc.list_flatten(lists).dictionary_encode()
        row = pc.list_parent_indices(lists).to_numpy()
        first = np.searchsorted(row, row)
        return Paths(found.dictionary.to_pylist(), found.indices.to_numpy(), row, np.arange(len(row)) - first)

    def line(self, row: int, field: str | None = "id") -> int:
        """The line in which a field of a row stands, or the row begins."""
        reading, row, lines = self._at(row)
        return reading.place(row, field).line + lines


class ItemFile(ItemTable):
    """The sum of the parts of a file: what each keeps (:meth:`ItemTable.slim`) and how many lines it has.

    *source* reads a part (again), for the places of findings.
    """

    def __init__(self, parts: Sequence[tuple[ItemTable, int]], source: Callable[[int], ItemReading]) -> None:
        first, _ = parts[0]
        super().__init__(pa.concat_tables([part.table for part, _ in parts]), first.home, first.format, first.path)
        self._source = source
        #: the number of the first row of each part, and that of all rows
        self.starts = np.cumsum([0, *(len(part) for part, _ in parts)])
        self._lines = np.cumsum([0, *(lines for _, lines in parts)])

    def _at(self, row: int) -> tuple[ItemReading, int, int]:
        part = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self._source(part), row - int(self.starts[part]), int(self._lines[part])

    def finding(
        self, rule: Rule, row: int | None, field: str | None, message: str, hint: str | None = None,
        number: int | None = None,
    ) -> Finding:  # fmt: skip
        """See :meth:`ItemTable.finding`; it counts for all rows that this one stands for."""
        found = super().finding(rule, row, field, message, hint, number)
        if not isinstance(row, FirstRow):
            return found
        lines = self.column(LINE).take(pa.array(row.alike))
        if lines.null_count:
            return found.times(len(row.alike), (self.line(each, None) for each in row.alike.tolist()))
        before = self._lines[np.searchsorted(self.starts, row.alike, side="right") - 1]
        return found.times(len(row.alike), lines.to_numpy() + before)

    def repeated(self, *fields: str, unless: str | None = None) -> list[tuple[int, int]]:
        """The rows whose *fields* appear before, each with the first such row; none without the first field.

        More than :data:`~seldio.findings.RECORDS_SINGLY` of them are one, see :class:`~seldio.formats.base.FirstRow`.
        Rows whose field *unless* is that of the first row do not count.
        """
        key = np.zeros(len(self), np.int64)
        for field in fields:
            key = key * (len(self) + 1) + self._codes(field)
        key[~self.known(fields[0])] = -1
        _, firsts, inverse = np.unique(key, return_index=True, return_inverse=True)
        first = firsts[inverse]
        again = (first != np.arange(len(self))) & (key >= 0)
        if unless is not None:
            codes = self._codes(unless)
            again &= codes != codes[first]
        rows = np.flatnonzero(again)
        single = rows.tolist() if len(rows) <= RECORDS_SINGLY else [FirstRow.of(rows)]
        return [(row, int(first[row])) for row in single]

    def _codes(self, field: str) -> Ints:
        return self.column(field).dictionary_encode("encode").indices.to_numpy()  # type: ignore[no-any-return]


def _hashed(texts: Sequence[str | None]) -> npt.NDArray[np.uint64]:
    """A number for each text, the same in every process."""
    encoded = ((text or "").encode("utf-8", "surrogatepass") for text in texts)
    return np.frombuffer(bytearray().join(blake2b(one, digest_size=8).digest() for one in encoded), np.uint64)


def moved(finding: Finding, lines: int) -> Finding:
    """A finding in a run of lines as one in the file, of which *lines* precede it."""
    if finding.line is None or not lines:
        return finding
    message = _PLACE.sub(lambda found: f"line {int(found[1].replace(',', '')) + lines:,}, column", finding.message)
    ranges = tuple((first + lines, last + lines) for first, last in finding.ranges)
    return dataclasses.replace(finding, line=finding.line + lines, message=message, ranges=ranges)


def rows_where(mask: Bools | pa.BooleanArray) -> list[int]:
    """The numbers of the rows that a mask selects; null does not select."""
    if isinstance(mask, pa.Array):
        mask = pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
    return np.flatnonzero(mask).tolist()
