"""PRD12, PRD13, PRD20 and PRD21: predictions and the questions they answer, and the submissions of MERA.

Most official scorers do not report these faults; what they do instead is in :data:`JOINS`.
"""

from __future__ import annotations

import dataclasses
import json
import re
import string
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from seldio.files.names import written_suffix
from seldio.findings import Finding
from seldio.formats.base import Ints
from seldio.formats.items import ItemReading
from seldio.formats.mera import AS_WRITTEN, CYRILLIC, MERA_TASK, dig, id_value, task_name
from seldio.formats.qa_csv import INSTRUCTIONS, KEYWORDS
from seldio.rules import findings
from seldio.rules.collection import MakeFinding
from seldio.rules.item_table import OUTPUTS, ItemTable, rows_where
from seldio.schema.arrays import pc
from seldio.schema.qa import Item, cause_of_surplus, difference, loose, same_audio, same_task
from seldio.text import clipped, listed, plural, printable

#: The benchmark of each format of predictions.
_OF = {"so-bench-predictions": "so-bench", "jasco-predictions": "jasco", "ruenvaqa-submission": "ruenvaqa"}


@dataclasses.dataclass(frozen=True)
class ItemReference:
    """The questions that predictions are checked against."""

    path: str  # as the user passed it
    #: those of a file; None where the reference is a folder of MERA's tasks without ruEnvAQA
    questions: ItemReading | None = None
    #: for MERA the right outputs of each task by id, as its files have them
    tasks: Mapping[str, Mapping[Any, Any]] = dataclasses.field(default_factory=dict)


#: By benchmark, what its official scorer does with predictions that do not fit its questions.
JOINS = tomllib.loads((Path(__file__).parent / "joins.toml").read_text("utf-8"))


class Answered:
    """Predictions, or questions with a model's outputs, and the questions (each id once) that they are joined to."""

    def __init__(self, reading: ItemReading, questions: ItemReading) -> None:
        #: the format of the predictions, and the reference as people see it
        self.home, self.path, self.finding = reading.home, printable(questions.path), reading.finding
        self.answers, self.questions = ItemTable(reading), ItemTable(questions)
        name = _OF.get(reading.home, reading.home)
        #: what the benchmark's scorer does, see :data:`JOINS`
        self.join: dict[str, str] = JOINS["any"] | JOINS.get(name if name in JOINS else questions.home, {})
        #: how many predictions have no id, and are joined by order
        self.nameless = self.answers.column("id").null_count
        #: whether predictions are joined by order but differ in number from the questions
        self.counts_differ = bool(self.nameless) and len(self.answers) != len(self.questions)

    @cached_property
    def question(self) -> Ints:
        """The row of the question that each prediction is joined to, by id or else by position; -1 if none."""
        ids = self.answers.column("id")
        row = pc.fill_null(pc.index_in(ids, value_set=self.questions.column("id")), -1).to_numpy(zero_copy_only=False)
        order = np.arange(len(row))
        order[len(self.questions) :] = -1
        return np.where(self.answers.known("id"), row, order).astype(np.int64)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Prediction and question of those that are joined; none by order where the counts differ."""
        joined = self.question >= 0
        if self.counts_differ:
            joined &= self.answers.known("id")
        rows = rows_where(joined)
        return list(zip(rows, self.question[rows].tolist(), strict=True))

    def same(self, field: Literal["audio", "task"], row: int, item: int) -> bool:
        """Return whether a prediction and a question have the same recording or task, or one of them has none."""
        alike = same_audio if field == "audio" else same_task
        return bool(alike(self.answers.values(field)[row], self.questions.values(field)[item]))

    def hint(self, row: int, field: Literal["audio", "task"]) -> str:
        """Return the hint on a prediction whose recording or task differs from that of its question."""
        return self.join["order"] if self.answers.values("id")[row] is None else self.join[field]

    def called(self, row: int, item: int) -> str:
        """Return a question, as shown to people."""
        name = clipped(self.questions.values("id")[item])
        return name if self.answers.values("id")[row] is not None else f"the question in its position, {name},"


def has_outputs(reading: ItemReading) -> bool:
    """Return whether a file holds predictions, including outputs stored with their questions."""
    if reading.format.holds == "predictions" or "prediction" in reading.table.column_names:
        return True
    return reading.home in OUTPUTS and any(output is not _ABSENT for output in outputs(ItemTable(reading)))


_ABSENT = object()


def outputs(table: ItemTable) -> list[Any]:
    """Return the model's outputs stored with questions, of any type; ``_ABSENT`` where there is none."""
    return [table.extra(row).get(OUTPUTS[table.home], _ABSENT) for row in range(len(table))]


