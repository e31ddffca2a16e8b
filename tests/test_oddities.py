"""Every documented oddity of the formats by name."""

from __future__ import annotations

import copy
import csv
import io
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import invoke
from effort import some

from seldio import formats, validate
from seldio.errors import SeldioError
from seldio.findings import Finding
from seldio.formats import ITEM_FORMATS, get
from seldio.formats.items import ItemFormat
from seldio.formats.json_items import ITEMS, JsonItems
from seldio.formats.mera import RUENVAQA, template
from seldio.schema.qa import Item, Prediction


@pytest.mark.parametrize("name", ["items", "predictions"])
def test_what_no_format_takes_is_said(name: str) -> None:
    row = Item if name == "items" else Prediction
    with pytest.raises((SeldioError, ValueError)):
        get(name, ItemFormat).write([row.model_construct(id="\ud800", prediction="x", prompt="")])


SO: dict[str, Any] = {
    "qa_id": "q1", "split": "test", "audio_id": "a", "audio_path": "a.wav", "task_name": "detect_time",
    "question_class": "detect", "answer_format": "structured_text", "question": "When can the gong be heard?",
    "answer": "The gong is audible from 18.5s to 20.0s.", "canonical_answer": "18.5s to 20.0s",
    "answer_meta": {"time_span": [18.5, 20.0]},
}  # fmt: skip
SET = {"qa_id": "q1", "split": "train", "audio_id": "a", "audio_path": "a.wav", "dataset": "hm3d",
       "task_type": "counting", "task_name": "count_sources", "question": "How many?", "answer": "1",
       "canonical_answer": "1", "source_refs": []}  # fmt: skip
OUT = {"qa_id": "q1", "audio_path": "a.wav", "task_name": "detect_time", "prediction": "18.5s to 20.0s"}
RU: dict[str, Any] = {
    "instruction": template(2), "inputs": {"question": "Где?", "audio": "samples/audio001.wav", "option_a": "один",
    "option_b": "несколько"}, "outputs": "B",
    "meta": {"id": 1, "categories": {
        "task_type": "Music instrument counting", "source_dataset": "MUSIC-AVQA", "knowledge": "common"}},
}  # fmt: skip
QUESTIONS = "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
OUTPUTS = ("id,audio,n_frames,audio_sound,spoken_text,prompt,with_speech,audio_only_target,speech_only_target,"
           "target_keywords,tgt_text,allm_output\n")  # fmt: skip


