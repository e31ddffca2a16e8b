"""A dataset on the Hub: its files at a commit, fetched as real files (``pull``) or into the cache (``hf://``).

Errors of the Hub and of its client are told in plain words.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import glob
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.tqdm import disable_progress_bars

from seldio import __version__
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, Limits, in_the_way, name_fault
from seldio.files.entries import plain_file
from seldio.files.writing import check_tree, move, remove_tree
from seldio.text import Displayed, clipped, listed, plural, printable

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
        status = getattr(getattr(error, "response", None), "status_code", None)
        kind: type[SeldioError] = UsageError
        if isinstance(error, GatedRepoError):
            reason = "its owners must grant you access first"
        elif isinstance(error, RevisionNotFoundError):
            reason = "no such branch, tag or commit"
        elif isinstance(error, RepositoryNotFoundError):
            reason = "no such dataset, or your token has no access to it (hf auth login)"
        elif status in (401, 403):
            reason = "the Hub does not accept the token for this. Log in with hf auth login"
        elif status in (409, 412):
            kind, reason = SeldioError, "someone else changed it in the meantime. Run the same command again"
        else:
            token = get_token()
            text = str(error).replace(token, "hf_…") if token else str(error)
            reason = clipped(_TOKEN.sub("hf_…", text).strip().partition("\n")[0] or type(error).__name__, 300)
            if not isinstance(error, HFValidationError):
                kind = Unreachable if status is None and not isinstance(error, ValueError) else SeldioError
        raise kind(f"cannot {deed}: {reason}") from None  # a chain would carry the request, and with it the token


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
    """Return whether *entry* has the content of *file*, by the hash that the Hub has for it."""
    if entry.size != file.size:
        return False
    hasher = hashlib.sha256() if file.lfs else hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    with entry.open() as stream:
        hashlib.file_digest(stream, lambda: hasher)  # type: ignore[arg-type]  # all streams have readinto
    return hasher.hexdigest() == (file.lfs.sha256 if file.lfs else file.blob_id)


def is_at(path: Path, file: RepoFile) -> bool:
    """Return whether the file at *path* has the content of *file*."""
    return path.is_file() and holds(dataclasses.replace(plain_file(path), size=path.stat().st_size), file)


def content(head: Head, name: str) -> bytes:
    """Return the content of a file on the Hub."""
    with asking(f"fetch {printable(name)} of {printable(head.repo)}"):
        path = client().hf_hub_download(head.repo, name, repo_type="dataset", revision=head.commit)
        return Path(path).read_bytes()


# --- files on this machine -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class Pulled(Displayed):
    """The result of a pull."""

    repo: str  # ``user/name``
    commit: str  # the commit that the files are of
    folder: str  # where they are
    fetched: tuple[str, ...]  # names of the files that were written
    same: int  # how many were there already
    size: int  # bytes of all of them

    def __str__(self) -> str:
        counts = f"{plural(len(self.fetched), 'file')} fetched, {self.same:,} already there, {self.size:,} bytes"
        return f"{self.repo}@{self.commit[:12]}: {counts}, in {self.folder}"


def pull(
    address: str,
    out: str | os.PathLike[str] | None = None,
    include: Sequence[str] = (),
    *,
    overwrite: bool = False,
) -> Pulled:
    """Download a dataset, or some of its files, as real files.

    A new folder appears only when it is complete; after an interruption, the same call fetches what is missing. Every
    file is compared with the hash that the Hub has for it. Files that are not on the Hub stay.

    Args:
        address: ``user/name``, or ``user/name@revision`` with a branch, tag or commit.
        out: the folder to write; by default one of the dataset's name, in the current folder.
        include: only files that match this pattern (``*`` matches slashes too). May be repeated.
        overwrite: replace files in the folder that differ from those on the Hub.

    Raises:
        UsageError: there is no such dataset or file, files in the folder differ and *overwrite* is not given, or a
            link in the folder is in the way.
        SeldioError: the Hub cannot be reached, or sends other bytes than it announced.
    """
    repo, revision = split_address(address)
    head = read_head(repo, revision)
    files = _chosen(head, include)
    folder = Path(out if out is not None else repo.partition("/")[2])
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"cannot write {printable(str(folder))}: it is not a folder")
    present = [file for file in files if in_the_way(folder / file.path, folder) is not None]
    same = {file.path for file in present if is_at(folder / file.path, file)}
    if different := [file.path for file in present if file.path not in same and not overwrite]:
        raise UsageError(
            f"{plural(len(different), 'file')} in {printable(str(folder))} would be replaced by other content: "
            f"{listed(different, 20)}. Choose another folder, or use --overwrite"
        )
    missing = [file for file in files if file.path not in same]
    if missing:
        # a folder that does not exist yet gets its name once it is complete
        is_new, target = not folder.exists(), folder.absolute()
        place = target.parent / f".{target.name}.seldio-pull-{str(head.commit)[:12]}" if is_new else target
        cache = place / ".cache"
        notes = cache / "huggingface" if cache.exists() else cache
        had_notes = notes.exists()
        check_tree(place if is_new else cache)
        with asking(f"fetch {printable(repo)}"):
            client().snapshot_download(
                repo,
                repo_type="dataset",
                revision=head.commit,
                local_dir=place,
                allow_patterns=list(include) or None,
            )
        if wrong := [file.path for file in missing if not is_at(place / file.path, file)]:
            raise SeldioError(f"the Hub sent bytes that do not match their hash: {listed(wrong)}. Run it again")
        if is_new:
            remove_tree(cache)
            move(place, target)
        elif not had_notes:
            remove_tree(notes)
    names = tuple(file.path for file in missing)
    return Pulled(repo, str(head.commit), str(folder), names, len(same), sum(file.size for file in files))


def _chosen(head: Head, include: Sequence[str] = (), below: str = "") -> list[RepoFile]:
    """Return the files of *head* that match *include* and are *below* (or named by it)."""
    files = [file for file in head.files.values() if not below or f"{file.path}/".startswith(f"{below}/")]
    if include:
        files = [file for file in files if any(fnmatch.fnmatchcase(file.path, pattern) for pattern in include)]
    if not files:
        what = f"{printable(below)} in " if below else f"file matching {listed(list(include))} in " if include else ""
        raise UsageError(f"no {what or 'file in '}{printable(head.repo)} at {str(head.commit)[:12]}")
    # nothing goes into a folder ``.git``, from which git would take commands
    kept_out = {"", ".", "..", ".git"}
    paths = [file.path for file in files]
    unsafe = [path for path in paths if name_fault(path) is not None or kept_out & {*path.lower().split("/")}]
    if unsafe:
        raise SeldioError(f"{printable(head.repo)} contains names that are unsafe as file names here: {listed(unsafe)}")
    return sorted(files, key=lambda file: file.path)


# --- hf:// as a source -----------------------------------------------------------------------------------


#: Looked up once in a process, so that all of a run sees the same commit.
_head = functools.cache(read_head)


def fetch_address(address: str, limits: Limits) -> str:
    """Return the folder or file in the Hub's cache that *address* stands for; what is missing is downloaded."""
    parts = address.removeprefix("hf://").rstrip("/").split("/")
    if not address.startswith("hf://datasets/") or len(parts) < 3 or not all(parts):
        raise UsageError(f"{printable(address)}: write hf://datasets/USER/NAME[@REVISION][/PATH]")
    repo, revision = split_address("/".join(parts[1:3]))
    below = "/".join(parts[3:])
    head = _head(repo, revision)
    files = _chosen(head, below=below)
    size = sum(file.size for file in files)
    if size > limits.total_bytes or len(files) > limits.members:
        raise UsageError(
            f"{printable(address)} holds {plural(len(files), 'file')} with {size / 1e9:,.1f} GB, more than is fetched "
            f"automatically ({limits.total_bytes / 1e9:,.1f} GB). Pass a folder or file in it, or "
            "download it with seldio pull"
        )
    patterns = [glob.escape(below), f"{glob.escape(below)}/*"] if below else None
    with asking(f"fetch {printable(address)}"):
        snapshot = client().snapshot_download(repo, repo_type="dataset", revision=head.commit, allow_patterns=patterns)
    return f"{snapshot}/{below}" if below else str(snapshot)
