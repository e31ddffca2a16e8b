"""JASCO's csv files, and the quoted csv below them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import seldio
from seldio.errors import DataError, LossError
from seldio.findings import Finding
from seldio.formats.csv_text import CsvLayout, rows, written
from seldio.formats.items import ItemReading
from seldio.formats.qa_csv import FORMATS, INSTRUCTIONS, JASCO, JASCO_PREDICTIONS
from seldio.schema.qa import Item, Prediction

HEADER = ",".join(JASCO.columns)
CSV_CHARACTERS = st.text(st.sampled_from('ab,"\r\n é\u2028'), max_size=30)


def read(format: object, text: str | bytes) -> tuple[ItemReading | None, list[Finding]]:
    found: list[Finding] = []
    data = text.encode() if isinstance(text, str) else text
    return format.read(data, "x.csv", found.append), found  # type: ignore[attr-defined]


def clean(format: object, data: str | bytes) -> ItemReading:
    reading, found = read(format, data)
    assert [] == found
    assert reading is not None
    return reading


@pytest.fixture(scope="session")
def jasco(shared: Path) -> Path:
    return shared / "data" / "jasco"


@pytest.mark.parametrize(
    ("format", "name", "count"), [(JASCO, "v0.csv", 80), (JASCO_PREDICTIONS, "predictions-example.csv", 640)]
)
def test_real_files_come_back_byte_for_byte(jasco: Path, format, name: str, count: int) -> None:
    data = (jasco / name).read_bytes()
    reading = clean(format, data)
    assert count == len(reading.rows)
    assert data == format.write(reading.rows, reading.origin)
    assert data == format.write(reading.rows)
    assert [1.0] == [other.likes(data, name) for other in FORMATS if other is format]
    assert {0.0} == {other.likes(data, name) for other in FORMATS if other is not format}


def test_the_instructions_are_those_of_the_seed(shared: Path) -> None:
    seed = (shared / "seeds" / "jasco.txt").read_text("utf-8", errors="replace")
    block = re.search(r"switch the position.*?```\n(.*?)```", seed, re.DOTALL)
    assert tuple(line for line in block[1].splitlines() if line) == INSTRUCTIONS


def test_the_place_of_a_keyword() -> None:
    reading = clean(JASCO, f'{HEADER}\n1,a,b,c,d,e,",movie ,TV ""show"""\n2,a,b,c,d,e,one\n')
    found = [reading.place(row, "answer_meta", number) for row, number in ((0, 0), (0, 1), (0, 2), (1, 0))]
    assert [(2, 15, 20), (2, 22, 33), (2, 14, 33), (3, 13, 16)] == [(at.line, at.column, at.end_column) for at in found]


def prediction(id: str = "1", **fields: object) -> Prediction:
    extra = {name: "" for name in JASCO_PREDICTIONS.columns if name not in JASCO_PREDICTIONS.fields.values()}
    return Prediction.model_validate({"id": id, "prompt": "", "extra": extra, **fields})


def test_a_column_that_is_new_goes_behind_the_others() -> None:
    reading = clean(JASCO_PREDICTIONS, JASCO_PREDICTIONS.write([prediction()]))
    judged = [row.model_copy(update={"extra": {**(row.extra or {}), "judge": "both"}}) for row in reading.rows]
    data = JASCO_PREDICTIONS.write(judged, reading.origin)
    assert data.decode().splitlines()[0] == ",".join((*JASCO_PREDICTIONS.columns, "judge"))
    assert judged == clean(JASCO_PREDICTIONS, data).rows


def test_no_output_and_an_empty_output_stay_apart() -> None:
    pair = [prediction(prediction=None), prediction(prediction="")]
    data = JASCO_PREDICTIONS.write(pair)
    assert data.endswith(b',\n1,,,,,,,,,,,""\n')
    assert pair == clean(JASCO_PREDICTIONS, data).rows


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("", None),
        (" a , b ", ["a", "b"]),
        ("a,,b,", ["a", "b"]),
        ("movie, TV show", ["movie", "TV show"]),
    ],
)
def test_keywords(cell: str, words: list[str] | None) -> None:
    reading = clean(JASCO, f'{HEADER}\n1,a,b,c,d,e,"{cell}"\n')
    row = reading.rows[0]
    assert words == (row.answer_meta.keywords if row.answer_meta else None)
    assert reading.rows == clean(JASCO, JASCO.write(reading.rows, reading.origin)).rows


ITEM, PREDICTION = Item(id="1", answer="a dog"), Prediction(id="1", prompt="p")


@pytest.mark.parametrize(
    ("row", "change", "says"),
    [
        (ITEM, {"question": INSTRUCTIONS[1]}, "cannot carry question "),
        (ITEM, {"audio": ["other.wav"]}, "cannot carry audio "),
        (ITEM, {"answer_meta": {"azimuth_deg": 3.0}}, "cannot carry answer_meta "),
        (ITEM, {"answer_meta": {"keywords": ["a,b"]}}, "cannot carry answer_meta "),
        (ITEM, {"extra": {"level": 3}}, "cannot carry extra "),
        (ITEM, {"extra": {"Correct Answer": "x"}}, "cannot carry extra "),
        (PREDICTION, {"audio": ["a", "b"]}, "cannot carry audio "),
        (PREDICTION, {"extra": {"prompt": "x"}}, "cannot carry extra "),
        (ITEM, {"answer": "a\0b"}, "1 NUL byte"),
        (ITEM, {"answer": "\ud800"}, "surrogates"),
    ],
)
def test_what_its_files_cannot_hold(row: Item | Prediction, change: dict[str, Any], says: str, tmp_path: Path) -> None:
    changed = type(row).model_validate(row.model_dump() | change)
    name = "jasco" if isinstance(row, Item) else "jasco-predictions"
    with pytest.raises(LossError if "carry" in says else DataError, match=says):
        seldio.write([changed], tmp_path / "out.csv", format=name)
    assert not any(tmp_path.iterdir())


@given(
    st.binary(max_size=200) | st.text('",\r\n;a\ufeff', max_size=60).map(lambda text: (HEADER + "\n" + text).encode())
)
@example(HEADER.encode() + b'\n"')
def test_no_exception_for_any_bytes(data: bytes) -> None:
    for format in FORMATS:
        format.likes(data, "x.csv")
        reading, found = read(format, data)
        assert reading is not None or found
        for number in range(len(reading.rows) if reading is not None else 0):
            reading.place(number, "id", None)
        if reading is not None and not found:
            assert reading.rows == clean(format, format.write(reading.rows, reading.origin)).rows


@given(
    st.lists(st.lists(CSV_CHARACTERS.map(lambda cell: cell.replace("\r", "")), min_size=1, max_size=4), max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_pythons_csv_writes_the_same(table: list[list[str]], newline: str) -> None:
    """But for a lone CR, which older versions of Python write without quotes."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=newline).writerows(table)
    expected = stream.getvalue()
    assert table == list(csv.reader(io.StringIO(expected, newline="")))
    ours = written(table, CsvLayout(newline=newline))
    assert expected == ours
    assert table == [row.values for row in rows(written(table))]


@given(CSV_CHARACTERS)
@example('"a""')
@example('"a"b"c,d"\r\r\n""')
def test_cells_are_those_of_pythons_csv(text: str) -> None:
    expected = list(csv.reader(io.StringIO(text, newline="")))
    assert expected == [[] if row.blank else row.values for row in rows(text)]
