"""Reasons why a record is no row of the schema, found for one record in words or for a whole column at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

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
    """Describe in words the value that pydantic's error asks for."""
    words = _MUST.get(detail["type"])
    context = {key: f"{value:g}" if isinstance(value, float) else value for key, value in detail.get("ctx", {}).items()}
    return words.format_map(context) if words else str(detail["msg"]).removeprefix("Input should be ")


@cache
def _column(model: type[BaseModel], field: str) -> TypeAdapter[list[Any]]:
    info = model.model_fields[field]
    kind: Any = Annotated[info.annotation, info]
    return TypeAdapter(list[kind], config=ConfigDict(strict=True, allow_inf_nan=False))


def wrong_rows(model: type[BaseModel], field: str, values: list[Any]) -> set[int]:
    """Return the numbers of the values that cannot stand in a field."""
    if field not in model.model_fields:
        return {*range(len(values))}
    try:
        _column(model, field).validate_python(values)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        return {int(detail["loc"][0]) for detail in details}
    return set()
