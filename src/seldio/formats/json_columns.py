"""Records of JSON as columns, many at a time: the quick way of ``json_items``.

Records are grouped by their keys and the types of their values, each key of a group is a list of values, and the model
checks a list at once. Records that are not right are left to the careful reader, which knows why and where.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from seldio.formats.json_text import dumps
from seldio.schema.flaws import wrong_rows
from seldio.schema.qa import AnswerMeta, packed_events

if TYPE_CHECKING:
    from seldio.formats.json_items import JsonItems

_NOTHING = type(None)


@dataclasses.dataclass
class Group:
    """Records with the same keys, and the table they make."""

    keys: tuple[str, ...]  # of the records
    numbers: list[int]  # of the records
    table: pa.Table  # their rows
    absent: tuple[str, ...]  # useful keys that they lack
    numbered: bool  # whether their ids are whole numbers


class ColumnReader:
    """Records of one format, as JSON gives them, being read."""

    def __init__(self, format: JsonItems, records: Sequence[Any]) -> None:
        self.format, self.records = format, records
        self.groups: list[Group] = []
        self.doubtful: list[int] = []

    def read(self) -> None:
        """Read the records: into groups where they are right."""
        shapes: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for number, record in enumerate(self.records):
            if type(record) is dict:
                shapes[(*record, *map(type, record.values()))].append(number)
            else:
                self.doubtful.append(number)
        for numbers in shapes.values():
            self._group(numbers)
        self.doubtful.sort()

    def _group(self, numbers: list[int]) -> None:
        """Read records with the same keys and types."""
        format = self.format
        first = self.records[numbers[0]]
        keys, types = tuple(first), {key: type(value) for key, value in first.items()}
        complete = all(
            key in first or not first.keys().isdisjoint(format.instead.get(key, ())) for key in format.required
        )
        if not complete or (format.closed and not first.keys() <= format.keys.keys()):
            self.doubtful += numbers
            return
        values = {key: [self.records[number][key] for number in numbers] for key in keys}
        id = format.key_of("id", values)
        numbered = types.get(id) is int and (format.numbered or format.holds == "predictions")
        if numbered:
            values[id] = [*map(str, values[id])]
        fields = self._closed_fields(values, types) if format.closed else self._fields(values, types)
        extra = [] if format.closed else fields.pop("extra", [])  # objects of what JSON can hold, which fit
        wrong = set().union(*(wrong_rows(format.model, name, column) for name, column in fields.items()))
        if wrong or (format.holds == "items" and "id" not in fields):
            right = [number for row, number in enumerate(numbers) if row not in wrong] if wrong else []
            self.doubtful += [*{*numbers} - {*right}]
            if right:
                self._group(right)
            return
        try:
            table = self._table(fields | ({"extra": extra} if extra else {}), len(numbers))
        except (pa.ArrowException, OverflowError):
            self.doubtful += numbers
            return
        absent = tuple(key for key in format.useful if key not in values)
        self.groups.append(Group(keys, numbers, table, absent, numbered))

    def _closed_fields(self, values: Mapping[str, list[Any]], types: Mapping[str, type]) -> dict[str, list[Any]]:
        audio = {"audio": [[path] for path in values["audio"]]} if types.get("audio") is str else {}
        return {**values, **audio}

    def _fields(self, values: dict[str, list[Any]], types: Mapping[str, type]) -> dict[str, list[Any]]:
        """The columns of the fields, as :meth:`JsonItems.fields` has them of one record."""
        format = self.format
        fields: dict[str, list[Any]] = {}
        extra: dict[str, list[Any]] = {}
        for key, column in values.items():
            field = format.keys.get(key, "extra")
            if field == "extra" or types[key] is _NOTHING:
                extra[key] = column
            if field != "extra":
                fields[field] = column
        for key, others in format.instead.items():
            other = next((name for name in others if name in extra), None) if key not in values else None
            if other is not None:
                fields[format.keys[key]] = extra.pop(other)
        for field in format.besides:
            if field in extra and types[field] in format.types_besides(field):
                fields[field] = extra.pop(field)
        audio = types.get(format.key_of("audio", values))
        if audio is _NOTHING:
            del fields["audio"]
        elif audio is str:
            fields["audio"] = [[path] for path in fields["audio"]]
        meta = format.key_of("answer_meta", values)
        unknown: list[dict[str, Any]] = []
        if "answer_meta" in fields and types[meta] is dict:
            unknown = [unknown_meta(value) for value in fields["answer_meta"]]
        if any(unknown):
            pairs = zip(fields["answer_meta"], unknown, strict=True)
            fields["answer_meta"] = [{key: value[key] for key in value if key not in more} for value, more in pairs]
            extra[format.key_of("answer_meta", {})] = [more or _ABSENT for more in unknown]
        if types.get(format.key_of("events", values)) is list and format.proofs:
            fields["events"] = [[format.proof(event) for event in events] for events in fields["events"]]
        if extra:
            rows = zip(*extra.values(), strict=True)
            objects = (
                {key: value for key, value in zip(extra, row, strict=True) if value is not _ABSENT} for row in rows
            )
            fields["extra"] = [more or None for more in objects]
        return fields

    def _table(self, fields: Mapping[str, list[Any]], size: int) -> pa.Table:
        columns = []
        for column in self.format.schema:
            values = fields.get(column.name)
            if values is None:
                empty: object = {"audio": [], "question": ""}.get(column.name)
                values = [empty] * size
            elif column.name == "extra":
                values = [None if value is None else dumps(value) for value in values]
            elif column.name == "events":
                values = [None if events is None else packed_events(events) for events in values]
            columns.append(pa.array(values, column.type))
        return pa.Table.from_arrays(columns, schema=self.format.schema)


_ABSENT = object()
_META = frozenset(AnswerMeta.model_fields)


def unknown_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of an ``answer_meta`` that the schema does not know, and those that are null."""
    return {key: value for key, value in meta.items() if key not in _META or value is None}
