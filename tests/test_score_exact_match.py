"""Exact match and multiple choice: the official programs' answers, the grammar of letters, joins and notices."""

from __future__ import annotations

import json
import math
import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import rows_of
from conftest import Kept
from effort import grows_no_faster
from hypothesis import example, given
from hypothesis import strategies as st

from seldio import formats
from seldio.answers.matching import exact_match, letter_of, string_match
from seldio.errors import DataError
from seldio.findings import raise_errors
from seldio.reports.tables import ScoreReport
from seldio.schema.qa import Item, Prediction
from seldio.scores import choices

CYRILLIC_A, CYRILLIC_VE, CYRILLIC_BE, CYRILLIC_ES = "\u0410", "\u0412", "\u0411", "\u0421"


def item(id: str, answer: str | None = "B", options: int = 4, **more: object) -> Item:
    fields = {"id": id, "question": "?", "options": [f"вариант {n}" for n in range(options)], "answer": answer}
    return Item.model_validate(fields | more)


def said(**texts: str | None) -> list[Prediction]:
    return [Prediction(id=id, prediction=text) for id, text in texts.items()]


def score(*given: Any, **options: Any) -> ScoreReport:
    return choices.count(*given, **options).report("s")


def names(report: ScoreReport) -> dict[str, bool]:
    return {notice.name: notice.grave for notice in report.notices}


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
        assert found.cyrillic
        readings[letter] = (found.latin, found.index)
    assert list(readings.values()) == [("A", 0), (None, 1), ("B", 1), ("C", 2)]


@given(st.sampled_from("ABCD"), st.text(st.sampled_from(" .,*()[]:!\n«»"), max_size=5), st.text(" \n.)*", max_size=5))
def test_punctuation_never_hides_a_letter(letter: str, before: str, behind: str) -> None:
    found = letter_of(before + letter + behind)
    assert found.latin == letter


@pytest.mark.parametrize(
    ("before", "piece", "behind"), [("", "ответ ", ""), ("ответ", " ", ""), ("B", ".", "x"), ("", "option ", "B")]
)
def test_the_time_for_long_answers_grows_with_them_and_no_faster(before: str, piece: str, behind: str) -> None:
    assert grows_no_faster(lambda size: letter_of(before + piece * size + behind), 20_000)


def test_each_way_of_counting() -> None:
    answers = {
        "1": "B", "2": " B", "3": "ОТВЕТ B", "4": "B) причал", "5": CYRILLIC_VE, "6": "C", "7": "", "8": "b.",
        "9": "РАССУЖДЕНИЕ: шум\n\nОТВЕТ B", "10": CYRILLIC_BE,
    }  # fmt: skip
    report = score([item(id) for id in answers], said(**answers), profile="ruenvaqa")
    assert report.overall == {
        "system": "s", "items": 10, "exact_match": 0.2, "stripped": 0.3, "answer_word": 0.4, "letter": 0.6,
        "letter_by_look": 0.7, "read": 0.8, "chance": 0.25,
    }  # fmt: skip
    assert rows_of(report, "overall")["people, as published"]["exact_match"] == 0.9497
    layers = {name: row["n"] for name, row in rows_of(report, "replies").items()}
    assert layers == {"read: letter, alone": 6, "read: letter, answer word": 2, "read: letter, first": 1, "empty": 1}
    assert names(report) == {"only-read": True, "cyrillic-letters": True}
    assert report.verdict == (
        "The number of MERA and of its paper is exact: 20.0 %. stripped, ОТВЕТ, letter, by look, as read are "
        "other readings of the same replies, and no published numbers."
    )


def published(path: Path) -> list[Item]:
    format = formats.format_of_file(path.read_bytes(), path.name)
    reading = format.read(path.read_bytes(), path.name, raise_errors)
    return [row for row in reading.rows if isinstance(row, Item)]


def test_missing_ones_count_as_wrong_where_they_are_allowed() -> None:
    report = score([item("1"), item("2", "")], said(**{"1": "B", "9": "B"}), allow_missing=True, profile="ruenvaqa")
    assert report.overall["exact_match"] == 0.5
    assert names(report) == {"missing": True, "answer-not-an-option": True, "surplus": False}


def test_the_last_of_several_counts() -> None:
    twice = [*said(**{"1": "B"}), *said(**{"1": "A"})]
    report = score([item("1")], twice, profile="ruenvaqa")
    assert report.overall["exact_match"] == 0
    assert names(report)["repeated"] is True
    same = score([item("1")], [*said(**{"1": "B"}), *said(**{"1": "B"})], profile="ruenvaqa")
    assert names(same)["repeated"] is False


@given(st.lists(st.tuples(st.sampled_from("ABCD"), TEXT), min_size=1, max_size=12))
def test_no_measure_misses_what_a_stricter_one_finds(pairs: list[tuple[str, str]]) -> None:
    items = [item(str(n), answer) for n, (answer, _) in enumerate(pairs)]
    outputs = said(**{str(n): text for n, (_, text) in enumerate(pairs)})
    overall = score(items, outputs, profile="ruenvaqa").overall
    share = {name: float(str(value)) for name, value in overall.items() if name not in ("system", "items")}
    assert share["exact_match"] <= min(share["stripped"], share["answer_word"])
    assert share["stripped"] <= share["letter"] <= share["letter_by_look"] <= 1


def test_string_match() -> None:
    options = ["Man", "Woman", "Old man"]
    assert string_match("It is a MAN.", "Man", options)
    assert not string_match("man or woman", "Man", options)
    assert not string_match("", "Man", options)
    assert not string_match("(A) Man", "Man", ["Man", "A woman"])  # the label is a word of a wrong option


def choice(id: str, options: list[str], answer: str, **extra: str) -> Item:
    return Item(id=id, question="?", options=options, answer=answer, task="sound", extra=dict(extra))


def test_each_way_of_reading_a_choice() -> None:
    options = ["Man", "Woman"]
    texts = {"1": "Man", "2": "A", "3": "(A) man", "4": "Woman", "5": "A man speaks"}
    items = [choice(id, options, "Man", category="Reasoning", difficulty="easy") for id in (*texts, "6")]
    report = score(items, said(**texts), allow_missing=True, profile="mmau")
    shares = {"accuracy": 3 / 5, "over_all": 3 / 6, "exact": 1 / 6, "text": 2 / 6, "letter": 2 / 6, "read": 4 / 6}
    assert shares == pytest.approx({name: report.overall[name] for name in shares})
    assert names(report) == {"missing": True, "letter-alone": True, "only-read": True}
    tables = {table.name for table in report.tables}
    assert tables == {"overall", "replies", "assumptions", "task", "category", "difficulty", "intervals"}


def test_odd_questions_are_told() -> None:
    questions = (("1", ["Man", "Man", "Dog"], "Man"), ("2", ["a b", "b a"], "a b"), ("3", ["x", "y"], "z"))
    report = score([choice(*each) for each in questions], said(**{"1": "B", "2": "b a", "3": "z"}))
    assert report.overall["letter"] == pytest.approx(1 / 3)
    assert names(report) == {
        "answer-not-an-option": True, "letter-alone": True, "only-read": True, "only-official": True,
    }  # fmt: skip


def test_nothing_predicted_is_not_defined() -> None:
    report = score([choice("1", ["x", "y"], "x")], [], allow_missing=True)
    assert math.isnan(float(str(report.overall["accuracy"])))
    assert report.overall["over_all"] == 0
    with pytest.raises(DataError, match="no question"):
        score([], [])
