"""Small copies of recordings and videos, to listen to and look at in a browser: stereo AAC and H.264 in MP4.

A copy is for people only. Nothing is measured on it, and it says what was done to the sound.
"""

from __future__ import annotations

import dataclasses
import io
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import repeat
from typing import BinaryIO, Literal

import av
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from seldio.errors import SeldioError, UsageError
from seldio.media.audio import BLOCK, Decoder, Floats, NotAudio, probe
from seldio.media.encode import VideoWriter
from seldio.media.riff import RATES
from seldio.media.video import Picture, Video
from seldio.text import plural

#: What a recording is, as :class:`seldio.schema.clips.Clip` names its fields; *audio* where nothing tells.
Array = Literal["foa", "mic", "stereo", "audio"]
Weights = NDArray[np.float32]

#: Width and height that a picture is made to fit into.
SIZE = (640, 320)
#: Pictures a second, at most: one for each label frame of 0.1 s.
PICTURES = 10
#: Seconds that a copy may last.
LONGEST = 3600
#: Bits a second of the sound.
SOUND_BITS = 96_000
#: Pictures take 250 kbit a second at most.
_OPTIONS = {"preset": "veryfast", "crf": "26", "maxrate": "250k", "bufsize": "500k"}
#: Where the loudest sample comes to (-1 dB), and by how much quiet recordings are raised to get there (24 dB).
_PEAK, _MOST_GAIN = 0.891, 15.85
#: Frames a second that AAC knows.
_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)


@dataclasses.dataclass(frozen=True)
class Sound:
    """A recording as it is listened to.

    Args:
        stream: of the file, seekable.
        rate: frames a second.
        frames: how many.
        weights: what of each channel goes to each ear, shape (1 or 2, channels), the gain included.
        told: what was done, for people.
    """

    stream: BinaryIO
    rate: int
    frames: int
    weights: Weights
    told: str

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.frames / self.rate

    def blocks(self) -> Iterator[Floats]:
        """The sound, shape (ears, frames), within -1 … 1, about a second at a time, at :attr:`encoded` frames a second.

        Raises:
            NotAudio: it is damaged.
        """
        layout = "stereo" if len(self.weights) == 2 else "mono"
        resampler = av.AudioResampler("fltp", layout, self.encoded) if self.rate != self.encoded else None
        with Decoder(self.stream) as decoder:
            for start in range(0, self.frames, self.rate):
                block = self.weights @ decoder.read(start, min(self.rate, self.frames - start))
                block = np.nan_to_num(block).clip(-1, 1)
                if resampler is None:
                    yield block
                    continue
                frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block), format="fltp", layout=layout)
                frame.rate = self.rate
                yield from (np.asarray(part.to_ndarray(), np.float32) for part in resampler.resample(frame))
        if resampler is not None:
            yield from (np.asarray(part.to_ndarray(), np.float32) for part in resampler.resample(None))

    @property
    def encoded(self) -> int:
        """Frames a second of the copy."""
        return self.rate if self.rate in _RATES else 48_000


def ears(array: Array, channels: int) -> tuple[Weights, str]:
    """What of each channel goes to each ear, and how to say so.

    FOA (W, Y, Z, X): cardioids to the left and to the right, ``(W ± Y) / 2``. MIC: the two capsules of each
    side. A recording of four channels whose array is not known is taken for FOA.

    Returns:
        Weights of shape (ears, channels), left first, and a phrase.
    """
    if array == "mic" and channels == 4:
        return np.array([[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]], np.float32), "the capsules of each side"
    if array != "stereo" and channels == 4:
        taken = "" if array == "foa" else ", its four channels taken for FOA"
        weights = np.array([[0.5, 0.5, 0, 0], [0.5, -0.5, 0, 0]], np.float32)
        return weights, f"cardioids to the left and right{taken}"
    if channels <= 2:
        return np.eye(channels, dtype=np.float32), "stereo" if channels == 2 else "mono"
    return np.full((1, channels), 1 / channels, np.float32), f"the mean of {channels} channels"


