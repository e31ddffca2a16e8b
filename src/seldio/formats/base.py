"""Formats, and the results of reading one."""

from __future__ import annotations

import bisect
import dataclasses
import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.findings import Finding, Rule, Severity, Sink
from seldio.schema.arrays import from_numpy, from_texts
from seldio.schema.events import ClipFile, Origin, with_origin

Ints = np.ndarray[Any, np.dtype[np.int64]]
Role = Literal["label", "output", "submission", "table"]
#: What systems write, in numbers of the classes of their labels.
OF_SYSTEMS: tuple[Role, ...] = ("output", "submission")
#: Short and long names of the units of distances, by what one metre is written as.
UNITS = {1: ("m", "metres"), 100: ("cm", "centimetres"), 1000: ("mm", "millimetres")}


@dataclasses.dataclass(frozen=True)
class TextFile:
    """A file's content with its names."""

    path: str  # as shown in findings
    name: str  # path below the source's root, with suffix
    clip: str  # the clip it describes
    data: bytes  # its bytes
    #: its bytes on disk, where those are text in another encoding and *data* is the same in UTF-8
    stored: bytes | None = None

    @cached_property
    def told(self) -> Format | None:
        """The format that its content or its name shows, found once; None for tables of numbers."""
        from seldio.formats import format_of_file

        return format_of_file(self.data, self.name)


def newline_of(data: bytes) -> str:
    """Return how the lines of a text end: with CR LF where all of them do."""
    return "\r\n" if 0 < data.count(b"\r\n") == data.count(b"\n") else "\n"


#: How Parquet files begin, and end.
PARQUET_MAGIC = b"PAR1"


class Place(NamedTuple):
    """The location of a value in its file; lines and columns are 1-based, columns count characters.

    What runs over several lines ends, for *end_column*, with its first line.
    """

    line: int
    column: int
    end_column: int
    value: str  # as it stands in the file
    excerpt: str  # its line

    def finding(self, rule: Rule, path: str, message: str, hint: str | None, *, fixable: bool | None = None) -> Finding:
        """Return a finding of a rule here, in the file *path* as shown to people."""
        line, start, end, value, excerpt = self
        return rule.at(path, message, hint, line, start, value, excerpt, end_column=end, fixable=fixable)


class TextLines:
    """A text in which places are looked up; lines end with LF, CR LF or CR, unless *breaks* says otherwise.

    Args:
        text: whose offsets are asked for.
        first_line: the number of its first line in the file.
        breaks: what ends a line.
    """

    def __init__(self, text: str, first_line: int = 1, breaks: re.Pattern[str] = re.compile(r"\r\n|\r|\n")) -> None:
        self.text, self.first_line, self._breaks = text, first_line, breaks
        self._index, self._excerpt = -1, ""

    @cached_property
    def _starts(self) -> array[int]:
        return array("Q", chain([0], (match.end() for match in self._breaks.finditer(self.text))))

    def line(self, offset: int) -> int:
        """Return the number of the physical line of *offset*."""
        return self.first_line - 1 + bisect.bisect_right(self._starts, offset)

    def place(self, start: int, end: int, value: str | None = None) -> Place:
        """Return the location of the text from *start* to *end*; on its first line, if it runs over several."""
        index = bisect.bisect_right(self._starts, start) - 1
        begin = self._starts[index]
        if index != self._index:  # findings that follow each other in one line share its text
            behind = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
            self._index, self._excerpt = index, self.text[begin:behind].removesuffix("\n").removesuffix("\r")
        stop = max(start, min(end, begin + len(self._excerpt)))
        shown = self.text[start:end] if value is None else value
        return Place(self.first_line + index, start - begin + 1, stop - begin + 1, shown, self._excerpt)


class FileRows(ABC):
    """The rows that one file gave to a table."""

    def __init__(self, file: TextFile, origin: ClipFile) -> None:
        self.file = file
        self.origin = origin
        self.first = 0  # row of the table at which this part begins
        self.rows = 0
        self.readable = True

    @abstractmethod
    def place(self, row: int, field: str | None) -> Place:
        """Return the location of *field* of row *row* (counted inside this part); the whole line without a field."""

    def lines(self, rows: Ints) -> Ints:
        """Return the 1-based line in which each of *rows* (counted inside this part) begins."""
        return np.fromiter((self.place(row, None).line for row in rows.tolist()), np.int64, len(rows))


class Reading(ABC):
    """The rows of one or more files, with the way back to their places."""

    format: Format  # of the files
    table: pa.Table  # their rows, as columns

    @abstractmethod
    def path_of(self, row: int | None) -> str:
        """Return the file of a row, as shown to people; with None, the only file."""

    @abstractmethod
    def place(self, row: int, field: str | None, number: int | None = None) -> Place:
        """Return the location of *field* of row number *row*; without one, the whole row; *number*: in a list."""

    def finding(
        self,
        rule: Rule,
        row: int | None,
        field: str | None,
        message: str,
        hint: str | None = None,
        number: int | None = None,
        severity: Severity | None = None,
        fixable: bool = True,
    ) -> Finding:
        """Return a finding of *rule* at *field* of row number *row*, with its true place; with None about the file."""
        if row is None:
            return rule.at(self.path_of(None), message, hint)
        at = self.place(row, field, number)
        fixable = fixable and rule.fix != "none" and self.format.repairable
        finding = at.finding(rule, self.path_of(row), message, hint, fixable=fixable)
        return finding if severity is None else dataclasses.replace(finding, severity=severity)


