"""QAI: what a question must have, and whether what it says of itself agrees, task by task.

What an answer in words says is read as the scorer reads a prediction without a judge
(:mod:`seldio.answers.extract`): what a text does not say for sure is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from seldio.findings import Finding
from seldio.formats.items import ItemReading
from seldio.rules.collection import Found
from seldio.rules.registry import ERROR, WARNING, rule
from seldio.schema.qa import AnswerMeta, Item
from seldio.tasks.english import PUBLISHED
from seldio.text import clipped, listed

if TYPE_CHECKING:
    from seldio.answers.names import Names


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
    plain = {task.replace("_", ""): task for task in PUBLISHED}
    first: dict[str, int] = {}
    counts: dict[str, int] = {}
    for number, row in items_of(reading) if reading.home == "so-bench" else ():
        if row.task not in PUBLISHED:
            first.setdefault(row.task or "", number)
            counts[row.task or ""] = counts.get(row.task or "", 0) + 1
    for task, number in first.items():
        many = f", in {counts[task]:,} questions" if counts[task] > 1 else ""
        meant = plain.get(re.sub(r"[\W_]", "", task.lower()))
        hint = f"write {meant}" if meant else f"the tasks are {', '.join(PUBLISHED)}"
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


#: The key of ``answer_meta`` that a task is scored by, and where a judgement has the same of a prediction.
TRUTHS = {task.name: (task.truth, task.field) for task in PUBLISHED.values() if task.truth and task.field}
_DECIMALS = re.compile(r"\d\.(\d+)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
#: Words that may turn the sign of a number.
_TURNED = re.compile(r"left|right|clockwise|minus|negative|below|beneath|under|down|lower", re.IGNORECASE)


def _so_bench(reading: ItemReading) -> Iterator[tuple[int, Item, str]]:
    """The questions of SO-Bench with a task that it has."""
    for number, row in items_of(reading) if reading.home == "so-bench" else ():
        if row.task in PUBLISHED:
            yield number, row, str(row.task)


def truth_of(row: Item) -> list[float]:
    """The numbers that a question of SO-Bench is scored by; none where its task has none, or they are missing."""
    value = getattr(row.answer_meta, TRUTHS[row.task][0], None) if row.task in TRUTHS else None
    return [float(each) for each in (value if isinstance(value, list) else [value] if value is not None else [])]


@rule("QAI106", ERROR)
def meta_contradicts_answer(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """Numbers in the meta that are not those of the canonical answer.

    The scorer compares with the meta, people and judges read the answer: a prediction that is right by
    one is wrong by the other.

    Example:
        "canonical_answer": "18.5s to 20.0s", "answer_meta": {"time_span": [18.0, 20.0]}

    Fix:
        Write both from one source.

    Reference: SO-Bench, answer_meta.
    """
    for number, row in items_of(reading):
        if row.answer_meta is not None and (truth := _contradicted(row, row.answer_meta)):
            shown = ", ".join(f"{value:g}" for value in truth)
            message = f"the canonical answer says {clipped(row.canonical_answer or '')}, the meta {shown}"
            yield found(number, message, "canonical_answer", "write both from one source")


def _numbers(text: str | None) -> list[float]:
    return [float(part) for part in _NUMBER.findall(text or "")]


def _contradicted(row: Item, meta: AnswerMeta) -> list[float]:
    """The numbers of the meta, where those of the canonical answer are others."""
    numbers = _numbers(row.canonical_answer)
    if not numbers:
        return []
    truths = [meta.azimuth_deg, meta.elevation_deg, meta.distance_m, meta.onset_time, meta.active_count]
    truth = meta.time_span or [float(value) for value in truths if value is not None][:1]
    same = len(numbers) != len(truth) or all(
        abs(one - other) <= 0.051 * max(1.0, abs(other) / 100) for one, other in zip(numbers, truth, strict=True)
    )
    return [] if same else truth


@rule("QAI114", ERROR)
def missing_truth(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A question whose task is scored by a number, and whose meta does not have it.

    Azimuths, elevations, distances, times and counts are compared with ``answer_meta`` alone. Without its number
    no prediction can be right, and nobody is told.

    Example:
        "task_name": "detect_time", "answer_meta": {}

    Fix:
        azimuth_deg for estimate_azimuth, elevation_deg for estimate_elevation, distance_m for estimate_distance,
        time_span for detect_time and spatial_temporal, onset_time for onset_from_location, active_count for
        count_sources.

    Reference: the dataset card of SO-Bench, answer_meta.
    """
    for number, row, task in _so_bench(reading):
        if task in TRUTHS and not truth_of(row):
            other = (row.extra or {}).get("answer_meta")
            known = row.answer_meta.__dict__ if row.answer_meta is not None else {}
            keys = [key for key, value in known.items() if value is not None]
            keys += [key for key, value in other.items() if value is not None] if isinstance(other, dict) else []
            has = f"has {listed(keys)}" if keys else "is empty" if row.answer_meta is not None else "is missing"
            key = TRUTHS[task][0]
            yield found(number, f"{task} needs {key}, and answer_meta {has}", "answer_meta", f"write {key}")


