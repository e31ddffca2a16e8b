"""``seldio score`` and ``seldio rank``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import (
    ENGINE,
    RESUME,
    WORKERS,
    Engine,
    complete_outputs,
    complete_profiles,
    format_option,
    named_numbers,
    write_report,
)
from seldio.errors import ExitCode

_LABELS, _ANSWERS, _JUDGE = "Labels", "Questions", "Judge"
_OUTPUT: Any = typer.Option(
    "text", metavar="[text|json|csv|markdown|html]", help="How to write the scores; json and csv keep every digit.",
    autocompletion=lambda incomplete: complete_outputs(incomplete, "scores"),
)  # fmt: skip


def _list(wanted: bool) -> None:
    """Print the ways of scoring."""
    if not wanted:
        return
    from seldio.check.description import profile_titles

    for name, title in profile_titles():
        typer.echo(f"{name:<20} {title}")
    raise typer.Exit


_POINTS: Any = typer.Option(
    False, "--official-points", help="The point values of the official jackknife too.", rich_help_panel=_LABELS
)
_RECORDINGS: Any = typer.Option(None, help="The labelled recordings, for where clips end.", rich_help_panel=_LABELS)
_OFFLINE: Any = typer.Option(
    "extract", help="SO-Bench without a judge: extract, none or official-fallback.", rich_help_panel=_ANSWERS
)
_THRESHOLD: Any = typer.Option(
    [], help="SO-Bench: azimuth, elevation, distance, onset or wer=NUMBER.", rich_help_panel=_ANSWERS
)
_PRICE: Any = typer.Option(
    None, help="Per million tokens: IN,OUT in US dollars, or IN,OUT,CODE as in 0.15,0.6,EUR.", rich_help_panel=_JUDGE
)
_JSON_MODE: Any = typer.Option(
    True, "--judge-json/--no-judge-json", help="Ask the server for JSON; some refuse.", rich_help_panel=_JUDGE
)
_PROFILES: Any = typer.Option(False, "--profiles", is_eager=True, callback=_list, help="List the ways of scoring.")


@guarded
def command(
    predictions: list[str] = typer.Argument(help="Outputs of one or more systems: files, folders, archives."),
    reference: str | None = typer.Option(None, "--reference", "-r", help="The labels, or the questions with answers."),
    profile: str | None = typer.Option(
        None, "--profile", "-p", help="The way of scoring; --profiles lists them.", autocompletion=complete_profiles
    ),
    format: str | None = format_option("The layout of the predictions.", "--format", "-f"),
    reference_format: str | None = format_option("The layout of the reference, likewise."),
    allow_missing: bool = typer.Option(False, "--allow-missing", help="Score what is there, and say what is not."),
    force: bool = typer.Option(False, "--force", help="Score labels in which seldio validate finds errors too."),
    output: str = _OUTPUT,
    json: bool = typer.Option(False, "--json", help="The same as --output json."),
    out: Path | None = typer.Option(None, "-o", help="Write the scores to this file."),
    table: str | None = typer.Option(None, help="csv: only this table, e.g. overall or classes."),
    average: str | None = typer.Option(None, help="macro or micro.", rich_help_panel=_LABELS),
    angle: float | None = typer.Option(None, help="Degrees that a source may be off.", rich_help_panel=_LABELS),
    distance: float | None = typer.Option(None, help="Metres that it may be off.", rich_help_panel=_LABELS),
    relative: float | None = typer.Option(None, help="The same, over its distance.", rich_help_panel=_LABELS),
    onscreen: bool = typer.Option(False, "--onscreen", help="It must agree on the picture.", rich_help_panel=_LABELS),
    classes: str | None = typer.Option(None, help="Vocabulary of the classes.", rich_help_panel=_LABELS),
    jackknife: bool = typer.Option(False, "--jackknife", help="95 % confidence intervals.", rich_help_panel=_LABELS),
    official_points: bool = _POINTS,
    by_clip: bool = typer.Option(False, "--by-clip", help="The scores of each clip too.", rich_help_panel=_LABELS),
    recordings: str | None = _RECORDINGS,
    join: str = typer.Option("strict", help="SO-Bench: strict (by id) or official.", rich_help_panel=_ANSWERS),
    offline: str = _OFFLINE,
    threshold: list[str] = _THRESHOLD,
    judge: str | None = typer.Option(None, help="Model to ask about answers.", rich_help_panel=_JUDGE),
    judge_url: str | None = typer.Option(None, help="Its server, down to /v1.", rich_help_panel=_JUDGE),
    judge_cache: str | None = typer.Option(None, help="SQLite file of its replies.", rich_help_panel=_JUDGE),
    judge_concurrency: int = typer.Option(8, help="Calls at a time.", rich_help_panel=_JUDGE),
    judge_rpm: float | None = typer.Option(None, help="Calls a minute.", rich_help_panel=_JUDGE),
    judge_price: str | None = _PRICE,
    judge_again: bool = typer.Option(False, "--judge-again", help="Ask again, cached or not.", rich_help_panel=_JUDGE),
    judge_timeout: float = typer.Option(120.0, help="Seconds to wait for the server.", rich_help_panel=_JUDGE),
    judge_retries: int = typer.Option(4, help="Further tries of a failed call.", rich_help_panel=_JUDGE),
    judge_max_tokens: int = typer.Option(1024, help="Of a reply.", rich_help_panel=_JUDGE),
    judge_temperature: float = typer.Option(0.0, help="Of the model.", rich_help_panel=_JUDGE),
    judge_json: bool = _JSON_MODE,
    judgements: str | None = typer.Option(None, help="Judgements made elsewhere: JSON lines.", rich_help_panel=_JUDGE),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what judging would take.", rich_help_panel=_JUDGE),
    workers: int | None = WORKERS,
    engine: Engine = ENGINE,
    resume: str | None = RESUME,
    profiles: bool = _PROFILES,  # noqa: ARG001 - they are listed before anything else
) -> ExitCode:
    """Score outputs against labels or answers against questions, as official programs do, with their faults named."""
    from seldio import api, engines
    from seldio.reports import Options, checked

    checked(output, "scores")
    choices: Any = {"average": average, "join": join, "offline": offline}  # what they may be is checked by scorers
    with engines.running(workers, engine, resume):
        reports = [
            api.score(
                one, reference, profile=profile, format=format, reference_format=reference_format,
                allow_missing=allow_missing, force=force, angle=angle, distance=distance,
                relative=relative, onscreen=onscreen, classes=classes, jackknife=jackknife,
                official_points=official_points, by_clip=by_clip, recordings=recordings,
                threshold=named_numbers(threshold, "--threshold", "distance=0.5"), judge=judge, judge_url=judge_url,
                judge_cache=judge_cache, judge_concurrency=judge_concurrency, judge_rpm=judge_rpm,
                judge_price=judge_price, judge_again=judge_again, judge_timeout=judge_timeout,
                judge_retries=judge_retries, judge_max_tokens=judge_max_tokens, judge_temperature=judge_temperature,
                judge_json=judge_json, judgements=judgements, dry_run=dry_run, **choices,
            )
            for one in predictions
        ]  # fmt: skip
    if dry_run:
        typer.echo("\n".join(notice.text for report in reports for notice in report.notices))
    else:
        write_report(reports, "json" if json else output, Options(table=table), out)
    return ExitCode.CLEAN


@guarded
def rank(
    paths: list[str] = typer.Argument(help="Score files (json or csv), or folders of them."),
    output: str = _OUTPUT,
    json: bool = typer.Option(False, "--json", help="The same as --output json."),
    out: Path | None = typer.Option(None, "-o", help="Write the ranking to this file."),
    metrics: str | None = typer.Option(None, help="Rank by these only, comma separated; NAME:higher for others."),
) -> ExitCode:
    """Rank systems by the sum of their places on every metric, as the task page of DCASE Task 3 says."""
    from seldio import api
    from seldio.reports import Options, checked

    checked(output, "scores")
    write_report([api.rank(paths, metrics=metrics or ())], "json" if json else output, Options(), out)
    return ExitCode.CLEAN
