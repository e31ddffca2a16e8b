"""The files of an export, by its kind: Parquet as the Hub reads it best, WebDataset, AudioFolder and VideoFolder.

Parquet has a row for each clip with its files inside, and a table of all labels. ``data/SPLIT-00000-of-00001.parquet``
hold clips: recordings and videos as their bytes are (so FOA keeps its four channels), uncompressed, with a page index.
A clip of more than 2 MB has a row group of its own, so that one clip can be fetched from afar, or read in place.
``labels/…`` hold the event tables of :mod:`seldio.formats.parquet`, whose row groups end where clips end: few bytes
change where few labels do. Both carry the features of the library ``datasets``.

WebDataset has tar shards in which the files of a clip stand together under one key. ``data/SPLIT-00000-of-00001.tar``
hold ``KEY.foa.wav``, ``KEY.mic.wav``, ``KEY.mp4``, the label file (``KEY.csv``) and ``KEY.json``, which tells what the
clip is, its questions, and where each file came from. ``index.json`` lists the shards as the library wids does. Headers
hold no time and no owner, so the same files give the same bytes.

AudioFolder and VideoFolder are plain files, and a ``metadata.jsonl`` that tells what belongs to them.
``SPLIT/metadata.jsonl`` has a line for each clip. ``file_name``, and ``mic_file_name`` for a second array, lead to
the files next to it, and are the only columns that ``datasets`` turns into recordings (or videos, in a VideoFolder). It
gives every ``…_file_name`` of an AudioFolder the type Audio, so the video of a clip is named in a plain column
``video``, its path below the root. Labels are nested in the line, and lie in ``labels/`` as they were.
"""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import re
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seldio.catalogues import Catalogue
from seldio.data.arrow_tables import Events, conformed
from seldio.data.clip_media import ClipMedia
from seldio.data.index import Index
from seldio.errors import DataError, UsageError
from seldio.files import Entry
from seldio.files.exports import SIZES
from seldio.files.names import suffix_of
from seldio.formats.parquet import write_parquet
from seldio.media.audio import NotAudio, probe_entry
from seldio.parallel import cut, parallel_map
from seldio.schema.arrays import pc
from seldio.schema.clips import RECORDINGS, Clip
from seldio.schema.events import ClipFile, Origin, origin_of, with_origin
from seldio.schema.splits import clip_split
from seldio.vocabularies import vocabulary

#: Bytes of files in a row group of several clips: read whole for one of them in about a millisecond.
GROUP_BYTES = 2_000_000
#: Clips of a file of labels, and clips of which the metadata of a folder are made at a time.
LABEL_CLIPS, LISTED_CLIPS = 10_000, 16
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


# --- clips and their files -------------------------------------------------------------------------------


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
        """Return what the names tell of the clip, by the names in ``FACTS``."""
        return self.clip.model_dump(include=set(FACTS)) | {"clip": self.name, "array": self.array}


