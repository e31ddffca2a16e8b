"""The files that make up a repository, and the two hashes by which the Hub knows them."""

from __future__ import annotations

import dataclasses
import hashlib
import io
from collections.abc import Iterable
from functools import partial
from operator import attrgetter
from typing import Literal

from seldio.data.work import lot, spread
from seldio.files import Entry
from seldio.files.streams import CHUNK
from seldio.rules.hub_folder import suffix_of

Kind = Literal["files", "parquet", "audiofolder"]

#: What a data set is made of; anything else stays behind and is named.
ALLOWED = frozenset(
    """
    csv tsv json jsonl ndjson parquet arrow txt md rst pdf bib cff yaml yml toml xml wav flac ogg opus mp3 m4a mp4 mkv
    mov avi webm png jpg jpeg svg npy npz h5 hdf5 mat sofa zip tar gz bz2 xz py ipynb
    """.split()  # noqa: SIM905
)
#: Names without a suffix that belong to a data set.
NAMED = ("license", "licence", "copying", "readme", "changelog", "citation", "notice", "authors")


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What goes to the Hub.

    Args:
        source: as the user named it.
        kind: how the data is stored there.
        files: everything that goes, sorted by name.
        left_out: the names of what does not.
    """

    source: str
    kind: Kind
    files: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)

    def find(self, name: str) -> Entry | None:
        """The file of that name."""
        return next((entry for entry in self.files if entry.name == name), None)

    def with_files(self, *entries: Entry) -> Manifest:
        """The same with *entries* added, or put in the place of those that have their names."""
        named = {entry.name: entry for entry in (*self.files, *entries)}
        return dataclasses.replace(self, files=tuple(named[name] for name in sorted(named)))


def allowed(name: str) -> bool:
    """Whether a file of this name is one that data sets are made of."""
    return suffix_of(name) in ALLOWED or name.rpartition("/")[2].lower().startswith(NAMED)


def made_entry(name: str, text: str) -> Entry:
    """A file that seldio writes itself, held in memory."""
    data = text.encode()
    return Entry(name, name, len(data), len(data), None, partial(io.BytesIO, data))


@dataclasses.dataclass(frozen=True)
class Hash:
    """One of the two hashes of a file.

    Args:
        entry: the file.
        kind: *sha256*, by which the Hub knows large files, or *git*: SHA-1 of a header with the size, and the content.
    """

    entry: Entry
    kind: Literal["sha256", "git"]

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return max(self.entry.size, 0)

    @property
    def key(self) -> tuple[str, int, int, int, int] | None:
        """What changes when the file does, since files are too large to be hashed for each question; None in memory."""
        if self.entry.local is None:
            return None
        state = self.entry.local.stat()
        return (self.kind, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)

    def portable(self) -> Hash:
        """The same as it can go to another process."""
        return dataclasses.replace(self, entry=self.entry.portable())

    def digest(self) -> str:
        """The hash as hexadecimal digits, worked out once for each state of a file."""
        key = self.key
        if key is None:
            return hashed(self)
        if key not in _known:
            _known[key] = hashed(self)
        return _known[key]


#: Hashes of files on disk that were worked out already.
_known: dict[tuple[str, int, int, int, int], str] = {}


def hashed(one: Hash) -> str:
    """Read the file and work out a hash of it.

    Raises:
        InvalidData: it is in an archive, and damaged or over a limit.
        SeldioError: the disk fails.
    """
    head = b"blob %d\0" % one.entry.size if one.kind == "git" else b""
    hasher = hashlib.new("sha1" if one.kind == "git" else "sha256", head, usedforsecurity=False)
    with one.entry.open() as stream:
        while piece := stream.read(16 * CHUNK):
            hasher.update(piece)
    return hasher.hexdigest()


def hash_ahead(asked: Iterable[Hash]) -> None:
    """Work out hashes that will be asked for, wherever the user wants that to happen."""
    keyed = {one.key: one for one in asked if one.entry.local is not None}
    new = {key: one for key, one in keyed.items() if key is not None and key not in _known}
    todo = list(new.values())
    results = spread(hashed, todo, True, "hashing files", batch=lot([o.size for o in todo]), size=attrgetter("size"))
    _known.update(zip(new, results, strict=True))
