"""``seldio diff``."""

from __future__ import annotations

from pathlib import Path

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import (
    REPORT,
    REPORT_FILE,
    REPORT_FORM,
    REPORT_JSON,
    clip_page,
    format_option,
    see_free,
    write_report,
)
from seldio.errors import ExitCode


@guarded
def diff(
    old: str = typer.Argument(metavar="OLD", help="Labels, questions or predictions: a file, folder or archive."),
    new: str = typer.Argument(metavar="NEW", help="The new version of them."),
    format: str | None = format_option("Format of both versions; detected by default.", "--format", "-f"),
    new_format: str | None = format_option("Format of the new version, if different."),
    force: bool = typer.Option(False, "--force", help="Compare labels even if seldio validate finds errors in them."),
    output: str = REPORT_FORM,
    json: bool = REPORT_JSON,
    out: Path | None = REPORT_FILE,
    table: str | None = typer.Option(
        None, metavar="NAME", help="Only this table: changes, clips, events or rows.", rich_help_panel=REPORT
    ),
    details: bool = typer.Option(
        False, "--details", help="Print long tables of clips, events and rows too.", rich_help_panel=REPORT
    ),
) -> ExitCode:
    """Compare two versions of labels, questions or predictions.

    Events are followed from one version to the other: turned, moved, re-timed, renamed, joined, split, added, dropped.
    A change that explains whole clips, such as a mirrored azimuth, is named once.

    Exit code 0 if nothing changed, 1 if something did.
    """
    from seldio import api
    from seldio.reports import Options, checked

    checked(output, "scores")
    see_free(out, old, new)
    found = api.diff(old, new, format=format, new_format=new_format, force=force)
    options = Options(table=table, details=details, clip_page=clip_page(out, str(old), str(new), format, new_format))
    write_report([found], "json" if json else output, options, out)
    return ExitCode.CLEAN if found.same else ExitCode.FINDINGS
