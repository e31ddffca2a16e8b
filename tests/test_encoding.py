"""FOA and MIC from each other: plane waves, diffuse sound, blocks, limits."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seldio import geometry
from seldio.errors import DataError, UsageError
from seldio.media import arrays, encoding
from seldio.media.encoding import encode, encoding_response, foa_to_mic, mic_to_foa, render

RATE = 24_000
azimuths = st.floats(-180, 180)
elevations = st.floats(-90, 90)


def lowpassed(frames: int, low: float, high: float, seed: int = 0, channels: int = 1) -> np.ndarray:
    """Noise between two frequencies (Hz), silent at both ends."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).normal(size=(channels, frames)))
    frequencies = np.fft.rfftfreq(frames, 1 / RATE)
    spectrum[:, (frequencies < low) | (frequencies > high)] = 0
    return np.fft.irfft(spectrum, frames) * np.hanning(frames)


def bounds(frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far plane waves can be off when FOA is made from MIC, and MIC from FOA, by frequency; shape (f,)."""
    b = arrays.modes(frequencies)
    tilt, orders = np.radians(35), np.arange(b.shape[1])
    to_foa = 1.25 * np.cos(tilt) ** 2 / np.sin(tilt) * np.abs(b[:, 2] / b[:, 1])
    waves, powers = (2 * orders + 1) * b, (2 * orders + 1) * np.abs(b) ** 2
    raised = np.sqrt(powers.sum(axis=1) / powers[:, :2].sum(axis=1)) - 1
    signs = np.array([np.ones(len(orders)), (-1.0) ** orders])
    return to_foa, np.abs(waves[:, 2:] @ signs[:, 2:].T).max(axis=1) + raised * np.abs(waves[:, :2].sum(axis=1))


@given(azimuths, elevations, st.floats(100, 500), st.sampled_from([16_000, 24_000, 44_100, 48_000]))
@example(41, 0, 490, 16_000)
def test_low_plane_waves_are_encoded_right(azimuth: float, elevation: float, frequency: float, rate: int) -> None:
    at = np.array([frequency])
    (to_foa,), (to_mic,) = bounds(at)
    foa, mic = arrays.foa_response(azimuth, elevation)[0], arrays.mic_response(azimuth, elevation, at)[0, 0]
    assert np.abs(encoding_response(rate, "foa", at)[0] @ mic - foa).max() <= to_foa
    assert np.abs(encoding_response(rate, "mic", at)[0] @ foa - mic).max() <= to_mic + 1e-9


@pytest.mark.parametrize("rate", [16_000, 24_000, 48_000])
def test_the_bounds_of_low_plane_waves_are_tight(rate: int) -> None:
    """They are 0.25 f and 0.33 f² (f in kHz), and some direction comes up to them, to 3 %."""
    at = np.arange(100.0, 501, 20)
    to_foa, to_mic = bounds(at)
    assert pytest.approx(0.25e-3 * at, rel=0.01) == to_foa
    azimuth, elevation = (each.ravel() for each in np.meshgrid(np.arange(-180.0, 180, 5), np.arange(-90.0, 91, 5)))
    foa, mic = arrays.foa_response(azimuth, elevation), arrays.mic_response(azimuth, elevation, at)
    off = np.abs(np.einsum("foc,nfc->nfo", encoding_response(rate, "foa", at), mic) - foa[:, np.newaxis]).max((0, 2))
    assert (off <= to_foa).all()
    assert (off >= 0.97 * to_foa).all()
    off = np.abs(np.einsum("foc,nc->nfo", encoding_response(rate, "mic", at), foa) - mic).max((0, 2))
    assert (off <= to_mic + 1e-9).all()
    assert (off >= 0.99 * to_mic).all()
    assert pytest.approx(0.33e-6 * at**2, rel=0.01) == to_mic


def test_the_error_grows_with_frequency_as_documented() -> None:
    frequencies = np.array([125.0, 500, 1000, 2000])
    azimuth, elevation = np.meshgrid(np.arange(-180, 180, 20.0), np.arange(-80, 81, 20.0))
    azimuth, elevation = azimuth.ravel(), elevation.ravel()
    waves = arrays.mic_response(azimuth, elevation, frequencies)
    made = np.einsum("foc,nfc->nfo", encoding_response(RATE, "foa", frequencies), waves)
    y, z, x = np.moveaxis((made[..., :1].conj() * made[..., 1:]).real, 2, 0)
    off = geometry.great_circle(*geometry.to_polar(x, y, z), azimuth[:, np.newaxis], elevation[:, np.newaxis])
    assert (off.max(axis=0) < [0.1, 0.5, 2.5, 22]).all()
    assert (np.diff(off.max(axis=0)) > 0).all()


@pytest.mark.parametrize("frequency", [125, 1000, 3000, 6000, 9000])
def test_the_diffuse_field_keeps_its_level(frequency: float) -> None:
    at = np.array([float(frequency)])
    sphere = arrays.diffuse_covariance(at)[0]
    foa = encoding_response(RATE, "foa", at)[0]
    power = np.diag(foa @ sphere @ foa.conj().T).real
    assert pytest.approx([1, 1 / 3, 1 / 3, 1 / 3], rel=0.05) == power
    mic = encoding_response(RATE, "mic", at)[0]
    made = np.diag(mic @ np.diag([1, 1 / 3, 1 / 3, 1 / 3]) @ mic.conj().T).real
    assert pytest.approx(np.diag(sphere).mean(), rel=0.01) == made.mean()
    assert pytest.approx(np.diag(sphere), rel=0.01) == made


def test_the_encoder_is_the_least_squares_fit() -> None:
    """Where aliasing plays no part: no other matrix fits FOA better, over all directions and with that noise."""
    at = np.array([300.0])
    height, weight = np.polynomial.legendre.leggauss(20)
    azimuth, elevation = np.tile(np.arange(40) * 9.0, 20), np.repeat(np.degrees(np.arcsin(height)), 40)
    weight = np.repeat(weight / 80, 40)
    waves, wanted = arrays.mic_response(azimuth, elevation, at)[:, 0], arrays.foa_response(azimuth, elevation)
    covariance = np.einsum("n,ni,nj->ij", weight, waves, waves.conj()) + encoding.REGULARISATION * np.eye(4)
    best = np.einsum("n,ni,nj->ij", weight, wanted, waves.conj()) @ np.linalg.inv(covariance)
    assert pytest.approx(best, rel=0.01, abs=0.01) == encoding_response(RATE, "foa", at)[0]


def test_regularisation_limits_noise() -> None:
    at = np.geomspace(5, 12_000, 300)
    noise = [(np.abs(encoding_response(RATE, "foa", at, r)[:, 1:]) ** 2).sum(2).max() for r in (1e-3, 1e-4, 1e-5)]
    assert 10 * np.log10(noise[1]) < 30
    assert noise[0] < noise[1] < noise[2]


@pytest.mark.parametrize(("azimuth", "elevation"), [(0, 0), (90, 0), (-135, 35), (10, -80), (180, 45)])
def test_round_trip_of_a_plane_wave(azimuth: int, elevation: int) -> None:
    signal = lowpassed(9000, 100, 400)[0]
    foa, mic = (render(signal, azimuth, elevation, RATE, format) for format in ("foa", "mic"))
    scale = np.abs(signal).max()
    assert np.abs(mic_to_foa(mic, RATE) - foa).max() < 0.08 * scale
    assert np.abs(foa_to_mic(foa, RATE) - mic).max() < 0.08 * scale
    # what was FOA comes back nearly whole, for orders 0 and 1 are all there is
    assert np.abs(mic_to_foa(foa_to_mic(foa, RATE), RATE) - foa).max() < 0.02 * scale


def test_round_trip_of_diffuse_noise() -> None:
    foa = lowpassed(24_000, 150, 700, channels=4) * np.array([[1], [3**-0.5], [3**-0.5], [3**-0.5]])
    mic = foa_to_mic(foa, RATE)
    assert pytest.approx(foa, abs=0.02 * np.abs(foa).max()) == mic_to_foa(mic, RATE)
    low = np.corrcoef(foa_to_mic(lowpassed(24_000, 30, 100, channels=4), RATE))
    assert (low > 0.9).all()


def test_nothing_is_delayed() -> None:
    signal = lowpassed(6000, 100, 1000, seed=4)[0]
    foa = mic_to_foa(render(signal, 40, 20, RATE, "mic"), RATE)
    lag = np.argmax(np.correlate(foa[0], signal, "full")) - (len(signal) - 1)
    assert 0 == lag
    impulse = np.zeros(5000)
    impulse[2500] = 1
    for encoded in (
        mic_to_foa(render(impulse, 40, 20, RATE, "mic"), RATE),
        foa_to_mic(render(impulse, 40, 20, RATE, "foa"), RATE),
    ):
        assert abs(2500 - np.argmax(np.abs(encoded).sum(axis=0))) <= 4


def cut(sound: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    at = np.minimum(np.cumsum([0, *sizes]), sound.shape[1])
    return [sound[:, a:b] for a, b in zip(at, [*at[1:], sound.shape[1]], strict=True)]


@pytest.mark.parametrize("to", ["foa", "mic"])
@settings(max_examples=examples(25))
@given(frames=st.integers(0, 20_000), sizes=st.lists(st.integers(0, 9000), max_size=6))
def test_blocks_make_no_difference(to: str, frames: int, sizes: list[int]) -> None:
    sound = np.random.default_rng(frames).normal(size=(4, frames)).astype(np.float32)
    whole = mic_to_foa(sound, RATE) if to == "foa" else foa_to_mic(sound, RATE)
    parts = list(encode(cut(sound, sizes), RATE, to))
    made = np.concatenate(parts, axis=1) if parts else np.zeros((4, 0), np.float32)
    assert whole.shape == sound.shape
    assert made.dtype == whole.dtype == np.float32
    assert (made == whole).all()


def test_memory_stays_flat() -> None:
    block = np.random.default_rng(0).normal(size=(4, RATE)).astype(np.float32)

    def peak(seconds: int) -> int:
        tracemalloc.start()
        frames = sum(part.shape[1] for part in encode((block for _ in range(seconds)), RATE, "foa"))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert seconds * RATE == frames
        return found

    assert list(encode([block], RATE, "foa"))  # the filters are made once
    assert peak(60) < 1.2 * peak(6)


@pytest.mark.parametrize(
    ("call", "words"),
    [(lambda: mic_to_foa(np.zeros((3, 9)), RATE), "(4, frames), not (3, 9)"),
     (lambda: foa_to_mic(np.zeros((9, 4)), RATE), "seems to be (frames, channels)"),
     (lambda: mic_to_foa(np.zeros((4, 9), np.int16), RATE), "divide by full scale"),
     (lambda: mic_to_foa(np.zeros((4, 9)), 0), "above 0"),
     (lambda: mic_to_foa(np.zeros((4, 9)), RATE, regularisation=0), "noise power above 0"),
     (lambda: list(encode([np.zeros((4, 9))], RATE, "stereo")), "foa (W, Y, Z, X) or mic"),
     (lambda: list(encode([np.zeros((2, 9))], RATE, "mic")), "not (2, 9)")],
)  # fmt: skip
def test_refusals(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        call()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_sound_that_is_not_finite(bad: float) -> None:
    sound = np.zeros((4, 9))
    sound[2, 3] = bad
    with pytest.raises(DataError, match="not finite"):
        foa_to_mic(sound, RATE)
