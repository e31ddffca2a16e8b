"""ruEnvAQA: files come back byte for byte, and wrong ones are called wrong as MERA's own validator does."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from seldio import formats
from seldio.conversion.items import convert_items
from seldio.errors import InvalidData, UsageError
from seldio.findings import Finding
from seldio.formats import ItemFormat
from seldio.formats.items import ItemReading
from seldio.formats.mera import FORMATS, RUENVAQA, SUBMISSION, template
from seldio.rules import findings
from seldio.rules.item_table import ItemTable
from seldio.rules.items import INSTRUCTION_RULES, homoglyph_letter
from seldio.rules.predictions import ARCHIVE_RULES, MeraPackage, check_answers
from seldio.schema.qa import Item, Prediction

TWO, FOUR = template(2), template(4)


def record(number: Any = 1, instruction: Any = FOUR, outputs: Any = "B", **changes: Any) -> dict[str, Any]:
    options = {f"option_{letter}": letter * 2 for letter in "abcd"}
    inputs = {"question": "Что?", "audio": "samples/audio001.wav", **options} | changes
    categories = {"task_type": "Audio captioning", "source_dataset": "CLOTHO-AQA", "knowledge": "common"}
    meta = {"id": number, "categories": categories}
    return {"instruction": instruction, "inputs": inputs, "outputs": outputs, "meta": meta}


def binary(**changes: Any) -> dict[str, Any]:
    made = record(instruction=TWO, **changes)
    del made["inputs"]["option_c"], made["inputs"]["option_d"]
    return made


def packed(*records: Any, **head: Any) -> bytes:
    return json.dumps({"access": "public", "data": list(records)} | head, ensure_ascii=False, indent=4).encode()


def read(data: bytes, format: Any = RUENVAQA) -> tuple[ItemReading | None, list[Finding]]:
    found: list[Finding] = []
    return format.read(data, "x.json", found.append), found


def same(data: bytes, format: Any = RUENVAQA) -> ItemReading:
    reading, found = read(data, format)
    assert not found
    assert format.write(reading.rows, reading.origin) == data
    return reading


@pytest.mark.parametrize("name", ["test.json", "records.jsonl"])
def test_real_files_come_back(shared: Path, name: str) -> None:
    data = (shared / "data/ruenvaqa" / name).read_bytes()
    reading = same(data)
    item = reading.rows[0]
    assert (item.id, item.audio, item.answer, item.language) == ("24", ["samples/audio024.wav"], "C", "ru")
    assert (item.task, item.dataset) == ("Audio scene classification", "CLOTHO-AQA")
    assert item.options == ["в аэропорту", "на причале", "на железнодорожном вокзале", "на автобусном вокзале"]
    assert item.extra == {"meta": {"categories": {"knowledge": "common"}}}
    place = reading.place(0, "options", 2)
    assert place.value == '"на железнодорожном вокзале"'
    assert data.decode().split("\n")[place.line - 1][place.column - 1 : place.end_column - 1] == place.value
    assert RUENVAQA.likes(data, name) > 0.9 > SUBMISSION.likes(data, name)


@pytest.mark.parametrize(
    "rows",
    [
        [binary(), record(2)],
        [record(), record(2, instruction=TWO, option_c=None, option_d=None)],
        [dict(reversed(record().items()))],
        [record(7, outputs=""), record(8, outputs=None)],
        [record(audio={"bytes": None, "path": "a.wav"})],
        [record(hint={"x": 1}, option_c=None, option_d=None)],
        [record() | {"meta": {"id": 5}}, record() | {"meta": {"id": 5, "categories": None, "b": 1}}],
        [],
    ],
)  # fmt: skip
def test_what_files_carry_comes_back(rows: list[Any]) -> None:
    for data in (packed(*rows), packed(*rows, access="", more={"a": 1}), json.dumps({"data": rows}).encode()):
        same(data)
    same(packed(*rows).replace(b"\n", b"\r\n"))
    same(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    if rows:
        same("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())


def instructions_checked(reading: ItemReading) -> list[Finding]:
    return ItemTable(reading).report((homoglyph_letter, *INSTRUCTION_RULES))


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
VALUE = st.recursive(st.none() | st.booleans() | st.integers(-99, 99) | TEXT, lambda part: st.lists(part, max_size=2) | st.dictionaries(TEXT, part, max_size=2), max_leaves=4)  # fmt: skip


PART = st.sampled_from(["instruction", "inputs", "outputs", "meta", "id", "categories", "audio", "option_a", "data", "test", "as_written"])  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(st.recursive(VALUE, lambda part: st.lists(part, max_size=3) | st.dictionaries(PART, part, max_size=5), max_leaves=15))  # fmt: skip
def test_any_json(value: Any) -> None:
    for shape in (value, {"data": [value]}, {"data": {"test": [value]}}, record() | {"meta": value}, [record(a=value)]):
        harmless(json.dumps(shape).encode())


@settings(max_examples=examples(300))
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    harmless(data)
    harmless(packed(record()) + data)
    harmless(packed(record())[: len(data)] + data)


@pytest.mark.parametrize("members", [None, {"ruEnvAQA.json": b"{"}], ids=str)
def test_what_the_server_cannot_open(members: dict[str, bytes] | None) -> None:
    assert ["PRD121"] == [finding.code for finding in findings(ARCHIVE_RULES, MeraPackage("s.zip", members))]


def harmless(data: bytes) -> None:
    for format in FORMATS:
        assert 0 <= format.likes(data, "x.json") <= 1
        reading, _ = read(data, format)
        if reading is not None:
            again, _ = read(format.write(reading.rows, reading.origin), format)
            assert (list(again.rows) if again is not None else []) == list(reading.rows)
            instructions_checked(reading) if format is RUENVAQA else list(check_answers(reading))
    list(findings(ARCHIVE_RULES, MeraPackage("s.zip", {"ruEnvAQA.json": data})))


def test_what_cannot_be_written() -> None:
    for fields in ({"id": "1"}, {"id": "1", "audio": ["a"], "options": ["x"] * 27}):
        with pytest.raises(InvalidData):
            RUENVAQA.write([Item.model_validate(fields)])
    with pytest.raises(InvalidData):
        SUBMISSION.write([Prediction.model_validate({"prediction": "A"})])


def test_a_submission_called_zip_is_one(tmp_path: Path) -> None:
    questions, out = tmp_path / "test.json", tmp_path / "s.zip"
    questions.write_bytes(packed(record(1), record(2)))
    convert_items(questions, out, SUBMISSION)
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["ruEnvAQA.json"]
        rows = json.loads(archive.read("ruEnvAQA.json"))["data"]["test"]
    assert [row["meta"]["id"] for row in rows] == [1, 2]
    with pytest.raises(UsageError, match="written as one file, not an archive"):
        convert_items(questions, tmp_path / "items.zip", formats.get("items", ItemFormat))
