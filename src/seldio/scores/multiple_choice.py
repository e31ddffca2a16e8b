"""Accuracy over multiple-choice questions whose answer is the text of an option: MMAU, MMAR, ADQA, seldio's items."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from seldio.answers.letters import letter_of
from seldio.answers.matching import chosen, passing, same_text, string_match
from seldio.errors import DataError
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order
from seldio.schema.qa import Item, Prediction, cause_of_surplus
from seldio.scores import intervals, replies
from seldio.scores.replies import Server, read_all, state_of
from seldio.scores.verdicts import ReplyVerdict, of_choices
from seldio.text import clipped, listed, plural, printable

# --- what scorers of options share: the join, and shares of right answers --------------------------


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
    def texts(self) -> list[str]:
        """The text of each prediction, empty where there is none."""
        return [(row.prediction or "") if row is not None else "" for _, row in self.pairs]


def join(items: Sequence[Item], predictions: Sequence[Prediction], *, allow_missing: bool = False) -> Joined:
    """Join by id; of several predictions with one id, the last counts.

    Raises:
        DataError: there is nothing to score, an answer is secret, an id stands on two questions, or something is
            missing or left over.
    """
    _check(items)
    ids = [row.id for row in predictions]
    if None in ids:
        raise DataError(
            f"{plural(ids.count(None), 'prediction')} of {len(ids):,} without id: it cannot be told which question "
            "each answers. Write the id of its question on every prediction; --join order joins those that have none "
            "line by line"
        )
    answers: dict[str, list[Prediction]] = {}
    for row in predictions:
        answers.setdefault(row.id or "", []).append(row)
    known, repeated = {item.id for item in items}, tuple(id for id, rows in answers.items() if len(rows) > 1)
    joined = Joined(
        tuple((item, answers.get(item.id, (None,))[-1]) for item in items),
        tuple(item.id for item in items if item.id not in answers),
        tuple(id for id in answers if id not in known),
        repeated,
        tuple(id for id in repeated if len({row.prediction for row in answers[id]}) > 1),
    )
    if not allow_missing:
        _whole(joined)
    return joined


def _check(items: Sequence[Item]) -> None:
    if not items:
        raise DataError("no questions to score answers to")
    twice = [id for id, count in Counter(item.id for item in items).items() if count > 1]
    if twice:
        raise DataError(f"several questions have the id {listed(twice)}: no prediction can be joined to them")
    secret = [item.id for item in items if item.answer is None]
    if secret:
        every = "all" if len(secret) == len(items) else f"{len(secret):,} of {len(items):,}"
        raise DataError(
            f"the right answer of {every} questions is not in the file ({listed(secret)}): "
            "only those who keep them secret can score these predictions"
        )


def _whole(joined: Joined) -> None:
    parts = []
    if joined.missing:
        count = plural(len(joined.missing), "question")
        parts.append(f"{count} of {len(joined.pairs):,} without prediction ({listed(joined.missing)})")
    if joined.surplus:
        parts.append(f"{plural(len(joined.surplus), 'prediction')} without question ({listed(joined.surplus)})")
    if parts:
        cause = cause_of_surplus(joined.surplus, joined.missing)
        because = f": {printable(cause)}" if cause else ""
        raise DataError(f"{', and '.join(parts)}{because}. Correct the ids, or use --allow-missing")


def join_notices(joined: Joined, texts: Mapping[str, str]) -> Iterator[Notice]:
    """What there is to know of a join, in the words of *texts* (``{count}``, ``{ids}``, ``{differ}``)."""
    differ = len(joined.conflicting)
    for name, noun, ids, grave in (
        ("missing", "question", joined.missing, True),
        ("surplus", "prediction", joined.surplus, False),
        ("repeated", "question", joined.repeated, differ > 0),
    ):
        if ids:
            text = texts[name].format(count=plural(len(ids), noun), ids=listed(ids, 3), differ=f"{differ:,}")
            yield Notice(name, text, grave)


# --- shares ----------------------------------------------------------------------------------------

Flags = npt.NDArray[np.bool_]

ITEMS = Column("items", "items", "", 0, None, "number of questions in this row")
CHANCE = Column("chance", "chance", "%", 1, None, "expected of guessing evenly among the options")


@dataclasses.dataclass(frozen=True)
class Measured:
    """Which answers are right, by measure."""

    measures: Mapping[Column, Flags]  # for each column a flag for each question
    options: Sequence[int]  # how many options each question has; 0 where it has none
    #: of a column whose share is not over all questions, those that it is over
    base: Mapping[Column, Flags] = dataclasses.field(default_factory=dict)
    states: Sequence[str] = ()  # what became of each reply, see :mod:`seldio.scores.replies`
    said: Sequence[str | None] = ()  # what was read in each

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of every table: how many questions, each measure, and guessing."""
        return (ITEMS, *self.measures, CHANCE)

    def row(self, chosen: Sequence[int] | None = None) -> tuple[Cell, ...]:
        """The cells of :attr:`columns` over the questions with the numbers *chosen*; over all without."""
        numbers = np.arange(len(self.options)) if chosen is None else np.asarray(chosen, dtype=np.intp)
        shares = [self._share(column, flags, numbers) for column, flags in self.measures.items()]
        counts = np.asarray(self.options, dtype=float)[numbers]
        chance = float((1 / counts).mean()) if len(counts) and (counts > 0).all() else math.nan
        return (len(numbers), *shares, chance)

    def _share(self, column: Column, flags: Flags, numbers: npt.NDArray[np.intp]) -> float:
        base = self.base.get(column)
        kept = numbers if base is None else numbers[base[numbers]]
        return float(flags[kept].mean()) if len(kept) else math.nan

    def intervals(self, items: Sequence[Item], labels: Mapping[str, Sequence[str | None]]) -> Table:
        """The first measure and what is read, with intervals, over all *items* and over those of each label."""
        columns = [next(iter(self.measures)), READ]
        counted = np.flatnonzero(self.base.get(columns[0], np.ones(len(items), dtype=bool)))
        values = np.stack([self.measures[column][counted].astype(np.float64) for column in columns], axis=1)
        chosen = {name: [each[number] for number in counted.tolist()] for name, each in labels.items()}
        clips = intervals.numbered(intervals.recording_of(items[number]) for number in counted.tolist())
        return intervals.table(columns, values, clips, intervals.groups_of(chosen))

    def table(
        self, name: str, title: str, labels: Sequence[str | int | None], absent: str = "not given"
    ) -> Table | None:
        """A row for each label, in alphabetical order (numbers by size); None where no question has one."""
        groups: dict[Hashable, list[int]] = {}
        for number, label in enumerate(labels):
            groups.setdefault(label, []).append(number)
        if set(groups) <= {None}:
            return None
        order = sorted(groups, key=lambda label: (label is None, label if isinstance(label, int) else 0, str(label)))
        rows = tuple((absent if label is None else str(label), *self.row(groups[label])) for label in order)
        return Table(name, title, (Column(name, name.replace("_", " ")), *self.columns), rows)


