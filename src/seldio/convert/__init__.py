"""Conversion between formats, which says what would be lost before anything is written."""

from __future__ import annotations

from seldio.convert.inputs import read_tables
from seldio.convert.losses import Plan, plan
from seldio.convert.sources import Conversion, convert_source
from seldio.convert.tables import Converted, convert

__all__ = ["Conversion", "Converted", "Plan", "convert", "convert_source", "plan", "read_tables"]
