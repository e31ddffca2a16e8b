"""A line of a file as people are shown it, and where its caret stands.

Columns of a finding count characters of the file; a terminal counts cells. Between the two lie escapes (one character
becomes four), tabs, wide characters (two cells) and combining marks (none).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from seldio.text import commands, printable

TAB = "    "
ELLIPSIS = "…"


class Excerpt(NamedTuple):
    """A line as displayed. *start* and *end* are characters of *text*; *indent*, *carets* are cells."""

    text: str
    start: int
    end: int
    indent: int
    carets: int


def cells(text: str) -> int:
    """Return how many terminal cells *text* takes."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(line: str, column: int, end_column: int | None, room: int) -> Excerpt:
    """Return the part of *line* around [column, end_column) that fits into *room* cells.

    A column past the end of the line is placed right after its last character.
    """
    line = line.rstrip("\r\n")
    start = min(column - 1, len(line))
    end = min(max((end_column or 0) - 1, start + 1), len(line))
    first = max(start - room, 0)
    part = line[first : start + room]
    escaped = commands(part)
    pieces = [
        r"\x23" if number in escaped else TAB if character == "\t" else printable(character)
        for number, character in enumerate(part)
    ]
    widths = [cells(piece) for piece in pieces]
    low, high = _window(widths, start - first, end - first, room, whole=len(widths) == len(line))
    head, tail = ELLIPSIS * (first + low > 0), ELLIPSIS * (first + high < len(line))
    start, end = start - first, min(end - first, high)
    while low < start < len(widths) and not widths[start]:
        start -= 1  # a combining mark stands in the cell of the character before it: begin there
    before, marked = head + "".join(pieces[low:start]), "".join(pieces[start:end])
    text = before + marked + "".join(pieces[end:high]) + tail
    return Excerpt(text, len(before), len(before + marked), cells(before), cells(marked) or 1)


def _window(widths: list[int], start: int, end: int, room: int, *, whole: bool) -> tuple[int, int]:
    """Return which pieces to show: all, or the line's beginning, or some before *start* and more after it."""
    if whole and sum(widths) <= room:
        return 0, len(widths)
    room -= 2 * len(ELLIPSIS)
    context = room // 3
    low = 0 if sum(widths[:end]) + context <= room else start - _fitting(reversed(widths[:start]), context)
    high = low + _fitting(widths[low:], room)
    return (high - _fitting(reversed(widths[:high]), room) if high == len(widths) else low), high


def _fitting(widths: Iterable[int], room: int) -> int:
    """Return how many of *widths*, from the first on, fit into *room*."""
    count = 0
    for width in widths:
        room -= width
        if room < 0:
            break
        count += 1
    return count
