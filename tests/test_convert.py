"""Conversion: what is carried, what is refused, and what comes back as it was."""

from __future__ import annotations

import dataclasses
import functools
import io
import shutil
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commands import contents, laid
from conftest import Kept
from effort import examples, some
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import REAL, event_tables, text_file

import seldio
from seldio.conversion.labels import convert_source
from seldio.conversion.losses import Converted, accepted, carry_out, checked_fields
from seldio.conversion.outputs import clip_tables
from seldio.errors import DataError, InvalidData, UsageError
from seldio.findings import raise_errors
from seldio.formats import LABEL_FORMATS, LabelFormat, TextFile, get
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect
from seldio.formats.label_tools import ToolFormat
from seldio.formats.parquet import PARQUET, read_parquet, write_parquet
from seldio.schema.events import COLUMNS, ClipFile, Origin, origin_of, with_origin
from seldio.vocabularies import spelling, vocabulary

LABELS = [format for format in LABEL_FORMATS if format is not PARQUET]
NAMES = [format.name for format in LABELS]


def table(format: str = "starss23", vocabulary: str = "starss", **columns: list[Any]) -> pa.Table:
    """A table of one clip, mix001."""
    arrays = {name: pa.array(columns[name], COLUMNS[name]) for name in COLUMNS if name in columns}
    rows = len(next(iter(columns.values())))
    clip = pa.array(["mix001"] * rows).cast(COLUMNS["clip"])
    return with_origin(
        pa.table({"clip": clip, **arrays}), Origin(format, vocabulary, (ClipFile("mix001", "mix001.csv"),))
    )


def starss(**changes: list[Any]) -> pa.Table:
    """Two rows with all that STARSS23 has."""
    given = {"frame": [0, 1], "class_id": [12, 3], "source": [1, 2], "azimuth": [30.0, 135.0], "elevation": [-5.0, 10.0],
             "distance": [2.0, 3.0]}  # fmt: skip
    return table(**given | changes)


def convert(
    table: pa.Table, source: LabelFormat, target: LabelFormat, allow_loss: Any = (), fill: Any = MappingProxyType({})
) -> Converted:
    names = checked_fields(allow_loss)
    converted = carry_out(table, source, target, fill)
    accepted([converted], target, names)
    return converted


def written(table: pa.Table, format: LabelFormat) -> dict[str, bytes]:
    return {file.name: format.write(rows, file) for file, rows in clip_tables(table)}


def reread(table: pa.Table, format: LabelFormat) -> pa.Table:
    """The table that the files of *table* give."""
    clips = [TextFile(file.name, file.name, file.clip, format.write(rows, file)) for file, rows in clip_tables(table)]
    return format.read(clips, raise_errors).table


@functools.cache
def example(name: str) -> pa.Table:
    """One scene, as files of the format *name* tell it: two clips, sources in front and behind, silence, an activity."""
    format, source = get(name), get("starss23")
    rows = {"a": [(n, 12, 1, 30, -5, 200) for n in range(5)] + [(n, 3, 2, 135, 10, 300) for n in range(3, 9)], "b": []}
    texts = {clip: "".join(f"{','.join(map(str, row))}\n" for row in of) for clip, of in rows.items()}
    texts["c"] = "20,12,1,-110,0,100\n"
    files = [text_file(text.encode(), f"{clip}.csv") for clip, text in texts.items()]
    scene = source.read(files, raise_errors).table
    scene = scene.append_column("onscreen", pa.array([number == 1 for number in scene["source"].to_pylist()]))
    target = dataclasses.replace(format, vocabulary="starss") if name == "so-dataset" else format
    carried = convert(scene, source, target, allow_loss=["all"]).table
    if "x" in format.carries and format.role == "output":
        carried = reread(carried, format)
        for axis in "xyz":
            scaled = pa.array(carried[axis].to_numpy() * 0.8)
            carried = carried.set_column(carried.column_names.index(axis), axis, scaled)
    return reread(carried, format)


