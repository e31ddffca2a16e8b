"""AudioFolder and VideoFolder: plain files, and a ``metadata.jsonl`` that tells what belongs to them.

``SPLIT/metadata.jsonl`` has a line for each clip. ``file_name``, and ``mic_file_name`` for a second array, lead to
the files beside it, and are the only columns that ``datasets`` turns into recordings (or videos, in a VideoFolder). It
gives every ``…_file_name`` of an AudioFolder the type Audio, so the video of a clip is named in a plain column
``video``, its path below the root. Labels are nested in the line, and lie in ``labels/`` as they were.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.files import Entry
from seldio.storage import features
from seldio.storage.manifest import Export, Manifest
from seldio.storage.parquet import Clips
from seldio.storage.rows import Plan, Row

#: The name of the column that ``file_name`` becomes.
_MAIN = {"audiofolder": "audio", "videofolder": "video"}


def export(source: str | os.PathLike[str], out: str | os.PathLike[str], **options: Any) -> Manifest:
    """:func:`seldio.storage.export` as an AudioFolder."""
    from seldio.storage.exporting import export as exported

    return exported(source, out, "audiofolder", **options)


def write(plan: Plan, made: Export, **_: object) -> dict[str, dict[str, Any]]:
    """Write the files and the metadata of each split; return the features."""
    clips = Clips(plan, embed=False)
    tables = {split: _table(clips, made.kind, split, rows) for split, rows in plan.splits.items()}
    suffix = "jsonl" if _told_alike(tables.values()) else "parquet"
    for split, rows in plan.splits.items():
        for row in rows:
            for column, entry in row.media.items():
                made.copy(_place(made.kind, split, row, column, entry), entry, split=split)
            if row.labels is not None:
                made.copy(_place(made.kind, split, row, "labels", row.labels), row.labels, split=split)
        inputs = [entry for row in rows for entry in row.files]
        made.produce(f"{split}/metadata.{suffix}", inputs, partial(_listing, tables[split], suffix), split=split)
    return {"default": _described(clips, made.kind)} if plan.rows else {}


def _typed(kind: str, column: str) -> bool:
    """Whether the files of a column are of the type of the folder."""
    return column != "labels" and (column == "video") == (kind == "videofolder")


def _column(kind: str, column: str) -> str:
    """The name in the metadata: ``file_name``, ``mic_file_name``, or the column itself where it is but a path."""
    if not _typed(kind, column):
        return column
    return "file_name" if column == _MAIN[kind] else f"{column}_file_name"


def _place(kind: str, split: str, row: Row, column: str, entry: Entry) -> str:
    """Where a file goes; only files of the folder's type lie below its split, where others would be taken for it."""
    folder = row.array if column == "audio" else column
    name = f"{folder}/{row.key}.{entry.name.rpartition('.')[2]}"
    return f"{split}/{name}" if _typed(kind, column) else name


def _table(clips: Clips, kind: str, split: str, rows: Sequence[Row]) -> pa.Table:
    """The metadata of a split."""
    plan = clips.plan
    columns: dict[str, Any] = {}
    for column in sorted(plan.media, key=lambda column: _column(kind, column) != "file_name"):
        files = [(row, row.media.get(column)) for row in rows]
        paths = [None if entry is None else _place(kind, split, row, column, entry) for row, entry in files]
        inside = [None if path is None else path.removeprefix(f"{split}/") for path in paths]
        columns[_column(kind, column)] = pa.array(inside if _typed(kind, column) else paths, pa.string())
    facts = [row.facts() for row in rows]
    for name in plan.facts:
        columns[name] = pa.array([fact[name] for fact in facts], clips.schema.field(name).type)
    columns |= clips.nested(rows)
    return pa.table(columns)


def _told_alike(tables: Iterable[pa.Table]) -> bool:
    """Whether the JSON of each split alone tells the type of each column, as ``datasets`` wants it.

    It does not where a column is empty throughout a split: then Parquet tells.
    """
    return not any(_empty(column) for table in tables for column in table.columns)


def _empty(column: pa.ChunkedArray) -> bool:
    """Whether no value, or none inside of its lists and records, is there."""
    if pa.types.is_list(column.type):
        return _empty(pa.chunked_array([pa.concat_arrays([c.flatten() for c in column.chunks])]))
    if pa.types.is_struct(column.type) and column.null_count < len(column):
        return any(map(_empty, column.flatten()))
    return bool(column.null_count == len(column))


def _listing(table: pa.Table, suffix: str, stream: BinaryIO) -> int:
    if suffix == "parquet":
        pq.write_table(table, stream)
    else:
        text = io.TextIOWrapper(stream, "utf-8", errors="backslashreplace", newline="\n", write_through=True)
        for batch in table.to_batches(max_chunksize=64):
            text.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in batch.to_pylist())
        text.detach()
    return int(table.num_rows)


def _described(clips: Clips, kind: str) -> dict[str, Any]:
    """The columns as ``datasets`` describes them: in JSON, whole numbers are 64 bits and classes are numbers."""
    typed = [column for column in clips.plan.media if _typed(kind, column)]
    return {
        name: value if name in typed or name not in clips.plan.media else features.feature(pa.string())
        for name, value in clips.features.items() if name != "label_file"
    }  # fmt: skip
