"""The common parts of MERA's files: a container, a list or lines of records, and how they are laid out."""

from __future__ import annotations

import dataclasses
import json
import posixpath
import re
from typing import Any, NamedTuple, TypeVar

from seldio.findings import Severity, Sink
from seldio.formats.json_layout import Layout
from seldio.formats.json_records import frame_of_lines, frame_of_list, value_at
from seldio.formats.json_text import JsonDocument, Pointer, Record, parse_lines
from seldio.schema.qa import Item, Prediction

R = TypeVar("R", Item, Prediction)

#: Key of ``extra`` that holds a record as it was written, where the usual way to write it gives another one.
AS_WRITTEN = "as_written"
#: Cyrillic letters that look like those of options.
CYRILLIC = dict(zip("АВСЕавсе", "ABCEABCE", strict=True))
_ID = re.compile(r"0|-?[1-9][0-9]{0,17}")
_ONE_LINE_CONTAINER = re.compile(rb'\{\s*"(?:access|data)"\s*:')


def task_name(path: str) -> str:
    """The name of the task that a file with this *path* is for, as MERA's server finds it."""
    return posixpath.splitext(posixpath.basename(path))[0]


def gold_of(data: bytes) -> dict[Any, Any] | None:
    """Return the outputs of a task's questions by id, under data or a split of it; None if the file has none."""
    try:
        records = json.loads(data.decode("utf-8-sig"))
        while isinstance(records, dict):
            records = records[next(key for key in ("data", "test") if key in records)]
        return {record["meta"]["id"]: record["outputs"] for record in records}
    except (ValueError, RecursionError, StopIteration, TypeError, KeyError, IndexError):
        return None


class MeraProblem(NamedTuple):
    """A problem with a record, at a place inside it."""

    code: str
    message: str
    pointer: Pointer = ()
    hint: str | None = None
    severity: Severity | None = None  # the rule's own, unless this place is an exception


def styled(frame: tuple[Layout, str], data: bytes) -> Layout:
    """Return the layout of a file whose records all have their keys in the usual order, or are as they were written."""
    layout, first = frame
    return dataclasses.replace(layout.styled(first, data), order=()) if first else layout


def records_at(document: JsonDocument, pointer: Pointer, data: bytes) -> tuple[list[Record], Layout]:
    """Return the records of the list at *pointer*, and how they are laid out."""
    rows = value_at(document.value, pointer)
    records = [Record(row, document, (*pointer, number)) for number, row in enumerate(rows)]
    return records, styled(frame_of_list(document, pointer, len(rows)), data)


def load_lines(data: bytes, path: str, sink: Sink) -> tuple[list[Record], Layout]:
    """The records of a file with one in each line."""
    records = [Record(document.value, document, ()) for document in parse_lines(data, path, sink)]
    return records, styled(frame_of_lines(data.removeprefix(b"\xef\xbb\xbf")), data)


def is_lines(data: bytes) -> bool:
    """Whether a file has a record in each line, as far as its first line tells."""
    first, _, remaining = data.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    first = first.strip()
    whole = first.startswith(b"{") and first.endswith(b"}") and len(first) > 2
    return whole and (bool(remaining.strip()) or _ONE_LINE_CONTAINER.match(first) is None)


def id_text(value: Any) -> str | None:
    """An id as items have it; None where a value is none."""
    if isinstance(value, str):
        return value or None
    return str(value) if type(value) is int and abs(value) < 10**18 else None


def id_value(text: str) -> int | str:
    """An id as files have it: a number, unless it is written otherwise."""
    return int(text) if _ID.fullmatch(text) else text


def kept(row: R, value: dict[str, Any], built: dict[str, Any]) -> R:
    """Return the row of a record, with the record itself if *built* differs from it, order of keys included."""
    if AS_WRITTEN not in value and json.dumps(built) == json.dumps(value):
        return row
    return row.model_copy(update={"extra": {**(row.extra or {}), AS_WRITTEN: value}})


def kind(value: Any) -> str:
    """The type of a JSON value in words."""
    names = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def dig(value: Any, *keys: str) -> Any:
    """Return the value under *keys*, None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
