"""QAI: what a question must have, and the fields that name its task and its recording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from seldio.answers.tasks import TASKS
from seldio.findings import Finding
from seldio.formats.items import ItemReading
from seldio.rules.base import ERROR, WARNING, rule
from seldio.schema.qa import Item
from seldio.text import clipped

Found = Callable[..., Finding]

#: The benchmarks whose answers are public.
_PUBLIC = ("so-bench", "so-dataset-qa")


def items_of(reading: ItemReading) -> Iterator[tuple[int, Item]]:
    """The questions of a file with their numbers."""
    for number, row in enumerate(reading.rows):
        if isinstance(row, Item):
            yield number, row


@rule("QAI111", ERROR)
def empty_question(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A question without a word.

    Whatever a model answers is a guess, and it is scored like an answer.

    Example:
        "question": ""

    Fix:
        Write the question, or leave the record out.

    Reference: SO-Bench, question.
    """
    for number, row in items_of(reading):
        if not row.question.strip():
            yield found(number, f"the question {clipped(row.id)} is empty", "question", "write the question")


@rule("QAI112", ERROR)
def no_answer(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A question without an answer, in a benchmark whose answers are public.

    The judge is shown the right answer beside the prediction, and here would be shown none. Benchmarks that
    keep their answers secret (MMAU, MERA) have empty ones on purpose; those are not meant.

    Example:
        "answer": null

    Fix:
        Write the answer as a full sentence.

    Reference: SO-Bench scorer, REFERENCE_ANSWER.
    """
    for number, row in items_of(reading) if reading.home in _PUBLIC else ():
        if not (row.answer or "").strip():
            yield found(number, f"the question {clipped(row.id)} has no answer", "answer", "write the answer")


@rule("QAI113", WARNING)
def unknown_task(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A task that SO-Bench does not have.

    The scorer knows sixteen tasks by name, capitals included. An answer of any other is right only if it is
    the reference letter by letter, but for case and spaces. Questions of other benchmarks that were converted
    have such tasks; their scores are no SO-Bench scores.

    Example:
        "task_name": "Detect_Time"

    Fix:
        Name one of the sixteen tasks, or score the questions by the rules of their own benchmark.

    Reference: SO-Bench scorer, normalized_exact_match.
    """
    plain = {task.replace("_", ""): task for task in TASKS}
    first: dict[str, int] = {}
    counts: dict[str, int] = {}
    for number, row in items_of(reading) if reading.home == "so-bench" else ():
        if row.task not in TASKS:
            first.setdefault(row.task or "", number)
            counts[row.task or ""] = counts.get(row.task or "", 0) + 1
    for task, number in first.items():
        many = f", in {counts[task]:,} questions" if counts[task] > 1 else ""
        meant = plain.get(re.sub(r"[\W_]", "", task.lower()))
        hint = f"write {meant}" if meant else f"the tasks are {', '.join(TASKS)}"
        named = f"the task {clipped(task)} is none of SO-Bench" if task.strip() else "the question has no task"
        yield found(number, f"{named}{many}", "task", hint)


@rule("QAI117", ERROR)
def audio_id_of_another(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """An audio_id that is not the name of the recording.

    Both name one recording, and here they name two: one of them is wrong, and with it the answer, if it was
    joined by the wrong one. Questions that seldio made without cutting the audio have ``start`` and ``end``, and
    their audio_id is that of the clip in between.

    Example:
        "audio_id": "foa_413d6010b124f7adcc0b", "audio_path": "audio/test/foa_929c83b9bf22369f8eb9.wav"

    Fix:
        Find out where ids and paths were joined: usually one list was sorted or filtered alone.

    Reference: the dataset card of SO-Bench, audio_id and audio_path.
    """
    for number, row in items_of(reading) if reading.home in _PUBLIC else ():
        name = (row.extra or {}).get("audio_id")
        if isinstance(name, str) and len(row.audio) == 1 and row.start is None and row.end is None:
            stem = row.audio[0].replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
            if stem and stem != name:
                message = f"the audio_id is {clipped(name)}, the recording {clipped(row.audio[0])}"
                yield found(number, message, "audio_id", "find out where ids and paths were joined")


RULES = (empty_question, no_answer, unknown_task, audio_id_of_another)
