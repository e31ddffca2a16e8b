"""Questions and predictions as Parquet: nothing lost, bytes that come back, tables of others, damage."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import invoke
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_qa_json import told

from seldio import formats, validate, write
from seldio.conversion.dispatch import convert_any
from seldio.conversion.questions import QuestionOptions
from seldio.errors import DataError, LossError, UsageError
from seldio.findings import Finding, raise_errors
from seldio.formats import format_of_file
from seldio.formats.items import ItemFormat, ItemReading
from seldio.formats.qa_csv import QUESTION
from seldio.schema.qa import Item, Prediction
from tests.test_qa_json import items, predictions

ITEMS, PREDICTIONS = formats.get("items-parquet", ItemFormat), formats.get("predictions-parquet", ItemFormat)
SO: dict[str, Any] = {
    "qa_id": "q1", "split": "test", "audio_id": "a", "audio_path": "a.wav", "task_name": "detect_time",
    "question_class": "detect", "answer_format": "structured_text", "question": "When?", "answer": "now",
    "canonical_answer": "1.0s to 2.5s", "answer_meta": {"time_span": [1.0, 2.5]},
}  # fmt: skip
RU = {"instruction": "{question}", "inputs": {"audio": {"bytes": b"RIFF", "path": "samples/1.wav"}, "question": "Что?",
      "option_a": "да", "option_b": "нет", "option_c": None, "option_d": None}, "outputs": "A",
      "meta": {"id": 1, "categories": {"task_type": "t", "source_dataset": "s"}}}  # fmt: skip


def packed(rows: list[dict[str, Any]] | pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def look(data: bytes, format: ItemFormat = ITEMS) -> tuple[ItemReading | None, list[Finding]]:
    found: list[Finding] = []
    return format.read(data, "x.parquet", found.append), found


def clean(data: bytes, format: ItemFormat = ITEMS) -> ItemReading:
    reading = format.read(data, "x.parquet", raise_errors)
    assert reading is not None
    return reading


def convert(source: Path, out: Path, to: str, *allow_loss: str) -> Path:
    convert_any(source, out, to, None, allow_loss, {}, QuestionOptions())
    return out


REAL = ["so-bench/qa.jsonl", "so-bench/predictions.jsonl", "so-bench/so_dataset_sample.partial.json", "jasco/v0.csv",
        "jasco/predictions-example.csv", "ruenvaqa/records.jsonl",
        "ruenvaqa/mera-submission-bad/BPS.json", "mmau/mmau-test-mini.json"]  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_real_files_come_back(shared: Path, tmp_path: Path, name: str) -> None:
    source = shared / "data" / name
    kind = format_of_file(source.read_bytes(), name)
    table = convert(source, tmp_path / "x.parquet", "parquet")

    back = convert(table, tmp_path / "back", kind.name).read_bytes()
    assert back == source.read_bytes() or told(back) == told(source.read_bytes())
    assert convert(source, tmp_path / "y.parquet", "parquet").read_bytes() == table.read_bytes()
    assert convert(table, tmp_path / "z.parquet", "parquet").read_bytes() == table.read_bytes()
    assert not validate(table).summary()["errors"]
    row = (formats.named(f"{kind.holds}-parquet", ItemFormat) or ITEMS).read(table.read_bytes(), "x", raise_errors)
    text = kind.read(source.read_bytes(), name, raise_errors)
    assert row.rows == text.rows


@given(st.lists(items, max_size=4), st.lists(predictions, max_size=4))
def test_rows_come_back(questions: list[Item], outputs: list[Prediction]) -> None:
    for format, rows in ((ITEMS, questions), (PREDICTIONS, outputs)):
        data = format.write(rows)
        assert format_of_file(data, "-") is format
        reading = clean(data, format)
        assert list(reading.rows) == rows
        orders = [list(row.extra or {}) for row in reading.rows]
        assert orders == [list(row.extra or {}) for row in rows]
        assert format.write(reading.rows, reading.origin) == data


def test_recordings_inside_a_table_are_a_loss_with_a_name(tmp_path: Path) -> None:
    source, other = tmp_path / "x.parquet", tmp_path / "other.parquet"
    source.write_bytes(packed([RU, RU | {"meta": {"id": 2, "categories": {"task_type": "t", "source_dataset": "s"}}}]))
    paths = [RU | {"inputs": dict(RU["inputs"], audio={"bytes": None, "path": "samples/1.wav"})}]  # type: ignore[call-overload]
    schema = pa.Table.from_pylist([RU]).schema
    other.write_bytes(packed(pa.Table.from_pylist(paths, schema)))

    with pytest.raises(LossError, match="recordings inside the table"):
        convert(source, tmp_path / "x.json", "ruenvaqa")
    done = json.loads(convert(source, tmp_path / "x.json", "ruenvaqa", "audio").read_text("utf-8"))
    assert [record["inputs"]["audio"] for record in done["data"]] == ["samples/1.wav"] * 2
    assert [record["meta"]["id"] for record in done["data"]] == [1, 2]
    assert convert(other, tmp_path / "y.json", "ruenvaqa").exists()


WRONG: dict[str, tuple[pa.Table, str]] = {
    "unknown columns": (pa.table({"x": [1]}), "SYN302"),
    "another type": (pa.table({"id": [1], "question": ["?"]}), "SYN212"),
    "no id": (pa.table({"id": pa.array([None], pa.string()), "question": ["?"]}), "SYN212"),
    "extra that is no json": (pa.table({"id": ["1"], "question": ["?"], "extra": ["{"]}), "SYN212"),
    "extra that is deep": (pa.table({"id": ["1"], "question": ["?"], "extra": ["[" * 200_000]}), "SYN212"),
    "events that are none": (pa.table({"id": ["1"], "question": ["?"], "events": [["bell"]]}), "SYN212"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables(name: str) -> None:
    table, code = WRONG[name]
    reading, found = look(packed(table))

    assert {finding.code for finding in found} == {code}
    assert reading is None or not reading.rows


METADATA: list[object] = [
    {"holds": "items", "format": "so-bench", "origin": {"order_of": {"x": 7}, "orders": [["qa_id"]]}},
    {"holds": "items", "format": "so-bench", "origin": {"order_of": {"x": -1}, "orders": [["qa_id"]]}},
    {"holds": "items", "format": "so-bench", "origin": {"orders": [[1]]}},
    "{", [], {"holds": "items", "format": "so-bench", "origin": []}, {"holds": "items", "format": "nothing"},
    {"holds": "items", "format": "so-bench", "origin": {"layout": {"joint": 5}}},
    {"holds": "items", "format": "ruenvaqa", "origin": {"layout": {"newline": [], "head": 1}}},
    {"holds": "items", "format": "predictions", "origin": {}},
]  # fmt: skip


@pytest.mark.parametrize("metadata", METADATA, ids=str)
def test_bad_metadata(metadata: object, tmp_path: Path) -> None:
    table = pq.read_table(io.BytesIO(ITEMS.write([Item(id="1", audio=["dataset/v0/1.wav"], question=QUESTION)])))
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    path = tmp_path / "x.parquet"
    pq.write_table(table.replace_schema_metadata({b"seldio.items": text}), path)

    done = invoke("validate", path)
    assert 1 == done.exit_code, done.output
    assert "SYN302" in done.output


@settings(max_examples=examples(150))
@given(st.integers(0, 4000), st.binary(min_size=1, max_size=8), st.booleans())
def test_any_damage_is_a_finding_or_harmless(at: int, noise: bytes, cut: bool) -> None:
    for good in (GOOD, FOREIGN):
        place = at % len(good)
        data = good[:place] if cut else good[:place] + noise + good[place + len(noise) :]
        assert 0 <= ITEMS.likes(data, "x") <= 1
        reading, found = look(data)
        assert reading is not None or found
        for row in range(len(reading.rows) if reading else 0):
            reading.place(row, "answer", None)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot hold"):
        write([Item.model_construct(id="\ud800")], tmp_path / "x.parquet", "items-parquet")
    with pytest.raises(UsageError, match="not both"):
        write([Item(id="1"), Prediction(id="1")], tmp_path / "x.jsonl", "items")


def test_templates(shared: Path, tmp_path: Path) -> None:
    for name, to in (("jasco/v0.csv", "jasco-predictions"), ("so-bench/qa.jsonl", "so-bench-predictions"),
                     ("ruenvaqa/test.json", "ruenvaqa-submission")):  # fmt: skip
        out = convert(shared / "data" / name, tmp_path / to, to)
        assert {"PRD102"} == set(validate(out).by_rule())

    assert json.loads((tmp_path / "ruenvaqa-submission").read_text("utf-8")) == {
        "data": {"test": [{"outputs": "", "meta": {"id": 24}}]}
    }
    assert list(json.loads((tmp_path / "so-bench-predictions").read_text("utf-8"))) == [
        "qa_id", "audio_path", "task_name", "prediction",
    ]  # fmt: skip


GOOD = ITEMS.write(
    [Item(id=str(n), question="?", extra={"a": n}) for n in range(3)], {"format": "so-bench", "origin": {}}
)
FOREIGN = packed([SO, SO | {"qa_id": "q2"}])


def test_findings_in_tables_of_others_name_the_row() -> None:
    bad = [SO, SO | {"qa_id": None}, SO | {"qa_id": "q3", "answer_meta": {"time_span": [float("nan")]}}]
    reading, found = look(packed(bad))

    assert [(finding.path, finding.line, finding.column) for finding in found] == [
        ("x.parquet", 2, 1),
        ("x.parquet", 3, 1),
    ]
    assert reading is None or len(reading.rows) == 1


def test_values_that_json_lacks() -> None:
    table = pa.table({"qa_id": pa.array([b"q1"], pa.binary()), "audio_path": ["a"], "task_name": ["t"], "question": ["?"],
                      "answer": ["x"], "answer_format": ["text"], "price": [Decimal("1.10")]})  # fmt: skip
    row = clean(packed(table)).rows[0]

    assert (row.id, row.extra) == ("q1", {"answer_format": "text", "price": "1.10"})
