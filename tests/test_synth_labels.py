"""Scenes made from labels: everything sounds where the labels say, whatever they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio import geometry
from seldio.errors import DataError, InvalidData, UsageError
from seldio.schema.events import COLUMNS, ClipFile, Origin, with_origin
from seldio.synth import Track, labels, scene
from seldio.synth.from_labels import BLOCK, DISTANCE, room_for, scene_blocks, tracks_of, write_scenes
from seldio.synth.recording import RATE, RecordingOptions, Room
from seldio.synth.sounds import SOUNDS
from seldio.vocabularies import spelling, vocabulary

HOP = RATE // 10
OPEN = RecordingOptions(Room(reverberation=0.0), snr=None)
WATER = 10


def events(*rows: tuple[int, ...], vocabulary: str = "starss") -> pa.Table:
    """A table of frame, class, source, azimuth, elevation, distance."""
    names = ("frame", "class_id", "source", "azimuth", "elevation", "distance")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) | {"clip": ["a"] * len(rows)}
    table = pa.table({name: pa.array(list(column)).cast(COLUMNS[name]) for name, column in columns.items()})
    return with_origin(table, Origin("starss23", vocabulary, (ClipFile("a", "a.csv"),)))


def joined(tracks: list[Track], seconds: float, **options: Any) -> np.ndarray:
    options = {"seed": 3, "format": "foa", "options": OPEN} | options
    return np.concatenate(list(scene_blocks(tracks, seconds, **options)), axis=1)


def heard(foa: np.ndarray, frame: int) -> np.ndarray:
    """The direction of a label frame, by its intensity."""
    w, y, z, x = foa[:, frame * HOP : (frame + 1) * HOP]
    vector = np.array([np.mean(w * x), np.mean(w * y), np.mean(w * z)])
    return vector / np.linalg.norm(vector)


def test_every_row_of_a_scene_becomes_part_of_one_track_where_it_was() -> None:
    made = scene(4, 30.0, 10)

    found = tracks_of(labels("a", made))

    assert [(t.class_id, t.source, t.first, t.end) for t in found] == [
        (t.class_id, t.source, t.first, t.end) for t in made
    ]
    assert max(np.abs(a.positions - b.positions).max() for a, b in zip(made, found, strict=True)) < 0.06


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), st.integers(0, 1), st.integers(-180, 180),
                          st.integers(-90, 90), st.integers(1, 9)), min_size=1, max_size=20))  # fmt: skip
def test_no_row_is_lost_whatever_overlaps(rows: list[tuple[int, ...]]) -> None:
    """Also two sources of one class and number in one frame."""
    tracks = tracks_of(events(*rows))

    places = [(track.class_id, track.source, track.first + number, *np.round(position, 6))
              for track in tracks for number, position in enumerate(track.positions)]  # fmt: skip
    expected = [(label, source, frame, *np.round(np.array(geometry.to_cartesian(azimuth, elevation)) * distance, 6))
                for frame, label, source, azimuth, elevation, distance in rows]  # fmt: skip
    assert sorted(expected) == sorted(places)


def test_a_source_that_jitters_is_heard_at_each_label_also_where_blocks_meet() -> None:
    frames = range(BLOCK - 12, BLOCK + 12)
    rows = [(frame, WATER, 0, 40 + 15 * (frame % 2), -10 + frame % 3, 2) for frame in frames]

    foa = joined(tracks_of(events(*rows)), 23.0)

    assert (4, 23 * RATE) == foa.shape
    for frame, _, _, azimuth, elevation, _ in rows:
        expected = np.array(geometry.to_cartesian(azimuth, elevation))
        assert np.degrees(np.arccos(np.clip(heard(foa, frame) @ expected, -1, 1))) < 9  # half of the way to the next
    assert not foa[:, : frames[0] * HOP].any()
    assert not foa[:, (frames[-1] + 1) * HOP + 1 :].any()
    still = joined(tracks_of(events(*((frame, WATER, 0, 40, -10, 2) for frame in frames))), 23.0)
    there = np.array(geometry.to_cartesian(40, -10))
    assert min(float(heard(still, frame) @ there) for frame in frames) > 1 - 1e-6


def test_two_of_one_class_are_heard_between_their_places() -> None:
    rows = [(frame, WATER, source, 60 * source, 0, 2) for frame in range(10) for source in (0, 1)]

    foa = joined(tracks_of(events(*rows)), 1.0)

    azimuth = float(geometry.to_polar(*np.mean([heard(foa, frame) for frame in range(10)], axis=0))[0])
    assert 10 < azimuth < 50


@pytest.mark.parametrize("class_id", range(len(SOUNDS)))
def test_an_event_of_one_frame_sounds(class_id: int) -> None:
    foa = joined(tracks_of(events((BLOCK, class_id, 0, 0, 0, 2))), 20.5)

    assert np.abs(foa[0, BLOCK * HOP : (BLOCK + 1) * HOP]).max() > 1e-3
    assert not foa[:, : BLOCK * HOP].any()


def test_nothing_is_cut_off_and_both_formats_are_one_scene() -> None:
    rows = [(frame, label, 0, 30 * label, 5 * label, 0.3) for frame in range(8) for label in range(13)]
    options = RecordingOptions(Room(reverberation=0.3), snr=0.0)

    foa, mic = (joined(tracks_of(events(*rows)), 1.0, format=name, options=options) for name in ("foa", "mic"))

    assert np.abs(foa).max() < 1
    assert np.abs(mic).max() < 1
    pressure = np.mean(mic, axis=0)  # about W below where the sphere shades
    low = [np.fft.rfft(wave)[:400] for wave in (foa[0], pressure)]
    assert np.abs(np.vdot(*low)) > 0.95 * np.linalg.norm(low[0]) * np.linalg.norm(low[1])


def test_noise_is_as_loud_as_asked_in_every_block_and_has_no_seams() -> None:
    rows = [(frame, WATER, 0, 0, 0, 1) for frame in range(2 * BLOCK + 20)]
    quiet, loud = (
        joined(tracks_of(events(*rows)), 44.0, options=RecordingOptions(Room(reverberation=0.0), snr=snr))
        for snr in (None, 10.0)
    )
    gain = np.vdot(quiet[0], loud[0]) / np.vdot(quiet[0], quiet[0])
    noise = (loud - gain * quiet)[0]
    parts = noise[: 400 * HOP].reshape(-1, 10 * HOP)
    wanted = gain**2 * np.mean(quiet[0, : 400 * HOP] ** 2) / 10

    assert np.abs(10 * np.log10(np.mean(parts**2, axis=1) / wanted)).max() < 3
    seam = noise[BLOCK * HOP - HOP : BLOCK * HOP + HOP]
    assert np.abs(np.diff(seam)).max() < 1.5 * np.abs(np.diff(noise[HOP : BLOCK * HOP - HOP])).max()


def test_the_room_is_made_large_enough() -> None:
    inside, outside = (tracks_of(events(*((f, 0, 0, 90, 0, away) for f in range(3)))) for away in (2, 30))

    assert Room() == room_for(inside) == room_for([])
    larger = room_for(outside)
    assert larger.walls[1][1] > 30
    assert larger.reverberation > larger.shortest
    assert Room(reverberation=0.0) == room_for(outside, Room(reverberation=0.0))


def test_clips_of_other_names_get_those_of_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    for name in ("aloft", "fold1_room1_mix001", "kitchen"):
        (tmp_path / f"labels/{name}.csv").write_text(
            "0,10,0,30,0,200\n1,10,0,31,0,200\n1,10,1,-90,10,150\n12,2,0,0,0,90\n"
        )
    done = write_scenes(tmp_path / "labels", tmp_path / "out", options=OPEN)
    assert [one.clip for one in done] == [f"fold1_room1_mix{number:03}" for number in (2, 1, 3)]
    assert {found.code for found in seldio.validate(tmp_path / "out")} & {"LAY101", "LAY106", "LAY109"} == set()


def test_files_of_a_data_set(tmp_path: Path) -> None:
    source = tmp_path / "labels/metadata_dev/dev-train-tau"
    source.mkdir(parents=True)
    (source / "fold3_room4_mix001.csv").write_text("0,10,0,30,0\n1,10,0,31,0\n1,10,1,-90,10\n12,2,0,0,0")
    (source / "fold3_room4_mix002.csv").write_text("")

    done = [write_scenes(tmp_path / "labels", tmp_path / name, seed=5, options=OPEN) for name in "ab"]

    assert done[0] == done[1]
    assert [("fold3_room4_mix001", 2.0, 3), ("fold3_room4_mix002", 1.0, 0)] == [
        (one.clip, one.seconds, one.events) for one in done[0]
    ]
    names = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert 6 == len(names)
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        if name.suffix == ".csv":
            assert (source / name.name).read_bytes() == (tmp_path / "a" / name).read_bytes()
    longer = write_scenes(tmp_path / "a", tmp_path / "c", options=OPEN, formats=["foa"])
    assert [2.0, 1.0] == [one.seconds for one in longer]  # of the recordings
    assert not (tmp_path / "c/mic_dev").exists()
    with pytest.raises(UsageError, match="is their own recording: choose another folder"):
        write_scenes(tmp_path / "a", tmp_path / "a", options=OPEN)
    assert not soundfile.read(tmp_path / "c/foa_dev/dev-train-tau/fold3_room4_mix002.wav")[0].any()


def test_classes_of_another_list_sound_like_those_of_the_same_name() -> None:
    name = "tau-nigens-2021"
    other = vocabulary(name)
    table = events(*((number, number, 0, 0, 0, 0) for number in range(len(other))), vocabulary=name)

    tracks = tracks_of(table)

    assert len(other) == len(tracks)
    for track in tracks:
        index = vocabulary("starss").indices.get(spelling(other.label(track.first)))
        assert index in (None, track.class_id)
        assert track.class_id < len(SOUNDS)
        assert DISTANCE == pytest.approx(float(np.linalg.norm(track.positions[0])))  # 0 m is none


def test_what_cannot_be_rendered_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1,0,30,0,100\n")
    (tmp_path / "wrong.csv").write_text("0,1,0,300,0,100\n")

    for options, message in (
        ({"seconds": 0}, "choose a length above 0"), ({"distance": 0}, "choose metres above 0"),
        ({"formats": ["ambix"]}, "unknown formats ambix"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            write_scenes(tmp_path / "a.csv", tmp_path / "out", **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidData, match="azimuth 300"):
        write_scenes(tmp_path / "wrong.csv", tmp_path / "out")
    with pytest.raises(DataError, match="without azimuth"):
        tracks_of(events((0, 1, 0, 0, 0, 1)).drop_columns(["azimuth"]))
