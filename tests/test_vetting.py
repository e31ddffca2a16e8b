"""Labels in which there are errors are not converted, scored, asked about, read or written, unless by force."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import soundfile
from typer.testing import CliRunner

import seldio
from seldio import catalogues
from seldio.cli import app
from seldio.parallel import running

RADIANS = [f"{n},3,0,{(-3 + n * 0.15):.3f},{(0.3 - n * 0.02):.3f},200" for n in range(40)]
GOOD = [f"{n},{n % 13},0,{-180 + 9 * n},{n - 20},{150 + n}" for n in range(41)]
#: One row of each kind of wrong value, with the rule that finds it.
WRONG = {
    "LAB101": "-2,3,0,10,20,200",
    "LAB102": "37,37,0,10,20,200",
    "LAB103": "37,3,0,-300,20,200",
    "LAB104": "37,3,0,10,99,200",
    "LAB105": "37,3,0,10,20,20000",
}
#: What a system may well write, and validate only warns of: rows twice, not in order, decimals, far past the end.
ODD = ["50,1,0,180,0,100", "50,1,0,180,0,100", "49,1,0,-180,0,100", "5800,1,0,10,0,100", "52,1,0,10.5,0,100"]


def folder(place: Path, *files: list[str], name: str = "labels") -> Path:
    """Label files of STARSS23."""
    (place / name).mkdir(parents=True)
    for number, rows in enumerate(files, 1):
        (place / name / f"fold4_room1_mix{number:03}.csv").write_text("".join(f"{row}\n" for row in rows))
    return place / name


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(params=["whole", "shards", pytest.param("processes", marks=pytest.mark.slow)])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All ways in which labels are read; options for the command line."""
    if request.param != "whole":
        monkeypatch.setattr(catalogues, "CUT", 1_000)
    return ["--workers", "2"] if request.param == "processes" else []


# --- convert ----------------------------------------------------------------------------------------------------------


def test_radians_are_not_converted(tmp_path: Path, way: list[str]) -> None:
    labels = folder(tmp_path, *[RADIANS] * 3)
    for to in ("dcase2023-submission", "parquet"):
        out = tmp_path / f"out-{to}"
        command = ("convert", labels, "--to", to, "-o", out, "--format", "starss23", "--allow-loss", "all", *way)
        refused = run(*command)
        assert 1 == refused.exit_code
        assert "fold4_room1_mix001.csv:1:" in refused.stderr
        assert "LAB301" in refused.stderr
        assert "radians" in refused.stderr
        assert "in 3 of 3 files" in refused.stderr
        assert "--force" in refused.stderr
        assert not out.exists()
        forced = run(*command, "--force")
        assert 0 == forced.exit_code
        assert "LAB301" in forced.stderr
        assert out.exists()


@pytest.mark.parametrize("code", WRONG)
def test_values_out_of_range_are_not_converted(tmp_path: Path, way: list[str], code: str) -> None:
    labels = folder(tmp_path, GOOD, [*GOOD, WRONG[code]], GOOD)
    command = ("convert", labels, "--to", "dcase2024-submission", "-o", tmp_path / "out", "--format", "starss23", *way)
    refused = run(*command, "--allow-loss", "all")
    assert 1 == refused.exit_code
    assert "fold4_room1_mix002.csv:42:" in refused.stderr
    assert code in refused.stderr
    assert "in 1 of 3 files" in refused.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("code", WRONG)
def test_a_table_is_looked_at_as_files_are(tmp_path: Path, code: str) -> None:
    labels = folder(tmp_path, GOOD, [*GOOD, WRONG[code]])
    table = tmp_path / "labels.parquet"
    assert 0 == run("convert", labels, "--to", "parquet", "-o", table, "--force", "--format", "starss23").exit_code
    refused = run("convert", table, "--to", "dcase2024-submission", "-o", tmp_path / "out", "--allow-loss", "all")
    assert 1 == refused.exit_code
    assert code in refused.stderr
    assert "labels.parquet:83:" in refused.stderr
    assert "in 1 of 2 clips" in refused.stderr


def test_what_is_odd_is_no_error(tmp_path: Path, way: list[str]) -> None:
    labels = folder(tmp_path, GOOD, [*GOOD, *ODD], [])
    done = run("convert", labels, "--to", "parquet", "-o", tmp_path / "a.parquet", "--format", "starss23", *way)
    assert 0 == done.exit_code, done.stderr
    assert 0 == run("score", labels, "-r", labels, "--format", "starss23").exit_code
    assert 0 == run("convert", labels, "--to", "so-bench", "-o", tmp_path / "q.jsonl", *way).exit_code


