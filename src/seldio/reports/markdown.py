"""The report as Markdown, for pull request comments, job summaries and Hub discussions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from seldio.findings import Finding, Report, Severity
from seldio.reports.common import (
    Catalogue,
    Options,
    by_cause,
    message,
    more,
    name_of,
    place,
    spread,
    summary_line,
)
from seldio.text import printable

# What Markdown or HTML would take for its own; as character references they are plain text.
_MARKUP = r"[&<>|`*~$\\\[\]]|(?<![^\W_])_|_(?![^\W_])"
# What would become a mention, an issue, an emoji or a link; a zero-width space behind it prevents that.
_REFERENCE = r"@(?=\w)|#(?=\d)|:(?=[\w+-]+:)|(?<=http):|(?<=https):|(?<=www)\."
_SPECIAL = re.compile(f"(?P<markup>{_MARKUP})|{_REFERENCE}")
# What a span between backticks inside a table cell cannot hold.
_UNSPEAKABLE = re.compile(r"[|`\\]")


def render_markdown(report: Report, options: Options) -> Iterator[str]:
    """The summary, a table by rule, and a table of findings, at most so many per rule."""
    yield summary_line(report, options.catalogue) + "\n"
    if not report.findings:
        return
    yield from _table(("Findings", "Severity", "Rule", "Name"), _rules(report, options.catalogue))
    shown, hidden = by_cause(report.findings, options.max_per_rule)
    yield from _table(("Place", "Rule", "Message"), (_row(group, report, options.catalogue) for group in shown))
    if hidden:
        yield "\n" + "".join(f"- {more(code, count)}\n" for code, count in hidden.items())


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"\n{line(header)}{line(['---'] * len(header))}"
    yield from map(line, rows)


def line(cells: Sequence[str]) -> str:
    """A row of a table; what is in the cells is Markdown."""
    return f"| {' | '.join(cells)} |\n"


def _rules(report: Report, catalogue: Catalogue) -> Iterator[Sequence[str]]:
    worst: dict[str, Severity] = {}
    for finding in report.findings:
        known = worst.get(finding.code, finding.severity)
        worst[finding.code] = min(known, finding.severity, key=lambda severity: severity.rank)
    for code, count in report.by_rule().items():
        yield f"{count:,}", worst[code].value, _linked(code, catalogue), escaped(name_of(code, catalogue))


def _row(group: Sequence[Finding], report: Report, catalogue: Catalogue) -> Sequence[str]:
    finding = group[0]
    where = code_span(place(finding)) + (f", {spread(group, report)}" if len(group) > 1 else "")
    hint = f"<br>Hint: {escaped(finding.hint)}" if finding.hint else ""
    mark = " `[*]`" if finding.fixable else ""
    return where, _linked(finding.code, catalogue) + mark, escaped(message(finding)) + hint


def _linked(code: str, catalogue: Catalogue) -> str:
    url = catalogue[code].url if code in catalogue else None
    return f"[{escaped(code)}]({url})" if url else escaped(code)


def escaped(text: str) -> str:
    """*text* as plain text inside a table cell, whatever it holds."""
    return _SPECIAL.sub(_neutral, printable(text))


def _neutral(match: re.Match[str]) -> str:
    return f"&#{ord(match.group())};" if match["markup"] else f"{match.group()}&#8203;"


def code_span(text: str) -> str:
    """*text* as code; HTML where backticks cannot say it."""
    plain = printable(text)
    if not plain.strip() or _UNSPEAKABLE.search(plain):
        return f"<code>{escaped(text)}</code>"
    return f"`{plain}`"
