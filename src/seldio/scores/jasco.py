"""JASCO: joint audio-speech co-reasoning, scored by a language model as judge.

The texts of judges are read as ``eval.py`` reads them, and as they are meant; :func:`join` matches answers to
questions, and :func:`count` counts in both ways.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from seldio.benchmarks import prompts
from seldio.errors import DataError, SeldioError, UsageError
from seldio.formats.about import about
from seldio.formats.json_text import proven
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, counted, in_order
from seldio.schema.qa import Item, Prediction
from seldio.scores import intervals
from seldio.scores.judge import Ask, Judgement, JudgeRequest, Malformed, ReplySchema, make, make_plain
from seldio.scores.replies import JUDGED, ReplyVerdict, verdict_of
from seldio.scores.scorers import ANSWERS
from seldio.text import clipped, listed, plural

Mode = Literal["eval.py", "corrected"]
#: ``A`` audio, ``S`` speech, ``G`` both, ``N`` neither.
Orientation = Literal["A", "S", "G", "N"]


class Judged(NamedTuple):
    """The decision of a judge."""

    rating: int | None  # 0, 1 or 2; None where none is given
    orientation: Orientation | None  # None where none is given; ``eval.py`` then asks the judge once more

    @property
    def complete(self) -> bool:
        """Return whether it is a verdict: both parts are there."""
        return self.rating is not None and self.orientation is not None

    @property
    def points(self) -> int:
        """Return the rating where sound and speech were both used, else 0."""
        return self.rating or 0 if self.orientation == "G" else 0


#: How eval.py names each in its second call, in the order in which it looks for them.
_SECOND: dict[Orientation, str] = {"N": "Neither", "A": "Audio-Oriented", "S": "Speech-Oriented", "G": "Good"}
#: The parts of a text that it looks for first.
_FIRST = {name: [f"Orientation: {word}", f"Orientation: \n{word}"] for name, word in _SECOND.items()}
_FIRST["G"].append("Orientation: Both")
#: What each is called where it is read as it is meant.
_NAMES: dict[str, Orientation] = {
    "audio-oriented": "A",
    "audio": "A",
    "speech-oriented": "S",
    "speech": "S",
    "good": "G",
    "both": "G",
    "both-oriented": "G",
    "neither": "N",
}
#: How eval.py has each.
_WRITTEN: dict[Orientation, str] = {"A": "Audio-Oriented", "S": "Speech-Oriented", "G": "Both", "N": "Neither"}
#: What may stand before a label, or be all that follows it on its line.
_DECORATION = " \t\r>#*_`\"'([{-"
_BULLET = re.compile(r"\d{1,2}[.)]")
_LABELS = {part: re.compile(rf"\b{part}[*_`\"']*\s*[:=]", re.IGNORECASE) for part in ("rating", "orientation")}
_NUMBER = re.compile(r"[\s*_`\"'(\[<]*(\d{1,4})(?:\.0+)?(?![\d.]*\d)(.*)", re.DOTALL)
_SCALE = re.compile(r"[(\[]?\s*(?:/|out\s+of)\s*(\d{1,4})", re.IGNORECASE)
_OTHER = re.compile(r"[\s*_`\"')\]>]*(?:-|–|—|or|to|and|,|/|\|)\s*\d", re.IGNORECASE)
_WORD = re.compile(r"[\s*_`\"'(\[<]*([A-Za-z]+(?:-oriented)?)(?![\w-])(.*)", re.DOTALL | re.IGNORECASE)
_CHOICE = re.compile(r"[\s*_`\"')\]>]*(?:/|\||or\b|and\b|,)\s*[*_`\"'(]*([A-Za-z]+(?:-oriented)?)", re.IGNORECASE)


def parse(text: str, mode: Mode = "corrected") -> Judged:
    """Return the decision in a judge's text.

    ``eval.py`` looks for parts of the text in a fixed order; the last line with ``Rating: `` counts, and a
    0 anywhere in that line wins over a 1, and that over a 2; without such a line it keeps the rating of the row
    before (None here, see :func:`~seldio.scores.jasco.official`).

    ``corrected`` takes the last line that begins with the label, whatever its case and markdown around it, and
    reads its value whole: 1.0 is 1, ``2/2`` is 2, and 3 is not a valid rating. A JSON object with ``rating`` and
    ``orientation`` is read as well.
    """
    rating: int | None = None
    orientation: Orientation | None = None
    if mode == "eval.py":
        orientation = next((name for name, parts in _FIRST.items() if any(part in text for part in parts)), None)
        for line in text.split("\n"):
            if "Rating: " in line:
                rating = next((number for number in (0, 1, 2) if str(number) in line), 0)
        return Judged(rating, orientation)
    values = proven([text.strip().encode("utf-8", "replace")])
    if values and isinstance(values[0], dict):
        return _of_object(values[0])
    if match := _NUMBER.match(_value(text, "rating") or ""):
        scale = _SCALE.match(match[2].lstrip(" \t\r*_`\"')]>"))
        # of another scale, as in ``2 (out of 10)``, or a choice of several
        unclear = int(scale[1]) != 2 if scale else _OTHER.match(match[2])
        rating = None if unclear or int(match[1]) > 2 else int(match[1])
    if match := _WORD.match(_value(text, "orientation") or ""):
        choice = _CHOICE.match(match[2])
        orientation = None if choice and choice[1].lower() in _NAMES else _NAMES.get(match[1].lower())
    return Judged(rating, orientation)


def _of_object(verdict: Mapping[str, object]) -> Judged:
    rating, orientation = verdict.get("rating"), verdict.get("orientation")
    number = int(rating) if type(rating) in (int, float) and rating in (0, 1, 2) else None
    return Judged(number, _NAMES.get(orientation.strip().lower()) if isinstance(orientation, str) else None)


def _value(text: str, name: str) -> str | None:
    """Return what follows the last label at the beginning of a line; else the only one inside a line.

    Line by line, since an expression over all lines would take quadratic time on hostile texts.
    """
    lines, label = text.split("\n"), _LABELS[name]
    labels = []
    for number, line in enumerate(lines):
        bare = line.lstrip(_DECORATION)
        if bullet := _BULLET.match(bare):
            bare = bare[bullet.end() :].lstrip(_DECORATION)
        if match := label.match(bare):
            labels.append((number, match))
    if not labels:
        labels = [(number, match) for number, line in enumerate(lines) for match in label.finditer(line)]
        if len(labels) != 1:
            return None
    number, match = labels[-1]
    behind = match.string[match.end() :]
    return next((line for line in (behind, *lines[number + 1 :]) if line.strip(_DECORATION)), None)


# --- requests --------------------------------------------------------------------------------------

TASK = "jasco"

#: The texts that a judge is asked with: ``seldio``, and to the character those of JASCO's ``readme`` and ``eval.py``.
PROMPTS = prompts("jasco")
#: What ``eval.py`` says before them.
_SYSTEM = "You are an NLP assistant"


#: The texts of a request: their names in seldio's words and in JASCO's, and the column that each is from.
_TEXTS = (
    ("sound", "audio_sound", "audio_sound"),
    ("words", "spoken_text", "spoken_text"),
    ("question", "question", "question"),
    ("answer from the sound alone", "audio_only_target", "audio_only_target"),
    ("answer from the words alone", "speech_only_target", "speech_only_target"),
    ("right answer", "reference", "tgt_text"),
    ("key words", "keywords", "target_keywords"),
    ("model answer", "prediction", "prediction"),
)


def _faults(verdict: Mapping[str, Any]) -> list[str]:
    """Return the faults of a verdict that cannot be read; the explanations may be anything."""
    decision = _of_object(verdict)
    texts = {"rating": "is none of 0, 1, 2", "orientation": f"is none of {', '.join(_WRITTEN.values())}"}
    return [f"{name} {text}" for name, text in texts.items() if getattr(decision, name) is None]


_WHY = {"type": "string", "default": ""}
#: The reply to a request in seldio's words.
SCHEMA = ReplySchema(
    "jasco-both",
    {
        "rating_explanation": _WHY,
        "rating": {"type": "integer", "enum": [0, 1, 2]},
        "orientation_explanation": _WHY,
        "orientation": {"type": "string", "enum": [*_WRITTEN.values()]},
    },
    _faults,
)


def request(row: Prediction, prompt: str = "seldio") -> JudgeRequest:
    """Return what the judge is asked about one output of a model, in the words of one of the :data:`PROMPTS`."""
    columns = {**(row.extra or {}), "question": row.prompt, "prediction": row.prediction}
    texts = {column: value for column, value in columns.items() if isinstance(value, str)}
    if prompt != "seldio":
        text = PROMPTS[prompt].format(**{field: texts.get(column, "") for _, field, column in _TEXTS})
        return make_plain(key(row), TASK, _SYSTEM, text, ReplySchema(f"jasco-{prompt}", {}, read=_read_text))
    instructions = PROMPTS[prompt].rstrip("\n").format(both="Both")
    return make(key(row), TASK, instructions, {name: texts.get(column, "") for name, _, column in _TEXTS}, SCHEMA)


def _read_text(text: str) -> dict[str, Any]:
    """Return the verdict of a reply in the form that JASCO asks for.

    Raises:
        Malformed: it has no rating, or no orientation.
    """
    rating, orientation = parse(text)
    if rating is None:
        raise Malformed("no line has a Rating of 0, 1 or 2")
    if orientation is None:
        raise Malformed("no line has an Orientation")
    return {"rating": rating, "orientation": _WRITTEN[orientation]}


def key(row: Prediction) -> str:
    """Return the id of a row's judgement: the item's, and the number of the instruction from 1 to 8, as in ``17/3``.

    With an instruction that is not JASCO's, its text takes the place of the number.
    """
    prompt = (row.prompt or "").strip()
    return f"{row.id}/{INSTRUCTIONS.index(prompt) + 1 if prompt in INSTRUCTIONS else prompt}"


def as_text(verdict: Mapping[str, Any]) -> str:
    """Return a verdict as JASCO's own judge writes it, for its ``llama3_extract`` column and its ``eval.py``."""
    decision = _of_object(verdict)
    rating = verdict.get("rating") if decision.rating is None else decision.rating
    orientation = verdict.get("orientation")
    if orientation not in (*_WRITTEN.values(), "Good") and decision.orientation is not None:
        orientation = _WRITTEN[decision.orientation]
    # each on one line in which eval.py finds no label: it looks for labels anywhere
    reasons = [verdict.get(f"{name}_explanation") for name in ("rating", "orientation")]
    lines = [" ".join(reason.split()) if isinstance(reason, str) else "" for reason in reasons]
    first, second = (line.replace("Rating: ", "Rating ").replace("Orientation: ", "Orientation ") for line in lines)
    return f"Explanation1: {first}\nRating: {rating}\nExplanation2: {second}\nOrientation: {orientation}"


