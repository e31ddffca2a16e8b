"""Every block of code in the documentation runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import ROOT, Page, needs, pages


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_page_runs_and_prints_what_it_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in needs(path.read_text("utf-8")):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    page = Page(path)

    page.run()

    assert [] == page.problems()
