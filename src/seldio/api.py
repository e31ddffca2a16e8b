"""The commands as Python functions, from whose signatures and docstrings the command line is made.

The keyword ``allow_loss`` of :func:`convert` is the option ``--allow-loss`` of ``seldio convert``, and so on for all
commands: the first type of its annotation is that of the option, its text in the docstring is the help, up to what is
said of Python; a first word such as ``questions:`` names the section of the help. What a function needs is imported
when it is called.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, ParamSpec, TypeVar, cast

from seldio.errors import UsageError
from seldio.findings import Finding, Report, Severity, Sink, raise_errors
from seldio.text import Displayed, plural, printable

if TYPE_CHECKING:
    from seldio.catalogues import Catalogue
    from seldio.challenge import Packaged
    from seldio.check.reference import AnyReference
    from seldio.check.repair import Fixed
    from seldio.check.settings import Settings
    from seldio.conversion.report import Conversion
    from seldio.differences.report import Difference
    from seldio.formats import LabelFormat
    from seldio.reports.tables import ScoreReport
    from seldio.schema import arrow_types as pa
    from seldio.scores.judge import Judging
    from seldio.scores.resampling import Intervals

__all__ = [
    "Description", "Validation", "cite", "compare", "convert", "diff", "info", "package", "rank", "read", "score",
    "validate", "verify", "write",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")
Path = str | os.PathLike[str]
#: The default of options that map names to values: no values.
NOTHING: Mapping[str, Any] = MappingProxyType({})


def _accepting_old_names(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function take the keywords of before 0.3 as well."""
    names = inspect.signature(function).parameters.keys()

    @functools.wraps(function)
    def accepting(*args: P.args, **options: P.kwargs) -> R:
        if options.keys() <= names:
            return function(*args, **options)
        from seldio.renamed import renewed

        present: dict[str, Any] = renewed(function.__name__, options)[0]
        return function(*args, **present)

    return accepting


# --- tables ---------------------------------------------------------------------------------------------------------


def read(path: Any, *, format: str | None = None, force: bool = False) -> pa.Table:
    """Read labels, questions or predictions into one Arrow table.

    Args:
        path: a file, folder, archive or standard input (``-``) with files of one kind; the bytes of a file, or an open
            file; or a table to be checked and brought into the same form: a DataFrame, an Arrow table, a list of dicts.
        format: the format; detected from the content by default.
        force: return rows even if they have errors, such as angles in radians or unknown classes.

    Returns:
        For labels, an event table: one row per active source and label frame, with the columns that the files have
        (see :data:`seldio.schema.events.COLUMNS`). Angles are in degrees, azimuth is counter-clockwise (+90° is left),
        distances are in metres; clips without rows are listed in the metadata. Formats of one class list, such as those
        of STARSS23 and of synthetic scenes, are one table. For questions and predictions, one row each (see
        :data:`seldio.schema.qa.ITEM_SCHEMA` and ``PREDICTION_SCHEMA``).

    Raises:
        InvalidData: the data has an error; the message gives the first one with file, line and column.
        UnknownFormat: the format cannot be detected; the message lists the candidates.
        UsageError: the path does not exist, or labels and questions lie together, or the files have formats of several
            class lists or frame lengths.
        SeldioError: a file cannot be read.
    """
    from seldio.conversion.inputs import read_table

    return cast("pa.Table", read_table(_in_memory(path, "the table"), format, force))


def _in_memory(data: Any, name: str, own_names: bool | None = False, sink: Sink = raise_errors) -> Any:
    """Return *data* as a source called *name*; a path, and a source, as they are."""
    if isinstance(data, str | os.PathLike):
        return data
    from seldio.conversion.inputs import in_memory

    return in_memory(data, name, own_names=own_names, sink=sink)


def _each(data: Any) -> list[Any]:
    """Return the paths or tables that a user names, one or several."""
    data = list(data) if isinstance(data, Generator | map | filter) else data  # as Path.glob gives
    several = isinstance(data, list | tuple) and not (data and all(isinstance(row, dict) for row in data))
    return list(data) if several else [data]


def write(
    table: Any,
    path: Path,
    format: str,
    *,
    allow_loss: str | Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
) -> tuple[str, ...]:
    """Write a table: events as a folder with one file per clip, as one file or as Parquet; questions as one file.

    Args:
        table: a table of events, questions or predictions, as returned by :func:`read`; or a pandas or polars
            DataFrame, or anything else with ``__arrow_c_stream__``, that has the same columns. Questions and
            predictions may also be a list of :class:`~seldio.schema.qa.Item` or ``Prediction``. The path of files is
            taken as by :func:`convert`.
        path: the folder; the file for questions, and for a single clip if it has a suffix, such as ``mix001.csv``.
        format: the format to write; events are asked about if it is one of questions, as by :func:`convert`.
        allow_loss: fields that may be lost: names, or a string with commas between them, or ``all``.
        fill: values for fields that the format needs and the table lacks; angles in degrees, ``distance`` in metres.
        force: write labels even if they have errors, such as angles in radians or unknown classes.

    Returns:
        The paths written.

    Raises:
        InvalidData: the table has an error; the line is the number of the row, from 1.
        LossError: the format cannot hold a field that the table has.
        UsageError: the format needs a field that the table lacks, or cannot hold it.
        SeldioError: a file cannot be written.
    """
    from seldio.conversion.dispatch import convert_any
    from seldio.tasks.specs import QuestionOptions

    source, options = _in_memory(table, "the table"), QuestionOptions(force=force)
    return convert_any(source, path, format, None, _names(allow_loss), fill, options).written


