"""Answers compared: Wilson and McNemar against scipy and by hand; each way of scoring whole."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import seldio
from seldio.errors import DataError, UsageError
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.reports.tables import Interval
from seldio.scores.proportions import mcnemar, paired_difference, wilson

# --- by hand, and by scipy ----------------------------------------------------------------------------------------


def test_wilson_by_hand() -> None:
    low, high = wilson(8, 10)
    assert (low, high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert np.isnan(wilson(0, 0)).all()
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(first: int, second: int) -> None:
    p = mcnemar(first, second)
    assert p == mcnemar(second, first)
    assert 0 < p <= 1
    if first + second:
        tail = stats.binom.cdf(min(first, second), first + second, 0.5)
        assert p == pytest.approx(min(1, 2 * tail))
    assert mcnemar(1, 8) == pytest.approx(2 * 10 / 512)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_a_paired_difference_turns_with_its_sign(first: int, second: int, rest: int) -> None:
    count = first + second + rest
    if not count:
        assert np.isnan(paired_difference(0, 0, 0)).all()
        return
    low, high = paired_difference(first, second, count)
    assert (low, high) == pytest.approx(
        (-paired_difference(second, first, count)[1], -paired_difference(second, first, count)[0])
    )
    assert -1 <= low <= (second - first) / count <= high <= 1


def test_a_paired_difference_holds_the_truth() -> None:
    """Over all outcomes of 30 questions, of which systems have 5 and 12 % right alone."""
    held = 0.0
    for first in range(31):
        for second in range(31 - first):
            chance = stats.multinomial.pmf([first, second, 30 - first - second], 30, [0.05, 0.12, 0.83])
            low, high = paired_difference(first, second, 30)
            held += chance * (low <= 0.07 <= high)
    assert 0.94 < held < 0.98


# --- answers ------------------------------------------------------------------------------------------------------


def rows(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    return path


def question(number: int) -> dict[str, Any]:
    return {
        "id": f"q{number:02}", "audio": [f"{number // 2}.wav"], "task": ("count", "place")[number % 2],
        "question": "Which?", "options": ["left", "right"], "answer": "left",
    }  # fmt: skip


def answers(path: Path, wrong: set[int], count: int = 20) -> Path:
    """Predictions with the right option but for the questions *wrong*."""
    return rows(path, [{"id": f"q{n:02}", "prediction": "right" if n in wrong else "left"} for n in range(count)])


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return rows(tmp_path / "questions.jsonl", [question(number) for number in range(20)])


def test_choices_by_wilson_and_mcnemar(asked: Path, tmp_path: Path) -> None:
    one, two = answers(tmp_path / "one.jsonl", {0, 1, 2, 3, 4, 5, 6, 7}), answers(tmp_path / "two.jsonl", {0, 19})
    report = seldio.compare([one, two], asked, resamples=200)
    assert report.table("overall").rows[0][1] == Interval(0.6, *wilson(12, 20))
    assert report.table("differences").rows[0][1] == pytest.approx((0.3, *paired_difference(1, 7, 20)))
    assert report.table("tests").rows[0] == (
        "two.jsonl − one.jsonl: accuracy",
        mcnemar(1, 7),
        mcnemar(1, 7),
        "undecided",
    )
    assert report.table("discordant").rows == (("two.jsonl − one.jsonl", 11, 7, 1, 1),)
    by_task = {row[0]: row for row in report.table("task")}
    assert by_task["count"][1:4] == (10, 0.6, 0.9)
    assert [row[0] for row in report.table("questions")][:2] == ["q01", "q02"]
    assert report.table("questions").title == "8 of 8 questions that the systems differ in"
    assert "same-clips" in {notice.name for notice in report.notices}
    led = seldio.compare([one, two], asked, resamples=200, lead="letter")
    assert led.table("tests").rows[0][0] == "two.jsonl − one.jsonl: letter"
    twice = seldio.compare([one, one], asked, resamples=200)
    assert "same-system" in {notice.name for notice in twice.notices if notice.first}
    back = seldio.compare([two, one], asked, resamples=200)
    forth = report.table("differences").rows[0][1]
    assert isinstance(forth, Interval)
    assert back.table("differences").rows[0][1] == pytest.approx((-forth.value, -forth.high, -forth.low))


def test_questions_about_one_clip_belong_together(asked: Path, tmp_path: Path) -> None:
    one, two = answers(tmp_path / "one.jsonl", {0, 1, 2, 3, 4, 5, 6, 7}), answers(tmp_path / "two.jsonl", {0, 19})
    report = seldio.compare([one, two], asked, over="clips", resamples=2000)
    test = report.table("tests").rows[0]
    assert report.table("tests").title == "paired permutation test over clips; accuracy decides"
    # ten clips, in which the second is ahead by 1, 2, 2, 2 questions and behind by 1
    apart = np.array([1, 2, 2, 2, -1, 0, 0, 0, 0, 0]) / 20
    golden = stats.permutation_test((apart,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert test[1] == pytest.approx(golden.pvalue)
    with pytest.raises(UsageError, match="answers have questions and clips"):
        seldio.compare([one, two], asked, over="rooms")


def test_one_file_of_answers_has_intervals(asked: Path, tmp_path: Path) -> None:
    report = seldio.compare(answers(tmp_path / "one.jsonl", {0, 2}), asked, resamples=200)
    assert [table.name for table in report] == ["overall", "task"]
    assert report.table("task").rows[0][2] == Interval(0.8, *wilson(8, 10))


def test_missing_answers_and_strange_ones(asked: Path, tmp_path: Path) -> None:
    whole, part = answers(tmp_path / "whole.jsonl", {1}), answers(tmp_path / "part.jsonl", {2}, 12)
    with pytest.raises(DataError, match="without prediction"):
        seldio.compare([whole, part], asked)
    report = seldio.compare([whole, part], asked, allow_missing=True, resamples=200)
    assert report.over == "12 questions"
    assert "common-questions" in {notice.name for notice in report.notices}
    with pytest.raises(UsageError, match="1 file for 2 systems"):
        seldio.compare([whole, whole], asked, judgements=[part])


def test_graded_answers_of_so_bench(tmp_path: Path) -> None:
    """Azimuths are right or wrong, intervals partly right: the permutation test decides."""
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
    files = [rows(tmp_path / f"{name}.jsonl", each) for name, each in (("one", one), ("two", two))]
    report = seldio.compare(files, rows(tmp_path / "qa.jsonl", asked), resamples=500)
    scores = [seldio.score(file, tmp_path / "qa.jsonl").overall["accuracy"] for file in files]
    assert [row[1].value for row in report.table("overall")] == scores  # type: ignore[union-attr]
    assert report.table("tests").rows[0][1] == pytest.approx(2 * 2**-8, abs=0.02)
    assert report.table("tests").title == "paired permutation test over questions; accuracy decides"
    assert {row[0] for row in report.table("task")} == {"estimate_azimuth", "detect_time"}
    with pytest.raises(UsageError, match="average"):
        seldio.compare(files, tmp_path / "qa.jsonl", average="macro")


def judged(path: Path, worth: int) -> Path:
    """Outputs for all items of JASCO; every fourth is rated 1, the others *worth*."""
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
    report = seldio.compare(files, resamples=200)
    assert [row[1].value for row in report.table("overall")] == [0.25, 1.75]  # type: ignore[union-attr]
    assert report.table("tests").rows[0][-1] == "good.csv"
