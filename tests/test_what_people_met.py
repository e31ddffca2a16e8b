"""Situations that people met: files, the commands that they gave, and what is right."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seldio.cli import app

CASES = [case for folder in ("own-keys", "labels") for case in (Path(__file__).parent / "cases" / folder).iterdir()]


@pytest.mark.parametrize("case", sorted(CASES), ids=lambda case: case.name)
def test_what_people_met(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each command there are its exit code and a pattern of its output, a line each."""
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    expected = iter((case / "expected.txt").read_text().splitlines())
    for command in (case / "cmd.txt").read_text().splitlines():
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == int(next(expected)), done.output
        assert re.search(next(expected), done.output, re.MULTILINE), done.output
