"""Ranking: the rules of the task page, the published list, and the files that scores are read from."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from seldio.errors import DataError, SeldioError, UsageError
from seldio.reports import Options, render
from seldio.reports.tables import Column, Interval, ScoreReport, Table
from seldio.scores.ranking import rank, rank_columns, read_scores, report, scores_of
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


def test_plain_csv_with_shares_in_per_cent(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text(
        "\ufeffsystem,ER,F,LE,LR,team\r\nx,0.33,62.7,12.9,72.1,one\r\ny,1.68,0.1,114.7,6.7,two\r\n", "utf-8"
    )
    found = read_scores(path)
    assert dict(found.entries[0].values) == {"ER": 0.33, "F": 0.627, "LE": 12.9, "LR": 0.721}
    assert dict(found.entries[1].values)["F"] == 0.001
    path.write_text("system,ER,F,LE,LR\nx,1.2,0.627,12.9,1\n", "utf-8")
    assert dict(read_scores(path).entries[0].values) == {"ER": 1.2, "F": 0.627, "LE": 12.9, "LR": 1.0}


@pytest.mark.parametrize("names", ["ER,F1,LE,LR", "ER_20,F_20,LE_CD,LR_CD", "er_20,f1,le_cd,lr"])
def test_the_names_of_the_task_page_and_of_meta_files(tmp_path: Path, names: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"system,{names}\nB,0.35,58.5,13.5,65.7\nA,0.33,62.7,12.9,72.1\n", "utf-8")
    scores = read_scores(path)
    assert dict(scores.entries[1].values) == {"ER": 0.33, "F": 0.627, "LE": 12.9, "LR": 0.721}
    assert [row[0] for row in report(scores).tables[0].rows] == ["A", "B"]
    named = report(scores, names.split(","))
    assert named.settings["ranked_by"] == "ER,F,LE,LR"


def test_two_names_of_one_score_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("system,F1,F,F_20\nx,48.7,29.9,30.5\n", "utf-8")
    scores = read_scores(path)
    assert scores.entries[0].values == {"F1": 48.7, "F": 0.299, "F_20": 30.5}
    assert [column.name for column in rank_columns(scores, ["F1:higher"])] == ["F1"]
    path.write_text("system,F1,F_20\nx,48.7,30.5\n", "utf-8")
    assert read_scores(path).entries[0].values == {"F1": 48.7, "F_20": 30.5}


def test_columns_by_name(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("system,points\nx,1\ny,3\n", "utf-8")
    scores = read_scores(path)
    assert [row[0] for row in report(scores, ["points:higher"]).tables[0].rows] == ["y", "x"]
    with pytest.raises(UsageError, match="scores that all systems have: points"):
        rank_columns(scores)
    with pytest.raises(UsageError, match="some systems lack SELD"):
        rank_columns(scores, ["SELD"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("system,F\nx,none\n", "no column with numbers"),
        ("name,F\nx,1\n", "not the header of this format|lacks system"),
        ("system,F\n,1\n", "row 1: missing system name"),
        ("system,F\nx,1\nx,2\n", "two scores have the name x"),
        ('{"version": 2, "reports": []}', "version 2"),
        ('{"version": 1, "reports": [{}]}', "reports\\[0\\]: .system. is a required property"),
        ("[", r"scores\.csv:1"),
        ("system,F\rx,", "row|line|cell"),
        ('"system\r",F\nx,1\n', "not the header of this format|lacks system"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(SeldioError, match=message):
        read_scores(path)


def test_what_was_scored_in_different_ways_is_not_compared() -> None:
    with pytest.raises(DataError, match="different profiles"):
        scores_of([REPORTS[0], scored("c", (0.1, 0.2, 3.0, 0.4), "dcase2024-angles")])
