"""Convert questions and predictions: read, name the loss, write."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Collection, Sequence
from typing import BinaryIO

from seldio.check.reference import RUENVAQA
from seldio.conversion.choices import answered
from seldio.conversion.outputs import write_single
from seldio.conversion.sources import Conversion
from seldio.conversion.tables import ALL, checked_fields
from seldio.errors import DataError, LossError, UsageError
from seldio.files import Entry, Source, open_source, read_entries
from seldio.files.sources import reopened
from seldio.findings import Finding, Sink, raise_errors
from seldio.formats import item_formats
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.formats.mera_submission import SUBMISSION, zipped
from seldio.formats.recognise import PARQUET_SUFFIX, is_table
from seldio.schema.qa import Item, Prediction
from seldio.text import plural, printable

Place = str | os.PathLike[str]


def read_items(place: Place | Source, format: ItemFormat | None, sink: Sink) -> list[ItemReading]:
    """The questions or predictions of a file, folder or archive; files of other kinds are left out.

    Args:
        place: what to read; ``-`` for standard input.
        format: of all files; told by their content if not given.
        sink: takes what is found wrong.
    """
    with reopened(place, sink) as source:
        found = []
        for entry, data in read_entries(_likely(source), sink):
            chosen = format or item_formats.recognise(data, entry.name)
            reading = chosen.read(data, entry.path, sink) if chosen is not None else None
            if reading is not None:
                found.append(reading)
    return found


def held_items(source: Source) -> ItemFormat | None:
    """The format of a source's questions or predictions, by a look that stops at the first such file."""
    found = (item_formats.recognise(data, entry.name) for entry, data in read_entries(_likely(source), _nothing))
    return next((format for format in found if format is not None), None)


def questions_in(path: str | os.PathLike[str]) -> str | None:
    """What a file, folder or archive holds where that is questions or predictions, in words."""
    with open_source(path, _nothing) as source:
        held = held_items(source)
    return None if held is None else f"{'questions' if held.holds == 'items' else 'predictions'} ({held.name})"


def _likely(source: Source) -> list[Entry]:
    """The files that may hold questions: of a folder or archive, which may hold recordings, those named so."""
    suffixes = tuple({format.suffix for format in item_formats.ITEM_FORMATS} - {PARQUET_SUFFIX})
    if source.kind not in ("folder", "zip", "tar"):
        return list(source)
    return [
        entry for entry in source if entry.name.lower().endswith(suffixes) or is_table(entry, "items")
    ]  # fmt: skip


def losses(rows: Sequence[Row], target: ItemFormat) -> dict[str, str]:
    """Fields that some of *rows* fill and *target* cannot carry, with how many rows do."""
    counts: dict[str, int] = {}
    for row in rows:
        for field in type(row).model_fields:
            if field not in target.carries and getattr(row, field) not in (None, "", [], {}):
                counts[field] = counts.get(field, 0) + 1
    return {field: plural(count, "row") for field, count in counts.items()}


def altered(rows: Sequence[Row], data: bytes, target: ItemFormat) -> dict[str, str]:
    """Fields that do not come back from *data* as they are in *rows*, though *target* carries them.

    A key of ``extra`` that is also a key of the target, for example, has no place of its own there.

    Raises:
        DataError: *data* cannot be read at all.
    """
    found: list[Finding] = []
    again = target.read(data, "the output", found.append)
    if again is None and found:
        raise DataError(f"{target.name} cannot hold these {plural(len(rows), 'row')}: what was made of them cannot be "
                        f"read again ({found[0].message}). Nothing was written")  # fmt: skip
    back: Sequence[Row] = again.rows if again is not None else []
    counts: Counter[str] = Counter()
    for number, row in enumerate(rows):
        other = back[number] if number < len(back) else None
        for field in target.carries:
            before, after = getattr(row, field, None), getattr(other, field, None)
            if field == "language" and before == getattr(target, "language", None):
                continue  # what all of its questions are in, and none says
            if before not in (None, "", [], {}) and not _kept(before, after):
                counts[field] += 1
    return {field: f"not the same in {plural(count, 'row')}" for field, count in counts.items()}


def _kept(before: object, after: object) -> bool:
    """Whether a value came back; of open-ended keys, whether all are there."""
    if isinstance(before, dict):
        return isinstance(after, dict) and all(key in after and after[key] == before[key] for key in before)
    return before == after


def missing(rows: Sequence[Row], target: ItemFormat) -> dict[str, str]:
    """Fields that *target* needs and some of *rows* lack, with how many rows do."""
    counts = {field: sum(getattr(row, field, None) in (None, "", []) for row in rows) for field in target.needs}
    return {field: plural(count, "row") for field, count in counts.items() if count}


