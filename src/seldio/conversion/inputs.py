"""The labels of a source, whatever it is: in parts for conversion and questions, or as whole tables."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from seldio.catalogues import CUT, Catalogue
from seldio.catalogues.look import Recognised
from seldio.catalogues.parts import NamedEntry, Part, entries_by_clip, resolved
from seldio.check.labels import Faults
from seldio.conversion.item_inputs import read_item_table
from seldio.errors import InvalidData, UnknownFormat, UsageError
from seldio.files import Entry, Source
from seldio.files.sources import Place, reopened
from seldio.findings import Finding, Severity, Sink, raise_errors
from seldio.formats import LabelFormat, get, of_questions
from seldio.schema.events import COLUMNS, Origin, origin_of, with_origin
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat

#: Findings that ask for the name of the format.
_UNDECIDED = ("SYN901", "SYN903")
#: More bytes than any part has: one part for each format.
_ALL = 1 << 62


def label_parts(
    source: Source, format: LabelFormat | None, sink: Sink, *, by_clip: bool = False, size: int = CUT
) -> list[Part]:
    """Return the label files of an open source, in parts."""
    return _parts_of(Catalogue(source, format, raising_unknown(sink)), size, by_clip)


def _parts_of(catalogue: Catalogue, size: int, by_clip: bool = False) -> list[Part]:
    parts = [part for part in catalogue.parts(by_clip=by_clip, size=size) if part.questions is None]
    # reading a single file says what it is instead of labels
    if not parts and catalogue.source.single and not catalogue.of("recording", "video"):
        parts = [Part((NamedEntry(entry, entry.name, ""),)) for entry in catalogue.source]
    entries_by_clip(parts)
    return parts


def strict(findings: list[Finding]) -> Sink:
    """A sink that stops at errors and keeps the rest."""

    def take(finding: Finding) -> None:
        if finding.severity is Severity.ERROR:
            raise InvalidData(finding)
        findings.append(finding)

    return take


def raising_unknown(sink: Sink) -> Sink:
    """A sink that asks for ``--format`` where the content does not tell the format."""

    def take(finding: Finding) -> None:
        if finding.code in _UNDECIDED and finding.severity is Severity.ERROR:
            raise UnknownFormat(f"{printable(finding.path)}: {finding.message}; {finding.hint}")
        sink(finding)

    return take


def local_files(parts: Iterable[Part]) -> list[str]:
    """The real files that are read."""
    return [file.entry.real for part in parts for file in part.files if file.entry.real is not None]


# --- whole tables -----------------------------------------------------------------------------------------------------


def joined(readings: Sequence[Recognised]) -> list[tuple[pa.Table, LabelFormat]]:
    """The tables of readings; Parquet tables of one class list are one, as are the orders of one set of own columns."""
    whole = [group for group in readings if group.reading.format.role == "table" or group.reading.format.own]
    shards = [group.reading for group in whole]
    origins = [origin_of(reading.table) for reading in shards]
    files = tuple(file for origin in origins for file in origin.files)
    kinds = {(reading.format.name, reading.format.role, reading.format.vocabulary) for reading in shards}
    alike = len({origin.vocabulary for origin in origins}) == 1 and len({file.clip for file in files}) == len(files)
    if len(shards) < 2 or not alike or len(kinds) > 1:
        return [(group.reading.table, group.reading.format) for group in readings]
    layouts = {origin.format for origin in origins}
    table = pa.concat_tables(
        [reading.table.replace_schema_metadata(None) for reading in shards], promote_options="default"
    ).unify_dictionaries()
    origin = Origin(layouts.pop() if len(layouts) == 1 else "", origins[0].vocabulary, files)
    others = [group.reading for group in readings if not any(group is other for other in whole)]
    return [*((reading.table, reading.format) for reading in others), (with_origin(table, origin), shards[0].format)]


@dataclasses.dataclass(frozen=True)
class LabelInput:
    """The labels read from a source."""

    tables: list[tuple[pa.Table, LabelFormat]]  # one for each format, with its format
    files: list[Entry]  # the label files
    faults: Faults  # errors in their rows
    questions: ItemFormat | None  # the format of questions or predictions beside them, unless that of labels was given


def read_labels(source: Source, format: LabelFormat | None, sink: Sink, without: Path | None = None) -> LabelInput:
    """Read the labels of an open source, but for those below the folder *without*."""
    catalogue = Catalogue(source, format, raising_unknown(sink), without=without)
    parts = _parts_of(catalogue, _ALL)
    readings = [reading for part in parts for reading in part.labels(raising_unknown(sink))]
    return LabelInput(
        joined(readings),
        list({file.entry.path: file.entry for part in parts for file in part.files}.values()),
        Faults(readings),
        catalogue.asked if format is None and readings else None,
    )


def read_table(place: Place, format: LabelFormat | str | None, force: bool) -> pa.Table:
    """Return the labels, questions or predictions of a source as one table, see :func:`seldio.read`."""
    questions = of_questions(format) if isinstance(format, str) else None
    with reopened(place, raise_errors) as source:
        if questions is not None or (format is None and source.single and _asks_only(source)):
            return read_item_table(source, questions)
        try:
            labels = read_labels(source, get(format) if isinstance(format, str) else format, raise_errors)
            if not labels.tables:
                raise UsageError(f"{printable(source.path)} holds no labels")
        except (InvalidData, UsageError):
            if format is not None or not _asks_only(source):
                raise
            return read_item_table(source)
        table, layout = one_table(labels.tables, source.path)
        if (other := labels.questions) is not None:
            kind = "questions" if other.holds == "items" else "predictions"
            raise UsageError(
                f"{printable(source.path)} holds labels ({layout.name}) and {kind} ({other.name}): name the "
                f"file, or choose with format={layout.name!r} or format={other.name!r}"
            )
        labels.faults.settle(force)
        return table


def _asks_only(source: Source) -> bool:
    """Return whether questions are meant; a file such as ``metadata.csv`` next to them holds no labels."""
    catalogue = Catalogue(source)
    labels = not source.single and any(part.format is not None for part in catalogue.labels)
    return catalogue.asked is not None and not labels


def formats_read(tables: Sequence[tuple[pa.Table, LabelFormat]]) -> str:
    """Return the formats of tables with their numbers of files, in words."""
    counts = (f"{format.name} ({plural(len(origin_of(table).files), 'file')})" for table, format in tables)
    return f"{len(tables)} formats were read: {', '.join(counts)}"


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
