"""SUB2: the labels of a package's systems (SUB201 to SUB207), its files and their places (SUB208 to SUB216)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.files.names import in_lower_case
from seldio.findings import Finding, Severity
from seldio.rules.clip_names import CLIP_NAME
from seldio.rules.collection import Found, grouped
from seldio.rules.package import YAML_NAME, Label, Meta, Package, System, clips_of
from seldio.rules.package_meta import FACTS, meta_findings
from seldio.rules.registry import ERROR, findings
from seldio.rules.submissions import SAME_ROWS
from seldio.text import clipped, listed, plural, printable

TRACKS, MOST = FACTS["tracks"], FACTS["systems"]
_OUTPUT_OF = re.compile(r"(.+)\.output(\.csv)?")
_DEVELOPMENT = re.compile(r"fold\d+_room\d+_mix\d{3}", re.ASCII | re.IGNORECASE)


# --- labels --------------------------------------------------------------------------------------------------


def label_malformed(package: Package, found: Found) -> Iterator[Finding]:
    for label, place in _labels(package):
        if Label.parse(label) is None:
            yield found(message=f"the label {clipped(label, 80)} {_fault(label)}", **place)


def label_index(package: Package, found: Found) -> Iterator[Finding]:
    teams = _teams(package)
    for label, place in _labels(package):
        parts = Label.parse(label)
        if parts is None or parts.index in ("1", "2", "3", "4"):
            continue
        size = max((len(team) for team in teams.values() if any(s.label == label for s in team)), default=0)
        if not MOST < int(parts.index) <= size:  # of five systems, the fifth is one too many (SUB203)
            yield found(message=f"the index of {printable(label)} is {parts.index}, outside 1 to 4", **place)


def too_many_systems(package: Package, found: Found) -> Iterator[Finding]:
    for (team, track), members in sorted(_teams(package).items()):
        if len(members) > MOST:
            message = f"{len(members)} systems of {printable(team)} in {printable(track)}, but only {MOST} are allowed"
            yield found(members[MOST].path, message, f"choose {MOST} of {listed([s.label for s in members], 8)}")


def unknown_track(package: Package, found: Found) -> Iterator[Finding]:
    tasked = {system.label for system in package.systems if system.task is not None}
    places = [(task, {"path": path}) for path, task in sorted(package.tasks.items())]
    labels = [(Label.parse(label), place) for label, place in _labels(package) if label not in tasked]
    places += [(parts.track, place) for parts, place in labels if parts is not None]
    for track, place in places:
        if track not in TRACKS:
            other = "" if "3" in track else "; other tasks are not checked"
            yield found(message=f"{printable(track)} is not a track of Task 3{other}", **place)


def track_differs(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if _is_misplaced(system) and system.parts is not None:
            folder, track = printable(system.task or ""), printable(system.parts.track)
            yield found(system.path, f"{printable(system.label)} is in {folder}, but its label says {track}")


def label_differs(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if system.parts is None:
            continue
        if system.sheet is not None:
            yield from _differing(package, system, system.sheet, found)
        names = {system.below(system.output): system.output.rpartition("/")[2]}
        names |= {entry.path: entry.name.rpartition("/")[2] for entry in system.outputs}
        for path, name in names.items():
            if (label := _label_in(name)) not in (None, system.label):
                message = f"the output of {printable(label or '')} is in the folder {printable(system.label)}"
                yield found(path, message, "check that it is the right output; if so, rename it")
    for meta in package.orphans:
        if meta.label is not None and meta.label != meta.file.label:
            yield _differing_meta(package, meta, meta.file.label, found)


def same_label(package: Package, found: Found) -> Iterator[Finding]:
    first: dict[str, System] = {}
    for system in package.systems:
        if _is_misplaced(system):
            continue
        if system.label in first:
            other = printable(first[system.label].path)
            yield found(system.path, f"{printable(system.label)} already exists: {other}")
        first.setdefault(system.label, system)


def equal_systems(package: Package, found: Found) -> Iterator[Finding]:
    for first, *others in grouped(package.systems, _content).values():
        for system in others:
            message = f"{printable(system.label)} has the outputs of {printable(first.label)}, byte for byte: "
            yield found(system.below(system.output), message + plural(len(system.outputs), "file"))


def _content(system: System) -> str | None:
    """Return what systems with the same outputs have in common; None of one whose outputs have few rows."""
    whole, most = hashlib.sha256(), 0
    for entry in sorted(system.outputs, key=lambda entry: entry.name.rpartition("/")[2]):
        try:
            data = entry.read()
        except InvalidData:  # said where it is read
            return None
        whole.update(f"{entry.name.rpartition('/')[2]} {len(data)} ".encode() + data)
        most = max(most, data.count(b"\n"))
    return whole.hexdigest() if most >= SAME_ROWS else None


def _labels(package: Package) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each label and its place: the folders of systems, and the labels in meta files without a system."""
    for system in package.systems:
        yield system.label, {"path": system.path}
    for meta in package.orphans:
        if meta.label is not None:
            yield meta.label, meta.place(("submission", "label"))


