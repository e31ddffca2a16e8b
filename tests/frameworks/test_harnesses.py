"""Questions asked by evaluation harnesses with models that are none, and their results scored like any predictions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import seldio

RATE = 16_000
OPTIONS = ["Rain", "A door closing", "Music", "Applause"]
#: Option that is right and option that the model names, of each question.
ANSWERS = [(0, 0), (1, 1), (2, 3), (3, 3), (1, 0)]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    lines = []
    for number, (right, _) in enumerate(ANSWERS):
        path = tmp_path / "audio" / f"{number}.wav"
        path.parent.mkdir(exist_ok=True)
        soundfile.write(path, np.full((800, 4), [0.1, 0.2, 0.3, 0.4], np.float32), RATE)
        lines.append({"id": f"q{number:03}", "audio_path": f"audio/{number}.wav", "question_text": f"What is {number}?",
                      "multi_choice": OPTIONS, "answer": OPTIONS[right]})  # fmt: skip
    target = tmp_path / "dev.jsonl"
    target.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return target


def own(texts: list[str], folder: Path) -> Path:
    path = folder / "own.jsonl"
    rows = ({"id": f"q{number:03}", "prediction": text} for number, text in enumerate(texts))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def same_score(results: Path, texts: list[str], questions: Path) -> Any:
    """The score of what a harness wrote, once it is that of the same answers written by hand."""
    report = seldio.score(results, questions)
    by_hand = seldio.score(own(texts, questions.parent), questions)
    assert numbers(report) == numbers(by_hand)
    return report


def numbers(report: Any) -> dict[str, Any]:
    return {name: value for name, value in report.overall.items() if name != "system"}


@pytest.mark.filterwarnings("default")  # those of its own libraries
def test_inspect(questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import json_dataset
    from inspect_ai.log import write_eval_log
    from inspect_ai.model import ContentAudio, ModelOutput, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    monkeypatch.setattr("inspect_ai.model._model.count_text_tokens", len)  # its tokenizer is downloaded
    seldio.convert(questions, tmp_path / "inspect.jsonl", "inspect")
    dataset = json_dataset(str(tmp_path / "inspect.jsonl"))
    (heard,) = [part for part in dataset[0].input[0].content if isinstance(part, ContentAudio)]  # type: ignore[union-attr]
    assert Path(heard.audio).samefile(tmp_path / "audio/0.wav")
    texts = [f"ANSWER: {'ABCD'[said]}" for _, said in ANSWERS]
    model = get_model(
        "mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", text) for text in texts]
    )
    (log,) = eval(Task(dataset=dataset, solver=multiple_choice(), scorer=choice()), model=model, display="none",
                  log_dir=str(tmp_path / "logs"), log_format="json", max_samples=1, max_connections=1)  # fmt: skip
    assert log.status == "success", log.error
    assert log.results is not None
    theirs = log.results.scores[0].metrics["accuracy"].value
    (results,) = (tmp_path / "logs").glob("*.json")
    report = same_score(results, texts, questions)
    assert report.overall["letter"] == theirs == 0.6
    write_eval_log(log, str(tmp_path / "log.eval"))
    assert numbers(same_score(tmp_path / "log.eval", texts, questions)) == numbers(report)


def test_check_jsonschema_says_the_same(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", root / "schemas/ruenvaqa.schema.json"]
    for name, code in (("good", 0), ("bad-source", 1), ("bad-knowledge", 1)):
        case = root / f"tests/cases/rules/QAI126/{name}.json"
        done = subprocess.run([*command, case], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == code, done.stdout
