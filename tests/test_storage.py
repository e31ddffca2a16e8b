"""Data sets stored as Parquet, WebDataset and folders: nothing is lost, and nothing is written twice."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
import tarfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import seldio
from seldio import read
from seldio.cli import app
from seldio.data import Manifest, export
from seldio.errors import DataError, InvalidData, UsageError
from seldio.files import Entry, Limits, Source, open_source
from seldio.files.exports import original_files
from seldio.files.streams import Stretch
from seldio.findings import Sink, raise_errors
from seldio.synth.tree import write_tree

WHOLE = ("parquet", "webdataset", "audiofolder", "videofolder", "files")
CLIPS = (("fold3_room4_mix001", "dev-train-tau"), ("fold3_room21_mix013", "dev-train-sony"),
         ("fold4_room2_mix001", "dev-test-tau"))  # fmt: skip


def content(folder: Path) -> dict[str, bytes]:
    """All files that are not hidden, by name."""
    files = (
        path for path in folder.rglob("*") if path.is_file() and "/." not in path.relative_to(folder.parent).as_posix()
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set with all that there is: two arrays, videos, labels, a silent clip, questions, a licence."""
    folder = tmp_path_factory.mktemp("storage") / "starss23"
    write_tree(folder, 3, seconds=2.0, clips=CLIPS)
    silent = folder / "metadata_dev/dev-test-tau/fold4_room9_mix004.csv"
    silent.write_bytes(b"")
    (folder / "LICENSE").write_bytes(b"as you like\r\n")
    question = {"id": "q1", "question_id": "q1", "audio_path": "foa_dev/dev-train-tau/fold3_room4_mix001.wav"}
    (folder / "notes.md").write_text(json.dumps(question), "utf-8")
    # labels as people leave them: other line ends, none at the end
    odd = folder / "metadata_dev/dev-train-tau/fold3_room4_mix001.csv"
    odd.write_bytes(odd.read_bytes().replace(b"\n", b"\r\n").rstrip())
    return folder


@pytest.fixture(scope="module")
def exports(tree: Path) -> dict[str, tuple[Path, Manifest]]:
    """The tree in each kind of storage."""
    made = {}
    for kind in WHOLE:
        out = tree.parent / kind
        made[kind] = (out, export(tree, out, kind))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", WHOLE)
def test_every_file_comes_back_as_it_was(kind: str, tree: Path, exports: dict[str, Any], tmp_path: Path) -> None:
    done = seldio.convert(exports[kind][0], tmp_path / "back", "files")

    assert content(tree) == content(tmp_path / "back")
    assert [str(tmp_path / "back" / name) for name in sorted(content(tree))] == list(done.written)


@pytest.mark.parametrize("kind", WHOLE)
def test_the_manifest_names_every_file(kind: str, exports: dict[str, Any]) -> None:
    out, manifest = exports[kind]

    assert Manifest.load(out) == manifest
    assert {"manifest.json", *(file.name for file in manifest.files)} == set(content(out))
    assert all(file.bytes == (out / file.name).stat().st_size for file in manifest.files)
    assert manifest.statistics["clips"] == 4
    assert manifest.statistics["splits"] == {"test": 2, "train": 2}


@pytest.mark.parametrize("kind", WHOLE)
def test_a_second_export_elsewhere_has_the_same_bytes(
    kind: str, tree: Path, exports: dict[str, Any], tmp_path: Path
) -> None:
    packed = tmp_path / "starss23.zip"  # from an archive too
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in content(tree).items():
            archive.writestr(name, data)
    export(packed, tmp_path / "again", kind)

    assert content(exports[kind][0]) == content(tmp_path / "again")


# --- Parquet ---------------------------------------------------------------------------------------


