"""PRD20 and PRD21: predictions held against the questions they answer.

Most official scorers say nothing about what is found here; what they do instead is in
:data:`JOINS`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from seldio.findings import Finding
from seldio.formats.items import ItemReading, Row
from seldio.formats.qa_csv import INSTRUCTIONS, KEYWORDS
from seldio.rules.collection import Found
from seldio.rules.registry import ERROR, WARNING, findings, rule
from seldio.schema.alike import same_audio, same_task
from seldio.schema.qa import Item, Prediction
from seldio.text import clipped, listed, plural, printable

#: Formats of questions whose files also carry a model's outputs, and the key of the output.
OUTPUTS = {"mmau": "model_output", "mmar": "answer_prediction"}
#: The benchmark that a format of predictions belongs to.
_OF = {"so-bench-predictions": "so-bench", "jasco-predictions": "jasco", "ruenvaqa-submission": "ruenvaqa"}


@dataclasses.dataclass(frozen=True)
class ItemReference:
    """The questions that predictions are held against.

    Args:
        path: what the user named.
        questions: those of a file; None where the reference is a folder of MERA's tasks without ruEnvAQA.
        tasks: for MERA the right outputs of each task by id, as its files have them.
    """

    path: str
    questions: ItemReading | None = None
    tasks: Mapping[str, Mapping[Any, Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Join:
    """What the official scorer of a benchmark does with predictions that do not fit its questions."""

    missing: str = "scorers leave it out or count it as wrong, most of them without a word"
    surplus: str = "scorers ignore it or join it to another question: correct its id"
    audio: str = "scorers join by id and do not look at the audio: check both"
    task: str = "scorers take the task of the question: check the id"
    order: str = "one row too many or too few, and all behind it are joined to the wrong question: write ids"
    copy: str = "a scorer that reads the copy judges by another truth: copy it again"


JOINS = {
    "so-bench": Join(
        missing="the official scorer leaves it out of the mean without a word, unless --expected-examples is given",
        surplus="the official scorer joins it to the question in the same line if audio and task agree, and stops "
        "with a ValueError if not: correct its qa_id",
        audio="the official scorer joins by qa_id and does not look: an answer about another recording is scored here",
        task="the official scorer joins by qa_id and takes the task of the question: check the id",
        order="without qa_id the official scorer joins line by line where audio and task agree, and stops with a "
        "ValueError where they do not: write qa_id",
    ),
    "jasco": Join(
        missing="eval.py counts no ids: the mean over the others looks like one over all",
        surplus="eval.py reads no file of questions: it counts as one more recording in the mean",
        audio="eval.py groups by id and does not look at the audio: the answer counts for this id",
        copy="eval.py judges by the copy in this file, not by the benchmark's: copy it again",
    ),
    "ruenvaqa": Join(
        missing="for MERA one question without an answer is enough: the whole task scores 0",
        surplus="MERA ignores it: correct its id",
    ),
    "mmau": Join(
        missing="the official evaluation skips it without a word: the accuracy is one over fewer questions",
        copy="the official evaluation takes options and answer from this file: copy them again",
    ),
}


@dataclasses.dataclass(frozen=True)
class Answered:
    """Predictions and the questions they are joined to.

    Args:
        reading: of the predictions.
        questions: of the reference, each id once.
    """

    reading: ItemReading
    questions: ItemReading

    def finding(self, *place: Any) -> Finding:
        """A finding about a row of the predictions."""
        return self.reading.finding(*place)

    @property
    def join(self) -> Join:
        """What the benchmark's scorer does."""
        own = self.reading.home
        name = _OF.get(own, own)
        return JOINS.get(name if name in JOINS else self.questions.home, Join())

    @cached_property
    def rows(self) -> Sequence[Prediction]:
        """The predictions, one for each row of the reading."""
        return [prediction_of(row, self.reading.home) for row in self.reading.rows]

    @cached_property
    def items(self) -> dict[str, int]:
        """The row of each question by its id."""
        return {row.id: number for number, row in enumerate(self.questions.rows) if row.id is not None}

    @cached_property
    def nameless(self) -> bool:
        """Whether some predictions have no id, so that they go by order."""
        return any(row.id is None for row in self.rows)

    @property
    def counts_differ(self) -> bool:
        """Whether predictions go by order and are not as many as the questions."""
        return self.nameless and len(self.rows) != len(self.questions.rows)

    def question(self, number: int) -> Item | None:
        """The question that prediction *number* is joined to: by id, without one by its place in the file."""
        id = self.rows[number].id
        row = number if id is None else self.items.get(id, -1)
        item = self.questions.rows[row] if 0 <= row < len(self.questions.rows) else None
        return item if isinstance(item, Item) else None

    @cached_property
    def pairs(self) -> list[tuple[int, Prediction, Item]]:
        """Number, prediction and question of those that are joined; none by order where the counts differ."""
        joined = ((number, row, self.question(number)) for number, row in enumerate(self.rows))
        by_order = not self.counts_differ
        return [(n, row, item) for n, row, item in joined if item is not None and (by_order or row.id is not None)]

    def place(self, item: str) -> str:
        """Where a question stands, for people."""
        line = self.questions.locate(self.items[item], "id", None).line
        return f"line {line} of {printable(self.questions.path)}"


