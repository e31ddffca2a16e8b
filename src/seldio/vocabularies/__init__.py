"""Class lists as data: one json file for each vocabulary, one class a row, index by position.

A row is the published name followed by other spellings. Two classes of different vocabularies are
the same class when they share a spelling (case, ``_`` and ``-`` do not matter): so 2020's
``knocking on door`` (alias ``knock``) is STARSS's ``Knock``.

The classes of a dataset that names its own have no file: they go along wherever the name of a list does, behind the
name of the dataset, as JSON (:func:`own_list`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from seldio import plugins
from seldio.errors import UsageError
from seldio.text import clipped


def spelling(name: str) -> str:
    """Return the form names are compared in: lower case, ``_`` and ``-`` as spaces, commas as *and*."""
    return " ".join(name.lower().replace(",", " and ").replace("_", " ").replace("-", " ").split())


@dataclass(frozen=True)
class Vocabulary:
    """A class list."""

    name: str  # e.g. ``starss``.
    title: str  # whose list it is
    source: str  # where it is published
    #: the spellings of each class, the published name first; empty where the name of an index is not known
    classes: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.classes)

    def label(self, index: int) -> str:
        """Return the published name of class *index*; ``class 14`` where there is none."""
        spellings = self.classes[index] if 0 <= index < len(self.classes) else ()
        return spellings[0] if spellings else f"class {index}"

    @cached_property
    def indices(self) -> dict[str, int]:
        """Class index by every spelling."""
        return {spelling(name): index for index, names in enumerate(self.classes) for name in names}

    def mapping(self, target: Vocabulary) -> dict[int, int]:
        """Return class indices of *target* by own index, for the classes that both lists name."""
        if self.classes == target.classes:
            return {index: index for index in range(len(self))}
        shared = {
            index: next((target.indices[key] for key in map(spelling, names) if key in target.indices), None)
            for index, names in enumerate(self.classes)
        }
        return {index: other for index, other in shared.items() if other is not None}


@cache
def _files() -> dict[str, Path]:
    """Return the file of each vocabulary by name; one from outside the package never replaces one of its own."""
    folders = (*(path / "vocabularies" for _, path in plugins.data_folders()), Path(__file__).parent)
    return {file.stem: file for folder in folders for file in folder.glob("*.json")}


def names() -> tuple[str, ...]:
    """Return the names of all vocabularies, sorted."""
    return tuple(sorted(_files()))


@cache
def vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary *name*; raise UsageError if there is none."""
    dataset, bracket, classes = name.partition("[")
    if bracket:  # the classes of a dataset that names its own
        try:
            rows = json.loads(bracket + classes)
        except (ValueError, RecursionError):
            rows = None
        whole = isinstance(rows, list) and all(
            isinstance(row, list) and row and all(isinstance(spelling, str) for spelling in row) for row in rows
        )
        if not whole:
            raise UsageError(f"no list of classes: {clipped(name)}")
        return Vocabulary(dataset, f"the classes of {dataset}", "", tuple(map(tuple, rows)))
    if name not in _files():
        raise UsageError(f"unknown vocabulary {name!r}; choose from {', '.join(names())}")
    data = json.loads(_files()[name].read_text("utf-8"))
    rows = data.get("classes") or [data["known"].get(str(index), []) for index in range(data["size"])]
    return Vocabulary(name, data["title"], data["source"], tuple(map(tuple, rows)))


# --- class lists of datasets that name their own ---------------------------------------------------


def own_list(dataset: str, classes: Iterable[Iterable[str]]) -> str:
    """Return the classes of a *dataset*, each with its spellings, as :func:`vocabulary` takes them."""
    return dataset + json.dumps([*map(list, classes)], ensure_ascii=False, separators=(",", ":"))


def short(name: str) -> str:
    """Return the short name of a class list; of one that a dataset names itself, the dataset."""
    return name.partition("[")[0]


def own(name: str) -> bool:
    """Return whether a class list is that of a dataset that names its classes itself."""
    return "[" in name


def known(name: str) -> bool:
    """Return whether there is a class list of that name."""
    try:
        vocabulary(name)
    except UsageError:
        return False
    return True
