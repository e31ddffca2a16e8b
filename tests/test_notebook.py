"""The notebook runs from top to bottom, shows its pictures, and is committed without outputs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOUR = Path(__file__).parents[1] / "examples/tour.ipynb"
RUN = """
import sys
import nbformat
from nbclient import NotebookClient

book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=240, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""


def cells(path: Path, kind: str = "code") -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


def test_no_outputs_are_committed() -> None:
    assert 8 <= len(cells(TOUR))
    assert [cell["id"] for cell in cells(TOUR) if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.mark.slow
def test_the_notebook_runs_and_shows_pictures(tmp_path: Path) -> None:
    for module in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module)
    out = tmp_path / "tour.ipynb"

    done = subprocess.run([sys.executable, "-c", RUN, TOUR, out], cwd=tmp_path, capture_output=True, text=True,
                          check=False)  # fmt: skip

    assert 0 == done.returncode, done.stderr[-3000:]
    outputs = [output for cell in cells(out) for output in cell["outputs"]]
    assert [] == [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert 2 <= sum("image/png" in output.get("data", {}) for output in outputs)
    assert any("<iframe" in "".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    assert all(cell["outputs"] for cell in cells(out))
    assert {path.name for path in tmp_path.iterdir()} == {"tour.ipynb"}
