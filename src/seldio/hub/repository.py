"""A data set on the Hub, the files that go there, and whether a file here is the one there, by its two hashes."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import re
from collections.abc import Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from huggingface_hub import get_token
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile

from seldio.data.exporting import lot
from seldio.engines import each
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, name_fault
from seldio.files.streams import CHUNK
from seldio.hub.client import checked_commit, hub, patiently
from seldio.rules.hub_folder import suffix_of
from seldio.text import clipped, printable

_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


@dataclasses.dataclass(frozen=True)
class RemoteFile:
    """One file on the Hub.

    Args:
        name: POSIX path in the repository.
        size: in bytes.
        git: its git hash; of a large file that of the pointer in its place.
        sha256: its SHA-256, for large files.
    """

    name: str
    size: int
    git: str
    sha256: str | None

    def is_like(self, entry: Entry) -> bool:
        """Whether *entry* has this content, to the last bit."""
        asked = self.hash_of(entry)
        return asked is not None and asked.digest() == (self.git if self.sha256 is None else self.sha256)

    def hash_of(self, entry: Entry) -> Hash | None:
        """The hash of *entry* that tells whether it has this content; None where its size tells that it has not."""
        if entry.size >= 0 and entry.size != self.size:
            return None
        return Hash(entry, "git" if self.sha256 is None else "sha256")


@dataclasses.dataclass(frozen=True)
class Head:
    """A data set at one commit.

    Args:
        repo: ``user/name``.
        commit: its full hash; None for a data set that does not exist yet.
        private: whether it is; None where it does not exist yet.
        files: by name.
        unseen: why nothing is known of it, where the Hub could not be reached.
    """

    repo: str
    commit: str | None = None
    private: bool | None = None
    files: Mapping[str, RemoteFile] = dataclasses.field(default_factory=dict)
    unseen: str | None = None

    def hash_ahead(self, entries: Iterable[Entry]) -> None:
        """Work out what :meth:`holds` needs for all of *entries*, wherever the user wants that to happen."""
        found = ((self.files.get(entry.name), entry) for entry in entries)
        asked = (remote.hash_of(entry) for remote, entry in found if remote is not None)
        hash_ahead(one for one in asked if one is not None)

    def holds(self, entry: Entry) -> bool:
        """Whether a file of that name and content is there."""
        remote = self.files.get(entry.name)
        return remote is not None and remote.is_like(entry)


def checked_name(repo: str) -> str:
    """*repo* if it can be the name of a data set.

    Raises:
        UsageError: it cannot.
    """
    if not _NAME.fullmatch(repo):
        raise UsageError(
            f"{printable(repo)} is not the name of a data set: write USER/NAME, as in anna/starss23-parquet"
        )
    return repo


def read_head(repo: str, revision: str = "main", *, may_lack: bool = False, quick: bool = False) -> Head:
    """The data set at *revision* (a branch, tag or commit) with all its files.

    Args:
        repo: ``user/name``.
        revision: a branch, tag or commit.
        may_lack: return an empty head where there is no such data set or branch.
        quick: do not try again where no answer comes at all.

    Raises:
        UsageError: there is none, or the Hub does not show it.
        Unreachable: the Hub cannot be reached.
        SeldioError: it answers what no Hub answers.
    """

    def info() -> Head:
        try:
            found = hub().dataset_info(repo, revision=revision)
        except (RepositoryNotFoundError, RevisionNotFoundError) as error:
            # without a token, the Hub says 401 of what does not exist
            if may_lack and (error.response.status_code != 401 or get_token() is None):
                return Head(repo)
            raise
        return Head(repo, checked_commit(found.sha), bool(found.private))

    deed = f"look at {printable(repo)} on the Hub"
    head = patiently(info, deed, quick=quick)
    if head.commit is None:
        return head
    items = patiently(lambda: list(_tree(repo, str(head.commit))), deed, quick=quick)
    return dataclasses.replace(head, files={item.name: item for item in items})


def _tree(repo: str, commit: str) -> list[RemoteFile]:
    items = hub().list_repo_tree(repo, repo_type="dataset", revision=commit, recursive=True)
    return [_remote(item) for item in items if isinstance(item, RepoFile)]


def _remote(item: Any) -> RemoteFile:
    """A file as the Hub lists it.

    Raises:
        SeldioError: that cannot be: a size below 0, a hash that is none.
    """
    sha256 = item.lfs.sha256 if item.lfs is not None else None
    sound = isinstance(item.path, str) and type(item.size) is int and item.size >= 0
    if not sound or not _is_hash(item.blob_id, 40) or not (sha256 is None or _is_hash(sha256, 64)):
        raise SeldioError(f"the server lists {clipped(str(item.path))} with a size or hash that cannot be")
    return RemoteFile(item.path, item.size, item.blob_id, sha256)


def _is_hash(value: object, digits: int) -> bool:
    return isinstance(value, str) and re.fullmatch(rf"[0-9a-f]{{{digits}}}", value) is not None


def safe_name(name: str) -> bool:
    """Whether a name from the Hub can be a file here, below the folder that it should be in.

    Nothing goes into a folder ``.git``, from which git would take commands.
    """
    return all(part.lower() not in ("", ".", "..", ".git") for part in name.split("/")) and name_fault(name) is None


# --- what goes to the Hub, and the hashes of files -------------------------------------------------------


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
class Upload:
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

    def with_files(self, *entries: Entry) -> Upload:
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
    results = each(hashed, todo, what="hashing files", batch=lot([o.size for o in todo]), size=attrgetter("size"))
    _known.update(zip(new, results, strict=True))
