"""What is exported: a row for each clip with its files, labels and questions, and the columns that rows have."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.data.arrow_tables import Events, LabelFile
from seldio.data.export_files import spread
from seldio.data.index import ARRAYS, ClipMedia, Index
from seldio.engines import cut
from seldio.errors import DataError, UsageError
from seldio.files import Entry
from seldio.media.audio import NotAudio, probe_entry
from seldio.schema.clips import Clip
from seldio.schema.splits import clip_split
from seldio.vocabularies import vocabulary

#: A file inside a table, as ``datasets`` stores recordings and videos.
FILE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
#: Where ``datasets`` looks for the features of a table.
KEY = b"huggingface"

Feature = dict[str, Any]
_NAMES = {"double": "float64", "float": "float32"}


def audio_feature(rate: int | None) -> Feature:
    """A recording; all its channels are in its bytes, whatever a decoder makes of them."""
    return ({"sampling_rate": rate} if rate is not None else {}) | {"_type": "Audio"}


VIDEO: Feature = {"_type": "Video"}


def class_label(names: Sequence[str]) -> Feature:
    """A class number with the names of the classes."""
    return {"names": list(names), "_type": "ClassLabel"}


def feature(kind: pa.DataType) -> Feature:
    """A column of an Arrow type."""
    if pa.types.is_list(kind):
        return {"feature": feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: feature(field.type) for field in kind}
    if pa.types.is_dictionary(kind):
        return feature(kind.value_type)
    return {"dtype": _NAMES.get(str(kind), str(kind)), "_type": "Value"}


def describe(schema: pa.Schema, known: Mapping[str, Feature]) -> dict[str, Feature]:
    """The features of a schema; those that its types do not tell are *known*."""
    return {field.name: known[field.name] if field.name in known else feature(field.type) for field in schema}


def features_metadata(features: Mapping[str, Feature]) -> dict[bytes, bytes]:
    """The features as metadata of a schema."""
    return {KEY: json.dumps({"info": {"features": features}}, ensure_ascii=False).encode()}


#: Columns that tell what a clip is, from the clip table.
FACTS = ("clip", "split", "array", "layout", "set", "site", "fold", "room", "mix")
NUMBERS = frozenset({"fold", "room", "mix"})
#: Fields of a question that stand beside its clip; all of them are in the file it came from.
ITEM = {
    "id": pa.string(), "task": pa.string(), "question": pa.string(), "options": pa.list_(pa.string()),
    "answer": pa.string(),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Row:
    """A clip and its files.

    Args:
        name: of the clip; no other one has it.
        key: the same as a file name without a dot.
        clip: its row in the clip table.
        media: recordings and video by column: ``audio``, other arrays, ``video``.
        array: which array ``audio`` is.
        labels: the label file.
    """

    name: str
    key: str
    clip: Clip
    media: Mapping[str, Entry]
    array: str | None
    labels: Entry | None

    @property
    def files(self) -> tuple[Entry, ...]:
        """All files."""
        return (*self.media.values(), *((self.labels,) if self.labels is not None else ()))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(max(entry.size, 0) for entry in self.files)

    def facts(self) -> dict[str, Any]:
        """What the names tell of the clip, by the names in ``FACTS``."""
        return self.clip.model_dump(include=set(FACTS)) | {"clip": self.name, "array": self.array}


class Plan:
    """What is to be exported.

    Args:
        index: the source.
        array: the array that becomes the column ``audio``, where a clip has it.
    """

    def __init__(self, index: Index, array: str) -> None:
        if array not in ARRAYS:
            raise UsageError(f"there is no array {array!r}; choose one of {', '.join(ARRAYS)}")
        self.index, self.array = index, array
        keys = _keys(index.clips)
        self.rows = [_row(index, name, clip, keys[name], array) for name, clip in index.clips.items()]
        taken = {entry.name for row in self.rows for entry in row.files}
        #: Files that are of no clip: questions, licences, tables of labels.
        self.others = [entry for entry in index.source if entry.name not in taken]

    @cached_property
    def splits(self) -> dict[str, list[Row]]:
        """The rows of each split, in the order of the splits' names."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            file = self.files.get(row.name)
            paths = [entry.name for entry in (*row.files, *([file.entry] if file is not None else []))]
            found.setdefault(clip_split(row.clip, paths[0] if paths else row.name), []).append(row)
        return dict(sorted(found.items()))

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """The columns of ``FACTS`` that any clip fills."""
        filled = {field for row in self.rows for field, value in row.facts().items() if value is not None}
        return tuple(field for field in FACTS if field in filled)

    @cached_property
    def media(self) -> tuple[str, ...]:
        """The columns of recordings and videos, ``audio`` first and ``video`` last."""
        found = {column for row in self.rows for column in row.media}
        order = {"audio": 0, "video": 2}
        return tuple(sorted(found, key=lambda column: (order.get(column, 1), column)))

    @cached_property
    def files(self) -> Mapping[str, LabelFile]:
        """The label files by clip."""
        return self.index.label_files

    @cached_property
    def events(self) -> Events:
        """The labels by clip."""
        return self.index.events(self.files.values())

    @cached_property
    def classes(self) -> list[str]:
        """The class list of all labels.

        Raises:
            UsageError: they are of several.
        """
        rows = vocabulary(self.events.vocabulary).classes
        return [names[0] if names else f"class {number}" for number, names in enumerate(rows)]

    @cached_property
    def items(self) -> Mapping[str, list[dict[str, Any]]]:
        """The questions about each clip, with the fields of ``ITEM``."""
        found: dict[str, list[dict[str, Any]]] = {}
        if any(entry.name.lower().endswith((".json", ".jsonl", ".csv", ".tsv", ".parquet")) for entry in self.others):
            for item, file in self.index.items.rows:
                named = dict.fromkeys(self.index.clip_of(path, file) for path in item.audio)
                for clip in named:
                    if clip is not None:
                        found.setdefault(clip, []).append({field: getattr(item, field) for field in ITEM})
        return found

    @cached_property
    def rates(self) -> Mapping[str, int | None]:
        """Samples a second of the recordings in each column; None where they differ or one cannot be read."""
        files = [(column, entry) for row in self.rows for column, entry in row.media.items() if column != "video"]
        entries = [entry for _, entry in files]
        rates = spread(_rate, entries, self.on_disk, "reading headers", batch=64, key=attrgetter("stamp"))
        found: dict[str, set[int | None]] = {}
        for (column, _), rate in zip(files, rates, strict=True):
            found.setdefault(column, set()).add(rate)
        return {column: those.pop() if len(those) == 1 else None for column, those in found.items()}

    @cached_property
    def on_disk(self) -> bool:
        """Whether all files of clips lie on disk as they are, so that other processes can read them there."""
        return all(entry.on_disk for row in self.rows for entry in row.files)

    def statistics(self) -> dict[str, Any]:
        """Counts of clips, splits and files, and the bytes of the source."""
        files = Counter(column for row in self.rows for column in row.media)
        files["labels"] = sum(row.labels is not None for row in self.rows)
        return {
            "layout": self.index.tree.layout,
            "clips": len(self.rows),
            "splits": {split: len(rows) for split, rows in self.splits.items()},
            "files": {column: files[column] for column in sorted(files) if files[column]} | {"other": len(self.others)},
            "bytes": sum(max(entry.size, 0) for entry in self.index.source),
        }


