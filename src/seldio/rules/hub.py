"""HUB: what the Hugging Face Hub refuses or cannot show, found before anything goes up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.findings import Finding
from seldio.rules import hub_card, hub_configs, hub_media, hub_secrets
from seldio.rules.base import ERROR, WARNING, Rule, rule
from seldio.rules.collection import Found
from seldio.rules.hub_folder import HubFolder
from seldio.text import clipped, listed, printable

FOLDER_FILES, REPOSITORY_FILES = 10_000, 100_000
LARGE_FILE, LARGEST_FILE = 200 * 10**9, 500 * 10**9
COLUMNS, COLUMN_NAME = 1_000, 500
ROW_GROUP_BYTES = 300_000_000


@rule("HUB101", ERROR)
def hub_folder_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A folder with more than 10,000 files.

    Git slows down with large folders, and the Hub refuses commits that make one larger than this.

    Example:
        audio/ with 40,000 wav files

    Fix:
        Spread the files over sub folders, or use ``--as parquet``, which embeds them in a few large files.

    Reference: hub-docs, storage-limits: "less than 10k entries per folder".
    """
    counts = Counter(name.rpartition("/")[0] for name in folder.names)
    for name, count in sorted(counts.items()):
        if count > FOLDER_FILES:
            where = printable(name) or "the top folder"
            yield found(folder.path, f"{count:,} files in {where}; the Hub takes {FOLDER_FILES:,} a folder",
                        "spread them over sub folders, or --as parquet")  # fmt: skip


@rule("HUB102", WARNING)
def hub_repository_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """More than 100,000 files in all.

    Listing, cloning and loading such a repository takes very long, and the Hub asks to stay below.

    Example:
        400,000 clips of 5 seconds as single wav files

    Fix:
        Use ``--as parquet``, or pack the clips into tar shards.

    Reference: hub-docs, storage-limits: "less than 100k files per repo".
    """
    if len(folder.files) > REPOSITORY_FILES:
        yield found(folder.path, f"{len(folder.files):,} files; the Hub asks for less than {REPOSITORY_FILES:,}",
                    "--as parquet embeds them in a few large files")  # fmt: skip


