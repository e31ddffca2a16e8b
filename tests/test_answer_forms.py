"""The form of right answers: each format says it, writers give it, and validation asks for it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from commands import invoke
from effort import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio import formats, validate
from seldio.findings import raise_errors
from seldio.formats import ItemFormat
from seldio.formats.items import ANSWERS
from seldio.schema.qa import Item

ITEMS = [format for format in formats.ITEM_FORMATS if format.holds == "items"]
TEXTS = [format for format in ITEMS if format.answers == "text"]
LETTERS = [format for format in ITEMS if format.answers == "letter"]
OWN = {"items", "items-parquet"}  # which hold the questions of any benchmark
#: Letters where texts belong, and the other way round.
FORMS = {"QAI121", "QAI128"}
CHOICES = ["dog", "cat", "cow", "goat"]


def item(answer: str | None, **changes: Any) -> Item:
    own = {"id": "1", "audio": ["a.wav"], "question": "Which?", "options": CHOICES, "task": "t", "answer": answer}
    return Item.model_validate(own | changes)


def written(format: ItemFormat, folder: Path, *items: Item) -> Path:
    path = folder / f"{format.name}{format.suffix}"
    path.write_bytes(format.write(items))
    return path


def codes(path: Path) -> set[str]:
    return {finding.code for finding in validate(path, format=path.stem).findings} - {"QAI309"}


def test_each_format_of_questions_says_the_form_of_its_answers() -> None:
    assert {*ANSWERS} == {format.answers for format in ITEMS}
    assert OWN == {format.name for format in ITEMS if format.letters}  # what any question is converted to
    assert all(format.graded for format in (*TEXTS, *LETTERS))
    page = invoke("formats", "mmau").output
    assert "answers     the text of the right option\n" in page


@pytest.mark.parametrize(
    ("source", "target"), some(itertools.product([*TEXTS, *LETTERS], repeat=2), 3), ids=lambda format: format.name
)
def test_answers_are_written_in_the_form_of_the_target_and_back(
    source: ItemFormat, target: ItemFormat, tmp_path: Path
) -> None:
    own = ["cat", "dog"] if source.answers == "text" else ["B", "A"]
    path = written(source, tmp_path, *(item(answer, id=str(n)) for n, answer in enumerate(own, 1)))

    def to(format: ItemFormat, path: Path, name: str) -> Path:
        out = tmp_path / f"{name}{format.suffix}"
        seldio.convert(path, out, format.name, allow_loss="all")
        return out

    there = to(target, path, "there")
    kept = source.answers if target.name == "items-parquet" else target.answers  # a table is of the format of its rows
    assert answers(target, there) == (["cat", "dog"] if kept == "text" else ["B", "A"])
    back = own if source.name != "items-parquet" or kept == "text" else ["B", "A"]
    assert answers(source, to(source, there, "back")) == back


def answers(format: ItemFormat, path: Path) -> list[str | None]:
    reading = format.read(path.read_bytes(), str(path), raise_errors)
    return [row.answer for row in reading.rows if isinstance(row, Item)]


@pytest.mark.parametrize(
    "ways", some([["items"], ["items-parquet"], ["items", "items-parquet"], ["items-parquet", "items"]], 3)
)
@pytest.mark.parametrize(
    ("source", "form"),  # an answer in another form is an error in formats that take no letters
    [(each, form) for each in ITEMS for form in ("letter", "text") if each.letters or form == each.answers],
    ids=lambda each: getattr(each, "name", each),
)
def test_right_replies_score_in_full_however_questions_were_made(
    source: ItemFormat, ways: list[str], form: str, tmp_path: Path
) -> None:
    own = ["B", "A"] if form == "letter" else ["cat", "dog"]
    path = written(source, tmp_path, *(item(answer, id=str(n)) for n, answer in enumerate(own, 1)))
    for number, way in enumerate(ways):
        out = tmp_path / f"{number}{formats.get(way, ItemFormat).suffix}"
        seldio.convert(path, out, way, allow_loss="all")
        path = out
    for name, replies in (("letters", ["B", "A"]), ("texts", ["cat", "dog"])):
        said = tmp_path / f"{name}.jsonl"
        said.write_text("".join(f'{{"id": "{n}", "prediction": "{text}"}}\n' for n, text in enumerate(replies, 1)))
        row = scored(said, path, "multiple-choice")
        assert row["as read"] == 1
        assert row["accuracy" if name == "texts" else "letter"] == 1
    assert scored(tmp_path / "letters.jsonl", path, "ruenvaqa")["letter"] == 1


def scored(predictions: Path, questions: Path, profile: str) -> dict[str, Any]:
    report = seldio.score(predictions, questions, profile=profile)
    table = report.tables[0]
    return dict(zip((column.title for column in table.columns), table.rows[0], strict=True))


@pytest.mark.parametrize("format", [*TEXTS, *LETTERS], ids=lambda format: format.name)
def test_an_answer_in_the_other_form_is_an_error_and_its_repair_writes_nothing_else(
    format: ItemFormat, tmp_path: Path
) -> None:
    own, other = (["cat", "dog"], ["B", "dog"]) if format.answers == "text" else (["B", "A"], ["cat", "A"])
    right, wrong = ([item(answer, id=str(n)) for n, answer in enumerate(some, 1)] for some in (own, other))
    path = written(format, tmp_path, *wrong)
    before = path.read_bytes()
    [finding] = [each for each in validate(path, format=format.name).findings if each.code in FORMS]
    code = "QAI121" if format.answers == "text" else "QAI128"
    assert (finding.code, finding.severity) == (code, "warning" if format.letters else "error")  # seldio reads both
    assert ("write B: " if format.answers == "letter" else 'write "cat": ') in (finding.hint or "")
    seldio.validate(path, format=format.name, fix=True)
    if format.answers == "text":
        assert path.read_bytes() == before  # a guess is not safe; that a text is an option's is none
        seldio.validate(path, format=format.name, unsafe_fixes=True)
    assert path.read_bytes() == format.write(right)
    assert not FORMS & codes(path)


NUMERALS = st.sampled_from(["3", "-3", "0", "007", "3.0", "1e5", "NaN", "true", "null", "1,000", "٣", " 3"])
FIELDS = ("question", "task", "answer", "canonical_answer", "instruction", "split", "dataset")


@settings(max_examples=examples(60))
@given(st.data())
@pytest.mark.parametrize("format", ITEMS, ids=lambda format: format.name)
def test_a_numeral_as_text_stays_text(format: ItemFormat, data: st.DataObject) -> None:
    own = ("id", "audio", "question", "options", *FIELDS)
    values = {field: data.draw(NUMERALS, field) for field in FIELDS if field in format.carries}
    options = data.draw(st.lists(NUMERALS, min_size=2, max_size=2, unique=True))
    more: dict[str, Any] = {"options": options} if "options" in format.carries else {}
    more |= {"extra": {"note": data.draw(NUMERALS)}} if "extra" in format.carries else {}
    if format.name == "jasco":
        values["question"] = ""  # the file implies its own
    audio = ["dataset/v0/3.wav"] if format.name == "jasco" else ["3.wav"]
    given = Item.model_validate({"id": "3", "audio": audio, "question": "3", **values, **more})
    reading = format.read(format.write([given]), f"x{format.suffix}", raise_errors)
    [row] = reading.rows
    kept = {field: getattr(given, field) for field in own if field in format.carries and format.name != "jasco"}
    assert kept == {field: getattr(row, field) for field in kept}
    assert [(row.id, getattr(row, "answer", None))] == [("3", given.answer)]
    assert (row.extra or {}).get("note") == (given.extra or {}).get("note")
