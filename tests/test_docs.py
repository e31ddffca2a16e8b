"""The documentation is in step with the code, and what it shows runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from releases import since

from seldio.cli.demo import OPEN
from seldio.findings import DOCS

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@since("pydantic", "2.11", "writes the keys of schemas in another order")
def test_generated_files_and_schemas_are_in_step() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True, check=False
    )

    assert "all in step\n" == done.stdout, done.stdout + done.stderr


def written() -> list[Path]:
    """The pages that are in the repository; `docs/reference` is made by `make docs`."""
    return [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "reference"} & {*path.parts}]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference, as `make docs` makes it first; that takes a while, so the tests of it are slow ones."""
    folder = tmp_path_factory.mktemp("docs") / "reference"
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--reference", "--to", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_link_between_pages_leads_somewhere(reference: Path) -> None:
    docs = ROOT / "docs"
    made = {docs / "reference" / path.relative_to(reference): path for path in reference.rglob("*.md")}
    pages = {path: path for path in (ROOT / "README.md", *written())} | made
    links = [
        (page, target)
        for page, path in pages.items()
        for target in re.findall(
            r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
        )
        if "://" not in target
    ]
    there = {os.path.normpath(path) for path in made}

    assert len(links) > 1000
    assert [] == [
        (page.name, target)
        for page, target in links
        if (place := os.path.normpath(page.parent / target)) not in there and not Path(place).exists()
    ]


def _entries(page: Path) -> list[str]:
    bodies = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [entry for body in bodies for entry in body.splitlines() if entry and not entry.startswith(":")]


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set()
    for page in written():
        for entry in _entries(page):
            paths = page.parent.glob(f"{entry.rpartition('<')[2].rstrip('>')}.md")
            listed |= {Path(os.path.normpath(path)) for path in paths}

    assert {ROOT / "docs/index.md"} == set(written()) - listed


@pytest.mark.slow
def test_llms_txt_has_every_page_with_a_sentence(reference: Path) -> None:
    text = (reference / "extra/llms.txt").read_text("utf-8")
    listed = dict(re.findall(rf"^- \[.+\]\({DOCS}(.+?)\.html\): (.+)$", text, re.MULTILINE))
    pages = {path.relative_to(reference.parent).with_suffix("").as_posix() for path in reference.rglob("*.md")}
    pages |= {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in written()}

    assert pages == set(listed)
    assert text.startswith("# seldio\n\n> ")


def test_tests_that_pages_name_exist() -> None:
    pages = [*written(), ROOT / "CONTRIBUTING.md", ROOT / "README.md"]
    named = {
        (page.name, name) for page in pages for name in re.findall(r"\btests/[\w/]+\.py\b", page.read_text("utf-8"))
    }
    assert len(named) > 1
    assert [] == sorted(one for one in named if not (ROOT / one[1]).exists())


def test_the_badges_and_the_citation_say_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"version-{version}-" in readme
    assert len(readme.splitlines()) <= 45
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## {version}\n" in changelog
    assert len(changelog.splitlines()) < 80
    assert [] == [line for line in changelog.splitlines() if len(line) > 240]
    for page in (readme, (ROOT / "docs/index.md").read_text("utf-8")):
        assert "git clone" in page
        assert not re.search(r"pip install '?seldio", page)  # there is no release on an index yet


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_the_example_runs(example: Path, tmp_path: Path) -> None:
    if "import torch" in example.read_text("utf-8") and not find_spec("torch"):
        pytest.skip("torch is not installed here; tests/frameworks run this example")
    done = subprocess.run([sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, check=False)

    assert 0 == done.returncode, done.stderr.decode()
    assert done.stdout


@pytest.mark.slow
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
