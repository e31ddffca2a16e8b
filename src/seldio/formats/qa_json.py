"""The JSON formats of questions and predictions, as ``questions.toml`` describes them: SO-Bench, MMAU, MMAR, ADQA."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from seldio.formats.items import LETTERS_READ
from seldio.formats.json_items import JsonItems
from seldio.formats.json_records import Layout


def _told(value: Any) -> Any:
    """Lists as tuples, also those that a key has."""
    if isinstance(value, dict):
        return {key: _told(one) for key, one in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _format(name: str, row: dict[str, Any]) -> JsonItems:
    made = {key: _told(value) for key, value in row.items() if key not in ("empty", "layout")}
    made |= {"layout": Layout(**_told(row["layout"]))} if "layout" in row else {}
    made |= {"graded": LETTERS_READ} if row.get("letters") else {}
    return JsonItems(name=name, empty=row.get("empty", {}), **made)


_ROWS = tomllib.loads(files(__package__ or "").joinpath("questions.toml").read_text("utf-8"))
#: All of them, in the order in which they are tried.
FORMATS = tuple(_format(name, row) for name, row in _ROWS.items())
SO_BENCH, SO_PREDICTIONS, SO_DATASET, MMAU, MMAR, ADQA, ADQA_TRAIN, SPATIAL_SOUND_QA, ITEMS, PREDICTIONS = FORMATS
