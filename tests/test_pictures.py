"""Plots show what the labels say: checked on what is drawn, in the files, and from the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commands import laid
from effort import some

import seldio
from seldio.errors import SeldioError, UsageError
from seldio.hub import Pulled
from seldio.reports.tables import Column, Notice, ScoreReport, Table
from seldio.synth.tree import write_demo
from seldio.viewer.page import COLOURS

#: Frame, class, source, azimuth, elevation, distance in cm: a bell that passes behind, a man, a knock of one frame.
ROWS = (
    *((frame, 11, 0, azimuth, 10, 150) for frame, azimuth in enumerate((170, 174, 178, -178, -174), 3)),
    *((frame, 1, 1, 90, 0, 200) for frame in range(6)),
    (20, 12, 0, -90, -40, 100),
)
CLIP = "fold3_room4_mix001"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of two clips, of which one is silent, and the outputs of a system."""
    root = tmp_path_factory.mktemp("tree") / "set"
    rows = "".join(",".join(map(str, row)) + "\n" for row in sorted(ROWS))
    laid(root / "metadata_dev/dev-train-tau", {f"{CLIP}.csv": rows, "fold3_room6_mix002.csv": ""})
    laid(root.parent, {f"output/{CLIP}.csv": "30,11,0,-20,10\n31,11,0,-22,10\n"})
    return root


def test_every_event_has_a_bar_and_lines_of_its_values(tree: Path, tmp_path: Path) -> None:
    plotted = seldio.plot(tree, tmp_path / "a.png", clip=CLIP, predictions=tree.parent / "output")
    classes, azimuth, elevation, distance = plotted.figure.axes
    bars = [path.get_extents() for group in classes.collections for path in group.get_paths()]
    bell = next(line for line in azimuth.lines if line.get_color() == COLOURS[11])

    assert ["Male speech, man speaking", "Bell", "Knock"] == [label.get_text() for label in classes.get_yticklabels()]
    assert [(0, 0.6), (0.3, 0.8), (2.0, 2.1), (3.0, 3.2)] == [
        pytest.approx(ends) for ends in sorted((float(bar.x0), float(bar.x1)) for bar in bars)
    ]
    assert 1 == sum(group.get_hatch() is not None for group in classes.collections)
    assert [4, 4, 3] == [len(axes.lines) for axes in (azimuth, elevation, distance)]  # outputs have no distance
    # from an onset of 0.3 s to an offset of 0.8 s, with no line across where it passes behind
    assert [0.3, 0.35, 0.45, 0.55, np.nan, 0.65, 0.75, 0.8] == pytest.approx(list(bell.get_xdata()), nan_ok=True)
    assert [170, 170, 174, 178, np.nan, -178, -174, -174] == pytest.approx(list(bell.get_ydata()), nan_ok=True)
    assert f"{CLIP}: 3 events in the labels, 1 event in the predictions" == classes.get_title(loc="left")


def test_odd_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    columns = {
        "clip": ["a"] * 3,
        "frame": [0, 1, 2],
        "class_name": ["$x_$", "собака", "x" * 500],
        "azimuth": [0.0, 10.0, 20.0],
    }
    seldio.write(pa.table(columns), tmp_path / "a.parquet", "parquet")
    figure = seldio.plot(tmp_path / "a.parquet", tmp_path / "a.svg").figure

    assert {"$x_$", "собака", "x" * 40} == {label.get_text() for label in figure.axes[0].get_yticklabels()}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", some(["svg", "png", "pdf"], 3))
def test_pictures_are_files_of_their_kind_and_the_same_each_time(tree: Path, tmp_path: Path, suffix: str) -> None:
    files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for file in files:
        seldio.plot(tree, file, clip=CLIP, predictions=tree.parent / "output")
    first, second = [file.read_bytes() for file in files]

    assert first == second
    assert b"matplotlib" not in first.lower()[:400]
    if suffix == "svg":
        assert ET.fromstring(first).tag.endswith("svg")
    else:
        assert first.startswith({"png": b"\x89PNG", "pdf": b"%PDF-"}[suffix])


@pytest.mark.slow
def test_the_command_draws_silence_too_and_names_what_it_wrote(tree: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "seldio", "plot", str(tree), "--clip", "fold3_room6_mix002"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert (0, b"fold3_room6_mix002.png\n") == (done.returncode, done.stdout), done.stderr
    assert ["fold3_room6_mix002.png"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("out", "options", "said"),
    [
        ("x.png", {}, "choose one with clip="),
        ("x.png", {"clip": "nope"}, "has no labels for a clip nope"),
        ("x.csv", {"clip": CLIP}, "must end with .png, .svg, .pdf"),
        ("x.png", {"clip": CLIP, "predictions_format": "starss23"}, "requires predictions="),
    ],
)
def test_what_makes_no_sense_fails(tree: Path, tmp_path: Path, out: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        seldio.plot(tree, tmp_path / out, **options)
    assert [] == list(tmp_path.iterdir())


def test_without_matplotlib_a_sentence_says_what_to_install(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SeldioError, match="plots need it: pip install matplotlib") as caught:
        seldio.plot(tree, clip=CLIP)
    assert 3 == caught.value.exit_code


TOUR = Path(__file__).parents[1] / "examples/tour.ipynb"
RUN = """
import sys
import nbformat
from nbclient import NotebookClient

book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=240, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""


def cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.slow
def test_the_notebook_runs_and_shows_a_picture(tmp_path: Path) -> None:
    for module in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module)
    assert [cell["id"] for cell in cells(TOUR) if cell["outputs"] or cell["execution_count"] is not None] == []
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


LABELS, SHOWN = "starss23/metadata_dev", "fold4_room2_mix001"


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
    "view": (lambda: seldio.view(LABELS, "clip.html", clip=SHOWN), f"Page({SHOWN}: ", "<iframe"),
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


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def test_a_notebook_runs_nothing_that_names_and_cells_hold(tmp_path: Path) -> None:
    folder = tmp_path / "<script>alert(1)<"
    evil = {"mix<img src=x onerror=alert(2)>.csv": "0,1,0,-50,30,200\n0,99,0,<b>,30,200\n"}
    laid(folder, evil | {"mix2.csv": "0,1,0,-50,30,200\n"})
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
