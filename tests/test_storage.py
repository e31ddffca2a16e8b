"""Data sets stored as Parquet, WebDataset and folders: nothing is lost, and nothing is written twice."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import pickle
import shutil
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
import starss_tree
from commands import invoke, laid, shown_contents
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from videos import make as make_video

import seldio
from seldio import formats, read, validate
from seldio.check.description import describe
from seldio.data import Manifest, export
from seldio.errors import DataError, InvalidData, UsageError
from seldio.files import DEFAULTS, Entry, Limits, Source, open_source
from seldio.files.entries import Stretch
from seldio.files.exports import SIZES, original_files
from seldio.findings import Finding, Sink, raise_errors
from seldio.formats import ItemFormat
from seldio.schema.qa import Item

KINDS = ("parquet", "webdataset", "audiofolder", "videofolder")
LABELS = "metadata_dev/dev-train-tau/fold3_room4_mix001.csv"
SHARD = "data/train-00000-of-00001"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set with all that there is: two arrays, a video, labels, a silent clip, questions, a licence."""
    root = starss_tree.write_questions(starss_tree.write(tmp_path_factory.mktemp("stored") / "starss23"))
    shutil.copytree(root / "foa_dev", root / "mic_dev")
    video = {"video_dev/dev-train-tau/fold3_room4_mix001.mp4": make_video(37)}
    laid(root, video | {"LICENSE": "as you like\r\n", "metadata_dev/dev-test-tau/fold4_room9_mix004.csv": ""})
    # labels as people leave them: other line ends, none at the end
    odd = root / "metadata_dev/dev-train-sony/fold3_room21_mix001.csv"
    odd.write_bytes(odd.read_bytes().replace(b"\n", b"\r\n").rstrip())
    return root


