"""Which rules count, and how much: ``[tool.seldio]`` in pyproject.toml, or ``seldio.toml``."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seldio.errors import SeldioError, UsageError
from seldio.findings import Finding, Severity
from seldio.text import from_toml, printable

#: The least severity that makes ``seldio validate`` end with exit code 1.
FAIL_ON = Severity.ERROR


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings for reporting findings."""

    select: tuple[str, ...] = ()  # prefixes of codes to keep; all if empty
    ignore: tuple[str, ...] = ()  # prefixes of codes to drop
    #: other severities, by prefix of code; the longest prefix decides
    severity: Mapping[str, Severity] = dataclasses.field(default_factory=dict)
    #: prefixes to drop, by pattern of path (``*`` matches ``/`` as well)
    per_file_ignores: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    fail_on: Severity = FAIL_ON  # the least severity that fails the run
    #: known findings, counted by fingerprint, to be left out
    baseline: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def applied(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings that count, with their severities."""
        known_marks = Counter(self.baseline)
        for finding in findings:
            if not self._wanted(finding) or (known_marks and _taken(finding, known_marks)):
                continue
            level = max((prefix for prefix in self.severity if finding.code.startswith(prefix)), key=len, default=None)
            yield finding if level is None else dataclasses.replace(finding, severity=self.severity[level])

    def _wanted(self, finding: Finding) -> bool:
        code = finding.code
        chosen = not self.select or code.startswith((*self.select, NOTHING_CHECKED))
        if not chosen or (self.ignore and code.startswith(self.ignore)):
            return False
        return not any(
            fnmatch.fnmatchcase(finding.path, pattern) or fnmatch.fnmatchcase(finding.path, f"*/{pattern}")
            for pattern, prefixes in self.per_file_ignores.items()
            if code.startswith(prefixes)
        )


#: What no choice of rules leaves out: where nothing was checked, none of them has passed.
NOTHING_CHECKED = "LAY118"


def fingerprint(finding: Finding) -> str:
    """Return the part of a finding that edits above it do not change: code, file and offending text.

    A finding that stands for many places has no text of its own.
    """
    return f"{finding.code} {finding.path} {(finding.value or finding.message) if finding.count == 1 else ''}"


def _taken(finding: Finding, counts: Counter[str]) -> bool:
    """Return whether all places of *finding* are known, and take them off the *counts* of their marks then."""
    family = f"{finding.code} {finding.path} "
    if finding.count == 1 or counts[family] >= finding.count:  # known by its text, or as one of many
        marks = [fingerprint(finding), family]
    else:  # the same places may have been listed one by one
        marks = [mark for mark in counts if mark.startswith(family)]
    left = finding.count
    if sum(counts[mark] for mark in marks) < left:
        return False
    for mark in marks:
        used = min(left, counts[mark])
        counts[mark] -= used
        left -= used
    return True


def load() -> Settings:
    """Return the settings of the closest ``seldio.toml`` or ``pyproject.toml`` with ``[tool.seldio]``, going up."""
    folder = Path.cwd().resolve()
    for place in (folder, *folder.parents):
        for name in ("seldio.toml", "pyproject.toml"):
            file = place / name
            if file.is_file() and (section := _section(file)) is not None:
                return parse(section, str(file))
    return Settings()


def load_file(file: Path) -> Settings:
    """Return the settings of *file*: a pyproject.toml or a file like seldio.toml."""
    return parse(_section(file) or {}, str(file))


def _section(file: Path) -> dict[str, Any] | None:
    """Return what a file says of seldio; None for a pyproject.toml that does not."""
    try:
        table = from_toml(file.read_text("utf-8"))
    except ValueError as error:
        raise UsageError(f"{printable(str(file))} is not valid TOML: {error}") from None
    except OSError as error:
        raise SeldioError(f"cannot read {printable(str(file))}: {error.strerror}") from error
    if file.name != "pyproject.toml":
        return table
    tools = table.get("tool")
    section = tools.get("seldio") if isinstance(tools, dict) else None
    if not isinstance(section, dict | None):
        raise UsageError(f"{printable(str(file))}: tool.seldio must be a table")
    return section


def parse(section: Mapping[str, Any], path: str) -> Settings:
    """Return settings from a TOML table; *path* is for messages."""
    keys = ["baseline", "fail-on", "ignore", "per-file-ignores", "select", "severity"]
    if unknown := sorted(set(section) - {*keys}):
        raise UsageError(f"{printable(path)}: unknown key {unknown[0]!r}; choose from {', '.join(keys)}")
    select, ignore = (codes(section.get(key, []), path) for key in ("select", "ignore"))
    for key in ("severity", "per-file-ignores"):
        if not isinstance(section.get(key, {}), dict):
            raise UsageError(f"{printable(path)}: {key} must be a table")
    levels = section.get("severity", {}).items()
    severities = {prefix: severity(level, path) for text, level in levels for prefix in codes(text, path)}
    ignored = {pattern: codes(text, path) for pattern, text in section.get("per-file-ignores", {}).items()}
    fail_on, baseline = severity(section.get("fail-on", FAIL_ON), path), section.get("baseline")
    if not isinstance(baseline, str | None):
        raise UsageError(f"{printable(path)}: baseline must be the path of a file")
    marks = {} if baseline is None else read_baseline(Path(path).parent / baseline)
    return Settings(select, ignore, severities, ignored, fail_on, marks)


def codes(value: Any, where: str) -> tuple[str, ...]:
    """Return prefixes of codes, upper case, from a list or a comma-separated string."""
    from seldio.rules import WHERE_LISTED, catalogue

    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise UsageError(f"{printable(where)}: expected rule codes, got {value!r}")
    prefixes = tuple(item.strip().upper() for item in items if item.strip())
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in catalogue()):
            raise UsageError(f"{printable(where)}: no rule code begins with {prefix!r}; {WHERE_LISTED}")
    return prefixes


def severity(value: Any, path: str) -> Severity:
    """Return a severity by name; *path* is for messages."""
    try:
        return Severity(value)
    except ValueError:
        raise UsageError(f"{printable(path)}: severity must be error, warning or info, not {value!r}") from None


def read_baseline(file: Path) -> dict[str, int]:
    """Return the known findings that a baseline file lists."""
    try:
        data = json.loads(file.read_bytes())
        return {str(mark): int(count) for mark, count in data["findings"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{printable(str(file))} is not a baseline; create one with --write-baseline") from None


def write_baseline(file: Path, findings: Iterable[Finding]) -> int:
    """Write the findings of a run as known; return how many places they have."""
    from seldio.files import write_bytes

    counts: Counter[str] = Counter()
    for finding in findings:
        counts[fingerprint(finding)] += finding.count
    record = {"version": 1, "findings": dict(sorted(counts.items()))}
    write_bytes(file, (json.dumps(record, indent=1, ensure_ascii=True) + "\n").encode())
    return sum(counts.values())
