"""Hides wings from import: for scripts, and as a plugin of pytest (``-p hidden``) that reads ``SELDIO_HIDDEN``.

The plugin leaves out what needs a hidden wing (see ``wing_tests.py``), and of a test that is called with many arguments
all but the first and the last.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import groupby

import pytest
from wing_tests import SLOW, needs

from seldio import wings


class Hidden(MetaPathFinder):
    """Finds modules, so that others do not, and denies that they are there."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.modules = tuple(modules)
        self.below = tuple(f"{module}." for module in modules)

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Nothing, or the error for a module that is not there."""
        if fullname in self.modules or fullname.startswith(self.below):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def hidden_with(name: str) -> set[str]:
    """The names of a wing and of those that cannot work without it."""
    found = {name}
    while more := {wing.name for wing in wings.OWN if found & {*wing.needs}} - found:
        found |= more
    return found


def hide(name: str) -> set[str]:
    """Hide a wing, and those that need it, from this process, in which none of them is loaded yet."""
    names = hidden_with(name)
    modules = [module for wing in wings.OWN if wing.name in names for module in wing.modules]
    loaded = sorted(set(modules) & set(sys.modules))
    assert not loaded, f"{loaded} loaded before they were hidden"
    sys.meta_path.insert(0, Hidden(modules))
    return names


GONE = hide(os.environ["SELDIO_HIDDEN"]) if os.environ.get("SELDIO_HIDDEN") else set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that ask for what is hidden, slow ones, and most arguments."""
    kept: list[pytest.Item] = []
    for function, group in groupby(items, lambda item: address(item).partition("[")[0]):
        calls = [item for item in group if function not in SLOW and not needs(address(item)) & GONE]
        kept += [*calls[:1], *calls[1:][-1:]]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def address(test: pytest.Item) -> str:
    """Where a test stands, seen from this folder."""
    return test.nodeid.removeprefix("tests/")
