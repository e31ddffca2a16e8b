"""JSON and JSON Lines, strict: one syntax for loading (the sink raises) and for checking (it collects).

Duplicate keys (SYN202) and a byte order mark (SYN103) are reported and read over; after every other
error there is no document.
"""

from __future__ import annotations

import io
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

from seldio.errors import InvalidData
from seldio.findings import Finding, Severity, Sink
from seldio.formats.base import Place
from seldio.formats.json_strict import (
    LENIENT,
    MAX_DEPTH,
    JsonProblem,
    JsonSource,
    first_break,
    problems,
    proven,
    skip,
)
from seldio.reader_rules import reader_rule
from seldio.text import plural

__all__ = ["MAX_DEPTH", "JsonDocument", "JsonReader", "Record", "dumps", "parse", "parse_lines"]


Pointer = tuple[str | int, ...]


class JsonDocument:
    """A value read from JSON, and where each part of it stands."""

    __slots__ = ("_members", "_source", "value")

    def __init__(self, value: Any, source: JsonSource) -> None:
        self.value = value
        self._source = source
        self._members: dict[int, tuple[dict[str, int] | range, array[int]]] = {}

    @property
    def first_line(self) -> int:
        """The physical line of the file on which the document begins."""
        return self._source.first_line

    @property
    def text(self) -> str:
        """The text that was read, with the whitespace around the document."""
        return self._source.text

    def extent(self, pointer: Pointer = ()) -> tuple[int, int]:
        """Where in :attr:`text` the value begins and ends that keys and indices lead to.

        Where they lead nowhere, the closest value around it; of a key that appears twice, the last counts.
        """
        text = self._source.text
        start, end = skip(text, 0), len(text.rstrip(" \t\r\n"))
        for step in pointer:
            if start not in self._members:  # each container is scanned once
                self._members[start] = _members(text, start)
            names, offsets = self._members[start]
            if isinstance(names, dict) != isinstance(step, str) or step not in names:
                break
            place = 2 * names[step]  # type: ignore[index]
            start, end = offsets[place : place + 2]
        return start, end

    def locate(self, pointer: Pointer) -> Place:
        """The place of a value, see :meth:`extent`."""
        return self._source.place(*self.extent(pointer))

    def finding(
        self, code: str, message: str, pointer: Pointer, *, hint: str | None = None, severity: Severity | None = None
    ) -> Finding:
        """A finding at the place of a value; its severity is that of the rule unless one is given."""
        return self._source.finding(JsonProblem(code, *self.extent(pointer), message, hint), severity)


class Record(NamedTuple):
    """A value inside a document, and the way to it."""

    value: Any
    document: JsonDocument
    pointer: Pointer

    def place(self, pointer: Pointer = ()) -> Place:
        """Where a part of the record stands, or the closest one around it."""
        return self.document.locate((*self.pointer, *pointer))

    def finding(
        self, code: str, message: str, pointer: Pointer = (), hint: str | None = None, severity: Severity | None = None
    ) -> Finding:
        """A finding about a part of the record, or the closest one around it."""
        return self.document.finding(code, message, (*self.pointer, *pointer), hint=hint, severity=severity)


