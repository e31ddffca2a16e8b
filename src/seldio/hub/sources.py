"""``hf://`` as a source: what is asked for is brought into the Hub's cache, and read there."""

from __future__ import annotations

import os
from functools import cache

from huggingface_hub import try_to_load_from_cache

from seldio.errors import UsageError
from seldio.files import Limits
from seldio.hub.client import hub
from seldio.hub.pulling import chosen, split_address, verified
from seldio.hub.repository import Head, look
from seldio.text import plural, printable


def parsed(address: str) -> tuple[str, str, str]:
    """``hf://datasets/user/name@revision/path`` as name, revision and path, which may be empty.

    Raises:
        UsageError: it is no such address.
    """
    parts = address.removeprefix("hf://").rstrip("/").split("/")
    if not address.startswith("hf://datasets/") or len(parts) < 3 or not all(parts):
        raise UsageError(f"{printable(address)}: write hf://datasets/USER/NAME[@REVISION][/PATH]")
    repo, revision = split_address("/".join(parts[1:3]))
    return repo, revision, "/".join(parts[3:])


@cache
def _head(repo: str, revision: str) -> Head:
    """Looked at once in a process, so that all of a run sees the same commit."""
    return look(repo, revision)


def beside(address: str) -> tuple[str, str, tuple[str, ...]]:
    """The address of the data set that *address* is of, the path below it, and the names of all files there.

    Raises:
        UsageError: there is no such data set.
        SeldioError: the Hub cannot be reached.
    """
    repo, revision, below = parsed(address)
    return f"hf://datasets/{repo}@{revision}", below, tuple(sorted(_head(repo, revision).files))


def fetched(address: str, limits: Limits) -> str:
    """The folder or file in the Hub's cache that *address* stands for; what is not there yet is downloaded.

    Args:
        address: ``hf://datasets/user/name[@revision][/path]``.
        limits: how many files, and bytes in all, may be fetched.

    Raises:
        UsageError: there is nothing of that name, or it is over a limit.
        SeldioError: the Hub cannot be reached, or sends wrong bytes.
    """
    repo, revision, below = parsed(address)
    head = _head(repo, revision)
    files = chosen(head, below=below)
    size = sum(file.size for file in files)
    if size > limits.total_bytes or len(files) > limits.members:
        raise UsageError(
            f"{printable(address)} holds {plural(len(files), 'file')} with {size / 1e9:,.1f} GB, more than is fetched "
            f"unasked ({limits.total_bytes / 1e9:,.1f} GB). Name a folder or file in it, or fetch it by seldio pull"
        )
    place = ""
    for file in files:
        known = try_to_load_from_cache(repo, file.name, repo_type="dataset", revision=head.commit)
        if isinstance(known, str) and os.path.getsize(known) == file.size:  # noqa: PTH202
            place = known
            continue

        def download(force: bool, name: str = file.name) -> str:
            found = hub().hf_hub_download(repo, name, repo_type="dataset", revision=head.commit, force_download=force)
            return str(found)

        place = verified(file, download)
    snapshot = place[: len(place) - len(files[-1].name)].rstrip("/" + os.sep)
    return f"{snapshot}/{below}" if below else snapshot
