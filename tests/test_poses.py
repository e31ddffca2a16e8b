"""LOCATA and EasyCom: directions from places in a room and the pose of an array that moves and turns."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rooms
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio import geometry
from seldio.conversion.inputs import label_parts
from seldio.files import open_source
from seldio.findings import Finding, raise_errors
from seldio.formats import get, poses
from seldio.formats.trajectories import place

ANGLES = st.tuples(st.floats(-179, 179), st.floats(-80, 80), st.floats(0.3, 9))


def apart(row: dict[str, Any], azimuth: float, elevation: float) -> float:
    """Degrees between the direction of a row and another one."""
    return float(geometry.great_circle(row["azimuth"], row["elevation"], azimuth, elevation))


@given(ANGLES, st.integers(0, 10_000), st.sampled_from(["locata", "easycom"]))
@settings(max_examples=examples(100))
def test_world_and_array_are_inverses(seen: tuple[float, float, float], seed: int, dataset: str) -> None:
    own, axes = {"locata": (rooms.LOCATA, poses.FRONT_Y), "easycom": (rooms.EASYCOM, poses.FRONT_Z)}[dataset]
    pose = rooms.Pose.moving(5, seed)
    there = rooms.in_room(pose, rooms.seen(*([value] * 5 for value in seen), own))
    turns = pose.turns.as_matrix()
    if dataset == "easycom":
        turns = poses.rotations_of(pose.turns.as_quat())
        assert np.allclose(turns, pose.turns.as_matrix())
    assert poses.are_rotations(turns).all()
    assert not poses.are_rotations(turns * [1, 1, -1]).any()
    track = poses.track(np.arange(5.0), there, pose.places, turns, axes, np.ones(5, dtype=bool))
    assert track[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert np.max(geometry.great_circle(track[:, 1], track[:, 2], seen[0], seen[1])) < 1e-4
    assert track[:, 3] == pytest.approx(seen[2], abs=1e-5)


def test_what_is_not_known_stays_so() -> None:
    """Short gaps are followed, long ones are not; nor is there a direction where source and array are one."""
    times = np.arange(0, 2, 0.05)
    known = np.ones(40, dtype=bool)
    known[[3, 4, 20, 21, 22, 23, 24, 25]] = False
    source = np.tile([0.0, 1.0, 0.0], (40, 1))
    source[39] = 0
    turns = np.tile(np.eye(3), (40, 1, 1))
    track = poses.track(times, source, np.zeros((40, 3)), turns, poses.FRONT_Y, known)
    assert place(track, 0.16, 0.1) == (0.0, 0.0, 1.0)
    assert [place(track, time, 0.1) is None for time in (0.95, 1.1, 1.24, 1.31, 1.94)] == [
        False,
        True,
        True,
        False,
        True,
    ]


# --- LOCATA -----------------------------------------------------------------------------------------------------------


def recording(folder: Path, **options: Any) -> Path:
    """Two talkers around a turning array: one stays to its left, the other goes from the front to behind."""
    times = [number / 120 for number in range(241)]
    left = rooms.seen([90.0] * 241, [10.0] * 241, [1.5] * 241, rooms.LOCATA)
    behind = rooms.seen(np.linspace(0, -180, 241), [0.0] * 241, np.linspace(1, 3, 241), rooms.LOCATA)
    active = {"talker1": [(0.25, 0.5), (1.0, 1.5)], "talker4": [(0.1, 1.9)]}
    sources = {"talker1": left, "talker4": behind}
    return rooms.write_locata(folder, times, rooms.Pose.moving(241, 1), sources, active, **options)


@pytest.mark.parametrize("late", [0.0, 0.004])
def test_locata_gives_directions(late: float, tmp_path: Path) -> None:
    path = recording(tmp_path / "dev/task6/recording2/dicit", late=late)
    for source in (path, tmp_path / "dev", path.parent):
        table = seldio.read(source)
        rows = table.to_pylist()
        left = [row for row in rows if row["source"] == 1]
        assert [(row["onset"], row["offset"]) for row in left] == [(0.25, 0.5), (1.0, 1.5)]
        assert all(apart(row, 90, 10) < 1e-3 and abs(row["distance"] - 1.5) < 1e-4 for row in left)
        moving = [row for row in rows if row["source"] == 4]
        assert [moving[0]["onset"], moving[-1]["offset"], len(moving)] == [0.1, 1.9, 18]
        for number, row in enumerate(moving, 1):
            time = number / 10 + 0.05 + late
            assert apart(row, -90 * time, 0) < 0.05
            assert row["distance"] == pytest.approx(1 + time, abs=1e-3)
        assert {row["extra"] for row in left} == {'{"name": "talker1"}'}
    assert seldio.validate(tmp_path).findings == []
    assert "locata" in str(seldio.info(tmp_path))


#: Azimuth, elevation (from the horizon) and distance at 0.05, 0.95 and 1.75 s of ``pose 7``, as ``GetTruth`` of
#: audiofhrozen/locata_wrapper, the official ``get_truth.m`` in Python, has them of the same files.
OFFICIAL = {
    1: [(90.0, 10.0, 1.5), (90.0, 10.0, 1.5), (90.0, 10.0, 1.5)],
    4: [(-4.5, -38.0, 1.05), (-85.5, -2.0, 1.95), (-157.5, 30.0, 2.75)],
}


def test_directions_are_those_of_the_official_program(tmp_path: Path) -> None:
    times = [number / 120 for number in range(241)]
    behind = rooms.seen(np.linspace(0, -180, 241), np.linspace(-40, 40, 241), np.linspace(1, 3, 241), rooms.LOCATA)
    sources = {"talker1": rooms.seen([90.0] * 241, [10.0] * 241, [1.5] * 241, rooms.LOCATA), "talker4": behind}
    always = {"talker1": [(0.0, 1.9)], "talker4": [(0.0, 1.9)]}
    rows = seldio.read(
        rooms.write_locata(tmp_path / "dicit", times, rooms.Pose.moving(241, 7), sources, always)
    ).to_pylist()
    for source, expected in OFFICIAL.items():
        own = [row for row in rows if row["source"] == source]
        for time, there in zip((0.05, 0.95, 1.75), expected, strict=True):
            row = next(row for row in own if row["onset"] <= time < row["offset"])
            assert apart(row, *there[:2]) < 1e-5
            assert row["distance"] == pytest.approx(there[2], abs=1e-6)


def test_locata_becomes_starss(tmp_path: Path) -> None:
    path = recording(tmp_path / "task6/recording2/dicit")
    seldio.convert(path, tmp_path / "out.csv", "starss23", fill={"class_id": 1}, allow_loss=["frame", "extra"])
    lines = (tmp_path / "out.csv").read_text().split()
    assert lines[:3] == ["1,1,4,-14,0,115", "2,1,4,-22,0,125", "2,1,1,90,10,150"]
    assert {line.split(",")[1] for line in lines} == {"1"}
    with pytest.raises(seldio.UsageError, match="locata is only read: its tables hold places in a room"):
        seldio.convert(tmp_path / "out.csv", tmp_path / "back.txt", "locata")


def test_moments_that_are_not_valid_have_no_direction(tmp_path: Path) -> None:
    flags = [1] * 241
    flags[120:181] = [0] * 61  # from 1.0 to 1.5 s
    path = recording(tmp_path / "dicit", valid=flags)
    rows = [row for row in seldio.read(path).to_pylist() if row["source"] == 1]
    assert [(row["onset"], row["azimuth"] is None) for row in rows] == [(0.25, False), (1.0, True)]
    with pytest.raises(seldio.LossError, match=r"azimuth .* have none, nor an elevation, and are left out"):
        seldio.convert(path, tmp_path / "out.csv", "starss23", fill={"class_id": 1}, allow_loss=["frame", "extra"])


def broken(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("what", "code", "place", "message"),
    [
        ("cell", "SYN502", ("position_source_talker1.txt", 3, 34), "y is 1.5x, not a number"),
        ("row", "SYN501", ("position_source_talker1.txt", 3, 1), "2 cells in a table of 21 columns"),
        ("short", "SYN509", ("position_source_talker4.txt", 1, None), "240 rows, but required_time.txt has 241"),
        ("moment", "SYN509", ("position_source_talker4.txt", 2, 1), "another moment than that of required_time.txt"),
        ("vad", "SYN502", ("VAD_dicit_talker1.txt", 5, 1), "VAD is 2, neither 0 nor 1"),
        ("no vad", "SYN509", ("position_array_dicit.txt", 1, None), "there is no VAD_dicit_talker1.txt"),
        ("no times", "SYN509", ("position_array_dicit.txt", 1, None), "there is no required_time.txt"),
        ("no source", "SYN509", ("position_array_dicit.txt", 1, None), "there is no position_source_NAME.txt"),
        ("mirror", "SYN502", ("position_array_dicit.txt", 2, 1), "do not make a rotation, in 241 valid rows"),
        ("back", "SYN502", ("required_time.txt", 3, 1), "before that of the row above"),
        ("header", "SYN113", ("required_time.txt", 1, 1), "no 1 column valid_flag"),
    ],
)  # fmt: skip
def test_broken_recordings(what: str, code: str, place: tuple[Any, ...], message: str, tmp_path: Path) -> None:
    path = recording(tmp_path / "dicit")
    talker, other = (path.with_name(f"position_source_talker{number}.txt") for number in (1, 4))
    lines = talker.read_text().splitlines()
    if what in ("cell", "row"):
        cells = lines[2].split("\t")
        cells[7] = "1.5x"
        lines[2] = "\t".join(cells if what == "cell" else cells[:2])
        talker.write_text("\n".join(lines) + "\n")
        place = (*place[:2], 1 + len("\t".join(cells[:7])) + 1) if what == "cell" else place
    elif what == "short":
        other.write_text("\n".join(other.read_text().splitlines()[:-1]) + "\n")
    elif what == "moment":
        other.write_text(other.read_text().replace("\t15\t40\t", "\t15\t41\t"))
    elif what == "vad":
        broken(path.with_name("VAD_dicit_talker1.txt"), "VAD\n0\n0\n0\n0\n", "VAD\n0\n0\n0\n2\n")
    elif what == "mirror":
        rows = [line.split("\t") for line in path.read_text().splitlines()]
        for row in rows[1:]:
            row[12:15] = [str(-float(cell)) for cell in row[12:15]]
        path.write_text("\n".join("\t".join(row) for row in rows) + "\n")
    elif what == "back":
        broken(path.with_name("required_time.txt"), "\t25.072333\t", "\t24.072333\t")
    elif what == "header":
        broken(path.with_name("required_time.txt"), "valid_flag", "ok")
    else:
        gone = {"no vad": ["VAD_dicit_talker1.txt"], "no times": ["required_time.txt"],
                "no source": ["position_source_talker1.txt", "position_source_talker4.txt"]}[what]  # fmt: skip
        for name in gone:
            path.with_name(name).unlink()
    found = seldio.validate(path).findings
    one = found[0]
    assert {other.code for other in found} == {code}
    assert (one.path.rpartition("/")[2], one.line, one.column) == place
    assert message in one.message


def test_a_part_of_a_recording_is_no_label_file(tmp_path: Path) -> None:
    path = recording(tmp_path / "dicit")
    for name in ("position_source_talker1.txt", "required_time.txt", "VAD_dicit_talker4.txt"):
        (one,) = seldio.validate(path.with_name(name)).findings
        assert (one.code, "a part of a recording of LOCATA" in one.message) == ("SYN901", True)


# --- wherever they are ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_parts_take_along_what_is_read_with_them(packed: bool, tmp_path: Path) -> None:
    top = tmp_path / "in"
    for number in (1, 2):
        recording(top / f"dev/task6/recording{number}/dicit")
    minute(top / "Main")
    (top / "k.txt").write_text("0.0\t0.3\tKnock\n")
    (top / "k.trajectory.csv").write_text("time,azimuth,elevation\n0,10,0\n1,20,0\n")
    source = top
    if packed:
        source = Path(shutil.make_archive(str(tmp_path / "all"), "zip", top))
    with open_source(source, raise_errors) as opened:
        found = label_parts(opened, None, raise_errors, size=1)
        assert len(found) == 4
        away = [pickle.loads(pickle.dumps(part)) for part in found]
        here = [part.labels(raise_errors)[0].reading.table for part in found]
        before = found[-1].size
    assert before > 0
    assert [part.labels(raise_errors)[0].reading.table for part in away] == here
    assert all(table["azimuth"].null_count < table.num_rows for table in here)


@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_no_file_stops_the_reader(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever is in the files, there is a table or a finding, and no exception."""
    folder = tmp_path_factory.mktemp("any")
    name = data.draw(st.sampled_from(["locata", "easycom"]))
    path = recording(folder / "dicit") if name == "locata" else minute(folder / "Main")
    files = sorted(one for one in folder.rglob("*.*") if one.is_file())
    for _ in range(data.draw(st.integers(1, 3))):
        file = data.draw(st.sampled_from(files))
        text = bytearray(file.read_bytes())
        start = data.draw(st.integers(0, min(len(text), 3000)))
        text[start : start + data.draw(st.integers(0, 40))] = data.draw(st.sampled_from(
            [b"", b"\t", b"\n", b"x", b"-", b"9" * 12, b"1e400", b"\xff", b"\x00", b"[", b"}", b"nan", b" ", b"\r", b'"']
        ))  # fmt: skip
        file.write_bytes(text)
    found: list[Finding] = []
    with open_source(path, found.append) as opened:
        readings = [
            one.reading for part in label_parts(opened, get(name), found.append) for one in part.labels(found.append)
        ]
    assert found or any(reading.table.num_rows for reading in readings)
    for finding in found:
        assert finding.line is None or finding.line >= 1
    for reading in readings:
        for row in range(reading.table.num_rows):
            assert reading.place(row, "azimuth").line >= 1


