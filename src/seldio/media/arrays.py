"""The responses of the two recording formats of DCASE Task 3 to a plane wave: FOA and MIC steering vectors.

FOA is first-order Ambisonics, channels W, Y, Z, X (ACN order, SN3D). MIC is four capsules M1 … M4 on a
rigid sphere of 4.2 cm: front left up, front right down, back left down, back right up. Both responses are
relative to the sound at the middle of the array, for the time convention exp(+iωt) of NumPy's FFT: a capsule
that faces the source leads. Source: "STARSS23", section on array responses; the sphere's series is the
classical one for a hard sphere (Rafaely, "Fundamentals of Spherical Array Processing", 2.61).
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seldio import geometry
from seldio.errors import UsageError

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Format = Literal["foa", "mic"]

#: The sampling rates (frames per second) that recordings may have.
RATES = range(4_000, 768_001)
#: Radius of the sphere, metres.
RADIUS = 0.042
#: Speed of sound, metres a second.
SPEED = 343.0
#: Terms of the sphere's series, orders 0 to 30: the error is below 1e-6 up to 20 kHz.
TERMS = 31
#: Azimuth and elevation of the capsules M1 … M4, degrees.
CAPSULES = ((45, 35), (-45, -35), (135, -35), (-135, 35))
CHANNELS: dict[Format, tuple[str, ...]] = {"foa": ("W", "Y", "Z", "X"), "mic": ("M1", "M2", "M3", "M4")}
#: The sides on which the capsules are: front, left, up.
SIDES = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])


def check_format(format: str) -> Format:
    """Return *format*, if it is one.

    Raises:
        UsageError: neither ``foa`` nor ``mic``.
    """
    for name in CHANNELS:
        if format == name:
            return name
    raise UsageError(f"there is no array format {format!r}; choose foa (W, Y, Z, X) or mic (M1 to M4)")


def check_rate(rate: float) -> None:
    """Raise UsageError where *rate* is not a sampling rate."""
    if not (math.isfinite(rate) and rate > 0):
        raise UsageError(f"a sampling rate is a number of frames per second above 0, not {rate}")


def capsules() -> Floats:
    """Return unit vectors (front, left, up) to the capsules, shape (4, 3); mirror images to the last bit."""
    x, _, z = geometry.to_cartesian(*CAPSULES[0])
    return np.asarray(SIDES * np.array([x, x, z]), dtype=np.float64)


def vectors(azimuth: ArrayLike, elevation: ArrayLike) -> Floats:
    """Return unit vectors (front, left, up) of n directions in degrees, shape (n, 3).

    Raises:
        UsageError: more than one dimension, or a number that is not finite.
    """
    directions = np.stack(geometry.to_cartesian(np.atleast_1d(azimuth), np.atleast_1d(elevation)), axis=-1)
    if directions.ndim != 2:
        raise UsageError(f"directions are numbers or lists of numbers, not arrays of {directions.ndim - 1} dimensions")
    if not np.isfinite(directions).all():
        raise UsageError("a direction is not finite: azimuth and elevation are degrees")
    return directions


def foa_response(azimuth: ArrayLike, elevation: ArrayLike) -> Floats:
    """Return FOA gains ``1, sin az cos el, sin el, cos az cos el`` of n directions (degrees), shape (n, 4)."""
    return foa_gains(vectors(azimuth, elevation))


def foa_gains(directions: Floats) -> Floats:
    """Return FOA gains of n unit vectors (front, left, up), shape (n, 4)."""
    return np.concatenate((np.ones((len(directions), 1)), directions[:, [1, 2, 0]]), axis=1)


def mic_response(azimuth: ArrayLike, elevation: ArrayLike, frequencies: ArrayLike, terms: int = TERMS) -> Complexes:
    """Return the response of the four capsules on the rigid sphere.

    Args:
        azimuth: n directions, degrees, +90 is left.
        elevation: degrees, up positive.
        frequencies: f of them, Hz, from 0 (where the response is 1).
        terms: of the series; 31 serve up to 20 kHz, see :func:`terms_for` beyond.

    Returns:
        Shape (n, f, 4).

    Raises:
        UsageError: directions or frequencies that are none.
    """
    series = legendre(vectors(azimuth, elevation) @ capsules().T, terms) * (2 * np.arange(terms) + 1)
    return np.moveaxis(series @ modes(frequencies, terms).T, 1, 2)


def response(format: str, azimuth: ArrayLike, elevation: ArrayLike, frequencies: ArrayLike) -> Complexes:
    """Return steering vectors of either format: n directions (degrees), f frequencies (Hz), shape (n, f, 4)."""
    if check_format(format) == "mic":
        return mic_response(azimuth, elevation, frequencies)
    gains = foa_response(azimuth, elevation)
    shape = (len(gains), len(_frequencies(frequencies)), 4)
    return np.broadcast_to(gains[:, np.newaxis].astype(np.complex128), shape).copy()


def modes(frequencies: ArrayLike, terms: int = TERMS) -> Complexes:
    r"""Return how much of each spherical-harmonic order reaches the surface of the sphere, shape (f, terms).

    ``i^(n-1) / (x² h'_n(x))`` with ``x = 2πfR/c`` and the spherical Hankel function of the second kind. The
    recurrence runs on ``x h_n(x) / h_(n-1)(x)``, which is finite at 0 too, and upwards, where it is stable.
    """
    x = 2 * np.pi * RADIUS / SPEED * _frequencies(frequencies)
    wave = np.exp(1j * x)
    ratio = 1 + 1j * x
    orders = np.empty((len(x), terms), dtype=np.complex128)
    orders[:, 0] = wave / ratio
    for n in range(1, terms):
        wave = wave * (1j * x / ratio)  # with i^n already in it
        orders[:, n] = wave / (n + 1 - x * x / ratio)
        ratio = 2 * n + 1 - x * x / ratio
    return orders


def legendre(cosines: Floats, terms: int = TERMS) -> Floats:
    """Return the Legendre polynomials of degrees 0 … terms - 1, on a new last axis."""
    cosines = np.clip(cosines, -1.0, 1.0)
    degrees = np.ones((*cosines.shape, terms))
    if terms > 1:
        degrees[..., 1] = cosines
    for n in range(1, terms - 1):
        degrees[..., n + 1] = ((2 * n + 1) * cosines * degrees[..., n] - n * degrees[..., n - 1]) / (n + 1)
    return degrees


def terms_for(frequency: float) -> int:
    """Return terms of the series that serve up to *frequency* (Hz); at least the 31 of the dataset's description."""
    return max(TERMS, math.ceil(2 * math.pi * RADIUS / SPEED * frequency) + 15)


def diffuse_covariance(frequencies: ArrayLike, terms: int = TERMS) -> Floats:
    """Return the covariance of the capsules in a diffuse field of power 1, shape (f, 4, 4)."""
    polynomials = legendre(capsules() @ capsules().T, terms) * (2 * np.arange(terms) + 1)
    return np.moveaxis(polynomials @ (np.abs(modes(frequencies, terms)) ** 2).T, 2, 0)


def _frequencies(frequencies: ArrayLike) -> Floats:
    hertz: np.ndarray[Any, np.dtype[np.float64]] = np.atleast_1d(np.asarray(frequencies, dtype=np.float64))
    if hertz.ndim != 1 or not (np.isfinite(hertz) & (hertz >= 0)).all():
        raise UsageError("frequencies are one list of numbers in Hz, 0 or above")
    return hertz
