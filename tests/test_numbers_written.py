"""Numbers that are none, or that no file of a format can hold, never leave: nothing is written, and the row is named."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
import pytest

import seldio
from seldio.errors import InvalidData
from seldio.formats import LABEL_FORMATS, LabelFormat
from seldio.formats.label_csv import Dialect

ROWS = {
    "clip": ["a", "a", "b"], "frame": [0, 1, 2], "onset": [0.0, 0.1, 0.2], "offset": [0.1, 0.2, 0.3],
    "class_id": [1, 1, 2], "source": [0, 0, 1], "azimuth": [10.0, 20.0, 30.0], "elevation": [0.0, 1.0, 2.0],
    "distance": [1.0, 2.0, 1.5], "onscreen": [True, False, True], "score": [0.5, 0.5, 0.5],
}  # fmt: skip
FLOATS = ("azimuth", "elevation", "distance", "onset", "offset", "score")
HELD = [
    pytest.param(format, field, id=f"{format.name}-{field}")
    for format in LABEL_FORMATS for field in FLOATS if field in format.carries
]  # fmt: skip


def _rows(format: LabelFormat, field: str, value: float | None) -> pa.Table:
    kept = {name: list(values) for name, values in ROWS.items() if name in format.carries}
    if {"onset", "frame"} <= kept.keys():
        del kept["frame"]
    kept[field][2] = value
    return pa.table(kept)


def _refused(format: LabelFormat, field: str, table: pa.Table, folder: Path) -> str:
    """What is said of the table; nothing is written."""
    out = folder / ("out.parquet" if format.role == "table" else "out")
    with pytest.raises(seldio.SeldioError) as caught:
        seldio.write(table, out, format.name, allow_loss="all", force=True)
    assert not out.exists(), "a file was written"
    return str(caught.value)


@pytest.mark.parametrize(("format", "field"), HELD)
def test_no_number(format: LabelFormat, field: str, tmp_path: Path) -> None:
    for value in (math.nan, -math.inf):
        said = _refused(format, field, _rows(format, field, value), tmp_path)
        assert f"{field} in row 3 (row 1 of clip b) is {value}, not a finite number" in said


@pytest.mark.parametrize(("format", "field"), [case for case in HELD if case.values[0].role != "table"])
def test_too_large(format: LabelFormat, field: str, tmp_path: Path) -> None:
    for value in (-3e9, 1e300) if field != "score" else ():
        said = _refused(format, field, _rows(format, field, value), tmp_path)
        assert (
            f"{field} in row 3 (row 1 of clip b) is {value:g}: {format.name} has numbers of up to nine digits" in said
        )


@pytest.mark.parametrize(
    "format", [one for one in LABEL_FORMATS if "distance" in one.carries], ids=lambda one: one.name
)
def test_an_unknown_distance_is_no_0(format: LabelFormat, tmp_path: Path) -> None:
    """It stays unknown where the format has a word for that; where it has none, nothing is written."""
    table = _rows(format, "distance", None)
    if isinstance(format, Dialect) and format.unknown_distance is None:
        said = _refused(format, "distance", table, tmp_path)
        assert f"{format.name} needs distance (1 of 3 rows have none)" in said
        return
    out = tmp_path / ("out.parquet" if format.role == "table" else "out")
    fill = {"class_id": 0} if format.role != "table" else {}  # not every list has these classes
    written = seldio.write(table, out, format.name, allow_loss="all", fill=fill)
    read = seldio.read(written[-1], format=format.name)
    known = read["distance"].to_pylist() if "distance" in read.column_names else [None]
    assert known[-1] is None, "an unknown distance became a number"


def test_a_polygon_with_no_number(tmp_path: Path) -> None:
    format = seldio.formats.get("dcase2026")
    table = _rows(format, "distance", 1.5)
    spots = [[[[1.0, 2.0, 1.0]]], None, [[[1.0, math.nan, 1.0]]]]
    table = table.append_column("segmentation", pa.array(spots, pa.list_(pa.list_(pa.list_(pa.float64())))))
    assert "segmentation in row 3" in _refused(format, "segmentation", table, tmp_path)


def test_conversions_are_held_back_alike(tmp_path: Path) -> None:
    """A Parquet table from elsewhere is no way around it."""
    import pyarrow.parquet as pq

    pq.write_table(_rows(seldio.formats.get("starss23"), "azimuth", math.nan), tmp_path / "labels.parquet")
    with pytest.raises(seldio.SeldioError, match="azimuth in row 3"):
        seldio.convert(tmp_path / "labels.parquet", tmp_path / "out", "starss23", force=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("format", "number"), [("items", "start"), ("so-bench", "start"), ("predictions", "extra")])
def test_questions_hold_no_such_numbers(format: str, number: str, tmp_path: Path) -> None:
    text = "prediction" if format == "predictions" else "question"
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "1", text: "3 m", number: math.nan}) + "\n")
    with pytest.raises(InvalidData, match="SYN203 NaN is not JSON"):
        seldio.convert(tmp_path / "in.jsonl", tmp_path / "out.jsonl", format)
    assert not (tmp_path / "out.jsonl").exists()
