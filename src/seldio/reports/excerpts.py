"""A line of a file as people are shown it, and where its caret stands.

Columns of a finding count characters of the file; a terminal counts cells. Between the two lie escapes (one character
becomes four), tabs, wide characters (two cells) and combining marks (none).
"""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

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


def fit(line: str, column: int, end_column: int | None, room: int) -> Excerpt:
    """Return the part of *line* around [column, end_column) that fits into *room* cells.

    A column past the end of the line is placed right after its last character.
    """
    line = line.rstrip("\r\n")
    start = min(column - 1, len(line))
    end = min(max((end_column or 0) - 1, start + 1), len(line))
    low, part = max(start - room, 0), line[max(start - room, 0) : start + room]
    escaped = commands(part)
    pieces = [
        r"\x23" if number in escaped else TAB if character == "\t" else printable(character)
        for number, character in enumerate(part)
    ]
    widths = list(map(cell_len, pieces))
    start, end, high = start - low, min(end - low, len(part)), len(part)
    first = 0
    if low or len(line) > len(part) or sum(widths) > room:
        room -= 2 * len(ELLIPSIS)
        before = room // 3 if sum(widths[:end]) + room // 3 > room else room
        while sum(widths[first:start]) > before:
            first += 1
        while sum(widths[first:high]) > room:
            high -= 1
        while high == len(widths) and first and sum(widths[first - 1 : high]) <= room:
            first -= 1
    while first < start < len(widths) and not widths[start]:
        start -= 1  # a combining mark stands in the cell of the character before it: begin there
    end = min(end, high)
    head, tail = ELLIPSIS * (low + first > 0), ELLIPSIS * (low + high < len(line))
    before_it, marked = head + "".join(pieces[first:start]), "".join(pieces[start:end])
    text = before_it + marked + "".join(pieces[end:high]) + tail
    return Excerpt(text, len(before_it), len(before_it + marked), cell_len(before_it), cell_len(marked) or 1)