def chunks(rows: Iterable[Row], limit: int) -> Iterator[list[Row]]:
    """The rows in parts of at most *limit* bytes, or of one clip that is larger."""
    return cut(rows, limit, attrgetter("size"))


def _rate(entry: Entry) -> int | None:
    """Samples a second of a recording; None where it cannot be read."""
    try:
        return probe_entry(entry).rate
    except NotAudio:
        return None


def _row(index: Index, name: str, clip: Clip, key: str, array: str) -> Row:
    files = ClipMedia.of(clip, index.entries).files
    arrays = [field for field in dict.fromkeys((array, *ARRAYS)) if field in files]
    main = arrays[0] if arrays else None
    columns = {main: "audio", "audio": "recording"} if main != "audio" else {}
    media = {columns.get(field, field): files[field] for field in (*arrays, *(["video"] if "video" in files else []))}
    file = index.label_files.get(name)
    labels = file.entry if file is not None and file.table is None else None
    return Row(name, key, clip, media, main, labels)


def _keys(names: Iterable[str]) -> dict[str, str]:
    """A file name for each clip: letters, digits, ``_`` and ``-``, and a number where two would be alike."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w-]", "_", name, flags=re.ASCII)
        key, number = plain, 1
        while key.lower() in taken:
            number += 1
            key = f"{plain}_{number}"
        taken.add(key.lower())
        found[name] = key
    return found


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
        known = {name: VIDEO if name == "video" else audio_feature(plan.rates[name]) for name in plan.media}
        described = describe(schema, known)
        if "events" in described and "class" in described["events"]["feature"]:
            described["events"]["feature"]["class"] = class_label(plan.classes)
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
    fields += [(name, FILE) for name in plan.media]
    if any(row.labels is not None for row in plan.rows):
        fields.append((LABELS, FILE))
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
    return pa.StructArray.from_arrays(columns, fields=list(FILE), mask=absent)
