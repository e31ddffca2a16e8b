"""What a score rests on: a signature that any format has alike, and tables for a paper."""

from __future__ import annotations

import csv
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commands import laid
from pages import in_process

import seldio
from seldio.errors import UsageError
from seldio.formats.about import about
from seldio.formats.datasets import expected_clips
from seldio.reports import render
from seldio.reports.json_report import reports
from seldio.reports.tables import Column, Interval, ScoreReport, Table, WeakInterval
from seldio.scores.signatures import Signature, judged_by

QUESTION = {"task": "sound", "question": "?", "options": ["rain", "dog"], "answer": "rain"}
ASKED = [{"id": f"q{n}", "audio": [f"{n}.wav"], **QUESTION} for n in range(6)]
SAID = [{"id": f"q{n}", "prediction": "rain" if n % 2 else "dog"} for n in range(6)]


def signed(*given: object, **options: object) -> str:
    return seldio.score(*given, **options).signature  # type: ignore[arg-type]


def test_the_same_rows_have_the_same_signature_in_any_form(tmp_path: Path) -> None:
    one = signed(SAID, ASKED)
    assert re.fullmatch(r"seldio [^|]+\|multiple-choice\|no judge\|ref [0-9a-f]{12}\|pred [0-9a-f]{12}", one)
    (tmp_path / "own.json").write_text(json.dumps([{"n": row["id"], "text": row["prediction"]} for row in SAID[::-1]]))
    assert signed(tmp_path / "own.json", pa.Table.from_pylist(ASKED), fields="id=n,prediction=text") == one
    empty = signed([{"id": "q0", "prediction": ""}, *SAID[1:]], ASKED)
    others = [dict(reversed(row.items())) for row in reversed(SAID[1:])]
    asked = [dict(reversed(row.items())) for row in ASKED]
    assert signed([{"prediction": None, "id": "q0", "prompt": ""}, *others], asked) == empty
    assert signed(SAID[1:], ASKED, allow_missing=True).split("|")[-1] != empty.split("|")[-1]
    assert seldio.verify(one, tmp_path / "own.json", ASKED[::-1], fields="id=n,prediction=text") == []
    assert str(Signature.parsed(one)) == one
    own = [{"n": row["id"], **QUESTION} for row in ASKED]
    keys = {"reference_fields": "id=n,question=question,options=options,answer=answer"}
    assert seldio.verify(signed(SAID, own, **keys), SAID, own, **keys) == []


def test_what_differs_is_said() -> None:
    one = signed(SAID, ASKED)
    other = [SAID[0] | {"prediction": "rain"}, *SAID[1:]]
    (said,) = seldio.verify(one, other, ASKED)
    assert said.startswith("the predictions: ")
    asked = [ASKED[0] | {"answer": "dog"}, *ASKED[1:]]
    assert [text.partition(":")[0] for text in seldio.verify(one, SAID, asked)] == ["the questions"]
    older = one.replace(f"seldio {seldio.__version__}", "seldio 0.0.1")
    assert seldio.verify(older, SAID, ASKED) == [f"seldio: 0.0.1 in the signature, {seldio.__version__} here"]
    with pytest.raises(UsageError, match="a signature looks like"):
        seldio.verify("seldio", SAID, ASKED)


def test_settings_and_the_order_are_part_of_it() -> None:
    nameless = [{"prediction": row["prediction"]} for row in SAID]
    one = signed(nameless, ASKED, fields="prediction=prediction", join="order")
    assert "|multiple-choice[join=order]|" in one
    verify = partial(seldio.verify, one, nameless, ASKED, fields="prediction=prediction")
    assert verify() == ["the settings: join=order in the signature, none here"]
    assert verify(settings="join=order") == verify(settings={"join": "order"}) == verify(settings="[join=order]") == []
    assert "[allow_missing]" in signed(SAID[:5], ASKED, allow_missing=True)


