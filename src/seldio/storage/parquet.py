"""Parquet as the Hub reads it best: a row for each clip with its files inside, and a table of all labels.

``data/SPLIT-00000-of-00001.parquet`` hold clips: recordings and videos as their bytes are (so FOA keeps its four
channels), uncompressed and in row groups of at most 100 MB, with a page index, so that one clip can be fetched from
afar. ``labels/…`` hold the event tables of :mod:`seldio.formats.parquet`, whose row groups end where clips end: few
bytes change where few labels do. Both carry the features of the library ``datasets``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seldio.errors import DataError
from seldio.files import Entry
from seldio.formats.parquet import write_parquet
from seldio.schema.events import ClipFile, Origin, origin_of, with_origin
from seldio.storage import features
from seldio.storage.manifest import Export, Manifest
from seldio.storage.rows import ITEM, NUMBERS, Plan, Row, chunks

#: Bytes of files in a row group: what ``datasets`` 5 aims at, and far below what the viewer can scan.
GROUP_BYTES = 100_000_000
#: Clips of a file of labels.
LABEL_CLIPS = 10_000
LABELS = "label_file"


def export(source: str | os.PathLike[str], out: str | os.PathLike[str], **options: Any) -> Manifest:
    """:func:`seldio.storage.export` of this kind."""
    from seldio.storage.exporting import export as exported

    return exported(source, out, "parquet", **options)


def write(plan: Plan, made: Export, *, embed: bool, shard_bytes: int) -> dict[str, dict[str, Any]]:
    """Write the shards; return the features of each configuration."""
    clips = Clips(plan, embed)
    found = {"default": clips.features} if plan.rows else {}
    for split, rows in plan.splits.items():
        shards = list(chunks(rows, shard_bytes))
        for number, part in enumerate(shards):
            name = f"data/{split}-{number:05d}-of-{len(shards):05d}.parquet"
            made.produce(name, [entry for row in part for entry in row.files], partial(clips.write, part), split=split)
        if labelled := [row.name for row in rows if row.name in plan.files]:
            _write_labels(plan, made, split, labelled)
            found["labels"] = label_features(plan)
    if not embed:
        for row in plan.rows:
            for entry in row.media.values():
                made.copy(f"media/{entry.name}", entry)
    return found


class Clips:
    """The table of clips."""

    def __init__(self, plan: Plan, embed: bool) -> None:
        self.plan, self.embed = plan, embed

    @cached_property
    def _event(self) -> list[tuple[str, str, pa.DataType]]:
        """The fields of an event: name, column of the event table, type."""
        return [
            ("class", field.name, pa.int64()) if field.name == "class_id" else (field.name, field.name, field.type)
            for field in self.plan.events.schema if field.name != "clip"
        ]  # fmt: skip

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and their types, with the features as metadata."""
        plan = self.plan
        fields = [(name, pa.int32() if name in NUMBERS else pa.string()) for name in plan.facts]
        fields += [(name, features.FILE) for name in plan.media]
        if any(row.labels is not None for row in plan.rows):
            fields.append((LABELS, features.FILE))
        if plan.files:
            fields.append(("events", pa.list_(pa.struct([(name, kind) for name, _, kind in self._event]))))
        if plan.items:
            fields.append(("items", pa.list_(pa.struct(list(ITEM.items())))))
        return pa.schema(fields)

    @cached_property
    def features(self) -> dict[str, Any]:
        """The columns as ``datasets`` describes them."""
        known = {n: features.VIDEO if n == "video" else features.audio(self.plan.rates[n]) for n in self.plan.media}
        described = features.described(self.schema, known)
        if "events" in described and "class" in described["events"]["feature"]:
            described["events"]["feature"]["class"] = features.class_label(self.plan.classes)
        return described

    def write(self, rows: Sequence[Row], stream: BinaryIO) -> int:
        """Write a shard; return the number of its rows."""
        schema = self.schema.with_metadata(features.metadata(self.features))
        leaves = list(_leaves(schema))
        media = [f"{name}.bytes" for name in self.plan.media]
        others = [leaf for leaf in leaves if leaf not in media]
        # after each value it is seen whether its page is full: so each recording has a page of its own. Content-defined
        # chunks would do the same and take half as long again; the Hub, which cuts the bytes itself, needs them not.
        with pq.ParquetWriter(
            stream, schema, compression={leaf: "none" if leaf in media else "snappy" for leaf in leaves},
            use_dictionary=others, write_statistics=others, write_page_index=True, write_page_checksum=True,
            write_batch_size=1,
        ) as writer:  # fmt: skip
            for part in chunks(rows, GROUP_BYTES):
                writer.write_table(self.table(part, schema), row_group_size=len(part))
        return len(rows)

    def table(self, rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
        """The rows of a row group."""
        facts = [row.facts() for row in rows]
        columns: dict[str, pa.Array] = {
            name: pa.array([fact[name] for fact in facts], schema.field(name).type) for name in self.plan.facts
        }
        columns |= {
            name: _files([row.media.get(name) for row in rows], embed=self.embed) for name in self.plan.media
        }  # fmt: skip
        if LABELS in schema.names:
            columns[LABELS] = _files([row.labels for row in rows], embed=True)
        return pa.table(columns | self.nested(rows), schema=schema)

    def nested(self, rows: Sequence[Row]) -> dict[str, pa.Array]:
        """The columns of labels and of questions, where there are any."""
        columns = {"events": self._events(rows)} if self.plan.files else {}
        if self.plan.items:
            kind = self.schema.field("items").type
            columns["items"] = pa.array([self.plan.items.get(row.name) for row in rows], kind)
        return columns

    def _events(self, rows: Sequence[Row]) -> pa.Array:
        tables = [self.plan.events[row.name] if row.name in self.plan.files else None for row in rows]
        kinds = pa.schema([(column, kind) for _, column, kind in self._event])
        together = pa.concat_tables(
            [kinds.empty_table(), *(_conformed(table, kinds) for table in tables if table is not None)]
        )
        self._check_classes(together, kinds)
        values = pa.StructArray.from_arrays(
            [column.combine_chunks() for column in together.columns], [name for name, _, _ in self._event]
        )
        ends = np.cumsum([0, *(0 if table is None else table.num_rows for table in tables)])
        absent = pa.array([table is None for table in tables])
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=absent)

    def _check_classes(self, table: pa.Table, kinds: pa.Schema) -> None:
        """See that the class list has every class.

        Raises:
            DataError: it has not.
        """
        if "class_id" not in kinds.names:
            return
        high = max((number for number in table["class_id"].unique().to_pylist() if number is not None), default=0)
        if high >= len(self.plan.classes):
            raise DataError(
                f"the labels have a class {high}, and their class list ends at {len(self.plan.classes) - 1}, so that "
                "the column of classes could not be loaded: 'seldio validate' says where it is"
            )


