"""WebDataset: tar shards in which the files of a clip stand together under one key.

``data/SPLIT-00000-of-00001.tar`` hold ``KEY.foa.wav``, ``KEY.mic.wav``, ``KEY.mp4``, the label file (``KEY.csv``) and
``KEY.json``, which tells what the clip is, its questions, and where each file came from. ``index.json`` lists the
shards as the library wids does. Headers hold no time and no owner, so the same files give the same bytes.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO

from seldio.files import Entry
from seldio.storage.manifest import Export, Manifest
from seldio.storage.rows import Plan, Row, chunks

FOLDER = "data/"


def export(source: str | os.PathLike[str], out: str | os.PathLike[str], **options: Any) -> Manifest:
    """:func:`seldio.storage.export` of this kind."""
    from seldio.storage.exporting import export as exported

    return exported(source, out, "webdataset", **options)


def write(plan: Plan, made: Export, *, shard_bytes: int, **_: object) -> dict[str, dict[str, Any]]:
    """Write the shards and their index; there are no typed columns to tell of."""
    shards = []
    for split, rows in plan.splits.items():
        parts = list(chunks(rows, shard_bytes))
        for number, part in enumerate(parts):
            name = f"{FOLDER}{split}-{number:05d}-of-{len(parts):05d}.tar"
            made.produce(name, [entry for row in part for entry in row.files], partial(_shard, plan, part), split=split)
            done = made.files[name]
            shards.append({"url": name, "nsamples": done.rows, "filesize": done.bytes})
    index = {"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": shards}
    made.text("index.json", json.dumps(index, indent=1) + "\n")
    return {}


def _shard(plan: Plan, rows: Sequence[Row], stream: BinaryIO) -> int:
    """Write one shard; return the number of its samples."""
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for row in rows:
            members = dict(_members(row))
            for name, entry in sorted(members.items()):
                with entry.open() as file:
                    _add(tar, name, file, entry.size if entry.local is not None else len(file.read()))
            text = json.dumps(_record(plan, row, members), ensure_ascii=False).encode(errors="backslashreplace")
            _add(tar, f"{row.key}.json", io.BytesIO(text), len(text))
    return len(rows)


def _members(row: Row) -> Iterator[tuple[str, Entry]]:
    """The names in the tar, and the files; a name goes on behind the key with what the file is."""
    for column, entry in row.media.items():
        suffix = _suffix(entry)
        array = row.array if column == "audio" else column
        yield f"{row.key}.{suffix}" if column == "video" else f"{row.key}.{array}.{suffix}", entry
    if row.labels is not None:
        suffix = _suffix(row.labels)
        yield f"{row.key}.labels.json" if suffix == "json" else f"{row.key}.{suffix}", row.labels


def _suffix(entry: Entry) -> str:
    return entry.name.rpartition(".")[2].lower()


def _record(plan: Plan, row: Row, members: dict[str, Entry]) -> dict[str, Any]:
    facts = {field: value for field, value in row.facts().items() if field in plan.facts}
    files = {name.removeprefix(f"{row.key}."): entry.name for name, entry in sorted(members.items())}
    return {**facts, "files": files, **({"items": plan.items.get(row.name, [])} if plan.items else {})}


def _add(tar: tarfile.TarFile, name: str, file: BinaryIO, size: int) -> None:
    member = tarfile.TarInfo(name)  # time 0, owner 0, mode 644
    member.size = size
    file.seek(0)
    tar.addfile(member, file)
