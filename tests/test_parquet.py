"""Event tables as Parquet."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio.errors import UsageError
from seldio.findings import Finding
from seldio.formats import parquet
from seldio.formats.parquet import read_parquet, write_parquet
from seldio.schema.event_rows import Event, from_events
from seldio.schema.events import COLUMNS, ClipFile, Origin, origin_of, with_origin


def packed(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    write_parquet(table, stream)
    return stream.getvalue()


def read(data: bytes) -> tuple[pa.Table | None, list[Finding]]:
    findings: list[Finding] = []
    return read_parquet(data, "x.parquet", findings.append), findings


def foreign(columns: dict[str, Any], metadata: dict[bytes, bytes] | None = None) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), stream)
    return stream.getvalue()


def example(rows: int = 3) -> pa.Table:
    events = [
        Event(clip=f"mix{row // 2:03d}", frame=row, class_id=1, azimuth=30.0, elevation=-5.0, distance=1.81)
        for row in range(rows)
    ]
    return from_events(events, "starss23")


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "frame": st.integers(-(2**31), 2**31 - 1),
    "onset": st.floats(allow_nan=False),
    "class_id": st.integers(0, 12),
    "class_name": NAMES,
    "source": st.integers(-1, 9),
    "azimuth": st.floats(-180, 180),
    "distance": st.floats(0, 1e300),
    "onscreen": st.booleans(),
    "score": st.floats(0, 1, allow_subnormal=True),
    "segmentation": st.lists(st.lists(st.lists(st.floats(-1e9, 1e9), max_size=3), max_size=3), max_size=3),
    "extra": st.dictionaries(NAMES, st.integers(), max_size=2).map(json.dumps),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    clips = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(0, 8))
    codes = pa.array(draw(st.lists(st.integers(0, len(clips) - 1), min_size=rows, max_size=rows)), pa.int32())
    columns: dict[str, Any] = {"clip": pa.DictionaryArray.from_arrays(codes, pa.array(clips, pa.string()))}
    for name in sorted(draw(st.sets(st.sampled_from(list(VALUES)))), key=list(COLUMNS).index):
        values = draw(st.lists(VALUES[name] | st.none(), min_size=rows, max_size=rows))
        columns[name] = pa.array(values, COLUMNS[name])
    files = [
        ClipFile(clip, f"{clip}.csv", draw(st.sampled_from(["\n", "\r\n"])), draw(st.booleans())) for clip in clips
    ]
    if draw(st.booleans()):
        return with_origin(pa.table(columns), Origin("starss23", "starss", tuple(draw(st.permutations(files)))))
    return pa.table(columns)


@given(tables())
def test_what_is_written_is_read(table: pa.Table) -> None:
    data = packed(table)
    again, findings = read(data)
    assert not findings
    assert again is not None
    assert again.equals(table)
    assert again.schema.equals(table.schema)
    assert again["clip"].combine_chunks().dictionary.equals(table["clip"].combine_chunks().dictionary)
    assert origin_of(again) == origin_of(table)
    assert packed(again) == data == packed(table)


def test_row_groups_end_where_clips_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def groups(table: pa.Table) -> list[int]:
        metadata = pq.read_metadata(io.BytesIO(packed(table)))
        return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]

    assert groups(example(250)) == [200, 50]  # two rows a clip, 100 clips a group
    monkeypatch.setattr(parquet, "GROUP_ROWS", 5)
    assert groups(example(9)) == [4, 5]
    monkeypatch.setattr(parquet, "GROUP_ROWS", 1)
    assert groups(example(5)) == [2, 2, 1]  # a clip is never torn
    assert groups(example(0)) == []


class Trap(pa.ExtensionType):  # type: ignore[misc]
    """An extension type whose code must not run."""

    def __init__(self) -> None:
        super().__init__(pa.int32(), "trap")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> Trap:
        raise AssertionError("code of an extension type ran")


def test_types_that_hold_the_same_values_are_cast_and_no_code_of_extension_types_runs() -> None:
    array = pa.ExtensionArray.from_storage(Trap(), pa.array([1], pa.int32()))
    data = foreign(
        {"clip": ["a"], "frame": array, "source": pa.array([2], pa.int64()), "azimuth": pa.array([30], pa.int16())}
    )
    pa.register_extension_type(Trap())
    try:
        table, findings = read(data)
    finally:
        pa.unregister_extension_type("trap")
    assert not findings
    assert table is not None
    assert table.schema.field("source").type == pa.int32()
    assert table.to_pylist() == [{"clip": "a", "frame": 1, "source": 2, "azimuth": 30.0}]
    assert origin_of(table).files == (ClipFile("a", "a.csv"),)


BAD_COLUMNS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"clip": ["a"], "azi": [1.0], "x\n": [1]}, "2 unknown columns: azi, x\\x0a"),
    "no clip": ({"frame": [1]}, "the column clip is missing"),
    "text for numbers": ({"clip": ["a"], "azimuth": ["left"]}, "columns of another type than in an event table: azimuth (string)"),
    "decimals for frames": ({"clip": ["a"], "frame": [1.5]}, "columns of another type than in an event table: frame (double)"),
    "a struct": ({"clip": ["a"], "score": [{"a": 1}]}, "columns of another type than in an event table: score (struct<a: int64>)"),
    "too large": ({"clip": ["a"], "frame": [2**40]}, "values that an event table cannot hold: Integer value 1099511627776 not in range: -2147483648 to 2147483647"),
    "null clip": ({"clip": ["a", None]}, "1 row without a clip"),
    "extra": ({"clip": ["a"], "extra": ["[]"]}, "the column extra holds something other than JSON objects"),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "message"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_bad_columns(columns: dict[str, Any], message: str) -> None:
    table, findings = read(foreign(columns))
    assert table is None
    assert [str(finding) for finding in findings] == [f"x.parquet: SYN302 {message}"]


def test_a_column_that_stands_twice() -> None:
    stream = io.BytesIO()
    pq.write_table(pa.table([pa.array(["a"]), pa.array(["b"])], names=["clip", "clip"]), stream)
    assert str(read(stream.getvalue())[1][0]) == "x.parquet: SYN302 a column appears twice"


FILE = {"clip": "a", "name": "a.csv"}
BAD_METADATA = {
    "no json": b"{",
    "no object": b"[]",
    "no files": b'{"format": "", "vocabulary": "starss"}',
    "unknown list": json.dumps({"format": "", "vocabulary": "mine", "files": [FILE]}).encode(),
    "other clips": json.dumps({"format": "", "vocabulary": "starss", "files": []}).encode(),
    "twice": json.dumps({"format": "", "vocabulary": "starss", "files": [FILE, FILE]}).encode(),
    "format": json.dumps({"format": 5, "vocabulary": "starss", "files": [FILE]}).encode(),
} | {
    f"{key} {value}": json.dumps({"format": "", "vocabulary": "starss", "files": [FILE | {key: value}]}).encode()
    for key, value in [("name", 5), ("newline", "x"), ("final_newline", 1), ("frames", -1), ("frames", 1e9), ("frames", 10**12),
                       ("extra", "[]"), ("extra", 5), ("colour", "red")]
}  # fmt: skip


@pytest.mark.parametrize("metadata", BAD_METADATA.values(), ids=BAD_METADATA)
def test_bad_metadata(metadata: bytes) -> None:
    table, findings = read(foreign({"clip": ["a"]}, {b"seldio": metadata}))
    assert table is None
    assert [str(finding) for finding in findings] == ["x.parquet: SYN302 its seldio metadata cannot be read"]


@given(st.data())
@settings(max_examples=examples(150))
def test_damage_is_a_finding(data: st.DataObject) -> None:
    table = example(40)
    good = packed(table)
    start = data.draw(st.integers(0, len(good) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "remove"]))
    if how == "flip":
        flipped = good[start] ^ (1 << data.draw(st.integers(0, 7)))
        broken = good[:start] + bytes([flipped]) + good[start + 1 :]
    else:
        broken = good[:start] + (b"" if how == "cut" else good[start + data.draw(st.integers(1, 9)) :])
    read_table, findings = read(broken)
    assert [finding.code for finding in findings] in ([], ["SYN301"], ["SYN302"])
    assert (read_table is None) == bool(findings)


def test_flipped_bits_in_the_data_are_noticed() -> None:
    good = packed(example(40))
    column = pq.read_metadata(io.BytesIO(good)).row_group(0).column(1)
    middle = column.dictionary_page_offset + column.total_compressed_size - 3
    _, findings = read(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])
    assert [finding.code for finding in findings] == ["SYN301"]
    assert "the Parquet file is damaged" in findings[0].message


def test_limits_are_checked_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(example(4))
    monkeypatch.setattr(parquet, "MAX_ROWS", 3)
    assert str(read(data)[1][0]) == "x.parquet: SYN301 4 rows, more than 3"
    monkeypatch.setattr(parquet, "MAX_ROWS", 4)
    monkeypatch.setattr(parquet, "MAX_BYTES", 10)
    assert "bytes unpacked, more than 10" in read(data)[1][0].message


def test_what_cannot_be_written() -> None:
    with pytest.raises(UsageError, match="not columns of an event table: azi"):
        packed(pa.table({"clip": ["a"], "azi": [1]}))
    with pytest.raises(UsageError, match="every row of an event table has a clip"):
        packed(pa.table({"clip": pa.array(["a", None])}))
    with pytest.raises(UsageError, match="every row of an event table has a clip"):
        packed(pa.table({"frame": [1]}))
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", "a"]))
    with pytest.raises(UsageError, match="two clips of the table have the same name"):
        packed(pa.table({"clip": twice}))


def test_a_table_of_several_clips_is_not_taken_for_empty_files(tmp_path: Path) -> None:
    """The rows of a Parquet table have no text of their own; its clips are empty where they have no row."""
    from seldio import convert, validate
    from seldio.synth.tree import write_demo

    write_demo(tmp_path)
    convert(tmp_path / "starss23/metadata_dev", tmp_path / "labels.parquet", "parquet")
    assert "SUB105" not in {finding.code for finding in validate(tmp_path / "labels.parquet").findings}


def test_a_table_is_judged_by_the_classes_of_its_rows(tmp_path: Path) -> None:
    """14 classes of TAU-NIGENS 2020, where STARSS has 13."""
    table = tmp_path / "tau.parquet"
    seldio.convert(Path(__file__).parent / "cases/formats/dcase2020", table, "parquet", format="dcase2020")
    assert 13 in seldio.read(table)["class_id"].to_pylist()
    assert seldio.validate(table).findings == []
    assert "class 13" not in str(seldio.info(table))


def test_files_do_not_grow_with_the_square_of_their_clips() -> None:
    def size(clips: int) -> int:
        names = [f"fold1_room{number % 16}_mix{number:06}" for number in range(clips)]
        table = pa.table({"clip": pa.DictionaryArray.from_arrays(pa.array(range(clips), pa.int32()), pa.array(names)),
                          "frame": pa.array(range(clips), pa.int32())})  # fmt: skip
        stream = io.BytesIO()
        write_parquet(table, stream)
        assert (clips + 99) // 100 == pq.ParquetFile(stream).num_row_groups
        return len(stream.getvalue())

    assert size(8_000) < 4.4 * size(2_000)
