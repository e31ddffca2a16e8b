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

import dataclasses
import io
import json
import shutil
import tarfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.data.arrow_tables import Events, conformed
from seldio.data.export_table import (
    LABELS,
    ClipColumns,
    ClipRow,
    ExportPlan,
    Questions,
    class_label,
    describe,
    feature,
    features_metadata,
)
from seldio.files import Entry
from seldio.files.exports import SIZES
from seldio.files.names import suffix_of
from seldio.formats.parquet import write_parquet
from seldio.parallel import cut, parallel_map
from seldio.schema.events import ClipFile, Origin, origin_of, with_origin
from seldio.schema.streams import from_stream, to_stream

#: Bytes of files in a row group of several clips: read whole for one of them in about a millisecond.
GROUP_BYTES = 2_000_000
#: Clips of a file of labels, and clips of which the metadata of a folder are made at a time.
LABEL_CLIPS, LISTED_CLIPS = 10_000, 16


class Content(ABC):
    """What writes the content of a file; a frozen dataclass, so that another process can do it."""

    @abstractmethod
    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of rows."""


@dataclasses.dataclass(frozen=True)
class FilePart:
    """One file of an export: the part that is worked on."""

    name: str  # POSIX path below the folder of the export
    inputs: tuple[Entry, ...]  # the files of the source that it is made of
    content: Content  # writes it
    split: str | None = None  # the split that it belongs to
    origin: str | None = None  # the file of the source that it is a copy of; None where it holds several
    gathered: bool = False  # whether its content is put together in one process, from parts that are made anywhere

    @property
    def size(self) -> int:
        """Bytes of the files that it is made of."""
        return sum(max(entry.size, 0) for entry in self.inputs)


@dataclasses.dataclass(frozen=True)
class _Copy(Content):
    entry: Entry

    def __call__(self, stream: BinaryIO) -> int:
        with self.entry.open() as source:
            shutil.copyfileobj(source, stream, 1 << 20)
        return 0


@dataclasses.dataclass(frozen=True)
class Bytes(Content):
    """What seldio made itself."""

    data: bytes

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; it has no rows."""
        stream.write(self.data)
        return 0


def copied(name: str, entry: Entry, split: str | None = None) -> FilePart:
    """A file of the source as it is."""
    return FilePart(name, (entry,), _Copy(entry), split, entry.name)


@dataclasses.dataclass
class ExportFiles:
    """The files of a kind, but for copies of what is of no clip; their features, and the shards to be listed."""

    parts: list[FilePart] = dataclasses.field(default_factory=list)
    features: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    shards: list[str] = dataclasses.field(default_factory=list)


def _shards(
    plan: ExportPlan, suffix: str, shard_bytes: int, content: Callable[[Sequence[ClipRow]], Content]
) -> Iterator[FilePart]:
    """Files of the clips of each split, of at most *shard_bytes* or of one clip that is larger."""
    for split, rows in plan.splits.items():
        parts = list(cut(rows, shard_bytes, attrgetter("size")))
        for number, part in enumerate(parts):
            name = f"data/{split}-{number:05d}-of-{len(parts):05d}.{suffix}"
            yield FilePart(name, tuple(entry for row in part for entry in row.files), content(part), split)


# --- Parquet ---------------------------------------------------------------------------------------------


def parquet_files(plan: ExportPlan, _: str, *, embed: bool, shard_bytes: int) -> ExportFiles:
    """Shards of clips, tables of labels, and without *embed* copies of recordings and videos."""
    columns = ClipColumns.of(plan, embed)
    found = ExportFiles(features={"default": dict(columns.described)})
    found.parts += _shards(plan, "parquet", shard_bytes, lambda rows: ParquetShard(columns.part(rows), rows))
    for split, rows in plan.splits.items():
        clips = [row.name for row in rows if row.name in plan.label_files]
        if clips:
            described = describe(plan.events.schema, {"class_id": class_label(plan.classes)})
            found.features["labels"] = described
        parts = [clips[first : first + LABEL_CLIPS] for first in range(0, len(clips), LABEL_CLIPS)]
        for number, part in enumerate(parts):
            events = plan.events.part(part)
            shard = LabelShard(events, part, plan.events.schema, plan.events.vocabulary, described)
            inputs = tuple(plan.label_files[clip].entry for clip in part)
            found.parts.append(
                FilePart(f"labels/{split}-{number:05d}-of-{len(parts):05d}.parquet", inputs, shard, split)
            )
    if not embed:
        found.parts += [copied(f"media/{e.name}", e) for row in plan.rows for e in row.media.values()]
    return found


