"""Hides wings from import: for scripts, and as a plugin of pytest (``-p hidden``) that reads ``SELDIO_HIDDEN``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

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


if os.environ.get("SELDIO_HIDDEN"):
    hide(os.environ["SELDIO_HIDDEN"])