def _conformed(table: pa.Table, kinds: pa.Schema) -> pa.Table:
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


def _leaves(schema: pa.Schema) -> Iterator[str]:
    """The paths of the columns as they lie in a Parquet file."""
    for field in schema:
        yield from _below(field.name, field.type)


def _below(path: str, kind: pa.DataType) -> Iterator[str]:
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _below(f"{path}.{field.name}", field.type)
    elif pa.types.is_list(kind):
        yield from _below(f"{path}.list.element", kind.value_type)
    else:
        yield path


# --- tables of labels ------------------------------------------------------------------------------


def _write_labels(plan: Plan, made: Export, split: str, clips: Sequence[str]) -> None:
    parts = [clips[first : first + LABEL_CLIPS] for first in range(0, len(clips), LABEL_CLIPS)]
    described = label_features(plan)
    for number, part in enumerate(parts):

        def write(stream: BinaryIO, part: Sequence[str] = part) -> int:
            table = label_table(plan, part)
            write_label_table(table, stream, described)
            return int(table.num_rows)

        name = f"labels/{split}-{number:05d}-of-{len(parts):05d}.parquet"
        made.produce(name, [plan.files[clip].entry for clip in part], write, split=split)


def label_features(plan: Plan) -> dict[str, Any]:
    """The columns of a table of labels as ``datasets`` describes them."""
    return features.described(plan.events.schema, {"class_id": features.class_label(plan.classes)})


def label_table(plan: Plan, clips: Sequence[str]) -> pa.Table:
    """The labels of some clips as one event table, whose clips have the names that they have in the table of clips."""
    schema = plan.events.schema
    layouts: set[str] = set()
    files: list[ClipFile] = []
    parts = [schema.empty_table()]
    for clip in clips:
        table = plan.events[clip]
        origin = origin_of(table)
        layouts.add(origin.format)
        files += [file for file in origin.files if file.clip == clip]
        parts.append(_conformed(table, schema))
    layout = layouts.pop() if len(layouts) == 1 else ""
    return with_origin(pa.concat_tables(parts), Origin(layout, plan.events.vocabulary, tuple(files)))


def write_label_table(table: pa.Table, stream: BinaryIO, described: Mapping[str, Any]) -> None:
    """Write an event table with its features; see :func:`seldio.formats.parquet.write_parquet`."""
    extended = {**(table.schema.metadata or {}), **features.metadata(described)}
    # where the stored type is not that of the feature, `datasets` passes the feature over
    wide = {name: pa.int64() for name, feature in described.items() if feature.get("_type") == "ClassLabel"}
    write_parquet(table.replace_schema_metadata(extended), stream, wide)
