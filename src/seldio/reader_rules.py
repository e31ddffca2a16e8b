"""The rules that are records in ``rules/rules.toml``: what readers report while they read, and rules for labels.

The page of each is ``rules/pages/CODE.md``. Rules with a check of their own are in ``seldio.rules``.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from seldio.findings import Rule, Severity

#: What the file has on each rule, by code.
RECORDS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "rules" / "rules.toml").read_text("utf-8"))


def _rule(code: str, record: dict[str, Any]) -> Rule:
    # what is wrong with JSON is there with line and column: MERA needs not say it as well
    explains = ("PRD122",) if code.startswith("SYN") else tuple(record.get("explains", ()))
    return Rule(code, record["name"], Severity(record["severity"]), record.get("fix", "none"), explains=explains)


#: The rules by code.
READER_RULES: dict[str, Rule] = {code: _rule(code, record) for code, record in RECORDS.items()}
#: What a check finds as well, which carries its page: readers say it of rows that a check never gets to see.
_SHARED = {"SUB106": Rule("SUB106", "", Severity.ERROR)}


def reader_rule(code: str) -> Rule:
    """Return the rule from which a reader makes its findings."""
    return READER_RULES.get(code) or _SHARED[code]
