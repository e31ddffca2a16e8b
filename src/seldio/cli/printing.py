"""Print the output of commands: reports, records as JSON, lines for people."""

from __future__ import annotations

import os
import sys
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


def print_wrapped(text: str, *, fill: bool = False) -> None:
    """Print lines for people, broken between words where the terminal is narrower; *fill*: paragraphs anew."""
    from seldio.reports import wrapped

    typer.echo(wrapped(text, sys.stdout, fill=fill))


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
