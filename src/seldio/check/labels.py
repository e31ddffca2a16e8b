"""Labels checked: all that are of one format together, as only all files show whether they mean something else.

Labels that are about to be used go through :class:`Faults`: what is wrong with them is found before anything is made of
them. The rules are those of validation, and only errors count.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
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
from seldio.rules.base import Check, Labels, run
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
    #: as rules see them, once there are findings
    labels: Labels = dataclasses.field(init=False, repr=False, compare=False)

    @staticmethod
    def of(read: Iterable[Recognised]) -> list[LabelGroup]:
        """Return the labels by format; each table of many clips is a group of its own."""
        groups: dict[tuple[str, str, str], list[Recognised]] = {}
        for labels in read:
            format, parts = labels.reading.format, labels.reading.parts
            table = parts[0].file.path if format.role == "table" and parts else ""
            groups.setdefault((format.name, format.vocabulary, table), []).append(labels)
        joined: list[LabelGroup] = []
        for members in groups.values():
            reading = members[0].reading
            if len(members) > 1:
                shifted: list[FileRows] = []
                before = 0
                for labels in members:
                    for part in map(copy.copy, labels.reading.parts):
                        part.first += before
                        shifted.append(part)
                    before += labels.reading.table.num_rows
                rows = pa.concat_tables([labels.reading.table for labels in members], promote_options="default")
                whole = frozenset.intersection(*(labels.reading.whole for labels in members))
                reading = LabelReading(reading.format, rows, shifted, whole)
            evidence = next((labels.evidence for labels in members if labels.evidence), "")
            joined.append(LabelGroup(reading, members[0].named, evidence))
        return joined

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
    ) -> list[tuple[Finding, int]]:
        """Return the findings on these labels, each with the number of its file.

        *judge* checks the rows, by default the format that they name.
        """
        usual, reading = self.format, self.reading
        if (of_rows := resolved(usual, reading.table)) is not usual:
            # a table has the classes and the clock of the format that its rows came from
            usual = dataclasses.replace(
                usual, vocabulary=of_rows.vocabulary, hop=of_rows.hop, clip_frames=of_rows.clip_frames
            )
            reading = dataclasses.replace(reading, format=usual)
        labels = self.labels = Labels(reading, named=self.named, reference=reference)
        findings = list(run(FILE_RULES, labels))
        if labels.foreign:
            return findings
        judge = judge or usual
        rows = labels if judge is usual else Labels(dataclasses.replace(self.reading, format=judge))
        findings += run(row_rules, rows, but=labels.accounted)
        return findings + [(finding, -1) for finding in rules.findings((), rows)]  # rules of extensions


# --- labels that are about to be used ---------------------------------------------------------------------


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
        # rules for whole files account for values out of range even if they only warn
        stopping = [check for check in ROW_RULES if rule_of(check).severity is Severity.ERROR]
        for labels in LabelGroup.of(self.read):
            format = resolved(labels.format, labels.reading.table)
            readable = {"LAB205"} if format.role in OF_SYSTEMS else ()  # decimals that any program reads
            errors = [
                (finding, file)
                for finding, file in labels.findings(None, stopping, format)
                if finding.severity is Severity.ERROR and finding.code not in readable
            ]
            first = {finding.code: finding for finding, _ in reversed(errors)} | first
            files.update(code for code, _ in {(finding.code, file) for finding, file in errors})
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
