"""LAY2: exports, which hold labels twice: in the label files inside, and in the tables made from them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.catalogues.look import PARQUET_SUFFIX
from seldio.catalogues.trees import Tree
from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.files.exports import DATA, LABELS, manifest
from seldio.files.parquet_files import parquet_file
from seldio.findings import Finding
from seldio.formats import TextFile
from seldio.formats.parquet import DAMAGE, PARQUET
from seldio.rules.collection import Collection, Found
from seldio.rules.registry import ERROR, WARNING, rule
from seldio.schema.events import COLUMNS
from seldio.text import listed, plural

#: The names of columns of events inside a table of clips.
_INSIDE = {"class_id": "class"}


#: The labels of a clip in a table: the name of its label file, or its own, and its rows.
TableLabels = tuple[str, pa.Table]


@rule("LAY201", ERROR)
def export_tables_differ(collection: Collection, _: Tree, found: Found) -> Iterator[Finding]:
    """Label tables in an export that differ from the label files in it."""
    files: dict[str, pa.Table] = {}  # by the name of the file and by that of its clip
    for reading in collection.readings:
        for part in reading.parts:
            rows = reading.table.slice(part.first, part.rows)
            files |= {part.file.name: rows, part.origin.clip: rows}
    for entry in collection.stored:
        pairs = [(name, _difference(rows, files[name])) for name, rows in _tables(entry) if name in files]
        if wrong := [(name, difference) for name, difference in pairs if difference]:
            yield found(
                entry.path,
                f"the labels of {plural(len(wrong), 'clip')} differ from the label files inside: "
                f"{listed([name for name, _ in wrong])} ({wrong[0][1]})",
                "check which is right, and export again: the tables are made from the label files",
            )


@rule("LAY202", WARNING)
def export_changed(collection: Collection, _: Tree, found: Found) -> Iterator[Finding]:
    """File of an export that is missing or differs in size from the manifest."""
    here = {entry.name: entry for entry in collection.stored}
    written = manifest(here.values(), lambda _: None) or {}
    if missing := sorted(written.keys() - here.keys()):
        what = f"{plural(len(missing), 'file')} from the manifest missing: {listed(missing)}"
        yield found(collection.path, what, "download the rest, or export again")
    for name in sorted(written.keys() & here.keys()):
        size, expected = here[name].size, written[name].get("bytes")
        if size != expected:
            yield found(
                here[name].path,
                f"{plural(size, 'byte')} instead of {expected}, as in the manifest",
                "download it or export again",
            )


@rule("LAY203", WARNING)
def export_packed(collection: Collection, _: Tree, found: Found) -> Iterator[Finding]:
    """Export inside an archive, where its shards are not read."""
    shards = [entry for entry in collection.stored if entry.local is None and entry.name.startswith(DATA)]
    if shards:
        what = f"{plural(len(shards), 'shard')} in an archive not read: {listed([entry.name for entry in shards])}"
        yield found(collection.path, what, "unpack the archive, and validate the folder")


def _tables(entry: Entry) -> Iterator[TableLabels]:
    """The labels in a file of an export that is not a label file itself."""
    last = entry.name.rpartition("/")[2]
    try:
        if entry.name.startswith(LABELS) and last.endswith(PARQUET_SUFFIX):
            reading = PARQUET.read([TextFile(entry.path, entry.name, last, entry.read())], lambda _: None)
            yield from ((part.file.name, reading.table.slice(part.first, part.rows)) for part in reading.parts)
        elif last.endswith(PARQUET_SUFFIX):
            with entry.open() as stream:
                yield from _nested(parquet_file(stream))
        elif last == "metadata.jsonl":
            for record in map(json.loads, entry.read().splitlines()):
                if record.get("events") is not None:
                    yield record["clip"], pa.Table.from_pylist(record["events"])
    except (*DAMAGE, InvalidData, AttributeError):  # the reader reports it
        return


def _nested(file: pq.ParquetFile) -> Iterator[TableLabels]:
    """The events in a table of clips, each with its file or clip."""
    names = file.schema_arrow.names
    if "events" not in names or "clip" not in names:
        return
    for group in range(file.num_row_groups):
        columns = ["events", "clip", *(["label_file.path"] if "label_file" in names else [])]
        table = file.read_row_group(group, columns)
        files = table["label_file"].to_pylist() if "label_file" in names else [None] * table.num_rows
        for path, clip, events in zip(files, table["clip"].to_pylist(), table["events"], strict=True):
            if events.is_valid:
                yield path["path"] if path else clip, _unpacked(events.values)


def _unpacked(rows: pa.StructArray) -> pa.Table:
    """The fields as columns; ``Table.from_struct_array`` takes no part of an array before pyarrow 19."""
    return pa.Table.from_arrays(rows.flatten(), [field.name for field in rows.type])


def _difference(table: pa.Table, rows: pa.Table) -> str:
    """Where the rows of a table first differ from those of the label file; empty where they do not."""
    if table.num_rows != rows.num_rows:
        return f"{plural(table.num_rows, 'row')} in the table, {rows.num_rows:,} in the file"
    for name in rows.column_names:
        inside = _INSIDE.get(name, name)
        values = next((table[column] for column in (inside, name) if column in table.column_names), None)
        if name == "clip" or values is None or values.cast(COLUMNS[name]).equals(rows[name]):
            continue
        pairs = zip(values.to_pylist(), rows[name].to_pylist(), strict=True)
        number, one, other = next((n, a, b) for n, (a, b) in enumerate(pairs, 1) if a != b)
        return f"row {number}: {inside} {one} in the table, {other} in the file"
    return ""
