"""The dataset card for people, and Croissant for machines: what the data tells is written, what people wrote is kept.

Croissant is JSON-LD (mlcommons.org/croissant, version 1.0).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub.utils._fixes import yaml_dump

from seldio.check.description import as_text
from seldio.files.names import in_lower_case, suffix_of
from seldio.findings import Sink
from seldio.formats import yaml_text
from seldio.formats.about import bibtex
from seldio.hub.layout import ConfigSplit, Upload, features_of, schema_of
from seldio.rules.hub import SIZES
from seldio.rules.hub_folder import kind_of
from seldio.text import plural

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_BREAKS = re.compile("[\x85\u2028\u2029]")
#: Between these lines stands what seldio wrote; the next push writes it anew.
BEGIN, END = "<!-- written by seldio from the data -->", "<!-- end of what seldio wrote -->"
_MADE = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}\n?", re.DOTALL)
#: What follows from the data: of a card that seldio wrote, these are never kept.
DERIVED = ("configs", "dataset_info", "size_categories")


@dataclasses.dataclass(frozen=True)
class About:
    """What people say about their data, and no file tells."""

    license: str | None = None  # an identifier of the Hub's list, such as ``cc-by-4.0``
    languages: tuple[str, ...] = ()  # codes such as ``en``
    title: str | None = None  # what the dataset is called
    citation: str | None = None  # BibTeX

    def completed(self, facts: Mapping[str, Any]) -> About:
        """The same with what the dataset says itself, where people do not; see :func:`made_card` for *facts*.

        What is known of a published dataset goes into the card only where all of its labels are here.
        """
        own: Mapping[str, Any] = next(iter(facts.get("datasets", ())), {})
        known: Mapping[str, Any] = next((one for one in facts.get("about", ()) if one["complete"]), {})
        license = self.license or own.get("license") or known.get("license")
        citation = self.citation or own.get("cite") or (bibtex([known["name"]]) if known else None)
        return About(license and license.lower(), self.languages, self.title or own.get("title"), citation)


@dataclasses.dataclass(frozen=True)
class Card:
    """A card in its two halves; ``values`` is None where the YAML of an old card cannot be read."""

    values: Mapping[str, Any] | None
    body: str

    @property
    def text(self) -> str:
        """The card as a file."""
        values = dict(self.values or {})
        front = yaml_dump(values, allow_unicode=True, sort_keys=False, width=10**6)
        if _BREAKS.search(front):  # readers fold these line breaks, so they have to be escaped
            front = yaml_dump(values, allow_unicode=False, sort_keys=False, width=10**6)
        return f"---\n{front}---\n{self.body}"


def read_card(text: str, path: str, sink: Sink) -> Card:
    """An old card; what is wrong with its YAML goes to *sink*, lines counted in the whole file."""
    match = _FRONT.match(text)
    if match is None:
        return Card({}, text)
    # as many empty lines as stand above, so that lines and columns are those of the file
    document = yaml_text.parse(b"\n" + match[1].encode(), path, sink)
    value = document.value if document is not None else None
    value = {} if document is not None and value is None else value
    return Card(value if isinstance(value, dict) else None, text[match.end() :])


def made_card(
    repo: str, upload: Upload, parts: Sequence[ConfigSplit], facts: Mapping[str, Any], about: About, old: Card | None
) -> Card:
    """The card for an upload.

    *facts* are what :func:`seldio.check.description.describe` says of the source, *about* what people say; of a card
    that is there already text and values are kept, and what is lacking is added.
    """
    if old is not None and old.values is None:
        return old
    old_body = old.body if old is not None else ""
    kept = dict(old.values or {}) if old is not None else {}
    if BEGIN in old_body:
        kept = {key: value for key, value in kept.items() if key not in DERIVED}
    made = _values(repo, upload, parts, facts, about)
    said = {"license": about.license, "language": list(about.languages), "pretty_name": about.title}
    kept |= {key: value for key, value in said.items() if value}
    if "dataset_info" in kept or "configs" in kept:
        made = {key: value for key, value in made.items() if key not in ("dataset_info", "configs")}
    values = {key: kept.get(key, made.get(key)) for key in dict.fromkeys([*made, *kept])}
    text = "\n".join([BEGIN, *_text(repo, upload, parts, facts, about, old_body), END, ""])
    if not old_body.strip():
        body = f"# {values.get('pretty_name') or repo}\n\n{text}"
    elif _MADE.search(old_body):
        body = _MADE.sub(lambda _: text, old_body, count=1)
    else:
        body = f"{old_body.rstrip()}\n\n{text}"
    return Card({key: value for key, value in values.items() if value not in (None, [], {})}, body)


def _values(
    repo: str, upload: Upload, parts: Sequence[ConfigSplit], facts: Mapping[str, Any], about: About
) -> dict[str, Any]:
    kinds = {kind_of(entry.name) for entry in upload.files}
    items, labels = facts.get("items", []), facts.get("groups", [])
    tasks = ["audio-classification"] * bool(labels) + ["question-answering", "audio-text-to-text"] * bool(items)
    tags = ["audio"] * bool(labels or items or "wav" in kinds) + ["video"] * ("mp4" in kinds)
    tags += ["spatial-audio", "sound-event-localization-and-detection"] * bool(labels)
    tags += ["audio-question-answering"] * bool(items) + ["seldio"]
    clips, questions = sum(group["clips"] for group in labels), sum(group["rows"] for group in items)
    return {
        "language": list(about.languages) or sorted({code for item in items for code in item.get("languages", {})}),
        "license": about.license,
        "pretty_name": about.title or repo.partition("/")[2],
        "tags": tags,
        "task_categories": tasks,
        "size_categories": [size_category(clips or questions or len(upload.files))],
        "configs": configs(parts),
        "dataset_info": _dataset_info(parts),
    }


def size_category(rows: int) -> str:
    """The Hub's name for this number of rows.

    >>> size_category(999), size_category(1000), size_category(2_100_000)
    ('n<1K', '1K<n<10K', '1M<n<10M')
    """
    return SIZES[min(max(len(str(rows)) - 3, 0), len(SIZES) - 1)]


def configs(parts: Sequence[ConfigSplit]) -> list[dict[str, Any]]:
    """The configurations as a card writes them, the largest first, which people see."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        config = found.setdefault(part.config, {"config_name": part.config, "data_files": []})
        path = part.patterns[0] if len(part.patterns) == 1 else list(part.patterns)
        same = next((row for row in config["data_files"] if row["split"] == part.split), None)
        if same is None:
            config["data_files"].append({"split": part.split, "path": path})
        else:
            both = [same["path"], path]
            same["path"] = [one for each in both for one in (each if isinstance(each, list) else [each])]
        if part.columns:
            config["names"] = list(part.columns)
        if part.kind == "wav":
            config["drop_labels"] = True
    sizes = {name: sum(e.size for p in parts if p.config == name for e in p.entries) for name in found}
    order = sorted(found.values(), key=lambda config: (-sizes[config["config_name"]], config["config_name"]))
    return [config | ({"default": True} if not n and len(order) > 1 else {}) for n, config in enumerate(order)]


