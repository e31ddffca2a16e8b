"""The labels, questions and predictions of a source or in memory: in parts, as readings, or as whole tables."""

from __future__ import annotations

import dataclasses
import io
import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import compress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from seldio.catalogues import Catalogue
from seldio.catalogues.look import PARQUET_SUFFIX
from seldio.catalogues.parts import NamedEntry, Part, entries_by_clip, resolved
from seldio.errors import DataError, InvalidData, UnknownFormat, UsageError
from seldio.files import Entry, Source
from seldio.files.sources import Place, open_stream, reopened
from seldio.findings import Finding, Severity, Sink, raise_errors
from seldio.formats import LabelFormat, LabelReading, get, of_questions
from seldio.schema.events import COLUMNS, Origin, origin_of, with_origin
from seldio.text import json_text, listed, plural, printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat, ItemReading

#: Findings that ask for the name of the format.
_UNDECIDED = ("SYN901", "SYN903")


def label_parts(catalogue: Catalogue) -> list[Part]:
    """Return the label files of a catalogue by their formats."""
    parts = catalogue.labels
    # reading a single file says what it is instead of labels
    if not parts and catalogue.source.single and not catalogue.of("recording", "video"):
        parts = [Part((NamedEntry(entry, entry.name, ""),)) for entry in catalogue.source]
    entries_by_clip(parts)
    return parts


def strict(findings: list[Finding]) -> Sink:
    """Return a sink that stops at errors and keeps the rest."""

    def take(finding: Finding) -> None:
        if finding.severity is Severity.ERROR:
            raise InvalidData(finding)
        findings.append(finding)

    return take


def raising_unknown(sink: Sink) -> Sink:
    """Return a sink that asks for ``--format`` where the content does not tell the format."""

    def take(finding: Finding) -> None:
        if finding.code in _UNDECIDED and finding.severity is Severity.ERROR:
            raise UnknownFormat(f"{printable(finding.path)}: {finding.message}; {finding.hint}")
        sink(finding)

    return take


# --- whole tables -----------------------------------------------------------------------------------------------------


def joined(readings: Sequence[LabelReading]) -> list[tuple[pa.Table, LabelFormat]]:
    """Return the tables of readings; Parquet tables of one class list are one, as are the orders of own columns."""
    tables = [(reading.table, reading.format) for reading in readings]
    is_shard = [format.role == "table" or bool(format.own) for _, format in tables]
    shards = [*compress(tables, is_shard)]
    origins = [origin_of(table) for table, _ in shards]
    files = tuple(file for origin in origins for file in origin.files)
    kinds = {(format.name, format.role, format.vocabulary) for _, format in shards}
    alike = len({origin.vocabulary for origin in origins}) == 1 and len({file.clip for file in files}) == len(files)
    if len(shards) < 2 or not alike or len(kinds) > 1:
        return tables
    layouts = {origin.format for origin in origins}
    plain = [table.replace_schema_metadata(None) for table, _ in shards]
    table = pa.concat_tables(plain, promote_options="default").unify_dictionaries()
    origin = Origin(layouts.pop() if len(layouts) == 1 else "", origins[0].vocabulary, files)
    others = [pair for pair, shard in zip(tables, is_shard, strict=True) if not shard]
    return [*others, (with_origin(table, origin), shards[0][1])]


@dataclasses.dataclass(frozen=True)
class LabelInput:
    """The labels read from a source."""

    tables: list[tuple[pa.Table, LabelFormat]]  # one for each format, with its format
    files: list[Entry]  # the label files
    readings: list[LabelReading]  # their rows, for :func:`seldio.check.labels.settle`
    questions: ItemFormat | None  # the format of questions or predictions beside them, unless that of labels was given


def read_labels(source: Source, format: LabelFormat | None, sink: Sink, without: Path | None = None) -> LabelInput:
    """Read the labels of an open source, but for those below the folder *without*."""
    catalogue = Catalogue(source, format, raising_unknown(sink), without=without)
    parts = label_parts(catalogue)
    readings = [reading for part in parts for reading in part.labels(raising_unknown(sink))]
    return LabelInput(
        joined(readings),
        list({file.entry.path: file.entry for part in parts for file in part.files}.values()),
        readings,
        catalogue.asked if format is None and readings else None,
    )


