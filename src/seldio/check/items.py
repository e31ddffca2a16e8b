"""Questions and predictions: read part by part, and checked file by file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from seldio.catalogues.parts import NamedEntry, Part
from seldio.check.facts import evidence_of
from seldio.check.reference import RUENVAQA, AnyReference
from seldio.errors import UsageError
from seldio.files import Source, read_entries
from seldio.files.names import is_csv, suffix_of, written_suffix
from seldio.files.sources import Lookup
from seldio.findings import RECORDS_SINGLY, Finding, Sink, gathered
from seldio.formats.items import ItemReading
from seldio.formats.mera import task_name
from seldio.formats.mera_submission import SUBMISSION
from seldio.rules.collection import Reference
from seldio.rules.item_answers import SPATIAL_RULES
from seldio.rules.item_audio import RECORDING_RULES, Audio
from seldio.rules.item_choices import INSTRUCTION_RULES, OPTION_RULES
from seldio.rules.item_table import ItemTable
from seldio.rules.item_values import BENCHMARK_RULES
from seldio.rules.items import PATH_RULES, PREDICTION_RULES, QUESTION_RULES
from seldio.rules.mera import MeraPackage, check_answers
from seldio.rules.predictions import (
    REFERRED,
    Answered,
    ItemReference,
    check_answered,
    has_outputs,
    instruction_missing_among_others,
    output_missing,
)
from seldio.schema.qa import Item
from seldio.text import printable

QUESTION_FILE_RULES = (
    *PATH_RULES,
    *QUESTION_RULES,
    *BENCHMARK_RULES,
    *OPTION_RULES,
    *SPATIAL_RULES,
    *INSTRUCTION_RULES,
    output_missing,
)
PREDICTION_FILE_RULES = (*PATH_RULES, *PREDICTION_RULES, instruction_missing_among_others)


class CheckedItems(NamedTuple):
    """The result of checking a file of questions or predictions."""

    file: int  # its number in the part
    findings: tuple[Finding, ...]  # what was wrong when it was read, and with answers to known questions
    outputs: bool = False  # whether there is a model's output among its rows
    part: ItemTable | None = None  # its rows; None where nothing can be read
    reading: ItemReading | None = None  # all of it, where whoever asks wants to keep it
    evidence: str = ""  # what it was recognised by, where whoever asks wants to know


@dataclasses.dataclass(frozen=True)
class ItemCheck:
    """Reads a part of questions or predictions, and compares predictions with their questions."""

    reference: AnyReference = None  # the questions that are answered, where known
    inside: bool = False  # whether the files are those of a submission to MERA, one for each task
    keep: bool = False  # keep the readings themselves
    facts: bool = False  # say what files were recognised by

    def __call__(self, part: Part) -> tuple[list[Finding], list[CheckedItems]]:
        """Return the findings on files that cannot be opened, and the results of the others."""
        damaged: list[Finding] = []
        numbers = {file.entry.path: number for number, file in enumerate(part.files)}
        rows = []
        for file in part.texts(damaged.append):
            found: list[Finding] = []
            reading = part.reading(file, self._task_sink(file.name, found.append))
            one = CheckedItems(numbers[file.path], ())
            if reading is not None:
                found += check_predictions(reading, file.name, self.reference, self.inside)
                one = one._replace(
                    outputs=has_outputs(reading),
                    part=ItemTable.of(reading, keep=False),
                    reading=reading if self.keep else None,
                    evidence=evidence_of(reading) if self.facts else "",
                )
            rows.append(one._replace(findings=tuple(gathered(dict.fromkeys(found), RECORDS_SINGLY))))
        return damaged, rows

    def _task_sink(self, file: str, sink: Sink) -> Sink:
        """*sink* without complaints about outputs that are not text, where the task does not ask for texts."""
        tasks = self.reference.tasks if isinstance(self.reference, ItemReference) else {}
        name = task_name(file)
        gold = tasks.get(name)
        texts = name.lower() == RUENVAQA.lower() if not gold else all(isinstance(right, str) for right in gold.values())
        if not self.inside or texts:
            return sink
        return lambda finding: None if finding.code == "PRD116" else sink(finding)


#: Suffixes under which the file of a task may have been written, by mistake too; no page and no program.
_WRITTEN = re.compile(r"(?:^|/)[^./]*(?:\.(?:js\w*|ndjson|txt))?$", re.IGNORECASE)
#: Sources that MERA's server opens: a zip, or a folder to be zipped.
ZIPPED = ("zip", "folder")


def is_submission(source: Source, found: Sequence[Part], reference: AnyReference, named: bool) -> bool:
    """Whether a source is a submission to MERA; *found* are its parts.

    It holds no questions, and no predictions in another format. Beyond that it is one if the reference or the
    format (which the user *named*) says so, if a file is called like the task, or if it is a zip or folder with
    answers to MERA and without labels.
    """
    if not all(part.questions in (None, SUBMISSION.name) for part in found):
        return False
    task = any(task_name(entry.name).lower() == RUENVAQA.lower() and _WRITTEN.search(entry.name) for entry in source)
    others = any(is_csv(entry.name) for entry in source)  # labels, with answers among them
    answers = any(part.questions is not None for part in found)
    looks = task or (source.kind in ZIPPED and answers and not others)
    known = isinstance(reference, ItemReference) and bool(reference.tasks)
    return known or named or (looks and source.kind != "file")


#: Files whose content counts.
_TEXTS = ("json", "jsonl", "csv")


class Submission(NamedTuple):
    """A zip or folder that goes to MERA, as MERA's rules see it, and its files with answers."""

    package: MeraPackage
    answers: tuple[Part, ...]

    @staticmethod
    def of(source: Source, found: Sequence[Part], reference: AnyReference) -> Submission:
        """The submission that a source is (:func:`is_submission`); *found* are its parts."""
        known = tuple(reference.tasks) if isinstance(reference, ItemReference) else ()
        chosen = {file.entry.name for part in found if part.questions is not None for file in part.files}
        tasks = known or (RUENVAQA,)
        texts = read_entries((entry for entry in source if suffix_of(entry.name) in _TEXTS), lambda _: None)
        members = dict.fromkeys((entry.name for entry in source), b"") | {entry.name: data for entry, data in texts}
        paths = {entry.name: entry.path for entry in source}
        # what is no zip, or folder to be zipped, cannot be opened
        package = MeraPackage(source.path, members if source.kind in ZIPPED else None, tasks, paths)
        files = tuple(
            NamedEntry(entry, entry.name, "") for entry in source
            if written_suffix(entry.name) == "json" and (task_name(entry.name) in tasks or entry.name in chosen)
        )  # fmt: skip
        return Submission(package, (Part(files, SUBMISSION.name),) if files else ())