# --- judgements beside outputs ---------------------------------------------------------------------

#: The column of the judge's text, whichever model is the judge.
COLUMN = "llama3_extract"
_SILENT = "Explanation1: there is no answer.\nRating: 0\nExplanation2: there is no answer.\nOrientation: Neither"


def judged(
    rows: Sequence[Prediction],
    judge: Ask,
    prompt: str = "seldio",
) -> list[Prediction]:
    """Return *rows* with what a judge says about them; an answer that is empty is not sent: there is nothing to judge.

    Where the judge failed the column is empty; a reply that was refused is shown there, as no verdict. To JASCO's
    words it is the reply as it came.
    """
    spoken = [row for row in rows if (row.prediction or "").strip()]
    replies = iter(judge([request(row, prompt) for row in spoken]))
    texts = []
    for row in rows:
        if not (row.prediction or "").strip():
            texts.append(_SILENT)
            continue
        reply = next(replies)
        if prompt != "seldio":
            texts.append(reply.text)
        elif reply.verdict is not None:
            texts.append(as_text(reply.verdict))
        else:  # a text that nobody takes for a verdict: a refused reply is not read a second time
            refused = f"no verdict, {reply.error}; the reply was {clipped(reply.text, 200)}"
            texts.append("" if reply.failed else refused.replace(":", " ").replace("=", " "))
    return _with_texts(rows, texts)


