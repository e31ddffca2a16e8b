"""Video files written: pictures and sound into MP4, the same bytes each time; the home of PyAV's encoding.

The bytes depend on nothing but what is written and the build of FFmpeg: one thread, no dates, no name of a program.

:func:`copy` makes small copies of recordings and videos, to listen to and look at in a browser: stereo AAC and H.264.
A copy is for people only. Nothing is measured on it, and it says what was done to the sound.
"""

from __future__ import annotations

import dataclasses
import io
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from itertools import repeat
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from seldio import clock
from seldio.errors import SeldioError, needing
from seldio.media.audio import BLOCK, Floats, NotAudio
from seldio.media.recording import Recording
from seldio.media.video import Picture, Video
from seldio.schema.clips import Array
from seldio.text import plural, printable

with needing("av"):
    import av
    from av.audio.frame import AudioFrame
    from av.container import OutputContainer
    from av.error import FFmpegError
    from av.video.frame import VideoFrame

#: What x264 is asked for: quick, and good enough to look at; pictures take 250 kbit a second at most. With its
#: macroblock tree (core 165), 19 of 291 encodings of the same pictures of 64×32 had other bytes while another thread
#: was busy, without it none of 342. Why is not known, nor was it seen at 128×64 and above.
_OPTIONS = {"preset": "veryfast", "crf": "26", "maxrate": "250k", "bufsize": "500k", "mbtree": "0"}
#: Pictures from one that stands alone to the next: one second, so that players seek quickly.
_KEYS = 30
#: Bits a second of the sound.
_SOUND_BITS = 96_000


class VideoWriter(AbstractContextManager["VideoWriter"]):
    """Pictures at an even rate, and sound, into MP4 as H.264 and AAC; a context manager.

    Picture k is shown at ``k / rate`` seconds, exactly: 30000/1001 is kept as a fraction. There are no
    pictures that are decoded out of order.

    Args:
        stream: to write to; seekable, and left open.
        size: width and height, both even; (0, 0) for sound alone.
        rate: frames per second.
        sound: samples per second and channels (1 or 2) of the sound, if there is any.
    """

    def __init__(
        self,
        stream: BinaryIO,
        size: tuple[int, int],
        rate: Fraction = clock.NTSC,
        sound: tuple[int, int] | None = None,
    ) -> None:
        self.rate, self.pictures = Fraction(rate), 0
        self._samples, self._video, self._audio = 0, None, None
        with _speaking():
            muxing = {"fflags": "+bitexact"}
            self._file: OutputContainer = av.open(stream, "w", format="mp4", container_options=muxing)
            if any(size):
                self._video = self._file.add_stream("libx264", rate=self.rate, options=_OPTIONS)
                self._video.width, self._video.height = size
                self._video.pix_fmt = "yuv420p"
                context = self._video.codec_context
                context.time_base, context.thread_count = 1 / self.rate, 1
                context.gop_size, context.max_b_frames = _KEYS, 0
                context.flags |= int(av.codec.context.Flags.bitexact)
            if sound is not None:
                self._audio = self._file.add_stream("aac", rate=sound[0])
                self._audio.layout = "stereo" if sound[1] == 2 else "mono"
                self._audio.bit_rate, self._audio.codec_context.thread_count = _SOUND_BITS, 1
                self._audio.codec_context.flags |= int(av.codec.context.Flags.bitexact)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with _speaking():
            try:
                if kind is None:
                    for stream in (self._video, self._audio):
                        if stream is not None:
                            self._file.mux(stream.encode(None))
            finally:
                self._file.close()

    def picture(self, picture: Picture) -> None:
        """Add the next picture, shape (height, width, 3): red, green, blue."""
        assert self._video is not None, "there is a size"
        with _speaking():
            frame = VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = self.pictures, 1 / self.rate
            self._file.mux(self._video.encode(frame))
        self.pictures += 1

    def sound(self, sound: Floats) -> None:
        """Add the sound that follows, shape (channels, frames), float32, full scale being 1.

        Pictures and sound of the same time belong together: give them in turn, a second or so each.
        """
        assert self._audio is not None, "there is a rate of sound"
        rate = self._audio.codec_context.sample_rate
        with _speaking():
            wave = np.ascontiguousarray(sound, np.float32)
            frame = AudioFrame.from_ndarray(wave, format="fltp", layout=self._audio.layout.name)
            frame.sample_rate, frame.pts, frame.time_base = rate, self._samples, Fraction(1, rate)
            self._file.mux(self._audio.encode(frame))
        self._samples += sound.shape[1]


@contextmanager
def _speaking() -> Iterator[None]:
    """Turn what PyAV raises into SeldioError."""
    try:
        yield
    except (FFmpegError, av.codec.codec.UnknownCodecError) as error:
        raise SeldioError(f"the video cannot be written: {printable(str(error))}") from error


