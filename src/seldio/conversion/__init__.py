"""Conversion between formats, which says what would be lost before anything is written."""

from __future__ import annotations

from seldio.conversion.inputs import read_tables
from seldio.conversion.losses import Plan, plan
from seldio.conversion.sources import Conversion, convert_source
from seldio.conversion.tables import Converted, convert

__all__ = ["Conversion", "Converted", "Plan", "convert", "convert_source", "plan", "read_tables"]
