"""Exact match and multiple choice: the official programs' answers, the grammar of letters, joins and notices."""

from __future__ import annotations

import json
import re
import string

import numpy as np
import pytest
from conftest import Kept
from hypothesis import example, given
from hypothesis import strategies as st

from seldio.answers.letters import letter_of
from seldio.answers.matching import exact_match, passing, string_match
from seldio.errors import DataError
from seldio.reports.tables import ScoreReport
from seldio.schema.qa import Item, Prediction
from seldio.scores import choices

CYRILLIC_A, CYRILLIC_VE, CYRILLIC_BE, CYRILLIC_ES = "\u0410", "\u0412", "\u0411", "\u0421"


def item(id: str, answer: str | None = "B", options: int = 4, **more: object) -> Item:
    fields = {"id": id, "question": "?", "options": [f"вариант {n}" for n in range(options)], "answer": answer}
    return Item.model_validate(fields | more)


def said(**texts: str | None) -> list[Prediction]:
    return [Prediction(id=id, prediction=text) for id, text in texts.items()]


def names(report: ScoreReport) -> dict[str, bool]:
    return {notice.name: notice.grave for notice in report.notices}


def rows(report: ScoreReport, table: str) -> dict[str, dict[str, object]]:
    found = next(each for each in report.tables if each.name == table)
    columns = [column.name for column in found.columns]
    return {str(row[0]): dict(zip(columns, row, strict=True)) for row in found.rows}


def test_goldens(official: Kept) -> None:
    lines = (official / "exact-match.jsonl").read_text("utf-8").splitlines()
    golden = [json.loads(line) for line in lines]
    assert len(golden) == 22
    assert [float(exact_match(row["prediction"], row["reference"])) for row in golden] == [
        row["exact_match"] for row in golden
    ]


def harness(prediction: str, reference: str) -> bool:
    """The steps of lm-eval's exact_match, on its numpy arrays."""
    table = str.maketrans("", "", string.punctuation)
    one, other = (np.char.translate(np.char.lower(np.asarray([text])), table) for text in (prediction, reference))
    return bool((one == other)[0])


TEXT = st.text(st.sampled_from("BbCc.,)( \n\0ОТВЕТответ:\u0412«»—"), max_size=6)


@given(TEXT, st.sampled_from(["B", "", "b.", "C\0"]))
@example("B\0.", "B")
@example("B\0", "B")
def test_exact_match_is_that_of_the_harness(prediction: str, reference: str) -> None:
    assert exact_match(prediction, reference) == harness(prediction, reference)


@pytest.mark.parametrize(
    ("text", "written", "rule"),
    [
        (" b.\n", "b", "alone"),
        ("**B**", "B", "alone"),
        ("«B»", "B", "alone"),
        (CYRILLIC_BE, CYRILLIC_BE, "alone"),
        ("ОТВЕТ B", "B", "answer word"),
        ("Ответ: B на причале", "B", "answer word"),
        ("Option A is wrong. The correct answer is option (C).", "C", "answer word"),
        (f"Правильный ответ — {CYRILLIC_VE}.", CYRILLIC_VE, "answer word"),
        ("ОТВЕТ A\n\nнет, ОТВЕТ D", "D", "answer word"),
        ("B) причал", "B", "first"),
        ("B. на причале", "B", "first"),
        ("B—причал", "B", "first"),
        ("I would say option B", "B", "named"),
    ],
)
def test_letters_that_are_found(text: str, written: str, rule: str) -> None:
    found = letter_of(text)
    assert found is not None
    assert (found.written, found.rule) == (written, rule)


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "...", "A dog barks", "В аэропорту", "С одной стороны", "Ответ: в аэропорту", "The answer is A dog",
        "B или C", "Ответ: B или C", "A) аэропорт, B) причал", "вариант A, вариант B", "ANSWER: AB", "A.M. radio",
        "В-третьих, нет", "I think so", "B2", "A, B, C",
    ],
)  # fmt: skip
def test_no_letter_is_better_than_a_wrong_one(text: str) -> None:
    assert letter_of(text) is None


