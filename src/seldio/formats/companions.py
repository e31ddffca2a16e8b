"""The files that are read with a label file: trajectories, and poses of what was tracked.

A format says which these are (:meth:`seldio.formats.base.LabelFormat.companions`); here they are found, among the
files of the source, or on disk where labels were named alone. Every verb reads labels in parts, so all of them see
these files.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from seldio import formats
from seldio.files import Entry, Source
from seldio.files.sources import Lookup, on_disk
from seldio.findings import Finding
from seldio.formats.base import TRAJECTORY, Needed, TextFile
from seldio.reader_rules import READER_RULES

#: An entry, and the bytes that are wanted of it.
Companion = tuple[Entry, int | None]


#: What is read with labels of many formats and holds none, as rows of :attr:`Format.alone`.
_ALONE = ((rf"(?i).*{re.escape(TRAJECTORY)}", "the directions of a clip over time", "the labels of the clip"),)


def alone(file: TextFile) -> Finding | None:
    """Why a file is none of labels, where it is one that is read with them."""
    name = posixpath.basename(file.name)
    for pattern, what, where in (*_ALONE, *(row for one in formats.index() for row in one.alone)):
        if re.fullmatch(pattern, name):
            message = f"no labels, but {what}, which is read with the labels next to it"
            return READER_RULES["SYN901"].at(file.path, message, f"name {where}, or the folder", 1)
    return None


class Surroundings:
    """The files in which those that belong to labels are looked up: all of a source, and on disk those around it."""

    def __init__(self, source: Source) -> None:
        every = source.every or source.entries
        self._alone = source.kind == "file"
        self._lookup = Lookup(source.restricted(every))
        self._folders: dict[str, dict[str, Entry]] = defaultdict(dict)
        for entry in every:
            folder, name = posixpath.split(entry.name)
            self._folders[folder][name] = entry
        self._listed = cache(_listed)

    def of(self, wanted: Mapping[str, tuple[Entry, tuple[Needed, ...]]]) -> dict[str, tuple[Companion, ...]]:
        """What there is of the *wanted* files of label files, by the path of these.

        What one of them names is not what another one means by a star.
        """
        named = {path: list(self._named(entry, own)) for path, (entry, own) in wanted.items()}
        taken = {one.path for found in named.values() for one, _ in found}
        return {
            path: (*named[path], *self._meant(entry, own, taken)) for path, (entry, own) in wanted.items()
        }  # fmt: skip

    def _named(self, entry: Entry, wanted: tuple[Needed, ...]) -> Iterator[Companion]:
        for path, most in wanted:
            if "*" not in path:
                found = self._lookup.find(path, entry.name) if "/" in path else self._neighbour(entry, path)
                if found is not None:
                    yield found, most

    def _meant(self, entry: Entry, wanted: tuple[Needed, ...], taken: set[str]) -> Iterator[Companion]:
        for path, most in wanted:
            first, star, last = path.partition("*")
            alone = self._alone and entry.local is not None
            names = self._listed(posixpath.dirname(entry.path)) if alone else self._folders[_folder(entry)]
            for name in names if star else ():
                if name.startswith(first) and name.endswith(last):
                    found = self._neighbour(entry, name)
                    if found is not None and found.path not in taken:
                        yield found, most

    def _neighbour(self, entry: Entry, name: str) -> Entry | None:
        """The file called *name* in the folder of an entry."""
        if self._alone and entry.local is not None:
            return on_disk(posixpath.dirname(entry.path), name)
        return self._folders[_folder(entry)].get(name)


def _folder(entry: Entry) -> str:
    return posixpath.dirname(entry.name)


def _listed(folder: str) -> list[str]:
    """The names in a folder on disk."""
    try:
        return sorted(path.name for path in Path(folder or ".").iterdir())
    except OSError:
        return []
