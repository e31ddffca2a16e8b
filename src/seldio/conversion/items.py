"""Convert questions and predictions, a part of their file after the other: read, name the loss, write.

In memory they are Arrow tables: what lies in their own Parquet files, without the file.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import IO, Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seldio import formats
from seldio.catalogues import Catalogue
from seldio.catalogues.parts import Part
from seldio.check.reference import RUENVAQA
from seldio.conversion.item_inputs import in_memory, read_items
from seldio.conversion.losses import NOTHING, allowed, checked_fields
from seldio.conversion.outputs import single_file
from seldio.conversion.report import Conversion
from seldio.conversion.right_answers import FEW, RightAnswers, with_choices
from seldio.errors import DataError, InvalidData, LossError, UsageError
from seldio.files import Source
from seldio.files.archives import zipped
from seldio.files.names import is_zip
from seldio.files.sources import reopened
from seldio.findings import Finding, Sink, raise_errors
from seldio.formats.base import Format
from seldio.formats.item_parquet import ItemParquet
from seldio.formats.items import ItemFormat, ItemReading, Writer
from seldio.formats.json_items import JsonItems
from seldio.formats.json_layout import KeyOrders
from seldio.formats.mera_submission import SUBMISSION
from seldio.formats.parquet import too_large
from seldio.schema.arrays import pc
from seldio.schema.qa import Item, Prediction, Rows, table_of
from seldio.text import listed, plural, printable

Place = str | os.PathLike[str]
#: Fields of questions and predictions that ``--fill`` can set: one text for every row that has none.
FILLABLE = ("task", "instruction", "language", "split", "dataset")


@dataclasses.dataclass
class Loss:
    """What a target cannot hold of questions or predictions, counted a part of them after the other."""

    target: ItemFormat  # the format to write
    #: rows that fill a field which the target cannot carry, by field
    lost: Counter[str] = dataclasses.field(default_factory=Counter)
    #: rows of which a field that it carries does not come back as it is
    altered: Counter[str] = dataclasses.field(default_factory=Counter)
    missing: Counter[str] = dataclasses.field(default_factory=Counter)  # rows that lack what it needs

    def need(self, table: pa.Table) -> None:
        """Count what is missing in *table*."""
        for field in self.target.needs:
            self.missing[field] += len(table)
            if field in table.schema.names:
                self.missing[field] -= int(_filled(table, field).sum())

    def add(self, table: pa.Table, origin: dict[str, object] | None, marks: bool) -> None:
        """Count what is lost or altered of *table* in a file that is made of it; *marks*: with what tells the format.

        A key of ``extra`` that is also a key of the target, for example, has no place of its own there.
        """
        for field in table.schema.names:
            if field not in self.target.carries or field in self.target.ignored:
                self.lost[field] += int(_filled(table, field).sum())
        doubtful = self.target.doubtful(table)
        if not len(doubtful):
            return
        table = table.take(doubtful)
        rows = Rows(self.target.marked(table) if marks else table, self.target.model)
        found: list[Finding] = []
        again = self.target.read(self.target.write(rows, origin), "the output", found.append)
        if again is None and found:
            raise _unreadable(self.target, len(table), found[0].message)
        back = again.table if again is not None else table.schema.empty_table()
        for field in self.target.carries:
            if field in table.schema.names:
                self.altered[field] += self._altered(table.column(field), back.column(field), field)

    def _altered(self, before: pa.ChunkedArray, after: pa.ChunkedArray, field: str) -> int:
        """How many filled values of a column are others *after*; of further keys, whether all are there."""
        if before.equals(after):
            return 0
        nothing: tuple[object, ...] = (None, "", [], "{}" if field == "extra" else "")
        common = getattr(self.target, "language", None) if field == "language" else None  # which no record says
        both = zip_longest(before.to_pylist(), after.to_pylist()[: len(before)])
        return sum(
            one not in nothing and one != other and (common is None or one != common)
            and not (field == "extra" and _holds(other, one))
            for one, other in both
        )  # fmt: skip

    def in_words(self) -> dict[str, str]:
        """The fields that rows lose or have changed, with how many do."""
        why = {field: f"; {reason}" for field, reason in self.target.ignored.items()}
        lost = {field: plural(count, "row") + why.get(field, "") for field, count in self.lost.items() if count}
        return lost | {
            field: f"not the same in {plural(count, 'row')}" for field, count in self.altered.items() if count
        }


def _taken_for(told: Format, target: JsonItems, reading: ItemReading, table: pa.Table) -> UsageError:
    """The error for rows that would be read as another format, as the first lacks what tells the target."""
    missing = [field for field in target.empty if not table.column(field)[0].is_valid]
    keys = listed([target.key_of(field, {}) for field in missing])
    return UsageError(
        f"{target.name} cannot be made from {reading.format.name}: the first row has no {' or '.join(missing)} "
        f"({keys}), so that the file would be read as {told.name}"
    )


def _unreadable(target: ItemFormat, rows: int, why: str) -> DataError:
    return DataError(f"{target.name} cannot hold these {plural(rows, 'row')}: the result could not be read back "
                     f"({why}). Nothing was written")  # fmt: skip


def _filled(table: pa.Table, field: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows have something in a field."""
    column = table.column(field)
    there = column.is_valid()
    if pa.types.is_list(column.type):
        there = pc.greater(pc.fill_null(pc.list_value_length(column), 0), 0)
    elif pa.types.is_string(column.type):
        there = pc.fill_null(pc.not_equal(column, "{}" if field == "extra" else ""), False)
    return np.asarray(there.to_numpy(), bool)


