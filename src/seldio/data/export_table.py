"""What is exported: a row for each clip with its files, labels and questions, and the columns that rows have."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.catalogues import Catalogue
from seldio.data.arrow_tables import Events, conformed
from seldio.data.clip_media import ClipMedia
from seldio.data.index import Index
from seldio.errors import DataError, UsageError
from seldio.files import Entry
from seldio.media.audio import NotAudio, probe_entry
from seldio.parallel import parallel_map
from seldio.schema.arrays import pc
from seldio.schema.clips import RECORDINGS, Clip
from seldio.schema.splits import clip_split
from seldio.vocabularies import vocabulary

#: A file inside a table, as ``datasets`` stores recordings and videos.
FILE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
#: The column of label files.
LABELS = "label_file"
#: Columns that tell what a clip is, from the clip table.
FACTS = ("clip", "split", "array", "layout", "set", "site", "fold", "room", "mix")
NUMBERS = frozenset({"fold", "room", "mix"})
#: Fields of a question that stand beside its clip; all of them are in the file it came from.
ITEM = {
    "id": pa.string(), "task": pa.string(), "question": pa.string(), "options": pa.list_(pa.string()),
    "answer": pa.string(),
}  # fmt: skip
#: Questions by clip, with the fields of ``ITEM``.
Questions = Mapping[str, list[dict[str, Any]]]

# --- columns as the library ``datasets`` describes them --------------------------------------------------

Feature = dict[str, Any]
_DTYPES = {"double": "float64", "float": "float32", "halffloat": "float16"}


def class_label(names: Sequence[str]) -> Feature:
    """A class number with the names of the classes."""
    return {"names": list(names), "_type": "ClassLabel"}


def feature(kind: pa.DataType) -> Feature:
    """A column of an Arrow type."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return {"feature": feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: feature(field.type) for field in kind}
    if pa.types.is_dictionary(kind):
        return feature(kind.value_type)
    return {"dtype": _DTYPES.get(str(kind), str(kind)), "_type": "Value"}


def describe(schema: pa.Schema, known: Mapping[str, Feature]) -> dict[str, Feature]:
    """The features of a schema; those that its types do not tell are *known*."""
    return {field.name: known[field.name] if field.name in known else feature(field.type) for field in schema}


def features_metadata(features: Mapping[str, Feature]) -> dict[bytes, bytes]:
    """The features as metadata of a schema, where ``datasets`` looks for them."""
    return {b"huggingface": json.dumps({"info": {"features": features}}, ensure_ascii=False).encode()}


# --- clips -----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ClipRow:
    """A clip and its files."""

    name: str  # of the clip; no other one has it
    key: str  # the same as a file name without a dot
    clip: Clip  # its row in the clip table
    media: Mapping[str, Entry]  # recordings and video by column: ``audio`` (of *array*), other arrays, ``video``
    array: str | None  # which array ``audio`` is
    labels: Entry | None  # the label file
    table_bytes: int = 0  # of its labels, where they are rows of a table

    @property
    def files(self) -> tuple[Entry, ...]:
        """All files."""
        return (*self.media.values(), *((self.labels,) if self.labels is not None else ()))

    @property
    def size(self) -> int:
        """Bytes of all files, or of its labels where that is all there is."""
        return sum(max(entry.size, 0) for entry in self.files) or self.table_bytes

    def facts(self) -> dict[str, Any]:
        """What the names tell of the clip, by the names in ``FACTS``."""
        return self.clip.model_dump(include=set(FACTS)) | {"clip": self.name, "array": self.array}


