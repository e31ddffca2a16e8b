"""Values of parameters, without pydantic where they need no conversion."""

from __future__ import annotations

import functools
from typing import Any


class Unconverted:
    """Mixed into a command: its parameters keep values that are of their type already.

    From 0.29, typer loads pydantic even for these, which takes longer than most commands. What needs a conversion or
    is refused goes the usual way, and so does everything where typer is of another version.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, and ``--help``."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if "process_value" not in vars(parameter):
                parameter.process_value = functools.partial(_processed, parameter, parameter.process_value)
        return parameters


def _processed(parameter: Any, usual: Any, ctx: Any, value: Any) -> Any:
    wanted = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    several = wanted == list[str] and isinstance(value, list | tuple)
    if not (several or (isinstance(wanted, type) and (value is None or isinstance(value, wanted)))):
        return usual(ctx, value)
    if not value and parameter.required:
        return usual(ctx, value)
    value = list(value) if several else value
    return value if parameter.callback is None else parameter.callback(ctx, parameter, value)