def has_outputs(reading: ItemReading) -> bool:
    """Whether a file holds predictions, those beside their questions included."""
    key = OUTPUTS.get(reading.home)
    if reading.format.holds == "predictions" or any(isinstance(row, Prediction) for row in reading.rows):
        return True
    return key is not None and any(key in (row.extra or {}) for row in reading.rows)


def prediction_of(row: Row, format: str) -> Prediction:
    """A row as a prediction."""
    if isinstance(row, Prediction):
        return row
    output = (row.extra or {}).get(OUTPUTS.get(format, ""))
    text = output if isinstance(output, str) else None
    return Prediction(id=row.id, audio=row.audio, task=row.task, prompt=None, prediction=text, extra=row.extra)


#: What JASCO's predictions repeat of the questions, and where the questions have it.
_JASCO_COPIES = {
    "audio_sound": "Audio", "spoken_text": "Speech", "audio_only_target": "Audio-Only Answer",
    "speech_only_target": "Speech-Only Answer", "target_keywords": KEYWORDS,
}  # fmt: skip


@rule("PRD201", ERROR)
def missing_prediction(answered: Answered, found: Found) -> Iterator[Finding]:
    """A question without a prediction.

    Most official scorers do not notice: SO-Bench's leaves it out of the mean unless it is told how many to
    expect, MMAU's skips it, JASCO's eval.py counts no ids. The score is one over fewer questions, often the
    easier ones, and nobody can tell.

    Example:
        7,877 questions, 7,876 predictions

    Fix:
        Run the model on the question. If it failed there, write an empty prediction: that counts as wrong.

    Reference: SO-Bench, score_sobench.py; MMAU, evaluation.py; JASCO, evaluation/eval.py.
    """
    if answered.nameless:
        return
    given = {row.id for row in answered.rows}
    for id in answered.items:
        if id not in given:
            yield found(None, f"no prediction for {clipped(id)}, {answered.place(id)}", None, answered.join.missing)


@rule("PRD202", ERROR)
def surplus_prediction(answered: Answered, found: Found) -> Iterator[Finding]:
    """A prediction for a question that the reference does not have.

    SO-Bench's scorer joins it to the question in the same line if audio and task agree there: a wrong id
    then is a wrong join without a word, and otherwise a ValueError. To JASCO's eval.py it is one more
    recording.

    Example:
        "qa_id": "qa_4e31e78e5a6f7579fe5"  (the last character is lost)

    Fix:
        Correct the id, or leave the prediction out.

    Reference: SO-Bench, score_sobench.py, prepare_records.
    """
    alike = {_loose(id): id for id in answered.items}
    for number, row in enumerate(answered.rows):
        if row.id is not None and row.id not in answered.items:
            other = alike.get(_loose(row.id))
            hint = f"the reference has {clipped(repr(other))}" if other is not None else answered.join.surplus
            name = clipped(repr(row.id) if other is not None else row.id)
            yield found(number, f"no question {name} in {printable(answered.questions.path)}", "id", hint)


def _loose(id: str) -> str:
    """An id as those see it who read numbers or forget about case: 007, 7.0 and 7 are one."""
    text = id.strip().casefold()
    match = re.fullmatch(r"0*(\d+)(?:\.0*)?", text)
    return match[1] if match else text


@rule("PRD203", ERROR)
def wrong_audio(answered: Answered, found: Found) -> Iterator[Finding]:
    """A prediction about another recording than the question with its id.

    Scorers join by id and do not compare the recordings, so the answer to one question is scored as that to
    another. Folders in front of a path are not compared: ``/data/audio/test/a.wav`` is ``audio/test/a.wav``.

    Example:
        "qa_id": "qa_4e31e78e5a6f7579fe52", "audio_path": "audio/test/foa_20463391345005ca2ddf.wav"

    Fix:
        Find out where ids and recordings were paired: usually one list was sorted or filtered alone.

    Reference: SO-Bench, score_sobench.py, prepare_records.
    """
    for number, row, item in answered.pairs:
        theirs, own = (item.extra or {}).get("audio_id"), (row.extra or {}).get("audio_id")
        if not same_audio(row, item):
            message = f"the audio is {listed(row.audio, 2)}, that of {_called(row, item)} {listed(item.audio, 2)}"
            yield found(number, message, "audio", answered.join.order if row.id is None else answered.join.audio)
        elif isinstance(theirs, str) and isinstance(own, str) and theirs != own:
            message = f"the audio_id is {clipped(own)}, that of {_called(row, item)} {clipped(theirs)}"
            yield found(number, message, "audio_id", answered.join.audio)