class ExportPlan:
    """What is to be exported; *array* is that which becomes the column ``audio``, where a clip has it."""

    def __init__(self, index: Index, array: str) -> None:
        if array not in RECORDINGS:
            raise UsageError(f"unknown array {array!r}; choose from {', '.join(RECORDINGS)}")
        self.index, self.array = index, array
        self.label_files = index.label_files
        keys = _keys(index.clips)
        self.rows = [self._row(name, clip, keys[name]) for name, clip in index.clips.items()]
        taken = {entry.name for row in self.rows for entry in row.files}
        #: Files that are of no clip: questions, licences, tables of labels.
        self.others = [entry for entry in index.source if entry.name not in taken]
        #: Whether all files of clips lie on disk as they are, so that other processes can read them there.
        self.on_disk = all(entry.on_disk for row in self.rows for entry in row.files)

    def _row(self, name: str, clip: Clip, key: str) -> ClipRow:
        files = ClipMedia.of(clip, self.index.entries).files
        arrays = [field for field in dict.fromkeys((self.array, *RECORDINGS)) if field in files]
        main = arrays[0] if arrays else None
        columns = {main: "audio", "audio": "recording"} if main != "audio" else {}
        media = {columns.get(field, field): files[field] for field in (*arrays, "video") if field in files}
        file = self.label_files.get(name)
        if file is None or not file.shared or file.table is None:
            return ClipRow(name, key, clip, media, main, None if file is None else file.entry)
        return ClipRow(name, key, clip, media, main, None, file.table.nbytes)

    @cached_property
    def splits(self) -> dict[str, list[ClipRow]]:
        """The rows of each split, in the order of the splits' names."""
        found: dict[str, list[ClipRow]] = {}
        for row in self.rows:
            file = self.label_files.get(row.name)
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
        order = {"audio": 0, "video": 2}
        found = {column for row in self.rows for column in row.media}
        return tuple(sorted(found, key=lambda column: (order.get(column, 1), column)))

    @cached_property
    def events(self) -> Events:
        """The labels by clip."""
        return self.index.events(self.label_files)

    @cached_property
    def classes(self) -> list[str]:
        """The class list of all labels.

        Raises:
            UsageError: they are of several.
        """
        rows = vocabulary(self.events.vocabulary).classes
        return [names[0] if names else f"class {number}" for number, names in enumerate(rows)]

    @cached_property
    def items(self) -> Questions:
        """The questions about each clip."""
        found: dict[str, list[dict[str, Any]]] = {}
        if Catalogue(self.index.source.restricted(self.others), labels=False).questions:
            for item, file in self.index.items.rows:
                for clip in dict.fromkeys(self.index.clip_of(path, file) for path in item.audio):
                    if clip is not None:
                        found.setdefault(clip, []).append({field: getattr(item, field) for field in ITEM})
        return found

    @cached_property
    def rates(self) -> Mapping[str, int | None]:
        """Samples per second of the recordings in each column; None where they differ or one cannot be read."""
        files = [(column, entry) for row in self.rows for column, entry in row.media.items() if column != "video"]
        entries = [entry for _, entry in files]
        every = parallel_map(_rate, entries, batch=64, what="reading headers", here=not self.on_disk)
        found: dict[str, set[int | None]] = {}
        for (column, _), rate in zip(files, every, strict=True):
            found.setdefault(column, set()).add(rate)
        return {column: rates.pop() if len(rates) == 1 else None for column, rates in found.items()}

    def statistics(self) -> dict[str, Any]:
        """Counts of clips, splits and files, and the bytes of the source."""
        # a recording that several people labelled is that of several clips
        named = {(column, entry.name) for row in self.rows for column, entry in row.media.items()}
        files = Counter(column for column, _ in named)
        files["labels"] = sum(row.labels is not None for row in self.rows)
        return {
            "layout": self.index.tree.layout,
            "clips": len(self.rows),
            "splits": {split: len(rows) for split, rows in self.splits.items()},
            "files": {column: files[column] for column in sorted(files) if files[column]} | {"other": len(self.others)},
            "bytes": sum(max(entry.size, 0) for entry in self.index.source),
        }


def _rate(entry: Entry) -> int | None:
    """Samples per second of a recording; None where it cannot be read."""
    try:
        return probe_entry(entry).rate
    except NotAudio:
        return None


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


# --- rows as columns -------------------------------------------------------------------------------------

#: What a class is called here, and in event tables.
_CLASS = ("class", "class_id")


