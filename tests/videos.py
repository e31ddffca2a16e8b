"""Small videos for tests; each picture carries its number in black and white bars."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

NTSC = Fraction(30_000, 1_001)
_BITS = 12


def bars(number: int, width: int = 192, height: int = 96) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The brightness of picture *number*: twelve bars, one for each bit, lowest on the left."""
    bits = np.array([235 if number >> bit & 1 else 20 for bit in range(_BITS)], np.uint8)
    return np.broadcast_to(bits[np.arange(width) * _BITS // width], (height, width)).copy()


def number(picture: np.ndarray[Any, np.dtype[np.uint8]]) -> int:
    """The number that a picture shows, shape (height, width, 3), at any scale."""
    width = picture.shape[1]
    middles = [picture[:, int((bit + 0.5) * width / _BITS)].mean() for bit in range(_BITS)]
    return sum((middle > 128) << bit for bit, middle in enumerate(middles))


def make(
    frames: int = 60,
    rate: Fraction = NTSC,
    *,
    container: str = "mp4",
    codec: str = "libx264",
    stamps: Sequence[int] | None = None,
    time_base: Fraction | None = None,
    gop: int = 12,
    between: int = 2,
    size: tuple[int, int] = (192, 96),
    rotation: int | None = None,
    muxing: dict[str, str] | None = None,
    into: Path | None = None,
    **options: str,
) -> bytes:
    """A video file.

    Args:
        stamps: when each picture is shown, in units of *time_base*; evenly by default.
        time_base: seconds; one picture by default.
        gop: pictures from one key picture to the next.
        between: the most B pictures in a row.
        rotation: degrees, counter-clockwise, by which players turn it.
        muxing: options of the container.
        into: a file to make it in; those of the muxer that read what was written need one.
        **options: of the encoder.
    """
    out, base = io.BytesIO(), time_base or 1 / rate
    width, height = size
    with av.open(out if into is None else str(into), "w", format=container, container_options=muxing or {}) as file:
        stream: Any = file.add_stream(codec, rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.gop_size, stream.codec_context.max_b_frames = gop, between
        stream.codec_context.time_base = base
        if rotation is not None:
            stream.set_display_rotation(rotation)
        gray = np.full((height // 2, width), 128, np.uint8)
        for at in range(frames):
            frame = av.VideoFrame.from_ndarray(np.concatenate([bars(at, width, height), gray]), format="yuv420p")
            frame.pts, frame.time_base = at if stamps is None else stamps[at], base
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return out.getvalue() if into is None else into.read_bytes()
