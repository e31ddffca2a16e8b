"""A finding is one thing wrong in one place; a report is all of them, counted whole."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

from seldio.errors import InvalidData


class Severity(StrEnum):
    """How bad a finding is, in falling order: ``error``, ``warning``, ``info``."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for error, 1 for warning, 2 for info."""
        return _RANKS[self.value]

    def reaches(self, threshold: Severity) -> bool:
        """Whether this severity is at least as bad as *threshold*."""
        return self.rank <= threshold.rank


_RANKS = {severity.value: rank for rank, severity in enumerate(Severity)}


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong in one place.

    Args:
        code: the rule, e.g. ``LAB103``; ``seldio rule CODE`` explains it.
        severity: error, warning or info.
        message: one sentence in plain words.
        path: the file as the user named it; members of archives as ``archive.zip!/member.csv``.
        line: 1-based physical line, where the finding has one.
        column: 1-based character in that line where the offending text begins.
        end_column: 1-based character just behind the offending text.
        value: the offending text itself, as it stands in the file.
        hint: what to do about it.
        fixable: whether ``--fix`` or ``--unsafe-fixes`` can repair it.
        excerpt: the offending line, for the text report's caret; not part of the json report.
    """

    code: str
    severity: Severity
    message: str
    path: str
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    value: str | None = None
    hint: str | None = None
    fixable: bool = False
    excerpt: str | None = dataclasses.field(default=None, compare=False)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        return f"{place}: {self.code} {self.message}"

    def as_dict(self) -> dict[str, Any]:
        """The finding with the keys of the json report, in their order."""
        return {name: getattr(self, name) for name in JSON_KEYS}

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The key findings are sorted by: file, line, column, code, message."""
        return (self.path, self.line or 0, self.column or 0, self.code, self.message)


JSON_KEYS = tuple(field.name for field in dataclasses.fields(Finding) if field.name != "excerpt")

#: Where readers and rules put what they find: a collecting list while validating,
#: :func:`raise_errors` while loading.
Sink = Callable[[Finding], None]


def raise_errors(finding: Finding) -> None:
    """The sink for loading: an error raises :class:`~seldio.errors.InvalidData`, the rest passes."""
    if finding.severity is Severity.ERROR:
        raise InvalidData(finding)


@dataclasses.dataclass(slots=True)
class Report:
    """Everything found in a run.

    Args:
        findings: sorted by file, line, column and code; never cut short.
        files: how many files were read.
    """

    findings: list[Finding] = dataclasses.field(default_factory=list)
    files: int = 0

    def add(self, findings: Iterable[Finding]) -> None:
        """Take findings in, keeping the order by place."""
        self.findings.extend(findings)
        self.findings.sort(key=lambda finding: finding.order)

    def count(self, severity: Severity) -> int:
        """How many findings have exactly this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def by_rule(self) -> dict[str, int]:
        """Number of findings by code, codes sorted."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    def reaches(self, threshold: Severity) -> bool:
        """Whether any finding is at least as bad as *threshold*."""
        return any(finding.severity.reaches(threshold) for finding in self.findings)

    def summary(self) -> dict[str, Any]:
        """The counts of the json report."""
        return {
            "files": self.files,
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
            "infos": self.count(Severity.INFO),
            "by_rule": self.by_rule(),
        }

    def as_dict(self) -> dict[str, Any]:
        """The json report, version 1 (``schemas/report.schema.json``)."""
        return {
            "version": 1,
            "summary": self.summary(),
            "findings": [finding.as_dict() for finding in self.findings],
        }