@dataclasses.dataclass(frozen=True)
class ParquetShard(Content):
    """A file of clips."""

    columns: ClipColumns
    rows: Sequence[ClipRow]

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its rows."""
        sizes = {SIZES: json.dumps(self.columns.sizes(self.rows)).encode()}
        schema = self.columns.schema.with_metadata(features_metadata(self.columns.described) | sizes)
        leaves = [path for field in schema for path in _leaves(field.name, field.type)]
        media = [f"{name}.bytes" for name in self.columns.media]
        others = [leaf for leaf in leaves if leaf not in media]
        # after each value it is seen whether its page is full: so each recording has a page of its own. Content-defined
        # chunks would do the same and take half as long again; the Hub, which cuts the bytes itself, needs them not.
        with pq.ParquetWriter(
            stream, schema, compression={leaf: "none" if leaf in media else "snappy" for leaf in leaves},
            use_dictionary=others, write_statistics=others, write_page_index=True, write_page_checksum=True,
            write_batch_size=1,
        ) as writer:  # fmt: skip
            for part in cut(self.rows, GROUP_BYTES, attrgetter("size")):
                writer.write_table(self.columns.table(part, schema), row_group_size=len(part))
        return len(self.rows)


def _leaves(path: str, kind: pa.DataType) -> Iterator[str]:
    """The paths of the columns inside of a column as they lie in a Parquet file."""
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _leaves(f"{path}.{field.name}", field.type)
    elif pa.types.is_list(kind):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    else:
        yield path


@dataclasses.dataclass(frozen=True)
class LabelShard(Content):
    """A file of labels: one event table, whose clips have the names that they have in the table of clips.

    Its columns and class list are those of all labels of the export.
    """

    events: Events
    clips: Sequence[str]
    schema: pa.Schema
    vocabulary: str
    described: Mapping[str, Any]

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its rows."""
        layouts: set[str] = set()
        files: list[ClipFile] = []
        parts = [self.schema.empty_table()]
        for clip in self.clips:
            table = self.events.read(clip)
            origin = origin_of(table)
            layouts.add(origin.format)
            files += [file for file in origin.files if file.clip == clip]
            parts.append(conformed(table, self.schema))
        layout = layouts.pop() if len(layouts) == 1 else ""
        table = with_origin(pa.concat_tables(parts), Origin(layout, self.vocabulary, tuple(files)))
        write_label_table(table, stream, self.described)
        return int(table.num_rows)


def write_label_table(table: pa.Table, stream: BinaryIO, described: Mapping[str, Any]) -> None:
    """Write an event table with its features; see :func:`seldio.formats.parquet.write_parquet`."""
    extended = {**(table.schema.metadata or {}), **features_metadata(described)}
    # where the stored type is not that of the feature, `datasets` passes the feature over
    wide = {name: pa.int64() for name, feature in described.items() if feature.get("_type") == "ClassLabel"}
    write_parquet(table.replace_schema_metadata(extended), stream, wide)


# --- WebDataset ------------------------------------------------------------------------------------------


def tar_files(plan: ExportPlan, _: str, *, shard_bytes: int, **__: object) -> ExportFiles:
    """Shards of clips; there are no typed columns to tell of."""

    def shard(rows: Sequence[ClipRow]) -> TarShard:
        items = {row.name: plan.items[row.name] for row in rows if row.name in plan.items}
        return TarShard(rows, plan.facts, items if plan.items else None)

    parts = list(_shards(plan, "tar", shard_bytes, shard))
    return ExportFiles(parts, shards=[part.name for part in parts])


@dataclasses.dataclass(frozen=True)
class TarShard(Content):
    """A tar file of clips: what is told of each, and its questions; None where there are none at all."""

    rows: Sequence[ClipRow]
    facts: tuple[str, ...]
    items: Questions | None

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its samples."""
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            for row in self.rows:
                members = dict(sorted(_members(row)))
                for name, entry in members.items():
                    with entry.open() as file:
                        _add(tar, name, file)
                record = {field: value for field, value in row.facts().items() if field in self.facts}
                record["files"] = {name.removeprefix(f"{row.key}."): entry.name for name, entry in members.items()}
                record |= {} if self.items is None else {"items": self.items.get(row.name, [])}
                text = json.dumps(record, ensure_ascii=False).encode(errors="backslashreplace")
                _add(tar, f"{row.key}.json", io.BytesIO(text))
        return len(self.rows)


def _members(row: ClipRow) -> Iterator[tuple[str, Entry]]:
    """The names in the tar, and the files; a name goes on behind the key with what the file is."""
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


def folder_files(plan: ExportPlan, kind: str, **_: object) -> ExportFiles:
    """Copies of the files of each clip, and the metadata of each split."""
    columns = ClipColumns.of(plan, embed=False)
    listings = {split: FolderListing(columns, kind, split, rows, plan.on_disk) for split, rows in plan.splits.items()}
    if not all(listing.tells_types() for listing in listings.values()):
        listings = {split: dataclasses.replace(listing, type="parquet") for split, listing in listings.items()}
    parts: list[FilePart] = []
    for split, listing in listings.items():
        for row in listing.rows:
            files = {**row.media, **({} if row.labels is None else {"labels": row.labels})}
            parts += [copied(_place(kind, split, row, name, entry), entry, split) for name, entry in files.items()]
        inputs = tuple(entry for row in listing.rows for entry in row.files)
        parts.append(FilePart(f"{split}/metadata.{listing.type}", inputs, listing, split, gathered=True))
    described = {
        name: value if name not in columns.media or _typed(kind, name) else feature(pa.string())
        for name, value in columns.described.items() if name != LABELS
    }  # fmt: skip
    return ExportFiles(parts, {"default": described})


def _typed(kind: str, column: str) -> bool:
    """Whether the files of a column are of the type of the folder."""
    return column != "labels" and (column == "video") == (kind == "videofolder")


def _column(kind: str, column: str) -> str:
    """The name in the metadata: ``file_name``, ``mic_file_name``, or the column itself where it is but a path."""
    if not _typed(kind, column):
        return column
    return "file_name" if column == _MAIN[kind] else f"{column}_file_name"


def _place(kind: str, split: str, row: ClipRow, column: str, entry: Entry) -> str:
    """Where a file goes; only files of the folder's type lie below its split, where others would be taken for it."""
    name = f"{row.array if column == 'audio' else column}/{row.key}.{suffix_of(entry.name)}"
    return f"{split}/{name}" if _typed(kind, column) else name