def read_table(place: Place, format: LabelFormat | str | None, force: bool) -> pa.Table:
    """Return the labels, questions or predictions of a source as one table, see :func:`seldio.read`."""
    questions = of_questions(format) if isinstance(format, str) else None
    with reopened(place, raise_errors) as source:
        if questions is not None or (format is None and _asks_only(source)):
            return read_item_table(source, questions)
        labels = read_labels(source, get(format) if isinstance(format, str) else format, raise_errors)
        if not labels.tables:
            raise UsageError(f"{printable(source.path)} holds no labels")
        table, layout = one_table(labels.tables, source.path)
        if (other := labels.questions) is not None:
            kind = "questions" if other.holds == "items" else "predictions"
            raise UsageError(
                f"{printable(source.path)} holds labels ({layout.name}) and {kind} ({other.name}): name the "
                f"file, or choose with format={layout.name!r} or format={other.name!r}"
            )
        from seldio.check.labels import settle

        settle(labels.readings, force)
        return table


def _asks_only(source: Source) -> bool:
    """Return whether questions are meant; a file such as ``metadata.csv`` next to them holds no labels."""
    catalogue = Catalogue(source)
    labels = not source.single and any(part.format is not None for part in catalogue.labels)
    return catalogue.asked is not None and not labels


def one_table(tables: Sequence[tuple[pa.Table, LabelFormat]], where: str) -> tuple[pa.Table, LabelFormat]:
    """Return tables of several formats as one with the format of its rows; columns that one of them lacks are null.

    Event tables are in degrees and metres, whatever the units of their files are.

    Raises:
        UsageError: the formats differ in more than columns and units.
    """
    if len(tables) == 1:
        return tables[0]
    from seldio.clock import HOP
    from seldio.conversion.frames import are_events
    from seldio.formats.label_csv import Dialect
    from seldio.vocabularies import short

    formats = [resolved(format, table) for table, format in tables]
    names = ", ".join(format.name for _, format in tables)
    files = tuple(file for table, _ in tables for file in origin_of(table).files)
    counts = Counter(file.clip for file in files)
    several = ""
    if len({format.role in ("table", "label") for format in formats}) > 1:
        several = f"labels and outputs do not fit in one table ({names})"
    elif len({format.vocabulary for format in formats}) > 1:
        lists = ", ".join(dict.fromkeys(short(format.vocabulary) for format in formats))
        several = f"several class lists do not fit in one table ({names}: {lists})"
    elif {format.hop for format in formats} != {HOP} or len({are_events(table) for table, _ in tables}) > 1:
        several = f"only label frames of 100 ms fit in one table of several formats ({names})"
    elif len({isinstance(format, Dialect) and format.folded for format in formats}) > 1:
        several = f"folded azimuths and others do not fit in one table ({names})"
    elif twice := [clip for clip, count in counts.items() if count > 1]:
        several = f"labels of {listed(twice)} appear twice ({names})"
    if several:
        raise UsageError(
            f"{printable(where)}: {several}: pass a folder with a single format, or choose the format with --format"
        )
    parts = [table.replace_schema_metadata(None) for table, _ in tables]
    table = pa.concat_tables(parts, promote_options="default").unify_dictionaries()
    table = table.select([name for name in COLUMNS if name in table.column_names])
    origin = Origin("", formats[0].vocabulary, files)
    return with_origin(table, origin), dataclasses.replace(get("parquet"), vocabulary=origin.vocabulary)


# --- questions and predictions, and data in memory -------------------------------------------------------------------


def read_items(place: Place, format: ItemFormat | None, sink: Sink) -> list[ItemReading]:
    """Return the questions or predictions of a file, folder or archive; files of other kinds are left out."""
    with reopened(place, sink) as source:
        questions = Catalogue(source, format, sink, labels=False).questions
        order = {entry.path: number for number, entry in enumerate(source)}
        return sorted(
            (reading for part in questions for reading in part.items(sink)), key=lambda reading: order[reading.path]
        )


