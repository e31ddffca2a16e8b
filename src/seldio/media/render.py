"""Plane waves as the two formats record them: one source, standing or moving, without a room.

A moving source goes from one direction to the next every 5 ms, by a linear cross-fade of the responses. On the
capsules this is off by -67 dB at 90 degrees a second and by -47 dB at 500, at 9 kHz; by less below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from seldio.errors import UsageError
from seldio.media import arrays, filters
from seldio.media.arrays import Complexes, Floats
from seldio.media.filters import Sound

#: Steps a second of a moving source.
STEPS = 200
#: Steps that are worked on together: about a second of sound.
_TOGETHER = 200


def render(
    signal: Sound, azimuth: ArrayLike, elevation: ArrayLike, rate: int, format: str, times: ArrayLike | None = None
) -> Sound:
    """A source far away, in the open, as FOA or MIC records it.

    Args:
        signal: the sound at the middle of the array, shape (frames,), floating point.
        azimuth: degrees, +90 is left; one number, or k of them for a source that moves.
        elevation: degrees, up positive; like *azimuth*.
        rate: frames a second.
        format: ``foa`` (exact gains W, Y, Z, X) or ``mic`` (filters of the rigid sphere, 5 ms long, not delayed).
        times: k times in seconds, rising, 0 at the first frame: when the source is in each direction. Between
            them it moves along the great circle; before the first and behind the last it stands.

    Returns:
        Shape (4, frames), of the signal's type.

    Raises:
        UsageError: shapes, types or numbers that make no sense.
        DataError: a signal that is not finite.
    """
    arrays.check_rate(rate)
    filters.check_sound(signal[np.newaxis], 1)
    directions = arrays.vectors(azimuth, elevation)
    if times is None and len(directions) != 1:
        raise UsageError(f"{len(directions)} directions and no times: say when the source is in each")
    if times is not None:
        directions = _on_steps(directions, np.asarray(times, np.float64), _steps(len(signal), rate))
    still = not np.ptp(directions, axis=0).any()
    if arrays.check_format(format) == "foa":
        gains = arrays.foa_gains(directions)
        sound = gains[:1].T * signal if still else _gains_between(gains, len(signal), rate) * signal
    else:
        sound = _through_sphere(signal, directions[0], rate) if still else _moving(signal, directions, rate)
    return np.asarray(sound, dtype=signal.dtype)


def mic_taps(azimuth: ArrayLike, elevation: ArrayLike, rate: int) -> Floats:
    """Impulse responses of n directions (degrees) to M1 … M4, shape (n, 4, taps), time 0 in the middle.

    They are 5 ms or a little longer (128 taps at 24 kHz).
    """
    return np.asarray(_series(arrays.vectors(azimuth, elevation), rate) @ _orders(rate))


def _series(directions: Floats, rate: int) -> Floats:
    return arrays.legendre(directions @ arrays.capsules().T, len(_orders(rate)))


@lru_cache(maxsize=8)
def _orders(rate: int) -> Floats:
    """Impulse response of each order of the sphere's series, with its weight: shape (terms, taps)."""
    length = filters.power_of_two(rate / STEPS)
    frequencies = filters.grid(rate, length)
    terms = arrays.terms_for(frequencies[-1])
    weights = 2 * np.arange(terms) + 1
    return filters.taps_of((arrays.modes(frequencies, terms) * weights).T, length)


def _through_sphere(signal: Sound, direction: Floats, rate: int) -> Floats:
    taps = (_series(direction[np.newaxis], rate) @ _orders(rate))[0]
    parts = list(filters.filtered([signal[np.newaxis]], taps))
    return np.concatenate(parts, axis=1) if parts else np.zeros((4, 0))


# --- sources that move -----------------------------------------------------------------------------


def _hop(rate: int) -> int:
    return max(1, round(rate / STEPS))


def _steps(frames: int, rate: int) -> Floats:
    """The times (s) of the steps that a signal needs, its end included."""
    return np.asarray(np.arange(math.ceil(frames / _hop(rate)) + 1) * (_hop(rate) / rate), dtype=np.float64)


def _on_steps(directions: Floats, times: Floats, steps: Floats) -> Floats:
    """Unit vectors at *steps*, from those at *times* along great circles."""
    if times.shape != (len(directions),) or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise UsageError(f"times are one rising number of seconds for each of the {len(directions)} directions")
    at = np.clip(np.searchsorted(times, steps, side="right") - 1, 0, len(times) - 1)
    following = np.minimum(at + 1, len(times) - 1)
    span = np.where(following > at, times[following] - times[at], 1.0)
    share = np.clip((steps - times[at]) / span, 0.0, 1.0)[:, np.newaxis]
    one, other = directions[at], directions[following]
    angle = np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), (one * other).sum(axis=1))[:, np.newaxis]
    # between points as good as equal either will do; opposite ones have no great circle, and the source jumps
    curved = (angle > 1e-6) & (angle < np.pi - 1e-6)
    sine = np.where(curved, np.sin(angle), 1.0)
    before = np.where(curved, np.sin((1 - share) * angle) / sine, share < 0.5)
    behind = np.where(curved, np.sin(share * angle) / sine, share >= 0.5)
    return np.asarray(before * one + behind * other)


def _gains_between(gains: Floats, frames: int, rate: int) -> Floats:
    """Gains at every frame, shape (4, frames), straight between steps."""
    share = (np.arange(_hop(rate)) / _hop(rate))[:, np.newaxis]
    between = gains[:-1, np.newaxis] + share * np.diff(gains, axis=0)[:, np.newaxis]
    return between.reshape(-1, 4)[:frames].T


def _moving(signal: Sound, directions: Floats, rate: int) -> Floats:
    """The signal in pieces that fade into each other, each through the filters of its direction."""
    hop, taps = _hop(rate), _orders(rate).shape[1]
    filters.check_finite(signal)
    size = filters.power_of_two(2 * hop + taps)
    spectra = np.fft.rfft(_orders(rate), size)
    count = len(directions)
    padded = np.zeros((count + 1) * hop)
    padded[hop : hop + len(signal)] = signal
    fade = 1 - np.abs(np.arange(2 * hop) - hop) / hop
    pieces = np.lib.stride_tricks.sliding_window_view(padded, 2 * hop)[::hop]
    made = np.zeros((4, (count - 1) * hop + size))
    for first in range(0, count, _TOGETHER):
        some = slice(first, first + _TOGETHER)
        for number, piece in enumerate(_pieces(pieces[some] * fade, directions[some], spectra, rate, size), first):
            made[:, number * hop : number * hop + size] += piece
    start = hop + taps // 2
    return made[:, start : start + len(signal)]


def _pieces(windows: Floats, directions: Floats, spectra: Complexes, rate: int, size: int) -> Iterator[Floats]:
    responses = _series(directions, rate) @ spectra
    yield from np.fft.irfft(np.fft.rfft(windows, size)[:, np.newaxis] * responses, size)
