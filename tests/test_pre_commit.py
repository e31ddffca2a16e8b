"""The pre-commit hook that other repositories use: its manifest, its command, and a real run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pages import in_process

ROOT = Path(__file__).parent.parent
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
GOOD, BAD = "0,1,0,-50,30,200\n" * 3, "0,77,0,-50,30,200\n"


def test_the_hook_sees_files_of_labels_and_questions_and_no_others() -> None:
    names = ["a/b.csv", "x.json", "predictions.jsonl", "README.md", "x.csv.py", "a.wav"]
    assert [name for name in names if re.search(HOOK["files"], name)] == names[:3]


def test_the_command_of_the_hook_checks_the_files_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fold3_room4_mix001.csv").write_text(GOOD)
    Path("fold3_room4_mix002.csv").write_text(GOOD + BAD)
    program, *arguments = shlex.split(HOOK["entry"])

    assert "seldio" == program
    assert 0 == in_process([*arguments, "fold3_room4_mix001.csv"])[1]
    printed, code = in_process([*arguments, "fold3_room4_mix001.csv", "fold3_room4_mix002.csv"])
    assert 1 == code
    assert "fold3_room4_mix002.csv:4:3: LAB102" in printed


def pre_commit(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))}
    environment["PRE_COMMIT_HOME"] = str(cwd.parent / "pre-commit-home")
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments], cwd=cwd, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_the_manifest_is_valid(tmp_path: Path) -> None:
    pytest.importorskip("pre_commit")
    (tmp_path / "x").mkdir()

    done = pre_commit("validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"), cwd=tmp_path / "x")

    assert 0 == done.returncode, done.stdout
