"""Score reports in the form their reader wants: a person, a program, a spreadsheet, a web page.

:data:`SCORE_RENDERERS` names the formats. ``text``, ``markdown`` and ``html`` show numbers with so many digits as
matter, each with its unit and its better side; ``json`` and ``csv`` keep every digit, shares from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TextIO

from seldio.errors import UsageError
from seldio.reports.json_report import dumps
from seldio.reports.score_common import ScoreOptions
from seldio.reports.tables import ScoreReport

__all__ = ["SCORE_RENDERERS", "ScoreOptions", "render_scores", "write_scores"]

ScoreRenderer = Callable[[Sequence[ScoreReport], ScoreOptions], Iterator[str]]


def _lazy(module: str, function: str) -> ScoreRenderer:
    def renderer(reports: Sequence[ScoreReport], options: ScoreOptions) -> Iterator[str]:
        found: ScoreRenderer = getattr(import_module(f"seldio.reports.{module}"), function)
        return found(reports, options)

    return renderer


def _json(reports: Sequence[ScoreReport], _options: ScoreOptions) -> Iterator[str]:
    from seldio.reports.score_files import document

    yield dumps(document(reports), indent=2) + "\n"


def _csv(reports: Sequence[ScoreReport], options: ScoreOptions) -> Iterator[str]:
    from seldio.reports.score_files import write_long, write_table
    from seldio.reports.tables import side_by_side

    yield write_long(reports) if options.table is None else write_table(side_by_side(reports, options.table))


#: Every format by name; the module that knows it is imported when it is first used.
SCORE_RENDERERS: dict[str, ScoreRenderer] = {
    "text": _lazy("score_text", "render_text"),
    "json": _json,
    "csv": _csv,
    "markdown": _lazy("score_markdown", "render_markdown"),
    "html": _lazy("score_html", "render_html"),
}


def render_scores(
    reports: Sequence[ScoreReport],
    format: str = "text",
    *,
    table: str | None = None,
    color: bool = False,
    width: int = 100,
) -> Iterator[str]:
    """*reports* in a named format, piece by piece; the pieces joined are the whole text.

    The same reports give the same text everywhere: neither the environment nor a terminal is looked at
    (:func:`write_scores` does that). Several reports are put side by side first.

    Args:
        reports: at least one.
        format: one of :data:`SCORE_RENDERERS`.
        table: for csv, the name of the one table to give; without, all of them in the long form.
        color: whether the text format uses ANSI colours.
        width: how many terminal cells a line of the text format may take.

    Raises:
        UsageError: no such format or table, or no report.
    """
    if format not in SCORE_RENDERERS:
        raise UsageError(f"There is no score format {format!r}. Formats: {', '.join(SCORE_RENDERERS)}")
    if not reports:
        raise UsageError("there is no score to report")
    return SCORE_RENDERERS[format](reports, ScoreOptions(table, color, width))


def write_scores(
    reports: Sequence[ScoreReport], stream: TextIO, format: str = "text", *, table: str | None = None
) -> None:
    """Write *reports* to *stream*; text is coloured and as wide as the terminal when *stream* is one."""
    color, width = False, 100
    if format == "text":
        from seldio.reports.text import terminal

        color, width = terminal(stream)
    stream.writelines(render_scores(reports, format, table=table, color=color, width=width))
