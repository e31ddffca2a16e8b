"""Exports: a dataset written anew in one of the ways in which datasets are shared, and the way back.

Parquet has a row for each clip with its files inside, and a table of all labels. ``data/SPLIT-00000-of-00001.parquet``
hold clips: recordings and videos as their bytes are (so FOA keeps its four channels), uncompressed, with a page index.
A clip of more than 2 MB has a row group of its own, so that one clip can be fetched from afar, or read in place.
``labels/…`` hold the event tables of :mod:`seldio.formats.parquet`, whose row groups end where clips end. Both carry
the features of the library ``datasets``.

WebDataset has tar shards in which the files of a clip stand together under one key. ``data/SPLIT-00000-of-00001.tar``
hold ``KEY.foa.wav``, ``KEY.mic.wav``, ``KEY.mp4``, the label file (``KEY.csv``) and ``KEY.json``, which tells what the
clip is, its questions, and where each file came from. Headers hold no time and no owner, so the same files give the
same bytes.

AudioFolder and VideoFolder are plain files, and a ``SPLIT/metadata.jsonl`` that has a line for each clip.
``file_name``, and ``mic_file_name`` for a second array, lead to the files next to it, and are the only columns that
``datasets`` turns into recordings (or videos, in a VideoFolder). It gives every ``…_file_name`` of an AudioFolder the
type Audio, so the video of a clip is named in a plain column ``video``, its path below the root. Labels are nested in
the line, and lie in ``labels/`` as they were.

The manifest is written first, with ``"finished": false`` and the names of all files, and again when these are there and
open as the clips that they were made from. So a folder says from the first file on that it is an export, and which
files another one may replace.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import re
import stat
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seldio.catalogues import Catalogue
from seldio.conversion.outputs import safe_name
from seldio.conversion.report import Conversion
from seldio.data.arrow_tables import Events, conformed
from seldio.data.index import ClipMedia, Index
from seldio.errors import DataError, InvalidData, SeldioError, UsageError
from seldio.files import Entry, atomic_write, in_the_way, make_folder, open_source, write_bytes
from seldio.files.entries import LARGE
from seldio.files.exports import SIZES, ExportFile, Manifest, original_files
from seldio.files.names import MANIFEST, suffix_of
from seldio.files.writing import remove
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.formats.parquet import write_parquet
from seldio.parallel import cut, parallel_map
from seldio.rules.collection import probed
from seldio.schema.arrays import pc
from seldio.schema.clips import RECORDINGS, Clip
from seldio.schema.events import Origin, origin_of, with_origin
from seldio.schema.splits import clip_split
from seldio.text import listed, plural, printable
from seldio.vocabularies import vocabulary

#: Bytes of files in a row group of several clips: read whole for one of them in about a millisecond.
GROUP_BYTES = 2_000_000
#: Clips of a file of labels.
LABEL_CLIPS = 10_000
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
KINDS = ("parquet", "webdataset", "audiofolder", "videofolder")
#: Where files lie that are of no clip; they come back from there.
OTHER = "other/"


def export(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    kind: str = "parquet",
    *,
    shard_bytes: int = 500 << 20,
    array: str = "foa",
    format: str | None = None,
    force: bool = False,
    overwrite: bool = False,
) -> Manifest:
    """Write a dataset to a folder in one of the ways in which datasets are shared.

    Nothing is lost: recordings, videos and label files go in as the bytes they are, and files that are of no clip
    are copied; ``seldio convert --to files`` makes all of them again. Files appear whole or not at all. A run that
    was broken off leaves a manifest that says so, and the same call writes the files again. The same source gives the
    same bytes.

    Args:
        source: a folder, archive or file.
        out: a folder that is empty, not there, or of an export that was broken off.
        kind: *parquet*, *webdataset*, *audiofolder* or *videofolder*.
        shard_bytes: most bytes of a shard, unless one clip has more.
        array: the array that is the column ``audio``; others have columns of their own.
        format: the format of the labels; found from their content if not given.
        force: export labels in which there are errors too, such as angles in radians or classes that do not exist.
        overwrite: replace the files that the manifest of a finished export in *out* names.

    Raises:
        UsageError: there is nothing to export, the labels are of several class lists, or *out* cannot be used for it,
            such as for a link in it.
        InvalidData: labels or questions are wrong.
        DataError: what was written does not open with the same clips and rows; then the export is not finished.
        SeldioError: the disk fails.
        KeyboardInterrupt: with a message that says how to go on.
    """
    if kind not in KINDS:
        raise UsageError(f"unknown storage {kind!r}; choose from {', '.join(KINDS)}")
    if shard_bytes < 1:
        raise UsageError(f"shards of {shard_bytes} bytes are too small: give a number above 0, such as {500 << 20}")
    place = Path(out)
    with open_source(source, raise_errors, LARGE) as opened:
        top = Path(opened.path).resolve()
        if opened.kind == "folder" and (place.resolve() == top or place.resolve().is_relative_to(top)):
            raise UsageError(f"{printable(str(place))} is inside the source: choose a folder outside it")
        if not opened.entries:
            raise UsageError(f"{printable(opened.path)} holds no files to export")
        if opened.kind == "folder" and not opened.exported:  # text that is packed by gzip does not say how large it is
            sized = (e if e.size >= 0 else dataclasses.replace(e, size=len(e.read())) for e in opened)
            opened = dataclasses.replace(opened, entries=tuple(sized))
        plan = ExportPlan(Index(opened, get(format) if format is not None else None, force=force), array)
        if not plan.rows:
            raise UsageError(f"{printable(opened.path)} holds no clips to export: copy it as it is")
        if any(entry.size < 0 for entry in opened):  # then shards and row groups would have no bound
            hint = "unpack it first ('seldio convert --to files' unpacks an export)"
            raise UsageError(f"{printable(opened.path)} does not state how large its files are: {hint}")
        if kind == "parquet":
            parts = [*clip_shards(plan, shard_bytes), *label_shards(plan)]
        elif kind == "webdataset":
            parts = [*tar_shards(plan, shard_bytes)]
        else:
            parts = folder_files(plan, kind)
        parts += [copied(OTHER + entry.name, entry) for entry in plan.others]
        files = _write_files(place, kind, parts, overwrite, plan.on_disk)
        manifest = Manifest(kind, files, plan.statistics())
        _check_that_it_opens(plan, place, manifest)
        write_bytes(place / MANIFEST, manifest.to_json(), place)
        return manifest


def _check_that_it_opens(plan: ExportPlan, out: Path, manifest: Manifest) -> None:
    """Raise DataError unless an export opens with the clips and the rows that it was made from."""
    with open_source(out, lambda _: None, LARGE, as_it_lies=True) as lying:
        source = original_files(lying, manifest, raise_errors, LARGE)  # before the manifest says that it is finished
        again = Index(source, plan.index.format, force=plan.index.force)
        written = _rows_by_clip(again, again.events(again.label_files))
    expected = _rows_by_clip(plan.index, plan.events)
    for clip in sorted(expected.keys() | written.keys()):
        if written.get(clip) != expected.get(clip):
            raise DataError(
                f"{printable(str(out))} opens with {written.get(clip, 'no clip')} of {printable(clip)}, which has "
                f"{expected.get(clip, 'no clip')} in the source"
            )


def _rows_by_clip(index: Index, events: Events) -> dict[str, str]:
    """Return the number of label rows of each clip, in words; labels that cannot be read are stored unchanged."""
    try:
        rows = {clip: plural(table.num_rows, "row") for clip, table in events.items()}
    except (InvalidData, UsageError):
        rows = dict.fromkeys(events, "labels that cannot be read")
    return dict.fromkeys(index.clips, "no labels") | rows


# --- clips and their files -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ClipRow:
    """A clip that is exported, with the files that go with it."""

    name: str  # of the clip; no other one has it
    key: str  # the same as a file name: letters, digits, ``_``, ``-``, and a number where two would be alike
    clip: Clip  # its row in the clip table
    media: Mapping[str, Entry]  # recordings and video by column: ``audio`` (of *array*), other arrays, ``video``
    array: str | None  # which array ``audio`` is
    labels: Entry | None  # the label file
    table_bytes: int = 0  # of its labels, where they are rows of a table

    @property
    def files(self) -> tuple[Entry, ...]:
        """Return recordings, video and label file."""
        return (*self.media.values(), *((self.labels,) if self.labels is not None else ()))

    @property
    def size(self) -> int:
        """Return the bytes of all files; of a clip without files, the bytes of its labels in memory."""
        return sum(entry.size for entry in self.files) or self.table_bytes

    def facts(self) -> dict[str, Any]:
        """Return the values of the columns ``FACTS``: its name, split, array, room and so on; None where unknown."""
        return self.clip.model_dump(include=set(FACTS)) | {"clip": self.name, "array": self.array}


class ExportPlan:
    """Collect what is exported: a row for each clip with its files, and the tables of labels and questions.

    *array* becomes the column ``audio`` where a clip has it; else its first recording does.
    """

    def __init__(self, index: Index, array: str) -> None:
        if array not in RECORDINGS:
            raise UsageError(f"unknown array {array!r}; choose from {', '.join(RECORDINGS)}")
        self.index = index
        self.label_files = index.label_files
        #: The event tables by clip, read when the first one is asked for.
        self.events = index.events(self.label_files)
        self.rows: list[ClipRow] = []
        splits: dict[str, list[ClipRow]] = {}
        keys: set[str] = set()
        for name, clip in index.clips.items():
            plain = key = re.sub(r"[^\w-]", "_", name, flags=re.ASCII)
            number = 1
            while key.lower() in keys:
                number += 1
                key = f"{plain}_{number}"
            keys.add(key.lower())
            files = ClipMedia.of(clip, index.entries).files
            arrays = [field for field in dict.fromkeys((array, *RECORDINGS)) if field in files]
            main = arrays[0] if arrays else None
            columns = {main: "audio", "audio": "recording"} if main != "audio" else {}
            media = {columns.get(field, field): files[field] for field in (*arrays, "video") if field in files}
            file = self.label_files.get(name)
            labels, table_bytes = None if file is None else file.entry, 0
            if file is not None and file.shared and file.table is not None:
                labels, table_bytes = None, file.table.nbytes
            row = ClipRow(name, key, clip, media, main, labels, table_bytes)
            self.rows.append(row)
            paths = [entry.name for entry in (*row.files, *([file.entry] if file is not None else []))]
            splits.setdefault(clip_split(clip, paths[0] if paths else name), []).append(row)
        #: The rows by split, splits in alphabetical order.
        self.splits = dict(sorted(splits.items()))
        taken = {entry.name for row in self.rows for entry in row.files}
        #: Files that are of no clip: questions, licences, tables of labels.
        self.others = [entry for entry in index.source if entry.name not in taken]
        #: Whether other processes can read the files of clips where they lie.
        self.on_disk = all(entry.on_disk for row in self.rows for entry in row.files)
        facts = {field for row in self.rows for field, value in row.facts().items() if value is not None}
        #: The names in ``FACTS`` for which at least one clip has a value.
        self.facts = tuple(field for field in FACTS if field in facts)
        order = {"audio": 0, "video": 2}
        media_columns = {column for row in self.rows for column in row.media}
        #: The names of the columns of recordings and videos, ``audio`` first and ``video`` last.
        self.media = tuple(sorted(media_columns, key=lambda column: (order.get(column, 1), column)))

    @cached_property
    def classes(self) -> list[str]:
        """Return a name for each class number of the labels; refuse labels with several class lists."""
        rows = vocabulary(self.events.vocabulary).classes
        return [names[0] if names else f"class {number}" for number, names in enumerate(rows)]

    @cached_property
    def items(self) -> dict[str, list[dict[str, Any]]]:
        """Return the questions about each clip, by its name, as records with the fields of ``ITEM``."""
        questions: dict[str, list[dict[str, Any]]] = {}
        if Catalogue(self.index.source.restricted(self.others), labels=False).questions:
            for item, file in self.index.items.rows:
                for clip in dict.fromkeys(self.index.clip_of(path, file) for path in item.audio):
                    if clip is not None:
                        questions.setdefault(clip, []).append({field: getattr(item, field) for field in ITEM})
        return questions

    @cached_property
    def event_schema(self) -> pa.Schema:
        """Return the columns of events, the clip left out; class numbers have the type that ``datasets`` gives them."""
        types = {field.name: field.type for field in self.events.schema if field.name != "clip"}
        return pa.schema(types | ({"class_id": pa.int64()} if "class_id" in types else {}))

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns for which at least one clip has a value, with their Arrow types."""
        fields = [(name, pa.int32() if name in NUMBERS else pa.string()) for name in self.facts]
        fields += [(name, FILE) for name in self.media]
        if any(row.labels is not None for row in self.rows):
            fields.append((LABELS, FILE))
        if self.label_files:
            event = [("class" if field.name == "class_id" else field.name, field.type) for field in self.event_schema]
            fields.append(("events", pa.list_(pa.struct(event))))
        if self.items:
            fields.append(("items", pa.list_(pa.struct(list(ITEM.items())))))
        return pa.schema(fields)

    def statistics(self) -> dict[str, Any]:
        """Return the numbers of clips, of clips by split and of files by column, and the bytes of the source."""
        # a recording that several people labelled is that of several clips
        named = {(column, entry.name) for row in self.rows for column, entry in row.media.items()}
        files = Counter(column for column, _ in named)
        files["labels"] = sum(row.labels is not None for row in self.rows)
        return {
            "layout": self.index.tree.layout,
            "clips": len(self.rows),
            "splits": {split: len(rows) for split, rows in self.splits.items()},
            "files": {column: files[column] for column in sorted(files) if files[column]} | {"other": len(self.others)},
            "bytes": sum(entry.size for entry in self.index.source),
        }

    def columns(self, rows: Sequence[ClipRow]) -> dict[str, pa.Array]:
        """Return all columns of *rows* that hold no files, by name: ``FACTS``, then ``events`` and ``items``."""
        facts = [row.facts() for row in rows]
        kinds = {field.name: field.type for field in self.schema}
        columns = {name: pa.array([fact[name] for fact in facts], kinds[name]) for name in self.facts}
        if "events" in kinds:
            names = [row.name for row in rows]
            tables = {name: conformed(self.events[name], self.event_schema) for name in names if name in self.events}
            table = pa.concat_tables([self.event_schema.empty_table(), *tables.values()]).combine_chunks()
            high = (pc.max(table["class_id"]).as_py() or 0) if "class_id" in table.column_names else -1
            if high >= len(self.classes):
                raise DataError(
                    f"the labels have a class {high}, and their class list ends at {len(self.classes) - 1}, so that "
                    "the column of classes could not be loaded: 'seldio validate' says where it is"
                )
            arrays = [column.combine_chunks() for column in table.columns]
            values = pa.StructArray.from_arrays(arrays, fields=[*kinds["events"].value_type])
            ends = np.cumsum([0, *(tables[name].num_rows if name in tables else 0 for name in names)])
            absent = pa.array([name not in tables for name in names])
            columns["events"] = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=absent)
        if "items" in kinds:
            columns["items"] = pa.array([self.items.get(row.name) for row in rows], kinds["items"])
        return columns


