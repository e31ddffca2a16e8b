"""Systems compared: resamples, permutation tests, Holm, ranks; labels whole, from the API and the command line."""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import seldio
from seldio.errors import DataError, UsageError
from seldio.reports.json_report import reports
from seldio.reports.tables import Column, ScoreReport, UnreliableInterval, WeakInterval
from seldio.scores.comparison.pairs import Contest
from seldio.scores.resampling import Intervals, holm, interval, p_value, swaps, weights
from seldio.synth.outputs import write_outputs
from seldio.synth.tree import write_tree


@given(st.integers(1, 9), st.integers(100, 300), st.integers(0, 5))
def test_a_resample_holds_as_many_units_as_there_are(units: int, resamples: int, seed: int) -> None:
    unit_of = np.arange(units).repeat(2)[::-1]
    drawn = np.concatenate(list(weights(Intervals(bootstrap=resamples, seed=seed), unit_of)))
    assert drawn.shape == (resamples, 2 * units)
    assert (drawn.sum(axis=1) == 2 * units).all()
    assert (drawn[:, ::2] == drawn[:, 1::2]).all()  # clips of one unit come together


def test_few_units_change_sides_in_every_way_once() -> None:
    batches, exact = swaps(Intervals(bootstrap=100), np.array([0, 0, 1, 2]))
    found = np.concatenate(list(batches))
    assert exact
    assert len(np.unique(found, axis=0)) == len(found) == 8
    assert not swaps(Intervals(bootstrap=100), np.arange(7))[1]


def test_intervals_are_a_little_wider_than_percentiles_and_turn_with_their_sign() -> None:
    drawn = np.random.default_rng(0).normal(size=(2000, 3))
    low, high = interval(drawn, 10)
    plain = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert (low < plain[0]).all()
    assert (high > plain[1]).all()
    assert np.allclose(interval(drawn, 10**6), plain, atol=1e-3)
    assert np.allclose(interval(-drawn, 10), (-high, -low))
    drawn[:, 1], drawn[::2, 2] = np.nan, np.nan
    low, high = interval(drawn, 10)
    assert np.isnan([low[1], high[1]]).all()
    assert np.isfinite([low[[0, 2]], high[[0, 2]]]).all()
    assert np.isnan(interval(drawn, 1)).all()


