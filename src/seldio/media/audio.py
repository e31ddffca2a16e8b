"""Audio files, headers first; the one home of soundfile."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np
import soundfile

from seldio import timeline
from seldio.errors import SeldioError
from seldio.media.riff import missing_bytes

Floats = np.ndarray[Any, np.dtype[np.float32]]


class NotAudio(SeldioError):
    """A file that cannot be read as audio."""


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """What a header says: sample frames that are there, samples a second, channels.

    ``subtype`` is libsndfile's name of the sample format (``PCM_16``, ``FLOAT``, …); ``missing`` counts the
    bytes of sound that the header of a WAV file promises and that are not there.
    """

    frames: int
    rate: int
    channels: int
    subtype: str = ""
    missing: int = 0

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.frames / self.rate

    def label_frames(self, hop: Fraction = timeline.HOP) -> int:
        """How many label frames the recording has, the last one perhaps not full."""
        return -int(-(Fraction(self.frames, self.rate) / hop) // 1)


@contextmanager
def _speaking() -> Iterator[None]:
    """Turn what soundfile raises into NotAudio."""
    try:
        yield
    except (soundfile.LibsndfileError, TypeError, ValueError) as error:
        raise NotAudio(getattr(error, "error_string", str(error)).rstrip(". \n")) from error


def probe(stream: BinaryIO) -> Probe:
    """The header of an audio file.

    Raises:
        NotAudio: libsndfile cannot read it.
    """
    missing = missing_bytes(stream)
    with _speaking():
        info = soundfile.info(stream)
    return Probe(int(info.frames), int(info.samplerate), int(info.channels), str(info.subtype), missing)


def read(stream: BinaryIO, start: int, frames: int) -> Floats:
    """Sound from frame *start* on, shape (channels, frames or what is left), float32; whole numbers become -1 … 1.

    Raises:
        NotAudio: libsndfile cannot read it, or the file has no frame *start*.
    """
    stream.seek(0)
    with _speaking(), soundfile.SoundFile(stream) as file:
        file.seek(start)
        return np.ascontiguousarray(file.read(frames, dtype="float32", always_2d=True).T)


def write_wav(stream: BinaryIO, sound: np.ndarray[Any, np.dtype[np.int16]], rate: int) -> None:
    """Write *sound*, shape (channels, frames), as WAV of 16-bit whole numbers; the same bytes each time."""
    soundfile.write(stream, sound.T, rate, format="WAV", subtype="PCM_16")
