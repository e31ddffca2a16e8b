"""Plots show what the labels say: checked on what is drawn, in the files, and from the command line."""

from __future__ import annotations

import itertools
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from effort import some

import seldio
from seldio.errors import SeldioError, UsageError
from seldio.viewer.page_content import COLOURS

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
    folder = root / "metadata_dev/dev-train-tau"
    folder.mkdir(parents=True)
    (folder / f"{CLIP}.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in sorted(ROWS)))
    (folder / "fold3_room6_mix002.csv").write_text("")
    (root.parent / "output").mkdir()
    (root.parent / f"output/{CLIP}.csv").write_text("30,11,0,-20,10\n31,11,0,-22,10\n")
    return root


#: Machado, Oliveira and Fernandes 2009, severity 1, on linear colours.
EYES = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def cielab(linear: Any) -> Any:
    xyz = linear @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    xyz = xyz / (0.9505, 1.0, 1.089)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack((116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])), axis=1)


@pytest.mark.parametrize("eye", EYES)
def test_colours_are_apart_for_every_kind_of_eye(eye: str) -> None:
    share = np.array([tuple(bytes.fromhex(colour[1:])) for colour in COLOURS]) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)
    seen = cielab(np.clip(linear @ np.array(EYES[eye]).T, 0, 1))

    assert len(COLOURS) > 13
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 23
    assert (1.05 / (luminance + 0.05)).min() > 1.74  # from white
    assert ((luminance + 0.05) / 0.05).min() > 2.19  # from black


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
def test_what_makes_no_sense_is_refused(
    tree: Path, tmp_path: Path, out: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        seldio.plot(tree, tmp_path / out, **options)
    assert [] == list(tmp_path.iterdir())


def test_without_matplotlib_a_sentence_says_what_to_install(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SeldioError, match="plots need it: pip install matplotlib") as caught:
        seldio.plot(tree, clip=CLIP)
    assert 3 == caught.value.exit_code
