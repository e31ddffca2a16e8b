"""Batches: elements put together part by part, stacked, padded or listed, as NumPy arrays or as tensors."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from seldio.errors import UsageError

Arrays = Sequence[np.ndarray[Any, Any]]

#: What parts of different lengths are filled up with, or ``list`` to leave them as they are: one for every part whose
#: length differs, or one for each part by name.
Pad = float | Literal["list"] | Mapping[str, float | Literal["list"]] | None
#: Axis of each part along which its length differs from element to element.
Axes = Mapping[str, int]


def ragged_axes(source: object) -> Axes:
    """The axes of differing length that the elements of *source* have by its signature; none if it has no such."""
    signature = getattr(source, "signature", {})
    return {name: shape.index(None) for name, (shape, kind) in signature.items() if None in shape and kind != "string"}


def collate(elements: Sequence[Any], pad: Pad = None, *, tensors: bool = False, axes: Axes | None = None) -> Any:
    """A batch of elements: each part with a first axis for the batch, texts and other objects as lists.

    It is the ``collate_fn`` of a loader of torch as well; to choose options, with ``functools.partial``.

    Args:
        elements: such as windows: mappings with the same names, or arrays or numbers.
        pad: for arrays of different lengths, what they are filled up with (``{"audio": 0, "target": math.nan}``, or
            one value for all); ``NAME_mask``, bool of shape (batch, longest), then tells what was there. ``list``
            makes a list of arrays. Parts that are named are always padded or listed, so that all batches have the
            same parts. None refuses different lengths.
        tensors: torch tensors instead of NumPy arrays; in a worker of a loader they are made in the memory that it
            shares, where arrays would be copied twice more.
        axes: by name the axes along which parts always differ.

    Returns:
        A dict, or one array for elements that are not mappings.

    Raises:
        UsageError: shapes differ, and *pad* does not say what to do; sound of different rates would go into one array;
            there are no elements; or torch is not imported.
    """
    if not len(elements):
        raise UsageError("the batch is empty: there is nothing to collate")
    if tensors and "torch" not in sys.modules:
        raise UsageError("tensors=True, but torch is not imported: import torch first")
    if not isinstance(elements[0], Mapping):
        return _stacked([np.asarray(element) for element in elements], "the element", tensors)
    _check_rates(elements, pad)
    batch: dict[str, Any] = {}
    for name, first in elements[0].items():
        parts = [element[name] for element in elements]
        if not isinstance(first, np.ndarray | np.generic | int | float):
            batch[name] = parts
            continue
        arrays = [np.asarray(part) for part in parts]
        fill = pad.get(name) if isinstance(pad, Mapping) else pad
        named = isinstance(pad, Mapping) and name in pad
        if fill == "list" and (named or name in (axes or ()) or len({array.shape for array in arrays}) > 1):
            batch[name] = [_converted(array) for array in arrays] if tensors else arrays
            continue
        axis = _axis(arrays, name)
        axis = (axes or {}).get(name, 0 if named else None) if axis is None else axis
        if fill is None or fill == "list" or axis is None:
            batch[name] = _stacked(arrays, name, tensors)
        else:
            batch[name], batch[f"{name}_mask"] = _padded(arrays, float(fill), axis, tensors)
    return batch


def _check_rates(elements: Sequence[Mapping[str, Any]], pad: Pad) -> None:
    """Refuse one array for sound of different rates: the same number of samples would be another time."""
    for name in elements[0]:
        number = name.removeprefix("rate")  # ``rate`` of ``audio``, ``rate_2`` of ``audio_2``
        if name == number or (audio := f"audio{number}") not in elements[0]:
            continue
        rates = sorted({int(element[name]) for element in elements})
        if len(rates) > 1 and (pad.get(audio) if isinstance(pad, Mapping) else pad) != "list":
            raise UsageError(
                f"{audio} has different rates ({', '.join(f'{rate:,}' for rate in rates)} samples per second), which "
                f"one array would mix up: make the windows with rate={rates[-1]}, or use pad={{'{audio}': 'list'}}"
            )


def _axis(arrays: Arrays, name: str) -> int | None:
    """The axis along which *arrays* differ, if they do."""
    shapes = {array.shape for array in arrays}
    differ = [axis for axis, lengths in enumerate(zip(*shapes, strict=False)) if len(set(lengths)) > 1]
    if len({len(shape) for shape in shapes}) > 1 or len(differ) > 1:
        raise UsageError(f"{name} cannot be stacked: shapes {', '.join(map(str, sorted(shapes)))}")
    return differ[0] if differ else None


def _stacked(arrays: Arrays, name: str, tensors: bool) -> Any:
    if len({array.shape for array in arrays}) > 1:
        lengths = ", ".join(map(str, sorted({array.shape for array in arrays})))
        raise UsageError(
            f"{name} has different lengths ({lengths}): use pad=0 or pad='list', or windows of equal length"
        )
    made, out = _place((len(arrays), *arrays[0].shape), np.result_type(*arrays), tensors)
    np.stack(arrays, out=out)
    return made


def _padded(arrays: Arrays, fill: float, axis: int, tensors: bool) -> tuple[Any, Any]:
    lengths = np.array([array.shape[axis] for array in arrays])
    shape = [*arrays[0].shape]
    shape[axis] = int(lengths.max())
    made, out = _place((len(arrays), *shape), arrays[0].dtype, tensors)
    out[...] = fill
    for row, array in zip(out, arrays, strict=True):
        row[(*[slice(None)] * axis, slice(array.shape[axis]))] = array
    mask = np.arange(shape[axis]) < lengths[:, None]
    return made, _converted(mask) if tensors else mask


def _place(shape: tuple[int, ...], dtype: Any, tensors: bool) -> tuple[Any, np.ndarray[Any, Any]]:
    """A place for a batch, and the array to write it through: the same array, or the memory of a tensor."""
    if not tensors:
        out = np.empty(shape, dtype)
        return out, out
    torch: Any = sys.modules["torch"]
    kind = torch.from_numpy(np.empty(0, dtype)).dtype
    size = math.prod(list(shape))
    worker = torch.utils.data.get_worker_info() is not None and size
    if worker:  # what lies in shared memory already goes to the loader's process without a copy
        storage = torch.UntypedStorage._new_shared(size * np.dtype(dtype).itemsize)
        made = torch.empty(0, dtype=kind).set_(storage).reshape(shape)
    else:
        made = torch.empty(shape, dtype=kind)
    return made, made.numpy()


def _converted(array: np.ndarray[Any, Any]) -> Any:
    made, out = _place(array.shape, array.dtype, True)
    out[...] = array
    return made
