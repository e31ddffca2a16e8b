"""The questions and predictions of a source, whatever it is."""

from __future__ import annotations

import io
import os
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from seldio.catalogues import Catalogue
from seldio.catalogues.look import PARQUET_SUFFIX
from seldio.errors import DataError, UsageError
from seldio.files import Entry, Source
from seldio.files.sources import Place, open_stream, reopened
from seldio.findings import Sink, raise_errors
from seldio.formats import get
from seldio.text import json_text, listed, plural, printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat, ItemReading


def read_items(place: Place, format: ItemFormat | None, sink: Sink) -> list[ItemReading]:
    """The questions or predictions of a file, folder or archive; files of other kinds are left out."""
    with reopened(place, sink) as source:
        questions = Catalogue(source, format, sink, labels=False).questions
        order = {entry.path: number for number, entry in enumerate(source)}
        return sorted(
            (reading for part in questions for reading in part.items(sink)), key=lambda reading: order[reading.path]
        )


def only_reading(source: Source, format: ItemFormat | None) -> ItemReading:
    """Read the only file of questions or predictions in a source."""
    readings = read_items(source, format, raise_errors)
    if len(readings) != 1:
        count = plural(len(readings), "file")
        raise UsageError(f"{printable(source.path)} holds {count} of questions or predictions: choose one")
    return readings[0]


def in_memory(data: Any, name: str, *, own: bool | None = False, sink: Sink = raise_errors) -> Place:
    """Return *data* as a source called *name*; a path or a source as it is.

    Args:
        data: a path, the bytes of a file or an open one, a list of dicts, of :class:`Item` or of :class:`Prediction`, a
            DataFrame, or an Arrow table.
        name: as people are told.
        sink: takes what is found about bytes that are an archive.
        own: whether its columns have names of the user's own, so that none of them tells labels; None if they may.

    Raises:
        UsageError: it is none of these, or has the columns of neither labels, questions nor replies.
    """
    if isinstance(data, str | os.PathLike | Source):
        return data
    if isinstance(data, bytes | bytearray | memoryview):
        return open_stream(io.BytesIO(data), name.replace("table", "bytes"), sink)
    if hasattr(data, "read"):
        shown, stream = getattr(data, "name", None), getattr(data, "buffer", data)
        if isinstance(shown, str):
            return open_stream(stream, shown, sink, name=PurePath(shown).name)
        return open_stream(stream, name.replace("table", "stream"), sink)
    from seldio.schema.events import COLUMNS
    from seldio.schema.frames import are_events, arrow_table, event_table
    from seldio.schema.qa import ITEM_SCHEMA, PREDICTION_SCHEMA, Item, Prediction, to_table

    first = data[0] if isinstance(data, list | tuple) and data else None
    if isinstance(first, dict) and all(isinstance(row, dict) for row in data):
        if own or not are_events(first):
            try:
                lines = "".join(f"{json_text(row)}\n" for row in data).encode()
            except (TypeError, ValueError) as error:
                raise UsageError(f"{name}: its records cannot be written as JSON: {error}") from error
            return _held(lines, name, ".jsonl")
        data = pa.Table.from_pylist(list(data))
    if isinstance(first, Item | Prediction):
        try:
            data = to_table(data, ITEM_SCHEMA if isinstance(first, Item) else PREDICTION_SCHEMA)
        except (ValueError, OverflowError) as error:
            raise DataError(f"{name}: a table cannot hold one of its values: {error}") from error
    import pyarrow.parquet as pq

    from seldio.formats.parquet import write_parquet

    stream = io.BytesIO()
    try:
        table = arrow_table(
            data, f"{name} must be a path, bytes, a stream, a list of dicts, a DataFrame or an Arrow table, not"
        )
        names = {*table.column_names}
        if not own and are_events(names):
            write_parquet(event_table(table), stream)
        elif own is False and not names & {*COLUMNS, *ITEM_SCHEMA.names, *PREDICTION_SCHEMA.names}:
            raise UsageError(
                f"{listed(table.column_names)} are columns of neither labels (clip, frame, class_id, azimuth, …) nor "
                "questions (id, question, …) nor replies (id, prediction): rename them"
            )
        else:
            pq.write_table(table, stream)
    except UsageError as error:
        text = error.text if error.text.startswith(name) else f"{name}: {error.text}"
        raise UsageError(text) from error
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(f"{name}: its columns do not fit into Parquet: {error}") from error
    return _held(stream.getvalue(), name, PARQUET_SUFFIX)


def _held(data: bytes, name: str, suffix: str) -> Source:
    entry = Entry(name, f"table{suffix}", len(data), len(data), None, partial(io.BytesIO, data))
    return Source(name, "file", (entry,))


def held_items(source: Source) -> ItemFormat | None:
    """The format of a source's questions or predictions; of several, that of the first file."""
    return Catalogue(source, labels=False).asked


def read_item_table(source: Source, format: ItemFormat | None = None) -> pa.Table:
    """Return the questions or predictions of a source, which holds one file of them, as a table."""
    from seldio.formats.item_parquet import ItemParquet

    reading = only_reading(source, format)
    stored = get(f"{reading.format.holds}-parquet", ItemParquet)
    return reading.table.replace_schema_metadata(stored.metadata(stored.origin_of(reading)))
