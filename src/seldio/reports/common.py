"""What every report format shares: the options, the catalogue of rules, places, counts, the cap."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from seldio.findings import SINGLY, Finding, Report, Severity, capped
from seldio.text import listed, plural, printable


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


def message(finding: Finding) -> str:
    """The message, with how often and in which lines where a finding stands for several places."""
    if finding.count == 1:
        return finding.message
    return f"{finding.message} ({finding.count:,} times{_lines(finding)})"


def _lines(finding: Finding) -> str:
    """The first of a finding's ranges of lines, for people."""
    if not finding.ranges:
        return ""
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in finding.ranges[:_RANGES]]
    further = ", …" if len(finding.ranges) > _RANGES or finding.unlisted else ""
    return f", {'line' if shown == [str(finding.line)] else 'lines'} {', '.join(shown)}{further}"


_RANGES = 3


def one_line(finding: Finding) -> str:
    """``path:line:column: CODE [*] message``, printable."""
    return printable(f"{place(finding)}: {finding.code}{fix_mark(finding.fixable)} {message(finding)}")


def name_of(code: str, catalogue: Catalogue) -> str:
    """The name of a rule, printable; empty when the catalogue does not know the code."""
    return printable(catalogue[code].name) if code in catalogue else ""


def by_cause(findings: Sequence[Finding], most: int | None) -> tuple[list[list[Finding]], dict[str, int]]:
    """What people are shown: findings one by one, and those with one cause in many files together.

    Args:
        findings: in their order.
        most: how many of these each rule may have; None for all findings, one by one.

    Returns:
        Groups of one or many findings, and by code how many more findings there are.
    """
    if most is None:
        return [[finding] for finding in findings], {}
    causes: dict[tuple[str, Severity, str | None], list[Finding]] = {}
    for finding in findings:
        causes.setdefault((finding.code, finding.severity, finding.hint), []).append(finding)
    many = {cause for cause, same in causes.items() if files_of(same) > SINGLY}
    firsts: list[Finding] = []
    groups: dict[int, list[Finding]] = {}
    for finding in findings:
        cause = finding.code, finding.severity, finding.hint
        if cause not in many or causes[cause][0] is finding:
            firsts.append(finding)
            groups[id(finding)] = causes[cause] if cause in many else [finding]
    shown = [groups[id(finding)] for finding in capped(firsts, most)[0]]
    left = Counter(finding.code for finding in findings)
    left.subtract(finding.code for group in shown for finding in group)
    return shown, {code: left[code] for code in sorted(left) if left[code]}


def files_of(findings: Iterable[Finding]) -> int:
    """How many files findings are in."""
    return len({finding.path for finding in findings})


def spread(group: Sequence[Finding], report: Report) -> str:
    """``in 78 of 78 files``, of findings with one cause."""
    number = files_of(group)
    return f"in {number:,} of {plural(report.files, 'file')}" if number <= report.files else f"in {number:,} files"


def others(group: Sequence[Finding]) -> str:
    """Where the rest of a group is."""
    rest = [place(next(group_)) for _, group_ in itertools.groupby(group, lambda finding: finding.path)][1:]
    return f"also in {listed(rest)}"


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
    places = f" ({report.places:,} places)" if report.places > len(report.findings) else ""
    return f"Found {found}{places} in {files}.{_fixable(report, catalogue)}"


def _fixable(report: Report, catalogue: Catalogue) -> str:
    fixable = [finding for finding in report.findings if finding.fixable]
    here = [_is_unsafe(finding.code, catalogue) for finding in fixable if not finding.packed]
    unsafe, packed = sum(here), len(fixable) - len(here)
    safe, text = len(here) - unsafe, ""
    if safe and unsafe:
        text = f" {safe:,} fixable with --fix, {unsafe:,} more with --unsafe-fixes."
    elif safe or unsafe:
        text = f" {safe or unsafe:,} fixable with {'--fix' if safe else '--unsafe-fixes'}."
    return text + (f" {packed:,} fixable once unpacked: archives are not rewritten." if packed else "")


def _is_unsafe(code: str, catalogue: Catalogue) -> bool:
    return code in catalogue and catalogue[code].fix == "unsafe"


def statistics_rows(report: Report, catalogue: Catalogue) -> list[tuple[str, str, str, str]]:
    """By rule, most frequent first: count, code, fixable mark, and name with the places; padded into columns."""
    places: Counter[str] = Counter()
    for finding in report.findings:
        places[finding.code] += finding.count
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
            name_of(code, catalogue) + (f" ({places[code]:,} places)" if places[code] > count else ""),
        )
        for code, count in counts
    ]
