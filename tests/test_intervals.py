"""Intervals of one system: Wilson's, or over recordings where questions share one, and marked where few."""

from __future__ import annotations

import numpy as np
import pytest

from seldio.reports.tables import Column, Interval, UnreliableInterval, WeakInterval
from seldio.schema.qa import Item, Prediction
from seldio.scores import choices, intervals
from seldio.scores.intervals import wilson

COLUMN = Column("accuracy", "accuracy", "%", 1, "higher")


def cells(values: np.ndarray, clips: np.ndarray) -> tuple[object, ...]:  # type: ignore[type-arg]
    (row,) = intervals.table([COLUMN], values[:, None], clips, {}).rows
    return row


def test_questions_with_recordings_of_their_own_have_wilsons() -> None:
    values = np.array([1.0] * 30 + [0.0] * 20)
    _, n, recordings, found, how = cells(values, np.arange(50))
    assert (n, recordings, how) == (50, 50, "Wilson")
    assert found == Interval(0.6, *wilson(30, 50))
    assert type(found) is Interval


def test_questions_that_share_a_recording_count_together() -> None:
    values = np.repeat(np.array([1.0] * 30 + [0.0] * 20), 10)
    _, n, recordings, found, how = cells(values, np.repeat(np.arange(50), 10))
    assert (n, recordings, how) == (500, 50, "bootstrap over recordings")
    assert isinstance(found, Interval)
    low, high = wilson(30, 50)  # ten copies of a question tell nothing new
    assert (found.low, found.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))
    assert cells(values, np.repeat(np.arange(50), 10)) == cells(values, np.repeat(np.arange(50), 10))
    right = cells(np.ones(100), np.repeat(np.arange(50), 2))
    assert right[3] == Interval(1.0, *wilson(50, 50))


def test_many_recordings_have_the_spread_of_their_sums() -> None:
    random = np.random.default_rng(0)
    values, clips = (random.random(60_000) < 0.3).astype(float), np.arange(60_000) // 2
    found = cells(values, clips)[3]
    assert isinstance(found, Interval)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.sqrt(0.3 * 0.7 / 60_000), rel=0.05)


@pytest.mark.parametrize(("count", "kind", "how"), [
    (4, UnreliableInterval, "too few"), (12, WeakInterval, "Wilson"), (20, Interval, "Wilson"),
])  # fmt: skip
def test_few_are_marked(count: int, kind: type, how: str) -> None:
    row = cells(np.arange(count) % 2.0, np.arange(count))
    assert type(row[3]) is kind
    assert row[4] == how


def test_every_score_of_answers_has_them_by_group() -> None:
    def asked(answer: str) -> list[Item]:
        return [Item.model_validate({"id": str(n), "task": "ab"[n % 2], "options": ["x", "y"], "question": "?",
                                     "answer": answer}) for n in range(30)]  # fmt: skip

    said = [Prediction.model_validate({"id": str(n), "prediction": "x" if n % 2 else "y"}) for n in range(30)]
    report = choices.score(asked("x"), said)
    assert [(row[0], row[1]) for row in report.table("intervals")] == [("all", 30), ("task: a", 15), ("task: b", 15)]
    assert [row[3][0] for row in report.table("intervals")] == [0.5, 0.0, 1.0]  # type: ignore[index]
    assert report.overall["accuracy"] == 0.5
    assert [row[4][0] for row in report.table("intervals")] == [0.5, 0.0, 1.0]  # type: ignore[index]
    letters = [row.model_copy(update={"prediction": "A"}) for row in said]
    table = choices.score(asked("A"), letters, profile="ruenvaqa").table("intervals")
    assert [row[0] for row in table] == ["all", "task type: a", "task type: b"]
    some = choices.score(asked("x"), said[:20], allow_missing=True).table("intervals")
    assert some.rows[0][1] == 20  # the official program counts those with a prediction