def line(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def ru(*records: Any, **head: Any) -> str:
    return json.dumps({"access": "public", "data": list(records)} | head, ensure_ascii=False, indent=4)


def output(*cells: str) -> str:
    return "".join(f"1,{{data_folder}}/dataset/v0/1.wav,9,rain,Go,What?{number or ''},True,a,b,run,They run,{cell}\n"
                   for number, cell in enumerate(cells))  # fmt: skip


def field(name: str) -> Callable[[Any], object]:
    return lambda row: getattr(row, name)


def more(key: str) -> Callable[[Any], object]:
    return lambda row: (row.extra or {})[key]


class Oddity(NamedTuple):
    """What is seen in the first row of a file with an oddity, and what is found in it."""

    format: str
    text: str
    look: Callable[[Any], object]
    value: object
    codes: tuple[str, ...] = ()


ODDITIES = {
    # JASCO
    "the path is implied": Oddity("jasco", QUESTIONS + '47,rain,"Go!",a,b,They are running.,run\n', field("audio"), ["dataset/v0/47.wav"]),
    "a placeholder in the path": Oddity("jasco-predictions", OUTPUTS + output("x"), field("audio"), ["{data_folder}/dataset/v0/1.wav"]),
    "eight prompts for an id": Oddity("jasco-predictions", OUTPUTS + output(*"abcdefgh"), field("prompt"), "What?"),
    # ruEnvAQA
    "an answer that is kept secret": Oddity("ruenvaqa", ru(RU | {"outputs": ""}, access="private"), field("answer"), None),
    "an instruction by number": Oddity("ruenvaqa", ru(RU | {"instruction": 3}), more("instruction"), 3),
    "two options": Oddity("ruenvaqa", ru(RU), field("options"), ["один", "несколько"]),
    "options that are null on the Hub": Oddity("ruenvaqa", line(RU | {"inputs": RU["inputs"] | {"option_c": None, "option_d": None}}), field("options"), ["один", "несколько"]),
    "more in the meta": Oddity("ruenvaqa", ru(RU | {"meta": RU["meta"] | {"x": 1}}), lambda row: row.extra["meta"]["x"], 1),
    # SO-Bench and SO-Dataset
    "an id that is a number": Oddity("so-bench", line(SO | {"qa_id": 7}), field("id"), "7", ("SYN212",)),
    "a meta key of its own": Oddity("so-bench", line(SO | {"answer_meta": {"time_span": [18.5, 20.0], "source": "gong"}}), more("answer_meta"), {"source": "gong"}),
    "a prompt for a question": Oddity("so-dataset-qa", line({("prompt" if key == "question" else key): value for key, value in SET.items()}), field("question"), "How many?"),
    "a cleaned output beside the raw one": Oddity("so-bench-predictions", line(OUT | {"prediction_cleaned": "c", "prediction_raw": "r"}), more("prediction_cleaned"), "c"),
    "a raw output alone": Oddity("so-bench-predictions", line({("prediction_raw" if key == "prediction" else key): value for key, value in OUT.items()}), field("prediction"), "18.5s to 20.0s"),
    # seldio's own
    "no audio beside a large number below zero": Oddity("items", '{"id": "1", "question": "?", "answer_meta": {}, "extra": {"x": -1.0e28}}\n', more("x"), -1e28),
}  # fmt: skip


def values(data: bytes) -> Any:
    """The values in a text of JSON, or the cells of a table."""
    try:
        return [json.loads(line) for line in data.split(b"\n") if line.strip()]
    except ValueError:
        return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("name", ODDITIES)
def test_oddity(name: str, tmp_path: Path) -> None:
    oddity = ODDITIES[name]
    format = formats.get(oddity.format, ItemFormat)
    path = tmp_path / f"x{format.suffix}"
    path.write_bytes(oddity.text.encode())
    reading = format.read(path.read_bytes(), str(path), lambda _: None)

    # neither the recordings nor the questions are there
    codes = {code for code in validate(path, format=oddity.format).by_rule() if code[:4] != "QAI3" and code != "QAI129"}
    assert codes == set(oddity.codes)
    assert reading is not None
    assert oddity.look(reading.rows[0]) == oddity.value
    assert formats.format_of_file(path.read_bytes(), path.name) is format
    assert values(format.write(reading.rows, reading.origin)) == values(path.read_bytes()) or "SYN212" in codes


@pytest.mark.slow
def test_json_test_suite_through_every_reader(shared: Path) -> None:
    """No exception, and what is read without a finding comes back byte for byte, through Parquet too.

    As whole files for the readers that ``test_qa_json`` does not try, and as a value inside a record.
    """
    others = [format for format in ITEM_FORMATS if not isinstance(format, JsonItems)]
    read = 0
    for path in sorted((shared / "corpora/json-testsuite").rglob("*.json")):
        data = path.read_bytes()
        for format in others:
            assert 0 <= format.likes(data, "x.json") <= 1
            comes_back(format, data)
        inside = data.replace(b"\n", b" ").replace(b"\r", b" ").strip()
        read += comes_back(ITEMS, b'{"id": "1", "question": "?", "extra": {"x": ' + inside + b"}}\n")
        read += comes_back(
            RUENVAQA, b'{"data": [%s]}' % line(RU | {"x": 0}).strip().encode().replace(b'"x": 0', b'"x": ' + inside)
        )
    assert read > 150


def comes_back(format: ItemFormat, data: bytes) -> bool:
    """Whether a file is read without a finding; then it is written as it was, and so it is by way of a table."""
    found: list[Finding] = []
    reading = format.read(data, "x.json" if format is RUENVAQA else "x.jsonl", found.append)
    if reading is None or found or not reading.rows:
        return False
    assert values(format.write(reading.rows, reading.origin)) == values(data)
    table = formats.get(f"{format.holds}-parquet", ItemFormat)
    again = table.read(table.write(reading.rows, table.origin_of(reading)), "x", found.append)
    assert again is not None
    assert again.rows == reading.rows
    assert format.write(again.rows, format.origin_of(again)) == format.write(reading.rows, reading.origin)
    return True


CASES = Path(__file__).parent / "cases/formats-items"
FILES = sorted(path for path in CASES.glob("*/*.json*") if path.name != "rows.jsonl")
VALUES: tuple[Any, ...] = ({}, [], None, True, "x", -1, 1.5, {"a": {}}, [[{}]], [None])


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand, of lists the first."""
    if at:
        yield at
    pairs = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, inside in pairs:
        yield from places(inside, (*at, key))


def exchanged(record: Any, at: tuple[Any, ...], value: Any) -> Any:
    """The record with *value* at a place."""
    top = inside = copy.deepcopy(record)
    for step in at[:-1]:
        inside = inside[step]
    inside[at[-1]] = value
    return top


def variants(path: Path) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """The first record with each value in each place: alone in its file, and of lines also behind the others."""
    text = path.read_text("utf-8")
    records = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
    for at in places(records[0]):
        for value in VALUES:
            odd = exchanged(records[0], at, value)
            yield at, f"{json.dumps(odd)}\n".encode()
            if records[1:]:
                yield at, "".join(f"{json.dumps(one)}\n" for one in (*records[1:], odd)).encode()


@pytest.mark.parametrize("part", some(range(3), 3))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_readers_take_any_value(path: Path, part: int) -> None:
    """What can be read can be written again; what cannot, is found."""
    format = get(path.parent.name, ItemFormat)
    for at, data in itertools.islice(variants(path), part, None, 3):
        found: list[Any] = []
        reading = format.read(data, path.name, found.append)
        assert reading is not None or found, (at, data)
        if reading is not None:
            format.write(reading.rows.table, reading.origin)
            assert len(reading.rows) or found or b"[]" in data, (at, data)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_verbs_take_any_value(path: Path, tmp_path: Path) -> None:
    odd, out = tmp_path / path.name, tmp_path / "out"
    for number, (at, data) in enumerate(variants(path)):
        odd.write_bytes(data)
        made = ["convert", str(odd), "--allow-loss", "all", "--force", "-o"]
        verbs = (
            ["info", str(odd)], ["validate", str(odd)], ["validate", str(odd), "--diff"],
            [*made, f"{out}.jsonl", "--to", "items"], [*made, f"{out}.parquet", "--to", "parquet"],
            ["score", str(odd), "-r", str(path)], ["score", str(path), "-r", str(odd)],
        )  # fmt: skip
        done = invoke(*verbs[number % len(verbs)])  # all of them would take minutes
        told = f"{verbs[number % len(verbs)]} {at} {data!r}\n{done.output}"
        assert done.exception is None or isinstance(done.exception, SystemExit), told
        assert done.exit_code in (0, 1, 2, 3), told
        assert "a bug in seldio" not in done.output, told
