"""Score predictions of questions: from paths to a report, with or without a judge."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as LocalPath
from typing import Any, Literal, NamedTuple, cast

from seldio import formats
from seldio.answers.extract import AnsweredQuestion, faults
from seldio.answers.extract import Judge as SoBenchJudge
from seldio.answers.extract import Judgement as SoBenchJudgement
from seldio.conversion.inputs import only_reading
from seldio.errors import DataError, InvalidData, UsageError
from seldio.files.sources import Place, path_of, reopened
from seldio.findings import raise_errors
from seldio.formats import ItemFormat, own_keys
from seldio.formats.items import ItemReading, option_letter
from seldio.formats.json_text import parse_lines
from seldio.reports.tables import Notice, ScoreReport, counted
from seldio.rules.item_table import OUTPUTS
from seldio.rules.predictions import has_outputs
from seldio.schema.qa import Item, Prediction, trusted
from seldio.scores import choices, jasco, replies, so_bench
from seldio.scores.judge import Ask, Judge, JudgeTally, Judging, Planned, read_judgements
from seldio.scores.scorers import ANSWERS
from seldio.scores.signatures import Signature, judged_by, of_questions, of_replies, signature
from seldio.tasks.specs import PUBLISHED
from seldio.text import listed, meant, plural, printable


@dataclasses.dataclass(frozen=True)
class AnswerOptions:
    """How predictions of questions are scored."""

    profile: str | None = None  # name of the way of scoring; that of the questions' format by default
    allow_missing: bool = False  # score what is there where predictions are missing
    #: ``official`` joins predictions of SO-Bench as its program does, ``order`` those without ids line by line
    join: Literal["strict", "official", "order"] = "strict"
    offline: Literal["extract", "none", "official-fallback"] = "extract"  # what SO-Bench decides without a judge
    #: of SO-Bench, by name: azimuth, elevation, distance, onset, wer
    threshold: Mapping[str, float] = dataclasses.field(default_factory=dict)
    judge: Judging | None = None  # what to ask
    judgements: str | None = None  # file of judgements made elsewhere
    baselines: bool = False  # with the published results of the profile, where they are over the same questions
    items: str | os.PathLike[str] | None = None  # where to write each reply with its verdict, JSON lines


#: What judges are asked in unless something else is wanted.
_WORDS = Judging.prompt


def score_answers(
    predictions: Place,
    reference: Place | None,
    options: AnswerOptions | None = None,
    *,
    format: str | None = None,
    reference_format: str | None = None,
) -> ScoreReport:
    """Score a model's answers; in a dry run of a judge, report what asking it would take.

    Args:
        predictions: a file of predictions in any format of them.
        reference: the questions with their answers; None for files that carry them: predictions of JASCO, and
            MMAU's and MMAR's questions with ``model_output`` or ``answer_prediction``.
        options: how.
        format: the format of the predictions; found from their content if not given.
        reference_format: the format of the questions; detected by default.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, or nothing scores such questions.
        DataError: predictions and questions do not fit.
        SeldioError: a judge cannot be asked.
    """
    options = options or AnswerOptions()
    if options.items is not None:
        replies.check_name(options.items, (predictions, reference, options.judgements))
    sides = read_answers(predictions, reference, options, format, reference_format)
    system, server = path_of(predictions), Judge(options.judge) if options.judge is not None else None
    with server if server is not None else contextlib.nullcontext():
        tally, plan = JudgeTally() if server is None else server.tally, "no prediction needs a judge"
        try:
            case = counted_answers(sides, options, tally, None if server is None else server.ask)
        except Planned as planned:
            plan = str(planned)
        if options.judge is not None and options.judge.dry_run:
            return ScoreReport(system, sides.profile, "a dry run", "", (), (Notice("dry-run", plan),))
    report = case.report(system)
    report = dataclasses.replace(
        report,
        tables=report.tables if server is None else (*report.tables, tally.table()),
        notices=(*tally.notices(), *report.notices),
        signature=str(signed(sides, options)),
    )
    if options.baselines:
        from seldio.scores.published import with_baselines

        answered = {str(row.id) for row in sides.outputs}
        asked = {str(item.id) for item in sides.items} & answered if sides.items is not None else answered
        report = with_baselines(report, asked, [*options.threshold])
    if options.items is not None:
        replies.write(options.items, {system: case.reply_verdicts()}, sides.profile)
    return dataclasses.replace(report, notices=(*sides.notices, *report.notices)) if sides.notices else report


def signed(sides: AnswerSides, options: AnswerOptions) -> Signature:
    """Return the signature of a score of *sides*."""
    given: dict[str, Any] = {"allow_missing": options.allow_missing, **options.threshold}
    given |= {
        name: value
        for name, usual in (("join", "strict"), ("offline", "extract"))
        if (value := getattr(options, name)) != usual
    }
    if options.judge is not None and options.judge.prompt != _WORDS:
        given["prompt"] = options.judge.prompt
    model, url = (options.judge.model, options.judge.url) if options.judge is not None else (None, None)
    judge = judged_by(model, url, _bytes(options.judgements) if options.judgements else None)
    return signature(sides.profile, given, of_questions(sides.items), of_replies(sides.outputs), judge)


def verified(
    given: Signature, predictions: Place, reference: Place | None, judgements: str | None, **formats: str | None
) -> Signature:
    """Return the signature of the files at hand, read as a score with the signature *given* reads them.

    Raises:
        InvalidData, UsageError, DataError: as :func:`score_answers`.
    """
    join: Any = given.options.get("join", "strict")
    options = AnswerOptions(profile=given.profile, join=join, judgements=judgements)
    return signed(read_answers(predictions, reference, options, **formats), options)


class AnswerSides(NamedTuple):
    """The questions and predictions to compare."""

    items: Sequence[Item] | None  # the questions; None where predictions carry what scoring needs
    outputs: Sequence[Prediction]  # the predictions
    profile: str  # the name of the way of scoring
    notices: tuple[Notice, ...] = ()  # what to know about the files


def read_answers(
    predictions: Place,
    reference: Place | None,
    options: AnswerOptions,
    format: str | None = None,
    reference_format: str | None = None,
) -> AnswerSides:
    """Return predictions, their questions, and how they are scored; arguments, errors as of :func:`score_answers`."""
    given, asked = _reading(predictions, format), None
    if reference is not None:
        try:
            asked = _reading(reference, reference_format)
        except (InvalidData, UsageError) as error:  # raise with the keys that the questions may have
            ids, advice = {str(row.id) for row in given.rows}, ""
            if reference_format is None:
                advice = _advised(reference, lambda data, path: own_keys.asked_advice(data, path, ids))
            if not advice:
                raise
            raise UsageError(
                f"{printable(path_of(reference))} holds no questions in a known format. {advice}"
            ) from error
    _check_sides(predictions, given, asked)
    if asked is None and given.format.holds == "items":
        asked = given  # MMAU's and MMAR's files hold both, and their programs read nothing else
    profile = options.profile or _profile_for(asked or given)
    if profile not in ANSWERS:
        close = meant(profile, ANSWERS) or f"; choose from {', '.join(ANSWERS)}"
        raise UsageError(f"unknown profile {profile!r} for questions{close}")
    items = _in_form(asked, "letter" if profile == "ruenvaqa" else "text") if asked is not None else None
    if items is None and not profile.startswith("jasco"):
        raise UsageError(f"{profile} requires the questions with their answers: --reference FILE")
    outputs, notices = _outputs(given), changed_copies(given, asked)
    if options.join == "order":
        if any(row.id is not None for row in outputs):
            raise DataError("--join order is for predictions without ids, and these have some: use --join strict")
        if len(outputs) != len(items or ()):
            raise DataError(
                f"--join order: {plural(len(outputs), 'prediction')} without ids for "
                f"{plural(len(items or ()), 'question')}: all after the gap would be compared with the wrong question. "
                "Write the ids of the questions"
            )
        pairs = zip(outputs, items or (), strict=True)
        outputs = [row.model_copy(update={"id": item.id}) for row, item in pairs]
        text = "the predictions have no ids and were joined to the questions line by line"
        notices.append(Notice("by-order", text, grave=True))
    return AnswerSides(items, outputs, profile, tuple(notices))


def _reading(path: Place, format: str | None) -> ItemReading:
    """Return the one file of questions or predictions at *path*."""
    chosen = formats.get(format, ItemFormat) if format is not None else None
    with reopened(path, raise_errors) as source:
        return only_reading(source, chosen)


def _check_sides(place: Place, given: ItemReading, asked: ItemReading | None) -> None:
    """Raise where predictions are none, or the reference holds no questions; the message says if they are swapped."""
    name = printable(given.path)
    if not has_outputs(given):
        if asked is not None and has_outputs(asked):
            raise UsageError(
                f"predictions and reference are swapped: {name} holds questions ({given.format.name}), "
                f"{printable(asked.path)} predictions ({asked.format.name}). Write the predictions first, and the "
                "questions after --reference"
            )
        key, advice = OUTPUTS.get(given.home), _keys_of_predictions(place, asked)
        hint = f"use --format or --fields. {advice}" if advice else "if that is wrong, use --format"
        held = "questions" if given.format.holds == "items" else "predictions"
        without = f" without {key}" if key else ""
        raise UsageError(f"{name} holds {held} ({given.format.name}){without}, not predictions; {hint}")
    if asked is not None and asked.format.holds != "items":
        raise UsageError(
            f"{printable(asked.path)} holds predictions ({asked.format.name}), not questions; if that is wrong, use "
            "--reference-format"
        )


def _advised(place: Place, advice: Callable[[bytes, str], str]) -> str:
    """Return what *advice* says of the data and the path of a single file; nothing of anything else."""
    if place == "-":
        return ""
    with reopened(place, raise_errors) as source:
        return advice(source.entries[0].read(), source.path) if source.single and source.entries else ""


def _keys_of_predictions(place: Place, asked: ItemReading | None) -> str:
    """Return which keys a file of predictions would need, and which it has."""
    holds = asked is not None and asked.format.holds == "items"
    questions = cast("Sequence[Item]", asked.rows) if asked is not None and holds else ()
    return _advised(place, lambda data, path: own_keys.advice(data, path, questions))


def no_answers(predictions: Place, reference: Place) -> UsageError:
    """Return the error for a file without predictions that is to be compared with questions.

    They may stand under keys of the user's own: it says which ones are wanted and which are there.
    """
    asked = _reading(reference, None)
    name, questions = printable(path_of(predictions)), printable(asked.path)
    advice = _keys_of_predictions(predictions, asked) or "seldio formats lists what can be read"
    return UsageError(f"{name} holds no predictions in a known format for the questions in {questions}. {advice}")


def _outputs(given: ItemReading) -> Sequence[Prediction]:
    """Return the predictions of a file, also those stored with their questions; one without output gives none."""
    if given.format.holds == "predictions" or "prediction" in given.table.column_names:
        return cast("Sequence[Prediction]", given.rows)
    key, rows = OUTPUTS.get(given.home, ""), list[Prediction]()
    for row in given.rows:
        if (output := (row.extra or {}).get(key)) is not None:
            text = output if isinstance(output, str) else None
            fields = {"id": row.id, "audio": row.audio, "task": row.task, "prompt": None, "prediction": text}
            rows.append(trusted(Prediction, fields | {"extra": row.extra}))
    return rows


def _in_form(asked: ItemReading, form: Literal["letter", "text"]) -> Sequence[Item]:
    """Return questions with answers as their scorer compares them: letters or texts of options, where that is clear."""
    items, home = cast("Sequence[Item]", asked.rows), formats.named(asked.home, ItemFormat) or asked.format
    if home.answers not in ("letter", "text") or (home.answers == form and not home.letters):
        return items
    in_form = list(items)
    for row, item in enumerate(items):
        if item.answer and item.options and len(places := home.meant(item.answer, item.options)) == 1:
            answer = option_letter(places.pop()) if form == "letter" else item.options[places.pop()]
            if answer != item.answer:
                in_form[row] = item.model_copy(update={"answer": answer})
    return in_form


def changed_copies(given: ItemReading, asked: ItemReading | None) -> list[Notice]:
    """Return a notice where predictions come with another right answer or other options than the reference."""
    if asked is None or asked is given or given.format.holds != "items":
        return []
    truth, copies = (
        {row.id: (row.answer, row.options) for row in reading.rows if isinstance(row, Item)}
        for reading in (asked, given)
    )
    changed = [id for id, copy in copies.items() if copy != truth.get(id, copy)]
    text = (
        "with another answer or other options in the file of predictions than in the reference "
        f"({listed(changed, 3)}): the official program takes those of the predictions, here the reference counts"
    )
    return counted("changed-copy", len(changed), "question", text, True)


def _profile_for(asked: ItemReading) -> str:
    """Return the way of scoring that belongs to a format; that of ``items`` follows from their tasks."""
    name = asked.home or asked.format.name
    if name in _USUAL:
        return _USUAL[name]
    items = [row for row in asked.rows if isinstance(row, Item)]
    if items and all(item.task in PUBLISHED for item in items):
        return "so-bench"
    if items and all(item.options for item in items):
        return "multiple-choice"
    raise UsageError(f"questions in {name} have no default profile: choose one with --profile")


_USUAL = {
    "so-bench": "so-bench", "so-dataset-qa": "so-bench", "so-bench-predictions": "so-bench", "jasco": "jasco",
    "jasco-predictions": "jasco", "ruenvaqa": "ruenvaqa", "ruenvaqa-submission": "ruenvaqa", "mmau": "mmau",
    "mmar": "mmar", "adqa": "dcase2026-task5", "adqa-train": "dcase2026-task5",
}  # fmt: skip


def counted_answers(
    sides: AnswerSides, options: AnswerOptions, tally: JudgeTally, ask: Ask | None = None
) -> jasco.JascoCase | choices.ChoiceCase | so_bench.SoBenchCase:
    """Return the answers of *sides*, counted the way that they are scored.

    Raises:
        UsageError: an option makes no sense.
        DataError: predictions and questions do not fit.
    """
    profile, items, outputs = sides.profile, sides.items or [], sides.outputs
    missing = options.allow_missing
    prompt = options.judge.prompt if options.judge is not None else _WORDS
    if prompt != _WORDS and not profile.startswith("jasco"):
        raise UsageError(f"--judge-set prompt is for JASCO; the judge of {profile} is asked in seldio's words")
    if profile.startswith("jasco"):
        if prompt not in jasco.PROMPTS:
            raise UsageError(f"unknown prompt {printable(prompt)}; choose from {', '.join(sorted(jasco.PROMPTS))}")
        mode: jasco.Mode = "eval.py" if profile == "jasco-eval.py" else "corrected"
        judgements = None
        if options.judgements:
            judgements = read_judgements(_bytes(options.judgements), options.judgements)
        given = outputs, sides.items
        return jasco.count(*given, mode=mode, judge=ask, judgements=judgements, prompt=prompt, allow_missing=missing)
    if not profile.startswith("so-bench"):
        return choices.count(items, outputs, profile=profile, allow_missing=missing, ask=ask)
    for name in options.threshold:
        if name not in so_bench.THRESHOLDS:
            raise UsageError(f"unknown threshold {printable(name)}; choose from {', '.join(so_bench.THRESHOLDS)}")
    judge = so_bench.through(ask) if ask is not None else None
    if options.judgements:
        judge = imported(options.judgements, tally)
    join: so_bench.JoinedBy = "official" if options.join == "official" else "strict"  # order has become ids
    limits = so_bench.PROFILES[profile].changed(**options.threshold)
    return so_bench.count(items, outputs, limits, judge=judge, join=join, offline=options.offline)


# --- the judge -------------------------------------------------------------------------------------


def imported(path: str, tally: JudgeTally) -> SoBenchJudge:
    """Return judgements of SO-Bench from an external judge: by id, or the rows of the official program's cache.

    Those by id that their task cannot read give no verdict, and are counted in *tally*.

    Raises:
        UsageError: the file cannot be read.
        DataError: a line is not a judgement.
    """
    rows = [document.value for document in parse_lines(_bytes(path), path, raise_errors)]
    if rows and all(isinstance(row, dict) and "cache_key" in row for row in rows):
        return so_bench.from_cache(rows)
    judgements = read_judgements(_bytes(path), path)

    def verdict(request: AnsweredQuestion) -> SoBenchJudgement | None:
        if (value := judgements.get(request.id)) is None:
            return None
        wrong = faults(value, request.task)
        tally.counts["asked"] += 1
        tally.refused.update(wrong[:1])
        return None if wrong or isinstance(value, str) else value

    return lambda requests: [verdict(request) for request in requests]


def _bytes(path: str) -> bytes:
    try:
        return LocalPath(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{printable(path)}: {error.strerror}") from error
