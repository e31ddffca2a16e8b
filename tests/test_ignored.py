"""What is not looked at is said: a folder of which nothing is read, labels under another name, gzip (LAY118 to 120)."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest
from commands import laid

import seldio
from seldio.data import export
from seldio.errors import InvalidData
from seldio.files.archives import zipped

ROWS = "0,3,0,-150,20,181\n1,3,0,-150,20,181\n2,3,0,-150,21,182\n"
CLIPS = [f"fold4_room23_mix{number:03}" for number in range(1, 6)]


def folder(root: Path, suffix: str, text: str = ROWS) -> Path:
    rows = enumerate(CLIPS)
    return laid(root, {f"{clip}{suffix}": f"{text}{number + 5},7,1,30,{number},99\n" for number, clip in rows})


def test_an_archive_in_an_archive_is_to_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "outer.zip"
    path.write_bytes(zipped({"inner.zip": zipped({"mix001.csv": ROWS.encode()})}))
    (found,) = seldio.validate(path)
    assert found.message == "nothing was checked: 1 file ending in .zip, an archive inside of this zip"
    assert found.hint == f"unpack {path}!/inner.zip first"
    (tmp_path / "empty").mkdir()
    (found,) = seldio.validate(tmp_path / "empty")
    assert (found.code, found.message) == ("LAY118", "nothing was checked: there is no file in it")
    with pytest.raises(seldio.UsageError, match=r"no label files .* in .*empty: there is no file in it"):
        seldio.convert(tmp_path / "empty", tmp_path / "out", "starss23")


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    plain = folder(tmp_path / "plain", ".csv")
    return laid(
        tmp_path / "packed", {f"{clip}.csv.gz": gzip.compress((plain / f"{clip}.csv").read_bytes()) for clip in CLIPS}
    )


def test_every_verb_reads_packed_files_like_plain_ones(packed: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    assert seldio.validate(packed).files == 5
    assert seldio.read(packed).equals(seldio.read(plain))
    scores = [seldio.score(each, plain).overall | {"system": ""} for each in (packed, plain)]
    assert scores[0] == scores[1]
    seldio.convert(packed, tmp_path / "out", "dcase2023-submission", allow_loss="all")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{clip}.csv" for clip in CLIPS]
    assert seldio.open(packed).events.table().num_rows == 20
    for kind in ("parquet", "webdataset"):
        export(packed, tmp_path / kind, kind)
        assert seldio.open(tmp_path / kind).events.table().num_rows == 20


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
        (gzip.compress(bz2.compress(ROWS.encode())), "SAF107"),
    ],
    ids=["bomb", "cut", "packed twice"],  # the bytes hold the time
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
