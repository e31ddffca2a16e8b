"""Columns of event tables: small helpers that the steps of a conversion share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from seldio.schema.events import COLUMNS

Ints = np.ndarray[Any, np.dtype[np.int64]]


def has(table: pa.Table, field: str) -> bool:
    """Whether *table* knows *field* of any row."""
    return field in table.column_names and table[field].null_count < table.num_rows


def with_column(table: pa.Table, field: str, values: Any) -> pa.Table:
    """*table* with a column added or replaced, cast to its type in the schema."""
    column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)
    column = column.cast(COLUMNS[field])
    if field in table.column_names:
        return table.set_column(table.column_names.index(field), field, column)
    return table.append_column(field, column)


def class_keys(table: pa.Table) -> tuple[list[tuple[int | None, str | None]], Ints]:
    """The different pairs of class number and given name, and which of them each row has."""
    columns = {field: table[field] for field in ("class_id", "class_name") if field in table.column_names}
    encoded = {field: column.combine_chunks().dictionary_encode("encode") for field, column in columns.items()}
    codes = {field: column.indices.to_numpy().astype(np.int64) for field, column in encoded.items()}
    values = {field: column.dictionary.to_pylist() for field, column in encoded.items()}
    zeros = np.zeros(table.num_rows, np.int64)
    names = values.get("class_name", [None])
    width = max(len(names), 1)
    pairs = codes.get("class_id", zeros) * width + codes.get("class_name", zeros)
    unique, rows = np.unique(pairs, return_inverse=True)
    numbers = values.get("class_id", [None])
    return [(numbers[pair // width], names[pair % width]) for pair in unique.tolist()], rows
