"""Exports read where they lie: the same files, findings, clips and windows as of what they were made from."""

from __future__ import annotations

import dataclasses
import io
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import starss_tree as data
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner
from videos import make as make_video

import seldio
from seldio import formats
from seldio.check.description import describe
from seldio.check.validation import validate
from seldio.cli import app
from seldio.data import export
from seldio.errors import DataError, InvalidData, UsageError
from seldio.files import DEFAULTS, Limits, Source, open_source
from seldio.files.exports import SIZES
from seldio.findings import Finding, raise_errors
from seldio.formats import ItemFormat
from seldio.schema.qa import Item

KINDS = ("parquet", "webdataset", "audiofolder", "videofolder")
LABELS = "metadata_dev/dev-train-tau/fold3_room4_mix001.csv"
SHARD = "data/train-00000-of-00001"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set with a video, questions and a licence."""
    root = data.write_questions(data.write(tmp_path_factory.mktemp("stored") / "starss23"))
    video = root / "video_dev/dev-train-tau/fold3_room4_mix001.mp4"
    video.parent.mkdir(parents=True)
    video.write_bytes(make_video(37))
    (root / "LICENSE").write_text("as you like\n", "utf-8")
    return root


@pytest.fixture(scope="module")
def exports(root: Path) -> dict[str, Path]:
    """It in each kind of storage."""
    made = {kind: root.parent / kind for kind in KINDS}
    for kind, out in made.items():
        export(root, out, kind)
    return made


@pytest.fixture
def copied(exports: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of an export that may be changed."""
    return lambda kind: shutil.copytree(exports[kind], tmp_path / f"copy-{kind}")


def content(source: Source) -> dict[str, bytes]:
    """All files of a source, by name."""
    return {entry.name: entry.read() for entry in source}


def opened(path: Path, limits: Limits = DEFAULTS) -> tuple[dict[str, bytes], list[str]]:
    """The files of a source, and the codes of what is wrong with it."""
    found: list[Finding] = []
    with open_source(path, found.append, limits) as source:
        return content(source), [finding.code for finding in found]


def told(path: Path) -> list[tuple[object, ...]]:
    """What is wrong with a data set, without where it lies."""
    return sorted((f.code, f.line or 0, f.column or 0, f.message) for f in validate(path).findings)


def rules_of(path: Path) -> dict[str, int]:
    return validate(path).by_rule()