def _holds(text: str | None, part: str) -> bool:
    """Whether an object of JSON text has all the keys of another, with the same values."""
    whole = {} if text is None else json.loads(text)
    return all(key in whole and whole[key] == value for key, value in json.loads(part).items())


def convert_items(
    path: Place | Source,
    out: Place | BinaryIO,
    target: ItemFormat,
    *,
    format: ItemFormat | None = None,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    drop_unfit: bool = False,
    sink: Sink = raise_errors,
) -> Conversion:
    """Convert one file of questions or predictions.

    *fill* has values for fields that rows lack; with *drop_unfit*, rows that cannot be written are left out and listed.
    """
    allow_loss = checked_fields(allow_loss, {**Item.model_fields, **Prediction.model_fields})
    checked_fill(fill, target)
    place = path.path if isinstance(path, Source) else path
    with (
        reopened(path, sink) as source,
        tempfile.TemporaryFile() as spool,
        target.writer(cast("BinaryIO", spool)) as writer,
    ):
        work = _Work(target, writer, fill, drop_unfit)
        for reading in one_file(source, place, format, sink):
            work.add(reading)
        converted = work.finish(allow_loss)
        with single_file(out, [place]) as (stream, written):
            _put(spool, stream, out, target)
    return dataclasses.replace(converted, written=written)


def checked_fill(fill: Mapping[str, Any], target: ItemFormat) -> None:
    """See that *target* has the fields of *fill*, and that their values are texts.

    Raises:
        UsageError: one cannot be filled.
    """
    for field, value in fill.items():
        if field not in FILLABLE:
            raise UsageError(f"--fill {field}: of questions, only {', '.join(FILLABLE)} can be filled")
        if field not in target.carries:
            raise UsageError(f"--fill {field}: {target.name} has no such field")
        if not isinstance(value, str) or not value:
            raise UsageError(f"--fill {field}={value}: not a text")


def one_file(source: Source, place: Place, format: ItemFormat | None, sink: Sink) -> Iterator[ItemReading]:
    """The only file of questions or predictions in a source, in parts that follow each other."""
    found = [part for part in Catalogue(source, format, sink).parts() if part.questions is not None]
    files = {file.entry.path for part in found for file in part.files}
    if len(files) > 1:  # all but one may hold nothing that can be read
        files = {path for path, _ in _readings(found, sink)}
    readings = (reading for path, reading in _readings(found, sink) if path in files)
    first = next(readings, None) if len(files) == 1 else None
    if first is None:
        count = plural(0 if len(files) == 1 else len(files), "file")
        raise UsageError(f"{printable(os.fspath(place))} holds {count} of questions or predictions: choose one")
    yield first
    yield from readings


def _readings(found: Sequence[Part], sink: Sink) -> Iterator[tuple[str, ItemReading]]:
    """What files hold, with the path of each; what is wrong goes to *sink*."""
    for part in found:
        for file in part.texts(sink):
            yield from ((file.path, reading) for reading in part.readings(file, sink))


