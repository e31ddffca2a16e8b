"""Data sets: one view of any source, and windows over it."""

from __future__ import annotations

import json
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import soundfile
import starss_tree as data
from commands import laid
from hypothesis import given
from hypothesis import strategies as st
from releases import older

import seldio
from seldio.data import targets
from seldio.data.targets import ClipLabels, TargetForm
from seldio.errors import DataError, InvalidData, SeldioError, UsageError

NAMES = ["fold4_room2_mix001", "fold3_room21_mix001", "fold3_room4_mix001"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data.write(tmp_path_factory.mktemp("tree") / "starss23")


@pytest.fixture(scope="module")
def dataset(root: Path) -> seldio.data.Dataset:
    return seldio.open(root)


def test_it_says_what_it_is(dataset: Any) -> None:
    assert "Dataset('starss23', starss23, 3 clips, foa)" == repr(dataset)
    assert "Events(3 clips)" == repr(dataset.events)


def test_events_are_those_that_read_gives(dataset: Any, root: Path) -> None:
    assert NAMES == list(dataset.events)
    for split, clip, _ in data.CLIPS:
        assert seldio.read(root / "metadata_dev" / split / f"{clip}.csv").equals(dataset.events[clip])
    assert 0 == dataset.events["fold4_room2_mix001"].num_rows


def test_nothing_is_read_before_it_is_asked_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seldio.files import Entry

    def fail(self: Entry) -> bytes:
        raise AssertionError(self.name)

    monkeypatch.setattr(Entry, "read", fail)
    monkeypatch.setattr(Entry, "open", fail)

    dataset = seldio.open(root)

    assert 3 == dataset.clips.num_rows
    assert 2 == len(dataset.select(split="dev-train").events)


def test_events_are_one_arrow_table(dataset: Any) -> None:
    table = pa.table(dataset.events)

    assert table.schema == pa.schema(dataset.events) == dataset.events.table().schema
    assert pa.string() == table.schema.field("clip").type
    assert 9 == len(table.to_pandas()) == table.num_rows
    if not older("pandas", "3.0"):  # which takes whatever is Arrow
        assert 9 == len(pd.DataFrame.from_arrow(dataset.events))
    assert ["fold3_room21_mix001"] * 4 + ["fold3_room4_mix001"] * 5 == table["clip"].to_pylist()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, NAMES),
        ({"split": "dev-train"}, NAMES[1:]),
        ({"split": "*-tau"}, [NAMES[0], NAMES[2]]),
        ({"split": "dev"}, NAMES),
        ({"room": 4}, NAMES[2:]),
        ({"room": [2, 21]}, NAMES[:2]),
        ({"class_": "clapping"}, [NAMES[2]]),
        ({"class_": [4, "Clapping"]}, NAMES[1:]),
        ({"class_": 12}, []),
        ({"split": "dev-train", "fold": 4}, []),
        ({"clip": NAMES[0]}, NAMES[:1]),
    ],
)
def test_select_keeps_what_meets_all_conditions(dataset: Any, wanted: dict[str, Any], expected: list[str]) -> None:
    part = dataset.select(**wanted)

    assert expected == part.clips["clip"].to_pylist() == list(part.media) == list(part.events)
    assert expected == [name for name, _ in part.events.items()]


def test_statistics_count_everything(dataset: Any) -> None:
    found = dataset.statistics()

    splits = {"dev-test-tau": 1, "dev-train-sony": 1, "dev-train-tau": 1}
    assert splits == found["splits"] == {name: part.clips.num_rows for name, part in dataset.splits.items()}
    assert {"foa": 3, "metadata": 3} == found["files"]
    assert (1, 9, 8) == (found["events"]["silent_clips"], found["events"]["rows"], found["events"]["events"])
    assert {"1": 3, "2": 1, "4": 1} == found["events"]["overlaps"]
    assert 0.5 == found["events"]["active_seconds"]


