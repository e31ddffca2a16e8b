"""Labels of L3DAS, RealMAN and EasyCom: their places and times, what comes back, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio import clock
from seldio.findings import Finding, raise_errors
from seldio.formats import LabelFormat, TextFile, get
from seldio.schema.events import ClipFile

HEADS = {"l3das22": "Start,End,Class,X,Y,Z", "l3das23": "Start,End,Class,rho,theta,z"}


def read(name: str, text: str) -> list[dict[str, object]]:
    format = get(name)
    return format.read([TextFile("a.csv", "a.csv", "a", text.encode())], raise_errors).table.to_pylist()


def again(format: LabelFormat, rows: list[dict[str, object]], text: str) -> list[dict[str, object]]:
    """The rows as they are when seldio writes them anew, and reads that."""
    table = format.read([TextFile("a.csv", "a.csv", "a", text.encode())], raise_errors).table
    file = ClipFile(str(rows[0]["clip"]), "b.csv")  # no text of its own: it is not written as it was read
    back = format.write(table, file).decode()
    return read(format.name, back)


PLACE = st.floats(-2, 2).map(lambda value: round(value, 2))


@pytest.mark.parametrize("name", HEADS)
@given(st.data())
@settings(max_examples=examples(40))
def test_places_come_back(name: str, data: st.DataObject) -> None:
    """To a millimetre, which is how they are written."""
    lines = [HEADS[name]]
    for number in range(data.draw(st.integers(1, 4))):
        first, second, third = (data.draw(PLACE) for _ in range(3))
        if name == "l3das23":
            first, second = abs(first) + 0.1, round(second / 2 + 0.001, 4)
        if abs(first) + abs(second) < 0.05:
            first = 1.0
        lines.append(f"{number},{number}.5,Knock,{first},{second},{third}")
    text = "\n".join(lines) + "\n"
    rows = read(name, text)
    for one, two in zip(rows, again(get(name), rows, text), strict=True):
        assert (one["onset"], one["offset"], one["class_id"]) == (two["onset"], two["offset"], two["class_id"])
        for field, slack in (("distance", 0.002), ("azimuth", 2.0), ("elevation", 2.0)):
            apart = abs(float(str(two[field])) - float(str(one[field])))
            assert min(apart, 360 - apart) <= slack


def test_axes() -> None:
    (front, left, up) = read(
        "l3das22", HEADS["l3das22"] + "\n0,1,Knock,2,0,0\n0,1,Knock,0,1.5,0\n0,1,Knock,0.001,0,1\n"
    )
    assert (front["azimuth"], front["elevation"], front["distance"]) == (0.0, 0.0, 2.0)
    assert (left["azimuth"], left["distance"]) == (90.0, 1.5)
    assert up["elevation"] == pytest.approx(90.0, abs=0.1)


@pytest.mark.parametrize(("theta", "azimuth"), [("90,1.5", None), ("90", 90.0), ("1.5707963", 90.0)])
def test_the_unit_of_theta(theta: str, azimuth: float | None) -> None:
    first, _, second = theta.partition(",")
    more = f"1,2,Knock,1,{second},0\n" if second else ""
    rows = read("l3das23", f"{HEADS['l3das23']}\n0,1,Knock,1,{first},0\n{more}")
    assert rows[0]["azimuth"] == pytest.approx(90.0 if azimuth is None else azimuth, abs=1e-4)
    if second:  # the unit is that of the file: 1.5 degrees
        assert rows[1]["azimuth"] == pytest.approx(1.5, abs=1e-4)


def test_a_unit_that_nothing_tells_is_refused() -> None:
    with pytest.raises(seldio.InvalidData, match="theta may be in degrees or in radians"):
        read("l3das23", HEADS["l3das23"] + "\n0,1,Knock,1,2,0\n")


REALMAN = """filename,real_st,real_ed,angle(°),ele,distance
train/a/TRAIN_M_1_CH1.flac,0,33600,"350,351,351,-10000,2,3,3",5,1.5
train/a/TRAIN_S_2.flac,48000,96000,90,-3,2.25
"""


def test_each_recording_of_realman_is_a_clip() -> None:
    rows = read("realman", REALMAN)
    moving = [row for row in rows if row["clip"] == "TRAIN_M_1"]
    assert [(row["onset"], row["offset"], row["azimuth"]) for row in moving] == [
        (0.0, 0.1, -10.0), (0.1, 0.3, -9.0), (0.4, 0.5, 2.0), (0.5, 0.7, 3.0),
    ]  # fmt: skip
    (still,) = (row for row in rows if row["clip"] == "TRAIN_S_2")
    assert (still["onset"], still["offset"], still["azimuth"], still["distance"]) == (0.0, 1.0, 90.0, 2.25)


def test_a_track_of_realman_comes_back() -> None:
    text = "\n".join(REALMAN.splitlines()[:2]) + "\n"
    rows = read("realman", text)
    assert again(get("realman"), rows, text) == rows


def test_easycom_counts_frames_of_its_video(tmp_path: Path) -> None:
    path = tmp_path / "01-00-000.json"
    row = {
        "Start_Frame": 14,
        "End_Frame": 52,
        "Participant_ID": 4,
        "Transcription": "hello",
        "Target_of_Speech": "Group",
    }
    path.write_text(json.dumps([row]))
    (found,) = seldio.read(path).to_pylist()
    assert (found["onset"], found["offset"], found["source"]) == (0.7, 2.6, 4)
    with pytest.raises(seldio.UsageError, match="azimuth"):
        seldio.convert(path, tmp_path / "out", "starss23", allow_loss="all")


def test_l3das_becomes_starss_by_name(tmp_path: Path) -> None:
    path = tmp_path / "split1.csv"
    path.write_text(HEADS["l3das22"] + "\n0.5,1.5,Female_speech_and_woman_speaking,1,1,0\n2,3,Printer,1,0,0\n")
    done = seldio.convert(path, tmp_path / "out.csv", "starss23", fill={"source": 0}, allow_loss="all")
    assert "Printer" in str(done.losses)
    rows = seldio.read(tmp_path / "out.csv", format="starss23").to_pylist()
    assert {(row["class_id"], row["azimuth"], row["distance"]) for row in rows} == {(0, 45.0, 1.41)}
    assert [row["frame"] * float(clock.HOP) for row in rows] == pytest.approx([0.5 + n / 10 for n in range(10)])


CASES = Path(__file__).parent / "cases/formats"
EXAMPLES = {path: path.parent.name for name in (*HEADS, "realman", "easycom") for path in (CASES / name).glob("*.*")
            if path.name != "rows.jsonl"}  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
@given(st.data())
@settings(max_examples=examples(60))
def test_broken_files_never_stop_the_reader(path: Path, data: st.DataObject) -> None:
    """Whatever stands in a file, there is a table or a finding with its place, and no exception."""
    text = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text) - 1))
        text[start : start + data.draw(st.integers(0, 12))] = data.draw(st.sampled_from(
            [b"", b",", b'"', b"\n", b"x", b"-", b"9" * 12, b"1e400", b"\xff", b"\x00", b"[", b"}", b"nan", b" "]
        ))  # fmt: skip
    found: list[Finding] = []
    format = get(EXAMPLES[path])
    reading = format.read([TextFile(path.name, path.name, path.stem, bytes(text))], found.append)
    assert reading.table.num_rows or found or not all(part.rows for part in reading.parts)
    for finding in found:
        assert finding.line is None or finding.line >= 1
    for number in range(reading.table.num_rows):
        assert reading.place(number, "azimuth").line >= 1
