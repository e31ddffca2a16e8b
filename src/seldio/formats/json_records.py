"""The records of a JSON file, wherever they stand (one a line, in a list, under a key, or alone), and their layout."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from seldio.findings import Sink
from seldio.formats.json_text import LENIENT, JsonDocument, JsonReader, JsonSource, Pointer, dumps, proven

#: Behind a value and behind a key; the most usual ones first.
_SEPARATORS = ((", ", ": "), (",", ": "), (",", ":"), (", ", ":"))
_INDENT = re.compile(r"[{\[](\r?\n)([ \t]*)(?=\S)")
_ESCAPED = re.compile(rb"\\u(?!00[0-7])")


@dataclasses.dataclass(frozen=True)
class Layout:
    """How records become a file."""

    head: str = ""  # the text before the records
    lead: str = ""  # what stands before each record
    joint: str = "\n"  # what stands between two records, before the lead of the second
    tail: str = "\n"  # the text behind the records
    indent: str | None = None  # of a level inside a record; None for all on one line
    separators: tuple[str, str] = (", ", ": ")  # behind a value and behind a key
    ascii: bool = False  # whether other characters are escaped
    order: tuple[str, ...] = ()  # of the keys of a record; others stand behind
    eol: str = "\n"  # the line end inside records with an indent
    numbered: bool = False  # whether all ids are numbers

    def styled(self, text: str, data: bytes) -> Layout:
        """Return this layout with the style of the file's first record."""
        escaped = data.isascii() and _ESCAPED.search(data) is not None
        values = proven([text.encode()])
        if values is None or not isinstance(value := values[0], dict):
            return self  # a finding says that it is no record, or what JSON cannot hold
        indented = _INDENT.match(text)
        base = self.lead.rpartition("\n")[2] if "\n" in self.lead else ""
        indent, eol = (indented[2].removeprefix(base) or " ", indented[1]) if indented else (None, "\n")
        style = dataclasses.replace(self, ascii=escaped, order=tuple(value), indent=indent, eol=eol)
        styles = [dataclasses.replace(style, separators=pair) for pair in _SEPARATORS if not indent or pair[0] == ","]
        return next((style for style in styles if style.record(value) == style.lead + text), styles[0])

    def record(self, record: Mapping[str, Any]) -> str:
        """Return the text of a record, with its lead; raise InvalidData if JSON cannot hold it."""
        whole = record
        if self.order and (*record,) != self.order:
            whole = {**{key: record[key] for key in self.order if key in record}, **record}
        text = dumps(whole, separators=self.separators, indent=self.indent)
        if self.ascii:
            text = json.dumps(whole, indent=self.indent, separators=self.separators)
        base = self.lead.rpartition("\n")[2]
        return self.lead + text.replace("\n", self.eol + base)

    def file(self, records: Sequence[str]) -> str:
        """Return the file of the texts of its records."""
        if not records:
            return f"{self.head}{self.tail}" if self.head else ""
        return f"{self.head}{self.joint.join(records)}{self.tail}"


def layout_of(stored: object, default: Layout) -> Layout:
    """Return the layout that an origin describes, or the default of the format."""
    if not isinstance(stored, Mapping):
        return default
    values = {field.name: stored[field.name] for field in dataclasses.fields(Layout) if field.name in stored}
    values |= {name: tuple(values[name]) for name in ("separators", "order") if name in values}
    return dataclasses.replace(default, **values)


#: Where an object keeps its records.
CONTAINERS = ("records", "data", "samples")
_RECORD = ("id", "qa_id", "audio_path", "question", "prediction")
_PREFIX = 1 << 16
_INSIDE = re.compile(r'"(?:records|data|samples)"\s*:\s*\[\s*(?=\{)')
_KEY = re.compile(r'"([^"\\]{1,80})"\s*:')
#: Records, and bytes of lines, that are read at a time.
_RUN = 1 << 13
_RUN_BYTES = 1 << 20
#: The first line that is not blank, and what the next one begins with.
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*([^\n]*)\s*(.?)", re.DOTALL)


class Run(NamedTuple):
    """Records that follow each other in a file."""

    first: int  # the number of the first; of lines, blank ones are counted too
    values: Sequence[Any]  # what they hold; None where they are not surely right
    raws: Sequence[bytes]  # their lines; empty for those of one document