# --- describing and checking data ----------------------------------------------------------------------------------


class Description(Displayed, dict[str, Any]):
    """A description of a source as plain values for JSON; printed, it is the text of ``seldio info``."""

    def __str__(self) -> str:
        from seldio.check.description import as_text

        return as_text(self)


def info(path: Any, *, format: str | None = None, write: bool = False) -> Description:
    """Describe a source: its format and why; clips, events and classes; questions; levels of a recording.

    Of a dataset or benchmark, by its name: contents, licence, download address, published results.

    Args:
        path: a file, folder or archive, or ``-`` for standard input; or the name of a dataset or benchmark
            (``starss23``). In Python also what is in memory, as for :func:`validate`.
        format: the format of the files, or their ``dataset.toml``; detected from their content by default.
        write: write this description to ``dataset.toml`` in its root.

    Returns:
        Counts and names by key. For a single recording, also its channels, sample rate, length, peak and the level of
        each channel (dBFS); for a video, its frames. Under ``about``, what is known of the dataset or benchmark: of a
        name all of it, of a source that was recognized the licence and where to download it.

    Raises:
        UsageError: the path or the format does not exist.
        SeldioError: a file cannot be read.
    """
    from seldio.check.description import describe

    if write:
        from seldio.conversion.new_dataset import write_known

        write_known(os.fspath(path), format)
    return Description(describe(_in_memory(path, "the table"), format))


def cite(*names: str) -> str:
    """Print how to cite datasets and benchmarks, as BibTeX.

    Args:
        names: datasets and benchmarks, such as ``starss23``; without a name, list them.

    Returns:
        Entries of BibTeX, each once, below a line that says what it is cited for; or a line for each name.

    Raises:
        UsageError: there is no such dataset or benchmark; the message lists them.
    """
    from seldio.formats.about import bibtex

    return bibtex(names)


def catalogue(path: Path, *, format: str | None = None) -> Catalogue:
    """Say what each file of a source is, as every other function sees it: in groups, with evidence and doubt.

    Args:
        path: a file, folder or archive.
        format: the format; detected from the content by default.

    Returns:
        Groups of files (``.groups``; ``.of("labels")`` gives those of a kind) and a table of them (``.table()``).
        Kinds are labels, questions, predictions, recording, video, list (a table of words), description
        (``dataset.toml``), unreadable and other. ``.findings`` has what is wrong with an
        archive and with files that could not be told.

    Raises:
        UsageError: the path or the format does not exist.
        SeldioError: a file cannot be read.
    """
    from seldio.catalogues import Catalogue
    from seldio.files import open_source

    opened: list[Finding] = []
    with open_source(path, opened.append) as source:
        files = Catalogue(source, format)
        files.findings[:0] = opened
        return files


@dataclasses.dataclass(slots=True, repr=False)
class Validation(Report):
    """The report of :func:`validate`.

    Args:
        fail_on: the lowest severity at which the data fails.
        changes: the files that were repaired, or would be (with *diff*): path, bytes before and after, codes.
        remark: what was done in addition to checking, in a sentence; may be empty.
    """

    fail_on: Severity = Severity.ERROR
    changes: tuple[Fixed, ...] = ()
    remark: str = ""

    @property
    def failed(self) -> bool:
        """Whether a finding is as severe as :attr:`fail_on`, or more severe."""
        return self.reaches(self.fail_on)

    def _repr_html_(self) -> str:
        from seldio.reports.page import as_html
        from seldio.rules import CATALOGUE

        return as_html(self, CATALOGUE)


