"""Questions through the verbs: validate and convert them, and make them from labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import invoke, json_lines, records_of

import seldio
from seldio import formats, validate
from seldio.conversion.items import convert_items
from seldio.errors import LossError, UsageError
from seldio.formats import ItemFormat
from seldio.formats.qa_csv import JASCO
from seldio.synth.tree import write_demo

CASES = Path(__file__).parent / "cases" / "rules"


def question(number: int, **changes: object) -> dict[str, object]:
    record: dict[str, object] = {
        "qa_id": f"qa_{number:020x}",
        "split": "test",
        "audio_id": "foa_413d6010b124f7adcc0b",
        "audio_path": "audio/test/foa_413d6010b124f7adcc0b.wav",
        "task_name": "detect_time",
        "question_class": "detect",
        "answer_format": "structured_text",
        "question": "When can the bell be heard?",
        "answer": "The bell is audible from 1.0s to 2.5s.",
        "canonical_answer": "1.0s to 2.5s",
        "answer_meta": {"time_span": [1.0, 2.5]},
    }
    return record | changes


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set")
    write_demo(folder)
    return folder / "starss23"


def test_a_key_that_has_another_meaning_there_is_a_loss(tmp_path: Path) -> None:
    source = json_lines(tmp_path / "qa.jsonl", [question(1, source_refs="none of them")])
    options = ("-o", tmp_path / "x.json", "-f", "so-bench", "--allow-loss", "answer_meta")
    refused = invoke("convert", source, "--to", "so-dataset-qa", *options)
    assert (refused.exit_code, "extra" in refused.stderr) == (1, True)
    assert not (tmp_path / "x.json").exists()


def test_jasco_becomes_multiple_choice(tmp_path: Path) -> None:
    """The answers of one-sided hearing are what there is to choose from."""
    head = "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
    (tmp_path / "v0.csv").write_text(head + "1,waves,a castle,At sea.,In a castle.,Building a sandcastle.,sandcastle\n")
    with pytest.raises(LossError, match="answer_meta"):
        convert_items(tmp_path / "v0.csv", tmp_path / "m.json", formats.get("mmau", ItemFormat))
    done = convert_items(
        tmp_path / "v0.csv", tmp_path / "m.json", formats.get("mmau", ItemFormat), allow_loss=["answer_meta"]
    )
    assert done.notes == ("options of 1 question made from the answers in jasco",)
    record = json.loads((tmp_path / "m.json").read_text())[0]
    assert sorted(record["choices"]) == ["At sea.", "Building a sandcastle.", "In a castle."]
    assert record["answer"] == "Building a sandcastle."
    assert record["Speech"] == "a castle"


ANIMALS = ["dog", "cat", "cow", "horse", "goat", "sheep"]


def choice(number: int, answer: str, choices: list[str]) -> dict[str, object]:
    return {"id": str(number), "audio_path": f"a{number}.wav", "question": "Which?", "choices": choices,
            "answer": answer, "modality": "sound"}  # fmt: skip


def converted(source: Path, to: str, name: str) -> tuple[Path, str]:
    done = invoke("convert", source, "--to", to, "-o", source.parent / name, "--allow-loss", "all")
    assert done.exit_code in (0, 2), done.output
    return source.parent / name, " ".join(done.output.split())


@pytest.mark.parametrize(
    ("answer", "options", "why"),
    [
        *(
            ("dog", ANIMALS[:count], f"1 row: {number} (2) (it takes questions with 2 or 4 options)")
            for count, number in ((1, "1 option"), (3, "3 options"))
        ),
        ("cow", ["dog", "cow", "cow", "cat"], "the answer is option B or C (2)"),
        ("sheep", ["dog", "cow"], "the answer is none of the options (2)"),
        ("B", ["dog", "cow"], "the answer is none of the options (2)"),  # MMAR's answers are texts
    ],
)
def test_ruenvaqa_takes_one_of_two_or_four_options(tmp_path: Path, answer: str, options: list[str], why: str) -> None:
    source = json_lines(tmp_path / "q.jsonl", [choice(1, "dog", ANIMALS[:4]), choice(2, answer, options)])
    made, said = converted(source, "ruenvaqa", "r.json")
    assert not made.exists()
    assert why in said


@pytest.mark.parametrize(
    ("name", "text", "code", "told"),
    [
        ("Foundation_meta.json", '[{"path": "a.wav", "choice_a": "dog", "answer_gt": "dog"}]', "SYN901",
         "no known format: JSON records with the keys path, choice_a, answer_gt"),
        ("dev.jsonl", '{"file_name": "a.wav"}\n{"file_name": "b.wav"}\n', "SYN901",
         "no known format: JSON records with the keys file_name"),
        ("dataset_meta.json", json.dumps({f"k{n}": n for n in range(11)}), "SYN901",
         "no known format: a JSON object with the keys k0, k1, k2, k3, k4, k5, k6, k7, and 3 more"),
        ("none.jsonl", "", "SYN901", "no known format: no record in the file"),
        ("printed.jsonl", "{'qa_id': 'x', 'question': None}\n", "SYN201", "'qa_id' is in single quotes"),
        ("page.json", "<!DOCTYPE html><html>404</html>", "SYN201", "< (U+003C) cannot stand here"),
        ("deep.jsonl", "[" * 100 + "]" * 100, "SYN201", "arrays and objects nested deeper than 64 levels"),
    ],
)  # fmt: skip
def test_json_that_is_no_format_is_told_by_its_keys(tmp_path: Path, name: str, text: str, code: str, told: str) -> None:
    """Not by the number of its commas, as if it were a table of labels."""
    (tmp_path / name).write_text(text)
    [finding] = validate(tmp_path / name).findings
    assert (finding.code, finding.message) == (code, told)


def test_a_text_is_filled_in_where_there_is_none(tmp_path: Path) -> None:
    source = json_lines(tmp_path / "q.jsonl", [choice(1, "cow", ANIMALS[:4]), choice(2, "no", ["yes", "no"])])
    bare = ["convert", str(source), "--to", "so-bench", "-o", str(tmp_path / "so.jsonl"), "--allow-loss", "all"]
    refused = invoke(*bare)
    assert 2 == refused.exit_code
    assert "2 rows: no task (1, 2). To set one value for all, use --fill task=TEXT" in refused.stderr
    each = {"audio": ["a.wav"], "question": "Which?"}
    lacking = [each | {"id": "1"}, each | {"id": "2", "task": "a"}, each | {"id": "3", "answer": "cow"}]
    with pytest.raises(UsageError, match=r"2 rows: no task \(1, 3\); 2 rows: no answer \(1, 2\)"):
        seldio.write(lacking, tmp_path / "so.jsonl", "so-bench")
    assert 0 == invoke(*bare, "--fill", "task=3").exit_code
    assert ["3", "3"] == [record["task_name"] for record in records_of(tmp_path / "so.jsonl")]
    seldio.convert(source, tmp_path / "api.jsonl", "so-bench", allow_loss="all", fill={"task": "mmar"})
    seldio.write(seldio.read(source), tmp_path / "w.jsonl", "so-bench", allow_loss="all", fill={"task": "mmar"})
    assert (tmp_path / "api.jsonl").read_bytes() == (tmp_path / "w.jsonl").read_bytes()
    assert b'"task_name": "mmar"' in (tmp_path / "w.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("fill", "why"),
    [
        ({"azimuth": 1.0}, "only task, instruction, language, split, dataset can be filled"),
        ({"instruction": "x"}, "so-bench has no such field"),
        ({"task": 3}, "not a text"),
    ],
)
def test_what_cannot_be_filled_in_is_refused(tmp_path: Path, fill: dict[str, object], why: str) -> None:
    source = json_lines(tmp_path / "q.jsonl", [choice(1, "cow", ANIMALS[:4])])
    with pytest.raises(UsageError, match=why):
        seldio.convert(source, tmp_path / "so.jsonl", "so-bench", allow_loss="all", fill=fill)


def test_questions_that_do_not_fit_are_left_out_and_listed(tmp_path: Path) -> None:
    records = [choice(1, "cow", ANIMALS[:4]), choice(2, "cow", ["cow", "dog", "cow", "cat"]),
               choice(3, "cow", ANIMALS), choice(4, "B", ANIMALS[:2]), choice(5, "no", ["yes", "no"])]  # fmt: skip
    source, out = json_lines(tmp_path / "q.jsonl", [*records]), tmp_path / "r.json"
    command = ["convert", str(source), "--to", "ruenvaqa", "-o", str(out), "--allow-loss", "all"]
    assert 2 == invoke(*command).exit_code
    assert not out.exists()
    said = invoke(*command, "--drop-unfit").stderr
    assert "5 rows became 2" in said
    assert "left out: 1 row, the answer is option A or C (2)" in said
    assert [1, 5] == [record["meta"]["id"] for record in json.loads(out.read_text())["data"]]
    done = seldio.convert(source, out, "ruenvaqa", allow_loss="all", drop_unfit=True)
    left = ("2", "the answer is option A or C"), ("3", "6 options"), ("4", "the answer is none of the options")
    assert left == done.dropped
    assert [list(each) for each in left] == json.loads(json.dumps(done.as_dict()))["dropped"]
    source = json_lines(tmp_path / "one.jsonl", [choice(1, "dog", ANIMALS)])
    with pytest.raises(UsageError, match="no row fits"):
        seldio.convert(source, tmp_path / "none.json", "ruenvaqa", allow_loss="all", drop_unfit=True)
    assert not (tmp_path / "none.json").exists()


@pytest.mark.parametrize(("source", "target"), [("so-bench", "so-dataset-qa"), ("so-dataset-qa", "so-bench")])
def test_what_would_be_read_as_another_format_is_refused(tmp_path: Path, source: str, target: str) -> None:
    proof = {"task_type": "counting", "source_refs": [{"class_name": "bell"}]}
    record = {
        k: v for k, v in question(1).items() if k not in ("question_class", "answer_format", "answer_meta")
    } | proof
    path = json_lines(tmp_path / "q.jsonl", [question(1) if source == "so-bench" else record])
    with pytest.raises(UsageError, match="events" if target == "so-dataset-qa" else "answer_meta"):
        seldio.convert(path, tmp_path / "out.jsonl", target, allow_loss="all")
    assert not (tmp_path / "out.jsonl").exists()


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