def _called(row: Prediction, item: Item) -> str:
    """A question as people find it."""
    return clipped(item.id) if row.id is not None else f"the question in its place, {clipped(item.id)},"


@rule("PRD204", ERROR)
def wrong_task(answered: Answered, found: Found) -> Iterator[Finding]:
    """A prediction with another task than the question with its id.

    The scorer takes the question's task and judges an answer of seconds as one of degrees. Most often the id
    is wrong, not the task.

    Example:
        "task_name": "estimate_azimuth" for a question of detect_time

    Fix:
        Find out where ids and tasks were paired.

    Reference: SO-Bench, score_sobench.py: fields of the question overwrite those of the prediction.
    """
    for number, row, item in answered.pairs:
        if not same_task(row, item) and same_audio(row, item):  # else one cause would be told twice
            message = f"the task is {clipped(row.task or '')}, that of {_called(row, item)} {clipped(item.task or '')}"
            yield found(number, message, "task", answered.join.order if row.id is None else answered.join.task)


@rule("PRD205", ERROR)
def instructions_missing(answered: Answered, found: Found) -> Iterator[Finding]:
    """A recording of JASCO that was not asked all eight instructions.

    The benchmark's score is the mean over recordings of the best of eight answers. With fewer of them the
    best is worse; eval.py does not count.

    Example:
        id 7 has seven rows

    Fix:
        Ask the model what is missing; ``seldio formats jasco-predictions`` says what a row holds.

    Reference: JASCO, README and evaluation/eval.py, stats.
    """
    if answered.reading.home != "jasco-predictions":
        return
    asked: dict[str, dict[str, int]] = {}
    for number, row, item in answered.pairs:
        asked.setdefault(item.id, {}).setdefault(row.prompt or "", number)
    for id, prompts in asked.items():
        lacking = [str(n) for n, text in enumerate(INSTRUCTIONS, 1) if text not in prompts]
        if lacking and len(prompts) < len(INSTRUCTIONS):
            message = f"{clipped(id)} was asked {len(prompts)} of {len(INSTRUCTIONS)} instructions"
            numbers = f"number {lacking[0]}" if len(lacking) == 1 else f"numbers {', '.join(lacking)}"
            hint = f"{numbers} of JASCO's list missing: eval.py takes the best of those that are there"
            yield found(next(iter(prompts.values())), message, "id", hint)


@rule("PRD206", WARNING)
def foreign_instruction(answered: Answered, found: Found) -> Iterator[Finding]:
    """An instruction that is none of JASCO's eight.

    Scores depend on the wording; those under other instructions cannot be compared with published ones.
    Often one of the eight was changed by a space or a quotation mark on its way.

    Example:
        What are the speakers doing?

    Fix:
        Ask the benchmark's instructions, letter by letter.

    Reference: JASCO, README, list of instructions.
    """
    if answered.reading.home != "jasco-predictions":
        return
    others: dict[str, list[int]] = {}
    for number, row in enumerate(answered.rows):
        if row.prompt not in INSTRUCTIONS:
            others.setdefault(row.prompt or "", []).append(number)
    for text, numbers in others.items():
        many = f", in {plural(len(numbers), 'row')}" if len(numbers) > 1 else ""
        near = next((n for n, known in enumerate(INSTRUCTIONS, 1) if _words(known) == _words(text)), None)
        hint = f"number {near} with other signs or spaces" if near else "scores under it are no JASCO scores"
        yield found(numbers[0], f"{clipped(text)} is none of JASCO's instructions{many}", "prompt", hint)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@rule("PRD207", ERROR)
def count_differs(answered: Answered, found: Found) -> Iterator[Finding]:
    """Predictions without ids that are not as many as the questions.

    Without ids predictions go by order. One row too many or too few moves all behind it to the wrong
    question; SO-Bench's scorer joins each such row as long as audio and task happen to agree.

    Example:
        7,877 questions, 7,876 predictions without qa_id

    Fix:
        Write the id of its question into every prediction.

    Reference: SO-Bench, score_sobench.py, prepare_records.
    """
    if not answered.counts_differ:
        return
    given, asked = len(answered.rows), len(answered.questions.rows)
    message = f"{plural(given, 'prediction')}, some of them without an id, for {plural(asked, 'question')}"
    if all(row.id is None for row in answered.rows):
        message = f"{plural(given, 'prediction')} without ids for {plural(asked, 'question')}"
    first = next((number for number in range(min(given, asked)) if _disagree(answered, number)), None)
    if first is None:
        yield found(None, message, None, answered.join.order)
    else:
        message += f"; from here on they disagree with {printable(answered.questions.path)}"
        yield found(first, message, None, answered.join.order)


