"""Decoding: outputs of networks become the rows that the baselines write, and targets become their labels again."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import starss_tree
from commands import laid
from decoder_inputs import CASES, tensor
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio import geometry
from seldio.errors import DataError, UsageError
from seldio.schema.events import ClipFile, Origin, origin_of, with_origin
from seldio.schema.frames import event_table

GOLDENS = Path(__file__).parent / "cases/decode"


@pytest.mark.parametrize("name", CASES)
def test_predictions_are_those_of_the_baselines(name: str, tmp_path: Path) -> None:
    """Byte for byte: train_seldnet.py of 2023 (24d14c9) and 2024 (0b07887), utils.py of 2025 (42a48b6)."""
    case, year = CASES[name], name[:4]
    options: dict[str, Any] = {"target": "multi-accdoa" if case.tracks == 3 else "accdoa", "distance": year != "2023"}
    write: dict[str, Any] = {}
    output = tensor(case)
    if year == "2025":  # a file for each window
        clips = {f"clip{number}": one for number, one in enumerate(output)}
        options |= {"elevation": False, "onscreen": case.parts == 4, "onscreen_threshold": 1.0}
        write |= {"allow_loss": "azimuth", "fill": {} if case.parts == 4 else {"onscreen": 0}}
    else:
        clips = {"clip": output.reshape(-1, *output.shape[2:])}
        options |= {"vectors": True}

    table = seldio.decode(clips, **options)

    paths = seldio.write(table, tmp_path / "out", "dcase2025" if year == "2025" else f"dcase{year}-output", **write)
    found = "".join(Path(path).read_text() for path in paths)
    expected = (GOLDENS / f"{name}.csv").read_text()
    assert _folded(expected) == found if year == "2025" else expected == found


def _folded(text: str) -> str:
    """The rows with azimuths as the layout wants them; the baseline leaves the folding to its scorer."""
    rows = [line.split(",") for line in text.splitlines()]
    for row in rows:
        row[3] = row[3] if row[0] == "frame" else f"{geometry.fold(int(row[3])):.0f}"
    return "".join(",".join(row) + "\n" for row in rows)


#: Names and options of each form of target.
FORMS = [
    (name, {"distance": distance, "elevation": elevation, "onscreen": onscreen})
    for name in ("activity", "activity-doa", "accdoa", "multi-accdoa")
    for distance, elevation, onscreen in itertools.product([False, True], repeat=3)
    if name != "activity" or not (distance or onscreen or not elevation)
]


def _labels(rng: Any, frames: int, most: int, level: bool) -> pa.Table:
    """Random labels of two clips, with up to *most* sources of a class in a frame, well apart."""
    rows = []
    for clip, frame, number in itertools.product("ab", range(frames), (0, 12)):
        start = rng.integers(-90, -29) if level else rng.integers(-180, 181)
        for source in range(rng.integers(0, most + 1) if frame < frames - 1 else most):
            azimuth = int(geometry.wrap(start + 60 * source))
            rows.append((clip, frame, number, source, azimuth, int(rng.integers(-25, 26)), int(rng.integers(1, 999))))
    rng.shuffle(rows)
    rows.sort(key=lambda row: row[:3])
    names = ("clip", "frame", "class_id", "source", "azimuth", "elevation", "distance")
    columns: dict[str, Any] = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns["distance"] = [part / 100 for part in columns["distance"]]
    if level:
        columns["onscreen"] = [bool(part % 2) for part in columns["source"]]
        del columns["elevation"]
    table = event_table(pa.table({name: list(values) for name, values in columns.items()}))
    files = tuple(ClipFile(clip, f"{clip}.csv") for clip in "abc")  # c is silent
    return with_origin(table, Origin("", "starss", files))


def _network(target: Any) -> Any:
    """Three tracks, as a perfect network gives them: (…, 6, 1 + parts, classes) -> (…, 3, parts, classes)."""
    a, b, c, d, e, f = np.moveaxis(target[..., 1:, :] * target[..., :1, :], -3, 0)
    return np.stack([a + b + d, a + b + e, a + c + f], axis=-3)


@settings(max_examples=examples(120), deadline=None)
@given(st.sampled_from(FORMS), st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 9), st.integers(1, 25))
def test_decoded_targets_are_the_labels(form: Any, seed: int, size: int, hop: int, frames: int) -> None:
    name, options = form
    rng = np.random.default_rng(seed)
    level = options["onscreen"] or not options["elevation"]
    labels = _labels(rng, frames, 3 if name == "multi-accdoa" else 1, level)
    with tempfile.TemporaryDirectory() as folder:
        seldio.write(labels, folder, "dcase2025" if level else "starss23")
        length = None if seed % 4 == 0 else max(size, hop) / 10
        windows = seldio.windows(
            folder, seconds=length, hop=None if length is None else hop / 10, target=name, audio=None,
            format="dcase2025" if level else "starss23", **options,
        )  # fmt: skip
        elements = [windows[number] for number in rng.permutation(len(windows))]
        outputs = [[(one, one["target"]) for one in elements]]
        if name == "multi-accdoa":
            outputs.append([(one, _network(one["target"])) for one in elements])
        for pairs in outputs:
            _same(labels, seldio.decode(pairs, windows))


def _same(labels: pa.Table, found: pa.Table) -> None:
    names = [name for name in found.column_names if name in labels.column_names]
    rows = [
        sorted(tuple(round(value, 3) if isinstance(value, float) else value for value in row.values()) for row in side)
        for side in (labels.select(names).to_pylist(), found.select(names).to_pylist())
    ]
    assert rows[0] == rows[1]
    assert {"clip", "frame", "class_id"} <= set(names)
    assert ["a", "b", "c"] == [file.clip for file in origin_of(found).files]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return starss_tree.write(tmp_path_factory.mktemp("decoding") / "starss23")


@pytest.fixture(scope="module")
def windows(root: Path) -> Any:
    """Windows of 5 label frames every 2, over clips of 20, 13 and 7."""
    return seldio.windows(root, seconds=0.5, hop=0.2, target="accdoa")


def _silence(windows: Any) -> Any:
    return np.zeros((len(windows), 5, 3, 13), np.float32)


def test_overlapping_windows_are_averaged(windows: Any) -> None:
    outputs = _silence(windows)
    at = list(windows.places()).index(("fold3_room21_mix001", 0))
    outputs[at, 4, :, 7] = 1, 0, 0  # frame 4 is in three windows: frames 0 to 4, 2 to 6 and 4 to 8
    outputs[at + 1, 2, :, 7] = 0, 1, 0

    assert [] == seldio.decode(outputs, windows).to_pylist()
    (row,) = seldio.decode(outputs, windows, threshold=0.4).to_pylist()

    assert {"clip": "fold3_room21_mix001", "frame": 4, "class_id": 7, "azimuth": 45, "elevation": 0} == row


def test_frames_past_the_end_of_a_clip_are_left_out(windows: Any, tmp_path: Path) -> None:
    outputs = _silence(windows)
    outputs[..., 2, 3] = 1

    table = seldio.decode(outputs, windows)
    written = seldio.write(table, tmp_path / "out", "dcase2023-submission")

    assert [7, 20, 13] == [len(Path(path).read_text().splitlines()) for path in written]
    assert "6,3,0,90\n" == Path(written[0]).read_text().splitlines(keepends=True)[-1]


def test_batches_come_in_order_or_say_what_they_are(windows: Any) -> None:
    rng = np.random.default_rng(1)
    outputs = rng.uniform(-1, 1, _silence(windows).shape).astype(np.float32)
    expected = seldio.decode(outputs, windows)
    assert expected.num_rows > 100
    order = rng.permutation(len(windows))
    stream = seldio.data.Stream(windows).batch(4)

    assert expected == seldio.decode((outputs[at : at + 3] for at in range(0, len(outputs), 3)), windows)
    assert expected == seldio.decode([(windows[number], outputs[number]) for number in order], windows)
    assert expected == seldio.decode([(windows[number], outputs[number]) for number in [*order, *order[:5]]], windows)
    parts = ((batch, outputs[4 * number : 4 * number + 4]) for number, batch in enumerate(stream))
    assert expected == seldio.decode(parts, windows)
    assert expected == seldio.decode(outputs.reshape(len(outputs), 5, 39), windows)
    names = np.array([clip.encode() for clip, _ in windows.places()], object)  # as TensorFlow has them
    frames = np.array([[first, first + 5] for _, first in windows.places()])
    assert expected == seldio.decode([({"clip": names, "frames": frames}, outputs)], windows)


def test_missing_and_superfluous_outputs_are_named(windows: Any) -> None:
    outputs = _silence(windows)
    outputs[..., 0, 3] = 1
    with pytest.raises(DataError, match=r"1 clip of 3 .*: fold3_room4_mix001 has 4 of 5\. Do not drop the last batch"):
        seldio.decode(outputs[:-1], windows)
    assert {"fold3_room21_mix001", "fold4_room2_mix001"} == set(
        seldio.decode(outputs[:-1], windows, partial=True)["clip"].to_pylist()
    )
    with pytest.raises(UsageError, match="more outputs than windows"):
        seldio.decode(np.concatenate([outputs, outputs[:1]]), windows)
    with pytest.raises(UsageError, match="clip nobody, which the windows do not have"):
        seldio.decode([({"clip": "nobody", "frames": np.array([0, 5])}, outputs[0])], windows)
    with pytest.raises(UsageError, match="frame 3 of fold4_room2_mix001, where none of the windows begins"):
        seldio.decode([({"clip": "fold4_room2_mix001", "frames": np.array([3, 8])}, outputs[0])], windows)


def test_whole_clips_may_be_padded(root: Path) -> None:
    windows = seldio.windows(root, target="accdoa", distance=True)
    padded = [np.pad(window["target"], ((0, 9), (0, 0), (0, 0)), constant_values=1)[None] for window in windows]
    expected = seldio.decode({window["clip"]: window["target"] for window in windows}, windows)

    assert expected.num_rows
    assert expected == seldio.decode(padded, windows)
    with pytest.raises(UsageError, match="6 frames for fold4_room2_mix001, which has 7 label frames"):
        seldio.decode([part[:, :6] for part in padded], windows)


def test_windows_without_frames_or_with_gaps_are_refused(root: Path) -> None:
    starss_tree.write_questions(root)
    with pytest.raises(UsageError, match="these windows are of questions"):
        seldio.decode(np.zeros((2, 5, 3, 13)), seldio.windows(root, items=True), target="accdoa")
    with pytest.raises(UsageError, match="the hop is longer than the windows"):
        seldio.decode(np.zeros((2, 5, 3, 13)), seldio.windows(root, seconds=0.5, hop=0.6), target="accdoa")


class Exported:
    """An array that has no more than DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("make", [Exported, np.float16, np.ndarray.tolist, np.bool_])