def _fault(label: str) -> str:
    """Return what is wrong with a malformed label."""
    if re.search(r"\s", label):
        return "contains a space"
    count = len(label.split("_"))
    return "is not NAME_INSTITUTE_taskN_INDEX" if count == 4 else f"has {count} parts between underscores, not 4"


def _teams(package: Package) -> dict[tuple[str, str], list[System]]:
    """Return the systems of each team in each track; of two with the same label, the first."""
    first = {system.label: system for system in reversed(package.systems)}
    named = (system for system in package.systems if system.parts is not None and first[system.label] is system)
    return grouped(named, lambda system: (system.team, system.track) if system.track is not None else None)


def _is_misplaced(system: System) -> bool:
    """Return whether the label has another track than its folder; task3 may be the folder of both tracks."""
    if system.task not in TRACKS or system.parts is None or system.parts.track == system.task:
        return False
    return system.task != "task3" or system.parts.track not in TRACKS


def _differing(package: Package, system: System, meta: Meta, found: Found) -> Iterator[Finding]:
    """Yield the one name of a system that differs from the others, or both where all differ."""
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
    hint = f"write {clipped(label)}, if this is its meta file"
    return found(message=message, hint=hint, **meta.place(("submission", "label")))


def _label_in(name: str) -> str | None:
    """Return the label in the name of an output folder or file; None if there is none."""
    match = _OUTPUT_OF.fullmatch(name)
    label = match[1] if match else name
    return label if Label.parse(label) is not None else None


# --- files ---------------------------------------------------------------------------------------------------


