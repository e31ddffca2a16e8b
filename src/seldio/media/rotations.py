"""Rotations and reflections that move whole channels: exact on the sound and on its labels.

The azimuth turns by quarters or is mirrored, the elevation is flipped or not: 16 ways in FOA. In MIC a way
counts if it maps the four capsules onto each other, which 8 of the 16 do; the response of a sphere then
follows exactly. Known from SELD as audio channel swapping (Wang et al., "A Four-Stage Data Augmentation
Approach to ResNet-Conformer Based Acoustic Modeling for Sound Event Localization and Detection", 2021).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from seldio import geometry
from seldio.errors import UsageError
from seldio.media import arrays
from seldio.schema.arrays import pc

#: Width and height of the picture that segmentations are on (DCASE 2026).
_PICTURE = geometry.MAP
#: Decimals within which sums of degrees are the decimal numbers that they would be on paper.
_DECIMALS = 12
_NOT_MIC = "does not map the four capsules of MIC onto each other"


@dataclasses.dataclass(frozen=True, slots=True)
class Rotation:
    """New azimuth = ± azimuth + turn, new elevation = ± elevation.

    Args:
        mirrored: whether the azimuth changes its sign, before the turn.
        turn: degrees counter-clockwise: 0, 90, 180 or -90.
        flipped: whether the elevation changes its sign.

    Raises:
        UsageError: another turn.
    """

    mirrored: bool = False
    turn: int = 0
    flipped: bool = False

    def __post_init__(self) -> None:
        if self.turn not in (0, 90, 180, -90):
            raise UsageError(f"channels can be moved for turns of 0, 90, 180 and -90 degrees, not {self.turn}")

    @property
    def name(self) -> str:
        """The name of the rotation, such as ``az+90 el-`` or ``-az+0 el+``."""
        return f"{'-' if self.mirrored else ''}az{self.turn:+d} el{'-' if self.flipped else '+'}"

    @property
    def inverse(self) -> Rotation:
        """Return the rotation that undoes this one."""
        return self if self.mirrored else Rotation(turn=_quarter(-self.turn), flipped=self.flipped)

    def then(self, other: Rotation) -> Rotation:
        """Return both as one, this one first."""
        turn = (-self.turn if other.mirrored else self.turn) + other.turn
        return Rotation(self.mirrored != other.mirrored, _quarter(turn), self.flipped != other.flipped)

    @property
    def matrix(self) -> NDArray[np.int64]:
        """Return the matrix that rotates vectors (front, left, up): one 1 or -1 in each row, shape (3, 3)."""
        cos, sin = {0: (1, 0), 90: (0, 1), 180: (-1, 0), -90: (0, -1)}[self.turn]
        sign = -1 if self.mirrored else 1
        return np.array([[cos, -sin * sign, 0], [sin, cos * sign, 0], [0, 0, -1 if self.flipped else 1]])

    def directions(self, azimuth: ArrayLike, elevation: ArrayLike) -> tuple[Any, Any]:
        """Return azimuths and elevations (degrees) after it; whole numbers stay whole, azimuths stay in [-180, 180].

        An end of the circle may come back as the other one: -180 and 180 are one direction.
        """
        moved = _signed(_numbers(azimuth), self.mirrored)
        if np.issubdtype(moved.dtype, np.integer):
            moved = moved + self.turn
            moved = np.where(np.abs(moved) <= 180, moved, (moved + 180) % 360 - 180)
        elif self.turn != 0:
            with np.errstate(invalid="ignore"):  # what is not finite becomes nan
                turned = geometry.wrap(moved + self.turn)
            # 12.3 + 90 is 102.3 on paper; where there are more decimals than that, they all stay
            moved = np.where(np.round(moved, _DECIMALS) == moved, np.round(turned, _DECIMALS), turned) + 0.0
        return moved, _signed(_numbers(elevation), self.flipped)


def _quarter(turn: int) -> int:
    return (0, 90, 180, -90)[turn // 90 % 4]


def _numbers(values: ArrayLike) -> Any:
    numbers = np.asarray(values)
    return numbers.astype(np.int64 if np.issubdtype(numbers.dtype, np.integer) else np.float64)


def _signed(values: Any, negative: bool) -> Any:
    """Return a number as it is, but never -0.0, which files would show."""
    return (-values if negative else values) + values.dtype.type(0)


_ALL = [Rotation(*parts) for parts in itertools.product((False, True), (0, 90, 180, -90), (False, True))]
#: Those of each format by name, 16 and 8.
ROTATIONS: dict[arrays.Format, dict[str, Rotation]] = {
    "foa": {each.name: each for each in _ALL},
    "mic": {
        each.name: each for each in _ALL
        if sorted((arrays.SIDES @ each.matrix.T).tolist()) == sorted(arrays.SIDES.tolist())
    },
}  # fmt: skip


def rotation(name: str, format: str = "foa") -> Rotation:
    """Return the rotation of that name.

    Raises:
        UsageError: the format has none of that name.
    """
    rotations = ROTATIONS[arrays.check_format(format)]
    if name in rotations:
        return rotations[name]
    why = _NOT_MIC if name in ROTATIONS["foa"] else "is not a rotation"
    raise UsageError(f"{name!r} {why}; choose one of {', '.join(rotations)}")


# --- sound -----------------------------------------------------------------------------------------


def channels(rotation: Rotation, format: str) -> tuple[tuple[int, int], ...]:
    """Return for each channel of the result the channel that it comes from (from 0), and its sign.

    Raises:
        UsageError: the rotation does not map the capsules onto each other.
    """
    if arrays.check_format(format) == "foa":
        y, z, x = rotation.matrix[[1, 2, 0]][:, [1, 2, 0]]
        return ((0, 1), *((int(np.flatnonzero(row)[0]) + 1, int(row.sum())) for row in (y, z, x)))
    places = arrays.SIDES.tolist()
    wanted = (arrays.SIDES @ rotation.matrix).tolist()  # where each capsule was before
    if any(side not in places for side in wanted):
        raise UsageError(f"{rotation.name!r} {_NOT_MIC}; choose one of {', '.join(ROTATIONS['mic'])}")
    return tuple((places.index(side), 1) for side in wanted)


def rotate_audio(audio: np.ndarray[Any, Any], rotation: Rotation, format: str) -> np.ndarray[Any, Any]:
    """Return *audio* as if all sources were elsewhere: channels moved and signs changed, nothing else.

    Args:
        audio: shape (4, frames), or (…, 4, frames); floating point or signed whole numbers.
        rotation: one of :data:`ROTATIONS`.
        format: ``foa`` or ``mic``.

    Returns:
        A new array of the same shape and type. The lowest whole number has no opposite and becomes the highest
        (-32768: 32767), one step off.

    Raises:
        UsageError: another shape or type, or a rotation that the format does not have.
    """
    if audio.ndim < 2 or audio.shape[-2] != 4:
        raise UsageError(f"{format} sound has the shape (4, frames), not {audio.shape}")
    if audio.dtype.kind not in "fic":
        raise UsageError(f"sound of the type {audio.dtype} has no signs to change; read it as int16 or float32")
    rotated = np.empty_like(audio)
    for number, (source, sign) in enumerate(channels(rotation, format)):
        sound = audio[..., source, :]
        if sign < 0:
            sound = -(np.maximum(sound, -np.iinfo(sound.dtype).max) if sound.dtype.kind == "i" else sound)
        rotated[..., number, :] = sound
    return rotated


# --- labels ----------------------------------------------------------------------------------------


def rotate_table(table: pa.Table, rotation: Rotation) -> pa.Table:
    """Return the labels of the rotated sound: azimuth, elevation, x, y, z and segmentation, where the table has them.

    All other columns, types, nulls and the metadata stay. Points of a segmentation wrap around the picture one
    by one. Labels of stereo sound (DCASE 2025) have a folded azimuth and cannot be rotated.

    Raises:
        UsageError: the table has x without y, or y without x, and the rotation makes one from the other.
    """
    changed: dict[str, pa.Array] = {}
    names = table.column_names
    if "azimuth" in names:
        changed["azimuth"] = _mapped(table["azimuth"], lambda values: rotation.directions(values, 0)[0])
    if "elevation" in names:
        changed["elevation"] = _mapped(table["elevation"], lambda values: rotation.directions(0, values)[1])
    for row, name in zip(rotation.matrix, "xyz", strict=True):
        source = "xyz"[int(np.flatnonzero(row)[0])]
        if name in names and source not in names:
            raise UsageError(f"{rotation.name!r} makes {name} from {source}, and the table has no column {source}")
        if name in names:
            changed[name] = _mapped(table[source], partial(_signed, negative=bool(row.sum() < 0)))
    if "segmentation" in names:
        changed["segmentation"] = _segmentations(table["segmentation"].combine_chunks(), rotation)
    for name, values in changed.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), values)
    return table


def _mapped(column: pa.ChunkedArray, change: Callable[[Any], Any]) -> pa.Array:
    """Return a column of numbers changed; nulls stay."""
    missing = column.is_null().to_numpy()
    return pa.array(change(column.fill_null(0).to_numpy()), mask=missing).cast(column.type)


def _segmentations(column: pa.Array, rotation: Rotation) -> pa.Array:
    """Return lists of lists of points (x, y, energy) on the canvas, each point moved."""
    lists = [column]  # the levels, from the outside to the numbers
    while pa.types.is_list(lists[-1].type):
        lists.append(lists[-1].flatten())
    numbers = lists[-1].to_numpy(zero_copy_only=False).reshape(-1, 3).copy()
    width, height = _PICTURE
    # in pixels azimuth is 180 - x, so that whole pixels stay whole
    numbers[:, 0] = (width / 2 - rotation.directions(width / 2 - numbers[:, 0], 0)[0]) % width
    if rotation.flipped:
        numbers[:, 1] = height - 1 - numbers[:, 1]
    moved = pa.array(numbers.ravel())
    for level in reversed(lists[:-1]):
        offsets = pa.array(np.append(0, np.cumsum(pc.list_value_length(level).fill_null(0).to_numpy())), pa.int32())
        moved = pa.ListArray.from_arrays(offsets, moved, type=level.type, mask=level.is_null())
    return moved
