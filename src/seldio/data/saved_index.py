"""A saved index: what a folder holds, in one Parquet file, so that a large dataset opens in seconds.

It has a row for each clip: the clip table, what the headers of its recordings say, and of its label file the size, the
time and whether its labels passed the checks. It stands for nothing else: samples and labels are always read from
their files. Nothing that it tells is believed beyond what shows that it still holds:

- the clips, while no folder has another time of change than when they were listed: a file that is added, removed or
  renamed changes its folder, and then the index is rebuilt;
- the length of a recording, while its header says the same when it is opened: windows refuse it otherwise;
- the format of a label file and its checks, while its size and time are the same: it is checked again otherwise.

A time of change that is younger than two seconds proves nothing, as another change may have the same one.
"""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH112, PTH116, PTH118, PTH119, PTH120

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any, overload

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.data.arrow_tables import ClipLabelFile, Events, Items, LabelStamp, SavedLabels
from seldio.data.index import Index
from seldio.data.window_sources import FACT_TYPES, SoundFacts, facts_table, sound_facts
from seldio.engines.kept import of_json
from seldio.errors import InvalidData, SeldioError, UsageError
from seldio.files import DEFAULTS, Entry, Source, atomic_write, open_source
from seldio.files.entries import hidden
from seldio.files.sources import Lookup, on_disk, on_this_machine
from seldio.findings import raise_errors
from seldio.formats import LabelFormat, get
from seldio.formats.items import ItemFormat
from seldio.media.audio import NotAudio
from seldio.parallel import parallel_map
from seldio.schema.arrays import pc
from seldio.schema.clips import CLIP_SCHEMA, RECORDINGS, ClipTable
from seldio.text import printable

#: Of the columns and their meaning; another one is another index.
VERSION = 2
_KEY, _SUM = b"seldio index", b"seldio sum"
#: Nanoseconds in which a file may change twice and have the same time: two seconds on FAT.
_TICK = 2 * 10**9
#: Label files of a part of the work.
_PART = 64
_STAMP = {"size": pa.int64(), "time": pa.int64(), "passed": pa.bool_()}
_SCHEMA = pa.schema(
    [
        pa.field("name", pa.string()), *CLIP_SCHEMA,
        *(pa.field(f"metadata.{name}", kind) for name, kind in _STAMP.items()),
        *(pa.field(f"{array}.{name}", kind) for array in RECORDINGS for name, kind in FACT_TYPES.items()),
    ]
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class SavedFacts:
    """What holds for a whole index."""

    version: int  # of the columns, see ``VERSION``
    seldio: str  # the version that made it, whose rules the labels have passed
    root: str  # the folder, links resolved
    layout: str  # the dataset tree
    format: str | None  # the format of label files or questions that was named
    folders: Mapping[str, int]  # the time of change of each, by its path below the root; 0 where it proves nothing
    layouts: Mapping[str, str]  # of the label files in each folder


class SavedIndex(Index):
    """The clips, label files and questions of a folder, as a file tells them that was made earlier.

    Questions, and the files that they name, are looked up in the folder itself.
    """

    _LOCAL = frozenset({"_listed", "items", "lookup", "own"})

    def __init__(
        self, path: str, clips: ClipTable, about: SavedFacts, format: LabelFormat | None,
        item_format: ItemFormat | None, *, force: bool,
    ) -> None:  # fmt: skip
        self.format, self.item_format, self._force = format, item_format, force
        self._path, self._about = path, about
        self.clips = clips
        self.entries = FilesBelow(os.path.realpath(path), path)

    @cached_property
    def _listed(self) -> Index:
        """The folder itself."""
        return Index(open_source(self._path, raise_errors), self.format, self.item_format, force=self._force)

    @property
    def source(self) -> Source:
        """See :class:`Index`."""
        return self._listed.source

    @property
    def name(self) -> str:
        """See :class:`Index`."""
        return os.path.basename(self._path.rstrip("/" + os.sep)) or self._path

    @property
    def layout(self) -> str:
        """See :class:`Index`."""
        return self._about.layout

    def close(self) -> None:
        """See :class:`Index`."""

    def labels_of(self, clips: ClipTable) -> Mapping[str, ClipLabelFile]:
        """See :class:`Index`."""
        there = clips.table["metadata"].is_valid()
        return SavedLabels(clips if pc.all(there).as_py() else ClipTable(clips.table.filter(there)), self.entries)

    @cached_property
    def label_files(self) -> Mapping[str, ClipLabelFile]:
        """See :class:`Index`."""
        return self.labels_of(self.clips)

    def events(self, files: Mapping[str, ClipLabelFile]) -> Events:
        """See :class:`Index`."""
        folders = {folder: get(name) for folder, name in self._about.layouts.items()}
        return Events(files, self.format, force=self._force, folders=folders, own=self.own)

    def found(self, paths: pa.ChunkedArray) -> Sequence[Entry | None]:
        """See :class:`Index`."""
        return FoundFiles(paths, self.entries)

    @cached_property
    def items(self) -> Items:
        """See :class:`Index`."""
        return self._listed.items

    @cached_property
    def lookup(self) -> Lookup:
        """See :class:`Index`."""
        return self._listed.lookup


class FilesBelow(dict[str, Entry]):
    """The files of a folder by name, each looked up when it is asked for: none is held."""

    def __init__(self, root: str, shown: str) -> None:
        super().__init__()
        self._root, self._shown = root, shown

    def __reduce__(self) -> tuple[Any, ...]:
        return FilesBelow, (self._root, self._shown)

    def __missing__(self, name: str) -> Entry:
        if (entry := on_disk(self._root, name)) is None:
            raise SeldioError(f"{printable(self._shown)} has no file {printable(name)} any more: open it again")
        return dataclasses.replace(entry, path=os.path.join(self._shown, name))


class FoundFiles(Sequence[Entry | None]):
    """Files by their paths, each looked up when it is asked for."""

    def __init__(self, paths: pa.ChunkedArray | pa.Array, entries: Mapping[str, Entry]) -> None:
        self._paths = paths.combine_chunks() if isinstance(paths, pa.ChunkedArray) else paths
        self._entries = entries

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, number: int) -> Entry | None: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Entry | None]: ...
    def __getitem__(self, number: int | slice) -> Entry | Sequence[Entry | None] | None:
        if isinstance(number, slice):
            return FoundFiles(self._paths[number], self._entries)
        path = self._paths[number].as_py()
        return None if path is None else self._entries[path]


