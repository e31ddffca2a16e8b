"""Scores next to published results: over the same clips and with the same limits only, official rows named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pages import in_process

import seldio
from seldio.formats.about import about
from seldio.formats.datasets import expected_clips
from seldio.reports.tables import Interval, ScoreReport


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels and the outputs of two systems for each split that has published results, one row a clip."""
    root = tmp_path_factory.mktemp("splits")
    for split in ("dev-test", "eval"):
        for number, clip in enumerate(sorted(expected_clips("starss23", split))):
            for side, row in (("labels", "0,{},0,10,0,200"), ("first", "0,{},15,0"), ("second", "0,{},90,0")):
                path = root / split / side / f"{clip}.csv"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(row.format(number % 13) + "\n")
    return root


def scored(folder: Path, **options: Any) -> ScoreReport:
    """The score of the first system of a split, next to published results."""
    given = {"profile": "dcase2023", "baselines": True} | options
    return seldio.score(folder / "first", folder / "labels", **given)


def rows(report: ScoreReport) -> dict[str, dict[str, Any]]:
    """The rows of the overall score but its own, by system."""
    table = report.tables[0]
    found = [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows]
    assert found[0]["system"] == report.system
    return {row["system"]: row for row in found[1:]}


def told(report: ScoreReport) -> str:
    return next(notice.text for notice in report.notices if notice.name == "no-baselines")


def test_baselines_of_the_same_split_are_further_rows_with_what_is_official(folder: Path) -> None:
    report = scored(folder / "dev-test")
    found = rows(report)
    assert [row["published_as"] for row in found.values()] == [
        "official baseline", "official baseline", "official baseline", "not official", "official baseline",
        "not official",
    ]  # fmt: skip
    foa = found["Track A, FOA"]
    assert [foa[name] for name in ("ER", "F", "LE", "LR", "SELD")] == [0.57, pytest.approx(0.299), 22, 0.477, None]
    plain = seldio.score(folder / "dev-test/first", folder / "dev-test/labels", profile="dcase2023")
    assert {**report.overall, "published_as": None} == {**plain.overall, "published_as": None}  # the score is the same
    assert any(notice.name == "baselines" and "not exactly reproducible" in notice.text for notice in report.notices)


def test_of_a_micro_average_what_was_published_of_it_is_shown(folder: Path) -> None:
    foa = rows(scored(folder / "dev-test", average="micro"))["Track A, FOA"]
    assert [foa[name] for name in ("ER", "F", "LE", "LR")] == [0.57, pytest.approx(0.487), None, None]


def test_of_the_evaluation_set_both_tracks_are_shown_with_intervals_and_ranks(folder: Path) -> None:
    found = rows(scored(folder / "eval"))
    assert len(found) == 17
    best, baseline = found["Du_NERCSLIP_task3b_1"], found["AV_Baseline_FOA"]
    assert best["ER"] == Interval(0.31, 0.27, 0.34)
    assert best["F"] == pytest.approx((0.636, 0.589, 0.695))
    assert best["published_as"] == "rank 1, track B"
    assert baseline["published_as"] == "official baseline, rank 10, track B"


def test_another_split_is_refused_with_the_reason(folder: Path) -> None:
    few = folder / "few"
    for side in ("labels", "first"):
        (few / side).mkdir(parents=True, exist_ok=True)
        for path in sorted((folder / "dev-test" / side).iterdir())[:5]:
            (few / side / path.name).write_bytes(path.read_bytes())
    report = scored(few)
    assert not rows(report)
    assert told(report).endswith(
        "they are over dev-test of starss23 (78 clips) and eval of starss23 (79 clips), and this score over 5 clips of "
        "dev-test"
    )


def test_clips_that_were_left_out_are_another_split(folder: Path, tmp_path: Path) -> None:
    for path in sorted((folder / "dev-test/first").iterdir())[1:]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    report = seldio.score(tmp_path, folder / "dev-test/labels", profile="dcase2023", baselines=True, allow_missing=True)
    assert "this score over 77 clips of dev-test" in told(report)


@pytest.mark.parametrize(("options", "why"), [({"threshold": {"angle": 30}}, "another angle"), ({"classes": "starss"}, "another classes"),
                                              ({"profile": "dcase2024-angles"}, "none are known for the profile dcase2024-angles")])  # fmt: skip
