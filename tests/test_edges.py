"""The edges of the Python API and of the shell: what people type, pass and forget."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from commands import contents, invoke, laid
from layouts import wav

import seldio
from seldio.cli.completion import COMPLETIONS
from seldio.errors import InvalidData, UsageError
from seldio.scores.resampling import Intervals

ROWS = "".join(f"{n},{n % 13},{n % 2},{n * 3 - 60},{n - 20},{150 + n}\n" for n in range(40))


def folder(place: Path, numbers: Any, rows: str = ROWS) -> Path:
    return laid(place, {f"mix{number:03}.csv": rows for number in numbers})


@pytest.mark.parametrize("allowed", ["source, distance", ["source", "distance"], "all"])
def test_one_name_is_no_list_of_letters(tmp_path: Path, allowed: Any) -> None:
    labels = folder(tmp_path / "in", [1])
    assert seldio.convert(labels, tmp_path / "a", "dcase2023-submission", format="starss23", allow_loss=allowed).losses
    table = seldio.read(labels, format="starss23")
    assert seldio.write(table, tmp_path / "b.csv", "dcase2023-submission", allow_loss=allowed)
    with pytest.raises(seldio.UsageError, match=r"allow_loss=.*sauce.*: unknown field"):
        seldio.write(table, tmp_path / "b.csv", "dcase2023-submission", allow_loss="sauce")
    with pytest.raises(seldio.UsageError, match=r'fill: values by field, such as fill={"distance": 2.5}, not list'):
        seldio.convert(labels, tmp_path / "a", "starss22", fill=["distance=2"])  # type: ignore[arg-type]
    with pytest.raises(seldio.UsageError, match=r"source.*None.*: not a valid source"):
        seldio.convert(labels, tmp_path / "a", "starss22", format="starss23", fill={"source": None})
    with pytest.raises(seldio.UsageError, match="the output is a path or a binary stream, not Table"):
        seldio.write(labels, table, "dcase2023-submission")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pa.table({"clip": ["a", None], "frame": [1, 2]}), "1 row of the table without a clip"),
        (pd.DataFrame({"clip": ["a"], "azimut": [2]}), "not columns of an event table: azimut"),
        (pd.DataFrame({"clip": ["a"], "azimuth": ["left"]}), "the column azimuth holds"),
        ([1, 2], "an Arrow table, not list"),
        (None, "an Arrow table, not NoneType"),
        ("labels.csv", "no such file or folder: labels.csv"),
    ],
)
def test_what_is_no_event_table(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(seldio.UsageError, match=message):
        seldio.write(data, tmp_path / "a.csv", "starss23")
    for table in (pd.DataFrame({"frame": [1], "class_id": [2]}), pa.table({"frame": [1], "class_id": [2]})):
        with pytest.raises(InvalidData, match="the column clip is missing"):
            seldio.write(table, tmp_path / "a.csv", "starss23")
    assert not (tmp_path / "a.csv").exists()


def tree(place: Path) -> Path:
    """A part of STARSS23 in two rooms, with FOA recordings alone."""
    for room in (22, 23):
        clip = f"dev-train-sony/fold3_room{room}_mix001"
        laid(place, {f"metadata_dev/{clip}.csv": ROWS, f"foa_dev/{clip}.wav": wav(4.0, 24_000, 4)})
    return place


def test_rooms_and_recordings_are_named(tmp_path: Path) -> None:
    dataset = seldio.open(tree(tmp_path))
    for room in (22, "22", "022", ["22"], [22, "99"]):
        assert ["fold3_room22_mix001"] == dataset.select(room=room).clips["clip"].to_pylist()  # type: ignore[arg-type]
    with pytest.raises(seldio.UsageError, match="room room22: the column room of the clip table has numbers"):
        dataset.select(room="room22")
    media = dataset.media["fold3_room22_mix001"]
    assert (4, 100) == media.foa.read(0, 100).shape
    for name in ("mic", "stereo", "video"):
        with pytest.raises(seldio.UsageError, match=f"fold3_room22_mix001 has no {name}; it has foa"):
            getattr(media, name)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("command", ["rule --all", "validate labels --output concise", "info labels"])
def test_a_closed_pipe_is_no_failure(tmp_path: Path, command: str) -> None:
    folder(tmp_path / "labels", range(1, 4), "37,1,0,999,0,0\n" * 2000)
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "seldio", *command.split()]
    done = subprocess.run(words, cwd=tmp_path, stdout=writer, stderr=-1, text=True, check=False)
    os.close(writer)
    assert (141, "") == (done.returncode, done.stderr)


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize("name", ["datasets--me--labels", "moved"])
def test_a_cache_of_the_hub_is_read(tmp_path: Path, name: str) -> None:
    cache, commit = tmp_path / name, "0123456789abcdef0123456789abcdef01234567"
    files = cache / "snapshots" / commit / "metadata_dev"
    files.mkdir(parents=True)
    (cache / "blobs").mkdir()
    for number in range(1, 4):
        (cache / f"blobs/{number}abc").write_text(ROWS)
        (files / f"mix{number:03}.csv").symlink_to(f"../../../blobs/{number}abc")
    (tmp_path / "link").symlink_to(cache / "snapshots" / commit)
    places = (cache / "snapshots", cache / "snapshots" / commit, files, tmp_path / "link", files / "mix001.csv")
    for place in places:
        report = seldio.validate(place, format="starss23")
        assert (1 if place.suffix else 3) == report.files
        assert "SAF108" not in report.by_rule()
    assert 3 == len(seldio.open(cache / "snapshots" / commit).clips)


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_other_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/mix001.csv").write_text(ROWS)
    (tmp_path / "set/snapshots/1").mkdir(parents=True)
    (tmp_path / "set/blobs").symlink_to(tmp_path / "secret")
    (tmp_path / "set/snapshots/1/mix001.csv").symlink_to("../../blobs/mix001.csv")
    assert {"SAF108": 1} == seldio.validate(tmp_path / "set/snapshots/1").by_rule()


def test_completion_offers_names() -> None:
    assert {"so-bench", "so-dataset"} <= {name for name, _ in COMPLETIONS["target"]("so-")}
    assert {"mic", "webdataset"} <= {name for name, _ in COMPLETIONS["target"]("")}
    assert "dcase2024" in {name for name, _ in COMPLETIONS["profile"]("dcase")}
    assert "LAB301" in {name for name, _ in COMPLETIONS["code"]("lab3")}
    assert "radians" in {name for name, _ in COMPLETIONS["code"]("radi")}


CASES = [
    case
    for folder in ("own-keys", "labels", "commands")
    for case in (Path(__file__).parent / "cases" / folder).iterdir()
]


@pytest.mark.parametrize("case", sorted(CASES), ids=lambda case: case.name)
def test_what_people_met(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each command there are its exit code and a pattern of its output, a line each; what is written is in made/."""
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    commands, expected = ((case / name).read_text().splitlines() for name in ("cmd.txt", "expected.txt"))
    for command, code, pattern in zip(commands, expected[::2], expected[1::2], strict=True):
        done = invoke(*shlex.split(command)[1:])
        assert done.exit_code == int(code), done.output
        assert re.search(pattern, done.output, re.MULTILINE), done.output
    made = contents(case / "made")
    assert {name: (tmp_path / name).read_bytes() for name in made} == made