@dataclasses.dataclass(frozen=True)
class FolderListing(Content):
    """The metadata of a split, or of some rows of it; gathered from parts.

    *on_disk* is whether all files of its clips lie on disk as they are, *type* that of the file: jsonl or parquet.
    """

    columns: ClipColumns
    kind: str
    split: str
    rows: Sequence[ClipRow]
    on_disk: bool
    type: str = "jsonl"

    def _each(self, work: Callable[[FolderListing], Any], what: str) -> Iterator[Any]:
        rows = (self.rows[first : first + LISTED_CLIPS] for first in range(0, len(self.rows), LISTED_CLIPS))
        parts = (dataclasses.replace(self, rows=part, columns=self.columns.part(part)) for part in rows)
        return parallel_map(work, parts, what=what, here=not self.on_disk)

    def tells_types(self) -> bool:
        """Whether the JSON of the split alone tells the type of each column, as ``datasets`` wants it.

        It does not where a column is empty throughout the split: then Parquet tells.
        """
        empty: set[str] | None = None
        for filled, known in self._each(_filled, "reading labels"):
            empty = set(known) - filled if empty is None else empty - filled
            if not empty:
                return True
        return False

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its rows."""
        if self.type == "parquet":
            packed: Iterable[pa.Table] = map(from_stream, self._each(_packed, _LISTING))
            pq.write_table(pa.concat_tables(packed).combine_chunks(), stream)
        else:
            stream.writelines(self._each(_lines, _LISTING))
        return len(self.rows)

    def table(self) -> pa.Table:
        """The rows."""
        kind, split = self.kind, self.split
        columns: dict[str, Any] = {}
        for column in sorted(self.columns.media, key=lambda column: _column(kind, column) != "file_name"):
            files = [(row, row.media.get(column)) for row in self.rows]
            paths = [None if entry is None else _place(kind, split, row, column, entry) for row, entry in files]
            inside = [None if path is None else path.removeprefix(f"{split}/") for path in paths]
            columns[_column(kind, column)] = pa.array(inside if _typed(kind, column) else paths, pa.string())
        return pa.table(columns | self.columns.fact_columns(self.rows) | self.columns.nested(self.rows))


_LISTING = "writing metadata"


def _filled(listing: FolderListing) -> tuple[set[str], list[str]]:
    """The columns, and fields of nested ones, that have a value in any row; and all that there are."""
    table = listing.table()
    found = [leaf for name in table.column_names for leaf in _values(name, table[name].combine_chunks())]
    return {path for path, filled in found if filled}, [path for path, _ in found]


def _values(path: str, column: pa.Array) -> Iterator[tuple[str, bool]]:
    """The paths of the columns inside of a column, and whether they have a value anywhere."""
    if pa.types.is_list(column.type):
        yield from _values(f"{path}.list", column.flatten())
    elif pa.types.is_struct(column.type):
        for field, inner in zip(column.type, column.flatten(), strict=True):
            yield from _values(f"{path}.{field.name}", inner)
    else:
        yield path, column.null_count < len(column)


def _lines(listing: FolderListing) -> bytes:
    """Rows as JSON lines."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in listing.table().to_pylist())
    return text.encode(errors="backslashreplace")


def _packed(listing: FolderListing) -> bytes:
    """Rows as an Arrow stream."""
    return to_stream(listing.table())