def _with_texts(rows: Sequence[Prediction], texts: Sequence[str | None]) -> list[Prediction]:
    return [
        row if text is None else row.model_copy(update={"extra": {**(row.extra or {}), COLUMN: text}})
        for row, text in zip(rows, texts, strict=True)
    ]


def with_judgements(rows: Sequence[Prediction], judgements: Mapping[str, Judgement]) -> list[Prediction]:
    """Return *rows* with judgements of an external judge, by :func:`~seldio.scores.jasco.key`, e.g. ``17/3``.

    Rows without one keep the text they have.

    Raises:
        DataError: a judgement belongs to no row.
    """
    keys = [key(row) for row in rows]
    if strange := sorted(set(judgements) - set(keys)):
        raise DataError(
            f"{plural(len(strange), 'judgement')} of no prediction: {listed(strange)}. An id is that of the item and "
            "the number of the instruction, 1 to 8, e.g. 17/3"
        )
    texts = {id: given if isinstance(given, str) else as_text(given) for id, given in judgements.items()}
    return _with_texts(rows, [texts.get(id) for id in keys])


# --- which questions are answered ------------------------------------------------------------------
#: Items of JASCO; their ids are 1 to 80.
ITEMS = 80


class Coverage(NamedTuple):
    """The gaps of a file."""

    missing: tuple[str, ...]  # items without any row
    lacking: tuple[str, ...]  # what is wrong, in words; empty where all is there
    other_answers: int  # rows whose right answer is not that of the questions


