"""Questions and predictions as Parquet: nothing lost, bytes that come back, tables of others, damage."""

from __future__ import annotations

import io
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st
from test_qa_json import told
from typer.testing import CliRunner

from seldio import formats, validate
from seldio.cli import app
from seldio.conversion.dispatch import convert_any
from seldio.conversion.questions import QuestionOptions
from seldio.errors import DataError, LossError, UsageError
from seldio.findings import Finding, raise_errors
from seldio.formats import ITEM_FORMATS, format_of_file
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.formats.qa_csv import QUESTION
from seldio.schema.qa import Item, Prediction
from seldio.synth.tree import write_demo
from tests.test_qa_json import items, predictions

ITEMS, PREDICTIONS = formats.get("items-parquet", ItemFormat), formats.get("predictions-parquet", ItemFormat)
TABLES = (ITEMS, PREDICTIONS)
RUN = CliRunner()
SO: dict[str, Any] = {
    "qa_id": "q1", "split": "test", "audio_id": "a", "audio_path": "a.wav", "task_name": "detect_time",
    "question_class": "detect", "answer_format": "structured_text", "question": "When?", "answer": "now",
    "canonical_answer": "1.0s to 2.5s", "answer_meta": {"time_span": [1.0, 2.5]},
}  # fmt: skip
MC = {"id": "m1", "audio_id": "./m1.wav", "question": "Who?", "choices": ["a", "b"], "answer": "b", "dataset": "d",
      "task": "sound", "split": "test-mini", "difficulty": "easy"}  # fmt: skip
RU = {"instruction": "{question}", "inputs": {"audio": {"bytes": b"RIFF", "path": "samples/1.wav"}, "question": "Что?",
      "option_a": "да", "option_b": "нет", "option_c": None, "option_d": None}, "outputs": "A",
      "meta": {"id": 1, "categories": {"task_type": "t", "source_dataset": "s"}}}  # fmt: skip


def packed(rows: list[dict[str, Any]] | pa.Table) -> bytes:
    """A Parquet file of another maker."""
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


# --- own tables ------------------------------------------------------------------------------------

REAL = ["so-bench/qa.jsonl", "so-bench/predictions.jsonl", "so-bench/so_dataset_sample.partial.json", "jasco/v0.csv",
        "jasco/predictions-example.csv", "ruenvaqa/test.json", "ruenvaqa/records.jsonl", "mmau/mmau-test-mini.json",
        "ruenvaqa/mera-submission-bad/BPS.json"]  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_real_files_come_back(shared: Path, tmp_path: Path, name: str) -> None:
    source = shared / "data" / name
    kind = format_of_file(source.read_bytes(), name)
    assert kind is not None
    table = convert(source, tmp_path / "x.parquet", "parquet")

    back = convert(table, tmp_path / "back", kind.name).read_bytes()
    assert back == source.read_bytes() or told(back) == told(source.read_bytes())
    assert convert(source, tmp_path / "y.parquet", "parquet").read_bytes() == table.read_bytes()
    assert convert(table, tmp_path / "z.parquet", "parquet").read_bytes() == table.read_bytes()
    assert not validate(table).summary()["errors"]
    row = (formats.named(f"{kind.holds}-parquet", ItemFormat) or ITEMS).read(table.read_bytes(), "x", raise_errors)
    text = kind.read(source.read_bytes(), name, raise_errors)
    assert row is not None
    assert text is not None
    assert row.rows == text.rows


def _turned(records: list[dict[str, Any]]) -> str:
    """The keys of every second record in another order."""
    turned = [dict(reversed(each.items())) if n % 2 else each for n, each in enumerate(records)]
    return json.dumps(turned, indent=1)


def test_what_a_footer_has_no_room_for_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seldio.formats.item_parquet.FOOTER_BYTES", 1000)
    source, table = tmp_path / "x.json", tmp_path / "x.parquet"
    source.write_text(_turned([MC | {"id": f"m{n}"} for n in range(200)]), "utf-8")
    done = RUN.invoke(app, ["convert", str(source), "--to", "parquet", "-o", str(table)])
    assert 0 == done.exit_code, done.output
    assert re.search(r"the orders of keys in this file take 0\.0 MB, more than a Parquet footer", done.output)
    assert len(pq.read_schema(table).metadata[b"seldio.items"]) < 1000
    assert json.loads(source.read_bytes()) == json.loads(convert(table, tmp_path / "back.json", "mmau").read_bytes())


