"""Questions that can be answered without listening, and recordings that do not hold what is asked."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio.conversion.item_inputs import read_items
from seldio.findings import raise_errors
from seldio.rules import item_blind
from seldio.rules.item_blind import Blind, lower_bound
from seldio.rules.item_table import ItemFile, ItemTable

SOUNDS = ["rain", "a bell", "a dog", "two doors", "a car", "a clock"]
Answer = Callable[[random.Random, list[str]], str]


def questions(path: Path, answer: Answer, number: int = 400, seed: int = 1) -> Path:
    luck = random.Random(seed)
    rows = []
    for n in range(number):
        options = luck.sample(SOUNDS, 4)
        rows.append({"id": f"q{n}", "audio": [f"{n}.wav"], "question": f"What is heard in room {luck.randrange(5)}?",
                     "options": options, "answer": answer(luck, options)})  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def codes(path: Path) -> list[str]:
    return [one.code for one in seldio.validate(path).findings if one.code.startswith("QAI4")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda luck, options: luck.choice(options), []),
        (lambda luck, options: options[2] if luck.random() < 0.4 else luck.choice(options), ["QAI401"]),
        (lambda luck, options: max(options, key=len) if luck.random() < 0.5 else luck.choice(options), ["QAI402"]),
        (lambda luck, options: "rain" if "rain" in options and luck.random() < 0.8 else luck.choice(options), ["QAI403"]),
    ],
    ids=["fair", "place", "length", "answer"],
)  # fmt: skip
def test_what_gives_answers_away(answer: Answer, expected: list[str], tmp_path: Path) -> None:
    found = codes(questions(tmp_path / "qa.jsonl", answer))
    assert set(expected) <= set(found)
    assert expected or not found
    assert "QAI401" not in found or "QAI401" in expected


def test_words_that_go_together(tmp_path: Path) -> None:
    """Each answer is as frequent, but the question tells which one is right."""
    rows = [
        {"id": f"q{n}", "audio": ["a.wav"], "task": "motion", "question": f"How does the {('car', 'clock')[n % 2]} move?",
         "answer": ("moving", "stationary")[n % 2]}
        for n in range(100)
    ]  # fmt: skip
    path = tmp_path / "qa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (finding,) = (one for one in seldio.validate(path).findings if one.code.startswith("QAI4"))
    assert finding.code == "QAI404"
    assert "right in 100% of 100 questions of motion, at least" in finding.message
    assert finding.message.endswith("guessing gets 50%")


def test_few_questions_tell_nothing(tmp_path: Path) -> None:
    assert not codes(questions(tmp_path / "qa.jsonl", lambda _, options: options[0], number=item_blind.FEWEST - 1))


def test_no_false_alarm(tmp_path: Path) -> None:
    """Of 40 fair sets none is reported."""
    for seed in range(40):
        (reading,) = read_items(questions(tmp_path / "qa.jsonl", lambda luck, options: luck.choice(options), 200, seed),
                                None, raise_errors)  # fmt: skip
        (group,) = Blind.of(ItemTable.of(reading)).groups
        guesses = [group.usual, group.guess("place", group.learned(np.arange(len(group.texts)), group.place)),
                   group.guess("words", group.learned(*item_blind._features(group)))]  # fmt: skip
        assert not any(guess.telling for guess in guesses), seed


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=4))
def test_any_division_gives_the_same_sample(cuts: list[int]) -> None:
    rows = [{"id": f"q{n}", "question": "?", "options": ["a", "b"], "answer": "ab"[n % 2]} for n in range(300)]
    reading = seldio.formats.get("items", seldio.formats.ItemFormat).read(  # type: ignore[attr-defined]
        "".join(json.dumps(row) + "\n" for row in rows).encode(), "x.jsonl", raise_errors
    )
    whole = ItemTable.of(reading)
    edges = [0, *sorted(cuts), 300]
    parts = [ItemTable(whole.table.slice(low, high - low), "items", "items", "x.jsonl", reading)
             for low, high in itertools.pairwise(edges)]  # fmt: skip
    file = ItemFile([(part, 0) for part in parts], lambda _: reading)
    most, item_blind.MOST = item_blind.MOST, 100
    try:
        one, several = Blind.of(whole), Blind.sum(file, [Blind.of(part) for part in parts])
    finally:
        item_blind.MOST = most
    assert len(one.sample) == 100
    assert one.sample.equals(several.sample)
    assert (one.number, several.number) == (300, 300)


def test_the_bound_is_that_of_wilson() -> None:
    assert math.isclose(lower_bound(0.5, 100, 1.96), 0.4038, abs_tol=1e-4)
    assert lower_bound(1.0, 10) < 0.6


def test_questions_made_of_real_labels_stay_under_the_bound(tmp_path: Path) -> None:
    labels = Path(os.environ.get("SELDIO_SHARED", "../shared")) / "data/starss22-labels"
    if not labels.is_dir():
        pytest.skip("the labels of STARSS22 are not here")
    seldio.convert(labels, tmp_path / "qa.jsonl", "so-bench", balance=True, per_task=300)
    assert not codes(tmp_path / "qa.jsonl")


@pytest.mark.parametrize(("channels", "expected"), [(1, ["QAI310"]), (4, [])])
def test_directions_of_one_channel(channels: int, expected: list[str], tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full((800, channels), 0.1), 16_000)
    rows: list[dict[str, Any]] = [
        {"id": "1", "audio": ["a.wav"], "question": "What is heard?", "answer": "A bell."},
        {"id": "2", "audio": ["a.wav"], "question": "Is the bell to the left or to the right?", "answer": "Left."},
    ]
    path = tmp_path / "qa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = [one for one in seldio.validate(path).findings if one.code == "QAI310"]
    assert [one.code for one in found] == expected
    assert all(one.line == 2 for one in found)
