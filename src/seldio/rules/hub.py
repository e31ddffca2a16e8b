"""HUB: what the Hugging Face Hub rejects or cannot show, found before anything is uploaded.

Files, tables (HUB2), splits and configurations as defined by the card (HUB3), folders of recordings with a
metadata file (HUB4), and the YAML values at the top of the card (HUB6).
"""

from __future__ import annotations

import math
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from seldio.files import Entry
from seldio.files.names import suffix_of
from seldio.findings import Finding, Rule, Severity
from seldio.rules.collection import Found, grouped
from seldio.rules.hub_folder import HubFolder, kind_of
from seldio.rules.registry import ERROR, WARNING, register, rule
from seldio.text import clipped, listed, plural, printable

ROW_GROUP_BYTES = 300_000_000


#: Amounts to compare with a limit: the path as shown, the name and the amount of each folder, file, table or so.
Amounts = Callable[[HubFolder], Iterable[tuple[str, str, float]]]


class Limit(NamedTuple):
    """An amount of which the Hub accepts at most *most*; above *worse* another rule applies."""

    code: str
    name: str
    severity: Severity
    amounts: Amounts
    most: float
    message: str
    hint: str
    worse: float = math.inf

    def findings(self, folder: HubFolder, found: Found) -> Iterator[Finding]:
        """A finding for each amount that is too large."""
        for path, name, amount in self.amounts(folder):
            if self.most < amount <= self.worse:
                yield found(path, self.message.format(name=name, amount=amount), self.hint)


def _files_by_folder(folder: HubFolder) -> Iterator[tuple[str, str, float]]:
    counts = Counter(name.rpartition("/")[0] for name in folder.names)
    return ((folder.path, printable(name) or "the top folder", count) for name, count in sorted(counts.items()))


def _gigabytes(folder: HubFolder) -> Iterator[tuple[str, str, float]]:
    return ((entry.path, "", entry.size / 1e9) for entry in folder.files)


def _configs(folder: HubFolder) -> list[tuple[str, str, float]]:
    return [(folder.card_path, "", len(folder.configs))]


_ONE_COLUMN = "turn what distinguishes them into a column"
LIMITS = (
    Limit("HUB101", "hub-folder-files", ERROR, _files_by_folder, 10_000,
          "{amount:,} files in {name}; the Hub allows 10,000 per folder", "use subfolders, or --as parquet"),
    Limit("HUB102", "hub-repository-files", WARNING, lambda folder: [(folder.path, "", len(folder.files))], 100_000,
          "{amount:,} files; the Hub recommends fewer than 100,000", "--as parquet embeds them in a few large files"),
    Limit("HUB103", "hub-file-too-large", ERROR, _gigabytes, 500,
          "{amount:,.0f} GB; the Hub stores files of up to 500 GB", "split it into shards"),
    Limit("HUB104", "hub-large-file", WARNING, _gigabytes, 200,
          "{amount:,.0f} GB; the Hub recommends less than 200 GB", "split it into shards", worse=500),
    Limit("HUB202", "hub-columns", ERROR,
          lambda folder: ((path, "", len(schema)) for path, _, schema in folder.tables), 1_000,
          "{amount:,} columns; the viewer shows up to 1,000", "use lists of structs"),
    Limit("HUB203", "hub-column-name", ERROR,
          lambda folder: ((path, clipped(name, 30), len(name)) for path, _, s in folder.tables for name in s.names),
          500, "column {name} has a name of more than 500 characters", "give it a short name"),
    Limit("HUB301", "hub-splits", ERROR,
          lambda folder: ((folder.card_path, printable(one.name), len(one.splits)) for one in folder.configs), 30,
          "configuration {name} has {amount:,} splits; the viewer shows up to 30",
          "turn them into configurations, or a column"),
    Limit("HUB302", "hub-configs", ERROR, _configs, 4_000,
          "{amount:,} configurations; the viewer shows up to 4,000", _ONE_COLUMN),
    Limit("HUB303", "hub-croissant-configs", WARNING, _configs, 100,
          "{amount:,} configurations; Croissant describes the first 100", _ONE_COLUMN, worse=4_000),
)  # fmt: skip
for _limit in LIMITS:
    register(Rule(_limit.code, _limit.name, _limit.severity, "none", _limit.findings, ("HubFolder",)))


# --- Parquet ---------------------------------------------------------------------------------------