def test_parquet_has_the_types_of_the_hub(exports: dict[str, Any]) -> None:
    out, manifest = exports["parquet"]
    schema = pq.read_schema(out / "data/train-00000-of-00001.parquet")
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]

    assert features == manifest.features["default"]
    assert list(features) == schema.names
    assert features["audio"] == features["mic"] == {"sampling_rate": 24000, "_type": "Audio"}
    assert features["video"] == {"_type": "Video"}
    assert features["fold"] == {"dtype": "int32", "_type": "Value"}
    event = features["events"]["feature"]
    assert event["class"]["_type"] == "ClassLabel"
    assert len(event["class"]["names"]) == 13
    assert event["azimuth"] == {"dtype": "float64", "_type": "Value"}
    assert schema.field("audio").type == pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    assert schema.field("events").type.value_type.field("class").type == pa.int64()


def test_parquet_keeps_four_channels_and_the_events(tree: Path, exports: dict[str, Any]) -> None:
    rows = pq.read_table(exports["parquet"][0] / "data").to_pylist()
    row = next(row for row in rows if row["clip"] == "fold3_room4_mix001")
    path = "foa_dev/dev-train-tau/fold3_room4_mix001.wav"

    assert row["audio"] == {"bytes": (tree / path).read_bytes(), "path": path}
    assert soundfile.info(io.BytesIO(row["audio"]["bytes"])).channels == 4
    assert (row["split"], row["fold"], row["room"], row["array"]) == ("dev-train-tau", 3, 4, "foa")
    labels = read(tree / "metadata_dev/dev-train-tau/fold3_room4_mix001.csv").to_pylist()
    assert [(e["frame"], e["class"], e["azimuth"], e["distance"]) for e in row["events"]] == [
        (e["frame"], e["class_id"], e["azimuth"], e["distance"]) for e in labels
    ]
    silent = next(row for row in rows if row["clip"] == "fold4_room9_mix004")
    assert silent["audio"] is None
    assert silent["events"] == []