def only_reading(source: Source, format: ItemFormat | None) -> ItemReading:
    """Read the only file of questions or predictions in a source."""
    readings = read_items(source, format, raise_errors)
    if len(readings) != 1:
        count = plural(len(readings), "file")
        raise UsageError(f"{printable(source.path)} holds {count} of questions or predictions: choose one")
    return readings[0]


def in_memory(data: Any, name: str, *, own_names: bool | None = False, sink: Sink = raise_errors) -> Place:
    """Return *data* as a source called *name*; a path or a source as it is.

    Args:
        data: a path, the bytes of a file or an open one, a list of dicts, of :class:`Item` or of :class:`Prediction`, a
            DataFrame, or an Arrow table.
        name: as people are told.
        sink: takes what is found about bytes that are an archive.
        own_names: whether its columns have the user's names, so that none of them tells labels; None if they may.

    Raises:
        UsageError: it is none of these, or has the columns of neither labels, questions nor replies.
    """
    if isinstance(data, str | os.PathLike | Source):
        return data
    if isinstance(data, bytes | bytearray | memoryview):
        return open_stream(io.BytesIO(data), name.replace("table", "bytes"), sink)
    if hasattr(data, "read"):
        shown, stream = getattr(data, "name", None), getattr(data, "buffer", data)
        if isinstance(shown, str):
            return open_stream(stream, shown, sink, name=PurePath(shown).name)
        return open_stream(stream, name.replace("table", "stream"), sink)
    from seldio.schema.frames import are_events, arrow_table, event_table
    from seldio.schema.qa import ITEM_SCHEMA, PREDICTION_SCHEMA, Item, Prediction, to_table

    first = data[0] if isinstance(data, list | tuple) and data else None
    if isinstance(first, dict) and all(isinstance(row, dict) for row in data):
        if own_names or not are_events(first):
            try:
                lines = "".join(f"{json_text(row)}\n" for row in data).encode()
            except (TypeError, ValueError) as error:
                raise UsageError(f"{name}: its records cannot be written as JSON: {error}") from error
            return _held(lines, name, ".jsonl")
        data = pa.Table.from_pylist(list(data))
    if isinstance(first, Item | Prediction):
        if len({*map(type, data)}) > 1:
            raise UsageError(f"{name}: pass Items or Predictions, not both")
        try:
            data = to_table(data, ITEM_SCHEMA if isinstance(first, Item) else PREDICTION_SCHEMA)
        except (ValueError, OverflowError) as error:
            raise DataError(f"{name}: a table cannot hold one of its values: {error}") from error
    import pyarrow.parquet as pq

    from seldio.formats.parquet import write_parquet

    stream = io.BytesIO()
    try:
        table = arrow_table(
            data, f"{name} must be a path, bytes, a stream, a list of dicts, a DataFrame or an Arrow table, not"
        )
        names = {*table.column_names}
        if not own_names and are_events(names):
            write_parquet(event_table(table), stream)
        elif own_names is False and not names & {*COLUMNS, *ITEM_SCHEMA.names, *PREDICTION_SCHEMA.names}:
            raise UsageError(
                f"{listed(table.column_names)} are columns of neither labels (clip, frame, class_id, azimuth, …) nor "
                "questions (id, question, …) nor replies (id, prediction): rename them"
            )
        else:
            pq.write_table(table, stream)
    except UsageError as error:
        text = error.text if error.text.startswith(name) else f"{name}: {error.text}"
        raise UsageError(text) from error
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(f"{name}: its columns do not fit into Parquet: {error}") from error
    return _held(stream.getvalue(), name, PARQUET_SUFFIX)


def _held(data: bytes, name: str, suffix: str) -> Source:
    entry = Entry(name, f"table{suffix}", len(data), len(data), None, partial(io.BytesIO, data))
    return Source(name, "file", (entry,))


def read_item_table(source: Source, format: ItemFormat | None = None) -> pa.Table:
    """Return the questions or predictions of a source, which holds one file of them, as a table."""
    from seldio.formats.item_parquet import ItemParquet

    reading = only_reading(source, format)
    stored = get(f"{reading.format.holds}-parquet", ItemParquet)
    return reading.table.replace_schema_metadata(stored.metadata(stored.origin_of(reading)))
