"""The JSON Schemas (2020-12) of what seldio reads and writes, made from the models, and from what benchmarks hold.

Those of files of questions say what `validate` reports of single records, as far as a schema can. What compares values
with each other, such as times, ids and whether an answer is among the options, only `validate` can tell.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from seldio.benchmarks import Benchmark, benchmark
from seldio.findings import DOCS
from seldio.formats.json_items import ITEMS, SO_BENCH, JsonItems
from seldio.formats.mera import RUENVAQA
from seldio.formats.qa_csv import JASCO
from seldio.reports.json_report import schema_file
from seldio.rules.items import HOMOGLYPHS
from seldio.schema.clips import Clip
from seldio.schema.dataset_file import DatasetFile
from seldio.schema.event_rows import Event
from seldio.schema.qa import Item, Prediction
from seldio.tasks.specs import PUBLISHED

_Schema = dict[str, Any]
#: Text with something to see in it.
_FULL: _Schema = {"type": "string", "pattern": r"\S"}
_THERE: _Schema = {"not": {"type": "null"}}


def so_bench() -> _Schema:
    """Return the schema of questions of SO-Bench: a record, a list of them, or one under ``records`` or ``data``."""
    spec, record = benchmark("so-bench"), _of_format(SO_BENCH)
    record["properties"]["answer"] = _FULL | {"description": "The full answer."}
    truths = {name: task.truth for name, task in PUBLISHED.items() if task.truth}
    for key in dict.fromkeys(truths.values()):
        needs = {"answer_meta": {"type": "object", "required": [key], "properties": {key: _THERE}}}
        tasks = [name for name, truth in truths.items() if truth == key]
        record["allOf"].append(_if(_at(spec.task, {"enum": tasks}), {"required": ["answer_meta"], "properties": needs}))
    return _file(SO_BENCH.title, _with_values(record, spec), ("records", "data"))


def items() -> _Schema:
    """Return the schema of questions as seldio keeps them."""
    record = _of_format(ITEMS)
    record["properties"]["options"] = {"type": ["array", "null"], "minItems": 2, "items": _FULL}
    return _file(ITEMS.title, record, ("records", "data"))


def jasco() -> _Schema:
    """Return the schema of rows of JASCO's questions, as a CSV reader gives them: by column, all of them text."""
    cells: dict[str, _Schema] = {name: {"type": "string"} for name in JASCO.columns}
    cells |= {"audio_id": {"type": "string", "minLength": 1}, JASCO.fields["answer"]: _FULL}
    record: _Schema = {"type": "object", "properties": cells, "required": list(cells), "allOf": []}
    return _file(JASCO.title, _with_values(record, benchmark("jasco")), ())


def ruenvaqa() -> _Schema:
    """Return the schema of questions of ruEnvAQA: a file of the source with its access, a list, or a row of the Hub."""
    spec = benchmark("ruenvaqa")
    text: _Schema = {"type": ["string", "null"]}
    letters, name = string.ascii_lowercase, "option_{}".format
    path: _Schema = {
        "type": ["string", "object"],
        "minLength": 1,
        "required": ["path"],
        "properties": {"path": {"type": "string", "minLength": 1}},
    }
    audio = r"^audio(_[1-9][0-9]?)?$"
    asked: _Schema = {
        "type": "object",
        "required": ["question"],
        "properties": {"question": _FULL},
        "patternProperties": {audio: path, "^option_[a-z]$": text | {"pattern": r"\S"}},
        "not": {"propertyNames": {"not": {"pattern": audio}}},
        # options follow each other without a gap, and there is more than one
        "allOf": [_if(_has(name(letter)), _has(name(before))) for before, letter in pairwise(letters)]
        + [_if(_has("option_a"), _has("option_b"))],
    }
    categories: _Schema = {
        "type": ["object", "null"],
        "properties": {"task_type": text, "source_dataset": text},
    }
    whole = 10**18 - 1
    meta: _Schema = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "integer", "minimum": -whole, "maximum": whole}, "categories": categories},
    }
    instruction: _Schema = {"type": ["string", "integer"], "minimum": 0, "exclusiveMaximum": 10**6}
    record: _Schema = {
        "type": "object",
        "required": ["instruction", "inputs", "outputs", "meta"],
        "properties": {"instruction": instruction, "inputs": asked, "outputs": text, "meta": meta},
        "allOf": [
            _if(
                {"properties": {"inputs": _has("option_a"), "outputs": {"const": letter.upper()}}},
                _at(["inputs"], _has(name(letter))),
            )
            for letter in letters
        ]
        + [
            _if(
                _at(["inputs"], _has("option_a")),
                _at(["outputs"], {"enum": ["", None, *letters.upper()]}),
                _at(["outputs"], {"not": {"enum": list(HOMOGLYPHS)}}),
            ),
        ],
    }
    record = _with_values(record, spec)
    for task, has in spec.tasks.items():
        record["allOf"].append(_if(_at(spec.task, {"const": task}), _at(["inputs"], _options(has))))
    return _file(RUENVAQA.title, record, ("data",), {"access": {"enum": ["public", "private", ""]}})


