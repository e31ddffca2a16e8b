"""Accuracy over questions with options: ruEnvAQA, whose answers are letters, and MMAU, MMAR, ADQA, seldio's items."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from seldio.answers.matching import (
    Letter,
    after_answer_word,
    exact_match,
    letter_of,
    same_text,
    string_match,
)
from seldio.errors import DataError
from seldio.formats.about import about
from seldio.formats.items import LETTERS, option_place
from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, counted, in_order
from seldio.schema.qa import Item, Prediction, cause_of_surplus
from seldio.scores import intervals, replies
from seldio.scores.intervals import MarkedAnswers
from seldio.scores.judge import Ask
from seldio.scores.replies import ReplyVerdict, read_all, state_of, verdict_of
from seldio.scores.scorers import ANSWERS
from seldio.text import clipped, listed, plural, printable

# --- the join --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Joined:
    """Questions with their predictions."""

    #: each question and its prediction, in the order of the questions; None where there is none
    pairs: tuple[tuple[Item, Prediction | None], ...]
    missing: tuple[str, ...] = ()  # ids of questions without prediction
    surplus: tuple[str, ...] = ()  # ids of predictions without question
    repeated: tuple[str, ...] = ()  # ids that stand on several predictions, of which the last counts
    conflicting: tuple[str, ...] = ()  # those of them whose predictions differ

    @property
    def items(self) -> list[Item]:
        """Return the questions."""
        return [item for item, _ in self.pairs]

    @property
    def texts(self) -> list[str]:
        """Return the text of each prediction, empty where there is none."""
        return [(row.prediction or "") if row is not None else "" for _, row in self.pairs]


def join(items: Sequence[Item], predictions: Sequence[Prediction], *, allow_missing: bool = False) -> Joined:
    """Join by id; of several predictions with one id, the last counts.

    Raises:
        DataError: there is nothing to score, an answer is secret, an id stands on two questions, or something is
            missing or left over.
    """
    if not items:
        raise DataError("no questions to score answers to")
    asked = Counter(item.id for item in items)
    if twice := [id for id, number in asked.items() if number > 1]:
        raise DataError(f"several questions have the id {listed(twice)}: no prediction can be joined to them")
    if secret := [item.id for item in items if item.answer is None]:
        every = "all" if len(secret) == len(items) else f"{len(secret):,} of {len(items):,}"
        raise DataError(
            f"the right answer of {every} questions is not in the file ({listed(secret)}): "
            "only those who keep them secret can score these predictions"
        )
    if nameless := sum(row.id is None for row in predictions):
        raise DataError(
            f"{plural(nameless, 'prediction')} of {len(predictions):,} without id: it cannot be told which question "
            "each answers. Write the id of its question on every prediction; --join order joins those that have none "
            "line by line"
        )
    answers: dict[str, list[Prediction]] = {}
    for row in predictions:
        answers.setdefault(row.id or "", []).append(row)
    repeated = tuple(id for id, rows in answers.items() if len(rows) > 1)
    joined = Joined(
        tuple((item, answers.get(item.id, (None,))[-1]) for item in items),
        tuple(item.id for item in items if item.id not in answers),
        tuple(id for id in answers if id not in asked),
        repeated,
        tuple(id for id in repeated if len({row.prediction for row in answers[id]}) > 1),
    )
    parts = []
    if joined.missing:
        count = plural(len(joined.missing), "question")
        parts.append(f"{count} of {len(items):,} without prediction ({listed(joined.missing)})")
    if joined.surplus:
        parts.append(f"{plural(len(joined.surplus), 'prediction')} without question ({listed(joined.surplus)})")
    if parts and not allow_missing:
        cause = cause_of_surplus(joined.surplus, joined.missing)
        because = f": {printable(cause)}" if cause else ""
        raise DataError(f"{', and '.join(parts)}{because}. Correct the ids, or use --allow-missing")
    return joined


# --- which answers are right, by measure -----------------------------------------------------------


def _measure(name: str, title: str, meaning: str) -> Column:
    return Column(name, title, "%", 1, "higher", meaning)


ITEMS = Column("items", "items", "", 0, None, "number of questions in this row")
CHANCE = Column("chance", "chance", "%", 1, None, "expected of guessing evenly among the options")
READ = _measure("read", "as read", "the option that the reply names in the end, as a person reads it")
# of options
OFFICIAL = _measure(
    "accuracy",
    "accuracy",
    "string match of the official script, over questions with a prediction: a missing one is skipped there",
)
OVER_ALL = _measure("over_all", "over all", "string match, a missing prediction counting as wrong")
EXACT = _measure("exact", "exact text", "the text of the right option, character by character")
TEXT = _measure("text", "text", "the text of the right option, without case, punctuation and the option's label")
LETTER = _measure("letter", "letter", "the letter of the right option, Cyrillic ones read by their look")
TOP_1 = _measure(
    "accuracy",
    "accuracy",
    "top-1: the text of the right option, character by character; a missing prediction counts as wrong",
)
MATCH = _measure("string_match", "string match", "as MMAU and MMAR match options, over all questions")
# of letters
EXACT_MATCH = _measure(
    "exact_match",
    "exact",
    "exact_match of MERA's ruenvaqa.yaml: case and ASCII punctuation do not matter, whitespace does",
)
STRIPPED = _measure("stripped", "stripped", "exact match without the whitespace around the answer")
ANSWER_WORD = _measure(
    "answer_word",
    "ОТВЕТ",
    "exact match of the answer or of what follows the last ОТВЕТ in it, whichever is right; MERA's site has such "
    "a rule, its code is not public",
)
LATIN = _measure("letter", "letter", "the Latin letter that the answer gives, by seldio's grammar")
LOOK = _measure("letter_by_look", "by look", "the letter of the answer, Cyrillic А, В, С, Е read as A, B, C, E")

#: What questions are grouped by.
_GROUPS = ("task", "modality", "category", "sub-category", "difficulty", "language")


@dataclasses.dataclass(frozen=True)
class ChoiceCase:
    """Which answers are right, with all that tables and notices may look at."""

    profile: str
    joined: Joined  # questions and predictions
    letters: Sequence[Letter | None]  # of the predictions
    #: by measure, the one that the profile counts first and READ last: 1 or 0; NaN where the question does not count
    measures: Mapping[Column, Floats]
    states: Sequence[str]  # what became of each reply, see :mod:`seldio.scores.replies`
    said: Sequence[str | None]  # what was read in each
    allow_missing: bool  # whether questions without prediction were let through

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns of every table: number of questions, each measure, chance."""
        return (ITEMS, *self.measures, CHANCE)

    @property
    def labels(self) -> dict[str, list[str]]:
        """Return the groups of each question, by the name of the grouping."""
        items = self.joined.items
        named: dict[str, list[object]] = {}
        if self.profile == "ruenvaqa":
            named = {"task_type": [item.task for item in items], "source_dataset": [item.dataset for item in items]}
            named["knowledge"] = values = []
            for item in items:
                value: object = item.extra
                for key in ("meta", "categories", "knowledge"):
                    value = value.get(key) if isinstance(value, Mapping) else None
                values.append(value)
        else:
            for name in _GROUPS:
                further = name not in ("task", "language")
                named[name] = [(item.extra or {}).get(name) if further else getattr(item, name) for item in items]
        groups = {name: [value if isinstance(value, str) else "" for value in each] for name, each in named.items()}
        return {name: [value or "not given" for value in each] for name, each in groups.items() if any(each)}

    def right(self, column: Column) -> Floats:
        """Return which answers are right, a question that does not count being wrong."""
        return np.nan_to_num(self.measures[column])

    def row(self, chosen: Ints | None = None) -> tuple[Cell, ...]:
        """Return the cells of :attr:`columns` over the questions with the numbers *chosen*, or over all questions."""
        numbers = np.arange(len(self.said)) if chosen is None else chosen
        parts = (values[numbers] for values in self.measures.values())
        shares = [float(part.mean()) if len(part) else math.nan for each in parts for part in [each[~np.isnan(each)]]]
        counts = np.array([len(item.options or ()) for item in self.joined.items], np.float64)[numbers]
        chance = float((1 / counts).mean()) if len(counts) and (counts > 0).all() else math.nan
        return (len(numbers), *shares, chance)

    def marked(self) -> MarkedAnswers:
        """Return for each question, by each measure, whether the answer is right."""
        joined = self.joined
        return MarkedAnswers(
            ANSWERS[self.profile],
            tuple(item.id for item in joined.items),
            intervals.numbered(map(intervals.recording_of, joined.items)),
            tuple(self.measures),
            np.stack([self.right(column) for column in self.measures], axis=1),
            np.array([row is not None for _, row in joined.pairs]),
        )

    def reply_verdicts(self) -> Iterator[ReplyVerdict]:
        """Yield the verdict on each reply; what counts is the first measure."""
        every = {column.name: self.right(column).tolist() for column in self.measures}
        for number, (item, row) in enumerate(self.joined.pairs):
            marks = {name: bool(values[number]) for name, values in every.items()}
            right, reply = next(iter(marks.values())), row.prediction if row is not None else None
            # a right letter is beyond doubt, though many official programs look for the text
            letter = marks["read"] and (marks["letter"] or marks.get("letter_by_look", False))
            differs = right != marks["read"] and not letter
            yield verdict_of(item, reply, self.said[number] or "", self.states[number], float(right), marks, differs)

    def notices(self) -> tuple[Notice, ...]:
        """Return all that apply, the grave ones first."""
        joined, differ = self.joined, len(self.joined.conflicting)
        names = [listed(ids, 3) for ids in (joined.surplus, joined.repeated)]
        missed = "without prediction: counted as wrong"
        if OFFICIAL in self.measures:
            missed = "without prediction: the official script skips them; “over all” counts them as wrong"
        elif self.profile == "ruenvaqa":
            missed += "; for MERA's server the whole task then scores 0"
        twice = f"with several predictions ({names[1]}), {differ:,} of which differ: the last one counts"
        notices = [
            *counted("missing", len(joined.missing), "question", missed, True),
            *counted("surplus", len(joined.surplus), "prediction", f"without question ({names[0]}) not counted"),
            *counted("repeated", len(joined.repeated), "question", twice, differ > 0),
        ]
        return in_order([*notices, *_noticed(self)])

    def report(self, system: str) -> ScoreReport:
        """Return the report on what was scored."""
        answered = sum(row is not None for _, row in self.joined.pairs)
        over = f"{plural(len(self.said), 'question')}, {answered:,} with a prediction"
        settings, verdict = {"allow_missing": self.allow_missing}, ""
        if self.profile == "ruenvaqa":
            settings |= {"ignore_case": True, "ignore_punctuation": True}
            first, *others = self.measures
            published = first.number(float(self.measures[first].mean()))
            verdict = (
                f"The number of MERA and of its paper is {first.title}: {published} %. "
                f"{listed([column.title for column in others], 9)} are other readings of the same replies, and no "
                "published numbers."
            )
        shown = tables(system, self), self.notices(), settings
        return ScoreReport(system, self.profile, ANSWERS[self.profile], over, *shown, verdict=verdict)


