"""What is not looked at is said: a folder of which nothing is read, labels under another name, gzip (LAY118 to 120)."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from commands import laid

import seldio
from seldio.data import export

ROWS = "0,3,0,-150,20,181\n1,3,0,-150,20,181\n2,3,0,-150,21,182\n"
CLIPS = [f"fold4_room23_mix{number:03}" for number in range(1, 6)]


def folder(root: Path, suffix: str, text: str = ROWS) -> Path:
    rows = enumerate(CLIPS)
    return laid(root, {f"{clip}{suffix}": f"{text}{number + 5},7,1,30,{number},99\n" for number, clip in rows})


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


def test_an_empty_folder_is_said_to_be_one(tmp_path: Path) -> None:
    (found,) = seldio.validate(tmp_path)
    assert (found.code, found.message) == ("LAY118", "nothing was checked: there is no file in it")
    with pytest.raises(seldio.UsageError, match=r"no label files .*: there is no file in it"):
        seldio.convert(tmp_path, tmp_path / "out", "starss23")