def validate(
    path: Any,
    *,
    format: str | None = None,
    fields: str | Mapping[str, str] | None = None,
    reference: Path | AnyReference = None,
    select: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    fail_on: str | Severity | None = None,
    deep: bool = False,
    fix: bool = False,
    unsafe_fixes: bool = False,
    diff: bool = False,
    baseline: Path | None = None,
    write_baseline: Path | None = None,
    config: Path | Settings | None = None,
) -> Validation:
    """Check labels, submissions and datasets: what is wrong, where, why it matters and what to do.

    Args:
        path: files, folders, archives (zip, tar), or ``-`` for standard input. In Python also what is in memory: the
            bytes of a file, an open file or stream, a DataFrame, an Arrow table or a list of dicts.
        format: the format of the files, or their ``dataset.toml``; detected from their content by default.
        fields: the keys or columns of predictions in a file of your own: ``id=sample_id,prediction=response_text``.
        reference: for labels, the clips to expect: a folder of recordings or labels, also with a split
            (``FOLDER:dev-test``), ``mix001..mix079``, or ``starss23:dev-test``; for predictions, the file with their
            questions. In Python also the result of :func:`seldio.check.reference.load`.
        select: rules: check only these: codes or prefixes, separated by commas. In Python also a list.
        ignore: rules: skip these: codes or prefixes, separated by commas. In Python also a list.
        fail_on: report: exit with code 1 on findings of this severity or worse: error (default), warning or info.
        deep: also decode recordings and videos, and compare labels with the audio (slow).
        fix: repair: apply repairs that are always safe.
        unsafe_fixes: repair: also apply repairs that are a good guess.
        diff: repair: show what a repair would change, without changing it.
        baseline: rules: leave out the findings listed in this file.
        write_baseline: rules: accept all current findings: write them to this file.
        config: settings file; the nearest ``seldio.toml`` or ``pyproject.toml`` by default. In Python none by default.

    Returns:
        All findings, sorted by file, line and column, and the number of files read; after a repair, what is left.

    Raises:
        UsageError: a path, format or rule does not exist, or the reference is of the wrong kind.
        SeldioError: a file cannot be read or written.
    """
    from pathlib import Path as Disk

    from seldio.check import settings
    from seldio.check.validation import Examined, examine

    chosen = _settings(config, select, ignore, fail_on, baseline)
    format = _own_keys(fields, format)
    if isinstance(reference, str | os.PathLike):
        from seldio.check.reference import load

        reference = load(os.fspath(reference))
    opened: list[Finding] = []
    paths = [_in_memory(place, "the table", fields is not None, opened.append) for place in _outermost(_each(path))]
    if (fix or unsafe_fixes) and not all(isinstance(place, str | os.PathLike) for place in paths):
        raise UsageError("--fix repairs files, but this is in memory: write it to a file first")
    examine_one = functools.partial(examine, format=format, reference=reference, settings=chosen, deep=deep)
    piped = [examine_one("-")] if "-" in paths else []  # standard input can be read only once

    def check(changed: Mapping[str, bytes]) -> list[Examined]:
        return [piped[0] if place == "-" else examine_one(place, changed=changed) for place in paths]

    examined = check({})
    changes: tuple[Fixed, ...] = ()
    remark = ""
    if diff or fix or unsafe_fixes:
        from seldio.check.repair import nothing, repair, repairs
    if diff:
        changes = tuple(repairs(examined, unsafe_fixes, check))
        remark = "" if changes else nothing(examined, unsafe_fixes)
    elif fix or unsafe_fixes:
        remark, changes, examined = repair(examined, unsafe_fixes, check)
    reports = [result.report for result in examined]
    heard = [recording for report in reports for recording in report.heard]
    files = sum(report.files for report in reports)
    validation = Validation(files=files, heard=heard, fail_on=chosen.fail_on, changes=changes)
    validation.add(chosen.applied(opened))
    validation.add(finding for report in reports for finding in report.findings)
    if write_baseline is not None and not diff:
        count = settings.write_baseline(Disk(write_baseline), validation.findings)
        remark = f"{remark}\n{plural(count, 'finding')} written to {write_baseline}".lstrip("\n")
    validation.remark = remark
    return validation


def _outermost(given: Sequence[Any]) -> Iterator[Any]:
    """Yield the paths that lie in none of the others, each once; what is in memory stays."""
    places = {
        number: os.path.realpath(each)
        for number, each in enumerate(given)
        if isinstance(each, str | os.PathLike) and each != "-"
    }
    for number, each in enumerate(given):
        place = places.get(number)
        others = [other for at, other in places.items() if at < number or other != place]
        if place is None or not any(f"{place}{os.sep}".startswith(f"{other}{os.sep}") for other in others):
            yield each


def _settings(
    config: Path | Settings | None,
    select: str | Sequence[str] | None,
    ignore: str | Sequence[str] | None,
    fail_on: str | Severity | None,
    baseline: Path | None,
) -> Settings:
    """Return the settings of *config*, overridden by the caller's."""
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


# --- conversion -------------------------------------------------------------------------------------


