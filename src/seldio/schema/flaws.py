"""What keeps a record from being a row of the schema: of one record in plain words, of a column at once.

:func:`flaws` says where and what is wrong with one record. :class:`Kind` is what the models of ``schema.qa`` allow, as
bounds to be held against all values of a column.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from seldio.schema.arrays import pc
from seldio.schema.qa import ITEM_SCHEMA, PREDICTION_SCHEMA, Item, packed

Model = TypeVar("Model", bound=BaseModel)


class Flaw(NamedTuple):
    """One thing wrong with a record."""

    at: tuple[str | int, ...]  # the field, then the keys and indices inside it
    kind: str  # a field that is missing, one that the schema does not know, or a wrong value
    must: str  # what the value must be, to end a sentence with: ``a number``


def flaws(model: type[BaseModel], values: Mapping[str, Any]) -> Iterator[Flaw]:
    """All that is wrong with the *values* of a row; nothing where they make one."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            yield Flaw(detail["loc"], _KINDS.get(detail["type"], "wrong"), must(detail))


def row_of(model: type[Model], values: Mapping[str, Any]) -> Model | None:
    """The row that *values* make; None where something is wrong with them."""
    try:
        return model.model_validate(values)
    except ValidationError:
        return None


_KINDS = {"missing": "missing", "extra_forbidden": "unknown"}
_MUST = {
    "string_type": "text",
    "string_too_short": "text of at least one character",
    "string_unicode": "text without unpaired surrogates",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "too_short": "an array of {min_length} values",
    "too_long": "an array of {max_length} values",
}


def must(detail: Any) -> str:
    """What a value must be, of an error of pydantic."""
    words = _MUST.get(detail["type"])
    context = {key: f"{value:g}" if isinstance(value, float) else value for key, value in detail.get("ctx", {}).items()}
    return words.format_map(context) if words else str(detail["msg"]).removeprefix("Input should be ")


# --- columns ---------------------------------------------------------------------------------------

Bools = np.ndarray[Any, np.dtype[np.bool_]]


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


def fitting(kind: Kind, column: pa.Array) -> Bools:
    """Which values of a column are surely what they may be; open-ended parts as ``schema.qa`` writes them."""
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    fits = valid if not valid.all() else np.ones(len(column), bool)
    if kind.open:
        fits = np.fromiter((text is not None and _is_packed(text) for text in column.to_pylist()), bool, len(column))
    elif kind.fields:
        for child, field in zip(column.flatten(), kind.fields.values(), strict=True):
            fits = fits & fitting(field, child)
    elif kind.item is not None:
        lengths = _filled(pc.list_value_length(column), 0)
        fits = fits & (kind.lengths[0] <= lengths) & (lengths <= kind.lengths[1])
        inside = fitting(kind.item, column.flatten())
        if not inside.all():
            fits[np.repeat(np.arange(len(column)), lengths)[~inside]] = False
    elif pa.types.is_string(kind.arrow):
        fits = fits & (_filled(pc.binary_length(column), 0) >= kind.lengths[0])
    else:
        values = _filled(column, 0)
        fits = fits & (kind.bounds[0] <= values) & (values <= kind.bounds[1]) & np.isfinite(values)
    return fits | ~valid if kind.null else fits


def _filled(column: pa.Array, value: object) -> Any:
    return pc.fill_null(column, value).to_numpy(zero_copy_only=False)


def _is_packed(text: str) -> bool:
    """Whether *text* is an object of JSON as :func:`seldio.schema.qa.packed` writes it."""
    try:
        value = json.loads(text)
        return type(value) is dict and packed(value) == text
    except (ValueError, RecursionError):
        return False
