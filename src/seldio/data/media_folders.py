"""AudioFolder and VideoFolder: plain files, and a ``metadata.jsonl`` that tells what belongs to them.

``SPLIT/metadata.jsonl`` has a line for each clip. ``file_name``, and ``mic_file_name`` for a second array, lead to
the files beside it, and are the only columns that ``datasets`` turns into recordings (or videos, in a VideoFolder). It
gives every ``…_file_name`` of an AudioFolder the type Audio, so the video of a clip is named in a plain column
``video``, its path below the root. Labels are nested in the line, and lie in ``labels/`` as they were.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.data.export_files import Export, spread
from seldio.data.export_table import LABELS, Clips, Plan, Row, feature
from seldio.files import Entry

#: The name of the column that ``file_name`` becomes.
_MAIN = {"audiofolder": "audio", "videofolder": "video"}
#: Clips of which the metadata are made at a time.
PART = 16


def write_media_folder(plan: Plan, made: Export, **_: object) -> dict[str, dict[str, Any]]:
    """Write the files and the metadata of each split; return the features."""
    clips = Clips.of(plan, embed=False)
    listings = {split: Listing(clips, made.kind, split, rows, plan.on_disk) for split, rows in plan.splits.items()}
    if not all(listing.tells_types() for listing in listings.values()):
        listings = {split: dataclasses.replace(listing, suffix="parquet") for split, listing in listings.items()}
    for split, listing in listings.items():
        for row in listing.rows:
            for column, entry in row.media.items():
                made.copy(_place(made.kind, split, row, column, entry), entry, split=split)
            if row.labels is not None:
                made.copy(_place(made.kind, split, row, "labels", row.labels), row.labels, split=split)
        inputs = [entry for row in listing.rows for entry in row.files]
        made.want(f"{split}/metadata.{listing.suffix}", inputs, listing, split=split, gathered=True)
    made.work()
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


@dataclasses.dataclass(frozen=True)
class Listing:
    """The metadata of a split, gathered from parts of it.

    Args:
        clips: the table of all clips.
        kind: of the folder.
        split: which one.
        rows: its clips.
        on_disk: whether all of their files lie on disk as they are.
        suffix: of the file: *jsonl* or *parquet*.
    """

    clips: Clips
    kind: str
    split: str
    rows: Sequence[Row]
    on_disk: bool
    suffix: str = "jsonl"

    def portable(self) -> Listing:
        """Itself: its parts go elsewhere."""
        return self

    def tells_types(self) -> bool:
        """Whether the JSON of the split alone tells the type of each column, as ``datasets`` wants it.

        It does not where a column is empty throughout the split: then Parquet tells.
        """
        empty: set[str] | None = None
        for filled, known in spread(_filled, self._parts(), self.on_disk, "reading labels"):
            empty = set(known) - filled if empty is None else empty - filled
            if not empty:
                return True
        return False

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its rows."""
        if self.suffix == "parquet":
            packed = spread(_packed, self._parts(), self.on_disk, "writing metadata")
            table = pa.concat_tables(pa.ipc.open_stream(part).read_all() for part in packed).combine_chunks()
            pq.write_table(table, stream)
        else:
            stream.writelines(spread(_lines, self._parts(), self.on_disk, "writing metadata"))
        return len(self.rows)

    def _parts(self) -> list[ListingPart]:
        rows = [self.rows[first : first + PART] for first in range(0, len(self.rows), PART)]
        return [ListingPart(self.clips, self.kind, self.split, part) for part in rows]


@dataclasses.dataclass(frozen=True)
class ListingPart:
    """Some rows of the metadata of a split."""

    clips: Clips
    kind: str
    split: str
    rows: Sequence[Row]

    def portable(self) -> ListingPart:
        """The same without the other clips."""
        return dataclasses.replace(self, clips=self.clips.part(self.rows))

    def table(self) -> pa.Table:
        """The rows."""
        kind, split, clips = self.kind, self.split, self.clips
        columns: dict[str, Any] = {}
        for column in sorted(clips.media, key=lambda column: _column(kind, column) != "file_name"):
            files = [(row, row.media.get(column)) for row in self.rows]
            paths = [None if entry is None else _place(kind, split, row, column, entry) for row, entry in files]
            inside = [None if path is None else path.removeprefix(f"{split}/") for path in paths]
            columns[_column(kind, column)] = pa.array(inside if _typed(kind, column) else paths, pa.string())
        facts = [row.facts() for row in self.rows]
        for name in clips.facts:
            columns[name] = pa.array([fact[name] for fact in facts], clips.schema.field(name).type)
        return pa.table(columns | clips.nested(self.rows))


def _filled(part: ListingPart) -> tuple[set[str], list[str]]:
    """The columns, and fields of nested ones, that have a value in any row; and all that there are."""
    table = part.table()
    found = [leaf for name in table.column_names for leaf in _leaves(name, table[name].combine_chunks())]
    return {path for path, filled in found if filled}, [path for path, _ in found]


def _leaves(path: str, column: pa.Array) -> Iterator[tuple[str, bool]]:
    """The paths of the columns inside of a column, and whether they have a value anywhere."""
    if pa.types.is_list(column.type):
        yield from _leaves(f"{path}.list", column.flatten())
    elif pa.types.is_struct(column.type):
        for field, inner in zip(column.type, column.flatten(), strict=True):
            yield from _leaves(f"{path}.{field.name}", inner)
    else:
        yield path, column.null_count < len(column)


def _lines(part: ListingPart) -> bytes:
    """Rows as JSON lines."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in part.table().to_pylist())
    return text.encode(errors="backslashreplace")


def _packed(part: ListingPart) -> bytes:
    """Rows as an Arrow stream."""
    table = part.table()
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return bytes(stream.getvalue().to_pybytes())


def _described(clips: Clips, kind: str) -> dict[str, Any]:
    """The columns as ``datasets`` describes them: in JSON, whole numbers are 64 bits and classes are numbers."""
    typed = [column for column in clips.media if _typed(kind, column)]
    return {
        name: value if name in typed or name not in clips.media else feature(pa.string())
        for name, value in clips.described.items() if name != LABELS
    }  # fmt: skip
