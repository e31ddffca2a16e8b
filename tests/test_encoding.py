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


def test_more_terms_change_nothing_below_20_khz_and_a_lot_above() -> None:
    few, many = (arrays.mic_response(33, 21, [20_000, 48_000], terms)[0] for terms in (31, 60))
    assert np.abs(few - many)[0].max() < 2e-6
    assert np.abs(few - many)[1].max() > 0.1
    assert arrays.terms_for(20_000) == 31
    assert np.isfinite(arrays.modes([0, 192_000, 10**6], 600)).all()
    enough = arrays.mic_response(33, 21, 48_000, arrays.terms_for(48_000))[0]
    assert pytest.approx(many[1:], abs=1e-4) == enough


def test_diffuse_field_is_the_mean_over_all_directions() -> None:
    height, weight = np.polynomial.legendre.leggauss(24)
    azimuth = np.arange(48) * 7.5
    elevation = np.degrees(np.arcsin(height))
    waves = arrays.mic_response(np.tile(azimuth, 24), np.repeat(elevation, 48), [200, 2500])
    wanted = np.einsum("n,nfi,nfj->fij", np.repeat(weight / 96, 48), waves, waves.conj())
    assert pytest.approx(wanted, abs=1e-9) == arrays.diffuse_covariance([200, 2500])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((np.nan, 0, 1), "not finite"), ((0, 0, -1), "in Hz"), (([[0]], [[0]], 1), "dimensions"),
     ((0, 0, np.inf), "in Hz")],
)  # fmt: skip
def test_requests_that_make_no_sense(arguments: Any, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        arrays.mic_response(*arguments)


@pytest.mark.parametrize("rate", [16_000, 24_000, 44_100, 48_000])
def test_filters_of_the_sphere_have_its_response(rate: int) -> None:
    frequencies = np.array([0, 50, 1000, 4000, min(9000, 0.4 * rate)])
    azimuth, elevation = [0, 45, -100, 170], [0, 35, 60, -80]
    found = encoding.response_of(
        encoding._series(arrays.vectors(azimuth, elevation), rate) @ encoding._orders(rate), frequencies, rate
    )
    wanted = arrays.mic_response(azimuth, elevation, frequencies)
    assert np.abs(found - np.moveaxis(wanted, 1, 2)).max() < 1e-3
    assert np.abs(found - np.moveaxis(wanted, 1, 2))[..., :3].max() < 1e-5


def test_a_standing_source() -> None:
    signal = np.random.default_rng(1).normal(size=6000)
    foa, mic = (render(signal, -50, 30, RATE, format) for format in ("foa", "mic"))
    assert pytest.approx(arrays.foa_response(-50, 30).T * signal) == foa
    assert foa.shape == mic.shape == (4, 6000)
    tone = np.cos(2 * np.pi * 1500 * np.arange(4800) / RATE)
    gain = arrays.mic_response(-50, 30, 1500)[0, 0]
    wanted = np.real(gain[:, np.newaxis] * np.exp(2j * np.pi * 1500 * np.arange(4800) / RATE))
    assert pytest.approx(wanted[:, 200:-200], abs=1e-5) == render(tone, -50, 30, RATE, "mic")[:, 200:-200]


@pytest.mark.parametrize(("speed", "limit"), [(90, -65), (500, -45)])
@pytest.mark.parametrize("frequency", [1000, 9000])
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


def test_a_source_goes_around_the_back_and_over_the_top() -> None:
    one = np.ones(2400)
    back = render(one, [170, -170], [0, 0], RATE, "foa", [0, 0.1])
    assert back[3].max() < -0.98
    top = render(one, [0, 180], [80, 80], RATE, "foa", [0, 0.1])
    assert top[2].max() > 0.999
    jump = render(one, [0, 180], [0, 0], RATE, "foa", [0, 0.1])
    assert np.isfinite(jump).all()


def test_the_type_stays() -> None:
    signal = np.ones(300, np.float32)
    for format in ("foa", "mic"):
        assert np.float32 == render(signal, 0, 0, RATE, format).dtype
        assert np.float32 == render(signal, [0, 90], [0, 0], RATE, format, [0, 1]).dtype


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((np.ones(9), [0, 1], 0, RATE, "foa"), "no times"), ((np.ones((9, 4)), 0, 0, RATE, "foa"), "(1, frames)"),
     ((np.ones(9, np.int16), 0, 0, RATE, "foa"), "floating point"), ((np.ones(9), 0, 0, 0, "foa"), "above 0"),
     ((np.ones(9), [0, 1], 0, RATE, "foa", [1, 0]), "rising"), ((np.ones(9), 0, 0, RATE, "hoa"), "foa (W"),
     ((np.ones(9), [0, 1], [0, 0], RATE, "mic", [0]), "each of the 2")],
)  # fmt: skip
def test_renderings_that_make_no_sense(arguments: Any, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        render(*arguments)


@pytest.mark.parametrize("times", [None, [0, 1]])
def test_no_rendering_of_sound_that_is_not_finite(times: list[int] | None) -> None:
    signal = np.array([0, np.nan, 1])
    azimuth = 0 if times is None else [0, 90]
    with pytest.raises(DataError, match="not finite"):
        render(signal, azimuth, 0, RATE, "mic", times)
