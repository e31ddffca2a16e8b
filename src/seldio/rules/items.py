"""QAI and PRD: questions, their answers, and predictions of them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from seldio.files import name_fault
from seldio.findings import Finding
from seldio.formats.items import ItemReading, Row
from seldio.rules.collection import Found
from seldio.rules.item_fields import items_of
from seldio.rules.registry import ERROR, WARNING, rule
from seldio.schema.qa import Prediction
from seldio.tasks.english import COUNTS
from seldio.text import clipped, printable

#: Letters that look Latin and are not: Cyrillic and Greek capitals.
HOMOGLYPHS = dict(zip("АВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTXABEZHIKMNOPTYX", strict=True))


def told_twice(row: Row, line: int) -> tuple[str, str]:
    """What is wrong with a row whose id stands in *line* already, and what to do."""
    if isinstance(row, Prediction):
        hint = "keep one: MERA takes the last, SO-Bench's scorer may join the second to another question"
        return f"a second prediction for {clipped(str(row.id))}; the first is in line {line}", hint
    return f"the id {clipped(str(row.id))} stands in line {line} already", "each question needs an id of its own"


@rule("QAI101", ERROR)
def repeated_id(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """An id that stands twice.

    Predictions are joined to questions by id. With a repeated id one of the two answers is taken for
    both questions, or the scorer stops.

    Example:
        two lines with "qa_id": "qa_4e31e78e5a6f7579fe52"

    Fix:
        Give each question an id of its own.

    Reference: SO-Bench scorer, prepare_records: a repeated id raises ValueError for the second prediction.
    """
    seen: dict[str, int] = {}
    for number, row in items_of(reading):
        if row.id in seen:
            line = reading.locate(seen[row.id], "id", None).line
            message, hint = told_twice(row, line)
            yield found(number, message, "id", hint)
        seen.setdefault(row.id, number)


@rule("QAI102", ERROR)
def answer_not_among_options(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """An answer that is not among the options.

    No model can be right then. MMAU has had 143 such questions.

    Example:
        "choices": ["Man", "Woman"], "answer": "Child"

    Fix:
        Correct the answer or the options.

    Reference: MMAU issue 12.
    """
    for number, row in items_of(reading):
        if row.options and row.answer and not _chosen(row.answer, row.options):
            yield found(number, f"the answer {clipped(row.answer)} is none of the {len(row.options)} options", "answer",
                        "the answer is an option's text, or its letter")  # fmt: skip


def _chosen(answer: str, options: list[str]) -> bool:
    letters = [chr(ord("A") + index) for index in range(len(options))]
    latin = HOMOGLYPHS.get(answer, answer)
    return answer in options or latin in letters


@rule("QAI103", WARNING)
def repeated_option(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """An option that stands twice.

    A model that chooses the second of two equal options is right by its text and wrong by its letter.
    27 questions of MMAU's test-mini repeat a choice; in 16 it is the right one.

    Example:
        "choices": ["Guitar", "Piano", "Guitar"]

    Fix:
        Replace one of them.

    Reference: MMAU issues 7 and 31.
    """
    for number, row in items_of(reading):
        counts = Counter(row.options or ())
        for position, option in enumerate(row.options or ()):
            if counts[option] > 1 and option in (row.options or [])[:position]:
                yield found(number, f"the option {clipped(option)} stands twice", "options",
                            "replace one of them", number=position)  # fmt: skip


@rule("QAI104", WARNING)
def homoglyph_letter(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A letter that only looks Latin, in an answer or an instruction's list of options.

    Cyrillic А and Latin A are two letters: an answer in one never equals a gold answer in the other.
    Seven of ruEnvAQA's ten instructions name the first option with a Cyrillic А, and its answers are
    Latin.

    Example:
        А. {option_a}  B. {option_b}

    Fix:
        Type the letters on a Latin keyboard.

    Reference: MERA_MULTIMODAL, ruEnvAQA instructions; exact_match compares code points.
    """
    for number, row in items_of(reading):
        if row.answer in HOMOGLYPHS:
            name = unicodedata.name(str(row.answer), "").title()
            yield found(
                number, f"the answer {row.answer} is a {name}", "answer", f"write {HOMOGLYPHS[str(row.answer)]}"
            )
        for match in re.finditer(r"(?m)^\s*(\w)[.)]\s", row.instruction or ""):
            if match[1] in HOMOGLYPHS:
                name = unicodedata.name(match[1], "").title()
                yield found(number, f"an option's letter in the instruction is a {name}", "instruction",
                            f"write {HOMOGLYPHS[match[1]]}: the answers are Latin letters")  # fmt: skip
                break


