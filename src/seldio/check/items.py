"""Questions and predictions: read part by part, checked file by file, and right answers written in form."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import pyarrow as pa

from seldio.catalogues.parts import NamedEntry, Part
from seldio.check.facts import evidence_of
from seldio.check.reference import AnyReference
from seldio.errors import UsageError
from seldio.files import Source, read_entries
from seldio.files.names import is_csv, suffix_of, written_suffix
from seldio.files.sources import Lookup
from seldio.findings import RECORDS_SINGLY, Finding, gathered
from seldio.formats.items import ItemReading
from seldio.formats.mera import AS_WRITTEN, MERA_TASK, SUBMISSION, task_name
from seldio.rules.collection import Reference
from seldio.rules.item_answers import SPATIAL_RULES
from seldio.rules.item_audio import RECORDING_RULES, Audio
from seldio.rules.item_table import ItemTable
from seldio.rules.items import (
    BENCHMARK_RULES,
    INSTRUCTION_RULES,
    OPTION_RULES,
    PATH_RULES,
    PREDICTION_RULES,
    QUESTION_RULES,
    misformed,
)
from seldio.rules.predictions import (
    REFERRED,
    Answered,
    ItemReference,
    MeraPackage,
    check_answered,
    check_answers,
    has_outputs,
    instruction_missing_among_others,
    output_missing,
)
from seldio.schema.qa import Item, Rows
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
    evidence: str = ""  # what it was recognised by, where whoever asks wants to know


def check_part(
    part: Part, reference: AnyReference = None, inside: bool = False, facts: bool = False
) -> tuple[list[Finding], list[CheckedItems]]:
    """Read questions or predictions, and compare predictions with their questions, where the *reference* has them.

    Args:
        part: their files.
        reference: the questions that are answered, where they are known.
        inside: whether the files are those of a submission to MERA, one for each task.
        facts: say what files were recognised by.

    Returns:
        The findings on files that cannot be opened, and the results of the others.
    """
    damaged: list[Finding] = []
    numbers = {file.entry.path: number for number, file in enumerate(part.files)}
    tasks = reference.tasks if isinstance(reference, ItemReference) else {}
    rows = []
    for file in part.texts(damaged.append):
        findings: list[Finding] = []
        reading = part.reading(file, findings.append)
        if inside:
            task = task_name(file.name)
            answers = (tasks.get(task) or {}).values()
            asks_for_texts = all(isinstance(answer, str) for answer in answers)
            if not asks_for_texts or (not answers and task.lower() != MERA_TASK.lower()):
                findings = [finding for finding in findings if finding.code != "PRD116"]
        contents: tuple[Any, ...] = ()
        if reading is not None:
            findings += check_predictions(reading, file.name, reference, inside)
            contents = has_outputs(reading), ItemTable(reading, keep=False), evidence_of(reading) if facts else ""
        gathered_findings = tuple(gathered(dict.fromkeys(findings), RECORDS_SINGLY))
        rows.append(CheckedItems(numbers[file.path], gathered_findings, *contents))
    return damaged, rows


#: Suffixes under which the file of a task may have been written, by mistake too; no page and no program.
_WRITTEN = re.compile(r"(?:^|/)[^./]*(?:\.(?:js\w*|ndjson|txt))?$", re.IGNORECASE)
#: Sources that MERA's server opens: a zip, or a folder to be zipped.
ZIPPED = ("zip", "folder")
#: Files whose content counts.
_TEXTS = ("json", "jsonl", "csv")


class Submission(NamedTuple):
    """A zip or folder that goes to MERA, as MERA's rules see it, and its files with answers."""

    package: MeraPackage
    answers: tuple[Part, ...]


def submission_in(source: Source, parts: Sequence[Part], reference: AnyReference, named: bool) -> Submission | None:
    """Return the submission to MERA that a source is; None where it is none.

    It holds no questions, and no predictions in another format. Beyond that it is one if the reference or the
    format (which the user *named*) says so, if a file is called like the task, or if it is a zip or folder with
    answers to MERA and without labels.
    """
    if not all(part.questions in (None, SUBMISSION.name) for part in parts):
        return None
    task = any(task_name(entry.name).lower() == MERA_TASK.lower() and _WRITTEN.search(entry.name) for entry in source)
    others = any(is_csv(entry.name) for entry in source)  # labels, with answers among them
    answers = [part for part in parts if part.questions is not None]
    looks = task or (source.kind in ZIPPED and answers and not others)
    tasks = tuple(reference.tasks) if isinstance(reference, ItemReference) else ()
    if not (tasks or named or (looks and source.kind != "file")):
        return None
    tasks, chosen = tasks or (MERA_TASK,), {file.entry.name for part in answers for file in part.files}
    texts = read_entries((entry for entry in source if suffix_of(entry.name) in _TEXTS), lambda _: None)
    members = dict.fromkeys((entry.name for entry in source), b"") | {entry.name: data for entry, data in texts}
    paths = {entry.name: entry.path for entry in source}
    # what is no zip, or folder to be zipped, cannot be opened
    package = MeraPackage(source.path, members if source.kind in ZIPPED else None, tasks, paths)
    written = (entry for entry in source if written_suffix(entry.name) == "json")
    files = tuple(
        NamedEntry(entry, entry.name, "") for entry in written if task_name(entry.name) in tasks or entry.name in chosen
    )
    return Submission(package, (Part(files, SUBMISSION),) if files else ())