def test_an_archive_gives_the_same(root: Path, tmp_path: Path) -> None:
    place = shutil.make_archive(str(tmp_path / "starss23"), "zip", root)
    expected = seldio.open(root).windows(seconds=0.5, target="rows")

    with closing(seldio.open(place)) as opened:
        dataset = pickle.loads(pickle.dumps(opened))
        windows = dataset.windows(seconds=0.5, target="rows")
        assert all(_same(ours, theirs) for ours, theirs in zip(windows, expected, strict=True))


def test_one_file_of_another_layout_among_many_is_read_as_what_it_is(tmp_path: Path) -> None:
    laid(tmp_path, {f"a{number:02d}.csv": "0,1,0,10,0,150\n3,1,0,10,0,150\n" for number in range(29)})
    (tmp_path / "a29.csv").write_text("0,1,0,10,0\n3,1,0,11,0\n4,1,0,12,1\n5,1,0,13,2\n", "utf-8")

    events = seldio.open(tmp_path).events

    assert "distance" in events["a28"].column_names
    assert "distance" not in events["a29"].column_names
    assert 4 == events.table()["distance"].null_count


def test_wrong_labels_say_where(tmp_path: Path) -> None:
    good = "0,1,0,10,0,150\n"
    laid(tmp_path, {"a.csv": f"{good}1,x,0,10,0,150\n", "b.csv": good, "c.csv": "0,99,0,10,0,150\n"})
    dataset = seldio.open(tmp_path, format="starss23")

    for clips, message in ((["a", "b"], r"a\.csv:2:3: SYN130 .*[^.]\. seldio validate .*; select\(clip=.* other clips"),
                           (["b", "c"], r"c\.csv:1:3: LAB102 .* seldio validate .*force=True.*; select\(clip="),
                           (["a"], "shows all findings$")):  # fmt: skip
        with pytest.raises(InvalidData, match=message):
            dataset.select(clip=clips).events[clips[-1]]
    assert 1 == dataset.select(clip="b").windows(seconds=0.1, target="rows", audio=None)[0]["target"].shape[0]


def test_open_refuses_what_holds_nothing(tmp_path: Path) -> None:
    laid(tmp_path, {"notes.md": "hello", "LICENSE": "hello"})

    with pytest.raises(UsageError, match="holds no recording, video, labels or questions"):
        seldio.open(tmp_path)
    with pytest.raises(UsageError, match="no such file"):
        seldio.open(tmp_path / "absent")


@pytest.mark.parametrize(
    ("wanted", "message"), [({"rooms": 1}, "no column rooms"), ({"class_": "dragon"}, "no class 'dragon'")]
)
def test_select_says_what_there_is(dataset: Any, wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        dataset.select(**wanted)


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(one[key], other[key], equal_nan=key == "target" and one[key].dtype == float) for key in one
    )


def test_windows_cover_each_clip_and_are_padded_behind_its_end(dataset: Any) -> None:
    windows = dataset.windows(seconds=0.5, target="activity", audio="foa")

    assert [(NAMES[0], 0, 5), (NAMES[0], 5, 10)] == [(w["clip"], *w["frames"]) for w in windows[:2]]
    assert [2, 4, 3] == [sum(w["clip"] == name for w in windows) for name in NAMES]
    assert [500, 200] == [int(w["length"]) for w in windows[:2]]
    assert {(4, 500)} == {w["audio"].shape for w in windows}
    assert not windows[1]["audio"][:, 200:].any()
    whole = np.concatenate([w["audio"] for w in windows[6:]], axis=1)[:, :1250]
    assert np.array_equal(data.sound(1, 1.25).T / np.float32(32768), whole)


def test_a_hop_gives_overlapping_windows(dataset: Any) -> None:
    windows = dataset.select(room=21).windows(seconds=1, hop=0.3, target="rows")

    assert [0, 3, 6, 9, 12] == [int(w["frames"][0]) for w in windows]
    assert [0.0, 0.3, 0.6, 0.9, 1.2] == [float(w["start"]) for w in windows]
    assert np.array_equal([[2, 4, 0, 180, 0, 3.0, np.nan]], windows[1]["target"], equal_nan=True)


