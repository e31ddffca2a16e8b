"""The commands that work on data, ``seldio validate``, ``convert`` and ``info``, and those that explain seldio.

The latter are ``seldio formats``, ``rule`` and ``schema``.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seldio import progress
from seldio.cli.guard import guarded
from seldio.cli.options import (
    FIELDS,
    JSON,
    REPORT,
    REPORT_FILE,
    REPORT_JSON,
    SCHEMA_NAMES,
    WORKERS,
    complete_codes,
    complete_fields,
    complete_formats,
    complete_outputs,
    complete_rules,
    complete_schemas,
    complete_targets,
    complete_tasks,
    format_option,
    named_numbers,
    named_texts,
    one_of,
    print_json,
    print_wrapped,
    see_free,
    taken,
    working,
    write_report,
)
from seldio.errors import ExitCode, UsageError
from seldio.text import clipped, json_text, meant, printable

if TYPE_CHECKING:
    from seldio.findings import Rule


_RULES, _REPAIR = "Rules", "Repair"


@guarded
def validate(
    paths: list[str] = typer.Argument(
        metavar="PATH", help="Files, folders, archives (zip, tar), or - for standard input."
    ),
    format: str | None = format_option(
        "Format of the files, or their dataset.toml; detected from their content by default.", "--format", "-f"
    ),
    fields: str | None = FIELDS,
    reference: str | None = typer.Option(
        None,
        "--reference",
        "-r",
        metavar="REFERENCE",
        help="Reference to check against. For labels, the clips to expect: a folder of recordings or labels, "
        "mix001..mix079, or starss23:dev-test. For predictions, the file with their questions.",
    ),
    deep: bool = typer.Option(
        False, "--deep", help="Also decode recordings and videos, and compare labels with the audio (slow)."
    ),
    config: Path | None = typer.Option(
        None, metavar="FILE", help="Settings file; the nearest seldio.toml or pyproject.toml by default."
    ),
    output: str = typer.Option(
        "text",
        metavar="FORM",
        help="Form of the report: text, concise, json, jsonl, csv, sarif, github, markdown or html.",
        autocompletion=lambda incomplete: complete_outputs(incomplete, "findings"),
        rich_help_panel=REPORT,
    ),
    json: bool = REPORT_JSON,
    out: Path | None = REPORT_FILE,
    statistics: bool = typer.Option(
        False, "--statistics", help="Add a table of counts by rule.", rich_help_panel=REPORT
    ),
    max_per_rule: int = typer.Option(
        10, metavar="N", help="Show at most N findings of each rule; 0 shows all.", rich_help_panel=REPORT
    ),
    fail_on: str | None = typer.Option(
        None,
        metavar="SEVERITY",
        rich_help_panel=REPORT,
        autocompletion=one_of("error", "warning", "info"),
        help="Exit with code 1 on findings of this severity or worse: error (default), warning or info.",
    ),
    select: str | None = typer.Option(
        None,
        metavar="CODES",
        help="Check only these rules: codes or prefixes, separated by commas.",
        autocompletion=complete_codes,
        rich_help_panel=_RULES,
    ),
    ignore: str | None = typer.Option(
        None,
        metavar="CODES",
        help="Skip these rules: codes or prefixes, separated by commas.",
        autocompletion=complete_codes,
        rich_help_panel=_RULES,
    ),
    baseline: Path | None = typer.Option(
        None, metavar="FILE", help="Leave out the findings listed in this file.", rich_help_panel=_RULES
    ),
    write_baseline: Path | None = typer.Option(
        None, metavar="FILE", help="Accept all current findings: write them to this file.", rich_help_panel=_RULES
    ),
    fix: bool = typer.Option(False, "--fix", help="Apply repairs that are always safe.", rich_help_panel=_REPAIR),
    unsafe_fixes: bool = typer.Option(
        False, "--unsafe-fixes", help="Also apply repairs that are a good guess.", rich_help_panel=_REPAIR
    ),
    diff: bool = typer.Option(
        False, "--diff", help="Show what --fix would change, without changing it.", rich_help_panel=_REPAIR
    ),
    workers: str | None = WORKERS,
) -> ExitCode:
    """Check labels, submissions and datasets: what is wrong, where, why it matters and what to do."""
    from seldio import api
    from seldio.check import settings
    from seldio.reports import Options, checked
    from seldio.rules import CATALOGUE

    see_free(out, paths, reference, baseline, config)
    chosen = settings.load_file(config) if config is not None else settings.load()
    checked("json" if json else output, "findings")
    with working(workers):
        report = api.validate(**taken(api.validate, locals(), path=paths, config=chosen))
    if diff:
        typer.echo("\n".join(line for change in report.changes for line in change.diff()) or report.remark)
        return ExitCode.FINDINGS if report.changes else ExitCode.CLEAN
    if report.remark:
        typer.echo(report.remark, err=True)
    if write_baseline is not None:
        return ExitCode.CLEAN
    write_report(report, "json" if json else output, Options(CATALOGUE, max_per_rule or None, statistics), out)
    return ExitCode.FINDINGS if report.failed else ExitCode.CLEAN


# --- conversion -------------------------------------------------------------------------------------------------------

_TO = (
    "Format to write (seldio formats lists them); foa or mic for recordings; or hf-parquet, "
    "webdataset, audiofolder or videofolder to store a whole dataset, and files to restore it."
)
_FILL = (
    "Value for a field that the target needs and SOURCE lacks; angles in degrees, distance in metres (distance=2.5 is "
    "2.5 m in any format); source=count counts the events of each class; for questions a text, such as task=TEXT. May "
    "be repeated."
)
_ASK, _RECORD = "Questions from labels", "Recordings"
#: The margins with their defaults; listed here because loading them is slow. A test checks that the list is complete.
MARGINS = (
    "azimuth=20 and elevation=10 (degrees between sources), metres=0.5 (between distances), seconds=0.5 (between "
    "times), shortest=0.3 (seconds that an event lasts), still=5 (degrees that a stationary source may stray), "
    "moving=20 (degrees that a moving one strays), sector=5 (degrees from the edge of front-left and the like)"
)


@guarded
def convert(
    source: str = typer.Argument(
        metavar="SOURCE", help="A file, folder or archive, - for standard input, or a format."
    ),
    path: str | None = typer.Argument(None, metavar="PATH", help="Where the data is, if SOURCE names its format."),
    to: str = typer.Option(..., "--to", metavar="FORMAT", help=_TO, autocompletion=complete_targets),
    out: str | None = typer.Option(
        None, "-o", metavar="PATH", help="File or folder to write; a single file goes to standard output by default."
    ),
    format: str | None = format_option("Format of SOURCE; detected from its content by default.", "--format", "-f"),
    allow_loss: str = typer.Option(
        "",
        metavar="FIELDS",
        help="Fields that may be lost, separated by commas, or 'all'.",
        show_default=False,
        autocompletion=complete_fields,
    ),
    fill: list[str] = typer.Option([], metavar="FIELD=VALUE", help=_FILL),
    drop_unfit: bool = typer.Option(
        False, "--drop-unfit", help="Leave out questions that the target cannot hold, and list them."
    ),
    force: bool = typer.Option(False, "--force", help="Convert labels even if seldio validate finds errors in them."),
    overwrite: bool = typer.Option(
        False, "--overwrite", help="With --to hf-parquet and the like: replace the files of an earlier export."
    ),
    json: bool = typer.Option(
        False, "--json", help="Print a JSON record of what was done (to standard error with -o -)."
    ),
    tasks: str | None = typer.Option(
        None,
        metavar="TASKS",
        help="Ask only these tasks, separated by commas.",
        rich_help_panel=_ASK,
        autocompletion=complete_tasks,
    ),
    seed: int = typer.Option(0, metavar="N", help="Random seed for wording and sampling.", rich_help_panel=_ASK),
    window: float = typer.Option(
        20.0, metavar="SECONDS", help="Length of the clips, at most 20 s.", rich_help_panel=_ASK
    ),
    hop: float | None = typer.Option(
        None, metavar="SECONDS", help="Time from one clip to the next; the window by default.", rich_help_panel=_ASK
    ),
    margin: list[str] = typer.Option(
        [],
        "--margin",
        metavar="NAME=VALUE",
        rich_help_panel=_ASK,
        help=f"Smallest difference to ask about. Defaults: {MARGINS}. May be repeated.",
    ),
    total: int | None = typer.Option(
        None, metavar="N", help="Total questions, split across tasks as in SO-Bench.", rich_help_panel=_ASK
    ),
    per_task: int | None = typer.Option(
        None, metavar="N", help="At most N questions per task, spread evenly over the answers.", rich_help_panel=_ASK
    ),
    balance: bool = typer.Option(
        False,
        "--balance",
        rich_help_panel=_ASK,
        help="Keep the task proportions of SO-Bench (the scarcest task sets the total), and drop questions that can be "
        "answered from their text alone.",
    ),
    split: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Split of all questions; by default that of each recording, or test if unknown.",
        rich_help_panel=_ASK,
    ),
    language: str | None = typer.Option(
        None,
        metavar="[en|ru]",
        help="Language of the questions, with the same canonical answers; that of the target by default.",
        rich_help_panel=_ASK,
    ),
    details: bool = typer.Option(
        False, "--details", help="List what was asked and skipped, and why, task by task.", rich_help_panel=_ASK
    ),
    audio: bool | None = typer.Option(
        None,
        "--audio/--no-audio",
        help="Questions: clips are cut out of the recordings (16 kHz) into audio/ next to the output; --no-audio "
        "leaves them whole. With --to foa or mic: --audio computes every recording from the other format, even those "
        "that the dataset has.",
        rich_help_panel=_RECORD,
    ),
    gain: float | None = typer.Option(
        None,
        metavar="DB",
        help="With --to foa or mic: gain of the computed recordings in dB, the same for all of them.",
        rich_help_panel=_RECORD,
    ),
    workers: str | None = WORKERS,
) -> ExitCode:
    """Convert labels between formats, to Parquet and back, or into questions; any loss is reported first."""
    from seldio import api
    from seldio.conversion.dispatch import named
    from seldio.formats import of_questions

    if path is not None:
        source, format = path, format if format is not None else named(source)
    # thousands of questions are not poured on a terminal
    shown = BytesIO() if out is None and sys.stdout.isatty() and of_questions(to) is not None else None
    chosen = taken(
        api.convert, locals(), path=source, target=to, out=shown or (sys.stdout.buffer if out in (None, "-") else out),
        fill=named_texts(fill, "--fill", "distance=2.5 (metres)"),
        margin=named_numbers(margin, "--margin", "azimuth=10"),
    )  # fmt: skip
    with working(workers):
        converted = api.convert(**chosen)
    progress.over()
    if shown is not None:
        _show_some(shown.getvalue().decode("utf-8", "replace"))
    aside = converted.written == ("-",)  # the output itself goes to standard output
    if json:
        print_json(converted.as_dict(), aside=aside)
        return ExitCode.CLEAN
    for line in converted.lines() if details else converted.brief():
        typer.echo(printable(line), err=True)
    return ExitCode.CLEAN


def _show_some(text: str) -> None:
    """Print the first lines of a file of questions, and how to have all of it."""
    lines = text.splitlines()
    for line in lines[:3]:
        typer.echo(clipped(printable(line), 400))
    if len(lines) > 3:
        typer.echo(f"… {len(lines) - 3:,} more lines: write them with -o FILE, or all of them here with -o -", err=True)


# --- describing data, and seldio itself ------------------------------------------------------------------------------


@guarded
def info(
    path: str = typer.Argument(
        metavar="PATH",
        help="A file, folder or archive, or - for standard input; or the name of a dataset or benchmark (starss23).",
    ),
    format: str | None = format_option(
        "Format of the files, or their dataset.toml; detected from their content by default.", "--format", "-f"
    ),
    json: bool = JSON,
    write: bool = typer.Option(False, "--write", help="Write this description to dataset.toml in its root."),
) -> ExitCode:
    """Describe a source: its format and why; clips, events and classes; questions; levels of a recording.

    Of a dataset or benchmark, by its name: contents, licence, download address, published results.
    """
    from seldio import api

    if write:
        from seldio.conversion.new_dataset import write_known

        typer.echo(f"{printable(str(write_known(path, format)))} written")
    description = api.info(path, format=format)
    print_json(description) if json else print_wrapped(str(description))
    return ExitCode.CLEAN


@guarded
def new(
    path: Path = typer.Argument(Path(), metavar="PATH", help="A folder of labels and recordings, or a file of it."),
    write: bool = typer.Option(False, "--write", help="Write dataset.toml, which describes the columns."),
    name: str | None = typer.Option(None, "--name", metavar="NAME", help="Name of the dataset."),
    column: list[str] = typer.Option(
        [], "--column", metavar="HEADER=FIELD[:UNIT]", help="Field and unit of a column. May be repeated."
    ),
    azimuth: str | None = typer.Option(
        None, "--azimuth", metavar="WAY", help="Direction in which azimuths increase: clockwise or counter-clockwise.",
    ),
    zero: str = typer.Option(
        "front", "--zero", metavar="SIDE", help="Where azimuth 0 is: front, left, right or back.",
    ),
    given: list[str] = typer.Option(
        [], "--given", metavar="FIELD=VALUE", help="Value that all rows share, such as elevation=0."
    ),
) -> ExitCode:  # fmt: skip
    """Describe the columns of your own labels in a dataset.toml.

    With it every command reads the labels as they are.
    """
    from seldio.conversion.new_dataset import proposed

    said = {"name": name, "columns": column, "azimuth": azimuth, "zero": zero, "given": given}
    for line in proposed(path, said, write=write):
        typer.echo(line)
    return ExitCode.CLEAN


@guarded
def formats(
    name: str | None = typer.Argument(
        None, metavar="NAME", help="A format, by name or alias.", autocompletion=complete_formats
    ),
    json: bool = JSON,
) -> ExitCode:
    """List the formats, or explain one: columns, units, the fields it can and cannot hold."""
    from seldio import formats as known

    if name is None and not json:
        width = max(len(format.name) for format in known.index())
        print_wrapped("\n".join(f"{format.name:<{width}}  {format.title}" for format in known.index()))
        return ExitCode.CLEAN
    from seldio.check.description import format_page, format_record

    asked = known.named(name, known.Format) or known.get(name) if name else None
    if json:
        some = known.FORMATS if asked is None else (asked,)
        print_json({"formats": [format_record(format) for format in some]})
    elif asked is not None:
        print_wrapped(format_page(asked))
    return ExitCode.CLEAN


@guarded
def schema(
    name: str | None = typer.Argument(
        None, metavar="NAME", autocompletion=complete_schemas,
        help=f"{', '.join(SCHEMA_NAMES[:-1])} or {SCHEMA_NAMES[-1]}; without a name, list them.",
    ),
) -> ExitCode:  # fmt: skip
    """Print the JSON Schema (2020-12) of a kind of record."""
    from seldio.schemas import SCHEMAS

    if name is None:
        for known in SCHEMAS:
            typer.echo(known)
    elif name not in SCHEMAS:
        raise UsageError(f"unknown schema {clipped(name)!r}; choose from {', '.join(SCHEMAS)}{meant(name, SCHEMAS)}")
    else:
        typer.echo(json_text(SCHEMAS[name](), indent=2))
    return ExitCode.CLEAN


@guarded
def rule(
    code: str | None = typer.Argument(
        None,
        metavar="RULE",
        help="A code (LAB103) or prefix (LAB), a name (radians), or a word of the summary.",
        autocompletion=complete_rules,
    ),
    all_rules: bool = typer.Option(False, "--all", help="List all rules."),
    json: bool = JSON,
) -> ExitCode:
    """Explain a rule: what it checks, why it matters, an example, the fix, the reference."""
    from seldio.rules import CATALOGUE, find

    if code is None and not all_rules:
        raise UsageError("which rule? Give a code (seldio rule LAB103), or use --all to list them")
    chosen = list(CATALOGUE.values()) if all_rules or code is None else find(code)
    if json:
        print_json({"rules": [as_dict(rule) for rule in chosen]})
    elif len(chosen) == 1:
        print_wrapped(page(chosen[0]), fill=True)
    else:
        for rule in chosen:
            mark = {"none": "  ", "safe": "✓ ", "unsafe": "? "}[rule.fix]
            typer.echo(f"{rule.code}  {rule.severity.value:<7} {mark}{rule.summary}")
        typer.echo("\n✓ repaired by --fix   ? repaired by --unsafe-fixes   seldio rule CODE explains a rule")
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
