"""QAI: whether the parts of an SO-Bench question agree with each other, task by task.

An answer in words is read as the scorer reads a prediction without a judge (:mod:`seldio.answers.extract`): whatever
a text does not state for certain is left alone. Nearly all answers agree, so the usual sentences are recognised first,
and only the others are read in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from seldio.findings import Finding
from seldio.rules.collection import MakeFinding
from seldio.rules.item_table import ItemTable
from seldio.tasks.names import name_of
from seldio.tasks.specs import PUBLISHED, SOURCE_TASKS
from seldio.text import clipped, listed

if TYPE_CHECKING:
    from seldio.answers.extract import Names

#: The key of ``answer_meta`` that a task is scored by, and the field of a judgement with the same of a prediction.
TRUTHS = {task.name: (task.truth, task.field) for task in PUBLISHED.values() if task.truth and task.field}
#: The keys of a single number, the first of which counts.
_SINGLE = ("azimuth_deg", "elevation_deg", "distance_m", "onset_time", "active_count")
_DECIMALS = re.compile(r"\d\.(\d+)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
#: Words that may change the sign of a number.
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
        return "not be empty"
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
    asked = table.distinct(*_FIELDS)[0] if table.home == "so-bench" else ()
    texts = {
        (task, None if canonical else answer, canonical)
        for task, _, answer, canonical, _ in asked
        if task in PUBLISHED and (answer or "").strip()
    }
    if texts:
        from seldio.answers.extract import Names, names_in

        words = _AnswersInWords(Names(sorted({name for each in texts for name in names_in(*each)})))
        for row, truth in _judged(table, words.contradicted):
            message = f"the answer says {clipped(table.value(row, 'answer'), 90)}, but {truth}"
            yield finding(row, "answer", message, "write both from the same value")


def _beginnings(text: str) -> set[str]:
    return {word[:3] for word in re.findall(r"\w{3,}", text.lower())}


class _AnswersInWords:
    """Answers in words that contradict their questions; *names* are those of the right answers."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._sure: dict[tuple[str, str, str], bool] = {}
        self._plain: dict[tuple[str, str], bool] = {}

    def contradicted(self, asked: _Asked) -> str | None:
        """Return the truth, where the answer in words certainly says something else; None where it does not."""
        task, question, answer, canonical = str(asked.task), asked.question, asked.answer or "", asked.canonical
        truth = asked.truth
        if not answer.strip():
            return None
        if task == "speech_content":
            from seldio.answers.matching import transcribed

            quoted = f'"{canonical}"' in answer and answer.count('"') == 2
            if not canonical or not canonical.strip() or quoted or transcribed(canonical, answer).best.rate <= 0.5:
                return None
            return _right(canonical)
        if task in TRUTHS and task != "spatial_temporal":
            numbers = _numbers(answer)
            if truth and {*truth} <= {*numbers} and not _TURNED.search(answer):
                return None  # most of them, and reading takes time
            if (
                truth == numbers
                and "#" not in answer
                and self._as_written(task, _NUMBER.sub(lambda number: "#.#" if "." in number[0] else "#", answer))
            ):
                return None
        elif canonical is not None and answer == canonical and task not in TRUTHS:
            return None
        elif canonical is not None and task in SOURCE_TASKS and not _ODD.search(answer):
            name = canonical.partition(" from ")[0] if task == "detect_source" else canonical
            if any(self._names(answer, called) for called in _called(name.strip('"'))):
                return None
        verdict = self._read(task, question, answer, canonical)
        if verdict is None:
            return None
        said = verdict["prediction"][TRUTHS[task][1]] if truth and not _contradicted(canonical, asked.numbers) else None
        if said is not None and _is_other(task, answer, truth, said):
            return f"the meta has {', '.join(f'{value:g}' for value in truth)}"
        semantic = verdict["semantic"]
        wrong = semantic["source_match_level"] == "wrong" or any(
            semantic[name] is False for name in ("relation_match", "direction_match", "motion_match")
        )
        return _right(canonical) if wrong and canonical is not None else None

    def _read(self, task: str, question: str, answer: str, canonical: str | None) -> dict[str, Any] | None:
        from seldio.answers.extract import AnsweredQuestion, extract

        return extract(AnsweredQuestion("", task, question, answer, canonical, {}, answer), self.names)

    def _as_written(self, task: str, frame: str) -> bool:
        """Return whether numbers in the places of ``#`` are read as written: then all are, in the same words."""
        if (task, frame) not in self._plain:
            values = [7 + place + len(mask) / 4 for place, mask in enumerate(_MASK.findall(frame))]
            texts = iter(f"{value:g}" for value in values)
            verdict = self._read(task, "", _MASK.sub(lambda _: next(texts), frame), None)
            said = verdict["prediction"][TRUTHS[task][1]] if verdict is not None else None
            self._plain[task, frame] = (said if isinstance(said, list) else [said]) == values
        return self._plain[task, frame]

    def _names(self, answer: str, name: str) -> bool:
        """Return whether an answer certainly contains a name, and not as a part of another name."""
        low, wanted = answer.lower(), name.lower()
        start = low.find(wanted)
        before, after = low[:start].rstrip(_BETWEEN), low[start + len(wanted) :].lstrip(_BETWEEN)
        if start < 0 or len(before) == start > 0 or (after and len(before + wanted + after) == len(low)):
            return False
        key = (" ".join(before.split()[-2:]), wanted, after.split(" ", 1)[0])
        if key not in self._sure:
            self._sure[key] = self.names.sure(*key)
        return self._sure[key]


@lru_cache(maxsize=4096)
def _called(name: str) -> tuple[str, ...]:
    """Return a name, and what people call the class."""
    return tuple(dict.fromkeys((name, name_of(name).spoken.strip('"'))))


def _right(canonical: str | None) -> str:
    return f"the canonical answer is {clipped(str(canonical))}"


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


_MASK = re.compile(r"#((?:\.#)?)")


#: What makes a sentence unusual: signs and words that may change its meaning.
_ODD = re.compile(
    r"(?i)[^a-z0-9 ,.\"-]|not|think|answer|boxed|rather|instead|neither|never|without|except|whether|opposite"
)
#: What separates words, in sentences that are not odd.
_BETWEEN = ' ,."-'


SPATIAL_RULES = (meta_contradicts_answer, missing_truth, impossible_canonical_answer, answer_contradicts_truth)
