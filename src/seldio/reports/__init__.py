"""Findings and scores in the form their reader wants: a person, a program, a spreadsheet, a CI system.

:data:`OUTPUTS` has a record for each form. ``text``, ``concise``, ``markdown`` and ``html`` are for people: nothing in
them can move a terminal's cursor or hide text, and numbers have as many digits as matter. The others are for programs:
they are never cut short, and keep every digit, shares from 0 to 1.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from importlib import import_module
from typing import TextIO

from seldio.errors import UsageError
from seldio.findings import Report
from seldio.reports.tables import Options, Subject

__all__ = ["OUTPUTS", "Options", "Subject", "checked", "outputs", "render", "screen", "write"]

LEAST_ROOM = 20
DEFAULT_WIDTH = 100
#: Sentences are broken here on a terminal that is wider: longer lines are hard to read.
READABLE = 100

#: By name, what each output shows, and the function below this package that writes it, loaded when it is first used:
#: from what is reported and :class:`Options` to pieces of text.
OUTPUTS = {
    "text": (("findings", "scores"), "terminal:text"),
    "concise": (("findings",), "ci:concise"),
    "json": (("findings", "scores"), "json_report:json"),
    "jsonl": (("findings",), "json_report:jsonl"),
    "csv": (("findings", "scores"), "spreadsheet:csv_text"),
    "sarif": (("findings",), "ci:sarif"),
    "github": (("findings",), "ci:github"),
    "markdown": (("findings", "scores"), "markup:markdown"),
    "html": (("findings", "scores"), "page:page"),
    "latex": (("scores",), "markup:latex"),
}


def outputs(kind: str) -> list[str]:
    """Return the names of the outputs for ``findings`` or for ``scores``."""
    return [name for name, (kinds, _) in OUTPUTS.items() if kind in kinds]


def checked(output: str, kind: str) -> str:
    """Return *output*, if there is an output of that name for ``findings`` or for ``scores``.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    if output not in outputs(kind):
        raise UsageError(f"unknown output {output!r} for {kind}; choose from {', '.join(outputs(kind))}")
    return output


def render(subject: Subject, output: str = "text", options: Options | None = None) -> Iterator[str]:
    """Return *subject* in a named output, piece by piece; the pieces joined are the whole text.

    The same subject gives the same text everywhere: it depends on neither the environment nor a terminal
    (:func:`write` does that). Scores of several systems are put side by side first.

    Raises:
        UsageError: no such output or table, or no score at all.
    """
    if not isinstance(subject, Report) and not subject:
        raise UsageError("no scores to report")
    _, place = OUTPUTS[checked(output, "findings" if isinstance(subject, Report) else "scores")]
    options = options or Options()
    plain = output == "text" and not (options.color or options.wrap)
    if plain and isinstance(subject, Report) and not (subject.findings or subject.heard):
        from seldio.reports.sections import verdict  # all there is to say, for which rich would be loaded in vain

        return iter([f"{verdict(subject)}\n"])
    module, function = place.split(":")
    pieces: Iterator[str] = getattr(import_module(f"{__name__}.{module}"), function)(subject, options)
    return pieces


def write(subject: Subject, stream: TextIO, output: str = "text", options: Options | None = None) -> None:
    """Write *subject* to *stream*.

    Text is coloured and as wide as the terminal when *stream* is one and ``NO_COLOR`` is not set.
    """
    options = options or Options()
    if output == "text":
        color, width, wrap = screen(stream)
        options = dataclasses.replace(options, color=color, width=width, wrap=wrap)
    stream.writelines(render(subject, output, options))


def screen(stream: TextIO) -> tuple[bool, int, bool]:
    """Return whether to use colours on *stream*, its width in cells, and if it is a terminal; honours ``NO_COLOR``."""
    if stream.isatty() or os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE") == "1":
        from rich.console import Console

        console = Console(file=stream)
        if console.is_terminal:
            return not (console.no_color or console.is_dumb_terminal), console.width, True
    width = os.environ.get("COLUMNS", "")
    return False, int(width) if width.isdigit() else DEFAULT_WIDTH, False
