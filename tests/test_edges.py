"""The edges of the Python API and of the shell: what people type, pass and forget."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import soundfile
from commands import invoke

import seldio
from seldio.cli.completion import COMPLETIONS
from seldio.errors import InvalidData, UsageError
from seldio.scores.resampling import Intervals

ROWS = "".join(f"{n},{n % 13},{n % 2},{n * 3 - 60},{n - 20},{150 + n}\n" for n in range(40))


def folder(place: Path, numbers: Any, rows: str = ROWS) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (place / f"mix{number:03}.csv").write_text(rows)
    return place


def test_minus_180_stays_on_the_way_through_2026(tmp_path: Path) -> None:
    rows = "0,1,0,-180,0,150\n1,1,0,180,10,150\n2,1,0,-179,-90,150\n3,1,0,0,90,150\n"
    (tmp_path / "mix001.csv").write_text(rows)
    seldio.convert(tmp_path / "mix001.csv", tmp_path / "a.json", "dcase2026", format="starss23")
    seldio.convert(tmp_path / "a.json", tmp_path / "b.csv", "starss23", allow_loss=["all"])
    assert rows == (tmp_path / "b.csv").read_text()


def test_distances_to_fill_in_are_metres(tmp_path: Path) -> None:
    labels = folder(tmp_path / "in", [1], "".join(f"{n},{n % 13},1,{n * 3 - 60},{n - 20}\n" for n in range(40)))
    command = ("convert", labels, "--to", "starss23", "--format", "starss22", "-o", tmp_path / "out")
    missing = invoke(*command)
    assert 2 == missing.exit_code
    assert "--fill distance=METRES (metres" in missing.stderr
    assert "distance=0" not in missing.stderr
    far = invoke(*command, "--fill", "distance=200")
    assert 2 == far.exit_code
    assert "the unit is metres" in far.stderr
    assert "metres" in invoke(*command, "--fill", "distance=far").stderr
    assert 0 == invoke(*command, "--fill", "distance=2.5").exit_code
    assert "0,0,1,-60,-20,250\n" == (tmp_path / "out/mix001.csv").read_text().splitlines(keepends=True)[0]
    assert "distance in metres" in " ".join(invoke("convert", "--help").stdout.split())


@pytest.mark.parametrize("allowed", ["source,distance", "source, distance", ["source", "distance"], "all"])
def test_one_name_is_no_list_of_letters(tmp_path: Path, allowed: Any) -> None:
    labels = folder(tmp_path / "in", [1])
    assert seldio.convert(labels, tmp_path / "a", "dcase2023-submission", format="starss23", allow_loss=allowed).losses
    table = seldio.read(labels, format="starss23")
    assert seldio.write(table, tmp_path / "b.csv", "dcase2023-submission", allow_loss=allowed)
    with pytest.raises(seldio.UsageError, match=r"allow_loss=.*sauce.*: unknown field"):
        seldio.write(table, tmp_path / "b.csv", "dcase2023-submission", allow_loss="sauce")
    with pytest.raises(seldio.UsageError, match=r'fill: values by field, such as fill={"distance": 2.5}, not list'):
        seldio.convert(labels, tmp_path / "a", "starss22", fill=["distance=2"])  # type: ignore[arg-type]
    with pytest.raises(seldio.UsageError, match="the output is a path or a binary stream, not Table"):
        seldio.write(labels, table, "dcase2023-submission")  # type: ignore[arg-type]


def test_a_data_frame_is_written(tmp_path: Path) -> None:
    table = seldio.read(folder(tmp_path / "in", [1]), format="starss23")
    frame = table.to_pandas()
    for data in (frame, frame.set_index(frame.index + 7), table.cast(wider(table.schema))):
        seldio.write(data, tmp_path / "a.csv", "starss23")
        assert ROWS == (tmp_path / "a.csv").read_text()
    hand = pd.DataFrame({"clip": "a", "frame": [0, 1], "class_id": [1, 2], "source": 0, "azimuth": [10.0, -20],
                         "elevation": 0, "distance": [1.5, 2]})  # fmt: skip
    seldio.write(hand, tmp_path / "a.csv", "starss23")
    assert "0,1,0,10,0,150\n1,2,0,-20,0,200\n" == (tmp_path / "a.csv").read_text()


def wider(schema: pa.Schema) -> pa.Schema:
    """Types as other programs have them."""
    wide = {"int32": pa.int64(), "double": pa.float64()}
    return pa.schema([(field.name, wide.get(str(field.type), pa.string())) for field in schema])


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
        for kind in ("metadata_dev", "foa_dev"):
            (place / kind / "dev-train-sony").mkdir(parents=True, exist_ok=True)
        (place / f"metadata_dev/dev-train-sony/fold3_room{room}_mix001.csv").write_text(ROWS)
        sound = np.zeros((96_000, 4), np.float32)
        soundfile.write(place / f"foa_dev/dev-train-sony/fold3_room{room}_mix001.wav", sound, 24_000)
    return place


def test_rooms_are_numbers_however_they_are_written(tmp_path: Path) -> None:
    dataset = seldio.open(tree(tmp_path))
    for room in (22, "22", "022", ["22"], [22, "99"]):
        assert ["fold3_room22_mix001"] == dataset.select(room=room).clips["clip"].to_pylist()  # type: ignore[arg-type]
    with pytest.raises(seldio.UsageError, match="room room22: the column room of the clip table has numbers"):
        dataset.select(room="room22")


def test_a_recording_that_is_not_there_is_named(tmp_path: Path) -> None:
    media = seldio.open(tree(tmp_path)).media["fold3_room22_mix001"]
    assert (4, 100) == media.foa.read(0, 100).shape
    for name in ("mic", "stereo", "video"):
        with pytest.raises(seldio.UsageError, match=f"fold3_room22_mix001 has no {name}; it has foa"):
            getattr(media, name)
    assert media.recording("mic") is None


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(
    "command", ["formats", "rule --all", "validate labels", "validate labels --output concise", "info labels"]
)
def test_a_closed_pipe_is_no_failure(tmp_path: Path, command: str) -> None:
    folder(tmp_path / "labels", range(1, 4), "37,1,0,999,0,0\n" * 2000)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "seldio", *command.split()],
        cwd=tmp_path,
        stdout=writer,
        stderr=-1,
        text=True,
        check=False,
    )
    os.close(writer)
    assert 141 == done.returncode
    assert "" == done.stderr


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


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([n for n in range(1, 79) if n != 41], ["no mix041 among 77 files from mix001 to mix078"]),
        ([n for n in range(1, 79) if n not in (41, 50)], ["no mix041, mix050 among 76 files from mix001 to mix078"]),
        (range(1, 79), []),
        (range(1, 79, 2), []),  # a choice
        ([1, 2, 4], []),  # too few to say
    ],
)
def test_a_gap_in_numbered_files(tmp_path: Path, numbers: Any, expected: list[str]) -> None:
    labels = folder(tmp_path / "in", numbers, ROWS.replace("0,", "1,", 1))
    report = seldio.validate(labels, format="starss23", ignore="SUB116")  # the files are all the same
    assert expected == [finding.message for finding in report.findings if finding.code == "SUB111"]
    assert not report.reaches(seldio.Severity.WARNING) or "SUB111" not in report.by_rule()
    with_reference = seldio.validate(labels, format="starss23", reference="mix001..mix078").by_rule()
    assert "SUB111" not in with_reference


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("validate labls", "no such file or folder: labls; did you mean labels?"),
        ("validate ./labls", "no such file or folder: ./labls; did you mean ./labels?"),
        ("info labels/mix01.csv", "no such file or folder: labels/mix01.csv; did you mean labels/mix001.csv?"),
        ("convert labls --to starss22", "no such file, folder or format: labls; did you mean labels?"),
        ("convert starss32 --to starss22", "no such file, folder or format: starss32; did you mean starss23?"),
        ("convert labels --to so-banch", "unknown format 'so-banch'; did you mean so-bench?"),
        ("convert labels --to hf-parquett -o x", "unknown format 'hf-parquett'; did you mean hf-parquet?"),
        ("convert labels --to zzz", "unknown format 'zzz'; seldio formats lists those of labels and questions"),
        ("validate zzz", "no such file or folder: zzz\n"),
    ],
)
def test_a_slip_of_the_keyboard_is_met_with_what_was_meant(
    command: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "mix001.csv").write_text("0,1,0,-50,30,181\n")
    monkeypatch.chdir(tmp_path)
    done = invoke(*command.split())
    assert done.exit_code == 2
    assert words in done.stderr


def test_completion_offers_names() -> None:
    assert {"so-bench", "so-dataset"} <= {name for name, _ in COMPLETIONS["target"]("so-")}
    assert {"mic", "webdataset"} <= {name for name, _ in COMPLETIONS["target"]("")}
    assert "dcase2024" in {name for name, _ in COMPLETIONS["profile"]("dcase")}
    assert "LAB301" in {name for name, _ in COMPLETIONS["code"]("lab3")}
    assert "radians" in {name for name, _ in COMPLETIONS["code"]("radi")}


def test_recordings_of_starss_have_gaps_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in [*range(1, 8), *range(9, 16)]:
        (tmp_path / f"in/fold3_room21_mix{number:03}.csv").write_text(ROWS)
    assert "SUB111" not in seldio.validate(tmp_path / "in", format="starss23").by_rule()


CASES = [case for folder in ("own-keys", "labels") for case in (Path(__file__).parent / "cases" / folder).iterdir()]


@pytest.mark.parametrize("case", sorted(CASES), ids=lambda case: case.name)
def test_what_people_met(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each command there are its exit code and a pattern of its output, a line each."""
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    expected = iter((case / "expected.txt").read_text().splitlines())
    for command in (case / "cmd.txt").read_text().splitlines():
        done = invoke(*shlex.split(command)[1:])
        assert done.exit_code == int(next(expected)), done.output
        assert re.search(next(expected), done.output, re.MULTILINE), done.output


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