def test_arrays_of_any_kind_are_read(make: Any) -> None:
    output = np.zeros((4, 3, 13), np.float32)
    output[2, 1, 9] = 1

    (row,) = seldio.decode({"c": make(output)}, target="accdoa").to_pylist()

    assert {"clip": "c", "frame": 2, "class_id": 9, "azimuth": 90, "elevation": 0} == row


def test_a_median_filter_fills_gaps_and_drops_spikes_and_a_class_may_have_its_own_threshold() -> None:
    output = np.zeros((9, 13), np.float32)
    output[[0, 1, 3, 4, 8], 2] = 1  # a gap in frame 2; at the end, the last value is repeated
    output[6, 5] = 1

    output[:, 7] = 0.6
    table = seldio.decode({"c": output}, target="activity", median=3, threshold=[0.5] * 7 + [0.7] + [0.5] * 5)

    assert [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (8, 2)] == list(
        zip(table["frame"].to_pylist(), table["class_id"].to_pylist(), strict=True)
    )


def test_similar_tracks_are_unified_below_the_angle() -> None:
    output = np.zeros((1, 3, 4, 13), np.float32)
    for track, (azimuth, metres) in enumerate([(0, 1), (14, -3), (90, 2)]):
        output[0, track, :, 0] = (*(float(part) for part in geometry.to_cartesian(azimuth, 0)), metres)

    def azimuths(**options: Any) -> Any:
        table = seldio.decode({"c": output}, target="multi-accdoa", distance=True, **options)
        return table["azimuth"].to_numpy().round(3).tolist(), table["distance"].to_pylist()

    assert ([90, 7], [2, 0.5]) == azimuths()  # a negative distance is 0
    assert ([0, 14, 90], [1, 0, 2]) == azimuths(unify=13.9)
    assert ([0, 14, 90], [1, 0, 2]) == azimuths(unify=0)
    assert 1 == len(azimuths(unify=100)[0])


