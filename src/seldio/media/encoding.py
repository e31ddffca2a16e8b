"""FOA and MIC recordings made from each other, by linear filters from the response of the array.

The tetrahedron's symmetry leaves little to choose: in both directions the four channels are mixed with signs
only (:data:`MIX`), and each of the mixed channels has a filter of its own. These filters are

- MIC to FOA: the regularised least-squares fit to all directions, ``conj(b) a / (c + r)``;
- FOA to MIC: the part of the plane-wave response that four channels determine, orders 0 and 1;

with ``b`` the mode of the sphere (:func:`seldio.media.arrays.modes`), ``a`` the capsules' gain for the channel
and ``c`` its power in a diffuse field. Where order 0 and 1 are not all of the sound, from about 2 kHz on, the
level of the diffuse field is kept. How far the results are off, over frequency and direction, is measured in
``docs/arrays.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from seldio.errors import UsageError
from seldio.media import arrays, filters
from seldio.media.arrays import Complexes, Floats, Format
from seldio.media.filters import Sound

#: Power of a capsule's own noise, relative to the sound, that filters reckon with: 40 dB down. Y, Z and X are
#: then 0.4 dB low at 63 Hz and 2.4 dB at 20 Hz, and noise is raised by less than 30 dB.
REGULARISATION = 1e-4
#: Sums and differences of the capsules M1 … M4 that belong to W, Y, Z, X; its own inverse, transposed.
MIX = np.concatenate((np.ones((1, 4)), arrays.SIDES.T[[1, 2, 0]])) / 2
#: Power of W, Y, Z, X in a diffuse field of power 1.
_DIFFUSE = np.array([1, 1 / 3, 1 / 3, 1 / 3])
_SECONDS = 0.08


def mic_to_foa(audio: Sound, rate: int, regularisation: float = REGULARISATION) -> Sound:
    """FOA made from a MIC recording.

    Args:
        audio: M1 … M4, shape (4, frames), floating point.
        rate: frames a second.
        regularisation: power of the capsules' own noise that is reckoned with, relative to the sound.
            More of it: less noise below 100 Hz, and less of Y, Z and X there.

    Returns:
        W, Y, Z, X (SN3D), same shape and type, not delayed. See :func:`encode` for long recordings.

    Raises:
        UsageError: another shape or type, or a number that makes no sense.
        DataError: sound that is not finite.
    """
    return _whole(audio, rate, "foa", regularisation)


def foa_to_mic(audio: Sound, rate: int) -> Sound:
    """MIC made from an FOA recording: what a plane wave's first two orders put onto the capsules.

    Args:
        audio: W, Y, Z, X (SN3D), shape (4, frames), floating point.
        rate: frames a second.

    Returns:
        M1 … M4, same shape and type, not delayed. See :func:`encode` for long recordings.

    Raises:
        UsageError: another shape or type, or a number that makes no sense.
        DataError: sound that is not finite.
    """
    return _whole(audio, rate, "mic")


def _whole(audio: Sound, rate: int, to: Format, regularisation: float = REGULARISATION) -> Sound:
    filters.check_sound(audio, 4)
    parts = list(encode([audio], rate, to, regularisation))
    return np.concatenate(parts, axis=1) if parts else audio.copy()


def encode(blocks: Iterable[Sound], rate: int, to: str, regularisation: float = REGULARISATION) -> Iterator[Sound]:
    """A recording of any length made into the other format, block by block, in memory that stays flat.

    Args:
        blocks: pieces of one recording, shape (4, any number of frames), floating point.
        rate: frames a second.
        to: ``foa`` (from MIC) or ``mic`` (from FOA).
        regularisation: see :func:`mic_to_foa`; without effect on FOA to MIC.

    Yields:
        Pieces of other lengths, as many frames in all, of the same type as the first block. The result is the
        same to the last bit however the recording was cut.

    Raises:
        UsageError: another shape or type, or a number that makes no sense.
        DataError: sound that is not finite.
    """
    taps = encoding_taps(rate, to, regularisation)
    kind: np.dtype[np.floating] | None = None

    def mixed() -> Iterator[Floats]:
        nonlocal kind
        for block in blocks:
            checked = filters.check_sound(block, 4).astype(np.float64)
            kind = block.dtype if kind is None else kind
            yield checked if to == "mic" else MIX @ checked

    for block in filters.filtered(mixed(), taps):
        yield (MIX.T @ block if to == "mic" else block).astype(kind or np.float64)


@lru_cache(maxsize=16)
def encoding_taps(rate: int, to: str, regularisation: float = REGULARISATION) -> Floats:
    """The filters of W, Y, Z, X, shape (4, taps), time 0 in the middle: about 85 ms (2048 taps at 24 kHz).

    Raises:
        UsageError: a format, rate or regularisation that is none.
    """
    arrays.check_format(to)
    arrays.check_rate(rate)
    if not (np.isfinite(regularisation) and regularisation > 0):
        raise UsageError(f"the regularisation is a noise power above 0, such as 1e-4, not {regularisation}")
    length = filters.power_of_two(rate * _SECONDS)
    taps = filters.taps_of(_channel_filters(filters.grid(rate, length), to, regularisation).T, length)
    taps.flags.writeable = False
    return taps


def encoding_response(rate: int, to: str, frequencies: Floats, regularisation: float = REGULARISATION) -> Complexes:
    """What encoding does at *frequencies* (Hz), as measured on its filters: shape (f, 4 out, 4 in)."""
    gains = filters.response_of(encoding_taps(rate, to, regularisation), frequencies, rate).T
    if to == "mic":
        return np.asarray(MIX.T * gains[:, np.newaxis])
    return np.asarray(gains[:, :, np.newaxis] * MIX)


def _channel_filters(frequencies: Floats, to: str, regularisation: float) -> Complexes:
    """One filter for each of W, Y, Z, X: shape (f, 4)."""
    terms = arrays.terms_for(frequencies[-1])
    modes = arrays.modes(frequencies, terms)
    weights = 2 * np.arange(terms) + 1
    first = modes[:, [0, 1, 1, 1]]
    gain = 2 * np.concatenate(([1.0], arrays.capsules()[0, [1, 2, 0]]))
    if to == "mic":
        power = np.abs(modes) ** 2
        kept = power[:, 0] + 3 * power[:, 1]
        return np.asarray(first / _DIFFUSE * gain * np.sqrt(power @ weights / kept)[:, np.newaxis])
    covariance = arrays.diffuse_covariance(frequencies, terms)
    power = np.einsum("im,fmk,ik->fi", MIX, covariance, MIX)
    explained = np.abs(first * gain) ** 2 / _DIFFUSE
    share = np.divide(explained, power, out=np.ones_like(power), where=explained > 1e-9)
    return np.asarray(first.conj() * gain / (power + regularisation) / np.sqrt(share))
