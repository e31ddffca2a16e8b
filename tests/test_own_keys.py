"""Predictions under keys of the user's own: what is read, what is proposed, and what is said."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import json_lines

import seldio
from seldio.errors import UsageError
from seldio.formats.own_keys import spelled

OPTIONS = ["dog barking", "rain", "car horn", "violin"]
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
