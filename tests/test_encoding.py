"""FOA and MIC from each other: plane waves, diffuse sound, blocks, limits."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Kept
from effort import examples, some
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seldio import geometry
from seldio.errors import DataError, UsageError
from seldio.media import arrays
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


@pytest.mark.parametrize(("azimuth", "elevation"), [(0, 0), (90, 0), (-135, 35), (10, -80), (180, 45)])
def test_round_trip_of_a_plane_wave(azimuth: int, elevation: int) -> None:
    signal = lowpassed(9000, 100, 400)[0]
    foa, mic = (render(signal, azimuth, elevation, RATE, format) for format in ("foa", "mic"))
    scale = np.abs(signal).max()
    assert np.abs(mic_to_foa(mic, RATE) - foa).max() < 0.08 * scale
    assert np.abs(foa_to_mic(foa, RATE) - mic).max() < 0.08 * scale
    # what was FOA comes back nearly whole, for orders 0 and 1 are all there is
    assert np.abs(mic_to_foa(foa_to_mic(foa, RATE), RATE) - foa).max() < 0.02 * scale


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


#: Calls that make no sense, and what is said of them.
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: arrays.mic_response(np.nan, 0, 1), "not finite"),
    (lambda: arrays.mic_response(0, 0, -1), "in Hz"),
    (lambda: arrays.mic_response([[0]], [[0]], 1), "dimensions"),
    (lambda: mic_to_foa(np.zeros((3, 9)), RATE), "(4, frames), not (3, 9)"),
    (lambda: foa_to_mic(np.zeros((9, 4)), RATE), "seems to be (frames, channels)"),
    (lambda: foa_to_mic(np.full((4, 9), np.inf), RATE), "not finite"),
    (lambda: mic_to_foa(np.zeros((4, 9), np.int16), RATE), "divide by full scale"),
    (lambda: mic_to_foa(np.zeros((4, 9)), 0), "above 0"),
    (lambda: list(encode([np.zeros((4, 9))], RATE, "stereo")), "foa (W, Y, Z, X) or mic"),
    (lambda: list(encode([np.zeros((2, 9))], RATE, "mic")), "not (2, 9)"),
    (lambda: render(np.ones(9), [0, 1], 0, RATE, "foa"), "no times"),
    (lambda: render(np.ones((9, 4)), 0, 0, RATE, "foa"), "(1, frames)"),
    (lambda: render(np.ones(9, np.int16), 0, 0, RATE, "foa"), "floating point"),
    (lambda: render(np.ones(9), 0, 0, 0, "foa"), "above 0"),
    (lambda: render(np.ones(9), [0, 1], 0, RATE, "foa", [1, 0]), "rising"),
    (lambda: render(np.ones(9), 0, 0, RATE, "hoa"), "foa (W"),
    (lambda: render(np.ones(9), [0, 1], [0, 0], RATE, "mic", [0]), "each of the 2"),
    (lambda: render(np.array([0, np.nan]), 0, 0, RATE, "mic"), "not finite"),
    (lambda: render(np.array([0, np.nan]), [0, 90], 0, RATE, "mic", [0, 1]), "not finite"),
]


def test_refusals() -> None:
    for call, words in REFUSED:
        with pytest.raises((DataError, UsageError), match=re.escape(words)):
            call()


def test_golden_responses(official: Kept) -> None:
    golden = json.loads((official / "steering.json").read_text())
    assert len(golden["foa"]) == 12
    for entry in golden["foa"]:
        x, y, z = geometry.to_cartesian(entry["az"], entry["el"])
        for found in (arrays.foa_response(entry["az"], entry["el"])[0], np.array([1, y, z, x])):
            assert pytest.approx(entry["W_Y_Z_X"], abs=1e-12) == found
    assert len(golden["mic"]) == 96
    for entry in golden["mic"]:
        wanted = [entry["H"][name]["re"] + 1j * entry["H"][name]["im"] for name in arrays.CHANNELS["mic"]]
        found = arrays.mic_response(entry["az"], entry["el"], entry["f"])
        assert pytest.approx(wanted, abs=1e-12) == found[0, 0]


@given(azimuths, elevations)
def test_low_frequencies_are_finite_and_go_to_one(azimuth: float, elevation: float) -> None:
    found = arrays.mic_response(azimuth, elevation, [0, 1e-300, 1e-9, 0.01, 1])[0]
    assert np.isfinite(found).all()
    assert (found[0] == 1).all()
    # 1 + 3/2 i x cos g
    x = 2 * np.pi * 0.01 * arrays.RADIUS / arrays.SPEED
    cosines = arrays.capsules() @ np.array(geometry.to_cartesian(azimuth, elevation))
    assert pytest.approx(1 + 1.5j * x * cosines, abs=1e-10) == found[3]


@pytest.mark.parametrize(("speed", "limit"), some([(500, -45), (90, -65)], 2))
@pytest.mark.parametrize("frequency", some([9000, 1000], 2))
def test_a_moving_source(speed: int, limit: int, frequency: int) -> None:
    """At each moment it sounds as from the direction in which it then is."""
    at = np.arange(12_000) / RATE
    wave = np.exp(2j * np.pi * frequency * at)
    times = np.linspace(0, 0.5, 51)
    path = (-100 + speed * times, np.full(51, 20.0))
    parts = [render(part, *path, RATE, "mic", times) for part in (wave.real, wave.imag)]
    found = ((parts[0] + 1j * parts[1]) / wave)[:, 500:-500:50]
    wanted = arrays.mic_response(-100 + speed * at, np.full(12_000, 20.0), frequency)[500:-500:50, 0].T
    assert 10 * np.log10(np.mean(np.abs(found - wanted) ** 2) / np.mean(np.abs(wanted) ** 2)) < limit
    gains = render(np.ones(12_000), *path, RATE, "foa", times)
    assert pytest.approx(arrays.foa_response(-100 + speed * at, np.full(12_000, 20.0)).T, abs=1e-3) == gains
