"""``seldio compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import (
    ENGINE,
    FIELDS,
    ITEMS,
    REFERENCE_FIELDS,
    REPORT,
    REPORT_DETAILS,
    REPORT_FILE,
    REPORT_FORM,
    REPORT_JSON,
    RESUME,
    SCORE_ANGLE,
    SCORE_AVERAGE,
    SCORE_CLASSES,
    SCORE_COLLAR,
    SCORE_DISTANCE,
    SCORE_EVENTS,
    SCORE_JOIN,
    SCORE_OFFLINE,
    SCORE_OFFSET_SHARE,
    SCORE_ONSCREEN,
    SCORE_RECORDINGS,
    SCORE_RELATIVE,
    SCORE_SPLIT,
    SCORE_THRESHOLD,
    SCORE_TRACKS,
    SCORING_ANSWERS,
    WORKERS,
    Engine,
    clip_page,
    complete_profiles,
    format_option,
    named_numbers,
    one_of,
    see_free,
    write_report,
)
from seldio.errors import ExitCode, UsageError

_STATISTICS = "Statistics"


@guarded
def compare(
    systems: list[str] = typer.Argument(
        metavar="PREDICTIONS", help="Predictions of each system: files, folders or archives; or files of judgements."
    ),
    reference: str | None = typer.Option(
        None,
        "--reference",
        "-r",
        metavar="PATH",
        help="Reference labels, the questions with their answers, or human judgements.",
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
    fields: str | None = FIELDS,
    reference_fields: str | None = REFERENCE_FIELDS,
    reference_format: str | None = format_option("Format of the reference; detected by default."),
    split: str | None = SCORE_SPLIT,
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
    over: str | None = typer.Option(
        None,
        metavar="[clips|rooms|questions]",
        help="What to resample: clips (labels), or rooms with all their clips; questions (answers), or clips with all "
        "their questions.",
        rich_help_panel=_STATISTICS,
        autocompletion=one_of("clips", "rooms", "questions"),
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
    output: str = REPORT_FORM,
    json: bool = REPORT_JSON,
    out: Path | None = REPORT_FILE,
    table: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Only this table, such as differences or ranks; not with json.",
        rich_help_panel=REPORT,
    ),
    details: bool = REPORT_DETAILS,
    average: str | None = SCORE_AVERAGE,
    angle: float | None = SCORE_ANGLE,
    distance: float | None = SCORE_DISTANCE,
    relative: float | None = SCORE_RELATIVE,
    onscreen: bool = SCORE_ONSCREEN,
    classes: str | None = SCORE_CLASSES,
    events: bool = SCORE_EVENTS,
    collar: float | None = SCORE_COLLAR,
    offset_share: float | None = SCORE_OFFSET_SHARE,
    tracks: bool = SCORE_TRACKS,
    recordings: str | None = SCORE_RECORDINGS,
    join: str = SCORE_JOIN,
    offline: str = SCORE_OFFLINE,
    threshold: list[str] = SCORE_THRESHOLD,
    judgements: list[str] = typer.Option(
        [],
        metavar="FILE",
        rich_help_panel=SCORING_ANSWERS,
        help="Judgements from an external judge (JSON Lines): one file per system, in their order. May be repeated.",
    ),
    items: Path | None = ITEMS,
    workers: int | None = WORKERS,
    engine: Engine = ENGINE,
    resume: str | None = RESUME,
) -> ExitCode:
    """Compare systems on the same clips or questions: differences with intervals, tests, and ranks."""
    from seldio import api, engines
    from seldio.reports import Options, checked

    if table is not None and (json or checked(output, "scores") == "json"):
        raise UsageError("--table: json holds every table; use --output csv, markdown, html, latex or text")
    checked(output, "scores")
    see_free(out, systems, reference, judgements)
    choices: Any = {
        "average": average,
        "against": against,
        "over": over,
        "join": join,
        "offline": offline,
    }  # what they may be is checked there
    with engines.running(workers, engine, resume):
        report = api.compare(
            systems, reference, profile=profile, format=format, reference_format=reference_format, split=split,
            allow_missing=allow_missing, force=force, lead=lead, resamples=resamples, seed=seed, most=most, angle=angle,
            distance=distance, relative=relative, onscreen=onscreen, classes=classes, events=events, collar=collar,
            offset_share=offset_share, tracks=tracks, recordings=recordings, judgements=judgements,
            fields=fields, reference_fields=reference_fields, items=items,
            threshold=named_numbers(threshold, "--threshold", "distance=0.5"), **choices,
        )  # fmt: skip
    options = Options(table=table, details=details, clip_page=clip_page(out, reference, systems[0]))
    write_report([report], "json" if json else output, options, out)
    return ExitCode.CLEAN
