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
    sound: tuple[float, int] | None = None,
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
        sound: seconds and channels of a sound inside of it (AAC).
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
        heard: Any = file.add_stream("aac", rate=24_000) if sound is not None else None
        if heard is not None and sound is not None:
            heard.layout = _LAYOUTS[sound[1]]
        gray = np.full((height // 2, width), 128, np.uint8)
        for at in range(frames):
            frame = av.VideoFrame.from_ndarray(np.concatenate([bars(at, width, height), gray]), format="yuv420p")
            frame.pts, frame.time_base = at if stamps is None else stamps[at], base
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
        if heard is not None and sound is not None:
            file.mux(_encoded(heard, *sound))
    return out.getvalue() if into is None else into.read_bytes()


_LAYOUTS = {1: "mono", 2: "stereo", 4: "4.0"}


def _encoded(stream: Any, seconds: float, channels: int) -> list[Any]:
    """Packets of noise."""
    wave = np.random.default_rng(1).normal(0, 0.1, (channels, round(24_000 * seconds))).astype(np.float32)
    frame = av.AudioFrame.from_ndarray(wave, format="fltp", layout=_LAYOUTS[channels])
    frame.rate, frame.pts, frame.time_base = 24_000, 0, Fraction(1, 24_000)
    return [*stream.encode(frame), *stream.encode(None)]


def recording(seconds: float = 1.0, channels: int = 4) -> bytes:
    """An MP4 file with AAC and without pictures."""
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as file:
        stream: Any = file.add_stream("aac", rate=24_000)
        stream.layout = _LAYOUTS[channels]
        file.mux(_encoded(stream, seconds, channels))
    return out.getvalue()


def begun_at(data: bytes, seconds: float) -> bytes:
    """An MP4 file from *seconds* on without encoding it anew, as ``ffmpeg -ss … -c copy`` makes it.

    It begins with the key picture before; an edit list hides what comes before *seconds*.
    """
    out = io.BytesIO()
    with av.open(io.BytesIO(data)) as given, av.open(out, "w", format="mp4") as file:
        streams = {stream.index: file.add_stream_from_template(stream) for stream in given.streams}
        picture = given.streams.video[0]
        given.seek(round(seconds / picture.time_base), stream=picture)
        for packet in given.demux():
            if packet.dts is None or packet.pts is None:
                continue
            offset = round(seconds / packet.time_base)
            packet.pts, packet.dts = packet.pts - offset, packet.dts - offset
            packet.stream = streams[packet.stream.index]
            file.mux(packet)
    return out.getvalue()
