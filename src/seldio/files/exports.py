"""An export as a source: the files that it was made from, under their own names, read where they lie.

What :mod:`seldio.data` has written, or what was fetched of it, is identified by ``manifest.json``, or else by its
shards: Parquet files with a column ``clip`` and columns of files (structs of ``bytes`` and ``path``), and tar files in
which a ``KEY.json`` tells where the files of a sample came from. Recordings and videos are stretches of the shards, so
that a window of one is read without the rest. What was derived from the files (tables of labels, lists of shards) is
left out where they are there themselves; :attr:`seldio.files.Source.stored` has it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Protocol, cast

from seldio.errors import InvalidData
from seldio.files.archives import Member, admitted, collected, safe, tar_members
from seldio.files.entries import Entry, Kind, Limits, Source, checked
from seldio.files.problems import guard, problem
from seldio.files.streams import OnDisk, Stretch
from seldio.findings import Sink
from seldio.text import printable

MANIFEST = "manifest.json"
#: The folders of tables of labels, and of shards.
LABELS, DATA = "labels/", "data/"
#: Folders of an export whose files came from below them: those of no clip, and recordings beside a table.
_COPIES = re.compile(r"(?:other|media)/")
_TAR = re.compile(r"-\d{5}-of-\d{5}\.tar$")
_INDEX = "index.json"
#: Bytes that tell a manifest, and the most of what tells of one sample of a shard.
_HEAD, _RECORD = 64, 2**24


def restored(source: Source, sink: Sink, limits: Limits) -> Source:
    """*source*, or if it is an export the files that it was made from.

    Names are those that the files had, and are checked as those of an archive's members are.
    """
    written = manifest(source, sink)
    told = frozenset() if written is None else frozenset(written)
    copies = {name for name, file in (written or {}).items() if file["origin"] is not None}
    shards = {
        entry.name: found for entry in source
        if entry.name not in copies and (found := _shard(entry, told, sink, limits)) is not None
    }  # fmt: skip
    if not shards and written is None:
        return source
    entries = [entry for found in shards.values() for entry in found]
    derived: list[Entry] = []
    for entry in source:
        if entry.name not in shards:
            derived += _plain(entry, written, entries, sink, limits)
    # all files come back from an export that is whole; of one that was fetched in part, tables of labels tell the rest
    if written is None or not written.keys() <= {entry.name for entry in source}:
        names, tables = {entry.name for entry in entries}, [one for one in derived if one.name.startswith(LABELS)]
        entries += tables if names.isdisjoint(name for table in tables for name in _made_of(table)) else []
    kind: Kind = "tar" if source.kind == "file" else source.kind
    return Source(source.path, kind, checked(_once(entries, sink), sink), source._stack, source.entries)


class File(Protocol):
    """A file that can be asked whether it is a manifest."""

    @property
    def path(self) -> str:
        """As shown to people."""

    @property
    def name(self) -> str:
        """POSIX path below the export."""

    def head(self, count: int) -> bytes:
        """Its first bytes."""

    def read(self) -> bytes:
        """All of them."""


def manifest(files: Iterable[File], sink: Sink) -> Mapping[str, Mapping[str, Any]] | None:
    """What the manifest among *files* tells of each file of an export; None where there is none that can be read."""
    entry = next((entry for entry in files if entry.name == MANIFEST), None)
    try:
        if entry is None or b'"seldio_export"' not in entry.head(_HEAD):
            return None
        record = json.loads(entry.read())
        return {str(file["name"]): {"origin": None, **file} for file in record["files"]}
    except InvalidData as error:
        sink(error.finding)
    except (ValueError, LookupError, TypeError, RecursionError):
        assert entry is not None
        sink(problem("SAF107", entry.path, "Damaged (it lists no files)"))
    return None


def _plain(
    entry: Entry, written: Mapping[str, Mapping[str, Any]] | None, entries: list[Entry], sink: Sink, limits: Limits
) -> list[Entry]:
    """Add a file of an export that is not a shard to *entries* as what it was; return it if derived from them."""
    name: Any = entry.name
    if written is not None:
        if entry.name == MANIFEST:
            return []
        name = written.get(entry.name, {"origin": name})["origin"]
    elif entry.name == _INDEX or (entry.name.startswith(LABELS) and entry.name.endswith(".parquet")):
        name = None
    else:
        name = _COPIES.sub("", entry.name, count=1) if _COPIES.match(entry.name) else name
    if not isinstance(name, str):
        return [entry]
    if name == entry.name or safe(name, entry.path, sink, limits):
        entries.append(dataclasses.replace(entry, name=name))
    return []


def _made_of(entry: Entry) -> list[str]:
    """The files that a table of labels was made from; none where it does not tell."""
    from seldio.files.parquet_files import parquet_file

    try:
        with guard(entry.path), entry.open() as stream:
            told = json.loads((parquet_file(stream).schema_arrow.metadata or {}).get(b"seldio", b"{}"))
        return [str(file["name"]) for file in told.get("files", ())]
    except (InvalidData, ValueError, LookupError, TypeError, AttributeError):
        return []  # what is wrong with it is told when it is read


def _once(entries: Sequence[Entry], sink: Sink) -> Iterator[Entry]:
    """The entries, each name once."""
    first: dict[str, Entry] = {}
    for entry in entries:
        other = first.setdefault(entry.name, entry)
        if other is entry:
            yield entry
        elif not _same(other, entry):  # a recording that several people labelled is stored with each of its clips
            sink(problem("SAF104", entry.path, f"Appears twice (also in {other.path.partition('!/')[0]})"))


def _same(one: Entry, other: Entry) -> bool:
    """Whether two files have the same bytes."""
    if one.size != other.size:
        return False
    with one.open() as first, other.open() as second:
        streams = (cast("io.BufferedReader", stream) for stream in (first, second))
        return len({hashlib.file_digest(stream, "sha256").digest() for stream in streams}) == 1


def _shard(entry: Entry, told: frozenset[str], sink: Sink, limits: Limits) -> list[Entry] | None:
    """The files that a shard holds; None if it is none. Of what no manifest has *told*, readers of tables may tell."""
    if entry.local is None or not (entry.name.endswith(".parquet") or _TAR.search(entry.name)):
        return None
    try:
        with guard(entry.path), entry.open() as stream:
            if entry.name.endswith(".tar"):
                packed = OnDisk(str(entry.local), entry.path)
                members = _samples(collected(tar_members(packed, entry.path), entry.path, sink, limits), stream, entry)
            else:
                from seldio.files.parquet_files import cells

                members = cells(entry, stream, limits)
    except InvalidData as error:
        if entry.name in told or entry.name.endswith(".tar") or error.finding.code != "SAF107":
            sink(error.finding)
        return None
    if members is None:
        return None
    times: list[list[Member]] = [[]]  # which are there for the first time, for the second, …
    seen: Counter[str] = Counter()
    for member in members:
        time = seen[member.name] if isinstance(member.start, Stretch) else 0  # what is unpacked counts as a whole
        seen[member.name] += 1
        times += [[]] * (time == len(times))
        times[time].append(member)
    return [one for some in times for one in admitted(some, entry.path, None, sink, limits)]


def _samples(members: Sequence[Member], stream: BinaryIO, entry: Entry) -> list[Member] | None:
    """The files of all samples under the names that they had; None where no sample tells of any."""
    names: dict[str, str] = {}
    records: set[str] = set()
    for member in members:
        key, _, kind = member.name.partition(".")
        if kind == "json" and member.at is not None and member.size <= _RECORD:
            stream.seek(member.at)
            record = json.loads(stream.read(member.size))
            if isinstance(record, dict) and isinstance(files := record.get("files"), dict):
                if not all(isinstance(name, str) for name in files.values()):
                    raise ValueError(f"{printable(member.name)} contains file names that are not text")
                names |= {f"{key}.{inside}": name for inside, name in files.items()}
                records.add(member.name)
    if not records:
        return None
    real = str(entry.local)
    return [
        dataclasses.replace(
            member, raw=names.get(member.name, member.raw),
            start=member.start if member.at is None else Stretch(real, member.at, member.size),
        )
        for member in members if member.name not in records
    ]  # fmt: skip
