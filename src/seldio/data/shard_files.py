"""Exports in shards: Parquet as the Hub reads it best, and WebDataset.

Parquet has a row for each clip with its files inside, and a table of all labels. ``data/SPLIT-00000-of-00001.parquet``
hold clips: recordings and videos as their bytes are (so FOA keeps its four channels), uncompressed and in row groups of
at most 100 MB, with a page index, so that one clip can be fetched from afar. ``labels/…`` hold the event tables of
:mod:`seldio.formats.parquet`, whose row groups end where clips end: few bytes change where few labels do. Both carry
the features of the library ``datasets``.

WebDataset has tar shards in which the files of a clip stand together under one key. ``data/SPLIT-00000-of-00001.tar``
hold ``KEY.foa.wav``, ``KEY.mic.wav``, ``KEY.mp4``, the label file (``KEY.csv``) and ``KEY.json``, which tells what the
clip is, its questions, and where each file came from. ``index.json`` lists the shards as the library wids does. Headers
hold no time and no owner, so the same files give the same bytes.
"""

from __future__ import annotations

import dataclasses
import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.data.arrow_tables import Events
from seldio.data.export_files import Export
from seldio.data.export_table import (
    Clips,
    Plan,
    Questions,
    Row,
    chunks,
    class_label,
    conformed,
    describe,
    features_metadata,
)
from seldio.files import Entry
from seldio.formats.parquet import write_parquet
from seldio.schema.events import ClipFile, Origin, origin_of, with_origin

#: Bytes of files in a row group: what ``datasets`` 5 aims at, and far below what the viewer can scan.
GROUP_BYTES = 100_000_000
#: Clips of a file of labels.
LABEL_CLIPS = 10_000


def write_parquet_shards(plan: Plan, made: Export, *, embed: bool, shard_bytes: int) -> dict[str, dict[str, Any]]:
    """Write the shards; return the features of each configuration."""
    clips = Clips.of(plan, embed)
    found: dict[str, dict[str, Any]] = {"default": dict(clips.described)} if plan.rows else {}
    for split, rows in plan.splits.items():
        shards = list(chunks(rows, shard_bytes))
        for number, part in enumerate(shards):
            name = f"data/{split}-{number:05d}-of-{len(shards):05d}.parquet"
            made.want(name, [entry for row in part for entry in row.files], ParquetShard(clips, part), split=split)
        if labelled := [row.name for row in rows if row.name in plan.files]:
            found["labels"] = _want_labels(plan, made, split, labelled)
    if not embed:
        for row in plan.rows:
            for entry in row.media.values():
                made.copy(f"media/{entry.name}", entry)
    made.work()
    return found


@dataclasses.dataclass(frozen=True)
class ParquetShard:
    """A file of clips."""

    clips: Clips
    rows: Sequence[Row]

    def portable(self) -> ParquetShard:
        """The same without the other clips."""
        return dataclasses.replace(self, clips=self.clips.part(self.rows))

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its rows."""
        schema = self.clips.schema.with_metadata(features_metadata(self.clips.described))
        leaves = list(_leaves(schema))
        media = [f"{name}.bytes" for name in self.clips.media]
        others = [leaf for leaf in leaves if leaf not in media]
        # after each value it is seen whether its page is full: so each recording has a page of its own. Content-defined
        # chunks would do the same and take half as long again; the Hub, which cuts the bytes itself, needs them not.
        with pq.ParquetWriter(
            stream, schema, compression={leaf: "none" if leaf in media else "snappy" for leaf in leaves},
            use_dictionary=others, write_statistics=others, write_page_index=True, write_page_checksum=True,
            write_batch_size=1,
        ) as writer:  # fmt: skip
            for part in chunks(self.rows, GROUP_BYTES):
                writer.write_table(self.clips.table(part, schema), row_group_size=len(part))
        return len(self.rows)


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


def _want_labels(plan: Plan, made: Export, split: str, clips: Sequence[str]) -> dict[str, Any]:
    """Say which files of labels there shall be; return their features."""
    described = describe(plan.events.schema, {"class_id": class_label(plan.classes)})
    parts = [clips[first : first + LABEL_CLIPS] for first in range(0, len(clips), LABEL_CLIPS)]
    for number, part in enumerate(parts):
        content = LabelShard(plan.events, part, plan.events.schema, plan.events.vocabulary, described)
        name = f"labels/{split}-{number:05d}-of-{len(parts):05d}.parquet"
        made.want(name, [plan.files[clip].entry for clip in part], content, split=split)
    return described


@dataclasses.dataclass(frozen=True)
class LabelShard:
    """A file of labels: one event table, whose clips have the names that they have in the table of clips.

    Args:
        events: the labels by clip.
        clips: those that are in the file.
        schema: the columns of all labels of the export.
        vocabulary: their class list.
        described: the columns as the library ``datasets`` describes them.
    """

    events: Events
    clips: Sequence[str]
    schema: pa.Schema
    vocabulary: str
    described: Mapping[str, Any]

    def portable(self) -> LabelShard:
        """The same without the other clips."""
        return dataclasses.replace(self, events=self.events.part(self.clips))

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its rows."""
        table = self.table()
        write_label_table(table, stream, self.described)
        return int(table.num_rows)

    def table(self) -> pa.Table:
        """The labels."""
        layouts: set[str] = set()
        files: list[ClipFile] = []
        parts = [self.schema.empty_table()]
        for clip in self.clips:
            table = self.events[clip]
            origin = origin_of(table)
            layouts.add(origin.format)
            files += [file for file in origin.files if file.clip == clip]
            parts.append(conformed(table, self.schema))
        layout = layouts.pop() if len(layouts) == 1 else ""
        return with_origin(pa.concat_tables(parts), Origin(layout, self.vocabulary, tuple(files)))