def check_predictions(reading: ItemReading, name: str, reference: AnyReference, inside: bool) -> Iterator[Finding]:
    """Predictions of the file *name* compared with their questions, and answers to MERA checked against its rules.

    With *inside*, the file is one of a submission with a file for each task.
    """
    expected = reference if isinstance(reference, ItemReference) else None
    foreign = inside and task_name(name).lower() != RUENVAQA.lower()  # another task: its answers are no letters
    if expected is not None and expected.questions is not None and has_outputs(reading) and not foreign:
        strange = list(check_answered(Answered(reading, expected.questions)))
        yield from strange
        if any(finding.code == "PRD210" for finding in strange):
            return
    if reading.format is SUBMISSION:
        yield from check_answers(reading, _gold(expected, name, foreign), letters=not foreign)


def _gold(reference: ItemReference | None, name: str, foreign: bool) -> list[Item] | None:
    """The questions of a task, those of other tasks than ruEnvAQA as mere ids."""
    if reference is None:
        return None
    if not foreign and reference.questions is not None:
        return [row for row in reference.questions.rows if isinstance(row, Item)]
    task = reference.tasks.get(task_name(name))
    return None if not task else [Item.model_validate({"id": str(id)}) for id in task]


# --- all files together ------------------------------------------------------------------------------------------


def item_findings(
    found: Iterable[tuple[Part, CheckedItems]], look: Lookup | None, referred: bool = False
) -> Iterator[Finding]:
    """Yield the findings of all parts, in the order of the parts; *look* finds the recordings that they name.

    Without it, no more is said than what was wrong when they were read.
    Where they are compared with their questions, *referred*, that tells more of some things (:data:`REFERRED`).
    """
    for part, rows in found:
        yield from rows.findings
        if rows.part is not None and look is not None:
            table = rows.part
            table.read = lru_cache(1)(partial(_reading, part, rows))
            audio = Audio(table, partial(look.find, name=part.files[rows.file].name))
            skip = REFERRED if referred else ()
            yield from table.report(QUESTION_FILE_RULES if table.asks else PREDICTION_FILE_RULES, table, skip)
            yield from table.report(RECORDING_RULES, audio)
            table.read = None  # what was read again can go


def _advised(source: Source, reference: ItemReference) -> str:
    """Which keys of predictions are wanted, and which are there."""
    from seldio.formats.own_keys import advice

    questions = reference.questions.rows if reference.questions is not None else ()
    data = source.entries[0].read() if source.single and source.entries else b""
    told = advice(data, source.path, [row for row in questions if isinstance(row, Item)])
    return told or "Questions are a reference for predictions"


def check_kind(source: Source, reference: AnyReference, found: Sequence[CheckedItems], labels: bool) -> None:
    """Stop at clips as a reference for predictions, and at questions for labels.

    *found* are the questions and predictions of *source*; where one cannot be read, its findings say enough.
    """
    if reference is None or any(rows.part is None for rows in found):
        return
    named, given = printable(reference.path), printable(source.path)
    predictions = any(rows.outputs for rows in found)
    if isinstance(reference, ItemReference) and not predictions:
        what = "questions without a model's output" if found else "no predictions in a known format"
        raise UsageError(f"{named} holds questions, but {given} holds {what}. {_advised(source, reference)}")
    if isinstance(reference, ItemReference) and reference.questions is None and not reference.tasks:
        raise UsageError(f"{named} holds no questions")
    if isinstance(reference, Reference) and found and not labels:
        what = "predictions" if predictions else "questions"
        hint = "use the file with the questions they answer" if predictions else "clips are a reference for labels"
        raise UsageError(f"{named} lists clips, but {given} holds {what}: {hint}")


def _reading(part: Part, rows: CheckedItems) -> ItemReading:
    return rows.reading or next(part.chosen([rows.file]).items(lambda _: None))
