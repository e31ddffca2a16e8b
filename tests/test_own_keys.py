"""Predictions under keys of the user's own: what is read, what is proposed, and what is said."""

from __future__ import annotations

import csv
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import json_lines

import seldio
from seldio.errors import DataError, LossError, UsageError
from seldio.formats.own_keys import spelled

OPTIONS = ["dog barking", "rain", "car horn", "violin"]
FIELDS = "id=sample_id,prediction=response_text"
REPLIES = ["dog barking", "B. rain", "It is the violin.", "no idea"]  # the second, third and fourth right: 2 of 4


def questions() -> list[dict[str, Any]]:
    rights = ["dog barking", "rain", "car horn", "violin"]
    return [
        {"id": f"q{n}", "audio": [f"{n}.wav"], "question": "What is heard?", "options": OPTIONS, "answer": right}
        for n, right in enumerate(rights)
    ]


def replies() -> list[dict[str, Any]]:
    return [
        {"sample_id": f"q{n}", "model": "m", "asked": "What is heard?", "response_text": text, "seconds": n / 2}
        for n, text in enumerate(REPLIES)
    ]


def as_document(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"model": "m", "results": rows} if path.name == "wrapped.json" else rows))
    return path


def as_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], Path]] = {
    "own.jsonl": json_lines, "own.json": as_document, "wrapped.json": as_document, "own.csv": as_csv, "own.parquet": as_parquet,
}  # fmt: skip


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return json_lines(tmp_path / "ref.jsonl", questions())


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_with_own_keys_is_read_and_the_option_to_type_proposed(name: str, tmp_path: Path, asked: Path) -> None:
    path = WRITERS[name](tmp_path / name, replies())
    for check in (lambda: seldio.score(path, asked), lambda: seldio.validate(path, reference=asked)):
        with pytest.raises(UsageError, match="the keys are sample_id, model, asked, ") as error:
            check()
        assert error.value.text.endswith(f"try --fields {FIELDS}")
        assert str(error.value).endswith(f'try fields="{FIELDS}"')
    report = seldio.score(path, asked, fields=FIELDS)
    assert (report.overall["items"], report.overall["text"]) == (4, 0.5)
    assert not seldio.validate(path, reference=asked, fields=FIELDS).findings
    table = seldio.read(path, format=spelled(FIELDS))
    assert table["prediction"].to_pylist() == REPLIES
    assert json.loads(table["extra"][1].as_py())["model"] == "m"


def test_keys_inside_of_others_are_proposed_and_read(tmp_path: Path, asked: Path) -> None:
    rows = [
        {"custom_id": f"q{n}", "response": {"status": 200, "choices": [{"role": "assistant", "content": text}]}}
        for n, text in enumerate(REPLIES)
    ]
    path = json_lines(tmp_path / "batch.jsonl", rows)
    with pytest.raises(UsageError) as error:
        seldio.score(path, asked)
    fields = error.value.text.rpartition("try --fields ")[2]
    assert fields == "id=custom_id,prediction=response.choices.0.content"
    assert seldio.score(path, asked, fields=fields).overall["text"] == 0.5


def test_the_order_is_used_only_if_asked(tmp_path: Path, asked: Path) -> None:
    rows = [{"response_text": row["response_text"]} for row in replies()]
    path = as_csv(tmp_path / "own.csv", rows)
    with pytest.raises(UsageError, match=r"such as q0; .* try fields=.prediction=response_text. join=.order."):
        seldio.score(path, asked)
    with pytest.raises(DataError, match=r"join=.order. joins those that have none"):
        seldio.score(path, asked, fields="prediction=response_text")
    report = seldio.score(path, asked, fields="prediction=response_text", join="order")
    assert report.overall["text"] == 0.5
    assert "by-order" in {notice.name for notice in report.notices}
    with pytest.raises(DataError, match="3 predictions without ids for 4 questions"):
        seldio.score(as_csv(path, rows[:3]), asked, fields="prediction=response_text", join="order")
    with pytest.raises(DataError, match="these have some"):
        seldio.score(as_csv(path, replies()), asked, fields=FIELDS, join="order")


