"""Records of JSON as columns and back, many at a time: the quick way of ``json_items``.

Reading is a fast grammar with doubts. Records are grouped by their keys, each key of a group is a list of values, and
what holds for all of the list is asked once: the types, the smallest and the largest. A record that is not surely
right is left to the careful reader, which knows why and where. What is asked is taken from the JSON Schema of the
models, so that both say the same.

Writing joins columns of JSON texts, each made at once, to the same text that ``json.dumps`` gives for a record.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pydantic_core import from_json

from seldio.formats.json_text import MAX_DEPTH, dumps
from seldio.schema.arrays import pc
from seldio.schema.flaws import Kind, kinds
from seldio.schema.qa import unpacked

if TYPE_CHECKING:
    from seldio.formats.json_items import JsonItems
    from seldio.formats.json_layout import Layout

_NUMBERS = frozenset({int, float})
_NOTHING = type(None)
#: Into so many groups one with a doubt is cut, until the record in doubt stands alone.
_CUTS = 8


class Doubt(Exception):
    """Some record of a group may be wrong."""


def sure(holds: bool) -> None:
    """Resume where something holds.

    Raises:
        Doubt: it does not.
    """
    if not holds:
        raise Doubt


# --- columns ---------------------------------------------------------------------------------------


def column(kind: Kind, values: list[Any]) -> pa.Array:
    """The column of *values* as JSON has them.

    Raises:
        Doubt: some of them may not be of the *kind*.
    """
    types = set(map(type, values))
    if _NOTHING in types:
        sure(kind.null)
        types.remove(_NOTHING)
    if not types:
        return pa.nulls(len(values), kind.arrow)
    if kind.fields:
        return _objects(kind, values, types)
    if kind.item is not None:
        return _lists(kind, kind.item, values, types)
    if pa.types.is_string(kind.arrow):
        if kind.open and types == {dict}:
            return pa.array([None if value is None else dumps(value) for value in values], kind.arrow)
        sure(not kind.open and types == {str} and not (kind.lengths[0] and "" in values))
        return pa.array(values, kind.arrow)
    sure(types <= _NUMBERS if pa.types.is_floating(kind.arrow) else types == {int})
    try:
        array = pa.array(values, kind.arrow)
    except (pa.ArrowException, OverflowError) as error:
        raise Doubt from error
    least, most = pc.min_max(array).as_py().values()
    sure(kind.bounds[0] <= least and most <= kind.bounds[1] and math.isfinite(least) and math.isfinite(most))
    return array


def _lists(kind: Kind, item: Kind, values: list[Any], types: set[type]) -> pa.Array:
    sure(types == {list})
    lengths = [len(value) if value else 0 for value in values]
    mask = pa.array([value is None for value in values]) if None in values else None
    known = lengths if mask is None else [len(value) for value in values if value is not None]
    sure(kind.lengths[0] <= min(known) and max(known) <= kind.lengths[1])
    flat = list(chain.from_iterable(value for value in values if value))
    return pa.ListArray.from_arrays(_offsets(lengths), column(item, flat), kind.arrow, mask=mask)


def _offsets(lengths: Any) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def _objects(kind: Kind, values: list[Any], types: set[type]) -> pa.Array:
    sure(types == {dict})
    names: set[str] = set(chain.from_iterable(value for value in values if value))
    sure(names <= kind.fields.keys())
    rows: list[Any] = [value or {} for value in values] if None in values else values
    columns = []
    for name, field in kind.fields.items():
        if name not in names:
            columns.append(pa.nulls(len(values), field.arrow))
            sure(field.null)
        else:
            columns.append(column(field, [row.get(name) for row in rows]))
    mask = pa.array([value is None for value in values]) if None in values else None
    return pa.StructArray.from_arrays(columns, fields=[*kind.arrow], mask=mask)


def texts_in(values: Sequence[Any], depth: int = 1) -> int:
    """How many keys and texts there are in *values*.

    Raises:
        Doubt: some are numbers that do not fit, or nest too deep.
    """
    types = set(map(type, values))
    sure(depth < MAX_DEPTH or types.isdisjoint((dict, list)))
    count = 0
    for kind in types:
        some: Sequence[Any] = values if len(types) == 1 else [value for value in values if type(value) is kind]
        if kind is str:
            count += len(some)
        elif kind is dict:
            count += sum(map(len, some)) + texts_in([*chain.from_iterable(map(dict.values, some))], depth + 1)
        elif kind is list:
            count += texts_in([*chain.from_iterable(some)], depth + 1)
        elif kind is int:
            sure(min(some) >= -(2**63) and max(some) < 2**63)
        elif kind is float:
            sure(-math.inf < min(some) and max(some) < math.inf)
    return count


def quotes_in(data: bytes) -> int:
    """How many quotation marks begin or end a text in JSON: two for each, those of repeated keys among them."""
    if b"\\" not in data:
        return data.count(b'"')
    plain = data.replace(b"\\\\", b"")
    return plain.count(b'"') - plain.count(b'\\"')


# --- reading ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Group:
    """Records with the same keys, and the table they make."""

    keys: tuple[str, ...]  # of the records
    numbers: list[int]  # of the records
    table: pa.Table  # their rows
    texts: int  # keys and texts in them
    absent: tuple[str, ...]  # useful keys that they lack
    numbered: bool  # whether their ids are whole numbers


class ColumnReader:
    """Records of one format, as JSON gives them, being read."""

    def __init__(self, format: JsonItems, records: Sequence[Any]) -> None:
        self.format, self.records = format, records
        self.kinds = kinds(format.model)
        self.groups: list[Group] = []
        self.doubtful: list[int] = []

    def read(self, numbers: Iterable[int]) -> None:
        """Read the records of these *numbers*: into groups where they are surely right."""
        shapes: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number in numbers:
            if type(self.records[number]) is dict:
                shapes[(*self.records[number],)].append(number)
            else:
                self.doubtful.append(number)
        left = list(shapes.items())
        while left:
            keys, some = left.pop()
            try:
                left.extend((keys, part) for part in self._group(keys, some))
            except Doubt:
                size = -(-len(some) // _CUTS)
                if len(some) == 1:
                    self.doubtful += some
                else:
                    left.extend((keys, some[start : start + size]) for start in range(0, len(some), size))
        self.doubtful.sort()

    def _group(self, keys: tuple[str, ...], numbers: list[int]) -> list[list[int]]:
        """Read records of the same *keys*; where their values are of several types, the parts with one each."""
        rows = [self.records[number] for number in numbers]
        values = {key: [row[key] for row in rows] for key in keys}
        types = {key: set(map(type, column)) for key, column in values.items()}
        mixed = [key for key in keys if len(types[key]) > 1 and not types[key] <= _NUMBERS]
        if mixed and not self.format.closed:
            return _parted(numbers, zip(*([*map(type, values[key])] for key in mixed), strict=True))
        texts = len(keys) * len(rows) + sum(map(texts_in, values.values()))
        absent = tuple(key for key in self.format.useful if key not in values)
        instead = self.format.instead
        sure(all(key in values or not values.keys().isdisjoint(instead.get(key, ())) for key in self.format.required))
        id = self.format.key_of("id", values)
        numbered = types.get(id) == {int} and (self.format.numbered or self.format.holds == "predictions")
        if numbered:
            values[id] = [*map(str, values[id])]
        if self.format.closed:
            sure({*keys} <= self.format.keys.keys())
            fields = values
            if types.get("audio") == {str}:
                fields = values | {"audio": [[path] for path in values["audio"]]}
        else:
            fields, extra = self._fields(keys, values, types)
            meta = fields.get("answer_meta")
            if meta is not None and types[self.format.key_of("answer_meta", values)] == {dict}:
                known, rests = _known(self.kinds["answer_meta"], meta)
                if any(rests):
                    if not all(rests):
                        return _parted(numbers, map(bool, rests))
                    fields["answer_meta"], extra[self.format.key_of("answer_meta", {})] = known, rests
            if extra:
                fields["extra"] = _extras(extra)
        columns = [self._column(name, fields, len(rows)) for name in self.kinds]
        table = pa.Table.from_arrays(columns, schema=self.format.schema)
        self.groups.append(Group(keys, numbers, table, texts, absent, numbered))
        return []

    def _fields(
        self, keys: tuple[str, ...], values: dict[str, list[Any]], types: Mapping[str, set[type]]
    ) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """The columns of the fields and of the further keys, as :meth:`JsonItems.fields` has them of one record."""
        format = self.format
        fields: dict[str, Any] = {}
        extra: dict[str, list[Any]] = {}
        for key in keys:
            field = format.keys.get(key, "extra")
            if field == "extra" or types[key] == {_NOTHING}:
                extra[key] = values[key]
            if field != "extra":
                fields[field] = values[key]
        for key, others in format.instead.items():
            other = next((name for name in others if name in extra), None) if key not in values else None
            if other is not None:
                fields[format.keys[key]] = extra.pop(other)
        for field in format.besides:
            if field in extra and types[field] <= format.types_besides(field):
                fields[field] = extra.pop(field)
        if types.get(key := format.key_of("audio", values)) == {_NOTHING}:
            del fields["audio"]
        elif types.get(key) == {str}:
            item = self.kinds["audio"].item
            assert item is not None
            paths = column(item, fields["audio"])
            fields["audio"] = pa.ListArray.from_arrays(pa.array(range(len(paths) + 1), pa.int32()), paths)
        if types.get(key := format.key_of("events", values)) == {list} and format.proofs:
            fields["events"] = [[format.proof(event) for event in events] for events in fields["events"]]
        return fields, extra

    def _column(self, name: str, fields: Mapping[str, Any], size: int) -> pa.Array:
        given = fields.get(name)
        if isinstance(given, pa.Array):
            return given
        if given is not None:
            return column(self.kinds[name], given)
        if self.kinds[name].null:
            return pa.nulls(size, self.kinds[name].arrow)
        sure(name != "id")
        return column(self.kinds[name], [[] if name == "audio" else ""] * size)


def _parted(numbers: list[int], signs: Iterable[object]) -> list[list[int]]:
    """*numbers* in groups of the same sign."""
    parts: dict[object, list[int]] = defaultdict(list)
    for number, sign in zip(numbers, signs, strict=True):
        parts[sign].append(number)
    return [*parts.values()]


def _known(kind: Kind, values: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The keys of each object that a column has a place for, and the rest."""
    names = set(chain.from_iterable(values))
    if names <= kind.fields.keys() and not any(None in value.values() for value in values):
        return values, []
    rests = [{k: v for k, v in value.items() if k not in kind.fields or v is None} for value in values]
    known = [{k: v for k, v in value.items() if k not in rest} for value, rest in zip(values, rests, strict=True)]
    return known, rests