def answered(line: str) -> tuple[int, str]:
    """Run a command; return its exit code and all that it printed, in one line."""
    done = invoke(*shlex.split(line))
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
    assert answered(f"{command} fields.csv")[1].count("seldio new fields.csv describes columns of your own") == 1


def test_a_split_of_a_folder_is_a_reference(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "fold4_room1_mix001.csv").write_text("10,1,1,0\n")
    assert answered("validate out -f dcase2023-submission -r d:dev-test")[0] == 0
    assert "SUB101" in answered("validate out -f dcase2023-submission -r d")[1]
    assert "d has no clip in the split dev-other; it has dev-test-tau, dev-train-tau" in answered(
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
    code, text = answered(line)
    assert (code, "--allow-missing" in text) == (1, True), text
    assert "meta" in answered(f"{line} --allow-missing")[1]


def with_year(here: Path, year: str, verb: str, rows: str) -> tuple[int, str]:
    """Run a command on a file of *rows* in a process that knows a *year* from outside."""
    (here / "mine").mkdir()
    (here / "mine/lab2028.toml").write_text(year)
    (here / "mix001.csv").write_text(rows)
    command, env = [sys.executable, "-m", "seldio", verb, "mix001.csv"], os.environ | {"SELDIO_PLUGINS": "mine"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["score:real onscreen:int", "score:flag"])
def test_a_year_that_cannot_be_read_is_refused_when_it_is_read(here: Path, columns: str) -> None:
    code, text = with_year(here, YEAR.replace("score:real", columns), "validate", LABELS)
    assert (code, "onscreen, and no other field, is of the kind flag" in text) == (2, True), text


@pytest.mark.slow
def test_a_score_in_columns_of_ones_own_is_no_fault(here: Path) -> None:
    rows = "frame,class,azimuth,elevation,score\n1,2,30,0,0.91\n2,2,31,0,0.82\n3,3,-31,0,0.1\n"
    code, text = with_year(here, YEAR, "info", rows)
    assert (code, "azimuth, elevation, score" in text, "SYN145" in text) == (0, True, False), text


def test_a_further_key_is_put_in_extra(here: Path) -> None:
    item = {"id": "q1", "audio": ["a.wav"], "question": "Is it?", "answer": "yes", "task": "t", "room": "hall"}
    (here / "q.jsonl").write_text(json.dumps(item) + "\n")
    assert 'put others in extra: "extra": {"room": …}' in answered("validate q.jsonl -f items")[1]


def test_a_dataset_says_how_to_cite_it(here: Path) -> None:
    (here / "d/dataset.toml").write_text('name = "yard"\ntitle = "A yard"\n')
    assert "has no citation: write cite" in answered("cite d")[1]
    (here / "d/dataset.toml").write_text('name = "yard"\ntitle = "A yard"\ncite = "@misc{yard}"\n')
    assert answered("cite d")[1].strip() == "% yard: the data @misc{yard}"


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
    code, text = answered(f"score d/metadata_dev -r d/metadata_dev {options}")
    assert (code, said in text) == (2, True), text


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