@pytest.fixture(scope="module")
def kinds(root: Path) -> dict[str, Path]:
    for kind in KINDS:
        export(root, root.parent / kind, kind)
    return {kind: root.parent / kind for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_elsewhere_and_comes_back(kind: str, root: Path, kinds: dict[str, Path], tmp_path: Path) -> None:
    packed = tmp_path / "starss23.zip"  # from an archive too
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in shown_contents(root).items():
            archive.writestr(name, data)
    manifest, out = export(packed, tmp_path / "again", kind), kinds[kind]

    assert shown_contents(out) == shown_contents(tmp_path / "again")
    assert Manifest.load(out) == manifest
    assert {"manifest.json", *(file.name for file in manifest.files)} == set(shown_contents(out))
    assert all(file.bytes == (out / file.name).stat().st_size for file in manifest.files)
    assert (manifest.statistics["clips"], manifest.statistics["splits"]) == (4, {"test": 2, "train": 2})
    done = seldio.convert(out, tmp_path / "back", "files")
    assert shown_contents(root) == shown_contents(tmp_path / "back")
    assert [str(tmp_path / "back" / name) for name in sorted(shown_contents(root))] == list(done.written)


def test_parquet_keeps_four_channels_and_the_events(root: Path, kinds: dict[str, Path]) -> None:
    rows = pq.read_table(kinds["parquet"] / "data").to_pylist()
    row = next(row for row in rows if row["clip"] == "fold3_room4_mix001")
    path = "foa_dev/dev-train-tau/fold3_room4_mix001.wav"

    assert row["audio"] == {"bytes": (root / path).read_bytes(), "path": path}
    assert soundfile.info(io.BytesIO(row["audio"]["bytes"])).channels == 4
    assert (row["split"], row["fold"], row["room"], row["array"]) == ("dev-train-tau", 3, 4, "foa")
    labels = read(root / "metadata_dev/dev-train-tau/fold3_room4_mix001.csv").to_pylist()
    assert [(e["frame"], e["class"], e["azimuth"], e["distance"]) for e in row["events"]] == [
        (e["frame"], e["class_id"], e["azimuth"], e["distance"]) for e in labels
    ]
    silent = next(row for row in rows if row["clip"] == "fold4_room9_mix004")
    assert silent["audio"] is None
    assert silent["events"] == []


def test_row_groups_and_shards_end_in_time(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seldio.data.exporting.GROUP_BYTES", 1)
    export(root, tmp_path / "groups")
    assert 2 == pq.ParquetFile(tmp_path / "groups/data/train-00000-of-00001.parquet").num_row_groups
    with open_source(tmp_path / "groups", raise_errors) as source:
        assert all(isinstance(entry._start, Stretch) for entry in source if entry.name.endswith((".wav", ".mp4")))
        assert {entry.name: entry.read() for entry in source} == shown_contents(root)

    for kind, suffix in (("parquet", "parquet"), ("webdataset", "tar")):
        made = export(root, tmp_path / kind, kind, shard_bytes=1)
        names = {f"data/{s}-{n:05d}-of-00002.{suffix}" for s in ("train", "test") for n in (0, 1)}
        assert names == {file.name for file in made.files if file.name.startswith("data/")}
        seldio.convert(tmp_path / kind, tmp_path / f"{kind}-back", "files")
        assert shown_contents(root) == shown_contents(tmp_path / f"{kind}-back")


def test_classes_beyond_the_list_are_refused(tmp_path: Path) -> None:
    laid(tmp_path / "tree", {"a.csv": "0,13,0,10,0,120\n1,13,0,10,0,120\n"})
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
    assert shown_contents(folder) == shown_contents(tmp_path / "back")


def test_tar_members_stand_together_and_hold_no_time(kinds: dict[str, Path]) -> None:
    with tarfile.open(kinds["webdataset"] / "data/train-00000-of-00001.tar") as tar:
        members = tar.getmembers()
        record = json.loads(tar.extractfile("fold3_room4_mix001.json").read())  # type: ignore[union-attr]

    assert [m.name for m in members][:5] == [
        *(f"fold3_room21_mix001.{name}" for name in ("csv", "foa.wav", "mic.wav", "json")),
        "fold3_room4_mix001.csv",
    ]
    assert {(m.mtime, m.uid, m.gid, m.uname, m.mode) for m in members} == {(0, 0, 0, "", 0o644)}
    assert record["room"] == 4
    assert record["files"]["foa.wav"] == "foa_dev/dev-train-tau/fold3_room4_mix001.wav"


def test_a_split_that_cannot_tell_its_types_is_told_in_parquet(root: Path, tmp_path: Path) -> None:
    files = {name: data for name, data in shown_contents(root).items() if "test" not in name or name.endswith(".csv")}
    laid(tmp_path / "tree", files)
    export(tmp_path / "tree", tmp_path / "out", "audiofolder")

    train, test = (pq.read_schema(tmp_path / f"out/{split}/metadata.parquet") for split in ("train", "test"))
    assert train == test


def test_another_export_takes_the_place_of_a_finished_one(root: Path, tmp_path: Path) -> None:
    export(root, tmp_path / "out", shard_bytes=1)
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="add overwrite=True"):
        export(root, tmp_path / "out", array="mic")
    command = ["convert", str(root), "--to", "hf-parquet", "-o", str(tmp_path / "out"), "--overwrite"]
    done = invoke(*command)

    assert 0 == done.exit_code, done.output
    assert shown_contents(tmp_path / "out").keys() - {"mine.txt"} == {
        "manifest.json", "other/LICENSE", "other/questions.jsonl",
        *(f"{top}/{split}-00000-of-00001.parquet" for top in ("data", "labels") for split in ("train", "test")),
    }  # fmt: skip
    row = pq.read_table(tmp_path / "out/data/train-00000-of-00001.parquet").to_pylist()[0]
    assert row["array"] == "foa"
    export(root, tmp_path / "out", array="mic", overwrite=True)
    row = pq.read_table(tmp_path / "out/data/train-00000-of-00001.parquet").to_pylist()[0]
    assert row["array"] == "mic"
    assert row["audio"]["path"].startswith("mic_dev/")
    refused = invoke("convert", root, "--to", "foa", "-o", tmp_path / "x", "--overwrite")
    assert (2, True) == (refused.exit_code, "--overwrite is for" in refused.output)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "webdataset", "audiofolder"])
def test_two_workers_write_the_same_bytes(kind: str, root: Path, tmp_path: Path) -> None:
    export(root, tmp_path / "one", kind, shard_bytes=1)
    with seldio.running(2):
        export(root, tmp_path / "two", kind, shard_bytes=1)
    assert shown_contents(tmp_path / "one") == shown_contents(tmp_path / "two")