def join(rows: Sequence[Prediction], items: Sequence[Item] | None = None, *, allow_missing: bool = False) -> Coverage:
    """Return what of the questions *rows* answer.

    Raises:
        DataError: something lacks; or a row has no id, answers no item, or repeats another one: the best of several
            tries counts, so more tries would be a better score.
    """
    answers = {item.id: item.answer for item in items} if items is not None else None
    expected = [*answers] if answers is not None else [str(number + 1) for number in range(ITEMS)]
    if not rows:
        raise DataError("no predictions to score")
    if nameless := [number for number, row in enumerate(rows, 1) if not row.id]:
        raise DataError(f"{plural(len(nameless), 'row')} without an id, the first is row {nameless[0]:,}")
    asked = Counter({row.id or "": 0 for row in rows})
    if strange := sorted({*asked} - {*expected}):
        hint = "" if answers is not None else f"; JASCO's are 1 to {ITEMS}; for other questions name their file"
        raise DataError(f"{plural(len(strange), 'id')} of no item: {listed(strange)}{hint}")
    if twice := [name for name, number in Counter(key(row) for row in rows).items() if number > 1]:
        id, _, prompt = twice[0].partition("/")
        raise DataError(
            f"{plural(len(twice), 'row')} more than once, e.g. item {clipped(id, 30)}, instruction "
            f"{clipped(prompt, 30)}: the best answer to an item counts, so repeated rows would be further tries"
        )
    asked.update(row.id or "" for row in rows if (row.prompt or "").strip() in INSTRUCTIONS)
    missing = tuple(id for id in expected if id not in asked)
    short = {id: len(INSTRUCTIONS) - asked[id] for id in expected if id in asked and asked[id] < len(INSTRUCTIONS)}
    lacking = []
    if missing:
        lacking.append(f"{len(missing)} of {plural(len(expected), 'item')} missing ({listed(missing)})")
    if short:
        row_count = plural(sum(short.values()), "row")
        text = f"not asked all eight instructions, {row_count} short ({listed(tuple(short))})"
        lacking.append(f"{plural(len(short), 'item')} {text}")
    if other := len(rows) - asked.total():
        lacking.append(f"{plural(other, 'row')} with an instruction that is not JASCO's")
    if lacking and not allow_missing:
        raise DataError(
            f"{'; '.join(lacking)}. eval.py would score it as if it were complete. Answer all "
            f"{plural(len(expected), 'item')} with all {len(INSTRUCTIONS)} instructions, or use --allow-missing"
        )
    differing = sum((row.extra or {}).get("tgt_text") != answers[row.id or ""] for row in rows) if answers else 0
    return Coverage(missing, tuple(lacking), differing)


