"""The JSON Schemas (2020-12) of what seldio reads and writes, made from the models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from seldio.findings import DOCS
from seldio.reports.json_report import report_schema
from seldio.schema.clips import Clip
from seldio.schema.dataset_file import DatasetFile
from seldio.schema.event_rows import Event
from seldio.schema.qa import Item, Prediction


def _model(model: Any, name: str) -> dict[str, Any]:
    head = {"$schema": GenerateJsonSchema.schema_dialect, "$id": f"{DOCS}schemas/{name}.schema.json"}
    return {**head, **model.model_json_schema()}


#: Every schema by name; ``schemas/NAME.schema.json`` holds it, and a test keeps the two in step.
SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "clip": partial(_model, Clip, "clip"),
    "dataset": partial(_model, DatasetFile, "dataset"),
    "event": partial(_model, Event, "event"),
    "item": partial(_model, Item, "item"),
    "prediction": partial(_model, Prediction, "prediction"),
    "report": report_schema,
}
