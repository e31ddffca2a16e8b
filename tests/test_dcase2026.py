"""The JSON layout of 2026."""

from __future__ import annotations

import json
import math
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seldio import geometry
from seldio.findings import Finding
from seldio.formats import LabelReading, TextFile, dcase_json, get, stem_of
from seldio.schema.events import COLUMNS, ClipFile, origin_of

FORMAT = get("dcase2026")
DETECTION = {
    "metadata_frame_index": 7,
    "instance_id": 3,
    "category_id": 8,
    "score": 0.87,
    "distance": 231.5,
    "segmentation": [[[180.0, 90.0, 0.4]]],
}


def text_file(data: bytes, name: str = "mix001_inference.json") -> TextFile:
    return TextFile(f"sub/{name}", name, stem_of(name), data)


def read(data: bytes) -> tuple[LabelReading, list[Finding]]:
    findings: list[Finding] = []
    return FORMAT.read([text_file(data)], findings.append), findings


def written(reading: LabelReading) -> bytes:
    return FORMAT.write(reading.table, origin_of(reading.table).files[0])


def document(*annotations: Any, **top: Any) -> bytes:
    return json.dumps({**top, "annotations": list(annotations)}, indent=2).encode()


def decimals(low: float, high: float, digits: int) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda number: round(number, digits))


def in_order(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*fields.values()).map(lambda values: dict(zip(fields, values, strict=True)))


TRIPLETS = st.tuples(decimals(0, 360, 4), decimals(0, 180, 4), decimals(0, 1, 6)).map(list)
DETECTIONS = in_order(
    metadata_frame_index=st.integers(0, 6000),
    instance_id=st.integers(0, 40),
    category_id=st.integers(0, 12),
    score=decimals(0, 1, 6),
    distance=decimals(0, 5000, 4),
    segmentation=st.lists(TRIPLETS, min_size=1, max_size=4).map(lambda points: [points]),
)
PIXELS = st.tuples(st.integers(0, 359), st.integers(0, 180), st.floats(0.01, 1)).map(list)
LABELS = in_order(
    video_id=st.integers(0, 9),
    metadata_frame_index=st.integers(0, 6000),
    instance_id=st.integers(0, 5),
    category_id=st.integers(0, 12),
    segmentation=st.lists(st.lists(PIXELS, max_size=3), max_size=3),
    distance=st.integers(0, 900).map(float),
)


@given(st.lists(DETECTIONS, max_size=4), st.booleans())
def test_official_outputs_come_back_byte_identical(annotations: list[dict[str, Any]], labels: bool) -> None:
    for annotation in annotations if labels else []:
        del annotation["score"]
    data = json.dumps({"annotations": annotations}, indent=2).encode()
    reading, findings = read(data)
    assert not findings
    assert written(reading) == data


@given(st.lists(LABELS, min_size=1, max_size=4), st.sampled_from([None, 0, 2, 4]), st.sampled_from(["", "\n"]))
def test_labels_of_another_layout_come_back_too(
    annotations: list[dict[str, Any]], indent: int | None, end: str
) -> None:
    top = {"videos": [{"id": 0, "file_name": "a.hdf"}], "annotations": annotations, "licence": "CC"}
    data = (json.dumps(top, indent=indent) + end).encode()
    reading, findings = read(data)
    assert not findings
    assert written(reading) == data


@given(st.lists(st.lists(TRIPLETS, max_size=3), max_size=3))
def test_the_direction_is_that_of_the_strongest_point(segmentation: list[list[list[float]]]) -> None:
    (row,) = read(document(DETECTION | {"segmentation": segmentation}))[0].table.to_pylist()
    points = [point for polygon in segmentation for point in polygon]
    if not points:
        assert row["azimuth"] is None
        assert row["elevation"] is None
        return
    x, y, _ = max(points, key=lambda point: point[2])  # the first of equals
    assert math.isclose(row["azimuth"], 180.0 - x, abs_tol=1e-8)
    assert math.isclose(row["elevation"], 90.0 - y, abs_tol=1e-8)


ROWS = in_order(
    frame=st.integers(0, 6000),
    class_id=st.integers(0, 12),
    source=st.integers(-1, 9) | st.none(),
    azimuth=st.integers(-180, 180).map(float),
    elevation=st.integers(-90, 90).map(float),
    distance=st.integers(0, 100_000).map(lambda cm: cm / 100) | st.none(),
)
FIELDS = ("frame", "class_id", "source", "azimuth", "elevation", "distance")


@given(st.lists(ROWS, max_size=5))
def test_a_table_without_energy_maps_comes_back(rows: list[dict[str, Any]]) -> None:
    table = pa.table({name: pa.array([row[name] for row in rows], COLUMNS[name]) for name in FIELDS})
    again, findings = read(FORMAT.write(table, ClipFile("mix001", "mix001_inference.json", final_newline=False)))
    assert all(finding.code == "SYN215" for finding in findings)  # unknown sources and distances are left out
    assert again.table.select(table.column_names).equals(table)
    assert all(len(row) == 1 and row[0][0][2] == 1.0 for row in again.table["segmentation"].to_pylist())


