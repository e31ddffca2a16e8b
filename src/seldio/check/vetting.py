"""Labels that are about to be used: what is wrong with them is found before anything is made of them.

The rules are those of validation, and only errors count: files that mean something else than they seem to, and values
out of range. Everything that reads labels in order to convert, score or ask goes through here. All files are judged
together, as files together tell a misreading.
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
from seldio.formats.base import OF_SYSTEMS
from seldio.rules.base import Check
from seldio.rules.labels import ROW_RULES
from seldio.rules.registry import rule_of
from seldio.text import plural


@cache
def _errors() -> tuple[Check, ...]:
    """Rules for rows that stop; those for whole files account for values out of range even where they only warn."""
    return tuple(check for check in ROW_RULES if rule_of(check).severity is Severity.ERROR)


@dataclasses.dataclass
class Faults:
    """Labels whose errors stop what is to be made of them."""

    read: list[Recognised] = dataclasses.field(default_factory=list)

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


def vet(read: Iterable[Recognised]) -> Faults:
    """Return labels that were read, to be settled with all others."""
    return Faults(list(read))
