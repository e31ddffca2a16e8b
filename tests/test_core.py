"""The core: labels are checked, converted and scored where PyAV, rapidfuzz and huggingface_hub are not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ABSENT = ("av", "rapidfuzz", "huggingface_hub")
#: Runs commands of seldio, one after the other, in an interpreter that has none of the libraries.
RUN = """
import contextlib, io, json, sys

absent = set(sys.argv[1].split(","))

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from seldio.cli import main

done = []
for command in json.loads(sys.argv[2]):
    sys.argv = ["seldio", *command]
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main()
        except SystemExit as end:
            code = end.code
    done.append((code, out.buffer.getvalue().decode()))
print(json.dumps(done))
"""


def run(folder: Path, *commands: str) -> list[tuple[int, str]]:
    """The exit codes and the output of *commands* without the libraries."""
    split = json.dumps([command.split() for command in commands])
    done = subprocess.run([sys.executable, "-c", RUN, ",".join(ABSENT), split], cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert 0 == done.returncode, done.stderr
    return [(code or 0, text) for code, text in json.loads(done.stdout)]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    folder = tmp_path / "labels"
    folder.mkdir()
    for number in (1, 2):
        rows = "".join(f"{frame},{number},0,{10 * number},-5,150\n" for frame in range(600))
        (folder / f"fold4_room1_mix00{number}.csv").write_text(rows)
    return folder


def test_labels_are_checked_converted_and_scored(labels: Path) -> None:
    bad = labels.parent / "fold4_room1_mix003.csv"
    bad.write_text("0,77,0,10,0,150\n")

    checked, found, told, stored, questions, asked, scored, shown = run(
        labels.parent,
        "validate labels -f starss23",
        "validate fold4_room1_mix003.csv -f starss23",
        "info labels",
        "convert labels -f starss23 --to dcase2023-submission --allow-loss source,distance -o out",
        "convert labels -f starss23 --to sobench-qa -o qa.jsonl --total 5",
        "validate qa.jsonl",
        "score out -r labels",
        "view labels/fold4_room1_mix001.csv -f starss23 -o page.html",
    )

    assert [0, 1, 0, 0, 0, 0, 0, 0] == [
        code for code, _ in (checked, found, told, stored, questions, asked, scored, shown)
    ], (checked, found, told, stored, questions, asked, scored, shown)
    assert "LAB102" in found[1]
    assert (labels.parent / "page.html").exists()


@pytest.mark.slow
def test_what_needs_a_library_says_which(labels: Path) -> None:
    (labels / "metadata_dev/dev-test-tau").mkdir(parents=True)
    (labels / "video_dev/dev-test-tau").mkdir(parents=True)
    (labels / "video_dev/dev-test-tau/fold4_room2_mix001.mp4").write_bytes(b"\0\0\0\x20ftypisom")
    (labels / "fold4_room1_mix001.csv").rename(labels / "metadata_dev/dev-test-tau/fold4_room2_mix001.csv")

    (labels / "fold4_room1_mix002.csv").unlink()
    needs = "validate .", "pull someone/something", "validate hf://datasets/someone/something"
    results = run(labels, *needs)

    for (code, text), library in zip(results, ("av", "huggingface_hub", "huggingface_hub"), strict=True):
        assert 3 == code
        assert text.startswith(f"seldio: {library} is not installed")
        assert text.endswith(f"pip install {library}\n")
