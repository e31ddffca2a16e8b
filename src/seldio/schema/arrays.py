"""Columns of numbers from numpy to Arrow and back, without pandas: pyarrow's own ways load it, which takes 0.2 s."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:

    class _Compute:
        """pyarrow.compute, imported (0.05 s) when the first of its functions is used."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("pyarrow.compute"), name)
            setattr(self, name, value)
            return value

    pc = _Compute()

__all__ = ["pc"]  # the functions are defined here, and pc comes from elsewhere


def compute(function: str, *columns: Any, **options: Any) -> Any:
    """Return what a function of Arrow makes of *columns*, without loading all the others.

    >>> compute("utf8_trim_whitespace", from_texts([" a"])).to_pylist()
    ['a']
    """
    arrow = import_module("pyarrow._compute")
    if "kind" in options:
        return arrow.call_function(function, [*columns], arrow.CastOptions.safe(options["kind"]))
    name = "TrimOptions" if "characters" in options else "MatchSubstringOptions"
    name = "ReplaceSubstringOptions" if "replacement" in options else name
    return arrow.call_function(function, [*columns], getattr(arrow, name)(**options) if options else None)


@contextmanager
def memory_given_back() -> Iterator[None]:
    """Let Arrow give memory back as soon as a column is gone: its usual pool keeps about 50 MB."""
    pool = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(pool)


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector: rows have no cycles, and there are many of them."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def to_numpy(column: pa.Array | pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Return the values of a column, unknown numbers as NaN; numbers are not copied where none is unknown.

    >>> to_numpy(pa.array([1, 2, 3], pa.int32()))
    array([1, 2, 3], dtype=int32)
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        return to_mask(column)
    if len(column) <= _FEW and not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return np.fromiter(column.to_pylist(), object, len(column))
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) or pa.types.is_float16(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    dtype, data = np.dtype(str(kind) if str(kind) not in _NAMES else _NAMES[str(kind)]), column.buffers()[1]
    if data is None or not len(column):
        return np.empty(0, dtype)
    values: np.ndarray[Any, Any] = np.frombuffer(data, dtype, len(column), column.offset * dtype.itemsize)
    if not column.null_count:
        return values
    floats: np.ndarray[Any, Any] = values.astype(dtype if dtype.kind == "f" else np.float64)
    floats[~to_mask(column)] = np.nan
    return floats


def known_values(column: pa.Array | pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Return the values of a column that are known, as numpy has them."""
    return to_numpy(column.drop_null() if column.null_count else column)


def to_mask(column: pa.Array | pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which values of a column are known; of a column of truth values, *column* is asked for these instead."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    truth = pa.types.is_boolean(column.type)
    bits = column.buffers()[1 if truth else 0]
    if bits is None:
        return np.full(len(column), not truth and not column.null_count, dtype=bool)
    unpacked = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return unpacked[column.offset : column.offset + len(column)].astype(bool)


def from_numpy(values: np.ndarray[Any, Any], unknown: np.ndarray[Any, np.dtype[np.bool_]] | None = None) -> pa.Array:
    """Return an Arrow array of numbers or truth values, which are not copied where they lie one after the other.

    Those that are *unknown* are null.

    >>> from_numpy(np.array([1.5, 2.5])).to_pylist()
    [1.5, 2.5]
    """
    validity = None if unknown is None else pa.py_buffer(np.packbits(~unknown, bitorder="little"))
    if values.dtype.kind == "b":
        bits = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(values), [validity, pa.py_buffer(bits)])
    if values.dtype.kind not in "iuf" or values.dtype == np.float16 or values.ndim != 1:
        return pa.array(values, mask=unknown)
    whole = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(whole.dtype), len(whole), [validity, pa.py_buffer(whole)])


def from_texts(texts: Iterable[str | None]) -> pa.Array:
    """Return an Arrow array of texts; None is unknown.

    >>> from_texts(["a", None, "bc"]).to_pylist()
    ['a', None, 'bc']
    """
    given = list(texts)
    encoded = [b"" if text is None else text.encode() for text in given]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    if ends[-1] >= 1 << 31:
        return pa.array(given, pa.string())
    validity = None
    if None in given:
        validity = pa.py_buffer(np.packbits([text is not None for text in given], bitorder="little"))
    places = pa.py_buffer(ends.astype(np.int32))
    return pa.StringArray.from_buffers(len(encoded), places, pa.py_buffer(b"".join(encoded)), validity)


#: Values that are no numbers are taken one by one where there are no more than these.
_FEW = 4096
_NAMES = {"double": "float64", "float": "float32"}