def _members(text: str, opening: int) -> tuple[dict[str, int] | range, array[int]]:
    """The ordinal of each key or index, and where its value begins and ends."""
    names: dict[str, int] = {}
    offsets = array("Q")
    pos = skip(text, opening + 1) if text[opening] in "[{" else len(text)
    while pos < len(text) and text[pos] not in "]}":
        if text[opening] == "{":
            name, pos = LENIENT.raw_decode(text, pos)
            names[name] = len(offsets) // 2
            pos = skip(text, skip(text, pos) + 1)
        _, end = LENIENT.raw_decode(text, pos)
        offsets.extend((pos, end))
        pos = skip(text, end)
        pos = skip(text, pos + 1) if text[pos] == "," else pos
    return (names if text[opening] == "{" else range(len(offsets) // 2)), offsets


def parse(data: bytes, path: str, sink: Sink) -> JsonDocument | None:
    """Read one JSON document; None, after a finding of severity error, where it cannot be read."""
    reader = JsonReader(data, path, sink)
    return None if reader.wide() else reader.read(reader.data)


def parse_lines(data: bytes, path: str, sink: Sink) -> Iterator[JsonDocument]:
    r"""Read JSON Lines, one document a line; ``\n`` and nothing else ends a line.

    A line that cannot be read is a finding and is left out. A file that is one JSON document instead of lines is one
    finding, and gives nothing.
    """
    reader = JsonReader(data, path, sink, lines=True)
    if not (reader.wide() or reader.one_document()):
        yield from reader.documents(enumerate(io.BytesIO(reader.data), 1))


class JsonReader:
    """One file being read, without its byte order mark."""

    def __init__(self, data: bytes, path: str, sink: Sink, *, lines: bool = False) -> None:
        self.path, self.sink, self.lines = path, sink, lines
        self.data = data.removeprefix(b"\xef\xbb\xbf")
        if len(self.data) < len(data):
            message = "the file begins with a byte order mark"
            self.report("SYN103", message, "save the file as UTF-8 without BOM", "\ufeff")

    def documents(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[JsonDocument]:
        """The documents of *lines* with their numbers and line ends; blank ones in a row are one finding."""
        for (blank, _), run in groupby(enumerate(lines), key=_blank_run):
            if blank:
                line, count = next(run)[1][0], 1 + sum(1 for _ in run)
                hint = "remove blank lines: every line of JSON Lines holds a record"
                self.report("SYN110", plural(count, "blank line"), hint, line=line)
                continue
            for _, (line, raw) in run:
                document = self.read(raw.removesuffix(b"\n"), line, cut=raw[-1:] != b"\n")
                if document is not None and not self.array(document):
                    yield document

    def report(self, code: str, message: str, hint: str, value: str | None = None, line: int = 1) -> None:
        """Report what has a line but no text to show."""
        self.sink(reader_rule(code).at(
            self.path, message, hint, line, 1, value, "", end_column=1, fixable=False
        ))  # fmt: skip

    def wide(self) -> bool:
        """Whether the file is in UTF-16 or UTF-32, which is a finding."""
        name = next((name for name, pattern in _WIDE.items() if pattern.match(self.data)), None)
        if name is not None:
            self.report("SYN102", f"this is {name}, not UTF-8", "save the file as UTF-8 without BOM")
        return name is not None

    def read(self, raw: bytes, line: int = 1, *, cut: bool = False) -> JsonDocument | None:
        """One document; *cut*: it is the last of its file, and no line end follows."""
        try:
            source = JsonSource(raw.decode(), self.path, line)
        except UnicodeDecodeError as error:
            self.undecodable(error, line, cut)
            return None
        values = proven([raw])
        return self.diagnose(source, cut) if values is None else JsonDocument(values[0], source)

    def diagnose(self, source: JsonSource, cut: bool) -> JsonDocument | None:
        """Report all that is wrong; the document, where that is nothing but some duplicate keys."""
        readable = True
        for problem in problems(source, lines=self.lines):
            self.sink(source.finding(_torn(source) if cut and problem.cut else problem))
            readable &= problem.code == "SYN202" and not problem.last
        return JsonDocument(LENIENT.decode(source.text), source) if readable else None

    def undecodable(self, error: UnicodeDecodeError, line: int, cut: bool) -> None:
        """Report what is not UTF-8; a character that the end of the file cuts off is a truncated record."""
        source = JsonSource(error.object.decode(errors="replace"), self.path, line)
        start = len(error.object[: error.start].decode())
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        hint = "save the file as UTF-8; it is probably Latin-1"
        problem = JsonProblem("SYN101", start, start + 1, message, hint)
        if cut and error.reason == "unexpected end of data":
            self.sink(source.finding(_torn(source)))
        else:  # as its value, the byte in Latin-1: it is no character
            self.sink(replace(source.finding(problem), value=chr(error.object[error.start])))

    def array(self, document: JsonDocument) -> bool:
        """Whether a line holds an array, which is a finding."""
        message = "an array on one line instead of records"
        if isinstance(document.value, list):
            self.sink(document.finding("SYN207", message, (), hint=_NOT_LINES))
        return isinstance(document.value, list)

    def one_document(self) -> bool:
        """Whether the file is an array on a line, or JSON over several lines: one finding for it all."""
        start = self.data.rfind(b"\n", 0, len(self.data) - len(self.data.lstrip())) + 1
        line = self.data.count(b"\n", 0, start) + 1
        body = self.data[start:]
        first = body.partition(b"\n")[0]
        values = proven([first])
        if values is None:
            return self.spread(JsonSource(body.decode(errors="replace"), self.path, line))
        return self.array(JsonDocument(values[0], JsonSource(first.decode(), self.path, line)))

    def spread(self, source: JsonSource) -> bool:
        """Whether the first record runs over several lines, which is a finding.

        A truncated record may seem to run on as well; but then the next line is a record of its own.
        """
        first, _, rest = source.text.partition("\n")
        second = rest.lstrip().partition("\n")[0]
        start = skip(first, 0)
        if not second or not first.startswith(("[", "{"), start) or first_break(first) is None:
            return False
        place = first_break(source.text)
        if place is not None and (place <= len(first) or first_break(second) is None):
            return False
        code, what = ("SYN207", "array") if first[start] == "[" else ("SYN201", "object")
        message = f"a JSON {what} that spans several lines instead of one record per line"
        self.sink(source.finding(JsonProblem(code, start, len(first), message, _NOT_LINES)))
        return True


def _blank_run(item: tuple[int, tuple[int, bytes]]) -> tuple[bool, int]:
    """Whether a line is blank, and in which run of such."""
    ordinal, (line, raw) = item
    blank = not raw.strip()
    return blank, line - ordinal if blank else 0


_NOT_LINES = "this is JSON, not JSONL: write one object per line, or name the file .json"
# A wide encoding shows by its byte order mark, or by the zeros that ASCII characters have in it.
_WIDE = {
    "UTF-32": re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff|(?s:[^\0]\0\0\0(?:[^\0]|\Z)|\0\0\0[^\0])"),
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff|(?s:[^\0]\0[^\0]\0|\0[^\0]\0[^\0])"),
}


def _torn(source: JsonSource) -> JsonProblem:
    hint = "the file seems to be cut off, and records after this one may be missing: write or download it again"
    return JsonProblem("SYN108", 0, len(source.text), "the last record is cut off: the file ends inside it", hint)


def dumps(value: Any, *, separators: tuple[str, str] = (", ", ": ")) -> str:
    """JSON as seldio writes it: keys in their order, and no escapes but those that must be.

    Raises:
        InvalidData: for NaN, infinity or half of a surrogate pair.
    """
    try:
        text = _encode(separators)(value)
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise InvalidData(_unwritable("SYN205", f"half of a surrogate pair, {half}")) from error
    except ValueError as error:
        raise InvalidData(_unwritable("SYN203", str(error))) from error
    return text


@cache
def _encode(separators: tuple[str, str]) -> Callable[[Any], str]:
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=separators).encode


def _unwritable(code: str, what: str) -> Finding:
    return reader_rule(code).at("<value>", f"JSON cannot hold this value: {what}")
