"""What strict JSON asks for beyond what the scanner of the standard library does, and places in its text.

Shared by those who load (``json_text``) and who explain what is broken (``json_diagnosis``).
"""

from __future__ import annotations

import json
import math
import re
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import Any, NamedTuple

from seldio.findings import Finding, Severity
from seldio.reader_rules import reader_rule

#: How many arrays and objects may stand inside each other.
MAX_DEPTH = 64
_CLIP = 100

_ONE_DIGIT = bytes.maketrans(b"123456789E", b"000000000e")
_BIG_EXPONENT = re.compile(rb"0e\+?000")
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
# Half of a surrogate pair, in masked text.
LONE = re.compile(
    r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_SAME_BRACKETS = bytes.maketrans(b"{}", b"[]")
_PROSE = bytes(set(range(256)) - set(b'"[]{}\\/bfnrtu'))  # all but brackets, quotes and escapes
_SPACE = re.compile(r"[ \t\n\r]*")


class Span(NamedTuple):
    """A place in a file: 1-based line, column and end column (characters), its text and its line.

    *text* is as it stands in the file, clipped. What runs over several lines ends, for
    *end_column*, with its first line.
    """

    line: int
    column: int
    end_column: int
    text: str
    excerpt: str


class Problem(NamedTuple):
    """What is wrong between two offsets; *torn*: text behind the end could have made it right."""

    code: str
    start: int
    end: int
    message: str
    hint: str | None = None
    torn: bool = False


class Source:
    """A text and where it comes from: offsets become lines and columns."""

    __slots__ = ("_excerpt", "_index", "_starts", "first_line", "path", "text")

    def __init__(self, text: str, path: str = "", first_line: int = 1) -> None:
        self.text, self.path, self.first_line = text, path, first_line
        self._starts = array("Q")
        self._index, self._excerpt = -1, ""

    def span(self, start: int, end: int) -> Span:
        """The place between two offsets."""
        if not self._starts:
            lengths = (len(line) + 1 for line in self.text.split("\n"))
            self._starts = array("Q", accumulate(lengths, initial=0))
        index = bisect_right(self._starts, start) - 1
        begin, behind = self._starts[index : index + 2]
        if index != self._index:  # findings that follow each other in one line share its text
            self._index, self._excerpt = index, self.text[begin : behind - 1].removesuffix("\r")
        stop = max(min(end, begin + len(self._excerpt)), start)
        text = self.text[start : min(end, start + _CLIP)] + "…" * (end - start > _CLIP)
        return Span(self.first_line + index, start - begin + 1, stop - begin + 1, text, self._excerpt)

    def place(self, offset: int) -> str:
        """An offset in words."""
        span = self.span(offset, offset)
        return f"line {span.line:,}, column {span.column:,}"

    def finding(self, what: Problem, severity: Severity | None = None) -> Finding:
        """The finding for a problem; its severity is that of the rule unless one is given."""
        line, column, end_column, text, excerpt = self.span(what.start, what.end)
        return reader_rule(what.code).at(
            self.path, what.message, what.hint, line, column, text, excerpt, end_column=end_column,
            severity=severity, fixable=False,
        )  # fmt: skip


def skip(text: str, pos: int) -> int:
    """The offset of the next character that is not white space."""
    match = _SPACE.match(text, pos)
    return match.end() if match else pos


def masked(text: str) -> str:
    """*text*, as long as before, with other escaped backslashes: each one left begins an escape."""
    return text.replace("\\\\", "__")


def large_numbers(data: bytes) -> bool:
    """Whether there are 19 digits that follow no point, or 3 in an exponent: these may leave 64 bits."""
    digits = data.translate(_ONE_DIGIT)
    heads = digits.split(b"0" * 19)[:-1]
    return any(not head.endswith(b".") for head in heads) or _BIG_EXPONENT.search(digits) is not None


def too_deep(raw: bytes) -> bool:
    """Whether brackets nest deeper than MAX_DEPTH; exact up to the first break of the syntax."""
    raw = raw.translate(None, _PROSE)
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    structure = raw.translate(_SAME_BRACKETS, b"/bfnrtu\\").replace(b'""', b"")
    structure = b"".join(structure.split(b'"')[::2])  # without the brackets in strings
    left = structure
    for _ in range(MAX_DEPTH):
        left = left.replace(b"[]", b"")  # takes the innermost level away
    return bool(left) and max(accumulate(ord("[") + 1 - byte for byte in structure)) > MAX_DEPTH


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def int64(digits: str) -> int:
    """The whole number; a ValueError if it does not fit into 64 bits."""
    if len(digits) > 20 or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError
    return number


def finite(digits: str) -> float:
    """The number; a ValueError if it is larger than any float."""
    if math.isinf(number := float(digits)):
        raise ValueError
    return number


def refuse(constant: str) -> None:
    """NaN and infinity are a ValueError."""
    raise ValueError(constant)


LENIENT = json.JSONDecoder()
PLAIN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=refuse)
CAREFUL = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=refuse, parse_int=int64, parse_float=finite)
