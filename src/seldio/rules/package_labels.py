"""SUB201 to SUB207: the labels of a package's systems, and where they stand."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from seldio.findings import Finding
from seldio.rules.base import ERROR, rule
from seldio.rules.collection import Found
from seldio.text import clipped, listed, printable

if TYPE_CHECKING:
    from seldio.rules.package_parts import Meta, Package, System

#: Audio-only and audiovisual since 2023; without a track before.
TRACKS = ("task3", "task3a", "task3b")
#: Systems of a team in a track.
MOST = 4
_SHAPE = "[last name]_[institute]_task3[track]_[1-4], as in Politis_TAU_task3a_1"
_LABEL = re.compile(
    r"(?P<name>[^_\s./\\]+)_(?P<institute>[^_\s./\\]+)_(?P<track>task[0-9]+[A-Za-z]*)_(?P<index>[0-9]{1,9})"
)
_OTHER_OUTPUT = re.compile(r"(.+)\.output(\.csv)?")


@dataclasses.dataclass(frozen=True)
class Label:
    """The parts of a submission label."""

    name: str
    institute: str
    track: str
    index: str

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The parts of *text*; None where it is malformed."""
        match = _LABEL.fullmatch(text)
        return None if match is None else cls(**match.groupdict())

    @property
    def team(self) -> str:
        """Who submits."""
        return f"{self.name}_{self.institute}"


@rule("SUB201", ERROR)
def label_malformed(package: Package, found: Found) -> Iterator[Finding]:
    """A label that is not [last name]_[institute]_task[number][track]_[1-4].

    Scripts split the label at its underscores to find the track and the system. With an underscore inside a
    name, or a part left out, they take something else for the track, or stop.

    Example:
        Falcon_Perez_Aalto_task3_2: five parts

    Fix:
        Leave out spaces, dots and underscores inside names: FalconPerez_Aalto_task3_2. Rename the folder
        and the meta file, and write the same label into the meta file.

    Reference: dcase2020_task1_submission_validator, validators.py: the label has four parts; DCASE
    submission page.
    """
    for label, place in _labels(package):
        if Label.parse(label) is None:
            yield found(message=f"the label {clipped(label, 80)} {_fault(label)}", hint=f"write {_SHAPE}", **place)


@rule("SUB202", ERROR)
def label_index(package: Package, found: Found) -> Iterator[Finding]:
    """A label whose index is not 1, 2, 3 or 4.

    The index counts the systems of a team in a track, and four are allowed.

    Example:
        Politis_TAU_task3a_0

    Fix:
        Number the systems 1 to 4, without leading zeros.

    Reference: dcase2020_task1_submission_validator, main.py; DCASE 2023 Task 3, Submission.
    """
    teams = _teams(package)
    for label, place in _labels(package):
        parts = Label.parse(label)
        if parts is None or parts.index in ("1", "2", "3", "4"):
            continue
        size = max((len(team) for team in teams.values() if any(s.label == label for s in team)), default=0)
        if not MOST < int(parts.index) <= size:  # of five systems, the fifth is one too many
            hint = "number the systems of a team 1 to 4, in each track anew"
            message = f"the index of {printable(label)} is {parts.index}, and goes from 1 to 4"
            yield found(message=message, hint=hint, **place)


@rule("SUB203", ERROR)
def too_many_systems(package: Package, found: Found) -> Iterator[Finding]:
    """More than four systems of one team in one track.

    Up to four are allowed in each track. Of more, nobody knows which ones are meant to count.

    Example:
        Politis_TAU_task3a_1 … Politis_TAU_task3a_5

    Fix:
        Choose four.

    Reference: DCASE 2023 Task 3, Submission: "upto 4 system output submissions per participant/team for
    each of the two tracks".
    """
    for (team, track), members in sorted(_teams(package).items()):
        if len(members) > MOST:
            message = f"{len(members)} systems of {printable(team)} in {printable(track)}, and {MOST} are allowed"
            yield found(members[MOST].path, message, f"choose {MOST} of {listed([s.label for s in members], 8)}")


@rule("SUB204", ERROR)
def unknown_track(package: Package, found: Found) -> Iterator[Finding]:
    """A task or track that Task 3 does not have.

    The tracks of 2023 are task3a (audio-only) and task3b (audiovisual); before, there was task3 alone.
    Systems of an unknown track are not evaluated. Other tasks of the challenge are not checked here.

    Example:
        task3c/Politis_TAU_task3c_1

    Fix:
        Rename the folder, and the track in the labels inside.

    Reference: DCASE 2023 Task 3, tracks; dcase2020_task1_submission_validator: "Unknown task indicator".
    """
    hint = "task3a is audio-only, task3b audiovisual, task3 is for years without tracks"
    for path, task in sorted(package.tasks.items()):
        if task not in TRACKS:
            other = "" if "3" in task else "; other tasks are not checked"
            yield found(path, f"{printable(task)} is no track of Task 3", hint + other)
    tasked = {system.label for system in package.systems if system.task is not None}
    for label, place in _labels(package):
        parts = Label.parse(label)
        if parts is not None and parts.track not in TRACKS and label not in tasked:
            yield found(message=f"{printable(parts.track)} is no track of Task 3", hint=hint, **place)


@rule("SUB205", ERROR)
def track_differs(package: Package, found: Found) -> Iterator[Finding]:
    """A system in the folder of another track than its label says.

    Rankings are made for each track, and it is not clear in which one the system is meant to stand.

    Example:
        task3b/Politis_TAU_task3a_1

    Fix:
        Move the system, or change its label in the folder, the meta file's name and the meta file.

    Reference: DCASE submission page: ROOT/taskN/LABEL.
    """
    for system in package.systems:
        if _misplaced(system) and system.parts is not None:
            there, said = printable(system.task or ""), printable(system.parts.track)
            message = f"{printable(system.label)} lies in {there}, and its label says {said}"
            yield found(system.path, message, "move it, or change its label everywhere")


