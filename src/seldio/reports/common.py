"""What every report format shares: the options, the catalogue of rules, places, counts, the cap."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from seldio.findings import Finding, Report, Severity
from seldio.text import plural, printable


class Rule(Protocol):
    """What a report wants to know about a rule; ``seldio.rules`` provides it."""

    @property
    def code(self) -> str:
        """For example ``LAB103``."""

    @property
    def name(self) -> str:
        """The rule's name for people, in kebab case."""

    @property
    def severity(self) -> Severity:
        """The severity its findings have unless somebody says otherwise."""

    @property
    def summary(self) -> str:
        """One sentence."""

    @property
    def explanation(self) -> str:
        """The documentation page, in Markdown."""

    @property
    def fix(self) -> str:
        """``none``, ``safe`` (``--fix`` applies it) or ``unsafe`` (``--unsafe-fixes`` does)."""

    @property
    def url(self) -> str | None:
        """Where the documentation page is on the web."""


Catalogue = Mapping[str, Rule]


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How a report is to be rendered; a format takes from this what concerns it.

    Args:
        catalogue: the rules by code; a code that is missing there is shown without its name.
        max_per_rule: how many findings of one rule text and markdown display; None for all.
        color: whether the text format uses ANSI colours.
        width: how many terminal cells a line of an excerpt may take.
        statistics: whether text and concise end with a table by rule.
    """

    catalogue: Catalogue
    max_per_rule: int | None = 20
    color: bool = False
    width: int = 100
    statistics: bool = False


def place(finding: Finding) -> str:
    """``path:line:column`` as far as they are known; not yet made printable."""
    parts = (finding.path, finding.line, finding.column)
    return ":".join(str(part) for part in parts if part is not None)


def fix_mark(fixable: bool) -> str:
    """The mark of what ``--fix`` or ``--unsafe-fixes`` can repair."""
    return " [*]" if fixable else ""


def one_line(finding: Finding) -> str:
    """``path:line:column: CODE [*] message``, printable."""
    return printable(f"{place(finding)}: {finding.code}{fix_mark(finding.fixable)} {finding.message}")


def name_of(code: str, catalogue: Catalogue) -> str:
    """The name of a rule, printable; empty when the catalogue does not know the code."""
    return printable(catalogue[code].name) if code in catalogue else ""


def capped(findings: Iterable[Finding], most: int | None) -> tuple[list[Finding], dict[str, int]]:
    """The first *most* findings of each rule, and how many more each rule has (codes sorted)."""
    shown: list[Finding] = []
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.code] += 1
        if most is None or seen[finding.code] <= most:
            shown.append(finding)
    if most is None:
        return shown, {}
    return shown, {code: seen[code] - most for code in sorted(seen) if seen[code] > most}


def more(code: str, count: int) -> str:
    """The line that stands for findings which are counted but not displayed."""
    return f"… and {count:,} more {printable(code)}"


def summary_line(report: Report, catalogue: Catalogue) -> str:
    """The last line for people: how much was found, in how many files, and what can be fixed."""
    files = plural(report.files, "file")
    if not report.findings:
        return f"All clean: {files}." if report.files else "Nothing was checked: 0 files."
    counts = ((report.count(severity), severity.value) for severity in Severity)
    found = ", ".join(plural(count, noun) for count, noun in counts if count)
    return f"Found {found} in {files}.{_fixable(report, catalogue)}"


def _fixable(report: Report, catalogue: Catalogue) -> str:
    unsafe = sum(finding.fixable and _is_unsafe(finding.code, catalogue) for finding in report.findings)
    safe = sum(finding.fixable for finding in report.findings) - unsafe
    if safe and unsafe:
        return f" {safe:,} fixable with --fix, {unsafe:,} more with --unsafe-fixes."
    if safe or unsafe:
        return f" {safe or unsafe:,} fixable with {'--fix' if safe else '--unsafe-fixes'}."
    return ""


def _is_unsafe(code: str, catalogue: Catalogue) -> bool:
    return code in catalogue and catalogue[code].fix == "unsafe"


def statistics_rows(report: Report, catalogue: Catalogue) -> list[tuple[str, str, str, str]]:
    """By rule, most frequent first: count, code, fixable mark and name, padded into columns."""
    fixable = {finding.code for finding in report.findings if finding.fixable}
    counts = sorted(report.by_rule().items(), key=lambda item: (-item[1], item[0]))
    wide = max((len(f"{count:,}") for _, count in counts), default=0)
    long = max((len(printable(code)) for code, _ in counts), default=0)
    mark = len(fix_mark(bool(fixable)))
    return [
        (
            f"{count:{wide},}",
            printable(code).ljust(long),
            fix_mark(code in fixable).ljust(mark),
            name_of(code, catalogue),
        )
        for code, count in counts
    ]
