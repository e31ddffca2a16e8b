"""Conversion: what is carried, what is refused, and what comes back as it was."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
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
from seldio.errors import DataError, InvalidData, LossError, SeldioError, UsageError
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


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(data=st.data())
@settings(max_examples=examples(25))
def test_what_is_written_is_read(dialect: Dialect, data: st.DataObject) -> None:
    given, file = data.draw(event_tables(dialect))
    origin = Origin(dialect.name, dialect.vocabulary, (file,))
    carried = convert(with_origin(given, origin), dialect, dialect).table
    assert reread(carried, dialect).equals(given)


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


def test_classes_that_the_target_does_not_have_are_named() -> None:
    given = starss(class_id=[8, 12]).append_column("onscreen", pa.array([True, False]))
    with pytest.raises(LossError) as caught:
        convert(given, get("starss23"), get("dcase2020-output"))
    assert caught.value.losses["class_id"] == (
        '"Music" (1 row) not among the 14 classes of tau-nigens-2020 (dcase2022-output is the same format with the '
        "classes of starss); their rows are left out"
    )
    converted = convert(given, get("starss23"), get("dcase2020-output"), allow_loss=["all"])
    assert converted.table["class_id"].to_pylist() == [9]
    assert carry_out(given, get("starss23"), get("dcase2022-output")).losses.keys() == {"distance", "onscreen"}


def test_events_become_frames_and_come_back() -> None:
    given = table("dcase2019", "tau-sse-2019", onset=[0.3, 1.0, 0.0], offset=[0.6, 1.1, 0.1], class_id=[0, 0, 3], azimuth=[10.0] * 3,
                  elevation=[0.0] * 3, distance=[1.0] * 3)  # fmt: skip
    planned = carry_out(given, get("dcase2019"), get("starss23"), {"source": 0})
    assert planned.losses == {}
    assert "3 events become 5 event frames" in planned.notes
    frames = convert(given, get("dcase2019"), get("starss23"), fill={"source": 0}).table
    assert list(zip(frames["frame"].to_pylist(), frames["class_id"].to_pylist(), strict=True)) == [
        (0, 3),
        (3, 12),
        (4, 12),
        (5, 12),
        (10, 12),
    ]
    back = convert(frames, get("starss23"), get("dcase2019")).table
    assert back.to_pylist() == sorted(given.to_pylist(), key=lambda row: row["onset"])


@pytest.mark.parametrize(
    ("times", "what"),
    [
        (
            [(0.3, 0.65)],
            "1 of 2 onsets and offsets fall between frames of 100 ms: an event fills every frame that it touches",
        ),
        ([(0.3, 0.6), (0.6, 0.9)], "1 of 2 events touch another of the same class and are merged with it"),
    ],
)
def test_times_that_frames_cannot_tell(times: list[tuple[float, float]], what: str) -> None:
    rows = len(times)
    given = table("dcase2019", "tau-sse-2019", onset=[t[0] for t in times], offset=[t[1] for t in times], class_id=[0] * rows,
                  azimuth=[10.0] * rows, elevation=[0.0] * rows)  # fmt: skip
    assert carry_out(given, get("dcase2019"), get("dcase2023-submission")).losses == {"frame": what}


def test_what_moves_does_not_fit_into_one_row() -> None:
    same = {"class_id": [12] * 4, "source": [0] * 4, "elevation": [0.0] * 4}
    given = starss(frame=[0, 1, 2, 7], azimuth=[10.0, 20.0, 30.0, -180.0], distance=[1.0, 1.0, 2.0, 1.0], **same)
    planned = carry_out(given, get("starss23"), get("dcase2019"))
    what = "it changes in 1 of 2 events; the value of the middle frame is kept"
    assert planned.losses == {"azimuth": what, "distance": what}
    rows = convert(given, get("starss23"), get("dcase2019"), allow_loss=["all"]).table.to_pylist()
    assert [(row["onset"], row["offset"], row["azimuth"]) for row in rows] == [(0.0, 0.3, 20.0), (0.7, 0.8, -180.0)]


def test_frames_of_20_ms() -> None:
    given = table(
        "dcase2019-output",
        "tau-sse-2019",
        frame=[0, 1, 1, 2, 9, 11],
        class_id=[0, 0, 0, 3, 0, 0],
        azimuth=[10.0, 20.0, 50.0, 0.0, 30.0, 40.0],
        elevation=[0.0] * 6,
    )
    planned = carry_out(given, get("dcase2019-output"), get("dcase2023-submission"))
    assert planned.losses == {"frame": "frames of 20 ms are merged into frames of 100 ms: 6 rows become 4"}
    there = convert(given, get("dcase2019-output"), get("dcase2023-submission"), allow_loss=["frame"]).table
    assert [(row["frame"], row["class_id"], row["azimuth"]) for row in there.to_pylist()] == [
        (0, 12, 10.0), (0, 3, 0.0), (1, 12, 30.0), (2, 12, 40.0),
    ]  # fmt: skip
    back = convert(there, get("dcase2023-submission"), get("dcase2019-output"))
    assert back.table["frame"].to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, *range(5, 15)]
    assert "each frame of 100 ms becomes 5 frames of 20 ms" in back.notes


def test_losses_are_refused_by_name() -> None:
    with pytest.raises(LossError) as caught:
        convert(starss(), get("starss23"), get("dcase2023-submission"))
    assert caught.value.text == (
        "dcase2023-submission cannot carry source (the numbers 1 to 2); distance (values from 2 to 3 m). "
        "To accept this loss, use --allow-loss source,distance"
    )
    with pytest.raises(LossError, match=r"cannot carry distance \(values from 2 to 3 m\)"):
        convert(starss(), get("starss23"), get("dcase2023-submission"), allow_loss=["source"])
    allowed = convert(starss(), get("starss23"), get("dcase2023-submission"), allow_loss=["source", "distance"])
    assert allowed.table.column_names == ["clip", "frame", "class_id", "azimuth", "elevation"]


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


def test_what_is_missing_is_asked_for() -> None:
    given = starss().drop_columns(["distance"])
    with pytest.raises(UsageError) as caught:
        convert(given, get("starss22"), get("dcase2025"))
    assert str(caught.value) == (
        "dcase2025 needs distance (the table has none); onscreen (the table has none). "
        'To set one value for all, use fill={"distance": METRES, "onscreen": 0} (metres, whatever the format uses)'
    )
    fill = {"distance": "0.5", "onscreen": 1}
    filled = convert(given, get("starss22"), get("dcase2025"), allow_loss=["all"], fill=fill)
    assert written(filled.table, get("dcase2025"))["mix001.csv"].decode().split("\n")[1] == "0,12,1,30,50,1"


def test_what_all_rows_that_are_left_out_had_is_not_called_missing() -> None:
    converted = convert(starss(), get("starss23"), get("so-dataset"), allow_loss=["all"])
    assert list(converted.notes) == ["classes of starss are mapped to those of so-dataset by name"]


def test_rows_without_a_class_are_given_one_of_the_target() -> None:
    given = starss(class_id=[None, 0])
    filled = convert(given, get("starss23"), get("dcase2020"), allow_loss=["all"], fill={"class_id": 3})
    assert filled.table["class_id"].to_pylist() == [3, 6]
    assert not any("no effect" in note for note in filled.notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"allow_loss": ["sauce"]}, "--allow-loss sauce: unknown field; choose from clip, frame, onset, "),
        ({"fill": {"frame": 1}}, "--fill frame: only class_id, source, azimuth, elevation, distance, onscreen, hemi"),
        ({"fill": {"score": 1}}, "--fill score: starss22 has no such field"),
        ({"fill": {"elevation": 91}}, "--fill elevation=91: not a valid elevation"),
        ({"fill": {"source": None}}, "--fill source=None: not a valid source"),
        ({"fill": {"class_id": 99}}, "--fill class_id=99: starss has 13 classes, numbered from 0"),
    ],
)
def test_requests_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        convert(starss(), get("starss23"), get("starss22"), **arguments)
    assert caught.value.text.startswith(message)


def test_unknown_distances_go_where_they_have_a_mark() -> None:
    given, source = starss(class_id=[47, 47], distance=[None, 2.0]), get("so-dataset")
    given = with_origin(given, Origin("so-dataset", "so-dataset", origin_of(given).files))
    target, other = (dataclasses.replace(get(name), vocabulary="so-dataset") for name in ("starss23", "dcase2026"))
    assert carry_out(given, source, other).losses == {}
    assert carry_out(given, source, target).missing == {"distance": "1 of 2 rows have none"}
    without = convert(starss(class_id=[47, 47]).drop_columns(["distance"]), target, source)
    assert list(without.notes) == ["distance is written as -1, unknown: the table has none"]
    assert b",-1\r\n" in written(without.table, source)["mix001.csv"]


def test_real_labels_survive_a_way_around(kept: Kept, tmp_path: Path) -> None:
    paths = sorted((kept / "starss22-labels/metadata_dev").rglob("*.csv"))[::20]
    labels = laid(tmp_path / "labels", {path.name: path.read_bytes() for path in paths})
    convert_source(labels, tmp_path / "json", "dcase2026", fill={"distance": 0})
    convert_source(tmp_path / "json", tmp_path / "xyz", "dcase2024-output")
    convert_source(tmp_path / "xyz", tmp_path / "back", "starss22", allow_loss=["distance"])
    before, after = contents(labels), contents(tmp_path / "back")
    assert after == {name: data.replace(b",-180,", b",180,") for name, data in before.items()}


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


def test_a_file_becomes_a_file(labels: Path, tmp_path: Path) -> None:
    source = labels / "dev-train-sony/fold3_room21_mix001.csv"
    convert_source(source, tmp_path / "a.csv", "dcase2024-submission", format="starss23", allow_loss=["source"])
    assert (tmp_path / "a.csv").read_bytes() == b"1,2,-180,-5,181\n2,2,180,-5,64\n3,12,45,10,301\n"
    into = tmp_path / "into"
    into.mkdir()
    result = convert_source(source, into, "dcase2026")
    assert result.written == (str(into / "fold3_room21_mix001_std.json"),)
    convert_source(into, tmp_path / "back", "starss23")
    assert (tmp_path / "back/fold3_room21_mix001.csv").read_bytes() == ROWS
    result = convert_source(source, f"{tmp_path}/new/", "starss22", allow_loss=["distance"])
    assert result.written == (str(tmp_path / "new/fold3_room21_mix001.csv"),)


def test_outputs_get_the_names_that_the_official_scorer_looks_for(tmp_path: Path) -> None:
    source = laid(tmp_path, {"mix001.csv": b"0,1,0,0.5,0.5,0.1,1.5\n"}) / "mix001.csv"
    result = convert_source(source, f"{tmp_path}/out/", "dcase2026", allow_loss="x,y,z", fill={"score": 1})
    assert result.written == (str(tmp_path / "out/mix001.json"),)
    (annotation,) = json.loads(Path(result.written[0]).read_bytes())["annotations"]
    assert (annotation["score"], annotation["distance"]) == (1.0, 150.0)


def test_nothing_is_written_where_anything_is_wrong(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(LossError):
        convert_source(labels, out, "dcase2023-submission")
    (labels / "dev-test-tau/fold4_room2_mix002.csv").write_bytes(ROWS + b"4,x,0,0,0,0\n")
    with pytest.raises(InvalidData, match=r"fold4_room2_mix002\.csv:4:3: SYN130"):
        convert_source(labels, out, "dcase2023-submission", allow_loss=["all"])
    assert not out.exists()


def test_the_source_is_never_overwritten(labels: Path, tmp_path: Path) -> None:
    before = contents(labels)
    file = labels / "dev-train-sony/fold3_room21_mix001.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(file)
    for source, out in ((labels, labels), (file, file), (file, file.parent), (file, link)):
        with pytest.raises(UsageError, match="is the source itself: choose another output"):
            convert_source(source, out, "starss22", format="starss23", allow_loss=["all"])
    with pytest.raises(UsageError, match="is the source itself"):
        convert_source(file, file, "parquet", format="starss23")
    assert contents(labels) == before


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


def test_places_that_cannot_be_written(labels: Path, tmp_path: Path) -> None:
    laid(tmp_path, {"file": b""})
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="file is a file, but the output is a folder"):
        convert_source(labels, tmp_path / "file", "starss23")
    with pytest.raises(SeldioError, match="cannot make"):
        convert_source(labels, tmp_path / "file/x", "starss23")
    with pytest.raises(UsageError, match=r"no label files \(\.csv, \.eaf, \.json, \.jams\) in .*empty"):
        convert_source(tmp_path / "empty", tmp_path / "out", "starss23")


def recordings_and_synthetic(folder: Path) -> Path:
    files = {
        "dev-train-sony/fold3_room21_mix001.csv": b"0,1,0,45,8,150\n3,2,0,-10,0,224\n",
        "dev-train-synth/fold1_room1_mix001.csv": b"7,2,0,107,-20,2.676\n8,2,0,107,-20,2.5\n",
        "dev-train-synth/fold1_room1_mix002.csv": b"22,11,0,36,-11,2.5\n",
    }
    return laid(folder / "metadata_dev", files).parent


def test_recordings_and_synthetic_scenes_are_one_table(tmp_path: Path) -> None:
    """One in centimetres and one in metres: the table has metres, files of one format have its unit."""
    root = recordings_and_synthetic(tmp_path / "set")
    table = seldio.read(root)
    distances = {"fold1_room1_mix001": [2.676, 2.5], "fold1_room1_mix002": [2.5], "fold3_room21_mix001": [1.5, 2.24]}
    rows = zip(table["clip"].to_pylist(), table["distance"].to_pylist(), strict=True)
    assert sorted((clip, one) for clip, of in distances.items() for one in of) == sorted(rows)

    said = "2 formats were read: starss23 (1 file), spatialscaper (2 files)"
    result = seldio.convert(root, tmp_path / "all.parquet", "parquet")
    assert (said in result.notes, result.clips) == (True, 3)
    assert table.equals(seldio.read(tmp_path / "all.parquet"))
    for source, out in ((root, tmp_path / "files"), (tmp_path / "all.parquet", tmp_path / "again")):
        result = seldio.convert(source, out, "starss23", allow_loss="all")
        assert (said in result.notes) == (source == root)
        assert contents(out / "metadata_dev") == {
            "dev-train-sony/fold3_room21_mix001.csv": b"0,1,0,45,8,150\n3,2,0,-10,0,224\n",
            "dev-train-synth/fold1_room1_mix001.csv": b"7,2,0,107,-20,268\n8,2,0,107,-20,250\n",
            "dev-train-synth/fold1_room1_mix002.csv": b"22,11,0,36,-11,250\n",
        }


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