# --- as eval.py counts -----------------------------------------------------------------------------

#: What pandas reads as NaN; the first is the empty text.
_NAN_TEXTS = "|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null"
NAN_TEXTS = frozenset(_NAN_TEXTS.split("|"))
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_PRINTED_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


@dataclasses.dataclass(kw_only=True)
class AnswerMarks:
    """The marks of a judge's texts in one reading, by number of the row; rows that the reading never saw are absent."""

    points: dict[int, int] = dataclasses.field(default_factory=dict)
    orientations: dict[int, Orientation | None] = dataclasses.field(default_factory=dict)

    def mean(self, rows: Sequence[int]) -> float:
        """Return mean points over *rows*; NaN where none was seen."""
        points = [self.points[row] for row in rows if row in self.points]
        return sum(points) / len(points) if points else math.nan

    def best(self, rows: Sequence[int]) -> float:
        """Return the points of the best of *rows*; NaN where none was seen."""
        return max((float(self.points[row]) for row in rows if row in self.points), default=math.nan)

    def parts(self, rows: Sequence[int]) -> tuple[float, ...]:
        """Return Audio, Both and Speech among those with one of these; Neither and no verdict among all."""
        counts = Counter(self.orientations[row] for row in rows if row in self.orientations)
        decided, total = counts["A"] + counts["G"] + counts["S"], counts.total()
        oriented = tuple(counts[kind] / decided if decided else math.nan for kind in ("A", "G", "S"))
        return (*oriented, *(counts[kind] / total if total else math.nan for kind in ("N", None)))


@dataclasses.dataclass(kw_only=True)
class Official(AnswerMarks):
    """The results of ``eval.py``; of an orientation None is its ``?``."""

    best_mean: float | None = None  # None where it crashes before
    #: of Audio-, Both- and Speech-Oriented, among rows with one of these; None where it crashes before
    shares: tuple[float, float, float] | None = None
    crash: str | None = None  # the exception that it ends with, as Python writes it


def official(rows: Sequence[tuple[str | None, str | None]], second: Callable[[int], str] = lambda _: "") -> Official:
    """Return what ``eval.py`` prints for a judged file, up to where it ends.

    Args:
        rows: an item's id and the judge's text on one of its predictions, as they stand in the csv file.
        second: the judge's second reply on a row.
    """
    result, texts = Official(), [text for _, text in rows]
    written = [text for text in texts if text is not None and text not in NAN_TEXTS]
    if written and len(written) == len(texts) and all(_PRINTED_NUMBER.fullmatch(text) for text in written):
        return dataclasses.replace(result, crash="TypeError: argument of type 'int' is not iterable")
    score: int | None = None  # the variable that outlives its row
    best = []
    for members in grouped([id for id, _ in rows]):
        for number in members:
            text = texts[number]
            if text is None or text in NAN_TEXTS:
                result.crash = "TypeError: argument of type 'numpy.float64' is not iterable"
                return result
            rating, orientation = parse(text, "eval.py")
            if orientation is None:
                reply = second(number)
                orientation = next((name for name, part in _SECOND.items() if part in reply), None)
            result.orientations[number] = orientation
            if rating is None and orientation == "G" and score is None:
                local = "cannot access local variable 'score' where it is not associated with a value"
                result.crash = f"UnboundLocalError: {local}"
                return result
            score = score if rating is None else rating
            result.points[number] = (score or 0) if orientation == "G" else 0
        best.append(max(result.points[number] for number in members))
    if not best:
        return dataclasses.replace(result, crash="ZeroDivisionError: division by zero")
    result.best_mean = sum(best) / len(best)
    # in the program's own order of operations, to the last digit
    orientations = list(result.orientations.values())
    audio, speech, both = (orientations.count(name) / len(orientations) for name in ("A", "S", "G"))
    whole = audio + speech + both
    if not whole:
        return dataclasses.replace(result, crash="ZeroDivisionError: float division by zero")
    result.shares = audio / whole, both / whole, speech / whole
    return result


