"""Event tables as Parquet: many clips in one file, without loss, the same bytes each time.

The columns are those of ``schema.events`` under their own names. The table's origin (format, class
list, files with their names and line ends, clips without any row) is in the file's metadata under
``seldio``, so that the label files come back as they were. A row group ends at a clip boundary, after
100 clips or a million rows: readers can fetch single clips. Pages carry checksums, so that bits that
flip on a disk are noticed.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, zip_longest
from types import MappingProxyType, NoneType
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seldio import vocabularies
from seldio.errors import UsageError
from seldio.findings import Sink
from seldio.formats.base import PARQUET_MAGIC, FileRows, Ints, LabelFormat, LabelReading, Place, TextFile
from seldio.reader_rules import READER_RULES
from seldio.schema.arrays import pc
from seldio.schema.events import COLUMNS, ClipFile, Origin, clip_codes, origin_of, with_origin
from seldio.text import clipped, listed, plural

#: What a file may ask of this machine.
MAX_ROWS = 100_000_000
MAX_BYTES = 16 * 2**30
#: When a row group ends.
GROUP_CLIPS = 100
GROUP_ROWS = 1_000_000
#: So many clips may be named in every row group.
FEW_CLIPS = 1_000
_ORIGIN = b"seldio"
_ARROW, _NO_ARROW = b"ARROW:schema", b"ARROW-schema"
#: A table whose clip column has another dictionary than its files' clips in their order says so here.
_CLIPS = b"seldio.clips"

_T = TypeVar("_T")
# What pyarrow raises on damaged files. OSError is one of them: it has no file, only bytes.
DAMAGE = (pa.ArrowException, OSError, ValueError, LookupError, TypeError, OverflowError, MemoryError)


def write_parquet(table: pa.Table, stream: BinaryIO, types: Mapping[str, pa.DataType] = MappingProxyType({})) -> None:
    """Write an event table with its origin to *stream*; one table gives the same bytes every time.

    Args:
        table: the rows.
        stream: takes the file.
        types: wider types for columns, as other readers want them.

    Raises:
        UsageError: the table has columns that no event table has, or two clips of one name.
    """
    if unknown := sorted(set(table.column_names) - set(COLUMNS)):
        raise UsageError(f"not columns of an event table: {', '.join(unknown)}")
    if "clip" not in table.column_names or table["clip"].null_count:
        raise UsageError("every row of an event table has a clip")
    origin, (codes, names) = origin_of(table), clip_codes(table)
    if len(set(names)) < len(names) or len({file.clip for file in origin.files}) < len(origin.files):
        raise UsageError("two clips of the table have the same name: they could not be separated again")
    metadata = {**(table.schema.metadata or {}), _ORIGIN: origin.to_json()}
    if names != [file.clip for file in origin.files]:
        metadata[_CLIPS] = json.dumps(names).encode()
    kinds = {name: kind for name, kind in COLUMNS.items() if name in table.column_names}
    written = pa.schema(list({**kinds, **types}.items()), metadata)
    numbered = table.set_column(table.column_names.index("clip"), "clip", pa.array(codes))
    dictionary = pa.array(names, pa.string())
    ends = [*(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)] if len(codes) else []
    start = count = 0
    with pq.ParquetWriter(stream, written, write_page_checksum=True) as writer:
        for end, following in zip_longest(ends, ends[1:]):
            count += 1
            if following is not None and count < GROUP_CLIPS and following - start <= GROUP_ROWS:
                continue  # a row group is whole runs of clips, up to so many of them, or rows
            group, group_names = numbered.slice(start, end - start), dictionary
            clips = group["clip"].to_numpy()
            # each row group has a dictionary of its own: of few clips, the names of all, as other programs write it;
            # of many clips, those that it needs, else the file would grow with their square
            if len(names) > FEW_CLIPS:
                used, clips = np.unique(clips, return_inverse=True)
                group_names = dictionary.take(pa.array(used))
            clip = pa.DictionaryArray.from_arrays(pa.array(clips, pa.int32()), group_names)
            group = group.set_column(group.column_names.index("clip"), "clip", clip)
            writer.write_table(group.select(written.names).cast(written), row_group_size=group.num_rows)
            start, count = end, 0


def read_parquet(data: bytes, path: str, sink: Sink) -> pa.Table | None:
    """Return the event table in *data*, equal to the one that was written; None after a finding.

    A file that is damaged or too large is ``SYN301``; columns that no event table has, or of other
    types, are ``SYN302``. Types that hold the same values (64-bit numbers, plain strings) are cast.
    """
    return guarded(data, path, sink, _event_table)


class Wrong(NamedTuple):
    """Why a file cannot be read."""

    code: str
    message: str
    hint: str


def guarded(data: bytes, path: str, sink: Sink, read: Callable[[pq.ParquetFile], _T | Wrong]) -> _T | None:
    """Return the result of *read* for the file in *data*; None after a finding, if it is damaged, too large, wrong."""
    from seldio.files.exports import parquet_file  # only tables need it

    try:
        # Without the Arrow schema in it, columns are read as what they are stored as: an extension type would run code.
        bare = parquet_file(pa.BufferReader(footer_of(data).replace(_ARROW, _NO_ARROW)))
        file = pq.ParquetFile(pa.BufferReader(data), metadata=bare.metadata, page_checksum_verification=True)
        result = too_large(file.metadata) or read(file)
    except DAMAGE as error:
        reason = clipped(" ".join(str(error).split()) or type(error).__name__, 160)
        result = Wrong("SYN301", f"the Parquet file is damaged: {reason}", "write or fetch the file again")
    if isinstance(result, Wrong):
        sink(READER_RULES[result.code].at(path, result.message, result.hint))
        return None
    return result


def footer_of(data: bytes) -> bytes:
    """Return a file without its rows: what tells its columns, and how many rows there are."""
    return PARQUET_MAGIC + data[-8 - int.from_bytes(data[-8:-4], "little") :]


def too_large(metadata: Any) -> Wrong | None:
    """Return why a file is refused before its rows are read; None where it is not."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    hint = "split it into files with fewer clips"
    if metadata.num_rows > MAX_ROWS:
        return Wrong("SYN301", f"{metadata.num_rows:,} rows, more than {MAX_ROWS:,}", hint)
    if size > MAX_BYTES:
        return Wrong("SYN301", f"{size:,} bytes unpacked, more than {MAX_BYTES:,}", hint)
    return None