def count(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    *,
    profile: str = "multiple-choice",
    allow_missing: bool = False,
    ask: Ask | None = None,
) -> ChoiceCase:
    """Return which answers are right, by measure.

    Args:
        items: questions whose answer is the text of an option, of ruEnvAQA its Latin letter; those without options are
            held against the answer.
        predictions: joined by id; of several with one id, the last counts, as on MERA's server.
        profile: the way of scoring, of :data:`.scorers.ANSWERS`.
        allow_missing: whether some questions may lack a prediction, and some predictions a question.
        ask: asks a judge about the replies that are unread.

    Raises:
        DataError: predictions and questions do not fit, or answers are secret.
    """
    joined = join(items, predictions, allow_missing=allow_missing)
    letters = [letter_of(text) for text in joined.texts]
    readings = read_all(joined.pairs, joined.texts, ask)
    answered = np.array([row is not None for _, row in joined.pairs], dtype=bool)
    said = [reading.option for reading in readings]
    states = [state_of(reading) for reading in readings]
    marks: list[tuple[bool | None, ...]] = []
    if profile == "ruenvaqa":  # the right answer is the Latin letter of an option
        for number, (item, text, letter) in enumerate(zip(joined.items, joined.texts, letters, strict=True)):
            right, behind = item.answer or "", after_answer_word(text)
            place = option_place(right.strip(), len(item.options or ()))
            option = item.options[place] if item.options and place is not None else None
            exact = exact_match(text, right)
            look = letter is not None and letter.latin == right.strip().upper()
            worded = exact or (behind is not None and exact_match(behind, right))
            latin = look and letter is not None and not letter.cyrillic
            by_text = said[number] is not None and said[number] == option
            marks.append((exact, exact_match(text.strip(), right), worded, latin, look, look or by_text))
            if letter is not None:
                said[number], states[number] = letter.latin, f"read: letter, {letter.rule}"
        columns = (EXACT_MATCH, STRIPPED, ANSWER_WORD, LATIN, LOOK, READ)
        measures = dict(zip(columns, np.array(marks, np.float64).T, strict=True))
        measures |= {column: measures[column] * answered for column in (EXACT_MATCH, STRIPPED, ANSWER_WORD)}
    else:  # the right answer is the text of an option
        for number, (item, text, letter) in enumerate(zip(joined.items, joined.texts, letters, strict=True)):
            answer, options = item.answer or "", item.options or []
            same, option_exists = same_text(text, answer), answer in options
            index = letter.index if letter is not None else -1
            lettered = option_exists and 0 <= index < len(options) and options[index] == answer
            read = said[number] == answer if option_exists else same
            marks.append((text == answer, string_match(text, answer, options), same, lettered, read))
            if read and not item.options:
                states[number] = "read: text"
        exactly, matched, *others = np.array(marks, np.float64).T
        if profile == "dcase2026-task5":
            measures = {TOP_1: exactly, MATCH: matched}
        else:
            measures = {OFFICIAL: np.where(answered, matched, np.nan), OVER_ALL: matched, EXACT: exactly}
        measures |= dict(zip((TEXT, LETTER, READ), others, strict=True))
    states = [state if has_reply else state_of(None) for state, has_reply in zip(states, answered, strict=True)]
    return ChoiceCase(profile, joined, letters, measures, states, said, allow_missing)


