"""The event table: one row for each active source in each label frame.

A table is columns first. It has the columns its files carry and no others; ``COLUMNS`` is all that
exist, in their order. Rows appear only at the edges, as :class:`seldio.schema.event_rows.Event`.
What belongs to a clip and not to a row (its file, line ends, clips without any
row) rides along in the table's metadata as :class:`Origin`, so that writing back loses nothing.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from seldio.errors import UsageError
from seldio.schema.arrays import to_numpy
from seldio.text import plural

if TYPE_CHECKING:
    from seldio.schema import arrow_types

_TRIPLETS = pa.list_(pa.list_(pa.list_(pa.float64())))
#: No room of any dataset is larger (metres).
FARTHEST = 100.0
#: Every column of an event table with its Arrow type, in order.
COLUMNS: dict[str, pa.DataType] = {
    "clip": pa.dictionary(pa.int32(), pa.string()),
    "frame": pa.int32(),
    "onset": pa.float64(),
    "offset": pa.float64(),
    "class_id": pa.int32(),
    "class_name": pa.string(),
    "source": pa.int32(),
    "azimuth": pa.float64(),
    "elevation": pa.float64(),
    "distance": pa.float64(),
    "x": pa.float64(),
    "y": pa.float64(),
    "z": pa.float64(),
    "onscreen": pa.bool_(),
    "hemisphere": pa.bool_(),
    "score": pa.float64(),
    "segmentation": _TRIPLETS,
    "extra": pa.string(),
}


@dataclasses.dataclass(frozen=True, slots=True)
class ClipFile:
    """The source file of a clip's rows."""

    clip: str  # the clip's name in the table
    name: str  # path of the file below the source's root, with suffix
    newline: str = "\n"  # ``"\n"`` or ``"\r\n"``
    final_newline: bool = True  # whether the last row ends with one
    frames: int | None = None  # number of label frames, where the file tells (silent frames listed), else None
    extra: str | None = None  # what the file holds besides its rows, as a json object


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """The format, vocabulary and files (silent clips included) that an event table came from."""

    format: str
    vocabulary: str
    files: tuple[ClipFile, ...] = ()

    def to_json(self) -> bytes:
        """Return compact JSON; defaults of files are left out."""
        files = [
            {f.name: value for f in dataclasses.fields(file) if (value := getattr(file, f.name)) != f.default}
            for file in self.files
        ]
        record = {"format": self.format, "vocabulary": self.vocabulary, "files": files}
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return text.encode(errors="backslashreplace")  # names may hold bytes that are not UTF-8

    @staticmethod
    def from_json(data: bytes) -> Origin:
        """Return the inverse of :meth:`to_json`."""
        record = json.loads(data)
        return Origin(record["format"], record["vocabulary"], tuple(ClipFile(**f) for f in record["files"]))


_KEY = b"seldio"


def with_origin(table: pa.Table, origin: Origin) -> arrow_types.Table:
    """Return *table* with *origin* in its metadata."""
    labeled: arrow_types.Table = table.replace_schema_metadata(
        {**(table.schema.metadata or {}), _KEY: origin.to_json()}
    )
    return labeled


def origin_of(table: pa.Table) -> Origin:
    """Return the origin of *table*; for a table from elsewhere, one clip file ``CLIP.csv`` for each clip."""
    data = (table.schema.metadata or {}).get(_KEY)
    if data is not None:
        return Origin.from_json(data)
    clips = sorted(set(table["clip"].combine_chunks().to_pylist())) if "clip" in table.column_names else []
    return Origin("", "starss", tuple(ClipFile(clip, f"{clip}.csv") for clip in clips))


def check_clips(table: pa.Table) -> None:
    """Raise UsageError unless *table* has a column of clips, and every row has one."""
    if "clip" not in table.column_names:
        raise UsageError("the table has no column clip, the name of the recording in each row")
    if missing := table["clip"].null_count:
        raise UsageError(f"{plural(missing, 'row')} of the table without a clip, the name of the recording")


def clip_codes(table: pa.Table) -> tuple[np.ndarray[Any, np.dtype[np.int32]], list[str]]:
    """Return the clips as int32 codes (one a row) and their names; raise UsageError if there is no such column."""
    check_clips(table)
    column = table["clip"].combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return to_numpy(column.indices).astype(np.int32, copy=False), column.dictionary.to_pylist()