# --- the score -------------------------------------------------------------------------------------

OFFICIAL = Column(
    "accuracy", "accuracy", "%", 1, "higher",
    "string match of the official script, over questions with a prediction: a missing one is skipped there",
)  # fmt: skip
OVER_ALL = Column("over_all", "over all", "%", 1, "higher", "string match, a missing prediction counting as wrong")
EXACT = Column("exact", "exact text", "%", 1, "higher", "the text of the right option, character by character")
TEXT = Column(
    "text", "text", "%", 1, "higher", "the text of the right option, without case, punctuation and the option's label"
)
LETTER = Column(
    "letter", "letter", "%", 1, "higher", "the letter of the right option, Cyrillic ones read by their look"
)
READ = Column("read", "as read", "%", 1, "higher", "the option that the reply names in the end, as a person reads it")

TOP_1 = Column(
    "accuracy", "accuracy", "%", 1, "higher",
    "top-1: the text of the right option, character by character; a missing prediction counts as wrong",
)  # fmt: skip
MATCH = Column("string_match", "string match", "%", 1, "higher", "as MMAU and MMAR match options, over all questions")

#: What questions are grouped by: name and title of the table, and where the label is: a field or a key of ``extra``.
_GROUPS = (
    ("task", "by task"),
    ("modality", "by modality"),
    ("category", "by category"),
    ("sub-category", "by sub-category"),
    ("difficulty", "by difficulty"),
    ("language", "by language"),
)
#: What each profile counts, by its name.
PROGRAMS = {
    "mmau": "MMAU: string match, as evaluation.py counts it",
    "mmar": "MMAR: string match, as code/evaluation.py counts it",
    "dcase2026-task5": "DCASE 2026 Task 5 (ADQA): top-1 accuracy",
    "multiple-choice": "multiple choice: the words of the right option and of no wrong one, as MMAU and MMAR count it",
}


