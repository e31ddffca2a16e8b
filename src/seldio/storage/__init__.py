"""Data sets as they are stored and shared: Parquet of the Hub, WebDataset shards, AudioFolder and VideoFolder.

:func:`export` writes one, :func:`read_back` makes the files again that it was made from, byte for byte.
"""

from __future__ import annotations

from seldio.storage.exporting import KINDS, export
from seldio.storage.manifest import Manifest, Written
from seldio.storage.reading import read_back

__all__ = ["KINDS", "Manifest", "Written", "export", "read_back"]
