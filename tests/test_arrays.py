"""Array responses: golden values, limits, symmetry, and sources rendered through them."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from conftest import Kept
from hypothesis import strategies as st

from seldio.errors import UsageError
from seldio.media import arrays, encoding
from seldio.media.encoding import render

RATE = 24_000
azimuths = st.floats(-180, 180)


def test_golden_responses(official: Kept) -> None:
    golden = json.loads((official / "steering.json").read_text())
    assert len(golden["foa"]) == 12
    for entry in golden["foa"]:
        assert pytest.approx(entry["W_Y_Z_X"], abs=1e-12) == arrays.foa_response(entry["az"], entry["el"])[0]
    assert len(golden["mic"]) == 96
    for entry in golden["mic"]:
        wanted = [entry["H"][name]["re"] + 1j * entry["H"][name]["im"] for name in arrays.CHANNELS["mic"]]
        found = arrays.mic_response(entry["az"], entry["el"], entry["f"])
        assert pytest.approx(wanted, abs=1e-12) == found[0, 0]


def test_diffuse_field_is_the_mean_over_all_directions() -> None:
    height, weight = np.polynomial.legendre.leggauss(24)
    azimuth = np.arange(48) * 7.5
    elevation = np.degrees(np.arcsin(height))
    waves = arrays.mic_response(np.tile(azimuth, 24), np.repeat(elevation, 48), [200, 2500])
    wanted = np.einsum("n,nfi,nfj->fij", np.repeat(weight / 96, 48), waves, waves.conj())
    assert pytest.approx(wanted, abs=1e-9) == arrays.diffuse_covariance([200, 2500])
    coherence = arrays.diffuse_coherence("mic", [0, 200, 2500])
    assert pytest.approx(np.ones((4, 4))) == coherence[0]
    assert (coherence[1] > 0.9).all()
    assert np.abs(coherence[2][0, 1:]).max() < 0.5


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
