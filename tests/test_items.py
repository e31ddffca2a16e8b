"""Questions through the verbs: validate and convert them, and make them from labels."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seldio.cli import app
from seldio.conversion.items import convert_items
from seldio.demo import make
from seldio.errors import LossError, UsageError
from seldio.formats import item_formats
from seldio.rules.items import SO_BENCH
from seldio.validation import validate

RUN = CliRunner()


def question(number: int, **changes: object) -> dict[str, object]:
    """A record of SO-Bench."""
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


def lines(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set")
    make(folder)
    return folder / "starss23"


def test_other_counts_of_tasks_than_so_bench_has(tmp_path: Path) -> None:
    """QAI107"""
    whole = [question(0, task_name=task, answer_meta={}) for task, count in SO_BENCH.items() for _ in range(count)]
    records = [record | {"qa_id": f"qa_{number:020x}"} for number, record in enumerate(whole)]
    right = validate(lines(tmp_path / "right.jsonl", *records))
    wrong = validate(lines(tmp_path / "wrong.jsonl", *records[:-3]))

    assert {"QAI309": 1} == right.by_rule()  # no recordings
    assert {"QAI107": 1, "QAI309": 1} == wrong.by_rule()
    assert "count_sources: 31 for 34" in wrong.findings[-1].message


def test_labels_become_questions_that_are_clean(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"

    done = RUN.invoke(app, ["convert", str(labels), "--to", "sobench-qa", "-o", str(out), "--seed", "7"])

    assert 0 == done.exit_code, done.output
    records = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len({record["qa_id"] for record in records}) == len(records) > 50
    assert {"QAI309": 1} == validate(out).by_rule()  # no recordings


def test_the_same_seed_gives_the_same_bytes(labels: Path, tmp_path: Path) -> None:
    outs = [tmp_path / name for name in ("one", "two", "other")]
    for out, seed in zip(outs, ("7", "7", "8"), strict=True):
        RUN.invoke(app, ["convert", str(labels), "--to", "sobench-qa", "-o", str(out), "--seed", seed])

    assert outs[0].read_bytes() == outs[1].read_bytes() != outs[2].read_bytes()


def test_what_labels_cannot_answer_is_refused(labels: Path) -> None:
    done = RUN.invoke(app, ["convert", str(labels), "--to", "sobench-qa", "--tasks", "speech_content"])

    assert 2 == done.exit_code
    assert "not the words" in done.stderr


def test_per_task_is_kept(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"
    RUN.invoke(app, ["convert", str(labels), "--to", "sobench-qa", "-o", str(out), "--per-task", "2"])

    counts = Counter(json.loads(line)["task_name"] for line in out.read_text("utf-8").splitlines())
    assert set(counts.values()) <= {1, 2}


def test_a_loss_is_named_and_can_be_allowed(tmp_path: Path) -> None:
    source = lines(tmp_path / "qa.jsonl", question(1))
    refused = RUN.invoke(app, ["convert", str(source), "--to", "so-dataset-qa", "-o", str(tmp_path / "x.json")])

    assert 1 == refused.exit_code
    assert "answer_meta" in refused.stderr
    assert not (tmp_path / "x.json").exists()


def test_a_key_that_has_another_meaning_there_is_a_loss(tmp_path: Path) -> None:
    source = lines(tmp_path / "qa.jsonl", question(1, source_refs="none of them"))
    lost = "answer_meta"
    refused = RUN.invoke(app, ["convert", str(source), "--to", "so-dataset-qa", "-f", "so-bench", "--allow-loss", lost])

    assert 1 == refused.exit_code
    assert "extra" in refused.stderr


def test_standard_input_is_read_once_and_told_by_its_content(tmp_path: Path) -> None:
    text = lines(tmp_path / "qa.jsonl", question(1)).read_text("utf-8")
    asked = RUN.invoke(app, ["convert", "-", "--to", "items"], input=text)
    told = RUN.invoke(app, ["convert", "-", "--to", "items", "-f", "so-bench"], input=text)

    assert (0, 0) == (asked.exit_code, told.exit_code)
    assert asked.stdout == told.stdout
    assert "qa_00000000000000000001" in told.stdout


def test_items_and_back_lose_nothing(tmp_path: Path) -> None:
    source = lines(tmp_path / "qa.jsonl", question(1), question(2, note="\u2028 kept", answer_meta={}))
    for to, name in (("items", "items.jsonl"), ("so-bench", "back.jsonl")):
        done = RUN.invoke(app, ["convert", str(source), "--to", to, "-o", str(tmp_path / name)])
        assert 0 == done.exit_code, done.output
        source = tmp_path / name

    first, last = ((tmp_path / name).read_bytes().split(b"\n") for name in ("qa.jsonl", "back.jsonl"))
    assert [json.loads(line) for line in first if line] == [json.loads(line) for line in last if line]


def test_real_files_come_back_byte_for_byte(shared: Path, tmp_path: Path) -> None:
    files = ["so-bench/qa.jsonl", "jasco/v0.csv", "jasco/predictions-example.csv", "ruenvaqa/test.json"]
    for number, name in enumerate([*files, "ruenvaqa/records.jsonl", "mmau/mmau-test-mini.json"]):
        source, out = shared / "data" / name, tmp_path / str(number)
        formats = {"v0.csv": "jasco", "predictions-example.csv": "jasco-predictions", "qa.jsonl": "so-bench"}
        to = formats.get(source.name) or source.parent.name
        done = RUN.invoke(app, ["convert", str(source), "--to", to, "-o", str(out)])

        assert 0 == done.exit_code, done.output
        assert source.read_bytes() == out.read_bytes(), name


def test_real_questions_have_their_known_faults_only(shared: Path) -> None:
    clean = [validate(shared / "data" / name).by_rule() for name in ("so-bench/qa.jsonl", "jasco/v0.csv")]
    mmau = validate(shared / "data/mmau/mmau-test-mini.json").by_rule()

    assert [{"QAI309": 1}] * 2 == clean  # no recordings
    assert {"QAI103": 27, "QAI309": 1} == mmau


def test_jasco_becomes_multiple_choice(tmp_path: Path) -> None:
    """The answers of one-sided hearing are what there is to choose from."""
    head = "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
    (tmp_path / "v0.csv").write_text(head + "1,waves,a castle,At sea.,In a castle.,Building a sandcastle.,sandcastle\n")
    with pytest.raises(LossError, match="answer_meta"):
        convert_items(tmp_path / "v0.csv", tmp_path / "m.json", item_formats.get("mmau"))
    done = convert_items(tmp_path / "v0.csv", tmp_path / "m.json", item_formats.get("mmau"), allow_loss=["answer_meta"])
    assert done.notes == ("options of 1 question made of the answers that jasco holds",)
    record = json.loads((tmp_path / "m.json").read_text())[0]
    assert sorted(record["choices"]) == ["At sea.", "Building a sandcastle.", "In a castle."]
    assert record["answer"] == "Building a sandcastle."
    assert record["Speech"] == "a castle"


def test_answers_that_are_the_same_are_no_choice(tmp_path: Path) -> None:
    head = "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
    (tmp_path / "v0.csv").write_text(head + "1,waves,a castle,Same.,In a castle.,Same.,x\n")
    with pytest.raises(UsageError, match="options is missing in 1 row"):
        convert_items(tmp_path / "v0.csv", tmp_path / "m.json", item_formats.get("mmau"), allow_loss=["all"])


# --- what is JSON, and none of ours --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "code", "told"),
    [
        ("Foundation_meta.json", '[{"path": "a.wav", "choice_a": "dog", "answer_gt": "dog"}]', "SYN901",
         "no known layout: JSON records with the keys path, choice_a, answer_gt"),
        ("star.json", '[{"id": "1", "category": "c", "question": "q?", "options": ["a"], "audio_paths": []}]', "SYN901",
         "no known layout: JSON records with the keys id, category, question, options, audio_paths"),
        ("dev.jsonl", '{"file_name": "a.wav"}\n{"file_name": "b.wav"}\n', "SYN901",
         "no known layout: JSON records with the keys file_name"),
        ("dataset_meta.json", json.dumps({f"k{n}": n for n in range(11)}), "SYN901",
         "no known layout: a JSON object with the keys k0, k1, k2, k3, k4, k5, k6, k7, and 3 more"),
        ("null.json", "null", "SYN901", "no known layout: JSON without an object that has keys"),
        ("none.jsonl", "", "SYN901", "no known layout: no record in the file"),
        ("printed.jsonl", "{'qa_id': 'x', 'question': None}\n", "SYN201", "'qa_id' is in single quotes"),
        ("commented.jsonl", '// mine\n{"qa_id": "x"}\n', "SYN201", "// mine is a comment"),
        ("page.json", "<!DOCTYPE html><html>404</html>", "SYN201", "< (U+003C) cannot stand here"),
        ("deep.jsonl", "[" * 100 + "]" * 100, "SYN206", "arrays and objects nested deeper than 64 levels"),
    ],
)  # fmt: skip
def test_json_that_is_no_format_is_told_by_its_keys(tmp_path: Path, name: str, text: str, code: str, told: str) -> None:
    """Not by the number of its commas, as if it were a table of labels."""
    (tmp_path / name).write_text(text)
    [finding] = validate(tmp_path / name).findings
    assert (finding.code, finding.message) == (code, told)
