"""SUB208 to SUB216: the files of a package, and where they lie."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from seldio.findings import Finding
from seldio.rules.base import ERROR, INFO, WARNING, rule
from seldio.rules.collection import Entry, Found
from seldio.rules.package_labels import carried
from seldio.text import clipped, listed, plural, printable

if TYPE_CHECKING:
    from seldio.rules.package_parts import Package, System

_SHAPE = "[ROOT]/task3a/LABEL/LABEL.meta.yaml"


@rule("SUB208", ERROR)
def meta_missing(package: Package, found: Found) -> Iterator[Finding]:
    """A system without a meta file.

    The meta file says whose system it is and how it works. Without one the system is not listed, and the
    organisers' checker stops with a KeyError.

    Example:
        task3a/Politis_TAU_task3a_1/ with outputs, and no Politis_TAU_task3a_1.meta.yaml

    Fix:
        Fill in the organisers' template and put it into the system's folder.

    Reference: DCASE 2023 Task 3, Submission: "for each system, meta-information should be provided in a
    separate file".
    """
    for system in package.systems:
        if system.sheet is None:
            hint = f"put {printable(system.label)}.meta.yaml into this folder"
            yield found(system.path, f"no meta file for {printable(system.label)}", hint)


@rule("SUB209", ERROR)
def outputs_missing(package: Package, found: Found) -> Iterator[Finding]:
    """A system without outputs.

    Without csv files there is nothing to evaluate.

    Example:
        task3a/Politis_TAU_task3a_1/ with a meta file alone, or with files in .txt

    Fix:
        Put one csv for each recording into LABEL/LABEL/.

    Reference: DCASE 2023 Task 3, Submission: "results for each of the recordings".
    """
    for system in package.systems:
        if not system.outputs:
            there = f", only {listed([file.base for file in system.rest])}" if system.rest else ""
            hint = f"put one csv for each recording into {printable(system.label)}/{printable(system.label)}/"
            yield found(system.path, f"no csv files of {printable(system.label)}{there}", hint)


@rule("SUB210", ERROR)
def wrong_depth(package: Package, found: Found) -> Iterator[Finding]:
    """A meta file that does not lie at [ROOT]/taskN/LABEL/.

    Scripts take the third part of the path for the label. A folder more or less, and they take something
    else, or stop with an IndexError.

    Example:
        submission/final/task3a/Politis_TAU_task3a_1/Politis_TAU_task3a_1.meta.yaml

    Fix:
        Have one folder at most above taskN, and the meta file directly in the folder of its label.

    Reference: dcase2020_task1_submission_validator, main.py: path_parts[2].
    """
    for meta in package.astray:
        message = f"{clipped(meta.file.base)} lies at another level than the meta files of a package"
        yield found(meta.path, message, f"move it to {_SHAPE}; ROOT may be left out")


@rule("SUB211", INFO)
def output_folder(package: Package, found: Found) -> Iterator[Finding]:
    """The outputs are not in LABEL/LABEL/, and which folder was taken for them.

    The evaluation script of 2024 reads LABEL/LABEL/*.csv. Packages with other folders have been seen, so
    they are accepted; but a script that looks in the documented place alone finds nothing.

    Example:
        task3a/Politis_TAU_task3a_1/mix001.csv

    Fix:
        Move the csv files to LABEL/LABEL/.

    Reference: organisers' evaluation script of 2024.
    """
    for system in package.systems:
        name = system.output.rpartition("/")[2]
        if not system.outputs or system.output == system.label:
            continue
        if carried(name) in (None, system.label):  # otherwise, that says SUB206
            label = printable(system.label)
            message = f"taken for the output of {label}: {plural(len(system.outputs), 'csv file')}"
            yield found(system.below(system.output), message, f"the documented place is {label}/{label}/")


@rule("SUB212", ERROR)
def recording_twice(package: Package, found: Found) -> Iterator[Finding]:
    """Recordings in two folders of one system.

    Only one of them is evaluated, and nothing tells which one is meant.

    Example:
        LABEL/LABEL/mix001.csv and LABEL/old/mix001.csv

    Fix:
        Remove the folder that is not meant.

    Reference: dcase2020_task1_submission_validator: duplicate entries of a recording.
    """
    for system in package.systems:
        for folder, entries in sorted(system.elsewhere.items()):
            if twice := _twice(system, entries):
                first = min(twice, key=lambda entry: entry.name)
                message = f"{plural(len(twice), 'recording')} of {printable(system.label)} twice"
                where = f": in {_named(folder)} and in {_named(system.output)}, which is taken"
                yield found(first.path, message + where, "remove the folder that is not meant")


@rule("SUB213", ERROR)
def system_incomplete(package: Package, found: Found) -> Iterator[Finding]:
    """A system without some of the recordings.

    Each system needs a file for every recording, an empty one where nothing was detected. The recordings
    are those of the reference, or else those that the other systems of the team in this track have.

    Example:
        79 files of Politis_TAU_task3a_1, and 78 of Politis_TAU_task3a_2

    Fix:
        Run the system on the missing recordings, or write empty files for them.

    Reference: DCASE 2023 Task 3, Submission; dcase2020_task1_submission_validator counts the recordings.
    """
    reference = package.reference
    source = printable(reference.path) if reference is not None else "the team's other systems"
    for group in _groups(package):
        clips = [_clips(system.outputs) for system in group]
        every = set[str]().union(*clips)
        if reference is not None:
            every = {clip.rpartition("/")[2] for clip in reference.clips}
        for system, own in zip(group, clips, strict=True):
            if missing := sorted(every - own):
                count = f"{len(missing):,} of {plural(len(every), 'recording')} missing"
                message = f"{count} in {printable(system.label)}: {listed(missing)}"
                hint = f"they are in {source}; an empty file says that nothing was detected"
                yield found(system.below(system.output), message, hint)


@rule("SUB214", WARNING)
def unexpected_file(package: Package, found: Found) -> Iterator[Finding]:
    """A file that nobody looks for: it is neither meta file, output nor report.

    Outputs have the extension .csv, in small letters, and lie in one folder. What has another extension or
    lies elsewhere is not read.

    Example:
        LABEL/LABEL/mix001.txt, LABEL/model.pt, task3a/mix001.csv

    Fix:
        Rename outputs to .csv and move them to LABEL/LABEL/; leave the rest out.

    Reference: dcase2020_task1_submission_validator: "Possibly wrongly formatted filename".
    """
    for system in package.systems:
        if not system.outputs:
            continue  # that says SUB209
        odd = [(file.entry, _surplus(file.name)) for file in system.rest]
        capital = (entry for entry in system.outputs if not entry.name.endswith(".csv"))
        odd += [(entry, "not .csv in small letters") for entry in capital]
        for entries in system.elsewhere.values():
            if not _twice(system, entries):
                odd += [(entry, f"not read (not in {_named(system.output)})") for entry in entries]
        yield from _by_folder(odd, found)
    yield from _by_folder([(file.entry, "not read (in no system's folder)") for file in package.loose], found)


@rule("SUB215", ERROR)
def package_file_name(package: Package, found: Found) -> Iterator[Finding]:
    """A meta file or output that is not called LABEL.meta.yaml or LABEL.output.csv.

    Files are found by these endings, and the label is what stands before the first dot.

    Example:
        Politis_TAU_task3a_1.meta.yml, meta.yaml, Politis_TAU_task3a_1.output.v2.csv

    Fix:
        Rename it: the label, .meta.yaml or .output.csv, and no further dot.

    Reference: dcase2020_task1_submission_validator, main.py: three parts between dots.
    """
    for system in package.systems:
        label = printable(system.label)
        if (sheet := system.sheet) is not None and not sheet.well_named:
            message = f"{clipped(sheet.file.base)} is no name for a meta file"
            yield found(sheet.path, message, f"rename it to {label}.meta.yaml")
        for entry in system.outputs:
            name = entry.name.rpartition("/")[2]
            if re.search(r"(?i)\.output\.", name) and not re.fullmatch(r"[^.]+\.output\.csv", name):
                message = f"{clipped(name)} is no name for an output"
                yield found(entry.path, message, f"rename it to {label}.output.csv")


@rule("SUB216", WARNING)
def report_missing(package: Package, found: Found) -> Iterator[Finding]:
    """No technical report in the package.

    A technical report that describes the method is part of a submission, as a PDF.

    Example:
        a zip with meta files and outputs alone

    Fix:
        Add the report.

    Reference: DCASE 2023 Task 3, Submission: "submit a technical report describing the method".
    """
    if package.whole and not package.reported:
        yield found(package.path, "no technical report (PDF) in the package", "add it beside the systems' folders")


def _surplus(name: str) -> str:
    return "a second meta file" if re.search(r"(?i)\.ya?ml$", name) else "not read (no csv)"


def _named(folder: str) -> str:
    return f"{printable(folder)}/" if folder else "the system's own folder"


def _clips(entries: Sequence[Entry]) -> set[str]:
    """The recordings that files are for."""
    return {entry.name.rpartition("/")[2][:-4] for entry in entries}


def _twice(system: System, entries: Sequence[Entry]) -> list[Entry]:
    """Those of *entries* whose recording is among the outputs too."""
    taken = _clips(system.outputs)
    return [entry for entry in entries if _clips([entry]) & taken]


def _groups(package: Package) -> list[list[System]]:
    """The systems of each team in a track that have outputs, one file for each recording."""
    groups: dict[tuple[str | None, str], list[System]] = {}
    for system in package.systems:
        whole = any(".output" in clip for clip in _clips(system.outputs))
        if system.outputs and not whole:
            team = system.parts.team if system.parts is not None else ""
            groups.setdefault((system.track, team), []).append(system)
    return list(groups.values())


def _by_folder(odd: Sequence[tuple[Entry, str]], found: Found) -> Iterator[Finding]:
    """One finding for all that is odd in one folder in the same way."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry, why in odd:
        groups.setdefault((entry.name.rpartition("/")[0], why), []).append(entry)
    for (_, why), entries in groups.items():
        names = [entry.name.rpartition("/")[2] for entry in entries]
        message = f"{why}: {plural(len(names), 'file')}, {listed(names)}"
        yield found(entries[0].path, message, "outputs are LABEL/LABEL/*.csv; leave out what nobody needs")


RULES = (
    meta_missing, outputs_missing, wrong_depth, output_folder, recording_twice, system_incomplete,
    unexpected_file, package_file_name, report_missing,
)  # fmt: skip
