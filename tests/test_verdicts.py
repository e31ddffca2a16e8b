"""Lists of replies: what is in them, in which order."""

from __future__ import annotations

import csv
import json
import wave
from pathlib import Path
from typing import Any

import pytest

import seldio
from seldio.errors import UsageError

OPTIONS = ["dog barking", "rain", "car horn", "violin"]
#: The right answer and the reply of two systems, by question; the last of the first system is missing.
REPLIES = {
    "q0": ("rain", "rain", "rain"), "q1": ("violin", "A. dog barking", "violin"), "q2": ("rain", "B", "rain"),
    "q3": ("car horn", "I cannot tell.", "I cannot tell."), "q4": ("<b>rain", "rain", "rain"),
    "q5": ("violin", None, "violin"),
}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, there in (("q0.wav", True), ("q1.wav", False)):
        if there:
            with wave.open(str(tmp_path / name), "wb") as sound:
                sound.setparams((1, 2, 8000, 0, "NONE", ""))
                sound.writeframes(bytes(800))
    rows: dict[str, list[dict[str, Any]]] = {"ref": [], "one": [], "two": []}
    for id, (right, *given) in REPLIES.items():
        rows["ref"].append({"id": id, "audio": [f"{id}.wav"], "task": "sound", "question": "What <b>is</b> heard?",
                            "options": [*OPTIONS, "<b>rain"], "answer": right})  # fmt: skip
        for name, text in zip(("one", "two"), given, strict=True):
            rows[name] += [{"id": id, "prediction": text}] if text is not None else []
    paths = {name: tmp_path / f"{name}.jsonl" for name in rows}
    for name, path in paths.items():
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows[name]))
    return paths


def listed(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_replies_are_listed_the_doubtful_ones_first(files: dict[str, Path], tmp_path: Path) -> None:
    plain = seldio.score(files["one"], files["ref"], allow_missing=True)
    report = seldio.score(files["one"], files["ref"], allow_missing=True, items=tmp_path / "all.jsonl")
    assert report == plain
    found = listed(tmp_path / "all.jsonl")
    assert [(row["id"], row["doubt"]) for row in found] == [
        ("q3", "refused to answer"), ("q5", "no prediction"), ("q1", "wrong"), ("q2", "wrong"), ("q4", "wrong"),
        ("q0", ""),
    ]  # fmt: skip
    by_id = {row["id"]: row for row in found}
    assert len(by_id) == 6
    assert (by_id["q2"]["reply"], by_id["q2"]["read"], by_id["q2"]["by_read"]) == ("B", "rain", True)
    assert (by_id["q1"]["read"], by_id["q1"]["verdict"]) == ("dog barking", "wrong")
    assert by_id["q5"]["verdict"] == "no prediction"
    assert by_id["q5"]["reply"] is None
    assert sum(row["by_accuracy"] for row in found) / 5 == report.overall["accuracy"]
    seldio.score(files["one"], files["ref"], allow_missing=True, items=tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["id"] for row in rows] == [row["id"] for row in found]
    assert rows[0]["options"] == " | ".join([*OPTIONS, "<b>rain"])


def test_a_reading_of_words_that_differs_from_the_official_one_comes_first_and_lines_stay(tmp_path: Path) -> None:
    question = {"id": "q0", "audio": ["a.wav"], "question": "What?", "options": OPTIONS, "answer": "rain"}
    reply = "It is not dog barking.\nIt is rain,\r\n=I am sure."
    seldio.score([{"id": "q0", "prediction": reply}], [question], items=tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["reply"] == reply
    assert (row["doubt"], row["read"]) == ("the official reading and ours differ", "rain")


def test_two_systems_part_where_their_marks_do(files: dict[str, Path], tmp_path: Path) -> None:
    seldio.compare([files["one"], files["two"]], files["ref"], allow_missing=True, items=tmp_path / "part.jsonl")
    found = listed(tmp_path / "part.jsonl")
    assert {row["id"] for row in found} == {"q1", "q2", "q5"}
    assert {(row["verdict_1"], row["verdict_2"]) for row in found} == {("wrong", "right"), ("no prediction", "right")}


def test_other_suffixes_are_refused_before_anything_is_scored(files: dict[str, Path]) -> None:
    for call in (seldio.score, lambda one, *more, **options: seldio.compare([one, one], *more, **options)):
        with pytest.raises(UsageError, match=r"choose a name that ends in \.jsonl or \.csv"):
            call(files["one"], files["ref"], items="all.txt")  # type: ignore[operator]


def test_a_list_takes_the_place_of_no_input(files: dict[str, Path], tmp_path: Path) -> None:
    before = {name: path.read_bytes() for name, path in files.items()}
    for name in ("one", "ref"):
        with pytest.raises(UsageError, match="one of the files that are scored"):
            seldio.score(files["one"], files["ref"], allow_missing=True, items=tmp_path / "." / f"{name}.jsonl")
        with pytest.raises(UsageError, match="one of the files that are scored"):
            seldio.compare([files["two"], files["one"]], files["ref"], allow_missing=True, items=files[name])

        with pytest.raises(UsageError, match="one of the files that are scored"):
            seldio.score(tmp_path, files["ref"], allow_missing=True, items=files[name])  # in a folder of them

    assert before == {name: path.read_bytes() for name, path in files.items()}


def test_replies_of_so_bench_are_listed(tmp_path: Path) -> None:
    asked = {"qa_id": "1", "audio_path": "a.wav", "task_name": "estimate_azimuth", "question": "Where?", "answer": "30°",
             "answer_meta": {"azimuth_deg": 30.0}, "question_class": "azimuth"}  # fmt: skip
    (tmp_path / "ref.jsonl").write_text(json.dumps(asked) + "\n")
    (tmp_path / "out.jsonl").write_text(json.dumps({"qa_id": "1", "prediction": "At 35 degrees."}) + "\n")
    seldio.score(tmp_path / "out.jsonl", tmp_path / "ref.jsonl", items=tmp_path / "all.jsonl")
    (row,) = listed(tmp_path / "all.jsonl")
    assert (row["verdict"], row["layer"]) == ("right", "read")
    assert "35" in row["read"]
