"""All rules: a catalogue that loads each when it is needed, and an index that lists them without loading any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seldio.rules.registry import (
    CATALOGUE,
    ERROR,
    INFO,
    WARNING,
    find,
    findings,
    get,
    index,
    register,
    rule,
    rules_for,
    run,
    unexplained,
)  # fmt: skip

if TYPE_CHECKING:
    from seldio.rules.base import Labels as Labels

__all__ = [
    "CATALOGUE", "ERROR", "INFO", "WARNING", "Labels", "find", "findings", "get", "index", "register", "rule",
    "rules_for", "run", "unexplained",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "Labels":  # what rules of extensions about labels name; whoever looks for a rule needs no arrays
        from seldio.rules.base import Labels

        return Labels
    raise AttributeError(f"module 'seldio.rules' has no attribute {name!r}")
