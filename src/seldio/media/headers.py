"""What the headers of sound files promise, compared with what is there: libsndfile reads short files in silence."""

from __future__ import annotations

import dataclasses
import os
import struct
from typing import BinaryIO

#: The first four bytes of WAV files, and the byte order of their numbers.
_ORDERS = {b"RIFF": "<", b"RF64": "<", b"RIFX": ">"}
#: A header has few chunks; a file of nothing but small ones is not walked to its end.
_MOST_CHUNKS = 10_000
_EXTENSIBLE = 0xFFFE
PCM, FLOAT = 1, 3
#: The sampling rates (frames a second) that recordings may have.
RATES = range(4_000, 768_001)


@dataclasses.dataclass(frozen=True, slots=True)
class WavHeader:
    """The header of a WAV file, as it stands there."""

    order: str  # ``<`` or ``>``, the byte order of header and samples
    tag: int  # the sample format (1 is PCM, 3 is float), that of the extension where there is one
    channels: int  # how many
    rate: int  # frames a second
    block: int  # bytes of one frame
    bits: int  # of one sample's container
    data_at: int  # where the sound begins, in bytes
    promised: int | None  # bytes of sound by the header; None where it leaves the length open
    rest: int  # bytes in the file from *data_at* on, chunks behind the sound among them

    @property
    def there(self) -> int:
        """Bytes of sound that are there; where the length is open, all that follow."""
        return self.rest if self.promised is None else min(self.promised, self.rest)

    @property
    def missing(self) -> int:
        """Bytes of sound that are promised and not there."""
        return 0 if self.promised is None else max(0, self.promised - self.rest)


def read_header(stream: BinaryIO) -> WavHeader | None:
    """The header of a WAV file (RIFF, RIFX or RF64); None for others, and for those without a ``data`` chunk.

    Chunks before ``data`` are passed over, and may have an odd length. The stream is left at its beginning.
    """
    try:
        return _walk(stream)
    finally:
        stream.seek(0)


def _walk(stream: BinaryIO) -> WavHeader | None:
    end = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(12)
    order = _ORDERS.get(head[:4])
    if len(head) < 12 or order is None or head[8:] != b"WAVE":
        return None
    at, long, format = 12, 0, (0, 0, 0, 0, 0)
    for _ in range(_MOST_CHUNKS):
        stream.seek(at)
        chunk = stream.read(8)
        if len(chunk) < 8:
            break
        name, size = struct.unpack(f"{order}4sI", chunk)
        if name == b"ds64":
            sizes = stream.read(16)
            long = struct.unpack("<QQ", sizes)[1] if len(sizes) == 16 else 0
        elif name == b"fmt ":
            format = _format(stream.read(min(size, 40)), order)
        elif name == b"data":
            promised = long if head[:4] == b"RF64" and size == 0xFFFFFFFF else size
            known = None if _is_open(promised) else promised
            return WavHeader(order, *format, at + 8, known, max(0, end - at - 8))
        at += 8 + size + size % 2
    return None


def _is_open(size: int) -> bool:
    """Whether a length is one that writers to a pipe leave, since they cannot go back and correct it.

    FFmpeg and libsndfile leave 0xFFFFFFFF, sox 0x7FFFF000, arecord 0x80000000, others nearly these or 0.
    """
    return size == 0 or 0x7FFFF000 <= size <= 0x80000000 or 0xFFFFF000 <= size <= 0xFFFFFFFF


def _format(body: bytes, order: str) -> tuple[int, int, int, int, int]:
    """Tag, channels, rate, block and bits of a ``fmt`` chunk; zeros if it is too short."""
    if len(body) < 16:
        return 0, 0, 0, 0, 0
    tag, channels, rate, _, block, bits = struct.unpack(f"{order}HHIIHH", body[:16])
    if tag == _EXTENSIBLE and len(body) >= 26:
        (tag,) = struct.unpack(f"{order}H", body[24:26])  # the GUID begins with the tag
    return tag, channels, rate, block, bits


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
