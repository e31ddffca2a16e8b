"""Labels checked: all that are of one format together, as only all files show whether they mean something else.

Labels that are about to be used go through :class:`Faults`: what is wrong with them is found before anything is made of
them. The rules are those of validation, and only errors count.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from seldio import rules
from seldio.catalogues.look import Recognised
from seldio.catalogues.parts import resolved
from seldio.errors import InvalidData
from seldio.findings import Finding, Severity
from seldio.formats import LabelFormat, LabelReading
from seldio.formats.base import OF_SYSTEMS, FileRows
from seldio.rules.base import Check, Labels, RowFinding, run
from seldio.rules.labels import ROW_RULES
from seldio.rules.misreadings import FILE_RULES
from seldio.rules.registry import rule_of
from seldio.text import plural

if TYPE_CHECKING:
    from seldio.rules.collection import Reference


@dataclasses.dataclass
class LabelGroup:
    """All labels of one format in a source, read."""

    read: Sequence[Recognised]

    @staticmethod
    def of(read: Iterable[Recognised]) -> list[LabelGroup]:
        """Return the labels by format; each table of many clips is a group of its own."""
        groups: dict[tuple[str, str, str], list[Recognised]] = {}
        for labels in read:
            format, parts = labels.reading.format, labels.reading.parts
            table = parts[0].file.path if format.role == "table" and parts else ""
            groups.setdefault((format.name, format.vocabulary, table), []).append(labels)
        return [LabelGroup(members) for members in groups.values()]

    @property
    def format(self) -> LabelFormat:
        """The format."""
        return self.read[0].reading.format

    @property
    def named(self) -> bool:
        """Whether the user named the format."""
        return self.read[0].named

    @property
    def evidence(self) -> str:
        """Why the format was chosen; empty where no file has a row."""
        return next((labels.evidence for labels in self.read if labels.evidence), "")

    @cached_property
    def reading(self) -> LabelReading:
        """The labels as one reading."""
        readings = [labels.reading for labels in self.read]
        if len(readings) == 1:
            return readings[0]
        parts: list[FileRows] = []
        before = 0
        for reading in readings:
            parts += [_moved(part, before) for part in reading.parts]
            before += reading.table.num_rows
        table = pa.concat_tables([reading.table for reading in readings], promote_options="default")
        whole = frozenset.intersection(*(reading.whole for reading in readings))
        return LabelReading(self.format, table, parts, whole)

    @cached_property
    def files(self) -> dict[str, FileRows]:
        """The files by their paths as shown to people; of a table of many clips, the rows of its first clip."""
        files: dict[str, FileRows] = {}
        for part in self.reading.parts:
            files.setdefault(part.file.path, part)
        return files

    @cached_property
    def labels(self) -> Labels:
        """The labels as rules see them."""
        return Labels(self.reading, named=self.named)

    def findings(
        self,
        reference: Reference | None = None,
        row_rules: Sequence[Check] = ROW_RULES,
        judge: LabelFormat | None = None,
    ) -> list[RowFinding]:
        """Return the findings on these labels; *judge* checks the rows, by default the format that they name."""
        usual = _judge(self.reading)
        reading = self.reading if usual is self.format else dataclasses.replace(self.reading, format=usual)
        labels = self.labels = Labels(reading, named=self.named, reference=reference)
        findings = list(run(FILE_RULES, labels))
        if labels.foreign:
            return findings
        judge = judge or usual
        rows = labels if judge is usual else Labels(dataclasses.replace(self.reading, format=judge))
        findings += run(row_rules, rows, but=labels.accounted)
        return findings + [RowFinding(finding, -1) for finding in rules.findings((), rows)]  # rules of extensions


def _moved(part: FileRows, before: int) -> FileRows:
    moved = copy.copy(part)
    moved.first += before
    return moved


def _judge(reading: LabelReading) -> LabelFormat:
    """The format by which rows are judged: a table has the classes and the clock of that which its rows came from."""
    format = resolved(reading.format, reading.table)
    if format is reading.format:
        return format
    return dataclasses.replace(
        reading.format, vocabulary=format.vocabulary, hop=format.hop, clip_frames=format.clip_frames
    )


# --- labels that are about to be used ---------------------------------------------------------------------


@cache
def _errors() -> tuple[Check, ...]:
    """Rules for rows that stop; those for whole files account for values out of range even where they only warn."""
    return tuple(check for check in ROW_RULES if rule_of(check).severity is Severity.ERROR)


@dataclasses.dataclass
class Faults:
    """Labels whose errors stop what is to be made of them."""

    read: Sequence[Recognised] = ()

    def __add__(self, other: Faults) -> Faults:
        return Faults([*self.read, *other.read])

    def errors(self) -> tuple[dict[str, Finding], Counter[str]]:
        """Return the first error of each rule, and in how many files it is, by the code of the rule."""
        first: dict[str, Finding] = {}
        files: Counter[str] = Counter()
        for labels in LabelGroup.of(self.read):
            format = resolved(labels.format, labels.reading.table)
            found = labels.findings(None, _errors(), format)
            left = {"LAB205"} if format.role in OF_SYSTEMS else ()  # decimals that any program reads
            stops = [one for one in found if one.finding.severity is Severity.ERROR and one.finding.code not in left]
            first = {one.finding.code: one.finding for one in reversed(stops)} | first
            files.update(code for code, _ in {(one.finding.code, one.file) for one in stops})
        return first, files

    def settle(self, force: bool) -> list[Finding]:
        """Return with *force* the first error of each rule, with the number of files that it is in.

        Raises:
            InvalidData: there are errors, and they are not forced; it names the cause.
        """
        first, files = self.errors()
        codes = sorted(first, key=lambda code: (not code.startswith("LAB3"), -files[code], code))
        counted = [first[code] for code in codes]
        every = sum(len(labels.reading.parts) for labels in self.read)
        table = any(resolved(one.reading.format, one.reading.table) is not one.reading.format for one in self.read)
        noun = "clip" if table else "file"
        if every != 1:
            many = plural(every, noun)
            counted = [
                dataclasses.replace(one, message=f"{one.message} (in {files[one.code]:,} of {many})") for one in counted
            ]
        if counted and not force:
            also = (f"{code} in {plural(files[code], noun)}" if every > 1 else code for code in codes[1:])
            others = f"; also {', '.join(also)}" if codes[1:] else ""
            raise InvalidData(
                counted[0],
                f"{others}. seldio validate shows all findings; use --force to continue anyway",
            )
        return counted
