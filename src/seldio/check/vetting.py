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

from seldio import rules
from seldio.catalogues.look import Recognised
from seldio.catalogues.parts import Part, resolved
from seldio.check.labels import CheckedLabels, LabelGroup, checked
from seldio.errors import InvalidData
from seldio.findings import Finding, Rule, Severity
from seldio.rules.base import Labels
from seldio.text import plural


@cache
def _errors() -> tuple[Rule, ...]:
    """Rules for rows that stop; those for whole files account for values out of range even where they only warn."""
    return tuple(rule for rule in rules.rules_for(Labels) if rule.severity is Severity.ERROR)


#: Warnings that stop like errors: whoever rounds or writes what may be radians destroys them.
_DOUBTFUL = frozenset({"LAB313"})


@dataclasses.dataclass
class Faults:
    """Errors in labels; those of parts of the labels add up."""

    files: int = 0  # label files that were looked at
    noun: str = "file"  # what the files are
    #: what each part gave, with the part unless its reading was kept
    rows: list[tuple[Part | None, CheckedLabels]] = dataclasses.field(default_factory=list)
    #: the first error of each rule, by its code, of labels that were judged by themselves
    first: dict[str, Finding] = dataclasses.field(default_factory=dict)
    wrong: Counter[str] = dataclasses.field(default_factory=Counter)  # files of these labels with such errors, by code

    def add(self, other: Faults, *parts: Part | None) -> None:
        """Take in the errors of other labels; *parts*: those that they are of, in order, if they are :meth:`thin`."""
        of: dict[str, list[Part]] = {}
        given = [part for part in parts if part is not None]
        for part in given:
            for file in part.files:
                of.setdefault(file.entry.path, []).append(part)
        for own, one in other.rows:
            several = of.get(one.files[0].path, []) if one.files else []
            owner = several.pop(0) if len(several) > 1 else next(iter((*several, *given)), None)  # a table by its rows
            self.rows.append((own or owner, one))
        self.files += other.files
        self.noun = other.noun if other.files else self.noun
        self.first = other.first | self.first
        self.wrong += other.wrong

    def thin(self) -> Faults:
        """The same without the readings, to be kept for many parts: files are read again if it comes to that."""
        return dataclasses.replace(self, rows=[(part, one.thin()) for part, one in self.rows])

    def alone(self) -> Faults:
        """The same, judged now, as if these labels were all there are."""
        first, wrong = dict(self.first), Counter(self.wrong)
        for labels in LabelGroup.of(self.rows):
            found = labels.findings()
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


def vet(found: Iterable[Recognised]) -> Faults:
    """The errors in labels that were read."""
    faults = Faults()
    for one in found:
        layout = resolved(one.reading.format, one.reading.table)
        rows = checked(one, (), keep=True, chosen=_errors(), format=layout)
        noun = "file" if layout is one.reading.format else "clip"
        faults.add(Faults(len(rows.files), noun, [(None, rows)]))
    return faults


def joined(some: Iterable[Faults]) -> Faults:
    """All errors as one."""
    every = Faults()
    for faults in some:
        every.add(faults)
    return every