def _options(task: Mapping[str, Any]) -> _Schema:
    names = [f"option_{letter}" for letter in string.ascii_lowercase]
    words = task.get("options")
    count = task["count"] if words is None else len(words)
    wanted: _Schema = {"required": names[:count], "properties": {names[count]: {"type": "null"}}}
    wanted["properties"] |= {name: {"type": "string"} for name in names[:count]}
    if words is not None:
        any_case = ("".join(f"[{letter}{letter.upper()}]" for letter in word) for word in words)
        patterns = [{"pattern": f"^{text}$"} for text in any_case]
        wanted["anyOf"] = [
            {"properties": dict(zip(names, order, strict=False))} for order in (patterns, patterns[::-1])
        ]
    return wanted


# --- parts -----------------------------------------------------------------------------------------


def _of_format(format: JsonItems) -> _Schema:
    model = Item.model_json_schema()
    fields, named = model["properties"], model["$defs"]
    properties = {
        key: dict(fields[field]) if field in fields else {}
        for key, field in format.keys.items()
        if format.closed or field != "extra"
    }
    record: _Schema = {"type": "object", "properties": properties, "required": list(format.required), "allOf": []}
    if format.closed:
        record["additionalProperties"] = False
    audio = format.key_of("audio", {})
    several = properties[audio]  # one recording needs no list
    properties[audio] = {"anyOf": [several["items"], several, *([] if format.closed else [{"type": "null"}])]}
    if not format.closed:  # what is besides the known values of an object goes along
        named = {name: {k: v for k, v in part.items() if k != "additionalProperties"} for name, part in named.items()}
        properties |= {field: {"minimum": 0} for field in format.besides if field in ("start", "end")}
    properties[format.key_of("question", {})] = _FULL | {"description": "The question itself."}
    return record | {"$defs": named}


def _with_values(record: _Schema, spec: Benchmark) -> _Schema:
    """Add to *record*, of a benchmark, the values of its fields and those that go with each task, and return it."""
    record["allOf"] += [_required(_at(spec.task, {"enum": [*spec.tasks]}))] if spec.tasks else []
    for field in spec.fields:
        demands = [_at(field.keys, {"enum": [*field.values, None]})] if field.values else []
        demands += [_at(field.keys, {"not": {"type": "string", "pattern": field.wrong}})] if field.wrong else []
        demands += [_required(_at(field.keys, _THERE))] if field.needed else []
        for value in dict.fromkeys(spec.of_tasks[field.name].values()):
            tasks = [task for task, right in spec.of_tasks[field.name].items() if right == value]
            demands.append(_if(_at(spec.task, {"enum": tasks}), _at(field.keys, {"enum": [value, None]})))
        # they hold for records without the other fields that take the place of this one; a text there is no time
        kinds = {"start": {"type": "number"}}
        others = [_required(_at(keys.split("."), kinds.get(keys, _THERE))) for keys in field.unless]
        record["allOf"] += [{"if": {"anyOf": others}, "else": demand} if others else demand for demand in demands]
    return record


def _at(keys: Sequence[str], schema: _Schema) -> _Schema:
    """Return a schema for the value under *keys*; as a condition the value has to be there."""
    for key in reversed(keys):
        schema = {"properties": {key: schema}}
    return schema


def _required(schema: _Schema) -> _Schema:
    """Return *schema* as a condition: all keys that it looks at are there, in objects."""
    if "properties" not in schema:
        return schema
    inner = {key: _required(part) for key, part in schema["properties"].items()}
    return schema | {"type": "object", "required": list(inner), "properties": inner}


def _if(condition: _Schema, then: _Schema, otherwise: _Schema | None = None) -> _Schema:
    return {"if": _required(condition), "then": then} | ({"else": otherwise} if otherwise is not None else {})


def _has(key: str) -> _Schema:
    return {"required": [key], "properties": {key: _THERE}}


def _file(title: str, record: _Schema, containers: Iterable[str], container: _Schema | None = None) -> _Schema:
    """Return the schema of a file of records: a list of them, one by itself, or a list under one of *containers*."""
    named = record.pop("$defs", {})
    record = {key: part for key, part in record.items() if part != []}
    each = {"$ref": "#/$defs/record"}
    rows: _Schema = {"type": "array", "items": each}
    schema: _Schema = each
    for key in containers:
        inside: _Schema = {"required": [key], "properties": {key: rows, **(container or {})}}
        schema = {"if": {"type": "object", "required": [key]}, "then": inside, "else": schema}
    return {
        "title": re.sub(r":.*", "", title),
        "description": title,
        "if": {"type": "array"},
        "then": rows,
        "else": schema,
        "$defs": {"record": record, **named},
    }


def _named(make: Callable[[], dict[str, Any]], name: str) -> dict[str, Any]:
    head = {"$schema": GenerateJsonSchema.schema_dialect, "$id": f"{DOCS}schemas/{name}.schema.json"}
    return {**head, **make()}


_MADE: dict[str, Callable[[], dict[str, Any]]] = {
    "clip": Clip.model_json_schema,
    "dataset": DatasetFile.model_json_schema,
    "event": Event.model_json_schema,
    "item": Item.model_json_schema,
    "prediction": Prediction.model_json_schema,
    "items": items,
    "so-bench": so_bench,
    "jasco": jasco,
    "ruenvaqa": ruenvaqa,
}
#: Every schema by name; ``schemas/NAME.schema.json`` holds it, and a test keeps the two in step.
SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: partial(_named, make, name) for name, make in _MADE.items()},
    "report": schema_file,
    **{name: partial(_named, schema.copy, name) for name, schema in schema_file("outputs").items()},
}