def test_row_groups_and_shards_end_in_time(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seldio.data.export_forms.GROUP_BYTES", 1)
    export(tree, tmp_path / "groups")
    assert 2 == pq.ParquetFile(tmp_path / "groups/data/train-00000-of-00001.parquet").num_row_groups
    with open_source(tmp_path / "groups", raise_errors) as source:
        assert all(isinstance(entry._start, Stretch) for entry in source if entry.name.endswith((".wav", ".mp4")))
        assert {entry.name: entry.read() for entry in source} == content(tree)

    for kind, suffix in (("parquet", "parquet"), ("webdataset", "tar")):
        made = export(tree, tmp_path / kind, kind, shard_bytes=1)
        names = {f"data/{s}-{n:05d}-of-00002.{suffix}" for s in ("train", "test") for n in (0, 1)}
        assert names == {file.name for file in made.files if file.name.startswith("data/")}
        seldio.convert(tmp_path / kind, tmp_path / f"{kind}-back", "files")
        assert content(tree) == content(tmp_path / f"{kind}-back")


def test_classes_beyond_the_list_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a.csv").write_text("0,13,0,10,0,120\n1,13,0,10,0,120\n", "utf-8")

    with pytest.raises(DataError, match="have a class 13"):
        export(tmp_path / "tree", tmp_path / "out", format="starss23", force=True)


def test_questions_stand_beside_their_clip(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    (folder / "audio").mkdir(parents=True)
    for name in ("one", "two"):
        soundfile.write(folder / f"audio/{name}.flac", np.zeros((800, 4)), 16000)
    row = {"id": "m1", "audio_id": "./audio/one.flac", "question": "Who?", "choices": ["a", "b"], "answer": "b",
           "dataset": "d", "task": "sound", "split": "test-mini", "difficulty": "easy"}  # fmt: skip
    (folder / "questions.json").write_text(json.dumps([row]), "utf-8")
    export(folder, tmp_path / "out")
    found = pq.read_table(tmp_path / "out/data").to_pylist()

    asked = {"id": "m1", "task": "sound", "question": "Who?", "options": ["a", "b"], "answer": "b"}
    assert [("one", [asked]), ("two", None)] == [(row["clip"], row["items"]) for row in found]
    seldio.convert(tmp_path / "out", tmp_path / "back", "files")
    assert content(folder) == content(tmp_path / "back")


# --- WebDataset and folders ------------------------------------------------------------------------


def test_tar_members_stand_together_and_hold_no_time(exports: dict[str, Any]) -> None:
    out, manifest = exports["webdataset"]
    with tarfile.open(out / "data/train-00000-of-00001.tar") as tar:
        members = tar.getmembers()
        record = json.loads(tar.extractfile("fold3_room4_mix001.json").read())  # type: ignore[union-attr]

    assert [m.name for m in members][:5] == [
        f"fold3_room21_mix013.{name}" for name in ("csv", "foa.wav", "mic.wav", "mp4", "json")
    ]
    assert {(m.mtime, m.uid, m.gid, m.uname, m.mode) for m in members} == {(0, 0, 0, "", 0o644)}
    assert record["room"] == 4
    assert record["files"]["foa.wav"] == "foa_dev/dev-train-tau/fold3_room4_mix001.wav"
    index = json.loads((out / "index.json").read_bytes())
    sizes = {file.name: (file.rows, file.bytes) for file in manifest.files}
    assert [(s["nsamples"], s["filesize"]) for s in index["shardlist"]] == [sizes[s["url"]] for s in index["shardlist"]]


@pytest.mark.parametrize(("kind", "column"), [("audiofolder", "audio"), ("videofolder", "video")])
def test_folders_name_their_files(kind: str, column: str, tree: Path, exports: dict[str, Any]) -> None:
    out = exports[kind][0]
    lines = [json.loads(line) for line in (out / "train/metadata.jsonl").read_text("utf-8").splitlines()]
    line = next(line for line in lines if line["clip"] == "fold3_room4_mix001")

    assert [
        path for key, path in line.items() if key.endswith("file_name") and not (out / "train" / path).is_file()
    ] == []
    assert all((out / line[key]).is_file() for key in ("audio", "mic", "video") if key in line)
    assert (out / "train" / line["file_name"]).read_bytes() in content(tree).values()
    assert len(line["events"]) == read(tree / "metadata_dev/dev-train-tau/fold3_room4_mix001.csv").num_rows
    # nothing else is taken for a file of the folder
    suffixes = {path.suffix for path in (out / "train").rglob("*.*")}
    assert suffixes == {".jsonl", ".wav" if column == "audio" else ".mp4"}


def test_a_split_that_cannot_tell_its_types_is_told_in_parquet(tree: Path, tmp_path: Path) -> None:
    for name, data in content(tree).items():
        if "test" not in name or name.endswith(".csv"):
            (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "tree" / name).write_bytes(data)
    export(tmp_path / "tree", tmp_path / "out", "audiofolder")

    train, test = (pq.read_schema(tmp_path / f"out/{split}/metadata.parquet") for split in ("train", "test"))
    assert train == test


# --- again, in several processes, damaged -----------------------------------------------------------


def test_another_export_takes_the_place_of_a_finished_one(tree: Path, tmp_path: Path) -> None:
    export(tree, tmp_path / "out", shard_bytes=1)
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="add overwrite=True"):
        export(tree, tmp_path / "out", array="mic")
    command = ["convert", str(tree), "--to", "hf-parquet", "-o", str(tmp_path / "out"), "--overwrite"]
    done = CliRunner().invoke(app, command)

    assert 0 == done.exit_code, done.output
    assert "8 files of an earlier export replaced: data/test-00000-of-00002.parquet" in done.output
    assert content(tmp_path / "out").keys() - {"mine.txt"} == {
        "manifest.json", "other/LICENSE", "other/notes.md",
        *(f"{top}/{split}-00000-of-00001.parquet" for top in ("data", "labels") for split in ("train", "test")),
    }  # fmt: skip
    row = pq.read_table(tmp_path / "out/data/train-00000-of-00001.parquet").to_pylist()[0]
    assert row["array"] == "foa"
    export(tree, tmp_path / "out", array="mic", overwrite=True)
    row = pq.read_table(tmp_path / "out/data/train-00000-of-00001.parquet").to_pylist()[0]
    assert row["array"] == "mic"
    assert row["audio"]["path"].startswith("mic_dev/")
    refused = CliRunner().invoke(app, ["convert", str(tree), "--to", "foa", "-o", str(tmp_path / "x"), "--overwrite"])
    assert (2, True) == (refused.exit_code, "--overwrite is for" in refused.output)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "webdataset", "audiofolder"])