def _dataset_info(parts: Sequence[ConfigSplit]) -> list[dict[str, Any]]:
    """Columns with types, and rows and unpacked bytes of each split: of Parquet files, which tell them."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        schema = schema_of(part) if part.kind == "parquet" else None
        if schema is None:
            continue
        info = found.setdefault(
            part.config, {"config_name": part.config, "features": features_of(schema), "splits": []}
        )
        rows = unpacked = 0
        for entry in part.entries:
            with entry.open() as stream:
                meta = pq.read_metadata(stream)
            rows += meta.num_rows
            unpacked += sum(meta.row_group(n).total_byte_size for n in range(meta.num_row_groups))
        info["splits"].append({"name": part.split, "num_bytes": unpacked, "num_examples": rows})
        info["download_size"] = info.get("download_size", 0) + sum(entry.size for entry in part.entries)
        info["dataset_size"] = info.get("dataset_size", 0) + unpacked
    return list(found.values())


def _below(name: str, top: str) -> str:
    """The path of a file below the source: where that is on somebody's disk is nobody else's business."""
    start = f"{top.rstrip('/')}/"
    return name.removeprefix(start) if name.startswith(start) else PurePath(name).name


def _text(
    repo: str, upload: Upload, parts: Sequence[ConfigSplit], facts: Mapping[str, Any], about: About, old: str
) -> list[str]:
    """What the data tells, and how to load, check and fetch it."""
    lines = ["## Contents", "", f"{plural(len(upload.files), 'file')}, {upload.size / 1e6:,.1f} MB.", ""]
    top = facts["path"]
    named = {
        "groups": [{**group, "files": [_below(name, top) for name in group["files"]]} for group in facts["groups"]],
        "items": [{**group, "file": _below(group["file"], top)} for group in facts.get("items", ())],
    }
    summary = as_text({**facts, **named, "about": [], "findings": {}}).split("\n")[2:]
    lines += (
        ["```text", *(line for line in summary if not line.startswith("  evidence")), "```", ""] if any(summary) else []
    )
    if parts:
        lines += ["## Load", "", "```python", "from datasets import load_dataset", ""]
        config = configs(parts)[0]
        name, split = config["config_name"], config["data_files"][0]["split"]
        lines += [f'data = load_dataset("{repo}", "{name}", split="{split}")', "```", ""]
    check = [f"seldio validate hf://datasets/{repo}"] * (upload.kind == "files")
    lines += ["## Download", "", "```sh", f"seldio pull {repo}", *check, "```", ""]
    if about.citation and about.citation.strip() not in old:
        fence = "bibtex" if about.citation.lstrip().startswith("@") else "text"
        lines += ["## Citation", "", f"```{fence}", about.citation.strip(), "```", ""]
    return lines


# --- Croissant -------------------------------------------------------------------------------------------

_CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs",
    "column": "cr:column", "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
    "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/", "recordSet": "cr:recordSet", "references": "cr:references",
    "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
_MIME = {
    "parquet": "application/x-parquet", "csv": "text/csv", "tsv": "text/tab-separated-values",
    "json": "application/json", "jsonl": "application/jsonlines", "ndjson": "application/jsonlines",
    "wav": "audio/wav", "flac": "audio/flac", "ogg": "audio/ogg", "opus": "audio/ogg", "mp3": "audio/mpeg",
    "m4a": "audio/mp4", "mp4": "video/mp4", "mkv": "video/x-matroska", "mov": "video/quicktime",
    "avi": "video/x-msvideo", "webm": "video/webm",
}  # fmt: skip
#: What Croissant asks for where a repository has no one checksum.
_NO_CHECKSUM = "https://github.com/mlcommons/croissant/issues/80"


def croissant(
    repo: str, web: str, upload: Upload, parts: Sequence[ConfigSplit], values: Mapping[str, Any], cite: str | None
) -> str:
    """The Croissant metadata: what the dataset is called and holds, its files, and its records by column."""
    page = f"{web}/datasets/{repo}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", repo.partition("/")[2])
    title = str(values.get("pretty_name") or repo)
    record: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": f"{title}: {len(upload.files):,} files, {upload.size / 1e6:,.1f} MB.",
        "url": page,
        "creator": {"@type": "Organization", "name": repo.partition("/")[0], "url": f"{web}/{repo.partition('/')[0]}"},
        "keywords": list(values.get("tags", [])),
    }
    if license := values.get("license"):
        first = license[0] if isinstance(license, list) else license
        record["license"] = str(values.get("license_link") or f"https://choosealicense.com/licenses/{first}/")
    if values.get("language"):
        record["inLanguage"] = values["language"]
    if cite:
        record["citeAs"] = cite.strip()
    repository = {
        "@type": "cr:FileObject", "@id": "repo", "name": "repo", "description": "The Hugging Face git repository.",
        "contentUrl": page, "encodingFormat": "git+https", "sha256": _NO_CHECKSUM,
    }  # fmt: skip
    tables = [(_files(f"files/{part.config}/{part.split}", part.patterns, _mime(part)), _table_records(part))
              for part in parts if part.kind != "wav"]  # fmt: skip
    names = (entry.name for entry in upload.files if kind_of(entry.name) in ("wav", "mp4"))
    suffixes = sorted({suffix_of(name) for name in names if in_lower_case(name)})
    media = [(_files(f"media/{suffix}", [f"**/*.{suffix}", f"*.{suffix}"], _MIME[suffix]), _media_records(suffix))
             for suffix in suffixes]  # fmt: skip
    record["distribution"] = [repository, *(files for files, _ in (*tables, *media))]
    record["recordSet"] = [records for _, records in (*tables, *media) if records is not None]
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _mime(part: ConfigSplit) -> str:
    # a table without a header line would lose its first row to whoever reads it as text/csv
    return "text/plain" if part.columns else _MIME[suffix_of(part.entries[0].name)]


def _files(identity: str, includes: Sequence[str], mime: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet", "@id": identity, "name": identity, "containedIn": {"@id": "repo"},
        "encodingFormat": mime, "includes": includes[0] if len(includes) == 1 else list(includes),
    }  # fmt: skip


def _field(identity: str, files: str, name: str, kind: str, extract: dict[str, str]) -> dict[str, Any]:
    return {
        "@type": "cr:Field", "@id": f"{identity}/{name}", "name": f"{identity}/{name}", "dataType": kind,
        "source": {"fileSet": {"@id": files}, "extract": extract},
    }  # fmt: skip


def _table_records(part: ConfigSplit) -> dict[str, Any] | None:
    """Questions and label rows by column; files without a header line as one text for each clip."""
    identity, schema, mime = f"{part.config}/{part.split}", schema_of(part), _mime(part)
    files = f"files/{identity}"
    record: dict[str, Any] = {"@type": "cr:RecordSet", "@id": identity, "name": identity}
    if schema is None:
        if not part.columns:
            return None
        record["description"] = f"One record per clip; each line of its text holds {', '.join(part.columns)}."
        contents = {"clip": "filename", "labels": "content"}
        fields = [_field(identity, files, n, "sc:Text", {"fileProperty": what}) for n, what in contents.items()]
        return {**record, "field": fields}
    fields = []
    for column in schema:
        extract = {"jsonPath": f"$[*].{column.name}"} if mime == "application/json" else {"column": column.name}
        several = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
        kind = _data_type(column.type.value_type if several else column.type)
        fields.append(_field(identity, files, column.name, kind, extract) | ({"repeated": True} if several else {}))
    return {**record, "field": fields}


def _data_type(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind) and {"bytes", "path"} == {kind.field(n).name for n in range(kind.num_fields)}:
        return "sc:AudioObject"
    for known, name in ((pa.types.is_boolean, "sc:Boolean"), (pa.types.is_integer, "sc:Integer"),
                        (pa.types.is_floating, "sc:Float")):  # fmt: skip
        if known(kind):
            return name
    return "sc:Text"


def _media_records(suffix: str) -> dict[str, Any]:
    """The recordings or videos, one record for each."""
    identity, files = f"clips-{suffix}", f"media/{suffix}"
    kind = "sc:AudioObject" if kind_of(f"x.{suffix}") == "wav" else "sc:VideoObject"
    fields = [
        _field(identity, files, "name", "sc:Text", {"fileProperty": "fullpath"}),
        _field(identity, files, "media", kind, {"fileProperty": "content"}),
    ]
    return {"@type": "cr:RecordSet", "@id": identity, "name": identity, "field": fields}
