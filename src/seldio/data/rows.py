"""What is exported: a row for each clip with its files, in splits, and the files that are of no clip."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from operator import attrgetter
from typing import Any

import pyarrow as pa

from seldio.data.contents import Contents
from seldio.data.events import Events, LabelFile
from seldio.data.media import ARRAYS
from seldio.data.work import spread
from seldio.engines import cut
from seldio.errors import UsageError
from seldio.files import Entry
from seldio.media.audio import NotAudio, probe_entry
from seldio.schema.clips import Clip
from seldio.schema.splits import clip_split
from seldio.vocabularies import vocabulary

#: Columns that tell what a clip is, from the clip table.
FACTS = ("clip", "split", "array", "layout", "set", "site", "fold", "room", "mix")
NUMBERS = frozenset({"fold", "room", "mix"})
#: Fields of a question that stand beside its clip; all of them are in the file it came from.
ITEM = {
    "id": pa.string(), "task": pa.string(), "question": pa.string(), "options": pa.list_(pa.string()),
    "answer": pa.string(),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Row:
    """A clip and its files.

    Args:
        name: of the clip; no other one has it.
        key: the same as a file name without a dot.
        clip: its row in the clip table.
        media: recordings and video by column: ``audio``, other arrays, ``video``.
        array: which array ``audio`` is.
        labels: the label file.
    """

    name: str
    key: str
    clip: Clip
    media: Mapping[str, Entry]
    array: str | None
    labels: Entry | None

    @property
    def files(self) -> tuple[Entry, ...]:
        """All files."""
        return (*self.media.values(), *((self.labels,) if self.labels is not None else ()))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(max(entry.size, 0) for entry in self.files)

    def facts(self) -> dict[str, Any]:
        """What the names tell of the clip, by the names in ``FACTS``."""
        return self.clip.model_dump(include=set(FACTS)) | {"clip": self.name, "array": self.array}


class Plan:
    """What is to be exported.

    Args:
        contents: the source.
        array: the array that becomes the column ``audio``, where a clip has it.
    """

    def __init__(self, contents: Contents, array: str) -> None:
        if array not in ARRAYS:
            raise UsageError(f"there is no array {array!r}; choose one of {', '.join(ARRAYS)}")
        self.contents, self.array = contents, array
        keys = _keys(contents.clips)
        self.rows = [_row(contents, name, clip, keys[name], array) for name, clip in contents.clips.items()]
        taken = {entry.name for row in self.rows for entry in row.files}
        #: Files that are of no clip: questions, licences, tables of labels.
        self.others = [entry for entry in contents.source if entry.name not in taken]

    @cached_property
    def splits(self) -> dict[str, list[Row]]:
        """The rows of each split, in the order of the splits' names."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            file = self.files.get(row.name)
            paths = [entry.name for entry in (*row.files, *([file.entry] if file is not None else []))]
            found.setdefault(clip_split(row.clip, paths[0] if paths else row.name), []).append(row)
        return dict(sorted(found.items()))

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """The columns of ``FACTS`` that any clip fills."""
        filled = {field for row in self.rows for field, value in row.facts().items() if value is not None}
        return tuple(field for field in FACTS if field in filled)

    @cached_property
    def media(self) -> tuple[str, ...]:
        """The columns of recordings and videos, ``audio`` first and ``video`` last."""
        found = {column for row in self.rows for column in row.media}
        order = {"audio": 0, "video": 2}
        return tuple(sorted(found, key=lambda column: (order.get(column, 1), column)))

    @cached_property
    def files(self) -> Mapping[str, LabelFile]:
        """The label files by clip."""
        return self.contents.label_files

    @cached_property
    def events(self) -> Events:
        """The labels by clip."""
        return Events(list(self.files.values()), self.contents.told)

    @cached_property
    def classes(self) -> list[str]:
        """The class list of all labels.

        Raises:
            UsageError: they are of several.
        """
        rows = vocabulary(self.events.vocabulary).classes
        return [names[0] if names else f"class {number}" for number, names in enumerate(rows)]

    @cached_property
    def items(self) -> Mapping[str, list[dict[str, Any]]]:
        """The questions about each clip, with the fields of ``ITEM``."""
        found: dict[str, list[dict[str, Any]]] = {}
        if any(entry.name.lower().endswith((".json", ".jsonl", ".csv", ".tsv", ".parquet")) for entry in self.others):
            for item, file in self.contents.items.rows:
                named = dict.fromkeys(self.contents.clip_of(path, file) for path in item.audio)
                for clip in named:
                    if clip is not None:
                        found.setdefault(clip, []).append({field: getattr(item, field) for field in ITEM})
        return found

    @cached_property
    def rates(self) -> Mapping[str, int | None]:
        """Samples a second of the recordings in each column; None where they differ or one cannot be read."""
        files = [(column, entry) for row in self.rows for column, entry in row.media.items() if column != "video"]
        entries = [entry for _, entry in files]
        rates = spread(_rate, entries, self.on_disk, "reading headers", batch=64, key=attrgetter("stamp"))
        found: dict[str, set[int | None]] = {}
        for (column, _), rate in zip(files, rates, strict=True):
            found.setdefault(column, set()).add(rate)
        return {column: those.pop() if len(those) == 1 else None for column, those in found.items()}

    @cached_property
    def on_disk(self) -> bool:
        """Whether all files of clips lie on disk as they are, so that other processes can read them there."""
        return all(entry.on_disk for row in self.rows for entry in row.files)

    def statistics(self) -> dict[str, Any]:
        """Counts of clips, splits and files, and the bytes of the source."""
        files = Counter(column for row in self.rows for column in row.media)
        files["labels"] = sum(row.labels is not None for row in self.rows)
        return {
            "layout": self.contents.tree.layout,
            "clips": len(self.rows),
            "splits": {split: len(rows) for split, rows in self.splits.items()},
            "files": {column: files[column] for column in sorted(files) if files[column]} | {"other": len(self.others)},
            "bytes": sum(max(entry.size, 0) for entry in self.contents.source),
        }


def chunks(rows: Iterable[Row], limit: int) -> Iterator[list[Row]]:
    """The rows in parts of at most *limit* bytes, or of one clip that is larger."""
    return cut(rows, limit, attrgetter("size"))


def _rate(entry: Entry) -> int | None:
    """Samples a second of a recording; None where it cannot be read."""
    try:
        return probe_entry(entry).rate
    except NotAudio:
        return None


def _row(contents: Contents, name: str, clip: Clip, key: str, array: str) -> Row:
    arrays = [field for field in (array, *ARRAYS) if getattr(clip, field) is not None]
    main = arrays[0] if arrays else None
    columns = {} if main is None else {"audio": getattr(clip, main)}
    columns |= {"recording" if field == "audio" else field: getattr(clip, field) for field in arrays if field != main}
    columns |= {"video": clip.video} if clip.video is not None else {}
    file = contents.label_files.get(name)
    labels = file.entry if file is not None and file.table is None else None
    return Row(name, key, clip, {column: contents.entries[path] for column, path in columns.items()}, main, labels)


def _keys(names: Iterable[str]) -> dict[str, str]:
    """A file name for each clip: letters, digits, ``_`` and ``-``, and a number where two would be alike."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w-]", "_", name, flags=re.ASCII)
        key, number = plain, 1
        while key.lower() in taken:
            number += 1
            key = f"{plain}_{number}"
        taken.add(key.lower())
        found[name] = key
    return found