def grouped(ids: Sequence[str | None]) -> list[list[int]]:
    """Return the rows of each item as pandas groups them: sorted, without those that have no id, 1 and 1.0 as one."""
    written = [id for id in ids if id is not None and id not in NAN_TEXTS]
    exact = all(_WHOLE.fullmatch(id) for id in written) and len(written) == len(ids)
    number_of = int if exact else float if all(_PRINTED_NUMBER.fullmatch(id) for id in written) else str
    groups: dict[Any, list[int]] = {}
    for number, id in enumerate(ids):
        if id is not None and id not in NAN_TEXTS:
            groups.setdefault(number_of(id), []).append(number)
    return [groups[key] for key in sorted(groups)]  # all of one type


# --- both readings ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class JascoCase:
    """A judged file."""

    rows: Sequence[Prediction]  # a model's outputs
    texts: Sequence[str]  # the judge's, of each row
    verdicts: Sequence[Judged]  # the corrected reading of each text
    official: Official  # what ``eval.py`` comes to, its second calls answered as the corrected reading understands them
    covered: Coverage  # what the file lacks
    mode: Mode  # the reading that comes first
    asked: Mapping[str, str]  # the words that a judge was asked in, where it was

    @property
    def items(self) -> dict[str, list[int]]:
        """Return the rows of each item."""
        rows: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            rows.setdefault(row.id or "", []).append(number)
        return rows

    def reading(self, mode: Mode) -> AnswerMarks:
        """Return what rows are worth."""
        if mode == "eval.py":
            return self.official
        points = {number: verdict.points for number, verdict in enumerate(self.verdicts)}
        turned = {row: verdict.orientation if verdict.complete else None for row, verdict in enumerate(self.verdicts)}
        return AnswerMarks(points=points, orientations=turned)

    def marked(self) -> intervals.MarkedAnswers:
        """Return the marks of each item."""
        marks, items = self.reading(self.mode), self.items
        values = np.array([[marks.best(rows), marks.mean(rows)] for rows in items.values()])
        title, every = f"JASCO, points of each item ({PROFILES[self.mode]})", np.arange(len(items))
        columns = BEST, _MEAN_OF_ITEMS
        return intervals.MarkedAnswers(title, tuple(items), every, columns, values, every >= 0, "items")

    def reply_verdicts(self) -> Iterator[ReplyVerdict]:
        """Yield the verdict on each answer: of 2 points, as the judge says."""
        marks = self.reading(self.mode)
        for number, (row, text) in enumerate(zip(self.rows, self.texts, strict=True)):
            target, points = (row.extra or {}).get("tgt_text"), marks.points.get(number, 0)
            answer = target if isinstance(target, str) else None
            asked = {"id": key(row), "audio": row.audio, "question": row.prompt or "", "answer": answer}
            state = JUDGED if self.verdicts[number].complete else "unread"
            worth = {"points": points, "orientation": marks.orientations.get(number)}
            yield verdict_of(Item.model_validate(asked), row.prediction, text, state, points / 2, worth)

    def notices(self) -> tuple[Notice, ...]:
        """Return all that apply, the grave ones first."""
        notices: list[Notice] = []
        covered, best_mean, ended = self.covered, self.best_mean(), self.official
        official_mean = "a crash" if ended.best_mean is None else f"{ended.best_mean:.3f}"
        both_means = f"best-mean by eval.py {official_mean}, corrected {best_mean:.3f}"
        if ended.crash:
            notices.append(Notice("crash", f"eval.py ends with {ended.crash}; {both_means}", grave=True))
        if covered.lacking:
            worth = best_mean * len(self.items) / (len(self.items) + len(covered.missing))
            zeros = f"; with 0 for missing items best-mean would be {worth:.3f}" if covered.missing else ""
            text = f"{'; '.join(covered.lacking)}: not comparable with complete files{zeros}"
            notices.append(Notice("coverage", text, grave=True))
        text = "with another right answer (tgt_text) than the questions"
        notices += counted("other-answers", covered.other_answers, "row", text, True)
        if open_rows := [number for number, verdict in enumerate(self.verdicts) if not verdict.complete]:
            shown = next((self.texts[row] for row in open_rows if self.texts[row].strip()), "")
            text = (
                f"{len(open_rows):,} of {plural(len(self.verdicts), 'judge text')} hold no verdict and count 0 "
                f"{self.first(open_rows)}; were each a 2, best-mean would be {self.best_mean(2):.3f}, "
                f"not {best_mean:.3f}" + (f"; e.g. {clipped(shown, 80)}" if shown else "")
            )
            notices.append(Notice("no-verdict", text, grave=True))
        verdicts = [self.verdicts[row] for row in ended.points]
        others = [
            row
            for row, meant in zip(ended.points, verdicts, strict=True)
            if (ended.points[row], ended.orientations[row]) != (meant.points, meant.orientation)
        ]
        text = (
            f'to which eval.py gives other points or another orientation {self.first(others)}: without "Rating: " it '
            "keeps that of the row before, in its line it takes any 0, then 1, then 2, and Neither before Audio, "
            f"Speech and Good; {both_means}"
        )
        notices += counted("misread-by-eval.py", len(others), "judge text", text, True)
        asked_again = sum(parse(self.texts[row], "eval.py").orientation is None for row in ended.orientations)
        text = "whose orientation eval.py does not find and asks its judge for again: taken here as it is meant"
        notices += counted("second-call", asked_again, "judge text", text)
        return in_order(notices)

    def report(self, system: str) -> ScoreReport:
        """Return the report on what was scored."""
        over = f"{plural(len(self.items), 'item')}, {plural(len(self.rows), 'answer')}"
        profile, settings = PROFILES[self.mode], {"mode": self.mode, **self.asked}
        return ScoreReport(system, profile, ANSWERS[profile], over, tables(self), self.notices(), settings)

    def best_mean(self, unknown: int = 0) -> float:
        """Return best-mean by the corrected reading, each row without a verdict worth *unknown*."""
        worth = [verdict.points if verdict.complete else unknown for verdict in self.verdicts]
        best = [max(worth[row] for row in rows) for rows in self.items.values()]
        return sum(best) / len(best)

    def first(self, rows: Sequence[int]) -> str:
        """Return how notices name the first of some rows."""
        return f"(first: item {clipped(self.rows[rows[0]].id or '', 20)})" if rows else ""


