"""One side of a comparison, reference or prediction, as plain arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from seldio.errors import UsageError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """Rows of an event table, one entry for each active source in each label frame.

    Args:
        clip: index of the clip, in the order both sides share.
        frame: label frame.
        class_id: index into the vocabulary.
        azimuth: degrees, +90 is left.
        elevation: degrees, +90 is up; None where no row has one (stereo).
        distance: metres; None where no row has one, NaN where it is unknown.
        onscreen: whether the source is in the picture; None where no row says so.
        source: number of the source; None where no row has one.
        pointless: whether the vector is (0, 0, 0), which has no direction; None where none is.
    """

    clip: Ints
    frame: Ints
    class_id: Ints
    azimuth: Floats
    elevation: Floats | None = None
    distance: Floats | None = None
    onscreen: NDArray[np.bool_] | None = None
    source: Ints | None = None
    pointless: NDArray[np.bool_] | None = None

    def take(self, rows: Any) -> Side:
        """The rows chosen by a mask, a slice or indices."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        taken: Any = {name: None if values is None else values[rows] for name, values in fields.items()}
        return Side(**taken)

    def __len__(self) -> int:
        return len(self.frame)


#: The side of clips that have no file.
_NO_INTS = np.empty(0, dtype=np.int64)
NOTHING = Side(_NO_INTS, _NO_INTS, _NO_INTS, np.empty(0))


def side(table: pa.Table, clips: Mapping[str, int]) -> Side:
    """The rows of *table* about *clips*, which gives each clip its index; other clips are left out.

    Directions given as x, y, z become degrees by ``arctan2(..) * 180 / pi``, in this order of operations even where
    the table has angles as well, because scores at exactly the threshold and equal pairings depend on it.

    Raises:
        UsageError: the table has no frames, classes or directions.
    """
    for field in ("frame", "class_id"):
        if field not in table.column_names or table[field].null_count:
            raise UsageError(f"scores need {field} in every row; convert the labels to a layout that has it")
    index = _clip_indices(table["clip"], clips)
    azimuth, elevation, pointless = _directions(table)
    whole = Side(
        index,
        _ints(table["frame"]),
        _ints(table["class_id"]),
        azimuth,
        elevation,
        _floats(table, "distance"),
        None if "onscreen" not in table.column_names else pc.fill_null(table["onscreen"], False).to_numpy(),
        None if "source" not in table.column_names else _ints(pc.fill_null(table["source"], -1)),
        pointless,
    )
    return whole if (index >= 0).all() else whole.take(index >= 0)


def _clip_indices(column: pa.ChunkedArray, clips: Mapping[str, int]) -> Ints:
    """The index of each row's clip, -1 for clips that are not asked for."""
    codes = column.combine_chunks() if not isinstance(column, pa.Array) else column
    codes = codes if pa.types.is_dictionary(codes.type) else codes.dictionary_encode()
    known = np.array([clips.get(name, -1) for name in codes.dictionary.to_pylist()] or [-1], dtype=np.int64)
    return np.asarray(known[codes.indices.to_numpy()])


def _ints(column: Any) -> Ints:
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _floats(table: pa.Table, field: str) -> Floats | None:
    """A column as floats with NaN for unknown values; None where nothing is known."""
    if field not in table.column_names or table[field].null_count == table.num_rows:
        return None
    return np.asarray(table[field].to_numpy(), dtype=np.float64)


def _directions(table: pa.Table) -> tuple[Floats, Floats | None, NDArray[np.bool_] | None]:
    """Azimuth and elevation of every row, in degrees, and whether its vector has neither; None where none is so.

    Raises:
        UsageError: a row has neither angles nor x, y and z.
    """
    azimuth, elevation = _floats(table, "azimuth"), _floats(table, "elevation")
    x, y, z = (_floats(table, axis) for axis in "xyz")
    pointless = None
    if x is not None and y is not None and z is not None:
        azimuth, elevation = _from_axes(azimuth, elevation, x, y, z)
        if not x.all():
            pointless = (x == 0) & (y == 0) & (z == 0)
    if azimuth is None:
        if table.num_rows:
            raise UsageError("scores need directions: azimuth and elevation, or x, y and z")
        azimuth = np.empty(0)
    if np.isnan(azimuth).any() or (elevation is not None and np.isnan(elevation).any()):
        raise UsageError("scores need a direction in every row")
    return azimuth, elevation, pointless


def _from_axes(
    azimuth: Floats | None, elevation: Floats | None, x: Floats, y: Floats, z: Floats
) -> tuple[Floats, Floats]:
    """The angles of x, y, z, and those given where a row has no x, y, z.

    Tables that were read have angles too, with other last bits than the official programs get. Those square by
    the power function (Python's ``x**2``), which differs from ``x * x`` in the last bit of one row in a thousand.
    """
    flat = np.sqrt(np.float_power(x, 2.0) + np.float_power(y, 2.0))
    angles = np.arctan2(y, x) * 180 / np.pi, np.arctan2(z, flat) * 180 / np.pi
    unknown = np.isnan(x) | np.isnan(y) | np.isnan(z)
    if not unknown.any():
        return angles
    given = (np.full(len(x), np.nan) if each is None else each for each in (azimuth, elevation))
    azimuth, elevation = (np.where(unknown, old, new) for old, new in zip(given, angles, strict=True))
    return azimuth, elevation
