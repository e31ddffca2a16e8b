"""``seldio score`` and ``seldio rank``."""

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
    SCORING_BESIDE,
    SCORING_LABELS,
    WORKERS,
    Engine,
    clip_page,
    complete_profiles,
    format_option,
    named_numbers,
    see_free,
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
    fields: str | None = FIELDS,
    reference_fields: str | None = REFERENCE_FIELDS,
    reference_format: str | None = format_option("Format of the reference; detected by default."),
    split: str | None = SCORE_SPLIT,
    allow_missing: bool = typer.Option(
        False, "--allow-missing", help="Score the common clips or questions; list the missing ones."
    ),
    force: bool = typer.Option(False, "--force", help="Score labels even if seldio validate finds errors in them."),
    profiles: bool = typer.Option(  # noqa: ARG001 - they are listed before anything else
        False, "--profiles", is_eager=True, callback=_list, help="List the scoring profiles and exit."
    ),
    output: str = REPORT_FORM,
    json: bool = REPORT_JSON,
    out: Path | None = REPORT_FILE,
    table: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Only this table, such as overall or classes; not with json.",
        rich_help_panel=REPORT,
    ),
    details: bool = REPORT_DETAILS,
    average: str | None = SCORE_AVERAGE,
    angle: float | None = SCORE_ANGLE,
    distance: float | None = SCORE_DISTANCE,
    relative: float | None = SCORE_RELATIVE,
    onscreen: bool = SCORE_ONSCREEN,
    classes: str | None = SCORE_CLASSES,
    jackknife: bool = typer.Option(
        False,
        "--jackknife",
        help="Add 95 % confidence intervals as the official programs do.",
        rich_help_panel=SCORING_LABELS,
    ),
    bootstrap: bool = typer.Option(
        False, "--bootstrap", help="Add 95 % confidence intervals by resampling clips.", rich_help_panel=SCORING_LABELS
    ),
    official_points: bool = typer.Option(
        False,
        "--official-points",
        help="Add the point values that the official jackknife prints.",
        rich_help_panel=SCORING_LABELS,
    ),
    by_clip: bool = typer.Option(
        False, "--by-clip", help="Add the scores of each clip.", rich_help_panel=SCORING_LABELS
    ),
    sort: str | None = typer.Option(
        None,
        metavar="MEASURE",
        help="Sort the tables by class and by clip by this measure, the worst first.",
    ),
    errors: bool = typer.Option(
        False,
        "--errors",
        help="Break down lost F by error type, class and condition.",
        rich_help_panel=SCORING_BESIDE,
    ),
    events: bool = SCORE_EVENTS,
    collar: float | None = SCORE_COLLAR,
    offset_share: float | None = SCORE_OFFSET_SHARE,
    tracks: bool = SCORE_TRACKS,
    recordings: str | None = SCORE_RECORDINGS,
    baselines: bool = typer.Option(
        False,
        "--baselines",
        help="Add the published results of the profile, if they cover the same clips or questions.",
    ),
    join: str = SCORE_JOIN,
    offline: str = SCORE_OFFLINE,
    threshold: list[str] = SCORE_THRESHOLD,
    judge: str | None = typer.Option(None, metavar="MODEL", help="Name of the model.", rich_help_panel=_JUDGE),
    judge_url: str | None = typer.Option(
        None, metavar="URL", help="OpenAI-compatible server, up to /v1.", rich_help_panel=_JUDGE
    ),
    judge_cache: str | None = typer.Option(
        None, metavar="FILE", help="Cache replies in this SQLite file.", rich_help_panel=_JUDGE
    ),
    judge_concurrency: int = typer.Option(8, metavar="N", help="Parallel requests.", rich_help_panel=_JUDGE),
    judge_rpm: float | None = typer.Option(
        None, metavar="N", help="Maximum requests per minute.", rich_help_panel=_JUDGE
    ),
    judge_price: str | None = typer.Option(
        None,
        metavar="IN,OUT[,CODE]",
        rich_help_panel=_JUDGE,
        help="Price per million tokens sent and received, such as 0.15,0.6 (US dollars) or 0.15,0.6,EUR.",
    ),
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
    items: Path | None = ITEMS,
    workers: int | None = WORKERS,
    engine: Engine = ENGINE,
    resume: str | None = RESUME,
) -> ExitCode:
    """Score predictions against labels or questions, as the official programs do, and report where they go wrong."""
    from seldio import api, engines
    from seldio.reports import Options, checked

    if table is not None and (json or checked(output, "scores") == "json"):
        raise UsageError("--table: json holds every table; use --output csv, markdown, html, latex or text")
    checked(output, "scores")
    see_free(out, predictions, reference, judgements, judge_cache)
    if items is not None and len(predictions) > 1:
        raise UsageError("--items takes one system; seldio compare --items shows where several differ")
    choices: Any = {"average": average, "join": join, "offline": offline}  # what they may be is checked by scorers
    with engines.running(workers, engine, resume):
        reports = [
            api.score(
                one, reference, profile=profile, format=format, reference_format=reference_format, split=split,
                fields=fields, items=items, allow_missing=allow_missing, force=force, angle=angle, distance=distance,
                relative=relative, onscreen=onscreen, classes=classes, jackknife=jackknife, bootstrap=bootstrap,
                official_points=official_points, by_clip=by_clip, sort=sort, errors=errors, events=events,
                collar=collar, offset_share=offset_share, tracks=tracks, recordings=recordings, baselines=baselines,
                threshold=named_numbers(threshold, "--threshold", "distance=0.5"), judge=judge, judge_url=judge_url,
                judge_cache=judge_cache, judge_concurrency=judge_concurrency, judge_rpm=judge_rpm,
                judge_price=judge_price, judge_again=judge_again, judge_timeout=judge_timeout,
                judge_retries=judge_retries, judge_max_tokens=judge_max_tokens, judge_temperature=judge_temperature,
                judge_json=judge_json, judge_prompt=judge_prompt, judgements=judgements, dry_run=dry_run,
                reference_fields=reference_fields, **choices,
            )
            for one in predictions
        ]  # fmt: skip
    if dry_run:
        typer.echo("\n".join(notice.text for report in reports for notice in report.notices))
    else:
        options = Options(table=table, details=details, clip_page=clip_page(out, reference, predictions[0]))
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
    output: str = REPORT_FORM,
    json: bool = REPORT_JSON,
    out: Path | None = REPORT_FILE,
) -> ExitCode:
    """Rank systems by the sum of their ranks on each metric, as defined by DCASE Task 3."""
    from seldio import api
    from seldio.reports import Options, checked

    checked(output, "scores")
    see_free(out, paths)
    write_report([api.rank(paths, metrics=metrics or ())], "json" if json else output, Options(), out)
    return ExitCode.CLEAN
