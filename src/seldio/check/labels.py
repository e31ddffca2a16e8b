"""Labels checked part by part: what each part gives, and what all parts together mean.

A part gives findings about single rows, a few numbers of each file (:mod:`seldio.rules.profiles`), and those columns
that rules for recordings and pictures need. On the sum, misreadings are told, which account for some of the findings;
where a row has to be found again for that, its file is read again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio import rules
from seldio.catalogues import evidence
from seldio.catalogues.look import Recognised, in_utf8
from seldio.catalogues.parts import Part, resolved
from seldio.findings import Finding, Rule, raise_errors
from seldio.formats import LabelFormat, LabelReading, TextFile, get, named
from seldio.formats.base import FileRows, Ints, Place
from seldio.rules.base import Labels
from seldio.rules.labels import JUDGED_BY
from seldio.rules.profiles import FileNumbers, Profile
from seldio.schema.events import ClipFile

if TYPE_CHECKING:
    from seldio.check.facts import LabelFacts
    from seldio.rules.collection import Reference

#: So many files of one part are read again one by one; of more, the part is.
_FEW = 3


class CheckedFile(NamedTuple):
    """The rows of a clip: their file, and what a part of a reading is made of again."""

    path: str
    within: int  # the place among the clips of that file
    origin: ClipFile
    first: int
    rows: int
    readable: bool
    blank: bool  # whether the file holds nothing
    content: bytes  # what the same bytes have in common


class RowFinding(NamedTuple):
    """A finding about a row: the number of its file among those that have rows, and the column it is judged by."""

    finding: Finding
    file: int
    field: str | None


class CheckedLabels(NamedTuple):
    """The labels of one format in a part."""

    format: str | LabelFormat  # the format, by its name where it has one that is known
    named: bool
    evidence: str
    table: str  # the file that it is, where that is a table of many clips
    files: tuple[CheckedFile, ...]
    numbers: FileNumbers
    findings: tuple[RowFinding, ...]
    kept: bytes  # some columns of the rows
    reading: LabelReading | None = None  # all of them, where whoever asks wants to keep them
    facts: LabelFacts | None = None  # counts of the rows, where whoever asks wants them

    def thin(self) -> CheckedLabels:
        """The same without the reading."""
        return self if self.reading is None else self._replace(kept=_stream(self.reading.table, ()), reading=None)


def checked(
    one: Recognised, columns: Collection[str] | None, *, keep: bool = False,
    chosen: Sequence[Rule] | None = None, format: LabelFormat | None = None,
) -> CheckedLabels:  # fmt: skip
    """Run the *chosen* rules for rows (all if None) over labels, judged by *format* if not by their own format.

    Kept are the *columns* (all if None), or with *keep* the reading itself, whatever memory it takes.
    """
    reading = dataclasses.replace(one.reading, format=format or _judging(one.reading))
    labels = Labels(reading)
    owner: tuple[int, str | None] = (0, None)

    def at(rule: Rule, row: int, field: str | None, message: str, hint: str | None = None) -> Finding:
        nonlocal owner
        owner = int(np.searchsorted(labels.starts, row, side="right")) - 1, JUDGED_BY.get(rule.code, field)
        return labels.finding(rule, row, field, message, hint)

    found = [RowFinding(finding, *owner) for finding in rules.findings(labels, chosen=chosen, at=at)]
    within: dict[str, int] = {}
    files = []
    for part in reading.parts:
        path = part.file.path
        within[path] = place = within.get(path, -1) + 1
        blank = not part.file.data.strip()
        files.append(CheckedFile(path, place, part.origin, part.first, part.rows, part.readable, blank, part.content))
    table = files[0].path if one.reading.format.role == "table" and files else ""
    known = named(reading.format.name, LabelFormat)
    layout = known.name if known is not None and known == reading.format else reading.format
    return CheckedLabels(
        layout, one.named, one.evidence, table, tuple(files), FileNumbers.of(labels), tuple(found),
        b"" if keep else _stream(reading.table, columns), reading if keep else None,
    )  # fmt: skip


def _judging(reading: LabelReading) -> LabelFormat:
    """The format by which rows are judged: a table has the classes and the clock of that which its rows came from."""
    own = resolved(reading.format, reading.table)
    if own is reading.format:
        return own
    return dataclasses.replace(reading.format, vocabulary=own.vocabulary, hop=own.hop, clip_frames=own.clip_frames)


def label_findings(one: Recognised) -> list[Finding]:
    """Everything that is wrong with labels that were read, of which there are no others."""
    rows = checked(one, (), keep=True)
    return [found.finding for found in LabelGroup([None], [rows]).findings()]


def _stream(table: pa.Table, columns: Collection[str] | None) -> bytes:
    from seldio.schema.streams import to_stream

    names = table.column_names if columns is None else [name for name in columns if name in table.column_names]
    if columns and not names:
        names = table.column_names[-1:]  # so that it is known how many rows there are
    return to_stream(table.select(names).replace_schema_metadata())


class _Elsewhere(FileRows):
    """The rows of a clip as part of a larger reading; where they stand is asked of the reading that they are in."""

    def __init__(self, file: TextFile, own: CheckedFile, first: int, found: Callable[[], LabelReading]) -> None:
        super().__init__(file, own.origin)
        self.first, self.rows, self.readable = first, own.rows, own.readable
        self.content = own.content  # its bytes are not kept
        self._within, self._found = own.within, found

    def found(self) -> tuple[LabelReading, FileRows]:
        """The reading that they are in, and their part of it."""
        reading = self._found()
        return reading, [part for part in reading.parts if part.file.path == self.file.path][self._within]

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`FileRows.place`."""
        return self.found()[1].place(row, field)

    def lines(self, rows: Ints) -> Ints:
        """See :meth:`FileRows.lines`."""
        return self.found()[1].lines(rows)


