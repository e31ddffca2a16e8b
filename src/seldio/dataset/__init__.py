"""Data sets for training: one view of any source, windows over it, and a stream that can be resumed.

No framework is imported here, yet :class:`Windows` and :class:`Stream` are what torch, Grain, ``datasets``, tf.data
and Ray take, and the tables what polars, duckdb and pandas take.
"""

from __future__ import annotations

import os
from typing import Any

from seldio.dataset.opened import Dataset
from seldio.dataset.opened import open_dataset as open
from seldio.dataset.stream import Stream
from seldio.dataset.windowing import Windows

__all__ = ["Dataset", "Stream", "Windows", "open", "windows"]


def windows(path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> Windows:
    """Windows over the clips of a source: ``seldio.open(path).windows(...)``, see there."""
    return open(path, format=format).windows(**options)
