"""The questions or predictions of a file by columns, as their rules see them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa

from seldio import formats
from seldio.benchmarks import FieldValues, find
from seldio.findings import RECORDS_SINGLY, Finding, Rule, Severity
from seldio.formats.base import Ints
from seldio.formats.items import ItemReading
from seldio.formats.mera import dig
from seldio.rules import Check, findings
from seldio.rules.base import Bools
from seldio.rules.collection import grouped
from seldio.schema.arrays import pc
from seldio.text import clipped

#: Formats of questions whose files also carry a model's outputs, and the key of the output.
OUTPUTS = {"mmau": "model_output", "mmar": "answer_prediction"}
Verdict = TypeVar("Verdict")


class Paths(NamedTuple):
    """The recordings that rows refer to: the distinct paths, and each mention with its path, row and place there."""

    names: list[str]
    name: Ints
    row: Ints
    place: Ints
    unsafe: list[str | None]  # of each path why it must not be opened; None where it may be


class Groups(NamedTuple):
    """Rows that have the same values: the first row of each group, in order, and the number of each row's group."""

    first: Ints
    number: Ints


class Breach(NamedTuple):
    """A breach of a rule, not yet located in the file; the message may be made of the row."""

    rule: Rule
    row: Any  # its number, or an array of several; None for the file
    field: str | None
    message: str | Callable[[int], str]
    hint: str | None = None
    number: int | None = None
    severity: Severity | None = None
    fixable: bool = True