@_accepting_old_names
def convert(
    path: Any,
    out: Path | BinaryIO,
    target: str | LabelFormat,
    *,
    format: str | LabelFormat | None = None,
    allow_loss: str | Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    drop_unfit: bool = False,
    force: bool = False,
    overwrite: bool = False,
    tasks: str | Sequence[str] | None = None,
    seed: int = 0,
    window: float = 20.0,
    hop: float | None = None,
    margin: Mapping[str, float] = NOTHING,
    total: str | int | None = None,
    per_task: int | None = None,
    audio: bool | None = None,
    gain: float | None = None,
) -> Conversion:
    """Convert labels between formats, to Parquet and back, or into questions; any loss is reported first.

    A file becomes a file. A folder, archive or Parquet table becomes a folder of files with the same relative names
    and the suffix of the target, or one Parquet file. Questions become one file. Everything is read and checked
    before the first file is written, no file is left half-written, and any loss is reported before it happens.

    Args:
        path: a file, folder, archive or ``-`` for standard input; or the name of a dataset, such as ``starss23``, to be
            looked up in the usual places. In Python also labels or questions in memory, as for :func:`validate`.
        out: the file or folder to write; a single file goes to standard output by default. In Python also a binary
            stream.
        target: the format to write, of labels or questions (``seldio formats`` lists them); ``foa`` or ``mic`` for
            recordings; or ``hf-parquet``, ``webdataset``, ``audiofolder`` or ``videofolder`` to store a whole dataset,
            and ``files`` to restore it.
        format: the format of the source; detected from its content by default.
        allow_loss: fields that may be lost, separated by commas, or all. In Python also a list.
        fill: value for a field that the target needs and the source lacks; angles in degrees, distance in metres;
            ``source=count`` counts the events of each class in a clip. For questions, texts for task, instruction,
            language, split and dataset; for questions made from labels ``language=ru`` (or en; that of the target by
            default) and ``split=NAME`` (that of each recording by default, else test). May be repeated.
        drop_unfit: leave out questions that the target cannot hold, and list them.
        force: convert labels even if they have errors, such as angles in radians or unknown classes.
        overwrite: replace the files of an earlier export of a whole dataset.
        tasks: questions: ask only these tasks, separated by commas. In Python also a list.
        seed: questions: random seed for wording and sampling.
        window: questions: length of the clips in seconds, at most 20.
        hop: questions: seconds from one clip to the next; the window by default.
        margin: questions: smallest difference to ask about: azimuth=20 and elevation=10 (degrees between sources),
            metres=0.5 (between distances), seconds=0.5 (between times), shortest=0.3 (seconds that an event lasts),
            still=5 (degrees that a stationary source may stray), moving=20 (degrees that a moving one strays), sector=5
            (degrees from the edge of front-left and the like). May be repeated.
        total: questions: how many, split across tasks as in SO-Bench where enough can be asked; balanced or
            ``balanced=N`` keeps its proportions (the scarcest task sets the total), and drops questions whose answer
            would be right more often than by chance.
        per_task: questions: at most N for each task, spread evenly over the answers.
        audio: recordings: for questions, cut the clips out of the recordings (16 kHz) into ``audio/`` next to the
            output, or leave them whole; for foa and mic, compute every recording from the other format, even those that
            the dataset has.
        gain: recordings: for foa and mic, gain of the computed recordings in dB, the same for all of them.

    Returns:
        What was done: formats, files, rows, losses and notes; for questions, also what was asked and skipped.

    Raises:
        InvalidData: the source has errors, so that rows would be lost or change their meaning.
        LossError: the target cannot hold a field, and its loss is not allowed.
        UnknownFormat: the format of the source cannot be detected.
        UsageError: the options do not fit, or the output would overwrite the source.
        SeldioError: a file cannot be read or written.
    """
    from seldio.conversion.dispatch import convert_any
    from seldio.tasks.specs import QuestionOptions, margins_of

    balanced, number = False, total
    if isinstance(total, str):
        text = re.fullmatch(r"(balanced)?(?:(?:^|=)(\d+))?", total)
        if text is None or not total:
            raise UsageError(f"--total {printable(total)}: expected a number, balanced, or balanced=NUMBER")
        balanced, number = text[1] is not None, None if text[2] is None else int(text[2])
    options = QuestionOptions(
        seed=seed,
        tasks=None if not tasks else _names(tasks),
        window=window,
        hop=hop,
        margins=margins_of(dict(margin)),
        per_task=per_task,
        balance=balanced,
        total=cast("int | None", number),
        audio=audio,
        force=force,
    )
    source = _in_memory(path, "the table")
    return convert_any(source, out, target, format, _names(allow_loss), fill, options, gain, drop_unfit, overwrite)


def _names(names: str | Iterable[str]) -> list[str]:
    """Return names from a list, or from a string with commas between them."""
    return [name.strip() for name in (names.split(",") if isinstance(names, str) else names) if name.strip()]


# --- scores ---------------------------------------------------------------------------------------------------------


