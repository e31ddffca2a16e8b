"""Questions asked by evaluation harnesses with models that are none, and their results scored like any predictions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import seldio

RATE = 16_000
CASES = Path(__file__).parents[1] / "cases/answers"
OPTIONS = ["Rain", "A door closing", "Music", "Applause"]
#: Option that is right and option that the model names, of each question.
ANSWERS = [(0, 0), (1, 1), (2, 3), (3, 3), (1, 0)]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Questions of ADQA, and recordings of four channels."""
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
    """The same answers as predictions of seldio."""
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


def counted(report: Any) -> dict[str, float]:
    """What each harness counts, as seldio works it out."""
    (table,) = [table for table in report.tables if table.name == "harnesses"]
    return {row[0]: row[2] for row in table.rows}


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
    made = seldio.convert(questions, tmp_path / "inspect.jsonl", "inspect")
    assert not any("not found" in note for note in made.notes)
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
    assert counted(report)["inspect_ai"] == theirs
    write_eval_log(log, str(tmp_path / "log.eval"))
    assert numbers(same_score(tmp_path / "log.eval", texts, questions)) == numbers(report)


@pytest.mark.filterwarnings("default")
def test_inspect_finds_the_same_letters() -> None:
    """Every reply of the table of replies, and every form that inspect_ai knows, read by both."""
    inspect = pytest.importorskip("inspect_ai.solver._multiple_choice")
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.solver import TaskState

    from seldio.scores.harnesses import inspect_letter

    rows = [json.loads(line) for line in (CASES / "replies.jsonl").read_text("utf-8").splitlines()]
    forms = ["ANSWER: {}", "answer : {}.", "x\nANSWER: {}\ny", "ANSWER: ({})", "**ANSWER: {}**", "ANSWER: **{}**", "ANSWER: $ {} $",
             "ANSWER: {},", "The ANSWER: {} it is", "ANSWER:\n{}", "ANSWER: A\nANSWER: {}", "({})", "ANSWER: {} A", "ANSWER: {}\n\n"]  # fmt: skip
    texts = [text for _, text, _ in rows] + [
        form.format(said) for form in forms for said in ("A", "b", "AB", "A,B", "Z", "1")
    ]
    for text in texts:
        state = TaskState(model=ModelName("mockllm/model"), sample_id=1, epoch=1, input="?", messages=[], choices=OPTIONS,
                          output=ModelOutput.from_content("mockllm/model", text))  # fmt: skip
        theirs = inspect.parse_answers(state, False)
        assert inspect_letter(text, len(OPTIONS)) == next(iter(theirs), None), text


@pytest.mark.filterwarnings("default")
def test_lmms_eval(questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lmms_eval")
    from lmms_eval import evaluator
    from lmms_eval.api.model import lmms
    from lmms_eval.loggers import EvaluationTracker
    from lmms_eval.tasks import TaskManager

    class Scripted(lmms):
        """Names an option by its letter, and keeps the shape of what it was given to hear."""

        def __init__(self) -> None:
            super().__init__()
            self.heard: list[tuple[int, ...]] = []

        def generate_until(self, requests: list[Any]) -> list[str]:
            for request in requests:
                _, _, doc_to_visual, number, task, split = request.args
                (sound,) = doc_to_visual(self.task_dict[task][split][number])
                self.heard.append(sound["array"].shape)
            return [f"{'ABCD'[ANSWERS[request.args[3]][1]]}." for request in requests]

        def loglikelihood(self, requests: list[Any]) -> list[Any]:
            raise NotImplementedError

        def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
            raise NotImplementedError

    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    seldio.convert(questions, tmp_path / "task", "lmms-eval")
    manager, model = TaskManager("ERROR", include_path=str(tmp_path / "task"), include_defaults=False), Scripted()
    found = evaluator.simple_evaluate(model=model, tasks=["seldio_task"], task_manager=manager, log_samples=True,
                                      bootstrap_iters=0)  # fmt: skip
    assert model.heard == [(4, 800)] * len(ANSWERS)  # all channels
    theirs = found["results"]["seldio_task"]["accuracy,none"]
    tracker = EvaluationTracker(output_path=str(tmp_path / "out"))
    tracker.general_config_tracker.model_name_sanitized = "scripted"
    tracker.date_id = "now"
    tracker.save_results_samples("seldio_task", found["samples"]["seldio_task"])
    report = same_score(
        tmp_path / "out/scripted/now_samples_seldio_task.jsonl", [f"{'ABCD'[said]}." for _, said in ANSWERS], questions
    )
    assert report.overall["letter"] == theirs == 0.6
    assert counted(report)["lmms-eval"] == theirs


@pytest.mark.filterwarnings("default")
def test_ultraeval_audio(questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("audio_evals")
    from audio_evals.eval_task import EvalTask
    from audio_evals.models.model import Model
    from audio_evals.recorder import Recorder
    from audio_evals.registry import registry

    class Scripted(Model):
        """Names an option by its text."""

        def __init__(self) -> None:
            super().__init__(True)

        def _inference(self, prompt: Any, **_: Any) -> str:
            sound, text = (part["value"] for part in prompt[0]["contents"])
            assert Path(sound).is_file()
            assert "\nB. A door closing" in text
            return OPTIONS[ANSWERS[int(Path(sound).stem)][1]]

    seldio.convert(questions, tmp_path, "ultraeval-audio")
    monkeypatch.chdir(tmp_path)
    name = f"seldio_{''.join(each if each.isalnum() else '_' for each in tmp_path.name)}"
    registry.add_registry_paths(["registry"])
    task = registry.get_eval_task(name)
    monkeypatch.setattr("audio_evals.eval_task.merge_data4view", lambda *_: None)  # its spreadsheet wants pandas 2
    run = EvalTask(dataset=registry.get_dataset(name), prompt=registry.get_prompt(task.prompt), predictor=Scripted(),
                   evaluator=task.evaluator, post_process=[], agg=registry.get_agg(task.agg),
                   recorder=Recorder("res/run.jsonl"))  # fmt: skip
    overall, _, _ = run.run(0, max_workers=2)
    report = same_score(tmp_path / "res/run.jsonl", [OPTIONS[said] for _, said in ANSWERS], questions)
    assert overall["match(%)"] == 60
    assert report.overall["accuracy"] == 0.6
    assert "by-order" in [notice.name for notice in report.notices]
    assert sys.modules["audio_evals"]