def sound(stream: BinaryIO, array: Array = "audio") -> Sound:
    """A recording as people listen to it: two ears, and loud enough.

    Raises:
        NotAudio: it cannot be read as audio.
        SeldioError: it is longer than an hour.
    """
    header = probe(stream)
    if header.rate not in RATES:
        raise NotAudio(f"{header.rate:,} frames a second, which no player knows")
    if header.frames * 100 < header.rate:
        raise NotAudio(f"it ends after {plural(header.frames, 'frame')}, before a hundredth of a second")
    _check_length(header.seconds, "the recording")
    weights, told = ears(array, header.channels)
    peak = 0.0
    with Decoder(stream) as decoder:
        for start in range(0, header.frames, BLOCK):
            part = weights @ decoder.read(start, min(BLOCK, header.frames - start))
            peak = max(peak, float(np.abs(part, where=np.isfinite(part), out=np.zeros_like(part)).max(initial=0)))
    gain = min(_PEAK / peak, _MOST_GAIN) if peak > 0 else 1.0
    told += f", {round(20 * math.log10(gain)):+d} dB"
    return Sound(stream, header.rate, header.frames, weights * np.float32(gain), told)


def _check_length(seconds: float, what: str) -> None:
    if seconds > LONGEST:
        raise SeldioError(f"{what} lasts {seconds / 60:,.0f} minutes; a page holds up to {LONGEST // 60}")


def copy(heard: Sound | None, seen: Video | None) -> bytes:
    """An MP4 file of what is heard, what is seen, or both, on one clock.

    Pictures are taken on the true clock of the video, :data:`PICTURES` a second at most; before the first one
    and in gaps the screen is black.

    Raises:
        NotVideo: a picture is damaged.
        NotAudio: the recording is.
        SeldioError: the video is longer than an hour, or FFmpeg has no encoder for H.264 or AAC.
        UsageError: there is nothing to copy.
    """
    out = io.BytesIO()
    blocks = heard.blocks() if heard is not None else iter(())
    if seen is None:
        if heard is None:
            raise UsageError("neither a recording nor a video to copy")
        _write_sound(out, heard, blocks)
        return out.getvalue()
    _check_length(float(seen.scan.end), "the video")
    rate = min(Fraction(seen.rate), Fraction(PICTURES)) or Fraction(PICTURES)
    track = (heard.encoded, len(heard.weights)) if heard is not None else None
    with VideoWriter(out, fitted(seen.size), rate, track, _OPTIONS, SOUND_BITS) as writer:
        for number, picture in enumerate(_pictures(seen, writer.size, rate)):
            if number % PICTURES == 0 and (block := next(blocks, None)) is not None:
                writer.sound(block)  # a second of each in turn, so that they lie side by side in the file
            writer.picture(picture)
        for block in blocks:
            writer.sound(block)
    return out.getvalue()


def _write_sound(out: BinaryIO, heard: Sound, blocks: Iterator[Floats]) -> None:
    """AAC in MP4, without pictures."""
    layout = "stereo" if len(heard.weights) == 2 else "mono"
    with av.open(out, "w", format="mp4", container_options={"fflags": "+bitexact"}) as file:
        stream = file.add_stream("aac", rate=heard.encoded)
        stream.layout, stream.bit_rate = layout, SOUND_BITS
        stream.codec_context.flags |= int(av.codec.context.Flags.bitexact)
        at = 0
        for block in blocks:
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block), format="fltp", layout=layout)
            frame.rate, frame.pts, frame.time_base = heard.encoded, at, Fraction(1, heard.encoded)
            at += frame.samples
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))


def _pictures(seen: Video, size: tuple[int, int], rate: Fraction) -> Iterator[Picture | VideoFrame]:
    """The picture of each moment ``k / rate``, from 0 to the end of the video; black where there is none."""
    black = np.zeros((size[1], size[0], 3), np.uint8)
    at = 0
    for number, picture in seen.copies_at(range(math.ceil(seen.scan.end * rate)), size, 1 / rate):
        yield from repeat(black, number - at)
        yield picture
        at = number + 1


def fitted(size: tuple[int, int]) -> tuple[int, int]:
    """*size* (width, height) made to fit into :data:`SIZE` in its proportions, in even numbers; never larger."""
    scale = min(1.0, SIZE[0] / size[0], SIZE[1] / size[1])
    width, height = (max(2, round(scale * side / 2) * 2) for side in size)
    return width, height