# --- files of an export ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class FilePart:
    """A file of an export that is to be written; other processes get it pickled."""

    name: str  # POSIX path below the folder of the export
    size: int  # bytes of the files that it is made of
    write: Callable[[BinaryIO], object]  # writes the content
    split: str | None = None  # the split that it belongs to
    rows: int = 0  # clips in it, or rows of labels
    origin: str | None = None  # the file of the source that it is a copy of; None where it holds several


def copied(name: str, entry: Entry, split: str | None = None) -> FilePart:
    """Return the part that copies *entry*, a file of the source, unchanged to *name*."""
    return FilePart(name, entry.size, entry.copy_to, split, origin=entry.name)


def _shards(plan: ExportPlan, suffix: str, shard_bytes: int) -> Iterator[tuple[str, str, list[ClipRow]]]:
    """Yield name, split and clips of each shard, which has at most *shard_bytes* bytes or holds a single clip."""
    for split, rows in plan.splits.items():
        parts = list(cut(rows, shard_bytes, attrgetter("size")))
        for number, part in enumerate(parts):
            yield f"data/{split}-{number:05d}-of-{len(parts):05d}.{suffix}", split, part


# --- Parquet ---------------------------------------------------------------------------------------------

Feature = dict[str, Any]
_DTYPES = {"double": "float64", "float": "float32", "halffloat": "float16"}


