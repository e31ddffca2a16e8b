"""Parts of a recording at another sampling rate, by libsoxr; the one home of soxr.

A part is what the resampled whole has there: sound around it is read as well, as far as the filter reaches. What
conversion writes is made by FFmpeg instead (:func:`seldio.media.audio.resample`), which every installation has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import cast

import numpy as np

from seldio.errors import needing
from seldio.media.audio import Floats
from seldio.media.recording import Recording, Samples

#: Frames, at the lower of the two rates, that are read on either side: parts then differ from the whole by rounding
#: alone (2e-7 of full scale, measured over ten pairs of rates; from 128 frames on it does not become less).
REACH = 256
#: soxr's preset of 20 bits: passes 91 % of the lower band, and rejects by more than 120 dB what would fold back.
QUALITY = "HQ"


def resampler() -> Callable[..., Floats]:
    """What resamples.

    Raises:
        MissingLibrary: soxr is not installed.
    """
    with needing("soxr"):
        import soxr
    return cast("Callable[..., Floats]", soxr.resample)


def frames_at(recording: Recording, rate: int) -> int:
    """How many frames a recording has at another rate: as long as it lasts, rounded to the nearest one."""
    return math.floor(Fraction(len(recording) * rate, recording.rate) + Fraction(1, 2))


def read_at(recording: Recording, rate: int, start: int, frames: int) -> Floats:
    """Part of a recording at another rate, shape (channels, frames), float32; zeros past its end.

    Args:
        recording: at any rate.
        rate: frames per second of the result.
        start: its first frame, counted at *rate*.
        frames: how many.

    Raises:
        MissingLibrary: soxr is not installed.
        NotAudio: the file cannot be read as audio.
    """
    from_rate = recording.rate
    if rate == from_rate:
        return recording.read(start, frames, pad=True)
    common = math.gcd(from_rate, rate)
    unit, unit_out = from_rate // common, rate // common  # as long as each other, so that no time is between frames
    reach = math.ceil(REACH * max(1, from_rate / rate))
    first = max(0, (start // unit_out) * unit - math.ceil(reach / unit) * unit)
    stop = min(len(recording), math.ceil(Fraction((start + frames) * from_rate, rate)) + reach)
    out = np.zeros((recording.channels, frames), np.float32)
    if stop > first:
        made = resampler()(recording.read(first, stop - first).T, from_rate, rate, QUALITY).T
        skip = start - first // unit * unit_out
        there = made[:, skip : skip + min(frames, max(0, frames_at(recording, rate) - start))]
        out[:, : there.shape[1]] = there
    return out


def as_int16(sound: Floats) -> Samples:
    """Float samples, -1 … 1, as whole numbers: the nearest ones, and those at full scale for what lies beyond."""
    return np.asarray(np.clip(np.rint(sound * np.float32(32768)), -32768, 32767), np.int16)
