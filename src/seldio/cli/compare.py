"""``seldio compare``."""

from __future__ import annotations

from pathlib import Path

import typer

from seldio.cli import options as shared
from seldio.cli.guard import guarded
from seldio.cli.options import (
    clip_page,
    complete_profiles,
    format_option,
    named_numbers,
    one_of,
    see_free,
    taken,
    write_report,
)
from seldio.errors import ExitCode, UsageError

_STATISTICS = "Statistics"


@guarded
def compare(
    systems: list[str] = typer.Argument(
        metavar="PREDICTIONS", help="Predictions of each system: files, folders or archives."
    ),
    reference: str | None = typer.Option(
        None,
        "--reference",
        "-r",
        metavar="PATH",
        help="Reference labels, or the questions with their answers.",
    ),
    profile: str | None = typer.Option(
        None,
        "--profile",
        "-p",
        metavar="NAME",
        help="Scoring profile; seldio score --profiles lists them.",
        autocompletion=complete_profiles,
    ),
    format: str | None = format_option("Format of the predictions; detected by default.", "--format", "-f"),
    fields: str | None = shared.FIELDS,
    reference_fields: str | None = shared.REFERENCE_FIELDS,
    reference_format: str | None = format_option("Format of the reference; detected by default."),
    split: str | None = shared.SCORE_SPLIT,
    allow_missing: bool = typer.Option(
        False, "--allow-missing", help="Compare the common clips or questions; list the missing ones."
    ),
    force: bool = typer.Option(False, "--force", help="Score labels even if seldio validate finds errors in them."),
    against: str = typer.Option(
        "all",
        metavar="[all|first|best]",
        help="Which pairs to compare: all, or each system with the first or the best.",
        rich_help_panel=_STATISTICS,
        autocompletion=one_of("all", "first", "best"),
    ),
    lead: str | None = typer.Option(
        None,
        metavar="NAME",
        help="The measure whose test decides which system is better; by default SELD, mAP or accuracy.",
        rich_help_panel=_STATISTICS,
    ),
    over: str = typer.Option(
        "clips",
        metavar="[clips|rooms]",
        help="What to resample: clips, with all questions about them; or rooms with all their clips (labels).",
        rich_help_panel=_STATISTICS,
        autocompletion=one_of("clips", "rooms"),
    ),
    resamples: int = typer.Option(
        10_000, metavar="N", help="Number of resamples and of permutations.", rich_help_panel=_STATISTICS
    ),
    seed: int = typer.Option(0, metavar="N", help="Random seed.", rich_help_panel=_STATISTICS),
    most: int = typer.Option(
        10,
        metavar="N",
        help="Number of clips or questions with the largest differences to list.",
        rich_help_panel=_STATISTICS,
    ),
    output: str = shared.REPORT_FORM,
    json: bool = shared.REPORT_JSON,
    out: Path | None = shared.REPORT_FILE,
    table: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Only this table, such as differences or ranks; not with json.",
        rich_help_panel=shared.REPORT,
    ),
    details: bool = shared.REPORT_DETAILS,
    average: str | None = shared.SCORE_AVERAGE,
    angle: float | None = shared.SCORE_ANGLE,
    distance: float | None = shared.SCORE_DISTANCE,
    relative: float | None = shared.SCORE_RELATIVE,
    onscreen: bool = shared.SCORE_ONSCREEN,
    classes: str | None = shared.SCORE_CLASSES,
    join: str = shared.SCORE_JOIN,
    offline: str = shared.SCORE_OFFLINE,
    threshold: list[str] = shared.SCORE_THRESHOLD,
    judgements: list[str] = typer.Option(
        [],
        metavar="FILE",
        rich_help_panel=shared.SCORING_ANSWERS,
        help="Judgements from an external judge (JSON Lines): one file per system, in their order. May be repeated.",
    ),
    items: Path | None = shared.ITEMS,
) -> ExitCode:
    """Compare systems on the same clips or questions: differences with intervals, tests, and ranks."""
    from seldio import api
    from seldio.reports import Options, checked

    if table is not None and (json or checked(output, "scores") == "json"):
        raise UsageError("--table: json holds every table; use --output csv, markdown, html, latex or text")
    checked(output, "scores")
    see_free(out, systems, reference, judgements)
    chosen = taken(api.compare, locals(), threshold=named_numbers(threshold, "--threshold", "distance=0.5"))
    report = api.compare(**chosen)
    options = Options(
        table=table, details=details, clip_page=clip_page(out, reference, systems[0], reference_format, format)
    )
    write_report([report], "json" if json else output, options, out)
    return ExitCode.CLEAN
