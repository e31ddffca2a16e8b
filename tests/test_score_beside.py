"""Measures beside the official ones: what the lost F is made of, whole events, and tracks."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import random
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.scores.seld import error_tables, event_scores, mistakes, tracking
from seldio.scores.seld.analyses import ANALYSES, Asked, Sides
from seldio.scores.seld.metrics import Thresholds
from seldio.scores.seld.pairing import SPHERICAL, paired
from seldio.scores.seld.profiles import PROFILES, SeldProfile, get
from seldio.scores.seld.rows import EventFrames, event_frames
from seldio.scores.seld.scoring import horizons, score_tables

GOLDENS = Path(__file__).parent / "cases" / "tracks"
#: Clip, frame, class, source, azimuth, elevation.
Found: TypeAlias = tuple[int, int, int, int, float, float]


def scene(seed: int) -> list[list[Found]]:
    """Both sides of a random scene, as the goldens were made from; no two angles are alike."""
    luck = random.Random(seed)
    sides: tuple[list[Found], list[Found]] = ([], [])
    for clip in range(luck.randint(1, 3)):
        for class_id in range(luck.randint(1, 3)):
            for source in range(luck.randint(0, 3)):
                begin, turn, up = luck.randint(0, 20), luck.uniform(-180, 180), luck.uniform(-50, 50)
                number, speed = luck.randint(1, 3), luck.uniform(-4, 4)
                for frame in range(begin, begin + luck.randint(1, 40)):
                    turn += speed
                    if luck.random() < 0.93:
                        sides[0].append((clip, frame, class_id, source + 1, fine(turn), fine(up)))
                    if luck.random() < 0.08:
                        number = luck.randint(1, 4)
                    if luck.random() < 0.85:
                        called = class_id if luck.random() < 0.97 else (class_id + 1) % 4
                        off = luck.gauss(0, luck.choice((3, 12, 40)))
                        sides[1].append((clip, frame, called, number, fine(turn + off), fine(up + luck.gauss(0, 3))))
    found: list[dict[tuple[int, ...], Found]] = [{}, {}]
    for side, kept in zip(sides, found, strict=True):
        for row in side:
            kept.setdefault(row[:4], row)
    return [list(kept.values()) for kept in found]


def fine(angle: float) -> float:
    return round((angle + 180) % 360 - 180, 4)


def side(rows: list[Found]) -> EventFrames:
    types = {"clip": pa.string(), "frame": pa.int32(), "class_id": pa.int32(), "source": pa.int32(),
             "azimuth": pa.float64(), "elevation": pa.float64()}  # fmt: skip
    named = [(f"clip{row[0]}", *row[1:]) for row in rows]
    columns = {name: pa.array([row[n] for row in named], kind) for n, (name, kind) in enumerate(types.items())}
    return event_frames(pa.table(columns), {f"clip{number}": number for number in range(3)})


@pytest.mark.parametrize("golden", json.loads((GOLDENS / "trackeval.json").read_text()), ids=lambda each: each["seed"])
def test_tracks_agree_with_trackeval(golden: dict[str, Any]) -> None:
    clips = [f"clip{number}" for number in range(3)]
    counts = tracking.count(*map(side, scene(golden["seed"])), clips, SPHERICAL, golden["angle"], 13)
    _, overall, alphas = tracking.tables(counts, [str(number) for number in range(13)], golden["angle"])
    for row, name in zip(overall.rows, ("classes", "rows"), strict=False):
        found = dict(zip((column.name for column in overall.columns), row, strict=True))
        for score, value in golden[name].items():
            assert found[score] == pytest.approx(value, abs=1e-9), (name, score)
    assert [row[2] for row in alphas.rows] == pytest.approx(golden["alphas"], abs=1e-9)


@pytest.mark.parametrize("golden", json.loads((GOLDENS / "sed_eval.json").read_text()), ids=lambda each: each["seed"])
def test_events_agree_with_sed_eval(golden: dict[str, Any]) -> None:
    counts = event_scores.count(*map(side, scene(golden["seed"])), SPHERICAL, 20.0, 13, 0.2, 0.5)
    overall, _ = event_scores.tables(counts, [str(number) for number in range(13)], 0.2, 0.5, 20.0)
    for number, row in enumerate(overall.rows):
        found = dict(zip((column.name for column in overall.columns), row, strict=True))
        found["found"] = counts.found[0, number].sum()
        for score, value in golden.get(str(row[0]), {}).items():
            assert found[score] == pytest.approx(value, abs=1e-9, nan_ok=True), (row[0], score)


def turned(rows: list[Found], by: float, source: int | None = None) -> list[Found]:
    return [(*row[:3], row[3] if source is None else source, fine(row[4] + by), row[5]) for row in rows]


@pytest.mark.parametrize("source", [None, 0])
@pytest.mark.parametrize(("by", "near"), [(15.0, True), (30.0, False)])
def test_directions_of_events(source: int | None, by: float, near: bool) -> None:
    """The same events, turned; with source numbers and without them."""
    flat = [(*row[:5], 0.0) for row in scene(9)[0]]
    counts = event_scores.count(side(flat), side(turned(flat, by, source)), SPHERICAL, 20.0, 13, 0.2, 0.5)
    assert counts.repeated.tolist() == [0, 0 if source is None else counts.repeated[1]]
    level = counts.level
    assert level == (source is not None)
    found = dict(zip(event_scores.CRITERIA, counts.found[level].sum(axis=1).tolist(), strict=True))
    every = int(counts.references[level].sum())
    assert every
    assert found["onset"] == found["onset, offset"] == every
    assert (found["onset, direction"] == found["onset, offset, direction"] == every) == near
    if source is None and not near:
        assert found["onset, direction"] == 0


def test_events_without_a_frame_in_common() -> None:
    """The last frame of one is compared with the first of the other."""
    a, b = [(0, 4, 1, 1, 10.0, 0.0)], [(0, 6, 1, 1, 25.0, 0.0)]
    for angle, found in ((14.9, 0), (15.0, 1)):
        counts = event_scores.count(side(a), side(b), SPHERICAL, angle, 13, 0.2, 0.5)
        assert counts.found[0, 1, 1] == found
    assert event_scores.count(side(a), side(b), SPHERICAL, 20, 13, 0.1, 0.5).found.sum() == 0


# --- what the lost F is made of --------------------------------------------------------------------

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
    return mistakes.count(a, b, profile, limits, 13, np.zeros(3, np.int64)), clips


@settings(max_examples=examples(60))
@given(st.lists(ROW, max_size=40), st.lists(ROW, max_size=40), st.sampled_from(WAYS), st.booleans())
def test_shares_add_up_to_the_lost_f(left: Any, right: Any, way: tuple[SeldProfile, Any], flags: bool) -> None:
    profile, average = way
    limits = dataclasses.replace(profile.limits, onscreen=flags and "OnscreenAcc" in profile.names)
    sides = frames_of(left), frames_of(right)
    found, clips = analysed(sides, profile, limits)
    score = score_tables(*sides, clips, profile, classes=13, average=average, limits=limits)
    lost = error_tables.lost_f(score, found.kinds)
    f = score.overall["F"]
    if not math.isnan(f):
        assert sum(lost.lost.values()) == pytest.approx(1 - f, abs=1e-12)
    assert (found.kinds >= 0).all()
    # nothing is counted twice: the errors are those of the score
    counts = score.counts.total()
    of = dict(zip(mistakes.KINDS, found.kinds, strict=True))
    for name, parts in (("missed", ("missed", "confused")), ("false", ("spurious", "mistaken")),
                        ("misplaced", ("place", "distance", "onscreen"))):  # fmt: skip
        assert np.array_equal(getattr(counts, name)[0], sum(of[part] for part in parts)), name
    # repairing helps
    for kind in lost.lost.keys() - {"absent"}:
        assert math.isnan(f) or error_tables.repaired(score, found.kinds, kind) >= f - 1e-12
    if profile.unit == 1:
        states = dict(zip(mistakes.STATES, found.clips.sum(axis=0), strict=True))
        same = {"missed": "missed", "spurious": "spurious", "confused": "confused", "place": "place",
                "distance": "distance", "onscreen": "onscreen"}  # fmt: skip
        assert {name: of[name].sum() for name in same} == {name: states[name] for name in same}
        assert found.pairs.sum() == of["confused"].sum() == of["mistaken"].sum()
        assert states["right"] == counts.true.sum()


@settings(max_examples=examples(40))
@given(st.lists(ROW, max_size=30), st.lists(ROW, max_size=30))
def test_parts_of_clips_add_up(left: Any, right: Any) -> None:
    """Every sum over all clips is that over each clip by itself, to the last bit."""
    sides = [frames_of(list({row[:4]: row for row in rows}.values())) for rows in (left, right)]
    clips = ["fold4_room1_mix001", "fold4_room2_mix002", "fold4_room2_mix003"]
    profile, every = get("dcase2024"), Asked(tuple(analysis.name for analysis in ANALYSES))

    def counted(some: list[str]) -> list[Any]:
        index = {clip: number for number, clip in enumerate(some)}
        a, b = (event_frames(table, index) for table in sides)
        frames = np.zeros(len(some), np.int64)
        given = Sides(a, b, some, frames, profile, profile.limits, 13, every)
        return [analysis.count(given) for analysis in ANALYSES]

    whole, pieces = counted(clips), [counted([clip]) for clip in clips]
    for number, sums in enumerate(whole):
        total = sum((piece[number] for piece in pieces[1:]), start=pieces[0][number])
        for field in dataclasses.fields(sums):
            assert np.array_equal(getattr(sums, field.name), getattr(total, field.name)), field.name


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
    lengths = horizons(profile, a, b, np.zeros(3, np.int64))
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


@settings(max_examples=examples(40))
@given(st.integers(0, 500), st.permutations(range(1, 6)))
def test_tracks_are_the_same_by_any_numbers(seed: int, numbers: list[int]) -> None:
    clips = [f"clip{number}" for number in range(3)]
    left, right = scene(seed)
    renamed = [(*row[:3], numbers[row[3]], *row[4:]) for row in right]
    one, another = (tracking.count(side(left), side(rows), clips, SPHERICAL, 20.0, 13) for rows in (right, renamed))
    for field in dataclasses.fields(one):
        assert np.array_equal(getattr(one, field.name), getattr(another, field.name)), field.name
    perfect = tracking.count(side(left), side(left), clips, SPHERICAL, 20.0, 13)
    there = perfect.references > 0
    assert (tracking.values(perfect)[0][there] == 1).all()
    assert not perfect.switches.any()


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
        tmp_path / "out", tmp_path / "ref", profile="dcase2024", errors=True, average="micro", format="starss23",
        force=True,
    )  # fmt: skip
    rows = {row[0]: row[1] for row in report.table("errors")}
    # of class 0 frames 4 and 6 to 9, of class 5 six; the last labelled frame is never scored
    assert rows == {"missed": 11, "spurious": 1, "wrong class": 2, "wrong place": 1, "wrong distance": 1, "all": None}
    assert sum(row[2] for row in report.table("errors").rows[:-1]) == pytest.approx(1 - report.overall["F"])
    assert [row[1:4] for row in report.table("confusions")] == [
        ("Female speech, woman speaking", "Clapping", 1),
    ]
    conditions = {row[0]: dict(zip([c.name for c in report.table("conditions").columns], row, strict=True))
                  for row in report.table("conditions")}  # fmt: skip
    assert conditions["polyphony 1"]["references"] == 4
    assert conditions["polyphony 2"]["references"] == 12
    assert conditions["all"]["spurious"] == 1
    assert conditions["motion still"]["references"] == 16
    assert conditions["distance 1…2 m"]["references"] == 16


# --- as people type it -----------------------------------------------------------------------------


@pytest.fixture
def tracked(tmp_path: Path) -> Path:
    for name, number in (("ref", 1), ("out", 7), ("none", 0)):
        (tmp_path / name).mkdir()
        for clip in ("fold4_room1_mix001", "fold4_room2_mix002"):
            rows = [line(frame, 0, 10, number) for frame in range(30)]
            rows += [line(frame, 0, -60, 2 * number + (number > 1 and frame > 15)) for frame in range(30)]
            (tmp_path / name / f"{clip}.csv").write_text("".join(rows))
    return tmp_path


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["score", *map(str, arguments), "--format", "starss23"])


def test_all_of_it_in_every_output(tracked: Path) -> None:
    common = (tracked / "out", "-r", tracked / "ref", "--errors", "--events", "--tracks")
    brief = run(*common)
    assert brief.exit_code == 0, brief.output
    for title in ("errors: what F lacks", "by condition", "events: collar 200 ms", "tracks by TrackEval"):
        assert title in brief.stdout
    assert "tracks by alpha, means over classes;" in " ".join(brief.stdout.split())  # which --details adds
    whole = json.loads(run(*common, "--json").stdout)["reports"][0]
    names = [table["name"] for table in whole["tables"]]
    assert names[names.index("errors") :][:9] == ["errors", "confusions", "conditions", "class-errors", "events", "event-classes", "tracks",
                          "track-classes", "track-alphas"]  # fmt: skip
    assert whole["settings"]["collar"] == 0.2
    assert whole["tables"][names.index("tracks")]["rows"][0]["IDSW"] == 2
    for output in ("csv", "markdown", "html"):
        done = run(*common, "--output", output, "--table", "conditions")
        assert (done.exit_code, "polyphony 2" in done.stdout) == (0, True)


@pytest.mark.parametrize(("arguments", "message"), [
    (("--collar", "0.1"), "--collar changes nothing without --events"),
    (("--offset-share", "0.1"), "--offset-share changes nothing without --events"),
    (("--events", "--collar", "-1"), "--collar is a number from 0 up"),
    (("--tracks", "--angle", "0"), "--tracks requires an --angle above 0"),
])  # fmt: skip
def test_options_that_make_no_sense(tracked: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(tracked / "out", "-r", tracked / "ref", *arguments)
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


def test_tracks_need_numbers(tracked: Path) -> None:
    done = run(tracked / "none", "-r", tracked / "ref", "--tracks", "--force")
    assert (done.exit_code, "these have none above 0" in done.stderr) == (2, True), done.stderr
    done = run(tracked / "out", "-r", tracked / "none", "--tracks", "--force", "--reference-format", "starss23")
    assert (done.exit_code, "a reference with source numbers" in done.stderr) == (2, True), done.stderr
    for path in (tracked / "out").iterdir():
        path.write_text(path.read_text() + line(3, 0, 20, 7))
    done = run(tracked / "out", "-r", tracked / "ref", "--tracks", "--force")
    assert (done.exit_code, "2 predicted rows with the frame, class and number of another" in done.stderr) == (2, True)
    assert "fold4_room1_mix001, frame 3, class 0, source 7" in done.stderr
    events = run(tracked / "out", "-r", tracked / "ref", "--events", "--force")
    assert "class-events" in events.stdout


def test_a_few_repeated_numbers_of_the_reference(tracked: Path) -> None:
    """Published labels have some; each such row is a source of its own."""
    for path in (tracked / "ref").iterdir():
        more = "".join(line(frame, 5, 0, 9) for frame in range(100, 240))
        path.write_text(path.read_text() + more + line(3, 0, 170, 1))
    done = run(tracked / "out", "-r", tracked / "ref", "--tracks", "--events", "--force", "--details")
    assert (done.exit_code, done.stdout.count("repeated-source: 2 reference rows")) == (0, 2), done.output
    for path in (tracked / "ref").iterdir():
        path.write_text(path.read_text() + "".join(line(frame, 0, 170, 1) for frame in range(4, 12)))
    done = run(tracked / "out", "-r", tracked / "ref", "--tracks", "--force")
    assert (done.exit_code, "18 of 418 rows have the frame" in done.stderr) == (2, True), done.stderr
