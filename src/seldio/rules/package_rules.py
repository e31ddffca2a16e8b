"""SUB2: the labels of a package's systems (SUB201 to SUB207), its files and their places (SUB208 to SUB216)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.files.names import in_lower_case
from seldio.findings import Finding
from seldio.rules.clip_names import CLIP_NAME
from seldio.rules.collection import Found, grouped
from seldio.rules.file_sets import SAME_ROWS
from seldio.rules.package import YAML_NAME, Label, Meta, Package, System
from seldio.rules.package_meta import META_RULES
from seldio.rules.registry import ERROR, findings
from seldio.text import clipped, listed, plural, printable

#: Audio-only and audiovisual since 2023; without tracks before.
TRACKS = ("task3", "task3a", "task3b")
#: Systems of a team in a track.
MOST = 4
_LABEL_FORM = "[last name]_[institute]_task3[track]_[1-4], as in Politis_TAU_task3a_1"
_SHAPE = "[ROOT]/task3a/LABEL/LABEL.meta.yaml"
_OTHER_OUTPUT = re.compile(r"(.+)\.output(\.csv)?")


def label_malformed(package: Package, found: Found) -> Iterator[Finding]:
    for label, place in _labels(package):
        if Label.parse(label) is None:
            yield found(place, f"the label {clipped(label, 80)} {_fault(label)}", f"write {_LABEL_FORM}")


def label_index(package: Package, found: Found) -> Iterator[Finding]:
    teams = _teams(package)
    for label, place in _labels(package):
        parts = Label.parse(label)
        if parts is None or parts.index in ("1", "2", "3", "4"):
            continue
        size = max((len(team) for team in teams.values() if any(s.label == label for s in team)), default=0)
        if not MOST < int(parts.index) <= size:  # of five systems, the fifth is one too many (SUB203)
            hint = "number the systems of a team 1 to 4, separately in each track"
            message = f"the index of {printable(label)} is {parts.index}, outside 1 to 4"
            yield found(place, message, hint)


def too_many_systems(package: Package, found: Found) -> Iterator[Finding]:
    for (team, track), members in sorted(_teams(package).items()):
        if len(members) > MOST:
            message = f"{len(members)} systems of {printable(team)} in {printable(track)}, but only {MOST} are allowed"
            yield found(members[MOST].path, message, f"choose {MOST} of {listed([s.label for s in members], 8)}")


def unknown_track(package: Package, found: Found) -> Iterator[Finding]:
    hint = "use task3a for audio-only, task3b for audiovisual, task3 for years without tracks"
    for path, task in sorted(package.tasks.items()):
        if task not in TRACKS:
            other = "" if "3" in task else "; other tasks are not checked"
            yield found(path, f"{printable(task)} is not a track of Task 3", hint + other)
    tasked = {system.label for system in package.systems if system.task is not None}
    for label, place in _labels(package):
        parts = Label.parse(label)
        if parts is not None and parts.track not in TRACKS and label not in tasked:
            yield found(place, f"{printable(parts.track)} is not a track of Task 3", hint)


def track_differs(system: System, found: Found) -> Iterator[Finding]:
    if _misplaced(system) and system.parts is not None:
        folder, track = printable(system.task or ""), printable(system.parts.track)
        message = f"{printable(system.label)} is in {folder}, but its label says {track}"
        yield found(message, "move it, or change its label everywhere")


def label_differs(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if system.parts is None:
            continue
        if system.sheet is not None:
            yield from _differing(package, system, system.sheet, found)
        names = {system.below(system.output): system.output.rpartition("/")[2]}
        names |= {entry.path: entry.name.rpartition("/")[2] for entry in system.outputs}
        for path, name in names.items():
            if (label := carried(name)) not in (None, system.label):
                message = f"the output of {printable(label or '')} is in the folder {printable(system.label)}"
                yield found(path, message, "check that it is the right output; if so, rename it")
    for meta in package.orphans:
        if meta.label is not None and meta.label != meta.file.label:
            yield _differing_meta(package, meta, meta.file.label, found)


def same_label(package: Package, found: Found) -> Iterator[Finding]:
    first: dict[str, System] = {}
    for system in package.systems:
        if _misplaced(system):
            continue
        if system.label in first:
            other = printable(first[system.label].path)
            message = f"{printable(system.label)} already exists: {other}"
            yield found(system.path, message, "give it a different index, or remove it")
        first.setdefault(system.label, system)


def equal_systems(package: Package, found: Found) -> Iterator[Finding]:
    sizes = grouped([s for s in package.systems if s.outputs], lambda system: _sizes(system.outputs))
    for alike in sizes.values():
        for first, *others in grouped(alike, _content).values() if len(alike) > 1 else ():
            for system in others:
                message = f"{printable(system.label)} has the outputs of {printable(first.label)}, byte for byte: "
                yield found(system.below(system.output), message + plural(len(system.outputs), "file"),
                            "pack the outputs of the right run")  # fmt: skip


def _sizes(entries: Sequence[Entry]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((entry.name.rpartition("/")[2], entry.size) for entry in entries))


def _content(system: System) -> str | None:
    """What systems with the same outputs have in common; None of one whose outputs have few rows."""
    whole, most = hashlib.sha256(), 0
    for entry in sorted(system.outputs, key=lambda entry: entry.name.rpartition("/")[2]):
        try:
            data = entry.read()
        except InvalidData:  # said where it is read
            return None
        whole.update(data)
        most = max(most, data.count(b"\n"))
    return whole.hexdigest() if most >= SAME_ROWS else None


def _labels(package: Package) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each label and its place: the folders of systems, and the labels in meta files without a system."""
    for system in package.systems:
        yield system.label, {"path": system.path}
    for meta in package.orphans:
        if meta.label is not None:
            yield meta.label, meta.place(("submission", "label"))


