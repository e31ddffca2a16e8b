"""Files that other files name: looked up among a source's entries, or on disk beside it, never outside."""

# Plain strings, as in sources.py; and what was named keeps its links until the place that they lead to is judged.
# ruff: noqa: PTH100, PTH110, PTH113, PTH120, PTH202

from __future__ import annotations

import os
import re
from functools import cached_property, lru_cache
from itertools import chain

from seldio.files.entries import DEFAULTS, Entry, Source

#: How many folders above the file that names another one its data set may begin.
LEVELS = 3


class Lookup:
    """What finds the files that the files of a source name.

    A path counts from the folder of the file that names it or from one above. In a folder or beside a single
    file the disk is asked too, up to three folders above: the data set may begin higher than what was named.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {entry.name: entry for entry in self._source}

    @cached_property
    def _bases(self) -> list[str]:
        return _bases(self._source)

    def find(self, path: str, name: str = "") -> Entry | None:
        """The file that the entry *name* calls *path* (a POSIX path); None where there is none."""
        path = path.removeprefix("./")
        inside = (self._entries.get(folder + path) for folder in _above(name))
        outside = (on_disk(base, path) for base in self._bases)
        return next(filter(None, chain(inside, outside)), None)


def on_disk(base: str, name: str) -> Entry | None:
    """The regular file *name* (a POSIX path) below the folder *base*, links followed that stay below it.

    None where there is none, or where the name or a link leads out. In a cache of the Hugging Face Hub, where
    all files are links, those to the blobs of the same repository count as inside.
    """
    parts = name.split("/")
    if not name or any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
        return None
    if os.name == "nt" and ":" in name:  # drives and streams
        return None
    shown = name if base in ("", ".") else f"{base.rstrip('/' + os.sep)}/{name}"
    if not os.path.exists(shown):  # most often, and quicker to ask
        return None
    real = os.path.realpath(shown)
    if not any(real.startswith(top.rstrip(os.sep) + os.sep) for top in real_places(base)) or not os.path.isfile(real):
        return None
    return Entry(shown, name, os.path.getsize(real), DEFAULTS.file_bytes, real)


@lru_cache(maxsize=1024)
def real_places(base: str) -> tuple[str, ...]:
    """The folders in which a file below *base* may really lie: itself, and in a cache of the Hub the blobs."""
    real = os.path.realpath(base)
    above = re.match(r"(.+)[/\\]snapshots(?:[/\\]|$)", real)
    blobs = above[1] + os.sep + "blobs" if above else ""
    return (real, blobs) if above and os.path.realpath(blobs) == blobs and os.path.exists(blobs) else (real,)


def _above(name: str) -> list[str]:
    """The folder of an entry and all above it up to the root, each with a slash at its end; the root is empty."""
    parts = name.split("/")[:-1]
    return ["".join(part + "/" for part in parts[:count]) for count in range(len(parts), -1, -1)]


def _bases(source: Source) -> list[str]:
    """Folders on disk, nearest first, from which the paths in *source* may count."""
    if source.kind not in ("file", "gzip", "folder"):
        return []
    alone = source.kind != "folder"
    top = os.path.abspath(source.path)
    top = os.path.dirname(top) if alone else top
    bases = [os.path.dirname(source.path) or "."] if alone else []
    for _ in range(LEVELS):
        if top != os.path.dirname(top):
            top = os.path.dirname(top)
            bases.append(top)
    return bases
