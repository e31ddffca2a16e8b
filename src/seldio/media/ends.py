"""Where files other than WAV end by their own account: libsndfile reads short ones in silence."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

#: The largest page of an Ogg file.
_PAGE = 27 + 255 + 255 * 255
#: The flag of a page that is the last one of its stream.
_LAST = 4
_W64 = b"riff\x2e\x91\xcf\x11"
_OPEN = 0xFFFFFFFF


def missing_bytes(stream: BinaryIO) -> int:
    """Bytes that the header of an AIFF, W64 or AU file counts and that are not there; 0 for others.

    The stream is left at its beginning.
    """
    end = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(24)
    stream.seek(0)
    if len(head) < 24:
        return 0
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        promised = 8 + struct.unpack(">I", head[4:8])[0]
    elif head[:8] == _W64:
        promised = struct.unpack("<Q", head[16:24])[0]
    elif head[:4] == b".snd":
        begin, size = struct.unpack(">II", head[4:12])
        promised = begin + size if size != _OPEN else 0
    else:
        return 0
    return int(max(0, promised - end))


def is_open(stream: BinaryIO) -> bool:
    """Whether an Ogg file has lost its end: its last page is not whole, or not marked as the last one.

    Nothing in the header tells its length. The stream is left at its beginning.
    """
    stream.seek(0)
    if stream.read(4) != b"OggS":
        return False
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - 2 * _PAGE))
    tail = stream.read(2 * _PAGE)
    stream.seek(0)
    at = tail.rfind(b"OggS")
    count = tail[at + 26] if 0 <= at < len(tail) - 27 else 0
    sizes = tail[at + 27 : at + 27 + count]
    whole = at >= 0 and len(sizes) == count and at + 27 + count + sum(sizes) <= len(tail)
    return not (whole and tail[at + 5] & _LAST)
