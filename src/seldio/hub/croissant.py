"""Croissant: the data set for machines, as JSON-LD (mlcommons.org/croissant, version 1.0)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from seldio.hub.layout import Part, schema_of
from seldio.hub.manifest import Manifest
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
    repo: str, web: str, manifest: Manifest, parts: Sequence[Part], values: Mapping[str, Any], cite: str | None
) -> str:
    """The metadata as text.

    Args:
        repo: ``user/name``.
        web: web address of the Hub.
        manifest: what goes up.
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
        "description": f"{title}: {len(manifest.files):,} files, {manifest.size / 1e6:,.1f} MB.",
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
    record["distribution"] = [_repository(page), *_file_sets(manifest, parts)]
    record["recordSet"] = [*_record_sets(parts), *_clips(manifest)]
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _repository(page: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject", "@id": "repo", "name": "repo", "description": "The Hugging Face git repository.",
        "contentUrl": page, "encodingFormat": "git+https", "sha256": _NO_CHECKSUM,
    }  # fmt: skip


def _file_set(identity: str, includes: Sequence[str], mime: str) -> dict[str, Any]:
    found = includes[0] if len(includes) == 1 else list(includes)
    return {
        "@type": "cr:FileSet", "@id": identity, "name": identity, "containedIn": {"@id": "repo"},
        "encodingFormat": mime, "includes": found,
    }  # fmt: skip


def _identity(part: Part) -> str:
    return f"{part.config}/{part.split}"


def _file_sets(manifest: Manifest, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if part.kind != "wav":
            yield _file_set(f"files/{_identity(part)}", part.patterns, _mime(part))
    for suffix in _media(manifest):
        yield _file_set(f"media/{suffix}", [f"**/*.{suffix}", f"*.{suffix}"], _MIME[suffix])


def _mime(part: Part) -> str:
    # a table without a header line would lose its first row to whoever reads it as text/csv
    return "text/plain" if part.columns else _MIME[suffix_of(part.entries[0].name)]


def _media(manifest: Manifest) -> list[str]:
    names = [entry.name for entry in manifest.files if kind_of(entry.name) in ("wav", "mp4")]
    return sorted({suffix_of(name) for name in names if suffix_of(name) == name.rpartition(".")[2]})


def _record_sets(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    """Questions and label rows by column; files without a header line as one text for each clip."""
    for part in parts:
        identity, files = _identity(part), f"files/{_identity(part)}"
        if part.kind == "wav":
            continue
        schema = schema_of(part)
        if schema is not None:
            fields = [_column(identity, files, field, _mime(part)) for field in schema]
            yield {"@type": "cr:RecordSet", "@id": identity, "name": identity, "field": fields}
        elif part.columns:
            yield {
                "@type": "cr:RecordSet", "@id": identity, "name": identity,
                "description": f"One record for each clip; the lines of its text are {', '.join(part.columns)}.",
                "field": [
                    _field(identity, files, "clip", "sc:Text", {"fileProperty": "filename"}),
                    _field(identity, files, "labels", "sc:Text", {"fileProperty": "content"}),
                ],
            }  # fmt: skip


def _field(identity: str, files: str, name: str, kind: str, extract: dict[str, str]) -> dict[str, Any]:
    return {
        "@type": "cr:Field", "@id": f"{identity}/{name}", "name": f"{identity}/{name}", "dataType": kind,
        "source": {"fileSet": {"@id": files}, "extract": extract},
    }  # fmt: skip


def _column(identity: str, files: str, field: pa.Field, mime: str) -> dict[str, Any]:
    extract = {"jsonPath": f"$[*].{field.name}"} if mime == "application/json" else {"column": field.name}
    inner, repeated = field.type, False
    if pa.types.is_list(inner) or pa.types.is_large_list(inner):
        inner, repeated = inner.value_type, True
    return _field(identity, files, field.name, _data_type(inner), extract) | ({"repeated": True} if repeated else {})


def _data_type(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind) and {"bytes", "path"} == {kind.field(n).name for n in range(kind.num_fields)}:
        return "sc:AudioObject"
    for known, name in ((pa.types.is_boolean, "sc:Boolean"), (pa.types.is_integer, "sc:Integer"),
                        (pa.types.is_floating, "sc:Float")):  # fmt: skip
        if known(kind):
            return name
    return "sc:Text"


def _clips(manifest: Manifest) -> Iterator[dict[str, Any]]:
    """The recordings and videos, one record for each."""
    for suffix in _media(manifest):
        identity, files = f"clips-{suffix}", f"media/{suffix}"
        kind = "sc:AudioObject" if kind_of(f"x.{suffix}") == "wav" else "sc:VideoObject"
        yield {
            "@type": "cr:RecordSet", "@id": identity, "name": identity,
            "field": [
                _field(identity, files, "name", "sc:Text", {"fileProperty": "fullpath"}),
                _field(identity, files, "media", kind, {"fileProperty": "content"}),
            ],
        }  # fmt: skip