def feature(kind: pa.DataType) -> Feature:
    """Return how ``datasets`` describes a column of the Arrow type *kind* in JSON."""
    if pa.types.is_list(kind):
        return {"feature": feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: feature(field.type) for field in kind}
    if pa.types.is_dictionary(kind):
        return feature(kind.value_type)
    return {"dtype": _DTYPES.get(str(kind), str(kind)), "_type": "Value"}


def features_metadata(schema: pa.Schema, columns: Mapping[str, Feature]) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet file in which ``datasets`` looks for the descriptions of all columns.

    *columns* describes those by name of which the Arrow type says too little: recordings, videos, class numbers.
    """
    features = {field.name: columns.get(field.name) or feature(field.type) for field in schema}
    return {b"huggingface": json.dumps({"info": {"features": features}}, ensure_ascii=False).encode()}


def clip_shards(plan: ExportPlan, shard_bytes: int) -> Iterator[FilePart]:
    """Yield the Parquet files of clips, ``data/SPLIT-00000-of-00001.parquet``, with a row for each clip."""
    large = [entry for row in plan.rows for entry in row.files if entry.size > LARGE.file_bytes]
    if large:
        more = f", as have {len(large) - 1:,} others" if len(large) > 1 else ""
        raise UsageError(
            f"{printable(large[0].path)} has {large[0].size / 1e9:.2f} GB{more}: a cell of a Parquet file takes at "
            f"most {LARGE.file_bytes / 1e9:.2f} GB here. Export as WebDataset (--to webdataset), which takes any size"
        )
    features: dict[str, Feature] = {"video": {"_type": "Video"}}
    for column in (column for column in plan.media if column != "video"):
        # all channels of a recording are in its bytes, whatever a decoder makes of them
        probes = [probed(row.media[column])[0] for row in plan.rows if column in row.media]
        rates = {probe and probe.rate for probe in probes}
        rate = rates.pop() if len(rates) == 1 else None
        features[column] = ({"sampling_rate": rate} if rate else {}) | {"_type": "Audio"}
    if "events" in plan.schema.names:
        features["events"] = feature(plan.schema.field("events").type)
        if "class" in features["events"]["feature"]:
            features["events"]["feature"]["class"] = {"names": plan.classes, "_type": "ClassLabel"}
    schema = plan.schema.with_metadata(features_metadata(plan.schema, features))
    for name, split, rows in _shards(plan, "parquet", shard_bytes):
        write = partial(write_clips, rows, pa.table(plan.columns(rows)), schema)
        yield FilePart(name, sum(row.size for row in rows), write, split, len(rows))


def label_shards(plan: ExportPlan) -> Iterator[FilePart]:
    """Yield the Parquet files of labels, ``labels/SPLIT-00000-of-00001.parquet``, with a row for each event row."""
    for split, rows in plan.splits.items():
        clips = [row.name for row in rows if row.name in plan.label_files]
        parts = [clips[first : first + LABEL_CLIPS] for first in range(0, len(clips), LABEL_CLIPS)]
        for number, part in enumerate(parts):
            size = sum(plan.label_files[clip].entry.size for clip in part)
            name = f"labels/{split}-{number:05d}-of-{len(parts):05d}.parquet"
            tables = [plan.events[clip] for clip in part]
            files = tuple(file for table in tables for file in origin_of(table).files)
            layouts = {origin_of(table).format for table in tables}
            origin = Origin(layouts.pop() if len(layouts) == 1 else "", plan.events.vocabulary, files)
            table = with_origin(pa.concat_tables(conformed(table, plan.events.schema) for table in tables), origin)
            yield FilePart(name, size, partial(_write_labels, table, plan.classes), split, table.num_rows)


def write_clips(rows: Sequence[ClipRow], facts: pa.Table, schema: pa.Schema, stream: BinaryIO) -> None:
    """Write *rows* as a Parquet file of *schema*; *facts* has their columns that hold no files, and as many rows."""
    names = [field.name for field in schema if field.type.equals(FILE)]
    files = {name: [row.labels if name == LABELS else row.media.get(name) for row in rows] for name in names}
    sizes = {name: [-1 if entry is None else entry.size for entry in entries] for name, entries in files.items()}
    schema = schema.with_metadata({**(schema.metadata or {}), SIZES: json.dumps(sizes).encode()})
    raw = [f"{name}.bytes" for name in names if name != LABELS]
    pq.write_table(schema.empty_table(), empty := io.BytesIO())
    leaves = [column.path for column in pq.ParquetFile(empty).schema]
    others = [leaf for leaf in leaves if leaf not in raw]
    # after each value it is seen whether its page is full: so each recording has a page of its own. Content-defined
    # chunks would do the same and take half as long again; the Hub, which cuts the bytes itself, needs them not.
    with pq.ParquetWriter(
        stream,
        schema,
        compression={leaf: "none" if leaf in raw else "snappy" for leaf in leaves},
        use_dictionary=others,
        write_statistics=others,
        write_page_index=True,
        write_page_checksum=True,
        write_batch_size=1,
    ) as writer:
        first = 0
        for part in cut(rows, GROUP_BYTES, attrgetter("size")):
            group = facts.slice(first, len(part))
            columns: dict[str, Any] = {name: group[name] for name in group.column_names}
            for name, entries in files.items():
                cells = [
                    None if entry is None else {"bytes": entry.read(), "path": entry.name}
                    for entry in entries[first : first + len(part)]
                ]
                columns[name] = pa.array(cells, FILE)
            writer.write_table(pa.table(columns, schema=schema), row_group_size=len(part))
            first += len(part)


def _write_labels(table: pa.Table, classes: Sequence[str], stream: BinaryIO) -> None:
    features = features_metadata(table.schema, {"class_id": {"names": classes, "_type": "ClassLabel"}})
    extended = table.replace_schema_metadata({**(table.schema.metadata or {}), **features})
    # where the stored type is not that of the feature, `datasets` passes the feature over
    write_parquet(extended, stream, {"class_id": pa.int64()} if "class_id" in table.column_names else {})


# --- WebDataset ------------------------------------------------------------------------------------------


def tar_shards(plan: ExportPlan, shard_bytes: int) -> Iterator[FilePart]:
    """Yield the tar files of clips, ``data/SPLIT-00000-of-00001.tar``, each clip's files under its key."""
    for name, split, rows in _shards(plan, "tar", shard_bytes):
        records = [{field: value for field, value in row.facts().items() if field in plan.facts} for row in rows]
        for row, record in zip(rows, records, strict=True):
            record["files"] = {name.removeprefix(f"{row.key}."): entry.name for name, entry in _members(row)}
            if plan.items:
                record["items"] = plan.items.get(row.name, [])
        yield FilePart(name, sum(row.size for row in rows), partial(_write_tar, rows, records), split, len(rows))


