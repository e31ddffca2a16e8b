"""The commands that show data: ``seldio view`` and ``seldio plot``."""

from __future__ import annotations

import sys
from typing import Any

import typer

from seldio.cli.declared import verb
from seldio.errors import ExitCode
from seldio.text import plural, printable
from seldio.viewer.page import view as write_page
from seldio.viewer.plot import plot as draw


@verb(write_page, source="SOURCE")
def view(given: dict[str, Any]) -> ExitCode:
    """Say what the page shows."""
    out = sys.stdout.buffer if given["out"] == "-" else given["out"]
    page = write_page(**given | {"out": out})
    counts = [plural(page.events, "event")]
    if page.predictions is not None:
        counts.append(plural(page.predictions, "predicted event"))
    if page.questions is not None:
        counts.append(plural(page.questions, "question"))
    counts.append(plural(page.findings, "finding"))
    lines = [f"{page.clip}: {', '.join(counts)}", *(f"  {line}" for line in page.media)]
    if page.path != "-":
        size = f"{len(page.html) / 1e6:.1f} MB" if len(page.html) >= 1e6 else f"{len(page.html) / 1e3:.0f} kB"
        lines.append(f"{page.path}: {size}; open it in a browser")
    for line in lines:
        typer.echo(printable(line), err=True)
    return ExitCode.CLEAN


@verb(draw, source="SOURCE")
def plot(given: dict[str, Any]) -> ExitCode:
    """Say what the picture shows."""
    plotted = draw(**given)
    typer.echo(printable(plotted.path))
    for line in plotted.notes:
        typer.echo(f"  {printable(line)}", err=True)
    return ExitCode.CLEAN