@rule("QAI115", ERROR)
def impossible_canonical_answer(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A canonical answer that its task cannot have.

    Motions are stationary, moving, approaching or receding; relative_left_right says left or right;
    spatial_temporal ends with a direction; angles, distances, times and counts are numbers. No prediction agrees
    with anything else, whatever the judge makes of it.

    Example:
        "task_name": "classify_motion", "canonical_answer": "loud"

    Fix:
        Write one of the words, or the number with its unit. Often answers were exchanged between tasks.

    Reference: SO-Bench scorer, motion_label, left_right and the other fields of a judgement.
    """
    for number, row, task in _so_bench(reading):
        if row.canonical_answer is not None and (must := _lacking(task, row.canonical_answer)):
            shown = clipped(row.canonical_answer) if row.canonical_answer.strip() else "empty"
            yield found(number, f"the canonical answer of {task} is {shown}", "canonical_answer", f"it {must}")


def _lacking(task: str, text: str) -> str | None:
    """What a canonical answer must be and is not; None where it may be right."""
    if not text.strip():
        return "must not be empty"
    needed = 0 if task not in TRUTHS or task == "spatial_temporal" else 2 if task == "detect_time" else 1
    if len(_NUMBER.findall(text)) < needed and len(_NUMBER.findall(_plainly(text))) < needed:
        return "is a number" if needed == 1 else "is a start and an end in seconds"
    return _LACKING[task](_plainly(text)) if task in _LACKING else None


def _plainly(text: str) -> str:
    from seldio.answers.plain_text import plainly

    return plainly(text)


def _no_motion(text: str) -> str | None:
    from seldio.answers.bearings import motion

    return None if motion(text) else "is stationary, moving, approaching or receding"


def _no_side(text: str) -> str | None:
    from seldio.answers.bearings import sides

    return None if sides(text) else "says left or right"


def _no_direction(text: str) -> str | None:
    from seldio.answers.bearings import directions

    return None if directions(text) != frozenset() else "is a source from a direction, as bell from left"


_LACKING = {"classify_motion": _no_motion, "relative_left_right": _no_side, "spatial_temporal": _no_direction}


@rule("QAI116", ERROR)
def answer_contradicts_truth(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """An answer in words that says something else than the canonical answer or the meta.

    Models learn from the one and are scored by the other, and the judge is shown both. Only what is sure is told:
    a number, time, motion, side, direction or name that the text gives plainly. Numbers may be rounded.

    Example:
        "answer": "The gong is audible from 18.5s to 21.0s.", "answer_meta": {"time_span": [18.5, 20.0]}

    Fix:
        Write both from one source.

    Reference: SO-Bench, answer, canonical_answer and answer_meta.
    """
    rows = [(number, row, task) for number, row, task in _so_bench(reading) if (row.answer or "").strip()]
    if not rows:
        return
    from seldio.answers.names import Names, names_in

    names = Names(name for _, row, _ in rows for name in names_in(row))
    for number, row, task in rows:
        truth = _told_otherwise(row, task, names)
        if truth is not None:
            message = f"the answer says {clipped(row.answer or '', 90)}, {truth}"
            yield found(number, message, "answer", "write both from one source")


def _told_otherwise(row: Item, task: str, names: Names) -> str | None:
    """What is true where the answer in words says something else for sure; None where it does not."""
    from seldio.answers.extract import extract
    from seldio.answers.judgements import AnsweredQuestion
    from seldio.answers.matching import transcribed

    answer, canonical = row.answer or "", row.canonical_answer
    if task == "speech_content":
        wrong = bool((canonical or "").strip()) and transcribed(str(canonical), answer).best.rate > 0.5
        return f"the canonical answer {clipped(str(canonical))}" if wrong else None
    if task in TRUTHS and task != "spatial_temporal" and _holds(answer, truth_of(row)):
        return None  # most of them, and reading takes time
    verdict = extract(AnsweredQuestion(row.id, task, row.question, answer, canonical, {}, answer), names)
    if verdict is None:
        return None
    if task in TRUTHS and (truth := truth_of(row)) and _is_other(row, truth, verdict["prediction"][TRUTHS[task][1]]):
        return f"the meta {', '.join(f'{value:g}' for value in truth)}"
    semantic = verdict["semantic"]
    wrong = semantic["source_match_level"] == "wrong" or any(
        semantic[name] is False for name in ("relation_match", "direction_match", "motion_match")
    )
    return f"the canonical answer {clipped(str(canonical))}" if wrong and canonical is not None else None


def _holds(answer: str, truth: list[float]) -> bool:
    """Whether the numbers of the *truth* stand in an answer as they are."""
    return bool(truth) and {*truth} <= {*_numbers(answer)} and not _TURNED.search(answer)


def _is_other(row: Item, truth: list[float], said: Any) -> bool:
    """Whether numbers that an answer *said* are other than the *truth*, and no other rule tells of those already."""
    given = said if isinstance(said, list) else [said]
    reversed_ = truth != sorted(truth)
    if None in given or reversed_ or (row.answer_meta is not None and _contradicted(row, row.answer_meta)):
        return False
    digits = max(map(len, _DECIMALS.findall(row.answer or "")), default=0)
    errors = [abs(float(one) - other) for one, other in zip(given, truth, strict=True)]
    if row.task == "estimate_azimuth":
        errors = [min(error % 360.0, -error % 360.0) for error in errors]
    return max(errors) > (0.5 if row.task == "count_sources" else 1.01 * 10.0**-digits)
