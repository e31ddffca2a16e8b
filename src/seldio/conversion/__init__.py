"""Conversion between formats, which says what would be lost before anything is written."""

from __future__ import annotations

from seldio.conversion.inputs import read_tables
from seldio.conversion.labels import convert_source
from seldio.conversion.losses import Converted, Plan, convert, plan
from seldio.conversion.report import Conversion

__all__ = ["Conversion", "Converted", "Plan", "convert", "convert_source", "plan", "read_tables"]
