"""Every touch of the disk: sources read in place and within limits, files written whole or not at all.

Archives are told by their first bytes, never by their suffix, and no name from an archive reaches the disk.
A *compressed* tar is inflated once, into memory or a nameless temporary file, since jumping about in it would
inflate it again for each member. What is unsafe becomes a finding (``SAF1xx``) and never an entry.
"""

# Plain strings and descriptors, not Path: a file is opened once, and what was opened is what is checked.
# ruff: noqa: PTH105, PTH108, PTH112, PTH113, PTH114, PTH116, PTH118, PTH119, PTH120

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import stat
import struct
import sys
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, Literal, Self

from seldio.errors import InvalidData, SeldioError, UsageError
from seldio.findings import Finding, Severity, Sink
from seldio.text import clipped, listed, plural, printable

Kind = Literal["file", "folder", "zip", "tar", "gzip", "stdin"]
_Unpacker = Callable[[IO[bytes]], Any]  # GzipFile, BZ2File, LZMAFile: alike, but without a common type

_WHY = {
    "SAF101": "unpacking would write outside the folder, so it is not read",
    "SAF102": "unpacking could write anywhere on the disk, so it is not read",
    "SAF103": "reading it may never end, so it is not opened",
    "SAF104": "unpacking keeps the last one, here the first is read",
    "SAF105": "that is over the limit which keeps memory and disk from filling up",
    "SAF106": "it would run with its owner's rights, which no data needs",
    "SAF107": "it cannot be read whole",
    "SAF108": "it is not followed",
    "SAF109": "other systems may refuse it or mix it up",
    "SAF111": "WebDataset takes only what stands before the first dot for the sample's key",
}
_HINTS = {
    "SAF101": "Do not unpack this archive; pack it again from inside its folder, with plain relative names.",
    "SAF102": "Pack the linked file itself (tar --dereference; zip without --symlinks).",
    "SAF103": "Remove it; to read from a pipe, name the file '-'.",
    "SAF104": "Pack the archive again, with one file per name.",
    "SAF105": "If you trust it, unpack it yourself or raise the limit (seldio.files.Limits).",
    "SAF106": "Clear the bits: chmod ug-s FILE.",
    "SAF107": "Fetch or pack the file again.",
    "SAF108": "Put the file itself in place of the link, or name the folder that holds both.",
    "SAF109": "Rename it: letters, digits, '_', '-' and one '.' before the suffix work everywhere.",
    "SAF111": "Use names with a single dot, as in a_b.wav.",
}
_WARNINGS = ("SAF106", "SAF109", "SAF111")
_SEVERITY = dict.fromkeys(_WHY, Severity.ERROR) | dict.fromkeys(_WARNINGS, Severity.WARNING)

#: Skipped in folders and archives, as is every name that begins with a dot.
SKIPPED = frozenset({"__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini"})

