"""``seldio score`` and ``seldio rank``."""

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
    see_free,
    taken,
    write_report,
)
from seldio.errors import ExitCode, UsageError

_JUDGE = "Language model as judge"


def _list(wanted: bool) -> None:
    """Print the scoring profiles."""
    if not wanted:
        return
    from seldio.scores.scorers import profile_titles

    for name, title in profile_titles():
        typer.echo(f"{name:<20} {title}")
    raise typer.Exit


@guarded
def score(
    predictions: list[str] = typer.Argument(
        metavar="PREDICTIONS", help="Predictions of one or more systems: files, folders or archives."
    ),
    reference: str | None = typer.Option(
        None, "--reference", "-r", metavar="PATH", help="Reference labels, or the questions with their answers."
    ),
    profile: str | None = typer.Option(
        None,
        "--profile",
        "-p",
        metavar="NAME",
        help="Scoring profile; --profiles lists them.",
        autocompletion=complete_profiles,
    ),
    format: str | None = format_option(
        "Format of the predictions, or their dataset.toml; detected by default.", "--format", "-f"
    ),
    fields: str | None = shared.FIELDS,
    reference_fields: str | None = shared.REFERENCE_FIELDS,
    reference_format: str | None = format_option("Format of the reference; detected by default."),
    split: str | None = shared.SCORE_SPLIT,
    allow_missing: bool = typer.Option(
        False, "--allow-missing", help="Score the common clips or questions; list the missing ones."
    ),
    force: bool = typer.Option(False, "--force", help="Score labels even if seldio validate finds errors in them."),
    profiles: bool = typer.Option(
        False, "--profiles", is_eager=True, callback=_list, help="List the scoring profiles and exit."
    ),
    output: str = shared.REPORT_FORM,
    json: bool = shared.REPORT_JSON,
    out: Path | None = shared.REPORT_FILE,
    table: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Only this table, such as overall or classes; not with json.",
        rich_help_panel=shared.REPORT,
    ),
    details: bool = shared.REPORT_DETAILS,
    average: str | None = shared.SCORE_AVERAGE,
    angle: float | None = shared.SCORE_ANGLE,
    distance: float | None = shared.SCORE_DISTANCE,
    relative: float | None = shared.SCORE_RELATIVE,
    onscreen: bool = shared.SCORE_ONSCREEN,
    classes: str | None = shared.SCORE_CLASSES,
    jackknife: bool = typer.Option(
        False,
        "--jackknife",
        help="Add 95 % confidence intervals as the official programs do.",
        rich_help_panel=shared.SCORING_LABELS,
    ),
    bootstrap: bool = typer.Option(
        False,
        "--bootstrap",
        help="Add 95 % confidence intervals by resampling clips.",
        rich_help_panel=shared.SCORING_LABELS,
    ),
    by_clip: bool = typer.Option(
        False, "--by-clip", help="Add the scores of each clip.", rich_help_panel=shared.SCORING_LABELS
    ),
    sort: str | None = typer.Option(
        None,
        metavar="MEASURE",
        help="Sort the tables by class and by clip by this measure, the worst first.",
    ),
    errors: bool = typer.Option(
        False, "--errors", help="Break down lost F by error type and class.", rich_help_panel=shared.SCORING_LABELS
    ),
    baselines: bool = typer.Option(
        False,
        "--baselines",
        help="Add the published results of the profile, if they cover the same clips or questions.",
    ),
    join: str = shared.SCORE_JOIN,
    offline: str = shared.SCORE_OFFLINE,
    threshold: list[str] = shared.SCORE_THRESHOLD,
    judge: str | None = typer.Option(None, metavar="MODEL", help="Name of the model.", rich_help_panel=_JUDGE),
    judge_url: str | None = typer.Option(
        None, metavar="URL", help="OpenAI-compatible server, up to /v1.", rich_help_panel=_JUDGE
    ),
    judge_cache: str | None = typer.Option(
        None, metavar="FILE", help="Cache replies in this SQLite file.", rich_help_panel=_JUDGE
    ),
    judge_concurrency: int = typer.Option(8, metavar="N", help="Parallel requests.", rich_help_panel=_JUDGE),
    judge_again: bool = typer.Option(
        False, "--judge-again", help="Ignore cached replies and ask again.", rich_help_panel=_JUDGE
    ),
    judge_timeout: float = typer.Option(
        120.0, metavar="SECONDS", help="Maximum wait for data from the server.", rich_help_panel=_JUDGE
    ),
    judge_retries: int = typer.Option(4, metavar="N", help="Retries of a failed request.", rich_help_panel=_JUDGE),
    judge_max_tokens: int = typer.Option(1024, metavar="N", help="Maximum length of a reply.", rich_help_panel=_JUDGE),
    judge_temperature: float = typer.Option(0.0, metavar="T", help="Sampling temperature.", rich_help_panel=_JUDGE),
    judge_json: bool = typer.Option(
        True,
        "--judge-json/--no-judge-json",
        help="Request JSON replies, which some servers reject.",
        rich_help_panel=_JUDGE,
    ),
    judge_prompt: str = typer.Option(
        "seldio",
        metavar="NAME",
        help="Wording of JASCO's prompt: seldio, or as published in its readme or its eval.py.",
        rich_help_panel=_JUDGE,
    ),
    judgements: str | None = typer.Option(
        None, metavar="FILE", help="Use judgements from an external judge (JSON Lines).", rich_help_panel=_JUDGE
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Report how many requests judging would take; send none.", rich_help_panel=_JUDGE
    ),
    items: Path | None = shared.ITEMS,
) -> ExitCode:
    """Score predictions against labels or questions, as the official programs do, and report where they go wrong."""
    from seldio import api
    from seldio.reports import Options, checked

    if table is not None and (json or checked(output, "scores") == "json"):
        raise UsageError("--table: json holds every table; use --output csv, markdown, html, latex or text")
    checked(output, "scores")
    see_free(out, predictions, reference, judgements, judge_cache)
    if items is not None and len(predictions) > 1:
        raise UsageError("--items takes one system; seldio compare --items shows where several differ")
    chosen = taken(api.score, locals(), threshold=named_numbers(threshold, "--threshold", "distance=0.5"))
    reports = [api.score(**chosen | {"predictions": one}) for one in predictions]
    if dry_run:
        typer.echo("\n".join(notice.text for report in reports for notice in report.notices))
    else:
        # of several systems, one page could show the predictions of one alone
        page = clip_page(out, reference, predictions[0], reference_format, format) if len(predictions) == 1 else None
        options = Options(table=table, details=details, clip_page=page)
        write_report(reports, "json" if json else output, options, out)
    return ExitCode.CLEAN


@guarded
def rank(
    paths: list[str] = typer.Argument(metavar="PATH", help="Score files (JSON or CSV), or folders of them."),
    metrics: str | None = typer.Option(
        None,
        metavar="NAMES",
        help="Rank by these metrics only, separated by commas; NAME:higher or NAME:lower for unknown ones.",
    ),
    output: str = shared.REPORT_FORM,
    json: bool = shared.REPORT_JSON,
    out: Path | None = shared.REPORT_FILE,
) -> ExitCode:
    """Rank systems by the sum of their ranks on each metric, as defined by DCASE Task 3."""
    from seldio import api
    from seldio.reports import Options, checked

    checked(output, "scores")
    see_free(out, paths)
    write_report([api.rank(paths, metrics=metrics or ())], "json" if json else output, Options(), out)
    return ExitCode.CLEAN
