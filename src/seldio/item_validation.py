"""Check questions and predictions: their own rules, what they answer, and submissions to MERA."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from seldio import rules
from seldio.errors import UsageError
from seldio.files import Source
from seldio.findings import Finding, Sink
from seldio.formats import TextFile
from seldio.formats.items import ItemFormat, ItemReading
from seldio.formats.mera_submission import SUBMISSION
from seldio.reference import RUENVAQA
from seldio.rules.collection import Reference
from seldio.rules.mera import MeraPackage, check_answers
from seldio.rules.predictions import Answered, ItemReference, check_answered, has_outputs
from seldio.schema.qa import Item
from seldio.text import printable

#: What files are held against: clips, questions or nothing.
AnyReference = Reference | ItemReference | None


#: Suffixes under which the file of a task may have been written, by mistake too; no page and no program.
_WRITTEN = re.compile(r"(?:^|/)[^./]*(?:\.(?:js\w*|ndjson|txt))?$", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Submission:
    """A zip or folder that goes to MERA.

    Args:
        path: as the user named it.
        kind: of the source.
        members: its files; without their content where only their names matter.
        tasks: those that are asked for.
        paths: of the files as shown to people, by name.
    """

    path: str
    kind: str
    members: Mapping[str, bytes]
    tasks: tuple[str, ...]
    paths: Mapping[str, str]

    @property
    def package(self) -> MeraPackage:
        """As MERA's rules see it; what is no zip (or folder to be zipped) cannot be opened."""
        readable = self.kind in ("zip", "folder")
        return MeraPackage(self.path, self.members if readable else None, self.tasks, self.paths)

    @cached_property
    def files(self) -> frozenset[str]:
        """The names of the members that are files of the tasks."""
        return frozenset(name for name in self.members if _stem(name) in self.tasks)


#: A file and the format that it is read in.
Chosen = tuple[TextFile, ItemFormat]


def submission_of(
    source: Source, files: Sequence[TextFile], chosen: Sequence[Chosen], reference: AnyReference, told: bool
) -> Submission | None:
    """The submission to MERA that a source is; None where it is none.

    It holds no questions, and no predictions in another format. Beyond that it is one if the reference or the
    format says so (*told*), if a file is called like the task, or if it is a zip or folder with answers to MERA
    and without labels.

    Args:
        source: what is checked.
        files: those of it that may hold predictions.
        chosen: those that do.
        reference: what they are held against.
        told: whether the user named the format.
    """
    known = tuple(reference.tasks) if isinstance(reference, ItemReference) else ()
    if source.kind in ("gzip", "stdin") or (source.kind == "file" and not source.path.lower().endswith(".zip")):
        return None
    if not all(format is SUBMISSION for _, format in chosen):
        return None
    named = any(_stem(entry.name).lower() == RUENVAQA.lower() and _WRITTEN.search(entry.name) for entry in source)
    others = any(file.name.lower().endswith(".csv") for file in files)  # labels, with answers among them
    looks = named or (source.kind in ("zip", "folder") and bool(chosen) and not others)
    if not (known or told or (looks and source.kind != "file")):
        return None
    data = {file.name: file.data for file in files}
    members = {entry.name: data.get(entry.name, b"") for entry in source.entries}
    paths = {entry.name: entry.path for entry in source.entries}
    return Submission(source.path, source.kind, members, known or (RUENVAQA,), paths)


def files_of(submission: Submission, files: Sequence[TextFile], chosen: Sequence[Chosen]) -> list[Chosen]:
    """The files of a submission to read: those of the tasks whatever they hold, others if they hold answers."""
    others = {file.path for file, _ in chosen}
    return [
        (file, SUBMISSION)
        for file in files
        if file.name.endswith(SUBMISSION.suffix) and (file.name in submission.files or file.path in others)
    ]


def _stem(name: str) -> str:
    """The name that MERA finds a task's file by."""
    return name.rpartition("/")[2].rpartition(".")[0] or name.rpartition("/")[2]


def check_submission(submission: Submission, found: Sequence[Finding], sink: Sink) -> None:
    """Run the rules for archives of MERA; *found*: what the reading of their files has reported."""
    told = {finding.path for finding in found if finding.code.startswith("SYN")}
    for finding in rules.findings(submission.package):
        if not (finding.code == "PRD122" and finding.path in told):  # there with line and column
            sink(finding)


def check_predictions(reading: ItemReading, name: str, reference: AnyReference, inside: bool, sink: Sink) -> None:
    """Hold predictions against their questions, and answers to MERA against its rules.

    Args:
        reading: questions or predictions; questions alone are left as they are.
        name: of the file.
        reference: the questions, where known.
        inside: whether the file is one of a submission with a file for each task.
        sink: takes the findings.
    """
    expected = reference if isinstance(reference, ItemReference) else None
    foreign = inside and _stem(name).lower() != RUENVAQA.lower()  # another task: its answers are no letters
    if expected is not None and expected.questions is not None and has_outputs(reading) and not foreign:
        strange = list(check_answered(Answered(reading, expected.questions)))
        for finding in strange:
            sink(finding)
        if any(finding.code == "PRD210" for finding in strange):
            return
    if reading.format is SUBMISSION:
        for finding in check_answers(reading, _gold(expected, name, foreign), letters=not foreign):
            sink(finding)


def _gold(reference: ItemReference | None, name: str, foreign: bool) -> list[Item] | None:
    """The questions of a task, those of other tasks than ruEnvAQA as mere ids."""
    if reference is None:
        return None
    if not foreign and reference.questions is not None:
        return [row for row in reference.questions.rows if isinstance(row, Item)]
    task = reference.tasks.get(_stem(name))
    return None if not task else [Item.model_validate({"id": str(id)}) for id in task]


def task_sink(file: str, reference: AnyReference, inside: bool, sink: Sink) -> Sink:
    """*sink* without complaints about outputs that are no text, where the task does not ask for texts."""
    tasks = reference.tasks if isinstance(reference, ItemReference) else {}
    name = _stem(file)
    gold = tasks.get(name)
    texts = name.lower() == RUENVAQA.lower() if not gold else all(isinstance(right, str) for right in gold.values())
    if not inside or texts:
        return sink
    return lambda finding: None if finding.code == "PRD116" else sink(finding)


def check_kind(path: str, reference: AnyReference, tried: Sequence[ItemReading | None], labels: bool) -> None:
    """Stop where the reference is of the wrong kind; where a file cannot be read, its findings say enough.

    Raises:
        UsageError: clips for predictions, or questions for labels.
    """
    if reference is None or None in tried:
        return
    readings = [reading for reading in tried if reading is not None]
    named, given = printable(reference.path), printable(path)
    predictions = any(has_outputs(reading) for reading in readings)
    if isinstance(reference, ItemReference) and not predictions:
        what = "questions without a model's output" if readings else "no predictions"
        raise UsageError(f"{named} holds questions, and {given} {what}: a reference of questions is for predictions")
    if isinstance(reference, ItemReference) and reference.questions is None and not reference.tasks:
        raise UsageError(f"{named} holds no questions")
    if isinstance(reference, Reference) and readings and not labels:
        what = "predictions" if predictions else "questions"
        hint = "name the file with the questions they answer" if predictions else "a reference is for labels"
        raise UsageError(f"{named} tells clips, and {given} holds {what}: {hint}")