def test_cyrillic_letters_have_two_readings() -> None:
    readings = {}
    for letter in (CYRILLIC_A, CYRILLIC_BE, CYRILLIC_VE, CYRILLIC_ES):
        found = letter_of(f"Ответ: {letter}")
        assert found is not None
        assert found.cyrillic
        readings[letter] = (found.latin, found.by_alphabet)
    assert list(readings.values()) == [("A", "A"), (None, "B"), ("B", "C"), ("C", None)]


@given(st.sampled_from("ABCD"), st.text(st.sampled_from(" .,*()[]:!\n«»"), max_size=5), st.text(" \n.)*", max_size=5))
def test_punctuation_never_hides_a_letter(letter: str, before: str, behind: str) -> None:
    found = letter_of(before + letter + behind)
    assert found is not None
    assert found.latin == letter


def test_each_way_of_counting() -> None:
    answers = {
        "1": "B", "2": " B", "3": "ОТВЕТ B", "4": "B) причал", "5": CYRILLIC_VE, "6": "C", "7": "", "8": "b.",
        "9": "РАССУЖДЕНИЕ: шум\n\nОТВЕТ B", "10": CYRILLIC_BE,
    }  # fmt: skip
    report = choices.score([item(id) for id in answers], said(**answers), system="s", profile="ruenvaqa")
    assert report.overall == {
        "system": "s", "items": 10, "exact_match": 0.2, "stripped": 0.3, "answer_word": 0.4, "letter": 0.6,
        "letter_by_look": 0.7, "read": 0.8, "chance": 0.25,
    }  # fmt: skip
    assert rows(report, "overall")["people, as published"]["exact_match"] == 0.9497
    assert names(report) == {
        "white-space": True, "text-around": True, "answer-word": True, "cyrillic-letters": True, "blank-line": True,
        "empty": False,
    }  # fmt: skip
    told = next(notice.text for notice in report.notices if notice.name == "cyrillic-letters")
    assert "1 of which look right and 1 are right if А, Б, В, Г" in told
    assert report.verdict == (
        "The number of MERA and of its paper is exact: 20.0 %. stripped, ОТВЕТ, letter, by look, as read are "
        "other readings of the same replies, and no published numbers."
    )


@pytest.mark.parametrize(
    ("items", "predictions", "message"),
    [
        ([], [], "no question"),
        ([item("1"), item("1")], said(**{"1": "B"}), "have the id 1"),
        ([item("1", None)], said(**{"1": "B"}), "answer of all questions is not in the file"),
        ([item("1"), item("2")], said(**{"1": "B"}), "1 question of 2 without prediction (2)"),
        ([item("1")], said(**{"1": "B", "9": "A"}), "1 prediction without question (9)"),
        ([item("1")], [Prediction(id="1", prediction="B"), Prediction(prediction="B")], "1 prediction of 2 without id"),
        ([item("1"), item("2")], [Prediction(prediction="B")], "1 prediction of 1 without id"),
    ],
)
def test_what_does_not_fit(items: list[Item], predictions: list[Prediction], message: str) -> None:
    for profile in ("ruenvaqa", "multiple-choice"):
        with pytest.raises(DataError, match=re.escape(message)):
            choices.score(items, predictions, profile=profile)


def test_string_match() -> None:
    options = ["Man", "Woman", "Old man"]
    assert string_match("It is a MAN.", "Man", options)
    assert not string_match("man or woman", "Man", options)
    assert not string_match("", "Man", options)
    assert not string_match("(A) Man", "Man", ["Man", "A woman"])  # the label is a word of a wrong option
    assert passing("dog then cat", ["dog then cat", "cat then dog", "dog"]) == ["cat then dog"]
