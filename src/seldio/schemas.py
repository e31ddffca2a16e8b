"""The JSON Schemas (2020-12) of what seldio reads and writes, made from the models, and from what benchmarks hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from seldio.findings import DOCS
from seldio.reports.json_report import output_schemas, report_schema
from seldio.rules import item_schemas
from seldio.schema.clips import Clip
from seldio.schema.dataset_file import DatasetFile
from seldio.schema.event_rows import Event
from seldio.schema.qa import Item, Prediction


def _named(make: Callable[[], dict[str, Any]], name: str) -> dict[str, Any]:
    head = {"$schema": GenerateJsonSchema.schema_dialect, "$id": f"{DOCS}schemas/{name}.schema.json"}
    return {**head, **make()}


_MADE: dict[str, Callable[[], dict[str, Any]]] = {
    "clip": Clip.model_json_schema,
    "dataset": DatasetFile.model_json_schema,
    "event": Event.model_json_schema,
    "item": Item.model_json_schema,
    "prediction": Prediction.model_json_schema,
    "items": item_schemas.items,
    "so-bench": item_schemas.so_bench,
    "jasco": item_schemas.jasco,
    "ruenvaqa": item_schemas.ruenvaqa,
}
#: Every schema by name; ``schemas/NAME.schema.json`` holds it, and a test keeps the two in step.
SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: partial(_named, make, name) for name, make in _MADE.items()},
    "report": report_schema,
    **{name: partial(_named, schema.copy, name) for name, schema in output_schemas().items()},
}
