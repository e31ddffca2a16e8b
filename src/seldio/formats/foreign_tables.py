"""Parquet tables of datasets that are labels under other names: which column holds what, as rows of one table.

A row of such a table is a recording with one event, from its beginning to its end. Its columns make the events that
:class:`ForeignTable` says; all other single values of a row are kept in ``extra``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.schema.events import COLUMNS, ClipFile, Origin, with_origin


@dataclasses.dataclass(frozen=True, kw_only=True)
class ForeignTable:
    """The table of a dataset."""

    name: str  # of the dataset
    clip: str  # the column of whole numbers that count the recordings
    file: str = "{:06}"  # the name of a recording, from its number
    length: str  # the column of its seconds
    columns: Mapping[str, str]  # of azimuth, elevation (radians) and distance (m)
    vocabulary: str = "speech"
    class_id: int = 0
    source: str = ""  # where the table is documented

    @property
    def marks(self) -> frozenset[str]:
        """The columns that make the table."""
        return frozenset((self.clip, self.length, *self.columns.values()))

    def events(self, table: pa.Table) -> pa.Table:
        """The event table of *table*: angles in degrees, distances in metres."""
        clips = [self.file.format(number) for number in table[self.clip].to_pylist()]
        values = {
            field: np.asarray(table[name].cast(pa.float64()).to_numpy(), np.float64)
            for field, name in (("offset", self.length), *self.columns.items())
        }
        kept = [one.name for one in table.schema if one.name not in self.marks and not pa.types.is_nested(one.type)]
        columns: dict[str, Any] = {
            "clip": pa.array(clips, pa.string()).dictionary_encode(),
            "onset": np.zeros(len(clips)),
            "offset": values["offset"],
            "class_id": np.full(len(clips), self.class_id, np.int32),
            "azimuth": geometry.wrap(np.degrees(values["azimuth"])),
            "elevation": np.degrees(values["elevation"]),
            "distance": values["distance"],
        }
        if kept:
            columns["extra"] = [json.dumps(row, ensure_ascii=False) for row in table.select(kept).to_pylist()]
        made = pa.table({name: pa.array(held, COLUMNS[name]) if isinstance(held, (list, np.ndarray)) else held
                         for name, held in columns.items()})  # fmt: skip
        files = tuple(ClipFile(clip, f"{clip}.csv") for clip in dict.fromkeys(clips))
        return with_origin(made, Origin("", self.vocabulary, files))


#: Azimuths are read as counter-clockwise, which the dataset does not say. The distractor noise has recordings of its
#: own, so that its place makes no event.
SPATIAL_LIBRISPEECH = ForeignTable(
    name="Spatial LibriSpeech",
    clip="sample_id",
    length="audio_info/duration",
    columns={"azimuth": "speech/azimuth", "elevation": "speech/elevation", "distance": "speech/distance"},
    source="https://github.com/apple/ml-spatial-librispeech/blob/main/DATASET_SCHEMA.md",
)
FOREIGN_TABLES: tuple[ForeignTable, ...] = (SPATIAL_LIBRISPEECH,)


def foreign_table(schema: pa.Schema) -> ForeignTable | None:
    """The dataset whose table has these columns; None where it is none of them."""
    names = set(schema.names)
    return next((table for table in FOREIGN_TABLES if table.marks <= names), None)