# --- EasyCom ----------------------------------------------------------------------------------------------------------

SPEECH = [
    {"Start_Frame": 4, "End_Frame": 8, "Participant_ID": 4, "Transcription": "left", "Target_of_Speech": "Group"},
    {"Start_Frame": 10, "End_Frame": 30, "Participant_ID": 6, "Transcription": "on my way", "Target_of_Speech": 2},
    {"Start_Frame": 31, "End_Frame": 33, "Participant_ID": 2, "Transcription": "[L]", "Target_of_Speech": "None"},
]


def minute(main: Path, **options: Any) -> Path:
    people = {
        4: rooms.seen([90.0] * 40, [5.0] * 40, [1.25] * 40, rooms.EASYCOM),
        6: rooms.seen(np.linspace(-30, -69, 40), [0.0] * 40, [1.0] * 40, rooms.EASYCOM),
    }
    return rooms.write_easycom(main, rooms.Pose.moving(40, 2), people, SPEECH, **options)


def test_easycom_gives_directions(tmp_path: Path) -> None:
    path = minute(tmp_path / "Main")
    for source in (path, tmp_path / "Main", tmp_path / "Main/Speech_Transcriptions", path.parent):
        rows = seldio.read(source).to_pylist()
        (left,) = (row for row in rows if row["source"] == 4)
        assert (left["onset"], left["offset"]) == (0.2, 0.4)
        assert apart(left, 90, 5) < 1e-3
        assert left["distance"] == pytest.approx(1.25, abs=1e-4)
        moving = [row for row in rows if row["source"] == 6]
        assert len(moving) == 10
        for row in moving:
            assert apart(row, -30 - 20 * (row["onset"] + row["offset"]) / 2, 0) < 0.01
        (own,) = (row for row in rows if row["source"] == 2)
        assert own["azimuth"] is None
    assert seldio.validate(tmp_path / "Main").findings == []
    seldio.convert(path, tmp_path / "again.json", "easycom", allow_loss=["azimuth", "elevation", "distance"])
    assert [row["Transcription"] for row in json.loads((tmp_path / "again.json").read_text())] == [
        "left", "on my way", "[L]",
    ]  # fmt: skip