def test_an_export_is_opened_and_compared_before_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid(tmp_path / "set", dict.fromkeys(("a.csv", "b.csv"), "0,1,0,10,20,150\n1,1,0,10,20,150\n"))

    def lossy(source: Source, manifest: Manifest, sink: Sink, limits: Limits) -> Source:
        found = original_files(source, manifest, sink, limits)
        return dataclasses.replace(found, entries=tuple(one for one in found.entries if one.name != "b.csv"))

    monkeypatch.setattr("seldio.data.exporting.original_files", lossy)
    with pytest.raises(DataError, match="opens with no clip of b, which has 2 rows in the source"):
        export(tmp_path / "set", tmp_path / "out")
    monkeypatch.undo()
    with pytest.raises(InvalidData, match="broken off"):
        seldio.open(tmp_path / "out")
    export(tmp_path / "set", tmp_path / "out")
    assert 2 == len(seldio.open(tmp_path / "out").clips)


@pytest.mark.parametrize("name", ["data/train-00000-of-00001.parquet", "other/LICENSE"])
def test_damage_is_named(name: str, root: Path, tmp_path: Path) -> None:
    export(root, tmp_path / "out")
    data = bytearray((tmp_path / "out" / name).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "out" / name).write_bytes(data)

    with pytest.raises(DataError, match=r"SHA-256 differs"):
        seldio.convert(tmp_path / "out", tmp_path / "back", "files")
    (tmp_path / "out" / name).unlink()
    with pytest.raises(InvalidData, match="1 file of the export missing"):
        seldio.convert(tmp_path / "out", tmp_path / "other", "files")