@_accepting_old_names
def score(
    predictions: Any,
    reference: Any = None,
    *,
    profile: str | None = None,
    format: str | None = None,
    fields: str | Mapping[str, str] | None = None,
    reference_format: str | None = None,
    reference_fields: str | Mapping[str, str] | None = None,
    split: str | None = None,
    allow_missing: bool = False,
    force: bool = False,
    table: str | None = None,
    baselines: bool = False,
    threshold: Mapping[str, float] = NOTHING,
    average: Literal["macro", "micro"] | None = None,
    onscreen: bool = False,
    classes: str | None = None,
    intervals: str | Intervals | None = None,
    join: Literal["strict", "order", "official"] = "strict",
    offline: Literal["extract", "none", "official-fallback"] = "extract",
    items: Path | None = None,
    judge: str | Judging | None = None,
    judge_url: str | None = None,
    judge_set: Mapping[str, Any] = NOTHING,
    judgements: Path | None = None,
    dry_run: bool = False,
) -> ScoreReport:
    """Score predictions against labels or questions, as the official programs do, and report where they go wrong.

    Args:
        predictions: the label files that a system predicted, or a file of answers. In Python also the bytes of a file,
            an open file, a DataFrame, an Arrow table or a list of dicts.
        reference: the labels, or the questions with their answers, in the same forms; not needed for predictions of
            JASCO, MMAU and MMAR that include their questions.
        profile: the scoring profile, such as ``dcase2024`` or ``so-bench-paper``; chosen by the data by default.
        format: the format of the predictions, or their ``dataset.toml``; detected from their content by default.
        fields: the keys or columns of answers in a file of your own: ``id=sample_id,prediction=response_text``. In
            Python also as a mapping.
        reference_format: the format of the reference; detected from its content by default.
        reference_fields: the keys or columns of questions in a file of your own:
            ``id=n,question=asked,options=A+B+C+D,answer=right``. In Python also as a mapping.
        split: only the clips of this split of the reference, by the name of their folder or their own, such as
            ``dev-test``; the reference ``starss23:dev-test`` selects it in the folder ``starss23``.
        allow_missing: score the clips or questions that both sides have, and list the missing ones.
        force: score labels and predictions even if they have errors.
        table: report: only this table, such as overall or classes; clips (the score of each), errors and confusions
            (what F lacks, by type and class) are computed when asked for, all adds these to the others. JSON has every
            table. In Python the report has every table, and those asked for.
        baselines: add the published results of the profile, if they cover the same clips or questions with the same
            limits; a notice says why not.
        threshold: maximum error. Labels: angle (°), distance (m), relative (distance error / distance), those of the
            profile by default. SO-Bench: azimuth and elevation (°), distance (m), onset (s), wer (a share).
        average: labels: average over classes (macro) or over all events (micro); the profile's first by default.
        onscreen: labels: require matching on-screen flags.
        classes: labels: the class list; that of the labels by default.
        intervals: labels: add 95 % confidence intervals: jackknife, as the official programs compute them, and
            ``bootstrap[=N]``, from N resamples of the clips, above those of the jackknife if both are given;
            ``over=rooms`` resamples rooms, ``seed=N`` is the random seed; separated by commas.
        join: answers: match predictions by id (strict), those without ids by their order, or as SO-Bench's official
            program does.
        offline: answers: how SO-Bench is decided without a judge.
        items: answers: write each reply to this file (.jsonl) with what was read in it, by which layer, and its
            verdict, the most doubtful first.
        judge: judge: the language model that decides free-text answers, by its name on the server. In Python also a
            :class:`~seldio.scores.judge.Judging`.
        judge_url: judge: the OpenAI-compatible server, up to ``/v1``.
        judge_set: judge: a setting: cache=FILE (SQLite, of replies), concurrency=8, again=yes (whatever the cache
            holds), timeout=120 (seconds), retries=4, max_tokens=1024, temperature=0, json=no (some servers reject it),
            prompt=seldio, or as published by JASCO: readme, eval.py.
        judgements: judge: a file of judgements from an external judge (JSON Lines).
        dry_run: judge: report how many requests judging would take; send none.

    Returns:
        Tables of scores, and notices about them. Angles are in degrees, shares from 0 to 1.

    Raises:
        InvalidData: a file has an error.
        UsageError: the options do not fit, a field is missing, or there is nothing to score.
        DataError: predictions and reference do not fit together.
        SeldioError: the judge cannot be reached.
    """
    from seldio.scores.contents import holds_answers, profile_for_maps, see_labels
    from seldio.scores.resampling import Intervals

    given = predictions
    predictions = _in_memory(given, "predictions", True if fields else None)
    reference = _in_memory(reference, "reference", bool(reference_fields)) if reference is not None else None
    formats = {
        "format": _own_keys(fields, format),
        "reference_format": _own_keys(reference_fields, reference_format, asked=True),
    }
    reference, split = _of_split(reference, split)
    drawn = Intervals.of(intervals)
    if not drawn.bootstrap and (drawn.over, drawn.seed) != (Intervals.over, Intervals.seed):
        raise UsageError("--intervals: over and seed are of resamples, and bootstrap is what draws them: add it")
    offered = {
        "average": average,
        "threshold": dict(threshold),
        "onscreen": onscreen,
        "classes": classes,
        "intervals": drawn if drawn.jackknife or drawn.bootstrap else None,
        "baselines": baselines,
        "split": split,
        "force": force,
        "join": join,
        "offline": offline,
        "judge": _judge(judge, judge_url, judge_set, dry_run),
        "judgements": judgements,
        "items": items,
        "allow_missing": allow_missing,
        "profile": profile,
    }
    tables = {"by_clip": table in ("clips", "all"), "errors": table in ("errors", "confusions", "all")}
    if holds_answers(predictions, profile, formats["format"]):
        from seldio.scores.answers import AnswerOptions, score_answers

        return score_answers(predictions, reference, _record(AnswerOptions, offered, tables), **formats)
    if reference is None:
        raise UsageError("--reference is required: the labels to score against")
    see_labels(predictions, reference)
    if not hasattr(given, "read"):  # what is a stream is read only once
        predictions = _in_memory(given, "predictions")  # which refuses columns that are those of no labels
    from seldio.scores.seld.score_labels import ClipOptions, SeldOptions, score_labels

    if maps := profile_for_maps(predictions, reference, profile, **formats):
        from seldio.scores.imaging.score_maps import score_maps

        return score_maps(predictions, reference, _record(ClipOptions, offered, tables, profile=maps), **formats)
    return score_labels(predictions, reference, _record(SeldOptions, offered, tables), **formats)


def _own_keys(fields: str | Mapping[str, str] | None, format: str | None, asked: bool = False) -> str | None:
    """Return *format*, or the name of a format with the user's own keys: of predictions, or of questions if *asked*.

    Raises:
        UsageError: both are named, or a field is unknown.
    """
    if not fields:
        return format
    if format is not None:
        which = "reference-" if asked else ""
        raise UsageError(f"--{which}fields names the keys of a file in no known format: leave --{which}format out")
    from seldio.formats.own_keys import spelled

    return spelled(fields, asked)


def _of_split(reference: Path | None, split: str | None) -> tuple[Path | None, str | None]:
    """Return the reference without the split that it may end with (``starss23:dev-test``), and the split.

    Raises:
        UsageError: there is no such folder.
    """
    from seldio.formats.datasets import COUNTED

    path, _, name = (os.fspath(reference) if isinstance(reference, str | os.PathLike) else "").rpartition(":")
    exists = os.path.exists(path)  # noqa: PTH110 - a plain string
    if split is not None or not re.fullmatch(r"[\w-]+", name) or not (exists or path in COUNTED):
        return reference, split
    if not exists:
        raise UsageError(
            f"{path}:{name} names clips, and scoring requires their labels: there is no folder {path} here. Give the "
            f"one that has them, with --split {name}"
        )
    return path, name


