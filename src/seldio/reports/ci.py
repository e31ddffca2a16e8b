"""Findings for grep and for CI: a line for each, commands of GitHub, and SARIF 2.1.0.

SARIF is for GitHub code scanning, editors and dashboards. Only the rules that found something are listed there. A
result is recognised in a later run by its rule, its file and the text of its line, not by its line number.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_from_bytes

from seldio.findings import Finding, Report, Severity
from seldio.plugins import version
from seldio.reports.sections import conclusion, fix_mark, message, more, name_of, place
from seldio.reports.tables import Options
from seldio.text import json_text, printable


def concise(report: Report, options: Options) -> Iterator[str]:
    """Yield ``path:line:column: CODE [*] message`` for every finding, then the verdict."""
    for finding in report.findings:
        text = f"{place(finding)}: {finding.code}{fix_mark(finding.fixable)} {message(finding)}"
        yield printable(text) + "\n"
    if options.statistics:
        for code, count in report.by_rule().items():
            yield f"{count:,}  {printable(code)}  {name_of(code, options.catalogue)}".rstrip() + "\n"
    yield conclusion(report) + "\n"


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


# --- SARIF --------------------------------------------------------------------------------------------------

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HOME = "https://github.com/seldio/seldio"
FINGERPRINT = "seldioFinding/v1"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_DRIVE = re.compile("[A-Za-z]:/")
_FULL_DESCRIPTION = 1000  # GitHub takes no more


def sarif(report: Report, options: Options) -> Iterator[str]:
    """Yield one SARIF run, its results one by one: there may be many."""
    rules = {code: index for index, code in enumerate(report.by_rule())}
    fingerprints: Counter[str] = Counter()
    shown, hidden = report.listed()
    notes = [{"level": "warning", "message": {"text": more(code, count)}} for code, count in hidden.items()]
    unlisted = {"toolExecutionNotifications": notes} if notes else {}
    driver: dict[str, Any] = {"name": "seldio", "informationUri": HOME, "version": version(), "rules": []}
    for code in rules:
        described: dict[str, Any] = {"id": code}
        if code in options.catalogue:
            rule = options.catalogue[code]
            page = rule.explanation or rule.summary
            described |= {
                "name": rule.name,
                "shortDescription": {"text": rule.summary},
                "fullDescription": {"text": page[:_FULL_DESCRIPTION]},
                "help": {"text": page, "markdown": page},
                "defaultConfiguration": {"level": _LEVELS[Severity(rule.severity)]},
                **({"helpUri": rule.url} if rule.url else {}),
            }
        driver["rules"].append(described)
    invocations = [{"executionSuccessful": True} | unlisted]
    run = {"tool": {"driver": driver}, "invocations": invocations, "columnKind": "unicodeCodePoints", "results": []}
    before, after = json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1).rsplit("[]", 1)
    yield f"{before}["
    for number, finding in enumerate(shown):
        yield f"{',' * bool(number)}\n{json_text(_result(finding, rules[finding.code], fingerprints))}"
    yield f"]{after}\n"


def _result(finding: Finding, index: int, counts: Counter[str]) -> dict[str, Any]:
    uri = file_uri(finding.path)
    text = "\n".join(printable(part) for part in (message(finding), finding.hint) if part)
    line, value = ({} if text is None else {"snippet": {"text": text}} for text in (finding.excerpt, finding.value))
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.line is not None:
        location["region"] = whole = {"startLine": finding.line, **line}
        if finding.column is not None:
            columns = {"startColumn": finding.column, "endColumn": finding.end_column}
            shown = {name: number for name, number in columns.items() if number is not None}
            location["region"] = {"startLine": finding.line, **shown, **value}
            location |= {"contextRegion": whole} if line else {}
    # a digest that does not change when lines move; the n-th of equal ones ends with ":n"
    parts = (finding.code, uri, finding.excerpt or "", finding.value or "")
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    counts[digest] += 1
    result = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": text.replace("](", "] (")},  # "](" would make a link of untrusted text
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {FINGERPRINT: f"{digest}:{counts[digest]}"},
    }
    if finding.count > 1:
        lines = {"ranges": [list(lines) for lines in finding.ranges], "unlisted": finding.unlisted}
        result |= {"occurrenceCount": finding.count, "properties": lines}
    return result


def file_uri(path: str) -> str:
    """Return a URI for *path*: relative when it is, ``file://`` when it is absolute; archives keep their ``!/``."""
    path, start = path.replace(os.sep, "/").removeprefix("./"), ""
    if path.startswith("/"):
        start = "file://"
    elif os.name == "nt" and _DRIVE.match(path):
        start, path = f"file:///{path[:2]}", path[2:]
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte: a Windows file name
        raw = path.encode("utf-8", "surrogatepass")
    return start + quote_from_bytes(raw, safe="/!")