_HINT = "an event table has some of these columns: " + ", ".join(COLUMNS)


def _event_table(file: pq.ParquetFile) -> pa.Table | Wrong:
    schema = file.schema_arrow
    if unknown := [name for name in schema.names if name not in COLUMNS]:
        return Wrong("SYN302", f"{plural(len(unknown), 'unknown column')}: {listed(unknown)}", _HINT)
    if len(set(schema.names)) < len(schema.names):
        return Wrong("SYN302", "a column appears twice", _HINT)
    if "clip" not in schema.names:
        return Wrong("SYN302", "the column clip is missing", _HINT)
    wrong = [f"{field.name} ({field.type})" for field in schema if not _fits(field.type, COLUMNS[field.name])]
    if wrong:
        return Wrong("SYN302", f"columns of another type than in an event table: {listed(wrong)}", _HINT)
    table = file.read()
    table.validate(full=True)
    clips = table["clip"].cast(pa.string()).combine_chunks()
    if clips.null_count:
        return Wrong("SYN302", f"{plural(clips.null_count, 'row')} without a clip", _HINT)
    names = [name for name in COLUMNS if name in table.column_names]
    try:
        columns = {name: table[name].cast(COLUMNS[name]) for name in names if name != "clip"}
    except pa.ArrowInvalid as error:
        return Wrong("SYN302", f"values that an event table cannot hold: {clipped(str(error), 120)}", _HINT)
    if "extra" in columns and not all(map(_is_object, columns["extra"].unique().to_pylist())):
        return Wrong("SYN302", "the column extra holds something other than JSON objects", _HINT)
    metadata = table.schema.metadata or {}
    try:
        order, origin = _origin(metadata, clips)
    except (ValueError, LookupError, TypeError, AttributeError):
        return Wrong("SYN302", "its seldio metadata cannot be read", "write the file again with seldio convert")
    columns["clip"] = pa.DictionaryArray.from_arrays(pc.index_in(clips, order), order)
    others = {key: value for key, value in metadata.items() if key not in (_ORIGIN, _CLIPS, _NO_ARROW)}
    return with_origin(pa.table({name: columns[name] for name in names}, metadata=others), origin)


