"""The documentation is in step with the code, and what it shows runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from releases import since

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
    return [
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.relative_to(ROOT / "docs").parts[0] not in ("_build", "reference")
    ]


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
    listed = {
        Path(os.path.normpath(path))
        for page in written()
        for entry in _entries(page)
        for path in page.parent.glob(f"{entry.rpartition('<')[2].rstrip('>')}.md")
    }

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