def test_lists_frames_and_tables_are_scored(asked: Path) -> None:
    table = pa.Table.from_pylist(replies())
    for rows in (replies(), table, table.to_pandas()):
        report = seldio.score(rows, asked, fields={"id": "sample_id", "prediction": "response_text"})
        assert (report.system, report.overall["text"]) == ("predictions", 0.5)
    plain = [{"id": row["sample_id"], "prediction": row["response_text"]} for row in replies()]
    assert seldio.score(plain, questions()).overall["text"] == 0.5
    assert seldio.score(pa.Table.from_pylist(plain), pa.Table.from_pylist(questions())).overall["text"] == 0.5
    with pytest.raises(UsageError, match="a list of dicts, a DataFrame or an Arrow table, not int"):
        seldio.score(7, asked)
    with pytest.raises(UsageError, match=r"predictions holds no predictions .* try fields=.id=sample_id"):
        seldio.score(replies(), asked)
    with pytest.raises(UsageError, match="None of them holds text that may be a reply"):
        seldio.score([{"sample_id": f"q{n}"} for n in range(4)], asked)


KEYS = ("audio", "id", "answer", "options", "task", "extra", "a b", "x.y", "a+b", "ключ")
VALUES: dict[str, Any] = {"text": "rain", "number": 7, "float": 2.5, "null": None, "list": ["rain"], "struct": {"a": 1}}


@pytest.mark.parametrize("name", WRITERS)
def test_a_reply_under_any_key_of_any_type_arrives(name: str, tmp_path: Path) -> None:
    for key in KEYS:
        rows = [{"n": str(n), "more": "x", key: value} for n, value in enumerate(VALUES.values())]
        if name == "own.parquet":  # a column has one type
            rows = [row | {key: None if row[key] is None else json.dumps(row[key])} for row in rows]
        path = WRITERS[name](tmp_path / name, rows)
        table = seldio.read(path, format=spelled({"id": "n", "prediction": key}))
        assert table["id"].to_pylist() == [str(n) for n in range(len(VALUES))], key
        replies_read = table["prediction"].to_pylist()
        assert replies_read[3] in (None, ""), key
        assert replies_read[1:3] == ["7", "2.5"], key


