"""Problems with files (``SAF1xx``): their causes, and the exceptions to raise."""

from __future__ import annotations

import errno
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from seldio.errors import InvalidData, SeldioError
from seldio.findings import Finding
from seldio.reader_rules import READER_RULES
from seldio.text import clipped, printable

_WHY = {
    "SAF101": "unpacking would write outside the folder, so it is not read",
    "SAF102": "unpacking could write anywhere on the disk, so it is not read",
    "SAF103": "reading it might never end, so it is not opened",
    "SAF104": "unpacking keeps the last one, here the first is read",
    "SAF105": "that exceeds a limit that keeps memory and disk from filling up",
    "SAF107": "it cannot be read completely",
    "SAF108": "it is not followed",
    "SAF109": "other systems may reject or confuse it",
    "SAF111": "WebDataset uses only the part before the first dot as the sample's key",
}

# What the standard library raises on damaged and forged archives; a fuzz test holds that this is all.
DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, RuntimeError, OverflowError, LookupError),
)

#: Reasons of the standard library in other words.
_REASONS = {
    "File is not a zip file": "the list of its files, at its end, is missing",
    "Bad magic number for file header": "the header of the file is broken",
    "Bad magic number for central directory": "the list of its files is broken",
}


def problem(code: str, path: str, what: str) -> Finding:
    """The finding for *what* is wrong with *path*, with the reason that *code* stands for."""
    return READER_RULES[code].at(path, f"{what}: {_WHY[code]}")


def special(path: str, mode: int) -> Finding:
    """The finding for what is neither file nor folder."""
    kind = "A named pipe" if stat.S_ISFIFO(mode) else "A socket" if stat.S_ISSOCK(mode) else "A device"
    return problem("SAF103", path, kind)


def failure(path: str, error: OSError, deed: str = "read") -> SeldioError:
    """Return the exception to raise when the system refuses a *deed*."""
    if deed == "read" and isinstance(error, FileNotFoundError):
        return SeldioError(f"{printable(path)} vanished while it was being read")
    return SeldioError(f"cannot {deed} {printable(path)}: {error.strerror or error}")


@contextmanager
def guard(path: str) -> Iterator[None]:
    """Turn what damaged archives and failing disks raise into InvalidData and SeldioError."""
    try:
        yield
    except (*DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise failure(path, error) from error
        packed = {zipfile.BadZipFile: "zip", tarfile.TarError: "tar"}
        kind = next((packed[each] for each in type(error).__mro__ if each in packed), None)
        what = f"A corrupt {kind} archive" if kind else "Damaged"
        reason = _REASONS.get(str(error), str(error) or type(error).__name__)
        if isinstance(error, zlib.error):  # "Error -3 while decompressing data: invalid block type"
            reason = f"its compressed data is broken: {reason.rpartition(': ')[2]}"
        raise InvalidData(problem("SAF107", path, f"{what} ({clipped(reason, 200)})")) from error
