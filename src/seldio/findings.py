"""A finding is one thing wrong in one place; a report is all of them, counted whole."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seldio.errors import InvalidData
from seldio.plugins import version
from seldio.text import Displayed, json_text, plural, printable

if TYPE_CHECKING:
    import pandas as pd

    from seldio.rules.deep_pieces import Heard

#: The documentation: pages end with ``.html``, JSON Schemas are in ``schemas/``.
DOCS = "https://seldio.readthedocs.io/en/latest/"
#: Places of one cause in one file that are findings of their own; more of them are one finding with a count.
SINGLY = 3
#: The same for records of questions and predictions, each of which has to be looked at by itself.
RECORDS_SINGLY = 100
#: So many ranges of lines are kept of a finding; what they leave out is counted.
MOST_RANGES = 100
_most_ranges: ContextVar[int | None] = ContextVar("ranges of lines that a finding keeps", default=MOST_RANGES)
#: So many findings of one rule are listed in reports for programs; how many more there are is said there.
MOST_LISTED = 10_000


@contextmanager
def all_ranges() -> Iterator[None]:
    """Let findings that are made inside keep all their ranges of lines: for one clip, which has few."""
    token = _most_ranges.set(None)
    try:
        yield
    finally:
        _most_ranges.reset(token)


class Severity(StrEnum):
    """How bad a finding is, in falling order: ``error``, ``warning``, ``info``."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for error, 1 for warning, 2 for info."""
        return list(Severity).index(self)

    def reaches(self, threshold: Severity) -> bool:
        """Return whether this severity is at least as bad as *threshold*."""
        return self.rank <= threshold.rank


