"""Questions and predictions as Arrow tables: what lies in their own Parquet files, without the file."""

from __future__ import annotations

import io
import os
from collections.abc import Collection
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.conversion.items import convert_items, read_items
from seldio.errors import UsageError
from seldio.files import Entry, Source
from seldio.findings import raise_errors
from seldio.formats import item_formats
from seldio.formats.items import ItemFormat
from seldio.schema.qa import ITEM_SCHEMA, PREDICTION_SCHEMA, Item, Prediction, to_table
from seldio.text import plural, printable

Place = str | os.PathLike[str]


def read_item_table(path: Place, format: ItemFormat | None = None) -> pa.Table | None:
    """The questions or predictions of a source in one table; None where it holds none and *format* names none.

    Raises:
        UsageError: it holds several files of them.
    """
    readings = read_items(path, format, raise_errors)
    if not readings and format is None:
        return None
    if len(readings) != 1:
        raise UsageError(f"{printable(os.fspath(path))} holds {plural(len(readings), 'file')} of questions: name one")
    (reading,) = readings
    stored = item_formats.get(f"{reading.format.holds}-parquet")
    return pq.read_table(io.BytesIO(stored.write(reading.rows, stored.origin_of(reading, lambda _: None))))


def is_item_table(table: Any) -> bool:
    """Whether *table* holds questions or predictions: it is a list of them, or it has ids and no clips."""
    if isinstance(table, list | tuple):
        return bool(table) and all(isinstance(row, Item | Prediction) for row in table)
    schema = getattr(table, "schema", None)
    names = schema.names if isinstance(schema, pa.Schema) else list(getattr(table, "columns", ()))
    return "id" in names and "clip" not in names


def write_item_table(table: Any, path: Place, format: str, allow_loss: Collection[str]) -> tuple[str, ...]:
    """Write a table, or list, of questions or predictions as one file; see :func:`seldio.write`."""
    if isinstance(table, list | tuple):
        table = to_table(table, ITEM_SCHEMA if isinstance(table[0], Item) else PREDICTION_SCHEMA)
    stream = io.BytesIO()
    pq.write_table(pa.table(table), stream)
    data = stream.getvalue()
    entry = Entry("the table", "table.parquet", len(data), len(data), None, partial(io.BytesIO, data))
    source = Source("the table", "file", (entry,))
    (reading,) = read_items(source, None, raise_errors)
    target = item_formats.meant(format, reading.format) or item_formats.get(format)
    return convert_items(source, path, target, allow_loss=allow_loss).written
