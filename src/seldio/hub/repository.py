"""A dataset on the Hub: listing its files, comparing local files with them, and fetching them whole."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from huggingface_hub import get_token
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile

from seldio.data.exporting import lot
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, name_fault
from seldio.files.entries import ours, plain_file
from seldio.files.streams import CHUNK
from seldio.files.writing import remove
from seldio.hub.client import checked_commit, hub, one_list, patiently
from seldio.parallel import parallel_map
from seldio.text import clipped, printable

_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


@dataclasses.dataclass(frozen=True)
class RemoteFile:
    """One file on the Hub."""

    name: str  # POSIX path in the repository
    size: int  # in bytes
    git: str  # its git hash; of a large file that of the pointer in its place
    sha256: str | None  # its SHA-256, for large files

    def hash_of(self, entry: Entry) -> FileHash | None:
        """The hash of *entry* that tells whether it has this content; None where its size tells that it has not."""
        if entry.size >= 0 and entry.size != self.size:
            return None
        return FileHash(entry, "git" if self.sha256 is None else "sha256")

    def is_like(self, entry: Entry) -> bool:
        """Whether *entry* has this content, to the last bit."""
        found = self.hash_of(entry)
        return found is not None and found.digest() == (self.sha256 or self.git)

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Whether the file at *path* has this content."""
        return Path(path).is_file() and self.is_like(entry_at(path))


@dataclasses.dataclass(frozen=True)
class Head:
    """A dataset at one commit."""

    repo: str  # ``user/name``
    commit: str | None = None  # its full hash; None for a dataset that does not exist yet
    private: bool | None = None  # whether it is; None where it does not exist yet
    files: Mapping[str, RemoteFile] = dataclasses.field(default_factory=dict)  # by name
    unseen: str | None = None  # why nothing is known of it, where the Hub could not be reached

    def hash_ahead(self, entries: Iterable[Entry]) -> None:
        """Work out what :meth:`holds` needs for all of *entries*, wherever the user wants that to happen."""
        hash_ahead(self.files[entry.name].hash_of(entry) for entry in entries if entry.name in self.files)

    def holds(self, entry: Entry) -> bool:
        """Whether a file of that name and content is there."""
        remote = self.files.get(entry.name)
        return remote is not None and remote.is_like(entry)


def checked_name(repo: str) -> str:
    """The name of a dataset; *repo* is that, or its address (``hf://datasets/USER/NAME``)."""
    repo = repo.removeprefix("hf://datasets/").removesuffix("/")
    if not _NAME.fullmatch(repo):
        raise UsageError(
            f"{printable(repo)} is not the name of a dataset: write USER/NAME, such as anna/starss23-parquet"
        )
    return repo


def read_head(repo: str, revision: str = "main", *, may_lack: bool = False, quick: bool = False) -> Head:
    """The dataset at *revision* (a branch, tag or commit) with all its files.

    A head is empty where there is no such dataset or branch and it *may_lack*; *quick* does not try again where no
    answer comes at all.
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

    def tree() -> dict[str, RemoteFile]:
        with one_list():
            found = hub().list_repo_tree(repo, repo_type="dataset", revision=head.commit, recursive=True)
            files = [_remote(item) for item in found if isinstance(item, RepoFile)]
        return {file.name: file for file in files}

    deed = f"look up {printable(repo)} on the Hub"
    head = patiently(info, deed, quick=quick)
    return head if head.commit is None else dataclasses.replace(head, files=patiently(tree, deed, quick=quick))


def _remote(item: Any) -> RemoteFile:
    """A file as the Hub lists it."""
    sha256 = item.lfs.sha256 if item.lfs is not None else None
    sound = isinstance(item.path, str) and type(item.size) is int and item.size >= 0
    if not sound or not _is_hash(item.blob_id, 40) or not (sha256 is None or _is_hash(sha256, 64)):
        raise SeldioError(f"the server lists {clipped(str(item.path))} with an impossible size or hash")
    return RemoteFile(item.path, item.size, item.blob_id, sha256)


def _is_hash(value: object, digits: int) -> bool:
    return isinstance(value, str) and re.fullmatch(rf"[0-9a-f]{{{digits}}}", value) is not None


def is_safe(name: str) -> bool:
    """Whether a name from the Hub can be a file here, below the folder that it should be in.

    Nothing goes into a folder ``.git``, from which git would take commands, or is what seldio itself keeps of its work.
    """
    parts = all(part.lower() not in ("", ".", "..", ".git") for part in name.split("/"))
    return parts and not ours(name) and not name.lower().endswith(".part") and name_fault(name) is None


def entry_at(path: str | os.PathLike[str]) -> Entry:
    """The file on disk at *path*, with its size."""
    return dataclasses.replace(plain_file(path), size=Path(path).stat().st_size)


# --- hashes of files -------------------------------------------------------------------------------------

#: Hashes of files on disk that were worked out already.
_known: dict[tuple[str, int, int, int, int], str] = {}


@dataclasses.dataclass(frozen=True)
class FileHash:
    """One of the two hashes of a file."""

    entry: Entry  # the file
    #: *sha256*, by which the Hub knows large files, or *git*: SHA-1 of a header with the size, and the content
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

    def digest(self) -> str:
        """The hash as hexadecimal digits, worked out once for each state of a file."""
        key = self.key
        if key is None:
            return hashed(self)
        if key not in _known:
            _known[key] = hashed(self)
        return _known[key]


def hashed(one: FileHash) -> str:
    """Read the file and work out a hash of it."""
    head = b"blob %d\0" % one.entry.size if one.kind == "git" else b""
    hasher = hashlib.new("sha1" if one.kind == "git" else "sha256", head, usedforsecurity=False)
    with one.entry.open() as stream:
        while piece := stream.read(16 * CHUNK):
            hasher.update(piece)
    return hasher.hexdigest()


def hash_ahead(wanted: Iterable[FileHash | None]) -> None:
    """Work out hashes of files on disk that will be wanted, wherever the user wants that to happen."""
    keyed = {one.key: one for one in wanted if one is not None}
    new = {key: one for key, one in keyed.items() if key is not None and key not in _known}
    todo = list(new.values())
    results = parallel_map(
        hashed, todo, what="hashing files", batch=lot([one.size for one in todo]), size=attrgetter("size")
    )  # fmt: skip
    _known.update(zip(new, results, strict=True))


# --- fetching --------------------------------------------------------------------------------------------


def fetch(head: Head, file: RemoteFile, folder: Path) -> RemoteFile:
    """Bring a file into *folder*, under its name, unless it is there already; its name was found to be safe."""
    if not file.is_at(folder / file.name):
        download(head, file, local_dir=folder)
    return file


def download(head: Head, file: RemoteFile, **options: Any) -> str:
    """Where a file was put, once its hash is right; one with a wrong hash is fetched a second time.

    Options are those of ``hf_hub_download``.
    """
    for force in (False, True):
        call = partial(
            hub().hf_hub_download, head.repo, file.name, repo_type="dataset", revision=head.commit,
            force_download=force, **options,
        )  # fmt: skip
        path = str(patiently(call, f"fetch {printable(file.name)}"))
        if file.is_at(path):
            return path
        wrong = Path(os.path.realpath(path))  # in the Hub's cache, the path is a link to the file
        remove(wrong, wrong.parent)
    raise SeldioError(
        f"the Hub twice sent bytes for {printable(file.name)} that do not match its hash; nothing was kept"
    )