def test_stereo_labels_have_folded_azimuths(tmp_path: Path) -> None:
    """The network says 100 degrees, which is 80 where front and back are the same."""
    laid(tmp_path, {"in/clip.csv": "frame,class,source,azimuth,distance,onscreen\n0,3,0,80,150,1\n"})
    windows = seldio.windows(
        tmp_path / "in", target="accdoa", elevation=False, distance=True, onscreen=True, audio=None
    )
    output = windows[0]["target"] * np.array([-1, 1, 1, 1], np.float32)[:, None]

    table = seldio.decode(output[None], windows)
    seldio.write(table, tmp_path / "out", "dcase2025")

    assert (tmp_path / "in/clip.csv").read_bytes() == (tmp_path / "out/clip.csv").read_bytes()
    assert [100] == seldio.decode(output[None], windows, folded=False)["azimuth"].to_numpy().round().tolist()


def test_frames_of_20_ms_stay_what_they_are(tmp_path: Path) -> None:
    laid(tmp_path, {"in/clip.csv": "25,5,30,10\n26,5,30,10\n"})
    windows = seldio.windows(tmp_path / "in", target="accdoa", audio=None, seconds=1, format="dcase2019-output")

    table = seldio.decode([(window, window["target"]) for window in windows], windows)
    seldio.write(table, tmp_path / "same", "dcase2019-output")
    seldio.write(table, tmp_path / "events", "dcase2019", fill={"distance": 1})

    assert "25,5,30,10\n26,5,30,10\n" == (tmp_path / "same/clip.csv").read_text()
    assert "speech,0.5,0.54,10,30,1" == (tmp_path / "events/clip.csv").read_text().splitlines()[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"which kind of outputs are these\? Set target= to activity, activity-doa, accdoa, multi-accdoa"),
        ({"target": "accddoa"}, "target='accddoa': choose from"),
        ({"target": "rows"}, "nothing to decode"),
        ({"target": "accdoa", "threshold": [0.5, 0.5]}, "one for each of the 13 classes"),
        ({"target": "accdoa", "threshold": -1}, "a number from 0 on"),
        ({"target": "accdoa", "median": 4}, "an odd number"),
        ({"target": "accdoa", "elevation": False, "vectors": True}, "needs x, y and z"),
        ({"target": "accdoa", "distance": True}, r"c: outputs of shape .* accdoa of x, y, z, distance has "),
        ({"target": "activity-doa"}, r"has \(windows, frames, 4, 13\), or the same flattened"),
        ({"target": "accdoa", "vocabulary": "tau-nigens-2021"}, r"\(windows, frames, 3, 12\)"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        seldio.decode({"c": np.zeros((4, 3, 13))}, **options)


def test_outputs_that_mean_nothing_are_refused(windows: Any) -> None:
    with pytest.raises(DataError, match="the output for c is not finite from frame 1 on"):
        seldio.decode({"c": np.array([[[0.0] * 13] * 3, [[np.nan] * 13] * 3])}, target="accdoa")
    with pytest.raises(DataError, match=r"without direction, .* in frame 0"):
        seldio.decode({"c": np.ones((1, 4, 13)) * [[1], [0], [0], [0]]}, target="activity-doa")
    with pytest.raises(UsageError, match="which clips are these"):
        seldio.decode(_silence(windows), target="accdoa")
    with pytest.raises(UsageError, match="5 label frames: pool the outputs"):
        seldio.decode(np.zeros((len(windows), 25, 3, 13)), windows)
    for batch in (1, {"audio": 1}):
        with pytest.raises(UsageError, match="a batch has the names clip and frames"):
            seldio.decode([(batch, _silence(windows))], windows)
    for wrong in (np.array([["a"]]), [[1], [1, 2]], None, np.zeros(4, "V8"), np.zeros((4, 3, 13), complex)):
        with pytest.raises(UsageError, match="arrays of numbers"):
            seldio.decode({"c": wrong}, target="accdoa")
