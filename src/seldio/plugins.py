"""What stands outside the package: your own dataset, format, vocabulary, rule, task or output.

``SELDIO_PLUGINS`` names folders, or packages that can be imported, separated like the entries of ``PATH``. A folder
holds a module for each kind of thing that it adds, called like the table of that kind and with the rows under the
same name in capitals: ``rules.py`` has ``RULES = (...)``, ``outputs.py`` has ``OUTPUTS``, and so on. Data are files:
``NAME.toml`` for a dataset, ``vocabularies/NAME.json``. The packages of an installed :class:`~seldio.wings.Wing` are
laid out in the same way. Each table asks for its rows here, once, when it is built.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from seldio.errors import MissingWing, UsageError

VARIABLE = "SELDIO_PLUGINS"
#: The group of entry points by which installed packages add wings.
GROUP = "seldio.wings"
_Row = TypeVar("_Row")


@cache
def installed() -> tuple[tuple[str, Any], ...]:
    """What the entry points of :data:`GROUP` name, each after how it is called in messages.

    Mostly there are none. To see that in the files takes an eighth of what it takes to load ``importlib.metadata``.
    """
    files = (file for top in sys.path for file in Path(top).glob("*.*-info/entry_points.txt"))
    if not any(f"[{GROUP}]" in file.read_text("utf-8", "replace") for file in files):
        return ()
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=GROUP):
        said = f"the wing {point.name} ({point.value})"
        try:
            found.append((said, point.load()))
        except Exception as error:
            raise UsageError(f"{said}: {type(error).__name__}: {error}") from error
    return tuple(found)


@cache
def version() -> str:
    """The version of seldio that is installed, by the name of its folder of metadata where it has one."""
    folders = (folder for top in sys.path for folder in Path(top).glob("seldio-*.dist-info"))
    if (folder := next(folders, None)) is not None:
        return folder.stem.partition("-")[2]
    from importlib.metadata import version

    return version("seldio")


@cache
def packages() -> dict[str, str]:
    """The packages outside, and what messages say they are from; those in folders can be imported from then on."""
    names = {}
    for entry in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        folder = Path(entry)
        if folder.is_dir():
            folder = folder.resolve()
            sys.path.append(str(folder.parent))
        spec = importlib.util.find_spec(folder.name)
        places = [Path(one).resolve() for one in (spec and spec.submodule_search_locations) or ()]
        if not places or (folder.is_dir() and folder not in places):
            other = f": {spec.origin or places[0]} has that name" if spec else ""
            raise UsageError(f"{VARIABLE}: no folder or package {entry}{other}")
        names[folder.name] = VARIABLE
    for said, wing in installed():
        specs = filter(None, map(importlib.util.find_spec, getattr(wing, "modules", ())))
        names.update((spec.name, said) for spec in specs if spec.submodule_search_locations is not None)
    return names


def rows(table: str, kind: type[_Row]) -> tuple[_Row, ...]:
    """The rows that are added to *table*, such as ``rules``; each is of one *kind*.

    Raises:
        UsageError: a package is missing, or its module cannot be imported or holds something else.
    """
    from seldio.wings import needed  # which asks for rows itself

    found: list[_Row] = []
    for package, said in packages().items():
        name = f"{package}.{table}"
        if importlib.util.find_spec(name) is None:
            continue
        try:
            with needed(f"{said}: {name}"):
                added = tuple(getattr(importlib.import_module(name), table.upper()))
        except MissingWing:
            raise
        except Exception as error:
            raise UsageError(f"{said}: {name}: {type(error).__name__}: {error}") from error
        if not all(isinstance(row, kind) for row in added):
            raise UsageError(f"{said}: {name}: {table.upper()} must hold nothing but {kind.__name__} rows")
        found += added
    return tuple(found)


def folders(name: str) -> tuple[Traversable, ...]:
    """The folders called *name* of the packages outside."""
    found = (resources.files(package) / name for package in packages())
    return tuple(folder for folder in found if folder.is_dir())


def index(part: str) -> Iterator[tuple[Any, ...]]:
    """The rows of the ``index.json`` of *part*, such as ``rules``; ``make index`` writes it."""
    yield from _frozen(json.loads((resources.files("seldio") / part / "index.json").read_bytes()))


def _frozen(value: Any) -> Any:
    """Lists as tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


# --- what is known of datasets ---------------------------------------------------------------------

_SUFFIX = ".toml"


@cache
def datasets() -> tuple[Mapping[str, Any], ...]:
    """What is known of each challenge year and dataset, as data: a TOML file each, which is all that a new year needs.

    A file says how label files are laid out (``[[formats]]``), how the tree looks and is recognized (``[tree]``), what
    the recordings and videos are like, and how labels are scored (``[[profiles]]``). Formats, ranges of rules, checks
    of folders, profiles and pages are made from it (docs/howto/next-year.md). :mod:`seldio.schema.dataset_file` says
    which keys there are, and what they mean. Those of seldio come first, by their ``order``; one from outside has a
    further key, ``place``: which file it is.

    Raises:
        UsageError: one from outside cannot be read as TOML.
    """
    own = (file for file in (resources.files("seldio") / "datasets").iterdir() if file.name.endswith(_SUFFIX))
    known = [tomllib.loads(file.read_text("utf-8")) for file in own]
    return (*sorted(known, key=lambda record: record["order"]), *_datasets_outside())


def _datasets_outside() -> Iterator[Mapping[str, Any]]:
    for package, said in packages().items():
        for file in sorted(resources.files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(_SUFFIX):
                place = f"{said}: {package.replace('.', '/')}/{file.name}"
                try:
                    record = tomllib.loads(file.read_text("utf-8"))
                except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                    raise UsageError(f"{place}: {error}") from None
                yield {**record, "place": place}
