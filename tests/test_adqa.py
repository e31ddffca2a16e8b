"""DCASE 2026 Task 5 (ADQA): its three files are read, written, checked, converted and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.formats import ItemFormat, get

CASES = Path(__file__).parent / "cases/formats-items"
DEV = CASES / "adqa/dev.jsonl"
TRAIN = CASES / "adqa-train/train.jsonl"


def submission(path: Path, *rows: tuple[str, str]) -> Path:
    path.write_text("question,answer\n" + "".join(f"{id},{answer}\n" for id, answer in rows), "utf-8")
    return path


def test_top_1_accuracy(tmp_path: Path) -> None:
    given = submission(tmp_path / "output.csv", ("dev_0001", "A door closing"), ("dev_0002", "a woman."))
    assert not seldio.validate(given, reference=DEV).findings
    report = seldio.score(given, DEV)
    assert report.profile == "dcase2026-task5"
    assert report.overall["accuracy"] == 0.5  # the text counts as it is written
    assert report.overall["text"] == 1.0
    assert [notice.name for notice in report.notices] == ["only-read", "not-the-text"]


def test_missing_answers_are_wrong(tmp_path: Path) -> None:
    given = submission(tmp_path / "output.csv", ("dev_0001", "A door closing"))
    with pytest.raises(seldio.SeldioError, match="without prediction"):
        seldio.score(given, DEV)
    report = seldio.score(given, DEV, allow_missing=True)
    assert report.overall["accuracy"] == 0.5
    assert report.notices[0].text.endswith("counted as wrong")


def test_a_template_is_a_submission(tmp_path: Path) -> None:
    seldio.convert(DEV, tmp_path / "output.csv", "adqa-submission")
    assert (tmp_path / "output.csv").read_text().splitlines()[:2] == ["question,answer", 'dev_0001,""']


def test_training_and_development_become_each_other(tmp_path: Path) -> None:
    seldio.convert(TRAIN, tmp_path / "dev.jsonl", "adqa")
    record = json.loads((tmp_path / "dev.jsonl").read_text())
    assert (record["question_text"], record["multi_choice"][1]) == ("How many bells ring?", "Two")
    assert "gemini_cot" in record  # nothing is lost
    seldio.convert(tmp_path / "dev.jsonl", tmp_path / "train.jsonl", "adqa-train")
    assert (tmp_path / "train.jsonl").read_bytes() == TRAIN.read_bytes()


def test_an_index_as_answer_has_its_place(tmp_path: Path) -> None:
    """AVQA's files have the same keys, but the answer is a number."""
    record = json.loads(DEV.read_text().splitlines()[0]) | {"answer": 1}
    (tmp_path / "avqa.jsonl").write_text(json.dumps(record) + "\n")
    done = CliRunner().invoke(app, ["validate", str(tmp_path / "avqa.jsonl")])
    assert done.exit_code == 1
    assert "SYN212" in done.stdout
    assert "answer is 1, but must be text" in done.stdout


@pytest.mark.parametrize("text", ["question,answer,more\n1,a,b\n", "id,answer\n1,a\n", "answer,question\na,1\n"])
def test_other_tables_are_no_submission(text: str) -> None:
    assert get("adqa-submission", ItemFormat).likes(text.encode(), "x.csv") < 0.5


def test_further_keys_of_any_kind_are_a_loss(tmp_path: Path) -> None:
    given = tmp_path / "predictions.jsonl"
    given.write_text('{"id": "1", "prediction": "a", "extra": {"seconds": 2}}\n')
    with pytest.raises(seldio.LossError, match="extra"):
        seldio.convert(given, tmp_path / "output.csv", "adqa-submission", format="predictions")
    seldio.convert(given, tmp_path / "output.csv", "adqa-submission", format="predictions", allow_loss="extra")
    assert (tmp_path / "output.csv").read_text() == "question,answer\n1,a\n"
