"""Findings for grep and for CI: a line for each, commands of GitHub, code quality of GitLab, test results of JUnit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from seldio.findings import Finding, Report, Rule, Severity
from seldio.reports.sarif import fingerprint
from seldio.reports.sections import message, more, name_of, one_line, statistics_rows, summary_line
from seldio.reports.tables import Options
from seldio.text import json_text, printable


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
    """A workflow command for every finding; GitHub shows it next to its line."""
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


# --- GitLab ------------------------------------------------------------------------------------------------
#
# A report of code quality: https://docs.gitlab.com/ci/testing/code_quality/ says which keys it needs. A fingerprint
# tells a merge request which findings are new, so it knows the finding by what it says and not by its line.

_LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def gitlab(report: Report, _options: Options) -> Iterator[str]:
    """One array of issues."""
    shown, hidden = report.listed()
    counts: Counter[str] = Counter()
    issues = [
        _issue(message(finding), finding.code, fingerprint(finding, finding.path, counts), _LEVELS[finding.severity],
               finding.path, finding.line or 1) for finding in shown
    ]  # fmt: skip
    issues += [_issue(more(code, count), code, f"{code} not listed", "info", ".", 1) for code, count in hidden.items()]
    yield json_text(issues, indent=1) + "\n"


def _issue(text: str, code: str, mark: str, level: str, path: str, line: int) -> dict[str, Any]:
    return {
        "description": printable(text), "check_name": code, "fingerprint": mark, "severity": level,
        "location": {"path": printable(path), "lines": {"begin": line}},
    }  # fmt: skip


# --- JUnit -------------------------------------------------------------------------------------------------
#
# A file is a suite, a rule that found something in it is a test case. Errors fail their test case. Warnings and infos
# make theirs *skipped*: the one outcome that CI systems display with its message and that does not break a build. A
# clean report has one test case that passes, because several systems take a report without any for a mistake.

_NOT_XML = re.compile("[\ufffe\uffff]")


def junit(report: Report, options: Options) -> Iterator[str]:
    """One ``testsuites`` document."""
    root = ET.Element("testsuites", name="seldio")
    shown, hidden = report.listed()
    for path, findings in _grouped(shown, "path").items():
        suite = ET.SubElement(root, "testsuite", name=_xml(path))
        for code, same in _grouped(findings, "code").items():
            _add_case(suite, code, same, options.catalogue)
    for code, count in hidden.items():
        name = f"{_xml(code)} (not listed)"
        case = ET.SubElement(_own_suite(root), "testcase", name=name, classname="seldio")
        ET.SubElement(case, "skipped", type="unlisted", message=_xml(more(code, count)))
    if not report.findings:
        name = summary_line(report, options.catalogue)
        ET.SubElement(_own_suite(root), "testcase", name=name, classname="seldio")
    for element in (root, *root):
        for name, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
            element.set(name, str(sum(1 for _ in element.iter(tag))))
        element.set("errors", "0")
    ET.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield ET.tostring(root, encoding="unicode") + "\n"


def _own_suite(root: ET.Element) -> ET.Element:
    return ET.SubElement(root, "testsuite", name="seldio")


def _grouped(findings: Sequence[Finding], key: str) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(getattr(finding, key), []).append(finding)
    return groups


def _add_case(suite: ET.Element, code: str, findings: Sequence[Finding], catalogue: Mapping[str, Rule]) -> None:
    first, path = findings[0], _xml(findings[0].path)
    name = _xml(f"{code} {name_of(code, catalogue)}".rstrip())
    case = ET.SubElement(suite, "testcase", name=name, classname=path, file=path)
    if first.line is not None:
        case.set("line", str(first.line))
    others = f" (and {len(findings) - 1:,} more)" if len(findings) > 1 else ""
    hints = (f"\n  hint: {_xml(finding.hint)}" if finding.hint else "" for finding in findings)
    lines = (f"{finding.severity.value}: {_xml(one_line(finding))}{hint}"
             for finding, hint in zip(findings, hints, strict=True))  # fmt: skip
    text, listing = _xml(message(first)) + others, "\n".join(lines)
    severity = min((finding.severity for finding in findings), key=lambda severity: severity.rank)
    if severity is Severity.ERROR:
        ET.SubElement(case, "failure", type="error", message=text).text = listing
    else:
        ET.SubElement(case, "skipped", type=severity.value, message=text)
        ET.SubElement(case, "system-out").text = listing


def _xml(text: str) -> str:
    """*text* without the characters that XML 1.0 forbids; controls and surrogates are spelt out."""
    return _NOT_XML.sub(lambda match: f"\\u{ord(match.group()):04x}", printable(text))