def test_what_cannot_be_read_again_is_not_blamed_on_every_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seldio.formats.parquet.MAX_ROWS", 10)
    source, table = tmp_path / "x.json", tmp_path / "x.parquet"
    source.write_text(json.dumps([MC | {"id": f"m{n}"} for n in range(20)]), "utf-8")
    done = RUN.invoke(app, ["convert", str(source), "--to", "parquet", "-o", str(table)])
    assert 1 == done.exit_code, done.output
    assert "cannot hold these 20 rows: the result could not be read back (20 rows, more than 10)" in done.output
    assert "cannot carry" not in done.output
    assert not table.exists()


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


def test_edited_tables_keep_the_edit_and_what_is_lost_is_named(tmp_path: Path) -> None:
    source = tmp_path / "x.jsonl"
    source.write_text(json.dumps(SO) + "\n", "utf-8")
    table = pq.read_table(convert(source, tmp_path / "x.parquet", "parquet"))
    edited = table.set_column(5, "question", pa.array(["Since when?"]))
    pq.write_table(edited, tmp_path / "edited.parquet")
    more = table.set_column(12, "split", pa.array(["dev"])).set_column(13, "dataset", pa.array(["STARSS23"]))
    assert more.schema.names == table.schema.names
    pq.write_table(more, tmp_path / "more.parquet")

    back = convert(tmp_path / "edited.parquet", tmp_path / "back.jsonl", "so-bench")
    assert json.loads(back.read_text("utf-8")) == SO | {"question": "Since when?"}
    with pytest.raises(LossError, match="dataset"):
        convert(tmp_path / "more.parquet", tmp_path / "lost.jsonl", "so-bench")


def test_parquet_means_what_the_source_holds(tmp_path: Path) -> None:
    write_demo(tmp_path)
    labels = next((tmp_path / "starss23").rglob("*.csv"))
    (tmp_path / "x.jsonl").write_text(json.dumps(SO) + "\n", "utf-8")
    outs = [tmp_path / name for name in ("labels.parquet", "items.parquet", "asked.parquet")]
    for source, to, out in zip((labels, tmp_path / "x.jsonl", labels), ("parquet", "parquet", "items-parquet"), outs,
                               strict=True):  # fmt: skip
        assert 0 == RUN.invoke(app, ["convert", str(source), "--to", to, "-o", str(out)]).exit_code

    assert ["clip" in pq.read_schema(out).names for out in outs] == [True, False, False]
    assert [format_of_file(out.read_bytes(), "-") for out in outs] == [None, ITEMS, ITEMS]
    assert pq.read_table(outs[2]).num_rows > 5
    assert not validate(outs[2]).summary()["errors"]
    done = RUN.invoke(app, ["convert", "-", "-f", "so-bench", "--to", "parquet", "-o", str(tmp_path / "stdin")],
                      input=json.dumps(SO))  # fmt: skip
    assert 0 == done.exit_code, done.output
    assert format_of_file((tmp_path / "stdin").read_bytes(), "-") is ITEMS


def test_many_files_are_labels_and_parquet_names_either(tmp_path: Path) -> None:
    write_demo(tmp_path)
    folder, table = tmp_path / "starss23", tmp_path / "x.parquet"
    (folder / "a-qa.jsonl").write_text(json.dumps(SO) + "\n", "utf-8")
    table.write_bytes(ITEMS.write([Item(id="1", question="?")]))

    assert "clip" in pq.read_schema(convert(folder, tmp_path / "labels.parquet", "parquet")).names
    convert_any(table, tmp_path / "x.jsonl", "items", "parquet", [], {}, QuestionOptions())
    assert {"id": "1", "audio": [], "question": "?"} == json.loads((tmp_path / "x.jsonl").read_text("utf-8"))


