"""What the lost F is made of."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_seld import score_tables
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.scores.seld import mistakes
from seldio.scores.seld.metrics import Count, Thresholds
from seldio.scores.seld.pairing import paired
from seldio.scores.seld.profiles import PROFILES, SeldProfile, get
from seldio.scores.seld.rows import event_frames
from seldio.scores.seld.scoring import grid_lengths

ROW = st.tuples(
    st.sampled_from(["fold4_room1_mix001", "fold4_room2_mix002", "fold4_room2_mix003"]), st.integers(0, 24),
    st.integers(0, 3), st.integers(0, 2), st.integers(-9, 9), st.integers(-3, 3), st.integers(1, 6), st.booleans(),
)  # fmt: skip
WAYS = [(profile, average) for profile in PROFILES for average in profile.averages]


def frames_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    names = ("clip", "frame", "class_id", "source", "azimuth", "elevation", "distance", "onscreen")
    columns = {name: [row[n] for row in rows] for n, name in enumerate(names)}
    columns["azimuth"], columns["elevation"] = ([10.0 * angle for angle in columns[name]] for name in names[4:6])
    columns["distance"] = [float(distance) for distance in columns["distance"]]
    types = {"clip": pa.string(), "azimuth": pa.float64(), "elevation": pa.float64(), "distance": pa.float64(),
             "onscreen": pa.bool_()}  # fmt: skip
    return pa.table({name: pa.array(values, types.get(name, pa.int32())) for name, values in columns.items()})


def analysed(rows: tuple[pa.Table, pa.Table], profile: SeldProfile, limits: Thresholds) -> tuple[Any, list[Any]]:
    """Both sides in arrays, and the names of clips."""
    clips = ["fold4_room1_mix001", "fold4_room2_mix002", "fold4_room2_mix003"]
    index = {clip: number for number, clip in enumerate(clips)}
    a, b = (event_frames(table, index) for table in rows)
    return mistakes.count(a, b, profile, limits, 13, 3), clips


@settings(max_examples=examples(60))
@given(st.lists(ROW, max_size=40), st.lists(ROW, max_size=40), st.sampled_from(WAYS), st.booleans())
def test_shares_add_up_to_the_lost_f(left: Any, right: Any, way: tuple[SeldProfile, Any], flags: bool) -> None:
    profile, average = way
    limits = dataclasses.replace(profile.limits, onscreen=flags and "OnscreenAcc" in profile.names)
    sides = frames_of(left), frames_of(right)
    found, clips = analysed(sides, profile, limits)
    score = score_tables(*sides, clips, profile, classes=13, average=average, limits=limits)
    lost = mistakes.lost_f(score, found.kinds)
    f = score.overall["F"]
    if not math.isnan(f):
        assert sum(map(np.nanmean, lost.values())) == pytest.approx(1 - f, abs=1e-12)
    assert (found.kinds >= 0).all()
    # nothing is counted twice: the errors are those of the score
    of = dict(zip(mistakes.KINDS, found.kinds, strict=True))
    for name, parts in (("MISSED", ("missed", "confused")), ("FALSE", ("spurious", "mistaken")),
                        ("MISPLACED", ("place", "distance", "onscreen"))):  # fmt: skip
        assert np.array_equal(score.counts[:, Count[name]].sum(axis=0), sum(of[part] for part in parts)), name
    # repairing helps
    for kind in lost.keys() - {"absent"}:
        assert math.isnan(f) or mistakes.repaired(score, found.kinds, kind) >= f - 1e-12
    if profile.unit == 1:
        assert found.pairs.sum() == of["confused"].sum() == of["mistaken"].sum()


@settings(max_examples=examples(40))
@given(st.lists(ROW, max_size=30), st.lists(ROW, max_size=30))
def test_parts_of_clips_add_up(left: Any, right: Any) -> None:
    """Every sum over all clips is that over each clip by itself, to the last bit."""
    sides = [frames_of(list({row[:4]: row for row in rows}.values())) for rows in (left, right)]
    clips = ["fold4_room1_mix001", "fold4_room2_mix002", "fold4_room2_mix003"]
    profile = get("dcase2024")

    def counted(some: list[str]) -> mistakes.Mistakes:
        index = {clip: number for number, clip in enumerate(some)}
        a, b = (event_frames(table, index) for table in sides)
        return mistakes.count(a, b, profile, profile.limits, 13, len(some))

    whole, total = counted(clips), sum(map(counted, [[clip] for clip in clips]), start=mistakes.Mistakes.none(13))
    assert np.array_equal(whole.kinds, total.kinds)
    assert np.array_equal(whole.pairs, total.pairs)


def most_pairs(good: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    """How many pairs there can be at most, by trying all ways."""
    few, many = sorted(good.shape)
    good = good if good.shape[0] == few else good.T
    return max(sum(good[n, way[n]] for n in range(few)) for way in itertools.permutations(range(many), few))


@settings(max_examples=examples(40))
@given(st.lists(ROW, max_size=40), st.lists(ROW, max_size=40))
def test_wrong_classes_are_as_many_as_can_be(left: Any, right: Any) -> None:
    profile = get("dcase2024")
    sides = frames_of(left), frames_of(right)
    found, clips = analysed(sides, profile, profile.limits)
    index = {clip: number for number, clip in enumerate(clips)}
    a, b = (event_frames(table, index) for table in sides)
    lengths = grid_lengths(profile, a, 3)
    pairs = 0
    for group in paired(a, b, lengths, 13, profile.measure):
        a, b, matches = group.reference, group.prediction, group.matches
        for frame in range(group.frames):
            rows = [[n for n in np.flatnonzero(side.frame == frame) if n not in taken] for side, taken in
                    ((a, matches.reference), (b, matches.prediction))]  # fmt: skip
            prepared = [profile.measure.prepare(side.take(some)) for side, some in zip((a, b), rows, strict=True)]
            if all(rows):
                near = profile.measure.between(prepared[0][:, :, None], prepared[1][:, None, :]) <= 20
                assert a.distance is not None
                assert b.distance is not None
                true, told = a.distance[rows[0]][:, None], b.distance[rows[1]][None, :]
                pairs += most_pairs(near & (np.abs(true - told) / true <= 1))
    assert found.pairs.sum() == pairs


def line(frame: int, class_id: int, azimuth: int, source: int = 0, distance: int = 100) -> str:
    return f"{frame},{class_id},{source},{azimuth},0,{distance}\n"


def test_each_kind_of_error_by_hand(tmp_path: Path) -> None:
    truth = "".join(line(frame, 0, 0) for frame in range(11)) + "".join(line(frame, 5, 90, 1) for frame in range(6))
    told = {
        0: line(0, 0, 10), 1: line(1, 0, 50), 2: line(2, 0, 0, 0, 300), 3: line(3, 2, 0), 4: "",
        5: line(5, 0, 0) + line(5, 3, 170),
    }  # fmt: skip
    for name, text in (("ref", truth), ("out", "".join(told.values()))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fold4_room1_mix001.csv").write_text(text)
    report = seldio.score(
        tmp_path / "out", tmp_path / "ref", profile="dcase2024", table="errors", average="micro", format="starss23",
        force=True,
    )  # fmt: skip
    rows = {row[0]: row[1] for row in report.table("errors")}
    # of class 0 frames 4 and 6 to 9, of class 5 six; the last labelled frame is never scored
    assert rows == {"missed": 11, "spurious": 1, "wrong class": 2, "wrong place": 1, "wrong distance": 1, "all": None}
    assert sum(row[2] for row in report.table("errors").rows[:-1]) == pytest.approx(1 - report.overall["F"])
    assert [row[1:4] for row in report.table("confusions")] == [("Female speech, woman speaking", "Clapping", 1)]


def test_errors_are_in_every_output(tmp_path: Path) -> None:
    for name, azimuth in (("ref", 0), ("out", 60)):
        (tmp_path / name).mkdir()
        text = "".join(line(frame, 0, azimuth) for frame in range(30))
        (tmp_path / name / "fold4_room1_mix001.csv").write_text(text)
    common = ["score", str(tmp_path / "out"), "-r", str(tmp_path / "ref"), "--format", "starss23"]
    brief = CliRunner().invoke(app, [*common, "--table", "all"])
    assert brief.exit_code == 0, brief.output
    assert "errors: what F lacks" in brief.stdout
    whole = json.loads(CliRunner().invoke(app, [*common, "--table", "errors", "--json"]).stdout)["reports"][0]
    names = [table["name"] for table in whole["tables"]]
    assert names[names.index("errors") :] == ["errors", "confusions", "class-errors", "worst"]
    for output in ("csv", "markdown", "html"):
        done = CliRunner().invoke(app, [*common, "--output", output, "--table", "errors"])
        assert (done.exit_code, "wrong place" in done.stdout) == (0, True)