def test_a_layout_that_was_named_and_is_another(tmp_path: Path, way: list[str]) -> None:
    rows = [f"{n},{n % 13},{9 * n - 180},{n - 20},{150 + n}" for n in range(41)]  # frame, class, azimuth, elevation, cm
    wrong = folder(tmp_path, rows, rows)
    refused = run("convert", wrong, "--to", "parquet", "-o", tmp_path / "a.parquet", "--format", "starss22", *way)
    assert 1 == refused.exit_code
    assert "LAB312" in refused.stderr
    assert "dcase2024-submission" in refused.stderr


# --- questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["so-bench", "ruenvaqa"])
def test_nothing_is_asked_about_wrong_labels(tmp_path: Path, way: list[str], to: str) -> None:
    for name, rows, code in (("radians", RADIANS, "LAB301"), ("class", [*GOOD, WRONG["LAB102"]], "LAB102")):
        labels = folder(tmp_path, GOOD, rows, rows, name=name)
        out = tmp_path / f"{name}.out"
        refused = run("convert", labels, "--to", to, "-o", out, "--format", "starss23", *way)
        assert 1 == refused.exit_code
        assert code in refused.stderr
        assert "in 2 of 3 files" in refused.stderr
        assert not out.exists()
    forced = run("convert", tmp_path / "radians", "--to", to, "-o", tmp_path / "r", "--format", "starss23", "--force")
    assert 0 == forced.exit_code, forced.stderr
    assert "LAB301" in forced.stderr


# --- scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["prediction", "reference"])
def test_wrong_labels_are_not_scored(tmp_path: Path, way: list[str], side: str) -> None:
    good, wrong = folder(tmp_path, GOOD, GOOD, name="good"), folder(tmp_path, RADIANS, RADIANS, name="wrong")
    given, reference = (wrong, good) if side == "prediction" else (good, wrong)
    command = ("score", given, "-r", reference, "--format", "starss23", "--reference-format", "starss23")
    refused = run(*command)
    assert 1 == refused.exit_code
    assert "wrong/fold4_room1_mix001.csv:1:" in refused.stderr
    assert "LAB301" in refused.stderr
    assert "in 2 of 2 files" in refused.stderr
    forced = run(*command, "--force")
    assert 0 == forced.exit_code, forced.stderr
    assert "LAB301" in forced.stdout


def test_a_table_is_not_scored(tmp_path: Path) -> None:
    good, wrong = folder(tmp_path, GOOD, name="good"), folder(tmp_path, [*GOOD, WRONG["LAB104"]], name="wrong")
    table = tmp_path / "wrong.parquet"
    seldio.convert(wrong, table, "parquet", force=True)
    with pytest.raises(seldio.InvalidData, match="LAB104 elevation 99"):
        seldio.score(table, good)
    assert seldio.score(table, good, force=True).overall


# --- in Python --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["LAB301", *WRONG])
def test_reading_and_writing(tmp_path: Path, code: str) -> None:
    rows = RADIANS if code == "LAB301" else [*GOOD, WRONG[code]]
    labels, out = folder(tmp_path, rows), tmp_path / "out.csv"
    with pytest.raises(seldio.InvalidData, match=f"mix001.csv.*{code}.*force=True"):
        seldio.read(labels, format="starss23")
    table = seldio.read(labels, format="starss23", force=True)
    assert len(rows) == table.num_rows
    for to in ("starss23", "dcase2024-submission", "parquet"):
        with pytest.raises(seldio.InvalidData, match=f"the table:.*{code}"):
            seldio.write(table, out, to, allow_loss=["all"])
        assert not out.exists()
    seldio.write(table, out, "dcase2024-submission", allow_loss=["all"], force=True)
    assert len(rows) == out.read_text().count("\n")


def test_a_table_made_in_python(tmp_path: Path) -> None:
    event = seldio.Event(clip="a", frame=3, class_id=1, source=0, azimuth=-90.0, elevation=10.0, distance=1.0)
    table = seldio.from_events([event])
    wrong = table.set_column(table.column_names.index("azimuth"), "azimuth", pa.array([270.0]))
    with pytest.raises(seldio.InvalidData, match=r"the table:1:1: LAB103 azimuth 270\.0 is outside"):
        seldio.write(wrong, tmp_path / "a.csv", "starss23")
    assert seldio.write(table, tmp_path / "a.csv", "starss23")


