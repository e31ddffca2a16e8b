"""The kinds of cells: how each is written in a regular expression, and how its values are printed.

The expressions are possessive throughout (no backtracking), so that matching is linear in the input
whatever it holds. Numbers are plain decimals of ASCII digits: what Python's ``int`` and ``float``
accept beyond that (``1_0``, Arabic digits, ``nan``) is not data.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """A kind of cell.

    Args:
        pattern: the expression that a cell of this kind matches.
        says: what is expected, for messages.
        render: numpy values to an Arrow array of strings.
    """

    pattern: bytes
    says: str
    render: Callable[[Any], pa.Array]


def _whole(values: Any) -> pa.Array:
    # rint rounds halves to even, as the official writer's round() does; never cut off
    numbers = values if values.dtype.kind in "iub" else np.rint(values)
    return pa.array(numbers.astype(np.int64)).cast(pa.string())


def _real(values: Any) -> pa.Array:
    return pa.array(list(map(repr, values.astype(np.float64).tolist())))


def _real3(values: Any) -> pa.Array:
    # adding 0.0 turns -0.0 into 0.0
    return pa.array(["%.3f" % value for value in (np.round(values, 3) + 0.0).tolist()])  # noqa: UP031


def _text(values: Any) -> pa.Array:
    return pa.array(values, pa.string())


_INT = rb"-?+[0-9]{1,9}+"
_DECIMAL = rb"-?+[0-9]{1,40}+(?:\.[0-9]{0,40}+)?+"
_REAL = _DECIMAL + rb"(?:e[-+]?+[0-9]{1,2}+)?+"

KINDS: dict[str, Kind] = {
    "int": Kind(_INT, "a whole number", _whole),
    "whole": Kind(_DECIMAL, "a whole number", _whole),
    "real": Kind(_REAL, "a decimal number", _real),
    "real3": Kind(_REAL, "a decimal number", _real3),
    "real3inf": Kind(rb"(?:" + _REAL + rb"|-?+inf)", "a decimal number, inf or -inf", _real3),
    "flag": Kind(rb"[01]", "0 or 1", _whole),
    "name": Kind(rb'[^,"\x00-\x1f]++', "a class name", _text),
    "zero": Kind(_REAL, "0", _real),
}


def row_pattern(kinds: Sequence[str]) -> re.Pattern[bytes]:
    """The grammar of a run of rows: cells joined by commas, spaces allowed after a comma."""
    cells = rb", *+".join(KINDS[kind].pattern for kind in kinds)
    return re.compile(rb"(?:" + cells + rb"\n)*+")


def cell_pattern(kind: str) -> re.Pattern[bytes]:
    """The grammar of one cell, to be matched whole."""
    return re.compile(KINDS[kind].pattern)
