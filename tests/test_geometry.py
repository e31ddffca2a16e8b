"""Directions, channel swaps and time: known values, and properties that hold everywhere."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial

import av
import numpy as np
import pyarrow as pa
import pytest
from effort import as_one
from hypothesis import given
from hypothesis import strategies as st

from seldio import clock, geometry
from seldio.clock import CONVENTIONS, NTSC, video_error, video_frame
from seldio.errors import UsageError
from seldio.media import arrays
from seldio.media.rotations import ROTATIONS, Rotation, channels, rotate_audio, rotate_table, rotation
from seldio.schema.event_rows import Event, from_events, to_events
from seldio.schema.events import COLUMNS

azimuths = st.floats(-180, 180)


#: azimuth, elevation, x (front), y (left), z (up)
KNOWN = [
    (0, 0, 1, 0, 0), (90, 0, 0, 1, 0), (-90, 0, 0, -1, 0), (180, 0, -1, 0, 0), (0, 90, 0, 0, 1), (0, -90, 0, 0, -1),
    (45, 0, 0.5**0.5, 0.5**0.5, 0), (0, 30, 0.75**0.5, 0, 0.5), (90, -60, 0, 0.5, -(0.75**0.5)), (-135, 0, -(0.5**0.5), -(0.5**0.5), 0),
]  # fmt: skip


elevations = st.floats(-90, 90)


@pytest.mark.parametrize(("azimuth", "elevation", "x", "y", "z"), KNOWN)
def test_known_directions(azimuth: float, elevation: float, x: float, y: float, z: float) -> None:
    assert pytest.approx((x, y, z), abs=1e-15) == geometry.to_cartesian(azimuth, elevation)
    for norm in (1.0, 0.001, 7.0):
        polar = geometry.to_polar(norm * x, norm * y, norm * z)
        assert pytest.approx((0 if abs(elevation) == 90 else azimuth, elevation), abs=1e-12) == polar


@pytest.mark.parametrize(
    ("azimuth", "expected"),
    [(180, 180), (-180, -180), (181, -179), (-181, 179), (360, 0), (540, -180), (-540, -180), (720.5, 0.5), (359, -1)],
)
def test_wrap(azimuth: float, expected: float) -> None:
    assert expected == geometry.wrap(azimuth)


@given(azimuths)
def test_folding_keeps_left_and_right(azimuth: float) -> None:
    folded = geometry.fold(azimuth)
    assert pytest.approx(np.sin(np.radians(azimuth)), abs=1e-12) == np.sin(np.radians(folded))
    assert abs(folded) <= 90


@given(azimuths, elevations, azimuths, elevations)
def test_great_circle_is_the_angle_between_vectors(az1: float, el1: float, az2: float, el2: float) -> None:
    angle = geometry.great_circle(az1, el1, az2, el2)
    dot = np.dot(geometry.to_cartesian(az1, el1), geometry.to_cartesian(az2, el2))
    assert pytest.approx(dot, abs=1e-12) == np.cos(np.radians(angle))
    assert pytest.approx(angle, abs=1e-9) == geometry.great_circle(az2, el2, az1, el1)


def test_great_circle_of_tiny_angles_does_not_vanish() -> None:
    """The arc cosine of a dot product is 0 here."""
    assert pytest.approx(1e-7, rel=1e-6) == geometry.great_circle(10, 20, 10, 20 + 1e-7)


@pytest.mark.parametrize(
    ("x", "y", "azimuth", "elevation"),
    [(180, 89.5, 0, 0), (0, 0, 180, 90), (90, 179, 90, -90), (270, 0, -90, 90), (359, 89.5, -179, 0)],
)
def test_pixels(x: float, y: float, azimuth: float, elevation: float) -> None:
    assert (azimuth, elevation) == geometry.from_pixels(x, y)
    assert (x, y) == geometry.to_pixels(azimuth, elevation)


def test_columns_beyond_the_picture_wrap_around_it() -> None:
    azimuth, elevation = geometry.from_pixels([-10, 0, 360, 370, 730], 89.5)
    assert [-170, 180, -180, 170, 170] == azimuth.tolist()
    assert 0 == elevation
    assert geometry.to_pixels(np.nextafter(180, 360), 0)[0] == 0
    assert geometry.to_pixels(540, 0)[0] == 0


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [(1.2, 1.3, 12, 12), (1.2, 1.30000009, 12, 12), (1.19999991, 1.3, 12, 12), (1.25, 1.26, 12, 12), (1.25, 1.35, 12, 13),
     (0, 0.1, 0, 0), (0.0, 60.0, 0, 599), (1.2, 1.2, 12, 12), (0.29999999999999993, 0.4, 3, 3), (5.7, 5.799999999999999, 57, 57)],
)  # fmt: skip
def test_frames_that_an_event_touches(start: float, end: float, first: int, last: int) -> None:
    assert range(first, last + 1) == clock.frames_between(start, end)


@given(
    st.integers(0, 36_000),
    st.integers(1, 600),
    st.sampled_from([Fraction(1, 10), Fraction(1, 50), Fraction(1001, 30000)]),
)
def test_frames_come_back_from_their_times(first: int, count: int, hop: Fraction) -> None:
    frames = range(first, first + count)
    assert frames == clock.frames_between(clock.onset(first, hop), clock.offset(frames[-1], hop), hop)


FOA, MIC = ROTATIONS["foa"], ROTATIONS["mic"]
EACH = [(format, name) for format in ("foa", "mic") for name in ROTATIONS[format]]
any_rotation = st.sampled_from(list(FOA.values()))

#: Where each channel comes from, as in Wang et al. 2021, tables of the 16 and the 8 ways, by direction.
BY_HAND = {
    "az+90 el+": ("foa", (0, 1), (3, 1), (2, 1), (1, -1)),
    "-az+0 el-": ("foa", (0, 1), (1, -1), (2, -1), (3, 1)),
    "az+180 el+": ("mic", (3, 1), (2, 1), (1, 1), (0, 1)),
    "-az+90 el+": ("mic", (0, 1), (2, 1), (1, 1), (3, 1)),
    "az+90 el-": ("mic", (1, 1), (3, 1), (0, 1), (2, 1)),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_known_channels(name: str) -> None:
    format, *wanted = BY_HAND[name]
    assert tuple(wanted) == channels(FOA[name], format)


@pytest.mark.parametrize(("format", "name"), EACH)
@given(azimuth=azimuths, elevation=elevations)
def test_a_plane_wave_comes_from_the_new_direction(format: str, name: str, azimuth: float, elevation: float) -> None:
    turned = ROTATIONS[format][name]
    mic = partial(arrays.mic_response, frequencies=[0, 500, 3000, 12_000])
    response = (lambda *at: mic(*at)[0]) if format == "mic" else arrays.foa_response  # of foa at any frequency
    before, after = response(azimuth, elevation), response(*turned.directions(azimuth, elevation))
    assert pytest.approx(after, abs=1e-11) == rotate_audio(before.T, turned, format).T


@as_one
@pytest.mark.parametrize(("format", "name"), EACH)
@pytest.mark.parametrize("kind", ["int16", "int32", "float32", "float64"])
def test_the_inverse_brings_every_sample_back(format: str, name: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    sound = (rng.normal(size=(4, 64)) * 8000).astype(kind)
    turned = ROTATIONS[format][name]
    there = rotate_audio(sound, turned, format)
    assert there.dtype == sound.dtype
    assert (sound == rotate_audio(there, turned.inverse, format)).all()
    assert sorted(np.abs(there).sum(1).tolist()) == sorted(np.abs(sound).sum(1).tolist())


def test_the_lowest_number_becomes_the_highest() -> None:
    sound = np.full((4, 2), -32768, np.int16)
    turned = rotate_audio(sound, rotation("-az+0 el+"), "foa")
    assert [[-32768] * 2, [32767] * 2, [-32768] * 2, [-32768] * 2] == turned.tolist()
    assert (-32768 == sound).all()


@pytest.mark.parametrize("format", ["foa", "mic"])
def test_any_two_make_a_third(format: str) -> None:
    those = ROTATIONS[format]
    sound = np.arange(1.0, 9).reshape(4, 2)
    for one in those.values():
        assert Rotation() == one.then(one.inverse) == one.inverse.then(one)
        for other in those.values():
            both = one.then(other)
            assert both == those[both.name]
            assert (both.matrix == other.matrix @ one.matrix).all()
            twice = rotate_audio(rotate_audio(sound, one, format), other, format)
            assert (twice == rotate_audio(sound, both, format)).all()


@given(any_rotation, st.lists(st.tuples(st.integers(-180, 180), st.integers(-90, 90)), min_size=1))
def test_whole_degrees_stay_whole_and_come_back(turned: Rotation, directions: list[tuple[int, int]]) -> None:
    azimuth, elevation = np.array(directions).T
    there = turned.directions(azimuth, elevation)
    assert there[0].dtype == there[1].dtype == np.int64
    assert (np.abs(there[0]) <= 180).all()
    back = turned.inverse.directions(*there)
    assert (0 == (back[0] - azimuth) % 360).all()
    assert (back[1] == elevation).all()


@given(any_rotation, st.decimals(-180, 180, places=3))
def test_decimals_stay_what_they_are_on_paper(turned: Rotation, azimuth: object) -> None:
    found = turned.directions(float(str(azimuth)), 0)[0]
    assert len(repr(float(found)).split(".")[1]) <= 3


@pytest.mark.parametrize(
    ("name", "azimuth", "wanted"),
    [("az+180 el+", [-180, 180, 0, 10, -10], [0, 0, 180, -170, 170]), ("-az+0 el+", [-180, 180, 0], [180, -180, 0]),
     ("az+90 el+", [90, 91, 180, -180], [180, -179, -90, -90]), ("az+0 el+", [-180, 180], [-180, 180]),
     ("-az-90 el+", [90, 91, -180], [-180, 179, 90])],
)  # fmt: skip
def test_the_ends_of_the_circle(name: str, azimuth: list[int], wanted: list[int]) -> None:
    assert wanted == FOA[name].directions(azimuth, 0)[0].tolist()
    floats = FOA[name].directions(np.array(azimuth, float), 0)[0]
    assert wanted == floats.tolist()
    assert not np.signbit(floats[floats == 0]).any()


def test_a_table_turns_and_the_rest_stays() -> None:
    events = [
        Event(clip="a", frame=0, class_id=1, source=2, azimuth=100.0, elevation=-20.0, distance=1.81, score=0.5, x=1.0, y=2.0, z=-3.0,
              segmentation=[[[80.0, 110.0, 0.5], [359.0, 0.0, 1.0]], []], extra='{"k": 1}', hemisphere=True),
        Event(clip="b", frame=3, class_id=0),
    ]  # fmt: skip
    table = from_events(events)
    turned = rotate_table(table, FOA["az+90 el-"])
    one, other = to_events(turned)
    assert (-170.0, 20.0) == (one.azimuth, one.elevation)
    assert (-2.0, 1.0, 3.0) == (one.x, one.y, one.z)
    assert [[[350.0, 70.0, 0.5], [269.0, 180.0, 1.0]], []] == one.segmentation
    assert events[1] == other
    moved = {"azimuth", "elevation", "x", "y", "z", "segmentation"}
    assert all(turned[name].equals(table[name]) for name in set(table.column_names) - moved)
    assert turned.schema.equals(table.schema, check_metadata=True)
    assert turned.num_rows == table.num_rows
    assert events == list(to_events(rotate_table(turned, FOA["az+90 el-"].inverse)))


def test_tables_of_other_types_and_without_rows() -> None:
    table = pa.table({"azimuth": pa.array([10, None], pa.int32()), "elevation": pa.array([5, None], pa.int32())})
    turned = rotate_table(table, FOA["-az+180 el-"])
    assert {"azimuth": [170, None], "elevation": [-5, None]} == turned.to_pydict()
    assert pa.int32() == turned["azimuth"].type
    empty = pa.table({name: pa.array([], kind) for name, kind in COLUMNS.items() if name != "clip"})
    assert empty.equals(rotate_table(empty, FOA["az+90 el-"]))
    plain = pa.table({"class_id": [1]})
    assert plain.equals(rotate_table(plain, FOA["az+90 el-"]))


def test_refusals() -> None:
    with pytest.raises(UsageError, match=re.escape("'az+90 el+' does not map the four capsules")):
        rotation("az+90 el+", "mic")
    with pytest.raises(UsageError, match="is not a rotation; choose one of az"):
        rotation("az+45 el+")
    with pytest.raises(UsageError, match="not 45"):
        Rotation(turn=45)
    with pytest.raises(UsageError, match="does not map"):
        rotate_audio(np.zeros((4, 3)), FOA["az+90 el+"], "mic")
    with pytest.raises(UsageError, match=re.escape("(4, frames), not (3, 4)")):
        rotate_audio(np.zeros((3, 4)), FOA["az+90 el+"], "foa")
    with pytest.raises(UsageError, match="uint8 has no signs"):
        rotate_audio(np.zeros((4, 4), np.uint8), FOA["az+90 el+"], "foa")
    with pytest.raises(UsageError, match="makes x from y"):
        rotate_table(pa.table({"x": [1.0]}), FOA["az+90 el+"])


FRAMES = st.integers(0, 10**7)
RATES = st.sampled_from([NTSC, Fraction(25), Fraction(30), Fraction(24_000, 1_001), Fraction(60_000, 1_001)]) | (
    st.fractions(10, 240, max_denominator=1_001)
)
HOPS = st.sampled_from([clock.HOP, Fraction(1, 50)])


def errors(name: str, last: int) -> list[float]:
    """Milliseconds by which the picture of each label frame is late."""
    return [float(video_error(frame, name)) * 1000 for frame in range(last)]


@given(frame=FRAMES, rate=RATES, name=st.sampled_from(sorted(CONVENTIONS)))
def test_later_label_frames_have_later_pictures(frame: int, rate: Fraction, name: str) -> None:
    assert 0 <= video_frame(frame, name, rate) <= video_frame(frame + 1, name, rate)


@given(frame=FRAMES, rate=RATES, hop=HOPS)
def test_the_default_errs_by_half_a_picture_at_most(frame: int, rate: Fraction, hop: Fraction) -> None:
    assert abs(video_error(frame, "centre", rate, hop)) <= 1 / (2 * rate) or video_frame(frame, rate=rate, hop=hop) == 0
    assert video_frame(frame, rate=rate, hop=hop) == video_frame(frame, "center", rate, hop)


@given(frame=st.integers(0, 10**6))
def test_the_picture_of_the_centre_is_shown_in_its_label_frame(frame: int) -> None:
    assert video_frame(frame) / NTSC // clock.HOP == frame


def test_an_unknown_convention_is_usage() -> None:
    with pytest.raises(UsageError, match="unknown convention 'middle'; choose from centre, start"):
        video_frame(0, "middle")


def test_sony_s_training_cuts_off() -> None:
    late = errors("dcase2023-training", 6000)

    assert max(late) <= 0
    assert -33.4 < min(late) < -33.3
    assert np.mean(late) == pytest.approx(-16.7, abs=0.05)


def test_sony_s_inference_writes_31_chunks_of_5_minutes_early() -> None:
    early = [chunk for chunk in range(250) if clock.chunk_frame(chunk) != 12 * chunk]

    assert len(early) == 31
    assert [clock.chunk_frame(chunk) for chunk in early[:3]] == [107, 215, 371]
    assert [int(time * 10) for time in np.arange(0, 300, 1.2)] == [clock.chunk_frame(n) for n in range(250)]


def test_sony_s_inference_shows_one_picture_for_each_chunk() -> None:
    pictures = [video_frame(frame, "dcase2023-inference") for frame in range(24)]

    assert pictures == [0] * 12 + [35] * 12
    assert video_frame(107, "dcase2023-inference") == video_frame(119, "dcase2023-inference") == 323


def test_every_third_picture_runs_away() -> None:
    late = errors("dcase2024", 5401)
    other = [frame for frame in range(1001) if video_frame(frame, "dcase2024") != video_frame(frame, "start")]

    assert other[0] == 167
    assert video_error(1, "dcase2024") == Fraction(1, 10_000)
    assert next(frame for frame, error in enumerate(late) if error >= 100) == 1000
    assert [round(late[frame], 1) for frame in (599, 3000, 5400)] == [59.9, 300.0, 540.0]
    assert max(late[:50]) == pytest.approx(4.9)  # a clip of 5 s, 2025
    assert video_frame(7, "dcase2025") == 21


def test_fps_10_is_what_ffmpeg_does() -> None:
    chosen = ffmpeg_fps_10(900)
    late = errors("dcase2026", 6000)

    assert [video_frame(frame, "dcase2026") for frame in range(len(chosen))] == chosen
    assert len(chosen) > 290
    assert 16.6 < min(late) < max(late) < 50
    assert np.mean(late) == pytest.approx(33.3, abs=0.05)


def ffmpeg_fps_10(frames: int) -> list[int]:
    """The numbers of the pictures that FFmpeg's own filter keeps."""
    graph, picture, base = av.filter.Graph(), np.zeros((16, 16, 3), np.uint8), 1 / NTSC
    source = graph.add_buffer(width=16, height=16, format="rgb24", time_base=base)
    fps, sink = graph.add("fps", "10"), graph.add("buffersink")
    source.link_to(fps)
    fps.link_to(sink)
    graph.configure()
    kept: list[int] = []
    for number in range(frames):
        picture[0, 0] = (*divmod(number, 256), 0)
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = number, base
        graph.push(frame)
        while True:
            try:
                high, low, _ = graph.pull().to_ndarray()[0, 0].tolist()
            except (av.error.BlockingIOError, av.error.EOFError):
                break
            kept.append(high * 256 + low)
    return kept
