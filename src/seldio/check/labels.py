"""Labels checked: all that are of one format together, as only all files show whether they mean something else.

Labels that are about to be used are checked by the rules of validation, of which only errors count: what is wrong is
found before anything is made of them.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from seldio import rules
from seldio.catalogues.parts import resolved
from seldio.errors import InvalidData
from seldio.findings import Finding, Severity
from seldio.formats import LabelFormat, LabelReading
from seldio.formats.base import OF_SYSTEMS, FileRows
from seldio.rules import rule_of
from seldio.rules.base import Check, Labels, run
from seldio.rules.labels import ROW_RULES
from seldio.rules.misreadings import FILE_RULES
from seldio.text import plural

if TYPE_CHECKING:
    from seldio.rules.collection import Reference


def by_format(readings: Iterable[LabelReading]) -> list[LabelReading]:
    """Return labels with those of one format as one reading; each table of many clips is one by itself."""
    groups: dict[tuple[str, str, str], list[LabelReading]] = {}
    for reading in readings:
        format, parts = reading.format, reading.parts
        table = parts[0].file.path if format.role == "table" and parts else ""
        groups.setdefault((format.name, format.vocabulary, table), []).append(reading)
    return [members[0] if len(members) == 1 else _joined(members) for members in groups.values()]


def _joined(readings: Sequence[LabelReading]) -> LabelReading:
    shifted: list[FileRows] = []
    before = 0
    for reading in readings:
        for part in map(copy.copy, reading.parts):
            part.first += before
            shifted.append(part)
        before += reading.table.num_rows
    rows = pa.concat_tables([reading.table for reading in readings], promote_options="default")
    whole = frozenset.intersection(*(reading.whole for reading in readings))
    evidence = next((reading.evidence for reading in readings if reading.evidence), "")
    return LabelReading(readings[0].format, rows, shifted, whole, readings[0].named, evidence)


def label_findings(
    reading: LabelReading,
    reference: Reference | None = None,
    row_rules: Sequence[Check] = ROW_RULES,
    judge: LabelFormat | None = None,
) -> list[tuple[Finding, int]]:
    """Return the findings on all labels of a format, each with the number of its file.

    *judge* checks the rows, by default the format that they name.
    """
    usual = reading.format
    if (of_rows := resolved(usual, reading.table)) is not usual:
        # a table has the classes and the clock of the format that its rows came from
        usual = dataclasses.replace(
            usual, vocabulary=of_rows.vocabulary, hop=of_rows.hop, clip_frames=of_rows.clip_frames
        )
    labels = Labels(dataclasses.replace(reading, format=usual), reference)
    findings = list(run(FILE_RULES, labels))
    if labels.foreign:
        return findings
    rows = labels if judge is None or judge is usual else Labels(dataclasses.replace(reading, format=judge))
    findings += run(row_rules, rows, but=labels.accounted)
    return findings + [(finding, -1) for finding in rules.findings((), rows)]  # rules of extensions


# --- labels that are about to be used ---------------------------------------------------------------------


def first_errors(readings: Iterable[LabelReading]) -> tuple[dict[str, Finding], Counter[str]]:
    """Return the first error of each rule, and in how many files it is, by the code of the rule."""
    first: dict[str, Finding] = {}
    files: Counter[str] = Counter()
    # rules for whole files account for values out of range even if they only warn
    stopping = [check for check in ROW_RULES if rule_of(check).severity is Severity.ERROR]
    for reading in by_format(readings):
        format = resolved(reading.format, reading.table)
        readable = {"LAB205"} if format.role in OF_SYSTEMS else ()  # decimals that any program reads
        errors = [
            (finding, file)
            for finding, file in label_findings(reading, None, stopping, format)
            if finding.severity is Severity.ERROR and finding.code not in readable
        ]
        first = {finding.code: finding for finding, _ in reversed(errors)} | first
        files.update(code for code, _ in {(finding.code, file) for finding, file in errors})
    return first, files


def settle(readings: Sequence[LabelReading], force: bool) -> list[Finding]:
    """Return with *force* the first error of each rule in labels, with the number of files that it is in.

    Raises:
        InvalidData: there are errors, and they are not forced; it names the cause.
    """
    first, files = first_errors(readings)
    codes = sorted(first, key=lambda code: (not code.startswith("LAB3"), -files[code], code))
    counted = [first[code] for code in codes]
    table = any(resolved(reading.format, reading.table) is not reading.format for reading in readings)
    noun, every = "clip" if table else "file", sum(len(reading.parts) for reading in readings)
    if every != 1:
        many = plural(every, noun)
        counted = [
            dataclasses.replace(finding, message=f"{finding.message} (in {files[finding.code]:,} of {many})")
            for finding in counted
        ]
    if counted and not force:
        also = (f"{code} in {plural(files[code], noun)}" if every > 1 else code for code in codes[1:])
        others = f"; also {', '.join(also)}" if codes[1:] else ""
        raise InvalidData(
            counted[0],
            f"{others}. seldio validate shows all findings; use --force to continue anyway",
        )
    return counted
