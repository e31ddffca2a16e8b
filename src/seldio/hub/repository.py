"""A dataset on the Hub: its files at a commit, comparing files with them, and errors in plain words."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.tqdm import disable_progress_bars

from seldio import __version__
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry
from seldio.files.entries import plain_file
from seldio.files.streams import CHUNK
from seldio.text import clipped, printable

_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_TOKEN = re.compile(r"hf_[A-Za-z0-9]{8,}")


class Unreachable(SeldioError):
    """No answer came from the Hub: there is no network, or none is wanted."""


def client() -> HfApi:
    """Return the client, for the Hub that ``HF_ENDPOINT`` names."""
    return HfApi(library_name="seldio", library_version=__version__)


def quiet() -> None:
    """Show no progress bars of the client."""
    disable_progress_bars()


@contextmanager
def asking(deed: str) -> Iterator[None]:
    """Raise what goes wrong between here and the Hub in the words of seldio; *deed* is what was asked for."""
    try:
        yield
    except SeldioError:
        raise
    except Exception as error:  # noqa: BLE001 - those of the client, of its HTTP library and of the disk
        raise _plain_error(error, deed) from None  # a chain would carry the request, and with it the token


def _plain_error(error: Exception, deed: str) -> SeldioError:
    """Return the error for a user."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, GatedRepoError):
        return UsageError(f"cannot {deed}: its owners must grant you access first")
    if isinstance(error, RevisionNotFoundError):
        return UsageError(f"cannot {deed}: no such branch, tag or commit")
    if isinstance(error, RepositoryNotFoundError):
        return UsageError(f"cannot {deed}: no such dataset, or your token has no access to it (hf auth login)")
    if status in (401, 403):
        return UsageError(f"cannot {deed}: the Hub does not accept the token for this. Log in with hf auth login")
    if status in (409, 412):
        return SeldioError(f"cannot {deed}: someone else changed it in the meantime. Run the same command again")
    token = get_token()
    text = str(error).replace(token, "hf_…") if token else str(error)
    reason = clipped(_TOKEN.sub("hf_…", text).strip().partition("\n")[0] or type(error).__name__, 300)
    if isinstance(error, HFValidationError):
        return UsageError(f"cannot {deed}: {reason}")
    kind = Unreachable if status is None and not isinstance(error, ValueError) else SeldioError
    return kind(f"cannot {deed}: {reason}")


@dataclasses.dataclass(frozen=True)
class Head:
    """A dataset at one commit."""

    repo: str  # ``user/name``
    commit: str | None = None  # its full hash; None for a dataset or branch that does not exist yet
    private: bool | None = None  # whether it is; None where it does not exist yet
    files: Mapping[str, RepoFile] = dataclasses.field(default_factory=dict)  # by name
    unreachable: str | None = None  # why nothing is known of it, where the Hub could not be reached


def checked_name(repo: str) -> str:
    """Return the name of a dataset; *repo* is that, or its address (``hf://datasets/USER/NAME``)."""
    repo = repo.removeprefix("hf://datasets/").removesuffix("/")
    if not _NAME.fullmatch(repo):
        raise UsageError(
            f"{printable(repo)} is not the name of a dataset: write USER/NAME, such as anna/starss23-parquet"
        )
    return repo


def split_address(address: str) -> tuple[str, str]:
    """Return the name and revision of ``USER/NAME@REVISION``; the revision is main where there is none."""
    repo, _, revision = address.partition("@")
    return checked_name(repo), revision or "main"


def read_head(repo: str, revision: str = "main", *, may_lack: bool = False) -> Head:
    """Return the dataset at *revision* (a branch, tag or commit) with all its files.

    It has no commit and no files where there is no such dataset or branch and it *may_lack*.
    """
    with asking(f"look up {printable(repo)} on the Hub"):
        try:
            info = client().dataset_info(repo, revision=revision)
        except (RepositoryNotFoundError, RevisionNotFoundError):
            if may_lack:
                return Head(repo)
            raise
        tree = client().list_repo_tree(repo, repo_type="dataset", revision=info.sha, recursive=True)
        return Head(repo, info.sha, info.private, {file.path: file for file in tree if isinstance(file, RepoFile)})


def holds(entry: Entry, file: RepoFile) -> bool:
    """Whether *entry* has the content of *file*, by the hash that the Hub has for it."""
    if entry.size != file.size:
        return False
    hasher = hashlib.sha256() if file.lfs else hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    with entry.open() as stream:
        while piece := stream.read(16 * CHUNK):
            hasher.update(piece)
    return hasher.hexdigest() == (file.lfs.sha256 if file.lfs else file.blob_id)


def is_at(path: Path, file: RepoFile) -> bool:
    """Whether the file at *path* has the content of *file*."""
    return path.is_file() and holds(dataclasses.replace(plain_file(path), size=path.stat().st_size), file)


def content(head: Head, name: str) -> bytes:
    """Return the content of a file on the Hub."""
    with asking(f"fetch {printable(name)} of {printable(head.repo)}"):
        path = client().hf_hub_download(head.repo, name, repo_type="dataset", revision=head.commit)
        return Path(path).read_bytes()