@rule("HUB201", ERROR)
def hub_parquet_unreadable(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Parquet file that cannot be opened."""
    for entry in folder.files:
        if isinstance(fault := folder.footers.get(entry.name), str):
            yield found(entry.path, f"cannot be opened as Parquet: {clipped(fault, 120)}", "write it again")


@rule("HUB204", WARNING)
def hub_row_group(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Row group of more than 300 MB without a page index."""
    for path, table, _ in folder.tables:
        for number in range(table.num_row_groups):
            group = table.row_group(number)
            indexed = all(group.column(column).has_offset_index for column in range(group.num_columns))
            if group.total_byte_size > ROW_GROUP_BYTES and not indexed:
                size = f"{group.total_byte_size / 1e6:,.0f} MB"
                yield found(path, f"row group {number} holds {size} without a page index",
                            "write smaller row groups, or a page index")  # fmt: skip


@rule("HUB205", ERROR)
def hub_split_schema(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Files of one split with different columns or types."""
    schemas = {path: schema for path, _, schema in folder.tables}
    for config in folder.configs:
        for split, patterns in config.splits.items():
            paths = dict.fromkeys(entry.path for pattern in patterns for entry in folder.matching(pattern))
            first, *others = [path for path in paths if path in schemas] or [""]
            for path in others:
                if not schemas[path].equals(schemas[first]):
                    what = _difference(schemas[first], schemas[path])
                    yield found(path, f"differs from {printable(first)} in split {printable(split)}: {what}",
                                "write all files of a split with one schema")  # fmt: skip


def _difference(first: pa.Schema, other: pa.Schema) -> str:
    """The first few columns that two schemas do not share, as text."""
    if first.names != other.names and set(first.names) == set(other.names):
        return "the columns are in a different order"
    names = dict.fromkeys([*first.names, *other.names])
    kinds = {name: [str(s.field(name).type) if name in s.names else "absent" for s in (first, other)] for name in names}
    return listed([f"{name} is {b}, not {a}" for name, (a, b) in kinds.items() if a != b], 3) or "nullability"


#: The values that the Hub lists, as of its documentation of 2026.
LICENSES = frozenset(
    """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda cc
    cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
    cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
    cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1
    eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc h-research intel-research lppl-1.3c
    ms-pl apple-ascl apple-amlr mpl-2.0 odc-by odbl openmdw-1.0 openrail++ osl-3.0 postgresql ofl-1.1 ncsa
    unlicense zlib pddl lgpl-lr deepfloyd-if-license fair-noncommercial-research-license llama2 llama3 llama3.1
    llama3.2 llama3.3 llama4 gemma unknown other
    """.split()  # noqa: SIM905
)
TASKS = frozenset(
    """
    text-classification token-classification table-question-answering question-answering zero-shot-classification
    translation summarization feature-extraction text-generation fill-mask sentence-similarity text-to-speech
    text-to-audio automatic-speech-recognition audio-to-audio audio-classification audio-text-to-text
    voice-activity-detection depth-estimation image-classification object-detection image-segmentation
    text-to-image image-to-text image-to-image image-to-video unconditional-image-generation video-classification
    reinforcement-learning robotics tabular-classification tabular-regression tabular-to-text table-to-text
    multiple-choice text-ranking text-retrieval time-series-forecasting text-to-video image-text-to-text
    image-text-to-image image-text-to-video visual-question-answering document-question-answering
    zero-shot-image-classification graph-ml mask-generation zero-shot-object-detection text-to-3d image-to-3d
    image-feature-extraction video-text-to-text keypoint-detection visual-document-retrieval any-to-any
    video-to-video other
    """.split()  # noqa: SIM905
)
SIZES = (
    "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B",
    "100B<n<1T", "n>1T",
)  # fmt: skip
_LISTS = {"license": LICENSES, "task_categories": TASKS, "size_categories": frozenset(SIZES)}


@rule("HUB601", ERROR)
def hub_card_unreadable(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Dataset card whose YAML cannot be read."""
    if folder.card is None:
        yield found(folder.card_path, "the YAML at the top is not a readable mapping", "correct or remove it")


@rule("HUB602", WARNING)
def hub_card_value(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Licence, task or size that the Hub does not list."""
    for key, known in _LISTS.items():
        values = (folder.card or {}).get(key)
        for value in values if isinstance(values, list) else [values]:
            if value is not None and value not in known:
                near = str(value).lower().replace(" ", "-")
                yield found(folder.card_path, f"the Hub does not list {key} {clipped(str(value), 40)}",
                            f"did you mean {near}?" if near in known else "use a value from its list")  # fmt: skip


@rule("HUB603", WARNING)
def hub_no_license(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Dataset card without a licence."""
    if folder.card is not None and not folder.card.get("license"):
        yield found(folder.card_path, "no licence: nobody may use the data", "use --license cc-by-4.0, for example")


@rule("HUB304", ERROR)
def hub_mixed_formats(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Different formats in one configuration."""
    for config in folder.configs:
        every = (pattern for patterns in config.splits.values() for pattern in patterns)
        names = (entry.name for pattern in every for entry in folder.matching(pattern))
        # a metadata file describes the media files around it
        kinds = dict.fromkeys(kind_of(name) for name in names if not name.rpartition("/")[2].startswith("metadata."))
        if len(kinds) > 1:
            yield found(folder.card_path, f"configuration {printable(config.name)} mixes {listed(list(kinds))}",
                        "write all splits in one format, or make two configurations")  # fmt: skip


@rule("HUB305", ERROR)
def hub_pattern_without_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Split of the card without a file."""
    patterns = (
        (config.name, split, pattern)
        for config in folder.configs for split, some in config.splits.items() for pattern in some
    )  # fmt: skip
    lost = grouped((one for one in patterns if not folder.matching(one[2])), lambda one: one[:2])
    for (name, split), missing in lost.items():
        what = f"{plural(len(missing), 'pattern')} of configuration {printable(name)}, split {printable(split)}"
        fits = f"no file matches {what}: {listed([pattern for *_, pattern in missing])}"
        yield found(folder.card_path, fits, "correct the pattern, or remove it")


_NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")


def _listings(folder: HubFolder) -> Iterator[tuple[Entry, str, list[Any]]]:
    """Each metadata file that refers to files, with one of the columns that do, and its values."""
    for entry in folder.files:
        table = _table(folder, entry) if entry.name.rpartition("/")[2] in _NAMES else None
        for column in table.column_names if table is not None else ():
            if table is not None and _names_files(column):
                yield entry, column, table[column].to_pylist()


def _names_files(column: str) -> bool:
    return column == "file_name" or column.endswith("_file_name")


def _table(folder: HubFolder, entry: Entry) -> pa.Table | None:
    """A metadata file as a table; None if it cannot be read, which other rules report."""
    try:
        if suffix_of(entry.name) == "parquet":
            footer = folder.footers[entry.name]
            if isinstance(footer, str):
                return None
            with entry.open() as stream:
                columns = [name for name in footer.schema.to_arrow_schema().names if _names_files(name)]
                return pq.read_table(stream, columns=columns)
        reader = pyarrow.csv.read_csv if suffix_of(entry.name) == "csv" else pyarrow.json.read_json
        with entry.open() as stream:
            table = reader(stream)
        _ = table.column_names  # which Arrow decodes now, and not all files write in UTF-8
        return table
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError):
        return None


def _line(entry: Entry, row: int) -> int | None:
    """The physical line of a row; Parquet has none."""
    return {"csv": row + 2, "jsonl": row + 1}.get(suffix_of(entry.name))


def _climbs(name: str) -> bool:
    return name.startswith(("/", "\\")) or ":" in name.partition("/")[0] or ".." in name.replace("\\", "/").split("/")


@rule("HUB401", ERROR)
def hub_file_name_missing(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Missing file for a file_name in a metadata file."""
    for entry, column, values in _listings(folder):
        above = entry.name.rpartition("/")[0]
        for row, name in enumerate(values):
            if isinstance(name, str) and not _climbs(name):
                if posixpath.normpath(posixpath.join(above, name)) not in folder.names:
                    yield found(entry.path, f"{column} {printable(name)} is not among the files to upload",
                                "add it, or correct the name", line=_line(entry, row))  # fmt: skip
            elif name is None and column == "file_name":
                yield found(entry.path, "row without file_name", "add its file name", line=_line(entry, row))


@rule("HUB402", ERROR)
def hub_file_name_climbs(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Path in file_name that is absolute or climbs with ".."."""
    for entry, column, values in _listings(folder):
        for row, name in enumerate(values):
            if isinstance(name, str) and _climbs(name):
                yield found(entry.path, f"{column} {printable(name)} points outside the folder of the metadata file",
                            "move the metadata file above its media", line=_line(entry, row))  # fmt: skip


@rule("HUB403", WARNING)
def hub_media_without_row(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Recordings below a metadata file that has no row for them."""
    named: dict[str, tuple[str, set[str]]] = {}
    for entry, _, values in _listings(folder):
        above = entry.name.rpartition("/")[0]
        paths = {posixpath.normpath(posixpath.join(above, name)) for name in values if isinstance(name, str)}
        named.setdefault(entry.path, (f"{above}/" if above else "", set()))[1].update(paths)
    every = set().union(*(names for _, names in named.values()))
    for path, (above, _) in named.items():
        media = {name for name in folder.names if name.startswith(above) and kind_of(name) in ("wav", "mp4")}
        if lost := sorted(media - every):
            yield found(path, f"no row for {plural(len(lost), 'recording')}: {listed(lost)}", "add the rows")
