"""WebDataset: tar shards in which the files of a clip stand together under one key.

``data/SPLIT-00000-of-00001.tar`` hold ``KEY.foa.wav``, ``KEY.mic.wav``, ``KEY.mp4``, the label file (``KEY.csv``) and
``KEY.json``, which tells what the clip is, its questions, and where each file came from. ``index.json`` lists the
shards as the library wids does. Headers hold no time and no owner, so the same files give the same bytes.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from seldio.data.clips import Questions
from seldio.data.manifest import Manifest
from seldio.data.rows import Plan, Row, chunks
from seldio.data.work import Export
from seldio.files import Entry

FOLDER = "data/"


def export(source: str | os.PathLike[str], out: str | os.PathLike[str], **options: Any) -> Manifest:
    """:func:`seldio.data.export` of this kind."""
    from seldio.data.exporting import export as exported

    return exported(source, out, "webdataset", **options)


def write(plan: Plan, made: Export, *, shard_bytes: int, **_: object) -> dict[str, dict[str, Any]]:
    """Write the shards and their index; there are no typed columns to tell of."""
    names = []
    for split, rows in plan.splits.items():
        parts = list(chunks(rows, shard_bytes))
        for number, part in enumerate(parts):
            names.append(f"{FOLDER}{split}-{number:05d}-of-{len(parts):05d}.tar")
            shard = Shard(part, plan.facts, plan.items or None)
            made.want(names[-1], [entry for row in part for entry in row.files], shard, split=split)
    made.work()
    shards = [{"url": name, "nsamples": made.files[name].rows, "filesize": made.files[name].bytes} for name in names]
    index = {"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": shards}
    made.text("index.json", json.dumps(index, indent=1) + "\n")
    return {}


@dataclasses.dataclass(frozen=True)
class Shard:
    """A tar file of clips.

    Args:
        rows: the clips.
        facts: what is told of each.
        items: questions by clip; None where there are none at all.
    """

    rows: Sequence[Row]
    facts: tuple[str, ...]
    items: Questions | None

    def portable(self) -> Shard:
        """The same without the questions about other clips."""
        items = self.items
        return dataclasses.replace(
            self, items=None if items is None else {row.name: items[row.name] for row in self.rows if row.name in items}
        )

    def __call__(self, stream: BinaryIO) -> int:
        """Write it; return the number of its samples."""
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            for row in self.rows:
                members = dict(_members(row))
                for name, entry in sorted(members.items()):
                    with entry.open() as file:
                        _add(tar, name, file)
                text = json.dumps(self._record(row, members), ensure_ascii=False).encode(errors="backslashreplace")
                _add(tar, f"{row.key}.json", io.BytesIO(text))
        return len(self.rows)

    def _record(self, row: Row, members: Mapping[str, Entry]) -> dict[str, Any]:
        """What is told of a clip beside its files."""
        facts = {field: value for field, value in row.facts().items() if field in self.facts}
        files = {name.removeprefix(f"{row.key}."): entry.name for name, entry in sorted(members.items())}
        return {**facts, "files": files, **({} if self.items is None else {"items": self.items.get(row.name, [])})}


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


def _add(tar: tarfile.TarFile, name: str, file: BinaryIO) -> None:
    member = tarfile.TarInfo(name)  # time 0, owner 0, mode 644
    member.size = file.seek(0, io.SEEK_END)
    file.seek(0)
    tar.addfile(member, file)
