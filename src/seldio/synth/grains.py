"""What sounds are made of: noise in a band, damped tones, pulses, and grains put in their places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Floats = np.ndarray[Any, np.dtype[np.float64]]
Random = np.random.Generator


def fast_size(frames: int) -> int:
    """A length of at least *frames* that transforms fast: 2, 3, 5 or 9 times a power of two, over 8."""
    best = 1 << max(1, (frames - 1).bit_length())
    return min(size for size in (best, best // 8 * 5, best // 4 * 3, best // 16 * 9) if size >= frames)


def band(frames: int, rate: int, rng: Random, low: float, high: float, slope: float = 0.0) -> Floats:
    """Noise of power 1 between *low* and *high* (Hz), its edges half an octave wide.

    Args:
        slope: of the amplitude: it goes with the frequency to that power; -0.5 is pink.
    """
    size = fast_size(max(frames, 64))
    frequencies = np.fft.rfftfreq(size, 1 / rate)[1:]
    with np.errstate(over="ignore"):
        gain = 1 / np.sqrt((1 + (low / frequencies) ** 8) * (1 + (frequencies / high) ** 16))
    gain *= (frequencies / low) ** slope
    spectrum = np.fft.rfft(rng.standard_normal(size, np.float32))
    spectrum[0] = 0
    spectrum[1:] *= (gain / np.sqrt(2 * np.sum(gain**2) / size)).astype(np.float32)
    return np.asarray(np.fft.irfft(spectrum, size)[:frames], np.float64)


def damped(rate: int, seconds: float, pitches: ArrayLike, falls: ArrayLike, levels: ArrayLike) -> Floats:
    """A sum of tones that fall by 1/e in *falls* seconds, from *levels*; those above 45 % of *rate* are left out."""
    time = np.arange(int(seconds * rate)) / rate
    rows = np.broadcast_arrays(np.asarray(pitches, np.float64), falls, levels)
    made = np.zeros(len(time))
    for pitch, fall, level in zip(*rows, strict=True):
        if pitch < 0.45 * rate:
            made += level * np.exp(-time / fall) * np.sin(2 * np.pi * pitch * time)
    return made


def placed(out: Floats, grains: Iterable[tuple[int, Floats]]) -> Floats:
    """Add grains to *out*, each from its frame on; what lies behind the end is cut off."""
    for start, grain in grains:
        some = out[start : start + len(grain)]
        some += grain[: len(some)]
    return out


def pulses(tune: Floats, rate: int, ring: Floats) -> Floats:
    """A train of pulses, *tune* (Hz for each frame) of them a second, each of which rings like *ring*."""
    phase = np.cumsum(tune) / rate
    train = np.diff(np.floor(phase), prepend=0.0)
    size = fast_size(len(tune) + len(ring))
    return np.asarray(np.fft.irfft(np.fft.rfft(train, size) * np.fft.rfft(ring, size), size)[: len(tune)])


def smooth(gate: ArrayLike, rate: int, seconds: float) -> Floats:
    """On and off without clicks: a running mean over *seconds*."""
    width = max(1, int(seconds * rate))
    total = np.concatenate((np.zeros(width), np.cumsum(np.asarray(gate, np.float64))))
    return np.asarray((total[width:] - total[:-width]) / width)