def _record(kind: Any, options: Mapping[str, Any], tables: Mapping[str, bool] = NOTHING, **others: Any) -> Any:
    """Return the options of a score or a comparison that are not the defaults as a record of *kind*.

    Args:
        kind: a dataclass of options.
        options: those that the command offers.
        tables: those that are computed where they apply.
        others: options that the command does not offer.

    Raises:
        UsageError: an option does not apply to it.
    """
    defaults: dict[str, Any] = {"join": "strict", "offline": "extract", "threshold": {}}
    chosen = {name: value for name, value in options.items() if value not in (None, False, (), defaults.get(name))}
    fields = {field.name for field in dataclasses.fields(kind)}
    if foreign := sorted(chosen.keys() - fields):
        wrong, right = (
            ", ".join(f"--{name.replace('_', '-')}" for name in names)
            for names in (foreign, sorted(fields & options.keys()))
        )
        raise UsageError(f"{wrong} does not apply here; choose from {right}")
    return kind(**{name: on for name, on in tables.items() if name in fields} | chosen | others)


@_accepting_old_names
def compare(
    systems: Any,
    reference: Any = None,
    *,
    profile: str | None = None,
    format: str | None = None,
    fields: str | Mapping[str, str] | None = None,
    reference_format: str | None = None,
    reference_fields: str | Mapping[str, str] | None = None,
    split: str | None = None,
    allow_missing: bool = False,
    force: bool = False,
    against: Literal["all", "first"] = "all",
    lead: str | None = None,
    intervals: str | Intervals | None = None,
    threshold: Mapping[str, float] = NOTHING,
    average: Literal["macro", "micro"] | None = None,
    onscreen: bool = False,
    classes: str | None = None,
    join: Literal["strict", "order", "official"] = "strict",
    offline: Literal["extract", "none", "official-fallback"] = "extract",
    judgements: Sequence[Path] | Path = (),
    items: Path | None = None,
) -> ScoreReport:
    """Compare systems on the same clips or questions: differences with intervals, tests and ranks.

    All systems are scored on the same resamples of clips, so that their differences are paired. Intervals are of 95 %
    (bootstrap), p-values two-sided (clips change sides between two systems). One measure, the lead, decides which
    system is better; the others have Holm's correction. The same files and seed give the same report.

    Args:
        systems: the predictions of each system: label files, or a file of answers. In Python also DataFrames, Arrow
            tables or lists of dicts.
        reference: the labels, or the questions with their answers.
        profile: the scoring profile; chosen by the data by default.
        format: the format of the predictions; detected from their content by default.
        fields: the keys or columns of answers in files of your own, as in :func:`score`.
        reference_format: the format of the reference; detected from its content by default.
        reference_fields: the keys or columns of questions in a file of your own, as in :func:`score`.
        split: only the clips of this split of the reference, as in :func:`score`.
        allow_missing: compare the clips or questions that all have, and list the missing ones.
        force: score labels and predictions even if they have errors.
        against: which pairs to compare: all, or each system with the first.
        lead: the measure whose test decides which system is better, chosen before the numbers are seen; by default
            SELD, of energy maps mAP, of answers the first measure.
        intervals: how intervals and tests are computed: ``bootstrap=10000`` resamples and permutations, ``over=clips``,
            of labels also ``over=rooms`` with all their clips, ``seed=0``; separated by commas.
        threshold: maximum error, as in :func:`score`.
        average: labels: average over classes (macro) or over all events (micro); the profile's first by default.
        onscreen: labels: require matching on-screen flags.
        classes: labels: the class list; that of the labels by default.
        join: answers: match predictions by id (strict), by order, or as SO-Bench's official program does.
        offline: answers: how SO-Bench is decided without a judge.
        judgements: answers: a file of judgements from an external judge for each system, in their order. May be
            repeated.
        items: answers: write the questions on which the systems differ to this file (.jsonl).

    Returns:
        Tables: ``overall``, ``differences``, ``tests`` and ``ranks``; and notices about them.

    Raises:
        InvalidData: a file has an error.
        UsageError: the options do not fit, a field is missing, or a clip has no room.
        DataError: predictions and reference do not fit together, or the systems have no clip in common.
    """
    from seldio.scores.contents import holds_answers, profile_for_maps, see_labels
    from seldio.scores.resampling import Intervals

    several = _each(systems)
    names = [f"system {number}" for number in range(1, len(several) + 1)]
    paths = [_in_memory(system, name, fields is not None) for system, name in zip(several, names, strict=True)]
    if len(paths) < 2:
        raise UsageError("two systems or more can be compared; of one, score has intervals (of labels: --intervals)")
    reference = _in_memory(reference, "reference", bool(reference_fields)) if reference is not None else None
    formats: dict[str, Any] = {
        "format": _own_keys(fields, format),
        "reference_format": _own_keys(reference_fields, reference_format, asked=True),
    }
    answered = holds_answers(paths[0], profile, formats["format"])
    drawn = Intervals.of(intervals)
    if drawn.jackknife:
        raise UsageError("--intervals jackknife is of seldio score; comparisons resample: bootstrap, over and seed")
    reference, split = _of_split(reference, split)
    offered = {
        "average": average,
        "threshold": dict(threshold),
        "onscreen": onscreen,
        "classes": classes,
        "split": split,
        "force": force,
        "join": join,
        "offline": offline,
        "items": items,
        "allow_missing": allow_missing,
        "profile": profile,
        "judgements": () if answered else tuple(_paths(judgements)),
    }
    shown: Any = {"against": against, "lead": lead}
    if answered:
        from seldio.scores.answers import AnswerOptions
        from seldio.scores.comparison.answers import compare_answers

        options = _record(AnswerOptions, offered)
        return compare_answers(paths, reference, options, drawn, judgements=_paths(judgements), **shown | formats)
    if reference is None:
        raise UsageError("--reference is required: the labels to score against")
    see_labels(paths[0], reference)
    from seldio.scores.comparison.pairs import compare_clips
    from seldio.scores.seld.score_labels import ClipOptions, SeldOptions, opened_reference, scored_case

    if maps := profile_for_maps(paths[0], reference, profile, **formats):
        from seldio.scores.imaging.score_maps import scored_maps

        options = _record(ClipOptions, offered, profile=maps)
        of_maps = functools.partial(scored_maps, reference=reference, options=options, **formats)
        return compare_clips(paths, of_maps, drawn, **shown)
    options = _record(SeldOptions, offered)
    with opened_reference(reference, options, formats["reference_format"]) as labels:
        of_labels = functools.partial(scored_case, reference=labels, options=options, format=formats["format"])
        return compare_clips(paths, of_labels, drawn, **shown)


