"""Print the output of commands: reports, records as JSON, lines for people."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seldio.errors import ExitCode, UsageError
from seldio.plugins import version
from seldio.text import json_text, printable

if TYPE_CHECKING:
    from seldio.reports import Subject


def working(workers: str | None) -> AbstractContextManager[None]:
    """Return :func:`seldio.running` with the value of ``--workers``."""
    from seldio.parallel import running

    if workers == "ray":
        return running(ray=True)
    if workers is not None and not workers.isdecimal():
        raise UsageError(f"--workers takes a number of processes, or ray, not {printable(workers)}")
    return running(None if workers is None else int(workers))


def print_json(value: Mapping[str, object], *, aside: bool = False) -> None:
    """Print what a command did or knows as JSON, with the version of seldio; on standard error if *aside*."""
    typer.echo(json_text({"seldio": version(), **value}, indent=2, default=str), err=aside)


def print_error(message: str, kind: ExitCode, code: int, *, aside: bool = False) -> None:
    """Print what a command that was asked for JSON failed with as JSON."""
    try:
        print_json({"error": {"kind": kind.name.lower(), "exit_code": int(code), "message": message}}, aside=aside)
    except OSError:  # standard output is full or closed
        close_output()


def close_output() -> None:
    """Keep Python from complaining at exit of what standard output could not take."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_INDENTED = re.compile(r" *\S+ {2,}| +")


def print_wrapped(lines: str, *, fill: bool = False) -> None:
    """Print lines for people, on a terminal broken between words, below the second column.

    Where *fill* is asked for, lines that follow one another are one paragraph, but for those of an example.
    """
    from seldio.reports import LEAST_ROOM, READABLE, screen

    _, width, terminal = screen(sys.stdout)
    if not terminal and not os.environ.get("COLUMNS", "").isdigit():
        typer.echo(lines)
        return
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
    typer.echo("\n".join(shown))


def see_free(out: str | None, *inputs: object) -> None:
    """See that a report takes the place of nothing that it is about; it may lie among that, and replace an earlier one.

    Raises:
        UsageError: it is one of the *inputs*, or a file in one of them that holds data.
    """
    from seldio.files import input_at, open_source

    given = [place for each in inputs for place in (each if isinstance(each, list | tuple) else [each])]
    if out is None or not Path(out).is_file() or (place := input_at(Path(out), given)) is None:
        return
    from seldio.catalogues import Catalogue

    if Path(place).is_dir():
        with open_source(out, lambda _: None) as source:
            held = [group for group in Catalogue(source).groups if group.format or group.kind in _DATA]
    if Path(place).is_file() or held:
        raise UsageError(f"-o {out}: this is one of the files that are read; choose another name")


#: What a report never takes the place of, besides files of a known format.
_DATA = ("recording", "video", "description")


def write_report(subject: Subject, output: str, out: str | None, **options: Any) -> None:
    """Write findings or scores to a file, or print them; the options are those of :class:`seldio.reports.Options`."""
    from seldio.reports import Options, render, write

    chosen = Options(**options)
    if out is None:
        write(subject, sys.stdout, output, chosen)
        return
    from seldio.files import atomic_write

    with atomic_write(Path(out)) as stream:
        for piece in render(subject, output, chosen):
            stream.write(piece.encode("utf-8", "backslashreplace"))
