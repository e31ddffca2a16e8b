"""The table of Spatial LibriSpeech as events: a talker for each recording, from its beginning to its end.

A row is a recording, ``{sample_id:06}.flac``. Directions are in radians; azimuths are read as counter-clockwise, which
the dataset does not say. The distractor noise has recordings of its own, so its place makes no event: it is kept in
``extra``, with all other single values of a row.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.schema.events import COLUMNS, ClipFile, Origin, with_origin

_ID, _AZIMUTH, _ELEVATION, _DISTANCE = "sample_id", "speech/azimuth", "speech/elevation", "speech/distance"
_LENGTH = "audio_info/duration"
#: The columns that make the table.
MARKS = frozenset({_ID, _AZIMUTH, _ELEVATION, _DISTANCE, _LENGTH})


def is_spatial_librispeech(schema: pa.Schema) -> bool:
    """Whether a table with these columns is that of Spatial LibriSpeech."""
    return set(schema.names) >= MARKS


def events(table: pa.Table) -> pa.Table:
    """The event table of *table*: angles in degrees, distances in metres, the class *speech*."""
    clips = [f"{number:06}" for number in table[_ID].to_pylist()]
    azimuth, elevation, distance, length = (
        np.asarray(table[name].cast(pa.float64()).to_numpy(), np.float64)
        for name in (_AZIMUTH, _ELEVATION, _DISTANCE, _LENGTH)
    )
    kept = [field.name for field in table.schema if field.name not in MARKS and not pa.types.is_nested(field.type)]
    columns: dict[str, Any] = {
        "clip": pa.array(clips, pa.string()).dictionary_encode(),
        "onset": np.zeros(len(clips)),
        "offset": length,
        "class_id": np.zeros(len(clips), np.int32),
        "azimuth": geometry.wrap(np.degrees(azimuth)),
        "elevation": np.degrees(elevation),
        "distance": distance,
    }
    if kept:
        columns["extra"] = [json.dumps(row, ensure_ascii=False) for row in table.select(kept).to_pylist()]
    made = pa.table({name: pa.array(values, COLUMNS[name]) if isinstance(values, (list, np.ndarray)) else values
                     for name, values in columns.items()})  # fmt: skip
    files = tuple(ClipFile(clip, f"{clip}.csv") for clip in dict.fromkeys(clips))
    return with_origin(made, Origin("", "speech", files))
