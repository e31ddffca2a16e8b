"""``seldio score`` and ``seldio rank`` as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import invoke, laid

import seldio
from seldio import formats
from seldio.formats import ItemFormat
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.schema.qa import Item, Prediction

LABELS = "".join(f"{frame},0,0,10,0,100\n{frame},1,0,-90,0,200\n" for frame in range(1, 26))
OUTPUT = "".join(f"{frame},0,0,0.98,0.17,0.0,0\n{frame},1,0,0.0,-1.0,0.0,0\n" for frame in range(1, 26))


def run(*arguments: object) -> Any:
    return invoke("score", *arguments)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    for clip in ("fold4_room1_mix001", "fold4_room12_mix002"):
        poor = OUTPUT.replace("0.98,0.17", "-0.98,0.17")
        laid(tmp_path, {f"ref/{clip}.csv": LABELS, f"good/{clip}.csv": OUTPUT, f"poor/{clip}.csv": poor})
    return tmp_path


def test_what_is_wrong_is_told(labels: Path) -> None:
    (labels / "poor" / "fold4_room1_mix001.csv").unlink()
    done = run(labels / "poor", "-r", labels / "ref")
    assert done.exit_code == 1
    assert "without prediction: fold4_room1_mix001" in done.stderr
    assert run(labels / "poor", "-r", labels / "ref", "--allow-missing").exit_code == 0
    for arguments, words in (
        ((), "--reference is required"),
        (("-r", labels / "ref", "--profile", "dcase2020"), "unknown profile 'dcase2020'"),
        (("-r", labels / "ref", "--profile", "dcase2026-0518"), "did you mean dcase2026?"),
        (("-r", labels / "ref", "--join", "official"), "--join does not apply here"),
        (("-r", labels / "ref", "--dry-run"), "require --judge MODEL"),
        (("-r", labels / "nowhere"), "no such file"),
    ):
        done = run(labels / "good", *arguments)
        assert done.exit_code == 2, words
        assert words in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_profiles_are_listed() -> None:
    done = run("--profiles")
    assert done.exit_code == 0
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert {"dcase2023", "dcase2025", "so-bench-paper", "jasco", "ruenvaqa", "mmau"} <= set(names)


def write(path: Path, format: str, rows: list[Any]) -> Path:
    path.write_bytes(formats.get(format, ItemFormat).write(rows))
    return path


@pytest.mark.parametrize(
    ("format", "key", "more"), [("mmau", "model_output", {"task": "sound"}), ("mmar", "answer_prediction", {})]
)
def test_questions_with_outputs_are_predictions(tmp_path: Path, format: str, key: str, more: dict[str, str]) -> None:
    """As MMAU's own evaluation takes them: one file with the questions, the answers and the outputs."""
    items = [
        Item(id=str(n), audio=[f"{n}.wav"], question="What?", options=["a dog", "a cat"], answer="a dog", **more,
             extra={"modality": "sound"})
        for n in range(4)
    ]  # fmt: skip
    reference = write(tmp_path / "qa.json", format, items)
    texts = ["a dog", "a cat", "", None]
    given = [
        item.model_copy(update={"extra": {**(item.extra or {}), key: text}})
        for item, text in zip(items, texts, strict=True)
    ]
    predictions = write(tmp_path / "out.json", format, [*given[:3], items[3]])  # the last one has no output
    assert "1 question of 4 without prediction (3)" in run(predictions).stderr
    for against in ((), ("-r", reference)):
        done = run(predictions, *against, "--allow-missing", "--json")
        assert done.exit_code == 0, done.stderr
        report = json.loads(done.stdout)["reports"][0]
        assert (report["profile"], report["over"]) == (format, "4 questions, 3 with a prediction")
        overall = report["tables"][0]["rows"][0]
        assert (overall["accuracy"], overall["over_all"]) == (1 / 3, 1 / 4)
    swapped = run(reference, "-r", predictions)
    assert "predictions and reference are swapped: " in swapped.stderr
    assert f"holds questions ({format}) without {key}" in run(reference, "-r", reference, "-p", format).stderr
    other = write(tmp_path / "other.json", format, [item.model_copy(update={"answer": "a cat"}) for item in items])
    done = run(predictions, "-r", other, "--allow-missing")
    assert "4 questions with another answer or other options" in " ".join(done.stdout.split())


def so_bench(tmp_path: Path) -> tuple[Path, Path]:
    items = [
        Item.model_validate({
            "id": f"qa_{n:020x}", "audio": [f"audio/test/foa_{n:020x}.wav"], "task": task, "question": question,
            "answer": answer, "canonical_answer": canonical, "answer_meta": meta, "split": "test",
            "extra": {"question_class": "detect", "answer_format": "structured_text", "audio_id": f"foa_{n:020x}"},
        })
        for n, (task, question, answer, canonical, meta) in enumerate((
            ("estimate_azimuth", "Which azimuth has the bell?", "The bell is at 30 degrees.", "30", {"azimuth_deg": 30.0}),
            ("multi_hop", "What sounds after the bell?", "A telephone alarm.", "telephone alarm", {}),
        ))
    ]  # fmt: skip
    reference = write(tmp_path / "qa.jsonl", "so-bench", items)
    answers = ["About 45 degrees to the left.", "Some sort of ringing contraption."]
    predictions = [
        Prediction(id=item.id, audio=item.audio, task=item.task, prediction=text)
        for item, text in zip(items, answers, strict=True)
    ]
    return write(tmp_path / "p.jsonl", "so-bench-predictions", predictions), reference


