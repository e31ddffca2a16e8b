"""Questions and predictions as Parquet, without loss: values, order and indentation of their file come back.

The columns are those of ``schema.qa`` under their own names; ``extra`` is json text, whose keys keep their
order. What the source file holds besides its rows (the layout of its text, the keys of its container) is in
the file's metadata under ``seldio.items``, so that the format it had can be written again.

Tables of other makers, such as exports of the Hugging Face Hub, are recognised by their columns: the rows are
read as the JSON records they stand for. Parquet has no absent keys, so a null inside a record is an absent one.
Of recordings inside a table, a struct of ``bytes`` and ``path``, the path is read, and the rest is named as lost.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, NonNegativeInt

from seldio.errors import SeldioError
from seldio.findings import Finding, Sink
from seldio.formats.base import PARQUET_MAGIC, Ints, Place
from seldio.formats.items import LETTERS_READ, ItemFormat, ItemReading, Row
from seldio.formats.json_records import Layout
from seldio.formats.parquet import Wrong, guarded
from seldio.reader_rules import READER_RULES
from seldio.schema.qa import (
    EMPTY,
    Item,
    Prediction,
    Rows,
    opened,
    row_of,
    table_of,
    table_of_columns,
    wrong_rows,
)
from seldio.text import clipped, listed, plural

_KEY = b"seldio.items"
_BATCH = 1 << 13
#: Rows of a group in a file.
GROUP = 1 << 15
_LOSS = "the recordings inside the table; their paths are kept"


class _Origin(BaseModel, defer_build=True, strict=True):
    """The layout of the text file that rows came from, as its writer takes it back."""

    layout: Layout = Layout()
    orders: list[tuple[str, ...]] = []
    order_of: dict[str, NonNegativeInt] = {}
    numbers: list[str] = []


@dataclasses.dataclass(frozen=True, kw_only=True)
class ItemParquet(ItemFormat):
    """Tables of items, or of predictions."""

    suffix: str = ".parquet"

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the name says nothing
        """See :meth:`Format.likes`; nothing but the footer is read."""
        if data[:4] != PARQUET_MAGIC:
            return 0.0
        return guarded(data, "", lambda _: None, lambda file: self.likes_table(file.schema_arrow)) or 0.0

    def likes_table(self, schema: pa.Schema) -> float:
        """Return how much a table with these columns looks like one of this format, as :meth:`likes` tells it."""
        metadata = _parsed((schema.metadata or {}).get(_KEY))
        if metadata is not None:
            return float(metadata.get("holds") == self.holds)
        if self._is_own(schema):
            return 0.95
        layout = self.layout(schema)
        return 0.9 if layout is not None and layout.holds == self.holds else 0.0

    def _is_own(self, schema: pa.Schema) -> bool:
        json_text = "extra" not in schema.names or not pa.types.is_struct(schema.field("extra").type)
        needed = {"id", "question"} if self.holds == "items" else {"id", "prediction"}
        return json_text and needed <= {*schema.names} <= {*self.schema.names}

    def layout(self, schema: pa.Schema) -> ItemFormat | None:
        """Return the format whose records have the columns of *schema*; None where none is known."""
        record = json.dumps({field.name: skeleton(field.type) for field in schema}).encode()
        likes = [(text.likes(record, "x.jsonl"), text) for text in _texts()]
        most, best = max(likes, key=lambda pair: pair[0])
        return best if most >= 0.5 else None

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`; the line of a place is the number of its row."""
        return guarded(data, path, sink, partial(self._read, path=path, sink=sink))

    def _read(self, file: pq.ParquetFile, path: str, sink: Sink) -> ItemReading | Wrong:
        schema = file.schema_arrow
        if len({*schema.names}) < len(schema.names):
            return Wrong("SYN302", "a column appears twice", self._hint())
        metadata = _parsed((schema.metadata or {}).get(_KEY))
        if metadata is not None or self._is_own(schema):
            return self._own(file, metadata or {}, path, sink)
        layout = self.layout(schema)
        if layout is None or layout.holds != self.holds:
            shown = listed([*schema.names]) or "none"
            return Wrong("SYN302", f"no known table of {self.holds} has these columns: {shown}", self._hint())
        audio, lost = recordings(file)

        def take(finding: Finding) -> None:
            sink(dataclasses.replace(finding, path=path, column=1, end_column=1, excerpt=None))

        inner = layout.read(json_lines(file, audio).encode(), f"{path}.jsonl", take)
        if inner is None:
            return Wrong("SYN302", f"its rows are not {layout.name} records", self._hint())

        def locate(row: int, field: str | None, number: int | None) -> Place:
            place = inner.place(row, field, number)
            return Place(place.line, 1, 1, place.value, "")

        return ItemReading(self, path, inner.rows, locate, {"format": layout.name}, {"audio": _LOSS} if lost else {})

    def _hint(self) -> str:
        return f"a table of {self.holds} has some of these columns: {', '.join(self.schema.names)}"

    def _own(self, file: pq.ParquetFile, metadata: Mapping[str, Any], path: str, sink: Sink) -> ItemReading | Wrong:
        if unknown := sorted({*file.schema_arrow.names} - {*self.schema.names}):
            return Wrong("SYN302", f"{plural(len(unknown), 'unknown column')}: {listed(unknown)}", self._hint())
        tables, numbers = [self.schema.empty_table()], [np.zeros(0, np.int64)]
        first = 0
        for batch in file.iter_batches(batch_size=_BATCH):
            batch.validate(full=True)
            table, inside = self._table(batch, first, path, sink)
            tables.append(table)
            numbers.append(inside + first)
            first += len(batch)
        table, places = pa.concat_tables(tables), np.concatenate(numbers)
        rows = Rows(table, self.model)

        def locate(row: int, field: str | None, number: int | None) -> Place:  # noqa: ARG001 - a list is one cell
            value = getattr(rows[row], field, None) if field else None
            return Place(int(places[row]) + 1, 1, 1, "" if value is None else clipped(str(value), 200), "")

        origin = {key: metadata[key] for key in ("format", "origin") if key in metadata}
        if origin and not self._is_sound(origin, rows):
            return Wrong("SYN302", "its seldio metadata cannot be read", "write the file again with seldio convert")
        return ItemReading(self, path, rows, locate, origin)

    def _table(self, batch: pa.RecordBatch, first: int, path: str, sink: Sink) -> tuple[pa.Table, Ints]:
        count = len(batch)
        try:
            columns = opened({"id": [None] * count} | batch.to_pydict())
        except (ValueError, TypeError):
            columns = {}
        for name, empty in EMPTY.items():
            columns |= {name: [empty if value is None else value for value in columns[name]]} if name in columns else {}
        if columns and not any(wrong_rows(self.model, name, values) for name, values in columns.items()):
            return table_of_columns(columns, count, self.schema), np.arange(count)
        read = [self._row(record, first + number, path, sink) for number, record in enumerate(batch.to_pylist())]
        numbers = [number for number, row in enumerate(read) if row is not None]
        return table_of([row for row in read if row is not None], self.model), np.array(numbers, np.int64)

    def _row(self, record: dict[str, Any], number: int, path: str, sink: Sink) -> Row | None:
        try:
            columns = opened({field: [value] for field, value in record.items() if value is not None})
            values = {field: value for field, (value,) in columns.items()}
        except (ValueError, TypeError):
            faults = ["extra must be a JSON object, as text"]
        else:
            row = row_of(self.model, values)
            if not isinstance(row, list):
                return row
            faults = [f"{'.'.join(map(str, flaw.at))} must be {flaw.must}" for flaw in row]
        for message in faults:
            sink(READER_RULES["SYN212"].at(path, clipped(message, 200), None, number + 1, 1, end_column=1))
        return None

    def _is_sound(self, origin: Mapping[str, Any], rows: Sequence[Row]) -> bool:
        """Return whether the writer of the format that *rows* come from can follow what an origin says."""
        home = next((text for text in _texts() if text.name == origin.get("format")), None)
        if home is None or home.holds != self.holds:
            return False
        inner = origin.get("origin", {})
        try:
            _Origin.model_validate_json(json.dumps(inner))
            home.write(rows[:2], inner)
        except SeldioError:
            return True  # the rows were changed; the writer will say so again
        except (TypeError, ValueError, LookupError, AttributeError):
            return False
        return True

    def doubtful(self, table: pa.Table) -> Ints:  # noqa: ARG002 - a table holds any row
        """See :meth:`ItemFormat.doubtful`."""
        return np.zeros(0, np.int64)

    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:
        """See :meth:`ItemFormat.write`; equal rows give equal bytes."""
        stream = io.BytesIO()
        with pq.ParquetWriter(stream, self.schema, write_page_checksum=True, store_schema=False) as writer:
            table = pa.concat_tables([self.schema.empty_table(), table_of(rows, self.model)])
            for start in range(0, len(table), GROUP):
                writer.write_table(table.slice(start, GROUP), row_group_size=GROUP)
            writer.add_key_value_metadata(self.metadata(origin))
        return stream.getvalue()

    def metadata(self, origin: Mapping[str, object] | None) -> dict[bytes, str]:
        """Return the metadata of a table of rows with this *origin*."""
        return {_KEY: json.dumps({"holds": self.holds, **(origin or {})})}

    def origin_of(self, reading: ItemReading) -> dict[str, object] | None:
        """See :meth:`ItemFormat.origin_of`; that of any text is kept."""
        same = isinstance(reading.format, ItemParquet)
        return reading.origin if same else {"format": reading.format.name, "origin": reading.origin}