def _write_tar(rows: Sequence[ClipRow], records: Sequence[dict[str, Any]], stream: BinaryIO) -> None:
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for row, record in zip(rows, records, strict=True):
            for name, entry in _members(row):
                with entry.open() as file:
                    _add(tar, name, file)
            text = json.dumps(record, ensure_ascii=False)
            _add(tar, f"{row.key}.json", io.BytesIO(text.encode(errors="backslashreplace")))


def _members(row: ClipRow) -> list[tuple[str, Entry]]:
    """Return the files of a clip with their names in the tar, such as ``KEY.foa.wav`` and ``KEY.csv``, by name."""
    members: dict[str, Entry] = {}
    for column, entry in row.media.items():
        array = "" if column == "video" else f"{row.array if column == 'audio' else column}."
        members[f"{row.key}.{array}{suffix_of(entry.name)}"] = entry
    if row.labels is not None:
        suffix = suffix_of(row.labels.name)
        members[f"{row.key}.{'labels.' if suffix == 'json' else ''}{suffix}"] = row.labels
    return sorted(members.items())


def _add(tar: tarfile.TarFile, name: str, file: BinaryIO) -> None:
    member = tarfile.TarInfo(name)  # time 0, owner 0, mode 644
    member.size = file.seek(0, io.SEEK_END)
    file.seek(0)
    tar.addfile(member, file)


