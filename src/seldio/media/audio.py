"""Audio files, headers first; the one home of soundfile."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import BinaryIO

import soundfile

from seldio import timeline
from seldio.errors import SeldioError


class NotAudio(SeldioError):
    """A file that cannot be read as audio."""


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """What a header says: sample frames, samples a second, channels."""

    frames: int
    rate: int
    channels: int

    def label_frames(self, hop: Fraction = timeline.HOP) -> int:
        """How many label frames the recording has, the last one perhaps not full."""
        return -int(-(Fraction(self.frames, self.rate) / hop) // 1)


def probe(stream: BinaryIO) -> Probe:
    """The header of an audio file.

    Raises:
        NotAudio: libsndfile cannot read it.
    """
    try:
        info = soundfile.info(stream)
    except (soundfile.LibsndfileError, TypeError, ValueError) as error:
        raise NotAudio(str(error)) from error
    return Probe(int(info.frames), int(info.samplerate), int(info.channels))
