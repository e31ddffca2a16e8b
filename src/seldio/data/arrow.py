"""Tables that any library takes as they are: the Arrow PyCapsule protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import pyarrow as pa


class ArrowTable(ABC):
    """Rows that are made when they are asked for; ``pa.table``, pandas, polars and duckdb take it as it is."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns, with their types."""

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, part by part; each call begins anew."""

    def table(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(self.batches(), self.schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)
