"""Every touch of the disk: sources read in place and within limits, files written whole or not at all.

Archives are told by their first bytes, never by their suffix, and no name from an archive reaches the disk.
What is unsafe becomes a finding (``SAF1xx``) and never an entry.
"""

from seldio.files.entries import DEFAULTS, Entry, Limits, Source, name_fault
from seldio.files.sources import open_source, read_entries
from seldio.files.writing import atomic_write, in_the_way, input_at, make_folder, many_files, write_bytes

__all__ = [
    "DEFAULTS", "Entry", "Limits", "Source", "atomic_write", "in_the_way", "input_at", "make_folder", "many_files",
    "name_fault", "open_source", "read_entries", "write_bytes",
]  # fmt: skip