def check_predictions(reading: ItemReading, name: str, reference: AnyReference, inside: bool) -> Iterator[Finding]:
    """Compare predictions of the file *name* with their questions; check answers to MERA against its rules.

    With *inside*, the file is one of a submission with a file for each task.
    """
    expected = reference if isinstance(reference, ItemReference) else None
    foreign = inside and task_name(name).lower() != MERA_TASK.lower()  # another task: its answers are no letters
    if expected is not None and expected.questions is not None and has_outputs(reading) and not foreign:
        findings = list(check_answered(Answered(reading, expected.questions)))
        yield from findings
        if any(finding.code == "PRD210" for finding in findings):
            return
    if reading.format is not SUBMISSION:
        return
    gold: list[Item] | None = None
    if expected is not None and not foreign and expected.questions is not None:
        gold = [row for row in expected.questions.rows if isinstance(row, Item)]
    elif expected is not None and (task := expected.tasks.get(task_name(name))):  # another task: mere ids
        gold = [Item.model_validate({"id": str(id)}) for id in task]
    yield from check_answers(reading, gold, letters=not foreign)


# --- all files together ------------------------------------------------------------------------------------------


def item_findings(
    items: Iterable[tuple[Part, CheckedItems]], look: Lookup | None, referred: bool = False
) -> Iterator[Finding]:
    """Yield the findings of all parts, in the order of the parts; *look* finds the recordings that they name.

    Without it, no more is said than what was wrong when they were read.
    Where they are compared with their questions, *referred*, that tells more of some things (:data:`REFERRED`).
    """
    for part, rows in items:
        yield from rows.findings
        if rows.part is not None and look is not None:
            table = rows.part
            table.read = lru_cache(1)(partial(_reading, part, rows))
            audio = Audio(table, partial(look.find, name=part.files[rows.file].name))
            skip = REFERRED if referred else ()
            yield from table.report(QUESTION_FILE_RULES if table.asks else PREDICTION_FILE_RULES, skip=skip)
            yield from table.report(RECORDING_RULES, audio)
            table.read = None  # what was read again can go


def check_kind(source: Source, reference: AnyReference, checked: Sequence[CheckedItems], labels: bool) -> None:
    """Stop at clips as a reference for predictions, and at questions for labels.

    *checked* are the questions and predictions of *source*; where one cannot be read, its findings say enough.
    """
    if reference is None or any(rows.part is None for rows in checked):
        return
    named, given = printable(reference.path), printable(source.path)
    predictions = any(rows.outputs for rows in checked)
    if isinstance(reference, ItemReference) and not predictions:
        from seldio.formats.own_keys import advice

        questions = reference.questions.rows if reference.questions is not None else ()
        data = source.entries[0].read() if source.single and source.entries else b""
        hint = advice(data, source.path, [row for row in questions if isinstance(row, Item)])
        what = "questions without a model's output" if checked else "no predictions in a known format"
        hint = hint or "Questions are a reference for predictions"
        raise UsageError(f"{named} holds questions, but {given} holds {what}. {hint}")
    if isinstance(reference, ItemReference) and reference.questions is None and not reference.tasks:
        raise UsageError(f"{named} holds no questions")
    if isinstance(reference, Reference) and checked and not labels:
        what = "predictions" if predictions else "questions"
        hint = "use the file with the questions they answer" if predictions else "clips are a reference for labels"
        raise UsageError(f"{named} lists clips, but {given} holds {what}: {hint}")


def _reading(part: Part, rows: CheckedItems) -> ItemReading:
    return next(part.chosen([rows.file]).items(lambda _: None))


# --- right answers that are not written as their format writes them: letters as texts (QAI121), or back (QAI128)


def with_answers_in_form(
    questions: Sequence[tuple[Part, CheckedItems]], paths: Collection[str]
) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield path, bytes before and bytes after of each file of *questions* among *paths* that can be repaired.

    What ``B`` becomes is a guess, since it may be meant as it stands; what the text of one option becomes is none. A
    file is only written if nothing else of it changes.
    """
    for part, checked in questions:
        if part.files[checked.file].entry.path not in paths:
            continue
        chosen = part.chosen([checked.file])
        for file in chosen.texts(lambda _: None):
            reading = chosen.reading(file, lambda _: None)
            after = None if reading is None else _changed(reading, file.data)
            if after is not None:
                yield file.path, file.data, after


def _changed(reading: ItemReading, data: bytes) -> bytes | None:
    """Return *data*, the file of *reading*, with answers in form; None where that cannot be, or changes more."""
    right = {row: meant[0] for row, meant in misformed(ItemTable(reading)) if len(meant) == 1}
    format, table = reading.format, reading.table
    if not right or format.write(reading.rows, reading.origin) != data:
        return None
    place = table.schema.names.index("answer")
    answers = [right.get(row, answer) for row, answer in enumerate(table.column(place).to_pylist())]
    changed = Rows(table.set_column(place, table.schema.field(place), [answers]), format.model)
    after = format.write(changed, reading.origin)
    again = format.read(after, reading.path, lambda _: None)
    return after if again is not None and _is_alike(again.table, table) else None


def _is_alike(table: pa.Table, other: pa.Table) -> bool:
    """Return whether tables differ at most in answers, and in records that formats keep as they were written."""
    names = [name for name in table.schema.names if name not in ("answer", "extra")]
    if len(table) != len(other) or not table.select(names).equals(other.select(names)):
        return False
    extras = (each.column("extra").to_pylist() for each in (table, other))
    ours, theirs = ([json.loads(text or "{}") | {AS_WRITTEN: None} for text in texts] for texts in extras)
    return ours == theirs