# --- tables ----------------------------------------------------------------------------------------


def tables(system: str, case: ChoiceCase) -> tuple[Table, ...]:
    """Return the overall score, what became of the replies, and the score of each group of questions."""
    rows: list[tuple[Cell, ...]] = [(system, *case.row())]
    if case.profile == "ruenvaqa":
        published = about("ruenvaqa").results[0]
        measures = [column.name for column in case.columns]
        rows += ((row["system"], *(published.cell(row, name) for name in measures)) for row in published.rows)
    overall = Table("overall", "overall", (Column("system", "system"), *case.columns), tuple(rows))

    groups, by_label = case.labels, list[Table]()
    for name, each in intervals.groups_of(groups).items():
        title = name.replace("_", " ")
        cells = tuple((label, *case.row(numbers)) for label, numbers in each.items())
        by_label.append(Table(name, f"by {title}", (Column(name, title), *case.columns), cells))

    # the first measure and what is read, with intervals, over all questions and those of each label
    shown = [next(iter(case.measures)), READ]
    scored = np.flatnonzero(~np.isnan(case.measures[shown[0]])).tolist()
    values = np.stack([case.measures[column][scored] for column in shown], axis=1)
    clips = intervals.numbered(intervals.recording_of(case.joined.items[number]) for number in scored)
    sets = intervals.groups_of({name: [labels[number] for number in scored] for name, labels in groups.items()})
    sure = intervals.table(shown, values, clips, sets)
    return (overall, *replies.tables(case.states, case.measures[READ]), *by_label, sure)


