"""What docs/howto/load.md shows of each framework runs as it stands, with a small data set in the working directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from not_installed import LIBRARIES

ROOT = Path(__file__).parents[2]
PAGE = re.sub(r"<!--.*?-->\n+", "", (ROOT / "docs/howto/load.md").read_text("utf-8").split("## One rate")[0])
EXAMPLES = re.findall(r"^## ([^\n]+)\n\n(?:[^#`\n][^\n]*\n\n)?```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from seldio.data import export
    from seldio.synth.tree import write_tree

    folder = tmp_path_factory.mktemp("docs")
    write_tree(folder / "starss23", 3, seconds=20.0, media=("audio",))
    export(folder / "starss23", folder / "hub")
    return folder


def _run(code: str, place: Path) -> str:
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(place / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_every_framework_has_an_example() -> None:
    text = "".join(code for _, code in EXAMPLES)

    assert [] == [library for library in LIBRARIES if not re.search(rf"\b{library}\b", text)]
    assert {5} == {sum(map(bool, code.splitlines())) for title, code in EXAMPLES if title != "lhotse"}


@pytest.mark.parametrize(("title", "code"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_the_example_runs(title: str, code: str, place: Path) -> None:
    missing = [
        name
        for name in (*LIBRARIES, "lhotse")
        if re.search(rf"\bimport .*\b{name}\b|from {name}", code) and not find_spec(name)
    ]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; make test-frameworks installs all")

    out = _run(code, place)

    if "polars" not in code:
        assert re.search(r"[(\[]8, 4, 120000[)\]]", out), out


def test_the_readme_opens_the_windows_of_the_first_example() -> None:
    shown = [line for line in EXAMPLES[0][1].splitlines() if line.startswith("windows = ")]
    (opened,) = re.findall(r"`(seldio\.windows\([^`]*\))`", (ROOT / "README.md").read_text("utf-8"))

    assert [f"windows = {opened}"] == shown