def test_whole_clips(dataset: Any) -> None:
    windows = dataset.windows(target="activity")

    assert [(7, 13), (20, 13), (13, 13)] == [w["target"].shape for w in windows]
    assert [700, 2000, 1250] == [w["audio"].shape[1] for w in windows]
    assert 1 == windows[2]["target"][12, 2]  # the last frame, which is not full


def test_pictures_are_those_of_the_label_frames(tmp_path: Path) -> None:
    from seldio.synth.tree import write_tree

    write_tree(tmp_path, 5, seconds=1.0, clips=(("fold3_room4_mix001", "dev-train-tau"),))
    dataset = seldio.open(tmp_path)
    windows = dataset.windows(seconds=0.4, video=(36, 18), audio="mic")

    with dataset.media["fold3_room4_mix001"].video as video:
        expected = video.pictures(range(12), size=(36, 18), missing="hold")
    assert np.array_equal(expected, np.concatenate([w["video"] for w in windows]))
    assert (4, 9600) == windows[0]["audio"].shape
    assert _same(pickle.loads(pickle.dumps(windows))[1], windows[1])


def test_windows_are_the_same_in_threads_and_once_pickled(dataset: Any) -> None:
    windows = dataset.windows(seconds=0.2, target="multi-accdoa", distance=True)
    expected = list(windows)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(windows.__getitem__, [*range(len(windows))] * 5))
    assert all(_same(ours, expected[number % len(windows)]) for number, ours in enumerate(found))
    assert _same(pickle.loads(pickle.dumps(windows))[5], expected[5])
    assert all(_same(*pair) for pair in zip(windows.__getitems__([3, 1]), (expected[3], expected[1]), strict=True))
    assert windows._getitems([2])[0]["clip"] == windows[-len(windows) + 2]["clip"]


def test_the_signature_is_that_of_every_element(dataset: Any) -> None:
    for options in ({"seconds": 0.5, "target": "multi-accdoa"}, {"target": "rows"}, {"seconds": 0.5, "target": "rows"}):
        windows = dataset.windows(**options)
        for element in windows:
            assert element.keys() == windows.signature.keys()
            for name, (shape, kind) in windows.signature.items():
                array = np.asarray(element[name])
                assert kind == ("string" if array.dtype.kind == "U" else array.dtype.name)
                assert len(shape) == array.ndim
                assert all(length in (None, there) for length, there in zip(shape, array.shape, strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0.25}, "seconds=0.25: choose a multiple of 0.1 s"),
        ({"seconds": float("nan")}, "choose a multiple"),
        ({"seconds": 0}, "choose a multiple"),
        ({"hop": 1}, "set seconds="),
        ({"audio": "binaural"}, "unknown recordings 'binaural'"),
        ({"audio": "mic"}, "has no recording"),
        ({"video": (36, 18)}, "has no video"),
        ({"items": True}, "there are no questions"),
        ({"items": True, "target": "rows"}, "questions have none"),
        ({"items": True, "hop": 1}, "no hop"),
        ({"dtype": "float64"}, "unknown dtype 'float64'; choose from float32, int16"),
        ({"rate": 0}, "rate=0: choose samples per second from 1"),
    ],
)
def test_options_that_make_no_sense(dataset: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, DataError), match=message):
        dataset.windows(**options)


