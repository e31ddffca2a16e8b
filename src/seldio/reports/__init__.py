"""A :class:`~seldio.findings.Report` in the form its reader wants: a person, a program, a CI system.

:data:`RENDERERS` names the formats. ``text``, ``concise`` and ``markdown`` are for people; nothing
in them or in ``github`` can move a terminal's cursor or hide text. The others are for programs,
and are never cut short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TextIO

from seldio.errors import UsageError
from seldio.findings import Report
from seldio.reports.common import Catalogue, Options, Rule

__all__ = ["RENDERERS", "Catalogue", "Options", "Renderer", "Rule", "render", "write"]

Renderer = Callable[[Report, Options], Iterator[str]]


def _lazy(module: str, function: str) -> Renderer:
    def renderer(report: Report, options: Options) -> Iterator[str]:
        found: Renderer = getattr(import_module(f"seldio.reports.{module}"), function)
        return found(report, options)

    return renderer


#: Every format by name; the module that knows it is imported when it is first used.
RENDERERS: dict[str, Renderer] = {
    "text": _lazy("text", "render_text"),
    "concise": _lazy("lines", "render_concise"),
    "json": _lazy("json_report", "render_json"),
    "jsonl": _lazy("json_report", "render_jsonl"),
    "sarif": _lazy("sarif", "render_sarif"),
    "github": _lazy("lines", "render_github"),
    "junit": _lazy("junit", "render_junit"),
    "markdown": _lazy("markdown", "render_markdown"),
}


def render(
    report: Report,
    format: str = "text",
    *,
    catalogue: Catalogue,
    max_per_rule: int | None = 20,
    color: bool = False,
    width: int = 100,
    statistics: bool = False,
) -> Iterator[str]:
    """*report* in a named format, piece by piece; the pieces joined are the whole text.

    The keywords are those of :class:`Options`. The same report gives the same text everywhere:
    neither the environment nor a terminal is looked at (:func:`write` does that).

    Raises:
        UsageError: no such format.
    """
    if format not in RENDERERS:
        raise UsageError(f"There is no report format {format!r}. Formats: {', '.join(RENDERERS)}")
    return RENDERERS[format](report, Options(catalogue, max_per_rule, color, width, statistics))


def write(
    report: Report,
    stream: TextIO,
    format: str = "text",
    *,
    catalogue: Catalogue,
    max_per_rule: int | None = 20,
    statistics: bool = False,
) -> None:
    """Write *report* to *stream*.

    The text format is coloured and as wide as the terminal when *stream* is one and ``NO_COLOR``
    is not set.
    """
    color, width = False, 100
    if format == "text":
        from seldio.reports.text import terminal

        color, width = terminal(stream)
    pieces = render(
        report,
        format,
        catalogue=catalogue,
        max_per_rule=max_per_rule,
        color=color,
        width=width,
        statistics=statistics,
    )
    stream.writelines(pieces)