class ExportPlan:
    """The contents of an export; *array* is the one for the column ``audio``, where a clip has it."""

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
        #: Whether other processes can read the files of clips where they lie.
        self.on_disk = all(entry.on_disk for row in self.rows for entry in row.files)

    def part(self, rows: Sequence[ClipRow]) -> ExportPlan:
        """Return the same for some clips, as it can go to another process, with no more than they need."""
        part = copy.copy(self)
        clips = {row.name for row in rows}
        shared = {name: getattr(self, name) for name in ("facts", "media", "classes", "schema", "described")}
        part.__dict__ = shared | {
            "events": self.tables(name for name in self.label_files if name in clips),
            "items": {name: questions for name, questions in self.items.items() if name in clips},
        }
        return part

    def tables(self, clips: Iterable[str]) -> dict[str, pa.Table]:
        """Return the labels of clips, as they can go to another process: a slice would take all rows along."""
        tables = {clip: self.events[clip] for clip in clips}
        return {clip: table.take(pa.array(range(table.num_rows), pa.int64())) for clip, table in tables.items()}

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
        splits: dict[str, list[ClipRow]] = {}
        for row in self.rows:
            file = self.label_files.get(row.name)
            paths = [entry.name for entry in (*row.files, *([file.entry] if file is not None else []))]
            splits.setdefault(clip_split(row.clip, paths[0] if paths else row.name), []).append(row)
        return dict(sorted(splits.items()))

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """The columns of ``FACTS`` that any clip fills."""
        filled = {field for row in self.rows for field, value in row.facts().items() if value is not None}
        return tuple(field for field in FACTS if field in filled)

    @cached_property
    def media(self) -> tuple[str, ...]:
        """The columns of recordings and videos, ``audio`` first and ``video`` last."""
        order = {"audio": 0, "video": 2}
        columns = {column for row in self.rows for column in row.media}
        return tuple(sorted(columns, key=lambda column: (order.get(column, 1), column)))

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
    def items(self) -> dict[str, list[dict[str, Any]]]:
        """The questions about each clip, with the fields of ``ITEM``."""
        questions: dict[str, list[dict[str, Any]]] = {}
        if Catalogue(self.index.source.restricted(self.others), labels=False).questions:
            for item, file in self.index.items.rows:
                for clip in dict.fromkeys(self.index.clip_of(path, file) for path in item.audio):
                    if clip is not None:
                        questions.setdefault(clip, []).append({field: getattr(item, field) for field in ITEM})
        return questions

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that any clip fills, and their types."""
        fields = [(name, pa.int32() if name in NUMBERS else pa.string()) for name in self.facts]
        fields += [(name, FILE) for name in self.media]
        if any(row.labels is not None for row in self.rows):
            fields.append((LABELS, FILE))
        if self.label_files:
            columns = {field.name: field.type for field in self.events.schema if field.name != "clip"}
            event = [(_CLASS[0], pa.int64()) if name == _CLASS[1] else (name, kind) for name, kind in columns.items()]
            fields.append(("events", pa.list_(pa.struct(event))))
        if self.items:
            fields.append(("items", pa.list_(pa.struct(list(ITEM.items())))))
        return pa.schema(fields)

    @cached_property
    def described(self) -> dict[str, Feature]:
        """The columns as the library ``datasets`` describes them."""
        # all channels of a recording are in its bytes, whatever a decoder makes of them
        known: dict[str, Feature] = {"video": {"_type": "Video"}}
        known |= {name: {**rate, "_type": "Audio"} for name, rate in self._rates().items()}
        described = describe(self.schema, known)
        if "events" in described and _CLASS[0] in described["events"]["feature"]:
            described["events"]["feature"][_CLASS[0]] = class_label(self.classes)
        return described

    def _rates(self) -> dict[str, dict[str, int]]:
        """Return the rate of the recordings in each column, where all of them have one."""
        files = [(column, entry) for row in self.rows for column, entry in row.media.items() if column != "video"]
        rates: dict[str, set[Any]] = {}
        every = parallel_map(_rate, [entry for _, entry in files], what="reading headers", here=True)
        for (column, _), rate in zip(files, every, strict=True):
            rates.setdefault(column, set()).add(rate)
        return {
            column: {} if None in known or len(known) > 1 else {"sampling_rate": known.pop()}
            for column, known in rates.items()
        }

    def statistics(self) -> dict[str, Any]:
        """Return counts of clips, splits and files, and the bytes of the source."""
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

    def fact_columns(self, rows: Sequence[ClipRow]) -> dict[str, pa.Array]:
        """Return the columns that tell what a clip is."""
        facts = [row.facts() for row in rows]
        kinds = {name: self.schema.field(name).type for name in self.facts}
        return {name: pa.array([fact[name] for fact in facts], kind) for name, kind in kinds.items()}

    def nested_columns(self, rows: Sequence[ClipRow]) -> dict[str, pa.Array]:
        """Return the columns of labels and of questions, where there are any."""
        columns = {"events": self._event_column(rows)} if "events" in self.schema.names else {}
        if "items" in self.schema.names:
            kind = self.schema.field("items").type
            columns["items"] = pa.array([self.items.get(row.name) for row in rows], kind)
        return columns

    def _event_column(self, rows: Sequence[ClipRow]) -> pa.Array:
        kind = self.schema.field("events").type.value_type
        names = [_CLASS[1] if field.name == _CLASS[0] else field.name for field in kind]
        schema = pa.schema([(name, field.type) for name, field in zip(names, kind, strict=True)])
        tables = [conformed(self.events[row.name], schema) if row.name in self.events else None for row in rows]
        table = pa.concat_tables([schema.empty_table(), *filter(None, tables)]).combine_chunks()
        if _CLASS[1] in names and (high := pc.max(table[_CLASS[1]]).as_py() or 0) >= len(self.classes):
            raise DataError(
                f"the labels have a class {high}, and their class list ends at {len(self.classes) - 1}, so that "
                "the column of classes could not be loaded: 'seldio validate' says where it is"
            )
        values = pa.StructArray.from_arrays([column.combine_chunks() for column in table.columns], fields=list(kind))
        ends = np.cumsum([0, *(0 if table is None else table.num_rows for table in tables)])
        absent = pa.array([table is None for table in tables])
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=absent)


#: What a class is called here, and in event tables.
_CLASS = ("class", "class_id")


def _rate(entry: Entry) -> int | None:
    """Return the samples per second of a recording; None where it cannot be read."""
    try:
        return probe_entry(entry).rate
    except NotAudio:
        return None


def _keys(names: Iterable[str]) -> dict[str, str]:
    """Return a file name for each clip: letters, digits, ``_`` and ``-``, and a number where two would be alike."""
    keys: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w-]", "_", name, flags=re.ASCII)
        key, number = plain, 1
        while key.lower() in taken:
            number += 1
            key = f"{plain}_{number}"
        taken.add(key.lower())
        keys[name] = key
    return keys


# --- files of an export ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class FilePart:
    """One file of an export."""

    name: str  # POSIX path below the folder of the export
    size: int  # bytes of the files that it is made of
    write: Callable[[BinaryIO], int]  # writes the content, and returns the number of rows
    split: str | None = None  # the split that it belongs to
    origin: str | None = None  # the file of the source that it is a copy of; None where it holds several
    here: bool = False  # whether only this process can write it


@dataclasses.dataclass
class ExportFiles:
    """The files of a kind, but for copies of what is of no clip; their features, and the shards to be listed."""

    parts: list[FilePart] = dataclasses.field(default_factory=list)
    features: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    shards: list[str] = dataclasses.field(default_factory=list)


def copied(name: str, entry: Entry, split: str | None = None) -> FilePart:
    """Return a file of the source as it is."""
    return FilePart(name, max(entry.size, 0), partial(_copy, entry), split, entry.name)


def _copy(entry: Entry, stream: BinaryIO) -> int:
    with entry.open() as source:
        shutil.copyfileobj(source, stream, 1 << 20)
    return 0


def _shards(plan: ExportPlan, suffix: str, shard_bytes: int) -> Iterator[tuple[str, str, list[ClipRow]]]:
    """Yield name, split and clips of files of at most *shard_bytes*, or of one clip that is larger."""
    for split, rows in plan.splits.items():
        parts = list(cut(rows, shard_bytes, attrgetter("size")))
        for number, part in enumerate(parts):
            yield f"data/{split}-{number:05d}-of-{len(parts):05d}.{suffix}", split, part


# --- Parquet ---------------------------------------------------------------------------------------------


def parquet_files(plan: ExportPlan, _: str, shard_bytes: int) -> ExportFiles:
    """Return shards of clips, and tables of labels."""
    files = ExportFiles(features={"default": plan.described})
    for name, split, rows in _shards(plan, "parquet", shard_bytes):
        write = partial(write_clips, plan.part(rows), rows)
        files.parts.append(FilePart(name, sum(row.size for row in rows), write, split))
    for split, rows in plan.splits.items():
        clips = [row.name for row in rows if row.name in plan.label_files]
        if clips:
            files.features["labels"] = describe(plan.events.schema, {"class_id": class_label(plan.classes)})
        parts = [clips[first : first + LABEL_CLIPS] for first in range(0, len(clips), LABEL_CLIPS)]
        for number, part in enumerate(parts):
            size = sum(max(plan.label_files[clip].entry.size, 0) for clip in part)
            name = f"labels/{split}-{number:05d}-of-{len(parts):05d}.parquet"
            schema, names, described = plan.events.schema, plan.events.vocabulary, files.features["labels"]
            write = partial(_write_labels, plan.tables(part), Origin("", names), schema, described)
            files.parts.append(FilePart(name, size, write, split))
    return files


def write_clips(plan: ExportPlan, rows: Sequence[ClipRow], stream: BinaryIO) -> int:
    """Write a Parquet file of clips; return the number of its rows."""
    names = [field.name for field in plan.schema if field.type.equals(FILE)]
    media = [name for name in names if name != LABELS]
    files = {name: [row.labels if name == LABELS else row.media.get(name) for row in rows] for name in names}
    sizes = {name: [-1 if entry is None else entry.size for entry in entries] for name, entries in files.items()}
    metadata = features_metadata(plan.described) | {SIZES: json.dumps(sizes).encode()}
    schema = plan.schema.with_metadata(metadata)
    raw = [f"{name}.bytes" for name in media]
    leaves = [path for field in schema for path in _leaves(field.name, field.type)]
    others = [leaf for leaf in leaves if leaf not in raw]
    # after each value it is seen whether its page is full: so each recording has a page of its own. Content-defined
    # chunks would do the same and take half as long again; the Hub, which cuts the bytes itself, needs them not.
    with pq.ParquetWriter(
        stream, schema, compression={leaf: "none" if leaf in raw else "snappy" for leaf in leaves},
        use_dictionary=others, write_statistics=others, write_page_index=True, write_page_checksum=True,
        write_batch_size=1,
    ) as writer:  # fmt: skip
        first = 0
        for part in cut(rows, GROUP_BYTES, attrgetter("size")):
            columns = plan.fact_columns(part) | plan.nested_columns(part)
            for name, entries in files.items():
                columns[name] = _cells(entries[first : first + len(part)])
            writer.write_table(pa.table(columns, schema=schema), row_group_size=len(part))
            first += len(part)
    return len(rows)


def _cells(entries: Sequence[Entry | None]) -> pa.Array:
    """Return the bytes and the paths of files as values of a column."""
    data = [None if entry is None else entry.read() for entry in entries]
    paths = [None if entry is None else entry.name for entry in entries]
    absent = pa.array([entry is None for entry in entries])
    columns = [pa.array(data, pa.binary()), pa.array(paths, pa.string())]
    return pa.StructArray.from_arrays(columns, fields=list(FILE), mask=absent)


def _leaves(path: str, kind: pa.DataType) -> Iterator[str]:
    """Yield the paths of the columns inside of a column as they lie in a Parquet file."""
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _leaves(f"{path}.{field.name}", field.type)
    elif pa.types.is_list(kind):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    else:
        yield path


def _write_labels(
    events: Mapping[str, pa.Table], origin: Origin, schema: pa.Schema, described: Mapping[str, Any], stream: BinaryIO
) -> int:
    """Write one event table of clips, whose columns and class list are those of all labels; return its rows."""
    layouts: set[str] = set()
    files: list[ClipFile] = []
    parts = [schema.empty_table()]
    for clip, table in events.items():
        layouts.add(origin_of(table).format)
        files += [file for file in origin_of(table).files if file.clip == clip]
        parts.append(conformed(table, schema))
    layout = layouts.pop() if len(layouts) == 1 else ""
    table = with_origin(pa.concat_tables(parts), dataclasses.replace(origin, format=layout, files=tuple(files)))
    write_label_table(table, stream, described)
    return int(table.num_rows)


def write_label_table(table: pa.Table, stream: BinaryIO, described: Mapping[str, Any]) -> None:
    """Write an event table with its features; see :func:`seldio.formats.parquet.write_parquet`."""
    extended = {**(table.schema.metadata or {}), **features_metadata(described)}
    # where the stored type is not that of the feature, `datasets` passes the feature over
    wide = {name: pa.int64() for name, feature in described.items() if feature.get("_type") == "ClassLabel"}
    write_parquet(table.replace_schema_metadata(extended), stream, wide)


# --- WebDataset ------------------------------------------------------------------------------------------


def tar_files(plan: ExportPlan, _: str, shard_bytes: int) -> ExportFiles:
    """Return shards of clips; there are no typed columns to tell of."""
    parts = []
    for name, split, rows in _shards(plan, "tar", shard_bytes):
        items = {row.name: plan.items.get(row.name, []) for row in rows} if plan.items else {}
        write = partial(_write_tar, rows, plan.facts, items)
        parts.append(FilePart(name, sum(row.size for row in rows), write, split))
    return ExportFiles(parts, shards=[part.name for part in parts])


def _write_tar(
    rows: Sequence[ClipRow], facts: tuple[str, ...], items: Mapping[str, Sequence[Any]], stream: BinaryIO
) -> int:
    """Write a tar file of clips; return the number of its samples."""
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for row in rows:
            members = dict(sorted(_members(row)))
            for name, entry in members.items():
                with entry.open() as file:
                    _add(tar, name, file)
            record = {field: value for field, value in row.facts().items() if field in facts}
            record["files"] = {name.removeprefix(f"{row.key}."): entry.name for name, entry in members.items()}
            record |= {"items": items[row.name]} if items else {}
            text = json.dumps(record, ensure_ascii=False).encode(errors="backslashreplace")
            _add(tar, f"{row.key}.json", io.BytesIO(text))
    return len(rows)


def _members(row: ClipRow) -> Iterator[tuple[str, Entry]]:
    """Yield the names in the tar, and the files; a name goes on behind the key with what the file is."""
    for column, entry in row.media.items():
        array = "" if column == "video" else f"{row.array if column == 'audio' else column}."
        yield f"{row.key}.{array}{suffix_of(entry.name)}", entry
    if row.labels is not None:
        suffix = suffix_of(row.labels.name)
        yield f"{row.key}.{'labels.' if suffix == 'json' else ''}{suffix}", row.labels


def _add(tar: tarfile.TarFile, name: str, file: BinaryIO) -> None:
    member = tarfile.TarInfo(name)  # time 0, owner 0, mode 644
    member.size = file.seek(0, io.SEEK_END)
    file.seek(0)
    tar.addfile(member, file)


# --- AudioFolder and VideoFolder -------------------------------------------------------------------------

#: The name of the column that ``file_name`` becomes.
_MAIN = {"audiofolder": "audio", "videofolder": "video"}


def folder_files(plan: ExportPlan, kind: str, _: int) -> ExportFiles:
    """Return copies of the files of each clip, and the metadata of each split."""
    in_json = all(_json_tells_types(_listings(plan, kind, split)) for split in plan.splits)
    parts: list[FilePart] = []
    for split, rows in plan.splits.items():
        for row in rows:
            files = {**row.media, **({} if row.labels is None else {"labels": row.labels})}
            parts += [copied(_place(kind, split, row, name, entry), entry, split) for name, entry in files.items()]
        write = partial(_write_listing, plan, kind, split, in_json)
        name = f"{split}/metadata.{'jsonl' if in_json else 'parquet'}"
        parts.append(FilePart(name, sum(row.size for row in rows), write, split, here=True))
    described = {
        name: value if name not in plan.media or _typed(kind, name) else feature(pa.string())
        for name, value in plan.described.items() if name != LABELS
    }  # fmt: skip
    return ExportFiles(parts, {"default": described})


def _typed(kind: str, column: str) -> bool:
    """Return whether the files of a column are of the type of the folder."""
    return column != "labels" and (column == "video") == (kind == "videofolder")


def _column(kind: str, column: str) -> str:
    """Return the name in the metadata: ``file_name``, ``mic_file_name``, or the column itself if it is but a path."""
    if not _typed(kind, column):
        return column
    return "file_name" if column == _MAIN[kind] else f"{column}_file_name"


def _place(kind: str, split: str, row: ClipRow, column: str, entry: Entry) -> str:
    """Return where a file goes; below the split lie only files of the folder's type, for which others were taken."""
    name = f"{row.array if column == 'audio' else column}/{row.key}.{suffix_of(entry.name)}"
    return f"{split}/{name}" if _typed(kind, column) else name


