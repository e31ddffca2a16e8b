"""What is not looked at is said: a folder of which nothing is read, labels under another name, gzip (LAY118 to 120)."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest
from commands import invoke

import seldio
from seldio.errors import InvalidData
from seldio.files.archives import zipped

ROWS = "0,3,0,-150,20,181\n1,3,0,-150,20,181\n2,3,0,-150,21,182\n"
CLIPS = [f"fold4_room23_mix{number:03}" for number in range(1, 6)]


def folder(root: Path, suffix: str, text: str = ROWS) -> Path:
    root.mkdir(exist_ok=True)
    for number, clip in enumerate(CLIPS):
        (root / f"{clip}{suffix}").write_text(text + f"{number + 5},7,1,30,{number},99\n")
    return root


def said(path: Path, **options: str) -> list[tuple[str, str]]:
    return [(finding.code, finding.message) for finding in seldio.validate(path, **options)]


def test_labels_called_txt_are_an_error_that_says_so(tmp_path: Path) -> None:
    text = "nothing was checked: 5 files called .txt, which look like labels (starss23) but are not named *.csv"
    assert said(folder(tmp_path / "labels", ".txt")) == [("LAY118", text)]


@pytest.mark.parametrize("options", [(), ("--select", "SUB"), ("--fail-on", "error")])
def test_a_check_of_nothing_does_not_pass(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = invoke("validate", folder(tmp_path / "labels", ".txt"), *options)
    assert (result.exit_code, "look like labels (starss23)" in result.output) == (1, True)
    ignored = invoke("validate", tmp_path / "labels", "--ignore", "LAY118")
    assert ignored.exit_code == 0


def test_an_archive_in_an_archive_is_to_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "outer.zip"
    path.write_bytes(zipped({"inner.zip": zipped({"mix001.csv": ROWS.encode()})}))
    (found,) = seldio.validate(path)
    assert found.message == "nothing was checked: 1 file called .zip, an archive inside of this zip"
    assert found.hint == f"unpack {path}!/inner.zip first"


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    assert said(tmp_path) == [("LAY118", "nothing was checked: there is no file in it")]


def test_some_labels_under_another_suffix(tmp_path: Path) -> None:
    root = folder(tmp_path / "labels", ".csv")
    (root / f"{CLIPS[0]}.csv").rename(root / f"{CLIPS[0]}.txt")
    (root / "README.txt").write_text("These are labels.\n")
    text = f"1 file called .txt is not read, with rows like those of the labels next to them: {CLIPS[0]}.txt"
    assert said(root) == [("LAY119", text)]


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    root = folder(tmp_path / "packed", ".csv")
    for path in sorted(root.iterdir()):
        path.with_suffix(".csv.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    return root


def test_packed_files_are_read_and_named(packed: Path) -> None:
    text = "5 files are compressed with gzip: seldio reads them, others may not"
    assert said(packed) == [("LAY120", text)]
    assert seldio.validate(packed).files == 5


def test_every_verb_reads_packed_files_like_plain_ones(packed: Path, tmp_path: Path) -> None:
    plain = folder(tmp_path / "plain", ".csv")
    assert seldio.read(packed).equals(seldio.read(plain))
    scores = [seldio.score(each, plain).overall | {"system": ""} for each in (packed, plain)]
    assert scores[0] == scores[1]
    seldio.convert(packed, tmp_path / "out", "dcase2023-submission", allow_loss="all")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{clip}.csv" for clip in CLIPS]
    assert seldio.open(packed).events.table().num_rows == 20


def test_a_fault_in_a_packed_file_has_its_line(packed: Path) -> None:
    path = packed / f"{CLIPS[0]}.csv.gz"
    path.write_bytes(gzip.compress(f"{ROWS}7,99,0,0,0,9\n".encode()))
    (error,) = [found for found in seldio.validate(packed) if found.code != "LAY120"]
    assert (error.path, error.line, error.column, error.fixable) == (str(path), 4, 3, False)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (gzip.compress(bytes(3 << 20)), "SAF105"),  # a bomb: more than 200 times as large
        (gzip.compress(ROWS.encode())[:-6], "SAF107"),
        (gzip.compress(bytes(1 << 19)) + gzip.compress(ROWS.encode()), "SAF105"),  # more than its end declares
        (gzip.compress(bz2.compress(ROWS.encode())), "SAF107"),
    ],
    ids=["bomb", "cut", "longer than declared", "packed twice"],  # the bytes hold the time
)
def test_packed_files_are_bounded(packed: Path, data: bytes, code: str) -> None:
    path = packed / f"{CLIPS[0]}.csv.gz"
    path.write_bytes(data)
    assert [(found.code, found.path) for found in seldio.validate(packed) if found.code != "LAY120"] == [
        (code, str(path))
    ]
    with pytest.raises(InvalidData):
        seldio.read(packed)


def test_a_file_that_is_there_packed_and_plain_is_read_once(packed: Path) -> None:
    (packed / f"{CLIPS[0]}.csv").write_text(ROWS)
    report = seldio.validate(packed)
    assert [found.code for found in report] == ["LAY120", "SAF104"]
    assert report.files == 5


@pytest.mark.parametrize("command", ["convert {} --to dcase2020 -o out", "score {} --reference ref", "view {} -o a.html",
                                     "score ref --reference {}", "diff {} ref", "convert {} --to so-bench -o q.jsonl"])  # fmt: skip
def test_other_commands_say_why_there_are_no_labels(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "ref", ".csv")
    folder(tmp_path / "texts", ".txt")
    (tmp_path / "empty").mkdir()
    reasons = {
        "texts": "5 files called .txt, which look like labels (starss23) but are not named *.csv; rename them to .csv",
        "empty": "there is no file in it",
    }
    for name, reason in reasons.items():
        result = invoke(*command.format(name).split())
        assert result.exit_code == 2
        assert reason in result.output


HEADED = "frame,class,source,azimuth,distance,onscreen\n" + "".join(f"{n},1,0,{n - 20},150,0\n" for n in range(40))
PLAIN = "".join(f"{n},1,0,{n - 50},10,{150 + n}\n" for n in range(60))


def laid(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


@pytest.mark.parametrize("labels", [HEADED, PLAIN], ids=["headed", "plain"])
def test_a_list_is_passed_over_by_every_verb(labels: str, tmp_path: Path) -> None:
    folder = laid(tmp_path, mix001=labels, mix002=labels, rooms="clip,room\nmix001,kitchen\nmix002,hall\n")
    assert [one.code for one in seldio.validate(folder) if one.path.endswith("rooms.csv")] == ["SYN901"]
    assert set(seldio.open(folder).events) == {"mix001", "mix002"}
    done = seldio.convert(folder, folder / "out.parquet", "parquet")
    assert done.rows[1] == 2 * (len(labels.splitlines()) - labels.startswith("frame"))


def test_a_list_that_is_no_text_is_an_error_for_every_verb(tmp_path: Path) -> None:
    folder = laid(tmp_path, mix001=PLAIN, mix002=PLAIN)
    (folder / "rooms.csv").write_bytes("clip,room\nmix001,küche\n".encode("latin-1"))
    assert [one.code for one in seldio.validate(folder) if one.severity.value == "error"] == ["SYN101"]
    with pytest.raises(seldio.SeldioError, match=r"rooms\.csv"):
        list(seldio.open(folder).events.items())


@pytest.mark.parametrize("labels", [HEADED, PLAIN], ids=["headed", "plain"])
def test_words_in_a_file_that_is_called_like_labels_are_an_error(labels: str, tmp_path: Path) -> None:
    folder = laid(tmp_path, mix001=labels, mix003=labels, mix002="one,two,three\nno,data,here\n")
    assert [one.code for one in seldio.validate(folder) if one.severity.value == "error"] == ["SYN901"]
    with pytest.raises(seldio.SeldioError, match=r"mix002\.csv"):
        list(seldio.open(folder).events.items())


def test_a_header_of_labels_is_an_error_whatever_the_file_is_called(tmp_path: Path) -> None:
    folder = laid(tmp_path, street=PLAIN, park="time,label,where\none,dog,left\ntwo,cat,right\n")
    assert [one.code for one in seldio.validate(folder) if one.severity.value == "error"] == ["SYN901"]
    with pytest.raises(seldio.SeldioError, match=r"park\.csv"):
        seldio.convert(folder, tmp_path / "out.parquet", "parquet")
