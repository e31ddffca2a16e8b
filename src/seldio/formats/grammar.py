"""The kinds of cells: how each is written in a regular expression, and how its values are printed.

The expressions are possessive throughout (no backtracking), so that matching is linear in the input
whatever it holds. Numbers are plain decimals of ASCII digits: what Python's ``int`` and ``float``
accept beyond that (``1_0``, Arabic digits, ``nan``) is not data.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

Ints = np.ndarray[Any, np.dtype[np.int64]]


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


# At most nine digits of value, which an int32 holds; leading zeros do not count.
_DIGITS = rb"(?:[0-9]{1,9}+|0++[0-9]{0,9}+)"
_INT = rb"-?+" + _DIGITS
_DECIMAL = rb"-?+(?:" + _DIGITS + rb"(?:\.[0-9]*+)?+|\.[0-9]++)"
# No exponent that could lead out of the floats: such a number is always finite.
_REAL = _DECIMAL + rb"(?:e(?:-[0-9]{1,3}+|\+?+[0-9]{1,2}+))?+"
# Characters that hide or reorder text, as UTF-8: C1 controls, soft hyphen, marks of direction, zero widths.
_HIDDEN = (
    rb"(?:\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]"
    rb"|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80\x81])"
)
_NAME = rb"(?![ =+@-])(?:(?!" + _HIDDEN + rb')[^,"\x00-\x1f\x7f])++(?<! )'

KINDS: dict[str, Kind] = {
    "int": Kind(_INT, "a whole number", _whole),
    "whole": Kind(_DECIMAL, "a whole number", _whole),
    "real": Kind(_REAL, "a decimal number", _real),
    "real3": Kind(_REAL, "a decimal number", _real3),
    "real3inf": Kind(rb"(?:" + _REAL + rb"|-?+inf)", "a decimal number, inf or -inf", _real3),
    "flag": Kind(rb"[01]", "0 or 1", _whole),
    "name": Kind(_NAME, "a class name", _text),
    "zero": Kind(_REAL, "0", _real),
}
#: The value that numbers stay below.
LIMIT = 1e9


def cell_pattern(kind: str) -> re.Pattern[bytes]:
    """The grammar of one cell, to be matched whole."""
    return re.compile(KINDS[kind].pattern)


_MANTISSA = re.compile(rb"(?:\A|[,\n])" + _DECIMAL + rb"\Z")
_EXPONENT = re.compile(rb"e(?=(?:-[0-9]{1,3}|[0-9]{1,2})(?:[,\r\n]|\Z))")


def plain_exponents(data: bytes) -> bool:
    """Whether the numbers of *data* that have an exponent (after a lower-case e) are in the grammar.

    May say no to very long ones that are.
    """
    count = 0
    for match in _EXPONENT.finditer(data):
        count += 1
        if not _MANTISSA.search(data, max(0, match.start() - 40), match.start()):
            return False
    return count == data.count(b"e")
