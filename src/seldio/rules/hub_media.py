"""HUB4: folders of recordings with a metadata file, as AudioFolder and VideoFolder read them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from seldio.findings import Finding
from seldio.rules.base import ERROR, WARNING, Rule, rule
from seldio.rules.collection import Entry, Found
from seldio.rules.hub_folder import HubFolder, kind_of, suffix_of
from seldio.text import listed, plural, printable

_NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")


def _listings(folder: HubFolder) -> Iterator[tuple[Entry, str, list[Any]]]:
    """Each metadata file that names files, with one of its columns that do, and what stands in it."""
    for entry in folder.files:
        if entry.name.rpartition("/")[2] in _NAMES:
            table = _table(folder, entry)
            names = [] if table is None else table.column_names
            for column in names:
                if table is not None and (column == "file_name" or column.endswith("_file_name")):
                    yield entry, column, table[column].to_pylist()


def _table(folder: HubFolder, entry: Entry) -> pa.Table | None:
    """A metadata file as a table; None where it cannot be read, which other rules report."""
    try:
        if suffix_of(entry.name) == "parquet":
            footer = folder.footers[entry.name]
            if isinstance(footer, str):
                return None
            with entry.open() as stream:
                return pq.read_table(stream, columns=_named(footer.schema.to_arrow_schema().names))
        reader = pyarrow.csv.read_csv if suffix_of(entry.name) == "csv" else pyarrow.json.read_json
        with entry.open() as stream:
            return reader(stream)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _named(columns: list[str]) -> list[str]:
    return [name for name in columns if name == "file_name" or name.endswith("_file_name")]


def _line(entry: Entry, row: int) -> int | None:
    """The physical line of a row; Parquet has none."""
    return {"csv": row + 2, "jsonl": row + 1}.get(suffix_of(entry.name))


def _climbs(name: str) -> bool:
    return name.startswith(("/", "\\")) or ":" in name.partition("/")[0] or ".." in name.replace("\\", "/").split("/")


@rule("HUB401", ERROR)
def hub_file_name_missing(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A ``file_name`` of a metadata file that is not among the files.

    AudioFolder and VideoFolder look each file up beside the metadata file. One that is missing stops
    ``load_dataset``; it often was left out of the upload, or is called .WAV.

    Example:
        {"file_name": "clips/mix001.wav"}, and there is no clips/mix001.wav

    Fix:
        Add the file, or correct the name; paths count from the folder of the metadata file.

    Reference: datasets, folder_based_builder.py.
    """
    for entry, column, values in _listings(folder):
        above = entry.name.rpartition("/")[0]
        for row, name in enumerate(values):
            if isinstance(name, str) and not _climbs(name):
                if posixpath.normpath(posixpath.join(above, name)) not in folder.names:
                    yield found(entry.path, f"{column} {printable(name)} is not among the files that go up",
                                "add it, or correct the name", line=_line(entry, row))  # fmt: skip
            elif name is None and column == "file_name":
                yield found(entry.path, "A row without file_name", "name its file", line=_line(entry, row))


@rule("HUB402", ERROR)
def hub_file_name_climbs(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A ``file_name`` that is absolute or climbs with ``..``.

    Paths count from the folder of the metadata file, and nothing above it is looked at: the metadata
    file stands in the folder of its media or above, never in a folder beside or below.

    Example:
        labels/metadata.jsonl: {"file_name": "../audio/mix001.wav"}

    Fix:
        Move the metadata file to the folder that holds all its media, and name them from there.

    Reference: hub-docs, datasets-audio: "metadata file … in the same directory or a parent".
    """
    for entry, column, values in _listings(folder):
        for row, name in enumerate(values):
            if isinstance(name, str) and _climbs(name):
                yield found(entry.path, f"{column} {printable(name)} leads out of the folder of the metadata file",
                            "move the metadata file above its media", line=_line(entry, row))  # fmt: skip


@rule("HUB403", WARNING)
def hub_media_without_row(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Recordings below a metadata file that has no row for them.

    They go up, but nobody who loads the data set sees them.

    Example:
        mix002.wav beside a metadata.jsonl that names mix001.wav only

    Fix:
        Add their rows, or leave the files out.

    Reference: datasets, folder_based_builder.py.
    """
    named: dict[str, tuple[str, set[str]]] = {}
    for entry, _, values in _listings(folder):
        above = entry.name.rpartition("/")[0]
        paths = {posixpath.normpath(posixpath.join(above, name)) for name in values if isinstance(name, str)}
        named.setdefault(entry.path, (f"{above}/" if above else "", set()))[1].update(paths)
    every = set().union(*(names for _, names in named.values()))
    for path, (above, _) in named.items():
        media = {name for name in folder.names if name.startswith(above) and kind_of(name) in ("wav", "mp4")}
        if lost := sorted(media - every):
            yield found(path, f"No row for {plural(len(lost), 'recording')}: {listed(lost)}", "add them")


RULES: tuple[Rule, ...] = (hub_file_name_missing, hub_file_name_climbs, hub_media_without_row)
