"""QAI: whether the parts of an SO-Bench question agree with each other, task by task.

The numbers of an answer in words are read as the scorer reads a prediction without a judge
(:mod:`seldio.answers.extract`), where they are not those of the meta: what a text does not state for certain is left
alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from seldio.findings import Finding
from seldio.rules.collection import MakeFinding
from seldio.rules.item_table import ItemTable
from seldio.tasks.specs import PUBLISHED
from seldio.text import clipped, listed

#: The key of ``answer_meta`` that a task is scored by, and the field of a judgement with the same of a prediction.
TRUTHS = {task.name: (task.truth, task.field) for task in PUBLISHED.values() if task.truth and task.field}
#: The keys of a single number, the first of which counts.
_SINGLE = ("azimuth_deg", "elevation_deg", "distance_m", "onset_time", "active_count")
_DECIMALS = re.compile(r"\d\.(\d+)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
#: The decimal comma of Russian answers.
_COMMA = re.compile(r"(?<=\d),(?=\d)")
#: Tasks whose numbers have a sign, and words that may change it.
_SIGNED = ("estimate_azimuth", "estimate_elevation")
_TURNED = re.compile(r"(?i)left|right|clockwise|minus|negative|below|beneath|under|down|lower")


class _Asked(NamedTuple):
    """A question with its answers, and the numbers that it is scored by."""

    task: str | None
    question: str
    answer: str | None
    canonical: str | None
    meta: Mapping[str, Any] | None

    @property
    def numbers(self) -> list[float]:
        """The numbers of the meta, an interval before others; empty where it has none."""
        meta = self.meta or {}
        single = [float(meta[key]) for key in _SINGLE if meta.get(key) is not None]
        return meta.get("time_span") or single[:1]

    @property
    def truth(self) -> list[float]:
        """The numbers that its task is scored by; empty where it has none, or they are missing."""
        value = (self.meta or {}).get(TRUTHS[self.task][0]) if self.task in TRUTHS else None
        return [] if value is None else value if isinstance(value, list) else [float(value)]


def _numbers(text: str | None) -> list[float]:
    return [float(part) for part in _NUMBER.findall(text or "")]


_FIELDS = ("task", "question", "answer", "canonical_answer", "answer_meta")


def _judged(table: ItemTable, judge: Callable[[_Asked], str | None]) -> Iterator[tuple[int, str]]:
    """Yield each row of questions of SO-Bench, with a task that it has, that has a fault, and the fault."""
    if table.home == "so-bench":
        yield from table.judged(_FIELDS, lambda *values: judge(_Asked(*values)) if values[0] in PUBLISHED else None)


def meta_contradicts_answer(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row, message in table.judged(_FIELDS, _contradicting):
        yield finding(row, "canonical_answer", message)


def _contradicting(*values: Any) -> str | None:
    asked = _Asked(*values)
    if not _contradicted(asked.canonical, asked.numbers):
        return None
    shown = ", ".join(f"{value:g}" for value in asked.numbers)
    return f"the canonical answer is {clipped(asked.canonical or '')}, but the meta has {shown}"


def _contradicted(canonical: str | None, meta: list[float]) -> bool:
    numbers = _numbers(canonical) if meta else []
    return len(numbers) == len(meta) and any(
        abs(number - truth) > 0.051 * max(1.0, abs(truth) / 100) for number, truth in zip(numbers, meta, strict=True)
    )


def missing_truth(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row, task in _judged(table, lambda asked: asked.task if asked.task in TRUTHS and not asked.truth else None):
        meta, other = table.value(row, "answer_meta"), table.extra(row).get("answer_meta")
        keys = [key for key, value in (meta or {}).items() if value is not None]
        keys += [key for key, value in other.items() if value is not None] if isinstance(other, dict) else []
        has = f"has {listed(keys)}" if keys else "is empty" if meta is not None else "is missing"
        key = TRUTHS[task][0]
        yield finding(row, "answer_meta", f"{task} needs {key}, but answer_meta {has}", f"add {key}")


def impossible_canonical_answer(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    for row, must in _judged(table, _lacking):
        canonical = table.value(row, "canonical_answer")
        shown = clipped(canonical) if canonical.strip() else "empty"
        message = f"the canonical answer of {table.value(row, 'task')} is {shown}"
        yield finding(row, "canonical_answer", message, f"it must {must}")


def _lacking(asked: _Asked) -> str | None:
    task, text = str(asked.task), asked.canonical
    if text is None:
        return None
    if not text.strip():
        return "be the answer in short form, or be left out"
    needed = 0 if task not in TRUTHS or task == "spatial_temporal" else 2 if task == "detect_time" else 1
    if len(_NUMBER.findall(text)) < needed and len(_NUMBER.findall(_plainly(text))) < needed:
        return "be a number" if needed == 1 else "be a start and an end in seconds"
    if task not in _MUST_SAY or (task == "relative_left_right" and _SIDE.fullmatch(text)):
        return None
    end = text.rpartition(" from ")[2] if task == "spatial_temporal" else text  # enough where it has a direction
    return None if _says(task, end) or _says(task, text) else _MUST_SAY[task]


_SIDE = re.compile(r"[^:\\<]+ (?:is|are) to the (?:left|right) of [^:\\<]+")
_MUST_SAY = {
    "classify_motion": "be stationary, moving, approaching or receding",
    "relative_left_right": "say left or right",
    "spatial_temporal": "be a source and a direction, such as bell from left",
}


@lru_cache(maxsize=4096)
def _says(task: str, text: str) -> bool:
    """Return whether a text says a motion, a side or a direction, as answers of *task* do."""
    from seldio.answers.measures import directions, motion, sides

    plain = _plainly(text)
    if task == "spatial_temporal":
        return directions(plain) != frozenset()
    return bool(motion(plain) if task == "classify_motion" else sides(plain))


@lru_cache(maxsize=4096)
def _plainly(text: str) -> str:
    from seldio.answers.words import plainly

    return plainly(text)


def answer_contradicts_truth(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    # the key words of JASCO
    answers = table.values("answer") if table.home == "jasco" else ()
    for row, answer in enumerate(answers):
        words = table.values("answer_meta.keywords")[row]
        beginnings = _beginnings(" ".join(words or ()))
        if answer and beginnings and beginnings.isdisjoint(_beginnings(answer)):
            message = f"the answer is {clipped(answer, 60)}, but its key words are {clipped(', '.join(words), 60)}"
            yield finding(row, "answer_meta", message, "write words of the answer")
    for row, truth in _judged(table, _contradicted_in_words):
        message = f"the answer says {clipped(table.value(row, 'answer'), 90)}, but {truth}"
        yield finding(row, "answer", message, "write both from the same value")


def _beginnings(text: str) -> set[str]:
    return {word[:3] for word in re.findall(r"\w{3,}", text.lower())}


def _contradicted_in_words(asked: _Asked) -> str | None:
    """Return the truth, where the answer in words certainly has another number or motion; None where it does not."""
    task, answer, canonical, truth = str(asked.task), asked.answer or "", asked.canonical, asked.truth
    if task == "classify_motion":
        said, right = _motion(answer), _motion(canonical or "")
        return f"the canonical answer is {clipped(str(canonical))}" if said and right and said != right else None
    if not truth or not answer.strip() or task == "spatial_temporal" or _contradicted(canonical, asked.numbers):
        return None
    if {*truth} <= {*_numbers(_COMMA.sub(".", answer))} and (task not in _SIGNED or not _TURNED.search(answer)):
        return None  # most of them, and reading takes time
    from seldio.answers.extract import AnsweredQuestion, Names, extract

    question = AnsweredQuestion("", task, asked.question, answer, canonical, {}, answer)
    verdict = extract(question, Names(()))
    said = verdict["prediction"][TRUTHS[task][1]] if verdict is not None else None
    if said is None or not _is_other(task, answer, truth, said):
        return None
    return f"the meta has {', '.join(f'{value:g}' for value in truth)}"


@lru_cache(maxsize=4096)
def _motion(text: str) -> str | None:
    from seldio.answers.measures import motion

    return motion(_plainly(text))


def _is_other(task: str, answer: str, truth: list[float], read: Any) -> bool:
    """Return whether numbers *read* from an answer differ from the *truth*, and no other rule reports them."""
    numbers = read if isinstance(read, list) else [read]
    if None in numbers or truth != sorted(truth):
        return False
    digits = max(map(len, _DECIMALS.findall(answer)), default=0)
    errors = [abs(float(number) - right) for number, right in zip(numbers, truth, strict=True)]
    if task == "estimate_azimuth":
        errors = [min(error % 360.0, -error % 360.0) for error in errors]
    return max(errors) > (0.5 if task == "count_sources" else 1.01 * 10.0**-digits)


SPATIAL_RULES = (meta_contradicts_answer, missing_truth, impossible_canonical_answer, answer_contradicts_truth)