class _Again:
    """Reads files again, and keeps the last one; the whole part where many of its files are wanted."""

    def __init__(self) -> None:
        self._last: tuple[Part | None, int | None, LabelReading | None] = (None, None, None)
        self._wanted: tuple[Part | None, set[int]] = (None, set())

    def reading(self, part: Part, number: int) -> LabelReading:
        """The reading that the rows of a file are in."""
        last, only, reading = self._last
        if last is part and only in (None, number) and reading is not None:
            return reading
        if self._wanted[0] is not part:
            self._wanted = (part, set())
        self._wanted[1].add(number)
        tables = len({file.entry.path for file in part.files}) < 2
        only = number if len(self._wanted[1]) <= _FEW or tables else None
        alone = part.chosen([number]) if only is not None else part
        path = part.files[number].entry.path
        readings = (one.reading for one in alone.labels(lambda _: None))
        reading = next(one for one in readings if any(row.file.path == path for row in one.parts))
        self._last = (part, only, reading)
        return reading


@dataclasses.dataclass
class LabelGroup:
    """All labels of one format in a dataset: the parts that they are in, and what these gave.

    A part may be None where its reading was kept.
    """

    parts: list[Part | None]
    rows: list[CheckedLabels]
    _again: _Again = dataclasses.field(default_factory=_Again)

    @staticmethod
    def of(found: Iterable[tuple[Part | None, CheckedLabels]]) -> list[LabelGroup]:
        """The labels of all parts by format; each table of many clips is taken by itself."""
        sets: dict[object, LabelGroup] = {}
        for part, one in found:
            format = one.format if isinstance(one.format, LabelFormat) else get(one.format)
            into = sets.setdefault((format.name, format.vocabulary, one.table), LabelGroup([], []))
            into.parts.append(part)
            into.rows.append(one)
        return list(sets.values())

    @property
    def format(self) -> LabelFormat:
        """The format."""
        format = self.rows[0].format
        return format if isinstance(format, LabelFormat) else get(format)

    @property
    def named(self) -> bool:
        """Whether the user named the format."""
        return self.rows[0].named

    @cached_property
    def places(self) -> dict[str, tuple[Part, int]]:
        """The part of each file, and its number there, by its path as shown to people."""
        there = {file.entry.path: (part, number) for part in self.parts if part is not None
                 for number, file in enumerate(part.files)}  # fmt: skip
        return {file.path: there[file.path] for one in self.rows for file in one.files if file.path in there}

    def text(self, path: str) -> TextFile:
        """The content of a file, in UTF-8."""
        part, number = self.places[path]
        return in_utf8(next(part.chosen([number]).texts(raise_errors)), lambda _: None)

    @property
    def evidence(self) -> str:
        """Why the format was chosen; empty where no file has a row."""
        return next((one.evidence for one in self.rows if one.evidence), "")

    @cached_property
    def reading(self) -> LabelReading:
        """The labels as one reading, with the columns that were kept; places are looked up in the files."""
        if len(self.rows) == 1 and self.rows[0].reading is not None:
            return self.rows[0].reading
        from seldio.schema.streams import from_stream

        tables, parts, before = [], [], 0
        for owner, one in zip(self.parts, self.rows, strict=True):
            tables.append(from_stream(one.kept) if one.reading is None else one.reading.table)
            for number, file in enumerate(one.files):
                if one.reading is not None:
                    text, found = one.reading.parts[number].file, partial(getattr, one, "reading")
                else:
                    part, place = self.places[file.path]
                    part = owner if owner is not None and owner.rows is not None else part  # of the parts of a table
                    one_file = part.files[place]
                    text = TextFile(file.path, one_file.name, one_file.clip, b"" if file.blank else b"\0")
                    found = partial(self._again.reading, part, place)
                parts.append(_Elsewhere(text, file, before + file.first, found))
            before += sum(file.rows for file in one.files)
        return LabelReading(self.format, pa.concat_tables(tables, promote_options="default"), parts)

    def findings(self, reference: Reference | None = None) -> list[RowFinding]:
        """What is wrong with these labels, all of them considered; files are counted through all parts."""
        reading = self.reading
        filled = [part for part in reading.parts if part.rows]
        profile = self._profile(reading, filled, reference)
        owner = 0

        def at(
            rule: Rule, file: int, row: int, field: str | None, message: str, hint: str | None = None
        ) -> Finding:  # fmt: skip
            nonlocal owner
            owner = file
            return reading.finding(rule, filled[file].first + row, field, message, hint)

        found = [RowFinding(finding, owner, None) for finding in rules.findings(profile, at=at)]
        if profile.foreign:
            return found
        void, before = {field: profile.explained(field) for field in profile.numbers.fields}, 0
        for part in self.rows:
            every = (one._replace(file=one.file + before) for one in part.findings)
            found += [one for one in every if one.field not in void or not void[one.field][one.file]]
            before += len(part.numbers.columns["rows"])
        return found

    def _profile(self, reading: LabelReading, filled: Sequence[FileRows], reference: Reference | None) -> Profile:
        def texts() -> list[TextFile]:
            if len(self.rows) == 1 and self.rows[0].reading is not None:
                return [part.file for part in filled]
            there = {part.file.path for part in filled}
            return [file for file in evidence([p for p in self.parts if p is not None]) if file.path in there]

        def column(file: int, field: str) -> np.ndarray[Any, Any]:
            part = filled[file]
            again, own = part.found() if isinstance(part, _Elsewhere) else (reading, part)
            rows = again.table.slice(own.first, own.rows)
            return np.asarray(Labels(dataclasses.replace(again, table=rows)).column(field))

        numbers = FileNumbers.joined([one.numbers for one in self.rows])
        clips = [part.origin.clip for part in filled]
        return Profile(self.format, self.named, numbers, clips, reference, texts, column)


@dataclasses.dataclass(frozen=True)
class LabelCheck:
    """Reads a part of labels and runs the rules for rows."""

    columns: tuple[str, ...] | None  # those to keep; all if None
    keep: bool = False  # keep the readings themselves, whatever memory they take
    facts: bool = False  # count what is in the rows

    def __call__(self, part: Part) -> tuple[list[Finding], list[CheckedLabels]]:
        """What is wrong with the files of *part*, and what they give."""
        found: list[Finding] = []
        rows = []
        for one in part.labels(found.append):
            rows.append(checked(one, self.columns, keep=self.keep))
            if self.facts:
                from seldio.check.facts import LabelFacts

                facts = LabelFacts.of(one.reading.table, one.reading.format.hop)
                rows[-1] = rows[-1]._replace(facts=facts)
        return found, rows
