"""``seldio validate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import ENGINE, RESUME, WORKERS, Engine, complete_codes, complete_formats, complete_outputs
from seldio.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from seldio.findings import Report


@guarded
def command(
    paths: list[str] = typer.Argument(help="Files, folders, archives (zip, tar), or - for standard input."),
    format: str | None = typer.Option(
        None, "--format", "-f", help="The layout; found from the content if not given.", autocompletion=complete_formats
    ),
    reference: str | None = typer.Option(
        None,
        help="What to compare with: for labels the clips to expect (a folder of recordings or labels, "
        "mix001..mix079, starss23:dev-test), for predictions the file with their questions.",
    ),
    output: str = typer.Option(
        "text",
        metavar="[text|concise|json|jsonl|csv|sarif|github|junit|markdown|html|mera]",
        help="How to write the report; mera: what MERA's server answers to a submission.",
        autocompletion=lambda incomplete: complete_outputs(incomplete, "findings", "mera"),
    ),
    json: bool = typer.Option(False, "--json", help="The same as --output json."),
    out: Path | None = typer.Option(None, "-o", help="Write the report to this file."),
    select: str | None = typer.Option(
        None, help="Only these rules: prefixes of codes, comma separated.", autocompletion=complete_codes
    ),
    ignore: str | None = typer.Option(
        None, help="Not these rules: prefixes of codes, comma separated.", autocompletion=complete_codes
    ),
    fail_on: str | None = typer.Option(None, help="error (default), warning or info: what ends with exit code 1."),
    deep: bool = typer.Option(
        False, "--deep", help="Listen to recordings, decode videos, and compare labels with the sound."
    ),
    statistics: bool = typer.Option(False, "--statistics", help="Add a table of counts by rule."),
    max_per_rule: int = typer.Option(10, help="Findings shown for each rule; counts are always whole. 0: all."),
    fix: bool = typer.Option(False, "--fix", help="Repair what is safe to repair."),
    unsafe_fixes: bool = typer.Option(False, "--unsafe-fixes", help="Repair what is a good guess as well."),
    diff: bool = typer.Option(False, "--diff", help="Show what --fix would change, and change nothing."),
    baseline: Path | None = typer.Option(None, help="Leave out the findings that this file lists."),
    write_baseline: Path | None = typer.Option(None, help="List all findings in this file as known."),
    config: Path | None = typer.Option(None, help="Settings, instead of the closest seldio.toml or pyproject.toml."),
    workers: int | None = WORKERS,
    engine: Engine = ENGINE,
    resume: str | None = RESUME,
) -> ExitCode:
    """Check labels, submissions and data sets: what is wrong, where, why it matters, what to do."""
    from seldio import api
    from seldio.check import settings
    from seldio.engines import running
    from seldio.reports import checked

    chosen = settings.load_file(config) if config is not None else settings.load()
    if output == "mera" and not json:
        return _mera(paths, reference, out)
    checked("json" if json else output, "findings")
    with running(workers, engine, resume):
        report = api.validate(
            paths, format=format, reference=reference, select=select, ignore=ignore, fail_on=fail_on, deep=deep,
            fix=fix, unsafe_fixes=unsafe_fixes, diff=diff, baseline=baseline, write_baseline=write_baseline,
            config=chosen,
        )  # fmt: skip
    if diff:
        typer.echo("\n".join(line for change in report.changes for line in change.diff()) or report.remark)
        return ExitCode.FINDINGS if report.changes else ExitCode.CLEAN
    if report.remark:
        typer.echo(report.remark, err=True)
    if write_baseline is not None:
        return ExitCode.CLEAN
    _print(report, "json" if json else output, out, statistics, max_per_rule or None)
    return ExitCode.FINDINGS if report.failed else ExitCode.CLEAN


def _mera(paths: list[str], reference: str | None, out: Path | None) -> ExitCode:
    """Print what MERA's server will answer; findings if the submission fails."""
    from seldio.check.mera import as_json, response
    from seldio.check.reference import load
    from seldio.files import write_bytes

    if len(paths) != 1:
        raise UsageError("--output mera is the answer to one submission")
    answer = response(paths[0], None if reference is None else load(reference))
    if out is None:
        typer.echo(as_json(answer))
    else:
        write_bytes(out, f"{as_json(answer)}\n".encode())
    return ExitCode.CLEAN if answer["status"] == "Ok" else ExitCode.FINDINGS


def _print(report: Report, output: str, out: Path | None, statistics: bool, most: int | None) -> None:
    from seldio.files import atomic_write
    from seldio.reports import Options, render, write
    from seldio.rules import CATALOGUE

    options = Options(CATALOGUE, most, statistics)
    if out is None:
        write(report, sys.stdout, output, options)
        return
    with atomic_write(out) as stream:
        for piece in render(report, output, options):
            stream.write(piece.encode("utf-8", "backslashreplace"))