def _extras(extra: Mapping[str, list[Any]]) -> pa.Array:
    """The column of further keys: an object of JSON text in each row."""
    members = []
    for key, values in extra.items():
        types = set(map(type, values))
        encode: Callable[[Any], str] = encode_basestring if types == {str} else dumps
        members.append((f"{encode_basestring(key)}: ".replace("%", "%%"), map(encode, values)))
    text = "{" + ", ".join(f"{key}%s" for key, _ in members) + "}"
    return pa.array([text % row for row in zip(*(values for _, values in members), strict=True)], pa.string())


# --- writing ---------------------------------------------------------------------------------------


class ColumnWriter:
    """Rows of a table as the JSON texts of their records, in one format."""

    def __init__(self, format: JsonItems, layout: Layout) -> None:
        self.format, self.layout = format, layout
        self.comma, self.colon = layout.separators
        self.encode: Callable[[str], str] = encode_basestring_ascii if layout.ascii else encode_basestring
        self._object = json.JSONEncoder(ensure_ascii=layout.ascii, separators=layout.separators).encode

    def texts(self, table: pa.Table) -> pa.Array:
        """The text of each record, without its lead.

        Raises:
            InvalidData: JSON cannot hold a value.
        """
        groups = self._groups(table)
        parts = [self._records(table.take(numbers) if numbers is not None else table, extras)
                 for numbers, extras in groups]  # fmt: skip
        texts = pa.concat_arrays(parts) if parts else pa.array([], pa.string())
        if len(groups) > 1:
            order = np.concatenate([numbers for numbers, _ in groups])
            texts = texts.take(pa.array(np.argsort(order)))
        return pc.replace_substring(texts, "/", "\\/") if self.layout.slashes else texts

    def _groups(self, table: pa.Table) -> list[tuple[Any, dict[str, list[Any]]]]:
        """Rows whose further keys are the same: their numbers (None for all), and the values of each key."""
        column = table.column("extra")
        if self.format.closed or column.null_count == len(column):
            return [(None, {})] if len(table) else []
        extras = [{} if text is None else from_json(text) for text in column.to_pylist()]
        numbers: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, extra in enumerate(extras):
            numbers[tuple(extra)].append(number)
        return [
            (some if len(numbers) > 1 else None, {key: [extras[number][key] for number in some] for key in keys})
            for keys, some in numbers.items()
        ]

    def _records(self, table: pa.Table, extra: dict[str, list[Any]]) -> pa.Array:
        """The texts of rows that have the same further keys; see :meth:`JsonItems.record`."""
        format = self.format
        members: dict[str, pa.Array] = {}
        for key, field in format.keys.items():
            more = extra.pop(key, None)
            if field == "extra" and not format.closed:
                if more is not None:
                    members[key] = self._values(more)
                continue
            text = self._field(field, _whole(table.column(field)), more)
            if format.closed and key in format.required:
                text = pc.fill_null(text, "null")
            elif more is not None and None in more:  # null, as it was written
                null = pa.array(["null" if value is None else None for value in more], pa.string())
                text = pc.coalesce(text, null)
            members[key] = text
        for field in format.besides:
            column = _whole(table.column(field))
            if field == "language" and format.language is not None:
                column = pc.if_else(pc.equal(column, format.language), None, column)
            members[field] = self._column(column)
        members |= {key: self._values(values) for key, values in extra.items()}
        order, id = self.layout.order, format.key_of("id", members)
        if order and "audio" not in order and "audio" in members:
            members["audio"] = pc.if_else(pc.equal(members["audio"], "[]"), None, members["audio"])
        if self.layout.numbered and id in members:
            members[id] = pc.replace_substring_regex(members[id], r'^"(-?(?:0|[1-9][0-9]{0,17}))"$', r"\1")
        names = format.named_in(order)
        members = {names.get(key, key): text for key, text in members.items() if key not in names.values()}
        first = {key: members[key] for key in order if key in members}
        return self._joined({**first, **members}, len(table))

    def _field(self, field: str, column: pa.Array, more: list[Any] | None) -> pa.Array:
        """The texts of a field; null where the record has no such key."""
        if column.null_count == len(column):
            return pa.nulls(len(column), pa.string())
        if field == "audio" and not self.format.closed:
            sizes = pc.list_value_length(column)
            single = pc.if_else(pc.equal(sizes, 1), column, pa.scalar([""], column.type))
            text = self._column(pc.list_element(single, 0))
            if pc.all(pc.equal(sizes, 1)).as_py():
                return text
            several = pc.if_else(pc.greater(sizes, 1), self._column(column), pa.scalar(None, pa.string()))
            return pc.if_else(pc.equal(sizes, 1), text, several)
        if field == "events" or (field == "answer_meta" and more is not None):
            rows = zip(column.to_pylist(), more or [None] * len(column), strict=True)
            written = (
                None if value is None else self.format.written(field, unpacked({field: value})[field], rest)
                for value, rest in rows
            )
            return self._values([*written], absent=None)
        if field == "extra":
            return self._values([None if text is None else from_json(text) for text in column.to_pylist()], absent=None)
        return self._column(column)

    def _column(self, column: pa.Array) -> pa.Array:
        """The JSON texts of a column; null where it is."""
        kind = column.type
        if column.null_count == len(column):
            return pa.nulls(len(column), pa.string())
        if pa.types.is_string(kind):
            odd = '["\\\\\\x00-\\x1f]|[^\\x00-\\x7f]' if self.layout.ascii else '["\\\\\\x00-\\x1f]'
            if pc.any(pc.match_substring_regex(column, odd)).as_py():
                return pa.array([None if text is None else self.encode(text) for text in column.to_pylist()], kind)
            return pc.binary_join_element_wise('"', column, '"', "")
        if pa.types.is_floating(kind):
            texts = [None if value is None else repr(value) for value in column.to_pylist()]
            if not pc.all(pc.is_finite(column)).as_py():
                dumps([value for value in column.to_pylist() if value is not None])  # says what JSON cannot hold
            return pa.array(texts, pa.string())
        if pa.types.is_integer(kind):
            return column.cast(pa.string())
        if pa.types.is_struct(kind):
            fields = zip(kind, column.flatten(), strict=True)
            text = self._joined({field.name: self._column(child) for field, child in fields}, len(column))
        else:
            lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
            lists = pa.ListArray.from_arrays(_offsets(lengths), self._column(column.flatten()))
            text = pc.binary_join_element_wise("[", pc.binary_join(lists, self.comma), "]", "")
        return pc.if_else(column.is_null(), pa.scalar(None, pa.string()), text) if column.null_count else text

    def _values(self, values: list[Any], absent: str | None = "null") -> pa.Array:
        """The JSON texts of any values; *absent* for those that are None."""
        if set(map(type, values)) == {str}:
            return self._column(pa.array(values, pa.string()))
        return pa.array([absent if value is None else self._object(value) for value in values], pa.string())

    def _joined(self, members: Mapping[str, pa.Array], size: int) -> pa.Array:
        """Objects of *members*: those that are not null."""
        parts: list[Any] = ["{"]
        before: Any = None  # whether some member stands before; True where it does in each object
        for key, text in members.items():
            if text.null_count == size:
                continue
            comma = self.comma if before is True else "" if before is None else pc.if_else(before, self.comma, "")
            part = pc.binary_join_element_wise(comma, f"{self.encode(key)}{self.colon}", text, "")
            parts.append(pc.fill_null(part, "") if text.null_count else part)
            if text.null_count == 0:
                before = True
            elif before is not True:
                before = text.is_valid() if before is None else pc.or_(before, text.is_valid())
        if len(parts) == 1:
            return pa.array(["{}"] * size, pa.string())
        return pc.binary_join_element_wise(*parts, "}", "")


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.nulls(0, column.type)])
