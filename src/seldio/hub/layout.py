"""What goes to the Hub: its files, which of them make up which configuration and split, and what columns they have."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from seldio.catalogues.trees import read_tree
from seldio.check.validation import Examined
from seldio.data.export_table import feature
from seldio.files import Entry
from seldio.files.names import suffix_of, without_suffixes
from seldio.formats.label_csv import Dialect
from seldio.rules.hub_folder import ASIDE, kind_of
from seldio.schema.splits import WORDS, clip_split, place, split_of

#: The last part of the name of a shard.
_SHARD = re.compile(r"-\d{5}(?P<of>-of-\d{5})$")
#: Bytes from which the columns of a text file are told.
_HEAD = 2**20


UploadKind = Literal["files", "parquet", "audiofolder"]


@dataclasses.dataclass(frozen=True)
class Upload:
    """What goes to the Hub, sorted by name, how it is stored there, and the names of what does not go."""

    source: str
    kind: UploadKind
    files: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)

    def find(self, name: str) -> Entry | None:
        """The file of that name."""
        return next((entry for entry in self.files if entry.name == name), None)

    def with_files(self, *entries: Entry) -> Upload:
        """The same with *entries* added, or put in the place of those that have their names."""
        named = {entry.name: entry for entry in (*self.files, *entries)}
        return dataclasses.replace(self, files=tuple(named[name] for name in sorted(named)))


@dataclasses.dataclass(frozen=True)
class ConfigSplit:
    """The files of one split of a configuration."""

    config: str  # name of the configuration
    split: str  # name of the split
    kind: str  # parquet, csv, json or wav (a folder of recordings with a metadata file)
    patterns: tuple[str, ...]  # the files, as the card names them
    entries: tuple[Entry, ...]  # the files
    columns: tuple[str, ...] = ()  # names of the columns where the files have no header line; empty otherwise


def config_splits(upload: Upload, examined: Examined | None, others: Collection[str] = ()) -> list[ConfigSplit]:
    """The configurations and splits of an upload; files that the Hub cannot load belong to none.

    What seldio read from the source tells the columns of files without a header. *others* are files that stay on the
    Hub alongside them, and that no pattern may take in.
    """
    if upload.kind == "audiofolder":
        return _folders(upload, others)
    columns, own = _columns(examined), examined and examined.described
    tree = read_tree([entry.name for entry in upload.files], upload.source)
    files = ((clip, path) for clip in tree.clips for path in clip.files.values())
    splits = {path: clip_split(clip, path) for clip, path in files}  # as an export has them too
    groups: dict[tuple[str, str, str, tuple[str, ...]], list[Entry]] = {}
    for entry in upload.files:
        kind = kind_of(entry.name)
        if entry.name in ASIDE or kind not in ("parquet", "csv", "json") or not _loads(entry):
            continue
        key = (
            _config(entry.name, bool(columns.get(entry.name))),
            (own and own.split(entry.name)) or splits.get(entry.name) or split_of(entry.name),
            kind,
            columns.get(entry.name, ()),
        )
        groups.setdefault(key, []).append(entry)
    folders: dict[str, list[str]] = {}
    for name in {*(entry.name for entry in upload.files), *others}:
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    return list(_named(groups, folders))


_LISTINGS = ("metadata.csv", "metadata.jsonl", "metadata.parquet")


def _folders(upload: Upload, others: Collection[str]) -> list[ConfigSplit]:
    """A split for each metadata file, with all below its folder."""
    parts = []
    for listing in (entry for entry in upload.files if entry.name.rpartition("/")[2] in _LISTINGS):
        above = listing.name.rpartition("/")[0]
        below = tuple(e for e in upload.files if e.name not in ASIDE and (not above or e.name.startswith(f"{above}/")))
        media = [entry.name for entry in below if kind_of(entry.name) in ("wav", "mp4")]
        kinds = dict.fromkeys(map(suffix_of, media))
        deep = (f"{above}/**",) if above else (listing.name, *(f"**/*.{suffix}" for suffix in kinds))
        if any(name not in ASIDE and (not above or name.startswith(f"{above}/")) for name in others):
            deep = (listing.name, *media)
        parts.append(ConfigSplit("default", split_of(listing.name), "wav", deep, below))
    return sorted(parts, key=lambda part: place(part.split))


def _columns(examined: Examined | None) -> dict[str, tuple[str, ...]]:
    """The columns of each label file that has no header line."""
    found: dict[str, tuple[str, ...]] = {}
    for group in examined.labels if examined is not None else ():
        format = group.format
        if isinstance(format, Dialect) and not format.header:
            found |= {part.file.name: tuple(c.field for c in format.columns) for part in group.reading.parts}
    return found


def _loads(entry: Entry) -> bool:
    """Whether the Hub's readers take the file as it is: a .json has to be a list or lines of records."""
    if suffix_of(entry.name) != "json":
        return entry.size > 0
    head = entry.head(_HEAD).lstrip()
    if not head.startswith(b"{"):
        return head.startswith(b"[")
    try:
        json.loads(head.split(b"\n", 1)[0])
    except ValueError:
        return False
    return b"\n" in head.rstrip()


