"""What np.savetxt leaves in label files: numbers with an exponent, and comment lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from seldio.cli import app

ROWS = np.array([[1, 2, 0, -180, -5, 181], [2, 2, 1, 180, -5, 64], [3, 12, 0, 45, 10, 301]])
TEXT = b"".join(b",".join(b"%d" % cell for cell in row) + b"\n" for row in ROWS.tolist())


def run(path: Path, *options: str) -> str:
    return CliRunner().invoke(app, ["validate", str(path), "--format", "starss23", *options]).output


@pytest.mark.parametrize("delimiter", [" ", ","])
def test_exponents_are_written_out(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "fold3_room1_mix001.csv"
    np.savetxt(path, ROWS, delimiter=delimiter)
    assert 'np.savetxt writes exponents by default: give it fmt="%g"' in run(path)
    run(path, "--fix")
    assert path.read_bytes() == TEXT


@pytest.mark.parametrize("header", ["made on Monday", "frame,class,source,azimuth,elevation,distance"])
def test_a_comment_is_told_and_removed(header: str, tmp_path: Path) -> None:
    path = tmp_path / "fold3_room1_mix001.csv"
    np.savetxt(path, ROWS, fmt="%d", delimiter=",", header=header)
    said = run(path)
    assert "SYN111" in said
    assert "a comment line" in said
    assert "nothing was detected" not in said
    run(path, "--fix")
    assert path.read_bytes() == TEXT
