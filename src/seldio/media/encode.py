"""Video files written: pictures and sound into MP4, the same bytes each time; the home of PyAV's encoding.

The bytes depend on nothing but what is written and the build of FFmpeg: one thread, no dates, no name of a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, BinaryIO, Self

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.container import OutputContainer
from av.error import FFmpegError
from av.video.frame import VideoFrame

from seldio import clock
from seldio.errors import SeldioError, UsageError
from seldio.text import printable

#: Height, width and the colours red, green, blue; whole numbers from 0 to 255.
Picture = np.ndarray[Any, np.dtype[np.uint8]]
Sound = np.ndarray[Any, np.dtype[np.float32]]

#: What x264 is asked for unless told otherwise: quick, and good enough to look at.
OPTIONS = {"preset": "veryfast", "crf": "23"}
#: Always. With x264's macroblock tree (core 165), 19 of 291 encodings of the same pictures of 64×32 had other bytes
#: while another thread was busy, without it none of 342. Why is not known, nor was it seen at 128×64 and above.
_SAME_BYTES = {"mbtree": "0"}
#: Pictures from one that stands alone to the next: one second, so that players seek quickly.
KEYS = 30
#: Bits a second of sound.
SOUND_BITS = 128_000


class VideoWriter:
    """Pictures at an even rate, and sound, into MP4 as H.264 and AAC; a context manager.

    Picture k is shown at ``k / rate`` seconds, exactly: 30000/1001 is kept as a fraction. There are no
    pictures that are decoded out of order.

    Args:
        stream: to write to; seekable, and left open.
        size: width and height, both even.
        rate: pictures a second.
        sound: samples a second and channels (1 or 2) of the sound, if there is any.
        options: of the encoder of pictures, in place of :data:`OPTIONS`.
        sound_bits: a second.

    Raises:
        UsageError: a size or rate that cannot be.
        SeldioError: FFmpeg has no such encoder, or cannot write.
    """

    def __init__(
        self, stream: BinaryIO, size: tuple[int, int], rate: Fraction = clock.NTSC,
        sound: tuple[int, int] | None = None, options: dict[str, str] | None = None, sound_bits: int = SOUND_BITS,
    ) -> None:  # fmt: skip
        width, height = size
        if min(size) < 2 or width % 2 or height % 2 or max(size) > 8192:
            raise UsageError(f"pictures of {width} × {height}: H.264 wants even numbers from 2 to 8192")
        if not 0 < rate <= 1000:
            raise UsageError(f"{rate} pictures a second: choose a rate above 0, 1000 at most")
        self.size, self.rate, self.pictures = size, Fraction(rate), 0
        self._samples = 0
        with _speaking():
            self._file: OutputContainer = av.open(stream, "w", format="mp4", container_options=_MUXING)
            self._video = self._file.add_stream(
                "libx264", rate=self.rate, options={**(options or OPTIONS), **_SAME_BYTES}
            )
            self._video.width, self._video.height, self._video.pix_fmt = width, height, "yuv420p"
            context = self._video.codec_context
            context.time_base, context.thread_count = 1 / self.rate, 1
            context.gop_size, context.max_b_frames = KEYS, 0
            context.flags |= int(av.codec.context.Flags.bitexact)
            self._audio = self._file.add_stream("aac", rate=sound[0]) if sound else None
            if self._audio is not None and sound:
                self._audio.layout = "stereo" if sound[1] == 2 else "mono"
                self._audio.bit_rate, self._audio.codec_context.thread_count = sound_bits, 1
                self._audio.codec_context.flags |= int(av.codec.context.Flags.bitexact)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with _speaking():
            try:
                if kind is None:
                    for stream in (self._video, self._audio):
                        if stream is not None:
                            self._file.mux(stream.encode(None))
            finally:
                self._file.close()

    def picture(self, picture: Picture | VideoFrame) -> None:
        """Add the next picture, shape (height, width, 3): red, green, blue; or a frame of FFmpeg of that size."""
        width, height = self.size
        shape = (picture.height, picture.width, 3) if isinstance(picture, VideoFrame) else picture.shape
        kind = np.uint8 if isinstance(picture, VideoFrame) else picture.dtype
        if shape != (height, width, 3) or kind != np.uint8:
            raise UsageError(f"a picture of shape {shape} and {kind}, not {(height, width, 3)} of uint8")
        with _speaking():
            frame = picture if isinstance(picture, VideoFrame) else VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = self.pictures, 1 / self.rate
            self._file.mux(self._video.encode(frame))
        self.pictures += 1

    def sound(self, sound: Sound) -> None:
        """Add the sound that follows, shape (channels, frames), float32, full scale being 1.

        Pictures and sound of the same time belong together: give them in turn, a second or so each.
        """
        if self._audio is None:
            raise UsageError("this video was opened without sound")
        if sound.ndim != 2 or len(sound) != self._audio.codec_context.channels:
            raise UsageError(f"sound of shape {sound.shape}, not ({self._audio.codec_context.channels}, frames)")
        rate = self._audio.codec_context.sample_rate
        with _speaking():
            wave = np.ascontiguousarray(sound, np.float32)
            frame = AudioFrame.from_ndarray(wave, format="fltp", layout=self._audio.layout.name)
            frame.sample_rate, frame.pts, frame.time_base = rate, self._samples, Fraction(1, rate)
            self._file.mux(self._audio.encode(frame))
        self._samples += sound.shape[1]


_MUXING = {"fflags": "+bitexact"}


@contextmanager
def _speaking() -> Iterator[None]:
    """Turn what PyAV raises into SeldioError."""
    try:
        yield
    except (FFmpegError, av.codec.codec.UnknownCodecError) as error:
        raise SeldioError(f"the video cannot be written: {printable(str(error))}") from error