Fix = Literal["none", "safe", "unsafe"]


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
        fixable: whether ``--fix`` or ``--unsafe-fixes`` can repair it, in a file that is not :attr:`packed`.
        excerpt: the offending line, for the text report's caret; not part of the json report.
        count: how many places of the file have the same fault; line, column and value are those of the first.
        ranges: first and last line of each run of lines with one of these places, the first 100 of them; empty
            where there is a single place, or none with a line.
        unlisted: how many lines with one of these places *ranges* leaves out.
        url: the page of the rule on the web, if it has one.
        fix: what repairs findings of the rule where they are *fixable*: ``safe`` (``--fix``) or ``unsafe``.
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
    count: int = 1
    ranges: tuple[tuple[int, int], ...] = ()
    unlisted: int = 0
    url: str | None = dataclasses.field(default=None, compare=False)
    fix: Fix = dataclasses.field(default="none", compare=False)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        return f"{place}: {self.code} {self.message}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding with the keys of the json report, in their order."""
        values = {name: getattr(self, name) for name in JSON_KEYS}
        return values | {"ranges": list(map(list, self.ranges)), "fix": self.fix if self.fixable else "none"}

    def times(self, count: int, lines: Iterable[int]) -> Finding:
        """Return the same finding for *count* places, this one being the first, in *lines* (1-based)."""
        import numpy as np  # not for `seldio --help`

        numbers = np.sort(lines if isinstance(lines, np.ndarray) else np.fromiter(lines, np.int64))
        breaks = np.flatnonzero(np.diff(numbers) > 1)
        firsts, lasts = numbers[np.append(0, breaks + 1)], numbers[np.append(breaks, -1)]
        most, sizes = _most_ranges.get(), lasts - firsts + 1
        ranges = tuple(zip(firsts[:most].tolist(), lasts[:most].tolist(), strict=True))
        unlisted = int(sizes.sum() - sizes[:most].sum())
        return dataclasses.replace(self, count=count, ranges=ranges, unlisted=unlisted)

    @property
    def packed(self) -> tuple[str, str] | None:
        """Return what must be done to a file before it can be repaired, and why; None for a plain file."""
        path = self.path
        if path.startswith("hf://"):
            return "downloaded", "files on the Hub are not rewritten"
        if "!/" in path or path.endswith(".gz"):
            return "unpacked", "archives are not rewritten"
        return ("saved as a file", "standard input is not rewritten") if path.startswith("<stdin>") else None

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The key findings are sorted by: file, line, column, code, message."""
        return (self.path, self.line or 0, self.column or 0, self.code, self.message)


JSON_KEYS = tuple(field.name for field in dataclasses.fields(Finding) if field.name != "excerpt")

#: Where readers and rules put what they find: a collecting list while validating,
#: :func:`raise_errors` while loading.
Sink = Callable[[Finding], None]


@dataclasses.dataclass(frozen=True)
class Rule:
    """One thing that seldio checks, and what makes its findings.

    Args:
        code: family prefix and number; it never changes.
        name: for people, e.g. ``azimuth-range``.
        severity: the default one.
        fix: whether ``--fix`` (safe), ``--unsafe-fixes`` or nothing can repair it.
        check: of a rule from outside, the generator of its findings, whose docstring is its page. The page of a rule of
            seldio is ``rules/pages/CODE.md``.
        subject: the names of the classes that *check* looks at.
        needs: of labels, the columns without which it has nothing to say.
        explains: beginnings of the codes of findings that one of this rule accounts for, see
            :func:`seldio.rules.unexplained`.
        url: the address of its page; that in the documentation for rules of seldio, none for other rules.
        summary: what it finds, in one line.
        hint: what to do about a finding, where that is always the same.
    """

    code: str
    name: str
    severity: Severity
    fix: Fix = "none"
    check: Callable[..., Iterator[Finding]] | None = None
    subject: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    explains: tuple[str, ...] = ()
    url: str | None = None
    summary: str = ""
    hint: str | None = None

    @cached_property
    def _page(self) -> str:
        if self.check is not None:
            return inspect.cleandoc(self.check.__doc__ or "")
        return (Path(__file__).parent / "rules" / "pages" / f"{self.code}.md").read_text("utf-8")

    @property
    def explanation(self) -> str:
        """The page behind ``seldio rule CODE``, without its summary."""
        return self._page.partition("\n")[2].strip()

    def at(
        self,
        path: str,
        message: str,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
        value: str | None = None,
        excerpt: str | None = None,
        *,
        end_column: int | None = None,
        severity: Severity | None = None,
        fixable: bool | None = None,
    ) -> Finding:
        """Return a finding of this rule at one place; the arguments are those of :class:`Finding`.

        It ends where *value* does, unless *end_column* says otherwise. *severity* and *fixable* are the rule's own,
        unless the place is an exception.
        """
        if end_column is None and column is not None and value is not None:
            end_column = column + len(value)
        severity = self.severity if severity is None else severity
        fixable = self.fix != "none" if fixable is None else fixable
        hint = self.hint if hint is None else hint
        place = path, line, column, end_column, value
        return Finding(self.code, severity, message, *place, hint, fixable, excerpt, url=self.url, fix=self.fix)


def gathered(findings: Iterable[Finding], most: int) -> list[Finding]:
    """Merge findings of one rule in one file into the first, with count and lines, if there are more than *most*."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        alone = () if finding.line is not None else (number,)
        groups.setdefault((finding.path, finding.code, finding.severity, *alone), []).append(finding)
    merged: list[Finding] = []
    for same in groups.values():
        if len(same) <= most:
            merged += same
            continue
        first = min(same, key=lambda finding: finding.order)
        runs = (run for finding in same for run in finding.ranges or ((finding.line or 0, finding.line or 0),))
        lines = itertools.chain.from_iterable(range(low, high + 1) for low, high in runs)
        whole = first.times(sum(finding.count for finding in same), lines)
        unlisted = whole.unlisted + sum(finding.unlisted for finding in same)
        merged.append(dataclasses.replace(whole, unlisted=unlisted))
    return merged