def _fits(actual: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_dictionary(actual):
        actual = actual.value_type
    if pa.types.is_dictionary(wanted) or pa.types.is_string(wanted):
        return bool(pa.types.is_string(actual) or pa.types.is_large_string(actual) or pa.types.is_null(actual))
    if pa.types.is_list(wanted):
        return bool(actual.equals(wanted))
    if pa.types.is_floating(wanted) and not pa.types.is_boolean(wanted):
        return bool(pa.types.is_floating(actual) or pa.types.is_integer(actual) or pa.types.is_null(actual))
    kind = pa.types.is_boolean if pa.types.is_boolean(wanted) else pa.types.is_integer
    return bool(kind(actual) or pa.types.is_null(actual))


def _is_object(text: str | None) -> bool:
    """Return whether a text is a json object; an absent one counts."""
    try:
        return text is None or isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _origin(metadata: Mapping[bytes, bytes], clips: pa.Array) -> tuple[pa.Array, Origin]:
    """Return clip names and origin from *metadata*; raise an error of Python if seldio did not write it."""
    used = clips.unique()
    origin = Origin.from_json(metadata[_ORIGIN]) if _ORIGIN in metadata else None
    if origin is None:
        origin = origin_of(pa.table({"clip": used}))
    names = json.loads(metadata[_CLIPS]) if _CLIPS in metadata else [file.clip for file in origin.files]
    format: Any = origin.format
    sound = isinstance(format, str) and vocabularies.known(origin.vocabulary)
    kinds: dict[str, Any] = {
        "clip": str,
        "name": str,
        "final_newline": bool,
        "frames": (int, NoneType),
        "extra": (str, NoneType),
    }
    for file in origin.files if sound else ():  # the writer checks whether its name is safe
        sound &= all(isinstance(getattr(file, name), kind) for name, kind in kinds.items())
        sound = sound and file.newline in ("\n", "\r\n") and 0 <= (file.frames or 0) <= 10_000_000
        sound = sound and _is_object(file.extra)
    order = pa.array(names, pa.string())
    if not sound or len(set(names)) < len(names) or not pc.all(pc.is_in(used, order), min_count=0).as_py():
        raise ValueError
    return order, origin


# --- as one of the formats -------------------------------------------------------------------------


class ParquetPart(FileRows):
    """The rows of one clip; the line of a place is the number of its row in the table."""

    def __init__(self, path: str, table: pa.Table, origin: ClipFile, first: int, rows: int) -> None:
        super().__init__(TextFile(path, origin.name, origin.clip, b""), origin)
        self.table, self.first, self.rows = table, first, rows
        self._start = first  # in this table, whatever other tables are read with it

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`FileRows.place`."""
        number = self._start + row
        shown = self.table[field][number].as_py() if field in self.table.column_names else ""
        return Place(number + 1, 1, 1, str(shown), "")

    def lines(self, rows: Ints) -> Ints:
        """See :meth:`FileRows.lines`."""
        return rows + (self._start + 1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ParquetFormat(LabelFormat):
    """Event tables as Parquet."""

    def read(self, files: Sequence[TextFile], sink: Sink) -> LabelReading:
        """See :meth:`LabelFormat.read`: a part for each run of rows of a clip, and for each silent clip.

        After a finding the table is empty; UsageError if there is more than one file.
        """
        if len(files) != 1:
            raise UsageError("Parquet tables are read one file at a time: each holds many clips")
        path = files[0].path
        table = read_parquet(files[0].data, path, sink)
        if table is None:
            table = with_origin(pa.table({"clip": pa.array([], COLUMNS["clip"])}), Origin("", "starss"))
        codes, names = clip_codes(table)
        clips = {file.clip: file for file in origin_of(table).files}
        bounds = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)] if len(codes) else []
        parts = []
        for start, end in pairwise(bounds):
            clip = names[codes[start]]
            origin = clips.get(clip) or ClipFile(clip, f"{clip}.csv")
            parts.append(ParquetPart(path, table, origin, start, end - start))
        sounding = {part.origin.clip for part in parts}
        silent = [file for file in clips.values() if file.clip not in sounding]
        parts += [ParquetPart(path, table, file, len(codes), 0) for file in silent]
        return LabelReading(self, table, parts)

    def write(self, table: pa.Table, file: ClipFile) -> bytes:  # noqa: ARG002
        """Return the whole table, whatever *file* says."""
        stream = io.BytesIO()
        write_parquet(table, stream)
        return stream.getvalue()


PARQUET = ParquetFormat(
    name="parquet",
    title="labels of many clips in one Parquet file, without loss",
    role="table",
    suffix=".parquet",
    carries=tuple(COLUMNS),
    needs=("clip",),
    clips_by="rows",
    note="Row groups end at clip boundaries; names, line endings and silent clips are restored with the table.",
)
