"""Files inside of a Parquet table: columns that are structs of ``bytes`` and ``path``, as ``datasets`` writes them.

pyarrow reads whole columns of whole row groups only, and says nothing of pages. Where pages are neither compressed nor
encoded, as :mod:`seldio.data` and ``datasets`` write recordings, :func:`places` tells from their headers (Thrift's
compact protocol) where each value lies, so that a part of one is read without the others. What that is worth, measured
with 100 recordings of 3.84 MB in row groups of 100 MB, one second of a random recording each time: 0.2 ms and 18 MB of
memory; by pyarrow alone 350 ms and 720 MB, and no sizes of files are known before they are read.

Footers are read by pyarrow. Nothing that a header says is believed: a page has at most as many values as its row group
has rows and at least one, and nothing of it lies outside of it, so that hostile pages cost no more than their bytes
(before, 40 bytes that promised 2^28 values took 64 s and 6 GB). A damaged page leaves the column to pyarrow.

Reference: https://github.com/apache/parquet-format (README.md, Encodings.md, src/main/thrift/parquet.thrift).
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seldio.errors import InvalidData
from seldio.files.archives import Member
from seldio.files.entries import Entry, Limits
from seldio.files.problems import problem
from seldio.files.streams import Inside, Stretch

#: Bytes up to which columns of row groups are kept, and how many of them; of larger ones it is the last.
_SMALL, _KEPT = 2**24, 16
#: Bytes of a column of a row group that is read as a whole.
_MOST = 2**31
#: Before 21, pyarrow made extension types of no column unless it was asked to, and had no such option.
_NO_EXTENSIONS = {name: False for name in signature(pq.ParquetFile).parameters if name == "arrow_extensions_enabled"}


def parquet_file(source: Any, **options: Any) -> pq.ParquetFile:
    """A Parquet file, its columns as they are stored, of no extension type."""
    return pq.ParquetFile(source, **options, **_NO_EXTENSIONS)


def cells(entry: Entry, stream: BinaryIO, limits: Limits) -> list[Member] | None:
    """The files in a table of clips; None where it is none (a column ``clip`` and columns of files)."""
    with _damage():
        return _cells(entry, stream, limits)


@contextmanager
def _damage() -> Iterator[None]:
    """Turn all that pyarrow raises on damaged files into OSError and ValueError."""
    try:
        yield
    except (pa.ArrowException, TypeError, MemoryError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _cells(entry: Entry, stream: BinaryIO, limits: Limits) -> list[Member] | None:
    file = parquet_file(stream)
    columns = [field.name for field in file.schema_arrow if _is_file(field.type)]
    if not columns or "clip" not in file.schema_arrow.names:
        return None
    groups = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
    if max(file.metadata.num_rows, sum(groups), *groups, 0) * len(columns) > limits.members:  # they may disagree
        raise InvalidData(problem("SAF105", entry.path, f"Holds more than {limits.members:,} files"))
    leaves = {file.metadata.schema.column(number).path: number for number in range(file.metadata.num_columns)}
    paths = [f"{column}.path" for column in columns]
    for group, leaf in product(range(len(groups)), (*paths, *(f"{column}.bytes" for column in columns))):
        chunk = file.metadata.row_group(group).column(leaves[leaf])
        packed, size = chunk.total_compressed_size, _unpacked(stream, chunk)
        if size > limits.unpacked(packed, size):
            what = f"A column unpacks to {size:,} bytes, from {packed:,} compressed"
            raise InvalidData(problem("SAF105", entry.path, what))
    file = parquet_file(stream, metadata=file.metadata, read_dictionary=paths)
    return [
        member for group in range(len(groups)) for column in columns
        for member in _members(file, stream, entry, group, column, leaves[f"{column}.bytes"], limits)
    ]  # fmt: skip


def _is_file(kind: pa.DataType) -> bool:
    if not pa.types.is_struct(kind) or {field.name for field in kind} != {"bytes", "path"}:
        return False
    data, path = kind.field("bytes").type, kind.field("path").type
    return bool((pa.types.is_binary(data) or pa.types.is_large_binary(data)) and pa.types.is_string(path))


def _members(
    file: pq.ParquetFile, stream: BinaryIO, entry: Entry, group: int, column: str, leaf: int, limits: Limits
) -> Iterator[Member]:
    """The files of a column in one row group."""
    chunk = file.metadata.row_group(group).column(leaf)
    names = file.read_row_group(group, [f"{column}.path"])[column].combine_chunks().field("path")
    known = names.dictionary.to_pylist()
    if chunk.num_values != len(names):
        raise ValueError("the columns of a row group differ in their number of rows")
    lies = places(stream, chunk, file.metadata.schema.column(leaf).max_definition_level)
    real = str(entry.local)
    sizes = _sizes(real, group, column, chunk) if lies is None else []
    for row, index in enumerate(names.indices.to_pylist()):
        if index is None or (lies is not None and lies[row] is None):
            continue  # no file, or one that lies beside the table
        if lies is None:
            start: Any = Cell(real, group, column, row, chunk.total_uncompressed_size)
            yield Member(known[index], 0, sizes[row], limits.file_bytes, chunk.data_page_offset, start)
        else:
            at, size = lies[row] or (0, 0)
            yield Member(known[index], 0, size, size, at, Stretch(real, at, size))


def _sizes(real: str, group: int, column: str, chunk: Any) -> list[int]:
    """The bytes of each file of a column that is compressed; -1 where it takes long to tell, as of recordings."""
    if chunk.total_compressed_size > _SMALL or chunk.total_uncompressed_size > _MOST:
        return [-1] * chunk.num_values
    data = _column(real, group, column, chunk.total_uncompressed_size)
    return [
        -1 if size is None else size for piece in data.chunks for values in [piece.field("bytes")]
        for size in pc.take(pc.binary_length(values.dictionary), values.indices).to_pylist()
    ]  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Cell(Inside):
    """A value of a column that is compressed; called, it gives a stream of it."""

    group: int
    column: str
    row: int  # in its group
    size: int  # bytes of the column in that row group

    def __call__(self) -> io.BytesIO:
        """See :class:`Inside`."""
        if self.size > _MOST:
            raise ValueError(f"the row group holds more than {_MOST:,} bytes")
        with _damage():
            data = _column(self.real, self.group, self.column, self.size)[self.row]["bytes"].as_py()
        if data is None:
            raise ValueError("no bytes")
        return io.BytesIO(data)


def _column(real: str, group: int, column: str, size: int) -> pa.ChunkedArray:
    read = _small if size <= _SMALL else _large
    return read(real, Path(real).stat().st_mtime_ns, group, column)


def _read(real: str, _: int, group: int, column: str) -> pa.ChunkedArray:
    """A column of a row group; values that are alike are held once."""
    leaf = f"{column}.bytes"
    with parquet_file(real, read_dictionary=[leaf], page_checksum_verification=True) as file:
        return file.read_row_group(group, [leaf])[column]


_small, _large = lru_cache(_KEPT)(_read), lru_cache(1)(_read)


# --- where the values of a column lie --------------------------------------------------------------------


#: Bytes that the header of a page may have: of recordings, and of values that are short enough for statistics.
_HEADER, _LONG_HEADER = 2**13, 2**16
_DATA_PAGE, _PLAIN = 0, 0
#: Fields of a page header, and of the header of a data page in it.
_TYPE, _UNPACKED, _PACKED, _DATA = 1, 2, 3, 5
_COUNT, _ENCODING = 1, 2
#: What damaged headers lead to.
_ASTRAY = (IndexError, KeyError, ValueError, TypeError, RecursionError)

#: Where a value begins and how long it is; None for an absent one.
Place = tuple[int, int] | None


def places(stream: BinaryIO, chunk: Any, most: int) -> list[Place] | None:
    """Where the values of a column lie in the file; None where they do not lie there plainly, or pages are damaged."""
    if chunk.compression != "UNCOMPRESSED" or chunk.has_dictionary_page:
        return None
    end = chunk.data_page_offset + chunk.total_compressed_size
    try:
        found: list[Place] = []
        at = chunk.data_page_offset
        while len(found) < chunk.num_values and at < end:
            stream.seek(at)
            header, used = _struct(stream.read(_HEADER), 0)
            start = at + used
            at = start + header[_PACKED]
            if header[_TYPE] != _DATA_PAGE or header[_DATA][_ENCODING] != _PLAIN or header[_PACKED] < 0 or at > end:
                return None
            count = header[_DATA][_COUNT]
            if not 0 < count <= chunk.num_values - len(found):
                return None
            found += _page(stream, start, at, count, most)
    except _ASTRAY:
        return None
    return found if len(found) == chunk.num_values else None


def _unpacked(stream: BinaryIO, chunk: Any) -> int:
    """The bytes that a column unpacks to, as its pages say; the footer may say less."""
    at, size = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset, 0
    end = at + chunk.total_compressed_size
    try:
        while at < end and chunk.compression != "UNCOMPRESSED":
            stream.seek(at)
            header, used = _struct(stream.read(_LONG_HEADER), 0)
            if min(header[_PACKED], header[_UNPACKED]) < 0:
                raise ValueError
            at, size = at + used + header[_PACKED], size + header[_UNPACKED]
    except _ASTRAY as error:
        raise ValueError("damaged page") from error
    return size


def _page(stream: BinaryIO, start: int, end: int, count: int, most: int) -> Iterator[Place]:
    """The values of a page: levels that tell which are there, then length and bytes of each of those."""
    at, levels = start, [most] * count
    if most:
        length = _number(_piece(stream, at, 4))
        if at + 4 + length > end:
            raise ValueError
        levels = _levels(_piece(stream, at + 4, length), count, most)
        at += 4 + length
    for level in levels[:count]:
        if level < most:
            yield None
            continue
        size = _number(_piece(stream, at, 4))
        if at + 4 + size > end:
            raise ValueError
        yield at + 4, size
        at += 4 + size


def _levels(data: bytes, count: int, most: int) -> list[int]:
    """Definition levels: runs of one level, and groups of eight packed into bits."""
    width = most.bit_length()
    found: list[int] = []
    at = 0
    while len(found) < count:
        head, at = _varint(data, at)
        length = -(-width // 8) if not head & 1 else (head >> 1) * width
        run = _cut(data, at, length)
        at += length
        if head & 1:
            for place in range(0, min(length, (count - len(found) + 7) // 8 * width), width):
                eight = int.from_bytes(run[place : place + width], "little")
                found += [eight >> (number * width) & (2**width - 1) for number in range(8)]
        else:
            found += [int.from_bytes(run, "little")] * min(head >> 1, count)
    return found


def _piece(stream: BinaryIO, at: int, size: int) -> bytes:
    stream.seek(at)
    return _cut(stream.read(size), 0, size)


def _cut(data: bytes, at: int, size: int) -> bytes:
    if len(data) < at + size:
        raise IndexError
    return data[at : at + size]


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


# --- Thrift ----------------------------------------------------------------------------------------


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError


def _struct(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """The fields of a struct by their numbers, and where it ends."""
    found: dict[int, Any] = {}
    field = 0
    while (head := data[at]) != 0:
        step, kind = head >> 4, head & 15
        at += 1
        if step:
            field += step
        else:
            number, at = _varint(data, at)
            field = number >> 1 ^ -(number & 1)
        found[field], at = _value(data, at, kind)
    return found, at + 1


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """A value: a flag (1, 2), a whole number (3 to 6), a float (7), text (8) or a struct (12)."""
    if kind in (1, 2):
        return kind == 1, at
    if kind in (4, 5, 6):
        number, at = _varint(data, at)
        return number >> 1 ^ -(number & 1), at
    if kind == 12:
        return _struct(data, at)
    size, at = _varint(data, at) if kind == 8 else ({3: 1, 7: 8}[kind], at)  # a page header has no other kinds
    return _cut(data, at, size), at + size
