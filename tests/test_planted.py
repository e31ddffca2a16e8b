"""Faults between labels and sound, planted one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from seldio.cli.demo import PLANTED
from seldio.synth.tree import EXCHANGED, FAULTS, plant

CLIPS = ("dev-test-tau/fold4_room2_mix001", "dev-test-sony/fold4_room23_mix001")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Two clips of four samples, and what became of them."""
    for number, clip in enumerate(CLIPS):
        labels, recording = tmp_path / "tree/metadata_dev" / f"{clip}.csv", tmp_path / "tree/foa_dev" / f"{clip}.wav"
        for path in (labels, recording):
            path.parent.mkdir(parents=True)
        labels.write_text(f"{number},3,0,150,-20,100\n7,3,0,-180,20,110\n")
        soundfile.write(recording, np.arange(16, dtype=np.int16).reshape(4, 4) + 100 * number, 24_000, subtype="PCM_16")
    plant(tmp_path / "tree", tmp_path / "planted", *CLIPS)
    return tmp_path / "planted"


def labels(planted: Path, fault: str, clip: str = CLIPS[0]) -> str:
    return (planted / fault / "metadata_dev" / f"{clip}.csv").read_text()


def sound(planted: Path, fault: str, clip: str = CLIPS[0]) -> list[list[int]]:
    samples: list[list[int]] = soundfile.read(planted / fault / "foa_dev" / f"{clip}.wav", dtype="int16")[0].T.tolist()
    return samples


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("mirrored-azimuth", "0,3,0,-150,-20,100\n7,3,0,180,20,110\n"),
        ("flipped-elevation", "0,3,0,150,20,100\n7,3,0,-180,-20,110\n"),
        ("rotated-by-60", "0,3,0,-150,-20,100\n7,3,0,-120,20,110\n"),
        ("late-by-1.2-s", "12,3,0,150,-20,100\n19,3,0,-180,20,110\n"),
    ],
)
def test_labels(planted: Path, fault: str, expected: str) -> None:
    assert labels(planted, fault) == expected
    assert sound(planted, fault) == [[n, n + 4, n + 8, n + 12] for n in range(4)]


@pytest.mark.parametrize(
    ("fault", "order", "sign"),
    [
        ("channels-in-fuma-order", [0, 3, 1, 2], 1),
        ("channels-swapped", [0, 3, 2, 1], 1),
        ("channel-inverted", [0, 1, 2, 3], -1),
    ],
)
def test_sounds(planted: Path, fault: str, order: list[int], sign: int) -> None:
    signs = [1, sign, 1, 1]
    expected = [[signs[row] * (n + 4 * k) for k in range(4)] for row, n in enumerate(order)]
    assert sound(planted, fault) == expected
    assert labels(planted, fault) == "0,3,0,150,-20,100\n7,3,0,-180,20,110\n"


def test_exchanged_clips(planted: Path) -> None:
    assert labels(planted, EXCHANGED, CLIPS[0]).startswith("1,3")
    assert labels(planted, EXCHANGED, CLIPS[1]).startswith("0,3")
    assert sound(planted, EXCHANGED, CLIPS[1])[0][0] == 100


def test_the_demo_looks_at_all_of_them() -> None:
    assert set(PLANTED) == {EXCHANGED, *(fault.name for fault in FAULTS)}