def test_so_bench_offline_and_with_a_judge(tmp_path: Path) -> None:
    given, reference = so_bench(tmp_path)
    done = run(given, "-r", reference, "--json")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)["reports"][0]
    assert report["profile"] == "so-bench"
    assert report["tables"][0]["rows"][0]["accuracy"] == 0.5
    assert run(given, "-r", reference, "--threshold", "azimuth=10").exit_code == 0
    assert "unknown threshold azimut;" in run(given, "-r", reference, "--threshold", "azimut=10").stderr
    assert "expected NAME=NUMBER" in run(given, "-r", reference, "--threshold", "azimuth").stderr
    judge = ("--judge", "m", "--judge-url", "http://127.0.0.1:9/v1")
    planned = run(given, "-r", reference, *judge, "--dry-run")
    assert planned.exit_code == 0, planned.stderr
    assert "1 request" in planned.stdout
    assert (
        run(given, "-r", reference, *judge, "--dry-run", "--judge-set", f"cache={tmp_path}/none.sqlite").exit_code == 0
    )
    assert not (tmp_path / "none.sqlite").exists()
    for wrong in ("timeout=0", "retries=-1", "temperature=9", "temperature=warm", "json=perhaps", "warmth=1"):
        assert run(given, "-r", reference, *judge, "--judge-set", wrong).exit_code == 2
    assert "require --judge MODEL" in run(given, "-r", reference, "--judge-set", "retries=1").stderr
    assert "--judge MODEL and --judge-url URL" in run(given, "-r", reference, "--judge", "m").stderr


def test_judgements_of_so_bench_made_elsewhere(tmp_path: Path) -> None:
    given, reference = so_bench(tmp_path)
    judged = tmp_path / "judged.jsonl"
    from seldio.answers.extract import judgement

    found = judgement(semantic={"source_match": True, "source_match_level": "exact_or_synonym"})
    judged.write_text(json.dumps({"id": f"qa_{1:020x}", "judgement": found}) + "\n")
    report = seldio.score(given, reference, judgements=str(judged))
    assert report.overall["accuracy"] == 1.0
    odd = found | {"prediction": {"count": 2.5, "motion_label": "static"}}  # nothing that the task reads
    judged.write_text(json.dumps({"id": f"qa_{1:020x}", "judgement": odd}) + "\n")
    assert seldio.score(given, reference, judgements=str(judged)).overall["accuracy"] == 1.0
    judged.write_text(json.dumps({"id": f"qa_{1:020x}", "judgement": {"semantic": {"source_match": "yes"}}}) + "\n")
    report = seldio.score(given, reference, judgements=str(judged))
    assert report.overall["accuracy"] == 0.5
    assert report.notices[0].text == (
        "1 of 1 reply of the judge was refused and gives no verdict: semantic.source_match is neither true nor false (1)"
    )
    with pytest.raises(seldio.UsageError, match="No such file"):
        seldio.score(given, reference, judgements=str(tmp_path / "none.jsonl"))
    with pytest.raises(seldio.UsageError, match="unknown threshold angle"):
        seldio.score(given, reference, threshold={"angle": 3})


def test_jasco_with_judgements_and_swapped_sides(tmp_path: Path) -> None:
    rows = [
        Prediction(
            id="1", prompt=prompt, prediction="A castle.", extra={"tgt_text": "sandcastle", "target_keywords": "x"}
        )
        for prompt in INSTRUCTIONS
    ]
    given = write(tmp_path / "p.csv", "jasco-predictions", rows)
    texts = [{"id": f"1/{n}", "judgement": f"Rating: {n % 3}\nOrientation: Both"} for n in range(1, 9)]
    judged = tmp_path / "judged.jsonl"
    judged.write_text("".join(json.dumps(text) + "\n" for text in texts))
    for profile in ("jasco", "jasco-eval.py"):
        report = seldio.score(given, judgements=str(judged), allow_missing=True, profile=profile)
        assert (report.profile, report.overall["best_mean"]) == (profile, 2.0)  # the best of eight instructions
    asked = write(
        tmp_path / "qa.json",
        "mmau",
        [Item(id="0", audio=["a.wav"], question="?", options=["x", "y"], answer="x", task="sound")],
    )
    said = write(tmp_path / "said.jsonl", "predictions", [Prediction(id="0", prediction="x")])
    assert "predictions and reference are swapped: " in run(asked, "-r", said).stderr