def test_the_finding_is_in_the_error(tmp_path: Path) -> None:
    labels = folder(tmp_path, [*GOOD, WRONG["LAB102"], WRONG["LAB104"]])
    with running(2), pytest.raises(seldio.InvalidData) as error:
        seldio.convert(labels, tmp_path / "out", "parquet")
    assert "LAB102" == error.value.finding.code
    assert 42 == error.value.finding.line
    assert "also LAB104" in str(error.value)
    done = seldio.convert(labels, tmp_path / "a.parquet", "parquet", force=True)
    assert {"LAB102", "LAB104"} <= {finding.code for finding in done.findings}


def test_unknown_values_are_no_errors(tmp_path: Path) -> None:
    columns = {"clip": ["a", "a"], "frame": [0, 1], "class_id": [1, None], "source": [None, 2], "azimuth": [1.0, None]}
    path = tmp_path / "a.parquet"
    assert seldio.write(seldio.from_events(seldio.to_events(pa.table(columns))), path, "parquet")
    assert 2 == seldio.read(path).num_rows


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_pictures_are_drawn_and_say_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    labels = folder(tmp_path, [*GOOD, WRONG["LAB102"]])
    done = run("plot", labels / "fold4_room1_mix001.csv", "-o", tmp_path / "a.svg")
    assert 0 == done.exit_code, done.stderr
    assert "LAB102" in done.stderr


# --- data sets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["LAB301", *WRONG])
def test_wrong_labels_of_a_data_set(tmp_path: Path, code: str) -> None:
    labels = folder(tmp_path, RADIANS if code == "LAB301" else [*GOOD, WRONG[code]])
    with pytest.raises(seldio.InvalidData, match=rf"csv:\d+:\d+: {code} .*use force=True to continue"):
        seldio.open(labels, format="starss23").events.table()
    with seldio.open(labels, format="starss23", force=True) as data:
        assert 40 <= data.events.table().num_rows
        assert 40 <= pickle.loads(pickle.dumps(data)).events.table().num_rows


def test_wrong_labels_of_a_data_set_in_a_table(tmp_path: Path) -> None:
    table = tmp_path / "labels.parquet"
    seldio.convert(folder(tmp_path, RADIANS), table, "parquet", format="starss23", force=True)
    with pytest.raises(seldio.InvalidData, match="LAB301"):
        seldio.open(table).events.table()
    assert 40 == seldio.open(table, force=True).events.table().num_rows


def test_targets_are_not_made_of_wrong_labels(tmp_path: Path) -> None:
    labels = folder(tmp_path, RADIANS)
    for file in sorted(labels.iterdir()):
        soundfile.write(file.with_suffix(".wav"), np.zeros((4 * 8000, 4)), 8000)
    options: dict[str, Any] = {"seconds": 2, "target": "multi-accdoa"}
    with pytest.raises(seldio.InvalidData, match="LAB301"):
        seldio.open(labels, format="starss23").windows(**options)[0]
    assert seldio.open(labels, format="starss23", force=True).windows(**options)[0]


@pytest.mark.parametrize("to", ["hf-parquet", "audiofolder"])
def test_wrong_labels_are_not_exported(tmp_path: Path, to: str) -> None:
    labels = folder(tmp_path, GOOD, RADIANS)
    out = tmp_path / "out"
    command = ("convert", labels, "--to", to, "-o", out, "--format", "starss23")
    refused = run(*command)
    assert 1 == refused.exit_code
    assert "mix002.csv:1:7: LAB301" in refused.stderr
    assert "--force" in refused.stderr
    assert not list(out.glob("seldio*.json"))
    assert 0 == run(*command, "--force").exit_code


def test_label_files_are_stored_as_they_are(tmp_path: Path) -> None:
    labels = folder(tmp_path, RADIANS)
    assert 0 == run("convert", labels, "--to", "webdataset", "-o", tmp_path / "out", "--format", "starss23").exit_code
    assert 0 == run("convert", tmp_path / "out", "--to", "files", "-o", tmp_path / "back").exit_code
    assert (labels / "fold4_room1_mix001.csv").read_bytes() == (tmp_path / "back/fold4_room1_mix001.csv").read_bytes()
