"""Questions in columns say what single questions say: models, cuts of a file, and the ways to write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from seldio import formats
from seldio.conversion.items import convert_items
from seldio.findings import Finding
from seldio.formats import ItemFormat, item_parquet, json_records
from seldio.formats.json_items import JsonItems
from seldio.formats.qa_json import ITEMS, MMAR, PREDICTIONS, SO_BENCH, SO_DATASET, SO_PREDICTIONS
from seldio.schema.flaws import row_of

FORMATS = (SO_BENCH, SO_PREDICTIONS, SO_DATASET, MMAR, ITEMS, PREDICTIONS)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, 0, 1, -1, 2**31, 2**63, 1.5, 270, 1e308, 2.0, "", "a", 'q"\\', "é\u2028", "left"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["time_span", "azimuth_deg", "active_count", "class_name", "x"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


def records(format: JsonItems) -> st.SearchStrategy[dict[str, Any]]:
    """Records with keys of a format and others, most of them of the right type."""
    right = {key: {"id": "q1", "question": "Who?"}.get(field, "text") for key, field in format.keys.items()}
    keys = st.sampled_from([*format.keys, *format.instead, "extra", "more", "language", "start"])
    return st.dictionaries(keys, VALUES, max_size=4).map(
        lambda some: {key: right[key] for key in format.required} | some
    )


@pytest.mark.slow
@settings(max_examples=examples(120), deadline=None)
@given(st.data())
def test_many_records_are_read_like_single_ones(data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(FORMATS))
    some = data.draw(st.lists(records(format), min_size=1, max_size=12))
    lines = [json.dumps(record, ensure_ascii=data.draw(st.booleans())).encode() + b"\n" for record in some]

    together: list[Finding] = []
    reading = format.read(b"".join(lines), "x.jsonl", together.append)
    rows = [] if reading is None else list(reading.rows)
    singly = [format.read(line, "x.jsonl", lambda _: None) for line in lines]
    assert rows == [row for one in singly if one is not None for row in one.rows]
    assert {found.line for found in together if found.severity == "error"} >= {
        number for number, one in enumerate(singly, 1) if one is None or not one.rows
    }
    for record, one in zip(some, singly, strict=True):
        values = {field: value for field, (value,) in format.fields([record]).items()}
        if one is not None and one.rows and isinstance(values.get("id"), str | None):
            assert one.rows[0] == row_of(format.model, values)
    if reading is not None and rows:
        written = [json.loads(line) for line in format.write(rows).splitlines()]
        assert written == [json.loads(json.dumps(format.record(row))) for row in rows]


def test_a_key_that_stands_twice_is_found_among_thousands() -> None:
    line = b'{"qa_id": "q%d", "audio_path": "a.wav", "task_name": "t", "question": "\\"?\\\\", "answer": "x"}\n'
    lines = [line % number for number in range(3000)]
    lines[1234] = lines[1234].replace(b'"answer"', b'"answer": "y", "answer"')
    found: list[Finding] = []
    reading = SO_BENCH.read(b"".join(lines), "x.jsonl", found.append)
    assert reading is not None
    assert len(reading.rows) == 3000
    assert [(one.code, one.line) for one in found] == [("SYN202", 1235)]


@pytest.mark.parametrize("name", ["items", "items-parquet", "so-bench"])
def test_any_cut_is_converted_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    record = {"qa_id": "q", "audio_path": "a.wav", "task_name": "count_sources", "question": "?", "answer": "2"}
    some = [record | {"qa_id": f"q{number}", "answer_meta": {"active_count": 2}} for number in range(400)]
    lines = [json.dumps(each if number % 7 else dict(reversed(each.items()))) for number, each in enumerate(some)]
    source, target = tmp_path / "qa.jsonl", formats.get(name, ItemFormat)
    source.write_text("\n".join(lines), "utf-8")
    whole = tmp_path / f"whole{target.suffix}"
    convert_items(source, whole, target)
    monkeypatch.setattr(json_records, "_RUN_BYTES", 900)
    monkeypatch.setattr(item_parquet, "GROUP", 64 if name != "items-parquet" else item_parquet.GROUP)
    cut = tmp_path / f"cut{target.suffix}"
    convert_items(source, cut, target)
    assert cut.read_bytes() == whole.read_bytes()

    table, back = tmp_path / "x.parquet", tmp_path / "back.jsonl"
    convert_items(source, table, formats.get("items-parquet", ItemFormat))
    convert_items(table, back, SO_BENCH)
    assert back.read_bytes() == source.read_bytes()
