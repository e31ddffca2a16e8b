"""Labels that are about to be used: what is wrong with them is found before anything is made of them.

The rules are those of validation, and only errors count, and a few doubts as grave: files that mean something else
than they seem to, and values out of range. Everything that reads labels in order to convert, score or ask goes
through here: each part is vetted by itself, and all together are settled, as files together tell a misreading.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from functools import cache

from seldio.catalogues.look import Recognised
from seldio.catalogues.parts import resolved
from seldio.check.labels import LabelGroup
from seldio.errors import InvalidData
from seldio.findings import Finding, Severity
from seldio.reader_rules import READER_RULES
from seldio.rules.base import Check, code_of
from seldio.rules.labels import ROW_RULES
from seldio.text import plural


@cache
def _errors() -> tuple[Check, ...]:
    """Rules for rows that stop; those for whole files account for values out of range even where they only warn."""
    return tuple(check for check in ROW_RULES if READER_RULES[code_of(check)].severity is Severity.ERROR)


#: Rows that are enough to tell what labels mean: they are judged, and further ones by themselves.
MOST_ROWS = 1_000_000
#: Warnings that stop like errors: whoever rounds or writes what may be radians destroys them.
_DOUBTFUL = frozenset({"LAB313"})


@dataclasses.dataclass
class Faults:
    """Labels with the errors in them; those of parts of the labels add up."""

    files: int = 0  # label files that were looked at
    noun: str = "file"  # what the files are
    read: list[Recognised] = dataclasses.field(default_factory=list)
    #: the first error of each rule, by its code, of labels that were judged by themselves
    first: dict[str, Finding] = dataclasses.field(default_factory=dict)
    wrong: Counter[str] = dataclasses.field(default_factory=Counter)  # files of these labels with such errors, by code

    def add(self, other: Faults) -> None:
        """Take in the errors of other labels; large ones are judged at once, so that memory does not grow with them."""
        self.read += other.read
        self.files += other.files
        self.noun = other.noun if other.files else self.noun
        self.first = other.first | self.first
        self.wrong += other.wrong
        if sum(labels.reading.table.num_rows for labels in self.read) > MOST_ROWS:
            judged = self.alone()
            self.read, self.first, self.wrong = [], judged.first, judged.wrong

    def alone(self) -> Faults:
        """The same, judged now, as if these labels were all there are."""
        first, wrong = dict(self.first), Counter(self.wrong)
        for labels in LabelGroup.of(self.read):
            found = labels.findings(None, _errors(), resolved(labels.format, labels.reading.table))
            stops = [one for one in found if one.finding.severity is Severity.ERROR or one.finding.code in _DOUBTFUL]
            first = {one.finding.code: one.finding for one in reversed(stops)} | first
            wrong.update(code for code, _ in {(one.finding.code, one.file) for one in stops})
        return Faults(self.files, self.noun, [], first, wrong)

    def settle(self, force: bool) -> list[Finding]:
        """With *force*, the first error of each rule, saying in how many files it is.

        Raises:
            InvalidData: there are errors, and they are not forced; it names the cause.
        """
        every = self.alone()
        first, wrong = every.first, every.wrong
        codes = sorted(first, key=lambda code: (not code.startswith("LAB3"), -wrong[code], code))
        counted = [first[code] for code in codes]
        if self.files != 1:
            many = plural(self.files, self.noun)
            counted = [
                dataclasses.replace(one, message=f"{one.message} (in {wrong[one.code]:,} of {many})") for one in counted
            ]
        if counted and not force:
            also = (f"{code} in {plural(wrong[code], self.noun)}" if self.files > 1 else code for code in codes[1:])
            others = f"; also {', '.join(also)}" if codes[1:] else ""
            raise InvalidData(
                counted[0],
                f"{others}. seldio validate shows all findings; use --force to continue anyway",
            )
        return counted


def vet(read: Iterable[Recognised]) -> Faults:
    """Labels that were read, with the errors in them."""
    faults = Faults()
    for labels in read:
        format = labels.reading.format
        noun = "file" if resolved(format, labels.reading.table) is format else "clip"
        faults.add(Faults(len(labels.reading.parts), noun, [labels]))
    return faults


def joined(parts: Iterable[Faults]) -> Faults:
    """The errors of several parts as one."""
    every = Faults()
    for faults in parts:
        every.add(faults)
    return every