class ItemTable:
    """The columns of a file, and values that several rules need, computed once.

    Args:
        reading: the rows.
        keep: whether what they were read from is kept; else :attr:`read` has to be set before there are findings.
    """

    def __init__(self, reading: ItemReading, keep: bool = True) -> None:
        #: *home* is the format that the rows come from
        self.table, self.home, self.format, self.path = reading.table, reading.home, reading.format.name, reading.path
        #: returns the reading (again), for places
        self.read: Callable[[], ItemReading] | None = (lambda: reading) if keep else None
        #: the line in which each row begins, of a file with a record in each line
        self._begins = reading.lines
        #: whether the rows are questions; else they are predictions
        self.asks = "question" in self.table.column_names or "prompt" not in self.table.column_names
        self._values: dict[str, Any] = {}
        self._fields: dict[str, pa.Array] = {}
        self._distinct: dict[tuple[str, ...], tuple[list[tuple[Any, ...]], Groups]] = {}

    # --- findings --------------------------------------------------------------------------------------

    def report(self, checks: Iterable[Check], subject: Any = None, skip: Container[str] = ()) -> list[Finding]:
        """Return what rules find in this table, or in *subject*, which is what its rows name.

        More than :data:`~seldio.findings.RECORDS_SINGLY` of a rule are one, at the first row.
        """
        breaches: list[tuple[Breach, Ints | None]] = []
        faults = findings(checks, self if subject is None else subject, skip=skip, at=Breach)
        for same in grouped(faults, lambda fault: (fault.rule.code, fault.severity, fault.row is None)).values():
            if same[0].row is None:
                breaches += [(fault, None) for fault in same]
                continue
            rows = np.concatenate([np.atleast_1d(fault.row) for fault in same])
            owners = np.repeat(np.arange(len(same)), [np.size(fault.row) for fault in same])
            if len(rows) > RECORDS_SINGLY:
                first_fault = same[int(owners[rows.argmin()])]
                breaches.append((first_fault._replace(row=int(rows.min())), rows))
            else:
                pairs = zip(owners.tolist(), rows.tolist(), strict=True)
                breaches += [(same[owner]._replace(row=row), None) for owner, row in pairs]
        breaches.sort(key=lambda pair: pair[0].row or 0)  # each part is read again once
        reported = []
        for (rule, row, field, message, hint, number, severity, fixable), alike in breaches:
            text = message if isinstance(message, str) else message(row)
            if row is None:
                finding = rule.at(self.path, text, hint)
            else:
                finding = self.reading.finding(rule, row, field, text, hint, number, severity, fixable)
            if alike is not None:
                lines = (self.line(row, None) for row in alike.tolist())
                finding = finding.times(len(alike), lines if self._begins is None else self._begins[alike])
            reported.append(finding)
        return reported

    @property
    def reading(self) -> ItemReading:
        """Return the reading of the rows, for places."""
        assert self.read is not None
        return self.read()

    def line(self, row: int, field: str | None = "id") -> int:
        """Return the line in which a field of a row stands, or the row begins."""
        if self._begins is not None:
            return int(self._begins[row])
        return self.reading.place(row, field).line

    # --- columns ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, field: str) -> pa.Array:
        """Return a column; ``answer_meta.KEY`` is a key of the meta."""
        name, *keys = field.split(".", 1)
        column = self.table[name].combine_chunks()  # not kept, as it is as large as that of the table
        return pc.struct_field(column, keys) if keys else column

    def values(self, field: str) -> list[Any]:
        """Return a column as Python values."""
        if field not in self._values:
            self._values[field] = self.column(field).to_pylist()
        return self._values[field]  # type: ignore[no-any-return]

    def extra(self, row: int) -> dict[str, Any]:
        """Return the further keys of a row."""
        text = self.table["extra"][row].as_py()
        return json.loads(text) if text else {}

    def further(self, *keys: str) -> list[Any]:
        """Return the value of each row under further keys; None where it has none."""
        if keys not in self._further:
            self._further[keys] = [dig(self.extra(row), *keys) for row in range(len(self))]
        return self._further[keys]

    @cached_property
    def _further(self) -> dict[tuple[str, ...], list[Any]]:
        """By keys, what several rules look at; all of them at once, as reading takes time."""
        fields = getattr(find(self.home), "fields", ())
        recordings = {(key,) for format in formats.ITEM_FORMATS for key in format.recording}
        wanted = {("audio_id",), *recordings, *(field.keys for field in fields if not field.column)}
        wanted |= {tuple(keys.split(".")) for field in fields for keys in field.unless}
        further: dict[tuple[str, ...], list[Any]] = {keys: [] for keys in wanted}
        same: dict[Any, Any] = {}
        for text in chain.from_iterable(chunk.to_pylist() for chunk in self.table["extra"].chunks):
            record = json.loads(text) if text else {}
            for keys, values in further.items():
                value = dig(record, *keys)
                values.append(same.setdefault(value, value) if isinstance(value, str) else value)
        return further

    def field(self, field: FieldValues) -> pa.Array:
        """Return a benchmark's field of each record as text; null where it has none, or may have any."""
        if field.name in self._fields:
            return self._fields[field.name]
        if field.column:
            column = self.column(field.column)
            column = pc.binary_join(column, ", ") if pa.types.is_list(column.type) else column
        else:
            values = self.further(*field.keys)
            texts = (value if isinstance(value, str | None) else json.dumps(value) for value in values)
            column = pa.array(texts, pa.string())
        for keys in field.unless:
            if keys in self.table.column_names:
                other = self.known(keys)
            else:
                other = np.array([value is not None for value in self.further(*keys.split("."))], bool)
            column = pc.if_else(pa.array(other, pa.bool_()), None, column)
        self._fields[field.name] = column
        return column

    def distinct(self, *fields: str | FieldValues) -> tuple[list[tuple[Any, ...]], Groups]:
        """Return the distinct values of *fields* together, and which rows have them."""
        names = tuple(field if isinstance(field, str) else f"field {field.name}" for field in fields)
        if names not in self._distinct:
            columns = [self.table[field] if isinstance(field, str) else self.field(field) for field in fields]
            groups = _groups(columns, len(self))
            chosen = np.zeros(len(self), bool)
            chosen[groups.first] = True
            values = [column.filter(pa.array(chosen)).to_pylist() for column in columns]
            self._distinct[names] = list(zip(*values, strict=True)), groups
        return self._distinct[names]

    def judged(
        self, fields: Sequence[str | FieldValues], judge: Callable[..., Verdict | None]
    ) -> Iterator[tuple[int, Verdict]]:
        """Yield each row in whose *fields* *judge* finds a fault, and the fault; the same values are judged once."""
        values, groups = self.distinct(*fields)
        faults = [judge(*each) for each in values]
        faulty = np.array([fault is not None for fault in faults], bool)
        for row in rows_where(faulty[groups.number]):
            yield row, cast("Verdict", faults[groups.number[row]])

    def repeated(self, columns: Sequence[Any], among: Bools, unless: str | None = None) -> tuple[Ints, Ints]:
        """Return the rows, *among* some, whose values in *columns* appear before, and by row the first such row.

        Rows whose value in the column *unless* is that of the first row do not count.
        """
        groups = _groups([among, *columns], len(self))
        first = groups.first[groups.number]
        again = among & (first != np.arange(len(self)))
        if unless is not None:
            codes = _codes(self.table[unless])
            again &= codes != codes[first]
        return np.flatnonzero(again), first

    def known(self, field: str) -> Bools:
        """Return which rows have a value of *field*."""
        return np.asarray(self.column(field).is_valid().to_numpy(zero_copy_only=False))

    def blank(self, field: str) -> pa.BooleanArray:
        """Return in which rows the text of *field* is empty or whitespace."""
        trimmed = (pc.equal(pc.utf8_trim_whitespace(chunk), "") for chunk in self.table[field].chunks)
        return pc.fill_null(pa.concat_arrays([pa.array([], pa.bool_()), *trimmed]), True)

    def cell(self, row: int, name: str) -> str:
        """Return a text of *row*, short enough for a sentence."""
        return clipped(self.value(row, name) or "this question")

    def value(self, row: int, field: str) -> Any:
        """Return the value of a row in a column."""
        return self.table[field][row].as_py()

    @cached_property
    def paths(self) -> Paths:
        """The recordings that rows refer to, in order."""
        lists = self.column("audio")
        mentions = pc.list_flatten(lists).dictionary_encode()
        row = pc.list_parent_indices(lists).to_numpy()
        place = np.arange(len(row)) - np.searchsorted(row, row)
        names = mentions.dictionary.to_pylist()
        return Paths(names, mentions.indices.to_numpy(), row, place, [_unsafe(name) for name in names])


