"""What is done with data: ``seldio validate``, ``convert`` and ``info``.

And what seldio knows: ``seldio formats``, ``rule`` and ``schema``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import (
    ENGINE,
    RESUME,
    SCHEMA_NAMES,
    WORKERS,
    Engine,
    complete_codes,
    complete_formats,
    complete_outputs,
    complete_rules,
    complete_schemas,
    complete_targets,
    format_option,
    named_numbers,
    print_json,
    write_report,
)
from seldio.errors import ExitCode, UsageError
from seldio.text import json_text, printable

if TYPE_CHECKING:
    from seldio.findings import Rule


@guarded
def validate(
    paths: list[str] = typer.Argument(help="Files, folders, archives (zip, tar), or - for standard input."),
    format: str | None = format_option("The layout; found from the content if not given.", "--format", "-f"),
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
    from seldio.reports import Options, checked
    from seldio.rules import CATALOGUE

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
    write_report(report, "json" if json else output, Options(CATALOGUE, max_per_rule or None, statistics), out)
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


# --- conversion -------------------------------------------------------------------------------------------------------

_TO = (
    "The format to write (seldio formats lists them); mic or foa; or to store a data set as a whole, hf-parquet, "
    "webdataset, audiofolder or videofolder, and files for the way back."
)
_FILL = (
    "FIELD=VALUE for a field that the target needs and SOURCE lacks: angles in degrees, distance in metres "
    "(distance=2.5 is 2.5 m in any layout)."
)
_ASK = "Labels to questions"
#: The margins with their defaults; they are loaded with much else, so a test sees that this is all of them.
MARGINS = (
    "azimuth 20 degrees, elevation 10 degrees, metres 0.5 metres, seconds 0.5 seconds, shortest 0.3 seconds, "
    "still 5 degrees, moving 20 degrees, sector 5 degrees"
)


@guarded
def convert(
    source: str = typer.Argument(help="A file, folder, archive, -, or the name of a format."),
    path: str | None = typer.Argument(None, help="Where the data is, if SOURCE is the name of its format."),
    to: str = typer.Option(..., "--to", help=_TO, autocompletion=complete_targets),
    out: str | None = typer.Option(None, "-o", help="The file or folder to write; one file goes to standard output."),
    format: str | None = format_option("The layout of SOURCE; found if not given.", "--format", "-f"),
    allow_loss: str = typer.Option("", help="Fields whose loss is accepted, comma separated; all for every one."),
    fill: list[str] = typer.Option([], help=_FILL),
    force: bool = typer.Option(False, "--force", help="Convert labels in which seldio validate finds errors too."),
    json: bool = typer.Option(False, "--json", help="Print what was done as json (to standard error with -o -)."),
    seed: int = typer.Option(0, help=f"{_ASK}: another seed asks in other words."),
    tasks: str | None = typer.Option(None, help=f"{_ASK}: only these tasks, comma separated."),
    window: float = typer.Option(20.0, help=f"{_ASK}: seconds of a clip, at most 20."),
    hop: float | None = typer.Option(None, help=f"{_ASK}: seconds from clip to clip; the window if not given."),
    margin: list[str] = typer.Option(
        [], "--margin", help=f"{_ASK}: NAME=VALUE, what must differ by how much to be asked about. {MARGINS}."
    ),
    total: int | None = typer.Option(
        None, help=f"{_ASK}: so many in all, in the proportions of SO-Bench as far as there are enough of a task."
    ),
    per_task: int | None = typer.Option(None, help=f"{_ASK}: at most so many of a task, of all answers alike."),
    balance: bool = typer.Option(
        False, "--balance", help=f"{_ASK}: as many as the proportions of SO-Bench allow; the scarcest task decides."
    ),
    split: str = typer.Option("test", help=f"{_ASK}: the split written into each question."),
    audio: bool = typer.Option(
        False,
        "--audio",
        help=f"{_ASK}: cut the sound of the clips (FOA, 16 kHz) into audio/ beside the output. With "
        "--to mic or foa: make the recordings of a data set, in place of taking those that it has.",
    ),
    gain: float | None = typer.Option(
        None,
        help="With --to mic or foa: decibels by which recordings that are made get louder (quieter, if negative); "
        "one factor for the set, so that none of them is clipped.",
    ),
    workers: int | None = WORKERS,
    engine: Engine = ENGINE,
    resume: str | None = RESUME,
) -> ExitCode:
    """Convert labels between all layouts, to Parquet and back, or to questions; losses are named first."""
    from seldio import api
    from seldio.conversion.dispatch import named
    from seldio.engines import running

    if path is not None:
        source, format = path, format if format is not None else named(source)
    with running(workers, engine, resume):
        converted = api.convert(
            source, sys.stdout.buffer if out in (None, "-") else out, to, format=format, allow_loss=allow_loss,
            fill=named_numbers(fill, "--fill", "distance=2.5 (metres)"), force=force, seed=seed, tasks=tasks,
            window=window, hop=hop, margin=named_numbers(margin, "--margin", "azimuth=10"), total=total,
            per_task=per_task, balance=balance, split=split, audio=audio, gain=gain,
        )  # fmt: skip
    aside = converted.written == ("-",)  # the output itself goes to standard output
    if json:
        typer.echo(json_text(converted.as_dict(), indent=2, default=str), err=aside)
        return ExitCode.CLEAN
    for line in converted.lines():
        typer.echo(printable(line), err=True)
    return ExitCode.CLEAN


# --- what is here, and what seldio knows ------------------------------------------------------------------------------


@guarded
def info(
    path: str = typer.Argument(help="A file, folder, archive, or - for standard input."),
    format: str | None = format_option("The layout; found from the content if not given.", "--format", "-f"),
    json: bool = typer.Option(False, "--json", help="Print json."),
) -> ExitCode:
    """What is here: layout and why; clips, events and classes; questions and answers; the levels of a recording."""
    from seldio import api

    description = api.info(path, format=format)
    print_json(description) if json else typer.echo(str(description))
    return ExitCode.CLEAN


@guarded
def formats(
    name: str | None = typer.Argument(None, help="One format, by name or alias.", autocompletion=complete_formats),
    json: bool = typer.Option(False, "--json", help="Print json."),
) -> ExitCode:
    """List the formats, or explain one: columns, units, what it carries and what it cannot."""
    from seldio.check.description import format_page, format_record
    from seldio.formats import FORMATS, Format, get, named

    asked = named(name, Format) or get(name) if name else None
    chosen = FORMATS if asked is None else (asked,)
    if json:
        print_json([format_record(format) for format in chosen])
    elif asked is not None:
        typer.echo(format_page(asked))
    else:
        width = max(len(format.name) for format in chosen)
        for format in chosen:
            typer.echo(f"{format.name:<{width}}  {format.title}")
    return ExitCode.CLEAN


@guarded
def schema(
    name: str | None = typer.Argument(
        None, help=f"{', '.join(SCHEMA_NAMES[:-1])} or {SCHEMA_NAMES[-1]}; without a name, the list.",
        autocompletion=complete_schemas,
    ),
) -> ExitCode:  # fmt: skip
    """Print a JSON Schema (2020-12)."""
    from seldio.schemas import SCHEMAS

    if name is None:
        for known in SCHEMAS:
            typer.echo(known)
    elif name not in SCHEMAS:
        raise UsageError(f"no schema {name!r}; there are {', '.join(SCHEMAS)}")
    else:
        print_json(SCHEMAS[name]())
    return ExitCode.CLEAN


@guarded
def rule(
    code: str | None = typer.Argument(
        None,
        help="A code like LAB103 or the beginning of several, a name like radians, or a word of a title.",
        autocompletion=complete_rules,
    ),
    all_rules: bool = typer.Option(False, "--all", help="List all rules."),
    json: bool = typer.Option(False, "--json", help="Print json."),
) -> ExitCode:
    """Explain a rule: what it checks, why it matters, an example, the fix, the reference."""
    from seldio.rules import CATALOGUE, find

    if code is None and not all_rules:
        raise UsageError("name a rule (seldio rule LAB103), or list all of them (seldio rule --all)")
    chosen = [CATALOGUE[code] for code in sorted(CATALOGUE)] if all_rules or code is None else find(code)
    if json:
        print_json([as_dict(rule) for rule in chosen])
    elif len(chosen) == 1:
        typer.echo(page(chosen[0]))
    else:
        for rule in chosen:
            mark = {"none": "  ", "safe": "✓ ", "unsafe": "? "}[rule.fix]
            typer.echo(f"{rule.code}  {rule.severity.value:<7} {mark}{rule.summary}")
        typer.echo("\n✓ repaired by --fix   ? by --unsafe-fixes   seldio rule CODE explains one")
    return ExitCode.CLEAN


def as_dict(rule: Rule) -> dict[str, str | None]:
    """The rule's record for json."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "fix": rule.fix,
        "summary": rule.summary,
        "explanation": rule.explanation,
        "url": rule.url,
    }


def page(rule: Rule) -> str:
    """The rule's page as text."""
    fix = {"none": "by hand", "safe": "by seldio validate --fix", "unsafe": "by seldio validate --unsafe-fixes"}[
        rule.fix
    ]
    head = f"{rule.code}  {rule.name}  ({rule.severity.value}; repaired {fix})"
    address = f"\n\n{rule.url}" if rule.url else ""
    return f"{head}\n\n{rule.summary}\n\n{rule.explanation}{address}"
