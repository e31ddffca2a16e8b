"""SAF: what is unsafe to read, to unpack or to print; each function is one rule's page."""

from __future__ import annotations

from seldio.rules.base import Rule

RULES: tuple[Rule, ...] = ()