def test_large_recordings_are_refused_unread(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(root, tmp_path / "tree")
    large = tmp_path / "tree/foa_dev/dev-train-tau/fold3_room4_mix001.wav"
    os.truncate(large, 1_200_000_000)  # sparse: the disk holds next to nothing of it
    real, asked = Entry.read, []
    monkeypatch.setattr(Entry, "read", lambda entry: asked.append(entry.size) or real(entry))

    with pytest.raises(UsageError, match=r"mix001\.wav has 1\.20 GB: .* at most 1\.07 GB here\. Export as WebDataset"):
        export(tmp_path / "tree", tmp_path / "out")

    assert max(asked, default=0) < 10**6
    assert not (tmp_path / "out").exists()


def test_places_that_make_no_sense_are_refused(root: Path, tmp_path: Path) -> None:
    laid(tmp_path / "full", {"mine.txt": "mine"})
    (tmp_path / "empty").mkdir()

    for source, out, options, said in (
        (root, "full", {}, "not empty"),
        (root, root / "out", {}, "inside the source"),
        (root, "out", {"kind": "zarr"}, "unknown storage"),
        (tmp_path / "empty", "out", {}, "no files"),
        (root, "out", {"array": "binaural"}, "unknown array"),
        (root, "out", {"shard_bytes": 0}, "above 0"),
    ):
        with pytest.raises(UsageError, match=said):
            export(source, tmp_path / out, **options)
    with pytest.raises(UsageError, match="writes a folder"):
        seldio.convert(root, io.BytesIO(), "webdataset")
    assert not (tmp_path / "out").exists()


_NAMES = st.text("abAB.-_ é", min_size=1, max_size=6).filter(
    lambda n: not n.startswith((".", " ")) and not n.endswith((" ", "."))
)


@pytest.mark.slow
@settings(max_examples=examples(8))
@given(st.sets(_NAMES, min_size=1, max_size=5).filter(lambda names: len({n.casefold() for n in names}) == len(names)))
def test_any_names_come_back(tmp_path_factory: pytest.TempPathFactory, names: set[str]) -> None:
    folder = tmp_path_factory.mktemp("names")
    files = {f"{name}.csv": f"{number},1,0,10,0,120\n" for number, name in enumerate(sorted(names))}
    laid(folder / "tree", files)
    for kind in ("webdataset", "audiofolder"):
        export(folder / "tree", folder / kind, kind, format="starss23")
        seldio.convert(folder / kind, folder / f"{kind}-back", "files")
        assert shown_contents(folder / "tree") == shown_contents(folder / f"{kind}-back")


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
    from seldio.hub.card import split_files

    root = laid(tmp_path / "tree", dict.fromkeys(PLACES, "0,1,0,-50,30\n1,1,0,-49,30\n"))
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


@pytest.fixture
def copied(kinds: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda kind: shutil.copytree(kinds[kind], tmp_path / f"copy-{kind}")


def content_of(source: Source) -> dict[str, bytes]:
    return {entry.name: entry.read() for entry in source}


def opened(path: Path) -> tuple[dict[str, bytes], list[str]]:
    """The files of a source, and the codes of what is wrong with it."""
    found: list[Finding] = []
    with open_source(path, found.append) as source:
        return content_of(source), [finding.code for finding in found]


def windows_of(path: Path, **options: Any) -> Any:
    """Windows of the clips that have a recording."""
    return seldio.open(path).select(room=[2, 4, 21]).windows(**options)


def told(path: Path) -> tuple[int, list[tuple[object, ...]]]:
    """How many files a data set has, and what is wrong with it, without where it lies."""
    report = validate(path)
    return report.files, sorted((f.code, f.line or 0, f.column or 0, f.message) for f in report.findings)


@pytest.mark.parametrize("kind", KINDS)
def test_its_files_are_those_that_it_was_made_from(kind: str, root: Path, kinds: dict[str, Path]) -> None:
    with open_source(root, raise_errors) as source, open_source(kinds[kind], raise_errors) as stored:
        assert content_of(source) == content_of(stored)
        assert "folder" == stored.kind
        assert [entry.size for entry in source] == [entry.size for entry in stored]
        for entry in stored:
            with entry.open() as stream:
                whole = stream.read()
                assert len(whole) == stream.seek(0, io.SEEK_END)
                stream.seek(len(whole) // 2)
                assert whole[len(whole) // 2 :] == stream.read()
            assert entry.head(3) == whole[:3]


@pytest.fixture(scope="module")
def wrong(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = shutil.copytree(root, tmp_path_factory.mktemp("wrong") / "starss23")
    path = copy / LABELS
    path.write_text(path.read_text().replace("-90,0,100", "250,0,100") + "3,1,0,7,0,100\n99,1,0,0,0,1000\n")
    sony = copy / "metadata_dev/dev-train-sony/fold3_room21_mix001.csv"
    sony.rename(sony.with_name("fold3_room21_mix999.csv"))
    return copy


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_the_findings_of_its_source(kind: str, wrong: Path, tmp_path: Path) -> None:
    export(wrong, tmp_path / kind, kind, force=True)

    expected = told(wrong)
    assert expected == told(tmp_path / kind)
    assert {"LAB103", "LAY103"} <= {row[0] for row in expected[1]}
    if kind == "parquet":
        finding = next(finding for finding in validate(tmp_path / kind).findings if finding.code == "LAB103")
        assert f"{tmp_path}/parquet/{SHARD}.parquet!/{LABELS}" == finding.path
        assert (1, 7) == (finding.line, finding.column)


@pytest.mark.parametrize("kind", KINDS)
def test_it_opens_as_the_same_data_set_with_the_same_windows(kind: str, root: Path, kinds: dict[str, Path]) -> None:
    source, stored = seldio.open(root), seldio.open(kinds[kind])

    assert source.clips.equals(stored.clips)
    assert pa.table(source.events).equals(pa.table(stored.events))
    assert list(source.events) == list(stored.events)
    assert pa.table(source.items).equals(pa.table(stored.items))
    assert source.statistics() == stored.statistics()
    for options in ({"seconds": 0.5, "target": "multi-accdoa"}, {"items": True}):
        windows, others = (windows_of(path, **options) for path in (root, kinds[kind]))
        elsewhere = pickle.loads(pickle.dumps(others))
        assert len(windows) == len(others) > 1
        for number, expected in enumerate(windows):
            for window in (others[number], elsewhere[number]):
                assert expected.keys() == window.keys()
                assert all(np.array_equal(expected[name], window[name]) for name in expected)


def test_it_can_be_exported_as_another_kind(root: Path, kinds: dict[str, Path], tmp_path: Path) -> None:
    export(kinds["parquet"], tmp_path / "again", "webdataset")

    assert opened(root) == opened(tmp_path / "again")


def test_exports_of_earlier_versions(root: Path, copied: Callable[[str], Path], tmp_path: Path) -> None:
    """They have row groups of up to 100 MB, and say nothing of the sizes of their files."""
    folder = copied("parquet")
    for path in (folder / "data").iterdir():
        table = pq.read_table(path)
        metadata = {key: value for key, value in table.schema.metadata.items() if key != SIZES}
        pq.write_table(table.replace_schema_metadata(metadata), path, compression="none", use_dictionary=False)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["finished"]
    (folder / "manifest.json").write_text(json.dumps(manifest))

    assert opened(root) == opened(folder)
    source, stored = (windows_of(path, seconds=0.5, target="multi-accdoa") for path in (root, folder))
    for part in ("audio", "target"):
        assert all(np.array_equal(source[n][part], stored[n][part]) for n in range(len(source)))
    with pytest.raises(UsageError, match="does not state how large its files are"):
        export(folder, tmp_path / "again", "webdataset")
    with pytest.raises(DataError, match="is not the file that was written"):  # it was changed here
        seldio.convert(folder, tmp_path / "back", "files")


def test_tables_of_labels_alone_are_labels(kinds: dict[str, Path], root: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(kinds["parquet"] / "labels", tmp_path / "part/labels")  # a table for each split

    assert seldio.open(folder).events.table().num_rows == seldio.open(root).events.table().num_rows == 9
    assert {*seldio.open(folder).events} == {*seldio.open(root).events}  # the silent one too
    assert ({}, 2) == (validate(folder).by_rule(), validate(folder).files)
    seldio.convert(folder, tmp_path / "out", "starss23")
    assert opened(root / "metadata_dev")[0] == opened(tmp_path / "out/metadata_dev")[0]
    assert seldio.score(folder, root / "metadata_dev").tables


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    table = pq.read_table(path)
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)


def turned(table: pa.Table, azimuth: float = 77.0) -> pa.Table:
    number = table.column_names.index("azimuth")
    values = table["azimuth"].to_pylist()
    return table.set_column(number, "azimuth", pa.array([*values[:2], azimuth, *values[3:]]))


def test_long_recordings_are_read_in_parts(kinds: dict[str, Path]) -> None:
    """As those in a folder: a stream of a recording fills no memory, whatever its size."""
    limits = dataclasses.replace(DEFAULTS, file_bytes=5_000, total_bytes=9_000)
    for kind in KINDS[1:]:  # of Parquet those of more than 2 MB
        with open_source(kinds[kind], raise_errors, limits) as source:
            entry = next(entry for entry in source if entry.name.endswith("mix001.wav"))
            with entry.open() as stream:
                assert entry.size == len(stream.read()) > 5_000
            with pytest.raises(InvalidData, match="SAF105"):
                entry.read()


@pytest.mark.parametrize("kind", ["parquet", "webdataset"])
@given(values=st.data())
def test_damaged_shards_are_told_of(kind: str, values: st.DataObject, kinds: dict[str, Path]) -> None:
    path = next((kinds[kind] / "data").glob("train*"))
    whole = path.read_bytes()
    raw = bytearray(whole)
    for at in values.draw(
        st.lists(st.integers(0, len(raw) - 1) | st.integers(len(raw) - 3_000, len(raw) - 1), max_size=5)
    ):
        raw[at] = values.draw(st.integers(0, 255))
    end = values.draw(st.just(len(raw)) | st.integers(0, len(raw)))
    copy = kinds[kind].parent / f"damaged-{kind}"
    if not copy.exists():
        shutil.copytree(kinds[kind], copy)
    (copy / "data" / path.name).write_bytes(raw[:end])
    with open_source(copy, lambda _: None) as source:
        for entry in source:
            try:
                entry.read()
                entry.open().close()
            except InvalidData:
                continue


def test_a_damaged_shard_is_a_finding(copied: Callable[[str], Path]) -> None:
    for kind in ("parquet", "webdataset"):
        folder = copied(kind)
        path = next((folder / "data").glob("train*"))
        path.write_bytes(path.read_bytes()[:-9_000])
        assert "SAF107" in validate(folder).by_rule()
        assert 1 == invoke("validate", folder).exit_code


@pytest.mark.parametrize(
    ("text", "said"),
    [('{"seldio_export": 1, "files": 3}', "damaged manifest"), ('{"seldio_export": 9}', "damaged manifest"),
     ('{"seldio_export": 1, "kind": "parquet", "files": [], "finished": false}', "broken off")],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_is_a_finding(text: str, said: str, copied: Callable[[str], Path]) -> None:
    folder = copied("parquet")
    (folder / "manifest.json").write_text(text)
    with pytest.raises(InvalidData, match=said):
        seldio.open(folder)


def test_a_shard_in_an_archive_is_refused(kinds: dict[str, Path], tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", kinds["parquet"])
    with pytest.raises(InvalidData, match="A shard of an export inside an archive"):
        seldio.open(packed)


def test_a_recording_of_several_clips_is_one_file(root: Path, tmp_path: Path) -> None:
    laid(tmp_path / "set", dict.fromkeys(("hall.alice.csv", "hall.bob.csv"), "frame,class,azimuth,elevation\n"))
    shutil.copy(root / "foa_dev/dev-train-tau/fold3_room4_mix001.wav", tmp_path / "set/hall.wav")
    export(tmp_path / "set", tmp_path / "out", "webdataset")
    assert opened(tmp_path / "set") == opened(tmp_path / "out")


@pytest.fixture
def tables(root: Path, tmp_path: Path) -> Path:
    """A folder with tables of labels and of questions, and one of neither."""
    folder = tmp_path / "tables"
    folder.mkdir()
    seldio.write(seldio.read(root / "metadata_dev", format="starss23"), folder / "labels.parquet", "parquet")
    rows = [Item.model_validate(question) for question in starss_tree.QUESTIONS]
    (folder / "questions.parquet").write_bytes(formats.get("items-parquet", ItemFormat).write(rows))
    pq.write_table(pa.table({"feature": [1.0, 2.0]}), folder / "features.parquet")
    return folder


def test_tables_in_a_folder_are_read(tables: Path, root: Path) -> None:
    dataset = seldio.open(tables)

    assert 9 == dataset.events.table().num_rows
    assert {*dataset.events} == {*seldio.open(root).events}
    assert ["a", "b"] == [item.id for item in dataset.items]
    described = describe(tables)
    assert [("parquet", 4)] == [(group["format"], group["clips"]) for group in described["groups"]]
    assert ["items-parquet"] == [group["format"] for group in described["items"]]


def test_tables_in_a_folder_are_checked(tables: Path) -> None:
    rewritten(tables / "labels.parquet", lambda table: turned(table, 500.0))
    (tables / "cut.parquet").write_bytes((tables / "features.parquet").read_bytes()[:-9])

    report = validate(tables)
    places_ = {(f.code, Path(f.path).name) for f in report.findings if f.code in ("LAB103", "SYN301")}
    assert {("LAB103", "labels.parquet"), ("SYN301", "cut.parquet")} == places_
    assert 3 == report.files  # the features are none of our business


def test_recordings_find_their_labels_in_a_table(root: Path, tables: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    shutil.copytree(root / "foa_dev", folder / "foa_dev")
    shutil.copy(tables / "labels.parquet", folder)
    windows, expected = (windows_of(path, seconds=0.5, target="multi-accdoa") for path in (folder, root))

    assert len(expected) == len(windows)
    assert all(np.array_equal(expected[n]["target"], windows[n]["target"]) for n in range(len(windows)))
    shutil.copytree(root / "metadata_dev", folder / "metadata_dev")  # label files go before tables
    rewritten(folder / "labels.parquet", turned)
    assert pa.table(seldio.open(root).events).equals(pa.table(seldio.open(folder).events))


def test_one_clip_in_two_tables_is_asked_about(tables: Path) -> None:
    shutil.copy(tables / "labels.parquet", tables / "more.parquet")
    with pytest.raises(UsageError, match="both hold labels of"):
        len(seldio.open(tables).events)


def test_a_clip_of_an_export_can_be_looked_at(root: Path, kinds: dict[str, Path], tmp_path: Path) -> None:
    pages = []
    for source in (root, kinds["parquet"], kinds["audiofolder"]):
        result = invoke("view", source, "--clip", "fold3_room4_mix001", "-o", tmp_path / "page.html")
        assert 0 == result.exit_code, result.output
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1] == pages[2]


def test_no_name_from_a_table_leads_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"clip": ["../evil"], "frame": [1], "class_id": [1], "azimuth": [0.0], "elevation": [0.0]})
    (tmp_path / "in/here").mkdir(parents=True)
    pq.write_table(table, tmp_path / "in/labels.parquet")
    monkeypatch.chdir(tmp_path / "in/here")
    result = invoke("view", "..", "--clip", "../evil")

    assert 0 == result.exit_code, result.output
    assert ["_evil.html"] == [path.name for path in Path().iterdir()]
