"""ruEnvAQA (MERA Multi): exact match of letters, and what the answers say."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from seldio.answers.letters import Letter, letter_of
from seldio.answers.matching import after_answer_word, exact_match
from seldio.formats.about import about
from seldio.formats.mera import CYRILLIC
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order
from seldio.schema.qa import Item, Prediction
from seldio.scores import replies
from seldio.scores.multiple_choice import READ, Flags, Joined, Measured, join, join_notices
from seldio.scores.replies import Server, read_all, state_of
from seldio.scores.verdicts import ReplyVerdict, of_choices
from seldio.text import clipped, listed, plural

#: Where lm-eval ends an answer: generate_until of a task without generation_kwargs.
UNTIL = "\n\n"
_CYRILLIC_OPTION = re.compile(rf"(?<!\w)[{''.join(CYRILLIC)}](?!\w)(?=,|\s*\.)")


@dataclasses.dataclass(frozen=True)
class RuenvaqaCase:
    """What a notice may look at."""

    joined: Joined  # questions and predictions
    letters: Sequence[Letter | None]  # of the predictions
    measured: Measured  # which of them are right

    def lost(self) -> Iterator[tuple[str, str, Letter]]:
        """Text, right letter and found letter of answers that give the right one and that exact match counts wrong."""
        for (item, row), found in zip(self.joined.pairs, self.letters, strict=True):
            text, right = (row.prediction or "") if row else "", item.answer or ""
            if found is not None and found.latin == right.strip().upper() and not exact_match(text, right):
                yield text, right, found


#: What is told of the join.
_JOINED = {
    "missing": "{count} without prediction, counted as wrong here; for MERA's server the whole task then scores 0",
    "surplus": "{count} without question ({ids}) not counted; MERA's server ignores them too",
    "repeated": "{count} with several predictions ({ids}), {differ} of which differ: the last one counts, as on MERA's "
    "server, which does not say so",
}


def notices(case: RuenvaqaCase) -> tuple[Notice, ...]:
    """All that apply, the grave ones first."""
    found = [*join_notices(case.joined, _JOINED), *_gold(case), *_lost(case), *_cyrillic(case), *_cut(case)]
    empty = sum(row is not None and not (row.prediction or "").strip() for _, row in case.joined.pairs)
    if empty:
        text = f"{plural(empty, 'answer')} empty: counted as wrong, for MERA's server an answer all the same"
        found.append(Notice("empty", text))
    return in_order(found)


def _gold(case: RuenvaqaCase) -> Iterator[Notice]:
    odd = [item.id for item, _ in case.joined.pairs if not _is_option(item.answer or "", len(item.options or ()))]
    if odd:
        count = plural(len(odd), "question")
        text = f"the right answer of {count} is not the Latin letter of an option ({listed(odd, 3)})"
        yield Notice("odd-answer", text, grave=True)


def _is_option(answer: str, options: int) -> bool:
    return len(answer) == 1 and answer.isascii() and 0 <= ord(answer.upper()) - ord("A") < (options or 26)


#: Why a right answer is counted as wrong, by notice: behind its number, with an example.
_LOST = {
    "white-space": "for the whitespace around the letter, like {}: strip what the model writes",
    "text-around": "for the text around the letter, like {}: submit the letter alone",
    "answer-word": "for the word ОТВЕТ before the letter, like {}, although most instructions ask for it: the "
    "published harness applies no filter, MERA's site does",
    "option-text": "for the text of the option instead of its letter, like {}: ask for the letter",
}


def _lost(case: RuenvaqaCase) -> Iterator[Notice]:
    """Answers that give the right letter and that exact match counts as wrong."""
    found: dict[str, list[str]] = {name: [] for name in _LOST}
    for text, right, letter in case.lost():
        if exact_match(text.strip(), right):
            found["white-space"].append(text)
        if not letter.cyrillic and after_answer_word(text) is not None:
            found["answer-word"].append(text)
        elif not letter.cyrillic and not exact_match(text.strip(), right):
            found["text-around"].append(text)
    by_text = case.measured.measures[READ] & ~case.measured.measures[LOOK] & ~case.measured.measures[EXACT]
    # a letter that is read by its place in another alphabet is no text
    found["option-text"] = [case.joined.texts[n] for n in np.flatnonzero(by_text).tolist() if case.letters[n] is None]
    for name, texts in found.items():
        if texts:
            why = _LOST[name].format(f"“{clipped(texts[0], 30)}”")
            yield Notice(name, f"{plural(len(texts), 'right answer')} counted as wrong {why}", grave=True)


def _cyrillic(case: RuenvaqaCase) -> Iterator[Notice]:
    found = sum(letter is not None and letter.cyrillic for letter in case.letters)
    if found:
        right = sum(letter.cyrillic for *_, letter in case.lost())
        told = sum(bool(_CYRILLIC_OPTION.search(item.instruction or "")) for item, _ in case.joined.pairs)
        text = (
            f"{plural(found, 'answer')} with a Cyrillic letter, {right:,} of which look right: exact match counts "
            f"all as wrong. Here the instructions of {plural(told, 'question')} call an option by a Cyrillic letter"
        )
        yield Notice("cyrillic-letters", text, grave=True)


def _cut(case: RuenvaqaCase) -> Iterator[Notice]:
    pairs = zip(case.joined.pairs, case.joined.texts, strict=True)
    long = [(item.answer or "", text) for (item, _), text in pairs if UNTIL in text]
    if long:
        kept = sum(exact_match(text.split(UNTIL)[0], right) for right, text in long)
        text = (
            f"{plural(len(long), 'answer')} with a blank line: the published harness stops a model there, before any "
            f"answer that follows its reasoning; of what it would have kept, {kept:,} match"
        )
        yield Notice("blank-line", text, grave=True)


EXACT = Column(
    "exact_match", "exact", "%", 1, "higher",
    "exact_match of MERA's ruenvaqa.yaml: case and ASCII punctuation do not matter, whitespace does",
)  # fmt: skip
STRIPPED = Column("stripped", "stripped", "%", 1, "higher", "exact match without the whitespace around the answer")
ANSWER_WORD = Column(
    "answer_word", "ОТВЕТ", "%", 1, "higher",
    "exact match of the answer or of what follows the last ОТВЕТ in it, whichever is right; MERA's site has such "
    "a rule, its code is not public",
)  # fmt: skip
LETTER = Column("letter", "letter", "%", 1, "higher", "the Latin letter that the answer gives, by seldio's grammar")
LOOK = Column(
    "letter_by_look", "by look", "%", 1, "higher", "the letter of the answer, Cyrillic А, В, С, Е read as A, B, C, E"
)

_RIGHT = "", 0, "higher"
_HOMOGLYPHS = (
    Column("written", "letter written"),
    Column("code_point", "code point"),
    Column("count", "answers", "", 0, None, "answers that give this letter"),
    Column("right_by_look", "right by look", "", 0, "higher", "right if read as the Latin letter that it looks like"),
    Column("right_by_alphabet", "right by alphabet", "", 0, "higher", "right if А, Б, В, Г are the first four options"),
)
_RULES = (
    Column("rule", "form of the answer"),
    Column("count", "answers", "", 0, None, "answers of this form"),
    Column("exact", "counted right", "", 0, "higher", "of which exact match counts as right"),
    Column("right", "right letter", "", 0, "higher", "of which give the right letter, Cyrillic ones by look"),
)
_FORMS = {
    "alone": "a letter alone",
    "corrected": "a letter taken back for another",
    "answer word": "a letter after the answer word",
    "first": "a letter, then text",
    "named": "a letter after “option”",
    "only": "the only letter that is left",
    "none": "no letter, or several",
    "empty": "empty",
    "missing": "no prediction",
}


def score(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    *,
    system: str = "predictions",
    allow_missing: bool = False,
    take: Callable[[Iterator[ReplyVerdict]], object] | None = None,
    server: Server | None = None,
) -> ScoreReport:
    """The score of *predictions*; a question without prediction counts as wrong.

    Args:
        items: questions with two or more options, and the Latin letter of the right one as answer.
        predictions: joined by id; of several with one id, the last counts, as on MERA's server.
        system: what was scored.
        allow_missing: whether some questions may lack a prediction, and some predictions a question.
        take: is handed the verdicts on all replies.
        server: a judge of the replies that are unread.

    Raises:
        DataError: predictions and questions do not fit, or answers are secret.
    """
    joined = join(items, predictions, allow_missing=allow_missing)
    case = count(joined, server)
    if take is not None:
        take(of_choices(joined, case.measured))
    over = f"{plural(len(joined.pairs), 'question')}, {sum(row is not None for _, row in joined.pairs):,} answered"
    title = "ruEnvAQA (MERA Multi): exact match, case and ASCII punctuation ignored"
    settings = {"ignore_case": True, "ignore_punctuation": True, "allow_missing": allow_missing}
    return ScoreReport(system, "ruenvaqa", title, over, tables(system, case), notices(case), settings)


def tables(system: str, case: RuenvaqaCase) -> tuple[Table, ...]:
    """The overall score, that of groups of questions, and what the answers look like."""
    columns = case.measured.columns
    rows: list[tuple[Cell, ...]] = [(system, *case.measured.row())]
    known = about("ruenvaqa").results[0]
    rows += ((row["system"], *(known.cell(row, column.name) for column in columns)) for row in known.rows)
    overall = Table("overall", "overall", (Column("system", "system"), *columns), tuple(rows))
    items = [item for item, _ in case.joined.pairs]
    labels = {"task_type": [item.task for item in items], "source_dataset": [item.dataset for item in items]}
    shown = [overall, *replies.tables(case.measured.states, case.measured.measures[READ].astype(float))]
    return (*shown, *_groups(case), _forms(case), *_homoglyphs(case), case.measured.intervals(items, labels))


def count(joined: Joined, server: Server | None = None) -> RuenvaqaCase:
    """The letters of answers, and which of them are right."""
    letters = tuple(letter_of(text) for text in joined.texts)
    gold = [item.answer or "" for item, _ in joined.pairs]
    there = np.array([row is not None for _, row in joined.pairs], dtype=bool)
    texts = joined.texts
    exact = _flags(exact_match(text, right) for text, right in zip(texts, gold, strict=True)) & there
    stripped = _flags(exact_match(text.strip(), right) for text, right in zip(texts, gold, strict=True)) & there
    behind = [after_answer_word(text) for text in texts]
    worded = _flags(part is not None and exact_match(part, right) for part, right in zip(behind, gold, strict=True))
    look = _flags(
        found is not None and found.latin == right.strip().upper() for found, right in zip(letters, gold, strict=True)
    )
    latin = _flags(found is not None and not found.cyrillic for found in letters)
    right = [_option(item) for item, _ in joined.pairs]
    said = read_all(joined.pairs, texts, server)
    named = _flags(option is not None and each.option == option for each, option in zip(said, right, strict=True))
    measures = {EXACT: exact, STRIPPED: stripped, ANSWER_WORD: exact | worded, LETTER: look & latin, LOOK: look,
                READ: look | named}  # fmt: skip
    states = [
        f"read: {_FORMS[letter.rule]}"
        if letter is not None and row is not None
        else state_of(each if row is not None else None)
        for each, (_, row), letter in zip(said, joined.pairs, letters, strict=True)
    ]
    options = [len(item.options or ()) for item, _ in joined.pairs]
    read = [letter.latin if letter is not None else each.option for letter, each in zip(letters, said, strict=True)]
    return RuenvaqaCase(joined, letters, Measured(measures, options, {}, states, read))


def _option(item: Item) -> str | None:
    """The text of the right option."""
    number = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".find((item.answer or "").strip().upper() or "?")
    return item.options[number] if item.options and 0 <= number < len(item.options) else None


def _flags(values: object) -> Flags:
    return np.fromiter(values, dtype=bool)  # type: ignore[call-overload, no-any-return]


def _groups(case: RuenvaqaCase) -> list[Table]:
    items = [item for item, _ in case.joined.pairs]
    found = (
        case.measured.table("task_type", "by type of task", [item.task for item in items]),
        case.measured.table("source_dataset", "by source of the recording", [item.dataset for item in items]),
        case.measured.table("knowledge", "by knowledge", [_knowledge(item) for item in items]),
        case.measured.table("options", "by number of options", case.measured.options),
        case.measured.table("instruction", "by instruction", _instructions(items)),
    )
    return [table for table in found if table is not None]


def _knowledge(item: Item) -> str | None:
    value: object = item.extra
    for key in ("meta", "categories", "knowledge"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else None


def _instructions(items: Sequence[Item]) -> list[str | None]:
    """A label for each instruction: its number in order of appearance, its length, and how it ends."""
    numbers: dict[str, int] = {}
    labels: list[str | None] = []
    for item in items:
        if item.instruction is None:
            labels.append(None)
            continue
        number = numbers.setdefault(item.instruction, len(numbers) + 1)
        end = " ".join(item.instruction.split())
        labels.append(f"{number:02}: {end if len(end) <= 40 else '…' + end[-39:]}")
    return labels


def _forms(case: RuenvaqaCase) -> Table:
    """How the answers look, and what exact match makes of each form."""
    exact, look = case.measured.measures[EXACT], case.measured.measures[LOOK]
    forms = [_form(row, found) for (_, row), found in zip(case.joined.pairs, case.letters, strict=True)]
    rows = []
    for form, title in _FORMS.items():
        here = np.array([each == form for each in forms], dtype=bool)
        if here.any():
            rows.append((title, int(here.sum()), int((here & exact).sum()), int((here & look).sum())))
    return Table("forms", "by form of the answer", _RULES, tuple(rows))


def _form(row: Prediction | None, found: Letter | None) -> str:
    if row is None:
        return "missing"
    if not (row.prediction or "").strip():
        return "empty"
    return "none" if found is None else found.rule


def _homoglyphs(case: RuenvaqaCase) -> list[Table]:
    """Cyrillic letters that were answered; no table where there are none."""
    read: dict[str, list[int]] = {}  # how often each, right by look, right by alphabet
    for (item, _), found in zip(case.joined.pairs, case.letters, strict=True):
        if found is not None and found.cyrillic:
            right, counts = (item.answer or "").strip().upper(), read.setdefault(found.written, [0, 0, 0])
            for number, counted in enumerate((True, found.latin == right, found.by_alphabet == right)):
                counts[number] += counted
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (letter, f"U+{ord(letter):04X}", *counts) for letter, counts in sorted(read.items())
    )
    title = "Cyrillic letters answered, which exact match never takes for Latin ones"
    return [Table("homoglyphs", title, _HOMOGLYPHS, rows)] if rows else []
