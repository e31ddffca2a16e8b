"""Labels that are about to be used: what is wrong with them is found before anything is made of them.

The rules are those of validation, and only errors count, and a few doubts as grave: files that mean something else
than they seem to, and values out of range. Everything that reads labels in order to convert, score or ask goes
through here.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from seldio import rules
from seldio.conversion.carry import resolved
from seldio.errors import InvalidData
from seldio.findings import Finding, Rule, Severity
from seldio.formats import Reading
from seldio.formats.parquet import reading_of
from seldio.rules.base import Labels
from seldio.text import plural

#: Rules about whole files, which account for values out of range even where they only warn, and then about ranges.
_RULES = tuple(
    rule for rule in rules.rules_for(Labels) if rule.severity is Severity.ERROR or rule.code.startswith("LAB3")
)  # fmt: skip
#: Warnings that stop like errors: whoever rounds or writes what may be radians destroys them.
_DOUBTFUL = frozenset({"LAB313"})


@dataclasses.dataclass
class Faults:
    """Errors in labels; those of parts of the labels add up.

    Args:
        files: label files that were looked at.
        first: the first error of each rule, by its code.
        wrong: files with such errors, by code.
        noun: what the files are.
    """

    files: int = 0
    first: dict[str, Finding] = dataclasses.field(default_factory=dict)
    wrong: Counter[str] = dataclasses.field(default_factory=Counter)
    noun: str = "file"

    def add(self, other: Faults) -> None:
        """Take in the errors of further files."""
        self.files += other.files
        self.first = other.first | self.first
        self.wrong += other.wrong
        self.noun = other.noun if other.files else self.noun

    def settle(self, force: bool) -> list[Finding]:
        """With *force*, the first error of each rule, saying in how many files it is.

        Raises:
            InvalidData: there are errors, and they are not forced; it names the cause.
        """
        codes = sorted(self.first, key=lambda code: (not code.startswith("LAB3"), -self.wrong[code], code))
        counted = [self._counted(code) for code in codes]
        if counted and not force:
            others = f"; also {', '.join(map(self._beside, codes[1:]))}" if codes[1:] else ""
            raise InvalidData(
                counted[0],
                f"{others}. seldio validate shows everything; to go on with the data as it is: --force "
                "(in Python force=True)",
            )
        return counted

    def _counted(self, code: str) -> Finding:
        finding = self.first[code]
        if self.files == 1:
            return finding
        many = f"{finding.message} (in {self.wrong[code]:,} of {plural(self.files, self.noun)})"
        return dataclasses.replace(finding, message=many)

    def _beside(self, code: str) -> str:
        return f"{code} in {plural(self.wrong[code], self.noun)}" if self.files > 1 else code


def vet(reading: Reading, told: bool = False) -> Faults:
    """The errors in labels that were read.

    Args:
        reading: their rows and files.
        told: whether the user named the layout.
    """
    layout = resolved(reading.format, reading.table)
    labels = Labels(dataclasses.replace(reading, format=layout), told)
    faults = Faults(len(reading.parts), noun="file" if layout is reading.format else "clip")
    for rule in _RULES:
        faults.add(_found(rule, labels))
        if labels.foreign:
            break
    return faults


def vet_table(table: pa.Table) -> Faults:
    """The errors in an event table that is about to be written."""
    return vet(reading_of(table, "the table"))


def joined(some: Iterable[Faults]) -> Faults:
    """All errors as one."""
    every = Faults()
    for faults in some:
        every.add(faults)
    return every


def _found(rule: Rule, labels: Labels) -> Faults:
    """The errors of one rule; the files have been counted."""
    parts: set[int] = set()

    def found(row: int, field: str | None, message: str, hint: str | None = None) -> Finding:
        finding = labels.finding(rule, row, field, message, hint)
        if _stops(finding):
            parts.add(int(np.searchsorted(labels.starts, row, side="right")))
        return finding

    assert rule.check is not None
    errors = [finding for finding in rule.check(labels, found) if _stops(finding)]
    return Faults(0, {rule.code: errors[0]} if errors else {}, Counter({rule.code: len(parts)} if errors else {}))


def _stops(finding: Finding) -> bool:
    """Whether a finding is an error, or a doubt that is as grave: angles in radians would be rounded away."""
    return finding.severity is Severity.ERROR or finding.code in _DOUBTFUL
