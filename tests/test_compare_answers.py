"""Answers compared by recordings: tests against scipy, equally good systems; each way of scoring whole."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import json_lines, rows_of
from scipy import stats

import seldio
from seldio.errors import DataError, UsageError
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.reports.tables import Column, Interval, UnreliableInterval, WeakInterval
from seldio.scores import intervals
from seldio.scores.intervals import wilson


def test_wilson_by_hand() -> None:
    low, high = wilson(8, 10)
    assert (low, high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1


def question(number: int) -> dict[str, Any]:
    return {
        "id": f"q{number:02}", "audio": [f"{number // 2}.wav"], "task": ("count", "place")[number % 2],
        "question": "Which?", "options": ["left", "right"], "answer": "left",
    }  # fmt: skip


def answers(path: Path, wrong: set[int], count: int = 20) -> Path:
    return json_lines(path, [{"id": f"q{n:02}", "prediction": "right" if n in wrong else "left"} for n in range(count)])


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return json_lines(tmp_path / "questions.jsonl", [question(number) for number in range(20)])


def test_recordings_are_resampled_with_all_their_questions(asked: Path, tmp_path: Path) -> None:
    one, two = answers(tmp_path / "one.jsonl", {0, 1, 2, 3, 4, 5, 6, 7}), answers(tmp_path / "two.jsonl", {0, 19})
    report = seldio.compare([one, two], asked)
    assert report.table("tests").title == "paired permutation test over recordings; accuracy decides"
    # ten recordings, in which the second is ahead by 1, 2, 2, 2 questions and behind by 1
    apart = np.array([1, 2, 2, 2, -1, 0, 0, 0, 0, 0]) / 20
    golden = stats.permutation_test((apart,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert report.table("tests").rows[0][1] == pytest.approx(golden.pvalue)
    difference = report.table("differences").rows[0][1]
    assert difference.value == pytest.approx(0.3)
    led = seldio.compare([one, two], asked, lead="letter", intervals="bootstrap=200")
    assert led.table("tests").rows[0][0] == "two.jsonl − one.jsonl: letter"
    back = seldio.compare([two, one], asked).table("differences").rows[0][1]
    assert back == pytest.approx((-difference.value, -difference.high, -difference.low))
    for over in ("rooms", "questions"):
        with pytest.raises(UsageError, match=f'intervals="over={over}"'):
            seldio.compare([one, two], asked, intervals=f"over={over}")


def test_one_number_has_one_interval(asked: Path, tmp_path: Path) -> None:
    files = [answers(tmp_path / f"{name}.jsonl", wrong) for name, wrong in (("one", {0, 2, 5, 9}), ("two", {3}))]
    own = json_lines(tmp_path / "own.jsonl", [question(number) | {"audio": [f"{number}.wav"]} for number in range(20)])
    for questions in (asked, own):
        scored = rows_of(seldio.score(files[0], questions), "intervals")["all"]
        both = rows_of(seldio.compare(files, questions), "overall")["one.jsonl"]
        assert [both[name] for name in ("accuracy", "read")] == [scored[name] for name in ("accuracy", "read")]
    assert scored["accuracy"] == Interval(0.8, *wilson(16, 20))


def test_missing_answers_and_strange_ones(asked: Path, tmp_path: Path) -> None:
    whole, part = answers(tmp_path / "whole.jsonl", {1}), answers(tmp_path / "part.jsonl", {2}, 12)
    with pytest.raises(DataError, match="without prediction"):
        seldio.compare([whole, part], asked)
    report = seldio.compare([whole, part], asked, allow_missing=True, intervals="bootstrap=200")
    assert report.over == "12 questions"
    assert "common-questions" in {notice.name for notice in report.notices}
    with pytest.raises(UsageError, match="1 file for 2 systems"):
        seldio.compare([whole, whole], asked, judgements=[part])


def test_graded_answers_of_so_bench(tmp_path: Path) -> None:
    asked, one, two = [], [], []
    for number in range(16):
        span = number % 2 == 0
        truth = {"time_span": [1.0, 3.0]} if span else {"azimuth_deg": 90.0}
        answer = "From 1.0 s to 3.0 s." if span else "The azimuth is 90 degrees."
        task = "detect_time" if span else "estimate_azimuth"
        asked.append({
            "qa_id": f"q{number}", "split": "test", "audio_id": "a", "audio_path": f"{number}.wav", "task_name": task,
            "question_class": "x", "answer_format": "structured_text", "question": "Which?", "answer": answer,
            "canonical_answer": answer, "answer_meta": truth,
        })  # fmt: skip
        one.append({"qa_id": f"q{number}", "prediction": "From 1.5 s to 3.0 s." if span else "90 degrees"})
        two.append({"qa_id": f"q{number}", "prediction": "From 1.0 s to 3.0 s." if span else "90 degrees"})
    files = [json_lines(tmp_path / f"{name}.jsonl", each) for name, each in (("one", one), ("two", two))]
    report = seldio.compare(files, json_lines(tmp_path / "qa.jsonl", asked), intervals="bootstrap=500")
    scores = [seldio.score(file, tmp_path / "qa.jsonl").overall["accuracy"] for file in files]
    assert [row[1].value for row in report.table("overall")] == scores  # type: ignore[union-attr]
    assert report.table("tests").rows[0][1] == pytest.approx(2 * 2**-8, abs=0.02)
    with pytest.raises(UsageError, match="average"):
        seldio.compare(files, tmp_path / "qa.jsonl", average="macro")
    vague = json_lines(tmp_path / "vague.jsonl", [each | {"prediction": "somewhere over there"} for each in one])
    odd = [{"id": f"q{n}", "judgement": {"prediction": {"angle_deg": "left"}}} for n in range(1, 16, 2)]
    judgements = str(json_lines(tmp_path / "odd.jsonl", odd))
    alone = seldio.score(vague, tmp_path / "qa.jsonl", judgements=judgements)
    both = seldio.compare([vague, vague], tmp_path / "qa.jsonl", judgements=[judgements] * 2, intervals="bootstrap=100")
    named = [[notice.name for notice in report.notices] for report in (alone, both)]
    assert ["refused-replies" in names for names in named] == [True, True]


def judged(path: Path, worth: int) -> Path:
    names = ("id", "audio", "n_frames", "audio_sound", "spoken_text", "prompt", "with_speech", "audio_only_target",
             "speech_only_target", "target_keywords", "tgt_text", "allm_output", "llama3_extract")  # fmt: skip
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, names)
        table.writeheader()
        for item in range(1, 81):
            rating = worth if item % 4 else 1
            table.writerows(
                dict.fromkeys(names, "x") | {
                    "id": item, "audio": f"{item}.wav", "n_frames": 16000, "with_speech": True, "prompt": prompt,
                    "llama3_extract": f"Rating: {rating}\nOrientation: Good",
                }
                for prompt in INSTRUCTIONS
            )  # fmt: skip
    return path


def test_points_of_jasco(tmp_path: Path) -> None:
    files = [judged(tmp_path / "poor.csv", 0), judged(tmp_path / "good.csv", 2)]
    report = seldio.compare(files, intervals="bootstrap=200")
    assert [row[1].value for row in report.table("overall")] == [0.25, 1.75]  # type: ignore[union-attr]
    assert report.table("tests").rows[0][-1] == "good.csv"


COLUMN = Column("accuracy", "accuracy", "%", 1, "higher")


def cells(values: np.ndarray, clips: np.ndarray) -> tuple[object, ...]:  # type: ignore[type-arg]
    (row,) = intervals.table([COLUMN], values[:, None], clips, {}).rows
    return row


@pytest.mark.parametrize(("count", "kind", "how"), [
    (4, UnreliableInterval, "too few"), (12, WeakInterval, "Wilson"), (20, Interval, "Wilson"),
])  # fmt: skip
def test_few_are_marked(count: int, kind: type, how: str) -> None:
    row = cells(np.arange(count) % 2.0, np.arange(count))
    assert type(row[3]) is kind
    assert row[4] == how


def test_questions_that_share_a_recording_count_together() -> None:
    values = np.repeat(np.array([1.0] * 30 + [0.0] * 20), 10)
    _, n, recordings, found, how = cells(values, np.repeat(np.arange(50), 10))
    assert (n, recordings, how) == (500, 50, "bootstrap over recordings")
    low, high = wilson(30, 50)  # ten copies of a question tell nothing new
    assert (found.low, found.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))
    assert cells(values, np.repeat(np.arange(50), 10)) == cells(values, np.repeat(np.arange(50), 10))
    right = cells(np.ones(100), np.repeat(np.arange(50), 2))
    assert right[3] == Interval(1.0, *wilson(50, 50))


def test_many_recordings_have_the_spread_of_their_sums() -> None:
    random = np.random.default_rng(0)
    values, clips = (random.random(60_000) < 0.3).astype(float), np.arange(60_000) // 2
    found = cells(values, clips)[3]
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.sqrt(0.3 * 0.7 / 60_000), rel=0.05)
