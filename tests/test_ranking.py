"""Ranking: the rules of the task page, the published list, and the files that scores are read from."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from seldio.errors import DataError, UsageError
from seldio.reports import Options, render
from seldio.reports.tables import Column, Interval, ScoreReport, Table
from seldio.scores.ranking import rank, read_scores, report, scores_of
from seldio.scores.seld.profiles import ER, LE, LR, F

FOUR = (ER, F, LE, LR)


def order(table: Table) -> list[tuple[object, object, object]]:
    return [(row[0], row[1], row[-1]) for row in table.rows]


def test_the_example_of_the_task_page() -> None:
    ranks = {"A": (1, 1, 3, 1), "B": (3, 2, 2, 3), "C": (2, 3, 1, 2)}
    systems = {name: {"ER": er, "F": -f, "LE": le, "LR": -lr} for name, (er, f, le, lr) in ranks.items()}
    assert order(rank(systems, FOUR)) == [("A", 1, 6), ("C", 2, 8), ("B", 3, 10)]


def test_ties_share_the_better_rank_and_stand_alphabetically() -> None:
    column = (Column("F", "F", better="higher"),)
    systems = {"b": {"F": 2.0}, "A": {"F": 2.0}, "c": {"F": 1.0}, "d": {"F": math.nan}, "a2": {"F": math.nan}}
    assert order(rank(systems, column)) == [("A", 1, 1), ("b", 1, 1), ("c", 3, 3), ("a2", 4, 4), ("d", 4, 4)]


def test_what_cannot_be_ranked() -> None:
    with pytest.raises(UsageError, match="a better direction"):
        rank({"a": {"n": 1.0}}, (Column("n", "n"),))
    with pytest.raises(UsageError, match="nothing"):
        rank({"a": {}}, ())
    with pytest.raises(DataError, match="a has no ER"):
        rank({"a": {"F": 1.0}}, FOUR)


def test_published_list(shared: Path) -> None:
    """The list shows the best system of each team only, and its places are over all systems.

    Two neighbours therefore cannot be told from the values: in track A the sums over the list are 21 and 20 where
    the published places are 17 and 20, in track B two sums are equal. Everything else is reproduced.
    """
    path = shared / "data/dcase2023-ranking.json"
    rows = json.loads(path.read_text("utf-8"))
    found = report(read_scores(path))
    published = {track: [row["submission"] for row in rows if row["track"] == track] for track in "AB"}
    tables = {table.name[-1]: [str(row[0]) for row in table.rows] for table in found.tables}
    assert found.verdict == (
        f"{published['A'][0]} ranks first of {len(published['A'])} systems in track A; "
        f"{published['B'][0]} ranks first of {len(published['B'])} systems in track B."
    )
    open_pairs = {"A": ("Kim_KU_task3a_4", "Bai_JLESS_task3a_3"), "B": ("Liu_CQUPT_task3b_1", "AV_Baseline_FOA")}
    for track, names in published.items():
        first, second = open_pairs[track]
        at = names.index(first)
        assert [*names[:at], second, first, *names[at + 2 :]] == tables[track]
    sums = {str(row[0]): row[-1] for table in found.tables for row in table.rows}
    assert (sums["Kim_KU_task3a_4"], sums["Bai_JLESS_task3a_3"]) == (21, 20)
    assert sums["Liu_CQUPT_task3b_1"] == sums["AV_Baseline_FOA"] == 18


def scored(system: str, values: tuple[float, ...], profile: str = "dcase2023") -> ScoreReport:
    cells = (system, Interval(values[0], values[0] - 0.1, values[0] + 0.1), *values[1:])
    table = Table("overall", "overall", (Column("system", "system"), *FOUR), (cells,))
    return ScoreReport(system, profile, "title", "3 clips", (table,))


REPORTS = [scored("=b", (0.4, 0.1 + 0.2, 10.0, math.nan)), scored("a", (0.5, 0.2, 12.5, 0.3))]


@pytest.mark.parametrize(("format", "table"), [("json", None), ("csv", "overall")])
def test_own_files_are_read(tmp_path: Path, format: str, table: str | None) -> None:
    path = tmp_path / f"scores.{format}"
    path.write_text("".join(render(REPORTS, format, Options(table=table))), "utf-8")
    expected, found = scores_of(REPORTS), read_scores(path)
    values = [
        [
            (each.system, {name: float(np.atleast_1d(cell)[0]) for name, cell in each.values.items()})
            for each in scores.entries
        ]
        for scores in (expected, found)
    ]
    assert repr(values[0]) == repr(values[1])
    if format == "json":
        assert repr(report(found).tables[0].rows) == repr(report(expected).tables[0].rows)
    path.write_text("".join(render(REPORTS, "csv")), "utf-8")
    with pytest.raises(DataError, match="has every table of a report"):
        read_scores(path)


def test_what_was_scored_in_different_ways_is_not_compared() -> None:
    with pytest.raises(DataError, match="different profiles"):
        scores_of([REPORTS[0], scored("c", (0.1, 0.2, 3.0, 0.4), "dcase2024-angles")])