def score(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    *,
    system: str = "predictions",
    profile: str = "multiple-choice",
    allow_missing: bool = False,
    take: Callable[[Iterator[ReplyVerdict]], object] | None = None,
    server: Server | None = None,
) -> ScoreReport:
    """The score of *predictions*.

    Args:
        items: questions whose answer is the text of an option; those without options are held against the answer.
        predictions: joined by id.
        system: what was scored.
        profile: ``mmau``, ``mmar`` or ``multiple-choice``, which count alike, or ``dcase2026-task5``.
        allow_missing: whether some questions may lack a prediction, and some predictions a question.
        take: is handed the verdicts on all replies.
        server: a judge of the replies that are unread.

    Raises:
        DataError: predictions and questions do not fit, or answers are secret.
    """
    joined = join(items, predictions, allow_missing=allow_missing)
    answered = sum(row is not None for _, row in joined.pairs)
    over = f"{plural(len(joined.pairs), 'question')}, {answered:,} with a prediction"
    measured = count(joined, top_1=profile == "dcase2026-task5", server=server)
    if take is not None:
        take(of_choices(joined, measured))
    top_1 = TOP_1 in measured.measures
    official = measured.measures[TOP_1 if top_1 else OFFICIAL]
    told = *only_read(joined.texts, official, measured.measures[READ]), *notices(joined, _TOP_1 if top_1 else _JOINED)
    found = tables(system, joined, measured), in_order(told)
    return ScoreReport(system, profile, PROGRAMS.get(profile, profile), over, *found, {"allow_missing": allow_missing})


def count(joined: Joined, *, top_1: bool = False, server: Server | None = None) -> Measured:
    """Which answers are right, by measure; with *top_1*, *accuracy* is that of ADQA."""
    triples = [
        (text, item.answer or "", item.options or [])
        for (item, _), text in zip(joined.pairs, joined.texts, strict=True)
    ]
    matched = np.array([string_match(*triple) for triple in triples], dtype=bool)
    there = np.array([row is not None for _, row in joined.pairs], dtype=bool)
    texts = np.array([same_text(text, answer) for text, answer, _ in triples], dtype=bool)
    letters = np.array(
        [answer in options and chosen(text, options)[1] == answer for text, answer, options in triples], dtype=bool
    )
    exact = np.array([text == answer for text, answer, _ in triples], dtype=bool)
    first = {TOP_1: exact, MATCH: matched} if top_1 else {OFFICIAL: matched, OVER_ALL: matched, EXACT: exact}
    said = read_all(joined.pairs, joined.texts, server)
    read = np.array(
        [
            found.option == answer if answer in options else same_text(text, answer)
            for found, (text, answer, options) in zip(said, triples, strict=True)
        ],
        dtype=bool,
    )
    measures = {**first, TEXT: texts, LETTER: letters, READ: read}
    states = [
        "read: text" if right and not item.options else state_of(found if row is not None else None)
        for found, (item, row), right in zip(said, joined.pairs, read, strict=True)
    ]
    options, base = [len(options) for *_, options in triples], {} if top_1 else {OFFICIAL: there}
    return Measured(measures, options, base, states, [found.option for found in said])


def only_read(texts: Sequence[str], official: Flags, read: Flags) -> Iterator[Notice]:
    """Replies that a person reads as right and the official program does not."""
    if (lost := np.flatnonzero(read & ~official)).size:
        text = (
            f"{plural(len(lost), 'reply', 'replies')} that a person reads as right and the official rule as wrong,"
            f" like “{clipped(texts[lost[0]], 40)}”: see the column “{READ.title}”"
        )
        yield Notice("only-read", text, grave=True)


