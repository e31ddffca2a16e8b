"""The verbs of the package in Python, with the words of the command line, which calls nothing else.

An option ``--allow-loss`` of ``seldio convert`` is the keyword ``allow_loss`` of :func:`convert`, and so on for all
commands; a test holds the two together. What is loaded for a verb is loaded when it is called.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from seldio.errors import InvalidData, UsageError
from seldio.findings import Report, Severity, raise_errors

if TYPE_CHECKING:
    import pyarrow as pa

    from seldio.check.reference import AnyReference
    from seldio.check.repair import Fixed
    from seldio.check.settings import Settings
    from seldio.conversion.report import Conversion
    from seldio.files import Source
    from seldio.formats import LabelFormat
    from seldio.reports.tables import ScoreReport

__all__ = [
    "Description", "Validation", "convert", "info", "rank", "read", "score", "validate", "write",
]  # fmt: skip

Path = str | os.PathLike[str]
#: No values at all, as the default of options that map names to values.
NOTHING: Mapping[str, Any] = MappingProxyType({})


# --- tables ---------------------------------------------------------------------------------------------------------


def read(path: Path, *, format: str | None = None, force: bool = False) -> pa.Table:
    """Read labels, questions or predictions into one Arrow table.

    Args:
        path: a file, folder, archive or standard input (``-``) with files of one kind.
        format: the layout; found from the content if not given.
        force: give rows in which there are errors too, such as angles in radians or classes that do not exist.

    Returns:
        Of labels an event table: one row for each active source in each label frame, with the columns that the files
        carry (see :data:`seldio.schema.events.COLUMNS`): angles in degrees, azimuth counter-clockwise (+90 is left),
        distances in metres; clips without rows are in the metadata. Of questions and predictions one row each (see
        :data:`seldio.schema.qa.ITEM_SCHEMA` and ``PREDICTION_SCHEMA``).

    Raises:
        InvalidData: the first thing wrong, with file, line and column.
        UnknownFormat: the content does not tell the layout; the message names the candidates.
        UsageError: nothing has that name, or the files have several layouts.
        SeldioError: the disk fails.
    """
    from seldio import formats
    from seldio.conversion.inputs import read_single
    from seldio.conversion.items import read_item_table
    from seldio.formats import ItemFormat

    if format is not None and (named := formats.named(format, ItemFormat)) is not None:
        return read_item_table(path, named)
    try:
        found = read_single(path, format)
    except (InvalidData, UsageError):
        if format is None and os.fspath(path) != "-" and (table := read_item_table(path)) is not None:
            return table
        raise
    found.faults.settle(force)
    return found.table


def write(
    table: Any,
    path: Path,
    format: str,
    *,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
) -> tuple[str, ...]:
    """Write a table: events as a folder with a file for each clip, as one file or as Parquet; questions as one file.

    Args:
        table: an event table or a table of questions or predictions, as :func:`read` gives them; or a DataFrame of
            pandas or polars, or anything else with ``__arrow_c_stream__``, with columns of one. Questions and
            predictions may also be a list of :class:`~seldio.schema.qa.Item` or ``Prediction``.
        path: the folder; of one clip a file if it has a suffix, such as ``mix001.csv``; of questions the file.
        format: the layout to write.
        allow_loss: fields whose loss is accepted, as names or a text with commas; ``all`` for every one.
        fill: values for fields that the layout needs and an event table lacks, by field: angles in degrees,
            ``distance`` in metres.
        force: write labels in which there are errors too, such as angles in radians or classes that do not exist.

    Returns:
        The paths written.

    Raises:
        InvalidData: something in the table is wrong; the line is the number of the row, from 1.
        LossError: the layout cannot carry a field that the table has.
        UsageError: the layout needs a field that the table lacks, or the table is of another kind.
        SeldioError: the disk fails.
    """
    from seldio.conversion.items import is_item_table, write_item_table
    from seldio.conversion.labels import write_events
    from seldio.formats import get

    if is_item_table(table):
        return write_item_table(table, path, format, allow_loss)
    out = os.fspath(path)
    single = re.search(r"\.[a-z]\w*$", out, re.IGNORECASE) is not None
    return write_events(table, out, get(format), single=single, allow_loss=allow_loss, fill=fill, force=force)


# --- what is here, and is it right ----------------------------------------------------------------------------------


class Description(dict[str, Any]):
    """What a source holds, as plain values for JSON; printed, it is the text that ``seldio info`` shows."""

    def __str__(self) -> str:
        from seldio.check.description import as_text

        return as_text(self)


def info(path: Path, *, format: str | None = None) -> Description:
    """What is in a source: layouts with their evidence, clips, events, classes, overlaps; of questions their counts.

    Args:
        path: a file, folder, archive, or ``-`` for standard input.
        format: the layout; found from the content if not given.

    Returns:
        Counts and names by key. Of a single recording also channels, rate, length, peak and levels (dB of full
        scale) by channel; of a video its pictures.

    Raises:
        UsageError: nothing has that name, or no such format exists.
        SeldioError: the disk fails.
    """
    from seldio.check.description import describe

    return Description(describe(path, format))


@dataclasses.dataclass(slots=True)
class Validation(Report):
    """The report of :func:`validate`.

    Args:
        fail_on: the least severity that makes the data fail.
        changes: the files that were repaired, or would be with *diff*: path, bytes before and after, codes.
        remark: what was done beside checking, in a sentence; empty where nothing was.
    """

    fail_on: Severity = Severity.ERROR
    changes: tuple[Fixed, ...] = ()
    remark: str = ""

    @property
    def failed(self) -> bool:
        """Whether any finding is at least as bad as :attr:`fail_on`."""
        return self.reaches(self.fail_on)


def validate(
    path: Path | Sequence[Path],
    *,
    format: str | None = None,
    reference: AnyReference | Path = None,
    select: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    fail_on: Severity | str | None = None,
    deep: bool = False,
    fix: bool = False,
    unsafe_fixes: bool = False,
    diff: bool = False,
    baseline: Path | None = None,
    write_baseline: Path | None = None,
    config: Settings | Path | None = None,
) -> Validation:
    """Check labels, submissions, questions, predictions and data sets, and repair them if asked to.

    Args:
        path: a file, folder, archive or standard input (``-``); or several of them.
        format: the layout of all label files; found from their content if not given.
        reference: for labels the clips to expect (a folder of recordings or labels, ``mix001..mix079``,
            ``starss23:dev-test``), for predictions the file with their questions; or what
            :func:`seldio.check.reference.load` makes of one.
        select: only these rules: prefixes of codes, in a list or a text with commas.
        ignore: not these rules, likewise.
        fail_on: what makes the data fail: ``error`` (if not given), ``warning`` or ``info``.
        deep: listen to all recordings, decode all videos, and compare labels with the sound; it takes its time.
        fix: repair on disk what is safe to repair.
        unsafe_fixes: repair what is a good guess as well.
        diff: work out what a repair would change, and change nothing.
        baseline: leave out the findings that this file lists.
        write_baseline: list all findings in this file as known.
        config: settings, as an object or a ``seldio.toml`` or ``pyproject.toml``; the command line takes the closest
            one, in Python none is looked for.

    Returns:
        Every finding, sorted by file, line and column, with the number of files read; after a repair what is left.

    Raises:
        UsageError: nothing has that name, no such format or rule exists, or the reference is of the wrong kind.
        SeldioError: the disk fails.
    """
    from pathlib import Path as Disk

    from seldio.check import settings
    from seldio.check.reference import load
    from seldio.check.repair import nothing, repair, repairs
    from seldio.check.validation import Examined, examine

    chosen = _settings(config, select, ignore, fail_on, baseline)
    expected = load(os.fspath(reference)) if isinstance(reference, str | os.PathLike) else reference
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)

    def one(path: Path, changed: Mapping[str, bytes] | None = None) -> Examined:
        return examine(path, format=format, reference=expected, settings=chosen, changed=changed, deep=deep, rows=False)

    piped = {path: one(path) for path in set(paths) & {"-"}}  # standard input can be read only once

    def check(changed: Mapping[str, bytes]) -> list[Examined]:
        return [piped.get(path) or one(path, changed) for path in paths]

    examined = check({})
    changes: tuple[Fixed, ...] = ()
    remark = ""
    if diff:
        changes = tuple(repairs(examined, unsafe_fixes, check))
        remark = "" if changes else nothing(examined, unsafe_fixes)
    elif fix or unsafe_fixes:
        remark, changes, examined = repair(examined, unsafe_fixes, check)
    found = Validation(files=sum(one.report.files for one in examined), fail_on=chosen.fail_on, changes=changes)
    found.add(finding for one in examined for finding in one.report.findings)
    if write_baseline is not None and not diff:
        count = settings.write_baseline(Disk(write_baseline), found.findings)
        remark = f"{remark}\n{count:,} findings listed in {write_baseline}".lstrip("\n")
    found.remark = remark
    return found


def _settings(
    config: Settings | Path | None, select: str | Sequence[str] | None, ignore: str | Sequence[str] | None,
    fail_on: Severity | str | None, baseline: Path | None,
) -> Settings:  # fmt: skip
    """The settings of *config*, with what the caller says on top."""
    from pathlib import Path as Disk

    from seldio.check import settings

    chosen = settings.load_file(Disk(config)) if isinstance(config, str | os.PathLike) else config
    chosen = chosen or settings.Settings()
    if select is not None:
        chosen = dataclasses.replace(chosen, select=settings.codes(select, "--select"))
    if ignore is not None:
        chosen = dataclasses.replace(chosen, ignore=(*chosen.ignore, *settings.codes(ignore, "--ignore")))
    if fail_on is not None:
        chosen = dataclasses.replace(chosen, fail_on=settings.severity(fail_on, "--fail-on"))
    if baseline is not None:
        chosen = dataclasses.replace(chosen, baseline=settings.read_baseline(Disk(baseline)))
    return chosen


# --- from one format to another -------------------------------------------------------------------------------------


def convert(
    path: Path | Source,
    out: Path | BinaryIO,
    target: LabelFormat | str,
    *,
    format: LabelFormat | str | None = None,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
    seed: int = 0,
    tasks: str | Sequence[str] | None = None,
    window: float = 20.0,
    hop: float | None = None,
    margin: Mapping[str, float] = NOTHING,
    total: int | None = None,
    per_task: int | None = None,
    balance: bool = False,
    split: str = "test",
    audio: bool = False,
    gain: float | None = None,
) -> Conversion:
    """Convert labels or questions on disk to another format, labels to questions, or recordings to another array.

    A file becomes a file; a folder, archive or Parquet table becomes a folder of files with the same relative names
    and the target's suffix; anything becomes one Parquet file. Questions become one file. Everything is read and
    checked before the first file is written, and each file is written whole or not at all. Losses are named first.

    Args:
        path: a file, folder, archive, ``-`` for standard input, or an open source of labels; or the name of a data
            set, such as ``starss23``, which is looked for where data sets usually are.
        out: the file or folder to write; one file may also go into an existing folder, or into a binary stream.
        target: the format to write: of labels or questions, ``foa`` or ``mic``, or a way to store a data set such as
            ``hf-parquet``; ``files`` is the way back.
        format: the layout of the source; found from its content if not given.
        allow_loss: fields whose loss is accepted, as names or a text with commas; ``all`` for every one.
        fill: values for fields that are unknown, by field: angles in degrees, ``distance`` in metres.
        force: convert labels in which there are errors too, such as angles in radians or classes that do not exist.
        seed: labels to questions: another seed asks in other words and chooses other items.
        tasks: labels to questions: only these tasks, in a list or a text with commas.
        window: labels to questions: seconds of a clip, at most 20.
        hop: labels to questions: seconds from clip to clip; the window if not given.
        margin: labels to questions: what must differ by how much to be asked about, see
            :class:`seldio.tasks.margins.Margins`, such as ``{"azimuth": 30}`` (degrees).
        total: labels to questions: so many in all, in the proportions of SO-Bench as far as there are enough.
        per_task: labels to questions: at most so many of a task, of all answers alike.
        balance: labels to questions: as many as the proportions of SO-Bench allow; the scarcest task decides.
        split: labels to questions: the split written into each question.
        audio: labels to questions: cut the sound of the clips (FOA, 16 kHz) into ``audio/`` beside the output.
            ``foa`` and ``mic``: make the recordings, in place of taking those that the data set has.
        gain: ``foa`` and ``mic``: decibels by which recordings that are made become louder.

    Returns:
        What was done: formats, files, rows, losses, notes; of questions what was asked and skipped as well.

    Raises:
        InvalidData: something in the source is wrong, so that rows would be lost or mean something else.
        LossError: the target cannot carry a field, and its loss is not allowed.
        UnknownFormat: the layout of the source has to be named.
        UsageError: the request makes no sense, or would overwrite its own source.
        SeldioError: the disk fails.
    """
    from seldio.conversion.dispatch import convert_any
    from seldio.conversion.questions import QuestionOptions
    from seldio.tasks.margins import margins_of

    options = QuestionOptions(
        seed=seed, tasks=None if not tasks else _names(tasks), window=window, hop=hop, margins=margins_of(dict(margin)),
        split=split, per_task=per_task, balance=balance, total=total, audio=audio, force=force,
    )  # fmt: skip
    return convert_any(path, out, target, format, _names(allow_loss), fill, options, gain)


def _names(names: str | Iterable[str]) -> list[str]:
    """Names from a list, or from a text with commas between them."""
    return [name.strip() for name in (names.split(",") if isinstance(names, str) else names) if name.strip()]


# --- scores ---------------------------------------------------------------------------------------------------------


def score(
    predictions: Path,
    reference: Path | None = None,
    *,
    profile: str | None = None,
    format: str | None = None,
    reference_format: str | None = None,
    allow_missing: bool = False,
    force: bool = False,
    average: Literal["macro", "micro"] | None = None,
    angle: float | None = None,
    distance: float | None = None,
    relative: float | None = None,
    onscreen: bool = False,
    classes: str | None = None,
    jackknife: bool = False,
    official_points: bool = False,
    by_clip: bool = False,
    recordings: Path | None = None,
    join: Literal["strict", "official"] = "strict",
    offline: Literal["extract", "none", "official-fallback"] = "extract",
    threshold: Mapping[str, float] = NOTHING,
    judge: str | None = None,
    judge_url: str | None = None,
    judge_cache: Path | None = None,
    judge_concurrency: int = 8,
    judge_rpm: float | None = None,
    judge_price: Sequence[float | str] | str | None = None,
    judge_again: bool = False,
    judge_timeout: float = 120.0,
    judge_retries: int = 4,
    judge_max_tokens: int = 1024,
    judge_temperature: float = 0.0,
    judge_json: bool = True,
    judgements: Path | None = None,
    dry_run: bool = False,
) -> ScoreReport:
    """Score the outputs of a system against labels, or a model's answers against questions.

    Args:
        predictions: label files of a system, or a file of answers.
        reference: the labels, or the questions; predictions of JASCO, MMAU and MMAR that carry theirs need none.
        profile: the way of scoring, e.g. ``dcase2024`` or ``so-bench-paper``; by default that of the data.
        format: the layout of the predictions; found from their content if not given.
        reference_format: that of the reference, likewise.
        allow_missing: score what both sides have, and say what one of them lacks.
        force: score labels and predictions in which there are errors too.
        average: labels: macro or micro; the profile's first by default.
        angle: labels: degrees that a prediction may be off; the profile's by default, as the next two.
        distance: labels: metres that it may be off.
        relative: labels: distance error over distance.
        onscreen: labels: whether it must agree on being in the picture.
        classes: labels: vocabulary of the classes; the profile's by default.
        jackknife: labels: with 95 % confidence intervals.
        official_points: labels: with the point values that the official jackknife prints, where it prints any.
        by_clip: labels: with the scores of each clip.
        recordings: labels: the recordings that were labelled, which tell where a clip ends; where they are beside
            the labels in a data set tree they are found.
        join: answers: ``official`` joins predictions of SO-Bench as its program does, ``strict`` by id.
        offline: answers: what SO-Bench decides without a judge.
        threshold: answers: of SO-Bench, by name: azimuth and elevation (degrees), distance (metres), onset
            (seconds), wer (a share).
        judge: answers: the language model that decides what texts do not tell, as its server names it.
        judge_url: its server, down to ``/v1``.
        judge_cache: SQLite file of its replies.
        judge_concurrency: calls at a time.
        judge_rpm: calls a minute.
        judge_price: for a million tokens sent and received, and perhaps a currency: ``(0.15, 0.6, "EUR")``.
        judge_again: ask again, whatever the cache holds.
        judge_timeout: seconds without a byte from the server.
        judge_retries: further tries of a call that failed.
        judge_max_tokens: of a reply.
        judge_temperature: of the model.
        judge_json: ask the server for JSON; some servers refuse that.
        judgements: answers: file of judgements made elsewhere.
        dry_run: ask the judge nothing; the report says in a notice what asking would take.

    Returns:
        Tables of scores and what there is to know about them. Angles are degrees, shares are from 0 to 1.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, a field is missing, or there is nothing to score.
        DataError: predictions and reference do not fit.
        SeldioError: a judge cannot be asked.
    """
    from seldio.reports.tables import Notice, ScoreReport
    from seldio.scores import answers
    from seldio.scores.seld.score_labels import SeldOptions, score_labels

    server = _judge(
        judge, judge_url, judge_price, cache=judge_cache, concurrency=judge_concurrency, max_rpm=judge_rpm,
        again=judge_again, timeout=judge_timeout, retries=judge_retries, max_tokens=judge_max_tokens,
        temperature=judge_temperature, json_mode=judge_json, dry_run=dry_run,
    )  # fmt: skip
    named = {
        "average": average, "angle": angle, "distance": distance, "relative": relative, "onscreen": onscreen,
        "classes": classes, "jackknife": jackknife, "official_points": official_points, "by_clip": by_clip,
        "recordings": recordings, "force": force, "join": join, "offline": offline, "thresholds": dict(threshold),
        "judge": server, "judgements": judgements,
    }  # fmt: skip
    usual: dict[str, Any] = {"join": "strict", "offline": "extract", "thresholds": {}}
    chosen = {name: value for name, value in named.items() if value not in (None, False, usual.get(name))
            or (value == 0 and value is not False)}  # fmt: skip
    chosen |= {"allow_missing": allow_missing, "profile": profile}
    formats = {"format": format, "reference_format": reference_format}
    if _are_answers(predictions, profile, format):
        options = _options(answers.AnswerOptions, chosen)
        if dry_run:
            plan = answers.plan_answers(predictions, reference, options, **formats)
            return ScoreReport(os.fspath(predictions), profile or "", "a dry run", "", (), (Notice("dry-run", plan),))
        return answers.score_answers(predictions, reference, options, **formats)
    options = _options(SeldOptions, chosen)
    if reference is None:
        raise UsageError("labels are scored against labels: name a reference")
    return score_labels(predictions, reference, options, **formats)


def _are_answers(predictions: Path, profile: str | None, format: str | None) -> bool:
    """Whether *predictions* are answers to questions, as the profile, the format or the content says."""
    from seldio import formats
    from seldio.conversion.items import held_items
    from seldio.files import open_source
    from seldio.formats import ItemFormat
    from seldio.scores.answers import PROFILES

    if profile is not None:
        return profile in PROFILES
    if format is not None:
        return formats.named(format, ItemFormat) is not None
    with open_source(predictions, raise_errors) as source:
        return held_items(source) is not None


def _options(kind: Any, options: Mapping[str, Any]) -> Any:
    """The options of *kind*.

    Raises:
        UsageError: one of them does not exist there.
    """
    known = {field.name for field in dataclasses.fields(kind)}
    if foreign := sorted(options.keys() - known):
        raise UsageError(f"no option {', '.join(foreign)} here; there are {', '.join(sorted(known))}")
    return kind(**options)


def _judge(model: str | None, url: str | None, price: Sequence[float | str] | str | None, **options: Any) -> Any:
    """The judge that the options name; None where they name none.

    Raises:
        UsageError: half of one is named.
    """
    from seldio.scores.answers import JudgeOptions

    usual = {field.name: field.default for field in dataclasses.fields(JudgeOptions)}
    if model is None and url is None:
        if price is not None or any(value != usual[name] for name, value in options.items()):
            raise UsageError("--dry-run and the options of a judge need --judge MODEL and --judge-url URL")
        return None
    if model is None or url is None:
        raise UsageError("a judge is a model on a server: --judge MODEL --judge-url URL")
    return JudgeOptions(model, url, **options, **(_price(price) if price is not None else {}))


def _price(price: Sequence[float | str] | str) -> dict[str, Any]:
    """The prices of tokens, and their currency where one is named."""
    parts = [part.strip() for part in price.split(",")] if isinstance(price, str) else list(price)
    try:
        sent, received, *currency = parts
        found = {"price": (float(sent), float(received))}
    except ValueError:
        currency = ["", ""]
    if len(currency) > 1:
        text = price if isinstance(price, str) else ",".join(map(str, price))
        raise UsageError(f"--judge-price {text}: two numbers and perhaps a currency, as in 0.15,0.6 or 0.15,0.6,EUR")
    return found | ({"currency": str(currency[0]).upper()} if currency else {})


def rank(
    scores: Path | ScoreReport | Sequence[Path | ScoreReport], *, metrics: str | Sequence[str] = ()
) -> ScoreReport:
    """Rank systems by the sum of their places on every metric, as the task page of DCASE Task 3 says.

    Args:
        scores: score files (json or csv) or folders of them, or reports of :func:`score`; one or several.
        metrics: rank by these only, in a list or a text with commas; ``NAME:higher`` for others.

    Returns:
        A table for each track, with what there is to know.

    Raises:
        UsageError: nothing has that name, or the systems have no scores in common.
        DataError: a file holds no scores, or they cannot be compared.
    """
    from seldio.reports.tables import ScoreReport
    from seldio.scores import ranking

    several = [scores] if isinstance(scores, str | os.PathLike | ScoreReport) else scores
    parts = [ranking.scores_of([one]) if isinstance(one, ScoreReport) else ranking.read_scores(one) for one in several]
    return ranking.report(ranking.collected(parts), _names(metrics))