def _fault(label: str) -> str:
    """What is wrong with a malformed label."""
    parts = label.split("_")
    if re.search(r"\s", label):
        return "contains a space"
    if len(parts) != 4:
        why = ": leave underscores out of names" if len(parts) > 4 else ""
        return f"has {len(parts)} of 4 parts" if len(parts) < 4 else f"has {len(parts)} parts, not 4{why}"
    if not all(parts):
        return "has an empty part"
    if not re.fullmatch("task[0-9]+[A-Za-z]*", parts[2]):
        return "has no task[number][track] as its third part"
    return "does not end in a number" if not re.fullmatch("[0-9]{1,9}", parts[3]) else "contains a dot or slash"


def _teams(package: Package) -> dict[tuple[str, str], list[System]]:
    """The systems of each team in each track; of two with the same label, the first."""
    first = {system.label: system for system in reversed(package.systems)}
    named = (system for system in package.systems if system.parts is not None and first[system.label] is system)
    return grouped(named, lambda system: (system.team, system.track) if system.track is not None else None)


def _misplaced(system: System) -> bool:
    """Whether the label has a different track than its folder; task3 may be the folder of both tracks."""
    if system.task not in TRACKS or system.parts is None or system.parts.track == system.task:
        return False
    return system.task != "task3" or system.parts.track not in TRACKS


def _differing(package: Package, system: System, meta: Meta, found: Found) -> Iterator[Finding]:
    """The one name of a system that differs from the others, or both where all differ."""
    stem = meta.file.label if meta.file.is_rightly_named else system.label
    if meta.label is not None and meta.label == stem != system.label:
        message = f"the folder {printable(system.label)} contains the meta file of {clipped(meta.label)}"
        yield found(system.path, message, "rename the folder, or the file and the label in it")
        return
    if stem != system.label:
        message = f"{clipped(meta.file.base)} is the meta file in the folder {printable(system.label)}"
        yield found(meta.path, message, f"rename it to {printable(system.label)}.meta.yaml")
    if meta.label not in (None, system.label):
        yield _differing_meta(package, meta, system.label, found)


def _differing_meta(package: Package, meta: Meta, label: str, found: Found) -> Finding:
    taken = ", which belongs to another system here" if any(s.label == meta.label for s in package.systems) else ""
    message = f"the label is {clipped(meta.label or '')}{taken}, but the file belongs to {clipped(label)}"
    return found(meta.place(("submission", "label")), message, f"write {clipped(label)}, if this is its meta file")


def carried(name: str) -> str | None:
    """The label in the name of an output folder or file; None if there is none."""
    match = _OTHER_OUTPUT.fullmatch(name)
    label = match[1] if match else name
    return label if Label.parse(label) is not None else None


def meta_missing(system: System, found: Found) -> Iterator[Finding]:
    if system.sheet is None and not system.bare:
        label = printable(system.label)
        yield found(f"no meta file for {label}", f"add {label}.meta.yaml to this folder")


def outputs_missing(system: System, found: Found) -> Iterator[Finding]:
    if not system.outputs:
        label, there = printable(system.label), f", only {listed([file.base for file in system.rest])}"
        hint = f"put one CSV file per recording into {label}/{label}/"
        yield found(f"no CSV files for {label}{there if system.rest else ''}", hint)


def wrong_depth(package: Package, found: Found) -> Iterator[Finding]:
    for meta in package.astray:
        message = f"{clipped(meta.file.base)} is not where a package has its meta files"
        yield found(meta.path, message, f"move it to {_SHAPE}; ROOT is optional")


def recording_twice(system: System, found: Found) -> Iterator[Finding]:
    for folder, entries in sorted(system.elsewhere.items()):
        if twice := _twice(system, entries):
            first = min(twice, key=lambda entry: entry.name)
            message = f"duplicate files for {plural(len(twice), 'recording')} of {printable(system.label)}"
            where = f": in {_named(folder)} and in {_named(system.output)}, which is used"
            yield found(message + where, "remove the wrong folder", first.path)


