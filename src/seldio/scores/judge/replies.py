"""Replies of a judge: whatever stands around the verdict, the verdict itself fits its schema or is none."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seldio.formats.json_strict import CAREFUL, too_deep
from seldio.scores.judge.requests import ReplySchema, Request
from seldio.text import clipped

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


@dataclasses.dataclass(frozen=True)
class Reply:
    """What came back for a request.

    Args:
        id: of the request.
        verdict: the reply's keys without ``request``; None where there is no verdict.
        text: the reply as it came; empty where none came.
        cached: whether it was in the cache.
        tokens_in: tokens that the server counted in this run, over all calls; None where it did not say.
        tokens_out: likewise of its replies.
        error: why there is no verdict.
        failed: the server gave no reply at all; asked again by the next run.
        model: the name that the server gave itself.
    """

    id: str
    verdict: dict[str, Any] | None
    text: str = ""
    cached: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    error: str | None = None
    failed: bool = False
    model: str | None = None


class Malformed(ValueError):
    """A reply that does not fit; says why."""


def read(text: str, request: Request) -> dict[str, Any]:
    """The verdict in *text*: its one JSON object, in a code fence or among words, as the official programs take it.

    Keys that the schema does not know are left out; one that may be null, or has a default, may be absent.

    Raises:
        Malformed: there is no object or more than one, it does not fit the schema, or it answers another request.
    """
    if not text.strip():
        raise Malformed("the reply is empty")
    value: dict[str, Any] = _fitted(_object(text), request.schema.as_json())
    errors = sorted(_validator(request.schema).iter_errors(value), key=lambda error: [str(key) for key in error.path])
    if errors:
        where = ".".join(str(key) for key in errors[0].path)
        raise Malformed(f"{clipped(where, 40) + ': ' if where else ''}{clipped(errors[0].message, 160)}")
    if value.pop("request") != request.tag:
        raise Malformed('it answers another request: "request" is not what was asked for')
    return value


def _object(text: str) -> dict[str, Any]:
    """The JSON object of a reply: from its first brace to its last."""
    inside = text[text.find("{") : text.rfind("}") + 1]
    try:
        if too_deep(text.encode("utf-8", "replace")):
            raise Malformed("it nests too deep")
        value = CAREFUL.decode(inside)
    except Malformed:
        raise
    except (ValueError, RecursionError) as error:
        raise Malformed("it is not one JSON object") from error
    return dict(value)


def _fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """*value* without keys that *schema* does not know, and with those that may be absent."""
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    properties: Mapping[str, Any] = schema["properties"]
    absent = {key: inner["default"] for key, inner in properties.items() if "default" in inner}
    absent |= {key: None for key, inner in properties.items() if _nullable(inner)}
    return absent | {key: _fitted(value[key], inner) for key, inner in properties.items() if key in value}


def _nullable(schema: Mapping[str, Any]) -> bool:
    """Whether null fits a schema of ours."""
    return (
        "null" in schema.get("type", ()) or None in schema.get("enum", ())
        or any(_nullable(each) for each in schema.get("anyOf", ()))
    )  # fmt: skip


def _validator(schema: ReplySchema) -> Draft202012Validator:
    return _compiled(json.dumps(schema.as_json()))


@lru_cache(maxsize=64)
def _compiled(schema: str) -> Draft202012Validator:
    """A validator for which 2.0 is no integer: the reply is to be what was asked for."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    def is_integer(checker: object, value: object) -> bool:  # noqa: ARG001 - the library's signature
        return isinstance(value, int) and not isinstance(value, bool)

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    return extend(Draft202012Validator, type_checker=types)(json.loads(schema))  # type: ignore[no-any-return, no-untyped-call]