def test_two_workers_write_the_same_bytes(kind: str, tree: Path, tmp_path: Path) -> None:
    export(tree, tmp_path / "one", kind, shard_bytes=1)
    with seldio.running(2):
        export(tree, tmp_path / "two", kind, shard_bytes=1)
    assert content(tmp_path / "one") == content(tmp_path / "two")


@pytest.mark.parametrize("kind", ["parquet"])
def test_an_export_is_opened_and_compared_before_it_is_done(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "set").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "set" / name).write_text("0,1,0,10,20,150\n1,1,0,10,20,150\n")

    def lossy(source: Source, manifest: Manifest, sink: Sink, limits: Limits) -> Source:
        found = original_files(source, manifest, sink, limits)
        return dataclasses.replace(found, entries=tuple(one for one in found.entries if one.name != "b.csv"))

    monkeypatch.setattr("seldio.data.exporting.original_files", lossy)
    with pytest.raises(DataError, match="opens with no clip of b, which has 2 rows in the source"):
        export(tmp_path / "set", tmp_path / "out", kind)
    monkeypatch.undo()
    with pytest.raises(InvalidData, match="broken off"):
        seldio.open(tmp_path / "out")
    export(tmp_path / "set", tmp_path / "out", kind)
    assert 2 == len(seldio.open(tmp_path / "out").clips)


@pytest.mark.parametrize("name", ["data/train-00000-of-00001.parquet", "other/LICENSE"])
def test_damage_is_named(name: str, tree: Path, tmp_path: Path) -> None:
    export(tree, tmp_path / "out")
    data = bytearray((tmp_path / "out" / name).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "out" / name).write_bytes(data)

    with pytest.raises(DataError, match=r"SHA-256 differs"):
        seldio.convert(tmp_path / "out", tmp_path / "back", "files")
    (tmp_path / "out" / name).unlink()
    with pytest.raises(InvalidData, match="1 file of the export missing"):
        seldio.convert(tmp_path / "out", tmp_path / "other", "files")


def test_recordings_too_large_for_parquet_are_refused_unread(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tree, tmp_path / "tree")
    large = tmp_path / "tree/foa_dev/dev-train-tau/fold3_room4_mix001.wav"
    os.truncate(large, 1_200_000_000)  # sparse: the disk holds next to nothing of it
    real, asked = Entry.read, []
    monkeypatch.setattr(Entry, "read", lambda entry: asked.append(entry.size) or real(entry))

    with pytest.raises(UsageError, match=r"mix001\.wav has 1\.20 GB: .* at most 1\.07 GB here\. Export as WebDataset"):
        export(tmp_path / "tree", tmp_path / "out")

    assert max(asked, default=0) < 10**6
    assert not (tmp_path / "out").exists()


