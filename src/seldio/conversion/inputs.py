"""The tables of a source on disk, whatever it is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from seldio.check.vetting import Faults, vet
from seldio.errors import InvalidData, UnknownFormat, UsageError
from seldio.files import Entry, Source
from seldio.files.sources import reopened
from seldio.findings import Finding, Severity, Sink, raise_errors
from seldio.formats import Format, Reading, TextFile, get
from seldio.formats.recognise import SUFFIXES, clip_names, is_annotations, is_table, read_files
from seldio.schema.events import Origin, origin_of, with_origin
from seldio.text import printable

#: Findings that ask for the name of the format.
_UNDECIDED = ("SYN901", "SYN903")


@dataclasses.dataclass(frozen=True)
class Input:
    """What was read of a source.

    Args:
        path: the source as the user named it.
        tables: one for each layout, with its format.
        single: whether it is one label file, and no folder, archive or Parquet table.
        files: files read.
        skipped: files that are no labels.
        local: real paths of the files read, or of the archive they are in.
        faults: errors in their rows.
    """

    path: str
    tables: list[tuple[pa.Table, Format]]
    single: bool
    files: int
    skipped: int
    local: list[str]
    faults: Faults = dataclasses.field(default_factory=Faults)


def read_tables(
    path: str | os.PathLike[str], *, format: Format | str | None = None, sink: Sink = raise_errors
) -> list[tuple[pa.Table, Format]]:
    """The event tables of a file, folder, archive, Parquet table or standard input, one for each layout.

    Args:
        path: what to read.
        format: the layout of all label files; found from their content if not given.
        sink: takes what is found wrong.

    Raises:
        UnknownFormat: the content does not tell the layout; the message names the candidates.
        UsageError: nothing has that name, or no such format exists.
        SeldioError: the disk fails.
    """
    return read_input(path, format, sink).tables


class Single(NamedTuple):
    """What a source of one layout holds.

    Args:
        table: the rows.
        format: the layout.
        alone: whether it is a single label file.
        faults: errors in the rows.
    """

    table: pa.Table
    format: Format
    alone: bool
    faults: Faults


def read_single(path: str | os.PathLike[str], format: Format | str | None = None, sink: Sink = raise_errors) -> Single:
    """The event table of a source that has one layout, with what is to be known of it.

    Raises:
        UsageError: the source holds no labels, or several layouts; and all that :func:`read_tables` raises.
    """
    found = read_input(path, format, sink)
    if len(found.tables) != 1:
        held = ", ".join(given.name for _, given in found.tables) or "no labels"
        raise UsageError(
            f"{printable(os.fspath(path))} holds {held}: name one folder of one layout, or the layout of all"
        )
    return Single(*found.tables[0], found.single, found.faults)


def read_input(
    path: str | os.PathLike[str] | Source, format: Format | str | None, sink: Sink, without: Path | None = None
) -> Input:
    """Like :func:`read_tables`, with what is to be known of the files; files below *without* are left out."""
    told = get(format) if isinstance(format, str) else format
    with reopened(path, sink) as source:
        alone = source.kind in ("file", "gzip", "stdin")
        entries = label_entries(source, told, without)
        files = label_files([TextFile(entry.path, name, clip, entry.read()) for entry, name, clip in entries],
                            every=alone or told is not None)  # fmt: skip
        local = [str(entry.local) for entry, _, _ in entries if entry.local is not None]
    recognised = read_files(files, asking(sink), told)
    readings = [item.reading for item in recognised]
    return Input(
        path=source.path,
        tables=_joined(readings),
        single=alone and all(reading.format.role != "table" for reading in readings),
        files=len(files),
        skipped=len(source.entries) - len(files),
        local=local or [source.path],
        faults=vet(recognised),
    )


def _joined(readings: Sequence[Reading]) -> list[tuple[pa.Table, Format]]:
    """The tables of *readings*, where Parquet tables of one class list, as the shards of an export are, are one."""
    shards = [reading for reading in readings if reading.format.role == "table"]
    origins = [origin_of(reading.table) for reading in shards]
    files = tuple(file for origin in origins for file in origin.files)
    alike = len({origin.vocabulary for origin in origins}) == 1 and len({file.clip for file in files}) == len(files)
    if len(shards) < 2 or not alike:
        return [(reading.table, reading.format) for reading in readings]
    layouts = {origin.format for origin in origins}
    table = pa.concat_tables(
        [reading.table.replace_schema_metadata(None) for reading in shards], promote_options="default"
    ).unify_dictionaries()  # fmt: skip
    origin = Origin(layouts.pop() if len(layouts) == 1 else "", origins[0].vocabulary, files)
    others = [(reading.table, reading.format) for reading in readings if reading.format.role != "table"]
    return [*others, (with_origin(table, origin), shards[0].format)]


def label_entries(source: Source, told: Format | None, without: Path | None = None) -> list[tuple[Entry, str, str]]:
    """The entries of a source that may be label files, by their names, each with its name and its clip.

    Args:
        source: a single file is always one; where nothing else holds labels, tables of labels do.
        told: the layout of all, if it is known.
        without: a folder that is left out.
    """
    alone = source.kind in ("file", "gzip", "stdin")
    entries = [entry for entry in source if alone or (_is_label(entry, told) and not _below(entry, without))]
    if told is None and not any(entry.name.lower().endswith(".csv") for entry in entries):
        entries += [entry for entry in source if not alone and is_table(entry, "labels") and not _below(entry, without)]
    names = [_name(entry) for entry in entries]
    return list(zip(entries, names, clip_names(names), strict=True))


def label_files(files: Sequence[TextFile], *, every: bool) -> list[TextFile]:
    """The label files among *files*: JSON of other kinds is left out, unless *every* one is meant.

    Raises:
        UsageError: two of them describe one clip of one folder.
    """
    found = [file for file in files if every or not file.name.lower().endswith(".json") or is_annotations(file)]
    _check_apart(found)
    return found


def _below(entry: Entry, folder: Path | None) -> bool:
    """Whether a file lies below *folder*, where an earlier conversion may have put it."""
    return folder is not None and entry.local is not None and entry.local.is_relative_to(folder)


def _is_label(entry: Entry, told: Format | None) -> bool:
    return entry.name.lower().endswith(SUFFIXES if told is None else told.suffix)


def _name(entry: Entry) -> str:
    return "stdin.csv" if entry.name == "<stdin>" else entry.name


def _check_apart(files: Sequence[TextFile]) -> None:
    """Raise UsageError where two files describe one clip of one folder."""
    first: dict[str, TextFile] = {}
    for file in files:
        other = first.setdefault(file.clip, file)
        if other is not file:
            raise UsageError(
                f"{printable(other.path)} and {printable(file.path)} are both of clip {printable(file.clip)}"
            )


def strict(findings: list[Finding]) -> Sink:
    """A sink that stops at errors and keeps the rest."""

    def take(finding: Finding) -> None:
        if finding.severity is Severity.ERROR:
            raise InvalidData(finding)
        findings.append(finding)

    return take


def asking(sink: Sink) -> Sink:
    """A sink that asks for ``--format`` where the content does not tell the layout."""

    def take(finding: Finding) -> None:
        if finding.code in _UNDECIDED:
            raise UnknownFormat(f"{printable(finding.path)}: {finding.message}; {finding.hint}")
        sink(finding)

    return take