@pytest.mark.parametrize("count", [5, 8])
def test_exact_p_values_are_those_of_scipy(count: int) -> None:
    apart = np.random.default_rng(count).normal(0.5, 1, count)

    def changed(sides: Any) -> Any:
        return ((1 - 2 * sides) @ apart / count)[:, None]

    p = p_value(np.array([apart.mean()]), changed, Intervals(bootstrap=1000), np.arange(count))
    golden = stats.permutation_test((apart,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert p[0] == pytest.approx(golden.pvalue)


def test_a_p_value_is_never_zero_and_what_is_not_defined_has_none() -> None:
    apart = np.ones(40)
    p = p_value(np.array([1.0, np.nan]), lambda sides: np.stack([(1 - 2 * sides) @ apart / 40] * 2, axis=1),
                Intervals(bootstrap=999), np.arange(40))  # fmt: skip
    assert p[0] == 1 / 1000
    assert np.isnan(p[1])
    assert p_value(np.array([5e-17]), lambda sides: 0 * sides[:, :1], Intervals(), np.arange(3)) == 1  # rounding


def test_holm_by_hand() -> None:
    p = np.array([[0.01], [0.04], [0.03], [0.005]])
    assert np.allclose(holm(p)[:, 0], [0.03, 0.06, 0.06, 0.02])
    assert np.allclose(holm(np.array([0.01, np.nan, 0.02])), [0.02, np.nan, 0.02], equal_nan=True)
    assert holm(np.array([0.6, 0.7])).tolist() == [1, 1]


def decided(p: list[float], lead: int = 0, spread: float = 0.01) -> Contest:
    columns = tuple(Column(name, name, better="higher") for name in "abc")
    values = np.array([[0.5] * 3, [0.6] * 3])
    drawn = values + np.random.default_rng(0).normal(0, spread, (200, 2, 3))
    return Contest(
        ("one", "two"), columns, values, drawn, np.array([p]), 30, "clips", lead, np.full(3, 30), np.zeros(3, bool)
    )


def test_the_lead_decides_and_the_others_have_holm_s_correction() -> None:
    table = decided([0.03, 0.03, 0.01]).tests()
    assert [(row[0], row[2], row[3]) for row in table] == [
        ("two − one: a", 0.03, "two"), ("two − one: b", 0.03, "two"), ("two − one: c", 0.02, "two"),
    ]  # fmt: skip
    assert table.title == "paired permutation test over clips; a decides"
    assert [row[2] for row in decided([0.03, 0.04, 0.03]).tests()] == [0.03, 0.06, 0.06]
    assert {row[3] for row in decided([0.06, 0.001, 0.001]).tests()} == {"undecided"}, "nothing without the lead"
    first, *rest = decided([0.06, 0.001, 0.001], lead=1).tests()
    assert (first[0], first[3], [row[3] for row in rest]) == ("two − one: b", "two", ["undecided", "two"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    clips = [(f"fold4_room{room}_mix{mix:03d}", "dev-test-tau") for room in (2, 8, 10) for mix in range(1, 5)]
    labels = write_tree(folder / "starss23", seed=100, clips=clips, media=())
    for seed, (name, errors) in enumerate({"good": 0.7, "fair": 1.0, "poor": 1.5}.items()):
        write_outputs(folder / name, labels, seed=seed, errors=errors)
    return folder


@cache
def compared(folder: Path, *names: str, **options: Any) -> ScoreReport:
    """The same comparison is made once for all tests."""
    given = options.pop("intervals", "")
    intervals = given if "bootstrap" in given else f"bootstrap=200,{given}"
    systems = [folder / name for name in names]
    return seldio.compare(systems, folder / "starss23/metadata_dev", intervals=intervals, **options)


def cells(report: ScoreReport, name: str) -> dict[str, tuple[Any, ...]]:
    return {str(row[0]): row[1:] for row in report.table(name)}


def test_scores_are_those_of_score_and_differences_are_theirs(folder: Path) -> None:
    report = compared(folder, "fair", "good")
    overall = cells(report, "overall")
    own = seldio.score(folder / "good", folder / "starss23/metadata_dev").overall
    columns = [column.name for column in report.table("overall").columns[1:]]
    assert [cell.value for cell in overall["good"]] == [own[name] for name in columns]
    apart = cells(report, "differences")["good − fair"]
    assert [cell.value for cell in apart] == [
        good.value - fair.value for good, fair in zip(overall["good"], overall["fair"], strict=True)
    ]
    assert all(cell.low <= cell.value <= cell.high for cell in (*apart, *overall["good"], *overall["fair"]))
    assert {row[0]: row[-1] for row in report.table("tests")}["good − fair: F"] == "good"
    assert report.table("ranks").rows[0][0] == "good"


def test_another_system_changes_nothing_about_two(folder: Path) -> None:
    two, three = compared(folder, "fair", "good"), compared(folder, "fair", "good", "poor")
    assert cells(two, "differences")["good − fair"] == cells(three, "differences")["good − fair"]
    assert cells(two, "overall")["good"] == cells(three, "overall")["good"]
    plain = {row[0]: row[1] for row in two.table("tests")}
    corrected = {row[0]: row[1:3] for row in three.table("tests")}
    assert all(plain[name] == corrected[name][0] <= corrected[name][1] for name in plain)
    assert len(corrected) == 3 * len(plain)
    first = cells(compared(folder, "fair", "good", "poor", against="first"), "differences")
    assert list(first) == ["good − fair", "poor − fair"]


def test_seeds_repeat(folder: Path) -> None:
    first = compared(folder, "fair", "good").to_json()
    again = seldio.compare(
        [folder / "fair", folder / "good"], folder / "starss23/metadata_dev", intervals="bootstrap=200"
    )
    assert again.to_json() == first
    assert compared(folder, "fair", "good", intervals="seed=1").to_json() != first


def test_rooms_are_fewer_and_say_so(folder: Path) -> None:
    report = compared(folder, "fair", "good", intervals="over=rooms")
    assert isinstance(report.table("overall").rows[0][1], UnreliableInterval)
    assert [row[-1] for row in report.table("overall")] == ["too few", "too few"]
    assert {"few-units", "smallest-p"} <= {notice.name for notice in report.notices}
    assert min(float(str(row[1])) for row in report.table("tests")) >= 0.25  # 3 rooms change sides in 8 ways
    plain = {notice.name for notice in compared(folder, "fair", "good").notices}
    assert "smallest-p" not in plain


def test_systems_are_compared_on_the_clips_that_all_have(folder: Path, tmp_path: Path) -> None:
    for name in ("fair", "good"):
        (tmp_path / name).mkdir()
        for file in (folder / name).iterdir():
            (tmp_path / name / file.name).write_bytes(file.read_bytes())
    (tmp_path / "fair/fold4_room2_mix001.csv").unlink()
    (tmp_path / "good/fold4_room2_mix002.csv").unlink()
    systems = [tmp_path / "fair", tmp_path / "good"]
    with pytest.raises(DataError, match=r"^fair: 1 clip of the reference without prediction"):
        seldio.compare(systems, folder / "starss23/metadata_dev", intervals="bootstrap=100")
    report = seldio.compare(systems, folder / "starss23/metadata_dev", allow_missing=True, intervals="bootstrap=100")
    assert report.over.startswith("10 clips")
    assert "common-clips" in {notice.name for notice in report.notices}


def test_labels_are_read_once_for_all_systems(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Counter[str]()

    def counted(path: Any, *rest: Any, **named: Any) -> int:
        opened.update([Path(path).parent.name])
        return descriptor(path, *rest, **named)

    descriptor = os.open
    monkeypatch.setattr(os, "open", counted)
    compared.__wrapped__(folder, "good", "fair", "poor")
    assert opened["dev-test-tau"] == opened["poor"] == 12


def test_one_system_has_both_kinds_of_intervals(folder: Path) -> None:
    labels = folder / "starss23/metadata_dev"
    report = seldio.score(folder / "fair", labels, intervals="jackknife,bootstrap")
    own, jackknife = report.table("overall").rows
    assert jackknife[0] == "by the official jackknife"
    alone = seldio.score(folder / "fair", labels, intervals="bootstrap")
    assert alone.table("overall").rows[0][1:] == own[1:]
    assert seldio.score(folder / "fair", labels, intervals="jackknife").table("overall").rows[0][1:] == jackknife[1:]
    assert {"classes", "classes-jackknife"} <= {table.name for table in report}
    with pytest.raises(UsageError, match="two systems or more"):
        seldio.compare(folder / "fair", labels)


def test_intervals_of_few_clips_are_marked_and_kept(folder: Path, tmp_path: Path) -> None:
    for number, file in enumerate(sorted((folder / "starss23/metadata_dev").rglob("*.csv"))):
        rows = [row for row in file.read_text().splitlines() if number < 4 or row.split(",")[1] != "6"]
        (tmp_path / file.name).write_text("\n".join(rows) + "\n")
    report = seldio.score(folder / "fair", tmp_path, intervals="jackknife")
    table = report.table("classes")
    names = [column.name for column in table.columns]
    held, flag, f = (names.index(name) for name in ("held", "interval", "F"))
    few = [row for row in table if row[flag] == "too few"]
    assert len(few) < len(table.rows)
    assert any(row[held] < 5 for row in few)  # type: ignore[operator]
    for row in table:
        assert row in few or row[held] >= 5, "clips in effect are at most those that hold the class"  # type: ignore[operator]
        assert type(row[f]) is (UnreliableInterval if row in few else WeakInterval), "no class is in 20 of 12 clips"
    assert "weak-intervals" in {notice.name for notice in report.notices if notice.grave}
    again = reports(json.loads(report.to_json()))[0].table("classes")
    assert [type(row[f]) for row in again] == [type(row[f]) for row in table]
    shown = next(line for line in str(report).splitlines() if line.startswith(str(few[0][0])[:8]))
    assert "[" not in shown


def test_a_comparison_can_be_ranked(folder: Path, tmp_path: Path) -> None:
    report = compared(folder, "fair", "good")
    assert [row[:2] for row in seldio.rank(report).table()] == [("good", 1), ("fair", 2)]
    (tmp_path / "compared.json").write_text(report.to_json())
    assert [row[:2] for row in seldio.rank(tmp_path / "compared.json").table()] == [("good", 1), ("fair", 2)]


@pytest.fixture
def lost(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Six clips with a class that is always found and one that never is; two equal systems."""
    for place in ("ref", "one", "two"):
        (tmp_path / place).mkdir()
        for clip in range(6):
            rows = [f"{frame},{label},0,{10 * label},0,100\n" for frame in range(31) for label in (0, 1)]
            found = [f"{frame},0,{clip},0\n" for frame in range(31)]
            (tmp_path / place / f"fold4_room1_mix{clip:03}.csv").write_text("".join(rows if place == "ref" else found))
    return tmp_path / "ref", tmp_path / "one", tmp_path / "two"


def test_a_class_that_is_never_found_has_a_bound_and_one_always_found_too(lost: tuple[Path, Path, Path]) -> None:
    report = seldio.score(lost[1], lost[0], reference_format="starss23", intervals="bootstrap")
    table = report.table("classes")
    female, male = (dict(zip([c.name for c in table.columns], row, strict=True)) for row in table.rows[:2])
    q = 1 - 0.025 ** (1 / 6)
    assert tuple(male["F"]) == pytest.approx((0, 0, 2 * q / (1 + q)))  # type: ignore[arg-type]
    assert tuple(male["LR"]) == pytest.approx((0, 0, q))  # type: ignore[arg-type]
    assert tuple(female["F"]) == pytest.approx((1, 1 - q, 1))  # type: ignore[arg-type]
    assert {type(male[name]) for name in ("F", "LR")} == {WeakInterval}
    assert {type(male[name]) for name in ("LE", "SELD")} == {UnreliableInterval}
    assert np.isnan(male["LE"].low)  # type: ignore[union-attr]
    assert male["interval"] == "not of LE, SELD"
    assert type(report.overall["SELD"]) is WeakInterval, "it varies with LE"
    report = seldio.score(lost[1], lost[0], reference_format="starss23", intervals="jackknife")
    assert {type(cell) for cell in report.table("classes").rows[1][3:7]} == {UnreliableInterval}