def facts(table: pa.Table, format: LabelFormat, fields: set[str], folded: bool) -> set[tuple[Any, ...]]:
    """What *table* says of *fields* in each frame of 100 ms; of classes, whether they are a knock or a phone."""
    found = set()
    for row in table.to_pylist():
        if row.get("frame") is not None:
            frames = [int(row["frame"] * format.hop / Fraction(1, 10))]
        else:
            frames = list(range(round(row["onset"] * 10), round(row["offset"] * 10)))
        if folded and abs(row["azimuth"]) > 90:
            row["azimuth"] = np.copysign(180.0, row["azimuth"]) - row["azimuth"]
        known = row["class_id"] is not None
        names = vocabulary(format.vocabulary).classes[row["class_id"]] if known else [row["class_name"]]
        kind = next((name for name in map(spelling, names) if name in ("knock", "phone")), "other")
        values = [round(row[field], 6) for field in sorted(fields)]
        found |= {(row["clip"], frame, kind, *values) for frame in frames}
    return found


#: Each format from and to the one that most start with, and to a neighbour in the list, of another kind now and then.
PAIRS = dict.fromkeys([
    *(pair for name in NAMES[1:] for pair in ((NAMES[0], name), (name, NAMES[0]))), *zip(NAMES[1::2], NAMES[2::2], strict=False),
])  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_formats_to_formats(one: str, other: str) -> None:
    source, target = get(one), get(other)
    given = example(one)
    missing = carry_out(given, source, target).missing
    lacking = {field for field in target.needs if field not in given.column_names}
    assert set(missing) == lacking - {"frame", "onset", "offset"} - ({"distance"} if other == "so-dataset" else set())
    fill = dict.fromkeys(missing, 1)
    planned = carry_out(given, source, target, fill)
    converted = convert(given, source, target, allow_loss=planned.losses, fill=fill)
    again = reread(converted.table, target)
    assert [file.clip for file in origin_of(again).files] == ["a", "b", "c"]
    assert all(file.name.endswith(target.suffix) for file in origin_of(again).files)
    if "class_id" in planned.losses:
        assert not again.num_rows
        return
    told = {"azimuth", "elevation", "distance", "source", "onscreen"} & set(given.column_names)
    shared = told & set(again.column_names)
    assert told - shared <= set(planned.losses), "lost in silence"
    folded = any(isinstance(format, Dialect) and format.folded for format in (source, target))
    if "source" in shared and target.name == "dcase2020-submission":
        assert again["source"].to_pylist() == converted.table["source"].to_pylist()
    before, after = (facts(t, f, shared, folded) for t, f in ((given, source), (again, target)))
    assert before == after
    assert before


@pytest.mark.parametrize("name", NAMES)
def test_parquet_carries_everything(name: str) -> None:
    stream = io.BytesIO()
    write_parquet(convert(example(name), get(name), PARQUET).table, stream)
    packed = read_parquet(stream.getvalue(), "x.parquet", raise_errors)
    assert packed is not None
    assert carry_out(packed, PARQUET, get(name)).losses == {}
    assert written(convert(packed, PARQUET, get(name)).table, get(name)) == written(example(name), get(name))


HALVES = [12.7, -0.6, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999, 89.5]
ROUNDED = [13, -1, 0, 2, 2, 0, -2, 0, 90]


@pytest.mark.parametrize("name", [d.name for d in DIALECTS if d.kind("azimuth") == "whole" and d.name != "dcase2019"])
def test_rounding_never_cuts_off(name: str) -> None:
    rows = len(HALVES)
    given = starss(frame=list(range(rows)), class_id=[12] * rows, source=[0] * rows, azimuth=HALVES, elevation=HALVES,
                   distance=[0.127, 0.004, 0.005, 0.015, 0.025, 0.035, 0.0149, 1.005, 2.675])  # fmt: skip
    target, fill = get(name), {} if name != "dcase2025" else {"onscreen": 1}
    again = convert(given, get("starss23"), target, allow_loss=["all"], fill=fill)
    back = reread(again.table, target)
    assert back["azimuth"].to_pylist()[:: 5 if name == "dcase2019-output" else 1] == ROUNDED
    if target.kind("distance") == "whole":  # type: ignore[attr-defined]
        assert [round(d * 100, 6) for d in back["distance"].to_pylist()] == [13, 0, 0, 2, 2, 4, 1, 100, 268]
    assert "azimuth is rounded by up to 0.5°" in again.notes


