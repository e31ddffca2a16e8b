"""The score of predictions for SO-Bench."""

from __future__ import annotations

from collections.abc import Sequence

from seldio.errors import DataError
from seldio.schema.qa import Item, Prediction
from seldio.scores.result import ScoreReport
from seldio.scores.so_bench import aggregate
from seldio.scores.so_bench.join import How as Join
from seldio.scores.so_bench.join import join as joined_by
from seldio.scores.so_bench.judgement import Judge
from seldio.scores.so_bench.notices import Case, notices
from seldio.scores.so_bench.profiles import Profile
from seldio.scores.so_bench.records import Offline, Scored, score_records
from seldio.text import plural


def score(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    profile: Profile,
    *,
    judge: Judge | None = None,
    join: Join = "strict",
    offline: Offline = "extract",
    system: str = "predictions",
) -> tuple[ScoreReport, list[Scored]]:
    """The score of *predictions* for the questions *items*, and the questions one by one.

    Args:
        items: the questions with their answers.
        predictions: in any order; joined by id.
        profile: thresholds and policies, see :mod:`seldio.scores.so_bench.profiles`; :meth:`Profile.changed` sets
            others.
        judge: decides what the texts do not tell; what it leaves open stays without verdict.
        join: ``official`` joins as the official program does, and tells where that is not by id.
        offline: what is decided without a judge.
        system: the name of what is scored.

    Raises:
        DataError: the predictions do not fit the questions, or there is nothing to score.
        UsageError: a way of reading that does not exist.
    """
    found = joined_by(items, predictions, join)
    rows = score_records(items, predictions, found, profile, judge, offline)
    if not rows:
        raise DataError("there is nothing to score: no question has a prediction, or there is no question")
    tasks = len(aggregate.by_task(rows))
    over = f"{plural(len(rows), 'question')} of {plural(tasks, 'task')}"
    settings = profile.settings() | {"join": join, "offline": offline, "judge": judge is not None}
    tables = aggregate.tables(system, rows)
    report = ScoreReport(
        system, profile.name, profile.title, over, tables, notices(Case(rows, found, profile)), settings
    )
    return report, rows
