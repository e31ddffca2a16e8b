"""What the README says runs as it stands there, on what ``make demo`` leaves."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pages import ROOT, in_process

from seldio.synth.tree import write_demo, write_tree

README = (ROOT / "README.md").read_text("utf-8")
#: Commands of the README that find something in data with planted mistakes; all others end with 0.
FINDING = ("seldio validate submission",)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    assert in_process(["convert", str(folder / "starss23/metadata_dev"), "--to", "dcase2023-submission", "-o",
                       str(folder / "out"), "--allow-loss", "source,distance"])[1] == 0  # fmt: skip
    return folder


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_commands_run(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    lines = [line.split("  #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) >= 8
    for line in lines:
        printed, code = in_process(shlex.split(line)[1:])
        assert code == int(line.startswith(FINDING)), f"{line}\n{printed}"
        assert "seldio: " not in printed or code == 0, f"{line}\n{printed}"


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path / "starss23", 7, seconds=5, media=("audio",))
    monkeypatch.chdir(tmp_path)
    for block in blocks("python"):
        names: dict[str, object] = {}
        exec(compile(block, "README.md", "exec"), names)
        assert names["table"].num_rows
        assert len(names["windows"])


def test_it_is_installed_as_said() -> None:
    for page in (README, (ROOT / "docs/index.md").read_text("utf-8")):
        assert "git clone" in page
        assert "pip install seldio" not in page  # there is no release on an index yet
