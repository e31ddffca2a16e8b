"""From tensors to a submission, and the examples that train: they run as they stand, and learn."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import decoder_inputs
import numpy as np
import pytest

import seldio
from seldio import geometry

torch = pytest.importorskip("torch", reason="torch is not installed: make test-frameworks installs it")

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.append(str(EXAMPLES))

from features import adpit, features  # noqa: E402 - behind the skip

pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")


def _run(name: str) -> list[str]:
    # several threads of torch on a busy machine wait for each other most of the time
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name], env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


def test_the_example_learns_resumes_and_submits() -> None:
    *epochs, checked, last = _run("train_crnn.py")
    scores = ast.literal_eval(last)

    assert ["epoch 1", "epoch 3", "epoch 5"] == [line.split(":")[0] for line in epochs]
    assert "0 errors, 0 warnings, 0 infos in 4 files" == checked
    assert scores["F"] > 0.7
    assert scores["AngE"] < 12
    live = dict(part.split() for part in epochs[-1].split(": ")[1].split(", "))
    assert scores["F"] == pytest.approx(float(live["F"]), abs=0.03)  # files have whole degrees


def test_the_small_examples_show_something() -> None:
    heard, *losses = _run("features.py")

    assert heard.endswith("is heard from 60, 20")
    assert ["left, front, left: 0.0000", "left, back, left: 0.0342"] == losses


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("2023-multi-accdoa", 0.37029579281806946),  # MSELoss_ADPIT in seldnet_model.py at 24d14c9
        ("2024-multi-accdoa", 0.35681602358818054),  # the same at 0b07887
        ("2025-multi-accdoa-audio", 0.34054046869277954),  # SELDLossADPIT in loss.py at 42a48b6
    ],
)
def test_the_loss_is_that_of_the_baselines(case: str, expected: float) -> None:
    inputs = (make(decoder_inputs.CASES[case]) for make in (decoder_inputs.tensor, decoder_inputs.target))

    assert expected == pytest.approx(adpit(*map(torch.from_numpy, inputs)).item(), abs=1e-6)


@pytest.mark.parametrize(("azimuth", "elevation"), [(0, 0), (120, -30), (-75, 60)])
def test_intensity_vectors_point_at_the_source(azimuth: float, elevation: float) -> None:
    x, y, z = geometry.to_cartesian(azimuth, elevation)
    sound = torch.tensor(np.array([1, y, z, x]), dtype=torch.float32)[None, :, None] * torch.randn(1, 1, 48_000)

    found = features(sound)

    assert (1, 7, 100, 64) == tuple(found.shape)
    vectors = found[0, 4:].permute(1, 2, 0).numpy()
    np.testing.assert_allclose(vectors[2:-2], np.broadcast_to([x, y, z], vectors[2:-2].shape), atol=1e-3)


def _same(expected: Any, table: Any) -> None:
    assert expected.column_names == table.column_names
    for name in expected.column_names:
        assert expected[name].to_pylist() == table[name].to_pylist()


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
def test_tensors_of_torch_are_decoded_as_they_are(windows: Any, kind: str) -> None:
    """Out of a graph, in the precision of autocast."""
    outputs = torch.rand(len(windows), windows.size, 3, 4, 13, requires_grad=True).to(getattr(torch, kind)) - 0.3
    expected = seldio.decode(outputs.detach().float().numpy(), windows)

    loader = torch.utils.data.DataLoader(windows, batch_size=8)
    pairs = ((batch, outputs[8 * number : 8 * number + 8]) for number, batch in enumerate(loader))

    assert expected.num_rows
    _same(expected, seldio.decode(outputs, windows))
    _same(expected, seldio.decode(pairs, windows))


@pytest.mark.skipif(not find_spec("tensorflow"), reason="tensorflow is not installed")
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_tensors_of_tensorflow_are_decoded_as_they_are(windows: Any, kind: str) -> None:
    import tensorflow as tf

    signature = {name: tf.TensorSpec(*part) for name, part in windows.signature.items()}
    data = tf.data.Dataset.from_generator(windows.stream, output_signature=signature).batch(8)
    pairs = [(batch, tf.cast(tf.random.uniform((len(batch["clip"]), 2, 3, 4, 13)), kind)) for batch in data]
    arrays = np.concatenate([tf.cast(output, "float32").numpy() for _, output in pairs])

    _same(seldio.decode(arrays, windows), seldio.decode(pairs, windows))


def test_batches_of_grain_say_what_they_are(windows: Any) -> None:
    grain = pytest.importorskip("grain", reason="grain is not installed")
    outputs = {key: np.random.default_rng(at).uniform(-1, 1, (2, 3, 4, 13)) for at, key in enumerate(windows.places())}

    batches = grain.MapDataset.source(windows).shuffle(seed=1).batch(3)
    pairs = [
        (
            batch,
            np.stack([outputs[clip, first] for clip, (first, _) in zip(batch["clip"], batch["frames"], strict=True)]),
        )
        for batch in batches
    ]

    _same(seldio.decode(np.stack(list(outputs.values())), windows), seldio.decode(pairs, windows))