class _Work:
    """One file being converted, a part of it after the other."""

    def __init__(self, target: ItemFormat, writer: Writer, fill: Mapping[str, Any], drop_unfit: bool) -> None:
        self.target, self.writer, self.loss = target, writer, Loss(target)
        self.fill, self.drop_unfit = fill, drop_unfit
        self.filled: Counter[str] = Counter()
        self.dropped: list[tuple[str, str]] = []  # ids of rows that are left out, with the reason
        self.reading: ItemReading | None = None  # the last one
        self.rows = self.made = self.chosen = 0
        self.memory = KeyOrders()
        self.answers: RightAnswers | None = None
        self.marks = False
        self.wrong: LossError | InvalidData | None = None
        self.taken: UsageError | None = None  # where what is written would be read as another format

    def add(self, reading: ItemReading) -> None:
        """Convert a part of the file."""
        first, self.reading = self.reading is None, reading
        table = reading.table
        self.rows += len(table)
        if reading.format.holds != self.target.holds:
            if self.target.holds == "items":
                source, target = reading.format.name, self.target.name
                raise UsageError(f"{source} holds predictions, but {target} holds questions: convert the questions")
            if self.fill or self.drop_unfit:
                raise UsageError("--fill and --drop-unfit are for questions, not for the template of their predictions")
            rows = self.target.template([row for row in reading.rows if isinstance(row, Item)])
            self.made += len(rows)
            self.writer.add(table_of(rows, Prediction), None)
            return
        if "options" in self.target.needs:
            table, chosen = with_choices(reading)
            self.chosen += chosen
        table = self._filled(table)
        self.answers = self.answers or RightAnswers(reading, self.target)
        if self.drop_unfit and reading.format.name != self.target.name:
            table = self._fitting(table, self.answers)
        table = self.answers.add(table)
        self.made += len(table)
        self.loss.need(table)
        refused = self.target.refusal(table)
        if refused is not None:
            raise UsageError(f"{self.target.name} cannot be made from {reading.format.name}: {refused}")
        same = reading.format.name == self.target.name
        if reading.note is not None and isinstance(self.target, ItemParquet):
            reading.note(self.memory)
        try:
            # what cannot be kept of an origin is told once, of the whole file
            origin = None if isinstance(self.target, ItemParquet) else self.target.origin_of(reading, lambda _: None)
            if first and not same and isinstance(self.target, JsonItems):
                head = self.target.write(table.slice(0, 1), origin)
                told = formats.format_of_file(head, f"out{self.target.suffix}")
                self.marks = told is None
                if told is not None and told is not self.target and self.target.empty:
                    self.taken = _taken_for(told, self.target, reading, table)
            self.writer.add(self.target.marked(table) if self.marks else table, origin)
            if not same:
                self.loss.add(table, origin, self.marks)
        except (LossError, InvalidData) as error:  # of the format itself: no permission helps
            self.wrong = error

    def _filled(self, table: pa.Table) -> pa.Table:
        """*table* with the values that the user gives, in rows that have none."""
        for field, value in self.fill.items():
            column, there = table.column(field), _filled(table, field)
            self.filled[field] += int((~there).sum())
            place = table.schema.names.index(field)
            table = table.set_column(place, table.schema.field(place), pc.if_else(pa.array(there), column, value))
        return table

    def _fitting(self, table: pa.Table, answers: RightAnswers) -> pa.Table:
        """The rows of *table* that can be written; the others are taken note of."""
        why: dict[int, str] = {}
        for field in self.target.needs:
            lacking = range(len(table)) if field not in table.schema.names else np.flatnonzero(~_filled(table, field))
            why |= {int(row): f"no {field}" for row in lacking}
        why |= {row: plural(size, "option") if size else "no options" for row, size in answers.misfits(table)}
        why |= {row: f"the answer is {wrong}" for row, _, wrong in answers.answers(table) if wrong is not None}
        if self._refused(table) is not None:  # by a single row, perhaps
            alone = {row: self._refused(table.slice(row, 1)) for row in range(len(table)) if row not in why}
            why |= {row: refused for row, refused in alone.items() if refused is not None}
        ids = table.column("id").to_pylist()
        self.dropped += [(str(ids[row]), why[row]) for row in sorted(why)]
        return table.filter(pa.array([row not in why for row in range(len(table))], pa.bool_())) if why else table

    def _refused(self, table: pa.Table) -> str | None:
        """Why the target cannot hold the rows of *table*, whatever they lack; None where it can."""
        if (refused := self.target.refusal(table)) is not None:
            return refused
        try:
            self.target.write(Rows(table, self.target.model))
        except LossError as error:
            return "; ".join(f"{field}: {what}" for field, what in error.losses.items())
        except InvalidData as error:
            return error.finding.message
        return None

    def finish(self, allow_loss: Collection[str]) -> Conversion:
        """What was converted, once nothing is missing or lost."""
        reading = self.reading
        assert reading is not None
        source, target, notes = reading.format.name, self.target.name, list[str]()
        if reading.format.holds != self.target.holds:
            self.writer.close(None)
            notes.append("a template: the predictions are empty, for a model to fill in")
            return self._done(source, {}, notes)
        if self.chosen:
            notes.append(f"options of {plural(self.chosen, 'question')} made from the answers in {source}")
        if self.dropped and not self.made:
            reasons = Counter(why for _, why in self.dropped)
            shown = listed([f"{number:,}: {why}" for why, number in reasons.most_common()], FEW)
            raise UsageError(f"{target} cannot be made from {source}: no row fits ({shown})")
        notes += [
            f"--fill {field} has no effect: every row already has a value"
            for field in self.fill if not self.filled[field]
        ]  # fmt: skip
        if self.answers is not None:
            notes += self.answers.finish()
        lacking = [f"{plural(n, 'row has', 'rows have')} no {field}" for field, n in self.loss.missing.items() if n]
        if lacking and target not in (source, reading.home):
            fills = " ".join(f"--fill {field}=TEXT" for field in FILLABLE if self.loss.missing[field])
            hint = f". To set one value for all, use {fills}" if fills else ""
            raise UsageError(f"{target} cannot be made from {source}: {'; '.join(lacking)}{hint}")
        if isinstance(self.wrong, InvalidData):
            raise self.wrong
        if self.wrong is not None:
            fields = "; ".join(f"{field}: {what}" for field, what in self.wrong.losses.items())
            raise UsageError(f"{target} cannot be made from {source}: {fields}") from self.wrong
        if reading.note is not None and isinstance(self.target, ItemParquet):
            reading = dataclasses.replace(reading, source=self.memory.origin())
        self.writer.close(self.target.origin_of(reading, notes.append))
        large = too_large(pq.read_metadata(self.writer.stream)) if isinstance(self.target, ItemParquet) else None
        if large is not None and target != source:
            raise _unreadable(self.target, self.made, large.message)
        lost = reading.lost | (self.loss.in_words() if target != source else {})
        accepted = allowed(lost, target, allow_loss)
        if self.taken is not None:
            raise self.taken
        return self._done(source, accepted, notes)

    def _done(self, source: str, lost: Mapping[str, str], notes: Sequence[str]) -> Conversion:
        return Conversion(
            (source,), self.target.name, 1, (), self.rows, (self.rows, self.made), lost, tuple(notes), (),
            dropped=tuple(self.dropped),
        )  # fmt: skip