ABSOLUTE = "is absolute"
_PROTOCOL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(:|,,)")
_ROOT = re.compile(r"[/\\]|[A-Za-z]:")


def _unsafe(path: str) -> str | None:
    if path == "-":
        return "means standard input to libsndfile"
    if _PROTOCOL.match(path):
        return "is a URL or a protocol, not a path"
    if _ROOT.match(path):
        return ABSOLUTE
    return "climbs out of its folder" if ".." in path and ".." in re.split(r"[/\\]", path) else None


def _groups(columns: Sequence[Any], rows: int) -> Groups:
    number, first = np.zeros(rows, np.int64), np.zeros(min(rows, 1), np.int64)
    for column in columns:
        codes = column if isinstance(column, np.ndarray) else _codes(column)
        _, first, number = np.unique(number * (rows + 1) + codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return Groups(first[order], np.argsort(order)[number])


def _codes(column: pa.Array | pa.ChunkedArray) -> Ints:
    if pa.types.is_struct(column.type):
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        return _groups([column.is_valid(), *column.flatten()], len(column)).number
    if pa.types.is_list(column.type):
        sizes, texts = pc.list_value_length(column), column.cast(pa.list_(pa.string()))
        return _groups([sizes, pc.binary_join(texts, "\x1f")], len(column)).number
    encoded = column.dictionary_encode("encode")
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    return np.concatenate([np.zeros(0, np.int64), *(chunk.indices.to_numpy() for chunk in chunks)])


def rows_where(mask: Bools | pa.BooleanArray) -> list[int]:
    """Return the numbers of the rows that a mask selects; null does not select."""
    if isinstance(mask, pa.Array):
        mask = pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
    return np.flatnonzero(mask).tolist()
