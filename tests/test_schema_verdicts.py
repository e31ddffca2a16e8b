"""`validate` and the JSON Schemas of files of questions agree on what a schema can say."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from seldio import formats, validate
from seldio.benchmarks import find
from seldio.formats import ItemFormat
from seldio.formats.qa_csv import JASCO
from seldio.schemas import SCHEMAS

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "cases"
#: What a schema says of files of each format: rules whose findings it shares. The others compare values, or read texts.
SAID = {
    "items": {"QAI110", "QAI111", "SYN211", "SYN212"},
    "jasco": {"QAI112", "QAI126", "SYN135", "SYN113"},
    "ruenvaqa": {
        "QAI102", "QAI104", "QAI110", "QAI111", "QAI126", "QAI127", "QAI128", "QAI212", "QAI211",
    },
    "so-bench": {"QAI111", "QAI112", "QAI126", "QAI114", "QAI127", "SYN211", "SYN212"},
}  # fmt: skip
#: Of these a schema sees nothing: a letter of another alphabet in the text of an instruction.
IN_TEXTS = "the instruction labels"
SCHEMA = {name: jsonschema.Draft202012Validator(json.loads(json.dumps(SCHEMAS[name]()))) for name in SAID}
SUFFIX = {"jasco": ".csv", "ruenvaqa": ".json", "items": ".jsonl", "so-bench": ".jsonl"}


def told(name: str, path: Path) -> set[str]:
    """What `validate` finds of what a schema can say."""
    found = validate(path, format=name).findings
    return {one.code for one in found if one.code in SAID[name] and IN_TEXTS not in one.message}


def agree(name: str, document: Any, path: Path) -> None:
    wrong = [f"{one.json_path}: {one.message[:120]}" for one in SCHEMA[name].iter_errors(document)]
    found = told(name, path)
    assert bool(wrong) == bool(found), (wrong, found, json.dumps(document, ensure_ascii=False))


def document_of(name: str, path: Path) -> Any:
    text = path.read_text("utf-8-sig")
    if path.suffix == ".csv":
        header, *rows = csv.reader(io.StringIO(text))
        even = len({*header}) == len(header) and all(len(row) == len(header) for row in rows)
        return [dict(zip(header, row, strict=True)) for row in rows] if even else None
    try:
        return (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if path.suffix == ".jsonl"
            else json.loads(text)
        )
    except ValueError:
        return None


def write(name: str, record: Any, path: Path) -> None:
    if name != "jasco":
        text = json.dumps(record, ensure_ascii=False)
        path.write_text(text if path.suffix == ".jsonl" else json.dumps([record], ensure_ascii=False), "utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(record), lineterminator="\n")
        writer.writeheader()
        writer.writerow(record)


def examples() -> Iterator[Any]:
    for path in sorted(CASES.rglob("*")):
        if path.suffix in (".json", ".jsonl", ".csv") and path.is_file():
            data = path.read_bytes()
            likely = [name for name in SAID if formats.get(name, ItemFormat).likes(data, path.name) >= formats.LIKELY]
            yield from (pytest.param(name, path, id=f"{name}-{path.relative_to(CASES)}") for name in likely[:1])


@pytest.mark.parametrize(("name", "path"), [*examples()])
def test_every_example(name: str, path: Path) -> None:
    document = document_of(name, path)
    if document is None:
        pytest.skip("no records")
    agree(name, document, path)


def test_published_files_fit(shared: Path) -> None:
    data = shared / "data"
    for name, path in (("ruenvaqa", "ruenvaqa/test.json"), ("ruenvaqa", "ruenvaqa/records.jsonl"),
                       ("so-bench", "so-bench/qa.jsonl"), ("jasco", "jasco/v0.csv")):  # fmt: skip
        assert SCHEMA[name].is_valid(document_of(name, data / path)), path
        agree(name, document_of(name, data / path), data / path)


#: What values are replaced by; no whole numbers with a point, which JSON Schema takes for whole ones.
VALUES = (
    None, "", " ", "x", "A", "B", "D", "E", "a", "\u0410", "да", "Нет", "один", "несколько", 0, -1, 7, 200, 0.5, True, [], {},
    ["x"], [1.5, 2.5], [2.5], {"x": 1}, {"path": "a.wav"}, 10**18,
)  # fmt: skip
KEYS = ("option_c", "option_e", "audio_1", "audio_id", "x", "start", "end", "language", "outputs", "split", "options")


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*at, key))


def mutant(name: str, record: dict[str, Any], luck: random.Random) -> dict[str, Any]:
    known = find(name)
    own = [value for one in known.fields for value in one.values] + [*known.tasks] if known is not None else []
    record = copy.deepcopy(record)
    for _ in range(luck.choice((1, 1, 2, 3))):
        *way, last = luck.choice([*places(record)] or [("x",)])
        inside: Any = record
        for key in way:
            inside = inside[key]
        value = copy.deepcopy(
            luck.choice((*VALUES, *own, *own)) if name != "jasco" else luck.choice(("", " ", "x", "7"))
        )
        kind = luck.random()
        if kind < 0.25 and isinstance(inside, dict):
            del inside[last]
        elif kind < 0.4 and isinstance(inside, dict) and name != "jasco":
            inside[luck.choice(KEYS)] = value
        else:
            inside[last] = value
    return record


def seeds(name: str) -> list[dict[str, Any]]:
    """The records of the good examples, and one of JASCO, of which there is none."""
    found = [{column: f"{column} 1" for column in JASCO.columns}] if name == "jasco" else []
    for param in examples():
        if param.values[0] == name and "bad" not in param.values[1].name:
            document = document_of(name, param.values[1])
            rows = document.get("data", [document]) if isinstance(document, dict) else document
            found += [row for row in rows or () if isinstance(row, dict) and SCHEMA[name].is_valid(row)]
    return found


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("count", [60, pytest.param(2_500, marks=pytest.mark.slow)])
def test_mutants(name: str, count: int, tmp_path: Path) -> None:
    luck, given = random.Random(f"{name} {count}"), seeds(name)
    path = tmp_path / f"x{SUFFIX[name]}"
    wrong = 0
    for _ in range(count):
        record = mutant(name, luck.choice(given), luck)
        write(name, record, path)
        agree(name, [record], path)
        wrong += not SCHEMA[name].is_valid(record)
    assert count / 5 < wrong < count
