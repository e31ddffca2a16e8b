"""What an earlier push of an export left on the Hub, and this one does not make again.

An export lists its files in ``manifest.json``, with their hashes. Those that are still on the Hub as they were
written, and are no part of the export any more, would be read beside its shards: rows that are gone from the source.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from seldio import progress
from seldio.data.manifest import NAME, Written
from seldio.data.manifest import Manifest as Export
from seldio.errors import SeldioError
from seldio.hub.manifest import Manifest
from seldio.hub.pulling import fetch
from seldio.hub.repository import Head, RemoteFile, safe_name

#: A larger list of files than this is none of seldio's.
_MOST_BYTES = 1 << 28


def fetched(head: Head, name: str) -> bytes:
    """The content of a file on the Hub, verified; nothing of it stays on disk."""
    with tempfile.TemporaryDirectory(prefix="seldio-push-") as folder:
        fetch(head, head.files[name], Path(folder))
        return (Path(folder) / name).read_bytes()


def stale_files(manifest: Manifest, head: Head) -> frozenset[str]:
    """The names of files on the Hub that an earlier export wrote and *manifest* does not hold.

    None where *manifest* is no export. A file that somebody has changed since is not ours any more, and is none.

    Raises:
        SeldioError: the Hub cannot be reached, or sends wrong bytes.
    """
    there, here = head.files.get(NAME), manifest.find(NAME)
    if there is None or here is None or there.size > _MOST_BYTES or _listed(here.read()) is None:
        return frozenset()
    mine = {entry.name for entry in manifest.files}
    gone = [file for file in _listed(fetched(head, NAME)) or () if file.name in head.files and file.name not in mine]
    return frozenset(
        file.name
        for file in progress.over(gone, "looking for stale files")
        if _is_as_written(head, head.files[file.name], file)
    )


def _listed(data: bytes) -> tuple[Written, ...] | None:
    """The files of an export, by the content of its manifest; None where it is the manifest of something else."""
    try:
        files = Export.parse(data, NAME).files
    except SeldioError:
        return None
    return files if all(isinstance(file.name, str) for file in files) else None


def _is_as_written(head: Head, remote: RemoteFile, file: Written) -> bool:
    """Whether a file on the Hub is the one that the export wrote.

    Of small files, the Hub knows another hash than the manifest: they are fetched.
    """
    if remote.size != file.bytes or not safe_name(file.name):
        return False
    sha256 = remote.sha256 or hashlib.sha256(fetched(head, file.name)).hexdigest()
    return sha256 == file.sha256