def tables(system: str, joined: Joined, measured: Measured) -> tuple[Table, ...]:
    """The overall score, and that of each group of questions."""
    overall = Table("overall", "overall", (Column("system", "system"), *measured.columns),
                    ((system, *measured.row()),))  # fmt: skip
    items = [item for item, _ in joined.pairs]
    groups = [measured.table(name, title, [_label(item, name) for item in items]) for name, title in _GROUPS]
    groups.append(measured.table("options", "by number of options", measured.options))
    groups.append(measured.intervals(items, {name: [_label(item, name) for item in items] for name, _ in _GROUPS}))
    groups[:0] = replies.tables(measured.states, measured.measures[READ].astype(float))
    return (overall, *(table for table in groups if table is not None))


def _label(item: Item, name: str) -> str | None:
    value = getattr(item, name) if name in ("task", "language") else (item.extra or {}).get(name)
    return value if isinstance(value, str) and value else None


#: What is told of the join.
_JOINED = {
    "missing": "{count} without prediction: the official script silently skips them, and its “No prediction "
    "count” is always 0; “over all” counts them as wrong",
    "surplus": "{count} without question not counted: {ids}",
    "repeated": "{count} with several predictions, {differ} of which differ: the last one counts",
}
#: The same for ADQA, whose organisers have not published their program.
_TOP_1 = _JOINED | {"missing": "{count} without prediction: counted as wrong"}


def notices(joined: Joined, texts: Mapping[str, str] = _JOINED) -> tuple[Notice, ...]:
    """All that apply, the grave ones first; those of the join in the words of *texts*."""
    found = (*join_notices(joined, texts), *_odd_options(joined), *_letters(joined))
    return in_order(found) if texts is _JOINED else in_order((*found, *_unfolded(joined)))


def _unfolded(joined: Joined) -> Iterator[Notice]:
    """Answers that name the right option in another spelling, which ADQA's top-1 accuracy counts as wrong."""
    pairs = zip(joined.pairs, joined.texts, strict=True)
    near = sum(text != item.answer and same_text(text, item.answer or "") for (item, _), text in pairs)
    if near:
        text = f"{plural(near, 'prediction')} that would be right without regard to case, punctuation and label: "
        yield Notice("not-the-text", text + "write the text of the option as the question has it", grave=True)


def _odd_options(joined: Joined) -> Iterator[Notice]:
    """Questions whose options do not tell the right one from the others."""
    items = [item for item, _ in joined.pairs]
    many = [item for item in items if item.options and len(set(item.options)) < len(item.options)]
    if many:
        gold = sum((item.options or []).count(item.answer or "") > 1 for item in many)
        text = (
            f"{plural(len(many), 'question')} with an option that appears twice, in {gold:,} of them the right one: "
            "each of its letters counts as right here; a scorer that looks for one letter counts one of them as wrong"
        )
        yield Notice("repeated-options", text)
    absent = [item.id for item in items if item.options and item.answer not in item.options]
    if absent:
        text = f"{plural(len(absent), 'question')} whose answer is none of the options ({listed(absent, 3)}): "
        yield Notice("answer-not-an-option", text + "no letter is right, and the text only by what it says", grave=True)
    alike = [passing(item.answer or "", item.options or []) for item in items]
    if any(alike):
        scored = sum(
            any(same_text(text, option) for option in options)
            for options, text in zip(alike, joined.texts, strict=True)
        )
        text = (
            f"{plural(sum(map(bool, alike)), 'question')} where string match takes a wrong option for the right one, "
            "since it has the same words in another order or number: "
            f"{plural(scored, 'prediction')} got that for nothing"
        )
        yield Notice("same-words", text, grave=scored > 0)


def _letters(joined: Joined) -> Iterator[Notice]:
    """Answers that are a letter, which the official script does not read."""
    letters = [letter_of(text) for text in joined.texts]
    alone = sum(
        found is not None and found.rule == "alone" and not any(same_text(text, each) for each in item.options or ())
        for found, (item, _), text in zip(letters, joined.pairs, joined.texts, strict=True)
    )
    if alone:
        text = f"{plural(alone, 'prediction')} of one letter: string match looks for the text of an option"
        yield Notice("letter-alone", f"{text} and counts nearly all as wrong", grave=True)
    cyrillic = sum(found is not None and found.cyrillic for found in letters)
    if cyrillic:
        yield Notice("cyrillic-letters", f"{plural(cyrillic, 'prediction')} with a Cyrillic letter, read by its look")
