"""A report takes the place of nothing that it is about."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seldio.cli import app

ROW = "0,1,0,10,0,100\n"
ASKED = {"id": "q0", "audio": ["a.wav"], "question": "?", "options": ["rain", "dog"], "answer": "rain"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("ref", "pred", "pred2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mix001.csv").write_text(ROW)
    with zipfile.ZipFile(tmp_path / "ref.zip", "w") as archive:
        archive.writestr("mix001.csv", ROW)
    (tmp_path / "asked.jsonl").write_text(json.dumps(ASKED) + "\n")
    (tmp_path / "said.jsonl").write_text(json.dumps({"id": "q0", "prediction": "rain"}) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "score said.jsonl --reference asked.jsonl -o said.jsonl",
        "score said.jsonl --reference asked.jsonl -o asked.jsonl",
        "score pred --reference ref -o pred/mix001.csv",
        "score pred --reference ref -o ./pred/../ref/mix001.csv",
        "compare pred ref --reference ref -o ref/mix001.csv",
        "compare said.jsonl --reference asked.jsonl -o said.jsonl",
        "validate pred -o pred/mix001.csv --output csv",
        "validate pred/mix001.csv -o pred/mix001.csv",
        "validate said.jsonl --reference asked.jsonl -o asked.jsonl",
        "diff pred ref -o ref/mix001.csv",
        "score pred --reference ref.zip:dev-test -o ref.zip",
        "compare pred pred2 --reference ref.zip:dev-test -o ref.zip",
        "package pred --year 2023 --label A_B_task3a_1 -o ref.zip --development pred --development-reference ref.zip:all",
    ],
)
def test_a_report_takes_the_place_of_no_input(command: str, place: Path) -> None:
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    run = CliRunner().invoke(app, command.split())
    assert run.exit_code == 2
    said = " ".join(run.output.split())
    assert "this is one of the files that are read; choose another name" in said or "is read; choose another" in said
    assert before == {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("output", ["html", "json", "sarif", "text"])
def test_a_report_may_lie_beside_them_and_be_written_again(output: str, place: Path) -> None:
    for _ in range(2):
        command = ["validate", "pred", "--output", output, "-o", f"pred/report.{output}"]
        run = CliRunner().invoke(app, command)
        assert run.exit_code in (0, 1), run.output
        assert (place / "pred" / f"report.{output}").stat().st_size
