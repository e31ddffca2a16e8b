"""Datasets: one view of any source, windows and a stream over it for training, and exports to share.

:func:`open` gives the view, :class:`Windows` and :class:`Stream` are what torch, Grain, ``datasets``, tf.data and Ray
take, and the tables what polars, duckdb and pandas take; no framework is imported here. :func:`decode` makes an event
table of what a network gives. :func:`export` writes a dataset as Parquet of the Hub, WebDataset shards, AudioFolder or
VideoFolder.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    from seldio.data.dataset import Dataset
    from seldio.data.dataset import open_dataset as open
    from seldio.data.decoding import decode
    from seldio.data.exporting import KINDS, export
    from seldio.data.stream import Stream, collate
    from seldio.data.windowing import WindowOptions, Windows
    from seldio.files.exports import ExportFile, Manifest

__all__ = [
    "KINDS",
    "Dataset",
    "ExportFile",
    "Manifest",
    "Stream",
    "Windows",
    "collate",
    "decode",
    "export",
    "open",
    "windows",
]


_HOMES = {
    "decode": "decoding", "Stream": "stream", "collate": "stream", "Dataset": "dataset", "open": "dataset",
    "Windows": "windowing",
}  # fmt: skip


def windows(path: str | os.PathLike[str], *, format: str | None = None, **options: Unpack[WindowOptions]) -> Windows:
    """Return windows over the clips of a source: ``seldio.open(path).windows(...)``, see there."""
    from seldio.data.dataset import open_dataset

    return open_dataset(path, format=format).windows(**options)


def __getattr__(name: str) -> Any:
    if name in __all__:
        home = import_module(f"seldio.data.{_HOMES.get(name, 'exporting')}")
        return getattr(home, "open_dataset" if name == "open" else name)
    raise AttributeError(f"module 'seldio.data' has no attribute {name!r}")