def test_findings_name_the_row() -> None:
    rows = [Item(id="1", question="?"), Item(id="2", question="?", options=["a", "a"], answer="c")]
    reading = clean(ITEMS.write(rows))

    assert (reading.place(1, "answer", None).line, reading.place(1, "answer", None).value) == (2, "c")
    assert reading.place(0, None, None).value == reading.place(0, "answer", None).value == ""


# --- tables of other makers ------------------------------------------------------------------------


@pytest.mark.parametrize(("records", "home"), [([SO, SO | {"qa_id": "q2", "answer_meta": {"onset_time": 1.5}}], "so-bench"),
                         ([MC], "mmau")])  # fmt: skip
def test_tables_of_known_records(records: list[dict[str, Any]], home: str, tmp_path: Path) -> None:
    source = tmp_path / "x.parquet"
    source.write_bytes(packed(records))
    assert format_of_file(source.read_bytes(), "x") is ITEMS
    reading = clean(source.read_bytes())
    back = convert(source, tmp_path / "back", home)
    format = formats.get(home, ItemFormat)

    assert (reading.home, reading.lost) == (home, {})
    again = format.read(back.read_bytes(), "back" + format.suffix, raise_errors)
    assert again is not None
    direct = format.read("".join(json.dumps(record) + "\n" for record in records).encode(), "x.jsonl", raise_errors)
    assert direct is not None
    assert again.rows == direct.rows == reading.rows


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


# --- what is no table of questions -----------------------------------------------------------------

WRONG: dict[str, tuple[pa.Table, str]] = {
    "unknown columns": (pa.table({"x": [1]}), "SYN302"),
    "a column twice": (pa.table([pa.array(["1"])] * 2, names=["id", "id"]), "SYN302"),
    "another type": (pa.table({"id": [1], "question": ["?"]}), "SYN212"),
    "no id": (pa.table({"id": pa.array([None], pa.string()), "question": ["?"]}), "SYN212"),
    "extra that is no json": (pa.table({"id": ["1"], "question": ["?"], "extra": ["{"]}), "SYN212"),
    "extra that is no object": (pa.table({"id": ["1"], "question": ["?"], "extra": ["[1]"]}), "SYN212"),
    "extra that is deep": (pa.table({"id": ["1"], "question": ["?"], "extra": ["[" * 200_000]}), "SYN212"),
    "extra that is a number": (pa.table({"id": ["1"], "question": ["?"], "extra": [3]}), "SYN212"),
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
    {"holds": "items", "format": "so-bench", "origin": {"orders": [[1]]}},
    "{", [], {"holds": "items", "format": "so-bench", "origin": []}, {"holds": "items", "format": "nothing"},
    {"holds": "items", "format": "so-bench", "origin": {"layout": {"joint": 5}}},
    {"holds": "items", "format": "so-bench", "origin": {"order_of": 5}},
    {"holds": "items", "format": "jasco", "origin": {"layout": {"odd": 5}}},
    {"holds": "items", "format": "ruenvaqa", "origin": {"layout": {"newline": [], "head": 1}}},
    {"holds": "items", "format": "predictions", "origin": {}},
]  # fmt: skip


@pytest.mark.parametrize("metadata", METADATA, ids=str)
def test_bad_metadata(metadata: object, tmp_path: Path) -> None:
    table = pq.read_table(io.BytesIO(ITEMS.write([Item(id="1", audio=["dataset/v0/1.wav"], question=QUESTION)])))
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    path = tmp_path / "x.parquet"
    pq.write_table(table.replace_schema_metadata({b"seldio.items": text}), path)

    done = RUN.invoke(app, ["validate", str(path)])
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
            assert reading is not None
            reading.place(row, "answer", None)


GOOD = ITEMS.write(
    [Item(id=str(n), question="?", extra={"a": n}) for n in range(3)], {"format": "so-bench", "origin": {}}
)
FOREIGN = packed([SO, SO | {"qa_id": "q2"}])


def test_what_cannot_be_written() -> None:
    for rows in ([Prediction(id="1")], [Item.model_construct(id="\ud800")]):
        with pytest.raises(DataError):
            ITEMS.write(rows)