def test_the_judge_is_compared(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "q0", "judgement": {"correct": true}}\n')
    one = Signature.parsed(signed(SAID, ASKED))
    for judge, named in (
        ("judge gpt@example.org", {"judge": "gpt", "judge_url": "https://example.org/v1"}),
        ("judge gpt@[example", {"judge": "gpt", "judge_url": "http://[example/v1"}),  # no address, and no traceback
        (judged_by(None, None, (tmp_path / "a.jsonl").read_bytes()), {"judgements": tmp_path / "a.jsonl"}),
    ):
        known = str(one._replace(judge=judge))
        assert seldio.verify(known, SAID, ASKED) == [f"the judge: {judge} in the signature, no judge here"]
        assert seldio.verify(known, SAID, ASKED, **named) == []  # type: ignore[arg-type]


ROWS = "0,1,0,10,0,100\n1,1,0,12,5,100\n1,11,1,-90,10,200\n"
FORMATS = {"format": "starss23", "reference_format": "starss23"}


@pytest.fixture
def labels(tmp_path: Path) -> dict[str, Path]:
    systems = {"ref": ROWS, "pred": ROWS.replace("-90", "-60"), "other": ROWS.replace("10,200", "20,200")}
    for name, rows in systems.items():
        clips = {"fold4_room1_mix001": rows, "fold4_room1_mix002": "", "fold4_room2_mix001": rows}
        laid(tmp_path / name / "dev-test", {f"{clip}.csv": text for clip, text in clips.items()})
    return {name: tmp_path / name for name in systems}


def test_labels_have_a_signature_that_any_format_has_alike(labels: dict[str, Path], tmp_path: Path) -> None:
    one = signed(labels["pred"], labels["ref"], **FORMATS)
    assert re.fullmatch(r"seldio [^|]+\|dcase2023\|no judge\|ref [0-9a-f]{12}\|pred [0-9a-f]{12}", one)
    frame = seldio.to_pandas(seldio.read(labels["pred"], format="starss23"))
    seldio.convert(labels["pred"], tmp_path / "table.parquet", "parquet", format="starss23")
    shuffled = frame.sample(frac=1, random_state=0)
    for again in (tmp_path / "table.parquet", frame, shuffled):
        assert signed(again, labels["ref"], reference_format="starss23") == one
        assert seldio.verify(one, again, labels["ref"], reference_format="starss23") == []


def test_what_differs_of_labels_is_said(labels: dict[str, Path]) -> None:
    one = signed(labels["pred"], labels["ref"], threshold={"angle": 30}, **FORMATS)
    assert "|dcase2023[angle=30]|" in one
    verify = partial(seldio.verify, one, **FORMATS)
    assert verify(labels["pred"], labels["ref"], settings="angle=30") == []
    assert verify(labels["pred"], labels["ref"]) == ["the settings: angle=30 in the signature, none here"]
    said = verify(labels["ref"], labels["pred"], settings="angle=30")
    assert [text.partition(":")[0] for text in said] == ["the reference", "the predictions"]
    (labels["pred"] / "dev-test" / "fold4_room1_mix002.csv").write_text("7,1,0,10,0,100\n")
    (said_of,) = verify(labels["pred"], labels["ref"], settings="angle=30")
    assert said_of.startswith("the predictions: ")
    with pytest.raises(UsageError, match="the labels to compare with are required"):
        verify(labels["pred"])


def test_maps_have_one_too(tmp_path: Path) -> None:
    (path,) = (Path(__file__).parent / "cases" / "formats" / "dcase2026").glob("*.json")
    document = json.loads(path.read_text())
    laid(tmp_path, {"a/mix001.json": json.dumps(document), "b/mix001.json": json.dumps(document, indent=1)})
    one, again = (signed(tmp_path / place, tmp_path / "a") for place in "ab")
    assert one == again
    table = seldio.read(tmp_path / "a")
    assert seldio.verify(one, table.take(list(range(table.num_rows))[::-1]), tmp_path / "a") == []
    document["annotations"][0]["segmentation"][0][0][2] /= 2
    (tmp_path / "b" / "mix001.json").write_text(json.dumps(document))
    (said,) = seldio.verify(one, tmp_path / "b", tmp_path / "a")
    assert said.startswith("the predictions: ")