# --- opening, and making it where there is none -----------------------------------------------------------


def saved_index(
    path: str | os.PathLike[str], file: str | os.PathLike[str], format: LabelFormat | None,
    item_format: ItemFormat | None, *, force: bool,
) -> SavedIndex:  # fmt: skip
    """The index of the folder *path* in *file*, made where there is none or where folders have changed.

    Raises:
        UsageError: *path* is not a folder of files, or *file* is something else than its index.
        SeldioError: the disk fails.
    """
    given, shown = os.fspath(path), printable(os.fspath(file))
    place, named = on_this_machine(given, DEFAULTS), format or item_format
    if not os.path.isdir(place):
        with open_source(given, raise_errors):  # says it where nothing has that name
            raise UsageError(f"an index is saved of a folder, and {printable(given)} is a file: open it without index=")
    root = os.path.realpath(place)
    if (os.path.realpath(file) + os.sep).startswith(root.rstrip(os.sep) + os.sep):
        raise UsageError(f"the index {shown} would be one of the files of {printable(given)}: save it outside of it")
    if not os.path.isdir(os.path.dirname(file) or "."):
        raise UsageError(f"there is no folder for the index {shown}")
    if os.path.lexists(file):
        table, about = _read(os.fspath(file))
        holds = _holds(about.folders, place)
        if about.root != root and not holds:
            raise UsageError(
                f"{shown} is the index of {printable(about.root)}, and {printable(given)} has other folders or times: "
                "name another file, or delete this one if the dataset has been moved or copied"
            )
        if about.format != _name(named):
            raise UsageError(
                f"{shown} was made with format={about.format!r}: name the same, or another file for this index"
            )
        if holds and about.seldio == _version():
            return SavedIndex(given, ClipTable(table), about, format, item_format, force=force)
    table, about = _made(given, root, format, item_format)
    with atomic_write(file) as stream:
        kept = json.dumps(dataclasses.asdict(about)).encode()
        told = {_KEY: kept, _SUM: _digest(table, kept)}
        pq.write_table(table.replace_schema_metadata(told), stream, compression="zstd")
    return SavedIndex(given, ClipTable(table), about, format, item_format, force=force)


def _read(file: str) -> tuple[pa.Table, SavedFacts]:
    shown = printable(file)
    try:
        with pq.ParquetFile(file) as stored:
            data = (stored.schema_arrow.metadata or {}).get(_KEY)
            if data is None:
                raise UsageError(
                    f"{shown} is not an index that seldio has saved, and stays as it is: name another file"
                )
            told = json.loads(data)
            if told["version"] != VERSION:
                by = f"seldio {told['seldio']}"
                raise UsageError(f"{shown} was saved by {by} in another form: delete it, and a new one is made")
            about: SavedFacts = of_json(SavedFacts, told)
            if not stored.schema_arrow.equals(_SCHEMA):
                raise ValueError("its columns are others")
            table = stored.read()
            if _digest(table, data) != stored.schema_arrow.metadata.get(_SUM):
                raise ValueError("it is damaged")
            return table, about
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise UsageError(
            f"{shown} cannot be read as an index ({why}): name another file, or delete it if it was one"
        ) from error