def _listings(plan: ExportPlan, kind: str, split: str) -> Iterator[pa.Table]:
    """Yield the metadata of a split, some clips at a time."""
    for rows in cut(plan.splits[split], 0, lambda _: 0, LISTED_CLIPS):
        columns: dict[str, Any] = {}
        for column in sorted(plan.media, key=lambda column: _column(kind, column) != "file_name"):
            files = [(row, row.media.get(column)) for row in rows]
            paths = [None if entry is None else _place(kind, split, row, column, entry) for row, entry in files]
            inside = [None if path is None else path.removeprefix(f"{split}/") for path in paths]
            columns[_column(kind, column)] = pa.array(inside if _typed(kind, column) else paths, pa.string())
        yield pa.table(columns | plan.fact_columns(rows) | plan.nested_columns(rows))


def _json_tells_types(tables: Iterable[pa.Table]) -> bool:
    """Return whether JSON alone tells the type of each column, as ``datasets`` wants it.

    It does not where a column is empty throughout: then Parquet tells.
    """
    empty: set[str] | None = None
    for table in tables:
        leaves = [leaf for name in table.column_names for leaf in _filled(name, table[name].combine_chunks())]
        without = {path for path, _ in leaves} - {path for path, filled in leaves if filled}
        empty = without if empty is None else empty & without
        if not empty:
            return True
    return False


def _filled(path: str, column: pa.Array) -> Iterator[tuple[str, bool]]:
    """Yield the paths of the columns inside of a column, and whether they have a value anywhere."""
    if pa.types.is_list(column.type):
        yield from _filled(f"{path}.list", column.flatten())
    elif pa.types.is_struct(column.type):
        for field, inner in zip(column.type, column.flatten(), strict=True):
            yield from _filled(f"{path}.{field.name}", inner)
    else:
        yield path, column.null_count < len(column)


def _write_listing(plan: ExportPlan, kind: str, split: str, in_json: bool, stream: BinaryIO) -> int:
    """Write the metadata of a split; return the number of its rows."""
    tables = _listings(plan, kind, split)
    if not in_json:
        pq.write_table(pa.concat_tables(tables).combine_chunks(), stream)
    for table in tables if in_json else ():
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in table.to_pylist())
        stream.writelines(line.encode(errors="backslashreplace") for line in lines)
    return len(plan.splits[split])
