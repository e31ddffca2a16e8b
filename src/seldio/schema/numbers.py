"""Kinds of numbers that all models share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field


def _whole(value: Any) -> Any:
    """Convert 2.0 to 2, as JSON Schema counts it as whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


#: A whole number that an int32 column holds.
Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31), BeforeValidator(_whole)]
#: One that is not below 0.
NotNegative = Annotated[int, Field(ge=0, lt=2**31), BeforeValidator(_whole)]
