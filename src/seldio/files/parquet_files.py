"""Files inside of a Parquet table: columns that are structs of ``bytes`` and ``path``, as ``datasets`` writes them."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seldio.errors import InvalidData
from seldio.files.archives import Member
from seldio.files.entries import Entry, Limits
from seldio.files.parquet_pages import places
from seldio.files.problems import problem
from seldio.files.regular import Inside, Stretch

#: Bytes up to which columns of row groups are kept, and how many of them; of larger ones it is the last.
_SMALL, _KEPT = 2**24, 16
#: Bytes of a column of a row group that is read as a whole.
_MOST = 2**31


def cells(entry: Entry, stream: BinaryIO, limits: Limits) -> list[Member] | None:
    """The files in a table of clips.

    Args:
        entry: the Parquet file, on disk.
        stream: it, opened.
        limits: on the number of files in it.

    Returns:
        None where it is no table of clips (one with a column ``clip`` and columns of files).

    Raises:
        InvalidData: it holds more than the limits allow (``SAF105``).
        OSError, ValueError: it is damaged.
    """
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
    file = pq.ParquetFile(stream, arrow_extensions_enabled=False)
    columns = [field.name for field in file.schema_arrow if _is_file(field.type)]
    if not columns or "clip" not in file.schema_arrow.names:
        return None
    if file.metadata.num_rows * len(columns) > limits.members:
        raise InvalidData(problem("SAF105", entry.path, f"Holds more than {limits.members:,} files"))
    leaves = {file.metadata.schema.column(number).path: number for number in range(file.metadata.num_columns)}
    paths = [f"{column}.path" for column in columns]
    file = pq.ParquetFile(stream, metadata=file.metadata, arrow_extensions_enabled=False, read_dictionary=paths)
    return [
        member for group in range(file.metadata.num_row_groups) for column in columns
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
    """A value of a column that is compressed; called, it gives a stream of it.

    Args:
        real: the Parquet file.
        group: the number of the row group.
        column: the column of files.
        row: the number of the row in its group.
        size: bytes of the column in that row group.
    """

    group: int
    column: str
    row: int
    size: int

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
    with pq.ParquetFile(
        real, read_dictionary=[leaf], page_checksum_verification=True, arrow_extensions_enabled=False
    ) as file:  # fmt: skip
        return file.read_row_group(group, [leaf])[column]


_small, _large = lru_cache(_KEPT)(_read), lru_cache(1)(_read)
