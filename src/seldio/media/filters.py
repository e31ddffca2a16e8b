"""Filters on long recordings: zero delay, blocks in and out, memory that stays flat."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seldio.errors import DataError, UsageError

Sound = np.ndarray[Any, np.dtype[np.floating[Any]]]
Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: The response is sampled this much finer than the taps can tell, so that what they cut off does not fold back.
_FINER = 4


def power_of_two(number: float) -> int:
    """The smallest one that is not below *number*."""
    return 1 << max(1, math.ceil(math.log2(number)))


def grid(rate: float, taps: int) -> Floats:
    """Frequencies (Hz) at which :func:`taps_of` wants a response."""
    return np.asarray(np.fft.rfftfreq(_FINER * taps, 1 / rate), dtype=np.float64)


def taps_of(responses: Complexes, taps: int) -> Floats:
    """Impulse responses with time 0 in the middle (tap ``taps // 2``), the outer quarters faded.

    Args:
        responses: shape (…, f) at the frequencies of :func:`grid`.
        taps: how many, even.

    Returns:
        Shape (…, taps).
    """
    impulse = np.fft.irfft(responses, _FINER * taps)
    middle = np.roll(impulse, taps // 2, axis=-1)[..., :taps]
    distance = np.abs(np.arange(taps) - taps // 2) / (taps // 2)
    return np.asarray(middle * np.cos(np.pi / 2 * np.clip(2 * distance - 1, 0, 1)) ** 2)


def response_of(taps: Floats, frequencies: Floats, rate: float) -> Complexes:
    """What filters do at *frequencies* (Hz): taps of shape (…, t), result (…, f)."""
    times = (np.arange(taps.shape[-1]) - taps.shape[-1] // 2) / rate
    return np.asarray(taps @ np.exp(-2j * np.pi * np.outer(times, frequencies)))


def filtered(blocks: Iterable[Sound], taps: Floats) -> Iterator[Floats]:
    """Blocks of sound through filters, by overlap-save, without delay: as many frames come out as went in.

    The result does not depend on how the sound is cut into blocks, to the last bit.

    Args:
        blocks: shape (channels or 1, any number of frames).
        taps: shape (channels, t), time 0 at tap ``t // 2``; t is even.

    Yields:
        Shape (channels, frames), float64.

    Raises:
        DataError: sound that is not finite.
    """
    length = taps.shape[1]
    size = power_of_two(4 * length)
    spectrum = np.fft.rfft(taps, size)
    late = length // 2  # frames that come out of the filter before the first one of the result
    given = 0
    made = -late
    for window, fresh in _windows(blocks, size, length - 1, late):
        given += fresh
        out = np.fft.irfft(np.fft.rfft(window) * spectrum, size)[:, length - 1 :]
        first, last = max(0, -made), min(out.shape[1], given - made)
        made += out.shape[1]
        if last > first:
            yield out[:, first:last]


def _windows(blocks: Iterable[Sound], size: int, overlap: int, tail: int) -> Iterator[tuple[Floats, int]]:
    """Windows of *size* frames that overlap, and how many frames of each are fresh; silence before and behind."""
    window: Floats | None = None
    filled, given = overlap, 0
    for block in blocks:
        if window is None:
            window = np.zeros((len(block), size))
        check_finite(block)
        at = 0
        while at < block.shape[1]:
            count = min(size - filled, block.shape[1] - at)
            window[:, filled : filled + count] = block[:, at : at + count]
            at, filled, given = at + count, filled + count, given + count
            if filled == size:
                yield window, given
                window[:, :overlap] = window[:, size - overlap :]
                filled, given = overlap, 0
    while window is not None and filled + tail > overlap:
        window[:, filled:] = 0
        yield window, given
        tail -= size - filled
        window[:, :overlap] = window[:, size - overlap :]
        filled, given = overlap, 0


def check_sound(sound: Sound, channels: int | None = None) -> Sound:
    """*sound* itself, if it is of real numbers and shape (channels, frames).

    Raises:
        UsageError: it is not.
    """
    wanted = "(channels, frames)" if channels is None else f"({channels}, frames)"
    if sound.ndim != 2 or (channels is not None and len(sound) != channels):
        turned = ", it seems to be (frames, channels)" if sound.ndim == 2 and sound.shape[1] == channels else ""
        raise UsageError(f"sound has the shape {wanted}, not {sound.shape}{turned}")
    if not np.issubdtype(sound.dtype, np.floating):
        raise UsageError(f"filters want sound of floating point numbers, not {sound.dtype}: divide by full scale first")
    return sound


def check_finite(sound: Sound) -> None:
    """Raise DataError where *sound* is not finite."""
    if not np.isfinite(sound).all():
        raise DataError("the sound holds numbers that are not finite (nan or inf); a filter would spread them")
