"""Replies that were labelled twice: how well the labels agree, and how much of the half held out is read.

What a row is, and how it was labelled, stands in ``cases/answers/README.md``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from seldio.answers.extract import extract
from seldio.answers.judgements import AnsweredQuestion
from seldio.answers.layers import layers
from seldio.answers.names import Names
from seldio.answers.options import reading

CASES = Path(__file__).parent / "cases/answers"
#: Of what is asked for: the task, the key of what is read, and question and answer where the reading depends on them.
TASKS = {
    "azimuth": ("estimate_azimuth", "angle_deg", "?", "?"),
    "elevation": ("estimate_elevation", "elevation_deg", "?", "?"),
    "distance": ("estimate_distance", "distance_m", "?", "?"),
    "onset": ("onset_from_location", "onset_time_s", "?", "?"),
    "span": ("detect_time", "time_span", "?", "?"),
    "count": ("count_sources", "count", "?", "?"),
    "motion": ("classify_motion", "motion_label", "?", "stationary"),
    "side": ("relative_left_right", "left_right", "Is the crackle left or right of the vehicle?", "crackle is to the right of vehicle."),
}  # fmt: skip
NAMES = Names(["crackle", "vehicle"])


class Row(NamedTuple):
    half: str
    need: str
    asked: Any  # options, or a key of TASKS
    reply: str
    first: Any
    second: Any

    @property
    def agreed(self) -> bool:
        return bool(self.first == self.second or {self.first, self.second} <= {None, "refused"})


@cache
def rows() -> list[Row]:
    return [Row(*json.loads(line)) for line in (CASES / "labelled.jsonl").read_text("utf-8").splitlines()]


def read(row: Row) -> Any:
    """What is read of a reply; None where nothing is."""
    if isinstance(row.asked, list):
        return reading(row.reply, row.asked).option
    task, key, question, answer = TASKS[row.asked]
    found: Any = extract(AnsweredQuestion("1", task, question, answer, answer, {}, row.reply), NAMES)
    return found and found["prediction"][key]


def right(row: Row) -> bool:
    value, label = read(row), row.first
    if label in (None, "refused") or value is None or isinstance(value, str):
        return bool(value == (None if label == "refused" else label))
    if isinstance(label, list):
        return bool(value == label)
    return abs(value - label) < 0.02 or abs(value) == abs(label) == 180


def test_the_two_labels_agree_as_the_readme_says() -> None:
    def name(row: Row, label: Any) -> str:
        place = row.asked.index(label) if isinstance(row.asked, list) and label in row.asked else label
        return f"{place if isinstance(row.asked, list) or label in (None, 'refused') else [row.asked, label]}"

    pairs = [(name(row, row.first), name(row, row.second)) for row in rows()]
    agreed = sum(one == other for one, other in pairs)
    first, second = (Counter(pair[place] for pair in pairs) for place in (0, 1))
    expected = sum(first[each] * second[each] for each in first) / len(pairs) ** 2
    kappa = (agreed / len(pairs) - expected) / (1 - expected)

    assert len({(str(row.asked), row.reply) for row in rows()}) == len(rows()) > 1000
    told = re.search(r"([\d,]+) of ([\d,]+), Cohen's kappa ([\d.]+)", (CASES / "README.md").read_text("utf-8"))
    assert told is not None
    assert (f"{agreed:,}", f"{len(pairs):,}", f"{kappa:.3f}") == told.groups()


@pytest.mark.parametrize(("need", "least"), [("form", 0.95), ("quantity", 0.9), ("russian", 0.85), ("refusal", 0.85)])
def test_most_of_the_half_held_out_is_read(need: str, least: float) -> None:
    asked = [row for row in rows() if row.half == "held out" and row.need == need and row.agreed]
    assert len(asked) > 25
    assert sum(map(right, asked)) >= least * len(asked)


def test_of_the_half_held_out_hardly_any_is_read_wrongly() -> None:
    asked = [row for row in rows() if row.half == "held out" and row.agreed]
    assert sum(read(row) is not None and not right(row) for row in asked) <= 0.01 * len(asked)


def test_refusals_are_told_from_replies_that_say_something_else() -> None:
    told = [(row, reading(row.reply, row.asked).state == "refused") for row in rows() if isinstance(row.asked, list)]
    assert sum(found for row, found in told if row.first == "refused") >= 0.95 * sum(
        row.first == "refused" for row, _ in told
    )
    assert sum(found for row, found in told if row.first not in (None, "refused")) <= 0.01 * len(told)


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: layer.name)
def test_each_layer_does_what_its_examples_say(layer: Any) -> None:
    assert layer.examples
    assert [(reply, layer.read(reply)) for reply, _ in layer.examples] == [*layer.examples]