# --- every pair of formats -------------------------------------------------------------------------


def example(format: ItemFormat) -> list[Row]:
    """Rows that a format can hold, with all that it carries."""
    if format.name == "jasco":
        head = b"audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
        reading = format.read(head + b"7,Rain,Run!,It rains.,They run.,They run.,run\n", "x.csv", raise_errors)
        assert reading is not None
        return list(reading.rows)
    whole: Row = Item(
        id="7", audio=["a.wav"], task="t", question="?", options=["x", "y"], answer="x", canonical_answer="x",
        dataset="d", split="test", language="ru", extra={"more": "z"},
    ) if format.holds == "items" else Prediction(id="7", audio=["a.wav"], task="t", prompt="?", prediction="A")  # fmt: skip
    fields = whole.model_dump() | ({"answer": "A"} if format.answers == "letter" else {})
    return [type(whole).model_validate({name: v for name, v in fields.items() if name in format.carries})]


@pytest.mark.parametrize("shift", some(range(5), 5))
@pytest.mark.parametrize("source", ITEM_FORMATS, ids=lambda format: format.name)
def test_every_pair_works_or_says_why(source: ItemFormat, shift: int, tmp_path: Path) -> None:
    """A part of them in `make test`: each format as a source and as a target, of each kind there is."""
    path = tmp_path / f"source{source.suffix}"
    path.write_bytes(source.write(example(source)))
    for target in ITEM_FORMATS[(ITEM_FORMATS.index(source) + shift) % 5 :: 5]:
        out = tmp_path / f"{target.name}{target.suffix}"
        if reason := refusal(path, out, source, target):
            words = (
                " no ",
                "holds predictions",
                "matched by question number",
                "only JASCO",
                "jasco cannot be made",
                "takes questions with 2 or 4 options",
                "takes wav and mp3 recordings",
            )
            assert any(word in reason for word in words), (target.name, reason)
            continue
        report = validate(out, format=target.name)
        assert not report.summary()["errors"], (source.name, target.name, report.findings)
        reading = target.read(out.read_bytes(), out.name, raise_errors)
        assert reading is not None
        if "id" in source.carries and "id" in target.carries:
            assert {row.id for row in reading.rows} == {row.id for row in example(source)}


def refusal(path: Path, out: Path, source: ItemFormat, target: ItemFormat) -> str | None:
    """Why a file cannot be converted even if every loss that is named is allowed; None where it can."""
    allowed: list[str] = []
    try:
        convert_any(path, out, target.name, source.name, allowed, {}, QuestionOptions())
    except LossError as error:
        allowed = list(error.losses)
    except UsageError as error:
        return str(error)
    if allowed:
        convert_any(path, out, target.name, source.name, allowed, {}, QuestionOptions())
    return None


def test_templates(shared: Path, tmp_path: Path) -> None:
    rows = {}
    for name, to in (("jasco/v0.csv", "jasco-predictions"), ("so-bench/qa.jsonl", "so-bench-predictions"),
                     ("ruenvaqa/test.json", "ruenvaqa-submission")):  # fmt: skip
        out = convert(shared / "data" / name, tmp_path / to, to)
        reading = formats.get(to, ItemFormat).read(out.read_bytes(), to, raise_errors)
        assert reading is not None
        rows[to] = list(reading.rows)
        assert {"PRD102"} == set(validate(out).by_rule())

    official = formats.get("jasco-predictions", ItemFormat).read(
        (shared / "data/jasco/predictions-example.csv").read_bytes(), "x", raise_errors
    )
    assert official is not None
    ours = [(row.id, row.audio, getattr(row, "prompt", "")) for row in rows["jasco-predictions"]]
    assert ours == [(row.id, row.audio, getattr(row, "prompt", "")) for row in official.rows]
    assert json.loads((tmp_path / "ruenvaqa-submission").read_text("utf-8")) == {
        "data": {"test": [{"outputs": "", "meta": {"id": 24}}]}
    }
    assert list(json.loads((tmp_path / "so-bench-predictions").read_text("utf-8"))) == [
        "qa_id", "audio_path", "task_name", "prediction",
    ]  # fmt: skip