@rule("QAI105", ERROR)
def times_of_item(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """Times that cannot be, with an end before the start or outside the audio.

    Scorers of intervals swap a reversed span or give it no length, each in its own way; a time outside
    the clip asks about what nobody can hear.

    Example:
        "answer_meta": {"time_span": [20.0, 18.5]}

    Fix:
        Start before end, in seconds from the beginning of the audio.

    Reference: SO-Bench, answer_meta.
    """
    for number, row in items_of(reading):
        part = [row.start, row.end] if row.start is not None and row.end is not None else None
        if part is not None and part[1] < part[0]:
            yield found(number, f"the end, {part[1]:g} s, is before the start, {part[0]:g} s", "end",
                        "the start comes first")  # fmt: skip
            part = None  # nobody knows how long the clip is
        span = row.answer_meta.time_span if row.answer_meta is not None else None
        if span and span[1] < span[0]:
            yield found(number, f"time_span: {span[1]:g} s is before {span[0]:g} s", "answer_meta",
                        "the start comes first")  # fmt: skip
        elif span and part is not None and span[1] > part[1] - part[0] + 0.05:
            message = f"time_span ends at {span[1]:g} s, the clip at {part[1] - part[0]:g} s"
            yield found(number, message, "answer_meta", "times count from the start of the clip")


@rule("QAI107", WARNING)
def task_counts(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A file that looks like all of SO-Bench and has other counts of tasks.

    SO-Bench has 7,877 questions in 16 tasks with fixed counts. A score over another set is no SO-Bench
    score; SO-Dataset's own test split looks alike and is no substitute.

    Example:
        7,877 questions, 660 of them detect_time where SO-Bench has 667

    Fix:
        Download qa/test.jsonl of SO-Bench again.

    Reference: the dataset card of SO-Bench.
    """
    counts = Counter(row.task for _, row in items_of(reading))
    total = sum(counts.values())
    if reading.format.name == "so-bench" and abs(total - sum(COUNTS.values())) < 80 and dict(counts) != COUNTS:
        other = [f"{task}: {counts.get(task, 0)} for {n}" for task, n in COUNTS.items() if counts.get(task, 0) != n]
        more = [f"{printable(str(task))} is no task of it" for task in counts if task not in COUNTS]
        yield found(0, f"the counts of tasks are not SO-Bench's: {'; '.join([*other, *more][:4])}", "task",
                    "download the benchmark again")  # fmt: skip


@rule("QAI108", ERROR)
def unsafe_audio_path(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A path of the audio that leads out of the data set, or is no path at all.

    FFmpeg opens URLs and protocols (``http:``, ``concat:``, ``pipe:``), libsndfile takes ``-`` for
    standard input, and ``..`` or a leading slash reach any file of the machine: whoever opens the data
    set opens them. In predictions absolute paths are let through: SO-Bench's own tools write them, and no
    scorer opens them.

    Example:
        "audio_path": "../../etc/passwd"

    Fix:
        Write paths relative to the data set's root, with forward slashes.

    Reference: probed with soundfile and PyAV; CWE-22.
    """
    for number, row in enumerate(reading.rows):
        for position, path in enumerate(row.audio):
            why = unsafe(path)
            if why and not (why == _ABSOLUTE and isinstance(row, Prediction)):
                yield found(number, f"the audio path {clipped(path)} {why}", "audio",
                            "paths are relative to the data set's root", number=position)  # fmt: skip


_ABSOLUTE = "is absolute"
_PROTOCOL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(:|,,)")


def unsafe(path: str) -> str | None:
    """Why a path of the audio must not be opened; None where it may."""
    parts = re.split(r"[/\\]", path)
    if path == "-":
        return "is standard input to libsndfile"
    if _PROTOCOL.match(path):
        return "is an address or a protocol, not a path"
    if path.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", path):
        return _ABSOLUTE
    return "climbs out of its folder" if ".." in parts else None


@rule("QAI109", WARNING)
def awkward_audio_path(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A path of the audio that other systems refuse or mix up.

    Names over 255 bytes, names kept for devices on Windows, dots or spaces at the end, and two paths
    that differ only in case or in the composition of their accents: on another system the file is not
    found, or is another one.

    Example:
        "audio_path": "A.WAV" and "audio_path": "a.wav"

    Fix:
        Rename the recordings: letters, digits, ``_``, ``-`` and one dot work everywhere.

    Reference: the file systems of Windows and macOS.
    """
    spellings: dict[str, str] = {}
    for number, row in enumerate(reading.rows):
        for position, path in enumerate(row.audio):
            if unsafe(path):
                continue
            fault = name_fault(path.removeprefix("./")) if "{" not in path else None
            if unicodedata.normalize("NFC", path) != path:
                fault = "is written with separate accents (NFD)"
            other = spellings.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
            if other != path:
                fault = f"differs from {printable(other)} only in case or accents"
            if fault:
                yield found(number, f"the audio path {clipped(path)} {fault}", "audio", "rename the recording",
                            number=position)  # fmt: skip


@rule("QAI110", ERROR)
def no_options(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A list of options without any.

    A multiple-choice question with nothing to choose from cannot be answered; harnesses stop at it, or
    draw an answer at random.

    Example:
        "choices": []

    Fix:
        Give the options, or leave the key away where the question is open.

    Reference: lmms-eval, the MMAU task draws at random where it finds no letter.
    """
    for number, row in items_of(reading):
        if row.options is not None and not row.options:
            yield found(number, "the question has no options to choose from", "options", "list the options")


@rule("PRD101", ERROR)
def repeated_prediction(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """Two predictions for one question.

    The SO-Bench scorer attaches the second one to another question that stands in the same line of the
    reference, if audio and task agree: a wrong join without a word. MERA takes the last one.

    Example:
        two lines with the same qa_id

    Fix:
        Keep one.

    Reference: SO-Bench scorer, prepare_records.
    """
    seen: dict[tuple[str, str | None], int] = {}
    for number, row in enumerate(reading.rows):
        if not isinstance(row, Prediction) or row.id is None:
            continue
        key = (row.id, row.prompt)
        if key in seen:
            line = reading.locate(seen[key], "id", None).line
            message, hint = told_twice(row, line)
            yield found(number, message, "id", hint)
        seen.setdefault(key, number)


@rule("PRD102", WARNING)
def empty_prediction(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A question without an answer of the model.

    It counts as wrong. An empty text often is a crash, a time-out or a refusal that was filtered out.

    Example:
        "prediction": ""

    Fix:
        Run the model on this question again.

    Reference: SO-Bench scorer: an empty prediction is not parseable and counts 0.
    """
    for number, row in enumerate(reading.rows):
        if isinstance(row, Prediction) and not (row.prediction or "").strip():
            yield found(number, f"no prediction for {clipped(row.id or 'this question')}", "prediction",
                        "it counts as wrong")  # fmt: skip
