"""Accuracy over multiple-choice questions whose answer is the text of an option: MMAU, MMAR, seldio's own items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from seldio.answers.letters import letter_of
from seldio.answers.matching import chosen, passing, same_text, string_match
from seldio.reports.tables import Column, Notice, ScoreReport, Table, in_order
from seldio.schema.qa import Item, Prediction
from seldio.scores.accuracy import Joined, Measured, join, join_notices
from seldio.text import listed, plural

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
EITHER = Column(
    "either", "text or letter", "%", 1, "higher", "right by text or, where the text is no option, by letter"
)

#: What questions are grouped by: name and title of the table, and where the label is: a field or a key of ``extra``.
_GROUPS = (
    ("task", "by task"),
    ("modality", "by modality"),
    ("category", "by category"),
    ("sub-category", "by sub-category"),
    ("difficulty", "by difficulty"),
    ("language", "by language"),
)
_PROGRAMS = {
    "mmau": "MMAU: string match, as evaluation.py counts it",
    "mmar": "MMAR: string match, as code/evaluation.py counts it",
    "multiple-choice": "multiple choice: the words of the right option and of no wrong one, as MMAU and MMAR count it",
}


def score(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    *,
    system: str = "predictions",
    profile: str = "multiple-choice",
    allow_missing: bool = False,
) -> ScoreReport:
    """The score of *predictions*.

    Args:
        items: questions whose answer is the text of an option; those without options are held against the answer.
        predictions: joined by id.
        system: what was scored.
        profile: ``mmau``, ``mmar`` or ``multiple-choice``; they count alike.
        allow_missing: whether some questions may lack a prediction, and some predictions a question.

    Raises:
        DataError: predictions and questions do not fit, or answers are secret.
    """
    joined = join(items, predictions, allow_missing=allow_missing)
    answered = sum(row is not None for _, row in joined.pairs)
    over = f"{plural(len(joined.pairs), 'question')}, {answered:,} with a prediction"
    found = tables(system, joined, count(joined)), notices(joined)
    return ScoreReport(system, profile, _PROGRAMS.get(profile, profile), over, *found, {"allow_missing": allow_missing})


def count(joined: Joined) -> Measured:
    """Which answers are right, by measure."""
    triples = [
        (text, item.answer or "", item.options or [])
        for (item, _), text in zip(joined.pairs, joined.texts, strict=True)
    ]
    matched = np.array([string_match(*triple) for triple in triples], dtype=bool)
    there = np.array([row is not None for _, row in joined.pairs], dtype=bool)
    texts = np.array([same_text(text, answer) for text, answer, _ in triples], dtype=bool)
    letters = np.array([_by_letter(*triple) for triple in triples], dtype=bool)
    named = np.array([any(same_text(text, option) for option in options) for text, _, options in triples], dtype=bool)
    measures = {
        OFFICIAL: matched,
        OVER_ALL: matched,
        EXACT: np.array([text == answer for text, answer, _ in triples], dtype=bool),
        TEXT: texts,
        LETTER: letters,
        EITHER: texts | (letters & ~named),
    }
    return Measured(measures, [len(options) for *_, options in triples], {OFFICIAL: there})


def tables(system: str, joined: Joined, measured: Measured) -> tuple[Table, ...]:
    """The overall score, and that of each group of questions."""
    overall = Table("overall", "overall", (Column("system", "system"), *measured.columns),
                    ((system, *measured.row()),))  # fmt: skip
    items = [item for item, _ in joined.pairs]
    groups = [measured.table(name, title, [_label(item, name) for item in items]) for name, title in _GROUPS]
    groups.append(measured.table("options", "by number of options", measured.options))
    return (overall, *(table for table in groups if table is not None))


def _by_letter(text: str, answer: str, options: Sequence[str]) -> bool:
    return chosen(text, options)[1] == answer if answer in options else False


def _label(item: Item, name: str) -> str | None:
    value = getattr(item, name) if name in ("task", "language") else (item.extra or {}).get(name)
    return value if isinstance(value, str) and value else None


#: What is told of the join.
_JOINED = {
    "missing": "{count} without prediction: the official script skips them without a word, and its “No prediction "
    "count” is always 0; “over all” counts them as wrong",
    "surplus": "{count} without question not counted: {ids}",
    "repeated": "{count} with several predictions, {differ} of which differ: the last one counts",
    "by-order": "the predictions have no ids and were joined to the questions line by line",
}


def notices(joined: Joined) -> tuple[Notice, ...]:
    """All that apply, the grave ones first."""
    return in_order((*join_notices(joined, _JOINED), *_odd_options(joined), *_letters(joined)))


def _odd_options(joined: Joined) -> Iterator[Notice]:
    """Questions whose options do not tell the right one from the others."""
    items = [item for item, _ in joined.pairs]
    many = [item for item in items if item.options and len(set(item.options)) < len(item.options)]
    if many:
        gold = sum((item.options or []).count(item.answer or "") > 1 for item in many)
        text = (
            f"{plural(len(many), 'question')} with an option that stands twice, in {gold:,} of them the right one: "
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
