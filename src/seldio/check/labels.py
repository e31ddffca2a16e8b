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
from seldio.rules import rule_of
from seldio.rules.base import Check, Labels, RowFinding, run
from seldio.rules.labels import ROW_RULES
from seldio.rules.misreadings import FILE_RULES
from seldio.text import plural

if TYPE_CHECKING:
    from seldio.rules.collection import Reference


@dataclasses.dataclass
class LabelGroup:
    """All labels of one format in a source, read as one."""

    reading: LabelReading
    named: bool  # whether the user named the format
    evidence: str  # why the format was chosen; empty where no file has a row
    labels: Labels = dataclasses.field(init=False)  # as rules see them, once there are findings

    @staticmethod
    def of(read: Iterable[Recognised]) -> list[LabelGroup]:
        """Return the labels by format; each table of many clips is a group of its own."""
        groups: dict[tuple[str, str, str], list[Recognised]] = {}
        for labels in read:
            format, parts = labels.reading.format, labels.reading.parts
            table = parts[0].file.path if format.role == "table" and parts else ""
            groups.setdefault((format.name, format.vocabulary, table), []).append(labels)
        return [
            LabelGroup(
                _joined([labels.reading for labels in members]),
                members[0].named,
                next((labels.evidence for labels in members if labels.evidence), ""),
            )
            for members in groups.values()
        ]

    @property
    def format(self) -> LabelFormat:
        """The format."""
        return self.reading.format

    @cached_property
    def files(self) -> dict[str, FileRows]:
        """The files by their paths as shown to people; of a table of many clips, the rows of its first clip."""
        files: dict[str, FileRows] = {}
        for part in self.reading.parts:
            files.setdefault(part.file.path, part)
        return files

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


def _joined(readings: Sequence[LabelReading]) -> LabelReading:
    if len(readings) == 1:
        return readings[0]
    parts: list[FileRows] = []
    before = 0
    for reading in readings:
        for part in map(copy.copy, reading.parts):
            part.first += before
            parts.append(part)
        before += reading.table.num_rows
    table = pa.concat_tables([reading.table for reading in readings], promote_options="default")
    whole = frozenset.intersection(*(reading.whole for reading in readings))
    return LabelReading(readings[0].format, table, parts, whole)


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
    """Return rules for rows that stop; those for whole files account for values out of range even if they only warn."""
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
            readable = {"LAB205"} if format.role in OF_SYSTEMS else ()  # decimals that any program reads
            errors = [
                row
                for row in labels.findings(None, _errors(), format)
                if row.finding.severity is Severity.ERROR and row.finding.code not in readable
            ]
            first = {row.finding.code: row.finding for row in reversed(errors)} | first
            files.update(code for code, _ in {(row.finding.code, row.file) for row in errors})
        return first, files

    def settle(self, force: bool) -> list[Finding]:
        """Return with *force* the first error of each rule, with the number of files that it is in.

        Raises:
            InvalidData: there are errors, and they are not forced; it names the cause.
        """
        first, files = self.errors()
        codes = sorted(first, key=lambda code: (not code.startswith("LAB3"), -files[code], code))
        counted = [first[code] for code in codes]
        readings = [labels.reading for labels in self.read]
        table = any(resolved(reading.format, reading.table) is not reading.format for reading in readings)
        noun, every = "clip" if table else "file", sum(len(reading.parts) for reading in readings)
        if every != 1:
            many = plural(every, noun)
            counted = [
                dataclasses.replace(finding, message=f"{finding.message} (in {files[finding.code]:,} of {many})")
                for finding in counted
            ]
        if counted and not force:
            also = (f"{code} in {plural(files[code], noun)}" if every > 1 else code for code in codes[1:])
            others = f"; also {', '.join(also)}" if codes[1:] else ""
            raise InvalidData(
                counted[0],
                f"{others}. seldio validate shows all findings; use --force to continue anyway",
            )
        return counted
