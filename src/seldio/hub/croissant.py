"""Croissant, the metadata of a data set for machines: JSON-LD (mlcommons.org/croissant, version 1.0)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from seldio.hub.layout import ConfigSplit, Upload, schema_of
from seldio.rules.hub_folder import kind_of, suffix_of

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
    """The metadata as text.

    Args:
        repo: ``user/name``.
        web: web address of the Hub.
        upload: what goes up.
        parts: its configurations and splits.
        values: those of the card.
        cite: BibTeX.
    """
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
    suffixes = sorted({suffix_of(name) for name in names if suffix_of(name) == name.rpartition(".")[2]})
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
        record["description"] = f"One record for each clip; the lines of its text are {', '.join(part.columns)}."
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
