"""The dataset card: what the data shows is written, what people wrote is kept.

Its configurations say which files make up which table and split, and what columns labels have.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
from huggingface_hub import DatasetCard
from huggingface_hub.repocard import REGEX_YAML_BLOCK

from seldio.catalogues.trees import read_tree
from seldio.check.description import as_text
from seldio.check.validation import Examined
from seldio.files import Entry
from seldio.files.names import suffix_of, without_suffixes
from seldio.findings import Sink
from seldio.formats.about import bibtex
from seldio.formats.label_csv import Dialect
from seldio.rules.hub import ASIDE, kind_of
from seldio.schema.splits import WORDS, clip_split, place, split_of
from seldio.text import plural

#: Between these lines stands what seldio wrote; the next push writes it anew.
BEGIN, END = "<!-- written by seldio from the data -->", "<!-- end of what seldio wrote -->"
_WRITTEN = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}\n?", re.DOTALL)
#: What follows from the data: of a card that seldio wrote, these are never kept.
_DERIVED = ("configs", "dataset_info", "size_categories")


#: The last part of the name of a shard.
_SHARD = re.compile(r"-\d{5}(?P<of>-of-\d{5})$")
#: Bytes by which records of JSON are recognised.
_HEAD_BYTES = 2**20
_LISTINGS = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
#: Types of columns; a column has the last of those that its files need.
_TYPES = ("null", "int64", "float64", "string")


@dataclasses.dataclass(frozen=True)
class About:
    """Facts that people state about their data, and that no file contains."""

    license: str | None = None  # an identifier of the Hub's list, such as ``cc-by-4.0``
    languages: tuple[str, ...] = ()  # codes such as ``en``
    title: str | None = None  # what the dataset is called
    citation: str | None = None  # BibTeX

    def completed(self, facts: Mapping[str, Any]) -> About:
        """Return the same with what the dataset says itself, where people do not; *facts* as in :func:`completed_card`.

        What is known of a published dataset goes into the card only where all of its labels are here.
        """
        described: Mapping[str, Any] = next(iter(facts.get("datasets", ())), {})
        published: Mapping[str, Any] = next((about for about in facts.get("about", ()) if about["complete"]), {})
        license = self.license or described.get("license") or published.get("license")
        citation = self.citation or described.get("cite") or (bibtex([published["name"]]) if published else None)
        return About(license and license.lower(), self.languages, self.title or described.get("title"), citation)


def read_card(text: str, path: str, sink: Sink) -> DatasetCard | None:
    """Parse a card; if its YAML is invalid, report that to *sink* and return None."""
    text = text.removeprefix("\ufeff")
    block = REGEX_YAML_BLOCK.search(text)
    if block is None:
        return DatasetCard(f"---\n\n---\n{text}")
    from seldio.formats import yaml_text  # for a card that is there already

    lines_above = text[: block.start(2)].count("\n")
    document = yaml_text.parse(b"\n" * lines_above + block[2].encode(), path, sink)
    if document is None or not isinstance(document.value, dict | None):
        return None
    try:
        return DatasetCard(text)
    except (TypeError, ValueError):  # a key that is no text
        return None


def values_of(card: DatasetCard) -> dict[str, Any]:
    """Return the values at the top of a card."""
    return dict(card.data.to_dict())  # type: ignore[no-untyped-call]


def completed_card(
    card: DatasetCard,
    repo: str,
    files: Sequence[Entry],
    splits: Sequence[SplitFiles],
    facts: Mapping[str, Any],
    about: About,
) -> DatasetCard:
    """Return *card* with what it lacks; *facts* are what :func:`seldio.check.description.description` says."""
    file_kinds = {kind_of(entry.name) for entry in files}
    items, labels = facts.get("items", []), facts["groups"]
    tags = ["audio"] * bool(labels or items or "wav" in file_kinds) + ["video"] * ("mp4" in file_kinds)
    tags += ["spatial-audio", "sound-event-localization-and-detection"] * bool(labels)
    tags += ["audio-question-answering"] * bool(items) + ["seldio"]
    rows = sum(group["clips"] for group in labels) or sum(group["rows"] for group in items) or len(files)
    proposed = {
        "language": list(about.languages) or sorted({code for item in items for code in item.get("languages", {})}),
        "license": about.license,
        "pretty_name": about.title or repo.partition("/")[2],
        "tags": tags,
        "task_categories": ["audio-classification"] * bool(labels)
        + ["question-answering", "audio-text-to-text"] * bool(items),
        "size_categories": [size_category(rows)],
        "configs": as_configs(splits),
        # the types of label files as text, which one file alone may not show
        "dataset_info": [
            {"config_name": config, "features": [{"name": name, "dtype": kind} for name, kind in types.items()]}
            for config, types in {split.config: split.types for split in splits if split.types}.items()
        ],
    }
    body = card.text
    existing = {key: value for key, value in values_of(card).items() if BEGIN not in body or key not in _DERIVED}
    if "dataset_info" in existing or "configs" in existing:
        proposed = {key: value for key, value in proposed.items() if key not in ("dataset_info", "configs")}
    stated = {"license": about.license, "language": list(about.languages), "pretty_name": about.title}
    existing |= {key: value for key, value in stated.items() if value}
    values = {key: existing.get(key, proposed.get(key)) for key in dict.fromkeys([*proposed, *existing])}
    citation = (about.citation or "").strip()
    lines = _contents(repo, files, splits, facts, "" if citation in body else citation)
    written = "\n".join([BEGIN, *lines, END, ""])
    if not body.strip():
        body = f"# {values['pretty_name']}\n\n{written}"
    elif _WRITTEN.search(body):
        body = _WRITTEN.sub(lambda _: written, body, count=1)
    else:
        body = f"{body.rstrip()}\n\n{written}"
    result = DatasetCard(f"---\n\n---\n{body}")
    for key, value in values.items():
        if value not in (None, [], {}):
            result.data[key] = value
    return result


def _contents(
    repo: str, files: Sequence[Entry], splits: Sequence[SplitFiles], facts: Mapping[str, Any], citation: str
) -> list[str]:
    """Return what the data shows, and how to load, check, fetch and cite it, as lines."""
    # where the source is on somebody's disk is nobody else's business
    start = f"{facts['path'].rstrip('/')}/"

    def below(name: str) -> str:
        return name.removeprefix(start) if name.startswith(start) else PurePath(name).name

    size, items = sum(entry.size for entry in files), facts.get("items", ())
    lines = ["## Contents", "", f"{plural(len(files), 'file')}, {size / 1e6:,.1f} MB.", ""]
    named = {
        "groups": [{**group, "files": [below(name) for name in group["files"]]} for group in facts["groups"]],
        "items": [{**group, "file": below(group["file"])} for group in items],
    }
    summary = as_text({**facts, **named, "about": [], "findings": {}}).split("\n")[2:]
    if any(summary):
        lines += ["```text", *(line for line in summary if not line.startswith("  evidence")), "```", ""]
    if splits:
        lines += ["## Load", "", "```python", "from datasets import load_dataset", ""]
        for config in as_configs(splits):
            name = config["config_name"]
            variable = "data" if name == "default" else re.sub(r"^(?=\d)|\W", "_", name)
            names_of_splits = ", ".join(row["split"] for row in config["data_files"])
            lines.append(f'{variable} = load_dataset("{repo}", "{name}")  # {names_of_splits}')
        lines += ["```", ""]
    lines += ["## Download", "", "```sh", f"seldio pull {repo}", f"seldio validate hf://datasets/{repo}", "```", ""]
    if citation:
        lines += ["## Citation", "", f"```{'bibtex' if citation.startswith('@') else 'text'}", citation, "```", ""]
    return lines


#: The Hub's names for numbers of rows.
SIZES = (
    "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B",
    "100B<n<1T", "n>1T",
)  # fmt: skip


def size_category(rows: int) -> str:
    """Return the Hub's name for this number of rows.

    >>> size_category(999), size_category(1000), size_category(2_100_000)
    ('n<1K', '1K<n<10K', '1M<n<10M')
    """
    return SIZES[min(max(len(str(rows)) - 3, 0), len(SIZES) - 1)]


# --- which files make up which table and split --------------------------------------------------------


class SplitFiles(NamedTuple):
    """The files of one split of a configuration."""

    config: str  # name of the configuration
    split: str  # name of the split
    kind: str  # parquet, csv, json or wav (a folder of recordings with a metadata file)
    patterns: tuple[str, ...]  # the files, as the card names them
    entries: tuple[Entry, ...]  # the files
    names: tuple[str, ...] = ()  # the columns of files that have no header line; empty otherwise
    types: Mapping[str, str] = {}  # by column of label files as text


def split_files(
    source: str, files: Sequence[Entry], examined: Examined | None, others: Collection[str] = ()
) -> list[SplitFiles]:
    """Return the configurations and splits of *files*; files that the Hub cannot load belong to none.

    All label files are one configuration, unless their columns differ. *examined* is the source where the files are
    sent as they are. *others* are files that stay on the Hub alongside them, and that no pattern may match.
    """
    names = [entry.name for entry in files]
    if any(name.rpartition("/")[2] in _LISTINGS for name in names):
        return _media_folders(files, others)
    entries = {entry.name: entry for entry in files}
    types: dict[str, dict[str, str]] = {}  # of the columns of each label file
    headless: set[str] = set()
    for reading in examined.labels if examined is not None else ():
        format = reading.format
        bare = format.columns if isinstance(format, Dialect) and not format.header else ()
        fields = [column.field for column in bare]
        for name in (part.file.name for part in reading.parts if part.file.name in entries):
            types[name] = _types(entries[name], fields)
            headless |= {name} if fields else set()
    described = examined and examined.described
    clips = read_tree(names, source).clips
    split_by_file = {path: clip_split(clip, path) for clip in clips for path in clip.files.values()}
    named: dict[str, set[str]] = {}  # by file of questions, the splits that its records name
    for part, rows in examined.questions if examined is not None else ():
        if rows.part is not None and "split" in rows.part.table.column_names:
            splits = rows.part.table["split"].unique().drop_null().to_pylist()
            named.setdefault(part.files[rows.file].entry.name, set()).update(splits)
    for name, values in named.items():
        if len(values) == 1:
            split = values.pop()
            split_by_file[name] = WORDS.get(split, split)
    groups: dict[tuple[str, str, tuple[str, ...]], dict[str, list[Entry]]] = {}
    for entry in files:
        kind, columns = kind_of(entry.name), types.get(entry.name)
        if entry.name in ASIDE or kind not in ("parquet", "csv", "json") or not _loads(entry):
            continue
        if kind == "csv" and columns == {}:  # no row, which readers of tables refuse
            continue
        config = _config_name(entry.name) if columns is None else "labels"
        split = (described and described.split(entry.name)) or split_by_file.get(entry.name) or split_of(entry.name)
        groups.setdefault((config, kind, tuple(columns or ())), {}).setdefault(split, []).append(entry)
    folders: dict[str, list[str]] = {}
    for name in {*names, *others}:
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    variants: Counter[str] = Counter()  # one name would stand for several sets of columns or formats
    result = []
    for (config, kind, _), of_splits in groups.items():
        variants[config] += 1
        name = config if variants[config] == 1 else f"{config}-{variants[config]}"
        files_of_config = [entry.name for of_split in of_splits.values() for entry in of_split]
        column_types: dict[str, str] = {}  # of each column the one that holds its values in all files
        for column, type_ in (pair for file in files_of_config for pair in types.get(file, {}).items()):
            column_types[column] = max(type_, column_types.get(column, type_), key=_TYPES.index)
        column_types = {column: "string" if type_ == "null" else type_ for column, type_ in column_types.items()}
        bare_names = tuple(column_types) if headless & {*files_of_config} else ()
        for split, of_split in sorted(of_splits.items(), key=lambda item: place(item[0])):
            patterns = _patterns(of_split, folders)
            result.append(SplitFiles(name, split, kind, patterns, tuple(of_split), bare_names, column_types))
    return result


def _types(entry: Entry, names: Sequence[str]) -> dict[str, str]:
    """Return the type of each column of a text file; *names* are those of its columns where it has no header line.

    A file without a row, or of another format, has none.
    """
    if kind_of(entry.name) != "csv":
        return {}
    separator = "\t" if suffix_of(entry.name) == "tsv" else ","
    try:
        with entry.open() as stream:
            table = pyarrow.csv.read_csv(
                stream,
                read_options=pyarrow.csv.ReadOptions(column_names=names or None, use_threads=False),
                parse_options=pyarrow.csv.ParseOptions(delimiter=separator),
            )
    except pa.ArrowException:
        return {}
    types: dict[str, str] = {}
    for name, column in zip(table.column_names, table.columns, strict=True) if table.num_rows else ():
        if pa.types.is_null(column.type):
            types[name] = "null"
        elif pa.types.is_integer(column.type):
            types[name] = "float64" if column.null_count else "int64"  # a blank cell has no integer
        else:
            types[name] = "float64" if pa.types.is_floating(column.type) else "string"
    return types


def _media_folders(files: Sequence[Entry], others: Collection[str]) -> list[SplitFiles]:
    """Return a split for each metadata file, with all below its folder."""
    splits = []
    for metadata in (entry for entry in files if entry.name.rpartition("/")[2] in _LISTINGS):
        folder = metadata.name.rpartition("/")[0]
        start = f"{folder}/" if folder else ""
        below = tuple(entry for entry in files if entry.name not in ASIDE and entry.name.startswith(start))
        media = [entry.name for entry in below if kind_of(entry.name) in ("wav", "mp4")]
        suffixes = dict.fromkeys(map(suffix_of, media))
        patterns = (f"{folder}/**",) if folder else (metadata.name, *(f"**/*.{suffix}" for suffix in suffixes))
        if any(name not in ASIDE and name.startswith(start) for name in others):
            patterns = (metadata.name, *media)
        splits.append(SplitFiles("default", split_of(metadata.name), "wav", patterns, below))
    return sorted(splits, key=lambda split: place(split.split))


def _loads(entry: Entry) -> bool:
    """Return whether the Hub's readers take the file as it is: a .json has to be a list or lines of records."""
    if suffix_of(entry.name) != "json":
        return entry.size > 0
    head = entry.head(_HEAD_BYTES).lstrip()
    if not head.startswith(b"{"):
        return head.startswith(b"[")
    try:
        json.loads(head.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return b"\n" in head.rstrip()


def _config_name(name: str) -> str:
    """Return the name of the configuration of a file that holds no labels: its path without words of splits."""
    folders, _, last = name.rpartition("/")
    stem = _SHARD.sub("", without_suffixes(last))
    words = [part for part in (*folders.split("/"), stem) if part and part not in ("data", *WORDS)]
    words = [re.sub(rf"[-_.]?\b(?:{'|'.join(WORDS)})\b", "", part).strip("-_.") or part for part in words]
    return re.sub(r"[^\w.-]", "_", "-".join(words)) or "default"


def _patterns(entries: Sequence[Entry], folders: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return patterns of the files: one for all shards, one for each folder that is taken whole, else names."""
    mine = {entry.name for entry in entries}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in sorted(mine):
        folder, _, last = name.rpartition("/")
        stem, _, suffix = last.partition(".")
        shard = _SHARD.search(stem)
        # how many shards there are belongs to the pattern: those of an export with another number do not fit
        start, end = (f"{stem[: shard.start()]}-", shard["of"]) if shard else ("", "")
        groups.setdefault((folder, start, f"{end}.{suffix if shard else last.rpartition('.')[2]}"), []).append(name)
    patterns: list[str] = []
    for (folder, start, end), names in groups.items():
        above = f"{folder}/{start}" if folder else start
        alike = {name for name in folders[folder] if name.startswith(above) and name.endswith(end)}
        whole = alike <= mine and (start or len(names) > 1)
        patterns += [f"{above}*{end}"] if whole else names
    return tuple(patterns)


def as_configs(splits: Sequence[SplitFiles]) -> list[dict[str, Any]]:
    """Return the ``configs`` of a card, the largest first, which people see."""
    configs: dict[str, dict[str, Any]] = {}
    sizes: Counter[str] = Counter()
    for split in splits:
        config = configs.setdefault(split.config, {"config_name": split.config, "data_files": []})
        path = split.patterns[0] if len(split.patterns) == 1 else list(split.patterns)
        config["data_files"].append({"split": split.split, "path": path})
        if split.names:
            config["names"] = list(split.names)
        if split.kind == "wav":
            config["drop_labels"] = True
        sizes[split.config] += sum(entry.size for entry in split.entries)
    largest_first = sorted(configs.values(), key=lambda config: (-sizes[config["config_name"]], config["config_name"]))
    if len(largest_first) > 1:
        largest_first[0]["default"] = True
    return largest_first