@given(st.integers(0, 999_999))
@settings(max_examples=examples(40))
def test_centimetres_and_metres_are_exact(centimetres: int) -> None:
    data = f"0,12,0,0,0,{centimetres}\n".encode()
    given = get("starss23").read([TextFile("a.csv", "a.csv", "a", data)], raise_errors).table
    for name in ("dcase2024-output", "spatialscaper", "dcase2026"):
        there = reread(convert(given, get("starss23"), get(name)).table, get(name))
        assert there["distance"].to_pylist() == [centimetres / 100]
        back = convert(there, get(name), get("starss23"), allow_loss="x,y,z").table
        assert get("starss23").write(back, ClipFile("a", "a.csv")) == data


def test_what_is_lost_is_described() -> None:
    given = table(
        "dcase2026", frame=[0, 1], class_id=[1, 2], azimuth=[100.0, 0.0], elevation=[1.0, None], distance=[1.5, None],
        x=[0.5, None], y=[0.0, 0.0], z=[0.0, 0.0], onscreen=[True, None], hemisphere=[True, False], score=[0.25, 0.5],
        segmentation=[[[[1.0, 2.0, 0.5]]], []], extra=['{"colour": 1}', None],
    )  # fmt: skip
    file = ClipFile("mix001", "a.json", extra='{"videos": [], "annotations": {}}')
    given = with_origin(given, Origin("dcase2026", "starss", (file,)))
    planned = carry_out(given, get("dcase2026"), get("starss23"))
    assert planned.missing == {
        "source": "the table has none",
        "elevation": "1 of 2 rows have none",
        "distance": "1 of 2 rows have none",
    }
    assert carry_out(given, get("dcase2026"), get("starss23"), dict.fromkeys(planned.missing, 1)).losses == {
        "onscreen": "whether the source is on screen (1 row)",
        "hemisphere": "1 elevation known only as up or down; written as ±90",
        "score": "values from 0.25 to 0.5",
        "segmentation": "the energy maps of 2 rows",
        **dict.fromkeys("xyz", "the norm, an activity (0.50 to 0.50)"),
        "extra": "additional keys: videos, colour",
    }
    assert carry_out(starss(), get("starss23"), get("dcase2025"), {"onscreen": 0}).losses == {
        "elevation": "values from -5 to 10°",
        "azimuth": "front or back: 1 of 2 rows lie behind and are folded to the front",
    }
    for numbers, losses in (([0, 0], {}), ([-1, -1], {}), ([None, None], {}), ([5, 5], {"source": "the number 5"})):
        assert carry_out(starss(source=numbers), get("starss23"), get("dcase2024-submission")).losses == losses


def test_what_all_rows_that_are_left_out_had_is_not_called_missing() -> None:
    converted = convert(starss(), get("starss23"), get("so-dataset"), allow_loss=["all"])
    assert list(converted.notes) == ["classes of starss are mapped to those of so-dataset by name"]


def test_rows_without_a_class_are_given_one_of_the_target() -> None:
    given = starss(class_id=[None, 0])
    filled = convert(given, get("starss23"), get("dcase2020"), allow_loss=["all"], fill={"class_id": 3})
    assert filled.table["class_id"].to_pylist() == [3, 6]
    assert not any("no effect" in note for note in filled.notes)


def test_unknown_distances_go_where_they_have_a_mark() -> None:
    given, source = starss(class_id=[47, 47], distance=[None, 2.0]), get("so-dataset")
    given = with_origin(given, Origin("so-dataset", "so-dataset", origin_of(given).files))
    target, other = (dataclasses.replace(get(name), vocabulary="so-dataset") for name in ("starss23", "dcase2026"))
    assert carry_out(given, source, other).losses == {}
    assert carry_out(given, source, target).missing == {"distance": "1 of 2 rows have none"}
    without = convert(starss(class_id=[47, 47]).drop_columns(["distance"]), target, source)
    assert list(without.notes) == ["distance is written as -1, unknown: the table has none"]
    assert b",-1\r\n" in written(without.table, source)["mix001.csv"]


