"""The JSON layouts of questions and predictions: places, bytes that come back, and hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from seldio.findings import Finding, raise_errors
from seldio.formats import harnesses
from seldio.formats.items import ItemReading, Row
from seldio.formats.json_items import FORMATS, ITEMS, PREDICTIONS, SO_BENCH, SO_DATASET, SO_PREDICTIONS, JsonItems
from seldio.schema.qa import Item, Prediction

HARNESSES = [format for format in harnesses.FORMATS if isinstance(format, JsonItems)]
each = pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
QA = {"qa_id": "q1", "audio_path": "a.wav", "task_name": "detect_time", "question": "When?", "answer": "now",
      "answer_meta": {"time_span": [18.5, 20.0]}}  # fmt: skip


def look(format: JsonItems, data: bytes, path: str = "x.jsonl") -> tuple[ItemReading | None, list[Finding]]:
    found: list[Finding] = []
    return format.read(data, path, found.append), found


def rows(format: JsonItems, data: bytes, path: str = "x.jsonl") -> list[Row]:
    reading = format.read(data, path, raise_errors)
    return list(reading.rows)


def back(format: JsonItems, data: bytes, path: str = "x.jsonl") -> bytes:
    reading, _ = look(format, data, path)
    return format.write(reading.rows, reading.origin)


def told(data: bytes | str) -> Any:
    """What a text holds: values, and the order of the keys of each record."""
    text = data if isinstance(data, str) else data.decode()
    try:
        value = json.loads(text)
    except ValueError:
        value = [json.loads(row) for row in text.split("\n") if row.strip()]
    return _in_order(value)


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, _in_order(one) if isinstance(one, list) else one) for key, one in value.items()]
    return list(map(_in_order, value)) if isinstance(value, list) else value


def line(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


LAYOUTS = {
    "lines": line(QA) + line(QA | {"qa_id": "q2"}),
    "crlf": (line(QA) + line(QA | {"qa_id": "q2"})).replace(b"\n", b"\r\n"),
    "mixed ends": line(QA) + line(QA | {"qa_id": "q2"}).replace(b"\n", b"\r\n") + line(QA | {"qa_id": "q3"}),
    "compact": json.dumps(QA, separators=(",", ":")).encode() + b"\n",
    "whole numbers": line(QA | {"answer_meta": {"time_span": [18, 2e1], "note": None}}),
    "odd spaces": line(QA).replace(b'": ', b'" :  ').replace(b"\n", b"  \n"),
    "odd first": line(QA).replace(b"18.5", b"18.50") + line(QA),
    "line separators": line(QA | {"answer": "a\u2028b\u2029c\x85d"}),
}  # fmt: skip
DOCUMENTS = {
    "list": json.dumps([QA, QA | {"qa_id": "q2"}], indent=2),
    "list of tabs": json.dumps([QA, QA], indent="\t") + "\n",
    "list on a line": json.dumps([QA, QA]) + "\n\n",
    "crlf list": json.dumps([QA, QA], indent=4).replace("\n", "\r\n"),
    "empty list": " [ ]\n",
    "records": json.dumps({"version": 1, "records": [QA, QA], "more": {"x": [1]}}, indent=1),
    "data": json.dumps({"data": [QA]}, separators=(",", ":")),
    "alone": json.dumps(QA, indent=3) + "\n",
    "ragged": '[{"qa_id": "1", "audio_path": "a", "task_name": "t", "question": "?", "answer": "x"} ,\n'
    '\n {"qa_id":"2","audio_path":"a","task_name":"t","question":"?","answer":"x"}\t]',
    "lines in .json": (line(QA) + line(QA)).decode(),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_lines(name: str) -> None:
    written = back(SO_BENCH, LAYOUTS[name])
    assert told(written) == told(LAYOUTS[name])
    assert name in ("mixed ends", "whole numbers", "odd spaces", "odd first") or written == LAYOUTS[name]
    assert SO_BENCH.likes(LAYOUTS[name], "-") > 0.9


@pytest.mark.parametrize("name", DOCUMENTS)
def test_layouts_of_documents(name: str) -> None:
    data = DOCUMENTS[name].encode()
    for path in ("x.json", "-"):
        assert [] == look(SO_BENCH, data, path)[1]
        assert told(back(SO_BENCH, data, path)) == told(data)
        assert name == "ragged" or back(SO_BENCH, data, path) == data
    assert name in ("empty list", "ragged") or SO_BENCH.likes(data, "-") > 0.9


NULLS = [
    (SO_BENCH, QA | {"split": None, "answer": None, "canonical_answer": None, "answer_meta": None, "note": None}),
    (SO_BENCH, QA | {"answer_meta": {"time_span": [18.5, 20.0], "onset_time": None}, "audio_id": None, "language": None}),
    (SO_DATASET, {"qa_id": "q", "audio_path": "a.wav", "question": "?", "answer": None, "dataset": None,
                  "source_refs": [{"class_id": None, "class_name": "bell", "azimuth_deg": None, "start_time": 0.5}]}),
    (SO_PREDICTIONS, {"qa_id": "q", "audio_path": None, "task_name": None, "prediction": None}),
]  # fmt: skip


@pytest.mark.parametrize(("format", "record"), NULLS)
def test_nulls_come_back_through_other_formats(format: JsonItems, record: dict[str, Any]) -> None:
    here = rows(format, line(record))
    own = ITEMS if format.holds == "items" else PREDICTIONS

    there = rows(own, own.write(here))

    assert there == here
    assert json.loads(b"".join(format.write(there).splitlines()).strip(b"[]")) == record


text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
seconds = st.floats(0, 1e6)
angle = st.floats(-90, 90)
json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=4,
)
names = text.map(lambda name: f"x-{name}")  # never a key of a format
extra = st.none() | st.dictionaries(names, json_value, min_size=1, max_size=3)
meta = st.fixed_dictionaries(
    {},
    optional={"azimuth_deg": angle, "time_span": st.lists(seconds, min_size=2, max_size=2), "active_count": st.integers(0, 9),
              "keywords": st.lists(text, max_size=2)},
)  # fmt: skip
proof = st.fixed_dictionaries({"class_name": text}, optional={"azimuth": angle, "onset": seconds, "extra": extra})
items = st.fixed_dictionaries(
    {"id": text, "audio": st.lists(text, max_size=2), "question": text},
    optional={
        "task": text, "options": st.lists(text, max_size=4), "answer": text, "canonical_answer": text, "split": text,
        "answer_meta": meta, "dataset": text, "events": st.lists(proof, max_size=2), "language": text, "extra": extra,
        "start": seconds, "end": seconds, "instruction": text,
    },
).map(Item.model_validate)  # fmt: skip
predictions = st.fixed_dictionaries(
    {"id": text, "prediction": text},
    optional={"audio": st.lists(text, max_size=2), "task": text, "prompt": text, "extra": extra},
).map(Prediction.model_validate)


def carried(format: JsonItems, row: Row) -> Row:
    return type(row).model_validate({name: v for name, v in row.model_dump().items() if name in format.carries})


@each
@settings(max_examples=examples(50))
@given(data=st.data())
def test_what_was_written_is_read(format: JsonItems, data: st.DataObject) -> None:
    given_rows: Any = data.draw(st.lists(items if format.holds == "items" else predictions, max_size=3))
    given_rows = [carried(format, row) for row in given_rows]
    written = format.write(given_rows)
    reading, found = look(format, written, "x" + format.suffix)
    assert [f for f in found if f.code not in ("SYN211", "SYN215")] == []
    assert reading.rows == given_rows
    again, _ = look(format, format.write(reading.rows, reading.origin), "x" + format.suffix)
    assert again.rows == given_rows


@pytest.mark.parametrize("format", [*FORMATS, *HARNESSES], ids=lambda format: format.name)
def test_examples(format: JsonItems) -> None:
    folder = Path(__file__).parent / "cases/formats-items" / format.name
    expected = [json.loads(text) for text in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    for path in folder.iterdir():
        if path.name != "rows.jsonl":
            data = path.read_bytes()
            assert [row.model_dump(exclude_none=True) for row in rows(format, data, path.name)] == expected
            assert told(back(format, data, path.name)) == told(data)
            assert rows(format, format.write(rows(format, data, path.name)), path.name) == rows(format, data, path.name)
            assert max([*FORMATS, *HARNESSES], key=lambda other: other.likes(data, path.name)) is format


def test_a_key_that_stands_twice_is_found_among_thousands() -> None:
    line = b'{"qa_id": "q%d", "audio_path": "a.wav", "task_name": "t", "question": "\\"?\\\\", "answer": "x"}\n'
    lines = [line % number for number in range(3000)]
    lines[1234] = lines[1234].replace(b'"answer"', b'"answer": "y", "answer"')
    found: list[Finding] = []
    reading = SO_BENCH.read(b"".join(lines), "x.jsonl", found.append)
    assert len(reading.rows) == 3000
    assert [(one.code, one.line) for one in found] == [("SYN202", 1235)]