def system_incomplete(package: Package, found: Found) -> Iterator[Finding]:
    reference = package.reference
    source = printable(reference.path) if reference is not None else "the team's other systems"
    # only systems with one file per recording
    split = [s for s in package.systems if s.outputs and not any(".output" in clip for clip in _clips(s.outputs))]
    for group in grouped(split, lambda system: (system.track, system.team)).values():
        clips = [_clips(system.outputs) for system in group]
        every = set[str]().union(*clips)
        if reference is not None:
            every = {clip.rpartition("/")[2] for clip in reference.clips}
        for system, own in zip(group, clips, strict=True):
            if missing := sorted(every - own):
                count = f"{len(missing):,} of {plural(len(every), 'recording')} missing"
                message = f"{count} in {printable(system.label)}: {listed(missing)}"
                hint = f"expected by {source}; write an empty file if nothing was detected"
                yield found(system.below(system.output), message, hint)


def unexpected_file(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if not system.outputs:
            continue  # reported by SUB209
        kinds = ((file.entry, YAML_NAME.search(file.name)) for file in system.rest)
        odd = [(entry, "second meta file" if meta else "not read (not a CSV file)") for entry, meta in kinds]
        capital = (entry for entry in system.outputs if not in_lower_case(entry.name))
        odd += [(entry, "suffix is not .csv in lower case") for entry in capital]
        lost: list[tuple[Entry, str]] = []
        for entries in system.elsewhere.values():
            if not _twice(system, entries):
                kind = lost if all(map(CLIP_NAME.fullmatch, _clips(entries))) else odd
                kind += [(entry, f"not read (not in {_named(system.output)})") for entry in entries]
        yield from _by_folder(odd, found)
        yield from _by_folder(lost, partial(found, severity=ERROR))
    yield from _by_folder([(file.entry, "not read (not in a system's folder)") for file in package.loose], found)


def package_file_name(system: System, found: Found) -> Iterator[Finding]:
    label = printable(system.label)
    if (sheet := system.sheet) is not None and not sheet.file.is_rightly_named:
        message = f"{clipped(sheet.file.base)} is not a valid name for a meta file"
        yield found(message, f"rename it to {label}.meta.yaml", sheet.path)
    for entry in system.outputs:
        name = entry.name.rpartition("/")[2]
        if re.search(r"(?i)\.output\.", name) and not re.fullmatch(r"[^.]+\.output\.csv", name):
            yield found(
                f"{clipped(name)} is not a valid name for an output", f"rename it to {label}.output.csv", entry.path
            )


def report_missing(package: Package, found: Found) -> Iterator[Finding]:
    if package.whole and not package.reported:
        yield found(package.path, "no technical report (PDF) in the package", "add it next to the systems' folders")


def _named(folder: str) -> str:
    return f"{printable(folder)}/" if folder else "the system's folder"


def _clips(entries: Sequence[Entry]) -> set[str]:
    """The recordings that files are for."""
    return {entry.name.rpartition("/")[2][:-4] for entry in entries}


def _twice(system: System, entries: Sequence[Entry]) -> list[Entry]:
    """Those of *entries* whose recording is also among the outputs."""
    taken = _clips(system.outputs)
    return [entry for entry in entries if _clips([entry]) & taken]


def development_outputs(package: Package, found: Found) -> Iterator[Finding]:
    if package.reference is not None:  # which tells better (SUB117)
        return
    for system in package.systems:
        clips = sorted(_clips(system.outputs))
        if clips and all(_DEVELOPMENT.fullmatch(clip) for clip in clips):
            message = f"{plural(len(clips), 'file')} of {printable(system.label)} are for the development set"
            yield found(system.below(system.output), f"{message}: {listed(clips, 2)}",
                        "pack the outputs for the evaluation set: mix001.csv and so on")  # fmt: skip


#: How recordings of the development set are called.
_DEVELOPMENT = re.compile(r"fold\d+_room\d+_mix\d{3}", re.ASCII | re.IGNORECASE)


def _by_folder(odd: Sequence[tuple[Entry, str]], found: Found) -> Iterator[Finding]:
    """One finding for all files of a folder with the same fault."""
    for (_, why), group in grouped(odd, lambda pair: (pair[0].name.rpartition("/")[0], pair[1])).items():
        names = [entry.name.rpartition("/")[2] for entry, _ in group]
        message = f"{why}: {plural(len(names), 'file')}, {listed(names)}"
        yield found(group[0][0].path, message, "put outputs at LABEL/LABEL/*.csv; leave out anything unneeded")


PACKAGE_RULES = (
    label_malformed,
    label_index,
    too_many_systems,
    unknown_track,
    label_differs,
    same_label,
    equal_systems,
    wrong_depth,
    system_incomplete,
    unexpected_file,
    report_missing,
    development_outputs,
)
SYSTEM_RULES = (track_differs, meta_missing, outputs_missing, recording_twice, package_file_name)


def package_findings(package: Package) -> Iterator[Finding]:
    """Yield what is wrong with a package, its systems and its meta files."""
    yield from findings(PACKAGE_RULES, package)
    for system in package.systems:
        yield from findings(SYSTEM_RULES, system)
    for meta in package.metas:
        yield from findings(META_RULES, meta)