@dataclasses.dataclass(frozen=True)
class LabelReading(Reading):
    """An event table with the files it came from."""

    format: LabelFormat  # of the files
    table: pa.Table  # their rows
    parts: Sequence[FileRows]  # the files
    whole: frozenset[str] = frozenset()  # fields of which no cell has a decimal point
    named: bool = False  # whether the user named the format
    evidence: str = ""  # why the format was chosen; empty where it was named or where no file has a row

    @cached_property
    def files(self) -> dict[str, FileRows]:
        """The files by their paths as shown to people; of a table of many clips, the rows of its first clip."""
        files: dict[str, FileRows] = {}
        for part in self.parts:
            files.setdefault(part.file.path, part)
        return files

    def part_of(self, row: int) -> FileRows:
        """Return the file that row number *row* of the table came from."""
        return self.parts[bisect.bisect_right(self.parts, row, key=lambda part: part.first) - 1]

    def path_of(self, row: int | None) -> str:
        """See :meth:`Reading.path_of`."""
        return self.part_of(row or 0).file.path

    def place(self, row: int, field: str | None, number: int | None = None) -> Place:  # noqa: ARG002 - no lists
        """See :meth:`Reading.place`."""
        part = self.part_of(row)
        return part.place(row - part.first, field)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """One concrete file format: of labels, of questions, or of predictions."""

    name: str  # what users type
    title: str  # one line for people
    holds: Literal["events", "items", "predictions"]  # what its rows are
    carries: tuple[str, ...]  # the columns, or fields of Item or Prediction, that it can hold
    needs: tuple[str, ...] = ()  # those of them that it cannot be written without
    suffix: str  # of its files, with the dot
    also: tuple[str, ...] = ()  # further suffixes of files that are read
    stem: str = ""  # a pattern of what stands in the name of a file, suffix aside, besides the name of its clip
    aliases: tuple[str, ...] = ()  # further names users may type
    repairable: bool = False  # whether ``--fix`` can rewrite its files
    source: str = ""  # where the format is documented
    note: str = ""  # what to know about it

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the rows of label files tell more
        """Return how much the file looks like this format, from 0 to 1 (surely); a bounded look, never an exception."""
        return 0.0

    def under(self, alias: str) -> Self:  # noqa: ARG002 - an alias is nothing but another name
        """Return the format that an alias means."""
        return self


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelFormat(Format):
    """One format of event tables."""

    holds: Literal["events"] = "events"
    role: Role  # a label, a system's output, a challenge submission, or a table of any of them
    vocabulary: str = "starss"  # the class list its class numbers index
    suffix: str = ".csv"
    hop: Fraction = clock.HOP  # seconds between its frames
    #: the class list where an alias means another one
    alias_vocabularies: Mapping[str, str] = dataclasses.field(default_factory=dict)
    years: str = ""  # of the challenge, for people
    clip_frames: int | None = None  # label frames of every clip, where the dataset fixes them
    own: str = ""  # of the columns that a dataset describes, what it says
    tool: bool = False  # whether people mark sounds in it with names of their own choice
    #: what says which clips a file holds: its name, or its rows, as it may hold several, or one of another name
    clips_by: Literal["name", "rows"] = "name"

    def under(self, alias: str) -> Self:
        """See :meth:`Format.under`; it may mean another class list."""
        return dataclasses.replace(self, vocabulary=self.alias_vocabularies.get(alias, self.vocabulary))

    @abstractmethod
    def read(self, files: Sequence[TextFile], sink: Sink) -> LabelReading:
        """Return the events of *files* as one table, in the order of files and rows.

        What is wrong goes to *sink*; rows that cannot be read are left out of the table.
        """

    @abstractmethod
    def write(self, table: pa.Table, file: ClipFile) -> bytes:
        """Return the rows of one clip in this format; line ends as *file* says."""

    def repaired(self, text: str, codes: Sequence[str]) -> str:  # noqa: ARG002 - most are rewritten by their rows
        """Return the text of a file of a tool in which what the rules *codes* found is put right."""
        return text


def assembled(
    format: LabelFormat, columns: dict[str, Any], parts: Sequence[FileRows], whole: frozenset[str] = frozenset()
) -> LabelReading:
    """Return a reading of *columns* (without ``clip``); each part knows its number of rows."""
    first = 0
    for part in parts:
        part.first = first
        first += part.rows
    codes = np.repeat(np.arange(len(parts), dtype=np.int32), np.array([part.rows for part in parts], dtype=np.int64))
    names = from_texts(part.origin.clip for part in parts)
    table = pa.table({"clip": pa.DictionaryArray.from_arrays(from_numpy(codes), names), **columns})
    origin = Origin(format.name, format.vocabulary, tuple(part.origin for part in parts))
    return LabelReading(format, with_origin(table, origin), parts, whole)
