"""What the values of a column may be: the models of ``schema.qa`` as bounds, to be held against all values at once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import pyarrow as pa
from pydantic import BaseModel

from seldio.schema.qa import ITEM_SCHEMA, PREDICTION_SCHEMA, Item


@dataclasses.dataclass(frozen=True)
class Kind:
    """What the values of a column may be: an Arrow type with the bounds of JSON Schema; *open*: any object, as text."""

    arrow: pa.DataType
    null: bool
    open: bool
    bounds: tuple[float, float]
    lengths: tuple[float, float]
    item: Kind | None
    fields: Mapping[str, Kind]

    @classmethod
    def of(cls, schema: Mapping[str, Any], named: Mapping[str, Any], arrow: pa.DataType) -> Kind:
        """The kind that a JSON Schema, with the schemas that it names, describes."""
        choices = [named[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
                   for one in schema.get("anyOf", [schema])]  # fmt: skip
        one = next(choice for choice in choices if choice.get("type") != "null")
        lengths = (one.get("minItems", one.get("minLength", 0)), one.get("maxItems", math.inf))
        fields = {
            field.name: cls.of(one["properties"][field.name], named, field.type)
            for field in (arrow if pa.types.is_struct(arrow) else ())
        }
        item = cls.of(one["items"], named, arrow.value_type) if pa.types.is_list(arrow) else None
        bounds = (one.get("minimum", -math.inf), one.get("maximum", math.inf))
        is_open = one["type"] == "object" and not fields
        return cls(arrow, len(choices) > 1, is_open, bounds, lengths, item, fields)


@cache
def kinds(model: type[BaseModel]) -> dict[str, Kind]:
    """The columns of a table of questions, or of predictions."""
    schema = model.model_json_schema()
    table = ITEM_SCHEMA if model is Item else PREDICTION_SCHEMA
    return {field.name: Kind.of(schema["properties"][field.name], schema["$defs"], field.type) for field in table}
