"""The JSON layout of 2026."""

from __future__ import annotations

import json
import math
from typing import Any
from unittest import mock

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

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