def convert_items(
    path: Place | Source,
    out: Place | BinaryIO,
    target: ItemFormat,
    *,
    format: ItemFormat | None = None,
    allow_loss: Collection[str] = (),
    sink: Sink = raise_errors,
) -> Conversion:
    """Convert one file of questions or predictions.

    Args:
        path: the file, or an archive or folder with one such file, or an open source of it.
        out: the file to write, or a binary stream.
        target: the format to write.
        format: of the source; told by its content if not given.
        allow_loss: fields whose loss is accepted; ``all`` for every one.
        sink: takes what is found wrong.

    Raises:
        InvalidData: the sink says so.
        LossError: the target cannot carry a field, and its loss is not allowed.
        UsageError: there is nothing to convert, or the target needs a field that the source lacks.
    """
    allow_loss = checked_fields(allow_loss, {**Item.model_fields, **Prediction.model_fields})
    readings = read_items(path, format, sink)
    path = path.path if isinstance(path, Source) else path
    if len(readings) != 1:
        raise UsageError(f"{printable(os.fspath(path))} holds {plural(len(readings), 'file')} of questions: name one")
    reading = readings[0]
    if reading.format.holds != target.holds:
        return _template(reading, out, target, path)
    notes: list[str] = []
    if "options" in target.needs:
        reading, notes = _with_choices(reading)
    same = reading.format.name == target.name
    reading, changed = answered(reading, target)
    notes += changed
    lacking = missing(reading.rows, target) if target.name not in (reading.format.name, reading.home) else {}
    if lacking:
        fields = "; ".join(f"{field} is missing in {count}" for field, count in lacking.items())
        raise UsageError(f"{target.name} cannot be made of {reading.format.name}: {fields}")
    try:
        origin = target.origin_of(reading, notes.append)
        data = target.write(reading.rows, origin)
    except LossError as error:  # of the format itself: no permission helps
        fields = "; ".join(f"{field}: {what}" for field, what in error.losses.items())
        raise UsageError(f"{target.name} cannot be made of {reading.format.name}: {fields}") from error
    lost = reading.lost
    if not same and item_formats.recognise(data, f"out{target.suffix}") is None:
        data = target.write(target.marked(reading.table), origin)
    if not same:
        lost = lost | losses(reading.rows, target) | altered(reading.rows, data, target)
    allowed(lost, target, allow_loss)
    written = write_single(_packed(data, out, target), out, path)
    return done(reading.format.name, target.name, len(reading.rows), written, lost, notes)


def _with_choices(reading: ItemReading) -> tuple[ItemReading, list[str]]:
    """*reading* with options for questions without any, where its format holds wrong answers beside the right one."""
    rows: list[Row] = []
    made = 0
    for row in reading.rows:
        choices = reading.format.choices(row) if isinstance(row, Item) and not row.options else None
        rows.append(row if choices is None else row.model_copy(update={"options": choices}))
        made += choices is not None
    if not made:
        return reading, []
    note = f"options of {plural(made, 'question')} made of the answers that {reading.format.name} holds"
    return dataclasses.replace(reading, rows=rows), [note]


def _packed(data: bytes, out: Place | BinaryIO, target: ItemFormat) -> bytes:
    """*data*; in a zip, as MERA takes it, where the output of a submission is called one.

    Raises:
        UsageError: the output is called an archive, and the target is none.
    """
    name = os.fspath(out) if isinstance(out, str | os.PathLike) else ""
    if not str(name).lower().endswith(".zip"):
        return data
    if target is not SUBMISSION:
        raise UsageError(f"{target.name} is written as one file, not as an archive: -o with another name than .zip")
    return zipped({f"{RUENVAQA}.json": data})


def _template(reading: ItemReading, out: Place | BinaryIO, target: ItemFormat, path: Place) -> Conversion:
    """Write what a model has to fill in to answer the questions of *reading*.

    Raises:
        UsageError: it holds predictions, or the target cannot answer these questions.
    """
    if target.holds == "items":
        raise UsageError(f"{reading.format.name} holds predictions, {target.name} questions: convert the questions")
    rows = target.template([row for row in reading.rows if isinstance(row, Item)])
    note = "a template: the predictions are empty, for a model to fill in"
    written = write_single(_packed(target.write(rows), out, target), out, path)
    return dataclasses.replace(done(reading.format.name, target.name, len(reading.rows), written, {}, [note]),
                               rows=(len(reading.rows), len(rows)))  # fmt: skip


def allowed(lost: dict[str, str], target: ItemFormat, allow_loss: Collection[str]) -> dict[str, str]:
    """*lost*, if all of it is allowed.

    Raises:
        LossError: it is not.
    """
    refused = {field: what for field, what in lost.items() if not {field, ALL} & set(allow_loss)}
    if refused:
        raise LossError(target.name, refused)
    return lost


def done(
    source: str, target: str, rows: int, written: tuple[str, ...], lost: dict[str, str], notes: Sequence[str] = (),
    findings: Sequence[Finding] = (),
) -> Conversion:  # fmt: skip
    """What a conversion of *rows* questions did."""
    return Conversion((source,), target, 1, written, rows, (rows, rows), lost, tuple(notes), tuple(findings))


def _nothing(finding: Finding) -> None:
    """What is wrong is told when the file is read in earnest."""