@dataclasses.dataclass(frozen=True)
class ClipColumns:
    """What rows are made with; a part of it goes along to another process."""

    schema: pa.Schema  # the columns that any clip fills and their types, without metadata
    described: Mapping[str, Any]  # the columns as the library ``datasets`` describes them
    classes: int  # how many there are
    embed: bool  # whether the bytes of recordings and videos are in the table
    events: Events | None  # labels by clip; None where there are none at all
    items: Questions | None  # questions by clip; None where there are none at all

    @staticmethod
    def of(plan: ExportPlan, embed: bool) -> ClipColumns:
        """Those of all clips of an export."""
        fields = [(name, pa.int32() if name in NUMBERS else pa.string()) for name in plan.facts]
        # all channels of a recording are in its bytes, whatever a decoder makes of them
        known: dict[str, Feature] = {"video": {"_type": "Video"}}
        for name in plan.media:
            fields.append((name, FILE))
            if name != "video":
                rate = plan.rates[name]
                known[name] = {**({} if rate is None else {"sampling_rate": rate}), "_type": "Audio"}
        if any(row.labels is not None for row in plan.rows):
            fields.append((LABELS, FILE))
        if plan.label_files:
            columns = {field.name: field.type for field in plan.events.schema if field.name != "clip"}
            event = [(_CLASS[0], pa.int64()) if name == _CLASS[1] else (name, kind) for name, kind in columns.items()]
            fields.append(("events", pa.list_(pa.struct(event))))
        if plan.items:
            fields.append(("items", pa.list_(pa.struct(list(ITEM.items())))))
        schema = pa.schema(fields)
        described = describe(schema, known)
        if "events" in described and _CLASS[0] in described["events"]["feature"]:
            described["events"]["feature"][_CLASS[0]] = class_label(plan.classes)
        events = plan.events if plan.label_files else None
        return ClipColumns(schema, described, len(plan.classes), embed, events, plan.items or None)

    @property
    def media(self) -> list[str]:
        """The columns of recordings and videos."""
        return [field.name for field in self.schema if field.type.equals(FILE) and field.name != LABELS]

    def part(self, rows: Sequence[ClipRow]) -> ClipColumns:
        """The same with no more than *rows* need."""
        names, events, items = [row.name for row in rows], self.events, self.items
        return dataclasses.replace(
            self,
            events=None if events is None else events.part(name for name in names if name in events),
            items=None if items is None else {name: items[name] for name in names if name in items},
        )

    def sizes(self, rows: Sequence[ClipRow]) -> dict[str, list[int]]:
        """Return the sizes of the files in each column, -1 for none."""
        names = [field.name for field in self.schema if field.type.equals(FILE)]
        return {name: [_size(row.labels if name == LABELS else row.media.get(name)) for row in rows] for name in names}

    def table(self, rows: Sequence[ClipRow], schema: pa.Schema) -> pa.Table:
        """The rows of a row group."""
        columns = self.fact_columns(rows)
        columns |= {name: _files([row.media.get(name) for row in rows], embed=self.embed) for name in self.media}
        if LABELS in schema.names:
            columns[LABELS] = _files([row.labels for row in rows], embed=True)
        return pa.table(columns | self.nested(rows), schema=schema)

    def fact_columns(self, rows: Sequence[ClipRow]) -> dict[str, pa.Array]:
        """The columns that tell what a clip is."""
        facts = [row.facts() for row in rows]
        fields = [field for field in self.schema if field.name in FACTS]
        return {field.name: pa.array([fact[field.name] for fact in facts], field.type) for field in fields}

    def nested(self, rows: Sequence[ClipRow]) -> dict[str, pa.Array]:
        """The columns of labels and of questions, where there are any."""
        columns = {} if self.events is None else {"events": self._events(self.events, rows)}
        if self.items is not None:
            kind = self.schema.field("items").type
            columns["items"] = pa.array([self.items.get(row.name) for row in rows], kind)
        return columns

    def _events(self, events: Events, rows: Sequence[ClipRow]) -> pa.Array:
        known = {row.name: events.read(row.name) for row in rows if row.name in events}
        fields = list(self.schema.field("events").type.value_type)
        kinds = pa.schema([(_CLASS[1] if field.name == _CLASS[0] else field.name, field.type) for field in fields])
        columns = {}
        for one in (pa.schema([kind]) for kind in kinds):  # one by one: all together would be there twice
            some = pa.concat_tables([one.empty_table(), *(conformed(table, one) for table in known.values())])
            columns[one.names[0]] = some.column(0).combine_chunks()
        if _CLASS[1] in columns:
            high = pc.max(columns[_CLASS[1]]).as_py() or 0
            if high >= self.classes:
                raise DataError(
                    f"the labels have a class {high}, and their class list ends at {self.classes - 1}, so that "
                    "the column of classes could not be loaded: 'seldio validate' says where it is"
                )
        values = pa.StructArray.from_arrays(list(columns.values()), [field.name for field in fields])
        ends = np.cumsum([0, *(known[row.name].num_rows if row.name in known else 0 for row in rows)])
        absent = pa.array([row.name not in known for row in rows])
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=absent)


def _size(entry: Entry | None) -> int:
    return -1 if entry is None else entry.size


def _files(entries: Sequence[Entry | None], *, embed: bool) -> pa.Array:
    """Files as values of a column; with *embed* their bytes and their paths, else the paths of copies."""
    data = [entry.read() if entry is not None and embed else None for entry in entries]
    paths = [None if entry is None else entry.name if embed else f"media/{entry.name}" for entry in entries]
    absent = pa.array([entry is None for entry in entries])
    columns = [pa.array(data, pa.binary()), pa.array(paths, pa.string())]
    return pa.StructArray.from_arrays(columns, fields=list(FILE), mask=absent)