def test_a_clip_without_labels_is_not_taken_for_silence(root: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    (copy / "metadata_dev/dev-test-tau/fold4_room2_mix001.csv").unlink()

    with pytest.raises(DataError, match="fold4_room2_mix001 has no labels"):
        seldio.windows(copy, target="activity")
    assert 3 == len(seldio.windows(copy))


def test_a_recording_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.flac", np.random.default_rng(0).normal(0, 0.1, (48_000, 4)), 24_000)
    (tmp_path / "a.flac").write_bytes((tmp_path / "a.flac").read_bytes()[:200_000])
    with pytest.raises(SeldioError, match=r"a\.flac cannot be read as audio"):
        seldio.windows(tmp_path, seconds=1)[1]
    (tmp_path / "b.wav").write_bytes(b"RIFF and no more")
    with pytest.raises(SeldioError, match=r"b\.wav cannot be read as audio"):
        seldio.windows(tmp_path, seconds=1)


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return data.write_questions(data.write(tmp_path / "asked"))


def test_questions_come_with_their_sound(asked: Path) -> None:
    dataset = seldio.open(asked)
    windows = dataset.windows(items=True)

    assert ["a", "b"] == [item.id for item in dataset.items]
    assert ["a", "b"] == pa.table(dataset.items)["id"].to_pylist()
    assert np.array_equal(data.sound(1, 1.25)[700:1100].T / np.float32(32768), windows[0]["audio"])
    assert (4, 700) == windows[1]["audio"].shape
    assert ["now", "never"] == windows[1]["options"]
    assert (4, 1000) == dataset.windows(items=True, seconds=1)[1]["audio"].shape
    assert "audio" not in dataset.windows(items=True, audio=None)[0]


def test_questions_are_selected_with_their_clips(asked: Path) -> None:
    dataset = seldio.open(asked)

    assert ["a"] == [item.id for item in dataset.select(task="count_sources").items]
    assert ["b"] == [item.id for item in dataset.select(room=2).items]
    assert ["b"] == [item.id for item in dataset.select(split="dev-test").items]
    assert ["b"] == [item.id for item in dataset.select(split="test").items]  # their own split
    assert 3 == len(dataset.select(split="test").clips)
    assert [] == [*dataset.select(split="valid").items, *dataset.select(split="valid").media]
    assert {"count_sources": 1, "detect_time": 1} == dataset.statistics()["items"]["tasks"]
    assert [*dataset.items][:1] == dataset.items[:1]


def test_a_missing_recording_is_named(asked: Path) -> None:
    (asked / "foa_dev/dev-test-tau/fold4_room2_mix001.wav").unlink()

    with pytest.raises(DataError, match=r"question b is about foa_dev/dev-test-tau/fold4_room2_mix001\.wav"):
        seldio.windows(asked, items=True)


def _labels(rows: list[tuple[int, int, int, float, float, float]]) -> ClipLabels:
    table = np.full((len(rows), len(targets.ROW_FIELDS)), np.nan)
    table[:, :6] = np.array(rows, float).reshape(len(rows), 6)
    return ClipLabels("c", table)


#: Two sources of class 1 in frame 0, four in frame 1, one of class 0 in both: left, front, up, back.
ROWS = [
    (0, 1, 0, 90.0, 0.0, 1.5), (0, 0, 1, 0.0, 90.0, 0.5), (0, 1, 2, 0.0, 0.0, 2.5),
    (1, 1, 3, 180.0, 0.0, 1.0), (1, 0, 1, 0.0, 90.0, 0.5), (1, 1, 0, 90.0, 0.0, 2.0), (1, 1, 2, 0.0, 0.0, 3.0),
    (1, 1, 4, -90.0, 0.0, 4.0),
]  # fmt: skip
#: What get_adpit_labels_for_file of the 2024 baseline gives: (frame, track, class) -> activity, x, y, z, metres.
ADPIT = {
    (0, 0, 0): (1, 0, 0, 1, 0.5), (0, 1, 1): (1, 0, 1, 0, 1.5), (0, 2, 1): (1, 1, 0, 0, 2.5),
    (1, 0, 0): (1, 0, 0, 1, 0.5), (1, 3, 1): (1, -1, 0, 0, 1.0), (1, 4, 1): (1, 0, 1, 0, 2.0),
    (1, 5, 1): (1, 1, 0, 0, 3.0),
}  # fmt: skip
#: What get_labels_for_file gives: the last source of a class.
SINGLE = {(0, 0): (0, 0, 1, 0.5), (0, 1): (1, 0, 0, 2.5), (1, 0): (0, 0, 1, 0.5), (1, 1): (0, -1, 0, 4.0)}


@pytest.mark.parametrize("distance", [False, True])
def test_targets_are_those_of_the_official_baselines(distance: bool) -> None:
    expected = np.zeros((3, 6, 5, 2))
    for (frame, track, number), values in ADPIT.items():
        expected[frame, track, :, number] = values
    single = np.zeros((3, 4, 2))
    for (frame, number), values in SINGLE.items():
        single[frame, :, number] = values

    found = TargetForm("multi-accdoa", 2, distance=distance).encode(_labels(ROWS), 3)
    one = TargetForm("accdoa", 2, distance=distance).encode(_labels(ROWS), 3)

    np.testing.assert_allclose(found, expected if distance else expected[:, :, :4], atol=1e-7)
    np.testing.assert_allclose(one, single if distance else single[:, :3], atol=1e-7)
    assert np.array_equal([[1, 1], [1, 1], [0, 0]], TargetForm("activity", 2).encode(_labels(ROWS), 3))


def test_whole_events_become_frames() -> None:
    table = pa.table({
        "clip": pa.array(["c", "c"]).dictionary_encode(), "onset": [0.1, 0.25], "offset": [0.3, 0.31],
        "class_id": pa.array([0, 1], pa.int32()),
    })  # fmt: skip

    found = TargetForm("activity", 2).encode(ClipLabels.of("c", table, Fraction(1, 10)), 5)

    assert np.array_equal([[0, 1, 1, 0, 0], [0, 0, 1, 1, 0]], found.T)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((0, 2, 0, 0.0, 0.0, 1.0), "class without a number from 0 to 1"),
        ((0, np.nan, 0, 0.0, 0.0, 1.0), "class without a number"),
        ((0, 1, 0, 0.0, np.nan, 1.0), "without direction"),
        ((0, 1, 0, 0.0, 0.0, np.nan), "without distance"),
    ],
)
def test_what_a_target_needs_is_asked_for(row: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        TargetForm("multi-accdoa", 2, distance=True).encode(_labels([row]), 1)


@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 40))
def test_windows_of_targets_are_parts_of_the_whole(seed: int, size: int, frames: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(*row, *rng.uniform(-90, 90, 2), 1.0) for row in rng.integers(0, (frames, 2, 5), (60, 3)).tolist()]
    labels = _labels(rows)

    for name in ("activity", "activity-doa", "accdoa", "multi-accdoa"):
        form = TargetForm(name, 2, distance=True)
        whole = form.encode(labels, frames)
        parts = [form.encode(labels.between(at, at + size), size) for at in range(0, frames, size)]
        assert np.array_equal(whole, np.concatenate(parts)[:frames])
        assert form.shape(frames) == whole.shape
    plain = [labels.between(at, at + size).rows + np.array([at, *[0] * 6]) for at in range(0, frames, size)]
    assert len(rows) == sum(map(len, plain))
    assert sorted(map(tuple, labels.rows[:, :6])) == sorted(map(tuple, np.concatenate(plain)[:, :6]))


