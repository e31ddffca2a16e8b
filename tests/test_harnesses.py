"""Questions for evaluation harnesses, and what harnesses write; tests/frameworks runs the harnesses themselves."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import seldio
from seldio.errors import LossError, UsageError
from seldio.schema.qa import Item

SPATIAL = {
    "id": "1", "audio": ["a.wav"], "task": "estimate_azimuth", "question": "What is the azimuth of the bell?",
    "answer": "30 degrees", "canonical_answer": "30 degrees", "answer_meta": {"azimuth_deg": 30.0}, "language": "en",
}  # fmt: skip
CHOICE = {"id": "2", "audio": ["b.mp3"], "question": "Who?", "options": ["A man", "A woman"], "answer": "A woman"}


def items(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "qa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_nothing_is_lost(tmp_path: Path) -> None:
    given = items(tmp_path, SPATIAL, CHOICE)
    seldio.convert(given, tmp_path / "out", "inspect")
    seldio.convert(tmp_path / "out", tmp_path / "back.jsonl", "items")
    rows = [Item.model_validate_json(line) for line in (tmp_path / "back.jsonl").read_text("utf-8").splitlines()]
    expected = [Item.model_validate(SPATIAL), Item.model_validate(CHOICE)]
    assert rows == expected  # also by way of inspect, whose targets are letters


def test_a_part_of_a_recording_is_a_loss(tmp_path: Path) -> None:
    given = items(tmp_path, SPATIAL | {"start": 20.0, "end": 40.0})
    with pytest.raises(LossError, match="plays the whole recording"):
        seldio.convert(given, tmp_path / "out", "inspect")
    seldio.convert(given, tmp_path / "out", "inspect", allow_loss="start,end")
    with pytest.raises(UsageError, match="make them first"):
        seldio.convert(Path(__file__).parent / "cases/formats/starss23", tmp_path / "made", "inspect")


def test_what_a_harness_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"wav and mp3 recordings, not a\.flac"):
        seldio.convert(items(tmp_path, SPATIAL | {"audio": ["a.flac"]}), tmp_path / "out.jsonl", "inspect")


def test_other_inputs_of_inspect(tmp_path: Path) -> None:
    """A text instead of messages, a system message, unknown keys: all come back."""
    rows = [
        {"id": "1", "input": "Who speaks?", "target": "A", "choices": ["x", "y"]},
        {"id": "2", "input": [{"role": "system", "content": "Listen."}, {"role": "user", "content": "Who?"}],
         "target": "B", "metadata": {"task": "t", "mine": 1}, "sandbox": "docker"},
    ]  # fmt: skip
    path = items(tmp_path, *rows)
    table = seldio.read(path)
    assert table.column("question").to_pylist() == ["Who speaks?", "Who?"]
    seldio.convert(path, tmp_path / "p.parquet", "parquet")
    seldio.convert(tmp_path / "p.parquet", tmp_path / "back.jsonl", "inspect")
    assert (tmp_path / "back.jsonl").read_bytes() == path.read_bytes()


def test_bad_records_have_their_place(tmp_path: Path) -> None:
    path = items(tmp_path, {"id": "1", "input": [{"role": "user", "content": "?"}], "target": ["A", "B"]},
                 {"id": "2", "target": "A"})  # fmt: skip
    found = seldio.validate(path, format="inspect").findings
    assert {(one.code, one.line) for one in found if one.severity.value == "error"} == {
        ("SYN212", 1), ("SYN211", 2), ("QAI111", 2)
    }  # fmt: skip
    assert "target is an array, but must be text" in found[0].message


def test_stored_texts_of_a_log(tmp_path: Path) -> None:
    """inspect keeps long texts once, under their hash."""
    sample = {"id": 7, "epoch": 1, "output": {"completion": "attachment://ab"}, "attachments": {"ab": "A long answer"}}
    (tmp_path / "log.json").write_text(json.dumps({"version": 2, "status": "success", "samples": [sample]}))
    table = seldio.read(tmp_path / "log.json")
    assert (table["id"][0].as_py(), table["prediction"][0].as_py()) == ("7", "A long answer")


def sample(id: str, text: str, epoch: int = 1) -> tuple[str, bytes]:
    record = {"id": id, "epoch": epoch, "input": "?", "target": "A", "output": {"completion": text}}
    return f"samples/{id}_epoch_{epoch}.json", json.dumps(record).encode()


def zstandard(members: dict[str, bytes], checksum: int = 0) -> bytes:
    """A zip whose members are packed by Zstandard, as inspect packs them."""
    body, directory = b"", b""
    for name, data in members.items():
        packed = pa.Codec("zstd").compress(data, asbytes=True)
        sizes = (zlib.crc32(data) ^ checksum, len(packed), len(data), len(name))
        head = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 33, *sizes, 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + head + struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        directory += name.encode()
        body += b"PK\x03\x04" + head + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def deflated(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


LOGGED = {
    "_journal/start.json": b"{}", **dict([sample("1", "B"), sample("2", "ANSWER: A")]), "summaries.json": b"[]",
    "header.json": b'{"version": 2, "status": "success"}',
}  # fmt: skip


@pytest.mark.parametrize("pack", [zstandard, deflated])
def test_an_archive_scores_as_the_log_in_json_does(pack: Any, tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_bytes(pack(LOGGED))
    samples = [json.loads(data) for name, data in LOGGED.items() if name.startswith("samples/")]
    (tmp_path / "log.json").write_text(json.dumps({"version": 2, "status": "success", "samples": samples}))
    rows = [CHOICE | {"id": "1"}, CHOICE | {"id": "2"}]
    reports = [seldio.score(tmp_path / name, items(tmp_path, *rows)) for name in ("log.eval", "log.json")]
    numbers = [{name: cell for name, cell in report.overall.items() if name != "system"} for report in reports]
    assert numbers[0] == numbers[1]
    assert numbers[0]["items"] == 2
    assert numbers[0]["letter"] == 0.5
    tables = [seldio.read(tmp_path / name) for name in ("log.eval", "log.json")]
    assert tables[0].to_pylist() == tables[1].to_pylist()


def test_what_is_wrong_with_a_sample_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(deflated(LOGGED | {"samples/3_epoch_1.json": b'{"id": "3", "epoch": 1, "output": '}))
    found = seldio.validate(path).findings
    assert [(one.path, one.line) for one in found if one.severity.value == "error"] == [
        (f"{path}!/samples/3_epoch_1.json", 1)
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (zstandard(LOGGED | {"samples/3_epoch_1.json": b" " * (1 << 23)}), "SAF105"),
        (deflated(LOGGED | {"samples/../../x.json": b"{}"}), "SAF101"),
        (zstandard(LOGGED, checksum=1), "SAF107"),
        (zstandard(LOGGED)[:-200], "SAF107"),
        (zstandard(LOGGED).replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfc"), "SAF107"),
    ],
    ids=["bomb", "escape", "checksum", "cut off", "not packed so"],
)
def test_an_archive_that_is_none_or_too_much(data: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_bytes(data)
    assert code in {one.code for one in seldio.validate(tmp_path / "log.eval").findings}


@pytest.mark.parametrize("results", [0, 200_000])
def test_a_log_is_told_by_its_head_however_long_it_is(tmp_path: Path, results: int) -> None:
    """Sounds stand inside of the input, in front of what tells a sample; results in front of the samples."""
    sound = {"type": "audio", "audio": f"data:audio/wav;base64,{'A' * 1_200_000}", "format": "wav"}
    asked = [{"role": "user", "content": [sound, {"type": "text", "text": "Which?"}]}]
    more = {"choices": ["a", "b"], "target": "A", "output": {"completion": "ANSWER: A"}}
    samples = [{"id": id, "epoch": 1, "input": asked, **more} for id in ("q1", "q2")]
    log = {"version": 2, "status": "success", "eval": {"run_id": "x"}, "results": {"note": "x" * results}}
    path = tmp_path / "logs" / "log.json"
    path.parent.mkdir()
    path.write_text(json.dumps(log | {"samples": samples}, indent=2))
    for place in (path, path.parent):
        assert ["inspect-log"] == [group["format"] for group in seldio.info(place)["items"]]
        assert ["ANSWER: A"] * 2 == seldio.read(place)["prediction"].to_pylist()
        assert [] == seldio.validate(place).findings