LABELS = "10,1,1,-50,30,181\n11,1,1,-50,30,181\n"
YEAR = """
name = "lab2028"
title = "labels of the lab"

[[formats]]
name = "lab2028"
title = "labels of the lab"
role = "submission"
years = "2028"
header = "frame,class,azimuth,elevation,score"
columns = "frame:int class_id:int azimuth:whole elevation:whole score:real"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset with two splits."""
    clips = ("dev-train-tau/fold5_room1_mix001", "dev-test-tau/fold4_room1_mix001")
    laid(tmp_path / "d/metadata_dev", {f"{clip}.csv": LABELS for clip in clips})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["score:real onscreen:int", "score:flag"])
def test_a_year_that_cannot_be_read_is_refused_when_it_is_read(here: Path, columns: str) -> None:
    laid(here, {"mine/lab2028.toml": YEAR.replace("score:real", columns), "mix001.csv": LABELS})
    command, env = [sys.executable, "-m", "seldio", "validate", "mix001.csv"], os.environ | {"SELDIO_PLUGINS": "mine"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, "onscreen, and no other field, is of the kind flag" in done.stderr) == (2, True)


SCORE = "score d/metadata_dev -r d/metadata_dev --output json"
TABLE = SCORE.replace("json", "csv")
LIMITED = f"{SCORE} -p dcase2024"
ASK = "convert d/metadata_dev --to so-bench -o q.jsonl --json --window 5"


@pytest.mark.parametrize(
    ("old", "now"),
    [
        (f"{SCORE} --jackknife --bootstrap --resamples 200 --seed=1 --angle 15",
         f"{SCORE} --intervals jackknife,bootstrap=200,seed=1 --threshold angle=15"),
        (f"{SCORE} --jackknife --intervals bootstrap=200", f"{SCORE} --intervals bootstrap=200,jackknife"),
        (f"{LIMITED} --threshold relative=1 --angle 15", f"{LIMITED} --threshold angle=15 --threshold relative=1"),
        (f"{TABLE} --errors --table errors", f"{TABLE} --table errors"),
        (f"{SCORE} --by-clip --errors --judge-json", f"{SCORE} --table all"),
        (f"{ASK} --total 2 --balance", f"{ASK} --total balanced=2"),
        (f"{ASK} --balance --language ru --split=--x", f"{ASK} --total balanced --fill split=--x --fill language=ru"),
    ],
)  # fmt: skip
def test_options_of_before_are_those_of_now(here: Path, old: str, now: str) -> None:
    """``--jackknife`` is ``--intervals jackknife``."""
    given, before = (invoke(*shlex.split(line)) for line in (now, old))
    assert (before.exit_code, before.stdout) == (0, given.stdout)
    assert "; the old name is accepted until 0.4" in before.stderr


def test_keywords_of_before_are_those_of_now(here: Path) -> None:
    labels = "d/metadata_dev"
    new = seldio.score(labels, labels, intervals="jackknife", threshold={"angle": 15})
    assert seldio.score(labels, labels, jackknife=True, angle=15, judge_json=True) == new
    for options in ({"intervals": Intervals(bootstrap=200), "jackknife": True}, {"by_clip": True, "table": "errors"}):
        with pytest.raises(UsageError, match="which cannot be joined with"):
            seldio.score(labels, labels, **options)
    with pytest.raises(UsageError, match='intervals="jackknife" is of seldio score'):
        seldio.compare([labels, labels], labels, jackknife=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wide'"):
        seldio.score(labels, labels, wide=True)
