"""Formats, rules and commands of installed packages, and datasets as files of data, from outside the package.

An installed package names each of its formats, rules and commands by an entry point in the group ``seldio.formats``,
``seldio.rules`` or ``seldio.commands``. Data are files in a folder: ``NAME.toml`` for a dataset and
``vocabularies/NAME.json`` for a class list. ``SELDIO_PLUGINS`` names such folders, separated like the entries of
``PATH``; an entry point in the group ``seldio.datasets`` names a package that is one.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from seldio.errors import UsageError
from seldio.text import from_toml

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

VARIABLE = "SELDIO_PLUGINS"
_Object = TypeVar("_Object")


@cache
def version() -> str:
    """Return the version of seldio that is installed, by the name of its folder of metadata where it has one."""
    folders = (folder for top in sys.path for folder in Path(top).glob("seldio-*.dist-info"))
    if (folder := next(folders, None)) is not None:
        return folder.stem.partition("-")[2]
    from importlib.metadata import version

    return version("seldio")


# --- objects of installed packages -----------------------------------------------------------------


@cache
def _entry_point_files() -> tuple[str, ...]:
    files = (file for top in sys.path for file in Path(top).glob("*.*-info/entry_points.txt"))
    texts = (file.read_text("utf-8", "replace") for file in files)
    return tuple(text for text in texts if "[seldio." in text)


@cache
def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points in the group ``seldio.{group}``; none of them is loaded."""
    if not any(f"[seldio.{group}]" in text for text in _entry_point_files()):
        return ()
    from importlib.metadata import entry_points

    return tuple(entry_points(group=f"seldio.{group}"))


def load(point: EntryPoint, kind: type[_Object]) -> _Object:
    """Return the object of one *kind* that an entry point names; raise UsageError if it is missing or another."""
    place = f"entry point {point.name} = {point.value} of {point.group}"
    try:
        loaded = point.load()
    except Exception as error:
        raise UsageError(f"{place}: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, kind):
        raise UsageError(f"{place}: {type(loaded).__name__} is not a {kind.__name__}")
    return loaded


def added(group: str, kind: type[_Object]) -> tuple[_Object, ...]:
    """Return the objects that the entry points of a group name; raises as :func:`load`."""
    return tuple(load(point, kind) for point in entry_points(group))


# --- folders of data -------------------------------------------------------------------------------


@cache
def data_folders() -> tuple[tuple[str, Path], ...]:
    """Return the folders of :data:`VARIABLE` and of packages, each behind what messages call it.

    Raises:
        UsageError: one is missing or holds code.
    """
    folders = []
    for name in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        if not Path(name).is_dir():
            raise UsageError(f"{VARIABLE}: no folder {name}")
        if code := sorted(Path(name).glob("*.py")):
            hint = "formats, rules and commands are added by the entry points of a package (docs/extending.md)"
            raise UsageError(f"{VARIABLE}: {code[0]} is code, and only files of data are read here; {hint}")
        folders.append((f"{VARIABLE}: {Path(name).resolve().name}", Path(name)))
    for point in entry_points("datasets"):
        package = load(point, ModuleType)
        folders.append((f"package {package.__name__}", Path(package.__path__[0])))
    return tuple(folders)


@cache
def datasets() -> tuple[Mapping[str, Any], ...]:
    """Return the record of each challenge year and dataset: a TOML file each, which is all that a new year needs.

    A file says how label files are laid out (``[[formats]]``), how the tree looks and is recognized (``[tree]``), what
    the recordings and videos are like, and how labels are scored (``[[profiles]]``). Formats, ranges of rules, checks
    of folders, profiles and pages are made from it (docs/howto/next-year.md). :mod:`seldio.schema.dataset_file` says
    which keys there are, and what they mean. Those of seldio come first, by their ``order``; one from outside has a
    further key, ``place``: which file it is.

    Raises:
        UsageError: one from outside cannot be read as TOML.
    """
    records = [tomllib.loads(file.read_text("utf-8")) for file in (Path(__file__).parent / "datasets").glob("*.toml")]
    records.sort(key=lambda record: record["order"])
    for folder, path in data_folders():
        for file in sorted(path.glob("*.toml")):
            place = f"{folder}/{file.name}"
            try:
                records.append({**from_toml(file.read_text("utf-8")), "place": place})
            except ValueError as error:
                raise UsageError(f"{place}: {error}") from None
    return tuple(records)
