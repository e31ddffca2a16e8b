"""The examples run as they stand, and so does the demo."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from seldio.cli.demo import OPEN

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(example: Path, tmp_path: Path) -> None:
    if "import torch" in example.read_text("utf-8") and not find_spec("torch"):
        pytest.skip("torch is not installed here; tests/frameworks run this example")
    done = subprocess.run([sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, check=False)

    assert 0 == done.returncode, done.stderr.decode()
    assert done.stdout


def test_the_demo_runs_to_its_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "seldio", "demo", "somewhere", "--no-media"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert 0 == done.returncode, done.stdout.decode()[-2000:] + done.stderr.decode()
    shown = done.stdout.decode()
    assert "the labels came back from Parquet byte for byte" in shown
    assert sum(1 + (len(line) - 1) // 80 for line in shown.splitlines() if line) + shown.count("\n\n") <= 120
    assert re.search(r"^output +0\.\d{3} ", shown, re.MULTILINE), "the score itself is on the screen"
    for name, _ in OPEN:
        assert (tmp_path / "somewhere" / name).exists(), name
    for line in re.findall(r"\d+ more lines in (.*)", shown):
        assert (tmp_path / "somewhere" / line).read_text("utf-8")
