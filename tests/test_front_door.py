"""What the README says runs as printed, on what `seldio demo` leaves."""

from __future__ import annotations

import contextlib
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from pages import ROOT, in_process

from seldio.synth.tree import write_tree

README = (ROOT / "README.md").read_text("utf-8")
#: Commands of the README that find something in data with planted mistakes; all others end with 0.
FINDING = ("seldio validate submission",)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the printed `seldio demo` makes, in the folder that the README goes on in; media and the tour aside."""
    block = README.split("```")[1]
    assert re.search(r"^seldio demo +# .* seldio-demo/$", block, re.MULTILINE)
    assert "Then, in `seldio-demo/`:" in README
    with contextlib.chdir(tmp_path_factory.mktemp("empty")):
        printed, code = in_process(["demo", "--no-media", "--no-run"])
        assert code == 0, printed
        return Path("seldio-demo").absolute()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_commands_run(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    lines = [line.split("  #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) >= 4
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
        assert not re.search(r"pip install '?seldio", page)  # there is no release on an index yet


def test_the_badges_and_the_citation_say_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"version-{version}-" in README
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_changelog_is_short() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    assert len(lines) < 80
    assert [] == [line for line in lines if len(line) > 240]