def test_other_limits_and_profiles_are_refused_with_the_reason(options: dict[str, Any], why: str, folder: Path) -> None:
    report = scored(folder / "dev-test", **options)
    assert not rows(report)
    assert why in told(report)


def test_the_limits_of_the_profile_by_name_are_no_others(folder: Path) -> None:
    assert len(rows(scored(folder / "dev-test", threshold={"angle": 20}))) == 6


@pytest.mark.parametrize("output", ["text", "markdown", "html", "latex", "csv"])
def test_every_output_names_the_official_rows(output: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "dev-test")
    command = ["score", "first", "second", "-r", "labels", "-p", "dcase2023", "--baselines", "--output", output]
    text, code = in_process(command)
    assert code == 0
    assert "official baseline" in text
    if output == "text":
        assert text.count("0.620     27.8") == 1  # of both systems once
    alone, code = in_process([*command, "--table", "overall"])
    assert code == 0
    assert alone.count("official baseline") == 4


def test_json_keeps_them_and_a_ranking_leaves_them_out(folder: Path, tmp_path: Path) -> None:
    report = scored(folder / "eval")
    (tmp_path / "one.json").write_text(report.to_json())
    kept = json.loads(report.to_json())["reports"][0]["tables"][0]["rows"]
    assert kept[1] == {
        "system": "Du_NERCSLIP_task3a_1", "published_as": "rank 1, track A",
        **{name: {"value": pytest.approx(value), "low": pytest.approx(low), "high": pytest.approx(high)}
           for name, value, low, high in (("ER", 0.33, 0.29, 0.37), ("F", 0.627, 0.579, 0.685), ("LE", 12.9, 11.8, 14.2),
                                          ("LR", 0.721, 0.668, 0.775))},
    }  # fmt: skip
    plain = seldio.score(folder / "eval/second", folder / "eval/labels", profile="dcase2023")
    ranked = seldio.rank([tmp_path / "one.json", plain]).table()
    assert len(ranked.rows) == 2
    assert "published_as" not in [column.name for column in ranked.columns]


def russian(folder: Path, count: int) -> Path:
    """So many questions in ruEnvAQA's format, and a reply to each."""
    record = {
        "instruction": "{question}\nA. {option_a}\nB. {option_b}", "outputs": "A",
        "inputs": {"question": "Звучит ли на записи скрипка?", "audio": "samples/audio001.wav", "option_a": "да", "option_b": "нет"},
        "meta": {"categories": {"task_type": "Single music instrument detection", "source_dataset": "MUSIC-AVQA", "knowledge": "common"}},
    }  # fmt: skip
    items = [{**record, "meta": {"id": number, **record["meta"]}} for number in range(1, count + 1)]  # type: ignore[dict-item]
    (folder / "test.json").write_text(json.dumps({"access": "public", "data": items}, ensure_ascii=False), "utf-8")
    replies = [{"outputs": "A", "meta": {"id": number}} for number in range(1, count + 1)]
    (folder / "replies.json").write_text(json.dumps({"data": {"test": replies}}), "utf-8")
    return folder


def test_people_are_official_next_to_all_questions_and_not_next_to_some(tmp_path: Path) -> None:
    whole = russian(tmp_path, about("ruenvaqa").sizes[0])
    report = seldio.score(whole / "replies.json", whole / "test.json", baselines=True)
    assert [(row["exact_match"], row["published_as"]) for row in rows(report).values()] == [
        (0.9497, "official baseline")
    ]
    some = russian(tmp_path, 10)
    report = seldio.score(some / "replies.json", some / "test.json", baselines=True)
    assert "they are over test of ruenvaqa (596 questions), and this score over 10 questions" in told(report)


def test_so_bench_has_none(shared: Path) -> None:
    folder = shared / "data/so-bench"
    questions, predictions = (next(folder.glob(f"{what}*.jsonl"), None) for what in ("qa", "prediction"))
    if questions is None or predictions is None:
        pytest.skip("no question and prediction of SO-Bench")
    report = seldio.score(predictions, questions, baselines=True)
    assert "none are known for the profile so-bench" in told(report)