def test_comparisons_have_one_too(labels: dict[str, Path]) -> None:
    report = seldio.compare([labels["pred"], labels["other"]], labels["ref"], **FORMATS, intervals="bootstrap=100")
    drawn = "over=clips,resamples=100,seed=0"
    assert f"|dcase2023[{drawn}]|" in report.signature
    for name in ("pred", "other"):
        assert seldio.verify(report.signature, labels[name], labels["ref"], settings=drawn, **FORMATS) == []
    (said,) = seldio.verify(report.signature, labels["ref"], labels["ref"], settings=drawn, **FORMATS)
    assert said.startswith("the predictions: ")
    answers = seldio.compare([SAID, SAID[::-1]], ASKED, intervals="bootstrap=100")
    assert seldio.verify(answers.signature, SAID, ASKED, settings=drawn) == []
    assert Signature.parsed(answers.signature).predictions.count("+") == 1


def test_every_output_has_it() -> None:
    report = seldio.score(SAID, ASKED)
    for output in ("text", "json", "csv", "markdown", "html", "latex"):
        assert report.signature in "".join(render([report], output)).replace("\n", ""), output
    (again,) = reports(json.loads(report.to_json()))
    assert again.signature == report.signature


def test_a_table_with_a_signature_can_be_ranked(labels: dict[str, Path], tmp_path: Path) -> None:
    answers = [seldio.score(SAID[:n], ASKED, allow_missing=True) for n in (4, 6)]
    for number, report in enumerate([seldio.score(labels["pred"], labels["ref"], **FORMATS), *answers]):
        text = "".join(render([report], "csv"))
        assert {len(row) for row in csv.reader(text.splitlines())} == {9}
        (tmp_path / f"{number}.json").write_text(report.to_json())
    assert seldio.rank(tmp_path / "0.json").table().rows[0][1] == 1


AWKWARD = ScoreReport("a_b", "p", "t", "o", (
    Table("overall", r"50 % of {x} & \y", (Column("system", "system"), Column("F", "F", "%", 1, "higher")),
          (("[a]_b*", Interval(0.5, 0.4, 0.6)), ("#1 ~ ^", WeakInterval(0.25, 0.1, 0.4)))),
))  # fmt: skip


def test_latex_is_a_table_of_booktabs() -> None:
    text = "".join(render([AWKWARD], "latex"))
    assert r"\caption{50 \% of \{x\} \& \textbackslash{}y}" in text
    assert "{[}a{]}\\_b{*} & 50.0 {[}40.0, 60.0{]} \\\\\n" in text
    assert r"F (\%) $\uparrow$" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("splits")
    for split in ("dev-test", "eval"):
        for number, clip in enumerate(sorted(expected_clips("starss23", split))):
            for side, row in (("labels", "0,{},0,10,0,200"), ("first", "0,{},15,0"), ("second", "0,{},90,0")):
                laid(root, {f"{split}/{side}/{clip}.csv": row.format(number % 13) + "\n"})
    return root


def scored(folder: Path, **options: Any) -> ScoreReport:
    given = {"profile": "dcase2023", "baselines": True} | options
    return seldio.score(folder / "first", folder / "labels", **given)


def rows(report: ScoreReport) -> dict[str, dict[str, Any]]:
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
        paths = sorted((folder / "dev-test" / side).iterdir())[:5]
        laid(few / side, {path.name: path.read_bytes() for path in paths})
    report = scored(few)
    assert not rows(report)
    assert told(report).endswith(
        "they are over dev-test of starss23 (78 clips) and eval of starss23 (79 clips), and this score over 5 clips of "
        "dev-test"
    )


@pytest.mark.parametrize(("options", "why"), [({"threshold": {"angle": 30}}, "another angle"), ({"classes": "starss"}, "another classes"),
                                              ({"profile": "dcase2024-angles"}, "none are known for the profile dcase2024-angles")])  # fmt: skip
def test_other_limits_and_profiles_are_refused_with_the_reason(options: dict[str, Any], why: str, folder: Path) -> None:
    report = scored(folder / "dev-test", **options)
    assert not rows(report)
    assert why in told(report)


@pytest.mark.parametrize("output", ["text", "html", "csv"])
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


def russian(folder: Path, count: int) -> Path:
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
