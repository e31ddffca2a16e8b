"""The verbs of the package in Python: read and write, from and to paths."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from seldio.conversion import convert_source as convert
from seldio.conversion import tables as conversion
from seldio.conversion.inputs import Input, read_single
from seldio.conversion.losses import NOTHING
from seldio.conversion.outputs import write_tables
from seldio.conversion.vetting import vet_table
from seldio.errors import UsageError
from seldio.files import open_source
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.schema.events import origin_of

if TYPE_CHECKING:
    from seldio.scores.result import ScoreReport

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
    found = read_single(path, format)
    found.faults.settle(force)
    return found.table


def write(
    table: pa.Table,
    path: str | os.PathLike[str],
    format: str,
    *,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
) -> tuple[str, ...]:
    """Write an event table: a folder with a file for each clip, one file, or one Parquet file.

    Args:
        table: an event table; :func:`read` gives one, :func:`seldio.from_events` makes one.
        path: the folder; of one clip a file if it has a suffix, such as ``mix001.csv``.
        format: the layout to write.
        allow_loss: fields whose loss is accepted; ``all`` for every one.
        fill: values for fields that the layout needs and the table lacks, by field.
        force: write rows in which there are errors too, such as angles in radians or classes that do not exist.

    Returns:
        The paths written.

    Raises:
        InvalidData: something in the table is wrong; the line is the number of the row, from 1.
        LossError: the layout cannot carry a field that the table has.
        UsageError: the layout needs a field that the table lacks.
        SeldioError: the disk fails.
    """
    target = get(format)
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
        options: fields of :class:`seldio.scoring.SeldOptions` or :class:`seldio.answer_scoring.AnswerOptions`.

    Returns:
        Tables of scores and what there is to know about them. Angles are degrees, shares are from 0 to 1.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, a field is missing, or there is nothing to score.
        DataError: predictions and reference do not fit.
        SeldioError: a judge cannot be asked.
    """
    from seldio import answer_scoring, scoring

    formats = {"format": format, "reference_format": reference_format}
    if _answers(predictions, profile, format):
        chosen = _options(answer_scoring.AnswerOptions, profile, options)
        return answer_scoring.score_answers(predictions, reference, chosen, **formats)
    if reference is None:
        raise UsageError("labels are scored against labels: name a reference")
    return scoring.score_labels(predictions, reference, _options(scoring.SeldOptions, profile, options), **formats)


def _answers(predictions: str | os.PathLike[str], profile: str | None, format: str | None) -> bool:
    """Whether *predictions* are answers to questions, as the profile, the format or the content says."""
    from seldio.answer_scoring import PROFILES
    from seldio.conversion.items import held_items
    from seldio.formats import item_formats

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
