"""One line for each finding: ``concise`` for people and grep, ``github`` for workflow logs."""

from __future__ import annotations

from collections.abc import Iterator

from seldio.findings import Finding, Report, Severity
from seldio.reports.common import Options, message, more, one_line, statistics_rows, summary_line
from seldio.text import printable


def render_concise(report: Report, options: Options) -> Iterator[str]:
    """``path:line:column: CODE [*] message`` for every finding, then the summary."""
    for finding in report.findings:
        yield one_line(finding) + "\n"
    if options.statistics:
        for count, code, mark, name in statistics_rows(report, options.catalogue):
            yield f"{count}  {code}{mark}  {name}".rstrip() + "\n"
    yield summary_line(report, options.catalogue) + "\n"


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_github(report: Report, _options: Options) -> Iterator[str]:
    """A workflow command for every finding; GitHub shows it beside the line it is about."""
    shown, hidden = report.listed()
    for finding in shown:
        properties = ",".join(f"{name}={value}" for name, value in _properties(finding).items())
        yield f"::{_COMMANDS[finding.severity]} {properties}::{_message(finding)}\n"
    for code, count in hidden.items():
        yield f"::notice title={printable(code)}::{more(code, count)}\n"


def _properties(finding: Finding) -> dict[str, str]:
    values = {"file": finding.path}
    if finding.line is not None:
        columns = {"line": finding.line, "col": finding.column, "endColumn": finding.end_column}
        values |= {name: str(value) for name, value in columns.items() if value is not None}
    values["title"] = finding.code
    return {name: printable(value).translate(_PROPERTY) for name, value in values.items()}


def _message(finding: Finding) -> str:
    parts = [message(finding), *([f"Hint: {finding.hint}"] if finding.hint else [])]
    return "\n".join(printable(part) for part in parts).translate(_DATA)
