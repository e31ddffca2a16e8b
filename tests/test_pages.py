"""Every block of code in the documentation runs, and prints what the page shows."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import NoReturn

import pytest
from pages import ROOT, SLOW, Page, needs, pages
from releases import older


def _marks(path: Path) -> list[pytest.MarkDecorator]:
    if not SLOW.search(path.read_text("utf-8")):
        return []
    # other people's libraries warn of each other, and of the processors of a small machine
    return [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def _no_network(*_: object, **__: object) -> NoReturn:
    raise socket.gaierror("pages run without a network")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=_marks(path), id=str(path.relative_to(ROOT))) for path in (ROOT / "README.md", *pages())],
)
def test_the_page_runs_and_prints_what_it_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text("utf-8")
    for module in needs(text):
        pytest.importorskip(module)
    if "DataFrame.from_arrow" in text and older("pandas", "3.0"):
        pytest.skip("pandas before 3.0 has no DataFrame.from_arrow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "getaddrinfo", _no_network)
    page = Page(path)

    page.run()

    problems = page.problems()
    if problems and older("rich", "14.3"):
        pytest.skip("tables of rich before 14.3 have other spaces")
    assert [] == problems