def _put(spool: IO[bytes], stream: BinaryIO, out: Place | BinaryIO, target: ItemFormat) -> None:
    """Write what was spooled; in a zip, as MERA takes it, where the output of a submission is called one."""
    spool.seek(0)
    name = os.fspath(out) if isinstance(out, str | os.PathLike) else ""
    if not is_zip(str(name)):
        shutil.copyfileobj(spool, stream)
    elif target is SUBMISSION:
        stream.write(zipped({f"{RUENVAQA}.json": spool.read()}))
    else:
        raise UsageError(
            f"{target.name} is written as one file, not an archive: use -o with a name that does not end in .zip"
        )


# --- in memory -------------------------------------------------------------------------------------


def is_item_table(table: Any) -> bool:
    """Whether *table* holds questions or predictions: it is a list of them, or it has ids and no clips."""
    if isinstance(table, list | tuple):
        return bool(table) and all(isinstance(row, Item | Prediction) for row in table)
    schema = getattr(table, "schema", None)
    names = schema.names if isinstance(schema, pa.Schema) else list(getattr(table, "columns", ()))
    return "id" in names and "clip" not in names


def write_item_table(
    table: Any, path: Place, format: str, allow_loss: Collection[str], fill: Mapping[str, Any]
) -> tuple[str, ...]:
    """Write a table, or list, of questions or predictions as one file; see :func:`seldio.write`."""
    source = cast("Source", in_memory(table, "the table"))
    (reading,) = read_items(source, None, raise_errors)
    target = formats.meant(format, reading.format) or formats.get(format, ItemFormat)
    return convert_items(source, path, target, allow_loss=allow_loss, fill=fill).written