def test_easycom_becomes_starss(tmp_path: Path) -> None:
    path = minute(tmp_path / "Main", upside_down=range(20, 23))
    seldio.convert(
        path, tmp_path / "out.csv", "starss23", fill={"class_id": 0}, allow_loss=["frame", "extra", "azimuth"]
    )
    lines = (tmp_path / "out.csv").read_text().split()
    assert lines[:3] == ["2,0,4,90,5,125", "3,0,4,90,5,125", "5,0,6,-41,0,100"]
    assert len(lines) == 12


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ('"Frame_Number": 3', '"Frame_Number": 7', "SYN509", "Frame_Number is 7 in frame 2 of the file"),
        ('"Participant_ID": 2', '"Participant_ID": 1', "SYN502", ""),
        ('"Position_Y"', '"Position_y"', "SYN502", "Position_Y is missing, not a number"),
        ('"Participants"', '"People"', "SYN212", "a frame must be an object with an array of Participants"),
    ],
)
def test_broken_poses(old: str, new: str, code: str, message: str, tmp_path: Path) -> None:
    path = minute(tmp_path / "Main")
    tracked = tmp_path / "Main/Tracked_Poses/Session_1/00-00-000.json"
    text = tracked.read_text()
    if message:
        tracked.write_text(text.replace(old, new, 1))
    else:
        tracked.write_text(text.replace(old, new))
        code, message = "SYN509", "participant 2, who wears the microphones, never appears"
    (one,) = seldio.validate(path).findings
    assert (one.code, one.path.endswith("Tracked_Poses/Session_1/00-00-000.json")) == (code, True)
    assert message in one.message
    assert one.line == 1
