"""``seldio info``, and what seldio knows: ``seldio formats``, ``seldio rule`` and ``seldio schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import SCHEMA_NAMES, complete_formats, complete_rules, complete_schemas, print_json
from seldio.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from seldio.findings import Rule


@guarded
def command(
    path: str = typer.Argument(help="A file, folder, archive, or - for standard input."),
    format: str | None = typer.Option(
        None, "--format", "-f", help="The layout; found from the content if not given.", autocompletion=complete_formats
    ),
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


def as_dict(rule: Rule) -> dict[str, str]:
    """The rule's record for json."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "fix": rule.fix,
        "summary": rule.summary,
        "explanation": rule.explanation,
    }


def page(rule: Rule) -> str:
    """The rule's page as text."""
    fix = {"none": "by hand", "safe": "by seldio validate --fix", "unsafe": "by seldio validate --unsafe-fixes"}[
        rule.fix
    ]
    head = f"{rule.code}  {rule.name}  ({rule.severity.value}; repaired {fix})"
    return f"{head}\n\n{rule.summary}\n\n{rule.explanation}"
