"""What the headers of RIFF files promise, held against what is there: libsndfile reads short files in silence."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

#: Lengths that writers to a pipe leave in the header, since they cannot go back.
_OPEN = (0, 0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000)
#: A header has few chunks; a file of nothing but small ones is not walked to its end.
_MOST_CHUNKS = 10_000


def missing_bytes(stream: BinaryIO) -> int:
    """How many bytes of sound the header of a WAV file (RIFF or RF64) promises that are not there.

    0 for other files, for those without a ``data`` chunk, and where the header leaves the length open.
    Chunks before and behind ``data`` are passed over, and may have an odd length. The stream is left at its
    beginning.
    """
    try:
        return _missing(stream)
    finally:
        stream.seek(0)


def _missing(stream: BinaryIO) -> int:
    end = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(12)
    if len(head) < 12 or head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        return 0
    at, long = 12, 0
    for _ in range(_MOST_CHUNKS):
        stream.seek(at)
        chunk = stream.read(8)
        if len(chunk) < 8:
            break
        name, size = struct.unpack("<4sI", chunk)
        if name == b"ds64":
            sizes = stream.read(16)
            long = struct.unpack("<QQ", sizes)[1] if len(sizes) == 16 else 0
        elif name == b"data":
            promised = long if head[:4] == b"RF64" and size == 0xFFFFFFFF else size
            return 0 if promised in _OPEN else max(0, at + 8 + promised - end)
        at += 8 + size + size % 2
    return 0
