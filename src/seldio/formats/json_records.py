"""The records of a JSON file, wherever they stand: one a line, in a list, under a key, or alone."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from seldio.findings import Finding, Severity, Sink
from seldio.formats.base import Place
from seldio.formats.json_layout import Layout
from seldio.formats.json_strict import Source
from seldio.formats.json_text import JsonDocument, parse, parse_lines

Pointer = tuple[str | int, ...]
#: Where an object keeps its records.
CONTAINERS = ("records", "data")
_RECORD = ("id", "qa_id", "audio_path", "question", "prediction")
_PREFIX = 1 << 16
_INSIDE = re.compile(r'"(?:records|data)"\s*:\s*\[\s*(?=\{)')
_KEY = re.compile(r'"([^"\\]{1,80})"\s*:')
_DECODER = json.JSONDecoder()


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """One record: its value, its text with what stands before it, and its place."""

    value: Any
    text: str
    document: JsonDocument
    pointer: Pointer


class Records:
    """The records of one file.

    Args:
        data: the file.
        path: as shown to people.
        sink: for what is wrong with the JSON.
    """

    def __init__(self, data: bytes, path: str, sink: Sink) -> None:
        self.data, self.path, self.sink = data, path, sink
        self.lines = in_lines(data, path)
        #: head, lead, joint and tail of the file
        self.layout = Layout()
        self.readable = not data.strip()

    def __iter__(self) -> Iterator[Record]:
        return self._of_lines() if self.lines else self._of_document()

    def _of_lines(self) -> Iterator[Record]:
        ends = self.data.count(b"\r\n")
        crlf = ends > 0 and ends == self.data.count(b"\n") and not self.data.endswith(b"\r")
        newline = "\r\n" if crlf else "\n"
        self.layout = Layout(joint=newline, tail=newline if self.data.endswith(b"\n") else "")
        for document in parse_lines(self.data, self.path, self.sink):
            self.readable = True
            text = document.text.removesuffix("\r") if crlf else document.text
            yield Record(document.value, text, document, ())

    def _of_document(self) -> Iterator[Record]:
        document = parse(self.data, self.path, self.sink)
        pointer = _list_in(document, self.sink) if document else None
        if document is None or pointer is None:
            return
        self.readable = True
        if pointer == () and isinstance(document.value, dict):
            start, end = document.extent()
            self.layout = Layout(head=document.text[:start], joint="", tail=document.text[end:])
            yield Record(document.value, document.text[start:end], document, ())
            return
        yield from self._of_list(document, pointer)

    def _of_list(self, document: JsonDocument, pointer: Pointer) -> Iterator[Record]:
        """The records of the list at *pointer*, cut at its commas."""
        text, opening = document.text, document.extent(pointer)[0]
        values = document.value[pointer[0]] if pointer else document.value
        extents = [document.extent((*pointer, number)) for number in range(len(values))]
        end = extents[-1][1] if extents else opening + 1
        lead = text[opening + 1 : extents[0][0]] if extents else ""
        gaps = [text[stop:start] for (_, stop), (start, _) in pairwise(extents)]
        joint = _joint(lead, gaps)
        self.layout = Layout(text[: opening + 1], lead, joint, text[end:])
        begin = opening + 1
        for number, value in enumerate(values):
            last = number == len(gaps)
            cut = end if last else extents[number][1] + gaps[number].index(joint)
            yield Record(value, text[begin:cut], document, (*pointer, number))
            begin = cut + len(joint)


def _joint(lead: str, gaps: Sequence[str]) -> str:
    """What stands between all records: a comma, with the blanks that belong to no record, as in ``[{…}, {…}]``."""
    joint = gaps[0].removesuffix(lead) if gaps and gaps[0].endswith(lead) else ","
    return joint if all(joint in gap for gap in gaps) else ","


def place_of(document: JsonDocument, pointer: Pointer, least: int) -> Place:
    """The place of the value at *pointer*, or of the closest one around it, *least* steps deep."""
    for length in range(len(pointer), least, -1):
        try:
            return Place(*document.locate(pointer[:length]))
        except (LookupError, TypeError):
            continue
    return Place(*document.locate(pointer[:least]))


class Places:
    """The way back to the records of a file, which is read again only where something is wrong."""

    def __init__(self, records: Records) -> None:
        self._data = records.data.removeprefix(b"\xef\xbb\xbf")
        self._path, self._lines = records.path, records.lines
        self._rows: list[int | Pointer] = []
        self._texts: list[bytes] = []
        self._document: JsonDocument | None = None

    def add(self, record: Record) -> None:
        """Remember where a row came from."""
        self._rows.append(record.document.first_line if self._lines else record.pointer)

    def __call__(self, row: int, pointer: Pointer) -> Place:
        """Where *pointer* leads inside row number *row*."""
        at = self._rows[row]
        if isinstance(at, tuple):
            self._document = self._document or JsonDocument(None, Source(self._data.decode(), self._path))
            return place_of(self._document, (*at, *pointer), len(at))
        self._texts = self._texts or self._data.split(b"\n")
        return place_of(JsonDocument(None, Source(self._texts[at - 1].decode(), self._path, at)), pointer, 0)


def peek(data: bytes) -> frozenset[str]:
    """The keys of the first record, as far as a look at the head of the file tells; never an exception."""
    text = data[:_PREFIX].removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    start = text.find("{")
    if start < 0 or text[:start].strip(" \t\r\n["):
        return frozenset()
    keys = _keys(text, start)
    inside = _INSIDE.search(text)
    return _keys(text, inside.end()) if inside and keys & {*CONTAINERS} else keys


def _keys(text: str, start: int) -> frozenset[str]:
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return frozenset(_KEY.findall(text, start))
    return frozenset(value)


def in_lines(data: bytes, path: str) -> bool:
    """Whether a file is JSON Lines: by its suffix, else by its first line being an object of its own."""
    if path.lower().endswith((".jsonl", ".ndjson")):
        return True
    first, _, rest = data.removeprefix(b"\xef\xbb\xbf").strip().partition(b"\n")
    if not first.startswith(b"{") or not first.rstrip().endswith(b"}"):
        return not first
    return rest.lstrip().startswith(b"{")


def _list_in(document: JsonDocument, sink: Sink) -> Pointer | None:
    """Where the records stand; None, after a finding, where there are none."""
    value = document.value
    if isinstance(value, list):
        return ()
    if not isinstance(value, dict):
        sink(_container(document, (), "the file is neither an array nor an object with records"))
        return None
    for key in CONTAINERS:
        if isinstance(value.get(key), list):
            return (key,)
    record = not value.keys().isdisjoint(_RECORD)
    wrong = None if record else next((key for key in CONTAINERS if key in value), None)
    if wrong is None:
        return ()
    sink(_container(document, (wrong,), f"{wrong} is not an array"))
    return None


def _container(document: JsonDocument, pointer: Pointer, message: str) -> Finding:
    hint = 'a file of records is [{...}, ...], {"records": [...]}, {"data": [...]} or JSON Lines'
    return document.finding("SYN213", Severity.ERROR, message, pointer, hint=hint)
