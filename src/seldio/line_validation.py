"""Check files of questions or predictions too large for memory: JSON Lines, some thousand of them at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from seldio.engines import each
from seldio.files import Entry, Source
from seldio.files.sources import Lookup
from seldio.findings import RECORDS_SINGLY, Finding, Sink, gathered
from seldio.formats import TextFile, item_formats
from seldio.formats.items import ItemFormat, ItemReading
from seldio.rules import findings
from seldio.rules.item_audio import AudioPart, check_file
from seldio.rules.item_table import ItemPart, ItemTable, moved

#: Bytes of a file from which on it is checked a chunk at a time: a hundred thousand questions.
LARGE = 64 << 20
#: Bytes of a chunk.
CHUNK = 4 << 20


def large_files(source: Source) -> list[tuple[Entry, ItemFormat]]:
    """Files of JSON Lines on disk that are too large to be held in memory, with their formats."""
    likely = (e for e in source if e.size >= LARGE and e.local and e.name.lower().endswith((".jsonl", ".ndjson")))
    found = ((entry, item_formats.recognise(_head(entry), entry.name)) for entry in likely)
    return [(entry, format) for entry, format in found if format is not None]


def _head(entry: Entry) -> bytes:
    """Whole lines from the beginning."""
    data = entry.head(1 << 16)
    return data[: data.rfind(b"\n") + 1] or data


class _Chunk(NamedTuple):
    """The bytes of a file from one line's start to another's."""

    entry: Entry
    format: str
    start: int
    end: int

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when the file does."""
        return self.entry.path, self.entry.stamp, self.start, self.end

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.end - self.start

    def read(self) -> TextFile:
        """The lines, as a file."""
        with self.entry.open() as stream:
            stream.seek(self.start)
            return TextFile(self.entry.path, self.entry.name, "", stream.read(self.size))


class _Checked(NamedTuple):
    """What a chunk gave: its findings, and what the rules for the whole file and its recordings need to know of it."""

    findings: tuple[Finding, ...]
    lines: int
    part: ItemPart | None
    recordings: AudioPart | None


def check_large(files: Sequence[tuple[Entry, ItemFormat]], look: Lookup, sink: Sink) -> None:
    """Check files of JSON Lines chunk by chunk.

    Args:
        files: with their formats.
        look: finds the recordings that questions name.
        sink: takes the findings.
    """
    for entry, format in files:
        chunks = list(_chunks(entry, format))
        results = each(_Work(look), chunks, what="checking questions", size=attrgetter("size"), key=attrgetter("stamp"))
        found = list(results)
        before = np.cumsum([0, *(one.lines for one in found)])
        for one, first in zip(found, before.tolist(), strict=False):
            for finding in one.findings:
                sink(moved(finding, first))
        parts = [one.part for one in found if one.part is not None]
        recordings = [one.recordings for one in found if one.recordings is not None]
        read = [chunk for chunk, one in zip(chunks, found, strict=False) if one.part is not None]
        for finding in check_file(parts, recordings, _Again(read)) if parts else ():
            sink(finding)


class _Again:
    """Reads chunks again, each once."""

    def __init__(self, chunks: Sequence[_Chunk]) -> None:
        self.chunks, self.readings = chunks, dict[int, ItemReading]()

    def __call__(self, number: int) -> ItemReading:
        if number not in self.readings:
            chunk = self.chunks[number]
            file = chunk.read()
            reading = item_formats.get(chunk.format).read(file.data, file.path, lambda _: None)
            assert reading is not None
            self.readings[number] = reading
        return self.readings[number]


def _chunks(entry: Entry, format: ItemFormat) -> Iterator[_Chunk]:
    with entry.open() as stream:
        start = 0
        while start < entry.size:
            stream.seek(min(start + CHUNK, entry.size))
            stream.readline()
            yield _Chunk(entry, format.name, start, stream.tell())
            start = stream.tell()


@dataclasses.dataclass(frozen=True)
class _Work:
    """What *look* tells of a chunk."""

    look: Lookup

    def __call__(self, chunk: _Chunk) -> _Checked:
        found: list[Finding] = []
        file = chunk.read()
        reading = item_formats.get(chunk.format).read(file.data, file.path, found.append)
        lines = file.data.count(b"\n")
        if reading is None:
            return _Checked(tuple(gathered(dict.fromkeys(found), RECORDS_SINGLY)), lines, None, None)
        table = ItemTable(reading)
        found += findings(table)
        kept = tuple(gathered(dict.fromkeys(found), RECORDS_SINGLY))
        recordings = AudioPart.of(table, partial(self.look.find, name=file.name))
        return _Checked(kept, lines, ItemPart.of(table, lines), recordings)
