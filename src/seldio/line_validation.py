"""Check files of questions or predictions too large for memory: JSON Lines, some thousand of them at a time."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from seldio.engines import each
from seldio.files import Entry, Source
from seldio.findings import RECORDS_SINGLY, Finding, Rule, Sink, gathered
from seldio.formats import TextFile, item_formats
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.rules.items import repeated_id, repeated_prediction, task_counts, told_twice
from seldio.schema.qa import Item

Ints = np.ndarray[Any, np.dtype[np.uint64]]
#: Reads a file and runs the rules for its rows.
Check = Callable[[TextFile, ItemFormat, Sink], ItemReading | None]
#: Bytes of a file from which on it is checked a chunk at a time: a hundred thousand questions.
LARGE = 64 << 20
#: Bytes of a chunk.
CHUNK = 4 << 20
#: Rules that look at all rows together: the first two are seen to here, the last is about a file of 7,877 rows.
_WHOLE = (repeated_id.code, repeated_prediction.code, task_counts.code)
#: A place in a message.
_PLACE = re.compile(r"\bline ([\d,]+), column\b")
#: Said once of the file, not of each chunk.
_ONCE = "QAI309"


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
    """What a chunk gave: its findings, how many lines it has, and a hash for each row of what may stand only once."""

    findings: tuple[Finding, ...]
    lines: int
    keys: Ints


def check_large(files: Sequence[tuple[Entry, ItemFormat]], check: Check, sink: Sink) -> None:
    """Check files of JSON Lines chunk by chunk.

    Args:
        files: with their formats.
        check: reads and checks rows; a function that other processes can be given.
        sink: takes the findings.
    """
    for entry, format in files:
        chunks = list(_chunks(entry, format))
        results = each(
            _Work(check), chunks, what="checking questions", size=attrgetter("size"), key=attrgetter("stamp")
        )
        found = list(results)
        before = np.cumsum([0, *(one.lines for one in found)])
        for one, first in zip(found, before.tolist(), strict=False):
            for finding in one.findings:
                if finding.code != _ONCE:
                    sink(_moved(finding, first))
        alone = [finding for one in found for finding in one.findings if finding.code == _ONCE]
        if alone and len(alone) == len(found):
            sink(dataclasses.replace(alone[0], message="none of its recordings is here: not checked"))
        for finding in _twice(chunks, found, before.tolist()):
            sink(finding)


def _moved(finding: Finding, lines: int) -> Finding:
    """A finding in a chunk as one in the file, *lines* of which stand before; broken JSON is told with a place too."""
    if finding.line is None:
        return finding
    message = _PLACE.sub(lambda found: f"line {int(found[1].replace(',', '')) + lines:,}, column", finding.message)
    ranges = tuple((first + lines, last + lines) for first, last in finding.ranges)
    return dataclasses.replace(finding, line=finding.line + lines, message=message, ranges=ranges)


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
    """*check* on a chunk."""

    check: Check

    def __call__(self, chunk: _Chunk) -> _Checked:
        found: list[Finding] = []
        file = chunk.read()
        reading = self.check(file, item_formats.get(chunk.format), found.append)
        keys = [] if reading is None else [_key(row) for row in reading.rows]
        kept = (finding for finding in dict.fromkeys(found) if finding.code not in _WHOLE)
        return _Checked(tuple(gathered(kept, RECORDS_SINGLY)), file.data.count(b"\n"), np.array(keys, np.uint64))


def _key(row: Row) -> int:
    """A hash of what may stand only once in a file: the id, and of predictions the instruction too; 0 without one."""
    if row.id is None:
        return 0
    text = row.id if isinstance(row, Item) else f"{row.id}\0{row.prompt}"
    return int.from_bytes(hashlib.sha256(text.encode(errors="backslashreplace")).digest()[:8]) | 1


def _twice(chunks: Sequence[_Chunk], found: Sequence[_Checked], before: Sequence[int]) -> Iterator[Finding]:
    """Findings about rows that stand twice; only chunks with such rows are read again."""
    keys = np.concatenate([one.keys for one in found])
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    first = firsts[inverse]
    repeated = np.flatnonzero((first != np.arange(len(keys))) & (keys != 0))
    ends = np.cumsum([0, *(len(one.keys) for one in found)])
    readings: dict[int, ItemReading] = {}

    def place(number: int) -> tuple[ItemReading, int, int]:
        chunk = int(np.searchsorted(ends, number, side="right")) - 1
        if chunk not in readings:
            file = chunks[chunk].read()
            reading = item_formats.get(chunks[chunk].format).read(file.data, file.path, lambda _: None)
            assert reading is not None
            readings[chunk] = reading
        return readings[chunk], number - int(ends[chunk]), before[chunk]

    for number in repeated.tolist():
        reading, row, lines = place(number)
        other, there, above = place(int(first[number]))
        rule: Rule = repeated_id if isinstance(reading.rows[row], Item) else repeated_prediction
        message, hint = told_twice(reading.rows[row], other.locate(there, "id", None).line + above)
        yield _moved(reading.finding(rule, row, message, "id", hint), lines)