# --- AudioFolder and VideoFolder -------------------------------------------------------------------------


def folder_files(plan: ExportPlan, kind: str) -> list[FilePart]:
    """Return the files of an AudioFolder or VideoFolder (*kind*): copies of each clip's files, metadata by split."""
    parts: list[FilePart] = []
    listings: dict[str, pa.Table] = {}
    main = "video" if kind == "videofolder" else "audio"
    for split, rows in plan.splits.items():
        columns: dict[str, Any] = {}
        for column in (*sorted(plan.media, key=lambda column: column != main), LABELS):
            # `datasets` loads columns by their names, and takes any file below the split for one of the folder's type
            is_loaded = column != LABELS and (column == "video") == (kind == "videofolder")
            paths: list[str | None] = []
            for row in rows:
                entry = row.labels if column == LABELS else row.media.get(column)
                if entry is None:
                    paths.append(None)
                    continue
                folder = {"audio": row.array, LABELS: "labels"}.get(column, column)
                paths.append(f"{folder}/{row.key}.{suffix_of(entry.name)}")
                parts.append(copied(f"{split}/{paths[-1]}" if is_loaded else str(paths[-1]), entry, split))
            if is_loaded:
                column = "file_name" if column == main else f"{column}_file_name"
            columns |= {column: pa.array(paths, pa.string())} if column != LABELS else {}
        listings[split] = pa.table(columns | plan.columns(rows))
    # JSON alone does not tell the type of a column that is empty throughout, which `datasets` wants to know
    in_json = all(_has_values(column.combine_chunks()) for table in listings.values() for column in table.columns)
    for split, rows in plan.splits.items():
        write = _write_lines if in_json else pq.write_table
        name = f"{split}/metadata.{'jsonl' if in_json else 'parquet'}"
        size = sum(row.size for row in rows)
        parts.append(FilePart(name, size, partial(write, listings[split]), split, len(rows)))
    return parts


