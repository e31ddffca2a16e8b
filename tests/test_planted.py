"""Faults between labels and sound, planted one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from seldio.synth.tree import plant

CLIP = "dev-test-tau/fold4_room2_mix001"


@pytest.mark.parametrize(
    ("fault", "labels", "channels"),
    [
        ("late-by-1.2-s", "12,3,0,150,-20,100\n19,3,0,-180,20,110\n", [0, 1, 2, 3]),
        ("channels-swapped", "0,3,0,150,-20,100\n7,3,0,-180,20,110\n", [0, 3, 2, 1]),
    ],
)
def test_a_fault_changes_labels_or_sound(tmp_path: Path, fault: str, labels: str, channels: list[int]) -> None:
    csv, wav = f"metadata_dev/{CLIP}.csv", f"foa_dev/{CLIP}.wav"
    for name in (csv, wav):
        (tmp_path / "tree" / name).parent.mkdir(parents=True)
    (tmp_path / "tree" / csv).write_text("0,3,0,150,-20,100\n7,3,0,-180,20,110\n")
    samples = np.arange(16, dtype=np.int16).reshape(4, 4)
    soundfile.write(tmp_path / "tree" / wav, samples, 24_000, subtype="PCM_16")
    plant(tmp_path / "tree", tmp_path / "planted", CLIP)

    assert (tmp_path / "planted" / fault / csv).read_text() == labels
    assert np.array_equal(soundfile.read(tmp_path / "planted" / fault / wav, dtype="int16")[0], samples[:, channels])