_CHUNK, _SPOOL = 2**16, 2**26  # bytes read at once; bytes of an inflated tar kept in memory
_ZIP_HEADERS, _TAR_HEADER = 2**25, 2**20  # most bytes of headers: parsed, they take many times that in memory
_UNPACKERS: tuple[tuple[bytes, _Unpacker], ...] = (
    (rb"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream)),
    (rb"BZh[1-9]1AY&SY", bz2.BZ2File),
    (rb"\xfd7zXZ\x00", lzma.LZMAFile),
)
# What the standard library raises on damaged and forged archives; a fuzz test holds that this is all.
_DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, RuntimeError, OverflowError, LookupError),
)
_TAR_MODES = {
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.LNKTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
    tarfile.DIRTYPE: stat.S_IFDIR,
}
_ON_WINDOWS = {
    "holds a character that Windows forbids": re.compile(r"[<>:|?*\\]"),
    "ends in a dot or space, which Windows drops": re.compile(r"[. ](/|$)"),
    "is kept for a device on Windows": re.compile(r"(?i)(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.[^/]*)?(/|$)"),
}
_SAFE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_READ = os.O_RDONLY | _SAFE | getattr(os, "O_NONBLOCK", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE


@dataclass(frozen=True, slots=True)
class Limits:
    """What a source may ask of this machine; whatever is over a limit is a ``SAF105`` finding.

    Args:
        file_bytes: one file, or one member of an archive, read as a whole.
        members: members of one archive, or files of one folder.
        total_bytes: all members of one archive together, unpacked.
        ratio: unpacked to packed size, of what unpacks to more than 1 MiB (a compressed tar: 64 MiB).
        name_chars: a name with its folders.
    """

    file_bytes: int = 256 * 2**20
    members: int = 200_000
    total_bytes: int = 4 * 2**30
    ratio: int = 200
    name_chars: int = 1024

    def unpacked(self, packed: int, most: int) -> int:
        """How many bytes *packed* bytes may unpack to; never over *most*."""
        return min(most, max(2**20, self.ratio * packed))


DEFAULTS = Limits()


def _finding(code: str, path: str, what: str) -> Finding:
    return Finding(code, _SEVERITY[code], f"{what}: {_WHY[code]}", path, hint=_HINTS[code])


def _special(path: str, mode: int) -> Finding:
    kind = "A named pipe" if stat.S_ISFIFO(mode) else "A socket" if stat.S_ISSOCK(mode) else "A device"
    return _finding("SAF103", path, kind)


def _failure(path: str, error: OSError, deed: str = "read") -> SeldioError:
    if deed == "read" and isinstance(error, FileNotFoundError):
        return SeldioError(f"{printable(path)} vanished while it was being read")
    return SeldioError(f"cannot {deed} {printable(path)}: {error.strerror or error}")


@contextmanager
def _guard(path: str) -> Iterator[None]:
    """Turn what damaged archives and failing disks raise into InvalidData and SeldioError."""
    try:
        yield
    except (*_DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise _failure(path, error) from error
        reason = clipped(str(error) or type(error).__name__, 200)
        raise InvalidData(_finding("SAF107", path, f"Damaged ({reason})")) from error


@dataclass(frozen=True, slots=True)
class Entry:
    """One regular file of a source.

    Args:
        path: the file as shown to the user: ``folder/a.csv``, ``x.zip!/a.csv``, ``<stdin>``.
        name: POSIX path relative to the source's root; for a single file its file name.
        size: bytes when unpacked; -1 if unknown.
    """

    path: str
    name: str
    size: int
    _cap: int = field(repr=False)
    _real: str | None = field(default=None, repr=False)
    _start: Callable[[], Any] = field(default=io.BytesIO, repr=False)
    _owner: IO[bytes] | None = field(default=None, repr=False)

    @property
    def local(self) -> Path | None:
        """The real file on disk, links resolved; None in archives and standard input."""
        return None if self._real is None else Path(self._real)

    def read(self) -> bytes:
        """The whole content.

        Raises:
            InvalidData: a limit is passed (``SAF105``) or the data is damaged (``SAF107``).
            SeldioError: the disk fails, or the file vanished or may not be read.
        """
        if self._real is not None:
            return _read_regular(self._real, self.path, self._cap)
        if self._owner is not None and self._owner.closed:
            raise SeldioError(f"{printable(self.path)} belongs to a source that is closed")
        data = io.BytesIO()
        with _guard(self.path), self._start() as stream:
            while chunk := stream.read(_CHUNK):  # counted here, whatever the headers say
                data.write(chunk)
                if data.tell() > self._cap:
                    raise InvalidData(_finding("SAF105", self.path, f"Unpacks to over {self._cap:,} bytes"))
        return data.getvalue()

    def open(self) -> BinaryIO:
        """A seekable stream of the content, to be closed by the caller; raises what :meth:`read` raises.

        A real file may have any size, since a stream of it fills no memory; what comes out of an archive is
        held in memory.
        """
        if self._real is not None:
            return os.fdopen(_open_regular(self._real, self.path)[0], "rb")
        return io.BytesIO(self.read())


def _open_regular(real: str, path: str) -> tuple[int, int]:
    """Descriptor and size of a regular file; a named pipe put in its place does not block."""
    try:
        handle = os.open(real, _READ)
    except OSError as error:
        raise _failure(path, error) from error
    state = os.fstat(handle)
    if stat.S_ISREG(state.st_mode):
        return handle, state.st_size
    os.close(handle)
    raise InvalidData(_special(path, state.st_mode))


def _read_regular(real: str, path: str, cap: int) -> bytes:
    handle, size = _open_regular(real, path)
    try:
        parts = [os.read(handle, min(size, cap) + 1)]
        total = len(parts[0])
        if total == size <= cap:
            return parts[0]
        while parts[-1] and total <= cap:  # it grows or shrinks, or hides its size as /proc does
            parts.append(os.read(handle, _CHUNK))
            total += len(parts[-1])
    except OSError as error:
        raise _failure(path, error) from error
    finally:
        os.close(handle)
    if total > cap:
        raise InvalidData(_finding("SAF105", path, f"Holds more than {cap:,} bytes"))
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Source:
    """The regular files of a file, folder, archive or standard input; a context manager.

    Args:
        path: the source as the user named it.
        kind: *tar* may be compressed; *gzip* is one file packed by gzip, bzip2 or xz.
        entries: sorted by name, by code point (which is the byte order of UTF-8) in every locale.
    """

    path: str
    kind: Kind
    entries: tuple[Entry, ...]
    _stack: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive; its entries can no longer be read."""
        self._stack.close()


def open_source(path: str | os.PathLike[str], sink: Sink, limits: Limits = DEFAULTS) -> Source:
    """The files of *path*: a file, folder or archive, or ``-`` for standard input.

    What is unsafe, odd or damaged goes to *sink* as ``SAF1xx`` findings.

    Raises:
        UsageError: nothing has that name.
        SeldioError: it may not be read, or the disk fails.
    """
    given = os.fspath(path)
    if given == "-":
        return _open_stdin(sink, limits)
    try:
        os.lstat(given)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise UsageError(f"no such file or folder: {clipped(given, 200)}") from None
    except OSError as error:
        raise _failure(given, error) from error
    real, mode, size = _followed(given, given, sink)
    if stat.S_ISDIR(mode):
        return Source(given, "folder", _checked(_walk(given, real, sink, limits), sink))
    if stat.S_ISREG(mode):
        _check_bits(given, mode, sink)
        plain = Entry(given, os.path.basename(given), size, limits.file_bytes, real)
        return _open_stream(plain, "file", plain.open(), sink, limits)
    if mode:
        sink(_special(given, mode))
    return Source(given, "file", ())


def read_entries(source: Iterable[Entry], sink: Sink) -> Iterator[tuple[Entry, bytes]]:
    """Each entry with its content; one that is damaged or over a limit goes to *sink* instead.

    Raises:
        SeldioError: the disk fails, or a file vanished or may not be read.
    """
    for entry in source:
        try:
            data = entry.read()
        except InvalidData as error:
            sink(error.finding)
        else:
            yield entry, data


def _open_stdin(sink: Sink, limits: Limits) -> Source:
    if sys.stdin is None or sys.stdin.closed:
        raise SeldioError("cannot read <stdin>: it is closed")
    data = bytearray()
    try:
        while len(data) <= limits.file_bytes and (chunk := sys.stdin.buffer.read(_CHUNK)):
            data += chunk
    except OSError as error:
        raise _failure("<stdin>", error) from error
    if len(data) > limits.file_bytes:
        sink(_finding("SAF105", "<stdin>", f"Holds more than {limits.file_bytes:,} bytes"))
        return Source("<stdin>", "stdin", ())
    start = partial(io.BytesIO, bytes(data))
    plain = Entry("<stdin>", "<stdin>", len(data), limits.file_bytes, None, start)
    return _open_stream(plain, "stdin", start(), sink, limits)


def _open_stream(plain: Entry, kind: Kind, stream: BinaryIO, sink: Sink, limits: Limits) -> Source:
    """The source that *stream* turns out to be; *plain* is its only entry if it is no archive."""
    path = plain.path
    with ExitStack() as stack:
        stack.enter_context(stream)
        with _guard(path):
            found, unpack = _recognised(stream)
        if found == "file":
            return Source(path, kind, (plain,) if kind == "stdin" else _checked([plain], sink))
        if unpack and found == "gzip":
            name = re.sub(r"\.(gz|bz2|xz)$", "", plain.name, flags=re.IGNORECASE)
            cap = limits.unpacked(plain.size, limits.file_bytes)
            single = Entry(path, name, -1, cap, None, partial(_single, stream, unpack), stream)
            return Source(path, found, (single,), stack.pop_all())
        if found == "zip":
            members = _zip_members(stream, path)
        else:
            cap = max(limits.unpacked(plain.size, limits.total_bytes), min(_SPOOL, limits.total_bytes))
            members = _tar_members(stream, path, partial(_inflated, stack, unpack, cap) if unpack else None)
        known = _collected(members, path, sink, limits)
        entries = _checked(_admitted(known, path, stream, sink, limits), sink)
        if found == "tar":
            _check_keys(path, entries, sink)
        return Source(path, found, entries, stack.pop_all())


def _recognised(stream: IO[bytes]) -> tuple[Kind, _Unpacker | None]:
    """What the first bytes say it is, and what unpacks it."""
    head = stream.read(tarfile.BLOCKSIZE)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip", None
    unpack = next((unpack for magic, unpack in _UNPACKERS if re.match(magic, head)), None)
    if unpack:
        stream.seek(0)
        with suppress(*_DAMAGE, OSError):
            head = unpack(stream).read(tarfile.BLOCKSIZE)
    with suppress(tarfile.TarError, ValueError):
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
        return "tar", unpack
    return "gzip" if unpack else "file", unpack


def _single(stream: IO[bytes], unpack: _Unpacker) -> Any:
    stream.seek(0)
    opened = unpack(stream)
    if any(re.match(magic, opened.peek(10)) for magic, _ in _UNPACKERS):
        raise ValueError("packed twice")
    return opened


def _inflated(stack: ExitStack, unpack: _Unpacker, cap: int, stream: IO[bytes], path: str) -> IO[bytes]:
    spool = stack.enter_context(tempfile.SpooledTemporaryFile(_SPOOL))  # noqa: SIM115
    with unpack(stream) as opened:
        while chunk := opened.read(_CHUNK):
            spool.write(chunk)
            if spool.tell() > cap:
                raise InvalidData(_finding("SAF105", path, f"Unpacks to more than {cap:,} bytes"))
    spool.seek(0)
    return spool


@dataclass(frozen=True, slots=True)
class _Member:
    """What an archive says of one member."""

    raw: str
    mode: int
    size: int
    packed: int
    offset: int
    start: Callable[[], Any]
    locked: bool = False

    @property
    def name(self) -> str:
        return "/".join(part for part in self.raw.split("/") if part not in ("", "."))


class _Bounded:
    """A stream for zipfile and tarfile that hands out no headers long enough to fill the memory."""

    def __init__(self, stream: IO[bytes], path: str, most: int) -> None:
        self._stream, self._path, self._most = stream, path, most
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, self._most + 1) if size >= 0 else self._most + 1)
        if len(data) > self._most:
            raise InvalidData(
                _finding("SAF105", self._path, f"Has headers of more than {self._most:,} bytes")
            )
        return data


def _zip_members(stream: IO[bytes], path: str) -> Iterator[_Member]:
    bounded: Any = _Bounded(stream, path, _ZIP_HEADERS)
    archive = zipfile.ZipFile(bounded)
    for info in archive.infolist():
        name = info.orig_filename
        if not info.flag_bits & 0x800:  # many programs store UTF-8 without saying so
            with suppress(UnicodeError):
                name = name.encode("cp437").decode("utf-8")
        mode = stat.S_IFDIR if info.is_dir() else info.external_attr >> 16
        sizes = info.file_size, info.compress_size, info.header_offset
        yield _Member(name, mode, *sizes, partial(archive.open, info), bool(info.flag_bits & 1))


def _tar_members(
    stream: IO[bytes], path: str, inflate: Callable[[IO[bytes], str], IO[bytes]] | None
) -> Iterator[_Member]:
    stream.seek(0)
    body = inflate(stream, path) if inflate else stream
    bounded: Any = _Bounded(body, path, _TAR_HEADER)
    archive = tarfile.TarFile(fileobj=bounded, encoding="utf-8", errors="surrogateescape")
    last = -1
    while info := archive.next():
        if info.offset <= last or info.size < 0:  # tarfile would go round for ever (CVE-2025-8194)
            raise tarfile.ReadError("headers overlap")
        last, start = info.offset, partial(archive.extractfile, info)
        mode = _TAR_MODES.get(info.type, stat.S_IFREG) | stat.S_IMODE(info.mode)
        yield _Member(info.name, mode, info.size, info.size, info.offset, start)
    body.seek(archive.offset)  # tarfile takes a damaged header for the end
    if body.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("no end mark")


def _collected(members: Iterable[_Member], path: str, sink: Sink, limits: Limits) -> list[_Member]:
    """The members as far as the archive can be read."""
    known: list[_Member] = []
    try:
        with _guard(path):
            for member in members:
                if len(known) == limits.members:
                    raise InvalidData(_finding("SAF105", path, f"Holds more than {limits.members:,} members"))
                known.append(member)
    except InvalidData as error:
        sink(error.finding)
    return known


def _admitted(
    members: list[_Member], path: str, owner: IO[bytes], sink: Sink, limits: Limits
) -> Iterator[Entry]:
    """The members that are safe to read; a finding for each of the others."""
    links = {member.name for member in members if stat.S_ISLNK(member.mode)}
    first: dict[str, _Member] = {}
    left = limits.total_bytes
    for member in members:
        name, place = member.name, f"{path}!/{member.raw}"
        cap = limits.unpacked(member.packed, limits.file_bytes)
        if finding := _unsafe(member, place, links):
            sink(finding)
        elif stat.S_ISDIR(member.mode) or any(_hidden(part) for part in name.split("/")):
            continue
        elif finding := _flawed(member, place, first.get(name), cap, limits):
            sink(finding)
        elif member.size > left:
            sink(
                _finding("SAF105", place, f"Brings the archive to over {limits.total_bytes:,} bytes unpacked")
            )
            return
        else:
            left -= member.size
            first[name] = member
            _check_bits(place, member.mode, sink)
            yield Entry(f"{path}!/{name}", name, member.size, cap, None, member.start, owner)


def _unsafe(member: _Member, place: str, links: set[str]) -> Finding | None:
    flat = member.raw.replace("\\", "/")
    if flat.startswith("/") or re.match("[A-Za-z]:", flat):
        return _finding("SAF101", place, "The name is absolute")
    if any(part.strip() == ".." for part in flat.split("/")):
        return _finding("SAF101", place, "The name climbs with '..'")
    if "\0" in flat or not (member.name or stat.S_ISDIR(member.mode)):
        return _finding("SAF101", place, "The name is empty or hides its end")
    if stat.S_ISLNK(member.mode):
        return _finding("SAF102", place, "A link")
    if links and any(str(parent) in links for parent in PurePosixPath(member.name).parents):
        return _finding("SAF102", place, "Lies beneath a link")
    if stat.S_IFMT(member.mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return _special(place, member.mode)
    return None


def _flawed(member: _Member, place: str, first: _Member | None, cap: int, limits: Limits) -> Finding | None:
    if first:
        both = " and ".join(f"{plural(m.size, 'byte')} at offset {m.offset:,}" for m in (first, member))
        return _finding("SAF104", place, f"There twice ({both})")
    if member.locked:
        return _finding("SAF107", place, "Encrypted")
    if len(member.name) > limits.name_chars:
        return _finding("SAF105", place, f"The name has {len(member.name):,} characters")
    if member.size > cap:
        return _finding("SAF105", place, f"Unpacks to {member.size:,} bytes, from {member.packed:,}")
    return None


def _walk(root: str, top: str, sink: Sink, limits: Limits) -> Iterator[Entry]:
    shown = "" if root in (".", "./") else root.rstrip("/" + os.sep) + "/"
    count, todo = 0, [("", top, frozenset([top]))]
    while todo:
        prefix, folder, above = todo.pop()
        for item in _listing(folder, shown + prefix):
            name, path = prefix + item.name, shown + prefix + item.name
            real, mode, size = _resolved(item, path, top, sink)
            if len(name) > limits.name_chars:
                sink(_finding("SAF105", path, f"The name has {len(name):,} characters"))
            elif stat.S_ISDIR(mode) and real in above:
                sink(_finding("SAF108", path, "The link loops"))
            elif stat.S_ISDIR(mode):
                todo.append((name + "/", real, above | {real}))
            elif mode and not stat.S_ISREG(mode):
                sink(_special(path, mode))
            elif mode and count == limits.members:
                sink(_finding("SAF105", root, f"Holds more than {count:,} files"))
                return
            elif mode:
                count += 1
                _check_bits(path, mode, sink)
                yield Entry(path, name, size, limits.file_bytes, real)


def _listing(folder: str, path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return sorted((item for item in items if not _hidden(item.name)), key=attrgetter("name"))
    except OSError as error:
        raise _failure(path, error) from error


def _resolved(item: os.DirEntry[str], path: str, top: str, sink: Sink) -> tuple[str, int, int]:
    """Real path, mode and size of what stands in a folder; mode 0 for a bad link."""
    try:
        state = item.stat(follow_symlinks=False)
    except OSError as error:
        raise _failure(path, error) from error
    if not stat.S_ISLNK(state.st_mode):
        return item.path, state.st_mode, state.st_size
    real, mode, size = _followed(item.path, path, sink)
    if mode and not (real + os.sep).startswith(top.rstrip(os.sep) + os.sep):
        sink(_finding("SAF108", path, "The link leads out of the folder"))
        mode = 0
    return real, mode, size


def _followed(link: str, path: str, sink: Sink) -> tuple[str, int, int]:
    """Real path, mode and size of what *link* leads to; mode 0 if it leads nowhere."""
    try:
        state = os.stat(link)
    except OSError as error:
        if not os.path.islink(link) or error.errno not in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR):
            raise _failure(path, error) from error
        deed = "loops" if error.errno == errno.ELOOP else "leads nowhere"
        sink(_finding("SAF108", path, f"The link {deed}"))
        return link, 0, 0
    return os.path.realpath(link), state.st_mode, state.st_size


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED


def _checked(entries: Iterable[Entry], sink: Sink) -> tuple[Entry, ...]:
    """The entries sorted by name; a warning for each name that fails on other systems."""
    ordered = tuple(sorted(entries, key=attrgetter("name")))
    alike: dict[str, list[Entry]] = {}
    for entry in ordered:
        if fault := _name_fault(entry.name):
            sink(_finding("SAF109", entry.path, f"The name {fault}"))
        alike.setdefault(unicodedata.normalize("NFC", entry.name).casefold(), []).append(entry)
    for same in alike.values():
        if len(same) > 1:
            names = listed([ascii(entry.name) for entry in same])
            what = f"{names} differ only in case or Unicode form"
            sink(_finding("SAF109", same[-1].path, what))
    return ordered


def _name_fault(name: str) -> str | None:
    if printable(name) != name:
        broken = any("\ud800" <= character <= "\udfff" for character in name)
        return "is not UTF-8" if broken else "holds control, invisible or text-reversing characters"
    if any(len(part.encode()) > 255 for part in name.split("/")):
        return "is longer than 255 bytes"
    return next((fault for fault, pattern in _ON_WINDOWS.items() if pattern.search(name)), None)


def _check_bits(path: str, mode: int, sink: Sink) -> None:
    if mode & (stat.S_ISUID | stat.S_ISGID):
        sink(_finding("SAF106", path, "Has the setuid or setgid bit"))


def _check_keys(path: str, entries: Iterable[Entry], sink: Sink) -> None:
    names = [entry.name for entry in entries if entry.name.rpartition("/")[2].count(".") > 1]
    if names:
        what = f"More than one dot in {plural(len(names), 'name')} ({listed(names)})"
        sink(_finding("SAF111", path, what))


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream whose bytes replace the file at *path* once the block ends well.

    At any time, through kills and full disks, the file is the old one or the whole new one. It keeps its mode
    (a new file gets the umask's), a link is written through, and an error leaves nothing behind.

    Raises:
        UsageError: the folder does not exist, or *path* is no regular file.
        SeldioError: the disk fails, is full, or may not be written.
    """
    target = _target(os.fspath(path))
    folder = os.path.dirname(target)
    _sweep(folder)
    temp = os.path.join(folder, f"{_prefix()}{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        handle = _create(temp, target)
        try:
            with open(handle, "wb", closefd=False) as stream:
                yield stream
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temp, target)
        _sync_folder(folder)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temp)
        if isinstance(error, OSError):
            raise _failure(os.fspath(path), error, "write") from error
        raise


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write *data* by :func:`atomic_write`, raising what that raises."""
    with atomic_write(path) as stream:
        stream.write(data)


def _target(path: str) -> str:
    target = os.path.realpath(path)
    if not os.path.isdir(os.path.dirname(target)):
        raise UsageError(f"cannot write {printable(path)}: its folder does not exist")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise UsageError(f"cannot write {printable(path)}: it is not a regular file")
    return target


def _create(temp: str, target: str) -> int:
    """A new file with the owner and mode of *target*, if there is one."""
    try:
        old = os.stat(target)
    except FileNotFoundError:
        return os.open(temp, _WRITE, 0o666)
    handle = os.open(temp, _WRITE, 0o600)
    if hasattr(os, "fchmod"):
        with suppress(OSError):
            os.fchown(handle, old.st_uid, old.st_gid)
        with suppress(OSError):
            os.fchmod(handle, old.st_mode & 0o777)
    return handle


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that does not know how
            raise
    finally:
        os.close(handle)


@lru_cache(maxsize=1)
def _prefix() -> str:
    """What this machine's temporary files begin with; process numbers mean nothing on another."""
    host = os.uname().nodename if hasattr(os, "uname") else ""
    return f".seldio-tmp-{zlib.crc32(host.encode()):08x}-"


@lru_cache(maxsize=4096)
def _sweep(folder: str) -> None:
    """Remove what killed processes left; once per folder and process, since it lists the whole folder."""
    with suppress(OSError), os.scandir(folder) as items:
        for item in items:
            owner = item.name.removeprefix(_prefix()).partition("-")[0]
            if item.name.startswith(_prefix()) and _is_dead(owner):
                with suppress(OSError):
                    os.unlink(item.path)


def _is_dead(pid: str) -> bool:
    if os.name == "nt" or not pid.isdecimal():  # Windows takes signal 0 for Ctrl-C
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
