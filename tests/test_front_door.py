"""What the README says runs as printed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pages import ROOT, Page
from releases import older

README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_is_short_and_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(README.splitlines()) <= 45
    monkeypatch.chdir(tmp_path)
    page = Page(ROOT / "README.md")

    page.run()

    problems = page.problems()
    if problems and older("rich", "14.3"):
        pytest.skip("tables of rich before 14.3 have other spaces")
    assert [] == problems


def test_the_badges_and_the_citation_say_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"version-{version}-" in README
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