def _judge(judge: str | Judging | None, url: str | None, settings: Mapping[str, Any], dry_run: bool) -> Judging | None:
    """Return the judge that the options give; None if they give none.

    Raises:
        UsageError: the model or the server is missing, or a setting is unknown.
    """
    if judge is None and url is None:
        if settings or dry_run:
            raise UsageError("--dry-run and --judge-set require --judge MODEL and --judge-url URL")
        return None
    from seldio.scores.judge import Judging

    if isinstance(judge, Judging):
        return dataclasses.replace(judge, dry_run=dry_run or judge.dry_run)
    if judge is None or url is None:
        raise UsageError("--judge MODEL and --judge-url URL must be used together")
    return Judging.with_settings(judge, url, settings, dry_run)


def rank(
    scores: Path | ScoreReport | Sequence[Path | ScoreReport], *, metrics: str | Sequence[str] = ()
) -> ScoreReport:
    """Rank systems by the sum of their ranks on each metric, as defined by DCASE Task 3.

    Args:
        scores: score files (JSON or CSV), or folders of them. In Python also reports returned by :func:`score`.
        metrics: rank by these metrics only, separated by commas; ``NAME:higher`` or ``NAME:lower`` for metrics that
            seldio does not know. In Python also a list.

    Returns:
        A table for each track, with notices.

    Raises:
        UsageError: a path does not exist, or the systems have no scores in common.
        DataError: a file has no scores, or the scores cannot be compared.
    """
    from seldio.reports.tables import ScoreReport
    from seldio.scores.ranking import collected, read_scores, report, scores_of

    parts = [scores_of([each]) if isinstance(each, ScoreReport) else read_scores(each) for each in _each(scores)]
    return report(collected(parts), _names(metrics))


def verify(
    signature: str,
    predictions: Any,
    reference: Any = None,
    *,
    format: str | None = None,
    fields: str | Mapping[str, str] | None = None,
    reference_format: str | None = None,
    reference_fields: str | Mapping[str, str] | None = None,
    settings: str | Mapping[str, Any] = "",
    judge: str | None = None,
    judge_url: str | None = None,
    judgements: Path | None = None,
) -> list[str]:
    """Check that predictions, reference, settings and judge are those in the signature of a score.

    Args:
        signature: the line of the report, such as ``seldio 0.3.0|so-bench|no judge|ref 9f3c…|pred 1a2b…``.
        predictions: the labels or answers, in any format or order, as for :func:`score`; of a comparison, those
            of one system.
        reference: the labels or questions; not needed where the predictions hold them.
        format: the format of the predictions; detected from their content by default.
        fields: the keys or columns of a file of your own, as in :func:`score`.
        reference_format: the format of the reference; detected from its content by default.
        reference_fields: the keys or columns of questions in a file of your own.
        settings: the options that were not the defaults, as a signature has them: ``angle=30,allow_missing``. In Python
            also a mapping.
        judge: the language model that decided, by its name on the server.
        judge_url: its server.
        judgements: the file of judgements from an external judge.

    Returns:
        What differs, a sentence each; empty where nothing does.

    Raises:
        UsageError: *signature* is none.
        InvalidData: a file has an error.
    """
    from seldio.scores.scorers import ANSWERS
    from seldio.scores.signatures import Signature, judged_by
    from seldio.scores.signatures import given as settings_text

    stated = Signature.parsed(signature)
    asked = _in_memory(reference, "reference", bool(reference_fields)) if reference is not None else None
    given = _in_memory(predictions, "predictions", fields is not None)
    of_reference = _own_keys(reference_fields, reference_format, asked=True)
    formats = {"format": _own_keys(fields, format), "reference_format": of_reference}
    if stated.profile in ANSWERS:
        from seldio.scores.answers import verified as of_answers

        here = of_answers(stated, given, asked, None if judgements is None else os.fspath(judgements), **formats)
    elif asked is None:
        raise UsageError("the labels to compare with are required too")
    else:
        options: Any = {name: stated.options.get(name) for name in ("classes", "split")}
        options |= {name: name in stated.options for name in ("allow_missing", "force")}
        options |= {"format": format, "reference_format": reference_format}
        report = score(given, asked, profile=stated.profile, **options)
        here = Signature.parsed(report.signature)
    if judge is not None:
        here = here._replace(judge=judged_by(judge, judge_url, None))
    reference_is = "the questions" if stated.profile in ANSWERS else "the reference"
    return stated.differences(here._replace(settings=settings_text(settings)), reference_is)


