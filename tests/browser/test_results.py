"""The pages of results in a real browser: one look, narrow and dark, open to everybody."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from commands import invoke
from conftest import NARROW, WIDE, Browser

CLIP = "fold4_room2_mix001"
#: The commands that write the pages, by their names.
PAGES = {
    "scores": "score output -r starss23/metadata_dev --table all --intervals bootstrap --output html",
    "systems": "score output other -r starss23/metadata_dev --output html",
    "comparison": "compare output other -r starss23/metadata_dev --output html",
    "versions": "diff starss23/metadata_dev output --output html",
    "ranking": "rank ranking.json --output html",
    "answers": "score one.jsonl -r questions.jsonl --output html",
    "findings": "validate submission --output html",
    "clip": f"view starss23 --clip {CLIP} --predictions output --questions questions.jsonl",
}


def seldio(*arguments: str) -> None:
    """Run a command; findings and changes are no failure."""
    result = invoke(*arguments)
    assert result.exit_code in (0, 1), result.output


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        seldio("demo", ".", "--no-media", "--no-run")
        for path in Path("output").iterdir():
            rows = path.read_text().splitlines(keepends=True)
            Path("other").mkdir(exist_ok=True)
            Path("other", path.name).write_text("".join(rows[:2] + rows[9:]))
        seldio("convert", "starss23/metadata_dev", "--to", "so-bench", "-o", "questions.jsonl", "--total", "40")
        asked, luck = [*map(json.loads, Path("questions.jsonl").read_text().splitlines())], random.Random(3)
        for name in ("one", "two"):
            replies = ({"id": row["qa_id"], "prediction": luck.choice([row["answer"], "a dog", "I don't know"])}
                       for row in asked)  # fmt: skip
            Path(f"{name}.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        seldio("score", "output", "other", "-r", "starss23/metadata_dev", "--json", "-o", "ranking.json")
        for name, command in PAGES.items():
            seldio(*command.split(), "-o", f"{name}.html")
        yield folder


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_read_it(browser: Browser, pages: Path, name: str, size: tuple[int, int], dark: bool) -> None:
    """axe finds nothing, also where it is opened; nothing sticks out, nothing is loaded."""
    browser.screen(size, dark, calm=True)
    browser.visit(pages / f"{name}.html")
    assert [] == browser.said()
    assert ["file"] == [address.partition(":")[0] for address in browser.requests()]
    browser.js("for (const each of document.querySelectorAll('details')) each.open = true")

    assert browser.js("return document.documentElement.scrollWidth") <= size[0]
    assert [] == browser.barriers()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_is_asked(browser: Browser, dark: bool) -> None:
    """A page that nobody can read is not passed over in silence."""
    browser.screen(WIDE, dark)
    browser.open(b"<!doctype html><html><body><img src='data:,'><p style='color: #ccc; background: #fff'>pale</p>")
    found = {line.partition(":")[0] for line in browser.barriers()}
    assert {"image-alt", "color-contrast", "html-has-lang"} <= found


def test_the_figures_are_read_first_and_the_notices_before_the_numbers(browser: Browser, pages: Path) -> None:
    browser.visit(pages / "scores.html")
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    tops = [browser.js(top, each) for each in ("h1", ".figures", ".told .warning", "table")]
    assert tops == sorted(tops)
    assert tops[1] < 120
    assert browser.find(".figures dt").text.startswith("SELD")


def test_a_table_scrolls_in_itself_and_its_names_stay(browser: Browser, pages: Path) -> None:
    browser.screen(NARROW)
    browser.visit(pages / "scores.html")
    moved = browser.js(
        "const box = [...document.querySelectorAll('.wide')].find((one) => one.textContent.includes('by class'));"
        "const left = () => box.querySelector('tbody th').getBoundingClientRect().left, before = left();"
        "box.scrollLeft = 200; return [box.scrollLeft, left() - before, getComputedStyle(box.querySelector('td.n'))"
        ".fontVariantNumeric, getComputedStyle(box.querySelector('td.n')).textAlign]"
    )
    assert moved == [200, 0, "tabular-nums", "right"]


def test_a_clip_leads_to_the_page_of_its_command(
    browser: Browser, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pages)
    browser.visit(pages / "scores.html")
    program, *arguments = shlex.split(browser.find("td code").text)
    assert program == "seldio"
    clip = arguments[arguments.index("--clip") + 1]
    seldio(*arguments, "-o", "clip.html")
    browser.visit(pages / "clip.html")
    browser.wait("document.getElementById('clip')")

    assert clip == browser.find("h1").text
    assert "predicted" in browser.find("#about").text
    assert " right" in browser.find("#active").text, "it opens where label and prediction meet"


def test_the_caret_stands_below_what_it_marks(browser: Browser, pages: Path) -> None:
    browser.visit(pages / "findings.html")
    boxes = browser.js(
        "return [...document.querySelectorAll('pre')].map((one) => [...one.querySelectorAll('mark')].map((mark) => "
        "{ const box = mark.getBoundingClientRect(); return [box.left, box.right, box.top]; }))"
    )
    assert boxes
    for (left, right, top), (start, stop, below) in boxes:
        assert (start, stop) == pytest.approx((left, right), abs=0.6)
        assert below > top
