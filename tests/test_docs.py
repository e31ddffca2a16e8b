"""The documentation is in step with the code, and what it shows runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("options", [["--quick"], pytest.param([], marks=pytest.mark.slow, id="all")])
def test_generated_pages_and_schemas_are_in_step(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check", *options], capture_output=True, text=True, check=False
    )

    assert "all in step\n" == done.stdout, done.stdout + done.stderr


def written() -> list[Path]:
    """The pages that are in the repository; `docs/reference` is made by `make docs`."""
    return [
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.relative_to(ROOT / "docs").parts[0] not in ("_build", "reference")
    ]


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = [ROOT / "README.md", *written()]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
        if "://" not in target and "reference/" not in target
    ]

    assert links
    assert [] == [(page.name, target) for page, target in links if not (page.parent / target).exists()]


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = {
        path
        for page in written()
        for body in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        for entry in body.splitlines()
        if entry and not entry.startswith(":")
        for path in page.parent.glob(f"{entry.rpartition('<')[2].rstrip('>')}.md")
    }

    assert {ROOT / "docs/index.md"} == set(written()) - listed | {ROOT / "docs/index.md"}


def test_every_command_is_documented() -> None:
    from seldio.cli import app

    page = (ROOT / "docs/cli.md").read_text("utf-8")

    assert [] == [c.name for c in app.registered_commands if f"## seldio {c.name}" not in page]


def test_every_public_name_and_every_result_is_in_the_reference() -> None:
    import seldio

    page = (ROOT / "docs/api.md").read_text("utf-8")

    assert [] == [name for name in seldio.__all__ if f"### seldio.{name}\n" not in page]
    for result in ("Conversion", "Description", "Page", "Plotted", "Pulled", "Pushed", "ScoreReport", "Validation"):
        assert f".{result}\n" in page


def test_tests_that_pages_name_exist() -> None:
    pages = [*written(), ROOT / "CONTRIBUTING.md", ROOT / "README.md"]
    named = {
        (page.name, name) for page in pages for name in re.findall(r"\btests/[\w/]+\.py\b", page.read_text("utf-8"))
    }
    assert len(named) > 10
    assert [] == sorted(one for one in named if not (ROOT / one[1]).exists())
