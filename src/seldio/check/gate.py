"""The gate that every repair passes: what is in doubt is not repaired, and the report does not promise it.

A *safe* repair changes how values are spelled, and every value reads as before. An *unsafe* one is one named change of
a whole set, after which no column, row or clip is gone but what its name says, nothing speaks against the layout, and
the fault is gone. :func:`admitted` asks for that before anything is tried, and :func:`refused` of what
a repair, tried in memory, has made of the files.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from seldio.check.labels import LabelGroup
from seldio.findings import SINGLY, Finding, Report, Severity
from seldio.formats import LabelFormat
from seldio.formats.detect import means_the_same
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect
from seldio.formats.shapes import CODES
from seldio.rules import CATALOGUE

#: Safe repairs that rest on what the file is read as: a header written or removed, a last cell that is none, an order.
_OF_LAYOUT = {"SYN111", "SYN112", "SYN124", "LAB201"}
#: What may be wrong with single rows of a file, whatever is in others.
_OF_ROWS = {"SYN108", "LAB103", "LAB202", "LAB205", "LAB303"}
#: What leaves a direction where it is, however it is counted, so that it puts nothing in doubt.
_HARMLESS = {"LAB103", "LAB303"}
#: What says that a file is not what it is read as, wherever it is found as well as what is found in many of its rows.
_AGAINST = {*CODES, "SYN113", "SYN146", "SYN147", "SUB106", "LAB322", "LAB325"} - {"SYN124"}
#: Share of the rows of a file from which on what is wrong with them is a fault of the layout.
_MANY = 0.05


class Seen(Protocol):
    """What was found, and the labels that it was found in."""

    @property
    def report(self) -> Report:
        """The findings."""

    @property
    def labels(self) -> Sequence[LabelGroup]:
        """The label files by layout."""


def admitted(labels: Sequence[LabelGroup], findings: Sequence[Finding]) -> list[Finding]:
    """*findings*, of which those stay fixable whose repair has a premise that nothing puts in doubt."""
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_path[finding.path].append(finding)
    kept = list(findings)
    where = {id(finding): number for number, finding in enumerate(kept)}
    for group in labels:
        own = [finding for path in group.places for finding in by_path.get(path, ())]
        if not any(finding.fixable for finding in own):
            continue
        doubts = _doubts(group, own)
        filled = {file.path for one in group.rows for file in one.files if not file.blank}
        for code in {finding.code for finding in own if finding.fixable}:
            mine = [finding for finding in own if finding.fixable and finding.code == code]
            partly = _partly(mine, filled)
            for finding in mine:
                why = _doubt(group, finding, doubts, partly)
                if why is not None:
                    said = (finding.hint or "").split("; ")
                    hint = "; ".join([*(part for part in said if part and "--unsafe-fixes" not in part), why])
                    kept[where[id(finding)]] = dataclasses.replace(finding, fixable=False, hint=hint)
    return kept


def _doubts(group: LabelGroup, findings: Iterable[Finding]) -> dict[str, set[str]]:
    """By code, the files in which a finding speaks against the layout that they are read as."""
    rows = {file.path: file.rows for one in group.rows for file in one.files}
    found: dict[str, set[str]] = defaultdict(set)
    places: dict[tuple[str, str], int] = defaultdict(int)
    for finding in findings:
        places[finding.code, finding.path] += finding.count
        whole = finding.code in _AGAINST or (finding.code[:4] == "LAB3" and finding.severity is Severity.ERROR)
        often = places[finding.code, finding.path] > max(SINGLY - 1, _MANY * rows.get(finding.path, 0))
        wrong = finding.severity is Severity.ERROR and CATALOGUE[finding.code].fix != "safe"
        if finding.code not in _HARMLESS and (whole or (often and wrong)):
            found[finding.code].add(finding.path)
    return found


def _doubt(group: LabelGroup, finding: Finding, doubts: Mapping[str, set[str]], partly: str | None) -> str | None:
    """Why the premise of a repair is in doubt, to end a hint with; None where it is not.

    *partly* says why a repair of columns, which is one of the whole set, is in doubt in all files.
    """
    code = finding.code
    if code not in CATALOGUE or (CATALOGUE[code].fix == "safe" and code not in _OF_LAYOUT):
        return None
    if code == "SYN124" and not group.named and (other := _one_more(group.format)) is not None:
        return f"or else the distances of {other} are missing: --format {group.format.name} says that there are none"
    alone = code in _OF_ROWS or code == "LAB201"
    against = [other for other, where in doubts.items() if other != code and (finding.path in where or not alone)]
    if against:
        return f"not repaired because of {', '.join(sorted(against))}: the format is in doubt"
    return None if code in _OF_ROWS or CATALOGUE[code].fix == "safe" else partly


def _partly(alike: Sequence[Finding], filled: set[str]) -> str | None:
    """Why *alike* are not one fault of all files with rows, *filled*; None where they are."""
    if missing := len(filled.difference(finding.path for finding in alike)):
        have = f"{len(filled) - missing:,} of {len(filled):,} files"
        return f"not repaired, as only {have} have it: repair those on their own"
    if len({(one.excerpt or "")[: (one.column or 1) - 1].count(",") for one in alike}) > 1:
        return "not repaired, as it is another column in other files"
    return None


def _one_more(format: LabelFormat) -> str | None:
    """A layout that has the columns of *format* and a distance behind them."""
    if not isinstance(format, Dialect):
        return None
    fields = [part.field for part in format.columns]
    longer = (other for other in DIALECTS if [part.field for part in other.columns] == [*fields, "distance"])
    return next((other.name for other in longer), None)


def refused(before: Sequence[Seen], after: Sequence[Seen], codes: Mapping[str, Iterable[str]]) -> set[str]:
    """The files that must stay as they are, of those that repairs of *codes*, by path, were tried on."""
    unsafe = {path: {code for code in some if CATALOGUE[code].fix == "unsafe"} for path, some in codes.items()}
    found = _moved(before, after)
    for one in after:
        for group in one.labels:
            tried = set().union(*(unsafe.get(path, ()) for path in group.places))
            whole = tried - _OF_ROWS
            doubts = _doubts(group, (f for f in one.report.findings if f.path in group.places))
            for path in group.places:
                mine = unsafe.get(path, set())
                left = (code for code, paths in doubts.items() if whole or path in paths)
                if mine and next(left, None) is not None:
                    found.add(path)
    return found


def _moved(before: Sequence[Seen], after: Sequence[Seen]) -> set[str]:
    """The files that had a layout, and do not have one that means the same by its columns any more."""
    old, new = _layouts(before), _layouts(after)
    return {
        path for path, format in old.items()
        if path not in new or not (format == new[path] or means_the_same(format, new[path]))
    }  # fmt: skip


def _layouts(examined: Sequence[Seen]) -> dict[str, LabelFormat]:
    return {path: labels.format for one in examined for labels in one.labels for path in labels.places}
