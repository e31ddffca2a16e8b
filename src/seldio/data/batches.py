"""Elements put together: arrays stacked, those of different lengths padded, with a mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seldio.errors import UsageError

#: What to fill up with: one value for every part whose length differs, or one for each part by name.
Pad = float | Mapping[str, float] | None
#: Axis of each part along which its length differs from element to element.
Axes = Mapping[str, int]


def ragged_axes(source: object) -> Axes:
    """The axes of differing length that the elements of *source* have by its signature; none if it has no such."""
    signature = getattr(source, "signature", {})
    return {name: shape.index(None) for name, (shape, kind) in signature.items() if None in shape and kind != "string"}


def collate(elements: Sequence[Any], pad: Pad, axes: Axes) -> Any:
    """A batch: each part of the elements with a first axis for the batch.

    Numbers and arrays are stacked, texts and whatever else become lists. With *pad*, arrays of different lengths are
    filled up, and ``NAME_mask``, shape (batch, longest), tells what was there. The parts that *axes* or *pad* name
    are always masked, so that all batches have the same parts.

    Raises:
        UsageError: lengths differ and *pad* does not say what to fill up with, or more than one axis differs.
    """
    if not isinstance(elements[0], Mapping):
        return _stacked([np.asarray(element) for element in elements], "the element")
    batch: dict[str, Any] = {}
    for name, first in elements[0].items():
        parts = [element[name] for element in elements]
        if not isinstance(first, np.ndarray | np.generic | int | float):
            batch[name] = parts
            continue
        arrays = [np.asarray(part) for part in parts]
        fill = pad.get(name) if isinstance(pad, Mapping) else pad
        axis = _axis(arrays, name)
        axis = axes.get(name, 0 if isinstance(pad, Mapping) and name in pad else None) if axis is None else axis
        if fill is None or axis is None:
            batch[name] = _stacked(arrays, name)
        else:
            batch[name], batch[f"{name}_mask"] = _padded(arrays, fill, axis)
    return batch


def _axis(arrays: Sequence[np.ndarray[Any, Any]], name: str) -> int | None:
    """The axis along which *arrays* differ, if they do."""
    shapes = {array.shape for array in arrays}
    differ = [axis for axis, lengths in enumerate(zip(*shapes, strict=False)) if len(set(lengths)) > 1]
    if len({len(shape) for shape in shapes}) > 1 or len(differ) > 1:
        raise UsageError(f"{name} cannot be put together: shapes {', '.join(map(str, sorted(shapes)))}")
    return differ[0] if differ else None


def _stacked(arrays: Sequence[np.ndarray[Any, Any]], name: str) -> np.ndarray[Any, Any]:
    if len({array.shape for array in arrays}) > 1:
        lengths = ", ".join(map(str, sorted({array.shape for array in arrays})))
        raise UsageError(f"{name} has different lengths ({lengths}): say pad=0, or windows of one length")
    return np.stack(arrays)


def _padded(
    arrays: Sequence[np.ndarray[Any, Any]], fill: float, axis: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, np.dtype[np.bool_]]]:  # fmt: skip
    lengths = np.array([array.shape[axis] for array in arrays])
    shape = [*arrays[0].shape]
    shape[axis] = int(lengths.max())
    out = np.full((len(arrays), *shape), fill, arrays[0].dtype)
    for row, array in zip(out, arrays, strict=True):
        row[(*[slice(None)] * axis, slice(array.shape[axis]))] = array
    return out, np.arange(shape[axis]) < lengths[:, None]
