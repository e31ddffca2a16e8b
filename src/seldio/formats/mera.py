"""What the files of MERA have in common: a container, a list or lines of records, and how they are laid out."""

from __future__ import annotations

import dataclasses
import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from seldio.findings import Severity, Sink
from seldio.formats import json_text
from seldio.formats.json_text import Pointer, Record
from seldio.schema.qa import Item, Prediction

R = TypeVar("R", Item, Prediction)

#: Key of ``extra`` that holds a record as it was written, where the usual way to write it gives another one.
AS_WRITTEN = "as_written"
#: Cyrillic letters that look like those of options.
CYRILLIC = dict(zip("АВСЕавсе", "ABCEABCE", strict=True))
_ID = re.compile(r"0|-?[1-9][0-9]{0,17}")
_INDENT = re.compile(rb'[\[{]\r?\n( +)["\[{]')
_ONE_LINE_CONTAINER = re.compile(rb'\{\s*"(?:access|data)"\s*:')


def task_name(path: str) -> str:
    """The name of the task that a file with this *path* is for, as MERA's server finds it."""
    return posixpath.splitext(posixpath.basename(path))[0]


def gold_of(data: bytes) -> dict[Any, Any] | None:
    """The outputs of a task's questions by id, from its file: records under data, or under a split of it.

    None if it is not such a file.
    """
    try:
        records = json.loads(data.decode("utf-8-sig"))
        while isinstance(records, dict):
            records = records[next(key for key in ("data", "test") if key in records)]
        return {record["meta"]["id"]: record["outputs"] for record in records}
    except (ValueError, RecursionError, StopIteration, TypeError, KeyError, IndexError):
        return None


class MeraProblem(NamedTuple):
    """What is wrong with a record, at a place inside it."""

    code: str
    message: str
    pointer: Pointer = ()
    hint: str | None = None
    severity: Severity | None = None  # the rule's own, unless this place is an exception


@dataclasses.dataclass(frozen=True)
class MeraLayout:
    """How the text of a file is laid out."""

    shape: str = "container"  # ``container`` for an object around the records, ``list`` or ``lines``
    #: the container's other keys; instead of the records stands None
    head: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    indent: int | None = 4  # spaces to a level; None for all on one line
    compact: bool = False  # no spaces behind commas and colons
    newline: str = "\n"  # the line end
    end: str = ""  # what stands behind the value
    ascii: bool = False  # other characters are written as escapes

    @staticmethod
    def of(data: bytes, shape: str, head: Mapping[str, Any]) -> MeraLayout:
        """The layout of a file."""
        found = _INDENT.search(data[:65536]) if shape != "lines" else None
        return MeraLayout(
            shape,
            head,
            min(len(found[1]), 16) if found else None,
            b'": ' not in data[:65536] and b'":' in data[:65536],
            "\r\n" if b"\r\n" in data[:65536] else "\n",
            "\n" if data.endswith(b"\n") else "",
            data.isascii() and b"\\u" in data,
        )

    @staticmethod
    def from_origin(origin: Mapping[str, object] | None, default: MeraLayout) -> MeraLayout:
        """The layout that a reading's ``origin`` describes."""
        given = (origin or {}).get("layout")
        if not isinstance(given, dict):
            return default
        names = {field.name for field in dataclasses.fields(MeraLayout)}
        return MeraLayout(**{name: value for name, value in given.items() if name in names})

    def text(self, records: Sequence[Any], around: Callable[[Sequence[Any]], Any]) -> bytes:
        """The bytes of a file with *records*; *around* puts them into their container.

        Raises:
            InvalidData: JSON cannot hold a value.
        """
        if self.shape == "lines":
            lines = [self._dumps(record, None) for record in records]
            text = "\n".join(lines) + (self.end or "") * bool(lines)
        else:
            text = self._dumps(list(records) if self.shape == "list" else around(records), self.indent) + self.end
        return (text.replace("\n", "\r\n") if self.newline == "\r\n" else text).encode()

    def _dumps(self, value: Any, indent: int | None) -> str:
        plain = json_text.dumps(value)
        comma = "," if self.compact or indent is not None else ", "
        separators = (comma, ":" if self.compact else ": ")
        if indent is None and not self.ascii and not self.compact:
            return plain
        return json.dumps(value, ensure_ascii=self.ascii, indent=indent, separators=separators)


def load_lines(data: bytes, path: str, sink: Sink) -> tuple[list[Record], MeraLayout]:
    """The records of a file with one in each line."""
    records = [Record(document.value, document, ()) for document in json_text.parse_lines(data, path, sink)]
    return records, MeraLayout.of(data, "lines", {})


def is_lines(data: bytes) -> bool:
    """Whether a file has a record in each line, as far as its first line tells."""
    first, _, rest = data.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    first = first.strip()
    whole = first.startswith(b"{") and first.endswith(b"}") and len(first) > 2
    return whole and (bool(rest.strip()) or _ONE_LINE_CONTAINER.match(first) is None)


def id_text(value: Any) -> str | None:
    """An id as items have it; None where a value is none."""
    if isinstance(value, str):
        return value or None
    return str(value) if type(value) is int and abs(value) < 10**18 else None


def id_value(text: str) -> int | str:
    """An id as files have it: a number, unless it is written otherwise."""
    return int(text) if _ID.fullmatch(text) else text


def kept(row: R, value: dict[str, Any], built: dict[str, Any]) -> R:
    """The row of a record; with the record itself where writing the row would give another one, *built*.

    The order of keys counts.
    """
    if AS_WRITTEN not in value and json.dumps(built) == json.dumps(value):
        return row
    return row.model_copy(update={"extra": {**(row.extra or {}), AS_WRITTEN: value}})


def kind(value: Any) -> str:
    """The type of a JSON value in words."""
    names = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def dig(value: Any, *keys: str) -> Any:
    """What stands under *keys*, None where nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
