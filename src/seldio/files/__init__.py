"""Every touch of the disk: sources read in place and within limits, files written whole or not at all.

Archives are told by their first bytes, never by their suffix, and no name from an archive reaches the disk.
What is unsafe becomes a finding (``SAF1xx``) and never an entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seldio.files.entries import DEFAULTS, Entry, Limits, Source, name_fault
from seldio.files.sources import open_source, read_entries

if TYPE_CHECKING:
    from seldio.files.writing import atomic_write as atomic_write
    from seldio.files.writing import in_the_way as in_the_way
    from seldio.files.writing import input_at as input_at
    from seldio.files.writing import make_folder as make_folder
    from seldio.files.writing import many_files as many_files
    from seldio.files.writing import write_bytes as write_bytes

_WRITING = ("atomic_write", "in_the_way", "input_at", "make_folder", "many_files", "write_bytes")

__all__ = [
    "DEFAULTS", "Entry", "Limits", "Source", "atomic_write", "in_the_way", "input_at", "make_folder", "many_files",
    "name_fault", "open_source", "read_entries", "write_bytes",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _WRITING:  # most only read
        from seldio.files import writing

        return getattr(writing, name)
    raise AttributeError(f"module 'seldio.files' has no attribute {name!r}")
