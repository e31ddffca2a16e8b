"""Findings and scores in the form their reader wants: a person, a program, a spreadsheet, a CI system.

:data:`OUTPUTS` has a record for each form. ``text``, ``concise``, ``markdown`` and ``html`` are for people: nothing in
them can move a terminal's cursor or hide text, and numbers have as many digits as matter. The others are for programs:
they are never cut short, and keep every digit, shares from 0 to 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from importlib import import_module
from typing import TextIO

from seldio.errors import UsageError
from seldio.findings import Report
from seldio.reports.tables import Options, Subject

__all__ = ["OUTPUTS", "Options", "Output", "Subject", "checked", "outputs", "render", "write"]


@dataclasses.dataclass(frozen=True)
class Output:
    """A form that reports are written in."""

    name: str  # what ``--output`` calls it
    #: ``module:function``, imported when it is first used: from what is reported and :class:`Options` to pieces of text
    writer: str
    findings: bool = True  # whether it shows findings
    scores: bool = True  # whether it shows scores

    def write(self, subject: Subject, options: Options) -> Iterator[str]:
        """*subject* piece by piece."""
        module, _, function = self.writer.partition(":")
        pieces: Iterator[str] = getattr(import_module(module), function)(subject, options)
        return pieces


#: Every output by name.
OUTPUTS: dict[str, Output] = {
    output.name: output
    for output in (
        Output("text", "seldio.reports.screens:text"),
        Output("concise", "seldio.reports.ci:concise", scores=False),
        Output("json", "seldio.reports.json_report:json"),
        Output("jsonl", "seldio.reports.json_report:jsonl", scores=False),
        Output("csv", "seldio.reports.spreadsheet:csv_text"),
        Output("sarif", "seldio.reports.sarif:sarif", scores=False),
        Output("github", "seldio.reports.ci:github", scores=False),
        Output("markdown", "seldio.reports.markup:markdown"),
        Output("html", "seldio.reports.page:page"),
        Output("latex", "seldio.reports.latex:latex", findings=False),
    )
}


def outputs(kind: str) -> list[str]:
    """Return the names of the outputs for ``findings`` or for ``scores``."""
    return [output.name for output in OUTPUTS.values() if getattr(output, kind)]


def checked(output: str, kind: str) -> str:
    """*output*, if there is an output of that name for ``findings`` or for ``scores``.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    if output not in outputs(kind):
        raise UsageError(f"unknown output {output!r} for {kind}; choose from {', '.join(outputs(kind))}")
    return output


def render(subject: Subject, output: str = "text", options: Options | None = None) -> Iterator[str]:
    """*subject* in a named output, piece by piece; the pieces joined are the whole text.

    The same subject gives the same text everywhere: it depends on neither the environment nor a terminal
    (:func:`write` does that). Scores of several systems are put side by side first.

    Raises:
        UsageError: no such output or table, or no score at all.
    """
    if not isinstance(subject, Report) and not subject:
        raise UsageError("no scores to report")
    name = checked(output, "findings" if isinstance(subject, Report) else "scores")
    return OUTPUTS[name].write(subject, options or Options())


def write(subject: Subject, stream: TextIO, output: str = "text", options: Options | None = None) -> None:
    """Write *subject* to *stream*.

    Text is coloured and as wide as the terminal when *stream* is one and ``NO_COLOR`` is not set.
    """
    options = options or Options()
    if output == "text":
        from seldio.reports.screens import screen

        color, width, wrap = screen(stream)
        options = dataclasses.replace(options, color=color, width=width, wrap=wrap)
    stream.writelines(render(subject, output, options))