@rule("SUB206", ERROR)
def label_differs(package: Package, found: Found) -> Iterator[Finding]:
    """Folder, file names and meta file give different labels.

    Results are looked up by label. Where the label in the meta file is that of another system, as it
    happens to copied files, one of the two takes the other's place in the tables.

    Example:
        Politis_TAU_task3a_2.meta.yaml with "label: Politis_TAU_task3a_1"

    Fix:
        Write the same label in all places: folder, meta file's name, submission.label.

    Reference: dcase2020_task1_submission_validator: label in path, file names and meta are compared. A
    real submission of 2022 has this fault (rfalcon100/seld_dcase2022_ric, third meta file).
    """
    for system in package.systems:
        if system.parts is not None:
            yield from _differing(package, system, found)
            yield from _differing_output(system, found)
    for meta in package.orphans:
        if meta.label is not None and meta.label != meta.stem:
            yield _differing_meta(package, meta, meta.stem, found)


@rule("SUB207", ERROR)
def same_label(package: Package, found: Found) -> Iterator[Finding]:
    """Two systems with the same label.

    The label is the key of a system. Of two with the same one, the last one read replaces the other.

    Example:
        a/task3a/Politis_TAU_task3a_1 and b/task3a/Politis_TAU_task3a_1

    Fix:
        Remove one of them, or give it another index.

    Reference: comment in the organisers' template: "Label is used to index submissions, to avoid
    overlapping codes among submissions".
    """
    first: dict[str, System] = {}
    for system in package.systems:
        if _misplaced(system):
            continue
        if system.label in first:
            other = printable(first[system.label].path)
            message = f"{printable(system.label)} is there already: {other}"
            yield found(system.path, message, "give it another index, or remove it")
        first.setdefault(system.label, system)


def _labels(package: Package) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each label and where it stands: the folders of systems, and what meta files without a system say."""
    for system in package.systems:
        yield system.label, {"path": system.path}
    for meta in package.orphans:
        if meta.label is not None:
            yield meta.label, meta.place(("submission", "label"))


def _fault(label: str) -> str:
    """What is wrong with a malformed label."""
    parts = label.split("_")
    if re.search(r"\s", label):
        return "holds a space"
    if len(parts) != 4:
        why = ": no underscores inside a name" if len(parts) > 4 else ""
        return f"has {len(parts)} of 4 parts" if len(parts) < 4 else f"has {len(parts)} parts, not 4{why}"
    if not all(parts):
        return "has an empty part"
    if not re.fullmatch("task[0-9]+[A-Za-z]*", parts[2]):
        return "has no task[number][track] as its third part"
    return "does not end in a number" if not re.fullmatch("[0-9]{1,9}", parts[3]) else "holds a dot or slash"


def _teams(package: Package) -> dict[tuple[str, str], list[System]]:
    """The systems of each team in each track; of two with the same label, the first."""
    teams: dict[tuple[str, str], dict[str, System]] = {}
    for system in package.systems:
        if system.parts is not None and system.track is not None:
            members = teams.setdefault((system.parts.team, system.track), {})
            members.setdefault(system.label, system)
    return {key: list(members.values()) for key, members in teams.items()}


def _misplaced(system: System) -> bool:
    """Whether the label says another track than a folder that is one; task3 is the folder of both tracks, too."""
    if system.task not in TRACKS or system.parts is None or system.parts.track == system.task:
        return False
    return system.task != "task3" or system.parts.track not in TRACKS


def _differing(package: Package, system: System, found: Found) -> Iterator[Finding]:
    """The one name of a system that differs from the others, or both where all differ."""
    meta = system.sheet
    if meta is None:
        return
    stem = meta.stem if meta.well_named else system.label
    label = meta.label if meta.label is not None else stem
    if label == stem != system.label and meta.label is not None:
        message = f"the folder {printable(system.label)} holds the meta file of {clipped(label)}"
        yield found(system.path, message, "rename the folder, or the file and the label inside")
        return
    if stem != system.label:
        message = f"{clipped(meta.file.base)} is the meta file in the folder {printable(system.label)}"
        yield found(meta.path, message, f"rename it to {printable(system.label)}.meta.yaml")
    if label != system.label and meta.label is not None:
        yield _differing_meta(package, meta, system.label, found)


def _differing_meta(package: Package, meta: Meta, label: str, found: Found) -> Finding:
    taken = ", which is another system here" if any(s.label == meta.label for s in package.systems) else ""
    message = f"the label is {clipped(meta.label or '')}{taken}, and the file belongs to {clipped(label)}"
    hint = f"write {clipped(label)}, if that is the system meant"
    return found(message=message, hint=hint, **meta.place(("submission", "label")))


def _differing_output(system: System, found: Found) -> Iterator[Finding]:
    """Outputs that carry the label of another system, in the name of their folder or file."""
    names = {system.below(system.output): system.output.rpartition("/")[2]}
    names |= {entry.path: entry.name.rpartition("/")[2] for entry in system.outputs}
    for path, name in names.items():
        if (label := carried(name)) not in (None, system.label):
            message = f"the output of {printable(label or '')} in the folder {printable(system.label)}"
            yield found(path, message, "is it the right output? If so, rename it")


def carried(name: str) -> str | None:
    """The label that the name of an output folder or file carries; None where it carries none."""
    match = _OTHER_OUTPUT.fullmatch(name)
    label = match[1] if match else name
    return label if Label.parse(label) is not None else None


RULES = (
    label_malformed, label_index, too_many_systems, unknown_track, track_differs, label_differs, same_label,
)  # fmt: skip
