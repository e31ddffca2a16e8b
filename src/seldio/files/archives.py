"""Archives and compressed files: told by their first bytes, read in place, and unsafe members left out.

No name from an archive reaches the disk. Members can be read in any thread and process, see
:mod:`seldio.files.entries`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import IO, Any

from seldio.errors import InvalidData, SeldioError
from seldio.files.entries import (
    CHUNK,
    DAMAGE,
    Entry,
    Handle,
    Inside,
    Kind,
    Limits,
    Source,
    Stretch,
    checked,
    guard,
    hidden,
    open_regular,
    problem,
    special,
)
from seldio.findings import Finding, Sink
from seldio.text import listed, plural, printable

_Unpacker = Callable[..., Any]  # ``open`` of gzip, bz2 and lzma

#: Zips that are files: a workbook, renamed; a log of inspect_ai, which its format opens.
_WHOLE = (".csv", ".eval")
_TARS = 2**26  # bytes that a compressed tar may have in any case
_SPOOL = 2**26  # bytes of an inflated tar that are kept in memory
_ZSTANDARD = 93  # method of a zip's member
_DIRECTORY = 2**25  # most bytes of a zip's list of members: parsed, they take ten times that in memory
#: Extended headers of a tar: most bytes in all, and besides for each member, and most records that hold for all.
_EXTENDED, _EXTENDED_MEMBER, _GLOBAL = 2**22, 2**11, 256
_LONG_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_RECORDS = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.XGLTYPE)
_RECORD, _DIGITS = re.compile(rb"(\d{1,7}) "), re.compile(rb"\d{100}")
_GZIP = b"\x1f\x8b"
_UNPACKERS: tuple[tuple[bytes, _Unpacker], ...] = (
    (_GZIP, gzip.open),
    (rb"BZh[1-9]1AY&SY", bz2.open),
    (rb"\xfd7zXZ\x00", lzma.open),
)
_TAR_MODES = {
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.LNKTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
    tarfile.DIRTYPE: stat.S_IFDIR,
}


# --- the bytes of archives -----------------------------------------------------------------------------

#: Returns a seekable stream of the bytes of an archive, with a position of its own. It can be pickled.
Packed = Callable[[], IO[bytes]]


class OnDisk:
    """An archive on disk, which each stream opens anew."""

    def __init__(self, real: str, path: str) -> None:
        self._real, self._path = real, path
        self._stamp = Handle(*open_regular(real, path)).stamp

    def __call__(self) -> IO[bytes]:
        """Return a stream of it; raise SeldioError where another archive has taken its place."""
        handle = Handle(*open_regular(self._real, self._path))
        if handle.stamp != self._stamp:
            raise SeldioError(f"{printable(self._path)} has changed since it was opened: open the dataset again")
        return handle.stream()


class Inflated:
    """A compressed tar, inflated once in each process: jumping about in it would inflate it again for each member.

    It lies in memory or, if it is large, in a nameless temporary file.
    """

    def __init__(self, packed: Packed, unpack: Callable[[IO[bytes]], Any], cap: int, path: str) -> None:
        self._given = packed, unpack, cap, path
        self._lock = threading.Lock()
        self._stream: Packed | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Inflated, self._given

    def __call__(self) -> IO[bytes]:
        """Return a stream of the tar."""
        with self._lock:
            if self._stream is None:
                self._stream = self._inflate(*self._given)
        return self._stream()

    @staticmethod
    def _inflate(packed: Packed, unpack: Callable[[IO[bytes]], Any], cap: int, path: str) -> Packed:
        with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
            with packed() as stream, unpack(stream) as opened:
                while chunk := opened.read(CHUNK):
                    spool.write(chunk)
                    if spool.tell() > cap:
                        raise InvalidData(problem("SAF105", path, f"Unpacks to more than {cap:,} bytes"))
            size = spool.tell()
            if size <= _SPOOL:
                spool.seek(0)
                return partial(io.BytesIO, spool.read())
            spool.flush()
            return Handle(os.dup(spool.fileno()), size).stream


# --- what is in them -------------------------------------------------------------------------------------


def open_packed(plain: Entry, kind: Kind, packed: Packed, sink: Sink, limits: Limits) -> Source:
    """Return the source that *packed* turns out to be; *plain* is its only entry if it is not an archive."""
    path = plain.path
    with guard(path), packed() as stream:
        archive, unpack = _recognised(stream)
    if archive == "file" or (archive == "zip" and plain.name.lower().endswith(_WHOLE)):
        return Source(path, kind, (plain,) if kind == "stdin" else checked([plain], sink))
    if unpack and archive == "gzip":
        name = re.sub(r"\.(gz|bz2|xz)$", "", plain.name, flags=re.IGNORECASE)
        cap = limits.unpacked(plain.size, limits.file_bytes)
        return Source(path, archive, (Entry(path, name, -1, cap, None, partial(_single, packed, unpack)),))
    if unpack:
        cap = max(limits.unpacked(plain.size, limits.total_bytes), min(_TARS, limits.total_bytes))
        packed = Inflated(packed, unpack, cap, path)
    members = _Zip(packed).members() if archive == "zip" else tar_members(packed)
    readable = collected(members, path, sink, limits)
    entries = checked(admitted(readable, path, sink, limits), sink)
    dotted = [entry.name for entry in entries if entry.name.rpartition("/")[2].count(".") > 1]
    if archive == "tar" and dotted:
        names = f"{plural(len(dotted), 'name')} ({listed(dotted)})"
        sink(problem("SAF111", path, f"More than one dot in {names}"))
    return Source(path, archive, entries)


def _recognised(stream: IO[bytes]) -> tuple[Kind, _Unpacker | None]:
    """Detect the kind of archive by its first bytes, and return it with its unpacker."""
    head = stream.read(tarfile.BLOCKSIZE)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip", None
    unpack = next((unpack for magic, unpack in _UNPACKERS if re.match(magic, head)), None)
    if unpack:
        stream.seek(0)
        with suppress(*DAMAGE, OSError):
            head = unpack(stream).read(tarfile.BLOCKSIZE)
    with suppress(tarfile.TarError, ValueError):
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
        return "tar", unpack
    return "gzip" if unpack else "file", unpack


def _single(packed: Packed, unpack: _Unpacker) -> Any:
    opened = unpack(packed())
    if any(re.match(magic, opened.peek(10)) for magic, _ in _UNPACKERS):
        raise ValueError("compressed twice")
    return opened


#: Files of a folder that are read as what gzip packed into them: text, which is read as a whole.
_PACKED_TEXT = re.compile(r"(?i)\.(csv|tsv|txt|json|jsonl|ndjson|eaf|jams)\.gz$")


@dataclass(frozen=True, slots=True)
class Gunzipped(Inside):
    """The content of a file that is packed by gzip."""

    def __call__(self) -> Any:
        """See :class:`Inside`."""
        return _single(OnDisk(self.real, self.real), gzip.open)


def inflating(entries: Sequence[Entry], sink: Sink, limits: Limits) -> tuple[Entry, ...]:
    """Return the files of a folder; text that is packed by gzip (``a.csv.gz``) is read as what is in it (``a.csv``)."""
    taken = {entry.name for entry in entries}
    read: list[Entry] = []
    for entry in entries:
        name = entry.name[: -len(".gz")]
        if not _PACKED_TEXT.search(entry.name) or entry.head(len(_GZIP)) != _GZIP:
            read.append(entry)
        elif name in taken:
            sink(problem("SAF104", entry.path, f"Appears twice, compressed and as {name}"))
        else:
            cap = limits.unpacked(entry.size, limits.file_bytes)
            read.append(Entry(entry.path, name, -1, cap, None, Gunzipped(str(entry.real))))
    return tuple(sorted(read, key=attrgetter("name")))


@dataclass(frozen=True, slots=True)
class Member:
    """The header of one member in an archive."""

    raw: str  # its name as it stands there
    mode: int  # kind of file and rights
    size: int  # bytes when unpacked
    packed: int  # bytes in the archive
    offset: int  # of its header
    start: Callable[[], Any]  # opens it
    locked: bool = False  # whether it is encrypted
    at: int | None = None  # where its bytes begin, if they lie in the archive as they are

    @property
    def name(self) -> str:
        """The name without what means nothing in it."""
        return "/".join(part for part in self.raw.split("/") if part not in ("", "."))


class _Zip:
    """A zip, whose directory each process reads once: forks would share the position of its file."""

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        self._archive: zipfile.ZipFile | None = None
        self._process = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_archive": None}

    @property
    def archive(self) -> zipfile.ZipFile:
        """The opened archive of this process."""
        if self._archive is None or self._process != os.getpid():
            self._archive, self._process = zipfile.ZipFile(self._packed()), os.getpid()
        return self._archive

    def start(self, info: zipfile.ZipInfo) -> IO[bytes]:
        """Return a stream of a member."""
        if info.compress_type != _ZSTANDARD:  # which zipfile does not unpack before Python 3.14
            return self.archive.open(info)
        import pyarrow as pa

        stream = self._packed()
        stream.seek(info.header_offset)
        magic, name, extra = struct.unpack("<4s22xHH", stream.read(30))
        if magic != b"PK\x03\x04":
            raise zipfile.BadZipFile("no header where the directory has one")
        stream.seek(name + extra, io.SEEK_CUR)
        packed = pa.CompressedInputStream(pa.BufferReader(stream.read(info.compress_size)), "zstd")
        data = bytes(packed.read(info.file_size + 1))
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("bad CRC-32")
        return io.BytesIO(data)

    def members(self) -> Iterator[Member]:
        """Yield its members, as its directory lists them."""
        with self._packed() as stream:
            whole = stream.seek(0, io.SEEK_END)
            end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]
        if end and min(end[5], whole) > _DIRECTORY:  # its size, which may be a lie
            raise InvalidData(problem("SAF105", "", f"Lists its files in more than {_DIRECTORY:,} bytes"))
        for info in self.archive.infolist():
            name = info.orig_filename
            if info.header_offset + info.compress_size > whole:
                raise zipfile.BadZipFile(f"the list of its files says that {printable(name)} goes beyond its end")
            if not info.flag_bits & 0x800:  # many programs store UTF-8 without saying so
                with suppress(UnicodeError):
                    name = name.encode("cp437").decode("utf-8")
            mode = stat.S_IFDIR if info.is_dir() else info.external_attr >> 16
            sizes = info.file_size, info.compress_size, info.header_offset
            yield Member(name, mode, *sizes, partial(self.start, info), bool(info.flag_bits & 1))


def open_bytes(data: bytes, path: str, name: str, sink: Sink, limits: Limits) -> Source:
    """Return the source that *data* in memory, called *name*, turns out to be, as :func:`open_packed` does."""
    packed = partial(io.BytesIO, data)
    return open_packed(Entry(path, name, len(data), limits.file_bytes, None, packed), "stdin", packed, sink, limits)


def tar_members(packed: Packed) -> Iterator[Member]:
    """Yield the members of a tar, as its headers come."""
    body = packed()
    archive = tarfile.TarFile(fileobj=body, encoding="utf-8", errors="surrogateescape", tarinfo=_TarHeader)
    last = -1
    while info := archive.next():
        if info.offset <= last or info.size < 0:  # tarfile would go round for ever (CVE-2025-8194)
            raise tarfile.ReadError("headers overlap")
        last = info.offset
        mode = _TAR_MODES.get(info.type, stat.S_IFREG) | stat.S_IMODE(info.mode)
        sparse: Any = info.sparse
        start = partial(_tar_member, packed, info.offset_data, info.size, sparse)
        at = info.offset_data if not info.issparse() and not isinstance(packed, Inflated) else None
        packed_size = sum(size for _, size in sparse) if info.issparse() else info.size
        yield Member(info.name, mode, info.size, packed_size, info.offset, start, at=at)
    body.seek(archive.offset)  # tarfile takes a damaged header for the end
    if body.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("no end mark")


class _TarHeader(tarfile.TarInfo):
    """A header of a tar. For odd extended ones, tarfile takes hours until Python 3.11.10 (CVE-2024-6232)."""

    def _proc_member(self, archive: Any) -> Any:
        if self.type in (*_LONG_NAMES, *_RECORDS):
            start = archive.fileobj.tell()
            archive.extended = getattr(archive, "extended", 0) + max(self.size, 0)
            bad = self.size < 0 or archive.extended > _EXTENDED + _EXTENDED_MEMBER * len(archive.members)
            header = b"" if bad or self.type in _LONG_NAMES else archive.fileobj.read(self.size)
            archive.fileobj.seek(start)
            records = _count_records(header)
            bad |= self.type == tarfile.XGLTYPE and records + len(archive.pax_headers) > _GLOBAL
            if bad or _DIGITS.search(header):
                raise InvalidData(problem("SAF105", "", "Has too many or too long extended headers"))
        return super()._proc_member(archive)  # type: ignore[misc]


def _count_records(header: bytes) -> int:
    """Return how many records an extended header holds; raise ReadError if they do not follow one another."""
    records = place = 0
    while header[place : place + 1].strip(b"\0"):
        length = _RECORD.match(header, place)
        end = place + int(length[1]) if length else place
        if b"=" not in header[place:end] or header[end - 1 : end] != b"\n":
            raise tarfile.ReadError("bad extended header")
        records, place = records + 1, end
    return records


def _tar_member(packed: Packed, at: int, size: int, sparse: Sequence[tuple[int, int]] | None) -> IO[bytes]:
    """Return a stream of a member, which may have holes."""
    archive: Any = SimpleNamespace(fileobj=packed())
    member: Any = SimpleNamespace(offset_data=at, size=size, name="", sparse=sparse)
    return tarfile.ExFileObject(archive, member)


def collected(members: Iterable[Member], path: str, sink: Sink, limits: Limits) -> list[Member]:
    """Return the members as far as the archive can be read; a finding where it is damaged or over a limit."""
    readable: list[Member] = []
    try:
        with guard(path):
            for member in members:
                if len(readable) == limits.members:
                    raise InvalidData(problem("SAF105", path, f"Holds more than {limits.members:,} members"))
                readable.append(member)
    except InvalidData as error:
        sink(replace(error.finding, path=path))
    return readable


def admitted(members: Sequence[Member], path: str, sink: Sink, limits: Limits) -> Iterator[Entry]:
    """Yield the members that are safe to read, under names that are; a finding for each of the others."""
    links = {member.name for member in members if stat.S_ISLNK(member.mode)}
    first: dict[str, Member] = {}
    left = limits.total_bytes
    for member in members:
        name, place = member.name, f"{path}!/{member.raw}"
        plain = isinstance(member.start, Stretch)  # read in place: nothing is unpacked
        cap = limits.file_bytes if plain else limits.unpacked(member.packed, limits.file_bytes)
        if finding := _unsafe(member, place, links):
            sink(finding)
        elif stat.S_ISDIR(member.mode) or any(hidden(part) for part in name.split("/")):
            continue
        elif finding := _flawed(member, place, first.get(name), max(cap, member.size) if plain else cap):
            sink(finding)
        elif member.size > left and not plain:
            sink(problem("SAF105", place, f"Brings the archive to over {limits.total_bytes:,} bytes unpacked"))
            return
        else:
            left -= 0 if plain else max(member.size, 0)
            first[name] = member
            yield Entry(f"{path}!/{name}", name, member.size, cap, None, member.start)


def safe(name: str, path: str, sink: Sink) -> bool:
    """Return whether a file may have the *name* that is told of it elsewhere; a finding about *path* if it may not."""
    member = Member(name, 0, 0, 0, 0, io.BytesIO)
    finding = _unsafe(member, path, set())
    if finding:
        sink(finding)
    return finding is None and member.name == name and not any(map(hidden, name.split("/")))


def _unsafe(member: Member, place: str, links: set[str]) -> Finding | None:
    flat = member.raw.replace("\\", "/")
    if flat.startswith("/") or re.match("[A-Za-z]:", flat):
        return problem("SAF101", place, "The name is absolute")
    if any(part.strip() == ".." for part in flat.split("/")):
        return problem("SAF101", place, "The name contains '..'")
    if "\0" in flat or not (member.name or stat.S_ISDIR(member.mode)):
        return problem("SAF101", place, "The name is empty or contains NUL")
    if stat.S_ISLNK(member.mode):
        return problem("SAF102", place, "A link")
    if links and any(str(parent) in links for parent in PurePosixPath(member.name).parents):
        return problem("SAF102", place, "Lies below a link")
    if stat.S_IFMT(member.mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return special(place, member.mode)
    return None


def _flawed(member: Member, place: str, first: Member | None, cap: int) -> Finding | None:
    if first:
        both = " and ".join(f"{plural(m.size, 'byte')} at offset {m.offset:,}" for m in (first, member))
        return problem("SAF104", place, f"Appears twice ({both})")
    if member.locked:
        return problem("SAF107", place, "Encrypted")
    if member.size > cap:
        return problem("SAF105", place, f"Unpacks to {member.size:,} bytes, from {member.packed:,} compressed")
    return None


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of *members*: sorted, stored and without a date."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(members.items()):
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, data)
    return stream.getvalue()
