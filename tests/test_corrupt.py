"""A corrupt archive is called one, by every command; what is wrong in a dataset.toml is said in words of seldio."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import seldio
from seldio.cli import app

ROWS = "".join(f"{frame},1,0,{frame % 90},5,100\n" for frame in range(400))


def whole() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for clip in ("fold4_room1_mix001", "fold4_room1_mix002"):
            archive.writestr(f"metadata_dev/{clip}.csv", ROWS)
    return stream.getvalue()


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def member(data: bytes) -> bytes:
    at = 30 + len("metadata_dev/fold4_room1_mix001.csv") + 8
    return data[:at] + bytes(255 - each for each in data[at : at + 20]) + data[at + 20 :]


def directory(data: bytes) -> bytes:
    at = data.rfind(b"PK\x01\x02") + 10
    return data[:at] + b"\xff" * 18 + data[at + 18 :]


def header(data: bytes) -> bytes:
    return b"PK\x03\x04" + data[4:].replace(b"PK\x03\x04", b"XXXX", 1)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (cut, "A corrupt zip archive (the list of its files, at its end, is missing)"),
        (member, "broken"),
        (directory, "A corrupt zip archive (the list of its files says that"),
        (header, "A corrupt zip archive (the header of the file is broken)"),
    ],
)
def test_a_corrupt_zip_is_a_corrupt_zip(broken: Callable[[bytes], bytes], says: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.zip"
    path.write_bytes(broken(whole()))
    found = [finding for finding in seldio.validate(path).findings if finding.code.startswith("SAF")]
    assert [finding.code for finding in found] == ["SAF107"]
    assert says in found[0].message
    for command in (["convert", path, "--to", "parquet", "-o", tmp_path / "x.parquet"], ["score", path, "-r", path]):
        result = CliRunner().invoke(app, [str(each) for each in command])
        assert result.exit_code == 1, result.output
        assert "SAF107" in result.stderr
        assert says in result.stderr
        assert "bug in seldio" not in result.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = 3\n", "name: must be text, not 3"),
        ('name = "x"\nclasses = 5\n', "classes: must be a table, not 5"),
        ('name = "x"\norder = "first"\n', "order: must be "),
        ('name = "x"\nformats = "csv"\n', "formats: must be a list, not csv"),
    ],
)
def test_wrong_types_in_a_description_are_said_in_plain_words(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "dataset.toml").write_text(text)
    messages = [finding.message for finding in seldio.validate(tmp_path) if finding.code == "DAT102"]
    assert any(says in message for message in messages), messages
    assert not any("Input should be" in message for message in messages)
