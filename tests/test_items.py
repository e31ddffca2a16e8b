"""Questions through the verbs: validate and convert them, and make them from labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import invoke, json_lines, records_of

import seldio
from seldio import validate
from seldio.errors import UsageError
from seldio.formats.qa_csv import JASCO
from seldio.synth.tree import write_demo

CASES = Path(__file__).parent / "cases" / "rules"


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set")
    write_demo(folder)
    return folder / "starss23"


ANIMALS = ["dog", "cat", "cow", "horse", "goat", "sheep"]


def choice(number: int, answer: str, choices: list[str]) -> dict[str, object]:
    return {"id": str(number), "audio_path": f"a{number}.wav", "question": "Which?", "choices": choices,
            "answer": answer, "modality": "sound"}  # fmt: skip


def test_a_text_is_filled_in_where_there_is_none(tmp_path: Path) -> None:
    source = json_lines(tmp_path / "q.jsonl", [choice(1, "cow", ANIMALS[:4]), choice(2, "no", ["yes", "no"])])
    bare = ["convert", str(source), "--to", "so-bench", "-o", str(tmp_path / "so.jsonl"), "--allow-loss", "all"]
    refused = invoke(*bare)
    assert 2 == refused.exit_code
    assert "2 rows: no task (1, 2). To set one value for all, use --fill task=TEXT" in refused.stderr
    each = {"audio": ["a.wav"], "question": "Which?"}
    lacking = [each | {"id": "1"}, each | {"id": "2", "task": "a"}, each | {"id": "3", "answer": "cow"}]
    with pytest.raises(UsageError, match="not a text"):
        seldio.convert(source, tmp_path / "so.jsonl", "so-bench", allow_loss="all", fill={"task": 3})
    with pytest.raises(UsageError, match=r"2 rows: no task \(1, 3\); 2 rows: no answer \(1, 2\)"):
        seldio.write(lacking, tmp_path / "so.jsonl", "so-bench")
    assert 0 == invoke(*bare, "--fill", "task=3").exit_code
    assert ["3", "3"] == [record["task_name"] for record in records_of(tmp_path / "so.jsonl")]
    seldio.convert(source, tmp_path / "api.jsonl", "so-bench", allow_loss="all", fill={"task": "mmar"})
    seldio.write(seldio.read(source), tmp_path / "w.jsonl", "so-bench", allow_loss="all", fill={"task": "mmar"})
    assert (tmp_path / "api.jsonl").read_bytes() == (tmp_path / "w.jsonl").read_bytes()
    assert b'"task_name": "mmar"' in (tmp_path / "w.jsonl").read_bytes()


def russian(number: int, source: str) -> dict[str, Any]:
    record = json.loads((CASES / "QAI126" / "good.json").read_text("utf-8"))["data"][source == "MUSIC-AVQA"]
    inputs = record["inputs"] | {"audio": f"samples/audio{number:03}.wav"}
    return record | {"inputs": inputs, "meta": record["meta"] | {"id": number}}


@pytest.mark.parametrize(
    ("music", "clotho", "says"),
    [
        (298, 298, ""),
        (400, 196, "67% are MUSIC-AVQA instead of 50%"),
        (290, 290, "580 questions, but ruEnvAQA has 596 or 606"),
        (200, 200, "400 of the 596 questions of ruEnvAQA"),
    ],
)
def test_half_of_ruenvaqa_is_from_each_source(music: int, clotho: int, says: str, tmp_path: Path) -> None:
    sources = ["MUSIC-AVQA"] * music + ["CLOTHO-AQA"] * clotho
    records = [russian(number, source) for number, source in enumerate(sources, 1)]
    path = tmp_path / "test.json"
    path.write_text(json.dumps({"access": "public", "data": records}, ensure_ascii=False), "utf-8")

    found = [one.message for one in validate(path).findings if one.code in ("QAI107", "QAI126", "QAI127", "QAI129")]

    assert len(found) == bool(says)
    assert not says or says in found[0]


@pytest.mark.parametrize(
    ("left_out", "code", "says"),
    [
        (range(70, 81), "QAI107", "69 of the 80 questions of JASCO: 70 to 80 missing"),
        ([3, 40, 41, 42], "QAI129", "76 of the 80 questions of JASCO: 3, 40 to 42 missing"),
    ],
)
def test_jasco_has_80_questions(left_out: Sequence[int], code: str | None, says: str, tmp_path: Path) -> None:
    cells = "Waves,Let's go.,They swim.,They build.,They are at the beach.,beach"
    rows = [
        f"{number},{cells.replace('Waves', f'Waves {number}')}\n" for number in range(1, 81) if number not in left_out
    ]
    path = tmp_path / "v0.csv"
    path.write_text(",".join(JASCO.columns) + "\n" + "".join(rows), "utf-8")

    found = [one for one in validate(path).findings if one.code != "QAI309"]

    assert [(one.code, one.message) for one in found] == ([(code, says)] if code else [])


def test_labels_become_questions_that_are_clean(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"

    done = invoke("convert", labels, "--to", "sobench-qa", "-o", out, "--seed", "7")

    assert 0 == done.exit_code, done.output
    records = records_of(out)
    assert len({record["qa_id"] for record in records}) == len(records) > 50
    assert {"QAI309": 1} == validate(out).by_rule()  # no recordings
