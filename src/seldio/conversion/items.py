"""Convert questions and predictions: read, name the loss, write."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, BinaryIO

from seldio import questions
from seldio.conversion.inputs import read_tables
from seldio.conversion.outputs import write_single
from seldio.conversion.sources import Conversion, convert_source
from seldio.conversion.tables import ALL, check_fields
from seldio.errors import LossError, UsageError
from seldio.files import open_source, read_entries
from seldio.findings import Finding, Sink, raise_errors
from seldio.formats import item_formats
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.schema.qa import Item
from seldio.text import plural, printable

Place = str | os.PathLike[str]
#: Fields that only explain a question, so that a target need not carry them.
ASIDE = frozenset({"events", "start", "end", "language"})


def read_items(path: str | os.PathLike[str], format: ItemFormat | None, sink: Sink) -> list[ItemReading]:
    """The questions or predictions of a file, folder or archive; files of other kinds are left out.

    Args:
        path: what to read; ``-`` for standard input.
        format: of all files; told by their content if not given.
        sink: takes what is found wrong.
    """
    with open_source(path, sink) as source:
        found = []
        for entry, data in read_entries(source, sink):
            chosen = format or _recognised(data, entry.name)
            reading = chosen.read(data, entry.path, sink) if chosen is not None else None
            if reading is not None:
                found.append(reading)
    return found


def _recognised(data: bytes, name: str) -> ItemFormat | None:
    """The item format of a file; a file that begins with a number holds labels."""
    return None if data[:1].isdigit() else item_formats.recognise(data, name)


def losses(rows: Sequence[Row], target: ItemFormat) -> dict[str, str]:
    """Fields that some of *rows* fill and *target* cannot carry, with how many rows do."""
    counts: dict[str, int] = {}
    for row in rows:
        for field in type(row).model_fields:
            if field not in target.carries and field not in ASIDE and getattr(row, field) not in (None, "", [], {}):
                counts[field] = counts.get(field, 0) + 1
    return {field: plural(count, "row") for field, count in counts.items()}


def altered(rows: Sequence[Row], data: bytes, target: ItemFormat) -> dict[str, str]:
    """Fields that do not come back from *data* as they are in *rows*, though *target* carries them.

    A key of ``extra`` that is also a key of the target, for example, has no place of its own there.
    """
    again = target.read(data, "the output", _nothing)
    back: Sequence[Row] = again.rows if again is not None else []
    counts: Counter[str] = Counter()
    for number, row in enumerate(rows):
        other = back[number] if number < len(back) else None
        for field in target.carries:
            before, after = getattr(row, field, None), getattr(other, field, None)
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
    path: Place,
    out: Place | BinaryIO,
    target: ItemFormat,
    *,
    format: ItemFormat | None = None,
    allow_loss: Collection[str] = (),
    sink: Sink = raise_errors,
) -> Conversion:
    """Convert one file of questions or predictions.

    Args:
        path: the file, or an archive or folder with one such file.
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
    check_fields(allow_loss, Item.model_fields)
    readings = read_items(path, format, sink)
    if len(readings) != 1:
        raise UsageError(f"{printable(os.fspath(path))} holds {plural(len(readings), 'file')} of questions: name one")
    reading = readings[0]
    if reading.format.holds != target.holds:
        raise UsageError(f"{reading.format.name} holds {reading.format.holds}, {target.name} holds {target.holds}")
    same = reading.format.name == target.name
    lost: dict[str, str] = {}
    if not same:
        lost = allowed(losses(reading.rows, target), target, allow_loss)
        if lacking := missing(reading.rows, target):
            fields = "; ".join(f"{field} is missing in {count}" for field, count in lacking.items())
            raise UsageError(f"{target.name} cannot be made of {reading.format.name}: {fields}")
    data = target.write(reading.rows, reading.origin if same else None)
    if not same:
        lost |= allowed(altered(reading.rows, data, target), target, allow_loss)
    return done(reading.format.name, target.name, len(reading.rows), write_single(data, out, path), lost)


def ask(
    path: Place, out: Place | BinaryIO, target: ItemFormat, *, format: str | None, options: Mapping[str, Any]
) -> Conversion:
    """Make questions from labels.

    Args:
        path: label files.
        out: the file to write, or a binary stream.
        target: the item format to write.
        format: the layout of the labels; found from their content if not given.
        options: keyword arguments of :func:`seldio.questions.generate`.

    Raises:
        InvalidData: something in the labels is wrong.
        UsageError: there are no labels, or an option makes no sense.
    """
    tables = read_tables(path, format=format)
    if not tables:
        raise UsageError(f"no labels in {printable(os.fspath(path))}")
    items: list[Item] = []
    skipped: Counter[tuple[str, str]] = Counter()
    for table, _ in tables:
        made = questions.generate(table, **options)
        items += made.items
        skipped += made.skipped
    rows = items if "start" in target.carries else [_timed(item) for item in items]
    written = write_single(target.write(rows), out, path)
    counts = Counter(str(item.task) for item in items)
    notes = [f"{count:,} {task}" for task, count in sorted(counts.items())]
    notes += [f"skipped {count:,} of {task}: {reason}" for (task, reason), count in sorted(skipped.items())]
    notes += [f"not asked: {task}: {reason}" for task, reason in questions.REFUSED.items()]
    return done(
        " and ".join(dict.fromkeys(given.name for _, given in tables)), target.name, len(items), written, {}, notes
    )


def _timed(item: Item) -> Item:
    """*item* with the part of the recording it asks about among its further keys: the audio is not cut."""
    return item.model_copy(update={"extra": {**(item.extra or {}), "start": item.start, "end": item.end}})


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


def convert_any(
    path: Place,
    out: Place | BinaryIO,
    to: str,
    format: str | None,
    allow_loss: Collection[str],
    fill: Mapping[str, float],
    options: Mapping[str, Any],
) -> Conversion:
    """Convert labels to labels, questions to questions, or labels to questions, as *to* and the source ask for."""
    target = item_formats.named(to)
    if target is None:
        return convert_source(path, out, to, format=format, allow_loss=allow_loss, fill=fill)
    given = item_formats.named(format) if format is not None else None
    if given is not None or (format is None and _holds_items(path)):
        return convert_items(path, out, target, format=given, allow_loss=allow_loss)
    if target.name not in ("so-bench", "items"):
        raise UsageError(f"labels can be asked in the formats so-bench and items, not in {target.name}")
    return ask(path, out, target, format=format, options=options)


def _holds_items(path: Place) -> bool:
    """Whether a source holds questions or predictions, by a look that stops at the first such file."""
    if os.fspath(path) == "-":
        raise UsageError("standard input can be read only once: say what it holds with --format")
    with open_source(path, _nothing) as source:
        return any(_recognised(data, entry.name) is not None for entry, data in read_entries(source, _nothing))


def _nothing(finding: Finding) -> None:
    """What is wrong is told when the file is read in earnest."""
