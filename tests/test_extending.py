"""The package of ``docs/extending.md``: built from the page and installed by pip; then the page is run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks
from releases import older

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs/extending.md"
RUN = "import sys, pathlib, pages; page = pages.Page(pathlib.Path(sys.argv[1])); page.run(); print(*page.problems())"


def python(*arguments: object, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a *folder*, with modules of *path*."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(path), str(ROOT / "tests")))}
    command = [sys.executable, "-W", "ignore", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_page_shows_what_an_installed_package_does(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the package, is not installed: pip install --group test")
    package, site, empty = tmp_path / "package", tmp_path / "site", tmp_path / "empty"
    for block in blocks(PAGE.read_text("utf-8").replace("<!-- needs: lab2027 -->", "")):
        if block.kind == "file":
            file = package / block.options["caption"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, "utf-8")
    empty.mkdir()
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", site)
    installed = python(*pip, package, path=empty, folder=empty)
    assert installed.returncode == 0, installed.stderr

    shown = python("-c", RUN, PAGE, path=site, folder=empty)

    if shown.stdout.strip() and older("rich", "14.3"):
        pytest.skip("tables of rich before 14.3 have other spaces")
    assert (shown.returncode, shown.stdout.strip()) == (0, ""), shown.stdout + shown.stderr
    gone = python("-m", "seldio", "hears", "kettle.csv", path=empty, folder=empty)
    assert (gone.returncode, "No such command 'hears'" in gone.stderr) == (2, True)


@pytest.mark.parametrize(
    ("group", "value", "words", "line"),
    [
        ("formats", "gone:NOTES", "ModuleNotFoundError: No module named 'gone'", "formats"),
        ("commands", "seldio.plugins:VARIABLE", "str is not a function", "--help"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_named(
    group: str, value: str, words: str, line: str, tmp_path: Path
) -> None:
    folder = tmp_path / "lab-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[seldio.{group}]\nlab = {value}\n")

    run = python("-m", "seldio", line, path=tmp_path, folder=tmp_path)

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"seldio: entry point lab = {value} of seldio.{group}: {words}\n"
