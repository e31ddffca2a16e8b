"""What stands outside the package: your own dataset, dialect, vocabulary, rule, task or format.

``SELDIO_PLUGINS`` names folders, or packages that can be imported, separated like the entries of ``PATH``. A folder
holds a module for each kind of thing that it adds, called like the table of that kind and with the rows under the
same name in capitals: ``datasets.py`` has ``DATASETS = (DatasetSpec(...),)``, ``dialects.py`` has ``DIALECTS``, and so
on. Data are in a folder: ``vocabularies/NAME.json``. Each table asks for its rows here, once, when it is built.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from seldio.errors import UsageError

VARIABLE = "SELDIO_PLUGINS"
_Row = TypeVar("_Row")


@cache
def packages() -> tuple[str, ...]:
    """The names of the packages outside; the folders that hold them can be imported from then on."""
    names = []
    for entry in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        folder = Path(entry)
        if folder.is_dir():
            folder = folder.resolve()
            sys.path.append(str(folder.parent))
        if importlib.util.find_spec(folder.name) is None:
            raise UsageError(f"{VARIABLE}: no folder or package {entry}")
        names.append(folder.name)
    return tuple(names)


def rows(table: str, kind: type[_Row]) -> tuple[_Row, ...]:
    """The rows that are added to *table*, such as ``datasets``; each is of one *kind*.

    Raises:
        UsageError: a package is missing, or its module cannot be imported or holds something else.
    """
    found: list[_Row] = []
    for package in packages():
        name = f"{package}.{table}"
        if importlib.util.find_spec(name) is None:
            continue
        try:
            added = tuple(getattr(importlib.import_module(name), table.upper()))
        except Exception as error:
            raise UsageError(f"{VARIABLE}: {name}: {type(error).__name__}: {error}") from error
        if not all(isinstance(row, kind) for row in added):
            raise UsageError(f"{VARIABLE}: {name}: {table.upper()} must hold nothing but {kind.__name__} rows")
        found += added
    return tuple(found)


def folders(name: str) -> tuple[Traversable, ...]:
    """The folders called *name* of the packages outside."""
    found = (resources.files(package) / name for package in packages())
    return tuple(folder for folder in found if folder.is_dir())