def test_labels_of_one_clip_make_a_folder_like_those_of_two(root: Path, tmp_path: Path) -> None:
    place = next((root / "metadata_dev").rglob("*.csv"))
    table = seldio.read(laid(tmp_path / "labels", {place.name: place.read_bytes()}))

    assert (str(tmp_path / "sub" / place.name),) == seldio.write(table, tmp_path / "sub", "starss23")
    assert (str(tmp_path / "own.csv"),) == seldio.write(table, tmp_path / "own.csv", "starss23")


def test_clips_of_several_annotators_have_the_recording_that_they_are_about(tmp_path: Path) -> None:
    events = [{"time": 0.1, "duration": 0.5, "value": "Knock", "confidence": 1.0}]
    annotations = [
        {"namespace": "tag_open", "data": events, "annotation_metadata": {"annotator": {"name": name}}}
        for name in ("AN", "BO")
    ]
    (tmp_path / "x.jams").write_text(json.dumps({"annotations": annotations, "file_metadata": {"duration": 2.0}}))
    soundfile.write(tmp_path / "x.wav", np.zeros((48_000, 1)), 24_000)
    opened = seldio.open(tmp_path)

    assert ["x_by1", "x_by2"] == list(opened.events) == list(opened.media)
    assert (1, 24_000) == opened.windows(seconds=1, target="rows")[3]["audio"].shape
