"""Print for people, without a terminal if possible: rich is loaded only for a terminal, or for something to lay out."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator
from typing import TextIO

from seldio.findings import Report
from seldio.reports.sections import verdict
from seldio.reports.tables import Options, Subject

LEAST_ROOM = 20
DEFAULT_WIDTH = 100
#: Sentences are broken here on a terminal that is wider: longer lines are hard to read.
READABLE = 100


def text(subject: Subject, options: Options) -> Iterator[str]:
    """Return a report as :func:`seldio.reports.terminal.text` lays it out, if there is more than a verdict."""
    if isinstance(subject, Report) and not (subject.findings or subject.heard or options.color or options.wrap):
        return iter([f"{verdict(subject)}\n"])
    from seldio.reports import terminal

    return terminal.text(subject, options)


def screen(stream: TextIO) -> tuple[bool, int, bool]:
    """Return whether to use colours on *stream*, its width in cells, and if it is a terminal; honours ``NO_COLOR``."""
    if not (stream.isatty() or os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE") == "1"):
        width = os.environ.get("COLUMNS", "")
        return False, int(width) if width.isdigit() else DEFAULT_WIDTH, False
    from seldio.reports import terminal

    return terminal.screen(stream)


_INDENTED = re.compile(r" *\S+ {2,}| +")


def wrapped(lines: str, stream: TextIO, *, fill: bool = False) -> str:
    """Return *lines* as *stream* shows them: on a terminal long ones are broken between words, below the second column.

    Where *fill* is asked for, lines that follow one another are one paragraph, but for those of an example.
    """
    _, width, terminal = screen(stream)
    if not terminal and not os.environ.get("COLUMNS", "").isdigit():
        return lines
    width, shown = max(min(width, READABLE), 2 * LEAST_ROOM), []
    if fill:  # each paragraph in one line, below its heading if it has one ("Fix:"); examples as they are
        blocks = lines.split("\n\n")
        lines = "\n\n".join(
            block if block.startswith("Example:") else re.sub(r"(?<!:)\n *", " ", block) for block in blocks
        )
    for line in lines.split("\n"):
        start = _INDENTED.match(line)
        indent = start.end() if start is not None and start.end() < width // 2 else 0
        broken = textwrap.wrap(
            line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
        )
        shown += broken if len(line) > width and " " in line[indent:].strip() else [line]
    return "\n".join(shown)
