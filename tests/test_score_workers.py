"""Labels scored in parts: the same bytes from one part and from many, from one process and from several."""

from __future__ import annotations

import dataclasses
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seldio
from seldio.parallel import running
from seldio.reports import render
from seldio.reports.tables import ScoreReport
from seldio.scores.resampling import Intervals
from seldio.scores.seld import join
from seldio.scores.seld.score_labels import SeldOptions, score_labels

pytestmark = pytest.mark.slow

CLIPS = [f"fold4_room{number % 3 + 1}_mix{number:03}" for number in range(18)]
HEADER = "frame,class,source,azimuth,distance,onscreen\n"
#: SeldProfile and average, and the folder of predictions that they are tried on.
WAYS = (
    ("dcase2023", "macro", "axes"), ("dcase2023", "micro", "angles"), ("dcase2024", "macro", "axes"),
    ("dcase2024-segments", "macro", "axes"), ("dcase2021", "micro", "axes"),
    ("dcase2025", "macro", "stereo"), (None, None, "axes"), (None, None, "stereo"),
)  # fmt: skip


def rows(luck: np.random.Generator) -> Iterator[tuple[int, int, int, int, int, int]]:
    for frame in range(int(luck.integers(1, 45))):
        for class_id in luck.choice(14, luck.integers(0, 4)).tolist():
            azimuth, elevation, distance = (
                int(luck.integers(*limits)) for limits in ((-180, 181), (-60, 61), (30, 500))
            )
            yield frame, class_id, int(luck.integers(0, 3)), azimuth, elevation, distance


def write(root: Path) -> None:
    """Labels and three systems; some clips are silent on either side, some classes are foreign, some frames late."""
    luck = np.random.default_rng(7)
    for name in ("labels", "axes", "angles", "stereo", "stereo-labels"):
        (root / name).mkdir()
    for number, clip in enumerate(CLIPS):
        files: dict[str, list[str]] = {name: [] for name in ("labels", "axes", "angles", "stereo", "stereo-labels")}
        for f, c, s, az, el, d in [] if number == 5 else rows(luck):
            files["labels"].append(f"{f},{c},{s},{az},{el},{d}\n")
            files["stereo-labels"].append(f"{f},{c},{s},{az // 2},{d},{s % 2}\n")
            near = az + int(luck.integers(-30, 31))
            x, y, z = seldio.geometry.to_cartesian(near, el)
            if number != 8 and luck.random() < 0.8:
                files["axes"].append(f"{f},{c},0,{x:.6f},{y:.6f},{z:.6f},{d / 90:.3f}\n")
                files["angles"].append(f"{f},{c},{s},{(near + 180) % 360 - 180},{el},{d + 9}\n")
                files["stereo"].append(f"{f + s},{c},{s},{near // 2},{d + 9},1\n")
        if number == 5:
            files["axes"].append("3,1,0,0.5,0.5,0.5,1.0\n")
            files["stereo"].append("3,1,0,5,100,1\n")
        for name, lines in files.items():
            (root / name / f"{clip}.csv").write_text(HEADER * name.startswith("stereo") + "".join(lines))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    write(root)
    return root


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few clips each."""
    monkeypatch.setattr(join, "PART", 1 << 13)


def full(profile: str | None, average: Any) -> SeldOptions:
    """Everything that a report can show; class 13 is none of STARSS, so that the labels are scored by force."""
    return SeldOptions(profile, average, intervals=Intervals(jackknife=True), by_clip=True, errors=True, force=True)


def scored(data: Path, way: tuple[Any, Any, str]) -> str:
    """A report as json."""
    profile, average, system = way
    reference = data / ("stereo-labels" if system == "stereo" else "labels")
    return as_json(score_labels(data / system, reference, full(profile, average)))


def as_json(report: ScoreReport) -> str:
    """*report* without the first errors that were forced, as a table has other places, and parts have less evidence.

    The commands that show clips are left out as well: they name files, which an archive does not give.
    """
    notices = tuple(notice for notice in report.notices if notice.name != "forced")
    tables = tuple(
        dataclasses.replace(table, columns=table.columns[:2], rows=tuple(row[:2] for row in table.rows))
        if table.name == "worst" else table
        for table in report.tables
    )  # fmt: skip
    return "".join(render([dataclasses.replace(report, notices=notices, tables=tables)], "json"))


def test_the_same_bytes_wherever_and_in_however_many_parts(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [scored(data, way) for way in WAYS]
    monkeypatch.setattr(join, "PART", 1)  # each clip by itself
    assert whole == [scored(data, way) for way in WAYS]
    monkeypatch.setattr(join, "PART", 1 << 13)
    assert whole == [scored(data, way) for way in WAYS]
    with running(2):
        assert whole == [scored(data, way) for way in WAYS]


@pytest.mark.usefixtures("small")
def test_archives_and_tables(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = ("dcase2024", "macro", "axes")
    plain = scored(data, way)
    shutil.copytree(data / "labels", tmp_path / "ref")
    seldio.write(seldio.read(tmp_path / "ref", force=True), tmp_path / "labels.parquet", "parquet", force=True)
    with zipfile.ZipFile(tmp_path / "axes.zip", "w") as archive:
        for path in sorted((data / "axes").iterdir()):
            archive.write(path, path.name)

    def packed() -> str:
        options = full("dcase2024", "macro")
        report = score_labels(tmp_path / "axes.zip", tmp_path / "labels.parquet", options)
        return as_json(report).replace(str(tmp_path / "axes.zip"), str(data / "axes"))

    assert packed() == plain
    with running(2):
        assert packed() == plain
