"""All rules: their catalogue, and how an extension makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seldio.rules.registry import ERROR, INFO, WARNING, catalogue, find, findings, rule, unexplained

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seldio.findings import Rule
    from seldio.rules.base import Labels as Labels

    CATALOGUE: Mapping[str, Rule]

__all__ = ["CATALOGUE", "ERROR", "INFO", "WARNING", "Labels", "find", "findings", "rule", "unexplained"]


def __getattr__(name: str) -> Any:
    if name == "CATALOGUE":  # with the rules of extensions, which import this package
        return catalogue()
    if name == "Labels":  # what rules of extensions about labels name; whoever looks for a rule needs no arrays
        from seldio.rules.base import Labels

        return Labels
    raise AttributeError(f"module 'seldio.rules' has no attribute {name!r}")