def _has_values(column: pa.Array) -> bool:
    """Return whether a column has a value in any row, and if it is nested each column in it as well."""
    if pa.types.is_list(column.type):
        return _has_values(column.flatten())
    if pa.types.is_struct(column.type):
        return all(map(_has_values, column.flatten()))
    return bool(column.null_count < len(column))


def _write_lines(table: pa.Table, stream: BinaryIO) -> None:
    for batch in table.to_batches(max_chunksize=16):  # clips, of which each has a list of events
        lines = (json.dumps(record, ensure_ascii=False) for record in batch.to_pylist())
        stream.writelines(f"{line}\n".encode(errors="backslashreplace") for line in lines)


# --- the folder of an export -----------------------------------------------------------------------------


def _earlier(out: Path, overwrite: bool) -> dict[str, int]:
    """Return the sizes of the files of an export that may be replaced, by name, -1 for any; none in an empty folder."""
    shown = printable(str(out))
    if out.exists() and not out.is_dir():
        raise UsageError(f"{shown} is a file, but an export is a folder")
    if not out.is_dir() or not any(out.iterdir()):
        return {}
    state = in_the_way(out / MANIFEST, out)
    if state is None or not stat.S_ISREG(state.st_mode):
        raise UsageError(f"{shown} is not empty: choose a new folder for the export")
    try:
        manifest = Manifest.load(out)
        # a run that was broken off has noted no sizes
        unknown = 0 if manifest.finished else -1
        sizes = {safe_name(file.name, shown): file.bytes or unknown for file in manifest.files}
    except SeldioError:
        raise UsageError(f"{shown} holds another {MANIFEST}: choose a new folder") from None
    if manifest.finished and not overwrite:
        raise UsageError(f"{shown} holds a finished export: choose a new folder, or add --overwrite")
    return sizes


