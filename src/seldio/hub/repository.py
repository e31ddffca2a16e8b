"""A data set on the Hub: its head, its files, and whether a file here is the one there."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from huggingface_hub import get_token
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile

from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, name_fault
from seldio.hub.client import checked_commit, hub, patiently
from seldio.hub.manifest import Hash, hash_ahead
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


def look(repo: str, revision: str = "main", *, may_lack: bool = False, quick: bool = False) -> Head:
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
