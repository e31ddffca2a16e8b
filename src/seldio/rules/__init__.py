"""All rules, in one explicit catalogue from which the documentation and the command line are generated."""

from __future__ import annotations

from importlib import import_module

from seldio import plugins
from seldio.findings import Rule
from seldio.rules.base import Labels
from seldio.rules.registry import CATALOGUE, ERROR, INFO, WARNING, find, findings, get, register, rule, rules_for, run

#: The modules of all rules with a check. Rules of one subject run in this order: misreadings come first, since they
#: explain values out of range.
FAMILIES = tuple(
    import_module(f"seldio.rules.{name}")
    for name in (
        "misreadings", "labels", "submissions", "clip_names", "file_sets", "package_rules", "package_meta", "layout",
        "tree_gaps", "ignored", "stored", "hub", "hub_secrets", "items", "item_choices", "item_answers", "mera",
        "mera_verdict", "predictions", "item_audio", "audio", "deep", "deep_levels", "video", "item_blind",
    )
)  # fmt: skip
plugins.rows("rules", Rule)  # rules register themselves when they are created
for _code in sorted(CATALOGUE):
    CATALOGUE[_code] = CATALOGUE.pop(_code)

__all__ = [
    "CATALOGUE", "ERROR", "FAMILIES", "INFO", "WARNING", "Labels", "find", "findings", "get", "register", "rule",
    "rules_for", "run",
]  # fmt: skip