def meta_missing(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if system.sheet is None and not system.bare:
            label = printable(system.label)
            yield found(system.path, f"no meta file for {label}", f"add {label}.meta.yaml to this folder")


def outputs_missing(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if not system.outputs:
            label, others = printable(system.label), listed([file.base for file in system.rest])
            hint = f"put one CSV file per recording into {label}/{label}/"
            yield found(system.path, f"no CSV files for {label}{f', only {others}' if system.rest else ''}", hint)


def wrong_depth(package: Package, found: Found) -> Iterator[Finding]:
    for meta in package.astray:
        yield found(meta.path, f"{clipped(meta.file.base)} is not where a package has its meta files")


def recording_twice(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        for folder, entries in sorted(system.elsewhere.items()):
            if twice := [entry for entry in entries if clips_of([entry]) & system.clips]:
                first = min(twice, key=lambda entry: entry.name)
                message = f"duplicate files for {plural(len(twice), 'recording')} of {printable(system.label)}"
                where = f": in {_named(folder)} and in {_named(system.output)}, which is used"
                yield found(first.path, message + where)


def system_incomplete(package: Package, found: Found) -> Iterator[Finding]:
    reference = package.reference
    source = printable(reference.path) if reference is not None else "the team's other systems"
    # only systems with one file per recording
    split = [s for s in package.systems if s.outputs and not any(".output" in clip for clip in s.clips)]
    for group in grouped(split, lambda system: (system.track, system.team)).values():
        expected = set[str]().union(*(system.clips for system in group))
        if reference is not None:
            expected = {clip.rpartition("/")[2] for clip in reference.clips}
        for system in group:
            if missing := sorted(expected - system.clips):
                count = f"{len(missing):,} of {plural(len(expected), 'recording')} missing"
                hint = f"expected by {source}; write an empty file if nothing was detected"
                message = f"{count} in {printable(system.label)}: {listed(missing)}"
                yield found(system.below(system.output), message, hint)


def unexpected_file(package: Package, found: Found) -> Iterator[Finding]:
    odd: list[tuple[Entry, str, Severity | None]]
    odd = [(file.entry, "not read (not in a system's folder)", None) for file in package.loose]
    for system in package.systems:
        if not system.outputs:
            continue  # reported by SUB209
        for file in system.rest:
            kind = "second meta file" if YAML_NAME.search(file.name) else "not read (not a CSV file)"
            odd.append((file.entry, kind, None))
        capital = (entry for entry in system.outputs if not in_lower_case(entry.name))
        odd += [(entry, "suffix is not .csv in lower case", None) for entry in capital]
        for entries in system.elsewhere.values():
            if not clips_of(entries) & system.clips:
                lost = all(map(CLIP_NAME.fullmatch, clips_of(entries)))
                why = f"not read (not in {_named(system.output)})"
                odd += [(entry, why, ERROR if lost else None) for entry in entries]

    def same(file: tuple[Entry, str, Severity | None]) -> tuple[str, str, Severity | None]:
        return file[0].name.rpartition("/")[0], *file[1:]

    for (_, why, severity), files in grouped(odd, same).items():
        names = [entry.name.rpartition("/")[2] for entry, *_ in files]
        yield found(files[0][0].path, f"{why}: {plural(len(names), 'file')}, {listed(names)}", severity=severity)


def package_file_name(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        label, sheet = printable(system.label), system.sheet
        if sheet is not None and not sheet.file.is_rightly_named:
            message = f"{clipped(sheet.file.base)} is not a valid name for a meta file"
            yield found(sheet.path, message, f"rename it to {label}.meta.yaml")
        for entry in system.outputs:
            name = entry.name.rpartition("/")[2]
            if re.search(r"(?i)\.output\.", name) and not re.fullmatch(r"[^.]+\.output\.csv", name):
                message = f"{clipped(name)} is not a valid name for an output"
                yield found(entry.path, message, f"rename it to {label}.output.csv")


def report_missing(package: Package, found: Found) -> Iterator[Finding]:
    if package.whole and not package.reported:
        yield found(package.path, "no technical report (PDF) in the package")


def _named(folder: str) -> str:
    return f"{printable(folder)}/" if folder else "the system's folder"


def development_outputs(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems if package.reference is None else ():  # which tells better (SUB117)
        clips = sorted(system.clips)
        if clips and all(_DEVELOPMENT.fullmatch(clip) for clip in clips):
            message = f"{plural(len(clips), 'file')} of {printable(system.label)} are for the development set"
            yield found(system.below(system.output), f"{message}: {listed(clips, 2)}")


PACKAGE_RULES = (
    label_malformed,
    label_index,
    too_many_systems,
    unknown_track,
    track_differs,
    label_differs,
    same_label,
    equal_systems,
    meta_missing,
    outputs_missing,
    wrong_depth,
    recording_twice,
    system_incomplete,
    unexpected_file,
    package_file_name,
    report_missing,
    development_outputs,
)


def package_findings(package: Package) -> Iterator[Finding]:
    """Yield what is wrong with a package and its meta files."""
    yield from findings(PACKAGE_RULES, package)
    for meta in package.metas:
        yield from meta_findings(meta)