ROWS = b"1,2,0,-180,-5,181\n2,2,1,180,-5,64\n3,12,0,45,10,301\n"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A folder of labels: two splits, a silent clip, CR LF, a missing final newline, and a readme."""
    files = {
        "dev-train-sony/fold3_room21_mix001.csv": ROWS,
        "dev-train-sony/fold3_room21_mix002.csv": b"",
        "dev-test-tau/fold4_room2_mix001.csv": ROWS.replace(b"\n", b"\r\n"),
        "dev-test-tau/fold4_room2_mix002.csv": ROWS[:-1],
        "README.md": b"labels",
    }
    return laid(tmp_path / "metadata_dev", files)


def test_a_folder_becomes_a_folder(labels: Path, tmp_path: Path) -> None:
    result = convert_source(labels, tmp_path / "out", "dcase2023-submission", allow_loss=["source", "distance"])
    files = contents(tmp_path / "out")
    assert set(files) == {name for name in contents(labels) if name.endswith(".csv")}
    assert files["dev-train-sony/fold3_room21_mix001.csv"] == b"1,2,-180,-5\n2,2,180,-5\n3,12,45,10\n"
    assert files["dev-test-tau/fold4_room2_mix001.csv"] == files["dev-test-tau/fold4_room2_mix002.csv"]
    assert (result.formats, result.files, result.clips, result.rows) == (("starss23",), 4, 4, (9, 9))
    assert result.losses == {"source": "the numbers 0 to 1", "distance": "values from 0.64 to 3.01 m"}
    assert result.notes == ("1 other file skipped",)
    assert [finding.code for finding in result.findings] == ["SYN105"]
    for _ in range(2):  # the second time, the first output lies among the labels
        again = convert_source(labels, labels / "out", "starss22", allow_loss=["distance"])
        assert (again.files, (labels / "out/out").exists()) == (4, False)
    assert seldio.convert(labels, f"{labels}/", "so-bench", audio=False).written == (str(labels / "questions.jsonl"),)


def test_two_files_never_become_one(tmp_path: Path) -> None:
    laid(tmp_path, dict.fromkeys(("mix001_std.json", "mix001_inference.json"), b'{"annotations": []}'))
    with pytest.raises(UsageError, match=r"mix001_inference\.json and .*mix001_std\.json both belong to clip mix001"):
        convert_source(tmp_path, tmp_path / "out", "starss23")
    files = tuple(ClipFile(clip, "x/mix.csv") for clip in ("mix001", "mix002"))
    with (tmp_path / "t.parquet").open("wb") as stream:
        write_parquet(with_origin(starss(), Origin("starss23", "starss", files)), stream)
    with pytest.raises(UsageError, match=r"two files would be written to .*mix\.csv"):
        convert_source(tmp_path / "t.parquet", tmp_path / "out", "starss23")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", ["../a.csv", "/etc/a.csv", "a/../../b.csv", "C:/a.csv", "a\\b.csv", "a//b.csv", "a\0.csv", "..", "x/."]
)
def test_names_never_lead_out_of_the_folder(name: str, tmp_path: Path) -> None:
    rows = starss(source=[0, 0])
    with (tmp_path / "t.parquet").open("wb") as stream:
        write_parquet(with_origin(rows, Origin("starss23", "starss", (ClipFile("mix001", name),))), stream)
    with pytest.raises(InvalidData, match=r"SAF101 the file name .* points outside the folder"):
        convert_source(tmp_path / "t.parquet", tmp_path / "out", "starss23")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def recordings_and_synthetic(folder: Path) -> Path:
    files = {
        "dev-train-sony/fold3_room21_mix001.csv": b"0,1,0,45,8,150\n3,2,0,-10,0,224\n",
        "dev-train-synth/fold1_room1_mix001.csv": b"7,2,0,107,-20,2.676\n8,2,0,107,-20,2.5\n",
        "dev-train-synth/fold1_room1_mix002.csv": b"22,11,0,36,-11,2.5\n",
    }
    return laid(folder / "metadata_dev", files).parent


def test_clips_in_two_places_outputs_and_several_class_lists_are_not_mixed(tmp_path: Path) -> None:
    root = recordings_and_synthetic(tmp_path / "set")
    seldio.convert(root / "metadata_dev/dev-train-sony", root / "labels.parquet", "parquet")
    with pytest.raises(UsageError, match="labels of fold3_room21_mix001 appear twice"):
        seldio.read(root)
    (root / "labels.parquet").unlink()
    head = b"sound_event_recording,start_time,end_time,ele,azi,dist\n"
    (root / "tau.csv").write_bytes(head + b"speech,0.1,0.5,10,20,1\nkeyboard,0.2,0.5,10,20,1\n")
    with pytest.raises(UsageError, match=r"several class lists .*starss23.*dcase2019.*starss, tau-sse-2019.*a folder"):
        seldio.read(root)
    (root / "tau.csv").write_bytes(b"0,1,0,0.5,0.5,0.1,1.5\n1,1,0,0.5,0.4,0.1,1.25\n")
    with pytest.raises(UsageError, match=r"labels and outputs do not fit in one table \(.*, dcase2024-output\)"):
        seldio.read(root)
    result = seldio.convert(root, tmp_path / "out", "dcase2024-submission", allow_loss="all")
    assert set(result.formats) == {"starss23", "spatialscaper", "dcase2024-output"}
    assert (tmp_path / "out/tau.csv").read_bytes().startswith(b"0,1,45,8,150\n")


def test_files_without_rows(tmp_path: Path) -> None:
    laid(tmp_path / "in", {"mix001.csv": b""})
    for target in LABELS:
        convert_source(tmp_path / "in", tmp_path / target.name, target)
        (path,) = (tmp_path / target.name).iterdir()
        again = target.read([TextFile(path.name, path.name, "mix001", path.read_bytes())], raise_errors)
        header = getattr(target, "header", None)
        empty = b'{\n  "annotations": []\n}' if target.suffix == ".json" else f"{header}\n".encode() if header else b""
        assert again.table.num_rows == 0
        assert isinstance(target, ToolFormat) or path.read_bytes() == empty


FILES = REAL | {
    "other-dialects/sample1.csv": "seld-studio",
    "other-dialects/starss22-crlf-fold3_room4_mix004.csv": "starss22",
}


@pytest.mark.parametrize("share", some([4, 1], 2))
@pytest.mark.parametrize(("source", "name"), FILES.items(), ids=FILES)
def test_real_files_come_back_byte_identical(kept: Kept, tmp_path: Path, source: str, name: str, share: int) -> None:
    path = kept / source
    if path.is_dir() and share > 1:
        path = Path(shutil.copytree(path, tmp_path / "part"))
        for number, file in enumerate(sorted(path.rglob("*.*"))):
            if number % share:
                file.unlink()
    codes = {finding.code for finding in convert_source(path, f"{tmp_path}/direct/", name).findings}
    assert codes == ({"SYN105"} if "crlf" in source or source == "dcase2020-predictions" else set())
    convert_source(path, tmp_path / "t.parquet", "parquet")
    convert_source(tmp_path / "t.parquet", tmp_path / "unpacked", name)
    expected = {path.name: path.read_bytes()} if path.is_file() else contents(path)
    assert contents(tmp_path / "direct") == contents(tmp_path / "unpacked") == expected


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(200))
def test_whatever_is_converted_can_be_read(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(DIALECTS))
    target = data.draw(st.sampled_from(LABELS))
    rows, file = data.draw(event_tables(source))
    given = with_origin(rows, Origin(source.name, source.vocabulary, (file,)))
    seconds = [row["offset"] - row["onset"] for row in rows.to_pylist() if "onset" in row]
    assume(not 600 < max(seconds, default=0.0) < 1e6)  # it works, but takes its time
    try:
        fill = dict.fromkeys(carry_out(given, source, target).missing, 0)
        converted = convert(given, source, target, allow_loss=["all"], fill=fill)
    except DataError:  # numbers that no recording has
        fields = ("frame", "onset", "offset", "azimuth", "elevation", "distance")
        assert max(abs(row.get(field) or 0) for row in rows.to_pylist() for field in fields) > 80_000
        return
    again = reread(converted.table, target)
    assert again.num_rows == converted.table.num_rows
    assert set(again.column_names) <= set(target.carries)
    assert [file.name for file in origin_of(again).files] == [file.name for file in origin_of(converted.table).files]