def raise_errors(finding: Finding) -> None:
    """Raise :class:`~seldio.errors.InvalidData` for an error; the sink for loading, which the rest passes."""
    if finding.severity is Severity.ERROR:
        raise InvalidData(finding)


def capped(findings: Iterable[Finding], most: int) -> tuple[list[Finding], dict[str, int]]:
    """Return the first *most* findings of each rule, and how many more each rule has (codes sorted)."""
    shown: list[Finding] = []
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.code] += 1
        if seen[finding.code] <= most:
            shown.append(finding)
    return shown, {code: seen[code] - most for code in sorted(seen) if seen[code] > most}


@dataclasses.dataclass(slots=True, repr=False)
class Report(Displayed):
    """Everything found in a run.

    Args:
        findings: sorted by file, line, column and code. One cause in one file is one finding with a count, where it
            has more places than a few.
        files: how many files were read.
        heard: where labels were compared with the audio, what was heard in each recording, then in all of a format.
    """

    findings: list[Finding] = dataclasses.field(default_factory=list)
    files: int = 0
    heard: list[Heard] = dataclasses.field(default_factory=list)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __str__(self) -> str:
        """Return a line for each finding, at most ten of a rule, and the counts."""
        shown, more = capped(self.findings, 10)
        lines = [printable(f"{finding.severity.value:<7}  {finding}") for finding in shown]
        lines += [f"and {count:,} more of {code}" for code, count in more.items()]
        return "\n".join([*lines, self.in_brief])

    @property
    def in_brief(self) -> str:
        """How many findings of each severity there are."""
        counts = (plural(self.count(severity), severity.value) for severity in Severity)
        return f"{', '.join(counts)} in {plural(self.files, 'file')}"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        rows = [finding.as_dict() for finding in self.findings]
        columns = {name: [row[name] for row in rows] for name in JSON_KEYS}
        kinds = dict.fromkeys(("line", "column", "end_column", "count", "unlisted"), pa.int64())
        kinds |= {"fixable": pa.bool_(), "ranges": pa.list_(pa.list_(pa.int64(), 2))}
        schema = pa.schema({name: kinds.get(name, pa.string()) for name in JSON_KEYS})
        return pa.table(columns, schema=schema).__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the findings as a DataFrame, a row each."""
        import pyarrow as pa

        frame: pd.DataFrame = pa.table(self).to_pandas()
        return frame

    def to_json(self) -> str:
        """Return the json report, as ``seldio validate --json`` prints it."""
        return json_text(self.as_dict(), indent=2)

    def add(self, findings: Iterable[Finding]) -> None:
        """Take findings in, keeping the order by place."""
        self.findings.extend(findings)
        self.findings.sort(key=lambda finding: finding.order)

    def count(self, severity: Severity) -> int:
        """Return how many findings have exactly this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def places(self) -> int:
        """How many places all findings have together."""
        return sum(finding.count for finding in self.findings)

    def by_rule(self) -> dict[str, int]:
        """Return the number of findings by code, codes sorted."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    def reaches(self, threshold: Severity) -> bool:
        """Return whether any finding is at least as bad as *threshold*."""
        return any(finding.severity.reaches(threshold) for finding in self.findings)

    def listed(self) -> tuple[list[Finding], dict[str, int]]:
        """Return the findings that reports for programs list, and how many more each rule has, by code."""
        return capped(self.findings, MOST_LISTED)

    def summary(self) -> dict[str, Any]:
        """Return the counts of the json report."""
        return {
            "files": self.files,
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
            "infos": self.count(Severity.INFO),
            "by_rule": self.by_rule(),
            "places": self.places,
            "unlisted": self.listed()[1],
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the json report, version 1 (``schemas/report.schema.json``)."""
        report = {"version": 1, "seldio": version(), "summary": self.summary()}
        if self.heard:  # labels were compared with the audio
            report["listening"] = [heard.as_dict() for heard in self.heard]
        return report | {"findings": [finding.as_dict() for finding in self.listed()[0]]}
