"""Tables as bytes of Arrow, on their way to another process."""

from __future__ import annotations

import pyarrow as pa


def to_stream(table: pa.Table) -> bytes:
    """A table of any kind as the bytes of an Arrow stream."""
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
