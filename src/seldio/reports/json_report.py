"""The report as JSON (version 1) and as JSON lines, and the schema both keep to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from seldio.findings import JSON_KEYS, MOST_LISTED, MOST_RANGES, Finding, Report, Severity
from seldio.reports.common import Options
from seldio.text import json_text

#: How every report writes JSON.
dumps = json_text


def filled(document: dict[str, Any], items: Iterable[str], margin: str) -> Iterator[str]:
    """*document* indented by two, with *items* (JSON already) in its last value, an empty list.

    Item by item, so that a hundred thousand findings never stand in memory as one text.
    """
    head, tail = dumps(document, indent=2).rsplit("[]", 1)
    opening, closing = head + "[", "]"
    for item in items:
        yield f"{opening}\n{margin}  {item}"
        opening, closing = ",", f"\n{margin}]"
    yield f"{'' if opening == ',' else opening}{closing}{tail}\n"


def render_json(report: Report, _options: Options) -> Iterator[str]:
    """``report.as_dict()``, indented by two."""
    document = {"version": 1, "summary": report.summary(), "findings": []}
    return filled(document, map(_indented, report.listed()[0]), margin="  ")


def _indented(finding: Finding) -> str:
    lines = ",".join(f'\n      "{key}": {dumps(value)}' for key, value in finding.as_dict().items())
    return f"{{{lines}\n    }}"


def render_jsonl(report: Report, _options: Options) -> Iterator[str]:
    """One finding a line; the last line has the version and the summary in place of a finding."""
    for finding in report.listed()[0]:
        yield dumps(finding.as_dict()) + "\n"
    yield dumps({"version": 1, "summary": report.summary()}) + "\n"


def _integer(minimum: int, description: str) -> dict[str, Any]:
    return {"description": description, "type": "integer", "minimum": minimum}


def _object(description: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


_CODE = "^[A-Z]+[0-9]+$"

_FINDING: dict[str, dict[str, Any]] = {
    "code": {
        "description": "The rule; `seldio rule CODE` explains it.",
        "type": "string",
        "pattern": _CODE,
    },
    "severity": {
        "description": "How bad it is.",
        "type": "string",
        "enum": [severity.value for severity in Severity],
    },
    "message": {"description": "One sentence in plain words.", "type": "string"},
    "path": {
        "description": "The file as the user named it; a member of an archive is archive.zip!/member.csv.",
        "type": "string",
    },
    "line": _or_null(_integer(1, "The physical line, counted from 1; null where a finding has none.")),
    "column": _or_null(_integer(1, "The character (code point) of that line where the offending text begins, from 1.")),
    "end_column": _or_null(_integer(1, "The character just behind the offending text, counted from 1.")),
    "value": _or_null({"description": "The offending text as it stands in the file.", "type": "string"}),
    "hint": _or_null({"description": "What to do about it.", "type": "string"}),
    "fixable": {
        "description": "Whether --fix or --unsafe-fixes can repair it; nothing in archives is rewritten.",
        "type": "boolean",
    },
    "count": _integer(1, "How many places of the file have this fault; line, column and value are those of the first."),
    "ranges": {
        "description": f"First and last line of each run of lines with this fault, the first {MOST_RANGES} of them; "
        "empty where count is 1 or the places have no line.",
        "type": "array",
        "maxItems": MOST_RANGES,
        "items": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1},
            "minItems": 2,
            "maxItems": 2,
        },
    },
    "unlisted": _integer(0, "How many lines with this fault are not in ranges."),
}


def report_schema() -> dict[str, Any]:
    """The JSON Schema of the json report; ``schemas/report.schema.json`` is this, written down."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:seldio:schema:report:1",
        "title": "seldio report, version 1",
        **_object(
            "What `seldio validate --output json` prints.",
            {
                "version": {"description": "The version of this layout.", "const": 1},
                "summary": _summary_schema(),
                "findings": {
                    "description": "One for each cause in each file, sorted by path, line, column, code; at most "
                    f"{MOST_LISTED:,} of one rule (unlisted in the summary counts the others).",
                    "type": "array",
                    "items": _object("One thing wrong in one place.", {key: _FINDING[key] for key in JSON_KEYS}),
                },
            },
        ),
    }


def _summary_schema() -> dict[str, Any]:
    return _object(
        "The counts, always whole.",
        {
            "files": _integer(0, "How many files were read."),
            "errors": _integer(0, "How many findings are errors."),
            "warnings": _integer(0, "How many findings are warnings."),
            "infos": _integer(0, "How many findings are infos."),
            "by_rule": {
                "description": "How many findings each rule has, by code.",
                "type": "object",
                "patternProperties": {_CODE: _integer(1, "How many findings this rule has.")},
                "additionalProperties": False,
            },
            "places": _integer(0, "How many places all findings have together."),
            "unlisted": {
                "description": "How many findings of a rule are counted and not listed, by code; mostly empty.",
                "type": "object",
                "patternProperties": {_CODE: _integer(1, "How many findings of this rule are not listed.")},
                "additionalProperties": False,
            },
        },
    )
