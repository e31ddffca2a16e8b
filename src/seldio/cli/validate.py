"""``seldio validate``."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import ENGINE, RESUME, WORKERS, Engine, complete_codes, complete_formats
from seldio.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seldio.findings import Report
    from seldio.item_validation import AnyReference
    from seldio.repair import Check
    from seldio.settings import Settings
    from seldio.validation import Examined


class Output(enum.StrEnum):
    """How the report is written."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    SARIF = "sarif"
    GITHUB = "github"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    HTML = "html"
    MERA = "mera"


@guarded
def command(
    paths: list[str] = typer.Argument(help="Files, folders, archives (zip, tar), or - for standard input."),
    format: str | None = typer.Option(
        None, "--format", "-f", help="The layout; found from the content if not given.", autocompletion=complete_formats
    ),
    reference: str | None = typer.Option(
        None,
        help="What to hold it against: for labels the clips to expect (a folder of recordings or labels, "
        "mix001..mix079, starss23:dev-test), for predictions the file with their questions.",
    ),
    output: Output = typer.Option(
        Output.TEXT, "--output", help="How to write the report; mera: what MERA's server answers to a submission."
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
        False, "--deep", help="Listen to recordings, decode videos, and hold labels against the sound."
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
    from seldio.engines import running
    from seldio.settings import write_baseline as save
    from seldio.validation import examine

    settings = _settings(config, select, ignore, fail_on, baseline)
    expected = _reference(reference)
    if output is Output.MERA and not json:
        return _mera(paths, expected, out)

    repairing = fix or unsafe_fixes or diff

    def one(path: str, changed: Mapping[str, bytes] | None = None) -> Examined:
        return examine(
            path, format=format, reference=expected, settings=settings, changed=changed, deep=deep, rows=repairing
        )

    piped = {path: one(path) for path in set(paths) & {"-"}}  # standard input can be read only once

    def check(changed: Mapping[str, bytes]) -> list[Examined]:
        return [piped.get(path) or one(path, changed) for path in paths]

    with running(workers, engine, resume):
        examined = check({})
    if diff:
        return _show_repairs(examined, unsafe_fixes, check)
    if fix or unsafe_fixes:
        from seldio.repair import repair

        done, examined = repair(examined, unsafe_fixes, check)
        typer.echo(done, err=True)
    report = _joined(examined)
    if write_baseline is not None:
        typer.echo(f"{save(write_baseline, report.findings):,} findings listed in {write_baseline}", err=True)
        return ExitCode.CLEAN
    _print(report, "json" if json else output.value, out, statistics, max_per_rule or None)
    return ExitCode.FINDINGS if report.reaches(settings.fail_on) else ExitCode.CLEAN


def _settings(
    config: Path | None, select: str | None, ignore: str | None, fail_on: str | None, baseline: Path | None
) -> Settings:
    """The settings of the project, with what the command line says on top."""
    import dataclasses

    from seldio import settings

    chosen = settings.load_file(config) if config is not None else settings.load()
    if select is not None:
        chosen = dataclasses.replace(chosen, select=settings.codes(select, "--select"))
    if ignore is not None:
        chosen = dataclasses.replace(chosen, ignore=(*chosen.ignore, *settings.codes(ignore, "--ignore")))
    if fail_on is not None:
        chosen = dataclasses.replace(chosen, fail_on=settings.severity(fail_on, "--fail-on"))
    if baseline is not None:
        chosen = dataclasses.replace(chosen, baseline=settings.read_baseline(baseline))
    return chosen


def _reference(text: str | None) -> AnyReference:
    if text is None:
        return None
    from seldio.reference import load

    return load(text)


def _mera(paths: list[str], reference: AnyReference, out: Path | None) -> ExitCode:
    """Print what MERA's server will answer; findings if the submission fails."""
    from seldio.errors import UsageError
    from seldio.mera import as_json, response

    if len(paths) != 1:
        raise UsageError("--output mera is the answer to one submission")
    answer = response(paths[0], reference)
    if out is None:
        typer.echo(as_json(answer))
    else:
        from seldio.files import atomic_write

        with atomic_write(out) as stream:
            stream.write(f"{as_json(answer)}\n".encode())
    return ExitCode.CLEAN if answer["status"] == "Ok" else ExitCode.FINDINGS


def _joined(examined: list[Examined]) -> Report:
    from seldio.findings import Report

    whole = Report(files=sum(one.report.files for one in examined))
    whole.add(finding for one in examined for finding in one.report.findings)
    return whole


def _show_repairs(examined: list[Examined], unsafe: bool, check: Check) -> ExitCode:
    """Print what a repair would change; findings if there is anything."""
    from seldio.repair import nothing, repairs

    lines = [line for fixed in repairs(examined, unsafe, check) for line in fixed.diff()]
    typer.echo("\n".join(lines) or nothing(examined, unsafe))
    return ExitCode.FINDINGS if lines else ExitCode.CLEAN


def _print(report: Report, output: str, out: Path | None, statistics: bool, most: int | None) -> None:
    import sys

    from seldio.reports import Options, render, write
    from seldio.rules import CATALOGUE

    options = Options(CATALOGUE, most, statistics)
    if out is None:
        write(report, sys.stdout, output, options)
        return
    from seldio.files import atomic_write

    with atomic_write(out) as stream:
        for piece in render(report, output, options):
            stream.write(piece.encode("utf-8", "backslashreplace"))
