"""What keeps a record from being a row of the schema, in plain words and with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

Model = TypeVar("Model", bound=BaseModel)


class Flaw(NamedTuple):
    """One thing wrong with a record.

    Args:
        at: the field, then the keys and indices inside it.
        kind: a field that is missing, one that the schema does not know, or a wrong value.
        must: what the value must be, to end a sentence with: ``a number``.
    """

    at: tuple[str | int, ...]
    kind: str
    must: str


def flaws(model: type[BaseModel], values: Mapping[str, Any]) -> Iterator[Flaw]:
    """All that is wrong with the *values* of a row; nothing where they make one."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            yield Flaw(detail["loc"], _KINDS.get(detail["type"], "wrong"), _must(detail))


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
    "string_unicode": "text without halves of surrogate pairs",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "too_short": "an array of {min_length} values",
    "too_long": "an array of {max_length} values",
}


def _must(detail: Any) -> str:
    words = _MUST.get(detail["type"])
    context = {key: f"{value:g}" if isinstance(value, float) else value for key, value in detail.get("ctx", {}).items()}
    return words.format_map(context) if words else str(detail["msg"])