def count(
    rows: Sequence[Prediction],
    items: Sequence[Item] | None = None,
    *,
    mode: Mode = "corrected",
    judge: Ask | None = None,
    judgements: Mapping[str, Judgement] | None = None,
    prompt: str = "seldio",
    allow_missing: bool = False,
) -> JascoCase:
    """Return a model's outputs with what the judge's texts on them come to.

    Args:
        rows: of a ``jasco-predictions`` file; judged ones have the judge's text in ``llama3_extract``.
        items: the questions, to check ids and right answers by; None for JASCO's ids, 1 to 80.
        mode: which reading of the judge's texts comes first; both are shown.
        judge: asked about all predictions, e.g. ``Judge(...).ask``; None to use what the file holds.
        judgements: of an external judge, by item and number of the instruction, as ``17/3``; these come before others.
        prompt: for *judge*: the words that it is asked in, one of :data:`~seldio.scores.jasco.PROMPTS`.
        allow_missing: score an incomplete set of answers.

    Raises:
        UsageError: there are no judgements, and no judge to ask.
        DataError: predictions or judgements are missing, repeated or of no item.
    """
    covered = join(rows, items, allow_missing=allow_missing)
    if judge is not None:
        rows = judged(rows, judge, prompt)
    if judgements is not None:
        rows = with_judgements(rows, judgements)
    columns = [(row.extra or {}).get(COLUMN) for row in rows]
    texts = [text if isinstance(text, str) else "" for text in columns]
    without = sum(not text.strip() for text in texts)
    if judge is not None and without == len(texts):
        raise SeldioError("the judge replied to no request: run the same command again to ask for all of them")
    if without == len(texts):
        raise UsageError(
            f"the predictions are not judged: there is no text in the column {COLUMN}. "
            "Use --judge, or --judgements with a file"
        )
    if without and not allow_missing and judge is None:
        raise DataError(
            f"{without:,} of {plural(len(texts), 'prediction')} not judged: the column {COLUMN} is empty there. "
            "Judge them, or use --allow-missing to count them as no verdict"
        )
    verdicts = [parse(text) for text in texts]
    meant = [_SECOND[verdict.orientation] if verdict.orientation is not None else "" for verdict in verdicts]
    pairs = [(row.id, text) for row, text in zip(rows, texts, strict=True)]
    asked = {} if judge is None else {"vocabulary": "Both"} if prompt == "seldio" else {"prompt": prompt}
    return JascoCase(rows, texts, verdicts, official(pairs, meant.__getitem__), covered, mode, asked)


