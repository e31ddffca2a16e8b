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
from contextlib import ExitStack, closing, suppress
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
_ZIP_HEADERS, _TAR_HEADER = 2**25, 2**20  # most bytes of headers: parsed, they take many times that in memory
#: What extended headers of a tar may cost to parse, in bytes: in all, for each member, and beside its bytes a record.
_EXTENDED, _EXTENDED_MEMBER, _RECORD = 2**24, 2**11, 2**6
_GLOBAL = 256  # most global records
_ZSTANDARD = 93  # method of a zip's member
_DIGITS = re.compile(rb"\d{100}")
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


class Packed:
    """An opened archive, or one that is opened when it is first read. It can be pickled."""

    closed = False

    def stream(self) -> IO[bytes]:
        """Return its bytes, seekable, with a position of their own."""
        raise NotImplementedError

    def close(self) -> None:
        """Let nothing more be read."""
        self.closed = True


class Memory(Packed):
    """An archive in memory, as it came from standard input."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self) -> IO[bytes]:
        """See :class:`Packed`."""
        return io.BytesIO(self._data)


class OnDisk(Packed):
    """An archive on disk. What was opened stays readable here and in forks, whatever takes its place."""

    def __init__(self, real: str, path: str) -> None:
        self._real, self._path = real, path
        self._handle: Handle | None = Handle(*open_regular(real, path))
        self._stamp = self._handle.stamp

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_handle": None}

    def stream(self) -> IO[bytes]:
        """See :class:`Packed`."""
        if self._handle is None:
            handle = Handle(*open_regular(self._real, self._path))
            if handle.stamp != self._stamp:
                raise SeldioError(f"{printable(self._path)} has changed since it was opened: open the dataset again")
            self._handle = handle
        return self._handle.stream()

    def close(self) -> None:
        """See :class:`Packed`."""
        self.closed = True
        if self._handle is not None:
            self._handle.close()


class Inflated(Packed):
    """A compressed tar, inflated once in each process: jumping about in it would inflate it again for each member.

    It lies in memory or, if it is large, in a nameless temporary file.
    """

    def __init__(self, packed: Packed, unpack: Callable[[IO[bytes]], Any], cap: int, path: str) -> None:
        self._packed, self._unpack, self._cap, self._path = packed, unpack, cap, path
        self._lock = threading.Lock()
        self._inflated: Memory | Handle | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Inflated, (self._packed, self._unpack, self._cap, self._path), {"closed": self.closed}

    def stream(self) -> IO[bytes]:
        """See :class:`Packed`."""
        with self._lock:
            if self._inflated is None:
                self._inflated = self._inflate()
        return self._inflated.stream()

    def _inflate(self) -> Memory | Handle:
        with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
            with self._packed.stream() as stream, self._unpack(stream) as opened:
                while chunk := opened.read(CHUNK):
                    spool.write(chunk)
                    if spool.tell() > self._cap:
                        raise InvalidData(problem("SAF105", self._path, f"Unpacks to more than {self._cap:,} bytes"))
            size = spool.tell()
            if size <= _SPOOL:
                spool.seek(0)
                return Memory(spool.read())
            spool.flush()
            return Handle(os.dup(spool.fileno()), size)

    def close(self) -> None:
        """See :class:`Packed`."""
        self.closed = True
        if self._inflated is not None:
            self._inflated.close()


# --- what is in them -------------------------------------------------------------------------------------


def open_packed(plain: Entry, kind: Kind, packed: Packed, sink: Sink, limits: Limits) -> Source:
    """Return the source that *packed* turns out to be; *plain* is its only entry if it is not an archive."""
    path = plain.path
    with ExitStack() as stack:
        stack.enter_context(closing(packed))
        with guard(path), packed.stream() as stream:
            archive, unpack = _recognised(stream)
        if archive == "file" or (archive == "zip" and plain.name.lower().endswith(_WHOLE)):
            return Source(path, kind, (plain,) if kind == "stdin" else checked([plain], sink))
        if unpack and archive == "gzip":
            name = re.sub(r"\.(gz|bz2|xz)$", "", plain.name, flags=re.IGNORECASE)
            cap = limits.unpacked(plain.size, limits.file_bytes)
            single = Entry(path, name, -1, cap, None, partial(_single, packed, unpack), packed)
            return Source(path, archive, (single,), stack.pop_all())
        if archive == "zip":
            members = _Zip(packed, path).members()
        else:
            if unpack:
                cap = max(limits.unpacked(plain.size, limits.total_bytes), min(_TARS, limits.total_bytes))
                packed = Inflated(packed, unpack, cap, path)
                stack.enter_context(closing(packed))
            members = tar_members(packed, path)
        readable = collected(members, path, sink, limits)
        entries = checked(admitted(readable, path, packed, sink, limits), sink)
        dotted = [entry.name for entry in entries if entry.name.rpartition("/")[2].count(".") > 1]
        if archive == "tar" and dotted:
            names = f"{plural(len(dotted), 'name')} ({listed(dotted)})"
            sink(problem("SAF111", path, f"More than one dot in {names}"))
        return Source(path, archive, entries, stack.pop_all())


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
    opened = unpack(packed.stream())
    if any(re.match(magic, opened.peek(10)) for magic, _ in _UNPACKERS):
        raise ValueError("compressed twice")
    return opened


#: Files of a folder that are read as what gzip packed into them: text, which is read as a whole.
_PACKED_TEXT = re.compile(r"(?i)\.(csv|tsv|txt|json|jsonl|ndjson|eaf|jams)\.gz$")
#: So many times as large as a file is what gzip packs into it, at most.
_GZIP_MOST = 1032


@dataclass(frozen=True, slots=True)
class Gunzipped(Inside):
    """The content of a file that is packed by gzip."""

    def __call__(self) -> Any:
        """See :class:`Inside`."""
        return _single(OnDisk(self.real, self.real), gzip.open)


def inflating(entries: Sequence[Entry], sink: Sink, limits: Limits) -> tuple[Entry, ...]:
    """Return the files of a folder; text that is packed by gzip (``a.csv.gz``) is read as what is in it (``a.csv``).

    Such a file ends with its unpacked size, and is never read further than that.
    """
    taken = {entry.name for entry in entries}
    read: list[Entry] = []
    for entry in entries:
        if not _PACKED_TEXT.search(entry.name) or entry.head(len(_GZIP)) != _GZIP:
            read.append(entry)
            continue
        name, cap = entry.name[: -len(".gz")], limits.unpacked(entry.size, limits.file_bytes)
        with entry.open() as stream:
            stream.seek(max(entry.size - 4, 0))
            size = int.from_bytes(stream.read(4), "little")
        if name in taken:
            sink(problem("SAF104", entry.path, f"Appears twice, compressed and as {name}"))
        elif size > _GZIP_MOST * entry.size:
            sink(problem("SAF107", entry.path, "Damaged (cut short)"))
        elif size > cap:
            sink(problem("SAF105", entry.path, f"Unpacks to {size:,} bytes, from {entry.size:,} compressed"))
        else:
            read.append(replace(entry, name=name, size=size, _cap=size, real=None, _start=Gunzipped(str(entry.real))))
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


class _Bounded:
    """A stream for zipfile and tarfile that hands out no headers long enough to fill the memory."""

    def __init__(self, stream: IO[bytes], path: str, most: int) -> None:
        self._stream, self._path, self._most = stream, path, most
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, self._most + 1) if size >= 0 else self._most + 1)
        if len(data) > self._most:
            raise InvalidData(problem("SAF105", self._path, f"Has headers of more than {self._most:,} bytes"))
        return data


class _Zip:
    """A zip, whose directory each process reads once."""

    def __init__(self, packed: Packed, path: str) -> None:
        self._packed, self._path = packed, path
        self._archive: zipfile.ZipFile | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_archive": None}

    @property
    def archive(self) -> zipfile.ZipFile:
        """It, opened."""
        if self._archive is None:
            bounded: Any = _Bounded(self._packed.stream(), self._path, _ZIP_HEADERS)
            self._archive = zipfile.ZipFile(bounded)
        return self._archive

    def start(self, info: zipfile.ZipInfo) -> IO[bytes]:
        """Return a stream of a member."""
        if info.compress_type != _ZSTANDARD:  # which zipfile does not unpack before Python 3.14
            return self.archive.open(info)
        import pyarrow as pa

        stream = self._packed.stream()
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
        with self._packed.stream() as stream:
            whole = stream.seek(0, io.SEEK_END)
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
    packed = Memory(data)
    plain = Entry(path, name, len(data), limits.file_bytes, None, packed.stream)
    return open_packed(plain, "stdin", packed, sink, limits)


def tar_members(packed: Packed, path: str) -> Iterator[Member]:
    """Yield the members of a tar, as its headers come."""
    body = packed.stream()
    archive = _Tar(_Bounded(body, path, _TAR_HEADER), path)
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
        archive.afford += _EXTENDED_MEMBER
    body.seek(archive.offset)  # tarfile takes a damaged header for the end
    if body.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("no end mark")


def _tar_member(packed: Packed, at: int, size: int, sparse: Sequence[tuple[int, int]] | None) -> IO[bytes]:
    """Return a stream of a member, which may have holes."""
    archive: Any = SimpleNamespace(fileobj=packed.stream())
    member: Any = SimpleNamespace(offset_data=at, size=size, name="", sparse=sparse)
    return tarfile.ExFileObject(archive, member)


class _Tar(tarfile.TarFile):
    """A tar whose extended headers take no longer to parse than their number of bytes and members allows."""

    def __init__(self, stream: Any, path: str) -> None:
        self.path, self.afford = path, _EXTENDED
        super().__init__(fileobj=stream, encoding="utf-8", errors="surrogateescape", tarinfo=_TarHeader)

    def check(self, header: bytes, everywhere: bool) -> None:
        """See that an extended header is one, before tarfile searches it again and again (CVE-2024-6232)."""
        place = records = 0
        while place < len(header) and header[place]:
            length, space, _ = header[place : place + 9].partition(b" ")
            end = place + int(length)
            equals = header.find(b"=", place, end)
            if not space or equals < 0 or header[end - 1 : end] != b"\n":
                raise tarfile.ReadError("bad extended header")
            place, records = end, records + 1
        self.afford -= len(header) + records * _RECORD
        many = everywhere and len(self.pax_headers) + records > _GLOBAL
        if many or self.afford < 0 or _DIGITS.search(header):
            raise InvalidData(problem("SAF105", self.path, "Has too many or too long extended headers"))


class _TarHeader(tarfile.TarInfo):
    """A header of a :class:`_Tar`."""

    def _proc_pax(self, archive: Any) -> Any:
        here = archive.fileobj.tell()
        archive.check(archive.fileobj.read(self.size), self.type == tarfile.XGLTYPE)
        archive.fileobj.seek(here)
        return super()._proc_pax(archive)  # type: ignore[misc]


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
        sink(error.finding)
    return readable


def admitted(members: Sequence[Member], path: str, owner: Packed | None, sink: Sink, limits: Limits) -> Iterator[Entry]:
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
        elif finding := _flawed(member, place, first.get(name), max(cap, member.size) if plain else cap, limits):
            sink(finding)
        elif member.size > left and not plain:
            sink(problem("SAF105", place, f"Brings the archive to over {limits.total_bytes:,} bytes unpacked"))
            return
        else:
            left -= 0 if plain else max(member.size, 0)
            first[name] = member
            yield Entry(f"{path}!/{name}", name, member.size, cap, None, member.start, owner)


def safe(name: str, path: str, sink: Sink, limits: Limits) -> bool:
    """Return whether a file may have the *name* that is told of it elsewhere; a finding about *path* if it may not."""
    member = Member(name, 0, 0, 0, 0, io.BytesIO)
    finding = _unsafe(member, path, set()) or _flawed(member, path, None, 0, limits)
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


def _flawed(member: Member, place: str, first: Member | None, cap: int, limits: Limits) -> Finding | None:
    if first:
        both = " and ".join(f"{plural(m.size, 'byte')} at offset {m.offset:,}" for m in (first, member))
        return problem("SAF104", place, f"Appears twice ({both})")
    if member.locked:
        return problem("SAF107", place, "Encrypted")
    if len(member.name) > limits.name_chars:
        return problem("SAF105", place, f"The name has {len(member.name):,} characters")
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
