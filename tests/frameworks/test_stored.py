"""Exports are read by ``datasets`` with their types, and all four channels are there."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import soundfile

import seldio
from seldio.data import export
from seldio.synth.tree import write_tree

CLIP = "fold3_room4_mix001"


@pytest.fixture(scope="module")
def datasets() -> Any:
    found = pytest.importorskip("datasets", reason="datasets is not installed: make test-frameworks installs it")
    found.disable_progress_bars()
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored") / "starss23"
    write_tree(folder, 3, seconds=1.0, clips=((CLIP, "dev-train-tau"), ("fold4_room2_mix001", "dev-test-tau")))
    return folder


@pytest.fixture
def load(datasets: Any, tree: Path, tmp_path: Path) -> Any:
    """What makes a kind of export and opens it as ``datasets`` does, told nothing but its folder."""

    def loaded(kind: str, **options: Any) -> Any:
        export(tree, tmp_path / kind, kind)
        return datasets.load_dataset(str(tmp_path / kind), cache_dir=str(tmp_path / "cache"), **options)

    return loaded


def test_parquet_has_its_types_and_four_channels(datasets: Any, load: Any, tree: Path) -> None:
    splits = load("parquet")
    assert {"train": 1, "test": 1} == {name: len(rows) for name, rows in splits.items()}
    features = splits["train"].features
    assert all(isinstance(features[name], datasets.Audio) for name in ("audio", "mic"))
    assert 24000 == features["audio"].sampling_rate
    assert isinstance(features["video"], datasets.Video)
    assert isinstance(features["events"], datasets.List)
    assert isinstance(features["events"].feature["class"], datasets.ClassLabel)

    row = splits["train"].cast_column("audio", datasets.Audio(decode=False)).select_columns(["audio", "events"])[0]
    wav = tree / f"foa_dev/dev-train-tau/{CLIP}.wav"
    assert wav.read_bytes() == row["audio"]["bytes"]
    assert 4 == soundfile.info(io.BytesIO(row["audio"]["bytes"])).channels
    labels = seldio.read(tree / f"metadata_dev/dev-train-tau/{CLIP}.csv").to_pylist()
    assert [(label["frame"], label["class_id"], label["azimuth"]) for label in labels] == [
        (event["frame"], event["class"], event["azimuth"]) for event in row["events"]
    ]


def test_labels_are_a_configuration_with_classes(datasets: Any, load: Any, tree: Path) -> None:
    rows = load("parquet", data_dir="labels")["train"]
    labels = seldio.read(tree / f"metadata_dev/dev-train-tau/{CLIP}.csv")

    assert isinstance(rows.features["class_id"], datasets.ClassLabel)
    assert labels["class_id"].to_pylist() == rows["class_id"][:]
    assert labels["distance"].to_pylist() == rows["distance"][:]


@pytest.mark.parametrize(
    ("kind", "audio", "video"),
    [("webdataset", ["foa.wav", "mic.wav"], ["mp4"]), ("audiofolder", ["audio", "mic"], []),
     ("videofolder", [], ["video"])],
)  # fmt: skip
def test_the_others_have_their_types(datasets: Any, load: Any, kind: str, audio: list[str], video: list[str]) -> None:
    # as a stream: to build a table of recordings, datasets wants torchcodec even where it decodes nothing
    splits = load(kind, streaming=True)
    features = splits["train"].features

    assert {"train", "test"} == set(splits)
    assert audio == [name for name, feature in features.items() if isinstance(feature, datasets.Audio)]
    assert video == [name for name, feature in features.items() if isinstance(feature, datasets.Video)]


def test_a_video_folder_leads_to_its_videos(datasets: Any, load: Any, tree: Path) -> None:
    rows = load("videofolder")["train"].cast_column("video", datasets.Video(decode=False))

    assert (tree / f"video_dev/dev-train-tau/{CLIP}.mp4").read_bytes() == Path(rows[0]["video"]["path"]).read_bytes()
    assert "dev-train-tau" == rows[0]["split"]
