"""The commands on data, whose options are those of :mod:`seldio.api`, and those that explain seldio."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import typer

from seldio import api
from seldio.cli.declared import verb
from seldio.cli.printing import print_json, print_wrapped, see_free, working, write_report
from seldio.errors import ExitCode, UsageError
from seldio.text import clipped, json_text, meant, printable


@verb(api.validate, path="PATH…")
def validate(
    given: dict[str, Any],
    output: str = "text",
    json: bool = False,
    out: str | None = None,
    statistics: bool = False,
    max_per_rule: int = 10,
    workers: str | None = None,
) -> ExitCode:
    """Print findings.

    Args:
        output: report: its form: text, concise, json, jsonl, csv, sarif, github, markdown or html.
        statistics: report: add a table of counts by rule.
        max_per_rule: report: show at most N findings of each rule; 0 shows all.
    """
    from seldio.check import settings
    from seldio.reports import checked
    from seldio.rules import CATALOGUE

    see_free(out, *(given[name] for name in ("path", "reference", "baseline", "config")))
    form = checked("json" if json else output, "findings")
    given["config"] = given["config"] or settings.load()
    with working(workers):
        report = api.validate(**given)
    if given["diff"]:
        typer.echo("\n".join(line for change in report.changes for line in change.diff()) or report.remark)
        return ExitCode.FINDINGS if report.changes else ExitCode.CLEAN
    if report.remark:
        typer.echo(report.remark, err=True)
    if given["write_baseline"] is not None:
        return ExitCode.CLEAN
    write_report(report, form, out, catalogue=CATALOGUE, max_per_rule=max_per_rule or None, statistics=statistics)
    return ExitCode.FINDINGS if report.failed else ExitCode.CLEAN


@verb(api.convert, path="SOURCE", place="PATH")
def convert(
    given: dict[str, Any],
    out: str | None = None,
    place: str | None = None,
    json: bool = False,
    details: bool = False,
    workers: str | None = None,
) -> ExitCode:
    """Print what was done.

    Args:
        place: where the data is, if SOURCE names its format.
        json: print a JSON record of what was done (to standard error with -o -).
        details: questions: list what was asked and skipped, and why, task by task.
    """
    from seldio.conversion.dispatch import named
    from seldio.formats import of_questions

    if place is not None:
        given["format"] = named(given["path"]) if given["format"] is None else given["format"]
        given["path"] = place
    # of thousands of questions a terminal shows the first, and how to have all
    target = given["target"]
    shown = BytesIO() if out is None and sys.stdout.isatty() and of_questions(target) is not None else None
    given["out"] = shown or (sys.stdout.buffer if out in (None, "-") else out)
    with working(workers):
        converted = api.convert(**given)
    if shown is not None:
        lines = shown.getvalue().decode("utf-8", "replace").splitlines()
        for line in lines[:3]:
            typer.echo(clipped(printable(line), 400))
        if len(lines) > 3:
            more = f"… {len(lines) - 3:,} more lines"
            typer.echo(f"{more}: write them with -o FILE, or all of them here with -o -", err=True)
    if json:
        # the output itself goes to standard output
        print_json(converted.as_dict(), aside=converted.written == ("-",))
        return ExitCode.CLEAN
    for line in converted.lines() if details else converted.brief():
        typer.echo(printable(line), err=True)
    return ExitCode.CLEAN


# --- scores -----------------------------------------------------------------------------------------------------------


def _list_profiles(wanted: bool) -> None:
    if not wanted:
        return
    from seldio.scores.scorers import profile_titles

    for name, title in profile_titles():
        typer.echo(f"{name:<20} {title}")
    raise typer.Exit


@verb(api.score, predictions="PREDICTIONS…")
def score(
    given: dict[str, Any],
    profiles: bool = typer.Option(  # noqa: ARG001 - its callback ends the command
        False, "--profiles", is_eager=True, callback=_list_profiles, help="List the scoring profiles and exit."
    ),
    output: str = "text",
    json: bool = False,
    out: str | None = None,
    details: bool = False,
) -> ExitCode:
    """Print scores."""
    predictions = given["predictions"]
    form = _form(output, json)
    see_free(out, predictions, given["reference"], given["judgements"], given["judge_set"].get("cache"))
    if given["items"] is not None and len(predictions) > 1:
        raise UsageError("--items takes one system; seldio compare --items shows where several differ")
    reports = [api.score(**given | {"predictions": system}) for system in predictions]
    if given["dry_run"]:
        typer.echo("\n".join(notice.text for report in reports for notice in report.notices))
        return ExitCode.CLEAN
    table = None if form == "json" or given["table"] == "all" else given["table"]
    write_report(reports, form, out, table=table, details=details)
    return ExitCode.CLEAN


@verb(api.compare, systems="PREDICTIONS…")
def compare(
    given: dict[str, Any],
    output: str = "text",
    json: bool = False,
    out: str | None = None,
    table: str | None = None,
    details: bool = False,
) -> ExitCode:
    """Print a comparison.

    Args:
        table: report: only this table, such as differences or ranks; not with json.
    """
    form = _form(output, json, table)
    see_free(out, given["systems"], given["reference"], given["judgements"])
    report = api.compare(**given)
    write_report([report], form, out, table=table, details=details)
    return ExitCode.CLEAN


def _form(output: str, json: bool, table: str | None = None) -> str:
    """Return the form of a report of scores.

    Raises:
        UsageError: there is no such form, or a single table is asked for as JSON.
    """
    from seldio.reports import checked

    form = checked("json" if json else output, "scores")
    if table is not None and form == "json":
        raise UsageError("--table: json holds every table; use --output csv, markdown, html, latex or text")
    return form


@verb(api.rank, scores="PATH…")
def rank(given: dict[str, Any], output: str = "text", json: bool = False, out: str | None = None) -> ExitCode:
    """Print ranks."""
    form = _form(output, json)
    see_free(out, given["scores"])
    write_report([api.rank(**given)], form, out)
    return ExitCode.CLEAN


@verb(api.verify, signature="SIGNATURE", predictions="PREDICTIONS", reference="REFERENCE")
def verify(given: dict[str, Any]) -> ExitCode:
    """Print what differs."""
    differences = api.verify(**given)
    typer.echo("\n".join(differences) or "the same version, settings, judge, reference and predictions")
    return ExitCode.FINDINGS if differences else ExitCode.CLEAN


@verb(api.package, outputs="OUTPUTS…")
def package(given: dict[str, Any], json: bool = False) -> ExitCode:
    """Print what was packed and found."""
    from seldio.rules import CATALOGUE

    packed = api.package(**given)
    if json:
        print_json(packed.as_dict())
    else:
        if packed.report.findings:
            write_report(packed.report, "text", None, catalogue=CATALOGUE)
            typer.echo()
        typer.echo(str(packed))
    return ExitCode.CLEAN if packed.complete else ExitCode.FINDINGS


@verb(api.diff, old="OLD", new="NEW")
def diff(
    given: dict[str, Any],
    output: str = "text",
    json: bool = False,
    out: str | None = None,
    table: str | None = None,
    details: bool = False,
) -> ExitCode:
    """Print a difference.

    Args:
        table: report: only this table: changes, clips, events or rows. JSON has every table.
        details: report: print long tables of clips, events and rows too.
    """
    form = _form(output, json)
    see_free(out, given["old"], given["new"])
    difference = api.diff(**given)
    write_report([difference], form, out, table=table, details=details)
    return ExitCode.CLEAN if difference.same else ExitCode.FINDINGS


# --- describing data, and seldio itself -------------------------------------------------------------------------------


@verb(api.info, path="PATH")
def info(given: dict[str, Any], json: bool = False) -> ExitCode:
    """Print a description."""
    if given["write"]:
        from seldio.conversion.new_dataset import write_known

        typer.echo(f"{printable(str(write_known(given['path'], given['format'])))} written")
    description = api.info(given["path"], format=given["format"])
    print_json(description) if json else print_wrapped(str(description))
    return ExitCode.CLEAN


@verb(names="NAME…")
def cite(names: list[str] | None = None) -> ExitCode:
    """Print how to cite datasets and benchmarks, as BibTeX.

    Args:
        names: datasets and benchmarks, such as starss23, or a folder with a dataset.toml; without a name, list them.
    """
    typer.echo(api.cite(*names or ()))
    return ExitCode.CLEAN


@verb(path="PATH")
def new(
    path: str = ".",
    write: bool = False,
    name: str | None = None,
    column: Sequence[str] = (),
    azimuth: str | None = None,
    zero: str = "front",
    given: Sequence[str] = (),
) -> ExitCode:
    """Describe the columns of your own labels in a dataset.toml.

    With it every command reads the labels as they are.

    Args:
        path: a folder of labels and recordings, or a file of it.
        write: write dataset.toml, which describes the columns.
        name: name of the dataset.
        column: field and unit of a column. May be repeated.
        azimuth: direction in which azimuths increase: clockwise or counter-clockwise.
        zero: where azimuth 0 is: front, left, right or back.
        given: value that all rows share, such as elevation=0 or class_name=dog. May be repeated.
    """
    from seldio.conversion.new_dataset import proposed

    answers = {"name": name, "columns": column, "azimuth": azimuth, "zero": zero, "given": given}
    for line in proposed(Path(path), answers, write=write):
        typer.echo(line)
    return ExitCode.CLEAN


@verb(format="NAME")
def formats(format: str | None = None, json: bool = False) -> ExitCode:
    """List the formats, or explain one: columns, units, the fields it can and cannot hold.

    Args:
        format: a format, by name or alias.
    """
    from seldio import formats as registry

    if format is None and not json:
        width = max(len(row.name) for row in registry.index())
        print_wrapped("\n".join(f"{row.name:<{width}}  {row.title}" for row in registry.index()))
        return ExitCode.CLEAN
    from seldio.check.description import format_page, format_record

    asked = registry.named(format, registry.Format) or registry.get(format) if format else None
    if json:
        chosen = registry.FORMATS if asked is None else (asked,)
        print_json({"formats": [format_record(each) for each in chosen]})
    elif asked is not None:
        print_wrapped(format_page(asked))
    return ExitCode.CLEAN


@verb(record="NAME")
def schema(record: str | None = None) -> ExitCode:
    """Print the JSON Schema (2020-12) of a kind of record.

    Args:
        record: a kind of record, such as event, item or report; without a name, list them.
    """
    from seldio.schemas import SCHEMAS

    if record is None:
        typer.echo("\n".join(SCHEMAS))
    elif record not in SCHEMAS:
        choices = f"choose from {', '.join(SCHEMAS)}{meant(record, SCHEMAS)}"
        raise UsageError(f"unknown schema {clipped(record)!r}; {choices}")
    else:
        typer.echo(json_text(SCHEMAS[record](), indent=2))
    return ExitCode.CLEAN


#: How findings of a rule are repaired.
_REPAIRED = {
    "none": "by hand",
    "safe": "by seldio validate --fix",
    "unsafe": "by seldio validate --unsafe-fixes",
}


@verb(code="RULE")
def rule(code: str | None = None, all: bool = False, json: bool = False) -> ExitCode:
    """Explain a rule: what it checks, why it matters, an example, the fix, the reference.

    Args:
        code: a code (LAB103) or prefix (LAB), a name (radians), or a word of the summary.
        all: list all rules.
    """
    from seldio.rules import CATALOGUE, find

    if code is None and not all:
        raise UsageError("which rule? Give a code (seldio rule LAB103), or use --all to list them")
    chosen = list(CATALOGUE.values()) if all or code is None else find(code)
    if json:
        keys = ("code", "name", "severity", "fix", "summary", "explanation", "url")
        print_json({"rules": [{key: getattr(rule, key) for key in keys} for rule in chosen]})
    elif len(chosen) == 1:
        page = chosen[0]
        head = f"{page.code}  {page.name}  ({page.severity.value}; repaired {_REPAIRED[page.fix]})"
        address = f"\n\n{page.url}" if page.url else ""
        print_wrapped(f"{head}\n\n{page.summary}\n\n{page.explanation}{address}", fill=True)
    else:
        for rule in chosen:
            mark = {"none": "  ", "safe": "✓ ", "unsafe": "? "}[rule.fix]
            typer.echo(f"{rule.code}  {rule.severity.value:<7} {mark}{rule.summary}")
        typer.echo("\n✓ repaired by --fix   ? repaired by --unsafe-fixes   seldio rule CODE explains a rule")
    return ExitCode.CLEAN