@pytest.mark.parametrize(
    "data",
    [b"sep=:\nn:reply\n1:rain\n", "n\treply\r\n1\train\r\n".encode("utf-16")],
)
def test_tables_of_a_spreadsheet_are_read(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_bytes(data)
    table = seldio.read(tmp_path / "own.csv", format=spelled("id=n,prediction=reply"))
    assert (table["id"].to_pylist(), table["prediction"].to_pylist()) == (["1"], ["rain"])


ASKED = "id=n,question=asked,options=A+B+C+D,answer=gold"


def own_questions(letters: bool = False) -> list[dict[str, Any]]:
    return [
        {"n": one["id"], "asked": one["question"], **dict(zip("ABCD", OPTIONS, strict=True))}
        | {"gold": "ABCD"[OPTIONS.index(one["answer"])] if letters else one["answer"], "level": "hard"}
        for one in questions()
    ]


@pytest.mark.parametrize("letters", [False, True], ids=["texts", "letters"])
@pytest.mark.parametrize("name", WRITERS)
def test_questions_with_own_keys_are_a_reference(name: str, letters: bool, tmp_path: Path, asked: Path) -> None:
    path = WRITERS[name](tmp_path / name, own_questions(letters))
    said = json_lines(tmp_path / "said.jsonl", replies())
    report = seldio.score(said, path, fields=FIELDS, reference_fields=ASKED)
    own = seldio.score(said, asked, fields=FIELDS)
    assert (report.overall["items"], report.overall["text"]) == (4, 0.5)
    assert report.overall | {"system": 0} == own.overall | {"system": 0}
    both = seldio.compare([said, said], path, fields=FIELDS, reference_fields=ASKED, intervals="bootstrap=100")
    assert both.overall["text"].value == 0.5
    assert not seldio.verify(report.signature, said, path, fields=FIELDS, reference_fields=ASKED)


@pytest.mark.parametrize("cell", [json.dumps(OPTIONS), repr(OPTIONS)], ids=["json", "python"])
def test_options_in_one_cell_are_a_list_and_empty_ones_are_left_out(cell: str, tmp_path: Path) -> None:
    rows = [{"n": row["n"], "choices": cell, "gold": row["gold"]} for row in own_questions()]
    path = as_csv(tmp_path / "own.csv", rows)
    table = seldio.read(path, format=spelled("id=n,options=choices,answer=gold", asked=True))
    assert table["options"].to_pylist() == [OPTIONS] * 4
    lacking = as_csv(path, [row | {"D": ""} if row["gold"] != "violin" else row for row in own_questions()])
    table = seldio.read(lacking, format=spelled(ASKED, asked=True))
    assert [len(options) for options in table["options"].to_pylist()] == [3, 3, 3, 4]


@pytest.mark.parametrize(
    ("fields", "asked", "said"),
    [
        ("id=sample_id", ASKED, "prediction=KEY among them"),
        ("id=a,reply=b", ASKED, "expected FIELD=KEY with a field of id, prediction"),
        ("id=a,prediction=", ASKED, "expected FIELD=KEY"),
        ("id=x,prediction=y", ASKED, "predictions has none of the keys x, y; its keys are sample_id, model"),
        (FIELDS, "id=n,question=asked", "answer=KEY among them"),
        (FIELDS, "id=n,prediction=gold", "expected FIELD=KEY with a field of id, answer"),
        (FIELDS, "id=x,answer=y", "reference has none of the keys x, y; its keys are n, asked"),
    ],
)
def test_fields_that_cannot_be_are_refused(fields: str, asked: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        seldio.score(replies(), own_questions(), fields=fields, reference_fields=asked)


@pytest.mark.parametrize("name", WRITERS)
def test_the_keys_of_questions_are_proposed(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path / name, own_questions())
    said = json_lines(tmp_path / "said.jsonl", [{"id": f"q{n}", "prediction": "rain"} for n in range(4)])
    with pytest.raises(UsageError, match=r"holds no questions in a known format\. seldio needs id, question") as error:
        seldio.score(said, path)
    fields = error.value.text.rpartition("try --reference-fields ")[2]
    assert fields == ASKED
    assert seldio.score(said, path, reference_fields=fields).overall["text"] == 0.25


def test_what_seems_to_hold_no_questions_gets_no_proposal(tmp_path: Path) -> None:
    said = json_lines(tmp_path / "said.jsonl", [{"id": "q0", "prediction": "rain"}])
    for name, text in (
        ("labels.csv", "0,1,0,10,0,100\n"),
        ("broken.json", '[{"answer": '),
        ("notes.csv", "a,b\n1,2\n"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(UsageError, match=r"holds 0 files of questions or predictions: choose one$"):
            seldio.score(said, tmp_path / name)


def test_a_place_in_a_csv_file_is_that_of_its_cell(tmp_path: Path, asked: Path) -> None:
    rows = [row | {"asked": "one\ntwo"} for row in replies()]
    rows[2]["sample_id"] = "q1"
    found = seldio.validate(as_csv(tmp_path / "own.csv", rows), reference=asked, fields=FIELDS).findings
    twice = next(finding for finding in found if "q1" in finding.message)
    assert (twice.line, twice.column) == (6, 1)


CHOICE = {"id": "2", "audio": ["b.mp3"], "question": "Who?", "options": ["A man", "A woman"], "answer": "A woman"}


def items(folder: Path, *rows: dict[str, Any]) -> Path:
    return json_lines(folder / "qa.jsonl", [*rows])


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


def test_a_part_of_a_recording_is_a_loss(tmp_path: Path) -> None:
    given = items(tmp_path, CHOICE | {"start": 20.0, "end": 40.0})
    with pytest.raises(LossError, match="plays the whole recording"):
        seldio.convert(given, tmp_path / "out", "inspect")
    seldio.convert(given, tmp_path / "out", "inspect", allow_loss="start,end")


def sample(id: str, text: str) -> tuple[str, bytes]:
    record = {"id": id, "epoch": 1, "input": "?", "target": "A", "output": {"completion": text}}
    record["attachments"] = {"ab": "ANSWER: A"}  # inspect keeps long texts once, under their hash
    return f"samples/{id}_epoch_1.json", json.dumps(record).encode()


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
    "_journal/start.json": b"{}", **dict([sample("1", "B"), sample("2", "attachment://ab")]), "summaries.json": b"[]",
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
    assert tables[0]["prediction"].to_pylist() == ["B", "ANSWER: A"]


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
