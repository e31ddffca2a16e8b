"""The features of the DCASE baselines in the examples: the numbers of the official program, and where they point."""

from __future__ import annotations

import json
import math
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent


def _example(name: str) -> Any:
    """An example as a module, without a folder of `sys.path` in which it could hide a library of the same name."""
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = _example("baseline_features")

#: What cls_feature_class.py of seld-dcase2023 at 24d14c9 gives with librosa 0.11: all shapes, means and spreads, and 60
#: values of each feature, at the places that `PLACES` draws.
GOLDEN: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "tests" / "goldens" / "official" / "baseline-features.json").read_text("utf-8")
)
PLACES = 1
FEATURES = {
    "log-mel": made.log_mel, "intensity": made.intensity_vectors, "gcc": made.gcc, "salsa-lite": made.salsa_lite,
}  # fmt: skip


def samples(which: str) -> NDArray[np.float64]:
    """Noise of four channels that are whole numbers of 16 bits; perhaps with digital silence and channels alike."""
    noise = np.random.default_rng(23).integers(-20000, 20000, (4807, 4))
    if which == "half-silent":
        noise[:2400] = 0
        noise[:, 1] = noise[:, 0] // 2
    return np.asarray(noise / 32768)


@pytest.mark.parametrize("key", GOLDEN)
def test_the_numbers_are_those_of_the_official_program(key: str) -> None:
    pad, which, name = key.split("/")
    found = FEATURES[name](made.spectra(samples(which), pad))
    rows = found.transpose(1, 0, 2).reshape(found.shape[1], -1)  # frames, then all bands of each channel
    wanted = GOLDEN[key]
    assert list(rows.shape) == wanted["shape"]
    assert (rows.mean(), rows.std()) == pytest.approx((wanted["mean"], wanted["spread"]), rel=1e-6, abs=1e-7)
    at = np.random.default_rng(PLACES).integers(0, rows.size, len(wanted["values"]))
    assert rows.ravel()[at] == pytest.approx(np.array(wanted["values"]), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("azimuth", "elevation"), [(0, 0), (90, 0), (-150, -40), (60, 20)])
def test_intensity_points_to_the_source(azimuth: int, elevation: int) -> None:
    a, e = math.radians(azimuth), math.radians(elevation)
    y, z, x = math.sin(a) * math.cos(e), math.sin(e), math.cos(a) * math.cos(e)
    foa = np.random.default_rng(0).uniform(-0.5, 0.5, (4800, 1)) * [1, y, z, x]
    found = made.intensity_vectors(made.spectra(foa)).mean(axis=(1, 2))
    assert found / np.linalg.norm(found) == pytest.approx(np.array([y, z, x]), abs=1e-6)


@pytest.mark.parametrize("late", [-6, 0, 11])
def test_a_later_microphone_has_a_positive_delay_and_is_farther(late: int) -> None:
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, 4900)
    mic = np.stack([noise[50:4850], noise[50 - late : 4850 - late], noise[50:4850], noise[50:4850]], axis=1)
    found = made.spectra(mic)
    delays = made.gcc(found)[:, 1:-1].mean(axis=1).argmax(axis=-1) - 32
    assert delays.tolist() == [late, 0, 0, -late, -late, 0]  # of 0-1, 0-2, 0-3, 1-2, 1-3, 2-3
    ways = np.median(made.salsa_lite(found)[4:, 1:-1, :10], axis=(1, 2))  # up to 300 Hz, below half a wave
    assert ways == pytest.approx(np.array([-late / 24_000 * 343, 0, 0]), abs=0.01)


def test_phases_end_where_pairs_alias() -> None:
    found = made.salsa_lite(made.spectra(samples("noise")))
    assert found.shape == (7, 10, 382)
    assert np.all(found[4:, :, 85:] == 0)
    assert np.all(found[4:, :, 84] != 0)
