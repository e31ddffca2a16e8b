"""What free answers say, phrasing by phrasing; null where a judge has to say, "nothing" where it surely does not."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from seldio.answers.matching import letter_of
from seldio.schema.qa import AnswerMeta, Item, Prediction
from seldio.scores.so_bench import Scored, count, get

ROWS: list[tuple[str, str, Any]] = [
    tuple(json.loads(line))
    for name in ("phrasings", "russian")
    for line in (Path(__file__).parent / f"cases/answers/{name}.jsonl").read_text("utf-8").splitlines()
]
#: The tasks whose answer is a number, with the key of the right one, and a value of it that nothing in the table says.
NUMBERS = {
    "azimuth": ("estimate_azimuth", "azimuth_deg", 7.7),
    "elevation": ("estimate_elevation", "elevation_deg", 7.7),
    "distance": ("estimate_distance", "distance_m", 7.7),
    "onset": ("onset_from_location", "onset_time", 7.7),
    "span": ("detect_time", "time_span", [7.7, 8.8]),
    "count": ("count_sources", "active_count", 77),
}
#: The others: task, question and right answer.
WORDS = {
    "source": ("identify_source_by_location", "What is the sound source to the front-left?", "dog"),
    "higher": ("compare_elevation", "Which is higher: the guitar or the bell?", "guitar"),
    "side": (
        "relative_left_right",
        "Is the crackle left or right of the vehicle?",
        "crackle is to the right of vehicle.",
    ),
    "motion": ("classify_motion", "How does it move?", "stationary"),
}
TIGHT = get("so-bench").changed(azimuth=0.01, elevation=0.01, distance=0.02, onset=0.01)


def item(number: int, about: str, reads: Any) -> Item:
    if about in NUMBERS:
        task, key, other = NUMBERS[about]
        truth = other if reads in (None, "nothing") else reads
        meta = AnswerMeta.model_validate({key: truth})
        return Item(id=str(number), task=task, question="?", answer=str(truth), canonical_answer=str(truth), answer_meta=meta)  # fmt: skip
    task, question, answer = WORDS[about]
    return Item(id=str(number), task=task, question=question, answer=answer, canonical_answer=answer)


@cache
def scored() -> dict[str, Scored]:
    """All answers but those that are letters, scored at once without a judge; other names are known from the table."""
    named = [(number, *row) for number, row in enumerate(ROWS) if row[0] != "letter"]
    items = [item(number, about, reads) for number, about, _, reads in named]
    rows = [Prediction(id=str(number), prediction=text) for number, _, text, _ in named]
    others = ("guitar", "bell", "dog")
    items += [Item(id=name, task="multi_hop", question="?", answer=name, canonical_answer=name) for name in others]
    rows += [Prediction(id=name, prediction=name) for name in others]
    return {row.item.id: row for row in count(items, rows, TIGHT).rows}


def read(number: int) -> Any:
    """What is read out of an answer, in the words of the table; ``"wrong"`` for another number than the right one."""
    about, text, reads = ROWS[number]
    if about == "letter":
        found = letter_of(text)
        return found and found.latin
    row = scored()[str(number)]
    if row.how == "undecided":
        return None
    if about in WORDS:
        return row.outcome.correct
    if not row.outcome.parseable:
        return "nothing"
    return reads if row.outcome.correct > 0.999 else f"wrong: {row.judgement}"


@pytest.mark.slow
@pytest.mark.parametrize("about", sorted({about for about, _, _ in ROWS}))
def test_answers_say_what_they_mean(about: str) -> None:
    """Every phrasing, with what is read and what it says where the two differ."""
    rows = [(text, read(number), says) for number, (what, text, says) in enumerate(ROWS) if what == about]

    assert rows
    assert [] == [row for row in rows if row[1] != row[2]]
