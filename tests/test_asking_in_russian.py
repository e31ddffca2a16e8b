"""SO-Bench's questions in Russian: the same facts as in English, in native grammar, answered again from labels."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from commands import invoke, records_of
from effort import as_one, some
from test_questions import event, make, walkers
from test_russian import NAMES, said

import seldio
from seldio import synth
from seldio.formats import get as layout
from seldio.schema.events import ClipFile
from seldio.schema.qa import Item, Prediction
from seldio.scores.so_bench import PROFILES, count
from seldio.tasks import TASKS, Generated, generate
from seldio.tasks.task import Why

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def table() -> pa.Table:
    tables = [synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)) for seed in range(10)]
    tables += [synth.labels(f"walk{seed:03}", walkers(seed)) for seed in range(2)]
    return pa.concat_tables(table.replace_schema_metadata() for table in tables).unify_dictionaries()


@pytest.fixture(scope="module")
def english(table: pa.Table) -> Generated:
    return generate(table, seed=7, audio_pattern="{clip}")


@pytest.fixture(scope="module")
def russian(table: pa.Table) -> Generated:
    return generate(table, seed=7, audio_pattern="{clip}", language="ru")


def facts(item: Item) -> dict[str, object]:
    return item.model_dump(exclude={"id", "question", "answer", "language"})


def test_the_facts_are_those_of_the_english_questions(english: Generated, russian: Generated) -> None:
    assert set(TASKS) == {item.task for item in russian.items}
    assert list(map(facts, russian.items)) == list(map(facts, english.items))
    assert russian.skipped == english.skipped
    assert {item.language for item in russian.items} == {"ru"}
    ids = {item.id for item in russian.items}
    assert len(ids) == len(russian.items)
    assert ids.isdisjoint(item.id for item in english.items)
    assert all(re.fullmatch("qa_[0-9a-f]{20}", id) for id in ids)


#: Of the questions in each language, their ids and answers: what the code said before wordings moved to a table.
DIGESTS = {
    "en": "87042d679c8296e1226576e9554069fd29ce636d138e2f863756fd617141c9a8",
    "ru": "27d79fbc46e2edd3bb53bbc75fa8994f75e1c422a3746306f0222b480b67a63b",
}


@pytest.mark.parametrize("language", DIGESTS)
def test_questions_are_as_they_were(language: str) -> None:
    rows = [
        *event(0, 0, 60, 40, 10, 1.0), *event(11, 80, 130, -80, -30, 2.0), *event(5, 100, 200, 170, 0, 3.5),
        *((frame, 6, 0, frame - 150, 30, 2.5) for frame in range(150, 199)),
    ]  # fmt: skip
    items = [item for seed in range(40) for item in generate(make(rows), seed=seed, language=language).items]
    assert {item.task for item in items} == set(TASKS)
    digest = hashlib.sha256("\n".join(f"{item.id} {item.question} {item.answer}" for item in items).encode())
    assert digest.hexdigest() == DIGESTS[language]


def named(*names: str) -> pa.Table:
    rows = [row for place, _ in enumerate(names) for row in event(0, 40 * place, 40 * place + 30, 90 * place - 90)]
    table = make(rows).drop_columns(["class_id"])
    written = [name for name in names for _ in range(30)]
    return table.append_column("class_name", pa.array(written).dictionary_encode())


def test_a_class_without_a_russian_name_is_skipped_and_counted() -> None:
    made = generate(named("Bell", "Zither", "Knock"), seed=1, language="ru")
    for item in made.items:
        assert not re.search("[A-Za-z\0]", item.question + item.answer), item
        assert item.task in ("count_sources", "onset_from_location") or "Zither" not in {
            event.class_name for event in item.events or ()
        }
    assert made.skipped["detect_time", Why.NO_NAME] == 1
    assert made.skipped["detect_source", Why.NO_NAME] == 1
    assert made.skipped["identify_source_by_location", Why.NO_NAME] == 1
    assert not any(reason == Why.NO_NAME for _, reason in generate(named("Bell", "Zither"), seed=1).skipped)


def test_two_classes_of_one_name_are_one() -> None:
    """*Telephone* and *ringing phone* are both *телефонный звонок*: neither is singled out by it."""
    assert not generate(named("Telephone", "ringing phone"), seed=1, tasks=["detect_time"], language="ru").items
    assert len(generate(named("Telephone", "ringing phone"), seed=1, tasks=["detect_time"]).items) == 2


@pytest.mark.parametrize("profile", some(["so-bench", "so-bench-paper", "so-bench-legacy"], 3))
def test_right_answers_are_read_as_right(russian: Generated, profile: str) -> None:
    replies = [Prediction(id=item.id, prediction=item.answer) for item in russian.items]
    rows = count(russian.items, replies, PROFILES[profile]).rows
    assert not [row for row in rows if row.outcome is None or row.outcome.correct < 1]


@as_one
@pytest.mark.parametrize("x", sorted(NAMES))
def test_answers_about_every_class_are_read(x: str) -> None:
    y = "стук" if x != "стук" else "смех"
    right, other = NAMES[x].plain, NAMES[y].plain
    asked = [
        ("identify_source_by_location", said("identify_source_by_location", 0, "a0", x), right),
        ("multi_hop", said("multi_hop", 0, "a0", y, x), right),
        ("compare_distance", said("compare_distance", 0, "a0", x, y, more="ближе к слушателю"), right),
        (
            "relative_left_right",
            said("relative_left_right", 0, "a0", x, y, side="слева"),
            f"{NAMES[x].said} is to the left of {NAMES[y].said}.",
        ),
    ]
    questions = {
        "multi_hop": said("multi_hop", 0, "q0", y),
        "compare_distance": said("compare_distance", 0, "q0", x, y, more="ближе к слушателю"),
    }
    items = [
        Item(id=task, task=task, question=questions.get(task, "?"), answer=answer, canonical_answer=truth)
        for task, answer, truth in asked
    ]
    items.append(Item(id="0", task="multi_hop", question="?", answer=other, canonical_answer=other))
    replies = [Prediction(id=task, prediction=answer) for task, answer, _ in asked]
    rows = count(items, replies, PROFILES["so-bench"]).rows
    read = {row.item.id: row.outcome and row.outcome.correct for row in rows}
    assert {task: read[task] for task, _, _ in asked} == dict.fromkeys([task for task, _, _ in asked], 1.0)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    folder = tmp_path / "metadata_dev" / "dev-test"
    folder.mkdir(parents=True)
    for seed in range(4):
        table = synth.labels(f"m{seed}", synth.scene(seed, 30.0, 7))
        (folder / f"mix{seed:03}.csv").write_bytes(layout("starss23").write(table, ClipFile(f"m{seed}", "m.csv")))
    return folder.parent


def test_the_command_writes_a_file_that_is_found_right(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"
    done = invoke("convert", labels, "--to", "so-bench", "--fill", "language=ru", "-o", out)
    assert 0 == done.exit_code, done.stderr
    rows = records_of(out)
    english = tmp_path / "en.jsonl"
    seldio.convert(labels, english, "so-bench")
    others = records_of(english)
    assert [list(row) for row in rows] == [[*other, "language"] for other in others]
    assert {row["language"] for row in rows} == {"ru"}
    assert {finding.code for finding in seldio.validate(out).findings} == {
        finding.code for finding in seldio.validate(english).findings
    }
    (tmp_path / "replies.jsonl").write_text(
        "".join(json.dumps({"qa_id": row["qa_id"], "prediction": row["answer"]}) + "\n" for row in rows)
    )
    assert seldio.score(tmp_path / "replies.jsonl", out).overall["accuracy"] == 1.0


def test_a_wrong_answer_in_words_is_found(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"
    seldio.convert(labels, out, "so-bench", language="ru", tasks="detect_time")
    rows = out.read_text("utf-8").splitlines()
    row = json.loads(rows[0])
    row["answer"] = re.sub(r"с [\d,]+ до", "с 0,3 до", row["answer"])
    out.write_text("\n".join([json.dumps(row, ensure_ascii=False), *rows[1:]]) + "\n", "utf-8")
    assert "QAI116" in {finding.code for finding in seldio.validate(out).findings}