# --- tables ----------------------------------------------------------------------------------------

#: The profile that shows a reading first.
PROFILES: dict[Mode, str] = {"corrected": "jasco", "eval.py": "jasco-eval.py"}
BEST = Column("best_mean", "best-mean", "", 3, "higher", "mean over items of the best answer, 0 to 2")
_MEAN = Column("mean", "mean", "", 3, "higher", "mean over all answers, 0 to 2")
_MEAN_OF_ITEMS = Column("mean", "mean", "", 3, "higher", "mean over items of the mean over their answers, 0 to 2")
_SHARES = (
    Column("audio", "Audio", "%", 1, None, "rest on the sound alone, of those with an orientation"),
    Column("both", "Both", "%", 1, "higher", "rest on sound and speech"),
    Column("speech", "Speech", "%", 1, None, "rest on the speech alone"),
)
_OTHERS = (
    Column("neither", "Neither", "%", 1, "lower", "without a conclusion, of all answers"),
    Column("no_verdict", "no verdict", "%", 1, "lower", "judge's texts that cannot be read, of all answers; worth 0"),
)
_ROWS = Column("answers", "answers", "", 0, None, "answers counted")


def tables(case: JascoCase) -> tuple[Table, ...]:
    """Return the tables of a case; both readings stand in the first, the one that was asked for first."""
    marks, whole = case.reading(case.mode), range(len(case.rows))
    corrected, ended = case.reading("corrected"), case.official
    rows: dict[Mode, tuple[Cell, ...]] = {
        "corrected": ("corrected", case.best_mean(), corrected.mean(whole), *corrected.parts(whole)),
        "eval.py": ("eval.py", *(math.nan for _ in range(7))),  # where it crashes before
    }
    if ended.best_mean is not None:  # what it prints, to the last digit
        shares = ended.shares or (math.nan, math.nan, math.nan)
        rows["eval.py"] = ("eval.py", ended.best_mean, ended.mean(whole), *shares, *ended.parts(whole)[3:])
    order = sorted(rows, key=lambda reading: reading != case.mode)
    columns = (Column("reading", "reading"), BEST, _MEAN, *_SHARES, *_OTHERS)
    overall = Table("overall", "overall, in both readings", columns, tuple(rows[reading] for reading in order))

    asked: dict[str, list[int]] = {prompt: [] for prompt in INSTRUCTIONS}
    for number, row in enumerate(case.rows):
        asked.setdefault((row.prompt or "").strip(), []).append(number)
    cells: list[tuple[Cell, ...]] = []
    for place, (prompt, numbers) in enumerate(asked.items(), 1):
        name = (f"{place}. " if place <= len(INSTRUCTIONS) else "") + clipped(prompt, 200)
        cells += [(name, len(numbers), marks.mean(numbers), *marks.parts(numbers))] if numbers else []
    heads = (Column("prompt", "instruction"), _ROWS, _MEAN, *_SHARES, *_OTHERS)
    by_prompt = Table("prompts", "by instruction", heads, tuple(cells))

    results, measures = about("jasco").results[0], (BEST, *_SHARES)
    others = ((row["system"], *(results.cell(row, column.name) for column in measures)) for row in results.rows)
    published = Table("published", results.title, (Column("system", "system"), *measures), tuple(others))

    best = np.array([marks.best(numbers) for numbers in case.items.values()])
    best = best[~np.isnan(best)]
    sure = intervals.table([BEST], best[:, None], np.arange(len(best)), {}, "items")
    return (overall, by_prompt, published, *([sure] if sure.rows else []))
