"""Files from the Hub: whole, verified, and never half in place; and ``hf://`` as a source, read in the Hub's cache."""

from __future__ import annotations

import dataclasses
import fnmatch
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from pathlib import Path

from huggingface_hub import try_to_load_from_cache

from seldio import progress
from seldio.errors import SeldioError, UsageError
from seldio.files import Limits, in_the_way, make_folder
from seldio.files.writing import check_tree, move, remove_tree
from seldio.hub.repository import (
    Head,
    RemoteFile,
    checked_name,
    download,
    entry_at,
    fetch,
    hash_ahead,
    is_safe,
    read_head,
)
from seldio.text import Displayed, listed, plural, printable

#: Downloads at the same time.
THREADS = 4


@dataclasses.dataclass(frozen=True, repr=False)
class Pulled(Displayed):
    """What a pull did.

    Args:
        repo: ``user/name``.
        commit: the commit that the files are of.
        folder: where they are.
        fetched: names of the files that were written.
        same: how many were there already.
        size: bytes of all of them.
    """

    repo: str
    commit: str
    folder: str
    fetched: tuple[str, ...]
    same: int
    size: int

    def __str__(self) -> str:
        there = f"{plural(len(self.fetched), 'file')} fetched, {self.same:,} already there, {self.size:,} bytes"
        return f"{self.repo}@{self.commit[:12]}: {there}, in {self.folder}"


def pull(
    address: str,
    out: str | os.PathLike[str] | None = None,
    include: Sequence[str] = (),
    tell: Callable[[str], None] | None = None,
) -> Pulled:
    """Download a dataset, or some of its files, as real files; files that are already here are not fetched again.

    Every file is compared with the hash that the Hub has for it. A new folder appears only when it is complete, and a
    file in an existing one is replaced as a whole; after an interruption, the next run resumes where this one stopped.
    Files that are not on the Hub stay.

    Args:
        address: ``user/name``, or ``user/name@revision`` with a branch, tag or commit.
        out: the folder; ``name`` in the present one if not given.
        include: only files that fit one of these patterns (``*`` fits slashes too).
        tell: takes the name of each file that has arrived.

    Raises:
        UsageError: there is no such dataset or file, or a link in the folder is in the way.
        SeldioError: the Hub cannot be reached, or sends other bytes than it announced.
        KeyboardInterrupt: with a message that says how to go on.
    """
    repo, revision = _split(address)
    head = read_head(repo, revision)
    files = _chosen(head, include)
    folder = Path(out if out is not None else repo.partition("/")[2])
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"cannot write {printable(str(folder))}: it is not a folder")
    there = [(file, folder / file.name) for file in files if (folder / file.name).is_file()]
    hash_ahead(file.hash_of(entry_at(path)) for file, path in there)
    missing = [file for file in files if not file.is_at(folder / file.name)]
    parts = folder.absolute().parent / f".{folder.absolute().name}.seldio-pull-{str(head.commit)[:12]}"
    for file in missing:
        in_the_way(folder / file.name, folder)
    check_tree(parts)
    _fetch_all(head, missing, parts, tell or (lambda _: None))
    remove_tree(parts / ".cache")
    _put_in_place(missing, parts, folder)
    names = tuple(file.name for file in missing)
    return Pulled(repo, str(head.commit), str(folder), names, len(files) - len(missing), sum(f.size for f in files))


def _split(address: str) -> tuple[str, str]:
    """``USER/NAME@REVISION`` as name and revision; the revision is main where there is none."""
    repo, _, revision = address.partition("@")
    return checked_name(repo), revision or "main"


def _chosen(head: Head, include: Sequence[str] = (), below: str = "") -> list[RemoteFile]:
    """The files of *head* that fit *include* and are *below* (or named by it)."""
    files = [file for file in head.files.values() if not below or f"{file.name}/".startswith(f"{below}/")]
    if include:
        files = [file for file in files if any(fnmatch.fnmatchcase(file.name, pattern) for pattern in include)]
    if not files:
        what = f"{printable(below)} in " if below else f"file matching {listed(list(include))} in " if include else ""
        raise UsageError(f"no {what or 'file in '}{printable(head.repo)} at {str(head.commit)[:12]}")
    if bad := [file.name for file in files if not is_safe(file.name)]:
        raise SeldioError(f"{printable(head.repo)} holds names that are unsafe as file names here: {listed(bad)}")
    return sorted(files, key=lambda file: file.name)


def _fetch_all(head: Head, files: Sequence[RemoteFile], parts: Path, tell: Callable[[str], None]) -> None:
    pool = ThreadPoolExecutor(THREADS)
    count = 0
    try:
        with progress.task("fetching files", len(files), sum(file.size for file in files)) as advance:
            contexts = [copy_context() for _ in files]  # a thread that waits for the Hub shows it where this one does
            for file in pool.map(lambda file, context: context.run(fetch, head, file, parts), files, contexts):
                tell(file.name)
                advance(1, file.size)
                count += 1
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; {count:,} of {plural(len(files), 'file')} were fetched and are kept: run the same "
            "command again to resume"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _put_in_place(files: Sequence[RemoteFile], parts: Path, folder: Path) -> None:
    """Move what was fetched to where it belongs: a new folder at once, into an old one file by file."""
    if not files:
        return
    if not folder.exists():
        make_folder(folder.absolute().parent)
        move(parts, folder)
        return
    for file in files:
        move(parts / file.name, folder / file.name, folder)
    remove_tree(parts)


# --- hf:// as a source -----------------------------------------------------------------------------------


def _parsed(address: str) -> tuple[str, str, str]:
    """``hf://datasets/user/name@revision/path`` as name, revision and path, which may be empty."""
    parts = address.removeprefix("hf://").rstrip("/").split("/")
    if not address.startswith("hf://datasets/") or len(parts) < 3 or not all(parts):
        raise UsageError(f"{printable(address)}: write hf://datasets/USER/NAME[@REVISION][/PATH]")
    return *_split("/".join(parts[1:3])), "/".join(parts[3:])


#: Looked at once in a process, so that all of a run sees the same commit.
_head = cache(read_head)


def listing(address: str) -> tuple[str, str, tuple[str, ...]]:
    """The address of the dataset that *address* is of, the path below it, and the names of all files there."""
    repo, revision, below = _parsed(address)
    return f"hf://datasets/{repo}@{revision}", below, tuple(sorted(_head(repo, revision).files))


def fetch_address(address: str, limits: Limits) -> str:
    """The folder or file in the Hub's cache that *address* stands for; what is missing is downloaded."""
    repo, revision, below = _parsed(address)
    head = _head(repo, revision)
    files = _chosen(head, below=below)
    size = sum(file.size for file in files)
    if size > limits.total_bytes or len(files) > limits.members:
        raise UsageError(
            f"{printable(address)} holds {plural(len(files), 'file')} with {size / 1e9:,.1f} GB, more than is fetched "
            f"automatically ({limits.total_bytes / 1e9:,.1f} GB). Pass a folder or file in it, or "
            "download it with seldio pull"
        )
    place = ""
    for file in files:
        known = try_to_load_from_cache(repo, file.name, repo_type="dataset", revision=head.commit)
        cached = isinstance(known, str) and Path(known).stat().st_size == file.size
        place = str(known) if cached else download(head, file)
    snapshot = place[: len(place) - len(files[-1].name)].rstrip("/" + os.sep)
    return f"{snapshot}/{below}" if below else snapshot