def test_places_that_make_no_sense_are_refused(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine", "utf-8")
    (tmp_path / "empty").mkdir()

    with pytest.raises(UsageError, match="not empty"):
        export(tree, tmp_path / "full")
    with pytest.raises(UsageError, match="inside the source"):
        export(tree, tree / "out")
    with pytest.raises(UsageError, match="unknown storage"):
        export(tree, tmp_path / "out", "zarr")
    with pytest.raises(UsageError, match="no files"):
        export(tmp_path / "empty", tmp_path / "out")
    with pytest.raises(UsageError, match="unknown array"):
        export(tree, tmp_path / "out", array="binaural")
    with pytest.raises(UsageError, match="above 0"):
        export(tree, tmp_path / "out", shard_bytes=0)
    assert not (tmp_path / "out").exists()


# --- names -----------------------------------------------------------------------------------------

_NAMES = st.text("abAB.-_ é", min_size=1, max_size=6).filter(
    lambda n: not n.startswith((".", " ")) and not n.endswith((" ", "."))
)


@pytest.mark.slow
@settings(max_examples=examples(8))
@given(st.sets(_NAMES, min_size=1, max_size=5).filter(lambda names: len({n.casefold() for n in names}) == len(names)))
def test_any_names_come_back(tmp_path_factory: pytest.TempPathFactory, names: set[str]) -> None:
    folder = tmp_path_factory.mktemp("names")
    (folder / "tree").mkdir()
    for number, name in enumerate(sorted(names)):
        (folder / f"tree/{name}.csv").write_text(f"{number},1,0,10,0,120\n", "utf-8")
    for kind in ("webdataset", "audiofolder"):
        export(folder / "tree", folder / kind, kind, format="starss23")
        seldio.convert(folder / kind, folder / f"{kind}-back", "files")
        assert content(folder / "tree") == content(folder / f"{kind}-back")


#: A path of a label file in a tree of no known layout, and the split it tells.
PLACES = {
    "train/a.csv": "train", "training/b.csv": "train", "valid/c.csv": "validation", "validation/d.csv": "validation",
    "val/e.csv": "validation", "dev/f.csv": "validation", "devel/g.csv": "validation", "dev-valid/h.csv": "validation",
    "dev-train/i.csv": "train", "dev-test/j.csv": "test", "test/k.csv": "test", "testing/l.csv": "test",
    "Test_2/m.csv": "test", "eval/n.csv": "eval", "eval-test/o.csv": "eval", "evaluation/p.csv": "eval",
    "metadata_dev/q.csv": "train", "latest/r.csv": "train", "s.csv": "train", "valid/test_tone.csv": "validation",
}  # fmt: skip


def test_a_split_is_called_the_same_wherever_it_goes(tmp_path: Path) -> None:
    """As plain files on the Hub, as shards, and in the clips of an export; nothing held out becomes train."""
    from seldio.hub.configurations import split_files

    root = tmp_path / "tree"
    for name in PLACES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("0,1,0,-50,30\n1,1,0,-49,30\n")
    with open_source(root, raise_errors) as source:
        parts = split_files(str(root), source.entries, None)
    assert {entry.name: part.split for part in parts for entry in part.entries} == PLACES

    for kind in ("parquet", "webdataset"):
        export(root, tmp_path / kind, kind, format="starss22")
        counts = Manifest.load(tmp_path / kind).statistics["splits"]
        assert counts == Counter(PLACES.values())
    for file in (tmp_path / "parquet" / "data").iterdir():
        assert {Path(str(name)).name for name in pq.read_table(file)["clip"].to_pylist()} == {
            Path(name).stem for name, split in PLACES.items() if split == file.name.partition("-")[0]
        }


# --- the command -----------------------------------------------------------------------------------


def test_the_command_goes_there_and_back(tree: Path, tmp_path: Path) -> None:
    there = CliRunner().invoke(app, ["convert", str(tree), "--to", "hf-parquet", "-o", str(tmp_path / "out")])
    back = CliRunner().invoke(app, ["convert", str(tmp_path / "out"), "--to", "files", "-o", str(tmp_path / "back")])
    stream = CliRunner().invoke(app, ["convert", str(tree), "--to", "webdataset"])

    assert (0, 0, 2) == (there.exit_code, back.exit_code, stream.exit_code), there.output + back.output
    assert "starss23 to hf-parquet: 4 clips" in there.output
    assert "use -o FOLDER" in stream.output
    assert content(tree) == content(tmp_path / "back")
