"""The gate that every repair passes: what is in doubt is not repaired, and the report does not promise it.

A *safe* repair changes how values are spelled, and every value reads as before. An *unsafe* one is one named change of
a whole set, after which no column, row or clip is gone but what its name says, nothing speaks against the format, and
the fault is gone. :func:`admitted` asks for that before anything is tried, and :func:`refused` of what
a repair, tried in memory, has made of the files.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from seldio.check.allowed import ALLOWED, WRAPPED
from seldio.check.labels import LabelGroup
from seldio.findings import SINGLY, Finding, Severity
from seldio.formats import LabelFormat
from seldio.formats.detect import means_the_same
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect
from seldio.formats.shapes import CODES
from seldio.rules import CATALOGUE
from seldio.text import plural

if TYPE_CHECKING:
    from seldio.check.validation import Examined

#: What says that a file is not what it is read as, wherever it is found as well as what is found in many of its rows.
_AGAINST = {*CODES, "SYN113", "SYN146", "SYN147", "SUB106", "LAB325", "LAB327"} - {"SYN124"}
#: Metres that the farthest of all sources is beyond.
_NEAREST = 0.25
#: Share of the rows of a file from which on what is wrong with them is a fault of the format.
_MANY = 0.05


def admitted(labels: Sequence[LabelGroup], findings: Sequence[Finding]) -> list[Finding]:
    """*findings*, of which those stay fixable whose repair has a premise that nothing puts in doubt."""
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_path[finding.path].append(finding)
    kept = list(findings)
    where = {id(finding): number for number, finding in enumerate(kept)}
    for group in labels:
        own = [finding for path in group.files for finding in by_path.get(path, ())]
        if not any(finding.fixable for finding in own):
            continue
        doubts = _doubts(group, own)
        filled = {path for path, part in group.files.items() if part.file.data.strip()}
        for code in {finding.code for finding in own if finding.fixable}:
            mine = [finding for finding in own if finding.fixable and finding.code == code]
            whole = code in ALLOWED and ALLOWED[code].premise == "set"
            partly = _no_degrees(group) if _wraps(code) else _partly(mine, filled) if whole else None
            for finding in mine:
                why = _doubt(group, finding, doubts, partly)
                if why is not None:
                    said = (finding.hint or "").split("; ")
                    hint = "; ".join([*(part for part in said if part and "--unsafe-fixes" not in part), why])
                    kept[where[id(finding)]] = dataclasses.replace(finding, fixable=False, hint=hint)
    return kept


def _doubts(group: LabelGroup, findings: Iterable[Finding]) -> dict[str, set[str]]:
    """By code, the files in which a finding speaks against the format that they are read as."""
    rows = {path: part.rows for path, part in group.files.items()}
    found: dict[str, set[str]] = defaultdict(set)
    places: dict[tuple[str, str], int] = defaultdict(int)
    for finding in findings:
        places[finding.code, finding.path] += finding.count
        whole = finding.code in _AGAINST or (finding.code[:4] == "LAB3" and finding.severity is Severity.ERROR)
        often = places[finding.code, finding.path] > max(SINGLY - 1, _MANY * rows.get(finding.path, 0))
        wrong = finding.severity is Severity.ERROR and CATALOGUE[finding.code].fix != "safe"
        if not _wraps(finding.code) and (whole or (often and wrong)):
            found[finding.code].add(finding.path)
    return found


def _doubt(group: LabelGroup, finding: Finding, doubts: Mapping[str, set[str]], partly: str | None) -> str | None:
    """Why the premise of a repair is in doubt, to end a hint with; None where it is not.

    *partly* says why a repair is in doubt in all files: of columns, which is one of the whole set, or of angles.
    """
    code = finding.code
    if code not in ALLOWED or ALLOWED[code].premise == "none":
        return None
    if not group.named and (why := _unless_named(group, code)) is not None:
        return f"{why}: --format {group.format.name} says that it is not so"
    alone = ALLOWED[code].premise == "file"
    against = [other for other, where in doubts.items() if other != code and (finding.path in where or not alone)]
    if against:
        return f"not repaired because of {', '.join(sorted(against))}: the format is in doubt"
    return partly


def _wraps(code: str) -> bool:
    """Whether a rule is about directions that stay where they are when its repair counts them otherwise."""
    return code in ALLOWED and WRAPPED in ALLOWED[code].values.values()


def _partly(alike: Sequence[Finding], filled: set[str]) -> str | None:
    """Why *alike* are not one fault of all files with rows, *filled*; None where they are."""
    if missing := len(filled.difference(finding.path for finding in alike)):
        have = f"{len(filled) - missing:,} of {len(filled):,} files"
        return f"not repaired, as only {have} have it: repair those separately"
    if len({(one.excerpt or "")[: (one.column or 1) - 1].count(",") for one in alike}) > 1:
        return "not repaired, as it is a different column in other files"
    return None


def _no_degrees(group: LabelGroup) -> str | None:
    """Why the azimuths of a set may be in another unit, so that none can be wrapped; None where they are degrees."""
    low, high = (float(reach(group.labels.column("azimuth"), initial=0)) for reach in (np.min, np.max))
    gradians = -200 <= low < -180 and 180 < high <= 200
    if gradians or max(-low, high) > 360:
        return f"not repaired, as azimuths from {low:g} to {high:g} may not be degrees"
    return None


def _unless_named(group: LabelGroup, code: str) -> str | None:
    """Why a repair is in doubt where nobody has said what the format is; None where it is not."""
    format = group.format
    if not isinstance(format, Dialect):
        return None
    fields = [part.field for part in format.columns]
    for other in DIALECTS:
        more = [part.field for part in other.columns]
        if code == "SYN124" and more == [*fields, "distance"]:
            return f"or else the distances of {other.name} are missing"
        if (
            code == "LAB308"
            and other.metre != format.metre
            and set(more) > set(fields)
            and len(more) == len(fields) + 1
        ):
            return f"or else a column of {other.name} is missing"
    distances = group.labels.column("distance") if group.labels.has("distance") else np.zeros(0)
    if code == "LAB304" and format.metre is not None and len(distances) and np.nanmax(distances) < _NEAREST:
        return "not repaired, as its distances do not look like distances, so the format is in doubt"
    rows = len(group.labels)
    if rows < ALLOWED[code].least:
        return f"not repaired, as {plural(rows, 'row')} may be of another format"
    return None


def refused(before: Sequence[Examined], after: Sequence[Examined], codes: Mapping[str, Iterable[str]]) -> set[str]:
    """The files that must stay as they are, of those that repairs of *codes*, by path, were tried on."""
    unsafe = {path: {code for code in some if CATALOGUE[code].fix == "unsafe"} for path, some in codes.items()}
    found = _moved(before, after)
    for one in after:
        for group in one.labels:
            tried = set().union(*(unsafe.get(path, ()) for path in group.files))
            whole = any(ALLOWED[code].premise == "set" for code in tried)
            doubts = _doubts(group, (f for f in one.report.findings if f.path in group.files))
            for path in group.files:
                mine = unsafe.get(path, set())
                left = (code for code, paths in doubts.items() if whole or path in paths)
                if mine and next(left, None) is not None:
                    found.add(path)
    return found


def _moved(before: Sequence[Examined], after: Sequence[Examined]) -> set[str]:
    """The files that had a format, and do not have one that means the same by its columns any more."""
    old, new = _layouts(before), _layouts(after)
    return {
        path for path, format in old.items()
        if path not in new or not (format == new[path] or means_the_same(format, new[path]))
    }  # fmt: skip


def _layouts(examined: Sequence[Examined]) -> dict[str, LabelFormat]:
    return {path: labels.format for one in examined for labels in one.labels for path in labels.files}
