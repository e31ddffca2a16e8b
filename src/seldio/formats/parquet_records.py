"""The rows of any Parquet table as JSON records.

Parquet has no absent keys, so a null inside a record is an absent one. A recording in a table is a struct of
``bytes`` and ``path``, as the Hugging Face Hub writes it; its path stands for it, its bytes are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Trail = tuple[str, ...]
_BATCH = 4096
#: Names that Parquet puts between a list and its elements.
_LISTS = frozenset({"list", "element", "item", "array"})


def skeleton(kind: pa.DataType) -> Any:
    """A value of a type, as far as its keys go."""
    if pa.types.is_struct(kind):
        return {field.name: skeleton(field.type) for field in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [skeleton(kind.value_type)]
    return None


def recordings(file: pq.ParquetFile) -> tuple[frozenset[Trail], bool]:
    """Where recordings stand inside the records, and whether there is any."""
    names = [file.schema.column(number).path for number in range(len(file.schema))]
    inside = {name.removesuffix(".bytes"): number for number, name in enumerate(names) if name.endswith(".bytes")}
    inside = {name: number for name, number in inside.items() if f"{name}.path" in names}
    return frozenset(map(_trail, inside)), any(_filled(file.metadata, number) for number in inside.values())


def _filled(metadata: Any, column: int) -> bool:
    """Whether a column has a value, as far as the footer tells."""
    chunks = (metadata.row_group(group).column(column) for group in range(metadata.num_row_groups))
    return any(
        chunk.statistics is None
        or chunk.statistics.null_count is None
        or chunk.statistics.null_count < chunk.num_values
        for chunk in chunks
    )


def _trail(name: str) -> Trail:
    return tuple(part for part in name.split(".") if part not in _LISTS)


def records(file: pq.ParquetFile, audio: frozenset[Trail] = frozenset()) -> Iterator[dict[str, Any]]:
    """The rows as objects; recordings are not even read."""
    names = [file.schema.column(number).path for number in range(len(file.schema))]
    sound = {f"{'.'.join(trail)}.bytes" for trail in audio}
    chosen = [name for name in names if ".".join(_trail(name)) not in sound] if sound else None
    for batch in file.iter_batches(batch_size=_BATCH, columns=chosen):
        batch.validate(full=True)
        yield from batch.to_pylist()


def _plain(value: Any, trail: Trail, audio: frozenset[Trail]) -> Any:
    """A value as its record has it: recordings as their paths, nothing inside that is null."""
    if isinstance(value, list):
        return [_plain(each, trail, audio) for each in value]
    if not isinstance(value, dict):
        return value
    if trail in audio:
        return value.get("path")
    found = {key: _plain(each, (*trail, key), audio) for key, each in value.items()}
    return {key: each for key, each in found.items() if not trail or each is not None}


def json_lines(file: pq.ParquetFile, audio: frozenset[Trail]) -> str:
    """The rows as JSON Lines, a line for each."""
    lines = (json.dumps(_plain(row, (), audio), ensure_ascii=False, default=_text) for row in records(file, audio))
    return "".join(f"{line}\n" for line in lines)


def _text(value: Any) -> str:
    """Text that Parquet holds as bytes; dates and decimals as they are written."""
    return value.decode() if isinstance(value, bytes) else str(value)