# --- what there is to know -------------------------------------------------------------------------


def _noticed(case: ChoiceCase) -> Iterator[Notice]:
    """Yield what the replies and the questions say about the first measure."""
    joined, mera, first = case.joined, case.profile == "ruenvaqa", next(iter(case.measures))
    lost = np.flatnonzero(case.measures[READ] > case.right(first))
    if lost.size:
        text = (
            f"{plural(len(lost), 'reply', 'replies')} that a person reads as right and the official rule as wrong,"
            f" like “{clipped(joined.texts[lost[0]], 40)}”: see the column “{READ.title}”"
        )
        yield Notice("only-read", text, grave=True)
    differing = np.array([option is not None for option in case.said]) & (case.measures[READ] < case.right(first))
    text = "that the official rule counts as right and a person reads as another option"
    yield from counted("only-official", int(differing.sum()), "prediction", text, True)
    absent = []
    for item in joined.items:
        answer = (item.answer or "").upper() if mera else item.answer
        options = [*LETTERS[: len(item.options or ())]] if mera else item.options
        if options and answer not in options:
            absent.append(item.id)
    text = f"whose answer is {'the letter of no option' if mera else 'none of the options'} ({listed(absent, 3)})"
    yield from counted("answer-not-an-option", len(absent), "question", text, True)
    letters = zip(case.letters, joined.items, joined.texts, strict=True)
    alone = sum(
        letter is not None and letter.rule == "alone" and not any(same_text(text, each) for each in item.options or ())
        for letter, item, text in letters
    )
    text = "of one letter: string match looks for the text of an option and counts nearly all as wrong"
    yield from counted("letter-alone", 0 if mera else alone, "prediction", text, True)
    cyrillic = sum(letter is not None and letter.cyrillic for letter in case.letters)
    text = "with a Cyrillic letter, read by its look"
    text += "; exact match, MERA's number, counts it as wrong" if mera else ""
    yield from counted("cyrillic-letters", cyrillic, "prediction", text, mera)