def _write_files(
    out: Path, kind: str, parts: Sequence[FilePart], overwrite: bool, on_disk: bool
) -> tuple[ExportFile, ...]:
    """Write the files of an export, each whole or not at all, and remove those that only an earlier export wrote.

    The manifest that is there meanwhile names all of them, and says that the export is not finished. Other processes
    help where the source is *on_disk*.
    """
    shown, earlier, names = printable(str(out)), _earlier(out, overwrite), {part.name for part in parts}
    all_names = sorted(names | earlier.keys())
    strange: list[str] = []
    for name in all_names:
        state = in_the_way(out / name, out)
        if state and not (stat.S_ISREG(state.st_mode) and earlier.get(name) in (-1, state.st_size)):
            strange.append(name)
    if strange:
        what = f"{plural(len(strange), 'file')} in the way in {shown} that are not as an export wrote them"
        raise UsageError(f"{what}: {listed(strange, 20)}. Move them away")
    make_folder(out)
    unfinished = Manifest(kind, tuple(ExportFile(name, 0, "") for name in all_names), finished=False)
    write_bytes(out / MANIFEST, unfinished.to_json(), out)
    try:
        write, size = partial(_write, str(out)), attrgetter("size")
        files = list(parallel_map(write, parts, what="writing files", size=size, here=not on_disk))
    except KeyboardInterrupt:
        text = f"stopped; the export in {shown} is not finished: run the same command again"
        raise KeyboardInterrupt(text) from None
    for name in earlier.keys() - names:
        if in_the_way(out / name, out) is not None:
            remove(out / name, out)
    return tuple(sorted(files, key=attrgetter("name")))


