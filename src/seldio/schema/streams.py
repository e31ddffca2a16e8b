"""Tables as bytes of Arrow: on their way to another process, and kept on disk."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

import pyarrow as pa

from seldio.text import clipped


def to_stream(table: pa.Table) -> bytes:
    """A table of any kind as the bytes of an Arrow stream, to be kept or to go to another process."""
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return bytes(stream.getvalue().to_pybytes())


def from_stream(data: bytes | memoryview) -> pa.Table:
    """The table that :func:`to_stream` packed."""
    return pa.ipc.open_stream(data).read_all()


def detached(table: pa.Table) -> pa.Table:
    """Return a copy of some rows of a table without the others, which a slice takes along when it is pickled."""
    columns = [
        column.cast(column.type.value_type).dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return from_stream(to_stream(pa.Table.from_arrays(columns, schema=table.schema)))


def checked_stream(data: bytes | memoryview) -> pa.Table:
    """The table that :func:`to_stream` packed, if these bytes are nothing else: they may come from anywhere.

    Raises:
        ValueError: they are damaged or made up, or compressed, so that they may become anything in memory.
    """
    try:
        messages = list(_messages(data))
        if any(message.type != "schema" and _compressed(message) for message in messages):
            raise ValueError("is compressed")
        table = from_stream(data)
        table.validate(full=True)
    except (pa.ArrowException, OSError, struct.error) as error:
        raise ValueError(f"is not a stream of Arrow ({clipped(str(error))})") from None
    return table


#: The bytes of a table as :func:`to_stream` packs them; they are checked where they come from a file.
TableBytes = Annotated[bytes, checked_stream]


def _messages(data: bytes | memoryview) -> Iterator[Any]:
    """The messages of a stream of Arrow, whose end is marked."""
    reader = pa.ipc.MessageReader.open_stream(data)
    with suppress(StopIteration):
        while True:
            yield reader.read_next_message()


def _compressed(message: Any) -> bool:
    """Whether the rows in a message of Arrow are compressed: its flatbuffer has a field for that, or lacks it."""
    data = message.metadata.to_pybytes()

    def number(kind: str, place: int) -> int:
        return int(struct.unpack_from(kind, data, place)[0])

    def field(table: int, index: int) -> int:
        """Where a field of a table stands; 0 where it is absent."""
        entries, slot = table - number("<i", table), 4 + 2 * index
        place = number("<H", entries + slot) if slot < number("<H", entries) else 0
        return table + place if place else 0

    def below(table: int, index: int) -> int:
        """Where the table begins that a field leads to."""
        place = field(table, index)
        return place + number("<I", place)

    rows = below(number("<I", 0), 2)
    return bool(field(below(rows, 1) if message.type == "dictionary" else rows, 3))