class Records:
    """The records of one file, by number; what is wrong with the JSON goes to *sink*."""

    def __init__(self, data: bytes, path: str, sink: Sink) -> None:
        self.path, self.sink = path, sink
        self.lines = in_lines(data, path)
        self.reader = JsonReader(data, path, sink, lines=self.lines)
        self.data = self.reader.data
        self.readable = not data or data.isspace()
        self.pointer: Pointer = ()  # of the list in a document
        self._listed = False
        self._last: tuple[int, JsonDocument] | None = None

    def runs(self) -> Iterator[Run]:
        """Yield the records, some thousand at a time."""
        if not self.lines:
            records = self._of_document()
            for first in range(0, len(records), _RUN):
                yield Run(first, records[first : first + _RUN], ())
            return
        first, start = 0, 0
        if self.reader.wide() or self.reader.one_document():
            return
        while start < len(self.data):
            end = self.data.find(b"\n", start + _RUN_BYTES) + 1 or len(self.data)
            raws = self.data[start:end].split(b"\n")
            if not raws[-1]:
                raws.pop()
            yield Run(first, proven(raws) or [(proven([raw]) or [None])[0] for raw in raws], raws)
            first, start = first + len(raws), end

    def careful(self, run: Run, numbers: Sequence[int]) -> Iterator[tuple[int, JsonDocument]]:
        """Yield those records of a run that can be read, by their number in it; what is wrong goes to the sink."""
        if not self.lines:
            for number in numbers:
                yield number, self.document.part(run.values[number], self._at(run.first + number))
            return
        last = run.first + len(run.raws) - 1 if not self.data.endswith(b"\n") else -1
        wanted = (run.first + number for number in numbers)
        lines = ((line + 1, run.raws[line - run.first] + b"\n" * (line != last)) for line in wanted)
        for document in self.reader.documents(lines):
            self.readable = True
            yield document.source.first_line - 1 - run.first, document

    def __getitem__(self, number: int) -> JsonDocument:
        if not self.lines:
            return self.document.part(value_at(self.document.value, self._at(number)), self._at(number))
        if self._last is None or self._last[0] != number:  # many findings may be about one record
            start, end = (int(place) for place in self._starts[number : number + 2])
            text = self.data[start : end - 1].decode()
            self._last = number, JsonDocument(LENIENT.decode(text), JsonSource(text, self.path, number + 1))
        return self._last[1]

    @cached_property
    def _starts(self) -> np.ndarray[Any, Any]:
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n")) + 1
        behind = [] if self.data.endswith(b"\n") else [len(self.data) + 1]
        return np.concatenate([[0], ends, behind])

    @cached_property
    def document(self) -> JsonDocument:
        """The one document of a file that could be read."""
        text = self.data.decode()
        return JsonDocument(LENIENT.decode(text), JsonSource(text, self.path))

    def _of_document(self) -> Sequence[Any]:
        values = proven([self.data])
        if values is None:
            document = None if self.reader.wide() else self.reader.read(self.data)
            if document is None:
                return ()
            self.document, values = document, [document.value]
        value: Any = values[0]
        key = wrong = None
        if isinstance(value, dict):
            key = next((key for key in CONTAINERS if isinstance(value.get(key), list)), None)
            if key is None and value.keys().isdisjoint(_RECORD):
                wrong = next((key for key in CONTAINERS if key in value), None)
        if wrong is not None or not isinstance(value, dict | list):
            message = "the file is neither an array nor an object with records"
            message = message if wrong is None else f"{wrong} is not an array"
            hint = 'a file of records is [{...}, ...], {"records": [...]}, {"data": [...]} or JSON Lines'
            self.sink(self.document.finding("SYN213", message, () if wrong is None else (wrong,), hint=hint))
            return ()
        self.readable, self.pointer = True, () if key is None else (key,)
        records = value_at(value, self.pointer)
        self._listed = isinstance(records, list)
        return records if self._listed else [records]

    def _at(self, number: int) -> Pointer:
        return (*self.pointer, number) if self._listed else ()

    def frame(self) -> tuple[Layout, str]:
        """Return what stands around the records of the file, and the text of the first."""
        if self.lines:
            return frame_of_lines(self.data)
        if self._listed:
            value = self.document.value
            return frame_of_list(self.document, self.pointer, len(value[self.pointer[0]] if self.pointer else value))
        text, (start, end) = self.document.source.text, self.document.extent()
        return Layout(head=text[:start], joint="", tail=text[end:]), text[start:end]


def frame_of_lines(data: bytes) -> tuple[Layout, str]:
    """Return what stands around records that are lines, and the text of the first."""
    ends = data.count(b"\r\n") if b"\r" in data else 0
    newline = "\r\n" if ends > 0 and ends == data.count(b"\n") else "\n"
    first = _first(data)[1].decode(errors="replace").strip()
    return Layout(joint=newline, tail=newline if data.endswith(b"\n") else ""), first


def frame_of_list(document: JsonDocument, pointer: Pointer, size: int) -> tuple[Layout, str]:
    """Return what stands around the *size* records of the list at *pointer*, and the text of the first."""
    text, opening = document.source.text, document.extent(pointer)[0] + 1
    if not size:
        return Layout(text[:opening], "", ",", text[opening:]), ""
    start, end = document.extent((*pointer, 0))
    lead, tail = text[opening:start], text[document.extent((*pointer, size - 1))[1] :]
    gap = text[end : document.extent((*pointer, 1))[0]] if size > 1 else f",{lead}"
    return Layout(text[:opening], lead, gap.removesuffix(lead), tail), text[start:end]


def value_at(value: Any, pointer: Pointer) -> Any:
    """Return the value at *pointer*, or the closest one around it."""
    for step in pointer:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return value
    return value


def peek(data: bytes) -> frozenset[str]:
    """Return the keys of the first record, as far as a look at the head of the file tells; never an exception."""
    return _peek(data[:_PREFIX])


@functools.lru_cache(maxsize=2)  # every format looks at the same file
def _peek(head: bytes) -> frozenset[str]:
    text = head.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    start = text.find("{")
    if start < 0 or text[:start].strip(" \t\r\n["):
        return frozenset()
    keys = _keys(text, start)
    inside = _INSIDE.search(text)
    return _keys(text, inside.end()) if inside and keys & {*CONTAINERS} else keys


def _keys(text: str, start: int) -> frozenset[str]:
    try:
        value, _ = LENIENT.raw_decode(text, start)
    except (ValueError, RecursionError):
        return frozenset(_KEY.findall(text, start))
    return frozenset(value)


def in_lines(data: bytes, path: str) -> bool:
    """Return whether a file is JSON Lines: by its suffix, else by its first line being an object of its own."""
    if path.lower().endswith((".jsonl", ".ndjson")):
        return True
    first, behind = _first(data).groups()
    if not first.startswith(b"{") or not first.rstrip().endswith(b"}"):
        return not first
    return bool(behind == b"{")


def _first(data: bytes) -> re.Match[bytes]:
    """Match the first line that is not blank and the first character of the next one, without copying more."""
    return _FIRST.match(data)  # type: ignore[return-value]