# --- copies ----------------------------------------------------------------------------------------------

Weights = NDArray[np.float32]

#: Width and height that a picture is made to fit into.
SIZE = (640, 320)
#: Frames per second, at most: one for each label frame of 0.1 s.
PICTURES = 10
#: Seconds that a copy may last.
LONGEST = 3600
#: Where the loudest sample comes to (-1 dB), and by how much quiet recordings are raised to get there (24 dB).
_PEAK, _MOST_GAIN = 0.891, 15.85
#: Frames per second that AAC knows.
_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000)


@dataclasses.dataclass(frozen=True)
class Downmix:
    """A recording as it is listened to."""

    recording: Recording
    weights: Weights  # what of each channel goes to each ear, shape (1 or 2, channels), the gain included
    description: str  # what was done, for people

    def blocks(self) -> Iterator[Floats]:
        """Yield the sound, shape (ears, frames), in [-1, 1], a second at a time."""
        for block in self.recording.blocks(self.recording.rate):
            yield np.nan_to_num(self.weights @ block).clip(-1, 1)


def sound(recording: Recording, array: Array = "audio") -> Downmix:
    """Return a recording as people listen to it: two ears, and loud enough."""
    header, channels = recording.probe, recording.channels
    if header.rate not in _RATES:
        raise NotAudio(f"{header.rate:,} frames per second, which AAC does not support: use --link-media")
    if header.frames * 100 < header.rate:
        raise NotAudio(f"it ends after {plural(header.frames, 'frame')}, before a hundredth of a second")
    _check_length(header.seconds, "the recording")
    # what of each channel goes to each ear, left first, shape (ears, channels)
    if array == "mic" and channels == 4:
        weights = np.array([[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]], np.float32)
        description = "the capsules of each side"
    elif array != "stereo" and channels == 4:  # cardioids, (W ± Y) / 2; one of no known array is taken for FOA
        weights = np.array([[0.5, 0.5, 0, 0], [0.5, -0.5, 0, 0]], np.float32)
        description = f"cardioids to the left and right{'' if array == 'foa' else ', its four channels taken for FOA'}"
    elif channels <= 2:
        weights = np.eye(channels, dtype=np.float32)
        description = "stereo" if channels == 2 else "mono"
    else:
        weights = np.full((1, channels), 1 / channels, np.float32)
        description = f"the mean of {channels} channels"
    peak = 0.0
    for block in recording.blocks(BLOCK):
        part = weights @ block
        peak = max(peak, float(np.abs(part, where=np.isfinite(part), out=np.zeros_like(part)).max(initial=0)))
    gain = min(_PEAK / peak, _MOST_GAIN) if peak > 0 else 1.0
    description += f", {round(20 * math.log10(gain)):+d} dB"
    return Downmix(recording, weights * np.float32(gain), description)


def _check_length(seconds: float, what: str) -> None:
    if seconds > LONGEST:
        raise SeldioError(f"{what} lasts {seconds / 60:,.0f} minutes; a page holds up to {LONGEST // 60}")


def copy(downmix: Downmix | None, video: Video | None) -> bytes:
    """Return an MP4 file of what is heard, what is seen, or both, on one clock.

    Pictures are taken on the true clock of the video, :data:`PICTURES` a second at most; before the first one
    and in gaps the screen is black.
    """
    out = io.BytesIO()
    blocks = downmix.blocks() if downmix is not None else iter(())
    track = (downmix.recording.rate, len(downmix.weights)) if downmix is not None else None
    size, rate = (0, 0), Fraction(PICTURES)
    if video is not None:
        _check_length(float(video.end), "the video")
        # made to fit into the size of a copy in its proportions, in even numbers; never larger
        scale = min(1.0, SIZE[0] / video.size[0], SIZE[1] / video.size[1])
        width, height = (max(2, round(scale * side / 2) * 2) for side in video.size)
        size, rate = (width, height), min(Fraction(video.rate), rate) or rate
    with VideoWriter(out, size, rate, track) as writer:
        for number, picture in enumerate(_pictures(video, size, rate) if video is not None else ()):
            if number % PICTURES == 0 and (block := next(blocks, None)) is not None:
                writer.sound(block)  # a second of each in turn, so that they lie side by side in the file
            writer.picture(picture)
        for block in blocks:
            writer.sound(block)
    return out.getvalue()


def _pictures(video: Video, size: tuple[int, int], rate: Fraction) -> Iterator[Picture]:
    """Yield the picture of each moment ``k / rate``, from 0 to the end of the video; black where there is none."""
    black = np.zeros((size[1], size[0], 3), np.uint8)
    at, moments = 0, range(math.ceil(video.end * rate))
    for number, picture in video.frames_at(moments, size=size, hop=1 / rate, missing="skip"):
        yield from repeat(black, number - at)
        yield picture
        at = number + 1
