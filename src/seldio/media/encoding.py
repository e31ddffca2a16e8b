"""FOA and MIC made: from plane waves, and from each other, by linear filters from the response of the array.

**From each other.** The tetrahedron's symmetry leaves little to choose: in both directions the four channels are
mixed with signs only (:data:`MIX`), and each of the mixed channels has a filter of its own:

- MIC to FOA: the regularised least-squares fit to all directions, ``conj(b) a / (c + r)``;
- FOA to MIC: the part of the plane-wave response that four channels determine, orders 0 and 1;

with ``b`` the mode of the sphere (:func:`seldio.media.arrays.modes`), ``a`` the capsules' gain for the channel
and ``c`` its power in a diffuse field. Where order 0 and 1 are not all of the sound, from about 2 kHz on, the
level of the diffuse field is kept. How far the results are off, over frequency and direction, is measured in
``docs/concepts/channels.md``.

**From plane waves.** One source, standing or moving, without a room. A moving source goes from one direction to the
next every 5 ms, by a linear cross-fade of the responses. On the capsules this is off by -67 dB at 90 degrees a second
and by -47 dB at 500, at 9 kHz; by less below.

Filters have no delay; blocks go in and out, and memory stays flat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seldio.errors import DataError, UsageError
from seldio.media import arrays
from seldio.media.arrays import Complexes, Floats, Format

Sound = np.ndarray[Any, np.dtype[np.floating[Any]]]

#: The response is sampled this much finer than the taps can tell, so that what they cut off does not fold back.
_FINER = 4


def power_of_two(number: float) -> int:
    """Return the smallest one that is not below *number*."""
    return 1 << max(1, math.ceil(math.log2(number)))


def grid(rate: float, taps: int) -> Floats:
    """Return frequencies (Hz) at which :func:`taps_of` wants a response."""
    return np.asarray(np.fft.rfftfreq(_FINER * taps, 1 / rate), dtype=np.float64)


def taps_of(responses: Complexes, taps: int) -> Floats:
    """Return impulse responses with time 0 in the middle (tap ``taps // 2``, even), the outer quarters faded.

    Responses of shape (…, f), at the frequencies of :func:`grid`, become taps of shape (…, taps).
    """
    impulse = np.fft.irfft(responses, _FINER * taps)
    middle = np.roll(impulse, taps // 2, axis=-1)[..., :taps]
    distance = np.abs(np.arange(taps) - taps // 2) / (taps // 2)
    return np.asarray(middle * np.cos(np.pi / 2 * np.clip(2 * distance - 1, 0, 1)) ** 2)


def response_of(taps: Floats, frequencies: Floats, rate: float) -> Complexes:
    """Return the response of filters at *frequencies* (Hz): taps of shape (…, t), result (…, f)."""
    times = (np.arange(taps.shape[-1]) - taps.shape[-1] // 2) / rate
    return np.asarray(taps @ np.exp(-2j * np.pi * np.outer(times, frequencies)))


def filtered(blocks: Iterable[Sound], taps: Floats) -> Iterator[Floats]:
    """Yield blocks of sound through filters, by overlap-save, without delay: as many frames come out as went in.

    The result does not depend on how the sound is cut into blocks, to the last bit. Blocks have the shape (channels
    or 1, any number of frames), taps (channels, t) with time 0 at tap ``t // 2`` and t even; float64 comes out.
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
    """Yield overlapping windows of *size* frames and their numbers of new frames; silence pads both ends."""
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
    """Return *sound* itself, if it is of real numbers and shape (channels, frames); UsageError, if not."""
    wanted = "(channels, frames)" if channels is None else f"({channels}, frames)"
    if sound.ndim != 2 or (channels is not None and len(sound) != channels):
        turned = ", it seems to be (frames, channels)" if sound.ndim == 2 and sound.shape[1] == channels else ""
        raise UsageError(f"sound has the shape {wanted}, not {sound.shape}{turned}")
    if not np.issubdtype(sound.dtype, np.floating):
        raise UsageError(f"filters need audio as floating point numbers, not {sound.dtype}: divide by full scale first")
    return sound


def check_finite(sound: Sound) -> None:
    """Raise DataError where *sound* is not finite."""
    if not np.isfinite(sound).all():
        raise DataError("the sound holds numbers that are not finite (nan or inf); a filter would spread them")


# --- FOA and MIC made from each other --------------------------------------------------------------------

#: Power of a capsule's own noise, relative to the sound, that filters reckon with: 40 dB down. Y, Z and X are
#: then 0.4 dB low at 63 Hz and 2.4 dB at 20 Hz, and noise is raised by less than 30 dB.
REGULARISATION = 1e-4
#: Sums and differences of the capsules M1 … M4 that belong to W, Y, Z, X; its own inverse, transposed.
MIX = np.concatenate((np.ones((1, 4)), arrays.SIDES.T[[1, 2, 0]])) / 2
#: Power of W, Y, Z, X in a diffuse field of power 1.
_DIFFUSE = np.array([1, 1 / 3, 1 / 3, 1 / 3])
_SECONDS = 0.08


def mic_to_foa(audio: Sound, rate: int) -> Sound:
    """Return FOA made from a MIC recording.

    Args:
        audio: M1 … M4, shape (4, frames), floating point.
        rate: frames per second.

    Returns:
        W, Y, Z, X (SN3D), same shape and type, not delayed. See :func:`encode` for long recordings.

    Raises:
        UsageError: another shape or type, or a number that makes no sense.
        DataError: sound that is not finite.
    """
    return _whole(audio, rate, "foa")


def foa_to_mic(audio: Sound, rate: int) -> Sound:
    """Return MIC made from an FOA recording: what a plane wave's first two orders put onto the capsules.

    *audio*, the result and what is refused are as in :func:`mic_to_foa`, with M1 … M4 for W, Y, Z, X.
    """
    return _whole(audio, rate, "mic")


def _whole(audio: Sound, rate: int, to: Format) -> Sound:
    check_sound(audio, 4)
    parts = list(encode([audio], rate, to))
    return np.concatenate(parts, axis=1) if parts else audio.copy()


def encode(blocks: Iterable[Sound], rate: int, to: str) -> Iterator[Sound]:
    """Yield a recording of any length made into the other format, block by block, in memory that stays flat.

    Args:
        blocks: pieces of one recording, shape (4, any number of frames), floating point.
        rate: frames per second.
        to: ``foa`` (from MIC) or ``mic`` (from FOA).

    Yields:
        Pieces of other lengths, as many frames in all, of the same type as the first block. The result is the
        same to the last bit however the recording was cut.

    Raises:
        UsageError: another shape or type, or a number that makes no sense.
        DataError: sound that is not finite.
    """
    taps = encoding_taps(rate, to)
    kind: np.dtype[np.floating] | None = None

    def mixed() -> Iterator[Floats]:
        nonlocal kind
        for block in blocks:
            checked = check_sound(block, 4).astype(np.float64)
            kind = block.dtype if kind is None else kind
            yield checked if to == "mic" else MIX @ checked

    for block in filtered(mixed(), taps):
        yield (MIX.T @ block if to == "mic" else block).astype(kind or np.float64)


@lru_cache(maxsize=16)
def encoding_taps(rate: int, to: str) -> Floats:
    """Return the filters of W, Y, Z, X, shape (4, taps), time 0 in the middle: about 85 ms (2048 taps at 24 kHz)."""
    arrays.check_format(to)
    arrays.check_rate(rate)
    length = power_of_two(rate * _SECONDS)
    frequencies = grid(rate, length)
    terms = arrays.terms_for(frequencies[-1])
    modes = arrays.modes(frequencies, terms)
    first = modes[:, [0, 1, 1, 1]]
    gain = 2 * np.concatenate(([1.0], arrays.capsules()[0, [1, 2, 0]]))
    if to == "mic":
        power = np.abs(modes) ** 2
        two_orders = power[:, 0] + 3 * power[:, 1]
        weights = 2 * np.arange(terms) + 1
        filters = first / _DIFFUSE * gain * np.sqrt(power @ weights / two_orders)[:, np.newaxis]
    else:
        covariance = arrays.diffuse_covariance(frequencies, terms)
        power = np.einsum("im,fmk,ik->fi", MIX, covariance, MIX)
        explained = np.abs(first * gain) ** 2 / _DIFFUSE
        share = np.divide(explained, power, out=np.ones_like(power), where=explained > 1e-9)
        filters = first.conj() * gain / (power + REGULARISATION) / np.sqrt(share)
    taps = taps_of(np.asarray(filters).T, length)
    taps.flags.writeable = False
    return taps


def encoding_response(rate: int, to: str, frequencies: Floats) -> Complexes:
    """Return the response of encoding at *frequencies* (Hz), measured on its filters: shape (f, 4 out, 4 in)."""
    gains = response_of(encoding_taps(rate, to), frequencies, rate).T
    if to == "mic":
        return np.asarray(MIX.T * gains[:, np.newaxis])
    return np.asarray(gains[:, :, np.newaxis] * MIX)


# --- plane waves -----------------------------------------------------------------------------------------

#: Steps a second of a moving source.
STEPS = 200
#: Steps that are worked on together: about a second of sound.
_TOGETHER = 200


def render(
    signal: Sound, azimuth: ArrayLike, elevation: ArrayLike, rate: int, format: str, times: ArrayLike | None = None
) -> Sound:
    """Return a source far away, in the open, as FOA or MIC records it.

    Args:
        signal: the sound at the middle of the array, shape (frames,), floating point.
        azimuth: degrees, +90 is left; one number, or k of them for a source that moves.
        elevation: degrees, up positive; like *azimuth*.
        rate: frames per second.
        format: ``foa`` (exact gains W, Y, Z, X) or ``mic`` (filters of the rigid sphere, 5 ms long, not delayed).
        times: k times in seconds, rising, 0 at the first frame: when the source is in each direction. Between
            them it moves along the great circle; before the first and after the last it stays.

    Returns:
        Shape (4, frames), of the signal's type.

    Raises:
        UsageError: shapes, types or numbers that make no sense.
        DataError: a signal that is not finite.
    """
    arrays.check_rate(rate)
    check_sound(signal[np.newaxis], 1)
    directions = arrays.vectors(azimuth, elevation)
    if times is None and len(directions) != 1:
        raise UsageError(f"{len(directions)} directions and no times: also give the time of each")
    if times is not None:
        count = math.ceil(len(signal) / _hop(rate)) + 1  # the end of the signal is a step too
        steps = np.asarray(np.arange(count) * (_hop(rate) / rate), np.float64)
        directions = _on_steps(directions, np.asarray(times, np.float64), steps)
    still = not np.ptp(directions, axis=0).any()
    if arrays.check_format(format) == "foa":
        gains = arrays.foa_gains(directions)
        if still:
            sound = gains[:1].T * signal
        else:  # straight between steps
            share = (np.arange(_hop(rate)) / _hop(rate))[:, np.newaxis]
            between = gains[:-1, np.newaxis] + share * np.diff(gains, axis=0)[:, np.newaxis]
            sound = between.reshape(-1, 4)[: len(signal)].T * signal
    elif still:
        taps = (_series(directions[:1], rate) @ _orders(rate))[0]
        parts = list(filtered([signal[np.newaxis]], taps))
        sound = np.concatenate(parts, axis=1) if parts else np.zeros((4, 0))
    else:
        sound = _moving(signal, directions, rate)
    return np.asarray(sound, dtype=signal.dtype)


def _series(directions: Floats, rate: int) -> Floats:
    return arrays.legendre(directions @ arrays.capsules().T, len(_orders(rate)))


@lru_cache(maxsize=8)
def _orders(rate: int) -> Floats:
    """Return the impulse response of each order of the sphere's series, with its weight: shape (terms, taps)."""
    length = power_of_two(rate / STEPS)
    frequencies = grid(rate, length)
    terms = arrays.terms_for(frequencies[-1])
    weights = 2 * np.arange(terms) + 1
    return taps_of((arrays.modes(frequencies, terms) * weights).T, length)


# --- sources that move -----------------------------------------------------------------------------


def _hop(rate: int) -> int:
    return max(1, round(rate / STEPS))


def _on_steps(directions: Floats, times: Floats, steps: Floats) -> Floats:
    """Return unit vectors at *steps*, from those at *times* along great circles."""
    if times.shape != (len(directions),) or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise UsageError(f"times are one rising number of seconds for each of the {len(directions)} directions")
    at = np.clip(np.searchsorted(times, steps, side="right") - 1, 0, len(times) - 1)
    following = np.minimum(at + 1, len(times) - 1)
    span = np.where(following > at, times[following] - times[at], 1.0)
    share = np.clip((steps - times[at]) / span, 0.0, 1.0)[:, np.newaxis]
    start, end = directions[at], directions[following]
    angle = np.arctan2(np.linalg.norm(np.cross(start, end), axis=1), (start * end).sum(axis=1))[:, np.newaxis]
    # between points as good as equal either will do; opposite ones have no great circle, and the source jumps
    curved = (angle > 1e-6) & (angle < np.pi - 1e-6)
    sine = np.where(curved, np.sin(angle), 1.0)
    before = np.where(curved, np.sin((1 - share) * angle) / sine, share < 0.5)
    behind = np.where(curved, np.sin(share * angle) / sine, share >= 0.5)
    return np.asarray(before * start + behind * end)


def _moving(signal: Sound, directions: Floats, rate: int) -> Floats:
    """Return a moving source as FOA, from faded pieces of *signal*, each through the filters of its direction."""
    hop, taps = _hop(rate), _orders(rate).shape[1]
    check_finite(signal)
    size = power_of_two(2 * hop + taps)
    spectra = np.fft.rfft(_orders(rate), size)
    count = len(directions)
    padded = np.zeros((count + 1) * hop)
    padded[hop : hop + len(signal)] = signal
    fade = 1 - np.abs(np.arange(2 * hop) - hop) / hop
    pieces = np.lib.stride_tricks.sliding_window_view(padded, 2 * hop)[::hop]
    made = np.zeros((4, (count - 1) * hop + size))
    for first in range(0, count, _TOGETHER):
        steps = slice(first, first + _TOGETHER)
        responses = _series(directions[steps], rate) @ spectra
        heard = np.fft.irfft(np.fft.rfft(pieces[steps] * fade, size)[:, np.newaxis] * responses, size)
        for number, piece in enumerate(heard, first):
            made[:, number * hop : number * hop + size] += piece
    start = hop + taps // 2
    return made[:, start : start + len(signal)]
