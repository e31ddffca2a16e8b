"""What notebooks show of results; and ours runs from top to bottom, and is committed without outputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import seldio
from seldio.hub import Pulled
from seldio.reports.tables import Column, Notice, ScoreReport, Table
from seldio.synth.tree import write_demo

TOUR = Path(__file__).parents[1] / "examples/tour.ipynb"
RUN = """
import sys
import nbformat
from nbclient import NotebookClient

book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=240, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""


def cells(path: Path, kind: str = "code") -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


def test_no_outputs_are_committed() -> None:
    assert 8 <= len(cells(TOUR))
    assert [cell["id"] for cell in cells(TOUR) if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.mark.slow
def test_the_notebook_runs_and_shows_a_picture(tmp_path: Path) -> None:
    for module in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module)
    out = tmp_path / "tour.ipynb"

    done = subprocess.run([sys.executable, "-c", RUN, TOUR, out], cwd=tmp_path, capture_output=True, text=True,
                          check=False)  # fmt: skip

    assert 0 == done.returncode, done.stderr[-3000:]
    outputs = [output for cell in cells(out) for output in cell["outputs"]]
    assert [] == [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert 1 == sum("image/png" in output.get("data", {}) for output in outputs)
    assert any("<iframe" in "".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    assert all(cell["outputs"] for cell in cells(out))
    assert {path.name for path in tmp_path.iterdir()} == {"tour.ipynb"}


LABELS, CLIP = "starss23/metadata_dev", "fold4_room2_mix001"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder, before = tmp_path_factory.mktemp("demo"), Path.cwd()
    write_demo(folder)
    os.chdir(folder)
    yield folder
    os.chdir(before)


def convert(to: str) -> Any:
    return seldio.convert(LABELS, f"made-{to}.jsonl" if to == "so-bench" else f"made-{to}", to, allow_loss="all",
                          total=5 if to == "so-bench" else None)  # fmt: skip


#: Results with how their ``repr`` begins and a word that a notebook shows.
RESULTS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "info": (lambda: seldio.info(LABELS), f"Description({LABELS}: 4 files)", "polyphony"),
    "validate": (lambda: seldio.validate("submission"), "Validation(6 errors, 1 warning, 1 info in 4 f", "LAB102"),
    "fixed": (lambda: seldio.validate("submission", diff=True, unsafe_fixes=True).changes[0],
              "Fixed(submission/mix001.csv: SYN103", "+++ submission/mix001.csv"),
    "convert": (lambda: convert("dcase2020"), "Conversion(starss23 to dcase2020: 4 clips", "lost as allowed"),
    "questions": (lambda: convert("so-bench"), "QuestionsMade(starss23 to so-bench: 5 questions", "so-bench"),
    "diff": (lambda: seldio.diff(LABELS, "output"), f"Difference({LABELS} → output: 6 kinds", "events moved"),
    "score": (lambda: seldio.score("output", LABELS), "ScoreReport(output: ER 0.", "by room, to_pandas(&#x27;rooms&#x27;)"),
    "table": (lambda: seldio.score("output", LABELS).tables[0], "Table(overall: 1 row of system, ER", "output"),
    "compare": (lambda: seldio.compare(["output", LABELS], LABELS), "ScoreReport(comparison of 2 systems: ", "output"),
    "rank": (lambda: seldio.rank(seldio.score("output", LABELS)), "ScoreReport(ranking: output ranks first of 1 system: ", "cumulative"),
    "export": (lambda: seldio.export("starss23", "export"), "Manifest(parquet: ", "files, "),
    "push": (lambda: seldio.push("starss23", "anna/sounds", dry_run=True), "Pushed(anna/sounds: 5 files (5 unknown); n", "nothing sent"),
    "pull": (lambda: Pulled("anna/sounds", "c" * 40, "sounds", (), 3, 9), "Pulled(anna/sounds@cccccccccccc: 0 f", "3 already there"),
    "view": (lambda: seldio.view(LABELS, "clip.html", clip=CLIP), f"Page({CLIP}: ", "<iframe"),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.usefixtures("demo")
def test_a_result_is_short_as_repr_and_whole_in_a_notebook(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    make, begins, word = RESULTS[name]
    found = make()

    assert repr(found).startswith(begins)
    assert len(repr(found)) < 250
    assert "\n" not in repr(found)
    shown = found._repr_html_()
    assert word in shown
    assert len(shown) < (200_000 if name == "view" else 20_000)
    assert balanced(shown)


def balanced(text: str) -> bool:
    """Whether each element ends where it should, so that it cannot spoil the notebook around it."""
    open_elements: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            open_elements.extend([] if tag in ("br", "img") else [tag])

        def handle_endtag(self, tag: str) -> None:
            assert open_elements.pop() == tag

    Reader().feed(text)
    return not open_elements


@pytest.mark.slow
@pytest.mark.usefixtures("demo")
def test_a_notebook_shows_a_picture_and_keeps_its_figure() -> None:
    pytest.importorskip("matplotlib")
    made = seldio.plot(LABELS, "clip.svg", clip=CLIP)

    assert "Plotted(clip.svg)" == repr(made)
    assert made._repr_png_().startswith(b"\x89PNG")
    assert made._repr_html_() is None
    assert ["fold4"] == [text[:5] for text in [made.figure.axes[0].get_title(loc="left")]]


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def test_a_notebook_runs_nothing_that_names_and_cells_hold(tmp_path: Path) -> None:
    folder = tmp_path / "<script>alert(1)<"
    folder.mkdir()
    (folder / "mix<img src=x onerror=alert(2)>.csv").write_text("0,1,0,-50,30,200\n0,99,0,<b>,30,200\n")
    (folder / "mix2.csv").write_text("0,1,0,-50,30,200\n")
    table = Table(EVIL, EVIL, (Column(EVIL, EVIL, meaning=EVIL),), ((EVIL,),))
    report = ScoreReport(EVIL, EVIL, EVIL, EVIL, (table,), (Notice(EVIL, EVIL),), {EVIL: EVIL}, EVIL, EVIL)
    results: list[Any] = [
        seldio.validate(folder), seldio.info(folder / "mix2.csv"), report, table, Pulled(EVIL, EVIL, EVIL, (), 0, 0),
        seldio.view(folder / "mix2.csv", folder / "clip.html"),
    ]  # fmt: skip

    for result in results:
        shown = result._repr_html_()
        assert "alert(1)" in shown or "mix2" in shown
        shown = re.sub(r'srcdoc="[^"]*"', "", shown)  # a document of its own, with a policy and in a sandbox
        assert not re.search(r"<(script|img|b)\b", shown), shown
