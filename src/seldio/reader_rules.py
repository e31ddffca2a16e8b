"""The rules of seldio, as ``rules/rules.toml`` lists them; the page of each is ``rules/pages/CODE.md``.

Readers report findings of these rules themselves, without loading what checks the others (``seldio.rules``).
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from seldio.findings import DOCS, Rule, Severity

#: What the file has on each rule, by code.
RECORDS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "rules" / "rules.toml").read_text("utf-8"))
#: The rules by code.
READER_RULES: dict[str, Rule] = {}
for _code, _record in RECORDS.items():
    # what is wrong with JSON is there with line and column: MERA needs not say it as well
    _explains = ("PRD121",) if _code.startswith("SYN") else tuple(_record.get("explains", ()))
    _kind = _record["name"], Severity(_record["severity"]), _record.get("fix", "none")
    _text = {"summary": _record["summary"], "hint": _record.get("hint"), "url": f"{DOCS}reference/rules/{_code}.html"}
    READER_RULES[_code] = Rule(_code, *_kind, explains=_explains, **_text)
