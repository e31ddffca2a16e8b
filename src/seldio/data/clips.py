"""The table of clips: a row for each with what it is, its files, labels and questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.data import features
from seldio.data.events import Events
from seldio.data.rows import ITEM, NUMBERS, Plan, Row
from seldio.errors import DataError
from seldio.files import Entry

#: The column of label files.
LABELS = "label_file"
Questions = Mapping[str, list[dict[str, Any]]]


@dataclasses.dataclass(frozen=True)
class Clips:
    """What rows are made with.

    Args:
        schema: the columns and their types, without metadata.
        described: the columns as the library ``datasets`` describes them.
        facts: columns that tell what a clip is.
        media: columns of recordings and videos.
        classes: how many there are.
        embed: whether their bytes are in the table.
        events: labels by clip; None where there are none at all.
        items: questions by clip; None where there are none at all.
    """

    schema: pa.Schema
    described: Mapping[str, Any]
    facts: tuple[str, ...]
    media: tuple[str, ...]
    classes: int
    embed: bool
    events: Events | None
    items: Questions | None

    @staticmethod
    def of(plan: Plan, embed: bool) -> Clips:
        """The table of all clips of an export."""
        schema = _schema(plan)
        known = {name: features.VIDEO if name == "video" else features.audio(plan.rates[name]) for name in plan.media}
        described = features.described(schema, known)
        if "events" in described and "class" in described["events"]["feature"]:
            described["events"]["feature"]["class"] = features.class_label(plan.classes)
        return Clips(
            schema, described, plan.facts, plan.media, len(plan.classes), embed, plan.events if plan.files else None,
            plan.items or None,
        )  # fmt: skip

    def part(self, rows: Sequence[Row]) -> Clips:
        """The same with no more than *rows* need."""
        names = [row.name for row in rows]
        events, items = self.events, self.items
        return dataclasses.replace(
            self,
            events=None if events is None else events.part(name for name in names if name in events),
            items=None if items is None else {name: items[name] for name in names if name in items},
        )

    def table(self, rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
        """The rows of a row group."""
        facts = [row.facts() for row in rows]
        columns: dict[str, pa.Array] = {
            name: pa.array([fact[name] for fact in facts], schema.field(name).type) for name in self.facts
        }
        columns |= {name: _files([row.media.get(name) for row in rows], embed=self.embed) for name in self.media}
        if LABELS in schema.names:
            columns[LABELS] = _files([row.labels for row in rows], embed=True)
        return pa.table(columns | self.nested(rows), schema=schema)

    def nested(self, rows: Sequence[Row]) -> dict[str, pa.Array]:
        """The columns of labels and of questions, where there are any."""
        columns = {} if self.events is None else {"events": self._events(self.events, rows)}
        if self.items is not None:
            kind = self.schema.field("items").type
            columns["items"] = pa.array([self.items.get(row.name) for row in rows], kind)
        return columns

    def _events(self, events: Events, rows: Sequence[Row]) -> pa.Array:
        known = {row.name: events[row.name] for row in rows if row.name in events}
        fields = list(self.schema.field("events").type.value_type)
        kinds = pa.schema([(_CLASS[1] if field.name == _CLASS[0] else field.name, field.type) for field in fields])
        together = pa.concat_tables([kinds.empty_table(), *(conformed(table, kinds) for table in known.values())])
        self._check_classes(together, kinds)
        values = pa.StructArray.from_arrays(
            [column.combine_chunks() for column in together.columns], [field.name for field in fields]
        )
        ends = np.cumsum([0, *(known[row.name].num_rows if row.name in known else 0 for row in rows)])
        absent = pa.array([row.name not in known for row in rows])
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=absent)

    def _check_classes(self, table: pa.Table, kinds: pa.Schema) -> None:
        """See that the class list has every class.

        Raises:
            DataError: it has not.
        """
        if _CLASS[1] not in kinds.names:
            return
        high = max((number for number in table[_CLASS[1]].unique().to_pylist() if number is not None), default=0)
        if high >= self.classes:
            raise DataError(
                f"the labels have a class {high}, and their class list ends at {self.classes - 1}, so that "
                "the column of classes could not be loaded: 'seldio validate' says where it is"
            )


#: What a class is called here, and in event tables.
_CLASS = ("class", "class_id")


def _schema(plan: Plan) -> pa.Schema:
    """The columns that any clip fills."""
    fields = [(name, pa.int32() if name in NUMBERS else pa.string()) for name in plan.facts]
    fields += [(name, features.FILE) for name in plan.media]
    if any(row.labels is not None for row in plan.rows):
        fields.append((LABELS, features.FILE))
    if plan.files:
        event = [
            (_CLASS[0], pa.int64()) if field.name == _CLASS[1] else (field.name, field.type)
            for field in plan.events.schema if field.name != "clip"
        ]  # fmt: skip
        fields.append(("events", pa.list_(pa.struct(event))))
    if plan.items:
        fields.append(("items", pa.list_(pa.struct(list(ITEM.items())))))
    return pa.schema(fields)


def conformed(table: pa.Table, kinds: pa.Schema) -> pa.Table:
    """The columns that *kinds* has, with its types; absent ones null."""
    return pa.table(
        [
            table[field.name].cast(field.type) if field.name in table.column_names
            else pa.nulls(table.num_rows, field.type) for field in kinds
        ],
        schema=kinds,
    )  # fmt: skip


def _files(entries: Sequence[Entry | None], *, embed: bool) -> pa.Array:
    """Files as values of a column; with *embed* their bytes and their paths, else the paths of copies."""
    data = [entry.read() if entry is not None and embed else None for entry in entries]
    paths = [None if entry is None else entry.name if embed else f"media/{entry.name}" for entry in entries]
    absent = pa.array([entry is None for entry in entries])
    columns = [pa.array(data, pa.binary()), pa.array(paths, pa.string())]
    return pa.StructArray.from_arrays(columns, fields=list(features.FILE), mask=absent)
