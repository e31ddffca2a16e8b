"""What is done with one shard of labels that become other labels: work that other processes can be given.

A shard is looked at first and converted when all of them are found well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from seldio.check.vetting import Faults
from seldio.conversion.carry import carried, filled
from seldio.conversion.columns import with_column
from seldio.conversion.facts import Facts
from seldio.conversion.inputs import strict
from seldio.conversion.measuring import complete, measured
from seldio.conversion.outputs import clip_tables
from seldio.conversion.shards import Shard
from seldio.errors import DataError
from seldio.files import many_files, write_bytes
from seldio.findings import Finding
from seldio.formats import Format
from seldio.formats.label_csv import Dialect
from seldio.schema.events import COLUMNS, ClipFile, origin_of

#: The columns of a layout in all shards together, by its name.
Known = tuple[tuple[str, tuple[str, ...]], ...]


class Seen(NamedTuple):
    """What the rows of one layout in a shard are.

    Args:
        layout: its name.
        vocabulary: the class list of its rows.
        columns: that the rows have.
        facts: for the plan.
        rows: read and to be written.
        files: of the target.
        unplanned: why no plan can be made.
        unfit: why the target cannot take the rows.
    """

    layout: str
    vocabulary: str
    columns: tuple[str, ...]
    facts: Facts
    rows: tuple[int, int]
    files: tuple[ClipFile, ...]
    unplanned: str | None
    unfit: str | None


class Looked(NamedTuple):
    """What a shard holds, remarks about its files, and errors in their rows."""

    seen: tuple[Seen, ...]
    findings: tuple[Finding, ...]
    faults: Faults


class Written(NamedTuple):
    """The files that a shard became: the path of each below the output, its bytes and the time it was written."""

    files: tuple[tuple[str, int, int], ...]


class Packed(NamedTuple):
    """The rows of a shard as the bytes of an Arrow stream, and how many clips it has, silent ones included."""

    data: bytes
    clips: int


@dataclasses.dataclass(frozen=True)
class Looking:
    """Read a shard and work out what converting it means.

    Args:
        target: the format to write.
        fill: values for fields that are unknown.
        known: columns that other shards have.
    """

    target: Format
    fill: tuple[tuple[str, Any], ...]
    known: Known = ()

    def __call__(self, shard: Shard) -> Looked:
        """What *shard* holds.

        Raises:
            InvalidData: something in the labels is wrong.
        """
        findings: list[Finding] = []
        tables, faults = shard.vetted(strict(findings))
        seen = [self._seen(table, source) for table, source in _completed(tables, self.known)]
        return Looked(tuple(seen), tuple(findings), faults)

    def _seen(self, table: pa.Table, source: Format) -> Seen:
        fill, rows, files = dict(self.fill), 0, origin_of(table).files
        facts, unplanned, unfit = Facts(), None, None
        try:
            facts = measured(table, source, self.target, fill)
        except DataError as error:
            unplanned = str(error)
        if unplanned is None and complete(facts, self.target):
            try:
                rows, files = self._tried(table, source, fill)
            except DataError as error:
                unfit = str(error)
        return Seen(source.name, source.vocabulary, tuple(table.column_names), facts, (table.num_rows, rows), files,
                    unplanned, unfit)  # fmt: skip

    def _tried(self, table: pa.Table, source: Format, fill: Mapping[str, Any]) -> tuple[int, tuple[ClipFile, ...]]:
        """The number of rows and the files that *table* becomes."""
        done = carried(filled(table, self.target, fill), source, self.target)
        if isinstance(self.target, Dialect) and self.target.silence:  # it lists frames that no row tells of
            for file, rows in clip_tables(done):
                self.target.write(rows, file)
        return done.num_rows, origin_of(done).files


@dataclasses.dataclass(frozen=True)
class Writing:
    """Convert a shard and write its files.

    Args:
        target: the format to write.
        fill: values for fields that are unknown.
        known: the columns of each layout.
        out: the folder, with all folders in it.
    """

    target: Format
    fill: tuple[tuple[str, Any], ...]
    known: Known
    out: str

    def __call__(self, shard: Shard) -> Written:
        """The files that *shard* became, each whole."""
        paths = []
        with many_files():
            for table, source in _completed(shard.read(), self.known):
                done = carried(filled(table, self.target, dict(self.fill)), source, self.target)
                for file, rows in clip_tables(done):
                    path = Path(self.out, file.name)
                    write_bytes(path, self.target.write(rows, file))
                    paths.append((file.name, path))
        states = ((name, path.stat()) for name, path in paths)
        return Written(tuple((name, state.st_size, state.st_mtime_ns) for name, state in states))


def still_there(written: Written, out: str) -> bool:
    """Whether all files are as they were written."""
    return all(_state(Path(out, name)) == (size, time) for name, size, time in written.files)


def _state(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns


@dataclasses.dataclass(frozen=True)
class Packing:
    """Convert a shard to rows of a Parquet table.

    Args:
        target: the format of the table.
        fill: values for fields that are unknown.
        known: the columns of each layout.
    """

    target: Format
    fill: tuple[tuple[str, Any], ...]
    known: Known

    def __call__(self, shard: Shard) -> Packed:
        """The rows of *shard*, which has one layout."""
        ((table, source),) = _completed(shard.read(), self.known)
        done = carried(filled(table, self.target, dict(self.fill)), source, self.target)
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, done.schema) as writer:
            writer.write_table(done.combine_chunks())
        return Packed(stream.getvalue().to_pybytes(), len(origin_of(done).files))


# --- columns that the rows of all shards have together ---------------------------------------------------------------

#: What a layout's reader leaves out where it is the same in all rows, so that it is not unknown.
CONSTANT = {"distance": 0.0, "hemisphere": False}


def _completed(tables: Iterable[tuple[pa.Table, Format]], known: Known) -> Iterator[tuple[pa.Table, Format]]:
    """The tables of a shard with their formats, as parts of the tables of all shards."""
    columns = dict(known)
    for table, source in tables:
        for field in columns.get(source.name, ()):
            if field not in table.column_names:
                constant = isinstance(source, Dialect) and field in CONSTANT
                value = pa.scalar(CONSTANT[field] if constant else None, COLUMNS[field])
                table = with_column(table, field, pa.repeat(value, table.num_rows))
        yield table, source