@rule("HUB103", ERROR)
def hub_file_too_large(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A file over 500 GB.

    The Hub does not store it.

    Example:
        foa_dev.tar of 640 GB

    Fix:
        Cut it into shards.

    Reference: hub-docs, storage-limits: "500 GB hard limit".
    """
    for entry in folder.files:
        if entry.size > LARGEST_FILE:
            yield found(entry.path, f"{entry.size / 1e9:,.0f} GB; the Hub stores files of up to 500 GB", "cut it up")


@rule("HUB104", WARNING)
def hub_large_file(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A file over 200 GB.

    The Hub stores it, but asks for files below 200 GB: one broken connection costs hours.

    Example:
        foa_dev.tar of 240 GB

    Fix:
        Cut it into shards; 0.5 to 5 GB are handled best.

    Reference: hub-docs, storage-limits: "less than 200 GB per file".
    """
    for entry in folder.files:
        if LARGE_FILE < entry.size <= LARGEST_FILE:
            yield found(entry.path, f"{entry.size / 1e9:,.0f} GB; the Hub asks for less than 200 GB", "cut it up")


# --- Parquet ---------------------------------------------------------------------------------------


@rule("HUB201", ERROR)
def hub_parquet_unreadable(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A Parquet file that cannot be opened.

    It is cut off, empty, or something else with that suffix. The viewer and ``load_dataset`` stop at the
    first such file, for the whole data set.

    Example:
        data/train-00000-of-00002.parquet, 0 bytes

    Fix:
        Write it again.

    Reference: Parquet format, file footer.
    """
    for entry in folder.files:
        if isinstance(fault := folder.footers.get(entry.name), str):
            yield found(entry.path, f"Cannot be opened as Parquet: {clipped(fault, 120)}", "write it again")


def _readable(folder: HubFolder) -> Iterator[tuple[str, pq.FileMetaData]]:
    """The path of each Parquet file that can be opened, and its footer."""
    for entry in folder.files:
        table = folder.footers.get(entry.name)
        if table is not None and not isinstance(table, str):
            yield entry.path, table


@rule("HUB202", ERROR)
def hub_columns(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """More than 1,000 columns.

    The viewer gives up (TooManyColumnsError), and so do search and statistics.

    Example:
        one column for each label frame and class

    Fix:
        Keep what belongs together in lists: one column ``events`` with a list of structs.

    Reference: dataset-viewer, services/worker/src/worker/config.py: columns_max_number.
    """
    for path, table in _readable(folder):
        if (count := len(table.schema.to_arrow_schema())) > COLUMNS:
            yield found(path, f"{count:,} columns; the viewer shows up to {COLUMNS:,}", "use lists of structs")


@rule("HUB203", ERROR)
def hub_column_name(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A column name of more than 500 characters.

    The viewer gives up. Such a name is nearly always a row of data taken for a header.

    Example:
        a column called like the first transcript

    Fix:
        Give the columns short names.

    Reference: dataset-viewer, services/worker/src/worker/config.py.
    """
    for path, table in _readable(folder):
        for name in table.schema.to_arrow_schema().names:
            if len(name) > COLUMN_NAME:
                yield found(path, f"The column {clipped(name, 30)} has a name of over {COLUMN_NAME} characters",
                            "give it a short name")  # fmt: skip


@rule("HUB204", WARNING)
def hub_row_group(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A row group of more than 300 MB without a page index.

    The viewer reads a whole row group to show one page of rows; over 300 MB it shows none
    (TooBigRowGroups). A page index lets it read less.

    Example:
        20,000 embedded recordings in one row group

    Fix:
        Write smaller row groups, or a page index (``write_page_index=True`` in pyarrow).

    Reference: dataset-viewer: ROWS_INDEX_MAX_ARROW_DATA_IN_MEMORY.
    """
    for path, table in _readable(folder):
        for number in range(table.num_row_groups):
            group = table.row_group(number)
            if group.total_byte_size > ROW_GROUP_BYTES and not _indexed(group):
                size = f"{group.total_byte_size / 1e6:,.0f} MB"
                yield found(path, f"Row group {number} holds {size} without a page index",
                            "write smaller row groups, or a page index")  # fmt: skip


def _indexed(group: pq.RowGroupMetaData) -> bool:
    return all(group.column(number).has_offset_index for number in range(group.num_columns))


@rule("HUB205", ERROR)
def hub_split_schema(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Files of one split with different columns or types.

    All shards of a split are read as one table. With another schema in one of them, ``load_dataset``
    and the viewer stop there (SplitParquetSchemaMismatch), often after hours.

    Example:
        distance as int64 in train-00000 and as double in train-00001

    Fix:
        Write all shards with one schema.

    Reference: dataset-viewer, SplitParquetSchemaMismatchError.
    """
    for config in folder.configs:
        for split, patterns in config.splits.items():
            entries = {entry.name: entry for pattern in patterns for entry in folder.matching(pattern)}
            tables = [(entry.path, folder.footers.get(name)) for name, entry in entries.items()]
            opened = [
                (path, table.schema.to_arrow_schema()) for path, table in tables if isinstance(table, pq.FileMetaData)
            ]
            for path, schema in opened[1:]:
                if not schema.equals(opened[0][1]):
                    what = _difference(opened[0][1], schema)
                    yield found(path, f"Differs from {printable(opened[0][0])} in split {printable(split)}: {what}",
                                "write all files of a split with one schema")  # fmt: skip


def _difference(first: pa.Schema, other: pa.Schema) -> str:
    """The first few columns that two schemas do not share, as text."""
    if first.names != other.names and set(first.names) == set(other.names):
        return "the columns stand in another order"
    names = dict.fromkeys([*first.names, *other.names])
    kinds = {name: [str(s.field(name).type) if name in s.names else "absent" for s in (first, other)] for name in names}
    return listed([f"{name} is {b}, not {a}" for name, (a, b) in kinds.items() if a != b], 3) or "nullability"


RULES: tuple[Rule, ...] = (
    hub_folder_files, hub_repository_files, hub_file_too_large, hub_large_file, hub_parquet_unreadable, hub_columns,
    hub_column_name, hub_row_group, hub_split_schema, *hub_configs.RULES, *hub_media.RULES, *hub_secrets.RULES,
    *hub_card.RULES,
)  # fmt: skip