def _write(out: str, part: FilePart) -> ExportFile:
    path = Path(out, part.name)
    with atomic_write(path, out) as stream:
        part.write(stream)
    return ExportFile(part.name, path.stat().st_size, _sha256(path), part.split, part.rows, part.origin)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# --- the way back ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class Stored(Conversion):
    """The result of writing an export, or of making files from one again."""

    bytes: int = 0  # of the files written

    def lines(self) -> Iterator[str]:
        """Yield the lines that ``seldio convert`` prints."""
        yield (
            f"{' and '.join(self.formats)} to {self.target}: {plural(self.clips, 'clip')} from "
            f"{plural(self.files, 'file')}, in {plural(len(self.written), 'file')} ({self.bytes:,} bytes)"
        )
        yield from (f"  {note}" for note in self.notes)


def convert_stored(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | BinaryIO,
    to: str,
    format: str | None,
    *,
    force: bool = False,
    overwrite: bool = False,
) -> Stored:
    """Export a dataset as :func:`export` does; with *to* ``files`` make an export's files again, byte for byte.

    Raises:
        UsageError: *out* is not a folder, *path* is not an export, or *out* is not empty.
        InvalidData: the export is not finished, or a file is missing or damaged.
        DataError: a file is not the one that was written.
        SeldioError: the disk fails.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes a folder: use -o FOLDER")
    if to == "files":
        manifest, written = _files_again(Path(path), Path(out))
        formats, files, size = manifest.kind, len(manifest.files), sum(file.stat().st_size for file in written)
    else:
        kind = "parquet" if to == "hf-parquet" else to
        manifest = export(path, out, kind, format=format, force=force, overwrite=overwrite)
        written = [Path(out) / file.name for file in manifest.files]
        formats, files = manifest.statistics["layout"], sum(manifest.statistics["files"].values())
        size = sum(file.bytes for file in manifest.files)
    clips, others = manifest.statistics["clips"], manifest.statistics["files"]["other"]
    notes = (f"{plural(others, 'file')} of no clip copied unchanged",) if others else ()
    paths = tuple(map(str, written))
    return Stored((formats,), to, files, paths, clips, (clips, clips), notes=notes, bytes=size)


def _files_again(folder: Path, place: Path) -> tuple[Manifest, list[Path]]:
    """Make the files that the export in *folder* was made from, if it is as it was written; return their paths."""
    manifest = Manifest.load(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{printable(str(place))} exists and is not empty: choose a new folder")
    with open_source(folder, raise_errors, LARGE) as source:
        for file in manifest.files:
            path = folder / safe_name(file.name, str(folder))
            if _sha256(path) != file.sha256:
                shown = printable(str(path))
                raise DataError(f"{shown} is not the file that was written (its SHA-256 differs): fetch it again")
        written = [place / safe_name(entry.name, entry.path) for entry in source]
        for entry, target in zip(source, written, strict=True):
            with atomic_write(target, place) as stream:
                entry.copy_to(stream)
    return manifest, written