def _digest(table: pa.Table, about: bytes) -> bytes:
    """A hash of all values, whatever Arrow keeps where there are none."""
    hasher = hashlib.sha256(about)
    for name, column in zip(table.column_names, table.columns, strict=True):
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        plain = plain.cast(pa.uint8()) if pa.types.is_boolean(plain.type) else plain
        filled = plain.fill_null("" if pa.types.is_string(plain.type) else 0).combine_chunks()
        there = plain.is_valid().cast(pa.uint8()).combine_chunks()
        hasher.update(pa.record_batch([filled, there], [name, ""]).serialize())
    return hasher.hexdigest().encode()


def _holds(folders: Mapping[str, int], place: str) -> bool:
    """Whether no folder has changed."""
    try:
        return all(os.stat(os.path.join(place, name)).st_mtime_ns == then for name, then in folders.items())
    except OSError:
        return False


def _folders(top: str, young: int) -> dict[str, int]:
    """The time of change of each folder, by its path below *top*; 0 from *young* on."""
    found, todo = {}, [""]
    while todo:
        name = todo.pop()
        folder = os.path.join(top, name)
        then = os.stat(folder).st_mtime_ns  # before it is listed
        found[name] = then if then < young else 0
        with os.scandir(folder) as items:
            for item in items:
                if not hidden(item.name) and item.is_dir():
                    if item.is_symlink():
                        raise UsageError(f"{printable(item.path)} is a link to a folder, whose changes an index misses")
                    todo.append(os.path.join(name, item.name))
    return found


def _made(
    given: str, root: str, format: LabelFormat | None, item_format: ItemFormat | None
) -> tuple[pa.Table, SavedFacts]:  # fmt: skip
    """The index as it is now."""
    young = time.time_ns() - _TICK
    folders = _folders(root, young)
    index = Index(open_source(given, raise_errors), format, item_format).filled()
    if index.source.stored or any(file.table is not None for file in index.label_files.values()):
        raise UsageError(
            f"{printable(given)} holds tables or shards, or labels of annotation tools, which are read as wholes and "
            "need no index: open it without index="
        )
    clips = index.clips
    columns = {name: clips.table[name] for name in ("name", *CLIP_SCHEMA.names)}
    events = index.events(index.label_files)
    layouts = events.layouts()
    known = [clip for clip, file in index.label_files.items() if os.path.dirname(file.entry.name) in layouts]
    parts = (events.part(known[at : at + _PART]) for at in range(0, len(known), _PART))
    lists = parallel_map(_Stamps(young), parts, what="checking labels")
    stamps = dict(zip(known, (stamp for some in lists for stamp in some), strict=True))
    unknown = LabelStamp(-1, -1, passed=False)
    rows = [
        None if path is None else stamps.get(name, unknown)
        for name, path in zip(clips, clips.table["metadata"].to_pylist(), strict=True)
    ]
    for field, kind in _STAMP.items():
        columns[f"metadata.{field}"] = pa.array([row and getattr(row, field) for row in rows], kind)
    for array in RECORDINGS:
        entries = index.found(clips.table[array])
        found = parallel_map(
            _facts, [entry for entry in entries if entry is not None], batch=_PART, what="reading headers"
        )
        facts = facts_table(next(found) if entry is not None else None for entry in entries)
        columns |= {f"{array}.{field}": facts[field] for field in FACT_TYPES}
    table = pa.table([columns[field.name] for field in _SCHEMA], schema=_SCHEMA)
    named = _name(format or item_format)
    return table, SavedFacts(VERSION, _version(), root, index.layout, named, folders, layouts)


def _version() -> str:
    """Of seldio; empty where it is run from a source tree."""
    with suppress(PackageNotFoundError):
        return version("seldio")
    return ""


def _name(format: LabelFormat | ItemFormat | None) -> str | None:
    return None if format is None else format.name


def _facts(entry: Entry) -> SoundFacts | None:
    """None of a file that cannot be read, which whoever wants to hear it is told."""
    try:
        return sound_facts(entry)
    except NotAudio:
        return None


@dataclasses.dataclass(frozen=True)
class _Stamps:
    """Checks the labels of some clips; files that have changed since *young* prove nothing."""

    young: int

    def __call__(self, part: Events) -> list[LabelStamp]:
        found = []
        for clip in part:
            stamp = LabelStamp.of(part.source(clip).entry)
            try:
                part.read(clip)
            except (InvalidData, UsageError):
                stamp = stamp._replace(passed=False)
            found.append(stamp._replace(passed=stamp.passed and stamp.time < self.young))
        return found
