"""Array responses: golden values, limits, symmetry, and sources rendered through them."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from conftest import Kept
from hypothesis import given
from hypothesis import strategies as st

from seldio import geometry
from seldio.errors import DataError, UsageError
from seldio.media import arrays, encoding
from seldio.media.encoding import render

RATE = 24_000
azimuths = st.floats(-180, 180)


elevations = st.floats(-90, 90)


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
    [(("mic", np.nan, 0, 1), "not finite"), (("mic", 0, 0, -1), "in Hz"), (("mic", [[0]], [[0]], 1), "dimensions"),
     (("foa", 0, 0, np.inf), "in Hz"), (("stereo", 0, 0, 1), "foa (W, Y, Z, X) or mic")],
)  # fmt: skip
def test_requests_that_make_no_sense(arguments: Any, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        arrays.response(*arguments)


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
def test_sound_that_is_not_finite(times: list[int] | None) -> None:
    signal = np.array([0, np.nan, 1])
    azimuth = 0 if times is None else [0, 90]
    with pytest.raises(DataError, match="not finite"):
        render(signal, azimuth, 0, RATE, "mic", times)
