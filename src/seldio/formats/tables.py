"""What the Parquet files of a folder or archive hold, told from their footers; most are none of seldio's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO, Literal, Protocol

import pyarrow.parquet as pq

from seldio.errors import InvalidData
from seldio.formats import item_formats
from seldio.formats.parquet import DAMAGE
from seldio.schema.events import COLUMNS

SUFFIX = ".parquet"
#: What a table holds; *damaged*: its footer cannot be read, so that it may hold anything.
Content = Literal["labels", "items", "other", "damaged"]


class Table(Protocol):
    """A file of a source."""

    @property
    def name(self) -> str:
        """POSIX path below the source's root."""

    def open(self) -> BinaryIO:
        """A seekable stream of its content."""


def content(file: Table) -> Content:
    """What a Parquet file holds.

    Labels are a table with a column ``clip`` of which most columns are those of an event table, so that one of a wrong
    type or a strange name is told of. Items are questions or predictions.
    """
    try:
        with file.open() as stream:
            schema = pq.ParquetFile(stream, arrow_extensions_enabled=False).schema_arrow
    except (*DAMAGE, InvalidData):
        return "damaged"
    if _are_labels(schema.names):
        return "labels"
    return "items" if item_formats.of_table(schema) is not None else "other"


def _are_labels(names: Iterable[str]) -> bool:
    known = [name in COLUMNS for name in names]
    return "clip" in names and 1 < sum(known) > len(known) / 2


def is_table(file: Table, *contents: Content) -> bool:
    """Whether a file is called Parquet and holds one of *contents*."""
    return file.name.lower().endswith(SUFFIX) and content(file) in contents


__all__ = ["SUFFIX", "Content", "content", "is_table"]