def _config(name: str, labels: bool) -> str:
    """The name of a file's configuration: ``labels`` for label files, else its path without words of splits."""
    if labels:
        return "labels"
    folders, _, last = name.rpartition("/")
    stem = _SHARD.sub("", without_suffixes(last))
    words = [part for part in (*folders.split("/"), stem) if part and part not in ("data", *WORDS)]
    words = [re.sub(rf"[-_.]?\b(?:{'|'.join(WORDS)})\b", "", part).strip("-_.") or part for part in words]
    return re.sub(r"[^\w.-]", "_", "-".join(words)) or "default"


def _named(
    groups: dict[tuple[str, str, str, tuple[str, ...]], list[Entry]], folders: Mapping[str, Sequence[str]]
) -> Iterator[ConfigSplit]:
    """Parts with names that tell formats and columns apart where one name would stand for several."""
    variants: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for config, _, kind, columns in groups:
        known = variants.setdefault(config, [])
        if (kind, columns) not in known:
            known.append((kind, columns))
    for (config, split, kind, columns), entries in sorted(groups.items(), key=lambda group: place(group[0][1])):
        number = variants[config].index((kind, columns))
        shown = config if not number else f"{config}-{kind}" if not columns else f"{config}-{number + 1}"
        yield ConfigSplit(shown, split, kind, _patterns(entries, folders), tuple(entries), columns)


def _patterns(entries: Sequence[Entry], folders: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The files one by one, or a pattern for all shards, or for each folder from which all of a kind are taken."""
    mine = {entry.name for entry in entries}
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in sorted(mine):
        folder, _, last = name.rpartition("/")
        stem, _, suffix = last.partition(".")
        shard = _SHARD.search(stem)
        # how many shards there are belongs to the pattern: those of an export with another number do not fit
        start, end = (f"{stem[: shard.start()]}-", shard["of"]) if shard else ("", "")
        groups.setdefault((folder, start, f"{end}.{suffix if shard else last.rpartition('.')[2]}"), []).append(name)
    found: list[str] = []
    for (folder, start, end), names in groups.items():
        above = f"{folder}/{start}" if folder else start
        alike = {name for name in folders[folder] if name.startswith(above) and name.endswith(end)}
        whole = alike <= mine and (start or len(names) > 1)
        found += [f"{above}*{end}"] if whole else names
    return tuple(found)


def schema_of(part: ConfigSplit) -> pa.Schema | None:
    """The columns and types of a part, told by its first file; None where they cannot be told."""
    try:
        schema = _first_schema(part)
        _ = schema and schema.names  # which Arrow decodes now, and not all files write in UTF-8
        return schema
    except (pa.ArrowException, ValueError, TypeError):
        return None


def _first_schema(part: ConfigSplit) -> pa.Schema | None:
    entry = part.entries[0]
    if part.kind == "parquet":
        with entry.open() as stream:
            return pq.read_schema(stream)
    if part.columns:
        return None
    data = entry.head(_HEAD)
    data = data[: data.rfind(b"\n") + 1] if len(data) == _HEAD else data
    if part.kind == "csv":
        options = pyarrow.csv.ParseOptions(
            delimiter="\t" if suffix_of(entry.name) == "tsv" else ",", newlines_in_values=True
        )
        return pyarrow.csv.read_csv(pa.BufferReader(data), parse_options=options).schema
    if data.lstrip().startswith(b"["):
        rows = json.loads(entry.read())
        return pa.Table.from_pylist(rows[:1000]).schema if rows and isinstance(rows[0], dict) else None
    return pyarrow.json.read_json(pa.BufferReader(data)).schema


def features_of(schema: pa.Schema) -> list[dict[str, Any]]:
    """The columns as a card writes them; those of ``datasets`` where the file carries them, whoever wrote it."""
    own = {field.name: feature(field.type) for field in schema}
    try:
        metadata = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        known = metadata.get("info", {}).get("features", {})
        return [{"name": name, **_declared(known.get(name) or one)} for name, one in own.items()]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return [{"name": name, **_declared(one)} for name, one in own.items()]


def _declared(column: Any) -> dict[str, Any]:
    """A feature of ``datasets`` as a card writes it."""
    if isinstance(column, list):
        return {"list": _inner(_declared(column[0]))}
    kind = column.get("_type")
    if not isinstance(kind, str):
        return {"struct": [{"name": name, **_declared(inner)} for name, inner in column.items()]}
    if kind == "Value":
        return {"dtype": column["dtype"]}
    if kind == "ClassLabel":
        return {"dtype": {"class_label": {"names": {str(n): name for n, name in enumerate(column["names"])}}}}
    if kind in ("List", "LargeList", "Sequence"):
        return {"list": _inner(_declared(column["feature"]))}
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()
    options = {key: value for key, value in column.items() if key != "_type" and value is not None}
    return {"dtype": {name: options} if options else name}


def _inner(feature: dict[str, Any]) -> Any:
    """What stands in a list: a bare type, a struct's fields, or a feature."""
    if set(feature) == {"dtype"} and isinstance(feature["dtype"], str):
        return feature["dtype"]
    return feature["struct"] if set(feature) == {"struct"} else feature
