"""Where the values of a binary column lie in a Parquet file, so that a part of one can be read without the others.

That can be told where pages are neither compressed nor encoded, as :mod:`seldio.data` and the library ``datasets``
write recordings. pyarrow reads whole columns of whole row groups only, and says nothing of pages; their headers are
Thrift's compact protocol.

Reference: https://github.com/apache/parquet-format (README.md, Encodings.md, src/main/thrift/parquet.thrift).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

#: Bytes that the header of a page may have.
_HEADER = 2**13
_DATA_PAGE, _PLAIN = 0, 0
#: Fields of a page header, and of the header of a data page in it.
_TYPE, _UNPACKED, _PACKED, _DATA = 1, 2, 3, 5
_COUNT, _ENCODING = 1, 2
#: What damaged headers lead to.
_ASTRAY = (IndexError, KeyError, ValueError, TypeError, RecursionError)

#: Where a value begins and how long it is; None for an absent one.
Place = tuple[int, int] | None


def places(stream: BinaryIO, chunk: Any, most: int) -> list[Place] | None:
    """Where the values of a column lie in the file.

    Args:
        stream: the file.
        chunk: the metadata of the column in one row group, as pyarrow gives it.
        most: the highest definition level: how many of the column and its parents may be absent.

    Returns:
        A place for each row; None where they do not lie there plainly, or where the pages are damaged.
    """
    if chunk.compression != "UNCOMPRESSED" or chunk.has_dictionary_page:
        return None
    end = chunk.data_page_offset + chunk.total_compressed_size
    try:
        found: list[Place] = []
        at = chunk.data_page_offset
        while len(found) < chunk.num_values and at < end:
            header, start = _header(stream, at)
            at = start + header[_PACKED]
            if header[_TYPE] != _DATA_PAGE or header[_DATA][_ENCODING] != _PLAIN or header[_PACKED] < 0 or at > end:
                return None
            found += _page(stream, start, at, header[_DATA][_COUNT], most)
    except _ASTRAY:
        return None
    return found if len(found) == chunk.num_values else None


def _page(stream: BinaryIO, start: int, end: int, count: int, most: int) -> Iterator[Place]:
    """The values of a page: levels that tell which are there, then length and bytes of each of those."""
    at, levels = start, [most] * count
    if most:
        length = _number(_piece(stream, at, 4))
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
        packed = int.from_bytes(_cut(data, at, length), "little")
        at += length
        if head & 1:
            found += [packed >> (number * width) & (2**width - 1) for number in range((head >> 1) * 8)]
        else:
            found += [packed] * min(head >> 1, count)
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


def _header(stream: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """The header of the page at *at*, and where its data begin."""
    stream.seek(at)
    found, used = _struct(stream.read(_HEADER), 0)
    return found, at + used


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
