"""Files of any layout, grouped, told apart and read: what every verb begins with."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Iterable, Sequence

from seldio.findings import Finding, Severity, Sink
from seldio.formats import FORMATS, Format, Reading, TextFile, cells
from seldio.formats.dcase_json import looks_like
from seldio.formats.detect import Candidate, Detection, detect
from seldio.formats.evidence import signature
from seldio.formats.label_csv import Dialect
from seldio.text import plural

#: Names of label files end so; everything else in a folder is left alone.
SUFFIXES = (".csv", ".json")


@dataclasses.dataclass(frozen=True)
class Recognised:
    """A group of files of one layout, read.

    Args:
        reading: their rows.
        told: whether the user named the format.
        evidence: why the format was chosen; empty where it was told or where no file has a row.
    """

    reading: Reading
    told: bool
    evidence: str


def clip_names(names: Sequence[str]) -> list[str]:
    """A clip name for each file name: the stem, with its folders where stems repeat."""
    stems = [_stem(posixpath.basename(name)) for name in names]
    repeated = {stem for stem in stems if stems.count(stem) > 1} if len(set(stems)) < len(stems) else set()
    return [
        _stem(name) if stem in repeated else stem for name, stem in zip(names, stems, strict=True)
    ]


def _stem(name: str) -> str:
    stem = name.rsplit(".", 1)[0] if "." in posixpath.basename(name)[1:] else name
    return stem.removesuffix("_inference").removesuffix("_std") if name.endswith(".json") else stem


def read_files(files: Sequence[TextFile], sink: Sink, told: Format | None = None) -> list[Recognised]:
    """Read *files*, each under its right layout; what is wrong, and what stays ambiguous, goes to *sink*.

    Files of one folder with the same number of columns, header and kind of numbers are looked at
    together. A group that the evidence does not decide is read like the rest of its folder, or like
    files of the same shape elsewhere; if those do not decide either, it is a finding and not read.
    """
    if told is not None:
        return [Recognised(told.read(files, sink), True, "")] if files else []
    text = [file for file in files if not _unreadable(file, sink)]
    groups = _groups(text)
    found = {key: _detected(group) for key, group in groups.items()}
    chosen: dict[str, tuple[list[TextFile], str]] = {}
    for key, group in groups.items():
        format, why = _choice(key, found, groups)
        if format is None:
            _report_undecided(group, found[key], sink)
            continue
        _report_alike(group, found[key], format, sink)
        members, evidence = chosen.setdefault(format.name, ([], why))
        members.extend(group)
    order = {file.path: number for number, file in enumerate(files)}
    return [
        Recognised(_format(name).read(sorted(members, key=lambda file: order[file.path]), sink), False, why)
        for name, (members, why) in chosen.items()
    ]


Key = tuple[str, int, str, bool]


def _groups(files: Iterable[TextFile]) -> dict[Key, list[TextFile]]:
    """Files by folder, width, header and kind of numbers; files without rows have width 0."""
    groups: dict[Key, list[TextFile]] = {}
    for file in files:
        shape = (-1, "json", False) if looks_like(file.data) else signature(file.data)
        groups.setdefault((posixpath.dirname(file.path), *shape), []).append(file)
    return groups


def _detected(group: Sequence[TextFile]) -> Detection | None:
    return None if looks_like(group[0].data) else detect(group)


def _choice(
    key: Key, found: dict[Key, Detection | None], groups: dict[Key, list[TextFile]]
) -> tuple[Format | None, str]:
    """The format of a group with the reason for it, looking around where it does not tell by itself."""
    own = found[key]
    if own is None:
        return _format("dcase2026"), "json with annotations"
    if own.format is not None:
        return own.format, own.evidence
    around = [other for other in found if other[0] == key[0]] + list(found)
    around.sort(key=lambda other: -len(groups[other]) if other[0] == key[0] else 0)
    for other in around:
        detection = found[other]
        if detection is None or detection.format is None:
            continue
        fits = any(candidate.format == detection.format for candidate in own.candidates)
        if own.empty or fits or (other[0] == key[0] and len(groups[other]) > len(groups[key])):
            return detection.format, f"like {groups[other][0].path}"
    # files without a single row mean the same in every layout
    return (FORMATS[0], "") if own.empty else (None, "")


def _format(name: str) -> Format:
    return next(format for format in FORMATS if format.name == name)


def _unreadable(file: TextFile, sink: Sink) -> bool:
    problem = cells.encoding_problem(file.path, file.data)
    if problem is not None:
        sink(problem)
    return problem is not None


def _report_undecided(group: Sequence[TextFile], detection: Detection | None, sink: Sink) -> None:
    """SYN901: no layout fits; SYN903: several do."""
    more = f" ({plural(len(group) - 1, 'more file')} like it)" if len(group) > 1 else ""
    if detection is None or not detection.candidates:
        width = detection.sample.width if detection is not None else 0
        message = f"no known layout: rows of {plural(width, 'column')}{more}"
        hint = "seldio formats lists the layouts; --format NAME reads the file as one of them"
        sink(Finding("SYN901", Severity.ERROR, message, group[0].path, 1, hint=hint))
        return
    shown = detection.candidates[:4]
    message = f"this may be {' or '.join(c.format.name for c in shown)}{more}"
    hint = f"say which with --format. {'; '.join(map(_told, shown))}"
    sink(Finding("SYN903", Severity.ERROR, message, group[0].path, 1, hint=hint))


def _told(candidate: Candidate) -> str:
    return f"{candidate.format.name}: {', '.join(candidate.evidence) or 'the number of columns'}"


def _report_alike(group: Sequence[TextFile], detection: Detection | None, format: Format, sink: Sink) -> None:
    """SYN902: the columns are clear, the class list is not."""
    if detection is None or not isinstance(format, Dialect):
        return
    others = [other for other in detection.alike if other.vocabulary != format.vocabulary]
    if others and detection.format == format:
        names = ", ".join(f"{other.name} ({other.vocabulary})" for other in others)
        message = f"read as {format.name}, with the classes of {format.vocabulary}; the same columns could be {names}"
        hint = f"the columns mean the same; if the classes are others, say --format {others[0].name}"
        sink(Finding("SYN902", Severity.INFO, message, group[0].path, 1, hint=hint))
