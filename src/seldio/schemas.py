"""The JSON Schemas (2020-12) of what seldio reads and writes, made from the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from seldio.reports.json_report import report_schema
from seldio.schema.clips import Clip
from seldio.schema.events import Event
from seldio.schema.qa import Item, Prediction


def _event() -> dict[str, Any]:
    return _model(Event, "event")


def _clip() -> dict[str, Any]:
    return _model(Clip, "clip")


def _item() -> dict[str, Any]:
    return _model(Item, "item")


def _prediction() -> dict[str, Any]:
    return _model(Prediction, "prediction")


def _model(model: Any, name: str) -> dict[str, Any]:
    head = {"$schema": GenerateJsonSchema.schema_dialect, "$id": f"urn:seldio:schema:{name}:1"}
    return {**head, **model.model_json_schema()}


#: Every schema by name; ``schemas/NAME.schema.json`` holds it, and a test keeps the two in step.
SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "clip": _clip,
    "event": _event,
    "item": _item,
    "prediction": _prediction,
    "report": report_schema,
}
