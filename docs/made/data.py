"""The event table, the vocabularies and the JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from seldio.formats.cells import KINDS
from seldio.schema.event_rows import Event
from seldio.schema.events import COLUMNS
from seldio.schema.own_columns import FIELDS
from seldio.schemas import SCHEMAS
from seldio.vocabularies import names, vocabulary

from . import code, page, table

MEANING = {
    "onset": "Seconds at which an event begins.",
    "azimuth": "Degrees, counter-clockwise, +90 is left.",
    "elevation": "Degrees, up positive.",
    "distance": "Metres.",
}


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    yield "events.md", _events()
    yield "schemas.md", _schemas()


def schema_files() -> dict[str, str]:
    """The JSON Schemas by file name."""
    return {
        f"schemas/{name}.schema.json": json.dumps(make(), indent=2, ensure_ascii=False) + "\n"
        for name, make in SCHEMAS.items()
    }


def _events() -> str:
    lines = [
        (
            "One row for each active source in each label frame: all formats of labels are read into this table, and "
            "all are written from it. A table has the columns that its files carry. `seldio.read` returns it, and "
            "`seldio schema event` prints the JSON Schema of a row."
        ),
        "",
    ]
    rows = [(f"`{name}`", f"`{kind}`", Event.model_fields[name].description or MEANING[name])
            for name, kind in COLUMNS.items()]  # fmt: skip
    lines += [*table(("column", "Arrow type", "what"), rows), "## Vocabularies", ""]
    for name in names():
        words = vocabulary(name)
        lines += [f"### {name}", "", f"{words.title}. Source: <{words.source}>", ""]
        rows = [
            (number, spellings[0], ", ".join(spellings[1:]))
            for number, spellings in enumerate(words.classes)
            if spellings
        ]
        lines += table(("number", "class", "also spelled"), rows)
    return page("The event table", *lines)


def _schemas() -> str:
    lines = [
        (
            "The JSON Schemas (2020-12) of what seldio reads and writes. Each is found at its `$id`, and "
            "`seldio schema NAME` prints it."
        ),
        "",
    ]
    schemas = {name: make() for name, make in SCHEMAS.items()}
    rows = [(f"[{name}](#{name})", f"<{schema['$id']}>") for name, schema in schemas.items()]
    lines += table(("schema", "address"), rows)
    settings = {"json.schemas": [{"fileMatch": ["*.report.json"], "url": schemas["report"]["$id"]}]}
    lines += [
        (
            "Everything that a command prints as JSON (`--json`, or `--output json`) has the version of seldio in "
            "`seldio` and fits a schema: `report` for `validate`; `scores` for `score`, `compare`, `rank` and `diff`; "
            "`description` for `info`; the others by their names. A command that was asked for JSON and fails after "
            "its options were read prints an `error` to standard output, and a sentence to standard error as always. "
            "Only `convert --json` without "
            "`-o FILE`, whose standard output is the data, prints its record or its error to standard error. Exit "
            "codes are the usual ones: 1 for wrong data, 2 for a request that makes no sense, 3 for a failure."
        ),
        "",
    ]
    lines += ["An editor checks and completes files by them. In Visual Studio Code, for example:", ""]
    lines += code(json.dumps(settings, indent=2), "json")
    for name, schema in schemas.items():
        lines += [f"## {name}", "", schema.get("description", schema.get("title", "")).split("\n\n")[0], ""]
        lines += _keys(schema)
        for inner, part in schema.get("$defs", {}).items() if name == "dataset" else ():
            lines += [f"### {inner}", "", part["description"], "", *_keys(part)]
            lines += _fields() if inner == "ColumnKeys" else []
    return page("JSON Schemas", *lines)


def _fields() -> list[str]:
    """Explain the fields of columns and the kinds of cells."""
    units = [(f"`{field}`", " or ".join(f"`{unit}`" for unit in known)) for field, known in FIELDS.items()]
    kinds = [(f"`{kind}`", cell.says) for kind, cell in KINDS.items()]
    return [*table(("field", "units, the usual one first"), units), *table(("kind", "what a cell may be"), kinds)]


def _keys(schema: dict[str, Any]) -> list[str]:
    keyed = schema if "properties" in schema else schema["$defs"]["record"]
    rows = [(f"`{key}`", _type(value), value.get("description", "")) for key, value in keyed["properties"].items()]
    return table(("key", "type", "what"), rows)


def _type(value: dict[str, Any]) -> str:
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(each) for each in value["anyOf"]))
    if "$ref" in value:
        return value["$ref"].rpartition("/")[2]
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return " or ".join(f"`{each}`" for each in value["enum"])
    if "items" in value:
        return f"list of {_type(value['items'])}"
    kind = value.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
