"""Whoever is stuck is told the command that goes on, and no option that the command at hand lacks."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.errors import UsageError
from seldio.scores.resampling import Intervals

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


def run(line: str) -> tuple[int, str]:
    """Run a command; return its exit code and all that it printed, in one line."""
    done = CliRunner().invoke(app, shlex.split(line))
    return done.exit_code, " ".join(f"{done.stdout} {done.stderr}".split())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset with two splits, and a table in columns of one's own."""
    for split in ("train", "test"):
        folder = tmp_path / "d" / "metadata_dev" / f"dev-{split}-tau"
        folder.mkdir(parents=True)
        (folder / f"fold{len(split)}_room1_mix001.csv").write_text(LABELS)
    (tmp_path / "fields.csv").write_text("start,end,what,left\n0.5,1.5,dog,30\n2.0,2.5,cat,-20\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["validate", "info"])
def test_columns_of_ones_own_are_described_by_new(here: Path, command: str) -> None:
    assert run(f"{command} fields.csv")[1].count("seldio new fields.csv describes columns of your own") == 1


def test_a_split_of_a_folder_is_a_reference(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "fold4_room1_mix001.csv").write_text("10,1,1,0\n")
    assert run("validate out -f dcase2023-submission -r d:dev-test")[0] == 0
    assert "SUB101" in run("validate out -f dcase2023-submission -r d")[1]
    assert "d has no clip in the split dev-other; it has dev-test-tau, dev-train-tau" in run(
        "validate out -r d:dev-other"
    )[1]  # fmt: skip


def test_what_is_named_twice_is_checked_once(here: Path) -> None:
    report = seldio.validate([here / "d", here / "d/metadata_dev", here / "d"])
    assert report.files == 2
    assert [path.name for path in (here / "d/metadata_dev").iterdir()]


def test_package_has_the_option_that_it_names(here: Path) -> None:
    for name in ("out", "development"):
        (here / name).mkdir()
    (here / "out" / "mix001.csv").write_text("10,1,0,1\n")
    (here / "development" / "fold4_room1_mix001.csv").write_text("10,1,-50,30\n")
    line = (
        "package out --year 2023 --label A_B_task3a_1 -o x.zip --development development"
        " --development-reference d/metadata_dev"
    )
    code, text = run(line)
    assert (code, "--allow-missing" in text) == (1, True), text
    assert "meta" in run(f"{line} --allow-missing")[1]


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["score:real onscreen:int", "score:flag"])
def test_a_year_that_cannot_be_read_is_refused_when_it_is_read(here: Path, columns: str) -> None:
    (here / "mine").mkdir()
    (here / "mine/lab2028.toml").write_text(YEAR.replace("score:real", columns))
    (here / "x.csv").write_text(LABELS)
    command = [sys.executable, "-m", "seldio", "validate", "x.csv"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"SELDIO_PLUGINS": "mine"}, check=False
    )
    code, text = done.returncode, done.stderr
    assert (code, "onscreen, and no other field, is of the kind flag" in text) == (2, True), text


@pytest.mark.slow
def test_a_score_in_columns_of_ones_own_is_no_fault(here: Path) -> None:
    (here / "mine").mkdir()
    (here / "mine/lab2028.toml").write_text(YEAR)
    (here / "mix001.csv").write_text(
        "frame,class,azimuth,elevation,score\n1,2,30,0,0.91\n2,2,31,0,0.82\n3,3,-31,0,0.1\n"
    )
    command = [sys.executable, "-m", "seldio", "info", "mix001.csv"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"SELDIO_PLUGINS": "mine"}, check=True
    )
    assert ("azimuth, elevation, score" in done.stdout, "SYN145" in done.stdout) == (True, False), done.stdout


def test_a_further_key_is_put_in_extra(here: Path) -> None:
    item = {"id": "q1", "audio": ["a.wav"], "question": "Is it?", "answer": "yes", "task": "t", "room": "hall"}
    (here / "q.jsonl").write_text(json.dumps(item) + "\n")
    assert 'put others in extra: "extra": {"room": …}' in run("validate q.jsonl -f items")[1]


def test_a_dataset_says_how_to_cite_it(here: Path) -> None:
    (here / "d/dataset.toml").write_text('name = "yard"\ntitle = "A yard"\n')
    assert "has no citation: write cite" in run("cite d")[1]
    (here / "d/dataset.toml").write_text('name = "yard"\ntitle = "A yard"\ncite = "@misc{yard}"\n')
    assert run("cite d")[1].strip() == "% yard: the data @misc{yard}"


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
    given, before = (CliRunner().invoke(app, shlex.split(line)) for line in (now, old))
    assert (before.exit_code, before.stdout) == (0, given.stdout)
    assert "; the old name is accepted until 0.4" in before.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [("--errors --table classes", "--errors is --table all now, which cannot be joined with classes"),
     ("--angle 5 --threshold angle=6", "--threshold angle was given twice (6, 5)"),
     ("--angle wide", "--threshold angle=wide: expected NAME=NUMBER"),
     ("--seed 1 --seed 2", "--seed was given twice (1, 2)"),
     ("--bootstrap --intervals bootstrap=200", "bootstrap was given twice"),
     ("--intervals jackknife,seed=3", "bootstrap is what draws them"),
     ("-- --angle", "--angle")],
)  # fmt: skip
def test_nothing_that_is_asked_for_is_lost(here: Path, options: str, said: str) -> None:
    code, text = run(f"score d/metadata_dev -r d/metadata_dev {options}")
    assert (code, said in text) == (2, True), text


def test_keywords_of_before_are_those_of_now(here: Path) -> None:
    labels = "d/metadata_dev"
    new = seldio.score(labels, labels, intervals="jackknife", threshold={"angle": 15})
    assert seldio.score(labels, labels, jackknife=True, angle=15, judge_json=True) == new
    for options in ({"intervals": Intervals(bootstrap=200), "jackknife": True}, {"by_clip": True, "table": "errors"}):
        with pytest.raises(UsageError, match="which cannot be joined with"):
            seldio.score(labels, labels, **options)
    with pytest.raises(UsageError, match='intervals="jackknife" is of seldio score'):
        seldio.compare(labels, labels, jackknife=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wide'"):
        seldio.score(labels, labels, wide=True)