# --- the same as what it was made from -----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_its_files_are_those_that_it_was_made_from(kind: str, root: Path, exports: dict[str, Path]) -> None:
    with open_source(root, raise_errors) as source, open_source(exports[kind], raise_errors) as stored:
        assert content(source) == content(stored)
        assert "folder" == stored.kind
        assert [entry.size for entry in source] == [entry.size for entry in stored]
        for entry in stored:
            with entry.open() as stream:
                whole = stream.read()
                assert len(whole) == stream.seek(0, io.SEEK_END)
                stream.seek(len(whole) // 2)
                assert whole[len(whole) // 2 :] == stream.read()
            assert entry.head(3) == whole[:3]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_clean_where_the_source_is(kind: str, root: Path, exports: dict[str, Path]) -> None:
    result = CliRunner().invoke(app, ["validate", str(exports[kind]), "--ignore", "AUD,VID,LAY105"])

    assert 0 == result.exit_code, result.output
    assert told(root) == told(exports[kind])
    assert validate(root).files == validate(exports[kind]).files


@pytest.fixture(scope="module")
def wrong(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same data set with errors in it."""
    copy = shutil.copytree(root, tmp_path_factory.mktemp("wrong") / "starss23")
    path = copy / LABELS
    path.write_text(path.read_text().replace("-90,0,100", "250,0,100") + "3,1,0,7,0,100\n99,1,0,0,0,1000\n")
    sony = copy / "metadata_dev/dev-train-sony/fold3_room21_mix001.csv"
    sony.rename(sony.with_name("fold3_room21_mix999.csv"))
    return copy


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_the_findings_of_its_source(kind: str, wrong: Path, tmp_path: Path) -> None:
    export(wrong, tmp_path / kind, kind, force=True)

    assert told(wrong) == told(tmp_path / kind)
    assert {"LAB103", "LAY103"} <= rules_of(tmp_path / kind).keys()
    assert 1 == CliRunner().invoke(app, ["validate", str(tmp_path / kind)]).exit_code


def test_a_finding_names_shard_and_file(wrong: Path, tmp_path: Path) -> None:
    export(wrong, tmp_path / "out", "parquet", force=True)
    finding = next(f for f in validate(tmp_path / "out").findings if f.code == "LAB103")

    assert f"{tmp_path}/out/{SHARD}.parquet!/{LABELS}" == finding.path
    assert (1, 7) == (finding.line, finding.column)


@pytest.mark.parametrize("kind", KINDS)
def test_it_opens_as_the_same_data_set(kind: str, root: Path, exports: dict[str, Path]) -> None:
    source, stored = seldio.open(root), seldio.open(exports[kind])

    assert source.clips.equals(stored.clips)
    assert pa.table(source.events).equals(pa.table(stored.events))
    assert list(source.events) == list(stored.events)
    assert pa.table(source.items).equals(pa.table(stored.items))
    assert source.statistics() == stored.statistics()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{"seconds": 0.5, "target": "multi-accdoa"}, {"items": True}])
def test_its_windows_are_the_same(kind: str, options: dict[str, Any], root: Path, exports: dict[str, Path]) -> None:
    source, stored = seldio.open(root).windows(**options), seldio.open(exports[kind]).windows(**options)
    elsewhere = pickle.loads(pickle.dumps(stored))

    assert len(source) == len(stored) > 1
    for number in range(len(source)):
        expected = source[number]
        for given_ in (stored[number], elsewhere[number]):
            assert expected.keys() == given_.keys()
            assert all(np.array_equal(expected[name], given_[name]) for name in expected)


@pytest.mark.parametrize("kind", ["webdataset", "files"])
def test_an_export_can_be_exported_as_another_kind(
    kind: str, root: Path, exports: dict[str, Path], tmp_path: Path
) -> None:  # fmt: skip
    export(exports["parquet"], tmp_path / "again", kind)

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
    source, stored = (seldio.open(path).windows(seconds=0.5, target="multi-accdoa") for path in (root, folder))
    assert all(
        np.array_equal(source[n][part], stored[n][part]) for n in range(len(source)) for part in ("audio", "target")
    )
    with pytest.raises(UsageError, match="turn it into files first"):
        export(folder, tmp_path / "again", "webdataset")
    with pytest.raises(DataError, match="is not the file that was written"):  # it was changed here
        seldio.convert(folder, tmp_path / "back", "files")


# --- parts of an export --------------------------------------------------------------------------------


def test_tables_of_labels_alone_are_labels(exports: dict[str, Path], root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "part"
    shutil.copytree(exports["parquet"] / "labels", folder / "labels")

    assert seldio.open(folder).events.table().num_rows == seldio.open(root).events.table().num_rows == 9
    assert {*seldio.open(folder).events} == {*seldio.open(root).events}  # the silent one too
    assert {} == rules_of(folder)
    assert 2 == validate(folder).files


def test_tables_of_labels_alone_are_converted_and_scored(exports: dict[str, Path], root: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(exports["parquet"] / "labels", tmp_path / "part/labels")  # a table for each split
    result = CliRunner().invoke(app, ["convert", str(folder), "--to", "starss23", "-o", str(tmp_path / "out")])

    assert 0 == result.exit_code, result.output
    assert opened(root / "metadata_dev")[0] == opened(tmp_path / "out/metadata_dev")[0]
    result = CliRunner().invoke(app, ["score", str(folder), "-r", str(root / "metadata_dev"), "--json"])
    assert 0 == result.exit_code, result.output


# --- tables and label files that differ ----------------------------------------------------------------


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """A Parquet file with another table in it."""
    table = pq.read_table(path)
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)


def turned(table: pa.Table) -> pa.Table:
    """The third azimuth is another one."""
    number = table.column_names.index("azimuth")
    values = table["azimuth"].to_pylist()
    return table.set_column(number, "azimuth", pa.array([*values[:2], 77.0, *values[3:]]))


# --- what is unsafe or damaged -------------------------------------------------------------------------


def test_long_recordings_are_read_in_parts(exports: dict[str, Path]) -> None:
    """As those in a folder: a stream of a recording fills no memory, whatever its size."""
    limits = dataclasses.replace(DEFAULTS, file_bytes=5_000, total_bytes=9_000)
    for kind in KINDS[1:]:  # of Parquet those of more than 2 MB
        with open_source(exports[kind], raise_errors, limits) as source:
            entry = next(entry for entry in source if entry.name.endswith("mix001.wav"))
            with entry.open() as stream:
                assert entry.size == len(stream.read()) > 5_000
            with pytest.raises(InvalidData, match="SAF105"):
                entry.read()


@pytest.mark.parametrize("kind", ["parquet", "webdataset"])
@given(values=st.data())
def test_damaged_shards_are_told_of(kind: str, values: st.DataObject, exports: dict[str, Path]) -> None:
    path = next((exports[kind] / "data").glob("train*"))
    whole = path.read_bytes()
    raw = bytearray(whole)
    for at in values.draw(
        st.lists(st.integers(0, len(raw) - 1) | st.integers(len(raw) - 3_000, len(raw) - 1), max_size=5)
    ):
        raw[at] = values.draw(st.integers(0, 255))
    end = values.draw(st.just(len(raw)) | st.integers(0, len(raw)))
    copy = exports[kind].parent / f"damaged-{kind}"
    if not copy.exists():
        shutil.copytree(exports[kind], copy)
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
        assert "SAF107" in rules_of(folder)
        assert 1 == CliRunner().invoke(app, ["validate", str(folder)]).exit_code


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


def test_what_is_missing_or_packed_is_named(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("parquet")
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", folder)
    with pytest.raises(InvalidData, match="A shard of an export inside an archive"):
        seldio.open(packed)
    (folder / "other/LICENSE").unlink()
    with pytest.raises(InvalidData, match="1 file of the export missing: other/LICENSE"):
        seldio.open(folder)


def test_a_recording_of_several_clips_is_one_file(root: Path, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    shutil.copy(root / "foa_dev/dev-train-tau/fold3_room4_mix001.wav", tmp_path / "set/hall.wav")
    for name in ("hall.alice.csv", "hall.bob.csv"):
        (tmp_path / "set" / name).write_text("frame,class,azimuth,elevation\n")
    export(tmp_path / "set", tmp_path / "out", "webdataset")
    assert opened(tmp_path / "set") == opened(tmp_path / "out")


# --- tables in a folder --------------------------------------------------------------------------------


@pytest.fixture
def tables(root: Path, tmp_path: Path) -> Path:
    """A folder with tables of labels and of questions, and one of neither."""
    folder = tmp_path / "tables"
    folder.mkdir()
    seldio.write(seldio.read(root / "metadata_dev", format="starss23"), folder / "labels.parquet", "parquet")
    rows = [Item.model_validate(question) for question in data.QUESTIONS]
    (folder / "questions.parquet").write_bytes(formats.get("items-parquet", ItemFormat).write(rows))
    pq.write_table(pa.table({"feature": [1.0, 2.0]}), folder / "features.parquet")
    return folder


def test_tables_in_a_folder_are_read(tables: Path, root: Path) -> None:
    dataset = seldio.open(tables)

    assert 9 == dataset.events.table().num_rows
    assert {*dataset.events} == {*seldio.open(root).events}
    assert ["a", "b"] == [item.id for item in dataset.items]
    described = describe(tables)
    assert [("parquet", 3)] == [(group["format"], group["clips"]) for group in described["groups"]]
    assert ["items-parquet"] == [group["format"] for group in described["items"]]


def test_tables_in_a_folder_are_checked(tables: Path) -> None:
    rewritten(tables / "labels.parquet", lambda table: turned(table).filter(pa.array([True] * 9)))
    bad = pq.read_table(tables / "labels.parquet")
    values = pa.array([500.0, *bad["azimuth"].to_pylist()[1:]])
    number = bad.column_names.index("azimuth")
    pq.write_table(bad.set_column(number, "azimuth", values), tables / "labels.parquet")
    (tables / "cut.parquet").write_bytes((tables / "features.parquet").read_bytes()[:-9])

    report = validate(tables)
    places_ = {(f.code, Path(f.path).name) for f in report.findings if f.code in ("LAB103", "SYN301")}
    assert {("LAB103", "labels.parquet"), ("SYN301", "cut.parquet")} == places_
    assert 3 == report.files  # the features are none of our business


def test_recordings_find_their_labels_in_a_table(root: Path, tables: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    shutil.copytree(root / "foa_dev", folder / "foa_dev")
    shutil.copy(tables / "labels.parquet", folder)
    windows = seldio.open(folder).windows(seconds=0.5, target="multi-accdoa")

    expected = seldio.open(root).windows(seconds=0.5, target="multi-accdoa")
    assert len(expected) == len(windows)
    assert all(np.array_equal(expected[n]["target"], windows[n]["target"]) for n in range(len(windows)))


def test_one_clip_in_two_tables_is_asked_about(tables: Path) -> None:
    shutil.copy(tables / "labels.parquet", tables / "more.parquet")
    with pytest.raises(UsageError, match="both hold labels of"):
        len(seldio.open(tables).events)


def test_label_files_go_before_tables(root: Path, tables: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    shutil.copytree(root / "metadata_dev", folder / "metadata_dev")
    rewritten(tables / "labels.parquet", turned)
    shutil.copy(tables / "labels.parquet", folder)

    assert pa.table(seldio.open(root).events).equals(pa.table(seldio.open(folder).events))


# --- pages about a clip --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "audiofolder"])
def test_a_clip_of_an_export_can_be_looked_at(kind: str, root: Path, exports: dict[str, Path], tmp_path: Path) -> None:
    for name, arguments in (
        ("a.html", [str(root / LABELS)]),
        ("b.html", [str(exports[kind]), "--clip", "fold3_room4_mix001"]),
    ):
        result = CliRunner().invoke(app, ["view", *arguments, "-o", str(tmp_path / name)])
        assert 0 == result.exit_code, result.output

    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_no_name_from_a_table_leads_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"clip": ["../evil"], "frame": [1], "class_id": [1], "azimuth": [0.0], "elevation": [0.0]})
    (tmp_path / "in/here").mkdir(parents=True)
    pq.write_table(table, tmp_path / "in/labels.parquet")
    monkeypatch.chdir(tmp_path / "in/here")
    result = CliRunner().invoke(app, ["view", "..", "--clip", "../evil"])

    assert 0 == result.exit_code, result.output
    assert ["_evil.html"] == [path.name for path in Path().iterdir()]


# --- real labels ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("starss22-labels", "parquet"),
        ("spatialscaper-labels", "webdataset"),
        ("tau-nigens2020-labels", "audiofolder"),
        ("tau-sse2019-labels", "parquet"),
    ],
)
def test_real_labels_are_the_same(name: str, kind: str, shared: Path, tmp_path: Path) -> None:
    source = shared / "data" / name
    export(source, tmp_path / "out", kind)

    assert opened(source) == opened(tmp_path / "out")
    assert told(source) == told(tmp_path / "out")
    assert pa.table(seldio.open(source).events).equals(pa.table(seldio.open(tmp_path / "out").events))
