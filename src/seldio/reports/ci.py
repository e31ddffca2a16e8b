"""Findings for grep and for CI: a line for each, and commands of GitHub."""

from __future__ import annotations

from collections.abc import Iterator

from seldio.findings import Report, Severity
from seldio.reports.sections import message, more, one_line, statistics_rows, summary_line
from seldio.reports.tables import Options
from seldio.text import printable


def concise(report: Report, options: Options) -> Iterator[str]:
    """``path:line:column: CODE [*] message`` for every finding, then the summary."""
    for finding in report.findings:
        yield one_line(finding) + "\n"
    if options.statistics:
        for count, code, mark, name in statistics_rows(report, options.catalogue):
            yield f"{count}  {code}{mark}  {name}".rstrip() + "\n"
    yield summary_line(report, options.catalogue) + "\n"


# --- GitHub ------------------------------------------------------------------------------------------------

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def github(report: Report, _options: Options) -> Iterator[str]:
    """Yield a workflow command for every finding; GitHub shows it next to its line."""
    shown, hidden = report.listed()
    for finding in shown:
        values = {"file": finding.path}
        if finding.line is not None:
            columns = {"line": finding.line, "col": finding.column, "endColumn": finding.end_column}
            values |= {name: str(value) for name, value in columns.items() if value is not None}
        values["title"] = finding.code
        properties = ",".join(f"{name}={printable(value).translate(_PROPERTY)}" for name, value in values.items())
        parts = [message(finding), *([f"Hint: {finding.hint}"] if finding.hint else [])]
        text = "\n".join(map(printable, parts)).translate(_DATA)
        yield f"::{_COMMANDS[finding.severity]} {properties}::{text}\n"
    for code, count in hidden.items():
        yield f"::notice title={printable(code)}::{more(code, count)}\n"