def _disagree(answered: Answered, number: int) -> bool:
    """Whether a prediction without an id has another recording or task than the question in its place."""
    row, item = answered.rows[number], answered.question(number)
    if row.id is not None or item is None:
        return False
    return not (same_audio(row, item) and same_task(row, item))


@rule("PRD208", ERROR)
def output_missing(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A question without the model's output in a file that has outputs.

    MMAU's evaluation skips such a question without a word, so that the accuracy is one over fewer questions.

    Example:
        {"id": "…", "question": "…", "choices": […], "answer": "…"}  among others with "model_output"

    Fix:
        Run the model on this question again. If it failed, write a text that is no option: that is wrong.

    Reference: MMAU, evaluation.py.
    """
    key = OUTPUTS.get(reading.home)
    if key is None or not has_outputs(reading):
        return
    for number, row in enumerate(reading.rows):
        value = (row.extra or {}).get(key)
        if not isinstance(value, str) or not value.strip():
            state = "no" if key not in (row.extra or {}) else "an empty" if isinstance(value, str) else "no text as"
            hint = JOINS["mmau"].missing if reading.home == "mmau" else "run the model on it again"
            yield found(number, f"{state} {key} for {clipped(row.id or '')}", key if value is not None else None, hint)


@rule("PRD209", ERROR)
def changed_copy(answered: Answered, found: Found) -> Iterator[Finding]:
    """A file of predictions whose copy of a question is not that of the reference.

    Files of MMAU and JASCO repeat the right answer, and their scorers judge by this copy. A spreadsheet that
    changed it, or rows that slipped, change the score.

    Example:
        tgt_text "They are cooking." where the benchmark says "They are playing golf."

    Fix:
        Copy question, options and answer from the benchmark again.

    Reference: JASCO, evaluation/eval.py; MMAU, evaluation.py: both read nothing but this file.
    """
    for number, row, item in answered.pairs:
        for field, ours, theirs in _copies(answered.reading.rows[number], row, item):
            message = f"{field} is {_shown(ours)}, that of {clipped(item.id)} {_shown(theirs)}"
            yield found(number, message, field, answered.join.copy)


def _copies(given: Row, row: Prediction, item: Item) -> Iterator[tuple[str, Any, Any]]:
    """The fields that a file of predictions repeats with another value: name, value here, value there."""
    if isinstance(given, Item):
        both = {name: (getattr(given, name), getattr(item, name)) for name in ("question", "options", "answer")}
    else:
        extra, truth = row.extra or {}, item.extra or {}
        both = {ours: (extra.get(ours), truth.get(name)) for ours, name in _JASCO_COPIES.items()}
        both["tgt_text"] = (extra.get("tgt_text"), item.answer)
    for name, (ours, theirs) in both.items():
        if ours is not None and theirs is not None and ours != theirs:
            yield name, ours, theirs


def _shown(value: Any) -> str:
    """A text, or options, in quotes."""
    return ", ".join(f'"{clipped(text, 40)}"' for text in ([value] if isinstance(value, str) else value))


@rule("PRD210", ERROR)
def other_questions(answered: Answered, found: Found) -> Iterator[Finding]:
    """Predictions of which not one answers a question of the reference.

    Either the reference is that of another set or split, or all ids were changed. Nothing more is compared.

    Example:
        predictions for the test split, held against the questions of the training split

    Fix:
        Name the questions that the model was asked.

    Reference: SO-Bench, README: the training set's own test split is no substitute for the benchmark.
    """
    if not answered.pairs and answered.rows and not answered.nameless:
        mine, theirs = answered.rows[0].id or "", next(iter(answered.items), "")
        message = f"no id ({plural(len({row.id for row in answered.rows}), 'id')}) is one of the reference's"
        hint = f"here ids are like {clipped(mine, 30)}, in {printable(answered.questions.path)} {clipped(theirs, 30)}"
        yield found(0, message, "id", hint)


def check_answered(answered: Answered) -> Iterator[Finding]:
    """What is wrong with predictions, seen from their questions.

    MERA's own rules say what lacks and what is too much in its submissions (PRD131, PRD132).
    """
    strange = list(other_questions.findings(answered))
    yield from strange
    if not strange:
        mera = answered.reading.home == "ruenvaqa-submission"
        yield from findings(answered, skip={"PRD201", "PRD202"} if mera else ())
