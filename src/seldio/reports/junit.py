"""The report as JUnit XML, which CI systems show as test results.

A file is a suite, a rule that found something in it is a test case. Errors fail their test case.
Warnings and infos make theirs *skipped*: the one outcome that CI systems display with its message
and that does not break a build. A clean report has one test case that passes, because several
systems take a report without any for a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from seldio.findings import Finding, Report, Severity
from seldio.reports.common import Catalogue, Options, message, more, name_of, one_line, summary_line
from seldio.text import printable

_NOT_XML = re.compile("[\ufffe\uffff]")


def render_junit(report: Report, options: Options) -> Iterator[str]:
    """One ``testsuites`` document."""
    root = ET.Element("testsuites", name="seldio")
    shown, hidden = report.listed()
    for path, findings in _grouped(shown, "path").items():
        root.append(_suite(path, findings, options.catalogue))
    for code, count in hidden.items():
        root.append(_unlisted(code, count))
    if not report.findings:
        root.append(_clean(report, options.catalogue))
    _count(root)
    ET.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield ET.tostring(root, encoding="unicode") + "\n"


def _unlisted(code: str, count: int) -> ET.Element:
    """A suite with nothing but the word that findings of a rule were counted and not listed."""
    suite = ET.Element("testsuite", name="seldio")
    case = ET.SubElement(suite, "testcase", name=f"{_xml(code)} (not listed)", classname="seldio")
    ET.SubElement(case, "skipped", type="unlisted", message=_xml(more(code, count)))
    _count(suite)
    return suite


def _grouped(findings: Sequence[Finding], key: str) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(getattr(finding, key), []).append(finding)
    return groups


def _suite(path: str, findings: Sequence[Finding], catalogue: Catalogue) -> ET.Element:
    suite = ET.Element("testsuite", name=_xml(path))
    for code, same in _grouped(findings, "code").items():
        suite.append(_case(code, same, catalogue))
    _count(suite)
    return suite


def _case(code: str, findings: Sequence[Finding], catalogue: Catalogue) -> ET.Element:
    first, path = findings[0], _xml(findings[0].path)
    name = _xml(f"{code} {name_of(code, catalogue)}".rstrip())
    case = ET.Element("testcase", name=name, classname=path, file=path)
    if first.line is not None:
        case.set("line", str(first.line))
    text, listing = _message(findings), "\n".join(map(_listed, findings))
    severity = min((finding.severity for finding in findings), key=lambda severity: severity.rank)
    if severity is Severity.ERROR:
        ET.SubElement(case, "failure", type="error", message=text).text = listing
    else:
        ET.SubElement(case, "skipped", type=severity.value, message=text)
        ET.SubElement(case, "system-out").text = listing
    return case


def _message(findings: Sequence[Finding]) -> str:
    others = f" (and {len(findings) - 1:,} more)" if len(findings) > 1 else ""
    return _xml(message(findings[0])) + others


def _listed(finding: Finding) -> str:
    hint = f"\n  hint: {_xml(finding.hint)}" if finding.hint else ""
    return f"{finding.severity.value}: {_xml(one_line(finding))}{hint}"


def _clean(report: Report, catalogue: Catalogue) -> ET.Element:
    suite = ET.Element("testsuite", name="seldio")
    ET.SubElement(suite, "testcase", name=summary_line(report, catalogue), classname="seldio")
    _count(suite)
    return suite


def _count(element: ET.Element) -> None:
    tags = {"tests": "testcase", "failures": "failure", "skipped": "skipped"}
    for name, tag in tags.items():
        element.set(name, str(sum(1 for _ in element.iter(tag))))
    element.set("errors", "0")


def _xml(text: str) -> str:
    """*text* without the characters that XML 1.0 forbids; controls and surrogates are spelt out."""
    return _NOT_XML.sub(lambda match: f"\\u{ord(match.group()):04x}", printable(text))
