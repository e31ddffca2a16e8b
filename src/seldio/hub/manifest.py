"""The files that make up a repository, and the two hashes by which the Hub knows them."""

from __future__ import annotations

import dataclasses
import hashlib
import io
from functools import lru_cache, partial
from typing import Literal

from seldio.files import Entry
from seldio.files.entries import CHUNK
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


def sha256(entry: Entry) -> str:
    """SHA-256 of the content, by which the Hub knows large files."""
    return _hash(entry, _stamp(entry), "sha256")


def git_hash(entry: Entry) -> str:
    """What git calls the content: SHA-1 of a header with the size, and the content."""
    return _hash(entry, _stamp(entry), "sha1", b"blob %d\0" % entry.size)


def _stamp(entry: Entry) -> tuple[int, ...]:
    """What changes when a file does; files are too large to be hashed for each question."""
    if entry.local is None:
        return (hash(entry.read()),)
    state = entry.local.stat()
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=2**18)
def _hash(entry: Entry, _: tuple[int, ...], kind: str, head: bytes = b"") -> str:
    hasher = hashlib.new(kind, head, usedforsecurity=False)
    with entry.open() as stream:
        while piece := stream.read(16 * CHUNK):
            hasher.update(piece)
    return hasher.hexdigest()
