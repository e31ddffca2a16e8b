"""Predictions held against their questions: what lacks, what is too much, what is joined wrongly, what MERA says."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import invoke, json_lines
from test_ruenvaqa import answers

import seldio
from seldio import validate
from seldio.check.reference import load
from seldio.findings import Finding
from seldio.formats import ItemFormat, get
from seldio.formats.qa_csv import INSTRUCTIONS, JASCO_PREDICTIONS
from seldio.schema.qa import Item

Record = dict[str, Any]
TASKS = ("detect_time", "estimate_azimuth", "multi_hop")


def name(number: int) -> str:
    return f"foa_{number:020x}"


def question(number: int) -> Record:
    path = f"audio/test/{name(number)}.wav"
    return {
        "qa_id": f"qa_{number:020x}", "split": "test", "audio_id": name(number), "audio_path": path,
        "task_name": TASKS[number % 3], "question_class": "detect", "answer_format": "structured_text",
        "question": "When?", "answer": "Now.", "canonical_answer": "now", "answer_meta": {},
    }  # fmt: skip


def answer(number: int, **changes: Any) -> Record:
    asked = question(number)
    fields = {"qa_id": asked["qa_id"], "audio_path": f"/data/{asked['audio_path']}", "task_name": asked["task_name"]}
    given = fields | {"prediction": "From 1.0s to 2.0s."} | changes
    return {key: value for key, value in given.items() if value is not None}


def against(folder: Path, predictions: list[Record], questions: list[Record] | None = None) -> list[Finding]:
    asked = json_lines(folder / "qa.jsonl", [question(n) for n in range(9)] if questions is None else questions)
    found = validate(json_lines(folder / "predictions.jsonl", predictions), reference=load(str(asked))).findings
    return [finding for finding in found if not finding.code.startswith("QAI3")]  # there are no recordings


def short(found: list[Finding]) -> list[tuple[str, int | None]]:
    return [(finding.code, finding.line) for finding in found]


def changed(index: int, **changes: Any) -> Callable[[list[Record]], list[Record]]:
    return lambda rows: [answer(n, **changes) if n == index else row for n, row in enumerate(rows)]


ALL = [answer(n) for n in range(9)]
NAMELESS = [answer(n, qa_id=None) for n in range(9)]


@pytest.mark.parametrize(
    "rows",
    [ALL[::-1], [answer(n, audio_path=f"./test/{name(n)}.wav", task_name=None, audio_id=name(n)) for n in range(9)]],
)
def test_whole_predictions_are_clean(tmp_path: Path, rows: list[Record]) -> None:
    assert against(tmp_path, rows) == []


@pytest.mark.parametrize(
    ("rows", "expected", "says"),
    [
        (ALL[:4] + ALL[5:], [("PRD201", None)], "line 5 of"),
        ([*ALL, answer(77)], [("PRD202", 10)], "in the same line"),
        (changed(3, audio_path=f"audio/test/{name(4)}.wav")(ALL), [("PRD203", 4)], "joins by qa_id without checking"),
        (changed(3, audio_id=name(4))(ALL), [("PRD203", 4)], "audio_id"),
        (changed(3, task_name="multi_hop")(ALL), [("PRD203", 4)], "detect_time"),
        (changed(3, prediction=" ")(ALL), [("PRD102", 4)], "wrong"),
        ([*ALL, ALL[0]], [("PRD101", 10)], "second prediction"),
        ([answer(n, qa_id=f"other{n}") for n in range(9)], [("PRD210", 1)], "other0"),
    ],
)
def test_flaws_with_ids(tmp_path: Path, rows: list[Record], expected: list[tuple[str, int | None]], says: str) -> None:
    found = against(tmp_path, rows)
    assert short(found) == expected
    assert says in f"{found[0].message} {found[0].hint}"


@pytest.mark.parametrize(
    ("asked", "answered", "cause"),
    [
        ("7", "7.0", "zeros"),
        ("a7", "A7", "case"),
        ("\xe97", "e\u03017", "Unicode"),
        ("a7", "a7 ", "spaces"),
    ],
)
def test_the_cause_of_ids_that_differ_in_form_is_said(tmp_path: Path, asked: str, answered: str, cause: str) -> None:
    question = {"id": asked, "audio": ["a.wav"], "question": "?", "options": ["a", "b"], "answer": "a"}
    (tmp_path / "q.jsonl").write_text(json.dumps(question), "utf-8")
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": answered, "prediction": "a"}), "utf-8")
    [finding] = seldio.validate(tmp_path / "p.jsonl", reference=tmp_path / "q.jsonl").findings
    assert f"differ only in {'the ' * (cause == 'Unicode')}{cause}" in (finding.hint or "")
    with pytest.raises(seldio.SeldioError, match=cause):
        seldio.score(tmp_path / "p.jsonl", tmp_path / "q.jsonl")


def test_without_ids_order_counts(tmp_path: Path) -> None:
    def found(rows: list[Record]) -> list[tuple[str, int | None]]:
        return [pair for pair in short(against(tmp_path, rows)) if pair[0] != "SYN215"]

    assert found(NAMELESS) == []
    assert found(NAMELESS[:4] + NAMELESS[5:]) == [("PRD207", 5)]
    assert found([*NAMELESS, answer(3, qa_id=None)]) == [("PRD207", None)]
    swapped = [*NAMELESS[:3], NAMELESS[4], NAMELESS[3], *NAMELESS[5:]]
    assert found(swapped) == [("PRD203", 4), ("PRD203", 5)]
    assert found([answer(0, qa_id=None, task_name="multi_hop"), *ALL[1:]]) == [("PRD203", 1)]


def jasco(folder: Path, change: Callable[[list[list[str]]], object]) -> list[Finding]:
    others = {"Speech": "", "Audio-Only Answer": "", "Speech-Only Answer": ""}
    asked = [
        Item.model_validate({"id": str(n), "answer": f"They do {n}.", "extra": {"Audio": f"sound {n}", **others}})
        for n in (1, 2)
    ]
    questions, predictions = get("jasco", ItemFormat), get("jasco-predictions", ItemFormat)
    (folder / "v0.csv").write_bytes(questions.write(asked))
    rows = [row.model_copy(update={"prediction": "They talk."}) for row in predictions.template(asked)]
    header, *table = csv.reader(io.StringIO(predictions.write(rows).decode(), newline=""))
    change(table)
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *table])
    (folder / "out.csv").write_text(text.getvalue(), "utf-8", newline="")
    return validate(folder / "out.csv", reference=load(str(folder / "v0.csv"))).findings


def put(row: int, column: str, value: str) -> Callable[[list[list[str]]], None]:
    def change(table: list[list[str]]) -> None:
        table[row][JASCO_PREDICTIONS.columns.index(column)] = value

    return change


@pytest.mark.parametrize(
    ("change", "expected", "says"),
    [
        (list.reverse, [], ""),
        (lambda table: table.pop(3), [("PRD205", 2)], "number 4 of"),
        (lambda table: table.__delitem__(slice(0, 8)), [("PRD201", None)], "does not count ids"),
        (put(2, "prompt", INSTRUCTIONS[2] + " "), [("PRD206", 4)], "number 3 with different punctuation"),
        (put(2, "prompt", "What?"), [("PRD206", 4)], "not JASCO scores"),
        (put(9, "audio", "{data_folder}/dataset/v0/1.wav"), [("PRD203", 11)], "groups by id"),
        (put(9, "audio_sound", "rain"), [("PRD209", 11)], "sound 2"),
        (put(9, "id", "2.0"), [("PRD205", 10), ("PRD202", 11)], "has '2': they differ only in zeros"),
    ],
)
def test_jasco(
    tmp_path: Path, change: Callable[[list[list[str]]], object], expected: list[tuple[str, int | None]], says: str
) -> None:
    found = jasco(tmp_path, change)
    assert short(found) == expected
    assert says in " ".join(f"{finding.message} {finding.hint}" for finding in found)


def mmau(number: int, **changes: Any) -> Record:
    record = {"id": f"m{number}", "audio_id": f"./a/m{number}.wav", "question": "Who?", "choices": ["cat", "dog"],
              "answer": "dog", "task": "sound", "split": "test-mini"}  # fmt: skip
    return record | changes


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (mmau(2, model_output="cat"), []),
        (mmau(2, model_output=""), [("PRD208", 3)]),
        (mmau(2, model_output="dog", answer="cat"), [("PRD209", 3)]),
        (mmau(2, model_output="dog", audio_id="./a/m1.wav"), [("PRD203", 3), ("QAI123", 3)]),
        (mmau(2, model_output="dog", task="music"), [("PRD203", 3)]),
        (mmau(1, model_output="dog"), [("PRD201", None), ("QAI101", 3)]),
        (mmau(9, model_output="dog"), [("PRD201", None), ("PRD202", 3)]),
    ],
)
def test_mmau(tmp_path: Path, row: Record, expected: list[tuple[str, int | None]]) -> None:
    rows = [mmau(n, model_output="dog") for n in range(2)]
    assert short(against(tmp_path, [*rows, row], [mmau(n) for n in range(3)])) == expected


@pytest.fixture
def files(tmp_path: Path) -> Path:
    json_lines(tmp_path / "qa.jsonl", [question(n) for n in range(3)])
    json_lines(tmp_path / "predictions.jsonl", ALL[:3])
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "mix001.csv").write_text("0,1,0,-50,30\n")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "reference", "says"),
    [
        ("predictions.jsonl", "labels", "use the file with the questions"),
        ("predictions.jsonl", "mix001..mix003", "use the file with the questions"),
        ("predictions.jsonl", "predictions.jsonl", "a reference must hold the questions they answer"),
        ("labels", "qa.jsonl", "are a reference for predictions"),
        ("qa.jsonl", "qa.jsonl", "without a model's output"),
        ("qa.jsonl", "labels", "clips are a reference for labels"),
    ],
)
def test_references_of_the_wrong_kind(files: Path, path: str, reference: str, says: str) -> None:
    told = reference if ".." in reference else str(files / reference)
    run = invoke("validate", files / path, "--reference", told)
    assert run.exit_code == 2
    assert says in run.stderr


def mera_question(number: int, two: bool = False) -> Record:
    options = {f"option_{letter}": letter * 2 for letter in ("ab" if two else "abcd")}
    text = "<audio> {question}" + "".join(f" {{{key}}}" for key in options)
    return {"instruction": text, "inputs": {"question": "Что?", "audio": f"samples/{number}.wav", **options},
            "outputs": "B", "meta": {"id": number}}  # fmt: skip


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.json"
    records = [mera_question(1), mera_question(2), mera_question(3, two=True)]
    path.write_text(json.dumps({"access": "public", "data": records}, ensure_ascii=False), "utf-8")
    return path


def packed(folder: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(folder / "submission.zip", "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return folder / "submission.zip"


WHOLE = answers((1, "A"), (2, "B"), (3, "B"))
MERA: list[tuple[dict[str, bytes], list[str]]] = [
    ({"ruEnvAQA.json": WHOLE}, []),
    ({"ruEnvAQA.json": answers((1, "A"), (3, "B"))}, ["PRD131"]),
    ({"ruEnvAQA.json": answers((1, "A"), (2, "B"), (3, "C"))}, ["PRD133"]),
    ({"ruEnvAQA.json": answers((1, "A"), (2, "B"), (3, "B"), (9, "A"))}, ["PRD132"]),
    ({"ruEnvAQA.json": answers((1, "A"), (2, 7), (3, "B"))}, ["PRD116"]),
    ({"ruEnvAQA.json": b'{"data": {"dev": []}}'}, ["PRD111"]),
    ({"ruEnvAQA.jso": WHOLE}, ["PRD124"]),
    ({"ruenvaqa.json": WHOLE}, ["PRD124"]),
    ({"sub/answers.json": WHOLE, "ruEthics.jso": b"{}"}, ["PRD124"]),
    ({"readme.txt": b"x"}, ["PRD124"]),
]


@pytest.mark.parametrize(("members", "codes"), MERA)
def test_mera_submissions(tmp_path: Path, gold: Path, members: dict[str, bytes], codes: list[str]) -> None:
    """A folder is checked like its ZIP file, and without the questions for all but what they ask."""
    path, folder = packed(tmp_path, members), tmp_path / "unpacked"
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    alone = [code for code in codes if not code.startswith("PRD13")]
    for submission in (path, folder):
        assert [finding.code for finding in validate(submission, reference=load(str(gold))).findings] == codes
        if set(members) != {"readme.txt"}:
            assert [finding.code for finding in validate(submission).findings] == alone


def test_what_lies_beside_labels_is_no_submission(tmp_path: Path) -> None:
    path = packed(tmp_path, {"answers.json": WHOLE, "labels/fold4_room1_mix001.csv": b"0,1,0,-50,30\n"})
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "unpacked")
    found = [validate(submission).by_rule() for submission in (path, tmp_path / "unpacked")]
    assert found[0] == found[1]
    assert not any(code.startswith("PRD12") for code in found[0])


def test_one_file_of_answers(tmp_path: Path, gold: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_bytes(answers((1, "В"), (2, "B")))
    assert [finding.code for finding in validate(path, reference=load(str(gold))).findings] == ["PRD131", "PRD134"]
    own = json_lines(tmp_path / "own.jsonl", [{"id": str(n), "prediction": "B"} for n in (1, 3)])
    found = validate(own, reference=load(str(gold))).findings
    assert short(found) == [("PRD201", None)]
    assert "the whole task 0" in (found[0].hint or "")
