"""The verbs of the package in Python: read and write, from and to paths."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from seldio.conversion import Conversion, convert_source
from seldio.conversion import tables as conversion
from seldio.conversion.inputs import Input, read_single
from seldio.conversion.losses import NOTHING
from seldio.conversion.outputs import write_tables
from seldio.conversion.vetting import vet_table
from seldio.errors import InvalidData, UsageError
from seldio.files import Source, open_source
from seldio.findings import raise_errors
from seldio.formats import Format, get
from seldio.schema.events import event_table, origin_of
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.reports.tables import ScoreReport

__all__ = ["convert", "read", "score", "write"]


def read(path: str | os.PathLike[str], *, format: str | None = None, force: bool = False) -> pa.Table:
    """Read the labels of a file, folder, archive or standard input (``-``) into one event table.

    Args:
        path: what to read.
        format: the layout; found from the content if not given.
        force: give rows in which there are errors too, such as angles in radians or classes that do not exist.

    Returns:
        One row for each active source in each label frame, with the columns that the files carry (see
        :data:`seldio.schema.events.COLUMNS`): angles in degrees, azimuth counter-clockwise (+90 is
        left), distances in metres. Clips without rows are in the metadata.

    Raises:
        InvalidData: the first thing wrong, with file, line and column.
        UnknownFormat: the content does not tell the layout; the message names the candidates.
        UsageError: nothing has that name, or the files have several layouts.
        SeldioError: the disk fails.
    """
    try:
        found = read_single(path, format)
    except (InvalidData, UsageError):
        from seldio.conversion.items import questions_in

        if format is None and os.fspath(path) != "-" and (held := questions_in(path)) is not None:
            where = f"{printable(os.fspath(path))} holds {held}"
            raise UsageError(f"{where}, not labels: seldio.open(path).items reads them") from None
        raise
    found.faults.settle(force)
    return found.table


def convert(
    path: str | os.PathLike[str] | Source,
    out: str | os.PathLike[str] | BinaryIO,
    target: Format | str,
    *,
    format: Format | str | None = None,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
    gain: float | None = None,
    **asking: Any,
) -> Conversion:
    """Convert labels or questions on disk to another format, labels to questions, or recordings to another array.

    A file becomes a file; a folder, archive or Parquet table becomes a folder of files with the same relative names
    and the target's suffix; anything becomes one Parquet file. Questions become one file. Everything is read and
    checked before the first file is written, and each file is written whole or not at all.

    Args:
        path: a file, folder, archive, ``-`` for standard input, or an open source of labels.
        out: the file or folder to write; one file may also go into an existing folder, or into a binary stream.
        target: the format to write: of labels or questions, ``foa`` or ``mic``, or a way to store a data set such as
            ``hf-parquet``; ``files`` is the way back.
        format: the layout of the source; found from its content if not given.
        allow_loss: fields whose loss is accepted, as names or a text with commas; ``all`` for every one.
        fill: values for fields that are unknown, by field: angles in degrees, ``distance`` in metres.
        force: convert labels in which there are errors too, such as angles in radians or classes that do not exist.
        gain: ``foa`` and ``mic``: decibels by which recordings that are made become louder.
        asking: labels to questions: fields of :class:`seldio.conversion.asked.Request`, such as ``seed``, ``tasks``,
            ``total``, ``window`` (seconds).

    Returns:
        What was done: formats, files, rows, losses, notes; of questions what was asked and skipped as well.

    Raises:
        InvalidData: something in the source is wrong, so that rows would be lost or mean something else.
        LossError: the target cannot carry a field, and its loss is not allowed.
        UnknownFormat: the layout of the source has to be named.
        UsageError: the request makes no sense, or would overwrite its own source.
        SeldioError: the disk fails.
    """
    from seldio.conversion.asked import Request
    from seldio.conversion.dispatch import convert_any

    if not isinstance(path, str | os.PathLike) or not isinstance(target, str) or isinstance(format, Format):
        return convert_source(path, out, target, format=format, allow_loss=allow_loss, fill=fill, force=force)
    request = _options(Request, None, {**asking, "force": force})
    return convert_any(path, out, target, format, allow_loss, fill, request, gain)


def write(
    table: Any,
    path: str | os.PathLike[str],
    format: str,
    *,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
) -> tuple[str, ...]:
    """Write an event table: a folder with a file for each clip, one file, or one Parquet file.

    Args:
        table: an event table: :func:`read` gives one, :func:`seldio.from_events` makes one; or a DataFrame of pandas
            or polars with columns of one (:data:`seldio.schema.events.COLUMNS`).
        path: the folder; of one clip a file if it has a suffix, such as ``mix001.csv``.
        format: the layout to write.
        allow_loss: fields whose loss is accepted, as names or a text with commas; ``all`` for every one.
        fill: values for fields that the layout needs and the table lacks, by field: angles in degrees, ``distance``
            in metres.
        force: write rows in which there are errors too, such as angles in radians or classes that do not exist.

    Returns:
        The paths written.

    Raises:
        InvalidData: something in the table is wrong; the line is the number of the row, from 1.
        LossError: the layout cannot carry a field that the table has.
        UsageError: the layout needs a field that the table lacks, or it is no event table.
        SeldioError: the disk fails.
    """
    target, table = get(format), event_table(table)
    vet_table(table).settle(force)
    done = conversion.convert(table, get("parquet"), target, allow_loss=allow_loss, fill=fill)
    named = re.search(r"\.[a-z]\w*$", os.fspath(path), re.IGNORECASE)
    single = len(origin_of(done.table).files) == 1 and named is not None
    return write_tables([done.table], target, os.fspath(path), Input("the table", [], single, 0, 0, []))


def score(
    predictions: str | os.PathLike[str],
    reference: str | os.PathLike[str] | None = None,
    *,
    profile: str | None = None,
    format: str | None = None,
    reference_format: str | None = None,
    **options: Any,
) -> ScoreReport:
    """Score the outputs of a system against labels, or a model's answers against questions.

    Args:
        predictions: label files of a system, or a file of answers.
        reference: the labels, or the questions; predictions of JASCO, MMAU and MMAR that carry theirs need none.
        profile: the way of scoring, e.g. ``dcase2024`` or ``so-bench-paper``; by default that of the data.
        format: the layout of the predictions; found from their content if not given.
        reference_format: that of the reference, likewise.
        options: fields of :class:`seldio.scores.seld.score_labels.SeldOptions` or of
            :class:`seldio.scores.answers.AnswerOptions`.

    Returns:
        Tables of scores and what there is to know about them. Angles are degrees, shares are from 0 to 1.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, a field is missing, or there is nothing to score.
        DataError: predictions and reference do not fit.
        SeldioError: a judge cannot be asked.
    """
    from seldio.scores import answers
    from seldio.scores.seld.score_labels import SeldOptions, score_labels

    formats = {"format": format, "reference_format": reference_format}
    if _answers(predictions, profile, format):
        chosen = _options(answers.AnswerOptions, profile, options)
        return answers.score_answers(predictions, reference, chosen, **formats)
    if reference is None:
        raise UsageError("labels are scored against labels: name a reference")
    return score_labels(predictions, reference, _options(SeldOptions, profile, options), **formats)


def _answers(predictions: str | os.PathLike[str], profile: str | None, format: str | None) -> bool:
    """Whether *predictions* are answers to questions, as the profile, the format or the content says."""
    from seldio.conversion.items import held_items
    from seldio.formats import item_formats
    from seldio.scores.answers import PROFILES

    if profile is not None:
        return profile in PROFILES
    if format is not None:
        return item_formats.named(format) is not None
    with open_source(predictions, raise_errors) as source:
        return held_items(source) is not None


def _options(kind: Any, profile: str | None, options: Mapping[str, Any]) -> Any:
    """The options of *kind*.

    Raises:
        UsageError: one of them does not exist there.
    """
    known = {field.name for field in dataclasses.fields(kind)}
    if foreign := sorted(options.keys() - known):
        raise UsageError(f"no option {', '.join(foreign)} here; there are {', '.join(sorted(known))}")
    return kind(**options, **({} if profile is None else {"profile": profile}))