def test_a_table_without_sources_gets_instance_0() -> None:
    table = pa.table({"frame": [1], "class_id": [2], "azimuth": [90.0], "elevation": [0.0], "distance": [1.81]})
    (annotation,) = json.loads(FORMAT.write(table, ClipFile("a", "a.json")))["annotations"]
    assert list(annotation) == ["metadata_frame_index", "instance_id", "category_id", "distance", "segmentation"]
    assert annotation["instance_id"] == 0
    assert annotation["distance"] == 181.0  # exactly, though 1.81 * 100 is 181.00000000000003
    x, y = geometry.to_pixels(90.0, 0.0, *geometry.MAP)
    assert annotation["segmentation"] == [[[float(x), float(y), 1.0]]]


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no frame": ({"metadata_frame_index": ...}, "3:5: SYN211 metadata_frame_index is missing", None),  # type: ignore[dict-item]
    "source true": ({"instance_id": True}, "5:22: SYN212 instance_id is true, but must be a whole number", "true"),
    "huge class": ({"category_id": 2**40}, "6:22: SYN212 category_id is 1099511627776, but must be a whole number of at most 32 bits", "1099511627776"),
    "score null": ({"score": None}, "7:16: SYN212 score is null, but must be a number", "null"),
    "distance list": ({"distance": []}, "8:19: SYN212 distance is an empty array, but must be a number", "[]"),
    "segmentation null": ({"segmentation": None}, "9:23: SYN212 malformed segmentation: null instead of an array", "null"),
    "a point too high": ({"segmentation": [[1]]}, "11:11: SYN212 malformed segmentation: 1 instead of a point", "1"),
    "numbers for polygons": ({"segmentation": [1]}, "10:9: SYN212 malformed segmentation: 1 instead of an array of points", "1"),
    "pairs": ({"segmentation": [[[1, 2]]]}, "11:11: SYN212 malformed segmentation: a point of 2 numbers, not x, y and energy", None),  # type: ignore[dict-item]
    "true in a point": ({"segmentation": [[[1, 2, True]]]}, "14:13: SYN212 malformed segmentation: true instead of a coordinate", "true"),
    "huge pixel": ({"segmentation": [[[2**60, 2, 3]]]}, "12:13: SYN212 malformed segmentation: 1152921504606846976 instead of a coordinate", None),  # type: ignore[dict-item]
}  # fmt: skip


@pytest.mark.parametrize(("change", "expected", "value"), WRONG.values(), ids=WRONG)
def test_wrong_values(change: dict[str, Any], expected: str, value: str | None) -> None:
    wrong = {key: value for key, value in (DETECTION | change).items() if value is not ...}
    reading, findings = read(document(wrong, DETECTION))
    assert [str(finding) for finding in findings] == [f"sub/mix001_inference.json:{expected}"]
    assert value is None or findings[0].value == value
    assert reading.table["frame"].to_pylist() == [7]  # the sound one is read all the same
    place = reading.parts[0].place(0, "azimuth")
    assert reading.parts[0].place(0, "segmentation").line == place.line > (findings[0].line or 0)
    assert reading.parts[0].place(0, "distance").value == "231.5"


@pytest.mark.parametrize(("key", "field"), [("instance_id", "source"), ("distance", "distance")])
def test_keys_that_scorers_do_without_are_one_warning(key: str, field: str) -> None:
    short = {name: value for name, value in DETECTION.items() if name != key}
    data = document(DETECTION, short, short)
    reading, findings = read(data)
    assert [str(finding) for finding in findings] == [
        f"sub/mix001_inference.json:19:5: SYN215 {key} is missing in 2 annotations"
    ]
    assert findings[0].severity == "warning"
    assert reading.table[field].null_count == 2
    assert written(reading) == data


@given(st.data())
def test_damage_gives_findings_and_no_exceptions(data: st.DataObject) -> None:
    good = document(DETECTION, DETECTION)
    start = data.draw(st.integers(0, len(good)))
    insert = data.draw(
        st.sampled_from([b"", b"[", b"]", b"{}", b"1e999", b'"', b"null", b"-", b",", b"NaN", b"\xff", b"true"])
    )
    broken = good[:start] + insert + good[data.draw(st.integers(start, len(good))) :]
    reading, findings = read(broken)
    places = [reading.parts[0].place(row, "azimuth") for row in range(reading.table.num_rows)]
    assert all(place.line > 0 for place in places)
    assert reading.table.num_rows <= 2
    assert findings or reading.parts[0].readable


ODD = [
    *b" 0 .0 e2 - 00 1e999 9007199254740993 99999999999 true null NaN [ ] {} , \\ \xff //".split(b" "),
    *(b'"1"', b'"score": 1,', b'"distance": 3,', b'"colour": "red",', b" ", b"\n"),
]


@given(st.data())
def test_the_quick_and_the_long_way_read_the_same(data: st.DataObject) -> None:
    annotations = data.draw(st.lists(DETECTIONS | LABELS, max_size=3))
    for annotation in annotations:
        annotation.pop("video_id", None)
    good = document(*annotations)
    start = data.draw(st.integers(0, len(good)))
    changed = good[:start] + data.draw(st.sampled_from(ODD)) + good[start + data.draw(st.integers(0, 3)) :]
    assert dcase_json._columns_of(document(DETECTION)) is not None
    if dcase_json._columns_of(changed) is None:
        return
    quick, findings = read(changed)
    with mock.patch.object(dcase_json, "_columns_of", return_value=None):
        long, more = read(changed)
    assert not findings + more
    assert quick.table.equals(long.table, check_metadata=True)
