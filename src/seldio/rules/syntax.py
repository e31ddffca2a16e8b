"""SYN: what readers find wrong with bytes, lines and cells; each function is one rule's page."""

from __future__ import annotations

from seldio.rules.base import Rule

RULES: tuple[Rule, ...] = ()