@lru_cache(2)  # all parts of a table have the same, by which a writer knows them
def _parsed(text: bytes | None) -> dict[str, Any] | None:
    """Return what seldio wrote into the metadata; nothing of any kind if that cannot be read, None without any."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"holds": None}
    return value if isinstance(value, dict) else {"holds": None}


_NOTE = (
    "No value is lost, and the file comes back with its order and indentation; `--to parquet` means this format if the "
    "source holds {}."
)
FORMATS: tuple[ItemParquet, ...] = (
    ItemParquet(
        name="items-parquet", title="questions of any format in one Parquet table, without loss", holds="items",
        carries=tuple(Item.model_fields), needs=("id",), note=_NOTE.format("questions"),
        answers="text", letters=True, graded=LETTERS_READ, repairable=True,
    ),
    ItemParquet(
        name="predictions-parquet", title="predictions of any format in one Parquet table, without loss",
        holds="predictions", carries=tuple(Prediction.model_fields), needs=(), note=_NOTE.format("predictions"),
    ),
)  # fmt: skip


# --- tables of other makers -------------------------------------------------------------------------


def _texts() -> tuple[ItemFormat, ...]:
    from seldio import formats

    return tuple(item_format for item_format in formats.ITEM_FORMATS if not isinstance(item_format, ItemParquet))


Trail = tuple[str, ...]
_RECORDS = 4096
#: Names that Parquet puts between a list and its elements.
_LISTS = frozenset({"list", "element", "item", "array"})


def skeleton(kind: pa.DataType) -> Any:
    """Return a value of a type, as far as its keys go."""
    if pa.types.is_struct(kind):
        return {field.name: skeleton(field.type) for field in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [skeleton(kind.value_type)]
    return None


def recordings(file: pq.ParquetFile) -> tuple[frozenset[Trail], bool]:
    """Return the paths of recordings inside the records, and whether there is any, as far as the footer tells."""
    names = [file.schema.column(number).path for number in range(len(file.schema))]
    inside = {name.removesuffix(".bytes"): number for number, name in enumerate(names) if name.endswith(".bytes")}
    inside = {name: number for name, number in inside.items() if f"{name}.path" in names}
    groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
    chunks = (group.column(number) for group in groups for number in inside.values())
    filled = any(chunk.statistics is None or chunk.statistics.null_count != chunk.num_values for chunk in chunks)
    return frozenset(map(_trail, inside)), filled


def _trail(name: str) -> Trail:
    return tuple(part for part in name.split(".") if part not in _LISTS)


def _plain(value: Any, trail: Trail, audio: frozenset[Trail]) -> Any:
    """Return a value as its record has it: recordings as their paths, no nulls inside."""
    if isinstance(value, list):
        return [_plain(member, trail, audio) for member in value]
    if not isinstance(value, dict):
        return value
    if trail in audio:
        return value.get("path")
    record = {key: _plain(member, (*trail, key), audio) for key, member in value.items()}
    return {key: member for key, member in record.items() if not trail or member is not None}


def json_lines(file: pq.ParquetFile, audio: frozenset[Trail]) -> str:
    """Return the rows as JSON Lines, a line for each; recordings are not even read."""
    names = [file.schema.column(number).path for number in range(len(file.schema))]
    sound = {f"{'.'.join(trail)}.bytes" for trail in audio}
    chosen = [name for name in names if ".".join(_trail(name)) not in sound] if sound else None
    # texts that Parquet holds as bytes; dates and decimals as they are written
    encoder = json.JSONEncoder(
        ensure_ascii=False, default=lambda value: value.decode() if isinstance(value, bytes) else str(value)
    )
    lines: list[str] = []
    for batch in file.iter_batches(batch_size=_RECORDS, columns=chosen):
        batch.validate(full=True)
        lines += (encoder.encode(_plain(row, (), audio)) + "\n" for row in batch.to_pylist())
    return "".join(lines)