# --- submissions ----------------------------------------------------------------------------------------------------


def package(
    outputs: Sequence[Path] | Path,
    out: Path,
    *,
    year: int,
    label: Sequence[str] | str,
    reference: Path | None = None,
    meta: Sequence[Path] | Path = (),
    development: Sequence[Path] | Path = (),
    development_reference: Path | None = None,
    technical_report: Path | None = None,
    format: str | None = None,
    allow_missing: bool = False,
    force: bool = False,
) -> Packaged:
    """Pack outputs as the zip that DCASE Task 3 takes, with meta files, and check it before it is written.

    Outputs have to be in the format of the challenge, and are copied byte for byte. Where a system has no meta file, a
    template is created next to the zip, with what is known filled in and the rest marked; the zip is not written until
    that is done.

    Args:
        outputs: the outputs of one or more systems on the evaluation set: folders, files or archives.
        out: the zip to write.
        year: the year of the challenge; its record says what the zip holds.
        label: the label of the submission, such as ``Politis_TAU_task3a_1``; for several systems one each, in their
            order.
        reference: the clips of the evaluation set, as in :func:`validate`: those without an output get an empty file.
        meta: the meta file of each system, in their order, packed as it is; by default ``LABEL.meta.yaml`` next to the
            zip, which is created as a template if missing. May be repeated.
        development: the outputs of each system on the development set, in their order, to score for the meta file. May
            be repeated.
        development_reference: the labels to score them against, such as ``metadata_dev:dev-test``.
        technical_report: the technical report to pack, a PDF.
        format: the format of the outputs; detected from their content by default.
        allow_missing: score the development clips that both sides have.
        force: write a zip with errors.

    Returns:
        What was packed, with scores and how a meta file differs from them, and ``report``, what was found in the zip.
        ``complete`` says whether it was written.

    Raises:
        UsageError: nothing is known of the year, a label is malformed, outputs are in another format, or the zip would
            overwrite what is read.
        SeldioError: a file cannot be read or written.
    """
    from seldio.challenge import keys_of, package_systems, see_free, see_labels

    keys = keys_of(year)
    places, labels, metas, developed = _paths(outputs), _each(label), _paths(meta), _paths(development)
    for option, values in (("label", labels), ("meta", metas), ("development", developed)):
        if len(values) != len(places) and (values or option == "label"):
            raise UsageError(f"--{option} was given for {len(values)} of {plural(len(places), 'system')}")
    if bool(developed) != (development_reference is not None):
        raise UsageError("--development and --development-reference must be used together")
    others = [path for path in (reference, *developed, development_reference, technical_report) if path is not None]
    see_labels(labels, keys)
    see_free(os.fspath(out), places, (*metas, *_paths(others)))
    scores = [
        score(system, development_reference, profile=keys.profile, allow_missing=allow_missing) for system in developed
    ]
    files = {"reference": reference, "technical_report": technical_report}
    given: Any = {name: None if path is None else os.fspath(path) for name, path in files.items()}
    return package_systems(
        places, os.fspath(out), keys, labels, metas=metas, scores=scores, format=format, force=force, **given
    )


def _paths(given: Path | Sequence[Path]) -> list[str]:
    return [os.fspath(path) for path in _each(given)]


# --- versions -------------------------------------------------------------------------------------------------------


def diff(
    old: Path, new: Path, *, format: str | None = None, new_format: str | None = None, force: bool = False
) -> Difference:
    """Compare two versions of labels, questions or predictions.

    A change that explains whole clips (mirrored, turned, shifted in time, another unit) is named once; events of labels
    are then followed from one version to the other: turned, moved, re-timed, renamed, added, dropped.
    Rows of questions and predictions belong together by their ids, or by recording and question.

    Args:
        old: labels, questions or predictions: a file, folder, archive or ``-`` for standard input.
        new: the new version of them, in the same forms.
        format: the format of the old version, and of the new one unless *new_format* is given; detected by default.
            Needed where labels and questions lie together: only that kind is compared.
        new_format: the format of the new version.
        force: compare labels even if they have errors.

    Returns:
        Tables ``changes``, ``clips`` and ``events`` (or ``rows``); ``same`` says whether there is no change. Times are
        in seconds, angles in degrees, azimuth +90 is left.

    Raises:
        InvalidData: a file has an error.
        UnknownFormat: a format cannot be detected.
        UsageError: the two versions hold different kinds of data, or each several.
        DataError: the two versions have nothing in common.
    """
    from seldio.differences.report import difference

    return difference(old, new, format, new_format, force=force)
