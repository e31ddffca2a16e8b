"""The questions of a data set, read when they are first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

import pyarrow as pa

from seldio.conversion.items import read_items
from seldio.data.arrow import ArrowTable
from seldio.files import Source
from seldio.findings import raise_errors
from seldio.formats.items import ItemFormat
from seldio.schema.qa import ITEM_SCHEMA, Item, to_table
from seldio.text import plural

#: Rows of a batch.
_BATCH = 4096


class Asked(NamedTuple):
    """An item, and the name of the file that it stands in."""

    item: Item
    file: str


class Items(ArrowTable):
    """The questions of a data set, by number and one after the other, and one Arrow table of them all."""

    def __init__(self, rows: Sequence[Asked]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return f"Items({plural(len(self), 'question')})"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Item]:
        return (row.item for row in self.rows)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if isinstance(index, slice):
            return [row.item for row in self.rows[index]]
        return self.rows[index].item

    @property
    def schema(self) -> pa.Schema:
        """That of all item tables."""
        return ITEM_SCHEMA

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, some thousand at a time."""
        for first in range(0, len(self), _BATCH):
            yield from to_table(self[first : first + _BATCH]).to_batches()


def read(source: Source, format: ItemFormat | None) -> Items:
    """The questions in the files of *source*; predictions are left out.

    Raises:
        InvalidData: the first thing wrong, with file, line and column.
        SeldioError: the disk fails.
    """
    names = {entry.path: entry.name for entry in source}
    readings = read_items(source, format, raise_errors)
    return Items(
        [Asked(row, names[reading.path]) for reading in readings for row in reading.rows if isinstance(row, Item)]
    )