def write_label_table(table: pa.Table, stream: BinaryIO, described: Mapping[str, Any]) -> None:
    """Write an event table with its features; see :func:`seldio.formats.parquet.write_parquet`."""
    extended = {**(table.schema.metadata or {}), **features_metadata(described)}
    # where the stored type is not that of the feature, `datasets` passes the feature over
    wide = {name: pa.int64() for name, feature in described.items() if feature.get("_type") == "ClassLabel"}
    write_parquet(table.replace_schema_metadata(extended), stream, wide)


FOLDER = "data/"


def write_tar_shards(plan: Plan, made: Export, *, shard_bytes: int, **_: object) -> dict[str, dict[str, Any]]:
    """Write the shards and their index; there are no typed columns to tell of."""
    names = []
    for split, rows in plan.splits.items():
        parts = list(chunks(rows, shard_bytes))
        for number, part in enumerate(parts):
            names.append(f"{FOLDER}{split}-{number:05d}-of-{len(parts):05d}.tar")
            shard = TarShard(part, plan.facts, plan.items or None)
            made.want(names[-1], [entry for row in part for entry in row.files], shard, split=split)
    made.work()
    shards = [{"url": name, "nsamples": made.files[name].rows, "filesize": made.files[name].bytes} for name in names]
    index = {"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": shards}
    made.text("index.json", json.dumps(index, indent=1) + "\n")
    return {}


@dataclasses.dataclass(frozen=True)
class TarShard:
    """A tar file of clips.

    Args:
        rows: the clips.
        facts: what is told of each.
        items: questions by clip; None where there are none at all.
    """

    rows: Sequence[Row]
    facts: tuple[str, ...]
    items: Questions | None

    def portable(self) -> TarShard:
        """The same without the questions about other clips."""
        items = self.items
        return dataclasses.replace(
            self, items=None if items is None else {row.name: items[row.name] for row in self.rows if row.name in items}
        )

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its samples."""
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            for row in self.rows:
                members = dict(_members(row))
                for name, entry in sorted(members.items()):
                    with entry.open() as file:
                        _add(tar, name, file)
                text = json.dumps(self._record(row, members), ensure_ascii=False).encode(errors="backslashreplace")
                _add(tar, f"{row.key}.json", io.BytesIO(text))
        return len(self.rows)

    def _record(self, row: Row, members: Mapping[str, Entry]) -> dict[str, Any]:
        """What is told of a clip beside its files."""
        facts = {field: value for field, value in row.facts().items() if field in self.facts}
        files = {name.removeprefix(f"{row.key}."): entry.name for name, entry in sorted(members.items())}
        return {**facts, "files": files, **({} if self.items is None else {"items": self.items.get(row.name, [])})}


def _members(row: Row) -> Iterator[tuple[str, Entry]]:
    """The names in the tar, and the files; a name goes on behind the key with what the file is."""
    for column, entry in row.media.items():
        suffix = _suffix(entry)
        array = row.array if column == "audio" else column
        yield f"{row.key}.{suffix}" if column == "video" else f"{row.key}.{array}.{suffix}", entry
    if row.labels is not None:
        suffix = _suffix(row.labels)
        yield f"{row.key}.labels.json" if suffix == "json" else f"{row.key}.{suffix}", row.labels


def _suffix(entry: Entry) -> str:
    return entry.name.rpartition(".")[2].lower()


def _add(tar: tarfile.TarFile, name: str, file: BinaryIO) -> None:
    member = tarfile.TarInfo(name)  # time 0, owner 0, mode 644
    member.size = file.seek(0, io.SEEK_END)
    file.seek(0)
    tar.addfile(member, file)
