"""A panorama of some seconds, made for timing: textures that move over a still room, with a little noise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

WIDTH, HEIGHT = 1920, 960


def make(path: Path, frames: int, between: int) -> None:
    """An H.264 video of 29.97 pictures a second with at most *between* B pictures in a row."""
    rng = np.random.default_rng(1)
    room = np.kron(rng.integers(30, 200, (60, 120)), np.ones((16, 16))).astype(np.uint8)
    room += rng.integers(0, 24, room.shape, dtype=np.uint8)
    things = [rng.integers(40, 220, (160, 200), dtype=np.uint8) for _ in range(6)]
    gray = np.full((HEIGHT // 2, WIDTH), 128, np.uint8)
    with av.open(str(path), "w") as file:
        stream: Any = file.add_stream("libx264", rate=Fraction(30_000, 1_001), options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.max_b_frames, stream.codec_context.gop_size = between, 60
        for at in range(frames):
            light = room + rng.integers(0, 3, room.shape, dtype=np.uint8)
            for number, thing in enumerate(things):
                x, y = (at * (7 + 3 * number) + 300 * number) % 1700, int(400 + 300 * np.sin(at / 20 + number))
                light[y : y + 160, x : x + 200] = thing
            frame = av.VideoFrame.from_ndarray(np.concatenate([light, gray]), format="yuv420p")
            frame.pts = at
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