#: Fields of the questions that JASCO's predictions repeat, and their names in the questions.
_JASCO_COPIES = {
    "audio_sound": "Audio", "spoken_text": "Speech", "audio_only_target": "Audio-Only Answer",
    "speech_only_target": "Speech-Only Answer", "target_keywords": KEYWORDS,
}  # fmt: skip


def missing_prediction(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    if answered.nameless:
        return
    given, ids = answered.answers.column("id"), answered.questions.column("id")
    for row in rows_where(pc.invert(pc.is_in(ids, value_set=given))):
        place = f"line {answered.questions.line(row)} of {answered.path}"
        message = f"no prediction for {clipped(answered.questions.values('id')[row])}, {place}"
        yield finding(None, None, message, answered.join["missing"])


def surplus_prediction(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    surplus = rows_where((answered.question < 0) & answered.answers.known("id"))
    alike = {loose(id): id for id in answered.questions.values("id")} if surplus else {}
    for row in surplus:
        id = answered.answers.values("id")[row]
        other, hint = alike.get(loose(id)), answered.join["surplus"]
        if other is not None:
            hint = f"the reference has {clipped(repr(other))}: they differ only in {difference(id, other)}"
        name = clipped(repr(id) if other is not None else id)
        yield finding(row, "id", f"no question {name} in {answered.path}", hint)


def wrong_audio(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    answers, questions = answered.answers, answered.questions
    for row, item in answered.pairs:
        if not answered.same("audio", row, item):
            audio, other = listed(answers.values("audio")[row], 2), listed(questions.values("audio")[item], 2)
            message = f"the audio is {audio}, but {other} for {answered.called(row, item)}"
            yield finding(row, "audio", message, answered.hint(row, "audio"))
            continue
        if not answered.same("task", row, item):
            task, other = clipped(answers.values("task")[row]), clipped(questions.values("task")[item])
            message = f"the task is {task}, but {other} for {answered.called(row, item)}"
            yield finding(row, "task", message, answered.hint(row, "task"))
        name, asked = answers.further("audio_id")[row], questions.further("audio_id")[item]
        if isinstance(asked, str) and isinstance(name, str) and asked != name:
            message = f"the audio_id is {clipped(name)}, but {clipped(asked)} for {answered.called(row, item)}"
            yield finding(row, "audio_id", message, answered.join["audio"])


def instructions_missing(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    if answered.home != "jasco-predictions":
        return
    prompts = answered.answers.values("prompt")
    for item, asked in _asked((item, prompts[row], row) for row, item in answered.pairs).items():
        lacking = [str(n) for n, text in enumerate(INSTRUCTIONS, 1) if text not in asked]
        if lacking and len(asked) < len(INSTRUCTIONS):
            id = answered.questions.values("id")[item]
            message = f"{clipped(id)} was asked {len(asked)} of {len(INSTRUCTIONS)} instructions"
            numbers = f"number {lacking[0]}" if len(lacking) == 1 else f"numbers {', '.join(lacking)}"
            hint = f"{numbers} of JASCO's list missing: eval.py takes the best of the answers given"
            yield finding(next(iter(asked.values())), "id", message, hint)


def _asked(rows: Iterable[tuple[Any, str | None, int]]) -> dict[Any, dict[str, int]]:
    asked: dict[Any, dict[str, int]] = {}
    for question, prompt, row in rows:
        asked.setdefault(question, {}).setdefault(prompt or "", row)
    return asked


def instruction_missing_among_others(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    if table.home != "jasco-predictions":
        return
    asked = _asked(zip(table.values("id"), table.values("prompt"), range(len(table)), strict=True))
    most = max(map(len, asked.values()), default=0)
    for id, prompts in asked.items():
        if len(prompts) < most:
            message = f"{clipped(id)} was asked with {len(prompts)} of the {most} instructions of the others"
            yield finding(next(iter(prompts.values())), "id", message)


#: Rules of what a comparison with the questions tells more about.
REFERRED = frozenset({"QAI125"})


def foreign_instruction(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    if answered.home != "jasco-predictions":
        return
    others: dict[str, list[int]] = {}
    for row, prompt in enumerate(answered.answers.values("prompt")):
        if prompt not in INSTRUCTIONS:
            others.setdefault(prompt or "", []).append(row)
    words = [re.findall(r"\w+", instruction.lower()) for instruction in INSTRUCTIONS] if others else []
    for text, rows in others.items():
        many = f", in {plural(len(rows), 'row')}" if len(rows) > 1 else ""
        mine = re.findall(r"\w+", text.lower())
        near = words.index(mine) + 1 if mine in words else None
        hint = f"number {near} with different punctuation or spaces" if near else "its scores are not JASCO scores"
        yield finding(rows[0], "prompt", f"{clipped(text)} is not one of JASCO's instructions{many}", hint)


def count_differs(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    if not answered.counts_differ:
        return
    given, asked = len(answered.answers), len(answered.questions)
    message = f"{plural(given, 'prediction')}, some of them without an id, for {plural(asked, 'question')}"
    if answered.nameless == given:
        message = f"{plural(given, 'prediction')} without ids for {plural(asked, 'question')}"
    nameless = rows_where(~answered.answers.known("id")[:asked])
    other = (row for row in nameless if not all(answered.same(field, row, row) for field in ("audio", "task")))
    first = next(other, None)
    if first is not None:
        message += f"; they disagree with {answered.path} from here on"
    yield finding(first, None, message, answered.join["order"])


def output_missing(table: ItemTable, finding: MakeFinding) -> Iterator[Finding]:
    every = outputs(table) if table.home in OUTPUTS else []
    if all(output is _ABSENT for output in every):
        return
    key = OUTPUTS[table.home]
    for row, output in enumerate(every):
        if not isinstance(output, str) or not output.strip():
            state = "no" if output is _ABSENT else "empty" if isinstance(output, str) else "non-string"
            hint = JOINS["mmau"]["missing"] if table.home == "mmau" else "run the model on it again"
            place = None if output is None or output is _ABSENT else key
            yield finding(row, place, f"{state} {key} for {clipped(table.values('id')[row])}", hint)


def changed_copy(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    answers, questions = answered.answers, answered.questions
    for row, item in answered.pairs:
        if answers.asks:
            fields = ("question", "options", "answer")
            both = {field: (answers.values(field)[row], questions.values(field)[item]) for field in fields}
        else:
            text = answers.values("extra")[row] or ""
            if '"tgt_text"' not in text and not any(f'"{ours}"' in text for ours in _JASCO_COPIES):
                continue
            extra, truth = json.loads(text), questions.extra(item)
            both = {ours: (extra.get(ours), truth.get(name)) for ours, name in _JASCO_COPIES.items()}
            both["tgt_text"] = (extra.get("tgt_text"), questions.values("answer")[item])
        for name, (ours, theirs) in both.items():
            if ours is not None and theirs is not None and ours != theirs:
                id = clipped(questions.values("id")[item])
                texts = ([value] if isinstance(value, str) else value for value in (ours, theirs))
                copy, original = (", ".join(f'"{clipped(text, 40)}"' for text in side) for side in texts)
                yield finding(row, name, f"{name} is {copy}, but {original} for {id}", answered.join["copy"])


def other_questions(answered: Answered, finding: MakeFinding) -> Iterator[Finding]:
    if not answered.pairs and len(answered.answers) and not answered.nameless:
        ids, theirs = answered.answers.values("id"), next(iter(answered.questions.values("id")), "")
        message = f"none of {plural(len(set(ids)), 'id')} matches a question of the reference"
        hint = f"ids here look like {clipped(ids[0], 30)}, those in {answered.path} like {clipped(theirs, 30)}"
        hint = printable(cause_of_surplus(ids, answered.questions.values("id"))) or hint
        yield finding(0, "id", message, hint)


def check_answered(answered: Answered) -> Iterator[Finding]:
    """Yield the findings about predictions, compared with their questions.

    MERA's own rules report missing and extra answers in its submissions (PRD131, PRD132).
    """
    strange = list(findings([other_questions], answered))
    yield from strange
    if not strange:
        mera = answered.home == "ruenvaqa-submission"
        yield from findings(ANSWERED_RULES, answered, skip={"PRD201", "PRD202"} if mera else ())


ANSWERED_RULES = (
    missing_prediction,
    surplus_prediction,
    wrong_audio,
    instructions_missing,
    foreign_instruction,
    count_differs,
    changed_copy,
)


# --- the answers of a submission to MERA ---------------------------------------------------------------

_LATIN = frozenset(string.ascii_lowercase)
_LETTER = re.compile(r"(?<![^\W_])[A-Fa-fАВСЕ](?![^\W_])")


class Answers:
    """The answers of a submission, and the questions by id if known."""

    def __init__(self, reading: ItemReading, gold: Mapping[str, Item] | None = None) -> None:
        self.gold, self.table = gold, ItemTable(reading)
        self.left_out, self.finding = reading.origin.get("left_out"), reading.finding

    def letters(self) -> Iterator[tuple[int, str, str]]:
        """Return row and text of non-empty answers, and the text as MERA compares it."""
        from seldio.answers.matching import normalised  # reads the tables of words

        return ((row, text, normalised(text)) for row, text in enumerate(self.table.values("prediction")) if text)


def missing_answer(answers: Answers, finding: MakeFinding) -> Iterator[Finding]:
    left_out, ids = answers.left_out, answers.table.values("id")
    given = {*ids, *(left_out if isinstance(left_out, list) else ())}
    for name in answers.gold or ():
        if name not in given:
            message = f"no answer to question {clipped(name)}"
            yield finding(None, None, message, "one unanswered question makes the whole task score 0")
    for number, id in enumerate(ids):
        item = (answers.gold or {}).get(id or "")
        asked = answers.gold is None if item is None else not _quoted(item.extra)
        if asked and _quoted(answers.table.extra(number)):
            message = f"the id is the string {json.dumps(id)}, which does not answer question {id}"
            yield finding(number, "id", message, "write the number without quotes: MERA compares types as well")


def _quoted(extra: Mapping[str, Any] | None) -> bool:
    """Return whether the id of a record with these further keys is a number in quotes."""
    written = (extra or {}).get(AS_WRITTEN)
    id = dig(written, "meta", "id") if isinstance(written, dict) else None
    return isinstance(id, str) and type(id_value(id)) is int


def surplus_answer(answers: Answers, finding: MakeFinding) -> Iterator[Finding]:
    for number, id in enumerate(answers.table.values("id") if answers.gold is not None else ()):
        if id not in (answers.gold or ()):
            yield finding(number, "id", f"no question {clipped(id or '')} in the benchmark")


def letter_outside_options(answers: Answers, finding: MakeFinding) -> Iterator[Finding]:
    for number, _, letter in answers.letters():
        item = (answers.gold or {}).get(answers.table.values("id")[number] or "")
        count = len(item.options) if item is not None and item.options else 4  # where it is unknown
        if letter in _LATIN and letter not in string.ascii_lowercase[:count]:
            message = f"{letter.upper()} is not one of the {count} options"
            yield finding(number, "prediction", message, f"choose from A to {string.ascii_uppercase[count - 1]}")


def homoglyph_answer(answers: Answers, finding: MakeFinding) -> Iterator[Finding]:
    for number, _, letter in answers.letters():
        if letter in CYRILLIC:
            message = f"a Cyrillic letter that looks like {CYRILLIC[letter]}: scored 0"
            yield finding(number, "prediction", message, f"write the Latin {CYRILLIC[letter]}")


def text_around_letter(answers: Answers, finding: MakeFinding) -> Iterator[Finding]:
    for number, text, letter in answers.letters():
        if letter not in _LATIN and letter not in CYRILLIC:
            letters = {CYRILLIC.get(each, each).upper() for each in _LETTER.findall(text)}
            hint = f"write only {letters.pop()}" if len(letters) == 1 else "write the letter of an option"
            # in quotes where it begins or ends with invisible characters
            shown = text if text == text.strip() else json.dumps(text, ensure_ascii=False)
            yield finding(number, "prediction", f"{clipped(shown, 30)} is more than a letter: scored 0", hint)


# --- running them -----------------------------------------------------------------------------------

ANSWER_RULES = (missing_answer, surplus_answer)
LETTER_RULES = (letter_outside_options, homoglyph_answer, text_around_letter)


def check_answers(reading: ItemReading, gold: Sequence[Item] | None = None, letters: bool = True) -> Iterator[Finding]:
    """Return the findings about the answers of a ``ruenvaqa-submission`` to the questions *gold*, if these are known.

    Without *letters* answers may be any text, as in MERA's other tasks.
    """
    answers = Answers(reading, None if gold is None else {item.id: item for item in gold})
    return findings((*ANSWER_RULES, *(LETTER_RULES if letters else ())), answers)


# --- the files of a submission ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class MeraPackage:
    """The archive of a submission; the file of a task is found by its name without suffix, in any folder."""

    path: str  # as shown to people
    members: Mapping[str, bytes] | None  # its files; None if it cannot be opened
    tasks: Sequence[str] = (MERA_TASK,)  # the expected tasks
    #: of the files as shown to people, by name; below *path* where that does not say
    paths: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @cached_property
    def files(self) -> dict[str, str]:
        """The file of each task that has one; of several, the last one, as on the server."""
        by_task = {task_name(member): member for member in self.members or ()}
        return {task: by_task[task] for task in self.tasks if task in by_task}

    def shown(self, member: str) -> str:
        """Return the path of a file as people see it."""
        return self.paths.get(member, f"{self.path}!/{member}")


def unreadable_submission(package: MeraPackage, finding: MakeFinding) -> Iterator[Finding]:
    if package.members is None:
        yield finding(package.path, "the archive cannot be opened as a zip")
    for task, member in package.files.items():
        if package.members is None or written_suffix(member) != "json":
            continue
        try:
            json.loads(package.members[member].decode())
        except (ValueError, RecursionError):
            message = f"the file of {printable(task)} cannot be read as JSON"
            yield finding(package.shown(member), message, "write it again, in UTF-8")


def task_missing(package: MeraPackage, finding: MakeFinding) -> Iterator[Finding]:
    for task, member in package.files.items():
        suffix = written_suffix(member)
        if suffix != "json":
            message = f"the suffix is {clipped(f'.{suffix}' if suffix else 'empty', 20)}, not .json"
            yield finding(package.shown(member), message, f"name it {printable(task)}.json")
    for task in package.tasks if package.members is not None else ():
        if task in package.files:
            continue
        alike = [name for name in package.members or () if task.lower() in name.lower()]
        hint = f"rename {printable(alike[0])}" if alike else "add it"
        yield finding(package.path, f"{printable(task)}.json is missing", hint)


ARCHIVE_RULES = (unreadable_submission, task_missing)
